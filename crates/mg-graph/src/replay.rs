//! Replay: a step that repeats is recorded once and run again without building its graph.
//!
//! The step is run twice, and what was launched is compared. Each value that a plan of the second run reads is one of:
//! something from outside (an argument, a parameter, state), which the caller knows by a number and looks up at each replay;
//! something that the run itself computed before; data that the step made, of the same elements both times. A scalar that
//! differed between the runs cannot be replayed. Random numbers go on from wherever the generator is.

use crate::engine;
use crate::exclusive::Exclusive;
use crate::execute::{Again, Manner, MemoryPlaces, Room, Whole};
use crate::live::LiveScalar;
use crate::node::{Inner, Node, Value};
use crate::op::{Op, SourceKind};
use crate::packed::{Packed, Sight, Users};
use crate::plan::{Bindings, Origin, Place, Plan};
use crate::refusal::{Pair, Refusal};
use mg_device::cuda::{Gpu, Graph, Launches, Origin as GpuOrigin};
use mg_device::{Buffer, DType, Device, Error, ErrorKind, Result};
use mg_kernels::{Law, cell_bits};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// One realisation of a run. Nodes are remembered, not held: holding them would change what later plans may overwrite.
pub(crate) struct Realised {
    pub(crate) plan: Arc<Plan>,
    /// Known values and arguments, by position in the plan's graph.
    pub(crate) read: Vec<(usize, Seen)>,
    /// The nodes of the plan's results, in its order.
    pub(crate) results: Vec<Seen>,
    /// The nodes that an error could name, by position.
    pub(crate) origins: Vec<(usize, Origin)>,
}

/// A node that a recording has seen.
pub(crate) struct Seen {
    sequence: u64,
    dtype: DType,
    argument: Option<SourceKind>,
    /// A copy of data that the step itself made: what reads it may overwrite it.
    made: Option<Value>,
    line: &'static Location<'static>,
}

impl Seen {
    pub(crate) fn of(inner: &Inner, start: u64) -> Seen {
        let argument = match &inner.op {
            Op::Source(kind) if engine::is_argument(inner) => Some(kind.clone()),
            _ => None,
        };
        let made = match (&inner.op, inner.value.get()) {
            (Op::Source(SourceKind::Data), Some(Ok(value))) if inner.seq >= start => {
                let copy = value.buffer.to_device(value.buffer.device()).ok();
                copy.map(|buffer| Value { buffer, layout: value.layout })
            }
            _ => None,
        };
        Seen { sequence: inner.seq, dtype: inner.dtype, argument, made, line: inner.location }
    }
}

/// Whether two values are of the same elements, as far as can be told without knowing what nobody reads of them.
pub(crate) fn same_elements(a: &Value, b: &Value) -> bool {
    let bytes = |value: &Value| value.buffer.read(0, value.buffer.len()).ok();
    let fits = a.layout == b.layout
        && (a.buffer.dtype(), a.buffer.device(), a.buffer.len())
            == (b.buffer.dtype(), b.buffer.device(), b.buffer.len());
    let (true, Some(a), Some(b)) = (fits, bytes(a), bytes(b)) else { return false };
    // SAFETY: both are on the host, have that many bytes, all of them written, and are alive.
    let slice =
        |buffer: &Buffer| unsafe { std::slice::from_raw_parts(buffer.as_ptr(), buffer.bytes()).to_vec() };
    a.bytes() == 0 || slice(&a) == slice(&b)
}

/// What was launched while a step ran.
pub struct Trace {
    /// Nodes that are older were there before the step. No two recordings have the same.
    pub(crate) start: u64,
    steps: Vec<Realised>,
    /// That the host read a value within the step, and where.
    host_read: Option<Error>,
    /// The host may: the step is then not replayed.
    may_read: bool,
    /// With the number of steps before it.
    host_work: Vec<(usize, HostWork)>,
    undone: Vec<HostWork>,
    assumed: Vec<Assumption>,
    exclusives: SmallVec<[Arc<Exclusive>; 2]>,
    /// Results by the sequence of their nodes, once the run is over.
    computed: OnceLock<Positions>,
}

/// What the host does at each replay.
type HostWork = Arc<dyn Fn() + Send + Sync>;

/// Whether something is still so.
type Assumption = Box<dyn Fn() -> bool + Send + Sync>;

thread_local! {
    static TRACE: RefCell<Option<Trace>> = const { RefCell::new(None) };
}

/// How many threads record: every operation asks whether its own does, which needs no look into the thread where none does.
static RECORDINGS: AtomicUsize = AtomicUsize::new(0);

