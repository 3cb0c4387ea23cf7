//! Tensors joined, and taken apart.

use super::movement::{Axes, at_least, shape_of, wrong_shape, wrong_value};
use crate::surface::Sections;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Layout, Result, Shape, Standing, normalize_axis};
use mg_graph::{Node, form};

use mg_macros::operations;

/// Nodes of tensors that are to lie beside each other, in the dtype in which they meet.
fn met(op: &'static str, tensors: &[Tensor]) -> Result<Vec<Node>> {
    let nodes: Vec<Node> = tensors.iter().map(Tensor::node).collect();
    let dtype = DType::met(op, nodes.iter().map(|node| (node.dtype(), Standing::Dimensioned)))?;
    Ok(nodes.into_iter().map(|node| node.cast(dtype)).collect())
}

/// Nodes one after the other along an axis, which counts from the end where it is negative.
fn joined(nodes: &[Node], dim: isize) -> Result<Tensor> {
    // As in PyTorch, what has shape [0] fits anything.
    let longer: Vec<&Node> = nodes.iter().filter(|node| **node.shape() != [0]).collect();
    let all = if longer.is_empty() { nodes.iter().collect() } else { longer };
    let rank = all.first().map_or(1, |node| node.shape().rank());
    if all.iter().any(|node| node.shape().rank() == 0) {
        return wrong_shape(
            "tensors without axes cannot be put one after the other; stack() makes an axis".into(),
        );
    }
    Ok(Tensor::from_node(Node::concat(&all, normalize_axis(dim, rank)?)?))
}

/// Each of the tensors with as many axes as `of` makes of it, one after the other along an axis.
fn joined_as(
    tensors: &[Tensor],
    of: impl Fn(&Tensor) -> Result<Tensor>,
    dim: impl Fn(usize) -> isize,
) -> Result<Tensor> {
    let wide = tensors.iter().map(of).collect::<Result<Vec<_>>>()?;
    let rank = wide.first().map_or(1, Tensor::rank);
    joined(&met("cat", &wide)?, dim(rank))
}

/// So many parts may be asked for where most of them are empty.
const MOST_PARTS: usize = 1 << 20;

/// So many positions do not fit the memory.
pub(super) fn too_much(op: &'static str, positions: usize) -> Error {
    let requested = positions.saturating_mul(size_of::<i64>());
    Error::new(op, ErrorKind::no_host_memory(requested))
}

/// In how many ways `r` of `n` can be chosen; the largest number there is, where there are more.
fn choices(n: usize, r: usize) -> usize {
    let Some(rest) = n.checked_sub(r) else { return 0 };
    let mut count = 1u128;
    for i in 1..=r.min(rest) as u128 {
        // A product of so many consecutive numbers is divided by the product of the first ones.
        count = count * (n as u128 + 1 - i) / i;
        if count > usize::MAX as u128 {
            return usize::MAX;
        }
    }
    count as usize
}

/// The parts of an axis that are so long, one after the other.
fn parts(tensor: &Tensor, axis: usize, sizes: impl IntoIterator<Item = usize>) -> Result<Vec<Tensor>> {
    let mut start = 0;
    let each = sizes.into_iter().map(|size| {
        let part = tensor.sliced(axis, start, 1, size);
        start += size;
        part
    });
    each.collect()
}

#[operations(JOINING, fallible)]
impl Tensor {
    /// The positions along an axis, each without it; views.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[surface(method, function, view)]
    pub fn unbind(&self, #[default(0)] dim: isize) -> Result<Vec<Tensor>> {
        let n = self.size(dim)? as isize;
        (0..n).map(|i| self.select(dim, i)).collect()
    }

    /// Parts along an axis, of so many positions each (the last may have fewer) or of the sizes in a list; views.
    ///
    /// # Errors
    ///
    /// An axis out of range, sizes that do not make it, parts of no positions.
    #[surface(method, function, view)]
    pub fn split(&self, split_size: Sections, #[default(0)] dim: isize) -> Result<Vec<Tensor>> {
        let shape = self.shape();
        let axis = normalize_axis(dim, shape.rank())?;
        let n = shape[axis];
        let each = match split_size {
            Sections::List(sizes) => {
                form("split.SplitWithSizesBackward0");
                return self.split_with_sizes(&sizes, dim);
            }
            Sections::Number(each) => usize::try_from(each).ok().filter(|&each| each > 0 || n == 0),
        };
        let Some(each) = each else {
            return wrong_value(format!("parts of no positions along axis {axis} of {shape}"));
        };
        let count = if each == 0 { 1 } else { n.div_ceil(each).max(1) };
        parts(self, axis, (0..count).map(|i| each.min(n - i * each)))
    }

