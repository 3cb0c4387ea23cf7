//! Factorisations of matrices.
//!
//! Elimination, reflections and Cholesky's factorisation are done where the matrices are ([`Factor::has_cuda`]). Others iterate, or wait more on a GPU than they
//! compute, and are the host's on every device: operands on another one are copied there and the answers back, which whoever calls
//! this sees to. There is no gradient: [`Known`](super::Known) says how what comes of it depends on the matrix.
//!
//! What a factorisation answers with lies together in a line of numbers for each matrix, part after part: see
//! [`Factor::parts`].

#[cfg(feature = "linalg")]
mod cpu;
mod cuda;
mod qr;
#[cfg(test)]
mod tests;

pub(super) use cuda::ahead;

use super::{Described, Kernel, Operand, Shaped, Structure, Target};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use smallvec::{SmallVec, smallvec};

/// Which factorisation. Of an `m × n` matrix, with `k` the smaller of `m` and `n`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum FactorKind {
    /// `A = P L U` by elimination with row exchanges. Parts: `L` (below the diagonal) and `U` in one `m × n` matrix; for each of `k`
    /// steps the row that was exchanged, counted from 1; the `m` rows of `A` in the order of those of `L U`, and the inverse of that
    /// order; the sign of the order; the first element of `U`'s diagonal that is 0, counted from 1, or 0.
    Lu,
    /// What row exchanges come to, which are given as a matrix of one column: for each step the row that was exchanged, counted from
    /// 1. Parts: the rows' order and the inverse of that order.
    Order {
        /// How many rows there are.
        rows: u32,
    },
    /// `A = L Lᵀ`, of whose matrix the lower triangle is read. Parts: `L`; the order of the first leading minor that is not positive
    /// definite, or 0.
    Cholesky,
    /// `A = P L D Lᵀ Pᵀ`, of whose matrix the lower triangle is read. Parts: `L` (below the blocks) and `D` (blocks of a row or two) in one matrix, zeros
    /// above; for each step the row that was exchanged, counted from 1, negative twice for a block of two rows; the first element of `D`'s diagonal that is
    /// 0, counted from 1, or 0.
    Ldl,
    /// What [`FactorKind::Ldl`] comes to, given as its first part with the second as a further column. Parts: `L`; the inverse of `D`, its diagonal
    /// and what stands below that (with a 0 at the end); the rows' order and the inverse of that order.
    Blocks,
    /// `A = Q R`. Parts: `Q` and `R`.
    Qr {
        /// Whether `Q` is `m × m` rather than `m × k`.
        complete: bool,
        /// Whether `Q` is computed.
        vectors: bool,
    },
    /// `A = V diag(λ) Vᵀ`, of whose matrix the lower triangle is read. Parts: `λ`, ascending, and `V`.
    Eigh {
        /// Whether `V` is computed.
        vectors: bool,
    },
    /// `A = U diag(σ) Vᵀ`. Parts: `σ`, descending, `U` and `Vᵀ`.
    Svd {
        /// Whether `U` is `m × m` and `V` `n × n`, rather than of `k` columns.
        complete: bool,
        /// Whether `U` and `V` are computed.
        vectors: bool,
    },
}

/// What a matrix is refused for. That a singular or eigenvalue problem does not converge always is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Demand {
    /// Nothing.
    Nothing,
    /// It is inverted, and singular.
    Inverse,
    /// Equations are solved with it, and it is singular.
    Solution,
    /// It is not positive definite.
    Definite,
    /// Its elimination met a pivot that is 0.
    Pivots,
    /// Its `D` has a 0 on the diagonal.
    Diagonal,
}

/// A factorisation of the matrices in the last two axes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Factor {
    /// Which one.
    pub kind: FactorKind,
    /// What is refused.
    pub demand: Demand,
}

/// What was refused.
#[cfg_attr(not(feature = "linalg"), allow(dead_code))]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Code {
    Inverse,
    Solution,
    Definite,
    Pivots,
    NotFinite,
    Svd,
    Eigh,
    Row,
    Diagonal,
}

impl Code {
    const ALL: [Code; 9] = [
        Code::Inverse,
        Code::Solution,
        Code::Definite,
        Code::Pivots,
        Code::NotFinite,
        Code::Svd,
        Code::Eigh,
        Code::Row,
        Code::Diagonal,
    ];
}

