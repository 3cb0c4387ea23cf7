//! Factorisations of matrices: elimination, Cholesky, QR, eigenvalues, singular values.

// Matrices have the names that PyTorch gives them, which are keywords in Python.
#![allow(non_snake_case)]

use super::factors::{
    Factored, PIVOTS, eliminated, factored, identity, is_differentiated, known, misfit, sides, square,
    transposed, triangle, unit_lower,
};
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::Node;
use mg_kernels::library::known::Elimination;
use mg_kernels::library::{Demand, FactorKind, Rule, Triangular};
use mg_kernels::{Algebra, Row, Rules};
use mg_macros::operations;

/// `L Lᵀ = A`, and the order of the first leading minor that is not positive definite.
fn cholesky_of(op: &'static str, a: &Node, upper: bool, demand: Demand) -> Result<(Node, Node)> {
    square(op, a.shape())?;
    // The other triangle is read by way of the transpose.
    let x = if upper { transposed(a)? } else { a.clone() };
    let factored = factored(&x, FactorKind::Cholesky, demand)?;
    let l = known(Rule::Cholesky, &factored.part(0)?, &[&x])?;
    let info = factored.number(1)?.cast(DType::I32);
    Ok((if upper { transposed(&l)? } else { l }, info))
}

/// `P L D Lᵀ Pᵀ = A`: `L` and `D` in one matrix, pivots, the first 0 of `D`.
fn ldl_of(op: &'static str, a: &Node, demand: Demand) -> Result<[Tensor; 3]> {
    square(op, a.shape())?;
    let factored = factored(a, FactorKind::Ldl, demand)?;
    let ld = known(Rule::Ldl, &factored.part(0)?, &[a])?;
    let (pivots, info) = (factored.part(1)?.cast(DType::I32), factored.number(2)?.cast(DType::I32));
    Ok(tensors([ld, pivots, info]))
}

/// `Q R = A`.
pub(super) fn qr_of(op: &'static str, a: &Node, complete: bool, vectors: bool) -> Result<(Node, Node)> {
    let (m, n) = sides(op, a.shape())?;
    // The gradient of R takes Q.
    let kind = FactorKind::Qr { complete, vectors: vectors || is_differentiated(a) };
    if !is_differentiated(a) || complete && m > n {
        if is_differentiated(a) {
            let text = "Q of more columns than A has no gradient: mode \"reduced\" has";
            return Err(Error::new(op, ErrorKind::Gradient(text.into())));
        }
        let factored = factored(a, kind, Demand::Nothing)?;
        return Ok((factored.part(0)?, factored.part(1)?));
    }
    if m >= n {
        let factored = factored(a, kind, Demand::Nothing)?;
        let packed = known(Rule::Qr, &factored.packed, &[a])?;
        return Ok((factored.part_of(&packed, 0)?, factored.part_of(&packed, 1)?));
    }
    // Q is that of the first columns; the others are seen through it.
    let axis = a.shape().rank() - 1;
    let (q, r) = qr_of(op, &a.slice(axis, 0, 1, m)?, false, true)?;
    let rest = transposed(&q)?.matmul(&a.slice(axis, m, 1, n - m)?)?;
    Ok((q, Node::concat(&[&r, &rest], axis)?))
}

/// `V diag(λ) Vᵀ = A`.
pub(super) fn eigh_of(op: &'static str, a: &Node, uplo: &str) -> Result<(Node, Node)> {
    let (x, n) = of_triangle(op, a, uplo)?;
    let factored = factored(&x, FactorKind::Eigh { vectors: true }, Demand::Nothing)?;
    debug_assert_eq!(n, square(op, x.shape())?);
    let packed = known(Rule::Eigh, &factored.packed, &[&x])?;
    Ok((factored.part_of(&packed, 0)?, factored.part_of(&packed, 1)?))
}

/// The matrices whose lower triangle is what is asked for, and their size.
fn of_triangle(op: &'static str, a: &Node, uplo: &str) -> Result<(Node, usize)> {
    let n = square(op, a.shape())?;
    match uplo {
        "L" | "l" => Ok((a.clone(), n)),
        "U" | "u" => Ok((transposed(a)?, n)),
        _ => Err(Error::new(
            op,
            ErrorKind::Value(format!("takes \"L\" or \"U\" as the triangle, got {uplo:?}")),
        )),
    }
}

