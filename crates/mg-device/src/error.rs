//! The one error type of the engine.
//!
//! An [`Error`] says which operation failed, why (its [`ErrorKind`], which a program can match on) and the source line
//! that asked for it. It is one pointer wide, so that a `Result<Tensor>` costs no more than the tensor.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What values have to be that kernels check: an index of 1 for each that is not, where there is room for 0 alone. It stands where
/// checks of indices have their axis, beyond those that tensors have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Valid {
    /// At least 0 and at most 1.
    Probability,
    /// Finite, and not negative.
    Weight,
    /// Above 0: the sum of weights.
    Sum,
    /// Not 0: the diagonal of a triangular matrix that has an inverse.
    Diagonal,
    /// Not negative: the mean of a count.
    Rate,
    /// Not below 0, though it may be no number: a variance.
    Variance,
    /// Not negative: a standard deviation.
    Deviation,
    /// Finite: the end of a range.
    Finite,
}

impl Valid {
    const ALL: [Valid; 8] = [
        Valid::Probability,
        Valid::Weight,
        Valid::Sum,
        Valid::Diagonal,
        Valid::Rate,
        Valid::Variance,
        Valid::Deviation,
        Valid::Finite,
    ];

    /// What stands in place of the axis.
    pub const fn axis(self) -> usize {
        crate::MAX_RANK + 1 + self as usize
    }

    /// Whether a value is that.
    pub fn holds(self, x: f64) -> bool {
        match self {
            Valid::Probability => (0.0..=1.0).contains(&x),
            Valid::Weight => (0.0..f64::INFINITY).contains(&x),
            Valid::Sum => x > 0.0,
            Valid::Diagonal => x != 0.0,
            Valid::Rate | Valid::Deviation => x >= 0.0,
            Valid::Variance => x >= 0.0 || x.is_nan(),
            Valid::Finite => x.is_finite(),
        }
    }

    /// What is wrong where it does not hold.
    pub fn refusal(self) -> ErrorKind {
        let text = match self {
            Valid::Probability => "takes numbers between 0 and 1",
            Valid::Weight => "takes weights that are finite and not negative",
            Valid::Sum => "takes weights of which some are above 0",
            Valid::Rate => "takes rates that are not negative",
            Valid::Variance => "takes variances that are not negative",
            Valid::Deviation => "takes standard deviations that are not negative",
            Valid::Finite => "takes numbers that are finite: they are the ends of the range",
            Valid::Diagonal => {
                let text = "a diagonal element is zero: the matrix is singular and has no inverse";
                return ErrorKind::Singular(text.into());
            }
        };
        ErrorKind::Value(text.into())
    }
}

/// What a check looks at, of whatever device.
#[derive(Clone, Copy, Debug)]
pub enum Checked {
    /// Indices along an axis.
    Index {
        /// The axis.
        axis: usize,
        /// How many places it has.
        size: usize,
    },
    /// Integers that are divided by.
    Divisor,
    /// What a kernel looks at by itself.
    Kernel {
        /// What it is.
        code: i64,
        /// What a code and the word that was found mean.
        meaning: fn(i64, i64) -> ErrorKind,
    },
}

impl Checked {
    /// What is wrong with what was found: an index, or a kernel's word.
    pub fn refusal(self, found: i64) -> ErrorKind {
        match self {
            Checked::Index { axis, size } => ErrorKind::of_check(found, axis, size),
            Checked::Divisor => ErrorKind::Value("an integer is divided by zero".into()),
            Checked::Kernel { code, meaning } => meaning(code, found),
        }
    }
}

impl ErrorKind {
    /// What a check of indices along an axis found, or one of values.
    pub fn of_check(index: i64, axis: usize, size: usize) -> ErrorKind {
        match Valid::ALL.into_iter().find(|valid| valid.axis() == axis) {
            Some(valid) => valid.refusal(),
            None => ErrorKind::Index { index, axis, size },
        }
    }
}

