//! What a tensor is now: its node, its views, the memory that it shares.

use super::line::{Known, Lies, Line, Part, Seat, Shared, lies_at, present};
use super::node::{Garbage, Held, apart, make_leaf, own, untracked, untracked_view};
use super::part::view_of;
use super::{Facts, MemoryId, Sharing, State, lies_by_channels, locked, may_be_borrowed, other_lie};
use crate::jit;
use crate::tensor::{Cell, Tensor};
use mg_device::{Error, ErrorKind, Layout, Result, Shape};
use mg_graph::{Node, View};
use mg_kernels::library::innermost_layout;
use smallvec::SmallVec;
use std::panic::Location;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

/// Images whose channels are innermost by the order of memory, and where their own axes lie in that. `None` for what lies in rows, and in memory of others.
pub(super) fn by_memory(node: &Node) -> Option<(Node, Layout)> {
    if !node.lies_innermost() || may_be_borrowed(node) {
        return None;
    }
    let rank = node.shape().rank();
    let to_memory: SmallVec<[usize; 5]> = std::iter::once(0).chain(2..rank).chain([1]).collect();
    // It has the history of what it sees, whether gradients are recorded now or not.
    let was = mg_graph::set_tracking(true);
    let turned = node.permute(&to_memory);
    mg_graph::set_tracking(was);
    Some((turned.ok()?, innermost_layout(node.shape()).ok()?))
}

impl Tensor {
    pub(crate) fn from_held(held: Held) -> Tensor {
        Tensor::of_state(State::Alone(Some(held)), false)
    }

    pub(super) fn of_state(state: State, leaf: bool) -> Tensor {
        let watch = OnceLock::new();
        let (state, grad) = (Mutex::new(state), Mutex::new(None));
        let (leaf, retains, writes) = (leaf.into(), false.into(), 0.into());
        Tensor(Arc::new(Cell { state, grad, leaf, retains, watch, writes }))
    }

