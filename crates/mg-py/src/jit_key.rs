//! What a replayed step takes for granted of Python: numbers, objects and modes, among its arguments and around it, in words
//! that can be compared.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyLookupError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyBytes, PyCFunction, PyCode, PyDict, PyFloat, PyFunction, PyInt, PyList, PyModule, PyString,
    PyTuple, PyType,
};

use pyo3::types::{PyByteArray, PySet};

use crate::tensor::PyTensor;

/// How deep containers and objects are looked into.
const DEPTH: usize = 16;
/// Functions whose names are looked for.
const FUNCTIONS: usize = 256;
/// Functions of one code whose variables are looked at: beyond that they are made in each call, and what they know is the call's own.
const MADE: usize = 16;

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

/// What there is to tell of objects of a type.
#[derive(Clone)]
enum Sort {
    Tensor,
    None,
    Bool,
    Int,
    Float,
    Text,
    Bytes,
    Tuple,
    List,
    Dict,
    Code,
    Context,
    Module(Arc<Object>),
    Object(Arc<Object>),
}

/// Of objects that are none of the others.
struct Object {
    is_dataclass: bool,
    /// All that it is stands in its attributes: its class and those above it are written in Python.
    is_plain: bool,
    /// It can change, and is not looked into.
    is_unknown: bool,
    /// A kernel, whose gradient may be another one later.
    is_kernel: bool,
    is_optimizer: bool,
    /// Its class and those above it that a program has written, whose attributes are its own too.
    classes: Vec<Py<PyType>>,
    /// What it has in slots, not in a dictionary.
    slots: Vec<Interned>,
}

/// The name of an attribute.
struct Interned(Py<PyString>);

/// Types that were met, and what there is to tell of their objects: to ask each object anew takes most of a call's time.
#[derive(Default)]
pub struct Sorts(Mutex<Vec<(Py<PyType>, Sort)>>);

/// Types that are remembered.
const SORTS: usize = 64;

impl Sorts {
    fn of(&self, obj: &Bound<'_, PyAny>) -> PyResult<Sort> {
        let class = obj.get_type_ptr();
        // Held for moments only: what Python may run is asked without it.
        let known = |all: &[(Py<PyType>, Sort)]| {
            all.iter().find(|(t, _)| std::ptr::eq(t.as_ptr().cast(), class)).map(|(_, sort)| sort.clone())
        };
        if let Some(sort) = known(&self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(sort);
        }
        let sort = Sort::of(obj)?;
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < SORTS {
            all.push((obj.get_type().unbind(), sort.clone()));
        }
        Ok(sort)
    }

    /// Shows the collector what is held.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.0.try_lock() {
            Ok(all) => all.iter().try_for_each(|(class, _)| visit.call(class)),
            Err(_) => Ok(()),
        }
    }
}

impl Sort {
    fn of(obj: &Bound<'_, PyAny>) -> PyResult<Sort> {
        let py = obj.py();
        Ok(if obj.cast::<PyTensor>().is_ok() {
            Sort::Tensor
        } else if obj.is_none() {
            Sort::None
        } else if obj.is_exact_instance_of::<PyBool>() {
            Sort::Bool
        } else if obj.is_exact_instance_of::<PyInt>() {
            Sort::Int
        } else if obj.is_exact_instance_of::<PyFloat>() {
            Sort::Float
        } else if obj.is_exact_instance_of::<PyString>() {
            Sort::Text
        } else if obj.is_exact_instance_of::<PyBytes>() {
            Sort::Bytes
        } else if obj.is_instance_of::<PyTuple>() {
            Sort::Tuple
        } else if obj.is_instance_of::<PyList>() {
            Sort::List
        } else if obj.is_instance_of::<PyDict>() {
            Sort::Dict
        } else if is_code(obj) {
            Sort::Code
        } else if obj.get_type().is(context_type(py)?) {
            // There are no subclasses of it.
            Sort::Context
        } else if obj.is_instance(module_type(py)?)? {
            Sort::Module(Arc::new(Object::of(obj)?))
        } else {
            Sort::Object(Arc::new(Object::of(obj)?))
        })
    }
}

