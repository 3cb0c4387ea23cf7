//! What a run of a step has done, as far as it can be replayed.

use super::record::{self, GradOf, Lie, Record, Spot, Told};
use super::refused;
use crate::tensor::memory::has_history;
use crate::tensor::{Cell, Kept, Lies, MemoryId, Place, Tensor};
use mg_device::{Layout, Result};
use mg_graph::{Computed, Node, Template, Trace};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};

/// What a value is after the step.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum After {
    Computed(Computed),
    /// What the slot held before.
    Slot(usize),
}

/// A gradient after the step.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum GradAfter {
    None,
    /// The tensor that was there before; what is in it is told by what changed.
    Same,
    New(After),
}

/// Whose part an answer is.
#[derive(Clone)]
pub(super) enum Home {
    /// A tensor that the step made.
    Made(usize),
    Spot(Spot),
}

/// What the step answers with.
#[derive(Clone)]
pub(super) enum Output {
    Argument(usize),
    /// The tensor that stands somewhere outside, which the step hands back as it is.
    Same(Spot),
    /// The gradient that a leaf had, and has no longer.
    Replaced(Spot),
    Made(usize),
    Part(Home, Layout),
    /// A part of something that the step made, whose own node gradients flow through: by its number among the template's roots.
    PartOfGraph(usize, Layout, usize),
}

/// Memory that a step makes for its answers.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Base {
    /// A value, and whether it has a history which was let go.
    Value(After, bool),
    /// One of the nodes of the graph that the step leaves, by its number among the template's roots.
    Node(usize),
}

/// A run that was recorded.
pub(super) struct Run {
    pub(super) number: u64,
    pub(super) trace: Trace,
    pub(super) arguments: Vec<Weak<Cell>>,
    pub(super) slots: Vec<Spot>,
    pub(super) outside: HashMap<u64, usize>,
    /// How what is in the slots lies in memory.
    pub(super) lies: Vec<Option<Lie>>,
    pub(super) changed: Vec<(Spot, After)>,
    /// Which of what is changed is in each slot.
    pub(super) changes: Vec<Option<usize>>,
    /// Which slot, and then which of what is changed without being in one, has the same memory first: where there are gradients among them,
    /// which may be any tensor the next time.
    pub(super) meets: Option<Vec<usize>>,
    /// What is known from elsewhere and changed without being in a slot.
    pub(super) unread: Vec<usize>,
    /// Leaves, whether they had a gradient (where the step has looked), and what it is then.
    pub(super) grads: Vec<(Spot, Option<bool>, GradAfter)>,
    /// Memory that the step made for its answers.
    pub(super) made: Vec<Base>,
    /// The history of what can be differentiated of it.
    pub(super) template: Option<Template>,
    pub(super) outputs: Vec<Output>,
    /// How those lie for those who ask that it makes, and that do not lie as they are seen.
    pub(super) told: Vec<(usize, Lies)>,
    pub(super) generator: (u64, u64),
    pub(super) drawn: u64,
    /// What tensors told of themselves whose numbers it does not read.
    pub(super) asked: Vec<(Spot, Told)>,
    /// How tensors lay in memory that it has asked for that.
    pub(super) lain: Vec<(Spot, Layout)>,
    /// What hooks leaves had.
    pub(super) hooks: u64,
}

/// What a run has left, while it is read.
struct Reading<'a> {
    trace: &'a Trace,
    record: &'a Record,
    arguments: &'a [&'a Tensor],
    /// The memory of each argument.
    ids: SmallVec<[MemoryId; 4]>,
}

/// What a run answers with, while it is read.
#[derive(Default)]
struct Answers {
    outputs: Vec<Output>,
    /// The nodes of memory that it has made.
    made: Vec<Node>,
    /// Which of them is in which memory.
    lines: Vec<(MemoryId, usize)>,
    /// Answers that are views of those, by their numbers, and the nodes that they stand for.
    parts: Vec<(usize, Node)>,
}

