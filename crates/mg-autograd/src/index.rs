//! Views, and writing through them.

use crate::caller::public;
use crate::ops::{Operand, or_panic};
use crate::tensor::Tensor;
use crate::tensor::memory::may_be_borrowed;
use mg_device::{DType, Error, ErrorKind, Layout, MAX_RANK, Result, Shape, normalize_axis};
use mg_graph::{Node, View, cell_bits, cell_bits_of_int};

impl Tensor {
    /// A view, of a kind that any layout has.
    #[track_caller]
    fn seen(&self, view: View, shape: Shape) -> Result<Tensor> {
        let none = || Error::new("view", ErrorKind::Internal("a layout that has no such view".into()));
        self.view(&view, shape).ok_or_else(none)
    }

    #[track_caller]
    fn permuted(&self, axes: &[usize]) -> Result<Tensor> {
        let shape = self.shape();
        let rank = shape.rank();
        let mut met = [false; MAX_RANK];
        let valid =
            axes.len() == rank && axes.iter().all(|&a| a < rank && !std::mem::replace(&mut met[a], true));
        if !valid {
            let text = format!("{axes:?} is no permutation of the axes of {shape}");
            return Err(Error::new("permute", ErrorKind::Shape(text)));
        }
        let (mut order, mut dims) = ([0u8; MAX_RANK], [0usize; MAX_RANK]);
        for (i, &a) in axes.iter().enumerate() {
            (order[i], dims[i]) = (a as u8, shape[a]);
        }
        self.seen(View::Permute(order), Shape::of(&dims[..rank]))
    }

    /// `len` positions along an axis from `start` by `step`.
    #[track_caller]
    fn sliced(&self, axis: usize, start: usize, step: isize, len: usize) -> Result<Tensor> {
        let shape = self.shape();
        let size = shape[axis];
        let last = (len > 0).then(|| start as i128 + (len as i128 - 1) * step as i128);
        let fits = start <= size && last.is_none_or(|last| start < size && (0..size as i128).contains(&last));
        if step == 0 || !fits {
            let text = format!("{len} positions from {start} by {step} along axis {axis} of {shape}");
            return Err(Error::new("slice", ErrorKind::Value(text)));
        }
        let view = View::Slice { axis: axis as u8, start: start as i64, step: step as i64 };
        self.seen(view, shape.with(axis, len))
    }

    /// The same elements in another shape: a view where they lie so that there is one, else a copy.
    #[track_caller]
    fn reshaped(&self, shape: Shape) -> Result<Tensor> {
        match self.view(&View::Reshape, shape) {
            Some(view) => Ok(view),
            None => Ok(Tensor::from_node(self.node().reshape(shape)?)),
        }
    }

    /// The shape that −1 in `dims` stands for a size of.
    #[track_caller]
    fn shape_of(&self, dims: &[isize]) -> Result<Shape> {
        let own = self.shape();
        let numel = own.numel();
        let known: usize =
            dims.iter().filter(|&&d| d >= 0).fold(1usize, |n, &d| n.saturating_mul(d as usize));
        let open = dims.iter().filter(|&&d| d < 0).count();
        let text = || format!("shape {dims:?} for {numel} elements of shape {own}");
        let fits = dims.iter().all(|&d| d >= -1)
            && match open {
                0 => known == numel,
                1 => known > 0 && numel.is_multiple_of(known),
                _ => false,
            };
        if !fits {
            return Err(Error::new("reshape", ErrorKind::Shape(text())));
        }
        let sizes: Vec<usize> =
            dims.iter().map(|&d| if d < 0 { numel / known } else { d as usize }).collect();
        Shape::new(&sizes)
    }

    /// The same elements in another shape; one size may be −1, and follows from the others. A view where the elements lie so
    /// that there can be one, as PyTorch has it; else a copy.
    ///
    /// # Errors
    ///
    /// Another number of elements.
    #[track_caller]
    pub fn reshape(&self, dims: &[isize]) -> Result<Tensor> {
        public("reshape", || self.reshaped(self.shape_of(dims)?))
    }

    /// As [`Tensor::reshape`], and always a view.
    ///
    /// # Errors
    ///
    /// Another number of elements; elements that do not lie so that they can be seen in that shape, as those of a transposed
    /// matrix in one axis.
    #[track_caller]
    pub fn view_as_shape(&self, dims: &[isize]) -> Result<Tensor> {
        public("view", || {
            let shape = self.shape_of(dims)?;
            let text = || format!("{dims:?} is no view of the elements as they lie; reshape() copies them");
            self.view(&View::Reshape, shape).ok_or_else(|| Error::new("view", ErrorKind::Shape(text())))
        })
    }

