//! What is told of objects that hold others: functions, methods, modules, optimisers, classes, and what of libraries code names.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyModule, PyString, PyTuple, PyType};

use super::{ANY_FIELD, ANY_KEY, DEPTH, Kind, Look, Words, hash_of};
use crate::error::there;
use crate::jit::same::{
    Class, Fields, GroupOption, Library, Module, Optimizer, Same, Thing, contents, own_dict,
};
use crate::jit::sort::{Object, classes_of, is_code, is_of_a_program, is_the_packages};

/// What calls, operators and the language itself ask a library's class for most, without any code that names it. (A program's own class is
/// asked for all that they may.)
const UNNAMED: [&str; 14] = [
    "forward",
    "__call__",
    "__getattr__",
    "__getattribute__",
    "__getitem__",
    "__len__",
    "__iter__",
    "__contains__",
    "__bool__",
    "__enter__",
    "__exit__",
    "__add__",
    "__mul__",
    "__matmul__",
];

/// Whether a class's attribute is what slots and dictionaries of its objects are found by.
fn is_descriptor(value: &Bound<'_, PyAny>) -> bool {
    let name = value.get_type().name();
    name.is_ok_and(|name| matches!(&*name.to_string_lossy(), "member_descriptor" | "getset_descriptor"))
}

/// Whether something that stands in a class is what it is for ever: how methods and attributes of its objects are found.
fn is_fixed(value: &Bound<'_, PyAny>) -> bool {
    let name = value.get_type().name();
    name.is_ok_and(|name| {
        let name = name.to_string_lossy();
        name.ends_with("_descriptor") || matches!(&*name, "property" | "staticmethod" | "classmethod")
    })
}

/// The dictionary of a class's own attributes: what it shows is not that, but refers to it.
fn dict_of_class<'py>(class: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let shown = class.getattr(intern!(class.py(), "__dict__"))?;
    let referents = class.py().import("gc")?.call_method1(intern!(class.py(), "get_referents"), (&shown,))?;
    Ok(referents.get_item(0).ok().and_then(|dict| dict.cast_into_exact::<PyDict>().ok()))
}

