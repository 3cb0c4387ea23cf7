//! Products of floats of eight bits on GPUs that multiply these.

#[cfg(test)]
mod tests;

use super::{Described, Kernel, Operand, Shaped, Structure, Target, matmul};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use mg_device::{DType, Error, ErrorKind, Result, Shape};

/// `y[i, j] = scale_a[i] · scale_b[j] · Σ a[i, k] · b[j, k] + bias[j]`: operands `[m, k]` and `[n, k]` of floats of eight bits, then both scales (f32: a number each
/// without axes, or `[m]` and `[n]`), then the bias (f32, `[n]`), if there is one. Products are added up in f32, and the sum is rounded once.
///
/// Only a GPU of compute capability 9.0 has a kernel: [`Scaled::is_taken`] is asked before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Scaled {
    /// The result's dtype: f32 or bf16.
    pub result: DType,
    /// Whether sums may be those of the tensor cores alone, which have fewer bits than f32.
    pub fast: bool,
}

impl Scaled {
    /// Whether there is a kernel for operands `[m, k]` and `[n, k]` of these dtypes, on a device of this capability: rows of operands and
    /// result are multiples of 16 bytes.
    pub fn is_taken(self, dtypes: [DType; 2], [m, n, k]: [usize; 3], capability: (u32, u32)) -> bool {
        let pair = matches!(dtypes, [DType::F8E4M3 | DType::F8E5M2, DType::F8E4M3]);
        let result = matches!(self.result, DType::F32 | DType::BF16);
        let lines = k.is_multiple_of(16) && (n * self.result.size()).is_multiple_of(16);
        let some = m > 0 && n > 0 && k > 0;
        capability == (9, 0) && pair && result && lines && some && [m, n, k].iter().all(|&n| n < 1 << 31)
    }
}

impl Kernel for Scaled {
    fn name(&self) -> &'static str {
        "scaled_mm"
    }

    fn words(&self) -> [u64; 2] {
        [self.result as u64, self.fast.into()]
    }

    fn takes_narrow(&self) -> bool {
        true
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let fail = |text: String| Err(Error::new("scaled_mm", ErrorKind::Shape(text)));
        let Some(([a, b, scale_a, scale_b], rest)) = operands.split_first_chunk() else {
            return fail(format!("takes two operands and their scales, got {} operands", operands.len()));
        };
        let (&[m, k], &[n, of_k]) = (a.shape.dims(), b.shape.dims()) else {
            return fail(format!("takes matrices, got shapes {} and {}", a.shape, b.shape));
        };
        let scales = [scale_a.shape.dims(), scale_b.shape.dims()];
        if k != of_k || scales != [&[][..], &[]] && scales != [&[m][..], &[n]] {
            return fail(format!(
                "operands {} and {} and scales {} and {} do not fit",
                a.shape, b.shape, scale_a.shape, scale_b.shape
            ));
        }
        if rest.len() > 1 || rest.iter().any(|bias| bias.shape != [n]) {
            return fail(format!("takes a bias of shape [{n}]"));
        }
        let beside = [scale_a, scale_b].into_iter().chain(rest);
        if !a.dtype.is_narrow() || !b.dtype.is_narrow() || beside.clone().any(|x| x.dtype != DType::F32) {
            let text =
                format!("takes floats of eight bits and scales of f32, got {} and {}", a.dtype, b.dtype);
            return Err(Error::new("scaled_mm", ErrorKind::DType(text)));
        }
        Ok(Shaped { shape: Shape::new(&[m, n])?, dtype: self.result })
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, operands: &[Shaped]) -> Option<u64> {
        let [a, b, ..] = operands else { return None };
        Some(2 * a.shape.numel() as u64 * b.shape.first().copied().unwrap_or(0) as u64)
    }

    fn vjp<T: Structure>(&self, _: usize, _: &[T], _: &T, _: &T) -> Result<Option<T>> {
        let text = "products of floats of eight bits have no gradient";
        Err(Error::new("scaled_mm", ErrorKind::Gradient(text.into())))
    }

    unsafe fn cpu(&self, _: &[Operand], _: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        // Not asked for there: see `Scaled::is_taken`.
        Err(Finding::Kernel { code: 0, found: 0 })
    }

    fn cuda(&self, operands: &[Described], result: &Shaped, target: Target) -> Result<KernelPlan> {
        matmul::cuda::scaled::plan(self, operands, result, target)
    }
}