/// What went wrong, for programs to match on. Its text names what was got and what is taken.
#[derive(thiserror::Error, Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Shapes, ranks or strides do not fit the operation.
    #[error("{0}")]
    Shape(String),
    /// The operation does not take this dtype, or these dtypes together.
    #[error("{0}")]
    DType(String),
    /// A device is missing, or cannot do what is asked.
    #[error("{0}")]
    Device(String),
    /// Operands are on different devices.
    #[error("{0}")]
    UnlikeDevices(String),
    /// Indices that do not fit what they are to pick from: more of them than axes, a mask of another shape.
    #[error("{0}")]
    Indices(String),
    /// An index is outside its axis. Valid are `-size..size`.
    #[error("index {index} is out of range for axis {axis} of size {size}")]
    Index {
        /// The index as it was given, negative ones included.
        index: i64,
        /// The axis it was applied to.
        axis: usize,
        /// The number of elements along that axis.
        size: usize,
    },
    /// An axis that the tensor does not have. Valid are `-rank..rank`.
    #[error("axis {axis} is out of range for a tensor of rank {rank}")]
    Axis {
        /// The axis as it was given, negative ones included.
        axis: i64,
        /// The rank of the tensor.
        rank: usize,
    },
    /// An argument is outside what the operation takes.
    #[error("{0}")]
    Value(String),
    /// There are no elements of which one is asked for: the largest, the median.
    #[error("{0}")]
    Empty(String),
    /// A matrix that cannot be factorised, inverted or solved with.
    #[error("{0}")]
    Singular(String),
    /// A gradient was asked for where there is none to have.
    #[error("{0}")]
    Gradient(String),
    /// Memory ran out, after the allocator gave back its cache and tried again. All figures are bytes.
    #[error("out of memory: {}", oom_text(*requested, *active, *cached, *limit, *free))]
    OutOfMemory {
        /// What the failing request asked for.
        requested: usize,
        /// Held by live buffers.
        active: usize,
        /// Held by the allocator for reuse, when the request came in.
        cached: usize,
        /// The limit set by the user, if any.
        limit: Option<usize>,
        /// What the system or the device has free, if it could be asked.
        free: Option<usize>,
    },
    /// The CUDA driver refused a call.
    #[error("CUDA: {0}")]
    Cuda(String),
    /// A file or a stream could not be read or written.
    #[error("{0}")]
    Io(String),
    /// Data is not in the format it should be in.
    #[error("{0}")]
    Format(String),
    /// The user interrupted the work.
    #[error("cancelled")]
    Cancelled,
    /// A mistake of this library, worth a report.
    #[error("internal error, please report it: {0}")]
    Internal(String),
}

/// An error of the engine: a kind, the operation, and where it was called from.
///
/// # Examples
///
/// ```
/// use mg_device::{Error, ErrorKind};
///
/// let e = Error::new("add", ErrorKind::Shape("shapes [2, 3] and [4] cannot be broadcast".into()));
/// assert!(e.to_string().starts_with("add: shapes [2, 3] and [4] cannot be broadcast ("));
/// assert!(matches!(e.kind(), ErrorKind::Shape(_)));
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    op: Cow<'static, str>,
    /// In which part of a whole it happened, and whether that names the operation too.
    place: Option<(Box<str>, bool)>,
    location: &'static Location<'static>,
    /// See [`Error::with_aside`].
    aside: String,
    /// Shared by all copies of the error.
    reported: Arc<AtomicBool>,
}

impl Error {
    /// An error of `op` at the caller's source line.
    #[cold]
    #[track_caller]
    #[must_use]
    pub fn new(op: &'static str, kind: ErrorKind) -> Error {
        let reported = Arc::default();
        let (op, location, aside) = (Cow::Borrowed(op), Location::caller(), String::new());
        Error(Box::new(Inner { kind, op, place: None, location, aside, reported }))
    }

    /// The same error, reported at `location`: for work that fails later than the line that asked for it.
    #[must_use]
    pub fn with_location(mut self, location: &'static Location<'static>) -> Error {
        self.0.location = location;
        self
    }

    /// The same error under another operation's name: the one that the user called.
    #[must_use]
    pub fn with_op(mut self, op: impl Into<Cow<'static, str>>) -> Error {
        self.0.op = op.into();
        self
    }

