//! Launches that are collected rather than started, to go out as one graph: what they are, and which of them wait for which.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use super::api::Address;
use super::fault::Origin;
use super::gpu::Gpu;
use super::graph::KernelNode;
use super::order::{Order, Position};
use crate::buffer::Buffer;
use crate::error::Result;

/// Launches with scratch memory of their own that may run at the same time.
const SCRATCHES: usize = 4;

/// Bytes of shared memory that a multiprocessor has, at most: CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability".
const MOST_SHARED: u32 = 228 << 10;

/// What a launch may use of which nobody said what it uses.
const EVERYTHING: Range<u64> = 0..u64::MAX;

/// What is collected: launches, what they wait for, memory that they use.
pub(super) struct Collected {
    nodes: Vec<KernelNode>,
    keep: Vec<Buffer>,
    works: Works,
    /// What was collected before; what it says holds as long as all goes as it did then.
    before: Works,
    repeats: bool,
    order: Order,
    /// Scratch memory, and who used it last.
    scratches: Vec<(Address, Option<Position>)>,
    multiprocessors: u32,
    /// The last launch that has the device alone.
    alone: Option<Position>,
}

/// Groups of launches in the order in which they were collected: with it, a collection that goes like one before need not
/// find out again what waits for what.
#[derive(Default)]
pub struct Works(Vec<Work>);

/// Launches that follow one another, and what they use.
#[derive(Default)]
struct Work {
    reads: Vec<Range<u64>>,
    writes: Vec<Range<u64>>,
    /// For each launch, those that it waits for.
    launches: Vec<Box<[Position]>>,
    scratch: Option<Scratch>,
    /// What its next launch waits for; known where it does not repeat.
    after: Vec<Position>,
}

/// Scratch memory of a work.
#[derive(Clone, Copy)]
struct Scratch {
    /// Which.
    at: usize,
    /// How many launches of the work came before they asked for it: those do not use it.
    since: usize,
}

impl Work {
    /// The scratch memory that launches of this work have used.
    fn used(&self) -> Option<usize> {
        self.scratch.filter(|scratch| scratch.since < self.launches.len()).map(|scratch| scratch.at)
    }

    /// The scratch memory that no launch has used since it was asked for.
    fn asked(&self) -> Option<usize> {
        self.scratch.filter(|scratch| scratch.since == self.launches.len()).map(|scratch| scratch.at)
    }
}

impl Collected {
    pub(super) fn new(scratch: Address, multiprocessors: u32) -> Collected {
        Collected {
            nodes: vec![],
            keep: vec![],
            works: Works::default(),
            before: Works::default(),
            repeats: false,
            order: Order::default(),
            scratches: vec![(scratch, None)],
            multiprocessors,
            alone: None,
        }
    }

    /// Whether a launch has blocks for all multiprocessors of which each takes one whole: a block of another one finds no room beside
    /// them.
    fn is_alone(&self, node: &KernelNode) -> bool {
        node.shared > MOST_SHARED / 2 && node.grid.iter().product::<u32>() >= self.multiprocessors
    }

    /// The work of before that is at the place of the one under way.
    fn same(&self) -> Option<&Work> {
        self.before.0.get(self.works.0.len() - 1).filter(|_| self.repeats)
    }

    /// Begins a work that reads and writes these addresses.
    fn begin(&mut self, reads: Vec<Range<u64>>, writes: Vec<Range<u64>>) {
        self.close();
        self.works.0.push(Work { reads, writes, ..Work::default() });
        let (Some(new), Some(old)) = (self.works.0.last(), self.before.0.get(self.works.0.len() - 1)) else {
            return self.diverge();
        };
        if (&new.reads, &new.writes) != (&old.reads, &old.writes) {
            self.diverge();
        } else if !self.repeats {
            self.find();
        }
    }

    /// Ends the work of before.
    fn close(&mut self) {
        let Some(work) = self.works.0.last() else { return };
        if self.same().is_some_and(|old| old.launches.len() != work.launches.len()) {
            self.diverge();
        }
        if !self.repeats
            && let Some(work) = self.works.0.last()
            && !work.launches.is_empty()
        {
            self.order.uses(self.nodes.len() as Position - 1, &work.reads, &work.writes);
        }
    }

