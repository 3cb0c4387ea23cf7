//! Safetensors files that are mapped into memory: what is not looked at is not read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use mg_autograd::Tensor;
use mg_device::{Buffer, DType, Device, Error, ErrorKind, Result, Shape};

use super::{Header, Outcome, header_of, is_truth, opened, swap_bytes};
use crate::state::State;

/// Memory that a file is mapped into, privately: what is written to it is written to a copy of its page.
struct Map {
    ptr: *mut u8,
    len: usize,
}

// SAFETY: plain memory that nobody else knows of; the engine orders what it reads and writes of it.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    #[cfg(unix)]
    fn of(file: &File, len: usize) -> Option<Map> {
        use std::os::fd::AsRawFd;
        if len == 0 {
            return None;
        }
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE);
        // SAFETY: a new mapping of an open file, wherever the system puts it.
        let ptr = unsafe { libc::mmap(std::ptr::null_mut(), len, access, flags, file.as_raw_fd(), 0) };
        (ptr != libc::MAP_FAILED).then(|| Map { ptr: ptr.cast(), len })
    }

    /// Other systems read what is asked for.
    #[cfg(not(unix))]
    fn of(_: &File, _: usize) -> Option<Map> {
        None
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        #[cfg(unix)]
        // SAFETY: the mapping that `of` made, which nobody has any more.
        unsafe {
            libc::munmap(self.ptr.cast(), self.len);
        }
    }
}

/// A file of elements whose places are known, which are read when they are looked at: as [`Mapped`], of a file of another format.
pub struct Pages {
    path: PathBuf,
    file: Mutex<File>,
    map: Option<Arc<Map>>,
    length: usize,
}

impl Pages {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] where it cannot be.
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> Result<Pages> {
        let path = path.as_ref();
        let (file, length) = failed(opened(path))?;
        Ok(Pages::of(path, file, usize::try_from(length).unwrap_or(usize::MAX)))
    }

    fn of(path: &Path, file: File, length: usize) -> Pages {
        let map = Map::of(&file, length).map(Arc::new);
        Pages { path: path.to_path_buf(), file: Mutex::new(file), map, length }
    }

    /// `n` elements from a byte of the file on.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Format`] for elements beyond the file's end, and truth values that are neither 0 nor 1.
    #[track_caller]
    pub fn line(&self, at: usize, n: usize, dtype: DType) -> Result<Tensor> {
        let bytes = n.checked_mul(dtype.size());
        if bytes.and_then(|bytes| at.checked_add(bytes)).is_none_or(|end| end > self.length) {
            let name = self.path.display();
            let text = format!("{name}: {n} elements of {dtype} from byte {at} on of {} bytes", self.length);
            return failed(Err(ErrorKind::Format(text)));
        }
        self.part("elements", dtype, Shape::new(&[n])?, at)
    }

    /// Elements from a byte on, which are in the file.
    fn part(&self, name: &str, dtype: DType, shape: Shape, at: usize) -> Result<Tensor> {
        let n = shape.numel();
        let mapped = self.map.as_ref().filter(|map| {
            let is_inside = at.checked_add(n * dtype.size()).is_some_and(|end| end <= map.len);
            is_inside
                && n > 0
                && cfg!(target_endian = "little")
                && (map.ptr as usize + at).is_multiple_of(dtype.size())
        });
        let buffer = match mapped {
            Some(map) => {
                // SAFETY: within the mapping, as filtered.
                let ptr = unsafe { map.ptr.add(at) };
                // SAFETY: `n` aligned elements within the mapping, which the owner keeps; any bits are elements, but for
                // truth values, which are looked at below, before anybody else has the buffer.
                unsafe { Buffer::from_foreign(ptr, n, dtype, Box::new(map.clone())) }
            }
            None => self.read(dtype, n, at)?,
        };
        if dtype == DType::Bool && n > 0 {
            // SAFETY: `n` bytes of the buffer, on the host.
            let bytes = unsafe { std::slice::from_raw_parts(buffer.as_ptr(), n) };
            failed(is_truth(bytes, name, &self.path))?;
        }
        Tensor::from_buffer(buffer, shape)
    }

    fn read(&self, dtype: DType, n: usize, at: usize) -> Result<Buffer> {
        let buffer = Buffer::uninit(Device::cpu(), dtype, n)?;
        // SAFETY: the buffer is new, so nobody else reads or writes it, and its bytes are initialised, to anything.
        let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr(), buffer.bytes()) };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file.seek(SeekFrom::Start(at as u64)).and_then(|_| file.read_exact(bytes));
        failed(read.map_err(|e| ErrorKind::Io(format!("cannot load {}: {e}", self.path.display()))))?;
        if cfg!(target_endian = "big") {
            swap_bytes(bytes, dtype.size());
        }
        Ok(buffer)
    }
}

