//! Reverse mode: one walk over the graph, from results to leaves, that answers with more graph.

use crate::anomaly;
use crate::caller::named;
use crate::function::{Arrived, Call, Onward};
use crate::gathered::Gathered;
use crate::history::History;
use crate::hooks::{self, Watch};
use crate::jit;
use crate::operations::of_operations;
use crate::rules;
use crate::tensor::memory::{Changing, apart, locked, may_be_borrowed, settle, untracked};
use crate::tensor::{Cell, Tensor};
use crate::transform::batch::{leaked, leaks};
use mg_device::{Error, ErrorKind, Result, Shape};
use mg_graph::{Kernel, Map, Node, Op, Overwritten, SourceKind, Sources, Tag, WordHasher};
use mg_kernels::{Algebra, ReduceKind, Row};
use smallvec::SmallVec;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::sync::{Arc, Mutex};

/// While it lives, operations on this thread record nothing for gradients.
#[must_use = "gradients are recorded again when this is dropped"]
pub struct NoGrad(bool);

impl Drop for NoGrad {
    fn drop(&mut self) {
        mg_graph::set_tracking(self.0);
    }
}

impl NoGrad {
    /// Restores this when it is dropped.
    pub(crate) fn of(before: bool) -> NoGrad {
        NoGrad(before)
    }
}

/// Switches the recording of gradients off on this thread, until the guard is dropped.
pub fn no_grad() -> NoGrad {
    NoGrad(mg_graph::set_tracking(false))
}

/// Switches the recording of gradients on on this thread, until the guard is dropped.
pub fn enable_grad() -> NoGrad {
    NoGrad(mg_graph::set_tracking(true))
}

/// Whether operations on this thread record what gradients need.
pub fn is_grad_enabled() -> bool {
    mg_graph::is_tracking()
}

/// How to walk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backward {
    /// Keep the graph, so that it can be walked again.
    pub retain_graph: bool,
    /// Record the gradients' own computation, for gradients of gradients. Keeps the graph.
    pub create_graph: bool,
}

/// Nodes whose gradient is not complete yet, by sequence: the youngest is complete, since all that reads it is younger.
type Front = BTreeMap<u64, (Node, Gathered)>;

/// Adds to a node's gradient.
fn add(front: &mut Front, node: &Node, gradient: Node) {
    match front.entry(node.sequence()) {
        Entry::Occupied(mut slot) => slot.get_mut().1.add(gradient),
        Entry::Vacant(slot) => {
            slot.insert((node.clone(), Gathered::Sum(gradient)));
        }
    }
}

/// Comes to a node without a gradient for it.
fn add_nothing(front: &mut Front, node: &Node) {
    front.entry(node.sequence()).or_insert_with(|| (node.clone(), Gathered::Nothing));
}

/// Passes what writes a box into something: the box's gradient goes to what was written, the rest, as it has been gathered, to what was
/// written to. Many writes to one memory cost their own elements each, not all of them. Answers with whether it was that.
fn through_write(
    node: &Node,
    gathered: &mut Gathered,
    front: &mut Front,
    leads: impl Fn(&Node) -> bool,
) -> Result<bool> {
    let Op::Kernel(Kernel::Write { region }) = node.op() else { return Ok(false) };
    let sources = node.sources();
    let [value, under] = &sources[..] else { return Ok(false) };
    if node.tag().is_some() || node.is_released() || !leads(under) {
        return Ok(false);
    }
    let _at = mg_graph::at(node.location());
    let Some(share) = gathered.take(region, *node.shape())? else { return Ok(false) };
    if leads(value) {
        add(front, value, share);
    }
    let rest = std::mem::replace(gathered, Gathered::Nothing);
    match front.entry(under.sequence()) {
        Entry::Vacant(slot) => drop(slot.insert((under.clone(), rest))),
        Entry::Occupied(mut slot) => {
            if let Some(rest) = rest.whole()? {
                slot.get_mut().1.add(rest);
            }
        }
    }
    Ok(true)
}

/// The gradients of a call's results so far; the walk comes to the call when all of them are there.
fn wait_for<'a>(front: &mut Front, calls: &'a mut HashMap<u64, Arrived>, call: &Node) -> &'a mut Arrived {
    calls.entry(call.sequence()).or_insert_with(|| {
        front.insert(call.sequence(), (call.clone(), Gathered::Sum(call.lit(0.0))));
        Arrived::new()
    })
}

/// Results and the gradients that a walk starts from.
type Seeds = SmallVec<[(Node, Node); 2]>;