    /// From here on nothing goes as it did before: what waits for what up to here is written down, and found from here on.
    fn diverge(&mut self) {
        if !std::mem::take(&mut self.repeats) {
            return self.find();
        }
        let (mut last, n) = (0, self.works.0.len());
        self.alone = self.nodes.iter().rposition(|node| self.is_alone(node)).map(|at| at as Position);
        for (i, work) in self.works.0.iter().enumerate() {
            for after in &work.launches {
                last = self.order.push(after);
            }
            if let Some(scratch) = work.used() {
                self.scratches[scratch].1 = Some(last);
            }
            if i + 1 < n && !work.launches.is_empty() {
                self.order.uses(last, &work.reads, &work.writes);
            }
        }
        self.find();
    }

    /// Finds what the work under way waits for.
    fn find(&mut self) {
        let Some(work) = self.works.0.last_mut() else { return };
        work.after = if work.launches.is_empty() {
            self.order.after(&work.reads, &work.writes)
        } else {
            vec![self.nodes.len() as Position - 1]
        };
        // It is found out, too, where scratch memory was asked for and what was to use it did not come, or not yet.
        work.after.extend(work.asked().and_then(|scratch| self.scratches[scratch].1));
    }

    /// Adds a launch of the work under way.
    pub(super) fn push(&mut self, mut node: KernelNode) {
        if self.works.0.is_empty() {
            self.begin(vec![], vec![EVERYTHING]);
        }
        let after = match self.known() {
            Some(after) => after,
            None => {
                if self.repeats {
                    self.diverge();
                }
                self.found(&node)
            }
        };
        let Some(work) = self.works.0.last_mut() else { return };
        work.launches.push(after.clone());
        if let Some(scratch) = work.used().filter(|_| !self.repeats) {
            self.scratches[scratch].1 = Some(self.nodes.len() as Position);
        }
        node.after = after;
        self.nodes.push(node);
    }

    /// What the next launch waits for, if all went as before: with scratch memory where that launch had some, and without where it
    /// had none.
    fn known(&self) -> Option<Box<[Position]>> {
        let (old, work) = (self.same()?, self.works.0.last()?);
        let at = work.launches.len();
        let had = old.scratch.is_some_and(|scratch| scratch.since <= at);
        old.launches.get(at).filter(|_| had == work.scratch.is_some()).cloned()
    }

    /// What the next launch waits for, as found. Launches that have the device alone run one after the other: two would share it by
    /// halves, and evict what the other one has in the second-level cache.
    fn found(&mut self, node: &KernelNode) -> Box<[Position]> {
        let next = self.nodes.len() as Position;
        let before = if self.is_alone(node) { self.alone.replace(next) } else { None };
        let Some(work) = self.works.0.last_mut() else { return Box::default() };
        work.after.extend(before);
        let after = self.order.reduced(std::mem::take(&mut work.after));
        work.after.push(self.order.push(&after));
        after.into()
    }

    /// The scratch memory of the work under way.
    pub(super) fn scratch(&mut self, new: impl FnOnce() -> Option<Address>) -> Address {
        if self.works.0.is_empty() {
            self.begin(vec![], vec![EVERYTHING]);
        }
        let since = self.works.0.last().map_or(0, |work| work.launches.len());
        let known = self.works.0.last().and_then(|work| work.scratch);
        let known = known.or_else(|| {
            let old = self.same()?.scratch.filter(|scratch| scratch.since == since);
            if old.is_none() {
                self.diverge();
            }
            old
        });
        let scratch = known.unwrap_or_else(|| Scratch { at: self.choose(new), since });
        if let Some(work) = self.works.0.last_mut() {
            work.scratch = Some(scratch);
        }
        self.scratches[scratch.at].0
    }

