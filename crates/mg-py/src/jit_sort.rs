//! What kind of object something is, for those who tell steps apart by what is in them: asked of its type, once.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyCFunction, PyDict, PyFloat, PyFunction, PyInt, PyList, PyModule, PySet,
    PyString, PyTuple, PyType,
};

use crate::tensor::PyTensor;

/// What there is to tell of objects of a type.
#[derive(Clone)]
pub enum Sort {
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
pub struct Object {
    pub is_dataclass: bool,
    /// All that it is stands in its attributes: its class and those above it are written in Python.
    pub is_plain: bool,
    /// It can change, and is not looked into.
    pub is_unknown: bool,
    /// A kernel, whose gradient may be another one later.
    pub is_kernel: bool,
    pub is_optimizer: bool,
    /// Its class and those above it that a program has written, whose attributes are its own too.
    pub classes: Vec<Py<PyType>>,
    /// What it has in slots, not in a dictionary.
    pub slots: Vec<Interned>,
}

/// The name of an attribute.
pub struct Interned(pub Py<PyString>);

/// Types that were met, and what there is to tell of their objects: to ask each object anew takes most of a call's time.
#[derive(Default)]
pub struct Sorts(Mutex<Vec<(Py<PyType>, Sort)>>);

/// Types that are remembered.
const SORTS: usize = 64;

impl Sorts {
    pub fn of(&self, obj: &Bound<'_, PyAny>) -> PyResult<Sort> {
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
        // Of the type: what an object answers for names that it does not have may be long in coming.
        let class = obj.get_type();
        // Arrays and buffers are read when tensors are made of them, and may hold other numbers by then.
        let is_array =
            class.hasattr(intern!(py, "__array_interface__"))? || class.hasattr(intern!(py, "__dlpack__"))?;
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
        Ok(Object {
            is_plain: is_plain(&class)?,
            is_dataclass: class.hasattr(intern!(py, "__dataclass_fields__"))?,
            is_unknown: is_array || is_set || is_deque(obj)? || has_hidden_state(&class)?,
            is_kernel: class.hasattr(intern!(py, "_is_kernel"))?,
            is_optimizer: class.hasattr(intern!(py, "_is_optimizer"))?,
            classes: classes_of(&class)?.into_iter().map(Bound::unbind).collect(),
            slots,
        })
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

/// A class and those above it that a program has written.
pub fn classes_of<'py>(class: &Bound<'py, PyType>) -> PyResult<Vec<Bound<'py, PyType>>> {
    let mut classes = vec![];
    for class in class.mro().iter() {
        if let Ok(class) = class.cast_into::<PyType>()
            && is_of_a_program(&class.getattr(intern!(class.py(), "__module__"))?)?
        {
            classes.push(class);
        }
    }
    Ok(classes)
}

/// Whether code, or a class, of a Python module is a program's, and not the package's or the language's.
pub fn is_of_a_program(module: &Bound<'_, PyAny>) -> PyResult<bool> {
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

/// `nn.Module`.
pub fn module_type<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>> {
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let found = TYPE
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("micrograd_rs.nn")?.getattr("Module")?.unbind()))?;
    Ok(found.bind(py))
}

/// `contextvars.ContextVar`.
fn context_type<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>> {
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let found = TYPE
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("contextvars")?.getattr("ContextVar")?.unbind()))?;
    Ok(found.bind(py))
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
