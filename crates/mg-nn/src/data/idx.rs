//! The IDX format: arrays of numbers in big-endian order under a small header, as MNIST is published in.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 2 | zeros |
//! | 2 | 1 | the type: 0x08 u8, 0x09 i8, 0x0B i16, 0x0C i32, 0x0D f32, 0x0E f64 |
//! | 3 | 1 | the rank |
//! | 4 | 4 × rank | the sizes, outermost first, as u32 |
//! | after it | the rest | the elements, the last axis fastest |
//!
//! Source: LeCun, Cortes and Burges, "The MNIST database of handwritten digits". Files compressed with gzip are told by
//! their first bytes, whatever their name.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use mg_device::{Buffer, DType, Error, ErrorKind, MAX_RANK, Result, Shape};

/// The most bytes of elements that [`read`] takes: 1 GiB.
pub const DEFAULT_LIMIT: usize = 1 << 30;

/// An array that was read from an IDX file, on the host.
#[derive(Debug, Clone)]
pub struct Idx {
    /// The sizes of the axes.
    pub shape: Shape,
    /// The elements in the machine's byte order, `shape.numel()` of them.
    pub data: Buffer,
}

impl Idx {
    /// The dtype of the elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.data.dtype()
    }
}

/// Reads an IDX file, gzipped or plain, of at most [`DEFAULT_LIMIT`] bytes of elements.
///
/// # Errors
///
/// [`ErrorKind::Io`] where the file cannot be read; [`ErrorKind::Format`], which names the file and the field, where it is
/// not an IDX file, is too short or too long, or where its compression is damaged.
#[track_caller]
pub fn read(path: impl AsRef<Path>) -> Result<Idx> {
    read_with_limit(path, DEFAULT_LIMIT)
}

/// As [`read`], for files of at most `limit` bytes of elements.
///
/// # Errors
///
/// As [`read`].
#[track_caller]
pub fn read_with_limit(path: impl AsRef<Path>, limit: usize) -> Result<Idx> {
    match from_file(path.as_ref(), limit) {
        Ok(idx) => Ok(idx),
        Err(kind) => Err(Error::new("idx::read", kind)),
    }
}

/// Reads IDX from memory, gzipped or plain. `name` stands for the file's name in errors.
///
/// # Errors
///
/// As [`read`].
#[track_caller]
pub fn parse(name: &str, bytes: &[u8]) -> Result<Idx> {
    match from_reader(name, bytes, DEFAULT_LIMIT) {
        Ok(idx) => Ok(idx),
        Err(kind) => Err(Error::new("idx::parse", kind)),
    }
}

fn from_file(path: &Path, limit: usize) -> std::result::Result<Idx, ErrorKind> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|e| ErrorKind::Io(format!("cannot open {name}: {e}")))?;
    from_reader(&name, BufReader::with_capacity(64 << 10, file), limit)
}

fn from_reader(name: &str, mut source: impl BufRead, limit: usize) -> std::result::Result<Idx, ErrorKind> {
    let start = source.fill_buf().map_err(|e| failure(name, &e))?;
    if start.starts_with(&[0x1f, 0x8b]) {
        decode(name, MultiGzDecoder::new(source), limit)
    } else {
        decode(name, source, limit)
    }
}

/// Elements in the format's order of bytes, as a buffer.
type ToBuffer = fn(&[u8]) -> Buffer;

/// The format's element types: code, dtype, how they are read.
const TYPES: [(u8, DType, ToBuffer); 6] = [
    (0x08, DType::U8, |bytes| Buffer::from_vec(bytes.to_vec())),
    (0x09, DType::I8, |bytes| Buffer::from_vec(elements(bytes, i8::from_be_bytes))),
    (0x0b, DType::I16, |bytes| Buffer::from_vec(elements(bytes, i16::from_be_bytes))),
    (0x0c, DType::I32, |bytes| Buffer::from_vec(elements(bytes, i32::from_be_bytes))),
    (0x0d, DType::F32, |bytes| Buffer::from_vec(elements(bytes, f32::from_be_bytes))),
    (0x0e, DType::F64, |bytes| Buffer::from_vec(elements(bytes, f64::from_be_bytes))),
];

