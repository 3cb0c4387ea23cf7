//! The handle: what it stands for, what it tells of itself, and its gradient.

mod batch;
mod host;
pub(crate) mod memory;
mod name;

pub(crate) use host::element;
pub(crate) use memory::{Kept, Lies, Line, MemoryId, Place};
pub use memory::{Sharing, in_place};

use crate::caller::public;
use crate::hooks::Watch;
use crate::jit;
use memory::{Held, State, locked};
use mg_device::{Buffer, DType, Device, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, Value};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

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
    state: Mutex<State>,
    /// The gradient: one tensor, for everybody who reads it.
    grad: Mutex<Option<Tensor>>,
    /// Set by `requires_grad_`: a leaf, whose gradient is kept.
    leaf: AtomicBool,
    /// Set by `retain_grad`: the gradient is kept though it is no leaf.
    pub(crate) retains: AtomicBool,
    /// A leaf's hooks.
    pub(crate) watch: OnceLock<Arc<Watch>>,
    /// How often it was written to while nobody shared its memory.
    writes: AtomicU32,
}

/// What lies in page-locked memory that is all its own, and is no part of what is being recorded.
fn pinned(node: &Node) -> Option<Value> {
    let value = node.value()?.as_ref().ok()?;
    let (buffer, layout) = (&value.buffer, &value.layout);
    let is_whole = buffer.is_pinned() && layout.is_contiguous() && layout.numel() == buffer.len();
    (is_whole && !mg_graph::is_recording() && !node.is_traced()).then(|| value.clone())
}

impl Tensor {
    /// A handle on a node: a tensor with memory of its own.
    #[track_caller]
    pub fn from_node(node: Node) -> Tensor {
        let held = Held::new(node);
        held.settle();
        Tensor::from_held(held.apart())
    }

    /// A tensor on memory that is there, which may be somebody else's: see [`Buffer::from_foreign`](mg_device::Buffer::from_foreign).
    #[track_caller]
    pub fn on(value: Value) -> Tensor {
        Tensor::from_held(Held::new(Node::from_value(value)))
    }

