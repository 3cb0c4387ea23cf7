//! Systems of linear equations, inverses, determinants.

// Matrices have the names that PyTorch gives them, which are keywords in Python.
#![allow(non_snake_case)]

use super::factorization::order_of;
use super::factors::{
    Lu, SIGN, diagonal, eliminated, factored, factored_when_read, identity, is_differentiated, known, misfit,
    sides, square, together, transposed,
};
use super::{set_aside, signed};
use crate::checks::unseen;
use crate::parts::without_slope;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape, Valid};
use mg_graph::Node;
use mg_kernels::library::{Demand, FactorKind, Rule, Triangular};
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;

/// The inverses, and where an elimination met a 0.
pub(super) fn inverse_of(op: &'static str, a: &Node, demand: Demand) -> Result<(Node, Node)> {
    square(op, a.shape())?;
    let lu = eliminated(a, demand)?;
    let x = lu.solve(a, &identity(a, *a.shape())?, false)?;
    Ok((x, lu.info()?))
}

/// `X` with `A X = B`, or `X A = B`.
fn solution(
    op: &'static str,
    a: &Tensor,
    b: &Tensor,
    left: bool,
    demand: Demand,
) -> Result<(Tensor, Lu, Tensor)> {
    let (a, b) = (a.node(), b.node());
    square(op, a.shape())?;
    // As in NumPy: a vector, or vectors of a batch that fits.
    let rank = a.shape().rank();
    let is_vector =
        b.shape().rank() == 1 || b.shape().rank() + 1 == rank && b.shape()[..] == a.shape()[..rank - 1];
    if is_vector && !left {
        return misfit(op, "vectors stand on the right of the matrix: left=False takes matrices".into());
    }
    let b = if is_vector { b.reshape(b.shape().insert(b.shape().rank(), 1))? } else { b };
    let b = if left { b } else { transposed(&b)? };
    let (_, (rows, _)) = (sides(op, a.shape())?, sides(op, b.shape())?);
    if rows != a.shape()[rank - 1] {
        return misfit(op, format!("shapes {} and {} do not fit", a.shape(), b.shape()));
    }
    // A batch of right sides needs each matrix once: the factorisation is made before matrices are repeated.
    let own = a.clone();
    let (a, b) = together(op, &a, &b)?;
    let lu = match a.shape() == own.shape() {
        true => eliminated(&own, demand)?,
        false => repeated(eliminated(&own, demand)?, a.shape())?,
    };
    let x = lu.solve(&a, &b, !left)?;
    let x = if left { x } else { transposed(&x)? };
    let x = if is_vector { x.reshape(x.shape().remove(x.shape().rank() - 1))? } else { x };
    Ok((Tensor::from_node(x), lu, Tensor::from_node(own)))
}

/// An elimination for batches that it broadcasts to.
fn repeated(mut lu: Lu, shape: &Shape) -> Result<Lu> {
    let line = shape.remove(shape.rank() - 1);
    lu.elimination.lu = lu.elimination.lu.expand(*shape)?;
    lu.elimination.order = lu.elimination.order.expand(line)?;
    lu.elimination.inverse = lu.elimination.inverse.expand(line)?;
    Ok(lu)
}

/// The sign of the determinant, of the elimination's pivots.
fn sign_by(lu: &Lu, pivots: &Node) -> Result<Node> {
    let axis = 1 << (pivots.shape().rank() - 1);
    Ok(pivots.map(Row::Sign).reduce(ReduceKind::Prod, axis, false)?.mul(&lu.factored.number(SIGN)?))
}

/// The sign of the determinant.
fn sign_of(a: &Node) -> Result<Node> {
    let lu = eliminated(a, Demand::Nothing)?;
    sign_by(&lu, &diagonal(&lu.elimination.lu)?)
}

