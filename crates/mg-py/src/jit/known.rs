//! What `jit` has recorded of a function, for each set of arguments and surroundings.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mg_autograd::{Jit, Tensor};
use mg_device::{Error, ErrorKind, Result};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple, PyWeakrefReference};

use crate::error::{compute, in_python};
use crate::jit::answer::{Answer, Apart, Objects, Parts};
use crate::jit::around::{Run, Surroundings, watched_run};
use crate::jit::same::Same;
use crate::jit::sort::is_code;
use crate::tensor::PyTensor;

/// Sets of arguments and surroundings that are remembered; beyond it they are learnt anew.
const KNOWN: usize = 64;
/// Answers of one of them beyond which those that no replay gives are forgotten.
const ANSWERS: usize = 64;
/// How often a recording may be looked for in vain by what is seen, until its surroundings are told each time.
const IN_VAIN: u32 = 16;
/// Runs that change what the function finds around it, one after the other, until it is called as it is.
const CHANGING: u32 = 64;

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
pub struct Recorded {
    pub jit: Jit<Step>,
    slot: Slot,
    /// By the recording that a call was of.
    answers: HashMap<u64, Answer>,
    /// What stood in the last answer of a call that was no replay.
    objects: Objects,
    /// The function changes what it is given: it is called each time.
    pub plain: bool,
    /// Objects that are told by their addresses, or weak references to them, by which `stale` is set: they are not to be others at the
    /// same addresses.
    pub held: Vec<Py<PyAny>>,
    /// Something that it is about is gone.
    pub stale: Arc<AtomicBool>,
    /// How its surroundings are seen to be the same, and with which words each thing was told.
    pub seen: Option<(Vec<Same>, Vec<Range<usize>>)>,
    /// How often that was not so, and they were told to be the same all the same.
    pub in_vain: u32,
    /// What was told of it then is so much that it is measured how long to look takes.
    pub is_much: bool,
}

