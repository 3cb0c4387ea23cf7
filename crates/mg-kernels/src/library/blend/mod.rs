//! Weighted sums of elements by index: what lies between elements, as images of another size and grids have it.

pub(in crate::library) mod cpu;
mod cuda;
#[cfg(test)]
mod tests;

use super::{Described, Kernel, Operand, Shaped, Structure, Target, Unblend, of_all};
use crate::cuda::library::KernelPlan;
use crate::cuda::library::constants::blend::TAPS;
use crate::finding::{Checks, Finding};
use crate::rows::Rules;
use mg_device::{DType, Error, ErrorKind, Float, Result, Shape};

/// `y[…, j, …] = Σ weightₜ[…, j, …] · x[…, indexₜ[…, j, …], …]` along an axis, in the order of taps, each product and each sum rounded. Operands are
/// `x`, f32 or f64; an index (i64) for each tap; a weight of `x`'s dtype for each; and, if it `asks`, a truth value for each, without which an element is
/// taken for 0. All but `x` have the result's shape, and lie in any way.
///
/// An index that is out of range reads 0, and is not told: they are computed by who makes this kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Blend {
    /// The axis.
    pub axis: u8,
    /// How many elements each sum has, up to [`Blend::MOST`].
    pub taps: u8,
    /// Whether it is asked which of them count.
    pub asks: bool,
    /// Whether indices and weights are the same for all lines along the axis: then what comes back is gathered, and not added by index.
    pub line: bool,
}

impl Blend {
    /// So many taps at most.
    pub const MOST: usize = TAPS;

    /// How many operands there are behind `x`.
    fn behind(&self) -> usize {
        usize::from(self.taps) * if self.asks { 3 } else { 2 }
    }
}

impl Kernel for Blend {
    fn name(&self) -> &'static str {
        "blend"
    }

    fn words(&self) -> [u64; 2] {
        [self.axis.into(), u64::from(self.taps) << 2 | u64::from(self.asks) << 1 | u64::from(self.line)]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let fail = |kind| Err(Error::new(self.name(), kind));
        let taps = usize::from(self.taps);
        let [x, behind @ ..] = operands else {
            return fail(ErrorKind::Value("takes a tensor, indices and weights".into()));
        };
        if !(1..=Blend::MOST).contains(&taps) || behind.len() != self.behind() {
            let text =
                format!("takes one to {} taps, got {} operands for {taps}", Blend::MOST, operands.len());
            return fail(ErrorKind::Value(text));
        }
        if !matches!(x.dtype, DType::F32 | DType::F64) {
            return fail(ErrorKind::DType(format!("takes f32 or f64, got {}", x.dtype)));
        }
        let (axis, shape): (usize, Shape) = (self.axis.into(), behind[0].shape);
        let (rank, of) = (shape.rank(), &x.shape);
        if axis >= rank || of.rank() != rank || (0..rank).any(|d| d != axis && of[d] != shape[d]) {
            let text = format!("an index of shape {shape} does not fit {of} along axis {axis}");
            return fail(ErrorKind::Shape(text));
        }
        for (i, one) in behind.iter().enumerate() {
            let dtype = [DType::I64, x.dtype, DType::Bool][i / taps];
            if one.dtype != dtype {
                return fail(ErrorKind::DType(format!(
                    "takes {dtype} as operand {}, got {}",
                    i + 1,
                    one.dtype
                )));
            }
            if one.shape != shape {
                let text = format!("operand {} has shape {}, the first index {shape}", i + 1, one.shape);
                return fail(ErrorKind::Shape(text));
            }
        }
        Ok(Shaped { shape, dtype: x.dtype })
    }

    fn batched<T: Structure>(&self, x: &[T], differs: &[bool], size: usize) -> Result<Option<T>> {
        let all = x.iter().zip(differs).map(|(x, &differs)| of_all(x, differs, size));
        let all = all.collect::<Result<Vec<T>>>()?;
        // What differs from example to example is not the same for all lines.
        let line = self.line && !differs[1..].contains(&true);
        let kernel = Blend { axis: self.axis + 1, line, ..*self };
        T::kernel(kernel.into(), &all.iter().collect::<Vec<_>>()).map(Some)
    }

    fn takes_any_layout(&self) -> bool {
        true
    }

    fn is_linear_in(&self, i: usize) -> bool {
        // In one of several weights it is not: with another in its place the others' products would still be there.
        i == 0 || self.taps == 1 && i == 2
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, operands: &[Shaped]) -> Option<u64> {
        operands.get(1).map(|index| 2 * u64::from(self.taps) * index.shape.numel() as u64)
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], _: &T, g: &T) -> Result<Option<T>> {
        let (taps, axis) = (usize::from(self.taps), usize::from(self.axis));
        let (index, weight, inside) = (&x[1..], &x[1 + taps..], &x[1 + 2 * taps..]);
        // Where a tap does not count, nothing comes back.
        let counted = |t: usize, value: T| match self.asks {
            true => inside[t].choose(&value, &value.lit(0.0)),
            false => value,
        };
        if i == 0 {
            let n = x[0].sizes()[axis];
            if self.line && !self.asks && !g.sizes().contains(&0) {
                // One of all lines, for all.
                let line = |of: &T| {
                    let along = of.sizes()[axis];
                    let one = (0..of.sizes().rank())
                        .filter(|&d| d != axis)
                        .try_fold(of.clone(), |of, d| of.part(d, 0, 1));
                    one?.reshaped(Shape::of(&[along]))
                };
                let lines = x[1..].iter().map(line).collect::<Result<Vec<T>>>()?;
                let operands: Vec<&T> = std::iter::once(g).chain(&lines).collect();
                let back = Unblend { axis: self.axis, taps: self.taps, size: n };
                return Ok(Some(T::kernel(back.into(), &operands)?));
            }
            let mut sum: Option<T> = None;
            for t in 0..taps {
                let part = counted(t, g.mul(&weight[t])).placed(axis, &index[t], n)?;
                sum = Some(sum.map_or(part.clone(), |s| s.add(&part)));
            }
            return Ok(sum);
        }
        match (1 + taps..1 + 2 * taps).contains(&i) {
            true => {
                let t = i - 1 - taps;
                Ok(Some(g.mul(&counted(t, x[0].gathered(axis, &index[t])?))))
            }
            false => Ok(None),
        }
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
                Some(Float::F64) => cpu::blend::<f64>(self, operands, out.cast()),
                // f32: other dtypes were refused when the node was made.
                Some(Float::F32 | Float::F16 | Float::BF16) | None => {
                    cpu::blend::<f32>(self, operands, out.cast())
                }
            }
        }
        Ok(())
    }

    fn cuda(&self, operands: &[Described], result: &Shaped, _: Target) -> Result<KernelPlan> {
        cuda::plan(self, operands, result)
    }
}
