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
    /// Those so far, and behind them those of before; what that says holds as long as all goes as it did then.
    launches: Launches,
    /// How far it has come.
    now: Mark,
    /// Launches of the work under way.
    done: usize,
    scratch: Option<Scratch>,
    /// What the next launch of the work under way waits for; known where it does not repeat.
    after: Vec<Position>,
    keep: Vec<Buffer>,
    repeats: bool,
    order: Order,
    /// Scratch memory, and who used it last.
    scratches: Vec<(Address, Option<Position>)>,
    multiprocessors: u32,
    /// The last launch that has the device alone.
    alone: Option<Position>,
}

/// Launches that were collected: with them, a collection that goes like the one before need not find out again what waits for what, and launches
/// that are as they were need not be made again.
#[derive(Default)]
pub struct Launches {
    nodes: Vec<KernelNode>,
    /// Groups of launches, in the order in which they were collected.
    works: Vec<Work>,
    /// Launches that a graph of before has with other parameters; it has as many, and they are alike, as far as `alike`.
    changed: Vec<Position>,
    alike: bool,
}

/// Launches that follow one another, and what they use.
#[derive(Default)]
struct Work {
    reads: Vec<Range<u64>>,
    writes: Vec<Range<u64>>,
    /// For each launch, those that it waits for.
    launches: Vec<Box<[Position]>>,
    scratch: Option<Scratch>,
}

/// Scratch memory of a work.
#[derive(Clone, Copy)]
struct Scratch {
    /// Which.
    at: usize,
    /// How many launches of the work came before they asked for it: those do not use it.
    since: usize,
}

/// A place in a collection: how many works were begun, launches made and buffers kept up to there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    works: usize,
    launches: usize,
    kept: usize,
}

impl Mark {
    /// Whether both are the same place among works and launches. (Buffers may be kept for what is no launch.)
    fn is_at(self, other: Mark) -> bool {
        (self.works, self.launches) == (other.works, other.launches)
    }

    /// Whether launches between the two have memory of their own: such launches have to be made each time, since nobody would keep it.
    pub fn keeps_until(self, later: Mark) -> bool {
        self.kept != later.kept
    }
}

impl Launches {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(super) fn nodes(&self) -> &[KernelNode] {
        &self.nodes
    }

    /// The launches that a graph of before has with other parameters; `None` where it has other launches.
    pub(super) fn changed(&self) -> Option<&[Position]> {
        self.alike.then_some(&self.changed)
    }

    /// There is a graph now that has just these.
    pub(super) fn told(&mut self) {
        self.changed.clear();
        self.alike = true;
    }

    /// Puts a launch at a position, in place of the one of before.
    fn put(&mut self, at: usize, node: KernelNode) {
        match self.nodes.get_mut(at) {
            Some(old) if *old == node => {}
            Some(old) => {
                self.alike &= old.is_alike(&node);
                *old = node;
                self.changed.push(at as Position);
            }
            None => {
                self.alike = false;
                self.nodes.push(node);
            }
        }
    }
}