/// Runs `f` and answers with what was launched meanwhile on this thread. With `may_read` the host may read values meanwhile, of which
/// the answer tells.
///
/// # Errors
///
/// A recording within a recording.
#[track_caller]
pub fn record<R>(may_read: bool, f: impl FnOnce() -> R) -> Result<(R, Trace)> {
    if is_recording() {
        return Err(Error::new("jit", ErrorKind::Value("a recording within a recording".into())));
    }
    let start = crate::node::take_sequence();
    RECORDINGS.fetch_add(1, Ordering::Relaxed);
    TRACE.set(Some(Trace {
        start,
        steps: vec![],
        host_read: None,
        may_read,
        host_work: vec![],
        undone: vec![],
        assumed: vec![],
        exclusives: SmallVec::new(),
        computed: OnceLock::new(),
    }));
    struct Stop(u64);
    impl Drop for Stop {
        fn drop(&mut self) {
            TRACE.with_borrow_mut(|t| *t = None);
            RECORDINGS.fetch_sub(1, Ordering::Relaxed);
            engine::end_recorded(self.0);
        }
    }
    let _stop = Stop(start);
    let result = f();
    let lost = || Error::new("jit", ErrorKind::Internal("a recording that ended before it was over".into()));
    let trace = TRACE.with_borrow_mut(Option::take).ok_or_else(lost)?;
    Ok((result, trace))
}

/// Runs `f`, of which the recording that is under way on this thread, if any, is told nothing.
pub fn unrecorded<R>(f: impl FnOnce() -> R) -> R {
    struct Resume(Option<Trace>);
    impl Drop for Resume {
        fn drop(&mut self) {
            TRACE.set(self.0.take());
        }
    }
    let _resume = Resume(TRACE.take());
    f()
}

/// The number of the first node that the recording on this thread can have made.
pub fn started() -> u64 {
    TRACE.with_borrow(|trace| trace.as_ref().map_or(u64::MAX, |trace| trace.start))
}

/// By what this thread writes, where others record a step: the first node of its own recording, or 0.
#[inline]
pub(crate) fn writing_as() -> Option<u64> {
    let recordings = RECORDINGS.load(Ordering::Relaxed);
    if recordings == 0 {
        return None;
    }
    let own = TRACE.with_borrow(|trace| trace.as_ref().map(|trace| trace.start));
    (recordings > usize::from(own.is_some())).then_some(own.unwrap_or(0))
}

/// Whether another thread records a step.
pub fn is_recorded_elsewhere() -> bool {
    writing_as().is_some()
}

/// Whether this thread records a step.
#[inline]
pub fn is_recording() -> bool {
    RECORDINGS.load(Ordering::Relaxed) != 0 && TRACE.with_borrow(Option::is_some)
}

/// Says that the host reads a value: what follows may depend on it in ways that no recording sees.
#[track_caller]
pub fn note_host_read() {
    let line = Location::caller();
    note_read(|| error("the host reads a value inside the step".into()).with_aside(format!(", at {line}")));
}

/// Whether the host may read values within the step that is being recorded.
pub fn may_read() -> bool {
    TRACE.with_borrow(|trace| trace.as_ref().is_none_or(|trace| trace.may_read))
}

/// Says that the step that is being recorded, if one is, needs values on the host, whoever is asked for them: it may read, and is called
/// each time.
pub fn needs_values() {
    TRACE.with_borrow_mut(|trace| {
        if let Some(trace) = trace {
            trace.may_read = true;
        }
    });
}

/// As [`note_host_read`], of a value that is printed: formatting does not say for which line.
pub fn note_printing() {
    note_read(|| error("a tensor is printed inside the step, for which the host reads its value".into()));
}

fn note_read(error: impl FnOnce() -> Error) {
    TRACE.with_borrow_mut(|trace| {
        if let Some(trace) = trace {
            trace.host_read.get_or_insert_with(error);
        }
    });
}

/// Has `work` called at each replay of the step that is being recorded, if one is: for what the step does on the host, like
/// counting. Recorded runs do it themselves. What the step realises after this call sees what `work` did to live scalars,
/// what it realised before does not.
pub fn on_replay(work: impl Fn() + Send + Sync + 'static) {
    TRACE.with_borrow_mut(|trace| {
        if let Some(trace) = trace {
            let before = trace.steps.len();
            trace.host_work.push((before, Arc::new(work)));
        }
    });
}

