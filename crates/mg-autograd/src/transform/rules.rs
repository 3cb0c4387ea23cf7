//! How each kind of node takes a batch in front of it.

use super::batch::Batch;
use super::led;
use crate::function::{Arrived, Begun, Call, Onward, Rule, Saved, Way};
use crate::tensor::Tensor;
use mg_device::{Error, ErrorKind, Layout, Result, Shape};
use mg_graph::{Kernel, Map, Node, Op, Sources, View};
use mg_kernels::library::{Library, MatMul};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex};

/// A node with a batch in front, at least one of whose sources has one.
pub(super) fn batched(batch: &mut Batch, node: &Node) -> Result<Node> {
    let sources = node.sources();
    match node.op() {
        Op::Source(_) => Err(lost()),
        Op::Map(map) => through_map(batch, node, *map, &sources),
        Op::View(view) => through_view(batch, node, view, &sources[0]),
        Op::Reduce(kind, axes) => {
            let of = batch.all(&sources[0])?;
            of.reduce(*kind, axes << 1, false)?.reshape(led(batch.size, node.shape())?)
        }
        Op::Kernel(kernel) => through_kernel(batch, node, kernel, &sources),
    }
}

fn lost() -> Error {
    Error::new(
        "vmap",
        ErrorKind::Internal("a node that has no sources differs from example to example".into()),
    )
}

/// An operand beside others of `rank` axes without the batch: as it is if it has no batch, else with ones after that.
fn beside(batch: &Batch, source: &Node, rank: usize) -> Result<Node> {
    let Some(made) = batch.of(source) else { return Ok(source.clone()) };
    let own = source.shape();
    if own.rank() == rank {
        return Ok(made);
    }
    let mut shape = *own;
    for _ in own.rank()..rank {
        shape = shape.insert(0, 1);
    }
    made.reshape(led(batch.size, &shape)?)
}

fn through_map(batch: &Batch, node: &Node, map: Map, sources: &Sources) -> Result<Node> {
    let rank = node.shape().rank();
    // An axis too many is told of before anything else is.
    led(batch.size, node.shape())?;
    match map {
        Map::Row(row) => {
            let of = sources.iter().map(|source| beside(batch, source, rank)).collect::<Result<Sources>>()?;
            Node::map_of(row, of)
        }
        Map::Cast => Ok(batch.all(&sources[0])?.cast(node.dtype())),
        // What is made anew shares nothing with anybody.
        Map::Copy { .. } => batch.all(&sources[0]),
        Map::Guard { size, axis, op } => {
            let _within = mg_graph::within(op, node.location());
            Ok(batch.all(&sources[0])?.guard(axis as usize, size as usize))
        }
    }
}

/// A region of elements laid out densely, with a batch in front of both.
fn led_region(size: usize, region: &Layout, whole: usize) -> Result<Layout> {
    let mut strides: SmallVec<[isize; 8]> = SmallVec::new();
    strides.push(whole as isize);
    strides.extend_from_slice(region.strides());
    Layout::new(led(size, region.shape())?, &strides, region.offset())
}

fn through_view(batch: &Batch, node: &Node, view: &View, source: &Node) -> Result<Node> {
    let (x, shape) = (batch.all(source)?, led(batch.size, node.shape())?);
    match view {
        View::Reshape => x.reshape(shape),
        View::Permute(axes) => {
            let rank = node.shape().rank();
            let order: SmallVec<[usize; 8]> =
                std::iter::once(0).chain(axes[..rank].iter().map(|&axis| axis as usize + 1)).collect();
            x.permute(&order)
        }
        &View::Slice { axis, start, step } => {
            let axis = axis as usize + 1;
            match shape[axis] {
                0 => x.slice(axis, 0, 1, 0),
                len => x.slice(axis, start as usize, step as isize, len),
            }
        }
        &View::Diagonal { axes: [first, second], offset } => {
            x.diagonal([first as usize + 1, second as usize + 1], offset, shape[shape.rank() - 1])
        }
        &View::Windows { axis, step } => {
            let axis = axis as usize + 1;
            x.windows(axis, shape[axis], shape[shape.rank() - 1], step as usize)
        }
        View::Expand => beside(batch, source, node.shape().rank())?.expand(shape),
        View::Region(region) => x.region(led_region(batch.size, region, source.shape().numel())?),
    }
}

fn through_kernel(batch: &mut Batch, node: &Node, kernel: &Kernel, sources: &Sources) -> Result<Node> {
    let size = batch.size;
    match kernel {
        Kernel::Write { region } => {
            let base = sources.get(1).map(|base| batch.all(base)).transpose()?;
            let region = led_region(size, region, node.shape().numel())?;
            batch.all(&sources[0])?.write_into(base.as_ref(), led(size, node.shape())?, region)
        }
        Kernel::Concat { axis } => {
            let parts = sources.iter().map(|part| batch.all(part)).collect::<Result<Vec<_>>>()?;
            Node::concat(&parts.iter().collect::<Vec<_>>(), *axis as usize + 1)
        }
        Kernel::Transfer => batch.all(&sources[0])?.to_device(node.device()),
        Kernel::Library(library) => through_library(batch, node, *library, sources),
    }
}