    /// Parts of these sizes along an axis, views.
    ///
    /// # Errors
    ///
    /// An axis out of range, sizes that do not make it.
    #[surface(method, function, view)]
    pub fn split_with_sizes(&self, split_sizes: &[isize], #[default(0)] dim: isize) -> Result<Vec<Tensor>> {
        let shape = self.shape();
        let axis = normalize_axis(dim, shape.rank())?;
        let sizes: Option<Axes> = split_sizes.iter().map(|&n| usize::try_from(n).ok()).collect();
        let sizes =
            sizes.filter(|sizes| sizes.iter().fold(0usize, |a, &b| a.saturating_add(b)) == shape[axis]);
        let Some(sizes) = sizes else {
            return wrong_value(format!(
                "parts of {split_sizes:?} positions do not make an axis of size {}",
                shape[axis]
            ));
        };
        parts(self, axis, sizes)
    }

    /// At most so many parts of equal size along an axis (the last may be smaller), views; of an axis without positions exactly so many.
    ///
    /// # Errors
    ///
    /// An axis out of range, no parts, more than 2²⁰ of an axis without positions.
    #[surface(method, function, view)]
    pub fn chunk(&self, chunks: usize, #[default(0)] dim: isize) -> Result<Vec<Tensor>> {
        let shape = self.shape();
        let axis = normalize_axis(dim, shape.rank())?;
        let n = shape[axis];
        if chunks == 0 {
            return wrong_value(format!("no parts of axis {axis} of {shape}"));
        }
        if n == 0 {
            if chunks > MOST_PARTS {
                return wrong_value(format!("{chunks} parts of no positions: takes {MOST_PARTS} at most"));
            }
            return parts(self, axis, std::iter::repeat_n(0, chunks));
        }
        let each = n.div_ceil(chunks);
        parts(self, axis, (0..n.div_ceil(each)).map(|i| each.min(n - i * each)))
    }

    /// So many parts along an axis, whose sizes differ by 1 at most, or those that end before each position in a list; views.
    ///
    /// # Errors
    ///
    /// An axis out of range, no parts, more than 2²⁰ where the axis has fewer positions.
    #[surface(method, function, view, manners(Named("tensor_indices_or_sections", "indices_or_sections")))]
    pub fn tensor_split(
        &self,
        indices_or_sections: Sections,
        #[default(0)] dim: isize,
    ) -> Result<Vec<Tensor>> {
        let shape = self.shape();
        let axis = normalize_axis(dim, shape.rank())?;
        let n = shape[axis];
        match indices_or_sections {
            Sections::Number(count) if count > 0 => {
                let count = count as usize;
                if count > n.max(MOST_PARTS) {
                    return wrong_value(format!(
                        "{count} parts of {n} positions: takes {MOST_PARTS} at most"
                    ));
                }
                parts(self, axis, (0..count).map(|i| n / count + usize::from(i < n % count)))
            }
            Sections::Number(count) => wrong_value(format!("{count} parts of axis {axis} of {shape}")),
            Sections::List(ends) => {
                let mut all = Vec::with_capacity(ends.len() + 1);
                let mut start = None;
                for end in ends.iter().map(|&end| Some(end)).chain([None]) {
                    all.push(self.slice(axis as isize, start, end, 1)?);
                    start = end;
                }
                Ok(all)
            }
        }
    }

    /// Parts along the second axis, or the only one, as `tensor_split`, where a number divides it; views.
    ///
    /// # Errors
    ///
    /// No axes; a number that does not divide the axis.
    #[surface(method, function, view)]
    pub fn hsplit(&self, indices_or_sections: Sections) -> Result<Vec<Tensor>> {
        at_least(self, 1)?;
        split_evenly(self, indices_or_sections, isize::from(self.rank() > 1))
    }

    /// Parts along the first axis, as `hsplit`.
    ///
    /// # Errors
    ///
    /// Fewer than two axes; a number that does not divide the axis.
    #[surface(method, function, view)]
    pub fn vsplit(&self, indices_or_sections: Sections) -> Result<Vec<Tensor>> {
        at_least(self, 2)?;
        split_evenly(self, indices_or_sections, 0)
    }

    /// Parts along the third axis, as `hsplit`.
    ///
    /// # Errors
    ///
    /// Fewer than three axes; a number that does not divide the axis.
    #[surface(method, function, view)]
    pub fn dsplit(&self, indices_or_sections: Sections) -> Result<Vec<Tensor>> {
        at_least(self, 3)?;
        split_evenly(self, indices_or_sections, 2)
    }

