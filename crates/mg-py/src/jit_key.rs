//! What a replayed step takes for granted of Python: numbers, objects and modes, among its arguments and around it, in words
//! that can be compared.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyLookupError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyByteArray, PyBytes, PyDict, PyFloat, PyList, PyModule, PyString, PyTuple, PyType, PyWeakrefReference,
};

use crate::attributes::attributes_of;
use crate::jit_same::{
    Class, Entries, Fields, GroupOption, Items, Library, Module, Optimizer, Same, Thing, contents, own_dict,
};
use crate::jit_sort::{
    Object, Sort, Sorts, classes_of, is_code, is_of_a_program, is_the_packages, is_type_named,
};
use crate::tensor::PyTensor;

/// The names of attributes that a function's code asks for; none where it may be any.
pub type Names<'a> = Option<&'a HashSet<String>>;

/// Stands among names where the code asks groups of optimisers for what stands under keys that are not beside the question.
pub const ANY_KEY: &str = "[]";
/// Stands among names where a dataclass's fields are asked for, or what a class says is the first, the second and so on.
pub const ANY_FIELD: &str = "()";
/// Stands among names where the code asks whether two things are one.
pub const IDENTITY: &str = "is";

/// How deep containers and objects are looked into.
const DEPTH: usize = 16;
/// Bytes of an array that is told by what is in it.
const ARRAY: usize = 4096;
/// Things in lists, dictionaries and the like, all together, beyond which it is measured whether calling the function is quicker than looking at them.
const ITEMS: usize = 4096;
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
    Bytes,
    Tuple,
    List,
    Items,
    Dict,
    Buffer,
    Scalar,
    Array,
    Method,
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
    /// There is something that may change without its words changing: of this type.
    pub unknown: Option<String>,
    /// How many things in lists, dictionaries and the like were met.
    items: usize,
    met: Vec<usize>,
    /// Objects and containers among the arguments that are told by what is in them, in order.
    pub given: Vec<Bound<'py, PyAny>>,
    /// Options of optimisers that replays read.
    pub rates: Vec<u64>,
    /// Whether to answer with how the same is seen later.
    sees: bool,
}

/// What is looked at of what surrounds a function.
struct Look<'a> {
    /// Whether tensors are arguments; otherwise they are told by identity.
    arguments: bool,
    /// The attributes of objects that the function's code names.
    names: Names<'a>,
    /// The attributes of classes that it names.
    of_classes: Names<'a>,
    depth: usize,
}

