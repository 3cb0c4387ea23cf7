//! The tape: where nodes live, how a thread gets one and how memory comes back.
//!
//! A node is 40 bytes. Nodes lie on *pages* of 4 KiB. Each thread writes on a page of its own, from front to back, so a
//! new node costs a few stores and takes no lock; a thread local counter is cheaper than an uncontended lock (two
//! locked instructions an operation), scales with threads, and cannot be left locked in a forked child. Handles are
//! pointers with an atomic count in the node, so they go between threads freely.
//!
//! Two rules make `backward` a plain sweep, with no search and no sort of nodes:
//!
//! * a page gets a sequence number, larger than all before it, when a thread opens it;
//! * a node lies behind its operands: on a page with a larger number, or later on the same page. Where an operand comes
//!   from a page that another thread opened later, a new page is opened.
//!
//! A page whose nodes are all dead is opened again under a new number. Leaves have no operands, so they need no order:
//! they lie on pages with the number 0, whose slots are reused one by one.
//!
//! Empty pages and free leaf slots are kept by each thread, and go to others through a depot (`pool.rs`).

use std::alloc::{Layout, alloc, handle_alloc_error};
use std::cell::Cell;
use std::collections::HashMap;
use std::mem::{MaybeUninit, offset_of};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::op::{Form, Op};
use super::pool::{Cache, Depot, Linked};
use super::span::SpanInner;

const PAGE_BYTES: usize = 4096;
/// Nodes on a page.
pub(super) const SLOTS: usize = 100;

/// One value of the tape. `data` and `grad` are the bits of f64 numbers; being atomic costs nothing where it is relaxed.
#[repr(C)]
pub(super) struct Node {
    data: AtomicU64,
    grad: AtomicU64,
    pub(super) a: Operand,
    pub(super) b: Operand,
    count: AtomicU32,
    pub(super) op: Op,
    pub(super) form: Form,
    flags: AtomicU8,
    pub(super) device: u8,
}

/// Which field is meant follows from the node's [`Form`]; `next` links free leaf slots.
#[derive(Clone, Copy)]
pub(super) union Operand {
    pub(super) none: (),
    pub(super) node: *mut Node,
    pub(super) number: f64,
    pub(super) span: *const SpanInner,
    next: *mut Node,
}

/// The node has an entry in [`LABELS`].
const LABELLED: u8 = 1;

#[repr(C, align(4096))]
pub(super) struct Page {
    next: *mut Page,
    seq: AtomicU64,
    /// Slots that are not known to be dead, unwritten ones included, and one more while a thread writes here.
    live: AtomicU32,
    id: u32,
    _pad: [u64; 9],
    nodes: [MaybeUninit<Node>; SLOTS],
}

const _: () = assert!(size_of::<Node>() <= 40 && size_of::<Page>() == PAGE_BYTES);

/// Labels are for drawings: few, so they live beside the tape.
static LABELS: Mutex<Option<HashMap<usize, String>>> = Mutex::new(None);
static NEXT_SEQ: AtomicU64 = AtomicU64::new(1);
static PAGES: AtomicU32 = AtomicU32::new(0);
static FREE_PAGES: Depot<Page> = Mutex::new(Vec::new());
static FREE_LEAVES: Depot<Node> = Mutex::new(Vec::new());

/// The number of pages there are: all page ids are below it.
pub(super) fn pages() -> usize {
    PAGES.load(Ordering::Relaxed) as usize
}

/// Bytes that the tape holds, in use or kept for reuse.
pub(super) fn bytes() -> usize {
    pages() * PAGE_BYTES
}

impl Node {
    #[inline(always)]
    pub(super) fn data(&self) -> f64 {
        f64::from_bits(self.data.load(Ordering::Relaxed))
    }

    #[inline(always)]
    pub(super) fn set_data(&self, value: f64) {
        self.data.store(value.to_bits(), Ordering::Relaxed);
    }

    #[inline(always)]
    pub(super) fn grad(&self) -> f64 {
        f64::from_bits(self.grad.load(Ordering::Relaxed))
    }

    #[inline(always)]
    pub(super) fn set_grad(&self, value: f64) {
        self.grad.store(value.to_bits(), Ordering::Relaxed);
    }

    /// Adds to the gradient; of two threads that do so at once, neither is lost.
    #[inline]
    pub(super) fn add_grad(&self, value: f64) {
        let mut old = self.grad.load(Ordering::Relaxed);
        loop {
            let new = (f64::from_bits(old) + value).to_bits();
            match self.grad.compare_exchange_weak(old, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(seen) => old = seen,
            }
        }
    }

