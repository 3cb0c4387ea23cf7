//! A node's gradient while its shares come in. Shares of parts that do not meet (steps of a sequence, gates of a product) are laid
//! side by side: each costs its own elements, not those of the whole. What was written over has no gradient where it was: a box of zeros.
//! Shares that are products of matrices (of a weight that is used at each step of a sequence) are one product in the end.

use crate::rules;
use mg_device::{Layout, Result, Shape};
use mg_graph::{Kernel, Node, Op, View};
use mg_kernels::Algebra;
use mg_kernels::library::Library;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::ops::Range;

/// Parts of any boxes up to which each new one is compared with all.
const MOST: usize = 4096;

/// The positions of a box along each axis.
type Span = SmallVec<[Range<usize>; 4]>;

/// A box of the gradient, and what it holds.
#[derive(Clone)]
struct Part {
    /// Of the box's shape, or a number for all of it.
    value: Node,
    span: Span,
}

/// The positions of what a region sees of something dense, where that is a box in its own order; axes of one position may be left out.
fn box_of(region: &Layout, shape: &Shape) -> Option<Span> {
    if region.numel() == 0 {
        return None;
    }
    let dense = Layout::contiguous(*shape);
    let strides = dense.padded_strides();
    let mut seen = region.shape().iter().zip(region.strides()).filter(|(n, _)| **n > 1).peekable();
    let mut rest = region.offset();
    let mut span = Span::new();
    for (axis, &n) in shape.iter().enumerate() {
        let length = seen.next_if(|(_, stride)| n > 1 && **stride == strides[axis]).map_or(1, |(n, _)| *n);
        let start = rest / strides[axis].unsigned_abs().max(1);
        rest -= start * strides[axis].unsigned_abs();
        if start + length > n {
            return None;
        }
        span.push(start..start + length);
    }
    seen.next().is_none().then_some(span)
}

/// The shape of a box.
fn sizes(span: &Span) -> Shape {
    Shape::of(&span.iter().map(Range::len).collect::<SmallVec<[usize; 4]>>())
}

impl Part {
    /// A share as a part, if it is zeros with a box written into them.
    fn of(share: &Node) -> Option<Part> {
        let (value, region) = share.written()?;
        let span = box_of(&region, share.shape())?;
        Some(Part { value: value.reshape(sizes(&span)).ok()?, span })
    }

    /// What it holds, in full.
    fn filled(&self) -> Result<Node> {
        self.value.expand(sizes(&self.span))
    }
}

/// Where a box lies in something of a shape.
fn region(span: &Span, shape: &Shape) -> Result<Layout> {
    let dense = Layout::contiguous(*shape);
    let starts = span.iter().zip(dense.strides());
    let offset = starts.map(|(span, stride)| span.start * stride.unsigned_abs()).sum();
    Layout::new(sizes(span), dense.strides(), offset)
}

fn is_zero(value: &Node) -> bool {
    value.literal() == Some(0.0)
}

fn meet(a: &Span, b: &Span) -> bool {
    a.iter().zip(b).all(|(a, b)| a.start < b.end && b.start < a.end)
}

/// The positions of a box along an axis, if it is all there is along the others.
fn along<'a>(span: &'a Span, axis: usize, shape: &Shape) -> Option<&'a Range<usize>> {
    let mut rest = span.iter().zip(shape.iter()).enumerate();
    rest.all(|(other, (span, &n))| other == axis || *span == (0..n)).then(|| span.get(axis))?
}

/// How a box lies to the parts that there are.
#[derive(Clone, Copy)]
enum Place {
    /// It is this one.
    Is(usize),
    /// It meets none of them.
    Free,
    Meets,
}

/// Parts along one axis, which are everything along the others: the end and the number of each by its start.
#[derive(Clone)]
struct Row {
    axis: usize,
    ends: BTreeMap<usize, (usize, usize)>,
}

