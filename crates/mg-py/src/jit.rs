//! `jit`: steps that are recorded and replayed.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mg_autograd::{Jit, Tensor};
use mg_device::{Error, ErrorKind, Result};
use pyo3::exceptions::{PyException, PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple, PyWeakrefReference};

use crate::error::{compute, in_python};
use crate::jit_answer::{Answer, Apart, Objects, Parts};
use crate::jit_around::{Run, Surroundings, Told, watched_run};
use crate::jit_key::Words;
use crate::jit_same::Same;
use crate::jit_sort::{Sorts, is_code};
use crate::tensor::PyTensor;

/// A call under way: what the engine's side needs to call Python, and what it brings back.
struct Call {
    function: Py<PyAny>,
    args: Py<PyTuple>,
    kwargs: Option<Py<PyDict>>,
    /// What is told by its contents among the arguments.
    given: Vec<Py<PyAny>>,
    /// What stood in the last answer.
    before: Objects,
    raised: Option<PyErr>,
    /// What the function answered, if it was called.
    answered: Option<(Py<PyAny>, Answer, Objects)>,
    /// What ran within it, if that was recorded.
    ran: Option<Run>,
}

type Slot = Arc<Mutex<Option<Call>>>;
type Step = Box<dyn FnMut(&[Tensor]) -> Result<Vec<Tensor>> + Send>;

/// The recordings for one set of what is no tensor among arguments and surroundings.
struct Recorded {
    jit: Jit<Step>,
    slot: Slot,
    /// By the recording that a call was of.
    answers: HashMap<u64, Answer>,
    /// What stood in the last answer of a call that was no replay.
    objects: Objects,
    /// The function changes what it is given: it is called each time.
    plain: bool,
    /// Objects that are told by their addresses, or weak references to them, by which `stale` is set: they are not to be others at the
    /// same addresses.
    held: Vec<Py<PyAny>>,
    /// Something that it is about is gone.
    stale: Arc<AtomicBool>,
    /// How its surroundings are seen to be the same, and with which words each thing was told.
    seen: Option<(Vec<Same>, Vec<Range<usize>>)>,
    /// How often that was not so, and they were told to be the same all the same.
    in_vain: u32,
    /// What was told of it then is so much that it is measured how long to look takes.
    is_much: bool,
}

/// Holds what is told by its address, or sees it go: models and their tensors are not kept alive by what is known of them. Answers with
/// what is set once something is gone.
fn watched(py: Python<'_>, objects: Vec<Bound<'_, PyAny>>) -> PyResult<(Vec<Py<PyAny>>, Arc<AtomicBool>)> {
    let stale = Arc::new(AtomicBool::new(false));
    let gone = stale.clone();
    let gone =
        move |_: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| gone.store(true, Ordering::Relaxed);
    let gone = PyCFunction::new_closure(py, None, None, gone)?;
    let held = objects.into_iter().map(|object| match PyWeakrefReference::new_with(&object, &gone) {
        Ok(weak) if !is_code(&object) => weak.into_any().unbind(),
        Ok(_) | Err(_) => object.unbind(),
    });
    Ok((held.collect(), stale))
}

impl Recorded {
    fn new(py: Python<'_>, objects: Vec<Bound<'_, PyAny>>, may_read: bool) -> PyResult<Recorded> {
        let slot = Slot::default();
        let jit = mg_autograd::jit(step(slot.clone())).may_read(may_read);
        let (held, stale) = watched(py, objects)?;
        let (answers, objects) = (HashMap::new(), Objects::new());
        let (seen, in_vain, plain) = (None, 0, false);
        Ok(Recorded { jit, slot, answers, objects, plain, held, stale, seen, in_vain, is_much: false })
    }
}

/// A set of arguments and surroundings, in words.
struct Known {
    /// No other has it.
    number: u64,
    hash: u64,
    key: Vec<u64>,
    /// How many of the words are the arguments'.
    arguments: usize,
    /// `None` while a thread is using it.
    recorded: Option<Box<Recorded>>,
}