    /// Counts one more handle.
    #[inline(always)]
    pub(super) fn retain(&self) {
        // A count that wrapped would free a node in use; two thousand million leaked handles come first.
        if self.count.fetch_add(1, Ordering::Relaxed) > i32::MAX as u32 {
            std::process::abort();
        }
    }

    /// Counts one handle less, and says whether it was the last.
    #[inline(always)]
    fn release(&self) -> bool {
        // The only handle cannot be cloned by anybody else meanwhile, so a plain load decides the common case.
        if self.count.load(Ordering::Acquire) == 1 {
            return true;
        }
        if self.count.fetch_sub(1, Ordering::Release) != 1 {
            return false;
        }
        fence(Ordering::Acquire);
        true
    }

    pub(super) fn label(&self) -> Option<String> {
        if self.flags.load(Ordering::Acquire) & LABELLED == 0 {
            return None;
        }
        labels().as_ref().and_then(|map| map.get(&ptr::from_ref(self).addr()).cloned())
    }

    pub(super) fn set_label(&self, label: &str) {
        let key = ptr::from_ref(self).addr();
        let mut labels = labels();
        let map = labels.get_or_insert_default();
        if label.is_empty() {
            map.remove(&key);
            self.flags.fetch_and(!LABELLED, Ordering::Release);
        } else {
            map.insert(key, label.to_string());
            self.flags.fetch_or(LABELLED, Ordering::Release);
        }
    }
}

fn labels() -> MutexGuard<'static, Option<HashMap<usize, String>>> {
    LABELS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The page a node lies on.
#[inline(always)]
pub(super) fn page_of(node: *const Node) -> *const Page {
    node.map_addr(|address| address & !(PAGE_BYTES - 1)).cast()
}

/// A node's place on its page.
#[inline(always)]
pub(super) fn slot_of(node: *const Node) -> usize {
    ((node.addr() & (PAGE_BYTES - 1)) - offset_of!(Page, nodes)) / size_of::<Node>()
}

/// # Safety
///
/// `page` is a page and `slot < SLOTS`.
#[inline(always)]
pub(super) unsafe fn node_at(page: *const Page, slot: usize) -> *const Node {
    // SAFETY: the caller keeps `slot` inside the page, and pages are never given back.
    unsafe { (&raw const (*page).nodes).cast::<Node>().add(slot) }
}

/// # Safety
///
/// `page` is a page.
#[inline(always)]
pub(super) unsafe fn page_id(page: *const Page) -> usize {
    // SAFETY: `id` is written once, before the page is first used.
    unsafe { (*page).id as usize }
}

/// The number a page was opened under; 0 for leaves.
///
/// # Safety
///
/// `page` is a page with a live node on it.
#[inline(always)]
pub(super) unsafe fn page_seq(page: *const Page) -> u64 {
    // SAFETY: pages are never given back.
    unsafe { (*page).seq.load(Ordering::Relaxed) }
}

impl Linked for Page {
    unsafe fn link(this: *mut Self) -> *mut *mut Self {
        // SAFETY: inside the page.
        unsafe { &raw mut (*this).next }
    }

    fn depot() -> &'static Depot<Self> {
        &FREE_PAGES
    }
}

impl Linked for Node {
    unsafe fn link(this: *mut Self) -> *mut *mut Self {
        // SAFETY: inside the node; all fields of the union start at its address.
        unsafe { &raw mut (*this).a.next }
    }

    fn depot() -> &'static Depot<Self> {
        &FREE_LEAVES
    }
}

/// What a thread keeps for itself. It has no destructor, so reaching it is one instruction; [`Guard`] has.
struct Local {
    page: Cell<*mut Page>,
    /// The next slot of `page`; `SLOTS` while there is no page.
    next: Cell<usize>,
    pages: Cache<Page>,
    leaves: Cache<Node>,
    /// The guard will see to it that others get what is left here.
    guarded: Cell<bool>,
}

struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        LOCAL.with(Local::give_all);
    }
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            page: Cell::new(ptr::null_mut()),
            next: Cell::new(SLOTS),
            pages: Cache::new(),
            leaves: Cache::new(),
            guarded: Cell::new(false),
        }
    };
    static GUARD: Guard = const { Guard };
}

/// A node as it is born: with no gradient and one handle.
#[inline(always)]
fn newborn(op: Op, form: Form, device: u8, data: f64, a: Operand, b: Operand) -> Node {
    Node {
        data: AtomicU64::new(data.to_bits()),
        grad: AtomicU64::new(0),
        a,
        b,
        count: AtomicU32::new(1),
        op,
        form,
        flags: AtomicU8::new(0),
        device,
    }
}

