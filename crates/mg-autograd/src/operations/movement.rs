//! Movement: the same elements in another shape or order, and parts of them.

use super::joining::too_much;
use super::{axis_of, signed};
use crate::ops::Operand;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Layout, Result, Shape, normalize_axis};
use mg_graph::{Node, View, form};
use mg_kernels::{Algebra, ReduceKind};
use mg_macros::operations;
use smallvec::SmallVec;

pub(super) type Axes = SmallVec<[usize; 8]>;

pub(super) fn wrong_shape<T>(text: String) -> Result<T> {
    Err(Error::new("shape", ErrorKind::Shape(text)))
}

pub(super) fn wrong_value<T>(text: String) -> Result<T> {
    Err(Error::new("value", ErrorKind::Value(text)))
}

/// Several axes, each once.
pub(super) fn axes_of(dims: &[isize], rank: usize) -> Result<Axes> {
    let axes = dims.iter().map(|&dim| axis_of(dim, rank)).collect::<Result<Axes>>()?;
    for (i, axis) in axes.iter().enumerate() {
        if axes[..i].contains(axis) {
            return wrong_value(format!("the axis {axis} is named twice in {dims:?}"));
        }
    }
    Ok(axes)
}

/// A shape that others make, where its elements can be counted.
pub(super) fn shape_of(dims: impl IntoIterator<Item = usize>) -> Result<Shape> {
    Shape::new(&dims.into_iter().collect::<SmallVec<[usize; 8]>>())
}

