//! Models as ONNX files, which other programs run: a model is called once with stand-ins for its inputs, and what it has recorded is
//! written in ONNX's operators.
//!
//! The engine's graph has five kinds of node, whatever operations a model is written in; so what is to be known of ONNX are the rows of the op
//! table, views, reductions and library kernels. What ONNX has no operator for is refused, with the line that asked for it. Parameters and buffers
//! keep their names. The file is of version 18 of ONNX's operators (<https://onnx.ai/onnx/operators>).
//!
//! ```
//! use mg_autograd::Tensor;
//! use mg_device::DType;
//! use mg_nn::{Linear, Module, ReLU, onnx, sequential};
//!
//! let model = sequential![Linear::new(4, 8)?, ReLU, Linear::new(8, 2)?];
//! model.eval();
//! let example = Tensor::zeros(&[1, 4], DType::F32)?;
//! // The first axis of the input may have any size.
//! let options = onnx::Options { dynamic_axes: vec![(0, 0, "batch".into())], ..Default::default() };
//! let file = onnx::export(&model, &[&example], &options)?;
//! assert!(file.windows(8).any(|words| words == b"2.weight"));
//! # Ok::<(), mg_device::Error>(())
//! ```

mod graph;
mod kernels;
mod proto;
mod rows;
mod sizes;
mod trace;
mod views;

use crate::module::Module;
use graph::{Attribute, Graph, Id, Made, refuse};
use mg_autograd::func::Traced;
use mg_autograd::{Tensor, no_grad};
use mg_device::{DType, Result, Shape};
use proto::Message;
use sizes::Open;
use std::collections::{HashMap, HashSet};

/// The version of ONNX's operators that files are written in.
pub const OPSET: i64 = 18;

/// What a file is to say.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The names of inputs, in order; `input_0`, `input_1`, … for those that are not named.
    pub input_names: Vec<String>,
    /// The names of results, in order; `output_0`, … for those that are not named.
    pub output_names: Vec<String>,
    /// Sizes that are left open: an input, its axis, and the size's name. Axes of one name have one size.
    pub dynamic_axes: Vec<(usize, usize, String)>,
}

/// The bytes of an ONNX file of a module: of what its `forward` makes of an input like this one, as it is now. Call `eval` first, unless
/// the file is to be trained.
///
/// # Errors
///
/// What ONNX has no operator for; random numbers; an open size that something depends on in another way than by sums of products; a
/// model of more than 2 GB; those of the module.
#[track_caller]
pub fn export(module: &dyn Module, inputs: &[&Tensor], options: &Options) -> Result<Vec<u8>> {
    let mut named = module.named_parameters();
    named.extend(module.named_buffers());
    let forward = |inputs: &[Tensor]| match inputs {
        [one] => Ok(vec![module.forward(one)?]),
        several => refuse(format!("forward takes one input, got {}: use export_function", several.len())),
    };
    export_function(forward, inputs, &named, options)
}

