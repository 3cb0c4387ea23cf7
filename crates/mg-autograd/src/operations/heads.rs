//! Attention of several heads, with its projections.

use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, same_device};
use mg_kernels::{Algebra, Rules};
use mg_macros::operations;

const OP: &str = "multi_head_attention_forward";

fn wrong<T>(text: String) -> Result<T> {
    Err(Error::new(OP, ErrorKind::Shape(text)))
}

/// One more element at the end of an axis: a row that is given, broadcast to the others, or zeros.
fn longer(x: &Node, axis: usize, row: Option<&Node>) -> Result<Node> {
    let shape = x.shape().with(axis, 1);
    let row = row.cloned().unwrap_or_else(|| x.lit(0.0)).expand(shape)?;
    Node::concat(&[x, &row], axis)
}

/// What a mask adds to scores: −∞ where it is true, or its numbers.
fn added(mask: &Tensor, dtype: DType) -> Result<Node> {
    let mask = mask.node();
    if mask.dtype().is_bool() {
        let zero = Node::scalar(0.0, dtype, mask.device(), true);
        return mask.choose(&zero.lit(f64::NEG_INFINITY), &zero).expand(*mask.shape());
    }
    if !mask.dtype().is_float() {
        let text = format!("takes masks of truth values or floats, got {}", mask.dtype());
        return Err(Error::new(OP, ErrorKind::DType(text)));
    }
    Ok(mask.cast(dtype))
}

/// A weight's or a bias's third for query, key or value.
fn third(t: &Tensor, i: usize) -> Result<Tensor> {
    let node = t.node();
    let size = node.shape()[0] / 3;
    Ok(Tensor::from_node(node.slice(0, i * size, 1, size)?))
}

/// What projects queries, keys and values.
struct Projections<'a> {
    weight: Option<&'a Tensor>,
    separate: [Option<&'a Tensor>; 3],
    bias: Option<&'a Tensor>,
    size: usize,
}

impl Projections<'_> {
    fn check(&self) -> Result<()> {
        let size = self.size;
        if let Some(weight) = self.weight
            && *weight.shape() != [3 * size, size]
        {
            return wrong(format!("takes in_proj_weight [{}, {size}], got {}", 3 * size, weight.shape()));
        }
        if let Some(bias) = self.bias
            && *bias.shape() != [3 * size]
        {
            return wrong(format!("takes in_proj_bias [{}], got {}", 3 * size, bias.shape()));
        }
        Ok(())
    }

    /// Queries, keys and values, `[steps, batch, size]`. What is projected from one tensor is one product.
    fn of(&self, inputs: [&Tensor; 3]) -> Result<[Node; 3]> {
        self.check()?;
        let [query, key, value] = inputs;
        let Some(weight) = self.weight else {
            let project = |i: usize| {
                let Some(weight) = self.separate[i] else {
                    return wrong("takes q_proj_weight, k_proj_weight and v_proj_weight".into());
                };
                let bias = self.bias.map(|b| third(b, i)).transpose()?;
                Ok(inputs[i].try_linear(weight, bias.as_ref())?.node())
            };
            return Ok([project(0)?, project(1)?, project(2)?]);
        };
        let parts = |from: &Tensor, weight: &Tensor, bias: Option<&Tensor>, n: usize| -> Result<Vec<Node>> {
            let all = from.try_linear(weight, bias)?.node();
            (0..n).map(|i| all.slice(2, i * self.size, 1, self.size)).collect()
        };
        if query.is(key) && key.is(value) {
            let all = parts(query, weight, self.bias, 3)?;
            return Ok([all[0].clone(), all[1].clone(), all[2].clone()]);
        }
        let rest = |t: &Tensor| -> Result<Tensor> {
            let node = t.node();
            let n = node.shape()[0];
            Ok(Tensor::from_node(node.slice(0, n / 3, 1, n - n / 3)?))
        };
        let bias = |i| self.bias.map(|b| third(b, i)).transpose();
        let q = query.try_linear(&third(weight, 0)?, bias(0)?.as_ref())?.node();
        if key.is(value) {
            let both = parts(key, &rest(weight)?, self.bias.map(rest).transpose()?.as_ref(), 2)?;
            return Ok([q, both[0].clone(), both[1].clone()]);
        }
        let k = key.try_linear(&third(weight, 1)?, bias(1)?.as_ref())?.node();
        let v = value.try_linear(&third(weight, 2)?, bias(2)?.as_ref())?.node();
        Ok([q, k, v])
    }
}

/// What queries, keys and values are divided into.
struct Parts {
    batch: usize,
    heads: usize,
    /// The size of a head.
    head: usize,
}

impl Parts {
    /// `[steps, batch, size]` as `[batch, heads, steps, head]`.
    fn of(&self, x: &Node) -> Result<Node> {
        let divided = Shape::new(&[x.shape()[0], self.batch, self.heads, self.head])?;
        x.reshape(divided)?.permute(&[1, 2, 0, 3])
    }

