//! Movement: the same elements in another shape or order, parts of them, several tensors as one.

use super::{axis_of, signed};
use crate::ops::Operand;
use crate::surface::Sections;
use crate::tensor::Tensor;
use mg_device::{DType, Device, Error, ErrorKind, Layout, Result, Shape, normalize_axis};
use mg_graph::{Node, View, cell_bits_of_int};
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;
use smallvec::SmallVec;

type Axes = SmallVec<[usize; 8]>;

fn wrong_shape<T>(text: String) -> Result<T> {
    Err(Error::new("shape", ErrorKind::Shape(text)))
}

fn wrong_value<T>(text: String) -> Result<T> {
    Err(Error::new("value", ErrorKind::Value(text)))
}

/// Several axes, each once.
fn axes_of(dims: &[isize], rank: usize) -> Result<Axes> {
    let axes = dims.iter().map(|&dim| axis_of(dim, rank)).collect::<Result<Axes>>()?;
    for (i, axis) in axes.iter().enumerate() {
        if axes[..i].contains(axis) {
            return wrong_value(format!("the axis {axis} is named twice in {dims:?}"));
        }
    }
    Ok(axes)
}

/// A shape that others make, where its elements can be counted.
fn shape_of(dims: impl IntoIterator<Item = usize>) -> Result<Shape> {
    Shape::new(&dims.into_iter().collect::<SmallVec<[usize; 8]>>())
}

/// Nodes of tensors that are to lie beside each other, in the dtype in which they meet.
fn met(tensors: &[Tensor]) -> Vec<Node> {
    let nodes: Vec<Node> = tensors.iter().map(Tensor::node).collect();
    let dtype = nodes.iter().map(Node::dtype).reduce(DType::promote).unwrap_or(DType::F32);
    nodes.into_iter().map(|node| node.cast(dtype)).collect()
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
    joined(&met(&wide), dim(rank))
}

/// So many parts may be asked for where most of them are empty.
const MOST_PARTS: usize = 1 << 20;

