//! What segments of an axis come to.

use crate::ops::Operand;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape, normalize_axis};
use mg_graph::Node;
use mg_kernels::Algebra;
use mg_macros::operations;

fn refused<T>(kind: ErrorKind) -> Result<T> {
    Err(Error::new("segment_reduce", kind))
}

/// What an operation of segments is for the reduction by indices, and what an empty segment is.
fn reduction(word: &str) -> Result<(&'static str, f64)> {
    Ok(match word {
        "sum" => ("sum", 0.0),
        "mean" => ("mean", 0.0),
        "prod" => ("prod", 1.0),
        "max" => ("amax", f64::NEG_INFINITY),
        "min" => ("amin", f64::INFINITY),
        other => {
            let text = format!("reduce is one of sum, mean, prod, max, min, got '{other}'");
            return refused(ErrorKind::Value(text));
        }
    })
}

/// How long each segment is, where lengths `[…, n]` fit the axis and what lies before it.
fn fitting(data: &Tensor, axis: usize, lengths: Tensor, unchecked: bool) -> Result<Tensor> {
    let (shape, given) = (data.shape(), lengths.shape());
    if !lengths.dtype().is_int() {
        return refused(ErrorKind::DType(format!("takes integers as lengths, got {}", lengths.dtype())));
    }
    if given.rank() != axis + 1 || given[..axis] != shape[..axis] {
        let before: String = shape[..axis].iter().map(|size| format!("{size}, ")).collect();
        let text = format!("takes lengths [{before}n] for axis {axis} of {shape}, got {given}");
        return refused(ErrorKind::Value(text));
    }
    let lengths = lengths.to_dtype(DType::I64);
    if !unchecked {
        mg_graph::needs_values();
        let sums = lengths.try_sum_dim(&[-1], false)?;
        if sums.to_vec::<i64>()?.iter().any(|&sum| usize::try_from(sum) != Ok(shape[axis])) {
            let text = format!("lengths do not add up to {}, the size of axis {axis}", shape[axis]);
            return refused(ErrorKind::Value(text));
        }
    }
    Ok(lengths)
}

fn sizes(parts: &[&[usize]]) -> Result<Shape> {
    Shape::new(&parts.concat())
}

fn reshaped(t: &Tensor, parts: &[&[usize]]) -> Result<Tensor> {
    Ok(Tensor::from_node(t.node().reshape(sizes(parts)?)?))
}

#[operations(SEGMENTS)]
impl Tensor {
    /// What segments of an axis, one behind the other, come to: `reduce` is "sum", "mean", "max", "min" or "prod".
    ///
    /// `lengths` says how long each is, `[…, n]` with the axes of floating-point `data` that lie before `axis`; or `offsets` `[…, n + 1]` where each begins,
    /// and the last ends. The answer has `n` in the place of that axis. An empty segment is `initial`, which all begin with; without one it is 0, 1 for a product, −∞
    /// and ∞ for "max" and "min", NaN for a mean.
    ///
    /// # Errors
    ///
    /// Other than floating-point data; another word; both of lengths and offsets, or neither, or indices; lengths of another shape, or that do not add up to the
    /// axis's size, unless `unsafe`.
    #[surface(function, reads, keywords_from = "lengths")]
    #[allow(clippy::too_many_arguments, reason = "PyTorch's")]
    pub fn segment_reduce(
        data: &Tensor,
        reduce: &str,
        #[default(None)] lengths: Option<&Tensor>,
        #[default(None)] indices: Option<&Tensor>,
        #[default(None)] offsets: Option<&Tensor>,
        #[default(0)] axis: isize,
        #[default(false)] r#unsafe: bool,
        #[default(None)] initial: Option<f64>,
    ) -> Result<Tensor> {
        let (how, nothing) = reduction(reduce)?;
        if !data.dtype().is_float() {
            return refused(ErrorKind::DType(format!("takes floating-point data, got {}", data.dtype())));
        }
        let axis = normalize_axis(axis, data.rank())?;
        let lengths = match (lengths, offsets, indices) {
            (Some(lengths), None, None) => lengths.detach(),
            (None, Some(offsets), None) => offsets.detach().try_diff(1, -1, None, None)?,
            _ => return refused(ErrorKind::Value("takes lengths or offsets".into())),
        };
        let lengths = fitting(data, axis, lengths, r#unsafe)?;
        let (shape, n) = (data.shape(), lengths.shape()[axis]);
        let (before, rest) = (&shape[..axis], &shape[axis + 1..]);
        let rows: usize = before.iter().product();
        // Each element's segment, counted over all rows.
        let each = reshaped(&lengths, &[&[rows * n]])?;
        let numbers = Node::ramp(each.shape(), data.device()).cast(DType::I64);
        let at = Tensor::from_node(numbers).repeat_interleave(
            Some(Operand::Tensor(each.clone())),
            Some(0),
            None,
        )?;
        let flat = reshaped(data, &[&[rows * shape[axis]], rest])?;
        let begin = data.node().lit(initial.unwrap_or(nothing)).expand(sizes(&[&[rows * n], rest])?)?;
        let begin = Tensor::from_node(begin);
        let answer = match how {
            "sum" => begin.index_add(0, &at, &flat, Operand::Int(1))?,
            "mean" => {
                let sum = begin.index_add(0, &at, &flat, Operand::Int(1))?;
                let count = reshaped(&each, &[&[rows * n], &vec![1; rest.len()]])?.to_dtype(data.dtype());
                // Where nothing follows what a segment begins with, that is the mean.
                let least = initial.map(|_| Operand::Float(1.0));
                sum.try_div(if least.is_some() { count.try_clamp(least, None)? } else { count })?
            }
            how => begin.index_reduce(0, &at, &flat, how, true)?,
        };
        reshaped(&answer, &[before, &[n], rest])
    }
}
