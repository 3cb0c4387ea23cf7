//! A recorded step, and one replay of it.

use super::history::{History, Walks};
use super::record::{Lie, Spot, Told};
use super::refused;
use super::run::{After, Base, GradAfter, Home, Output, Run, meeting};
use crate::generator;
use crate::gradient::put_or_accumulate;
use crate::tensor::memory::{Changing, has_history};
use crate::tensor::{Cell, Kept, MemoryId, Tensor};
use mg_device::{Error, ErrorKind, Result};
use mg_graph::{Made, Node, Outside, Recorded, Replaced, Replay};
use smallvec::SmallVec;
use std::panic::Location;
use std::sync::{Arc, Weak};

pub(super) struct Replaying {
    pub(super) replay: Replay,
    pub(super) run: Run,
    /// Arguments that were the same tensor in both runs: the step may know it from elsewhere too.
    pub(super) tied: Vec<Option<Weak<Cell>>>,
    /// How its answers' histories are walked.
    pub(super) walks: Walks,
}

/// What a replay has found in its slots: looked up before anything is lent, since views are looked up by way of it.
pub(super) struct Found {
    nodes: Vec<Node>,
}

/// Why a recording is not what a call does.
pub(super) enum Misfit {
    /// Something is other than it was.
    Other,
    /// Something that the step knows from elsewhere is not there any more.
    Gone,
}

pub(super) type Tied = Vec<Option<Weak<Cell>>>;