    /// Keys or values `[batch · heads, s, head]` that are given in the place of projected ones, as `of` has those.
    fn standing(&self, t: &Tensor, what: &str) -> Result<Node> {
        let (sizes, all) = (t.shape(), self.batch * self.heads);
        if sizes.rank() != 3 || sizes[0] != all || sizes[2] != self.head {
            return wrong(format!("takes {what} [{all}, s, {}], got {sizes}", self.head));
        }
        t.node().reshape(Shape::new(&[self.batch, self.heads, sizes[1], self.head])?)
    }

    /// A mask `[l, s]` or `[batch · heads, l, s]` as what is added to scores `[batch, heads, l, s]`.
    fn mask(&self, mask: &Tensor, dtype: DType) -> Result<Node> {
        let (node, all) = (added(mask, dtype)?, self.batch * self.heads);
        match node.shape()[..] {
            [l, s] => node.reshape(Shape::new(&[1, 1, l, s])?),
            [n, l, s] if n == all => node.reshape(Shape::new(&[self.batch, self.heads, l, s])?),
            _ => wrong(format!("takes a mask [l, s] or [{all}, l, s], got {}", node.shape())),
        }
    }

    /// A mask of `s` keys `[batch, s]`, or where there is no batch `[s]`, as what is added to scores.
    fn padding(&self, mask: &Tensor, dtype: DType, s: usize, alone: bool) -> Result<Node> {
        let node = added(mask, dtype)?;
        if node.shape()[..] != [self.batch, s] && !(alone && node.shape()[..] == [s]) {
            return wrong(format!("takes key_padding_mask [{}, {s}], got {}", self.batch, node.shape()));
        }
        node.reshape(Shape::new(&[self.batch, 1, 1, s])?)
    }
}

/// What is attended to: keys and values, what is added to scores, and whether that is the causal mask alone.
struct Keys {
    k: Node,
    v: Node,
    mask: Option<Node>,
    causal: bool,
}

impl Keys {
    /// One more key and value at the end of an axis, which every query sees: these, or zeros.
    fn grow(&mut self, axis: usize, rows: Option<[&Node; 2]>) -> Result<()> {
        self.k = longer(&self.k, axis, rows.map(|[k, _]| k))?;
        self.v = longer(&self.v, axis, rows.map(|[_, v]| v))?;
        self.mask = self.mask.as_ref().map(|mask| longer(mask, 3, None)).transpose()?;
        self.causal = false;
        Ok(())
    }