/// A determinant that is differentiated twice, of what [`Tensor::det`] made it of: with the singular values that the slopes of its slopes are of.
pub(super) fn det_of_operations(sources: &[Node]) -> Result<Option<Node>> {
    let [value, a, near, order, inverse, value_near] = sources else { return Ok(None) };
    let svd = FactorKind::Svd { complete: false, vectors: true };
    // Of what is no number the slopes are none either, and there is nothing to refuse.
    let numbers = set_aside(|| a.map(Row::Abs).lt(&a.lit(f64::INFINITY)).choose(a, &a.lit(0.0)));
    let svd = factored_when_read(&numbers, svd, Demand::Nothing)?;
    let turns = set_aside(|| Ok::<_, Error>(sign_of(&svd.part(1)?)?.mul(&sign_of(&svd.part(2)?)?)))?;
    known(Rule::Det, value, &[a, near, order, inverse, value_near, &svd.packed, &turns]).map(Some)
}

/// The sign of the determinant, and the logarithm of its magnitude.
fn sign_and_logarithm(op: &'static str, a: &Node) -> Result<(Node, Node)> {
    square(op, a.shape())?;
    let lu = eliminated(a, Demand::Nothing)?;
    let (sign, logarithm) = set_aside(|| {
        let pivots = diagonal(&lu.elimination.lu)?;
        let axis = 1 << (pivots.shape().rank() - 1);
        let logarithm = pivots.map(Row::Abs).map(Row::Log).reduce(ReduceKind::Sum, axis, false)?;
        Ok::<_, Error>((sign_by(&lu, &pivots)?, logarithm))
    })?;
    let e = &lu.elimination;
    let logarithm = known(Rule::LogDet, &logarithm, &[a, &e.lu, &e.order, &e.inverse])?;
    Ok((sign, logarithm))
}

fn triangular(a: &Node, b: &Node, upper: bool, unit: bool, transposed: bool) -> Result<Node> {
    Node::library(Triangular { upper, unit, transposed }.into(), &[a, b])
}

/// `X` with `A X = B` where `A` is a triangle, or `X A = B`.
fn triangular_solution(
    op: &'static str,
    a: &Node,
    b: &Node,
    [upper, left, unit, is_transposed]: [bool; 4],
) -> Result<Node> {
    square(op, a.shape())?;
    let rows = if left { b.clone() } else { transposed(b)? };
    let (_, (m, _)) = (sides(op, a.shape())?, sides(op, rows.shape())?);
    if m != a.shape()[a.shape().rank() - 1] {
        return misfit(op, format!("shapes {} and {} do not fit", a.shape(), b.shape()));
    }
    let (a, rows) = together(op, a, &rows)?;
    let x = triangular(&a, &rows, upper, unit, is_transposed == left)?;
    if left { Ok(x) } else { transposed(&x) }
}

fn product(sizes: &[usize]) -> usize {
    sizes.iter().product()
}

#[operations(LINEAR_SYSTEMS)]
impl Tensor {
    /// The inverses of square matrices, `[…, n, n]`. f32 and f64.
    ///
    /// # Errors
    ///
    /// What is no square matrix, a singular one, other dtypes.
    #[surface(linalg)]
    pub fn inv(&self) -> Result<Tensor> {
        Ok(Tensor::from_node(inverse_of("inv", &self.node(), Demand::Inverse)?.0))
    }

    /// The inverses of square matrices: see `linalg.inv`.
    ///
    /// # Errors
    ///
    /// What is no square matrix, a singular one, other dtypes.
    #[surface(method, function)]
    pub fn inverse(&self) -> Result<Tensor> {
        self.try_inv()
    }

    /// `inv`, and for each matrix the first pivot that is 0 (i32), counted from 1, or 0: then its inverse is none.
    ///
    /// # Errors
    ///
    /// What is no square matrix, other dtypes; with `check_errors` a singular one.
    #[surface(linalg, answers("inverse", "info"), keywords_from = "check_errors")]
    pub fn inv_ex(&self, #[default(false)] check_errors: bool) -> Result<(Tensor, Tensor)> {
        let demand = if check_errors { Demand::Inverse } else { Demand::Nothing };
        let (x, info) = inverse_of("inv_ex", &self.node(), demand)?;
        Ok((Tensor::from_node(x), Tensor::from_node(info)))
    }

