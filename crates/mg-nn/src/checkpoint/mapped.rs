//! Safetensors files that are mapped into memory: what is not looked at is not read.

use std::collections::BTreeMap;
use std::fs::File;
#[cfg(not(any(unix, windows)))]
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use mg_autograd::Tensor;
use mg_device::{Buffer, DType, Device, Error, ErrorKind, Result, Shape};

use super::{Header, Outcome, bytes_of, cannot_load, elements, header_of, is_truth, opened, swap_bytes};
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
    file: At,
    map: Option<Arc<Map>>,
    length: usize,
}

/// A file that several threads read at places of their own.
struct At(#[cfg(any(unix, windows))] File, #[cfg(not(any(unix, windows)))] Mutex<File>);

impl At {
    #[cfg(unix)]
    fn read(&self, bytes: &mut [u8], at: u64) -> std::io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, bytes, at)
    }

    #[cfg(windows)]
    fn read(&self, mut bytes: &mut [u8], mut at: u64) -> std::io::Result<()> {
        while !bytes.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(&self.0, bytes, at) {
                Ok(0) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => (bytes, at) = (&mut bytes[n..], at + n as u64),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    #[cfg(not(any(unix, windows)))]
    fn read(&self, bytes: &mut [u8], at: u64) -> std::io::Result<()> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(bytes))
    }
}

