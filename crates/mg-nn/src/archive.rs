//! Zip archives, as NumPy and PyTorch write them: entries that are stored or deflated, of any size.
//!
//! What an archive says of itself asks for no memory: an entry lies within the file, apart from all others, and becomes no larger than
//! its compressed bytes can. Source: PKWARE's APPNOTE.TXT 6.3.10, §4.3 (the layout), §4.5.3 (Zip64).

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom, Take, Write};

use flate2::read::DeflateDecoder;
use flate2::{Compression, Crc};
use mg_device::ErrorKind;

type Outcome<T> = std::result::Result<T, ErrorKind>;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;

/// What a field of 32 or 16 bits says where the number stands in a field of 64.
const ELSEWHERE: u32 = u32::MAX;
const ELSEWHERE_16: u16 = u16::MAX;

/// How many bytes one deflated byte is at most, and what a few are.
const MOST_INFLATED: u64 = 1032;

/// Where a file in an archive lies.
#[derive(Debug, Clone)]
struct Entry {
    is_deflated: bool,
    is_encrypted: bool,
    method: u16,
    crc: u32,
    compressed: u64,
    size: u64,
    header: u64,
    /// Where something else begins.
    limit: u64,
}

/// An archive that is read.
pub(crate) struct Archive<R> {
    file: R,
    path: String,
    entries: BTreeMap<String, Entry>,
    order: Vec<String>,
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

fn damaged(path: &str, e: &io::Error) -> ErrorKind {
    match e.kind() {
        io::ErrorKind::UnexpectedEof => ErrorKind::Format(format!("{path}: truncated")),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            ErrorKind::Format(format!("{path}: damaged: {e}"))
        }
        _ => ErrorKind::Io(format!("cannot load {path}: {e}")),
    }
}

impl<R: Read + Seek> Archive<R> {
    /// Reads what an archive of `length` bytes consists of.
    pub(crate) fn open(mut file: R, length: u64, path: String) -> Outcome<Archive<R>> {
        let wrong = |text: &str| ErrorKind::Format(format!("{path}: no zip file: {text}"));
        // The end, and a comment behind it.
        let tail = length.min(22 + 65535);
        let tail_at = length - tail;
        let bytes = part(&mut file, tail_at, tail).map_err(|e| damaged(&path, &e))?;
        let is_end = |at: &usize| {
            u32_at(&bytes, *at) == END && at + 22 + usize::from(u16_at(&bytes, at + 20)) == bytes.len()
        };
        let last = bytes.len().checked_sub(22).ok_or_else(|| wrong("it is too short"))?;
        let at = (0..=last).rev().find(is_end).ok_or_else(|| wrong("it has no end of its directory"))?;
        let end_at = tail_at + at as u64;
        let mut size = u64::from(u32_at(&bytes, at + 12));
        let mut start = u64::from(u32_at(&bytes, at + 16));
        let mut count = u64::from(u16_at(&bytes, at + 10));
        let mut directory_end = end_at;
        let locator = at.checked_sub(20).filter(|&at| u32_at(&bytes, at) == LOCATOR_64);
        if let Some(locator) = locator {
            let end_64 = u64_at(&bytes, locator + 8);
            if end_64.checked_add(56).is_none_or(|end| end > end_at) {
                return Err(wrong("the end of its directory lies outside"));
            }
            let bytes = part(&mut file, end_64, 56).map_err(|e| damaged(&path, &e))?;
            if u32_at(&bytes, 0) != END_64 {
                return Err(wrong("it has no end of its directory"));
            }
            (count, size, start) = (u64_at(&bytes, 32), u64_at(&bytes, 40), u64_at(&bytes, 48));
            directory_end = end_64;
        }
        if start.checked_add(size).is_none_or(|end| end > directory_end) {
            return Err(wrong("its directory lies outside"));
        }
        let directory = part(&mut file, start, size).map_err(|e| damaged(&path, &e))?;
        let mut archive = Archive { file, path, entries: BTreeMap::new(), order: vec![] };
        archive.listed(&directory, start, count)?;
        Ok(archive)
    }

