//! Lines: a memory with one history, which the tensor and its views share; storages: the lines of one memory.

use super::look::by_memory;
use super::node::{Garbage, Given, Held, behind, graft, grafted, make_leaf, own, untracked, with_history};
use super::part::part_of;
use super::{Facts, is_borrowed, locked, other_lie, settle};
use crate::jit;
use crate::tensor::Cell;
use mg_device::{Error, ErrorKind, Layout, Result, Shape, Writing as Written};
use mg_graph::{Node, Op, Tag};
use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;
use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::Duration;

/// How elements lie for those who ask. What a view of memory was cut off from may go, and its elements move together then: nobody is to see
/// when. `None` where the place in the storage, or in the line, says it.
pub(crate) type Lies = Option<Box<Layout>>;

/// That of all of a line that is there in its storage.
pub(super) fn lies_at(region: Layout) -> Lies {
    (!region.is_contiguous() || region.offset() != 0).then(|| Box::new(region))
}

/// Where a tensor is.
pub(super) struct Seat {
    pub(super) line: Arc<Line>,
    /// Among the line's elements.
    pub(super) layout: Layout,
    /// Among the storage's, if the line is a part of that.
    pub(super) region: Option<Layout>,
    pub(super) lies: Lies,
}

/// A view.
pub(crate) struct Part {
    pub(super) line: Arc<Line>,
    /// Where it lies among the line's elements.
    pub(super) layout: Layout,
    /// Where it lies among the storage's, if the line is a part of that itself.
    pub(super) region: Option<Layout>,
    pub(super) lies: Lies,
    pub(super) made_at: &'static Location<'static>,
    /// Once it was asked for.
    pub(super) known: Option<Known>,
    /// It is what the tensor itself was turned to, and no view of another one.
    pub(super) is_turned: bool,
}

impl Part {
    /// What a tensor is turned to: a line that is its own, in another order of axes.
    #[track_caller]
    pub(super) fn turned(line: Arc<Line>, layout: Layout, known: Option<Known>) -> Part {
        let (made_at, region, lies) = (mg_graph::line(), None, None);
        Part { line, layout, region, lies, made_at, known, is_turned: true }
    }
}

/// A view's node.
pub(super) struct Known {
    pub(super) held: Held,
    /// The line's node that it was made of.
    pub(super) of: u64,
    /// The one that this had the history of.
    pub(super) history: u64,
}

impl Known {
    pub(super) fn new(held: Held, whole: &Node) -> Known {
        Known { held, of: whole.sequence(), history: behind(whole).sequence() }
    }
}

/// A memory with one history, for those who see all of it or a part.
pub(crate) struct Line {
    /// That of its memory, which all lines on it have.
    pub(super) memory: Arc<Memory>,
    pub(super) state: Mutex<LineState>,
    /// Taken by whoever writes to it, itself or a part: what a part leaves as it was must not be older than what another thread
    /// has written. Where a storage is shared, its own is taken after it.
    pub(super) writing: Mutex<()>,
}

/// A memory that several tensors see.
pub(super) struct Memory {
    /// See [`MemoryId::Shared`](super::MemoryId::Shared).
    pub(super) id: u64,
    /// How often it was written to.
    pub(super) writes: AtomicU32,
}

pub(super) struct LineState {
    /// `None` while a replayed step has it.
    pub(super) whole: Option<Held>,
    /// The tensor whose gradient is kept, if the line is a leaf.
    pub(super) leaf: Weak<Cell>,
    /// The tensor that it was, if that was made a leaf since: what is left here are its views.
    pub(super) left: Weak<Cell>,
    pub(super) shared: Option<Shared>,
    /// Of all of it.
    pub(super) lies: Lies,
    pub(super) given: Given,
}

/// A line's place in memory that other lines see too.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) storage: Arc<Storage>,
    /// Where the line's elements lie among the storage's; all of them in order, if nothing is said.
    pub(super) region: Option<Layout>,
    /// The storage's version that the line has taken in.
    pub(super) version: u64,
}

