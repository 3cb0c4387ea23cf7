//! The histories of replays' answers, which are walked as one and replayed too.
//!
//! A replay makes the nodes that its answers have a history of ([`Template`](mg_graph::Template)), so that whatever walks over
//! them finds what the function would have left. The usual walk, of `backward`, does not have to: from the same answers, through a
//! graph of the same kind, it does the same each time. It is recorded as steps are, by comparing two walks: what it reads are values
//! of the history's nodes, of what those are made of, and the gradients that it came with.

use super::record::Lie;
use crate::gradient::{Passed, Reach, as_computed, walk};
use mg_graph::{Computed, Grown, Node, Outside, Recorded, Replay, Tag, Trace, WeakNode};
use mg_kernels::Algebra;
use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// What one replay's answers were made of.
pub(crate) struct History {
    /// The nodes of their graph, sources first. They are kept by the answers.
    nodes: Vec<WeakNode>,
    /// Those of the answers.
    roots: Vec<WeakNode>,
    /// What was there before, by its number.
    outside: Vec<Option<WeakNode>>,
    generator: (u64, u64),
    walks: Walks,
}

/// What is known of walks over histories of one kind.
pub(super) type Walks = Arc<Mutex<Vec<Known>>>;

/// Walks that are remembered for one kind of history.
const WALKS: usize = 8;
/// Walks in a row that may disagree before they are not recorded any more.
const ATTEMPTS: u32 = 4;

/// A gradient that a walk comes with.
#[derive(PartialEq)]
struct Seed {
    /// Of which answer.
    of: usize,
    what: Given,
}

#[derive(PartialEq)]
enum Given {
    /// The bits of a literal.
    Literal(u64),
    Value(Lie),
}

/// Walks with the same seeds.
pub(super) struct Known {
    seeds: Vec<Seed>,
    last: Option<Walk>,
    replay: Option<(Replay, Walk)>,
    disagreed: u32,
}

/// Something that a walk reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Input {
    Node(usize),
    Outside(usize),
    Seed(usize),
}

/// A gradient that a walk ends with.
#[derive(PartialEq)]
enum Share {
    /// The bits of a literal.
    Literal(u64),
    Computed(Computed),
    Input(usize),
}

/// A walk that was recorded.
struct Walk {
    trace: Trace,
    /// The numbers of the inputs' nodes, by sequence.
    numbers: HashMap<u64, usize>,
    inputs: Vec<Input>,
    /// What gradients were made of: the nodes whose values must be what they were.
    made_of: Vec<Input>,
    passed: Vec<usize>,
    /// Of what is outside, by its number.
    shares: Vec<(usize, Share)>,
    generator: (u64, u64),
}

/// What a walk through a history has led to.
pub(crate) struct Through {
    /// The gradients of what was there before.
    pub(crate) gradients: Vec<(Node, Node)>,
    pub(crate) passed: Passed,
}

impl History {
    /// Of a graph that was made of these; the answers' nodes are told of it.
    pub(super) fn attach(grown: &Grown, outside: &[Option<Node>], generator: (u64, u64), walks: Walks) {
        let history: Arc<dyn Any + Send + Sync> = Arc::new(History {
            nodes: grown.nodes.iter().map(Node::downgrade).collect(),
            roots: grown.roots.iter().map(Node::downgrade).collect(),
            outside: outside.iter().map(|node| node.as_ref().map(Node::downgrade)).collect(),
            generator,
            walks,
        });
        for root in grown.roots.iter().filter(|root| root.is_tracked() && !root.is_released()) {
            root.set_tag(Tag::Replayed(history.clone()));
        }
    }

    fn node(&self, input: Input, seeds: &[(Node, Node)]) -> Option<Node> {
        match input {
            Input::Node(at) => self.nodes.get(at)?.upgrade(),
            Input::Outside(number) => self.outside.get(number)?.as_ref()?.upgrade(),
            Input::Seed(at) => seeds.get(at).map(|(_, gradient)| gradient.clone()),
        }
    }