impl Reading<'_> {
    #[track_caller]
    fn after(&self, node: &Node) -> Result<After> {
        match (self.trace.computed(node), self.record.outside.get(&node.sequence())) {
            (Some(computed), _) => Ok(After::Computed(computed)),
            (None, Some(&slot)) => Ok(After::Slot(slot)),
            (None, None) => Err(refused("it leaves a value that it has not computed")),
        }
    }

    /// What the step read or changed.
    fn spots(&self) -> impl Iterator<Item = &Spot> {
        self.record.slots.iter().chain(self.record.changed.iter().map(|(spot, _)| spot))
    }

    /// Whether another thread has written a gradient meanwhile, or taken it away, as it has those of some leaves.
    fn is_anothers(&self, grad: &GradOf, cleared: &Option<HashSet<usize>>) -> bool {
        let before = grad.before.as_ref().and_then(Option::as_ref);
        match grad.leaf.grad_now() {
            Some(now) => {
                before.is_none_or(|b| !b.is(&now)) && now.current().is_written_beside(self.trace.start())
            }
            None => cleared.as_ref().is_none_or(|leaves| leaves.contains(&grad.leaf.id())),
        }
    }

    #[track_caller]
    fn changed(&self) -> Result<Vec<(Spot, After)>> {
        // What is written to one of them is seen by the other, and where they overlap is another matter in each call.
        let Reading { ids, arguments, .. } = self;
        let beside = |i: usize| (0..i).any(|j| ids[j] == ids[i] && !arguments[j].is(arguments[i]));
        let shared: SmallVec<[MemoryId; 4]> = (0..ids.len()).filter(|&i| beside(i)).map(|i| ids[i]).collect();
        let is_shared = |kept: &Kept| !shared.is_empty() && shared.contains(&kept.memory_id());
        if self.record.changed.iter().any(|(_, kept)| is_shared(kept)) {
            return Err(refused("it writes to memory that several of its arguments are parts of"));
        }
        let mut changed = vec![];
        for (spot, kept) in &self.record.changed {
            let node = kept.node();
            if node.is_written_beside(self.trace.start()) {
                return Err(refused(record::ANOTHER_THREAD));
            }
            if has_history(&node) {
                return Err(refused("a tensor that it has changed has a history that can be differentiated"));
            }
            if !kept.can_be_lent() {
                return Err(refused("it changes a tensor whose memory others see"));
            }
            changed.push((spot.clone(), self.after(&node)?));
        }
        Ok(changed)
    }

    #[track_caller]
    fn grads(&self) -> Result<Vec<(Spot, Option<bool>, GradAfter)>> {
        let mut met: HashSet<MemoryId> = self.ids.iter().copied().collect();
        let mut spots: HashMap<MemoryId, SmallVec<[&Spot; 1]>> = HashMap::new();
        for (spot, kept) in self.spots().filter_map(|spot| Some((spot, spot.find(self.arguments)?))) {
            spots.entry(kept.memory_id()).or_default().push(spot);
        }
        let mut grads = vec![];
        let cleared = record::cleared_by_others(self.record.cleared, self.trace.start());
        for grad in &self.record.grads {
            if self.is_anothers(grad, &cleared) {
                return Err(refused(record::ANOTHER_THREAD));
            }
            let had = grad.before.as_ref().map(Option::is_some);
            let then = match (grad.leaf.grad_now(), grad.before.as_ref().and_then(Option::as_ref)) {
                (None, _) => GradAfter::None,
                (Some(now), Some(before)) if now.is(before) => GradAfter::Same,
                (Some(now), _) if now.line_of_view().is_none() && !has_history(&now.current()) => {
                    let id = now.memory_id();
                    // What stood there before is found where this one stands.
                    let is_here = |spot: &Spot| matches!(spot, Spot::Place(Place::Grad(of)) if of.ptr_eq(&Arc::downgrade(&grad.leaf.0)));
                    let mut its = spots.get(&id).into_iter().flatten();
                    if !met.insert(id) || its.any(|spot| !is_here(spot)) {
                        return Err(refused("a gradient that it leaves is another tensor, too"));
                    }
                    GradAfter::New(self.after(&now.current())?)
                }
                (Some(_), _) => return Err(refused("it leaves a gradient that is a part of something else")),
            };
            grads.push((grad.spot.clone(), had, then));
        }
        Ok(grads)
    }

    /// An answer that is, or is a part of, what was there before.
    #[track_caller]
    fn older(&self, t: &Tensor) -> Result<Option<Output>> {
        if let Some(i) = self.arguments.iter().position(|a| a.is(t)) {
            return Ok(Some(Output::Argument(i)));
        }
        let id = t.memory_id();
        for grad in &self.record.grads {
            let Some(Some(before)) = &grad.before else { continue };
            let stays = grad.leaf.grad_now().is_some_and(|now| now.is(before));
            if !stays && before.is(t) {
                return Ok(Some(Output::Replaced(grad.spot.clone())));
            }
            if !stays && before.memory_id() == id {
                return Err(refused("an answer is a part of a gradient that it has replaced"));
            }
        }
        let of = |spot: &&Spot| spot.find(self.arguments).is_some_and(|kept| kept.memory_id() == id);
        let found: Vec<&Spot> = self.spots().filter(of).collect();
        let is_it = |spot: &Spot| matches!(spot.find(self.arguments), Some(Kept::Tensor(k)) if k.is(t));
        let first = found.iter().copied().find(|spot| is_it(spot)).or(found.first().copied());
        match (first, t.layout()) {
            (Some(spot), None) if is_it(spot) => Ok(Some(Output::Same(spot.clone()))),
            // A part of something from outside: of all of that, not of a view.
            (Some(spot), Some(layout))
                if spot.find(self.arguments).is_some_and(|k| k.can_be_lent()) && !t.requires_grad() =>
            {
                Ok(Some(Output::Part(Home::Spot(spot.clone()), layout)))
            }
            (Some(_), _) => Err(refused("an answer shares memory with what was there before")),
            (None, _) => Ok(None),
        }
    }

    #[track_caller]
    fn answers(&self, outputs: &[Tensor]) -> Result<Answers> {
        let mut answers = Answers::default();
        for t in outputs {
            let output = match self.older(t)? {
                Some(output) => output,
                None => self.made(t, &mut answers)?,
            };
            answers.outputs.push(output);
        }
        Ok(answers)
    }

    /// An answer that the step has made.
    #[track_caller]
    fn made(&self, t: &Tensor, answers: &mut Answers) -> Result<Output> {
        if t.keeps_grad() {
            return Err(refused("an answer is a leaf that it has made"));
        }
        if t.grad_now().is_some() {
            return Err(refused("it gives an answer a gradient"));
        }
        let id = t.memory_id();
        let is_grad = |leaf: &Tensor| leaf.grad_now().is_some_and(|grad| grad.memory_id() == id);
        if self.record.grads.iter().any(|grad| is_grad(&grad.leaf)) {
            return Err(refused("an answer is a gradient that it has made"));
        }
        let at = match answers.lines.iter().find(|(known, _)| *known == id) {
            Some(&(_, at)) => at,
            None => {
                let kept = Kept::all_of(t);
                if !kept.can_be_lent() {
                    return Err(refused("its answers share memory, and history with nobody"));
                }
                answers.made.push(kept.node());
                answers.lines.push((id, answers.made.len() - 1));
                answers.made.len() - 1
            }
        };
        Ok(match t.layout() {
            None => Output::Made(at),
            Some(layout) => {
                answers.parts.push((answers.outputs.len(), t.current()));
                Output::Part(Home::Made(at), layout)
            }
        })
    }

    /// The memory that the step makes for its answers, and the history of what can be differentiated of it.
    #[track_caller]
    fn bases(&self, answers: &mut Answers, generator: (u64, u64)) -> Result<(Vec<Base>, Option<Template>)> {
        let Answers { outputs, made, parts, .. } = answers;
        if !made.iter().any(has_history) {
            let base = |node: &Node| Ok(Base::Value(self.after(node)?, node.is_tracked()));
            return Ok((made.iter().map(base).collect::<Result<_>>()?, None));
        }
        let bases = made.len();
        parts.retain(|(_, node)| has_history(node));
        for (at, node) in parts.drain(..) {
            if let Some(Output::Part(Home::Made(home), layout)) = outputs.get(at) {
                outputs[at] = Output::PartOfGraph(*home, *layout, made.len());
                made.push(node);
            }
        }
        let template = Template::of(made, self.trace, &self.record.outside, generator)?;
        // What it changes is not what a gradient is made of.
        let Record { slots, changed, .. } = self.record;
        let is_changed = |spot: &Spot| changed.iter().any(|(changed, _)| changed.is(spot));
        let reads_changed = slots.iter().enumerate().any(|(i, spot)| is_changed(spot) && template.reads(i));
        if reads_changed || changed.iter().any(|(_, kept)| template.has(&kept.node())) {
            return Err(refused("its answer has the history of what it changes"));
        }
        Ok(((0..bases).map(Base::Node).collect(), Some(template)))
    }
}