/// A memory with several lines.
pub(super) struct Storage {
    pub(super) state: Mutex<StorageState>,
    /// How its elements lie for those who ask.
    pub(super) lies: Lies,
    pub(super) writing: Mutex<()>,
}

pub(super) struct StorageState {
    pub(super) node: Held,
    pub(super) version: u64,
    pub(super) given: Given,
}

/// Told when replayed steps give back what they had.
pub(super) static RETURNED: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());

/// Tells those who wait that something was given back.
pub(super) fn returned() {
    RETURNED.1.notify_all();
}

/// Locks what `is_there` says is not with a replayed step.
#[inline(always)] // Every call of an operation comes by here, and what it asks is a comparison.
pub(super) fn present<T>(mutex: &Mutex<T>, is_there: impl Fn(&T) -> bool) -> MutexGuard<'_, T> {
    let guard = locked(mutex);
    if is_there(&guard) {
        return guard;
    }
    drop(guard);
    given_back(mutex, is_there)
}

/// Waits until what a replayed step has is there again.
#[cold]
#[inline(never)]
fn given_back<T>(mutex: &Mutex<T>, is_there: impl Fn(&T) -> bool) -> MutexGuard<'_, T> {
    loop {
        mg_graph::waiting(|| {
            let waiting = locked(&RETURNED.0);
            // Not for ever: it may have come back between the two locks.
            drop(RETURNED.1.wait_timeout(waiting, Duration::from_millis(1)));
        });
        let guard = locked(mutex);
        if is_there(&guard) {
            return guard;
        }
    }
}

/// What is written and by whom.
pub(super) struct Writing {
    pub(super) value: Node,
    pub(super) line: &'static Location<'static>,
    /// See [`mg_graph::Overwritten`].
    pub(super) since: u64,
}

impl Line {
    /// A line on memory of its own, or on another line's.
    pub(super) fn new(
        whole: Held,
        leaf: Weak<Cell>,
        other: Option<(&Line, Shared)>,
        lies: Lies,
    ) -> Arc<Line> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let (memory, shared) = match other {
            Some((line, shared)) => (line.memory.clone(), Some(shared)),
            None => {
                let id = MADE.fetch_add(1, Ordering::Relaxed);
                (Arc::new(Memory { id, writes: AtomicU32::new(0) }), None)
            }
        };
        let state =
            LineState { whole: Some(whole), leaf, left: Weak::new(), shared, lies, given: Given::default() };
        Arc::new(Line { memory, state: Mutex::new(state), writing: Mutex::new(()) })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, LineState> {
        present(&self.state, |state| state.whole.is_some())
    }

    /// The whole, with what other lines have written.
    pub(crate) fn node(&self) -> Node {
        let mut garbage = Garbage::new();
        let mut state = self.lock();
        state.look(&mut garbage);
        let LineState { whole: Some(whole), .. } = &mut *state else {
            unreachable!("it is there: see `lock`")
        };
        whole.current(&mut garbage)
    }

    /// How all of it lies, where that is not row-major.
    pub(super) fn lies(&self) -> Lies {
        locked(&self.state).lies.clone()
    }

    pub(super) fn facts(&self) -> Facts {
        let state = self.lock();
        let whole = state.whole.as_ref().map(|held| Facts::of(&held.node));
        whole.unwrap_or_else(|| unreachable!("it is there: see `lock`"))
    }

    /// Its memory's storage, made if there is none.
    pub(super) fn storage(&self) -> Shared {
        let _writing = locked(&self.writing);
        let whole = self.node();
        let mut state = self.lock();
        if let Some(shared) = &state.shared {
            return shared.clone();
        }
        let node = Held::new(untracked(&whole));
        let mut given = Given::default();
        given.add(&whole);
        let storage = StorageState { node, version: 0, given };
        let (state_of, lies) = (Mutex::new(storage), state.lies.clone());
        let storage = Arc::new(Storage { state: state_of, lies, writing: Mutex::new(()) });
        let shared = Shared { storage, region: None, version: 0 };
        state.shared = Some(shared.clone());
        shared
    }

