//! A few extreme eigenvalues of large symmetric matrices.

// Matrices have the names that PyTorch gives them, which are keywords in Python.
#![allow(non_snake_case)]

use super::factors::{is_differentiated, misfit, square};
use super::with_slopes_of;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result};
use mg_macros::operations;

const OP: &str = "lobpcg";
/// Iterations, unless a number is given.
const USUAL: i64 = 1000;

fn turned(x: &Tensor) -> Result<Tensor> {
    x.transpose(-2, -1)
}

fn wrong<T>(text: String) -> Result<T> {
    Err(Error::new(OP, ErrorKind::Value(text)))
}

/// Matrices whose eigenvalues are looked for, and how.
struct Search<'a> {
    a: Tensor,
    preconditioner: Option<&'a Tensor>,
    /// `L` of `B = L Lᵀ`: `a` is `L⁻¹ A L⁻ᵀ` then, and its vectors are `Lᵀ X`.
    factor: Option<Tensor>,
    /// How many vectors are improved at once.
    n: usize,
    largest: bool,
}

impl Search<'_> {
    /// The extreme eigenvalues within a space, and their vectors: of a space with an orthonormal basis, those of a small matrix.
    fn within(&self, basis: &Tensor) -> Result<(Tensor, Tensor)> {
        let (values, z) = turned(basis)?.try_matmul(&self.a.try_matmul(basis)?)?.try_eigh("L")?;
        let count = values.shape()[values.rank() - 1];
        let extreme = |x: &Tensor| -> Result<Tensor> {
            match self.largest {
                true => x.narrow(-1, (count - self.n) as isize, self.n)?.flip(&[-1]),
                false => x.narrow(-1, 0, self.n),
            }
        };
        Ok((extreme(&values)?, basis.try_matmul(&extreme(&z)?)?))
    }

    /// What leads from vectors to better ones: what is left of them, preconditioned.
    fn direction(&self, left: &Tensor) -> Result<Tensor> {
        match (self.preconditioner, &self.factor) {
            (None, _) => Ok(left.clone()),
            (Some(k), None) => k.try_matmul(left),
            (Some(k), Some(l)) => turned(l)?.try_matmul(&k.try_matmul(&l.try_matmul(left)?)?),
        }
    }

    /// The eigenvalues and vectors, from some vectors on.
    fn run(&self, start: &Tensor, k: usize, most: i64, tolerance: f64) -> Result<(Tensor, Tensor)> {
        let columns = |x: &Tensor| x.try_square()?.try_sum_dim(&[-2], true)?.try_sqrt();
        let whole = self.a.try_square()?.try_sum_dim(&[-2, -1], true)?.try_sqrt()?;
        let (mut values, mut x) = self.within(&start.try_qr("reduced")?.0)?;
        if values.numel() == 0 {
            return Ok((values, x));
        }
        let mut before: Option<Tensor> = None;
        let mut step = 0;
        loop {
            let row = values.unsqueeze(-2)?;
            let left = self.a.try_matmul(&x)?.try_sub(&x.try_mul(&row)?)?;
            let error = columns(&left)?.try_div(&whole.try_add(&row.try_abs()?)?)?.narrow(-1, 0, k)?;
            let worst = error.try_max()?.to_dtype(DType::F64).item::<f64>()?;
            // What is no number gets no better.
            if step == most || worst < tolerance || worst.is_nan() {
                return Ok((values, x));
            }
            let mut directions = vec![x.clone()];
            for direction in [Some(self.direction(&left)?), before.take()].into_iter().flatten() {
                let outside = direction.try_sub(&x.try_matmul(&turned(&x)?.try_matmul(&direction)?)?)?;
                let length = columns(&outside)?;
                let length = Tensor::where_(&length.try_eq(0i64)?, 1.0, &length)?;
                directions.push(outside.try_div(&length)?);
            }
            let basis = Tensor::cat(&directions.iter().collect::<Vec<_>>(), -1)?.try_qr("reduced")?.0;
            let (better, next) = self.within(&basis)?;
            before = Some(next.try_sub(&x.try_matmul(&turned(&x)?.try_matmul(&next)?)?)?);
            (values, x) = (better, next);
            step += 1;
        }
    }
}

