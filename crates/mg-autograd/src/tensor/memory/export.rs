//! Memory that is handed out: others read and write it from then on, and tensors on it are as those on memory that was theirs.

use super::node::{Garbage, Held, own};
use super::{State, locked};
use crate::gradient::no_grad;
use crate::tensor::Tensor;
use mg_device::{Error, ErrorKind, Exported, Layout, Result};
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

/// A node for the same elements in memory of its own.
fn copied(value: &Value) -> Result<Node> {
    let copy = {
        let _guard = no_grad();
        Node::from_value(value.clone()).copy()
    };
    mg_graph::realize(&[&copy])?;
    Ok(Node::from_value(value_of(&copy)?.clone()))
}

/// Whether a graph reads the node's value again that is not to see what is written from now on; `handles` are no graph's.
fn is_read_later(node: &Node, handles: usize) -> bool {
    node.is_read_later() && node.handles() > handles
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
        let alone = value.layout.is_contiguous() && value.buffer.ref_count() == 1;
        if !value.buffer.is_borrowed() && (!alone || is_read_later(&held.node, 1)) {
            let copy = copied(value)?;
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
        let (line, ..) = self.line();
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
        if !value.buffer.is_borrowed() {
            let is_there = |n: &Node| matches!(n.value(), Some(Ok(v)) if v.buffer.ptr_eq(&value.buffer));
            // Every line has what is in the memory, from there.
            let together = made[..lines].iter().all(is_there);
            made.retain(|n| is_there(n) && !n.is(&root));
            made.sort_unstable_by_key(Node::sequence);
            made.dedup_by(|a, b| a.is(b));
            let alone = value.layout.is_contiguous() && value.buffer.ref_count() == made.len() + 1;
            let later = is_read_later(&root, 3) || made.iter().any(|n| is_read_later(n, 2));
            if !together || !alone || later {
                let copy = own(copied(value)?);
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
            // Memory of others that lies otherwise: what sees it there, or a copy.
            let own = self.value()?;
            let is_there = own.buffer.ptr_eq(&value.buffer);
            return Ok((own, is_there.then_some(exported)));
        }
        let (_, layout, region) = self.line();
        let region = region.filter(|_| shared.is_some()).unwrap_or(layout);
        let layout = Layout::new(*region.shape(), region.strides(), region.offset() + value.layout.offset())?;
        Ok((Value { layout, ..value }, Some(exported)))
    }
}
