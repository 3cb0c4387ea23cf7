//! Recurrent layers over sequences of one length: all steps of a layer in one direction.
//!
//! Steps depend on each other and are small, so that a launch each would wait longer than it computes. On the CPU a sequence is one kernel:
//! it has no CUDA half, and who differentiates its gradient composes the layer of operations (which has derivatives of any order)
//! instead.
//!
//! Rows lie step by step: `[steps · batch, features]`. [`RecurrentKind::States`] answers with what all steps have come to. Its history is
//! that of the values that are taken from it, as it is with factorisations and [`Known`](super::Known): [`RecurrentKind::Outputs`] and
//! [`RecurrentKind::Last`].

mod cpu;
#[cfg(test)]
mod tests;

use super::{Described, Kernel, Operand, Shaped, Structure, Target};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use mg_device::{DType, Error, ErrorKind, Result, Shape};

/// What a step makes of its input and the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Cell {
    /// Long short-term memory: gates `i`, `f`, `g`, `o`.
    Lstm,
    /// A gated recurrent unit: gates `r`, `z`, `n`.
    Gru,
    /// `h = tanh(…)`.
    Tanh,
    /// `h = max(…, 0)`.
    Relu,
}

impl Cell {
    /// How many times the hidden size a step's product has.
    pub fn gates(self) -> usize {
        match self {
            Cell::Lstm => 4,
            Cell::Gru => 3,
            Cell::Tanh | Cell::Relu => 1,
        }
    }

    /// How many numbers are kept of a step for each of its outputs: the output; of LSTM the cell and the gates; of GRU the gates, and
    /// what the state adds to the last one.
    fn kept(self) -> usize {
        match self {
            Cell::Lstm => 6,
            Cell::Gru => 5,
            Cell::Tanh | Cell::Relu => 1,
        }
    }

    /// How many gradients a step has for each of its outputs: of all gates; of GRU's last gate that of the whole before those, and
    /// that of the state's share behind them.
    fn slopes(self) -> usize {
        match self {
            Cell::Lstm | Cell::Gru => 4,
            Cell::Tanh | Cell::Relu => 1,
        }
    }

    /// The operation's name.
    pub fn name(self) -> &'static str {
        match self {
            Cell::Lstm => "lstm",
            Cell::Gru => "gru",
            Cell::Tanh => "rnn_tanh",
            Cell::Relu => "rnn_relu",
        }
    }
}

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RecurrentKind {
    /// What all steps come to, `[kept, rows, size]`: operands are the inputs' products `[rows, gates · size]`, the weight of the state
    /// `[gates · size, size]`, the state at first `[batch, size]`, and of LSTM the cell at first, of GRU, where it has biases, that of
    /// the state's product.
    States,
    /// The hidden states of all steps: what [`RecurrentKind::States`] has found, then its operands.
    Outputs,
    /// The cell of LSTM at the end, of the same.
    Last,
    /// The gradients of all gates, of the state at first and, of LSTM, of the cell at first, one after the other: what
    /// [`RecurrentKind::States`] has found, its operands, and the gradient of the outputs, or of the last cell.
    Slopes {
        /// Whether the gradient is that of the last cell.
        last: bool,
    },
}

/// A recurrent layer in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Recurrent {
    /// What a step is.
    pub cell: Cell,
    /// Whether the last step comes first.
    pub reverse: bool,
    /// What is computed.
    pub kind: RecurrentKind,
}

/// The sizes of a call.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    steps: usize,
    batch: usize,
    size: usize,
}

impl Sizes {
    fn rows(&self) -> usize {
        self.steps * self.batch
    }
}

impl Recurrent {
    fn fail<T>(&self, kind: ErrorKind) -> Result<T> {
        Err(Error::new(self.cell.name(), kind))
    }

    /// The operands of [`RecurrentKind::States`] among all.
    fn own<'a, T>(&self, operands: &'a [T]) -> &'a [T] {
        match (self.kind, operands) {
            (RecurrentKind::States, all) => all,
            (RecurrentKind::Outputs | RecurrentKind::Last, [_, own @ ..]) => own,
            (RecurrentKind::Slopes { .. }, [_, own @ .., _]) => own,
            (RecurrentKind::Outputs | RecurrentKind::Last | RecurrentKind::Slopes { .. }, _) => &[],
        }
    }

    fn sizes(&self, operands: &[Shaped]) -> Result<Sizes> {
        let own = self.own(operands);
        let misfit = || self.fail(ErrorKind::Shape(format!("operands of a sequence do not fit: {own:?}")));
        let [inputs, weight, first, rest @ ..] = own else { return misfit() };
        let (&[rows, gates], &[batch, size]) = (inputs.shape.dims(), first.shape.dims()) else {
            return misfit();
        };
        let wide = self.cell.gates() * size;
        let rest_fits = match (self.cell, rest) {
            (Cell::Lstm, [cell]) => cell.shape == first.shape,
            (Cell::Gru, [bias]) => bias.shape[..] == [wide],
            (Cell::Gru | Cell::Tanh | Cell::Relu, []) => true,
            (Cell::Lstm | Cell::Gru | Cell::Tanh | Cell::Relu, _) => false,
        };
        let fits = gates == wide && weight.shape[..] == [wide, size] && batch > 0 && rows % batch == 0;
        if !(fits && rest_fits) {
            return misfit();
        }
        if !matches!(inputs.dtype, DType::F32 | DType::F64) || own.iter().any(|o| o.dtype != inputs.dtype) {
            return self.fail(ErrorKind::DType(format!("takes f32 and f64, got {own:?}")));
        }
        let sizes = Sizes { steps: rows / batch, batch, size };
        let kept = self.kept(&sizes);
        let outer_fits = match (self.kind, operands) {
            (RecurrentKind::States, _) => true,
            (RecurrentKind::Outputs | RecurrentKind::Last, [states, ..]) => states.shape == kept,
            (RecurrentKind::Slopes { last }, [states, .., g]) => {
                states.shape == kept && g.shape[..] == [if last { batch } else { rows }, size]
            }
            (RecurrentKind::Outputs | RecurrentKind::Last | RecurrentKind::Slopes { .. }, _) => false,
        };
        if outer_fits { Ok(sizes) } else { misfit() }
    }

    fn kept(&self, s: &Sizes) -> Shape {
        Shape::of(&[self.cell.kept(), s.rows(), s.size])
    }
}

