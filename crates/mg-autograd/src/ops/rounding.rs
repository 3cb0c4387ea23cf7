//! Rounding to decimals.

use super::unary;
use crate::tensor::Tensor;
use mg_device::{DType, Result};
use mg_kernels::{Algebra, Row, Rules};

/// Whether a row answers with whole numbers, which integers are already.
pub(super) const fn is_rounding(row: Row) -> bool {
    matches!(row, Row::Floor | Row::Ceil | Row::Round | Row::Trunc)
}

/// Rounded to so many decimals; to tens, hundreds, … where they are negative, of integers too.
#[track_caller]
pub(super) fn rounded(a: &Tensor, decimals: i64) -> Result<Tensor> {
    let dtype = a.dtype();
    if decimals < 0 && dtype.is_int() && !dtype.is_bool() {
        return whole_tens(a, decimals.unsigned_abs());
    }
    if decimals == 0 || !dtype.is_float() {
        return unary(Row::Round, a);
    }
    let own = a.node();
    let scale = 10f64.powi(i32::try_from(decimals.unsigned_abs()).unwrap_or(i32::MAX));
    let half = matches!(own.dtype(), DType::F16 | DType::BF16);
    let x = if half { own.cast(DType::F32) } else { own.clone() };
    let scale = x.lit(scale);
    let y = match decimals > 0 {
        true => x.mul(&scale).map(Row::Round).div(&scale),
        false => x.div(&scale).map(Row::Round).mul(&scale),
    };
    Ok(Tensor::from_node(y.cast(own.dtype())))
}

/// Integers rounded to so many zeros at their end, those in the middle to an even one before them.
fn whole_tens(a: &Tensor, zeros: u64) -> Result<Tensor> {
    let unit = u32::try_from(zeros).ok().and_then(|zeros| 10i64.checked_pow(zeros));
    // All are nearer to 0 than to that.
    let Some(unit) = unit else { return Ok(a.zeros_like()) };
    let dtype = a.dtype();
    let wide = a.to_dtype(if dtype == DType::U64 { dtype } else { DType::I64 });
    let below = wide.try_floor_divide(unit)?;
    let twice = wide.try_sub(below.try_mul(unit)?)?.try_mul(2i64)?;
    let is_odd = below.try_remainder(2i64)?.try_ne(0i64)?;
    let is_above = twice.try_gt(unit)?.try_logical_or(twice.try_eq(unit)?.try_logical_and(is_odd)?)?;
    Ok(below.try_add(is_above)?.try_mul(unit)?.to_dtype(dtype))
}
