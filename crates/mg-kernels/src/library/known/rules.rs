//! The gradients of what factorisations answer with.

use super::{Known, Rule};
use crate::library::{Structure, Triangular};
use crate::rows::{Row, Rules};
use mg_device::{Error, ErrorKind, Result, Shape};

/// The matrices in the last two axes, transposed.
pub(crate) fn transposed<T: Structure>(x: &T) -> Result<T> {
    let rank = x.sizes().rank();
    let mut axes: smallvec::SmallVec<[usize; 8]> = (0..rank).collect();
    axes.swap(rank - 1, rank - 2);
    x.permuted(&axes)
}

/// The rows and columns of the matrices in the last two axes, counted.
fn positions<T: Structure>(x: &T) -> (T, T) {
    let shape = x.sizes();
    let rank = shape.rank();
    (x.ramp(Shape::of(&[shape[rank - 2], 1])), x.ramp(Shape::of(&[1, shape[rank - 1]])))
}

/// A triangle of matrices, with the diagonal or strictly without it; zeros elsewhere.
pub(crate) fn part_of<T: Structure>(x: &T, upper: bool, strict: bool) -> T {
    let (row, column) = positions(x);
    let (below, above) = (column.lt(&row), row.lt(&column));
    let zero = x.lit(0.0);
    match (upper, strict) {
        (true, false) => below.choose(&zero, x),
        (true, true) => above.choose(x, &zero),
        (false, false) => above.choose(&zero, x),
        (false, true) => below.choose(x, &zero),
    }
}

/// Matrices with another diagonal, of what broadcasts to them.
fn with_diagonal<T: Structure>(x: &T, diagonal: &T) -> T {
    let (row, column) = positions(x);
    row.eq(&column).choose(diagonal, x)
}

/// Numbers as the entries of a row, or of a column, of matrices.
fn as_row<T: Structure>(x: &T) -> Result<T> {
    let shape = x.sizes();
    x.reshaped(shape.insert(shape.rank() - 1, 1))
}

fn as_column<T: Structure>(x: &T) -> Result<T> {
    let shape = x.sizes();
    x.reshaped(shape.insert(shape.rank(), 1))
}

/// How much a gradient asks of each matrix of vectors: 0 where nothing is asked of any of them, as where only values are read.
fn asked<T: Structure>(g: &T) -> Result<T> {
    g.map(Row::Abs).summed()
}

/// `x / y` of what is asked of vectors: 0 where that is nothing. Where it is something, vectors that are not determined have no gradient, and the quotient
/// by what lies between their values is not finite.
fn quotient<T: Structure>(x: &T, y: &T, asked: &T) -> T {
    let (zero, one) = (x.lit(0.0), x.lit(1.0));
    // Nothing else is left out: what is differentiated by a gradient of 0 is that of any other.
    x.div(&y.eq(&zero).choose(&asked.eq(&zero).choose(&one, y), y))
}

/// The parts of lines that [`Factor::parts`](crate::library::Factor::parts) describes: of the shapes that are given.
fn split<T: Structure, const N: usize>(x: &T, parts: [&[usize]; N]) -> Result<[T; N]> {
    let shape = x.sizes();
    let axis = shape.rank() - 1;
    let mut at = 0;
    let mut taken = |sizes: &[usize]| -> Result<T> {
        let length = sizes.iter().product();
        let part = x.part(axis, at, length)?;
        at += length;
        let lead = shape.remove(axis);
        part.reshaped(sizes.iter().fold(lead, |shape, &n| shape.insert(shape.rank(), n)))
    };
    let found = parts.iter().map(|part| taken(part)).collect::<Result<Vec<T>>>()?;
    found.try_into().map_err(|_| Error::new("factor", ErrorKind::Internal("parts of a factorisation".into())))
}

fn triangular<T: Structure>(upper: bool, unit: bool, transposed: bool, a: &T, b: &T) -> Result<T> {
    T::kernel(Triangular { upper, unit, transposed }.into(), &[a, b])
}

/// `A = P L U` of square matrices: `L` and `U` in one matrix; the rows of `A` in the order of those of `L U`, and the inverse of that
/// order (i64).
#[derive(Clone)]
pub struct Elimination<T> {
    /// `L` and `U`.
    pub lu: T,
    /// The rows.
    pub order: T,
    /// The inverse of the order.
    pub inverse: T,
}

