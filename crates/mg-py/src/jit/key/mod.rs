//! What a replayed step takes for granted of Python: numbers, objects and modes, among its arguments and around it, in words
//! that can be compared.

mod cache;
mod object;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::Ordering;

use pyo3::exceptions::PyLookupError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::attributes::attributes_of;
use crate::error::{there, type_name};
use crate::jit::same::{Entries, Items, Same};
use crate::jit::sort::{Sort, Sorts, is_code, is_type_named};
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
    /// What has stopped a look: Ctrl-C.
    stopped: Option<PyErr>,
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
            stopped: None,
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
        let told = self.alone(obj, &look);
        self.found(obj.py(), told).is_some_and(|told| *told == *words) && self.unknown.is_none()
    }

    /// What was found; nothing where asking for it has raised something, which is kept where it is no exception that a program means.
    pub fn found<T>(&mut self, py: Python<'_>, found: PyResult<T>) -> Option<T> {
        there(py, found).unwrap_or_else(|stopped| {
            self.stopped = Some(stopped);
            None
        })
    }

    /// Whether something has stopped a look.
    pub fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// What has stopped a look, as an error.
    pub fn stopped(&mut self) -> PyResult<()> {
        self.stopped.take().map_or(Ok(()), Err)
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
            Sort::Tensor => self.tensor(obj, look)?,
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
                self.integer(obj)?;
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
                self.elements(obj)?;
                self.seen_again(obj, look)?
            }
            Sort::Array => {
                self.array(obj)?;
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
            Sort::List(has_attributes) => self.list(obj, has_attributes, look)?,
            Sort::Items(has_attributes) => self.in_order(obj, has_attributes, look)?,
            Sort::Dict(has_attributes) => self.dict(obj, has_attributes, look)?,
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
            Sort::Around(names) => self.around(obj, names, look)?,
            Sort::Cached => self.cached(obj, look)?,
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

    /// A tensor: as the argument that it is, elsewhere by identity.
    fn tensor(&mut self, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<Same> {
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
            true => self.seen_again(obj, look),
            false => Ok(same),
        }
    }

    fn integer(&mut self, obj: &Bound<'py, PyAny>) -> PyResult<()> {
        self.kind(Kind::Int);
        match obj.extract::<i64>() {
            Ok(n) => self.key.push(n as u64),
            // In hexadecimal, which has no limit.
            Err(_) => {
                let digits = obj.call_method1(intern!(obj.py(), "__format__"), ("x",))?;
                self.key.push(hash_of(digits.cast::<PyString>()?.to_str()?.as_bytes()));
            }
        }
        Ok(())
    }

    fn list(&mut self, obj: &Bound<'py, PyAny>, has_attributes: bool, look: &Look) -> PyResult<Same> {
        let is_one = self.container(Kind::List, obj, look);
        let items = self.all(obj.cast::<PyList>()?.iter(), look)?;
        let attributes = self.attributes_if(has_attributes, obj, look)?;
        match is_one {
            true => self.seen_again(obj, look),
            false => Ok(self.items(obj, true, items, attributes, look)),
        }
    }

    /// What hands out its items in an order of its own: another order is another thing, and what it answers may depend on that.
    fn in_order(&mut self, obj: &Bound<'py, PyAny>, has_attributes: bool, look: &Look) -> PyResult<Same> {
        self.container(Kind::Items, obj, look);
        let items: Vec<Bound<'py, PyAny>> = obj.try_iter()?.collect::<PyResult<_>>()?;
        self.all(items.into_iter(), look)?;
        if let Some(most) = obj.getattr_opt(intern!(obj.py(), "maxlen"))? {
            self.tell(&most, &look.deeper())?;
        }
        self.attributes_if(has_attributes, obj, look)?;
        self.seen_again(obj, look)
    }

    fn dict(&mut self, obj: &Bound<'py, PyAny>, has_attributes: bool, look: &Look) -> PyResult<Same> {
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
            Some(entries) if self.sees && !look.arguments => Ok(Same::Dict(Box::new(Entries {
                class: obj.get_type_ptr() as usize,
                given: self.given_as(obj),
                entries,
                attributes,
            }))),
            Some(_) => Ok(Same::Never),
            None => self.seen_again(obj, look),
        }
    }

    /// An array of NumPy's: a small one by what is in it.
    fn array(&mut self, obj: &Bound<'py, PyAny>) -> PyResult<()> {
        self.kind(Kind::Array);
        let is_small = obj.getattr(intern!(obj.py(), "nbytes"))?.extract::<usize>()? <= ARRAY;
        // One of a class below NumPy's has more than its numbers (masked ones).
        match is_small && is_type_named(&obj.get_type(), "numpy", "ndarray")? {
            true => self.elements(obj),
            // It is read when tensors are made of it, and may hold other numbers by then.
            false => self.is_unknown(obj),
        }
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

    /// Whether to look at it all may take longer than it is worth.
    pub fn is_much(&self) -> bool {
        self.items > ITEMS
    }

    fn is_unknown(&mut self, obj: &Bound<'py, PyAny>) -> PyResult<()> {
        if self.unknown.is_none() {
            self.unknown = Some(type_name(obj));
        }
        Ok(())
    }

    /// A small array or number of NumPy's, by what is in it.
    fn elements(&mut self, obj: &Bound<'py, PyAny>) -> PyResult<()> {
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
            // As they are at one moment: another thread may change it, and so may what is asked here.
            of.copy()?.iter().try_for_each(tell)?;
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
}

/// What a context variable holds now; an empty tuple if nothing.
fn context_value<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = obj.py();
    match obj.call_method0(intern!(py, "get")) {
        Err(error) if error.is_instance_of::<PyLookupError>(py) => Ok(PyTuple::empty(py).into_any()),
        found => found,
    }
}
