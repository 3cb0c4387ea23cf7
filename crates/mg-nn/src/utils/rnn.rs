//! Sequences of several lengths, padded and packed: `torch.nn.utils.rnn`.
//!
//! ```
//! use mg_autograd::Tensor;
//! use mg_nn::utils::rnn::{PadOptions, pack_sequence, pad_packed_sequence};
//!
//! let sequences = [Tensor::from_slice(&[1.0f32, 2.0, 3.0]), Tensor::from_slice(&[4.0f32])];
//! let packed = pack_sequence(&sequences, true)?;
//! assert_eq!((packed.data.to_vec::<f32>()?, &packed.batch_sizes[..]), (vec![1.0, 4.0, 2.0, 3.0], &[2, 1, 1][..]));
//! let options = PadOptions { batch_first: true, ..PadOptions::default() };
//! let (padded, lengths) = pad_packed_sequence(&packed, &options)?;
//! assert_eq!((padded.to_vec::<f32>()?, lengths), (vec![1.0, 2.0, 3.0, 4.0, 0.0, 0.0], vec![3, 1]));
//! # Ok::<(), mg_device::Error>(())
//! ```

use mg_autograd::{Tensor, with_default_device};
use mg_device::{Device, Error, ErrorKind, Result};

/// Sequences of several lengths without padding, for recurrent layers ([`LSTM::run_packed`](crate::LSTM::run_packed)).
#[derive(Clone, Debug)]
pub struct PackedSequence {
    /// `[rows, …]`: first all sequences' first steps, then the second steps of those that have one, and so on, the longest sequence first.
    pub data: Tensor,
    /// How many sequences there are at each step.
    pub batch_sizes: Vec<usize>,
    /// Which sequence stands where; `None` where they stand in their order.
    pub sorted_indices: Option<Vec<usize>>,
}

impl PackedSequence {
    /// The same on another device.
    ///
    /// # Errors
    ///
    /// A device that is not there.
    #[track_caller]
    pub fn to(&self, device: Device) -> Result<PackedSequence> {
        Ok(self.with(self.data.to(device)?))
    }

    /// Where each sequence stands: the reverse of `sorted_indices`.
    ///
    /// # Errors
    ///
    /// Places that are not each of them once.
    #[track_caller]
    pub fn unsorted_indices(&self) -> Result<Option<Vec<usize>>> {
        let Some(order) = &self.sorted_indices else { return Ok(None) };
        let n = self.batch_sizes.first().copied().unwrap_or(0);
        let mut back = vec![n; n];
        for (place, &i) in order.iter().enumerate() {
            if let Some(free) = back.get_mut(i).filter(|at| **at == n) {
                *free = place;
            }
        }
        if order.len() != n || back.contains(&n) {
            let text =
                format!("takes sorted_indices that are each of 0 to {n}, without that, once, got {order:?}");
            return fail("PackedSequence", ErrorKind::Value(text));
        }
        Ok(Some(back))
    }

    /// Which sequence stands where, and where each stands, as i64 `[n]` beside the rows.
    #[track_caller]
    pub(crate) fn orders(&self) -> Result<Option<[Tensor; 2]>> {
        let (Some(sorted), Some(unsorted)) = (&self.sorted_indices, self.unsorted_indices()?) else {
            return Ok(None);
        };
        Ok(Some([indices(sorted.iter().copied(), &self.data)?, indices(unsorted, &self.data)?]))
    }

    /// Other rows for the same sequences.
    pub(crate) fn with(&self, data: Tensor) -> PackedSequence {
        PackedSequence { data, ..self.clone() }
    }
}

/// What padded sequences look like that are packed, with PyTorch's defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct PackOptions {
    /// They are `[n, length, …]` rather than `[length, n, …]`: no.
    pub batch_first: bool,
    /// Lengths have to descend: yes. Else sequences are sorted, and results put back into their order.
    pub enforce_sorted: bool,
}

impl Default for PackOptions {
    fn default() -> PackOptions {
        PackOptions { batch_first: false, enforce_sorted: true }
    }
}

/// Where a shorter sequence is padded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaddingSide {
    /// Behind its end.
    #[default]
    Right,
    /// Before its beginning.
    Left,
}

/// How sequences are padded, with PyTorch's defaults.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PadOptions {
    /// As `[n, length, …]` rather than `[length, n, …]`: no.
    pub batch_first: bool,
    /// What is put where a sequence has nothing: 0.
    pub padding_value: f64,
    /// Where that is, of [`pad_sequence`]: on the right.
    pub padding_side: PaddingSide,
    /// The length, of [`pad_packed_sequence`]: that of the longest.
    pub total_length: Option<usize>,
}

#[track_caller]
fn fail<T>(op: &'static str, kind: ErrorKind) -> Result<T> {
    Err(Error::new(op, kind))
}

/// Indices beside a tensor.
#[track_caller]
fn indices(numbers: impl IntoIterator<Item = usize>, beside: &Tensor) -> Result<Tensor> {
    let numbers: Vec<i64> = numbers.into_iter().map(|n| n as i64).collect();
    with_default_device(beside.device(), || Tensor::from_slice(&numbers))
}

