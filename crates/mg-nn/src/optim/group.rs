//! Groups of parameters with options of their own, and steps of several of them in one plan.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mg_autograd::{Operand, Tensor, no_grad};
use mg_device::{DType, Device, Error, ErrorKind, Result};
use mg_graph::{Exclusive, LiveScalar, Node, assume, locked, on_failed_replay, on_replay};

use super::number::Number;
use super::options::OptionValue;
use super::rule::{Count, Rule, Step};
use super::{Whose, at_least_0, check_parameters, finite, follow, load_slots, next_change, save_slots};
use crate::state::{IncompatibleKeys, State};

/// The steps of a parameter, and what follows from their number. All of it is the host's; replays read it anew.
struct Clock<R> {
    options: Arc<Mutex<R>>,
    /// Now, and before the last step.
    counts: Mutex<[Count; 2]>,
    own: [LiveScalar; 4],
}

/// The steps of parameters that make every step together, where some of them may have been left out: only the
/// device knows how many. It counts with tensors of f64 without axes.
struct Counted {
    steps: Tensor,
    kept: [Tensor; 2],
}

impl<R: Rule> Clock<R> {
    fn new(options: &Arc<Mutex<R>>, count: Count) -> Arc<Clock<R>> {
        let own = std::array::from_fn(|_| LiveScalar::new(0.0));
        Arc::new(Clock { options: options.clone(), counts: Mutex::new([count; 2]), own })
    }

    fn now(&self) -> Count {
        locked(&self.counts)[0]
    }

    fn put(&self, count: Count) {
        *locked(&self.counts) = [count; 2];
    }

    /// The next step.
    fn advance(&self) {
        let mut counts = locked(&self.counts);
        counts[1] = counts[0];
        counts[0].steps += 1;
        let now = &mut counts[0];
        let own;
        (own, now.kept) = R::advance(&locked(&self.options).live(), &(now.steps as f64), &now.kept);
        for (live, value) in self.own.iter().zip(own) {
            live.set(value);
        }
    }

    /// A step that was not made.
    fn go_back(&self) {
        let mut counts = locked(&self.counts);
        counts[0] = counts[1];
    }
}

/// What is remembered of a parameter once it has had a gradient.
struct Slot<R> {
    memory: Vec<Option<Tensor>>,
    clock: Arc<Clock<R>>,
    /// In place of the clock, once a step may have been left out.
    counted: Option<Arc<Counted>>,
}

/// How a parameter stood before a step.
#[derive(Default)]
struct Before {
    /// Something was remembered of it.
    was_known: bool,
    /// What the step begins to remember.
    begun: Vec<bool>,
    /// What it becomes; none where nothing was written.
    change: Option<Node>,
}

/// Parameters with options of their own.
pub(super) struct Group<R> {
    parameters: Vec<Tensor>,
    options: Arc<Mutex<R>>,
    shared: [LiveScalar; 6],
    live: [LiveScalar; 5],
    initial_lr: Option<f64>,
    /// Steps that `jit` has recorded hold for as long as this is the same.
    era: Arc<()>,
    /// The last change of what is remembered.
    changed: Arc<AtomicU64>,
    /// Steps are made one after the other, replayed ones too: each reads parameters and what is remembered of them, and writes to them later.
    exclusive: Arc<Exclusive>,
    slots: Vec<Option<Slot<R>>>,
    /// While a step is being made.
    before: Vec<Before>,
}

