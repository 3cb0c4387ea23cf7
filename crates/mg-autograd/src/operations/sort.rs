//! Sorting, and elements by their rank.
//!
//! The kernels work along the last axis: another one is brought there and back.

use super::axis_of;
use crate::ops::Operand;
use crate::picks;
use crate::rules;
use crate::surface::Varied;
use crate::tensor::Tensor;
use crate::tensor::memory::untracked;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, form};
use mg_kernels::library::{Compact, Sort, SortKind};
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;

fn refused<T>(op: &'static str, kind: ErrorKind) -> Result<T> {
    Err(Error::new(op, kind))
}

/// Refuses truth values.
fn not_bool(op: &'static str, t: &Tensor) -> Result<()> {
    match t.is_bool() {
        true => refused(op, ErrorKind::DType("takes numbers, got bool".into())),
        false => Ok(()),
    }
}

/// A tensor's lines along an axis.
struct Lines {
    /// The tensor, of one axis at least.
    x: Node,
    axis: usize,
    /// The tensor's axes.
    rank: usize,
}

impl Lines {
    fn of(t: &Tensor, dim: isize) -> Result<Lines> {
        let (x, rank) = (t.node(), t.rank());
        let axis = axis_of(dim, rank)?;
        let x = if rank == 0 { x.reshape(Shape::of(&[1]))? } else { x };
        Ok(Lines { x, axis, rank })
    }

    /// Elements of a line.
    fn length(&self) -> usize {
        self.x.shape()[self.axis]
    }

    /// The tensor with the lines' axis as the last one.
    fn last(&self) -> Result<Node> {
        let mut axes: Vec<usize> = (0..self.x.shape().rank()).collect();
        axes.remove(self.axis);
        axes.push(self.axis);
        self.x.permute(&axes)
    }

    /// What was found along the last axis, where the lines' axis is; without axes where the tensor had none.
    fn back(&self, found: &Node) -> Result<Tensor> {
        let rank = self.x.shape().rank();
        if self.axis + 1 == rank {
            let shape = if self.rank == 0 { Shape::of(&[]) } else { *found.shape() };
            // Without axes there is one element, or none was asked for.
            let fits = shape.numel() == found.shape().numel();
            return Ok(Tensor::from_node(if fits { found.reshape(shape)? } else { found.clone() }));
        }
        let mut axes: Vec<usize> = (0..rank - 1).collect();
        axes.insert(self.axis, rank - 1);
        Ok(Tensor::from_node(found.permute(&axes)?.copy()))
    }

    /// The elements at positions along the last axis that a sort found, and the positions.
    fn picked(&self, last: &Node, at: &Node) -> Result<(Tensor, Tensor)> {
        let values = last.gather_each_once(last.shape().rank() - 1, at)?;
        Ok((self.back(&values)?, self.back(at)?))
    }
}

/// The first `count` elements in order along an axis, and their positions.
fn in_order(t: &Tensor, dim: isize, descending: bool, count: Option<usize>) -> Result<(Tensor, Tensor)> {
    let lines = Lines::of(t, dim)?;
    let count = count.unwrap_or(lines.length());
    let last = lines.last()?;
    if is_chosen(&last, count) {
        let at = chosen(&untracked(&last), descending, count)?;
        return lines.picked(&last, &at);
    }
    let by = |kind| Node::library(Sort { kind, descending, count }.into(), &[&last]);
    if is_apart(&last) && count == lines.length() {
        return Ok((lines.back(&by(SortKind::Values)?)?, lines.back(&by(SortKind::Indices)?)?));
    }
    lines.picked(&last, &by(SortKind::Indices)?)
}

/// Bytes from which elements of a line do not stay in a GPU's second-level cache while they are read at random.
const FAR: usize = 48 << 20;

/// Whether elements in order are found sooner by sorting them alone than by reading each where a sort found it.
fn is_apart(last: &Node) -> bool {
    let shape = last.shape();
    let is_far = shape[shape.rank() - 1].saturating_mul(last.dtype().size()) >= FAR;
    // Words of 32 bits are sorted soonest: of others, both together would take half as long again.
    let is_sooner = match last.device().is_cpu() {
        true => last.dtype().size() == 4 && Sort::is_sooner_alone(),
        false => is_far,
    };
    is_sooner && !(last.is_tracked() && mg_graph::is_tracking())
}

