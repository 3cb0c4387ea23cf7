//! `vmap`: a function of one example, applied to a batch of them.
//!
//! The function is called with placeholders of an example's shape. What it has recorded is made anew with a batch in front: rows broadcast,
//! reductions and views shift their axes, products are batched, kernels of the library say how they take another axis. A kernel that does
//! not is run for each example, and is named.

use super::{behind, led, rules};
use crate::function::{Call, result_of};
use crate::generator::Generator;
use crate::tensor::Tensor;
use crate::tensor::memory::untracked;
use mg_device::{DType, Device, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, Op, SourceKind, Tag};
use mg_kernels::Law;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

/// What random numbers are within a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Randomness {
    /// They are an error.
    #[default]
    Error,
    /// Other ones for each example.
    Different,
    /// The same for all.
    Same,
}

impl Randomness {
    /// By its name in Python.
    ///
    /// # Errors
    ///
    /// Another word than `error`, `different` and `same`.
    pub fn named(name: &str) -> Result<Randomness> {
        match name {
            "error" => Ok(Randomness::Error),
            "different" => Ok(Randomness::Different),
            "same" => Ok(Randomness::Same),
            other => {
                let text = format!("randomness is 'error', 'different' or 'same', got {other:?}");
                Err(Error::new("vmap", ErrorKind::Value(text)))
            }
        }
    }
}

thread_local! {
    /// Where the functions that are being traced on this thread began.
    static TRACES: RefCell<Vec<u64>> = const { RefCell::new(vec![]) };
}

/// A function that is being called with placeholders; it ends when this is dropped.
pub struct Traced {
    start: u64,
    placeholders: Vec<Node>,
}

impl Drop for Traced {
    fn drop(&mut self) {
        TRACES.with_borrow_mut(|traces| traces.retain(|&start| start != self.start));
    }
}

/// Whether a function is being called with placeholders on this thread: what it knows from elsewhere may stand for many examples, too.
pub fn is_tracing() -> bool {
    TRACES.with_borrow(|traces| !traces.is_empty())
}

/// Whether what is written makes memory from outside of a function that is being traced depend on its placeholders.
pub(crate) fn leaks(value: &Node, old: &Node) -> bool {
    if !value.is_traced() {
        return false;
    }
    let start = TRACES.with_borrow(|traces| traces.last().copied());
    let Some(start) = start.filter(|&start| old.sequence() < start) else { return false };
    let found = super::reached([value], |node| node.is_traced() && node.sequence() >= start);
    found.values().any(|node| matches!(node.op(), Op::Source(_)))
}

/// The error of whoever writes so.
pub(crate) fn leaked() -> Error {
    let text = "a tensor from outside of the function cannot be written with what differs from example to example; \
                make a new one inside";
    Error::new("vmap", ErrorKind::Value(text.into()))
}

impl Traced {
    /// Begins, with a stand-in for each tensor of which examples lie along an axis: of that one's shape without the axis.
    ///
    /// # Errors
    ///
    /// An axis that is not there.
    #[track_caller]
    pub fn begin(shapes: &[(&Tensor, Option<usize>)]) -> Result<(Traced, Vec<Tensor>)> {
        let start = mg_graph::next_sequence();
        let mut traced = Traced { start, placeholders: vec![] };
        let mut inside = vec![];
        for (tensor, axis) in shapes {
            let Some(axis) = *axis else {
                inside.push((*tensor).clone());
                continue;
            };
            inside.push(traced.example(tensor, axis)?);
        }
        TRACES.with_borrow_mut(|traces| traces.push(start));
        Ok((traced, inside))
    }

    /// Begins, with a stand-in for tensors of each of these shapes, dtypes and devices: for looking at what a function makes of them.
    #[track_caller]
    #[must_use]
    pub fn stand_ins(of: &[(Shape, DType, Device)]) -> (Traced, Vec<Tensor>) {
        let start = mg_graph::next_sequence();
        let placeholders: Vec<Node> =
            of.iter().map(|&(shape, dtype, device)| Node::placeholder(shape, dtype, device)).collect();
        let inside = placeholders.iter().cloned().map(Tensor::from_node).collect();
        TRACES.with_borrow_mut(|traces| traces.push(start));
        (Traced { start, placeholders }, inside)
    }