impl<R: Rule> Group<R> {
    #[track_caller]
    pub(super) fn new(parameters: Vec<Tensor>, options: R) -> Result<Group<R>> {
        check_parameters(R::NAME, &parameters)?;
        at_least_0(R::NAME, "a learning rate", options.lr())?;
        options.check()?;
        for (i, p) in parameters.iter().enumerate() {
            if let Some(text) = options.mistake(p) {
                return Err(Error::new(R::NAME, ErrorKind::Value(format!("parameter {i} {text}"))));
            }
        }
        let slots = parameters.iter().map(|_| None).collect();
        let (shared, live) = (options.shared().map(LiveScalar::new), options.live().map(LiveScalar::new));
        let options = Arc::new(Mutex::new(options));
        let (era, changed) = (Arc::new(()), Arc::new(AtomicU64::new(next_change())));
        let (initial_lr, before, exclusive) = (None, vec![], Arc::default());
        let mut group =
            Group { parameters, options, shared, live, initial_lr, era, changed, exclusive, slots, before };
        if R::IS_EAGER {
            let (options, mut fresh) = (group.options(), vec![]);
            for (p, slot) in group.parameters.iter().zip(&mut group.slots) {
                begin(&options, &group.options, p, slot, &mut vec![false; R::MEMORY.len()], &mut fresh)?;
            }
            Tensor::realize_all(&fresh)?;
        }
        Ok(group)
    }

    pub(super) fn parameters(&self) -> &[Tensor] {
        &self.parameters
    }

    pub(super) fn options(&self) -> R {
        locked(&self.options).clone()
    }

    pub(super) fn initial_lr(&mut self) -> f64 {
        let now = self.options().lr();
        *self.initial_lr.get_or_insert(now)
    }

    #[track_caller]
    pub(super) fn set_options(&mut self, new: R) -> Result<()> {
        check_options(&new)?;
        // A replay of another thread reads all numbers as they were before, or as they are now.
        let _alone = Exclusive::take([&self.exclusive]);
        let (shared, live) = (new.shared(), new.live());
        for (held, value) in self.shared.iter().chain(&self.live).zip(shared.into_iter().chain(live)) {
            held.set(value);
        }
        *locked(&self.options) = new;
        Ok(())
    }

    /// Has others know that what is remembered changes.
    fn tell(&self) {
        self.changed.store(next_change(), Ordering::Relaxed);
    }

    #[track_caller]
    pub(super) fn set_lr(&mut self, lr: f64) -> Result<()> {
        let options = self.options().with_lr(lr);
        self.set_options(options)
    }

    /// What is remembered of each parameter: tensors by name, as `handed` hands them out.
    pub(super) fn save(&self, before: usize, handed: impl Fn(&Tensor) -> Tensor) -> State {
        let _alone = Exclusive::take([&self.exclusive]);
        // Numbers are written in f64 where that is the default, and else in f32, as PyTorch's are.
        let in_f64 = DType::default_float() == DType::F64;
        let written = if in_f64 { DType::F64 } else { DType::F32 };
        let scalar = |x: f64| if in_f64 { Tensor::scalar(x) } else { Tensor::scalar(x as f32) };
        let slots = self.slots.iter().map(|slot| {
            let Some(slot) = slot else { return (vec![], vec![]) };
            let (steps, kept) = match &slot.counted {
                Some(counted) => {
                    let number = |t: &Tensor| t.to_dtype(written).snapshot();
                    (number(&counted.steps), counted.kept.each_ref().map(number))
                }
                None => {
                    let count = slot.clock.now();
                    (scalar(count.steps as f64), count.kept.map(scalar))
                }
            };
            let mut numbers = Vec::new();
            if R::COUNTS {
                numbers.push(("step", steps));
            }
            numbers.extend(R::KEPT.iter().copied().zip(kept));
            (slot.memory.iter().map(|held| held.as_ref().map(&handed)).collect(), numbers)
        });
        save_slots(R::MEMORY, before, slots)
    }