impl Known {
    fn is(&self, hash: u64, key: &[u64]) -> bool {
        self.hash == hash && self.key == key
    }

    /// Whether something that it is about is gone.
    fn is_stale(&self) -> bool {
        self.recorded.as_ref().is_some_and(|recorded| recorded.stale.load(Ordering::Relaxed))
    }
}

/// Words as one.
pub fn mixed(key: &[u64]) -> u64 {
    key.iter().fold(0, |hash, word| (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23))
}

#[derive(Default)]
struct All {
    known: Vec<Known>,
    /// Looked for at the first call, when what the function names has been defined, and again where more of it has run.
    surroundings: Option<Arc<Surroundings>>,
    /// Runs one after the other of which nothing could be kept, since they changed what the function finds around it.
    changing: u32,
    /// What there is to look at is so much that it is measured how long that takes.
    is_much: bool,
    /// How long the function took when it was called last, where that is measured.
    took: Duration,
    /// Calls of the function as it is, and how many there were the last time, where to look takes longer than to call it.
    resting: u32,
    rest: u32,
    last_was_replayed: bool,
    reason: Option<String>,
    /// How many sets there have been.
    number: u64,
}

impl All {
    /// Whether it is worth knowing how the surroundings of a call are seen to be the same later.
    fn looks(&self) -> bool {
        let is_worth = |recorded: &Recorded| recorded.in_vain < IN_VAIN && !recorded.plain;
        self.known.iter().any(|known| known.recorded.as_deref().is_some_and(is_worth))
    }

    /// Takes what is recorded for a set that is known; `None` in it while a thread uses that.
    fn take(&mut self, hash: u64, key: &[u64]) -> Option<Option<Taken>> {
        let found = self.known.iter_mut().find(|known| known.is(hash, key) && !known.is_stale())?;
        Some(found.recorded.take().map(|recorded| Taken { number: found.number, recorded }))
    }

    /// Makes place for a set, for which a recording is taken.
    fn add(&mut self, hash: u64, key: Vec<u64>, arguments: usize, recorded: Box<Recorded>) -> Taken {
        self.number += 1;
        let number = self.number;
        self.known.push(Known { number, hash, key, arguments, recorded: None });
        Taken { number, recorded }
    }

    /// Puts back what was taken; gives it back where its set is not known any more.
    fn put(&mut self, taken: Taken) -> Option<Taken> {
        match self.known.iter_mut().find(|known| known.number == taken.number) {
            Some(known) => known.recorded = Some(taken.recorded),
            None => return Some(taken),
        }
        None
    }
}

/// What is recorded for a set, while a thread uses it.
struct Taken {
    number: u64,
    recorded: Box<Recorded>,
}

/// Sets of arguments and surroundings that are remembered; beyond it they are learnt anew.
const KNOWN: usize = 64;
/// Runs that change what the function finds around it, one after the other, until it is called as it is.
const CHANGING: u32 = 64;
/// Calls without a look at what surrounds the function, at first and at most, where that takes longer than a call.
const REST: (u32, u32) = (16, 256);
/// Answers of one of them beyond which those that no replay gives are forgotten.
const ANSWERS: usize = 64;
/// How many sets of surroundings are compared with what is there before that is told.
const SEEN: usize = 4;
/// How often a recording may be looked for in vain by what is seen, until its surroundings are told each time.
const IN_VAIN: u32 = 16;
const UNSEEN: &str =
    "code of the program's raises something where it is looked at what the step is given or knows";

// A function that is recorded when it is called, and replayed once two calls launched the same; see `jit`. This is no
// documentation: `__doc__` is the function's own.
#[pyclass(frozen, weakref, name = "Jit", module = "micrograd_rs")]
pub struct PyJit {
    function: Py<PyAny>,
    sorts: Sorts,
    /// What it reads of values makes it run as usual, and is no error.
    may_read: bool,
    recorded: Mutex<All>,
}

