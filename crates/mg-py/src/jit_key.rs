//! What a replayed step takes for granted of Python: numbers, objects and modes, among its arguments and around it, in words
//! that can be compared.

use std::collections::HashSet;
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
#[derive(Clone, PartialEq)]
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
    Module,
    Object(Arc<Object>),
}

/// Of objects that are none of the others.
#[derive(PartialEq)]
struct Object {
    is_dataclass: bool,
    /// All that it is stands in its attributes: its class and those above it are written in Python.
    is_plain: bool,
    /// It can change, and is not looked into.
    is_unknown: bool,
    /// A kernel, whose gradient may be another one later.
    is_kernel: bool,
    /// What it has in slots, not in a dictionary.
    slots: Vec<Interned>,
}

/// The name of an attribute.
struct Interned(Py<PyString>);

impl PartialEq for Interned {
    fn eq(&self, other: &Interned) -> bool {
        self.0.is(&other.0)
    }
}

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
            Sort::Module
        } else {
            // Of the type: what an object answers for names that it does not have may be long in coming.
            let class = obj.get_type();
            // Arrays and buffers are read when tensors are made of them, and may hold other numbers by then.
            let is_array = class.hasattr(intern!(py, "__array_interface__"))?
                || class.hasattr(intern!(py, "__dlpack__"))?;
            let is_set = obj.is_instance_of::<PySet>() || obj.is_instance_of::<PyByteArray>();
            let mut slots = vec![];
            for class in class.mro().iter() {
                let Ok(names) = class.getattr(intern!(py, "__slots__")) else { continue };
                let one = names.is_instance_of::<PyString>();
                let all = if one { PyTuple::new(py, [names])?.into_any() } else { names };
                for name in all.try_iter()? {
                    slots.push(Interned(name?.cast::<PyString>()?.clone().unbind()));
                }
            }
            Sort::Object(Arc::new(Object {
                is_plain: is_plain(&class)?,
                is_dataclass: class.hasattr(intern!(py, "__dataclass_fields__"))?,
                is_unknown: is_array || is_set || is_deque(obj)?,
                is_kernel: class.hasattr(intern!(py, "_is_kernel"))?,
                slots,
            }))
        })
    }
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
    /// Tensors that are told by identity.
    pub tensors_met: Vec<usize>,
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
            tensors_met: vec![],
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
                    self.tensors_met.push(t.get().t.id());
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
            | Sort::Module
            | Sort::Object(_)
                if is_deep =>
            {
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
                self.numbers_of(obj, look)?;
            }
            Sort::Context => {
                // What it holds may be another thing in each call, thread and task.
                self.kind(Kind::Object);
                self.address(obj);
                self.tell(&context_value(obj)?, &look.deeper())?;
            }
            Sort::Module => self.object(obj, look, None)?,
            Sort::Object(of) => self.object(obj, look, Some(&of))?,
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
    fn object(&mut self, obj: &Bound<'py, PyAny>, look: &Look, of: Option<&Object>) -> PyResult<()> {
        let py = obj.py();
        if look.arguments
            && let Some(of) = of.filter(|of| of.is_plain)
        {
            return self.plain(obj, look, of);
        }
        if look.arguments && of.is_some_and(|of| of.is_dataclass) {
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
        self.unknown |= of.is_some_and(|of| of.is_unknown);
        self.kind(if of.is_none() { Kind::Module } else { Kind::Object });
        self.address(obj);
        if self.met.contains(&(obj.as_ptr() as usize)) {
            self.kind(Kind::Met);
            return Ok(());
        }
        self.met.push(obj.as_ptr() as usize);
        // Tensors of an object are told by identity, whoever holds it: a step reads them where it finds them.
        let inside = Look { arguments: false, names: look.names, depth: look.depth + 1 };
        for name in of.iter().flat_map(|of| &of.slots) {
            if let Ok(value) = obj.getattr(name.0.bind(py)) {
                self.tell(&value, &inside)?;
            }
        }
        if of.is_some_and(|of| of.is_kernel) {
            self.tell(&obj.getattr(intern!(py, "_gradient"))?, &inside)?;
        }
        let Ok(attributes) = obj.getattr(intern!(py, "__dict__")) else { return Ok(()) };
        let Ok(attributes) = attributes.cast_into::<PyDict>() else { return Ok(()) };
        for (name, value) in attributes.iter() {
            let Ok(name) = name.cast::<PyString>() else { continue };
            let is_told = match of {
                // What a module's attributes are follows from what they are.
                None => !name.is(intern!(py, "_kinds")),
                Some(_) => look.names.is_none_or(|names| names.contains(&*name.to_string_lossy())),
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
}

impl<'py> Words<'_, 'py> {
    /// Numbers and texts that a Python module or a class has under names that the function's code uses.
    fn numbers_of(&mut self, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<()> {
        let (Some(names), true) =
            (look.names, obj.is_instance_of::<PyModule>() || obj.is_instance_of::<PyType>())
        else {
            return Ok(());
        };
        // Of programs, not of the package and of what it is used with.
        if let Ok(module) = obj.cast::<PyModule>()
            && let Ok(name) = module.name()
            && ["micrograd_rs", "numpy", "math", "torch", "builtins"]
                .iter()
                .any(|known| name.to_string_lossy().split('.').next() == Some(known))
        {
            return Ok(());
        }
        let Ok(attributes) = obj.getattr(intern!(obj.py(), "__dict__")) else { return Ok(()) };
        for name in names {
            let Ok(value) = attributes.get_item(name) else { continue };
            let plain = value.is_exact_instance_of::<PyInt>()
                || value.is_exact_instance_of::<PyFloat>()
                || value.is_exact_instance_of::<PyBool>()
                || value.is_exact_instance_of::<PyString>()
                || value.is_none();
            if plain {
                self.key.push(hash_of(name));
                self.tell(&value, look)?;
            }
        }
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
/// method of; and as much of the functions that it names.
pub struct Surroundings {
    cells: Vec<Py<PyAny>>,
    globals: Vec<(Py<PyDict>, Py<PyString>)>,
    object: Option<Py<PyAny>>,
    /// What is partly applied, and to what.
    parts: Vec<Py<PyAny>>,
    names: HashSet<String>,
}

impl Surroundings {
    /// Of a function, a method, or whatever else can be called.
    pub fn of(function: &Bound<'_, PyAny>) -> PyResult<Surroundings> {
        let mut found = Surroundings {
            cells: vec![],
            globals: vec![],
            object: None,
            parts: vec![],
            names: HashSet::new(),
        };
        let mut stack = vec![function.clone()];
        let mut met = HashSet::new();
        let mut seen = HashSet::new();
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
            let names = names_of(&code)?;
            if let Ok(cells) = obj.getattr("__closure__")
                && let Ok(cells) = cells.cast_into::<PyTuple>()
            {
                for cell in cells.iter() {
                    if seen.insert((cell.as_ptr() as usize, String::new())) {
                        found.cells.push(cell.clone().unbind());
                    }
                    if let Ok(inner) = cell.getattr("cell_contents") {
                        rules_of(&inner, &mut stack)?;
                        methods_of(&inner, &mut stack)?;
                        stack.push(inner);
                    }
                }
            }
            if let Ok(globals) = obj.getattr("__globals__")
                && let Ok(globals) = globals.cast_into::<PyDict>()
            {
                for name in &names {
                    // A name that is none yet may be one before the next call.
                    if seen.insert((globals.as_ptr() as usize, name.clone())) {
                        let name = PyString::new(obj.py(), name).unbind();
                        found.globals.push((globals.clone().unbind(), name));
                    }
                    let Some(value) = globals.get_item(name)? else { continue };
                    if value.is_instance_of::<PyFunction>() {
                        stack.push(value);
                    } else if !is_code(&value) {
                        methods_of(&value, &mut stack)?;
                    } else {
                        rules_of(&value, &mut stack)?;
                    }
                }
            }
            found.names.extend(names);
        }
        Ok(found)
    }

    /// Shows the collector what is held.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.cells.iter().chain(&self.object).chain(&self.parts).try_for_each(|object| visit.call(object))?;
        self.globals.iter().try_for_each(|(globals, _)| visit.call(globals))
    }

    /// What is there now: a number for each thing, and the thing. An empty cell has no contents, and a name may be none yet.
    fn all<'py>(&self, py: Python<'py>) -> PyResult<Vec<(u64, Option<Bound<'py, PyAny>>)>> {
        let mut all = Vec::with_capacity(self.cells.len() + self.globals.len() + self.parts.len() + 1);
        let mut add = |value| all.push((all.len() as u64, value));
        for cell in &self.cells {
            add(cell.bind(py).getattr(intern!(py, "cell_contents")).ok());
        }
        for (globals, name) in &self.globals {
            add(globals.bind(py).get_item(name.bind(py))?);
        }
        for part in &self.parts {
            add(Some(part.bind(py).clone()));
        }
        if let Some(object) = &self.object {
            let object = object.bind(py);
            if object.is_instance(module_type(py)?)? {
                add(Some(object.clone()));
            } else if let Ok(attributes) = object.getattr(intern!(py, "__dict__"))
                && let Ok(attributes) = attributes.cast_into::<PyDict>()
            {
                for (name, value) in attributes.iter() {
                    let Ok(name) = name.cast::<PyString>() else { continue };
                    let name = name.to_string_lossy();
                    if self.names.contains(&*name) {
                        all.push((hash_of(&*name) | 1 << 63, Some(value)));
                    }
                }
            }
        }
        Ok(all)
    }

    /// Tells what is there now; answers with a number for each thing and which words it is. What the function itself changes in each
    /// run is told apart: it is as the last run left it, or somebody else has changed it.
    pub fn tell<'py>(
        &self,
        py: Python<'py>,
        words: &mut Words<'_, 'py>,
        changing: &[u64],
    ) -> PyResult<(Told, Vec<Own<'py>>)> {
        let look = Look { arguments: false, names: Some(&self.names), depth: 0 };
        let (mut told, mut own) = (vec![], vec![]);
        if let Some(object) = &self.object {
            words.address(object.bind(py));
        }
        for (number, value) in self.all(py)? {
            let tell = |into: &mut Words<'_, 'py>| match value {
                Some(value) => into.tell(&value, &look),
                None => {
                    into.kind(Kind::End);
                    Ok(())
                }
            };
            if changing.contains(&number) {
                let mut apart = Words::new(words.sorts, true);
                tell(&mut apart)?;
                words.unknown |= apart.unknown;
                own.push(Own { number, key: apart.key, held: apart.held });
            } else {
                let start = words.key.len();
                tell(words)?;
                told.push((number, start..words.key.len()));
            }
        }
        Ok((told, own))
    }

    /// Whether the thing of this number is the module that is called, with all that is in it.
    pub fn is_module(&self, py: Python<'_>, number: u64) -> PyResult<bool> {
        let others = (self.cells.len() + self.globals.len() + self.parts.len()) as u64;
        match &self.object {
            Some(object) if number == others => object.bind(py).is_instance(module_type(py)?),
            Some(_) | None => Ok(false),
        }
    }
}

/// What was told: a number for each thing, and its words.
pub type Told = Vec<(u64, Range<usize>)>;

/// A thing that the function changes in each run: its words, and what is told by its address.
pub struct Own<'py> {
    pub number: u64,
    pub key: Vec<u64>,
    pub held: Vec<Bound<'py, PyAny>>,
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

/// The names that code and the code within it uses.
fn names_of(code: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let mut names = vec![];
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
            }
        }
    }
    Ok(names)
}