    #[track_caller]
    pub(super) fn load(&mut self, state: &State, whose: Whose) -> Result<()> {
        let exclusive = self.exclusive.clone();
        let _alone = Exclusive::take([&exclusive]);
        let options = self.options();
        let mut keys = IncompatibleKeys::default();
        let loaded = load_slots(&options, &self.parameters, state, whose, 0, &mut keys)?;
        keys.check(R::NAME, "optimiser")?;
        self.tell();
        let _guard = no_grad();
        self.load_counted(&loaded)?;
        for ((slot, p), loaded) in self.slots.iter_mut().zip(&self.parameters).zip(loaded) {
            let Some((memory, count)) = loaded else {
                if slot.take().is_some() {
                    // Steps that were recorded go on from what is forgotten here.
                    self.era = Arc::new(());
                }
                if R::IS_EAGER {
                    let (mut begun, mut fresh) = (vec![false; R::MEMORY.len()], vec![]);
                    begin(&options, &self.options, p, slot, &mut begun, &mut fresh)?;
                    Tensor::realize_all(&fresh)?;
                }
                continue;
            };
            match slot {
                Some(known) => {
                    for (held, loaded) in known.memory.iter_mut().zip(memory) {
                        match (&*held, loaded) {
                            (Some(held), Some(loaded)) if held.id() == loaded.id() => {}
                            // Written through, as by a step.
                            (Some(held), Some(loaded)) if whose == Whose::Others => held.assign(loaded)?,
                            (None, None) => {}
                            (Some(_), None) => {
                                *held = None;
                                self.era = Arc::new(());
                            }
                            (Some(_) | None, Some(loaded)) => {
                                *held = Some(loaded);
                                self.era = Arc::new(());
                            }
                        }
                    }
                    known.clock.put(count);
                }
                None => {
                    let clock = Clock::new(&self.options, count);
                    *slot = Some(Slot { memory, clock, counted: None });
                }
            }
        }
        Ok(())
    }
}

/// What options for steps to come are checked for.
#[track_caller]
fn check_options<R: Rule>(options: &R) -> Result<()> {
    // One below 0, to which a schedule may come, goes up the slope, as in PyTorch.
    finite(R::NAME, "a learning rate", options.lr())?;
    options.check()
}

/// The numbers that all parameters of a group share, made once a step and not once a parameter.
struct Numbers<'a> {
    live: &'a [LiveScalar; 6],
    /// As they stand beside parameters of another dtype: halves take them as f32 where they can.
    others: [Operand; 6],
    made: Vec<(DType, Device, [Operand; 6])>,
}

impl Numbers<'_> {
    fn new(live: &[LiveScalar; 6]) -> Numbers<'_> {
        Numbers { live, others: live.each_ref().map(Operand::from), made: vec![] }
    }

    fn beside(&mut self, p: &Tensor) -> &[Operand; 6] {
        let (dtype, device) = (p.dtype(), p.device());
        if !matches!(dtype, DType::F32 | DType::F64) {
            return &self.others;
        }
        let known = self.made.iter().position(|(of, on, _)| (*of, *on) == (dtype, device));
        let at = known.unwrap_or(self.made.len());
        if known.is_none() {
            let number = |x| Operand::Tensor(Tensor::from_node(Node::live(x, dtype, device)));
            self.made.push((dtype, device, self.live.each_ref().map(number)));
        }
        &self.made[at].2
    }
}

/// The numbers of a step, for parameters that are counted together.
type Owns = Vec<(Arc<Counted>, [Operand; 4])>;

impl Counted {
    /// Counts on from the numbers of the host.
    fn new(count: Count, device: Device) -> Result<Arc<Counted>> {
        let number = |x: f64| {
            let t = Tensor::scalar(x).to(device)?.copy();
            t.realize()?;
            Ok(t)
        };
        let [first, second] = count.kept;
        Ok(Arc::new(Counted { steps: number(count.steps as f64)?, kept: [number(first)?, number(second)?] }))
    }

    fn all(&self) -> [&Tensor; 3] {
        [&self.steps, &self.kept[0], &self.kept[1]]
    }
}