/// Elements of a line from which few of them are not looked for by sorting all, and how many are few: as many as one block sorts.
const LONG: usize = 1 << 15;
const FEW: usize = 1 << 12;

/// Whether the first elements of lines are chosen before they are sorted: a few of many, on CUDA. What is traced is a sort.
fn is_chosen(last: &Node, count: usize) -> bool {
    let shape = last.shape();
    let length = shape[shape.rank() - 1];
    let rows = shape.numel().checked_div(length).unwrap_or(0);
    !last.device().is_cpu()
        && length >= LONG
        && (1..=FEW.min(length / 8)).contains(&count)
        && rows > 0
        && !(last.is_traced() || mg_graph::is_recording())
}

/// The positions of the first `count` elements in the order of each line: those before the element of that rank are as many as are wanted, with
/// those of its like that do not stand behind it; they are sorted alone.
fn chosen(last: &Node, descending: bool, count: usize) -> Result<Node> {
    let shape = *last.shape();
    let axis = shape.rank() - 1;
    let length = shape[axis];
    let by = |kind, count| Node::library(Sort { kind, descending, count }.into(), &[last]);
    let rank = by(SortKind::Nth, count - 1)?;
    let bound = last.gather(axis, &rank)?;
    let is_nan = |x: &Node| Node::apply(Row::Ne, &[x, x]);
    // NaN is larger than every number.
    let (less, more) = if descending { (&bound, last) } else { (last, &bound) };
    let before = less.lt(more);
    let before = match last.dtype().is_float() {
        true => {
            let is_number = Node::apply(Row::Eq, &[less, less]);
            let beyond = Node::apply(Row::And, &[&is_nan(more), &is_number]);
            Node::apply(Row::Or, &[&before, &beyond])
        }
        false => before,
    };
    let line = Node::ramp(Shape::of(&[1; mg_device::MAX_RANK][..axis + 1]).with(axis, length), last.device());
    let stands = Node::apply(Row::Not, &[&rank.lt(&line)]);
    let alike = Node::apply(Row::And, &[&rules::is_same(last, &bound), &stands]);
    let mask = Node::apply(Row::Or, &[&before, &alike]).reshape(Shape::of(&[shape.numel()]))?;
    let found = shape.numel() / length * count;
    let ends = picks::held(&mask)?.node();
    let among = Node::library(Compact { found, first: false }.into(), &[&mask, &ends])?;
    let some = shape.with(axis, count);
    let size = Node::scalar(length as f64, DType::I64, last.device(), true);
    let rows = Node::ramp(shape.with(axis, 1), last.device()).mul(&size);
    let among = among.reshape(some)?.sub(&rows);
    let few = last.gather(axis, &among)?;
    let order = Node::library(Sort { kind: SortKind::Indices, descending, count }.into(), &[&few])?;
    among.gather(axis, &order)
}

/// Lines in order. Where gradients are recorded the positions are kept, so that the tensor may be written to meanwhile.
fn sorted(lines: &Node) -> Result<Node> {
    let axis = lines.shape().rank() - 1;
    let count = lines.shape()[axis];
    let by = |kind| Node::library(Sort { kind, descending: false, count }.into(), &[lines]);
    match lines.is_tracked() && mg_graph::is_tracking() {
        true => lines.gather_each_once(axis, &by(SortKind::Indices)?),
        false => by(SortKind::Values),
    }
}

