//! Indices that are known already, checked where they are given: what is found later takes the whole computation with it.

use std::ops::Range;

use mg_device::{DType, Element, Error, ErrorKind, Result, Valid, with_element};
use mg_graph::{Node, Value, cell_bits_of_int};
use mg_kernels::cpu::library::indices::common;
use mg_kernels::{Algebra, Row, Rules};

use crate::tensor::Tensor;

impl Tensor {
    /// Checks that integers fit an axis of `size` positions, as far as they are known: computed already, and on the host.
    /// `lowest` is 0, or `-size` where negative ones count from the end. Answers with whether there are negative ones, and with
    /// `None` where nothing is known; what is not is checked when it is used.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Index`] for an index outside of the axis, [`ErrorKind::DType`] for what are no integers.
    #[track_caller]
    pub fn check_indices(
        &self,
        op: &'static str,
        lowest: i64,
        axis: usize,
        size: usize,
    ) -> Result<Option<bool>> {
        let found = known_indices(op, &self.node(), lowest..size as i64, None)?;
        match found {
            Found::Outside(index) => Err(Error::new(op, ErrorKind::Index { index, axis, size })),
            Found::Inside { negative, .. } => Ok(Some(negative)),
            Found::Unknown => Ok(None),
        }
    }
}

/// What can be told of indices now. The index `except` is always taken for one inside.
#[track_caller]
pub(crate) fn known_indices(
    op: &'static str,
    indices: &Node,
    valid: Range<i64>,
    except: Option<i64>,
) -> Result<Found> {
    let dtype = indices.dtype();
    let value = match indices.value() {
        Some(Ok(value)) if value.buffer.device().is_cpu() => Some(value),
        _ => None,
    };
    let found = match (dtype, value) {
        (_, _) if !dtype.is_int() => {
            let text = format!("takes integers as indices, got {dtype}");
            return Err(Error::new(op, ErrorKind::DType(text)));
        }
        (_, Some(value)) => with_element!(dtype, T => search::<T>(value, &valid, except))?,
        (_, None) => Found::Unknown,
    };
    Ok(found)
}

/// What a search of indices has found.
pub(crate) enum Found {
    Outside(i64),
    Inside {
        negative: bool,
        /// Whether the one that is always taken for one inside is among them.
        excepted: bool,
    },
    /// They are not computed yet, or not on the host.
    Unknown,
}

/// Indices that are looked at together.
const BLOCK: usize = 1024;

fn search<T: Element>(value: &Value, valid: &Range<i64>, except: Option<i64>) -> Result<Found> {
    let all = value.buffer.as_slice::<T>()?;
    let (mut negative, mut excepted) = (false, false);
    let layout = &value.layout;
    if layout.is_contiguous() {
        let start = layout.offset().min(all.len());
        for block in all[start..start + layout.numel().min(all.len() - start)].chunks(BLOCK) {
            let [outside, signs] = common(block, valid);
            negative |= signs < 0;
            if outside >= 0 && except.is_none() {
                continue;
            }
            for &index in block {
                let index = index.to_i64();
                if !valid.contains(&index) && Some(index) != except {
                    return Ok(Found::Outside(index));
                }
                excepted |= Some(index) == except;
            }
        }
        return Ok(Found::Inside { negative, excepted });
    }
    for at in layout.offsets() {
        let index = all[at].to_i64();
        if !valid.contains(&index) && Some(index) != except {
            return Ok(Found::Outside(index));
        }
        negative |= index < 0;
        excepted |= Some(index) == except;
    }
    Ok(Found::Inside { negative, excepted })
}

/// Whether one of some integers is known to be 0: of a few that are computed already, and on the host. Others are looked at where they divide.
pub(crate) fn has_zero(node: &Node) -> Result<bool> {
    let known = match node.value() {
        Some(Ok(value)) if value.buffer.device().is_cpu() && !node.dtype().is_float() => value,
        _ => return Ok(false),
    };
    if known.layout.numel() > FEW {
        return Ok(false);
    }
    with_element!(node.dtype(), T => {
        let all = known.buffer.as_slice::<T>()?;
        Ok(known.layout.offsets().any(|at| all[at].to_i64() == 0))
    })
}

/// Integers that are computed already, and on the host: nothing where they are not.
pub(crate) fn known_integers(node: &Node) -> Result<Option<Vec<i64>>> {
    let known = match node.value() {
        Some(Ok(value)) if value.buffer.device().is_cpu() && node.dtype().is_int() => value,
        _ => return Ok(None),
    };
    with_element!(node.dtype(), T => {
        let all = known.buffer.as_slice::<T>()?;
        Ok(Some(known.layout.offsets().map(|at| all[at].to_i64()).collect()))
    })
}

/// Divisors that are looked at beforehand: the others are when they are used, which costs nothing.
const FEW: usize = 4096;

/// Numbers that are to be what `valid` says: those that are known are looked at now, others when they are used.
#[track_caller]
pub(crate) fn valid(op: &'static str, node: &Node, valid: Valid) -> Result<Node> {
    Ok(match unseen(op, node, valid)? {
        Some(zeros) => node.add(&zeros.cast(node.dtype())),
        None => node.clone(),
    })
}

/// As [`valid`]: zeros that are checked when they are used, if there is something to look at then.
#[track_caller]
pub(crate) fn unseen(op: &'static str, node: &Node, valid: Valid) -> Result<Option<Node>> {
    let known = match node.value() {
        Some(Ok(value)) if value.buffer.device().is_cpu() => Some(value),
        _ => None,
    };
    if let Some(value) = known {
        if !with_element!(node.dtype(), T => all::<T>(value, valid))? {
            return Err(Error::new(op, valid.refusal()));
        }
        // A replay's may be others.
        if !mg_graph::is_recording() {
            return Ok(None);
        }
    }
    let [none, one] =
        [0, 1].map(|n| Node::scalar_bits(cell_bits_of_int(n, DType::I64), DType::I64, node.device(), false));
    // What is no number fails each comparison.
    let (zero, rising) = (node.lit(0.0), |row: Row, a: &Node, b: &Node, then: &Node| {
        Node::apply(row, &[a, b]).choose(then, &one)
    });
    let index = match valid {
        Valid::Probability => rising(Row::Le, &zero, node, &rising(Row::Le, node, &node.lit(1.0), &none)),
        Valid::Weight => {
            rising(Row::Le, &zero, node, &rising(Row::Lt, node, &node.lit(f64::INFINITY), &none))
        }
        Valid::Sum => rising(Row::Lt, &zero, node, &none),
        Valid::Diagonal => rising(Row::Ne, &zero, node, &none),
        Valid::Rate | Valid::Deviation => rising(Row::Le, &zero, node, &none),
        Valid::Variance => Node::apply(Row::Lt, &[node, &zero]).choose(&one, &none),
        Valid::Finite => {
            let below = rising(Row::Lt, node, &node.lit(f64::INFINITY), &none);
            rising(Row::Lt, &node.lit(f64::NEG_INFINITY), node, &below)
        }
    };
    Ok(Some(index.guard(valid.axis(), 1)))
}

fn all<T: Element>(value: &Value, valid: Valid) -> Result<bool> {
    let all = value.buffer.as_slice::<T>()?;
    Ok(value.layout.offsets().all(|at| valid.holds(all[at].to_f64())))
}
