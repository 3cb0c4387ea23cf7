//! A value that was computed elsewhere, and how it depends on its operands.
//!
//! The first operand is the value, which the result is a copy of; nothing flows back through it. The others are what it depends on, by
//! the rule that is named here. So what a factorisation answers with gets a gradient, wherever it was computed, in terms of products
//! and triangular systems on the operands' own device. The rules are those of Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
//! differentiation" (2008), and where a matrix is not square those of PyTorch.

mod rules;
#[cfg(test)]
mod tests;

use super::{Described, Kernel, Operand, Shaped, Structure, Target};
use crate::cuda::library::KernelPlan;
use crate::cuda::library::copy;
use crate::finding::{Checks, Finding};
use mg_device::{Error, ErrorKind, Layout, Result};

pub use rules::{Elimination, solved};
pub(super) use rules::{part_of, transposed};

/// How a value depends on the operands after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Rule {
    /// `X` with `A X = B`, or with `Aᵀ X = B`: `A`, `B`, then what an [`Elimination`] consists of.
    Solve {
        /// Whether it is `Aᵀ`.
        transposed: bool,
    },
    /// The determinant: `A`; an elimination of `A` whose pivots are not 0, and its determinant; and where its gradient is differentiated, `σ`, `U` and
    /// `Vᵀ` of `A`, and the determinant of `U Vᵀ`.
    Det,
    /// Numbers times the cofactors of `A`, which are the slopes of its determinant: `A`, the numbers, and all that [`Rule::Det`] may have behind `A`.
    Cofactors,
    /// The logarithm of the determinant's magnitude: `A`, and its elimination.
    LogDet,
    /// `L` and `U` (in one matrix) with `L U = A`: `A`, square, without exchanges.
    Lu,
    /// `L` with `L Lᵀ = A`: `A`.
    Cholesky,
    /// `Q` (`m × n`) and `R`, as [`Factor::parts`](super::Factor::parts) has them: `A`, of no more columns than rows.
    Qr,
    /// `λ` and `V`, as [`Factor::parts`](super::Factor::parts) has them: `A`.
    Eigh,
    /// `σ`, `U` and `Vᵀ`, as [`Factor::parts`](super::Factor::parts) has them: `A`.
    Svd {
        /// Whether `U` and `V` are square: only their first columns have a gradient.
        complete: bool,
    },
    /// The pseudoinverse: `A`.
    Pinv,
    /// What comes of `A = P L D Lᵀ Pᵀ`: a matrix. A gradient is an error.
    Ldl,
}

/// A value that is known: a copy of the first operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Known {
    /// How it depends on the others.
    pub rule: Rule,
}

impl Kernel for Known {
    fn name(&self) -> &'static str {
        match self.rule {
            Rule::Solve { .. } => "solve",
            Rule::Det | Rule::Cofactors => "det",
            Rule::LogDet => "slogdet",
            Rule::Lu => "lu",
            Rule::Cholesky => "cholesky",
            Rule::Qr => "qr",
            Rule::Eigh => "eigh",
            Rule::Svd { .. } => "svd",
            Rule::Pinv => "pinv",
            Rule::Ldl => "ldl_factor",
        }
    }

    fn words(&self) -> [u64; 2] {
        let rule = match self.rule {
            Rule::Solve { transposed } => [0, transposed.into()],
            Rule::Det => [1, 0],
            Rule::LogDet => [2, 0],
            Rule::Lu => [3, 0],
            Rule::Cholesky => [4, 0],
            Rule::Qr => [5, 0],
            Rule::Eigh => [6, 0],
            Rule::Svd { complete } => [7, complete.into()],
            Rule::Pinv => [8, 0],
            Rule::Ldl => [9, 0],
            Rule::Cofactors => [10, 0],
        };
        [rule[0], rule[1]]
    }

    fn takes_narrow(&self) -> bool {
        true
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        match operands {
            [value, ..] => Ok(*value),
            [] => Err(Error::new(self.name(), ErrorKind::Value("takes an operand".into()))),
        }
    }

    fn with_batch(&self) -> Option<super::Library> {
        // Whatever is before the last two axes counts matrices.
        Some((*self).into())
    }

    fn computed_from(&self) -> usize {
        1
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, _: &[Shaped]) -> Option<u64> {
        None
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], y: &T, g: &T) -> Result<Option<T>> {
        rules::vjp(self.rule, i, x, y, g)
    }

    unsafe fn cpu(
        &self,
        operands: &[Operand],
        out: *mut u8,
        result: &Shaped,
    ) -> std::result::Result<(), Finding> {
        if let [value, ..] = operands {
            let bytes = result.shape.numel() * result.dtype.size();
            // SAFETY: this function's contract: both lie densely and have as many elements.
            unsafe { std::ptr::copy_nonoverlapping(value.first(), out, bytes) };
        }
        Ok(())
    }

    fn cuda(&self, operands: &[Described], result: &Shaped, target: Target) -> Result<KernelPlan> {
        match operands {
            [value, ..] => {
                let align = value.align.min(target.align);
                let dense = Layout::contiguous(result.shape);
                copy::plan(result.dtype.size(), &value.layout, &dense, align)
            }
            [] => Ok(KernelPlan::default()),
        }
    }
}
