//! Where values belong in sorted lines.

mod cpu;
mod cuda;
#[cfg(test)]
mod tests;

use super::{Described, Kernel, Operand, Shaped, Structure, Target, of_all, of_one};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use mg_device::{DType, Error, ErrorKind, Result, Shape};

/// How many elements of a sorted line are smaller than each value, i64. The operands are lines of one dtype along their last axis: one
/// line for all values, or one for each line of values.
///
/// The order is that of a sort: NaN is larger than every number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Search {
    /// Whether elements that are equal to the value count too.
    pub right: bool,
}

/// Lines, and values that are looked for in each.
#[derive(Clone, Copy)]
struct Lines {
    /// Elements of a sorted line.
    length: usize,
    /// Values for a line.
    values: usize,
    /// All values.
    count: usize,
}

impl Lines {
    fn of(sorted: &mg_device::Shape, values: &mg_device::Shape) -> Lines {
        let length = sorted.last().copied().unwrap_or(0);
        let count = values.numel();
        let own = if sorted.rank() == 1 { count } else { values.last().copied().unwrap_or(1) };
        Lines { length, values: own.max(1), count }
    }
}

impl Kernel for Search {
    fn name(&self) -> &'static str {
        "searchsorted"
    }

    fn words(&self) -> [u64; 2] {
        [self.right.into(), 0]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let fail = |kind| Err(Error::new(self.name(), kind));
        let &[sorted, values] = operands else { return fail(ErrorKind::Value("takes two operands".into())) };
        if sorted.dtype != values.dtype {
            let text = format!(
                "takes values of the dtype of what is sorted, {}, got {}",
                sorted.dtype, values.dtype
            );
            return fail(ErrorKind::DType(text));
        }
        let (rank, own) = (sorted.shape.rank(), values.shape.rank());
        let fits =
            rank == 1 || rank > 1 && rank == own && sorted.shape[..rank - 1] == values.shape[..rank - 1];
        if !fits {
            let text = format!(
                "takes a sorted line, or one for each line of values, got shapes {} and {}",
                sorted.shape, values.shape
            );
            return fail(ErrorKind::Shape(text));
        }
        Ok(Shaped { shape: values.shape, dtype: DType::I64 })
    }

    fn batched<T: Structure>(&self, x: &[T], differs: &[bool], size: usize) -> Result<Option<T>> {
        let ([sorted, values], &[sorted_differs, values_differ]) = (x, differs) else { return Ok(None) };
        let kernel = |sorted: &T, values: &T| T::kernel((*self).into(), &[sorted, values]).map(Some);
        let own = of_one(sorted, sorted_differs);
        if own.rank() == 1 && !sorted_differs {
            return kernel(sorted, values);
        }
        let (lines, all) = (of_all(sorted, sorted_differs, size)?, of_all(values, values_differ, size)?);
        if own.rank() > 1 {
            return kernel(&lines, &all);
        }
        // All values of an example are one line.
        let of_each = all.sizes();
        let each = of_one(values, values_differ).numel();
        let found = T::kernel((*self).into(), &[&lines, &all.reshaped(Shape::new(&[size, each])?)?])?;
        found.reshaped(of_each).map(Some)
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, _: &[Shaped]) -> Option<u64> {
        None
    }

    fn vjp<T: Structure>(&self, _: usize, _: &[T], _: &T, _: &T) -> Result<Option<T>> {
        Ok(None)
    }

    unsafe fn cpu(&self, operands: &[Operand], out: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        // SAFETY: this function's contract.
        unsafe { cpu::search(self, operands, out.cast()) };
        Ok(())
    }

    fn cuda(&self, operands: &[Described], _: &Shaped, _: Target) -> Result<KernelPlan> {
        cuda::plan(self, operands)
    }
}
