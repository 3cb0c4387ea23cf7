//! Attention: by a kernel that never has all weights, or by products where something is done to them.

mod blocks;
mod packed;

use super::{dropout, noise, wide};
use crate::parts::shifted_exp_sum;
use crate::tensor::Tensor;
use blocks::Scored;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, Sources, same_device};
use mg_kernels::library::{Attention, AttentionKind, Shaped, Span, Thin};
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;
pub(crate) use packed::PACKED_ATTENTION;

const OP: &str = "scaled_dot_product_attention";

/// The last two sizes of a shape.
fn last_two(shape: &Shape) -> [usize; 2] {
    let rank = shape.rank();
    [shape[rank - 2], shape[rank - 1]]
}

/// The axes before the last `n`.
fn lead(shape: &Shape, n: usize) -> Shape {
    Shape::of(&shape[..shape.rank() - n])
}

fn with_last(lead: &[usize], last: &[usize]) -> Result<Shape> {
    let all: Vec<usize> = lead.iter().chain(last).copied().collect();
    Shape::new(&all)
}

fn swapped(node: &Node) -> Result<Node> {
    let rank = node.shape().rank();
    let mut axes: Vec<usize> = (0..rank).collect();
    axes.swap(rank - 1, rank - 2);
    node.permute(&axes)
}

/// Weights that are left out at random.
#[derive(Clone)]
struct Thinned {
    /// Of [`Thin::ALL`] numbers those that stand for them.
    left_out: u32,
    /// The words of heads, which decide their numbers: `[lead…, 2]`.
    words: Node,
}

impl Thinned {
    /// Draws words for heads of scores whose axes before the last two these are. `None` where none is left out.
    fn drawn(query: &Node, lead: &Shape, p: f64) -> Result<Option<Thinned>> {
        let left_out = Thin::share_of(p);
        if left_out == 0 {
            return Ok(None);
        }
        let numbers = noise(query, with_last(lead, &[2])?, DType::F64)?;
        Ok(Some(Thinned { left_out, words: numbers.scale(2f64.powi(32)).cast(DType::I64) }))
    }

    /// Weights `[lead…, rows, columns]` of queries from a position on, of which only those stay that do.
    fn of(&self, weights: &Node, first: usize) -> Result<Node> {
        let [rows, columns] = last_two(weights.shape());
        let thin = Thin { first, rows, columns, left_out: self.left_out };
        let stays = Node::library(thin.into(), &[&self.words])?;
        let times = Thin::times(self.left_out);
        Ok(weights.mul(&stays.choose(&weights.factor(times), &weights.factor(0.0))))
    }
}

/// The dtype of queries, keys and values: floats of one.
fn of_one_dtype(op: &'static str, [q, k, v]: [&Node; 3]) -> Result<DType> {
    let dtype = q.dtype();
    if dtype.is_float() && k.dtype() == dtype && v.dtype() == dtype {
        return Ok(dtype);
    }
    let text = format!("takes floats of one dtype, got {dtype}, {} and {}", k.dtype(), v.dtype());
    Err(Error::new(op, ErrorKind::DType(text)))
}

/// Operands whose shapes fit.
struct Operands {
    query: Node,
    key: Node,
    value: Node,
    mask: Option<Node>,
    /// The axes of the answer before its last two.
    lead: Shape,
}

