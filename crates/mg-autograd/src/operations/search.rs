//! What is found in sorted lines: where values belong, whether they are there, and which there are.

use crate::ops::Operand;
use crate::picks;
use crate::surface::Varied;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape, normalize_axis};
use mg_graph::Node;
use mg_kernels::library::{Search, Sort, SortKind};
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;

/// Up to so many elements each is compared with each, in one pass.
const COMPARED: usize = 16;

fn refused<T>(op: &'static str, kind: ErrorKind) -> Result<T> {
    Err(Error::new(op, kind))
}

/// Where values belong in sorted lines, as i64 or i32.
fn searched(
    op: &'static str,
    sorted: &Tensor,
    values: &Tensor,
    right: bool,
    out_int32: bool,
) -> Result<Tensor> {
    let dtype = DType::promote(sorted.dtype(), values.dtype());
    if dtype.is_bool() {
        return refused(op, ErrorKind::DType("takes numbers, got bool".into()));
    }
    let (sorted, values) = (sorted.node().cast(dtype), values.node().cast(dtype));
    let found = Node::library(Search { right }.into(), &[&sorted, &values])?;
    Ok(Tensor::from_node(if out_int32 { found.cast(DType::I32) } else { found }))
}

/// Sorts a line of elements. Answers with the positions that they had, and the elements.
fn line_in_order(x: &Node) -> Result<(Node, Node)> {
    let count = x.shape()[0];
    let at = Node::library(Sort { kind: SortKind::Indices, descending: false, count }.into(), &[x])?;
    Ok((x.gather(0, &at)?, at))
}

/// Numbers of runs along the last axis, from 0: `differs` says of each element but the first whether it begins one.
fn runs(differs: &Node) -> Result<Node> {
    let axis = differs.shape().rank() - 1;
    let none = differs.lit(0.0).expand(differs.shape().with(axis, 1))?;
    let steps = Tensor::from_node(Node::concat(&[&none, differs], axis)?);
    Ok(steps.try_cumsum(axis as isize, Some(DType::I64))?.node())
}

/// Whether each element along the last axis but the first is another than the one before it.
fn differs(x: &Node) -> Result<Node> {
    let axis = x.shape().rank() - 1;
    let n = x.shape()[axis] - 1;
    Ok(Node::apply(Row::Ne, &[&x.slice(axis, 1, 1, n)?, &x.slice(axis, 0, 1, n)?]))
}

/// `values` where they stand in an order, brought back to where they came from. The last axis is a line.
fn back(values: &Node, at: &Node) -> Result<Node> {
    let axis = at.shape().rank() - 1;
    values.scatter_add(axis, at, at.shape()[axis])
}

/// Lines of numbers (i64) that are in the order of the elements, and equal where these are; none is negative or as large as the
/// lines are long.
fn ranks(x: &Node) -> Result<Node> {
    let axis = x.shape().rank() - 1;
    let count = x.shape()[axis];
    let at = Node::library(Sort { kind: SortKind::Indices, descending: false, count }.into(), &[x])?;
    back(&runs(&differs(&x.gather(axis, &at)?)?)?, &at)
}

/// The runs of a line.
struct Runs {
    /// Where each begins.
    starts: Node,
    /// Elements of the line.
    length: usize,
}

impl Runs {
    /// `differs` says of each element but the first whether it begins a run. How many there are is looked at.
    fn of(differs: &Node) -> Result<Runs> {
        let length = differs.shape()[0] + 1;
        if !differs.device().is_cpu() && length > 1 {
            // A mask of all elements would be a copy of this one.
            return Ok(Runs { starts: picks::found_in(differs, true)?, length });
        }
        let first = Node::scalar(1.0, DType::Bool, differs.device(), true).expand(Shape::of(&[1]))?;
        let mask = Node::concat(&[&first, differs], 0)?;
        match picks::found(&Tensor::from_node(mask))?.pop() {
            Some(starts) => Ok(Runs { starts: starts.node(), length }),
            None => refused("unique", ErrorKind::Internal("a line without an axis".into())),
        }
    }

    /// How long each is, if that is wanted.
    fn counts(&self, wanted: bool) -> Result<Option<Node>> {
        if !wanted {
            return Ok(None);
        }
        let end = Node::scalar(self.length as f64, DType::I64, self.starts.device(), true);
        let others = self.starts.slice(0, 1, 1, self.starts.shape()[0] - 1)?;
        let ends = Node::concat(&[&others, &end.expand(Shape::of(&[1]))?], 0)?;
        Ok(Some(ends.sub(&self.starts)))
    }