    /// Tensors one after the other along an axis, in the dtype in which they meet. As in PyTorch, a tensor of shape `[0]` has its
    /// say about the dtype, and fits anything.
    ///
    /// # Errors
    ///
    /// No tensors, shapes that differ off the axis, unlike devices.
    #[surface(function, alias = "concat", alias = "concatenate")]
    pub fn cat(tensors: &[Tensor], #[default(0)] dim: isize) -> Result<Tensor> {
        joined(&met("cat", tensors)?, dim)
    }

    /// Tensors of one shape along a new axis, in the dtype in which they meet.
    ///
    /// # Errors
    ///
    /// No tensors, shapes that differ, unlike devices.
    #[surface(function)]
    pub fn stack(tensors: &[Tensor], #[default(0)] dim: isize) -> Result<Tensor> {
        let nodes = met("stack", tensors)?;
        let rank = nodes.first().map_or(0, |node| node.shape().rank());
        let axis = normalize_axis(dim, rank + 1)?;
        if let Some(other) = nodes.iter().find(|node| node.shape() != nodes[0].shape()) {
            let text = format!("takes tensors of one shape, got {} and {}", nodes[0].shape(), other.shape());
            return Err(Error::new("stack", ErrorKind::Shape(text)));
        }
        let wide = nodes.iter().map(|node| {
            let (before, behind) = node.shape().split_at(axis);
            node.reshape(shape_of(before.iter().copied().chain([1]).chain(behind.iter().copied()))?)
        });
        let wide = wide.collect::<Result<Vec<_>>>()?;
        Ok(Tensor::from_node(Node::concat(&wide.iter().collect::<Vec<_>>(), axis)?))
    }

    /// Tensors beside each other: along the second axis, vectors along the only one.
    ///
    /// # Errors
    ///
    /// As `cat`.
    #[surface(function)]
    pub fn hstack(tensors: &[Tensor]) -> Result<Tensor> {
        joined_as(tensors, Tensor::atleast_1d, |rank| isize::from(rank > 1))
    }

    /// Tensors below each other: along the first axis, vectors as rows.
    ///
    /// # Errors
    ///
    /// As `cat`.
    #[surface(function, alias = "row_stack")]
    pub fn vstack(tensors: &[Tensor]) -> Result<Tensor> {
        joined_as(tensors, Tensor::atleast_2d, |_| 0)
    }

    /// Tensors behind each other: along the third axis.
    ///
    /// # Errors
    ///
    /// As `cat`.
    #[surface(function)]
    pub fn dstack(tensors: &[Tensor]) -> Result<Tensor> {
        joined_as(tensors, Tensor::atleast_3d, |_| 2)
    }

    /// Tensors beside each other, vectors as columns.
    ///
    /// # Errors
    ///
    /// As `cat`.
    #[surface(function)]
    pub fn column_stack(tensors: &[Tensor]) -> Result<Tensor> {
        let column =
            |t: &Tensor| if t.rank() < 2 { t.reshape(&[t.numel() as isize, 1]) } else { Ok(t.clone()) };
        joined_as(tensors, column, |_| 1)
    }

    /// Matrices (vectors are rows, numbers of one element) along the diagonal of a larger one, among zeros.
    ///
    /// # Errors
    ///
    /// More than two axes, unlike devices.
    #[surface(function, variadic)]
    pub fn block_diag(tensors: &[Tensor]) -> Result<Tensor> {
        let flat = tensors.iter().map(Tensor::atleast_2d).collect::<Result<Vec<_>>>()?;
        if flat.is_empty() {
            return Tensor::zeros(&[1, 0], DType::default_float());
        }
        let nodes = met("block_diag", &flat)?;
        if let Some(node) = nodes.iter().find(|node| node.shape().rank() > 2) {
            return wrong_shape(format!("takes matrices, vectors and numbers, got shape {}", node.shape()));
        }
        let columns: usize = nodes.iter().map(|node| node.shape()[1]).sum();
        let mut before = 0;
        let rows = nodes.iter().map(|node| {
            let (n, own) = (node.shape()[0], node.shape()[1]);
            let region = Layout::contiguous(Shape::new(&[n, columns])?);
            let region = region.slice(1, Some(before as isize), Some((before + own) as isize), 1)?;
            before += own;
            node.write_into(None, Shape::new(&[n, columns])?, region)
        });
        let rows = rows.collect::<Result<Vec<_>>>()?;
        Ok(Tensor::from_node(Node::concat(&rows.iter().collect::<Vec<_>>(), 0)?))
    }