impl Look<'_> {
    fn deeper(&self) -> Look<'_> {
        Look { depth: self.depth + 1, ..*self }
    }

    /// Into what is known to something else: its tensors are told by identity, whoever holds it, since a step reads them where it finds them.
    fn outside(&self) -> Look<'_> {
        Look { arguments: false, depth: self.depth + 1, ..*self }
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
            key: Vec::with_capacity(256),
            sorts,
            holds,
            tensors: vec![],
            held: vec![],
            unknown: None,
            items: 0,
            met: Vec::with_capacity(32),
            given: vec![],
            rates: vec![],
            sees: false,
        }
    }

    /// From here on what is told of is answered with as it may be seen later.
    pub fn see(&mut self) {
        self.sees = true;
    }

    /// Which of the arguments the tensor of this number is.
    pub fn argument(&self, id: usize) -> Option<usize> {
        self.tensors.iter().position(|argument| argument.get().t.id() == id)
    }

    /// Which of the objects and containers among the arguments this is.
    pub fn given_as(&self, obj: &Bound<'py, PyAny>) -> Option<usize> {
        self.given.iter().position(|given| given.is(obj))
    }

    /// An option of an optimiser that replays read.
    pub fn rate(&mut self, value: &Bound<'py, PyAny>, names: Names) -> PyResult<()> {
        let look = Look { arguments: false, names, of_classes: names, depth: 0 };
        let (start, sees) = (self.key.len(), std::mem::replace(&mut self.sees, false));
        let holds = std::mem::replace(&mut self.holds, false);
        let told = self.tell(value, &look);
        (self.sees, self.holds) = (sees, holds);
        self.rates.extend(self.key.drain(start..));
        told.map(drop)
    }

    /// The words of something by itself, whatever was told before.
    fn alone(&mut self, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<Box<[u64]>> {
        let (met, sees) = (std::mem::take(&mut self.met), std::mem::replace(&mut self.sees, false));
        let start = self.key.len();
        let told = self.tell(obj, look);
        (self.met, self.sees) = (met, sees);
        let words = self.key.drain(start..).collect();
        told.map(|_| words)
    }

    /// Whether these are the words of something that the function knows from around it.
    pub fn tells(&mut self, obj: &Bound<'py, PyAny>, names: Names, depth: usize, words: &[u64]) -> bool {
        let look = Look { arguments: false, names, of_classes: names, depth };
        self.alone(obj, &look).is_ok_and(|told| *told == *words) && self.unknown.is_none()
    }

    /// What is seen by telling it again.
    fn seen_again(&mut self, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<Same> {
        if !self.sees || look.arguments {
            return Ok(Same::Never);
        }
        let rates = self.rates.len();
        let words = self.alone(obj, look)?;
        // Options that are told apart have been, once.
        let has_rates = self.rates.len() > rates;
        self.rates.truncate(rates);
        Ok(if has_rates { Same::Never } else { Same::Told(words, look.depth) })
    }

    fn kind(&mut self, kind: Kind) {
        self.key.push(kind as u64);
    }

    /// An object, by its address.
    fn object_at(&mut self, obj: &Bound<'py, PyAny>) -> Same {
        self.kind(Kind::Object);
        self.address(obj);
        Same::Object(obj.as_ptr() as usize)
    }

    fn address(&mut self, obj: &Bound<'py, PyAny>) {
        self.key.push(obj.as_ptr() as u64);
        if self.holds {
            self.held.push(obj.clone());
        }
    }

    /// The arguments of a call of a function whose code names these attributes; none where it may name any.
    pub fn arguments(
        &mut self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        names: Names,
    ) -> PyResult<()> {
        let look = Look { arguments: true, names: None, of_classes: names, depth: 0 };
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
    pub fn known(&mut self, thing: Option<&Bound<'py, PyAny>>, names: Names) -> PyResult<Same> {
        match thing {
            Some(thing) => self.tell(thing, &Look { arguments: false, names, of_classes: names, depth: 0 }),
            None => {
                self.kind(Kind::End);
                Ok(Same::Nothing)
            }
        }
    }

    /// Tells what something is, and answers with how the same is seen later.
    fn tell(&mut self, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<Same> {
        let sort = self.sorts.of(obj)?;
        let is_deep = look.depth >= DEPTH;
        let value = || Same::Value(obj.clone().unbind());
        Ok(match sort {
            Sort::Tensor => {
                let t = obj.cast::<PyTensor>()?;
                let mut same = Same::Never;
                if look.arguments {
                    self.kind(Kind::Argument);
                    self.tensors.push(t.clone());
                } else {
                    self.kind(Kind::Tensor);
                    let id = t.get().t.id();
                    self.key.push(id as u64);
                    // What is known from elsewhere and is an argument, too, is another thing than what is not.
                    let argument = self.argument(id);
                    if let Some(at) = argument {
                        self.kind(Kind::Argument);
                        self.key.push(at as u64);
                    }
                    if self.holds {
                        self.held.push(obj.clone());
                    }
                    same = Same::Tensor(obj.get_type_ptr() as usize, id, argument);
                }
                if let Some(own) = attributes_of(t)? {
                    self.kind(Kind::Fields);
                    self.entries(&own, &look.outside())?;
                }
                match t.get().has_attributes.load(Ordering::Relaxed) {
                    true => self.seen_again(obj, look)?,
                    false => same,
                }
            }
            Sort::None => {
                self.kind(Kind::None);
                Same::Object(obj.as_ptr() as usize)
            }
            Sort::Bool => {
                self.kind(Kind::Bool);
                self.key.push(u64::from(obj.is_truthy()?));
                Same::Object(obj.as_ptr() as usize)
            }
            Sort::Int => {
                self.kind(Kind::Int);
                match obj.extract::<i64>() {
                    Ok(n) => self.key.push(n as u64),
                    // In hexadecimal, which has no limit.
                    Err(_) => {
                        let digits = obj.call_method1(intern!(obj.py(), "__format__"), ("x",))?;
                        self.key.push(hash_of(digits.cast::<PyString>()?.to_str()?.as_bytes()));
                    }
                }
                value()
            }
            Sort::Float => {
                self.kind(Kind::Float);
                self.key.push(obj.extract::<f64>()?.to_bits());
                value()
            }
            Sort::Text => {
                self.kind(Kind::Text);
                // By Python's own hash: not every text can be written as UTF-8.
                self.key.push(obj.hash()? as u64);
                value()
            }
            Sort::Bytes => {
                self.kind(Kind::Bytes);
                self.key.push(hash_of(obj.cast::<PyBytes>()?.as_bytes()));
                value()
            }
            Sort::Buffer => {
                self.kind(Kind::Buffer);
                let bytes = obj.cast::<PyByteArray>()?.to_vec();
                self.items += bytes.len() / 16;
                self.key.push(hash_of(&bytes));
                self.seen_again(obj, look)?
            }
            Sort::Scalar => {
                self.kind(Kind::Scalar);
                self.array(obj)?;
                self.seen_again(obj, look)?
            }
            Sort::Array => {
                self.kind(Kind::Array);
                let is_small = obj.getattr(intern!(obj.py(), "nbytes"))?.extract::<usize>()? <= ARRAY;
                // One of a class below NumPy's has more than its numbers (masked ones).
                match is_small && is_type_named(&obj.get_type(), "numpy", "ndarray")? {
                    true => self.array(obj)?,
                    // It is read when tensors are made of it, and may hold other numbers by then.
                    false => self.is_unknown(obj)?,
                }
                self.seen_again(obj, look)?
            }
            Sort::Tuple(_)
            | Sort::List(_)
            | Sort::Items(_)
            | Sort::Dict(_)
            | Sort::Proxy
            | Sort::Code
            | Sort::Function
            | Sort::Builtin
            | Sort::Method
            | Sort::Around(_)
            | Sort::Cached
            | Sort::Context
            | Sort::Weak
            | Sort::Module(_)
            | Sort::Object(_)
                if is_deep =>
            {
                // What is in it is not looked at.
                if !matches!(sort, Sort::Code) {
                    self.is_unknown(obj)?;
                }
                self.object_at(obj)
            }
            Sort::Tuple(has_attributes) => {
                self.kind(Kind::Tuple);
                self.address(obj.get_type().as_any());
                let items = self.all(obj.cast::<PyTuple>()?.iter(), look)?;
                let attributes = self.attributes_if(has_attributes, obj, look)?;
                self.items(obj, false, items, attributes, look)
            }
            Sort::List(has_attributes) => {
                let is_one = self.container(Kind::List, obj, look);
                let items = self.all(obj.cast::<PyList>()?.iter(), look)?;
                let attributes = self.attributes_if(has_attributes, obj, look)?;
                match is_one {
                    true => self.seen_again(obj, look)?,
                    false => self.items(obj, true, items, attributes, look),
                }
            }
            Sort::Items(has_attributes) => {
                // In the order in which it hands them out: another order is another thing, and what it answers may depend on that.
                self.container(Kind::Items, obj, look);
                let items: Vec<Bound<'py, PyAny>> = obj.try_iter()?.collect::<PyResult<_>>()?;
                self.all(items.into_iter(), look)?;
                if let Some(most) = obj.getattr_opt(intern!(obj.py(), "maxlen"))? {
                    self.tell(&most, &look.deeper())?;
                }
                self.attributes_if(has_attributes, obj, look)?;
                self.seen_again(obj, look)?
            }
            Sort::Dict(has_attributes) => {
                let is_one = self.container(Kind::Dict, obj, look);
                let dict = obj.cast::<PyDict>()?;
                let entries = self.entries(dict, look)?;
                let attributes = self.attributes_if(has_attributes, obj, look)?;
                let maker = match dict.is_exact_instance_of::<PyDict>() {
                    true => None,
                    false => obj.getattr_opt(intern!(obj.py(), "default_factory"))?,
                };
                if let Some(maker) = &maker {
                    self.tell(maker, &look.outside())?;
                }
                match entries.filter(|_| maker.is_none() && !is_one) {
                    Some(entries) if self.sees && !look.arguments => Same::Dict(Box::new(Entries {
                        class: obj.get_type_ptr() as usize,
                        given: self.given_as(obj),
                        entries,
                        attributes,
                    })),
                    Some(_) => Same::Never,
                    None => self.seen_again(obj, look)?,
                }
            }
            Sort::Proxy => {
                self.object_at(obj);
                let entries = PyDict::new(obj.py());
                entries.call_method1(intern!(obj.py(), "update"), (obj,))?;
                self.entries(&entries, look)?;
                self.seen_again(obj, look)?
            }
            Sort::Code => {
                let same = self.object_at(obj);
                self.attributes_of(obj, look)?.unwrap_or(same)
            }
            Sort::Function => self.function(obj, look)?,
            Sort::Builtin => match obj.getattr_opt(intern!(obj.py(), "__self__"))? {
                Some(of) if !of.is_none() && !is_code(&of) => self.method(obj, &of, look)?,
                Some(_) | None => self.object_at(obj),
            },
            Sort::Method => self.method(obj, &obj.getattr(intern!(obj.py(), "__self__"))?, look)?,
            Sort::Around(names) => {
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
                Same::Thing(Box::new(thing))
            }
            Sort::Cached => {
                self.object_at(obj);
                self.tell(&obj.getattr(intern!(obj.py(), "__wrapped__"))?, &look.outside())?;
                // Of what it remembers one sees how much that is.
                let info = obj.call_method0(intern!(obj.py(), "cache_info"))?;
                for name in ["misses", "currsize"] {
                    self.tell(&info.getattr(name)?, &look.deeper())?;
                }
                self.key.push(cleared(obj, info.getattr("misses")?.extract()?)?);
                self.remembered(obj, look)?;
                self.seen_again(obj, look)?
            }
            Sort::Context => {
                // What it holds may be another thing in each call, thread and task.
                self.object_at(obj);
                self.tell(&context_value(obj)?, &look.deeper())?;
                self.seen_again(obj, look)?
            }
            Sort::Weak => {
                self.object_at(obj);
                self.tell(&obj.call0()?, &look.outside())?;
                self.seen_again(obj, look)?
            }
            Sort::Module(of) => self.object(obj, look, &of, true)?,
            Sort::Object(of) => self.object(obj, look, &of, false)?,
        })
    }

    /// How a tuple or list of these is seen.
    fn items(
        &self,
        obj: &Bound<'py, PyAny>,
        is_list: bool,
        items: Vec<Same>,
        attributes: Option<Same>,
        look: &Look,
    ) -> Same {
        if !self.sees || look.arguments {
            return Same::Never;
        }
        let given = if is_list { self.given_as(obj) } else { None };
        Same::Items(Box::new(Items { class: obj.get_type_ptr() as usize, is_list, given, items, attributes }))
    }

    /// A method of an object.
    fn method(&mut self, obj: &Bound<'py, PyAny>, of: &Bound<'py, PyAny>, look: &Look) -> PyResult<Same> {
        self.kind(Kind::Method);
        // One that is not written in Python is found by its name.
        match obj.getattr_opt(intern!(obj.py(), "__func__"))? {
            Some(function) => self.tell(&function, &look.outside())?,
            None => self.tell(&obj.getattr(intern!(obj.py(), "__name__"))?, &look.deeper())?,
        };
        self.tell(of, &look.outside())?;
        self.seen_again(obj, look)
    }

    /// What a function has answered with and remembers, whatever the order: the one asked for last stands in front.
    fn remembered(&mut self, cached: &Bound<'py, PyAny>, look: &Look) -> PyResult<()> {
        let py = cached.py();
        let own = cached.getattr(intern!(py, "__dict__"))?;
        let referents = py.import("gc")?.call_method1(intern!(py, "get_referents"), (cached,))?;
        let mut all = vec![];
        for referent in referents.try_iter()? {
            let referent = referent?;
            match referent.cast_exact::<PyDict>() {
                _ if referent.is(&own) || is_code(&referent) => {}
                // Those of a function that remembers all; of another one, places of what stands beside them.
                Ok(answers) => {
                    let is_place = |value: &Bound<'py, PyAny>| {
                        is_type_named(&value.get_type(), "functools", "_lru_list_elem")
                    };
                    for value in answers.values() {
                        if !is_place(&value)? {
                            all.push(value);
                        }
                    }
                }
                Err(_) => all.push(referent),
            }
        }
        self.items += all.len();
        let mut words =
            all.iter().map(|answer| self.alone(answer, &look.outside())).collect::<PyResult<Vec<_>>>()?;
        words.sort_unstable();
        words.iter().for_each(|words| self.key.extend(words));
        self.kind(Kind::End);
        Ok(())
    }

    /// Whether to look at it all may take longer than it is worth.
    pub fn is_much(&self) -> bool {
        self.items > ITEMS
    }

    fn is_unknown(&mut self, obj: &Bound<'py, PyAny>) -> PyResult<()> {
        if self.unknown.is_none() {
            self.unknown = Some(obj.get_type().name()?.to_string_lossy().into_owned());
        }
        Ok(())
    }

    /// A small array or number of NumPy's, by what is in it.
    fn array(&mut self, obj: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = obj.py();
        let dtype = obj.getattr(intern!(py, "dtype"))?;
        if dtype.getattr(intern!(py, "hasobject"))?.is_truthy()? {
            return self.is_unknown(obj);
        }
        self.address(obj.get_type().as_any());
        // With the names of its fields, if it has any.
        self.key.push(hash_of(dtype.repr()?.to_string_lossy().as_bytes()));
        for name in [intern!(py, "shape"), intern!(py, "strides")] {
            for n in obj.getattr(name)?.extract::<Vec<i64>>()? {
                self.key.push(n as u64);
            }
            self.kind(Kind::End);
        }
        let flags = obj.getattr(intern!(py, "flags"))?;
        self.key.push(u64::from(flags.getattr(intern!(py, "writeable"))?.is_truthy()?));
        let bytes = obj.call_method0(intern!(py, "tobytes"))?;
        self.key.push(hash_of(bytes.cast::<PyBytes>()?.as_bytes()));
        Ok(())
    }

    /// A function: which one, and what it has of its own, the variables of functions that it was made in among that.
    fn function(&mut self, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<Same> {
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

    /// Whether something was told already, which stands for it then.
    fn is_met(&mut self, obj: &Bound<'py, PyAny>) -> bool {
        let at = obj.as_ptr() as usize;
        if let Some(first) = self.met.iter().position(|&met| met == at) {
            self.kind(Kind::Met);
            self.key.push(first as u64);
            return true;
        }
        self.met.push(at);
        false
    }

    /// What a container has in a dictionary of its own.
    fn attributes_if(
        &mut self,
        has_any: bool,
        obj: &Bound<'py, PyAny>,
        look: &Look,
    ) -> PyResult<Option<Same>> {
        if !has_any {
            return Ok(None);
        }
        let attributes = obj.getattr(intern!(obj.py(), "__dict__"))?;
        let Ok(attributes) = attributes.cast_into::<PyDict>() else {
            self.is_unknown(obj)?;
            return Ok(Some(Same::Never));
        };
        let class = attributes.get_type_ptr() as usize;
        let of = |entries| Same::Dict(Box::new(Entries { class, given: None, entries, attributes: None }));
        Ok(Some(self.entries(&attributes, look)?.map_or(Same::Never, of)))
    }

    /// A container that can change: of which type, and, among arguments, that it was given; elsewhere, as which argument. Answers with whether
    /// it is asked who it is.
    fn container(&mut self, kind: Kind, obj: &Bound<'py, PyAny>, look: &Look) -> bool {
        self.kind(kind);
        self.address(obj.get_type().as_any());
        if look.arguments {
            // One that was given before is that one.
            if let Some(at) = self.given.iter().position(|given| given.is(obj)) {
                self.kind(Kind::Met);
                self.key.push(at as u64);
            }
            self.given.push(obj.clone());
        } else if let Some(at) = self.given.iter().position(|given| given.is(obj)) {
            self.kind(Kind::Argument);
            self.key.push(at as u64);
        }
        let is_one = !look.arguments && look.names.is_some_and(|names| names.contains(IDENTITY));
        if is_one {
            self.address(obj);
        }
        is_one
    }

    /// What is in a dictionary, in its order; nothing to see it by where it has an order of its own beside that of the dictionary that it is,
    /// as an `OrderedDict`.
    fn entries(&mut self, of: &Bound<'py, PyDict>, look: &Look) -> PyResult<Option<Vec<(Same, Same)>>> {
        let mut seen = vec![];
        self.items += of.len();
        let mut tell = |(name, value): (Bound<'py, PyAny>, Bound<'py, PyAny>)| {
            let (name, value) = (self.tell(&name, &look.deeper())?, self.tell(&value, &look.deeper())?);
            if self.sees {
                seen.push((name, value));
            }
            Ok::<_, PyErr>(())
        };
        let is_ordered = !of.is_exact_instance_of::<PyDict>()
            && is_type_named(&of.get_type(), "collections", "OrderedDict")?;
        if is_ordered {
            let items = of.call_method0(intern!(of.py(), "items"))?;
            items.try_iter()?.try_for_each(|item| tell(item?.extract()?))?;
        } else {
            of.iter().try_for_each(tell)?;
        }
        self.kind(Kind::End);
        Ok((!is_ordered).then_some(seen))
    }

    fn all(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>, look: &Look) -> PyResult<Vec<Same>> {
        let mut seen = vec![];
        for item in items {
            self.items += 1;
            let same = self.tell(&item, &look.deeper())?;
            if self.sees {
                seen.push(same);
            }
        }
        self.kind(Kind::End);
        Ok(seen)
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
            match obj.getattr(name.0.bind(py)) {
                Ok(value) => drop(self.tell(&value, &look.deeper())?),
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
        Ok(Same::Never)
    }

    /// A module, or an object of another kind.
    fn object(
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
            let told = match obj.getattr(name) {
                Ok(value) => self.tell(&value, &inside)?,
                Err(_) => Same::Nothing,
            };
            thing = thing.has(name, told);
        }
        if of.is_kernel {
            let name = intern!(py, "_gradient");
            let told = self.tell(&obj.getattr(name)?, &inside)?;
            thing = thing.has(name, told);
        }
        if let Ok(attributes) = obj.getattr(intern!(py, "__dict__"))
            && let Ok(attributes) = attributes.cast_into::<PyDict>()
        {
            let mut fields = Fields::new();
            for (name, value) in attributes.iter() {
                let is_told = match name.cast::<PyString>() {
                    Err(_) => false,
                    // What a module's attributes are follows from what they are.
                    Ok(name) if is_module => !name.is(intern!(py, "_kinds")),
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
        for (name, value) in attributes.iter() {
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
}

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

impl<'py> Words<'_, 'py> {
    /// What a Python module or a class of a program has under names that the function's code uses.
    fn attributes_of(&mut self, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<Option<Same>> {
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
}

impl<'py> Words<'_, 'py> {
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
}

impl<'py> Words<'_, 'py> {
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

/// A function that remembers its answers, how often it had to compute one when it was looked at last, and how often all were seen to be forgotten.
struct Cache {
    of: Py<PyWeakrefReference>,
    misses: u64,
    cleared: u64,
}

/// Those that were looked at.
static CACHES: Mutex<Vec<Cache>> = Mutex::new(vec![]);
/// How many of them are known.
const CACHES_KNOWN: usize = 1024;

/// How often a function was seen to have forgotten its answers: what it remembers may be other ones since, though it has as many.
fn cleared(cached: &Bound<'_, PyAny>, misses: u64) -> PyResult<u64> {
    // There is one such reference of an object, as long as somebody has it.
    let of = PyWeakrefReference::new(cached)?;
    let mut caches = CACHES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = caches.iter_mut().find(|known| known.of.is(&of)) {
        known.cleared += u64::from(misses < known.misses);
        known.misses = misses;
        return Ok(known.cleared);
    }
    let first = (caches.len() >= CACHES_KNOWN).then(|| caches.remove(0));
    caches.push(Cache { of: of.unbind(), misses, cleared: 0 });
    drop(caches);
    drop(first);
    Ok(0)
}

/// The dictionary of a class's own attributes: what it shows is not that, but refers to it.
fn dict_of_class<'py>(class: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let shown = class.getattr(intern!(class.py(), "__dict__"))?;
    let referents = class.py().import("gc")?.call_method1(intern!(class.py(), "get_referents"), (&shown,))?;
    Ok(referents.get_item(0).ok().and_then(|dict| dict.cast_into_exact::<PyDict>().ok()))
}

/// What a context variable holds now; an empty tuple if nothing.
fn context_value<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = obj.py();
    match obj.call_method0(intern!(py, "get")) {
        Err(error) if error.is_instance_of::<PyLookupError>(py) => Ok(PyTuple::empty(py).into_any()),
        found => found,
    }
}