/// The eigenvalues of symmetric matrices.
pub(super) fn eigenvalues(op: &'static str, a: &Node, uplo: &str) -> Result<Node> {
    if is_differentiated(a) {
        return Ok(eigh_of(op, a, uplo)?.0);
    }
    let (x, _) = of_triangle(op, a, uplo)?;
    factored(&x, FactorKind::Eigh { vectors: false }, Demand::Nothing)?.part(0)
}

/// `U`, `σ` and `Vᵀ`.
pub(super) fn svd_of(op: &'static str, a: &Node, complete: bool) -> Result<(Node, Node, Node)> {
    sides(op, a.shape())?;
    let kind = FactorKind::Svd { complete, vectors: true };
    let factored: Factored = factored(a, kind, Demand::Nothing)?;
    let packed = known(Rule::Svd { complete }, &factored.packed, &[a])?;
    let part = |at| factored.part_of(&packed, at);
    Ok((part(1)?, part(0)?, part(2)?))
}

/// The singular values.
pub(super) fn singular_values(op: &'static str, a: &Node) -> Result<Node> {
    if is_differentiated(a) {
        return Ok(svd_of(op, a, false)?.1);
    }
    sides(op, a.shape())?;
    let kind = FactorKind::Svd { complete: false, vectors: false };
    factored(a, kind, Demand::Nothing)?.part(0)
}

/// What elimination leaves of matrices.
struct Eliminated {
    /// `L` and `U` in one matrix, with a gradient.
    lu: Node,
    /// For each step the row that was exchanged, counted from 1: i32.
    pivots: Node,
    /// The rows of the matrix in the order of those of `L U`: i64.
    order: Node,
    info: Node,
}

fn with_exchanges(op: &'static str, pivot: bool) -> Result<()> {
    match pivot {
        true => Ok(()),
        false => {
            Err(Error::new(op, ErrorKind::Value("elimination without row exchanges is not done".into())))
        }
    }
}

fn lu_of(op: &'static str, a: &Node, demand: Demand) -> Result<Eliminated> {
    let (m, n) = sides(op, a.shape())?;
    let done = eliminated(a, demand)?;
    let info = done.info()?;
    let pivots = done.factored.part(PIVOTS)?.cast(DType::I32);
    let Elimination { lu, order, .. } = done.elimination;
    if !is_differentiated(a) {
        return Ok(Eliminated { lu, pivots, order, info });
    }
    let rank = a.shape().rank();
    let (row, column, k) = (rank - 2, rank - 1, m.min(n));
    let index = order.reshape(order.shape().insert(rank - 1, 1))?.expand(*a.shape())?;
    let rows = a.gather(row, &index)?;
    // The square in front, without exchanges, and what lies beside or below it.
    let front = rows.slice(row, 0, 1, k)?.slice(column, 0, 1, k)?;
    let value = lu.slice(row, 0, 1, k)?.slice(column, 0, 1, k)?;
    let front = known(Rule::Lu, &value, &[&front])?;
    let triangular = |upper: bool, unit: bool, transposed: bool, b: &Node| {
        Node::library(Triangular { upper, unit, transposed }.into(), &[&front, b])
    };
    let lu = if n > m {
        let beside = triangular(false, true, false, &rows.slice(column, m, 1, n - m)?)?;
        Node::concat(&[&front, &beside], column)?
    } else if m > n {
        let below = transposed(&rows.slice(row, n, 1, m - n)?)?;
        Node::concat(&[&front, &transposed(&triangular(true, false, true, &below)?)?], row)?
    } else {
        front
    };
    Ok(Eliminated { lu, pivots, order, info })
}

