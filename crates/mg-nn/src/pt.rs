//! PyTorch's files (`.pt`, `.pth`), as `torch.save` writes them since version 1.6, read without executing anything in them.
//!
//! Such a file is a zip archive with a pickle and the elements of each storage. The pickle may name what makes tensors of storages, and
//! classes that only keep what they are given: Python's containers and numbers, `Counter`, `defaultdict`, ranges, slices, paths, dates and
//! times, NumPy's numbers and arrays. Whatever else it names is an error: a file with a whole module in it is refused with the name of its
//! class; save its `state_dict()`. Source: torch/serialization.py and torch/_utils.py of PyTorch 2.15.
//!
//! ```
//! use mg_nn::{Linear, Module, State, pt};
//!
//! // torch.save({"model": torch.nn.Linear(3, 2).state_dict(), "epoch": 7, "rates": [0.1, 0.01]}, "linear.pt")
//! let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/linear.pt");
//! let state = State::load_pt(path)?;
//! Linear::new(3, 2)?.load_state(&state.part("model"))?;
//! assert_eq!(state.metadata["epoch"], "7");
//!
//! let all = pt::load(path)?;
//! let rates = all.get("rates").expect("it was saved");
//! assert_eq!(rates.at(1).and_then(|rate| rate.as_f64()), Some(0.01));
//! # Ok::<(), mg_device::Error>(())
//! ```

use std::collections::{HashMap, HashSet};
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;

use mg_autograd::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};

use crate::archive::Archive;
use crate::checkpoint::{Outcome, bytes_of, elements, opened, told};
use crate::pickle::{self, Host, Id, Value};
use crate::state::State;

/// The longest pickle that is taken, in bytes: names and numbers, without the elements of tensors. PyTorch stores it as it is; of one that
/// is compressed a few bytes become very many.
const MAX_PICKLE: u64 = 1 << 28;
const MAX_DEFLATED_PICKLE: u64 = 1 << 24;

/// How many bytes the names of a state may take, and its texts.
const MAX_NAMES: usize = 1 << 27;

/// How deeply containers may be nested.
const MAX_DEPTH: usize = 200;

/// What a file of PyTorch's holds. What is in it several times is one and the same here too; a clone is another handle on it.
#[derive(Clone, Debug)]
pub enum Object {
    /// `None`.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer. One of more than 128 bits is a [`Made`](Object::Made) `int`, with its bytes, little-endian in two's complement.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Text(Arc<str>),
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// A tensor, on the host, wherever it was; tensors of one storage share it. So are NumPy's arrays and numbers.
    Tensor(Tensor),
    /// A dtype.
    DType(DType),
    /// A list.
    List(Arc<[Object]>),
    /// A tuple, or a `torch.Size`.
    Tuple(Arc<[Object]>),
    /// A set.
    Set(Arc<[Object]>),
    /// A dictionary of any kind, in its order.
    Dict(Arc<[(Object, Object)]>),
    /// A value of another class that only keeps what it is given: its name, `datetime.date`, and that.
    Made(&'static str, Arc<[Object]>),
}

impl Object {
    /// The value of a key of a dictionary.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Object> {
        let Object::Dict(pairs) = self else { return None };
        pairs.iter().rev().find(|(k, _)| k.as_str() == Some(key)).map(|(_, value)| value)
    }

    /// An item of a list or a tuple.
    #[must_use]
    pub fn at(&self, index: usize) -> Option<&Object> {
        match self {
            Object::List(items) | Object::Tuple(items) => items.get(index),
            _ => None,
        }
    }

    /// The tensor, where it is one.
    #[must_use]
    pub fn as_tensor(&self) -> Option<&Tensor> {
        if let Object::Tensor(t) = self { Some(t) } else { None }
    }

    /// The text, where it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Object::Text(text) = self { Some(text) } else { None }
    }

    /// The integer, where it is one that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if let Object::Int(number) = self { i64::try_from(*number).ok() } else { None }
    }

    /// The number, where it is one.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Object::Int(number) => Some(*number as f64),
            Object::Float(number) => Some(*number),
            _ => None,
        }
    }
}

