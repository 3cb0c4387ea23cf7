//! Replay: a step that repeats is recorded once and run again without building its graph.
//!
//! The step is run twice, and what was launched is compared. Each value that a plan of the second run reads is one of:
//! an argument, something that the run itself computed before, something that the run *before* computed (state, such as
//! parameters), or the same value both times (a constant). A scalar that differed between the runs must be an argument or
//! state. Random numbers advance by what one run draws.

use crate::build::cell_bits;
use crate::engine;
use crate::live::LiveScalar;
use crate::node::{Inner, Node, Value};
use crate::op::{Op, SourceKind};
use crate::plan::{Bindings, Origin, Plan};
use mg_device::cuda::{Gpu, Graph, Launches, Origin as GpuOrigin, Works};
use mg_device::{Buffer, DType, Device, Error, ErrorKind, Result};
use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::{Arc, Weak};

/// One realisation of a run. Nodes are remembered, not held: holding them would change what later plans may overwrite.
pub(crate) struct Step {
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
    node: Weak<Inner>,
    dtype: DType,
    argument: Option<SourceKind>,
    line: &'static Location<'static>,
}

impl Seen {
    /// Safety: `inner` lives in an `Arc`.
    pub(crate) unsafe fn of(inner: &Inner) -> Seen {
        // SAFETY: by this function's contract; the temporary `Arc` is not dropped.
        let arc = std::mem::ManuallyDrop::new(unsafe { Arc::from_raw(inner as *const Inner) });
        let argument = match &inner.op {
            Op::Source(kind) if engine::is_argument(inner) => Some(kind.clone()),
            _ => None,
        };
        let node = Arc::downgrade(&arc);
        Seen { sequence: inner.seq, node, dtype: inner.dtype, argument, line: inner.location }
    }

    fn value(&self) -> Option<Value> {
        self.node.upgrade()?.value.get()?.as_ref().ok().cloned()
    }
}

/// What was launched while a step ran.
#[derive(Default)]
pub struct Trace {
    steps: Vec<Step>,
    /// What the host read of a value within the step, for people.
    host_read: Option<String>,
    /// With the number of steps before it.
    host_work: Vec<(usize, HostWork)>,
}

/// What the host does at each replay.
type HostWork = Arc<dyn Fn() + Send + Sync>;

thread_local! {
    static TRACE: RefCell<Option<Trace>> = const { RefCell::new(None) };
}

/// Runs `f` and answers with what was launched meanwhile on this thread.
///
/// # Errors
///
/// A recording within a recording.
#[track_caller]
pub fn record<R>(f: impl FnOnce() -> R) -> Result<(R, Trace)> {
    if is_recording() {
        return Err(Error::new("jit", ErrorKind::Value("a recording within a recording".into())));
    }
    TRACE.set(Some(Trace::default()));
    struct Stop;
    impl Drop for Stop {
        fn drop(&mut self) {
            TRACE.with_borrow_mut(|t| *t = None);
        }
    }
    let _stop = Stop;
    let result = f();
    let trace = TRACE.with_borrow_mut(Option::take).unwrap_or_default();
    Ok((result, trace))
}

/// Whether this thread records a step.
pub fn is_recording() -> bool {
    TRACE.with_borrow(Option::is_some)
}

/// Says that the host reads a value: what follows may depend on it in ways that no recording sees.
#[track_caller]
pub fn note_host_read() {
    let line = Location::caller();
    note_read(|| format!("the host reads a value inside the step, at {line}"));
}

/// As [`note_host_read`], of a value that is printed: formatting does not say for which line.
pub fn note_printing() {
    note_read(|| "a tensor is printed inside the step, for which the host reads its value".into());
}