/// The permutation, `L` and `U` of what elimination leaves.
fn unpacked(lu: &Node, order: Option<&Node>) -> Result<(Node, Node, Node)> {
    let (shape, rank) = (*lu.shape(), lu.shape().rank());
    let (m, n) = (shape[rank - 2], shape[rank - 1]);
    let k = m.min(n);
    let lower = unit_lower(&lu.slice(rank - 1, 0, 1, k)?);
    let upper = triangle(&lu.slice(rank - 2, 0, 1, k)?, true);
    let permutation = match order {
        None => lu.lit(0.0).expand(Shape::of(&[0]))?,
        Some(order) => {
            // A[order[i]] = (L U)[i]: a one in row order[i], column i.
            let row = Node::ramp(Shape::of(&[m, 1]), lu.device());
            let order = order.reshape(order.shape().insert(rank - 2, 1))?;
            Node::map(Row::Eq, &[&row, &order])?.cast(lu.dtype())
        }
    };
    Ok((permutation, lower, upper))
}

/// The order of rows that exchanges come to.
pub(super) fn order_of(pivots: &Node, rows: usize, dtype: DType) -> Result<(Node, Node)> {
    let column = pivots.cast(dtype);
    let column = column.reshape(column.shape().insert(column.shape().rank(), 1))?;
    let found = factored(&column, FactorKind::Order { rows: rows as u32 }, Demand::Nothing)?;
    Ok((found.part(0)?.cast(DType::I64), found.part(1)?.cast(DType::I64)))
}

fn tensors<const N: usize>(nodes: [Node; N]) -> [Tensor; N] {
    nodes.map(Tensor::from_node)
}

#[operations(FACTORIZATIONS)]
impl Tensor {
    /// `L` with `L Lᵀ = A` of symmetric positive definite matrices, `[…, n, n]`, of which the lower triangle is read; with `upper` the
    /// transpose, and the upper triangle is read. f32 and f64.
    ///
    /// # Errors
    ///
    /// What is no square matrix, one that is not positive definite, other dtypes.
    #[surface(method, function, linalg)]
    pub fn cholesky(&self, #[default(false)] upper: bool) -> Result<Tensor> {
        Ok(Tensor::from_node(cholesky_of("cholesky", &self.node(), upper, Demand::Definite)?.0))
    }

    /// `cholesky`, and for each matrix the order of the first leading minor that is not positive definite (i32), or 0: then its factor
    /// is what was found so far.
    ///
    /// # Errors
    ///
    /// What is no square matrix, other dtypes; with `check_errors` one that is not positive definite.
    #[surface(linalg, answers("L", "info"), keywords_from = "upper")]
    pub fn cholesky_ex(
        &self,
        #[default(false)] upper: bool,
        #[default(false)] check_errors: bool,
    ) -> Result<(Tensor, Tensor)> {
        let demand = if check_errors { Demand::Definite } else { Demand::Nothing };
        let (l, info) = cholesky_of("cholesky_ex", &self.node(), upper, demand)?;
        Ok((Tensor::from_node(l), Tensor::from_node(info)))
    }

    /// `Q R = A` of matrices `[…, m, n]`: `Q`'s columns are orthonormal, `R` is an upper triangle. With `k` the smaller of `m` and `n`,
    /// mode `"reduced"` answers with `[…, m, k]` and `[…, k, n]`, `"complete"` with `[…, m, m]` and `[…, m, n]`, `"r"` with no `Q`. Signs
    /// are those of LAPACK's reflections. f32 and f64. Mode `"complete"` of more rows than columns has no gradient.
    ///
    /// # Errors
    ///
    /// What is no matrix, another mode, other dtypes.
    #[surface(linalg, answers("Q", "R"))]
    pub fn qr(&self, #[default("reduced")] mode: &str) -> Result<(Tensor, Tensor)> {
        let (complete, vectors) = match mode {
            "reduced" => (false, true),
            "complete" => (true, true),
            "r" => (false, false),
            _ => {
                let text = format!("takes \"reduced\", \"complete\" or \"r\" as mode, got {mode:?}");
                return Err(Error::new("qr", ErrorKind::Value(text)));
            }
        };
        let a = self.node();
        let (q, r) = qr_of("qr", &a, complete, vectors)?;
        let q = if vectors { q } else { a.lit(0.0).expand(Shape::of(&[0]))? };
        Ok((Tensor::from_node(q), Tensor::from_node(r)))
    }

    /// `linalg.qr` in mode `"reduced"`, or, if not `some`, `"complete"`.
    ///
    /// # Errors
    ///
    /// What is no matrix, other dtypes.
    #[surface(method, function, name = "qr", answers("Q", "R"))]
    pub fn qr_some(&self, #[default(true)] some: bool) -> Result<(Tensor, Tensor)> {
        let (q, r) = qr_of("qr", &self.node(), !some, true)?;
        Ok((Tensor::from_node(q), Tensor::from_node(r)))
    }

