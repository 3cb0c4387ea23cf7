//! `jit`: a step that repeats, recorded and replayed.

mod history;
mod record;
mod replaying;
mod run;

pub(crate) use history::differentiate;
pub use record::refuse_replay;
pub(crate) use record::{
    note_asked, note_cell_change, note_cleared, note_draw, note_grad, note_hook, note_leaf, note_lie,
    note_line, note_line_change, note_line_read, note_other_memory, note_passed, note_read, note_seed,
    note_shared_write, note_taken_in, note_watched, was_there,
};

use crate::generator;
use crate::gradient::as_computed;
use crate::tensor::{Kept, Lies, MemoryId, Tensor};
use history::Walks;
use mg_device::{DType, Device, Error, ErrorKind, Result};
use mg_graph::{Exclusive, Node, WordHasher};
use record::Lie;
use replaying::{Misfit, Replaying};
use run::Run;
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

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
            let exclusives = replaying.run.trace.exclusives();
            let alone = Exclusive::take(&exclusives);
            match replaying.fits(arguments) {
                Ok(found) => {
                    let number = replaying.run.number;
                    if let Some(answer) = replaying.call(found, arguments, self.catches).transpose() {
                        (self.replayed, self.run) = (true, number);
                        return answer;
                    }
                    // Another thread has written to what the step changes; or it has failed, nothing is as if it had begun, and the
                    // function may know what to do about it. It has itself what is exclusive.
                    drop(alone);
                    return self.plainly(arguments);
                }
                Err(Misfit::Other) => at += 1,
                Err(Misfit::Gone) => drop(known.replays.remove(at)),
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
                watched: as_computed(t.current()).watch().is_some(),
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
    let (generator, drawn) = (generator::state(), generator::drawn());
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
    let drawn = generator::drawn().wrapping_sub(drawn);
    let run = Run::new(trace, record, arguments, &outputs, generator, drawn).map(|run| Run { number, ..run });
    Ok((outputs, run))
}