/// A step of Newton's method for `A x = λ B x`, `xᵀ B x = 1`, of each pair. It has their derivatives, as often as it is done.
fn improved(a: &Tensor, b: Option<&Tensor>, values: &Tensor, x: &Tensor) -> Result<(Tensor, Tensor)> {
    let m = a.shape()[a.rank() - 1] as isize;
    // A matrix for each pair.
    let (a, b) = (a.unsqueeze(-3)?, b.map(|b| b.unsqueeze(-3)).transpose()?);
    let (x, value) = (turned(x)?.unsqueeze(-1)?, values.unsqueeze(-1)?.unsqueeze(-1)?);
    let bx = match &b {
        Some(b) => b.try_matmul(&x)?,
        None => x.clone(),
    };
    let of = match &b {
        Some(b) => b.clone(),
        None => Tensor::from_node(super::factors::identity(&a.node(), a.node().shape().remove(0))?),
    };
    let left = a.try_matmul(&x)?.try_sub(&value.try_mul(&bx)?)?;
    let length = turned(&x)?.try_matmul(&bx)?;
    let zero = length.zeros_like();
    let (side, below) = (bx.try_neg()?, turned(&bx)?.try_neg()?);
    let inner = a.try_sub(&value.try_mul(&of)?)?;
    let above = Tensor::cat(&[&inner, &side], -1)?;
    let matrix = Tensor::cat(&[&above, &Tensor::cat(&[&below, &zero], -1)?], -2)?;
    let half = length.try_sub(1.0)?.try_mul(0.5)?;
    let right = Tensor::cat(&[&left.try_neg()?, &half], -2)?;
    let change = matrix.try_solve_ex(&right, true, false)?.0;
    let next = x.try_add(&change.narrow(-2, 0, m as usize)?)?.squeeze(Some(&[-1]))?;
    let value = value.try_add(&change.narrow(-2, m, 1)?)?.squeeze(Some(&[-1]))?.squeeze(Some(&[-1]))?;
    Ok((value, turned(&next)?))
}