/// Makes a replayed function: a call that does the same work as two calls before it is replayed, without a graph or a plan
/// being made. It answers what the function would have: shapes, dtypes, devices and layouts of tensors among its arguments (in
/// lists, tuples, dictionaries and dataclasses too) are looked at in each call, which of them are the same or share memory,
/// numbers, strings and other objects by type and value or identity, modes and numbers of modules, the numbers that the function
/// knows from around it, and whether gradients are recorded. Where something differs the function runs as usual and is recorded
/// for that case too. It may read and update tensors that it knows from elsewhere (parameters, optimisers' state), and answers
/// with tensors, alone or in lists, tuples and dictionaries. To read a tensor's value within it is an error, unless `may_read` says that
/// it may, and is then called each time. So is a function that changes Python's objects around it (a counter, a list, a learning rate): leave that
/// to the loop that calls it. What it prints is printed when it is not replayed, and `reason` says why it is not.
#[pyfunction]
#[pyo3(signature = (function, *, may_read=false))]
pub fn jit(py: Python<'_>, function: Py<PyAny>, may_read: bool) -> PyResult<PyJit> {
    if !function.bind(py).is_callable() {
        return Err(PyTypeError::new_err("jit takes a function"));
    }
    let (sorts, recorded) = (Sorts::default(), Mutex::default());
    Ok(PyJit { function, sorts, may_read, recorded })
}

/// Whether a step is being recorded on this thread, in which values may not be read.
#[pyfunction]
pub fn _is_recording() -> bool {
    mg_graph::is_recording()
}

/// Says that the step that is being recorded, if one is, looks at what an optimiser remembers, which it may change.
#[pyfunction]
pub fn _looks_at_state() {
    mg_autograd::refuse_replay("it looks at an optimiser's state");
}

/// Says that the step that is being recorded, if one is, needs values on the host: it may read, and is called each time.
#[pyfunction]
pub fn _needs_values() {
    mg_graph::needs_values();
}

fn locked(slot: &Slot) -> MutexGuard<'_, Option<Call>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the engine calls: Python's function, with the arguments of the call under way.
fn step(slot: Slot) -> Step {
    Box::new(move |_: &[Tensor]| {
        let called = in_python(|py| -> PyResult<Vec<Tensor>> {
            let (function, args, kwargs) = match &*locked(&slot) {
                Some(c) => {
                    let kwargs = c.kwargs.as_ref().map(|k| k.clone_ref(py).into_bound(py));
                    (c.function.clone_ref(py).into_bound(py), c.args.clone_ref(py).into_bound(py), kwargs)
                }
                None => return Err(PyRuntimeError::new_err("jit: called outside of a call")),
            };
            let result = match mg_graph::is_recording() {
                true => {
                    let (result, ran) = watched_run(py, || function.call(args, kwargs.as_ref()))?;
                    if let Some(call) = &mut *locked(&slot) {
                        call.ran = Some(ran);
                    }
                    result?
                }
                false => function.call(args, kwargs.as_ref())?,
            };
            let (given, before) = match &mut *locked(&slot) {
                Some(call) => (std::mem::take(&mut call.given), std::mem::take(&mut call.before)),
                None => (vec![], Objects::new()),
            };
            let mut apart = Apart::new(&given, &before);
            let answer = apart.take(&result, 0, 0)?;
            let (tensors, now) = apart.done();
            if let Some(call) = &mut *locked(&slot) {
                call.answered = Some((result.unbind(), answer, now));
            }
            Ok(tensors)
        });
        called.map_err(|raised| {
            if let Some(call) = &mut *locked(&slot) {
                call.raised = Some(raised);
            }
            Error::new("jit", ErrorKind::Cancelled)
        })
    })
}