impl<R: Rule> Group<R> {
    /// Counts a step of every parameter that makes one and is counted on its device, as all are from the first step
    /// on that may be left out.
    fn count(&mut self, left_out: Option<&Tensor>, wanted: &mut Vec<Tensor>) -> Result<Owns> {
        if !R::COUNTS {
            return Ok(vec![]);
        }
        let mut begun: Vec<(Count, Device, Arc<Counted>)> = vec![];
        let mut moves: Vec<(Arc<Counted>, usize)> = vec![];
        let steps: Vec<usize> = (0..self.parameters.len())
            .filter(|&i| self.slots[i].is_some() && self.parameters[i].grad().is_some())
            .collect();
        for &i in &steps {
            let (Some(slot), device) = (&mut self.slots[i], self.parameters[i].device()) else { continue };
            if slot.counted.is_none() && left_out.is_some() {
                let now = slot.clock.now();
                let known = begun.iter().find(|(count, on, _)| (*count, *on) == (now, device));
                let counted = match known {
                    Some((.., counted)) => counted.clone(),
                    None => {
                        let counted = Counted::new(now, device)?;
                        begun.push((now, device, counted.clone()));
                        counted
                    }
                };
                slot.counted = Some(counted);
            }
            let Some(counted) = &slot.counted else { continue };
            match moves.iter_mut().find(|(known, _)| Arc::ptr_eq(known, counted)) {
                Some((_, n)) => *n += 1,
                None => moves.push((counted.clone(), 1)),
            }
        }
        drop(begun);
        // Those that go on without the others are counted by themselves from now on.
        for (counted, n) in &mut moves {
            let is_its = |slot: &&Slot<R>| slot.counted.as_ref().is_some_and(|c| Arc::ptr_eq(c, counted));
            if self.slots.iter().flatten().filter(is_its).count() == *n {
                continue;
            }
            let own = |t: &Tensor| {
                let t = t.copy();
                t.realize()?;
                Ok(t)
            };
            let [first, second] = &counted.kept;
            let apart = Arc::new(Counted { steps: own(&counted.steps)?, kept: [own(first)?, own(second)?] });
            for &i in &steps {
                let Some(slot) = &mut self.slots[i] else { continue };
                if slot.counted.as_ref().is_some_and(|c| Arc::ptr_eq(c, counted)) {
                    slot.counted = Some(apart.clone());
                }
            }
            *counted = apart;
        }
        let mut owns = vec![];
        for (counted, _) in moves {
            let device = counted.steps.device();
            let live = self.live.each_ref().map(|x| Node::live(x, DType::F64, device));
            let [steps, first, second] = counted.all().map(|t| t.node());
            let next = steps.plus(&steps.lit(1.0));
            let (own, [first, second]) = R::advance(&live, &next, &[first, second]);
            let left_out = left_out.map(|t| t.to(device)).transpose()?;
            for (held, new) in counted.all().into_iter().zip([next, first, second]) {
                let new = Tensor::from_node(new);
                held.assign(match &left_out {
                    Some(left_out) => Tensor::where_(left_out, held, new)?,
                    None => new,
                })?;
                wanted.push(held.clone());
            }
            owns.push((counted, own.map(|node| Operand::Tensor(Tensor::from_node(node)))));
        }
        Ok(owns)
    }

    /// Has what is counted on the device go on from other numbers.
    #[track_caller]
    fn load_counted(&mut self, loaded: &[Option<super::Loaded>]) -> Result<()> {
        for i in 0..self.slots.len() {
            let Some(counted) = self.slots[i].as_ref().and_then(|slot| slot.counted.clone()) else {
                continue;
            };
            let its: Vec<usize> = (i..self.slots.len())
                .filter(|&j| {
                    let own = self.slots[j].as_ref().and_then(|slot| slot.counted.as_ref());
                    own.is_some_and(|own| Arc::ptr_eq(own, &counted))
                })
                .collect();
            let count = |j: usize| loaded[j].as_ref().map(|(_, count)| *count);
            let Some(first) = count(i).filter(|_| its.iter().all(|&j| count(j) == count(i))) else {
                // Steps that were recorded count these together.
                self.era = Arc::new(());
                for &j in &its {
                    if let Some(slot) = &mut self.slots[j] {
                        slot.counted = None;
                    }
                }
                continue;
            };
            let numbers = [first.steps as f64, first.kept[0], first.kept[1]];
            for (held, x) in counted.all().into_iter().zip(numbers) {
                held.assign(Tensor::scalar(x).to(held.device())?)?;
            }
        }
        Ok(())
    }
}