/// `X` with `A X = B`, or with `Aᵀ X = B`, of what is known of `A`: without a gradient of `A`.
///
/// # Errors
///
/// Shapes that do not fit.
pub fn solved<T: Structure>(e: &Elimination<T>, b: &T, transposed: bool) -> Result<T> {
    match transposed {
        false => {
            let below = triangular(false, true, false, &e.lu, &b.rows_at(&e.order)?)?;
            triangular(true, false, false, &e.lu, &below)
        }
        true => {
            let above = triangular(true, false, true, &e.lu, b)?;
            triangular(false, true, true, &e.lu, &above)?.rows_at(&e.inverse)
        }
    }
}

/// `X` with `A X = B`, or with `Aᵀ X = B`, and how it depends on both.
fn solution<T: Structure>(e: &Elimination<T>, a: &T, b: &T, transposed: bool) -> Result<T> {
    let value = solved(e, b, transposed)?;
    let rule = Rule::Solve { transposed };
    T::kernel(Known { rule }.into(), &[&value, a, b, &e.lu, &e.order, &e.inverse])
}

/// `g A⁻ᵀ`: numbers times the inverse of the transpose.
fn of_determinant<T: Structure>(e: &Elimination<T>, a: &T, g: &T) -> Result<T> {
    let shape = a.sizes();
    let number = as_column(&as_column(g)?)?;
    let zeros = a.filled(0.0, shape)?;
    let scaled = with_diagonal(&zeros, &number);
    solution(e, a, &scaled, true)
}

/// An elimination's parts, among the operands of a kernel.
fn elimination_in<T: Structure>(x: &[T]) -> Elimination<T> {
    Elimination { lu: x[0].clone(), order: x[1].clone(), inverse: x[2].clone() }
}

/// Numbers times the cofactors of matrices, `g det(A) A⁻ᵀ`: of a singular matrix those of one nearby. `of` is what [`Rule::Det`] knows behind `A`.
fn cofactors<T: Structure>(a: &T, g: &T, of: &[T]) -> Result<T> {
    let number = as_column(&as_column(&g.mul(&of[3]))?)?;
    let scaled = with_diagonal(&a.filled(0.0, a.sizes())?, &number);
    let value = solved(&elimination_in(of), &scaled, true)?;
    let operands: Vec<&T> = [&value, a, g].into_iter().chain(of).collect();
    T::kernel(Known { rule: Rule::Cofactors }.into(), &operands)
}

/// What the cofactors of matrices change by, `g` being what the matrices change by (or the other way round: it is symmetric).
///
/// `det(A + E) = ± det(Σ + Uᵀ E Vᵀ)`, whose cofactors are products of singular values: without a quotient, so that it holds of matrices that have no inverse.
/// Others have it by way of the inverse, which is differentiable where singular values are alike.
fn slope_of_cofactors<T: Structure>(a: &T, g: &T, of: &[T]) -> Result<T> {
    let shape = a.sizes();
    let (lead, n) = (shape.rank() - 2, shape[shape.rank() - 1]);
    let svd = T::kernel(Known { rule: Rule::Svd { complete: false } }.into(), &[&of[4], a])?;
    let [s, u, vt] = split(&svd, [&[n], &[n, n], &[n, n]])?;
    // The products of all singular values but two, and 0 where these are one.
    let ramp = |axis: usize| a.ramp(Shape::of(&[1; 3]).with(axis, n));
    let (zero, one) = (a.lit(0.0), a.lit(1.0));
    let others = as_row(&as_row(&s)?)?;
    let others = ramp(2).eq(&ramp(0)).choose(&one, &ramp(2).eq(&ramp(1)).choose(&one, &others));
    let products = with_diagonal(&others.multiplied()?.reshaped(shape)?, &zero);
    let inner = transposed(&u)?.matmul(g)?.matmul(&transposed(&vt)?)?;
    let (row, column) = positions(a);
    let on = row.eq(&column);
    let diagonal = on.choose(&inner, &zero).matmul(&a.filled(1.0, shape.with(lead + 1, 1))?)?;
    let inner = with_diagonal(&transposed(&products.mul(&inner))?.neg(), &products.matmul(&diagonal)?);
    let near = u.matmul(&inner)?.matmul(&vt)?.mul(&as_column(&as_column(&of[5])?)?);
    // det · (the trace of A⁻ᵀ gᵀ − A⁻ᵀ gᵀ) A⁻ᵀ.
    let number = of[3].filled(1.0, of[3].sizes())?;
    let all = cofactors(a, &number, of)?;
    let inner = solution(&elimination_in(of), a, &transposed(g)?, true)?;
    let far = on.choose(&inner, &zero).summed()?.mul(&all).sub(&inner.matmul(&all)?);
    let (most, least) = (s.part(lead, 0, 1)?, s.part(lead, n - 1, 1)?);
    let is_far = most.scale(a.dtype().epsilon().powf(0.25)).lt(&least);
    Ok(as_column(&is_far)?.choose(&far, &near))
}

