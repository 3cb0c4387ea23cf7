//! Functions of two numbers that take as many steps as the numbers ask for, which no row can say.

mod cpu;
mod cuda;
#[cfg(test)]
mod tests;

use super::{Described, Kernel, Library, Operand, Shaped, Structure, Target};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use crate::rows::{Row, Rules};
use mg_device::{DType, Error, ErrorKind, Result};

/// Which function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum PairKind {
    /// The greatest common divisor, of i64.
    Gcd,
    /// The regularised lower incomplete gamma function P(a, x), of f32 and f64.
    Lower,
    /// The regularised upper incomplete gamma function Q(a, x) = 1 − P(a, x), of f32 and f64.
    Upper,
}

/// A function of the elements of two operands of one shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Pair {
    /// Which function.
    pub kind: PairKind,
}

impl Kernel for Pair {
    fn name(&self) -> &'static str {
        match self.kind {
            PairKind::Gcd => "gcd",
            PairKind::Lower => "igamma",
            PairKind::Upper => "igammac",
        }
    }

    fn words(&self) -> [u64; 2] {
        [self.kind as u64, 0]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let fail = |kind| Err(Error::new(self.name(), kind));
        let [a, b] = operands else {
            return fail(ErrorKind::Value(format!("takes two operands, got {}", operands.len())));
        };
        if a != b {
            return fail(ErrorKind::Shape(format!(
                "takes operands of one shape, got {} and {}",
                a.shape, b.shape
            )));
        }
        let takes = match self.kind {
            PairKind::Gcd => a.dtype == DType::I64,
            PairKind::Lower | PairKind::Upper => matches!(a.dtype, DType::F32 | DType::F64),
        };
        match takes {
            true => Ok(*a),
            false => fail(ErrorKind::DType(format!("does not take {}", a.dtype))),
        }
    }

    fn with_batch(&self) -> Option<Library> {
        Some((*self).into())
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, _: &[Shaped]) -> Option<u64> {
        None
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], _: &T, g: &T) -> Result<Option<T>> {
        let sign = match (self.kind, i) {
            (PairKind::Gcd, _) => return Ok(None),
            (PairKind::Lower, 1) => 1.0,
            (PairKind::Upper, 1) => -1.0,
            (PairKind::Lower | PairKind::Upper, _) => {
                let text = "there is no gradient by the first operand: detach it".into();
                return Err(Error::new(self.name(), ErrorKind::Gradient(text)));
            }
        };
        // x^(a−1) e^−x / Γ(a).
        let (a, x) = (&x[0], &x[1]);
        let power = a.sub(&a.lit(1.0)).mul(&x.map(Row::Log)).sub(x).sub(&a.map(Row::Lgamma));
        Ok(Some(g.mul(&power.map(Row::Exp)).scale(sign)))
    }

    unsafe fn cpu(
        &self,
        operands: &[Operand],
        out: *mut u8,
        result: &Shaped,
    ) -> std::result::Result<(), Finding> {
        // SAFETY: this function's contract.
        unsafe { cpu::run(self.kind, operands, out, result) };
        Ok(())
    }

    fn cuda(&self, _: &[Described], result: &Shaped, _: Target) -> Result<KernelPlan> {
        cuda::plan(self.kind, result)
    }
}
