//! What a step that is being recorded reads and changes of what was there before it.

use crate::gradient::is_leaf;
use crate::tensor::memory::locked;
use crate::tensor::{Cell, Kept, Line, Place, Tensor};
use mg_device::{DType, Device, Layout, Shape};
use mg_graph::{Node, Op};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};

/// Where something stands that a step reads or changes.
#[derive(Clone)]
pub(super) enum Spot {
    /// An argument, by its number.
    Argument(usize),
    /// Something that the step knows from elsewhere.
    Place(Place),
}

impl Spot {
    pub(super) fn is(&self, other: &Spot) -> bool {
        match (self, other) {
            (Spot::Argument(a), Spot::Argument(b)) => a == b,
            (Spot::Place(a), Spot::Place(b)) => a.is(b),
            (Spot::Argument(_) | Spot::Place(_), _) => false,
        }
    }

    pub(super) fn find(&self, arguments: &[&Tensor]) -> Option<Kept> {
        match self {
            Spot::Argument(i) => arguments.get(*i).map(|&t| Kept::Tensor(t.clone())),
            Spot::Place(place) => place.find(),
        }
    }
}

/// How a value lies in memory, and whatever else of it recordings depend on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Lie {
    shape: Shape,
    dtype: DType,
    device: Device,
    strides: SmallVec<[isize; 4]>,
    /// At a multiple of 16 bytes: what a CUDA kernel loads at once.
    aligned: bool,
    borrowed: bool,
    /// Whether gradients flow to it.
    tracked: bool,
}

impl Lie {
    /// Of a node whose value is known.
    pub(super) fn of(node: &Node) -> Option<Lie> {
        let Some(Ok(value)) = node.value() else { return None };
        let (buffer, layout) = (&value.buffer, &value.layout);
        let start = buffer.address() + (layout.offset() * buffer.dtype().size()) as u64;
        Some(Lie {
            shape: *layout.shape(),
            dtype: buffer.dtype(),
            device: buffer.device(),
            strides: layout.strides().into(),
            aligned: buffer.device().is_cpu() || start.is_multiple_of(16),
            borrowed: buffer.is_borrowed(),
            tracked: node.is_tracked(),
        })
    }
}

/// What a tensor tells of itself without its numbers being looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Told {
    shape: Shape,
    dtype: DType,
    device: Device,
    /// Whether gradients flow to it, end there, and are kept there though they do not.
    tracked: bool,
    leaf: bool,
    retains: bool,
}

impl Told {
    pub(super) fn of(tensor: &Tensor) -> Told {
        let (facts, node) = (tensor.facts(), tensor.current());
        Told {
            shape: facts.shape,
            dtype: facts.dtype,
            device: facts.device,
            tracked: node.is_tracked(),
            leaf: tensor.keeps_grad(),
            retains: tensor.0.retains.load(Ordering::Relaxed),
        }
    }
}

/// A leaf whose gradient the step has to do with.
pub(super) struct GradOf {
    pub(super) leaf: Tensor,
    pub(super) spot: Spot,
    /// The gradient that was there, if the step has looked.
    pub(super) before: Option<Option<Tensor>>,
}

/// What is noted while a step runs.
#[derive(Default)]
pub(super) struct Record {
    arguments: Vec<Tensor>,
    pub(super) slots: Vec<Spot>,
    /// How what is in the slots lies when it is read first.
    pub(super) lies: Vec<Option<Lie>>,
    /// The number of the slot that a node is read from, by its sequence.
    pub(super) outside: HashMap<u64, usize>,
    /// Nodes that stand for what was written before the step, made when they were asked for.
    taken_in: HashSet<u64>,
    /// The tensors that stand for all of a line.
    homes: Vec<(usize, Weak<Cell>)>,
    pub(super) changed: Vec<(Spot, Kept)>,
    pub(super) grads: Vec<GradOf>,
    /// Tensors that were asked for what they are, by their addresses, and what they told.
    pub(super) asked: HashMap<usize, (Spot, Told)>,
    /// Tensors that were asked for how they lie in memory, and how that was.
    pub(super) lain: Vec<(Spot, Layout)>,
    /// How many gradients had been let go while steps were recorded.
    pub(super) cleared: u64,
    /// Why the step cannot be replayed.
    pub(super) refused: Option<&'static str>,
}