/// What a code and the place that was found with it mean.
fn meaning(code: i64, found: i64) -> ErrorKind {
    let Some(code) = Code::ALL.into_iter().find(|&known| known as i64 == code) else {
        return ErrorKind::Internal(format!(
            "a factorisation has refused something by the unknown code {code}"
        ));
    };
    // The matrix, counted from 1, of several; and the place in it.
    let (matrix, at) = (found >> 32, found & 0xffff_ffff);
    let element = if matrix > 0 { format!("(Batch element {}): ", matrix - 1) } else { String::new() };
    let text = match code {
        Code::Inverse => format!(
            "The diagonal element {at} is zero, the inversion could not be completed because the input matrix is singular."
        ),
        Code::Solution => "The solver failed because the input matrix is singular.".into(),
        Code::Definite => format!(
            "The factorization could not be completed because the input is not positive-definite (the leading minor of \
             order {at} is not positive-definite)."
        ),
        Code::Pivots => {
            format!(
                "U[{at},{at}] is zero and using it on lu_solve would result in a division by zero. If you still want to \
                 perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
            )
        }
        Code::Diagonal => format!(
            "D[{at},{at}] is zero: a system with the matrix has no solution. The factorization is there by linalg.ldl_factor_ex(A)."
        ),
        Code::NotFinite => {
            "The algorithm failed to converge because the input matrix contained non-finite values.".into()
        }
        Code::Row => format!("pivot {at} names a row that is not there, or was passed"),
        Code::Svd | Code::Eigh => {
            "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated \
             values."
                .into()
        }
    };
    ErrorKind::Singular(element + &text)
}

impl Factor {
    /// The shapes of the parts of an answer, for a matrix of `m` rows and `n` columns, in the order in which they lie.
    pub fn parts(&self, m: usize, n: usize) -> SmallVec<[Shape; 6]> {
        let (k, number) = (m.min(n), Shape::of(&[1]));
        let side = |complete: bool, whole: usize| if complete { whole } else { k };
        match self.kind {
            FactorKind::Lu => smallvec![
                Shape::of(&[m, n]),
                Shape::of(&[k]),
                Shape::of(&[m]),
                Shape::of(&[m]),
                number,
                number
            ],
            FactorKind::Order { rows } => smallvec![Shape::of(&[rows as usize]), Shape::of(&[rows as usize])],
            FactorKind::Cholesky => smallvec![Shape::of(&[n, n]), number],
            FactorKind::Ldl => smallvec![Shape::of(&[n, n]), Shape::of(&[n]), number],
            FactorKind::Blocks => {
                let line = Shape::of(&[m]);
                smallvec![Shape::of(&[m, m]), line, line, line, line]
            }
            FactorKind::Qr { complete, vectors } => {
                let rows = side(complete, m);
                let q = if vectors { Shape::of(&[m, rows]) } else { Shape::of(&[0, 0]) };
                smallvec![q, Shape::of(&[rows, n])]
            }
            FactorKind::Eigh { vectors: true } => smallvec![Shape::of(&[n]), Shape::of(&[n, n])],
            FactorKind::Eigh { vectors: false } => smallvec![Shape::of(&[n])],
            FactorKind::Svd { complete, vectors: true } => smallvec![
                Shape::of(&[k]),
                Shape::of(&[m, side(complete, m)]),
                Shape::of(&[side(complete, n), n])
            ],
            FactorKind::Svd { vectors: false, .. } => smallvec![Shape::of(&[k])],
        }
    }

    /// Whether matrices of these shapes are factorised by a CUDA device where they lie there.
    pub fn has_cuda(&self, shape: &Shape) -> bool {
        let Some((_, &[m, n])) = shape.split_last_chunk::<2>() else { return false };
        // What has no elements is nothing to launch for, but has an answer.
        let some = m > 0 && n > 0;
        match self.kind {
            FactorKind::Cholesky => some,
            FactorKind::Lu => some && m <= cuda::MOST_ROWS,
            FactorKind::Qr { .. } => some && m <= qr::MOST_ROWS,
            FactorKind::Order { .. }
            | FactorKind::Ldl
            | FactorKind::Blocks
            | FactorKind::Eigh { .. }
            | FactorKind::Svd { .. } => false,
        }
    }

    /// What a matrix is refused for that has a number which is not 0.
    fn code(&self) -> Option<Code> {
        match self.demand {
            Demand::Nothing => None,
            Demand::Inverse => Some(Code::Inverse),
            Demand::Solution => Some(Code::Solution),
            Demand::Definite => Some(Code::Definite),
            Demand::Pivots => Some(Code::Pivots),
            Demand::Diagonal => Some(Code::Diagonal),
        }
    }

    fn fail<T>(&self, kind: ErrorKind) -> Result<T> {
        Err(Error::new(self.name(), kind))
    }
}

