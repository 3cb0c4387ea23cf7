//! What singular values and powers of matrices give: pseudoinverses, ranks, condition numbers, least squares, exponentials.

// Matrices have the names that PyTorch gives them, which are keywords in Python.
#![allow(non_snake_case)]

use super::factorization::{eigenvalues, eigh_of, qr_of, singular_values, svd_of};
use super::factors::{identity, is_differentiated, known, misfit, sides, square, together, transposed};
use super::set_aside;
use super::system::inverse_of;
use crate::function::{Begun, Marks, Rule as Backward, Saved, Way};
use crate::gradient::no_grad;
use crate::ops::Operand;
use crate::surface::Order;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::Node;
use mg_kernels::library::{Demand, Rule, Triangular};
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;
use std::sync::Arc;

/// The bound below which singular values `s` (of `m × n` matrices) count as 0, of the shape `[…, 1]`.
fn bound(s: &Node, [m, n]: [usize; 2], [atol, rtol]: [Option<Operand>; 2]) -> Result<Node> {
    let axis = 1 << (s.shape().rank() - 1);
    let zero = s.lit(0.0);
    let absolute = atol.map(|atol| tolerance(s, atol)).transpose()?;
    let relative = match (&absolute, rtol) {
        (_, Some(rtol)) => tolerance(s, rtol)?,
        (absolute, None) => {
            let small = s.lit(m.max(n) as f64 * s.dtype().epsilon());
            match absolute {
                Some(atol) => Node::map(Row::Where, &[&Node::map(Row::Lt, &[&zero, atol])?, &zero, &small])?,
                None => small,
            }
        }
    };
    let largest = match s.shape().last() {
        Some(0) => s.reduce(ReduceKind::Sum, axis, true)?,
        _ => s.reduce(ReduceKind::Max, axis, true)?,
    };
    let relative = Node::map(Row::Mul, &[&largest, &relative])?;
    Node::map(Row::Maximum, &[&relative, absolute.as_ref().unwrap_or(&zero)])
}

/// A bound for singular values: a number, or a tensor with one for each matrix.
fn tolerance(s: &Node, given: Operand) -> Result<Node> {
    let Operand::Tensor(t) = given else { return Ok(given.beside(&Tensor::from_node(s.clone())).node()) };
    let node = t.node().cast(s.dtype());
    match node.shape().rank() {
        0 => Ok(node),
        // One for all, whatever its axes.
        rank if node.shape().numel() == 1 && rank >= s.shape().rank() => node.reshape(Shape::scalar()),
        rank => node.reshape(node.shape().insert(rank, 1)),
    }
}

/// The pseudoinverses, and the singular values with the bound below which they count as 0.
fn pseudoinverse(
    op: &'static str,
    a: &Node,
    bounds: [Option<Operand>; 2],
    is_symmetric: bool,
) -> Result<(Node, Node, Node)> {
    let (m, n) = sides(op, a.shape())?;
    let (value, s, least) = set_aside(|| {
        let (u, s, vt) = svd_of(op, &if is_symmetric { symmetric(op, a)? } else { a.clone() }, false)?;
        let least = bound(&s, [m, n], bounds)?;
        if Shape::broadcast(least.shape(), s.shape()) != Some(*s.shape()) {
            let text = format!("takes a bound, or one for each matrix of {}", a.shape());
            return Err(Error::new(op, ErrorKind::Shape(text)));
        }
        let least = least.expand(*s.shape())?;
        let counts = least.lt(&s);
        let safe = counts.choose(&s, &s.lit(1.0));
        let inverse = counts.choose(&s.lit(1.0).div(&safe), &s.lit(0.0));
        let column = inverse.reshape(inverse.shape().insert(inverse.shape().rank(), 1))?;
        let value = transposed(&Node::map(Row::Mul, &[&column, &vt])?)?.matmul(&transposed(&u)?)?;
        Ok::<_, Error>((value, s, least))
    })?;
    Ok((known(Rule::Pinv, &value, &[a])?, s, least))
}

