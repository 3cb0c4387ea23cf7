//! What a replayed step takes for granted of Python: numbers, objects and modes, among its arguments and around it, in words
//! that can be compared.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::exceptions::PyLookupError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyList, PyModule, PyString, PyTuple, PyType};

use crate::jit_sort::{Object, Sort, Sorts, classes_of, is_of_a_program};
use crate::tensor::PyTensor;

/// How deep containers and objects are looked into.
const DEPTH: usize = 16;
/// What stands before each thing, so that things of different kinds never look the same.
#[derive(Clone, Copy)]
enum Kind {
    Argument,
    Tensor,
    None,
    Bool,
    Int,
    Float,
    Text,
    Tuple,
    List,
    Dict,
    Fields,
    Module,
    Object,
    Met,
    End,
}

/// What is taken for granted, as it is now.
pub struct Words<'a, 'py> {
    pub key: Vec<u64>,
    sorts: &'a Sorts,
    /// Whether to hold what is told by its address.
    holds: bool,
    /// The tensors among the arguments, in order.
    pub tensors: Vec<Bound<'py, PyTensor>>,
    /// What is told by its address, and must not be another thing at the same address later.
    pub held: Vec<Bound<'py, PyAny>>,
    /// There is something that may change without its words changing.
    pub unknown: bool,
    met: Vec<usize>,
    /// Objects and containers among the arguments that are told by what is in them, in order.
    pub given: Vec<Bound<'py, PyAny>>,
    /// Options of optimisers that replays read.
    pub rates: Vec<u64>,
}

/// What is looked at of what surrounds a function.
struct Look<'a> {
    /// Whether tensors are arguments; otherwise they are told by identity.
    arguments: bool,
    /// The attributes of objects that the function's code names.
    names: Option<&'a HashSet<String>>,
    depth: usize,
}

impl Look<'_> {
    fn deeper(&self) -> Look<'_> {
        Look { depth: self.depth + 1, ..*self }
    }
}