    /// All axes from `start` on as one.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[track_caller]
    pub fn flatten(&self, start: isize) -> Result<Tensor> {
        public("flatten", || {
            let shape = self.shape();
            if shape.rank() == 0 {
                // Taken to have one axis.
                normalize_axis(start, 1)?;
                return self.reshape(&[1]);
            }
            let start = normalize_axis(start, shape.rank())?;
            let mut dims: Vec<isize> = shape[..start].iter().map(|&n| n as isize).collect();
            dims.push(shape[start..].iter().product::<usize>() as isize);
            self.reshape(&dims)
        })
    }

    /// Axes in another order.
    ///
    /// # Errors
    ///
    /// What is no permutation of the axes.
    #[track_caller]
    pub fn permute(&self, axes: &[isize]) -> Result<Tensor> {
        public("permute", || {
            let rank = self.rank();
            let axes = axes.iter().map(|&a| normalize_axis(a, rank));
            let axes = axes.collect::<Result<Vec<usize>>>()?;
            self.permuted(&axes)
        })
    }

    /// Two axes exchanged.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[track_caller]
    pub fn transpose(&self, a: isize, b: isize) -> Result<Tensor> {
        public("transpose", || {
            let rank = self.rank();
            if rank == 0 {
                // Taken to have one axis.
                normalize_axis(a, 1)?;
                normalize_axis(b, 1)?;
                return self.permuted(&[]);
            }
            let mut axes: Vec<usize> = (0..rank).collect();
            axes.swap(normalize_axis(a, rank)?, normalize_axis(b, rank)?);
            self.permuted(&axes)
        })
    }

    /// The transpose of a matrix; a view of all of it for vectors and scalars.
    ///
    /// # Panics
    ///
    /// More than two axes.
    #[track_caller]
    pub fn t(&self) -> Tensor {
        match self.rank() {
            rank @ (0 | 1) => or_panic(self.permuted(&[0, 1][..rank])),
            2 => or_panic(self.transpose(0, 1)),
            rank => {
                let text = format!("t() takes at most two axes, got {rank}");
                or_panic(Err(Error::new("t", ErrorKind::Shape(text))))
            }
        }
    }

    /// Positions `start`, `start + step`, … before `end` along an axis, as Python's slices: negative ends count from the
    /// end, `None` is the end that the step comes from or goes to, bounds are clamped, the step may be negative.
    ///
    /// # Errors
    ///
    /// An axis out of range, step 0.
    #[track_caller]
    pub fn slice(
        &self,
        axis: isize,
        start: Option<isize>,
        end: Option<isize>,
        step: isize,
    ) -> Result<Tensor> {
        public("slice", || {
            let shape = self.shape();
            let axis = normalize_axis(axis, shape.rank())?;
            // The layout algebra knows Python's rules; a line of that length tells start and count.
            let line = Layout::contiguous(Shape::of(&[shape[axis]])).slice(0, start, end, step)?;
            let (n, from) = (line.shape()[0], if line.numel() == 0 { 0 } else { line.offset() });
            self.sliced(axis, from, step, n)
        })
    }

    /// `len` positions from `start` along an axis.
    ///
    /// # Errors
    ///
    /// Positions outside the axis.
    #[track_caller]
    pub fn narrow(&self, axis: isize, start: usize, len: usize) -> Result<Tensor> {
        public("narrow", || {
            let axis = normalize_axis(axis, self.rank())?;
            self.sliced(axis, start, 1, len)
        })
    }

    /// One position along an axis, which disappears.
    ///
    /// # Errors
    ///
    /// An axis or index out of range.
    #[track_caller]
    pub fn select(&self, axis: isize, index: isize) -> Result<Tensor> {
        public("select", || {
            let shape = self.shape();
            let axis = normalize_axis(axis, shape.rank())?;
            let size = shape[axis];
            let at = if index < 0 { index + size as isize } else { index };
            if at < 0 || at >= size as isize {
                return Err(Error::new("select", ErrorKind::Index { index: index as i64, axis, size }));
            }
            let line = self.sliced(axis, at as usize, 1, 1)?;
            line.seen(View::Reshape, shape.remove(axis))
        })
    }

    /// The axis backwards: a copy, as PyTorch has it. [`Tensor::slice`] by −1 is a view.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[track_caller]
    pub fn flip(&self, axis: isize) -> Result<Tensor> {
        public("flip", || {
            if self.rank() == 0 {
                // Taken to have one axis, of one position.
                normalize_axis(axis, 1)?;
                return Ok(self.copy());
            }
            Ok(Tensor::from_node(self.slice(axis, None, None, -1)?.node().copy()))
        })
    }