/// The element of each line that a kernel finds, and its position.
fn one_of(t: &Tensor, op: &'static str, dim: isize, keepdim: bool, sort: Sort) -> Result<(Tensor, Tensor)> {
    let lines = Lines::of(t, dim)?;
    if lines.length() == 0 {
        let text = format!("axis {dim} of shape {} has no elements", t.shape());
        return refused(op, ErrorKind::Empty(text));
    }
    let last = lines.last()?;
    let at = Node::library(sort.into(), &[&last])?;
    let (values, at) = lines.picked(&last, &at)?;
    if keepdim || lines.rank == 0 {
        return Ok((values, at));
    }
    let axis = [lines.axis as isize];
    Ok((values.squeeze(Some(&axis))?, at.squeeze(Some(&axis))?))
}

/// The median of each line, or of all elements.
fn middle(t: &Tensor, op: &'static str, kind: SortKind, dim: Option<isize>, keepdim: bool) -> Result<Varied> {
    not_bool(op, t)?;
    let sort = Sort { kind, descending: false, count: 0 };
    if let Some(dim) = dim {
        let (values, at) = one_of(t, op, dim, keepdim, sort)?;
        return Ok(Varied([values, at].into_iter().collect()));
    }
    let x = t.node();
    let n = x.shape().numel();
    if n == 0 {
        if !x.dtype().is_float() {
            return refused(op, ErrorKind::Shape(format!("integers of shape {} have none", x.shape())));
        }
        // It has the history of what there is not.
        let all = (0..x.shape().rank()).fold(0, |mask, axis| mask | 1 << axis);
        let nan = x.reduce(ReduceKind::Sum, all, false)?.add(&x.lit(f64::NAN));
        return Ok(Varied([Tensor::from_node(nan.copy())].into_iter().collect()));
    }
    let flat = x.reshape(Shape::of(&[n]))?;
    let own = untracked(&flat);
    let at = Node::library(sort.into(), &[&own])?;
    let found = own.gather(0, &at)?;
    let found = match mg_graph::is_tracking() && x.is_tracked() {
        true => shared_evenly(&flat, &own, &found)?,
        false => found,
    };
    Ok(Varied([Tensor::from_node(found.reshape(Shape::of(&[]))?)].into_iter().collect()))
}

/// What was found, whose gradient is that of the elements that equal it, in even shares; where it is NaN, of those that are.
fn shared_evenly(x: &Node, own: &Node, found: &Node) -> Result<Node> {
    let zero = x.lit(0.0);
    let equal = rules::is_same(own, found);
    // The differences of finite elements to themselves are nothing; those of infinite ones would be NaN.
    let is_finite = found.sub(found).eq(&zero);
    let each = equal.choose(&is_finite.choose(&own.sub(x), &x.neg()), &zero);
    let count = equal.cast(DType::I64).reduce(ReduceKind::Sum, 1, true)?.cast(x.dtype());
    let less = each.reduce(ReduceKind::Sum, 1, true)?.div(&count);
    Ok(is_finite.choose(found, &zero).sub(&less))
}

/// How a quantile between two elements is found.
#[derive(Clone, Copy, PartialEq)]
enum Between {
    Linear,
    Lower,
    Higher,
    Nearest,
    Midpoint,
}

impl Between {
    fn of(op: &'static str, interpolation: &str) -> Result<Between> {
        Ok(match interpolation {
            "linear" => Between::Linear,
            "lower" => Between::Lower,
            "higher" => Between::Higher,
            "nearest" => Between::Nearest,
            "midpoint" => Between::Midpoint,
            other => {
                let text = format!(
                    "interpolation '{other}', not 'linear', 'lower', 'higher', 'nearest' or 'midpoint'"
                );
                return refused(op, ErrorKind::Value(text));
            }
        })
    }

