//! Products of vectors and matrices, and norms of matrices.

use super::einsum;
use super::factorization::singular_values;
use super::{float_as, signed};
use crate::ops::{Operand, kind};
use crate::parts::{axis_mask, count, mask, norm_of, vector_norm, without_slope};
use crate::surface::{Order, Pairing};
use crate::tensor::Tensor;
use mg_device::{AxisSet, DType, Error, ErrorKind, Result, Shape, normalize_axis};
use mg_graph::Node;
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;

fn misfit<T>(op: &'static str, text: String) -> Result<T> {
    Err(Error::new(op, ErrorKind::Shape(text)))
}

/// Refuses tensors of other ranks than an operation takes.
fn ranks<const N: usize>(op: &'static str, tensors: [(&Tensor, usize); N]) -> Result<()> {
    let fits = tensors.iter().all(|(t, rank)| t.rank() == *rank);
    if fits {
        return Ok(());
    }
    let wanted: Vec<String> = tensors.iter().map(|(_, rank)| rank.to_string()).collect();
    let got: Vec<String> = tensors.iter().map(|(t, _)| t.shape().to_string()).collect();
    misfit(op, format!("takes {} axes, got shapes {}", wanted.join(" and "), got.join(" and ")))
}

/// `factor · t`, and 0 where the factor is 0, be it multiplied with what is no number: gradients are zeros there.
fn counted(op: &'static str, t: &Tensor, factor: Operand) -> Result<Tensor> {
    if factor.is_zero() {
        let (x, shape) = (t.node(), t.shape());
        return Ok(Tensor::from_node(without_slope(&x.lit(0.0).expand(shape)?, &x)));
    }
    // What is not known to be a number is asked where it is computed.
    let asked = match &factor {
        Operand::Int(_) | Operand::Float(_) | Operand::Bool(_) => None,
        Operand::Tensor(of) if t.dtype().is_float() && of.rank() == 0 => Some(of.to(t.device())?.node()),
        Operand::Tensor(_) => None,
        Operand::Live(_) => Some(factor.clone().on(t.dtype(), t.device())),
    };
    let product = weighed(op, t, factor)?;
    Ok(match asked {
        Some(factor) => {
            let x = product.node();
            Tensor::from_node(factor.eq(&factor.lit(0.0)).choose(&x.lit(0.0), &x))
        }
        None => product,
    })
}

/// `factor · t`; the number must fit what it is multiplied with.
fn weighed(op: &'static str, t: &Tensor, factor: Operand) -> Result<Tensor> {
    let floats = t.dtype().is_float();
    match factor {
        Operand::Int(1) | Operand::Bool(true) => Ok(t.clone()),
        Operand::Float(1.0) if floats => Ok(t.clone()),
        // As PyTorch has it for products, of which `addr` is none there.
        Operand::Float(v) if !floats && op != "addr" && v.is_finite() => t.try_mul(v.trunc() as i64),
        Operand::Float(_) | Operand::Live(_) if !floats => {
            let text = format!("a float as factor of {}: takes an integer", t.dtype());
            Err(Error::new(op, ErrorKind::DType(text)))
        }
        Operand::Tensor(factor) => {
            // A tensor without axes stands for the number that it holds, wherever it lies.
            if factor.rank() > 0 || factor.requires_grad() || factor.dtype().is_float() && !floats {
                let text = "takes a number as factor, or a tensor without axes and without a gradient";
                let text =
                    format!("{text}, got {} of shape {} for {}", factor.dtype(), factor.shape(), t.dtype());
                return Err(Error::new(op, ErrorKind::DType(text)));
            }
            t.try_mul(factor.to(t.device())?)
        }
        factor => t.try_mul(factor),
    }
}

/// Whether a matrix of floats in rows is multiplied with a vector fastest row by row, as sums of products are made: on CUDA, where a tile of a product
/// of matrices has one column that counts. (Of many vectors it would be a product of matrices.)
fn goes_by_rows(matrix: &Node, vector: &Node) -> bool {
    let shape = matrix.shape();
    let (rows, columns) = (shape[0], shape[1]);
    !matrix.device().is_cpu()
        && matrix.device() == vector.device()
        && matches!(matrix.dtype(), DType::F32 | DType::F64)
        && rows >= MANY_ROWS
        && columns >= LONG_ROWS
        && matrix.is_dense()
        && !(matrix.is_traced() || vector.is_traced())
}

/// Rows of a matrix, and elements of each, from which it [goes by rows](goes_by_rows).
const MANY_ROWS: usize = 256;
const LONG_ROWS: usize = 256;

