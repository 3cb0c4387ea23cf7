//! Recurrent layers: a state that goes from step to step.
//!
//! Steps lie one after the other as `[rows, features]`: first all sequences' first steps, then the second ones,
//! of as many sequences as are that long. So a layer multiplies all steps' inputs by its weights at once, whether
//! sequences are equally long or packed.

use super::{set_aside, wide};
use crate::parts::filled;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, same_device};
use mg_kernels::library::{Cell, Recurrent, RecurrentKind};
use mg_kernels::{Row, Rules};
use mg_macros::operations;

/// What is called by a mode's name.
fn cell_named(mode: &str) -> Result<Cell> {
    Ok(match mode {
        "LSTM" => Cell::Lstm,
        "GRU" => Cell::Gru,
        "RNN_TANH" => Cell::Tanh,
        "RNN_RELU" => Cell::Relu,
        other => {
            let text = format!("a mode is \"LSTM\", \"GRU\", \"RNN_TANH\" or \"RNN_RELU\", got {other:?}");
            return Err(Error::new("packed_rnn", ErrorKind::Value(text)));
        }
    })
}

/// A layer's weights in one direction.
struct Weights {
    input: Node,
    biases: Option<(Node, Node)>,
    recurrence: Recurrence,
}

/// What takes a state to the next one.
struct Recurrence {
    cell: Cell,
    hidden: Node,
    /// What is added to the state's product: of GRU, whose last gate takes a share of it.
    bias: Option<Node>,
    projection: Option<Node>,
}

/// The state between steps.
#[derive(Clone)]
struct State {
    hidden: Node,
    cell: Option<Node>,
}

impl State {
    fn each(&self, f: impl Fn(&Node) -> Result<Node>) -> Result<State> {
        Ok(State { hidden: f(&self.hidden)?, cell: self.cell.as_ref().map(f).transpose()? })
    }

    fn rows(&self, from: usize, to: usize) -> Result<State> {
        self.each(|n| n.slice(0, from, 1, to - from))
    }

    /// States of different sequences, one after the other.
    fn joined(parts: &[State]) -> Result<State> {
        let hidden: Vec<&Node> = parts.iter().map(|s| &s.hidden).collect();
        let cells: Vec<&Node> = parts.iter().filter_map(|s| s.cell.as_ref()).collect();
        let cell = if cells.is_empty() { None } else { Some(Node::concat(&cells, 0)?) };
        Ok(State { hidden: Node::concat(&hidden, 0)?, cell })
    }
}

fn wrong<T>(op: &'static str, text: String) -> Result<T> {
    Err(Error::new(op, ErrorKind::Shape(text)))
}

/// `x wᵀ`.
fn times(x: &Node, w: &Node) -> Result<Node> {
    x.matmul(&w.permute(&[1, 0])?)
}

/// The parts of a product for gates.
fn gate(x: &Node, i: usize, size: usize) -> Result<Node> {
    Ok(wide(&x.slice(1, i * size, 1, size)?))
}

impl Weights {
    fn new(
        cell: Cell,
        input: Node,
        hidden: Node,
        biases: Option<(Node, Node)>,
        projection: Option<Node>,
    ) -> Weights {
        let bias = biases.as_ref().filter(|_| cell == Cell::Gru).map(|(_, hidden)| hidden.clone());
        Weights { input, biases, recurrence: Recurrence { cell, hidden, bias, projection } }
    }

    /// All steps' products of the inputs, with the biases that do not depend on the state.
    fn of_inputs(&self, x: &Node) -> Result<Node> {
        let product = times(x, &self.input)?;
        Ok(match &self.biases {
            None => product,
            Some((input, _)) if self.recurrence.cell == Cell::Gru => product.add(input),
            Some((input, hidden)) => product.add(&input.add(hidden)),
        })
    }

    /// All steps: see [`Recurrence::steps`].
    fn run(&self, x: &Node, counts: &[usize], first: &State, reverse: bool) -> Result<(Node, State)> {
        let (inputs, recurrence) = (self.of_inputs(x)?, &self.recurrence);
        match recurrence.is_one_kernel(&inputs, counts, first) {
            true => recurrence.sequence(&inputs, first, reverse),
            false => recurrence.steps(&inputs, counts, first, reverse),
        }
    }
}