    /// The eigenvalues `λ` (ascending) and eigenvectors `V` (its columns) of symmetric matrices, `[…, n, n]`: `A = V diag(λ) Vᵀ`. Of `A` the
    /// lower triangle is read, or with `UPLO` `"U"` the upper one. An eigenvector's sign is not determined, nor are those of eigenvalues that
    /// are equal, and a gradient that asks for eigenvectors of such a matrix is not finite (one that asks for eigenvalues alone is). f32 and f64; computed on the host, on every device.
    ///
    /// # Errors
    ///
    /// What is no square matrix, numbers that are not finite, other dtypes.
    #[surface(linalg, answers("eigenvalues", "eigenvectors"))]
    pub fn eigh(&self, #[default("L")] UPLO: &str) -> Result<(Tensor, Tensor)> {
        let (values, v) = eigh_of("eigh", &self.node(), UPLO)?;
        Ok((Tensor::from_node(values), Tensor::from_node(v)))
    }

    /// The eigenvalues of symmetric matrices, ascending: see `eigh`.
    ///
    /// # Errors
    ///
    /// What is no square matrix, numbers that are not finite, other dtypes.
    #[surface(linalg)]
    pub fn eigvalsh(&self, #[default("L")] UPLO: &str) -> Result<Tensor> {
        Ok(Tensor::from_node(eigenvalues("eigvalsh", &self.node(), UPLO)?))
    }

