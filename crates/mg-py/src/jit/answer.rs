//! What a jitted function answers with: taken apart into tensors where it is called, and made of others by a replay.

use std::collections::HashMap;

use mg_autograd::Tensor;
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType, PyWeakrefReference,
};

use crate::attributes;
use crate::device::PyDevice;
use crate::dtype::PyDType;
use crate::error::there;
use crate::jit::around::referring;
use crate::jit::known::mixed;
use crate::jit::sort::{Sort, is_code, is_plain, namespace_type, slots_of};
use crate::tensor::PyTensor;

/// How the function's answer is made of tensors.
pub enum Answer {
    /// By its number, and the object that it was.
    Tensor(usize, Py<PyWeakrefReference>),
    /// Of parts.
    Tuple(Vec<Answer>),
    /// Of parts.
    List(Vec<Answer>),
    /// Of keys and parts.
    Dict(Vec<(Answer, Answer)>),
    /// A tuple with names.
    Named(Py<PyType>, Vec<Answer>),
    /// An object that the function makes, by its attributes.
    Object(Py<PyType>, Vec<(Py<PyAny>, Answer)>),
    /// An object or container among the arguments.
    Given(usize),
    /// What never changes, or is the same object each time.
    Fixed(Py<PyAny>),
    /// The object that another part is, by its place: the number of tensors, lists, dictionaries and objects that were begun before.
    Again(usize),
}

/// Objects in answers, by where they stand there.
pub type Objects = HashMap<u64, Py<PyAny>>;

/// Where a list, a dictionary or the like is remembered that a step was seen to know and to answer with.
const KNOWN: u64 = u64::MAX;

/// How deep answers are looked into.
const DEPTH: usize = 16;

/// Takes answers apart.
pub struct Apart<'a> {
    tensors: Vec<Tensor>,
    given: &'a [Py<PyAny>],
    before: &'a Objects,
    now: Objects,
    /// What has been begun, in order: held, so that nothing else is at its address.
    begun: Vec<Py<PyAny>>,
}