/// Numbers of a weight up to which a sequence is one kernel: while the second-level cache holds it.
const WEIGHT: usize = 1 << 19;

impl Recurrence {
    /// The operands of [`Recurrent`].
    fn operands<'a>(&'a self, inputs: &'a Node, first: &'a State) -> Vec<&'a Node> {
        let mut operands = vec![inputs, &self.hidden, &first.hidden];
        operands.extend(first.cell.iter().chain(&self.bias));
        operands
    }

    /// Whether there is a kernel for all steps. What stands for many examples, or for what is not known yet, is made of operations.
    fn is_one_kernel(&self, inputs: &Node, counts: &[usize], first: &State) -> bool {
        let size = self.hidden.shape()[1];
        inputs.device().is_cpu()
            && matches!(inputs.dtype(), DType::F32 | DType::F64)
            && self.projection.is_none()
            && counts.windows(2).all(|pair| pair[0] == pair[1])
            && counts[0] > 0
            && (1..=WEIGHT).contains(&self.hidden.shape().numel())
            && first.cell.as_ref().is_none_or(|cell| cell.shape()[1] == size)
            && !self.operands(inputs, first).iter().any(|node| node.is_traced())
    }

    /// As [`Recurrence::steps`], of sequences of one length, by one kernel.
    fn sequence(&self, inputs: &Node, first: &State, reverse: bool) -> Result<(Node, State)> {
        let of = |kind| Recurrent { cell: self.cell, reverse, kind }.into();
        let mut operands = self.operands(inputs, first);
        let states = set_aside(|| Node::library(of(RecurrentKind::States), &operands))?;
        operands.insert(0, &states);
        let output = Node::library(of(RecurrentKind::Outputs), &operands)?;
        let (rows, batch) = (output.shape()[0], first.hidden.shape()[0]);
        let hidden = output.slice(0, if reverse { 0 } else { rows - batch }, 1, batch)?;
        let last = || Node::library(of(RecurrentKind::Last), &operands);
        let cell = first.cell.as_ref().map(|_| last()).transpose()?;
        Ok((output, State { hidden, cell }))
    }

    /// One step, with its inputs' product.
    fn step(&self, inputs: &Node, state: &State) -> Result<State> {
        let (cell, dtype) = (self.cell, state.hidden.dtype());
        let size = self.hidden.shape()[0] / cell.gates();
        let mut recurrent = times(&state.hidden, &self.hidden)?;
        match (cell, &self.bias) {
            (Cell::Gru, Some(bias)) => recurrent = recurrent.add(bias),
            (Cell::Gru, None) => {}
            (Cell::Lstm | Cell::Tanh | Cell::Relu, _) => recurrent = recurrent.add(inputs),
        }
        let part = |i| gate(&recurrent, i, size);
        Ok(match cell {
            Cell::Tanh => State { hidden: part(0)?.map(Row::Tanh).cast(dtype), cell: None },
            Cell::Relu => State { hidden: part(0)?.map(Row::Relu).cast(dtype), cell: None },
            Cell::Gru => {
                let both = |i| Ok::<_, Error>(part(i)?.add(&gate(inputs, i, size)?).map(Row::Sigmoid));
                let (reset, keep) = (both(0)?, both(1)?);
                let new = gate(inputs, 2, size)?.add(&reset.mul(&part(2)?)).map(Row::Tanh);
                // new + keep (old - new)
                let hidden = new.add(&keep.mul(&wide(&state.hidden).sub(&new)));
                State { hidden: hidden.cast(dtype), cell: None }
            }
            Cell::Lstm => {
                let Some(old) = &state.cell else {
                    return wrong("lstm", "takes a hidden state and a cell".into());
                };
                let (enter, keep) = (part(0)?.map(Row::Sigmoid), part(1)?.map(Row::Sigmoid));
                let (new, leave) = (part(2)?.map(Row::Tanh), part(3)?.map(Row::Sigmoid));
                let carried = keep.mul(&wide(old)).add(&enter.mul(&new));
                let mut hidden = leave.mul(&carried.map(Row::Tanh)).cast(dtype);
                if let Some(projection) = &self.projection {
                    hidden = times(&hidden, projection)?;
                }
                State { hidden, cell: Some(carried.cast(dtype)) }
            }
        })
    }

    /// All steps, given their inputs' products: the hidden states of each, and the state of each sequence at its end. `counts` says how
    /// many sequences are there at each step.
    fn steps(&self, inputs: &Node, counts: &[usize], first: &State, reverse: bool) -> Result<(Node, State)> {
        let ends: Vec<usize> = counts
            .iter()
            .scan(0, |sum, n| {
                *sum += n;
                Some(*sum)
            })
            .collect();
        let steps = counts.len();
        let mut outputs: Vec<Option<Node>> = vec![None; steps];
        let mut finished = vec![];
        let mut state: Option<State> = None;
        for at in 0..steps {
            let t = if reverse { steps - 1 - at } else { at };
            let n = counts[t];
            let there = match state {
                None => first.rows(0, n)?,
                Some(state) => {
                    let had = state.hidden.shape()[0];
                    if had > n {
                        finished.push(state.rows(n, had)?);
                        state.rows(0, n)?
                    } else if had < n {
                        State::joined(&[state, first.rows(had, n)?])?
                    } else {
                        state
                    }
                }
            };
            let next = self.step(&inputs.slice(0, ends[t] - n, 1, n)?, &there)?;
            outputs[t] = Some(next.hidden.clone());
            state = Some(next);
        }
        let outputs: Vec<&Node> = outputs.iter().flatten().collect();
        let output = Node::concat(&outputs, 0)?;
        let state = state.unwrap_or_else(|| first.clone());
        if finished.is_empty() {
            return Ok((output, state));
        }
        finished.push(state);
        finished.reverse();
        Ok((output, State::joined(&finished)?))
    }
}