/// So many positions do not fit the memory.
fn too_much(op: &'static str, positions: usize) -> Error {
    let requested = positions.saturating_mul(size_of::<i64>());
    let kind = ErrorKind::OutOfMemory { requested, active: 0, cached: 0, limit: None, free: None };
    Error::new(op, kind)
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

/// Refuses tensors with fewer axes.
fn at_least(tensor: &Tensor, rank: usize) -> Result<()> {
    if tensor.rank() < rank {
        return wrong_shape(format!("takes tensors with at least {rank} axes, got shape {}", tensor.shape()));
    }
    Ok(())
}

/// Which diagonal of which axes, and how long it is.
struct Diagonal {
    axes: [usize; 2],
    offset: i64,
    len: usize,
}

impl Diagonal {
    fn of(shape: &Shape, offset: isize, dims: [isize; 2]) -> Result<Diagonal> {
        let rank = shape.rank();
        let axes = [normalize_axis(dims[0], rank)?, normalize_axis(dims[1], rank)?];
        if axes[0] == axes[1] {
            return wrong_value(format!("a diagonal is of two axes, got {} twice", axes[0]));
        }
        let (rows, columns) = (shape[axes[0]], shape[axes[1]]);
        let len = match offset {
            0.. => rows.min(columns.saturating_sub(offset.unsigned_abs())),
            _ => rows.saturating_sub(offset.unsigned_abs()).min(columns),
        };
        // An empty one is anywhere.
        let offset = if len == 0 { 0 } else { offset as i64 };
        Ok(Diagonal { axes, offset, len })
    }

    fn view(&self) -> View {
        View::Diagonal { axes: [self.axes[0] as u8, self.axes[1] as u8], offset: self.offset }
    }

    fn shape(&self, of: &Shape) -> Result<Shape> {
        let rest = (0..of.rank()).filter(|axis| !self.axes.contains(axis)).map(|axis| of[axis]);
        shape_of(rest.chain([self.len]))
    }
}

/// `base` (or zeros of a shape) with `src` in place of what a view sees of it.
fn put(base: Option<&Node>, shape: Shape, src: &Node, view: &View, seen: Shape) -> Result<Tensor> {
    let none = || Error::new("view", ErrorKind::Internal("a layout that has no such view".into()));
    let region = view.apply(&Layout::contiguous(shape), &seen).ok_or_else(none)?;
    Ok(Tensor::from_node(src.write_into(base, shape, region)?))
}

/// Refuses what is to replace a part of another shape.
fn check_part(src: &Tensor, part: &[usize]) -> Result<()> {
    if *src.shape() != *part {
        return wrong_shape(format!(
            "a part of shape {part:?} is not replaced by one of shape {}",
            src.shape()
        ));
    }
    Ok(())
}

/// `kept(row, column)` says which elements of matrices stay; the others are 0.
fn triangle(x: &Node, diagonal: i64, kept: impl FnOnce(&Node, &Node) -> Node) -> Result<Tensor> {
    let rank = x.shape().rank();
    if rank < 2 {
        return wrong_shape(format!("takes matrices, got shape {}", x.shape()));
    }
    let (rows, columns) = (x.shape()[rank - 2], x.shape()[rank - 1]);
    let bits = cell_bits_of_int(diagonal, DType::I64);
    let diagonal = Node::scalar_bits(bits, DType::I64, x.device(), false);
    let row = Node::ramp(Shape::of(&[rows, 1]), x.device()).add(&diagonal);
    let column = Node::ramp(Shape::of(&[1, columns]), x.device());
    Ok(Tensor::from_node(kept(&row, &column).choose(x, &x.lit(0.0))))
}

/// The positions of a triangle of a matrix: rows first, then columns.
fn triangle_indices(
    (rows, columns): (usize, usize),
    kept: impl Fn(i64, i64) -> bool,
    dtype: Option<DType>,
    device: Option<Device>,
) -> Result<Tensor> {
    let dtype = dtype.unwrap_or(DType::I64);
    if !matches!(dtype, DType::I64 | DType::I32) {
        return Err(Error::new("dtype", ErrorKind::DType(format!("positions are i64 or i32, got {dtype}"))));
    }
    Shape::new(&[rows, columns])?;
    let all = || (0..rows as i64).flat_map(|row| (0..columns as i64).map(move |column| (row, column)));
    let found: Vec<(i64, i64)> = all().filter(|&(row, column)| kept(row, column)).collect();
    let both = found.iter().map(|at| at.0).chain(found.iter().map(|at| at.1)).collect();
    let device = device.unwrap_or_else(crate::default_device);
    Ok(Tensor::from_vec::<i64>(both, &[2, found.len()])?.to(device)?.to_dtype(dtype))
}

/// The rotation of an axis: what is moved beyond its end comes in at its start.
fn rolled(x: &Node, axis: usize, shift: isize) -> Result<Node> {
    let n = x.shape()[axis];
    if n == 0 {
        return Ok(x.clone());
    }
    match shift.rem_euclid(n as isize) as usize {
        0 => Ok(x.clone()),
        shift => {
            let (end, start) = (x.slice(axis, n - shift, 1, shift)?, x.slice(axis, 0, 1, n - shift)?);
            Node::concat(&[&end, &start], axis)
        }
    }
}

/// A node so many times along each of its axes; as many numbers as axes are given.
fn repeated(x: &Node, times: &[usize]) -> Result<Node> {
    let shape = *x.shape();
    let total = shape_of(shape.iter().zip(times).map(|(&n, &times)| n.saturating_mul(times)))?;
    let mut out = x.clone();
    for (axis, &times) in times.iter().enumerate().filter(|(_, times)| **times != 1) {
        let now = *out.shape();
        // An axis of repetitions before the axis, then merged with it; one of size 1 is just longer.
        if now[axis] == 1 {
            out = out.expand(now.with(axis, times))?;
            continue;
        }
        let apart = shape_of(now[..axis].iter().copied().chain([1]).chain(now[axis..].iter().copied()));
        match apart {
            Ok(apart) => {
                let wide = Shape::new(&apart.with(axis, times))?;
                out = out
                    .reshape(apart)?
                    .expand(wide)?
                    .reshape(Shape::new(&now.with(axis, now[axis] * times))?)?;
            }
            // As many axes as there can be.
            Err(_) => {
                out = Node::concat(&vec![&out; times.max(1)], axis)?.slice(axis, 0, 1, now[axis] * times)?
            }
        }
    }
    debug_assert_eq!(*out.shape(), total);
    Ok(if out.is(x) { x.copy() } else { out.copy() })
}

#[operations(MOVEMENT, fallible)]
impl Tensor {
    /// The same elements in another shape; one size may be −1, and follows from the others. A view where the elements lie so
    /// that there can be one, as PyTorch has it; else a copy.
    ///
    /// # Errors
    ///
    /// Another number of elements.
    #[surface(method, function, view, variadic)]
    pub fn reshape(&self, shape: &[isize]) -> Result<Tensor> {
        self.reshaped(self.shape_of(shape)?)
    }

    /// As `reshape`, to the shape of another tensor.
    ///
    /// # Errors
    ///
    /// Another number of elements.
    #[surface(method, view)]
    pub fn reshape_as(&self, other: &Tensor) -> Result<Tensor> {
        self.reshape(&signed(&other.shape()))
    }

    /// As `reshape`, and always a view.
    ///
    /// # Errors
    ///
    /// Another number of elements; elements that do not lie so that they can be seen in that shape, as those of a transposed
    /// matrix in one axis.
    #[surface(method, view, variadic, name = "view")]
    pub fn view_as_shape(&self, shape: &[isize]) -> Result<Tensor> {
        let wanted = self.shape_of(shape)?;
        let text = || format!("{shape:?} is no view of the elements as they lie; reshape() copies them");
        self.view(&View::Reshape, wanted).ok_or_else(|| Error::new("view", ErrorKind::Shape(text())))
    }

    /// As `view`, to the shape of another tensor.
    ///
    /// # Errors
    ///
    /// As `view`.
    #[surface(method, view)]
    pub fn view_as(&self, other: &Tensor) -> Result<Tensor> {
        self.view_as_shape(&signed(&other.shape()))
    }

    /// Axes `start_dim` to `end_dim` as one.
    ///
    /// # Errors
    ///
    /// An axis out of range; a first one behind the last.
    #[surface(method, function, view)]
    pub fn flatten(&self, #[default(0)] start_dim: isize, #[default(-1)] end_dim: isize) -> Result<Tensor> {
        let shape = self.shape();
        let (start, end) = (axis_of(start_dim, shape.rank())?, axis_of(end_dim, shape.rank())?);
        if shape.rank() == 0 {
            return self.reshape(&[1]);
        }
        if start == end {
            // Flat already: the tensor itself, as in PyTorch.
            return Ok(self.clone());
        }
        if start > end {
            return wrong_value(format!("axis {start_dim} comes after axis {end_dim}"));
        }
        let one = shape[start..=end].iter().product();
        self.reshaped(shape_of(
            shape[..start].iter().copied().chain([one]).chain(shape[end + 1..].iter().copied()),
        )?)
    }

    /// An axis as several, of sizes whose product is its size; one may be −1.
    ///
    /// # Errors
    ///
    /// An axis out of range, another product.
    #[surface(method, function, view)]
    pub fn unflatten(&self, dim: isize, sizes: &[isize]) -> Result<Tensor> {
        let shape = self.shape();
        let axis = normalize_axis(dim, shape.rank())?;
        let n = shape[axis];
        let known = sizes.iter().filter(|&&d| d >= 0).fold(1usize, |n, &d| n.saturating_mul(d as usize));
        let open = sizes.iter().filter(|&&d| d < 0).count();
        let fits = !sizes.is_empty()
            && sizes.iter().all(|&d| d >= -1)
            && match open {
                0 => known == n,
                1 => known > 0 && n.is_multiple_of(known),
                _ => false,
            };
        if !fits {
            return wrong_shape(format!("sizes {sizes:?} for axis {axis} of shape {shape}"));
        }
        let inner = sizes.iter().map(|&d| if d < 0 { n / known } else { d as usize });
        self.reshaped(shape_of(
            shape[..axis].iter().copied().chain(inner).chain(shape[axis + 1..].iter().copied()),
        )?)
    }

    /// All elements in one axis: the same memory where they lie one after the other, else a copy.
    ///
    /// # Errors
    ///
    /// A value that could not be computed.
    #[surface(method, function, view)]
    pub fn ravel(&self) -> Result<Tensor> {
        if self.is_contiguous()? { self.reshape(&[-1]) } else { self.copy().reshape(&[-1]) }
    }

    /// Axes in another order, a view.
    ///
    /// # Errors
    ///
    /// What is no permutation of the axes.
    #[surface(method, function, view, variadic, alias = "permute_dims")]
    pub fn permute(&self, dims: &[isize]) -> Result<Tensor> {
        let rank = self.rank();
        let axes = dims.iter().map(|&a| normalize_axis(a, rank)).collect::<Result<Axes>>()?;
        self.permuted(&axes)
    }

    /// Two axes exchanged, a view.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[surface(method, function, view, in_place, alias = "swapdims")]
    pub fn transpose(&self, dim0: isize, dim1: isize) -> Result<Tensor> {
        let rank = self.rank();
        let (a, b) = (axis_of(dim0, rank)?, axis_of(dim1, rank)?);
        let mut axes: Axes = (0..rank).collect();
        if rank > 0 {
            axes.swap(a, b);
        }
        self.permuted(&axes)
    }

    /// Two axes exchanged, a view: `transpose`, by NumPy's name.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[surface(method, function, view, in_place)]
    pub fn swapaxes(&self, axis0: isize, axis1: isize) -> Result<Tensor> {
        self.transpose(axis0, axis1)
    }

    /// The last two axes exchanged, a view; of a tensor without axes, itself.
    ///
    /// # Errors
    ///
    /// One axis.
    #[surface(method, function, view, alias = "matrix_transpose")]
    pub fn adjoint(&self) -> Result<Tensor> {
        if self.rank() == 0 {
            return Ok(self.clone());
        }
        at_least(self, 2)?;
        self.transpose(-2, -1)
    }

    /// Axes moved to other places, a view; those that are not named keep their order.
    ///
    /// # Errors
    ///
    /// An axis out of range or twice the same; as many sources as destinations are wanted.
    #[surface(method, function, view, alias = "moveaxis")]
    pub fn movedim(&self, source: &[isize], destination: &[isize]) -> Result<Tensor> {
        let rank = self.rank();
        let (from, to) = (axes_of(source, rank)?, axes_of(destination, rank)?);
        if from.len() != to.len() {
            return wrong_value(format!(
                "axes {source:?} are not moved to {destination:?}: as many are wanted"
            ));
        }
        if rank == 0 {
            return self.permuted(&[]);
        }
        let mut rest = (0..rank).filter(|axis| !from.contains(axis));
        let place = |i: usize| to.iter().position(|&at| at == i).map(|k| from[k]);
        let axes: Axes = (0..rank).filter_map(|i| place(i).or_else(|| rest.next())).collect();
        self.permuted(&axes)
    }

    /// Positions `start`, `start + step`, … before `end` along an axis, as Python's slices: negative ends count from the
    /// end, `None` is the end that the step comes from or goes to, bounds are clamped, the step may be negative. A view.
    ///
    /// # Errors
    ///
    /// An axis out of range, step 0.
    #[surface(method, view)]
    pub fn slice(
        &self,
        #[default(0)] dim: isize,
        #[default(None)] start: Option<isize>,
        #[default(None)] end: Option<isize>,
        #[default(1)] step: isize,
    ) -> Result<Tensor> {
        let shape = self.shape();
        let axis = normalize_axis(dim, shape.rank())?;
        let (from, n) = bounds(shape[axis], start, end, step)?;
        self.sliced(axis, from, step, n)
    }

    /// `length` positions from `start` (from the end, if it is negative) along an axis, a view.
    ///
    /// # Errors
    ///
    /// An axis out of range, positions outside of it.
    #[surface(method, function, view)]
    pub fn narrow(&self, dim: isize, start: isize, length: usize) -> Result<Tensor> {
        let shape = self.shape();
        let axis = normalize_axis(dim, shape.rank())?;
        let from = if start < 0 { start.checked_add_unsigned(shape[axis]) } else { Some(start) };
        let Some(from) = from.and_then(|from| usize::try_from(from).ok()) else {
            return wrong_value(format!("{length} positions from {start} along axis {axis} of {shape}"));
        };
        self.sliced(axis, from, 1, length)
    }

    /// One position along an axis, which disappears; a view.
    ///
    /// # Errors
    ///
    /// An axis or index out of range.
    #[surface(method, function, view)]
    pub fn select(&self, dim: isize, index: isize) -> Result<Tensor> {
        let shape = self.shape();
        let axis = normalize_axis(dim, shape.rank())?;
        let size = shape[axis];
        let at = if index < 0 { index.wrapping_add_unsigned(size) } else { index };
        if at < 0 || at >= size as isize {
            return Err(Error::new("select", ErrorKind::Index { index: index as i64, axis, size }));
        }
        let line = self.sliced(axis, at as usize, 1, 1)?;
        line.seen(View::Reshape, shape.remove(axis))
    }

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
            Sections::List(sizes) => return self.split_with_sizes(&sizes, dim),
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
    #[surface(method, function, view)]
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

    /// Axes backwards: a copy, as PyTorch has it. [`Tensor::slice`] by −1 is a view.
    ///
    /// # Errors
    ///
    /// An axis out of range, or twice the same.
    #[surface(method, function, variadic)]
    pub fn flip(&self, dims: &[isize]) -> Result<Tensor> {
        let mut node = self.node();
        for axis in axes_of(dims, node.shape().rank())? {
            if let Some(&n) = node.shape().get(axis) {
                node = node.slice(axis, n.saturating_sub(1), -1, n)?;
            }
        }
        Ok(Tensor::from_node(node.copy()))
    }

    /// The second axis backwards, a copy.
    ///
    /// # Errors
    ///
    /// Fewer than two axes.
    pub fn fliplr(&self) -> Result<Tensor> {
        at_least(self, 2)?;
        self.flip(&[1])
    }

    /// The first axis backwards, a copy.
    ///
    /// # Errors
    ///
    /// No axes.
    pub fn flipud(&self) -> Result<Tensor> {
        at_least(self, 1)?;
        self.flip(&[0])
    }

    /// Turned by `k` right angles in the plane of two axes, from the first towards the second; a copy.
    ///
    /// # Errors
    ///
    /// Other than two axes, or twice the same.
    pub fn rot90(&self, #[default(1)] k: isize, #[default(&[0, 1])] dims: &[isize]) -> Result<Tensor> {
        let rank = self.rank();
        let axes = dims.iter().map(|&dim| normalize_axis(dim, rank)).collect::<Result<Axes>>()?;
        let &[a, b] = &axes[..] else {
            return wrong_value(format!("a plane has two axes, got {dims:?}"));
        };
        if a == b {
            return wrong_value(format!("a plane has two axes, got {a} twice"));
        }
        let (first, second) = (a as isize, b as isize);
        match k.rem_euclid(4) {
            1 => self.flip(&[second])?.transpose(first, second)?.contiguous(),
            2 => self.flip(&[first, second]),
            3 => self.flip(&[first])?.transpose(first, second)?.contiguous(),
            _ => Ok(Tensor::from_node(self.node().copy())),
        }
    }

    /// Each axis moved by so many positions, where what goes beyond its end comes in at its start; all elements in row-major
    /// order where no axes are named. A copy.
    ///
    /// # Errors
    ///
    /// As many numbers as axes are wanted.
    pub fn roll(&self, shifts: &[isize], #[default(&[])] dims: &[isize]) -> Result<Tensor> {
        let x = self.node();
        let shape = *x.shape();
        let moved = match (shifts, dims) {
            (&[shift], []) => {
                let line = x.reshape(Shape::of(&[shape.numel()]))?;
                rolled(&line, 0, shift)?.reshape(shape)?
            }
            _ if shifts.len() == dims.len() && !dims.is_empty() => {
                let axes = dims.iter().map(|&dim| axis_of(dim, shape.rank())).collect::<Result<Axes>>()?;
                match shape.rank() {
                    0 => x.clone(),
                    _ => {
                        axes.iter().zip(shifts).try_fold(x.clone(), |x, (&axis, &by)| rolled(&x, axis, by))?
                    }
                }
            }
            _ => {
                return wrong_value(format!(
                    "{shifts:?} for axes {dims:?}: as many numbers as axes are wanted"
                ));
            }
        };
        Ok(Tensor::from_node(if moved.is(&x) { x.copy() } else { moved }))
    }

    /// Broadcast to a shape, a view; −1 keeps a size.
    ///
    /// # Errors
    ///
    /// A shape that it does not broadcast to.
    #[surface(method, function, view, variadic)]
    pub fn expand(&self, size: &[isize]) -> Result<Tensor> {
        let own = self.shape();
        let lead = size.len().checked_sub(own.rank());
        let sizes = size.iter().enumerate().map(|(i, &d)| match (d, lead) {
            (0.., _) => Ok(d as usize),
            (-1, Some(lead)) if i >= lead => Ok(own[i - lead]),
            _ => wrong_shape(format!("shape {size:?} for {own}")),
        });
        let shape = Shape::new(&sizes.collect::<Result<Axes>>()?)?;
        if Shape::broadcast(&own, &shape) != Some(shape) {
            return wrong_shape(format!("{own} does not broadcast to {shape}"));
        }
        self.seen(View::Expand, shape)
    }

    /// Broadcast to the shape of another tensor, a view.
    ///
    /// # Errors
    ///
    /// A shape that it does not broadcast to.
    #[surface(method, view)]
    pub fn expand_as(&self, other: &Tensor) -> Result<Tensor> {
        self.expand(&signed(&other.shape()))
    }

    /// Broadcast to a shape, a view; −1 keeps a size.
    ///
    /// # Errors
    ///
    /// A shape that it does not broadcast to.
    #[surface(method, function, view, variadic)]
    pub fn broadcast_to(&self, size: &[isize]) -> Result<Tensor> {
        self.expand(size)
    }

    /// Tensors broadcast to one shape, views.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast.
    #[surface(function, view, variadic)]
    pub fn broadcast_tensors(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        let shapes: Vec<Shape> = tensors.iter().map(Tensor::shape).collect();
        let all: Vec<&[usize]> = shapes.iter().map(|shape| &shape[..]).collect();
        let shape = signed(&Tensor::broadcast_shapes(&all)?);
        let alike = |t: &Tensor| signed(&t.shape()) == shape;
        tensors.iter().map(|t| if alike(t) { Ok(t.clone()) } else { t.expand(&shape) }).collect()
    }

    /// The sum over those axes that, of the shape `size`, would be broadcast to the tensor's own: the reverse of `expand`.
    ///
    /// # Errors
    ///
    /// A shape that does not broadcast to the tensor's.
    #[surface(method, variadic)]
    pub fn sum_to_size(&self, size: &[usize]) -> Result<Tensor> {
        let (shape, x) = (Shape::new(size)?, self.node());
        let own = *x.shape();
        if Shape::broadcast(&shape, &own) != Some(own) {
            return wrong_shape(format!("{shape} does not broadcast to {own}"));
        }
        if shape == own {
            return Ok(self.clone());
        }
        let lead = own.rank() - shape.rank();
        let summed = (0..own.rank()).filter(|&a| a < lead || shape[a - lead] == 1 && own[a] != 1);
        let axes = summed.fold(0, |axes, axis| axes | 1 << axis);
        Ok(Tensor::from_node(x.reduce(ReduceKind::Sum, axes, true)?.reshape(shape)?))
    }

    /// The tensor so many times along each axis; more numbers than axes make new axes in front.
    ///
    /// # Errors
    ///
    /// Fewer numbers than axes.
    #[surface(method, variadic)]
    pub fn repeat(&self, repeats: &[usize]) -> Result<Tensor> {
        let x = self.node();
        let Some(lead) = repeats.len().checked_sub(x.shape().rank()) else {
            let text =
                format!("{repeats:?} for shape {}: as many numbers as axes are taken, or more", x.shape());
            return wrong_shape(text);
        };
        let wide = shape_of(std::iter::repeat_n(1, lead).chain(x.shape().iter().copied()))?;
        Ok(Tensor::from_node(repeated(&x.reshape(wide)?, repeats)?))
    }

    /// As `repeat`; fewer numbers than axes are those of the last axes.
    ///
    /// # Errors
    ///
    /// More than 16 axes.
    #[surface(method, function, variadic)]
    pub fn tile(&self, dims: &[usize]) -> Result<Tensor> {
        let missing = self.rank().saturating_sub(dims.len());
        let all: Axes = std::iter::repeat_n(1, missing).chain(dims.iter().copied()).collect();
        self.repeat(&all)
    }

    /// Each position along an axis so many times: the same number for all, or one for each. All elements in one axis, where none is
    /// named. Of a tensor of numbers alone, their positions, each as often as the number says.
    ///
    /// `output_size`, the size of the result's axis where a tensor says the numbers, is checked.
    ///
    /// # Errors
    ///
    /// An axis out of range; negative numbers, or as many as the axis is not long; numbers that are no integers.
    #[surface(method, function, reads, keywords_from = "output_size")]
    pub fn repeat_interleave(
        &self,
        #[default(None)] repeats: Option<Operand>,
        #[default(None)] dim: Option<isize>,
        #[default(None)] output_size: Option<usize>,
    ) -> Result<Tensor> {
        let Some(repeats) = repeats else {
            let all = Tensor::arange(self.numel()).to(self.device())?;
            return all.repeat_interleave(Some(Operand::Tensor(self.clone())), Some(0), output_size);
        };
        let x = match dim {
            Some(_) if self.rank() > 0 => self.node(),
            _ => self.node().reshape(Shape::of(&[self.numel()]))?,
        };
        let shape = *x.shape();
        let axis = normalize_axis(dim.unwrap_or(0), shape.rank())?;
        let n = shape[axis];
        let counts = match repeats {
            Operand::Int(count) => vec![count],
            Operand::Tensor(t) if t.rank() < 2 && t.dtype().is_int() => {
                t.to_dtype(DType::I64).to_vec::<i64>()?
            }
            _ => {
                let text = "takes an integer, or a vector of integers, as the number of repetitions";
                return Err(Error::new("repeat_interleave", ErrorKind::DType(text.into())));
            }
        };
        if let Some(count) = counts.iter().find(|&&count| count < 0) {
            return wrong_value(format!("{count} repetitions"));
        }
        if let &[count] = &counts[..] {
            let count = count as usize;
            // A new axis of repetitions behind the axis, then merged with it.
            let size = Shape::new(&shape.with(axis, n.saturating_mul(count)))?;
            if output_size.is_some_and(|wanted| wanted != size[axis]) {
                return wrong_value(format!("a result of {} positions, not of {output_size:?}", size[axis]));
            }
            let (before, behind) = shape.split_at(axis + 1);
            let apart = |times| shape_of(before.iter().copied().chain([times]).chain(behind.iter().copied()));
            return Ok(Tensor::from_node(x.reshape(apart(1)?)?.expand(apart(count)?)?.reshape(size)?.copy()));
        }
        if counts.len() != n {
            return wrong_value(format!(
                "{} numbers for {n} positions along axis {axis} of {shape}",
                counts.len()
            ));
        }
        let total = counts.iter().fold(0i64, |sum, &count| sum.saturating_add(count));
        if output_size.is_some_and(|wanted| wanted as i64 != total) {
            return wrong_value(format!("a result of {total} positions, not of {output_size:?}"));
        }
        Shape::new(&shape.with(axis, total as usize))?;
        let which = counts.iter().zip(0i64..).flat_map(|(&count, i)| std::iter::repeat_n(i, count as usize));
        let mut index: Vec<i64> = Vec::new();
        index.try_reserve_exact(total as usize).map_err(|_| too_much("repeat_interleave", total as usize))?;
        index.extend(which);
        let index = Tensor::from_vec(index, &[total as usize])?.to(self.device())?;
        Tensor::from_node(x).index_select(axis as isize, &index)
    }

    /// A new axis of size 1 before `dim`, which may be one past the last; a view.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[surface(method, function, view, in_place)]
    pub fn unsqueeze(&self, dim: isize) -> Result<Tensor> {
        let shape = self.shape();
        let axis = normalize_axis(dim, shape.rank() + 1)?;
        self.seen(
            View::Reshape,
            shape_of(shape[..axis].iter().copied().chain([1]).chain(shape[axis..].iter().copied()))?,
        )
    }

    /// Without axes of size 1: one, several (others stay), or all of them; a view.
    ///
    /// # Errors
    ///
    /// An axis out of range, or twice the same.
    #[surface(method, function, view, in_place)]
    pub fn squeeze(&self, #[default(None)] dim: Option<&[isize]>) -> Result<Tensor> {
        let shape = self.shape();
        let only = dim.map(|dim| axes_of(dim, shape.rank())).transpose()?;
        let goes = |axis: &usize| shape[*axis] == 1 && only.as_ref().is_none_or(|only| only.contains(axis));
        let kept = (0..shape.rank()).filter(|axis| !goes(axis)).map(|axis| shape[axis]);
        self.seen(View::Reshape, shape_of(kept)?)
    }

    /// The diagonal of two axes (above the main one by `offset`), which go; it becomes the last. A view.
    ///
    /// # Errors
    ///
    /// An axis out of range, or twice the same.
    #[surface(method, function, view)]
    pub fn diagonal(
        &self,
        #[default(0)] offset: isize,
        #[default(0)] dim1: isize,
        #[default(1)] dim2: isize,
    ) -> Result<Tensor> {
        let shape = self.shape();
        let diagonal = Diagonal::of(&shape, offset, [dim1, dim2])?;
        self.seen(diagonal.view(), diagonal.shape(&shape)?)
    }

    /// The last axis as the diagonal of two new ones (above the main one by `offset`), among zeros.
    ///
    /// # Errors
    ///
    /// No axes; an axis out of range, or twice the same.
    pub fn diag_embed(
        &self,
        #[default(0)] offset: isize,
        #[default(-2)] dim1: isize,
        #[default(-1)] dim2: isize,
    ) -> Result<Tensor> {
        at_least(self, 1)?;
        let x = self.node();
        let rank = x.shape().rank();
        let n = x.shape()[rank - 1].saturating_add(offset.unsigned_abs());
        let axes = axes_of(&[dim1, dim2], rank + 1)?;
        let mut rest = x.shape()[..rank - 1].iter().copied();
        let shape = shape_of(
            (0..rank + 1).map(|axis| if axes.contains(&axis) { n } else { rest.next().unwrap_or(n) }),
        )?;
        let diagonal = Diagonal::of(&shape, offset, [dim1, dim2])?;
        put(None, shape, &x, &diagonal.view(), *x.shape())
    }

    /// Of a vector, the matrix with it as a diagonal; of a matrix, a copy of that diagonal.
    ///
    /// # Errors
    ///
    /// Other than one or two axes.
    pub fn diag(&self, #[default(0)] diagonal: isize) -> Result<Tensor> {
        match self.rank() {
            1 => self.diag_embed(diagonal, 0, 1),
            2 => Ok(self.diagonal(diagonal, 0, 1)?.copy()),
            _ => wrong_shape(format!("takes a vector or a matrix, got shape {}", self.shape())),
        }
    }

    /// All elements as a diagonal of a matrix.
    ///
    /// # Errors
    ///
    /// More elements than a matrix can have rows.
    pub fn diagflat(&self, #[default(0)] offset: isize) -> Result<Tensor> {
        self.reshape(&[-1])?.diag_embed(offset, 0, 1)
    }

    /// The elements on the diagonal `diagonal` of the last two axes (above the main one, if it is positive) and below it;
    /// 0 elsewhere.
    ///
    /// # Errors
    ///
    /// Fewer than two axes.
    #[surface(method, function, in_place)]
    pub fn tril(&self, #[default(0)] diagonal: i64) -> Result<Tensor> {
        triangle(&self.node(), diagonal, |row, column| Node::apply(Row::Le, &[column, row]))
    }

    /// The elements on the diagonal `diagonal` of the last two axes (above the main one, if it is positive) and above it;
    /// 0 elsewhere.
    ///
    /// # Errors
    ///
    /// Fewer than two axes.
    #[surface(method, function, in_place)]
    pub fn triu(&self, #[default(0)] diagonal: i64) -> Result<Tensor> {
        triangle(&self.node(), diagonal, |row, column| Node::apply(Row::Le, &[row, column]))
    }

    /// The positions of the lower triangle of a matrix, row by row: `[2, n]`, rows first.
    ///
    /// # Errors
    ///
    /// A dtype other than i64 and i32.
    #[surface(function, keywords_from = "dtype")]
    pub fn tril_indices(
        row: usize,
        col: usize,
        #[default(0)] offset: i64,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
    ) -> Result<Tensor> {
        triangle_indices((row, col), |row, column| column - row <= offset, dtype, device)
    }

    /// The positions of the upper triangle of a matrix, row by row: `[2, n]`, rows first.
    ///
    /// # Errors
    ///
    /// A dtype other than i64 and i32.
    #[surface(function, keywords_from = "dtype")]
    pub fn triu_indices(
        row: usize,
        col: usize,
        #[default(0)] offset: i64,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
    ) -> Result<Tensor> {
        triangle_indices((row, col), |row, column| column - row >= offset, dtype, device)
    }

    /// Windows of `size` positions along an axis, every `step`; the axis counts them, and a new last one is within them. A view:
    /// where windows overlap they share their elements.
    ///
    /// # Errors
    ///
    /// An axis out of range, windows longer than it, step 0.
    #[surface(method, view)]
    pub fn unfold(&self, dimension: isize, size: usize, step: usize) -> Result<Tensor> {
        let shape = self.shape();
        let axis = axis_of(dimension, shape.rank())?;
        let n = shape.get(axis).copied().unwrap_or(1);
        if step == 0 || size > n {
            return wrong_value(format!(
                "windows of {size} positions by {step} along axis {axis} of {shape}"
            ));
        }
        if shape.rank() == 0 {
            return self.reshape(&[size as isize]);
        }
        let count = (n - size) / step + 1;
        let seen = shape_of(shape.with(axis, count).iter().copied().chain([size]))?;
        // One window has no distance to the next, which might not fit.
        let step = if count == 1 { 1 } else { step as i64 };
        self.seen(View::Windows { axis: axis as u8, step }, seen)
    }

    /// The memory that the tensor is of, seen with these sizes and strides from `storage_offset` on, all in elements (from where
    /// the tensor begins, if that is not given). A view; what lies in memory as computed results do is row-major.
    ///
    /// # Errors
    ///
    /// What lies outside of the memory; as many strides as sizes are wanted; a detached view.
    #[surface(method, function, view)]
    pub fn as_strided(
        &self,
        size: &[usize],
        stride: &[isize],
        #[default(None)] storage_offset: Option<usize>,
    ) -> Result<Tensor> {
        self.strided(Shape::new(size)?, stride, storage_offset)
    }

    /// With at least one axis; a view.
    #[surface(function, view, each)]
    pub fn atleast_1d(&self) -> Result<Tensor> {
        if self.rank() == 0 { self.reshape(&[1]) } else { Ok(self.clone()) }
    }

    /// With at least two axes, new ones in front; a view.
    #[surface(function, view, each)]
    pub fn atleast_2d(&self) -> Result<Tensor> {
        match self.rank() {
            0 => self.reshape(&[1, 1]),
            1 => self.unsqueeze(0),
            _ => Ok(self.clone()),
        }
    }

    /// With at least three axes: of a vector the middle one, of a matrix the first two; a view.
    #[surface(function, view, each)]
    pub fn atleast_3d(&self) -> Result<Tensor> {
        match self.rank() {
            0 => self.reshape(&[1, 1, 1]),
            1 => self.unsqueeze(0)?.unsqueeze(2),
            2 => self.unsqueeze(2),
            _ => Ok(self.clone()),
        }
    }

    /// Tensors one after the other along an axis, in the dtype in which they meet. As in PyTorch, a tensor of shape `[0]` has its
    /// say about the dtype, and fits anything.
    ///
    /// # Errors
    ///
    /// No tensors, shapes that differ off the axis, unlike devices.
    #[surface(function, alias = "concat", alias = "concatenate")]
    pub fn cat(tensors: &[Tensor], #[default(0)] dim: isize) -> Result<Tensor> {
        joined(&met(tensors), dim)
    }

    /// Tensors of one shape along a new axis, in the dtype in which they meet.
    ///
    /// # Errors
    ///
    /// No tensors, shapes that differ, unlike devices.
    #[surface(function)]
    pub fn stack(tensors: &[Tensor], #[default(0)] dim: isize) -> Result<Tensor> {
        let nodes = met(tensors);
        let rank = nodes.first().map_or(0, |node| node.shape().rank());
        let axis = normalize_axis(dim, rank + 1)?;
        let wide = nodes.iter().map(|node| {
            // Others are refused with the shapes that they have then.
            let at = axis.min(node.shape().rank());
            let (before, behind) = node.shape().split_at(at);
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
            return Tensor::zeros(&[1, 0], DType::F32);
        }
        let nodes = met(&flat);
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

    /// A copy with `src` in place of one position along an axis.
    ///
    /// # Errors
    ///
    /// An axis or index out of range; a `src` of another shape.
    pub fn select_scatter(&self, src: &Tensor, dim: isize, index: isize) -> Result<Tensor> {
        let shape = self.shape();
        let axis = normalize_axis(dim, shape.rank())?;
        let size = shape[axis];
        let at = if index < 0 { index.wrapping_add_unsigned(size) } else { index };
        if at < 0 || at >= size as isize {
            return Err(Error::new("select_scatter", ErrorKind::Index { index: index as i64, axis, size }));
        }
        check_part(src, &shape.remove(axis))?;
        let view = View::Slice { axis: axis as u8, start: at as i64, step: 1 };
        let (base, seen) = (self.node(), shape.with(axis, 1));
        put(Some(&base), shape, &src.node().cast(base.dtype()).reshape(seen)?, &view, seen)
    }

    /// A copy with `src` in place of positions along an axis; see `slice`.
    ///
    /// # Errors
    ///
    /// An axis out of range, step 0; a `src` of another shape.
    pub fn slice_scatter(
        &self,
        src: &Tensor,
        #[default(0)] dim: isize,
        #[default(None)] start: Option<isize>,
        #[default(None)] end: Option<isize>,
        #[default(1)] step: isize,
    ) -> Result<Tensor> {
        let shape = self.shape();
        let axis = normalize_axis(dim, shape.rank())?;
        let (from, n) = bounds(shape[axis], start, end, step)?;
        let seen = shape.with(axis, n);
        check_part(src, &seen)?;
        let view = View::Slice { axis: axis as u8, start: from as i64, step: step as i64 };
        let base = self.node();
        put(Some(&base), shape, &src.node().cast(base.dtype()), &view, seen)
    }

    /// A copy with `src` in place of a diagonal; see `diagonal`.
    ///
    /// # Errors
    ///
    /// An axis out of range, or twice the same; a `src` of another shape.
    pub fn diagonal_scatter(
        &self,
        src: &Tensor,
        #[default(0)] offset: isize,
        #[default(0)] dim1: isize,
        #[default(1)] dim2: isize,
    ) -> Result<Tensor> {
        let shape = self.shape();
        let diagonal = Diagonal::of(&shape, offset, [dim1, dim2])?;
        let seen = diagonal.shape(&shape)?;
        check_part(src, &seen)?;
        let base = self.node();
        put(Some(&base), shape, &src.node().cast(base.dtype()), &diagonal.view(), seen)
    }
}

#[operations(PLAIN_MOVEMENT)]
impl Tensor {
    /// The transpose of a matrix; a view of all of it for vectors and scalars.
    ///
    /// # Errors
    ///
    /// More than two axes.
    #[surface(method, function, view, in_place)]
    pub fn t(&self) -> Result<Tensor> {
        match self.rank() {
            rank @ (0 | 1) => self.permuted(&[0, 1][..rank]),
            2 => self.permuted(&[1, 0]),
            rank => wrong_shape(format!("takes at most two axes, got {rank}")),
        }
    }

    /// A copy of the value in its own memory; gradients flow through it.
    #[surface(method, function, name = "clone")]
    pub fn copy(&self) -> Result<Tensor> {
        Ok(Tensor::from_node(self.node().copy()))
    }
}

impl Tensor {
    /// The shape that all broadcast to.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast.
    #[track_caller]
    pub fn broadcast_shapes(shapes: &[&[usize]]) -> Result<Shape> {
        crate::caller::public("broadcast_shapes", || {
            shapes.iter().try_fold(Shape::scalar(), |joint, &shape| {
                let shape = Shape::new(shape)?;
                match Shape::broadcast(&joint, &shape) {
                    Some(joint) => Shape::new(&joint),
                    None => wrong_shape(format!("shapes {joint} and {shape} cannot be broadcast together")),
                }
            })
        })
    }
}

/// The first of the positions that Python's slice means along an axis of `n`, and how many there are.
pub(crate) fn bounds(
    n: usize,
    start: Option<isize>,
    end: Option<isize>,
    step: isize,
) -> Result<(usize, usize)> {
    // The layout algebra knows Python's rules; a line of that length tells start and count.
    let line = Layout::contiguous(Shape::of(&[n])).slice(0, start, end, step)?;
    Ok((if line.numel() == 0 { 0 } else { line.offset() }, line.shape()[0]))
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