    /// Broadcast to a shape; −1 keeps a size.
    ///
    /// # Errors
    ///
    /// A shape that it does not broadcast to.
    #[track_caller]
    pub fn expand(&self, dims: &[isize]) -> Result<Tensor> {
        public("expand", || {
            let own = self.shape();
            let lead = dims.len().checked_sub(own.rank());
            let sizes = dims.iter().enumerate().map(|(i, &d)| match (d, lead) {
                (0.., _) => Ok(d as usize),
                (-1, Some(lead)) if i >= lead => Ok(own[i - lead]),
                _ => {
                    let text = format!("shape {dims:?} for {own}");
                    Err(Error::new("expand", ErrorKind::Shape(text)))
                }
            });
            let shape = Shape::new(&sizes.collect::<Result<Vec<usize>>>()?)?;
            if Shape::broadcast(&own, &shape) != Some(shape) {
                let text = format!("{own} does not broadcast to {shape}");
                return Err(Error::new("expand", ErrorKind::Shape(text)));
            }
            self.seen(View::Expand, shape)
        })
    }

    /// A new axis of size 1 before `axis` (which may be one past the last).
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[track_caller]
    pub fn unsqueeze(&self, axis: isize) -> Result<Tensor> {
        public("unsqueeze", || {
            let shape = self.shape();
            let axis = normalize_axis(axis, shape.rank() + 1)?;
            let mut dims = shape.to_vec();
            dims.insert(axis, 1);
            self.seen(View::Reshape, Shape::new(&dims)?)
        })
    }

    /// Without an axis of size 1 (others stay), or without all of them.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[track_caller]
    pub fn squeeze(&self, axis: Option<isize>) -> Result<Tensor> {
        public("squeeze", || {
            let shape = self.shape();
            let only = axis.map(|a| normalize_axis(a, shape.rank().max(1))).transpose()?;
            let kept: Vec<usize> = (0..shape.rank())
                .filter(|&d| shape[d] != 1 || only.is_some_and(|a| a != d))
                .map(|d| shape[d])
                .collect();
            self.seen(View::Reshape, Shape::of(&kept))
        })
    }

    /// Rows (or what lies along `axis`) by their indices (i64, one axis, or none for one row). A tensor without axes is its own
    /// only row, and stays without axes.
    ///
    /// # Errors
    ///
    /// An axis out of range, indices that are not i64 with one axis, other than one of them for a tensor without axes. An index out of range is found when the value is
    /// computed.
    #[track_caller]
    pub fn index_select(&self, axis: isize, index: &Tensor) -> Result<Tensor> {
        public("index_select", || {
            let (node, index) = (self.node(), index.node());
            let axis = normalize_axis(axis, node.shape().rank().max(1))?;
            let index = match index.shape().rank() {
                0 => index.reshape(Shape::of(&[1]))?,
                _ => index,
            };
            if node.shape().rank() == 0 && index.shape().numel() != 1 {
                let text = format!("takes one index for a tensor without axes, got shape {}", index.shape());
                return Err(Error::new("index_select", ErrorKind::Shape(text)));
            }
            if index.shape().rank() != 1 {
                let text = format!("takes indices with one axis, got shape {}", index.shape());
                return Err(Error::new("index_select", ErrorKind::Shape(text)));
            }
            if node.shape().rank() == 0 {
                return Ok(Tensor::from_node(
                    node.reshape(Shape::of(&[1]))?.gather(0, &index)?.reshape(*node.shape())?,
                ));
            }
            let mut dims = vec![1usize; node.shape().rank()];
            dims[axis] = index.shape()[0];
            let wide = Shape::new(&node.shape().with(axis, dims[axis]))?;
            let wide = index.reshape(Shape::new(&dims)?)?.expand(wide)?;
            Ok(Tensor::from_node(node.gather(axis, &wide)?))
        })
    }

    /// `out[…, j, …] = self[…, index[…, j, …], …]` along an axis: PyTorch's `gather`, for an index whose other axes are
    /// those of `self`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::index_select`].
    #[track_caller]
    pub fn gather(&self, axis: isize, index: &Tensor) -> Result<Tensor> {
        public("gather", || {
            let node = self.node();
            let axis = normalize_axis(axis, node.shape().rank())?;
            Ok(Tensor::from_node(node.gather(axis, &index.node())?))
        })
    }

    /// `self` with `values` added at `index` along an axis, in order: PyTorch's `scatter_add`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::gather`]; values of another shape than the index.
    #[track_caller]
    pub fn scatter_add(&self, axis: isize, index: &Tensor, values: &Tensor) -> Result<Tensor> {
        public("scatter_add", || {
            let node = self.node();
            let axis = normalize_axis(axis, node.shape().rank())?;
            let values = values.node();
            let (dtype, size) = (values.dtype(), node.shape()[axis]);
            // Truth values are counted: what is met twice is still 1.
            let counted = if dtype.is_bool() { values.cast(DType::I64) } else { values };
            let added = counted.scatter_add(axis, &index.node(), size)?.cast(dtype);
            self.try_add(Tensor::from_node(added))
        })
    }

