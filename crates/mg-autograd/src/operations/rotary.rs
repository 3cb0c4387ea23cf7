//! Rotary positions: pairs of features turned by angles that grow with the position.

use super::wide;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, same_device};
use mg_kernels::{Algebra, Rules};
use mg_macros::operations;

const OP: &str = "rotary_embedding";

fn fail<T>(kind: fn(String) -> ErrorKind, text: String) -> Result<T> {
    Err(Error::new(OP, kind(text)))
}

/// Pairs of the last axis turned by angles of which `cos` and `sin` have as many axes, and half as many positions along the last one.
///
/// Each number is multiplied by the cosine, and the other one of its pair, seen through a view that swaps the two, by the sine with its sign: one
/// pass over what is turned, wherever it lies, and so is its gradient, as that of the view is a view.
fn turned(x: &Node, cos: &Node, sin: &Node, interleaved: bool) -> Result<Node> {
    let last = x.shape().rank() - 1;
    let half = x.shape()[last] / 2;
    // Of each pair both lie side by side, or those of all pairs half an axis apart.
    let (own, of_two) = if interleaved { ([half, 2], last + 1) } else { ([2, half], last) };
    let all: Vec<usize> = x.shape()[..last].iter().copied().chain(own).collect();
    // Halves are widened behind the view, so that what flows back is rounded in the same pass.
    let pairs = wide(&x.reshape(Shape::new(&all)?)?);
    let angles = |n: &Node| n.cast(pairs.dtype()).reshape(n.shape().insert(of_two, 1));
    let (cos, sin) = (angles(cos)?, angles(sin)?);
    let places = Node::ramp(Shape::of(&[2]), x.device());
    let places = if interleaved { places } else { places.reshape(Shape::of(&[2, 1]))? };
    let signed = places.eq(&places.lit(0.0)).choose(&sin.neg(), &sin);
    let others = pairs.slice(of_two, 1, -1, 2)?;
    pairs.mul(&cos).add(&others.mul(&signed)).cast(x.dtype()).reshape(*x.shape())
}

/// What is turned, and of which so many features.
struct Given {
    /// Four axes: batch, heads and sequence, whichever of these two is first, and features.
    x: Node,
    /// Which axis counts heads.
    heads: usize,
    features: usize,
}

impl Given {
    fn of(x: &Node, num_heads: usize, rotary_embedding_dim: usize) -> Result<Given> {
        if !x.dtype().is_float() || x.dtype().is_narrow() {
            let text = format!("takes floats that are computed with, got {}", x.dtype());
            return fail(ErrorKind::DType, text);
        }
        let (x, heads) = match *x.shape().dims() {
            [_, heads, _, _] if num_heads == 0 || num_heads == heads => (x.clone(), 1),
            [_, heads, _, _] => {
                let text = format!("num_heads={num_heads} of an input of {heads} heads, shape {}", x.shape());
                return fail(ErrorKind::Value, text);
            }
            [_, _, _] if num_heads == 0 => {
                let text = format!("takes num_heads beside an input of three axes, shape {}", x.shape());
                return fail(ErrorKind::Value, text);
            }
            [batch, sequence, all] if all.is_multiple_of(num_heads) => {
                let sizes = Shape::new(&[batch, sequence, num_heads, all / num_heads])?;
                (x.reshape(sizes)?, 2)
            }
            [_, _, all] => {
                let text = format!("{all} features do not part among {num_heads} heads");
                return fail(ErrorKind::Shape, text);
            }
            _ => {
                let text = "takes [batch, heads, sequence, size] or [batch, sequence, heads · size]";
                return fail(ErrorKind::Shape, format!("{text}, got shape {}", x.shape()));
            }
        };
        let size = x.shape()[3];
        let features = if rotary_embedding_dim == 0 { size } else { rotary_embedding_dim };
        if !features.is_multiple_of(2) || features > size {
            let text = format!("turns pairs of features, got {features} of heads of {size}");
            return fail(ErrorKind::Shape, text);
        }
        Ok(Given { x, heads, features })
    }

