//! The largest or smallest of what is written to one place by index.

mod cpu;
mod cuda;
#[cfg(test)]
mod tests;

use super::{Described, Kernel, Library, Operand, Shaped, Structure, Target};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding, IndexBound};
use mg_device::{DType, Error, ErrorKind, Result};

/// `y = base`, and along an axis the largest (or smallest) of that and of all `x[…, j, …]` at `index[…, j, …]`: without `own` of the latter
/// alone where there are any. The operands are `base`, `x`, and the index (i64) of `x`'s shape, which is nowhere else longer than `base`.
///
/// NaN is larger than all and smaller than all, and −0 is smaller than 0: whatever the order, the result is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Extreme {
    /// The axis.
    pub axis: u8,
    /// How many axes in front are a batch's, of which errors do not know.
    pub lead: u8,
    /// Whether the smallest is looked for.
    pub least: bool,
    /// Whether the base's own element counts.
    pub own: bool,
}

impl Kernel for Extreme {
    fn name(&self) -> &'static str {
        "scatter_reduce"
    }

    fn words(&self) -> [u64; 2] {
        [self.axis.into(), u64::from(self.least) | u64::from(self.own) << 1]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let fail = |kind| Err(Error::new(self.name(), kind));
        let [base, x, index] = operands else {
            return fail(ErrorKind::Value("takes a base, values and indices".into()));
        };
        let (own, given, axis) = (base.shape, x.shape, usize::from(self.axis));
        let fits = axis < own.rank()
            && given == index.shape
            && given.rank() == own.rank()
            && (0..own.rank()).all(|d| d == axis || given[d] <= own[d]);
        if !fits {
            let text = format!(
                "values of shape {given} and indices of shape {} do not fit {own} along axis {axis}",
                index.shape
            );
            return fail(ErrorKind::Shape(text));
        }
        if x.dtype != base.dtype || index.dtype != DType::I64 {
            let text = format!(
                "takes values of {} and indices of i64, got {} and {}",
                base.dtype, x.dtype, index.dtype
            );
            return fail(ErrorKind::DType(text));
        }
        Ok(*base)
    }

    fn with_batch(&self) -> Option<Library> {
        Some(Extreme { axis: self.axis + 1, lead: self.lead + 1, ..*self }.into())
    }

    fn checks(&self) -> Checks {
        Checks::Index { axis: (self.axis - self.lead).into(), places: IndexBound::Of(0) }
    }

    fn flops(&self, _: &[Shaped]) -> Option<u64> {
        None
    }

    fn vjp<T: Structure>(&self, _: usize, _: &[T], _: &T, _: &T) -> Result<Option<T>> {
        // Who is asked for gradients adds what has them, and no value.
        Ok(None)
    }

    unsafe fn cpu(&self, operands: &[Operand], out: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        // SAFETY: this function's contract.
        unsafe { cpu::extreme(self, operands, out) }
    }

    fn cuda(&self, operands: &[Described], _: &Shaped, _: Target) -> Result<KernelPlan> {
        cuda::plan(self, operands)
    }
}
