//! Memory that is handed out: others read and write it from then on, and tensors on it are as those on memory that was theirs.

use super::line::{Lies, Seat};
use super::node::{Garbage, Held, own};
use super::{State, locked, other_lie};
use crate::gradient::no_grad;
use crate::tensor::Tensor;
use mg_device::{Error, ErrorKind, Exported, Layout, Result, Shape};
use mg_graph::{Node, Value};

/// What is known of a node whose value is there.
fn value_of(node: &Node) -> Result<&Value> {
    match node.value() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => {
            error.report();
            Err(error.clone())
        }
        None => Err(Error::new("export", ErrorKind::Internal("the value was not computed".into()))),
    }
}

/// Whether elements that lie in one way lie as is told.
fn is_as_told(layout: &Layout, lies: &Lies) -> bool {
    let Some(told) = lies else { return layout.is_contiguous() };
    let mut axes = layout.shape().iter().zip(layout.strides().iter().zip(told.strides()));
    layout.numel() == 0 || axes.all(|(&n, (stride, told))| n == 1 || stride == told)
}

/// Where elements are seen of memory that lies as it is told, by how both are told to lie.
fn seen_of(layout: &Layout, whole: &Lies, seen: &Lies) -> Option<Result<Layout>> {
    let (told, seen) = (whole.as_ref()?, seen.as_ref()?);
    let start = (layout.offset() + seen.offset()).checked_sub(told.offset())?;
    is_as_told(layout, whole).then(|| Layout::new(*seen.shape(), seen.strides(), start))
}

/// A node for the same elements in memory of its own, where they lie as is told.
fn copied(value: &Value, lies: &Lies) -> Result<Node> {
    let span = lies.as_ref().filter(|told| !told.overlaps()).and_then(|told| Some((told, told.extent()?)));
    let Some((told, (first, last))) = span else {
        let copy = {
            let _guard = no_grad();
            Node::from_value(value.clone()).copy()
        };
        mg_graph::realize(&[&copy])?;
        return Ok(Node::from_value(value_of(&copy)?.clone()));
    };
    let (shape, at) = (Shape::of(&[last - first + 1]), told.offset() - first);
    let written = {
        let _guard = no_grad();
        let of = Node::from_value(value.clone());
        let zeros = Node::scalar(0.0, of.dtype(), of.device(), false).expand(shape)?;
        of.write_into(Some(&zeros), shape, Layout::new(*told.shape(), told.strides(), at)?)?
    };
    mg_graph::realize(&[&written])?;
    let all = value_of(&written)?.clone();
    if !all.layout.is_contiguous() {
        let text = "what was written does not lie in a row";
        return Err(Error::new("export", ErrorKind::Internal(text.into())));
    }
    let layout = Layout::new(*told.shape(), told.strides(), at + all.layout.offset())?;
    Ok(Node::from_value(Value { layout, ..all }))
}

/// Whether a graph reads the node's value again that is not to see what is written from now on; so many handles are no graph's, besides that of
/// the tensor that holds it, if there is one.
fn is_read_later(node: &Node, handles: usize) -> bool {
    node.is_read_later() && node.handles() > handles + usize::from(node.is_held())
}

impl Tensor {
    /// The value, in memory that somebody else sees too while the second part of the answer lives: what is written there is seen by
    /// the tensor and all that share its memory, and the other way round. Operations on them are computed before they return,
    /// meanwhile. `None` where the memory is not handed out, and is not to be written: of a tensor that requires a gradient, and of
    /// one that is not on the host.
    ///
    /// Nothing is copied, unless a graph has yet to compute something of the value as it is now, or the memory holds several
    /// tensors' values: then the tensor is given memory of its own first.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`].
    #[track_caller]
    pub fn export(&self) -> Result<(Value, Option<Exported>)> {
        let value = self.value()?;
        if !value.buffer.device().is_cpu() || self.requires_grad() {
            return Ok((value, None));
        }
        drop(value);
        if self.line_of_view().is_none() {
            let node = self.current();
            // The tensor's own and the one above.
            if node.handles() > 2 {
                mg_graph::compute_readers(&[node]);
            }
        }
        match self.export_alone()? {
            Some(done) => Ok(done),
            None => self.export_part(),
        }
    }

    /// Of a tensor that is alone with its memory.
    fn export_alone(&self) -> Result<Option<(Value, Option<Exported>)>> {
        let mut garbage = Garbage::new();
        let mut state = self.state();
        let State::Alone(Some(held)) = &mut *state else { return Ok(None) };
        let value = value_of(&held.node)?;
        let lies = other_lie(&held.node).map(Box::new);
        let alone = is_as_told(&value.layout, &lies) && value.buffer.ref_count() == 1;
        if !value.buffer.is_borrowed() && (!alone || is_read_later(&held.node, 0)) {
            let copy = copied(value, &lies)?;
            garbage.push(std::mem::replace(held, Held::new(copy)));
        }
        let value = value_of(&held.node)?.clone();
        let exported = value.buffer.export();
        held.node.set_borrowed();
        drop(state);
        Ok(Some((value, Some(exported))))
    }