impl Object {
    fn of(obj: &Bound<'_, PyAny>) -> PyResult<Object> {
        let py = obj.py();
        {
            // Of the type: what an object answers for names that it does not have may be long in coming.
            let class = obj.get_type();
            // Arrays and buffers are read when tensors are made of them, and may hold other numbers by then.
            let is_array = class.hasattr(intern!(py, "__array_interface__"))?
                || class.hasattr(intern!(py, "__dlpack__"))?;
            let is_set = obj.is_instance_of::<PySet>() || obj.is_instance_of::<PyByteArray>();
            let mut slots = vec![];
            let mut classes = vec![];
            for class in class.mro().iter() {
                if let Ok(class) = class.cast::<PyType>()
                    && is_of_a_program(&class.getattr(intern!(py, "__module__"))?)?
                {
                    classes.push(class.clone().unbind());
                }
                let Ok(names) = class.getattr(intern!(py, "__slots__")) else { continue };
                let one = names.is_instance_of::<PyString>();
                let all = if one { PyTuple::new(py, [names])?.into_any() } else { names };
                for name in all.try_iter()? {
                    slots.push(Interned(name?.cast::<PyString>()?.clone().unbind()));
                }
            }
            Ok(Object {
                is_plain: is_plain(&class)?,
                is_dataclass: class.hasattr(intern!(py, "__dataclass_fields__"))?,
                is_unknown: is_array || is_set || is_deque(obj)? || has_hidden_state(&class)?,
                is_kernel: class.hasattr(intern!(py, "_is_kernel"))?,
                is_optimizer: class.hasattr(intern!(py, "_is_optimizer"))?,
                classes,
                slots,
            })
        }
    }
}

/// Whether objects of a class change by being used, or hold what is not looked into: iterators that are not files, generators of random numbers, what
/// stands for another object.
fn has_hidden_state(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    if class.hasattr(intern!(py, "__next__"))? && !class.hasattr(intern!(py, "writable"))? {
        return Ok(true);
    }
    let (module, name) = (class.getattr(intern!(py, "__module__"))?, class.name()?);
    let (module, name) = (module.str()?.to_string_lossy().into_owned(), name.to_string_lossy().into_owned());
    Ok(module.starts_with("numpy.random")
        || matches!(
            (&*module, &*name),
            ("random", _)
                | ("builtins", "mappingproxy")
                | ("array", "array")
                | ("weakref", "ReferenceType" | "ref" | "ProxyType")
        ))
}

/// Whether code, or a class, of a Python module is a program's, and not the package's or the language's.
fn is_of_a_program(module: &Bound<'_, PyAny>) -> PyResult<bool> {
    static KNOWN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = module.py();
    let Ok(name) = module.cast::<PyString>() else { return Ok(true) };
    let name = name.to_string_lossy();
    let top = name.split('.').next().unwrap_or_default();
    if matches!(top, "micrograd_rs" | "numpy" | "builtins") {
        return Ok(false);
    }
    let known = KNOWN
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("sys")?.getattr("stdlib_module_names")?.unbind()))?;
    // `__main__` is among them in no version.
    Ok(!known.bind(py).contains(top)?)
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

fn module_type<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>> {
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let found = TYPE
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("micrograd_rs.nn")?.getattr("Module")?.unbind()))?;
    Ok(found.bind(py))
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
        let py = obj.py();
        if let Ok(class) = obj.cast::<PyType>() {
            for class in class.mro().iter() {
                if let Ok(class) = class.cast::<PyType>()
                    && is_of_a_program(&class.getattr(intern!(py, "__module__"))?)?
                {
                    self.class(class, look)?;
                }
            }
            return Ok(());
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

fn context_type<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>> {
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let found = TYPE
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("contextvars")?.getattr("ContextVar")?.unbind()))?;
    Ok(found.bind(py))
}

/// What a context variable holds now; an empty tuple if nothing.
fn context_value<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = obj.py();
    match obj.call_method0(intern!(py, "get")) {
        Err(error) if error.is_instance_of::<PyLookupError>(py) => Ok(PyTuple::empty(py).into_any()),
        found => found,
    }
}