fn elements<const N: usize, T>(bytes: &[u8], convert: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&chunk| convert(chunk)).collect()
}

fn decode(name: &str, mut source: impl Read, limit: usize) -> std::result::Result<Idx, ErrorKind> {
    let magic = header(name, "the magic number", &mut source, 4)?;
    if magic[..2] != [0, 0] {
        let text =
            format!("{name}: not an IDX file: it starts with {:02x} {:02x}, not 00 00", magic[0], magic[1]);
        return Err(ErrorKind::Format(text));
    }
    let (_, dtype, to_buffer) = TYPES.into_iter().find(|of| of.0 == magic[2]).ok_or_else(|| {
        let types = TYPES.map(|(code, dtype, _)| format!("{code:#04x} ({dtype})")).join(", ");
        ErrorKind::Format(format!("{name}: type code {:#04x} is none of IDX, which has {types}", magic[2]))
    })?;
    let rank = usize::from(magic[3]);
    if rank > MAX_RANK {
        let text = format!("{name}: rank {rank} is too high: a tensor has at most {MAX_RANK} axes");
        return Err(ErrorKind::Format(text));
    }
    let sizes = elements(&header(name, "the sizes", &mut source, 4 * rank)?, u32::from_be_bytes);
    let dims: Vec<usize> = sizes.iter().map(|&n| n as usize).collect();
    let too_large = || {
        let text = format!(
            "{name}: sizes {sizes:?} of {}-byte elements are over the limit of {limit} bytes",
            dtype.size()
        );
        ErrorKind::Format(text)
    };
    let shape = Shape::new(&dims).map_err(|_| too_large())?;
    let length = shape.numel().checked_mul(dtype.size()).filter(|&n| n <= limit).ok_or_else(too_large)?;

    // Not reserved by what the header promises, so that a short file cannot ask for much memory.
    let mut bytes = Vec::new();
    let end = (&mut source).take(length as u64).read_to_end(&mut bytes);
    let (got, missing) = (bytes.len(), length - bytes.len());
    match end {
        Err(e) if e.kind() != io::ErrorKind::UnexpectedEof => return Err(failure(name, &e)),
        _ if missing > 0 => {
            let text = format!(
                "{name}: truncated: sizes {sizes:?} take {length} bytes of elements, {got} are there, {missing} are missing"
            );
            return Err(ErrorKind::Format(text));
        }
        _ => {}
    }
    // Reading to the end also makes the decoder check gzip's checksum.
    match source.read(&mut [0; 1]) {
        Ok(0) => {}
        Ok(_) => {
            let text = format!("{name}: more bytes follow the {length} that sizes {sizes:?} take");
            return Err(ErrorKind::Format(text));
        }
        Err(e) => return Err(failure(name, &e)),
    }
    Ok(Idx { shape, data: to_buffer(&bytes) })
}

fn header(
    name: &str,
    field: &str,
    source: &mut impl Read,
    n: usize,
) -> std::result::Result<Vec<u8>, ErrorKind> {
    let mut bytes = Vec::new();
    match source.take(n as u64).read_to_end(&mut bytes) {
        Err(e) if e.kind() != io::ErrorKind::UnexpectedEof => Err(failure(name, &e)),
        _ if bytes.len() < n => {
            let missing = n - bytes.len();
            Err(ErrorKind::Format(format!(
                "{name}: truncated in {field}: {missing} of {n} bytes are missing"
            )))
        }
        _ => Ok(bytes),
    }
}

/// A failed read: the file's fault where its compression is damaged, the world's otherwise.
fn failure(name: &str, e: &io::Error) -> ErrorKind {
    match e.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            ErrorKind::Format(format!("{name}: damaged gzip data: {e}"))
        }
        io::ErrorKind::UnexpectedEof => ErrorKind::Format(format!("{name}: truncated gzip data: {e}")),
        _ => ErrorKind::Io(format!("cannot read {name}: {e}")),
    }
}