/// What the kernel of a sequence has made, made of operations, which have derivatives of any order.
pub(super) fn of_operations(of: Recurrent, sources: &[Node]) -> Result<Option<Node>> {
    let Recurrent { cell, reverse, kind } = of;
    let [_, inputs, hidden, first, rest @ ..] = sources else { return Ok(None) };
    let other = rest.first().cloned();
    let (last, bias) = if cell == Cell::Lstm { (other, None) } else { (None, other) };
    let recurrence = Recurrence { cell, hidden: hidden.clone(), bias, projection: None };
    let batch = first.shape()[0];
    let counts = vec![batch; inputs.shape()[0] / batch];
    let steps = || recurrence.steps(inputs, &counts, &State { hidden: first.clone(), cell: last }, reverse);
    match kind {
        RecurrentKind::Outputs => Ok(Some(steps()?.0)),
        RecurrentKind::Last => Ok(steps()?.1.cell),
        RecurrentKind::States | RecurrentKind::Slopes { .. } => Ok(None),
    }
}

/// A network of such layers.
struct Network<'a> {
    cell: Cell,
    hx: &'a [Tensor],
    params: &'a [Tensor],
    has_biases: bool,
    num_layers: usize,
    dropout: f64,
    train: bool,
    bidirectional: bool,
}