    /// Writes into all of it, or into what a view sees.
    pub(super) fn write(self: &Arc<Self>, part: Option<&Part>, writing: Writing) -> Result<()> {
        // Dropped last, when no lock is held.
        let mut garbage = Garbage::new();
        let _turn = locked(&self.writing);
        let shared = locked(&self.state).shared.clone();
        let _other_turn = shared.as_ref().map(|shared| locked(&shared.storage.writing));
        let Writing { value, line, since } = writing;
        let whole = self.node();
        // Whether it lies in memory that others see is known then.
        if whole.reads_borrowed() {
            settle(&whole);
        }
        let facts = Facts::of(&whole);
        let is_broadcast = writable(part, shared.as_ref())?;
        refuse_met_twice(&whole, part)?;
        let all = Layout::contiguous(facts.shape);
        let region = part.map_or(&all, |part| &part.layout);
        // Who shares the memory sees what is written when it is.
        let (theirs, gone_since) = match is_borrowed(&whole) && facts.device.is_cpu() {
            true => {
                jit::note_shared_write();
                // Nobody has the old numbers then, not even who has just read them to make the new ones.
                let at = mg_graph::next_sequence();
                (Some(whole.write_shared(&value, region, Written { at, line })?), at)
            }
            false => (None, since),
        };
        let is_own_part = part.is_some() && shared.is_none() && theirs.is_none();
        if is_own_part && is_worth_writing_now(&whole, &value, region) {
            // The failure stays with the node.
            let _ = mg_graph::realize_quietly(&[&value]);
        }
        let whole = match is_own_part {
            true => match self.write_now(whole, &value, region, line, since) {
                None => return Ok(()),
                Some(whole) => whole,
            },
            false => whole,
        };
        let new = merged(&whole, part, &value, &facts.shape)?;
        // On a GPU what is refused late is put back byte for byte. On the host a part is written where it is, and the order told stays the line's.
        let new = if part.is_some() && facts.device.is_cpu() { new } else { new.lying_as(&whole) };
        let leaf = locked(&self.state).leaf.clone();
        let new = with_history(new, &whole, leaf.strong_count() > 0, since);
        // Last, so that it is known to lie there.
        let new = own(match theirs {
            Some(memory) => there(memory, &new),
            None => new,
        });
        if leaf.strong_count() > 0 {
            make_leaf(&new, &leaf);
        }
        let in_storage = shared.as_ref().map(|shared| shared.written(part, &value, &new)).transpose()?;
        jit::note_line_change(self, &whole);
        if shared.is_some() {
            jit::note_shared_write();
        }
        if whole.handles() > 1 {
            whole.overwrite(line, gone_since);
        }
        new.note_written();
        new.set_before(whole);
        let stored = shared.as_ref().zip(in_storage);
        self.put(new, stored, is_broadcast, (line, gone_since), &mut garbage);
        // Others may be asked to compute what waits: not under a lock of the line's values.
        self.count();
        Ok(())
    }

    /// Puts what was made where the whole was, and what was written of it with its version into the storage. What was there goes with the
    /// garbage.
    fn put(
        &self,
        made: Node,
        stored: Option<(&Shared, (Held, u64))>,
        is_broadcast: bool,
        (line, since): (&'static Location<'static>, u64),
        garbage: &mut Garbage,
    ) {
        let mut state = self.lock();
        state.given.overwrite(line, since);
        garbage.extend(state.whole.replace(Held { node: made.clone(), counted: false }));
        if let Some((shared, (written, version))) = stored {
            let mut storage = locked(&shared.storage.state);
            storage.given.overwrite(line, since);
            storage.version = version;
            storage.given.add(&made);
            garbage.push(std::mem::replace(&mut storage.node, written));
            // What else of the line stands where a part was written is read again.
            if let (Some(shared), false) = (&mut state.shared, is_broadcast) {
                shared.version = version;
            }
        }
    }

    /// Says that somebody holds the whole.
    pub(super) fn count(&self) {
        let node = {
            let mut state = self.lock();
            let Some(whole) = &mut state.whole else { return };
            if std::mem::replace(&mut whole.counted, true) {
                return;
            }
            whole.node.clone()
        };
        node.hold();
    }