impl Replaying {
    #[track_caller]
    pub(super) fn of_two(before: &Run, now: &Run) -> Result<(Replay, Tied)> {
        if !before.agrees(now) {
            return Err(refused("it read or changed other tensors than the time before"));
        }
        fn recorded(run: &Run) -> Recorded<'_> {
            Recorded { trace: &run.trace, outside: &run.outside, generator: run.generator }
        }
        let mut replay = Replay::new(recorded(before), recorded(now))?;
        replay.keep_only(now.left());
        let tied = before.arguments.iter().zip(&now.arguments);
        let tied = tied.map(|(a, b)| (a.ptr_eq(b) && b.strong_count() > 0).then(|| b.clone())).collect();
        Ok((replay, tied))
    }

    /// What the recording's slots have now, if everything that it took for granted is so.
    pub(super) fn fits(&self, arguments: &[&Tensor]) -> std::result::Result<Found, Misfit> {
        for (tied, argument) in self.tied.iter().zip(arguments) {
            if tied.as_ref().is_some_and(|cell| !std::ptr::eq(cell.as_ptr(), Arc::as_ptr(&argument.0))) {
                return Err(Misfit::Other);
            }
        }
        if self.run.hooks != crate::hooks::changes() {
            return Err(Misfit::Gone);
        }
        if !self.run.trace.holds() {
            return Err(Misfit::Other);
        }
        self.tells_the_same(arguments)?;
        let (kept, nodes) = self.lies_the_same(arguments)?;
        // What is overwritten had no history when the step was recorded; what is written to one that has goes on with it.
        let changes = |spot: &Spot| {
            spot.find(arguments).is_some_and(|kept| kept.can_be_lent() && !has_history(&kept.node()))
        };
        if !self.run.changed.iter().all(|(spot, _)| changes(spot)) {
            return Err(Misfit::Other);
        }
        self.meets_the_same(arguments, &kept)?;
        Ok(Found { nodes })
    }

    /// What the step asked tensors, where they lay, and which leaves had gradients.
    fn tells_the_same(&self, arguments: &[&Tensor]) -> std::result::Result<(), Misfit> {
        for (spot, told) in &self.run.asked {
            match spot.find(arguments) {
                Some(Kept::Tensor(tensor)) if Told::of(&tensor) == *told => {}
                Some(_) => return Err(Misfit::Other),
                None => return Err(Misfit::Gone),
            }
        }
        for (spot, lain) in &self.run.lain {
            match spot.find(arguments) {
                Some(Kept::Tensor(tensor)) if tensor.lie_unnoted().is_ok_and(|lie| lie == *lain) => {}
                Some(_) => return Err(Misfit::Other),
                None => return Err(Misfit::Gone),
            }
        }
        for (spot, had, _) in &self.run.grads {
            let leaf = match spot.find(arguments) {
                Some(Kept::Tensor(leaf)) => leaf,
                Some(Kept::Line(_)) | None => return Err(Misfit::Gone),
            };
            if had.is_some_and(|had| leaf.grad_now().is_some() != had) {
                return Err(Misfit::Other);
            }
        }
        Ok(())
    }

    /// What the slots have, where it lies as it lay; what waits and is no argument is computed for that.
    fn lies_the_same(&self, arguments: &[&Tensor]) -> std::result::Result<(Vec<Kept>, Vec<Node>), Misfit> {
        let run = &self.run;
        let mut kept = Vec::with_capacity(run.slots.len());
        let mut nodes = Vec::with_capacity(run.slots.len());
        for (spot, lie) in run.slots.iter().zip(&run.lies) {
            let found = spot.find(arguments).ok_or(Misfit::Gone)?;
            let node = found.node();
            if let Spot::Place(_) = spot {
                if node.is_pending() && mg_graph::realize_quietly(&[&node]).is_err() {
                    return Err(Misfit::Other);
                }
                let now = Lie::of(&node);
                if now.is_none() || now != *lie {
                    return Err(Misfit::Other);
                }
            }
            kept.push(found);
            nodes.push(node);
        }
        Ok((kept, nodes))
    }

    /// Which of all that is read or changed is one memory: none that is an argument and known from elsewhere, and else as it was.
    fn meets_the_same(&self, arguments: &[&Tensor], kept: &[Kept]) -> std::result::Result<(), Misfit> {
        let run = &self.run;
        // An argument that the step also knows from elsewhere is read, or changed, in two ways; to take it twice would be to wait for ever.
        let free = self.tied.iter().zip(arguments).filter(|(tied, _)| tied.is_none());
        let free: SmallVec<[MemoryId; 4]> = free.map(|(_, argument)| argument.memory_id()).collect();
        let is_place = |spot: &Spot| matches!(spot, Spot::Place(_));
        let reads = |(spot, kept): (&Spot, &Kept)| is_place(spot) && free.contains(&kept.memory_id());
        // What it writes to without having read it, too.
        let writes = |at: &usize| {
            let kept = run.changed[*at].0.find(arguments);
            kept.is_some_and(|kept| free.contains(&kept.memory_id()))
        };
        if let Some(meets) = &run.meets {
            let unread = run.unread.iter().map(|&at| run.changed[at].0.find(arguments));
            let unread = unread.collect::<Option<SmallVec<[Kept; 4]>>>().ok_or(Misfit::Gone)?;
            if meeting(kept.iter().chain(&unread)) != *meets {
                return Err(Misfit::Other);
            }
        }
        match !free.is_empty() && (run.slots.iter().zip(kept).any(reads) || run.unread.iter().any(writes)) {
            true => Err(Misfit::Other),
            false => Ok(()),
        }
    }

    /// Replays the step; nothing where it cannot be, or has failed for what it computes with and `catches` says that the function may know what
    /// to do about it: all is as if it had not begun.
    #[track_caller]
    pub(super) fn call(
        &mut self,
        found: Found,
        arguments: &[&Tensor],
        catches: bool,
    ) -> Result<Option<Vec<Tensor>>> {
        let line = Location::caller();
        let run = &self.run;
        let Some(older) = run.older(arguments) else { return Ok(None) };
        let Some(mut lent) = Lent::of(run, arguments) else { return Ok(None) };
        let Some((outside, history)) = lent.outside(run, found) else { return Ok(None) };
        let generator = generator::state();
        let made = match self.replay.run(&outside, &lent.replaced(run), generator) {
            Ok(made) => made,
            Err(error) if catches && is_about_data(error.kind()) => return Ok(None),
            Err(error) => return Err(error),
        };
        generator::advance(run.drawn);
        let computed = Values { made: &made, outside: &outside };
        let changed =
            run.changed.iter().map(|(_, after)| computed.node(after)).collect::<Result<Vec<_>>>()?;
        let grads = run.grads.iter().map(|(_, _, after)| match after {
            GradAfter::New(after) => computed.node(after).map(Some),
            GradAfter::None | GradAfter::Same => Ok(None),
        });
        let grads = grads.collect::<Result<Vec<_>>>()?;
        let graph = match &run.template {
            Some(template) => {
                let grown = template.grow(|i| history.get(i).cloned().flatten(), &made, generator)?;
                if !template.has_live_scalars() {
                    History::attach(&grown, &history, generator, self.walks.clone());
                }
                grown.roots
            }
            None => vec![],
        };
        let bases = run.bases(&computed, &graph)?;
        drop(outside);
        lent.put_back(changed, line);
        run.put_grads(grads, arguments)?;
        run.answers(arguments, older, &bases, &graph).map(Some)
    }
}