/// `beta · input + alpha · product`, in the product's shape. What is multiplied with 0 is not looked at, as in BLAS.
fn added(op: &'static str, input: &Tensor, product: Tensor, beta: Operand, alpha: Operand) -> Result<Tensor> {
    let shape = product.shape();
    let own = input.shape();
    if Shape::broadcast(&own, &shape) != Some(shape) {
        return misfit(op, format!("{own} does not broadcast to the product's shape {shape}"));
    }
    let is_one =
        |factor: &Operand| matches!(factor, Operand::Int(1) | Operand::Float(1.0) | Operand::Bool(true));
    let dtype = product.dtype();
    if dtype.is_half() && input.dtype() == dtype && !(is_one(&beta) && is_one(&alpha)) {
        // Half types are weighed and added in f32, and rounded once.
        let (input, product) = (input.to_dtype(DType::F32), product.to_dtype(DType::F32));
        return Ok(added(op, &input, product, beta, alpha)?.to_dtype(dtype));
    }
    // Of `addr`, which is no product to PyTorch, what `alpha` stands before is multiplied whatever it is.
    let product = if op == "addr" { weighed(op, &product, alpha)? } else { counted(op, &product, alpha)? };
    if beta.is_zero() {
        // It has a gradient all the same: zeros.
        let (value, x) = (product.node(), input.node());
        let dtype = DType::promote(x.dtype(), value.dtype());
        return Ok(Tensor::from_node(without_slope(&value.cast(dtype), &x.expand(shape)?)));
    }
    counted(op, input, beta)?.try_add(product)
}

/// The dtype in which two matrices meet.
fn joint([a, b]: [&Tensor; 2]) -> DType {
    DType::result_type([kind(&a.node()), kind(&b.node())])
}

/// Matrices whose product is of a dtype: halves as the float32 in which their products are summed.
fn widened(op: &'static str, matrices: [&Tensor; 2], out_dtype: Option<DType>) -> Result<[Tensor; 2]> {
    let Some(dtype) = out_dtype else { return Ok(matrices.map(Tensor::clone)) };
    let own = joint(matrices);
    if dtype != own && !(dtype == DType::F32 && own.is_half()) {
        let text = format!("an out_dtype is the matrices', {own}, or float32 of halves, got {dtype}");
        return Err(Error::new(op, ErrorKind::DType(text)));
    }
    Ok(matrices.map(|t| t.to_dtype(dtype)))
}

/// What a product of `out_dtype` is added to: of the matrices' dtype, or of the product's.
fn beside(
    op: &'static str,
    input: &Tensor,
    matrices: [&Tensor; 2],
    out_dtype: Option<DType>,
) -> Result<Tensor> {
    let Some(dtype) = out_dtype else { return Ok(input.clone()) };
    let (got, own) = (input.dtype(), joint(matrices));
    if got != own && got != dtype {
        let text = format!("with an out_dtype adds to {own} or {dtype}, got {got}");
        return Err(Error::new(op, ErrorKind::DType(text)));
    }
    Ok(input.to_dtype(dtype))
}

/// The cross product along an axis of three.
fn crossed(op: &'static str, a: &Tensor, b: &Tensor, axis: isize) -> Result<Tensor> {
    let shapes = [a.shape(), b.shape()];
    let (a, b) = broadcast(op, a, b)?;
    let axis = normalize_axis(axis, a.rank().max(1))? as isize;
    // Vectors broadcast, and not what they are made of.
    let behind = a.rank().wrapping_sub(axis as usize);
    let is_of_three = |shape: &Shape| shape.rank().checked_sub(behind).is_some_and(|at| shape[at] == 3);
    if a.rank() == 0 || !shapes.iter().all(is_of_three) {
        let [own, other] = shapes;
        return misfit(op, format!("takes vectors of 3 along axis {axis}, got shapes {own} and {other}"));
    }
    let part = |t: &Tensor, i: isize| t.select(axis, i);
    let parts = [(1, 2), (2, 0), (0, 1)]
        .map(|(i, j)| part(&a, i)?.try_mul(part(&b, j)?)?.try_sub(part(&a, j)?.try_mul(part(&b, i)?)?));
    let parts = parts.into_iter().collect::<Result<Vec<Tensor>>>()?;
    Tensor::stack(&parts.iter().collect::<Vec<_>>(), axis)
}

/// Two tensors in their common shape.
fn broadcast(op: &'static str, a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor)> {
    let (sa, sb) = (a.shape(), b.shape());
    let Some(shape) = Shape::broadcast(&sa, &sb) else {
        return misfit(op, format!("shapes {sa} and {sb} cannot be broadcast together"));
    };
    let sizes = signed(&shape);
    Ok((a.expand(&sizes)?, b.expand(&sizes)?))
}

/// Matrices multiplied in the order that takes the fewest multiplications (Godbole, "On efficient computation of matrix chain
/// products", 1973). The first and the last may be vectors.
fn chain(op: &'static str, tensors: &[Tensor]) -> Result<Tensor> {
    let (Some(first), Some(last)) = (tensors.first(), tensors.last()) else {
        return misfit(op, "takes a matrix at least".into());
    };
    if tensors.len() == 1 {
        return Ok(Tensor::from_node(first.node().alias()));
    }
    let (row, column) = (first.rank() == 1, last.rank() == 1);
    let n = tensors.len();
    let mut all = tensors.to_vec();
    if row {
        all[0] = first.unsqueeze(0)?;
    }
    if column {
        all[n - 1] = last.unsqueeze(1)?;
    }
    let fits =
        all.iter().all(|t| t.rank() == 2) && all.windows(2).all(|w| w[0].shape()[1] == w[1].shape()[0]);
    if !fits {
        let shapes: Vec<String> = tensors.iter().map(|t| t.shape().to_string()).collect();
        return misfit(op, format!("shapes {} do not fit one after the other", shapes.join(", ")));
    }
    let sizes: Vec<f64> =
        all.iter().map(|t| t.shape()[0] as f64).chain([all[n - 1].shape()[1] as f64]).collect();
    let (mut cost, mut split) = (vec![vec![0.0f64; n]; n], vec![vec![0usize; n]; n]);
    for len in 1..n {
        for i in 0..n - len {
            let j = i + len;
            cost[i][j] = f64::INFINITY;
            for k in i..j {
                let c = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
                if c < cost[i][j] {
                    (cost[i][j], split[i][j]) = (c, k);
                }
            }
        }
    }
    fn product(all: &[Tensor], split: &[Vec<usize>], i: usize, j: usize) -> Result<Tensor> {
        if i == j {
            return Ok(all[i].clone());
        }
        let k = split[i][j];
        product(all, split, i, k)?.try_matmul(&product(all, split, k + 1, j)?)
    }
    let out = product(&all, &split, 0, n - 1)?;
    let out = if column { out.squeeze(Some(&[1]))? } else { out };
    if row { out.squeeze(Some(&[0])) } else { Ok(out) }
}