    /// The same error with a text that is shown behind its kind's, of what concerns who writes Rust alone: its lines, its types.
    /// Who tells the error in another language has the kind without it.
    #[must_use]
    pub fn with_aside(mut self, aside: impl Into<String>) -> Error {
        self.0.aside = aside.into();
        self
    }

    /// The same error, told of a part of a whole: a layer of a model by its path, an item of a data set. The innermost part that is
    /// known is the one that is told; `of` is what the part is called where it fails as itself, so that `encoder.3.linear: takes …`
    /// does not say `linear` twice.
    ///
    /// ```
    /// use mg_device::{Error, ErrorKind};
    ///
    /// let e = Error::new("layer_norm", ErrorKind::Value("no".into()));
    /// assert!(e.clone().within("encoder.norm", "LayerNorm").to_string().starts_with("encoder.norm: no"));
    /// assert!(e.within("item 3", "").to_string().starts_with("item 3: layer_norm: no"));
    /// ```
    #[must_use]
    pub fn within(mut self, place: impl Into<Box<str>>, of: &str) -> Error {
        if self.0.place.is_none() {
            let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
            let is_own = plain(&self.0.op) == plain(of);
            self.0.place = Some((place.into(), is_own));
        }
        self
    }

    /// The part of a whole that it was told of, if it was.
    #[must_use]
    pub fn place(&self) -> Option<&str> {
        self.0.place.as_ref().map(|(place, _)| &**place)
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The operation that failed.
    #[must_use]
    pub fn op(&self) -> &str {
        &self.0.op
    }

    /// Says that somebody was told of this error. All copies of it know.
    pub fn report(&self) {
        self.0.reported.store(true, Ordering::Relaxed);
    }

    /// Whether somebody was told of it. Work that is computed late fails late: until its error has reached a caller, it must
    /// not be forgotten.
    #[must_use]
    pub fn is_reported(&self) -> bool {
        self.0.reported.load(Ordering::Relaxed)
    }

    /// The source line that asked for it.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.0.location
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.place {
            Some((place, true)) => write!(f, "{place}: ")?,
            Some((place, false)) => write!(f, "{place}: {}: ", self.op())?,
            None => write!(f, "{}: ", self.op())?,
        }
        write!(f, "{}{} ({})", self.kind(), self.0.aside, self.location())
    }
}

/// The same text: it is what a `main` that answers with an error, and `unwrap`, show people.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

fn oom_text(
    requested: usize,
    active: usize,
    cached: usize,
    limit: Option<usize>,
    free: Option<usize>,
) -> String {
    let mut text =
        format!("{} asked for, {} in use, {} cached", bytes(requested), bytes(active), bytes(cached));
    if let Some(limit) = limit {
        text += &format!(", limit {}", bytes(limit));
    }
    if let Some(free) = free {
        text += &format!(", {} free", bytes(free));
    }
    text
}

/// "3.50 GiB": a number of bytes for people.
fn bytes(n: usize) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let mut value = n as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.2} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_pointer_wide() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }

    #[test]
    fn it_names_operation_cause_and_line() {
        let e = Error::new("add", ErrorKind::Value("no".into()));
        let line = line!() - 1;
        assert_eq!(e.location().line(), line);
        assert_eq!(e.to_string(), format!("add: no ({}:{}:17)", file!(), line));
        assert_eq!(format!("{e:?}"), e.to_string());
        assert_eq!(e.clone().with_op("sub").op(), "sub");
        let e = e.with_aside(" (made there)");
        assert_eq!(e.to_string(), format!("add: no (made there) ({}:{}:17)", file!(), line));
        assert_eq!(e.kind().to_string(), "no");
    }

    #[test]
    fn a_location_can_be_carried_from_elsewhere() {
        let here = Location::caller();
        let e = Error::new("add", ErrorKind::Cancelled).with_location(here);
        assert_eq!(e.location(), here);
    }

    #[test]
    fn out_of_memory_gives_every_figure() {
        let kind = ErrorKind::OutOfMemory {
            requested: 3 << 30,
            active: 1536,
            cached: 0,
            limit: Some(1 << 20),
            free: None,
        };
        assert_eq!(
            kind.to_string(),
            "out of memory: 3.00 GiB asked for, 1.50 KiB in use, 0 B cached, limit 1.00 MiB"
        );
    }
}
