//! The handle: a cell that holds a node, and views of cells that write through.

use crate::caller::{named, public};
use mg_device::{Buffer, DType, Device, Element, Error, ErrorKind, Layout, Result, Shape};
use mg_graph::{Node, Value, View};
use smallvec::SmallVec;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// A tensor: N-dimensional, of one dtype, on one device, computed when its value is needed.
///
/// Cloning gives another handle on the same tensor. Operations are methods and operators; each checks shapes, dtypes
/// and devices at once and computes nothing. `try_` twins answer with a `Result`; the plain methods panic with the same
/// text and the caller's line, as slices do.
///
/// ```
/// use mg_autograd::Tensor;
///
/// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0]).requires_grad_(true)?;
/// let y = (&x * &x).sum();
/// y.backward()?;
/// assert_eq!(y.item::<f32>()?, 14.0);
/// assert_eq!(x.grad().unwrap().to_vec::<f32>()?, [2.0, 4.0, 6.0]);
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone)]
pub struct Tensor(pub(crate) Arc<Cell>);

pub(crate) struct Cell {
    node: Mutex<Node>,
    /// For views: what they are a view of.
    view: Option<ViewOf>,
    grad: Mutex<Option<Node>>,
    /// Set by `requires_grad_`: a leaf, whose gradient is kept.
    leaf: AtomicBool,
    /// Taken by whoever writes to it, itself or through a view: what a view leaves as it was must not be older than what
    /// another thread has written.
    writing: Mutex<()>,
}

struct ViewOf {
    base: Tensor,
    view: Seen,
    /// The base's node that this view's node was made from.
    of: Mutex<u64>,
}

/// What a tensor is of its base.
#[derive(PartialEq)]
pub(crate) enum Seen {
    View(View),
    /// A position along an axis: the slice there, and its shape without the axis.
    Select {
        axis: usize,
        at: usize,
    },
}

impl Seen {
    /// The node of it, of another node of the base.
    fn of(&self, base: &Node, shape: Shape) -> Result<Node> {
        match self {
            Seen::View(view) => view_of(base, view, shape),
            &Seen::Select { axis, at } => base.select(axis, at),
        }
    }

