//! Making nodes: shapes, dtypes and devices are checked here, at the caller's line.

use crate::kernel::Kernel;
use crate::live::LiveScalar;
use crate::node::{Node, Sources, called};
use crate::op::{Map, Op, SourceKind, View};
use mg_device::{AxisSet, DType, Device, Error, ErrorKind, Layout, MAX_RANK, Result, Shape};
use mg_kernels::library::{Gather, Innermost, Library, MatMul, Put, ScatterAdd, Shaped, innermost_layout};
use mg_kernels::{Law, ReduceKind, Row, cell_bits};
use smallvec::{SmallVec, smallvec};
use std::borrow::Borrow;

#[track_caller]
fn shape_error(op: &'static str, text: String) -> Error {
    Error::new(op, ErrorKind::Shape(text))
}

/// The device that all nodes are on; `op` is whose error it is where they are not.
///
/// # Errors
///
/// Nodes on different devices, which are named.
#[track_caller]
pub fn same_device<N: Borrow<Node>>(op: &'static str, nodes: &[N]) -> Result<Device> {
    let device = nodes[0].borrow().device();
    for node in nodes[1..].iter().map(N::borrow) {
        if node.device() != device {
            return Err(Error::new(
                op,
                ErrorKind::UnlikeDevices(format!(
                    "tensors must be on the same device (no implicit device transfers), got {device} and {}",
                    node.device()
                )),
            ));
        }
    }
    Ok(device)
}

/// A shape made of others, if its elements can be counted.
#[track_caller]
fn countable(op: &'static str, dims: &[usize]) -> Result<Shape> {
    match Shape::new(dims) {
        Ok(shape) => Ok(shape),
        // Not in a closure, which would hide the caller's line.
        Err(error) => Err(Error::new(op, error.kind().clone())),
    }
}

/// The shape that all broadcast to.
#[track_caller]
fn broadcast(op: &'static str, nodes: &[Node]) -> Result<Shape> {
    let mut shape = *nodes[0].shape();
    for node in &nodes[1..] {
        if *node.shape() != shape {
            let Some(joined) = Shape::broadcast(&shape, node.shape()) else {
                let shapes: Vec<_> = nodes.iter().map(|n| n.shape().to_string()).collect();
                return Err(shape_error(
                    op,
                    format!("shapes {} cannot be broadcast together", shapes.join(" and ")),
                ));
            };
            shape = countable(op, &joined)?;
        }
    }
    Ok(shape)
}

/// Whether tensors of a shape can lie with their axis 1 innermost: images and volumes, in which that is not the order of rows.
pub(crate) fn can_lie_innermost(shape: &Shape) -> bool {
    matches!(shape.rank(), 4 | 5) && shape.numel() > 0 && shape[1] > 1 && shape[2..].iter().any(|&n| n > 1)
}

/// How elements lie without gaps: with axis 1 innermost, or row by row.
pub(crate) fn laid(shape: &Shape, innermost: bool) -> Layout {
    let dense = Layout::contiguous(*shape);
    if innermost { innermost_layout(shape).unwrap_or(dense) } else { dense }
}

/// What a kernel takes and leaves so, on a device.
pub(crate) fn taken_innermost(kernel: &Library, operands: &[Shaped], device: Device) -> Result<Innermost> {
    let capability = device.compute_capability()?;
    Ok(capability
        .map_or_else(Innermost::default, |(major, minor)| kernel.innermost(operands, major * 10 + minor)))
}

impl Node {
    /// A scalar of shape `[]`; see [`SourceKind::Const`] for what `literal` means.
    #[track_caller]
    pub fn scalar(value: f64, dtype: DType, device: Device, literal: bool) -> Node {
        Node::scalar_bits(cell_bits(value, dtype), dtype, device, literal)
    }

    /// A scalar by its cell's bits.
    #[track_caller]
    pub fn scalar_bits(bits: u64, dtype: DType, device: Device, literal: bool) -> Node {
        let op = Op::Source(SourceKind::Const { bits, literal });
        Node::pending(op, Sources::new(), Shape::scalar(), dtype, device)
    }

    /// A scalar of shape `[]` that replays read anew.
    #[track_caller]
    pub fn live(scalar: &LiveScalar, dtype: DType, device: Device) -> Node {
        let bits = cell_bits(scalar.get(), dtype);
        let op = Op::Source(SourceKind::Live { scalar: scalar.clone(), bits });
        Node::pending(op, Sources::new(), Shape::scalar(), dtype, device)
    }

