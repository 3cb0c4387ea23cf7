//! The largest or smallest of what is written to one place, on the CPU: one after the other.

use super::Extreme;
use crate::cpu::memory;
use crate::finding::Finding;
use crate::library::Operand;
use crate::library::sort::Element;
use mg_device::{MAX_RANK, with_computed};

/// # Safety
///
/// Operands lie densely and are valid for their shapes; the output for the base's.
pub(super) unsafe fn extreme(
    extreme: &Extreme,
    operands: &[Operand],
    out: *mut u8,
) -> std::result::Result<(), Finding> {
    let [base, x, index] = operands else { return Ok(()) };
    // SAFETY: this function's contract; truth values are bytes.
    let done = unsafe { with_computed!(base.dtype, T => of::<T>(extreme, base, x, index, out)) };
    done.unwrap_or_else(|| unreachable!("not computed with: see `Library::result`"))
}

/// Where an element stands, in an order that tells zeros apart: the larger stays.
fn rank<E: Element>(x: E, least: bool) -> u128 {
    let key = if least { !x.key() } else { x.key() };
    let is_last = x.is_zero() && x.is_positive() != least;
    u128::from(x.is_nan()) << 65 | u128::from(key) << 1 | u128::from(is_last)
}

/// As [`extreme`], of elements.
///
/// # Safety
///
/// As [`extreme`]; the operands are of these elements.
unsafe fn of<E: Element>(
    extreme: &Extreme,
    base: &Operand,
    x: &Operand,
    index: &Operand,
    out: *mut u8,
) -> std::result::Result<(), Finding> {
    let (own, given) = (*base.layout.shape(), *x.layout.shape());
    let axis = usize::from(extreme.axis);
    let (count, last) = (given.numel(), given.rank() - 1);
    // SAFETY: the output and the base have as many elements.
    let out = unsafe {
        std::ptr::copy(base.first().cast::<E>(), out.cast::<E>(), own.numel());
        std::slice::from_raw_parts_mut(out.cast::<E>(), own.numel())
    };
    if count == 0 {
        return Ok(());
    }
    // SAFETY: values and indices have as many elements.
    let (x, index) = unsafe {
        (
            std::slice::from_raw_parts(x.first().cast::<E>(), count),
            std::slice::from_raw_parts(index.first().cast::<i64>(), count),
        )
    };
    let mut strides = [1usize; MAX_RANK];
    for d in (1..=last).rev() {
        strides[d - 1] = strides[d] * own[d];
    }
    let mut met = if extreme.own { vec![] } else { memory::filled(own.numel(), false) };
    let step = if axis == last { 0 } else { 1 };
    let lines = x.chunks_exact(given[last]).zip(index.chunks_exact(given[last]));
    for (mut line, (values, places)) in lines.enumerate() {
        let mut around = 0;
        for d in (0..last).rev() {
            around += if d == axis { 0 } else { line % given[d] * strides[d] };
            line /= given[d];
        }
        for (&value, &place) in values.iter().zip(places) {
            let Some(place) = usize::try_from(place).ok().filter(|&place| place < own[axis]) else {
                return Err(Finding::Index { index: place, size: own[axis] });
            };
            let to = around + place * strides[axis];
            around += step;
            let is_first = met.get_mut(to).is_some_and(|met| !std::mem::replace(met, true));
            // Written in any case: nobody can foresee which is larger, and a place that is far away is not waited for.
            let stays = !is_first & (rank(value, extreme.least) <= rank(out[to], extreme.least));
            out[to] = if stays { out[to] } else { value };
        }
    }
    Ok(())
}