/// A matrix product of which an operand, or both, have a batch in front.
fn product(batch: &Batch, node: &Node, a: &Node, b: &Node) -> Result<Node> {
    let (size, shape) = (batch.size, led(batch.size, node.shape())?);
    let plain = node.shape().rank() == 2;
    let (m, n) = (node.shape()[node.shape().rank() - 2], node.shape()[node.shape().rank() - 1]);
    match (batch.of(a), batch.of(b)) {
        // Rows of all examples are rows of one product.
        (Some(a), None) if plain => {
            let k = b.shape()[0];
            a.reshape(Shape::new(&[size * m, k])?)?.matmul(b)?.reshape(shape)
        }
        // So are columns, of which an example has one.
        (None, Some(b)) if plain && n == 1 => {
            let k = a.shape()[1];
            b.reshape(Shape::new(&[size, k])?)?.matmul(&a.permute(&[1, 0])?)?.reshape(shape)
        }
        (left, right) => {
            // An operand without a batch is broadcast.
            let of =
                |made: Option<Node>, own: &Node| made.map_or_else(|| own.reshape(led(1, own.shape())?), Ok);
            of(left, a)?.matmul(&of(right, b)?)
        }
    }
}

fn through_library(batch: &mut Batch, node: &Node, kernel: Library, sources: &Sources) -> Result<Node> {
    if kernel == MatMul.into() {
        return product(batch, node, &sources[0], &sources[1]);
    }
    let size = batch.size;
    let differs: SmallVec<[bool; 4]> = sources.iter().map(|source| batch.of(source).is_some()).collect();
    let _within = mg_graph::within(kernel.called(), node.location());
    if let Some(shifted) = kernel.with_batch() {
        let of = sources.iter().map(|source| batch.all(source)).collect::<Result<Vec<_>>>()?;
        return Node::library(shifted, &of.iter().collect::<Vec<_>>());
    }
    if size == 0 {
        return Node::scalar(0.0, node.dtype(), node.device(), true).expand(led(0, node.shape())?);
    }
    let of: SmallVec<[Node; 4]> =
        sources.iter().map(|source| batch.of(source).unwrap_or_else(|| source.clone())).collect();
    if let Some(made) = kernel.batched(&of, &differs, size)? {
        return Ok(made);
    }
    if !batch.loops.contains(&kernel.name()) {
        batch.loops.push(kernel.name());
    }
    let mut each = Vec::with_capacity(size);
    for example in 0..size {
        let of = sources.iter().map(|source| match batch.of(source) {
            Some(made) => made.select(0, example),
            None => Ok(source.clone()),
        });
        let of = of.collect::<Result<Vec<_>>>()?;
        let one = Node::library(kernel, &of.iter().collect::<Vec<_>>())?;
        each.push(one.reshape(led(1, node.shape())?)?);
    }
    Node::concat(&each.iter().collect::<Vec<_>>(), 0)
}

/// The gradient of a call, for a batch of calls.
struct OfBatch {
    /// The call as it was traced.
    call: Node,
    batch: Mutex<Batch>,
    name: String,
}

/// Stand-ins of one example for batches, and what each of them stands for.
fn examples_of(batches: &[Option<Tensor>]) -> (Vec<Option<Node>>, Vec<(Node, Node)>) {
    let mut known = vec![];
    let each = batches.iter().map(|made| {
        let made = made.as_ref().map(Tensor::node)?;
        let placeholder = Node::placeholder(made.shape().remove(0), made.dtype(), made.device());
        placeholder.set_tracked(made.is_tracked());
        known.push((placeholder.clone(), made));
        Some(placeholder)
    });
    (each.collect(), known)
}

impl OfBatch {
    /// What was made of an example, made of the batch.
    fn all(&self, known: &[(Node, Node)], made: &[Option<Node>]) -> Result<Vec<Option<Tensor>>> {
        let mut batch = mg_graph::locked(&self.batch).remembered();
        let roots: Vec<Node> = made.iter().flatten().cloned().collect();
        batch.more(known, &roots)?;
        let each = made.iter().map(|node| node.as_ref().map(|node| batch.all(node)).transpose());
        each.map(|node| Ok(node?.map(Tensor::from_node))).collect()
    }
}

impl Rule for OfBatch {
    fn name(&self) -> &str {
        &self.name
    }

    fn jvp(&self, _: &Arc<Saved>, tangents: &[Option<Tensor>]) -> Result<Option<Vec<Option<Tensor>>>> {
        let Some(call) = Call::of(&self.call) else { return Err(lost()) };
        let (given, known) = examples_of(tangents);
        match call.forward(&given)? {
            Some(found) => self.all(&known, &found).map(Some),
            None => Ok(None),
        }
    }

    fn backward(&self, _: &Arc<Saved>, gradients: &[Option<Tensor>]) -> Result<Way> {
        let Some(call) = Call::of(&self.call) else { return Err(lost()) };
        let (given, known) = examples_of(gradients);
        let arrived: Arrived = given.into_iter().enumerate().filter_map(|(at, g)| Some((at, g?))).collect();
        let shares = match call.onward(arrived)? {
            Onward::Sources(shares) => shares,
            Onward::Results(_) => {
                let text = "what is computed again in backward is not batched; put checkpoint around vmap, not inside";
                return Err(Error::new("vmap", ErrorKind::Value(text.into())));
            }
        };
        let sources = self.call.sources();
        let fitted = shares.iter().enumerate().map(|(k, share)| {
            share.as_ref().map(|share| call.fitted(share, &sources[k], call.position(k))).transpose()
        });
        let fitted = fitted.collect::<Result<Vec<Option<Node>>>>()?;
        self.all(&known, &fitted).map(Way::Inputs)
    }
}

/// A call with a gradient of its own, for a batch: `sources` are its inputs with a batch in front.
pub(super) fn call(batch: &Batch, node: &Node, sources: Sources) -> Result<Node> {
    let Some(of) = Call::of(node) else { return Err(lost()) };
    let rule =
        OfBatch { call: node.clone(), batch: Mutex::new(batch.remembered()), name: of.name().to_string() };
    Begun::of_nodes(sources).call(of.facts_of_batch(batch.size)?, Arc::new(rule), of.keeps_none())
}