impl Network<'_> {
    fn op(&self) -> &'static str {
        self.cell.name()
    }

    fn directions(&self) -> usize {
        1 + usize::from(self.bidirectional)
    }

    /// The weights of each layer and direction, and the states at first, all checked.
    fn parts(&self, x: &Node, batch: usize) -> Result<Vec<(Weights, State)>> {
        let op = self.op();
        let count = self.num_layers * self.directions();
        let states = if self.cell == Cell::Lstm { 2 } else { 1 };
        if self.hx.len() != states {
            return wrong(op, format!("takes {states} states, got {}", self.hx.len()));
        }
        let hx: Vec<Node> = self.hx.iter().map(Tensor::node).collect();
        let sizes: Vec<usize> = hx.iter().map(|h| h.shape().last().copied().unwrap_or(0)).collect();
        for h in &hx {
            if h.shape().rank() != 3 || h.shape()[..2] != [count, batch] {
                let text = format!("takes states [{count}, {batch}, size], got {}", h.shape());
                return wrong(op, text);
            }
        }
        let (outward, size) = (sizes[0], sizes[states - 1]);
        let projects = outward != size;
        let each = 2 + 2 * usize::from(self.has_biases) + usize::from(projects);
        if self.num_layers == 0 || self.params.len() != each * count {
            let text = format!(
                "takes {} weights for {} layers, got {}",
                each * count,
                self.num_layers,
                self.params.len()
            );
            return wrong(op, text);
        }
        let mut features = x.shape()[1];
        let wide_rows = self.cell.gates() * size;
        let mut parts = vec![];
        for (i, own) in self.params.chunks(each).enumerate() {
            let own: Vec<Node> = own.iter().map(Tensor::node).collect();
            same_device(op, &[std::slice::from_ref(x), &own[..], &hx[..]].concat())?;
            if let Some(other) = own.iter().chain(&hx).find(|n| n.dtype() != x.dtype()) {
                let text = format!(
                    "takes weights and states of the input's dtype, {}, got {}",
                    x.dtype(),
                    other.dtype()
                );
                return Err(Error::new(op, ErrorKind::DType(text)));
            }
            let mut wanted = vec![vec![wide_rows, features], vec![wide_rows, outward]];
            if self.has_biases {
                wanted.extend([vec![wide_rows], vec![wide_rows]]);
            }
            if projects {
                wanted.push(vec![outward, size]);
            }
            for (node, wanted) in own.iter().zip(&wanted) {
                if node.shape()[..] != wanted[..] {
                    return wrong(op, format!("takes a weight {wanted:?}, got {}", node.shape()));
                }
            }
            let state = |h: &Node| h.select(0, i);
            let state = State { hidden: state(&hx[0])?, cell: hx.get(1).map(state).transpose()? };
            let biases = self.has_biases.then(|| (own[2].clone(), own[3].clone()));
            let projection = projects.then(|| own[each - 1].clone());
            parts.push((Weights::new(self.cell, own[0].clone(), own[1].clone(), biases, projection), state));
            if (i + 1) % self.directions() == 0 {
                features = outward * self.directions();
            }
        }
        Ok(parts)
    }

    /// The outputs of the last layer for steps that lie one after the other, and the states at the end.
    fn run(&self, x: &Node, counts: &[usize]) -> Result<(Node, Vec<Tensor>)> {
        let op = self.op();
        if !x.dtype().is_float() {
            return Err(Error::new(op, ErrorKind::DType(format!("takes floats, got {}", x.dtype()))));
        }
        if counts.is_empty() {
            return wrong(op, "takes at least one step".into());
        }
        let parts = self.parts(x, counts[0])?;
        let (mut x, mut ends) = (x.clone(), vec![]);
        for (layer, directions) in parts.chunks(self.directions()).enumerate() {
            if layer > 0 && self.train && self.dropout != 0.0 {
                x = Tensor::from_node(x).try_dropout(self.dropout, true)?.node();
            }
            let mut outputs = vec![];
            for (reverse, (weights, state)) in directions.iter().enumerate() {
                let (output, end) = weights.run(&x, counts, state, reverse == 1)?;
                outputs.push(output);
                ends.push(end);
            }
            x = match &outputs[..] {
                [one] => one.clone(),
                several => Node::concat(&several.iter().collect::<Vec<_>>(), 1)?,
            };
        }
        let stacked = |of: Vec<Node>| -> Result<Tensor> {
            let lifted = of.iter().map(|n| n.reshape(n.shape().insert(0, 1)));
            let lifted = lifted.collect::<Result<Vec<Node>>>()?;
            Ok(Tensor::from_node(Node::concat(&lifted.iter().collect::<Vec<_>>(), 0)?))
        };
        let mut states = vec![stacked(ends.iter().map(|s| s.hidden.clone()).collect())?];
        let cells: Vec<Node> = ends.iter().filter_map(|s| s.cell.clone()).collect();
        if !cells.is_empty() {
            states.push(stacked(cells)?);
        }
        Ok((x, states))
    }

    /// For sequences of one length, `[steps, batch, features]` or, with `batch_first`, `[batch, steps, features]`.
    fn even(&self, input: &Tensor, batch_first: bool) -> Result<(Tensor, Vec<Tensor>)> {
        let mut x = input.node();
        if x.shape().rank() != 3 {
            let order = if batch_first { "[batch, steps, features]" } else { "[steps, batch, features]" };
            return wrong(self.op(), format!("takes {order}, got {}", x.shape()));
        }
        if batch_first {
            x = x.permute(&[1, 0, 2])?;
        }
        let (steps, batch, features) = (x.shape()[0], x.shape()[1], x.shape()[2]);
        let rows = x.reshape(Shape::new(&[steps * batch, features])?)?;
        let (y, states) = self.run(&rows, &filled(self.op(), steps, batch)?)?;
        let mut y = y.reshape(Shape::new(&[steps, batch, y.shape()[1]])?)?;
        if batch_first {
            y = y.permute(&[1, 0, 2])?;
        }
        Ok((Tensor::from_node(y), states))
    }
}