/// Powers of what lies along the last axis, along a new one; of integers in i64.
fn powers(x: &Tensor, n: usize, increasing: bool) -> Result<Tensor> {
    let x = if x.dtype().is_float() { x.clone() } else { x.to_dtype(DType::I64) };
    // The 0-th power alone is made of nothing.
    let (x, columns) = (x.node(), x.rank());
    let ones = x.lit(1.0).expand(x.shape().insert(columns, n.min(1)))?;
    if n <= 1 {
        return Ok(Tensor::from_node(ones));
    }
    // Products, and not powers: those have no second derivative at 0.
    let each = x.reshape(x.shape().insert(columns, 1))?.expand(x.shape().insert(columns, n - 1))?;
    let products = Tensor::from_node(each).try_cumprod(columns as isize, None)?;
    let all = Tensor::from_node(Node::concat(&[&ones, &products.node()], columns)?);
    if increasing { Ok(all) } else { all.flip(&[-1]) }
}

/// The norm of the matrices in two axes.
fn norm_of_matrices(
    op: &'static str,
    x: &Node,
    order: Order<'_>,
    dim: &[isize],
    keepdim: bool,
) -> Result<Node> {
    let &[rows, columns] = dim else {
        return misfit(op, format!("takes two axes, got {dim:?}"));
    };
    let both = mask(x, dim)?;
    let (rows, columns) = (axis_mask(x, rows)?, axis_mask(x, columns)?);
    // Of no numbers the largest is 0, as PyTorch has it, and there is no least one.
    let of_none = || norm_of(x, 1.0, both, keepdim);
    let has_none = |axes: AxisSet| count(x.shape(), axes) == 0;
    // The largest or least of the sums along one of the axes.
    let of_sums = |sum: AxisSet, of: AxisSet, kind: ReduceKind| -> Result<Node> {
        if kind == ReduceKind::Max && has_none(of) {
            return of_none();
        }
        let sums = x.map(Row::Abs).reduce(ReduceKind::Sum, sum, true)?.reduce(kind, of, true)?;
        let kept = crate::parts::kept(x.shape(), both, keepdim);
        sums.reshape(kept)
    };
    match order {
        Order::Word("fro") => norm_of(x, 2.0, both, keepdim),
        Order::Number(1.0) => of_sums(rows, columns, ReduceKind::Max),
        Order::Number(-1.0) => of_sums(rows, columns, ReduceKind::Min),
        Order::Number(f64::INFINITY) => of_sums(columns, rows, ReduceKind::Max),
        Order::Number(f64::NEG_INFINITY) => of_sums(columns, rows, ReduceKind::Min),
        Order::Number(2.0) if has_none(rows) || has_none(columns) => of_none(),
        Order::Word("nuc") | Order::Number(2.0 | -2.0) => {
            // The matrices come last.
            let (first, second) = (rows.trailing_zeros() as usize, columns.trailing_zeros() as usize);
            let rank = x.shape().rank();
            let order_of_axes = (0..rank).filter(|&d| d != first && d != second).chain([first, second]);
            let s = singular_values(op, &x.permute(&order_of_axes.collect::<Vec<_>>())?)?;
            let axis = 1 << (s.shape().rank() - 1);
            let kind = match order {
                Order::Word(_) => ReduceKind::Sum,
                Order::Number(p) if p > 0.0 => ReduceKind::Max,
                Order::Number(_) => ReduceKind::Min,
            };
            s.reduce(kind, axis, false)?.reshape(crate::parts::kept(x.shape(), both, keepdim))
        }
        Order::Word(_) | Order::Number(_) => {
            let text = format!(
                "takes \"fro\", \"nuc\", 1, -1, 2, -2, inf or -inf as the order of a matrix norm, got {order}"
            );
            Err(Error::new(op, ErrorKind::Value(text)))
        }
    }
}