    /// Notes the entries of a directory, which begins at `start`.
    fn listed(&mut self, directory: &[u8], start: u64, count: u64) -> Outcome<()> {
        let wrong = |text: String| ErrorKind::Format(format!("{}: no zip file: {text}", self.path));
        let mut rest = directory;
        let mut found: Vec<(String, Entry)> = vec![];
        while !rest.is_empty() {
            if rest.len() < 46 || u32_at(rest, 0) != CENTRAL {
                return Err(wrong("its directory is damaged".into()));
            }
            let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(u16_at(rest, at)));
            if rest.len() < 46 + name + extra + comment {
                return Err(wrong("its directory is truncated".into()));
            }
            let (fields, extra) = (&rest[46..46 + name], &rest[46 + name..46 + name + extra]);
            let name_text = std::str::from_utf8(fields).map_err(|_| {
                wrong(format!("a name that is no UTF-8: {:?}", String::from_utf8_lossy(fields)))
            })?;
            let method = u16_at(rest, 10);
            let mut sizes = [u32_at(rest, 24), u32_at(rest, 20), u32_at(rest, 42)].map(u64::from);
            widened(&mut sizes, extra)
                .ok_or_else(|| wrong(format!("{name_text}: its sizes are truncated")))?;
            let [size, compressed, header] = sizes;
            let entry = Entry {
                is_deflated: method == 8,
                is_encrypted: u16_at(rest, 8) & 1 == 1,
                method,
                crc: u32_at(rest, 16),
                compressed,
                size,
                header,
                limit: start,
            };
            found.push((name_text.to_owned(), entry));
            rest = &rest[46 + name + usize::from(u16_at(rest, 30)) + comment..];
        }
        if found.len() as u64 != count {
            return Err(wrong(format!("{count} entries are said to be there, {} are", found.len())));
        }
        let mut starts: Vec<u64> = found.iter().map(|(_, entry)| entry.header).collect();
        starts.sort_unstable();
        if starts.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(wrong("two of its entries are one".into()));
        }
        for (name, mut entry) in found {
            let next = starts.partition_point(|&at| at <= entry.header);
            entry.limit = starts.get(next).copied().unwrap_or(start).min(start);
            let most = if entry.is_deflated {
                entry.compressed.saturating_mul(MOST_INFLATED)
            } else {
                entry.compressed
            };
            let inside = entry.header.checked_add(entry.compressed).is_some_and(|end| end <= entry.limit);
            if !inside || entry.size > most || (!entry.is_deflated && entry.size != most) {
                return Err(wrong(format!("{name}: of {} bytes, which it cannot be", entry.size)));
            }
            self.order.push(name.clone());
            if self.entries.insert(name.clone(), entry).is_some() {
                return Err(wrong(format!("two of its entries are called {name}")));
            }
        }
        Ok(())
    }

    /// The names, in the order of the directory.
    pub(crate) fn names(&self) -> &[String] {
        &self.order
    }

    /// What the file is called in errors.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// How many bytes a file in it has; `None` for one that is not there.
    pub(crate) fn size(&self, name: &str) -> Option<u64> {
        self.entries.get(name).map(|entry| entry.size)
    }

    /// Whether a file in it lies as it is, rather than compressed.
    pub(crate) fn is_stored(&self, name: &str) -> bool {
        self.entries.get(name).is_some_and(|entry| !entry.is_deflated)
    }

    /// A file in it, from its beginning.
    pub(crate) fn read(&mut self, name: &str) -> Outcome<Contents<'_, R>> {
        let Archive { file, path, entries, .. } = self;
        let place = format!("{path}: {name}");
        let wrong = |text: &str| ErrorKind::Format(format!("{place}: {text}"));
        let entry = entries.get(name).ok_or_else(|| wrong("it is missing"))?;
        if entry.is_encrypted {
            return Err(wrong("it is encrypted"));
        }
        if !matches!(entry.method, 0 | 8) {
            let text =
                format!("compressed by method {}; taken are 0 (stored) and 8 (deflated)", entry.method);
            return Err(wrong(&text));
        }
        let header = part(file, entry.header, 30).map_err(|e| damaged(path, &e))?;
        if u32_at(&header, 0) != LOCAL {
            return Err(wrong("it is not where the directory says"));
        }
        let start = entry.header + 30 + u64::from(u16_at(&header, 26)) + u64::from(u16_at(&header, 28));
        if start.checked_add(entry.compressed).is_none_or(|end| end > entry.limit) {
            return Err(wrong("it overlaps what follows"));
        }
        file.seek(SeekFrom::Start(start)).map_err(|e| damaged(path, &e))?;
        let raw = file.take(entry.compressed);
        let source = match entry.is_deflated {
            true => Source::Deflated(Box::new(DeflateDecoder::new(raw))),
            false => Source::Stored(raw),
        };
        Ok(Contents { source, place, left: entry.size, crc: Crc::new(), expected: entry.crc })
    }

    /// All of a file in it, of at most `most` bytes.
    pub(crate) fn bytes(&mut self, name: &str, most: u64) -> Outcome<Vec<u8>> {
        let mut contents = self.read(name)?;
        let size = contents.left;
        if size > most {
            let text = format!("{}: {size} bytes; at most {most} are taken", contents.place);
            return Err(ErrorKind::Format(text));
        }
        let mut bytes = vec![0; size as usize];
        contents.fill(&mut bytes)?;
        contents.finish()?;
        Ok(bytes)
    }
}