/// What is in a file of PyTorch's.
///
/// # Errors
///
/// [`ErrorKind::Io`] where the file cannot be read; [`ErrorKind::Format`], which names the file, for one that PyTorch has not written or
/// has written before version 1.6, that is damaged, that names what is not taken, contains itself or is nested more than 200 deep;
/// [`ErrorKind::OutOfMemory`].
#[track_caller]
pub fn load(path: impl AsRef<Path>) -> Result<Object> {
    told("pt::load", load_from(path.as_ref()))
}

impl State {
    /// Loads the tensors of a file of PyTorch's: see [`pt::load`](crate::pt::load). They are called by the keys that lead to them, joined by dots, those
    /// of lists by their places: a `state_dict` by its own names, and one in a dictionary under its key, for [`State::part`]. Numbers, truth
    /// values and texts become metadata.
    ///
    /// # Errors
    ///
    /// As [`pt::load`](crate::pt::load); [`ErrorKind::Value`] for a file without a dictionary, and where two of its tensors would have one name.
    #[track_caller]
    pub fn load_pt(path: impl AsRef<Path>) -> Result<State> {
        let path = path.as_ref();
        let object = told("State::load_pt", load_from(path))?;
        let mut state = State::default();
        // What is there several times has a name for each.
        let mut left = MAX_NAMES;
        let made = match object {
            Object::Dict(_) => named(&mut state, String::new(), &object, &mut left),
            _ => Err("it holds no dictionary; pt::load reads what there is".to_owned()),
        };
        let made = made.map_err(|text| ErrorKind::Value(format!("{}: {text}", path.display())));
        told("State::load_pt", made.map(|()| state))
    }
}

/// Puts what is in an object into a state, under a name.
fn named(
    state: &mut State,
    name: String,
    object: &Object,
    left: &mut usize,
) -> std::result::Result<(), String> {
    let takes = name.len() + object.as_str().map_or(0, str::len) + 64;
    let too_long =
        || format!("names and texts of its values take more than {MAX_NAMES} bytes; pt::load reads them");
    *left = left.checked_sub(takes).ok_or_else(too_long)?;
    let under = |key: String| if name.is_empty() { key } else { format!("{name}.{key}") };
    let text = match object {
        Object::Tensor(t) => {
            return match state.tensors.insert(name.clone(), t.clone()) {
                Some(_) => Err(format!("two tensors are called {name:?}")),
                None => Ok(()),
            };
        }
        Object::Dict(pairs) => {
            // Of a key that was set twice, the last counts.
            let mut known = HashSet::new();
            for (key, value) in pairs.iter().rev() {
                let key = match key {
                    Object::Text(text) => text.to_string(),
                    Object::Int(number) => number.to_string(),
                    Object::Bool(true) => "True".to_owned(),
                    Object::Bool(false) => "False".to_owned(),
                    Object::Float(number) => number.to_string(),
                    _ => return Err(format!("a key of {name:?} that is no text and no number")),
                };
                if known.insert(key.clone()) {
                    named(state, under(key), value, left)?;
                }
            }
            return Ok(());
        }
        Object::List(items) | Object::Tuple(items) => {
            return items
                .iter()
                .enumerate()
                .try_for_each(|(i, item)| named(state, under(i.to_string()), item, left));
        }
        Object::Bool(value) => value.to_string(),
        Object::Int(number) => number.to_string(),
        Object::Float(number) => number.to_string(),
        Object::Text(text) => text.to_string(),
        Object::None | Object::Bytes(_) | Object::DType(_) | Object::Set(_) | Object::Made(..) => {
            return Ok(());
        }
    };
    state.metadata.insert(name, text);
    Ok(())
}