impl Operands {
    fn of(
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        mask: Option<&Tensor>,
        grouped: bool,
    ) -> Result<Operands> {
        let (q, k, v) = (query.node(), key.node(), value.node());
        let dtype = of_one_dtype(OP, [&q, &k, &v])?;
        let shapes = format!("{}, {} and {}", q.shape(), k.shape(), v.shape());
        let fail = |text: &str| Err(Error::new(OP, ErrorKind::Shape(format!("{text}, got shapes {shapes}"))));
        let least = if grouped { 3 } else { 2 };
        if [&q, &k, &v].iter().any(|n| n.shape().rank() < least) {
            return fail("takes query […, l, e], key […, s, e] and value […, s, v]");
        }
        same_device(OP, &[&q, &k, &v])?;
        if last_two(q.shape())[1] != last_two(k.shape())[1]
            || last_two(k.shape())[0] != last_two(v.shape())[0]
        {
            return fail("takes a key as long as the query along the last axis, and as many values as keys");
        }
        // Heads that are shared do not broadcast.
        let own = if grouped { 3 } else { 2 };
        if grouped {
            let heads = |n: &Node| n.shape()[n.shape().rank() - 3];
            let (of, to) = (heads(&k), heads(&q));
            if of != heads(&v) || of != to && (of == 0 || to % of != 0) {
                return fail("takes heads of queries that those of keys and values can share");
            }
        }
        let all = Shape::broadcast(&lead(q.shape(), own), &lead(k.shape(), own));
        let Some(all) = all.and_then(|s| Shape::broadcast(&s, &lead(v.shape(), own))) else {
            let fewer = if grouped { "" } else { " (enable_gqa: or fewer heads of keys and values)" };
            return fail(&format!("takes what has the same axes before the last two{fewer}"));
        };
        let spread = |n: &Node| {
            let last = &n.shape()[n.shape().rank() - own..];
            n.expand(with_last(&all, last)?)
        };
        let (q, k, v) = (spread(&q)?, spread(&k)?, spread(&v)?);
        let lead = lead(q.shape(), 2);
        let mask = match mask {
            None => None,
            Some(mask) => {
                let mask = mask.node();
                same_device(OP, &[&q, &mask])?;
                if mask.dtype() != DType::Bool && mask.dtype() != dtype && mask.dtype() != DType::F32 {
                    let floats = if dtype == DType::F32 { "f32".into() } else { format!("f32 or {dtype}") };
                    let text = format!("takes a mask of bool or {floats}, got {}", mask.dtype());
                    return Err(Error::new(OP, ErrorKind::DType(text)));
                }
                let scores = with_last(&lead, &[last_two(q.shape())[0], last_two(k.shape())[0]])?;
                if Shape::broadcast(mask.shape(), &scores) != Some(scores) {
                    let text = format!("a mask of shape {} does not broadcast to {scores}", mask.shape());
                    return Err(Error::new(OP, ErrorKind::Shape(text)));
                }
                Some(mask)
            }
        };
        Ok(Operands { query: q, key: k, value: v, mask, lead })
    }

    /// By the kernel, which takes four axes and gives no gradient to a mask.
    fn by_kernel(&self, scale: f64, span: Span, thinned: Option<&Thinned>) -> Result<Option<Node>> {
        let rank = self.lead.rank() + 2;
        let learned = self.mask.as_ref().is_some_and(|m| m.is_tracked() && mg_graph::is_tracking());
        if rank > 4 || learned {
            return Ok(None);
        }
        let four = |n: &Node| {
            let mut sizes = [1; 4];
            sizes[4 - n.shape().rank()..].copy_from_slice(n.shape());
            n.reshape(Shape::of(&sizes))
        };
        let (q, k, v) = (four(&self.query)?, four(&self.key)?, four(&self.value)?);
        let mut operands = vec![q, k, v];
        if let Some(mask) = &self.mask {
            let computed = wide(&operands[0]).dtype();
            let mask = if mask.dtype() == DType::Bool { mask.clone() } else { mask.cast(computed) };
            let keys = operands[1].shape()[2];
            let mask = if mask.shape().rank() == 0 { mask.reshape(Shape::of(&[1]))? } else { mask };
            let last = mask.shape().rank() - 1;
            operands.push(four(&mask.expand(mask.shape().with(last, keys))?)?);
        }
        if let Some(thinned) = thinned {
            let [batch, heads] = [operands[0].shape()[0], operands[0].shape()[1]];
            operands.push(thinned.words.reshape(Shape::new(&[batch, heads, 2])?)?);
        }
        let masked = self.mask.is_some();
        let left_out = thinned.map_or(0, |thinned| thinned.left_out);
        let attention = Attention {
            kind: AttentionKind::Forward,
            span,
            masked,
            left_out,
            ranges: None,
            scale: scale.to_bits(),
        };
        let operands: Vec<&Node> = operands.iter().collect();
        let shaped: Vec<Shaped> = operands.iter().map(|n| n.shaped()).collect();
        if thinned.is_some()
            && let Some((major, minor)) = self.query.device().compute_capability()?
            && !attention.thins(&shaped, major * 10 + minor)?
        {
            return Ok(None);
        }
        let line = Node::library(attention.into(), &operands)?;
        let means = attention.means(&shaped, &line)?;
        means.reshape(with_last(&self.lead, &means.shape()[2..])?).map(Some)
    }

