//! Running sums, products, extremes and recurrences along an axis.

mod chain;
mod cpu;
mod cuda;
mod sums;
#[cfg(test)]
mod tests;
mod walk;

use super::{Described, Kernel, Library, Operand, Shaped, Structure, Target};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use crate::is_compared;
use crate::rows::{Row, Rules};
use mg_device::{DType, Error, ErrorKind, Result, Shape};

/// What is carried along the axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ScanKind {
    /// The sum so far. f32 is added in f64, half types in f32.
    Sum,
    /// The product so far, multiplied as sums are added.
    Prod,
    /// `log Σ eˣ` so far.
    LogSumExp,
    /// The index (i64) of the largest element so far: of equal ones the last, and NaN is larger than every number.
    ArgMax,
    /// The index (i64) of the smallest element so far: of equal ones the last, and NaN is smaller than every number.
    ArgMin,
    /// The largest element so far, which [`ScanKind::ArgMax`] has the index of.
    Max,
    /// The smallest element so far, which [`ScanKind::ArgMin`] has the index of.
    Min,
    /// `yᵢ = xᵢ + aᵢ yᵢ₋₁`, beginning with 0; the operands are `x` and `a`, of one shape.
    Linear,
}

impl ScanKind {
    /// The scan that finds where the extremes of this one stand; others are themselves.
    pub fn indices(self) -> ScanKind {
        match self {
            ScanKind::ArgMax | ScanKind::Max => ScanKind::ArgMax,
            ScanKind::ArgMin | ScanKind::Min => ScanKind::ArgMin,
            ScanKind::Sum | ScanKind::Prod | ScanKind::LogSumExp | ScanKind::Linear => self,
        }
    }
}

/// A scan along an axis, from its beginning or, reversed, from its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Scan {
    /// What is carried.
    pub kind: ScanKind,
    /// The axis.
    pub axis: u8,
    /// Whether it begins at the end.
    pub reverse: bool,
}

/// A dense operand around the axis: lines of `length` elements that are `inner` apart.
#[derive(Clone, Copy)]
struct Lines {
    outer: usize,
    length: usize,
    inner: usize,
}

impl Scan {
    fn lines(&self, shape: &Shape) -> Lines {
        let axis = usize::from(self.axis);
        Lines {
            outer: shape[..axis].iter().product(),
            length: shape[axis],
            inner: shape[axis + 1..].iter().product(),
        }
    }

    /// The neighbours: what comes before each element on the way (`back`), or after it, and `fill` where there is none.
    fn moved<T: Structure>(&self, x: &T, back: bool, fill: f64) -> Result<T> {
        let (shape, axis) = (x.sizes(), usize::from(self.axis));
        let n = shape[axis];
        let edge = x.filled(fill, shape.with(axis, 1.min(n)))?;
        if n < 2 {
            return Ok(edge);
        }
        // Where the fill comes first, the neighbour is the one with the smaller index.
        match back != self.reverse {
            true => T::joined(&[&edge, &x.part(axis, 0, n - 1)?], axis),
            false => T::joined(&[&x.part(axis, 1, n - 1)?, &edge], axis),
        }
    }

    fn turned(&self, kind: ScanKind) -> Library {
        Scan { kind, axis: self.axis, reverse: !self.reverse }.into()
    }
}

