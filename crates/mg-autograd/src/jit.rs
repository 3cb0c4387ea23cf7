//! `jit`: a step that repeats, recorded once and replayed.

use crate::creation;
use crate::tensor::{Cell, Tensor};
use mg_device::{DType, Device, Error, ErrorKind, Result, Shape};
use mg_graph::{Computed, Node, Replay, Trace, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

thread_local! {
    /// Tensors that were bound to something else, or given a gradient, while a step was recorded.
    static CHANGED: RefCell<Vec<Weak<Cell>>> = const { RefCell::new(Vec::new()) };
}

/// Notes that a cell changes, if a step is being recorded.
pub(crate) fn note_change(cell: &Arc<Cell>) {
    if mg_graph::is_recording() {
        CHANGED.with_borrow_mut(|changed| changed.push(Arc::downgrade(cell)));
    }
}

/// Shapes, dtypes and devices of arguments.
type Key = Vec<(Shape, DType, Device)>;

/// A function of tensors to tensors that is recorded when it is called and then replayed: no graph is built, no plan
/// looked for.
///
/// The function runs as usual the first times for each new set of shapes, dtypes and devices; what it launched is compared
/// from one time to the next, and replayed as soon as two runs in a row agree. It may read and update tensors that it
/// captures (parameters, optimiser state held in tensors) and draw random numbers. What it does besides launching work
/// (logging, counting in host variables) happens while it is recorded only: a number of the host is in all replays what it was
/// then. One that changes is an argument, a tensor, or a [`LiveScalar`](mg_graph::LiveScalar), as optimisers' learning rates are.
///
/// ```
/// use mg_autograd::{Tensor, jit};
///
/// let weight = Tensor::from_slice(&[1.0f32, 2.0]);
/// let mut step = jit(|x: &[Tensor]| {
///     weight.assign(&weight + &x[0])?;
///     Ok(vec![weight.sum()])
/// });
/// for i in 1..=5 {
///     let sum = step.call(&[&Tensor::from_slice(&[1.0f32, 1.0])])?;
///     assert_eq!(sum[0].item::<f32>()?, 3.0 + 2.0 * i as f32);
/// }
/// assert!(step.is_replaying());
/// assert_eq!(weight.to_vec::<f32>()?, [6.0, 7.0]);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct Jit<F> {
    step: F,
    known: HashMap<Key, State>,
    replayed: bool,
}

enum State {
    /// Runs that were recorded and did not agree yet.
    Recorded(Box<Run>, usize),
    Replaying(Box<Replaying>),
}

struct Run {
    trace: Trace,
    arguments: Vec<Node>,
    outputs: Vec<Output>,
    values: Vec<(Weak<Cell>, Option<Computed>)>,
    grads: Vec<(Weak<Cell>, Option<Computed>)>,
    /// The generator before and after.
    generator: [(u64, u64); 2],
}

#[derive(Clone)]
enum Output {
    Computed(Computed),
    Argument(usize),
    /// A tensor from outside that the step hands back as it is.
    Same(Tensor),
}

struct Replaying {
    replay: Replay,
    run: Run,
}

/// Makes a replayed function; see [`Jit`].
pub fn jit<F: FnMut(&[Tensor]) -> Result<Vec<Tensor>>>(step: F) -> Jit<F> {
    Jit { step, known: HashMap::new(), replayed: false }
}

/// Runs of one kind that may disagree before it is an error: the first may make state that later ones update, and which of
/// it may be overwritten settles over a few more (momentum: five).
const ATTEMPTS: usize = 6;

impl<F: FnMut(&[Tensor]) -> Result<Vec<Tensor>>> Jit<F> {
    /// Calls the function, or replays it. While another step is being recorded it is called, as a part of that one.
    ///
    /// # Errors
    ///
    /// The function's. After six runs that did not agree, why: a value that the host reads within it (or prints), numbers or
    /// tensors that differ from run to run without being arguments or state.
    #[track_caller]
    pub fn call(&mut self, arguments: &[&Tensor]) -> Result<Vec<Tensor>> {
        if mg_graph::is_recording() {
            self.replayed = false;
            let handles: Vec<Tensor> = arguments.iter().map(|&t| t.clone()).collect();
            return (self.step)(&handles);
        }
        let nodes: Vec<Node> = arguments.iter().map(|t| t.node()).collect();
        let key: Key = nodes.iter().map(|n| (*n.shape(), n.dtype(), n.device())).collect();
        self.replayed = false;
        if let Some(State::Replaying(replaying)) = self.known.get_mut(&key) {
            self.replayed = true;
            return replaying.call(&nodes);
        }
        let (outputs, run) = self.record(arguments, nodes)?;
        let state = match self.known.remove(&key) {
            Some(State::Recorded(before, attempts)) => {
                match Replay::new(&before.trace, &run.trace, &before.arguments, &run.arguments) {
                    Ok(replay) => State::Replaying(Box::new(Replaying { replay, run })),
                    Err(error) if attempts + 1 >= ATTEMPTS => return Err(error),
                    Err(_) => State::Recorded(Box::new(run), attempts + 1),
                }
            }
            _ => State::Recorded(Box::new(run), 1),
        };
        self.known.insert(key, state);
        Ok(outputs)
    }

    /// Whether the last call was replayed.
    pub fn is_replaying(&self) -> bool {
        self.replayed
    }