    /// 0, 1, 2, … in row-major order, i64.
    #[track_caller]
    pub fn ramp(shape: Shape, device: Device) -> Node {
        Node::pending(Op::Source(SourceKind::Ramp), Sources::new(), shape, DType::I64, device)
    }

    /// Random numbers, f32 (or f64), the same for the same seed and counter on every device. The counter of normal ones is even.
    #[track_caller]
    pub fn random(law: Law, shape: Shape, dtype: DType, device: Device, (seed, counter): (u64, u64)) -> Node {
        let dtype = if dtype == DType::F64 { dtype } else { DType::F32 };
        let op = Op::Source(SourceKind::Random { law, seed, counter });
        Node::pending(op, Sources::new(), shape, dtype, device)
    }

    /// An elementwise operation on operands of the dtype that the row takes (the condition of `where` is bool; a factor or
    /// divisor of a half type may be f32, see [`Row::keeps_single`]); shapes broadcast.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, dtypes that differ or that the row does not take, unlike devices.
    #[track_caller]
    pub fn map(row: Row, args: &[&Node]) -> Result<Node> {
        let mut sources = Sources::new();
        for &arg in args {
            sources.push(arg.clone());
        }
        Node::map_of(row, sources)
    }

    /// As [`Node::map`], of operands that the new node takes over.
    ///
    /// # Errors
    ///
    /// As [`Node::map`].
    #[track_caller]
    pub fn map_of(row: Row, args: Sources) -> Result<Node> {
        let name = row.name();
        if args.len() != row.arity() {
            let text = format!("takes {} operands, got {}", row.arity(), args.len());
            return Err(Error::new(name, ErrorKind::Value(text)));
        }
        let device = same_device(name, &args)?;
        if let Some(narrow) = args.iter().find(|a| a.dtype().is_narrow()).filter(|_| !row.takes_narrow()) {
            return Err(narrow.dtype().not_computed(name));
        }
        let values = if row == Row::Where { &args[1..] } else { &args[..] };
        let condition_ok = row != Row::Where || args[0].dtype() == DType::Bool;
        let taken = row.common(values.iter().map(Node::dtype)).filter(|&of| row.operand(of) == of);
        let Some(of) = taken.filter(|_| condition_ok) else {
            let dtypes: Vec<_> = args.iter().map(|a| a.dtype().name()).collect();
            return Err(Error::new(
                name,
                ErrorKind::DType(format!("does not take {}", dtypes.join(" and "))),
            ));
        };
        let shape = broadcast(name, &args)?;
        Ok(Node::pending(Op::Map(Map::Row(row)), args, shape, row.result(of), device))
    }

    /// Conversion to another dtype; the node itself where nothing changes.
    #[track_caller]
    pub fn cast(&self, dtype: DType) -> Node {
        if self.dtype() == dtype {
            return self.clone();
        }
        Node::pending(Op::Map(Map::Cast), smallvec![self.clone()], *self.shape(), dtype, self.device())
    }

    /// The same elements in memory of their own, row by row.
    #[track_caller]
    pub fn copy(&self) -> Node {
        self.copy_lying(false)
    }

    /// The same elements in memory of their own, which lie as the node's do: see [`Node::lies_innermost`].
    #[track_caller]
    pub fn copy_alike(&self) -> Node {
        self.copy_lying(self.lies_innermost())
    }

    /// The same elements in memory of their own: with axis 1 innermost, where the shape is one of [`Node::lies_innermost`], or row by row.
    #[track_caller]
    pub fn copy_lying(&self, innermost: bool) -> Node {
        let op = Op::Map(Map::Copy { innermost: innermost && can_lie_innermost(self.shape()) });
        Node::pending(op, smallvec![self.clone()], *self.shape(), self.dtype(), self.device())
    }

    /// The node itself, or a copy that lies as `other` does.
    #[track_caller]
    pub fn lying_as(self, other: &Node) -> Node {
        let innermost = other.lies_innermost();
        if self.lies_innermost() == innermost { self } else { self.copy_lying(innermost) }
    }

    /// The node itself, whose values (integers) are checked to be at least 0 and less than `size`, the number of positions
    /// along `axis` of something else, when they are used.
    #[track_caller]
    pub fn guard(&self, axis: usize, size: usize) -> Node {
        let op = Op::Map(Map::Guard { size: size as i64, axis: axis as u8, op: called("index") });
        Node::pending(op, smallvec![self.clone()], *self.shape(), self.dtype(), self.device())
    }