/// Packs sequences that are padded on the right, `[length, n, …]`, of these lengths.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::utils::rnn::{PackOptions, pack_padded_sequence};
///
/// let padded = Tensor::from_vec(vec![1.0f32, 2.0, 0.0, 3.0, 4.0, 5.0], &[2, 3])?;
/// let options = PackOptions { batch_first: true, enforce_sorted: false };
/// let packed = pack_padded_sequence(&padded, &[2, 3], &options)?;
/// assert_eq!(packed.data.to_vec::<f32>()?, [3.0, 1.0, 4.0, 2.0, 5.0]);
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// Fewer than two axes, another number of lengths than sequences; a length of 0 or beyond the padding, lengths that do not descend where
/// they have to.
#[track_caller]
pub fn pack_padded_sequence(
    input: &Tensor,
    lengths: &[usize],
    options: &PackOptions,
) -> Result<PackedSequence> {
    const OP: &str = "pack_padded_sequence";
    if input.rank() < 2 {
        return fail(OP, ErrorKind::Shape(format!("takes [length, n, …], got shape {}", input.shape())));
    }
    let mut input = if options.batch_first { input.transpose(0, 1)? } else { input.clone() };
    let [steps, batch] = [input.shape()[0], input.shape()[1]];
    if lengths.len() != batch {
        let text = format!("takes {batch} lengths for shape {}, got {}", input.shape(), lengths.len());
        return fail(OP, ErrorKind::Shape(text));
    }
    if batch == 0 {
        return fail(
            OP,
            ErrorKind::Shape(format!("takes at least one sequence, got shape {}", input.shape())),
        );
    }
    if lengths.iter().any(|n| !(1..=steps).contains(n)) {
        return fail(
            OP,
            ErrorKind::Value(format!("takes lengths above 0 and up to {steps}, got {lengths:?}")),
        );
    }
    let mut sizes = lengths.to_vec();
    let mut sorted = None;
    if !options.enforce_sorted {
        let mut order: Vec<usize> = (0..batch).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(lengths[i]));
        sizes = order.iter().map(|&i| lengths[i]).collect();
        input = input.index_select(1, &indices(order.iter().copied(), &input)?)?;
        sorted = Some(order);
    } else if sizes.windows(2).any(|pair| pair[0] < pair[1]) {
        let text = format!("takes lengths that descend, got {lengths:?}; enforce_sorted: false takes others");
        return fail(OP, ErrorKind::Value(text));
    }
    let batch_sizes: Vec<usize> =
        (0..sizes[0]).map(|step| sizes.iter().filter(|&&n| n > step).count()).collect();
    let rows = input.flatten(0, 1)?;
    let data = if batch_sizes.iter().all(|&n| n == batch) {
        // In memory of its own, as where rows are left out.
        rows.narrow(0, 0, batch_sizes.len() * batch)?.copy()
    } else {
        let places =
            batch_sizes.iter().enumerate().flat_map(|(step, &n)| (0..n).map(move |i| step * batch + i));
        rows.index_select(0, &indices(places, &rows)?)?
    };
    Ok(PackedSequence { data, batch_sizes, sorted_indices: sorted })
}

/// Packed sequences in their own order as `[length, n, …]`, padded to the longest or to `total_length`; and their lengths.
///
/// # Errors
///
/// A `total_length` below the longest; numbers of sequences that grow, or do not sum to the rows.
#[track_caller]
pub fn pad_packed_sequence(sequence: &PackedSequence, options: &PadOptions) -> Result<(Tensor, Vec<usize>)> {
    const OP: &str = "pad_packed_sequence";
    let PackedSequence { data, batch_sizes, .. } = sequence;
    let rows = data.shape().first().copied().unwrap_or(0);
    let grows = batch_sizes.windows(2).any(|pair| pair[0] < pair[1]) || batch_sizes.contains(&0);
    if batch_sizes.is_empty() || data.rank() == 0 || grows || batch_sizes.iter().sum::<usize>() != rows {
        let text = format!(
            "takes rows [rows, …] and as many in batch_sizes, which do not grow, got {} and {batch_sizes:?}",
            data.shape()
        );
        return fail(OP, ErrorKind::Shape(text));
    }
    let (batch, longest) = (batch_sizes[0], batch_sizes.len());
    let steps = options.total_length.unwrap_or(longest);
    if steps < longest {
        return fail(
            OP,
            ErrorKind::Value(format!("takes a total_length of at least {longest}, got {steps}")),
        );
    }
    let mut row = 0;
    let mut places = Vec::with_capacity(steps * batch);
    for n in batch_sizes.iter().copied().chain(std::iter::repeat_n(0, steps - longest)) {
        places.extend(row..row + n);
        // The row behind the last is the padding.
        places.extend(std::iter::repeat_n(rows, batch - n));
        row += n;
    }
    let all = Tensor::cat(&[data, &padding(data, 1, options.padding_value)?], 0)?;
    let found = all.index_select(0, &indices(places, data)?)?;
    let sizes: Vec<isize> = [steps, batch].iter().chain(&data.shape()[1..]).map(|&n| n as isize).collect();
    let mut padded = found.reshape(&sizes)?;
    let mut lengths: Vec<usize> =
        (0..batch).map(|i| batch_sizes.iter().filter(|&&n| n > i).count()).collect();
    if let Some(order) = sequence.unsorted_indices()? {
        lengths = order.iter().map(|&place| lengths[place]).collect();
        padded = padded.index_select(1, &indices(order, data)?)?;
    }
    Ok((if options.batch_first { padded.transpose(0, 1)? } else { padded }, lengths))
}