    /// `X` with `A X = B`, or if not `left`, with `X A = B`: `A` is `[…, n, n]`, `B` `[…, n, k]` (or `[…, k, n]`), or a vector, or vectors of `A`'s own
    /// batch, `[…, n]`. Batches broadcast. f32 and f64.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, a singular matrix, other dtypes, unlike devices.
    #[surface(linalg, keywords_from = "left")]
    pub fn solve(&self, B: &Tensor, #[default(true)] left: bool) -> Result<Tensor> {
        Ok(solution("solve", self, B, left, Demand::Solution)?.0)
    }

    /// `solve`, and for each matrix the first pivot that is 0 (i32), counted from 1, or 0: then there is no solution.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, other dtypes, unlike devices; with `check_errors` a singular matrix.
    #[surface(linalg, answers("result", "info"), keywords_from = "left")]
    pub fn solve_ex(
        &self,
        B: &Tensor,
        #[default(true)] left: bool,
        #[default(false)] check_errors: bool,
    ) -> Result<(Tensor, Tensor)> {
        let demand = if check_errors { Demand::Solution } else { Demand::Nothing };
        let (x, lu, _) = solution("solve_ex", self, B, left, demand)?;
        Ok((x, Tensor::from_node(lu.info()?)))
    }

    /// `X` with `A X = B`, or if not `left`, with `X A = B`, where `A` is a triangle: with `upper` that above the diagonal, else that below, of a matrix
    /// of which nothing else is read; with `unitriangular` the diagonal is ones, whatever stands there. Batches broadcast. f32 and f64.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, other dtypes, unlike devices. A diagonal with a 0 is no error: there are infinities and NaN.
    #[surface(linalg, keywords_from = "upper")]
    pub fn solve_triangular(
        &self,
        B: &Tensor,
        upper: bool,
        #[default(true)] left: bool,
        #[default(false)] unitriangular: bool,
    ) -> Result<Tensor> {
        let (a, b) = (self.node(), B.node());
        let how = [upper, left, unitriangular, false];
        Ok(Tensor::from_node(triangular_solution("solve_triangular", &a, &b, how)?))
    }

    /// `X` with `A X = b` (or `Aᵀ X = b`), where `A` is a triangle; and a copy of `A`, for each matrix of the batch. The older name of `linalg.solve_triangular`.
    ///
    /// # Errors
    ///
    /// Those of `linalg.solve_triangular`.
    #[surface(method, function, answers("solution", "cloned_coefficient"))]
    pub fn triangular_solve(
        &self,
        A: &Tensor,
        #[default(true)] upper: bool,
        #[default(false)] transpose: bool,
        #[default(false)] unitriangular: bool,
    ) -> Result<(Tensor, Tensor)> {
        let (a, b) = (A.node(), self.node());
        let how = [upper, true, unitriangular, transpose];
        let x = triangular_solution("triangular_solve", &a, &b, how)?;
        let coefficient = together("triangular_solve", &a, &b)?.0.copy();
        Ok((Tensor::from_node(x), Tensor::from_node(coefficient)))
    }