    /// The first element of each.
    fn firsts(&self, line: &Node) -> Result<Node> {
        line.gather(0, &self.starts)
    }
}

/// The tensors that were asked for.
fn asked(values: Node, inverse: Option<Node>, counts: Option<Node>) -> Varied {
    let all = [Some(values), inverse, counts].into_iter().flatten();
    Varied(all.map(Tensor::from_node).collect())
}

/// Nothing, where there are no elements.
fn of_nothing(x: &Node, inverse: bool, counts: bool) -> Result<Varied> {
    let none = x.reshape(Shape::of(&[0]))?.copy();
    let indices = || none.cast(DType::I64);
    let inverse = if inverse { Some(indices().reshape(*x.shape())?) } else { None };
    Ok(asked(none.clone(), inverse, counts.then(indices)))
}

/// The parts of a tensor along an axis, one a row: [parts, elements]; the axis.
fn parts(op: &'static str, x: &Tensor, dim: isize) -> Result<(Node, usize)> {
    if x.rank() == 0 {
        return refused(op, ErrorKind::Axis { axis: dim as i64, rank: 0 });
    }
    let axis = normalize_axis(dim, x.rank())?;
    let shape = x.shape();
    if x.numel() == 0 && (0..x.rank()).any(|d| d != axis && shape[d] == 0) {
        let text = format!("parts of shape {shape} along axis {axis} have no elements");
        return refused(op, ErrorKind::Shape(text));
    }
    let n = shape[axis];
    let rest = x.numel().checked_div(n).unwrap_or(1);
    let mut axes: Vec<usize> = (0..x.rank()).filter(|&d| d != axis).collect();
    axes.insert(0, axis);
    let x = x.node().permute(&axes)?;
    Ok((if n == 0 { x } else { x.reshape(Shape::of(&[n, rest]))? }, axis))
}

/// Ranks of a tensor's rows, by their first elements, then their second ones and so on: elements' ranks, then those of pairs, of pairs
/// of pairs.
fn ranks_of_rows(rows: &Node) -> Result<Node> {
    let n = rows.shape()[0];
    let mut all = ranks(&rows.permute(&[1, 0])?.copy())?;
    while all.shape()[0] > 1 {
        let count = all.shape()[0];
        let pairs = count / 2;
        let first = all.slice(0, 0, 2, pairs)?;
        let second = all.slice(0, 1, 2, pairs)?;
        let size = Node::scalar(n as f64, DType::I64, all.device(), true);
        let joined = ranks(&first.mul(&size).add(&second).copy())?;
        all = match count % 2 {
            0 => joined,
            _ => Node::concat(&[&joined, &all.slice(0, count - 1, 1, 1)?], 0)?,
        };
    }
    all.reshape(Shape::of(&[n]))
}

#[operations(SEARCHES)]
impl Tensor {
    /// How many elements of a sorted line are smaller than each value of `input`, or with `right` (or `side="right"`) not larger: where it
    /// would be put, i64 or i32. `sorted_sequence` is one line, or a line for each line of the values along their last axis;
    /// `sorter` says in what order its elements are sorted, as `argsort` answers. NaN is larger than every number. Unlike dtypes meet in
    /// the one that has both.
    ///
    /// # Errors
    ///
    /// Truth values; lines that do not belong to the values'; another side, or one that contradicts `right`; a sorter of another shape, or of no
    /// integers.
    #[surface(function, keywords_from = "out_int32")]
    pub fn searchsorted(
        sorted_sequence: &Tensor,
        input: Operand,
        #[default(false)] out_int32: bool,
        #[default(false)] right: bool,
        #[default(None)] side: Option<&str>,
        #[default(None)] sorter: Option<&Tensor>,
    ) -> Result<Tensor> {
        let op = "searchsorted";
        let right = match side {
            None => right,
            Some("right") => true,
            Some("left") if !right => false,
            Some(other) => {
                let text =
                    format!("takes the side 'left' or 'right' (and no other than `right`), got '{other}'");
                return refused(op, ErrorKind::Value(text));
            }
        };
        let values = input.beside(sorted_sequence).detach();
        let sorted = match sorter {
            None => sorted_sequence.detach(),
            Some(sorter) => {
                if sorter.shape() != sorted_sequence.shape() {
                    let text =
                        format!("a sorter of shape {} for {}", sorter.shape(), sorted_sequence.shape());
                    return refused(op, ErrorKind::Shape(text));
                }
                if !sorter.dtype().is_int() {
                    let text = format!("takes a sorter of integers, got {}", sorter.dtype());
                    return refused(op, ErrorKind::DType(text));
                }
                sorted_sequence.detach().gather(-1, sorter)?
            }
        };
        searched(op, &sorted, &values, right, out_int32)
    }