    /// Begins with a stand-in for tensors that are like another one.
    pub(crate) fn of_example(like: &Tensor) -> Result<(Traced, Tensor)> {
        let start = mg_graph::next_sequence();
        let node = Node::placeholder(like.shape(), like.dtype(), like.device());
        TRACES.with_borrow_mut(|traces| traces.push(start));
        Ok((Traced { start, placeholders: vec![node.clone()] }, Tensor::from_node(node)))
    }

    /// A stand-in for what has been made of examples already, along its first axis: in [`Traced::batched`] it is given behind the others.
    ///
    /// # Errors
    ///
    /// A tensor without axes.
    #[track_caller]
    pub fn more(&mut self, made: &Tensor) -> Result<Tensor> {
        self.example(made, 0)
    }

    /// A stand-in for one of the examples along an axis.
    #[track_caller]
    fn example(&mut self, all: &Tensor, axis: usize) -> Result<Tensor> {
        let shape = all.shape();
        if axis >= shape.rank() {
            return Err(Error::new("vmap", ErrorKind::Axis { axis: axis as i64, rank: shape.rank() }));
        }
        let node = Node::placeholder(shape.remove(axis), all.dtype(), all.device());
        node.set_tracked(all.requires_grad());
        self.placeholders.push(node.clone());
        Ok(Tensor::from_node(node))
    }

    /// Whether a result differs from example to example.
    pub fn differs(&self, result: &Tensor) -> bool {
        let found =
            super::reached([&result.node()], |node| node.is_traced() && node.sequence() >= self.start);
        found.values().any(|node| matches!(node.op(), Op::Source(_)))
    }

    /// Which of the stand-ins, as they were given for examples along an axis each, the function has written to, by their positions.
    pub fn written(&self, inside: &[Tensor]) -> Vec<usize> {
        let changed = inside.iter().zip(&self.placeholders).enumerate();
        changed.filter(|(_, (t, placeholder))| !t.node().is(placeholder)).map(|(i, _)| i).collect()
    }

    /// A result of examples in front: as it was made, or the same for all.
    ///
    /// # Errors
    ///
    /// An axis too many.
    pub fn in_front(&self, made: Option<Tensor>, result: &Tensor, size: usize) -> Result<Tensor> {
        match made {
            Some(made) => Ok(made),
            None => {
                let node = result.node();
                Ok(Tensor::from_node(node.expand(led(size, node.shape())?)?))
            }
        }
    }

    /// What the function has made of the placeholders, made of a batch: `given` are the tensors for them, with the examples along the
    /// first axis. `None` for what is the same for all examples.
    ///
    /// # Errors
    ///
    /// Those of the operations, which may have one axis too many; random numbers where they are an error.
    pub fn batched(
        &self,
        results: &[&Tensor],
        given: &[&Tensor],
        size: usize,
        randomness: Randomness,
    ) -> Result<(Vec<Option<Tensor>>, Vec<&'static str>)> {
        let known = self.placeholders.iter().zip(given);
        let known = known.map(|(placeholder, of)| (placeholder.sequence(), Some(of.node()))).collect();
        let mut batch = Batch { size, start: self.start, known, randomness, loops: vec![] };
        let nodes: Vec<Node> = results.iter().map(|t| t.node()).collect();
        batch.make(&nodes)?;
        let of = |node: &Node| batch.of(node).map(Tensor::from_node);
        Ok((nodes.iter().map(of).collect(), batch.loops))
    }
}

/// A graph that is being made anew.
pub(super) struct Batch {
    pub(super) size: usize,
    start: u64,
    /// Nodes with a batch, by the sequence of the node without it; `None` where it is the same for all examples.
    known: HashMap<u64, Option<Node>>,
    randomness: Randomness,
    /// Kernels that were run for each example.
    pub(super) loops: Vec<&'static str>,
}

impl Batch {
    /// The node with a batch in front, of one that was made.
    pub(super) fn of(&self, node: &Node) -> Option<Node> {
        self.known.get(&node.sequence()).cloned().flatten()
    }

    /// The node with a batch in front, also of one that is the same for all.
    pub(super) fn all(&self, node: &Node) -> Result<Node> {
        match self.of(node) {
            Some(made) => Ok(made),
            None => node.expand(led(self.size, node.shape())?),
        }
    }