    /// Writes into the memory itself, where nobody can tell; otherwise answers with the whole again.
    pub(super) fn write_now(
        &self,
        whole: Node,
        value: &Node,
        region: &Layout,
        line: &'static Location<'static>,
        since: u64,
    ) -> Option<Node> {
        if whole.is_pending() || whole.is_tracked() || value.is_tracked() || mg_graph::is_recording() {
            return Some(whole);
        }
        let mut state = self.lock();
        drop(whole);
        let held = state.whole.take()?.into_node();
        let (node, done) = match held.write_now(value, region) {
            Ok(node) => (node, true),
            Err(node) => (node, false),
        };
        if done {
            state.given.overwrite(line, since);
            state.whole = Some(Held::new(node));
            return None;
        }
        state.whole = Some(Held::owned(node.clone()));
        Some(node)
    }
}

/// What all of a line is once a value is written into it, or into a part of it.
fn merged(whole: &Node, part: Option<&Part>, value: &Node, shape: &Shape) -> Result<Node> {
    match part {
        // All of it, seen in another shape: nothing of what was there is left.
        Some(Part { layout, .. }) if covers(layout, shape) => {
            let _name = mg_graph::renamed("write.CopySlices");
            value.reshape(*shape)
        }
        Some(part) => {
            let _name = mg_graph::renamed("write.CopySlices");
            // All of it in another order of axes, in which the value lies, too.
            if let Some((new, layout)) = by_memory(value)
                && (layout, new.shape()) == (part.layout, shape)
            {
                return Ok(new);
            }
            value.write_into(Some(whole), *shape, part.layout)
        }
        None => Ok(value.clone()),
    }
}

/// Whether all of a line is broadcast in its storage: an element has one place then, which others see too.
///
/// # Errors
///
/// What is written lies broadcast itself, or in windows that overlap.
fn writable(part: Option<&Part>, shared: Option<&Shared>) -> Result<bool> {
    let place = shared.and_then(|shared| shared.region.as_ref());
    let is_broadcast = place.is_some_and(Layout::overlaps);
    let place = place.and_then(|all| part.map_or(Some(all), |part| part.region.as_ref()));
    let seen = [part.map(|part| &part.layout), place];
    let is_nothing = part.is_some_and(|part| part.layout.numel() == 0);
    if !is_nothing && seen.into_iter().flatten().any(Layout::overlaps) {
        return Err(unwritable());
    }
    Ok(is_broadcast)
}

fn unwritable() -> Error {
    let text = "a broadcast view, or one whose windows overlap, cannot be written to";
    Error::new("write", ErrorKind::Value(text.into()))
}

/// Refuses to write to elements that share places in memory of others.
fn refuse_met_twice(whole: &Node, part: Option<&Part>) -> Result<()> {
    let Some(lies) = other_lie(whole).filter(Layout::overlaps) else { return Ok(()) };
    // A part of it may be without such elements.
    let (mut met, mut twice) = (HashSet::new(), false);
    match part {
        Some(part) => part.layout.offsets().for_each(|i| twice |= !met.insert(lies.linear_offset(i))),
        None => lies.offsets().for_each(|at| twice |= !met.insert(at)),
    }
    if twice { Err(unwritable()) } else { Ok(()) }
}

/// Memory of others that was written to, with the history of what was written: also while a step is recorded, and younger than its history.
fn there(memory: Node, new: &Node) -> Node {
    if !new.is_tracked() {
        return memory;
    }
    let known = memory.value().and_then(|value| value.as_ref().ok());
    let again = known.map_or_else(|| untracked(&memory), |value| Node::from_value(value.clone()));
    graft(again, new)
}