    /// The value, where a view of it is a layout and nothing to compute: in memory that is there, without a history. A recording is to
    /// see what it is a view of.
    pub(crate) fn known(&self) -> Option<&crate::node::Value> {
        match self.value() {
            Some(Ok(value)) if !self.is_tracked() && !crate::replay::is_recording() => Some(value),
            Some(Ok(_) | Err(_)) | None => None,
        }
    }

    #[track_caller]
    fn view(&self, view: View, shape: Shape) -> Node {
        if let Some(value) = self.known()
            && let Some(layout) = view.apply(&value.layout, &shape)
        {
            return Node::from_value(crate::node::Value { buffer: value.buffer.clone(), layout });
        }
        if let Some(number) = self.spread() {
            // Gradients of sums of sums: views of each other without end, all of one number.
            return if shape.rank() == 0 { number } else { number.view(View::Expand, shape) };
        }
        // What will lie with its axis 1 innermost is not there row by row, too.
        if self.is_pending() && self.lies_innermost() && view.apply(&self.lie(), &shape).is_none() {
            return self.copy().view(view, shape);
        }
        Node::pending(Op::View(view), smallvec![self.clone()], shape, self.dtype(), self.device())
    }

    /// The number that the node is many of, where it is nobody's.
    fn spread(&self) -> Option<Node> {
        if !matches!(self.op(), Op::View(View::Expand)) || self.is_somebodys() {
            return None;
        }
        self.sources().first().filter(|of| of.shape().rank() == 0).cloned()
    }

    /// The elements that a layout reaches among the node's own laid out densely, where that is nothing to compute: its value is
    /// there, lies so, and has no history.
    #[track_caller]
    pub fn known_part(&self, layout: &Layout) -> Option<Node> {
        let value = self.known()?;
        let layout = value.layout.part(layout)?;
        Some(Node::from_value(crate::node::Value { buffer: value.buffer.clone(), layout }))
    }

    /// Another node for the same value, with the same history: of a tensor of its own.
    #[track_caller]
    pub fn alias(&self) -> Node {
        let alias = self.all_of();
        alias.set_apart();
        alias
    }

    /// A view of all of it as it is: what is written to the memory of the one is written to the other's.
    #[track_caller]
    pub fn all_of(&self) -> Node {
        if let Some(value) = self.known() {
            return Node::from_value(value.clone());
        }
        let op = Op::View(View::Reshape);
        Node::pending(op, smallvec![self.clone()], *self.shape(), self.dtype(), self.device())
    }

    /// The same elements in another shape.
    ///
    /// # Errors
    ///
    /// Another number of elements.
    #[track_caller]
    pub fn reshape(&self, shape: Shape) -> Result<Node> {
        if shape == *self.shape() {
            return Ok(self.clone());
        }
        if shape.numel() != self.shape().numel() {
            let text =
                format!("{} elements of shape {} do not fit {shape}", self.shape().numel(), self.shape());
            return Err(shape_error("reshape", text));
        }
        Ok(self.view(View::Reshape, shape))
    }

    /// Each element `count` times along one more axis, the last.
    ///
    /// # Errors
    ///
    /// More axes or elements than there can be.
    #[track_caller]
    pub fn repeated(&self, count: usize) -> Result<Node> {
        let mut dims: SmallVec<[usize; 8]> = self.shape().iter().copied().chain([1]).collect();
        let one = Shape::new(&dims)?;
        if let Some(last) = dims.last_mut() {
            *last = count;
        }
        let many = countable("expand", &dims)?;
        if let Some(value) = self.known()
            && let Some(layout) = View::Reshape.apply(&value.layout, &one)
            && let Some(layout) = View::Expand.apply(&layout, &many)
        {
            return Ok(Node::from_value(crate::node::Value { buffer: value.buffer.clone(), layout }));
        }
        self.reshape(one)?.expand(many)
    }