impl Kernel for Recurrent {
    fn name(&self) -> &'static str {
        self.cell.name()
    }

    fn words(&self) -> [u64; 2] {
        let kind = match self.kind {
            RecurrentKind::States => 0,
            RecurrentKind::Outputs => 1,
            RecurrentKind::Last => 2,
            RecurrentKind::Slopes { last } => 3 + u64::from(last),
        };
        [self.cell as u64 | u64::from(self.reverse) << 8, kind]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let s = self.sizes(operands)?;
        let shape = match self.kind {
            RecurrentKind::States => self.kept(&s),
            RecurrentKind::Outputs => Shape::of(&[s.rows(), s.size]),
            RecurrentKind::Last => Shape::of(&[s.batch, s.size]),
            RecurrentKind::Slopes { .. } => {
                let states = if self.cell == Cell::Lstm { 2 } else { 1 };
                Shape::of(&[(self.cell.slopes() * s.rows() + states * s.batch) * s.size])
            }
        };
        Ok(Shaped { shape, dtype: operands[0].dtype })
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, operands: &[Shaped]) -> Option<u64> {
        let s = self.sizes(operands).ok()?;
        match self.kind {
            RecurrentKind::States | RecurrentKind::Slopes { .. } => {
                Some(2 * (s.rows() * self.cell.gates() * s.size * s.size) as u64)
            }
            RecurrentKind::Outputs | RecurrentKind::Last => None,
        }
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], _: &T, g: &T) -> Result<Option<T>> {
        let last = match self.kind {
            RecurrentKind::Outputs => false,
            RecurrentKind::Last => true,
            // What is known without a history.
            RecurrentKind::States => return Ok(None),
            RecurrentKind::Slopes { .. } => {
                return self.fail(ErrorKind::Gradient("is not differentiated again".into()));
            }
        };
        if i == 0 {
            return Ok(None);
        }
        let shaped = x.iter().map(|x| Shaped { shape: x.sizes(), dtype: x.dtype() });
        let s = self.sizes(&shaped.collect::<smallvec::SmallVec<[Shaped; 6]>>())?;
        let (rows, size) = (s.rows(), s.size);
        // One node for all operands: the graph knows it again.
        let operands: smallvec::SmallVec<[&T; 8]> = x.iter().chain([g]).collect();
        let all = T::kernel(Recurrent { kind: RecurrentKind::Slopes { last }, ..*self }.into(), &operands)?;
        let wide = self.cell.slopes() * size;
        let slopes = all.part(0, 0, rows * wide)?.reshaped(Shape::of(&[rows, wide]))?;
        let at_first = |state: usize| {
            let start = rows * wide + state * s.batch * size;
            all.part(0, start, s.batch * size)?.reshaped(Shape::of(&[s.batch, size]))
        };
        // Those of the state's product.
        let own = || match self.cell {
            Cell::Gru => slopes.part(1, size, 3 * size),
            Cell::Lstm | Cell::Tanh | Cell::Relu => Ok(slopes.clone()),
        };
        Ok(Some(match (i, self.cell) {
            (1, Cell::Gru) => T::joined(&[&slopes.part(1, size, 2 * size)?, &slopes.part(1, 0, size)?], 1)?,
            (1, Cell::Lstm | Cell::Tanh | Cell::Relu) => slopes,
            (2, _) => {
                let outputs = x[0].part(0, 0, 1)?.reshaped(Shape::of(&[rows, size]))?;
                let (first, others) = (&x[3], rows - s.batch);
                let before = match self.reverse {
                    false => T::joined(&[first, &outputs.part(0, 0, others)?], 0)?,
                    true => T::joined(&[&outputs.part(0, s.batch, others)?, first], 0)?,
                };
                own()?.permuted(&[1, 0])?.matmul(&before)?
            }
            (3, _) => at_first(0)?,
            (_, Cell::Lstm) => at_first(1)?,
            (_, Cell::Gru | Cell::Tanh | Cell::Relu) => {
                let wide = 3 * size;
                let ones = g.filled(1.0, Shape::of(&[1, rows]))?;
                ones.matmul(&own()?)?.reshaped(Shape::of(&[wide]))?
            }
        }))
    }

    unsafe fn cpu(&self, operands: &[Operand], out: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        let shaped: smallvec::SmallVec<[Shaped; 8]> = operands.iter().map(Operand::shaped).collect();
        // What the node was made of had these sizes.
        if let Ok(sizes) = self.sizes(&shaped) {
            // SAFETY: this function's contract.
            unsafe { cpu::run(self, sizes, operands, out) };
        }
        Ok(())
    }

    fn cuda(&self, _: &[Described], _: &Shaped, _: Target) -> Result<KernelPlan> {
        self.fail(ErrorKind::Internal("a sequence is one kernel on the CPU alone".into()))
    }
}
