//! Attention.

use super::wide;
use crate::functional::shifted_exp_sum;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, same_device};
use mg_kernels::{Algebra, Row, Rules};
use mg_macros::operations;

const OP: &str = "scaled_dot_product_attention";

/// The last two sizes of a shape.
fn last_two(shape: &Shape) -> [usize; 2] {
    let rank = shape.rank();
    [shape[rank - 2], shape[rank - 1]]
}

fn swapped(node: &Node) -> Result<Node> {
    let rank = node.shape().rank();
    let mut axes: Vec<usize> = (0..rank).collect();
    axes.swap(rank - 1, rank - 2);
    node.permute(&axes)
}

/// Operands whose shapes fit.
struct Operands {
    query: Node,
    key: Node,
    value: Node,
    mask: Option<Node>,
}

impl Operands {
    fn of(
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        mask: Option<&Tensor>,
        grouped: bool,
    ) -> Result<Operands> {
        let (q, mut k, mut v) = (query.node(), key.node(), value.node());
        let dtype = q.dtype();
        if !dtype.is_float() || k.dtype() != dtype || v.dtype() != dtype {
            let text = format!("takes floats of one dtype, got {dtype}, {} and {}", k.dtype(), v.dtype());
            return Err(Error::new(OP, ErrorKind::DType(text)));
        }
        let shapes = format!("{}, {} and {}", q.shape(), k.shape(), v.shape());
        let fail = |text: &str| Err(Error::new(OP, ErrorKind::Shape(format!("{text}, got shapes {shapes}"))));
        if [&q, &k, &v].iter().any(|n| n.shape().rank() < 2) {
            return fail("takes query […, l, e], key [… , s, e] and value [… , s, v]");
        }
        same_device(OP, &[&q, &k, &v])?;
        if last_two(q.shape())[1] != last_two(k.shape())[1]
            || last_two(k.shape())[0] != last_two(v.shape())[0]
        {
            return fail("takes a key as long as the query along the last axis, and as many values as keys");
        }
        if grouped {
            k = heads(&q, &k)?;
            v = heads(&q, &v)?;
        }
        let batch = |n: &Node| Shape::of(&n.shape()[..n.shape().rank() - 2]);
        let all = Shape::broadcast(&batch(&q), &batch(&k)).and_then(|s| Shape::broadcast(&s, &batch(&v)));
        let Some(all) = all else { return fail("takes what has the same axes before the last two") };
        let mask = match mask {
            None => None,
            Some(mask) => {
                let mask = mask.node();
                same_device(OP, &[&q, &mask])?;
                if mask.dtype() != DType::Bool && mask.dtype() != dtype && mask.dtype() != DType::F32 {
                    let text = format!("takes a mask of bool, f32 or {dtype}, got {}", mask.dtype());
                    return Err(Error::new(OP, ErrorKind::DType(text)));
                }
                let scores: Vec<usize> =
                    all.iter().copied().chain([last_two(q.shape())[0], last_two(k.shape())[0]]).collect();
                let scores = Shape::new(&scores)?;
                if Shape::broadcast(mask.shape(), &scores) != Some(scores) {
                    let text = format!("a mask of shape {} does not broadcast to {scores}", mask.shape());
                    return Err(Error::new(OP, ErrorKind::Shape(text)));
                }
                Some(mask)
            }
        };
        Ok(Operands { query: q, key: k, value: v, mask })
    }
}

/// Keys (or values) for as many heads as there are of queries: each serves several.
fn heads(q: &Node, k: &Node) -> Result<Node> {
    let (rank, n) = (k.shape().rank(), q.shape().rank());
    let fail = || {
        let text = format!("heads of a query {} are not shared by those of {}", q.shape(), k.shape());
        Error::new(OP, ErrorKind::Shape(text))
    };
    if rank < 3 || n < 3 {
        return Err(fail());
    }
    let (of, to) = (k.shape()[rank - 3], q.shape()[n - 3]);
    if of == to {
        return Ok(k.clone());
    }
    if of == 0 || to % of != 0 {
        return Err(fail());
    }
    let sizes = k.shape();
    let lead = || sizes[..rank - 2].iter().copied();
    let rest = || sizes[rank - 2..].iter().copied();
    let one: Vec<usize> = lead().chain([1]).chain(rest()).collect();
    let several: Vec<usize> = lead().chain([to / of]).chain(rest()).collect();
    k.reshape(Shape::new(&one)?)?
        .expand(Shape::new(&several)?)?
        .reshape(Shape::new(&sizes.with(rank - 3, to))?)
}

/// Softmax along the last axis; rows of which nothing is taken are 0.
fn weights(scores: &Node) -> Result<Node> {
    let last = 1u8 << (scores.shape().rank() - 1);
    if scores.shape()[scores.shape().rank() - 1] == 0 {
        return Ok(scores.clone());
    }
    // Where all is -inf, the sum is 0.
    let (max, sum) = shifted_exp_sum(scores, last)?;
    let zero = sum.eq(&sum.lit(0.0));
    let shifted = scores.sub(&max).map(Row::Exp);
    let weights = shifted.div(&zero.choose(&sum.lit(1.0), &sum));
    Ok(weights)
}

#[operations(ATTENTION)]
impl Tensor {
    /// Attention (Vaswani et al., 2017): for queries `[…, l, e]`, keys `[…, s, e]` and values `[…, s, v]`, the means `[…, l, v]` of the
    /// values by weights `softmax(scale · q kᵀ + mask)`. `scale` is 1/√e where it is not given. A mask broadcasts to `[…, l, s]`: of
    /// truth values, it says which keys take part; of numbers, what is added. With `is_causal` a query takes the keys up to its own position.
    /// A query that takes no key is answered with 0. Weights are left out with probability `dropout_p`, and the others scaled by
    /// 1/(1 − `dropout_p`). With `enable_gqa` the third last axis counts heads, of which keys and values may have fewer: each of theirs serves as many
    /// neighbouring ones of the query.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit; what are no floats of one dtype; a mask together with `is_causal`; a probability outside [0, 1]; unlike devices.
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
    ) -> Result<Tensor> {
        let given = Operands::of(self, key, value, attn_mask, enable_gqa)?;
        if is_causal && given.mask.is_some() {
            let text = "takes a mask or is_causal, not both";
            return Err(Error::new(OP, ErrorKind::Value(text.into())));
        }
        let dtype = given.query.dtype();
        let [l, e] = last_two(given.query.shape());
        let s = last_two(given.key.shape())[0];
        let scale = scale.unwrap_or(1.0 / (e as f64).sqrt());
        let (q, k, v) = (wide(&given.query), wide(&given.key), wide(&given.value));
        let mut scores = q.matmul(&swapped(&k)?)?.scale(scale);
        let never = scores.lit(f64::NEG_INFINITY);
        if is_causal {
            let side = |n: usize, shape: [usize; 2]| {
                Node::ramp(Shape::of(&[n]), q.device()).reshape(Shape::of(&shape))
            };
            let taken = Node::apply(Row::Le, &[&side(s, [1, s])?, &side(l, [l, 1])?]);
            scores = taken.choose(&scores, &never);
        }
        if let Some(mask) = &given.mask {
            scores = match mask.dtype() {
                DType::Bool => mask.choose(&scores, &never),
                _ => scores.add(&mask.cast(scores.dtype())),
            };
        }
        let mut weights = Tensor::from_node(weights(&scores)?);
        if dropout_p != 0.0 {
            weights = weights.try_dropout(dropout_p, true)?;
        }
        let answer = weights.node().matmul(&v)?;
        Ok(Tensor::from_node(answer.cast(dtype)))
    }
}