impl PyJit {
    /// What is recorded; held for moments only, and never while Python runs.
    fn lock(&self) -> MutexGuard<'_, All> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PyJit {
    /// Notes that it could not be looked at what the function is given or knows. What is no exception of a program's (Ctrl-C) goes on.
    fn unseen(&self, py: Python<'_>, error: PyErr) -> PyResult<()> {
        if !error.is_instance_of::<PyException>(py) {
            return Err(error);
        }
        let mut all = self.lock();
        (all.last_was_replayed, all.reason) = (false, Some(UNSEEN.to_owned()));
        Ok(())
    }

    /// Calls the function as it is, and knows how long that takes.
    fn measured<T>(&self, plainly: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let answer = plainly();
        self.lock().took = began.elapsed();
        answer
    }

    /// Whether to look at what surrounds the function has taken longer than the function takes: it is called as it is for a while.
    fn rests(&self, looked: Duration) -> bool {
        let mut all = self.lock();
        if !all.is_much || all.took.is_zero() || looked <= all.took {
            all.rest = 0;
            return false;
        }
        all.rest = (2 * all.rest).clamp(REST.0, REST.1);
        all.resting = all.rest;
        all.last_was_replayed = false;
        all.reason = Some(
            "to look at all that the function is given and knows takes longer than to call it: lists, dictionaries and the like of thousands of things"
                .to_owned(),
        );
        true
    }

    /// Takes a recording for these arguments of which the surroundings are seen to be as they were.
    fn seen<'py>(
        &self,
        py: Python<'py>,
        surroundings: &Surroundings,
        words: &mut Words<'_, 'py>,
    ) -> Option<Taken> {
        if words.unknown.is_some() {
            return None;
        }
        let (mut after, rates) = (0, words.rates.len());
        for _ in 0..SEEN {
            let taken = {
                let mut all = self.lock();
                let is_it = |known: &&mut Known| {
                    let is_seen = |recorded: &Recorded| recorded.seen.is_some();
                    known.number > after
                        && known.key.get(..known.arguments) == Some(&*words.key)
                        && known.recorded.as_deref().is_some_and(is_seen)
                        && !known.is_stale()
                };
                if all.changing >= CHANGING {
                    return None;
                }
                let known = all.known.iter_mut().find(is_it)?;
                after = known.number;
                Taken { number: known.number, recorded: known.recorded.take()? }
            };
            let is = taken.recorded.seen.as_ref().is_some_and(|(same, _)| surroundings.are(py, same, words));
            if is && !taken.recorded.stale.load(Ordering::Relaxed) {
                return Some(taken);
            }
            words.rates.truncate(rates);
            words.unknown = None;
            let left = self.lock().put(taken);
            drop(left);
        }
        None
    }

    /// Calls the function by way of a recording.
    fn run<'py>(
        &self,
        py: Python<'py>,
        recorded: &mut Recorded,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        tensors: &[Bound<'py, PyTensor>],
        given: &[Bound<'py, PyAny>],
    ) -> PyResult<(Bound<'py, PyAny>, Option<Run>)> {
        let Recorded { jit, slot, answers, objects, .. } = recorded;
        *locked(slot) = Some(Call {
            function: self.function.clone_ref(py),
            args: args.clone().unbind(),
            kwargs: kwargs.map(|k| k.clone().unbind()),
            given: given.iter().map(|o| o.clone().unbind()).collect(),
            before: std::mem::take(objects),
            raised: None,
            answered: None,
            ran: None,
        });
        let handles: Vec<Tensor> = tensors.iter().map(|t| t.get().t.clone()).collect();
        let result = compute(py, || jit.call(&handles.iter().collect::<Vec<_>>()));
        let call = locked(slot).take();
        let (raised, answered, ran) = match call {
            Some(Call { raised, answered, before, ran, .. }) => {
                // As it was, where the function was not called.
                *objects = before;
                (raised, answered, ran)
            }
            None => (None, None, None),
        };
        if let Some(raised) = raised {
            return Err(raised);
        }
        let out = result?;
        match answered {
            Some((result, answer, now)) => {
                *objects = now;
                if answers.len() >= ANSWERS {
                    // Those of runs that came to nothing.
                    let runs = jit.runs();
                    answers.retain(|run, _| runs.contains(run));
                }
                answers.insert(jit.run(), answer);
                Ok((result.into_bound(py), ran))
            }
            None => match answers.get(&jit.run()) {
                Some(answer) => Ok((answer.put_together(py, &mut Parts::new(&out, tensors, given))?, None)),
                None => Err(PyRuntimeError::new_err("jit: replayed without having been recorded")),
            },
        }
    }
}