/// One step for `[batch, features]` or `[features]`.
fn cell_step(
    cell: Cell,
    op: &'static str,
    input: &Tensor,
    hx: &[&Tensor],
    weights: [&Tensor; 2],
    biases: [Option<&Tensor>; 2],
) -> Result<Vec<Tensor>> {
    let x = input.node();
    let alone = x.shape().rank() == 1;
    if !alone && x.shape().rank() != 2 {
        return wrong(op, format!("takes [batch, features] or [features], got {}", x.shape()));
    }
    let rows = |n: &Node| -> Result<Node> {
        if alone && n.shape().rank() == 1 { n.reshape(n.shape().insert(0, 1)) } else { Ok(n.clone()) }
    };
    let (x, w, u) = (rows(&x)?, weights[0].node(), weights[1].node());
    let mut all = vec![x.clone(), w.clone(), u.clone()];
    let states = hx.iter().map(|h| rows(&h.node())).collect::<Result<Vec<Node>>>()?;
    all.extend(states.iter().cloned());
    all.extend(biases.iter().flatten().map(|b| b.node()));
    same_device(op, &all)?;
    if let Some(other) = all.iter().find(|n| n.dtype() != x.dtype() || !n.dtype().is_float()) {
        let text = format!("takes floats of one dtype, got {} and {}", x.dtype(), other.dtype());
        return Err(Error::new(op, ErrorKind::DType(text)));
    }
    let size = states[0].shape().last().copied().unwrap_or(0);
    let (batch, features, outputs) = (x.shape()[0], x.shape()[1], cell.gates() * size);
    let fits = w.shape()[..] == [outputs, features]
        && u.shape()[..] == [outputs, size]
        && states.iter().all(|h| h.shape()[..] == [batch, size])
        && biases.iter().flatten().all(|b| b.shape()[..] == [outputs]);
    if !fits {
        let (input, states) = (input.shape(), hx[0].shape());
        let text =
            format!("input {input}, state {states} and weights {}, {} do not fit", w.shape(), u.shape());
        return wrong(op, text);
    }
    let zero = || Node::scalar(0.0, x.dtype(), x.device(), true).expand(Shape::of(&[outputs]));
    let bias = |b: Option<&Tensor>| b.map_or_else(zero, |b| Ok(b.node()));
    let biases = match biases {
        [None, None] => None,
        [input, hidden] => Some((bias(input)?, bias(hidden)?)),
    };
    let weights = Weights::new(cell, w, u, biases, None);
    let state = State { hidden: states[0].clone(), cell: states.get(1).cloned() };
    let next = weights.recurrence.step(&weights.of_inputs(&x)?, &state)?;
    let plain = |n: Node| -> Result<Tensor> {
        Ok(Tensor::from_node(if alone { n.reshape(n.shape().remove(0))? } else { n }))
    };
    [Some(next.hidden), next.cell].into_iter().flatten().map(plain).collect()
}

/// The one or two tensors of a list that always has them.
fn first(mut list: Vec<Tensor>) -> Result<Tensor> {
    match list.is_empty() {
        false => Ok(list.swap_remove(0)),
        true => Err(Error::new("rnn", ErrorKind::Internal("a step without a state".into()))),
    }
}