/// A safetensors file whose tensors are read when they are asked for.
///
/// Where the system can, the file is mapped: a tensor is a view of the file's pages, which are read when its elements are,
/// and shared with other processes until it is written to, which the file does not see. The file must not be made shorter
/// meanwhile; to replace it, as [`save`](super::save) does, is harmless.
///
/// ```
/// use std::collections::BTreeMap;
/// use mg_device::{Buffer, Shape};
/// use mg_nn::checkpoint::{self, Mapped, View};
///
/// let path = std::env::temp_dir().join(format!("mapped-{}.safetensors", std::process::id()));
/// let weight = Buffer::from_vec(vec![1.0f32, 2.0, 3.0, 4.0]);
/// checkpoint::save(&path, &[View::new("weight", Shape::from([2, 2]), &weight)?], &BTreeMap::new())?;
///
/// let file = Mapped::open(&path)?;
/// assert_eq!(file.names().collect::<Vec<_>>(), ["weight"]);
/// assert_eq!(file.rows("weight", 1, 1)?.to_vec::<f32>()?, [3.0, 4.0]);
/// # drop(file);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct Mapped {
    header: Header,
    pages: Pages,
}

#[track_caller]
fn failed<T>(outcome: Outcome<T>) -> Result<T> {
    outcome.map_err(|kind| Error::new("checkpoint::Mapped", kind))
}

impl Mapped {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    ///
    /// As [`load`](super::load), but for what is in tensors.
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> Result<Mapped> {
        let path = path.as_ref();
        let (mut file, header) = failed(header_of(path))?;
        failed(file.rewind().map_err(|e| ErrorKind::Io(format!("cannot load {}: {e}", path.display()))))?;
        let length = header.start + header.bytes;
        Ok(Mapped { header, pages: Pages::of(path, file, length) })
    }

    /// The tensors' names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.header.entries.keys().map(String::as_str)
    }

    /// What else was saved.
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.header.metadata
    }

    /// The dtype and the shape of a tensor, if it is there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Format`] for a dtype that there is none of here and for ranks above 8.
    #[track_caller]
    pub fn info(&self, name: &str) -> Result<Option<(DType, Shape)>> {
        let Some(entry) = self.header.entries.get(name) else { return Ok(None) };
        failed(entry.known(name, &self.pages.path)).map(Some)
    }

    /// A tensor on the host.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a name that is not there; as [`load`](super::load).
    #[track_caller]
    pub fn tensor(&self, name: &str) -> Result<Tensor> {
        let (dtype, shape) = self.known(name)?;
        let start = self.header.entries[name].offsets.0;
        self.part(name, dtype, shape, start)
    }

    /// `length` rows of a tensor, from `start` on: the others are not read.
    ///
    /// # Errors
    ///
    /// As [`Mapped::tensor`]; [`ErrorKind::Value`] for rows that are not there.
    #[track_caller]
    pub fn rows(&self, name: &str, start: usize, length: usize) -> Result<Tensor> {
        let (dtype, shape) = self.known(name)?;
        let rows = shape.first().copied().unwrap_or(0);
        if shape.is_empty() || start.checked_add(length).is_none_or(|end| end > rows) {
            let text = format!("rows {start} and {length} on of tensor {name:?} of shape {shape}");
            return Err(Error::new("checkpoint::Mapped", ErrorKind::Value(text)));
        }
        let mut sizes = shape.to_vec();
        sizes[0] = length;
        let row = shape.numel() / rows.max(1) * dtype.size();
        let from = self.header.entries[name].offsets.0 + start * row;
        self.part(name, dtype, Shape::new(&sizes)?, from)
    }

    #[track_caller]
    fn known(&self, name: &str) -> Result<(DType, Shape)> {
        let text = || format!("there is no tensor {name:?} in {}", self.pages.path.display());
        self.info(name)?.ok_or_else(|| Error::new("checkpoint::Mapped", ErrorKind::Value(text())))
    }

    /// Elements from a byte of the data on. The header has been checked: they are in the file.
    fn part(&self, name: &str, dtype: DType, shape: Shape, from: usize) -> Result<Tensor> {
        self.pages.part(name, dtype, shape, self.header.start + from)
    }
}

/// The tensors of several safetensors files that an index names: `model.safetensors.index.json`.
pub struct Sharded {
    folder: PathBuf,
    /// The file of each tensor.
    weight_map: BTreeMap<String, String>,
    open: Mutex<BTreeMap<String, Arc<Mapped>>>,
}

/// An index is a list of names; what is larger is none.
const MAX_INDEX: u64 = 100_000_000;

impl Sharded {
    /// Reads an index. Its files, which are beside it, are opened when they are asked for.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] where it cannot be read, [`ErrorKind::Format`] where it is no index, or names a file elsewhere.
    #[track_caller]
    pub fn open(index: impl AsRef<Path>) -> Result<Sharded> {
        failed(index_of(index.as_ref()))
    }

