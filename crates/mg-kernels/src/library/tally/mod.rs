//! How many elements lie in intervals of the same width.

mod cpu;
mod cuda;
#[cfg(test)]
mod tests;

use super::{Described, Kernel, Operand, Shaped, Structure, Target};
use crate::cuda::library::{KernelPlan, constants};
use crate::finding::{Checks, Finding};
use mg_device::{DType, Error, ErrorKind, Result, Shape};

/// How many elements lie in each of `bins` intervals of the same width from one number to another, both included: i64 `[bins]`. What lies outside
/// does not count, nor does NaN. The operands are the elements, and both ends, without axes; f32 or f64.
///
/// An element x is in interval ⌊(x − low)/(high − low)·bins⌋, rounded step by step, and no further than the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Tally {
    /// How many intervals there are, from 1 to [`Tally::MOST`].
    pub bins: usize,
}

impl Tally {
    /// Intervals that are counted at most.
    pub const MOST: usize = constants::tally::BINS;
}

impl Kernel for Tally {
    fn name(&self) -> &'static str {
        "histc"
    }

    fn words(&self) -> [u64; 2] {
        [self.bins as u64, 0]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let fail = |kind| Err(Error::new(self.name(), kind));
        let [x, low, high] = operands else { return fail(ErrorKind::Value("takes three operands".into())) };
        if !(1..=Tally::MOST).contains(&self.bins) || low.shape.rank() + high.shape.rank() > 0 {
            let text =
                format!("takes two numbers and up to {} intervals, got {} between", Tally::MOST, self.bins);
            return fail(ErrorKind::Value(format!("{text} {} and {}", low.shape, high.shape)));
        }
        let floats = matches!(x.dtype, DType::F32 | DType::F64);
        if !floats || low.dtype != x.dtype || high.dtype != x.dtype {
            let text = format!("takes f32 or f64, got {} between {} and {}", x.dtype, low.dtype, high.dtype);
            return fail(ErrorKind::DType(text));
        }
        Ok(Shaped { shape: Shape::of(&[self.bins]), dtype: DType::I64 })
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
        if let [x, low, high] = operands {
            // SAFETY: this function's contract.
            unsafe { cpu::tally(self.bins, x, low, high, out.cast()) };
        }
        Ok(())
    }

    fn cuda(&self, operands: &[Described], _: &Shaped, _: Target) -> Result<KernelPlan> {
        cuda::plan(self.bins, operands)
    }
}