/// Holds what is told by its address, or sees it go: models and their tensors are not kept alive by what is known of them. Answers with
/// what is set once something is gone.
pub fn watched(
    py: Python<'_>,
    objects: Vec<Bound<'_, PyAny>>,
) -> PyResult<(Vec<Py<PyAny>>, Arc<AtomicBool>)> {
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
    pub fn new(py: Python<'_>, objects: Vec<Bound<'_, PyAny>>, may_read: bool) -> PyResult<Recorded> {
        let slot = Slot::default();
        let jit = mg_autograd::jit(step(slot.clone())).may_read(may_read);
        let (held, stale) = watched(py, objects)?;
        let (answers, objects) = (HashMap::new(), Objects::new());
        let (seen, in_vain, plain) = (None, 0, false);
        Ok(Recorded { jit, slot, answers, objects, plain, held, stale, seen, in_vain, is_much: false })
    }

    /// Whether it is looked for by what is seen.
    fn is_looked_for(&self) -> bool {
        self.in_vain < IN_VAIN
    }

    /// Takes how its surroundings are seen to be the same the next time, which were told this time.
    pub fn see(&mut self, same: Vec<Same>, words: &[Range<usize>], is_much: bool) {
        if self.is_looked_for() {
            self.in_vain += u32::from(self.seen.is_some());
            self.seen = Some((same, words.to_vec()));
            self.is_much = is_much;
        }
    }

    /// Why the last call was not recorded so that it can be replayed.
    pub fn reason(&self) -> Option<String> {
        match self.plain {
            true => Some("the step changes a list, a dictionary or an object that it is given".to_owned()),
            false => self.jit.reason().map(|error| format!("{}: {}", error.op(), error.kind())),
        }
    }

    /// Calls the function by way of a recording.
    pub fn run<'py>(
        &mut self,
        py: Python<'py>,
        function: &Py<PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        tensors: &[Bound<'py, PyTensor>],
        given: &[Bound<'py, PyAny>],
    ) -> PyResult<(Bound<'py, PyAny>, Option<Run>)> {
        let Recorded { jit, slot, answers, objects, .. } = self;
        *locked(slot) = Some(Call {
            function: function.clone_ref(py),
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

/// A set of arguments and surroundings, in words.
pub struct Known {
    /// No other has it.
    pub number: u64,
    hash: u64,
    pub key: Vec<u64>,
    /// How many of the words are the arguments'.
    pub arguments: usize,
    /// `None` while a thread is using it.
    pub recorded: Option<Box<Recorded>>,
}

impl Known {
    fn is(&self, hash: u64, key: &[u64]) -> bool {
        self.hash == hash && self.key == key
    }

    /// Whether something that it is about is gone.
    pub fn is_stale(&self) -> bool {
        self.recorded.as_ref().is_some_and(|recorded| recorded.stale.load(Ordering::Relaxed))
    }
}

/// Words as one.
pub fn mixed(key: &[u64]) -> u64 {
    key.iter().fold(0, |hash, word| (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23))
}

#[derive(Default)]
pub struct All {
    pub known: Vec<Known>,
    /// Looked for at the first call, when what the function names has been defined, and again where more of it has run.
    pub surroundings: Option<Arc<Surroundings>>,
    /// Runs one after the other of which nothing could be kept, since they changed what the function finds around it.
    pub changing: u32,
    /// What there is to look at is so much that it is measured how long that takes.
    pub is_much: bool,
    /// How long the function took when it was called last, where that is measured.
    pub took: Duration,
    /// Calls of the function as it is, and how many there were the last time, where to look takes longer than to call it.
    pub resting: u32,
    pub rest: u32,
    pub last_was_replayed: bool,
    pub reason: Option<String>,
    /// How many sets there have been.
    number: u64,
}

impl All {
    /// Whether the function has changed what it finds around it so often that it is called as it is.
    pub fn is_given_up(&self) -> bool {
        self.changing >= CHANGING
    }

    /// Whether it is worth knowing how the surroundings of a call are seen to be the same later.
    pub fn looks(&self) -> bool {
        let is_worth = |recorded: &Recorded| recorded.is_looked_for() && !recorded.plain;
        self.known.iter().any(|known| known.recorded.as_deref().is_some_and(is_worth))
    }

    /// Takes what is recorded for a set that is known; `None` in it while a thread uses that.
    pub fn take(&mut self, hash: u64, key: &[u64]) -> Option<Option<Taken>> {
        let found = self.known.iter_mut().find(|known| known.is(hash, key) && !known.is_stale())?;
        Some(found.recorded.take().map(|recorded| Taken { number: found.number, recorded }))
    }

    /// Makes place for a set, for which a recording is taken.
    pub fn add(&mut self, hash: u64, key: Vec<u64>, arguments: usize, recorded: Box<Recorded>) -> Taken {
        self.number += 1;
        let number = self.number;
        self.known.push(Known { number, hash, key, arguments, recorded: None });
        Taken { number, recorded }
    }

    /// Takes what is recorded for a set, which is begun where it is not known. Answers with what was let go meanwhile too, which may be
    /// anybody's and is not dropped under a lock.
    pub fn take_or_begin(
        &mut self,
        key: &[u64],
        arguments: usize,
        new: Box<Recorded>,
    ) -> (Option<Taken>, Vec<Known>, Option<Box<Recorded>>) {
        let hash = mixed(key);
        if let Some(taken) = self.take(hash, key) {
            return (taken, vec![], Some(new));
        }
        let full = self.known.len() >= KNOWN;
        let goes = |known: &mut Known| known.is_stale() || full && known.recorded.is_some();
        let gone = self.known.extract_if(.., goes).collect();
        (Some(self.add(hash, key.to_vec(), arguments, new)), gone, None)
    }

    /// Puts back what was taken; gives it back where its set is not known any more.
    pub fn put(&mut self, taken: Taken) -> Option<Taken> {
        match self.known.iter_mut().find(|known| known.number == taken.number) {
            Some(known) => known.recorded = Some(taken.recorded),
            None => return Some(taken),
        }
        None
    }
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

/// What is recorded for a set, while a thread uses it.
pub struct Taken {
    pub number: u64,
    pub recorded: Box<Recorded>,
}
