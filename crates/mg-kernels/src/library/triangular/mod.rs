//! Systems of equations whose matrix is a triangle: `X` with `A X = B`.

mod cpu;
mod cuda;
#[cfg(test)]
mod tests;

use super::{Described, Kernel, Operand, Shaped, Structure, Target};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use crate::library::known::{part_of, transposed};
use crate::rows::Rules;
use mg_device::{DType, Error, ErrorKind, Result};

/// `A X = B`, or `Aᵀ X = B`, of which only a triangle of `A` (the last two axes of the first operand) is read; the batches of both
/// operands are the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Triangular {
    /// The triangle above the diagonal, and not that below.
    pub upper: bool,
    /// Whether the diagonal is ones, whatever stands there.
    pub unit: bool,
    /// Whether it is `Aᵀ X = B`; the triangle is that of `A`.
    pub transposed: bool,
}

impl Kernel for Triangular {
    fn name(&self) -> &'static str {
        "solve_triangular"
    }

    fn words(&self) -> [u64; 2] {
        [u64::from(self.upper) | u64::from(self.unit) << 1 | u64::from(self.transposed) << 2, 0]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let fail = |kind| Err(Error::new(self.name(), kind));
        let [a, b] = operands else {
            return fail(ErrorKind::Value(format!("takes two operands, got {}", operands.len())));
        };
        let rank = a.shape.rank();
        let fits = rank >= 2
            && b.shape.rank() == rank
            && a.shape[rank - 1] == a.shape[rank - 2]
            && a.shape[..rank - 1] == b.shape[..rank - 1];
        if !fits {
            return fail(ErrorKind::Shape(format!("shapes {} and {} do not fit", a.shape, b.shape)));
        }
        if a.dtype != b.dtype || !matches!(a.dtype, DType::F32 | DType::F64) {
            let text = format!("takes f32 or f64 on both sides, got {} and {}", a.dtype, b.dtype);
            return fail(ErrorKind::DType(text));
        }
        if cfg!(not(feature = "linalg")) {
            return fail(ErrorKind::Value("is not built in: the feature `linalg` is off".into()));
        }
        Ok(*b)
    }

    fn with_batch(&self) -> Option<super::Library> {
        // Whatever is before the last two axes counts matrices.
        Some((*self).into())
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, operands: &[Shaped]) -> Option<u64> {
        let [a, b] = operands else { return None };
        Some(b.shape.numel() as u64 * *a.shape.last()? as u64)
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], y: &T, g: &T) -> Result<Option<T>> {
        // With C = A⁻ᵀ g, which is the gradient of B: that of A is −C Xᵀ, or −X Cᵀ where A was transposed, of its triangle.
        let turned = Triangular { transposed: !self.transposed, ..*self };
        let by_b = T::kernel(turned.into(), &[&x[0], g])?;
        if i == 1 {
            return Ok(Some(by_b));
        }
        let by_a = match self.transposed {
            false => by_b.matmul(&transposed(y)?)?,
            true => y.matmul(&transposed(&by_b)?)?,
        };
        Ok(Some(part_of(&by_a, self.upper, self.unit).neg()))
    }

    unsafe fn cpu(&self, operands: &[Operand], out: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        // SAFETY: this function's contract.
        unsafe { cpu::solve(self, operands, out) };
        Ok(())
    }

    fn cuda(&self, operands: &[Described], result: &Shaped, _: Target) -> Result<KernelPlan> {
        cuda::plan(self, operands, result)
    }
}
