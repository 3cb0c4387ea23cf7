//! Images in files: PNG and JPEG, and folders of them with a folder for each class.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use mg_autograd::Tensor;
use mg_device::{Error, ErrorKind, Result};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::dataset::Dataset;
use super::read::{Read, contents, told};

/// The most bytes that a decoded image may have: 1 GiB.
const MOST_BYTES: usize = 1 << 30;
/// The longest that a side of a JPEG may be, which is the longest that its format has.
const LONGEST_SIDE: usize = 65_535;

/// Which channels an image is read with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageMode {
    /// Those of the file: 1 (gray), 2 (gray and alpha), 3 (red, green, blue) or 4 (with alpha).
    Unchanged,
    /// One: how bright it is, 0.299 red + 0.587 green + 0.114 blue.
    Gray,
    /// Three: red, green, blue.
    #[default]
    Rgb,
    /// Four: red, green, blue, and how much covers what is behind (255 where the file does not say).
    Rgba,
}

impl ImageMode {
    /// The mode of this name, as torchvision has it: `UNCHANGED`, `GRAY`, `RGB`, `RGB_ALPHA` (or `RGBA`).
    #[must_use]
    pub fn named(name: &str) -> Option<ImageMode> {
        match name {
            "UNCHANGED" => Some(ImageMode::Unchanged),
            "GRAY" => Some(ImageMode::Gray),
            "RGB" => Some(ImageMode::Rgb),
            "RGB_ALPHA" | "RGBA" => Some(ImageMode::Rgba),
            _ => None,
        }
    }

    /// How many channels an image of so many is read with.
    fn channels(self, of: usize) -> usize {
        match self {
            ImageMode::Unchanged => of,
            ImageMode::Gray => 1,
            ImageMode::Rgb => 3,
            ImageMode::Rgba => 4,
        }
    }
}

/// Reads a PNG or JPEG file: u8 `[channels, height, width]` on the host. What a file is is told by its first bytes, whatever its name.
///
/// Of 16 bits the upper 8 are kept, colours of a palette are looked up, and alpha that is not asked for is left out. An image lies as it is
/// stored: what its EXIF data says of turning it is not done.
///
/// # Errors
///
/// [`ErrorKind::Io`] where the file cannot be read, [`ErrorKind::Format`], which names the file, where it is neither of both, damaged, or
/// of more than a gigabyte.
#[track_caller]
pub fn read_image(path: impl AsRef<Path>, mode: ImageMode) -> Result<Tensor> {
    let read = contents(path.as_ref()).and_then(|(name, bytes)| decoded(&name, &bytes, mode));
    made("read_image", read)
}

/// Reads a PNG or JPEG from memory, as [`read_image`]. `name` stands for the file's name in errors.
///
/// # Errors
///
/// As [`read_image`].
#[track_caller]
pub fn decode_image(name: &str, bytes: &[u8], mode: ImageMode) -> Result<Tensor> {
    made("decode_image", decoded(name, bytes, mode))
}

/// Elements with their shape.
type Image = (Vec<u8>, [usize; 3]);

#[track_caller]
fn made(op: &'static str, image: Read<Image>) -> Result<Tensor> {
    let (elements, shape) = told(op, image)?;
    let here =
        mg_autograd::with_default_device(mg_device::Device::cpu(), || Tensor::from_vec(elements, &shape));
    here?.map_err(|e| e.with_op(op))
}