    /// A gradient that nobody has read: computed along with others where that is free.
    pub(crate) fn unread(node: Node) -> Tensor {
        Tensor::from_held(Held::unread(node))
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> Shape {
        self.asked_facts().shape
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
        self.asked_facts().dtype
    }

    /// The device.
    pub fn device(&self) -> Device {
        self.asked_facts().device
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
        let node = self.node();
        if let Some(value) = pinned(&node).filter(|_| device.is_cuda() && !self.is_tracked()) {
            // The device takes it by itself, from now on; what is computed meanwhile needs not wait.
            return Tensor::from_buffer(value.buffer.to_device(device)?, *value.layout.shape());
        }
        Ok(Tensor::from_node(node.to_device(device)?))
    }

    /// A copy in page-locked memory of the host, of which [`Tensor::to`] makes a copy on a device while that computes: for batches, where they are made.
    /// The tensor itself where it is there already, where there is no CUDA device, and where gradients or a recorded step have to know it.
    ///
    /// # Errors
    ///
    /// A tensor on another device; as [`Tensor::realize`]; memory.
    #[track_caller]
    pub fn pin_memory(&self) -> Result<Tensor> {
        if !self.device().is_cpu() {
            let text = format!("takes a tensor on the host, got one on {}", self.device());
            return Err(Error::new("pin_memory", ErrorKind::Device(text)));
        }
        let node = self.node();
        let is_looked_at = mg_graph::is_recording() || node.is_traced() || self.is_tracked();
        if is_looked_at || pinned(&node).is_some() || !Device::is_cuda_available() {
            return Ok(self.clone());
        }
        let value = self.dense_value()?;
        let (n, dtype) = (value.layout.numel(), value.buffer.dtype());
        let buffer = Buffer::pinned(dtype, n)?;
        // SAFETY: the buffer is new and holds as many elements; those of the value lie one after the other.
        unsafe {
            let from = value.buffer.as_ptr().add(value.layout.offset() * dtype.size());
            buffer.as_mut_ptr().copy_from_nonoverlapping(from, n * dtype.size());
        }
        Tensor::from_buffer(buffer, *value.layout.shape())
    }

    /// Whether it lies in page-locked memory of the host; what was not computed yet does not.
    pub fn is_pinned(&self) -> bool {
        matches!(self.node().value(), Some(Ok(value)) if value.buffer.is_pinned())
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
            if self.layout().is_some() {
                let text = "a view lies where the tensor that it is a view of lies: move that one";
                return Err(Error::new("move_to", ErrorKind::Value(text.into())));
            }
            if self.device() == device {
                return Ok(());
            }
            let value = self.snapshot().to(device)?;
            let grad = self.grad().map(|g| Ok((g.snapshot().to(device)?, g))).transpose()?;
            Tensor::realize_all(std::iter::once(&value).chain(grad.iter().map(|(value, _)| value)))?;
            // Written through, so that views see it too.
            self.write(value.node())?;
            match grad {
                Some((value, grad)) => grad.write(value.node()),
                None => Ok(()),
            }
        })
    }

    /// Whether it is where gradients end: made by the user rather than by operations on what requires a gradient.
    pub fn is_leaf(&self) -> bool {
        !self.requires_grad() || self.0.leaf.load(Ordering::Relaxed)
    }

    /// Makes it a leaf whose gradient is kept, or a constant.
    ///
    /// # Errors
    ///
    /// Dtypes that are not floating point; results of operations, which cannot become constants in place (use
    /// [`Tensor::detach`]).
    #[track_caller]
    pub fn requires_grad_(self, on: bool) -> Result<Tensor> {
        let dtype = self.dtype();
        if on && !dtype.is_float() {
            let text = format!("only floating-point tensors can require a gradient, got {dtype}");
            return Err(Error::new("requires_grad_", ErrorKind::DType(text)));
        }
        let leaf = self.keeps_grad();
        if !leaf && self.requires_grad() {
            if on {
                return Ok(self);
            }
            let text = "only leaves can be made constants in place; use detach()";
            return Err(Error::new("requires_grad_", ErrorKind::Gradient(text.into())));
        }
        if on != leaf {
            self.set_leaf(on);
        }
        Ok(self)
    }

    /// The gradient that [`Tensor::backward`](crate::Tensor::backward) left, if any: the same tensor each time, which later
    /// backward passes add to.
    pub fn grad(&self) -> Option<Tensor> {
        let grad = self.grad_unread()?;
        grad.count();
        Some(grad)
    }

    /// The gradient, without being somebody who has read it.
    pub(crate) fn grad_unread(&self) -> Option<Tensor> {
        let grad = self.grad_now();
        if mg_graph::is_recording() {
            jit::note_grad(self, Some(grad.clone()));
        }
        grad
    }

    /// As [`Tensor::grad_unread`], which no recording is told of.
    pub(crate) fn grad_now(&self) -> Option<Tensor> {
        let grad = locked(&self.0.grad).clone()?;
        let waiting = grad.current();
        // Where something has failed since, it may have been what this waits for.
        if waiting.is_pending() && waiting.sequence() < mg_graph::last_failure() && !mg_graph::is_recording()
        {
            let _ = mg_graph::realize_quietly(&[&waiting]);
        }
        // One that could not be computed, as somebody was told, has not come to be.
        let failed = matches!(grad.current().value(), Some(Err(error)) if error.is_reported());
        if failed {
            let old = locked(&self.0.grad).take();
            drop(old);
            return None;
        }
        Some(grad)
    }

    /// Replaces the gradient.
    pub(crate) fn put_grad(&self, grad: Option<Tensor>) {
        if mg_graph::is_recording() {
            jit::note_grad(self, None);
        }
        match &grad {
            Some(grad) => grad.current().note_written(),
            None => jit::note_cleared(self),
        }
        let old = std::mem::replace(&mut *locked(&self.0.grad), grad);
        // Not under the lock: its memory may be somebody's who looks at this tensor when it goes.
        drop(old);
    }

    /// Sets the gradient, or removes it. The gradient is then that tensor.
    ///
    /// # Errors
    ///
    /// Another shape, dtype or device than the tensor's.
    #[track_caller]
    pub fn set_grad(&self, grad: Option<&Tensor>) -> Result<()> {
        if let Some(g) = grad {
            let (own, of) = (self.facts(), g.facts());
            if own.shape != of.shape || own.dtype != of.dtype || own.device != of.device {
                let text = format!(
                    "a gradient {} {} on {} for a tensor {} {} on {}",
                    of.dtype, of.shape, of.device, own.dtype, own.shape, own.device
                );
                return Err(Error::new("set_grad", ErrorKind::Shape(text)));
            }
        }
        self.put_grad(grad.cloned());
        Ok(())
    }

    /// Removes the gradient.
    pub fn zero_grad(&self) {
        self.put_grad(None);
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

    /// Whether it is a leaf that requires a gradient.
    pub(crate) fn keeps_grad(&self) -> bool {
        self.0.leaf.load(Ordering::Relaxed)
    }

    /// Whether it is data that the step which is being recorded has made: a number of the host, like those in its code.
    pub fn is_data_of_step(&self) -> bool {
        let node = self.current();
        let is_data = matches!(node.op(), mg_graph::Op::Source(mg_graph::SourceKind::Data));
        is_data && !node.is_pending() && mg_graph::is_recording() && !jit::was_there(&node)
    }

    /// Whether it stands for many examples at once, and has no value.
    pub fn current_is_traced(&self) -> bool {
        self.current().is_traced()
    }

    /// A number that two tensors have in common only if they are one; another tensor may have it when this one is gone.
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Whether `self` and `other` are handles on one tensor.
    pub fn is(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