/// Why a step cannot be replayed that shared what it changes.
pub(super) const ANOTHER_THREAD: &str = "another thread has changed the same meanwhile";

thread_local! {
    static RECORD: RefCell<Option<Record>> = const { RefCell::new(None) };
}

/// Runs `f` on what is noted, if a step is being recorded.
fn noting<R>(f: impl FnOnce(&mut Record) -> R) -> Option<R> {
    if !mg_graph::is_recording() {
        return None;
    }
    RECORD.with_borrow_mut(|record| record.as_mut().map(f))
}

/// Begins to note; the arguments' values are known.
pub(super) fn begin(arguments: &[&Tensor]) {
    let arguments_held = arguments.iter().map(|&t| t.clone()).collect();
    let mut record = Record { arguments: arguments_held, cleared: cleared(), ..Record::default() };
    for (i, t) in arguments.iter().enumerate() {
        record.slots.push(Spot::Argument(i));
        record.lies.push(Lie::of(&t.current()));
        record.outside.entry(t.current().sequence()).or_insert(i);
    }
    RECORD.set(Some(record));
}

/// Ends noting.
pub(super) fn end() -> Record {
    RECORD.take().unwrap_or_default()
}

impl Record {
    /// Where a tensor stands that was there before the step.
    fn spot(&self, tensor: &Tensor) -> Spot {
        if let Some(i) = self.arguments.iter().position(|t| t.is(tensor)) {
            return Spot::Argument(i);
        }
        let as_grad = self.grads.iter().find(|g| matches!(&g.before, Some(Some(t)) if t.is(tensor)));
        match as_grad {
            Some(GradOf { spot: Spot::Argument(_), .. }) | None => Spot::Place(Place::of(tensor)),
            Some(grad) => Spot::Place(Place::Grad(Arc::downgrade(&grad.leaf.0))),
        }
    }

    fn spot_of_line(&self, line: &Arc<Line>) -> Spot {
        let home = self.homes.iter().find(|(at, _)| *at == Arc::as_ptr(line).addr());
        match home.and_then(|(_, cell)| cell.upgrade()) {
            Some(cell) => self.spot(&Tensor(cell)),
            None => Spot::Place(Place::Line(Arc::downgrade(line))),
        }
    }

    /// What the step has changed, and another thread after it, is no part of the step.
    fn refuse_if_changed(&mut self, spot: &Spot, node: &Node) {
        if node.is_written_beside(mg_graph::started()) && self.changed.iter().any(|(other, _)| other.is(spot))
        {
            self.refused = Some(ANOTHER_THREAD);
        }
    }

    fn change(&mut self, spot: Spot, kept: Kept, was_there: bool) {
        if was_there && !self.changed.iter().any(|(other, _)| other.is(&spot)) {
            self.changed.push((spot, kept));
        }
    }

    fn add_home(&mut self, line: &Arc<Line>, tensor: &Tensor) {
        let at = Arc::as_ptr(line).addr();
        if !self.homes.iter().any(|(other, _)| *other == at) {
            self.homes.push((at, Arc::downgrade(&tensor.0)));
        }
    }
}

/// Whether a node was there before the step that is being recorded.
pub(crate) fn was_there(node: &Node) -> bool {
    let sequence = node.sequence();
    sequence < mg_graph::started()
        || node.is_written_beside(mg_graph::started())
        || noting(|r| r.taken_in.contains(&sequence)) == Some(true)
}

/// Notes a node that stands for what was written before the step. (What is written within it to memory that is seen in several
/// ways is not replayed at all.)
pub(crate) fn note_taken_in(node: Option<&Node>) {
    if let Some(node) = node {
        noting(|r| r.taken_in.insert(node.sequence()));
    }
}