fn decoded(name: &str, bytes: &[u8], mode: ImageMode) -> Read<Image> {
    let damaged =
        |what: &str, e: &dyn std::fmt::Display| ErrorKind::Format(format!("{name}: a damaged {what}: {e}"));
    let (pixels, [height, width, channels]) = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        png(name, bytes).map_err(|failure| match failure {
            Failure::Damaged(text) => damaged("PNG", &text),
            Failure::Other(kind) => kind,
        })?
    } else if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
        jpeg(name, bytes).map_err(|failure| match failure {
            Failure::Damaged(text) => damaged("JPEG", &text),
            Failure::Other(kind) => kind,
        })?
    } else {
        return Err(ErrorKind::Format(format!("{name}: neither a PNG nor a JPEG file")));
    };
    let wanted = mode.channels(channels);
    let area = height * width;
    if !(1..=4).contains(&channels) || pixels.len() != area * channels {
        return Err(ErrorKind::Internal(format!(
            "{name}: {} bytes of {height}x{width}x{channels}",
            pixels.len()
        )));
    }
    let mut elements = reserved(name, area.saturating_mul(wanted))?;
    // One plane after another, from pixels side by side.
    let plane = |elements: &mut Vec<u8>, value: &dyn Fn(&[u8]) -> u8| {
        elements.extend(pixels.chunks_exact(channels).map(value))
    };
    // Which channels are colours: a gray one is all three.
    let colour = |i: usize| if channels < 3 { 0 } else { i };
    match mode {
        ImageMode::Unchanged => (0..channels).for_each(|i| plane(&mut elements, &|p| p[i])),
        ImageMode::Gray if channels < 3 => plane(&mut elements, &|p| p[0]),
        // ITU-R 601, in the integers that Pillow and torchvision count with.
        ImageMode::Gray => plane(&mut elements, &|p| {
            let [red, green, blue] = [p[0], p[1], p[2]].map(u32::from);
            ((red * 19_595 + green * 38_470 + blue * 7_471 + 0x8000) >> 16) as u8
        }),
        ImageMode::Rgb => (0..3).for_each(|i| plane(&mut elements, &|p| p[colour(i)])),
        ImageMode::Rgba => {
            (0..3).for_each(|i| plane(&mut elements, &|p| p[colour(i)]));
            let has_alpha = channels % 2 == 0;
            plane(&mut elements, &|p| if has_alpha { p[channels - 1] } else { 255 });
        }
    }
    Ok((elements, [wanted, height, width]))
}

fn reserved(name: &str, n: usize) -> Read<Vec<u8>> {
    if n > MOST_BYTES {
        return Err(ErrorKind::Format(format!(
            "{name}: an image of {n} bytes: at most {MOST_BYTES} are read"
        )));
    }
    let mut bytes = vec![];
    bytes.try_reserve_exact(n).map_err(|_| ErrorKind::OutOfMemory {
        requested: n,
        active: 0,
        cached: 0,
        limit: None,
        free: None,
    })?;
    Ok(bytes)
}

/// What keeps an image from being had.
enum Failure {
    Damaged(String),
    Other(ErrorKind),
}

fn of_damage(e: impl std::fmt::Display) -> Failure {
    Failure::Damaged(e.to_string())
}

/// Pixels side by side, row by row, and `[height, width, channels]`.
type Pixels = (Vec<u8>, [usize; 3]);

fn png(name: &str, bytes: &[u8]) -> std::result::Result<Pixels, Failure> {
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: MOST_BYTES });
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(of_damage)?;
    let size = reader.output_buffer_size().ok_or_else(|| of_damage("its size overflows"))?;
    let mut pixels = reserved(name, size).map_err(Failure::Other)?;
    pixels.resize(size, 0);
    let frame = reader.next_frame(&mut pixels).map_err(of_damage)?;
    pixels.truncate(frame.buffer_size());
    let (width, height) = (frame.width as usize, frame.height as usize);
    Ok((pixels, [height, width, frame.color_type.samples()]))
}

fn jpeg(name: &str, bytes: &[u8]) -> std::result::Result<Pixels, Failure> {
    let options = DecoderOptions::default().set_max_width(LONGEST_SIDE).set_max_height(LONGEST_SIDE);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(of_damage)?;
    let gray = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let space = if gray { ColorSpace::Luma } else { ColorSpace::RGB };
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let info = decoder.info().ok_or_else(|| of_damage("it does not say its size"))?;
    let size = decoder.output_buffer_size().ok_or_else(|| of_damage("it does not say its size"))?;
    let mut pixels = reserved(name, size).map_err(Failure::Other)?;
    pixels.resize(size, 0);
    decoder.decode_into(&mut pixels).map_err(of_damage)?;
    Ok((pixels, [usize::from(info.height), usize::from(info.width), if gray { 1 } else { 3 }]))
}

