//! `jit`: a step that repeats, recorded and replayed.

mod history;
mod record;

pub(crate) use history::differentiate;
pub use record::refuse_replay;
pub(crate) use record::{
    note_asked, note_cell_change, note_cleared, note_draw, note_grad, note_hook, note_leaf, note_lie,
    note_line, note_line_change, note_line_read, note_other_memory, note_passed, note_read, note_seed,
    note_shared_write, note_taken_in, note_watched, was_there,
};

use crate::creation;
use crate::gradient::put_or_accumulate;
use crate::tensor::memory::{Changing, has_history};
use crate::tensor::{Cell, Kept, Lies, MemoryId, Place, Tensor};
use history::{History, Walks};
use mg_device::{DType, Device, Error, ErrorKind, Layout, Result};
use mg_graph::{Computed, Node, Outside, Recorded, Replaced, Replay, Template, Trace, WordHasher};
use record::{Lie, Spot, Told};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::panic::Location;
use std::sync::{Arc, Weak};

/// What a recording takes an argument for.
#[derive(PartialEq, Eq, Hash)]
struct ArgumentKey {
    lie: Lie,
    leaf: bool,
    tracked: bool,
    view: bool,
    /// How it lies for those who ask, where that is not what its value and its view say.
    lies: Lies,
    /// Whether somebody is told of its gradients, or they are kept.
    watched: bool,
    /// The first argument that is the same tensor.
    is: usize,
    /// The first argument on the same memory.
    shares: usize,
}

/// What a recording takes for granted that is seen from outside; the rest is looked up at each call.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    arguments: Vec<ArgumentKey>,
    modes: Modes,
}

/// What operations do otherwise, as it is set on this thread or for all.
#[derive(PartialEq, Eq, Hash)]
struct Modes {
    records_gradients: bool,
    autocast: crate::AutocastState,
    /// What tensors are of that are made without naming a dtype or a device.
    float: DType,
    device: Device,
    precision: &'static str,
}

impl Modes {
    fn now() -> Modes {
        Modes {
            records_gradients: crate::is_grad_enabled(),
            autocast: crate::autocast_state(),
            float: DType::default_float(),
            device: crate::default_device(),
            precision: mg_graph::get_float32_matmul_precision(),
        }
    }
}

/// A function of tensors to tensors that is recorded when it is called and then replayed: no graph is built, no plan
/// looked for.
///
/// A replay answers and changes what the function would have, to the last bit. What a recording takes for granted of its
/// arguments is looked at in each call: shapes, dtypes, devices, how they lie in memory, which are the same tensor or share
/// memory with one another or with what the function captures, whether gradients are recorded, the default dtype and device.
/// Tensors that the function captures (parameters, optimisers' state, gradients) are what they are when it is called, whoever
/// has written to them, and random numbers go on. Where something does not fit, the function runs as usual, and is recorded for that case too; what it
/// launched is replayed as soon as two runs in a row agree.
///
/// What the function does besides launching work (logging, counting in host variables) happens while it runs only: a number of
/// the host is in all replays what it was then. One that changes is an argument, a tensor, or a
/// [`LiveScalar`](mg_graph::LiveScalar), as optimisers' learning rates are. A function whose runs do not agree runs as usual each
/// time: [`Jit::reason`] says why.
///
/// Answers can be differentiated where the function's could: a replay makes the nodes of their history, around the values that it
/// has computed, and gradients flow on to the arguments and to what the function captures.
///
/// ```
/// use mg_autograd::{Tensor, jit};
///
/// let weight = Tensor::from_slice(&[1.0f32, 2.0]);
/// let mut step = jit(|x: &[Tensor]| {
///     weight.assign(&weight + &x[0])?;
///     Ok(vec![weight.sum()])
/// });
/// for i in 1..=5 {
///     let sum = step.call(&[&Tensor::from_slice(&[1.0f32, 1.0])])?;
///     assert_eq!(sum[0].item::<f32>()?, 3.0 + 2.0 * i as f32);
/// }
/// assert!(step.is_replaying());
/// assert_eq!(weight.to_vec::<f32>()?, [6.0, 7.0]);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct Jit<F> {
    step: F,
    known: HashMap<Key, Known, BuildHasherDefault<WordHasher>>,
    replayed: bool,
    reason: Option<Error>,
    /// The run that the last call was, or was a replay of; and how many there were.
    run: u64,
    runs: u64,
    may_read: bool,
    catches: bool,
}

/// What is known for one key.
#[derive(Default)]
struct Known {
    /// The last run that was recorded.
    run: Option<Box<Run>>,
    replays: Vec<Replaying>,
    /// Runs in a row that did not agree with the one before.
    disagreed: u32,
    /// Calls that are not recorded, and how many there were the last time.
    plain: u32,
    pause: u32,
}