fn lost() -> Error {
    Error::new("jit", ErrorKind::Internal("something that a step needs is gone".into()))
}

/// What a replay has computed, and what it was computed of.
struct Values<'a> {
    made: &'a Made,
    outside: &'a [Outside],
}

impl Values<'_> {
    fn node(&self, after: &After) -> Result<Node> {
        let value = match after {
            After::Computed(computed) => self.made.get(*computed).cloned(),
            After::Slot(slot) => self.outside.get(*slot).map(|outside| outside.value.clone()),
        };
        value.map(Node::from_value).ok_or_else(lost)
    }
}

impl Run {
    /// The memory that a replay has made for its answers.
    fn bases(&self, computed: &Values, graph: &[Node]) -> Result<Vec<Tensor>> {
        let bases = self.made.iter().map(|base| match base {
            Base::Value(after, had_history) => {
                let node = computed.node(after)?;
                if *had_history {
                    // As the step's own, whose history was let go.
                    node.set_tracked(true);
                    node.release();
                }
                Ok(Tensor::from_node(node))
            }
            Base::Node(root) => graph.get(*root).cloned().map(Tensor::from_node).ok_or_else(lost),
        });
        bases.collect()
    }

    /// Gives leaves the gradients that a replay has computed.
    fn put_grads(&self, grads: Vec<Option<Node>>, arguments: &[&Tensor]) -> Result<()> {
        for ((spot, had, after), node) in self.grads.iter().zip(grads) {
            let Some(Kept::Tensor(leaf)) = spot.find(arguments) else { continue };
            match after {
                GradAfter::None => leaf.zero_grad(),
                GradAfter::Same => {}
                GradAfter::New(_) => match node {
                    Some(node) if *had == Some(false) => put_or_accumulate(&leaf, node)?,
                    node => leaf.put_grad(node.map(Tensor::unread)),
                },
            }
        }
        Ok(())
    }

    /// What a replay answers with, or with a part of, that was there before; for each answer. Nothing where that is gone.
    fn older(&self, arguments: &[&Tensor]) -> Option<Vec<Option<Kept>>> {
        let of = |output: &Output| match output {
            Output::Same(spot) | Output::Part(Home::Spot(spot), _) => spot.find(arguments).map(Some),
            // Before another takes its place.
            Output::Replaced(leaf) => match leaf.find(arguments) {
                Some(Kept::Tensor(leaf)) => leaf.grad_now().map(|grad| Some(Kept::Tensor(grad))),
                Some(Kept::Line(_)) | None => None,
            },
            Output::Argument(_)
            | Output::Made(_)
            | Output::Part(Home::Made(_), _)
            | Output::PartOfGraph(..) => Some(None),
        };
        self.outputs.iter().map(of).collect()
    }

    /// What a replay answers with. What another thread has taken away meanwhile is what it was before: see [`Run::older`].
    fn answers(
        &self,
        arguments: &[&Tensor],
        older: Vec<Option<Kept>>,
        bases: &[Tensor],
        graph: &[Node],
    ) -> Result<Vec<Tensor>> {
        let base = |at: &usize| bases.get(*at).ok_or_else(lost);
        let find = |spot: &Spot, before: Option<Kept>| spot.find(arguments).or(before);
        let outputs = self.outputs.iter().zip(older).map(|(output, before)| match output {
            Output::Argument(i) => arguments.get(*i).map(|&t| t.clone()).ok_or_else(lost),
            Output::Same(spot) => match find(spot, before) {
                Some(Kept::Tensor(tensor)) => Ok(tensor),
                Some(Kept::Line(_)) | None => Err(lost()),
            },
            Output::Replaced(_) => match before {
                Some(Kept::Tensor(grad)) => Ok(grad),
                Some(Kept::Line(_)) | None => Err(lost()),
            },
            Output::Made(at) => base(at).cloned(),
            Output::Part(Home::Made(at), layout) => Ok(base(at)?.part(*layout)),
            Output::PartOfGraph(at, layout, root) => {
                let node = graph.get(*root).cloned().ok_or_else(lost)?;
                Ok(base(at)?.part_that_is(*layout, node))
            }
            Output::Part(Home::Spot(spot), layout) => match find(spot, before) {
                Some(kept) => Ok(kept.part(*layout)),
                None => Err(lost()),
            },
        });
        let outputs = outputs.collect::<Result<Vec<Tensor>>>()?;
        for (at, lies) in &self.told {
            outputs.get(*at).ok_or_else(lost)?.set_lies(lies);
        }
        Ok(outputs)
    }
}