    /// `X` with `A X = B` (or `X A = B`, if not `left`; or with `Aᵀ` for `A`, if `adjoint`) of what `lu_factor` answers with for `A`.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, pivots that name rows that are not there, other dtypes, unlike devices.
    #[surface(linalg, keywords_from = "left", manners(Receiver("LU")))]
    pub fn lu_solve(
        &self,
        pivots: &Tensor,
        B: &Tensor,
        #[default(true)] left: bool,
        #[default(false)] adjoint: bool,
    ) -> Result<Tensor> {
        const OP: &str = "lu_solve";
        let (lu, b) = (self.node(), B.node());
        let n = square(OP, lu.shape())?;
        if pivots.shape().dims() != &lu.shape()[..lu.shape().rank() - 1] {
            return misfit(OP, format!("pivots of shape {} for a matrix of {}", pivots.shape(), lu.shape()));
        }
        let b = if left { b } else { transposed(&b)? };
        if sides(OP, b.shape())?.0 != n {
            return misfit(OP, format!("shapes {} and {} do not fit", lu.shape(), b.shape()));
        }
        let (order, inverse) = order_of(&pivots.node(), n, lu.dtype())?;
        let (lu, b) = together(OP, &lu, &b)?;
        let line = lu.shape().remove(lu.shape().rank() - 1);
        let rows = |x: &Node, index: &Node| -> Result<Node> {
            let index = index.expand(line)?;
            let index = index.reshape(index.shape().insert(line.rank(), 1))?;
            x.gather(line.rank() - 1, &index.expand(*x.shape())?)
        };
        // X A = B is Aᵀ Xᵀ = Bᵀ.
        let x = match adjoint == left {
            false => {
                let below = triangular(&lu, &rows(&b, &order)?, false, true, false)?;
                triangular(&lu, &below, true, false, false)?
            }
            true => {
                let above = triangular(&lu, &b, true, false, true)?;
                rows(&triangular(&lu, &above, false, true, true)?, &inverse)?
            }
        };
        Ok(Tensor::from_node(if left { x } else { transposed(&x)? }))
    }

    /// `X` with `A X = B` of what `ldl_factor` answers with for `A`: `B` is `[…, n, k]`, batches broadcast. It has a gradient by `B`. No numbers here
    /// are complex: `hermitian` makes no difference.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, pivots that are no integers or that no factorisation has, other dtypes, unlike devices. A `D` with a 0 on its
    /// diagonal is no error: there are infinities and NaN.
    #[surface(linalg, keywords_from = "hermitian", manners(Receiver("LD")))]
    pub fn ldl_solve(
        &self,
        pivots: &Tensor,
        B: &Tensor,
        #[default(false)] hermitian: bool,
    ) -> Result<Tensor> {
        const OP: &str = "ldl_solve";
        let _ = hermitian;
        let (ld, b) = (self.node(), B.node());
        let n = square(OP, ld.shape())?;
        let line = ld.shape().remove(ld.shape().rank() - 1);
        if pivots.shape() != line {
            return misfit(OP, format!("pivots of shape {} for a matrix of {}", pivots.shape(), ld.shape()));
        }
        if !pivots.dtype().is_int() {
            let text = format!("takes integers as pivots, got {}", pivots.dtype());
            return Err(Error::new(OP, ErrorKind::DType(text)));
        }
        if sides(OP, b.shape())?.0 != n {
            return misfit(OP, format!("shapes {} and {} do not fit", ld.shape(), b.shape()));
        }
        let axis = line.rank();
        let packed = set_aside(|| {
            let column = pivots.node().cast(ld.dtype()).reshape(line.insert(axis, 1))?;
            factored(&Node::concat(&[&ld, &column], axis)?, FactorKind::Blocks, Demand::Nothing)
        })?;
        let l = known(Rule::Ldl, &packed.part(0)?, &[&ld])?;
        let column = |at: usize| -> Result<Node> {
            let part = packed.part(at)?;
            part.reshape(part.shape().insert(axis, 1))
        };
        let (diagonal, below) = (column(1)?, column(2)?);
        let (l, b) = together(OP, &l, &b)?;
        let rows = |x: &Node, at: usize| {
            x.gather(x.shape().rank() - 2, &column(at)?.cast(DType::I64).expand(*x.shape())?)
        };
        let y = triangular(&l, &rows(&b, 3)?, false, true, false)?;
        // What stands beside the diagonal takes the row below, or above.
        let row = y.shape().rank() - 2;
        let zero = y.lit(0.0).expand(y.shape().with(row, n.min(1)))?;
        let (most, least) = (n.saturating_sub(1), n.min(1));
        let beside = |x: &Node| below.slice(axis - 1, 0, 1, most)?.expand(*x.shape()).map(|e| e.mul(x));
        let under = Node::concat(&[&beside(&y.slice(row, least, 1, most)?)?, &zero], row)?;
        let over = Node::concat(&[&zero, &beside(&y.slice(row, 0, 1, most)?)?], row)?;
        let scaled = diagonal.expand(*y.shape())?.mul(&y).add(&under).add(&over);
        let x = triangular(&l, &scaled, false, true, true)?;
        Ok(Tensor::from_node(rows(&x, 4)?))
    }

