//! A function that is differentiated: its inputs as those of nobody else, and what its results are to the outside.

use super::{Randomness, Traced, depends, forget, reached, tangent};
use crate::gradient::{Backward, NoGrad, pulled};
use crate::tensor::Tensor;
use crate::tensor::memory::{locked, untracked};
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::Node;
use mg_kernels::{Algebra, Rules};
use std::sync::Mutex;

/// Inputs of a function that is differentiated with respect to them, and to nothing else: whatever they are to the outside, and however
/// often it is done around this one.
pub struct Level {
    op: &'static str,
    start: u64,
    inputs: Vec<Node>,
    /// Whether gradients were recorded outside.
    tracking: bool,
    recording: Mutex<Option<NoGrad>>,
}

impl Level {
    /// Begins: answers with the inputs that the function is to be called with. Gradients are recorded until the level is dropped or
    /// [`Level::outside`] is called.
    ///
    /// # Errors
    ///
    /// An input that is not of floats.
    pub fn begin(op: &'static str, inputs: &[&Tensor]) -> Result<(Level, Vec<Tensor>)> {
        if let Some(i) = inputs.iter().position(|t| !t.dtype().is_float()) {
            let text = format!("differentiates with respect to floats, input {i} is {}", inputs[i].dtype());
            return Err(Error::new(op, ErrorKind::DType(text)));
        }
        let start = mg_graph::next_sequence();
        let tracking = mg_graph::is_tracking();
        let nodes: Vec<Node> = inputs
            .iter()
            .map(|t| {
                let node = t.node().alias();
                node.set_tracked(true);
                node
            })
            .collect();
        let inside = nodes.iter().map(|node| Tensor::from_node(node.clone())).collect();
        let recording = Mutex::new(Some(NoGrad::of(mg_graph::set_tracking(true))));
        Ok((Level { op, start, inputs: nodes, tracking, recording }, inside))
    }

    /// Several that have begun as one: results may have been computed of the inputs of all of them, which stand in the same order here.
    pub fn joined(op: &'static str, levels: &[&Level]) -> Level {
        Level {
            op,
            start: levels.iter().map(|level| level.start).min().unwrap_or_else(mg_graph::next_sequence),
            inputs: levels.iter().flat_map(|level| level.inputs.iter().cloned()).collect(),
            tracking: levels.iter().any(|level| level.tracking),
            recording: Mutex::default(),
        }
    }

    /// Ends the recording of gradients, if they were not recorded before.
    pub fn outside(&self) {
        drop(locked(&self.recording).take());
    }

    /// Whether something outside may differentiate results.
    fn is_seen(&self, nodes: &[Node]) -> bool {
        self.tracking && depends(nodes, self.start)
    }

    /// Results as the outside has them: with a history only where that leads there.
    pub fn results(&self, tensors: &[&Tensor]) -> Vec<Tensor> {
        let of = |t: &&Tensor| {
            let node = t.node();
            match node.is_tracked() && !self.is_seen(std::slice::from_ref(&node)) {
                true => Tensor::from_node(untracked(&node)),
                false => (*t).clone(),
            }
        };
        tensors.iter().map(of).collect()
    }

    fn checked(&self, what: &str, of: &[Node], given: &[Node]) -> Result<()> {
        for (of, given) in of.iter().zip(given) {
            if of.shape() != given.shape() || of.dtype() != given.dtype() || of.device() != given.device() {
                let text = format!(
                    "a {what} {} {} for a tensor {} {}",
                    given.dtype(),
                    given.shape(),
                    of.dtype(),
                    of.shape()
                );
                return Err(Error::new(self.op, ErrorKind::Shape(text)));
            }
        }
        if of.len() != given.len() {
            let text = format!("{} {what}s for {} tensors", given.len(), of.len());
            return Err(Error::new(self.op, ErrorKind::Value(text)));
        }
        Ok(())
    }