fn load_from(path: &Path) -> Outcome<Object> {
    let name = path.display().to_string();
    let (mut file, length) = opened(path)?;
    let mut head = [0; 2];
    // A pickle says its protocol first, a zip file begins otherwise.
    if length > 1 && file.read_exact(&mut head).is_ok() && head[0] == 0x80 {
        let text =
            "a pickle. Only PyTorch's zip files are read, as torch.save has written them since version 1.6";
        return Err(ErrorKind::Format(format!("{name}: {text}")));
    }
    let mut archive = Archive::open(file, length, name.clone())?;
    let wrong = |text: &str| ErrorKind::Format(format!("{name}: {text}"));
    let pickles: Vec<&String> =
        archive.names().iter().filter(|n| *n == "data.pkl" || n.ends_with("/data.pkl")).collect();
    let [pickle] = pickles[..] else {
        return Err(wrong("a zip file that PyTorch has not written"));
    };
    let (pickle, root) = (pickle.clone(), pickle.trim_end_matches("data.pkl").to_owned());
    let order = format!("{root}byteorder");
    if archive.size(&order).is_some() && archive.bytes(&order, 16)?.trim_ascii() != b"little" {
        return Err(wrong("its elements are in the other byte order"));
    }
    let most = if archive.is_stored(&pickle) { MAX_PICKLE } else { MAX_DEFLATED_PICKLE };
    let data = archive.bytes(&pickle, most)?;
    let mut torch = Torch {
        // Bytes are written as text: that becomes bytes, and these may become an array.
        left: 3 * data.len(),
        archive,
        root,
        storages: vec![],
        by_key: HashMap::new(),
        seen: HashMap::new(),
    };
    let (heap, id) = pickle::read(&data, &mut torch)?;
    let mut made = Made { torch: &mut torch, heap: &heap, done: HashMap::new(), open: HashSet::new() };
    made.object(id)
}

/// What a pickle may call.
#[derive(Clone, Copy, PartialEq)]
enum Function {
    Tensor,
    TensorOfType,
    Parameter,
    FromType,
    Size,
    Dict,
    DefaultDict,
    List,
    Set,
    Encode,
    Bytes,
    /// Keeps what it is given, under this name.
    Kept(&'static str),
    NumPyType,
    NumPyScalar,
    NumPyArray,
    NumPyBuffer,
}

#[derive(Clone)]
enum Thing {
    Function(Function),
    /// A class that is only handed over.
    Class,
    /// That of a storage: of untyped ones, none.
    StorageType(Option<DType>),
    DType(DType),
    /// Which of the storages.
    Storage(usize),
    Tensor(Tensor),
    Kept(&'static str, Arc<[Id]>),
    /// NumPy's code of a type, and the order of its bytes.
    NumPyType(Arc<str>, char),
    /// An array that hears later what it is.
    NumPyArray,
}

/// The elements of one storage.
struct Storage {
    /// The file in the archive.
    file: String,
    dtype: DType,
    bytes: u64,
    /// All of it, as elements of each type that was asked for.
    whole: Vec<(DType, Tensor)>,
}

/// A part of a storage, as elements of a type: its offset, sizes and strides.
type Part = (usize, DType, usize, Vec<usize>, Vec<usize>);

struct Torch<R> {
    archive: Archive<R>,
    root: String,
    storages: Vec<Storage>,
    by_key: HashMap<String, usize>,
    /// One tensor of what was the same part of the same storage.
    seen: HashMap<Part, Tensor>,
    /// How many bytes and items of the pickle may still be copied: what is remembered may be handed over often.
    left: usize,
}

type Heap = Vec<Value<Thing>>;

impl<R: Read + Seek> Torch<R> {
    fn told(&self, error: &Error) -> ErrorKind {
        match error.kind() {
            kind @ ErrorKind::OutOfMemory { .. } => kind.clone(),
            kind => self.wrong(&kind.to_string()),
        }
    }

    fn spend(&mut self, n: usize) -> Outcome<()> {
        match self.left.checked_sub(n) {
            Some(left) => self.left = left,
            None => return Err(self.wrong("its pickle makes more of its bytes than it has")),
        }
        Ok(())
    }

    fn whole(&mut self, at: usize, dtype: DType, like: Option<&[usize]>) -> Outcome<Tensor> {
        let storage = &self.storages[at];
        if let Some((_, t)) = storage.whole.iter().find(|(d, _)| *d == dtype) {
            return Ok(t.clone());
        }
        let (size, bytes, file) = (dtype.size() as u64, storage.bytes, storage.file.clone());
        if bytes % size != 0 {
            return Err(self.wrong(&format!("{file}: {bytes} bytes are no elements of {dtype}")));
        }
        let count = usize::try_from(bytes / size).map_err(|_| self.wrong("a storage that is too large"))?;
        let mut contents = self.archive.read(&file)?;
        let data = elements(dtype, count, false, |bytes| contents.fill(bytes))?;
        contents.finish()?;
        if dtype == DType::Bool
            && let Some(byte) = bytes_of(&data).iter().find(|&&b| b > 1)
        {
            return Err(self.wrong(&format!("{file}: a byte {byte} is no truth value: they are 0 or 1")));
        }
        let shape = match like {
            Some(sizes) => Shape::new(sizes),
            None => Shape::new(&[count]),
        };
        let t = shape.and_then(|shape| Tensor::from_buffer(data, shape)).map_err(|e| self.told(&e))?;
        self.storages[at].whole.push((dtype, t.clone()));
        Ok(t)
    }

