//! Which weights of attention stay where some are left out at random.

mod cpu;
mod cuda;
#[cfg(test)]
pub(super) mod tests;

use super::{Described, Kernel, Library, Operand, Shaped, Structure, Target};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use mg_device::{DType, Error, ErrorKind, Result, Shape};

pub(crate) use cpu::{BESIDE, numbers};

/// Truth values `[…, rows, columns]`, of words drawn for matrices `[…, 2]` (i64, from 0 to 2³² − 1): whether the number of a weight is at least `left_out`.
///
/// Numbers have 16 bits. Those of eight neighbouring columns of a row are the halves of a block of Philox4x32-10 with the key 0: first the lower halves of its four
/// words, then the upper ones. The block's counter is the number of these eight, the row, and the two words. So a part of a matrix, from a row on, is that part of the whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Thin {
    /// The first row.
    pub first: usize,
    /// How many rows there are.
    pub rows: usize,
    /// How many columns there are.
    pub columns: usize,
    /// How many of [`Thin::ALL`] numbers stand for what is left out.
    pub left_out: u32,
}

impl Thin {
    /// How many numbers there are.
    pub const ALL: u32 = 1 << 16;

    /// How many of them stand for a probability: the nearest count.
    ///
    /// ```
    /// use mg_kernels::library::Thin;
    ///
    /// assert_eq!([0.0, 0.1, 1.0].map(Thin::share_of), [0, 6554, 65536]);
    /// ```
    pub fn share_of(p: f64) -> u32 {
        (p.clamp(0.0, 1.0) * f64::from(Thin::ALL)).round() as u32
    }

    /// What those that stay are multiplied by, so that the mean stays the same: 0 where none stays.
    ///
    /// ```
    /// use mg_kernels::library::Thin;
    ///
    /// assert_eq!([0, 16384, 65536].map(Thin::times), [1.0, 4.0 / 3.0, 0.0]);
    /// ```
    pub fn times(left_out: u32) -> f64 {
        match Thin::ALL.saturating_sub(left_out) {
            0 => 0.0,
            staying => f64::from(Thin::ALL) / f64::from(staying),
        }
    }
}

impl Kernel for Thin {
    fn name(&self) -> &'static str {
        "scaled_dot_product_attention"
    }

    fn words(&self) -> [u64; 2] {
        [self.first as u64 | (self.rows as u64) << 32, self.columns as u64 | u64::from(self.left_out) << 32]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let fail = |text| Err(Error::new(self.name(), ErrorKind::Shape(text)));
        let [words] = operands else {
            return fail(format!("takes the words of matrices, got {} operands", operands.len()));
        };
        let Some((2, lead)) = words.shape.dims().split_last().map(|(n, lead)| (*n, lead)) else {
            return fail(format!("takes two words of each matrix, got shape {}", words.shape));
        };
        if words.dtype != DType::I64 {
            let text = format!("takes words as i64, got {}", words.dtype);
            return Err(Error::new(self.name(), ErrorKind::DType(text)));
        }
        if [self.first + self.rows, self.columns].iter().any(|&n| n >= 1 << 31) {
            return fail(format!("{} rows and {} columns are too many", self.rows, self.columns));
        }
        let all: smallvec::SmallVec<[usize; 8]> =
            lead.iter().copied().chain([self.rows, self.columns]).collect();
        Ok(Shaped { shape: Shape::new(&all)?, dtype: DType::Bool })
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

    fn vjp<T: Structure>(&self, _: usize, _: &[T], _: &T, _: &T) -> Result<Option<T>> {
        Ok(None)
    }

    unsafe fn cpu(&self, operands: &[Operand], out: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        if let [words] = operands {
            // SAFETY: this function's contract.
            unsafe { cpu::thin(self, words, out) };
        }
        Ok(())
    }

    fn cuda(&self, operands: &[Described], result: &Shaped, _: Target) -> Result<KernelPlan> {
        cuda::plan(self, operands, result)
    }
}
