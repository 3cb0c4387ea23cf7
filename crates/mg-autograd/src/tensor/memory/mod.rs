//! What tensors share: memory, and the history of what is in it.
//!
//! A tensor is alone with its memory until somebody looks at a part of it. Then there is a [`Line`]: the whole, with its history
//! for gradients, which the tensor and its views share; a view is a layout among the line's elements, however many views it was
//! made by. [`Tensor::detach`] and its like begin another line on the same memory: a [`Storage`] tells the lines of one memory
//! what the others have written. Nodes never change: writing gives a tensor, a line, a storage another node, and whoever stands
//! for a part of it finds out when it is asked next. docs/state.md says what that means to a user.

mod export;
mod part;
mod place;

pub(crate) use place::{Kept, Place};

use super::{Cell, Tensor};
use crate::gradient::no_grad;
use crate::jit;
use crate::transform::batch::{leaked, leaks};
use mg_device::cuda::Gpu;
use mg_device::{DType, Device, Error, ErrorKind, Layout, Result, Shape};
use mg_graph::{Node, Op, Tag, View, WeakNode};
use part::{part_of, view_of};
use smallvec::SmallVec;
use std::any::Any;
use std::collections::HashSet;
use std::panic::Location;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, Weak};
use std::time::Duration;

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is replaced whole, so a panic elsewhere leaves it sound.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Nodes that are dropped when no lock is held: their memory may be somebody's who looks at the tensor when it goes.
type Garbage = SmallVec<[Held; 2]>;

/// A node that a tensor stands for, and no other does.
pub(crate) struct Held {
    node: Node,
    /// Somebody holds it for whom the engine computes it; not so a gradient that nobody has read.
    counted: bool,
}

impl Held {
    pub(crate) fn new(node: Node) -> Held {
        Held::owned(own(node))
    }

    /// Of a node that was made a tensor's own.
    fn owned(node: Node) -> Held {
        node.hold();
        Held { node, counted: true }
    }

    /// Of which nobody knows yet.
    pub(crate) fn unread(node: Node) -> Held {
        Held { node: own(node), counted: false }
    }

    /// The node; what it stood for before, where computing it failed and somebody was told of that.
    fn current(&mut self, garbage: &mut Garbage) -> Node {
        while let Some(Err(error)) = self.node.value()
            && error.is_reported()
            && let Some(before) = self.node.before()
        {
            before.hold();
            // Several writes may have failed together, of which one was told.
            let _ = mg_graph::realize_quietly(&[&before]);
            let failed = std::mem::replace(&mut self.node, before);
            garbage.push(Held { node: failed, counted: std::mem::replace(&mut self.counted, true) });
        }
        self.node.clone()
    }

    /// Computes what must not wait.
    pub(crate) fn settle(&self) {
        settle(&self.node);
    }

    /// With memory of its own, where the value is in somebody else's: an operation may answer with a view of its operand.
    #[track_caller]
    pub(crate) fn apart(self) -> Held {
        if !(self.node.reads_borrowed() && is_borrowed(&self.node)) {
            return self;
        }
        let held = Held::new(self.node.copy());
        held.settle();
        held
    }

    fn into_node(mut self) -> Node {
        if std::mem::replace(&mut self.counted, false) {
            self.node.let_go();
        }
        self.node.clone()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.counted {
            self.node.let_go();
        }
    }
}

/// The node itself, if it is no tensor's yet; else another for the same value.
#[track_caller]
fn own(node: Node) -> Node {
    if node.claim() {
        return node;
    }
    // Of memory that is somebody else's, one tensor is enough.
    let other = if may_be_borrowed(&node) { node.copy() } else { node.alias() };
    other.claim();
    other
}

/// A node with the same value (or failure) and no history.
#[track_caller]
pub(crate) fn untracked(node: &Node) -> Node {
    match node.value() {
        Some(Ok(value)) if !mg_graph::is_recording() => Node::from_value(value.clone()),
        Some(Err(error)) => Node::failed(error.clone(), node),
        _ => {
            // The value is pending: a copy of it that nobody walks through.
            let copy = node.alias();
            copy.set_tracked(false);
            copy
        }
    }
}

/// As [`untracked`], for another tensor: not in memory that is somebody else's.
#[track_caller]
pub(crate) fn apart(node: &Node) -> Node {
    if !is_borrowed(node) {
        return untracked(node);
    }
    let _guard = no_grad();
    node.copy()
}

/// Where a walk over the graph goes on that comes to something with this history.
fn behind(history: &Node) -> Node {
    match history.tag() {
        Some(Tag::History(behind)) => behind.clone(),
        Some(Tag::Forgotten(behind)) if has_forgotten_all(history) => behind.clone(),
        Some(Tag::Forgotten(_) | Tag::Owner(_) | Tag::Replayed(_) | Tag::Output(..) | Tag::Call(_))
        | None => history.clone(),
    }
}

