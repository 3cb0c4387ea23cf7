//! Realisation: from "this value is needed" to launches, by way of a plan that is made once for each structure.

use crate::hash::mix;
use crate::kernel::strides_signature;
use crate::node::{Inner, Node, Sources};
use crate::op::{Map, Op, SourceKind};
use crate::plan::{Origin, Plan};
use crate::recent::{Limits, Recent, Weighed};
use crate::replay::{Realised, Seen};
use crate::schedule;
use mg_device::{Error, ErrorKind, Result};
use smallvec::SmallVec;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// Pending work that is computed by itself when this many nodes wait: more than a step of a network of fifty layers makes. A step that is
/// cut in two does work of one program in two.
const MAX_PENDING: usize = 1 << 14;
/// What a person holds is computed by itself once so many others were computed since it was made: it keeps what it is to be computed of, old
/// values of weights among that, and is looked at each time.
const PATIENCE: usize = 16;
/// Plans kept of either generation, by number and by the words that tell their graphs: some 450 bytes of a plan each, so that of recurrent
/// networks over sequences of hundreds of lengths no more is kept than a machine has room for.
const PLANS: Limits = Limits { count: 512, weight: 1 << 19 };

impl Weighed for Plan {
    fn weight(&self) -> usize {
        self.key.len()
    }
}

impl Default for Recent<Plan> {
    fn default() -> Self {
        Recent::new(PLANS)
    }
}

/// What is asked of a node in a realisation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Root {
    No,
    Optional,
    Required,
}

/// What the collecting walk found out about a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Info {
    pub(crate) root: Root,
    /// Somebody outside this plan refers to it.
    pub(crate) external: bool,
    /// Its sources are wanted after its value is known.
    pub(crate) tracked: bool,
    /// Nobody but this plan refers to it, nor to its memory.
    pub(crate) dies: bool,
}

/// The pending graph below some roots, sources first.
pub(crate) struct Collected<'a> {
    pub(crate) nodes: Vec<&'a Inner>,
    pub(crate) info: Vec<Info>,
    pub(crate) words: Vec<u64>,
}

impl Collected<'_> {
    /// The positions of a node's sources (none for nodes whose value is known).
    pub(crate) fn sources(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        let node = self.nodes[i];
        let pending = node.value.get().is_none();
        // SAFETY: the engine's lock is held while a `Collected` lives.
        let sources = unsafe { node.sources_unlocked() };
        sources.iter().filter(move |_| pending).map(|s| s.0.mark.index.load(Ordering::Relaxed) as usize)
    }
}

#[derive(Default)]
pub(crate) struct Engine {
    epoch: u64,
    plans: Recent<Plan>,
    made: u64,
    reused: u64,
    /// Memory of the last realisation, to be used again.
    stack: Vec<(*const Inner, usize)>,
    list: Vec<&'static Inner>,
    info: Vec<Info>,
    words: Vec<u64>,
    others: Vec<Node>,
    /// The numbers that the next node had when things were computed, the last times.
    turns: VecDeque<u64>,
}

// SAFETY: the raw pointers on the stack are valid only within one realisation; the stack is empty between them.
unsafe impl Send for Engine {}

/// An empty vector of another lifetime in the same memory.
fn recycled<'b>(mut list: Vec<&Inner>) -> Vec<&'b Inner> {
    list.clear();
    // Collecting a vector's own iterator keeps its allocation; there is nothing in it to be mapped.
    list.into_iter().map(|_| unreachable!("the list is empty")).collect()
}

static ENGINE: Mutex<Option<Engine>> = Mutex::new(None);
static REGISTRY: Mutex<Registry> = Mutex::new(Registry { nodes: Vec::new(), recorded: Vec::new() });
static WAITING: AtomicUsize = AtomicUsize::new(0);
static EAGER: AtomicU64 = AtomicU64::new(u64::MAX);

/// The pending nodes that people hold.
struct Registry {
    nodes: Vec<Weak<Inner>>,
    /// Those that steps make which are being recorded. They are the recording thread's alone: what another one computed of them by itself, when
    /// they have waited for long or beside its own, would be missing from that run, and the run would be like no other.
    recorded: Vec<Recorded>,
}

