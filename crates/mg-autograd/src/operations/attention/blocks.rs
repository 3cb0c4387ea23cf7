//! Attention by products, some queries at a time: of many scores only those of a block are ever in memory, and a gradient computes them again.

use super::{Thinned, heads, last_two, masked, swapped, weights};
use crate::checkpoint::checkpoint;
use crate::tensor::Tensor;
use crate::transform::is_tracing;
use mg_device::Result;
use mg_graph::Node;
use mg_kernels::Rules;
use mg_kernels::library::Span;
use std::ops::Range;

/// Bytes of scores in a block: what stays in a processor's caches, or what keeps a GPU busy. As many times that is [many](Scored::is_large).
const BLOCK: usize = 4 << 20;
const BLOCK_OF_GPU: usize = 64 << 20;
const MANY: usize = 8;

/// Queries in a block, where there are as many: with fewer, products wait for memory.
const LEAST: usize = 16;

/// What attends to what, in the dtype that scores are computed in: axes before the last two are the same, but for heads that are shared.
#[derive(Clone)]
pub(super) struct Scored {
    pub(super) query: Node,
    pub(super) key: Node,
    pub(super) value: Node,
    pub(super) mask: Option<Node>,
    pub(super) thinned: Option<Thinned>,
    pub(super) scale: f64,
    /// Which keys a query takes, counted from the first ones of both.
    pub(super) span: Span,
    /// The position of the first query among all, which numbers of weights go by.
    pub(super) from: usize,
}

impl Scored {
    /// The means of values.
    pub(super) fn answer(&self) -> Result<Node> {
        match self.is_large() {
            true => self.in_blocks(),
            false => self.at_once(),
        }
    }

    fn at_once(&self) -> Result<Node> {
        let (key, value) = (heads(&self.query, &self.key)?, heads(&self.query, &self.value)?);
        let scores = self.query.matmul(&swapped(&key)?)?.scale(self.scale);
        let mut weights = weights(&masked(&scores, self.span, self.mask.as_ref())?)?;
        if let Some(thinned) = &self.thinned {
            weights = thinned.of(&weights, self.from)?;
        }
        weights.matmul(&value)
    }

    /// The scores of one query, of all that the axes before count.
    fn row(&self) -> usize {
        let (shape, keys) = (self.query.shape(), last_two(self.key.shape())[0]);
        let lead: usize = shape[..shape.rank() - 2].iter().product();
        lead.saturating_mul(keys).saturating_mul(self.query.dtype().size())
    }

    fn block(&self) -> usize {
        if self.query.device().is_cuda() { BLOCK_OF_GPU } else { BLOCK }
    }

    /// Whether there are more scores than are to be in memory. What stands for many examples has no values that could be computed one after the
    /// other.
    fn is_large(&self) -> bool {
        let all = self.row().saturating_mul(last_two(self.query.shape())[0]);
        all > MANY * self.block() && !is_tracing() && !self.operands().any(Node::is_traced)
    }

    fn operands(&self) -> impl Iterator<Item = &Node> {
        let words = self.thinned.as_ref().map(|thinned| &thinned.words);
        [&self.query, &self.key, &self.value].into_iter().chain(&self.mask).chain(words)
    }

    /// Block by block: each is computed before the next is asked for, so that nothing of two is in memory at once.
    fn in_blocks(&self) -> Result<Node> {
        let rank = self.query.shape().rank();
        let queries = last_two(self.query.shape())[0];
        // Examples of a batch go one after the other, too: all axes but that of heads are the same for keys and values.
        let has_batch = rank > 3 || rank == 3 && self.key.shape()[0] == self.query.shape()[0];
        let batch = if has_batch { self.query.shape()[0] } else { 1 };
        let examples = (self.block() / (self.row() / batch).max(1) / queries).clamp(1, batch);
        // Of these each block reads a part: they are computed once.
        mg_graph::realize(&self.operands().collect::<Vec<_>>())?;
        let mut answers = vec![];
        for first in (0..batch).step_by(examples) {
            let one =
                if has_batch { self.examples(first..(first + examples).min(batch))? } else { self.clone() };
            let (mut made, mut from) = (vec![], 0);
            while from < queries {
                let until = queries.min(from + one.rows(from));
                made.push(one.queries(from..until)?.computed()?);
                from = until;
            }
            answers.push(joined(&made, rank - 2)?);
        }
        joined(&answers, 0)
    }