/// Has something for all that is remembered of a parameter, and notes in `begun` and in `fresh` what was not there before.
fn begin<R: Rule>(
    options: &R,
    shared: &Arc<Mutex<R>>,
    p: &Tensor,
    slot: &mut Option<Slot<R>>,
    begun: &mut [bool],
    fresh: &mut Vec<Tensor>,
) -> Result<()> {
    let count = Count { steps: 0, kept: options.kept() };
    let slot = slot.get_or_insert_with(|| Slot {
        memory: vec![None; R::MEMORY.len()],
        clock: Clock::new(shared, count),
        counted: None,
    });
    for (i, held) in slot.memory.iter_mut().enumerate() {
        match held {
            Some(held) => follow(held, p)?,
            None if options.remembers(i, p) => {
                fresh.push(held.insert(options.initial(i, p)?).clone());
                begun[i] = true;
            }
            None => {}
        }
    }
    Ok(())
}

/// A group of whatever kind.
pub trait ParamGroup: Send {
    /// The options by name.
    fn fields(&self) -> &'static [&'static str];

    /// Changes options for steps to come: a step that `jit` has recorded with others is recorded anew, or goes on with them
    /// where it reads them at each replay, as it does the learning rate.
    ///
    /// # Errors
    ///
    /// Values that are no such options, and those that do not fit.
    fn set_by_name(&mut self, options: &[(&str, OptionValue)]) -> std::result::Result<(), OptionError>;

    /// Whether [`ParamGroup::set_by_name`] would take options.
    ///
    /// # Errors
    ///
    /// Those of [`ParamGroup::set_by_name`].
    fn check_by_name(&self, options: &[(&str, OptionValue)]) -> std::result::Result<(), OptionError>;

    /// What is remembered of each parameter: the tensors that steps write to. Numbers, as that of steps, are copies.
    fn state(&self) -> State;

    /// Remembers what [`ParamGroup::state`] answered with.
    ///
    /// # Errors
    ///
    /// As [`Optimizer::load_state`](super::Optimizer::load_state).
    fn load_state(&mut self, state: &State) -> Result<()>;

    /// As [`ParamGroup::load_state`], where the tensors are the optimiser's own from now on: steps write to those of the
    /// parameter's dtype and device.
    ///
    /// # Errors
    ///
    /// Those of [`ParamGroup::load_state`].
    fn put_state(&mut self, state: &State) -> Result<()>;

    /// Why [`ParamGroup::load_state`] would not take a state, for parameters that are counted from `before`.
    ///
    /// # Errors
    ///
    /// Numbers that cannot be read.
    fn incompatible_keys(&self, state: &State, before: usize) -> Result<IncompatibleKeys>;

    /// The last change of what is remembered, for those who look now and then: it holds another number after each step,
    /// replayed ones too, and each load, and one that no other group has.
    fn last_change(&self) -> Arc<AtomicU64>;

    /// What each of its steps has for itself.
    fn exclusive(&self) -> Arc<Exclusive>;

    /// Has it do nothing while somebody else has this, as the other groups of an optimiser do that are made with the same one. Before its first step:
    /// replays of earlier ones have what they were recorded with.
    fn share(&mut self, exclusive: Arc<Exclusive>);

    /// Notes how things stand before a step.
    #[doc(hidden)]
    fn start(&mut self);

    /// Has memory for all that a step begins to remember.
    #[doc(hidden)]
    fn prepare(&mut self) -> Result<()>;

    /// Writes parameters and what is remembered of them, and adds them to what is to be computed. Where `left_out`
    /// turns out to hold, all of it stays what it was.
    #[doc(hidden)]
    fn record(&mut self, left_out: Option<&Tensor>, wanted: &mut Vec<Tensor>) -> Result<()>;

    /// After a step that failed: what was not written has had no step; what does not depend on the failure has.
    #[doc(hidden)]
    fn settle(&mut self);
}