/// Has work be done when a replay of what is being recorded fails, which then has not happened: the reverse of what
/// [`on_replay`] does.
pub fn on_failed_replay(work: impl Fn() + Send + Sync + 'static) {
    TRACE.with_borrow_mut(|trace| {
        if let Some(trace) = trace {
            trace.undone.push(Arc::new(work));
        }
    });
}

/// Has the step that is being recorded, if one is, be replayed only where `holds` answers with true: for what the host has built into
/// the step, as options that are constants in it. It is asked before each replay, and must not wait.
pub fn assume(holds: impl Fn() -> bool + Send + Sync + 'static) {
    TRACE.with_borrow_mut(|trace| {
        if let Some(trace) = trace {
            trace.assumed.push(Box::new(holds));
        }
    });
}

pub(crate) fn note_exclusive(exclusive: &Arc<Exclusive>) {
    TRACE.with_borrow_mut(|trace| {
        if let Some(trace) = trace
            && !trace.exclusives.iter().any(|known| Arc::ptr_eq(known, exclusive))
        {
            trace.exclusives.push(exclusive.clone());
        }
    });
}

pub(crate) fn note_step(step: Realised) {
    TRACE.with_borrow_mut(|trace| {
        if let Some(trace) = trace {
            trace.steps.push(step);
        }
    });
}

/// Where a value that a replay reads comes from.
#[derive(Clone)]
enum From {
    /// Something from outside, by the number that the caller gave it.
    Outside(usize),
    /// Result `1` of step `0` of this replay.
    Computed(usize, usize),
    Constant(Value),
    Scalar(SourceKind),
    Live(LiveScalar, DType),
    /// Random numbers: the position, counted from where the generator was when the run began.
    Random(Law, u64),
}

struct ReplayStep {
    plan: Arc<Plan>,
    read: Vec<(usize, From)>,
    /// For each position of the plan's graph, where among `read` it is; [`NOT_READ`] where it is not.
    index: Vec<u32>,
    origins: Vec<(usize, Origin)>,
    /// Operands whose memory the plan takes over while something may still be refused: copies of them are taken over, so that a
    /// replay that fails has changed nothing.
    spared: Vec<usize>,
    /// What no step reads after this one, and nobody wants in the end.
    done_with: Vec<Computed>,
    /// Where launches are collected.
    users: Option<Users>,
}

impl ReplayStep {
    /// What it reads of what steps before it have computed.
    fn computed(&self) -> impl Iterator<Item = Computed> {
        self.read.iter().filter_map(|(_, from)| match from {
            From::Computed(step, result) => Some(Computed::new(*step, *result)),
            From::Outside(_) | From::Constant(_) | From::Scalar(_) | From::Live(..) | From::Random(..) => {
                None
            }
        })
    }

    /// Which value from outside a node of the plan's graph has.
    fn outside(&self, node: usize) -> Option<usize> {
        match self.read.get(*self.index.get(node)? as usize)?.1 {
            From::Outside(at) => Some(at),
            From::Computed(..) | From::Constant(_) | From::Scalar(_) | From::Live(..) | From::Random(..) => {
                None
            }
        }
    }
}

/// One of two runs that are compared.
pub struct Recorded<'a> {
    /// What it launched.
    pub trace: &'a Trace,
    /// The numbers of nodes from outside, by their sequence.
    pub outside: &'a HashMap<u64, usize>,
    /// Where the generator of random numbers was before: seed and position.
    pub generator: (u64, u64),
}

/// A recorded step.
pub struct Replay {
    steps: Vec<ReplayStep>,
    /// With the number of steps before it.
    host_work: Vec<(usize, HostWork)>,
    undone: Vec<HostWork>,
    /// The CUDA device that all of it runs on.
    gpu: Option<Device>,
    /// Results of two runs in a row cannot lie in the same memory: each second run is like the one before the last.
    turns: [Turn; TURNS],
}

/// Runs after which memory lies as it did before, mostly.
const TURNS: usize = 2;

/// What is known of a run's launches.
#[derive(Default)]
struct Turn {
    graph: Option<Graph>,
    launches: Launches,
    places: Vec<u64>,
    /// By step, or none at all where the last run failed.
    packed: Vec<Packed>,
}

/// What the steps of a run computed.
pub struct Made(Vec<Vec<Option<Value>>>);

impl Made {
    /// One of them.
    pub fn get(&self, computed: Computed) -> Option<&Value> {
        self.0.get(computed.step)?.get(computed.result)?.as_ref()
    }
}

/// A value from outside, for one replay.
pub struct Outside {
    /// The value.
    pub value: Value,
    /// The caller has taken the tensor away that it belongs to, will put what the replay computes in its place, and holds one
    /// reference to the memory besides this one. If nobody else has any, the memory may be overwritten.
    pub lent: bool,
}

