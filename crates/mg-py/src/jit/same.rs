//! Whether what a replayed step takes for granted of Python is as it was when it was told: seen by identity, container by container, so that
//! the words for it need not be made again.

use std::sync::atomic::Ordering;

use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyList, PyModule, PyString, PyTuple};

use crate::jit::key::{Names, Words};
use crate::tensor::PyTensor;

/// How something that was told is seen to be what it was. Addresses are those of objects that whoever remembers this holds, or sees go.
pub enum Same {
    /// It is not: it has to be told again.
    Never,
    /// There is nothing.
    Nothing,
    /// It is looked at elsewhere.
    Known,
    /// It is this very object, in which nothing changes, or which is looked at where it was met first.
    Object(usize),
    /// It is this very object, which is this one of the objects and containers among the arguments: there it is told by what is in it.
    Given(usize, usize),
    /// It is this number or text, or one of the same type and value.
    Value(Py<PyAny>),
    /// It is an object of this type for the tensor of this number, which is also this one of the arguments, and has no attributes.
    Tensor(usize, usize, Option<usize>),
    Items(Box<Items>),
    Dict(Box<Entries>),
    Thing(Box<Thing>),
    Class(Box<Class>),
    Module(Box<Module>),
    Library(Box<Library>),
    Optimizer(Box<Optimizer>),
    /// Its words are these where it is told anew, so deep in something else.
    Told(Box<[u64]>, usize),
}

/// A tuple or list.
pub struct Items {
    pub class: usize,
    pub is_list: bool,
    /// Which of the containers among the arguments it is.
    pub given: Option<usize>,
    pub items: Vec<Same>,
    /// What it has in a dictionary of its own.
    pub attributes: Option<Same>,
}

/// A dictionary.
pub struct Entries {
    pub class: usize,
    pub given: Option<usize>,
    pub entries: Vec<(Same, Same)>,
    pub attributes: Option<Same>,
}

/// The entries of a dictionary of attributes, in its order: their names, and what stands there where that was told.
pub type Fields = Vec<(Py<PyAny>, Option<Same>)>;

/// An object, by what it has.
pub struct Thing {
    pub at: usize,
    pub class: usize,
    /// All classes that it is of, in their order, where some are a program's.
    pub order: Option<Py<PyTuple>>,
    pub classes: Vec<Same>,
    /// What it is asked for by name.
    pub parts: Vec<(Py<PyString>, Same)>,
    /// Variables of functions that a function was made in, which it has as long as it is.
    pub cells: Vec<(Py<PyAny>, Same)>,
    pub fields: Option<Fields>,
}

/// What a class has of its own.
pub struct Class {
    pub dict: Py<PyDict>,
    pub fields: Fields,
}

/// What a Python module has under some names.
pub struct Module {
    pub at: usize,
    pub entries: Vec<(Py<PyString>, Same)>,
}

/// What a library's Python module or class has under some names.
pub struct Library {
    /// Where it is, unless that is seen by something else.
    pub at: Option<usize>,
    pub dict: Py<PyDict>,
    /// How much it has: what comes to it may stand under a name that the code uses, before what a class above it has there.
    pub len: usize,
    pub entries: Vec<(Py<PyString>, Same)>,
}

/// An optimiser: its groups of parameters, and what else it has.
pub struct Optimizer {
    pub thing: Thing,
    pub groups: Vec<Vec<(Py<PyAny>, GroupOption)>>,
}

/// What is looked at of an entry of a group.
pub enum GroupOption {
    Left,
    /// A number, or some, that replays read: told apart.
    Rate,
    Told(Same),
}

impl Thing {
    /// An object of which nothing is known yet but who it is.
    pub fn of(obj: &Bound<'_, PyAny>) -> Thing {
        let (at, class) = (obj.as_ptr() as usize, obj.get_type_ptr() as usize);
        Thing { at, class, order: None, classes: vec![], parts: vec![], cells: vec![], fields: None }
    }

    /// It also has this under a name.
    pub fn has(mut self, name: &Bound<'_, PyString>, what: Same) -> Thing {
        self.parts.push((name.clone().unbind(), what));
        self
    }
}

/// The dictionary of an object, if it is where objects have theirs.
pub fn own_dict<'py>(obj: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    // SAFETY: an object that is held; what is answered with is a new reference, or none beside an error that is let go of here.
    let dict = unsafe {
        let dict = ffi::PyObject_GenericGetDict(obj.as_ptr(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_opt(obj.py(), dict)
    };
    if dict.is_none() {
        drop(PyErr::take(obj.py()));
    }
    dict?.cast_into::<PyDict>().ok()
}

/// An object's attribute; an error where it has none, or does not say.
fn attribute<'py>(obj: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: both are held; what is answered with is a new reference, or none beside an error.
    unsafe { Bound::from_owned_ptr_or_err(obj.py(), ffi::PyObject_GetAttr(obj.as_ptr(), name.as_ptr())) }
}