/// What a step that is being recorded has made.
struct Recorded {
    /// The number that its recording began with.
    by: u64,
    nodes: Vec<Weak<Inner>>,
    /// Entries of nodes that do not wait any more are removed when there are as many.
    most: usize,
}

impl Registry {
    /// What the recording that began with a number has made.
    fn recorded_by(&mut self, by: u64) -> &mut Recorded {
        let at = self.recorded.iter().position(|recorded| recorded.by == by).unwrap_or(self.recorded.len());
        if at == self.recorded.len() {
            self.recorded.push(Recorded { by, nodes: vec![], most: MAX_PENDING });
        }
        &mut self.recorded[at]
    }
}

/// Takes the engine's lock. A panic inside the engine cannot leave it half-changed: all of its state is rebuilt by the
/// next realisation, so a poisoned lock is taken all the same.
pub(crate) fn lock() -> MutexGuard<'static, Option<Engine>> {
    crate::wait::locked(&ENGINE)
}

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Whether every operation is computed at once (`MG_EAGER=1`): the same executors, one node a program.
pub fn is_eager() -> bool {
    match EAGER.load(Ordering::Relaxed) {
        u64::MAX => {
            let eager = std::env::var_os("MG_EAGER").is_some_and(|v| !v.is_empty() && v != "0");
            EAGER.store(eager as u64, Ordering::Relaxed);
            eager
        }
        v => v == 1,
    }
}

/// Switches the computing of every operation at once on or off; see [`is_eager`].
pub fn set_eager(eager: bool) {
    EAGER.store(eager as u64, Ordering::Relaxed);
}

/// Remembers a pending node that a person holds.
pub(crate) fn register(node: &Node) {
    if crate::replay::is_recording() {
        return register_recorded(node, crate::replay::started());
    }
    if node.waits_long() {
        // A failure stays with it.
        let _ = realize_quietly(&[node]);
        return;
    }
    let mut registry = self::registry();
    registry.nodes.push(Arc::downgrade(&node.0));
    let most = MAX_PENDING.max(2 * WAITING.load(Ordering::Relaxed));
    if registry.nodes.len() < most {
        return;
    }
    let waiting = tidy(registry);
    // As many have to wait, and not to have waited: so a step that is cut is cut where the step before it was, whose plans are known.
    if waiting.len() < most {
        return;
    }
    let oldest: Vec<Node> = waiting.into_iter().filter(|n| n.is_held() || n.is_optional()).collect();
    // A failure is kept by the nodes it concerns.
    let _ = realize_quietly(&oldest.iter().collect::<Vec<_>>());
    // Only what waits still makes the next time come later.
    WAITING.store(tidy(self::registry()).len(), Ordering::Relaxed);
}

/// As [`register`], of a node that a step makes whose recording began with this number. None is computed by itself: runs that are recorded agree only
/// where they are computed at the same places, and what waits is computed at their end.
fn register_recorded(node: &Node, by: u64) {
    let mut registry = registry();
    let recorded = registry.recorded_by(by);
    recorded.nodes.push(Arc::downgrade(&node.0));
    if recorded.nodes.len() >= recorded.most {
        let waiting = pending_of(&mut recorded.nodes);
        recorded.most = MAX_PENDING.max(2 * recorded.nodes.len());
        drop(registry);
        drop(waiting);
    }
}

/// A recording is over: what it has made and waits is anybody's.
pub(crate) fn end_recorded(by: u64) {
    let mut registry = registry();
    let Some(at) = registry.recorded.iter().position(|recorded| recorded.by == by) else { return };
    let mut recorded = registry.recorded.swap_remove(at);
    // An entry keeps the memory of a node that is gone, and steps that fail compute nothing, which would forget it.
    let known = pending_of(&mut recorded.nodes);
    registry.nodes.extend(recorded.nodes);
    let most = MAX_PENDING.max(2 * WAITING.load(Ordering::Relaxed));
    let waiting = if registry.nodes.len() < most { vec![] } else { pending_of(&mut registry.nodes) };
    drop(registry);
    drop((known, waiting));
}