    /// A part of a storage.
    fn part(
        &mut self,
        at: usize,
        dtype: DType,
        offset: usize,
        sizes: Vec<usize>,
        strides: Vec<usize>,
    ) -> Outcome<Tensor> {
        let count = self.storages[at].bytes / dtype.size() as u64;
        let told = format!(
            "a tensor of sizes {sizes:?} and strides {strides:?} from element {offset} on, of {count}"
        );
        let is_empty = sizes.contains(&0);
        let last = sizes.iter().zip(&strides).try_fold(offset, |last, (&n, &stride)| {
            last.checked_add(n.saturating_sub(1).checked_mul(stride)?)
        });
        if sizes.len() != strides.len() || (!is_empty && last.is_none_or(|last| last as u64 >= count)) {
            return Err(self.wrong(&told));
        }
        let key = (at, dtype, offset, sizes, strides);
        if let Some(t) = self.seen.get(&key) {
            return Ok(t.clone());
        }
        let (.., sizes, strides) = &key;
        let shape = Shape::new(sizes).map_err(|_| self.wrong(&told))?;
        let t = if is_empty {
            let none = elements(dtype, 0, false, |_| Ok(()))?;
            Tensor::from_buffer(none, shape).map_err(|e| self.told(&e))?
        } else {
            // What is all of a storage in order is the tensor itself, of which others are views.
            let mut next = 1;
            let in_order = sizes.iter().zip(strides).rev().all(|(&n, &stride)| {
                let fits = n == 1 || stride == next;
                next *= n;
                fits
            });
            let is_all = in_order && offset == 0 && next as u64 == count;
            let whole = self.whole(at, dtype, is_all.then_some(&sizes[..]))?;
            if is_all && whole.shape() == shape {
                whole
            } else {
                let strides: Vec<isize> = strides.iter().map(|&stride| stride as isize).collect();
                whole.as_strided(sizes, &strides, Some(offset)).map_err(|e| self.told(&e))?
            }
        };
        self.seen.insert(key, t.clone());
        Ok(t)
    }

    fn rebuilt(&mut self, heap: &Heap, function: Function, arguments: &[Id]) -> Outcome<Tensor> {
        let no_tensor = || self.wrong("a tensor that is none");
        let given = |i: usize| arguments.get(i).map(|&id| &heap[id]);
        if function == Function::Parameter {
            let Some(Value::Thing(Thing::Tensor(t))) = given(0) else { return Err(no_tensor()) };
            let trained = matches!(given(1), Some(Value::Bool(true)));
            return t.detach().requires_grad_(trained).map_err(|e| self.told(&e));
        }
        let Some(Value::Thing(Thing::Storage(at))) = given(0) else { return Err(no_tensor()) };
        let dtype = match (function, given(6)) {
            (Function::TensorOfType, Some(Value::Thing(Thing::DType(dtype)))) => *dtype,
            (Function::Tensor, _) => self.storages[*at].dtype,
            _ => return Err(no_tensor()),
        };
        let number = |value: &Value<Thing>| match value {
            Value::Int(n) => usize::try_from(*n).ok().filter(|&n| isize::try_from(n).is_ok()),
            _ => None,
        };
        let numbers = |value: Option<&Value<Thing>>| match value {
            Some(Value::Tuple(ids) | Value::List(ids)) => ids.iter().map(|&id| number(&heap[id])).collect(),
            _ => None,
        };
        let parts = (given(1).and_then(number), numbers(given(2)), numbers(given(3)));
        let (Some(offset), Some(sizes), Some(strides)): (_, Option<Vec<usize>>, Option<Vec<usize>>) = parts
        else {
            return Err(no_tensor());
        };
        let trained = matches!(given(4), Some(Value::Bool(true)));
        self.spend(sizes.len() + strides.len())?;
        let t = self.part(*at, dtype, offset, sizes, strides)?;
        if trained { t.detach().requires_grad_(true).map_err(|e| self.told(&e)) } else { Ok(t) }
    }

