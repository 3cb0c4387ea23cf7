//! How far vectors are apart.

use super::{axis_mask, float, meet};
use crate::functional::p_norm;
use crate::tensor::Tensor;
use mg_device::{Error, ErrorKind, Result, Shape, normalize_axis};
use mg_graph::Node;
use mg_kernels::{Algebra, ReduceKind, Rules};
use mg_macros::operations;

/// What is no smaller than a bound, through which no gradient passes where it is; NaN stays.
pub(super) fn at_least(x: &Node, bound: f64) -> Node {
    let bound = x.lit(bound);
    x.lt(&bound).choose(&bound, x)
}

/// The norm of differences along the last axis.
pub(super) fn apart(a: &Node, b: &Node, p: f64, eps: f64, keepdim: bool) -> Result<Node> {
    let difference = a.sub(b);
    let difference = difference.add(&difference.lit(eps));
    let last = axis_mask(&difference, -1)?;
    p_norm(&difference, p, last, keepdim)
}

#[operations(DISTANCES)]
impl Tensor {
    /// The cosine of the angle between vectors along an axis, whose lengths are taken for at least `eps`. Shapes broadcast,
    /// integers become f32.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices, an axis out of range.
    #[surface(function, nn)]
    pub fn cosine_similarity(
        x1: &Tensor,
        x2: &Tensor,
        #[default(1)] dim: isize,
        #[default(1e-8)] eps: f64,
    ) -> Result<Tensor> {
        let (a, b) = meet("cosine_similarity", x1, x2)?;
        let rank = a.shape().rank().max(b.shape().rank());
        let mask = 1u8 << normalize_axis(dim, rank.max(1))?;
        // Of one shape, so that the axis is that of both.
        let shape = Shape::broadcast(a.shape(), b.shape()).unwrap_or(*a.shape());
        let (a, b) = (a.expand(shape)?, b.expand(shape)?);
        let length = |x: &Node| Ok(at_least(&p_norm(x, 2.0, mask, true)?, eps));
        let (m, n) = (length(&a)?, length(&b)?);
        let cosine = a.div(&m).mul(&b.div(&n)).reduce(ReduceKind::Sum, mask, false)?;
        Ok(Tensor::from_node(cosine))
    }

    /// The `p`-norm of `x1 − x2 + eps` along the last axis. Shapes broadcast, integers become f32.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices; as [`Tensor::norm`].
    #[surface(function, nn)]
    pub fn pairwise_distance(
        x1: &Tensor,
        x2: &Tensor,
        #[default(2.0)] p: f64,
        #[default(1e-6)] eps: f64,
        #[default(false)] keepdim: bool,
    ) -> Result<Tensor> {
        let (a, b) = meet("pairwise_distance", x1, x2)?;
        Ok(Tensor::from_node(apart(&a, &b, p, eps, keepdim)?))
    }

    /// The `p`-norms of the differences of all pairs of rows `i < j` of a matrix, ordered by `i`, then `j`. Integers become f32.
    ///
    /// # Errors
    ///
    /// Another number of axes than two; a `p` below 0.
    #[surface(function, nn)]
    pub fn pdist(&self, #[default(2.0)] p: f64) -> Result<Tensor> {
        let x = float(self);
        let shape = *x.shape();
        if shape.rank() != 2 {
            return Err(Error::new("pdist", ErrorKind::Shape(format!("takes a matrix, got shape {shape}"))));
        }
        if p.is_nan() || p < 0.0 {
            return Err(Error::new("pdist", ErrorKind::Value(format!("takes a p of at least 0, got {p}"))));
        }
        let (n, m) = (shape[0], shape[1]);
        let pairs: Vec<i64> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i * n + j) as i64)).collect();
        let count = pairs.len();
        if count == 0 || m == 0 {
            return Tensor::full_on(&[count], 0.0, x.dtype(), x.device());
        }
        let (rows, columns) = (x.reshape(Shape::of(&[n, 1, m]))?, x.reshape(Shape::of(&[1, n, m]))?);
        let all = p_norm(&rows.sub(&columns), p, 1 << 2, false)?.reshape(Shape::of(&[n * n]))?;
        let pairs = Tensor::from_vec(pairs, &[count])?.to(x.device())?;
        Ok(Tensor::from_node(all.gather(0, &pairs.node())?))
    }

    /// `x / max(‖x‖, eps)` with the `p`-norm over some axes. Integers become f32.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice; as [`Tensor::norm`].
    #[surface(nn)]
    pub fn normalize(
        &self,
        #[default(2.0)] p: f64,
        #[default(&[1])] dim: &[isize],
        #[default(1e-12)] eps: f64,
    ) -> Result<Tensor> {
        let x = float(self);
        let mask = crate::functional::mask(&x, dim)?;
        let length = at_least(&p_norm(&x, p, mask, true)?, eps);
        Ok(Tensor::from_node(x.div(&length)))
    }
}
