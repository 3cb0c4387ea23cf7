//! From the engine's graph to ONNX's: what was made of stand-ins for the inputs, node by node.

use super::graph::{Attribute, Graph, Id, Made, Stored, refuse};
use super::{kernels, rows, views};
use mg_autograd::Tensor;
use mg_device::{DType, Result, Shape};
use mg_graph::{Kernel, Map, Node, Op, SourceKind, View};
use mg_kernels::library::{Blend, Library, Shaped};
use std::collections::{BTreeMap, HashMap};

/// A walk over what results are made of.
pub(super) struct Trace<'a> {
    graph: Graph,
    /// What nodes have become, by their sequence.
    known: HashMap<u64, Id>,
    /// Tensors of the model, by the sequence of their nodes.
    named: &'a HashMap<u64, (String, Tensor)>,
    /// Whether a node that is not made of inputs is computed in the file all the same.
    computed: HashMap<u64, bool>,
}

/// The graph of some results of inputs.
pub(super) fn graph(
    inputs: &[Tensor],
    results: &[Tensor],
    named: &HashMap<u64, (String, Tensor)>,
) -> Result<Graph> {
    let mut trace = Trace { graph: Graph::default(), known: HashMap::new(), named, computed: HashMap::new() };
    for input in inputs {
        let node = input.node();
        let id = trace.graph.value(Made::Input);
        trace.known.insert(node.sequence(), id);
        trace.graph.inputs.push((id, node.dtype(), *node.shape()));
    }
    let roots: Vec<Node> = results.iter().map(Tensor::node).collect();
    trace.walk(&roots)?;
    for root in &roots {
        let id = trace.id(root)?;
        trace.graph.results.push((id, root.dtype(), *root.shape()));
    }
    Ok(trace.graph)
}

