//! Sorting along the last axis: order, values, and elements by their rank.

mod cpu;
mod cuda;
mod keys;
#[cfg(target_arch = "x86_64")]
mod quick;
mod select;
#[cfg(test)]
mod tests;
mod words;

pub(super) use cuda::{Tally, bits, turn};
pub(super) use keys::Element;

use super::{Alike, Described, Kernel, Library, Operand, Shaped, Structure, Target};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use mg_device::{DType, Error, ErrorKind, Result};

/// What is found of each line.
///
/// The order is that of the elements, NaN is larger than every number, and equal elements keep the order of their positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SortKind {
    /// The positions (i64) of the first elements in order.
    Indices,
    /// The first elements in order.
    Values,
    /// The position (i64) of the element of a rank: 0 is the least.
    Nth,
    /// The position (i64) of the lower median; of a NaN, the first one, where there is any.
    Median,
    /// The position (i64) of the lower median of what is not NaN; of a NaN where all are.
    NanMedian,
    /// The last position (i64) of the element that is met most often, the least of several.
    Mode,
}

/// A sort of each line along the last axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Sort {
    /// What is found.
    pub kind: SortKind,
    /// Whether the largest elements come first. Equal ones keep the order of their positions all the same.
    pub descending: bool,
    /// How many elements in order there are in the result; the rank of [`SortKind::Nth`].
    pub count: usize,
}

impl Sort {
    /// Whether a processor sorts elements alone sooner than it reads them where it has found their order.
    pub fn is_sooner_alone() -> bool {
        words::sorts_many()
    }

    /// Elements of a line of the result.
    fn results(&self) -> usize {
        match self.kind {
            SortKind::Indices | SortKind::Values => self.count,
            SortKind::Nth | SortKind::Median | SortKind::NanMedian | SortKind::Mode => 1,
        }
    }
}

impl Kernel for Sort {
    fn name(&self) -> &'static str {
        match self.kind {
            SortKind::Indices => "argsort",
            SortKind::Values => "sort",
            SortKind::Nth => "kthvalue",
            SortKind::Median => "median",
            SortKind::NanMedian => "nanmedian",
            SortKind::Mode => "mode",
        }
    }

    fn words(&self) -> [u64; 2] {
        [(self.kind as u64) << 1 | u64::from(self.descending), self.count as u64]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let fail = |kind| Err(Error::new(self.name(), kind));
        let &[x] = operands else { return fail(ErrorKind::Value("takes one operand".into())) };
        let Some(axis) = x.shape.rank().checked_sub(1) else {
            return fail(ErrorKind::Axis { axis: 0, rank: 0 });
        };
        let length = x.shape[axis];
        let (needed, dtype) = match self.kind {
            SortKind::Indices => (self.count, DType::I64),
            SortKind::Values => (self.count, x.dtype),
            SortKind::Nth => (self.count.saturating_add(1), DType::I64),
            SortKind::Median | SortKind::NanMedian | SortKind::Mode => (1, DType::I64),
        };
        if needed > length {
            let text = format!("{needed} elements of a line of {length}");
            return fail(ErrorKind::Value(text));
        }
        Ok(Shaped { shape: x.shape.with(axis, self.results()), dtype })
    }

    fn with_batch(&self) -> Option<Library> {
        // The axis is the last.
        Some((*self).into())
    }

    fn alike(&self, operands: &[Described], _: &Shaped, _: Target) -> Option<[usize; 2]> {
        // Elements in order and their positions come of one sort.
        let both = matches!(self.kind, SortKind::Values | SortKind::Indices);
        let is_long = operands.first().is_some_and(cuda::is_long);
        (both && is_long).then_some([self.count, self.descending.into()])
    }

    fn shares(&self) -> bool {
        true
    }

    fn together(&self, all: &[Alike<'_, Sort>]) -> Result<Option<KernelPlan>> {
        match all {
            [one, other] if one.kernel.kind != other.kernel.kind => {
                let values = usize::from(other.kernel.kind == SortKind::Values);
                cuda::both(&one.kernel, one.operands, &one.result, values).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, _: &[Shaped]) -> Option<u64> {
        None
    }

    fn vjp<T: Structure>(&self, _: usize, x: &[T], _: &T, g: &T) -> Result<Option<T>> {
        Ok(match self.kind {
            // Each element's gradient goes back to where it came from.
            SortKind::Values => {
                let indices = T::kernel(Sort { kind: SortKind::Indices, ..*self }.into(), &[&x[0]])?;
                let shape = x[0].sizes();
                let axis = shape.rank() - 1;
                Some(g.placed(axis, &indices, shape[axis])?)
            }
            SortKind::Indices | SortKind::Nth | SortKind::Median | SortKind::NanMedian | SortKind::Mode => {
                None
            }
        })
    }

    unsafe fn cpu(
        &self,
        operands: &[Operand],
        out: *mut u8,
        result: &Shaped,
    ) -> std::result::Result<(), Finding> {
        // SAFETY: this function's contract.
        unsafe { cpu::sort(self, operands, out, result) };
        Ok(())
    }

    fn cuda(&self, operands: &[Described], result: &Shaped, _: Target) -> Result<KernelPlan> {
        cuda::plan(self, operands, result)
    }
}