pub(super) fn vjp<T: Structure>(rule: Rule, i: usize, x: &[T], y: &T, g: &T) -> Result<Option<T>> {
    if i == 0 || x.len() < 2 {
        return Ok(None);
    }
    let a = &x[1];
    let shape = a.sizes();
    let rank = shape.rank();
    let (m, n) = (shape[rank - 2], shape[rank - 1]);
    match (rule, i) {
        (Rule::Solve { transposed: t }, 1 | 2) => {
            // With C = A⁻ᵀ g, the gradient of B, that of A is −C Xᵀ; −X Cᵀ where A was transposed.
            let by_b = solution(&elimination_in(&x[3..]), a, g, !t)?;
            Ok(Some(match (i, t) {
                (2, _) => by_b,
                (_, false) => by_b.matmul(&transposed(y)?)?.neg(),
                (_, true) => y.matmul(&transposed(&by_b)?)?.neg(),
            }))
        }
        (Rule::Det, 1) if x.len() > 6 => cofactors(a, g, &x[2..]).map(Some),
        (Rule::Det, 1) => of_determinant(&elimination_in(&x[2..]), a, &g.mul(&x[5])).map(Some),
        (Rule::Cofactors, 1) if n == 0 => Ok(None),
        (Rule::Cofactors, 1) => {
            Ok(Some(slope_of_cofactors(a, g, &x[3..])?.mul(&as_column(&as_column(&x[2])?)?)))
        }
        (Rule::Cofactors, 2) => {
            let number = &x[2];
            let each = cofactors(a, &number.filled(1.0, number.sizes())?, &x[3..])?.mul(g);
            each.summed()?.reshaped(number.sizes()).map(Some)
        }
        (Rule::LogDet, 1) => of_determinant(&elimination_in(&x[2..]), a, g).map(Some),
        (Rule::Lu, 1) => {
            // L⁻ᵀ (the strict lower triangle of Lᵀ g + the upper triangle of g Uᵀ) U⁻ᵀ.
            let (lower, upper) = (part_of(y, false, true), part_of(y, true, false));
            let l = with_diagonal(&lower, &y.lit(1.0));
            let left = transposed(&l)?.matmul(&part_of(g, false, true))?;
            let right = part_of(g, true, false).matmul(&transposed(&upper)?)?;
            let inner = part_of(&left, false, true).add(&part_of(&right, true, false));
            let inner = triangular(false, true, true, y, &inner)?;
            Ok(Some(transposed(&triangular(true, false, false, y, &transposed(&inner)?)?)?))
        }
        (Rule::Cholesky, 1) => {
            // ½ L⁻ᵀ (Φ + its transpose below the diagonal) L⁻¹, with Φ the lower triangle of Lᵀ g.
            let inner = transposed(y)?.matmul(g)?;
            let below = part_of(&inner, false, true);
            let inner = part_of(&inner, false, false).add(&transposed(&below)?);
            let left = triangular(false, false, true, y, &inner)?;
            let both = transposed(&triangular(false, false, true, y, &transposed(&left)?)?)?;
            Ok(Some(both.scale(0.5)))
        }
        (Rule::Qr, 1) => {
            let [q, r] = split(y, [&[m, n], &[n, n]])?;
            let [gq, gr] = split(g, [&[m, n], &[n, n]])?;
            let inner = gr.matmul(&transposed(&r)?)?.sub(&transposed(&q)?.matmul(&gq)?);
            let above = part_of(&inner, true, true);
            let inner = part_of(&inner, true, false).add(&transposed(&above)?);
            let left = q.matmul(&inner)?.add(&gq);
            Ok(Some(transposed(&triangular(true, false, false, &r, &transposed(&left)?)?)?))
        }
        (Rule::Eigh, 1) => {
            let [values, v] = split(y, [&[n], &[n, n]])?;
            let [by_values, by_v] = split(g, [&[n], &[n, n]])?;
            // A change of V that keeps it orthogonal is V times a skew matrix.
            let inner = transposed(&v)?.matmul(&by_v)?;
            let inner = inner.sub(&transposed(&inner)?).scale(0.5);
            let gap = as_row(&values)?.sub(&as_column(&values)?);
            // On the diagonal there is no gap, and nothing is asked of it.
            let gap = with_diagonal(&gap, &gap.lit(1.0));
            let inner = quotient(&inner, &gap, &asked(&by_v)?);
            let inner = with_diagonal(&inner, &as_row(&by_values)?);
            Ok(Some(v.matmul(&inner)?.matmul(&transposed(&v)?)?))
        }
        (Rule::Svd { complete }, 1) => {
            let k = m.min(n);
            let (wide, high) = if complete { (m, n) } else { (k, k) };
            let parts: [&[usize]; 3] = [&[k], &[m, wide], &[high, n]];
            let ([s, u, vt], [by_s, by_u, by_vt]) = (split(y, parts)?, split(g, parts)?);
            let narrow =
                |u: &T, vt: &T| -> Result<(T, T)> { Ok((u.part(rank - 1, 0, k)?, vt.part(rank - 2, 0, k)?)) };
            let ((u, vt), (by_u, by_vt)) = (narrow(&u, &vt)?, narrow(&by_u, &by_vt)?);
            let (row, column) = (as_row(&s)?, as_column(&s)?);
            let gap = row.map(Row::Square).sub(&column.map(Row::Square));
            let gap = with_diagonal(&gap, &gap.lit(1.0));
            let (of_u, of_v) = (asked(&by_u)?, asked(&by_vt)?);
            let skew = |x: &T, asked: &T| -> Result<T> { Ok(quotient(&x.sub(&transposed(x)?), &gap, asked)) };
            let (on_u, on_v) = (transposed(&u)?.matmul(&by_u)?, vt.matmul(&transposed(&by_vt)?)?);
            let inner = skew(&on_u, &of_u)?.mul(&row).add(&column.mul(&skew(&on_v, &of_v)?));
            let inner = with_diagonal(&inner, &as_row(&by_s)?);
            let mut left = u.matmul(&inner)?;
            if m > k {
                // What of the gradient is in none of U's columns.
                let rest = by_u.sub(&u.matmul(&on_u)?);
                left = left.add(&quotient(&rest, &row.expanded(by_u.sizes())?, &of_u));
            }
            let mut all = left.matmul(&vt)?;
            if n > k {
                let rest = by_vt.sub(&transposed(&on_v)?.matmul(&vt)?);
                all = all.add(&u.matmul(&quotient(&rest, &column.expanded(by_vt.sizes())?, &of_v))?);
            }
            Ok(Some(all))
        }
        (Rule::Pinv, 1) => {
            // Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
            // separate" (1973).
            let (p, pt, gt) = (y, transposed(y)?, transposed(g)?);
            Ok(Some(if m <= n {
                let k = gt.matmul(p)?;
                let on = k.matmul(&pt)?;
                let first = transposed(&p.matmul(&k)?)?.neg().add(&on);
                let second = a.matmul(p)?.matmul(&on)?;
                let third = pt.matmul(p)?.matmul(&gt.sub(&k.matmul(a)?))?;
                first.sub(&second).add(&third)
            } else {
                let k = p.matmul(&gt)?;
                let on = pt.matmul(&k)?;
                let first = transposed(&k.matmul(p)?)?.neg();
                let second = gt.sub(&a.matmul(&k)?).matmul(p)?.matmul(&pt)?;
                let third = on.sub(&on.matmul(p)?.matmul(a)?);
                first.add(&second).add(&third)
            }))
        }
        (Rule::Ldl, 1) => {
            let text = "L and D of ldl_factor have no gradient: those of lu_factor and cholesky have, and solutions by solve";
            Err(Error::new("ldl_factor", ErrorKind::Gradient(text.into())))
        }
        // What belongs to the values that are known.
        (
            Rule::Solve { .. }
            | Rule::Det
            | Rule::Cofactors
            | Rule::LogDet
            | Rule::Lu
            | Rule::Cholesky
            | Rule::Qr
            | Rule::Eigh
            | Rule::Svd { .. }
            | Rule::Pinv
            | Rule::Ldl,
            _,
        ) => Ok(None),
    }
}