    /// Axes reordered: axis `i` of the result is axis `axes[i]`.
    ///
    /// # Errors
    ///
    /// What is no permutation of the axes.
    #[track_caller]
    pub fn permute(&self, axes: &[usize]) -> Result<Node> {
        let rank = self.shape().rank();
        let mut seen = [false; MAX_RANK];
        let valid =
            axes.len() == rank && axes.iter().all(|&a| a < rank && !std::mem::replace(&mut seen[a], true));
        if !valid {
            return Err(shape_error(
                "permute",
                format!("{axes:?} is no permutation of the axes of {}", self.shape()),
            ));
        }
        if axes.iter().enumerate().all(|(i, &a)| i == a) {
            return Ok(self.clone());
        }
        // A permutation of a permutation is one: what is transposed twice is the thing itself. Where gradients are recorded
        // the one between is a step of the way, whose gradient can be asked for.
        if let (Op::View(View::Permute(first)), true) = (self.op(), self.is_pending() && !self.is_tracked())
            && let Some(source) = self.sources().first()
        {
            let through: SmallVec<[usize; 8]> = axes.iter().map(|&a| first[a] as usize).collect();
            return source.permute(&through);
        }
        let mut order = [0u8; MAX_RANK];
        let mut dims = [0usize; MAX_RANK];
        for (i, &a) in axes.iter().enumerate() {
            (order[i], dims[i]) = (a as u8, self.shape()[a]);
        }
        Ok(self.view(View::Permute(order), Shape::of(&dims[..rank])))
    }

    /// `len` positions along an axis from `start` by `step`; the caller has normalised them to the axis.
    ///
    /// # Errors
    ///
    /// Positions outside the axis, step 0.
    #[track_caller]
    pub fn slice(&self, axis: usize, start: usize, step: isize, len: usize) -> Result<Node> {
        let size = self.shape().get(axis).copied();
        let last = (len > 0).then(|| start as i128 + (len as i128 - 1) * step as i128);
        let fits = size.is_some_and(|n| last.is_none_or(|last| start < n && (0..n as i128).contains(&last)));
        if step == 0 || !fits {
            let text =
                format!("{len} positions from {start} by {step} along axis {axis} of {}", self.shape());
            return Err(Error::new("slice", ErrorKind::Value(text)));
        }
        if step == 1 && start == 0 && Some(len) == size {
            return Ok(self.clone());
        }
        let view = View::Slice { axis: axis as u8, start: start as i64, step: step as i64 };
        Ok(self.view(view, self.shape().with(axis, len)))
    }

    /// The diagonal of two axes that is `offset` beside the main one, of `len` positions: those axes go, and it becomes the last.
    ///
    /// # Errors
    ///
    /// An axis that is not there, or twice the same; positions outside the axes.
    #[track_caller]
    pub fn diagonal(&self, axes: [usize; 2], offset: i64, len: usize) -> Result<Node> {
        let rank = self.shape().rank();
        let [first, second] = axes;
        let fits = first < rank && second < rank && first != second && {
            let (down, right) = (offset.min(0).unsigned_abs() as usize, offset.max(0) as usize);
            len == 0 || len + down <= self.shape()[first] && len + right <= self.shape()[second]
        };
        if !fits {
            let text = format!("{len} positions of the diagonal {offset} of axes {first} and {second}");
            return Err(shape_error("diagonal", format!("{text} of {}", self.shape())));
        }
        let rest = (0..rank).filter(|axis| !axes.contains(axis)).map(|axis| self.shape()[axis]);
        let dims: SmallVec<[usize; 8]> = rest.chain([len]).collect();
        let view = View::Diagonal { axes: [first as u8, second as u8], offset };
        Ok(self.view(view, Shape::of(&dims)))
    }

    /// Windows of `size` positions along an axis, `count` of them, `step` apart: the axis counts them, and a new last one is within
    /// them.
    ///
    /// # Errors
    ///
    /// Windows outside the axis, step 0, an axis too many.
    #[track_caller]
    pub fn windows(&self, axis: usize, count: usize, size: usize, step: usize) -> Result<Node> {
        let rank = self.shape().rank();
        let fits = axis < rank && rank < MAX_RANK && step > 0 && {
            let last = count.saturating_sub(1).saturating_mul(step).saturating_add(size);
            count == 0 || last <= self.shape()[axis]
        };
        if !fits {
            let text = format!("{count} windows of {size} by {step} along axis {axis} of {}", self.shape());
            return Err(shape_error("unfold", text));
        }
        let shape = countable("unfold", &self.shape().with(axis, count).insert(rank, size))?;
        Ok(self.view(View::Windows { axis: axis as u8, step: step as i64 }, shape))
    }