/// What a variable of a function that another was made in holds.
pub fn contents<'py>(cell: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    // A cell runs no code.
    attribute(cell, intern!(cell.py(), "cell_contents")).ok()
}

/// What is looked at while something is compared: the arguments of the call, and what attributes the function's code asks for.
pub struct Seeing<'a, 'b, 'py> {
    pub py: Python<'py>,
    pub words: &'a mut Words<'b, 'py>,
    pub names: Names<'a>,
}

impl<'py> Seeing<'_, '_, 'py> {
    /// The object at an address.
    fn object(&self, at: *mut ffi::PyObject) -> Bound<'py, PyAny> {
        // SAFETY: callers have the object from something that refers to it.
        unsafe { Bound::from_borrowed_ptr(self.py, at) }
    }

    /// Whether what stands in a container, or nowhere, is what it was.
    ///
    /// Safety: `obj` is null, or an object that something refers to until this returns or Python code runs.
    unsafe fn is(&mut self, same: &Same, obj: *mut ffi::PyObject) -> bool {
        if obj.is_null() {
            return matches!(same, Same::Nothing);
        }
        // SAFETY: by this function's contract.
        let class = unsafe { ffi::Py_TYPE(obj) } as usize;
        match same {
            Same::Never | Same::Nothing => false,
            Same::Known => true,
            Same::Object(at) => obj as usize == *at,
            Same::Given(at, given) => {
                obj as usize == *at && self.words.given_as(&self.object(obj)) == Some(*given)
            }
            Same::Value(value) => value.as_ptr() == obj || self.is_value(value, obj, class),
            Same::Tensor(of, id, argument) => {
                if class != *of {
                    return false;
                }
                let obj = self.object(obj);
                // SAFETY: it is of the type of a tensor that was told.
                let t = unsafe { obj.cast_unchecked::<PyTensor>() }.get();
                t.t.id() == *id
                    && !t.has_attributes.load(Ordering::Relaxed)
                    && self.words.argument(*id) == *argument
            }
            Same::Items(of) => class == of.class && self.are_items(of, obj),
            Same::Dict(of) => class == of.class && self.are_entries(of, obj),
            Same::Thing(of) => self.is_thing(of, obj, class),
            Same::Class(of) => {
                let dict = of.dict.bind(self.py).clone();
                self.are_fields(&of.fields, &dict)
            }
            Same::Module(of) => {
                if of.at != obj as usize {
                    return false;
                }
                let obj = self.object(obj);
                let Ok(module) = obj.cast::<PyModule>() else { return false };
                let dict = module.dict();
                of.entries.iter().all(|(name, same)| self.is_entry(same, &dict, name))
            }
            Same::Library(of) => {
                if of.at.is_some_and(|at| at != obj as usize) {
                    return false;
                }
                let dict = of.dict.bind(self.py).clone();
                of.len == dict.len() && of.entries.iter().all(|(name, same)| self.is_entry(same, &dict, name))
            }
            Same::Optimizer(of) => self.is_optimizer(of, obj, class),
            Same::Told(words, depth) => {
                let obj = self.object(obj);
                self.words.tells(&obj, self.names, *depth, words)
            }
        }
    }

    /// Whether an object that is held is what it was; `None` where nothing is there.
    pub fn is_held(&mut self, same: &Same, obj: Option<&Bound<'py, PyAny>>) -> bool {
        // SAFETY: it is held by the caller.
        unsafe { self.is(same, obj.map_or(std::ptr::null_mut(), Bound::as_ptr)) }
    }

    /// Whether what stands in a dictionary under a name is what it was.
    pub fn is_entry(&mut self, same: &Same, dict: &Bound<'py, PyDict>, name: &Py<PyString>) -> bool {
        let look = || {
            // SAFETY: both are held; texts are compared without running any code, so that the dictionary keeps what it answers with.
            let found = unsafe { ffi::PyDict_GetItemWithError(dict.as_ptr(), name.as_ptr()) };
            match same {
                // What it is alone is asked of most.
                Same::Nothing => found.is_null(),
                Same::Object(at) => found as usize == *at,
                _ if found.is_null() => false,
                _ => {
                    let found = self.object(found);
                    self.is_held(same, Some(&found))
                }
            }
        };
        // Where there is no interpreter's lock, the dictionary's own keeps others from taking out what was found.
        with_critical_section(dict, look)
    }

    fn is_value(&self, value: &Py<PyAny>, obj: *mut ffi::PyObject, class: usize) -> bool {
        let value = value.bind(self.py);
        if value.get_type_ptr() as usize != class {
            return false;
        }
        let obj = self.object(obj);
        if let (Ok(a), Ok(b)) = (value.cast_exact::<PyFloat>(), obj.cast_exact::<PyFloat>()) {
            return a.value().to_bits() == b.value().to_bits();
        }
        // These compare themselves without running code of anybody's.
        let is_plain = value.is_exact_instance_of::<PyInt>()
            || value.is_exact_instance_of::<PyString>()
            || value.is_exact_instance_of::<PyBytes>();
        is_plain && value.eq(&obj).unwrap_or(false)
    }

    fn are_items(&mut self, of: &Items, obj: *mut ffi::PyObject) -> bool {
        let obj = self.object(obj);
        if of.is_list && self.words.given_as(&obj) != of.given {
            return false;
        }
        let are = with_critical_section(&obj, || {
            // SAFETY: a tuple, or a list, of at least as many items as are asked for, by its type and size; each is held while it is looked at.
            unsafe {
                let len = match of.is_list {
                    true => ffi::PyList_Size(obj.as_ptr()),
                    false => ffi::PyTuple_Size(obj.as_ptr()),
                };
                len as usize == of.items.len()
                    && of.items.iter().enumerate().all(|(i, same)| {
                        let item = match of.is_list {
                            true => ffi::PyList_GetItem(obj.as_ptr(), i as isize),
                            false => ffi::PyTuple_GetItem(obj.as_ptr(), i as isize),
                        };
                        self.is_in(same, item)
                    })
            }
        });
        are && self.has_attributes(&of.attributes, &obj)
    }

    fn are_entries(&mut self, of: &Entries, obj: *mut ffi::PyObject) -> bool {
        let obj = self.object(obj);
        if self.words.given_as(&obj) != of.given {
            return false;
        }
        let mut known = of.entries.iter();
        let are = self.all_of(&obj, |seeing, key, value| {
            // Both are held: what compares the one may take the other out.
            let (key, value) = (seeing.object(key), seeing.object(value));
            known.next().is_some_and(|(name, what)| {
                seeing.is_held(name, Some(&key)) && seeing.is_held(what, Some(&value))
            })
        });
        are && known.next().is_none() && self.has_attributes(&of.attributes, &obj)
    }

    /// Whether all entries of a dictionary are so.
    fn all_of(
        &mut self,
        dict: &Bound<'py, PyAny>,
        mut is: impl FnMut(&mut Self, *mut ffi::PyObject, *mut ffi::PyObject) -> bool,
    ) -> bool {
        with_critical_section(dict, || {
            let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
            // SAFETY: a dictionary that is held. If it changes on the way, the next entry may be any of it.
            while unsafe { ffi::PyDict_Next(dict.as_ptr(), &mut at, &mut key, &mut value) } != 0 {
                if !is(self, key, value) {
                    return false;
                }
            }
            true
        })
    }

    /// As [`Seeing::is`], for what stands in a container: where code may run meanwhile, it is held.
    ///
    /// Safety: as there.
    unsafe fn is_in(&mut self, same: &Same, obj: *mut ffi::PyObject) -> bool {
        match same {
            Same::Object(_)
            | Same::Given(..)
            | Same::Value(_)
            | Same::Tensor(..)
            | Same::Never
            | Same::Known
            | Same::Nothing => {
                // SAFETY: by this function's contract.
                unsafe { self.is(same, obj) }
            }
            _ if obj.is_null() => false,
            _ => {
                let obj = self.object(obj);
                self.is_held(same, Some(&obj))
            }
        }
    }

    /// Whether a dictionary of attributes has these, in this order.
    fn are_fields(&mut self, fields: &Fields, dict: &Bound<'py, PyDict>) -> bool {
        let mut known = fields.iter();
        let are = self.all_of(dict.as_any(), |seeing, key, value| {
            let Some((name, what)) = known.next() else { return false };
            // Names of attributes are one object each.
            name.as_ptr() == key
                && match what {
                    // SAFETY: the dictionary holds it.
                    Some(same) => unsafe { seeing.is_in(same, value) },
                    None => true,
                }
        });
        are && known.next().is_none()
    }

    fn has_attributes(&mut self, attributes: &Option<Same>, obj: &Bound<'py, PyAny>) -> bool {
        match attributes {
            None => true,
            Some(same) => {
                let found = self.words.found(self.py, attribute(obj, intern!(self.py, "__dict__")));
                self.is_held(same, found.as_ref())
            }
        }
    }

    fn is_thing(&mut self, of: &Thing, obj: *mut ffi::PyObject, class: usize) -> bool {
        if of.at != obj as usize || of.class != class {
            return false;
        }
        let obj = self.object(obj);
        // One that is given as well is another thing.
        if self.words.given_as(&obj).is_some() {
            return false;
        }
        if of.order.as_ref().is_some_and(|order| !obj.get_type().mro().is(order)) {
            return false;
        }
        // SAFETY: what a class is told by does not look at an object.
        if !of.classes.iter().all(|same| unsafe { self.is(same, obj.as_ptr()) }) {
            return false;
        }
        for (name, same) in &of.parts {
            let found = self.words.found(self.py, attribute(&obj, name.bind(self.py)));
            if !self.is_held(same, found.as_ref()) {
                return false;
            }
        }
        for (cell, same) in &of.cells {
            // A function has its variables as long as it is.
            let found = contents(cell.bind(self.py));
            if !self.is_held(same, found.as_ref()) {
                return false;
            }
        }
        match &of.fields {
            None => true,
            Some(fields) => own_dict(&obj).is_some_and(|dict| self.are_fields(fields, &dict)),
        }
    }

    fn is_optimizer(&mut self, of: &Optimizer, obj: *mut ffi::PyObject, class: usize) -> bool {
        let held = self.object(obj);
        // Its groups first: to ask for them has it take in what was changed.
        let groups = attribute(&held, intern!(self.py, "param_groups"));
        let Some(groups) = self.words.found(self.py, groups) else { return false };
        if !self.is_thing(&of.thing, obj, class) {
            return false;
        }
        let Ok(groups) = groups.cast::<PyList>() else { return false };
        groups.len() == of.groups.len()
            && groups.iter().zip(&of.groups).all(|(group, known)| self.is_group(known, &group))
    }

    fn is_group(&mut self, of: &[(Py<PyAny>, GroupOption)], group: &Bound<'py, PyAny>) -> bool {
        if !group.is_instance_of::<PyDict>() {
            return false;
        }
        let mut known = of.iter();
        let are = self.all_of(group, |seeing, key, value| {
            let Some((name, what)) = known.next() else { return false };
            let (key, value) = (seeing.object(key), seeing.object(value));
            if !name.is(&key) && !seeing.is_value(name, key.as_ptr(), key.get_type_ptr() as usize) {
                return false;
            }
            match what {
                GroupOption::Left => true,
                GroupOption::Rate => {
                    let is_one =
                        value.is_exact_instance_of::<PyFloat>() || value.is_exact_instance_of::<PyTuple>();
                    let told = is_one.then(|| seeing.words.rate(&value, seeing.names));
                    told.is_some_and(|told| seeing.words.found(seeing.py, told).is_some())
                }
                GroupOption::Told(same) => seeing.is_held(same, Some(&value)),
            }
        });
        are && known.next().is_none()
    }
}