/// As [`export`], of a function. Tensors that it knows from elsewhere are stored in the file, under the names that are given here.
///
/// # Errors
///
/// As [`export`].
#[track_caller]
pub fn export_function(
    mut function: impl FnMut(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[&Tensor],
    named: &[(String, Tensor)],
    options: &Options,
) -> Result<Vec<u8>> {
    let _guard = no_grad();
    let mut exporter = Exporter::new(inputs, named, options)?;
    while let Some(stand_ins) = exporter.begin() {
        let results = function(&stand_ins)?;
        exporter.end(&results)?;
    }
    exporter.finish()
}

/// An export in steps: as long as there are stand-ins, the model is called with them.
pub struct Exporter {
    inputs: Vec<Tensor>,
    named: HashMap<u64, (String, Tensor)>,
    options: Options,
    open: Vec<Open>,
    points: Vec<Vec<usize>>,
    current: Option<(Traced, Vec<Tensor>)>,
    graphs: Vec<Graph>,
}

impl Exporter {
    /// Begins, with examples of inputs and the tensors that are to have a name.
    ///
    /// # Errors
    ///
    /// Axes that are not there; two sizes under one name; more names of inputs than inputs, or one name twice; what computing a tensor fails with.
    #[track_caller]
    pub fn new(inputs: &[&Tensor], named: &[(String, Tensor)], options: &Options) -> Result<Exporter> {
        let given = &options.input_names;
        if given.len() > inputs.len() {
            let text = format!("the names of inputs {given:?}, of which there are {}", inputs.len());
            return refuse(text);
        }
        let mut seen = HashSet::new();
        if let Some(twice) = given.iter().chain(&options.output_names).find(|&name| !seen.insert(name)) {
            return refuse(format!("the name {twice:?} twice among those of inputs and results"));
        }
        let mut open: Vec<Open> = vec![];
        for (input, axis, name) in &options.dynamic_axes {
            let shape = match inputs.get(*input) {
                Some(input) => input.shape(),
                None => return refuse(format!("an open size of input {input} of {}", inputs.len())),
            };
            let Some(&size) = shape.get(*axis) else {
                return refuse(format!("an open size along axis {axis} of input {input} of shape {shape}"));
            };
            // What has one element broadcasts: a stand-in of this size would tell nothing of others.
            let stand_in = if size < 2 { 2 } else { size };
            match open.iter_mut().find(|open| open.name == *name) {
                Some(known) if known.size == stand_in => known.at.push((*input, *axis)),
                Some(known) => {
                    let text = format!("the size {name:?} is {} and {size}", known.size);
                    return refuse(text);
                }
                None => open.push(Open { name: name.clone(), at: vec![(*input, *axis)], size: stand_in }),
            }
        }
        Tensor::realize_all(named.iter().map(|(_, t)| t))?;
        let mut by_node = HashMap::new();
        for (name, tensor) in named {
            by_node.entry(tensor.node().sequence()).or_insert_with(|| (name.clone(), tensor.clone()));
        }
        Ok(Exporter {
            inputs: inputs.iter().map(|&t| t.clone()).collect(),
            named: by_node,
            options: options.clone(),
            points: sizes::points(&open),
            open,
            current: None,
            graphs: vec![],
        })
    }

    /// Stand-ins that the model is to be called with next, or `None` when it was called with all.
    pub fn begin(&mut self) -> Option<Vec<Tensor>> {
        let point = self.points.get(self.graphs.len())?;
        let mut of = vec![];
        for (at, input) in self.inputs.iter().enumerate() {
            let mut dims = input.shape().to_vec();
            for (open, &size) in self.open.iter().zip(point) {
                open.at.iter().filter(|(of, _)| *of == at).for_each(|&(_, axis)| dims[axis] = size);
            }
            of.push((Shape::new(&dims).ok()?, input.dtype(), input.device()));
        }
        let (traced, inside) = Traced::stand_ins(&of);
        self.current = Some((traced, inside.clone()));
        Some(inside)
    }

    /// What the model has made of the stand-ins.
    ///
    /// # Errors
    ///
    /// As [`export`].
    #[track_caller]
    pub fn end(&mut self, results: &[Tensor]) -> Result<()> {
        let Some((traced, inside)) = self.current.take() else {
            return refuse("results without stand-ins".into());
        };
        let given = &self.options.output_names;
        if given.len() > results.len() {
            let text = format!("the names of results {given:?}, of which there are {}", results.len());
            return refuse(text);
        }
        self.graphs.push(trace::graph(&inside, results, &self.named)?);
        drop(traced);
        Ok(())
    }

    /// The bytes of the file.
    ///
    /// # Errors
    ///
    /// As [`export`].
    #[track_caller]
    pub fn finish(self) -> Result<Vec<u8>> {
        if self.graphs.len() != self.points.len() {
            return refuse("the model was not called with all stand-ins".into());
        }
        let (graph, results) = sizes::opened(self.graphs, &self.open, &self.points)?;
        written(graph, &self.options, &self.open, &results)
    }
}

/// A tensor's elements in order, in little-endian bytes.
fn dense(t: &Tensor) -> Result<Vec<u8>> {
    let buffer = crate::state::dense(t)?;
    // SAFETY: the memory is the host's, holds that many initialised bytes, lives as long as `buffer`, and nobody writes it meanwhile.
    let bytes = unsafe { std::slice::from_raw_parts(buffer.as_ptr(), buffer.bytes()) };
    let mut bytes = bytes.to_vec();
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(t.dtype().size()).for_each(<[u8]>::reverse);
    }
    Ok(bytes)
}