fn hash_of(thing: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

impl<'a, 'py> Words<'a, 'py> {
    /// None yet. Only ones that hold what they tell of can be compared with others later.
    pub fn new(sorts: &'a Sorts, holds: bool) -> Words<'a, 'py> {
        Words {
            key: Vec::with_capacity(128),
            sorts,
            holds,
            tensors: vec![],
            held: vec![],
            unknown: false,
            met: vec![],
            given: vec![],
            rates: vec![],
        }
    }

    fn kind(&mut self, kind: Kind) {
        self.key.push(kind as u64);
    }

    fn address(&mut self, obj: &Bound<'py, PyAny>) {
        self.key.push(obj.as_ptr() as u64);
        if self.holds {
            self.held.push(obj.clone());
        }
    }

    /// The arguments of a call.
    pub fn arguments(
        &mut self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<()> {
        let look = Look { arguments: true, names: None, depth: 0 };
        for arg in args.iter() {
            self.tell(&arg, &look)?;
        }
        self.kind(Kind::End);
        for (name, value) in kwargs.into_iter().flatten() {
            self.tell(&name, &look)?;
            self.tell(&value, &look)?;
        }
        self.kind(Kind::End);
        Ok(())
    }

    /// Something that a function knows from around it, or nothing where that is not there, as far as attributes have these names.
    pub fn known(
        &mut self,
        thing: Option<&Bound<'py, PyAny>>,
        names: Option<&HashSet<String>>,
    ) -> PyResult<()> {
        match thing {
            Some(thing) => self.tell(thing, &Look { arguments: false, names, depth: 0 }),
            None => {
                self.kind(Kind::End);
                Ok(())
            }
        }
    }

    fn tell(&mut self, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<()> {
        let sort = self.sorts.of(obj)?;
        let is_deep = look.depth >= DEPTH;
        match sort {
            Sort::Tensor => {
                let t = obj.cast::<PyTensor>()?;
                if look.arguments {
                    self.kind(Kind::Argument);
                    self.tensors.push(t.clone());
                } else {
                    self.kind(Kind::Tensor);
                    self.key.push(t.get().t.id() as u64);
                    if self.holds {
                        self.held.push(obj.clone());
                    }
                }
            }
            Sort::None => self.kind(Kind::None),
            Sort::Bool => {
                self.kind(Kind::Bool);
                self.key.push(u64::from(obj.is_truthy()?));
            }
            Sort::Int => {
                self.kind(Kind::Int);
                match obj.extract::<i64>() {
                    Ok(n) => self.key.push(n as u64),
                    Err(_) => self.key.push(hash_of(obj.str()?.to_str()?.as_bytes())),
                }
            }
            Sort::Float => {
                self.kind(Kind::Float);
                self.key.push(obj.extract::<f64>()?.to_bits());
            }
            Sort::Text => {
                self.kind(Kind::Text);
                self.key.push(hash_of(obj.cast::<PyString>()?.to_string_lossy().as_bytes()));
            }
            Sort::Bytes => {
                self.kind(Kind::Text);
                self.key.push(hash_of(obj.cast::<PyBytes>()?.as_bytes()));
            }
            Sort::Tuple
            | Sort::List
            | Sort::Dict
            | Sort::Code
            | Sort::Context
            | Sort::Module(_)
            | Sort::Object(_)
                if is_deep =>
            {
                // What is in it is not looked at.
                self.unknown |= !matches!(sort, Sort::Code);
                self.kind(Kind::Object);
                self.address(obj);
            }
            Sort::Tuple => {
                self.kind(Kind::Tuple);
                self.key.push(obj.get_type_ptr() as u64);
                self.all(obj.cast::<PyTuple>()?.iter(), look)?;
            }
            Sort::List => {
                self.kind(Kind::List);
                if look.arguments {
                    self.given.push(obj.clone());
                }
                self.all(obj.cast::<PyList>()?.iter(), look)?;
            }
            Sort::Dict => {
                self.kind(Kind::Dict);
                if look.arguments {
                    self.given.push(obj.clone());
                }
                for (name, value) in obj.cast::<PyDict>()?.iter() {
                    self.tell(&name, &look.deeper())?;
                    self.tell(&value, &look.deeper())?;
                }
                self.kind(Kind::End);
            }
            Sort::Code => {
                self.kind(Kind::Object);
                self.address(obj);
                self.attributes_of(obj, look)?;
            }
            Sort::Context => {
                // What it holds may be another thing in each call, thread and task.
                self.kind(Kind::Object);
                self.address(obj);
                self.tell(&context_value(obj)?, &look.deeper())?;
            }
            Sort::Module(of) => self.object(obj, look, &of, true)?,
            Sort::Object(of) => self.object(obj, look, &of, false)?,
        }
        Ok(())
    }

    fn all(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>, look: &Look) -> PyResult<()> {
        for item in items {
            self.tell(&item, &look.deeper())?;
        }
        self.kind(Kind::End);
        Ok(())
    }

    /// An argument that is all in its attributes: by its class and what is in them, whichever object it is.
    fn plain(&mut self, obj: &Bound<'py, PyAny>, look: &Look, of: &Object) -> PyResult<()> {
        let py = obj.py();
        let class = obj.get_type();
        self.kind(Kind::Fields);
        self.address(class.as_any());
        if let Some(first) = self.met.iter().position(|&at| at == obj.as_ptr() as usize) {
            self.kind(Kind::Met);
            self.key.push(first as u64);
            return Ok(());
        }
        self.met.push(obj.as_ptr() as usize);
        self.given.push(obj.clone());
        for name in &of.slots {
            match obj.getattr(name.0.bind(py)) {
                Ok(value) => self.tell(&value, &look.deeper())?,
                Err(_) => self.kind(Kind::End),
            }
        }
        if let Ok(attributes) = obj.getattr(intern!(py, "__dict__"))
            && let Ok(attributes) = attributes.cast_into::<PyDict>()
        {
            for (name, value) in attributes.iter() {
                self.tell(&name, &look.deeper())?;
                self.tell(&value, &look.deeper())?;
            }
        }
        self.kind(Kind::End);
        Ok(())
    }

    /// A module, or an object of another kind.
    fn object(&mut self, obj: &Bound<'py, PyAny>, look: &Look, of: &Object, is_module: bool) -> PyResult<()> {
        let py = obj.py();
        if look.arguments && !is_module && of.is_plain {
            return self.plain(obj, look, of);
        }
        if look.arguments && !is_module && of.is_dataclass {
            let class = obj.get_type();
            self.kind(Kind::Fields);
            self.key.push(class.as_ptr() as u64);
            let fields = class.getattr(intern!(py, "__dataclass_fields__"))?;
            for name in fields.try_iter()? {
                let name = name?;
                let value = obj.getattr(name.cast::<PyString>()?)?;
                self.tell(&value, &look.deeper())?;
            }
            self.kind(Kind::End);
            return Ok(());
        }
        self.unknown |= of.is_unknown && !is_module;
        self.kind(if is_module { Kind::Module } else { Kind::Object });
        self.address(obj);
        if self.met.contains(&(obj.as_ptr() as usize)) {
            self.kind(Kind::Met);
            return Ok(());
        }
        self.met.push(obj.as_ptr() as usize);
        // Tensors of an object are told by identity, whoever holds it: a step reads them where it finds them.
        let inside = Look { arguments: false, names: look.names, depth: look.depth + 1 };
        for class in &of.classes {
            self.class(class.bind(py), &inside)?;
        }
        if of.is_optimizer {
            return self.groups(obj, &inside);
        }
        for name in &of.slots {
            if let Ok(value) = obj.getattr(name.0.bind(py)) {
                self.tell(&value, &inside)?;
            }
        }
        if of.is_kernel {
            self.tell(&obj.getattr(intern!(py, "_gradient"))?, &inside)?;
        }
        let Ok(attributes) = obj.getattr(intern!(py, "__dict__")) else { return Ok(()) };
        let Ok(attributes) = attributes.cast_into::<PyDict>() else { return Ok(()) };
        for (name, value) in attributes.iter() {
            let Ok(name) = name.cast::<PyString>() else { continue };
            let is_told = match is_module {
                // What a module's attributes are follows from what they are.
                true => !name.is(intern!(py, "_kinds")),
                false => look.names.is_none_or(|names| names.contains(&*name.to_string_lossy())),
            };
            if is_told {
                // Names of attributes are one object each.
                self.key.push(name.as_ptr() as u64);
                self.tell(&value, &inside)?;
            }
        }
        self.kind(Kind::End);
        Ok(())
    }

    /// An optimiser: which parameters are in which group, with which options. Numbers among those of the engine's optimisers are read by
    /// each replay (what is not heeded is refused where it is set), and told apart.
    fn groups(&mut self, optimizer: &Bound<'py, PyAny>, look: &Look) -> PyResult<()> {
        let py = optimizer.py();
        let is_ours = !optimizer.getattr(intern!(py, "_kind"))?.is_none();
        let groups = optimizer.getattr(intern!(py, "param_groups"))?;
        for group in groups.try_iter()? {
            let group = group?;
            let group = group.cast::<PyDict>()?;
            self.kind(Kind::Dict);
            for (name, value) in group.iter() {
                let text = name.cast::<PyString>()?.to_string_lossy();
                let is_read = is_ours
                    && (value.is_exact_instance_of::<PyFloat>() || value.is_exact_instance_of::<PyTuple>());
                match &*text {
                    "initial_lr" | "param_names" => {}
                    _ if is_read => {
                        let mut apart = Words::new(self.sorts, false);
                        apart.tell(&value, look)?;
                        self.rates.extend(apart.key);
                    }
                    _ => {
                        self.key.push(hash_of(&*text));
                        self.tell(&value, look)?;
                    }
                }
            }
            self.kind(Kind::End);
        }
        if !is_ours {
            // What it remembers is Python's.
            self.tell(&optimizer.getattr(intern!(py, "_own_state"))?, look)?;
        }
        self.kind(Kind::End);
        Ok(())
    }

    /// What a class has under names that the function's code uses: its attributes are those of its objects, too.
    fn class(&mut self, class: &Bound<'py, PyType>, look: &Look) -> PyResult<()> {
        if self.met.contains(&(class.as_ptr() as usize)) || look.depth >= DEPTH {
            return Ok(());
        }
        self.met.push(class.as_ptr() as usize);
        let attributes = class.getattr(intern!(class.py(), "__dict__"))?;
        for entry in attributes.call_method0(intern!(class.py(), "items"))?.try_iter()? {
            let (name, value): (Bound<'py, PyString>, Bound<'py, PyAny>) = entry?.extract()?;
            let text = name.to_string_lossy();
            let is_told = match look.names {
                Some(names) => names.contains(&*text),
                None => !text.starts_with("__"),
            };
            if is_told && !is_descriptor(&value) {
                self.key.push(hash_of(&*text));
                self.tell(&value, &look.deeper())?;
            }
        }
        self.kind(Kind::End);
        Ok(())
    }
}

/// Whether a class's attribute is what slots and dictionaries of its objects are found by.
fn is_descriptor(value: &Bound<'_, PyAny>) -> bool {
    let name = value.get_type().name();
    name.is_ok_and(|name| matches!(&*name.to_string_lossy(), "member_descriptor" | "getset_descriptor"))
}

impl<'py> Words<'_, 'py> {
    /// What a Python module or a class of a program has under names that the function's code uses.
    fn attributes_of(&mut self, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<()> {
        if let Ok(class) = obj.cast::<PyType>() {
            return classes_of(class)?.iter().try_for_each(|class| self.class(class, look));
        }
        let (Some(names), Ok(module)) = (look.names, obj.cast::<PyModule>()) else { return Ok(()) };
        if !is_of_a_program(&module.name()?.into_any())? || self.met.contains(&(obj.as_ptr() as usize)) {
            return Ok(());
        }
        self.met.push(obj.as_ptr() as usize);
        let attributes = module.dict();
        for name in names {
            if let Some(value) = attributes.get_item(name)? {
                self.key.push(hash_of(name));
                self.tell(&value, &look.deeper())?;
            }
        }
        self.kind(Kind::End);
        Ok(())
    }
}

/// What a context variable holds now; an empty tuple if nothing.
fn context_value<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = obj.py();
    match obj.call_method0(intern!(py, "get")) {
        Err(error) if error.is_instance_of::<PyLookupError>(py) => Ok(PyTuple::empty(py).into_any()),
        found => found,
    }
}