/// `x` and `y` contracted over axes that belong together.
fn contracted(a: &Tensor, b: &Tensor, dims: Pairing<'_>) -> Result<Tensor> {
    let (ra, rb) = (a.rank(), b.rank());
    let (of_a, of_b): (Vec<usize>, Vec<usize>) = match dims {
        Pairing::Count(n) if n <= ra && n <= rb => ((ra - n..ra).collect(), (0..n).collect()),
        Pairing::Count(n) => {
            return misfit("tensordot", format!("{n} axes of shapes {} and {}", a.shape(), b.shape()));
        }
        Pairing::Axes(x, y) if x.len() == y.len() => {
            let axes = |dims: &[isize], rank: usize| {
                dims.iter().map(|&d| normalize_axis(d, rank.max(1))).collect::<Result<Vec<usize>>>()
            };
            (axes(x, ra)?, axes(y, rb)?)
        }
        Pairing::Axes(x, y) => {
            return misfit("tensordot", format!("as many axes on both sides, got {x:?} and {y:?}"));
        }
    };
    // What belongs together has one label.
    let (mut la, mut lb): (Vec<usize>, Vec<usize>) = ((0..ra).collect(), (ra..ra + rb).collect());
    for (&i, &j) in of_a.iter().zip(&of_b) {
        if i >= ra || j >= rb || lb[j] < ra || of_a.iter().filter(|&&k| k == i).count() > 1 {
            return misfit(
                "tensordot",
                format!("axes {of_a:?} and {of_b:?} are named twice or are not there"),
            );
        }
        lb[j] = la[i];
    }
    let out: Vec<usize> =
        la.iter().filter(|l| !lb.contains(l)).chain(lb.iter().filter(|l| !la.contains(l))).copied().collect();
    la.truncate(ra);
    einsum::contract("tensordot", &[(a.clone(), la), (b.clone(), lb)], &out)
}

#[operations(LINEAR_ALGEBRA)]
impl Tensor {
    /// The matrix product, as NumPy's `@`: vectors are taken as a row on the left and a column on the right, batches
    /// broadcast.
    ///
    /// # Errors
    ///
    /// Scalars, inner sizes that differ, batches that do not broadcast, unlike devices.
    #[surface(method, function, linalg)]
    pub fn matmul(&self, other: &Tensor) -> Result<Tensor> {
        let (mut a, mut b) = (self.node(), other.node());
        let fail = |text: String| Error::new("matmul", ErrorKind::Shape(text));
        let (ra, rb) = (a.shape().rank(), b.shape().rank());
        if ra == 0 || rb == 0 {
            return Err(fail(format!(
                "takes at least one axis on each side, got {} and {}",
                a.shape(),
                b.shape()
            )));
        }
        let (inner_a, inner_b) = (a.shape()[ra - 1], b.shape()[rb.max(2) - 2]);
        if inner_a != inner_b {
            return Err(fail(format!(
                "shapes {} and {} do not fit: {inner_a} is not {inner_b}",
                a.shape(),
                b.shape()
            )));
        }
        let dtype = DType::promote(a.dtype(), b.dtype());
        (a, b) = (a.cast(dtype), b.cast(dtype));
        if ra == 1 && rb == 1 && matches!(dtype, DType::F32 | DType::F64) {
            // A sum's parts are added in pairs; a product of matrices adds along its inner axis one after the other,
            // which over millions of terms loses digits.
            let products = Tensor::from_node(a).try_mul(Tensor::from_node(b))?;
            return products.try_sum_dim(&[0], false);
        }
        if ra == 2 && rb == 1 && goes_by_rows(&a, &b) {
            let products = Tensor::from_node(a).try_mul(Tensor::from_node(b))?;
            return products.try_sum_dim(&[1], false);
        }
        if ra == 1 {
            a = a.reshape(Shape::of(&[1, inner_a]))?;
        }
        if rb == 1 {
            b = b.reshape(Shape::of(&[inner_b, 1]))?;
        }
        let mut out = a.matmul(&b)?;
        let mut shape = *out.shape();
        if rb == 1 {
            shape = shape.remove(shape.rank() - 1);
        }
        if ra == 1 {
            shape = shape.remove(shape.rank() - 1 - (rb != 1) as usize);
        }
        out = out.reshape(shape)?;
        Ok(Tensor::from_node(out))
    }

    /// The product of two matrices. With `out_dtype` of float32, that of halves is not rounded to their dtype.
    ///
    /// # Errors
    ///
    /// What is no matrix, inner sizes that differ, unlike devices; an `out_dtype` that is neither the matrices' nor float32 of halves.
    pub fn mm(
        &self,
        mat2: &Tensor,
        #[python]
        #[default(None)]
        out_dtype: Option<DType>,
    ) -> Result<Tensor> {
        ranks("mm", [(self, 2), (mat2, 2)])?;
        let [a, b] = widened("mm", [self, mat2], out_dtype)?;
        a.try_matmul(&b)
    }

    /// The products of two batches of matrices, `[b, n, m]` and `[b, m, p]`. With `out_dtype` of float32, those of halves are not rounded to
    /// their dtype.
    ///
    /// # Errors
    ///
    /// Other than three axes, batches or inner sizes that differ, unlike devices; an `out_dtype` that is neither the matrices' nor float32 of
    /// halves.
    pub fn bmm(
        &self,
        mat2: &Tensor,
        #[python]
        #[default(None)]
        out_dtype: Option<DType>,
    ) -> Result<Tensor> {
        ranks("bmm", [(self, 3), (mat2, 3)])?;
        let (a, b) = (self.shape(), mat2.shape());
        if a[0] != b[0] {
            return misfit("bmm", format!("shapes {a} and {b} are batches of different sizes"));
        }
        let [a, b] = widened("bmm", [self, mat2], out_dtype)?;
        a.try_matmul(&b)
    }

