//! Recurrent layers: [`RNN`], [`LSTM`], [`GRU`].

use mg_autograd::Tensor;
use mg_device::{Error, ErrorKind, Result};

use crate::current::current;
use crate::init;
use crate::module::{Mode, Module, Visitor, told};
use crate::options::{ByName, layer_options};
use crate::utils::rnn::PackedSequence;

layer_options! {
    /// How a recurrent layer is made, with PyTorch's defaults.
    #[derive(Clone, Debug, PartialEq)]
    RecurrentOptions {
        /// Layers, each on the outputs of the one before: 1.
        num_layers: usize = 1,
        /// Numbers are added: yes.
        bias: bool = true,
        /// Inputs and outputs are `[n, length, features]` rather than `[length, n, features]`: no.
        batch_first: bool = false,
        /// The probability that an output of a layer but the last is dropped in training: 0.
        dropout: f64 = 0.0,
        /// Sequences are read backwards too, and outputs have both: no.
        bidirectional: bool = false,
        /// An [`RNN`] has the rectifier where it would have the hyperbolic tangent: no. Others do not ask.
        relu: bool = false,
        /// States of an [`LSTM`] are projected to this size, by `weight_hr_l0`, …: 0, not at all. Others do not take it. Sak, Senior and Beaufays, 2014.
        proj_size: usize = 0,
    }
}

/// The options of a recurrent layer by name, with their defaults.
pub(crate) fn defaults(layer: &str) -> Option<ByName> {
    Some(match layer {
        "RNN" | "LSTM" | "GRU" => RecurrentOptions::default().by_name(),
        _ => return None,
    })
}

/// What recurrent layers share.
struct Layers {
    name: &'static str,
    /// By name: `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, …, with `_reverse` behind those of the other direction.
    weights: Vec<(String, Tensor)>,
    input_size: usize,
    hidden_size: usize,
    options: RecurrentOptions,
    mode: Mode,
}

impl Layers {
    #[track_caller]
    fn new(
        name: &'static str,
        gates: usize,
        [input_size, hidden_size]: [usize; 2],
        options: RecurrentOptions,
    ) -> Result<Layers> {
        let fail = |text: String| Err(Error::new(name, ErrorKind::Value(text)));
        let RecurrentOptions { num_layers, bias, dropout, bidirectional, proj_size, dtype, .. } = options;
        if hidden_size == 0 || num_layers == 0 {
            return fail(format!(
                "takes hidden_size and num_layers above 0, got {hidden_size} and {num_layers}"
            ));
        }
        if !(0.0..=1.0).contains(&dropout) {
            return fail(format!("takes a dropout in [0, 1], got {dropout}"));
        }
        if proj_size != 0 && (name != "LSTM" || proj_size >= hidden_size) {
            return fail(format!("takes a proj_size below hidden_size, for LSTM alone, got {proj_size}"));
        }
        let outward = if proj_size == 0 { hidden_size } else { proj_size };
        let bound = init::default_bound(hidden_size);
        let directions: &[&str] = if bidirectional { &["", "_reverse"] } else { &[""] };
        let mut weights = vec![];
        for layer in 0..num_layers {
            let features = if layer == 0 { input_size } else { outward * directions.len() };
            let rows = gates * hidden_size;
            for suffix in directions {
                let mut part = |part: &str, shape: &[usize]| -> Result<()> {
                    let weight = init::uniform_parameter(shape, bound, dtype)?;
                    weights.push((format!("{part}_l{layer}{suffix}"), weight));
                    Ok(())
                };
                part("weight_ih", &[rows, features])?;
                part("weight_hh", &[rows, outward])?;
                if bias {
                    part("bias_ih", &[rows])?;
                    part("bias_hh", &[rows])?;
                }
                if proj_size != 0 {
                    part("weight_hr", &[proj_size, hidden_size])?;
                }
            }
        }
        Ok(Layers { name, weights, input_size, hidden_size, options, mode: Mode::default() })
    }

    #[track_caller]
    fn parameters(&self) -> Result<Vec<Tensor>> {
        self.weights.iter().map(|(_, weight)| Ok(current(weight)?.into_owned())).collect()
    }