    #[inline]
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        present(&self.0.state, |state| !matches!(state, State::Alone(None)))
    }

    /// The node that the tensor stands for now.
    pub fn node(&self) -> Node {
        let mut node = self.current();
        if mg_graph::is_recording() {
            // To note it may be to wait for its value: another thread may have written meanwhile.
            loop {
                jit::note_read(self, &node);
                let now = self.current();
                if now.is(&node) {
                    break;
                }
                node = now;
            }
        }
        node
    }

    /// As [`Tensor::node`], which no recording is told of.
    pub(crate) fn current(&self) -> Node {
        if let State::Alone(Some(held)) = &*self.state()
            && let Some(node) = held.sound()
        {
            return node.clone();
        }
        let mut garbage = Garbage::new();
        let line = match &mut *self.state() {
            State::Alone(Some(held)) => return held.current(&mut garbage),
            State::Alone(None) => unreachable!("it is there: see `state`"),
            State::Whole(line) => line.clone(),
            State::Part(part) => return part.node(&mut garbage),
        };
        line.node()
    }

    /// What it is, whatever its value.
    pub(crate) fn asked_facts(&self) -> Facts {
        self.note_asked();
        self.facts()
    }

    /// As [`Tensor::asked_facts`], which no recording is told of.
    pub(crate) fn facts(&self) -> Facts {
        // The line may be with a replayed step, which needs this tensor's lock to put it back: not under that.
        let (line, shape) = match &*self.state() {
            State::Alone(Some(held)) => return Facts::of(&held.node),
            State::Alone(None) => unreachable!("it is there: see `state`"),
            State::Whole(line) => (line.clone(), None),
            State::Part(part) => (part.line.clone(), Some(*part.layout.shape())),
        };
        let facts = line.facts();
        Facts { shape: shape.unwrap_or(facts.shape), ..facts }
    }

    /// Whether what it stands for is known already, as far as `was_there` says of its node. (A view that nobody has asked for has none.)
    pub(crate) fn was_known(&self, was_there: impl Fn(&Node) -> bool) -> bool {
        let line = match &*self.state() {
            State::Alone(Some(held)) => return was_there(&held.node),
            State::Alone(None) => unreachable!("it is there: see `state`"),
            State::Part(part) => return part.known.as_ref().is_some_and(|known| was_there(&known.held.node)),
            State::Whole(line) => line.clone(),
        };
        was_there(&line.node())
    }

    /// Whether gradients flow to it.
    pub fn requires_grad(&self) -> bool {
        self.note_asked();
        self.is_tracked()
    }

    /// Tells a recording that it was asked for what it is.
    fn note_asked(&self) {
        if mg_graph::is_recording() {
            jit::note_asked(self);
        }
    }

    /// As [`Tensor::requires_grad`], which no recording is told of.
    pub(crate) fn is_tracked(&self) -> bool {
        let line = match &*self.state() {
            State::Alone(Some(held)) => return held.node.is_tracked(),
            State::Alone(None) => unreachable!("it is there: see `state`"),
            State::Whole(line) => line.clone(),
            State::Part(part) => part.line.clone(),
        };
        line.node().is_tracked()
    }

    /// How its elements lie, for those who ask: the memory that it was made a view of may be gone, and the elements be somewhere else
    /// by now. `None` for what lies as it is seen.
    pub(crate) fn told_lie(&self) -> Option<Layout> {
        let line = match &*self.state() {
            State::Alone(_) => return None,
            State::Part(part) => {
                let lies = part.lies.as_deref().copied();
                return lies.or(part.region).or(Some(part.layout));
            }
            State::Whole(line) => line.clone(),
        };
        let state = locked(&line.state);
        let region = || state.shared.as_ref().and_then(|shared| shared.region);
        state.lies.as_deref().copied().or_else(region)
    }

    /// As [`Tensor::told_lie`], where that is not what the tensor's place in its line says.
    pub(crate) fn lies(&self) -> Lies {
        let line = match &*self.state() {
            State::Alone(_) => return None,
            State::Part(part) => return part.lies.clone().or_else(|| part.region.map(Box::new)),
            State::Whole(line) => line.clone(),
        };
        let state = locked(&line.state);
        let region = || state.shared.as_ref().and_then(|shared| shared.region);
        state.lies.clone().or_else(|| region().and_then(lies_at))
    }

    /// Says how it lies for those who ask, before anybody has.
    pub(crate) fn set_lies(&self, lies: &Lies) {
        if lies.is_none() {
            return;
        }
        let Seat { line, .. } = self.line();
        match &mut *self.state() {
            State::Part(part) => part.lies.clone_from(lies),
            State::Alone(_) | State::Whole(_) => locked(&line.state).lies.clone_from(lies),
        }
    }

    /// Whether it is a leaf that requires a gradient, or a view of one, even one that was made before the leaf was.
    pub(crate) fn is_of_leaf(&self) -> bool {
        let line = match &*self.state() {
            State::Alone(_) => return self.keeps_grad(),
            State::Whole(line) => line.clone(),
            State::Part(part) => part.line.clone(),
        };
        let state = locked(&line.state);
        let left = state.left.upgrade();
        let is_leaf = state.leaf.strong_count() > 0;
        drop(state);
        is_leaf || left.is_some_and(|cell| Tensor(cell).keeps_grad())
    }

    /// The line that the tensor is, or is a part of, with where it lies; made if it was alone.
    pub(super) fn line(&self) -> Seat {
        let mut state = self.state();
        if let State::Alone(held) = &mut *state
            && let Some(held) = held.take()
        {
            let leaf = if self.keeps_grad() { Arc::downgrade(&self.0) } else { Weak::new() };
            // Views go by the order of a line's elements. Where that of memory is another one, it is the line's, and the tensor sees it turned. (A leaf is
            // all of its line, and so is what a recording knows.)
            let plain = leaf.strong_count() == 0 && !mg_graph::is_recording();
            let turned = if plain { by_memory(&held.node) } else { None };
            let writes = self.0.writes.load(Ordering::Relaxed);
            if let Some((whole, layout)) = turned {
                let whole = own(whole);
                let known = Some(Known::new(held, &whole));
                let line = Line::new(Held::owned(whole), leaf, None, None);
                line.memory.writes.store(writes, Ordering::Relaxed);
                *state = State::Part(Box::new(Part::turned(line, layout, known)));
            } else {
                let lies = other_lie(&held.node).map(Box::new);
                let line = Line::new(held, leaf, None, lies);
                line.memory.writes.store(writes, Ordering::Relaxed);
                jit::note_line(&line, self);
                *state = State::Whole(line);
            }
        }
        match &*state {
            State::Part(part) => {
                // A storage that only the line was left of is none any more.
                let is_part = locked(&part.line.state).shared.as_ref().is_some_and(|s| s.region.is_some());
                let before = part.region.filter(|_| !is_part);
                Seat {
                    line: part.line.clone(),
                    layout: part.layout,
                    region: part.region.filter(|_| is_part),
                    lies: part.lies.clone().or_else(|| before.map(Box::new)),
                }
            }
            State::Whole(line) => {
                let line = line.clone();
                drop(state);
                let layout = Layout::contiguous(line.facts().shape);
                let (region, lies) = {
                    let state = locked(&line.state);
                    (state.shared.as_ref().and_then(|shared| shared.region), state.lies.clone())
                };
                Seat { line, layout, region, lies }
            }
            State::Alone(_) => unreachable!("it was there and is a line now"),
        }
    }

    /// A view of a view (and so on) of this tensor, each with its shape, through which it can be written; `None` where its elements do not lie so that
    /// there can be one.
    #[track_caller]
    pub(crate) fn view_through(&self, views: &[(&View, Shape)]) -> Option<Tensor> {
        let made_at = mg_graph::line();
        if mg_graph::is_recording() {
            // The recording is to know whose part it is.
            self.node();
        }
        let Seat { line, layout, region, lies } = self.line();
        let through = |layout: Layout| {
            views.iter().try_fold(layout, |layout, (view, shape)| view.apply(&layout, shape))
        };
        let (layout, region) = match region {
            Some(region) => (through(layout)?, Some(through(region)?)),
            None => (through(layout)?, None),
        };
        // Where it was seen to lie so that there is no such view, there is none, wherever the elements are now.
        let lies = match lies {
            Some(lies) => Some(Box::new(through(*lies)?)),
            None => None,
        };
        let is_asked = self.requires_grad() && crate::is_grad_enabled();
        let known = if is_asked || mg_graph::is_recording() {
            // Of this one, not of the whole straight away: its gradient may be asked for, and a step that is replayed is given
            // another part of the whole the next time.
            let own_node = self.current();
            let whole = line.node();
            let node = views.iter().fold(own_node, |of, (view, shape)| {
                view_of(&of, view, *shape).unwrap_or_else(|error| Node::failed(error, &of))
            });
            Some(Known::new(Held::new(node), &whole))
        } else {
            None
        };
        let seen = Tensor::of_part(line, layout, (region, lies), made_at, known);
        // What is made without recording gradients has no history, whatever it is a view of.
        let seen = if crate::is_grad_enabled() || !seen.requires_grad() { seen } else { seen.detach() };
        if mg_graph::is_eager() {
            // The failure stays with the node, for its readers.
            let _ = mg_graph::realize_quietly(&[&seen.current()]);
        }
        Some(seen)
    }

    pub(super) fn of_part(
        line: Arc<Line>,
        layout: Layout,
        (region, lies): (Option<Layout>, Lies),
        made_at: &'static Location<'static>,
        known: Option<Known>,
    ) -> Tensor {
        let part = Part { line, layout, region, lies, made_at, known, is_turned: false };
        Tensor::of_state(State::Part(Box::new(part)), false)
    }

    /// The memory that the tensor is of, seen with other strides: `offset` counts from its start, and is the tensor's own where it
    /// is not given.
    ///
    /// # Errors
    ///
    /// What lies outside of that memory; a detached view, whose memory's start is another's.
    #[track_caller]
    pub(crate) fn strided(&self, shape: Shape, strides: &[isize], offset: Option<usize>) -> Result<Tensor> {
        if mg_graph::is_recording() {
            self.node();
        }
        let Seat { line, layout, .. } = self.line();
        // Where the line's elements lie in the memory that offsets are told in.
        let place = {
            let state = line.lock();
            let region = state.shared.as_ref().and_then(|shared| shared.region);
            region.or_else(|| state.lies.as_deref().copied())
        };
        let start = match place {
            None => 0,
            Some(place) if place.is_contiguous() => place.offset(),
            Some(_) => {
                let text = "what does not lie row by row is not seen with other strides; contiguous() is a copy that does";
                return Err(Error::new("as_strided", ErrorKind::Value(text.into())));
            }
        };
        let numel = line.facts().shape.numel();
        let at = match offset {
            None => layout.offset(),
            Some(offset) => offset.checked_sub(start).ok_or_else(|| {
                let text = format!(
                    "offset {offset} lies before a detached view, which begins at {start}; clone() it first"
                );
                Error::new("as_strided", ErrorKind::Shape(text))
            })?,
        };
        let layout = Layout::new(shape, strides, at)?;
        if layout.extent().is_some_and(|(_, last)| last >= numel) {
            let text = format!(
                "shape {shape} with strides {strides:?} at {} lies outside of {numel} elements",
                layout.offset()
            );
            return Err(Error::new("as_strided", ErrorKind::Shape(text)));
        }
        let seen = Tensor::of_part(line, layout, (None, None), mg_graph::line(), None);
        Ok(if crate::is_grad_enabled() || !seen.requires_grad() { seen } else { seen.detach() })
    }

    /// How many elements there are in its memory from where it begins.
    pub(crate) fn room(&self) -> usize {
        let Seat { line, layout, .. } = self.line();
        line.facts().shape.numel().saturating_sub(layout.offset())
    }

    /// The part of this tensor's memory that a layout among the elements of all of it reaches.
    #[track_caller]
    pub(crate) fn part(&self, layout: Layout) -> Tensor {
        let Seat { line, .. } = self.line();
        Tensor::of_part(line, layout, (None, None), mg_graph::line(), None)
    }

    /// All of the memory, with its history, that the tensor is a part of; the tensor itself, where that is all of it.
    pub(crate) fn whole(&self) -> Tensor {
        let line = match &*self.state() {
            State::Part(part) => Some(part.line.clone()),
            State::Alone(_) | State::Whole(_) => None,
        };
        line.map_or_else(|| self.clone(), |line| Tensor::of_state(State::Whole(line), false))
    }

    /// As [`Tensor::part`], which stands for a node that was made of the memory as it is now.
    #[track_caller]
    pub(crate) fn part_that_is(&self, layout: Layout, node: Node) -> Tensor {
        let Seat { line, .. } = self.line();
        let known = Known::new(Held::new(node), &line.node());
        Tensor::of_part(line, layout, (None, None), mg_graph::line(), Some(known))
    }

    /// Whether it is a view that sees images whose channels are innermost in another order than that of their axes.
    pub(crate) fn is_seen_by_channels(&self) -> bool {
        match &*self.state() {
            State::Part(part) if !part.layout.is_contiguous() => {
                let state = locked(&part.line.state);
                state.lies.as_deref().is_some_and(lies_by_channels)
            }
            State::Part(_) | State::Alone(_) | State::Whole(_) => false,
        }
    }

    /// Where a view lies among the elements of what it is a view of; `None` for what is no view.
    pub(crate) fn layout(&self) -> Option<Layout> {
        match &*self.state() {
            State::Part(part) => Some(part.layout),
            State::Alone(_) | State::Whole(_) => None,
        }
    }

    /// Another tensor on the same memory, without history: what is written to one is seen by the other, and no gradient flows
    /// between them.
    #[track_caller]
    pub fn detach(&self) -> Tensor {
        if mg_graph::is_recording() {
            self.node();
        } else if let Seat { line, layout, region: None, lies: None } = self.line()
            && layout.offset() == 0
            && !layout.is_contiguous()
            && layout.numel() == line.facts().shape.numel()
            && !layout.overlaps()
            && layout.extent().is_some_and(|(_, last)| last + 1 == layout.numel())
        {
            // Another line on all of it, by the order of memory, too.
            let all = Tensor::of_state(State::Whole(line), false);
            let part = Part::turned(all.other_line(None), layout, None);
            return Tensor::of_state(State::Part(Box::new(part)), false);
        }
        Tensor::of_state(State::Whole(self.other_line(None)), false)
    }

    /// Another line on this tensor's memory: of a leaf, or without history.
    pub(super) fn other_line(&self, leaf: Option<&Weak<Cell>>) -> Arc<Line> {
        let Seat { line, layout, region, lies } = self.line();
        let shared = line.storage();
        // A storage that only the line was left of is another one now: where the elements were told to lie in the one before is all that is left.
        let before = region.filter(|_| shared.region.is_none());
        let lies = lies.or_else(|| before.and_then(lies_at));
        let region = region.filter(|_| shared.region.is_some());
        let all = layout.is_contiguous() && layout.offset() == 0 && *layout.shape() == line.facts().shape;
        let region = match region {
            Some(region) => Some(region),
            None if all => shared.region,
            None => Some(layout),
        };
        let node = own(untracked_view(&self.current()));
        if let Some(leaf) = leaf {
            make_leaf(&node, leaf);
        }
        let version = {
            let mut storage = locked(&shared.storage.state);
            storage.given.add(&node);
            storage.version
        };
        let leaf = leaf.cloned().unwrap_or_default();
        let shared = Shared { storage: shared.storage, region, version };
        Line::new(Held::owned(node), leaf, Some((&line, shared)), lies)
    }

    /// The memory that it shares with others, views or tensors of their own; `None` where nobody else sees its memory.
    ///
    /// # Errors
    ///
    /// A value that could not be computed.
    pub fn sharing(&self) -> Result<Option<Sharing>> {
        let Some(line) = self.line_of_view() else { return Ok(None) };
        // With what others have written; a storage that only the line was left of is none any more.
        let mut whole = line.node();
        let shared = locked(&line.state).shared.clone();
        let lies = self.lies();
        // The tensor's own, and the one above.
        if shared.is_none() && lies.is_none() && self.layout().is_none() && Arc::strong_count(&line) == 2 {
            return Ok(None);
        }
        if let Some(shared) = &shared {
            let mut garbage = Garbage::new();
            whole = locked(&shared.storage.state).node.current(&mut garbage);
        }
        if let Some(Err(error)) = whole.value() {
            error.report();
            return Err(error.clone());
        }
        let Seat { layout, region, .. } = self.line();
        let layout = region.unwrap_or(layout);
        let whole = Tensor::from_held(Held::new(untracked(&whole)));
        Ok(Some(Sharing { id: line.memory.id, whole, layout, lies }))
    }

    /// Another tensor on this one's memory, without history, which lies in it as one lay in the memory that this is a copy of.
    #[track_caller]
    pub fn seen_as(&self, sharing: &Sharing) -> Tensor {
        let part = self.part(sharing.layout);
        part.set_lies(&sharing.lies);
        part.detach()
    }

    /// The value as it is now, apart from the tensor: without history, and what is written to either is not seen by the other.
    #[track_caller]
    pub fn snapshot(&self) -> Tensor {
        Tensor::from_node(apart(&self.node()))
    }

    /// Whether it was made as a view of another tensor.
    pub(super) fn is_view(&self) -> bool {
        matches!(&*self.state(), State::Part(part) if !part.is_turned)
    }

    /// What it is a view of: all of that memory, with its history; `None` for what is no view.
    pub fn base(&self) -> Option<Tensor> {
        self.is_view().then(|| self.whole())
    }

    /// How often its memory was written to: by it, by its views, by others that share it.
    pub fn version(&self) -> u32 {
        match &*self.state() {
            State::Alone(_) => self.0.writes.load(Ordering::Relaxed),
            State::Whole(line) => line.memory.writes.load(Ordering::Relaxed),
            State::Part(part) => part.line.memory.writes.load(Ordering::Relaxed),
        }
    }

    /// Counts a write to its memory.
    pub(super) fn count_write(&self) {
        // Not by way of those who wait for what a step has.
        let state = locked(&self.0.state);
        let writes = match &*state {
            State::Alone(_) => &self.0.writes,
            State::Whole(line) => &line.memory.writes,
            State::Part(part) => &part.line.memory.writes,
        };
        writes.fetch_add(1, Ordering::Relaxed);
    }

    /// What the tensor's memory is known by.
    pub(crate) fn memory_id(&self) -> MemoryId {
        let memory = match &*self.state() {
            State::Alone(_) => return MemoryId::Alone(Arc::as_ptr(&self.0).addr()),
            State::Whole(line) => line.memory.id,
            State::Part(part) => part.line.memory.id,
        };
        MemoryId::Shared(memory)
    }

    /// Whether both are, or are parts of, one line of history.
    pub(crate) fn line_of_view(&self) -> Option<Arc<Line>> {
        match &*self.state() {
            State::Alone(_) => None,
            State::Whole(line) => Some(line.clone()),
            State::Part(part) => Some(part.line.clone()),
        }
    }
}
