//! The walk, from results to leaves.

use super::reach::{Reach, Sequences, leading, may_go_on};
use super::saved::{Shares, changed, stale};
use super::{NoGrad, is_leaf};
use crate::anomaly;
use crate::function::{Arrived, Call, Onward};
use crate::gathered::Gathered;
use crate::history::History;
use crate::hooks::{self, Watch};
use crate::jit;
use crate::operations::of_operations;
use crate::rules;
use mg_device::{Error, ErrorKind, Result};
use mg_graph::{Kernel, Node, Op, Sources, Tag};
use mg_kernels::Algebra;
use smallvec::SmallVec;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

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

/// Nodes whose sources a walk has come to.
pub(crate) type Passed = SmallVec<[Node; 32]>;

/// A walk under way.
struct Walk<'a> {
    create_graph: bool,
    reach: Reach<'a>,
    wanted: &'a dyn Fn(&Node) -> bool,
    arrive: &'a mut dyn FnMut(&Node, Node) -> Result<()>,
    front: Front,
    passed: Passed,
    /// Histories of replays' answers that are walked as they are.
    walked: SmallVec<[*const (); 2]>,
    /// The first of the nodes that were computed again for this walk.
    again: u64,
    /// Those of them that lead to what is wanted.
    more: Sequences,
    /// Gradients of results of calls, by the call, until all of them are there.
    calls: HashMap<u64, Arrived>,
}

/// The walk. Leaves are not passed, nor what is out of reach; `arrive` is told the gradient of each node that `wanted` names
/// (which may be smaller, and broadcast to it). Answers with the nodes that were passed.
pub(crate) fn walk(
    seeds: impl IntoIterator<Item = (Node, Node)>,
    create_graph: bool,
    reach: Reach,
    wanted: impl Fn(&Node) -> bool,
    mut arrive: impl FnMut(&Node, Node) -> Result<()>,
) -> Result<Passed> {
    walked(&mut seeds.into_iter(), create_graph, reach, &wanted, &mut arrive)
}

/// One body for whoever walks.
fn walked(
    seeds: &mut dyn Iterator<Item = (Node, Node)>,
    create_graph: bool,
    reach: Reach,
    wanted: &dyn Fn(&Node) -> bool,
    arrive: &mut dyn FnMut(&Node, Node) -> Result<()>,
) -> Result<Passed> {
    hooks::follow_writes();
    let was = mg_graph::set_tracking(create_graph);
    let _restore = NoGrad::of(was);
    let mut walk = Walk {
        create_graph,
        reach,
        wanted,
        arrive,
        front: Front::new(),
        passed: Passed::new(),
        walked: SmallVec::new(),
        again: u64::MAX,
        more: Sequences::default(),
        calls: HashMap::new(),
    };
    for (node, seed) in seeds {
        if anomaly::is_on() {
            anomaly::look_at_root(&node)?;
        }
        add(&mut walk.front, &node, seed);
    }
    while let Some((_, (node, gathered))) = walk.front.pop_last() {
        walk.pass(node, gathered)?;
    }
    Ok(walk.passed)
}

