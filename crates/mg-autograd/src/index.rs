//! Views, and writing through them.

use crate::caller::public;
use crate::ops::{Operand, or_panic};
use crate::tensor::{Seen, Tensor, fresh_node, view_of};
use mg_device::{DType, Error, ErrorKind, Layout, MAX_RANK, Result, Shape, normalize_axis};
use mg_graph::{Node, View, cell_bits, cell_bits_of_int};

impl Tensor {
    /// A view of this tensor, through which it can be written.
    fn view(&self, view: View, shape: Shape) -> Result<Tensor> {
        let own = self.node();
        let node = view_of(&own, &view, shape)?;
        Ok(self.seen_as(&own, node, Seen::View(view)))
    }

    fn permuted(&self, axes: &[usize]) -> Result<Tensor> {
        let node = self.node();
        // The check of the axes, and the shape, are the node's.
        let shape = *node.permute(axes)?.shape();
        let mut order = [0u8; MAX_RANK];
        for (to, &a) in order.iter_mut().zip(axes) {
            *to = a as u8;
        }
        self.view(View::Permute(order), shape)
    }

    fn sliced(&self, axis: usize, start: usize, step: isize, len: usize) -> Result<Tensor> {
        let own = self.node();
        let node = own.slice(axis, start, step, len)?;
        let view = View::Slice { axis: axis as u8, start: start as i64, step: step as i64 };
        Ok(self.seen_as(&own, node, Seen::View(view)))
    }

    /// The same elements in another shape; one size may be −1, and follows from the others.
    ///
    /// # Errors
    ///
    /// Another number of elements.
    #[track_caller]
    pub fn reshape(&self, dims: &[isize]) -> Result<Tensor> {
        public("reshape", || {
            let node = self.node();
            let numel = node.shape().numel();
            let fail = |text: String| Error::new("reshape", ErrorKind::Shape(text));
            let known: usize =
                dims.iter().filter(|&&d| d >= 0).fold(1usize, |n, &d| n.saturating_mul(d as usize));
            let mut sizes = Vec::with_capacity(dims.len());
            for &d in dims {
                sizes.push(match d {
                    0.. => d as usize,
                    -1 if dims.iter().filter(|&&d| d == -1).count() == 1
                        && known > 0
                        && numel.is_multiple_of(known) =>
                    {
                        numel / known
                    }
                    _ => {
                        return Err(fail(format!(
                            "shape {dims:?} for {numel} elements of shape {}",
                            node.shape()
                        )));
                    }
                });
            }
            self.view(View::Reshape, Shape::new(&sizes)?)
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
            let node = self.node();
            let rank = node.shape().rank();
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
            let node = self.node();
            let rank = node.shape().rank();
            let mut axes: Vec<usize> = (0..rank).collect();
            axes.swap(normalize_axis(a, rank)?, normalize_axis(b, rank)?);
            self.permuted(&axes)
        })
    }