    /// Of a tensor that is a line, or a part of one.
    fn export_part(&self) -> Result<(Value, Option<Exported>)> {
        let Seat { line, .. } = self.line();
        // Dropped last, when no lock is held.
        let mut garbage = Garbage::new();
        let turn = locked(&line.writing);
        let shared = locked(&line.state).shared.clone();
        let other_turn = shared.as_ref().map(|shared| locked(&shared.storage.writing));
        let whole = line.node();
        let root = match &shared {
            None if whole.is_tracked() => return Ok((self.value()?, None)),
            None => whole,
            Some(shared) => {
                drop(whole);
                let mut drained = Garbage::new();
                let node = locked(&shared.storage.state).node.current(&mut drained);
                garbage.extend(drained);
                node
            }
        };
        mg_graph::realize(&[&root])?;
        let mut made: Vec<Node> = match &shared {
            Some(shared) => locked(&shared.storage.state).given.alive(),
            None => vec![],
        };
        let lines = made.len();
        made.extend(locked(&line.state).given.alive());
        let mut readers = made.clone();
        readers.push(root.clone());
        mg_graph::compute_readers(&readers);
        drop(readers);
        let value = value_of(&root)?;
        let mut root = root.clone();
        let lies = match &shared {
            Some(shared) => shared.storage.lies.clone(),
            None => line.lies(),
        };
        if !value.buffer.is_borrowed() {
            let is_there = |n: &Node| matches!(n.value(), Some(Ok(v)) if v.buffer.ptr_eq(&value.buffer));
            // Every line has what is in the memory, from there.
            let together = made[..lines].iter().all(is_there);
            made.retain(|n| is_there(n) && !n.is(&root));
            made.sort_unstable_by_key(Node::sequence);
            made.dedup_by(|a, b| a.is(b));
            let alone = is_as_told(&value.layout, &lies) && value.buffer.ref_count() == made.len() + 1;
            let later = is_read_later(&root, 2) || made.iter().any(|n| is_read_later(n, 1));
            if !together || !alone || later {
                let copy = own(copied(value, &lies)?);
                match &shared {
                    Some(shared) => {
                        // Whoever asks for what is in the memory takes in the copy.
                        let mut storage = locked(&shared.storage.state);
                        storage.version += 1;
                        garbage.push(std::mem::replace(&mut storage.node, Held::owned(copy.clone())));
                    }
                    None => {
                        let mut state = line.lock();
                        state.given.add(&root);
                        garbage.extend(state.whole.replace(Held::owned(copy.clone())));
                    }
                }
                root = copy;
            }
        }
        let value = value_of(&root)?.clone();
        let exported = value.buffer.export();
        root.set_borrowed();
        made.iter().for_each(Node::set_borrowed);
        drop((other_turn, turn));
        if !value.layout.is_contiguous() {
            // Memory that lies otherwise: where it is told that this is seen of it; or what sees it there, or a copy.
            if let Some(layout) = seen_of(&value.layout, &lies, &self.line().lies) {
                return Ok((Value { layout: layout?, ..value }, Some(exported)));
            }
            let own = self.value()?;
            let is_there = own.buffer.ptr_eq(&value.buffer);
            return Ok((own, is_there.then_some(exported)));
        }
        let Seat { layout, region, .. } = self.line();
        let region = region.filter(|_| shared.is_some()).unwrap_or(layout);
        let layout = Layout::new(*region.shape(), region.strides(), region.offset() + value.layout.offset())?;
        Ok((Value { layout, ..value }, Some(exported)))
    }

    /// The address of the first element on its device, in memory where the elements lie as [`Tensor::lie`] tells: that they lie otherwise (as
    /// what the tensor was written with, or together, where a view of memory is left of it) is nobody's who asks for an address.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`].
    #[track_caller]
    pub fn address(&self) -> Result<u64> {
        let (mut value, told) = (self.value()?, Some(Box::new(self.lie()?)));
        if !is_as_told(&value.layout, &told) {
            // Its memory, also of one that requires a gradient.
            self.detach().lay_as_told()?;
            value = self.value()?;
        }
        Ok(value.buffer.address() + (value.layout.offset() * value.buffer.dtype().size()) as u64)
    }

    /// Has the memory that several lines see lie as is told.
    fn lay_as_told(&self) -> Result<()> {
        let Seat { line, .. } = self.line();
        // Dropped last, when no lock is held.
        let mut garbage = Garbage::new();
        let _turn = locked(&line.writing);
        let Some(shared) = locked(&line.state).shared.clone() else { return Ok(()) };
        let _other_turn = locked(&shared.storage.writing);
        let mut drained = Garbage::new();
        let root = locked(&shared.storage.state).node.current(&mut drained);
        garbage.extend(drained);
        mg_graph::realize(&[&root])?;
        let value = value_of(&root)?;
        if value.buffer.is_borrowed() || is_as_told(&value.layout, &shared.storage.lies) {
            return Ok(());
        }
        let copy = own(copied(value, &shared.storage.lies)?);
        // Whoever asks for what is in the memory takes in the copy.
        let mut storage = locked(&shared.storage.state);
        storage.version += 1;
        garbage.push(std::mem::replace(&mut storage.node, Held::owned(copy)));
        Ok(())
    }
}