impl Same {
    /// Shows the collector what is held.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let fields = |fields: &Fields| {
            fields.iter().try_for_each(|(name, same)| {
                visit.call(name)?;
                same.iter().try_for_each(|same| same.traverse(visit))
            })
        };
        let thing = |of: &Thing| {
            visit.call(&of.order)?;
            of.classes.iter().try_for_each(|same| same.traverse(visit))?;
            of.parts.iter().try_for_each(|(_, same)| same.traverse(visit))?;
            of.cells.iter().try_for_each(|(cell, same)| {
                visit.call(cell)?;
                same.traverse(visit)
            })?;
            of.fields.iter().try_for_each(fields)
        };
        match self {
            Same::Never
            | Same::Nothing
            | Same::Known
            | Same::Object(_)
            | Same::Given(..)
            | Same::Tensor(..)
            | Same::Told(..) => Ok(()),
            Same::Value(value) => visit.call(value),
            Same::Items(of) => {
                of.items.iter().chain(&of.attributes).try_for_each(|same| same.traverse(visit))
            }
            Same::Dict(of) => {
                of.entries.iter().try_for_each(|(a, b)| {
                    a.traverse(visit)?;
                    b.traverse(visit)
                })?;
                of.attributes.iter().try_for_each(|same| same.traverse(visit))
            }
            Same::Thing(of) => thing(of),
            Same::Class(of) => {
                visit.call(&of.dict)?;
                fields(&of.fields)
            }
            Same::Module(of) => of.entries.iter().try_for_each(|(_, same)| same.traverse(visit)),
            Same::Library(of) => {
                visit.call(&of.dict)?;
                of.entries.iter().try_for_each(|(_, same)| same.traverse(visit))
            }
            Same::Optimizer(of) => {
                thing(&of.thing)?;
                of.groups.iter().flatten().try_for_each(|(name, what)| {
                    visit.call(name)?;
                    match what {
                        GroupOption::Left | GroupOption::Rate => Ok(()),
                        GroupOption::Told(same) => same.traverse(visit),
                    }
                })
            }
        }
    }
}
