//! How far vectors are apart.

use super::factors::is_differentiated;
use super::joining::too_much;
use super::{axis_mask, float, meet, set_aside};
use crate::parts::{count, kept, norm_of, wide};
use crate::tensor::Tensor;
use crate::tensor::memory::untracked;
use mg_device::{AxisSet, DType, Error, ErrorKind, Result, Shape, normalize_axis};
use mg_graph::Node;
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;

/// What is no smaller than a bound, through which no gradient passes where it is; NaN stays.
pub(super) fn at_least(x: &Node, bound: f64) -> Node {
    let bound = x.lit(bound);
    Node::apply(Row::Le, &[x, &bound]).choose(&bound, x)
}

/// The norm of differences along the last axis.
pub(super) fn apart(a: &Node, b: &Node, p: f64, eps: f64, keepdim: bool) -> Result<Node> {
    offset_norm(&a.sub(b), p, eps, keepdim)
}

fn offset_norm(difference: &Node, p: f64, eps: f64, keepdim: bool) -> Result<Node> {
    let difference = difference.add(&difference.lit(eps));
    let last = axis_mask(&difference, -1)?;
    norm_of(&difference, p, last, keepdim)
}

/// The `p`-norms of differences along an axis. Where p is infinite, all that are the largest have the whole gradient each.
fn distances(difference: &Node, p: f64, axis: AxisSet) -> Result<Node> {
    let recorded = difference.is_tracked() && mg_graph::is_tracking();
    if p == 0.0 {
        // What is no number is not counted as a difference: as in PyTorch, nobody knows how many there are then.
        let unknown = Node::apply(Row::Ne, &[difference, difference]);
        let none = unknown.choose(&untracked(difference), &difference.lit(0.0));
        return Ok(norm_of(difference, p, axis, false)?.add(&none.reduce(ReduceKind::Sum, axis, false)?));
    }
    if count(difference.shape(), axis) == 0 {
        // There is nothing between what has no coordinates, and no largest of them.
        return norm_of(difference, 1.0, axis, false);
    }
    if p != f64::INFINITY || !recorded {
        return norm_of(difference, p, axis, false);
    }
    let far = wide(difference).map(Row::Abs);
    let own = untracked(&far);
    let farthest = set_aside(|| own.reduce(ReduceKind::Max, axis, true))?;
    // What is the largest adds 0 with its slope, or infinity, of which there is no difference.
    let infinite = farthest.eq(&farthest.lit(f64::INFINITY));
    let term = infinite.choose(&far, &far.sub(&own));
    let sum = own.eq(&farthest).choose(&term, &term.lit(0.0)).reduce(ReduceKind::Sum, axis, true)?;
    let distance = infinite.choose(&sum, &farthest.add(&sum));
    Ok(distance.reshape(kept(difference.shape(), axis, false))?.cast(difference.dtype()))
}

