//! What tensors share: memory, and the history of what is in it.
//!
//! A tensor is alone with its memory until somebody looks at a part of it. Then there is a [`Line`]: the whole, with its history
//! for gradients, which the tensor and its views share; a view is a layout among the line's elements, however many views it was
//! made by. [`Tensor::detach`] and its like begin another line on the same memory: a [`Storage`] tells the lines of one memory
//! what the others have written. Nodes never change: writing gives a tensor, a line, a storage another node, and whoever stands
//! for a part of it finds out when it is asked next. docs/state.md says what that means to a user.

mod export;
mod line;
mod look;
mod node;
mod part;
mod place;
mod write;

pub(crate) use line::{Lies, Line, TakenIn};
pub(crate) use node::{Held, apart, has_history, untracked};
pub(crate) use place::{Kept, Place};

use crate::tensor::Tensor;
use line::Part;
use mg_device::cuda::Gpu;
use mg_device::{DType, Device, Layout, Shape};
use mg_graph::Node;
pub(crate) use mg_graph::locked;
use mg_kernels::library::lies_innermost;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};

/// How a tensor has its elements.
pub(crate) enum State {
    /// In memory that nobody else sees. `None` while a replayed step has it.
    Alone(Option<Held>),
    /// All of a line.
    Whole(Arc<Line>),
    /// Some of a line.
    Part(Box<Part>),
}

/// What a tensor is, whatever its value.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) shape: Shape,
    pub(crate) dtype: DType,
    pub(crate) device: Device,
}

impl Facts {
    pub(crate) fn of(node: &Node) -> Facts {
        Facts { shape: *node.shape(), dtype: node.dtype(), device: node.device() }
    }
}

thread_local! {
    static IN_PLACE: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
}

/// Held by whoever reads a tensor in order to change it, while it does, and by a replayed step while it takes what it changes: between the two nobody
/// else is to change it.
static CHANGING: Mutex<()> = Mutex::new(());

thread_local! {
    /// Whether this thread has it. (What is let go meanwhile may run anybody's code.)
    static IS_CHANGING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// From reading a tensor until it is changed, or taken.
pub(crate) struct Changing {
    /// None within another one of this thread's.
    guard: Option<MutexGuard<'static, ()>>,
}

impl Changing {
    pub(crate) fn begin() -> Changing {
        if IS_CHANGING.get() {
            return Changing { guard: None };
        }
        let guard = locked(&CHANGING);
        IS_CHANGING.set(true);
        Changing { guard: Some(guard) }
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        if self.guard.is_some() {
            IS_CHANGING.set(false);
        }
    }
}

/// Runs an operation that changes a tensor in place: what it reads of the tensor itself, it reads rightly.
pub fn in_place<R>(f: impl FnOnce() -> R) -> R {
    struct Restore(Option<u64>);
    impl Drop for Restore {
        fn drop(&mut self) {
            IN_PLACE.set(self.0);
        }
    }
    let before = IN_PLACE.get();
    let _changing = before.is_none().then(Changing::begin);
    let _restore = Restore(before);
    IN_PLACE.set(Some(before.unwrap_or_else(mg_graph::next_sequence)));
    f()
}

/// A memory that several tensors see; see [`Tensor::sharing`].
pub struct Sharing {
    /// A number that no other memory ever has.
    pub id: u64,
    /// All of the memory as it is now.
    pub whole: Tensor,
    /// Where the tensor's elements lie among those of `whole`, laid out densely.
    pub layout: Layout,
    /// How they lie for those who ask, where that is something else.
    pub(super) lies: Lies,
}

/// What a tensor's memory is known by: two tensors share memory where these are the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum MemoryId {
    /// Of a tensor that nobody shares its memory with: its address, while it lives.
    Alone(usize),
    /// Of lines: a number that no other memory ever has.
    Shared(u64),
}

/// Whether the value lies in memory that is somebody else's.
pub(crate) fn is_borrowed(node: &Node) -> bool {
    matches!(node.value(), Some(Ok(value)) if value.buffer.is_borrowed())
}

/// Whether images or volumes lie without gaps, their second axis innermost.
pub(crate) fn lies_by_channels(layout: &Layout) -> bool {
    matches!(layout.rank(), 4 | 5) && lies_innermost(layout)
}

/// How a node's elements lie, where that is not row-major: those in somebody else's memory, and images whose channels are innermost.
pub(crate) fn other_lie(node: &Node) -> Option<Layout> {
    match node.value() {
        Some(Ok(value)) if value.buffer.is_borrowed() && !value.layout.is_contiguous() => Some(value.layout),
        Some(Ok(_) | Err(_)) | None => node.lies_innermost().then(|| node.lie()),
    }
}

/// Whether it does, or may once it is computed.
pub(crate) fn may_be_borrowed(node: &Node) -> bool {
    is_borrowed(node) || node.is_pending() && node.reads_borrowed()
}

/// Computes what must not wait: everything, where each operation is computed at once, and what reads memory that is somebody
/// else's, before that one can write it again. The failure stays with the node, for its readers.
pub(crate) fn settle(node: &Node) {
    let borrowed = node.reads_borrowed();
    if !node.is_pending() || !(borrowed || mg_graph::is_eager()) {
        return;
    }
    let on_device = borrowed && node.device().is_cuda();
    if on_device && let Ok(gpu) = Gpu::of(node.device()) {
        // Its owner works on streams of its own: before this work, or after.
        gpu.quiesce();
    }
    let within = if borrowed && node.is_tracked() { reading_borrowed(node) } else { vec![] };
    let wanted: Vec<&Node> = within.iter().chain([node]).collect();
    let _ = mg_graph::realize_quietly(&wanted);
    if on_device {
        let _ = node.device().synchronize();
    }
}

/// What a node is computed of that waits and reads memory that is somebody else's. A gradient may need it, and would compute it again of what is
/// there by then.
fn reading_borrowed(node: &Node) -> Vec<Node> {
    let (mut found, mut met) = (vec![], HashSet::new());
    let mut stack: Vec<Node> = node.sources().into_iter().collect();
    while let Some(source) = stack.pop() {
        if source.is_pending() && source.reads_borrowed() && met.insert(source.sequence()) {
            stack.extend(source.sources());
            found.push(source);
        }
    }
    found
}