    /// The product of a matrix and a vector.
    ///
    /// # Errors
    ///
    /// What is no matrix or no vector, sizes that differ, unlike devices.
    pub fn mv(&self, vec: &Tensor) -> Result<Tensor> {
        ranks("mv", [(self, 2), (vec, 1)])?;
        self.try_matmul(vec)
    }

    /// The sum of the products of two vectors' elements.
    ///
    /// # Errors
    ///
    /// What is no vector, sizes that differ, unlike devices.
    #[surface(method, function, alias = "vdot")]
    pub fn dot(&self, tensor: &Tensor) -> Result<Tensor> {
        ranks("dot", [(self, 1), (tensor, 1)])?;
        self.try_matmul(tensor)
    }

    /// The sums of products along the last axes of both; with a tensor without axes, the product.
    ///
    /// # Errors
    ///
    /// Last axes that differ, unlike devices.
    pub fn inner(&self, other: &Tensor) -> Result<Tensor> {
        if self.rank() == 0 || other.rank() == 0 {
            return self.try_mul(other);
        }
        let (a, b) = (self.shape(), other.shape());
        if a[a.rank() - 1] != b[b.rank() - 1] {
            return misfit("inner", format!("the last axes of {a} and {b} differ"));
        }
        contracted(self, other, Pairing::Axes(&[-1], &[-1]))
    }

    /// The products of each element of a vector with each of another: `[n, m]`.
    ///
    /// # Errors
    ///
    /// What is no vector, unlike devices.
    #[surface(method, function, alias = "ger")]
    pub fn outer(&self, vec2: &Tensor) -> Result<Tensor> {
        ranks("outer", [(self, 1), (vec2, 1)])?;
        self.unsqueeze(1)?.try_mul(vec2)
    }

    /// `beta · self + alpha · mat1 @ mat2`, of matrices; `self` broadcasts to the product. With `beta` 0 it is not looked at. Of integers,
    /// factors lose their fractions.
    ///
    /// # Errors
    ///
    /// What is no matrix, shapes that do not fit, unlike devices; an `out_dtype` (see `mm`) that does not fit.
    #[surface(method, function, in_place, keywords_from = "beta")]
    pub fn addmm(
        &self,
        mat1: &Tensor,
        mat2: &Tensor,
        #[python]
        #[default(None)]
        out_dtype: Option<DType>,
        #[default(Operand::Int(1))] beta: Operand,
        #[default(Operand::Int(1))] alpha: Operand,
    ) -> Result<Tensor> {
        ranks("addmm", [(mat1, 2), (mat2, 2)])?;
        let [a, b] = widened("addmm", [mat1, mat2], out_dtype)?;
        added("addmm", &beside("addmm", self, [mat1, mat2], out_dtype)?, a.try_matmul(&b)?, beta, alpha)
    }

    /// `beta · self + alpha · mat @ vec`, of a matrix and a vector; `self` broadcasts to the product. With `beta` 0 it is not
    /// looked at. Of integers, factors lose their fractions.
    ///
    /// # Errors
    ///
    /// What is no matrix or no vector, shapes that do not fit, unlike devices.
    #[surface(method, function, in_place, keywords_from = "beta")]
    pub fn addmv(
        &self,
        mat: &Tensor,
        vec: &Tensor,
        #[default(Operand::Int(1))] beta: Operand,
        #[default(Operand::Int(1))] alpha: Operand,
    ) -> Result<Tensor> {
        ranks("addmv", [(mat, 2), (vec, 1)])?;
        added("addmv", self, mat.try_matmul(vec)?, beta, alpha)
    }

    /// `beta · self + alpha · Σ batch1[i] @ batch2[i]`, of batches of matrices; `self` broadcasts to the sum. With `beta` 0 it
    /// is not looked at. Of integers, factors lose their fractions.
    ///
    /// # Errors
    ///
    /// Other than three axes, shapes that do not fit, unlike devices.
    #[surface(method, function, in_place, keywords_from = "beta")]
    pub fn addbmm(
        &self,
        batch1: &Tensor,
        batch2: &Tensor,
        #[default(Operand::Int(1))] beta: Operand,
        #[default(Operand::Int(1))] alpha: Operand,
    ) -> Result<Tensor> {
        ranks("addbmm", [(batch1, 3), (batch2, 3)])?;
        // One product, whose inner axis is that of all of them.
        let operands = [(batch1.clone(), vec![0, 1, 2]), (batch2.clone(), vec![0, 2, 3])];
        let product = einsum::contract("addbmm", &operands, &[1, 3])?;
        added("addbmm", self, product, beta, alpha)
    }

    /// `beta · self + alpha · batch1 @ batch2`, of batches of matrices; `self` broadcasts to the products. With `beta` 0 it is
    /// not looked at.
    ///
    /// # Errors
    ///
    /// Other than three axes, shapes that do not fit, unlike devices; an `out_dtype` (see `bmm`) that does not fit.
    #[surface(method, function, in_place, keywords_from = "beta")]
    pub fn baddbmm(
        &self,
        batch1: &Tensor,
        batch2: &Tensor,
        #[python]
        #[default(None)]
        out_dtype: Option<DType>,
        #[default(Operand::Int(1))] beta: Operand,
        #[default(Operand::Int(1))] alpha: Operand,
    ) -> Result<Tensor> {
        ranks("baddbmm", [(batch1, 3), (batch2, 3)])?;
        let [a, b] = widened("baddbmm", [batch1, batch2], out_dtype)?;
        added("baddbmm", &beside("baddbmm", self, [batch1, batch2], out_dtype)?, a.try_bmm(&b)?, beta, alpha)
    }