/// `types.SimpleNamespace`: attributes and nothing else.
pub fn namespace_type<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>> {
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let found = TYPE
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("types")?.getattr("SimpleNamespace")?.unbind()))?;
    Ok(found.bind(py))
}

/// Whether all that objects of a class are stands in their attributes: it and the classes above it are written in Python, and are
/// classes like others. (What is written in C may keep more, and says nothing of it; members of an `Enum` are who they are.)
pub fn is_plain(class: &Bound<'_, PyType>) -> PyResult<bool> {
    /// Of a type that was made while the program runs.
    const HEAP: u64 = 1 << 9;
    let py = class.py();
    let object = py.get_type::<PyAny>();
    if class.is(namespace_type(py)?) {
        return Ok(true);
    }
    let of_type = class.get_type();
    let name = of_type.name()?;
    if !(of_type.is(py.get_type::<PyType>()) || name == "ABCMeta" || name == "_ProtocolMeta") {
        return Ok(false);
    }
    for class in class.mro().iter() {
        if class.is(&object) {
            continue;
        }
        if class.getattr(intern!(py, "__flags__"))?.extract::<u64>()? & HEAP == 0 {
            return Ok(false);
        }
        let own = class.getattr(intern!(py, "__dict__"))?;
        let has = |name: &str| own.contains(name);
        let base = class.getattr(intern!(py, "__base__"))?;
        let sizes =
            |class: &Bound<'_, PyAny>| class.getattr(intern!(py, "__basicsize__"))?.extract::<usize>();
        let slots = match own.get_item(intern!(py, "__slots__")) {
            Ok(slots) if slots.is_instance_of::<PyString>() => 1,
            Ok(slots) => slots.len()?,
            Err(_) => 0,
        };
        // What a class statement adds: slots, and a dictionary and weak references where there were none.
        let written_in_python = match base.is(&object) {
            true => has("__weakref__")? || has("__slots__")?,
            false => true,
        };
        let most = size_of::<usize>() * (slots + 2);
        if !written_in_python || sizes(&class)?.saturating_sub(sizes(&base)?) > most {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_deque(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = obj.py();
    let found =
        TYPE.get_or_try_init(py, || Ok::<_, PyErr>(py.import("collections")?.getattr("deque")?.unbind()))?;
    obj.is_instance(found.bind(py))
}

/// Whether an object is code, which does not change.
pub fn is_code(obj: &Bound<'_, PyAny>) -> bool {
    obj.is_instance_of::<PyType>()
        || obj.is_instance_of::<PyModule>()
        || obj.is_instance_of::<PyFunction>()
        || obj.is_instance_of::<PyCFunction>()
}

/// What a function finds around it: variables of functions that it was made in, globals that it names, the object that it is a
/// method of; and as much of the functions that it names, and of all that were seen to run within it.
#[derive(Default)]
pub struct Surroundings {
    cells: Vec<Py<PyAny>>,
    globals: Vec<(Py<PyDict>, Py<PyString>)>,
    object: Option<Py<PyAny>>,
    /// What is partly applied, and to what; defaults of functions; Python modules that are imported within.
    parts: Vec<Py<PyAny>>,
    names: HashSet<String>,
    /// Some code asks for attributes by names that are not written in it.
    is_any_name: bool,
    /// Some code draws from NumPy's generators.
    draws: bool,
    /// Code that was read, and what of it was found already.
    codes: Vec<Py<PyAny>>,
    met: HashSet<usize>,
    seen: HashSet<(usize, String)>,
    /// How many functions of the same code were looked at since it was met.
    made: HashMap<usize, usize>,
}

impl Surroundings {
    /// Of a function, a method, or whatever else can be called.
    pub fn of(function: &Bound<'_, PyAny>) -> PyResult<Surroundings> {
        let mut found = Surroundings::default();
        let mut stack = vec![function.clone()];
        let mut met = HashSet::new();
        while let Some(obj) = stack.pop() {
            if met.len() >= FUNCTIONS || !met.insert(obj.as_ptr() as usize) {
                continue;
            }
            let bound =
                obj.getattr("__self__").ok().filter(|o| !o.is_none() && !o.is_instance_of::<PyModule>());
            if obj.is(function) {
                // A method's object; an object that is called; what is partly applied.
                let is_plain = obj.is_instance_of::<PyFunction>() || obj.is_instance_of::<PyCFunction>();
                if let Some(object) = bound.or_else(|| (!is_plain).then(|| obj.clone())) {
                    if !object.is_instance(module_type(obj.py())?)? {
                        for part in ["func", "args", "keywords"] {
                            if let Ok(part) = object.getattr(part) {
                                found.parts.push(part.clone().unbind());
                                stack.push(part);
                            }
                        }
                    }
                    methods_of(&object, &mut stack)?;
                    found.object = Some(object.unbind());
                }
            }
            let obj = match obj.getattr("__func__") {
                Ok(inner) => inner,
                Err(_) => obj,
            };
            let Ok(code) = obj.getattr("__code__") else { continue };
            for inner in found.function(&obj)? {
                rules_of(&inner, &mut stack)?;
                methods_of(&inner, &mut stack)?;
                stack.push(inner);
            }
            if let Ok(globals) = obj.getattr("__globals__")
                && let Ok(globals) = globals.cast_into::<PyDict>()
            {
                for value in found.code(&code, &globals)? {
                    if value.is_instance_of::<PyFunction>() {
                        stack.push(value);
                    } else if !is_code(&value) {
                        methods_of(&value, &mut stack)?;
                    } else {
                        rules_of(&value, &mut stack)?;
                    }
                }
            }
        }
        found.look_for_draws(function.py())?;
        Ok(found)
    }

    fn look_for_draws(&mut self, py: Python<'_>) -> PyResult<()> {
        for value in self.all(py)?.into_iter().flatten() {
            self.draws |= draws_from_numpy(&value, &self.names)?;
        }
        Ok(())
    }

    /// These, and what the code that has run within the function finds around it; `None` if that is known.
    pub fn with(&self, py: Python<'_>, run: &Run) -> PyResult<Option<Surroundings>> {
        let is_new = |code: &Py<PyAny>| !self.met.contains(&(code.as_ptr() as usize));
        // Code that is known may be that of a function that was made since, with variables of its own.
        let asked: Vec<_> = run
            .codes
            .iter()
            .map(|(code, _)| code.bind(py))
            .filter(|code| is_new(code.as_unbound()) || has_variables(code))
            .collect();
        if asked.is_empty() {
            return Ok(None);
        }
        let mut found = Surroundings {
            cells: self.cells.iter().map(|o| o.clone_ref(py)).collect(),
            globals: self.globals.iter().map(|(g, n)| (g.clone_ref(py), n.clone_ref(py))).collect(),
            object: self.object.as_ref().map(|o| o.clone_ref(py)),
            parts: self.parts.iter().map(|o| o.clone_ref(py)).collect(),
            names: self.names.clone(),
            is_any_name: self.is_any_name,
            draws: self.draws,
            codes: self.codes.iter().map(|o| o.clone_ref(py)).collect(),
            met: self.met.clone(),
            seen: self.seen.clone(),
            made: self.made.clone(),
        };
        let mut is_more = false;
        for (code, globals) in run.codes.iter().filter(|(code, _)| is_new(code)) {
            found.code(code.bind(py), globals.bind(py))?;
            is_more = true;
        }
        // A frame says what code it runs, not of which function: who refers to the code does.
        let referrers = py.import("gc")?.getattr("get_referrers")?.call1(PyTuple::new(py, &asked)?)?;
        for function in referrers.try_iter()? {
            let function = function?;
            if !function.is_instance_of::<PyFunction>() {
                continue;
            }
            let code = function.getattr("__code__")?;
            let known = found.made.get(&(code.as_ptr() as usize)).copied().unwrap_or(0);
            if known < MADE && asked.iter().any(|asked| asked.is(&code)) {
                let before = found.cells.len() + found.parts.len();
                found.function(&function)?;
                if found.cells.len() + found.parts.len() > before {
                    found.made.insert(code.as_ptr() as usize, known + 1);
                    is_more = true;
                }
            }
        }
        found.look_for_draws(py)?;
        Ok(is_more.then_some(found))
    }

    /// What a function has of its own: variables of functions that it was made in, and defaults. Answers with what the variables hold.
    fn function<'py>(&mut self, function: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut inner = vec![];
        if let Ok(cells) = function.getattr("__closure__")
            && let Ok(cells) = cells.cast_into::<PyTuple>()
        {
            for cell in cells.iter() {
                if self.seen.insert((cell.as_ptr() as usize, String::new())) {
                    self.cells.push(cell.clone().unbind());
                }
                inner.extend(cell.getattr("cell_contents"));
            }
        }
        for name in ["__defaults__", "__kwdefaults__"] {
            if let Ok(defaults) = function.getattr(name)
                && !defaults.is_none()
                && self.seen.insert((defaults.as_ptr() as usize, String::new()))
            {
                self.parts.push(defaults.unbind());
            }
        }
        Ok(inner)
    }

    /// The names that code uses, and the globals and Python modules under them, which are answered with.
    fn code<'py>(
        &mut self,
        code: &Bound<'py, PyAny>,
        globals: &Bound<'py, PyDict>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = code.py();
        let mut values = vec![];
        if !self.met.insert(code.as_ptr() as usize) {
            return Ok(values);
        }
        self.codes.push(code.clone().unbind());
        let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
        let (names, words) = names_of(code)?;
        self.is_any_name |= names.iter().any(|name| matches!(&**name, "getattr" | "vars" | "__dict__"))
            && asks_for_any_name(code)?;
        for name in &names {
            // A name that is none yet may be one before the next call.
            if self.seen.insert((globals.as_ptr() as usize, name.clone())) {
                let name = PyString::new(py, name).unbind();
                self.globals.push((globals.clone().unbind(), name));
            }
            match globals.get_item(name)? {
                Some(value) => values.push(value),
                // Imported where it is used.
                None => {
                    if let Some(module) = modules.get_item(name)?
                        && self.seen.insert((module.as_ptr() as usize, String::new()))
                    {
                        self.parts.push(module.unbind());
                    }
                }
            }
        }
        self.names.extend(names);
        self.names.extend(words);
        Ok(values)
    }

    /// Shows the collector what is held.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let held = self.cells.iter().chain(&self.object).chain(&self.parts).chain(&self.codes);
        held.into_iter().try_for_each(|object| visit.call(object))?;
        self.globals.iter().try_for_each(|(globals, _)| visit.call(globals))
    }

    /// What is there now: each thing's name, and the thing. An empty cell has no contents, and a name may be none yet.
    fn all<'py>(&self, py: Python<'py>) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let mut all = Vec::with_capacity(self.cells.len() + self.globals.len() + self.parts.len() + 1);
        for cell in &self.cells {
            all.push(cell.bind(py).getattr(intern!(py, "cell_contents")).ok());
        }
        for (globals, name) in &self.globals {
            all.push(globals.bind(py).get_item(name.bind(py))?);
        }
        for part in &self.parts {
            all.push(Some(part.bind(py).clone()));
        }
        Ok(all)
    }

    /// Tells what is there now; answers with which words each thing is.
    pub fn tell<'py>(&self, py: Python<'py>, words: &mut Words<'_, 'py>) -> PyResult<Vec<Range<usize>>> {
        let names = (!self.is_any_name).then_some(&self.names);
        let look = Look { arguments: false, names, depth: 0 };
        words.unknown |= self.draws;
        let mut told = vec![];
        for value in self.all(py)? {
            let start = words.key.len();
            match value {
                Some(value) => words.tell(&value, &look)?,
                None => words.kind(Kind::End),
            }
            told.push(start..words.key.len());
        }
        if let Some(object) = &self.object {
            let start = words.key.len();
            words.tell(object.bind(py), &look)?;
            told.push(start..words.key.len());
        }
        Ok(told)
    }

    /// What a thing is called that [`Surroundings::tell`] has answered with.
    pub fn name(&self, py: Python<'_>, at: usize) -> String {
        let global = at.checked_sub(self.cells.len()).and_then(|at| self.globals.get(at));
        match (self.cells.get(at), global) {
            (Some(cell), _) => {
                let held = cell.bind(py).getattr("cell_contents").and_then(|held| held.get_type().name());
                held.map_or_else(|_| "a variable".to_owned(), |name| format!("a variable that holds {name}"))
            }
            (None, Some((_, name))) => format!("{:?}", name.bind(py).to_string_lossy()),
            (None, None) => "the object that it is a method of".to_owned(),
        }
    }
}