/// Bytes of a file, which are all there.
fn part(file: &mut (impl Read + Seek), at: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = vec![];
    file.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// The sizes of an entry that stand in its field for large ones; `None` where that is too short.
fn widened(sizes: &mut [u64; 3], mut extra: &[u8]) -> Option<()> {
    let mut large = None;
    while extra.len() >= 4 {
        let length = usize::from(u16_at(extra, 2));
        let field = extra.get(4..4 + length)?;
        if u16_at(extra, 0) == 1 {
            large = Some(field);
        }
        extra = &extra[4 + length..];
    }
    let mut at = 0;
    for size in sizes.iter_mut().filter(|size| **size == u64::from(ELSEWHERE)) {
        // Without the field, the number is what it says.
        let Some(field) = large else { continue };
        field.get(at..at + 8)?;
        *size = u64_at(field, at);
        at += 8;
    }
    Some(())
}

enum Source<'a, R> {
    Stored(Take<&'a mut R>),
    Deflated(Box<DeflateDecoder<Take<&'a mut R>>>),
}

/// A file in an archive, which is read from its beginning to its end.
pub(crate) struct Contents<'a, R> {
    source: Source<'a, R>,
    place: String,
    left: u64,
    crc: Crc,
    expected: u32,
}

impl<R: Read> Contents<'_, R> {
    /// How many bytes are still to be read.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// The file and the archive, for errors.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// The next bytes.
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) -> Outcome<()> {
        if bytes.len() as u64 > self.left {
            return Err(ErrorKind::Format(format!("{}: truncated", self.place)));
        }
        let read = match &mut self.source {
            Source::Stored(source) => source.read_exact(bytes),
            Source::Deflated(source) => source.read_exact(bytes),
        };
        read.map_err(|e| damaged(&self.place, &e))?;
        self.left -= bytes.len() as u64;
        self.crc.update(bytes);
        Ok(())
    }

    /// Makes sure that it was read to its end, and is what was written.
    pub(crate) fn finish(mut self) -> Outcome<()> {
        let wrong = |text: &str| Err(ErrorKind::Format(format!("{}: {text}", self.place)));
        let beyond = match &mut self.source {
            Source::Stored(source) => source.read(&mut [0]),
            Source::Deflated(source) => source.read(&mut [0]),
        };
        if self.left > 0 || beyond.map_err(|e| damaged(&self.place, &e))? > 0 {
            return wrong("longer than it says");
        }
        if self.crc.sum() != self.expected {
            return wrong("damaged: its checksum is another one");
        }
        Ok(())
    }
}

/// An archive that is written.
pub(crate) struct Writer<W> {
    out: W,
    at: u64,
    directory: Vec<u8>,
    count: u64,
}

/// A number in a field of 32 bits; where it is too large, in the field for large ones.
fn narrow(number: u64, large: &mut Vec<u8>) -> u32 {
    match u32::try_from(number) {
        Ok(number) if number != ELSEWHERE => number,
        _ => {
            large.extend_from_slice(&number.to_le_bytes());
            ELSEWHERE
        }
    }
}

fn field(large: &[u8]) -> Vec<u8> {
    if large.is_empty() {
        return vec![];
    }
    [&1u16.to_le_bytes()[..], &(large.len() as u16).to_le_bytes(), large].concat()
}