impl Run {
    /// Reads what a run has done.
    ///
    /// # Errors
    ///
    /// Why it cannot be replayed.
    #[track_caller]
    pub(super) fn new(
        trace: Trace,
        record: Record,
        arguments: &[&Tensor],
        outputs: &[Tensor],
        generator: (u64, u64),
        drawn: u64,
    ) -> Result<Run> {
        if let Some(why) = record.refused {
            return Err(refused(why));
        }
        let ids = arguments.iter().map(|t| t.memory_id()).collect();
        let reading = Reading { trace: &trace, record: &record, arguments, ids };
        let changed = reading.changed()?;
        let grads = reading.grads()?;
        let mut answers = reading.answers(outputs)?;
        let (made, template) = reading.bases(&mut answers, generator)?;
        let answers = answers.outputs;
        let told = outputs.iter().map(Tensor::lies).enumerate().filter(|(at, lies)| {
            lies.is_some()
                && !matches!(
                    answers.get(*at),
                    Some(Output::Argument(_) | Output::Same(_) | Output::Replaced(_))
                )
        });
        let told = told.collect();
        // What is read is looked at in each call anyway; what is not there any more was the step's own.
        let is_left = |spot: &Spot| {
            let found = spot.find(arguments).is_some();
            found && !record.slots.iter().any(|other| other.is(spot))
        };
        let asked = record.asked.into_values().filter(|(spot, _)| is_left(spot)).collect();
        let is_in = |slot: &Spot| changed.iter().position(|(changed, _)| changed.is(slot));
        let changes: Vec<Option<usize>> = record.slots.iter().map(is_in).collect();
        let is_read: HashSet<usize> = changes.iter().flatten().copied().collect();
        let is_unread = |at: &usize| !is_read.contains(at) && matches!(changed[*at].0, Spot::Place(_));
        let unread: Vec<usize> = (0..changed.len()).filter(is_unread).collect();
        let spots = || record.slots.iter().chain(unread.iter().map(|&at| &changed[at].0));
        let is_gradient = |spot: &Spot| matches!(spot, Spot::Place(Place::Grad(_)));
        let found = spots().map(|spot| spot.find(arguments)).collect::<Option<Vec<_>>>();
        let meets = found.filter(|_| spots().any(is_gradient)).map(|found| meeting(found.iter()));
        Ok(Run {
            number: 0,
            trace,
            arguments: arguments.iter().map(|t| Arc::downgrade(&t.0)).collect(),
            slots: record.slots,
            outside: record.outside,
            lies: record.lies,
            changed,
            changes,
            meets,
            unread,
            grads,
            made,
            template,
            outputs: answers,
            told,
            generator,
            drawn,
            asked,
            lain: record.lain.into_iter().filter(|(spot, _)| spot.find(arguments).is_some()).collect(),
            hooks: crate::hooks::changes(),
        })
    }