#[pymethods]
impl PyJit {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let plainly = || self.function.bind(py).call(args, kwargs);
        // A part of what is being recorded.
        if mg_graph::is_recording() {
            return plainly();
        }
        let (surroundings, began) = {
            let mut all = self.lock();
            if all.resting > 0 {
                all.resting -= 1;
                drop(all);
                return self.measured(plainly);
            }
            (all.surroundings.clone(), all.is_much.then(Instant::now))
        };
        // Who looks may run a program's code, which may raise what it likes.
        let unseen = |error: PyErr| self.unseen(py, error).and_then(|()| plainly());
        let surroundings = match surroundings {
            Some(known) => known,
            None => {
                let found = match Surroundings::of(self.function.bind(py)) {
                    Ok(found) => Arc::new(found),
                    Err(error) => return unseen(error),
                };
                self.lock().surroundings.get_or_insert(found).clone()
            }
        };
        let given = |surroundings: &Surroundings, words: &mut Words<'_, 'py>| {
            words.arguments(args, kwargs, surroundings.names())?;
            surroundings.situation(py, words)
        };
        let tell = |surroundings: &Surroundings, holds: bool, sees: bool| {
            let mut words = Words::new(&self.sorts, holds);
            given(surroundings, &mut words)?;
            let arguments = words.key.len();
            if sees {
                words.see();
            }
            let told = surroundings.tell(py, &mut words)?;
            Ok::<_, PyErr>((words, told, arguments))
        };
        let mut words = Words::new(&self.sorts, false);
        if let Err(error) = given(&surroundings, &mut words) {
            return unseen(error);
        }
        let mut arguments = words.key.len();
        // Where all is seen to be as it was, it is not told again.
        let mut taken = self.seen(py, &surroundings, &mut words).map(Some);
        let mut before: Option<Vec<Range<usize>>> = None;
        if taken.is_none() {
            let sees = self.lock().looks();
            let told;
            (words, told, arguments) = match tell(&surroundings, false, sees) {
                Ok(told) => told,
                Err(error) => return unseen(error),
            };
            let Told { words: ranges, same } = told;
            let hash = mixed(&words.key);
            taken = {
                let mut all = self.lock();
                all.last_was_replayed = false;
                if all.changing >= CHANGING {
                    Some(None)
                } else if let Some(what) = &words.unknown {
                    all.reason = Some(format!(
                        "something that the function is given or knows may change without being seen to: {what}"
                    ));
                    Some(None)
                } else {
                    all.take(hash, &words.key)
                }
            };
            if let Some(Some(Taken { recorded, .. })) = &mut taken
                && sees
                && recorded.in_vain < IN_VAIN
            {
                recorded.in_vain += u32::from(recorded.seen.is_some());
                recorded.seen = Some((same, ranges.clone()));
                recorded.is_much = words.is_much();
            }
            before = Some(ranges);
            if taken.is_none() {
                // New: what is told by its address is held from now on, or seen to go.
                let told;
                (words, told, arguments) = match tell(&surroundings, true, false) {
                    Ok(told) => told,
                    Err(error) => return unseen(error),
                };
                before = Some(told.words);
                let hash = mixed(&words.key);
                let mut new =
                    Some(Box::new(Recorded::new(py, std::mem::take(&mut words.held), self.may_read)?));
                let mut dropped = vec![];
                let mut all = self.lock();
                taken = all.take(hash, &words.key);
                if taken.is_none()
                    && let Some(new) = new.take()
                {
                    let full = all.known.len() >= KNOWN;
                    dropped.extend(
                        all.known
                            .extract_if(.., |known| known.is_stale() || full && known.recorded.is_some()),
                    );
                    taken = Some(Some(all.add(hash, words.key.clone(), arguments, new)));
                }
                drop(all);
                // Not under the lock: what goes with them may be anybody's.
                drop((dropped, new));
            }
        }
        let is_told_much = words.is_much();
        let Words { key, tensors, given, rates, .. } = words;
        let taken = taken.flatten();
        // What was seen to be as it was is as much as it was.
        self.lock().is_much = match (&before, &taken) {
            (None, Some(taken)) => taken.recorded.is_much,
            (Some(_), _) | (None, None) => is_told_much,
        };
        if let Some(began) = began
            && self.rests(began.elapsed())
        {
            let left = taken.and_then(|taken| self.lock().put(taken));
            drop(left);
            return self.measured(plainly);
        }
        // Another thread uses the recording, or this one further up.
        let Some(mut taken) = taken else { return plainly() };
        let recorded = &mut taken.recorded;
        recorded.jit.set_catches(surroundings.catches);
        let called = began.map(|_| Instant::now());
        let (answer, ran) = match recorded.plain {
            true => (plainly(), None),
            false => match self.run(py, recorded, args, kwargs, &tensors, &given) {
                Ok((answer, ran)) => (Ok(answer), ran),
                Err(error) => (Err(error), None),
            },
        };
        let replayed = !recorded.plain && recorded.jit.is_replaying();
        if let Some(called) = called.filter(|_| !replayed) {
            self.lock().took = called.elapsed();
        }
        let mut reason = match recorded.plain {
            true => Some("the step changes a list, a dictionary or an object that it is given".to_owned()),
            false => recorded.jit.reason().map(|e| format!("{}: {}", e.op(), e.kind())),
        };
        let mut is_kept = true;
        // Ctrl-C, while it was looked at what the step has left.
        let mut stopped = None;
        if answer.is_ok() && !replayed && !recorded.plain {
            // What was seen to be as it was has the words that it had.
            let (key, before) = match before {
                Some(before) => (key, before),
                None => {
                    let all = self.lock();
                    let known = all.known.iter().find(|known| known.number == taken.number);
                    let key = known.map(|known| known.key.clone()).unwrap_or_default();
                    (key, recorded.seen.as_ref().map(|seen| seen.1.clone()).unwrap_or_default())
                }
            };
            let told = tell(&surroundings, false, false);
            let same = |(a, b): (&Bound<'_, PyTensor>, &Bound<'_, PyTensor>)| a.is(b);
            // What a run has changed for good a replay would not.
            let changed = match told {
                Err(error) => {
                    stopped = self.unseen(py, error).err();
                    Some(UNSEEN.to_owned())
                }
                Ok((now, after, arguments_now)) => {
                    let is_as_before = key.get(..arguments) == now.key.get(..arguments_now)
                        && tensors.len() == now.tensors.len()
                        && tensors.iter().zip(&now.tensors).all(same);
                    recorded.plain = !is_as_before;
                    let is_other = |(was, is): (&Range<usize>, &Range<usize>)| {
                        key.get(was.clone()) != now.key.get(is.clone())
                    };
                    let around = || before.iter().zip(&after.words).position(is_other);
                    let text = |at| {
                        format!("the step changes what it finds around it: {}", surroundings.name(py, at))
                    };
                    match rates != now.rates {
                        true => Some("the step changes options of an optimiser (a learning rate)".to_owned()),
                        false => around().map(text),
                    }
                }
            };
            let against = if changed.is_some() {
                changed
            } else if ran.as_ref().is_some_and(|ran| ran.is_unwatched) {
                Some(
                    "a profiler is told of all calls, so that it is not seen what runs within the step"
                        .to_owned(),
                )
            } else if ran.as_ref().is_some_and(|ran| ran.draws) {
                Some("the step draws numbers from Python's random".to_owned())
            } else if ran.as_ref().is_some_and(|ran| ran.reads_clock) {
                Some("the step reads a clock".to_owned())
            } else {
                None
            };
            is_kept = against.is_none();
            reason = against.or(reason);
        }
        // Code that ran for the first time: what that finds around it is looked at from now on.
        let mut found = None;
        let with = |ran: &Run| {
            let Some(more) = surroundings.with(py, ran)? else { return Ok(None) };
            let (mut words, _, arguments) = tell(&more, true, false)?;
            let watched = watched(py, std::mem::take(&mut words.held))?;
            Ok(Some((words.unknown.is_none(), watched, (Arc::new(more), words.key, arguments))))
        };
        match ran.as_ref().map_or(Ok(None), with) {
            Ok(None) => {}
            Ok(Some((is_known, watched, more))) => {
                (recorded.held, recorded.stale) = watched;
                recorded.seen = None;
                is_kept &= is_known;
                found = Some(more);
            }
            Err(error) => {
                stopped = stopped.or(self.unseen(py, error).err());
                (is_kept, reason) = (false, Some(UNSEEN.to_owned()));
            }
        }
        let mut dropped = vec![];
        let mut all = self.lock();
        if let Some((more, key, arguments)) = found {
            dropped.append(&mut all.known);
            all.surroundings = Some(more);
            taken = all.add(mixed(&key), key, arguments, taken.recorded);
        }
        let left = if is_kept {
            all.put(taken)
        } else {
            dropped.extend(all.known.extract_if(.., |known| known.number == taken.number));
            Some(taken)
        };
        (all.last_was_replayed, all.reason) = (replayed, reason);
        all.changing = if is_kept { 0 } else { all.changing + 1 };
        drop(all);
        // Not under the lock.
        drop((dropped, left));
        match stopped {
            Some(stopped) => Err(stopped),
            None => answer,
        }
    }

    /// Bound to an object where it is a method.
    fn __get__<'py>(
        slf: Bound<'py, PyJit>,
        object: Bound<'py, PyAny>,
        _class: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if object.is_none() {
            return Ok(slf.into_any());
        }
        slf.py().import("types")?.getattr("MethodType")?.call1((slf, object))
    }

    /// A replayed function of a copy of the function: what was recorded belongs to this one.
    fn __deepcopy__<'py>(&self, py: Python<'py>, memo: &Bound<'py, PyDict>) -> PyResult<PyJit> {
        let copy = py.import("copy")?.call_method1("deepcopy", (self.function.bind(py), memo))?;
        jit(py, copy.unbind(), self.may_read)
    }

    /// The function as it was.
    #[getter]
    fn __wrapped__(&self, py: Python<'_>) -> Py<PyAny> {
        self.function.clone_ref(py)
    }

    #[getter]
    fn __name__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.function.bind(py).getattr("__name__")
    }

    #[getter]
    fn __doc__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.function.bind(py).getattr("__doc__")
    }

    /// Whether some last call was replayed.
    #[getter]
    fn is_replaying(&self) -> bool {
        self.lock().last_was_replayed
    }

    /// Why the last call was not recorded so that it can be replayed, or None.
    #[getter]
    fn reason(&self) -> Option<String> {
        self.lock().reason.clone()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("jit({})", self.function.bind(py).repr()?))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        visit.call(&self.function)?;
        self.sorts.traverse(&visit)?;
        // Where the collector runs the interpreter stands still; a lock that is held then is held by who is about to use it.
        if let Ok(all) = self.recorded.try_lock() {
            if let Some(surroundings) = &all.surroundings {
                surroundings.traverse(&visit)?;
            }
            for recorded in all.known.iter().filter_map(|known| known.recorded.as_ref()) {
                recorded.held.iter().try_for_each(|object| visit.call(object))?;
                let seen = recorded.seen.iter().flat_map(|(same, _)| same);
                seen.into_iter().try_for_each(|same| same.traverse(&visit))?;
            }
        }
        Ok(())
    }
}