/// Runs that may disagree before recording pauses: the first may make state that later ones update, and which of it may be
/// overwritten settles over a few more (momentum: five).
const ATTEMPTS: u32 = 8;
/// Calls without recording, at first and at most.
const PAUSE: (u32, u32) = (16, 4096);
/// Keys that are remembered; beyond it they are learnt anew.
const KEYS: usize = 256;
/// Replays that one key keeps.
const REPLAYS: usize = 8;

/// What a value is after the step.
#[derive(Clone, PartialEq, Debug)]
enum After {
    Computed(Computed),
    /// What the slot held before.
    Slot(usize),
}

/// A gradient after the step.
#[derive(Clone, PartialEq, Debug)]
enum GradAfter {
    None,
    /// The tensor that was there before; what is in it is told by what changed.
    Same,
    New(After),
}

/// Whose part an answer is.
#[derive(Clone)]
enum Home {
    /// A tensor that the step made.
    Made(usize),
    Spot(Spot),
}

/// What the step answers with.
#[derive(Clone)]
enum Output {
    Argument(usize),
    /// The tensor that stands somewhere outside, which the step hands back as it is.
    Same(Spot),
    Made(usize),
    Part(Home, Layout),
    /// A part of something that the step made, whose own node gradients flow through: by its number among the template's roots.
    PartOfGraph(usize, Layout, usize),
}

/// Memory that a step makes for its answers.
#[derive(Clone, PartialEq, Debug)]
enum Base {
    /// A value, and whether it has a history which was let go.
    Value(After, bool),
    /// One of the nodes of the graph that the step leaves, by its number among the template's roots.
    Node(usize),
}

/// A run that was recorded.
struct Run {
    number: u64,
    trace: Trace,
    arguments: Vec<Weak<Cell>>,
    slots: Vec<Spot>,
    outside: HashMap<u64, usize>,
    /// How what is in the slots lies in memory.
    lies: Vec<Option<Lie>>,
    changed: Vec<(Spot, After)>,
    /// Which of what is changed is in each slot.
    changes: Vec<Option<usize>>,
    /// Which slot, and then which of what is changed without being in one, has the same memory first: where there are gradients among them,
    /// which may be any tensor the next time.
    meets: Option<Vec<usize>>,
    /// What is known from elsewhere and changed without being in a slot.
    unread: Vec<usize>,
    /// Leaves, whether they had a gradient (where the step has looked), and what it is then.
    grads: Vec<(Spot, Option<bool>, GradAfter)>,
    /// Memory that the step made for its answers.
    made: Vec<Base>,
    /// The history of what can be differentiated of it.
    template: Option<Template>,
    outputs: Vec<Output>,
    /// How those lie for those who ask that it makes, and that do not lie as they are seen.
    told: Vec<(usize, Lies)>,
    generator: (u64, u64),
    drawn: u64,
    /// What tensors told of themselves whose numbers it does not read.
    asked: Vec<(Spot, Told)>,
    /// How tensors lay in memory that it has asked for that.
    lain: Vec<(Spot, Layout)>,
    /// What hooks leaves had.
    hooks: u64,
}

struct Replaying {
    replay: Replay,
    run: Run,
    /// Arguments that were the same tensor in both runs: the step may know it from elsewhere too.
    tied: Vec<Option<Weak<Cell>>>,
    /// How its answers' histories are walked.
    walks: Walks,
}

/// Makes a replayed function; see [`Jit`].
pub fn jit<F: FnMut(&[Tensor]) -> Result<Vec<Tensor>>>(step: F) -> Jit<F> {
    Jit {
        step,
        known: HashMap::default(),
        replayed: false,
        reason: None,
        run: 0,
        runs: 0,
        may_read: false,
        catches: false,
    }
}

impl<F: FnMut(&[Tensor]) -> Result<Vec<Tensor>>> Jit<F> {
    /// With `true` the function may read values: a run in which it does is no error, and is not replayed, but called each time.
    pub fn may_read(mut self, may: bool) -> Self {
        self.may_read = may;
        self
    }

    /// Says whether the function catches errors itself: where a replay fails for what it computes with (an index, a singular matrix), the function
    /// is called then.
    pub fn set_catches(&mut self, catches: bool) {
        self.catches = catches;
    }