    /// What of that which its plans have computed is left when it is over.
    pub(super) fn left(&self) -> impl Iterator<Item = Computed> {
        let changed = self.changed.iter().map(|(_, after)| after);
        let grads = self.grads.iter().filter_map(|(_, _, grad)| match grad {
            GradAfter::New(after) => Some(after),
            GradAfter::None | GradAfter::Same => None,
        });
        let made = self.made.iter().filter_map(|base| match base {
            Base::Value(after, _) => Some(after),
            Base::Node(_) => None,
        });
        let values = changed.chain(grads).chain(made).filter_map(|after| match after {
            After::Computed(computed) => Some(*computed),
            After::Slot(_) => None,
        });
        values.chain(self.template.iter().flat_map(Template::computed))
    }

    /// Whether two runs had to do with the same things.
    pub(super) fn agrees(&self, other: &Run) -> bool {
        fn all<T>(a: &[T], b: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        let home = |a: &Home, b: &Home| match (a, b) {
            (Home::Made(a), Home::Made(b)) => a == b,
            (Home::Spot(a), Home::Spot(b)) => a.is(b),
            (Home::Made(_) | Home::Spot(_), _) => false,
        };
        let output = |a: &Output, b: &Output| match (a, b) {
            (Output::Argument(a), Output::Argument(b)) | (Output::Made(a), Output::Made(b)) => a == b,
            (Output::Same(a), Output::Same(b)) | (Output::Replaced(a), Output::Replaced(b)) => a.is(b),
            (Output::Part(a, la), Output::Part(b, lb)) => home(a, b) && la == lb,
            (Output::PartOfGraph(a, la, na), Output::PartOfGraph(b, lb, nb)) => (a, la, na) == (b, lb, nb),
            (
                Output::Argument(_)
                | Output::Made(_)
                | Output::Same(_)
                | Output::Replaced(_)
                | Output::Part(..)
                | Output::PartOfGraph(..),
                _,
            ) => false,
        };
        all(&self.slots, &other.slots, Spot::is)
            && self.lies == other.lies
            && all(&self.changed, &other.changed, |a, b| a.0.is(&b.0) && a.1 == b.1)
            && all(&self.grads, &other.grads, |a, b| a.0.is(&b.0) && a.1 == b.1 && a.2 == b.2)
            && all(&self.outputs, &other.outputs, output)
            && self.told == other.told
            && self.made == other.made
            && match (&self.template, &other.template) {
                (Some(a), Some(b)) => a.is_like(b),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            }
            && self.drawn == other.drawn
    }
}

/// For each of some places the first that has the same memory.
pub(super) fn meeting<'a>(places: impl Iterator<Item = &'a Kept>) -> Vec<usize> {
    let mut first: HashMap<MemoryId, usize> = HashMap::new();
    places.enumerate().map(|(i, kept)| *first.entry(kept.memory_id()).or_insert(i)).collect()
}
