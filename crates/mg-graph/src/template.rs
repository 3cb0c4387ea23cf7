//! Graphs that are made again: what a recorded step has left to be differentiated.
//!
//! A step whose answer has a history leaves nodes behind, of which some are computed and others wait. A [`Template`] remembers how
//! they hang together, what of the recording's values they have, and which of their sources were there before the step. A replay
//! makes nodes of the same kind, around the values that it has computed and the sources that are there now: the graph that
//! the step would have made.

use crate::node::{Node, Sources, Tag, Value};
use crate::op::{Op, SourceKind};
use crate::replay::{Computed, Made, Trace, same_elements};
use mg_device::{DType, Device, Error, ErrorKind, Result, Shape};
use mg_kernels::cell_bits;
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};
use std::panic::Location;
use std::sync::OnceLock;

/// How a graph hangs together.
pub struct Template {
    /// Sources first.
    parts: Vec<TemplateNode>,
    roots: Vec<Source>,
    /// The nodes that it was made of.
    sequences: Vec<u64>,
    /// What it has of outside, by its number.
    outside: Vec<bool>,
    /// Where the generator of random numbers was before the step.
    generator: (u64, u64),
}

/// A graph that was made of a template.
pub struct Grown {
    /// All of its nodes, sources first: as many in each, and of the same kind.
    pub nodes: Vec<Node>,
    /// Those that it was made for.
    pub roots: Vec<Node>,
}

/// A node of it.
struct TemplateNode {
    op: Op,
    signature: u64,
    shape: Shape,
    dtype: DType,
    device: Device,
    line: &'static Location<'static>,
    sources: SmallVec<[Source; 3]>,
    tracked: bool,
    released: bool,
    history: Option<(History, Source)>,
    value: TemplateValue,
}

#[derive(Clone, Copy, PartialEq)]
enum History {
    Kept,
    Forgotten,
}

/// Where a node comes from that another one is computed of.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    /// One of the template's.
    TemplateNode(usize),
    /// Something from outside, by its number.
    Outside(usize),
}

/// A node's value.
enum TemplateValue {
    /// Is computed when it is asked for.
    Pending,
    Computed(Computed),
    /// Data that the step itself has made.
    Constant(Value),
}

/// Why a graph cannot be made again.
#[track_caller]
fn refused(why: &str) -> Error {
    Error::new("jit", ErrorKind::Value(format!("the step cannot be replayed: {why}")))
}

impl Template {
    /// What it has of what the step's plans compute.
    pub fn computed(&self) -> impl Iterator<Item = Computed> {
        self.parts.iter().filter_map(|part| match part.value {
            TemplateValue::Computed(computed) => Some(computed),
            TemplateValue::Pending | TemplateValue::Constant(_) => None,
        })
    }

