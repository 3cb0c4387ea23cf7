//! What kind of object something is, for those who tell steps apart by what is in them: asked of its type, once.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyBaseException;
use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyCFunction, PyDict, PyFloat, PyFrozenSet, PyFunction, PyInt, PyList,
    PyModule, PySet, PyString, PyTuple, PyType, PyWeakrefReference,
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
    /// A tuple, list, set or queue, and whether it has attributes besides.
    Tuple(bool),
    List(bool),
    Items(bool),
    Dict(bool),
    /// A dictionary that cannot be written to by way of this.
    Proxy,
    /// Bytes that can change.
    Buffer,
    /// A number of NumPy's.
    Scalar,
    /// An array of NumPy's.
    Array,
    /// Classes and modules.
    Code,
    Function,
    /// What is written in another language: of a module, or of an object.
    Builtin,
    /// A function of an object: that, and which.
    Method,
    /// What stands for something else, under these names.
    Around(&'static [&'static str]),
    /// A function that remembers its answers.
    Cached,
    Context,
    /// A reference that lets go.
    Weak,
    Module(Arc<Object>),
    Object(Arc<Object>),
}

/// Of objects that are none of the others.
pub struct Object {
    pub is_dataclass: bool,
    /// All that it is stands in its attributes: its class and those above it are written in Python.
    pub is_plain: bool,
    /// It can change, and is not looked into: it is written in something else than Python, and nothing more is known of it.
    pub is_unknown: bool,
    /// A kernel, whose gradient may be another one later.
    pub is_kernel: bool,
    pub is_optimizer: bool,
    /// Whether somebody holds it is asked of it.
    pub is_lock: bool,
    /// The package's own code, or the language's, computes with what is in it, under names that no program's code has.
    pub is_used_by_others: bool,
    /// Its class and those above it that a program has written, whose attributes are its own too.
    pub classes: Vec<Py<PyType>>,
    /// All classes that it is of, in their order, where some are a program's: these may come to stand below others.
    pub order: Option<Py<PyTuple>>,
    /// Those of the package that it is of: a program may put its own functions in place of theirs.
    pub of_package: Vec<Py<PyType>>,
    /// What it has in slots, not in a dictionary.
    pub slots: Vec<Interned>,
    /// The fields of a dataclass, and what patterns ask for by position.
    pub fields: Vec<String>,
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
        // Most of what there is.
        if std::ptr::eq(class, &raw const ffi::PyUnicode_Type) {
            return Ok(Sort::Text);
        }
        // Held for moments only: what Python may run is asked without it.
        let known = |all: &mut [(Py<PyType>, Sort)]| {
            let at = all.iter().position(|(t, _)| std::ptr::eq(t.as_ptr().cast(), class))?;
            let sort = all[at].1.clone();
            // What is asked for often comes to stand in front.
            all.swap(at, at.saturating_sub(1));
            Some(sort)
        };
        let sort = known(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(sort) = sort
            && sort.is_of_now(obj)
        {
            return Ok(sort);
        }
        let sort = Sort::of(obj)?;
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, of_before)) = all.iter_mut().find(|(t, _)| std::ptr::eq(t.as_ptr().cast(), class)) {
            let before = std::mem::replace(of_before, sort.clone());
            // What it held may run a program's code when it is let go.
            drop(all);
            drop(before);
        } else if all.len() < SORTS {
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
    /// Whether the classes above that of an object are still those that it was asked of.
    fn is_of_now(&self, obj: &Bound<'_, PyAny>) -> bool {
        match self {
            Sort::Module(of) | Sort::Object(of) => {
                of.order.as_ref().is_none_or(|order| obj.get_type().mro().is(order))
            }
            Sort::Tensor
            | Sort::None
            | Sort::Bool
            | Sort::Int
            | Sort::Float
            | Sort::Text
            | Sort::Bytes
            | Sort::Tuple(_)
            | Sort::List(_)
            | Sort::Items(_)
            | Sort::Dict(_)
            | Sort::Proxy
            | Sort::Buffer
            | Sort::Scalar
            | Sort::Array
            | Sort::Code
            | Sort::Function
            | Sort::Builtin
            | Sort::Method
            | Sort::Around(_)
            | Sort::Cached
            | Sort::Context
            | Sort::Weak => true,
        }
    }

    /// Asked anew.
    pub fn of(obj: &Bound<'_, PyAny>) -> PyResult<Sort> {
        let py = obj.py();
        let class = obj.get_type();
        let has_attributes = || Ok::<_, PyErr>(obj.getattr_opt(intern!(py, "__dict__"))?.is_some());
        let is = |module: &str, name: &str| is_type_named(&class, module, name);
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
            Sort::Tuple(has_attributes()?)
        } else if obj.is_instance_of::<PyList>() {
            Sort::List(has_attributes()?)
        } else if obj.is_instance_of::<PyDict>() {
            Sort::Dict(has_attributes()?)
        } else if obj.is_instance_of::<PySet>() || obj.is_instance_of::<PyFrozenSet>() || is_deque(obj)? {
            Sort::Items(has_attributes()?)
        } else if is("builtins", "mappingproxy")? {
            Sort::Proxy
        } else if obj.is_instance_of::<PyByteArray>() {
            Sort::Buffer
        } else if is_numpy(&class, "generic")? {
            Sort::Scalar
        } else if is_numpy(&class, "ndarray")? {
            Sort::Array
        } else if obj.is_instance_of::<PyFunction>() {
            Sort::Function
        } else if is("builtins", "method")? || is("builtins", "method-wrapper")? {
            Sort::Method
        } else if obj.is_instance_of::<PyCFunction>() {
            Sort::Builtin
        } else if is_code(obj) {
            Sort::Code
        } else if is("functools", "partial")? {
            Sort::Around(&["func", "args", "keywords"])
        } else if is("builtins", "staticmethod")? || is("builtins", "classmethod")? {
            Sort::Around(&["__func__"])
        } else if is("builtins", "property")? {
            Sort::Around(&["fget"])
        } else if is("functools", "_lru_cache_wrapper")? {
            Sort::Cached
        } else if obj.is_instance_of::<PyWeakrefReference>() {
            Sort::Weak
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

pub fn is_type_named(class: &Bound<'_, PyType>, module: &str, name: &str) -> PyResult<bool> {
    Ok(class.name()? == name && class.getattr(intern!(class.py(), "__module__"))?.eq(module)?)
}

/// Whether a class is NumPy's of this name, or below it.
fn is_numpy(class: &Bound<'_, PyType>, name: &str) -> PyResult<bool> {
    for class in class.mro().iter() {
        if is_type_named(&class.cast_into::<PyType>()?, "numpy", name)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Object {
    fn of(obj: &Bound<'_, PyAny>) -> PyResult<Object> {
        let py = obj.py();
        // Of the type: what an object answers for names that it does not have may be long in coming.
        let class = obj.get_type();
        let is_kernel = class.hasattr(intern!(py, "_is_kernel"))?;
        let order = class.mro();
        let classes: Vec<_> = classes_of(&class)?.into_iter().map(Bound::unbind).collect();
        Ok(Object {
            is_plain: is_plain(&class)?,
            is_dataclass: class.hasattr(intern!(py, "__dataclass_fields__"))?,
            is_unknown: has_hidden_state(&class)?,
            is_kernel,
            is_lock: is_type_named(&class, "_thread", "lock")? || is_type_named(&class, "_thread", "RLock")?,
            is_optimizer: class.hasattr(intern!(py, "_is_optimizer"))?,
            // Of a kernel, its function is all.
            is_used_by_others: !is_kernel && is_used_by_others(&class)?,
            order: (!classes.is_empty()).then(|| order.unbind()),
            classes,
            of_package: classes_where(&class, is_class_of_the_package)?
                .into_iter()
                .map(Bound::unbind)
                .collect(),
            fields: fields_of(&class)?,
            slots: slots_of(&class)?.into_iter().map(|name| Interned(name.unbind())).collect(),
        })
    }
}

/// The names of a dataclass's fields, and of what patterns ask objects of a class for by position.
fn fields_of(class: &Bound<'_, PyType>) -> PyResult<Vec<String>> {
    let py = class.py();
    let mut names = vec![];
    for name in [intern!(py, "__dataclass_fields__"), intern!(py, "__match_args__")] {
        // Looked up in the classes: what a class of classes answers for names that it does not have may be an error.
        for above in class.mro().iter() {
            let Ok(own) = above.getattr(intern!(py, "__dict__"))?.get_item(name) else { continue };
            for field in own.try_iter()? {
                names.extend(field?.extract::<String>());
            }
        }
    }
    Ok(names)
}

/// Whether a class, or one above it, is the package's or the language's, whose code computes with what is in their objects. (Of loggers, paths and
/// the like a program sees nothing but what it asks for, or their own code that was seen to run.)
fn is_used_by_others(class: &Bound<'_, PyType>) -> PyResult<bool> {
    for class in class.mro().iter() {
        let class = class.cast_into::<PyType>()?;
        let module = class.getattr(intern!(class.py(), "__module__"))?.str()?;
        let module = module.to_string_lossy();
        let is_looked_through = matches!(
            module.split('.').next().unwrap_or_default(),
            "builtins" | "logging" | "pathlib" | "typing" | "abc" | "contextlib" | "numpy"
        );
        if !is_looked_through && !is_class_of_a_program(&class)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The names under which objects of a class are asked for what they have in slots.
pub fn slots_of<'py>(class: &Bound<'py, PyType>) -> PyResult<Vec<Bound<'py, PyString>>> {
    let py = class.py();
    let mut slots = vec![];
    for class in class.mro().iter() {
        let class = class.cast_into::<PyType>()?;
        let Ok(names) = class.getattr(intern!(py, "__dict__"))?.get_item(intern!(py, "__slots__")) else {
            continue;
        };
        let one = names.is_instance_of::<PyString>();
        let all = if one { PyTuple::new(py, [names])?.into_any() } else { names };
        for name in all.try_iter()? {
            let name = name?.cast_into::<PyString>()?;
            let text = name.to_string_lossy();
            // As within the class statement.
            let is_private = text.starts_with("__") && !text.ends_with("__");
            match &*text {
                "__dict__" | "__weakref__" => {}
                _ if is_private => {
                    let of = class.name()?.to_string_lossy().trim_start_matches('_').to_owned();
                    slots.push(PyString::new(py, &format!("_{of}{text}")));
                }
                _ => slots.push(name),
            }
        }
    }
    Ok(slots)
}

/// Whether objects of a class may change without any of their attributes changing: they are written in something else than Python, in
/// part at least, and are none of those that are known not to. Iterators, generators of random numbers, buffers, references
/// that let go, what stands for another object.
fn has_hidden_state(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    if class.hasattr(intern!(py, "__next__"))? && !class.hasattr(intern!(py, "writable"))? {
        return Ok(true);
    }
    let is_array =
        class.hasattr(intern!(py, "__array_interface__"))? || class.hasattr(intern!(py, "__dlpack__"))?;
    if is_array {
        return Ok(true);
    }
    for above in class.mro().iter() {
        let above = above.cast_into::<PyType>()?;
        if !is_written_in_python(&above)? && !is_constant_type(&above)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether what objects of a type are, beside their attributes, is the same for ever, or nothing that a step computes with: a type that is
/// not written in Python.
fn is_constant_type(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    if class.is_subclass_of::<PyBaseException>()? {
        return Ok(true);
    }
    let (module, name) = (class.getattr(intern!(py, "__module__"))?, class.name()?);
    let (module, name) = (module.str()?.to_string_lossy().into_owned(), name.to_string_lossy().into_owned());
    let top = module.split('.').next().unwrap_or_default();
    Ok(match top {
        // Numbers of the scalar engine are changed by whoever has them; the others keep something of the host's.
        "micrograd_rs" => !matches!(
            &*name,
            "Value" | "Neuron" | "Layer" | "MLP" | "_Bar" | "_History" | "_EventWriter" | "_Schedule"
        ),
        "builtins" => matches!(
            &*name,
            "object"
                | "int"
                | "float"
                | "complex"
                | "str"
                | "bytes"
                | "bool"
                | "range"
                | "slice"
                | "ellipsis"
                | "NotImplementedType"
                | "code"
                | "getset_descriptor"
                | "member_descriptor"
                | "method_descriptor"
                | "classmethod_descriptor"
                | "wrapper_descriptor"
        ),
        "numpy" => {
            matches!(&*name, "dtype" | "ufunc" | "_ArrayFunctionDispatcher") || module == "numpy.dtypes"
        }
        "torch" => matches!(&*name, "dtype" | "device" | "layout" | "memory_format"),
        // What is local to a thread stands in attributes, which are those of the thread that asks.
        "_thread" => matches!(&*name, "lock" | "RLock" | "_local"),
        "operator" => name == "itemgetter",
        "decimal" => name == "Decimal",
        "types" => matches!(&*name, "GenericAlias" | "UnionType" | "SimpleNamespace"),
        "_io" => !matches!(&*name, "BytesIO" | "StringIO"),
        "datetime" | "re" | "_struct" | "typing" | "_typing" | "_abc" | "ast" | "_ast" | "zoneinfo" => true,
        _ => false,
    })
}

/// A class and those above it that a program has written.
pub fn classes_of<'py>(class: &Bound<'py, PyType>) -> PyResult<Vec<Bound<'py, PyType>>> {
    classes_where(class, is_class_of_a_program)
}

/// Whether a program has written a class.
fn is_class_of_a_program(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let module = class.getattr(intern!(class.py(), "__module__"))?;
    // A class that `exec` has made from a text says so, too.
    let is_made = || Ok::<_, PyErr>(module.eq("builtins")? && is_on_the_heap(class)?);
    Ok(is_of_a_program(&module)? || is_made()?)
}

/// A class and those above it that are of a kind.
fn classes_where<'py>(
    class: &Bound<'py, PyType>,
    is_kind: impl Fn(&Bound<'py, PyType>) -> PyResult<bool>,
) -> PyResult<Vec<Bound<'py, PyType>>> {
    let mut classes = vec![];
    for class in class.mro().iter() {
        if let Ok(class) = class.cast_into::<PyType>()
            && is_kind(&class)?
        {
            classes.push(class);
        }
    }
    Ok(classes)
}

fn is_class_of_the_package(class: &Bound<'_, PyType>) -> PyResult<bool> {
    is_the_packages(&class.getattr(intern!(class.py(), "__module__"))?)
}

/// Whether code, or a class, of a Python module is the package's.
pub fn is_the_packages(module: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Ok(module) = module.cast::<PyString>() else { return Ok(false) };
    let module = module.to_string_lossy();
    Ok(matches!(module.split('.').next(), Some("micrograd_rs" | "_micrograd_rs")))
}

/// Whether code, or a class, of a Python module is a program's, and not the package's or the language's.
pub fn is_of_a_program(module: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = module.py();
    let Ok(name) = module.cast::<PyString>() else { return Ok(true) };
    let name = name.to_string_lossy();
    let top = name.split('.').next().unwrap_or_default();
    if matches!(top, "micrograd_rs" | "numpy" | "builtins") {
        return Ok(false);
    }
    let language = Language::known(py)?;
    // `__main__` is among them in no version.
    if !language.names.bind(py).contains(top)? {
        return Ok(true);
    }
    // A program may have a file of the same name, and then it is that which is imported.
    let file = match language.modules.bind(py).get_item(top)? {
        Some(module) => module.getattr_opt(intern!(py, "__file__"))?,
        None => None,
    };
    match file.as_ref().map(|file| file.cast::<PyString>()) {
        Some(Ok(file)) => Ok(!file.to_string_lossy().starts_with(&language.home)),
        Some(Err(_)) | None => Ok(false),
    }
}

/// What is known of the language.
pub struct Language {
    /// The names of its own modules, and where they lie.
    names: Py<PyAny>,
    home: String,
    /// All modules that were imported.
    modules: Py<PyDict>,
}

impl Language {
    /// All modules that were imported, by name.
    pub fn modules<'py>(&self, py: Python<'py>) -> &Bound<'py, PyDict> {
        self.modules.bind(py)
    }

    /// Looked for once, and not while another function's frame is the innermost: that may have no `__import__`.
    pub fn known(py: Python<'_>) -> PyResult<&Language> {
        static KNOWN: PyOnceLock<Language> = PyOnceLock::new();
        KNOWN.get_or_try_init(py, || {
            let sys = py.import("sys")?;
            let file: String = py.import("os")?.getattr("__file__")?.extract()?;
            let end = file.rfind(['/', '\\']).unwrap_or(file.len());
            Ok(Language {
                names: sys.getattr("stdlib_module_names")?.unbind(),
                home: file[..end].to_owned(),
                modules: sys.getattr("modules")?.cast_into::<PyDict>()?.unbind(),
            })
        })
    }
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
        if !class.is(&object) && !is_written_in_python(&class.cast_into::<PyType>()?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a type was made while the program runs.
fn is_on_the_heap(class: &Bound<'_, PyType>) -> PyResult<bool> {
    const HEAP: u64 = 1 << 9;
    Ok(class.getattr(intern!(class.py(), "__flags__"))?.extract::<u64>()? & HEAP != 0)
}

/// Whether a class adds nothing to those above it but what a class statement adds.
fn is_written_in_python(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    if !is_on_the_heap(class)? {
        return Ok(false);
    }
    let own = class.getattr(intern!(py, "__dict__"))?;
    let has = |name: &str| own.contains(name);
    let base = class.getattr(intern!(py, "__base__"))?;
    let sizes = |class: &Bound<'_, PyAny>| class.getattr(intern!(py, "__basicsize__"))?.extract::<usize>();
    let slots = match own.get_item(intern!(py, "__slots__")) {
        Ok(slots) if slots.is_instance_of::<PyString>() => 1,
        Ok(slots) => slots.len()?,
        Err(_) => 0,
    };
    // Slots, and a dictionary and weak references where there were none.
    let written_in_python = match base.is(py.get_type::<PyAny>()) {
        true => has("__weakref__")? || has("__slots__")?,
        false => true,
    };
    let most = size_of::<usize>() * (slots + 2);
    Ok(written_in_python && sizes(class)?.saturating_sub(sizes(&base)?) <= most)
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
