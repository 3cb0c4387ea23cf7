//! Elements by index, and their adjoint: sums by index.

pub(super) mod cpu;
pub mod cuda;
mod rows;
#[cfg(test)]
mod tests;
mod way;

use super::{Described, Kernel, Library, Operand, Shaped, Structure, Target};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding, IndexBound};
use crate::rows::Rules;
use mg_device::{DType, Error, ErrorKind, Result};

/// `y[…, j, …] = x[…, index[…, j, …], …]` along an axis, however the operands lie: `x`, and the index (i64), of which the result has
/// the shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Gather {
    /// The axis.
    pub axis: u8,
    /// How many axes in front are a batch's, of which errors do not know.
    pub lead: u8,
    /// Whether negative indices count from the axis's end.
    pub wraps: bool,
    /// Whether it is known that no position of a line is named twice: those that a sort found.
    pub once: bool,
    /// The operation that a person called, for errors.
    pub called: &'static str,
}

/// The adjoint of [`Gather`]: zeros, with `x[…, j, …]` added at `index[…, j, …]` in the order of `j`; `x`, and the index (i64), of one shape.
/// Half types are added in f32 and rounded once; integers wrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct ScatterAdd {
    /// The axis.
    pub axis: u8,
    /// How many axes in front are a batch's, of which errors do not know.
    pub lead: u8,
    /// Positions of the result along the axis.
    pub size: usize,
    /// Whether it is known that no two elements of a line are added at one position.
    pub once: bool,
    /// The operation that a person called, for errors.
    pub called: &'static str,
}

/// Both operands; an error where the index does not fit `x` on all axes but one.
fn fitting<'a>(op: &'static str, operands: &'a [Shaped], axis: usize) -> Result<[&'a Shaped; 2]> {
    let [x, index] = operands else {
        return Err(Error::new(op, ErrorKind::Value("takes two operands".into())));
    };
    if index.dtype != DType::I64 {
        return Err(Error::new(op, ErrorKind::DType(format!("takes an i64 index, got {}", index.dtype))));
    }
    let rank = x.shape.rank();
    let fits = axis < rank
        && index.shape.rank() == rank
        && (0..rank).all(|d| d == axis || index.shape[d] == x.shape[d]);
    if !fits {
        let text = format!("index of shape {} does not fit {} along axis {axis}", index.shape, x.shape);
        return Err(Error::new(op, ErrorKind::Shape(text)));
    }
    Ok([x, index])
}

fn lost(op: &'static str) -> Error {
    Error::new(op, ErrorKind::Internal("a kernel without its operands".into()))
}

impl Kernel for Gather {
    fn name(&self) -> &'static str {
        "gather"
    }

    fn called(&self) -> &'static str {
        self.called
    }

    fn words(&self) -> [u64; 2] {
        [self.axis.into(), u64::from(self.wraps) | u64::from(self.once) << 1]
    }

    fn takes_narrow(&self) -> bool {
        true
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let [x, index] = fitting("gather", operands, self.axis.into())?;
        Ok(Shaped { shape: index.shape, dtype: x.dtype })
    }

    fn with_batch(&self) -> Option<Library> {
        Some(Gather { axis: self.axis + 1, lead: self.lead + 1, ..*self }.into())
    }

    fn takes_any_layout(&self) -> bool {
        true
    }

    fn is_linear_in(&self, i: usize) -> bool {
        i == 0
    }

    fn checks(&self) -> Checks {
        Checks::Index { axis: (self.axis - self.lead).into(), places: IndexBound::Of(0) }
    }

    fn flops(&self, _: &[Shaped]) -> Option<u64> {
        None
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], _: &T, g: &T) -> Result<Option<T>> {
        let axis = usize::from(self.axis);
        match i {
            0 => {
                let n = x[0].sizes()[axis];
                let index = match self.wraps {
                    true => {
                        let from_the_end = x[1].add(&x[1].lit(n as f64));
                        x[1].lt(&x[1].lit(0.0)).choose(&from_the_end, &x[1])
                    }
                    false => x[1].clone(),
                };
                if !self.once {
                    return g.placed(axis, &index, n).map(Some);
                }
                let (axis, lead) = (self.axis, self.lead);
                let back = ScatterAdd { axis, lead, size: n, once: true, called: "scatter_add" };
                T::kernel(back.into(), &[g, &index]).map(Some)
            }
            _ => Ok(None),
        }
    }

    unsafe fn cpu(
        &self,
        operands: &[Operand],
        out: *mut u8,
        result: &Shaped,
    ) -> std::result::Result<(), Finding> {
        let [x, index] = operands else { return Ok(()) };
        let (size, axis) = (result.dtype.size(), self.axis.into());
        // SAFETY: this function's contract.
        unsafe { cpu::gather(size, x.base, &x.layout, index.base, &index.layout, axis, self.wraps, out) }
    }

    fn cuda(&self, operands: &[Described], result: &Shaped, target: Target) -> Result<KernelPlan> {
        let [x, index] = operands else { return Err(lost("gather")) };
        let align = x.align.min(target.align);
        cuda::gather(result.dtype.size(), &x.layout, &index.layout, self.axis.into(), align, self.wraps)
    }
}

impl Kernel for ScatterAdd {
    fn name(&self) -> &'static str {
        "scatter_add"
    }

    fn called(&self) -> &'static str {
        self.called
    }

    fn words(&self) -> [u64; 2] {
        [u64::from(self.axis) | u64::from(self.once) << 8, self.size as u64]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let [x, index] = fitting("scatter_add", operands, self.axis.into())?;
        if index.shape != x.shape {
            let text = format!("index of shape {} for values of shape {}", index.shape, x.shape);
            return Err(Error::new("scatter_add", ErrorKind::Shape(text)));
        }
        Ok(Shaped { shape: x.shape.with(self.axis.into(), self.size), dtype: x.dtype })
    }

    fn with_batch(&self) -> Option<Library> {
        Some(ScatterAdd { axis: self.axis + 1, lead: self.lead + 1, ..*self }.into())
    }

    fn takes_any_layout(&self) -> bool {
        true
    }

    fn is_linear_in(&self, i: usize) -> bool {
        i == 0
    }

    fn checks(&self) -> Checks {
        Checks::Index { axis: (self.axis - self.lead).into(), places: IndexBound::Exactly(self.size) }
    }

    fn flops(&self, _: &[Shaped]) -> Option<u64> {
        None
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], _: &T, g: &T) -> Result<Option<T>> {
        match i {
            0 => g.gathered(self.axis.into(), &x[1]).map(Some),
            _ => Ok(None),
        }
    }

    unsafe fn cpu(
        &self,
        operands: &[Operand],
        out: *mut u8,
        result: &Shaped,
    ) -> std::result::Result<(), Finding> {
        let [x, index] = operands else { return Ok(()) };
        let (dtype, axis) = (result.dtype, self.axis.into());
        // SAFETY: this function's contract.
        unsafe { cpu::scatter_add(dtype, x.base, &x.layout, index.base, &index.layout, axis, self.size, out) }
    }

    fn cuda(&self, operands: &[Described], result: &Shaped, _: Target) -> Result<KernelPlan> {
        let [x, index] = operands else { return Err(lost("scatter_add")) };
        let (x, index, axis) = (&x.layout, &index.layout, self.axis.into());
        if self.once
            && let Some(plan) = cuda::placed(result.dtype, x, index, axis, self.size)?
        {
            return Ok(plan);
        }
        cuda::scatter_add(result.dtype, x, index, axis, self.size)
    }
}