/// Forgets the entries of nodes that do not wait any more, and answers with all nodes that there are: what nobody else holds is let go behind the
/// registry's lock, as that may run anybody's code.
fn pending_of(entries: &mut Vec<Weak<Inner>>) -> Vec<Node> {
    let known: Vec<Node> = entries.iter().filter_map(Weak::upgrade).map(Node).collect();
    *entries = known.iter().filter(|node| node.is_pending()).map(|node| Arc::downgrade(&node.0)).collect();
    known
}

/// Forgets the entries of nodes that do not wait any more, and answers with those that do.
fn tidy(mut registry: MutexGuard<'_, Registry>) -> Vec<Node> {
    let known = pending_of(&mut registry.nodes);
    drop(registry);
    known.into_iter().filter(Node::is_pending).collect()
}

/// What is pending and somebody may want for itself, in an order that is the same from run to run: all but what other threads' recordings have made.
/// The registry keeps no more than that.
fn take_waiting(others: &mut Vec<Node>) {
    // Another thread may let go of one meanwhile: as in `tidy`, it goes behind the lock then.
    let mut left: SmallVec<[Node; 4]> = SmallVec::new();
    let mut take = |entries: &mut Vec<Weak<Inner>>| {
        let mut i = 0;
        while i < entries.len() {
            let node = entries[i].upgrade().map(Node);
            match node {
                Some(node) if node.is_pending() && (node.is_held() || node.is_optional()) => {
                    others.push(node);
                    i += 1;
                }
                // Nobody wants it for itself. It comes back when somebody holds it again.
                node => {
                    left.extend(node);
                    entries.swap_remove(i);
                }
            }
        }
    };
    {
        let mut registry = registry();
        take(&mut registry.nodes);
        WAITING.fetch_min(registry.nodes.len(), Ordering::Relaxed);
        if crate::replay::is_recording() {
            take(&mut registry.recorded_by(crate::replay::started()).nodes);
        }
    }
    drop(left);
    // The registry's order is not the same from run to run; a plan's must be.
    others.sort_unstable_by_key(|n| n.0.seq);
}

/// Counters of the plan cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanStats {
    /// Plans made.
    pub made: u64,
    /// Realisations that found their plan.
    pub reused: u64,
    /// Plans kept.
    pub cached: usize,
}

/// How often plans were made and found again.
pub fn plan_stats() -> PlanStats {
    let engine = lock();
    engine.as_ref().map_or(PlanStats::default(), |e| PlanStats {
        made: e.made,
        reused: e.reused,
        cached: e.plans.len(),
    })
}

/// Forgets all plans.
pub fn clear_plans() {
    if let Some(engine) = lock().as_mut() {
        engine.plans.clear();
    }
}

/// Computes nodes, and what shares work with them.
///
/// # Errors
///
/// The first failure among the nodes asked for; others keep theirs for their readers.
pub fn realize(nodes: &[&Node]) -> Result<()> {
    let result = realize_quietly(nodes);
    if result.is_err() {
        // Whoever asked for several values learns of all that failed by the first.
        for node in nodes {
            if let Some(Err(error)) = node.value() {
                error.report();
            }
        }
    }
    result.inspect_err(Error::report)
}

/// As [`realize`], for those who tell nobody of a failure: it stays untold, and with the nodes that it concerns.
///
/// # Errors
///
/// As [`realize`].
pub fn realize_quietly(nodes: &[&Node]) -> Result<()> {
    no_placeholders(nodes)?;
    if nodes.iter().any(|n| n.is_pending()) {
        let mut overdue = vec![];
        let result = realize_now(nodes, &mut overdue);
        if !overdue.is_empty() {
            // A failure stays with the node that it concerns.
            let _ = realize_now(&overdue.iter().collect::<Vec<_>>(), &mut vec![]);
        }
        if let Err(error) = result {
            // Memory is asked for by the engine, in the name of a line that somebody wrote.
            use ErrorKind::{Cuda, Device, OutOfMemory};
            let is_machine = matches!(error.kind(), OutOfMemory { .. } | Cuda(_) | Device(_));
            let asked = nodes.first().filter(|_| is_machine);
            let error = asked.map_or(error.clone(), |node| error.clone().with_location(node.location()));
            if is_machine {
                give_up(nodes, &error);
            }
            return Err(error);
        }
    }
    match nodes.iter().find_map(|node| node.value().and_then(|v| v.as_ref().err())) {
        Some(error) => Err(error.clone()),
        None => Ok(()),
    }
}

