//! One axis after the other.

use super::Resample;
use crate::cpu::memory;
use crate::library::blend::Blend;
use crate::library::blend::cpu::{Element, blend};
use crate::library::{Operand, Shaped};
use mg_device::Layout;

/// # Safety
///
/// As [`Kernel::cpu`](crate::library::Kernel::cpu) of a kernel whose elements are `T`.
pub(super) unsafe fn resample<T: Element>(
    kernel: Resample,
    operands: &[Operand],
    out: *mut T,
    result: &Shaped,
) {
    let rank = result.shape.rank();
    let [first, second] = kernel.order();
    let between = operands[0].layout.shape().with(rank - 2 + first, result.shape[rank - 2 + first]);
    let mut kept = memory::filled(between.numel(), T::default());
    let x =
        Operand { base: kept.as_ptr().cast(), layout: Layout::contiguous(between), dtype: operands[0].dtype };
    for (axis, x, shape, out) in
        [(first, operands[0], between, kept.as_mut_ptr()), (second, x, result.shape, out)]
    {
        let at = rank - 2 + axis;
        let lines = operands[kernel.lines(axis)].iter().map(|line| {
            let mut strides = [0; mg_device::MAX_RANK];
            strides[at] = line.layout.strides()[0];
            // Of a shape that there is memory for, every layout of one line is one.
            let layout = Layout::new(shape, &strides[..rank], line.layout.offset());
            Operand { layout: layout.unwrap_or(line.layout), ..*line }
        });
        let of: Vec<Operand> = std::iter::once(x).chain(lines).collect();
        let kernel = Blend { axis: at as u8, taps: kernel.taps, asks: false, line: true };
        // SAFETY: this function's contract; what lies between has room for all of it.
        unsafe { blend(&kernel, &of, out) };
    }
}