    /// Elements of NumPy's.
    fn array(
        &mut self,
        heap: &mut Heap,
        kind: (&str, char),
        sizes: &[Id],
        data: Id,
        is_turned: bool,
    ) -> Outcome<Thing> {
        let number = |&id: &Id| match &heap[id] {
            Value::Int(n) => usize::try_from(*n).ok(),
            _ => None,
        };
        let no_array = || self.wrong("an array of NumPy's that is none");
        let sizes: Vec<usize> = sizes.iter().map(number).collect::<Option<_>>().ok_or_else(no_array)?;
        let bytes: &[u8] = match &heap[data] {
            Value::Bytes(bytes) => bytes,
            _ => return Err(no_array()),
        };
        let (code, order) = kind;
        let numpy = |d: &DType| d.numpy_name().map(|name| name[1..].to_owned());
        let Some(dtype) = DType::ALL.into_iter().find(|d| numpy(d).as_deref() == Some(code)) else {
            // Text, complex numbers, …: as they are.
            if !code.starts_with(['S', 'U', 'c']) {
                let known: Vec<String> = DType::ALL.iter().filter_map(numpy).collect();
                let text = format!(
                    "elements of NumPy's type {code:?}; taken are {}, text and complex numbers",
                    known.join(", ")
                );
                return Err(self.wrong(&text));
            }
            let code = heap.len();
            heap.push(Value::Text(format!("{}{}", kind.1, kind.0)));
            heap.push(Value::Tuple(vec![]));
            let ids: Vec<Id> = sizes
                .iter()
                .map(|&n| {
                    heap.push(Value::Int(n as i128));
                    heap.len() - 1
                })
                .collect();
            heap[code + 1] = Value::Tuple(ids);
            return Ok(Thing::Kept("numpy.ndarray", Arc::from([code, code + 1, data])));
        };
        let count = sizes.iter().try_fold(1usize, |n, &size| n.checked_mul(size));
        if count.and_then(|n| n.checked_mul(dtype.size())) != Some(bytes.len()) {
            return Err(
                self.wrong(&format!("an array of shape {sizes:?} and type {dtype} of {} bytes", bytes.len()))
            );
        }
        if dtype == DType::Bool && bytes.iter().any(|&b| b > 1) {
            return Err(no_array());
        }
        self.spend(bytes.len())?;
        let is_big = order == '>' || (order == '=' && cfg!(target_endian = "big"));
        let data = elements(dtype, bytes.len() / dtype.size(), is_big, |own| {
            own.copy_from_slice(bytes);
            Ok(())
        })?;
        let lie: Vec<usize> = if is_turned { sizes.iter().rev().copied().collect() } else { sizes };
        let made = || -> Result<Tensor> {
            let t = Tensor::from_buffer(data, Shape::new(&lie)?)?;
            if !is_turned {
                return Ok(t);
            }
            let axes: Vec<isize> = (0..t.rank() as isize).rev().collect();
            let turned = t.permute(&axes)?.copy();
            turned.realize()?;
            Ok(turned)
        };
        made().map(Thing::Tensor).map_err(|e| self.told(&e))
    }
}

/// Classes that only keep what they are given, by their modules and names.
const KEPT: [(&str, &str, &str); 14] = [
    ("torch", "device", "torch.device"),
    ("pathlib", "PosixPath", "pathlib.PosixPath"),
    ("pathlib", "PurePosixPath", "pathlib.PurePosixPath"),
    ("pathlib", "WindowsPath", "pathlib.WindowsPath"),
    ("pathlib", "PureWindowsPath", "pathlib.PureWindowsPath"),
    ("datetime", "date", "datetime.date"),
    ("datetime", "datetime", "datetime.datetime"),
    ("datetime", "time", "datetime.time"),
    ("datetime", "timedelta", "datetime.timedelta"),
    ("datetime", "timezone", "datetime.timezone"),
    ("builtins", "complex", "complex"),
    ("builtins", "range", "range"),
    ("builtins", "slice", "slice"),
    ("builtins", "xrange", "range"),
];

fn found(module: &str, name: &str) -> Option<Thing> {
    use Function::*;
    let function = match (module, name) {
        ("torch._utils", "_rebuild_tensor_v2") => Tensor,
        ("torch._utils", "_rebuild_tensor_v3") => TensorOfType,
        ("torch._utils", "_rebuild_parameter" | "_rebuild_parameter_with_state") => Parameter,
        ("torch._tensor", "_rebuild_from_type_v2") => FromType,
        ("torch", "Size") => Size,
        ("collections", "OrderedDict" | "Counter") | ("builtins", "dict") => Dict,
        ("collections", "defaultdict") => DefaultDict,
        ("builtins", "list") => List,
        ("builtins", "set" | "frozenset") => Set,
        ("_codecs", "encode") => Encode,
        ("builtins", "bytes" | "bytearray") => Bytes,
        ("numpy", "dtype") => NumPyType,
        ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => NumPyScalar,
        ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => NumPyArray,
        ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => NumPyBuffer,
        ("numpy", "ndarray")
        | ("torch", "Tensor")
        | ("torch._tensor", "Tensor")
        | ("torch.nn.parameter", "Parameter" | "Buffer")
        | ("builtins", "int" | "float") => return Some(Thing::Class),
        ("torch" | "torch.storage", "UntypedStorage") => return Some(Thing::StorageType(None)),
        ("torch" | "torch.storage", _) if name.ends_with("Storage") => {
            let class = |d: &DType| d.legacy_name().is_some_and(|n| name.strip_suffix("Storage") == Some(n));
            return DType::ALL.into_iter().find(class).map(|dtype| Thing::StorageType(Some(dtype)));
        }
        _ => {
            let kept = KEPT.iter().find(|(m, n, _)| (*m, *n) == (module, name)).map(|(.., full)| *full);
            if let Some(full) = kept {
                return Some(Thing::Function(Kept(full)));
            }
            let dtype = DType::ALL.into_iter().find(|d| module == "torch" && d.names().contains(&name));
            return dtype.map(Thing::DType);
        }
    };
    Some(Thing::Function(function))
}

impl<R: Read + Seek> Host for Torch<R> {
    type Thing = Thing;