/// `A⁺ B` of matrices of full rank, by reflections: `A = Q R`, or of fewer rows than columns `Aᵀ`.
fn by_reflections(op: &'static str, a: &Node, b: &Node) -> Result<Node> {
    let (m, n) = sides(op, a.shape())?;
    let is_wide = m < n;
    let (q, r) = set_aside(|| {
        let tall = if is_wide { transposed(a)? } else { a.clone() };
        qr_of(op, &tall, false, true)
    })?;
    let solved = |transposed: bool, b: &Node| {
        Node::library(Triangular { upper: true, unit: false, transposed }.into(), &[&r, b])
    };
    if is_differentiated(a) {
        let inverse = set_aside(|| {
            let inverse = solved(false, &transposed(&q)?)?;
            if is_wide { transposed(&inverse) } else { Ok(inverse) }
        })?;
        return known(Rule::Pinv, &inverse, &[a])?.matmul(b);
    }
    match is_wide {
        false => solved(false, &transposed(&q)?.matmul(b)?),
        true => q.matmul(&solved(true, b)?),
    }
}

/// How many singular values count: i64.
fn counted(s: &Node, least: &Node) -> Result<Node> {
    let counts = Node::map(Row::Lt, &[least, s])?.cast(DType::I64);
    counts.reduce(ReduceKind::Sum, 1 << (counts.shape().rank() - 1), false)
}

/// `eᴬ` by a polynomial of degree 18 in five products (Bader, Blanes and Casas, "Computing the matrix exponential with an optimized Taylor
/// polynomial approximation", 2019), after as many halvings of each matrix as its norm asks for, and as many squarings afterwards.
fn exponential(a: &Node) -> Result<Node> {
    let (shape, rank) = (*a.shape(), a.shape().rank());
    // Up to this norm the polynomial is right to the last place.
    let reach = if a.dtype() == DType::F64 { 1.09 } else { 3.01 };
    let is_traced = a.is_traced();
    let (halvings, most) = set_aside(|| {
        let norm = a.map(Row::Abs).reduce(ReduceKind::Sum, 1 << (rank - 2), true)?;
        let norm = norm.reduce(ReduceKind::Max, 1 << (rank - 1), true)?;
        let halvings = norm.scale(1.0 / reach).map(Row::Log2).map(Row::Ceil);
        // What is no number stays one whatever is done to it.
        let some = halvings.lit(0.0).lt(&halvings);
        let finite = halvings.lt(&halvings.lit(f64::INFINITY));
        let halvings = some.choose(&finite.choose(&halvings, &halvings.lit(0.0)), &halvings.lit(0.0)).copy();
        if is_traced {
            // What stands for many examples has no norm yet: as often as it can be asked for.
            return Ok((halvings, most_squarings(a.dtype()) as f64));
        }
        let all = crate::parts::all_axes(&halvings);
        let most = Tensor::from_node(halvings.reduce(ReduceKind::Max, all, false)?.cast(DType::F64));
        mg_graph::needs_values();
        Ok::<_, Error>((halvings, most.to_vec::<f64>()?.first().copied().unwrap_or(0.0)))
    })?;
    let scale = set_aside(|| {
        let scale = halvings.neg().map(Row::Exp2);
        match is_traced {
            true => halvings.lit(most).lt(&halvings).choose(&scale.lit(f64::NAN), &scale),
            false => scale,
        }
    });
    let one = identity(a, shape)?;
    let a = if most > 0.0 { a.mul(&scale) } else { a.clone() };
    let a2 = a.matmul(&a)?;
    let a3 = a2.matmul(&a)?;
    let a6 = a3.matmul(&a3)?;
    let sum = |weights: [f64; 5]| -> Node {
        let terms = [&one, &a, &a2, &a3, &a6];
        let used = terms.into_iter().zip(weights).filter(|(_, w)| *w != 0.0);
        used.map(|(t, w)| t.scale(w)).reduce(|x, y| x.add(&y)).unwrap_or_else(|| one.scale(0.0))
    };
    let b1 = sum(POLYNOMIAL[0]);
    let b2 = sum(POLYNOMIAL[1]);
    let b3 = sum(POLYNOMIAL[2]);
    let b4 = sum(POLYNOMIAL[3]);
    let b5 = sum(POLYNOMIAL[4]);
    let a9 = b1.matmul(&b5)?.add(&b4);
    let mut result = b2.add(&b3.add(&a9).matmul(&a9)?);
    for step in 0..most as usize {
        let squared = result.matmul(&result)?;
        let wanted = halvings.lit(step as f64).lt(&halvings);
        result = wanted.choose(&squared, &result);
    }
    Ok(result)
}