    /// Replays a walk; `None` where something is not as it was.
    fn replay(&self, replay: &mut Replay, walk: &Walk, seeds: &[(Node, Node)]) -> Option<Through> {
        for &input in &walk.made_of {
            // What was changed since may be an error, which a walk tells of.
            if self.node(input, seeds)?.overwritten().is_some() {
                return None;
            }
        }
        let value = |&input: &Input| {
            let node = self.node(input, seeds)?;
            Some(Outside { value: node.value()?.as_ref().ok()?.clone(), lent: false })
        };
        let inputs = walk.inputs.iter().map(value).collect::<Option<Vec<_>>>()?;
        let made = replay.run(&inputs, &[], self.generator).ok()?;
        let gradients = walk.shares.iter().map(|(number, share)| {
            let of = self.node(Input::Outside(*number), seeds)?;
            let gradient = match share {
                Share::Literal(bits) => of.lit(f64::from_bits(*bits)),
                Share::Computed(computed) => Node::from_value(made.get(*computed)?.clone()),
                Share::Input(at) => Node::from_value(inputs.get(*at)?.value.clone()),
            };
            Some((of, gradient))
        });
        let gradients = gradients.collect::<Option<_>>()?;
        Some(Through { gradients, passed: self.passed(walk) })
    }

    fn passed(&self, walk: &Walk) -> Passed {
        walk.passed.iter().filter_map(|&at| self.nodes.get(at)?.upgrade()).collect()
    }

    /// Walks, and records it, unless it reads values.
    fn record(&self, seeds: &[(Node, Node)]) -> Option<(Through, Option<Walk>)> {
        // A gradient may be a value that the history has read, or another answer's gradient, and something else the next time: nodes of their own.
        let own = |(answer, gradient): &(Node, Node)| match gradient.literal() {
            Some(_) => Some((answer.clone(), gradient.clone())),
            None => Some((answer.clone(), Node::from_value(gradient.value()?.as_ref().ok()?.clone()))),
        };
        let seeds = &*seeds.iter().map(own).collect::<Option<Vec<_>>>()?;
        let nodes: Vec<Option<Node>> = self.nodes.iter().map(WeakNode::upgrade).collect();
        let within: HashMap<u64, usize> =
            nodes.iter().enumerate().filter_map(|(at, node)| Some((node.as_ref()?.sequence(), at))).collect();
        let mut known: HashMap<u64, Input> = within.iter().map(|(&s, &at)| (s, Input::Node(at))).collect();
        for (number, weak) in self.outside.iter().enumerate() {
            if let Some(node) = weak.as_ref().and_then(WeakNode::upgrade) {
                known.entry(node.sequence()).or_insert(Input::Outside(number));
            }
        }
        for (at, (_, gradient)) in seeds.iter().enumerate().filter(|(_, (_, g))| g.literal().is_none()) {
            known.insert(gradient.sequence(), Input::Seed(at));
        }
        let is_outside = |node: &Node| matches!(known.get(&node.sequence()), Some(Input::Outside(_)));
        let start = mg_graph::next_sequence();
        // What a hook reads is its own affair: such a walk is gone each time.
        let recorded = mg_graph::record(true, || {
            let mut found: Vec<(Node, Node)> = vec![];
            let passed =
                walk(seeds.iter().cloned(), false, Reach::Within(&within), is_outside, |node, g| {
                    found.push((node.clone(), g));
                    Ok(())
                })?;
            let wanted: Vec<&Node> = found.iter().map(|(_, g)| g).filter(|g| g.literal().is_none()).collect();
            let (inputs, made_of) = read_of(&wanted, &known, start);
            mg_graph::realize_quietly(&wanted)?;
            Ok::<_, mg_device::Error>((found, passed, inputs, made_of))
        });
        let (Ok((found, passed, inputs, made_of)), trace) = recorded.ok()? else { return None };
        if trace.host_read().is_some() {
            return Some((Through { gradients: found, passed }, None));
        }
        let mut numbers = HashMap::new();
        for (number, &input) in inputs.iter().enumerate() {
            numbers.insert(self.node(input, seeds)?.sequence(), number);
        }
        let mut shares = vec![];
        for (of, gradient) in &found {
            let Some(Input::Outside(number)) = known.get(&of.sequence()) else { return None };
            let share =
                match (gradient.literal(), trace.computed(gradient), numbers.get(&gradient.sequence())) {
                    (Some(literal), ..) => Share::Literal(literal.to_bits()),
                    (None, Some(computed), _) => Share::Computed(computed),
                    (None, None, Some(&input)) => Share::Input(input),
                    (None, None, None) => return None,
                };
            shares.push((*number, share));
        }
        let numbers_of = passed.iter().filter_map(|node| within.get(&node.sequence()).copied());
        let walk = Walk {
            trace,
            numbers,
            inputs,
            made_of,
            passed: numbers_of.collect(),
            shares,
            generator: self.generator,
        };
        Some((Through { gradients: found, passed }, Some(walk)))
    }
}

