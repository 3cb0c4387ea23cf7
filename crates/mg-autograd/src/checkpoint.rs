//! Recomputing instead of keeping.

use crate::autocast::{AutocastGuard, AutocastState, autocast_state};
use crate::function::{Begun, Call, Rule, Saved, Way, result_of};
use crate::generator::{self, Generator};
use crate::gradient::{enable_grad, is_leaf};
use crate::tensor::memory::{Facts, TakenIn};
use crate::tensor::{Kept, Tensor};
use crate::transform::{behind, reached};
use mg_device::{Error, ErrorKind, Result};
use mg_graph::{Node, Noted, Sources};
use std::collections::HashSet;
use std::sync::Arc;

/// Computes results, and again when a walk comes by.
pub trait Recompute: Send + Sync {
    /// The results.
    ///
    /// # Errors
    ///
    /// Those of the function.
    fn call(&self) -> Result<Vec<Tensor>>;
}

impl<F: Fn() -> Result<Vec<Tensor>> + Send + Sync> Recompute for F {
    fn call(&self) -> Result<Vec<Tensor>> {
        self()
    }
}

struct Again<R> {
    function: R,
    /// How many results there were.
    results: usize,
    /// Those whose memory the call's results are: one of each memory.
    homes: Vec<usize>,
    /// The generator's state before the function was called; `None` where it need not draw the same numbers again.
    generator: Option<(u64, u64)>,
    autocast: AutocastState,
}

impl<R: Recompute> Again<R> {
    /// All of the memories that the results lie in.
    fn wholes(&self) -> Result<Vec<Tensor>> {
        let results = self.function.call()?;
        if results.len() != self.results {
            let text = format!(
                "checkpoint: what was computed again is not what it was: {} results instead of {}",
                results.len(),
                self.results
            );
            return Err(Error::new("backward", ErrorKind::Gradient(text)));
        }
        Ok(self.homes.iter().map(|&i| results[i].whole()).collect())
    }
}

impl<R: Recompute> Rule for Again<R> {
    fn name(&self) -> &str {
        "checkpoint"
    }

    fn backward(&self, _: &Arc<Saved>, _: &[Option<Tensor>]) -> Result<Way> {
        let _recording = enable_grad();
        let _precision = AutocastGuard::new(self.autocast);
        let Some((seed, at)) = self.generator else { return self.wholes().map(Way::Again) };
        let results = generator::from_state(seed, at, || self.wholes());
        results.map(Way::Again)
    }

    fn is_again(&self) -> bool {
        true
    }
}

/// The memories that results lie in whose history began in the function, each with the first result in it; `None` where a result has
/// such a history as a view of what was there before.
fn homes(results: &[Tensor], is_new: impl Fn(&Node) -> bool) -> Option<Vec<(usize, Kept)>> {
    let mut homes: Vec<(usize, Kept)> = vec![];
    for (i, result) in results.iter().enumerate().filter(|(_, t)| is_new(&t.current())) {
        let home = Kept::all_of(result);
        if !is_new(&home.node()) {
            return None;
        }
        if !homes.iter().any(|(_, other)| other.is(&home)) {
            homes.push((i, home));
        }
    }
    Some(homes)
}

/// Of the nodes that a call has made those that somebody holds, other than as its results.
fn put_aside(
    made: Vec<Node>,
    on_the_way: &[Node],
    results: impl Iterator<Item = Node>,
    homes: &[(usize, Kept)],
) -> Vec<Node> {
    // What a call on the way keeps for its gradient goes with it.
    let calls = on_the_way.iter().filter_map(|node| Some((node, Call::of(node)?)));
    let of_calls = calls.flat_map(|(node, call)| node.sources().into_iter().chain(call.saved()));
    let own = results.chain(homes.iter().map(|(_, home)| home.node())).chain(of_calls);
    let own: HashSet<u64> = own.map(|node| node.sequence()).collect();
    made.into_iter().filter(|node| node.is_held() && !own.contains(&node.sequence())).collect()
}