    /// Sizes of a state, and of a cell's.
    fn sizes(&self) -> [usize; 2] {
        let RecurrentOptions { proj_size, .. } = self.options;
        [if proj_size == 0 { self.hidden_size } else { proj_size }, self.hidden_size]
    }

    /// States and cells of zeros beside an input.
    #[track_caller]
    fn zeros(&self, input: &Tensor, batch: usize) -> Result<[Tensor; 2]> {
        let count = self.options.num_layers * if self.options.bidirectional { 2 } else { 1 };
        let [state, cell] = self.sizes().map(|size| {
            let zeros = || Tensor::zeros(&[count, batch, size], input.dtype());
            mg_autograd::with_default_device(input.device(), zeros)?
        });
        Ok([state?, cell?])
    }

    /// The rows of the outputs for packed sequences, and the states at their ends, both in the sequences' order.
    #[track_caller]
    fn packed(
        &self,
        mode: &str,
        input: &PackedSequence,
        states: Option<&[&Tensor]>,
        count: usize,
    ) -> Result<(PackedSequence, Vec<Tensor>)> {
        let (PackedSequence { data, batch_sizes, .. }, orders) = (input, input.orders()?);
        let states: Vec<Tensor> = match (states, &orders) {
            (None, _) => {
                let zeros = self.zeros(data, batch_sizes.first().copied().unwrap_or(0))?;
                zeros.into_iter().take(count).collect()
            }
            (Some(states), None) => states.iter().map(|&state| state.clone()).collect(),
            (Some(states), Some([order, _])) => {
                let batch = batch_sizes.first().copied().unwrap_or(0);
                if let Some(state) = states.iter().find(|s| s.rank() != 3 || s.shape()[1] != batch) {
                    let text = format!("takes states [layers, {batch}, size], got shape {}", state.shape());
                    return Err(Error::new(self.name, ErrorKind::Shape(text)));
                }
                states.iter().map(|state| state.index_select(1, order)).collect::<Result<_>>()?
            }
        };
        let counts: Vec<isize> = batch_sizes.iter().map(|&n| n as isize).collect();
        let RecurrentOptions { num_layers, bias, dropout, bidirectional, .. } = self.options;
        let (weights, training) = (self.parameters()?, self.mode.is_training());
        let mut made = data.try_packed_rnn(
            &counts,
            mode,
            &states,
            &weights,
            bias,
            num_layers,
            dropout,
            training,
            bidirectional,
        )?;
        let mut ends = made.split_off(1);
        if let Some([_, order]) = &orders {
            ends = ends.iter().map(|end| end.index_select(1, order)).collect::<Result<_>>()?;
        }
        if made.len() != 1 || ends.len() != count {
            let text = format!("{} rows and {} states of packed sequences", made.len(), ends.len());
            return Err(Error::new(self.name, ErrorKind::Internal(text)));
        }
        Ok((input.with(made.remove(0)), ends))
    }

    /// The input with a batch, states and cells of zeros for it, and whether it came without one.
    #[track_caller]
    fn start(&self, input: &Tensor) -> Result<(Tensor, [Tensor; 2], bool)> {
        let shape = input.shape();
        let is_alone = shape.rank() == 2;
        if !(is_alone || shape.rank() == 3) || shape.last() != Some(&self.input_size) {
            let text = format!("takes [length, n, {0}] or [length, {0}], got shape {shape}", self.input_size);
            return Err(Error::new(self.name, ErrorKind::Shape(text)));
        }
        let batch_axis = if self.options.batch_first { 0 } else { 1 };
        let input = if is_alone { input.unsqueeze(batch_axis as isize)? } else { input.clone() };
        let zeros = self.zeros(&input, input.shape()[batch_axis])?;
        Ok((input, zeros, is_alone))
    }

    /// An output without the batch that nobody asked for.
    #[track_caller]
    fn finish(&self, output: Tensor, state: Tensor, is_alone: bool) -> Result<(Tensor, Tensor)> {
        if !is_alone {
            return Ok((output, state));
        }
        Ok((
            output.squeeze(Some(&[if self.options.batch_first { 0 } else { 1 }]))?,
            state.squeeze(Some(&[1]))?,
        ))
    }

