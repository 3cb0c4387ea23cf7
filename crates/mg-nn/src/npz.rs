//! NumPy's files: a tensor as `.npy`, tensors by name as `.npz`, both ways.
//!
//! Of NumPy's types those are taken that tensors have, in either order of bytes, row-major or column-major; elements that NumPy has no type
//! for (bf16) are written as f32. Source: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.
//!
//! ```
//! use mg_autograd::Tensor;
//! use mg_nn::npz;
//!
//! let folder = std::env::temp_dir();
//! let path = folder.join(format!("numbers-{}.npz", std::process::id()));
//! let x = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], &[2, 2])?;
//! npz::savez(&path, [("x", &x), ("n", &Tensor::scalar(3i64))])?;
//! let read = npz::loadz(&path)?;
//! assert_eq!((&read["x"].shape()[..], read["n"].item::<i64>()?), (&[2, 2][..], 3));
//! # std::fs::remove_file(&path).unwrap();
//! # Ok::<(), mg_device::Error>(())
//! ```

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use mg_autograd::Tensor;
use mg_device::{Buffer, DType, Error, ErrorKind, Result, Shape};

use crate::archive::{Archive, Writer};
use crate::checkpoint::{Outcome, bytes_of, cannot_load, elements, opened, put, swap_bytes, told};
use crate::state::dense;

/// What a file begins with.
const MAGIC: [u8; 6] = *b"\x93NUMPY";

/// The longest header that is taken, in bytes.
const MAX_HEADER: usize = 1 << 20;

/// The tensor of an `.npy` file, on the host.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::npz;
///
/// let path = std::env::temp_dir().join(format!("line-{}.npy", std::process::id()));
/// npz::save(&path, &Tensor::from_slice(&[1.0f64, 2.0]))?;
/// assert_eq!(npz::load(&path)?.to_vec::<f64>()?, [1.0, 2.0]);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// [`ErrorKind::Io`] where the file cannot be read; [`ErrorKind::Format`], which names the file, for one that is no `.npy` file, is
/// shorter or longer than its header says, or has elements of a type that tensors do not have; [`ErrorKind::OutOfMemory`].
#[track_caller]
pub fn load(path: impl AsRef<Path>) -> Result<Tensor> {
    let path = path.as_ref();
    let read = || -> Outcome<Array> {
        let (mut file, length) = opened(path)?;
        let place = path.display().to_string();
        array(&place, length, &mut |bytes| file.read_exact(bytes).map_err(|e| cannot_load(path, &e)))
    };
    told("npz::load", read())?.tensor()
}

/// The tensors of an `.npz` file by name, on the host. Files in it that are no `.npy` are left out, as by NumPy's `load`.
///
/// # Errors
///
/// As [`load`], and archives that are damaged: whose entries overlap, lie outside, become longer than their bytes can, or have another
/// checksum.
#[track_caller]
pub fn loadz(path: impl AsRef<Path>) -> Result<BTreeMap<String, Tensor>> {
    let path = path.as_ref();
    let read = || -> Outcome<Vec<(String, Array)>> {
        let (file, length) = opened(path)?;
        let mut archive = Archive::open(file, length, path.display().to_string())?;
        let names: Vec<String> = archive.names().to_vec();
        let mut arrays = vec![];
        for file in names {
            let Some(name) = file.strip_suffix(".npy") else { continue };
            let mut contents = archive.read(&file)?;
            let (place, size) = (contents.place().to_owned(), contents.left());
            let read = array(&place, size, &mut |bytes| contents.fill(bytes))?;
            contents.finish()?;
            arrays.push((name.to_owned(), read));
        }
        Ok(arrays)
    };
    let arrays = told("npz::loadz", read())?;
    arrays.into_iter().map(|(name, array)| Ok((name, array.tensor()?))).collect()
}

/// Writes a tensor to an `.npy` file, which takes the place of an older one in one step. The path is taken as it is, without another ending.
///
/// # Errors
///
/// [`ErrorKind::Io`], with the path, where the file cannot be written; whatever computing the tensor fails with.
#[track_caller]
pub fn save(path: impl AsRef<Path>, tensor: &Tensor) -> Result<()> {
    let (header, data) = written(tensor)?;
    let write = |file: File| {
        let mut out = BufWriter::new(file);
        out.write_all(&header)?;
        out.write_all(&data.bytes())?;
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
    };
    told("npz::save", put(path.as_ref(), write))
}

/// Writes tensors by name to an `.npz` file, which takes the place of an older one in one step. The path is taken as it is. The same tensors
/// give the same bytes.
///
/// # Errors
///
/// [`ErrorKind::Value`] where two tensors have one name; as [`save`].
#[track_caller]
pub fn savez<'a>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (impl AsRef<str>, &'a Tensor)>,
) -> Result<()> {
    zipped("npz::savez", path.as_ref(), tensors.into_iter().map(|(name, t)| (name.as_ref().into(), t)), false)
}