fn note_node(node: &Node, spot: impl FnOnce(&Record) -> Spot) {
    if !was_there(node) || noting(|r| r.outside.contains_key(&node.sequence())) != Some(false) {
        return;
    }
    if node.is_pending() {
        // What waited before the step is no part of it. Its failure, if it fails, stays with it.
        let _ = mg_graph::unrecorded(|| mg_graph::realize_quietly(&[node]));
    }
    noting(|r| {
        let spot = spot(r);
        r.refuse_if_changed(&spot, node);
        r.slots.push(spot);
        r.lies.push(Lie::of(node));
        r.outside.insert(node.sequence(), r.slots.len() - 1);
    });
}

/// Notes that the step has asked a tensor for its shape, its dtype, or whether it takes part in gradients.
pub(crate) fn note_asked(tensor: &Tensor) {
    let at = tensor.id();
    let is_known = |r: &mut Record| r.asked.contains_key(&at) || r.arguments.iter().any(|t| t.is(tensor));
    if noting(is_known) != Some(false) || !tensor.was_known(was_there) {
        return;
    }
    let told = Told::of(tensor);
    noting(|r| {
        let spot = r.spot(tensor);
        r.asked.insert(at, (spot, told));
    });
}

/// Notes that the step has asked how a tensor lies in memory.
pub(crate) fn note_lie(tensor: &Tensor, lies: Layout) {
    // A view that nobody has asked for yet has no node: of memory that was there it may have been there, too.
    let is_of_known = || tensor.line_of_view().is_some_and(|line| was_there(&line.node()));
    let is_argument = noting(|r| r.arguments.iter().any(|t| t.is(tensor))) == Some(true);
    if !is_argument && !tensor.was_known(was_there) && !is_of_known() {
        return;
    }
    noting(|r| {
        let spot = r.spot(tensor);
        if !r.lain.iter().any(|(other, _)| other.is(&spot)) {
            r.lain.push((spot, lies));
        }
    });
}

/// Notes that the step has asked for a tensor's node.
pub(crate) fn note_read(tensor: &Tensor, node: &Node) {
    if let (Some(line), None) = (tensor.line_of_view(), tensor.layout()) {
        noting(|r| r.add_home(&line, tensor));
    }
    note_node(node, |r| r.spot(tensor));
}

/// Notes that the step has asked for the whole that a view is a part of.
pub(crate) fn note_line_read(line: &Arc<Line>, node: &Node) {
    note_node(node, |r| r.spot_of_line(line));
}

/// Notes that a tensor, which was alone with its memory, has become the whole of a line.
pub(crate) fn note_line(line: &Arc<Line>, tensor: &Tensor) {
    noting(|r| r.add_home(line, tensor));
}

/// Notes that a tensor which is alone with its memory is written to, and stood for `old` so far.
pub(crate) fn note_cell_change(tensor: &Tensor, old: &Node) {
    let was_there = was_there(old);
    noting(|r| {
        let spot = r.spot(tensor);
        r.refuse_if_changed(&spot, old);
        r.change(spot, Kept::Tensor(tensor.clone()), was_there);
    });
}

/// As [`note_cell_change`], of a line.
pub(crate) fn note_line_change(line: &Arc<Line>, old: &Node) {
    let was_there = was_there(old);
    noting(|r| {
        let spot = r.spot_of_line(line);
        r.refuse_if_changed(&spot, old);
        r.change(spot, Kept::Line(line.clone()), was_there);
    });
}

/// Notes that a tensor is given other memory.
pub(crate) fn note_other_memory() {
    noting(|r| r.refused = Some("it gives a tensor other memory"));
}

/// Notes that a tensor is made a leaf, or a constant.
pub(crate) fn note_leaf() {
    noting(|r| r.refused = Some("it makes a tensor a leaf, or a constant"));
}

/// Notes that a walk goes on from a node to what that was computed from. What was computed before the step may have been computed from something else
/// the next time, which no key tells: arguments have histories, and those of what the step knows from elsewhere change with what is written to it.
/// A view alone is one of the same part of the same memory, as long as it is the same tensor.
pub(crate) fn note_passed(node: &Node) {
    if !mg_graph::is_recording() || !was_there(node) || is_leaf(node) {
        return;
    }
    noting(|r| {
        let slot = r.outside.get(&node.sequence()).map(|&slot| &r.slots[slot]);
        if matches!(slot, Some(Spot::Argument(_))) || !matches!(node.op(), Op::View(_)) {
            r.refused =
                Some("it differentiates what was computed before it, an argument or something that it knows");
        }
    });
}

