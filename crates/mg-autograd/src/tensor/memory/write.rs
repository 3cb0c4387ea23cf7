//! Writing to tensors, and turning them to something else.

use super::line::{Part, Seat, Writing};
use super::node::{Garbage, Held, grafted, make_leaf, own, untracked, with_history};
use super::{IN_PLACE, State, is_borrowed, locked, may_be_borrowed, settle};
use crate::index::recorded_leaf;
use crate::jit;
use crate::tensor::Tensor;
use crate::transform::batch::{leaked, leaks};
use mg_device::{Error, ErrorKind, Result};
use mg_graph::Node;
use std::sync::{Arc, Weak};

impl Tensor {
    /// Makes the tensor a leaf, or a constant. Views that were made of it stay what they were.
    pub(crate) fn set_leaf(&self, on: bool) {
        jit::note_leaf();
        self.0.leaf.store(on, std::sync::atomic::Ordering::Relaxed);
        let weak = Arc::downgrade(&self.0);
        let mut garbage = Garbage::new();
        if let State::Alone(Some(held)) = &mut *self.state() {
            // A node of its own, so that graphs which have the value do not take it for the leaf's.
            let node = own(untracked(&held.node));
            if on {
                make_leaf(&node, &weak);
            }
            garbage.push(std::mem::replace(held, Held { node, counted: false }));
        } else {
            let line = self.other_line(on.then_some(&weak));
            let old = std::mem::replace(&mut *self.state(), State::Whole(line));
            if let State::Whole(views) = &old {
                views.lock().left = if on { weak } else { Weak::new() };
            }
        }
        self.count();
    }

    /// The tensor; one of its own, where it is a view of memory that nobody else sees, and nobody else has it: somebody who was given it back
    /// has a view, which is written to as one.
    pub(crate) fn alone(self) -> Tensor {
        if Arc::strong_count(&self.0) > 1 {
            return self;
        }
        let mut garbage = Garbage::new();
        let mut state = self.state();
        if let State::Part(part) = &mut *state
            && Arc::strong_count(&part.line) == 1
            && !part.line.is_shared()
        {
            part.node(&mut garbage);
            if let Some(known) = part.known.take() {
                let before = std::mem::replace(&mut *state, State::Alone(Some(known.held)));
                drop(state);
                drop(before);
                return self;
            }
        }
        drop(state);
        self
    }

    /// Cuts the tensor off from what computed it: a constant from now on, on the same memory.
    ///
    /// # Errors
    ///
    /// A view.
    pub fn detach_(&self) -> Result<()> {
        if self.is_view() {
            let text = "a view cannot be cut off in place; use detach()";
            return Err(Error::new("detach_", ErrorKind::Gradient(text.into())));
        }
        if self.requires_grad() {
            self.set_leaf(false);
        }
        Ok(())
    }

    /// Whether both tensors, of which neither is a view, are the same part of the same memory.
    fn stands_for_all_of(&self, other: &Tensor) -> bool {
        let shared = |tensor: &Tensor| {
            let line = match &*tensor.state() {
                State::Whole(line) => line.clone(),
                State::Alone(_) | State::Part(_) => return None,
            };
            let (shape, dtype) = (line.facts().shape, line.facts().dtype);
            let shared = line.lock().shared.clone()?;
            Some((shared, shape, dtype))
        };
        let (Some(a), Some(b)) = (shared(self), shared(other)) else { return false };
        Arc::ptr_eq(&a.0.storage, &b.0.storage) && (a.0.region, a.1, a.2) == (b.0.region, b.1, b.2)
    }