    /// By products and a softmax, with whatever is done to the weights.
    fn composed(&self, scale: f64, span: Span, thinned: Option<Thinned>) -> Result<Node> {
        let query = wide(&self.query);
        let (key, value, mask) = (wide(&self.key), wide(&self.value), self.mask.clone());
        let scored = Scored { query, key, value, mask, thinned, scale, span, from: 0 };
        Ok(scored.answer()?.cast(self.query.dtype()))
    }
}

/// Keys (or values) for as many heads as there are of queries: each serves several.
fn heads(q: &Node, k: &Node) -> Result<Node> {
    let rank = k.shape().rank();
    if rank < 3 {
        return Ok(k.clone());
    }
    let (of, to) = (k.shape()[rank - 3], q.shape()[q.shape().rank() - 3]);
    if of == to {
        return Ok(k.clone());
    }
    let sizes = *k.shape();
    let last = &sizes[rank - 2..];
    let before = &sizes[..rank - 2];
    let one = with_last(before, &[&[1], last].concat())?;
    let several = with_last(before, &[&[to / of], last].concat())?;
    k.reshape(one)?.expand(several)?.reshape(Shape::new(&sizes.with(rank - 3, to))?)
}

/// Scores of which only those stay that take part.
fn masked(scores: &Node, span: Span, mask: Option<&Node>) -> Result<Node> {
    let never = scores.lit(f64::NEG_INFINITY);
    let [l, s] = last_two(scores.shape());
    let mut scores = scores.clone();
    let limits = span.limits(l, s);
    if limits != [None; 2] {
        let side = |n: usize, shape: [usize; 2]| {
            Node::ramp(Shape::of(&[n]), scores.device()).reshape(Shape::of(&shape))
        };
        let (queries, keys) = (side(l, [l, 1])?, side(s, [1, s])?);
        let moved = |by: i64| if by == 0 { queries.clone() } else { queries.add(&queries.lit(by as f64)) };
        let [behind, ahead] = limits;
        if let Some(ahead) = ahead {
            scores = Node::apply(Row::Le, &[&keys, &moved(ahead)]).choose(&scores, &never);
        }
        if let Some(behind) = behind {
            scores = Node::apply(Row::Le, &[&moved(-behind), &keys]).choose(&scores, &never);
        }
    }
    Ok(match mask {
        // Added, as in PyTorch: a score that is no number stays none.
        Some(mask) if mask.dtype() == DType::Bool => scores.add(&mask.choose(&scores.lit(0.0), &never)),
        Some(mask) => scores.add(&mask.cast(scores.dtype())),
        None => scores,
    })
}

/// Softmax along the last axis; rows of which nothing is taken are 0.
fn weights(scores: &Node) -> Result<Node> {
    let last = scores.shape().rank() - 1;
    if scores.shape()[last] == 0 {
        return Ok(scores.clone());
    }
    // Where all is -inf, the sum is 0.
    let (max, sum) = shifted_exp_sum(scores, 1 << last)?;
    let zero = sum.eq(&sum.lit(0.0));
    Ok(scores.sub(&max).map(Row::Exp).div(&zero.choose(&sum.lit(1.0), &sum)))
}