/// A run under way.
struct Replaying<'a> {
    outside: &'a [Outside],
    generator: (u64, u64),
    /// The bits of the live scalars, in the order in which steps read them.
    live: Vec<u64>,
    /// A plan has overwritten something: it cannot be as if nothing had happened.
    begun: bool,
    refusal: Refusal,
    replaced: &'a [Replaced<'a>],
    /// The same, by the address of what is there now.
    by_address: Vec<usize>,
    /// Memory for temporary values of any step.
    arenas: Vec<Buffer>,
    /// Memory for what the steps compute from one on that overwrites something from outside; one after the other they take their parts.
    rooms: Option<std::vec::IntoIter<Room>>,
    places: MemoryPlaces,
    packed: Vec<Packed>,
}

/// What the caller will put a computed value in the place of.
pub struct Replaced<'a> {
    /// What is there now.
    pub old: &'a Value,
    /// What will be.
    pub new: Computed,
}

/// A value that a replay computes: a result of one of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Computed {
    step: usize,
    result: usize,
}

impl Computed {
    pub(crate) fn new(step: usize, result: usize) -> Computed {
        Computed { step, result }
    }
}

#[track_caller]
fn error(text: String) -> Error {
    Error::new("jit", ErrorKind::Value(text))
}

impl Trace {
    /// The number of the first node that the step can have made.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Whether all is so that the step was recorded with, as far as [`assume`] was told.
    pub fn holds(&self) -> bool {
        self.assumed.iter().all(|holds| holds())
    }

    /// What a replay takes before it looks at anything, as the step did: see [`Exclusive::take`].
    pub fn exclusives(&self) -> SmallVec<[Arc<Exclusive>; 2]> {
        self.exclusives.clone()
    }

    /// What this run computed, for a node that it left behind; `None` where the node is older.
    pub fn computed(&self, node: &Node) -> Option<Computed> {
        let &(step, result) = self.by_sequence().get(&node.sequence())?;
        Some(Computed { step, result })
    }

    /// Whether the host may read values within the step.
    pub fn may_read(&self) -> bool {
        self.may_read
    }

    /// What the host read of a value within the step: why it cannot be replayed.
    #[track_caller]
    pub fn host_read(&self) -> Option<Error> {
        // Not in a closure, which would hide the caller's line.
        let read = self.host_read.clone()?;
        Some(read.with_location(Location::caller()))
    }

    /// Whether the host does something at each replay.
    pub(crate) fn has_host_work(&self) -> bool {
        !self.host_work.is_empty()
    }

    /// Results, by the sequence of their nodes.
    pub(crate) fn by_sequence(&self) -> &Positions {
        self.computed.get_or_init(|| {
            let all = self.steps.iter().enumerate();
            let of = |(s, step): (usize, &Realised)| {
                let each = step.results.iter().enumerate();
                each.map(|(r, seen)| (seen.sequence, (s, r))).collect::<Vec<_>>()
            };
            all.flat_map(of).collect()
        })
    }
}

/// Where a value comes from that both runs read at the same place.
fn origin_of(x: &Seen, y: &Seen, first: &Recorded, second: &Recorded, made: [&Positions; 2]) -> Result<From> {
    Ok(match (&x.argument, &y.argument) {
        (
            Some(SourceKind::Random { law: l1, seed: s1, counter: c1 }),
            Some(SourceKind::Random { law: l2, seed: s2, counter: c2 }),
        ) => {
            let at = |seed: u64, counter: u64, generator: (u64, u64)| {
                (seed == generator.0).then(|| counter.wrapping_sub(generator.1))
            };
            match (at(*s1, *c1, first.generator), at(*s2, *c2, second.generator)) {
                (Some(a), Some(b)) if a == b && l1 == l2 => From::Random(*l2, b),
                _ => {
                    let error = error("other random numbers the second time".into());
                    return Err(error.with_aside(format!(", at {}", y.line)));
                }
            }
        }
        (Some(SourceKind::Live { scalar: s1, .. }), Some(SourceKind::Live { scalar: s2, .. }))
            if s1 == s2 =>
        {
            From::Live(s2.clone(), y.dtype)
        }
        (Some(k1), Some(k2)) if k1 == k2 => From::Scalar(k2.clone()),
        (None, None) => {
            let outside = (first.outside.get(&x.sequence), second.outside.get(&y.sequence));
            let computed = (made[0].get(&x.sequence), made[1].get(&y.sequence));
            match (outside, computed, &x.made, &y.made) {
                ((Some(a), Some(&b)), ..) if *a == b => From::Outside(b),
                (_, (Some(a), Some(&b)), ..) if *a == b => From::Computed(b.0, b.1),
                (_, _, Some(a), Some(b)) if same_elements(a, b) => From::Constant(b.clone()),
                _ => {
                    let text = "a tensor was not the same both times: make it an argument";
                    return Err(error(text.into()).with_aside(format!(" (made at {})", y.line)));
                }
            }
        }
        _ => {
            let text = "a number was not the same both times: make it an argument or a tensor";
            let aside = format!(" (or a LiveScalar; written at {})", y.line);
            return Err(error(text.into()).with_aside(aside));
        }
    })
}