    /// What stands at ranks, which need not be whole, of lines along an axis that are sorted.
    fn at(self, sorted: &Node, axis: usize, ranks: &Node) -> Result<Node> {
        let ranks = match self {
            Between::Lower => ranks.map(Row::Floor),
            Between::Higher => ranks.map(Row::Ceil),
            Between::Nearest => ranks.map(Row::Round),
            Between::Linear | Between::Midpoint => ranks.clone(),
        };
        let below = untracked(&ranks).map(Row::Floor);
        let low = sorted.gather(axis, &below.cast(DType::I64))?;
        let weight = match self {
            Between::Lower | Between::Higher | Between::Nearest => return Ok(low),
            Between::Linear => ranks.sub(&below),
            Between::Midpoint => below.lit(0.5),
        };
        let above = untracked(&ranks).map(Row::Ceil);
        let high = sorted.gather(axis, &above.cast(DType::I64))?;
        // Equal ones stay what they are: infinities have no difference.
        let same = untracked(&low).eq(&untracked(&high));
        let step = same.choose(&low.lit(0.0), &high.sub(&low));
        // From the nearer one: between −∞ and a number no quantile is NaN on the number's side.
        let near = low.add(&step.mul(&weight));
        let far = high.sub(&step.mul(&weight.lit(1.0).sub(&weight)));
        Ok(weight.lt(&weight.lit(0.5)).choose(&near, &far))
    }
}

/// The quantiles that are asked for of a tensor, when both are what they may be.
fn asked(op: &'static str, t: &Tensor, q: Operand) -> Result<Tensor> {
    if !matches!(t.dtype(), DType::F32 | DType::F64) {
        return refused(op, ErrorKind::DType(format!("takes float32 or float64, got {}", t.dtype())));
    }
    if t.numel() == 0 {
        return refused(op, ErrorKind::Shape(format!("a tensor of shape {} has no elements", t.shape())));
    }
    let inside = |q: f64| match (0.0..=1.0).contains(&q) {
        true => Ok(()),
        false => refused(op, ErrorKind::Value(format!("takes q between 0 and 1, got {q}"))),
    };
    let given = match &q {
        Operand::Float(q) => Some(*q),
        Operand::Int(q) => Some(*q as f64),
        Operand::Bool(q) => Some(f64::from(u8::from(*q))),
        Operand::Tensor(_) | Operand::Live(_) => None,
    };
    given.map_or(Ok(()), inside)?;
    let q = q.beside(t);
    if q.rank() > 1 || q.dtype() != t.dtype() {
        let text = format!("takes q of {} with one axis at most, got {} {}", t.dtype(), q.dtype(), q.shape());
        return refused(op, ErrorKind::Value(text));
    }
    if q.device() != t.device() {
        let text = format!("q on {}, the tensor on {}", q.device(), t.device());
        return refused(op, ErrorKind::UnlikeDevices(text));
    }
    // A device that would have to be waited for is not asked, nor what stands for many examples: there, what is outside is taken to be 0 or 1.
    if given.is_none() && q.device().is_cpu() && !q.node().is_traced() {
        mg_graph::needs_values();
        q.detach().to_dtype(DType::F64).to_vec::<f64>()?.into_iter().try_for_each(inside)?;
    }
    Ok(q)
}

/// The ranks of a line of quantiles in lines along an axis that are sorted: of all elements, or of the numbers if NaN is skipped.
fn ranks(sorted: &Node, axis: usize, q: &Node, skips: bool) -> Result<Node> {
    let (length, count) = (sorted.shape()[axis] as f64, q.shape().numel());
    let inside = Node::apply(Row::Minimum, &[&Node::apply(Row::Maximum, &[q, &q.lit(0.0)]), &q.lit(1.0)]);
    let own = untracked(sorted);
    let is_number = own.eq(&own).cast(DType::I64);
    let numbers = is_number.reduce(ReduceKind::Sum, 1 << axis, true)?.cast(sorted.dtype());
    let ranks = match skips {
        true => {
            let most = Node::apply(Row::Maximum, &[&numbers.sub(&numbers.lit(1.0)), &numbers.lit(0.0)]);
            inside.mul(&most)
        }
        // NaN comes last.
        false => {
            let last = length - 1.0;
            numbers.eq(&numbers.lit(length)).choose(&inside.scale(last), &inside.lit(last))
        }
    };
    ranks.expand(sorted.shape().with(axis, count))
}

