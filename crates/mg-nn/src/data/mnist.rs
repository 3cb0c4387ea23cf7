//! [`Mnist`]: the four files of MNIST, or of a data set published in its form.

use std::path::{Path, PathBuf};

use mg_device::{Error, ErrorKind, Result};

use super::digits;
use super::idx::{self, Idx};

/// Images of ten classes with their labels, for training and for testing, as u8 on the host. MNIST has 60,000 and 10,000
/// images of 28×28.
#[derive(Debug, Clone)]
pub struct Mnist {
    /// u8 `[n, rows, columns]`: 0 is background, 255 is ink.
    pub train_images: Idx,
    /// u8 `[n]`, 0 to 9.
    pub train_labels: Idx,
    /// u8 `[m, rows, columns]`, of the size of the training images.
    pub test_images: Idx,
    /// u8 `[m]`, 0 to 9.
    pub test_labels: Idx,
}

/// The number of classes.
const CLASSES: u8 = 10;

/// Digits that are drawn at once, at most: 13 GB of them.
const MOST_DRAWN: usize = 1 << 24;

impl Mnist {
    /// Reads `train-images-idx3-ubyte`, `train-labels-idx1-ubyte`, `t10k-images-idx3-ubyte` and `t10k-labels-idx1-ubyte` in
    /// `dir`. Each may also be called `….idx3-ubyte` or `….idx1-ubyte`, with a dot, and end in `.gz`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] where a file is missing or cannot be read; [`ErrorKind::Format`] where one is not as it should be
    /// (see [`idx::read`]), is not u8 of the right rank, where images and labels are not equally many, a label is above 9, or the
    /// images for training and testing differ in size.
    #[track_caller]
    pub fn load(dir: impl AsRef<Path>) -> Result<Mnist> {
        match Mnist::from_dir(dir.as_ref()) {
            Ok(mnist) => Ok(mnist),
            // The kind alone, so that the error bears the caller's line.
            Err(kind) => Err(Error::new("Mnist::load", kind)),
        }
    }

    /// The data set that a program's user asks for. Where `drawn` is above 0, it is so many digits that are drawn here, and a sixth as many to test
    /// with ([`digits::mnist`]). Else it is the files in `dir`, and without that the files in the folder that the environment variable `MNIST_DIR`
    /// names. Where nothing is asked for, `usual` digits are drawn.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for both a folder and a number, and for more than 2²⁴ digits; else as [`Mnist::load`].
    #[track_caller]
    pub fn load_or_draw(dir: Option<&Path>, drawn: usize, usual: usize, seed: u64) -> Result<Mnist> {
        let named = std::env::var_os("MNIST_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let found = match chosen(dir, named.as_deref(), drawn) {
            Ok(Some(dir)) => Mnist::from_dir(dir),
            Ok(None) => match if drawn > 0 { drawn } else { usual } {
                n if n > MOST_DRAWN => Err(ErrorKind::Value(format!("{n} digits: more than 2²⁴"))),
                n => Ok(digits::mnist(n, n / 6, seed)),
            },
            Err(kind) => Err(kind),
        };
        match found {
            Ok(mnist) => Ok(mnist),
            Err(kind) => Err(Error::new("Mnist::load_or_draw", kind)),
        }
    }

    fn from_dir(dir: &Path) -> std::result::Result<Mnist, ErrorKind> {
        let (train_images, train_labels) = part(dir, "train")?;
        let (test_images, test_labels) = part(dir, "t10k")?;
        if train_images.shape[1..] != test_images.shape[1..] {
            return Err(ErrorKind::Format(format!(
                "{}: the training images are {:?}, the test images {:?}",
                dir.display(),
                &train_images.shape[1..],
                &test_images.shape[1..]
            )));
        }
        Ok(Mnist { train_images, train_labels, test_images, test_labels })
    }
}

