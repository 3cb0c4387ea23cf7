//! Nodes: immutable descriptions of values, computed or not.

use crate::build::{can_lie_innermost, laid, taken_innermost};
use crate::hash::mix;
use crate::kernel::Kernel;
use crate::op::{Map, Op, SourceKind, View};
use mg_device::{Buffer, DType, Device, Error, ErrorKind, Layout, Shape};
use mg_kernels::library::{Shaped, lies_innermost};
use smallvec::SmallVec;
use std::any::Any;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// In the place of an operation's signature.
const KNOWN_VIEW: u64 = 0x6b6e_6f77_6e21;

/// The sources of a node, in the operation's order.
pub type Sources = SmallVec<[Node; 3]>;

/// Where a computed value lies.
#[derive(Clone, Debug)]
pub struct Value {
    /// The memory.
    pub buffer: Buffer,
    /// How the node's elements lie in it.
    pub layout: Layout,
}

impl Value {
    /// The elements' bytes, in row-major order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] where the elements do not lie one after the other in the buffer, [`ErrorKind::Device`] where that is not on the
    /// host.
    #[track_caller]
    pub fn dense_bytes(&self) -> Result<&[u8], Error> {
        let (layout, size) = (&self.layout, self.buffer.dtype().size());
        if !self.buffer.device().is_cpu() {
            let text = format!("the elements are on {}, not on the host", self.buffer.device());
            return Err(Error::new("dense_bytes", ErrorKind::Device(text)));
        }
        let Some((first, last)) = layout.extent() else { return Ok(&[]) };
        if !layout.is_contiguous() || last >= self.buffer.len() {
            let text = format!(
                "elements of shape {} with strides {:?} at {first} do not lie one after the other among {}",
                layout.shape(),
                layout.strides(),
                self.buffer.len()
            );
            return Err(Error::new("dense_bytes", ErrorKind::Value(text)));
        }
        let start = self.buffer.as_ptr().wrapping_add(first * size);
        // SAFETY: the memory is the host's, holds these elements in a row, initialised and within its length, lives as long as the borrow of
        // the value, and is not written meanwhile by the contract of `Buffer`.
        Ok(unsafe { std::slice::from_raw_parts(start, layout.numel() * size) })
    }
}

/// A handle on a node of the graph: an operation, its sources, shape, dtype and device, and a place for its value.
#[derive(Clone)]
pub struct Node(pub(crate) Arc<Inner>);

/// A node that is remembered and not kept.
#[derive(Clone)]
pub struct WeakNode(Weak<Inner>);

impl WeakNode {
    /// The node, if anybody has kept it.
    pub fn upgrade(&self) -> Option<Node> {
        self.0.upgrade().map(Node)
    }