impl Trace<'_> {
    /// Whether a node that is not made of inputs is computed in the file all the same: it is made of tensors that the file names, of positions, whose
    /// number may be open, or of random numbers, which are refused.
    fn is_computed(&mut self, node: &Node) -> bool {
        if let Some(&known) = self.computed.get(&node.sequence()) {
            return known;
        }
        let found = self.named.contains_key(&node.sequence())
            || node.is_pending()
                && (matches!(node.op(), Op::Source(SourceKind::Ramp | SourceKind::Random { .. }))
                    || node.sources().iter().any(|source| self.is_computed(source)));
        self.computed.insert(node.sequence(), found);
        found
    }

    /// Whether a node's value is stored as it is: of no input, and nothing that is computed in the file.
    fn is_stored(&mut self, node: &Node) -> bool {
        !node.is_traced() && !self.is_computed(node)
    }

    fn walk(&mut self, roots: &[Node]) -> Result<()> {
        let mut all: BTreeMap<u64, Node> = BTreeMap::new();
        let mut stack: Vec<Node> = roots.to_vec();
        while let Some(node) = stack.pop() {
            let sequence = node.sequence();
            if self.known.contains_key(&sequence) || all.contains_key(&sequence) {
                continue;
            }
            if !self.named.contains_key(&sequence) && !self.is_stored(&node) {
                stack.extend(node.sources());
            }
            all.insert(sequence, node);
        }
        for (sequence, node) in all {
            let made = self.made(&node).map_err(|error| error.with_location(node.location()))?;
            self.known.insert(sequence, made);
        }
        Ok(())
    }

    fn id(&self, node: &Node) -> Result<Id> {
        match self.known.get(&node.sequence()) {
            Some(&id) => Ok(id),
            None => refuse("a value that nothing computes".into()),
        }
    }

    fn stored(&mut self, node: &Node) -> Result<Id> {
        let tensor = Tensor::from_node(node.clone());
        tensor.realize()?;
        let (shape, bytes) = (tensor.shape(), super::dense(&tensor)?);
        let mut elements = bytes.chunks_exact(tensor.dtype().size());
        let first = elements.next();
        if shape.rank() == 0 || !elements.all(|element| Some(element) == first) || bytes.is_empty() {
            return Ok(self.graph.value(Made::Stored(Stored { name: None, tensor })));
        }
        // One number, however many there are of it.
        let number = tensor.flatten(0, -1)?.select(0, 0)?.copy();
        number.realize()?;
        let number = self.graph.value(Made::Stored(Stored { name: None, tensor: number }));
        let all = self.graph.shape(&shape);
        Ok(self.graph.call("Expand", &[number, all]))
    }

    /// 0, 1, 2, …: how many there are may be open.
    fn ramp(&mut self, shape: &Shape) -> Result<Id> {
        let (one, axis) = (self.graph.number(1.0, DType::I64)?, self.graph.number(0.0, DType::I64)?);
        let count = self.graph.sizes([shape.numel() as i64]);
        let ones = self.graph.call("Expand", &[one, count]);
        let counted = self.graph.call("CumSum", &[ones, axis]);
        let line = self.graph.call("Sub", &[counted, one]);
        Ok(if shape.rank() == 1 { line } else { self.graph.reshape(line, shape) })
    }

    fn made(&mut self, node: &Node) -> Result<Id> {
        if let Some((name, tensor)) = self.named.get(&node.sequence()) {
            let stored = Stored { name: Some(name.clone()), tensor: tensor.clone() };
            return Ok(self.graph.value(Made::Stored(stored)));
        }
        if self.is_stored(node) {
            return self.stored(node);
        }
        let sources = node.sources();
        let of = |sources: &[Node]| sources.iter().map(|source| self.id(source)).collect::<Result<Vec<Id>>>();
        let x = of(&sources)?;
        if let Some(means) = self.means_of(node, &sources)? {
            return Ok(means);
        }
        match node.op() {
            Op::Source(SourceKind::Random { .. }) => refuse(
                "the model draws random numbers: call its eval() first, or draw them outside and take them as an input".into(),
            ),
            Op::Source(SourceKind::Data) => refuse("a stand-in of another function that is being traced".into()),
            Op::Source(SourceKind::Const { .. } | SourceKind::Live { .. }) => self.stored(node),
            Op::Source(SourceKind::Ramp) => self.ramp(node.shape()),
            Op::Map(Map::Row(row)) => {
                let x = self.unexpanded(node, &sources, &x)?;
                // The condition of a choice is of truth values: the dtype is the last operand's.
                let dtype = sources.last().map_or(node.dtype(), Node::dtype);
                if row.keeps_single() && sources.iter().any(|source| source.dtype() != node.dtype()) {
                    // Halves beside a factor that was not rounded to theirs.
                    let wide: Vec<Id> = x.iter().map(|&id| self.graph.cast(id, DType::F32)).collect();
                    let made = rows::row(&mut self.graph, *row, &wide, DType::F32)?;
                    return Ok(self.graph.cast(made, node.dtype()));
                }
                rows::row(&mut self.graph, *row, &x, dtype)
            }
            Op::Map(Map::Cast) => Ok(self.graph.cast(x[0], node.dtype())),
            // Whoever runs the model checks indices.
            Op::Map(Map::Copy { .. } | Map::Guard { .. }) => Ok(x[0]),
            Op::View(view) => views::view(&mut self.graph, view, x[0], sources[0].shape(), node.shape()),
            Op::Reduce(kind, axes) => {
                let from = sources[0].shape();
                let axes: Vec<usize> = (0..from.rank()).filter(|&axis| axes >> axis & 1 == 1).collect();
                let of = (from.dims(), sources[0].dtype());
                let made = rows::reduce(&mut self.graph, *kind, x[0], of, &axes)?;
                let keeps = node.shape().rank() == from.rank();
                Ok(if keeps { made } else { self.graph.reshape(made, node.shape()) })
            }
            Op::Kernel(kernel) => self.kernel(kernel, node, &sources, &x),
        }
    }

    fn kernel(&mut self, kernel: &Kernel, node: &Node, sources: &[Node], x: &[Id]) -> Result<Id> {
        match kernel {
            Kernel::Write { region } => {
                let zero = self.graph.number(0.0, node.dtype())?;
                let from = (x[0], sources[0].shape());
                views::write(&mut self.graph, from, x.get(1).copied(), zero, region, node.shape())
            }
            Kernel::Concat { axis } => {
                let axis = Attribute::Int((*axis).into());
                Ok(self.graph.call_with("Concat", x, vec![("axis", axis)]))
            }
            Kernel::Transfer => Ok(x[0]),
            Kernel::Library(library) => {
                if let (Library::Gather(gather), [_, index]) = (library, sources) {
                    return self.gathered(x[0], (x[1], index), gather.axis);
                }
                if let Library::Blend(blend) = library {
                    return self.blend(blend, sources, x);
                }
                let of: Vec<Shaped> = sources.iter().map(Node::shaped).collect();
                kernels::kernel(&mut self.graph, library, x, &of, &node.shaped())
            }
        }
    }

    /// Elements by index: rows, where those of a row share one.
    fn gathered(&mut self, x: Id, (at, index): (Id, &Node), axis: u8) -> Result<Id> {
        let along = vec![("axis", Attribute::Int(axis.into()))];
        Ok(match self.one_index_a_row(index, axis.into())? {
            Some(line) => self.graph.call_with("Gather", &[x, line], along),
            None => self.graph.call_with("GatherElements", &[x, at], along),
        })
    }

    /// Tap by tap: ONNX has no operator for all at once.
    fn blend(&mut self, blend: &Blend, sources: &[Node], x: &[Id]) -> Result<Id> {
        let taps = usize::from(blend.taps);
        let mut sum = None;
        for t in 0..taps {
            let mut part = self.gathered(x[0], (x[1 + t], &sources[1 + t]), blend.axis)?;
            if blend.asks {
                let zero = self.graph.number(0.0, sources[0].dtype())?;
                part = self.graph.call("Where", &[x[1 + 2 * taps + t], part, zero]);
            }
            part = self.graph.call("Mul", &[part, x[1 + taps + t]]);
            sum = Some(sum.map_or(part, |sum| self.graph.call("Add", &[sum, part])));
        }
        sum.map_or_else(|| refuse("a blend has taps".into()), Ok)
    }

    /// The indices in one line, where they are the same along all axes but one.
    fn one_index_a_row(&mut self, index: &Node, axis: usize) -> Result<Option<Id>> {
        let mut base = index.clone();
        while matches!(base.op(), Op::View(View::Expand)) && base.is_pending() {
            let [from] = &base.sources()[..] else { break };
            if from.shape().rank() != index.shape().rank() {
                break;
            }
            base = from.clone();
        }
        let shape = base.shape();
        let is_line = (0..shape.rank()).all(|d| d == axis || shape[d] == 1);
        if !is_line || shape[axis] != index.shape()[axis] || !self.known.contains_key(&base.sequence()) {
            return Ok(None);
        }
        let (id, n) = (self.id(&base)?, shape[axis]);
        Ok(Some(self.graph.reshape(id, &[n])))
    }

    /// Operands as they were before they were repeated: ONNX's operators broadcast.
    fn unexpanded(&self, node: &Node, sources: &[Node], x: &[Id]) -> Result<Vec<Id>> {
        let mut shapes: Vec<Shape> = sources.iter().map(|source| *source.shape()).collect();
        let mut ids = x.to_vec();
        for (i, source) in sources.iter().enumerate() {
            if !matches!(source.op(), Op::View(View::Expand)) || !source.is_pending() {
                continue;
            }
            let [from] = &source.sources()[..] else { continue };
            let was = std::mem::replace(&mut shapes[i], *from.shape());
            let all = shapes.iter().try_fold(Shape::scalar(), |all, shape| Shape::broadcast(&all, shape));
            match self.known.get(&from.sequence()) {
                Some(&id) if all.as_ref() == Some(node.shape()) => ids[i] = id,
                Some(_) | None => shapes[i] = was,
            }
        }
        Ok(ids)
    }

    /// What the file has of attention is its means, without the numbers that gradients ask for.
    fn means_of(&self, node: &Node, sources: &[Node]) -> Result<Option<Id>> {
        for source in sources {
            let Op::Kernel(Kernel::Library(Library::Attention(attention))) = source.op() else { continue };
            let operands: Vec<Shaped> = source.sources().iter().map(Node::shaped).collect();
            let count = attention.len_of_means(&operands)?;
            return match node.op() {
                Op::View(View::Slice { start: 0, step: 1, .. }) if node.shape().dims() == [count] => {
                    self.id(source).map(Some)
                }
                _ => refuse("the logarithms of attention's sums, which are for gradients".into()),
            };
        }
        Ok(None)
    }
}