    fn wrong(&self, text: &str) -> ErrorKind {
        ErrorKind::Format(format!("{}: {text}", self.archive.path()))
    }

    fn find(&mut self, module: &str, name: &str) -> Outcome<Thing> {
        // Python's own had another name once.
        let module = if module == "__builtin__" { "builtins" } else { module };
        found(module, name).ok_or_else(|| {
            let text = "Only tensors and plain containers are read: save the state_dict() of what has one";
            self.wrong(&format!("it names {module}.{name}. {text}"))
        })
    }

    fn call(&mut self, heap: &mut Heap, thing: &Thing, arguments: &[Id]) -> Outcome<Value<Thing>> {
        let Thing::Function(function) = thing else {
            return Err(self.wrong("its pickle calls what is no function"));
        };
        let given = |i: usize| arguments.get(i).map(|&id| &heap[id]);
        let not_taken = || self.wrong("its pickle calls a function with what that does not take");
        let thing = match function {
            Function::Tensor | Function::TensorOfType | Function::Parameter => {
                Thing::Tensor(self.rebuilt(heap, *function, arguments)?)
            }
            // A buffer, or a tensor with attributes: what made it, its class, and what that was given.
            Function::FromType => match (given(0), given(2)) {
                (Some(Value::Thing(Thing::Function(inner))), Some(Value::Tuple(inner_arguments)))
                    if matches!(inner, Function::Tensor | Function::TensorOfType | Function::Parameter) =>
                {
                    let (inner, inner_arguments) = (*inner, inner_arguments.clone());
                    self.spend(inner_arguments.len())?;
                    Thing::Tensor(self.rebuilt(heap, inner, &inner_arguments)?)
                }
                _ => return Err(not_taken()),
            },
            Function::Size | Function::List | Function::Set => {
                let items = match given(0) {
                    None => vec![],
                    Some(Value::Tuple(items) | Value::List(items)) => items.clone(),
                    Some(_) => return Err(not_taken()),
                };
                self.spend(items.len())?;
                return Ok(match function {
                    Function::Size => Value::Tuple(items),
                    Function::List => Value::List(items),
                    _ => Value::Set(items),
                });
            }
            // Of what makes its missing entries nothing is kept.
            Function::DefaultDict => return Ok(Value::Dict(vec![])),
            Function::Dict => {
                let pair = |&id: &Id| match &heap[id] {
                    Value::Tuple(pair) | Value::List(pair) => <[Id; 2]>::try_from(&pair[..]).ok(),
                    _ => None,
                };
                let pairs: Vec<(Id, Id)> = match given(0) {
                    None => vec![],
                    Some(Value::Dict(pairs)) => pairs.clone(),
                    Some(Value::List(items) | Value::Tuple(items)) => {
                        let pairs = items.iter().map(|id| pair(id).map(|[k, v]| (k, v)));
                        pairs.collect::<Option<_>>().ok_or_else(not_taken)?
                    }
                    Some(_) => return Err(not_taken()),
                };
                self.spend(pairs.len())?;
                return Ok(Value::Dict(pairs));
            }
            Function::Encode | Function::Bytes => {
                // So are bytes written: as the text of the same numbers.
                let bytes: Vec<u8> = match (given(0), given(1)) {
                    (None, _) => vec![],
                    (Some(Value::Bytes(bytes)), None) if *function == Function::Bytes => bytes.clone(),
                    (Some(Value::Text(text)), Some(Value::Text(code)))
                        if code == "latin1" || code == "latin-1" =>
                    {
                        let bytes = text.chars().map(|c| u8::try_from(u32::from(c)).ok());
                        bytes.collect::<Option<_>>().ok_or_else(not_taken)?
                    }
                    _ => return Err(not_taken()),
                };
                self.spend(bytes.len())?;
                return Ok(Value::Bytes(bytes));
            }
            Function::Kept(name) => Thing::Kept(name, arguments.into()),
            Function::NumPyType => match given(0) {
                Some(Value::Text(code)) => {
                    let order = code.chars().next().filter(|c| "<>=|".contains(*c)).unwrap_or('=');
                    Thing::NumPyType(code.trim_start_matches(['<', '>', '=', '|']).into(), order)
                }
                _ => return Err(not_taken()),
            },
            Function::NumPyArray => Thing::NumPyArray,
            Function::NumPyScalar => match (given(0), arguments.get(1)) {
                (Some(Value::Thing(Thing::NumPyType(code, order))), Some(&data)) => {
                    let (code, order) = (code.clone(), *order);
                    self.array(heap, (&code, order), &[], data, false)?
                }
                _ => return Err(not_taken()),
            },
            Function::NumPyBuffer => match (arguments.first(), given(1), given(2)) {
                (
                    Some(&data),
                    Some(Value::Thing(Thing::NumPyType(code, order))),
                    Some(Value::Tuple(sizes)),
                ) => {
                    let is_turned = matches!(given(3), Some(Value::Text(order)) if order == "F");
                    let (code, order, sizes) = (code.clone(), *order, sizes.clone());
                    self.array(heap, (&code, order), &sizes, data, is_turned)?
                }
                _ => return Err(not_taken()),
            },
        };
        Ok(Value::Thing(thing))
    }