/// How often a result is squared at most where the norm is not known: once for each bit of a number, after which no digit of it is right.
fn most_squarings(dtype: DType) -> u32 {
    -dtype.epsilon().log2() as u32 + 1
}

/// The weights of 1, A, A², A³ and A⁶.
#[allow(clippy::excessive_precision, reason = "the digits of the paper")]
const POLYNOMIAL: [[f64; 5]; 5] = [
    [
        0.0,
        -1.003_655_810_301_446_182_91e-1,
        -8.029_246_482_411_569_324_49e-3,
        -8.921_384_980_457_299_851_77e-4,
        0.0,
    ],
    [
        0.0,
        3.978_497_494_996_450_778_44e-1,
        1.367_837_784_604_117_201_68,
        4.982_896_225_253_826_694_16e-1,
        -6.378_981_945_947_232_801_50e-4,
    ],
    [
        -1.096_763_960_529_620_618_44e1,
        1.680_158_138_789_061_971_14,
        5.717_798_464_788_655_110_61e-2,
        -6.982_101_224_880_520_561_06e-3,
        3.349_750_170_860_704_706_49e-5,
    ],
    [
        -9.043_168_323_908_105_932_23e-2,
        -6.764_045_190_713_818_822_56e-2,
        6.759_613_017_704_596_549_25e-2,
        2.955_525_704_293_155_211_94e-2,
        -1.391_802_575_160_606_934_04e-5,
    ],
    [
        0.0,
        0.0,
        -9.233_646_193_671_185_553_60e-2,
        -1.693_649_390_020_817_227_52e-2,
        -1.400_867_981_820_360_943_47e-5,
    ],
];

/// The roots of the eigenvalues of symmetric matrices, those of what rounding has made negative 0, and the eigenvectors.
fn roots(a: &Tensor) -> Result<(Tensor, Tensor)> {
    let (values, vectors) = eigh_of("matrix_sqrth", &a.node(), "L")?;
    let (values, vectors) = (Tensor::from_node(values), Tensor::from_node(vectors));
    Ok((values.try_clamp(Some(Operand::Float(0.0)), None)?.try_sqrt()?, vectors))
}

/// The gradient of the square root `X` of `A`: `dX` is what `X dX + dX X = dA` says, where eigenvalues are equal too.
struct SquareRoot;

impl Backward for SquareRoot {
    fn name(&self) -> &'static str {
        "matrix_sqrth"
    }

    fn backward(&self, saved: &Arc<Saved>, gradients: &[Option<Tensor>]) -> Result<Way> {
        let saved = saved.tensors()?;
        let ([Some(a)], [Some(gradient)]) = (&saved[..], gradients) else {
            return Ok(Way::Inputs(vec![None]));
        };
        let (roots, vectors) = roots(a)?;
        let transposed = vectors.transpose(-2, -1)?;
        let both = gradient.try_add(&gradient.transpose(-2, -1)?)?.try_div(2.0)?;
        let inside = transposed.try_matmul(&both)?.try_matmul(&vectors)?;
        let sums = roots.unsqueeze(-1)?.try_add(&roots.unsqueeze(-2)?)?;
        let slope = vectors.try_matmul(&inside.try_div(&sums)?)?.try_matmul(&transposed)?;
        Ok(Way::Inputs(vec![Some(slope)]))
    }
}