    /// Whether nobody has kept it.
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

/// Somebody will walk from this node to its sources later, so they stay when its value is known.
const TRACKED: u32 = 1;
/// The walk was made and will not be made again.
const RELEASED: u32 = 2;
/// Computed along with others where it costs no further launch, but never waited for.
const OPTIONAL: u32 = 4;
/// It reads memory that is somebody else's, who may write it.
const BORROWED: u32 = 8;
/// It is what a tensor stands for.
const OWNED: u32 = 16;
/// A graph that was computed has left something pending that reads its value.
const READ_LATER: u32 = 32;
/// It is made of placeholders, and has no value.
const TRACED: u32 = 64;
/// What was to be written over it could not be computed.
const TAKEN_BACK: u32 = 128;
/// It has the value of what it is a view of, and is another tensor's.
const APART: u32 = 256;
/// It is to lie with its axis 1 innermost: see [`Node::lies_innermost`].
const INNERMOST: u32 = 512;
/// From here on: how often, at least, something was computed while what the node is to be computed of waited. See [`Node::waits_long`].
const WAITED: u32 = 16;

/// What the layer above has attached to a node.
pub enum Tag {
    /// Whose node it is: a walk over the graph ends here.
    Owner(Weak<dyn Any + Send + Sync>),
    /// The node that a walk goes on from, instead of the sources: this one has its history and another value.
    History(Node),
    /// As [`Tag::History`], of which nothing is left in the value: the gradient is zero.
    Forgotten(Node),
    /// The node of an answer of a replayed step: what a walk goes on with may be replayed too.
    Replayed(Arc<dyn Any + Send + Sync>),
    /// One of the results of a call that has a gradient of its own: the call's node, and which result it is.
    Output(Node, usize),
    /// A call that has a gradient of its own, and what that is: see [`Node::call`].
    Call(Box<dyn Any + Send + Sync>),
}

/// What few nodes have.
#[derive(Default)]
struct Rare {
    overwritten: OnceLock<Overwritten>,
    /// Why the value is none after all: a device has refused it, and has told of that late.
    refused: OnceLock<Result<Value, Error>>,
    /// Itself, where it is a gradient that is kept on a device which tells late of what it refuses.
    kept_gradient: OnceLock<WeakNode>,
    /// What the layer above wants to know of a walk that comes by.
    watch: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// The first node of the recording by which it came to a tensor, 0 for none, where that is asked for.
    written_by: OnceLock<u64>,
}

/// Said of a node whose tensor was written to since.
#[derive(Clone, Copy, Debug)]
pub struct Overwritten {
    /// The line that wrote.
    pub line: &'static Location<'static>,
    /// Nodes made from here on belong to the writing itself and read the old value rightly.
    pub since: u64,
}

pub(crate) struct Inner {
    pub(crate) seq: u64,
    pub(crate) op: Op,
    pub(crate) shape: Shape,
    pub(crate) dtype: DType,
    pub(crate) device: Device,
    pub(crate) location: &'static Location<'static>,
    /// The operation that a person called, where it was made within one.
    pub(crate) called: Option<&'static str>,
    /// Hash of operation, shape, dtype and device.
    pub(crate) signature: u64,
    /// Read and cut only under the engine's lock (or with exclusive access).
    sources: UnsafeCell<Sources>,
    pub(crate) value: OnceLock<Result<Value, Error>>,
    handles: AtomicU32,
    flags: AtomicU32,
    tag: OnceLock<Tag>,
    rare: OnceLock<Box<Rare>>,
    /// What the tensor stood for before this node was written to it, until the value is known. Accessed as `sources` are.
    before: UnsafeCell<Option<Node>>,
    /// The engine's notes on this node, valid for one realisation.
    pub(crate) mark: Mark,
}

/// Whether what an operation leaves is to lie with its axis 1 innermost, by how its operands lie.
fn is_to_lie_innermost(op: &Op, sources: &[Node], shape: &Shape, device: Device) -> bool {
    let like = |source: &Node| source.lies_innermost() && source.shape() == shape;
    match op {
        Op::Map(Map::Copy { innermost }) => *innermost,
        // One operand that lies so is enough: numbers drawn, masks and constants lie in no way of their own.
        Op::Map(Map::Row(_) | Map::Cast | Map::Guard { .. }) => sources.iter().any(like),
        Op::View(View::Reshape) => sources.iter().all(like),
        Op::View(View::Slice { axis: 0, step: 1, .. }) => sources.iter().all(Node::lies_innermost),
        Op::View(View::Permute(axes)) => {
            // Channels that were the last axis, and are the second now.
            let rank = shape.rank();
            let from_last = || {
                axes[0] == 0
                    && usize::from(axes[1]) == rank - 1
                    && (2..rank).all(|i| usize::from(axes[i]) == i - 1)
            };
            let in_rows = |source: &Node| source.is_dense() || source.is_seen_by_memory();
            can_lie_innermost(shape) && from_last() && sources.iter().all(in_rows)
        }
        Op::Kernel(Kernel::Library(kernel)) if sources.iter().any(Node::lies_innermost) => {
            let operands: SmallVec<[Shaped; 4]> = sources.iter().map(Node::shaped).collect();
            can_lie_innermost(shape) && taken_innermost(kernel, &operands, device).unwrap_or_default().result
        }
        Op::Source(_) | Op::View(_) | Op::Reduce(..) | Op::Kernel(_) => false,
    }
}

/// Of what a node is, with what its value is of.
fn signature_of(what: u64, shape: &Shape, dtype: DType, device: Device) -> u64 {
    let sizes = mix(what, (dtype as u64) << 8 | shape.rank() as u64);
    let sizes = shape.iter().fold(sizes, |signature, &n| mix(signature, n as u64));
    let place = if device.is_cpu() { 0 } else { device.ordinal() as u64 + 1 };
    mix(sizes, place)
}

impl Inner {
    /// The node, if it is a gradient that is kept.
    pub(crate) fn kept_gradient(&self) -> Option<&WeakNode> {
        self.rare.get()?.kept_gradient.get()
    }

    /// What [`Node::lies_innermost`] says of a value that is to be computed.
    pub(crate) fn is_to_lie_innermost(&self) -> bool {
        self.flags.load(Ordering::Relaxed) & INNERMOST != 0
    }