    /// The gradients of the inputs, given those of results; zeros where there is none. With `last` nobody asks again.
    ///
    /// # Errors
    ///
    /// Gradients that do not fit the results.
    pub fn vjp(&self, results: &[&Tensor], given: &[&Tensor], last: bool) -> Result<Vec<Tensor>> {
        let results: Vec<Node> = results.iter().map(|t| t.node()).collect();
        let given: Vec<Node> = given.iter().map(|t| t.node()).collect();
        self.checked("gradient", &results, &given)?;
        let seen = self.is_seen(&results) || self.tracking && given.iter().any(Node::is_tracked);
        let how = Backward { retain_graph: !last || seen, create_graph: seen };
        let pairs: Vec<(Node, Node)> =
            results.into_iter().zip(given).filter(|(node, _)| node.is_tracked()).collect();
        let found = pulled(&pairs, &self.inputs, how)?;
        let of = found.into_iter().zip(&self.inputs).map(|(g, x)| match g {
            Some(g) => Ok(g),
            None => x.lit(0.0).expand(*x.shape()),
        });
        let all = of.collect::<Result<Vec<Node>>>()?;
        if last && !seen {
            let made: Vec<Node> = pairs.into_iter().map(|(node, _)| node).collect();
            forget(&made, self.start);
        }
        Ok(all.into_iter().map(|node| self.outer(node)).collect())
    }

    /// A tensor of a node, as the outside has it.
    fn outer(&self, node: Node) -> Tensor {
        match node.is_tracked() && !self.is_seen(std::slice::from_ref(&node)) {
            true => Tensor::from_node(untracked(&node)),
            false => Tensor::from_node(node),
        }
    }

    /// The tangents of results, given those of the inputs; zeros where there is none.
    ///
    /// # Errors
    ///
    /// Tangents that do not fit the inputs.
    pub fn jvp(&self, results: &[&Tensor], given: &[&Tensor], last: bool) -> Result<Vec<Tensor>> {
        let found = self.pushed(results, given, last, |_| true)?;
        Ok(found.into_iter().flatten().collect())
    }

    /// As [`Level::jvp`]; nothing where a result was not computed of the inputs.
    ///
    /// # Errors
    ///
    /// As [`Level::jvp`].
    pub fn tangents(
        &self,
        results: &[&Tensor],
        given: &[&Tensor],
        last: bool,
    ) -> Result<Vec<Option<Tensor>>> {
        self.pushed(results, given, last, |result| self.is_reached(result))
    }

    /// The tangents of results; where there is none, zeros if the result has some.
    fn pushed(
        &self,
        results: &[&Tensor],
        given: &[&Tensor],
        last: bool,
        has_zeros: impl Fn(&Node) -> bool,
    ) -> Result<Vec<Option<Tensor>>> {
        let results: Vec<Node> = results.iter().map(|t| t.node()).collect();
        let given: Vec<Node> = given.iter().map(|t| t.node()).collect();
        self.checked("tangent", &self.inputs, &given)?;
        let seen = self.is_seen(&results) || self.tracking && given.iter().any(Node::is_tracked);
        let was = mg_graph::set_tracking(seen);
        let pairs: Vec<(Node, Node)> = self.inputs.iter().cloned().zip(given).collect();
        let found = tangent::tangents(&results, &pairs);
        mg_graph::set_tracking(was);
        let of = found?.into_iter().zip(&results).map(|(tangent, y)| match tangent {
            None if has_zeros(y) => y.lit(0.0).expand(*y.shape()).map(Some),
            tangent => Ok(tangent),
        });
        let all = of.collect::<Result<Vec<Option<Node>>>>()?;
        if last && !seen {
            forget(&results, self.start);
        }
        Ok(all.into_iter().map(|node| Some(self.outer(node?))).collect())
    }

    /// Whether a result was computed of the inputs.
    fn is_reached(&self, result: &Node) -> bool {
        let nodes = reached([result], Node::is_tracked);
        self.inputs.iter().any(|input| nodes.contains_key(&input.sequence()))
    }

    /// The derivative of each result with respect to each input, of the result's shape and then the input's: by rows, of gradients, in
    /// chunks of so many, or as many as there are.
    ///
    /// # Errors
    ///
    /// Results that are not of floats.
    pub fn rows(
        &self,
        results: &[&Tensor],
        chunk: Option<usize>,
    ) -> Result<(Vec<Vec<Tensor>>, Vec<&'static str>)> {
        let (mut all, mut loops) = (vec![], vec![]);
        for result in results {
            let (shape, n) = (result.shape(), result.numel());
            self.of_floats(result)?;
            let (traced, placeholder) = Traced::of_example(result)?;
            let found = self.vjp(&[result], &[&placeholder], false)?;
            let found: Vec<&Tensor> = found.iter().collect();
            let mut parts: Vec<Vec<Tensor>> = vec![vec![]; self.inputs.len()];
            for (from, len) in chunks(n, chunk) {
                let basis = basis(result, from, len)?;
                let (made, named) = traced.batched(&found, &[&basis], len, Randomness::Same)?;
                loops.extend(named);
                for ((part, made), found) in parts.iter_mut().zip(made).zip(&found) {
                    part.push(all_of(made, found, len)?);
                }
            }
            let of = parts.into_iter().zip(&self.inputs).map(|(parts, x)| {
                let sizes: Vec<isize> = shape.iter().chain(x.shape().iter()).map(|&n| n as isize).collect();
                joined(&parts)?.reshape(&sizes)
            });
            all.push(of.collect::<Result<Vec<Tensor>>>()?);
        }
        Ok((all, loops))
    }