impl Collected {
    pub(super) fn new(scratch: Address, multiprocessors: u32) -> Collected {
        Collected {
            launches: Launches::default(),
            now: Mark::default(),
            done: 0,
            scratch: None,
            after: vec![],
            keep: vec![],
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

    /// The work under way: that of before at its place, where all repeats.
    fn work(&self) -> Option<&Work> {
        self.launches.works.get(self.now.works.checked_sub(1)?)
    }

    /// The scratch memory that no launch has used since it was asked for.
    fn asked(&self) -> Option<usize> {
        self.scratch.filter(|scratch| scratch.since == self.done).map(|scratch| scratch.at)
    }

    /// Begins a work that reads and writes these addresses.
    fn begin(&mut self, reads: Vec<Range<u64>>, writes: Vec<Range<u64>>) {
        self.close();
        let at = self.now.works;
        self.now.works += 1;
        (self.done, self.scratch) = (0, None);
        let is_same = |old: &Work| (&old.reads, &old.writes) == (&reads, &writes);
        if self.repeats && self.launches.works.get(at).is_some_and(is_same) {
            return;
        }
        self.launches.works.truncate(at);
        self.launches.works.push(Work { reads, writes, ..Work::default() });
        self.diverge();
    }

    /// Ends the work of before.
    fn close(&mut self) {
        let Some(at) = self.now.works.checked_sub(1) else { return };
        if self.repeats && self.work().is_none_or(|old| old.launches.len() != self.done) {
            self.diverge();
        }
        let Some(work) = self.launches.works.get_mut(at) else { return };
        work.scratch = self.scratch;
        if !self.repeats && !work.launches.is_empty() {
            self.order.uses(self.now.launches as Position - 1, &work.reads, &work.writes);
        }
    }

    /// From here on nothing goes as it did before: what waits for what up to here is written down, and found from here on.
    fn diverge(&mut self) {
        if !std::mem::take(&mut self.repeats) {
            return self.find();
        }
        let (mut last, n) = (0, self.now.works);
        self.launches.works.truncate(n);
        if let Some(work) = self.launches.works.last_mut() {
            work.launches.truncate(self.done);
            work.scratch = self.scratch;
        }
        self.alone = self.so_far().iter().rposition(|node| self.is_alone(node)).map(|at| at as Position);
        for (i, work) in self.launches.works.iter().enumerate() {
            for after in &work.launches {
                last = self.order.push(after);
            }
            if let Some(scratch) = work.scratch.filter(|scratch| scratch.since < work.launches.len()) {
                self.scratches[scratch.at].1 = Some(last);
            }
            if i + 1 < n && !work.launches.is_empty() {
                self.order.uses(last, &work.reads, &work.writes);
            }
        }
        self.find();
    }

    /// Finds what the work under way waits for.
    fn find(&mut self) {
        let Some(work) = self.work() else { return };
        self.after = if self.done == 0 {
            self.order.after(&work.reads, &work.writes)
        } else {
            vec![self.now.launches as Position - 1]
        };
        // It is found out, too, where scratch memory was asked for and what was to use it did not come, or not yet.
        self.after.extend(self.asked().and_then(|scratch| self.scratches[scratch].1));
    }

    /// Adds a launch of the work under way.
    pub(super) fn push(&mut self, mut node: KernelNode) {
        if self.now.works == 0 {
            self.begin(vec![], vec![EVERYTHING]);
        }
        let known = self.known();
        if known.is_none() && self.repeats {
            self.diverge();
        }
        let after = known.unwrap_or_else(|| self.found(&node));
        self.done += 1;
        if !self.repeats {
            if let Some(work) = self.launches.works.last_mut() {
                work.launches.push(after.clone());
                work.scratch = self.scratch;
            }
            if let Some(scratch) = self.scratch {
                self.scratches[scratch.at].1 = Some(self.now.launches as Position);
            }
        }
        node.after = after;
        self.launches.put(self.now.launches, node);
        self.now.launches += 1;
    }

    /// What the next launch waits for, if all went as before: with scratch memory where that launch had some, and without where it
    /// had none.
    fn known(&self) -> Option<Box<[Position]>> {
        let old = self.work().filter(|_| self.repeats)?;
        let had = old.scratch.is_some_and(|scratch| scratch.since <= self.done);
        old.launches.get(self.done).filter(|_| had == self.scratch.is_some()).cloned()
    }

    /// What the next launch waits for, as found. Launches that have the device alone run one after the other: two would share it by
    /// halves, and evict what the other one has in the second-level cache.
    fn found(&mut self, node: &KernelNode) -> Box<[Position]> {
        let next = self.now.launches as Position;
        let before = if self.is_alone(node) { self.alone.replace(next) } else { None };
        self.after.extend(before);
        let after = self.order.reduced(std::mem::take(&mut self.after));
        self.after.push(self.order.push(&after));
        after.into()
    }

    /// The scratch memory of the work under way.
    pub(super) fn scratch(&mut self, new: impl FnOnce() -> Option<Address>) -> Address {
        if self.now.works == 0 {
            self.begin(vec![], vec![EVERYTHING]);
        }
        let since = self.done;
        if self.scratch.is_none() && self.repeats {
            self.scratch = self.work().and_then(|old| old.scratch).filter(|scratch| scratch.since == since);
            if self.scratch.is_none() {
                self.diverge();
            }
        }
        let scratch = self.scratch.unwrap_or_else(|| Scratch { at: self.choose(new), since });
        self.scratch = Some(scratch);
        self.scratches[scratch.at].0
    }

    /// One that nobody uses, or that the work waits for anyway, if there is; else the one that was used longest ago.
    fn choose(&mut self, new: impl FnOnce() -> Option<Address>) -> usize {
        let free = |s: &(Address, Option<Position>)| s.1.is_none_or(|user| self.after.contains(&user));
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
        self.after.extend(self.scratches[at].1);
        at
    }

    /// The launches up to here.
    fn so_far(&self) -> &[KernelNode] {
        &self.launches.nodes[..self.now.launches]
    }

    /// Where the collection is.
    fn mark(&self) -> Mark {
        Mark { kept: self.keep.len(), ..self.now }
    }

    /// Takes what the collection before made between two marks as made again; answers whether it could, which is where all up to the first went
    /// as it did then.
    fn repeat(&mut self, from: Mark, to: Mark) -> bool {
        let is_whole = self.work().is_none_or(|work| work.launches.len() == self.done);
        let Some(last) = to.works.checked_sub(1) else { return false };
        if !self.repeats || !is_whole || !self.now.is_at(from) || to.launches > self.launches.nodes.len() {
            return false;
        }
        self.close();
        let between = self.launches.works.get(from.works..to.works).unwrap_or(&[]);
        let launches: usize = between.iter().map(|work| work.launches.len()).sum();
        let Some(work) = self.launches.works.get(last).filter(|_| from.launches + launches == to.launches)
        else {
            return false;
        };
        (self.done, self.scratch) = (work.launches.len(), work.scratch);
        self.now = to;
        true
    }

    fn start(&mut self, before: Launches) {
        // Another thread may have ended the last collection under its owner's hands.
        drop(self.abandon());
        self.repeats = !before.works.is_empty();
        self.launches = before;
    }

    /// All of it, without what there was before of which nothing came now.
    fn finish(&mut self) -> Ended {
        self.close();
        let launches = self.now.launches;
        if self.repeats {
            self.launches.works.truncate(self.now.works);
        }
        if launches < self.launches.nodes.len() {
            self.launches.nodes.truncate(launches);
            self.launches.alike = false;
        }
        self.abandon()
    }

    /// Ends it as it is. What there was before, and was not come to, is there the next time.
    fn abandon(&mut self) -> Ended {
        (self.now, self.done, self.scratch, self.repeats) = (Mark::default(), 0, None, false);
        self.after.clear();
        self.order = Order::default();
        self.alone = None;
        self.scratches.iter_mut().for_each(|s| s.1 = None);
        // Nobody may have asked for a graph in a long time.
        if self.launches.changed.len() > self.launches.nodes.len() {
            self.launches.alike = false;
            self.launches.changed.clear();
        }
        Ended {
            launches: std::mem::take(&mut self.launches),
            keep: std::mem::take(&mut self.keep),
            started: false,
        }
    }
}

/// What was collected.
pub struct Ended {
    /// The launches, in order, for a graph and for the next collection.
    pub launches: Launches,
    /// Memory that they use, to be kept until they were started.
    pub keep: Vec<Buffer>,
    /// All of them were started already: there is nothing to make a graph of.
    pub started: bool,
}

impl Gpu {
    pub(super) fn collected(&self) -> MutexGuard<'_, Collected> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Collects launches from now on, rather than starting them, until [`Gpu::collected_launches`]. One thread at a time
    /// may; copies and waits start what was collected before. `before` is what the last collection of the same launches
    /// answered with, if there was one.
    pub fn collect_launches(&self, before: Launches) {
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

    /// Where the collection is; nothing where launches are not collected, or not any more.
    pub fn collected_mark(&self) -> Option<Mark> {
        let collected = self.collected();
        self.is_collecting().then(|| collected.mark())
    }

    /// Collects what the collection before made between two marks, as it was. Answers whether it did: it does where all went as it did then up to
    /// the first of them.
    pub fn collect_again(&self, from: Mark, to: Mark) -> bool {
        let mut collected = self.collected();
        self.is_collecting() && collected.repeat(from, to)
    }

    /// Stops collecting. Answers with the launches, none of which was started, or all of them.
    pub fn collected_launches(&self) -> Ended {
        let mut collected = self.collected();
        match self.collects.swap(false, Ordering::Relaxed) {
            true => collected.finish(),
            false => Ended { started: true, ..collected.abandon() },
        }
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
        let kept = std::mem::take(&mut collected.keep);
        let origin = Origin { name: "jit", line: std::panic::Location::caller() };
        let start = |node: &KernelNode| {
            // SAFETY: whoever asked for the launch vouched for it, in this order.
            unsafe {
                self.start(node.kernel, node.grid, node.block, node.shared, &node.args, node.gate, origin)
            }
        };
        let result = collected.so_far().iter().try_for_each(start);
        self.collects.store(false, Ordering::Relaxed);
        drop(collected);
        drop(kept);
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

    fn collect(collected: &mut Collected, before: Launches, plans: &[Plan]) -> Launches {
        collected.start(before);
        plans.iter().for_each(|plan| add(collected, plan));
        collected.finish().launches
    }

    fn add(collected: &mut Collected, (reads, writes, launches, scratch): &Plan) {
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

    /// What a graph of `old` launches has to be told to have `new` ones; nothing where it cannot be.
    fn told_apart(old: &[KernelNode], new: &[KernelNode]) -> Option<Vec<Position>> {
        let alike = old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.is_alike(new));
        let others = old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new);
        alike.then(|| others.map(|(at, _)| at as Position).collect())
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
        let before = collect(&mut collected, Launches::default(), &plans);
        plans[3].2 = 1;
        let launches = collect(&mut collected, before, &plans);
        assert_eq!(launches.nodes[3].args, launches.nodes[0].args);
        assert_eq!(*launches.nodes[3].after, [0]);
    }

    #[test]
    fn launches_that_have_the_device_alone_follow_one_another() {
        let mut collected = with_scratches();
        let mut before = Launches::default();
        for _ in 0..2 {
            collected.start(before);
            let (whole, part) = (200 << 10, 16 << 10);
            for (blocks, shared) in [(4, whole), (1, whole), (4, whole), (3, whole), (4, part), (8, whole)] {
                collected.begin(vec![], vec![]);
                let kernel = Kernel { function: std::ptr::null_mut() };
                let (grid, block, args, after) = ([blocks, 1, 1], [1; 3], Box::default(), Box::default());
                collected.push(KernelNode { kernel, grid, block, shared, args, gate: [0; 2], after });
            }
            let launches = collected.finish().launches;
            let after: Vec<&[Position]> = launches.nodes.iter().map(|node| &*node.after).collect();
            assert_eq!(after, [&[][..], &[], &[0], &[], &[], &[2]]);
            before = launches;
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
            let mut before = collect(&mut collected, Launches::default(), &first);
            let fresh = collect(&mut collected, Launches::default(), &plans);
            before.told();
            let expected = told_apart(&before.nodes, &fresh.nodes);
            let known = collect(&mut collected, before, &plans);
            prop_assert_eq!(&fresh.nodes, &known.nodes);
            prop_assert_eq!(known.changed(), expected.as_deref());
            let (nodes, changed) = (known.nodes.clone(), known.changed.len());
            let again = collect(&mut collected, known, &plans);
            prop_assert_eq!(&nodes, &again.nodes);
            prop_assert_eq!(again.changed.len(), changed);
        }

        /// Launches that are taken as made again are what they would have been, wherever a collection goes another way or is started early.
        #[test]
        fn launches_made_again_are_as_they_were(
            first in works(),
            second in works(),
            same in 0usize..20,
            again in prop::collection::vec(any::<bool>(), 20),
            early in prop::option::of(0usize..20),
        ) {
            let mut collected = with_scratches();
            let plans: Vec<Plan> = first.iter().take(same).chain(second.iter().skip(same)).cloned().collect();
            collected.start(Launches::default());
            let mut marks = vec![collected.mark()];
            for plan in &first {
                add(&mut collected, plan);
                marks.push(collected.mark());
            }
            let mut before = collected.finish().launches;
            before.told();
            let made = before.nodes.clone();
            let run = |collected: &mut Collected, before: Launches, until: usize| {
                collected.start(before);
                for (at, plan) in plans.iter().enumerate().take(until) {
                    let is_known = again[at] && first.get(at) == Some(plan);
                    if !is_known || !collected.repeat(marks[at], marks[at + 1]) {
                        add(collected, plan);
                    }
                }
            };
            let fresh = collect(&mut collected, Launches::default(), &plans);
            if let Some(early) = early {
                run(&mut collected, before, early);
                let so_far = collected.so_far().to_vec();
                prop_assert_eq!(&fresh.nodes[..so_far.len()], &so_far);
                before = collected.abandon().launches;
            }
            // What was told of before it was started early is still to be told to the graph.
            run(&mut collected, before, usize::MAX);
            let launches = collected.finish().launches;
            prop_assert_eq!(&fresh.nodes, &launches.nodes);
            if let Some(changed) = launches.changed() {
                let expected = told_apart(&made, &fresh.nodes);
                prop_assert!(expected.is_some_and(|all| all.iter().all(|at| changed.contains(at))));
            }
        }
    }
}