/// Computes nodes; tells what has waited for long and is still not computed.
fn realize_now(nodes: &[&Node], overdue: &mut Vec<Node>) -> Result<()> {
    // Nodes that become unreachable are dropped after the lock is released: that may run foreign code.
    let mut garbage = Garbage::default();
    let mut guard = lock();
    let engine = guard.get_or_insert_default();
    let result = engine.realize(nodes, overdue, &mut garbage);
    drop(guard);
    drop(garbage);
    result
}

/// The error of whoever asks for a value that is not there.
fn no_placeholders(nodes: &[&Node]) -> Result<()> {
    match nodes.iter().any(|node| node.is_traced()) {
        false => Ok(()),
        true => {
            let text = "the function stands for many examples at once, and has no values that could be read or decided by: \
                        use where() for what depends on them";
            Err(Error::new("vmap", ErrorKind::Value(text.into())))
        }
    }
}

/// What was to be written to tensors and cannot be computed on this machine will not be tried again by whoever reads them:
/// they go back to what they stood for.
fn give_up(nodes: &[&Node], error: &Error) {
    for node in nodes.iter().filter(|n| n.is_pending() && n.before().is_some()) {
        let _ = node.0.value.set(Err(error.clone()));
    }
}

/// Shows the plan that [`realize`] would run for these nodes; nothing is computed.
pub(crate) fn with_plan<R>(nodes: &[&Node], f: impl FnOnce(&Plan, &Collected) -> R) -> Result<Option<R>> {
    no_placeholders(nodes)?;
    // Dropped after the lock is released, as in `realize`.
    let mut keep_alive = vec![];
    let mut guard = lock();
    let engine = guard.get_or_insert_default();
    let collected = engine.collect(nodes, &mut keep_alive);
    if let Some(error) = nodes.iter().find_map(|n| n.value()?.as_ref().err()) {
        return Err(error.clone());
    }
    let Some(collected) = collected else { return Ok(None) };
    let plan = engine.plan(&collected)?;
    let result = f(&plan, &collected);
    engine.recycle(collected);
    Ok(Some(result))
}

/// Marks the values that are read again when something is computed that a plan has left out.
fn note_read_later(collected: &Collected) {
    if !collected.info.iter().any(|info| info.tracked) {
        return;
    }
    for inner in &collected.nodes {
        // A view of memory sees what is written there in any case.
        if inner.value.get().is_some() || inner.op.is_source() || matches!(inner.op, Op::View(_)) {
            continue;
        }
        // SAFETY: the engine's lock is held (a `Collected` exists).
        let mut stack: SmallVec<[&Node; 8]> = unsafe { inner.sources_unlocked() }.iter().collect();
        while let Some(source) = stack.pop() {
            match source.0.value.get() {
                Some(_) => source.set_read_later(),
                None if matches!(source.0.op, Op::View(_)) => {
                    // SAFETY: see above.
                    stack.extend(unsafe { source.0.sources_unlocked() });
                }
                None => {}
            }
        }
    }
}

/// Computes whatever somebody holds that is pending and is computed of the values of these nodes. Failures stay with the nodes
/// that they concern.
pub fn compute_readers(of: &[Node]) {
    let waiting: Vec<Node> = {
        let registry = registry();
        // Other threads' recordings, too: what they have made is of what these values are now.
        let recorded = registry.recorded.iter().flat_map(|recorded| &recorded.nodes);
        registry.nodes.iter().chain(recorded).filter_map(Weak::upgrade).map(Node).collect()
    };
    let mut reading: Vec<&Node> = vec![];
    {
        let _engine = lock();
        let mut seen: HashMap<*const Inner, bool> = of.iter().map(|n| (Arc::as_ptr(&n.0), true)).collect();
        for node in waiting.iter().filter(|n| n.is_pending()) {
            // Depth first: a node's answer is known when it is met again on the way back.
            let mut stack: Vec<(&Inner, usize)> = vec![(&node.0, 0)];
            while let Some((inner, next)) = stack.last_mut() {
                let inner = *inner;
                // SAFETY: the engine's lock is held.
                let sources = unsafe { inner.sources_unlocked() };
                if let Some(source) = sources.get(*next).filter(|_| inner.value.get().is_none()) {
                    *next += 1;
                    if !seen.contains_key(&Arc::as_ptr(&source.0)) {
                        stack.push((&source.0, 0));
                    }
                    continue;
                }
                let known = |n: &Node| seen.get(&Arc::as_ptr(&n.0)).copied().unwrap_or(false);
                let reads = inner.value.get().is_none() && sources.iter().any(known);
                seen.insert(std::ptr::from_ref(inner), reads);
                stack.pop();
            }
            if seen.get(&Arc::as_ptr(&node.0)).copied().unwrap_or(false) {
                reading.push(node);
            }
        }
    }
    // What several of them have in common is computed once.
    let _ = realize_quietly(&reading);
}