    /// `U`, `σ` (descending) and `Vᵀ` with `A = U diag(σ) Vᵀ` of matrices `[…, m, n]`, `U` and `V` orthogonal: `[…, m, m]` and `[…, n, n]`, or if
    /// not `full_matrices`, the first columns of `U` and rows of `Vᵀ`, as many as there are singular values. A singular vector's sign is
    /// not determined, nor are those of singular values that are equal, and a gradient that asks for singular vectors of such a matrix, or of one that singular
    /// values of 0 leave undetermined, is not finite (one that asks for singular values alone is). f32 and f64; computed on the host,
    /// on every device, always by divide and conquer: `driver` is for CUDA in PyTorch, and has to be `None`.
    ///
    /// # Errors
    ///
    /// What is no matrix, numbers that are not finite, other dtypes; a driver.
    #[surface(linalg, answers("U", "S", "Vh"), keywords_from = "driver")]
    pub fn svd(
        &self,
        #[default(true)] full_matrices: bool,
        #[default(None)] driver: Option<&str>,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        if driver.is_some() {
            return Err(Error::new("svd", ErrorKind::Value("there is one driver: takes None".into())));
        }
        let (u, s, vt) = svd_of("svd", &self.node(), full_matrices)?;
        let [u, s, vt] = tensors([u, s, vt]);
        Ok((u, s, vt))
    }

    /// `U`, `σ` and `V` (not transposed, unlike `linalg.svd`) with `A = U diag(σ) Vᵀ`; square if not `some`. Without `compute_uv`, `U` and `V`
    /// are zeros.
    ///
    /// # Errors
    ///
    /// What is no matrix, numbers that are not finite, other dtypes.
    #[surface(method, function, name = "svd", answers("U", "S", "V"))]
    pub fn svd_some(
        &self,
        #[default(true)] some: bool,
        #[default(true)] compute_uv: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let a = self.node();
        if !compute_uv {
            let (m, n) = sides("svd", a.shape())?;
            let rank = a.shape().rank();
            let zeros = |size: usize| {
                a.lit(0.0).expand(a.shape().with(rank - 2, size).with(rank - 1, size)).map(|z| z.copy())
            };
            let [u, s, v] = tensors([zeros(m)?, singular_values("svd", &a)?, zeros(n)?]);
            return Ok((u, s, v));
        }
        let (u, s, vt) = svd_of("svd", &a, !some)?;
        let [u, s, v] = tensors([u, s, transposed(&vt)?]);
        Ok((u, s, v))
    }

    /// The singular values of matrices, descending: see `svd`.
    ///
    /// # Errors
    ///
    /// What is no matrix, numbers that are not finite, other dtypes; a driver.
    #[surface(linalg, keywords_from = "driver")]
    pub fn svdvals(&self, #[default(None)] driver: Option<&str>) -> Result<Tensor> {
        if driver.is_some() {
            return Err(Error::new("svdvals", ErrorKind::Value("there is one driver: takes None".into())));
        }
        Ok(Tensor::from_node(singular_values("svdvals", &self.node())?))
    }

    /// `P`, `L` and `U` with `A = P L U` of matrices `[…, m, n]`, by elimination with row exchanges: a permutation `[…, m, m]`, a lower triangle
    /// `[…, m, k]` with ones on the diagonal, an upper triangle `[…, k, n]`, with `k` the smaller of `m` and `n`. f32 and f64.
    ///
    /// # Errors
    ///
    /// What is no matrix, other dtypes; without `pivot`.
    #[surface(linalg, answers("P", "L", "U"), keywords_from = "pivot")]
    pub fn lu(&self, #[default(true)] pivot: bool) -> Result<(Tensor, Tensor, Tensor)> {
        with_exchanges("lu", pivot)?;
        let done = lu_of("lu", &self.node(), Demand::Nothing)?;
        let (p, l, u) = unpacked(&done.lu, Some(&done.order))?;
        let [p, l, u] = tensors([p, l, u]);
        Ok((p, l, u))
    }

    /// `lu` in one matrix, `L` below the diagonal and `U` on and above it, and for each step the row that was exchanged (i32), counted
    /// from 1: what `lu_solve` and `lu_unpack` take.
    ///
    /// # Errors
    ///
    /// What is no matrix, other dtypes; a singular matrix, for which there are `lu` and `lu_factor_ex`; without `pivot`.
    #[surface(linalg, answers("LU", "pivots"), keywords_from = "pivot")]
    pub fn lu_factor(&self, #[default(true)] pivot: bool) -> Result<(Tensor, Tensor)> {
        with_exchanges("lu_factor", pivot)?;
        let done = lu_of("lu_factor", &self.node(), Demand::Pivots)?;
        Ok((Tensor::from_node(done.lu), Tensor::from_node(done.pivots)))
    }

    /// `lu_factor`, and the first element of `U`'s diagonal that is 0 (i32), counted from 1, or 0.
    ///
    /// # Errors
    ///
    /// What is no matrix, other dtypes; without `pivot`; with `check_errors` a singular matrix.
    #[surface(linalg, answers("LU", "pivots", "info"), keywords_from = "pivot")]
    pub fn lu_factor_ex(
        &self,
        #[default(true)] pivot: bool,
        #[default(false)] check_errors: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        with_exchanges("lu_factor_ex", pivot)?;
        let demand = if check_errors { Demand::Pivots } else { Demand::Nothing };
        let done = lu_of("lu_factor_ex", &self.node(), demand)?;
        let [lu, pivots, info] = tensors([done.lu, done.pivots, done.info]);
        Ok((lu, pivots, info))
    }

    /// `linalg.lu_factor` as a method, to which a singular matrix is no error; with `get_infos` what `linalg.lu_factor_ex` answers with.
    ///
    /// # Errors
    ///
    /// What is no matrix, other dtypes; without `pivot`.
    #[surface(method, name = "lu")]
    pub fn lu_packed(
        &self,
        #[default(true)] pivot: bool,
        #[default(false)] get_infos: bool,
    ) -> Result<Vec<Tensor>> {
        with_exchanges("lu", pivot)?;
        let done = lu_of("lu", &self.node(), Demand::Nothing)?;
        let answers = tensors([done.lu, done.pivots, done.info]);
        Ok(answers.into_iter().take(if get_infos { 3 } else { 2 }).collect())
    }

    /// `A = P L D Lᵀ Pᵀ` of symmetric matrices, `[…, n, n]`, of which the lower triangle is read: `L` below the blocks of `D`, and these, in one
    /// matrix with zeros above them, and for each step the row that was exchanged (i32), counted from 1. A block of `D` has one row or two: of two
    /// rows both pivots are that of the second one, negative. Steps are those of LAPACK's `sytrf` (Bunch and Kaufman, 1977); `ldl_solve` takes both. No
    /// numbers here are complex: `hermitian` makes no difference. f32 and f64; computed on the host, on every device. There is no gradient.
    ///
    /// # Errors
    ///
    /// What is no square matrix, other dtypes; a `D` with a block that is a 0, for which there is `ldl_factor_ex`.
    #[surface(linalg, answers("LD", "pivots"), keywords_from = "hermitian")]
    pub fn ldl_factor(&self, #[default(false)] hermitian: bool) -> Result<(Tensor, Tensor)> {
        let _ = hermitian;
        let [ld, pivots, _] = ldl_of("ldl_factor", &self.node(), Demand::Diagonal)?;
        Ok((ld, pivots))
    }

    /// `ldl_factor`, and for each matrix the first row whose block of `D` is one number, and that is 0 (i32), counted from 1, or 0. Blocks of two rows
    /// may have zeros on their diagonal.
    ///
    /// # Errors
    ///
    /// What is no square matrix, other dtypes; with `check_errors` a `D` with a block that is a 0.
    #[surface(linalg, answers("LD", "pivots", "info"), keywords_from = "hermitian")]
    pub fn ldl_factor_ex(
        &self,
        #[default(false)] hermitian: bool,
        #[default(false)] check_errors: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let _ = hermitian;
        let demand = if check_errors { Demand::Diagonal } else { Demand::Nothing };
        let [ld, pivots, info] = ldl_of("ldl_factor_ex", &self.node(), demand)?;
        Ok((ld, pivots, info))
    }

    /// `P`, `L` and `U` of what `lu_factor` answers with. Without `unpack_pivots` or `unpack_data` these are empty.
    ///
    /// # Errors
    ///
    /// What is no matrix; pivots of another shape, or that name rows that are not there.
    #[surface(function, answers("P", "L", "U"))]
    pub fn lu_unpack(
        LU_data: &Tensor,
        LU_pivots: &Tensor,
        #[default(true)] unpack_data: bool,
        #[default(true)] unpack_pivots: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let (lu, pivots) = (LU_data.node(), LU_pivots.node());
        let (m, n) = sides("lu_unpack", lu.shape())?;
        let rank = lu.shape().rank();
        if *pivots.shape() != lu.shape().remove(rank - 1).with(rank - 2, m.min(n)) {
            let text = format!("pivots of shape {} for a matrix of {}", pivots.shape(), lu.shape());
            return misfit("lu_unpack", text);
        }
        let order = match unpack_pivots {
            // The order is that of whole numbers, whatever the matrix is of.
            true => Some(order_of(&pivots, m, DType::F64)?.0),
            false => None,
        };
        let (p, l, u) = unpacked(&lu, order.as_ref())?;
        let none = lu.lit(0.0).expand(Shape::of(&[0]))?;
        let [p, l, u] = tensors(if unpack_data { [p, l, u] } else { [p, none.clone(), none] });
        Ok((p, l, u))
    }

    /// The first `n` columns of a product of reflections `I − τᵢ vᵢ vᵢᵀ`, `Q` of shape `[…, m, n]`: `vᵢ` stands below the diagonal of column `i` of the
    /// tensor, with a one on it, and `τ` is `[…, k]`. What `geqrf` of LAPACK answers with becomes the `Q` of `qr`. By products of matrices
    /// (Schreiber and Van Loan, "A storage-efficient WY representation for products of Householder transformations", 1989).
    ///
    /// # Errors
    ///
    /// What is no matrix, more columns than rows, more reflections than columns, unlike dtypes.
    #[surface(linalg)]
    pub fn householder_product(&self, tau: &Tensor) -> Result<Tensor> {
        const OP: &str = "householder_product";
        let (a, tau) = (self.node(), tau.node());
        let (m, n) = sides(OP, a.shape())?;
        let rank = a.shape().rank();
        let k = tau.shape().last().copied().unwrap_or(0);
        let lead = Shape::of(&a.shape()[..rank - 2]);
        if n > m || k > n || tau.shape().rank() + 1 != rank || tau.shape()[..rank - 2] != lead[..] {
            return misfit(OP, format!("shapes {} and {} do not fit", a.shape(), tau.shape()));
        }
        if a.dtype() != tau.dtype() {
            let text = format!("takes operands of one dtype, got {} and {}", a.dtype(), tau.dtype());
            return Err(Error::new(OP, ErrorKind::DType(text)));
        }
        let v = unit_lower(&a.slice(rank - 1, 0, 1, k)?);
        let vt = transposed(&v)?;
        // I − V T Vᵀ with T⁻¹ = diag(1/τ) + the strict upper triangle of Vᵀ V; multiplied by τ, so that one may be 0.
        let column = tau.reshape(tau.shape().insert(rank - 1, 1))?;
        let weighed = Node::map(Row::Mul, &[&column, &vt.matmul(&v)?])?;
        let solve = Triangular { upper: true, unit: true, transposed: false };
        let right = Node::map(Row::Mul, &[&column, &vt.slice(rank - 1, 0, 1, n)?])?;
        let inner = Node::library(solve.into(), &[&weighed, &right])?;
        let whole = identity(&a, *a.shape())?;
        Ok(Tensor::from_node(whole.sub(&v.matmul(&inner)?)))
    }

    /// `householder_product` under LAPACK's name.
    ///
    /// # Errors
    ///
    /// Those of `householder_product`.
    #[surface(method, function)]
    pub fn orgqr(&self, input2: &Tensor) -> Result<Tensor> {
        self.try_householder_product(input2)
    }

    /// The largest `q` singular values of matrices `[…, m, n]`, about: `A ≈ U diag(S) Vᵀ`. Of the span of `A`'s products with random vectors
    /// that `niter` times went through `A` and its transpose (Halko, Martinsson and Tropp, 2011, algorithm 4.4). With `M`, of `A − M`.
    ///
    /// # Errors
    ///
    /// What is no matrix; a `q` of more than its shorter side; what `qr` and `svd` refuse.
    #[surface(function, answers("U", "S", "V"))]
    pub fn svd_lowrank(
        A: &Tensor,
        #[default(6)] q: usize,
        #[default(2)] niter: usize,
        #[default(None)] M: Option<&Tensor>,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        const OP: &str = "svd_lowrank";
        let a = match M {
            Some(mean) => A.try_sub(mean)?,
            None => A.clone(),
        };
        let (m, n) = sides(OP, &a.shape())?;
        if q > m.min(n) {
            let text = format!("takes a q of at most {}, got {q}", m.min(n));
            return Err(Error::new(OP, ErrorKind::Value(text)));
        }
        // The longer side is the one of rows.
        let (tall, wide) = if m < n { (a.transpose(-2, -1)?, a) } else { (a.clone(), a.transpose(-2, -1)?) };
        let spun = Tensor::randn(&[m.min(n), q], tall.dtype())?.to(tall.device())?;
        let basis = |t: Tensor| -> Result<Tensor> { Ok(t.try_qr("reduced")?.0) };
        let mut span = basis(tall.try_matmul(&spun)?)?;
        for _ in 0..niter {
            span = basis(wide.try_matmul(&span)?)?;
            span = basis(tall.try_matmul(&span)?)?;
        }
        let (u, s, vt) = span.transpose(-2, -1)?.try_matmul(&tall)?.try_svd(false, None)?;
        let (u, v) = (span.try_matmul(&u)?, vt.transpose(-2, -1)?);
        Ok(if m < n { (v, s, u) } else { (u, s, v) })
    }

    /// The `q` principal components of rows, `[…, m, n]`, about: `svd_lowrank` of `A` less its mean row, unless `center` is false. Without a
    /// `q` six, or as many as there are.
    ///
    /// # Errors
    ///
    /// As `svd_lowrank`.
    #[surface(function, answers("U", "S", "V"))]
    pub fn pca_lowrank(
        A: &Tensor,
        #[default(None)] q: Option<usize>,
        #[default(true)] center: bool,
        #[default(2)] niter: usize,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let (m, n) = sides("pca_lowrank", &A.shape())?;
        let q = q.unwrap_or(6.min(m).min(n));
        if !center {
            return Tensor::try_svd_lowrank(A, q, niter, None);
        }
        let mean = A.try_mean_dim(&[-2], true)?;
        Tensor::try_svd_lowrank(A, q, niter, Some(&mean))
    }
}