    fn record(&mut self, arguments: &[&Tensor], nodes: Vec<Node>) -> Result<(Vec<Tensor>, Run)> {
        Tensor::realize_all(arguments.iter().copied())?;
        let handles: Vec<Tensor> = arguments.iter().map(|&t| t.clone()).collect();
        CHANGED.with_borrow_mut(Vec::clear);
        let before = creation::generator();
        let step = &mut self.step;
        let (result, trace) = mg_graph::record(|| {
            let outputs = step(&handles)?;
            let cells: Vec<Arc<Cell>> =
                CHANGED.with_borrow_mut(std::mem::take).iter().filter_map(Weak::upgrade).collect();
            let mut waiting: Vec<Node> = outputs.iter().map(Tensor::node).collect();
            for cell in &cells {
                waiting.push(Tensor(cell.clone()).node());
                waiting.extend(Tensor::grad_slot(cell).clone());
            }
            mg_graph::realize(&waiting.iter().collect::<Vec<_>>())?;
            Ok::<_, Error>((outputs, cells))
        })?;
        let (outputs, mut cells) = result?;
        let after = creation::generator();
        let found = outputs.iter().map(|t| {
            let node = t.node();
            match (trace.computed(&node), nodes.iter().position(|n| n.is(&node))) {
                (Some(computed), _) => Output::Computed(computed),
                (None, Some(i)) => Output::Argument(i),
                (None, None) => Output::Same(t.clone()),
            }
        });
        let found = found.collect();
        cells.sort_by_key(|c| Arc::as_ptr(c) as usize);
        cells.dedup_by_key(|c| Arc::as_ptr(c) as usize);
        let (mut values, mut grads) = (vec![], vec![]);
        for cell in &cells {
            let weak = Arc::downgrade(cell);
            values.push((weak.clone(), trace.computed(&Tensor(cell.clone()).node())));
            let grad = Tensor::grad_slot(cell).clone();
            grads.push((weak, grad.and_then(|g| trace.computed(&g))));
        }
        let run = Run { trace, arguments: nodes, outputs: found, values, grads, generator: [before, after] };
        Ok((outputs, run))
    }
}

impl Replaying {
    /// What was written to state since the last run (parameters loaded or put back) is where this one goes on from.
    fn take_in_writes(&mut self) -> Result<()> {
        for (cell, computed) in &self.run.values {
            let (Some(cell), Some(computed)) = (cell.upgrade(), *computed) else { continue };
            let Some(left) = self.replay.value(computed) else { continue };
            let node = Tensor(cell).node();
            let value = |node: &Node| node.value().and_then(|v| v.as_ref().ok().cloned());
            let same = |v: &Value| v.buffer.ptr_eq(&left.buffer) && v.layout == left.layout;
            if value(&node).is_some_and(|v| same(&v)) {
                continue;
            }
            // In an order of its own and in memory of its own, as the step left it.
            let written = node.copy();
            mg_graph::realize(&[&written])?;
            self.replay.set_value(computed, value(&written));
        }
        Ok(())
    }

    #[track_caller]
    fn call(&mut self, nodes: &[Node]) -> Result<Vec<Tensor>> {
        let [before, after] = self.run.generator;
        let (seed, at) = creation::generator();
        self.take_in_writes()?;
        // What the step updates must not be read meanwhile, and its memory is taken over.
        for (cell, computed) in &self.run.values {
            if let (Some(cell), Some(_)) = (cell.upgrade(), computed) {
                let tensor = Tensor(cell);
                let text = "the tensor is being updated by a replayed step";
                let error = Error::new("jit", ErrorKind::Value(text.into()));
                tensor.rebind(Node::failed(error, &tensor.node()))?;
            }
        }
        for (cell, _) in &self.run.grads {
            if let Some(cell) = cell.upgrade() {
                let old = Tensor::grad_slot(&cell).take();
                drop(old);
            }
        }
        if let Err(error) = self.replay.run(nodes, seed, at.wrapping_sub(before.1)) {
            // Where nothing ran, what was to be updated is as it was.
            for (cell, computed) in &self.run.values {
                if let (Some(cell), Some(computed)) = (cell.upgrade(), computed) {
                    let tensor = Tensor(cell);
                    let old = self.replay.value(*computed).map(Node::from_value);
                    let lost = || Node::failed(error.clone(), &tensor.node());
                    tensor.rebind(old.unwrap_or_else(lost))?;
                }
            }
            return Err(error);
        }
        creation::advance(after.1.wrapping_sub(before.1));
        let node = |computed: Computed| {
            let lost = || Error::new("jit", ErrorKind::Internal("a result that was not computed".into()));
            self.replay.value(computed).map(Node::from_value).ok_or_else(lost)
        };
        for (cell, computed) in &self.run.values {
            if let (Some(cell), Some(computed)) = (cell.upgrade(), computed) {
                Tensor(cell).rebind(node(*computed)?)?;
            }
        }
        for (cell, computed) in &self.run.grads {
            if let (Some(cell), Some(computed)) = (cell.upgrade(), computed) {
                *Tensor::grad_slot(&cell) = Some(node(*computed)?);
            }
        }
        let outputs = self.run.outputs.iter().map(|output| match output {
            Output::Computed(computed) => Ok(Tensor::from_node(node(*computed)?)),
            Output::Argument(i) => Ok(Tensor::from_node(nodes[*i].clone())),
            Output::Same(tensor) => Ok(tensor.clone()),
        });
        outputs.collect()
    }
}