    /// Calls the function, or replays it. While another step is being recorded it is called, as a part of that one.
    ///
    /// # Errors
    ///
    /// The function's; a value that the host reads within it (or prints). A call that fails leaves state as the function would
    /// have, a replay as it was.
    #[track_caller]
    pub fn call(&mut self, arguments: &[&Tensor]) -> Result<Vec<Tensor>> {
        self.replayed = false;
        self.runs += 1;
        self.run = self.runs;
        let is_part = mg_graph::is_recording() || arguments.iter().any(|t| t.current_is_traced());
        // Where NaN is looked for, each run is looked at.
        if is_part || crate::transform::is_tracing() || crate::anomaly::is_on() {
            return self.plainly(arguments);
        }
        Tensor::realize_all(arguments.iter().copied())?;
        let Some(key) = Key::of(arguments) else { return self.plainly(arguments) };
        if self.known.len() >= KEYS && !self.known.contains_key(&key) {
            self.known.clear();
        }
        let known = self.known.entry(key).or_default();
        let mut at = 0;
        while let Some(replaying) = known.replays.get_mut(at) {
            match replaying.fits(arguments) {
                Fit::Yes(found) => {
                    let number = replaying.run.number;
                    return match replaying.call(found, arguments, self.catches).transpose() {
                        Some(answer) => {
                            (self.replayed, self.run) = (true, number);
                            answer
                        }
                        // Another thread has written to what the step changes; or it has failed, nothing is as if it had begun, and the
                        // function may know what to do about it.
                        None => self.plainly(arguments),
                    };
                }
                Fit::No => at += 1,
                Fit::Gone => drop(known.replays.remove(at)),
            }
        }
        if known.plain > 0 {
            known.plain -= 1;
            return self.plainly(arguments);
        }
        let (outputs, run) = record(&mut self.step, arguments, self.run, self.may_read)?;
        self.reason = run.and_then(|run| known.add(run)).err();
        if self.reason.is_some() {
            known.disagree();
        }
        Ok(outputs)
    }

    /// Whether the last call was replayed.
    pub fn is_replaying(&self) -> bool {
        self.replayed
    }

    /// The number of the run that the last call was, or that it was a replay of.
    pub fn run(&self) -> u64 {
        self.run
    }

    /// The numbers of the runs that are replayed, or may be: see [`Jit::run`].
    pub fn runs(&self) -> HashSet<u64> {
        let of = |known: &Known| {
            let replayed = known.replays.iter().map(|replaying| replaying.run.number);
            replayed.chain(known.run.iter().map(|run| run.number)).collect::<Vec<_>>()
        };
        self.known.values().flat_map(of).collect()
    }

    /// Why the last run that was recorded cannot be replayed, or not yet.
    pub fn reason(&self) -> Option<&Error> {
        self.reason.as_ref()
    }

    fn plainly(&mut self, arguments: &[&Tensor]) -> Result<Vec<Tensor>> {
        let handles: Vec<Tensor> = arguments.iter().map(|&t| t.clone()).collect();
        (self.step)(&handles)
    }
}

impl Key {
    /// `None` where an argument has no value.
    fn of(arguments: &[&Tensor]) -> Option<Key> {
        let ids: SmallVec<[MemoryId; 4]> = arguments.iter().map(|t| t.memory_id()).collect();
        let first = |i: usize, is: &dyn Fn(usize) -> bool| (0..i).find(|&j| is(j)).unwrap_or(i);
        let keys = arguments.iter().enumerate().map(|(i, t)| {
            Some(ArgumentKey {
                lie: Lie::of(&t.current())?,
                leaf: t.keeps_grad(),
                tracked: t.requires_grad(),
                view: t.layout().is_some(),
                lies: t.lies(),
                watched: t.current().watch().is_some(),
                is: first(i, &|j| arguments[j].is(t)),
                shares: first(i, &|j| ids[j] == ids[i]),
            })
        });
        Some(Key { arguments: keys.collect::<Option<_>>()?, modes: Modes::now() })
    }
}

impl Known {
    /// Takes a run that was recorded; it is replayed from now on if it agrees with the one before.
    #[track_caller]
    fn add(&mut self, run: Run) -> Result<()> {
        // One of other arguments that were the same in both of its runs: of any, then.
        for known in self.replays.iter_mut().filter(|known| known.tied.iter().any(Option::is_some)) {
            if let Ok((replay, tied)) = Replaying::of_two(&known.run, &run)
                && tied.iter().zip(&known.tied).any(|(now, before)| now.is_none() && before.is_some())
            {
                *known = Replaying { replay, run, tied, walks: Walks::default() };
                self.run = None;
                (self.disagreed, self.pause) = (0, 0);
                return Ok(());
            }
        }
        let Some(before) = self.run.take() else {
            self.run = Some(Box::new(run));
            return Ok(());
        };
        match Replaying::of_two(&before, &run) {
            Ok((replay, tied)) => {
                if self.replays.len() >= REPLAYS {
                    self.replays.remove(0);
                }
                self.replays.push(Replaying { replay, run, tied, walks: Walks::default() });
                self.disagreed = 0;
                self.pause = 0;
                Ok(())
            }
            Err(error) => {
                self.run = Some(Box::new(run));
                Err(error)
            }
        }
    }

    /// Counts a run that led to nothing; after some in a row, none is recorded for a while.
    fn disagree(&mut self) {
        self.disagreed += 1;
        if self.disagreed >= ATTEMPTS {
            self.disagreed = 0;
            self.run = None;
            self.pause = (2 * self.pause).clamp(PAUSE.0, PAUSE.1);
            self.plain = self.pause;
        }
    }
}

#[track_caller]
fn refused(why: &str) -> Error {
    Error::new("jit", ErrorKind::Value(format!("the step cannot be replayed: {why}")))
}