    /// As [`Level::rows`], by columns, of tangents.
    ///
    /// # Errors
    ///
    /// As [`Level::rows`].
    pub fn columns(
        &self,
        results: &[&Tensor],
        chunk: Option<usize>,
    ) -> Result<(Vec<Vec<Tensor>>, Vec<&'static str>)> {
        let mut all: Vec<Vec<Tensor>> = results.iter().map(|_| vec![]).collect();
        let mut loops = vec![];
        results.iter().try_for_each(|result| self.of_floats(result))?;
        for (i, input) in self.inputs.iter().enumerate() {
            let x = Tensor::from_node(untracked(input));
            let (traced, placeholder) = Traced::of_example(&x)?;
            let zeros = self.inputs.iter().map(|n| Ok(Tensor::from_node(n.lit(0.0).expand(*n.shape())?)));
            let mut given = zeros.collect::<Result<Vec<Tensor>>>()?;
            given[i] = placeholder;
            let found = self.jvp(results, &given.iter().collect::<Vec<_>>(), false)?;
            let found: Vec<&Tensor> = found.iter().collect();
            let mut parts: Vec<Vec<Tensor>> = vec![vec![]; results.len()];
            for (from, len) in chunks(x.numel(), chunk) {
                let basis = basis(&x, from, len)?;
                let (made, named) = traced.batched(&found, &[&basis], len, Randomness::Same)?;
                loops.extend(named);
                for ((part, made), found) in parts.iter_mut().zip(made).zip(&found) {
                    part.push(all_of(made, found, len)?);
                }
            }
            for ((all, parts), result) in all.iter_mut().zip(parts).zip(results) {
                let whole = joined(&parts)?;
                let rank = result.shape().rank();
                let order: Vec<isize> = (1..=rank as isize).chain([0]).collect();
                let sizes: Vec<isize> =
                    result.shape().iter().chain(x.shape().iter()).map(|&n| n as isize).collect();
                all.push(whole.permute(&order)?.reshape(&sizes)?);
            }
        }
        Ok((all, loops))
    }

    fn of_floats(&self, result: &Tensor) -> Result<()> {
        match result.dtype().is_float() {
            true => Ok(()),
            false => {
                let text =
                    format!("differentiates functions whose results are floats, got {}", result.dtype());
                Err(Error::new(self.op, ErrorKind::DType(text)))
            }
        }
    }
}

/// Parts of so many, one after the other; one of none if there is nothing.
fn chunks(n: usize, size: Option<usize>) -> Vec<(usize, usize)> {
    let size = size.unwrap_or(n).max(1);
    match n {
        0 => vec![(0, 0)],
        n => (0..n).step_by(size).map(|from| (from, size.min(n - from))).collect(),
    }
}

/// Tensors of a shape that are one at one element each and zero elsewhere: `len` of them, from element `from` on.
fn basis(like: &Tensor, from: usize, len: usize) -> Result<Tensor> {
    let (node, n) = (like.node(), like.numel());
    let counted = |count: usize, shape: [usize; 2], from: usize| {
        let whole = |n: usize| Node::scalar_bits(n as u64, DType::I64, node.device(), true);
        let ramp = Node::ramp(Shape::new(&[count])?, node.device());
        ramp.add(&whole(from)).reshape(Shape::new(&shape)?)
    };
    let (rows, columns) = (counted(len, [len, 1], from)?, counted(n, [1, n], 0)?);
    let one = rows.eq(&columns).cast(node.dtype());
    Ok(Tensor::from_node(one.reshape(super::led(len, node.shape())?)?))
}

/// One for each example, of what may be the same for all.
fn all_of(made: Option<Tensor>, example: &Tensor, size: usize) -> Result<Tensor> {
    match made {
        Some(made) => Ok(made),
        None => {
            let node = example.node();
            Ok(Tensor::from_node(node.expand(super::led(size, node.shape())?)?))
        }
    }
}

fn joined(parts: &[Tensor]) -> Result<Tensor> {
    match parts {
        [one] => Ok(one.clone()),
        several => Tensor::cat(&several.iter().collect::<Vec<_>>(), 0),
    }
}