    /// `beta · self + alpha · vec1 ⊗ vec2`; `self` broadcasts to the products. With `beta` 0 it is not looked at. Of truth values a
    /// sum is "or", and a factor whether it is not 0.
    ///
    /// # Errors
    ///
    /// What is no vector, shapes that do not fit, unlike devices, a float as factor of integers.
    #[surface(method, function, in_place, keywords_from = "beta")]
    pub fn addr(
        &self,
        vec1: &Tensor,
        vec2: &Tensor,
        #[default(Operand::Int(1))] beta: Operand,
        #[default(Operand::Int(1))] alpha: Operand,
    ) -> Result<Tensor> {
        ranks("addr", [(vec1, 1), (vec2, 1)])?;
        let product = vec1.try_outer(vec2)?;
        // Without axes, too, the tensor counts as one with some.
        let dtype = DType::promote(self.dtype(), product.dtype());
        let (input, product) = (self.to_dtype(dtype), product.to_dtype(dtype));
        // Of truth values factors are some, too, as in PyTorch: 3 times one would be an integer.
        let of_truths = dtype.is_bool();
        let factor = |factor: Operand| match factor {
            Operand::Int(n) if of_truths => Operand::Bool(n != 0),
            Operand::Int(_)
            | Operand::Tensor(_)
            | Operand::Float(_)
            | Operand::Bool(_)
            | Operand::Live(_) => factor,
        };
        added("addr", &input, product, factor(beta), factor(alpha))
    }

    /// Sums of products of tensors whose axes are named by letters, as Einstein wrote them: `"ij,jk->ik"` is the matrix product.
    /// An axis of size 1 broadcasts. A letter that occurs twice in an operand takes its diagonal; `...` are further axes, which
    /// broadcast. Without `->`, the result has the letters that occur once, in alphabetical order, after the further axes.
    ///
    /// Operands are contracted two at a time by matrix products, in the order that takes the fewest multiplications (up to 8 of
    /// them; of more, the cheapest pair first).
    ///
    /// # Errors
    ///
    /// An equation that is none or does not fit the operands, axes of one letter and different sizes, unlike devices.
    #[surface(function, variadic)]
    pub fn einsum(equation: &str, operands: &[Tensor]) -> Result<Tensor> {
        let (labels, out) = einsum::parsed(equation, operands)?;
        if let ([operand], [own]) = (operands, labels.as_slice()) {
            if let Some(view) = einsum::seen(operand, own, &out)? {
                return Ok(view);
            }
            // A sum of integers is one of 64 bits, as sums are.
            let sums = own.iter().any(|label| !out.contains(label));
            if sums && !operand.dtype().is_float() {
                let wide = [(operand.to_dtype(DType::I64), own.clone())];
                return einsum::contract("einsum", &wide, &out);
            }
        }
        // So is what is summed of one operand before it is multiplied.
        let is_summed_alone = |label: &usize| {
            let holders = operands.iter().zip(&labels).filter(|(operand, own)| {
                own.iter().zip(operand.shape().iter()).any(|(of, &size)| of == label && size != 1)
            });
            !out.contains(label) && holders.count() == 1
        };
        if labels.len() > 1
            && labels.iter().flatten().any(is_summed_alone)
            && operands.iter().all(|operand| !operand.dtype().is_float())
        {
            let wide = operands.iter().map(|operand| operand.to_dtype(DType::I64));
            return einsum::contract("einsum", &wide.zip(labels).collect::<Vec<_>>(), &out);
        }
        let labelled: Vec<_> = operands.iter().cloned().zip(labels).collect();
        einsum::contract("einsum", &labelled, &out)
    }

    /// Sums of products over axes of both tensors that belong together: the last `dims` of the first and the first of the second,
    /// or a list of axes of each. The other axes stay, those of the first one first. By matrix products.
    ///
    /// # Errors
    ///
    /// Axes that are not there or named twice, sizes that differ, unlike devices.
    #[surface(function)]
    pub fn tensordot(
        &self,
        other: &Tensor,
        #[default(Pairing::Count(2))] dims: Pairing<'_>,
    ) -> Result<Tensor> {
        contracted(self, other, dims)
    }

    /// The sum of a matrix' diagonal; of integers in i64.
    ///
    /// # Errors
    ///
    /// What is no matrix.
    pub fn trace(&self) -> Result<Tensor> {
        ranks("trace", [(self, 2)])?;
        let node = self.node();
        let line = node.diagonal([0, 1], 0, node.shape()[0].min(node.shape()[1]))?;
        Ok(Tensor::from_node(line.reduce(ReduceKind::Sum, 1, false)?))
    }