/// Refuses tensors with fewer axes.
pub(super) fn at_least(tensor: &Tensor, rank: usize) -> Result<()> {
    if tensor.rank() < rank {
        return wrong_shape(format!("takes tensors with at least {rank} axes, got shape {}", tensor.shape()));
    }
    Ok(())
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
    // An axis of repetitions before each axis, then merged with it, all at once: one of size 1 is just longer.
    let repeats = |axis: usize| times[axis] != 1 && shape[axis] != 1;
    let apart = (0..shape.rank()).flat_map(|d| repeats(d).then_some(1).into_iter().chain([shape[d]]));
    let wide = (0..shape.rank()).flat_map(|d| match repeats(d) {
        true => [Some(times[d]), Some(shape[d])],
        false => [None, Some(shape[d] * times[d])],
    });
    if let (Ok(apart), Ok(wide)) = (shape_of(apart), shape_of(wide.flatten())) {
        let out = x.reshape(apart)?.expand(wide)?.reshape(total)?;
        // Where positions are met again and again, the elements were copied to be one axis.
        let is_copied = (0..shape.rank()).any(|d| times[d] > 1 && shape[d] > 1);
        return Ok(if is_copied { out } else { out.copy() });
    }
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

    /// As `reshape`, and always a view. In Python, of a dtype: the bits of the elements as elements of that, which are as many bytes, on the
    /// same memory; without a history, but for the tensor's own dtype, and on the host.
    ///
    /// # Errors
    ///
    /// Another number of elements; elements that do not lie so that they can be seen in that shape, as those of a transposed
    /// matrix in one axis.
    #[surface(method, view, variadic, manners(Bits))]
    pub fn view(&self, shape: &[isize]) -> Result<Tensor> {
        let wanted = self.shape_of(shape)?;
        let text = || format!("{shape:?} is no view of the elements as they lie; reshape() copies them");
        let seen = self.view_through(&[(&View::Reshape, wanted)]);
        seen.ok_or_else(|| Error::new("view", ErrorKind::Shape(text())))
    }

    /// As `view`, to the shape of another tensor.
    ///
    /// # Errors
    ///
    /// As `view`.
    #[surface(method, view)]
    pub fn view_as(&self, other: &Tensor) -> Result<Tensor> {
        self.view(&signed(&other.shape()))
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
        self.contiguous()?.reshape(&[-1])
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
    /// An axis out of range or twice the same; another number of sources than of destinations.
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
        let axis = normalize_axis(dim, self.rank())?;
        self.selected(axis, index, axis)
    }

    /// Axes backwards: a copy, as PyTorch has it. [`Tensor::slice`] by −1 is a view.
    ///
    /// # Errors
    ///
    /// An axis out of range, or twice the same.
    #[surface(method, function, variadic, manners(NeedsList, Listed))]
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
        // A quarter is a view whose axes are exchanged and one of them turned round: one copy.
        let quarter = |reversed: usize| {
            let x = self.node();
            let n = x.shape()[reversed];
            let mut order: Axes = (0..rank).collect();
            order.swap(a, b);
            let view = x.slice(reversed, n.saturating_sub(1), -1, n)?.permute(&order)?;
            Ok(Tensor::from_node(view.copy()))
        };
        match k.rem_euclid(4) {
            1 => quarter(b),
            2 => self.flip(&[first, second]),
            3 => quarter(a),
            _ => Ok(Tensor::from_node(self.node().copy())),
        }
    }

    /// Each axis moved by so many positions, where what goes beyond its end comes in at its start; all elements in row-major
    /// order where no axes are named. A copy.
    ///
    /// # Errors
    ///
    /// Another number of shifts than of axes; an axis out of range.
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
            // As in PyTorch, what is to have no axes is a sum also where there is nothing to add: of integers one of 64 bits.
            let is_wide = own.rank() > 0 || x.dtype().is_float() || x.dtype() == DType::I64;
            return Ok(if is_wide { self.clone() } else { self.to_dtype(DType::I64) });
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
    #[surface(method, function, reads, keywords_from = "output_size", manners(Itself("repeats")))]
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
                // Where the size is told, nobody asked for a shape that values decide.
                if output_size.is_some() {
                    mg_graph::needs_values();
                }
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
            if let Some(wanted) = output_size.filter(|&wanted| wanted != size[axis]) {
                return wrong_value(format!("a result of {} positions, not of {wanted}", size[axis]));
            }
            let (before, behind) = shape.split_at(axis + 1);
            let apart = |times| shape_of(before.iter().copied().chain([times]).chain(behind.iter().copied()));
            let out = x.reshape(apart(1)?)?.expand(apart(count)?)?.reshape(size)?;
            // Several of several are copied to be one axis.
            return Ok(Tensor::from_node(if n > 1 && count > 1 { out } else { out.copy() }));
        }
        if counts.len() != n {
            return wrong_value(format!(
                "{} numbers for {n} positions along axis {axis} of {shape}",
                counts.len()
            ));
        }
        let total = counts.iter().fold(0i64, |sum, &count| sum.saturating_add(count));
        if let Some(wanted) = output_size.filter(|&wanted| wanted as i64 != total) {
            return wrong_value(format!("a result of {total} positions, not of {wanted}"));
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
    #[surface(method, function, view, in_place, variadic)]
    pub fn squeeze(&self, #[default(None)] dim: Option<&[isize]>) -> Result<Tensor> {
        let shape = self.shape();
        let only = dim.map(|dim| axes_of(dim, shape.rank())).transpose()?;
        match dim {
            None => {}
            Some([_]) => form("squeeze.SqueezeBackward1"),
            Some(_) => form("squeeze.SqueezeBackward2"),
        }
        let goes = |axis: &usize| shape[*axis] == 1 && only.as_ref().is_none_or(|only| only.contains(axis));
        let kept = (0..shape.rank()).filter(|axis| !goes(axis)).map(|axis| shape[axis]);
        self.seen(View::Reshape, shape_of(kept)?)
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
    /// What lies outside of the memory; another number of strides than of sizes; a detached view that does not lie in a row.
    #[surface(method, function, view)]
    pub fn as_strided(
        &self,
        size: &[usize],
        stride: &[isize],
        #[default(None)] storage_offset: Option<usize>,
    ) -> Result<Tensor> {
        self.strided(Shape::new(size)?, stride, storage_offset)
    }

    /// The tensor in another shape, whatever its number of elements: what stands in its memory from where it begins, in row-major order. Where there
    /// is less, it has memory of its own from then on, with zeros behind what there was, and other views stay what they were.
    ///
    /// # Errors
    ///
    /// A tensor that requires a gradient, which keeps its size: make another one of `x.detach().clone()`; a shape that is too large.
    #[surface(in_place_only, view, variadic, integers, manners(Ignores("memory_format")))]
    pub fn resize(&self, size: &[usize]) -> Result<Tensor> {
        let shape = Shape::new(size)?;
        if self.requires_grad() {
            let text = "a tensor that requires a gradient keeps its size: make a new one, x = x.detach().clone().resize_(…).requires_grad_()";
            return Err(Error::new("resize_", ErrorKind::Gradient(text.into())));
        }
        if self.shape() == shape {
            return Ok(self.clone());
        }
        let (there, wanted) = (self.room(), shape.numel());
        if wanted <= there {
            return self.strided(shape, Layout::contiguous(shape).strides(), None);
        }
        let node = self.strided(Shape::of(&[there]), &[1], None)?.node();
        let zeros = node.lit(0.0).expand(Shape::new(&[wanted - there])?)?;
        Ok(Tensor::from_node(Node::concat(&[&node, &zeros], 0)?.reshape(shape)?))
    }

    /// The tensor in another one's shape: see `resize_`.
    ///
    /// # Errors
    ///
    /// A tensor that requires a gradient.
    #[surface(in_place_only, view, integers, manners(Ignores("memory_format")))]
    pub fn resize_as(&self, the_template: &Tensor) -> Result<Tensor> {
        self.resize(&the_template.shape())
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

    /// A copy of the value in its own memory, with channels innermost where the value's are; gradients flow through it. In Python, of a
    /// `memory_format`: in that order.
    #[surface(method, function, name = "clone", manners(Lies))]
    pub fn copy(&self) -> Result<Tensor> {
        Ok(Tensor::from_node(self.node().copy_alike()))
    }
}

impl Tensor {
    /// All axes in reverse order, a view: of a matrix the transpose. PyTorch's `x.T`.
    ///
    /// # Errors
    ///
    /// A device that cannot be used.
    #[allow(non_snake_case)] // PyTorch's
    #[track_caller]
    pub fn T(&self) -> Result<Tensor> {
        crate::caller::public("T", || {
            let axes: Axes = (0..self.rank()).rev().collect();
            self.permuted(&axes)
        })
    }

    /// The last two axes exchanged, a view: the transposes of a stack of matrices. Of a tensor without axes, a view of it. PyTorch's `x.mT`.
    ///
    /// # Errors
    ///
    /// One axis.
    #[allow(non_snake_case)] // PyTorch's
    #[track_caller]
    pub fn mT(&self) -> Result<Tensor> {
        crate::caller::public("mT", || match self.rank() {
            0 => self.permuted(&[]),
            rank => {
                at_least(self, 2)?;
                let mut axes: Axes = (0..rank).collect();
                axes.swap(rank - 2, rank - 1);
                self.permuted(&axes)
            }
        })
    }

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
