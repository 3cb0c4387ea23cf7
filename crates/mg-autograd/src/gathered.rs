//! A node's gradient while its shares come in. Shares of parts that do not meet (steps of a sequence, gates of a product) are laid
//! side by side: each costs its own elements, not those of the whole.

use crate::rules;
use mg_device::{Layout, Result};
use mg_graph::Node;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::ops::Range;

/// Parts of any boxes up to which each new one is compared with all.
const MOST: usize = 4096;

/// A share that is zero but for a box of the gradient.
#[derive(Clone)]
pub(crate) struct Part {
    /// The share.
    whole: Node,
    /// What the box holds.
    value: Node,
    /// Where it lies.
    region: Layout,
    /// Its positions along each axis.
    span: SmallVec<[Range<usize>; 4]>,
}

impl Part {
    /// The share as a part, if it is zeros with a box written into them.
    fn of(share: &Node) -> Option<Part> {
        let (value, region) = share.written()?;
        let dense = Layout::contiguous(*share.shape());
        if region.rank() != dense.rank() || region.numel() == 0 {
            return None;
        }
        let mut rest = region.offset();
        let mut span = SmallVec::new();
        for (axis, &n) in share.shape().iter().enumerate() {
            let (length, stride) = (region.shape()[axis], dense.strides()[axis].unsigned_abs());
            if length > 1 && region.strides()[axis] != dense.strides()[axis] {
                return None;
            }
            let start = rest / stride.max(1);
            rest -= start * stride;
            if start + length > n {
                return None;
            }
            span.push(start..start + length);
        }
        Some(Part { whole: share.clone(), value, region, span })
    }

    fn meets(&self, other: &Part) -> bool {
        self.span.iter().zip(&other.span).all(|(a, b)| a.start < b.end && b.start < a.end)
    }

    /// Its positions along an axis, if it is all of the gradient along the others.
    fn along(&self, axis: usize) -> Option<&Range<usize>> {
        let mut rest = self.span.iter().zip(self.whole.shape().iter()).enumerate();
        rest.all(|(other, (span, &n))| other == axis || *span == (0..n)).then(|| self.span.get(axis))?
    }
}

/// Parts that do not meet.
#[derive(Clone)]
pub(crate) struct Parts {
    list: Vec<Part>,
    /// Where all of them lie along one axis, and are everything along the others: that axis, and each one's end by its start. So that
    /// many of them (elements, steps) are not compared each with each.
    line: Option<(usize, BTreeMap<usize, usize>)>,
}

impl Parts {
    fn of(part: Part) -> Parts {
        let rank = part.span.len();
        let line = (0..rank).find_map(|axis| {
            let span = part.along(axis)?;
            Some((axis, BTreeMap::from([(span.start, span.end)])))
        });
        Parts { list: vec![part], line }
    }

    /// Takes a part that meets none of them; others it gives back.
    fn take(&mut self, part: Part) -> Option<Part> {
        let Some((axis, ends)) = &mut self.line else { return self.compare(part) };
        let Some(span) = part.along(*axis) else {
            self.line = None;
            return self.compare(part);
        };
        // Of those that begin before its end the last is the one that may reach into it.
        if ends.range(..span.end).next_back().is_some_and(|(_, &end)| end > span.start) {
            return Some(part);
        }
        ends.insert(span.start, span.end);
        self.list.push(part);
        None
    }

    fn compare(&mut self, part: Part) -> Option<Part> {
        if self.list.len() >= MOST || self.list.iter().any(|p| p.meets(&part)) {
            return Some(part);
        }
        self.list.push(part);
        None
    }
}

/// What has come in so far.
#[derive(Clone)]
pub(crate) enum Gathered {
    /// No gradient, not even one of zeros: a function of somebody's has said so, and nobody else has one.
    Nothing,
    /// One number for each element.
    Sum(Node),
    /// Parts that do not meet, and what else there is to be added: at least one part.
    Parts(Parts, Option<Node>),
}

impl Gathered {
    pub(crate) fn of(share: Node) -> Gathered {
        match Part::of(&share) {
            Some(part) => Gathered::Parts(Parts::of(part), None),
            None => Gathered::Sum(share),
        }
    }

    /// Another share.
    pub(crate) fn add(&mut self, share: Node) {
        let plus = |sum: &Node, share: &Node| rules::add(sum, share);
        match (self, Part::of(&share)) {
            (nothing @ Gathered::Nothing, _) => *nothing = Gathered::of(share),
            (Gathered::Parts(parts, rest), part) => {
                let part = part.map(|part| parts.take(part));
                if !matches!(part, Some(None)) {
                    *rest = Some(rest.as_ref().map_or_else(|| share.clone(), |rest| plus(rest, &share)));
                }
            }
            (whole @ Gathered::Sum(_), Some(part)) => {
                if let Gathered::Sum(sum) = whole {
                    *whole = Gathered::Parts(Parts::of(part), Some(sum.clone()));
                }
            }
            (Gathered::Sum(sum), None) => *sum = plus(sum, &share),
        }
    }

    /// What it is made of.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        let (parts, rest): (&[Part], Option<&Node>) = match self {
            Gathered::Nothing => (&[], None),
            Gathered::Sum(sum) => (&[], Some(sum)),
            Gathered::Parts(parts, rest) => (&parts.list, rest.as_ref()),
        };
        parts.iter().map(|part| &part.value).chain(rest)
    }

    /// The gradient so far, if there is one.
    pub(crate) fn whole(&self) -> Result<Option<Node>> {
        match self {
            Gathered::Nothing => Ok(None),
            Gathered::Sum(sum) => Ok(Some(sum.clone())),
            Gathered::Parts(parts, rest) => {
                let parts = laid(&parts.list)?;
                Ok(Some(rest.as_ref().map_or_else(|| parts.clone(), |rest| rules::add(rest, &parts))))
            }
        }
    }
}

/// Parts in one tensor: one after the other where they are all of it along an axis, else written into zeros.
fn laid(parts: &[Part]) -> Result<Node> {
    let [first, rest @ ..] = parts else { return Node::concat(&[], 0) };
    if rest.is_empty() {
        return Ok(first.whole.clone());
    }
    if let Some(row) = in_a_row(parts)? {
        return Ok(row);
    }
    rest.iter().try_fold(first.whole.clone(), |base, part| {
        part.value.write_into(Some(&base), *base.shape(), part.region)
    })
}

/// The parts one after the other, where these are all of it along an axis.
fn in_a_row(parts: &[Part]) -> Result<Option<Node>> {
    let Some(shape) = parts.first().map(|part| *part.whole.shape()) else { return Ok(None) };
    let is_all = |part: &Part, axis: usize| part.span[axis] == (0..shape[axis]);
    let mut divided = (0..shape.rank()).filter(|&axis| !parts.iter().all(|p| is_all(p, axis)));
    let (Some(axis), None) = (divided.next(), divided.next()) else { return Ok(None) };
    let mut parts: Vec<&Part> = parts.iter().collect();
    parts.sort_by_key(|part| part.span[axis].start);
    let mut end = 0;
    for part in &parts {
        if part.span[axis].start != end {
            return Ok(None);
        }
        end = part.span[axis].end;
    }
    if end != shape[axis] {
        return Ok(None);
    }
    let values: Vec<&Node> = parts.iter().map(|part| &part.value).collect();
    match Node::side_by_side(&values, axis)? {
        Some(row) => Ok(Some(row)),
        None => Node::concat(&values, axis).map(Some),
    }
}