/// The sizes of what has one element for each line along an axis, or for all lines.
fn of_lines(shape: &[usize], axis: Option<usize>, keepdim: bool) -> Vec<usize> {
    let mut sizes = shape.to_vec();
    match (axis, keepdim) {
        (None, false) => sizes.clear(),
        (None, true) => sizes.fill(1),
        // The axis of a tensor without axes is none of its own.
        (Some(_), _) if shape.is_empty() => {}
        (Some(axis), true) => sizes[axis] = 1,
        (Some(axis), false) => drop(sizes.remove(axis)),
    }
    sizes
}

/// Quantiles, over what is not NaN if `skips` is set; otherwise those of a line with NaN are NaN.
fn quantiles(
    op: &'static str,
    t: &Tensor,
    q: Operand,
    dim: Option<isize>,
    keepdim: bool,
    interpolation: &str,
    skips: bool,
) -> Result<Tensor> {
    let between = Between::of(op, interpolation)?;
    let q = asked(op, t, q)?;
    let flat = match dim {
        None => t.reshape(&[-1])?,
        Some(_) => t.clone(),
    };
    let lines = Lines::of(&flat, dim.unwrap_or(0))?;
    let sorted = sorted(&lines.last()?)?;
    let axis = sorted.shape().rank() - 1;
    let count = q.numel();
    let ranks = ranks(&sorted, axis, &q.node().reshape(Shape::of(&[count]))?, skips)?;
    let found = between.at(&sorted, axis, &ranks)?;
    // The quantiles' axis comes first.
    let axes: Vec<usize> = [axis].into_iter().chain(0..axis).collect();
    let mut sizes = of_lines(&t.shape(), dim.map(|_| lines.axis), keepdim);
    if q.rank() > 0 {
        sizes.insert(0, count);
    }
    Ok(Tensor::from_node(found.permute(&axes)?.copy().reshape(Shape::new(&sizes)?)?))
}

#[operations(SORTS)]
impl Tensor {
    /// The elements along an axis in order, and the positions (i64) that they had. NaN is larger than every number, and equal elements
    /// keep their order, whether `stable` is asked for or not. The gradient goes back to where the elements came from.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[surface(method, function, answers("values", "indices"), keywords_from = "stable")]
    pub fn sort(
        &self,
        #[default(-1)] dim: isize,
        #[default(false)] descending: bool,
        #[default(false)] stable: bool,
    ) -> Result<(Tensor, Tensor)> {
        // The order is stable always.
        let _ = stable;
        in_order(self, dim, descending, None)
    }