/// What is wrong with options by name.
#[derive(Debug)]
pub enum OptionError {
    /// A value is of another type.
    Type(String),
    /// They do not fit.
    Unfit(Error),
}

impl From<Error> for OptionError {
    fn from(error: Error) -> OptionError {
        OptionError::Unfit(error)
    }
}

/// The options of a kind, with values by name.
pub(super) fn named<R: Rule>(
    mut options: R,
    values: &[(&str, OptionValue)],
) -> std::result::Result<R, OptionError> {
    for (name, value) in values {
        if let Err(takes) = options.set(name, value) {
            return Err(OptionError::Type(format!("option {name:?} takes {takes}, got {value:?}")));
        }
    }
    Ok(options)
}

impl<R: Rule> ParamGroup for Group<R> {
    fn fields(&self) -> &'static [&'static str] {
        R::FIELDS
    }

    fn set_by_name(&mut self, options: &[(&str, OptionValue)]) -> std::result::Result<(), OptionError> {
        Ok(self.set_options(named(self.options(), options)?)?)
    }

    fn state(&self) -> State {
        self.save(0, Tensor::clone)
    }

    fn load_state(&mut self, state: &State) -> Result<()> {
        self.load(state, Whose::Others)
    }

    fn put_state(&mut self, state: &State) -> Result<()> {
        self.load(state, Whose::Ours)
    }

    fn incompatible_keys(&self, state: &State, before: usize) -> Result<IncompatibleKeys> {
        let mut keys = IncompatibleKeys::default();
        load_slots(&self.options(), &self.parameters, state, Whose::Others, before, &mut keys)?;
        Ok(keys)
    }

    fn check_by_name(&self, options: &[(&str, OptionValue)]) -> std::result::Result<(), OptionError> {
        Ok(check_options(&named(self.options(), options)?)?)
    }

    fn last_change(&self) -> Arc<AtomicU64> {
        self.changed.clone()
    }

    fn exclusive(&self) -> Arc<Exclusive> {
        self.exclusive.clone()
    }

    fn share(&mut self, exclusive: Arc<Exclusive>) {
        self.exclusive = exclusive;
    }

    fn start(&mut self) {
        self.tell();
        let (era, options, then) = (Arc::downgrade(&self.era), self.options.clone(), self.options());
        assume(move || {
            let now = locked(&options);
            era.strong_count() > 0 && then.clone().with_lr(now.lr()).is_heeded(&now)
        });
        let before = |slot: &Option<Slot<R>>| Before {
            was_known: slot.is_some(),
            begun: vec![false; R::MEMORY.len()],
            change: None,
        };
        self.before = self.slots.iter().map(before).collect();
    }

    fn prepare(&mut self) -> Result<()> {
        let options = self.options();
        // Together: what waits is looked at each time that something is computed.
        let mut fresh = vec![];
        for ((p, slot), before) in self.parameters.iter().zip(&mut self.slots).zip(&mut self.before) {
            if p.grad().is_some() {
                begin(&options, &self.options, p, slot, &mut before.begun, &mut fresh)?;
            }
        }
        Tensor::realize_all(&fresh)
    }

    fn record(&mut self, left_out: Option<&Tensor>, wanted: &mut Vec<Tensor>) -> Result<()> {
        let options = self.options();
        let (again, back) = (self.changed.clone(), self.changed.clone());
        on_replay(move || again.store(next_change(), Ordering::Relaxed));
        on_failed_replay(move || back.store(next_change(), Ordering::Relaxed));
        let owns = self.count(left_out, wanted)?;
        let mut numbers = Numbers::new(&self.shared);
        for ((p, slot), before) in self.parameters.iter().zip(&self.slots).zip(&mut self.before) {
            let (Some(grad), Some(slot)) = (p.grad(), slot) else { continue };
            let on_host = R::COUNTS && slot.counted.is_none();
            if on_host {
                slot.clock.advance();
                let (again, back) = (slot.clock.clone(), slot.clock.clone());
                on_replay(move || again.advance());
                on_failed_replay(move || back.go_back());
            }
            let counted =
                slot.counted.as_ref().and_then(|own| owns.iter().find(|(of, _)| Arc::ptr_eq(of, own)));
            let own = match counted {
                Some((_, own)) => own.clone(),
                None => slot.clock.own.each_ref().map(Operand::from),
            };
            let (memory, begun) = (&slot.memory[..], &before.begun[..]);
            let turned = if options.maximizes() { grad.try_neg()? } else { grad.clone() };
            let shared = numbers.beside(p);
            let step = Step { p, grad: turned, memory, begun, shared, own: &own };
            let left_out = left_out.map(|t| t.to(p.device())).transpose()?;
            // Left out, it stays what it was: chosen, not multiplied, since a gradient that is no number makes
            // everything none.
            let kept = |old: &Tensor, new: &Tensor| match &left_out {
                Some(left_out) => Tensor::where_(left_out, old, new),
                None => Ok(new.clone()),
            };
            let held: Vec<(&Tensor, Tensor)> = match &left_out {
                Some(_) => memory.iter().flatten().map(|t| (t, Tensor::from_node(t.node()))).collect(),
                None => vec![],
            };
            // Written through, not replaced: `jit` follows what is written to.
            let made = options.update(&step).and_then(|value| p.assign(kept(p, &value)?));
            let made = made.and_then(|()| held.iter().try_for_each(|(t, old)| t.assign(kept(old, t)?)));
            if made.is_err() && on_host {
                slot.clock.go_back();
            }
            made?;
            before.change = Some(p.node());
            wanted.extend([p.clone(), grad]);
            wanted.extend(slot.memory.iter().flatten().cloned());
        }
        Ok(())
    }

    fn settle(&mut self) {
        for (slot, before) in self.slots.iter_mut().zip(std::mem::take(&mut self.before)) {
            let is_made = before.change.as_ref().is_some_and(|node| matches!(node.value(), Some(Ok(_))));
            let Some(known) = slot.as_mut().filter(|_| !is_made) else { continue };
            if !before.was_known {
                *slot = None;
                continue;
            }
            if before.change.is_some() && R::COUNTS && known.counted.is_none() {
                known.clock.go_back();
            }
            for (held, begun) in known.memory.iter_mut().zip(before.begun) {
                if begun {
                    *held = None;
                }
            }
        }
    }
}