    /// Of the graph that a step has left below these nodes, whose values are known. `outside` has the numbers of the nodes that
    /// were there before the step, by their sequence; `generator` is where random numbers began.
    ///
    /// # Errors
    ///
    /// Why it cannot be made again.
    #[track_caller]
    pub fn of(
        roots: &[Node],
        trace: &Trace,
        outside: &HashMap<u64, usize>,
        generator: (u64, u64),
    ) -> Result<Template> {
        if roots.iter().any(|node| outside.contains_key(&node.sequence())) {
            return Err(refused("its answer was there before it"));
        }
        let computed = trace.by_sequence();
        let mut met: BTreeMap<u64, (Node, Sources)> = BTreeMap::new();
        let mut stack: Vec<Node> = roots.to_vec();
        while let Some(node) = stack.pop() {
            if outside.contains_key(&node.sequence()) || met.contains_key(&node.sequence()) {
                continue;
            }
            if node.sequence() < trace.start {
                return Err(refused("its answer has a history that began before it"));
            }
            // Of a value that is known and leads nowhere, nothing else is asked.
            let sources = match node.is_tracked() || node.is_pending() {
                true => node.sources(),
                false => Sources::new(),
            };
            stack.extend(sources.iter().cloned());
            match node.tag() {
                Some(Tag::History(history) | Tag::Forgotten(history)) => stack.push(history.clone()),
                Some(Tag::Owner(_)) => {
                    return Err(refused("its answer has the history of a leaf that it has made"));
                }
                Some(Tag::Output(..) | Tag::Call(_)) => {
                    return Err(refused(
                        "its answer has the history of a function with a gradient of its own",
                    ));
                }
                Some(Tag::Replayed(_)) | None => {}
            }
            if node.watch().is_some() {
                return Err(refused("its answer has a history with hooks"));
            }
            met.insert(node.sequence(), (node, sources));
        }
        let at: HashMap<u64, usize> = met.keys().enumerate().map(|(at, &sequence)| (sequence, at)).collect();
        let source = |node: &Node| match outside.get(&node.sequence()) {
            Some(&number) => Source::Outside(number),
            None => Source::TemplateNode(at[&node.sequence()]),
        };
        let mut parts = Vec::with_capacity(met.len());
        for (sequence, (node, sources)) in &met {
            let value = match (node.value(), node.op()) {
                (None, Op::Source(SourceKind::Live { .. })) if trace.has_host_work() => {
                    return Err(refused("its answer has the history of a number that it changes"));
                }
                (None, _) => TemplateValue::Pending,
                (Some(Err(error)), _) => return Err(error.clone()),
                (Some(Ok(value)), op) => match computed.get(sequence) {
                    Some(&(step, result)) => TemplateValue::Computed(Computed::new(step, result)),
                    None if matches!(op, Op::Source(SourceKind::Data)) => {
                        TemplateValue::Constant(value.clone())
                    }
                    None => {
                        return Err(refused(
                            "its answer has the history of a value that it has not computed",
                        ));
                    }
                },
            };
            parts.push(TemplateNode {
                op: node.op().clone(),
                signature: node.0.signature,
                shape: *node.shape(),
                dtype: node.dtype(),
                device: node.device(),
                line: node.location(),
                sources: sources.iter().map(source).collect(),
                tracked: node.is_tracked(),
                released: node.is_released(),
                history: match node.tag() {
                    Some(Tag::History(history)) => Some((History::Kept, source(history))),
                    Some(Tag::Forgotten(history)) => Some((History::Forgotten, source(history))),
                    Some(Tag::Owner(_) | Tag::Replayed(_) | Tag::Output(..) | Tag::Call(_)) | None => None,
                },
                value,
            });
        }
        let roots: Vec<Source> = roots.iter().map(source).collect();
        let mut read = vec![];
        let histories = parts.iter().filter_map(|part| part.history.as_ref().map(|(_, source)| source));
        for source in parts.iter().flat_map(|part| &part.sources).chain(histories).chain(&roots) {
            if let Source::Outside(number) = *source {
                read.resize(read.len().max(number + 1), false);
                read[number] = true;
            }
        }
        Ok(Template { parts, roots, sequences: met.into_keys().collect(), outside: read, generator })
    }

    /// Whether it was made of a graph with this node.
    pub fn has(&self, node: &Node) -> bool {
        self.sequences.binary_search(&node.sequence()).is_ok()
    }

    /// Whether it has something from outside.
    pub fn reads(&self, number: usize) -> bool {
        self.outside.get(number).copied().unwrap_or(false)
    }

