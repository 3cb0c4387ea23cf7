//! What a replayed step takes for granted of Python: numbers, objects and modes, among its arguments and around it, in words
//! that can be compared.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::exceptions::PyLookupError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFloat, PyList, PyModule, PyString, PyTuple, PyType};

use crate::attributes::attributes_of;
use crate::jit_sort::{Object, Sort, Sorts, classes_of, is_code, is_of_a_program, is_type_named};
use crate::tensor::PyTensor;

/// How deep containers and objects are looked into.
const DEPTH: usize = 16;
/// Bytes of an array that is told by what is in it.
const ARRAY: usize = 4096;
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
    /// The attributes of classes that it names.
    of_classes: Option<&'a HashSet<String>>,
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
            met: Vec::with_capacity(32),
            given: vec![],
            rates: vec![],
        }
    }

    fn kind(&mut self, kind: Kind) {
        self.key.push(kind as u64);
    }

    /// An object, by its address.
    fn object_at(&mut self, obj: &Bound<'py, PyAny>) {
        self.kind(Kind::Object);
        self.address(obj);
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
        names: Option<&HashSet<String>>,
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
    pub fn known(
        &mut self,
        thing: Option<&Bound<'py, PyAny>>,
        names: Option<&HashSet<String>>,
    ) -> PyResult<()> {
        match thing {
            Some(thing) => self.tell(thing, &Look { arguments: false, names, of_classes: names, depth: 0 }),
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
                    let id = t.get().t.id();
                    self.key.push(id as u64);
                    // What is known from elsewhere and is an argument, too, is another thing than what is not.
                    if let Some(at) = self.tensors.iter().position(|argument| argument.get().t.id() == id) {
                        self.kind(Kind::Argument);
                        self.key.push(at as u64);
                    }
                    if self.holds {
                        self.held.push(obj.clone());
                    }
                }
                if let Some(own) = attributes_of(t)? {
                    self.kind(Kind::Fields);
                    self.entries(&own, &look.outside())?;
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
                    // In hexadecimal, which has no limit.
                    Err(_) => {
                        let digits = obj.call_method1(intern!(obj.py(), "__format__"), ("x",))?;
                        self.key.push(hash_of(digits.cast::<PyString>()?.to_str()?.as_bytes()));
                    }
                }
            }
            Sort::Float => {
                self.kind(Kind::Float);
                self.key.push(obj.extract::<f64>()?.to_bits());
            }
            Sort::Text => {
                self.kind(Kind::Text);
                // By Python's own hash: not every text can be written as UTF-8.
                self.key.push(obj.hash()? as u64);
            }
            Sort::Bytes => {
                self.kind(Kind::Bytes);
                self.key.push(hash_of(obj.cast::<PyBytes>()?.as_bytes()));
            }
            Sort::Buffer => {
                self.kind(Kind::Buffer);
                let bytes = obj.cast::<PyByteArray>()?.to_vec();
                self.key.push(hash_of(&bytes));
            }
            Sort::Scalar => {
                self.kind(Kind::Scalar);
                self.array(obj)?;
            }
            Sort::Array => {
                self.kind(Kind::Array);
                match obj.getattr(intern!(obj.py(), "nbytes"))?.extract::<usize>()? <= ARRAY {
                    true => self.array(obj)?,
                    // It is read when tensors are made of it, and may hold other numbers by then.
                    false => self.is_unknown(obj)?,
                }
            }
            Sort::Tuple(_)
            | Sort::List(_)
            | Sort::Items(_)
            | Sort::Dict(_)
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
                self.object_at(obj);
            }
            Sort::Tuple(has_attributes) => {
                self.kind(Kind::Tuple);
                self.address(obj.get_type().as_any());
                self.all(obj.cast::<PyTuple>()?.iter(), look)?;
                self.attributes_if(has_attributes, obj, look)?;
            }
            Sort::List(has_attributes) => {
                self.container(Kind::List, obj, look);
                self.all(obj.cast::<PyList>()?.iter(), look)?;
                self.attributes_if(has_attributes, obj, look)?;
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
            }
            Sort::Dict(has_attributes) => {
                self.container(Kind::Dict, obj, look);
                self.entries(obj.cast::<PyDict>()?, look)?;
                self.attributes_if(has_attributes, obj, look)?;
            }
            Sort::Code => {
                self.object_at(obj);
                self.attributes_of(obj, look)?;
            }
            Sort::Function => self.function(obj, look)?,
            Sort::Builtin => match obj.getattr_opt(intern!(obj.py(), "__self__"))? {
                Some(of) if !of.is_none() && !is_code(&of) => self.method(obj, &of, look)?,
                Some(_) | None => {
                    self.object_at(obj);
                }
            },
            Sort::Method => self.method(obj, &obj.getattr(intern!(obj.py(), "__self__"))?, look)?,
            Sort::Around(names) => {
                self.object_at(obj);
                for name in names {
                    self.tell(&obj.getattr(*name)?, &look.outside())?;
                }
                self.attributes_if(obj.getattr_opt(intern!(obj.py(), "__dict__"))?.is_some(), obj, look)?;
            }
            Sort::Cached => {
                self.object_at(obj);
                self.tell(&obj.getattr(intern!(obj.py(), "__wrapped__"))?, &look.outside())?;
                // Of what it remembers one sees how much that is.
                let info = obj.call_method0(intern!(obj.py(), "cache_info"))?;
                for name in ["misses", "currsize"] {
                    self.tell(&info.getattr(name)?, &look.deeper())?;
                }
            }
            Sort::Context => {
                // What it holds may be another thing in each call, thread and task.
                self.object_at(obj);
                self.tell(&context_value(obj)?, &look.deeper())?;
            }
            Sort::Weak => {
                self.object_at(obj);
                self.tell(&obj.call0()?, &look.outside())?;
            }
            Sort::Module(of) => self.object(obj, look, &of, true)?,
            Sort::Object(of) => self.object(obj, look, &of, false)?,
        }
        Ok(())
    }

    /// A method of an object.
    fn method(&mut self, obj: &Bound<'py, PyAny>, of: &Bound<'py, PyAny>, look: &Look) -> PyResult<()> {
        self.kind(Kind::Method);
        // One that is not written in Python is found by its name.
        match obj.getattr_opt(intern!(obj.py(), "__func__"))? {
            Some(function) => self.tell(&function, &look.outside())?,
            None => self.tell(&obj.getattr(intern!(obj.py(), "__name__"))?, &look.deeper())?,
        }
        self.tell(of, &look.outside())
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
        self.key.push(hash_of(
            dtype.getattr(intern!(py, "str"))?.cast::<PyString>()?.to_string_lossy().as_bytes(),
        ));
        for n in obj.getattr(intern!(py, "shape"))?.extract::<Vec<u64>>()? {
            self.key.push(n);
        }
        self.kind(Kind::End);
        let bytes = obj.call_method0(intern!(py, "tobytes"))?;
        self.key.push(hash_of(bytes.cast::<PyBytes>()?.as_bytes()));
        Ok(())
    }

    /// A function: which one, and what it has of its own, the variables of functions that it was made in among that.
    fn function(&mut self, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<()> {
        let py = obj.py();
        self.object_at(obj);
        let is_looked_at = obj.getattr_opt(intern!(py, "__closure__"))?;
        let of_its_own = [
            obj.getattr(intern!(py, "__defaults__"))?,
            obj.getattr(intern!(py, "__kwdefaults__"))?,
            obj.getattr(intern!(py, "__dict__"))?,
        ];
        let is_simple = is_looked_at.as_ref().is_none_or(Bound::is_none)
            && of_its_own[..2].iter().all(Bound::is_none)
            && of_its_own[2].is_empty()?;
        if is_simple || self.is_met(obj) {
            return Ok(());
        }
        let inside = look.outside();
        if let Some(cells) = is_looked_at.filter(|cells| !cells.is_none()) {
            for cell in cells.cast::<PyTuple>()?.iter() {
                match cell.getattr(intern!(py, "cell_contents")) {
                    Ok(held) => self.tell(&held, &inside)?,
                    // Nothing yet.
                    Err(_) => self.kind(Kind::End),
                }
            }
        }
        of_its_own.iter().try_for_each(|own| self.tell(own, &inside))?;
        self.kind(Kind::End);
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
    fn attributes_if(&mut self, has_any: bool, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<()> {
        if !has_any {
            return Ok(());
        }
        let attributes = obj.getattr(intern!(obj.py(), "__dict__"))?;
        let Ok(attributes) = attributes.cast_into::<PyDict>() else { return self.is_unknown(obj) };
        self.entries(&attributes, look)
    }

    /// A container that can change: of which type, and, among arguments, that it was given; elsewhere, as which argument.
    fn container(&mut self, kind: Kind, obj: &Bound<'py, PyAny>, look: &Look) {
        self.kind(kind);
        self.address(obj.get_type().as_any());
        if look.arguments {
            self.given.push(obj.clone());
        } else if let Some(at) = self.given.iter().position(|given| given.is(obj)) {
            self.kind(Kind::Argument);
            self.key.push(at as u64);
        }
    }

    /// What is in a dictionary, in its order.
    fn entries(&mut self, of: &Bound<'py, PyDict>, look: &Look) -> PyResult<()> {
        let mut tell = |(name, value): (Bound<'py, PyAny>, Bound<'py, PyAny>)| {
            self.tell(&name, &look.deeper())?;
            self.tell(&value, &look.deeper())
        };
        // An `OrderedDict` has an order of its own beside that of the dictionary that it is.
        if !of.is_exact_instance_of::<PyDict>()
            && is_type_named(&of.get_type(), "collections", "OrderedDict")?
        {
            let items = of.call_method0(intern!(of.py(), "items"))?;
            items.try_iter()?.try_for_each(|item| tell(item?.extract()?))?;
        } else {
            of.iter().try_for_each(tell)?;
        }
        self.kind(Kind::End);
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
        if self.is_met(obj) {
            return Ok(());
        }
        self.given.push(obj.clone());
        for class in &of.classes {
            self.class(class.bind(py), &look.outside())?;
        }
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
            self.address(class.as_any());
            for class in &of.classes {
                self.class(class.bind(py), &look.outside())?;
            }
            let fields = class.getattr(intern!(py, "__dataclass_fields__"))?;
            for name in fields.try_iter()? {
                let name = name?;
                let value = obj.getattr(name.cast::<PyString>()?)?;
                self.tell(&value, &look.deeper())?;
            }
            self.kind(Kind::End);
            let has_attributes = obj.getattr_opt(intern!(py, "__dict__"))?.is_some();
            return self.attributes_if(has_attributes, obj, look);
        }
        if of.is_unknown && !is_module {
            self.is_unknown(obj)?;
        }
        self.kind(if is_module { Kind::Module } else { Kind::Object });
        self.address(obj);
        if self.is_met(obj) {
            return Ok(());
        }
        let inside = look.outside();
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
                false if of.is_used_by_others => true,
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
    /// each replay (with those that are not it is recorded anew), and told apart.
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
                // Unless the function's code asks for it, too.
                let is_read = is_ours
                    && (value.is_exact_instance_of::<PyFloat>() || value.is_exact_instance_of::<PyTuple>())
                    && look.names.is_some_and(|names| !names.contains(&*text));
                match &*text {
                    "param_names" => {}
                    _ if is_read => {
                        let (start, holds) = (self.key.len(), std::mem::take(&mut self.holds));
                        let told = self.tell(&value, look);
                        self.holds = holds;
                        self.rates.extend(self.key.drain(start..));
                        told?;
                    }
                    _ => {
                        self.key.push(name.hash()? as u64);
                        self.tell(&value, look)?;
                    }
                }
            }
            self.kind(Kind::End);
        }
        // What else it has: functions that are called before and after its steps, and, of one that is not the engine's, what it remembers.
        let attributes = optimizer.getattr(intern!(py, "__dict__"))?;
        for (name, value) in attributes.cast::<PyDict>()?.iter() {
            let text = name.cast::<PyString>()?.to_string_lossy();
            if !matches!(&*text, "param_groups" | "_stepped" | "_memory") {
                self.key.push(name.hash()? as u64);
                self.tell(&value, look)?;
            }
        }
        self.kind(Kind::End);
        Ok(())
    }

    /// What a class has under names that the function's code uses: its attributes are those of its objects, too.
    fn class(&mut self, class: &Bound<'py, PyType>, look: &Look) -> PyResult<()> {
        if look.depth >= DEPTH || self.is_met(class.as_any()) {
            return Ok(());
        }
        let attributes = class.getattr(intern!(class.py(), "__dict__"))?;
        for entry in attributes.call_method0(intern!(class.py(), "items"))?.try_iter()? {
            let (name, value): (Bound<'py, PyString>, Bound<'py, PyAny>) = entry?.extract()?;
            let text = name.to_string_lossy();
            let is_named = match look.of_classes {
                Some(names) => names.contains(&*text),
                None => !text.starts_with("__"),
            };
            let is_told = is_named || UNNAMED.contains(&&*text);
            if is_told && !is_descriptor(&value) {
                self.key.push(hash_of(&*text));
                self.tell(&value, &look.deeper())?;
            }
        }
        self.kind(Kind::End);
        Ok(())
    }
}

/// What calls, operators and the language itself ask a class for, without any code that names it.
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

impl<'py> Words<'_, 'py> {
    /// What a Python module or a class of a program has under names that the function's code uses.
    fn attributes_of(&mut self, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<()> {
        if let Ok(class) = obj.cast::<PyType>() {
            // What a class is asked for may stand in the class of it.
            let all = classes_of(class)?.into_iter().chain(classes_of(&class.get_type())?);
            return all.into_iter().try_for_each(|class| self.class(&class, look));
        }
        let (Some(names), Ok(module)) = (look.names, obj.cast::<PyModule>()) else { return Ok(()) };
        if !is_of_a_program(&module.name()?.into_any())? || self.is_met(obj) {
            return Ok(());
        }
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
