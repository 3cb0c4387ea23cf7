//! Views, and writing through them.

use crate::caller::public;
use crate::ops::{Operand, or_panic};
use crate::tensor::Tensor;
use crate::tensor::memory::{lies_by_channels, may_be_borrowed, other_lie, untracked};
use mg_device::{DType, Error, ErrorKind, Layout, MAX_RANK, Result, Shape};
use mg_graph::{Node, View, cell_bits, cell_bits_of_int};

/// The error of a change of a leaf while gradients are recorded.
#[track_caller]
pub(crate) fn recorded_leaf(op: &'static str) -> Error {
    let text = "a leaf that requires a gradient cannot be changed while gradients are recorded: wrap the change in no_grad()";
    Error::new(op, ErrorKind::Gradient(text.into()))
}

impl Tensor {
    /// A view, of a kind that any layout has.
    #[track_caller]
    pub(crate) fn seen(&self, view: View, shape: Shape) -> Result<Tensor> {
        self.seen_through(&[(&view, shape)])
    }

    /// As [`Tensor::seen`], of a view of a view.
    #[track_caller]
    pub(crate) fn seen_through(&self, views: &[(&View, Shape)]) -> Result<Tensor> {
        let none = || Error::new("view", ErrorKind::Internal("a layout that has no such view".into()));
        self.view_through(views).ok_or_else(none)
    }

    #[track_caller]
    pub(crate) fn permuted(&self, axes: &[usize]) -> Result<Tensor> {
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

    /// One position along an axis, which an error calls `told`: it may be that of something else of which this is a view.
    #[track_caller]
    pub(crate) fn selected(&self, axis: usize, index: isize, told: usize) -> Result<Tensor> {
        let shape = self.shape();
        let size = shape[axis];
        let at = if index < 0 { index.wrapping_add_unsigned(size) } else { index };
        if at < 0 || at >= size as isize {
            return Err(Error::new("select", ErrorKind::Index { index: index as i64, axis: told, size }));
        }
        let one = View::Slice { axis: axis as u8, start: at as i64, step: 1 };
        self.seen_through(&[(&one, shape.with(axis, 1)), (&View::Reshape, shape.remove(axis))])
    }

    /// `len` positions along an axis from `start` by `step`.
    #[track_caller]
    pub(crate) fn sliced(&self, axis: usize, start: usize, step: isize, len: usize) -> Result<Tensor> {
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
    pub(crate) fn reshaped(&self, shape: Shape) -> Result<Tensor> {
        match self.view_through(&[(&View::Reshape, shape)]) {
            Some(view) => Ok(view),
            None => Ok(Tensor::from_node(self.node().reshape(shape)?)),
        }
    }

    /// The shape that −1 in `dims` stands for a size of.
    #[track_caller]
    pub(crate) fn shape_of(&self, dims: &[isize]) -> Result<Shape> {
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
            let value = value.into();
            value.check_fits("assign", dtype)?;
            let new = match value {
                // A node of its own for what it is now: what is written to the other tensor later is nothing to this one.
                Operand::Tensor(t) => match t.node().cast(dtype) {
                    new if matches!(new.value(), Some(Err(_))) => new,
                    new if new.is_tracked() || may_be_borrowed(&new) => new.copy(),
                    new => untracked(&new),
                },
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
                return Err(Error::new("assign", ErrorKind::UnlikeDevices(text)));
            }
            self.write(new.expand(own.shape)?)
        })
    }