#[operations(MATRIX_FUNCTIONS)]
impl Tensor {
    /// The square root of symmetric positive definite matrices `[…, n, n]`, of which the lower triangle is read: the symmetric `X` with `X X = A`,
    /// by eigenvalues. f32 and f64.
    ///
    /// # Errors
    ///
    /// What is no square matrix, numbers that are not finite, other dtypes.
    #[surface(linalg, manners(Named("input", "A")))]
    pub fn matrix_sqrth(A: &Tensor) -> Result<Tensor> {
        let begun = Begun::with(&[A]);
        let root = {
            let _guard = no_grad();
            let (roots, vectors) = roots(A)?;
            vectors.try_mul(&roots.unsqueeze(-2)?)?.try_matmul(&vectors.transpose(-2, -1)?)?
        };
        let marks = Marks { saved: vec![Some(A.clone())], ..Marks::default() };
        let answer = begun.end(std::slice::from_ref(&root), marks, Arc::new(SquareRoot))?;
        Ok(answer.into_iter().next().unwrap_or(root))
    }

    /// The pseudoinverse (Moore and Penrose) of matrices `[…, m, n]`: `[…, n, m]`, by singular values. Those not above the larger of `atol` and
    /// `rtol` times the largest count as 0; without either, `rtol` is the larger of `m` and `n` times the dtype's epsilon. With `hermitian`
    /// the matrices are symmetric. f32 and f64.
    ///
    /// # Errors
    ///
    /// What is no matrix, numbers that are not finite, other dtypes.
    #[surface(linalg, keywords_from = "atol", manners(Last("hermitian")))]
    pub fn pinv(
        &self,
        #[default(None)] rcond: Option<Operand>,
        #[default(None)] atol: Option<Operand>,
        #[default(None)] rtol: Option<Operand>,
        #[default(false)] hermitian: bool,
    ) -> Result<Tensor> {
        let bounds = [atol, rtol.or(rcond)];
        Ok(Tensor::from_node(pseudoinverse("pinv", &self.node(), bounds, hermitian)?.0))
    }

    /// The pseudoinverse: see `linalg.pinv`, whose `rtol` is `rcond` here.
    ///
    /// # Errors
    ///
    /// What is no matrix, numbers that are not finite, other dtypes.
    #[surface(method, function)]
    pub fn pinverse(&self, #[default(1e-15)] rcond: f64) -> Result<Tensor> {
        Ok(Tensor::from_node(
            pseudoinverse("pinverse", &self.node(), [None, Some(Operand::Float(rcond))], false)?.0,
        ))
    }

    /// How many singular values of a matrix are above a bound (i64): the larger of `atol` and `rtol` times the largest one; without either, `rtol`
    /// is the larger of `m` and `n` times the dtype's epsilon. With `hermitian` the matrices are symmetric.
    ///
    /// # Errors
    ///
    /// What is no matrix, numbers that are not finite, other dtypes.
    #[surface(linalg, keywords_from = "atol", manners(Last("hermitian")))]
    pub fn matrix_rank(
        &self,
        #[default(None)] tol: Option<Operand>,
        #[default(None)] atol: Option<Operand>,
        #[default(None)] rtol: Option<Operand>,
        #[default(false)] hermitian: bool,
    ) -> Result<Tensor> {
        let a = self.node();
        let (m, n) = sides("matrix_rank", a.shape())?;
        set_aside(|| {
            let s = match hermitian {
                true => eigenvalues("matrix_rank", &a, "L")?.map(Row::Abs),
                false => singular_values("matrix_rank", &a)?,
            };
            let bounds = if tol.is_some() { [tol, Some(Operand::Float(0.0))] } else { [atol, rtol] };
            let least = bound(&s, [m, n], bounds)?;
            Ok(Tensor::from_node(counted(&s, &least)?))
        })
    }