    fn build(&mut self, heap: &mut Heap, thing: Id, state: Id) -> Outcome<()> {
        let Value::Thing(kind) = &heap[thing] else { return Ok(()) };
        let parts: &[Id] = if let Value::Tuple(parts) = &heap[state] { parts } else { &[] };
        match kind {
            Thing::NumPyType(code, _) => {
                if let Some(Value::Text(order)) = parts.get(1).map(|&id| &heap[id])
                    && let Some(order) = order.chars().next().filter(|c| "<>=|".contains(*c))
                {
                    let code = code.clone();
                    heap[thing] = Value::Thing(Thing::NumPyType(code, order));
                }
                Ok(())
            }
            Thing::NumPyArray => {
                let [_, sizes, dtype, is_turned, data] = *parts else {
                    return Err(self.wrong("an array of NumPy's that is none"));
                };
                let (Value::Tuple(sizes), Value::Thing(Thing::NumPyType(code, order))) =
                    (&heap[sizes], &heap[dtype])
                else {
                    return Err(self.wrong("an array of NumPy's that is none"));
                };
                let is_turned = matches!(heap[is_turned], Value::Bool(true));
                let (sizes, code, order) = (sizes.clone(), code.clone(), *order);
                let made = self.array(heap, (&code, order), &sizes, data, is_turned)?;
                heap[thing] = Value::Thing(made);
                Ok(())
            }
            // Attributes that a tensor had.
            Thing::Tensor(_) => Ok(()),
            Thing::Function(_)
            | Thing::Class
            | Thing::StorageType(_)
            | Thing::DType(_)
            | Thing::Storage(_)
            | Thing::Kept(..) => Err(self.wrong("its pickle sets the state of what has none")),
        }
    }