/// Elements of a file: the name of their tensor, and from which byte on they are there.
struct Part<'a> {
    name: &'a str,
    dtype: DType,
    shape: Shape,
    at: usize,
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
        #[cfg(not(any(unix, windows)))]
        let file = Mutex::new(file);
        Pages { path: path.to_path_buf(), file: At(file), map, length }
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
        self.here(&Part { name: "elements", dtype, shape: Shape::new(&[n])?, at })
    }

    /// Parts on a device, copied, all at once.
    #[track_caller]
    fn copied(&self, device: Device, parts: &[Part<'_>]) -> Result<Vec<Tensor>> {
        let lengths: Vec<(DType, usize)> =
            parts.iter().map(|part| (part.dtype, part.shape.numel())).collect();
        let fill = |which: usize, from: usize, bytes: &mut [u8]| {
            let Part { name, dtype, at, .. } = &parts[which];
            failed(self.read(at + from, bytes))?;
            if *dtype == DType::Bool {
                failed(is_truth(bytes, from, name, &self.path))?;
            }
            if cfg!(target_endian = "big") {
                swap_bytes(bytes, dtype.size());
            }
            Ok(())
        };
        // The line of the caller, and not that of the thread that read.
        let made = failed(Buffer::filled(device, &lengths, &fill).map_err(|e| e.kind().clone()))?;
        let tensor = |(buffer, part): (Buffer, &Part<'_>)| Tensor::from_buffer(buffer, part.shape);
        made.into_iter().zip(parts).map(tensor).collect()
    }

    /// One part on a device: on the host as by [`Pages::here`].
    #[track_caller]
    fn one_on(&self, device: Device, part: &Part<'_>) -> Result<Tensor> {
        if device.is_cpu() {
            return self.here(part);
        }
        let one = self.copied(device, std::slice::from_ref(part))?.pop();
        failed(one.ok_or_else(|| ErrorKind::Internal(format!("{:?} was not read", part.name))))
    }

    /// Elements on the host: a view of the mapped pages where there can be one.
    #[track_caller]
    fn here(&self, part: &Part<'_>) -> Result<Tensor> {
        let Part { name, dtype, shape, at } = *part;
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
            None => {
                let fill = |bytes: &mut [u8]| self.read(at, bytes);
                failed(elements(dtype, n, false, fill))?
            }
        };
        if dtype == DType::Bool {
            failed(is_truth(bytes_of(&buffer), 0, name, &self.path))?;
        }
        Tensor::from_buffer(buffer, shape)
    }

    /// Bytes from one of the file on.
    fn read(&self, at: usize, bytes: &mut [u8]) -> Outcome<()> {
        self.file.read(bytes, at as u64).map_err(|e| cannot_load(&self.path, &e))
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
        let (file, header) = failed(header_of(path))?;
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
        self.pages.here(&self.whole(name)?)
    }

    /// A tensor on a device. What a CUDA device takes is not mapped: several threads read the file into page-locked memory, and the device
    /// copies what they have read meanwhile.
    ///
    /// # Errors
    ///
    /// As [`Mapped::tensor`] and [`Buffer::filled`].
    #[track_caller]
    pub fn tensor_on(&self, name: &str, device: Device) -> Result<Tensor> {
        self.pages.one_on(device, &self.whole(name)?)
    }

    /// Tensors on a device, copied there all at once, which is faster than one by one where many are small. Nothing of them is mapped, on the
    /// host neither: what becomes of the file later does not matter to them.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use mg_device::{Buffer, Device, Shape};
    /// use mg_nn::checkpoint::{self, Mapped, View};
    ///
    /// let path = std::env::temp_dir().join(format!("read-{}.safetensors", std::process::id()));
    /// let bias = Buffer::from_vec(vec![1.0f32, 2.0]);
    /// checkpoint::save(&path, &[View::new("bias", Shape::from([2]), &bias)?], &BTreeMap::new())?;
    ///
    /// let file = Mapped::open(&path)?;
    /// let names: Vec<&str> = file.names().collect();
    /// let device = if Device::is_cuda_available() { Device::cuda(0)? } else { Device::cpu() };
    /// assert_eq!(file.read(&names, device)?["bias"].to_vec::<f32>()?, [1.0, 2.0]);
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Mapped::tensor_on`].
    #[track_caller]
    pub fn read(&self, names: &[&str], device: Device) -> Result<BTreeMap<String, Tensor>> {
        let mut parts = Vec::with_capacity(names.len());
        for name in names {
            parts.push(self.whole(name)?);
        }
        let tensors = self.pages.copied(device, &parts)?;
        Ok(names.iter().map(|name| (*name).to_string()).zip(tensors).collect())
    }

    /// `length` rows of a tensor on the host, from `start` on: the others are not read.
    ///
    /// # Errors
    ///
    /// As [`Mapped::tensor`]; [`ErrorKind::Value`] for rows that are not there.
    #[track_caller]
    pub fn rows(&self, name: &str, start: usize, length: usize) -> Result<Tensor> {
        self.pages.here(&self.some(name, start, length)?)
    }

    /// As [`Mapped::rows`], on a device.
    ///
    /// # Errors
    ///
    /// As [`Mapped::rows`] and [`Mapped::tensor_on`].
    #[track_caller]
    pub fn rows_on(&self, name: &str, start: usize, length: usize, device: Device) -> Result<Tensor> {
        self.pages.one_on(device, &self.some(name, start, length)?)
    }

    /// Where rows of a tensor are.
    #[track_caller]
    fn some<'a>(&self, name: &'a str, start: usize, length: usize) -> Result<Part<'a>> {
        let Part { dtype, shape, at, .. } = self.whole(name)?;
        let rows = shape.first().copied().unwrap_or(0);
        if shape.is_empty() || start.checked_add(length).is_none_or(|end| end > rows) {
            let text = format!("rows {start} and {length} on of tensor {name:?} of shape {shape}");
            return Err(Error::new("checkpoint::Mapped", ErrorKind::Value(text)));
        }
        let mut sizes = shape.to_vec();
        sizes[0] = length;
        let row = shape.numel() / rows.max(1) * dtype.size();
        Ok(Part { name, dtype, shape: Shape::new(&sizes)?, at: at + start * row })
    }

    /// Where a tensor is. The header has been checked: it is in the file.
    #[track_caller]
    fn whole<'a>(&self, name: &'a str) -> Result<Part<'a>> {
        let text = || format!("there is no tensor {name:?} in {}", self.pages.path.display());
        let (dtype, shape) =
            self.info(name)?.ok_or_else(|| Error::new("checkpoint::Mapped", ErrorKind::Value(text())))?;
        Ok(Part { name, dtype, shape, at: self.header.start + self.header.entries[name].offsets.0 })
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

    /// All tensors on the host.
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

    /// Tensors on a device, copied there: as [`Mapped::read`], file by file.
    ///
    /// # Errors
    ///
    /// As [`Sharded::file_of`] and [`Mapped::read`].
    #[track_caller]
    pub fn read(&self, names: &[&str], device: Device) -> Result<BTreeMap<String, Tensor>> {
        let mut files: Vec<(Arc<Mapped>, Vec<&str>)> = vec![];
        for name in names {
            let file = self.file_of(name)?;
            match files.iter_mut().find(|(known, _)| Arc::ptr_eq(known, &file)) {
                Some((_, its)) => its.push(name),
                None => files.push((file, vec![name])),
            }
        }
        let mut tensors = BTreeMap::new();
        for (file, names) in files {
            tensors.append(&mut file.read(&names, device)?);
        }
        Ok(tensors)
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
