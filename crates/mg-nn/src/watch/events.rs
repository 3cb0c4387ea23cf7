//! Event files, as TensorBoard reads them: TFRecords of `Event` messages (tensorflow/core/util/event.proto,
//! summary.proto), each with masked CRC-32C of its length and of itself.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::png::Image;

/// CRC-32C (Castagnoli), bytewise by table.
fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0u32; 256];
        let mut i = 0;
        while i < 256 {
            let (mut crc, mut bit) = (i as u32, 0);
            while bit < 8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0x82F6_3B78 } else { crc >> 1 };
                bit += 1;
            }
            table[i] = crc;
            i += 1;
        }
        table
    };
    !bytes.iter().fold(!0u32, |crc, &b| TABLE[((crc ^ u32::from(b)) & 255) as usize] ^ crc >> 8)
}

fn masked(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8)
}

/// A message of Protocol Buffers, field by field.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 128 {
            self.0.push(value as u8 | 128);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn int(mut self, field: u64, value: i64) -> Message {
        self.varint(field << 3);
        self.varint(value as u64);
        self
    }

    fn double(mut self, field: u64, value: f64) -> Message {
        self.varint(field << 3 | 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn float(mut self, field: u64, value: f32) -> Message {
        self.varint(field << 3 | 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(mut self, field: u64, value: &[u8]) -> Message {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    fn message(self, field: u64, value: &Message) -> Message {
        self.bytes(field, &value.0)
    }

    fn doubles(self, field: u64, values: &[f64]) -> Message {
        let packed: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.bytes(field, &packed)
    }
}

/// Writes an event file, which TensorBoard shows while it grows.
///
/// ```
/// use mg_nn::watch::EventWriter;
///
/// let dir = std::env::temp_dir().join(format!("mg-events-{}", std::process::id()));
/// let mut events = EventWriter::create(&dir, "")?;
/// events.scalar("loss", 0.5, 1, None)?;
/// events.flush()?;
/// assert!(std::fs::metadata(events.path())?.len() > 0);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct EventWriter {
    file: BufWriter<File>,
    path: PathBuf,
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64())
}

impl EventWriter {
    /// A new file in a directory, which is made where it is not there.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn create(directory: &Path, suffix: &str) -> io::Result<EventWriter> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(directory)?;
        let (time, process) = (now() as u64, std::process::id());
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!("events.out.tfevents.{time:010}.{process}.{number}{suffix}"));
            let file = match File::create_new(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            let mut events = EventWriter { file: BufWriter::new(file), path };
            events.record(&Message::default().double(1, now()).bytes(3, b"brain.Event:2"))?;
            events.flush()?;
            return Ok(events);
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn record(&mut self, message: &Message) -> io::Result<()> {
        let length = (message.0.len() as u64).to_le_bytes();
        self.file.write_all(&length)?;
        self.file.write_all(&masked(&length).to_le_bytes())?;
        self.file.write_all(&message.0)?;
        self.file.write_all(&masked(&message.0).to_le_bytes())
    }

    /// A value of a summary, at a step, and a time in seconds since 1970 (now where it is `None`).
    fn value(&mut self, tag: &str, value: Message, step: i64, time: Option<f64>) -> io::Result<()> {
        // The tag may stand behind the value: fields come in any order.
        let summary = Message::default().message(1, &value.bytes(1, tag.as_bytes()));
        let event = Message::default().double(1, time.unwrap_or_else(now)).int(2, step).message(5, &summary);
        self.record(&event)
    }

    /// A number.
    ///
    /// # Errors
    ///
    /// Those of the file system; so of all below.
    pub fn scalar(&mut self, tag: &str, value: f64, step: i64, time: Option<f64>) -> io::Result<()> {
        self.value(tag, Message::default().float(2, value as f32), step, time)
    }

    /// How numbers are spread. Those that are not finite are left out.
    ///
    /// # Errors
    ///
    /// As [`EventWriter::scalar`].
    pub fn histogram(
        &mut self,
        tag: &str,
        values: &[f64],
        bins: usize,
        step: i64,
        time: Option<f64>,
    ) -> io::Result<()> {
        let (limits, counts) = spread(values, bins);
        let finite = || values.iter().copied().filter(|x| x.is_finite());
        let extreme = |f: fn(f64, f64) -> f64| finite().reduce(f).unwrap_or(0.0);
        let message = Message::default()
            .double(1, extreme(f64::min))
            .double(2, extreme(f64::max))
            .double(3, finite().count() as f64)
            .double(4, finite().sum())
            .double(5, finite().map(|x| x * x).sum())
            .doubles(6, &limits[1..])
            .doubles(7, &counts);
        self.value(tag, Message::default().message(5, &message), step, time)
    }

    /// An image.
    ///
    /// # Errors
    ///
    /// As [`EventWriter::scalar`].
    pub fn image(&mut self, tag: &str, image: &Image, step: i64, time: Option<f64>) -> io::Result<()> {
        let message = Message::default()
            .int(1, image.height as i64)
            .int(2, image.width as i64)
            .int(3, image.channels as i64)
            .bytes(4, &image.to_png());
        self.value(tag, Message::default().message(4, &message), step, time)
    }

    /// A text, in Markdown.
    ///
    /// # Errors
    ///
    /// As [`EventWriter::scalar`].
    pub fn text(&mut self, tag: &str, text: &str, step: i64, time: Option<f64>) -> io::Result<()> {
        let plugin = Message::default().bytes(1, b"text");
        let metadata = Message::default().message(1, &plugin);
        let shape = Message::default().message(2, &Message::default().int(1, 1));
        let tensor = Message::default().int(1, 7).message(2, &shape).bytes(8, text.as_bytes());
        self.value(tag, Message::default().message(9, &metadata).message(8, &tensor), step, time)
    }

    /// Writes what waits to the file.
    ///
    /// # Errors
    ///
    /// As [`EventWriter::scalar`].
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The bounds of so many bins, which are equally wide, and how many finite values are in each.
pub(crate) fn spread(values: &[f64], bins: usize) -> (Vec<f64>, Vec<f64>) {
    let bins = bins.max(1);
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let (least, most) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let (least, most) = match least.partial_cmp(&most) {
        Some(std::cmp::Ordering::Less) => (least, most),
        Some(std::cmp::Ordering::Equal) => (least - 0.5, most + 0.5),
        Some(std::cmp::Ordering::Greater) | None => (0.0, 1.0),
    };
    let width = (most - least) / bins as f64;
    let limits = (0..=bins).map(|i| if i == bins { most } else { least + width * i as f64 }).collect();
    let mut counts = vec![0.0; bins];
    finite().for_each(|x| counts[(((x - least) / width) as usize).min(bins - 1)] += 1.0);
    (limits, counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_castagnolis() {
        // RFC 3720, B.4.
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(&[0xFF; 32]), 0x62A8_AB43);
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
    }

    #[test]
    fn a_record_is_framed() -> io::Result<()> {
        let dir = std::env::temp_dir().join(format!("mg-nn-events-{}", std::process::id()));
        let mut events = EventWriter::create(&dir, "")?;
        events.scalar("loss", 0.5, 300, Some(2.0))?;
        events.flush()?;
        let bytes = fs::read(events.path())?;
        fs::remove_dir_all(&dir)?;
        let mut at = 0;
        let mut records = vec![];
        while at < bytes.len() {
            let (length, data) = (&bytes[at..at + 8], at + 12);
            let n = u64::from_le_bytes(length.try_into().unwrap()) as usize;
            assert_eq!(bytes[at + 8..at + 12], masked(length).to_le_bytes());
            assert_eq!(bytes[data + n..data + n + 4], masked(&bytes[data..data + n]).to_le_bytes());
            records.push(bytes[data..data + n].to_vec());
            at = data + n + 4;
        }
        let value = [&[0x15][..], &0.5f32.to_le_bytes(), &[0x0A, 4], b"loss"].concat();
        let mut wanted = vec![0x09];
        wanted.extend(2.0f64.to_le_bytes());
        wanted.extend([0x10, 0xAC, 0x02, 0x2A, value.len() as u8 + 2, 0x0A, value.len() as u8]);
        wanted.extend(value);
        assert_eq!(records[1], wanted);
        Ok(())
    }

    #[test]
    fn bins_take_every_finite_value() {
        let (limits, counts) = spread(&[0.0, 1.0, 0.25, f64::NAN, f64::INFINITY], 2);
        assert_eq!((limits, counts), (vec![0.0, 0.5, 1.0], vec![2.0, 1.0]));
        assert_eq!(spread(&[3.0], 1).0, [2.5, 3.5]);
        assert_eq!(spread(&[], 1), (vec![0.0, 1.0], vec![0.0]));
    }
}
