//! Checkpoints: named tensors in a safetensors file, which PyTorch, JAX and the rest read and write too.
//!
//! The file is a little-endian u64 with the length of a JSON header, the header, which maps names to dtype, shape and byte
//! range, and the elements of all tensors without gaps. Source: the format's description at
//! <https://huggingface.co/docs/safetensors>.
//!
//! [`save`] never leaves a broken file: it writes another one beside it, has it put on the disk, and only then renames it.
//!
//! ```
//! use std::collections::BTreeMap;
//! use mg_device::{Buffer, Shape};
//! use mg_nn::checkpoint::{self, View};
//!
//! let path = std::env::temp_dir().join(format!("weights-{}.safetensors", std::process::id()));
//! let weight = Buffer::from_vec(vec![1.0f32, 2.0, 3.0, 4.0]);
//! let view = View::new("weight", Shape::from([2, 2]), &weight)?;
//! checkpoint::save(&path, &[view], &BTreeMap::from([("epoch".into(), "3".into())]))?;
//!
//! let loaded = checkpoint::load(&path)?;
//! assert_eq!(loaded.tensors["weight"].data.as_slice::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
//! assert_eq!(loaded.metadata["epoch"], "3");
//! # std::fs::remove_file(&path).unwrap();
//! # Ok::<(), mg_device::Error>(())
//! ```

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

mod mapped;

pub use mapped::{Mapped, Pages, Sharded};

use mg_device::{Buffer, DType, Device, Error, ErrorKind, Result, Shape};
use safetensors::tensor::{Dtype, Metadata, TensorInfo};

/// The longest header that readers of the format take, in bytes.
const MAX_HEADER: usize = 100_000_000;

/// A tensor to be saved: a name and contiguous elements on the host.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    name: &'a str,
    shape: Shape,
    dtype: DType,
    bytes: &'a [u8],
}

impl<'a> View<'a> {
    /// All of `buffer` under `name`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Shape`] where `shape` has another number of elements than the buffer, [`ErrorKind::Device`] where the
    /// buffer is not on the host.
    #[track_caller]
    pub fn new(name: &'a str, shape: Shape, buffer: &'a Buffer) -> Result<View<'a>> {
        if !buffer.device().is_cpu() {
            let text = format!("{name:?} is on {}; only host memory can be saved", buffer.device());
            return Err(Error::new("checkpoint::save", ErrorKind::Device(text)));
        }
        // SAFETY: the memory is the host's, holds that many initialised bytes, lives as long as the borrow of the buffer,
        // and is not written meanwhile by the contract of `Buffer`.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.as_ptr(), buffer.bytes()) };
        View::from_bytes(name, buffer.dtype(), shape, bytes)
    }

    /// Elements of `dtype` as they lie in memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Shape`] where `bytes` are not as many as `shape` of `dtype` takes.
    #[track_caller]
    pub fn from_bytes(name: &'a str, dtype: DType, shape: Shape, bytes: &'a [u8]) -> Result<View<'a>> {
        if shape.numel().checked_mul(dtype.size()) != Some(bytes.len()) {
            let text = format!("{name:?}: {} bytes are not {dtype} of shape {shape}", bytes.len());
            return Err(Error::new("checkpoint::save", ErrorKind::Shape(text)));
        }
        Ok(View { name, shape, dtype, bytes })
    }
}

/// A tensor that was loaded, on the host.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The sizes of the axes.
    pub shape: Shape,
    /// The elements, contiguous, `shape.numel()` of them.
    pub data: Buffer,
}

impl Entry {
    /// The dtype of the elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.data.dtype()
    }
}

/// What a checkpoint holds.
#[derive(Debug, Clone, Default)]
pub struct Checkpoint {
    /// The tensors by name.
    pub tensors: BTreeMap<String, Entry>,
    /// What else was saved with them.
    pub metadata: BTreeMap<String, String>,
}

