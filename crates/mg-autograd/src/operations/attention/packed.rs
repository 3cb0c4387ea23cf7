//! Attention of sequences of several lengths that lie one after the other.

use super::last_two;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, same_device};
use mg_kernels::library::{Attention, AttentionKind, Shaped, Span};
use mg_kernels::{Algebra, Row, Rules};
use mg_macros::operations;

const OP: &str = "varlen_attn";

/// More tokens than any memory has, and a float that is exactly that.
const BEYOND: i64 = 1 << 52;

/// Scores `[…, l, s]` of which only those stay that ranges of queries, `[l, 2]`, say.
pub(super) fn within(scores: &Node, ranges: &Node) -> Result<Node> {
    let s = last_two(scores.shape())[1];
    let keys = Node::ramp(Shape::of(&[1, s]), scores.device());
    let bound = |i: usize| Ok(ranges.slice(1, i, 1, 1)?.cast(DType::I64));
    let taken = Node::apply(Row::Le, &[&bound(0)?, &keys]);
    let scores = taken.choose(scores, &scores.lit(f64::NEG_INFINITY));
    let taken = Node::apply(Row::Lt, &[&keys, &bound(1)?]);
    Ok(taken.choose(&scores, &scores.lit(f64::NEG_INFINITY)))
}

/// Where sequences begin in a row of tokens, and where the last one ends.
#[derive(Clone)]
struct Offsets {
    /// i64 `[n + 1]`, none less than the one before, none beyond the last token: kernels go by it.
    at: Tensor,
    tokens: usize,
}

impl Offsets {
    fn of(name: &str, given: &Tensor, tokens: usize) -> Result<Offsets> {
        if !given.dtype().is_int() || given.shape().rank() != 1 || given.numel() == 0 {
            let text = format!("takes {name} as integers [n + 1], got {} {}", given.dtype(), given.shape());
            return Err(Error::new(OP, ErrorKind::Shape(text)));
        }
        let (risen, _) = given.detach().to_dtype(DType::I64).try_cummax(0)?;
        let node = risen.node();
        let (first, last) = (node.lit(0.0), node.lit(tokens as f64));
        let at = Node::apply(Row::Minimum, &[&Node::apply(Row::Maximum, &[&node, &first]), &last]);
        Ok(Offsets { at: Tensor::from_node(at), tokens })
    }

    /// Of each token where its sequence begins and ends among others, and where it ends among these: i64 `[tokens, 1]` each.
    fn met(&self, others: &Offsets) -> Result<Met> {
        let count = self.at.shape()[0] - 1;
        let tokens = Node::ramp(Shape::of(&[self.tokens]), self.at.device());
        let of = Tensor::from_node(tokens.clone());
        // How many begin before a token or with it: all but one of these are over. Those before the first sequence and beyond the last are of one that has
        // nothing there: a query that took a key which does not know of it would have a gradient that the key has not.
        let begun = Tensor::try_searchsorted(&self.at, of, false, true, None, None)?.node();
        let begun = begun.reshape(Shape::of(&[self.tokens, 1]))?;
        let ends = Node::ramp(Shape::of(&[1, 2]), self.at.device());
        let which = begun.add(&ends.sub(&ends.lit(1.0)));
        let which = Node::apply(Row::Maximum, &[&which, &which.lit(0.0)]);
        let which = Node::apply(Row::Minimum, &[&which, &which.lit(count as f64)]);
        let bounds_of = |of: &Offsets| {
            let line = Tensor::from_node(which.reshape(Shape::new(&[2 * self.tokens])?)?);
            of.at.index_select(0, &line)?.node().reshape(Shape::of(&[self.tokens, 2]))
        };
        let bounds = bounds_of(others)?;
        let own = if self.is(others) { bounds.clone() } else { bounds_of(self)? };
        let column = |of: &Node, i: usize| of.slice(1, i, 1, 1);
        let token = tokens.reshape(Shape::of(&[self.tokens, 1]))?;
        Ok(Met {
            from: column(&bounds, 0)?,
            to: column(&bounds, 1)?,
            before_end: token.sub(&column(&own, 1)?),
        })
    }

    fn is(&self, other: &Offsets) -> bool {
        self.at.node().is(&other.at.node())
    }
}

/// What tokens meet: i64 `[tokens, 1]` each.
struct Met {
    /// Where the sequence of a token begins among the others, and where it ends.
    from: Node,
    to: Node,
    /// Where the token stands, counted from the end of its sequence: less than 0.
    before_end: Node,
}

impl Met {
    /// Of each token the range of others that it takes: those of its sequence, from so many before it to so many after it, where both ends stand
    /// beside each other. i32 `[tokens, 2]`, in one pass.
    fn ranges(&self, [before, after]: [Option<i64>; 2]) -> Result<Node> {
        let Met { from, to, before_end } = self;
        let stands = before_end.add(to);
        let between =
            |x: &Node, low: &Node| Node::apply(Row::Maximum, &[&Node::apply(Row::Minimum, &[x, to]), low]);
        // Tokens stand nowhere near the ends of i64, which a sum must not pass: what is beyond all sequences is as good as any bound.
        let moved = |by: i64| stands.add(&stands.lit(by.clamp(-BEYOND, BEYOND) as f64));
        let begin = before.map_or(from.clone(), |before| between(&moved(-before), from));
        let end = after.map_or(to.clone(), |after| between(&moved(after.saturating_add(1)), &begin));
        let column = Node::ramp(Shape::of(&[1, 2]), from.device());
        Ok(column.eq(&column.lit(0.0)).choose(&begin, &end).cast(DType::I32))
    }
}