    /// One that nobody uses, or that the work waits for anyway, if there is; else the one that was used longest ago.
    fn choose(&mut self, new: impl FnOnce() -> Option<Address>) -> usize {
        let Some(work) = self.works.0.last_mut() else { return 0 };
        let free = |s: &(Address, Option<Position>)| s.1.is_none_or(|user| work.after.contains(&user));
        let at = match self.scratches.iter().position(free) {
            Some(at) => at,
            // Where there is no memory for another, launches take turns.
            None => match (self.scratches.len() < SCRATCHES).then(new).flatten() {
                Some(address) => {
                    self.scratches.push((address, None));
                    self.scratches.len() - 1
                }
                None => (0..self.scratches.len()).min_by_key(|&s| self.scratches[s].1).unwrap_or(0),
            },
        };
        work.after.extend(self.scratches[at].1);
        at
    }

    fn start(&mut self, before: Works) {
        // Another thread may have ended the last collection under its owner's hands.
        drop(self.take());
        self.repeats = !before.0.is_empty();
        self.before = before;
    }

    fn take(&mut self) -> Launches {
        self.close();
        self.before = Works::default();
        self.order = Order::default();
        self.alone = None;
        self.scratches.iter_mut().for_each(|s| s.1 = None);
        Launches {
            nodes: std::mem::take(&mut self.nodes),
            keep: std::mem::take(&mut self.keep),
            works: std::mem::take(&mut self.works),
        }
    }
}

/// Launches that were collected.
pub struct Launches {
    /// In order.
    pub nodes: Vec<KernelNode>,
    /// Memory that they use, to be kept until they were started.
    pub keep: Vec<Buffer>,
    /// For the next collection of the same launches.
    pub works: Works,
}

impl Gpu {
    pub(super) fn collected(&self) -> MutexGuard<'_, Collected> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Collects launches from now on, rather than starting them, until [`Gpu::collected_launches`]. One thread at a time
    /// may; copies and waits start what was collected before. `before` is what the last collection of the same launches
    /// answered with, if there was one.
    pub fn collect_launches(&self, before: Works) {
        self.collected().start(before);
        self.collects.store(!self.synchronous, Ordering::Relaxed);
    }

    /// Whether launches are being collected.
    #[inline]
    pub fn is_collecting(&self) -> bool {
        self.collects.load(Ordering::Relaxed)
    }

    /// Keeps memory that collected launches use, until they were started.
    pub fn keep(&self, buffer: &Buffer) {
        let mut collected = self.collected();
        // Another thread may have started them.
        if self.is_collecting() {
            collected.keep.push(buffer.clone());
        }
    }

    /// Says what the launches that are collected next read and write, as ranges of addresses, up to the next call. They
    /// follow one another, and wait for those before that use the same memory.
    pub fn collects_work(&self, reads: Vec<Range<u64>>, writes: Vec<Range<u64>>) {
        self.collected().begin(reads, writes);
    }

    /// Stops collecting. Answers with the launches, none of which was started. `None` where some had to be started
    /// already: then all were.
    pub fn collected_launches(&self) -> Option<Launches> {
        let mut collected = self.collected();
        let was = self.collects.swap(false, Ordering::Relaxed);
        let all = collected.take();
        was.then_some(all)
    }

    /// Starts what was collected, and collects no more: for work that is no launch of a kernel.
    #[inline]
    #[track_caller]
    pub(super) fn start_collected(&self) -> Result<()> {
        if !self.is_collecting() {
            return Ok(());
        }
        self.start_all()
    }