/// Images in folders, one folder for each class, as torchvision has it: `root/cat/7.png`, `root/dog/a/1.jpg`. A sample is the image, u8
/// `[channels, height, width]`, and its class.
///
/// Classes are the folders' names in their order, and a class's images are in the order of their paths. Images of unlike sizes do not
/// make up a batch: [`MapDataset`](super::MapDataset) has a place for what makes them alike.
#[derive(Clone, Debug)]
pub struct ImageFolder {
    classes: Vec<String>,
    samples: Vec<(PathBuf, i64)>,
    mode: ImageMode,
}

/// What names of images end in, in any case.
const ENDINGS: [&str; 3] = ["png", "jpg", "jpeg"];

impl ImageFolder {
    /// Finds what is there; images are read when they are asked for, in three colours.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] for folders that cannot be read; [`ErrorKind::Value`] where there are no folders, or one without images.
    #[track_caller]
    pub fn new(root: impl AsRef<Path>) -> Result<ImageFolder> {
        match found(root.as_ref()) {
            Ok(folder) => Ok(folder),
            Err(kind) => Err(Error::new("ImageFolder", kind)),
        }
    }

    /// With other channels.
    #[must_use]
    pub fn mode(self, mode: ImageMode) -> ImageFolder {
        ImageFolder { mode, ..self }
    }

    /// The classes' names, in the order of their numbers.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Paths with classes.
    #[must_use]
    pub fn samples(&self) -> &[(PathBuf, i64)] {
        &self.samples
    }
}

impl Dataset for ImageFolder {
    type Sample = (Tensor, i64);
    fn len(&self) -> usize {
        self.samples.len()
    }
    fn get(&self, index: usize) -> Result<(Tensor, i64)> {
        let (path, class) = &self.samples[index];
        Ok((read_image(path, self.mode)?, *class))
    }
}

/// What a folder has, in order.
fn entries(folder: &Path) -> Read<Vec<PathBuf>> {
    let failed = |e: std::io::Error| ErrorKind::Io(format!("cannot read {}: {e}", folder.display()));
    let paths = fs::read_dir(folder).map_err(failed)?.map(|entry| Ok(entry.map_err(failed)?.path()));
    let mut paths = paths.collect::<Read<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn found(root: &Path) -> Read<ImageFolder> {
    let mut folder = ImageFolder { classes: vec![], samples: vec![], mode: ImageMode::default() };
    for path in entries(root)?.into_iter().filter(|path| path.is_dir()) {
        let before = folder.samples.len();
        let class = folder.classes.len() as i64;
        let mut folders = vec![path.clone()];
        while let Some(inner) = folders.pop() {
            for path in entries(&inner)? {
                let is_image = path.extension().and_then(|end| end.to_str());
                let is_image =
                    is_image.is_some_and(|end| ENDINGS.iter().any(|known| end.eq_ignore_ascii_case(known)));
                // What a link leads to is not walked: it may lead back.
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                } else if is_image && path.is_file() {
                    folder.samples.push((path, class));
                }
            }
        }
        if folder.samples.len() == before {
            let text =
                format!("{} has no image: their names end in .{}", path.display(), ENDINGS.join(", ."));
            return Err(ErrorKind::Value(text));
        }
        folder.samples[before..].sort();
        folder.classes.push(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
    }
    match folder.classes.is_empty() {
        true => Err(ErrorKind::Value(format!(
            "{} has no folders, of which each would be a class",
            root.display()
        ))),
        false => Ok(folder),
    }
}