/// Whether code uses variables of functions that it stands in.
fn has_variables(code: &Bound<'_, PyAny>) -> bool {
    code.getattr(intern!(code.py(), "co_freevars")).and_then(|names| names.len()).is_ok_and(|n| n > 0)
}

/// What ran while a function was recorded.
#[derive(Default)]
pub struct Run {
    codes: Vec<(Py<PyAny>, Py<PyDict>)>,
    /// It drew random numbers of which no recording knows.
    pub draws: bool,
}

/// Calls `f`, and says what code of programs has run on this thread meanwhile.
pub fn watched_run<T>(py: Python<'_>, f: impl FnOnce() -> T) -> PyResult<(T, Run)> {
    let sys = py.import("sys")?;
    let run = Arc::new(Mutex::new((Run::default(), HashSet::new())));
    let seen = run.clone();
    let watch = PyCFunction::new_closure(py, None, None, move |args, _| note_frame(args, &seen))?;
    let before = sys.call_method0(intern!(py, "getprofile"))?;
    sys.call_method1(intern!(py, "setprofile"), (watch,))?;
    let restore = Restore { sys, before };
    let result = f();
    drop(restore);
    let run = std::mem::take(&mut run.lock().unwrap_or_else(PoisonError::into_inner).0);
    Ok((result, run))
}

