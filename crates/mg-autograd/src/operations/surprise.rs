//! The cross entropy of a linear map's scores by the kernel that never has them all in memory.

use super::all_axes;
use super::loss::{Labels, Reduction};
use crate::autocast::taken;
use crate::parts::largest;
use crate::tensor::Tensor;
use crate::tensor::memory::untracked;
use crate::transform::is_tracing;
use mg_device::{DType, Result, Shape};
use mg_graph::{Node, Sources};
use mg_kernels::library::{Shaped, Spread, Surprise, SurpriseKind, surprise::dtype_of_sums};
use mg_kernels::{Algebra, ReduceKind, Row, Rules};

/// Bytes of scores up to which they are computed all at once: so many are in memory in any case.
const FEW: usize = 16 << 20;

/// What is asked for.
pub(super) struct Asked<'a> {
    pub(super) rows: &'a Tensor,
    /// `[words, in]`.
    pub(super) weight: &'a Tensor,
    pub(super) bias: Option<&'a Tensor>,
    pub(super) target: &'a Tensor,
    /// How much the labels count.
    pub(super) counts: Option<&'a Tensor>,
    pub(super) reduction: &'a str,
    pub(super) ignored: i64,
    pub(super) smoothing: f64,
}

fn sum(node: &Node) -> Result<Node> {
    node.reduce(ReduceKind::Sum, all_axes(node), false)
}

impl Asked<'_> {
    /// The loss; `None` of what has few scores, and of what the kernel does not take: it is composed.
    pub(super) fn by_kernel(&self, op: &'static str) -> Result<Option<Tensor>> {
        let (&[n, width], &[words, inner]) = (self.rows.shape().dims(), self.weight.shape().dims()) else {
            return Ok(None);
        };
        let Ok(reduction) = Reduction::of(op, self.reduction) else { return Ok(None) };
        let fits = width == inner
            && *self.target.shape() == [n]
            && self.target.dtype().is_int()
            && self.counts.is_none_or(|counts| *counts.shape() == [words] && counts.dtype().is_float())
            && (0.0..=1.0).contains(&self.smoothing);
        let bytes = n.saturating_mul(words).saturating_mul(self.rows.dtype().size());
        if !fits || bytes <= FEW {
            return Ok(None);
        }
        // As a linear map takes them, and the cross entropy what that answers with.
        let (operands, inside) = match self.bias {
            Some(bias) => {
                let ([x, w, b], inside) = taken("linear", [self.rows, self.weight, bias])?;
                (vec![x, w, b], inside)
            }
            None => {
                let ([x, w], inside) = taken("linear", [self.rows, self.weight])?;
                (vec![x, w], inside)
            }
        };
        drop(inside);
        let ([answer], _inside) = taken("cross_entropy", [&operands[0]])?;
        let all = [self.target].into_iter().chain(self.counts).chain(&operands);
        let device = self.rows.device();
        let alike = operands.iter().all(|t| t.dtype() == operands[0].dtype() && t.dtype().is_float());
        let traced = is_tracing() || all.clone().any(|t| t.node().is_traced());
        let learned = mg_graph::is_tracking() && self.counts.is_some_and(|c| c.node().is_tracked());
        if !alike || traced || learned || all.clone().any(|t| t.device() != device) {
            return Ok(None);
        }
        let labels =
            Labels::of(op, &self.target.node(), Shape::of(&[n, words]), device, 1, Some(self.ignored))?;
        let flat = labels.at.reshape(Shape::of(&[n]))?;
        let dtype = operands[0].dtype();
        let sums = dtype_of_sums(dtype);
        let spread = match (self.smoothing == 0.0, self.counts) {
            (true, _) => Spread::Nothing,
            (false, None) => Spread::Evenly,
            (false, Some(_)) => Spread::ByShares,
        };
        let shares = self.counts.map(|counts| counts.node().cast(sums));
        let counts = shares.as_ref().map(|shares| shares.gather(0, &flat)).transpose()?;
        let mut given: Vec<Node> = operands.iter().map(Tensor::node).collect();
        given.insert(2, flat);
        given.extend(shares.filter(|_| spread == Spread::ByShares));
        let call = Call { labels, given, counts, biased: self.bias.is_some(), spread, sums, n, words };
        // What flows back is known where it is one number for all, but for its scale: of f16 that scale is what keeps small ones from being 0.
        let is_asked = mg_graph::is_tracking() && call.given.iter().any(Node::is_tracked);
        let loss = match reduction {
            Reduction::Mean | Reduction::Sum if is_asked && dtype != DType::F16 => {
                call.with_gradients(matches!(reduction, Reduction::Mean), self.smoothing, answer.dtype())?
            }
            Reduction::Mean | Reduction::Sum | Reduction::None => {
                return call.by_rows(op, self.reduction, self.smoothing, answer.dtype()).map(Some);
            }
        };
        Ok(Some(Tensor::from_node(loss)))
    }
}