/// Saves tensors and metadata to a safetensors file. The same contents give the same bytes.
///
/// An older file of that name is replaced in one step: whoever opens it, at whatever moment the process, the disk or the
/// machine fails, finds the old one or the new one, whole. A failed save leaves nothing behind; a killed one may leave a
/// file `.checkpoint-….tmp` beside it, which the next save to the same path removes. A symbolic link is followed, and the permissions of an older file are kept.
///
/// # Errors
///
/// [`ErrorKind::Io`], with the path, where the file cannot be written or is not a regular file; [`ErrorKind::Value`] where
/// two tensors have one name, one has the format's own name `__metadata__`, or the header would be over 100 MB.
#[track_caller]
pub fn save(path: impl AsRef<Path>, tensors: &[View<'_>], metadata: &BTreeMap<String, String>) -> Result<()> {
    told("checkpoint::save", save_to(path.as_ref(), tensors, metadata))
}

/// What [`save`] writes, as bytes.
///
/// # Errors
///
/// [`ErrorKind::Value`] as [`save`]; [`ErrorKind::OutOfMemory`].
#[track_caller]
pub fn to_bytes(tensors: &[View<'_>], metadata: &BTreeMap<String, String>) -> Result<Vec<u8>> {
    let written = ordered(tensors, metadata).and_then(|(order, header)| {
        let requested = header.len() + order.iter().map(|view| view.bytes.len()).sum::<usize>();
        let mut out = vec![];
        out.try_reserve_exact(requested).map_err(|_| ErrorKind::OutOfMemory {
            requested,
            active: 0,
            cached: 0,
            limit: None,
            free: None,
        })?;
        let cannot = |e| ErrorKind::Io(format!("cannot save: {e}"));
        write_all(&mut out, &header, &order).map_err(cannot)?;
        Ok(out)
    });
    told("checkpoint::to_bytes", written)
}

/// Loads a safetensors file.
///
/// # Errors
///
/// [`ErrorKind::Io`] where the file cannot be read; [`ErrorKind::Format`], which names the file and where it can the tensor,
/// for everything that is not as it should be in it: its length, its header, ranges that overlap or leave gaps, dtypes
/// that there are none of here, ranks above 8, `bool`s that are not 0 or 1; [`ErrorKind::OutOfMemory`].
#[track_caller]
pub fn load(path: impl AsRef<Path>) -> Result<Checkpoint> {
    told("checkpoint::load", load_from(path.as_ref()))
}

/// What [`load`] loads, from the bytes of a file.
///
/// # Errors
///
/// [`ErrorKind::Format`] and [`ErrorKind::OutOfMemory`] as [`load`].
#[track_caller]
pub fn from_bytes(bytes: &[u8]) -> Result<Checkpoint> {
    told("checkpoint::from_bytes", read(bytes, bytes.len() as u64, Path::new("the bytes")))
}

pub(crate) type Outcome<T> = std::result::Result<T, ErrorKind>;

/// What an operation answers its caller with.
#[track_caller]
pub(crate) fn told<T>(op: &'static str, outcome: Outcome<T>) -> Result<T> {
    match outcome {
        Ok(made) => Ok(made),
        Err(kind) => Err(Error::new(op, kind)),
    }
}

fn save_to(path: &Path, tensors: &[View<'_>], metadata: &BTreeMap<String, String>) -> Outcome<()> {
    let (order, header) = ordered(tensors, metadata)?;
    put(path, |file| write(file, &header, &order))
}

/// Tensors in the order in which they lie in a file, and what stands before them.
fn ordered<'a, 'b>(
    tensors: &'a [View<'b>],
    metadata: &BTreeMap<String, String>,
) -> Outcome<(Vec<&'a View<'b>>, Vec<u8>)> {
    let mut order: Vec<&View<'_>> = tensors.iter().collect();
    // Wide elements first, so that each tensor is aligned to its elements for readers that map the file.
    order.sort_by(|a, b| b.dtype.size().cmp(&a.dtype.size()).then(a.name.cmp(b.name)));
    let header = header(&order, metadata)?;
    Ok((order, header))
}

/// Has a file be written, which then takes the place of an older one of that name in one step, with its permissions.
pub(crate) fn put(path: &Path, write: impl FnOnce(File) -> io::Result<()>) -> Outcome<()> {
    let cannot = |e: io::Error| ErrorKind::Io(format!("cannot save {}: {e}", path.display()));
    // What a link points to is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let older = match fs::metadata(&target) {
        Ok(m) if m.is_file() => Some(m),
        Ok(_) => return Err(cannot(io::Error::other("it is there and no regular file"))),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(cannot(e)),
    };
    let (temporary, file) = Temporary::beside(&target).map_err(cannot)?;
    if let Some(older) = older {
        // Where that is not allowed, the new file has the usual permissions.
        let _ = fs::set_permissions(&temporary.0, older.permissions());
    }
    write(file).map_err(cannot)?;
    temporary.persist(&target).map_err(cannot)
}

/// The header with its length before it, padded so that the elements after it are aligned.
fn header(order: &[&View<'_>], metadata: &BTreeMap<String, String>) -> Outcome<Vec<u8>> {
    let json = |e: serde_json::Error| ErrorKind::Internal(format!("the header of a checkpoint: {e}"));
    let mut text = String::from("{");
    if !metadata.is_empty() {
        text += &format!("\"__metadata__\":{},", serde_json::to_string(metadata).map_err(json)?);
    }
    let mut names: Vec<&str> = order.iter().map(|view| view.name).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(ErrorKind::Value(format!("two tensors are called {:?}", pair[0])));
    }
    if names.binary_search(&"__metadata__").is_ok() {
        let text = "a tensor is called \"__metadata__\", which the format keeps for itself".to_string();
        return Err(ErrorKind::Value(text));
    }
    let mut offset = 0;
    for view in order {
        let end = offset + view.bytes.len();
        let name = serde_json::to_string(view.name).map_err(json)?;
        let dtype = serde_json::to_string(&name_in_file(view.dtype)).map_err(json)?;
        let shape = serde_json::to_string(&view.shape.to_vec()).map_err(json)?;
        text += &format!("{name}:{{\"dtype\":{dtype},\"shape\":{shape},\"data_offsets\":[{offset},{end}]}},");
        offset = end;
    }
    if text.len() > 1 {
        text.pop();
    }
    text.push('}');
    let length = text.len().next_multiple_of(8);
    if length > MAX_HEADER {
        let count = order.len();
        let text = format!(
            "names and metadata of {count} tensors take {length} bytes; at most {MAX_HEADER} are taken"
        );
        return Err(ErrorKind::Value(text));
    }
    let mut bytes = (length as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes.resize(8 + length, b' ');
    Ok(bytes)
}

/// Writes everything and waits until the disk has it.
fn write(file: File, header: &[u8], order: &[&View<'_>]) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, file);
    write_all(&mut out, header, order)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

fn write_all(out: &mut impl Write, header: &[u8], order: &[&View<'_>]) -> io::Result<()> {
    out.write_all(header)?;
    for view in order {
        if cfg!(target_endian = "little") {
            out.write_all(view.bytes)?;
            continue;
        }
        for chunk in view.bytes.chunks(1 << 16) {
            let mut chunk = chunk.to_vec();
            swap_bytes(&mut chunk, view.dtype.size());
            out.write_all(&chunk)?;
        }
    }
    Ok(())
}

/// Turns little-endian elements of `size` bytes into big-endian ones and back.
pub(crate) fn swap_bytes(bytes: &mut [u8], size: usize) {
    bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
}

/// A number for a name: that of Fowler, Noll and Vo (1a, 64 bits).
fn hashed(name: &[u8]) -> u64 {
    name.iter().fold(0xcbf2_9ce4_8422_2325, |n, &b| (n ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// Removes what killed processes have left of saves to a path: files of such names that nobody holds locked.
fn remove_stale(target: &Path, prefix: &str) {
    let folder = target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // What cannot be looked at or removed is in nobody's way: the save goes on.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_its = name.to_str().is_some_and(|name| name.starts_with(prefix) && name.ends_with(".tmp"));
        if !is_its || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        if let Ok(file) = File::options().write(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A file that is removed again unless it gets its place. It is locked for as long as this is there, by which others know that somebody
/// writes it: a process that is killed keeps no lock.
struct Temporary(PathBuf, Option<File>);

impl Temporary {
    fn beside(target: &Path) -> io::Result<(Temporary, File)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let Some(name) = target.file_name() else {
            return Err(io::Error::other("the path names no file"));
        };
        // Names may be as long as the system takes them.
        let prefix = format!(".checkpoint-{:016x}-", hashed(name.as_encoded_bytes()));
        remove_stale(target, &prefix);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = target.with_file_name(format!("{prefix}{}-{count}.tmp", std::process::id()));
            let file = match File::options().write(true).create_new(true).open(&path) {
                Ok(file) => file,
                // Another process has our number, as in another container.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(e),
            };
            // Where there are no locks nothing is removed either.
            let lock = file.try_clone().ok().filter(|lock| lock.lock().is_ok());
            // Somebody who came in between took it for a stale one.
            if lock.is_some() && !path.exists() {
                continue;
            }
            return Ok((Temporary(path, lock), file));
        }
    }

    fn persist(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.0, target)?;
        // Nothing is left to remove.
        self.0.clear();
        self.1 = None;
        // The rename itself is on the disk once the directory is. Other systems cannot open directories.
        #[cfg(unix)]
        {
            let dir = target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
            File::open(dir)?.sync_all()?;
        }
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // The failure that leads here is the one worth reporting.
            let _ = fs::remove_file(&self.0);
        }
    }
}

/// Where a tensor is in a file, as the file says.
#[derive(Debug)]
struct Place {
    dtype: Dtype,
    shape: Vec<usize>,
    /// In bytes, from the end of the header on.
    offsets: (usize, usize),
}

impl Place {
    /// The dtype and the shape, where there are such tensors here.
    fn known(&self, name: &str, path: &Path) -> Outcome<(DType, Shape)> {
        let wrong = |text: String| ErrorKind::Format(format!("{}: {text}", path.display()));
        let dtype = from_file(self.dtype).ok_or_else(|| {
            let known = DType::ALL.map(name_in_file).join(", ");
            wrong(format!("tensor {name:?} is {}; taken are {known}", self.dtype))
        })?;
        let shape = Shape::new(&self.shape)
            .map_err(|e| wrong(format!("tensor {name:?} of shape {:?}: {}", self.shape, e.kind())))?;
        Ok((dtype, shape))
    }
}

/// The header of a file, which has been checked: the tensors lie one after another and fill the file.
#[derive(Debug)]
struct Header {
    entries: BTreeMap<String, Place>,
    metadata: BTreeMap<String, String>,
    /// Where the tensors begin, and how many bytes they take.
    start: usize,
    bytes: usize,
}

/// What a failure to read a file is.
pub(crate) fn cannot_load(path: &Path, e: &io::Error) -> ErrorKind {
    let name = path.display();
    match e.kind() {
        io::ErrorKind::UnexpectedEof => {
            ErrorKind::Format(format!("{name}: it became shorter while it was read"))
        }
        _ => ErrorKind::Io(format!("cannot load {name}: {e}")),
    }
}

/// Opens a file for reading; and how long it is.
pub(crate) fn opened(path: &Path) -> Outcome<(File, u64)> {
    let cannot = |e: io::Error| cannot_load(path, &e);
    // Asked first, because opening a pipe would wait for somebody to write to it.
    if !fs::metadata(path).map_err(cannot)?.is_file() {
        return Err(cannot(io::Error::other("not a regular file")));
    }
    let file = File::open(path).map_err(cannot)?;
    let length = file.metadata().map_err(cannot)?.len();
    Ok((file, length))
}

/// Opens a file and reads its header; what is read next is its first tensor.
fn header_of(path: &Path) -> Outcome<(File, Header)> {
    let (mut file, total) = opened(path)?;
    let header = read_header(&mut file, total, path)?;
    Ok((file, header))
}

/// Reads the header of what has so many bytes.
fn read_header(file: &mut impl Read, total: u64, path: &Path) -> Outcome<Header> {
    let name = path.display();
    let cannot = |e: io::Error| cannot_load(path, &e);
    let wrong = |text: String| ErrorKind::Format(format!("{name}: {text}"));
    if total < 8 {
        return Err(wrong(format!(
            "{total} bytes are no safetensors file, which starts with 8 of header length"
        )));
    }
    let mut length = [0; 8];
    file.read_exact(&mut length).map_err(cannot)?;
    let length = u64::from_le_bytes(length);
    if length > MAX_HEADER as u64 {
        return Err(wrong(format!(
            "no safetensors file: a header of {length} bytes; at most {MAX_HEADER} are taken"
        )));
    }
    if length > total - 8 {
        let missing = length - (total - 8);
        return Err(wrong(format!("truncated in the header of {length} bytes: {missing} are missing")));
    }
    let mut header = vec![0; length as usize];
    file.read_exact(&mut header).map_err(cannot)?;
    let metadata: Metadata = serde_json::from_slice(&header).map_err(|e| wrong(diagnose(&header, &e)))?;

    let (need, have) = (metadata.data_len() as u64, total - 8 - length);
    if have < need {
        return Err(wrong(format!("truncated: the tensors take {need} bytes, {} are missing", need - have)));
    }
    if have > need {
        return Err(wrong(format!("{} bytes follow the {need} that the tensors take", have - need)));
    }
    let mut entries = BTreeMap::new();
    for (name, info) in metadata.tensors() {
        let place = Place { dtype: info.dtype, shape: info.shape.clone(), offsets: info.data_offsets };
        entries.insert(name, place);
    }
    let metadata = metadata.metadata().iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
    let (start, bytes) = (8 + length as usize, need as usize);
    Ok(Header { entries, metadata, start, bytes })
}

fn load_from(path: &Path) -> Outcome<Checkpoint> {
    let (file, total) = opened(path)?;
    read(file, total, path)
}

/// Reads what has so many bytes.
fn read(mut file: impl Read, total: u64, path: &Path) -> Outcome<Checkpoint> {
    let header = read_header(&mut file, total, path)?;
    let mut checkpoint = Checkpoint { metadata: header.metadata, ..Checkpoint::default() };
    // By offset, which is the order in the file.
    let mut order: Vec<(&String, &Place)> = header.entries.iter().collect();
    order.sort_by_key(|(_, place)| place.offsets);
    for (name, place) in order {
        let (dtype, shape) = place.known(name, path)?;
        let fill = |bytes: &mut [u8]| file.read_exact(bytes).map_err(|e| cannot_load(path, &e));
        let data = elements(dtype, shape.numel(), false, fill)?;
        if dtype == DType::Bool {
            is_truth(bytes_of(&data), 0, name, path)?;
        }
        checkpoint.tensors.insert(name.clone(), Entry { shape, data });
    }
    Ok(checkpoint)
}

/// Elements whose bytes are filled in, little-endian or big-endian ones.
pub(crate) fn elements(
    dtype: DType,
    count: usize,
    is_big: bool,
    fill: impl FnOnce(&mut [u8]) -> Outcome<()>,
) -> Outcome<Buffer> {
    let data = Buffer::uninit(Device::cpu(), dtype, count).map_err(|e| e.kind().clone())?;
    if data.bytes() == 0 {
        fill(&mut [])?;
        return Ok(data);
    }
    // SAFETY: the buffer is new, so nobody else reads or writes it, and its bytes are initialised, to anything.
    let bytes = unsafe { std::slice::from_raw_parts_mut(data.as_mut_ptr(), data.bytes()) };
    fill(bytes)?;
    if is_big != cfg!(target_endian = "big") {
        swap_bytes(bytes, dtype.size());
    }
    Ok(data)
}

/// Refuses bytes that are no truth values, the first of which is a tensor's byte `from`.
pub(crate) fn is_truth(bytes: &[u8], from: usize, name: &str, path: &Path) -> Outcome<()> {
    match bytes.iter().position(|&b| b > 1) {
        Some(i) => {
            let (byte, at) = (bytes[i], from + i);
            let text = format!("tensor {name:?}: byte {byte} at {at} is no BOOL: they are 0 or 1");
            Err(ErrorKind::Format(format!("{}: {text}", path.display())))
        }
        None => Ok(()),
    }
}

/// The bytes of elements on the host.
pub(crate) fn bytes_of(data: &Buffer) -> &[u8] {
    if data.bytes() == 0 {
        return &[];
    }
    // SAFETY: the memory is the host's, holds that many initialised bytes, lives as long as the borrow of the buffer, and is not
    // written meanwhile by the contract of `Buffer`.
    unsafe { std::slice::from_raw_parts(data.as_ptr(), data.bytes()) }
}

/// Puts a file in the place of an older one, in one step.
#[track_caller]
pub(crate) fn replace(path: &Path, contents: &[u8]) -> Result<()> {
    let put = || -> io::Result<()> {
        let (temporary, mut file) = Temporary::beside(path)?;
        file.write_all(contents)?;
        file.sync_all()?;
        temporary.persist(path)
    };
    let kind = |e: io::Error| ErrorKind::Io(format!("cannot save {}: {e}", path.display()));
    put().map_err(|e| Error::new("checkpoint::save", kind(e)))
}

/// What is wrong with a header that the format's own check refused with `e`, down to the tensor where that can be found.
fn diagnose(header: &[u8], e: &serde_json::Error) -> String {
    let other = || format!("no header of safetensors: {e}");
    let Ok(entries) = serde_json::from_slice::<HashMap<String, serde_json::Value>>(header) else {
        return other();
    };
    let mut infos = Vec::new();
    for (name, value) in entries {
        if name == "__metadata__" {
            continue;
        }
        match serde_json::from_value::<TensorInfo>(value) {
            Ok(info) => infos.push((name, info)),
            Err(e) => return format!("tensor {name:?} in the header: {e}"),
        }
    }
    infos.sort_by(|(a, x), (b, y)| (x.data_offsets, a).cmp(&(y.data_offsets, b)));
    let mut expected = 0;
    for (name, info) in &infos {
        let (start, end) = info.data_offsets;
        if start != expected || end < start {
            let what =
                if start < expected { "overlaps the tensor before it" } else { "leaves a gap before it" };
            return format!("tensor {name:?} at bytes {start} to {end} {what}, which ends at {expected}");
        }
        let bits = info.shape.iter().try_fold(info.dtype.bitsize(), |n, &d| n.checked_mul(d));
        if bits != Some((end - start).saturating_mul(8)) {
            let (dtype, shape) = (info.dtype, &info.shape);
            return format!("tensor {name:?}, {dtype} of shape {shape:?}, cannot have {} bytes", end - start);
        }
        expected = end;
    }
    other()
}

/// What the format calls a dtype: the short name in capitals.
fn name_in_file(dtype: DType) -> String {
    dtype.name().to_ascii_uppercase()
}

fn from_file(dtype: Dtype) -> Option<DType> {
    let name = dtype.to_string();
    DType::ALL.into_iter().find(|&d| name_in_file(d) == name)
}

#[cfg(test)]
mod names {
    use super::*;

    /// The crate that reads headers knows every dtype by the name that we write.
    #[test]
    fn the_format_has_every_dtype() {
        for dtype in DType::ALL {
            let known: Dtype = serde_json::from_value(name_in_file(dtype).into()).unwrap();
            assert_eq!(known.bitsize(), 8 * dtype.size(), "{dtype}");
            assert_eq!(from_file(known), Some(dtype));
        }
        assert_eq!(from_file(Dtype::C64), None);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// `/dev/full` takes nothing, as a full disk does.
    #[test]
    fn a_full_disk_is_an_error() {
        let data = vec![0u8; 3 << 20];
        let view = View::from_bytes("a", DType::U8, Shape::from([3 << 20]), &data).unwrap();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let e = write(full, b"header", &[&view]).unwrap_err();
        assert_eq!(e.kind(), io::ErrorKind::StorageFull);
    }
}