    /// `linalg.lu_solve` with the right side first.
    ///
    /// # Errors
    ///
    /// Those of `linalg.lu_solve`.
    #[surface(method, function, name = "lu_solve")]
    pub fn lu_solve_of(&self, LU_data: &Tensor, LU_pivots: &Tensor) -> Result<Tensor> {
        LU_data.try_lu_solve(LU_pivots, self, true, false)
    }

    /// `X` with `L Lᵀ X = B`, of what `cholesky` answers with; with `upper`, `L` is its transpose.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, other dtypes, unlike devices.
    #[surface(method, function, manners(Named("input2", "L")))]
    pub fn cholesky_solve(&self, L: &Tensor, #[default(false)] upper: bool) -> Result<Tensor> {
        let (l, b) = (L.node(), self.node());
        let first = triangular_solution("cholesky_solve", &l, &b, [upper, true, false, upper])?;
        let x = triangular_solution("cholesky_solve", &l, &first, [upper, true, false, !upper])?;
        Ok(Tensor::from_node(x))
    }

    /// The inverse of `L Lᵀ`, of what `cholesky` answers with; with `upper`, the tensor is its transpose.
    ///
    /// # Errors
    ///
    /// What is no square matrix, other dtypes, a zero on the diagonal: what is not known yet is found when the inverse is computed.
    #[surface(method, function)]
    pub fn cholesky_inverse(&self, #[default(false)] upper: bool) -> Result<Tensor> {
        let (op, l) = ("cholesky_inverse", self.node());
        square(op, l.shape())?;
        let pivots = diagonal(&l)?;
        // What is known is told of here.
        if l.value().is_some() && l.device().is_cpu() && !mg_graph::is_recording() {
            mg_graph::realize_quietly(&[&pivots])?;
        }
        let inverse = Tensor::from_node(identity(&l, *l.shape())?).try_cholesky_solve(self, upper)?;
        let Some(zeros) = unseen(op, &pivots, Valid::Diagonal)? else { return Ok(inverse) };
        let row = pivots.shape().insert(pivots.shape().rank() - 1, 1);
        let zeros = zeros.reshape(row)?.cast(l.dtype());
        Ok(Tensor::from_node(Node::map(Row::Add, &[&inverse.node(), &zeros])?))
    }

    /// The determinants of square matrices. f32 and f64. A singular matrix has a
    /// gradient, and second derivatives.
    ///
    /// # Errors
    ///
    /// What is no square matrix, other dtypes.
    #[surface(method, function, linalg)]
    pub fn det(&self) -> Result<Tensor> {
        let a = self.node();
        square("det", a.shape())?;
        let lu = eliminated(&a, Demand::Nothing)?;
        let e = &lu.elimination;
        let of = |pivots: &Node| -> Result<Node> {
            let axis = 1 << (pivots.shape().rank() - 1);
            Ok(pivots.reduce(ReduceKind::Prod, axis, false)?.mul(&lu.factored.number(SIGN)?))
        };
        let value = set_aside(|| of(&diagonal(&e.lu)?))?;
        if !is_differentiated(&a) {
            return Ok(Tensor::from_node(value));
        }
        // Pivots that are 0 are next to nothing, so that the matrix has an inverse.
        let (near, value_near) = set_aside(|| {
            let n = a.shape()[a.shape().rank() - 1];
            let line = |dims: [usize; 2]| Node::ramp(Shape::of(&dims), a.device());
            let on = line([n, 1]).eq(&line([1, n]));
            let pivot = e.lu.eq(&e.lu.lit(0.0)).choose(&e.lu.lit(a.dtype().epsilon()), &e.lu);
            let near = on.choose(&pivot, &e.lu).copy();
            let value = of(&diagonal(&near)?)?;
            Ok::<_, Error>((near, value))
        })?;
        let operands = [&a, &near, &e.order, &e.inverse, &value_near];
        Ok(Tensor::from_node(known(Rule::Det, &value, &operands)?))
    }