/// Results by the sequence of their nodes.
type Positions = HashMap<u64, (usize, usize)>;

impl Replay {
    /// Compares two runs of a step.
    ///
    /// # Errors
    ///
    /// Why the second cannot be replayed: launches that differ, a scalar or data that differed, a value from outside that
    /// nobody gave a number, a value that the host read within the step, a step that failed.
    #[track_caller]
    pub fn new(first: Recorded, second: Recorded) -> Result<Replay> {
        let (before, now) = (first.trace, second.trace);
        if let Some(read) = before.host_read.as_ref().or(now.host_read.as_ref()) {
            return Err(read.clone().with_location(Location::caller()));
        }
        if before.steps.len() != now.steps.len() {
            let text = format!("{} plans the first time, {} the second", before.steps.len(), now.steps.len());
            return Err(error(text));
        }
        let made = [before.by_sequence(), now.by_sequence()];
        let mut steps = vec![];
        for (a, b) in before.steps.iter().zip(&now.steps) {
            if a.plan.key != b.plan.key {
                let line = b.results.first().map_or(String::new(), |seen| format!(", at {}", seen.line));
                let text = "the step launched something else the second time";
                return Err(error(text.into()).with_aside(line));
            }
            let mut read = vec![];
            for ((position, x), (_, y)) in a.read.iter().zip(&b.read) {
                read.push((*position, origin_of(x, y, &first, &second, made)?));
            }
            let spared = vec![];
            let mut index = vec![NOT_READ; read.iter().map(|(position, _)| position + 1).max().unwrap_or(0)];
            for (at, (position, _)) in read.iter().enumerate() {
                index[*position] = at as u32;
            }
            let (plan, origins) = (b.plan.clone(), b.origins.clone());
            steps.push(ReplayStep { plan, read, index, origins, spared, done_with: vec![], users: None });
        }
        spare(&mut steps);
        let mut launches = steps.iter().flat_map(|s: &ReplayStep| &s.plan.launches);
        let device = launches.next().map(|l| l.device).filter(|d| d.is_cuda());
        let alone = launches.all(|l| Some(l.device) == device) && device.is_some();
        let gpu = device.filter(|_| alone && steps.iter().all(|s| !s.plan.transfers()));
        if gpu.is_some() {
            let of = |s: &ReplayStep| Users::of(&s.plan, &s.index, s.read.len());
            steps.iter_mut().for_each(|s| s.users = Some(of(s)));
        }
        Ok(Replay {
            steps,
            host_work: now.host_work.clone(),
            undone: now.undone.clone(),
            gpu,
            turns: Default::default(),
        })
    }

    /// Runs the step with these values from outside, in the order of their numbers, laid out as those that were recorded.
    /// Random numbers come from `generator`, a seed and a position. A run that fails has overwritten nothing. What is `replaced`
    /// stays as it is where a CUDA device refuses something, of which the host learns later.
    ///
    /// # Errors
    ///
    /// As realising the step would have.
    #[track_caller]
    pub fn run(&mut self, outside: &[Outside], replaced: &[Replaced], generator: (u64, u64)) -> Result<Made> {
        let live = self.on_host();
        let made = self.run_steps(outside, replaced, generator, live);
        if made.is_err() {
            self.undone.iter().rev().for_each(|work| work());
        }
        made
    }

