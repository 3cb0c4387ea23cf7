//! One call of a replayed function: the recording that is its, what a run has changed, and what is kept of it.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::jit::around::{Run, Surroundings, Told};
use crate::jit::key::Words;
use crate::jit::known::{Known, Recorded, Taken, mixed, watched};
use crate::jit::{PyJit, UNSEEN};
use crate::tensor::PyTensor;

/// How many sets of surroundings are compared with what is there before that is told.
const SEEN: usize = 4;

/// A call under way.
pub struct Calling<'a, 'py> {
    pub of: &'a PyJit,
    pub py: Python<'py>,
    pub args: &'a Bound<'py, PyTuple>,
    pub kwargs: Option<&'a Bound<'py, PyDict>>,
    pub surroundings: Arc<Surroundings>,
}

/// What a call is given and finds around it, in words.
struct Asked<'a, 'py> {
    words: Words<'a, 'py>,
    /// How many of the words are the arguments'.
    arguments: usize,
    told: Told,
}

/// What was found for a call.
pub struct Found<'py> {
    /// What is recorded; nothing where none is to be, and while another thread uses it.
    pub taken: Option<Taken>,
    key: Vec<u64>,
    arguments: usize,
    /// Which of the words each thing around the function has; `None` where all was seen to be as it was, and not told.
    pub around: Option<Vec<Range<usize>>>,
    tensors: Vec<Bound<'py, PyTensor>>,
    given: Vec<Bound<'py, PyAny>>,
    rates: Vec<u64>,
    pub is_much: bool,
}

/// Surroundings with code in them that ran for the first time, and a set's words about them.
struct Grown {
    surroundings: Arc<Surroundings>,
    key: Vec<u64>,
    arguments: usize,
    held: Vec<Py<PyAny>>,
    stale: Arc<AtomicBool>,
    /// All of it is seen to change.
    is_known: bool,
}

/// What is made of a call that has ended.
struct Verdict {
    is_kept: bool,
    reason: Option<String>,
    /// Ctrl-C, while it was looked at what the step has left.
    stopped: Option<PyErr>,
}

impl<'py> Found<'py> {
    fn new(
        taken: Option<Taken>,
        words: Words<'_, 'py>,
        arguments: usize,
        around: Option<Vec<Range<usize>>>,
    ) -> Found<'py> {
        let is_much = words.is_much();
        let Words { key, tensors, given, rates, .. } = words;
        Found { taken, key, arguments, around, tensors, given, rates, is_much }
    }
}