    /// The tensors' names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.weight_map.keys().map(String::as_str)
    }

    /// The file that a tensor is in.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a name that is not there; as [`Mapped::open`].
    #[track_caller]
    pub fn file_of(&self, name: &str) -> Result<Arc<Mapped>> {
        let Some(file) = self.weight_map.get(name) else {
            let text = format!("there is no tensor {name:?} in the index in {}", self.folder.display());
            return Err(Error::new("checkpoint::Sharded", ErrorKind::Value(text)));
        };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.get(file) {
            return Ok(known.clone());
        }
        let mapped = Arc::new(Mapped::open(self.folder.join(file))?);
        open.insert(file.clone(), mapped.clone());
        Ok(mapped)
    }

    /// A tensor on the host.
    ///
    /// # Errors
    ///
    /// As [`Sharded::file_of`] and [`Mapped::tensor`].
    #[track_caller]
    pub fn tensor(&self, name: &str) -> Result<Tensor> {
        self.file_of(name)?.tensor(name)
    }

    /// All tensors.
    ///
    /// # Errors
    ///
    /// As [`Sharded::tensor`].
    #[track_caller]
    pub fn state(&self) -> Result<State> {
        let mut state = State::default();
        for name in self.weight_map.keys() {
            state.tensors.insert(name.clone(), self.tensor(name)?);
        }
        Ok(state)
    }
}

fn index_of(path: &Path) -> Outcome<Sharded> {
    let name = path.display();
    let cannot = |e: std::io::Error| ErrorKind::Io(format!("cannot load {name}: {e}"));
    let wrong = |text: String| ErrorKind::Format(format!("{name}: {text}"));
    let about = std::fs::metadata(path).map_err(cannot)?;
    if !about.is_file() {
        return Err(cannot(std::io::Error::other("not a regular file")));
    }
    if about.len() > MAX_INDEX {
        return Err(wrong(format!("no index: {} bytes; at most {MAX_INDEX} are taken", about.len())));
    }
    let text = std::fs::read(path).map_err(cannot)?;
    let json: serde_json::Value =
        serde_json::from_slice(&text).map_err(|e| wrong(format!("no index: {e}")))?;
    let Some(entries) = json.get("weight_map").and_then(serde_json::Value::as_object) else {
        return Err(wrong("no index: it has no \"weight_map\"".into()));
    };
    let mut weight_map = BTreeMap::new();
    for (tensor, file) in entries {
        let Some(file) = file.as_str() else {
            return Err(wrong(format!("tensor {tensor:?}: its file is {file}, which is no name")));
        };
        // An index that somebody else wrote says nothing of files elsewhere.
        let mut parts = Path::new(file).components();
        if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
            return Err(wrong(format!("tensor {tensor:?}: its file {file:?} is not beside the index")));
        }
        weight_map.insert(tensor.clone(), file.to_string());
    }
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    Ok(Sharded { folder, weight_map, open: Mutex::default() })
}

impl State {
    /// Saves the tensors in files of at most `max_bytes` each (a larger tensor has one by itself), in a folder that is there,
    /// with an index: `model-00001-of-00003.safetensors`, …, `model.safetensors.index.json`. What fits in one file is
    /// `model.safetensors`. The index is written last, so whoever finds it finds its files.
    ///
    /// # Errors
    ///
    /// As [`State::save`].
    #[track_caller]
    pub fn save_sharded(&self, folder: impl AsRef<Path>, max_bytes: usize) -> Result<()> {
        let folder = folder.as_ref();
        let mut shards: Vec<(usize, State)> = Vec::new();
        for (name, t) in &self.tensors {
            let bytes = t.numel() * t.dtype().size();
            match shards.last_mut() {
                Some((held, shard)) if *held + bytes <= max_bytes => {
                    *held += bytes;
                    shard.tensors.insert(name.clone(), t.clone());
                }
                _ => {
                    let mut shard = State { metadata: self.metadata.clone(), ..State::default() };
                    shard.tensors.insert(name.clone(), t.clone());
                    shards.push((bytes, shard));
                }
            }
        }
        if shards.len() <= 1 {
            return self.save(folder.join("model.safetensors"));
        }
        let (count, mut weight_map, mut total) = (shards.len(), serde_json::Map::new(), 0);
        for (i, (bytes, shard)) in shards.iter().enumerate() {
            let file = format!("model-{:05}-of-{count:05}.safetensors", i + 1);
            shard.save(folder.join(&file))?;
            weight_map.extend(shard.tensors.keys().map(|name| (name.clone(), file.clone().into())));
            total += bytes;
        }
        let index = serde_json::json!({ "metadata": { "total_size": total }, "weight_map": weight_map });
        super::replace(&folder.join("model.safetensors.index.json"), index.to_string().as_bytes())
    }
}