#[operations(PACKED_ATTENTION)]
impl Tensor {
    /// Attention of sequences of several lengths, whose tokens lie one after the other: for queries `[l, heads, e]`, keys `[s, shared, e]` and values
    /// `[s, shared, v]` the means `[l, heads, v]`, where each query takes keys of its own sequence. Sequence `i` has the queries from `cu_seq_q[i]` to `cu_seq_q[i + 1]`, and
    /// the keys from `cu_seq_k[i]` to `cu_seq_k[i + 1]`: integers, which begin with 0. `max_q` and `max_k` are the most that one has. The last query of a sequence
    /// stands at its last key: with `is_causal` it takes all, the one before it all but the last; `window_size` leaves a query the keys from so many before it to so many
    /// after it, −1 being no bound. `shared` divides `heads`: each head of keys serves as many neighbouring ones of queries. A query without keys is answered with 0. Scores are never in memory, but
    /// where a gradient is differentiated again, and then all of them; what belongs to other sequences is not multiplied, but for the tiles of keys at their
    /// ends. Offsets that fall are taken as the largest so far, and those beyond the last token as its end;
    /// tokens before the first offset and from the last one on are of no sequence.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit; what are no floats of one dtype; offsets that are no integers, or of unlike numbers of sequences; a window that is not of two numbers from −1 on; unlike devices.
    #[surface(nn, keywords_from = "scale")]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn varlen_attn(
        &self,
        key: &Tensor,
        value: &Tensor,
        cu_seq_q: &Tensor,
        cu_seq_k: &Tensor,
        max_q: usize,
        max_k: usize,
        #[default(false)] is_causal: bool,
        #[default(None)] scale: Option<f64>,
        #[default(None)] window_size: Option<&[isize]>,
    ) -> Result<Tensor> {
        let (q, k, v) = (self.node(), key.node(), value.node());
        super::of_one_dtype(OP, [&q, &k, &v])?;
        let (&[l, heads, e], &[s, shared, width], &[of_values, others, _]) =
            (q.shape().dims(), k.shape().dims(), v.shape().dims())
        else {
            let text = format!(
                "takes query [l, heads, e], key [s, shared, e] and value [s, shared, v], got shapes {}, {} and {}",
                q.shape(),
                k.shape(),
                v.shape()
            );
            return Err(Error::new(OP, ErrorKind::Shape(text)));
        };
        if width != e
            || [of_values, others] != [s, shared]
            || heads != shared && (shared == 0 || heads % shared != 0)
        {
            let text = format!("shapes {}, {} and {} do not fit", q.shape(), k.shape(), v.shape());
            return Err(Error::new(OP, ErrorKind::Shape(text)));
        }
        same_device(OP, &[&q, &k, &v, &cu_seq_q.node(), &cu_seq_k.node()])?;
        let [left, right] = super::bounds(OP, window_size)?;
        let right = if is_causal { Some(0) } else { right };
        let of_queries = Offsets::of("cu_seq_q", cu_seq_q, l)?;
        // Mostly both are the same, and then so is all that is found of them.
        let are_one = l == s && cu_seq_q.node().is(&cu_seq_k.node());
        let of_keys = if are_one { of_queries.clone() } else { Offsets::of("cu_seq_k", cu_seq_k, s)? };
        if cu_seq_q.shape() != cu_seq_k.shape() {
            let text = format!(
                "takes as many sequences of queries as of keys, got {} and {} offsets",
                cu_seq_q.shape(),
                cu_seq_k.shape()
            );
            return Err(Error::new(OP, ErrorKind::Shape(text)));
        }
        let by_queries = of_queries.met(&of_keys)?;
        let by_keys = if are_one { None } else { Some(of_keys.met(&of_queries)?) };
        let ranges = [
            by_queries.ranges([left, right])?,
            by_keys.as_ref().unwrap_or(&by_queries).ranges([right, left])?,
        ];
        let heads_first = |n: &Node| {
            let all = n.permute(&[1, 0, 2])?;
            let sizes = *all.shape();
            all.reshape(Shape::new(&[1, sizes[0], sizes[1], sizes[2]])?)
        };
        let operands =
            [heads_first(&q)?, heads_first(&k)?, heads_first(&v)?, ranges[0].clone(), ranges[1].clone()];
        let operands: Vec<&Node> = operands.iter().collect();
        let width_of = |max: usize, left: Option<i64>, right: Option<i64>| {
            let window = left
                .zip(right)
                .map_or(usize::MAX, |(left, right)| left.saturating_add(right).saturating_add(1) as usize);
            max.min(window).min(u32::MAX as usize) as u32
        };
        let scale = scale.unwrap_or_else(|| super::usual_scale(e));
        let attention = Attention {
            kind: AttentionKind::Forward,
            span: Span::ALL,
            masked: false,
            left_out: 0,
            ranges: Some([width_of(max_k, left, right), width_of(max_q, left, right)]),
            scale: scale.to_bits(),
        };
        let shaped: Vec<Shaped> = operands.iter().map(|n| n.shaped()).collect();
        let line = Node::library(attention.into(), &operands)?;
        let means = attention.means(&shaped, &line)?;
        let depth = means.shape()[3];
        let means = means.reshape(Shape::new(&[heads, l, depth])?)?.permute(&[1, 0, 2])?;
        Ok(Tensor::from_node(means))
    }
}