    /// Where it lies in a base that is laid out densely; `None` where elements share a place.
    fn region(&self, base: &Shape, shape: &Shape) -> Option<Layout> {
        let dense = Layout::contiguous(*base);
        match self {
            Seen::View(View::Expand) => None,
            Seen::View(view) => view.apply(&dense, shape),
            &Seen::Select { axis, at } => dense.select(axis, at as isize).ok(),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is replaced whole, so a panic elsewhere leaves it sound.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Drop for Cell {
    fn drop(&mut self) {
        if let Ok(node) = self.node.get_mut() {
            node.let_go();
        }
    }
}

impl Tensor {
    /// A handle on a node.
    pub fn from_node(node: Node) -> Tensor {
        node.hold();
        if mg_graph::is_eager() && node.is_pending() {
            // The failure stays with the node, for its readers.
            let _ = mg_graph::realize(&[&node]);
        }
        Tensor(Arc::new(Cell {
            node: Mutex::new(node),
            view: None,
            grad: Mutex::new(None),
            leaf: AtomicBool::new(false),
            writing: Mutex::new(()),
        }))
    }

    /// A handle on a view of `self`, whose node is `own`, through which `self` can be written.
    #[track_caller]
    pub(crate) fn seen_as(&self, own: &Node, node: Node, view: Seen) -> Tensor {
        if node.is(own) {
            return self.clone();
        }
        node.hold();
        let of = Mutex::new(own.sequence());
        Tensor(Arc::new(Cell {
            node: Mutex::new(node),
            view: Some(ViewOf { base: self.clone(), view, of }),
            grad: Mutex::new(None),
            leaf: AtomicBool::new(false),
            writing: Mutex::new(()),
        }))
    }

    /// The node that the tensor stands for now. Views follow what they are a view of.
    pub fn node(&self) -> Node {
        let Some(view) = &self.0.view else { return locked(&self.0.node).clone() };
        let base = view.base.node();
        let before = {
            let of = locked(&view.of);
            let node = locked(&self.0.node).clone();
            if *of == base.sequence() {
                return node;
            }
            node
        };
        let fresh = {
            let _at = mg_graph::at(before.location());
            view.view.of(&base, *before.shape()).unwrap_or_else(|e| Node::failed(e, &before))
        };
        fresh.hold();
        let mut of = locked(&view.of);
        let old = std::mem::replace(&mut *locked(&self.0.node), fresh.clone());
        *of = base.sequence();
        drop(of);
        old.let_go();
        fresh
    }

    /// Makes the tensor (and what it is a view of) stand for another node of the same shape, dtype and device.
    pub(crate) fn rebind(&self, node: Node) -> Result<()> {
        let old = {
            let _writing = locked(&self.root().0.writing);
            self.replace(node)?
        };
        // Not under a lock: its memory may be somebody's who looks at this tensor when it goes.
        drop(old);
        Ok(())
    }

    /// As [`Tensor::rebind`], under the lock of whoever writes; answers with what the root stood for.
    fn replace(&self, node: Node) -> Result<Node> {
        if let Some(view) = &self.0.view {
            let base = view.base.node();
            let Some(region) = view.view.region(base.shape(), node.shape()) else {
                return Err(Error::new(
                    "write",
                    ErrorKind::Value("a broadcast view cannot be written to".into()),
                ));
            };
            return view.base.replace(node.write_into(Some(&base), *base.shape(), region)?);
        }
        crate::jit::note_change(&self.0);
        node.hold();
        if self.0.leaf.load(Ordering::Relaxed) {
            node.set_tracked(true);
            self.tag(&node);
        }
        let old = std::mem::replace(&mut *locked(&self.0.node), node);
        old.let_go();
        Ok(old)
    }

    fn tag(&self, node: &Node) {
        let weak: Weak<Cell> = Arc::downgrade(&self.0);
        let weak: Weak<dyn Any + Send + Sync> = weak;
        node.set_tag(weak);
        // Gradients end here: what computed the value is not walked, and must not be kept alive by it.
        node.release();
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> Shape {
        *self.node().shape()
    }

    /// The size of one axis; negative axes count from the end.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[track_caller]
    pub fn size(&self, axis: isize) -> Result<usize> {
        public("size", || {
            let shape = self.shape();
            Ok(shape[mg_device::normalize_axis(axis, shape.rank())?])
        })
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape().rank()
    }

    /// The number of elements.
    pub fn numel(&self) -> usize {
        self.shape().numel()
    }

    /// The dtype.
    pub fn dtype(&self) -> DType {
        self.node().dtype()
    }

    /// The device.
    pub fn device(&self) -> Device {
        self.node().device()
    }

    /// The same values on another device, through which gradients flow; the tensor itself where it is there already.
    ///
    /// ```
    /// use mg_autograd::Tensor;
    /// use mg_device::Device;
    ///
    /// let x = Tensor::from_slice(&[1.0f32, 2.0]);
    /// assert_eq!(x.to(Device::cpu())?.to_vec::<f32>()?, [1.0, 2.0]);
    /// if let Ok(gpu) = Device::cuda(0) {
    ///     assert_eq!((&x.to(gpu)? + &x.to(gpu)?).to_vec::<f32>()?, [2.0, 4.0]);
    ///     assert!(x.to(gpu)?.try_add(&x).is_err());
    /// }
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A device that is not there.
    #[track_caller]
    pub fn to(&self, device: Device) -> Result<Tensor> {
        if self.device() == device {
            return Ok(self.clone());
        }
        Ok(Tensor::from_node(self.node().to_device(device)?))
    }

    /// Moves the tensor itself to another device, and its gradient: all handles and views of it, an optimiser's too, see it
    /// there. What was computed from it stays where it is; [`Tensor::to`] makes another tensor instead.
    ///
    /// # Errors
    ///
    /// A view, whose memory is another tensor's; a device that is not there; memory. Then nothing was moved.
    #[track_caller]
    pub fn move_to(&self, device: Device) -> Result<()> {
        public("move_to", || {
            if self.0.view.is_some() {
                let text = "a view lies where the tensor that it is a view of lies: move that one";
                return Err(Error::new("move_to", ErrorKind::Value(text.into())));
            }
            if self.device() == device {
                return Ok(());
            }
            let value = self.detach().to(device)?;
            let grad = self.grad().map(|g| g.detach().to(device)).transpose()?;
            Tensor::realize_all(std::iter::once(&value).chain(&grad))?;
            self.rebind(value.node())?;
            self.set_grad(grad.as_ref())
        })
    }

    /// Whether gradients flow to it.
    pub fn requires_grad(&self) -> bool {
        self.node().is_tracked()
    }

    /// Whether it is where gradients end: made by the user rather than by operations on what requires a gradient.
    pub fn is_leaf(&self) -> bool {
        self.0.leaf.load(Ordering::Relaxed) || !self.requires_grad()
    }

    /// Makes it a leaf whose gradient is kept, or a constant.
    ///
    /// # Errors
    ///
    /// Dtypes that are not floating point; results of operations, which cannot become constants in place (use
    /// [`Tensor::detach`]).
    #[track_caller]
    pub fn requires_grad_(self, on: bool) -> Result<Tensor> {
        let node = self.node();
        if on && !node.dtype().is_float() {
            let text = format!("only floating-point tensors can require a gradient, got {}", node.dtype());
            return Err(Error::new("requires_grad_", ErrorKind::DType(text)));
        }
        let leaf = self.0.leaf.load(Ordering::Relaxed);
        if node.is_tracked() && !leaf {
            if on {
                return Ok(self);
            }
            let text = "only leaves can be made constants in place; use detach()";
            return Err(Error::new("requires_grad_", ErrorKind::Gradient(text.into())));
        }
        if on == leaf {
            return Ok(self);
        }
        self.0.leaf.store(on, Ordering::Relaxed);
        // A node of its own, so that others who share the value do not become leaves with it.
        let fresh = fresh_node(&node);
        fresh.hold();
        if on {
            fresh.set_tracked(true);
            self.tag(&fresh);
        }
        let old = std::mem::replace(&mut *locked(&self.0.node), fresh);
        old.let_go();
        Ok(self)
    }

    /// The same value, cut off from what computed it: no gradient flows through it.
    #[track_caller]
    pub fn detach(&self) -> Tensor {
        let node = self.node();
        if !node.is_tracked() {
            return Tensor::from_node(node);
        }
        Tensor::from_node(fresh_node(&node))
    }

    /// The gradient that [`Tensor::backward`](crate::Tensor::backward) left, if any.
    pub fn grad(&self) -> Option<Tensor> {
        locked(&self.0.grad).clone().map(Tensor::from_node)
    }

    /// Sets the gradient, or removes it.
    ///
    /// # Errors
    ///
    /// Another shape, dtype or device than the tensor's.
    #[track_caller]
    pub fn set_grad(&self, grad: Option<&Tensor>) -> Result<()> {
        let node = self.node();
        let grad = grad.map(Tensor::node);
        if let Some(g) = &grad
            && (g.shape() != node.shape() || g.dtype() != node.dtype() || g.device() != node.device())
        {
            let text = format!(
                "a gradient {} {} on {} for a tensor {} {} on {}",
                g.dtype(),
                g.shape(),
                g.device(),
                node.dtype(),
                node.shape(),
                node.device()
            );
            return Err(Error::new("set_grad", ErrorKind::Shape(text)));
        }
        // Dropped after the lock, as in `zero_grad`.
        let old = std::mem::replace(&mut *locked(&self.0.grad), grad);
        drop(old);
        Ok(())
    }

    /// Removes the gradient.
    pub fn zero_grad(&self) {
        crate::jit::note_change(&self.0);
        let old = locked(&self.0.grad).take();
        drop(old);
    }

    /// Computes the value now.
    ///
    /// # Errors
    ///
    /// Whatever computing it fails with: memory, an index out of range.
    pub fn realize(&self) -> Result<&Tensor> {
        mg_graph::realize(&[&self.node()])?;
        Ok(self)
    }

    /// Computes several values together, in one plan.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`].
    pub fn realize_all<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<()> {
        let nodes: SmallVec<[Node; 8]> = tensors.into_iter().map(Tensor::node).collect();
        mg_graph::realize(&nodes.iter().collect::<SmallVec<[&Node; 8]>>())
    }

    /// The computed value: memory and layout.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`].
    #[track_caller]
    pub fn value(&self) -> Result<Value> {
        mg_graph::note_host_read();
        let node = self.node();
        mg_graph::realize(&[&node])?;
        match node.value() {
            Some(Ok(value)) => Ok(value.clone()),
            Some(Err(error)) => Err(error.clone()),
            None => Err(Error::new("realize", ErrorKind::Internal("the value was not computed".into()))),
        }
    }

    /// The computed value in the host's memory: the value itself, or a copy of what lies on another device.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`]; what the device's work failed with.
    #[track_caller]
    pub fn host_value(&self) -> Result<Value> {
        let value = self.value()?;
        if value.buffer.device().is_cpu() {
            return Ok(value);
        }
        let Some((first, last)) = value.layout.extent() else {
            let buffer = Buffer::uninit(Device::cpu(), value.buffer.dtype(), 0)?;
            let layout = Layout::new(*value.layout.shape(), value.layout.strides(), 0)?;
            return Ok(Value { buffer, layout });
        };
        if last - first + 1 > 2 * value.layout.numel() {
            // Scattered elements are brought together first.
            return Tensor::from_node(Node::from_value(value).copy()).host_value();
        }
        let buffer = value.buffer.read(first, last - first + 1)?;
        let offset = value.layout.offset() - first;
        Ok(Value { buffer, layout: Layout::new(*value.layout.shape(), value.layout.strides(), offset)? })
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    ///
    /// Another element type than the tensor's dtype; as [`Tensor::realize`].
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let value = self.host_value()?;
        let data = value.buffer.as_slice::<T>().map_err(named("to_vec"))?;
        if value.layout.is_contiguous() {
            let start = value.layout.offset();
            return Ok(data[start..start + value.layout.numel()].to_vec());
        }
        Ok(value.layout.offsets().map(|at| data[at]).collect())
    }

    /// The only element, converted to `T`.
    ///
    /// # Errors
    ///
    /// More or fewer elements than one; as [`Tensor::realize`].
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        let value = self.host_value()?;
        if value.layout.numel() != 1 {
            let text = format!("item() takes a tensor of one element, got shape {}", value.layout.shape());
            return Err(Error::new("item", ErrorKind::Value(text)));
        }
        let at = value.layout.offset();
        if T::DTYPE == value.buffer.dtype() {
            return Ok(value.buffer.as_slice::<T>().map_err(named("item"))?[at]);
        }
        if value.buffer.dtype() == DType::I64 {
            return Ok(T::from_i64(value.buffer.as_slice::<i64>().map_err(named("item"))?[at]));
        }
        Ok(T::from_f64(element(&value.buffer, at).map_err(named("item"))?))
    }

    /// The elements in row-major order, whatever the dtype, as f64.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`].
    #[track_caller]
    pub fn to_f64_vec(&self) -> Result<Vec<f64>> {
        let value = self.host_value()?;
        let elements: Result<_> = value.layout.offsets().map(|at| element(&value.buffer, at)).collect();
        elements.map_err(named("to_f64_vec"))
    }

    pub(crate) fn grad_slot(cell: &Cell) -> MutexGuard<'_, Option<Node>> {
        locked(&cell.grad)
    }

    /// What this is a view of in the end; the tensor itself where it is no view.
    pub(crate) fn root(&self) -> &Tensor {
        let mut at = self;
        while let Some(view) = &at.0.view {
            at = &view.base;
        }
        at
    }

    /// Whether it is a leaf that requires a gradient.
    pub(crate) fn keeps_grad(&self) -> bool {
        self.0.leaf.load(Ordering::Relaxed)
    }

    /// Whether there are other handles on this tensor.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Whether `self` and `other` are handles on one tensor.
    pub fn is(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A view's node.
#[track_caller]
pub(crate) fn view_of(base: &Node, view: &View, shape: Shape) -> Result<Node> {
    match view {
        View::Reshape => base.reshape(shape),
        View::Permute(axes) => {
            let axes: Vec<usize> = axes[..shape.rank()].iter().map(|&a| a as usize).collect();
            base.permute(&axes)
        }
        &View::Slice { axis, start, step } => {
            base.slice(axis as usize, start as usize, step as isize, shape[axis as usize])
        }
        View::Expand => base.expand(shape),
        View::Region(region) => base.region(**region),
    }
}

/// A node with the same value (or failure) and no history.
#[track_caller]
pub(crate) fn fresh_node(node: &Node) -> Node {
    match node.value() {
        Some(Ok(value)) => Node::from_value(value.clone()),
        Some(Err(error)) => Node::failed(error.clone(), node),
        None => {
            // The value is pending: a copy of it that nobody walks through.
            let copy = node.alias();
            copy.set_tracked(false);
            copy
        }
    }
}

/// One element as f64.
pub(crate) fn element(buffer: &Buffer, at: usize) -> Result<f64> {
    fn get<T: Element>(buffer: &Buffer, at: usize) -> Result<f64> {
        Ok(buffer.as_slice::<T>()?[at].to_f64())
    }
    match buffer.dtype() {
        DType::F64 => get::<f64>(buffer, at),
        DType::F32 => get::<f32>(buffer, at),
        DType::F16 => get::<mg_device::f16>(buffer, at),
        DType::BF16 => get::<mg_device::bf16>(buffer, at),
        DType::I64 => get::<i64>(buffer, at),
        DType::I32 => get::<i32>(buffer, at),
        DType::U8 => get::<u8>(buffer, at),
        DType::Bool => get::<bool>(buffer, at),
    }
}
