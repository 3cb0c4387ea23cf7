//! Matrix products.

pub(crate) mod cpu;
pub mod cuda;
mod merged;
#[cfg(test)]
mod tests;

use super::{After, Alike, Described, Kernel, Operand, Shaped, Structure, Target};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use mg_device::{DType, Error, ErrorKind, MAX_RANK, Result, Shape};

pub use cuda::{Epilogue, Features, Measured, Precision, Problem, Tiles};
pub(crate) use merged::Merged;

/// `[…, m, k] · […, k, n]` with equal axes before those, however they lie; elementwise work that follows is done before the store.
/// Half types are added in f32 and rounded once; integers wrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct MatMul;

impl MatMul {
    /// The shapes that operands are broadcast to, and the result's.
    ///
    /// # Errors
    ///
    /// Operands with fewer than two axes, inner sizes that differ, batch dimensions that do not broadcast, dtypes that differ, bool.
    pub fn shapes(a: &Shaped, b: &Shaped) -> Result<[Shape; 3]> {
        let fail = |kind| Err(Error::new("matmul", kind));
        let (Some((lead_a, &[m, k])), Some((lead_b, &[inner, n]))) =
            (a.shape.split_last_chunk::<2>(), b.shape.split_last_chunk::<2>())
        else {
            let text = format!("takes tensors with two axes or more, got shapes {} and {}", a.shape, b.shape);
            return fail(ErrorKind::Shape(text));
        };
        if k != inner {
            let text = format!("shapes {} and {} do not fit: inner sizes differ", a.shape, b.shape);
            return fail(ErrorKind::Shape(text));
        }
        if a.dtype != b.dtype || a.dtype == DType::Bool {
            return fail(ErrorKind::DType(format!("does not take {} and {}", a.dtype, b.dtype)));
        }
        let batch = match (lead_a, lead_b) {
            ([], []) => Some(Shape::scalar()),
            _ => Shape::broadcast(&Shape::of(lead_a), &Shape::of(lead_b)),
        };
        let Some(batch) = batch else {
            let text = format!("batch dimensions of {} and {} do not broadcast", a.shape, b.shape);
            return fail(ErrorKind::Shape(text));
        };
        let with = |rows: usize, columns: usize| {
            if batch.rank() == 0 {
                return Shape::new(&[rows, columns]).map_err(|error| error.with_op("matmul"));
            }
            let mut sizes = [0; MAX_RANK];
            sizes[..batch.rank()].copy_from_slice(&batch);
            sizes[batch.rank()..batch.rank() + 2].copy_from_slice(&[rows, columns]);
            Shape::new(&sizes[..batch.rank() + 2]).map_err(|error| error.with_op("matmul"))
        };
        Ok([with(m, k)?, with(k, n)?, with(m, n)?])
    }
}

/// The transposes of matrices.
fn swapped<T: Structure>(of: &T) -> Result<T> {
    let rank = of.sizes().rank();
    let mut axes: smallvec::SmallVec<[usize; MAX_RANK]> = (0..rank).collect();
    axes.swap(rank - 2, rank - 1);
    of.permuted(&axes)
}

/// The product to plan.
fn problem(operands: &[Described], result: &Shaped, target: Target) -> Result<Problem> {
    let [a, b] = operands else {
        return Err(Error::new("matmul", ErrorKind::Internal("no operands".into())));
    };
    let mut problem = Problem::new(result.dtype, &a.layout, &b.layout)?;
    problem.capability = target.capability;
    problem.tiles = target.tiles;
    problem.precision = target.precision;
    problem.align = [a.align, b.align];
    problem.align_out = target.align;
    problem.epilogue = target.epilogue;
    Ok(problem)
}

impl Kernel for MatMul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn words(&self) -> [u64; 2] {
        [0, 0]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let [a, b] = operands else {
            return Err(Error::new("matmul", ErrorKind::Value("takes two operands".into())));
        };
        let [of_a, of_b, shape] = MatMul::shapes(a, b)?;
        if of_a != a.shape || of_b != b.shape {
            let text = format!("batch dimensions of {} and {} differ", a.shape, b.shape);
            return Err(Error::new("matmul", ErrorKind::Shape(text)));
        }
        Ok(Shaped { shape, dtype: a.dtype })
    }

    fn takes_any_layout(&self) -> bool {
        true
    }

    fn takes_epilogue(&self) -> bool {
        true
    }

    fn alike(&self, operands: &[Described], result: &Shaped, target: Target) -> Option<[usize; 2]> {
        cuda::alike(&problem(operands, result, target).ok()?)
    }

    fn together(&self, all: &[Alike<'_, MatMul>]) -> Result<Option<KernelPlan>> {
        let problems = all.iter().map(|one| problem(one.operands, &one.result, one.target));
        cuda::together(&problems.collect::<Result<Vec<_>>>()?)
    }

    fn is_linear_in(&self, _: usize) -> bool {
        true
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, operands: &[Shaped]) -> Option<u64> {
        let [a, b] = operands else { return None };
        Some(2 * a.shape.numel() as u64 * b.shape.last().copied().unwrap_or(0) as u64)
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], _: &T, g: &T) -> Result<Option<T>> {
        match i {
            0 => g.matmul(&swapped(&x[1])?),
            // Of a matrix that is seen transposed (`x @ w.t()`), the gradient is made the way the matrix itself lies.
            _ if x[1].is_seen_swapped() => swapped(&swapped(g)?.matmul(&x[0])?),
            _ => swapped(&x[0])?.matmul(g),
        }
        .map(Some)
    }

    unsafe fn cpu(
        &self,
        operands: &[Operand],
        out: *mut u8,
        result: &Shaped,
    ) -> std::result::Result<(), Finding> {
        if let [a, b] = operands {
            // SAFETY: this function's contract.
            unsafe { cpu::matmul(result.dtype, a.base, &a.layout, b.base, &b.layout, Some(out), None) };
        }
        Ok(())
    }

    unsafe fn cpu_then(
        &self,
        operands: &[Operand],
        out: Option<*mut u8>,
        result: &Shaped,
        after: After<'_>,
    ) -> std::result::Result<(), Finding> {
        if let [a, b] = operands {
            // SAFETY: this function's contract.
            unsafe { cpu::matmul(result.dtype, a.base, &a.layout, b.base, &b.layout, out, Some(after)) };
        }
        Ok(())
    }

    fn cuda(&self, operands: &[Described], result: &Shaped, target: Target) -> Result<KernelPlan> {
        let problem = problem(operands, result, target)?;
        let mut plan = cuda::plan(&problem)?;
        let [m, n, _] = problem.sizes();
        plan.matrix = [m, n];
        Ok(plan)
    }
}