    /// Tensors one after the other along an axis.
    ///
    /// # Errors
    ///
    /// No tensors, shapes that differ off the axis, dtypes or devices that differ.
    #[track_caller]
    pub fn cat(tensors: &[&Tensor], axis: isize) -> Result<Tensor> {
        public("cat", || {
            let nodes: Vec<Node> = tensors.iter().map(|t| t.node()).collect();
            let rank = nodes.first().map_or(1, |n| n.shape().rank());
            let axis = normalize_axis(axis, rank)?;
            Ok(Tensor::from_node(Node::concat(&nodes.iter().collect::<Vec<_>>(), axis)?))
        })
    }

    /// Tensors of one shape along a new axis.
    ///
    /// # Errors
    ///
    /// As [`Tensor::cat`].
    #[track_caller]
    pub fn stack(tensors: &[&Tensor], axis: isize) -> Result<Tensor> {
        public("stack", || {
            let wide = tensors.iter().map(|t| t.unsqueeze(axis)).collect::<Result<Vec<_>>>()?;
            Tensor::cat(&wide.iter().collect::<Vec<_>>(), axis)
        })
    }

    /// Writes into the tensor (a view writes into what it is a view of). `value` broadcasts and is converted.
    ///
    /// # Errors
    ///
    /// A value that does not broadcast to the shape; a leaf that requires a gradient, outside `no_grad`; a broadcast
    /// view.
    #[track_caller]
    pub fn assign(&self, value: impl Into<Operand>) -> Result<()> {
        public("assign", || {
            let own = self.facts();
            self.check_writable()?;
            let dtype = own.dtype;
            let new = match value.into() {
                Operand::Tensor(t) => t.node().cast(dtype),
                Operand::Float(v) => Node::scalar_bits(cell_bits(v, dtype), dtype, own.device, false),
                Operand::Int(v) => Node::scalar_bits(cell_bits_of_int(v, dtype), dtype, own.device, false),
                Operand::Bool(v) => Node::scalar_bits(cell_bits(v.into(), dtype), dtype, own.device, false),
                Operand::Live(v) => Node::live(&v, dtype, own.device),
            };
            if new.device() != own.device {
                let text = format!(
                    "tensors must be on the same device (no implicit device transfers), got {} and {}",
                    own.device,
                    new.device()
                );
                return Err(Error::new("assign", ErrorKind::Device(text)));
            }
            // Memory that is somebody else's stays that: what is written is what is in it now.
            let new = if may_be_borrowed(&new) { new.copy() } else { new };
            self.write(new.expand(own.shape)?)
        })
    }

    fn check_writable(&self) -> Result<()> {
        if crate::is_grad_enabled() && self.is_of_leaf() {
            let text = "a leaf that requires a gradient is changed under no_grad() only";
            return Err(Error::new("assign", ErrorKind::Gradient(text.into())));
        }
        Ok(())
    }

    /// The elements in memory of their own in row-major order; `self` where they are already.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`].
    #[track_caller]
    pub fn contiguous(&self) -> Result<Tensor> {
        Ok(if self.is_contiguous()? { self.clone() } else { self.copy() })
    }

    /// Whether the elements lie in memory in row-major order without gaps.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`].
    #[track_caller]
    pub fn is_contiguous(&self) -> Result<bool> {
        Ok(self.lie()?.is_contiguous())
    }

    /// How the elements lie in the memory that the tensor is of: row-major for what is computed, as they are seen for views, as
    /// they are for memory that is somebody else's.
    ///
    /// # Errors
    ///
    /// A value that could not be computed.
    #[track_caller]
    pub fn lie(&self) -> Result<Layout> {
        if let Some(layout) = self.region() {
            return Ok(layout);
        }
        let node = self.node();
        match node.value() {
            Some(Ok(value)) if value.buffer.is_borrowed() && !value.layout.is_contiguous() => {
                Ok(value.layout)
            }
            Some(Err(error)) => {
                error.report();
                Err(error.clone())
            }
            Some(Ok(_)) | None => Ok(Layout::contiguous(*node.shape())),
        }
    }

    /// The dtype's zero in the tensor's shape, dtype and device.
    #[track_caller]
    pub fn zeros_like(&self) -> Tensor {
        or_panic(Tensor::full_on(&self.shape(), 0.0, self.dtype(), self.device()))
    }

    /// One in the tensor's shape, dtype and device.
    #[track_caller]
    pub fn ones_like(&self) -> Tensor {
        or_panic(Tensor::full_on(&self.shape(), 1.0, self.dtype(), self.device()))
    }

    /// Whether it is a boolean tensor.
    pub fn is_bool(&self) -> bool {
        self.dtype() == DType::Bool
    }
}