    /// The positions (i64) of the elements along an axis, in the elements' order. NaN is larger than every number, and equal elements
    /// keep their order.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    pub fn argsort(
        &self,
        #[default(-1)] dim: isize,
        #[default(false)] descending: bool,
        #[default(false)] stable: bool,
    ) -> Result<Tensor> {
        let _ = stable;
        let lines = Lines::of(self, dim)?;
        let kernel = Sort { kind: SortKind::Indices, descending, count: lines.length() };
        lines.back(&Node::library(kernel.into(), &[&lines.last()?])?)
    }

    /// The elements in order along the first axis: `sort` without the positions.
    pub fn msort(&self) -> Result<Tensor> {
        let lines = Lines::of(self, 0)?;
        lines.back(&sorted(&lines.last()?)?)
    }

    /// The `k` largest elements along an axis (or the smallest), in order, and their positions (i64): of equal ones the first. NaN is larger than
    /// every number. The result is in order whether `sorted` is asked for or not.
    ///
    /// # Errors
    ///
    /// An axis out of range; more elements than there are; truth values.
    #[surface(method, function, answers("values", "indices"))]
    pub fn topk(
        &self,
        k: usize,
        #[default(-1)] dim: isize,
        #[default(true)] largest: bool,
        #[default(true)] sorted: bool,
    ) -> Result<(Tensor, Tensor)> {
        let _ = sorted;
        not_bool("topk", self)?;
        let lines = Lines::of(self, dim)?;
        if k > lines.length() {
            let text = format!("{k} elements of {} along axis {dim}", lines.length());
            return refused("topk", ErrorKind::Value(text));
        }
        // A tensor without axes cannot have fewer elements than its one: it answers with that, as in PyTorch.
        let k = if self.rank() == 0 { 1 } else { k };
        in_order(self, dim, largest, Some(k))
    }

    /// The `k`-th smallest element along an axis (from 1), and its position (i64). NaN is larger than every number. The gradient goes to
    /// the element at the position.
    ///
    /// # Errors
    ///
    /// An axis out of range; a `k` that is 0 or more than there are elements; truth values.
    #[surface(method, function, answers("values", "indices"))]
    pub fn kthvalue(
        &self,
        k: usize,
        #[default(-1)] dim: isize,
        #[default(false)] keepdim: bool,
    ) -> Result<(Tensor, Tensor)> {
        not_bool("kthvalue", self)?;
        let length = Lines::of(self, dim)?.length();
        if k == 0 || k > length {
            let text = format!("element {k} of {length} along axis {dim}");
            return refused("kthvalue", ErrorKind::Value(text));
        }
        one_of(self, "kthvalue", dim, keepdim, Sort { kind: SortKind::Nth, descending: false, count: k - 1 })
    }

    /// The median: of two elements in the middle the lower one, and NaN where there is any. Of all elements (NaN, if there are none), with
    /// equal ones sharing the gradient; or along an axis with its position (i64), to which the gradient goes.
    ///
    /// # Errors
    ///
    /// An axis out of range, or without elements; truth values.
    #[surface(method, function, answers("values", "indices"))]
    pub fn median(
        &self,
        #[default(None)] dim: Option<isize>,
        #[default(false)] keepdim: bool,
    ) -> Result<Varied> {
        if dim.is_some() {
            form("median.MedianBackward1");
        }
        middle(self, "median", SortKind::Median, dim, keepdim)
    }

    /// As `median`, of what is not NaN; NaN where nothing else is.
    ///
    /// # Errors
    ///
    /// An axis out of range, or without elements; truth values.
    #[surface(method, function, answers("values", "indices"))]
    pub fn nanmedian(
        &self,
        #[default(None)] dim: Option<isize>,
        #[default(false)] keepdim: bool,
    ) -> Result<Varied> {
        if dim.is_some() {
            form("nanmedian.NanmedianBackward1");
        }
        middle(self, "nanmedian", SortKind::NanMedian, dim, keepdim)
    }

    /// The element that is met most often along an axis, the least of several, and the last position (i64) where it is. The gradient
    /// goes to that. NaN is equal to nothing.
    ///
    /// # Errors
    ///
    /// An axis out of range, or without elements.
    #[surface(method, function, answers("values", "indices"))]
    pub fn mode(
        &self,
        #[default(-1)] dim: isize,
        #[default(false)] keepdim: bool,
    ) -> Result<(Tensor, Tensor)> {
        one_of(self, "mode", dim, keepdim, Sort { kind: SortKind::Mode, descending: false, count: 0 })
    }

    /// The elements below which a share `q` of all lies, or of those along an axis; with several shares (one axis), these come first in the
    /// result. Between two elements it is found by `interpolation`: "linear", "lower", "higher", "nearest" or "midpoint". NaN where
    /// any element is NaN. f32 and f64.
    ///
    /// # Errors
    ///
    /// An axis out of range; no elements; shares that are not between 0 and 1, or of another dtype; another dtype or interpolation.
    #[surface(method, function, keywords_from = "interpolation")]
    pub fn quantile(
        &self,
        q: Operand,
        #[default(None)] dim: Option<isize>,
        #[default(false)] keepdim: bool,
        #[default("linear")] interpolation: &str,
    ) -> Result<Tensor> {
        quantiles("quantile", self, q, dim, keepdim, interpolation, false)
    }

    /// As `quantile`, of what is not NaN.
    ///
    /// # Errors
    ///
    /// As `quantile`.
    #[surface(method, function, keywords_from = "interpolation")]
    pub fn nanquantile(
        &self,
        q: Operand,
        #[default(None)] dim: Option<isize>,
        #[default(false)] keepdim: bool,
        #[default("linear")] interpolation: &str,
    ) -> Result<Tensor> {
        quantiles("nanquantile", self, q, dim, keepdim, interpolation, true)
    }
}