    fn check(&self, q: &Node) -> Result<()> {
        same_device(OP, &[q, &self.k, &self.v])?;
        let (l, s) = (q.shape()[2], self.k.shape()[2]);
        let scores = q.shape().with(3, s);
        match &self.mask {
            Some(mask) if Shape::broadcast(mask.shape(), &scores) != Some(scores) => {
                wrong(format!("a mask of {} does not fit {l} queries and {s} keys", mask.shape()))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// What queries attend to, and the weights, of each head or their mean.
    fn weighed(&self, q: &Node, dropout: f64, averages: bool) -> Result<(Node, Tensor)> {
        let head = q.shape()[3] as f64;
        let mut scores = q.scale(1.0 / head.sqrt()).matmul(&self.k.permute(&[0, 1, 3, 2])?)?;
        if let Some(mask) = &self.mask {
            scores = scores.add(mask);
        }
        let weights = Tensor::from_node(scores).try_softmax(Some(-1), None)?.try_dropout(dropout, true)?;
        let attended = weights.node().matmul(&self.v)?;
        Ok((attended, if averages { weights.try_mean_dim(&[1], false)? } else { weights }))
    }

    /// What queries attend to, without weights in memory.
    fn attended(self, q: &Node, dropout: f64) -> Result<Node> {
        let mask = self.mask.filter(|_| !self.causal).map(Tensor::from_node);
        let [q, k, v] = [q.clone(), self.k, self.v].map(Tensor::from_node);
        let attended = q.try_scaled_dot_product_attention(
            &k,
            &v,
            mask.as_ref(),
            dropout,
            self.causal,
            None,
            false,
            None,
        )?;
        Ok(attended.node())
    }
}

#[operations(HEADS)]
impl Tensor {
    /// Attention of several heads (Vaswani et al., 2017): queries `[l, batch, size]`, keys and values `[s, batch,
    /// …]`, or all three without the batch, are projected by `in_proj_weight` `[3 size, size]` (or by three
    /// weights with `use_separate_proj_weight`), attended to by heads of `size / num_heads`, and projected by
    /// `out_proj_weight`. Answers with that, `[l, batch, size]`, and, if `need_weights`, with the weights
    /// `[batch, l, s]`, the mean of all heads or, without `average_attn_weights`, `[batch, heads, l, s]`; else
    /// with a tensor without elements.
    ///
    /// `attn_mask` `[l, s]` or `[batch · heads, l, s]` and `key_padding_mask` `[batch, s]` are true where a key
    /// is *not* taken, or are added to the scores. `is_causal` says that `attn_mask` is the causal one. `bias_k`
    /// and `bias_v` are one more key and value; `add_zero_attn` adds another one of zeros; `static_k` and
    /// `static_v` `[batch · heads, s, size / heads]` are taken in the place of projected ones.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, a size that does not divide into heads, `is_causal` without a mask, masks that are
    /// neither of truth values nor of floats, unlike dtypes or devices.
    #[surface(nn)]
    #[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)] // PyTorch's
    pub fn multi_head_attention_forward(
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        embed_dim_to_check: usize,
        num_heads: usize,
        in_proj_weight: Option<&Tensor>,
        in_proj_bias: Option<&Tensor>,
        bias_k: Option<&Tensor>,
        bias_v: Option<&Tensor>,
        add_zero_attn: bool,
        dropout_p: f64,
        out_proj_weight: &Tensor,
        out_proj_bias: Option<&Tensor>,
        #[default(true)] training: bool,
        #[default(None)] key_padding_mask: Option<&Tensor>,
        #[default(true)] need_weights: bool,
        #[default(None)] attn_mask: Option<&Tensor>,
        #[default(false)] use_separate_proj_weight: bool,
        #[default(None)] q_proj_weight: Option<&Tensor>,
        #[default(None)] k_proj_weight: Option<&Tensor>,
        #[default(None)] v_proj_weight: Option<&Tensor>,
        #[default(None)] static_k: Option<&Tensor>,
        #[default(None)] static_v: Option<&Tensor>,
        #[default(true)] average_attn_weights: bool,
        #[default(false)] is_causal: bool,
    ) -> Result<(Tensor, Tensor)> {
        let alone = query.rank() == 2;
        if [query, key, value].iter().any(|t| t.rank() != if alone { 2 } else { 3 }) {
            let (q, k, v) = (query.shape(), key.shape(), value.shape());
            return wrong(format!("takes [l, batch, size], or all without the batch, got {q}, {k} and {v}"));
        }
        let size = embed_dim_to_check;
        if num_heads == 0 || !size.is_multiple_of(num_heads) || query.shape()[query.rank() - 1] != size {
            let text = format!(
                "takes queries […, {size}] of a size that divides into {num_heads} heads, got {}",
                query.shape()
            );
            return wrong(text);
        }
        if is_causal && attn_mask.is_none() {
            let text = "takes attn_mask where is_causal says what it is";
            return Err(Error::new(OP, ErrorKind::Value(text.into())));
        }
        let batched = |t: &Tensor| if alone { t.unsqueeze(1) } else { Ok(t.clone()) };
        let given = [batched(query)?, batched(key)?, batched(value)?];
        // What is one tensor stays one.
        let [q, k, v] = &given;
        let k = if key.is(query) { q } else { k };
        let v = if value.is(key) { k } else { v };
        let (l, batch) = (q.shape()[0], q.shape()[1]);
        if k.shape()[..2] != v.shape()[..2] || k.shape()[1] != batch {
            return wrong(format!(
                "keys {} and values {} do not fit queries {}",
                k.shape(),
                v.shape(),
                q.shape()
            ));
        }
        let weight = if use_separate_proj_weight { None } else { in_proj_weight };
        let separate = [q_proj_weight, k_proj_weight, v_proj_weight];
        let [q, k, v] = Projections { weight, separate, bias: in_proj_bias, size }.of([q, k, v])?;
        let parts = Parts { batch, heads: num_heads, head: size / num_heads };
        let mut mask = attn_mask.map(|mask| parts.mask(mask, q.dtype())).transpose()?;
        if let Some(padding) = key_padding_mask {
            let padding = parts.padding(padding, q.dtype(), k.shape()[0], alone)?;
            mask = Some(mask.map_or_else(|| padding.clone(), |mask| mask.add(&padding)));
        }
        let causal = is_causal && key_padding_mask.is_none() && !need_weights;
        let mut keys = Keys { k, v, mask, causal };
        match (bias_k, bias_v) {
            (Some(one), Some(other)) => keys.grow(0, Some([&one.node(), &other.node()]))?,
            (None, None) => {}
            (Some(_), None) | (None, Some(_)) => return wrong("takes bias_k and bias_v, or neither".into()),
        }
        let q = parts.of(&q)?;
        keys.k = static_k.map_or_else(|| parts.of(&keys.k), |t| parts.standing(t, "static_k"))?;
        keys.v = static_v.map_or_else(|| parts.of(&keys.v), |t| parts.standing(t, "static_v"))?;
        if add_zero_attn {
            keys.grow(2, None)?;
        }
        keys.check(&q)?;
        let dropout = if training { dropout_p } else { 0.0 };
        let (attended, weights) = match need_weights {
            true => keys.weighed(&q, dropout, average_attn_weights)?,
            false => (keys.attended(&q, dropout)?, Tensor::from_node(q.slice(2, 0, 1, 0)?)),
        };
        let joined = attended.permute(&[2, 0, 1, 3])?.reshape(Shape::new(&[l, batch, size])?)?;
        let output = Tensor::from_node(joined).try_linear(out_proj_weight, out_proj_bias)?;
        if alone {
            let weights = if need_weights { weights.squeeze(Some(&[0]))? } else { weights };
            return Ok((output.squeeze(Some(&[1]))?, weights));
        }
        Ok((output, weights))
    }
}