/// Parts that do not meet.
#[derive(Clone)]
pub(crate) struct Parts {
    shape: Shape,
    /// What there is where no part is: of that shape, or a literal zero.
    base: Node,
    list: Vec<Part>,
    /// Where all of them lie along one axis: so that many of them (elements, steps) are not compared each with each.
    line: Option<Row>,
}

impl Parts {
    fn over(base: Node, shape: Shape) -> Parts {
        Parts { shape, base, list: vec![], line: None }
    }

    /// Of a share.
    fn of(part: Part, shape: Shape) -> Parts {
        let mut parts = Parts::over(part.value.lit(0.0), shape);
        parts.put(part);
        parts
    }

    fn place(&mut self, span: &Span) -> Place {
        if let Some(Row { axis, ends }) = &self.line {
            if let Some(span) = along(span, *axis, &self.shape) {
                // Of those that begin before its end the last is the one that may reach into it.
                return match ends.range(..span.end).next_back() {
                    Some((&start, &(end, at))) if (start..end) == *span => Place::Is(at),
                    Some((_, &(end, _))) if end > span.start => Place::Meets,
                    Some(_) | None => Place::Free,
                };
            }
            self.line = None;
        }
        match self.list.iter().position(|part| meet(&part.span, span)) {
            Some(at) if self.list[at].span == *span => Place::Is(at),
            Some(_) => Place::Meets,
            None if self.list.len() >= MOST => Place::Meets,
            None => Place::Free,
        }
    }

    /// A part that meets none of them.
    fn put(&mut self, part: Part) {
        let at = self.list.len();
        if at == 0 {
            let axes = 0..part.span.len();
            let axis = axes.into_iter().find(|&axis| along(&part.span, axis, &self.shape).is_some());
            self.line = axis.map(|axis| Row { axis, ends: BTreeMap::new() });
        }
        if let Some(Row { axis, ends }) = &mut self.line {
            let span = &part.span[*axis];
            ends.insert(span.start, (span.end, at));
        }
        self.list.push(part);
    }

    /// What is in a box that meets no part.
    fn beside(&self, span: &Span) -> Result<Node> {
        if is_zero(&self.base) { Ok(self.base.clone()) } else { self.base.region(region(span, &self.shape)?) }
    }

    /// Adds a part; one that meets some of them it gives back.
    fn add(&mut self, part: Part) -> Option<Part> {
        match self.place(&part.span) {
            Place::Is(at) => self.list[at].value = rules::add(&self.list[at].value, &part.value),
            Place::Free => {
                let there = self.beside(&part.span).unwrap_or_else(|error| Node::failed(error, &part.value));
                self.put(Part { value: rules::add(&there, &part.value), ..part });
            }
            Place::Meets => return Some(part),
        }
        None
    }

    /// All of it: one after the other where the parts are all of it along an axis, else written into what there is beside them.
    fn whole(&self) -> Result<Node> {
        if let Some(row) = self.in_a_row()? {
            return Ok(row);
        }
        let mut whole = (!is_zero(&self.base)).then(|| self.base.clone());
        for part in self.list.iter().filter(|part| !(is_zero(&self.base) && is_zero(&part.value))) {
            let at = region(&part.span, &self.shape)?;
            whole = Some(part.filled()?.write_into(whole.as_ref(), self.shape, at)?);
        }
        Ok(whole.unwrap_or_else(|| self.base.clone()))
    }

    fn in_a_row(&self) -> Result<Option<Node>> {
        let is_all = |part: &Part, axis: usize| part.span[axis] == (0..self.shape[axis]);
        let mut divided = (0..self.shape.rank()).filter(|&axis| !self.list.iter().all(|p| is_all(p, axis)));
        let (Some(axis), None) = (divided.next(), divided.next()) else { return Ok(None) };
        let mut parts: Vec<&Part> = self.list.iter().collect();
        parts.sort_by_key(|part| part.span[axis].start);
        let mut end = 0;
        for part in &parts {
            if part.span[axis].start != end {
                return Ok(None);
            }
            end = part.span[axis].end;
        }
        if end != self.shape[axis] || parts.iter().all(|part| is_zero(&part.value)) {
            return Ok(None);
        }
        let values = parts.iter().map(|part| part.filled()).collect::<Result<Vec<Node>>>()?;
        let values: Vec<&Node> = values.iter().collect();
        match Node::side_by_side(&values, axis)? {
            Some(row) => Ok(Some(row)),
            None => Node::concat(&values, axis).map(Some),
        }
    }
}