/// Whether an error is about what a step computes with, which it may know what to do about; not about the machine, or whoever stops it.
fn is_about_data(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Index { .. }
            | ErrorKind::Indices(_)
            | ErrorKind::Singular(_)
            | ErrorKind::Value(_)
            | ErrorKind::Empty(_)
    )
}

/// What was lent, and goes back as it was unless it was put back otherwise.
struct Lent(Vec<(Kept, Option<Node>)>);

impl Lent {
    /// Takes what a step changes: that is not to be seen meanwhile, and its memory is taken over. Nothing where two gradients that were two
    /// tensors are one since, since to take it twice would be to wait for ever; and where another thread has taken one away.
    fn of(run: &Run, arguments: &[&Tensor]) -> Option<Lent> {
        let mut lent = Lent(vec![]);
        let _taking = Changing::begin();
        for (spot, _) in &run.changed {
            let kept = spot.find(arguments)?;
            if kept.is_lent() && lent.0.iter().any(|(other, _)| other.is(&kept)) {
                return None;
            }
            let node = kept.lend()?;
            lent.0.push((kept, Some(node)));
        }
        Some(lent)
    }

    /// The values that a replay reads, and the nodes that its answers' history goes on to. Nothing where another thread has written since to what
    /// was found.
    fn outside(&self, run: &Run, found: Found) -> Option<(Vec<Outside>, Vec<Option<Node>>)> {
        let mut outside = Vec::with_capacity(run.slots.len());
        for (&at, node) in run.changes.iter().zip(&found.nodes) {
            if at.and_then(|at| self.0[at].1.as_ref()).is_some_and(|lent| !lent.is(node)) {
                return None;
            }
            let Some(Ok(value)) = node.value() else { return None };
            outside.push(Outside { value: value.clone(), lent: false });
        }
        // Of what the step does not change: that is nobody's but the replay's.
        let history: Vec<Option<Node>> = match &run.template {
            Some(template) => {
                let nodes = found.nodes.into_iter().enumerate();
                nodes.map(|(i, node)| template.reads(i).then_some(node)).collect()
            }
            None => {
                drop(found);
                vec![]
            }
        };
        for (outside, &at) in outside.iter_mut().zip(&run.changes) {
            // Nobody else has it, so that its memory may be overwritten.
            let alone = |at: usize| self.0[at].1.as_ref().is_some_and(|node| node.handles() == 1);
            outside.lent = at.is_some_and(alone);
        }
        Some((outside, history))
    }

    /// What is to be put in the place of what.
    fn replaced(&self, run: &Run) -> SmallVec<[Replaced<'_>; 8]> {
        let replaced = run.changed.iter().zip(&self.0).filter_map(|((_, after), (_, old))| {
            let After::Computed(new) = after else { return None };
            let old = old.as_ref()?.value()?.as_ref().ok()?;
            Some(Replaced { old, new: *new })
        });
        replaced.collect()
    }

    /// Puts what was computed in the place of what was lent, as written by a line.
    fn put_back(&mut self, changed: Vec<Node>, line: &'static Location<'static>) {
        for ((kept, slot), node) in self.0.iter_mut().zip(changed) {
            if let Some(old) = slot.take() {
                kept.put_back(node, Some((&old, line)));
            }
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        for (kept, node) in &mut self.0 {
            if let Some(node) = node.take() {
                kept.put_back(node, None);
            }
        }
    }
}