    /// A cache's rows for each position, with one for all heads.
    fn angles(&self, name: &str, cache: &Tensor, position_ids: Option<&Tensor>) -> Result<Node> {
        let x = &self.x;
        let (batch, sequence, half) = (x.shape()[0], x.shape()[3 - self.heads], self.features / 2);
        let node = cache.node();
        same_device(OP, &[x, &node])?;
        if node.dtype() != x.dtype() && node.dtype() != DType::F32 {
            let own = if x.dtype() == DType::F32 { String::new() } else { format!(" or {}", x.dtype()) };
            return fail(ErrorKind::DType, format!("takes {name} of f32{own}, got {}", node.dtype()));
        }
        let own = match position_ids {
            Some(at) => {
                if !at.dtype().is_int() {
                    return fail(
                        ErrorKind::DType,
                        format!("takes integers as position_ids, got {}", at.dtype()),
                    );
                }
                let of = at.shape();
                if of.rank() != 2 || of[1] != sequence || of[0] != batch && of[0] != 1 {
                    let text = format!("takes position_ids [{batch}, {sequence}], got shape {of}");
                    return fail(ErrorKind::Shape, text);
                }
                if node.shape().rank() != 2 || node.shape()[1] != half {
                    let text = format!(
                        "takes {name} [positions, {half}] beside position_ids, got shape {}",
                        node.shape()
                    );
                    return fail(ErrorKind::Shape, text);
                }
                at.try_embedding(cache, None)?.node()
            }
            None => match *node.shape().dims() {
                [n, l, h] if (n == batch || n == 1) && [l, h] == [sequence, half] => node,
                _ => {
                    let text = format!(
                        "takes {name} [{batch}, {sequence}, {half}] without position_ids, got shape {}",
                        node.shape()
                    );
                    return fail(ErrorKind::Shape, text);
                }
            },
        };
        own.reshape(own.shape().insert(self.heads, 1))
    }
}

#[operations(ROTARY)]
impl Tensor {
    /// Rotary positions (Su et al., "RoFormer: enhanced transformer with rotary position embedding", 2021): the features of each head, by pairs, turned by angles that belong to the
    /// position, so that the product of a query and a key depends on how far apart they stand. `(a, b)` becomes `(a · cos − b · sin, b · cos + a · sin)`. Of heads `[batch, heads, sequence, size]`
    /// (or `[batch, sequence, heads · size]`, with `num_heads`) a pair is a feature of the first half of `size` and the one as far into the second; with `interleaved` two neighbours. Only the
    /// first `rotary_embedding_dim` features are turned, where that is not 0; the others are laid beside them, which is a pass more. `cos_cache` and `sin_cache` are `[positions, half]`, of which `position_ids`, integers
    /// `[batch, sequence]`, name rows; without those they have a row for each token, `[batch, sequence, half]`. A batch of 1 is for all. They are of f32 or of the input's dtype, which
    /// the result has; halves are computed in f32. It is one pass over the input, wherever that lies (heads of a packed projection), and its gradient is one.
    ///
    /// # Errors
    ///
    /// What is no float; other axes; an odd number of features, or more than a head has; caches of another shape or dtype; positions that are no integers; unlike devices. A position outside the
    /// caches is found when the value is computed, if not before.
    #[surface(nn, keywords_from = "interleaved")]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn rotary_embedding(
        &self,
        cos_cache: &Tensor,
        sin_cache: &Tensor,
        #[default(None)] position_ids: Option<&Tensor>,
        #[default(false)] interleaved: bool,
        #[default(0)] num_heads: usize,
        #[default(0)] rotary_embedding_dim: usize,
    ) -> Result<Tensor> {
        let given = Given::of(&self.node(), num_heads, rotary_embedding_dim)?;
        let cos = given.angles("cos_cache", cos_cache, position_ids)?;
        let sin = given.angles("sin_cache", sin_cache, position_ids)?;
        let Given { x, features, .. } = given;
        let size = x.shape()[3];
        let own = turned(&x.slice(3, 0, 1, features)?, &cos, &sin, interleaved)?;
        let all = match size - features {
            0 => own,
            rest => Node::concat(&[&own, &x.slice(3, features, 1, rest)?], 3)?,
        };
        Ok(Tensor::from_node(all.reshape(self.shape())?))
    }
}