/// As [`savez`], smaller and slower.
///
/// # Errors
///
/// As [`savez`].
#[track_caller]
pub fn savez_compressed<'a>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (impl AsRef<str>, &'a Tensor)>,
) -> Result<()> {
    let tensors = tensors.into_iter().map(|(name, t)| (name.as_ref().into(), t));
    zipped("npz::savez_compressed", path.as_ref(), tensors, true)
}

#[track_caller]
fn zipped<'a>(
    op: &'static str,
    path: &Path,
    tensors: impl Iterator<Item = (String, &'a Tensor)>,
    deflate: bool,
) -> Result<()> {
    let tensors: Vec<(String, &Tensor)> = tensors.collect();
    let mut known = HashSet::new();
    if let Some((name, _)) = tensors.iter().find(|(name, _)| !known.insert(name.as_str())) {
        return Err(Error::new(op, ErrorKind::Value(format!("two tensors are called {name:?}"))));
    }
    Tensor::realize_all(tensors.iter().map(|(_, t)| *t))?;
    let parts = tensors.iter().map(|(name, t)| Ok((format!("{name}.npy"), written(t)?)));
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let write = |file: File| {
        let mut writer = Writer::new(BufWriter::new(file));
        for (name, (header, data)) in &parts {
            writer.add(name, &[header, &data.bytes()], deflate)?;
        }
        writer.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
    };
    told(op, put(path, write))
}

/// Elements as a file has them.
struct Data(Buffer);

impl Data {
    /// Little-endian.
    fn bytes(&self) -> std::borrow::Cow<'_, [u8]> {
        let bytes = bytes_of(&self.0);
        if cfg!(target_endian = "little") {
            return bytes.into();
        }
        let mut bytes = bytes.to_vec();
        swap_bytes(&mut bytes, self.0.dtype().size());
        bytes.into()
    }
}

/// The header of a tensor's file, and its elements.
#[track_caller]
fn written(t: &Tensor) -> Result<(Vec<u8>, Data)> {
    let as_f32;
    let (t, code) = match t.dtype().numpy_name() {
        Some(code) => (t, code),
        None => {
            as_f32 = t.detach().to_dtype(DType::F32);
            (&as_f32, "<f4".to_owned())
        }
    };
    let shape = t.shape();
    let sizes: String = shape.iter().map(|n| format!("{n},")).collect();
    // One axis keeps its comma, as Python writes it.
    let sizes = if shape.rank() > 1 { sizes.trim_end_matches(',').replace(',', ", ") } else { sizes };
    let text = format!("{{'descr': '{code}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // The elements begin at a multiple of 64.
    let length = (MAGIC.len() + 4 + text.len() + 1).next_multiple_of(64) - MAGIC.len() - 4;
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&[1, 0]);
    header.extend_from_slice(&(length as u16).to_le_bytes());
    header.extend_from_slice(format!("{text:<0$}\n", length - 1).as_bytes());
    Ok((header, Data(dense(t)?)))
}

/// What an `.npy` file holds.
pub(crate) struct Array {
    data: Buffer,
    /// As the elements lie: with `is_turned`, the sizes of the axes from the last to the first.
    shape: Shape,
    is_turned: bool,
}

impl Array {
    #[track_caller]
    pub(crate) fn tensor(self) -> Result<Tensor> {
        let t = Tensor::from_buffer(self.data, self.shape)?;
        if !self.is_turned {
            return Ok(t);
        }
        let axes: Vec<isize> = (0..t.rank() as isize).rev().collect();
        let turned = t.permute(&axes)?.copy();
        turned.realize()?;
        Ok(turned)
    }
}