fn two(list: Vec<Tensor>) -> Result<(Tensor, Tensor)> {
    match <[Tensor; 2]>::try_from(list) {
        Ok([a, b]) => Ok((a, b)),
        Err(_) => Err(Error::new("lstm", ErrorKind::Internal("a step without a cell".into()))),
    }
}

#[operations(RECURRENT)]
impl Tensor {
    /// An Elman network of tanh, `h = tanh(W x + b + U h + c)`, over `[steps, batch, features]` (or `[batch,
    /// steps, features]` with `batch_first`): the outputs of all steps of the last layer and the states `[layers
    /// · directions, batch, size]` at the end. `params` has for each layer, and each direction, `W`, `U` and, if
    /// `has_biases`, `b` and `c`. While `train`, layers after the first have their input dropped out by
    /// `dropout`.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, no steps, unlike dtypes or devices.
    #[surface(function)]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn rnn_tanh(
        &self,
        hx: &Tensor,
        params: &[Tensor],
        has_biases: bool,
        num_layers: usize,
        dropout: f64,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> Result<(Tensor, Tensor)> {
        let (cell, hx) = (Cell::Tanh, std::slice::from_ref(hx));
        let network = Network { cell, hx, params, has_biases, num_layers, dropout, train, bidirectional };
        let (output, states) = network.even(self, batch_first)?;
        Ok((output, first(states)?))
    }

    /// As `rnn_tanh`, with `max(x, 0)` in the place of tanh.
    ///
    /// # Errors
    ///
    /// As `rnn_tanh`.
    #[surface(function)]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn rnn_relu(
        &self,
        hx: &Tensor,
        params: &[Tensor],
        has_biases: bool,
        num_layers: usize,
        dropout: f64,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> Result<(Tensor, Tensor)> {
        let (cell, hx) = (Cell::Relu, std::slice::from_ref(hx));
        let network = Network { cell, hx, params, has_biases, num_layers, dropout, train, bidirectional };
        let (output, states) = network.even(self, batch_first)?;
        Ok((output, first(states)?))
    }

    /// Gated recurrent units (Cho et al., 2014), as `rnn_tanh`: `r = σ(W₁x + U₁h)`, `z = σ(W₂x + U₂h)`, `n =
    /// tanh(W₃x + r (U₃h + c₃))`, `h = (1 − z) n + z h`, the weights of `r`, `z` and `n` one below the other.
    ///
    /// # Errors
    ///
    /// As `rnn_tanh`.
    #[surface(function)]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn gru(
        &self,
        hx: &Tensor,
        params: &[Tensor],
        has_biases: bool,
        num_layers: usize,
        dropout: f64,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> Result<(Tensor, Tensor)> {
        let (cell, hx) = (Cell::Gru, std::slice::from_ref(hx));
        let network = Network { cell, hx, params, has_biases, num_layers, dropout, train, bidirectional };
        let (output, states) = network.even(self, batch_first)?;
        Ok((output, first(states)?))
    }