/// Whoever was told of calls before is told of them again once this is dropped.
struct Restore<'py> {
    sys: Bound<'py, PyModule>,
    before: Bound<'py, PyAny>,
}

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        // It takes what it has answered with.
        let _ = self.sys.call_method1(intern!(self.sys.py(), "setprofile"), (&self.before,));
    }
}

/// Python tells of a call: of its frame, what happens, and what is called if that is no Python.
fn note_frame(args: &Bound<'_, PyTuple>, run: &Mutex<(Run, HashSet<usize>)>) -> PyResult<()> {
    let py = args.py();
    let (frame, event) = (args.get_item(0)?, args.get_item(1)?);
    let event = event.cast::<PyString>()?;
    if event == "call" {
        let code = frame.getattr(intern!(py, "f_code"))?;
        {
            let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
            if !run.1.insert(code.as_ptr() as usize) {
                return Ok(());
            }
        }
        let globals = frame.getattr(intern!(py, "f_globals"))?.cast_into::<PyDict>()?;
        let module = globals.get_item(intern!(py, "__name__"))?;
        let is_known = match module {
            Some(module) => !is_of_a_program(&module)?,
            None => false,
        };
        if !is_known {
            let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
            run.0.codes.push((code.unbind(), globals.unbind()));
        }
    } else if event == "c_call" {
        let called = args.get_item(2)?;
        if let Ok(of) = called.getattr(intern!(py, "__self__"))
            && !of.is_instance_of::<PyModule>()
            && of.get_type().name()? == "Random"
        {
            run.lock().unwrap_or_else(PoisonError::into_inner).0.draws = true;
        }
    }
    Ok(())
}