    /// The condition number of matrices: the norm of order `p` times that of the inverse. Orders 2 (which `None` is) and −2 are the quotient of the
    /// largest and the least singular value, and its reciprocal, and take matrices that are not square; the others are those of
    /// `matrix_norm`. A singular matrix' is ∞, that of a matrix without elements 0.
    ///
    /// # Errors
    ///
    /// What is no matrix, or for an order but ±2 no square one; another order; other dtypes.
    #[surface(linalg)]
    pub fn cond(&self, #[default(None)] p: Option<Order<'_>>) -> Result<Tensor> {
        let a = self.node();
        let order = p.unwrap_or(Order::Number(2.0));
        let (m, n) = sides("cond", a.shape())?;
        if a.shape().numel() == 0 {
            if let Order::Word(_) = order {
                square("cond", a.shape())?;
            }
            // Whatever the dtype: nothing is computed.
            let none = a.shape().remove(a.shape().rank() - 1);
            let none = none.remove(none.rank() - 1);
            let zeros = a.lit(0.0).expand(none)?;
            // An empty batch of matrices has as many numbers: none.
            return Ok(Tensor::from_node(zeros.copy()));
        }
        if let Order::Number(2.0 | -2.0) = order {
            let s = singular_values("cond", &a)?;
            let (axis, k) = (s.shape().rank() - 1, m.min(n));
            let (largest, least) = (s.select(axis, 0)?, s.select(axis, k - 1)?);
            let quotient = match order {
                Order::Number(2.0) => largest.div(&least),
                _ => least.div(&largest),
            };
            return Ok(Tensor::from_node(quotient));
        }
        square("cond", a.shape())?;
        let (inverse, info) = inverse_of("cond", &a, Demand::Nothing)?;
        let norm = |x: &Node| {
            let t = Tensor::from_node(x.clone());
            t.try_matrix_norm(order, &[-2, -1], false, None).map(|t| t.node())
        };
        let singular = info.lit(0.0).lt(&info);
        let wide = singular.reshape(info.shape().insert(info.shape().rank(), 1))?;
        let wide = wide.reshape(wide.shape().insert(wide.shape().rank(), 1))?;
        let inverse = wide.choose(&inverse.lit(1.0), &inverse);
        let product = norm(&a)?.mul(&norm(&inverse)?);
        Ok(Tensor::from_node(singular.choose(&product.lit(f64::INFINITY), &product)))
    }

    /// `X` that makes `A X − B` least in the sum of squares: `A` is `[…, m, n]`, `B` `[…, m, k]` or, of one batch with `A`, `[…, m]`. Also the sums of squares of
    /// what is left, for each column, the ranks (i64), and singular values.
    ///
    /// The driver `"gels"`, which `None` is on a CUDA device, takes all matrices to be of rank `m` or `n`, and goes by `qr`; there are no ranks,
    /// and sums of squares if `m > n`. Others go by singular values, computed on the host, and of several `X` find the least one: `"gelsy"`, which
    /// `None` is on the CPU, says nothing of what is left, `"gelsd"` and `"gelss"` do if `m > n` and all matrices are of rank `n` (within `vmap`, of whatever rank), and they tell singular
    /// values. Those not above `rcond` times the largest count as 0. What is not said is empty. f32 and f64.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, another driver, numbers that are not finite, other dtypes.
    #[surface(linalg, answers("solution", "residuals", "rank", "singular_values"), keywords_from = "driver")]
    pub fn lstsq(
        &self,
        B: &Tensor,
        #[default(None)] rcond: Option<f64>,
        #[default(None)] driver: Option<&str>,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        const OP: &str = "lstsq";
        let (a, b) = (self.node(), B.node());
        let (m, n) = sides(OP, a.shape())?;
        let rank = a.shape().rank();
        let is_vector = b.shape().rank() + 1 == rank && b.shape()[..] == a.shape()[..rank - 1];
        let b = if is_vector { b.reshape(b.shape().insert(b.shape().rank(), 1))? } else { b };
        if sides(OP, b.shape())?.0 != m {
            return misfit(OP, format!("shapes {} and {} do not fit", a.shape(), B.shape()));
        }
        let driver = driver.unwrap_or(if a.device().is_cuda() { "gels" } else { "gelsy" });
        let shows_values = match driver {
            "gels" | "gelsy" => false,
            "gelsd" | "gelss" => true,
            other => {
                let text =
                    format!("takes \"gels\", \"gelsy\", \"gelsd\" or \"gelss\" as driver, got {other:?}");
                return Err(Error::new(OP, ErrorKind::Value(text)));
            }
        };
        let own = a;
        let (a, b) = together(OP, &own, &b)?;
        let none = |dtype: DType| {
            let zero = Node::scalar(0.0, dtype, a.device(), true);
            zero.expand(Shape::of(&[0])).map(Tensor::from_node)
        };
        let residuals = |x: &Node| {
            let left = a.matmul(x)?.sub(&b).map(Row::Square);
            let axis = left.shape().rank() - 2;
            left.reduce(ReduceKind::Sum, 1 << axis, false).map(Tensor::from_node)
        };
        let solution = |x: Node| match is_vector {
            true => x.reshape(x.shape().remove(x.shape().rank() - 1)).map(Tensor::from_node),
            false => Ok(Tensor::from_node(x)),
        };
        // Nothing is left, of what has gradients.
        let nothing =
            |x: &Node| x.reshape(Shape::of(&[x.shape().numel()]))?.slice(0, 0, 1, 0).map(Tensor::from_node);
        if driver == "gels" && a.shape().numel() > 0 {
            let x = by_reflections(OP, &a, &b)?;
            let left = if m > n { residuals(&x)? } else { nothing(&x)? };
            return Ok((solution(x)?, left, none(DType::I64)?, none(a.dtype())?));
        }
        // Of each matrix once, however many right sides it has.
        let (inverse, s, least) = pseudoinverse(OP, &own, [None, rcond.map(Operand::Float)], false)?;
        let lead = a.shape().rank() - 2;
        let x = inverse.expand(Shape::new(&[&a.shape()[..lead], &[n, m]].concat())?)?.matmul(&b)?;
        let ranks = set_aside(|| counted(&s, &least))?;
        let is_full = || -> Result<bool> {
            mg_graph::needs_values();
            let least = Tensor::from_node(ranks.clone()).to_vec::<i64>()?.into_iter().min();
            Ok(least.is_none_or(|r| r == n as i64))
        };
        // What stands for many examples has no ranks yet: what is left is told of all of them.
        let left = if m > n && driver != "gelsy" && (ranks.is_traced() || is_full()?) {
            residuals(&x)?
        } else {
            nothing(&x)?
        };
        let ranks = if driver == "gels" { none(DType::I64)? } else { Tensor::from_node(ranks) };
        let values = if shows_values { Tensor::from_node(s) } else { none(a.dtype())? };
        Ok((solution(x)?, left, ranks, values))
    }

