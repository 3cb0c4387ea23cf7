//! Images of another size: weighted sums of elements by index along both of the last axes.

mod cpu;
mod cuda;
#[cfg(test)]
mod tests;

use super::unblend::seen;
use super::{Blend, Described, Kernel, Operand, Shaped, Structure, Target, Unblend, of_all};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use mg_device::{DType, Error, ErrorKind, Float, Result, Shape};

/// Two [`Blend`]s along the last two axes, one after the other, in which all lines of an axis have the same indices and weights: to the bit what these give,
/// without what lies between them. Operands are `x`, f32 or f64; for the axis before the last an index (i64) for each tap and a weight of `x`'s dtype for each,
/// each a line of as many as the result has along the axis; and the same for the last.
///
/// An index that is out of range reads 0, and is not told: they are computed by who makes this kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Resample {
    /// How many elements each sum along an axis has, up to [`Blend::MOST`].
    pub taps: u8,
    /// Whether sums along the last axis are summed along the other, or these along the last.
    pub last_first: bool,
}

impl Resample {
    /// The numbers of the first and the second of the last two axes that are summed along.
    fn order(self) -> [usize; 2] {
        if self.last_first { [1, 0] } else { [0, 1] }
    }

    /// Where the lines of the one and the other of the last two axes stand among the operands.
    fn lines(self, axis: usize) -> std::ops::Range<usize> {
        let each = 2 * usize::from(self.taps);
        1 + axis * each..1 + (axis + 1) * each
    }
}

impl Kernel for Resample {
    fn name(&self) -> &'static str {
        "resample"
    }

    fn words(&self) -> [u64; 2] {
        [self.taps.into(), self.last_first.into()]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let fail = |kind| Err(Error::new(self.name(), kind));
        let taps = usize::from(self.taps);
        let [x, behind @ ..] = operands else {
            return fail(ErrorKind::Value("takes a tensor, indices and weights".into()));
        };
        if !(1..=Blend::MOST).contains(&taps) || behind.len() != 4 * taps {
            let text =
                format!("takes one to {} taps, got {} operands for {taps}", Blend::MOST, operands.len());
            return fail(ErrorKind::Value(text));
        }
        if !matches!(x.dtype, DType::F32 | DType::F64) {
            return fail(ErrorKind::DType(format!("takes f32 or f64, got {}", x.dtype)));
        }
        let rank = x.shape.rank();
        if rank < 2 {
            return fail(ErrorKind::Shape(format!("takes two axes and more, got shape {}", x.shape)));
        }
        let mut shape = x.shape;
        for axis in 0..2 {
            let lines = &operands[self.lines(axis)];
            for (i, line) in lines.iter().enumerate() {
                let dtype = [DType::I64, x.dtype][i / taps];
                if line.dtype != dtype || line.shape.rank() != 1 || line.shape != lines[0].shape {
                    let text =
                        format!("takes lines of one length, of {dtype}, got {} {}", line.dtype, line.shape);
                    return fail(ErrorKind::Shape(text));
                }
            }
            shape = Shape::new(&shape.with(rank - 2 + axis, lines[0].shape[0]))?;
        }
        Ok(Shaped { shape, dtype: x.dtype })
    }

    fn batched<T: Structure>(&self, x: &[T], differs: &[bool], size: usize) -> Result<Option<T>> {
        let mut all = of_all(&x[0], differs[0], size)?;
        if !differs[1..].contains(&true) {
            // Examples are further planes.
            let operands: Vec<&T> = std::iter::once(&all).chain(&x[1..]).collect();
            return T::kernel((*self).into(), &operands).map(Some);
        }
        for axis in self.order() {
            let at = all.sizes().rank() - 2 + axis;
            let of = self.lines(axis).start;
            let length = x[of].sizes()[usize::from(differs[of])];
            let shape = Shape::new(&all.sizes().with(at, length))?;
            let line = |i: usize| seen(&x[i], at, differs[i], shape);
            let behind = self.lines(axis).map(line).collect::<Result<Vec<T>>>()?;
            let operands: Vec<&T> = std::iter::once(&all).chain(&behind).collect();
            let blend = Blend { axis: at as u8, taps: self.taps, asks: false, line: false };
            all = T::kernel(blend.into(), &operands)?;
        }
        Ok(Some(all))
    }

    fn is_linear_in(&self, i: usize) -> bool {
        i == 0
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, operands: &[Shaped]) -> Option<u64> {
        let taps = u64::from(self.taps);
        let result = self.result(operands).ok()?;
        Some(2 * taps * (taps + 1) * result.shape.numel() as u64)
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], _: &T, g: &T) -> Result<Option<T>> {
        if i > 0 {
            let text = "indices and weights of another size are numbers, and have no gradient";
            return Err(Error::new(self.name(), ErrorKind::Gradient(text.into())));
        }
        let mut back = g.clone();
        for axis in self.order().into_iter().rev() {
            let at = g.sizes().rank() - 2 + axis;
            let operands: Vec<&T> = std::iter::once(&back).chain(&x[self.lines(axis)]).collect();
            let unblend = Unblend { axis: at as u8, taps: self.taps, size: x[0].sizes()[at] };
            back = T::kernel(unblend.into(), &operands)?;
        }
        Ok(Some(back))
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
                Some(Float::F64) => cpu::resample::<f64>(*self, operands, out.cast(), result),
                // f32: other dtypes were refused when the node was made.
                Some(Float::F32 | Float::F16 | Float::BF16) | None => {
                    cpu::resample::<f32>(*self, operands, out.cast(), result)
                }
            }
        }
        Ok(())
    }

    fn cuda(&self, operands: &[Described], result: &Shaped, _: Target) -> Result<KernelPlan> {
        cuda::plan(*self, operands, result)
    }
}