/// Whether something is NumPy's module of random numbers, NumPy in code that names that module, or one of its functions.
fn draws_from_numpy(value: &Bound<'_, PyAny>, names: &HashSet<String>) -> PyResult<bool> {
    if let Ok(module) = value.cast::<PyModule>() {
        let name = module.name()?;
        let name = name.to_string_lossy();
        return Ok(name == "numpy.random" || name == "numpy" && names.contains("random"));
    }
    match value.getattr_opt(intern!(value.py(), "__self__"))? {
        Some(of) => Ok(of.get_type().name()? == "RandomState"),
        None => Ok(false),
    }
}

/// Whether code asks for an attribute by a name that does not stand beside the question.
fn asks_for_any_name(code: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = code.py();
    let instructions: Vec<Bound<'_, PyAny>> =
        py.import("dis")?.call_method1("get_instructions", (code,))?.try_iter()?.collect::<PyResult<_>>()?;
    let text = |at: &Bound<'_, PyAny>, what: &str| -> PyResult<String> {
        Ok(at.getattr(what)?.str()?.to_string_lossy().into_owned())
    };
    for (i, asks) in instructions.iter().enumerate() {
        match &*text(asks, "argval")? {
            "getattr" if text(asks, "opname")?.starts_with("LOAD_") => {
                let mut is_written = false;
                for next in &instructions[i + 1..] {
                    let name = text(next, "opname")?;
                    if name.starts_with("CALL") {
                        break;
                    }
                    is_written |=
                        name == "LOAD_CONST" && next.getattr("argval")?.is_instance_of::<PyString>();
                }
                if !is_written {
                    return Ok(true);
                }
            }
            "vars" | "__dict__" if text(asks, "opname")?.starts_with("LOAD_") => return Ok(true),
            _ => {}
        }
    }
    Ok(false)
}