    /// `eᴬ = Σ Aᵏ / k!` of square matrices, `[…, n, n]`. Reads the largest norm, which says how often the result is squared; within `vmap`, where
    /// there is none yet, it is squared as often as there are bits in a number (24, of f64 53), and what asks for more is NaN. Half types are computed in f32.
    ///
    /// # Errors
    ///
    /// What is no square matrix, other dtypes.
    #[surface(method, function, linalg, reads)]
    pub fn matrix_exp(&self) -> Result<Tensor> {
        let a = self.node();
        square("matrix_exp", a.shape())?;
        let dtype = a.dtype();
        if dtype.float().is_none() {
            return Err(Error::new("matrix_exp", ErrorKind::DType(format!("takes floats, got {dtype}"))));
        }
        if a.shape().numel() == 0 {
            return Ok(self.copy());
        }
        if a.shape().last() == Some(&1) {
            // A number's: its powers would make none of −∞. The gradient reads the exponential: the answer, which may be written to, is
            // another node.
            return Ok(Tensor::from_node(a.map(Row::Exp).alias()));
        }
        let wide = if dtype == DType::F64 { a } else { a.cast(DType::F32) };
        Ok(Tensor::from_node(exponential(&wide)?.cast(dtype)))
    }
}

/// Symmetric matrices, of which the lower triangle is read.
fn symmetric(op: &'static str, a: &Node) -> Result<Node> {
    square(op, a.shape())?;
    let lower = super::factors::triangle(a, false);
    let rank = a.shape().rank();
    let n = a.shape()[rank - 1];
    let line = |dims: [usize; 2]| Node::ramp(Shape::of(&dims), a.device());
    let strict = line([1, n]).lt(&line([n, 1])).choose(a, &a.lit(0.0));
    Ok(lower.add(&transposed(&strict)?))
}