impl Kernel for Factor {
    fn name(&self) -> &'static str {
        match self.kind {
            FactorKind::Lu => "lu",
            FactorKind::Order { .. } => "pivots",
            FactorKind::Cholesky => "cholesky",
            FactorKind::Ldl => "ldl_factor",
            FactorKind::Blocks => "ldl_solve",
            FactorKind::Qr { .. } => "qr",
            FactorKind::Eigh { .. } => "eigh",
            FactorKind::Svd { .. } => "svd",
        }
    }

    fn words(&self) -> [u64; 2] {
        let two = |a: bool, b: bool| u64::from(a) | u64::from(b) << 1;
        let kind = match self.kind {
            FactorKind::Lu => 0,
            FactorKind::Cholesky => 1,
            FactorKind::Qr { complete, vectors } => 2 | two(complete, vectors) << 4,
            FactorKind::Eigh { vectors } => 3 | two(false, vectors) << 4,
            FactorKind::Svd { complete, vectors } => 4 | two(complete, vectors) << 4,
            FactorKind::Order { rows } => 5 | u64::from(rows) << 4,
            FactorKind::Ldl => 6,
            FactorKind::Blocks => 7,
        };
        [kind, self.demand as u64]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let [Shaped { shape, dtype }] = operands else {
            return self.fail(ErrorKind::Value(format!("takes one operand, got {}", operands.len())));
        };
        let rank = shape.rank();
        if rank < 2 {
            return self.fail(ErrorKind::Shape(format!("takes matrices, got shape {shape}")));
        }
        if !matches!(dtype, DType::F32 | DType::F64) {
            return self.fail(ErrorKind::DType(format!("takes f32 and f64, got {dtype}")));
        }
        let (m, n) = (shape[rank - 2], shape[rank - 1]);
        if m != n && matches!(self.kind, FactorKind::Cholesky | FactorKind::Ldl | FactorKind::Eigh { .. }) {
            return self.fail(ErrorKind::Shape(format!("takes square matrices, got shape {shape}")));
        }
        if matches!(self.kind, FactorKind::Order { .. }) && n != 1 {
            return self.fail(ErrorKind::Shape(format!("takes pivots as columns, got shape {shape}")));
        }
        if self.kind == FactorKind::Blocks && n != m + 1 {
            return self
                .fail(ErrorKind::Shape(format!("takes matrices with their pivots, got shape {shape}")));
        }
        if cfg!(not(feature = "linalg")) {
            let text = "factorisations are not built in: the feature `linalg` is off";
            return self.fail(ErrorKind::Value(text.into()));
        }
        // Rows are counted in the matrix' own dtype.
        if m.max(n) >= 1 << 24 {
            let text = format!("a matrix of {m} by {n}: sizes have to be below 2^24");
            return self.fail(ErrorKind::Shape(text));
        }
        let length = self.parts(m, n).iter().map(Shape::numel).sum();
        Ok(Shaped { shape: shape.remove(rank - 1).with(rank - 2, length), dtype: *dtype })
    }

    fn with_batch(&self) -> Option<super::Library> {
        // Whatever is before the last two axes counts matrices.
        Some((*self).into())
    }

    fn checks(&self) -> Checks {
        let code = match self.kind {
            FactorKind::Lu | FactorKind::Cholesky | FactorKind::Ldl => self.code(),
            FactorKind::Qr { .. } => None,
            FactorKind::Order { .. } | FactorKind::Blocks => Some(Code::Row),
            FactorKind::Eigh { .. } => Some(Code::Eigh),
            FactorKind::Svd { .. } => Some(Code::Svd),
        };
        code.map_or(Checks::Nothing, |code| Checks::Own { code: code as i64, meaning })
    }

    fn flops(&self, operands: &[Shaped]) -> Option<u64> {
        let shape = operands.first()?.shape;
        let (batch, [m, n]) = shape.split_last_chunk::<2>()?;
        let (m, n, batch) = (*m as u64, *n as u64, batch.iter().product::<usize>() as u64);
        let (small, large) = (m.min(n), m.max(n));
        Some(
            batch
                * match self.kind {
                    FactorKind::Lu => small * small * large - small * small * small / 3,
                    FactorKind::Cholesky | FactorKind::Ldl => n * n * n / 3,
                    FactorKind::Order { .. } | FactorKind::Blocks => 0,
                    FactorKind::Qr { .. } => 4 * small * small * large - 4 * small * small * small / 3,
                    FactorKind::Eigh { .. } => 9 * n * n * n,
                    FactorKind::Svd { .. } => 4 * large * small * small + 18 * small * small * small,
                },
        )
    }

    fn vjp<T: Structure>(&self, _: usize, _: &[T], _: &T, _: &T) -> Result<Option<T>> {
        Ok(None)
    }

    #[cfg(feature = "linalg")]
    unsafe fn cpu(&self, operands: &[Operand], out: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        // SAFETY: this function's contract.
        unsafe { cpu::factor(self, operands, out) }
    }

    // Nothing has been made that could be computed: see `result`.
    #[cfg(not(feature = "linalg"))]
    unsafe fn cpu(&self, _: &[Operand], _: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        Ok(())
    }

    fn cuda(&self, operands: &[Described], result: &Shaped, _: Target) -> Result<KernelPlan> {
        match operands {
            [x] if result.shape.numel() == 0 || self.has_cuda(x.layout.shape()) => {
                cuda::plan(self, x, result)
            }
            _ => self.fail(ErrorKind::Internal("this factorisation is the host's".into())),
        }
    }
}