/// Whether nothing flows to what was written to something with this history.
fn has_forgotten_all(history: &Node) -> bool {
    let forgotten = matches!(history.tag(), Some(Tag::Forgotten(_)));
    forgotten && !history.is_released() && !history.sources().iter().any(Node::is_tracked)
}

/// A node with the value of `value`, through which gradients flow to `history`.
#[track_caller]
fn grafted(value: &Node, history: &Node) -> Node {
    let node = untracked(value);
    node.set_tracked(true);
    let tag = if has_forgotten_all(history) { Tag::Forgotten } else { Tag::History };
    node.set_tag(tag(behind(history)));
    node
}

/// What is written to something with a history. Without recording gradients only the numbers change. Where nothing that is
/// written has a history of its own, the tensor keeps its, and the gradient ends there as zeros. (A leaf has no history.)
#[track_caller]
fn with_history(value: Node, old: &Node, leaf: bool, since: u64) -> Node {
    if leaf || !old.is_tracked() {
        return value;
    }
    if !mg_graph::is_tracking() {
        return grafted(&value, old);
    }
    let node = if value.is_tracked() {
        if is_made_of(&value, old, since) {
            return value;
        }
        // Gradients flow to what was written, and as zeros to what was there.
        value.alias()
    } else {
        untracked(&value)
    };
    node.set_tracked(true);
    node.set_tag(Tag::Forgotten(behind(old)));
    node
}

/// Whether an operation in place, whose nodes are no older than `since`, has made a value of what was there before.
fn is_made_of(value: &Node, old: &Node, since: u64) -> bool {
    let mut stack: SmallVec<[Node; 8]> = SmallVec::new();
    stack.push(value.clone());
    let mut met = HashSet::new();
    while let Some(node) = stack.pop() {
        if node.is(old) {
            return true;
        }
        if node.sequence() >= since && met.insert(node.sequence()) {
            stack.extend(node.sources());
        }
    }
    false
}

/// Makes a node that of a leaf: gradients end there.
fn make_leaf(node: &Node, leaf: &Weak<Cell>) {
    node.set_tracked(true);
    let owner: Weak<dyn Any + Send + Sync> = leaf.clone();
    node.set_tag(Tag::Owner(owner));
    // What computed the value is not walked, and must not be kept alive by it.
    node.release();
}

/// Nodes that were made of a memory since it was last written.
#[derive(Default)]
struct Given {
    nodes: Vec<WeakNode>,
    /// How many there may be before those that are gone are looked for.
    bound: usize,
}

impl Given {
    fn add(&mut self, node: &Node) {
        if self.nodes.len() >= self.bound.max(8) {
            self.nodes.retain(|weak| !weak.is_gone());
            self.bound = 2 * self.nodes.len();
        }
        self.nodes.push(node.downgrade());
    }

    fn alive(&self) -> Vec<Node> {
        self.nodes.iter().filter_map(WeakNode::upgrade).collect()
    }

    fn overwrite(&mut self, line: &'static Location<'static>, since: u64) {
        for node in self.nodes.drain(..).filter_map(|weak| weak.upgrade()) {
            node.overwrite(line, since);
        }
    }
}

/// How a tensor has its elements.
pub(crate) enum State {
    /// In memory that nobody else sees. `None` while a replayed step has it.
    Alone(Option<Held>),
    /// All of a line.
    Whole(Arc<Line>),
    /// Some of a line.
    Part(Box<Part>),
}

/// A view.
pub(crate) struct Part {
    line: Arc<Line>,
    /// Where it lies among the line's elements.
    layout: Layout,
    /// Where it lies among the storage's, if the line is a part of that itself.
    region: Option<Layout>,
    made_at: &'static Location<'static>,
    /// Once it was asked for.
    known: Option<Known>,
    /// It is what the tensor itself was turned to, and no view of another one.
    is_turned: bool,
}

/// A view's node.
struct Known {
    held: Held,
    /// The line's node that it was made of.
    of: u64,
    /// The one that this had the history of.
    history: u64,
}

impl Known {
    fn new(held: Held, whole: &Node) -> Known {
        Known { held, of: whole.sequence(), history: behind(whole).sequence() }
    }
}

/// A memory with one history, for those who see all of it or a part.
pub(crate) struct Line {
    state: Mutex<LineState>,
    /// Taken by whoever writes to it, itself or a part: what a part leaves as it was must not be older than what another thread
    /// has written. Where a storage is shared, its own is taken after it.
    writing: Mutex<()>,
}

struct LineState {
    /// `None` while a replayed step has it.
    whole: Option<Held>,
    /// The tensor whose gradient is kept, if the line is a leaf.
    leaf: Weak<Cell>,
    shared: Option<Shared>,
    given: Given,
}

/// A line's place in memory that other lines see too.
#[derive(Clone)]
struct Shared {
    storage: Arc<Storage>,
    /// Where the line's elements lie among the storage's; all of them in order, if nothing is said.
    region: Option<Layout>,
    /// The storage's version that the line has taken in.
    version: u64,
}