/// The seed gradients, checked.
#[track_caller]
fn seeds(op: &'static str, roots: &[&Tensor], given: &[Option<&Tensor>]) -> Result<Seeds> {
    let mut out = Seeds::new();
    for (i, root) in roots.iter().enumerate() {
        let node = root.node();
        if let Some(Err(error)) = node.value() {
            error.report();
            return Err(error.clone());
        }
        if !node.is_tracked() {
            let text = "the result does not depend on anything that requires a gradient";
            return Err(Error::new(op, ErrorKind::Gradient(text.into())));
        }
        let seed = match given.get(i).copied().flatten() {
            Some(seed) => {
                let seed = seed.node();
                // As in PyTorch, numbers are taken as the result's.
                let seed = if seed.dtype() == node.dtype() { seed } else { seed.cast(node.dtype()) };
                if seed.shape() != node.shape() || seed.device() != node.device() {
                    let text = format!(
                        "a seed gradient {} {} for a result {} {}",
                        seed.dtype(),
                        seed.shape(),
                        node.dtype(),
                        node.shape()
                    );
                    return Err(Error::new(op, ErrorKind::Shape(text)));
                }
                seed
            }
            None if node.shape().numel() == 1 => node.lit(1.0),
            None => {
                let text = format!("a result of shape {} needs a seed gradient of that shape", node.shape());
                return Err(Error::new(op, ErrorKind::Gradient(text)));
            }
        };
        out.push((node, seed));
    }
    Ok(out)
}

/// Whether a node is a leaf's: the walk ends there.
pub(crate) fn is_leaf(node: &Node) -> bool {
    matches!(node.tag(), Some(Tag::Owner(_)))
}

/// The leaf whose node it is, unless that was dropped.
pub(crate) fn leaf_of(node: &Node) -> Option<Tensor> {
    match node.tag()? {
        Tag::Owner(owner) => owner.upgrade()?.downcast::<Cell>().ok().map(Tensor),
        Tag::History(_) | Tag::Forgotten(_) | Tag::Replayed(_) | Tag::Output(..) | Tag::Call(_) => None,
    }
}

/// The node that graphs have of a tensor whose numbers were changed since, and nothing else.
pub(crate) fn as_computed(node: Node) -> Node {
    match node.tag() {
        Some(Tag::History(history)) => history.clone(),
        Some(Tag::Owner(_) | Tag::Forgotten(_) | Tag::Replayed(_) | Tag::Output(..) | Tag::Call(_))
        | None => node,
    }
}

/// The value of a node that was written to, where the gradient reads it for what PyTorch saves apart: of a quotient, what is divided; of
/// kernels that say so, such as a pool, whose gradient asks where the largest elements stand.
fn computed_again(node: &Node, sources: &Sources) -> Result<Option<Node>> {
    match node.op() {
        Op::Map(Map::Row(row @ Row::Div)) => {
            let operands: SmallVec<[&Node; 2]> = sources.iter().collect();
            Ok(Some(Node::apply(*row, &operands)))
        }
        Op::Kernel(Kernel::Library(kernel)) if kernel.is_computed_again() => {
            let operands: SmallVec<[&Node; 2]> = sources.iter().collect();
            Node::library(*kernel, &operands).map(Some)
        }
        Op::Source(_) | Op::Map(_) | Op::View(_) | Op::Reduce(..) | Op::Kernel(_) => Ok(None),
    }
}