    /// The keys that some queries take, one at least. Where weights are left out they begin with the first, as the numbers of weights do.
    fn taken(&self, queries: Range<usize>, keys: usize) -> Range<usize> {
        let taken = self.span.met(queries, keys);
        let first = if self.thinned.is_some() { 0 } else { taken.start.min(keys.saturating_sub(1)) };
        first..taken.end.max(keys.min(first + 1))
    }

    /// How many queries from a position on make a block.
    fn rows(&self, from: usize) -> usize {
        let keys = last_two(self.key.shape())[0].max(1);
        let scores = self.block() / (self.row() / keys).max(1);
        // Where a query takes some keys alone, those of a block take as many and one for each of them: blocks are of about one size, so that one's memory is the
        // next one's.
        let first = self.taken(from..from + 1, keys).len().saturating_sub(1) as f64;
        let near = ((first * first + 4.0 * scores as f64).sqrt() - first) / 2.0;
        let rows = scores / keys;
        if self.span.is_all() { rows } else { rows.max(near as usize) }.max(LEAST)
    }

    /// Computes a block now, and again where its gradient is asked for.
    fn computed(self) -> Result<Node> {
        let is_recorded = mg_graph::is_tracking() && self.operands().any(Node::is_tracked);
        let answer = match is_recorded {
            true => {
                let again = move || Ok(vec![Tensor::from_node(self.at_once()?)]);
                // What is left out is known by what was drawn for heads: nothing is drawn.
                checkpoint(again, false)?.remove(0).node()
            }
            false => self.at_once()?,
        };
        mg_graph::realize(&[&answer])?;
        Ok(answer)
    }

    /// Some examples of the first axis.
    fn examples(&self, at: Range<usize>) -> Result<Scored> {
        let of = |n: &Node| part(n, 0, &at);
        let rank = self.query.shape().rank();
        Ok(Scored {
            query: of(&self.query)?,
            key: of(&self.key)?,
            value: of(&self.value)?,
            mask: self.mask.as_ref().map(|mask| part_of_scores(mask, rank, 0, &at)).transpose()?,
            thinned: self.thinned.as_ref().map(|t| Ok(Thinned { words: of(&t.words)?, ..*t })).transpose()?,
            ..*self
        })
    }

    /// Some queries, and the keys that they may take.
    fn queries(&self, at: Range<usize>) -> Result<Scored> {
        let (rank, keys) = (self.query.shape().rank(), last_two(self.key.shape())[0]);
        let taken = self.taken(at.clone(), keys);
        let of_scores =
            |n: &Node| part_of_scores(&part_of_scores(n, rank, rank - 2, &at)?, rank, rank - 1, &taken);
        Ok(Scored {
            query: part(&self.query, rank - 2, &at)?,
            key: part(&self.key, rank - 2, &taken)?,
            value: part(&self.value, rank - 2, &taken)?,
            mask: self.mask.as_ref().map(of_scores).transpose()?,
            thinned: self.thinned.clone(),
            span: self.span.counted_from(at.start, taken.start),
            from: self.from + at.start,
            ..*self
        })
    }
}

/// Blocks one after the other.
fn joined(parts: &[Node], axis: usize) -> Result<Node> {
    match parts {
        [one] => Ok(one.clone()),
        parts => Node::concat(&parts.iter().collect::<Vec<_>>(), axis),
    }
}

/// Some positions along an axis.
fn part(n: &Node, axis: usize, at: &Range<usize>) -> Result<Node> {
    match at.len() == n.shape()[axis] {
        true => Ok(n.clone()),
        false => n.slice(axis, at.start, 1, at.len()),
    }
}

/// Some positions along an axis of scores with so many axes, of what broadcasts to them.
fn part_of_scores(n: &Node, rank: usize, axis: usize, at: &Range<usize>) -> Result<Node> {
    match (axis + n.shape().rank()).checked_sub(rank) {
        Some(own) if n.shape()[own] != 1 => part(n, own, at),
        Some(_) | None => Ok(n.clone()),
    }
}