#[operations(DISTANCES)]
impl Tensor {
    /// The cosine of the angle between vectors along an axis, whose lengths are taken for at least `eps`. Shapes broadcast,
    /// integers become the default float.
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
        let op = "cosine_similarity";
        let (joint, _) = meet(op, x1, x2)?;
        let dtype = DType::promote(x1.dtype(), x2.dtype());
        let dtype = if dtype.is_float() { dtype } else { joint.dtype() };
        let Some(shape) = Shape::broadcast(&x1.shape(), &x2.shape()) else { unreachable!("they meet") };
        let mask = 1 << normalize_axis(dim, shape.rank().max(1))?;
        // Each in its own dtype, of one shape, so that the axis is that of both.
        let directions = [x1, x2].map(|t| -> Result<Node> {
            let x = if t.dtype().is_float() { t.node() } else { t.node().cast(dtype) }.expand(shape)?;
            let length = norm_of(&x, 2.0, mask, true)?;
            // The slope of the length is what it is, also where another is taken.
            let missing = set_aside(|| {
                let least = length.lit(eps);
                length.lt(&least).choose(&least.sub(&length), &length.lit(0.0))
            });
            Ok(x.div(&length.add(&missing)).cast(dtype))
        });
        let [a, b] = directions;
        let cosine = a?.mul(&b?).reduce(ReduceKind::Sum, mask, false)?;
        Ok(Tensor::from_node(cosine))
    }

    /// The `p`-norm of `x1 − x2 + eps` along the last axis. Shapes broadcast; differences of integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices, truth values; as [`Tensor::norm`].
    #[surface(function, nn)]
    pub fn pairwise_distance(
        x1: &Tensor,
        x2: &Tensor,
        #[default(2.0)] p: f64,
        #[default(1e-6)] eps: f64,
        #[default(false)] keepdim: bool,
    ) -> Result<Tensor> {
        let difference = float(&x1.try_sub(x2)?);
        Ok(Tensor::from_node(offset_norm(&difference, p, eps, keepdim)?))
    }

    /// The `p`-norms of the differences of all pairs of rows: of `[…, n, m]` and `[…, k, m]` those of row `i` and row `j`, `[…, n, k]`; batches broadcast.
    /// Integers become the default float. Where `p` is infinite and several components differ by as much, each has the whole gradient, as in [`Tensor::pdist`]
    /// (and not a share, as in [`Tensor::norm`]). Euclidean distances of more than 25 rows are computed by a product, unless `compute_mode` is
    /// "donot_use_mm_for_euclid_dist"; "use_mm_for_euclid_dist" asks for the product always.
    ///
    /// # Errors
    ///
    /// Fewer than two axes, rows of unlike lengths, truth values, batches that do not broadcast, unlike devices; a `p` below 0; another mode.
    #[surface(function)]
    pub fn cdist(
        x1: &Tensor,
        x2: &Tensor,
        #[default(2.0)] p: f64,
        #[default(None)] compute_mode: Option<&str>,
    ) -> Result<Tensor> {
        let op = "cdist";
        let fail = |kind| Err(Error::new(op, kind));
        let (shape1, shape2) = (x1.shape(), x2.shape());
        let (rank1, rank2) = (shape1.len(), shape2.len());
        if rank1 < 2 || rank2 < 2 || shape1[rank1 - 1] != shape2[rank2 - 1] {
            let text = format!("takes rows of one length, got shapes {shape1:?} and {shape2:?}");
            return fail(ErrorKind::Shape(text));
        }
        if p.is_nan() || p < 0.0 {
            return fail(ErrorKind::Value(format!("takes a p of at least 0, got {p}")));
        }
        if x1.is_bool() || x2.is_bool() {
            return fail(ErrorKind::DType("takes numbers, got truth values".into()));
        }
        let many = shape1[rank1 - 2] > 25 || shape2[rank2 - 2] > 25;
        let by_product = match compute_mode {
            None | Some("use_mm_for_euclid_dist_if_necessary") => many,
            Some("use_mm_for_euclid_dist") => true,
            Some("donot_use_mm_for_euclid_dist") => false,
            Some(other) => {
                return fail(ErrorKind::Value(format!("no compute_mode is {other:?}")));
            }
        };
        let dtype = DType::promote(float(x1).dtype(), float(x2).dtype());
        let (a, b) = (float(x1).cast(dtype), float(x2).cast(dtype));
        let (a, b) = (Tensor::from_node(a), Tensor::from_node(b));
        if !by_product || p != 2.0 || shape1[rank1 - 1] == 0 {
            let difference = a.unsqueeze(-2)?.try_sub(&b.unsqueeze(-3)?)?.node();
            let last = axis_mask(&difference, -1)?;
            return Ok(Tensor::from_node(distances(&difference, p, last)?));
        }
        // |a − b|² = |a|² + |b|² − 2 a·b
        let lengths = |t: &Tensor| -> Result<Tensor> {
            let squares = t.node().map(Row::Square);
            Ok(Tensor::from_node(squares.reduce(ReduceKind::Sum, axis_mask(&squares, -1)?, true)?))
        };
        let products = a.try_matmul(&b.transpose(-2, -1)?)?.node().scale(-2.0);
        let ends = lengths(&a)?.try_add(&lengths(&b)?.transpose(-2, -1)?)?;
        let squares = ends.node().add(&products);
        // No gradient flows where two are the same, or are as far apart as rounding has it; NaN stays.
        let same = Node::apply(Row::Le, &[&squares, &squares.lit(0.0)]);
        let root = same.choose(&squares.lit(1.0), &squares).map(Row::Sqrt);
        Ok(Tensor::from_node(same.choose(&root.lit(0.0), &root)))
    }

    /// The `p`-norms of the differences of all pairs of rows `i < j` of a matrix, ordered by `i`, then `j`. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Another number of axes than two; truth values; a `p` below 0.
    #[surface(function, nn)]
    pub fn pdist(&self, #[default(2.0)] p: f64) -> Result<Tensor> {
        if self.is_bool() {
            return Err(Error::new("pdist", ErrorKind::DType("takes numbers, got truth values".into())));
        }
        let x = float(self);
        let shape = *x.shape();
        if shape.rank() != 2 {
            return Err(Error::new("pdist", ErrorKind::Shape(format!("takes a matrix, got shape {shape}"))));
        }
        if p.is_nan() || p < 0.0 {
            return Err(Error::new("pdist", ErrorKind::Value(format!("takes a p of at least 0, got {p}"))));
        }
        let (n, m) = (shape[0], shape[1]);
        let Some(all) = n.checked_mul(n) else { return Err(too_much("pdist", usize::MAX)) };
        let count = (all - n) / 2;
        if count == 0 || m == 0 {
            // No distances, or such of vectors without components, with a history as others have one.
            let nothing = x.reduce(ReduceKind::Sum, crate::parts::all_axes(&x), false)?;
            return Ok(Tensor::from_node(nothing.expand(Shape::of(&[count]))?));
        }
        let (rows, columns) = (x.reshape(Shape::of(&[n, 1, m]))?, x.reshape(Shape::of(&[1, n, m]))?);
        let mut difference = rows.sub(&columns);
        if is_differentiated(&x) {
            // Between others there is nothing: where rows hold infinity, a slope there is infinite or no number, and 0 times that as well.
            let at = |dims: [usize; 3]| Node::ramp(Shape::of(&dims), x.device());
            let wanted = Node::apply(Row::Lt, &[&at([n, 1, 1]), &at([1, n, 1])]);
            difference = wanted.choose(&difference, &x.lit(0.0));
        }
        let apart = distances(&difference, p, 1 << 2)?.reshape(Shape::of(&[all]))?;
        let mut pairs = vec![];
        pairs.try_reserve_exact(count).map_err(|_| too_much("pdist", count))?;
        for i in 0..n {
            pairs.extend((i * n + i + 1) as i64..((i + 1) * n) as i64);
        }
        let pairs = Tensor::from_vec(pairs, &[count])?.to(x.device())?;
        Ok(Tensor::from_node(apart.gather(0, &pairs.node())?))
    }

    /// `x / max(‖x‖, eps)` with the `p`-norm over some axes. Integers become the default float.
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
        let mask = crate::parts::mask(&x, dim)?;
        let length = at_least(&norm_of(&x, p, mask, true)?, eps);
        Ok(Tensor::from_node(x.div(&length)))
    }
}