/// Calls a function and keeps nothing of what it computes on the way: where its gradient is asked for, it is called again. Memory for
/// time: of a deep network, with a checkpoint around each of its parts, only what goes from part to part is kept.
///
/// The gradient is that of what the function computes the second time, with respect to everything that it uses. A function that writes to
/// what was there before, or answers with a view of that, is called once, and what it computes is kept. With `keeps_random` it
/// draws the random numbers of the first time again. What it puts aside (a loss of its own) has its gradients, and keeps what these need.
/// The results are the tensors that the function has answered with, on the memory that these share.
///
/// ```
/// use mg_autograd::{Tensor, checkpoint};
///
/// let x = Tensor::from_slice(&[1.0f64, 2.0]).requires_grad_(true)?;
/// let inside = x.clone();
/// let y = checkpoint(move || Ok(vec![inside.exp().sin()]), true)?.remove(0);
/// y.sum().backward()?;
/// assert_eq!(x.grad().unwrap().to_vec::<f64>()?, (x.exp() * x.exp().cos()).to_vec::<f64>()?);
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// Those of the function. In a walk, results of other shapes than the first time, and what the function was computed of and has been changed in
/// place since, leaves excepted.
#[track_caller]
pub fn checkpoint(function: impl Recompute + 'static, keeps_random: bool) -> Result<Vec<Tensor>> {
    let generator = keeps_random.then(|| Generator::global().state());
    let taken_in = TakenIn::noted();
    let start = mg_graph::next_sequence();
    let noted = Noted::from_now();
    let results = function.call()?;
    let alive = noted.alive();
    drop(noted);
    let roots: Vec<Node> = results.iter().flat_map(|t| [t.node(), Kept::all_of(t).node()]).collect();
    // What they were made of, as far as gradients flow there.
    let made = reached(&roots, Node::is_tracked);
    // A leaf is older, whatever its node is: where its data was written before, that is made when it is read next. So are views of what was
    // written before.
    let mut older: HashSet<u64> = HashSet::new();
    for (&sequence, node) in &made {
        let is_of_older = || behind(node).iter().all(|n| !n.is_tracked() || older.contains(&n.sequence()));
        if sequence < start || is_leaf(node) || taken_in.has(node) && is_of_older() {
            older.insert(sequence);
        }
    }
    drop(taken_in);
    let is_older = |node: &Node| older.contains(&node.sequence());
    // A view of what was there before stays one: what such a function computes is kept.
    let homes = homes(&results, |node| node.is_tracked() && !is_older(node)).unwrap_or_default();
    let (before, on_the_way): (Vec<_>, Vec<_>) = made.into_values().partition(is_older);
    let direct: HashSet<u64> = on_the_way.iter().flat_map(behind).map(|node| node.sequence()).collect();
    let sources: Sources = before.into_iter().filter(|node| direct.contains(&node.sequence())).collect();
    // To call it again would change what it changes in place again.
    let changes = sources.iter().any(|node| node.overwritten().is_some_and(|found| found.since >= start));
    if changes || homes.is_empty() {
        return Ok(results);
    }
    // All that was made on the way is as if no gradient had been recorded, unless the function has put something aside: a loss of its own
    // has its history, and keeps what that needs.
    let aside = put_aside(alive, &on_the_way, results.iter().map(Tensor::current), &homes);
    let kept = reached(&aside, |node| node.is_tracked() && !is_older(node));
    for node in on_the_way.iter().filter(|node| !kept.contains_key(&node.sequence())) {
        node.set_tracked(false);
    }
    let facts = homes.iter().map(|(_, home)| Facts::of(&home.node())).collect();
    let (results_of, at) = (results.len(), homes.iter().map(|&(i, _)| i).collect());
    let rule = Again { function, results: results_of, homes: at, generator, autocast: autocast_state() };
    let call = Begun::of_nodes(sources).call(facts, Arc::new(rule), false)?;
    // The results stay the tensors that they are, on the memory that they share, with another history.
    for (i, (_, home)) in homes.iter().enumerate() {
        home.remade(|value| result_of(&call, i, value));
    }
    Ok(results)
}