    /// A state with the axis of a batch.
    #[track_caller]
    fn state(state: &Tensor, is_alone: bool) -> Result<Tensor> {
        if is_alone && state.shape().rank() == 2 { state.unsqueeze(1) } else { Ok(state.clone()) }
    }

    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        self.weights.iter().for_each(|(name, weight)| visitor.param(name.as_str(), weight));
        visitor.mode(&self.mode);
    }

    fn describe(&self) -> String {
        let RecurrentOptions { num_layers, bias, batch_first, dropout, bidirectional, .. } = self.options;
        let mut text = format!("{}({}, {}", self.name, self.input_size, self.hidden_size);
        if self.options.proj_size != 0 {
            text += &format!(", proj_size={}", self.options.proj_size);
        }
        if num_layers != 1 {
            text += &format!(", num_layers={num_layers}");
        }
        for (name, is) in [("bias=False", !bias), ("batch_first=True", batch_first)] {
            text += &if is { format!(", {name}") } else { String::new() };
        }
        if dropout != 0.0 {
            text += &format!(", dropout={dropout}");
        }
        text + if bidirectional { ", bidirectional=True)" } else { ")" }
    }
}

macro_rules! layers {
    ($($(#[doc = $doc:literal])+ $Name:ident $gates:literal;)*) => {$(
        $(#[doc = $doc])+
        ///
        /// As a [`Module`] it answers with the outputs alone.
        pub struct $Name(Layers);

        impl $Name {
            /// One layer with biases, in f32. Weights are drawn uniformly from ±1/√`hidden_size`.
            ///
            /// # Errors
            ///
            /// No hidden state; memory.
            #[track_caller]
            pub fn new(input_size: usize, hidden_size: usize) -> Result<$Name> {
                $Name::with_options(input_size, hidden_size, RecurrentOptions::default())
            }

            /// With options.
            ///
            /// # Errors
            ///
            /// No layers, a dropout outside [0, 1], a dtype that is not floating point; as `new`.
            #[track_caller]
            pub fn with_options(
                input_size: usize,
                hidden_size: usize,
                options: RecurrentOptions,
            ) -> Result<$Name> {
                Layers::new(stringify!($Name), $gates, [input_size, hidden_size], options).map($Name)
            }
        }

        impl Module for $Name {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                Ok(self.run(input, None)?.0)
            }
            fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
                self.0.visit(visitor);
            }
            fn describe(&self) -> String {
                self.0.describe()
            }
        }
    )*};
}
layers! {
    /// `h′ = tanh(W x + b + U h + c)`: Elman, "Finding structure in time", 1990.
    RNN 1;
    /// Long short-term memory: Hochreiter and Schmidhuber, 1997, with the forget gate of Gers, Schmidhuber and Cummins, 2000.
    LSTM 4;
    /// Gated recurrent units: Cho et al., 2014.
    GRU 3;
}

macro_rules! one_state {
    ($($Name:ident $op:ident $rectified:ident $mode:literal $relu:literal;)*) => {$(
        impl $Name {
            /// The outputs `[length, n, hidden]`, twice as many where sequences are read in both directions, and the states at the end
            /// `[layers · directions, n, hidden]`, from the states at the start (zeros where none are given).
            ///
            /// # Errors
            ///
            /// An input that is not `[length, n, input_size]` (or without `n`), a state of another shape.
            #[track_caller]
            pub fn run(&self, input: &Tensor, state: Option<&Tensor>) -> Result<(Tensor, Tensor)> {
                let own = &self.0;
                let (input, [zeros, _], is_alone) = told(self, own.start(input))?;
                let state = state.map_or(Ok(zeros), |state| Layers::state(state, is_alone))?;
                let RecurrentOptions { num_layers, bias, batch_first, dropout, bidirectional, .. } = own.options;
                let training = own.mode.is_training();
                let of = if own.options.relu { Tensor::$rectified } else { Tensor::$op };
                let weights = own.parameters()?;
                let made =
                    of(&input, &state, &weights, bias, num_layers, dropout, training, bidirectional, batch_first);
                let (output, end) = told(self, made)?;
                own.finish(output, end, is_alone)
            }

            /// The outputs for packed sequences, packed as they are, and the states at each one's end `[layers · directions, n, hidden]`, from the
            /// states at the start (zeros where none are given), both in the order in which the sequences were given. `batch_first` says nothing of
            /// these.
            ///
            /// # Errors
            ///
            /// Rows that are not `[rows, input_size]`, a state of another shape.
            #[track_caller]
            pub fn run_packed(
                &self,
                input: &PackedSequence,
                state: Option<&Tensor>,
            ) -> Result<(PackedSequence, Tensor)> {
                let mode = if self.0.options.relu { $relu } else { $mode };
                let given = state.map(|state| [state]);
                let made = self.0.packed(mode, input, given.as_ref().map(|all| &all[..]), 1);
                let (output, mut ends) = told(self, made)?;
                Ok((output, ends.remove(0)))
            }
        }
    )*};
}
one_state! {
    RNN try_rnn_tanh try_rnn_relu "RNN_TANH" "RNN_RELU";
    GRU try_gru try_gru "GRU" "GRU";
}

