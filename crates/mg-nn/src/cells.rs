//! Recurrent layers by the step: [`RNNCell`], [`LSTMCell`], [`GRUCell`].

use mg_autograd::Tensor;
use mg_device::Result;

use crate::current::{current, current_of};
use crate::module::{Module, told};
use crate::options::{ByName, layer_options};
use crate::{fields, init};

layer_options! {
    /// How a cell is made, with PyTorch's defaults.
    #[derive(Clone, Copy, Debug, PartialEq)]
    CellOptions {
        /// Numbers are added: yes.
        bias: bool = true,
    }
}

/// The options of a cell by name, with their defaults.
pub(crate) fn defaults(layer: &str) -> Option<ByName> {
    Some(match layer {
        "RNNCell" | "LSTMCell" | "GRUCell" => CellOptions::default().by_name(),
        _ => return None,
    })
}

macro_rules! cells {
    ($($(#[doc = $doc:literal])+ $Name:ident $gates:literal;)*) => {$(
        $(#[doc = $doc])+
        ///
        /// As a [`Module`] it answers with the state after one step from zeros.
        pub struct $Name {
            /// Of the input: `[gates · hidden_size, input_size]`.
            pub weight_ih: Tensor,
            /// Of the state: `[gates · hidden_size, hidden_size]`.
            pub weight_hh: Tensor,
            /// `[gates · hidden_size]`.
            pub bias_ih: Option<Tensor>,
            /// `[gates · hidden_size]`.
            pub bias_hh: Option<Tensor>,
        }

        impl $Name {
            /// With biases, in f32, drawn uniformly from ±1/√`hidden_size`.
            ///
            /// # Errors
            ///
            /// Sizes that overflow; memory.
            #[track_caller]
            pub fn new(input_size: usize, hidden_size: usize) -> Result<$Name> {
                $Name::with_options(input_size, hidden_size, CellOptions::default())
            }

            /// With options.
            ///
            /// # Errors
            ///
            /// A dtype that is not floating point; as `new`.
            #[track_caller]
            pub fn with_options(input_size: usize, hidden_size: usize, options: CellOptions) -> Result<$Name> {
                let CellOptions { bias, dtype } = options;
                let (bound, rows) = (init::default_bound(hidden_size), $gates * hidden_size);
                let drawn = |shape: &[usize]| init::uniform_parameter(shape, bound, dtype);
                Ok($Name {
                    weight_ih: drawn(&[rows, input_size])?,
                    weight_hh: drawn(&[rows, hidden_size])?,
                    bias_ih: if bias { Some(drawn(&[rows])?) } else { None },
                    bias_hh: if bias { Some(drawn(&[rows])?) } else { None },
                })
            }

            /// A state of zeros for an input `[n, input_size]` or `[input_size]`.
            #[track_caller]
            fn zeros(&self, input: &Tensor) -> Result<Tensor> {
                let mut shape = input.shape().to_vec();
                if let Some(last) = shape.last_mut() {
                    *last = self.weight_hh.shape()[1];
                }
                mg_autograd::with_default_device(input.device(), || Tensor::zeros(&shape, input.dtype()))?
            }

            fn described(&self) -> String {
                let (input, hidden) = (self.weight_ih.shape()[1], self.weight_hh.shape()[1]);
                let bias = if self.bias_ih.is_some() { "" } else { ", bias=False" };
                format!("{}({input}, {hidden}{bias})", stringify!($Name))
            }
        }
    )*};
}
cells! {
    /// `h′ = tanh(W x + b + U h + c)`: one step of [`RNN`](crate::RNN).
    RNNCell 1;
    /// One step of [`LSTM`](crate::LSTM).
    LSTMCell 4;
    /// One step of [`GRU`](crate::GRU).
    GRUCell 3;
}

macro_rules! one_state {
    ($($Name:ident $op:ident;)*) => {$(
        impl $Name {
            /// The state `[n, hidden_size]` (or without `n`) after a step from one (zeros where none is given).
            ///
            /// # Errors
            ///
            /// An input that is not `[n, input_size]`, a state of another shape.
            #[track_caller]
            pub fn run(&self, input: &Tensor, state: Option<&Tensor>) -> Result<Tensor> {
                let state = state.map_or_else(|| self.zeros(input), |state| Ok(state.clone()))?;
                let (weight_ih, weight_hh) = (current(&self.weight_ih)?, current(&self.weight_hh)?);
                let (bias_ih, bias_hh) = (current_of(&self.bias_ih)?, current_of(&self.bias_hh)?);
                told(self, input.$op(&state, &weight_ih, &weight_hh, bias_ih.as_deref(), bias_hh.as_deref()))
            }
        }

        impl Module for $Name {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                self.run(input, None)
            }
            fields!(weight_ih, weight_hh, bias_ih, bias_hh);
            fn describe(&self) -> String {
                self.described()
            }
        }
    )*};
}
one_state! {
    RNNCell try_rnn_tanh_cell;
    GRUCell try_gru_cell;
}

impl LSTMCell {
    /// State and cell `[n, hidden_size]` (or without `n`) after a step from these (zeros where none are given).
    ///
    /// ```
    /// use mg_autograd::Tensor;
    /// use mg_nn::LSTMCell;
    ///
    /// let cell = LSTMCell::new(8, 16)?;
    /// let x = Tensor::from_vec(vec![0.5f32; 3 * 8], &[3, 8])?;
    /// let (h, c) = cell.run(&x, None)?;
    /// let (next, _) = cell.run(&x, Some((&h, &c)))?;
    /// assert_eq!(*next.shape(), [3, 16]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An input that is not `[n, input_size]`, states of another shape.
    #[track_caller]
    pub fn run(&self, input: &Tensor, state: Option<(&Tensor, &Tensor)>) -> Result<(Tensor, Tensor)> {
        let state = match state {
            Some((state, cell)) => [state.clone(), cell.clone()],
            None => {
                let zeros = self.zeros(input)?;
                [zeros.clone(), zeros]
            }
        };
        let (weight_ih, weight_hh) = (current(&self.weight_ih)?, current(&self.weight_hh)?);
        let (bias_ih, bias_hh) = (current_of(&self.bias_ih)?, current_of(&self.bias_hh)?);
        told(
            self,
            input.try_lstm_cell(&state, &weight_ih, &weight_hh, bias_ih.as_deref(), bias_hh.as_deref()),
        )
    }
}

impl Module for LSTMCell {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        Ok(self.run(input, None)?.0)
    }
    fields!(weight_ih, weight_hh, bias_ih, bias_hh);
    fn describe(&self) -> String {
        self.described()
    }
}
