//! Factorisations of one matrix, in f32 and f64, on slices.
//!
//! Matrices lie in row-major order, without gaps, in what is handed over and in what is answered. The work is [faer]'s; this crate
//! stands between it and the kernels, so that it is compiled once, beside the rest.
//!
//! [faer]: https://codeberg.org/sarah-quinones/faer

mod dense;
mod symmetric;

/// A float that matrices are factorised in.
pub trait Real: Copy + PartialOrd + Send + Sync + 'static {
    /// A number that counts something.
    fn of(count: usize) -> Self;

    /// The whole number that it is; `None` where it is none, or negative.
    fn as_count(self) -> Option<usize>;

    /// Whether it is 0.
    fn is_zero(self) -> bool;

    /// Whether it is a number.
    fn is_finite(self) -> bool;

    /// The power of two whose product with it is between 1 and 2; 1 for what has none.
    fn to_one(self) -> Self;

    /// Its magnitude.
    fn magnitude(self) -> Self;

    /// The product.
    fn times(self, o: Self) -> Self;

    /// −1.
    const MINUS_ONE: Self;

    /// `A = P L U` of an `m × n` matrix, in place: `U` above and on the diagonal, the unit lower triangle `L` below it. `pivots[i]` is
    /// the row, counted from 0, that row `i` was exchanged with in step `i`.
    fn lu(a: &mut [Self], m: usize, n: usize, pivots: &mut [usize]);

    /// The lower triangle `L` with `A = L Lᵀ`, of whose symmetric `n × n` matrix the lower triangle is read; zeros above it.
    ///
    /// # Errors
    ///
    /// A matrix that is not positive definite: the order of the leading minor that is not, counted from 1.
    fn cholesky(a: &mut [Self], n: usize) -> Result<(), usize>;

    /// `A = P L D Lᵀ Pᵀ` of a symmetric `n × n` matrix, in place, of which the lower triangle is read: `L` below the blocks of `D`, which have a row or
    /// two; zeros above. `pivots[i]` is the row, counted from 1, that row `i` was exchanged with; of a block of two rows both are that of the
    /// second, negative. As LAPACK's `sytrf`. Answers with the first element of `D`'s diagonal that is 0, counted from 1.
    fn ldl(a: &mut [Self], n: usize, pivots: &mut [isize]) -> Option<usize>;

    /// Of what [`Real::ldl`] has left, `L` as it is after all exchanges, `n × n`, and the inverse of `D`: its diagonal, and what stands below
    /// that. Answers with the row that each step exchanged, counted from 0.
    ///
    /// # Errors
    ///
    /// A pivot that cannot be one: its place.
    fn blocks(
        ld: &[Self],
        n: usize,
        pivots: &[Option<isize>],
        l: &mut [Self],
        inverse: [&mut [Self]; 2],
    ) -> Result<Vec<usize>, usize>;

    /// `A = Q R` of an `m × n` matrix by Householder's reflections, whose signs are LAPACK's. `q` is `m × k`, where `k` is `m`, or the
    /// smaller of `m` and `n`; empty, if it is not asked for. `r` is `k × n`.
    fn qr(a: &[Self], m: usize, n: usize, q: &mut [Self], r: &mut [Self]);

    /// `A = V diag(λ) Vᵀ` of a symmetric `n × n` matrix, of which the lower triangle is read; `λ` ascends. `v` is empty, if it is not
    /// asked for.
    ///
    /// # Errors
    ///
    /// The iteration does not converge.
    fn eigh(a: &[Self], n: usize, values: &mut [Self], v: &mut [Self]) -> Result<(), NoConvergence>;

    /// `A = U diag(σ) Vᵀ` of an `m × n` matrix; `σ` descends. `u` is `m × m` or `m × k`, `vt` is `n × n` or `k × n`, with `k` the smaller
    /// of `m` and `n`; both are empty, if they are not asked for.
    ///
    /// # Errors
    ///
    /// The iteration does not converge.
    fn svd(
        a: &[Self],
        m: usize,
        n: usize,
        u: &mut [Self],
        values: &mut [Self],
        vt: &mut [Self],
    ) -> Result<(), NoConvergence>;

    /// `X` with `A X = B`, in place of `B` (`n × k`): `A` is a triangle of an `n × n` matrix.
    fn triangular(a: &[Self], n: usize, triangle: Triangle, b: &mut [Self], k: usize);
}

/// Which part of a matrix is a triangle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Triangle {
    /// The part above the diagonal, and not that below it.
    pub upper: bool,
    /// Whether the diagonal is ones, whatever stands there.
    pub unit: bool,
    /// Whether the matrix is to be transposed first: the triangle is that of the matrix as it lies.
    pub transposed: bool,
}

/// An iteration did not converge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoConvergence;

macro_rules! real {
    ($($T:ty)*) => {$(
        impl Real for $T {
            fn of(count: usize) -> $T {
                count as $T
            }

            fn as_count(self) -> Option<usize> {
                (self >= 0.0 && self.fract() == 0.0).then_some(self as usize)
            }

            fn to_one(self) -> $T {
                match self.abs().log2().floor() {
                    exponent if exponent.is_finite() => <$T>::powi(2.0, -exponent as i32),
                    _ => 1.0,
                }
            }

            fn magnitude(self) -> $T {
                self.abs()
            }

            fn times(self, o: $T) -> $T {
                self * o
            }

            const MINUS_ONE: $T = -1.0;

            fn is_zero(self) -> bool {
                self == 0.0
            }

            fn is_finite(self) -> bool {
                <$T>::is_finite(self)
            }

            fn lu(a: &mut [$T], m: usize, n: usize, pivots: &mut [usize]) {
                dense::lu(a, m, n, pivots);
            }

            fn cholesky(a: &mut [$T], n: usize) -> Result<(), usize> {
                dense::cholesky(a, n)
            }

            fn ldl(a: &mut [$T], n: usize, pivots: &mut [isize]) -> Option<usize> {
                symmetric::ldl(a, n, pivots)
            }

            fn blocks(
                ld: &[$T],
                n: usize,
                pivots: &[Option<isize>],
                l: &mut [$T],
                inverse: [&mut [$T]; 2],
            ) -> Result<Vec<usize>, usize> {
                symmetric::blocks(ld, n, pivots, l, inverse)
            }

            fn qr(a: &[$T], m: usize, n: usize, q: &mut [$T], r: &mut [$T]) {
                dense::qr(a, m, n, q, r);
            }

            fn eigh(a: &[$T], n: usize, values: &mut [$T], v: &mut [$T]) -> Result<(), NoConvergence> {
                dense::eigh(a, n, values, v)
            }

            fn svd(
                a: &[$T],
                m: usize,
                n: usize,
                u: &mut [$T],
                values: &mut [$T],
                vt: &mut [$T],
            ) -> Result<(), NoConvergence> {
                dense::svd(a, m, n, u, values, vt)
            }

            fn triangular(a: &[$T], n: usize, triangle: Triangle, b: &mut [$T], k: usize) {
                dense::triangular(a, n, triangle, b, k);
            }
        }
    )*};
}
real!(f32 f64);