    /// Runs the steps, after the host has done its work.
    #[track_caller]
    fn run_steps(
        &mut self,
        outside: &[Outside],
        replaced: &[Replaced],
        generator: (u64, u64),
        live: Vec<u64>,
    ) -> Result<Made> {
        let refusal = Refusal::new(!replaced.is_empty(), true);
        let arenas = self.arenas()?;
        let places = MemoryPlaces::default();
        // Asked for by address, where a check may refuse something.
        let mut by_address: Vec<usize> = vec![];
        if refusal.is_gathered() || self.steps.iter().any(|step| step.plan.guarded.is_some()) {
            by_address.extend(0..replaced.len());
            by_address.sort_unstable_by_key(|r| replaced[*r].old.buffer.address());
        }
        let mut run = Replaying {
            outside,
            generator,
            live,
            begun: false,
            refusal,
            replaced,
            by_address,
            arenas,
            rooms: None,
            places,
            packed: vec![],
        };
        match self.gpu {
            None => self.steps(&mut run),
            // Launches are collected, and go out as one graph; nobody else may launch meanwhile.
            Some(device) => {
                let line = Location::caller();
                engine::under_lock(|| self.collected(device, line, &mut run))
            }
        }
    }

    /// Does the host's work, and answers with the live scalars' bits as each step finds them.
    fn on_host(&self) -> Vec<u64> {
        let mut work = self.host_work.iter().peekable();
        let mut live = vec![];
        for (s, step) in self.steps.iter().enumerate() {
            while let Some((_, work)) = work.next_if(|w| w.0 <= s) {
                work();
            }
            live.extend(step.read.iter().filter_map(|(_, from)| match from {
                From::Live(scalar, dtype) => Some(cell_bits(scalar.get(), *dtype)),
                _ => None,
            }));
        }
        work.for_each(|(_, work)| work());
        live
    }

    /// Runs the steps' plans as one graph.
    fn collected(
        &mut self,
        device: Device,
        line: &'static Location<'static>,
        run: &mut Replaying,
    ) -> Result<Made> {
        let gpu = Gpu::of(device)?;
        let checks: usize = self.steps.iter().filter_map(|step| step.plan.guarded).map(|g| 2 * g.1).sum();
        if checks > 0 {
            // Waiting starts what is collected.
            gpu.note_guards(checks)?;
        }
        self.turns.rotate_right(1);
        let turn = &mut self.turns[0];
        run.places = MemoryPlaces::as_before(std::mem::take(&mut turn.places));
        run.packed = std::mem::take(&mut turn.packed);
        run.packed.resize_with(self.steps.len(), Packed::default);
        gpu.collect_launches(std::mem::take(&mut turn.launches));
        let result = self.steps(run);
        let turn = &mut self.turns[0];
        turn.places = std::mem::take(&mut run.places).found();
        let ended = gpu.collected_launches();
        turn.launches = ended.launches;
        let made = result?;
        turn.packed = std::mem::take(&mut run.packed);
        if ended.started || turn.launches.is_empty() {
            return Ok(made);
        }
        let origin = GpuOrigin { name: "jit", line };
        // An update that fails half-way leaves no graph.
        let known = turn.graph.take();
        // SAFETY: the launches are those of this replay's plans, in their order; their memory is kept until the graph was
        // launched.
        unsafe {
            gpu.bind()?;
            let graph = match known {
                Some(mut graph) => graph.update(&mut turn.launches)?.then_some(graph),
                None => None,
            };
            let graph = graph.map_or_else(|| Graph::new(gpu, &mut turn.launches), Ok)?;
            graph.run(origin)?;
            turn.graph = Some(graph);
        }
        drop(ended.keep);
        Ok(made)
    }