    /// Long short-term memory (Hochreiter and Schmidhuber, 1997), as `rnn_tanh`: `i`, `f`, `o = σ(W x + U h)`, `g
    /// = tanh(W x + U h)`, `c = f c + i g`, `h = o tanh(c)`, the weights of `i`, `f`, `g` and `o` one below the
    /// other. `hx` is `[h, c]`, and the answer the outputs and both states at the end. Where `h` is narrower than
    /// `c`, a last weight of each layer projects it (Sak et al., 2014).
    ///
    /// # Errors
    ///
    /// As `rnn_tanh`.
    #[surface(function)]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn lstm(
        &self,
        hx: &[Tensor],
        params: &[Tensor],
        has_biases: bool,
        num_layers: usize,
        dropout: f64,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let cell = Cell::Lstm;
        let network = Network { cell, hx, params, has_biases, num_layers, dropout, train, bidirectional };
        let (output, states) = network.even(self, batch_first)?;
        let (hidden, cell) = two(states)?;
        Ok((output, hidden, cell))
    }

    /// `rnn_tanh`, `rnn_relu`, `gru` or `lstm` (`mode`: "RNN_TANH", "RNN_RELU", "GRU" or "LSTM") over packed
    /// sequences: rows `[rows, features]`, first the first steps of all sequences, then the second steps of those
    /// that have one, the longest sequence first; `batch_sizes` says how many sequences there are at each step.
    /// Answers with the rows of the outputs, and the states at each sequence's end.
    ///
    /// # Errors
    ///
    /// Numbers of sequences that grow, or do not sum to the rows; as `rnn_tanh`.
    #[surface(function)]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn packed_rnn(
        &self,
        batch_sizes: &[isize],
        mode: &str,
        hx: &[Tensor],
        params: &[Tensor],
        has_biases: bool,
        num_layers: usize,
        dropout: f64,
        train: bool,
        bidirectional: bool,
    ) -> Result<Vec<Tensor>> {
        let cell = cell_named(mode)?;
        let x = self.node();
        let counts: Vec<usize> = batch_sizes.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect();
        let grows = counts.windows(2).any(|pair| pair[0] < pair[1]) || counts.contains(&0);
        if x.shape().rank() != 2 || grows || counts.iter().sum::<usize>() != x.shape()[0] {
            let text = format!(
                "takes rows [rows, features] and as many in batch_sizes, which do not grow, got {}",
                x.shape()
            );
            return wrong("packed_rnn", text);
        }
        let network = Network { cell, hx, params, has_biases, num_layers, dropout, train, bidirectional };
        let (output, states) = network.run(&x, &counts)?;
        Ok([vec![Tensor::from_node(output)], states].concat())
    }

    /// One step of `rnn_tanh` for `[batch, features]`: the next state `[batch, size]`.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, unlike dtypes or devices.
    #[surface(function)]
    pub fn rnn_tanh_cell(
        &self,
        hx: &Tensor,
        w_ih: &Tensor,
        w_hh: &Tensor,
        #[default(None)] b_ih: Option<&Tensor>,
        #[default(None)] b_hh: Option<&Tensor>,
    ) -> Result<Tensor> {
        first(cell_step(Cell::Tanh, "rnn_tanh_cell", self, &[hx], [w_ih, w_hh], [b_ih, b_hh])?)
    }

    /// One step of `rnn_relu` for `[batch, features]`: the next state `[batch, size]`.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, unlike dtypes or devices.
    #[surface(function)]
    pub fn rnn_relu_cell(
        &self,
        hx: &Tensor,
        w_ih: &Tensor,
        w_hh: &Tensor,
        #[default(None)] b_ih: Option<&Tensor>,
        #[default(None)] b_hh: Option<&Tensor>,
    ) -> Result<Tensor> {
        first(cell_step(Cell::Relu, "rnn_relu_cell", self, &[hx], [w_ih, w_hh], [b_ih, b_hh])?)
    }

    /// One step of `gru` for `[batch, features]`: the next state `[batch, size]`.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, unlike dtypes or devices.
    #[surface(function)]
    pub fn gru_cell(
        &self,
        hx: &Tensor,
        w_ih: &Tensor,
        w_hh: &Tensor,
        #[default(None)] b_ih: Option<&Tensor>,
        #[default(None)] b_hh: Option<&Tensor>,
    ) -> Result<Tensor> {
        first(cell_step(Cell::Gru, "gru_cell", self, &[hx], [w_ih, w_hh], [b_ih, b_hh])?)
    }

    /// One step of `lstm` for `[batch, features]` and `hx`, `[h, c]`: the next two states `[batch, size]`.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, unlike dtypes or devices.
    #[surface(function)]
    pub fn lstm_cell(
        &self,
        hx: &[Tensor],
        w_ih: &Tensor,
        w_hh: &Tensor,
        #[default(None)] b_ih: Option<&Tensor>,
        #[default(None)] b_hh: Option<&Tensor>,
    ) -> Result<(Tensor, Tensor)> {
        let [h, c] = hx else {
            return wrong("lstm_cell", format!("takes 2 states, got {}", hx.len()));
        };
        two(cell_step(Cell::Lstm, "lstm_cell", self, &[h, c], [w_ih, w_hh], [b_ih, b_hh])?)
    }
}