    /// Refuses a leaf, where gradients are recorded.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if crate::is_grad_enabled() && self.is_of_leaf() { Err(recorded_leaf("assign")) } else { Ok(()) }
    }

    /// The elements in memory of their own in row-major order; `self` where they are already.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`].
    #[track_caller]
    pub fn contiguous(&self) -> Result<Tensor> {
        if self.is_contiguous()? {
            return Ok(self.clone());
        }
        public("clone", || Ok(Tensor::from_node(self.node().copy())))
    }

    /// The elements in memory of their own with the second axis, the channels, innermost; `self` where they lie so already. What elementwise operations and
    /// convolutions on CUDA make of it lies so as well. Convolutions on capability 9.0 read and leave images so; others are copied for them.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`]; other than four or five axes (images, volumes).
    ///
    /// ```
    /// use mg_autograd::Tensor;
    /// use mg_device::DType;
    ///
    /// let x = Tensor::rand(&[2, 3, 4, 4], DType::F32)?.channels_last()?;
    /// assert_eq!(x.lie()?.strides(), [48, 1, 12, 3]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    #[track_caller]
    pub fn channels_last(&self) -> Result<Tensor> {
        let rank = self.rank();
        if !matches!(rank, 4 | 5) {
            let text = format!("takes images or volumes, of four or five axes, got {rank}");
            return Err(Error::new("channels_last", ErrorKind::Shape(text)));
        }
        if self.is_channels_last()? {
            return Ok(self.clone());
        }
        public("clone", || Ok(Tensor::from_node(self.node().copy_lying(true))))
    }

    /// Whether the elements lie in memory without gaps, the second of four or five axes innermost.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`].
    #[track_caller]
    pub fn is_channels_last(&self) -> Result<bool> {
        Ok(lies_by_channels(&self.lie()?))
    }

    /// As [`Tensor::is_channels_last`], where that is another order than that of rows.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`].
    #[track_caller]
    pub fn is_turned_to_channels(&self) -> Result<bool> {
        Ok(self.is_channels_last()? && !self.is_contiguous()?)
    }

    /// Whether the elements lie in memory in row-major order without gaps, so that any view of that many elements can be taken of them. (Not of a view
    /// that sees a leaf's images with channels innermost in the order of memory: what is written through those goes by the order of the leaf's own axes.)
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`].
    #[track_caller]
    pub fn is_contiguous(&self) -> Result<bool> {
        Ok(self.lie()?.is_contiguous() && !self.is_seen_by_channels())
    }

    /// How the elements lie in the memory that the tensor is of: row-major for what is computed, as they are seen for views, as
    /// they are for memory that is somebody else's.
    ///
    /// # Errors
    ///
    /// A value that could not be computed.
    #[track_caller]
    pub fn lie(&self) -> Result<Layout> {
        let lie = self.lie_unnoted()?;
        if mg_graph::is_recording() {
            crate::jit::note_lie(self, lie);
        }
        Ok(lie)
    }

    /// As [`Tensor::lie`], which no recording is told of.
    #[track_caller]
    pub(crate) fn lie_unnoted(&self) -> Result<Layout> {
        if let Some(layout) = self.told_lie() {
            return Ok(layout);
        }
        let node = self.node();
        match node.value() {
            Some(Err(error)) => {
                error.report();
                Err(error.clone())
            }
            Some(Ok(_)) | None => Ok(other_lie(&node).unwrap_or(Layout::contiguous(*node.shape()))),
        }
    }

    /// The dtype's zero in the tensor's shape, dtype and device.
    #[track_caller]
    pub fn zeros_like(&self) -> Tensor {
        or_panic(self.try_zeros_like())
    }

    /// As [`Tensor::zeros_like`].
    ///
    /// # Errors
    ///
    /// A device that cannot be used; memory.
    #[track_caller]
    pub fn try_zeros_like(&self) -> Result<Tensor> {
        Tensor::full_on(&self.shape(), 0.0, self.dtype(), self.device())
    }

    /// One in the tensor's shape, dtype and device.
    #[track_caller]
    pub fn ones_like(&self) -> Tensor {
        or_panic(self.try_ones_like())
    }

    /// As [`Tensor::ones_like`].
    ///
    /// # Errors
    ///
    /// A device that cannot be used; memory.
    #[track_caller]
    pub fn try_ones_like(&self) -> Result<Tensor> {
        Tensor::full_on(&self.shape(), 1.0, self.dtype(), self.device())
    }

    /// As [`Tensor::zeros_like`]: there is no memory that nobody wrote.
    #[track_caller]
    pub fn empty_like(&self) -> Tensor {
        or_panic(self.try_empty_like())
    }

    /// As [`Tensor::empty_like`].
    ///
    /// # Errors
    ///
    /// A device that cannot be used; memory.
    #[track_caller]
    pub fn try_empty_like(&self) -> Result<Tensor> {
        self.try_zeros_like()
    }

    /// Whether it is a boolean tensor.
    pub fn is_bool(&self) -> bool {
        self.dtype() == DType::Bool
    }
}