    /// Makes the tensor stand for the memory of another one, with its shape, dtype and device: `x.data = other` in PyTorch. It
    /// keeps its identity, its gradient, whether it is a leaf, and its history: a gradient that does not fit what was computed is an
    /// error of `backward`.
    ///
    /// # Errors
    ///
    /// What requires a gradient and memory whose dtype is not floating point.
    #[track_caller]
    pub fn set_data(&self, other: &Tensor) -> Result<()> {
        if self.is(other) || self.stands_for_all_of(other) {
            return Ok(());
        }
        let (dtype, leaf) = (other.facts().dtype, self.keeps_grad());
        if (leaf || self.requires_grad()) && !dtype.is_float() {
            let text = format!("what requires a gradient cannot become {dtype}");
            return Err(Error::new("set_data", ErrorKind::DType(text)));
        }
        let history = (!leaf && self.requires_grad()).then(|| self.current());
        let weak = Arc::downgrade(&self.0);
        let line = other.other_line(leaf.then_some(&weak));
        if let Some(history) = history {
            let mut state = line.lock();
            if let Some(whole) = &mut state.whole {
                *whole = Held::new(grafted(&whole.node, &history));
                let node = whole.node.clone();
                if let Some(shared) = &state.shared {
                    locked(&shared.storage.state).given.add(&node);
                }
            }
        }
        jit::note_other_memory();
        let old = std::mem::replace(&mut *self.state(), State::Whole(line));
        drop(old);
        Ok(())
    }