    fn persistent(&mut self, heap: &[Value<Thing>], name: Id) -> Outcome<Thing> {
        let no_storage = || self.wrong("its pickle names what is no storage");
        let Value::Tuple(parts) = &heap[name] else { return Err(no_storage()) };
        let [word, kind, key, _, count] = parts[..parts.len().min(5)] else { return Err(no_storage()) };
        let (Value::Text(word), Value::Thing(Thing::StorageType(dtype)), Value::Text(key), Value::Int(count)) =
            (&heap[word], &heap[kind], &heap[key], &heap[count])
        else {
            return Err(no_storage());
        };
        if word != "storage" || key.contains('/') {
            return Err(no_storage());
        }
        if let Some(&at) = self.by_key.get(key) {
            return Ok(Thing::Storage(at));
        }
        let file = format!("{}data/{key}", self.root);
        let bytes = self.archive.size(&file).ok_or_else(|| self.wrong(&format!("{file} is missing")))?;
        let dtype = dtype.unwrap_or(DType::U8);
        if count.checked_mul(dtype.size() as i128) != Some(i128::from(bytes)) {
            let text = format!("storage {key} has {bytes} bytes; it is to have {count} elements of {dtype}");
            return Err(self.wrong(&text));
        }
        let at = self.storages.len();
        self.by_key.insert(key.clone(), at);
        self.storages.push(Storage { file, dtype, bytes, whole: vec![] });
        Ok(Thing::Storage(at))
    }
}

/// What the values of a pickle are.
struct Made<'a, R> {
    torch: &'a mut Torch<R>,
    heap: &'a Heap,
    done: HashMap<Id, Object>,
    /// What is being made.
    open: HashSet<Id>,
}

impl<R: Read + Seek> Made<'_, R> {
    fn object(&mut self, id: Id) -> Outcome<Object> {
        if let Some(done) = self.done.get(&id) {
            return Ok(done.clone());
        }
        if self.open.len() >= MAX_DEPTH || !self.open.insert(id) {
            let text = format!("what is in it contains itself, or is nested more than {MAX_DEPTH} deep");
            return Err(self.torch.wrong(&text));
        }
        let object = match &self.heap[id] {
            Value::None => Object::None,
            Value::Bool(value) => Object::Bool(*value),
            Value::Int(value) => Object::Int(*value),
            Value::Large(bytes) => Object::Made("int", Arc::from([Object::Bytes(bytes.as_slice().into())])),
            Value::Float(value) => Object::Float(*value),
            Value::Text(text) => Object::Text(text.as_str().into()),
            Value::Bytes(bytes) => Object::Bytes(bytes.as_slice().into()),
            Value::List(items) => Object::List(self.objects(items)?),
            Value::Tuple(items) => Object::Tuple(self.objects(items)?),
            Value::Set(items) => Object::Set(self.objects(items)?),
            Value::Dict(pairs) => {
                let pairs = pairs.iter().map(|&(k, v)| Ok((self.object(k)?, self.object(v)?)));
                Object::Dict(pairs.collect::<Outcome<Vec<_>>>()?.into())
            }
            Value::Thing(Thing::Tensor(t)) => Object::Tensor(t.clone()),
            Value::Thing(Thing::DType(dtype)) => Object::DType(*dtype),
            Value::Thing(Thing::Storage(at)) => {
                let dtype = self.torch.storages[*at].dtype;
                let whole = self.torch.whole(*at, dtype, None)?;
                Object::Tensor(whole.reshape(&[-1]).map_err(|e| self.torch.told(&e))?)
            }
            Value::Thing(Thing::Kept(name, arguments)) => Object::Made(name, self.objects(arguments)?),
            Value::Thing(
                Thing::Function(_)
                | Thing::Class
                | Thing::StorageType(_)
                | Thing::NumPyType(..)
                | Thing::NumPyArray,
            ) => return Err(self.torch.wrong("it holds a class or a function, not what one makes")),
        };
        self.open.remove(&id);
        self.done.insert(id, object.clone());
        Ok(object)
    }

    fn objects(&mut self, ids: &[Id]) -> Outcome<Arc<[Object]>> {
        ids.iter().map(|&id| self.object(id)).collect()
    }
}