/// Reads an `.npy` file of `length` bytes.
pub(crate) fn array(
    place: &str,
    length: u64,
    fill: &mut dyn FnMut(&mut [u8]) -> Outcome<()>,
) -> Outcome<Array> {
    let wrong = |text: String| ErrorKind::Format(format!("{place}: {text}"));
    let mut left = length;
    let mut next = |bytes: &mut [u8]| -> Outcome<()> {
        let Some(rest) = left.checked_sub(bytes.len() as u64) else {
            return Err(wrong("truncated in its header".into()));
        };
        left = rest;
        fill(bytes)
    };
    let mut head = [0; 8];
    if length < 10 {
        return Err(wrong("no .npy file".into()));
    }
    next(&mut head)?;
    if head[..6] != MAGIC || !matches!(head[6], 1..=3) {
        return Err(wrong("no .npy file".into()));
    }
    let header = match head[6] {
        1 => {
            let mut length = [0; 2];
            next(&mut length)?;
            usize::from(u16::from_le_bytes(length))
        }
        _ => {
            let mut length = [0; 4];
            next(&mut length)?;
            u32::from_le_bytes(length) as usize
        }
    };
    if header > MAX_HEADER {
        return Err(wrong(format!("a header of {header} bytes; at most {MAX_HEADER} are taken")));
    }
    let mut text = vec![0; header];
    next(&mut text)?;
    // Before version 3 it is Latin-1, whose other half no header that is taken has.
    let text = String::from_utf8_lossy(&text);
    let header = Header::read(&text).map_err(|e| wrong(format!("no header of an .npy file: {e}")))?;
    let code = header.descr;
    let is_big = match code.chars().next() {
        Some('>') => true,
        Some('=') => cfg!(target_endian = "big"),
        _ => false,
    };
    let kind = code.trim_start_matches(['<', '>', '=', '|']);
    let numpy = |d: &DType| d.numpy_name().map(|name| name[1..].to_owned());
    let Some(dtype) = DType::ALL.into_iter().find(|d| numpy(d).as_deref() == Some(kind)) else {
        let known: Vec<String> = DType::ALL.iter().filter_map(numpy).collect();
        return Err(wrong(format!("elements of type {code:?}; taken are {}", known.join(", "))));
    };
    let sizes = header.shape;
    let count = sizes.iter().try_fold(1usize, |n, &size| n.checked_mul(size));
    let bytes = count.and_then(|n| n.checked_mul(dtype.size()));
    if bytes.map(|n| n as u64) != Some(left) {
        let what = if bytes.is_some_and(|n| (n as u64) < left) {
            "longer than its header says"
        } else {
            "truncated"
        };
        let takes = bytes.map_or("more bytes than there can be".into(), |n| format!("{n} bytes"));
        return Err(wrong(format!(
            "{what}: elements of shape {sizes:?} and type {code:?} take {takes}, {left} are there"
        )));
    }
    let is_turned = header.fortran_order && sizes.len() > 1;
    let sizes = if is_turned { sizes.iter().rev().copied().collect() } else { sizes };
    let shape = Shape::new(&sizes).map_err(|e| wrong(format!("shape {sizes:?}: {}", e.kind())))?;
    let data = elements(dtype, shape.numel(), is_big, fill)?;
    if dtype == DType::Bool
        && let Some(byte) = bytes_of(&data).iter().find(|&&b| b > 1)
    {
        return Err(wrong(format!("a byte {byte} is no truth value: they are 0 or 1")));
    }
    Ok(Array { data, shape, is_turned })
}

/// The dictionary in a header.
struct Header {
    descr: String,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Header {
    /// Reads what Python's `repr` writes of a dictionary with a text, a truth value and a tuple of numbers.
    fn read(text: &str) -> std::result::Result<Header, String> {
        let mut rest = Words(text.trim());
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        rest.take('{')?;
        while !rest.is('}') {
            let key = rest.text()?;
            rest.take(':')?;
            match key.as_str() {
                "descr" if rest.is('[') => return Err("elements of several fields".into()),
                "descr" => descr = Some(rest.text()?),
                "fortran_order" => fortran_order = Some(rest.truth()?),
                "shape" => shape = Some(rest.sizes()?),
                other => return Err(format!("it says {other:?}")),
            }
            if !rest.is('}') {
                rest.take(',')?;
            }
        }
        rest.take('}')?;
        if !rest.0.is_empty() {
            return Err(format!("{:?} behind it", rest.0));
        }
        let without = |name: &str| format!("it does not say {name:?}");
        Ok(Header {
            descr: descr.ok_or_else(|| without("descr"))?,
            fortran_order: fortran_order.ok_or_else(|| without("fortran_order"))?,
            shape: shape.ok_or_else(|| without("shape"))?,
        })
    }
}

/// The rest of a text, read from its beginning.
struct Words<'a>(&'a str);

impl Words<'_> {
    fn is(&mut self, c: char) -> bool {
        self.0 = self.0.trim_start();
        self.0.starts_with(c)
    }

    fn take(&mut self, c: char) -> std::result::Result<(), String> {
        self.0 = self.0.trim_start();
        self.0 = self.0.strip_prefix(c).ok_or_else(|| format!("{c:?} is missing"))?;
        Ok(())
    }

    fn text(&mut self) -> std::result::Result<String, String> {
        let quote = if self.is('"') { '"' } else { '\'' };
        self.take(quote)?;
        let (text, rest) = self.0.split_once(quote).ok_or("a text without an end")?;
        self.0 = rest;
        Ok(text.to_owned())
    }

    fn truth(&mut self) -> std::result::Result<bool, String> {
        self.0 = self.0.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.0.strip_prefix(word) {
                self.0 = rest;
                return Ok(value);
            }
        }
        Err("no truth value".into())
    }

    fn sizes(&mut self) -> std::result::Result<Vec<usize>, String> {
        self.take('(')?;
        let mut sizes = vec![];
        while !self.is(')') {
            let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
            let (digits, rest) = self.0.split_at(end);
            sizes.push(digits.parse().map_err(|_| format!("{digits:?} is no size"))?);
            self.0 = rest;
            if !self.is(')') {
                self.take(',')?;
            }
        }
        self.take(')')?;
        Ok(sizes)
    }
}