/// The gradient of queries, keys or values (0, 1, 2) that can be differentiated again: by products, from weights that are made anew.
pub(crate) fn differentiable_vjp(
    attention: &Attention,
    sources: &Sources,
    i: usize,
    g: &Node,
) -> Result<Option<Node>> {
    let [q, k, v, rest @ ..] = &sources[..] else { return Ok(None) };
    let &[b, h, l, e] = q.shape().dims() else { return Ok(None) };
    let &[_, shared, s, depth] = v.shape().dims() else { return Ok(None) };
    if i > 2 || shared == 0 {
        return Ok((i <= 2).then(|| sources[i].lit(0.0)));
    }
    let group = h / shared;
    // Heads of queries that share keys and values lie beside each other.
    let five = |n: &Node, sizes: [usize; 5]| wide(n).reshape(Shape::new(&sizes)?);
    let queries = five(q, [b, shared, group, l, e])?;
    let keys = five(k, [b, shared, 1, s, e])?;
    let values = five(v, [b, shared, 1, s, depth])?;
    let shaped: Vec<Shaped> = sources.iter().map(Node::shaped).collect();
    let back = five(&attention.means(&shaped, g)?, [b, shared, group, l, depth])?;
    let words = rest.get(usize::from(attention.masked)).filter(|_| attention.left_out > 0);
    let mask = match rest.first().filter(|_| attention.masked) {
        Some(mask) => {
            let &[mb, mh, ml, ms] = mask.shape().dims() else { return Ok(None) };
            let (outer, inner) = if mh == 1 { (1, 1) } else { (shared, group) };
            Some(mask.reshape(Shape::new(&[mb, outer, inner, ml, ms])?)?)
        }
        None => None,
    };
    let scale = f64::from_bits(attention.scale);
    let mut scores = masked(&queries.matmul(&swapped(&keys)?)?.scale(scale), attention.span, mask.as_ref())?;
    if let Some(at) = attention.ranges_at() {
        scores = packed::within(&scores, &sources[at])?;
    }
    let weights = weights(&scores)?;
    let thinned = |n: &Node| match words {
        Some(words) => {
            let words = words.reshape(Shape::new(&[b, shared, group, 2])?)?;
            Thinned { left_out: attention.left_out, words }.of(n, 0)
        }
        None => Ok(n.clone()),
    };
    let together = |n: Node| n.reduce(ReduceKind::Sum, 1 << 2, true);
    let gradient = match i {
        2 => together(swapped(&thinned(&weights)?)?.matmul(&back)?)?,
        _ => {
            let flow = thinned(&back.matmul(&swapped(&values)?)?)?;
            let mean = weights.mul(&flow).reduce(ReduceKind::Sum, 1 << 4, true)?;
            let flow = weights.mul(&flow.sub(&mean)).scale(scale);
            match i {
                0 => flow.matmul(&keys)?,
                _ => together(swapped(&flow)?.matmul(&queries)?)?,
            }
        }
    };
    gradient.cast(sources[i].dtype()).reshape(*sources[i].shape()).map(Some)
}

/// Which keys queries take by their positions.
fn spanned(given: &Operands, is_causal: bool, window: Option<&[isize]>) -> Result<Span> {
    let fail = |text: String| Err(Error::new(OP, ErrorKind::Value(text)));
    let Some(window) = window else {
        return Ok(if is_causal { Span::CAUSAL } else { Span::ALL });
    };
    if is_causal {
        return fail("takes a window or is_causal, not both: the window (left, 0) is causal".into());
    }
    let [left, right] = bounds(OP, Some(window))?;
    // The last query stands at the last key.
    let [queries, keys] = [&given.query, &given.key].map(|n| last_two(n.shape())[0] as i64);
    let moved = |bound: Option<i64>, by: i64| bound.map(|bound| bound.saturating_add(by));
    // Bounds that are not negative have a sum that is not.
    Ok(Span::new(moved(left, queries - keys), moved(right, keys - queries)).unwrap_or(Span::ALL))
}