impl<'py> Words<'_, 'py> {
    /// A method of an object.
    pub(super) fn method(
        &mut self,
        obj: &Bound<'py, PyAny>,
        of: &Bound<'py, PyAny>,
        look: &Look,
    ) -> PyResult<Same> {
        self.kind(Kind::Method);
        // One that is not written in Python is found by its name.
        match obj.getattr_opt(intern!(obj.py(), "__func__"))? {
            Some(function) => self.tell(&function, &look.outside())?,
            None => self.tell(&obj.getattr(intern!(obj.py(), "__name__"))?, &look.deeper())?,
        };
        self.tell(of, &look.outside())?;
        self.seen_again(obj, look)
    }

    /// A function: which one, and what it has of its own, the variables of functions that it was made in among that.
    pub(super) fn function(&mut self, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<Same> {
        let py = obj.py();
        let same = self.object_at(obj);
        // It may be given other code.
        let code = obj.getattr(intern!(py, "__code__"))?;
        self.address(&code);
        let is_looked_at = obj.getattr_opt(intern!(py, "__closure__"))?;
        let names = [intern!(py, "__defaults__"), intern!(py, "__kwdefaults__"), intern!(py, "__dict__")];
        let of_its_own = [obj.getattr(names[0])?, obj.getattr(names[1])?, obj.getattr(names[2])?];
        let is_simple = is_looked_at.as_ref().is_none_or(Bound::is_none)
            && of_its_own[..2].iter().all(Bound::is_none)
            && of_its_own[2].is_empty()?;
        let mut thing = Thing::of(obj).has(intern!(py, "__code__"), Same::Object(code.as_ptr() as usize));
        if is_simple {
            // As long as it is.
            for (name, own) in names.iter().zip(&of_its_own).take(2) {
                thing = thing.has(name, Same::Object(own.as_ptr() as usize));
            }
            thing.fields = Some(vec![]);
            return Ok(Same::Thing(Box::new(thing)));
        }
        if self.is_met(obj) {
            return Ok(same);
        }
        let inside = look.outside();
        if let Some(cells) = is_looked_at.filter(|cells| !cells.is_none()) {
            for cell in cells.cast::<PyTuple>()?.iter() {
                let told = match contents(&cell) {
                    Some(held) => self.tell(&held, &inside)?,
                    // Nothing yet.
                    None => {
                        self.kind(Kind::End);
                        Same::Nothing
                    }
                };
                thing.cells.push((cell.unbind(), told));
            }
        }
        for (name, own) in names.iter().zip(&of_its_own) {
            let told = self.tell(own, &inside)?;
            thing = thing.has(name, told);
        }
        self.kind(Kind::End);
        Ok(Same::Thing(Box::new(thing)))
    }

    /// What is about other things, which it has under names.
    pub(super) fn around(&mut self, obj: &Bound<'py, PyAny>, names: &[&str], look: &Look) -> PyResult<Same> {
        self.object_at(obj);
        let mut thing = Thing::of(obj);
        for name in names {
            let name = PyString::intern(obj.py(), name);
            let told = self.tell(&obj.getattr(&name)?, &look.outside())?;
            thing = thing.has(&name, told);
        }
        let attributes = obj.getattr_opt(intern!(obj.py(), "__dict__"))?;
        if let Some(told) = self.attributes_if(attributes.is_some(), obj, look)? {
            thing = thing.has(intern!(obj.py(), "__dict__"), told);
        }
        Ok(Same::Thing(Box::new(thing)))
    }

    /// An argument that is all in its attributes: by its class and what is in them, whichever object it is.
    fn plain(&mut self, obj: &Bound<'py, PyAny>, look: &Look, of: &Object) -> PyResult<Same> {
        let py = obj.py();
        let class = obj.get_type();
        self.kind(Kind::Fields);
        self.address(class.as_any());
        if self.is_met(obj) {
            return Ok(Same::Never);
        }
        self.given.push(obj.clone());
        self.classes(obj, of, &look.outside())?;
        for name in &of.slots {
            match there(py, obj.getattr(name.0.bind(py)))? {
                Some(value) => drop(self.tell(&value, &look.deeper())?),
                None => self.kind(Kind::End),
            }
        }
        if let Some(attributes) = there(py, obj.getattr(intern!(py, "__dict__")))?
            && let Ok(attributes) = attributes.cast_into::<PyDict>()
        {
            for (name, value) in attributes.copy()?.iter() {
                self.tell(&name, &look.deeper())?;
                self.tell(&value, &look.deeper())?;
            }
        }
        self.kind(Kind::End);
        Ok(Same::Never)
    }

    /// A module, or an object of another kind.
    pub(super) fn object(
        &mut self,
        obj: &Bound<'py, PyAny>,
        look: &Look,
        of: &Object,
        is_module: bool,
    ) -> PyResult<Same> {
        let py = obj.py();
        if look.arguments && !is_module && of.is_plain {
            return self.plain(obj, look, of);
        }
        if look.arguments && !is_module && of.is_dataclass {
            let class = obj.get_type();
            self.kind(Kind::Fields);
            self.address(class.as_any());
            self.classes(obj, of, &look.outside())?;
            let fields = class.getattr(intern!(py, "__dataclass_fields__"))?;
            for name in fields.try_iter()? {
                let name = name?;
                let value = obj.getattr(name.cast::<PyString>()?)?;
                self.tell(&value, &look.deeper())?;
            }
            self.kind(Kind::End);
            let has_attributes = obj.getattr_opt(intern!(py, "__dict__"))?.is_some();
            self.attributes_if(has_attributes, obj, look)?;
            return Ok(Same::Never);
        }
        let asks = |name: &str| look.names.is_some_and(|names| names.contains(name));
        let is_held = || of.is_lock && ["locked", "acquire", "_is_owned"].into_iter().any(asks);
        if (of.is_unknown || is_held()) && !is_module {
            self.is_unknown(obj)?;
        }
        self.kind(if is_module { Kind::Module } else { Kind::Object });
        self.address(obj);
        if self.is_met(obj) {
            let at = obj.as_ptr() as usize;
            return Ok(self.given_as(obj).map_or(Same::Object(at), |given| Same::Given(at, given)));
        }
        let inside = look.outside();
        let mut thing = Thing::of(obj);
        thing.order = of.order.as_ref().map(|order| order.clone_ref(py));
        thing.classes = self.classes(obj, of, &inside)?;
        for class in &of.of_package {
            // The object has been seen to be of it.
            thing.classes.push(self.of_library(class.bind(py).as_any(), None, &inside)?);
        }
        if of.is_optimizer {
            return self.groups(obj, &inside, thing);
        }
        for name in &of.slots {
            let name = name.0.bind(py);
            let told = match there(py, obj.getattr(name))? {
                Some(value) => self.tell(&value, &inside)?,
                None => Same::Nothing,
            };
            thing = thing.has(name, told);
        }
        if of.is_kernel {
            let name = intern!(py, "_gradient");
            let told = self.tell(&obj.getattr(name)?, &inside)?;
            thing = thing.has(name, told);
        }
        if let Some(attributes) = there(py, obj.getattr(intern!(py, "__dict__")))?
            && let Ok(attributes) = attributes.cast_into::<PyDict>()
        {
            let mut fields = Fields::new();
            let follows = [
                intern!(py, "_kinds"),
                intern!(py, "_parameters"),
                intern!(py, "_buffers"),
                intern!(py, "_modules"),
            ];
            for (name, value) in attributes.copy()?.iter() {
                let is_told = match name.cast::<PyString>() {
                    Err(_) => false,
                    // What a module's attributes are follows from what they are.
                    Ok(name) if is_module => !follows.iter().any(|other| name.is(*other)),
                    Ok(_) if of.is_used_by_others => true,
                    Ok(name) => look.names.is_none_or(|names| {
                        let name = name.to_string_lossy();
                        let is_field = || of.fields.iter().any(|field| *field == *name);
                        names.contains(&*name) || names.contains(ANY_FIELD) && is_field()
                    }),
                };
                let mut told = None;
                if is_told {
                    // Names of attributes are one object each.
                    self.key.push(name.as_ptr() as u64);
                    told = Some(self.tell(&value, &inside)?);
                }
                if self.sees {
                    fields.push((name.unbind(), told));
                }
            }
            self.kind(Kind::End);
            if !own_dict(obj).is_some_and(|own| own.is(&attributes)) {
                return self.seen_again(obj, look);
            }
            thing.fields = Some(fields);
        }
        Ok(if self.sees { Same::Thing(Box::new(thing)) } else { Same::Never })
    }

    /// An optimiser: which parameters are in which group, with which options. Numbers among those of the engine's optimisers are read by
    /// each replay (with those that are not it is recorded anew), and told apart.
    fn groups(&mut self, optimizer: &Bound<'py, PyAny>, look: &Look, mut thing: Thing) -> PyResult<Same> {
        let py = optimizer.py();
        let kind = optimizer.getattr(intern!(py, "_kind"))?;
        let is_ours = !kind.is_none();
        thing = thing.has(intern!(py, "_kind"), Same::Value(kind.unbind()));
        let groups = optimizer.getattr(intern!(py, "param_groups"))?;
        let is_list = groups.is_exact_instance_of::<PyList>();
        let mut seen = vec![];
        for group in groups.try_iter()? {
            let group = group?;
            let group = group.cast::<PyDict>()?;
            self.kind(Kind::Dict);
            let mut entries = vec![];
            for (name, value) in group.iter() {
                let text = name.cast::<PyString>()?.to_string_lossy();
                // Unless the function's code asks for it, too.
                let is_read = is_ours
                    && (value.is_exact_instance_of::<PyFloat>() || value.is_exact_instance_of::<PyTuple>())
                    && look.names.is_some_and(|names| !names.contains(&*text) && !names.contains(ANY_KEY));
                let told = match &*text {
                    "param_names" => GroupOption::Left,
                    _ if is_read => {
                        self.rate(&value, look.names)?;
                        GroupOption::Rate
                    }
                    _ => {
                        self.key.push(name.hash()? as u64);
                        GroupOption::Told(self.tell(&value, look)?)
                    }
                };
                entries.push((name.clone().unbind(), told));
            }
            self.kind(Kind::End);
            seen.push(entries);
        }
        // What else it has: functions that are called before and after its steps, and, of one that is not the engine's, what it remembers.
        let attributes = optimizer.getattr(intern!(py, "__dict__"))?;
        let attributes = attributes.cast::<PyDict>()?;
        let mut fields = Fields::new();
        for (name, value) in attributes.copy()?.iter() {
            let text = name.cast::<PyString>()?.to_string_lossy();
            let mut told = None;
            if !matches!(&*text, "param_groups" | "_stepped" | "_memory") {
                self.key.push(name.hash()? as u64);
                told = Some(self.tell(&value, look)?);
            }
            fields.push((name.clone().unbind(), told));
        }
        self.kind(Kind::End);
        let is_its_own = own_dict(optimizer).is_some_and(|own| own.is(attributes));
        if !self.sees || !is_list || !is_its_own {
            return Ok(Same::Never);
        }
        thing.fields = Some(fields);
        Ok(Same::Optimizer(Box::new(Optimizer { thing, groups: seen })))
    }

    /// The program's classes that an object is of, and in which order all stand that it is of: what it is asked for is found by that.
    fn classes(&mut self, obj: &Bound<'py, PyAny>, of: &Object, look: &Look) -> PyResult<Vec<Same>> {
        let py = obj.py();
        if let Some(order) = &of.order {
            self.address(order.bind(py));
        }
        of.classes.iter().map(|class| self.class(class.bind(py), look)).collect()
    }

    /// What a class has under names that the function's code uses: its attributes are those of its objects, too.
    fn class(&mut self, class: &Bound<'py, PyType>, look: &Look) -> PyResult<Same> {
        let py = class.py();
        if look.depth >= DEPTH || self.is_met(class.as_any()) {
            return Ok(Same::Known);
        }
        let attributes = class.getattr(intern!(py, "__dict__"))?;
        let mut fields = Fields::new();
        for entry in attributes.call_method0(intern!(py, "items"))?.try_iter()? {
            let (name, value): (Bound<'py, PyString>, Bound<'py, PyAny>) = entry?.extract()?;
            let text = name.to_string_lossy();
            let is_named = match look.of_classes {
                Some(names) => names.contains(&*text),
                None => !text.starts_with("__"),
            };
            let mut told = None;
            // Operators and the language itself ask for these without any code that names them.
            let is_special = text.starts_with("__") && text.ends_with("__") && is_code(&value);
            if is_named || is_special || UNNAMED.contains(&&*text) {
                told = Some(if is_descriptor(&value) {
                    Same::Value(value.clone().unbind())
                } else {
                    self.key.push(hash_of(&*text));
                    self.tell(&value, &look.deeper())?
                });
            }
            if self.sees {
                fields.push((name.into_any().unbind(), told));
            }
        }
        self.kind(Kind::End);
        if !self.sees {
            return Ok(Same::Never);
        }
        Ok(match dict_of_class(class)? {
            Some(dict) if dict.len() == fields.len() => {
                Same::Class(Box::new(Class { dict: dict.unbind(), fields }))
            }
            Some(_) | None => Same::Never,
        })
    }

    /// What a Python module or a class of a program has under names that the function's code uses.
    pub(super) fn attributes_of(&mut self, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<Option<Same>> {
        let at = Some(obj.as_ptr() as usize);
        if let Ok(class) = obj.cast::<PyType>() {
            if is_the_packages(&class.getattr(intern!(obj.py(), "__module__"))?)? {
                return self.of_library(obj, at, look).map(Some);
            }
            // What a class is asked for may stand in the class of it.
            let all = classes_of(class)?.into_iter().chain(classes_of(&class.get_type())?);
            // Which these are may change; another order is another tuple.
            let mut thing = Thing::of(obj)
                .has(intern!(obj.py(), "__mro__"), Same::Value(class.mro().into_any().unbind()));
            self.address(class.mro().as_any());
            for class in all {
                thing.classes.push(self.class(&class, look)?);
            }
            return Ok((!thing.classes.is_empty()).then(|| Same::Thing(Box::new(thing))));
        }
        let (Some(names), Ok(module)) = (look.names, obj.cast::<PyModule>()) else { return Ok(None) };
        if !is_of_a_program(&module.name()?.into_any())? {
            return self.of_library(obj, at, look).map(Some);
        }
        if self.is_met(obj) {
            return Ok(None);
        }
        let attributes = module.dict();
        let mut entries = vec![];
        for name in names {
            let mut told = Same::Nothing;
            if let Some(value) = attributes.get_item(name)? {
                self.key.push(hash_of(name));
                told = self.tell(&value, &look.deeper())?;
            }
            if self.sees {
                entries.push((PyString::intern(obj.py(), name).unbind(), told));
            }
        }
        self.kind(Kind::End);
        Ok(Some(Same::Module(Box::new(Module { at: obj.as_ptr() as usize, entries }))))
    }

    /// What a library's Python module or class has under names that the function's code uses: a program may have put something else there. Where
    /// code may name anything it is not looked at; nor is what the library's own code names.
    /// It is seen to be at an address, unless that has been seen by something else.
    fn of_library(&mut self, owner: &Bound<'py, PyAny>, at: Option<usize>, look: &Look) -> PyResult<Same> {
        let py = owner.py();
        let module = owner.cast::<PyModule>().ok();
        if look.depth >= DEPTH || self.is_met(owner) {
            return Ok(at.map_or(Same::Known, Same::Object));
        }
        let (names, unnamed, all) = match module {
            Some(module) => (look.names, &[][..], Some(module.dict())),
            None => (look.of_classes, &UNNAMED[..], dict_of_class(owner)?),
        };
        let Some(all) = all else { return Ok(Same::Never) };
        let names = names.into_iter().flatten().map(String::as_str);
        let mut entries = vec![];
        for name in unnamed.iter().copied().chain(names) {
            let name = PyString::intern(py, name);
            let Some(value) = all.get_item(&name)? else { continue };
            self.key.push(name.as_ptr() as u64);
            let told = match is_fixed(&value) {
                true => self.object_at(&value),
                false => self.of_librarys_own(&value, look)?,
            };
            if self.sees {
                entries.push((name.unbind(), told));
            }
        }
        self.kind(Kind::End);
        let len = all.len();
        Ok(Same::Library(Box::new(Library { at, dict: all.unbind(), len, entries })))
    }

    /// Something that a library has: who it is, where it cannot be told what is in it.
    fn of_librarys_own(&mut self, value: &Bound<'py, PyAny>, look: &Look) -> PyResult<Same> {
        let (start, unknown) = (self.key.len(), self.unknown.take());
        let told = self.tell(value, &look.deeper())?;
        let is_told = self.unknown.is_none();
        self.unknown = unknown;
        if is_told {
            return Ok(told);
        }
        self.key.truncate(start);
        Ok(self.object_at(value))
    }
}