    /// Makes the tensor a view of what it was: `x.t_()`. Other views of it stay what they were, and see what is written to it.
    ///
    /// # Errors
    ///
    /// A leaf that requires a gradient, while gradients are recorded; those of making the view.
    #[track_caller]
    pub(crate) fn turn(&self, view: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<()> {
        if self.keeps_grad() {
            if mg_graph::is_tracking() {
                // What is refused always says why.
                view(self)?;
                return Err(recorded_leaf("view"));
            }
            // It stays a leaf, on the same memory.
            return self.set_data(&view(&self.detach())?);
        }
        // It has the history that it had, whether gradients are recorded now or not.
        let was = mg_graph::set_tracking(true);
        let seen = view(self);
        mg_graph::set_tracking(was);
        let seen = seen?;
        if seen.is(self) {
            return Ok(());
        }
        jit::note_other_memory();
        let mut state = std::mem::replace(&mut *seen.state(), State::Alone(None));
        if let State::Part(part) = &mut state {
            part.is_turned = !self.is_view();
        }
        let old = std::mem::replace(&mut *self.state(), state);
        drop(old);
        self.count_write();
        Ok(())
    }

    /// Makes the tensor (and what it is a view of) stand for another node of the same shape, dtype and device.
    pub(crate) fn write(&self, value: Node) -> Result<()> {
        let since = IN_PLACE.get().unwrap_or_else(mg_graph::next_sequence);
        if value.is_traced() && leaks(&value, &self.current()) {
            return Err(leaked());
        }
        let mut garbage = Garbage::new();
        let line = mg_graph::line();
        let mut state = self.state();
        // Whose node it is that was written: of a part the whole's, since nobody may ever ask for the part again.
        let written = match &mut *state {
            State::Alone(Some(held)) if !is_borrowed(&held.node) => {
                let old = held.current(&mut garbage);
                jit::note_cell_change(self, &old);
                let new = own(with_history(value.lying_as(&old), &old, self.keeps_grad(), since));
                if self.keeps_grad() {
                    make_leaf(&new, &Arc::downgrade(&self.0));
                }
                if old.handles() > 1 {
                    old.overwrite(line, since);
                }
                new.note_written();
                new.set_before(old);
                let counted = held.counted;
                garbage.push(std::mem::replace(held, Held { node: new, counted: false }));
                drop(state);
                if counted {
                    self.count();
                }
                self.current()
            }
            State::Alone(_) => {
                drop(state);
                let Seat { line: line_of, .. } = self.line();
                line_of.write(None, Writing { value, line, since })?;
                line_of.node()
            }
            State::Whole(whole) => {
                let whole = whole.clone();
                drop(state);
                whole.write(None, Writing { value, line, since })?;
                whole.node()
            }
            State::Part(part) => {
                // What it has seen so far is not wanted any more, and would keep the memory from being written at once; but for its history, where
                // only the numbers change.
                let keeps_history = !mg_graph::is_tracking();
                let known = part.known.take_if(|known| !(keeps_history && known.held.node.is_tracked()));
                garbage.extend(known.map(|known| known.held));
                garbage.clear();
                let part = Part { known: None, lies: None, line: part.line.clone(), ..**part };
                drop(state);
                part.line.write(Some(&part), Writing { value, line, since })?;
                part.line.node()
            }
        };
        self.count_write();
        settle(&written);
        // What was computed at once fails at once.
        match written.value() {
            Some(Err(error)) => {
                error.report();
                Err(error.clone())
            }
            Some(Ok(_)) | None => Ok(()),
        }
    }

    /// Whether what is written to it goes to memory that is somebody else's.
    pub(crate) fn is_on_memory_of_others(&self) -> bool {
        match self.line_of_view() {
            Some(line) => may_be_borrowed(&line.node()),
            None => may_be_borrowed(&self.current()),
        }
    }

    /// The node of all of the memory that the tensor is a part of, whose elements lie there in order from the answer's position on. It may
    /// be overwritten once the tensor is written to. Of one that lies otherwise, or whose memory has several histories, its own.
    pub(crate) fn all_of_memory(&self) -> (Node, usize) {
        let part = match &*self.state() {
            State::Part(part) if part.layout.is_contiguous() => {
                Some((part.line.clone(), part.layout.offset()))
            }
            State::Alone(_) | State::Whole(_) | State::Part(_) => None,
        };
        match part.filter(|(line, _)| !line.is_shared()) {
            Some((line, from)) => {
                let whole = line.node();
                if mg_graph::is_recording() {
                    jit::note_line_read(&line, &whole);
                }
                (whole, from)
            }
            None => (self.node(), 0),
        }
    }

    /// Writes what was made of [`Tensor::all_of_memory`], and has its shape.
    pub(crate) fn write_all(&self, value: Node) -> Result<()> {
        let line = match &*self.state() {
            State::Part(part) if part.layout.is_contiguous() => Some(part.line.clone()),
            State::Alone(_) | State::Whole(_) | State::Part(_) => None,
        };
        let Some(line) = line.filter(|line| !line.is_shared() && line.facts().shape == *value.shape()) else {
            return self.write(value);
        };
        // What the view has seen so far is not wanted any more.
        let known = match &mut *self.state() {
            State::Part(part) => part.known.take(),
            State::Alone(_) | State::Whole(_) => None,
        };
        drop(known);
        let since = IN_PLACE.get().unwrap_or_else(mg_graph::next_sequence);
        line.write(None, Writing { value, line: mg_graph::line(), since })?;
        self.count_write();
        settle(&line.node());
        Ok(())
    }

    /// Says that somebody holds what the tensor stands for.
    pub(crate) fn count(&self) {
        let node = match &mut *self.state() {
            State::Alone(Some(held)) if !held.counted => {
                held.counted = true;
                held.node.clone()
            }
            State::Alone(_) | State::Part(_) => return,
            State::Whole(line) => {
                let line = line.clone();
                return line.count();
            }
        };
        node.hold();
    }

    /// Whether what is written to it, or to a part of it, goes into its memory at once: that is there, on the host, and nobody
    /// else has it or its history.
    pub fn is_written_at_once(&self) -> bool {
        let alone = |held: &Held| match held.node.value() {
            Some(Ok(value)) => {
                let alone = held.node.handles() == 1 && value.buffer.ref_count() == 1;
                alone
                    && !held.node.is_tracked()
                    && value.buffer.device().is_cpu()
                    && !value.buffer.is_borrowed()
            }
            Some(Err(_)) | None => false,
        };
        let line = match &*self.state() {
            State::Alone(held) => return held.as_ref().is_some_and(alone),
            State::Whole(line) => line.clone(),
            State::Part(part) => part.line.clone(),
        };
        let state = line.lock();
        state.shared.is_none() && state.whole.as_ref().is_some_and(alone)
    }
}