    /// For the key of a plan. Which part of its memory a known view sees is looked up when the plan is run.
    pub(crate) fn plan_signature(&self) -> u64 {
        match (&self.op, self.value.get()) {
            (Op::View(_), Some(Ok(_))) => signature_of(KNOWN_VIEW, &self.shape, self.dtype, self.device),
            _ => self.signature,
        }
    }
}

/// Notes of a realisation, written under the engine's lock.
#[derive(Default)]
pub(crate) struct Mark {
    /// The realisation that the node is part of.
    pub(crate) epoch: AtomicU64,
    /// The realisation that last looked whether it should be.
    pub(crate) seen: AtomicU64,
    pub(crate) index: AtomicU32,
    edges: AtomicU32,
}

impl Mark {
    /// Counts a reference from within the realisation. (Only one thread at a time does: plain loads and stores.)
    #[inline]
    pub(crate) fn count_edge(&self) {
        self.edges.store(self.edges.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// The references counted, to start anew.
    #[inline]
    pub(crate) fn take_edges(&self) -> usize {
        let edges = self.edges.load(Ordering::Relaxed);
        self.edges.store(0, Ordering::Relaxed);
        edges as usize
    }
}

// SAFETY: everything but `sources` is Send and Sync by itself; `sources` is written only by the constructor, under the
// engine's lock, or in `drop`, and read under the engine's lock.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

/// What a thread's calls say of the nodes that they make. One place: each look into a thread's own memory is a call.
struct Here {
    /// Whether nodes inherit [`Node::is_tracked`].
    tracking: Cell<bool>,
    /// The line that asked, and the operation that a person called, from the outermost [`at`] and [`within`].
    line: Cell<Option<&'static Location<'static>>>,
    called: Cell<Option<&'static str>>,
    /// Whether nodes with a history are noted.
    noting: Cell<bool>,
}

thread_local! {
    static HERE: Here = const {
        Here {
            tracking: Cell::new(true),
            line: Cell::new(None),
            called: Cell::new(None),
            noting: Cell::new(false),
        }
    };
    /// What [`Noted`] has noted.
    static NOTED: RefCell<Vec<WeakNode>> = const { RefCell::new(vec![]) };
}

/// Notes the nodes with a history that this thread makes, while it lives.
pub struct Noted {
    from: usize,
    /// Whether nobody noted before.
    is_first: bool,
}

impl Noted {
    /// From now on.
    #[must_use = "nothing is noted any more when this is dropped"]
    pub fn from_now() -> Noted {
        let is_first = !HERE.with(|here| here.noting.replace(true));
        Noted { from: NOTED.with_borrow(Vec::len), is_first }
    }

    /// Those that are there still.
    pub fn alive(&self) -> Vec<Node> {
        let all = NOTED.with_borrow(|noted| noted[self.from..].to_vec());
        all.iter().filter_map(WeakNode::upgrade).filter(Node::is_tracked).collect()
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        if self.is_first {
            HERE.with(|here| here.noting.set(false));
            NOTED.with_borrow_mut(Vec::clear);
        }
    }
}

/// Notes a node that has a history, where somebody wants to know of them.
#[inline]
fn note(node: &Node) {
    if HERE.with(|here| here.noting.get()) {
        NOTED.with_borrow_mut(|noted| noted.push(node.downgrade()));
    }
}

/// While it lives, nodes made on this thread are said to come from another line (and operation) than the caller's.
pub struct At {
    /// Whether the line, and the operation, are this guard's: those of an outer one stay.
    line: bool,
    called: bool,
}

impl Drop for At {
    #[inline]
    fn drop(&mut self) {
        if self.line || self.called {
            self.end();
        }
    }
}

impl At {
    fn begin(line: &'static Location<'static>, op: Option<&'static str>) -> At {
        HERE.with(|here| {
            let at =
                At { line: here.line.get().is_none(), called: op.is_some() && here.called.get().is_none() };
            if at.line {
                here.line.set(Some(line));
            }
            if at.called {
                here.called.set(op);
            }
            at
        })
    }

    fn end(&self) {
        HERE.with(|here| {
            if self.line {
                here.line.set(None);
            }
            if self.called {
                here.called.set(None);
            }
        });
    }
}

/// Nodes made on this thread come from this line, until the guard is dropped: what gradient rules and compositions make
/// belongs to the line that the user wrote. An outer guard wins.
#[must_use = "the line is forgotten when this is dropped"]
pub fn at(line: &'static Location<'static>) -> At {
    At::begin(line, None)
}

/// As [`at`], and checks of indices made meanwhile name the operation `op` when they fail.
#[must_use = "the line is forgotten when this is dropped"]
pub fn within(op: &'static str, line: &'static Location<'static>) -> At {
    At::begin(line, Some(op))
}

/// The line that nodes made on this thread are said to come from: the caller's, but within [`at`].
#[track_caller]
pub fn line() -> &'static Location<'static> {
    HERE.with(|here| here.line.get()).unwrap_or(Location::caller())
}

/// Within the operation whose name stands before a dot: says which of its forms was called. What stands behind the dot is for [`Node::form`].
pub fn form(form: &'static str) {
    HERE.with(|here| {
        if here.called.get().map(plain) == Some(plain(form)) {
            here.called.set(Some(form));
        }
    });
}

/// What nodes made on this thread are called until [`Renamed`] is dropped, whatever operation a person called.
pub fn renamed(form: &'static str) -> Renamed {
    Renamed(HERE.with(|here| here.called.replace(Some(form))))
}

/// See [`renamed`].
#[must_use = "the name is forgotten when this is dropped"]
pub struct Renamed(Option<&'static str>);

impl Drop for Renamed {
    fn drop(&mut self) {
        HERE.with(|here| here.called.set(self.0));
    }
}

/// The name of an operation, of that and a form.
pub(crate) fn plain(called: &'static str) -> &'static str {
    called.split_once('.').map_or(called, |(name, _)| name)
}

/// The operation that a person called, by [`within`]; otherwise `op`.
pub(crate) fn called(op: &'static str) -> &'static str {
    HERE.with(|here| here.called.get()).map_or(op, plain)
}

/// Whether nodes made on this thread inherit [`Node::is_tracked`] from their sources.
pub fn is_tracking() -> bool {
    HERE.with(|here| here.tracking.get())
}

/// Switches the inheritance of [`Node::is_tracked`] on or off for this thread; answers with what it was.
pub fn set_tracking(on: bool) -> bool {
    HERE.with(|here| here.tracking.replace(on))
}

static SEQUENCE: AtomicU64 = AtomicU64::new(1);

/// The number that the next node will have at least: nodes made from now on are not older.
pub fn next_sequence() -> u64 {
    SEQUENCE.load(Ordering::Relaxed)
}

/// A number that no node will have: those that are made from now on have later ones.
pub(crate) fn take_sequence() -> u64 {
    SEQUENCE.fetch_add(1, Ordering::Relaxed)
}

/// The number that the next node had when something was computed last.
static COMPUTED: AtomicU64 = AtomicU64::new(0);

/// Says that something is being computed: what waits now has waited once more. See [`Node::waits_long`].
pub(crate) fn note_computing() {
    COMPUTED.store(next_sequence(), Ordering::Relaxed);
}

/// What [`last_failure`] tells.
static LAST_FAILURE: AtomicU64 = AtomicU64::new(0);

/// Says that something could not be computed.
pub(crate) fn note_failure() {
    LAST_FAILURE.fetch_max(next_sequence(), Ordering::Relaxed);
}

/// The number that the next node had when something could not be computed last: what is older and waits may be waiting for that.
pub fn last_failure() -> u64 {
    LAST_FAILURE.load(Ordering::Relaxed)
}

thread_local! {
    /// Since when something is not there any more that this thread wrote over last; 0 where somebody has asked.
    static OVERWRITTEN: Cell<u64> = const { Cell::new(0) };
}

/// How many threads have an [`OVERWRITTEN`] of which nobody has asked, ended ones among them. Every call asks, and mostly
/// there is none.
static UNASKED: AtomicUsize = AtomicUsize::new(0);

/// Whether this thread has written over something that graphs have, since it was asked last.
#[inline]
#[must_use]
pub fn has_overwritten() -> bool {
    UNASKED.load(Ordering::Relaxed) != 0 && OVERWRITTEN.get() != 0
}

/// Since when that is gone, as [`Overwritten`] says it; forgets it.
#[must_use]
pub fn take_overwritten() -> u64 {
    put_overwritten(0)
}

pub(crate) fn put_overwritten(since: u64) -> u64 {
    let before = OVERWRITTEN.replace(since);
    match (before, since) {
        (0, 1..) => UNASKED.fetch_add(1, Ordering::Relaxed),
        (1.., 0) => UNASKED.fetch_sub(1, Ordering::Relaxed),
        (0, 0) | (1.., 1..) => 0,
    };
    before
}

impl Node {
    /// A node that is not computed yet. Shapes and dtypes have been checked.
    #[track_caller]
    pub(crate) fn pending(op: Op, sources: Sources, shape: Shape, dtype: DType, device: Device) -> Node {
        Node::made(op, sources, shape, dtype, device, OnceLock::new())
    }

    #[track_caller]
    #[inline]
    fn made(
        op: Op,
        sources: Sources,
        shape: Shape,
        dtype: DType,
        device: Device,
        value: OnceLock<Result<Value, Error>>,
    ) -> Node {
        let signature = signature_of(op.signature(), &shape, dtype, device);
        let location = line();
        Node::again(op, signature, sources, (shape, dtype, device), value, location)
    }

    /// A node of which all is known: one like another that was made before has that one's signature.
    #[inline]
    pub(crate) fn again(
        op: Op,
        signature: u64,
        sources: Sources,
        (shape, dtype, device): (Shape, DType, Device),
        value: OnceLock<Result<Value, Error>>,
        location: &'static Location<'static>,
    ) -> Node {
        let (mut flags, mut waited) = (0, 0);
        let computed = COMPUTED.load(Ordering::Relaxed);
        for source in &sources {
            let of = source.0.flags.load(Ordering::Relaxed);
            flags |= of & (TRACKED | TRACED);
            let has_waited = (of >> WAITED) + u32::from(source.0.seq < computed);
            if has_waited > waited && source.is_pending() {
                waited = has_waited;
            }
            if of & BORROWED != 0 && source.reads_borrowed() {
                flags |= BORROWED;
            }
        }
        // Gradients flow through floats alone.
        if flags & TRACKED != 0 && !(dtype.is_float() && is_tracking()) {
            flags &= !TRACKED;
        }
        if let Some(Ok(value)) = value.get()
            && value.buffer.is_borrowed()
        {
            flags |= BORROWED;
        }
        if is_to_lie_innermost(&op, &sources, &shape, device) {
            flags |= INNERMOST;
        }
        flags |= waited.min(u32::from(u16::MAX)) << WAITED;
        let node = Node(Arc::new(Inner {
            seq: SEQUENCE.fetch_add(1, Ordering::Relaxed),
            op,
            shape,
            dtype,
            device,
            location,
            called: HERE.with(|here| here.called.get()),
            signature,
            sources: UnsafeCell::new(sources),
            value,
            handles: AtomicU32::new(0),
            flags: AtomicU32::new(flags),
            tag: OnceLock::new(),
            rare: OnceLock::new(),
            before: UnsafeCell::new(None),
            mark: Mark::default(),
        }));
        if flags & TRACKED != 0 {
            note(&node);
        }
        node
    }

    /// A node whose value is there already.
    #[track_caller]
    pub fn from_value(value: Value) -> Node {
        let (shape, dtype, device) = (*value.layout.shape(), value.buffer.dtype(), value.buffer.device());
        let value = OnceLock::from(Ok(value));
        Node::made(Op::Source(SourceKind::Data), Sources::new(), shape, dtype, device, value)
    }

    /// A node that stands for a call with a gradient of its own: it has no value that anybody asks for, and walks come to its sources by
    /// `rule`, which the layer above understands. Its results have the tag [`Tag::Output`].
    ///
    /// # Errors
    ///
    /// Memory.
    #[track_caller]
    pub fn call(sources: Sources, rule: Box<dyn Any + Send + Sync>) -> Result<Node, Error> {
        let buffer = Buffer::uninit(Device::cpu(), DType::F32, 0)?;
        let layout = Layout::contiguous(Shape::of(&[0]));
        let value = OnceLock::from(Ok(Value { buffer, layout }));
        let op = Op::Source(SourceKind::Data);
        let node = Node::made(op, sources, Shape::of(&[0]), DType::F32, Device::cpu(), value);
        node.set_tracked(true);
        node.set_tag(Tag::Call(rule));
        Ok(node)
    }

    /// A node that stands for a value which is not there: what is made of it is a graph to be looked at, and cannot be computed.
    #[track_caller]
    pub fn placeholder(shape: Shape, dtype: DType, device: Device) -> Node {
        let node = Node::pending(Op::Source(SourceKind::Data), Sources::new(), shape, dtype, device);
        node.0.flags.fetch_or(TRACED, Ordering::Relaxed);
        node
    }

    /// Whether it is a placeholder, or made of one.
    pub fn is_traced(&self) -> bool {
        self.0.flags.load(Ordering::Relaxed) & TRACED != 0
    }

    /// The position in the order of creation: sources come before what is computed from them.
    pub fn sequence(&self) -> u64 {
        self.0.seq
    }

    /// What the node is.
    pub fn op(&self) -> &Op {
        &self.0.op
    }

    /// Its shape.
    pub fn shape(&self) -> &Shape {
        &self.0.shape
    }

    /// Its dtype.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// Its device.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// The operation that a person called, where it was made within one; otherwise its own name.
    pub fn called(&self) -> &'static str {
        self.0.called.map_or(self.0.op.name(), plain)
    }

    /// The form of that operation, where it said which one was called: see [`form`].
    pub fn form(&self) -> Option<&'static str> {
        self.0.called?.split_once('.').map(|(_, form)| form)
    }

    /// The caller's line that made it.
    pub fn location(&self) -> &'static Location<'static> {
        self.0.location
    }

    /// The value, if it is known; the error, if computing it failed.
    pub fn value(&self) -> Option<&Result<Value, Error>> {
        self.0.rare.get().and_then(|rare| rare.refused.get()).or_else(|| self.0.value.get())
    }

    /// Says that the value is none after all.
    pub(crate) fn refuse(&self, error: Error) {
        let _ = self.0.rare.get_or_init(Box::default).refused.set(Err(error));
    }

    /// Says that this is a gradient which is kept: where a device refuses it late, whoever asks is told so.
    pub fn keep_as_gradient(&self) {
        if self.0.device.is_cuda() && self.is_pending() {
            let _ = self.0.rare.get_or_init(Box::default).kept_gradient.set(self.downgrade());
        }
    }

    /// Whether the value is still to be computed. (Scalar constants, ramps and random numbers always are.)
    pub fn is_pending(&self) -> bool {
        self.0.value.get().is_none()
    }

    /// The sources; empty once they were let go.
    pub fn sources(&self) -> Sources {
        let _engine = crate::engine::lock();
        // SAFETY: the engine's lock is held.
        unsafe { self.0.sources_unlocked().clone() }
    }

    /// Remembers the node without keeping it.
    pub fn downgrade(&self) -> WeakNode {
        WeakNode(Arc::downgrade(&self.0))
    }

    /// How many handles there are on the node, this one and those of its readers included.
    pub fn handles(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// Whether two handles are of the same node.
    pub fn is(&self, other: &Node) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether the value of four or five axes lies (or will lie) densely with its axis 1 innermost, as `channels_last` has it: a copy that asks for it, a
    /// view that shows it so, and what elementwise operations and convolutions make of such. All else lies row by row.
    pub fn lies_innermost(&self) -> bool {
        match self.value() {
            Some(Ok(value)) => can_lie_innermost(&self.0.shape) && lies_innermost(&value.layout),
            Some(Err(_)) => false,
            None => self.0.is_to_lie_innermost(),
        }
    }

    /// Whether the value is known to lie, or will lie, row by row, whatever views it is made of. (Asked without the engine's lock.)
    pub(crate) fn is_in_rows(&self) -> bool {
        match (self.value(), self.op()) {
            (Some(Ok(value)), _) => value.layout.is_contiguous(),
            (Some(Err(_)), _) => false,
            (None, Op::Map(_) | Op::Reduce(..) | Op::Kernel(_)) => !self.lies_innermost(),
            (None, Op::View(_) | Op::Source(_)) => false,
        }
    }

    /// Whether it sees a value whose axis 1 will be innermost in the order of memory. (That of a value which is no plan's result is the plan's to
    /// choose: it is no dense one.)
    fn is_seen_by_memory(&self) -> bool {
        // Another thread may have computed it meanwhile.
        if !self.is_pending() {
            return self.is_in_rows();
        }
        let rank = self.0.shape.rank();
        let of = |is: &dyn Fn(&Node) -> bool| self.sources().first().is_some_and(is);
        match self.op() {
            Op::View(View::Permute(axes)) => {
                let to_memory = matches!(rank, 4 | 5)
                    && axes[0] == 0
                    && usize::from(axes[rank - 1]) == 1
                    && (1..rank - 1).all(|i| usize::from(axes[i]) == i + 1);
                to_memory && of(&Node::lies_innermost)
            }
            // All of it, or some of its images.
            Op::View(View::Reshape) => {
                of(&|source| source.shape() == self.shape() && source.is_seen_by_memory())
            }
            Op::View(View::Slice { axis: 0, step: 1, .. }) => {
                of(&|source| source.is_dense() || source.is_seen_by_memory())
            }
            Op::View(_) | Op::Map(_) | Op::Reduce(..) | Op::Kernel(_) | Op::Source(_) => false,
        }
    }

    /// How the value lies in memory of its own.
    pub fn lie(&self) -> Layout {
        laid(&self.0.shape, self.lies_innermost())
    }

    /// Whether the layer above walks from this node to its sources: inherited from any source, or set by
    /// [`Node::set_tracked`].
    pub fn is_tracked(&self) -> bool {
        self.0.flags.load(Ordering::Relaxed) & TRACKED != 0
    }

    /// Makes the engine keep this node's sources (or not) when its value is known.
    pub fn set_tracked(&self, tracked: bool) {
        if tracked {
            self.0.flags.fetch_or(TRACKED, Ordering::Relaxed);
            note(self);
        } else {
            self.0.flags.fetch_and(!TRACKED, Ordering::Relaxed);
        }
    }

    /// Says that the walk over this node was made for the last time: its sources go as soon as its value is known.
    pub fn release(&self) {
        self.0.flags.fetch_or(RELEASED, Ordering::Relaxed);
        if !self.is_pending() {
            let cut = {
                let _engine = crate::engine::lock();
                // SAFETY: the engine's lock is held.
                unsafe { self.0.cut() }
            };
            drop(cut);
        }
    }

    /// Whether [`Node::release`] was called.
    pub fn is_released(&self) -> bool {
        self.0.flags.load(Ordering::Relaxed) & RELEASED != 0
    }

    /// Whether the engine computes this node only where it is free.
    pub fn is_optional(&self) -> bool {
        self.0.flags.load(Ordering::Relaxed) & OPTIONAL != 0
    }

    /// See [`Node::is_optional`].
    pub fn set_optional(&self, optional: bool) {
        if optional {
            self.0.flags.fetch_or(OPTIONAL, Ordering::Relaxed);
        } else {
            self.0.flags.fetch_and(!OPTIONAL, Ordering::Relaxed);
        }
    }

    /// Attaches something of the layer above, once; answers whether it was the first.
    pub fn set_tag(&self, tag: Tag) -> bool {
        self.0.tag.set(tag).is_ok()
    }

    /// What [`Node::set_tag`] attached.
    pub fn tag(&self) -> Option<&Tag> {
        self.0.tag.get()
    }

    /// Makes the node the one that a tensor stands for; answers whether it was nobody's before.
    pub fn claim(&self) -> bool {
        self.0.flags.fetch_or(OWNED, Ordering::Relaxed) & OWNED == 0
    }

    /// Whether somebody knows it: a tensor stands for it, or something waits for what becomes of it.
    pub fn is_somebodys(&self) -> bool {
        self.is_claimed() || self.tag().is_some() || self.watch().is_some()
    }

    /// Its shape and dtype, as kernels ask for them.
    pub fn shaped(&self) -> Shaped {
        Shaped { shape: *self.shape(), dtype: self.dtype() }
    }

    /// Whether it is one that a tensor stands for.
    pub fn is_claimed(&self) -> bool {
        self.0.flags.load(Ordering::Relaxed) & OWNED != 0
    }

    /// Whether computing (or having computed) it reads memory that is somebody else's, who may write it at any time.
    pub fn reads_borrowed(&self) -> bool {
        self.0.flags.load(Ordering::Relaxed) & BORROWED != 0
            && match self.value() {
                None => true,
                Some(Ok(value)) => value.buffer.is_borrowed(),
                Some(Err(_)) => false,
            }
    }

    /// Says that the node's memory is somebody else's from now on, if its buffer is; see [`Node::reads_borrowed`].
    pub fn set_borrowed(&self) {
        self.0.flags.fetch_or(BORROWED, Ordering::Relaxed);
    }

    /// Whether a graph that was computed has left something that is computed again, of this node's value, when it is needed.
    pub fn is_read_later(&self) -> bool {
        self.0.flags.load(Ordering::Relaxed) & READ_LATER != 0
    }

    pub(crate) fn set_read_later(&self) {
        self.0.flags.fetch_or(READ_LATER, Ordering::Relaxed);
    }

    /// Whether this is all that refers to the node.
    pub fn is_alone(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Says that a tensor stands for the node from now on, since this thread has written to it. Those who record a step meanwhile need to know
    /// what they did not write.
    pub fn note_written(&self) {
        if let Some(by) = crate::replay::writing_as() {
            self.rare().written_by.get_or_init(|| by);
        }
    }

    /// Whether another thread has written it to a tensor while a step was recorded of which `start` is the first node.
    pub fn is_written_beside(&self, start: u64) -> bool {
        let by = self.0.rare.get().and_then(|rare| rare.written_by.get());
        by.is_some_and(|&by| by != start)
    }

    /// Says that what the node stood for was written to: a walk that reads its value from now on reads what is gone.
    pub fn overwrite(&self, line: &'static Location<'static>, since: u64) {
        put_overwritten(since);
        self.0.flags.fetch_and(!TAKEN_BACK, Ordering::Relaxed);
        self.rare().overwritten.get_or_init(|| Overwritten { line, since });
    }

    /// Says that it only has the value of what it is a view of, and is another tensor's: what is written to the one does not change the other.
    pub(crate) fn set_apart(&self) {
        self.0.flags.fetch_or(APART, Ordering::Relaxed);
    }

    /// What was written after a time to memory that others have, too, where the value lies.
    pub fn written_over(&self, time: u64) -> Option<Overwritten> {
        let Some(Ok(value)) = self.value() else { return None };
        let size = self.dtype().size();
        let bytes = || value.layout.extent().map(|(first, last)| first * size..(last + 1) * size);
        let written = value.buffer.written_after(time, bytes)?;
        Some(Overwritten { line: written.line, since: written.at })
    }

    /// Says that the writing which [`Node::overwrite`] told of has failed: the value is what it was.
    pub fn take_back_overwrite(&self) {
        self.0.flags.fetch_or(TAKEN_BACK, Ordering::Relaxed);
    }

    fn rare(&self) -> &Rare {
        self.0.rare.get_or_init(Box::default)
    }

    /// What the layer above has put beside the node to be told of walks that come by; made by `make` if there is nothing yet.
    pub fn watch_or(&self, make: impl FnOnce() -> Arc<dyn Any + Send + Sync>) -> &Arc<dyn Any + Send + Sync> {
        self.rare().watch.get_or_init(make)
    }

    /// What [`Node::watch_or`] has put there.
    pub fn watch(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.0.rare.get()?.watch.get()
    }

    /// What [`Node::overwrite`] said, of this node or of what it is a view of.
    pub fn overwritten(&self) -> Option<Overwritten> {
        let found = |node: &Node| {
            let flags = node.0.flags.load(Ordering::Relaxed);
            let told = node.0.rare.get().and_then(|rare| rare.overwritten.get().copied());
            let told = told.filter(|_| flags & TAKEN_BACK == 0);
            let there = if flags & BORROWED == 0 { None } else { node.written_over(node.sequence()) };
            told.into_iter().chain(there).max_by_key(|found| found.since)
        };
        let is_apart = |node: &Node| node.0.flags.load(Ordering::Relaxed) & APART != 0;
        let is_view = |node: &Node| matches!(node.0.op, Op::View(_)) && !is_apart(node);
        if found(self).is_some() || !is_view(self) {
            return found(self);
        }
        let mut node = self.sources().first()?.clone();
        while found(&node).is_none() && is_view(&node) {
            node = node.sources().first()?.clone();
        }
        found(&node)
    }

    /// Remembers the node that the tensor stood for before this one, until this one's value is known: should computing it
    /// fail, that is what the tensor goes back to.
    pub fn set_before(&self, before: Node) {
        if !self.is_pending() {
            return;
        }
        let _engine = crate::engine::lock();
        // SAFETY: the engine's lock is held.
        unsafe { *self.0.before.get() = Some(before) };
    }

    /// What [`Node::set_before`] remembers.
    pub fn before(&self) -> Option<Node> {
        let _engine = crate::engine::lock();
        // SAFETY: the engine's lock is held.
        unsafe { (*self.0.before.get()).clone() }
    }

    /// Says that a person holds this node. While its value is pending, the engine computes it along with whatever it
    /// shares work with.
    pub fn hold(&self) {
        let first = self.0.handles.fetch_add(1, Ordering::Relaxed) == 0;
        if first && self.is_pending() && !self.0.op.is_source() && !self.is_traced() {
            crate::engine::register(self);
        }
    }

    /// Whether something was computed many times while what it is to be computed of waited: a counter, or a sum over steps, that nobody
    /// reads. What waits is kept, one step's part after the other, until it is computed.
    pub(crate) fn waits_long(&self) -> bool {
        const MANY: u32 = 64;
        self.0.flags.load(Ordering::Relaxed) >> WAITED >= MANY
    }

    /// Whether something was computed since this node was made, and this node was not.
    pub fn was_left_out(&self) -> bool {
        self.0.seq < COMPUTED.load(Ordering::Relaxed) && self.is_pending()
    }

    /// Makes an optional node known to the engine without holding it; see [`Node::is_optional`].
    pub fn announce(&self) {
        if self.is_pending() && !self.0.op.is_source() && !self.is_traced() {
            crate::engine::register(self);
        }
    }

    /// The reverse of [`Node::hold`].
    pub fn let_go(&self) {
        self.0.handles.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a person holds it: see [`Node::hold`].
    pub fn is_held(&self) -> bool {
        self.0.handles.load(Ordering::Relaxed) > 0
    }
}

impl Inner {
    /// Safety: the engine's lock is held, or nobody else has the node.
    pub(crate) unsafe fn sources_unlocked(&self) -> &Sources {
        // SAFETY: this function's contract.
        unsafe { &*self.sources.get() }
    }

    /// Takes the sources away.
    ///
    /// Safety: the engine's lock is held, and no reference from [`Inner::sources_unlocked`] lives.
    pub(crate) unsafe fn cut(&self) -> Sources {
        // SAFETY: this function's contract.
        unsafe { std::mem::take(&mut *self.sources.get()) }
    }

    /// The node that a tensor stood for before this one.
    ///
    /// Safety: the engine's lock is held.
    pub(crate) unsafe fn before_unlocked(&self) -> Option<&Node> {
        // SAFETY: this function's contract.
        unsafe { (*self.before.get()).as_ref() }
    }

    /// Forgets the node that a tensor stood for before this one.
    ///
    /// Safety: the engine's lock is held, and no reference from [`Inner::before_unlocked`] lives.
    pub(crate) unsafe fn settle(&self) -> Option<Node> {
        // SAFETY: this function's contract.
        unsafe { (*self.before.get()).take() }
    }

    pub(crate) fn flags(&self) -> (bool, bool) {
        let flags = self.flags.load(Ordering::Relaxed);
        (flags & TRACKED != 0, flags & RELEASED != 0)
    }
}

thread_local! {
    /// While a node is dropped on this thread: where the sources of those that go with it are put. A plain address, so that
    /// it is there still when a thread that ends drops what its other locals hold.
    static DROPPED: Cell<*mut Dropped> = const { Cell::new(std::ptr::null_mut()) };
}

/// Sources whose nodes are gone.
type Dropped = SmallVec<[Sources; 8]>;

/// Forgets the list of the drop that ends, also where what is dropped panics.
struct Forget;

impl Drop for Forget {
    fn drop(&mut self) {
        DROPPED.set(std::ptr::null_mut());
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Chains can be millions of nodes long: no recursion. A node that is dropped while another is leaves its sources
        // to that one.
        let mut sources = std::mem::take(self.sources.get_mut());
        sources.extend(self.before.get_mut().take());
        let mut rule = None;
        match self.tag.take() {
            Some(Tag::History(node) | Tag::Forgotten(node) | Tag::Output(node, _)) => sources.push(node),
            Some(Tag::Call(of)) => rule = Some(of),
            // What a replay knows of its answers holds none of them.
            Some(Tag::Owner(_) | Tag::Replayed(_)) | None => {}
        }
        if sources.is_empty() && rule.is_none() {
            return;
        }
        let outer = DROPPED.get();
        if !outer.is_null() {
            // SAFETY: the list of a drop further down this thread's stack, which keeps no reference to it across a call.
            unsafe { (*outer).push(sources) };
            drop(rule);
            return;
        }
        let mut dropped = Dropped::new();
        let list = &raw mut dropped;
        DROPPED.set(list);
        let _forget = Forget;
        drop(sources);
        // What a call has saved is nodes, too.
        drop(rule);
        // SAFETY: the list above; the reference ends before the sources are dropped.
        while let Some(sources) = unsafe { (*list).pop() } {
            drop(sources);
        }
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{} {} {} {}", self.0.seq, self.0.op.name(), self.0.dtype, self.0.shape)
    }
}