/// Adds a share to what may be there.
fn added(rest: &mut Option<Node>, share: &Node) {
    *rest = Some(rest.as_ref().map_or_else(|| share.clone(), |rest| rules::add(rest, share)));
}

/// What else there is and a sum, added, if there are both.
fn with(rest: &Option<Node>, sum: Option<Node>) -> Option<Node> {
    let mut all = rest.clone();
    sum.iter().for_each(|sum| added(&mut all, sum));
    all
}

/// How many products are worth their operands' copies.
const SEVERAL: usize = 3;

/// A share that is a product of matrices, `leftᵀ · right`, and smaller than what it comes to.
#[derive(Clone)]
struct Product {
    share: Node,
    /// `[k, m]`
    left: Node,
    /// `[k, n]`
    right: Node,
}

impl Product {
    /// A share that nobody else sees, computed or not yet.
    fn of(share: &Node) -> Option<Product> {
        let is_apart = |node: &Node| node.is_pending() && !node.is_somebodys();
        let sources = share.sources();
        let turned = match (share.op(), &sources[..]) {
            (Op::View(View::Permute([1, 0, ..])), [product]) if share.shape().rank() == 2 => Some(product),
            _ => None,
        };
        let product = turned.unwrap_or(share);
        let Op::Kernel(Kernel::Library(Library::MatMul(_))) = product.op() else { return None };
        if !is_apart(share) || !is_apart(product) || !share.dtype().is_float() {
            return None;
        }
        let operands = product.sources();
        let [a, b] = &operands[..] else { return None };
        let (&[m, k], &[_, n]) = (&a.shape()[..], &b.shape()[..]) else { return None };
        // As many elements are written and read of each product, where all are added up, as are copied where they are one.
        if (m + n).saturating_mul(k) > (2 * m).saturating_mul(n) || k == 0 {
            return None;
        }
        let across = a.permute(&[1, 0]).ok()?;
        let (left, right) = if turned.is_some() { (b.clone(), across) } else { (across, b.clone()) };
        Some(Product { share: share.clone(), left, right })
    }
}

/// Products of one shape, and what else there is to be added.
#[derive(Clone, Default)]
pub(crate) struct Products {
    all: Vec<Product>,
    rest: Option<Node>,
}

impl Products {
    /// Another share.
    fn add(&mut self, share: &Node) {
        let is_alike = |product: &Product| {
            self.all.first().is_none_or(|first| {
                first.share.shape() == product.share.shape() && first.share.dtype() == product.share.dtype()
            })
        };
        match Product::of(share).filter(is_alike) {
            Some(product) => self.all.push(product),
            None => added(&mut self.rest, share),
        }
    }

    /// The sum of the products: several are one, of the rows of all of them one after the other, the last to come first (of steps, these are the first
    /// ones).
    fn whole(&self) -> Result<Option<Node>> {
        if self.all.len() < SEVERAL {
            let shares = self.all.iter().map(|product| product.share.clone());
            return Ok(shares.reduce(|sum, share| rules::add(&sum, &share)));
        }
        let rows = |of: fn(&Product) -> &Node| {
            let rows: Vec<&Node> = self.all.iter().rev().map(of).collect();
            Node::concat(&rows, 0)
        };
        rows(|product| &product.left)?.permute(&[1, 0])?.matmul(&rows(|product| &product.right)?).map(Some)
    }
}

/// What has come in so far.
#[derive(Clone)]
pub(crate) enum Gathered {
    /// No gradient, not even one of zeros: a function of somebody's has said so, and nobody else has one.
    Nothing,
    /// One number for each element.
    Sum(Node),
    /// Parts that do not meet, and what else there is to be added.
    Parts(Parts, Option<Node>),
    /// Products of matrices.
    Products(Products),
}