/// So many steps `[n, …]` of padding for a sequence.
#[track_caller]
fn padding(like: &Tensor, n: usize, value: f64) -> Result<Tensor> {
    let shape: Vec<usize> = std::iter::once(n).chain(like.shape()[1..].iter().copied()).collect();
    with_default_device(like.device(), || Tensor::full(&shape, value, like.dtype()))?
}

/// Sequences `[length, …]` as one tensor `[longest, n, …]`, the shorter ones padded.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::utils::rnn::{PadOptions, PaddingSide, pad_sequence};
///
/// let sequences = [Tensor::from_slice(&[1.0f32, 2.0]), Tensor::from_slice(&[3.0f32])];
/// let options = PadOptions { batch_first: true, padding_side: PaddingSide::Left, ..PadOptions::default() };
/// assert_eq!(pad_sequence(&sequences, &options)?.to_vec::<f32>()?, [1.0, 2.0, 0.0, 3.0]);
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// No sequences; sequences without axes, or that differ in more than their length; unlike devices.
#[track_caller]
pub fn pad_sequence(sequences: &[Tensor], options: &PadOptions) -> Result<Tensor> {
    const OP: &str = "pad_sequence";
    let Some(first) = sequences.first() else {
        return fail(OP, ErrorKind::Value("takes at least one sequence, got none".into()));
    };
    let mut longest = 0;
    for part in sequences {
        if part.rank() == 0 || part.rank() != first.rank() || part.shape()[1..] != first.shape()[1..] {
            let text = format!(
                "takes sequences [length, …] that differ in length alone, got {} and {}",
                first.shape(),
                part.shape()
            );
            return fail(OP, ErrorKind::Shape(text));
        }
        longest = longest.max(part.shape()[0]);
    }
    let axis = if options.batch_first { 0 } else { 1 };
    let padded = sequences.iter().map(|part| {
        let missing = longest - part.shape()[0];
        if missing == 0 {
            return part.unsqueeze(axis);
        }
        let rest = padding(part, missing, options.padding_value)?;
        let whole = match options.padding_side {
            PaddingSide::Right => Tensor::cat(&[part, &rest], 0)?,
            PaddingSide::Left => Tensor::cat(&[&rest, part], 0)?,
        };
        whole.unsqueeze(axis)
    });
    let padded = padded.collect::<Result<Vec<Tensor>>>()?;
    Tensor::cat(&padded.iter().collect::<Vec<_>>(), axis)
}

/// The sequences without what was padded on the right: the reverse of [`pad_sequence`]. A length beyond the padding is the whole of it.
///
/// # Errors
///
/// Fewer than two axes, another number of lengths than sequences.
#[track_caller]
pub fn unpad_sequence(padded: &Tensor, lengths: &[usize], batch_first: bool) -> Result<Vec<Tensor>> {
    const OP: &str = "unpad_sequence";
    let shape = padded.shape();
    if shape.rank() < 2 {
        return fail(OP, ErrorKind::Shape(format!("takes [length, n, …], got shape {shape}")));
    }
    let (axis, steps) = if batch_first { (0, shape[1]) } else { (1, shape[0]) };
    if lengths.len() != shape[axis] {
        let text = format!("takes {} lengths for shape {shape}, got {}", shape[axis], lengths.len());
        return fail(OP, ErrorKind::Shape(text));
    }
    let each = lengths.iter().enumerate();
    each.map(|(i, &n)| padded.select(axis as isize, i as isize)?.narrow(0, 0, n.min(steps))).collect()
}

/// Packs sequences `[length, …]`, which descend in length if `enforce_sorted`.
///
/// # Errors
///
/// As [`pad_sequence`] and [`pack_padded_sequence`].
#[track_caller]
pub fn pack_sequence(sequences: &[Tensor], enforce_sorted: bool) -> Result<PackedSequence> {
    let padded = pad_sequence(sequences, &PadOptions::default())?;
    let lengths: Vec<usize> = sequences.iter().map(|part| part.shape()[0]).collect();
    pack_padded_sequence(&padded, &lengths, &PackOptions { batch_first: false, enforce_sorted })
}

/// The sequences in their order: the reverse of [`pack_sequence`].
///
/// # Errors
///
/// As [`pad_packed_sequence`].
#[track_caller]
pub fn unpack_sequence(packed: &PackedSequence) -> Result<Vec<Tensor>> {
    let (padded, lengths) = pad_packed_sequence(packed, &PadOptions::default())?;
    unpad_sequence(&padded, &lengths, false)
}