/// Notes that somebody who is to be told of gradients of a node is told, or keeps them.
pub(crate) fn note_watched(node: &Node) {
    if mg_graph::is_recording() && was_there(node) {
        noting(|r| r.refused = Some("a gradient of what was there before it has hooks, or is retained"));
    }
}

/// Notes that a leaf's hook is called.
pub(crate) fn note_hook() {
    noting(|r| r.refused = Some("it calls a leaf's hook, which may do anything besides"));
}

/// Notes that memory is written to that is seen in several ways.
pub(crate) fn note_shared_write() {
    noting(|r| r.refused = Some("it writes to memory that a detached tensor shares"));
}

/// Says that the step that is being recorded on this thread, if one is, does something that no replay would do, and why.
pub fn refuse_replay(why: &'static str) {
    noting(|r| r.refused = Some(why));
}

/// Notes that the generator of random numbers is set.
pub(crate) fn note_seed() {
    noting(|r| r.refused = Some("it seeds the generator of random numbers"));
}

/// Notes random numbers that a replay would not draw anew.
pub(crate) fn note_draw(why: &'static str) {
    noting(|r| r.refused = Some(why));
}

/// Gradients that were let go while others recorded a step, which leaves nothing that would say by whom.
static CLEARED: Mutex<Cleared> = Mutex::new(Cleared { all: VecDeque::new(), number: 0 });

struct Cleared {
    /// The leaves of the last of them, and the recordings that let them go, as [`mg_graph::started`] tells them.
    all: VecDeque<(usize, u64)>,
    /// How many there were.
    number: u64,
}

/// Gradients let go that are remembered.
const CLEARED_KEPT: usize = 1 << 14;

/// How many gradients were let go so far; see [`cleared_by_others`].
pub(super) fn cleared() -> u64 {
    locked(&CLEARED).number
}

/// The leaves whose gradients others than the recording that began with `start` have let go since there were so many; nothing where there were too
/// many to tell.
pub(super) fn cleared_by_others(since: u64, start: u64) -> Option<HashSet<usize>> {
    let cleared = locked(&CLEARED);
    let new = (cleared.number - since) as usize;
    let known = cleared.all.len().checked_sub(new)?;
    Some(cleared.all.range(known..).filter(|(_, by)| *by != start).map(|&(leaf, _)| leaf).collect())
}

/// Notes that a leaf's gradient is let go.
pub(crate) fn note_cleared(leaf: &Tensor) {
    if !mg_graph::is_recorded_elsewhere() {
        return;
    }
    let mut cleared = locked(&CLEARED);
    if cleared.all.len() >= CLEARED_KEPT {
        cleared.all.pop_front();
    }
    cleared.all.push_back((leaf.id(), mg_graph::started()));
    cleared.number += 1;
}

/// Notes that a leaf's gradient is looked at (`Some`), or replaced unseen.
pub(crate) fn note_grad(leaf: &Tensor, before: Option<Option<Tensor>>) {
    let was_there = was_there(&leaf.current());
    let known = noting(|r| {
        let line = leaf.line_of_view();
        let changed = r.changed.iter().any(|(_, kept)| match kept {
            Kept::Tensor(t) => t.is(leaf),
            // A tensor that others have looked at is changed as the line that it is since.
            Kept::Line(changed) => line.as_ref().is_some_and(|line| Arc::ptr_eq(line, changed)),
        });
        !(changed || was_there) || r.grads.iter().any(|g| g.leaf.is(leaf))
    });
    if known != Some(false) {
        return;
    }
    let grad = before.clone().flatten();
    noting(|r| {
        let spot = r.spot(leaf);
        r.grads.push(GradOf { leaf: leaf.clone(), spot, before });
    });
    if let Some(grad) = grad {
        note_read(&grad, &grad.current());
    }
}
