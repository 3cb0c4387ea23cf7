//! Indices that are known already, checked where they are given: what is found later takes the whole computation with it.

use std::ops::Range;

use mg_device::{Element, Error, ErrorKind, Result, with_element};
use mg_graph::{Node, Value};

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

fn search<T: Element>(value: &Value, valid: &Range<i64>, except: Option<i64>) -> Result<Found> {
    let all = value.buffer.as_slice::<T>()?;
    let (mut negative, mut excepted) = (false, false);
    let layout = &value.layout;
    if layout.is_contiguous() {
        let start = layout.offset().min(all.len());
        for &index in all[start..].iter().take(layout.numel()) {
            let index = index.to_i64();
            if !valid.contains(&index) && Some(index) != except {
                return Ok(Found::Outside(index));
            }
            negative |= index < 0;
            excepted |= Some(index) == except;
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