/// What the kernel is called with.
struct Call {
    labels: Labels,
    given: Vec<Node>,
    /// How much each row counts, where not all count alike.
    counts: Option<Node>,
    biased: bool,
    spread: Spread,
    sums: DType,
    n: usize,
    words: usize,
}

impl Call {
    fn kernel(&self, kind: SurpriseKind, before: &[&Node], after: &[&Node]) -> Result<Node> {
        let surprise = Surprise { kind, biased: self.biased, spread: self.spread };
        let operands: Vec<&Node> =
            before.iter().copied().chain(&self.given).chain(after.iter().copied()).collect();
        Node::library(surprise.into(), &operands)
    }

    /// A row's part of each line of an answer: how much its label's surprise counts, and what is spread.
    fn shares(&self, smoothing: f64) -> [Node; 2] {
        let one = Node::scalar(1.0, self.sums, self.given[0].device(), true);
        let own = self.counts.clone().unwrap_or_else(|| one.clone()).scale(1.0 - smoothing);
        [own, one.scale(smoothing / self.words as f64)]
    }

    /// A line of an answer, `[n]`.
    fn line(&self, answer: &Node, line: usize) -> Result<Node> {
        answer.slice(0, line, 1, 1)?.reshape(Shape::of(&[self.n]))
    }

    /// What a row counts for, or 0 where its label is ignored.
    fn counted(&self, each: &Node) -> Result<Node> {
        let row = Shape::of(&[self.n]);
        match &self.labels.ignored {
            Some(ignored) => Ok(ignored.reshape(row)?.choose(&each.lit(0.0), each)),
            None => each.expand(row),
        }
    }

    /// Lines of an answer.
    fn lines(&self) -> usize {
        if self.spread == Spread::Nothing { 1 } else { 2 }
    }

    /// By the losses of rows: the gradients are computed when they are asked for, from scores that are made again.
    fn by_rows(&self, op: &'static str, reduction: &str, smoothing: f64, dtype: DType) -> Result<Tensor> {
        let answer = self.kernel(SurpriseKind::Forward, &[], &[])?;
        let [own, evenly] = self.shares(smoothing);
        let mut each = self.line(&answer, 0)?.mul(&own);
        if self.lines() > 1 {
            each = each.add(&self.line(&answer, 1)?.mul(&evenly));
        }
        let column = |node: &Node| node.reshape(Shape::of(&[self.n, 1]));
        let one = || Node::scalar(1.0, self.sums, self.given[0].device(), true);
        let counts = match (&self.counts, &self.labels.ignored) {
            (Some(counts), _) => Some(column(counts)?),
            (None, Some(_)) => Some(one()),
            (None, None) => None,
        };
        let loss = self.labels.reduced(op, column(&each)?, counts, reduction, Shape::of(&[self.n]))?;
        Ok(Tensor::from_node(loss.node().cast(dtype)))
    }

    /// The mean or the sum, with the gradients computed beside it.
    fn with_gradients(&self, mean: bool, smoothing: f64, dtype: DType) -> Result<Node> {
        let one = Node::scalar(1.0, self.sums, self.given[0].device(), true);
        let total = match (mean, &self.counts, &self.labels.ignored) {
            (false, _, _) => None,
            (true, None, None) => Some(one.scale(self.n as f64)),
            (true, counts, _) => Some(sum(&self.counted(counts.as_ref().unwrap_or(&one))?)?),
        };
        // Where nothing counts the mean is no number, but nothing changes it either.
        let none = total.as_ref().map(|total| total.eq(&total.lit(0.0)));
        let [own, evenly] = self.shares(smoothing);
        let flow = |share: &Node| -> Result<Node> {
            let counted = self.counted(share)?;
            Ok(match (&total, &none) {
                (Some(total), Some(none)) => counted.div(&none.choose(&total.lit(1.0), total)),
                _ => counted,
            })
        };
        let flows = match self.lines() {
            1 => vec![flow(&own)?],
            _ => vec![flow(&own)?, flow(&evenly)?],
        };
        let rows: Vec<Node> =
            flows.iter().map(|f| f.reshape(Shape::of(&[1, self.n]))).collect::<Result<_>>()?;
        let stacked = match &rows[..] {
            [one] => one.clone(),
            several => Node::concat(&several.iter().collect::<Vec<_>>(), 0)?,
        };
        let line = self.kernel(SurpriseKind::Slopes, &[], &[&stacked])?;
        let answer = untracked(&self.kernel(SurpriseKind::Answer, &[&line], &[])?);
        let mut each = self.line(&answer, 0)?.mul(&flows[0]);
        if let Some(flow) = flows.get(1) {
            each = each.add(&self.line(&answer, 1)?.mul(flow));
        }
        // Infinite times 0 is no number.
        let mut value = sum(&self.counted(&each)?)?;
        if let Some(none) = none {
            value = none.choose(&value.lit(f64::NAN), &value);
        }
        self.kernel(SurpriseKind::Total, &[&untracked(&value.cast(dtype)), &line], &[])
    }
}