/// A memory with several lines.
struct Storage {
    state: Mutex<StorageState>,
    writing: Mutex<()>,
}

struct StorageState {
    node: Held,
    version: u64,
    given: Given,
}

/// Told when replayed steps give back what they had.
static RETURNED: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());

/// Tells those who wait that something was given back.
fn returned() {
    RETURNED.1.notify_all();
}

/// Locks what `is_there` says is not with a replayed step.
fn present<T>(mutex: &Mutex<T>, is_there: impl Fn(&T) -> bool) -> MutexGuard<'_, T> {
    loop {
        let guard = locked(mutex);
        if is_there(&guard) {
            return guard;
        }
        drop(guard);
        let waiting = locked(&RETURNED.0);
        // Not for ever: it may have come back between the two locks.
        drop(RETURNED.1.wait_timeout(waiting, Duration::from_millis(1)));
    }
}

/// What a tensor is, whatever its value.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) shape: Shape,
    pub(crate) dtype: DType,
    pub(crate) device: Device,
}

impl Facts {
    fn of(node: &Node) -> Facts {
        Facts { shape: *node.shape(), dtype: node.dtype(), device: node.device() }
    }
}

/// What is written and by whom.
struct Writing {
    value: Node,
    line: &'static Location<'static>,
    /// See [`mg_graph::Overwritten`].
    since: u64,
}

thread_local! {
    static IN_PLACE: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
}

/// Runs an operation that changes a tensor in place: what it reads of the tensor itself, it reads rightly.
pub fn in_place<R>(f: impl FnOnce() -> R) -> R {
    struct Restore(Option<u64>);
    impl Drop for Restore {
        fn drop(&mut self) {
            IN_PLACE.set(self.0);
        }
    }
    let before = IN_PLACE.get();
    let _restore = Restore(before);
    IN_PLACE.set(Some(before.unwrap_or_else(mg_graph::next_sequence)));
    f()
}

impl Line {
    fn new(whole: Held, leaf: Weak<Cell>, shared: Option<Shared>) -> Arc<Line> {
        let state = LineState { whole: Some(whole), leaf, shared, given: Given::default() };
        Arc::new(Line { state: Mutex::new(state), writing: Mutex::new(()) })
    }