/// What is known that gradients are computed of: first what a plan for them reads, then what rules have made them of. Nodes
/// that were made since `start` belong to the walk.
fn read_of(gradients: &[&Node], known: &HashMap<u64, Input>, start: u64) -> (Vec<Input>, Vec<Input>) {
    let (mut inputs, mut made_of) = (vec![], vec![]);
    let mut met = HashSet::new();
    let mut stack: Vec<Node> = gradients.iter().map(|&node| node.clone()).collect();
    while let Some(node) = stack.pop() {
        if !met.insert(node.sequence()) {
            continue;
        }
        let input = known.get(&node.sequence()).copied();
        if input.is_some_and(|input| node.sequence() < start && !matches!(input, Input::Seed(_))) {
            made_of.extend(input);
        }
        if node.is_pending() {
            stack.extend(node.sources());
        } else {
            inputs.extend(input);
        }
    }
    (inputs, made_of)
}

impl Walk {
    fn agrees(&self, other: &Walk) -> bool {
        self.inputs == other.inputs && self.passed == other.passed && self.shares == other.shares
    }

    fn recorded(&self) -> Recorded<'_> {
        Recorded { trace: &self.trace, outside: &self.numbers, generator: self.generator }
    }
}

impl Known {
    fn add(&mut self, walk: Walk) {
        let before = self.last.take();
        let replay = match &before {
            Some(before) if before.agrees(&walk) => {
                let mut replay = Replay::new(before.recorded(), walk.recorded()).ok();
                let wanted = walk.shares.iter().filter_map(|(_, share)| match share {
                    Share::Computed(computed) => Some(*computed),
                    Share::Literal(_) | Share::Input(_) => None,
                });
                replay.iter_mut().for_each(|replay| replay.keep_only(wanted.clone()));
                replay
            }
            Some(_) | None => None,
        };
        match replay {
            Some(replay) => self.replay = Some((replay, walk)),
            None => {
                self.disagreed += u32::from(before.is_some());
                self.last = Some(walk);
            }
        }
    }
}

/// Walks through what the answers of a replay were made of, from these of their nodes with these gradients, as far as to what was there
/// before; `None` where the graph has to be walked as it is.
pub(crate) fn differentiate(
    history: &Arc<dyn Any + Send + Sync>,
    answers: &[(Node, Node)],
) -> Option<Through> {
    let history = history.downcast_ref::<History>()?;
    if mg_graph::is_recording() || mg_graph::is_eager() {
        return None;
    }
    // Whoever is told of a gradient is told by who walks over the graph as it is.
    if history.roots.iter().any(|root| root.upgrade().is_some_and(|root| as_computed(root).watch().is_some()))
    {
        return None;
    }
    // Another thread, or somebody further up, walks over one of the same kind.
    let mut known = history.walks.try_lock().ok()?;
    let pending: Vec<&Node> = answers.iter().map(|(_, g)| g).filter(|g| g.literal().is_none()).collect();
    mg_graph::realize_quietly(&pending).ok()?;
    let place = |node: &Node| {
        history.roots.iter().position(|weak| weak.upgrade().is_some_and(|other| other.is(node)))
    };
    let seeds = answers.iter().map(|(node, gradient)| {
        let what = match gradient.literal() {
            Some(literal) => Given::Literal(literal.to_bits()),
            None => Given::Value(Lie::of(gradient)?),
        };
        Some(Seed { of: place(node)?, what })
    });
    let seeds = seeds.collect::<Option<Vec<_>>>()?;
    let at = match known.iter().position(|known| known.seeds == seeds) {
        Some(at) => at,
        None => {
            if known.len() >= WALKS {
                known.remove(0);
            }
            known.push(Known { seeds, last: None, replay: None, disagreed: 0 });
            known.len() - 1
        }
    };
    let known = &mut known[at];
    if let Some((replay, walk)) = &mut known.replay {
        return history.replay(replay, walk, answers);
    }
    if known.disagreed >= ATTEMPTS {
        return None;
    }
    let (through, walk) = history.record(answers)?;
    match walk {
        Some(walk) => known.add(walk),
        None => known.disagreed = ATTEMPTS,
    }
    Some(through)
}