    /// Whether a number of the host is in it that replays read anew.
    pub fn has_live_scalars(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.op, Op::Source(SourceKind::Live { .. })))
    }

    /// Whether two runs of a step have left the same graph.
    pub fn is_like(&self, other: &Template) -> bool {
        let counted = |template: &Template, seed: u64, counter: u64| {
            (seed == template.generator.0).then(|| counter.wrapping_sub(template.generator.1))
        };
        let same_op = |a: &Op, b: &Op| match (a, b) {
            (
                Op::Source(SourceKind::Random { law: l1, seed: s1, counter: c1 }),
                Op::Source(SourceKind::Random { law: l2, seed: s2, counter: c2 }),
            ) => {
                let at = counted(self, *s1, *c1);
                l1 == l2 && at.is_some() && at == counted(other, *s2, *c2)
            }
            // The same scalar, whatever it was then.
            (
                Op::Source(SourceKind::Live { scalar: a, .. }),
                Op::Source(SourceKind::Live { scalar: b, .. }),
            ) => a == b,
            (Op::Source(a), Op::Source(b)) => a == b,
            // All else is in the signature.
            (
                Op::Source(_) | Op::Map(_) | Op::View(_) | Op::Reduce(..) | Op::Kernel(_),
                Op::Source(_) | Op::Map(_) | Op::View(_) | Op::Reduce(..) | Op::Kernel(_),
            ) => true,
        };
        let same_value = |a: &TemplateValue, b: &TemplateValue| match (a, b) {
            (TemplateValue::Pending, TemplateValue::Pending) => true,
            (TemplateValue::Computed(a), TemplateValue::Computed(b)) => a == b,
            (TemplateValue::Constant(a), TemplateValue::Constant(b)) => same_elements(a, b),
            (TemplateValue::Pending | TemplateValue::Computed(_) | TemplateValue::Constant(_), _) => false,
        };
        let same = |(a, b): (&TemplateNode, &TemplateNode)| {
            (a.signature, a.shape, a.dtype, a.device) == (b.signature, b.shape, b.dtype, b.device)
                && a.sources == b.sources
                && (a.tracked, a.released) == (b.tracked, b.released)
                && a.history == b.history
                && same_op(&a.op, &b.op)
                && same_value(&a.value, &b.value)
        };
        self.roots == other.roots
            && self.parts.len() == other.parts.len()
            && self.parts.iter().zip(&other.parts).all(same)
    }

    /// Makes the graph, of what is outside now and what a replay has computed. Random numbers begin at `generator`. (Gradients are
    /// recorded as they were.)
    ///
    /// # Errors
    ///
    /// Something that is not there.
    pub fn grow(
        &self,
        outside: impl Fn(usize) -> Option<Node>,
        made: &Made,
        generator: (u64, u64),
    ) -> Result<Grown> {
        let lost = || Error::new("jit", ErrorKind::Internal("a history without its values".into()));
        let mut nodes: Vec<Node> = Vec::with_capacity(self.parts.len());
        let find = |nodes: &[Node], source: &Source| match *source {
            Source::TemplateNode(at) => nodes.get(at).cloned().ok_or_else(lost),
            Source::Outside(number) => outside(number).ok_or_else(lost),
        };
        for part in &self.parts {
            let op = match &part.op {
                Op::Source(SourceKind::Random { law, counter, .. }) => {
                    let (seed, start) = generator;
                    let counter = start.wrapping_add(counter.wrapping_sub(self.generator.1));
                    Op::Source(SourceKind::Random { law: *law, seed, counter })
                }
                Op::Source(SourceKind::Live { scalar, .. }) => {
                    let bits = cell_bits(scalar.get(), part.dtype);
                    Op::Source(SourceKind::Live { scalar: scalar.clone(), bits })
                }
                op => op.clone(),
            };
            let value = match &part.value {
                TemplateValue::Pending => OnceLock::new(),
                TemplateValue::Computed(computed) => {
                    OnceLock::from(Ok(made.get(*computed).ok_or_else(lost)?.clone()))
                }
                TemplateValue::Constant(value) => OnceLock::from(Ok(value.clone())),
            };
            let sources =
                part.sources.iter().map(|source| find(&nodes, source)).collect::<Result<Sources>>()?;
            if value.get().is_none() && !matches!(part.op, Op::View(_)) {
                sources.iter().for_each(note_read_later);
            }
            let facts = (part.shape, part.dtype, part.device);
            let node = Node::again(op, part.signature, sources, facts, value, part.line);
            node.set_tracked(part.tracked);
            if part.released {
                node.release();
            }
            if let Some((kind, history)) = &part.history {
                let history = find(&nodes, history)?;
                node.set_tag(match kind {
                    History::Kept => Tag::History(history),
                    History::Forgotten => Tag::Forgotten(history),
                });
            }
            nodes.push(node);
        }
        let roots = self.roots.iter().map(|source| find(&nodes, source)).collect::<Result<_>>()?;
        Ok(Grown { nodes, roots })
    }
}

/// Marks the value that is read when something is computed of it that is left for later, as running a plan does.
fn note_read_later(source: &Node) {
    let mut node = source.clone();
    loop {
        if !node.is_pending() {
            return node.set_read_later();
        }
        if !matches!(node.op(), Op::View(_)) {
            return;
        }
        let Some(below) = node.sources().first().cloned() else { return };
        node = below;
    }
}