#[derive(Default)]
pub(crate) struct Garbage {
    pub(crate) nodes: SmallVec<[Node; 8]>,
    /// Nodes that nobody else held.
    last: Vec<Inner>,
    pub(crate) sources: SmallVec<[Sources; 4]>,
}

impl Engine {
    fn realize(&mut self, nodes: &[&Node], overdue: &mut Vec<Node>, garbage: &mut Garbage) -> Result<()> {
        crate::node::note_computing();
        // What is only seen from here stays alive while raw pointers to it do.
        let mut others = std::mem::take(&mut self.others);
        let result = (|| {
            let Some(collected) = self.collect(nodes, &mut others) else { return Ok(()) };
            let plan = self.plan(&collected)?;
            if crate::replay::is_recording() {
                note(&collected, &plan);
            }
            let result = plan.run(&collected, garbage);
            note_read_later(&collected);
            self.recycle(collected);
            result
        })();
        let patience = self.patience();
        let is_overdue = |node: &&Node| node.0.seq < patience && node.is_held() && node.is_pending();
        overdue.extend(others.iter().filter(is_overdue).cloned());
        // What others hold is let go at once: behind the lock another thread would find it held by one more, and plan otherwise.
        garbage.last.extend(others.drain(..).filter_map(|node| Arc::into_inner(node.0)));
        self.others = others;
        result
    }

    fn recycle(&mut self, collected: Collected) {
        self.words = collected.words;
        self.info = collected.info;
        self.list = recycled(collected.nodes);
    }

    fn plan(&mut self, collected: &Collected) -> Result<Arc<Plan>> {
        let key = collected.words.iter().fold(collected.words.len() as u64, |h, &w| mix(h, w));
        if let Some(found) = self.plans.find(key, |plan| plan.key == collected.words) {
            self.reused += 1;
            return Ok(found);
        }
        let plan = Arc::new(schedule::plan(collected)?);
        crate::explain::log(&plan, collected);
        self.plans.add(key, plan.clone());
        self.made += 1;
        Ok(plan)
    }

    /// Counts something that is computed; what is older than the answer has waited for long. Runs that are recorded agree only where they
    /// compute the same.
    fn patience(&mut self) -> u64 {
        self.turns.push_back(crate::node::next_sequence());
        match self.turns.len() > PATIENCE {
            true => self.turns.pop_front().filter(|_| !crate::replay::is_recording()).unwrap_or(0),
            false => 0,
        }
    }