    /// Runs the steps' plans.
    fn steps(&self, run: &mut Replaying) -> Result<Made> {
        crate::node::note_computing();
        let mut made: Vec<Vec<Option<Value>>> = Vec::with_capacity(self.steps.len());
        let mut live = run.live.iter();
        for (at, step) in self.steps.iter().enumerate() {
            let read = Vec::with_capacity(step.read.len());
            let mut bound = Bound { index: &step.index, read, origins: &step.origins };
            for (_, from) in &step.read {
                let value = match from {
                    From::Outside(i) => run.outside.get(*i).map(|outside| outside.value.clone()),
                    From::Computed(s, r) => made[*s][*r].clone(),
                    From::Constant(value) => Some(value.clone()),
                    From::Scalar(kind) => {
                        bound.read.push(Read::Argument(kind.clone()));
                        continue;
                    }
                    From::Live(..) => {
                        let bits = live.next().copied().unwrap_or(0);
                        bound.read.push(Read::Argument(SourceKind::Const { bits, literal: false }));
                        continue;
                    }
                    From::Random(law, at) => {
                        let (seed, start) = run.generator;
                        let kind = SourceKind::Random { law: *law, seed, counter: start.wrapping_add(*at) };
                        bound.read.push(Read::Argument(kind));
                        continue;
                    }
                };
                let lost = || Error::new("jit", ErrorKind::Internal("a value that no step computed".into()));
                bound.read.push(Read::Value(value.ok_or_else(lost)?));
            }
            let is_guarded = step.plan.guarded.is_some() || run.refusal.is_gathered();
            let mut takes_over = false;
            for (slot, donor) in step.plan.slots.iter().enumerate().filter_map(|(i, s)| Some((i, s.donor?))) {
                // The plan overwrites this operand, since the recording found nobody who wanted it.
                let spared = step.spared.contains(&slot)
                    || is_guarded && bound.value(donor).is_some_and(|v| run.is_foreign(v, at, step, slot));
                let outside = step.outside(donor);
                let Some(value) = bound.value_mut(donor) else { continue };
                match spared || is_wanted(&value.buffer, outside, run.outside, &made) {
                    true => value.buffer = copied(&value.buffer)?,
                    false => {
                        let is_it = |o: &Outside| o.value.buffer.ptr_eq(&value.buffer);
                        takes_over |= outside.is_some() || run.outside.iter().any(is_it);
                    }
                }
            }
            if takes_over && run.rooms.is_none() {
                run.rooms = Some(self.rooms(at, &run.arenas)?.into_iter());
            }
            let room = match &mut run.rooms {
                Some(rooms) => rooms.next(),
                None => self.is_in_rooms().then(|| Room::of(&run.arenas)),
            };
            let mut results = Vec::with_capacity(step.plan.results.len());
            let whole = if run.begun { Whole::ToTheEnd } else { Whole::OrNothing };
            let again = step.users.as_ref().zip(run.packed.get_mut(at)).map(|(users, packed)| {
                let read = bound.read.iter().map(Read::sight).collect();
                Again { users, packed, read }
            });
            let (refusal, places) = (&mut run.refusal, &mut run.places);
            let manner = Manner { room, whole, foreign: &[], refusal, places, again };
            let execute = || step.plan.execute_in(manner, &bound, |_, value| results.push(value));
            if self.gpu.is_some() {
                execute()?
            } else {
                engine::under_lock(execute)?
            }
            run.begun |= step.plan.overwrites_from < step.plan.launches.len();
            made.push(results.into_iter().map(|value| value.map(Some)).collect::<Result<_>>()?);
            for done in &step.done_with {
                made[done.step][done.result] = None;
            }
        }
        let made = Made(made);
        if run.refusal.is_gathered() {
            let pairs: Vec<Pair> = run
                .replaced
                .iter()
                .filter_map(|r| Some(Pair { old: r.old, new: made.get(r.new)?, depends: u64::MAX }))
                .collect();
            if self.gpu.is_some() {
                run.refusal.restore(&pairs)?;
            } else {
                engine::under_lock(|| run.refusal.restore(&pairs))?;
            }
        }
        Ok(made)
    }

    /// Whether memory is asked for by the replay, and not by each plan. Launches that are collected are started when all of them are known.
    fn is_in_rooms(&self) -> bool {
        self.gpu.is_none() && self.steps.len() > 1
    }

    /// Memory for the temporary values of all steps, asked for before the first begins.
    fn arenas(&self) -> Result<Vec<Buffer>> {
        if !self.is_in_rooms() {
            return Ok(vec![]);
        }
        // Temporary values of one plan are gone when the next begins.
        let mut arenas: Vec<(Device, usize, &Plan)> = vec![];
        for step in &self.steps {
            for &(device, bytes) in &step.plan.arenas {
                match arenas.iter_mut().find(|a| a.0 == device) {
                    Some(most) if most.1 < bytes => *most = (device, bytes, &step.plan),
                    Some(_) => {}
                    None => arenas.push((device, bytes, &step.plan)),
                }
            }
        }
        let arenas = arenas.into_iter().map(|(device, bytes, plan)| {
            Buffer::uninit(device, DType::U8, bytes)
                .map_err(|error| plan.told_of_arena(device, error, |_| None))
        });
        arenas.collect()
    }

    /// Memory for a step and all after it, asked for before the first of them that overwrites something from outside: a later one that finds none
    /// would come too late. What is computed before that is there as long as it is read.
    fn rooms(&self, first: usize, arenas: &[Buffer]) -> Result<Vec<Room>> {
        match self.is_in_rooms() {
            true => self.steps[first..].iter().map(|step| step.plan.room(arenas)).collect(),
            false => Ok(vec![]),
        }
    }