    /// Coordinates of a grid: each vector along an axis of its own, broadcast along the others; views. With `indexing = "xy"` the
    /// first two axes are exchanged.
    ///
    /// # Errors
    ///
    /// No tensors, tensors with more than one axis, unlike dtypes or devices; another word than `"ij"` and `"xy"`.
    #[surface(function, view, variadic, keywords_from = "indexing")]
    pub fn meshgrid(tensors: &[Tensor], #[default("ij")] indexing: &str) -> Result<Vec<Tensor>> {
        let exchanged = match indexing {
            "ij" => false,
            "xy" => tensors.len() > 1,
            other => return wrong_value(format!("indexing is \"ij\" or \"xy\", got {other:?}")),
        };
        let Some(first) = tensors.first() else { return wrong_value("takes at least one tensor".into()) };
        if let Some(t) = tensors.iter().find(|t| t.rank() > 1) {
            return wrong_shape(format!("takes vectors and numbers, got shape {}", t.shape()));
        }
        if let Some(t) = tensors.iter().find(|t| t.dtype() != first.dtype()) {
            let text = format!("takes tensors of one dtype, got {} and {}", first.dtype(), t.dtype());
            return Err(Error::new("meshgrid", ErrorKind::DType(text)));
        }
        let place = |i: usize| if exchanged && i < 2 { 1 - i } else { i };
        let mut sizes = vec![1isize; tensors.len()];
        tensors.iter().enumerate().for_each(|(i, t)| sizes[place(i)] = t.numel() as isize);
        let each = tensors.iter().enumerate().map(|(i, t)| {
            let mut own = vec![1isize; tensors.len()];
            own[place(i)] = sizes[place(i)];
            t.reshape(&own)?.expand(&sizes)
        });
        each.collect()
    }

    /// All choices of one element from each vector, a row each; of one vector, that itself.
    ///
    /// # Errors
    ///
    /// Tensors that are no vectors.
    #[surface(function, variadic)]
    pub fn cartesian_prod(tensors: &[Tensor]) -> Result<Tensor> {
        if let Some(t) = tensors.iter().find(|t| t.rank() != 1) {
            return wrong_shape(format!("takes vectors, got shape {}", t.shape()));
        }
        if let [one] = tensors {
            return Ok(one.clone());
        }
        let columns =
            Tensor::meshgrid(tensors, "ij")?.iter().map(|t| t.reshape(&[-1])).collect::<Result<Vec<_>>>()?;
        Tensor::stack(&columns, 1)
    }

    /// All choices of `r` elements of a vector in its order, a row each; the same one more than once with `with_replacement`.
    ///
    /// # Errors
    ///
    /// A tensor that is no vector.
    pub fn combinations(
        &self,
        #[default(2)] r: usize,
        #[default(false)] with_replacement: bool,
    ) -> Result<Tensor> {
        let shape = self.shape();
        if shape.rank() != 1 {
            return wrong_shape(format!("takes a vector, got shape {shape}"));
        }
        if r == 0 {
            return Tensor::zeros(&[0], self.dtype())?.to(self.device());
        }
        let n = shape[0];
        // There are C(n, r) rows, or with repetitions C(n + r - 1, r).
        let from = if with_replacement && n > 0 { n.saturating_add(r - 1) } else { n };
        let count = choices(from, r).saturating_mul(r);
        let mut all: Vec<i64> = vec![];
        all.try_reserve_exact(count).map_err(|_| too_much("combinations", count))?;
        if count == 0 {
            let none = Tensor::from_vec(all, &[0])?.to(self.device())?;
            return self.index_select(0, &none)?.reshape(&[0, r as isize]);
        }
        // The positions chosen: the last one that can go on does so, and those behind it start there again.
        let step = usize::from(!with_replacement);
        let mut chosen: Vec<usize> = (0..r).map(|i| i * step).collect();
        let most = |i: usize| (n + i * step).checked_sub(1 + (r - 1) * step);
        let mut is_one = n > 0 && chosen.last().is_some_and(|&last| last < n);
        while is_one {
            all.extend(chosen.iter().map(|&at| at as i64));
            let next = (0..r).rev().find(|&i| most(i).is_some_and(|most| chosen[i] < most));
            is_one = next.is_some();
            if let Some(i) = next {
                let start = chosen[i] + 1;
                (i..r).for_each(|k| chosen[k] = start + (k - i) * step);
            }
        }
        let rows = all.len() / r;
        let index = Tensor::from_vec(all, &[rows * r])?.to(self.device())?;
        self.index_select(0, &index)?.reshape(&[rows as isize, r as isize])
    }
}

/// As `tensor_split`, where a number divides the axis.
fn split_evenly(tensor: &Tensor, sections: Sections, dim: isize) -> Result<Vec<Tensor>> {
    if let Sections::Number(count) = sections {
        let n = tensor.size(dim)?;
        if count <= 0 || !n.is_multiple_of(count as usize) {
            return wrong_value(format!("an axis of {n} positions is not split into {count} equal parts"));
        }
    }
    tensor.tensor_split(sections, dim)
}