/// One step of several groups in one plan: every parameter that has a gradient is changed by it, and parameters,
/// gradients and what is remembered of them are computed.
///
/// # Errors
///
/// Whatever computing them fails with. What could not be written is what it was, and has had no step.
pub fn step_together(groups: &mut [&mut dyn ParamGroup]) -> Result<()> {
    step_unless(groups, None)
}

/// [`step_together`], left out where `left_out`, a truth value without axes, turns out to hold: parameters and what
/// is remembered of them, the number of steps included, stay what they were. That is found out where it is
/// computed; nothing waits for it.
///
/// # Errors
///
/// As [`step_together`].
pub fn step_unless(groups: &mut [&mut dyn ParamGroup], left_out: Option<&Tensor>) -> Result<()> {
    let _guard = no_grad();
    let exclusives: Vec<Arc<Exclusive>> = groups.iter().map(|group| group.exclusive()).collect();
    let _alone = Exclusive::take(&exclusives);
    groups.iter_mut().for_each(|group| group.start());
    let made = change(groups, left_out);
    if made.is_err() {
        groups.iter_mut().for_each(|group| group.settle());
    }
    made
}

fn change(groups: &mut [&mut dyn ParamGroup], left_out: Option<&Tensor>) -> Result<()> {
    // All that needs memory before anything is written: where there is none, no parameter has made a step.
    for group in groups.iter_mut() {
        group.prepare()?;
    }
    let mut wanted = Vec::new();
    for group in groups {
        group.record(left_out, &mut wanted)?;
    }
    Tensor::realize_all(&wanted)
}