impl Walk<'_> {
    /// Whether the walk goes on to a node.
    fn leads(&self, node: &Node) -> bool {
        node.is_tracked() && (self.reach.leads(node) || self.more.contains(&node.sequence()))
    }

    /// Whether a node is what the walk's nodes are made of, and no more is asked than its gradient.
    fn is_beyond(&self, node: &Node) -> bool {
        matches!(self.reach, Reach::Within(nodes) if !nodes.contains_key(&node.sequence()))
    }

    /// Passes a node whose gradient is complete.
    fn pass(&mut self, node: Node, mut gathered: Gathered) -> Result<()> {
        let is_beyond = self.is_beyond(&node);
        if self.through_write(&node, &mut gathered, is_beyond)? {
            jit::note_passed(&node);
            self.passed.push(node);
            return Ok(());
        }
        let mut gradient = match (gathered.whole()?, node.tag()) {
            (Some(gradient), _) => gradient,
            // A replay is walked as one, with gradients of all of its answers.
            (None, Some(Tag::Replayed(_))) => node.lit(0.0),
            // Nor has what it is made of one by it: leaves keep theirs, or none.
            (None, Some(Tag::Owner(_))) => return Ok(()),
            (None, _) if is_beyond => return Ok(()),
            (None, Some(Tag::History(_) | Tag::Forgotten(_) | Tag::Output(..) | Tag::Call(_)) | None) => {
                self.pass_without(node);
                return Ok(());
            }
        };
        // What is beyond is met again by the walk that this one is a part of: its hooks are called there, when all of its gradient is known.
        let watch = Watch::of(&node).filter(|_| !is_beyond);
        if let Some(watch) = watch {
            jit::note_watched(&node);
            gradient = watch.seen(gradient.expand(*node.shape())?)?;
            watch.keep(&node, &gradient, self.create_graph)?;
        }
        if (self.wanted)(&node) {
            (self.arrive)(&node, gradient.clone())?;
        }
        if is_beyond {
            return Ok(());
        }
        jit::note_passed(&node);
        // The operation's own hooks are called where the walk goes through it: the gradient that was wanted is none of theirs. A call's are those
        // of all of its results, which are there then.
        if let Some(watch) = watch
            && watch.begins()
            && Call::of(&node).is_none()
            && !node.is_released()
            && !self.ends_at(&node, &node.sources())
        {
            match watch.before(vec![Some(gradient)])?.into_iter().next().flatten() {
                Some(said) => gradient = said,
                None => {
                    self.behind_nothing(&node, watch)?;
                    self.pass_without(node);
                    return Ok(());
                }
            }
        }
        match self.by_its_history(node, gradient)? {
            Some((node, gradient)) => self.onward(node, gradient),
            None => Ok(()),
        }
    }

    /// Passes what writes a box into something: the box's gradient goes to what was written, the rest, as it has been gathered, to what was
    /// written to. Many writes to one memory cost their own elements each, not all of them. Answers with whether it was that.
    fn through_write(&mut self, node: &Node, gathered: &mut Gathered, is_beyond: bool) -> Result<bool> {
        let Op::Kernel(Kernel::Write { region }) = node.op() else { return Ok(false) };
        if is_beyond || (self.wanted)(node) || Watch::of(node).is_some() || anomaly::is_on() {
            return Ok(false);
        }
        let sources = node.sources();
        let [value, under] = &sources[..] else { return Ok(false) };
        if node.tag().is_some() || node.is_released() || !self.leads(under) {
            return Ok(false);
        }
        let _at = mg_graph::at(node.location());
        let Some(share) = gathered.take(region, *node.shape())? else { return Ok(false) };
        if self.leads(value) {
            add(&mut self.front, value, share);
        }
        let rest = std::mem::replace(gathered, Gathered::Nothing);
        match self.front.entry(under.sequence()) {
            Entry::Vacant(slot) => drop(slot.insert((under.clone(), rest))),
            Entry::Occupied(mut slot) => {
                if let Some(rest) = rest.whole()? {
                    slot.get_mut().1.add(rest);
                }
            }
        }
        Ok(true)
    }

    /// Passes a node for which there is no gradient.
    fn pass_without(&mut self, node: Node) {
        match node.tag() {
            Some(Tag::History(history)) => add_nothing(&mut self.front, history),
            Some(Tag::Output(call, _)) => drop(self.wait_for(call)),
            tag @ (Some(Tag::Forgotten(_) | Tag::Owner(_) | Tag::Call(_) | Tag::Replayed(_)) | None) => {
                if let Some(Tag::Forgotten(history)) = tag {
                    add_nothing(&mut self.front, history);
                }
                for source in node.sources() {
                    if self.leads(&source) {
                        add_nothing(&mut self.front, &source);
                    }
                }
            }
        }
        self.passed.push(node);
    }

    /// Tells those who wait for the gradients of what a node was computed of that there is none of the node: they may have some yet.
    fn behind_nothing(&mut self, node: &Node, watch: &Watch) -> Result<()> {
        if !watch.waits() {
            return Ok(());
        }
        let sources = node.sources();
        let said = watch.behind(vec![None; sources.len()], &[None])?;
        for (source, share) in sources.iter().zip(&said) {
            share.iter().filter(|_| self.leads(source)).try_for_each(|share| hooks::fits(share, source))?;
        }
        self.hand_on(&sources, said);
        Ok(())
    }

    /// Comes to the sources that the walk goes on to, with their gradients where there are some.
    fn hand_on(&mut self, sources: &Sources, shares: Vec<Option<Node>>) {
        for (source, share) in sources.iter().zip(shares) {
            if !self.leads(source) {
                continue;
            }
            match share {
                Some(share) => add(&mut self.front, source, share),
                None => add_nothing(&mut self.front, source),
            }
        }
    }

    /// The gradients of a call's results so far; the walk comes to the call when all of them are there.
    fn wait_for(&mut self, call: &Node) -> &mut Arrived {
        let Walk { calls, front, .. } = self;
        calls.entry(call.sequence()).or_insert_with(|| {
            front.insert(call.sequence(), (call.clone(), Gathered::Sum(call.lit(0.0))));
            Arrived::new()
        })
    }

    /// Takes the gradient where what a node stands for says. Answers with both where that is on to what it was computed of.
    fn by_its_history(&mut self, node: Node, gradient: Node) -> Result<Option<(Node, Node)>> {
        match node.tag() {
            Some(Tag::Owner(_)) => return Ok(None),
            Some(Tag::History(history)) => {
                add(&mut self.front, history, rules::of_what_it_was(gradient, &node, history)?);
                return Ok(None);
            }
            Some(Tag::Forgotten(history)) => {
                add(&mut self.front, history, history.lit(0.0));
                // What was written may have a history of its own.
                if !node.is_released() && !node.sources().iter().any(Node::is_tracked) {
                    return Ok(None);
                }
            }
            Some(Tag::Replayed(_)) => {
                if self.through_replay(&node, &gradient)? {
                    return Ok(None);
                }
            }
            Some(Tag::Output(call, at)) => {
                let arrived = self.wait_for(call);
                // A result that was saved is met where the gradient was computed of it, too.
                match arrived.iter_mut().find(|(other, _)| other == at) {
                    Some((_, sum)) => *sum = rules::add(sum, &gradient),
                    None => arrived.push((*at, gradient)),
                }
                self.passed.push(node);
                return Ok(None);
            }
            Some(Tag::Call(_)) | None => {}
        }
        Ok(Some((node, gradient)))
    }

    /// Takes the gradients of all answers of a replay through it at once. Answers with whether they were taken; else they are walked as
    /// those of other nodes.
    fn through_replay(&mut self, node: &Node, gradient: &Node) -> Result<bool> {
        let Some(Tag::Replayed(history)) = node.tag() else { return Ok(false) };
        let walked = Arc::as_ptr(history).cast();
        // Whoever waits for the gradients of what one answer was made of has it walked.
        let is_waited_for = Watch::of(node).is_some_and(Watch::waits);
        let is_walked_whole =
            matches!(self.reach, Reach::All) && !self.create_graph && !node.is_released() && !is_waited_for;
        if !is_walked_whole || self.walked.contains(&walked) {
            return Ok(false);
        }
        // All that reads the answers is younger than any of them: their gradients are complete.
        let is_its = |n: &Node| matches!(n.tag(), Some(Tag::Replayed(other)) if Arc::ptr_eq(other, history));
        let mut answers = vec![(node.clone(), gradient.clone())];
        for (other, gathered) in self.front.values().filter(|(n, _)| is_its(n)) {
            let gradient = gathered.whole()?.unwrap_or_else(|| other.lit(0.0));
            answers.push((other.clone(), gradient));
        }
        // Whoever wants to be told of another one is told when the walk comes there.
        let is_watched = answers[1..].iter().any(|(n, _)| Watch::of(n).is_some());
        let through = if is_watched { None } else { jit::differentiate(history, &answers) };
        let Some(through) = through else {
            self.walked.push(walked);
            return Ok(false);
        };
        answers.iter().for_each(|(n, _)| drop(self.front.remove(&n.sequence())));
        through.gradients.into_iter().for_each(|(n, share)| add(&mut self.front, &n, share));
        self.passed.extend(through.passed);
        Ok(true)
    }

    /// Whether nothing that is wanted lies behind a node of these sources.
    fn ends_at(&self, node: &Node, sources: &Sources) -> bool {
        let Reach::Only(way) = self.reach else { return false };
        !may_go_on(node, way.oldest) && !sources.iter().any(|s| self.leads(s))
    }

    /// Takes the gradient on to what a node was computed of.
    fn onward(&mut self, node: Node, gradient: Node) -> Result<()> {
        let sources: Sources = node.sources();
        if self.ends_at(&node, &sources) {
            return Ok(());
        }
        if node.is_released() {
            let text = "the graph was let go after an earlier backward; pass retain_graph=True to that one to walk it again";
            return Err(Error::new("backward", ErrorKind::Gradient(text.into())));
        }
        let _at = mg_graph::at(node.location());
        let _belongs = anomaly::Belongs::to(&node);
        if let Some(call) = Call::of(&node) {
            self.through_call(&node, call, &sources)?;
            self.passed.push(node);
            return Ok(());
        }
        // What is zero by structure is zero below, and nothing is computed for it.
        let is_zero = gradient.literal() == Some(0.0);
        let waiting = Watch::of(&node).filter(|watch| watch.waits());
        if self.create_graph && !is_zero && self.through_operations(&node, &sources, &gradient, waiting)? {
            self.passed.push(node);
            return Ok(());
        }
        let shares = (!is_zero).then(|| Shares::new(&node, &sources, &gradient));
        let mut told: Vec<Option<Node>> = if waiting.is_some() { vec![None; sources.len()] } else { vec![] };
        for (i, source) in sources.iter().enumerate() {
            // A source that occurs twice is met twice, each time with its own share.
            if !self.leads(source) {
                continue;
            }
            let share = shares.as_ref().map_or(Ok(None), |shares| shares.of(i))?;
            if anomaly::is_on()
                && let Some(share) = &share
            {
                anomaly::look(&node, &History::name_of(&node), i, share)?;
            }
            let share = share.unwrap_or_else(|| source.lit(0.0));
            match waiting {
                Some(_) => told[i] = Some(share.expand(*source.shape())?),
                None => add(&mut self.front, source, share),
            }
        }
        drop(shares);
        if let Some(watch) = waiting {
            let of = gradient.expand(*node.shape())?;
            let said = watch.behind(told, &[Some(of)])?;
            self.hand_on(&sources, said);
        }
        if !matches!(node.op(), Op::Source(_)) {
            self.passed.push(node);
        }
        Ok(())
    }

    /// Goes through what a kernel without a derivative of its gradient is made of, for gradients of gradients. Answers with whether it was that.
    fn through_operations(
        &mut self,
        node: &Node,
        sources: &Sources,
        gradient: &Node,
        waiting: Option<&Watch>,
    ) -> Result<bool> {
        let Some(again) = of_operations(node)? else { return Ok(false) };
        if let Some((source, found)) = sources.iter().find_map(|s| Some((s, stale(s, node.sequence())?))) {
            return Err(changed(node, node.op().name(), source, &found));
        }
        let again = [(again, gradient.clone())];
        if let Some(watch) = waiting {
            let leads = |source: &Node| self.leads(source);
            let told = through_made_again(node, sources, &again, leads)?;
            let of = gradient.expand(*node.shape())?;
            let said = watch.behind(told, &[Some(of)])?;
            self.hand_on(sources, said);
            return Ok(true);
        }
        if let Reach::Only(way) = self.reach {
            self.more.extend(leading(&again, self.wanted, way.oldest).nodes);
        }
        let [(again, gradient)] = again;
        add(&mut self.front, &again, gradient);
        Ok(true)
    }

    /// Goes through a call of a function with a gradient of its own, of whose results all gradients are there.
    fn through_call(&mut self, node: &Node, call: &Call, sources: &Sources) -> Result<()> {
        let mut arrived = self.calls.remove(&node.sequence()).unwrap_or_default();
        let (watch, mut given) = (Watch::of(node), vec![]);
        if let Some(watch) = watch {
            given = watch.before(call.wholes(&arrived)?)?;
            arrived = given.iter().enumerate().filter_map(|(i, g)| Some((i, g.clone()?))).collect();
        }
        if call.is_again() {
            // It reads whatever it was computed of; of leaves, which optimisers change, as they are now.
            let mut read = sources.iter().filter(|s| !is_leaf(s));
            let gone = read.find_map(|s| Some((s, stale(s, node.sequence())?)));
            if let Some((source, found)) = gone {
                return Err(changed(node, call.name(), source, &found));
            }
            self.let_go_of_what_was_again(&arrived)?;
        }
        match call.onward(arrived)? {
            Onward::Sources(shares) => {
                let mut fitted = Vec::with_capacity(sources.len());
                for (k, (source, share)) in sources.iter().zip(shares).enumerate() {
                    let share = share.filter(|_| self.leads(source));
                    let at = call.position(k);
                    let share = share.map(|share| call.fitted(&share, source, at)).transpose()?;
                    if anomaly::is_on()
                        && let Some(share) = &share
                    {
                        anomaly::look(node, call.name(), at, share)?;
                    }
                    fitted.push(share);
                }
                if let Some(watch) = watch {
                    fitted = watch.behind(fitted, &given)?;
                }
                self.hand_on(sources, fitted);
            }
            Onward::Results(results) => {
                if let Reach::Only(way) = self.reach {
                    self.more.extend(leading(&results, self.wanted, way.oldest).nodes);
                }
                for (result, gradient) in results {
                    if !matches!(self.reach, Reach::Only(_)) || self.more.contains(&result.sequence()) {
                        add(&mut self.front, &result, gradient);
                    }
                }
            }
        }
        Ok(())
    }

    /// Lets go of what was computed again for this walk so far, before more is: that is what it is for.
    fn let_go_of_what_was_again(&mut self, arrived: &Arrived) -> Result<()> {
        let waiting = arrived.iter().map(|(_, g)| g).chain(self.front.values().flat_map(|(_, g)| g.nodes()));
        let needed: SmallVec<[&Node; 16]> = waiting.filter(|g| g.literal().is_none()).collect();
        if self.create_graph || needed.iter().any(|g| g.is_traced()) {
            return Ok(());
        }
        mg_graph::realize_quietly(&needed)?;
        let again = std::mem::replace(&mut self.again, mg_graph::next_sequence());
        self.passed.retain(|node| {
            let is_done = node.sequence() >= again;
            if is_done {
                node.release();
            }
            !is_done
        });
        Ok(())
    }
}

/// The gradients of the sources of a node that lead on, through what it was made of again for gradients of gradients: all of each source stands
/// where that occurs first.
fn through_made_again(
    node: &Node,
    sources: &Sources,
    again: &[(Node, Node)],
    leads: impl Fn(&Node) -> bool,
) -> Result<Vec<Option<Node>>> {
    // What was made again is younger than the node, which is younger than its sources.
    let mut within: HashMap<u64, usize> = HashMap::new();
    let mut stack: Vec<Node> = again.iter().map(|(made, _)| made.clone()).collect();
    while let Some(made) = stack.pop() {
        if node.sequence() < made.sequence() && within.insert(made.sequence(), 0).is_none() {
            stack.extend(made.sources());
        }
    }
    let mut told: Vec<Option<Node>> = vec![None; sources.len()];
    let place = |of: &Node| sources.iter().position(|source| source.is(of));
    let is_source = |of: &Node| leads(of) && place(of).is_some();
    let arrive = |source: &Node, gradient: Node| {
        if let Some(i) = place(source) {
            told[i] = Some(gradient.expand(*source.shape())?);
        }
        Ok(())
    };
    walk(again.iter().cloned(), true, Reach::Within(&within), is_source, arrive)?;
    Ok(told)
}