/// Runs a step and notes what it does: its answers, and the run, or why that cannot be replayed.
#[track_caller]
fn record<F>(
    step: &mut F,
    arguments: &[&Tensor],
    number: u64,
    may_read: bool,
) -> Result<(Vec<Tensor>, Result<Run>)>
where
    F: FnMut(&[Tensor]) -> Result<Vec<Tensor>>,
{
    let handles: Vec<Tensor> = arguments.iter().map(|&t| t.clone()).collect();
    record::begin(arguments);
    let (generator, drawn) = (creation::generator(), creation::drawn());
    let modes = Modes::now();
    let recorded = mg_graph::record(may_read, || {
        let outputs = step(&handles)?;
        if modes != Modes::now() {
            refuse_replay(
                "it leaves a mode otherwise than it found it (whether gradients are recorded, autocast, the default dtype or device)",
            );
        }
        crate::autocast::forget_recording(mg_graph::started());
        let record = record::end();
        let mut waiting: Vec<Node> = record.changed.iter().map(|(_, kept)| kept.node()).collect();
        waiting.extend(record.grads.iter().filter_map(|g| Some(g.leaf.grad_now()?.current())));
        waiting.extend(outputs.iter().map(|t| Kept::all_of(t).node()));
        mg_graph::realize(&waiting.iter().collect::<Vec<_>>())?;
        Ok::<_, Error>((outputs, record))
    });
    if !matches!(recorded, Ok((Ok(_), _))) {
        drop(record::end());
    }
    let (result, trace) = recorded?;
    let read = trace.host_read();
    if let Some(error) = &read
        && !trace.may_read()
    {
        return Err(error.clone());
    }
    let (outputs, record) = result?;
    if let Some(error) = read {
        return Ok((outputs, Err(error)));
    }
    // By this thread: what others draw meanwhile is theirs.
    let drawn = creation::drawn().wrapping_sub(drawn);
    let run = Run::new(trace, record, arguments, &outputs, generator, drawn).map(|run| Run { number, ..run });
    Ok((outputs, run))
}