impl Kernel for Scan {
    fn name(&self) -> &'static str {
        match self.kind {
            ScanKind::Sum => "cumsum",
            ScanKind::Prod => "cumprod",
            ScanKind::LogSumExp => "logcumsumexp",
            ScanKind::ArgMax | ScanKind::Max => "cummax",
            ScanKind::ArgMin | ScanKind::Min => "cummin",
            ScanKind::Linear => "recurrence",
        }
    }

    fn words(&self) -> [u64; 2] {
        [self.kind as u64, u64::from(self.axis) << 1 | u64::from(self.reverse)]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let fail = |kind| Err(Error::new(self.name(), kind));
        let (x, rest) = match operands {
            [x, rest @ ..] => (*x, rest),
            [] => return fail(ErrorKind::Value("takes an operand".into())),
        };
        if usize::from(self.axis) >= x.shape.rank() {
            return fail(ErrorKind::Axis { axis: self.axis.into(), rank: x.shape.rank() });
        }
        let takes = match self.kind {
            ScanKind::Sum | ScanKind::Prod => x.dtype.is_float() || x.dtype == DType::I64,
            ScanKind::LogSumExp | ScanKind::Linear => x.dtype.is_float(),
            ScanKind::ArgMax | ScanKind::ArgMin | ScanKind::Max | ScanKind::Min => is_compared(x.dtype),
        };
        if !takes {
            return fail(ErrorKind::DType(format!("does not take {}", x.dtype)));
        }
        match (self.kind, rest) {
            (ScanKind::Linear, [a]) if *a == x => Ok(x),
            (ScanKind::Linear, _) => {
                fail(ErrorKind::Shape(format!("takes factors of the shape and dtype of {}", x.shape)))
            }
            (ScanKind::ArgMax | ScanKind::ArgMin, []) => Ok(Shaped { dtype: DType::I64, ..x }),
            (ScanKind::Sum | ScanKind::Prod | ScanKind::LogSumExp | ScanKind::Max | ScanKind::Min, []) => {
                Ok(x)
            }
            _ => fail(ErrorKind::Value("takes one operand".into())),
        }
    }

    fn with_batch(&self) -> Option<Library> {
        Some(Scan { axis: self.axis + 1, ..*self }.into())
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, _: &[Shaped]) -> Option<u64> {
        None
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], y: &T, g: &T) -> Result<Option<T>> {
        Ok(match self.kind {
            ScanKind::Sum => Some(T::kernel(self.turned(ScanKind::Sum), &[g])?),
            // ∂/∂xⱼ is what came before it, times Sⱼ = gⱼ + xⱼ₊₁ Sⱼ₊₁: no division, so that zeros are like other numbers.
            ScanKind::Prod => {
                let later = T::kernel(self.turned(ScanKind::Linear), &[g, &self.moved(&x[0], false, 0.0)?])?;
                Some(self.moved(y, true, 1.0)?.mul(&later))
            }
            // exp(xⱼ − yⱼ) tⱼ with tⱼ = gⱼ + exp(yⱼ − yⱼ₊₁) tⱼ₊₁: no exponent is positive. Where nothing but −∞ came so far, nothing
            // changes with x.
            ScanKind::LogSumExp => {
                let next = self.moved(y, false, f64::INFINITY)?;
                let same = y.eq(&next);
                let fall = same.choose(&y.lit(1.0), &y.sub(&next).map(Row::Exp));
                let sum = T::kernel(self.turned(ScanKind::Linear), &[g, &fall])?;
                let nothing = x[0].eq(&x[0].lit(f64::NEG_INFINITY));
                let share = nothing.choose(&y.lit(0.0), &x[0].sub(y).map(Row::Exp));
                Some(share.mul(&sum))
            }
            ScanKind::ArgMax | ScanKind::ArgMin => None,
            ScanKind::Max | ScanKind::Min => {
                let index = T::kernel(Scan { kind: self.kind.indices(), ..*self }.into(), &[&x[0]])?;
                let axis = usize::from(self.axis);
                Some(g.placed(axis, &index, x[0].sizes()[axis])?)
            }
            ScanKind::Linear => {
                let later = T::kernel(self.turned(ScanKind::Linear), &[g, &self.moved(&x[1], false, 0.0)?])?;
                match i {
                    0 => Some(later),
                    _ => Some(later.mul(&self.moved(y, true, 0.0)?)),
                }
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
        unsafe { cpu::scan(self, self.lines(&result.shape), operands, out) };
        Ok(())
    }

    fn cuda(&self, operands: &[Described], _: &Shaped, target: Target) -> Result<KernelPlan> {
        cuda::plan(self, operands, target.align)
    }
}