    /// The Kronecker product: blocks of the other tensor, each times an element of this one. The tensor of fewer axes has axes of
    /// size 1 before them.
    ///
    /// # Errors
    ///
    /// More than four axes that are larger than 1, unlike devices.
    pub fn kron(&self, other: &Tensor) -> Result<Tensor> {
        let (a, b) = (self.shape(), other.shape());
        let rank = a.rank().max(b.rank());
        let size = |s: &Shape, d: usize| (d + s.rank()).checked_sub(rank).map_or(1, |d| s[d]);
        let (mut left, mut right, mut out) = (vec![], vec![], vec![]);
        for d in 0..rank {
            let (n, m) = (size(&a, d), size(&b, d));
            // Only where both are larger are there two axes for a while.
            match (n, m) {
                (1, m) => (left.push(1), right.push(m as isize)),
                (n, 1) => (left.push(n as isize), right.push(1)),
                (n, m) => (left.extend([n as isize, 1]), right.extend([1, m as isize])),
            };
            out.push((n * m) as isize);
        }
        self.reshape(&left)?.try_mul(other.reshape(&right)?)?.reshape(&out)
    }

    /// The product of several matrices, in the order that takes the fewest multiplications.
    ///
    /// # Errors
    ///
    /// No matrices, what is no matrix, shapes that do not fit, unlike devices.
    #[surface(function, variadic)]
    pub fn chain_matmul(matrices: &[Tensor]) -> Result<Tensor> {
        for matrix in matrices {
            ranks("chain_matmul", [(matrix, 2)])?;
        }
        chain("chain_matmul", matrices)
    }

    /// The product of several matrices, in the order that takes the fewest multiplications; the first may be a vector, taken as a
    /// row, and the last, taken as a column.
    ///
    /// # Errors
    ///
    /// No tensors, what is neither, shapes that do not fit, unlike devices.
    #[surface(linalg)]
    pub fn multi_dot(tensors: &[Tensor]) -> Result<Tensor> {
        chain("multi_dot", tensors)
    }

    /// The cross product of vectors along an axis of three positions: the first such axis, if none is named. Shapes broadcast.
    ///
    /// # Errors
    ///
    /// No such axis, shapes that do not broadcast, unlike devices.
    pub fn cross(&self, other: &Tensor, #[default(None)] dim: Option<isize>) -> Result<Tensor> {
        let axis = match dim {
            Some(dim) => dim,
            None => {
                let (a, _) = broadcast("cross", self, other)?;
                let Some(axis) = a.shape().iter().position(|&n| n == 3) else {
                    return misfit("cross", format!("no axis of size 3 in {}", a.shape()));
                };
                axis as isize
            }
        };
        crossed("cross", self, other, axis)
    }

    /// The cross product of vectors along an axis of three positions. Shapes broadcast.
    ///
    /// # Errors
    ///
    /// Another number of axes or size along the axis, shapes that do not broadcast, unlike devices.
    #[surface(linalg, name = "cross", keywords_from = "dim")]
    pub fn cross_along(&self, other: &Tensor, #[default(-1)] dim: isize) -> Result<Tensor> {
        if self.rank() != other.rank() {
            let (own, other) = (self.shape(), other.shape());
            return misfit("cross", format!("takes tensors with as many axes, got shapes {own} and {other}"));
        }
        crossed("cross", self, other, dim)
    }

    /// The sums of products of vectors along an axis. Shapes broadcast.
    ///
    /// # Errors
    ///
    /// An axis out of range, shapes that do not broadcast, unlike devices.
    #[surface(linalg, keywords_from = "dim")]
    pub fn vecdot(&self, y: &Tensor, #[default(-1)] dim: isize) -> Result<Tensor> {
        let product = self.try_mul(y)?;
        let (sum, dtype) = (product.try_sum_dim(&[dim], false)?, product.dtype());
        Ok(sum.to_dtype(dtype))
    }

    /// Matrices multiplied with themselves, `n` times; the identity, if `n` is 0; of a negative `n`, the inverse's power (f32 and f64).
    /// By squaring.
    ///
    /// # Errors
    ///
    /// What is no square matrix; with a negative `n` a singular one.
    #[surface(method, function, linalg)]
    pub fn matrix_power(&self, n: i64) -> Result<Tensor> {
        let shape = self.shape();
        let rank = shape.rank();
        if rank < 2 || shape[rank - 1] != shape[rank - 2] {
            return misfit("matrix_power", format!("takes square matrices, got shape {shape}"));
        }
        if n < 0 {
            let Some(n) = n.checked_neg() else {
                let text = format!("takes a power above -2^63, got {n}");
                return Err(Error::new("matrix_power", ErrorKind::Value(text)));
            };
            return self.try_inv()?.try_matrix_power(n);
        }
        let (mut square, mut out, mut left) = (self.clone(), None::<Tensor>, n);
        while left > 0 {
            if left & 1 == 1 {
                out = Some(out.map_or_else(|| Ok(square.clone()), |o| o.try_matmul(&square))?);
            }
            left >>= 1;
            if left > 0 {
                square = square.try_matmul(&square)?;
            }
        }
        match out {
            Some(out) if n == 1 => Ok(out.copy()),
            Some(out) => Ok(out),
            None => {
                let size = shape[rank - 1];
                let line = |dims: [usize; 2]| Ok(Node::ramp(Shape::new(&dims)?, self.device()));
                let identity = line([size, 1])?.eq(&line([1, size])?).cast(self.dtype()).expand(shape)?;
                Ok(Tensor::from_node(crate::parts::without_slope(&identity, &self.node())))
            }
        }
    }

