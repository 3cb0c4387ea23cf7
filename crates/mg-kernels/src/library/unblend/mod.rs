//! What comes back to elements of which weighted sums were taken: the gradient of [`Blend`] where indices are the same for all lines.

mod cpu;
mod cuda;
#[cfg(test)]
mod tests;

use super::{Blend, Described, Kernel, Operand, Shaped, Structure, Target, of_all};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use crate::rows::Rules;
use mg_device::{DType, Error, ErrorKind, Float, Result, Shape};

/// `y[…, i, …] = Σ weightₜ[j] · g[…, j, …]` along an axis, over the positions `j` and of each the taps `t` with `indexₜ[j] = i`, in this order, each product
/// and each sum rounded; 0 where there is none. Operands are `g`, f32 or f64; an index (i64) for each tap, and a weight of `g`'s dtype
/// for each, both of as many elements as `g` has along the axis.
///
/// An index that is out of range adds nothing, and is not told: they are computed by who makes this kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Unblend {
    /// The axis.
    pub axis: u8,
    /// How many indices each position has, up to [`Blend::MOST`].
    pub taps: u8,
    /// Elements of the result along the axis.
    pub size: usize,
}

/// What a line along an axis says of all positions of a shape; with `led` there is a line for each position of the first axis.
pub(super) fn seen<T: Structure>(line: &T, axis: usize, led: bool, shape: Shape) -> Result<T> {
    let size = |d: usize| if d == axis || led && d == 0 { shape[d] } else { 1 };
    line.reshaped(Shape::new(&(0..shape.rank()).map(size).collect::<Vec<_>>())?)?.expanded(shape)
}

impl Kernel for Unblend {
    fn name(&self) -> &'static str {
        "unblend"
    }

    fn words(&self) -> [u64; 2] {
        [u64::from(self.axis) << 8 | u64::from(self.taps), self.size as u64]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let fail = |kind| Err(Error::new(self.name(), kind));
        let (axis, taps) = (usize::from(self.axis), usize::from(self.taps));
        let [g, behind @ ..] = operands else {
            return fail(ErrorKind::Value("takes a tensor, indices and weights".into()));
        };
        if !(1..=Blend::MOST).contains(&taps) || behind.len() != 2 * taps {
            let text =
                format!("takes one to {} taps, got {} operands for {taps}", Blend::MOST, operands.len());
            return fail(ErrorKind::Value(text));
        }
        if !matches!(g.dtype, DType::F32 | DType::F64) {
            return fail(ErrorKind::DType(format!("takes f32 or f64, got {}", g.dtype)));
        }
        if axis >= g.shape.rank() {
            return fail(ErrorKind::Axis { axis: axis as i64, rank: g.shape.rank() });
        }
        for (i, one) in behind.iter().enumerate() {
            let dtype = [DType::I64, g.dtype][i / taps];
            if one.dtype != dtype {
                return fail(ErrorKind::DType(format!(
                    "takes {dtype} as operand {}, got {}",
                    i + 1,
                    one.dtype
                )));
            }
            if one.shape.dims() != [g.shape[axis]] {
                let text =
                    format!("operand {} has shape {}, for {} along axis {axis}", i + 1, one.shape, g.shape);
                return fail(ErrorKind::Shape(text));
            }
        }
        Ok(Shaped { shape: Shape::new(&g.shape.with(axis, self.size))?, dtype: g.dtype })
    }

    fn batched<T: Structure>(&self, x: &[T], differs: &[bool], size: usize) -> Result<Option<T>> {
        let taps = usize::from(self.taps);
        let g = of_all(&x[0], differs[0], size)?;
        let axis = self.axis + 1;
        if !differs[1..].contains(&true) {
            // Examples are further lines.
            let operands: Vec<&T> = std::iter::once(&g).chain(&x[1..]).collect();
            return T::kernel(Unblend { axis, ..*self }.into(), &operands).map(Some);
        }
        let shape = g.sizes();
        let seen = |i: usize| seen(&x[i], axis.into(), differs[i], shape);
        let mut sum: Option<T> = None;
        for tap in 1..=taps {
            let share = g.mul(&seen(tap + taps)?).placed(axis.into(), &seen(tap)?, self.size)?;
            sum = Some(sum.map_or_else(|| share.clone(), |sum| sum.add(&share)));
        }
        Ok(sum)
    }

    fn is_linear_in(&self, i: usize) -> bool {
        i == 0 || self.taps == 1 && i == 2
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, operands: &[Shaped]) -> Option<u64> {
        operands.first().map(|g| 2 * u64::from(self.taps) * g.shape.numel() as u64)
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], _: &T, h: &T) -> Result<Option<T>> {
        let (axis, taps) = (usize::from(self.axis), usize::from(self.taps));
        let (g, index) = (&x[0], &x[1..=taps]);
        let shape = g.sizes();
        if i == 0 {
            let behind =
                x[1..].iter().map(|line| seen(line, axis, false, shape)).collect::<Result<Vec<T>>>()?;
            let operands: Vec<&T> = std::iter::once(h).chain(&behind).collect();
            let blend = Blend { axis: self.axis, taps: self.taps, asks: false, line: true };
            return Ok(Some(T::kernel(blend.into(), &operands)?));
        }
        if i <= taps {
            return Ok(None);
        }
        // The sum over all lines.
        let part = g.mul(&h.gathered(axis, &seen(&index[i - 1 - taps], axis, false, shape)?)?);
        let axes: Vec<usize> = [axis].into_iter().chain((0..shape.rank()).filter(|&d| d != axis)).collect();
        let (n, lines) = (shape[axis], shape.numel().checked_div(shape[axis]).unwrap_or(0));
        let lines = part.permuted(&axes)?.reshaped(Shape::new(&[n, lines, 1])?)?;
        Ok(Some(lines.summed()?.reshaped(Shape::new(&[n])?)?))
    }

    unsafe fn cpu(
        &self,
        operands: &[Operand],
        out: *mut u8,
        result: &Shaped,
    ) -> std::result::Result<(), Finding> {
        // SAFETY: this function's contract.
        unsafe {
            match result.dtype.float() {
                Some(Float::F64) => cpu::unblend::<f64>(self, operands, out.cast()),
                // f32: other dtypes were refused when the node was made.
                Some(Float::F32 | Float::F16 | Float::BF16) | None => {
                    cpu::unblend::<f32>(self, operands, out.cast());
                }
            }
        }
        Ok(())
    }

    fn cuda(&self, operands: &[Described], result: &Shaped, _: Target) -> Result<KernelPlan> {
        cuda::plan(self, operands, result)
    }
}