impl LSTM {
    /// The outputs `[length, n, hidden]`, twice as many where sequences are read in both directions, and the states and cells at the end
    /// `[layers · directions, n, hidden]`, from those at the start (zeros where none are given).
    ///
    /// ```
    /// use mg_autograd::Tensor;
    /// use mg_nn::LSTM;
    ///
    /// let lstm = LSTM::new(8, 16)?;
    /// let x = Tensor::from_vec(vec![0.5f32; 5 * 3 * 8], &[5, 3, 8])?;
    /// let (outputs, (state, cell)) = lstm.run(&x, None)?;
    /// assert_eq!((&outputs.shape()[..], &state.shape()[..]), (&[5, 3, 16][..], &[1, 3, 16][..]));
    /// let (next, _) = lstm.run(&x, Some((&state, &cell)))?;
    /// assert_eq!(next.shape(), outputs.shape());
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An input that is not `[length, n, input_size]` (or without `n`), states of another shape.
    #[track_caller]
    pub fn run(
        &self,
        input: &Tensor,
        state: Option<(&Tensor, &Tensor)>,
    ) -> Result<(Tensor, (Tensor, Tensor))> {
        let own = &self.0;
        let (input, zeros, is_alone) = told(self, own.start(input))?;
        let state = match state {
            None => zeros,
            Some((state, cell)) => [Layers::state(state, is_alone)?, Layers::state(cell, is_alone)?],
        };
        let RecurrentOptions { num_layers, bias, batch_first, dropout, bidirectional, .. } = own.options;
        let training = own.mode.is_training();
        let made = input.try_lstm(
            &state,
            &own.parameters()?,
            bias,
            num_layers,
            dropout,
            training,
            bidirectional,
            batch_first,
        );
        let (output, end, cell) = told(self, made)?;
        let (output, end) = own.finish(output, end, is_alone)?;
        let cell = if is_alone { cell.squeeze(Some(&[1]))? } else { cell };
        Ok((output, (end, cell)))
    }

    /// The outputs for packed sequences, packed as they are, and the states and cells at each one's end `[layers · directions, n, hidden]`, from
    /// those at the start (zeros where none are given), both in the order in which the sequences were given. `batch_first` says nothing of these.
    ///
    /// ```
    /// use mg_autograd::Tensor;
    /// use mg_device::DType;
    /// use mg_nn::LSTM;
    /// use mg_nn::utils::rnn::{pack_sequence, unpack_sequence};
    ///
    /// let lstm = LSTM::new(8, 16)?;
    /// let sequences = [Tensor::zeros(&[2, 8], DType::F32)?, Tensor::zeros(&[5, 8], DType::F32)?];
    /// let (outputs, (state, _)) = lstm.run_packed(&pack_sequence(&sequences, false)?, None)?;
    /// assert_eq!(*state.shape(), [1, 2, 16]);
    /// assert_eq!(*unpack_sequence(&outputs)?[1].shape(), [5, 16]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Rows that are not `[rows, input_size]`, states of another shape.
    #[track_caller]
    pub fn run_packed(
        &self,
        input: &PackedSequence,
        state: Option<(&Tensor, &Tensor)>,
    ) -> Result<(PackedSequence, (Tensor, Tensor))> {
        let given = state.map(|(state, cell)| [state, cell]);
        let made = self.0.packed("LSTM", input, given.as_ref().map(|all| &all[..]), 2);
        let (output, mut ends) = told(self, made)?;
        let cell = ends.remove(1);
        Ok((output, (ends.remove(0), cell)))
    }
}