fn note_read(text: impl FnOnce() -> String) {
    TRACE.with_borrow_mut(|trace| {
        if let Some(trace) = trace {
            trace.host_read.get_or_insert_with(text);
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

pub(crate) fn note_step(step: impl FnOnce() -> Step) {
    TRACE.with_borrow_mut(|trace| {
        if let Some(trace) = trace {
            trace.steps.push(step());
        }
    });
}

/// Where a value that a replay reads comes from.
#[derive(Clone)]
enum From {
    Argument(usize),
    /// Result `1` of step `0` of this replay.
    Computed(usize, usize),
    /// Result `1` of step `0` of the replay before.
    Carried(usize, usize),
    Constant(Value),
    Scalar(SourceKind),
    Live(LiveScalar, DType),
    /// Random numbers: the first counter of the second run.
    Random(u64),
}

struct ReplayStep {
    plan: Arc<Plan>,
    read: Vec<(usize, From)>,
    origins: Vec<(usize, Origin)>,
}

/// A recorded step.
pub struct Replay {
    steps: Vec<ReplayStep>,
    /// Results of the run before, by step.
    last: Made,
    /// With the number of steps before it.
    host_work: Vec<(usize, HostWork)>,
    /// The CUDA device that all of it runs on.
    gpu: Option<Device>,
    /// Results of two runs in a row cannot lie in the same memory: each second run is like the one before the last.
    turns: [Turn; 2],
}

/// What is known of a run's launches.
#[derive(Default)]
struct Turn {
    graph: Option<Graph>,
    works: Works,
}

/// What the steps of a run computed.
type Made = Vec<Vec<Option<Value>>>;

/// A run under way.
struct Run<'a> {
    arguments: &'a [Node],
    seed: u64,
    shift: u64,
    /// The bits of the live scalars, in the order in which steps read them.
    live: Vec<u64>,
    /// What the run before computed. Kept until this one is under way: one of which nothing ran must change nothing.
    last: &'a [Vec<Option<Value>>],
    /// Nothing was launched.
    untouched: bool,
}

/// A value that a replay computes: a result of one of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Computed {
    step: usize,
    result: usize,
}

#[track_caller]
fn error(text: String) -> Error {
    Error::new("jit", ErrorKind::Value(text))
}

impl Trace {
    /// What this run computed, for a node that it left behind; `None` where the node is older.
    pub fn computed(&self, node: &Node) -> Option<Computed> {
        self.steps.iter().enumerate().find_map(|(step, s)| {
            let result = s.results.iter().position(|seen| seen.sequence == node.sequence())?;
            Some(Computed { step, result })
        })
    }

    fn by_sequence(&self) -> HashMap<u64, (usize, usize)> {
        let all = self.steps.iter().enumerate();
        all.flat_map(|(s, step)| {
            step.results.iter().enumerate().map(move |(r, seen)| (seen.sequence, (s, r)))
        })
        .collect()
    }
}

impl Replay {
    /// Compares two runs of a step, whose arguments were `first_args` and `second_args`.
    ///
    /// # Errors
    ///
    /// Launches that differ, a scalar that differed, a value that the host read within the step, a step that failed.
    #[track_caller]
    pub fn new(first: &Trace, second: &Trace, first_args: &[Node], second_args: &[Node]) -> Result<Replay> {
        if let Some(text) = first.host_read.as_ref().or(second.host_read.as_ref()) {
            return Err(error(text.clone()));
        }
        if first.steps.len() != second.steps.len() {
            return Err(error(format!(
                "{} plans the first time, {} the second",
                first.steps.len(),
                second.steps.len()
            )));
        }
        let (made_first, made_second) = (first.by_sequence(), second.by_sequence());
        let (mut steps, mut last) = (vec![], vec![]);
        for (a, b) in first.steps.iter().zip(&second.steps) {
            if a.plan.key != b.plan.key {
                let line = b.results.first().map_or(String::new(), |seen| format!(", at {}", seen.line));
                return Err(error(format!("the step launched something else the second time{line}")));
            }
            let mut read = vec![];
            for ((position, x), (_, y)) in a.read.iter().zip(&b.read) {
                let argument = second_args.iter().position(|n| n.sequence() == y.sequence);
                let argument =
                    argument.filter(|&i| first_args.get(i).is_some_and(|n| n.sequence() == x.sequence));
                let from = match (&x.argument, &y.argument) {
                    (
                        Some(SourceKind::Random { counter: c1, .. }),
                        Some(SourceKind::Random { counter: c2, .. }),
                    ) if c1 != c2 => From::Random(*c2),
                    (
                        Some(SourceKind::Live { scalar: s1, .. }),
                        Some(SourceKind::Live { scalar: s2, .. }),
                    ) if s1 == s2 => From::Live(s2.clone(), y.dtype),
                    (Some(k1), Some(k2)) if k1 == k2 => From::Scalar(k2.clone()),
                    (None, None) => {
                        let (now, before) = (made_second.get(&y.sequence), made_first.get(&y.sequence));
                        match (argument, now, before) {
                            (Some(i), ..) => From::Argument(i),
                            (None, Some(&(s, r)), _) => From::Computed(s, r),
                            (None, None, Some(&(s, r))) => From::Carried(s, r),
                            (None, None, None) => match (x.value(), y.value()) {
                                (Some(v), Some(w)) if v.buffer.ptr_eq(&w.buffer) && v.layout == w.layout => {
                                    From::Constant(w)
                                }
                                _ => {
                                    let text = "a tensor was not the same both times: make it an argument";
                                    return Err(error(format!("{text} (made at {})", y.line)));
                                }
                            },
                        }
                    }
                    _ => {
                        let text = "a number was not the same both times: make it an argument or a tensor";
                        return Err(error(format!("{text} (or a LiveScalar; written at {})", y.line)));
                    }
                };
                read.push((*position, from));
            }
            last.push(b.results.iter().map(Seen::value).collect());
            steps.push(ReplayStep { plan: b.plan.clone(), read, origins: b.origins.clone() });
        }
        let mut launches = steps.iter().flat_map(|s: &ReplayStep| &s.plan.launches);
        let device = launches.next().map(|l| l.device).filter(|d| d.is_cuda());
        let alone = launches.all(|l| Some(l.device) == device) && device.is_some();
        let gpu = device.filter(|_| alone && steps.iter().all(|s| !s.plan.transfers()));
        Ok(Replay { steps, last, host_work: second.host_work.clone(), gpu, turns: Default::default() })
    }

    /// Runs the step with other arguments of the same shapes, dtypes and devices. Random numbers come from `seed`, at
    /// positions `shift` after those of the second recorded run. A run that fails before anything was launched changes no
    /// tensor.
    ///
    /// # Errors
    ///
    /// As realising the step would have.
    #[track_caller]
    pub fn run(&mut self, arguments: &[Node], seed: u64, shift: u64) -> Result<()> {
        engine::realize(&arguments.iter().collect::<Vec<_>>())?;
        let live = self.on_host();
        let last = std::mem::take(&mut self.last);
        let mut run = Run { arguments, seed, shift, live, last: &last, untouched: true };
        let result = match self.gpu {
            None => self.steps(&mut run),
            // Launches are collected, and go out as one graph; nobody else may launch meanwhile.
            Some(device) => {
                let line = Location::caller();
                engine::locked(|| self.collected(device, line, &mut run))
            }
        };
        let untouched = run.untouched;
        match result {
            Ok(made) => self.last = made,
            Err(error) => {
                if untouched {
                    self.last = last;
                }
                return Err(error);
            }
        }
        Ok(())
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
    fn collected(&mut self, device: Device, line: &'static Location<'static>, run: &mut Run) -> Result<Made> {
        let gpu = Gpu::of(device)?;
        self.turns.swap(0, 1);
        gpu.collect_launches(std::mem::take(&mut self.turns[0].works));
        let result = self.steps(run);
        let Some(Launches { nodes: mut launches, keep, works }) = gpu.collected_launches() else {
            return result;
        };
        self.turns[0].works = works;
        run.untouched = true;
        let made = result?;
        if launches.is_empty() {
            return Ok(made);
        }
        let origin = GpuOrigin { name: "jit", line };
        // An update that fails half-way leaves no graph.
        let mut known = self.turns[0].graph.take();
        // SAFETY: the launches are those of this replay's plans, in their order; their memory is kept until the graph was
        // launched.
        unsafe {
            gpu.bind()?;
            let fits = match &mut known {
                Some(graph) => graph.update(&mut launches)?,
                None => false,
            };
            let graph = match known.filter(|_| fits) {
                Some(graph) => graph,
                None => Graph::new(gpu, launches)?,
            };
            graph.run(origin)?;
            self.turns[0].graph = Some(graph);
        }
        run.untouched = false;
        drop(keep);
        Ok(made)
    }

    /// Runs the steps' plans.
    fn steps(&self, run: &mut Run) -> Result<Made> {
        let known = |node: &Node| node.value().and_then(|v| v.as_ref().ok()).cloned();
        let before = |s: usize, r: usize| run.last.get(s).and_then(|step| step.get(r)?.clone());
        let mut made: Made = Vec::with_capacity(self.steps.len());
        let mut live = run.live.iter();
        for step in &self.steps {
            let mut bound = Bound { origins: &step.origins, ..Bound::default() };
            for (position, from) in &step.read {
                let value = match from {
                    From::Argument(i) => run.arguments.get(*i).and_then(known),
                    From::Computed(s, r) => made[*s][*r].clone(),
                    From::Carried(s, r) => before(*s, *r),
                    From::Constant(value) => Some(value.clone()),
                    From::Scalar(kind) => {
                        bound.arguments.insert(*position, kind.clone());
                        continue;
                    }
                    From::Live(..) => {
                        let bits = live.next().copied().unwrap_or(0);
                        bound.arguments.insert(*position, SourceKind::Const { bits, literal: false });
                        continue;
                    }
                    From::Random(counter) => {
                        let counter = counter.wrapping_add(run.shift);
                        let kind = SourceKind::Random { seed: run.seed, counter };
                        bound.arguments.insert(*position, kind);
                        continue;
                    }
                };
                let value =
                    value.ok_or_else(|| error("a value that an earlier run failed to compute".into()))?;
                bound.values.insert(*position, value);
            }
            // Nobody reads those again: the recording's plan found the operand's memory to have one reference.
            let own = |buffer: &Buffer| {
                let made = run.last.iter().chain(&made).flatten().flatten();
                1 + made.filter(|v| v.buffer.ptr_eq(buffer)).count()
            };
            for donor in step.plan.slots.iter().filter_map(|s| s.donor) {
                // The plan overwrites this operand. At least two references are this replay's; one more than are is
                // somebody's who still wants the old value.
                let wanted =
                    |v: &&mut Value| v.buffer.ref_count() > 2 && v.buffer.ref_count() > own(&v.buffer);
                if let Some(value) = bound.values.get_mut(&donor).filter(wanted) {
                    value.buffer = copied(&value.buffer)?;
                }
            }
            let mut results = Vec::with_capacity(step.plan.results.len());
            let mut execute = || step.plan.execute(&bound, |_, value| results.push(value));
            if self.gpu.is_some() {
                execute()?
            } else {
                engine::locked(execute)?
            }
            // A plan that could not begin has launched nothing.
            run.untouched = false;
            made.push(results.into_iter().map(|value| value.map(Some)).collect::<Result<_>>()?);
        }
        Ok(made)
    }

    /// What the last run computed.
    pub fn value(&self, computed: Computed) -> Option<Value> {
        self.last.get(computed.step)?.get(computed.result)?.clone()
    }

    /// Replaces what the last run computed: the next one goes on from this. Without a value it fails.
    pub fn set_value(&mut self, computed: Computed, value: Option<Value>) {
        if let Some(known) = self.last.get_mut(computed.step).and_then(|step| step.get_mut(computed.result)) {
            *known = value;
        }
    }

    /// The number of launches of a run.
    pub fn launches(&self) -> usize {
        self.steps.iter().map(|s| s.plan.launches.len()).sum()
    }
}

fn copied(buffer: &Buffer) -> Result<Buffer> {
    buffer.to_device(buffer.device())
}

#[derive(Default)]
struct Bound<'a> {
    values: HashMap<usize, Value>,
    arguments: HashMap<usize, SourceKind>,
    origins: &'a [(usize, Origin)],
}

impl Bindings for Bound<'_> {
    fn value(&self, node: usize) -> Option<&Value> {
        self.values.get(&node)
    }

    fn argument(&self, node: usize) -> Option<SourceKind> {
        self.arguments.get(&node).cloned()
    }

    fn origin(&self, node: usize) -> Option<Origin> {
        self.origins.iter().find(|o| o.0 == node).map(|o| o.1)
    }
}
