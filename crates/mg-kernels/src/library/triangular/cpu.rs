//! Triangular systems on the CPU: matrices of a batch, and parts of the right side's columns, on all threads.

use super::Triangular;
use crate::library::Operand;

/// Without the feature no such node can be made: see [`super::Triangular`]'s `result`.
///
/// # Safety
///
/// None is needed.
#[cfg(not(feature = "linalg"))]
pub(super) unsafe fn solve(_: &Triangular, _: &[Operand], _: *mut u8) {}

/// # Safety
///
/// As [`crate::library::Kernel::cpu`].
#[cfg(feature = "linalg")]
pub(super) unsafe fn solve(kernel: &Triangular, operands: &[Operand], out: *mut u8) {
    let [a, b] = operands else { return };
    match a.dtype.float() {
        // SAFETY: this function's contract.
        Some(mg_device::Float::F64) => unsafe { batch::<f64>(kernel, a, b, out.cast()) },
        // SAFETY: as above; other dtypes were refused when the node was made.
        Some(mg_device::Float::F32 | mg_device::Float::F16 | mg_device::Float::BF16) | None => unsafe {
            batch::<f32>(kernel, a, b, out.cast())
        },
    }
}

/// # Safety
///
/// As [`solve`], with operands of this type.
#[cfg(feature = "linalg")]
unsafe fn batch<T: mg_linalg::Real>(kernel: &Triangular, a: &Operand, b: &Operand, out: *mut T) {
    use crate::cpu::library::{Shared, each_of};

    let shape = b.layout.shape();
    let Some((lead, &[n, k])) = shape.split_last_chunk::<2>() else { return };
    let count: usize = lead.iter().product();
    if n * k == 0 || count == 0 {
        return;
    }
    let triangle =
        mg_linalg::Triangle { upper: kernel.upper, unit: kernel.unit, transposed: kernel.transposed };
    let places = Shared((a.first().cast::<T>(), b.first().cast::<T>(), out));
    let one = |i: usize| {
        let (a, b, out) = places.get();
        // SAFETY: this function's contract: there are `count` matrices on both sides and in the output, each one task's.
        unsafe {
            std::ptr::copy_nonoverlapping(b.add(i * n * k), out.add(i * n * k), n * k);
            let matrix = std::slice::from_raw_parts(a.add(i * n * n), n * n);
            T::triangular(matrix, n, triangle, std::slice::from_raw_parts_mut(out.add(i * n * k), n * k), k);
        }
    };
    each_of(count, n * n * k, &one);
}
