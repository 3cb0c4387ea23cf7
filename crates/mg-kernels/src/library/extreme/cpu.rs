//! The largest or smallest of what is written to one place, on the CPU: one after the other.

use super::Extreme;
use crate::cpu::memory;
use crate::finding::Finding;
use crate::library::Operand;
use crate::library::sort::Element;
use mg_device::{MAX_RANK, with_number};

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
    unsafe { with_number!(base.dtype, T => of::<T>(extreme, base, x, index, out)) }
}

/// Where an element stands, in an order that tells zeros apart: the larger stays.
fn rank<E: Element>(x: E, least: bool) -> (bool, u64, bool) {
    let key = if least { !x.key() } else { x.key() };
    (x.is_nan(), key, x.is_zero() && x.is_positive() != least)
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
    let (count, rank_of) = (given.numel(), given.rank());
    // SAFETY: the output and the base have as many elements.
    let out = unsafe {
        std::ptr::copy(base.first().cast::<E>(), out.cast::<E>(), own.numel());
        std::slice::from_raw_parts_mut(out.cast::<E>(), own.numel())
    };
    // SAFETY: values and indices have as many elements.
    let (x, index) = unsafe {
        (
            std::slice::from_raw_parts(x.first().cast::<E>(), count),
            std::slice::from_raw_parts(index.first().cast::<i64>(), count),
        )
    };
    let mut strides = [1usize; MAX_RANK];
    for d in (1..rank_of).rev() {
        strides[d - 1] = strides[d] * own[d];
    }
    let mut met = if extreme.own { vec![] } else { memory::filled(own.numel(), false) };
    let mut at = [0usize; MAX_RANK];
    for (&value, &place) in x.iter().zip(index) {
        let Some(place) = usize::try_from(place).ok().filter(|&place| place < own[axis]) else {
            return Err(Finding::Index { index: place, size: own[axis] });
        };
        let around: usize = (0..rank_of).filter(|&d| d != axis).map(|d| at[d] * strides[d]).sum();
        let to = around + place * strides[axis];
        let is_first = met.get_mut(to).is_some_and(|met| !std::mem::replace(met, true));
        if is_first || rank(value, extreme.least) > rank(out[to], extreme.least) {
            out[to] = value;
        }
        for d in (0..rank_of).rev() {
            at[d] += 1;
            if at[d] < given[d] {
                break;
            }
            at[d] = 0;
        }
    }
    Ok(())
}