/// A new leaf, with one handle that the caller takes over.
#[inline]
pub(super) fn leaf(data: f64, device: u8) -> NonNull<Node> {
    LOCAL.with(|local| {
        let slot = local.leaves.take().unwrap_or_else(|| local.more_leaves());
        let none = Operand { none: () };
        // SAFETY: a free slot is ours alone, and inside a page, so not null.
        unsafe {
            slot.write(newborn(Op::Leaf, Form::Leaf, device, data, none, none));
            NonNull::new_unchecked(slot)
        }
    })
}

/// A new node with operands, with one handle that the caller takes over. `newest` is the largest sequence number among
/// the operands' pages.
///
/// # Safety
///
/// `a` and `b` are what `form` says they are, each with a count that the new node takes over.
#[inline(always)]
pub(super) unsafe fn push(
    op: Op,
    form: Form,
    device: u8,
    data: f64,
    (a, b): (Operand, Operand),
    newest: u64,
) -> NonNull<Node> {
    LOCAL.with(|local| {
        let slot = local.next.get();
        // SAFETY: there is a page whenever `next` is not `SLOTS`.
        if slot == SLOTS || newest > unsafe { page_seq(local.page.get()) } {
            local.turn_page();
        }
        let (page, slot) = (local.page.get(), local.next.get());
        local.next.set(slot + 1);
        // SAFETY: `slot < SLOTS`, unwritten and on a page that this thread alone writes on.
        unsafe {
            let node = (&raw mut (*page).nodes).cast::<Node>().add(slot);
            node.write(newborn(op, form, device, data, a, b));
            NonNull::new_unchecked(node)
        }
    })
}