    /// Walks what is pending below the roots and below those held nodes that share work with them.
    fn collect<'a>(&mut self, nodes: &[&'a Node], others: &'a mut Vec<Node>) -> Option<Collected<'a>> {
        self.epoch += 1;
        let epoch = self.epoch;
        let mut list: Vec<&'a Inner> = recycled(std::mem::take(&mut self.list));
        for node in nodes.iter().filter(|n| n.is_pending()) {
            self.walk(&node.0, epoch, &mut list);
        }
        if list.is_empty() {
            return None;
        }
        take_waiting(others);
        let others: &'a [Node] = others;
        self.walk_sharing(others, epoch, &mut list);
        // Where something may be refused, what a tensor stood for before may be asked for again.
        let checked = list.iter().any(|inner| inner.value.get().is_none() && may_refuse(inner));
        let firsts = if checked { self.first_values(epoch, &mut list) } else { SmallVec::new() };
        self.count_edges(&list, epoch, checked);
        let mut info = std::mem::take(&mut self.info);
        self.found_out(&list, &mut info);
        let at = |inner: &Inner| inner.mark.index.load(Ordering::Relaxed) as usize;
        let is_asked = |node: &&Node| node.0.mark.epoch.load(Ordering::Relaxed) == epoch;
        for node in others.iter().filter(is_asked) {
            info[at(&node.0)].root = if node.is_held() { Root::Required } else { Root::Optional };
        }
        for node in nodes.iter().filter(|n| n.is_pending()) {
            info[at(&node.0)].root = Root::Required;
        }
        for first in firsts {
            info[at(first)].root = Root::Required;
        }
        let mut words = std::mem::take(&mut self.words);
        self.spell(&list, &info, &mut words);
        Some(Collected { nodes: list, info, words })
    }

    /// Walks those of the held nodes that share work with what is listed, oldest first.
    fn walk_sharing<'a>(&mut self, others: &'a [Node], epoch: u64, list: &mut Vec<&'a Inner>) {
        let mut oldest = oldest_pending(list);
        for node in others {
            let is_asked = node.0.mark.epoch.load(Ordering::Relaxed) == epoch;
            if !is_asked && self.touches(&node.0, epoch, oldest) {
                let from = list.len();
                self.walk(&node.0, epoch, list);
                oldest = oldest.min(oldest_pending(&list[from..]));
            }
        }
    }

    /// Counts, for each node, how often the pending ones of the list hold it.
    fn count_edges(&self, list: &[&Inner], epoch: u64, checked: bool) {
        for inner in list.iter().filter(|inner| inner.value.get().is_none()) {
            // SAFETY: the engine's lock is held.
            for source in unsafe { inner.sources_unlocked() } {
                source.0.mark.count_edge();
            }
            // What a tensor stood for before is not wanted any more, once the plan has run.
            // SAFETY: as above.
            if let Some(before) = unsafe { inner.before_unlocked() }
                && (!checked || !before.is_pending())
                && before.0.mark.epoch.load(Ordering::Relaxed) == epoch
            {
                before.0.mark.count_edge();
            }
        }
    }

    /// What a plan has to know of each node besides its operation, when edges are counted: no node is a root yet.
    fn found_out(&self, list: &[&Inner], info: &mut Vec<Info>) {
        info.clear();
        info.extend(list.iter().map(|&inner| {
            let edges = inner.mark.take_edges();
            // SAFETY: `inner` lives in an `Arc` that a root keeps alive.
            let strong = unsafe { strong_count(inner) };
            let external = strong > edges;
            let (tracked, released) = inner.flags();
            let dies = !external
                && matches!(inner.value.get(), Some(Ok(v)) if v.buffer.ref_count() == 1 && !v.buffer.is_borrowed());
            Info { root: Root::No, external, tracked: tracked && !released, dies }
        }));
    }

    /// The words by which a plan is found: equal ones stand for the same structure, whatever the nodes are.
    fn spell(&self, list: &[&Inner], info: &[Info], words: &mut Vec<u64>) {
        words.clear();
        for (inner, info) in list.iter().zip(info) {
            let flags = info.root as u64
                | (info.external as u64) << 2
                | (info.tracked as u64) << 3
                | (info.dies as u64) << 4
                | (inner.is_to_lie_innermost() as u64) << 5;
            words.push(mix(inner.plan_signature(), flags));
            match inner.value.get() {
                Some(Ok(value)) => words.push(strides_signature(&value.layout, 1)),
                Some(Err(_)) | None => {
                    // SAFETY: the engine's lock is held.
                    let sources = unsafe { inner.sources_unlocked() };
                    // Two positions a word: most nodes have one or two sources.
                    for pair in sources.chunks(2) {
                        let index = |n: &Node| n.0.mark.index.load(Ordering::Relaxed) as u64;
                        words.push(index(&pair[0]) | pair.get(1).map_or(u64::MAX << 32, |n| index(n) << 32));
                    }
                }
            }
        }
    }

    /// What tensors stood for that are written to where a check on a CUDA device may refuse it, and that never had a value: they
    /// go back to it, and it is computed with the rest. What a check refuses anyhow is nothing to go back to.
    fn first_values<'a>(&mut self, epoch: u64, list: &mut Vec<&'a Inner>) -> SmallVec<[&'a Inner; 2]> {
        let mut firsts: SmallVec<[&'a Inner; 2]> = SmallVec::new();
        let is_check =
            |inner: &Inner| inner.value.get().is_none() && inner.device.is_cuda() && may_refuse(inner);
        if !list.iter().any(|inner| is_check(inner)) {
            return firsts;
        }
        // The checks that each node depends on; of more than there are bits some share one.
        let mut depends = vec![0u64; list.len()];
        let mut checks = 0;
        for (i, inner) in list.iter().enumerate().filter(|(_, inner)| inner.value.get().is_none()) {
            // SAFETY: the engine's lock is held.
            let sources = unsafe { inner.sources_unlocked() };
            depends[i] = sources
                .iter()
                .fold(0, |bits, s| bits | depends[s.0.mark.index.load(Ordering::Relaxed) as usize]);
            if is_check(inner) {
                depends[i] |= 1 << (checks % 64);
                checks += 1;
            }
        }
        for (i, inner) in list.iter().enumerate().filter(|(i, _)| depends[*i] != 0) {
            // SAFETY: the engine's lock is held; what is found is kept alive by the node that was written.
            let mut before = unsafe { inner.before_unlocked() };
            while let Some(node) = before.filter(|node| node.is_pending()) {
                // SAFETY: as above.
                before = unsafe { node.0.before_unlocked() };
                if before.is_none() {
                    let index = node.0.mark.index.load(Ordering::Relaxed) as usize;
                    let is_listed = node.0.mark.epoch.load(Ordering::Relaxed) == epoch;
                    let own = if is_listed { depends[index] } else { 0 };
                    // SAFETY: the node that was written, which a root keeps alive, has it until its own value is known.
                    let first: &'a Inner = unsafe { &*Arc::as_ptr(&node.0) };
                    if (checks > 64 || depends[i] & !own != 0)
                        && !firsts.iter().any(|known| std::ptr::eq(*known, first))
                    {
                        firsts.push(first);
                    }
                }
            }
        }
        for first in &firsts {
            self.walk(first, epoch, list);
        }
        // What has failed is not among the nodes, and nothing to go back to.
        firsts.retain(|first| first.value.get().is_none());
        firsts
    }

    /// Adds a node and all that is pending below it, sources first. Where something below it has failed, nothing is added,
    /// and what lies between has failed too.
    fn walk<'a>(&mut self, root: &'a Inner, epoch: u64, list: &mut Vec<&'a Inner>) {
        if root.mark.epoch.load(Ordering::Relaxed) == epoch {
            return;
        }
        let before = list.len();
        self.stack.push((root, 0));
        root.mark.epoch.store(epoch, Ordering::Relaxed);
        while let Some((at, next)) = self.stack.last_mut() {
            // SAFETY: everything on the stack is reachable from a root that the caller keeps alive; the engine's lock
            // is held, so no sources are cut meanwhile.
            let inner: &'a Inner = unsafe { &**at };
            let child = match inner.value.get() {
                None => {
                    // SAFETY: as above.
                    let sources: &'a Sources = unsafe { inner.sources_unlocked() };
                    sources.get(*next)
                }
                Some(Ok(_)) => None,
                Some(Err(error)) => {
                    for (reader, _) in self.stack.drain(..) {
                        // SAFETY: as above.
                        let reader = unsafe { &*reader };
                        reader.mark.epoch.store(0, Ordering::Relaxed);
                        // It will never be computed; its readers get the error without looking for it.
                        let _ = reader.value.set(Err(error.clone()));
                    }
                    for added in list.drain(before..) {
                        added.mark.epoch.store(0, Ordering::Relaxed);
                    }
                    return;
                }
            };
            match child {
                Some(source) => {
                    *next += 1;
                    if source.0.mark.epoch.load(Ordering::Relaxed) != epoch {
                        source.0.mark.epoch.store(epoch, Ordering::Relaxed);
                        self.stack.push((Arc::as_ptr(&source.0), 0));
                    }
                }
                None => {
                    inner.mark.index.store(list.len() as u32, Ordering::Relaxed);
                    list.push(inner);
                    self.stack.pop();
                }
            }
        }
    }

    /// Whether a node depends on pending work of this realisation, of which the node `oldest` was made first, and on nothing that failed.
    fn touches(&mut self, root: &Inner, epoch: u64, oldest: u64) -> bool {
        let mut touches = false;
        // What is older depends on none of that work: it is looked at where failures matter.
        let mut older: SmallVec<[*const Inner; 8]> = SmallVec::new();
        self.stack.clear();
        self.stack.push((root, 0));
        while let Some(at) = self.stack.pop().map(|(at, _)| at).or_else(|| older.pop().filter(|_| touches)) {
            // SAFETY: as in `walk`.
            let inner = unsafe { &*at };
            match inner.value.get() {
                Some(Ok(_)) => continue,
                Some(Err(_)) => {
                    self.stack.clear();
                    return false;
                }
                None => {}
            }
            if inner.op.is_source() {
                continue;
            }
            if inner.mark.epoch.load(Ordering::Relaxed) == epoch {
                touches = true;
                continue;
            }
            if inner.mark.seen.load(Ordering::Relaxed) == epoch {
                continue;
            }
            if inner.seq < oldest && !touches {
                older.push(at);
                continue;
            }
            inner.mark.seen.store(epoch, Ordering::Relaxed);
            // SAFETY: as in `walk`.
            self.stack.extend(unsafe { inner.sources_unlocked() }.iter().map(|s| (Arc::as_ptr(&s.0), 0)));
        }
        touches
    }
}