#[operations(LOBPCG)]
impl Tensor {
    /// The `k` largest eigenvalues (or smallest, if not `largest`), and their vectors, of symmetric matrices `[…, m, m]`: `λ`, descending (or
    /// ascending), and `X` `[…, m, k]` with `A X = B X diag(λ)` and `Xᵀ B X = I`, where `B` is positive definite, or the identity. By
    /// locally optimal block preconditioned conjugate gradients (Knyazev, 2001), from `X`, or `n` random vectors, on, with `iK` as the
    /// preconditioner, until what is left of each pair is less than `tol` (the root of the dtype's epsilon) beside `A` and `λ`, or `niter`
    /// steps (1000; −1: any number). `method` makes no difference, and no `tracker` is called. f32 and f64. Gradients of first and second order flow to `A` and `B`, by Newton's method, unless
    /// eigenvalues are equal: then they are not finite.
    ///
    /// # Errors
    ///
    /// What is no square matrix, shapes that do not fit, fewer rows than three times the vectors, a `B` that is not positive definite, other
    /// dtypes, another method.
    #[surface(
        function,
        reads,
        manners(Ignores("ortho_iparams"), Ignores("ortho_fparams"), Ignores("ortho_bparams"))
    )]
    #[allow(clippy::too_many_arguments, reason = "PyTorch's")]
    pub fn lobpcg(
        A: &Tensor,
        #[default(None)] k: Option<usize>,
        #[default(None)] B: Option<&Tensor>,
        #[default(None)] X: Option<&Tensor>,
        #[default(None)] n: Option<usize>,
        #[default(None)] iK: Option<&Tensor>,
        #[default(None)] niter: Option<i64>,
        #[default(None)] tol: Option<f64>,
        #[default(None)] largest: Option<bool>,
        #[default(None)] method: Option<&str>,
    ) -> Result<(Tensor, Tensor)> {
        let shape = A.shape();
        let m = square(OP, &shape)?;
        if !matches!(A.dtype(), DType::F32 | DType::F64) {
            let text = format!("takes f32 and f64, got {}", A.dtype());
            return Err(Error::new(OP, ErrorKind::DType(text)));
        }
        if !matches!(method, None | Some("basic" | "ortho")) {
            return wrong(format!("takes \"basic\" or \"ortho\" as method, got {:?}", method.unwrap_or("")));
        }
        for (name, other) in [("B", B), ("iK", iK)] {
            if let Some(other) = other
                && (other.shape() != shape || other.dtype() != A.dtype())
            {
                let (got, own) = (other.dtype(), A.dtype());
                return misfit(OP, format!("{name} of {got} {} beside A of {own} {shape}", other.shape()));
            }
        }
        let given = X.and_then(|x| x.shape().last().copied());
        let k = k.or(given).unwrap_or(1);
        let n = given.or(n).unwrap_or(k).max(k);
        if k == 0 || m < 3 * n {
            let text = format!("takes 1 to {} pairs of a matrix of {m} rows, got {k} of {n} vectors", m / 3);
            return wrong(text);
        }
        let lead = shape.remove(shape.rank() - 1).with(shape.rank() - 2, m).insert(shape.rank() - 1, n);
        let start = match X {
            Some(x) if x.shape() == lead && x.dtype() == A.dtype() => x.detach(),
            Some(x) => {
                let (got, own) = (x.dtype(), A.dtype());
                return misfit(OP, format!("X of {got} {} for vectors of {own} {lead}", x.shape()));
            }
            None => Tensor::randn(&lead, A.dtype())?.to(A.device())?,
        };
        let most = niter.unwrap_or(USUAL);
        let tolerance = tol.unwrap_or_else(|| A.dtype().epsilon().sqrt());
        let largest = largest.unwrap_or(true);
        let (values, vectors) = super::set_aside(|| {
            let (a, iK) = (A.detach(), iK.map(Tensor::detach));
            let factor = B.map(|b| b.detach().try_cholesky(false)).transpose()?;
            let (a, start) = match &factor {
                None => (a, start),
                Some(l) => {
                    let half = l.try_solve_triangular(&a, false, true, false)?;
                    let both = l.try_solve_triangular(&turned(&half)?, false, true, false)?;
                    (both, turned(l)?.try_matmul(&start)?)
                }
            };
            let search = Search { a, preconditioner: iK.as_ref(), factor, n, largest };
            let (values, x) = search.run(&start, k, most, tolerance)?;
            let x = match &search.factor {
                None => x,
                Some(l) => turned(l)?.try_solve_triangular(&x, true, true, false)?,
            };
            Ok::<_, Error>((values.narrow(-1, 0, k)?, x.narrow(-1, 0, k)?))
        })?;
        if !is_differentiated(&A.node()) && !B.is_some_and(|b| is_differentiated(&b.node())) {
            return Ok((values, vectors));
        }
        let symmetric = |x: &Tensor| x.try_add(&turned(x)?)?.try_mul(0.5);
        let (a, b) = (symmetric(A)?, B.map(symmetric).transpose()?);
        let (once, x) = improved(&a, b.as_ref(), &values, &vectors)?;
        let (twice, x) = improved(&a, b.as_ref(), &once, &x)?;
        let as_found =
            |found: &Tensor, other: &Tensor| Tensor::from_node(with_slopes_of(&found.node(), &other.node()));
        Ok((as_found(&values, &twice), as_found(&vectors, &x)))
    }
}