    /// One position along an axis, which disappears.
    ///
    /// # Errors
    ///
    /// A position outside the axis.
    #[track_caller]
    pub fn select(&self, axis: usize, at: usize) -> Result<Node> {
        // One node, not two, for a row of memory that is there.
        if let Some(Ok(value)) = self.value()
            && !self.is_tracked()
            && !crate::replay::is_recording()
        {
            let layout = value.layout.select(axis, at as isize)?;
            return Ok(Node::from_value(crate::node::Value { buffer: value.buffer.clone(), layout }));
        }
        self.slice(axis, at, 1, 1)?.reshape(self.shape().remove(axis))
    }

    /// Broadcast to a shape.
    ///
    /// # Errors
    ///
    /// A shape that it does not broadcast to.
    #[track_caller]
    pub fn expand(&self, shape: Shape) -> Result<Node> {
        if shape == *self.shape() {
            return Ok(self.clone());
        }
        if Shape::broadcast(self.shape(), &shape) != Some(shape) {
            return Err(shape_error("expand", format!("{} does not broadcast to {shape}", self.shape())));
        }
        Ok(self.view(View::Expand, shape))
    }

    /// The elements that `region` reaches in this node's elements, laid out densely.
    ///
    /// # Errors
    ///
    /// A region beyond the node.
    #[track_caller]
    pub fn region(&self, region: Layout) -> Result<Node> {
        if region.extent().is_some_and(|(_, last)| last >= self.shape().numel()) {
            return Err(shape_error(
                "region",
                format!("a region of shape {} beyond {}", region.shape(), self.shape()),
            ));
        }
        let shape = *region.shape();
        Ok(self.view(View::Region(Box::new(region)), shape))
    }

    /// A reduction over axes (a bit each); without axes, the node itself.
    ///
    /// # Errors
    ///
    /// max, min, argmax, argmin of no elements; floats of eight bits.
    #[track_caller]
    pub fn reduce(&self, kind: ReduceKind, axes: AxisSet, keepdim: bool) -> Result<Node> {
        if self.dtype().is_narrow() {
            return Err(self.dtype().not_computed(kind.name()));
        }
        let rank = self.shape().rank();
        let mut kept = [0usize; MAX_RANK];
        let (mut n, mut count) = (0, 1usize);
        for (axis, &size) in self.shape().iter().enumerate() {
            let reduced = axes >> axis & 1 == 1;
            if reduced {
                count = count.saturating_mul(size);
            }
            if !reduced || keepdim {
                kept[n] = if reduced { 1 } else { size };
                n += 1;
            }
        }
        if count == 0 && kind.needs_elements() {
            let text = format!("no elements to reduce in shape {}", self.shape());
            return Err(Error::new(kind.name(), ErrorKind::Empty(text)));
        }
        let dtype = kind.result(self.dtype());
        if axes & ((1u32 << rank) - 1) as AxisSet == 0 && !kind.is_arg() {
            return Ok(self.cast(dtype));
        }
        let shape = Shape::of(&kept[..n]);
        if let Some((source, axes)) = self.before_merging(kind, axes) {
            return source.reduce(kind, axes, false)?.reshape(shape);
        }
        let op = Op::Reduce(kind, axes);
        Ok(Node::pending(op, smallvec![self.clone()], shape, dtype, self.device()))
    }

    /// What a view that only merges axes sees, and the axes over which it is reduced there: a reduction over the first axes that is to share a launch
    /// with the elementwise work that it reads has to have the same space (the gradient of a bias, of what a product had as a matrix).
    fn before_merging(&self, kind: ReduceKind, axes: AxisSet) -> Option<(Node, AxisSet)> {
        // Where histories are recorded the view is a part of one, or parts with one.
        if crate::is_tracking() {
            return None;
        }
        let Op::View(View::Reshape) = self.op() else { return None };
        let sources = self.sources();
        let source = sources.first()?;
        let rank = self.shape().rank();
        let keeps_last = rank > 1 && axes >> (rank - 1) & 1 == 0 && self.shape()[rank - 1] > 1;
        if kind.is_arg() || !keeps_last || !matches!(source.op(), Op::Map(_)) {
            return None;
        }
        // The sum of a single element is not always that element: −0 and nothing are 0.
        if (0..rank).any(|axis| axes >> axis & 1 == 1 && self.shape()[axis] == 1) {
            return None;
        }
        let mut inner = source.shape().iter().enumerate().peekable();
        let mut over: AxisSet = 0;
        for (axis, &size) in self.shape().iter().enumerate() {
            let mut merged = 1;
            // Axes of size 1 behind it belong to it as well.
            while let Some(&(d, &n)) = inner.peek() {
                if merged == size && n != 1 {
                    break;
                }
                merged *= n;
                over |= (axes >> axis & 1) << d;
                inner.next();
            }
            if merged != size {
                return None;
            }
        }
        Some((source.clone(), over))
    }