impl Run {
    #[track_caller]
    fn new(
        trace: Trace,
        record: record::Record,
        arguments: &[&Tensor],
        outputs: &[Tensor],
        generator: (u64, u64),
        drawn: u64,
    ) -> Result<Run> {
        if let Some(why) = record.refused {
            return Err(refused(why));
        }
        let after = |node: &Node| match (trace.computed(node), record.outside.get(&node.sequence())) {
            (Some(computed), _) => Ok(After::Computed(computed)),
            (None, Some(&slot)) => Ok(After::Slot(slot)),
            (None, None) => Err(refused("it leaves a value that it has not computed")),
        };
        // What is written to one of them is seen by the other, and where they overlap is another matter in each call.
        let ids: SmallVec<[MemoryId; 4]> = arguments.iter().map(|t| t.memory_id()).collect();
        let beside = |i: usize| (0..i).any(|j| ids[j] == ids[i] && !arguments[j].is(arguments[i]));
        let shared: SmallVec<[MemoryId; 4]> = (0..ids.len()).filter(|&i| beside(i)).map(|i| ids[i]).collect();
        if !shared.is_empty() && record.changed.iter().any(|(_, kept)| shared.contains(&kept.memory_id())) {
            return Err(refused("it writes to memory that several of its arguments are parts of"));
        }
        let mut changed = vec![];
        for (spot, kept) in &record.changed {
            let node = kept.node();
            if node.is_written_beside(trace.start()) {
                return Err(refused(record::ANOTHER_THREAD));
            }
            if has_history(&node) {
                return Err(refused("a tensor that it has changed has a history that can be differentiated"));
            }
            if !kept.can_be_lent() {
                return Err(refused("it changes a tensor whose memory others see"));
            }
            changed.push((spot.clone(), after(&node)?));
        }
        let mut grads = vec![];
        let mut grad_ids: Vec<MemoryId> = vec![];
        for grad in &record.grads {
            let is_others = |now: &Tensor| now.current().is_written_beside(trace.start());
            let before = grad.before.as_ref().and_then(Option::as_ref);
            if grad.leaf.grad_now().is_some_and(|now| before.is_none_or(|b| !b.is(&now)) && is_others(&now)) {
                return Err(refused(record::ANOTHER_THREAD));
            }
            if grad.leaf.grad_now().is_none() && record.cleared != record::cleared() {
                return Err(refused(record::ANOTHER_THREAD));
            }
            let had = grad.before.as_ref().map(Option::is_some);
            let then = match (grad.leaf.grad_now(), grad.before.as_ref().and_then(Option::as_ref)) {
                (None, _) => GradAfter::None,
                (Some(now), Some(before)) if now.is(before) => GradAfter::Same,
                (Some(now), _) if now.line_of_view().is_none() && !has_history(&now.current()) => {
                    let id = now.memory_id();
                    let mut of_others =
                        record.slots.iter().chain(record.changed.iter().map(|(spot, _)| spot));
                    // What stood there before is found where this one stands.
                    let is_here = |spot: &Spot| matches!(spot, Spot::Place(Place::Grad(of)) if of.ptr_eq(&Arc::downgrade(&grad.leaf.0)));
                    let is_its = |spot: &Spot| {
                        !is_here(spot) && spot.find(arguments).is_some_and(|kept| kept.memory_id() == id)
                    };
                    if grad_ids.contains(&id) || ids.contains(&id) || of_others.any(is_its) {
                        return Err(refused("a gradient that it leaves is another tensor, too"));
                    }
                    grad_ids.push(id);
                    GradAfter::New(after(&now.current())?)
                }
                (Some(_), _) => return Err(refused("it leaves a gradient that is a part of something else")),
            };
            grads.push((grad.spot.clone(), had, then));
        }
        let mut made: Vec<Node> = vec![];
        let mut lines: Vec<(MemoryId, usize)> = vec![];
        let mut answers = vec![];
        // Answers that are views of those, by their numbers, and the nodes that they stand for.
        let mut parts: Vec<(usize, Node)> = vec![];
        for t in outputs {
            if let Some(i) = arguments.iter().position(|a| a.is(t)) {
                answers.push(Output::Argument(i));
                continue;
            }
            let id = t.memory_id();
            let all = record.slots.iter().chain(record.changed.iter().map(|(spot, _)| spot));
            let of = |spot: &&Spot| spot.find(arguments).is_some_and(|kept| kept.memory_id() == id);
            let found: Vec<&Spot> = all.filter(of).collect();
            let is_it = |spot: &&&Spot| matches!(spot.find(arguments), Some(Kept::Tensor(k)) if k.is(t));
            match (found.iter().find(is_it).or(found.first()).copied(), t.layout()) {
                (Some(spot), None) if is_it(&&spot) => {
                    answers.push(Output::Same(spot.clone()));
                    continue;
                }
                // A part of something from outside: of all of that, not of a view.
                (Some(spot), Some(layout))
                    if spot.find(arguments).is_some_and(|k| k.can_be_lent()) && !t.requires_grad() =>
                {
                    answers.push(Output::Part(Home::Spot(spot.clone()), layout));
                    continue;
                }
                (Some(_), _) => return Err(refused("an answer shares memory with what was there before")),
                (None, _) => {}
            }
            if t.keeps_grad() {
                return Err(refused("an answer is a leaf that it has made"));
            }
            let is_grad = |leaf: &Tensor| leaf.grad_now().is_some_and(|grad| grad.memory_id() == id);
            if record.grads.iter().any(|grad| is_grad(&grad.leaf)) {
                return Err(refused("an answer is a gradient that it has made"));
            }
            let at = match lines.iter().find(|(known, _)| *known == id) {
                Some(&(_, at)) => at,
                None => {
                    let kept = Kept::all_of(t);
                    if !kept.can_be_lent() {
                        return Err(refused("its answers share memory, and history with nobody"));
                    }
                    made.push(kept.node());
                    lines.push((id, made.len() - 1));
                    made.len() - 1
                }
            };
            answers.push(match t.layout() {
                None => Output::Made(at),
                Some(layout) => {
                    parts.push((answers.len(), t.current()));
                    Output::Part(Home::Made(at), layout)
                }
            });
        }
        let (made, template) = match made.iter().any(has_history) {
            false => {
                let base = |node: &Node| Ok(Base::Value(after(node)?, node.is_tracked()));
                (made.iter().map(base).collect::<Result<_>>()?, None)
            }
            true => {
                let bases = made.len();
                parts.retain(|(_, node)| has_history(node));
                for (at, node) in parts {
                    if let Some(Output::Part(Home::Made(home), layout)) = answers.get(at) {
                        answers[at] = Output::PartOfGraph(*home, *layout, made.len());
                        made.push(node);
                    }
                }
                let template = Template::of(&made, &trace, &record.outside, generator)?;
                // What it changes is not what a gradient is made of.
                let is_changed = |spot: &Spot| record.changed.iter().any(|(changed, _)| changed.is(spot));
                let reads_changed =
                    record.slots.iter().enumerate().any(|(i, spot)| is_changed(spot) && template.reads(i));
                if reads_changed || record.changed.iter().any(|(_, kept)| template.has(&kept.node())) {
                    return Err(refused("its answer has the history of what it changes"));
                }
                ((0..bases).map(Base::Node).collect(), Some(template))
            }
        };
        let told = outputs.iter().map(Tensor::lies).enumerate().filter(|(at, lies)| {
            lies.is_some() && !matches!(answers.get(*at), Some(Output::Argument(_) | Output::Same(_)))
        });
        let told = told.collect();
        // What is read is looked at in each call anyway; what is not there any more was the step's own.
        let is_left = |spot: &Spot| {
            let found = spot.find(arguments).is_some();
            found && !record.slots.iter().any(|other| other.is(spot))
        };
        let asked = record.asked.into_values().filter(|(spot, _)| is_left(spot)).collect();
        let is_in = |slot: &Spot| changed.iter().position(|(changed, _)| changed.is(slot));
        let changes: Vec<Option<usize>> = record.slots.iter().map(is_in).collect();
        let is_read: HashSet<usize> = changes.iter().flatten().copied().collect();
        let is_unread = |at: &usize| !is_read.contains(at) && matches!(changed[*at].0, Spot::Place(_));
        let unread: Vec<usize> = (0..changed.len()).filter(is_unread).collect();
        let spots = || record.slots.iter().chain(unread.iter().map(|&at| &changed[at].0));
        let is_gradient = |spot: &Spot| matches!(spot, Spot::Place(Place::Grad(_)));
        let found = spots().map(|spot| spot.find(arguments)).collect::<Option<Vec<_>>>();
        let meets = found.filter(|_| spots().any(is_gradient)).map(|found| meeting(found.iter()));
        Ok(Run {
            number: 0,
            trace,
            arguments: arguments.iter().map(|t| Arc::downgrade(&t.0)).collect(),
            slots: record.slots,
            outside: record.outside,
            lies: record.lies,
            changed,
            changes,
            meets,
            unread,
            grads,
            made,
            template,
            outputs: answers,
            told,
            generator,
            drawn,
            asked,
            lain: record.lain.into_iter().filter(|(spot, _)| spot.find(arguments).is_some()).collect(),
            hooks: crate::hooks::changes(),
        })
    }