/// What scores of so many features are multiplied by where nothing else is said. Those of none are 0, and stay it.
fn usual_scale(features: usize) -> f64 {
    1.0 / (features.max(1) as f64).sqrt()
}

/// The bounds of a window, so many keys before a query's position and so many after it.
fn bounds(op: &'static str, window: Option<&[isize]>) -> Result<[Option<i64>; 2]> {
    let fail = |text: String| Err(Error::new(op, ErrorKind::Value(text)));
    match window {
        None => Ok([None; 2]),
        Some(&[left, right]) if left.min(right) >= -1 => {
            Ok([left, right].map(|n| (n >= 0).then_some(n as i64)))
        }
        Some(&[left, right]) => {
            fail(format!("takes a window of numbers from 0 on, or -1 for no bound, got ({left}, {right})"))
        }
        Some(other) => fail(format!("takes a window of two numbers, left and right, got {}", other.len())),
    }
}

#[operations(ATTENTION)]
impl Tensor {
    /// Attention (Vaswani et al., 2017): for queries `[…, l, e]`, keys `[…, s, e]` and values `[…, s, v]`, the means `[…, l, v]` of the
    /// values by weights `softmax(scale · q kᵀ + mask)`. `scale` is 1/√e where it is not given. A mask broadcasts to `[…, l, s]`: of
    /// truth values, it says which keys take part; of numbers, what is added. With `is_causal` a query takes the keys up to its own position, counted from the
    /// first key. A `window` of two numbers, `left` and `right`, leaves it the keys from so many before its position to so many after it, −1 being no bound; with fewer queries
    /// than keys the last query stands at the last key (the lower right corner, as of a cache): `(-1, 0)` is causal then. Keys outside are not read. A mask may be beside it.
    /// A query that takes no key is answered with 0 (with NaN where a score is no number: a mask of truth values adds 0 or −∞). Weights are left out with probability `dropout_p`, to the nearest of 2⁻¹⁶, and the others scaled by
    /// 1/(1 − that): which ones, does not depend on how they are computed. Scores never all lie in memory where there are many of them: with a mask that requires a gradient,
    /// or `dropout_p` on a GPU without kernels for it, they are computed some queries at a time, and again for gradients. With `enable_gqa` the third last axis counts heads, of which keys and values may have fewer: each of theirs serves as many
    /// neighbouring ones of the query.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit; what are no floats of one dtype; a mask or a window together with `is_causal`; a window that is not of two numbers from −1 on; a probability outside
    /// [0, 1]; unlike devices.
    #[surface(nn, keywords_from = "scale")]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn scaled_dot_product_attention(
        &self,
        key: &Tensor,
        value: &Tensor,
        #[default(None)] attn_mask: Option<&Tensor>,
        #[default(0.0)] dropout_p: f64,
        #[default(false)] is_causal: bool,
        #[default(None)] scale: Option<f64>,
        #[default(false)] enable_gqa: bool,
        #[default(None)] window: Option<&[isize]>,
    ) -> Result<Tensor> {
        let given = Operands::of(self, key, value, attn_mask, enable_gqa)?;
        if is_causal && given.mask.is_some() {
            let text = "takes a mask or is_causal, not both";
            return Err(Error::new(OP, ErrorKind::Value(text.into())));
        }
        let span = spanned(&given, is_causal, window)?;
        dropout::check(OP, dropout_p)?;
        let e = last_two(given.query.shape())[1];
        let scale = scale.unwrap_or_else(|| usual_scale(e));
        let thinned = Thinned::drawn(&given.query, &given.lead, dropout_p)?;
        let answer = match given.by_kernel(scale, span, thinned.as_ref())? {
            Some(answer) => answer,
            None => given.composed(scale, span, thinned)?,
        };
        Ok(Tensor::from_node(answer))
    }
}