/// The folder to read, of the one that is asked for and the one that the environment names; `None` where digits are drawn.
fn chosen<'a>(
    asked: Option<&'a Path>,
    named: Option<&'a Path>,
    drawn: usize,
) -> std::result::Result<Option<&'a Path>, ErrorKind> {
    match (asked, drawn) {
        (asked, 0) => Ok(asked.or(named)),
        (None, _) => Ok(None),
        (Some(dir), n) => Err(ErrorKind::Value(format!(
            "takes a folder with the files or a number of digits to draw, got both: {} and {n}",
            dir.display()
        ))),
    }
}

/// The images and labels of one part, checked against each other.
fn part(dir: &Path, part: &str) -> std::result::Result<(Idx, Idx), ErrorKind> {
    let (images_path, images) = array(dir, &format!("{part}-images"), 3)?;
    let (labels_path, labels) = array(dir, &format!("{part}-labels"), 1)?;
    if images.shape[0] != labels.shape[0] {
        return Err(ErrorKind::Format(format!(
            "{} has {} images, {} has {} labels",
            images_path.display(),
            images.shape[0],
            labels_path.display(),
            labels.shape[0]
        )));
    }
    let values = labels.data.as_slice::<u8>().map_err(|e| e.kind().clone())?;
    if let Some(i) = values.iter().position(|&label| label >= CLASSES) {
        return Err(ErrorKind::Format(format!(
            "{}: label {} of sample {i} is out of range: labels are 0 to {}",
            labels_path.display(),
            values[i],
            CLASSES - 1
        )));
    }
    Ok((images, labels))
}

/// The file of array `stem`, under whichever name it has.
fn array(dir: &Path, stem: &str, rank: usize) -> std::result::Result<(PathBuf, Idx), ErrorKind> {
    let names = ["-", "."].map(|dot| ["", ".gz"].map(|gz| format!("{stem}{dot}idx{rank}-ubyte{gz}")));
    let path = names.as_flattened().iter().map(|name| dir.join(name)).find(|path| path.is_file());
    let Some(path) = path else {
        let text = format!("{}: no file {}, nor by its other names", dir.display(), names[0][1]);
        return Err(ErrorKind::Io(text));
    };
    let array = idx::read(&path).map_err(|e| e.kind().clone())?;
    if array.dtype() != mg_device::DType::U8 || array.shape.rank() != rank {
        let (dtype, shape) = (array.dtype(), array.shape);
        let text = format!("{}: {dtype} of shape {shape}, where u8 of rank {rank} should be", path.display());
        return Err(ErrorKind::Format(text));
    }
    Ok((path, array))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_drawn_whatever_the_environment_says() {
        let (asked, named) = (Path::new("asked"), Path::new("named"));
        for (dir, environment, drawn, wanted) in [
            (None, None, 0, None),
            (None, Some(named), 0, Some(named)),
            (Some(asked), Some(named), 0, Some(asked)),
            (Some(asked), None, 0, Some(asked)),
            (None, Some(named), 5, None),
            (None, None, 5, None),
        ] {
            assert_eq!(chosen(dir, environment, drawn), Ok(wanted), "{dir:?} {environment:?} {drawn:?}");
        }
        let both = chosen(Some(asked), None, 5).unwrap_err();
        assert!(both.to_string().contains("got both: asked and 5"), "{both}");
    }

    #[test]
    fn as_many_as_are_asked_for() {
        let data = Mnist::load_or_draw(None, 12, 600, 1).unwrap();
        assert_eq!((data.train_labels.shape.numel(), data.test_labels.shape.numel()), (12, 2));
        let text = Mnist::load_or_draw(None, usize::MAX, 600, 1).unwrap_err().to_string();
        assert!(text.contains("more than 2²⁴"), "{text}");
        let dir = std::env::temp_dir().join("no-such-folder-of-digits");
        assert!(matches!(Mnist::load_or_draw(Some(&dir), 0, 600, 1).unwrap_err().kind(), ErrorKind::Io(_)));
    }
}