    /// The matrix product of `[…, m, k]` and `[…, k, n]`; batch dimensions broadcast. Operands have at least two axes.
    ///
    /// # Errors
    ///
    /// Inner sizes that differ, batches that do not broadcast, dtypes that differ, unlike devices.
    #[track_caller]
    pub fn matmul(&self, other: &Node) -> Result<Node> {
        let device = same_device("matmul", &[self, other])?;
        if let Some(narrow) = [self, other].into_iter().find(|x| x.dtype().is_narrow()) {
            return Err(narrow.dtype().not_computed("matmul"));
        }
        let [of_left, of_right, shape] = MatMul::shapes(&self.shaped(), &other.shaped())?;
        let (left, right) = (self.expand(of_left)?, other.expand(of_right)?);
        let op = Op::Kernel(Kernel::Library(MatMul.into()));
        Ok(Node::pending(op, smallvec![left, right], shape, self.dtype(), device))
    }

    /// `out[…, j, …] = self[…, index[…, j, …], …]` along `axis`; the index (i64) has the result's shape, and all axes but
    /// `axis` agree.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, an index that is not i64. An index out of range is found when the value is computed.
    #[track_caller]
    pub fn gather(&self, axis: usize, index: &Node) -> Result<Node> {
        self.gathered(axis, index, false, false, called("gather"))
    }

    /// As [`Node::gather`] by positions of which none is named twice in a line: those that a sort found. It is not checked; where one
    /// is, gradients are wrong.
    ///
    /// # Errors
    ///
    /// As [`Node::gather`].
    #[track_caller]
    pub fn gather_each_once(&self, axis: usize, index: &Node) -> Result<Node> {
        self.gathered(axis, index, false, true, called("gather"))
    }

    #[track_caller]
    fn gathered(
        &self,
        axis: usize,
        index: &Node,
        wraps: bool,
        once: bool,
        called: &'static str,
    ) -> Result<Node> {
        let kernel = Gather { axis: axis.min(u8::MAX.into()) as u8, lead: 0, wraps, once, called };
        Node::library(kernel.into(), &[self, index])
    }

    /// As [`Node::gather`]; negative indices count from the end.
    ///
    /// # Errors
    ///
    /// As [`Node::gather`].
    #[track_caller]
    pub fn gather_from_both_ends(&self, axis: usize, index: &Node) -> Result<Node> {
        self.gathered(axis, index, true, false, called("index"))
    }

    /// Zeros of `size` positions along `axis`, with `self[…, j, …]` added at `index[…, j, …]`, in order.
    ///
    /// # Errors
    ///
    /// As [`Node::gather`].
    #[track_caller]
    pub fn scatter_add(&self, axis: usize, index: &Node, size: usize) -> Result<Node> {
        let (axis, called) = (axis.min(u8::MAX.into()) as u8, called("scatter_add"));
        let kernel = ScatterAdd { axis, lead: 0, size, once: false, called };
        Node::library(kernel.into(), &[self, index])
    }

    /// A dense result of `shape`, zeros or a copy of `base`, with this node's elements written through `region`, a view
    /// of it.
    ///
    /// # Errors
    ///
    /// A region of another shape than this node's or beyond the result, a base of another shape, dtype or device.
    #[track_caller]
    pub fn write_into(&self, base: Option<&Node>, shape: Shape, region: Layout) -> Result<Node> {
        let inside = region.extent().is_none_or(|(_, last)| last < shape.numel());
        if region.shape() != self.shape() || !inside || base.is_some_and(|b| *b.shape() != shape) {
            let text = format!("values of shape {} do not fit a region of {shape}", self.shape());
            return Err(shape_error("write", text));
        }
        let mut sources: Sources = smallvec![self.clone()];
        if let Some(base) = base {
            same_device("write", &[self, base])?;
            if base.dtype() != self.dtype() {
                let text = format!("writes {} into {}", self.dtype(), base.dtype());
                return Err(Error::new("write", ErrorKind::DType(text)));
            }
            sources.push(base.clone());
        }
        let op = Op::Kernel(Kernel::Write { region: Box::new(region) });
        Ok(Node::pending(op, sources, shape, self.dtype(), self.device()))
    }