impl<'a, 'py> Calling<'a, 'py> {
    fn plainly(&self) -> PyResult<Bound<'py, PyAny>> {
        self.of.function.bind(self.py).call(self.args, self.kwargs)
    }

    /// Tells the arguments, and the modes that the call is made in.
    fn give(&self, surroundings: &Surroundings, words: &mut Words<'_, 'py>) -> PyResult<()> {
        words.arguments(self.args, self.kwargs, surroundings.names())?;
        surroundings.situation(self.py, words)
    }

    /// Tells all of it; `sees` asks for how the same is seen later, `holds` for what is not to be another thing at the same address.
    fn tell(&self, surroundings: &Surroundings, holds: bool, sees: bool) -> PyResult<Asked<'a, 'py>> {
        let mut words = Words::new(&self.of.sorts, holds);
        self.give(surroundings, &mut words)?;
        let arguments = words.key.len();
        if sees {
            words.see();
        }
        let told = surroundings.tell(self.py, &mut words)?;
        Ok(Asked { words, arguments, told })
    }

    /// Looks for what is recorded for the call.
    pub fn find(&self) -> PyResult<Found<'py>> {
        let mut words = Words::new(&self.of.sorts, false);
        self.give(&self.surroundings, &mut words)?;
        let arguments = words.key.len();
        // Where all is seen to be as it was, it is not told again.
        if let Some(taken) = self.seen(&mut words) {
            return Ok(Found::new(Some(taken), words, arguments, None));
        }
        words.stopped()?;
        let sees = self.of.lock().looks();
        let Asked { words, arguments, told } = self.tell(&self.surroundings, false, sees)?;
        let Some(mut taken) = self.known(&words) else { return self.begun() };
        if let Some(taken) = &mut taken
            && sees
        {
            taken.recorded.see(told.same, &told.words, words.is_much());
        }
        Ok(Found::new(taken, words, arguments, Some(told.words)))
    }

    /// Takes a recording for these arguments of which the surroundings are seen to be as they were.
    fn seen(&self, words: &mut Words<'_, 'py>) -> Option<Taken> {
        if words.unknown.is_some() {
            return None;
        }
        let (mut after, rates) = (0, words.rates.len());
        for _ in 0..SEEN {
            let taken = {
                let mut all = self.of.lock();
                let is_it = |known: &&mut Known| {
                    let is_seen = |recorded: &Recorded| recorded.seen.is_some();
                    known.number > after
                        && known.key.get(..known.arguments) == Some(&*words.key)
                        && known.recorded.as_deref().is_some_and(is_seen)
                        && !known.is_stale()
                };
                if all.is_given_up() {
                    return None;
                }
                let known = all.known.iter_mut().find(is_it)?;
                after = known.number;
                Taken { number: known.number, recorded: known.recorded.take()? }
            };
            let is = taken
                .recorded
                .seen
                .as_ref()
                .is_some_and(|(same, _)| self.surroundings.are(self.py, same, words));
            if is && !taken.recorded.stale.load(Ordering::Relaxed) {
                return Some(taken);
            }
            words.rates.truncate(rates);
            words.unknown = None;
            let left = self.of.lock().put(taken);
            drop(left);
            if words.is_stopped() {
                return None;
            }
        }
        None
    }

    /// Takes what is recorded for these words: `None` where they are new.
    fn known(&self, words: &Words<'_, 'py>) -> Option<Option<Taken>> {
        let mut all = self.of.lock();
        all.last_was_replayed = false;
        if all.is_given_up() {
            return Some(None);
        }
        if let Some(what) = &words.unknown {
            let text = "something that the function is given or knows may change without being seen to";
            all.reason = Some(format!("{text}: {what}"));
            return Some(None);
        }
        all.take(mixed(&words.key), &words.key)
    }

    /// Begins a recording: what is told by its address is held from now on, or seen to go.
    fn begun(&self) -> PyResult<Found<'py>> {
        let Asked { mut words, arguments, told } = self.tell(&self.surroundings, true, false)?;
        let new = Recorded::new(self.py, std::mem::take(&mut words.held), self.of.may_read)?;
        let (taken, gone, left) = self.of.lock().take_or_begin(&words.key, arguments, Box::new(new));
        drop((gone, left));
        Ok(Found::new(taken, words, arguments, Some(told.words)))
    }

    /// Calls the function by way of what is recorded, and keeps what can be replayed.
    pub fn run(
        &self,
        found: &Found<'py>,
        mut taken: Taken,
        is_measured: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let recorded = &mut taken.recorded;
        recorded.jit.set_catches(self.surroundings.catches);
        let called = is_measured.then(Instant::now);
        let was_plain = recorded.plain;
        let (answer, ran) = if was_plain {
            (self.plainly(), None)
        } else {
            let function = &self.of.function;
            match recorded.run(self.py, function, self.args, self.kwargs, &found.tensors, &found.given) {
                Ok((answer, ran)) => (Ok(answer), ran),
                Err(error) => (Err(error), None),
            }
        };
        let replayed = !was_plain && recorded.jit.is_replaying();
        if let Some(called) = called.filter(|_| !replayed) {
            self.of.lock().took = called.elapsed();
        }
        let mut verdict = Verdict { is_kept: true, reason: recorded.reason(), stopped: None };
        if answer.is_ok() && !replayed && !was_plain {
            let against = self.against(found, &mut taken, ran.as_ref()).unwrap_or_else(|error| {
                verdict.stopped = self.of.unseen(self.py, error).err();
                Some(UNSEEN.to_owned())
            });
            verdict.is_kept = against.is_none();
            verdict.reason = against.or(verdict.reason);
        }
        let grown = ran.as_ref().map_or(Ok(None), |ran| self.grown(ran)).unwrap_or_else(|error| {
            let stopped = self.of.unseen(self.py, error).err();
            verdict.stopped = verdict.stopped.take().or(stopped);
            (verdict.is_kept, verdict.reason) = (false, Some(UNSEEN.to_owned()));
            None
        });
        match self.keep(taken, grown, verdict, replayed) {
            Some(stopped) => Err(stopped),
            None => answer,
        }
    }

    /// What a run has done that a replay would not do.
    fn against(&self, found: &Found<'py>, taken: &mut Taken, ran: Option<&Run>) -> PyResult<Option<String>> {
        // What was seen to be as it was has the words that it had.
        let known;
        let (key, around) = match &found.around {
            Some(around) => (&found.key, around),
            None => {
                let all = self.of.lock();
                let key = all.known.iter().find(|known| known.number == taken.number);
                let around = taken.recorded.seen.as_ref().map(|seen| seen.1.clone());
                known = (key.map(|known| known.key.clone()).unwrap_or_default(), around.unwrap_or_default());
                (&known.0, &known.1)
            }
        };
        let Asked { words: now, arguments, told } = self.tell(&self.surroundings, false, false)?;
        let same = |(a, b): (&Bound<'_, PyTensor>, &Bound<'_, PyTensor>)| a.is(b);
        let is_as_before = key.get(..found.arguments) == now.key.get(..arguments)
            && found.tensors.len() == now.tensors.len()
            && found.tensors.iter().zip(&now.tensors).all(same);
        taken.recorded.plain = !is_as_before;
        if found.rates != now.rates {
            return Ok(Some("the step changes options of an optimiser (a learning rate)".to_owned()));
        }
        let is_other =
            |(was, is): (&Range<usize>, &Range<usize>)| key.get(was.clone()) != now.key.get(is.clone());
        if let Some(at) = around.iter().zip(&told.words).position(is_other) {
            let name = self.surroundings.name(self.py, at);
            return Ok(Some(format!("the step changes what it finds around it: {name}")));
        }
        Ok(ran.and_then(Run::against).map(str::to_owned))
    }

    /// Where code ran for the first time: what that finds around it is looked at from now on.
    fn grown(&self, ran: &Run) -> PyResult<Option<Grown>> {
        let Some(surroundings) = self.surroundings.with(self.py, ran)? else { return Ok(None) };
        let Asked { mut words, arguments, .. } = self.tell(&surroundings, true, false)?;
        let (held, stale) = watched(self.py, std::mem::take(&mut words.held))?;
        let (is_known, key) = (words.unknown.is_none(), words.key);
        Ok(Some(Grown { surroundings: Arc::new(surroundings), key, arguments, held, stale, is_known }))
    }

    /// Puts back what was taken, or lets it go. Answers with what stops the call.
    fn keep(
        &self,
        mut taken: Taken,
        grown: Option<Grown>,
        verdict: Verdict,
        replayed: bool,
    ) -> Option<PyErr> {
        let Verdict { mut is_kept, reason, stopped } = verdict;
        let mut gone: Vec<Known> = vec![];
        let grown = grown.map(|grown| {
            (taken.recorded.held, taken.recorded.stale) = (grown.held, grown.stale);
            taken.recorded.seen = None;
            is_kept &= grown.is_known;
            (grown.surroundings, grown.key, grown.arguments)
        });
        let mut before = None;
        let mut all = self.of.lock();
        if let Some((surroundings, key, arguments)) = grown {
            gone.append(&mut all.known);
            before = all.surroundings.replace(surroundings);
            taken = all.add(mixed(&key), key, arguments, taken.recorded);
        }
        let left = if is_kept {
            all.put(taken)
        } else {
            gone.extend(all.known.extract_if(.., |known| known.number == taken.number));
            Some(taken)
        };
        (all.last_was_replayed, all.reason) = (replayed, reason);
        all.changing = if is_kept { 0 } else { all.changing + 1 };
        drop(all);
        // Not under the lock.
        drop((gone, left, before));
        stopped
    }
}