/// Names for all values; none twice.
fn names(graph: &Graph, options: &Options) -> (Vec<String>, Vec<String>) {
    let mut taken = HashSet::new();
    let mut free = |wanted: String| {
        let mut name = wanted.clone();
        let mut n = 1;
        while !taken.insert(name.clone()) {
            name = format!("{wanted}_{n}");
            n += 1;
        }
        name
    };
    let mut names = vec![String::new(); graph.values.len()];
    for (i, (id, ..)) in graph.inputs.iter().enumerate() {
        names[*id] = free(options.input_names.get(i).cloned().unwrap_or_else(|| format!("input_{i}")));
    }
    let results: Vec<String> = (0..graph.results.len())
        .map(|i| free(options.output_names.get(i).cloned().unwrap_or_else(|| format!("output_{i}"))))
        .collect();
    for (id, made) in graph.values.iter().enumerate() {
        match made {
            Made::Stored(stored) => {
                names[id] = free(stored.name.clone().unwrap_or_else(|| format!("constant_{id}")))
            }
            Made::Sizes(_) => names[id] = free(format!("sizes_{id}")),
            Made::Input | Made::Result => {}
        }
    }
    for call in &graph.calls {
        for &output in &call.outputs {
            names[output] = free(format!("{}_{output}", call.op.to_lowercase()));
        }
    }
    // A result that a call makes has its name at once.
    for (name, (id, ..)) in results.iter().zip(&graph.results) {
        if matches!(graph.values[*id], Made::Result) && !results.contains(&names[*id]) {
            names[*id] = name.clone();
        }
    }
    (names, results)
}

fn attribute(name: &str, value: &Attribute) -> Message {
    let mut message = Message::default();
    message.bytes(1, name.as_bytes());
    match value {
        Attribute::Int(number) => message.int(3, *number).int(20, 2),
        Attribute::Text(text) => message.bytes(4, text.as_bytes()).int(20, 3),
        Attribute::Ints(numbers) => {
            for &number in numbers {
                message.int(8, number);
            }
            message.int(20, 7)
        }
    };
    message
}

fn node(op: &str, inputs: &[&str], outputs: &[&str], attributes: &[(&'static str, Attribute)]) -> Message {
    let mut message = Message::default();
    for name in inputs {
        message.bytes(1, name.as_bytes());
    }
    for name in outputs {
        message.bytes(2, name.as_bytes());
    }
    message.bytes(3, outputs.first().map_or("", |name| name).as_bytes()).bytes(4, op.as_bytes());
    for (name, value) in attributes {
        message.message(5, &attribute(name, value));
    }
    message
}

fn written(
    graph: Graph,
    options: &Options,
    open: &[Open],
    results: &[Vec<Option<String>>],
) -> Result<Vec<u8>> {
    let (names, result_names) = names(&graph, options);
    let mut body = Message::default();
    let of = |ids: &[Id]| ids.iter().map(|&id| names[id].as_str()).collect::<Vec<_>>();
    for call in &graph.calls {
        body.message(1, &node(call.op, &of(&call.inputs), &of(&call.outputs), &call.attributes));
    }
    for (name, (id, ..)) in result_names.iter().zip(&graph.results) {
        if names[*id] != *name {
            body.message(1, &node("Identity", &[&names[*id]], &[name], &[]));
        }
    }
    body.bytes(2, b"model");
    for (id, made) in graph.values.iter().enumerate() {
        match made {
            Made::Stored(stored) => {
                let (t, data) = (&stored.tensor, dense(&stored.tensor)?);
                body.message(5, &proto::tensor(&names[id], t.dtype(), &t.shape(), &data));
            }
            Made::Sizes(sizes) => {
                let data: Vec<u8> = sizes.iter().flat_map(|n| n.to_le_bytes()).collect();
                body.message(5, &proto::tensor(&names[id], DType::I64, &[sizes.len()], &data));
            }
            Made::Input | Made::Result => {}
        }
    }
    for (i, (id, dtype, shape)) in graph.inputs.iter().enumerate() {
        let size = |axis: usize| {
            let open = open.iter().find(|open| open.at.contains(&(i, axis)));
            open.map_or(Ok(shape[axis]), |open| Err(open.name.as_str()))
        };
        let dims: Vec<_> = (0..shape.rank()).map(size).collect();
        body.message(11, &proto::value(&names[*id], *dtype, &dims));
    }
    for ((name, (_, dtype, shape)), open) in result_names.iter().zip(&graph.results).zip(results) {
        let size = |axis: usize| open[axis].as_deref().map_or(Ok(shape[axis]), Err);
        let dims: Vec<_> = (0..shape.rank()).map(size).collect();
        body.message(12, &proto::value(name, *dtype, &dims));
    }
    let (mut model, mut opset) = (Message::default(), Message::default());
    opset.bytes(1, b"").int(2, OPSET);
    model.int(1, 8).bytes(2, b"micrograd-rs").bytes(3, env!("CARGO_PKG_VERSION").as_bytes());
    model.message(7, &body).message(8, &opset);
    if model.0.len() > i32::MAX as usize {
        return refuse(format!("the file would have {} bytes: a message has at most 2 GB", model.0.len()));
    }
    Ok(model.0)
}