impl<'a> Apart<'a> {
    /// Of a call that was given these objects, where those stood in the answer before.
    pub fn new(given: &'a [Py<PyAny>], before: &'a Objects) -> Apart<'a> {
        Apart { tensors: vec![], given, before, now: Objects::new(), begun: vec![] }
    }

    /// Looks for what somebody else holds, too, among what a tuple has.
    fn look_for_known(&mut self, tuple: &Bound<'_, PyTuple>) -> PyResult<()> {
        let is_given = |item: &Bound<'_, PyAny>| self.given.iter().any(|given| given.is(item));
        for item in tuple.iter().filter(|item| !is_given(item)) {
            let here = tuple.iter().filter(|other| other.is(&item)).count() as isize;
            let before = self.before.values().chain(self.now.values()).chain(&self.begun);
            let ours = before.filter(|held| held.is(&item)).count() as isize;
            // And this one.
            if referring(&item) > here + ours + 1 && is_told_by_contents(&item)? {
                self.now.insert(KNOWN, item.unbind());
            }
        }
        Ok(())
    }

    /// The tensors, and the objects that stood in the answer.
    pub fn done(self) -> (Vec<Tensor>, Objects) {
        (self.tensors, self.now)
    }

    /// An answer, or a part of one that stands somewhere; its tensors are appended to those of before.
    pub fn take(&mut self, obj: &Bound<'_, PyAny>, place: u64, depth: usize) -> PyResult<Answer> {
        if let Some(at) = self.begun.iter().position(|begun| begun.is(obj)) {
            return Ok(Answer::Again(at));
        }
        if let Ok(t) = obj.cast::<PyTensor>() {
            self.begun.push(obj.clone().unbind());
            self.tensors.push(t.get().t.clone());
            if attributes::attributes_of(t)?.is_some() {
                mg_autograd::refuse_replay("its answer has a tensor with attributes");
            }
            // Whoever knows it keeps it.
            let object = PyWeakrefReference::new(obj)?.unbind();
            return Ok(Answer::Tensor(self.tensors.len() - 1, object));
        }
        if let Some(at) = self.given.iter().position(|given| given.is(obj)) {
            return Ok(Answer::Given(at));
        }
        let fixed = || Answer::Fixed(obj.clone().unbind());
        if is_constant(obj) {
            return Ok(fixed());
        }
        // The same object each time, of the function's surroundings.
        let is_same = self.before.get(&place).is_some_and(|before| before.is(obj));
        let makes = |of: &mut Self, items: Vec<Bound<'_, PyAny>>| {
            let part =
                |(i, o): (usize, Bound<'_, PyAny>)| of.take(&o, mixed(&[place, i as u64 + 1]), depth + 1);
            items.into_iter().enumerate().map(part).collect::<PyResult<Vec<_>>>()
        };
        let deeper = depth < DEPTH;
        if let Ok(tuple) = obj.cast_exact::<PyTuple>()
            && deeper
        {
            self.look_for_known(tuple)?;
            return makes(self, tuple.iter().collect()).map(Answer::Tuple);
        }
        if let Ok(tuple) = obj.cast::<PyTuple>()
            && deeper
        {
            let parts = makes(self, tuple.iter().collect())?;
            if parts.iter().all(|part| matches!(part, Answer::Fixed(_))) {
                return Ok(fixed());
            }
            if obj.hasattr("_fields")? && !obj.hasattr("__dict__")? {
                return Ok(Answer::Named(obj.get_type().unbind(), parts));
            }
        }
        // What is told by what is in it may be another one the next time, with the same in it: one that was known once.
        if is_same && is_told_by_contents(obj)? {
            self.now.insert(KNOWN, obj.clone().unbind());
        }
        if self.before.contains_key(&KNOWN) || self.now.contains_key(&KNOWN) {
            mg_autograd::refuse_replay("its answer has a list, a dictionary or the like that it knows");
        }
        self.now.insert(place, obj.clone().unbind());
        if is_same {
            return Ok(fixed());
        }
        if is_code(obj) {
            // A function that the step has made may have any of its tensors in it.
            mg_autograd::refuse_replay("its answer has a function or a class that was not in the one before");
            return Ok(fixed());
        }
        if let Ok(list) = obj.cast_exact::<PyList>()
            && deeper
        {
            self.begun.push(obj.clone().unbind());
            return makes(self, list.iter().collect()).map(Answer::List);
        }
        if let Ok(dict) = obj.cast_exact::<PyDict>()
            && deeper
        {
            self.begun.push(obj.clone().unbind());
            let mut items =
                makes(self, dict.copy()?.iter().flat_map(|(key, value)| [key, value]).collect())?.into_iter();
            let mut pairs = vec![];
            while let (Some(key), Some(value)) = (items.next(), items.next()) {
                pairs.push((key, value));
            }
            return Ok(Answer::Dict(pairs));
        }
        let class = obj.get_type();
        if deeper && is_plain(&class)? {
            self.begun.push(obj.clone().unbind());
            let attributes = attributes_of(obj)?;
            let parts = makes(self, attributes.iter().map(|(_, value)| value.clone()).collect())?;
            let names = attributes.into_iter().map(|(name, _)| name.unbind());
            return Ok(Answer::Object(class.unbind(), names.zip(parts).collect()));
        }
        mg_autograd::refuse_replay("its answer has an object that a replay cannot make");
        Ok(fixed())
    }
}

/// Whether two objects of this kind are one for those who tell steps apart, if the same is in them.
fn is_told_by_contents(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(matches!(
        Sort::of(obj)?,
        Sort::List(_) | Sort::Items(_) | Sort::Dict(_) | Sort::Buffer | Sort::Scalar | Sort::Array
    ))
}

/// Whether an object is the same for whoever has it, at any time.
fn is_constant(obj: &Bound<'_, PyAny>) -> bool {
    obj.is_none()
        || obj.is_exact_instance_of::<PyBool>()
        || obj.is_exact_instance_of::<PyInt>()
        || obj.is_exact_instance_of::<PyFloat>()
        || obj.is_exact_instance_of::<PyComplex>()
        || obj.is_exact_instance_of::<PyString>()
        || obj.is_exact_instance_of::<PyBytes>()
        || obj.is_instance_of::<PyDType>()
        || obj.is_instance_of::<PyDevice>()
}