    /// The norm of vectors: of all elements as one, or over some axes. See `norm` for the orders. Integers become the default float.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice; an order that is NaN; with an infinite or negative one, no elements.
    #[surface(linalg, keywords_from = "dtype")]
    pub fn vector_norm(
        &self,
        #[default(2.0)] ord: f64,
        #[default(&[])] dim: &[isize],
        #[default(false)] keepdim: bool,
        #[default(None)] dtype: Option<DType>,
    ) -> Result<Tensor> {
        let node = float_as("vector_norm", self, dtype)?;
        let axes = mask(&node, dim)?;
        Ok(Tensor::from_node(vector_norm("vector_norm", &node, ord, axes, keepdim)?))
    }

    /// The norm of the matrices in two axes: `"fro"` is the root of the sum of squares; 1 and −1 the largest and the least sum of a
    /// column's magnitudes, infinity and −infinity of a row's; `"nuc"` the sum of the singular values, 2 and −2 the largest and the least of
    /// them (f32 and f64). Integers become the default float.
    ///
    /// # Errors
    ///
    /// Fewer than two axes, axes out of range or the same; other orders; with −1, −2 and −infinity, no sums or singular values (of
    /// which the largest, with 1, 2 and infinity, is 0).
    #[surface(linalg, keywords_from = "dtype")]
    pub fn matrix_norm(
        &self,
        #[default(Order::Word("fro"))] ord: Order<'_>,
        #[default(&[-2, -1])] dim: &[isize],
        #[default(false)] keepdim: bool,
        #[default(None)] dtype: Option<DType>,
    ) -> Result<Tensor> {
        let node = float_as("matrix_norm", self, dtype)?;
        if node.shape().rank() < 2 {
            return misfit("matrix_norm", format!("takes matrices, got shape {}", node.shape()));
        }
        Ok(Tensor::from_node(norm_of_matrices("matrix_norm", &node, ord, dim, keepdim)?))
    }

    /// The norm of a vector or a matrix. Without an order the root of the sum of squares, of all elements or over some axes; with
    /// one, that of vectors over one axis (or of a tensor of one), that of matrices over two (or of a tensor of two). See
    /// `vector_norm` and `matrix_norm`. Integers become the default float.
    ///
    /// # Errors
    ///
    /// With an order, other than one or two axes; those of `vector_norm` and `matrix_norm`.
    #[surface(linalg, name = "norm", keywords_from = "dtype")]
    pub fn vector_or_matrix_norm(
        &self,
        #[default(None)] ord: Option<Order<'_>>,
        #[default(&[])] dim: &[isize],
        #[default(false)] keepdim: bool,
        #[default(None)] dtype: Option<DType>,
    ) -> Result<Tensor> {
        let node = float_as("norm", self, dtype)?;
        let Some(order) = ord else {
            return Ok(Tensor::from_node(norm_of(&node, 2.0, mask(&node, dim)?, keepdim)?));
        };
        let all: Vec<isize> = (0..node.shape().rank() as isize).collect();
        let axes = if dim.is_empty() { &all[..] } else { dim };
        let norm = match (axes.len(), order) {
            (2, order) => norm_of_matrices("norm", &node, order, axes, keepdim)?,
            (1, Order::Number(p)) => vector_norm("norm", &node, p, mask(&node, axes)?, keepdim)?,
            (count, order) => {
                let order = match order {
                    Order::Word(word) => format!("{word:?}"),
                    Order::Number(p) => format!("{p}"),
                };
                let text = format!(
                    "takes one axis and a number, or two axes, got {count} of {} and {order}",
                    node.shape()
                );
                return misfit("norm", text);
            }
        };
        Ok(Tensor::from_node(norm))
    }

    /// The powers of a vector's elements as columns: from the `n − 1`-th (`n` is the vector's size, if it is not given) down to
    /// the 0-th, or up to it.
    ///
    /// # Errors
    ///
    /// What is no vector.
    #[surface(function)]
    pub fn vander(
        &self,
        #[default(None)] n: Option<usize>,
        #[default(false)] increasing: bool,
    ) -> Result<Tensor> {
        ranks("vander", [(self, 1)])?;
        powers(self, n.unwrap_or(self.numel()), increasing)
    }

    /// The diagonals of matrices (above the main one by `offset`) as the last axis: a view. `dim1` and `dim2` say which axes the matrices
    /// have.
    ///
    /// # Errors
    ///
    /// An axis out of range, or twice the same.
    #[surface(linalg, view, name = "diagonal", keywords_from = "offset")]
    pub fn matrix_diagonal(
        &self,
        #[default(0)] offset: isize,
        #[default(-2)] dim1: isize,
        #[default(-1)] dim2: isize,
    ) -> Result<Tensor> {
        self.diagonal(offset, dim1, dim2)
    }

    /// The powers of the elements along the last axis, from the 0-th up, as many as there are elements unless `n` says how many.
    ///
    /// # Errors
    ///
    /// `n` not larger than 1.
    #[surface(linalg, name = "vander", keywords_from = "n")]
    pub fn powers(&self, #[default(None)] n: Option<usize>) -> Result<Tensor> {
        // A number is a vector of one.
        let x = if self.rank() == 0 { self.reshape(&[1])? } else { self.clone() };
        let n = n.unwrap_or(x.shape().last().copied().unwrap_or(1));
        if n <= 1 {
            let text = format!("takes two powers at least, got {n}");
            return Err(Error::new("vander", ErrorKind::Value(text)));
        }
        powers(&x, n, true)
    }
}