    /// A library kernel of operands, which are copied where they do not lie as it takes them.
    ///
    /// # Errors
    ///
    /// Operands that the kernel does not take, or on different devices.
    #[track_caller]
    pub fn library(kernel: Library, operands: &[&Node]) -> Result<Node> {
        let device = same_device(kernel.name(), operands)?;
        let described: SmallVec<[Shaped; 4]> = operands.iter().map(|n| n.shaped()).collect();
        let Shaped { shape, dtype } = kernel.result(&described)?;
        let shape = countable(kernel.name(), &shape)?;
        // Asked for once an operand lies so. A device that cannot be asked has no kernels either.
        let mut innermost: Option<Innermost> = None;
        let mut lies = |(at, n): (usize, &&Node)| {
            kernel.takes_any_layout()
                || n.is_dense()
                || n.lies_innermost()
                    && innermost
                        .get_or_insert_with(|| {
                            taken_innermost(&kernel, &described, device).unwrap_or_default()
                        })
                        .operands
                        .get(at)
                        == Some(&true)
        };
        let sources =
            operands.iter().enumerate().map(|(at, n)| if lies((at, n)) { (*n).clone() } else { n.copy() });
        Ok(Node::pending(Op::Kernel(Kernel::Library(kernel)), sources.collect(), shape, dtype, device))
    }

    /// This value, seen as `[outer, n, inner]`, with `value` (`[outer, count, inner]`, or one element without axes) written at `index`
    /// (`[count]`, i64) of the axis in the middle: of several at one place the last. The indices are checked before anything is
    /// written, and `axis` is the one that an error names. Memory that nobody wants any more is written to where it is.
    ///
    /// # Errors
    ///
    /// Shapes and dtypes that do not fit, operands on different devices.
    #[track_caller]
    pub fn put(&self, value: &Node, index: &Node, put: Put, axis: usize) -> Result<Node> {
        Node::library(put.into(), &[self, value, &index.guard(axis, put.n)])
    }

    /// The same elements on another device; the node itself where it is there already.
    ///
    /// # Errors
    ///
    /// A device that is not there.
    #[track_caller]
    pub fn to_device(&self, device: Device) -> Result<Node> {
        if self.device() == device {
            return Ok(self.clone());
        }
        device.check()?;
        // What is copied lies densely.
        let dense = self.is_dense();
        let source = if dense { self.clone() } else { self.copy() };
        let op = Op::Kernel(Kernel::Transfer);
        let moved = Node::pending(op, smallvec![source], *self.shape(), self.dtype(), device);
        Ok(if self.lies_innermost() { moved.copy_lying(true) } else { moved })
    }

    /// Whether the value lies, or will lie, in row-major order without gaps.
    pub fn is_dense(&self) -> bool {
        let is_reshape = || self.is_pending() && matches!(self.op(), Op::View(View::Reshape));
        self.is_in_rows() || is_reshape() && self.sources().first().is_some_and(Node::is_dense)
    }

    /// Nodes one after the other along an axis.
    ///
    /// # Errors
    ///
    /// No nodes, shapes that differ off the axis, dtypes or devices that differ.
    #[track_caller]
    pub fn concat(nodes: &[&Node], axis: usize) -> Result<Node> {
        let Some(first) = nodes.first() else {
            return Err(Error::new("cat", ErrorKind::Value("needs at least one tensor".into())));
        };
        let device = same_device("cat", nodes)?;
        let rank = first.shape().rank();
        let mut size = 0;
        for node in nodes {
            let fits = axis < rank
                && node.shape().rank() == rank
                && first.shape().with(axis, 0) == node.shape().with(axis, 0);
            if !fits || node.dtype() != first.dtype() {
                let text = format!(
                    "{} {} and {} {} do not fit along axis {axis}",
                    first.dtype(),
                    first.shape(),
                    node.dtype(),
                    node.shape()
                );
                return Err(shape_error("cat", text));
            }
            size = node.shape()[axis].saturating_add(size);
        }
        let op = Op::Kernel(Kernel::Concat { axis: axis as u8 });
        let sources = nodes.iter().map(|&n| n.clone()).collect();
        let shape = countable("cat", &first.shape().with(axis, size))?;
        Ok(Node::pending(op, sources, shape, first.dtype(), device))
    }
}