    /// The numbers (i64 or i32) of the intervals between sorted `boundaries` in which values lie: each holds its upper boundary, or with
    /// `right` its lower one. NaN is larger than every number.
    ///
    /// # Errors
    ///
    /// Boundaries of other than one axis; truth values.
    #[surface(function, keywords_from = "out_int32")]
    pub fn bucketize(
        input: Operand,
        boundaries: &Tensor,
        #[default(false)] out_int32: bool,
        #[default(false)] right: bool,
    ) -> Result<Tensor> {
        if boundaries.rank() != 1 {
            let text = format!("takes boundaries with one axis, got shape {}", boundaries.shape());
            return refused("bucketize", ErrorKind::Shape(text));
        }
        searched("bucketize", &boundaries.detach(), &input.beside(boundaries).detach(), right, out_int32)
    }

    /// Whether each of `elements` is among `test_elements`, or where `invert` is set is not. NaN is not among any.
    ///
    /// # Errors
    ///
    /// Unlike devices.
    #[surface(
        function,
        keywords_from = "assume_unique",
        manners(Named("element", "elements"), Named("test_element", "test_elements"))
    )]
    pub fn isin(
        elements: Operand,
        test_elements: Operand,
        #[default(false)] assume_unique: bool,
        #[default(false)] invert: bool,
    ) -> Result<Tensor> {
        // What is unique is found in the same way.
        let _ = assume_unique;
        let (elements, tests) = match (elements, test_elements) {
            (Operand::Tensor(x), tests) => (x.clone(), tests.beside(&x)),
            (number, Operand::Tensor(tests)) => (number.beside(&tests), tests),
            _ => {
                return refused(
                    "isin",
                    ErrorKind::Value("takes a tensor and a number, or two tensors".into()),
                );
            }
        };
        let (elements, tests) = (elements.detach(), tests.detach().reshape(&[-1])?);
        let n = tests.numel();
        let found = if n <= COMPARED {
            let found = elements.unsqueeze(-1)?.try_eq(&tests)?;
            found.to_dtype(DType::I64).try_sum_dim(&[-1], false)?.try_ne(0i64)?
        } else {
            let dtype = DType::promote(elements.dtype(), tests.dtype());
            let tests = tests.node().cast(dtype);
            let sort = Sort { kind: SortKind::Values, descending: false, count: n };
            let sorted = Node::library(sort.into(), &[&tests])?;
            let values = elements.node().cast(dtype);
            let at = Node::library(Search { right: false }.into(), &[&sorted, &values])?;
            let last = Node::scalar(n as f64 - 1.0, DType::I64, at.device(), true);
            let at = Node::apply(Row::Minimum, &[&at, &last]);
            let there = sorted.gather(0, &at.reshape(Shape::of(&[elements.numel()]))?)?;
            Tensor::from_node(there.reshape(elements.shape())?.eq(&values))
        };
        if invert { found.try_logical_not() } else { Ok(found) }
    }

    /// The elements that are met, in order, each once; or with `dim` the parts along an axis that are met, in the order of their
    /// elements. With `return_inverse` also, of each element (or part), which of these it is; with `return_counts` how often each is
    /// met (both i64). NaN is equal to nothing. The result is in order whether `sorted` is asked for or not. How many there are is
    /// looked at. The gradient goes to the first of what is equal.
    ///
    /// # Errors
    ///
    /// An axis out of range; parts without elements.
    #[surface(method, function, reads)]
    pub fn unique(
        &self,
        #[default(true)] sorted: bool,
        #[default(false)] return_inverse: bool,
        #[default(false)] return_counts: bool,
        #[default(None)] dim: Option<isize>,
    ) -> Result<Varied> {
        let _ = sorted;
        let x = self.node();
        let Some(dim) = dim else {
            let n = x.shape().numel();
            if n == 0 {
                return of_nothing(&x, return_inverse, return_counts);
            }
            let line = x.reshape(Shape::of(&[n]))?;
            let is_tracked = mg_graph::is_tracking() && x.is_tracked();
            if !(return_inverse || is_tracked || x.dtype().is_float()) {
                let sort = Sort { kind: SortKind::Values, descending: false, count: n };
                let values = Node::library(sort.into(), &[&line])?;
                let found = Runs::of(&differs(&values)?)?;
                let counts = found.counts(return_counts)?;
                return Ok(asked(found.firsts(&values)?, None, counts));
            }
            let (values, at) = line_in_order(&line)?;
            let differs = differs(&values)?;
            let found = Runs::of(&differs)?;
            let counts = found.counts(return_counts)?;
            let inverse = match return_inverse {
                true => Some(back(&runs(&differs)?, &at)?.reshape(*x.shape())?),
                false => None,
            };
            return Ok(asked(found.firsts(&values)?, inverse, counts));
        };
        let (rows, axis) = parts("unique", self, dim)?;
        if rows.shape()[0] == 0 {
            let none = Shape::of(&[0]);
            let indices = || Ok::<_, Error>(rows.reshape(none)?.cast(DType::I64));
            let inverse = if return_inverse { Some(indices()?) } else { None };
            let counts = if return_counts { Some(indices()?) } else { None };
            return Ok(asked(x.copy(), inverse, counts));
        }
        let (ranks, at) = line_in_order(&ranks_of_rows(&rows)?)?;
        let differs = differs(&ranks)?;
        let found = Runs::of(&differs)?;
        let counts = found.counts(return_counts)?;
        let inverse = if return_inverse { Some(back(&runs(&differs)?, &at)?) } else { None };
        let first = Tensor::from_node(at.gather(0, &found.starts)?);
        let values = self.index_select(axis as isize, &first)?.node();
        Ok(asked(values, inverse, counts))
    }

    /// The elements of which neighbours are not equal, in the tensor's own order: the first of each run; or with `dim` the parts along an
    /// axis. With `return_inverse` also, of each element (or part), which of these it is; with `return_counts` how long each run is
    /// (both i64). NaN is equal to nothing. How many there are is looked at. The gradient goes to the first of each run.
    ///
    /// # Errors
    ///
    /// An axis out of range; parts without elements.
    #[surface(method, function, reads)]
    pub fn unique_consecutive(
        &self,
        #[default(false)] return_inverse: bool,
        #[default(false)] return_counts: bool,
        #[default(None)] dim: Option<isize>,
    ) -> Result<Varied> {
        let x = self.node();
        let Some(dim) = dim else {
            let n = x.shape().numel();
            if n == 0 {
                return of_nothing(&x, return_inverse, return_counts);
            }
            let line = x.reshape(Shape::of(&[n]))?;
            let differs = differs(&line)?;
            let found = Runs::of(&differs)?;
            let counts = found.counts(return_counts)?;
            let inverse = if return_inverse { Some(runs(&differs)?.reshape(*x.shape())?) } else { None };
            return Ok(asked(found.firsts(&line)?, inverse, counts));
        };
        let (rows, axis) = parts("unique_consecutive", self, dim)?;
        let n = rows.shape()[0];
        if n == 0 {
            let indices = || Ok::<_, Error>(rows.reshape(Shape::of(&[0]))?.cast(DType::I64));
            let inverse = if return_inverse { Some(indices()?) } else { None };
            let counts = if return_counts { Some(indices()?) } else { None };
            return Ok(asked(x.copy(), inverse, counts));
        }
        let others = Node::apply(Row::Ne, &[&rows.slice(0, 1, 1, n - 1)?, &rows.slice(0, 0, 1, n - 1)?]);
        let others = others.cast(DType::I64).reduce(ReduceKind::Sum, 1 << 1, false)?;
        let differs = Node::apply(Row::Ne, &[&others, &others.lit(0.0)]);
        let found = Runs::of(&differs)?;
        let counts = found.counts(return_counts)?;
        let inverse = if return_inverse { Some(runs(&differs)?) } else { None };
        let values = self.index_select(axis as isize, &Tensor::from_node(found.starts))?.node();
        Ok(asked(values, inverse, counts))
    }
}