    /// Makes what some nodes are made of, and those.
    fn make(&mut self, roots: &[Node]) -> Result<()> {
        let mut all: BTreeMap<u64, Node> = BTreeMap::new();
        let mut stack: Vec<Node> = roots.to_vec();
        while let Some(node) = stack.pop() {
            let seen = node.sequence() < self.start || self.known.contains_key(&node.sequence());
            if seen || all.contains_key(&node.sequence()) {
                continue;
            }
            stack.extend(behind(&node));
            all.insert(node.sequence(), node);
        }
        for (sequence, node) in all {
            let made = self.made(&node).map_err(|error| error.with_location(node.location()))?;
            self.known.insert(sequence, made);
        }
        Ok(())
    }

    fn made(&mut self, node: &Node) -> Result<Option<Node>> {
        if let Op::Source(SourceKind::Random { law, seed, .. }) = node.op() {
            return self.random(node, *law, *seed);
        }
        if Call::of(node).is_some() {
            return self.call(node);
        }
        let differs = node.sources().iter().any(|source| self.of(source).is_some());
        let _at = mg_graph::at(node.location());
        let value = match differs {
            true => {
                // What records no gradient there records none here.
                let was = mg_graph::set_tracking(mg_graph::is_tracking() && node.is_tracked());
                let made = rules::batched(self, node);
                mg_graph::set_tracking(was);
                let made = made?;
                // A view of all of it may be what it is of, which has a history that was taken from this one.
                let keeps_none = made.is_tracked() && !node.is_tracked();
                Some(if keeps_none { untracked(&made) } else { made })
            }
            false => None,
        };
        let behind = match node.tag() {
            Some(Tag::History(other) | Tag::Forgotten(other) | Tag::Output(other, _)) => self.of(other),
            Some(Tag::Owner(_) | Tag::Call(_) | Tag::Replayed(_)) | None => None,
        };
        let Some(behind) = behind.filter(|b| b.is_tracked() && mg_graph::is_tracking()) else {
            return Ok(value);
        };
        let value = match value {
            Some(value) => value,
            None => self.all(node)?,
        };
        if let Some(Tag::Output(_, at)) = node.tag() {
            return Ok(Some(result_of(&behind, *at, &value)));
        }
        let made = value.alias();
        made.set_tracked(true);
        made.set_tag(match node.tag() {
            Some(Tag::Forgotten(_)) => Tag::Forgotten(behind),
            _ => Tag::History(behind),
        });
        Ok(Some(made))
    }

    fn random(&self, node: &Node, law: Law, seed: u64) -> Result<Option<Node>> {
        match self.randomness {
            Randomness::Same => Ok(None),
            Randomness::Error => {
                let text = "the function draws random numbers: say by randomness='different' or 'same' whether each example has its own";
                Err(Error::new("vmap", ErrorKind::Value(text.into())))
            }
            Randomness::Different => {
                let shape = led(self.size, node.shape())?;
                let (global, counter) = Generator::draw(None, shape.numel());
                if global != seed {
                    let text = "randomness='different' draws from the global generator only";
                    return Err(Error::new("vmap", ErrorKind::Value(text.into())));
                }
                Ok(Some(Node::random(law, shape, node.dtype(), node.device(), (seed, counter))))
            }
        }
    }

    /// A call with a gradient of its own: its gradient is that of an example, for a batch.
    fn call(&self, node: &Node) -> Result<Option<Node>> {
        let sources = node.sources();
        if !sources.iter().any(|source| self.of(source).is_some()) {
            return Ok(None);
        }
        let made = sources.iter().map(|source| self.all(source)).collect::<Result<_>>()?;
        super::rules::call(self, node, made).map(Some)
    }

    /// What rules for gradients need of this one later.
    pub(super) fn remembered(&self) -> Batch {
        Batch { known: self.known.clone(), loops: vec![], ..*self }
    }

    /// As [`Batch::make`], of nodes that were made of placeholders of which these are the batches, too.
    pub(super) fn more(&mut self, known: &[(Node, Node)], roots: &[Node]) -> Result<()> {
        self.known.extend(known.iter().map(|(node, made)| (node.sequence(), Some(made.clone()))));
        self.make(roots)
    }
}