impl<W: Write> Writer<W> {
    pub(crate) fn new(out: W) -> Writer<W> {
        Writer { out, at: 0, directory: vec![], count: 0 }
    }

    /// Adds a file whose contents are these, one after the other. The same contents give the same bytes: it has no date.
    pub(crate) fn add(&mut self, name: &str, contents: &[&[u8]], deflate: bool) -> io::Result<()> {
        let Ok(name_length) = u16::try_from(name.len()) else {
            return Err(io::Error::other(format!(
                "a name of {} bytes; a zip file takes {}",
                name.len(),
                u16::MAX
            )));
        };
        let mut crc = Crc::new();
        contents.iter().for_each(|part| crc.update(part));
        let size: u64 = contents.iter().map(|part| part.len() as u64).sum();
        let deflated = match deflate {
            true => {
                let mut encoder = flate2::write::DeflateEncoder::new(vec![], Compression::default());
                contents.iter().try_for_each(|part| encoder.write_all(part))?;
                Some(encoder.finish()?)
            }
            false => None,
        };
        let compressed = deflated.as_ref().map_or(size, |bytes| bytes.len() as u64);
        let is_large = size.max(compressed) >= u64::from(ELSEWHERE);
        let start = self.at;

        // Both sizes stand in the local header's field, or none.
        let mut local_large = vec![];
        let local_sizes = match is_large {
            true => {
                local_large.extend_from_slice(&size.to_le_bytes());
                local_large.extend_from_slice(&compressed.to_le_bytes());
                [ELSEWHERE; 2]
            }
            false => [compressed as u32, size as u32],
        };
        let mut central_large = vec![];
        let central_size = narrow(size, &mut central_large);
        let central_compressed = narrow(compressed, &mut central_large);
        let central_start = narrow(start, &mut central_large);

        let version = if is_large || start >= u64::from(ELSEWHERE) { 45u16 } else { 20 };
        // A name that is no ASCII is UTF-8.
        let flags = if name.is_ascii() { 0u16 } else { 1 << 11 };
        let method = if deflate { 8u16 } else { 0 };
        let common = |sizes: [u32; 2], extra: &[u8]| {
            let mut bytes = vec![];
            for half in [version, flags, method, 0, 0x21] {
                bytes.extend_from_slice(&half.to_le_bytes());
            }
            for word in [crc.sum(), sizes[0], sizes[1]] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            bytes.extend_from_slice(&name_length.to_le_bytes());
            bytes.extend_from_slice(&(extra.len() as u16).to_le_bytes());
            bytes
        };
        let (local_extra, central_extra) = (field(&local_large), field(&central_large));
        let local =
            [&LOCAL.to_le_bytes()[..], &common(local_sizes, &local_extra), name.as_bytes(), &local_extra]
                .concat();
        self.write(&local)?;
        match &deflated {
            Some(bytes) => self.write(bytes)?,
            None => contents.iter().try_for_each(|part| self.write(part))?,
        }

        self.directory.extend_from_slice(&CENTRAL.to_le_bytes());
        self.directory.extend_from_slice(&version.to_le_bytes());
        self.directory.extend_from_slice(&common([central_compressed, central_size], &central_extra));
        // No comment, the first disk, no attributes.
        self.directory.extend_from_slice(&[0; 10]);
        self.directory.extend_from_slice(&central_start.to_le_bytes());
        self.directory.extend_from_slice(name.as_bytes());
        self.directory.extend_from_slice(&central_extra);
        self.count += 1;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Writes the directory.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        let (start, directory) = (self.at, std::mem::take(&mut self.directory));
        self.write(&directory)?;
        let (count, size) = (self.count, directory.len() as u64);
        let is_large = count >= u64::from(ELSEWHERE_16) || start.max(size) >= u64::from(ELSEWHERE);
        if is_large {
            let end = self.at;
            let mut bytes = END_64.to_le_bytes().to_vec();
            bytes.extend_from_slice(&44u64.to_le_bytes());
            bytes.extend_from_slice(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            for number in [count, count, size, start] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            bytes.extend_from_slice(&LOCATOR_64.to_le_bytes());
            bytes.extend_from_slice(&0u32.to_le_bytes());
            bytes.extend_from_slice(&end.to_le_bytes());
            bytes.extend_from_slice(&1u32.to_le_bytes());
            self.write(&bytes)?;
        }
        let short = |number: u64| u32::try_from(number).unwrap_or(ELSEWHERE);
        let few = u16::try_from(count).unwrap_or(ELSEWHERE_16);
        let mut bytes = END.to_le_bytes().to_vec();
        bytes.extend_from_slice(&[0; 4]);
        for half in [few, few] {
            bytes.extend_from_slice(&half.to_le_bytes());
        }
        for word in [short(size), short(start)] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&[0; 2]);
        self.write(&bytes)?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn of(files: &[(&str, &[u8], bool)]) -> Vec<u8> {
        let mut writer = Writer::new(vec![]);
        for (name, bytes, deflate) in files {
            writer.add(name, &[bytes], *deflate).unwrap();
        }
        writer.finish().unwrap()
    }

    fn open(bytes: &[u8]) -> Outcome<Archive<Cursor<&[u8]>>> {
        Archive::open(Cursor::new(bytes), bytes.len() as u64, "a.zip".into())
    }

    #[test]
    fn files_come_back() {
        let long = vec![7u8; 100_000];
        let bytes = of(&[("a", b"hello", false), ("ü/b", &long, true), ("empty", b"", true)]);
        assert!(bytes.len() < 2000, "{}", bytes.len());
        let mut archive = open(&bytes).unwrap();
        assert_eq!(archive.names(), ["a", "ü/b", "empty"]);
        assert_eq!(archive.bytes("a", 5).unwrap(), b"hello");
        assert_eq!(archive.bytes("ü/b", 1 << 20).unwrap(), long);
        assert_eq!(archive.bytes("empty", 0).unwrap(), b"");
        assert!(archive.bytes("a", 4).is_err() && archive.bytes("c", 4).is_err());
    }

    /// More entries than the short fields hold have the long ones.
    #[test]
    fn many_files_have_the_long_directory() {
        let mut writer = Writer::new(vec![]);
        for i in 0..66_000 {
            writer.add(&i.to_string(), &[], false).unwrap();
        }
        let bytes = writer.finish().unwrap();
        assert_eq!(open(&bytes).unwrap().names().len(), 66_000);
    }

    /// Sizes stand in the field for large ones, where they are too large for their own.
    #[test]
    fn large_sizes_are_elsewhere() {
        let mut large = vec![];
        assert_eq!([narrow(7, &mut large), narrow(1 << 33, &mut large)], [7, ELSEWHERE]);
        let extra = [&[0xca, 0xfe, 1, 0, 0][..], &field(&large)].concat();
        let mut sizes = [7, u64::from(ELSEWHERE), 9];
        widened(&mut sizes, &extra).unwrap();
        assert_eq!(sizes, [7, 1 << 33, 9]);
        assert!(widened(&mut [u64::from(ELSEWHERE); 3], &extra).is_none());
    }

    #[test]
    fn what_is_changed_is_refused() {
        let bytes = of(&[("a", b"hello", false), ("b", &[1; 500], true)]);
        let all = |bytes: &[u8]| -> Outcome<()> {
            let mut archive = open(bytes)?;
            for name in archive.names().to_vec() {
                archive.bytes(&name, 1000)?;
            }
            Ok(())
        };
        all(&bytes).unwrap();
        for n in 0..bytes.len() {
            assert!(all(&bytes[..n]).is_err(), "cut to {n}");
        }
        let at = bytes.windows(5).position(|w| w == b"hello").unwrap();
        let mut other = bytes.clone();
        other[at] ^= 1;
        let e = all(&other).unwrap_err();
        assert!(e.to_string().contains("a.zip: a: damaged: its checksum"), "{e}");
        // The second entry in the place of the first: its bytes would count twice.
        let central: Vec<usize> = (0..bytes.len() - 4).filter(|&at| u32_at(&bytes, at) == CENTRAL).collect();
        let mut other = bytes.clone();
        other.copy_within(central[0] + 42..central[0] + 46, central[1] + 42);
        assert!(all(&other).unwrap_err().to_string().contains("two of its entries are one"));
        // More than its bytes can become.
        let mut other = bytes.clone();
        other[central[1] + 24..central[1] + 28].copy_from_slice(&(1u32 << 30).to_le_bytes());
        assert!(all(&other).unwrap_err().to_string().contains("b: of 1073741824 bytes, which it cannot be"));
    }
}