    fn lock(&self) -> MutexGuard<'_, LineState> {
        present(&self.state, |state| state.whole.is_some())
    }

    /// The whole, with what other lines have written.
    fn node(&self) -> Node {
        let mut garbage = Garbage::new();
        let mut state = self.lock();
        state.look(&mut garbage);
        let LineState { whole: Some(whole), .. } = &mut *state else {
            unreachable!("it is there: see `lock`")
        };
        whole.current(&mut garbage)
    }

    fn facts(&self) -> Facts {
        let state = self.lock();
        let whole = state.whole.as_ref().map(|held| Facts::of(&held.node));
        whole.unwrap_or_else(|| unreachable!("it is there: see `lock`"))
    }

    /// Its memory's storage, made if there is none.
    fn storage(&self) -> Shared {
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
        let storage = Arc::new(Storage { state: Mutex::new(storage), writing: Mutex::new(()) });
        let shared = Shared { storage, region: None, version: 0 };
        state.shared = Some(shared.clone());
        shared
    }

    /// Writes into all of it, or into what a view sees.
    fn write(self: &Arc<Self>, part: Option<&Part>, writing: Writing) -> Result<()> {
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
        let place = shared.as_ref().and_then(|shared| shared.region.as_ref());
        // An element of what is broadcast has one place, which others see too.
        let is_broadcast = place.is_some_and(Layout::overlaps);
        let place = place.and_then(|all| part.map_or(Some(all), |part| part.region.as_ref()));
        let seen = [part.map(|part| &part.layout), place];
        let nothing = part.is_some_and(|part| part.layout.numel() == 0);
        if !nothing && seen.into_iter().flatten().any(Layout::overlaps) {
            let text = "a broadcast view, or one whose windows overlap, cannot be written to";
            return Err(Error::new("write", ErrorKind::Value(text.into())));
        }
        let all = Layout::contiguous(facts.shape);
        let region = part.map_or(&all, |part| &part.layout);
        // Who shares the memory sees what is written when it is.
        let theirs = match is_borrowed(&whole) && facts.device.is_cpu() {
            true => {
                jit::note_shared_write();
                Some(whole.write_shared(&value, region)?)
            }
            false => None,
        };
        if part.is_some()
            && shared.is_none()
            && theirs.is_none()
            && is_worth_writing_now(&whole, &value, region)
        {
            // The failure stays with the node.
            let _ = mg_graph::realize_quietly(&[&value]);
        }
        let whole = match part.is_some() && shared.is_none() && theirs.is_none() {
            true => match self.write_now(whole, &value, region, line, since) {
                None => return Ok(()),
                Some(whole) => whole,
            },
            false => whole,
        };
        let new = match part {
            // All of it, seen in another shape: nothing of what was there is left.
            Some(Part { layout, .. }) if covers(layout, &facts.shape) => value.reshape(facts.shape)?,
            Some(part) => value.write_into(Some(&whole), facts.shape, part.layout)?,
            None => value.clone(),
        };
        let leaf = locked(&self.state).leaf.clone();
        let new = with_history(new, &whole, leaf.strong_count() > 0, since);
        // Last, so that it is known to lie there.
        let new = own(match theirs {
            Some(memory) if new.is_tracked() => grafted(&memory, &new),
            Some(memory) => memory,
            None => new,
        });
        if leaf.strong_count() > 0 {
            make_leaf(&new, &leaf);
        }
        let in_storage = match &shared {
            None => None,
            Some(shared) => {
                let (node, version) = {
                    let state = locked(&shared.storage.state);
                    (state.node.node.clone(), state.version)
                };
                // It is there already, or there is nothing to write.
                let there = is_borrowed(&new) || value.shape().numel() == 0;
                let region = match (part, &shared.region) {
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
                    None => untracked(&new),
                    Some(region) => untracked(&value).write_into(Some(&node), *node.shape(), *region)?,
                };
                let written = own(written);
                written.set_before(node);
                Some((shared, Held::owned(written), version + 1))
            }
        };
        jit::note_line_change(self, &whole);
        if shared.is_some() {
            jit::note_shared_write();
        }
        if whole.handles() > 1 {
            whole.overwrite(line, since);
        }
        new.set_before(whole);
        let new = Held { node: new, counted: false };
        let mut state = self.lock();
        let made = new.node.clone();
        state.given.overwrite(line, since);
        garbage.extend(state.whole.replace(new));
        if let Some((shared, written, version)) = in_storage {
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
        drop(state);
        drop(made);
        // Others may be asked to compute what waits: not under a lock of the line's values.
        self.count();
        Ok(())
    }

    /// Says that somebody holds the whole.
    fn count(&self) {
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
    fn write_now(
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

/// Whether a value that is not computed yet is better computed now, as it then goes into memory that is the line's alone: into a
/// small part of much memory, all of which a plan with the writing in it may have to copy. `whole` has one handle of the caller's.
fn is_worth_writing_now(whole: &Node, value: &Node, region: &Layout) -> bool {
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
fn covers(layout: &Layout, whole: &Shape) -> bool {
    layout.is_contiguous() && layout.offset() == 0 && layout.numel() == whole.numel()
}

impl LineState {
    /// Looks for what other lines have written. Before a step that is being recorded, that was there before it.
    fn look(&mut self, garbage: &mut Garbage) {
        if self.shared.is_some() && mg_graph::unrecorded(|| self.take_in(garbage)) {
            jit::note_taken_in(self.whole.as_ref().map(|held| &held.node));
        }
    }

    /// Takes in what other lines have written, and leaves a storage that is the line's alone. Answers with whether there was
    /// something.
    fn take_in(&mut self, garbage: &mut Garbage) -> bool {
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
            let Shared { storage, .. } = shared;
            if let Ok(storage) = Arc::try_unwrap(storage)
                && let Ok(state) = storage.state.into_inner()
            {
                garbage.push(state.node);
            }
        }
        taken
    }
}

impl Part {
    fn node(&mut self, garbage: &mut Garbage) -> Node {
        let whole = self.line.node();
        if let Some(known) = &self.known
            && known.of == whole.sequence()
        {
            return known.held.node.clone();
        }
        if mg_graph::is_recording() {
            jit::note_line_read(&self.line, &whole);
        }
        let _at = mg_graph::at(self.made_at);
        // A view has the history of what it is a view of, whether gradients are recorded now or not.
        let was = mg_graph::set_tracking(true);
        let node = part_of(&whole, &self.layout);
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
        let node = own(node.unwrap_or_else(|error| Node::failed(error, &like())));
        if !node.is_tracked() {
            self.line.lock().given.add(&node);
        }
        let old = self.known.replace(Known::new(Held::owned(node.clone()), &whole));
        garbage.extend(old.map(|known| known.held));
        node
    }
}

/// A memory that several tensors see; see [`Tensor::sharing`].
pub struct Sharing {
    /// A number that two memories have in common only if they are one; another may have it when this one is gone.
    pub id: usize,
    /// All of the memory as it is now.
    pub whole: Tensor,
    /// Where the tensor's elements lie among those of `whole`, laid out densely.
    pub layout: Layout,
}

/// What a tensor's memory is known by: two tensors share memory where these are the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct MemoryId(usize);

impl Tensor {
    pub(crate) fn from_held(held: Held) -> Tensor {
        Tensor::of_state(State::Alone(Some(held)), false)
    }

    fn of_state(state: State, leaf: bool) -> Tensor {
        let watch = OnceLock::new();
        Tensor(Arc::new(Cell { state: Mutex::new(state), grad: Mutex::new(None), leaf: leaf.into(), watch }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        present(&self.0.state, |state| !matches!(state, State::Alone(None)))
    }

    /// The node that the tensor stands for now.
    pub fn node(&self) -> Node {
        let node = self.current();
        if mg_graph::is_recording() { jit::note_read(self, node) } else { node }
    }

    /// As [`Tensor::node`], which no recording is told of.
    pub(crate) fn current(&self) -> Node {
        let mut garbage = Garbage::new();
        let line = match &mut *self.state() {
            State::Alone(Some(held)) => return held.current(&mut garbage),
            State::Alone(None) => unreachable!("it is there: see `state`"),
            State::Whole(line) => line.clone(),
            State::Part(part) => return part.node(&mut garbage),
        };
        line.node()
    }

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

    /// Whether gradients flow to it.
    pub fn requires_grad(&self) -> bool {
        let line = match &*self.state() {
            State::Alone(Some(held)) => return held.node.is_tracked(),
            State::Alone(None) => unreachable!("it is there: see `state`"),
            State::Whole(line) => line.clone(),
            State::Part(part) => part.line.clone(),
        };
        line.node().is_tracked()
    }

    /// Where its elements lie in memory that it is not all of, in order.
    pub(crate) fn region(&self) -> Option<Layout> {
        let line = match &*self.state() {
            State::Alone(_) => return None,
            State::Whole(line) => line.clone(),
            State::Part(part) => return part.region.or(Some(part.layout)),
        };
        let state = locked(&line.state);
        state.shared.as_ref().and_then(|shared| shared.region)
    }

    /// Whether it is a leaf that requires a gradient, or a view of one.
    pub(crate) fn is_of_leaf(&self) -> bool {
        let line = match &*self.state() {
            State::Alone(_) => return self.keeps_grad(),
            State::Whole(line) => line.clone(),
            State::Part(part) => part.line.clone(),
        };
        locked(&line.state).leaf.strong_count() > 0
    }

    /// The line that the tensor is, or is a part of, with where it lies; made if it was alone.
    fn line(&self) -> (Arc<Line>, Layout, Option<Layout>) {
        let mut state = self.state();
        if let State::Alone(held) = &mut *state
            && let Some(held) = held.take()
        {
            let leaf = if self.keeps_grad() { Arc::downgrade(&self.0) } else { Weak::new() };
            let line = Line::new(held, leaf, None);
            jit::note_line(&line, self);
            *state = State::Whole(line);
        }
        match &*state {
            State::Part(part) => {
                // A storage that only the line was left of is none any more.
                let is_part = locked(&part.line.state).shared.as_ref().is_some_and(|s| s.region.is_some());
                (part.line.clone(), part.layout, part.region.filter(|_| is_part))
            }
            State::Whole(line) => {
                let line = line.clone();
                drop(state);
                let region = locked(&line.state).shared.as_ref().and_then(|shared| shared.region);
                let all = Layout::contiguous(line.facts().shape);
                (line, all, region)
            }
            State::Alone(_) => unreachable!("it was there and is a line now"),
        }
    }

    /// A view of this tensor, through which it can be written; `None` where its elements do not lie so that there can be one.
    #[track_caller]
    pub(crate) fn view(&self, view: &View, shape: Shape) -> Option<Tensor> {
        let made_at = mg_graph::line();
        if mg_graph::is_recording() {
            // The recording is to know whose part it is.
            self.node();
        }
        let (line, layout, region) = self.line();
        let (layout, region) = match region {
            Some(region) => (view.apply(&layout, &shape)?, Some(view.apply(&region, &shape)?)),
            None => (view.apply(&layout, &shape)?, None),
        };
        let known = if self.requires_grad() && crate::is_grad_enabled() {
            // Of this one, whose gradient may be asked for: not of the whole straight away.
            let own_node = self.current();
            let whole = line.node();
            let node = view_of(&own_node, view, shape).unwrap_or_else(|error| Node::failed(error, &own_node));
            Some(Known::new(Held::new(node), &whole))
        } else {
            None
        };
        let seen = Tensor::of_part(line, layout, region, made_at, known);
        // What is made without recording gradients has no history, whatever it is a view of.
        let seen = if crate::is_grad_enabled() || !seen.requires_grad() { seen } else { seen.detach() };
        if mg_graph::is_eager() {
            // The failure stays with the node, for its readers.
            let _ = mg_graph::realize_quietly(&[&seen.current()]);
        }
        Some(seen)
    }

    fn of_part(
        line: Arc<Line>,
        layout: Layout,
        region: Option<Layout>,
        made_at: &'static Location<'static>,
        known: Option<Known>,
    ) -> Tensor {
        let part = Part { line, layout, region, made_at, known, is_turned: false };
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
        let (line, layout, region) = self.line();
        if region.is_some() {
            let text = "a detached view is not seen with other strides; clone() it first";
            return Err(Error::new("as_strided", ErrorKind::Value(text.into())));
        }
        let layout = Layout::new(shape, strides, offset.unwrap_or(layout.offset()))?;
        let numel = line.facts().shape.numel();
        if layout.extent().is_some_and(|(_, last)| last >= numel) {
            let text = format!(
                "shape {shape} with strides {strides:?} at {} lies outside of {numel} elements",
                layout.offset()
            );
            return Err(Error::new("as_strided", ErrorKind::Shape(text)));
        }
        let seen = Tensor::of_part(line, layout, None, mg_graph::line(), None);
        Ok(if crate::is_grad_enabled() || !seen.requires_grad() { seen } else { seen.detach() })
    }

    /// The part of this tensor's memory that a layout among the elements of all of it reaches.
    #[track_caller]
    pub(crate) fn part(&self, layout: Layout) -> Tensor {
        let (line, ..) = self.line();
        Tensor::of_part(line, layout, None, mg_graph::line(), None)
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
        }
        Tensor::of_state(State::Whole(self.other_line(None)), false)
    }

    /// Another line on this tensor's memory: of a leaf, or without history.
    fn other_line(&self, leaf: Option<&Weak<Cell>>) -> Arc<Line> {
        let (line, layout, region) = self.line();
        let shared = line.storage();
        // A storage that only the line was left of is another one now.
        let region = region.filter(|_| shared.region.is_some());
        let all = layout.is_contiguous() && layout.offset() == 0 && *layout.shape() == line.facts().shape;
        let region = match region {
            Some(region) => Some(region),
            None if all => shared.region,
            None => Some(layout),
        };
        let node = own(untracked(&self.current()));
        if let Some(leaf) = leaf {
            make_leaf(&node, leaf);
        }
        let version = {
            let mut storage = locked(&shared.storage.state);
            storage.given.add(&node);
            storage.version
        };
        let leaf = leaf.cloned().unwrap_or_default();
        Line::new(Held::owned(node), leaf, Some(Shared { storage: shared.storage, region, version }))
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
        // The tensor's own, and the one above.
        if shared.is_none() && self.layout().is_none() && Arc::strong_count(&line) == 2 {
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
        let (_, layout, region) = self.line();
        let layout = region.unwrap_or(layout);
        Ok(Some(Sharing {
            id: line.memory_id().0,
            whole: Tensor::from_held(Held::new(untracked(&whole))),
            layout,
        }))
    }

    /// Another tensor on this one's memory, without history, through a layout among its elements laid out densely: as
    /// [`Sharing::layout`] has it.
    #[track_caller]
    pub fn seen_at(&self, layout: Layout) -> Tensor {
        self.part(layout).detach()
    }

    /// The value as it is now, apart from the tensor: without history, and what is written to either is not seen by the other.
    #[track_caller]
    pub fn snapshot(&self) -> Tensor {
        Tensor::from_node(apart(&self.node()))
    }

    /// Makes the tensor a leaf, or a constant. Views that were made of it stay what they were.
    pub(crate) fn set_leaf(&self, on: bool) {
        jit::note_leaf();
        self.0.leaf.store(on, std::sync::atomic::Ordering::Relaxed);
        let weak = Arc::downgrade(&self.0);
        let mut garbage = Garbage::new();
        if let State::Alone(Some(held)) = &mut *self.state() {
            // A node of its own, so that graphs which have the value do not take it for the leaf's.
            let node = own(untracked(&held.node));
            if on {
                make_leaf(&node, &weak);
            }
            garbage.push(std::mem::replace(held, Held { node, counted: false }));
        } else {
            let line = self.other_line(on.then_some(&weak));
            *self.state() = State::Whole(line);
        }
        self.count();
    }

    /// The tensor; one of its own, where it is a view of memory that nobody else sees.
    pub(crate) fn alone(self) -> Tensor {
        let mut garbage = Garbage::new();
        let mut state = self.state();
        if let State::Part(part) = &mut *state
            && Arc::strong_count(&part.line) == 1
            && !part.line.is_shared()
        {
            part.node(&mut garbage);
            if let Some(known) = part.known.take() {
                let before = std::mem::replace(&mut *state, State::Alone(Some(known.held)));
                drop(state);
                drop(before);
                return self;
            }
        }
        drop(state);
        self
    }

    /// Whether it was made as a view of another tensor.
    fn is_view(&self) -> bool {
        matches!(&*self.state(), State::Part(part) if !part.is_turned)
    }

    /// Cuts the tensor off from what computed it: a constant from now on, on the same memory.
    ///
    /// # Errors
    ///
    /// A view.
    pub fn detach_(&self) -> Result<()> {
        if self.is_view() {
            let text = "a view cannot be cut off in place; use detach()";
            return Err(Error::new("detach_", ErrorKind::Gradient(text.into())));
        }
        if self.requires_grad() {
            self.set_leaf(false);
        }
        Ok(())
    }

    /// Makes the tensor stand for the memory of another one, with its shape, dtype and device: `x.data = other` in PyTorch. It
    /// keeps its identity, its gradient, whether it is a leaf, and its history: a gradient that does not fit what was computed is an
    /// error of `backward`.
    ///
    /// # Errors
    ///
    /// What requires a gradient and memory whose dtype is not floating point.
    #[track_caller]
    pub fn set_data(&self, other: &Tensor) -> Result<()> {
        if self.is(other) {
            return Ok(());
        }
        let (dtype, leaf) = (other.facts().dtype, self.keeps_grad());
        if (leaf || self.requires_grad()) && !dtype.is_float() {
            let text = format!("what requires a gradient cannot become {dtype}");
            return Err(Error::new("set_data", ErrorKind::DType(text)));
        }
        let history = (!leaf && self.requires_grad()).then(|| self.current());
        let weak = Arc::downgrade(&self.0);
        let line = other.other_line(leaf.then_some(&weak));
        if let Some(history) = history {
            let mut state = line.lock();
            if let Some(whole) = &mut state.whole {
                *whole = Held::new(grafted(&whole.node, &history));
                let node = whole.node.clone();
                if let Some(shared) = &state.shared {
                    locked(&shared.storage.state).given.add(&node);
                }
            }
        }
        jit::note_other_memory();
        let old = std::mem::replace(&mut *self.state(), State::Whole(line));
        drop(old);
        Ok(())
    }

    /// Makes the tensor a view of what it was: `x.t_()`. Other views of it stay what they were, and see what is written to it.
    ///
    /// # Errors
    ///
    /// A leaf that requires a gradient, while gradients are recorded; those of making the view.
    #[track_caller]
    pub(crate) fn turn(&self, view: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<()> {
        if self.keeps_grad() {
            if mg_graph::is_tracking() {
                let text = "a leaf that requires a gradient is changed under no_grad() only";
                return Err(Error::new("view", ErrorKind::Gradient(text.into())));
            }
            // It stays a leaf, on the same memory.
            return self.set_data(&view(&self.detach())?);
        }
        // It has the history that it had, whether gradients are recorded now or not.
        let was = mg_graph::set_tracking(true);
        let seen = view(self);
        mg_graph::set_tracking(was);
        let seen = seen?;
        if seen.is(self) {
            return Ok(());
        }
        jit::note_other_memory();
        let mut state = std::mem::replace(&mut *seen.state(), State::Alone(None));
        if let State::Part(part) = &mut state {
            part.is_turned = !self.is_view();
        }
        let old = std::mem::replace(&mut *self.state(), state);
        drop(old);
        Ok(())
    }

    /// Makes the tensor (and what it is a view of) stand for another node of the same shape, dtype and device.
    pub(crate) fn write(&self, value: Node) -> Result<()> {
        let since = IN_PLACE.get().unwrap_or_else(mg_graph::next_sequence);
        if value.is_traced() && leaks(&value, &self.current()) {
            return Err(leaked());
        }
        let mut garbage = Garbage::new();
        let line = mg_graph::line();
        let mut state = self.state();
        match &mut *state {
            State::Alone(Some(held)) if !is_borrowed(&held.node) => {
                let old = held.current(&mut garbage);
                jit::note_cell_change(self, &old);
                let new = own(with_history(value, &old, self.keeps_grad(), since));
                if self.keeps_grad() {
                    make_leaf(&new, &Arc::downgrade(&self.0));
                }
                if old.handles() > 1 {
                    old.overwrite(line, since);
                }
                new.set_before(old);
                let counted = held.counted;
                garbage.push(std::mem::replace(held, Held { node: new, counted: false }));
                drop(state);
                if counted {
                    self.count();
                }
            }
            State::Alone(_) => {
                drop(state);
                let (line_of, ..) = self.line();
                line_of.write(None, Writing { value, line, since })?;
            }
            State::Whole(whole) => {
                let whole = whole.clone();
                drop(state);
                whole.write(None, Writing { value, line, since })?;
            }
            State::Part(part) => {
                // What it has seen so far is not wanted any more, and would keep the memory from being written at once.
                garbage.extend(part.known.take().map(|known| known.held));
                garbage.clear();
                let part = Part { known: None, line: part.line.clone(), ..**part };
                drop(state);
                part.line.write(Some(&part), Writing { value, line, since })?;
            }
        }
        let node = self.current();
        settle(&node);
        // What was computed at once fails at once.
        match node.value() {
            Some(Err(error)) => {
                error.report();
                Err(error.clone())
            }
            Some(Ok(_)) | None => Ok(()),
        }
    }

    /// Whether what is written to it goes to memory that is somebody else's.
    pub(crate) fn is_on_memory_of_others(&self) -> bool {
        match self.line_of_view() {
            Some(line) => may_be_borrowed(&line.node()),
            None => may_be_borrowed(&self.current()),
        }
    }

    /// The node of all of the memory that the tensor is a part of, whose elements lie there in order from the answer's position on. It may
    /// be overwritten once the tensor is written to. Of one that lies otherwise, or whose memory has several histories, its own.
    pub(crate) fn all_of_memory(&self) -> (Node, usize) {
        let part = match &*self.state() {
            State::Part(part) if part.layout.is_contiguous() => {
                Some((part.line.clone(), part.layout.offset()))
            }
            State::Alone(_) | State::Whole(_) | State::Part(_) => None,
        };
        match part.filter(|(line, _)| !line.is_shared()) {
            Some((line, from)) => {
                let whole = line.node();
                if mg_graph::is_recording() {
                    jit::note_line_read(&line, &whole);
                }
                (whole, from)
            }
            None => (self.node(), 0),
        }
    }

    /// Writes what was made of [`Tensor::all_of_memory`], and has its shape.
    pub(crate) fn write_all(&self, value: Node) -> Result<()> {
        let line = match &*self.state() {
            State::Part(part) if part.layout.is_contiguous() => Some(part.line.clone()),
            State::Alone(_) | State::Whole(_) | State::Part(_) => None,
        };
        let Some(line) = line.filter(|line| !line.is_shared() && line.facts().shape == *value.shape()) else {
            return self.write(value);
        };
        // What the view has seen so far is not wanted any more.
        let known = match &mut *self.state() {
            State::Part(part) => part.known.take(),
            State::Alone(_) | State::Whole(_) => None,
        };
        drop(known);
        let since = IN_PLACE.get().unwrap_or_else(mg_graph::next_sequence);
        line.write(None, Writing { value, line: mg_graph::line(), since })?;
        settle(&line.node());
        Ok(())
    }

    /// Says that somebody holds what the tensor stands for.
    pub(crate) fn count(&self) {
        let node = match &mut *self.state() {
            State::Alone(Some(held)) if !held.counted => {
                held.counted = true;
                held.node.clone()
            }
            State::Alone(_) | State::Part(_) => return,
            State::Whole(line) => {
                let line = line.clone();
                return line.count();
            }
        };
        node.hold();
    }

    /// Whether what is written to it, or to a part of it, goes into its memory at once: that is there, on the host, and nobody
    /// else has it or its history.
    pub fn is_written_at_once(&self) -> bool {
        let alone = |held: &Held| match held.node.value() {
            Some(Ok(value)) => {
                let alone = held.node.handles() == 1 && value.buffer.ref_count() == 1;
                alone
                    && !held.node.is_tracked()
                    && value.buffer.device().is_cpu()
                    && !value.buffer.is_borrowed()
            }
            Some(Err(_)) | None => false,
        };
        let line = match &*self.state() {
            State::Alone(held) => return held.as_ref().is_some_and(alone),
            State::Whole(line) => line.clone(),
            State::Part(part) => part.line.clone(),
        };
        let state = line.lock();
        state.shared.is_none() && state.whole.as_ref().is_some_and(alone)
    }

    /// What the tensor's memory is known by.
    pub(crate) fn memory_id(&self) -> MemoryId {
        let line = match &*self.state() {
            State::Alone(_) => return MemoryId(Arc::as_ptr(&self.0).addr()),
            State::Whole(line) => line.clone(),
            State::Part(part) => part.line.clone(),
        };
        line.memory_id()
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

/// Whether the value lies in memory that is somebody else's.
pub(crate) fn is_borrowed(node: &Node) -> bool {
    matches!(node.value(), Some(Ok(value)) if value.buffer.is_borrowed())
}

/// Whether it does, or may once it is computed.
pub(crate) fn may_be_borrowed(node: &Node) -> bool {
    is_borrowed(node) || node.is_pending() && node.reads_borrowed()
}

/// Computes what must not wait: everything, where each operation is computed at once, and what reads memory that is somebody
/// else's, before that one can write it again. The failure stays with the node, for its readers.
pub(crate) fn settle(node: &Node) {
    let borrowed = node.reads_borrowed();
    if !node.is_pending() || !(borrowed || mg_graph::is_eager()) {
        return;
    }
    let on_device = borrowed && node.device().is_cuda();
    if on_device && let Ok(gpu) = Gpu::of(node.device()) {
        // Its owner works on streams of its own: before this work, or after.
        gpu.quiesce();
    }
    let _ = mg_graph::realize_quietly(&[node]);
    if on_device {
        let _ = node.device().synchronize();
    }
}

impl Line {
    pub(crate) fn memory_id(&self) -> MemoryId {
        let state = locked(&self.state);
        MemoryId(
            state.shared.as_ref().map_or(std::ptr::from_ref(self).addr(), |s| Arc::as_ptr(&s.storage).addr()),
        )
    }

    /// Whether other lines see its memory.
    fn is_shared(&self) -> bool {
        let mut garbage = Garbage::new();
        let mut state = self.lock();
        state.look(&mut garbage);
        state.shared.is_some()
    }
}