impl Shared {
    /// What the storage stands for once a line is written to, and which version of it that is.
    fn written(&self, part: Option<&Part>, value: &Node, new: &Node) -> Result<(Held, u64)> {
        let (node, version) = {
            let state = locked(&self.storage.state);
            (state.node.node.clone(), state.version)
        };
        // It is there already, or there is nothing to write.
        let there = is_borrowed(new) || value.shape().numel() == 0;
        let region = match (part, &self.region) {
            _ if there => None,
            (None, region) => region.as_ref(),
            (Some(part), None) => Some(&part.layout),
            // A line that is a part of its storage has had that part since it was made, and so have its views.
            (Some(part), Some(_)) => part.region.as_ref(),
        };
        let written = match region {
            None if there => {
                let value = node.value().and_then(|v| v.as_ref().ok());
                value.map_or_else(|| untracked(&node), |value| Node::from_value(value.clone()))
            }
            None => untracked(new),
            Some(region) => untracked(value).write_into(Some(&node), *node.shape(), *region)?.lying_as(&node),
        };
        let written = own(written);
        written.note_written();
        written.set_before(node);
        Ok((Held::owned(written), version + 1))
    }
}

/// Whether a value that is not computed yet is better computed now, as it then goes into memory that is the line's alone: into a
/// small part of much memory, all of which a plan with the writing in it may have to copy. `whole` has one handle of the caller's.
pub(super) fn is_worth_writing_now(whole: &Node, value: &Node, region: &Layout) -> bool {
    const MUCH: usize = 1 << 16;
    let size = value.dtype().size();
    if !value.is_pending()
        || whole.shape().numel() * size < MUCH
        || region.numel() * 4 > whole.shape().numel()
    {
        return false;
    }
    let plain = !value.is_tracked() && !whole.is_tracked() && !mg_graph::is_recording();
    let is_constant = |n: &Node| matches!(n.op(), Op::Source(_));
    let constant =
        is_constant(value) || matches!(value.op(), Op::View(_)) && value.sources().iter().all(is_constant);
    let alone = |v: &mg_graph::Value| v.buffer.ref_count() == 1 && v.buffer.device().is_cpu();
    plain && !constant && whole.handles() == 2 && matches!(whole.value(), Some(Ok(v)) if alone(v))
}

/// Whether a view sees all elements of something of this shape in their order.
pub(super) fn covers(layout: &Layout, whole: &Shape) -> bool {
    layout.is_contiguous() && layout.offset() == 0 && layout.numel() == whole.numel()
}

thread_local! {
    /// The sequences of nodes that stand for what was written earlier, made since somebody began to note them on this thread; and how
    /// many do.
    static TAKEN_IN: RefCell<(u32, Vec<Range<u64>>)> = const { RefCell::new((0, vec![])) };
}

/// Notes which nodes are made because somebody has asked for what was written earlier: they are younger than they look.
pub(crate) struct TakenIn(());

impl TakenIn {
    /// From now on.
    pub(crate) fn noted() -> TakenIn {
        TAKEN_IN.with_borrow_mut(|(depth, _)| *depth += 1);
        TakenIn(())
    }

    /// Whether a node is one of them.
    pub(crate) fn has(&self, node: &Node) -> bool {
        TAKEN_IN.with_borrow(|(_, ranges)| {
            let at = ranges.partition_point(|range| range.end <= node.sequence());
            ranges.get(at).is_some_and(|range| range.contains(&node.sequence()))
        })
    }
}

impl Drop for TakenIn {
    fn drop(&mut self) {
        TAKEN_IN.with_borrow_mut(|(depth, ranges)| {
            *depth -= 1;
            if *depth == 0 {
                ranges.clear();
            }
        });
    }
}

/// Runs what makes nodes for what was written earlier.
fn taking_in<R>(f: impl FnOnce() -> R) -> R {
    if TAKEN_IN.with_borrow(|(depth, _)| *depth == 0) {
        return f();
    }
    let start = mg_graph::next_sequence();
    let made = f();
    TAKEN_IN.with_borrow_mut(|(_, ranges)| ranges.push(start..mg_graph::next_sequence()));
    made
}

impl LineState {
    /// Looks for what other lines have written. Before a step that is being recorded, that was there before it.
    pub(super) fn look(&mut self, garbage: &mut Garbage) {
        if self.shared.is_some() && taking_in(|| mg_graph::unrecorded(|| self.take_in(garbage))) {
            jit::note_taken_in(self.whole.as_ref().map(|held| &held.node));
        }
    }