    /// Whether two runs had to do with the same things.
    fn agrees(&self, other: &Run) -> bool {
        fn all<T>(a: &[T], b: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        let home = |a: &Home, b: &Home| match (a, b) {
            (Home::Made(a), Home::Made(b)) => a == b,
            (Home::Spot(a), Home::Spot(b)) => a.is(b),
            (Home::Made(_) | Home::Spot(_), _) => false,
        };
        let output = |a: &Output, b: &Output| match (a, b) {
            (Output::Argument(a), Output::Argument(b)) | (Output::Made(a), Output::Made(b)) => a == b,
            (Output::Same(a), Output::Same(b)) => a.is(b),
            (Output::Part(a, la), Output::Part(b, lb)) => home(a, b) && la == lb,
            (Output::PartOfGraph(a, la, na), Output::PartOfGraph(b, lb, nb)) => (a, la, na) == (b, lb, nb),
            (
                Output::Argument(_)
                | Output::Made(_)
                | Output::Same(_)
                | Output::Part(..)
                | Output::PartOfGraph(..),
                _,
            ) => false,
        };
        all(&self.slots, &other.slots, Spot::is)
            && self.lies == other.lies
            && all(&self.changed, &other.changed, |a, b| a.0.is(&b.0) && a.1 == b.1)
            && all(&self.grads, &other.grads, |a, b| a.0.is(&b.0) && a.1 == b.1 && a.2 == b.2)
            && all(&self.outputs, &other.outputs, output)
            && self.told == other.told
            && self.made == other.made
            && match (&self.template, &other.template) {
                (Some(a), Some(b)) => a.is_like(b),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            }
            && self.drawn == other.drawn
    }
}

/// For each of some places the first that has the same memory.
fn meeting<'a>(places: impl Iterator<Item = &'a Kept>) -> Vec<usize> {
    let mut first: HashMap<MemoryId, usize> = HashMap::new();
    places.enumerate().map(|(i, kept)| *first.entry(kept.memory_id()).or_insert(i)).collect()
}

/// What a replay has found in its slots: looked up before anything is lent, since views are looked up by way of it.
struct Found {
    nodes: Vec<Node>,
}

enum Fit {
    Yes(Found),
    No,
    /// Something that the step knows from elsewhere is not there any more.
    Gone,
}

type Tied = Vec<Option<Weak<Cell>>>;