    /// The signs of determinants (−1, 0 or 1), and the logarithms of their magnitudes (−∞ of a singular matrix). f32 and f64.
    ///
    /// # Errors
    ///
    /// What is no square matrix, other dtypes.
    #[surface(method, function, linalg, answers("sign", "logabsdet"))]
    pub fn slogdet(&self) -> Result<(Tensor, Tensor)> {
        let matrices = self.node();
        let (sign, logarithm) = sign_and_logarithm("slogdet", &matrices)?;
        // By way of all elements, and not of the logarithm, whose slope is infinite where a matrix is singular.
        let of = matrices.reduce(ReduceKind::Sum, 0b11 << (matrices.shape().rank() - 2), false)?;
        let sign = without_slope(&sign, &of);
        Ok((Tensor::from_node(sign), Tensor::from_node(logarithm)))
    }

    /// The logarithms of determinants: −∞ of a singular matrix, NaN where the determinant is negative. f32 and f64.
    ///
    /// # Errors
    ///
    /// What is no square matrix, other dtypes.
    pub fn logdet(&self) -> Result<Tensor> {
        let (sign, logarithm) = sign_and_logarithm("logdet", &self.node())?;
        let negative = sign.lt(&sign.lit(0.0));
        Ok(Tensor::from_node(negative.choose(&logarithm.lit(f64::NAN), &logarithm)))
    }

    /// The inverse of a tensor as a map from its last axes to its first `ind`: `tensordot(tensorinv(A), B, ind)` is `tensorsolve(A, B)`.
    ///
    /// # Errors
    ///
    /// First axes of another product than the others', a singular map, other dtypes.
    #[surface(linalg)]
    pub fn tensorinv(&self, #[default(2)] ind: usize) -> Result<Tensor> {
        let shape = self.shape();
        if ind == 0 || ind > shape.rank() {
            let text = format!("takes a number of axes from 1 to {}, got {ind}", shape.rank());
            return Err(Error::new("tensorinv", ErrorKind::Value(text)));
        }
        let (first, last) = shape.split_at(ind);
        let n = product(last);
        if product(first) != n {
            return misfit(
                "tensorinv",
                format!("the first {ind} axes of {shape} have another product than the others"),
            );
        }
        let sizes = signed(&[last, first].concat());
        self.reshape(&[n as isize, n as isize])?.try_inv()?.reshape(&sizes)
    }

    /// `X` with `tensordot(A, X, X.ndim) = B`. The axes `dims` of `A` are moved to its end first.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, a singular map, other dtypes.
    #[surface(linalg, manners(Named("other", "B")))]
    pub fn tensorsolve(&self, B: &Tensor, #[default(None)] dims: Option<&[isize]>) -> Result<Tensor> {
        let a = match dims {
            None => self.clone(),
            Some(dims) => {
                let end: Vec<isize> = (-(dims.len() as isize)..0).collect();
                self.movedim(dims, &end)?
            }
        };
        let (shape, rank) = (a.shape(), B.rank());
        let (rows, rest) = (B.numel(), shape.get(rank..).unwrap_or(&[]).to_vec());
        if product(&rest) != rows || shape.numel() != rows * rows {
            return misfit("tensorsolve", format!("shapes {shape} and {} do not fit", B.shape()));
        }
        let matrix = a.reshape(&[rows as isize, rows as isize])?;
        matrix.try_solve(&B.reshape(&[rows as isize])?, true)?.reshape(&signed(&rest))
    }
}