impl Local {
    /// Opens a page behind all pages there are.
    #[cold]
    #[inline(never)]
    fn turn_page(&self) {
        self.close_page();
        let page = self.take_page();
        // SAFETY: a free page is ours alone.
        unsafe {
            (*page).seq.store(NEXT_SEQ.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
            (*page).live.store(SLOTS as u32 + 1, Ordering::Relaxed);
        }
        self.page.set(page);
        self.next.set(0);
    }

    fn close_page(&self) {
        let page = self.page.replace(ptr::null_mut());
        let next = self.next.replace(SLOTS);
        if !page.is_null() {
            // SAFETY: this thread opened the page.
            unsafe { self.bury(page, (SLOTS - next) as u32 + 1) };
        }
    }

    /// Sees to it that what this thread holds goes to the depot when it ends, or now, if it has ended but for destructors.
    #[inline(always)]
    fn guard(&self) {
        if !self.guarded.get() {
            self.first_guard();
        }
    }

    #[cold]
    fn first_guard(&self) {
        self.guarded.set(GUARD.try_with(|_| ()).is_ok());
        if !self.guarded.get() {
            self.give_all();
        }
    }

    fn give_all(&self) {
        self.guarded.set(false);
        self.close_page();
        self.pages.give_all();
        self.leaves.give_all();
    }

    fn take_page(&self) -> *mut Page {
        self.guard();
        self.pages.take().unwrap_or_else(|| self.more_pages())
    }

    /// Counts dead slots on a page; the last of them makes it free.
    ///
    /// # Safety
    ///
    /// `dead` slots of the page are dead and have not been counted yet (the open page counts as one more).
    #[inline]
    unsafe fn bury(&self, page: *mut Page, dead: u32) {
        // SAFETY: pages are never given back to the system.
        let live = unsafe { (*page).live.fetch_sub(dead, Ordering::AcqRel) } - dead;
        if live == 0 {
            // SAFETY: all slots are dead and nobody writes here.
            unsafe { self.pages.put(page) };
        } else if page == self.page.get() && live as usize == SLOTS - self.next.get() + 1 {
            // All that this thread wrote here is dead already: start the page again.
            // SAFETY: as above; only the thread that opened the page writes on it, and that is this one.
            unsafe { (*page).live.store(SLOTS as u32 + 1, Ordering::Relaxed) };
            self.next.set(0);
        }
    }

    /// A block of new pages from the system: one is returned, the others are put on the chain.
    #[cold]
    #[inline(never)]
    fn more_pages(&self) -> *mut Page {
        // A quarter of what there is, so that the number of requests stays logarithmic; 64 KiB to 2 MiB.
        let n = (pages() / 4).clamp(16, 512);
        let layout = Layout::array::<Page>(n).unwrap_or(Layout::new::<Page>());
        let n = layout.size() / PAGE_BYTES;
        // SAFETY: the size is not 0.
        let block = unsafe { alloc(layout) }.cast::<Page>();
        if block.is_null() {
            handle_alloc_error(layout);
        }
        let first_id = PAGES.fetch_add(n as u32, Ordering::Relaxed);
        for i in (0..n).rev() {
            // SAFETY: inside the block, which is ours alone; header fields are written one by one, nodes stay unwritten.
            unsafe {
                let page = block.add(i);
                (&raw mut (*page).seq).write(AtomicU64::new(0));
                (&raw mut (*page).live).write(AtomicU32::new(0));
                (&raw mut (*page).id).write(first_id + i as u32);
                if i > 0 {
                    self.pages.put(page);
                }
            }
        }
        block
    }

    /// Makes a page one of leaves: one slot is returned, the others are put on the chain.
    #[cold]
    #[inline(never)]
    fn more_leaves(&self) -> *mut Node {
        let page = self.take_page();
        // SAFETY: a free page is ours alone, and so are its slots.
        unsafe {
            (*page).seq.store(0, Ordering::Relaxed);
            let slots = (&raw mut (*page).nodes).cast::<Node>();
            for i in (1..SLOTS).rev() {
                self.leaves.put(slots.add(i));
            }
            slots
        }
    }
}

/// Gives up one handle. The last one frees the node, and whatever only it held, in a loop: however deep the graph.
///
/// # Safety
///
/// The caller owns a count of this live node, and does not use it again.
#[inline(always)]
pub(super) unsafe fn release(node: NonNull<Node>) {
    // SAFETY: live, as the caller says.
    if unsafe { node.as_ref() }.release() {
        // SAFETY: that was the last count.
        unsafe { reclaim(node.as_ptr()) }
    }
}

/// # Safety
///
/// The node is live and nobody refers to it any more.
#[inline(never)]
unsafe fn reclaim(first: *mut Node) {
    LOCAL.with(|local| {
        let mut todo = Todo::new();
        let mut node = first;
        // Dead slots of one page, counted together.
        let (mut page, mut dead) = (ptr::null_mut::<Page>(), 0);
        loop {
            // SAFETY: `node` is written, and nobody else refers to it.
            let (a, b, form) = unsafe { ((*node).a, (*node).b, (*node).form) };
            // SAFETY: as above.
            if unsafe { (*node).flags.load(Ordering::Relaxed) } & LABELLED != 0
                && let Some(map) = labels().as_mut()
            {
                map.remove(&node.addr());
            }
            if form == Form::Leaf {
                // SAFETY: the slot is dead from here on.
                unsafe { local.leaves.put(node) };
            } else {
                let here = page_of(node).cast_mut();
                if here == local.page.get() && slot_of(node) + 1 == local.next.get() {
                    // The newest node of this thread's open page: the next one takes its place.
                    local.next.set(slot_of(node));
                } else if here == page {
                    dead += 1;
                } else {
                    if dead > 0 {
                        // SAFETY: `dead` slots of `page` were passed by.
                        unsafe { local.bury(page, dead) };
                    }
                    (page, dead) = (here, 1);
                }
            }
            // SAFETY: the operands are what `form` says, and the dead node's counts of them are ours to give up.
            unsafe {
                match form {
                    Form::Leaf => {}
                    Form::Unary | Form::NumberRight | Form::NumberLeft => todo.give_up(a.node),
                    Form::Both => {
                        todo.give_up(b.node);
                        todo.give_up(a.node);
                    }
                    Form::Spans => {
                        for span in [a.span, b.span] {
                            // Taken apart here, for a span that dropped its values itself would recurse.
                            if let Some(span) = Arc::into_inner(Arc::from_raw(span)) {
                                for value in span.into_values() {
                                    todo.give_up(value.into_raw().as_ptr());
                                }
                            }
                        }
                    }
                }
            }
            match todo.pop() {
                Some(next) => node = next,
                None => break,
            }
        }
        if dead > 0 {
            // SAFETY: `dead` slots of `page` were passed by.
            unsafe { local.bury(page, dead) };
        }
        local.guard();
    });
}

/// Dead nodes whose operands are still to be given up. The first few need no allocation.
struct Todo {
    near: [MaybeUninit<*mut Node>; 32],
    len: usize,
    far: Vec<*mut Node>,
}

impl Todo {
    #[inline(always)]
    fn new() -> Todo {
        Todo { near: [const { MaybeUninit::uninit() }; 32], len: 0, far: Vec::new() }
    }

    /// # Safety
    ///
    /// The caller owns a count of this live node, and does not use it again.
    #[inline(always)]
    unsafe fn give_up(&mut self, node: *mut Node) {
        // SAFETY: live, as the caller says.
        if unsafe { &*node }.release() {
            if self.len < self.near.len() {
                self.near[self.len].write(node);
                self.len += 1;
            } else {
                self.far.push(node);
            }
        }
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<*mut Node> {
        if let Some(node) = self.far.pop() {
            return Some(node);
        }
        self.len = self.len.checked_sub(1)?;
        // SAFETY: all places below `len` are written.
        Some(unsafe { self.near[self.len].assume_init() })
    }
}
