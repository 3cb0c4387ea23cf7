//! Values that are written at indices of an axis.

mod cpu;
mod cuda;
#[cfg(test)]
mod tests;

use super::{Described, Kernel, Operand, Shaped, Structure, Target, led, of_all, of_one};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use crate::rows::Rules;
use mg_device::{DType, Error, ErrorKind, Result, Shape};

/// `y = base`, but `y[o, index[j], i] = value[o, j, i]`: of several that are written to one place, the last. The operands are `base`, seen
/// as `[outer, n, inner]`, `value` as `[outer, count, inner]` or without axes, one element for all, and `index` (i64) `[count]`, whose
/// numbers were checked to be in range.
///
/// Nothing but what is written is touched where the base's memory may be taken over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Put {
    /// Places that an index can say.
    pub n: usize,
    /// Elements of each.
    pub inner: usize,
}

/// The sizes of an operation.
#[derive(Clone, Copy)]
struct Sizes {
    outer: usize,
    n: usize,
    inner: usize,
    count: usize,
    /// Whether all that is written is one element.
    one: bool,
}

impl Put {
    /// Indices that are taken on CUDA: they are numbered in 32 bits.
    pub const MOST_ON_CUDA: usize = u32::MAX as usize - 1;

    fn sizes(&self, base: &Shape, value: &Shape, index: &Shape) -> Sizes {
        let Put { n, inner } = *self;
        let outer = base.numel() / (n * inner).max(1);
        Sizes { outer, n, inner, count: index.numel(), one: value.rank() == 0 }
    }
}

impl Kernel for Put {
    fn name(&self) -> &'static str {
        "put"
    }

    fn words(&self) -> [u64; 2] {
        [self.n as u64, self.inner as u64]
    }

    fn takes_narrow(&self) -> bool {
        true
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let fail = |text: String| Err(Error::new("put", ErrorKind::Shape(text)));
        let [base, value, index] = operands else {
            return fail("takes a base, values and indices".into());
        };
        let Sizes { outer, n, inner, count, one } = self.sizes(&base.shape, &value.shape, &index.shape);
        let whole = n.checked_mul(inner).and_then(|each| each.checked_mul(outer));
        if whole != Some(base.shape.numel()) || index.shape.rank() != 1 {
            let text =
                format!("takes {n} places of {inner} and indices, got {} and {}", base.shape, index.shape);
            return fail(text);
        }
        if !one && value.shape.numel() != outer * count * inner {
            return fail(format!(
                "takes {outer} times {count} values of {inner}, or one, got {}",
                value.shape
            ));
        }
        if value.dtype != base.dtype || index.dtype != DType::I64 {
            let text = format!(
                "takes values of {} and indices of i64, got {} and {}",
                base.dtype, value.dtype, index.dtype
            );
            return Err(Error::new("put", ErrorKind::DType(text)));
        }
        Ok(*base)
    }

    fn batched<T: Structure>(&self, x: &[T], differs: &[bool], size: usize) -> Result<Option<T>> {
        let ([base, value, index], &[base_differs, value_differs, index_differs]) = (x, differs) else {
            return Ok(None);
        };
        let (own, of_each) = (of_one(base, base_differs), of_one(value, value_differs));
        let Sizes { outer, n, inner, count, one } = self.sizes(&own, &of_each, &of_one(index, index_differs));
        let four = |x: &T, count: usize| x.reshaped(Shape::new(&[size, outer, count, inner])?);
        let base = of_all(base, base_differs, size)?;
        let value = match (one, value_differs) {
            (true, false) => value.clone(),
            (true, true) => {
                let alone = value.reshaped(Shape::new(&[size, 1, 1, 1])?)?;
                alone.expanded(Shape::new(&[size, outer, count, inner])?)?
            }
            (false, _) => four(&of_all(value, value_differs, size)?, count)?,
        };
        if !index_differs {
            return T::kernel((*self).into(), &[&base, &value, index]).map(Some);
        }
        let Some(places) = n.checked_mul(size).filter(|_| count * size <= Put::MOST_ON_CUDA) else {
            return Ok(None);
        };
        // Places of all examples are one axis, on which each has its own.
        let first = base.ramp(Shape::new(&[size, 1])?).scale(n as f64);
        let index = index.add(&first).reshaped(Shape::new(&[size * count])?)?;
        let before = |x: &T| x.permuted(&[1, 0, 2, 3]);
        let value = if one && !value_differs { value } else { before(&value)? };
        let base = before(&four(&base, n)?)?;
        let kernel = Put { n: places, inner };
        before(&T::kernel(kernel.into(), &[&base, &value, &index])?)?.reshaped(led(size, &own)?).map(Some)
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, _: &[Shaped]) -> Option<u64> {
        None
    }

    fn overwrites(&self) -> Option<usize> {
        Some(0)
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], _: &T, g: &T) -> Result<Option<T>> {
        match i {
            // Nothing is left of the base where it was written to.
            0 => T::kernel((*self).into(), &[g, &g.lit(0.0), &x[2]]).map(Some),
            1 => {
                let text =
                    "what is written has no gradient: it is written by choices where gradients are recorded";
                Err(Error::new("put", ErrorKind::Gradient(text.into())))
            }
            _ => Ok(None),
        }
    }

    unsafe fn cpu(&self, operands: &[Operand], out: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        if let [base, value, index] = operands {
            let sizes = self.sizes(base.layout.shape(), value.layout.shape(), index.layout.shape());
            // SAFETY: this function's contract.
            unsafe { cpu::put(&sizes, base, value, index, out) };
        }
        Ok(())
    }

    fn cuda(&self, operands: &[Described], _: &Shaped, target: Target) -> Result<KernelPlan> {
        let [base, value, index] = operands else {
            return Err(Error::new("put", ErrorKind::Internal("no operands".into())));
        };
        let sizes = self.sizes(base.layout.shape(), value.layout.shape(), index.layout.shape());
        cuda::plan(&sizes, base, value, target)
    }
}