/// The gradients of what the kernel answers with where dtypes meet: of a total those that were computed beside it, and of these by products, from scores that are all
/// made.
pub(crate) fn differentiable_surprise(
    surprise: &Surprise,
    node: &Node,
    sources: &Sources,
    i: usize,
    g: &Node,
) -> Result<Option<Node>> {
    match surprise.kind {
        SurpriseKind::Total => {
            let own = surprise.computed(&sources[..]);
            let shaped: Vec<Shaped> = own.iter().map(Node::shaped).collect();
            // Before them come the number and the line.
            let Some(i) = i.checked_sub(2) else { return Ok(None) };
            let Some(part) = surprise.part(&shaped, &sources[1], i)? else { return Ok(None) };
            // A literal stays one: by 1 nothing is multiplied.
            let scale = g.literal().map_or_else(|| g.cast(part.dtype()), |scale| part.lit(scale));
            Ok(Some(part.mul(&scale)))
        }
        SurpriseKind::Slopes => slopes_again(surprise, sources, i, g),
        SurpriseKind::Forward | SurpriseKind::Answer => {
            mg_kernels::library::Library::from(*surprise).vjp(i, sources, node, g)
        }
    }
}

/// What flows back through the gradients: they are slopes of what the answer's lines count together, and what flows back to them is a direction in which
/// these slopes are taken.
fn slopes_again(surprise: &Surprise, sources: &Sources, i: usize, g: &Node) -> Result<Option<Node>> {
    let own = surprise.computed(&sources[..]);
    let shaped: Vec<Shaped> = own.iter().map(Node::shaped).collect();
    let sums = dtype_of_sums(own[0].dtype());
    let wide = |node: &Node| node.cast(sums);
    let (&[n, _], &[words, _]) = (own[0].shape().dims(), own[1].shape().dims()) else { return Ok(None) };
    let (x, w, labels) = (wide(&own[0]), wide(&own[1]), own[2].reshape(Shape::of(&[n, 1]))?);
    let direction = |i: usize| Ok(surprise.part(&shaped, g, i)?.map(|part| wide(&part)));
    let line = |node: &Node| node.reshape(Shape::of(&[1, words]));
    let column = |node: &Node, line: usize| node.slice(0, line, 1, 1)?.reshape(Shape::of(&[n, 1]));
    let (Some(of_x), Some(of_w)) = (direction(0)?, direction(1)?) else { return Ok(None) };
    let turned = |node: &Node| node.permute(&[1, 0]);
    let mut scores = x.matmul(&turned(&w)?)?;
    let mut change = of_x.matmul(&turned(&w)?)?.add(&x.matmul(&turned(&of_w)?)?);
    if surprise.biased {
        scores = scores.add(&line(&wide(&own[3]))?);
        if let Some(of_bias) = direction(3)? {
            change = change.add(&line(&of_bias)?);
        }
    }
    let along = |node: &Node| node.reduce(ReduceKind::Sum, 1 << 1, true);
    let powers = scores.sub(&largest(&scores, 1 << 1)?).map(Row::Exp);
    let p = powers.div(&along(&powers)?);
    let is_own = Node::ramp(Shape::of(&[1, words]), x.device()).eq(&labels);
    let flows = &sources[own.len()];
    let shares = match surprise.spread {
        Spread::Nothing => None,
        Spread::Evenly => Some(x.lit(1.0).expand(Shape::of(&[1, words]))?),
        Spread::ByShares => Some(line(own.last().unwrap_or(&own[0]))?),
    };
    let spread = match &shares {
        Some(shares) => Some((shares, along(shares)?, column(flows, 1)?)),
        None => None,
    };
    let flow = column(flows, 0)?;
    let all = spread.as_ref().map_or(flow.clone(), |(_, weight, evenly)| flow.add(&evenly.mul(weight)));
    let mean = along(&p.mul(&change))?;
    // What the direction changes at each score, and the slope there.
    let bent = || all.mul(&p).mul(&change.sub(&mean));
    let slope = || {
        let slope = all.mul(&p).sub(&is_own.choose(&flow, &flow.lit(0.0)));
        spread.as_ref().map_or(slope.clone(), |(shares, _, evenly)| slope.sub(&evenly.mul(shares)))
    };
    let gradient = match i {
        0 => bent().matmul(&w)?.add(&slope().matmul(&of_w)?),
        1 => turned(&bent())?.matmul(&x)?.add(&turned(&slope())?.matmul(&of_x)?),
        3 if surprise.biased => bent().reduce(ReduceKind::Sum, 1, false)?,
        i if i == own.len() => {
            let first = mean.sub(&along(&is_own.choose(&change, &change.lit(0.0)))?);
            let first = first.reshape(Shape::of(&[1, n]))?;
            match &spread {
                None => first,
                Some((shares, weight, _)) => {
                    let second = mean.mul(weight).sub(&along(&change.mul(shares))?);
                    Node::concat(&[&first, &second.reshape(Shape::of(&[1, n]))?], 0)?
                }
            }
        }
        _ => return Ok(None),
    };
    gradient.cast(sources[i].dtype()).reshape(*sources[i].shape()).map(Some)
}