/// Puts the methods of an object's class on the stack: those that Python code can call on it. The package's own know themselves.
fn methods_of<'py>(object: &Bound<'py, PyAny>, stack: &mut Vec<Bound<'py, PyAny>>) -> PyResult<()> {
    if is_code(object) || object.cast::<PyTensor>().is_ok() {
        return Ok(());
    }
    // What a kernel was read from knows what the kernel knows.
    if object.get_type().hasattr(intern!(object.py(), "_is_kernel"))? {
        stack.push(object.getattr(intern!(object.py(), "_function"))?);
        let gradient = object.getattr(intern!(object.py(), "_gradient"))?;
        if !gradient.is_none() {
            methods_of(&gradient, stack)?;
        }
        return Ok(());
    }
    for class in object.get_type().getattr("__mro__")?.try_iter()? {
        let class = class?;
        let module = class.getattr("__module__")?;
        let module = module.str()?.to_string_lossy().into_owned();
        if module == "builtins" || module.starts_with("micrograd_rs") {
            continue;
        }
        let attributes = class.getattr("__dict__")?;
        for value in attributes.call_method0("values")?.try_iter()? {
            let value = value?;
            if value.is_instance_of::<PyFunction>() {
                stack.push(value);
            } else if let Ok(getter) = value.getattr("fget") {
                stack.push(getter);
            }
        }
    }
    Ok(())
}

/// Puts what an `autograd.Function` does on the stack.
fn rules_of<'py>(object: &Bound<'py, PyAny>, stack: &mut Vec<Bound<'py, PyAny>>) -> PyResult<()> {
    if !object.is_instance_of::<PyType>() || !object.hasattr(intern!(object.py(), "_has_rules"))? {
        return Ok(());
    }
    for class in object.getattr(intern!(object.py(), "__mro__"))?.try_iter()? {
        let class = class?;
        if class.getattr("__module__")?.str()?.to_string_lossy().starts_with("micrograd_rs") {
            continue;
        }
        for value in class.getattr("__dict__")?.call_method0("values")?.try_iter()? {
            let value = value?;
            if value.is_instance_of::<PyFunction>() || value.hasattr(intern!(object.py(), "__func__"))? {
                stack.push(value);
            }
        }
    }
    Ok(())
}

/// The names that code and the code within it uses, and the words that stand in it and could be names.
fn names_of(code: &Bound<'_, PyAny>) -> PyResult<(Vec<String>, Vec<String>)> {
    let (mut names, mut words) = (vec![], vec![]);
    let mut stack = vec![code.clone()];
    while let Some(code) = stack.pop() {
        let Ok(all) = code.getattr("co_names") else { continue };
        for name in all.try_iter()? {
            names.push(name?.extract::<String>()?);
        }
        for constant in code.getattr("co_consts")?.try_iter()? {
            let constant = constant?;
            if constant.is_instance_of::<PyCode>() {
                stack.push(constant);
            } else if let Ok(text) = constant.cast::<PyString>() {
                // As `getattr` has it.
                let text = text.to_string_lossy();
                if text.len() < 64 && text.chars().all(|c| c.is_alphanumeric() || c == '_') {
                    words.push(text.into_owned());
                }
            }
        }
    }
    Ok((names, words))
}