    /// The transpose of a matrix; vectors and scalars as they are.
    ///
    /// # Panics
    ///
    /// More than two axes.
    #[track_caller]
    pub fn t(&self) -> Tensor {
        match self.rank() {
            0 | 1 => self.clone(),
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
            let node = self.node();
            let axis = normalize_axis(axis, node.shape().rank())?;
            // The layout algebra knows Python's rules; a line of that length tells start and count.
            let line = Layout::contiguous(Shape::of(&[node.shape()[axis]])).slice(0, start, end, step)?;
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
            let node = self.node();
            let axis = normalize_axis(axis, node.shape().rank())?;
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
            let node = self.node();
            let axis = normalize_axis(axis, node.shape().rank())?;
            let size = node.shape()[axis];
            let at = if index < 0 { index + size as isize } else { index };
            if at < 0 || at >= size as isize {
                return Err(Error::new("select", ErrorKind::Index { index: index as i64, axis, size }));
            }
            let row = node.select(axis, at as usize)?;
            Ok(self.seen_as(&node, row, Seen::Select { axis, at: at as usize }))
        })
    }

    /// The axis backwards.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[track_caller]
    pub fn flip(&self, axis: isize) -> Result<Tensor> {
        public("flip", || self.slice(axis, None, None, -1))
    }

    /// Broadcast to a shape; −1 keeps a size.
    ///
    /// # Errors
    ///
    /// A shape that it does not broadcast to.
    #[track_caller]
    pub fn expand(&self, dims: &[isize]) -> Result<Tensor> {
        public("expand", || {
            let node = self.node();
            let own = node.shape();
            let lead = dims.len().checked_sub(own.rank());
            let sizes = dims.iter().enumerate().map(|(i, &d)| match (d, lead) {
                (0.., _) => Ok(d as usize),
                (-1, Some(lead)) if i >= lead => Ok(own[i - lead]),
                _ => {
                    let text = format!("shape {dims:?} for {own}");
                    Err(Error::new("expand", ErrorKind::Shape(text)))
                }
            });
            let sizes = sizes.collect::<Result<Vec<usize>>>()?;
            self.view(View::Expand, Shape::new(&sizes)?)
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
            let node = self.node();
            let axis = normalize_axis(axis, node.shape().rank() + 1)?;
            let mut dims = node.shape().to_vec();
            dims.insert(axis, 1);
            self.view(View::Reshape, Shape::new(&dims)?)
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
            let node = self.node();
            let shape = *node.shape();
            let only = axis.map(|a| normalize_axis(a, shape.rank().max(1))).transpose()?;
            let kept: Vec<usize> = (0..shape.rank())
                .filter(|&d| shape[d] != 1 || only.is_some_and(|a| a != d))
                .map(|d| shape[d])
                .collect();
            self.view(View::Reshape, Shape::of(&kept))
        })
    }

    /// Rows (or what lies along `axis`) by their indices (i64, one axis).
    ///
    /// # Errors
    ///
    /// An axis out of range, indices that are not i64 with one axis. An index out of range is found when the value is
    /// computed.
    #[track_caller]
    pub fn index_select(&self, axis: isize, index: &Tensor) -> Result<Tensor> {
        public("index_select", || {
            let (node, index) = (self.node(), index.node());
            let axis = normalize_axis(axis, node.shape().rank())?;
            if index.shape().rank() != 1 {
                let text = format!("takes indices with one axis, got shape {}", index.shape());
                return Err(Error::new("index_select", ErrorKind::Shape(text)));
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
            let node = self.node();
            self.check_writable()?;
            let dtype = node.dtype();
            let new = match value.into() {
                Operand::Tensor(t) => {
                    let node = t.node().cast(dtype);
                    // A leaf has a node of its own: others who hold the value must not become leaves with it.
                    if self.root().keeps_grad() && t.is_shared() { fresh_node(&node) } else { node }
                }
                Operand::Float(v) => Node::scalar_bits(cell_bits(v, dtype), dtype, node.device(), false),
                Operand::Int(v) => Node::scalar_bits(cell_bits_of_int(v, dtype), dtype, node.device(), false),
                Operand::Bool(v) => {
                    Node::scalar_bits(cell_bits(v.into(), dtype), dtype, node.device(), false)
                }
                Operand::Live(v) => Node::live(&v, dtype, node.device()),
            };
            if new.device() != node.device() {
                let text = format!(
                    "tensors must be on the same device (no implicit device transfers), got {} and {}",
                    node.device(),
                    new.device()
                );
                return Err(Error::new("assign", ErrorKind::Device(text)));
            }
            self.rebind(new.expand(*node.shape())?)
        })
    }

    fn check_writable(&self) -> Result<()> {
        if crate::is_grad_enabled() && self.root().is_leaf() && self.root().requires_grad() {
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
        Ok(self.value()?.layout.is_contiguous())
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