    /// Takes in what other lines have written, and leaves a storage that is the line's alone. Answers with whether there was
    /// something.
    pub(super) fn take_in(&mut self, garbage: &mut Garbage) -> bool {
        let (Some(shared), Some(whole)) = (&mut self.shared, &mut self.whole) else { return false };
        let mut taken = false;
        // One whose elements share places is written to by way of it.
        let alone =
            Arc::strong_count(&shared.storage) == 1 && !shared.region.as_ref().is_some_and(Layout::overlaps);
        {
            let mut storage = locked(&shared.storage.state);
            if storage.version != shared.version {
                let mut drained = Garbage::new();
                let node = storage.node.current(&mut drained);
                garbage.extend(drained);
                let seen = match &shared.region {
                    None => Ok(untracked(&node)),
                    Some(region) => part_of(&node, region),
                };
                let seen = seen.unwrap_or_else(|error| Node::failed(error, &whole.node));
                let history = self.leaf.strong_count() == 0 && whole.node.is_tracked();
                let new = own(if history { grafted(&seen, &whole.node) } else { seen });
                if self.leaf.strong_count() > 0 {
                    make_leaf(&new, &self.leaf);
                }
                storage.given.add(&new);
                // Should it turn out that it cannot be computed, this is what there is.
                new.set_before(whole.node.clone());
                garbage.push(std::mem::replace(whole, Held::owned(new)));
                shared.version = storage.version;
                taken = true;
            }
        }
        if alone && let Some(shared) = self.shared.take() {
            let Shared { storage, region, .. } = shared;
            self.lies = self.lies.take().or_else(|| region.and_then(lies_at));
            if let Ok(storage) = Arc::try_unwrap(storage)
                && let Ok(state) = storage.state.into_inner()
            {
                garbage.push(state.node);
                // What graphs have saved of those that are gone was made of this memory, too.
                state.given.alive().iter().for_each(|node| self.given.add(node));
            }
        }
        taken
    }
}

impl Part {
    /// A node for what it is of the whole as that is now.
    fn made_of(&self, whole: &Node) -> Node {
        let _at = mg_graph::at(self.made_at);
        // A view has the history of what it is a view of, whether gradients are recorded now or not.
        let was = mg_graph::set_tracking(true);
        let node = part_of(whole, &self.layout);
        mg_graph::set_tracking(was);
        // Where only the numbers of the whole have changed, the view is the same to those who differentiate.
        let numbers_only = |known: &Known| match whole.tag() {
            Some(Tag::Owner(_)) => true,
            Some(Tag::History(history)) => history.sequence() == known.history,
            Some(Tag::Forgotten(_) | Tag::Replayed(_) | Tag::Output(..) | Tag::Call(_)) | None => false,
        };
        let node = match (&self.known, node) {
            (Some(known), Ok(node)) if known.held.node.is_tracked() && numbers_only(known) => {
                Ok(grafted(&node, &known.held.node))
            }
            (_, node) => node,
        };
        let like = || Node::scalar(0.0, whole.dtype(), whole.device(), true);
        own(node.unwrap_or_else(|error| Node::failed(error, &like())))
    }

    pub(super) fn node(&mut self, garbage: &mut Garbage) -> Node {
        let whole = self.line.node();
        if let Some(known) = &self.known
            && known.of == whole.sequence()
        {
            return known.held.node.clone();
        }
        if mg_graph::is_recording() {
            jit::note_line_read(&self.line, &whole);
        }
        let node = taking_in(|| self.made_of(&whole));
        if !node.is_tracked() {
            self.line.lock().given.add(&node);
        }
        let old = self.known.replace(Known::new(Held::owned(node.clone()), &whole));
        garbage.extend(old.map(|known| known.held));
        node
    }
}

impl Line {
    /// Whether other lines see its memory.
    pub(super) fn is_shared(&self) -> bool {
        let mut garbage = Garbage::new();
        let mut state = self.lock();
        state.look(&mut garbage);
        state.shared.is_some()
    }
}