impl Gathered {
    /// Another share.
    pub(crate) fn add(&mut self, share: Node) {
        let part = Part::of(&share);
        match self {
            Gathered::Nothing => *self = Gathered::Sum(share),
            Gathered::Sum(sum) => match (Part::of(sum), part) {
                (Some(first), _) => {
                    *self = Gathered::Parts(Parts::of(first, *sum.shape()), None);
                    self.add(share);
                }
                (None, Some(part)) => {
                    let parts = Parts::of(part, *share.shape());
                    *self = Gathered::Parts(parts, Some(sum.clone()));
                }
                (None, None) => {
                    let mut products = Products::default();
                    products.add(sum);
                    products.add(&share);
                    match products {
                        Products { all, rest: Some(rest) } if all.is_empty() => *sum = rest,
                        products => *self = Gathered::Products(products),
                    }
                }
            },
            Gathered::Products(products) => products.add(&share),
            Gathered::Parts(parts, rest) => {
                if part.is_none_or(|part| parts.add(part).is_some()) {
                    added(rest, &share);
                }
            }
        }
    }

    /// Takes a box out of the gradient of something of a shape, and leaves zeros in its place: what was there. `None` where there is no
    /// gradient, or the region is no box.
    pub(crate) fn take(&mut self, region: &Layout, shape: Shape) -> Result<Option<Node>> {
        let Some(span) = box_of(region, &shape) else { return Ok(None) };
        let Some(mut parts) = std::mem::replace(self, Gathered::Nothing).into_parts(shape)? else {
            return Ok(None);
        };
        let mut place = parts.place(&span);
        if let Place::Meets = place {
            parts = Parts::over(parts.whole()?.expand(shape)?, shape);
            place = Place::Free;
        }
        let held = match place {
            Place::Is(at) => parts.list[at].value.clone(),
            Place::Free | Place::Meets => parts.beside(&span)?,
        };
        let zero = held.lit(0.0);
        match place {
            Place::Is(at) => parts.list[at].value = zero,
            Place::Free | Place::Meets => parts.put(Part { value: zero, span }),
        }
        let held = if held.literal().is_some() { held } else { held.reshape(*region.shape())? };
        *self = Gathered::Parts(parts, None);
        Ok(Some(held))
    }

    /// As parts alone, if there is a gradient.
    fn into_parts(self, shape: Shape) -> Result<Option<Parts>> {
        if let Gathered::Parts(parts, None) = self {
            return Ok(Some(parts));
        }
        let Some(whole) = self.whole()? else { return Ok(None) };
        Ok(Some(match Part::of(&whole) {
            Some(part) => Parts::of(part, shape),
            None => Parts::over(whole.expand(shape)?, shape),
        }))
    }

    /// What it is made of.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        let (parts, products, base, rest): (&[Part], &[Product], _, _) = match self {
            Gathered::Nothing => (&[], &[], None, None),
            Gathered::Sum(sum) => (&[], &[], None, Some(sum)),
            Gathered::Parts(parts, rest) => (&parts.list, &[], Some(&parts.base), rest.as_ref()),
            Gathered::Products(Products { all, rest }) => (&[], all, None, rest.as_ref()),
        };
        let products = products.iter().flat_map(|product| [&product.left, &product.right]);
        parts.iter().map(|part| &part.value).chain(products).chain(base).chain(rest)
    }

    /// The gradient so far, if there is one.
    pub(crate) fn whole(&self) -> Result<Option<Node>> {
        match self {
            Gathered::Nothing => Ok(None),
            Gathered::Sum(sum) => Ok(Some(sum.clone())),
            Gathered::Parts(parts, rest) => Ok(with(rest, Some(parts.whole()?))),
            Gathered::Products(products) => Ok(with(&products.rest, products.whole()?)),
        }
    }
}
