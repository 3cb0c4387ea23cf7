//! Launches that are collected rather than started, to go out as one graph: what they are, and which of them wait for which.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use super::api::Address;
use super::fault::Origin;
use super::gpu::{Gpu, new_scratch};
use super::graph::KernelNode;
use super::order::{Order, Position};
use crate::buffer::Buffer;
use crate::error::Result;

/// Launches with scratch memory of their own that may run at the same time.
const SCRATCHES: usize = 4;

/// Launches that were asked for while they are collected, and memory that they use.
pub(super) struct Collected {
    nodes: Vec<KernelNode>,
    keep: Vec<Buffer>,
    order: Order,
    work: Work,
    /// The last launch of unknown use, which all later ones wait for.
    unknown: Option<Position>,
    /// Scratch memory, and who used it last.
    scratches: Vec<(Address, Option<Position>)>,
}

/// Launches that follow one another, and what they use.
#[derive(Default)]
struct Work {
    /// Nothing is known where nobody said.
    known: bool,
    reads: Vec<Range<u64>>,
    writes: Vec<Range<u64>>,
    /// What its next launch waits for.
    after: Vec<Position>,
    last: Option<Position>,
    scratch: Option<usize>,
}

impl Collected {
    pub(super) fn new(scratch: Address) -> Collected {
        Collected {
            nodes: vec![],
            keep: vec![],
            order: Order::default(),
            work: Work::default(),
            unknown: None,
            scratches: vec![(scratch, None)],
        }
    }

    /// Ends the work of before.
    fn begin(&mut self, work: Work) {
        let before = std::mem::replace(&mut self.work, work);
        if let Some(last) = before.last {
            if before.known {
                self.order.uses(last, &before.reads, &before.writes);
            } else {
                self.unknown = Some(last);
            }
        }
        self.work.after = if self.work.known {
            self.order.after(&self.work.reads, &self.work.writes)
        } else {
            (0..self.nodes.len() as Position).collect()
        };
        self.work.after.extend(self.unknown);
    }

    /// Adds a launch of the work under way.
    pub(super) fn push(&mut self, mut node: KernelNode) {
        if !self.work.known && self.work.last.is_none() {
            self.begin(Work::default());
        }
        let after = self.order.reduced(std::mem::take(&mut self.work.after));
        let position = self.order.push(&after);
        node.after = after.into();
        self.nodes.push(node);
        self.work.last = Some(position);
        self.work.after.push(position);
        if let Some(scratch) = self.work.scratch {
            self.scratches[scratch].1 = Some(position);
        }
    }

    /// The scratch memory of the work under way.
    pub(super) fn scratch(&mut self, gpu: &Gpu) -> Address {
        let at = self.work.scratch.unwrap_or_else(|| self.choose(gpu));
        self.scratches[at].0
    }

    /// One that nobody uses, or that the work waits for anyway, if there is; else the one that was used longest ago.
    fn choose(&mut self, gpu: &Gpu) -> usize {
        let after = &self.work.after;
        let free = |s: &(Address, Option<Position>)| s.1.is_none_or(|user| after.contains(&user));
        let found = self.scratches.iter().position(free);
        let new = || {
            let room = self.scratches.len() < SCRATCHES;
            // Where there is no memory for another, launches take turns.
            room.then(|| new_scratch(gpu.api, gpu.stream).ok()).flatten()
        };
        let at = match found {
            Some(at) => at,
            None => match new() {
                Some(address) => {
                    self.scratches.push((address, None));
                    self.scratches.len() - 1
                }
                None => (0..self.scratches.len()).min_by_key(|&s| self.scratches[s].1).unwrap_or(0),
            },
        };
        self.work.scratch = Some(at);
        self.work.after.extend(self.scratches[at].1);
        at
    }

    fn take(&mut self) -> (Vec<KernelNode>, Vec<Buffer>) {
        self.work = Work::default();
        self.order = Order::default();
        self.unknown = None;
        self.scratches.iter_mut().for_each(|s| s.1 = None);
        (std::mem::take(&mut self.nodes), std::mem::take(&mut self.keep))
    }
}

impl Gpu {
    pub(super) fn collected(&self) -> MutexGuard<'_, Collected> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Collects launches from now on, rather than starting them, until [`Gpu::collected_launches`]. One thread at a time
    /// may; copies and waits start what was collected before.
    pub fn collect_launches(&self) {
        self.collects.store(!self.synchronous, Ordering::Relaxed);
    }

    /// Whether launches are being collected.
    #[inline]
    pub fn is_collecting(&self) -> bool {
        self.collects.load(Ordering::Relaxed)
    }

    /// Keeps memory that collected launches use, until they were started.
    pub fn keep(&self, buffer: &Buffer) {
        self.collected().keep.push(buffer.clone());
    }

    /// Says what the launches that are collected next read and write, as ranges of addresses, up to the next call. They
    /// follow one another, and wait for those before that use the same memory. Without it, launches wait for all others.
    pub fn collects_work(&self, reads: Vec<Range<u64>>, writes: Vec<Range<u64>>) {
        self.collected().begin(Work { known: true, reads, writes, ..Work::default() });
    }

    /// Stops collecting. Answers with the launches, in order, none of which was started; the second list is to be dropped
    /// when they were. `None` where some had to be started already: then all were.
    pub fn collected_launches(&self) -> Option<(Vec<KernelNode>, Vec<Buffer>)> {
        let was = self.collects.swap(false, Ordering::Relaxed);
        let all = self.collected().take();
        was.then_some(all)
    }

    /// Starts what was collected, and collects no more: for work that is no launch of a kernel.
    #[inline]
    pub(super) fn start_collected(&self) -> Result<()> {
        if !self.is_collecting() {
            return Ok(());
        }
        self.start_all()
    }

    #[cold]
    fn start_all(&self) -> Result<()> {
        let Some((nodes, _keep)) = self.collected_launches() else { return Ok(()) };
        let origin = Origin { name: "jit", line: std::panic::Location::caller() };
        for node in &nodes {
            // SAFETY: whoever asked for the launch vouched for it, in this order.
            unsafe { self.launch(node.kernel, node.grid, node.block, node.shared, &node.args, origin)? };
        }
        Ok(())
    }
}