/// The number of the node that was made first of those that are to be computed.
fn oldest_pending(list: &[&Inner]) -> u64 {
    let pending = list.iter().filter(|inner| inner.value.get().is_none() && !inner.op.is_source());
    pending.map(|inner| inner.seq).min().unwrap_or(u64::MAX)
}

/// Tells the recording what a plan is about to read and compute.
fn note(collected: &Collected, plan: &Arc<Plan>) {
    let start = crate::replay::started();
    let seen = |i: usize| Seen::of(collected.nodes[i], start);
    let is_read = |i: &usize| collected.nodes[*i].value.get().is_some() || is_argument(collected.nodes[*i]);
    crate::replay::note_step(Realised {
        plan: plan.clone(),
        read: (0..collected.nodes.len()).filter(is_read).map(|i| (i, seen(i))).collect(),
        results: plan.results.iter().map(|r| seen(r.node)).collect(),
        origins: plan.origins().map(|i| (i, Origin::of(collected.nodes[i]))).collect(),
    });
}

/// Runs `f` under the engine's lock: launches of two threads never interleave, and nothing that is computed writes to memory meanwhile. What `f` does
/// computes nothing itself, as that would wait for the lock.
pub fn under_lock<R>(f: impl FnOnce() -> R) -> R {
    let _engine = lock();
    f()
}