/// The gradients of a node's sources, of which none must be made of a value that is not there any more.
struct Shares<'a> {
    node: &'a Node,
    sources: &'a Sources,
    gradient: Node,
    /// Where the sources lie in the node, where that is said of all of them at once.
    places: rules::Places,
    /// What was overwritten of that what the gradients may read: looked for once for all sources.
    gone: SmallVec<[(&'a Node, Overwritten); 2]>,
}

impl<'a> Shares<'a> {
    fn new(node: &'a Node, sources: &'a Sources, gradient: &'a Node) -> Shares<'a> {
        let places = rules::places(node, sources);
        let mut gone: SmallVec<[(&Node, Overwritten); 2]> = SmallVec::new();
        // Where elements lie is all that a view's gradient reads. (To ask what it is a view of would take as long as the way there.)
        if !matches!(node.op(), Op::View(_)) {
            // The node's own value is saved by the node itself.
            gone.extend(stale(node, node.sequence()).map(|found| (node, found)));
            gone.extend(sources.iter().filter_map(|s| Some((s, stale(s, node.sequence())?))));
        }
        // A gradient may be a value that was saved, a factor of something whose own gradient is 1. Where it is one that was written over
        // since, it was read rightly, unlike what a rule reads of that itself.
        let is_gone = gone.iter().any(|(n, _)| n.is(gradient));
        let gradient = if is_gone { gradient.alias() } else { gradient.clone() };
        Shares { node, sources, gradient, places, gone }
    }

    fn of(&self, i: usize) -> Result<Option<Node>> {
        let rule = |node: &Node| rules::vjp(node, self.sources, i, &self.places, &self.gradient);
        if self.gone.is_empty() { rule(self.node) } else { fresh(self, rule) }
    }
}

/// What was written over a value after it was saved.
fn stale(n: &Node, saved_by: u64) -> Option<Overwritten> {
    let told = || n.overwritten().filter(|found| saved_by < found.since);
    let found = told()?;
    let Some(leaf) = leaf_of(n) else { return Some(found) };
    // Where the writing has failed, and somebody was told of that, the leaf goes back to what it was.
    leaf.current();
    told()
}

/// The error of a node whose gradient would be made of a value that was written over.
fn changed(node: &Node, op: &str, value: &Node, found: &Overwritten) -> Error {
    anomaly::tell_stale(found.since);
    let what = format!(
        "{op} needs for its gradient a value of shape {} that was changed in place since{}",
        value.shape(),
        anomaly::saved_at(node)
    );
    let lines = format!(" (changed at {}, {op} at {})", found.line, node.location());
    let error = Error::new("backward", ErrorKind::Gradient(what));
    error.with_location(node.location()).with_aside(lines)
}

/// What a rule makes for a node of which something is gone: refused where it was made of that.
fn fresh(shares: &Shares, rule: impl Fn(&Node) -> Result<Option<Node>>) -> Result<Option<Node>> {
    let Shares { node, sources, ref gone, .. } = *shares;
    let before = mg_graph::next_sequence();
    let again = if gone.iter().any(|(n, _)| n.is(node)) { computed_again(node, sources)? } else { None };
    let share = rule(again.as_ref().unwrap_or(node))?;
    // Whatever the rule made is younger; what it made that of is what it has read.
    let mut stack: Vec<Node> = share.iter().cloned().collect();
    while let Some(made) = stack.pop() {
        if let Some((_, found)) = gone.iter().find(|(n, _)| n.is(&made)) {
            return Err(changed(node, node.op().name(), &made, found));
        }
        if made.sequence() >= before {
            match made.op() {
                // What only its own gradient reads was not read yet.
                Op::Kernel(Kernel::Library(kernel)) => {
                    stack.extend(made.sources().into_iter().take(kernel.computed_from()));
                }
                Op::Source(_) | Op::Map(_) | Op::View(_) | Op::Reduce(..) | Op::Kernel(_) => {
                    stack.extend(made.sources());
                }
            }
        }
    }
    Ok(share)
}

/// Sequences of nodes.
type Sequences = HashSet<u64, BuildHasherDefault<WordHasher>>;

/// The way from a graph's results to what is wanted of it.
pub(crate) struct Way {
    /// The nodes that were computed from what is wanted, which belongs to them, by sequence.
    nodes: Sequences,
    /// Nothing that is wanted has a sequence below this one.
    oldest: u64,
}

/// Whether a node that was let go, and no longer knows its sources, may have been computed from something that is wanted.
fn may_go_on(node: &Node, oldest: u64) -> bool {
    node.is_released() && oldest < node.sequence()
}

/// The way to what is wanted, of which nothing has a sequence below `oldest`.
fn leading(seeds: &[(Node, Node)], wanted: impl Fn(&Node) -> bool, oldest: u64) -> Way {
    let mut met: BTreeMap<u64, (Sources, bool)> = BTreeMap::new();
    let mut stack: Vec<Node> = seeds.iter().map(|(node, _)| node.clone()).collect();
    while let Some(node) = stack.pop() {
        if met.contains_key(&node.sequence()) {
            continue;
        }
        let sources: Sources = match node.tag() {
            Some(Tag::Owner(_)) => Sources::new(),
            Some(Tag::History(history)) => [history.clone()].into_iter().collect(),
            Some(Tag::Forgotten(history)) => {
                let sources = node.sources().into_iter().filter(Node::is_tracked);
                sources.chain([history.clone()]).collect()
            }
            Some(Tag::Output(call, _)) => [call.clone()].into_iter().collect(),
            Some(Tag::Replayed(_) | Tag::Call(_)) | None => {
                node.sources().into_iter().filter(Node::is_tracked).collect()
            }
        };
        if mg_graph::is_recording() {
            // That something does not lead there is so of this history alone.
            sources.iter().filter(|source| source.sequence() < oldest).for_each(jit::note_passed);
            jit::note_passed(&node);
        }
        // What is older than all that is wanted is computed from none of it: a history of any length below is not looked at.
        stack.extend(sources.iter().filter(|source| oldest <= source.sequence()).cloned());
        // Where what was let go may lead on, the walk is to come there, and says so.
        let has_history =
            matches!(node.tag(), Some(Tag::Owner(_) | Tag::History(_) | Tag::Forgotten(_) | Tag::Output(..)));
        let may_lead = wanted(&node) || (!has_history && may_go_on(&node, oldest));
        met.insert(node.sequence(), (sources, may_lead));
    }
    let mut nodes = Sequences::default();
    // Sources are older than what is computed from them.
    for (sequence, (sources, is_wanted)) in met {
        if is_wanted || sources.iter().any(|s| nodes.contains(&s.sequence())) {
            nodes.insert(sequence);
        }
    }
    Way { nodes, oldest }
}

/// Where a walk goes.
#[derive(Clone, Copy)]
pub(crate) enum Reach<'a> {
    /// To the leaves.
    All,
    /// To what is wanted.
    Only(&'a Way),
    /// Through these, to whatever they are made of.
    Within(&'a HashMap<u64, usize>),
}

impl Reach<'_> {
    /// Whether a walk goes on to a node.
    fn leads(self, node: &Node) -> bool {
        match self {
            Reach::All | Reach::Within(_) => true,
            Reach::Only(way) => way.nodes.contains(&node.sequence()),
        }
    }
}

/// Nodes whose sources a walk has come to.
pub(crate) type Passed = SmallVec<[Node; 32]>;

/// The walk. Leaves are not passed, nor what is out of reach; `arrive` is told the gradient of each node that `wanted` names
/// (which may be smaller, and broadcast to it). Answers with the nodes that were passed.
pub(crate) fn walk(
    seeds: impl IntoIterator<Item = (Node, Node)>,
    create_graph: bool,
    reach: Reach,
    wanted: impl Fn(&Node) -> bool,
    mut arrive: impl FnMut(&Node, Node) -> Result<()>,
) -> Result<Passed> {
    hooks::follow_writes();
    let was = mg_graph::set_tracking(create_graph);
    let _restore = NoGrad(was);
    let mut front = Front::new();
    let mut passed = Passed::new();
    // Histories of replays' answers that are walked as they are.
    let mut walked: SmallVec<[*const (); 2]> = SmallVec::new();
    // The first of the nodes that were computed again for this walk, and those of them that lead to what is wanted.
    let mut again = u64::MAX;
    let mut more = Sequences::default();
    // Gradients of results of calls, by the call, until all of them are there.
    let mut calls: HashMap<u64, Arrived> = HashMap::new();
    for (node, seed) in seeds {
        if anomaly::is_on() {
            anomaly::look_at_root(&node)?;
        }
        add(&mut front, &node, seed);
    }
    while let Some((_, (node, mut gathered))) = front.pop_last() {
        let leads = |s: &Node| s.is_tracked() && (reach.leads(s) || more.contains(&s.sequence()));
        let is_beyond = matches!(reach, Reach::Within(nodes) if !nodes.contains_key(&node.sequence()));
        let is_write = matches!(node.op(), Op::Kernel(Kernel::Write { .. }));
        let is_told = || is_beyond || wanted(&node) || Watch::of(&node).is_some() || anomaly::is_on();
        if is_write && !is_told() && through_write(&node, &mut gathered, &mut front, leads)? {
            jit::note_passed(&node);
            passed.push(node);
            continue;
        }
        let mut gradient = match (gathered.whole()?, node.tag()) {
            (Some(gradient), _) => gradient,
            // A replay is walked as one, with gradients of all of its answers.
            (None, Some(Tag::Replayed(_))) => node.lit(0.0),
            // Nor has what it is made of one by it: leaves keep theirs, or none.
            (None, Some(Tag::Owner(_))) => continue,
            (None, _) if is_beyond => continue,
            (
                None,
                tag @ (Some(Tag::History(_) | Tag::Forgotten(_) | Tag::Output(..) | Tag::Call(_)) | None),
            ) => {
                match tag {
                    Some(Tag::History(history)) => add_nothing(&mut front, history),
                    Some(Tag::Output(call, _)) => {
                        wait_for(&mut front, &mut calls, call);
                    }
                    Some(Tag::Forgotten(_) | Tag::Owner(_) | Tag::Call(_) | Tag::Replayed(_)) | None => {
                        if let Some(Tag::Forgotten(history)) = tag {
                            add_nothing(&mut front, history);
                        }
                        let sources = node.sources();
                        sources.iter().filter(|s| leads(s)).for_each(|s| add_nothing(&mut front, s));
                    }
                }
                passed.push(node);
                continue;
            }
        };
        // What is beyond is met again by the walk that this one is a part of: its hooks are called there, when all of its gradient is known.
        if let Some(watch) = Watch::of(&node).filter(|_| !is_beyond) {
            jit::note_watched(&node);
            gradient = watch.seen(gradient.expand(*node.shape())?)?;
            watch.keep(&node, &gradient, create_graph)?;
        }
        if wanted(&node) {
            arrive(&node, gradient.clone())?;
        }
        if is_beyond {
            continue;
        }
        jit::note_passed(&node);
        match node.tag() {
            Some(Tag::Owner(_)) => continue,
            Some(Tag::History(history)) => {
                add(&mut front, history, rules::of_what_it_was(gradient, &node, history)?);
                continue;
            }
            Some(Tag::Forgotten(history)) => {
                add(&mut front, history, history.lit(0.0));
                // What was written may have a history of its own.
                if !node.is_released() && !node.sources().iter().any(Node::is_tracked) {
                    continue;
                }
            }
            Some(Tag::Replayed(history))
                if matches!(reach, Reach::All)
                    && !create_graph
                    && !node.is_released()
                    && !walked.contains(&Arc::as_ptr(history).cast()) =>
            {
                // All that reads the answers is younger than any of them: their gradients are complete.
                let is_its =
                    |n: &Node| matches!(n.tag(), Some(Tag::Replayed(other)) if Arc::ptr_eq(other, history));
                let mut answers = vec![(node.clone(), gradient.clone())];
                for (other, gathered) in front.values().filter(|(n, _)| is_its(n)) {
                    let gradient = gathered.whole()?.unwrap_or_else(|| other.lit(0.0));
                    answers.push((other.clone(), gradient));
                }
                // Whoever wants to be told of another one is told when the walk comes there.
                let is_watched = answers[1..].iter().any(|(n, _)| Watch::of(n).is_some());
                let through = if is_watched { None } else { jit::differentiate(history, &answers) };
                if let Some(through) = through {
                    answers.iter().for_each(|(n, _)| drop(front.remove(&n.sequence())));
                    through.gradients.into_iter().for_each(|(n, share)| add(&mut front, &n, share));
                    passed.extend(through.passed);
                    continue;
                }
                walked.push(Arc::as_ptr(history).cast());
            }
            Some(Tag::Output(call, at)) => {
                let arrived = wait_for(&mut front, &mut calls, call);
                // A result that was saved is met where the gradient was computed of it, too.
                match arrived.iter_mut().find(|(other, _)| other == at) {
                    Some((_, sum)) => *sum = rules::add(sum, &gradient),
                    None => arrived.push((*at, gradient)),
                }
                passed.push(node);
                continue;
            }
            Some(Tag::Replayed(_) | Tag::Call(_)) | None => {}
        }
        let sources: Sources = node.sources();
        let is_end = |way: &Way| !may_go_on(&node, way.oldest) && !sources.iter().any(leads);
        if matches!(reach, Reach::Only(way) if is_end(way)) {
            continue;
        }
        if node.is_released() {
            let text = "the graph was let go after an earlier backward; pass retain_graph=True to that one to walk it again";
            return Err(Error::new("backward", ErrorKind::Gradient(text.into())));
        }
        let _at = mg_graph::at(node.location());
        let _belongs = anomaly::Belongs::to(&node);
        if let Some(call) = Call::of(&node) {
            let arrived = calls.remove(&node.sequence()).unwrap_or_default();
            let needed = || {
                let waiting =
                    arrived.iter().map(|(_, g)| g).chain(front.values().flat_map(|(_, g)| g.nodes()));
                waiting.filter(|g| g.literal().is_none())
            };
            if call.is_again() {
                // It reads whatever it was computed of; of leaves, which optimisers change, as they are now.
                let mut read = sources.iter().filter(|s| !is_leaf(s));
                let gone = read.find_map(|s| Some((s, stale(s, node.sequence())?)));
                if let Some((source, found)) = gone {
                    return Err(changed(&node, call.name(), source, &found));
                }
            }
            if call.is_again() && !create_graph && !needed().any(Node::is_traced) {
                // What was computed again for this walk so far is let go before more is: that is what it is for.
                mg_graph::realize_quietly(&needed().collect::<SmallVec<[&Node; 16]>>())?;
                passed.retain(|node| {
                    let is_done = node.sequence() >= again;
                    if is_done {
                        node.release();
                    }
                    !is_done
                });
                again = mg_graph::next_sequence();
            }
            match call.onward(arrived)? {
                Onward::Sources(shares) => {
                    for (k, (source, share)) in sources.iter().zip(shares).enumerate() {
                        if leads(source) {
                            let at = call.position(k);
                            let share = share.map(|share| call.fitted(&share, source, at)).transpose()?;
                            if anomaly::is_on()
                                && let Some(share) = &share
                            {
                                anomaly::look(&node, call.name(), at, share)?;
                            }
                            match share {
                                Some(share) => add(&mut front, source, share),
                                None => add_nothing(&mut front, source),
                            }
                        }
                    }
                }
                Onward::Results(results) => {
                    if let Reach::Only(way) = reach {
                        more.extend(leading(&results, &wanted, way.oldest).nodes);
                    }
                    for (result, gradient) in results {
                        if !matches!(reach, Reach::Only(_)) || more.contains(&result.sequence()) {
                            add(&mut front, &result, gradient);
                        }
                    }
                }
            }
            passed.push(node);
            continue;
        }
        // What is zero by structure is zero below, and nothing is computed for it.
        let is_zero = gradient.literal() == Some(0.0);
        if create_graph
            && !is_zero
            && let Some(again) = of_operations(&node)?
        {
            if let Some((source, found)) = sources.iter().find_map(|s| Some((s, stale(s, node.sequence())?)))
            {
                return Err(changed(&node, node.op().name(), source, &found));
            }
            let again = [(again, gradient)];
            if let Reach::Only(way) = reach {
                more.extend(leading(&again, &wanted, way.oldest).nodes);
            }
            let [(again, gradient)] = again;
            add(&mut front, &again, gradient);
            passed.push(node);
            continue;
        }
        let shares = (!is_zero).then(|| Shares::new(&node, &sources, &gradient));
        for (i, source) in sources.iter().enumerate() {
            // A source that occurs twice is met twice, each time with its own share.
            if !leads(source) {
                continue;
            }
            let share = shares.as_ref().map_or(Ok(None), |shares| shares.of(i))?;
            if anomaly::is_on()
                && let Some(share) = &share
            {
                anomaly::look(&node, &History::name_of(&node), i, share)?;
            }
            add(&mut front, source, share.unwrap_or_else(|| source.lit(0.0)));
        }
        drop(shares);
        if !matches!(node.op(), Op::Source(_)) {
            passed.push(node);
        }
    }
    Ok(passed)
}

/// Whether the gradient of a node reads no value: not its own, nor its sources'.
fn reads_nothing(node: &Node) -> bool {
    match node.tag() {
        None | Some(Tag::Owner(_) | Tag::Replayed(_)) => {}
        Some(Tag::History(_) | Tag::Forgotten(_) | Tag::Output(..) | Tag::Call(_)) => return false,
    }
    match node.op() {
        Op::View(_) | Op::Map(Map::Copy | Map::Cast | Map::Row(Row::Add | Row::Sub | Row::Neg)) => true,
        // What is divided or multiplied by is a number of the program, no value.
        Op::Map(Map::Row(Row::Mul | Row::Div)) => {
            node.sources().iter().filter(|source| source.literal().is_none()).count() == 1
        }
        Op::Reduce(kind, _) => *kind == ReduceKind::Sum,
        Op::Kernel(Kernel::Concat { .. } | Kernel::Write { .. } | Kernel::Transfer) => true,
        Op::Source(_) | Op::Map(_) | Op::Kernel(Kernel::Library(_)) => false,
    }
}

impl Backward {
    /// Lets the graph go, unless it is kept. As in PyTorch, what has saved no value may be walked again; but not on the way to what is let
    /// go: that would be refused there, and until then keep values that nobody wants.
    fn release(self, passed: &Passed) {
        if self.retain_graph || self.create_graph {
            return;
        }
        // Sources come after what was made of them: those that are let go are so by the time that is asked. (Where the walk did not go they may be there.)
        let is_gone = |s: &Node| s.is_tracked() && !is_leaf(s) && s.is_released();
        for node in passed.iter().rev() {
            if reads_nothing(node) && !node.sources().iter().any(is_gone) {
                continue;
            }
            node.release();
            // What is kept for another walk may keep the node.
            if let Some(watch) = Watch::of(node) {
                watch.clear();
            }
            if let Some(call) = Call::of(node) {
                call.release();
            }
        }
    }
}

/// The gradients of nodes, given nodes that depend on them and the gradients of these: `None` where there is none.
pub(crate) fn pulled(pairs: &[(Node, Node)], wanted: &[Node], how: Backward) -> Result<Vec<Option<Node>>> {
    let is_wanted = |node: &Node| wanted.iter().any(|w| w.is(node));
    let on_the_way = leading(pairs, is_wanted, wanted.iter().map(Node::sequence).min().unwrap_or(0));
    let mut found: Vec<Option<Node>> = vec![None; wanted.len()];
    let reach = Reach::Only(&on_the_way);
    let passed = walk(pairs.iter().cloned(), how.create_graph, reach, is_wanted, |node, gradient| {
        let gradient = gradient.expand(*node.shape())?;
        let at = wanted.iter().enumerate().filter(|(_, w)| w.is(node));
        at.for_each(|(i, _)| found[i] = Some(gradient.clone()));
        Ok(())
    })?;
    how.release(&passed);
    Ok(found)
}

/// Taken by whoever adds to a gradient: what is added by one thread must not be lost to another. Leaves share a few locks.
static ADDING: [Mutex<()>; 16] = [const { Mutex::new(()) }; 16];

/// A gradient that somebody may write to. One that is older than its walk, or a view of what is, is a value that the graph has saved, a factor
/// of something whose own gradient is 1: another node for it, which what is written to that value does not concern.
fn not_saved(gradient: Node, began: u64) -> Node {
    if gradient.is_claimed() {
        return gradient;
    }
    let mut root = gradient.clone();
    while root.sequence() >= began && matches!(root.op(), Op::View(_)) {
        let Some(source) = root.sources().into_iter().next() else { return gradient };
        root = source;
    }
    match root.op() {
        _ if root.sequence() >= began => gradient,
        &Op::Source(SourceKind::Const { bits, literal }) if root.is(&gradient) => {
            Node::scalar_bits(bits, gradient.dtype(), gradient.device(), literal)
        }
        // Nothing is written to a number's memory.
        Op::Source(SourceKind::Const { .. }) => gradient,
        Op::Source(_) | Op::Map(_) | Op::View(_) | Op::Reduce(..) | Op::Kernel(_) => gradient.alias(),
    }
}

/// Refuses a gradient that cannot be added to one in place: the leaf's data has another shape since.
fn fits_into(gradient: &Node, old: &Node) -> Result<()> {
    if Shape::broadcast(gradient.shape(), old.shape()) == Some(*old.shape()) {
        return Ok(());
    }
    let text = format!(
        "a gradient of shape {} cannot be added to a grad of shape {}: the tensor's data has another shape since (set grad \
         to None)",
        gradient.shape(),
        old.shape()
    );
    Err(Error::new("backward", ErrorKind::Shape(text)))
}

/// Adds to a leaf's gradient, in place, as everybody who has read it is to see.
pub(crate) fn accumulate(leaf: &Tensor, gradient: Node, create_graph: bool) -> Result<()> {
    // What stands for many examples is the gradient of nothing outside of them.
    if leaks(&gradient, &leaf.current()) {
        return Err(leaked());
    }
    // A gradient that is somebody else's memory is what is in that now.
    let gradient = if may_be_borrowed(&gradient) { gradient.copy() } else { gradient };
    // It may be a node of the graph as it is; it has that one's history only where gradients have any.
    let gradient = if gradient.is_tracked() && !create_graph { untracked(&gradient) } else { gradient };
    let turn = locked(&ADDING[leaf.id() / 64 % ADDING.len()]);
    let changing = Changing::begin();
    let before = leaf.grad_unread();
    let kept = match before {
        Some(before) if !create_graph => {
            let old = before.node();
            fits_into(&gradient, &old)?;
            // Only the sum is wanted from now on. A leaf whose data has another dtype since has the gradient that it had.
            old.set_optional(false);
            let gradient =
                if gradient.dtype() == old.dtype() { gradient } else { gradient.cast(old.dtype()) };
            let sum = rules::add(&old, &gradient);
            sum.set_optional(true);
            before.write(sum)?;
            before
        }
        before => {
            let sum = before.map(|before| rules::add(&before.node(), &gradient));
            let grad = Tensor::unread(sum.unwrap_or(gradient));
            if !create_graph {
                grad.current().set_optional(true);
            }
            leaf.put_grad(Some(grad.clone()));
            grad
        }
    };
    drop(changing);
    drop(turn);
    // This may compute what has waited long, and drop whatever that frees: not under a lock.
    let node = kept.current();
    node.keep_as_gradient();
    node.announce();
    settle(&node);
    Ok(())
}

/// Gives a leaf that had no gradient the one that a replayed step has computed. Another thread may have given it one meanwhile.
pub(crate) fn put_or_accumulate(leaf: &Tensor, gradient: Node) -> Result<()> {
    {
        let _turn = locked(&ADDING[leaf.id() / 64 % ADDING.len()]);
        if leaf.grad_now().is_none() {
            leaf.put_grad(Some(Tensor::unread(gradient)));
            return Ok(());
        }
    }
    accumulate(leaf, gradient, false)
}

impl Tensor {
    /// Adds the gradient of this tensor (of one element) to the `grad` of every leaf that it depends on.
    ///
    /// The graph is let go; see [`Tensor::backward_with`] to keep it.
    ///
    /// # Errors
    ///
    /// More than one element, nothing that requires a gradient, a graph that was let go before.
    #[track_caller]
    pub fn backward(&self) -> Result<()> {
        self.backward_with(None, Backward::default())
    }

    /// As [`Tensor::backward`], from a seed gradient of this tensor's shape.
    ///
    /// # Errors
    ///
    /// As [`Tensor::backward`], and a seed of another shape, dtype or device.
    #[track_caller]
    pub fn backward_with(&self, seed: Option<&Tensor>, how: Backward) -> Result<()> {
        backward(&[self], &[seed], None, how)
    }
}

/// Adds the gradient of the sum of `roots` to the `grad` of every leaf that they depend on, or of `inputs` alone where these are given:
/// they may be any tensors on the way. `seeds_given` are the gradients of the roots, which those of one element can do without.
///
/// # Errors
///
/// As [`Tensor::backward_with`]; an input that requires no gradient.
#[track_caller]
pub fn backward(
    roots: &[&Tensor],
    seeds_given: &[Option<&Tensor>],
    inputs: Option<&[&Tensor]>,
    how: Backward,
) -> Result<()> {
    if let Some(inputs) = inputs {
        let found = gradients("backward", roots, inputs, seeds_given, how)?;
        // A result that keeps its gradient has it from the walk.
        let of = |(t, gradient): (&Tensor, Option<Node>)| match t.retains_grad() {
            true => None,
            false => Some((t.clone(), gradient?)),
        };
        return put(inputs.iter().copied().zip(found).filter_map(of).collect(), how)
            .map_err(named("backward"));
    }
    let began = mg_graph::next_sequence();
    let seeds = seeds("backward", roots, seeds_given)?;
    // What fails on the way has added to no gradient.
    let mut found = Found::new();
    let walked = walk(seeds, how.create_graph, Reach::All, is_leaf, |node, gradient| {
        // A leaf that was made a constant since wants no gradient any more.
        let Some(leaf) = leaf_of(node).filter(Tensor::keeps_grad) else { return Ok(()) };
        // One that was written to meanwhile is met once for each of its values.
        let before = leaf.leaf_watch().and_then(|_| found.iter_mut().find(|(other, _)| other.is(&leaf)));
        match before {
            Some((_, sum)) => *sum = rules::add(sum, &gradient),
            None => found.push((leaf, gradient.expand(*node.shape())?)),
        }
        Ok(())
    });
    how.release(&walked.map_err(named("backward"))?);
    for (leaf, gradient) in &mut found {
        let whole = told(leaf, gradient.clone(), how).map_err(named("backward"))?;
        *gradient = not_saved(whole, began);
    }
    put(found, how).map_err(named("backward"))
}

/// Leaves and their gradients.
type Found = SmallVec<[(Tensor, Node); 16]>;

/// The gradient that a leaf's hooks have made of one.
fn told(leaf: &Tensor, gradient: Node, how: Backward) -> Result<Node> {
    let Some(watch) = leaf.leaf_watch() else { return Ok(gradient) };
    let _restore = NoGrad(mg_graph::set_tracking(how.create_graph));
    watch.seen_by_leaf(gradient)
}

/// Computes the gradients that are to be added to, where steps go by that compute something else: else what they are made of would be kept
/// of each step, and planned anew with each, as no two of such graphs are alike.
fn compute_what_was_left(found: &Found) {
    // Runs that are recorded agree only where they compute the same.
    if mg_graph::is_recording() {
        return;
    }
    let before: SmallVec<[Node; 16]> =
        found.iter().filter_map(|(leaf, _)| Some(leaf.grad_unread()?.node())).collect();
    let left: SmallVec<[&Node; 16]> = before.iter().filter(|node| node.was_left_out()).collect();
    // A failure stays with the gradient.
    let _ = mg_graph::realize_quietly(&left);
}

/// Adds gradients to those of tensors.
fn put(found: Found, how: Backward) -> Result<()> {
    compute_what_was_left(&found);
    for (leaf, gradient) in found {
        accumulate(&leaf, gradient, how.create_graph)?;
        if let Some(watch) = leaf.leaf_watch() {
            let _restore = NoGrad(mg_graph::set_tracking(how.create_graph));
            watch.added(&leaf)?;
        }
    }
    Ok(())
}

/// The gradients of the sum of `outputs` with respect to `inputs`, which may be any tensors on the way; `None` for those
/// that the outputs do not depend on. Nothing is accumulated.
///
/// # Errors
///
/// As [`Tensor::backward_with`].
#[track_caller]
pub fn grad(
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    seeds_given: &[Option<&Tensor>],
    how: Backward,
) -> Result<Vec<Option<Tensor>>> {
    let found = gradients("grad", outputs, inputs, seeds_given, how)?;
    // A gradient may be somebody's node as it is; it has that one's history only where gradients have any.
    let of = |node: Node| match node.is_tracked() && !how.create_graph {
        true => Tensor::from_node(apart(&node)),
        false => Tensor::from_node(node),
    };
    Ok(found.into_iter().map(|node| node.map(of)).collect())
}

#[track_caller]
fn gradients(
    op: &'static str,
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    seeds_given: &[Option<&Tensor>],
    how: Backward,
) -> Result<Vec<Option<Node>>> {
    let began = mg_graph::next_sequence();
    let seeds = seeds(op, outputs, seeds_given)?;
    if let Some(i) = inputs.iter().position(|t| !t.requires_grad()) {
        return Err(Error::new(op, ErrorKind::Gradient(format!("input {i} does not require a gradient"))));
    }
    // A leaf is the same whatever was written to it since; anything else is the node that it was computed as.
    let wanted: Vec<(Node, Option<&Tensor>)> =
        inputs.iter().map(|&t| (as_computed(t.node()), t.keeps_grad().then_some(t))).collect();
    let is = |(wanted, leaf): &(Node, Option<&Tensor>), node: &Node| {
        wanted.is(node) || leaf.is_some_and(|leaf| leaf_of(node).is_some_and(|owner| owner.is(leaf)))
    };
    // A leaf may have been a node of any age.
    let oldest = wanted.iter().map(|(node, leaf)| if leaf.is_some() { 0 } else { node.sequence() }).min();
    let on_the_way = leading(&seeds, |node| wanted.iter().any(|w| is(w, node)), oldest.unwrap_or(0));
    let mut found: Vec<Option<Node>> = vec![None; wanted.len()];
    let walked = walk(
        seeds,
        how.create_graph,
        Reach::Only(&on_the_way),
        |node| wanted.iter().any(|w| is(w, node)),
        |node, gradient| {
            let gradient = gradient.expand(*node.shape())?;
            for (slot, _) in found.iter_mut().zip(&wanted).filter(|(_, w)| is(w, node)) {
                // A leaf that was changed in place meanwhile is met once for each of its values.
                let sum = slot.take().map(|before| rules::add(&before, &gradient));
                *slot = Some(sum.unwrap_or_else(|| gradient.clone()));
            }
            Ok(())
        },
    );
    how.release(&walked.map_err(named(op))?);
    for (slot, (_, leaf)) in found.iter_mut().zip(&wanted) {
        if let (Some(gradient), Some(leaf)) = (&mut *slot, leaf) {
            *slot = Some(told(leaf, gradient.clone(), how).map_err(named(op))?);
        }
        *slot = slot.take().map(|gradient| not_saved(gradient, began));
    }
    Ok(found)
}