impl Replaying {
    #[track_caller]
    fn of_two(before: &Run, now: &Run) -> Result<(Replay, Tied)> {
        if !before.agrees(now) {
            return Err(refused("it read or changed other tensors than the time before"));
        }
        fn recorded(run: &Run) -> Recorded<'_> {
            Recorded { trace: &run.trace, outside: &run.outside, generator: run.generator }
        }
        let replay = Replay::new(recorded(before), recorded(now))?;
        let tied = before.arguments.iter().zip(&now.arguments);
        let tied = tied.map(|(a, b)| (a.ptr_eq(b) && b.strong_count() > 0).then(|| b.clone())).collect();
        Ok((replay, tied))
    }

    /// Whether everything that the recording took for granted is so.
    fn fits(&self, arguments: &[&Tensor]) -> Fit {
        for (tied, argument) in self.tied.iter().zip(arguments) {
            if tied.as_ref().is_some_and(|cell| !std::ptr::eq(cell.as_ptr(), Arc::as_ptr(&argument.0))) {
                return Fit::No;
            }
        }
        let run = &self.run;
        if run.hooks != crate::hooks::changes() {
            return Fit::Gone;
        }
        if !run.trace.holds() {
            return Fit::No;
        }
        for (spot, told) in &run.asked {
            match spot.find(arguments) {
                Some(Kept::Tensor(tensor)) if Told::of(&tensor) == *told => {}
                Some(_) => return Fit::No,
                None => return Fit::Gone,
            }
        }
        for (spot, lain) in &run.lain {
            match spot.find(arguments) {
                Some(Kept::Tensor(tensor)) if tensor.lie_unnoted().is_ok_and(|lie| lie == *lain) => {}
                Some(_) => return Fit::No,
                None => return Fit::Gone,
            }
        }
        for (spot, had, _) in &run.grads {
            let leaf = match spot.find(arguments) {
                Some(Kept::Tensor(leaf)) => leaf,
                Some(Kept::Line(_)) | None => return Fit::Gone,
            };
            if had.is_some_and(|had| leaf.grad_now().is_some() != had) {
                return Fit::No;
            }
        }
        let mut kept = Vec::with_capacity(run.slots.len());
        let mut nodes = Vec::with_capacity(run.slots.len());
        for (spot, lie) in run.slots.iter().zip(&run.lies) {
            let Some(found) = spot.find(arguments) else {
                return Fit::Gone;
            };
            let node = found.node();
            if let Spot::Place(_) = spot {
                if node.is_pending() && mg_graph::realize_quietly(&[&node]).is_err() {
                    return Fit::No;
                }
                let now = Lie::of(&node);
                if now.is_none() || now != *lie {
                    return Fit::No;
                }
            }
            kept.push(found);
            nodes.push(node);
        }
        // What is overwritten had no history when the step was recorded; what is written to one that has goes on with it.
        let changes = |spot: &Spot| {
            spot.find(arguments).is_some_and(|kept| kept.can_be_lent() && !has_history(&kept.node()))
        };
        if !run.changed.iter().all(|(spot, _)| changes(spot)) {
            return Fit::No;
        }
        // An argument that the step also knows from elsewhere is read, or changed, in two ways; to take it twice would be to wait for ever.
        let free = self.tied.iter().zip(arguments).filter(|(tied, _)| tied.is_none());
        let free: SmallVec<[MemoryId; 4]> = free.map(|(_, argument)| argument.memory_id()).collect();
        let is_place = |spot: &Spot| matches!(spot, Spot::Place(_));
        let reads = |(spot, kept): (&Spot, &Kept)| is_place(spot) && free.contains(&kept.memory_id());
        // What it writes to without having read it, too.
        let writes = |at: &usize| {
            let kept = run.changed[*at].0.find(arguments);
            kept.is_some_and(|kept| free.contains(&kept.memory_id()))
        };
        if let Some(meets) = &run.meets {
            let unread = run.unread.iter().map(|&at| run.changed[at].0.find(arguments));
            let Some(unread) = unread.collect::<Option<SmallVec<[Kept; 4]>>>() else { return Fit::Gone };
            if meeting(kept.iter().chain(&unread)) != *meets {
                return Fit::No;
            }
        }
        if !free.is_empty() && (run.slots.iter().zip(&kept).any(reads) || run.unread.iter().any(writes)) {
            return Fit::No;
        }
        Fit::Yes(Found { nodes })
    }

    #[track_caller]
    fn call(&mut self, found: Found, arguments: &[&Tensor], catches: bool) -> Result<Option<Vec<Tensor>>> {
        let line = Location::caller();
        let run = &self.run;
        let lost = || Error::new("jit", ErrorKind::Internal("something that a step needs is gone".into()));
        // What the step changes is not to be seen meanwhile, and its memory is taken over.
        let mut lent = Lent(vec![]);
        let taking = Changing::begin();
        for (spot, _) in &run.changed {
            let kept = spot.find(arguments).ok_or_else(lost)?;
            // Two gradients may be one tensor since: to take it twice would be to wait for ever.
            if kept.is_lent() && lent.0.iter().any(|(other, _)| other.is(&kept)) {
                return Ok(None);
            }
            let node = kept.lend().ok_or_else(lost)?;
            lent.0.push((kept, Some(node)));
        }
        drop(taking);
        let mut outside = Vec::with_capacity(run.slots.len());
        for (&at, node) in run.changes.iter().zip(&found.nodes) {
            if at.and_then(|at| lent.0[at].1.as_ref()).is_some_and(|lent| !lent.is(node)) {
                return Ok(None);
            }
            let Some(Ok(value)) = node.value() else { return Ok(None) };
            outside.push(Outside { value: value.clone(), lent: false });
        }
        // Of what the step does not change: that is nobody's but the replay's.
        let history: Vec<Option<Node>> = match &run.template {
            Some(template) => {
                let nodes = found.nodes.into_iter().enumerate();
                nodes.map(|(i, node)| template.reads(i).then_some(node)).collect()
            }
            None => {
                drop(found);
                vec![]
            }
        };
        for (outside, &at) in outside.iter_mut().zip(&run.changes) {
            // Nobody else has it, so that its memory may be overwritten.
            let alone = |at: usize| lent.0[at].1.as_ref().is_some_and(|node| node.handles() == 1);
            outside.lent = at.is_some_and(alone);
        }
        let replaced = run.changed.iter().zip(&lent.0).filter_map(|((_, after), (_, old))| {
            let After::Computed(new) = after else { return None };
            let old = old.as_ref()?.value()?.as_ref().ok()?;
            Some(Replaced { old, new: *new })
        });
        let replaced: SmallVec<[Replaced; 8]> = replaced.collect();
        let generator = creation::generator();
        let made = match self.replay.run(&outside, &replaced, generator) {
            Ok(made) => made,
            Err(error) if catches && is_about_data(error.kind()) => return Ok(None),
            Err(error) => return Err(error),
        };
        drop(replaced);
        creation::advance(run.drawn);
        let value = |after: &After| {
            let value = match after {
                After::Computed(computed) => made.get(*computed).cloned(),
                After::Slot(slot) => outside.get(*slot).map(|o| o.value.clone()),
            };
            value.map(Node::from_value).ok_or_else(lost)
        };
        let changed = run.changed.iter().map(|(_, after)| value(after)).collect::<Result<Vec<_>>>()?;
        let grads = run.grads.iter().map(|(_, _, after)| match after {
            GradAfter::New(after) => value(after).map(Some),
            GradAfter::None | GradAfter::Same => Ok(None),
        });
        let grads = grads.collect::<Result<Vec<_>>>()?;
        let graph = match &run.template {
            Some(template) => {
                let grown = template.grow(|i| history.get(i).cloned().flatten(), &made, generator)?;
                if !template.has_live_scalars() {
                    History::attach(&grown, &history, generator, self.walks.clone());
                }
                grown.roots
            }
            None => vec![],
        };
        let bases = run.made.iter().map(|base| match base {
            Base::Value(after, had_history) => {
                let node = value(after)?;
                if *had_history {
                    // As the step's own, whose history was let go.
                    node.set_tracked(true);
                    node.release();
                }
                Ok(Tensor::from_node(node))
            }
            Base::Node(root) => graph.get(*root).cloned().map(Tensor::from_node).ok_or_else(lost),
        });
        let bases = bases.collect::<Result<Vec<_>>>()?;
        drop(outside);
        for ((kept, slot), node) in lent.0.iter_mut().zip(changed) {
            if let Some(old) = slot.take() {
                kept.put_back(node, Some((&old, line)));
            }
        }
        for ((spot, had, after), node) in run.grads.iter().zip(grads) {
            let Some(Kept::Tensor(leaf)) = spot.find(arguments) else { continue };
            match after {
                GradAfter::None => leaf.zero_grad(),
                GradAfter::Same => {}
                GradAfter::New(_) => match node {
                    Some(node) if *had == Some(false) => put_or_accumulate(&leaf, node)?,
                    node => leaf.put_grad(node.map(Tensor::unread)),
                },
            }
        }
        let outputs = run.outputs.iter().map(|output| match output {
            Output::Argument(i) => arguments.get(*i).map(|&t| t.clone()).ok_or_else(lost),
            Output::Same(spot) => match spot.find(arguments) {
                Some(Kept::Tensor(tensor)) => Ok(tensor),
                Some(Kept::Line(_)) | None => Err(lost()),
            },
            Output::Made(at) => bases.get(*at).cloned().ok_or_else(lost),
            Output::Part(Home::Made(at), layout) => Ok(bases.get(*at).ok_or_else(lost)?.part(*layout)),
            Output::PartOfGraph(at, layout, root) => {
                let node = graph.get(*root).cloned().ok_or_else(lost)?;
                Ok(bases.get(*at).ok_or_else(lost)?.part_that_is(*layout, node))
            }
            Output::Part(Home::Spot(spot), layout) => match spot.find(arguments) {
                Some(kept) => Ok(kept.part(*layout)),
                None => Err(lost()),
            },
        });
        let outputs = outputs.collect::<Result<Vec<Tensor>>>()?;
        for (at, lies) in &run.told {
            outputs.get(*at).ok_or_else(lost)?.set_lies(lies);
        }
        Ok(Some(outputs))
    }
}

/// Whether an error is about what a step computes with, which it may know what to do about; not about the machine, or whoever stops it.
fn is_about_data(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Index { .. }
            | ErrorKind::Indices(_)
            | ErrorKind::Singular(_)
            | ErrorKind::Value(_)
            | ErrorKind::Empty(_)
    )
}

/// What was lent, and goes back as it was unless it was put back otherwise.
struct Lent(Vec<(Kept, Option<Node>)>);

impl Drop for Lent {
    fn drop(&mut self) {
        for (kept, node) in &mut self.0 {
            if let Some(node) = node.take() {
                kept.put_back(node, None);
            }
        }
    }
}