/// Whether computing a node may refuse what it reads.
fn may_refuse(inner: &Inner) -> bool {
    match &inner.op {
        Op::Kernel(kernel) => kernel.is_checked(),
        Op::Map(Map::Guard { .. }) => true,
        Op::Map(Map::Row(row)) => row.refuses_zero(inner.dtype),
        Op::Map(Map::Cast | Map::Copy { .. }) | Op::Source(_) | Op::View(_) | Op::Reduce(..) => false,
    }
}

/// The number of strong references to a node.
///
/// Safety: `inner` lives in an `Arc`.
unsafe fn strong_count(inner: &Inner) -> usize {
    // SAFETY: by this function's contract; the temporary `Arc` is not dropped.
    let arc = std::mem::ManuallyDrop::new(unsafe { Arc::from_raw(inner as *const Inner) });
    Arc::strong_count(&arc)
}

/// Whether a node is an argument of launches rather than something to compute or to read from memory.
pub(crate) fn is_argument(inner: &Inner) -> bool {
    matches!(&inner.op, Op::Source(kind) if *kind != SourceKind::Data) && inner.value.get().is_none()
}

/// An error of the engine itself: a report is wanted.
pub(crate) fn internal(text: impl Into<String>) -> Error {
    Error::new("schedule", mg_device::ErrorKind::Internal(text.into()))
}