    /// Says that nobody asks for other results than these once the steps have run: the memory of all others is let go where they were read last, as
    /// when the step was recorded. (Launches that are collected hold theirs.)
    pub fn keep_only(&mut self, wanted: impl IntoIterator<Item = Computed>) {
        if self.gpu.is_some() {
            return;
        }
        let mut met: HashSet<Computed> = wanted.into_iter().collect();
        for (at, step) in self.steps.iter_mut().enumerate().rev() {
            let own = (0..step.plan.results.len()).map(|result| Computed::new(at, result));
            step.done_with = step.computed().chain(own).filter(|computed| met.insert(*computed)).collect();
        }
    }

    /// The number of launches of a run.
    pub fn launches(&self) -> usize {
        self.steps.iter().map(|s| s.plan.launches.len()).sum()
    }
}

/// Finds the memory that must not be overwritten because something after it may still be refused.
fn spare(steps: &mut [ReplayStep]) {
    let mut later = false;
    for step in steps.iter_mut().rev() {
        for (at, launch) in step.plan.launches.iter().enumerate() {
            if later || at < step.plan.checks_until {
                let overwritten = launch.outputs().filter(|&s| step.plan.slots[s].donor.is_some());
                step.spared.extend(overwritten);
            }
        }
        later |= step.plan.checks_until > 0;
    }
}

/// Whether somebody besides this replay can still look at the memory of an operand, which may be known to be that of one from outside: such a
/// one that was lent is referred to by its value here, by the caller who lent it and by the plan's operand. (What else has the memory refers to
/// it, too.)
fn is_wanted(
    buffer: &Buffer,
    known: Option<usize>,
    outside: &[Outside],
    made: &[Vec<Option<Value>>],
) -> bool {
    let own = match known.and_then(|at| outside.get(at)) {
        Some(one) if one.lent => 2,
        Some(_) => return true,
        None => {
            let mut lent = outside.iter().filter(|o| o.value.buffer.ptr_eq(buffer));
            match (lent.next(), lent.next()) {
                (None, _) => 0,
                (Some(only), None) if only.lent => 2,
                _ => return true,
            }
        }
    };
    // Looked for only where there is somebody at all.
    let others = buffer.ref_count().saturating_sub(1 + own);
    others > 0 && others > made.iter().flatten().flatten().filter(|v| v.buffer.ptr_eq(buffer)).count()
}

fn copied(buffer: &Buffer) -> Result<Buffer> {
    buffer.to_device(buffer.device())
}

/// Not among what a step reads.
const NOT_READ: u32 = u32::MAX;

/// What a step reads, this time.
enum Read {
    Value(Value),
    Argument(SourceKind),
}

impl Read {
    fn sight(&self) -> Sight {
        match self {
            Read::Value(value) => Sight::of_value(value),
            Read::Argument(kind) => Sight::of_argument(kind),
        }
    }
}

struct Bound<'a> {
    index: &'a [u32],
    read: Vec<Read>,
    origins: &'a [(usize, Origin)],
}

impl Bound<'_> {
    fn value_mut(&mut self, node: usize) -> Option<&mut Value> {
        match self.read.get_mut(*self.index.get(node)? as usize)? {
            Read::Value(value) => Some(value),
            Read::Argument(_) => None,
        }
    }
}

impl Replaying<'_> {
    /// Whether a slot of a step would take over memory of what something else than it replaces.
    fn is_foreign(&self, donor: &Value, at: usize, step: &ReplayStep, slot: usize) -> bool {
        let place = donor.buffer.address();
        let from = self.by_address.partition_point(|r| self.replaced[*r].old.buffer.address() < place);
        let of = self.by_address[from..].iter().map(|r| &self.replaced[*r]);
        let of = of.take_while(|r| r.old.buffer.address() == place);
        let mut of = of.filter(|r| r.old.buffer.ptr_eq(&donor.buffer)).peekable();
        let is_it = |r: &Replaced| {
            let result = step.plan.results.get(r.new.result).filter(|_| r.new.step == at);
            result.is_some_and(|r| matches!(r.slot, Place::Slot(s) if s == slot))
        };
        of.peek().is_some() && !of.any(is_it)
    }
}

impl Bindings for Bound<'_> {
    #[inline]
    fn value(&self, node: usize) -> Option<&Value> {
        match self.read.get(*self.index.get(node)? as usize)? {
            Read::Value(value) => Some(value),
            Read::Argument(_) => None,
        }
    }

    #[inline]
    fn argument(&self, node: usize) -> Option<SourceKind> {
        match self.read.get(*self.index.get(node)? as usize)? {
            Read::Value(_) => None,
            Read::Argument(kind) => Some(kind.clone()),
        }
    }

    fn origin(&self, node: usize) -> Option<Origin> {
        self.origins.iter().find(|o| o.0 == node).map(|o| o.1)
    }
}