    #[cold]
    #[track_caller]
    fn start_all(&self) -> Result<()> {
        // This may be another thread than the one that collects, with another device current.
        self.bind()?;
        // Held to the end: what that thread launches next comes after.
        let mut collected = self.collected();
        if !self.is_collecting() {
            return Ok(());
        }
        let launches = collected.take();
        let origin = Origin { name: "jit", line: std::panic::Location::caller() };
        let start = |node: &KernelNode| {
            // SAFETY: whoever asked for the launch vouched for it, in this order.
            unsafe {
                self.start(node.kernel, node.grid, node.block, node.shared, &node.args, node.gate, origin)
            }
        };
        let result = launches.nodes.iter().try_for_each(start);
        self.collects.store(false, Ordering::Relaxed);
        drop(collected);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::Kernel;
    use proptest::prelude::*;

    /// What a work reads and writes, how many launches it has, and since which of them they use scratch memory.
    type Plan = (Vec<Range<u64>>, Vec<Range<u64>>, usize, Option<usize>);

    fn works() -> impl Strategy<Value = Vec<Plan>> {
        let spans =
            || prop::collection::vec((0u64..20, 1u64..8).prop_map(|(start, n)| start..start + n), 0..3);
        prop::collection::vec((spans(), spans(), 0usize..3, prop::option::of(0usize..3)), 0..20)
    }

    fn collect(collected: &mut Collected, before: Works, plans: &[Plan]) -> Launches {
        collected.start(before);
        for (reads, writes, launches, scratch) in plans {
            collected.begin(reads.clone(), writes.clone());
            let mut args = 0;
            // It may be asked for although the launch then fails.
            for launch in 0..=*launches {
                if *scratch == Some(launch) {
                    args = collected.scratch(|| None);
                }
                if launch == *launches {
                    break;
                }
                let kernel = Kernel { function: std::ptr::null_mut() };
                let args = args.to_ne_bytes().into();
                // Some have the device alone.
                let grid = [if reads.len() == 2 { 4 } else { 1 }, 1, 1];
                let (block, shared, after) = ([1; 3], 200 << 10, Box::default());
                collected.push(KernelNode { kernel, grid, block, shared, args, gate: [0; 2], after });
            }
        }
        collected.take()
    }

    fn with_scratches() -> Collected {
        let mut collected = Collected::new(1, 4);
        collected.scratches.extend([(2, None), (3, None)]);
        collected
    }

    /// It waits for who uses the memory, which it found in what is remembered rather than choose it.
    #[test]
    fn a_launch_that_failed_before_waits_for_its_scratch_memory() {
        let mut collected = with_scratches();
        let mut plans: Vec<Plan> = (0..4).map(|at| (vec![], vec![], usize::from(at < 3), Some(0))).collect();
        let before = collect(&mut collected, Works::default(), &plans);
        plans[3].2 = 1;
        let launches = collect(&mut collected, before.works, &plans);
        assert_eq!(launches.nodes[3].args, launches.nodes[0].args);
        assert_eq!(*launches.nodes[3].after, [0]);
    }

    #[test]
    fn launches_that_have_the_device_alone_follow_one_another() {
        let mut collected = with_scratches();
        let mut before = Works::default();
        for _ in 0..2 {
            collected.start(before);
            let (whole, part) = (200 << 10, 16 << 10);
            for (blocks, shared) in [(4, whole), (1, whole), (4, whole), (3, whole), (4, part), (8, whole)] {
                collected.begin(vec![], vec![]);
                let kernel = Kernel { function: std::ptr::null_mut() };
                let (grid, block, args, after) = ([blocks, 1, 1], [1; 3], Box::default(), Box::default());
                collected.push(KernelNode { kernel, grid, block, shared, args, gate: [0; 2], after });
            }
            let launches = collected.take();
            let after: Vec<&[Position]> = launches.nodes.iter().map(|node| &*node.after).collect();
            assert_eq!(after, [&[][..], &[], &[0], &[], &[], &[2]]);
            before = launches.works;
        }
    }

    proptest! {
        // What goes wrong only where several things meet is found by many.
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// What is remembered of a collection never changes what another finds, however alike they are.
        #[test]
        fn a_memory_of_the_last_collection_changes_nothing(
            first in works(),
            second in works(),
            same in 0usize..20,
            other in (0usize..20, 0usize..3, prop::option::of(0usize..3)),
        ) {
            let mut collected = with_scratches();
            let mut plans: Vec<Plan> = first.iter().take(same).chain(second.iter().skip(same)).cloned().collect();
            if let Some(plan) = plans.get_mut(other.0) {
                (plan.2, plan.3) = (other.1, other.2);
            }
            let before = collect(&mut collected, Works::default(), &first);
            let fresh = collect(&mut collected, Works::default(), &plans);
            let known = collect(&mut collected, before.works, &plans);
            prop_assert_eq!(&fresh.nodes, &known.nodes);
            let again = collect(&mut collected, known.works, &plans);
            prop_assert_eq!(&fresh.nodes, &again.nodes);
        }
    }
}