/// The attributes of an object that is all in them.
fn attributes_of<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    let mut found = vec![];
    for name in slots_of(&obj.get_type())? {
        if let Some(value) = there(obj.py(), obj.getattr(&name))? {
            found.push((name.into_any(), value));
        }
    }
    if let Some(attributes) = there(obj.py(), obj.getattr("__dict__"))?
        && let Ok(attributes) = attributes.cast_into::<PyDict>()
    {
        // As they are at one moment: another thread may change them.
        found.extend(attributes.copy()?.iter());
    }
    Ok(found)
}

/// What an answer is made of, in one call.
pub struct Parts<'a, 'py> {
    pub tensors: &'a [Tensor],
    /// The tensors and the objects among the arguments.
    pub arguments: &'a [Bound<'py, PyTensor>],
    pub given: &'a [Bound<'py, PyAny>],
    /// What was begun, in order.
    begun: Vec<Bound<'py, PyAny>>,
}

impl<'a, 'py> Parts<'a, 'py> {
    /// Of these tensors, in a call with these arguments.
    pub fn new(
        tensors: &'a [Tensor],
        arguments: &'a [Bound<'py, PyTensor>],
        given: &'a [Bound<'py, PyAny>],
    ) -> Parts<'a, 'py> {
        Parts { tensors, arguments, given, begun: vec![] }
    }

    fn begin(&mut self, obj: Bound<'py, PyAny>) -> Bound<'py, PyAny> {
        self.begun.push(obj.clone());
        obj
    }
}

impl Answer {
    /// The answer made of these parts; a tensor that is an argument is the argument itself.
    pub fn put_together<'py>(&self, py: Python<'py>, of: &mut Parts<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let too_few =
            |what: &str| PyRuntimeError::new_err(format!("jit: an answer of fewer {what} than recorded"));
        let all = |parts: &[Answer], of: &mut Parts<'_, 'py>| {
            parts.iter().map(|part| part.put_together(py, of)).collect::<PyResult<Vec<_>>>()
        };
        Ok(match self {
            Answer::Tensor(i, object) => {
                let t = of.tensors.get(*i).ok_or_else(|| too_few("tensors"))?;
                // The tensor that the step knows, and has answered with then.
                let is_it = |found: &Bound<'py, PyAny>| {
                    found.cast::<PyTensor>().is_ok_and(|found| found.get().t.is(t))
                };
                let known = || object.bind(py).call0().ok().filter(is_it);
                let argument = of.arguments.iter().find(|a| a.get().t.is(t));
                let made = match argument.map(|argument| argument.clone().into_any()).or_else(known) {
                    Some(known) => known,
                    None => Bound::new(py, PyTensor::from(t.clone()))?.into_any(),
                };
                of.begin(made)
            }
            Answer::Tuple(parts) => PyTuple::new(py, all(parts, of)?)?.into_any(),
            Answer::List(parts) => {
                let list = PyList::empty(py);
                of.begin(list.clone().into_any());
                for part in parts {
                    list.append(part.put_together(py, of)?)?;
                }
                list.into_any()
            }
            Answer::Dict(items) => {
                let dict = PyDict::new(py);
                of.begin(dict.clone().into_any());
                for (key, part) in items {
                    let key = key.put_together(py, of)?;
                    dict.set_item(key, part.put_together(py, of)?)?;
                }
                dict.into_any()
            }
            Answer::Named(class, parts) => {
                let made = py.get_type::<PyTuple>().getattr(intern!(py, "__new__"))?;
                made.call1((class.bind(py), PyTuple::new(py, all(parts, of)?)?))?
            }
            Answer::Object(class, parts) => {
                // Not by way of what the class does when it is made, or written to: that is done.
                let plain = py.get_type::<PyAny>();
                let class = class.bind(py);
                let maker = if class.is(namespace_type(py)?) { class } else { &plain };
                let made = of.begin(maker.call_method1(intern!(py, "__new__"), (class,))?);
                let set = plain.getattr(intern!(py, "__setattr__"))?;
                for (name, part) in parts {
                    set.call1((&made, name, part.put_together(py, of)?))?;
                }
                made
            }
            Answer::Given(at) => of.given.get(*at).ok_or_else(|| too_few("objects"))?.clone(),
            Answer::Fixed(obj) => obj.clone_ref(py).into_bound(py),
            Answer::Again(at) => of.begun.get(*at).ok_or_else(|| too_few("parts"))?.clone(),
        })
    }
}
