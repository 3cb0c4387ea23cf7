//! Sequences against one number after the other, and their gradients against differences.

use super::{Cell, Recurrent, RecurrentKind};
use crate::library::testing::{Array, assert_close, computed, refused};
use mg_device::{DType, ErrorKind};

const CELLS: [Cell; 4] = [Cell::Lstm, Cell::Gru, Cell::Tanh, Cell::Relu];

/// The operands of a sequence.
#[derive(Clone)]
struct Layer {
    cell: Cell,
    reverse: bool,
    steps: usize,
    batch: usize,
    size: usize,
    operands: Vec<Array>,
}

impl Layer {
    fn some(cell: Cell, reverse: bool, dtype: DType, [steps, batch, size]: [usize; 3]) -> Layer {
        let wide = cell.gates() * size;
        let small = |sizes: &[usize], seed| {
            let some = Array::some(dtype, sizes, seed);
            Array::new(dtype, sizes, some.values.iter().map(|v| v / 4.0))
        };
        let mut operands =
            vec![small(&[steps * batch, wide], 1), small(&[wide, size], 2), small(&[batch, size], 3)];
        match cell {
            Cell::Lstm => operands.push(small(&[batch, size], 4)),
            Cell::Gru => operands.push(small(&[wide], 5)),
            Cell::Tanh | Cell::Relu => {}
        }
        Layer { cell, reverse, steps, batch, size, operands }
    }

    fn kernel(&self, kind: RecurrentKind) -> Recurrent {
        Recurrent { cell: self.cell, reverse: self.reverse, kind }
    }

    /// The outputs of all steps and the last cell, by the definition.
    fn walked(&self) -> (Vec<f64>, Vec<f64>) {
        let (h, wide) = (self.size, self.cell.gates() * self.size);
        let x = |i: usize| &self.operands[i].values;
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let mut outputs = vec![0.0; self.steps * self.batch * h];
        let mut cells = vec![0.0; self.batch * h];
        for b in 0..self.batch {
            let mut state = x(2)[b * h..][..h].to_vec();
            let mut carried = if self.cell == Cell::Lstm { x(3)[b * h..][..h].to_vec() } else { vec![] };
            for step in 0..self.steps {
                let at = if self.reverse { self.steps - 1 - step } else { step } * self.batch + b;
                let input = |gate: usize, j: usize| x(0)[at * wide + gate * h + j];
                let product = |gate: usize, j: usize| -> f64 {
                    let row = gate * h + j;
                    (0..h).map(|k| x(1)[row * h + k] * state[k]).sum::<f64>()
                        + if self.cell == Cell::Gru { x(3)[row] } else { 0.0 }
                };
                let next = (0..h).map(|j| {
                    let both = |gate| input(gate, j) + product(gate, j);
                    match self.cell {
                        Cell::Lstm => {
                            let new = sigmoid(both(0)) * both(2).tanh();
                            carried[j] = sigmoid(both(1)) * carried[j] + new;
                            sigmoid(both(3)) * carried[j].tanh()
                        }
                        Cell::Gru => {
                            let new = (input(2, j) + sigmoid(both(0)) * product(2, j)).tanh();
                            let keep = sigmoid(both(1));
                            (1.0 - keep) * new + keep * state[j]
                        }
                        Cell::Tanh => both(0).tanh(),
                        Cell::Relu => both(0).max(0.0),
                    }
                });
                state = next.collect();
                outputs[at * h..][..h].copy_from_slice(&state);
            }
            if self.cell == Cell::Lstm {
                cells[b * h..][..h].copy_from_slice(&carried);
            }
        }
        (outputs, cells)
    }

    fn states(&self) -> Array {
        computed(&self.kernel(RecurrentKind::States), &self.operands.iter().collect::<Vec<_>>()).unwrap()
    }

    /// What a kernel makes of the states, the operands, and some more.
    fn of_states(&self, kind: RecurrentKind, more: Option<&Array>) -> Array {
        let states = self.states();
        let operands: Vec<&Array> = std::iter::once(&states).chain(&self.operands).chain(more).collect();
        computed(&self.kernel(kind), &operands).unwrap()
    }
}

#[test]
fn steps_follow_each_other() {
    // At the bounds of tiles: rows by 4, columns by 16, 32 and 128.
    for (cell, dtype) in CELLS.into_iter().flat_map(|cell| [(cell, DType::F64), (cell, DType::F32)]) {
        for sizes in [[1, 1, 1], [5, 1, 4], [3, 4, 16], [4, 9, 5], [2, 6, 33], [3, 1, 40]] {
            for reverse in [false, true] {
                let layer = Layer::some(cell, reverse, dtype, sizes);
                let (outputs, cells) = layer.walked();
                let within = if dtype == DType::F64 { 1e-12 } else { 1e-5 };
                assert_close(&layer.of_states(RecurrentKind::Outputs, None).values, &outputs, within);
                if cell == Cell::Lstm {
                    assert_close(&layer.of_states(RecurrentKind::Last, None).values, &cells, within);
                }
            }
        }
    }
}

/// `Σ g · y` of the outputs, or of the last cell.
fn total(layer: &Layer, last: bool, g: &Array) -> f64 {
    let (outputs, cells) = layer.walked();
    let y = if last { cells } else { outputs };
    y.iter().zip(&g.values).map(|(y, g)| y * g).sum()
}

#[test]
fn slopes_are_those_of_differences() {
    const STEP: f64 = 1e-6;
    for (cell, reverse) in CELLS.into_iter().flat_map(|cell| [(cell, false), (cell, true)]) {
        for (last, sizes) in [(false, [3, 5, 3]), (false, [2, 1, 17]), (true, [3, 2, 4])] {
            if last && cell != Cell::Lstm {
                continue;
            }
            let layer = Layer::some(cell, reverse, DType::F64, sizes);
            let [steps, batch, size] = sizes;
            let rows = if last { batch } else { steps * batch };
            let g = Array::some(DType::F64, &[rows, size], 7);
            let found = layer.of_states(RecurrentKind::Slopes { last }, Some(&g)).values;
            let wide = cell.slopes() * size;
            let (slopes, first) = found.split_at(steps * batch * wide);
            // GRU's last gate comes before the others.
            let of_inputs: Vec<f64> = match cell {
                Cell::Gru => slopes
                    .chunks(wide)
                    .flat_map(|row| [&row[size..3 * size], &row[..size]].concat())
                    .collect(),
                Cell::Lstm | Cell::Tanh | Cell::Relu => slopes.to_vec(),
            };
            let differences = |operand: usize| -> Vec<f64> {
                let of = |i: usize| {
                    let moved = |by: f64| {
                        let mut layer = layer.clone();
                        layer.operands[operand].values[i] += by;
                        total(&layer, last, &g)
                    };
                    (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
                };
                (0..layer.operands[operand].values.len()).map(of).collect()
            };
            assert_close(&of_inputs, &differences(0), 1e-7);
            assert_close(&first[..batch * size], &differences(2), 1e-7);
            if cell == Cell::Lstm {
                assert_close(&first[batch * size..], &differences(3), 1e-7);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let layer = Layer::some(Cell::Lstm, false, DType::F32, [2, 3, 4]);
    let kernel = layer.kernel(RecurrentKind::States);
    let [x, weight, first, cell] = &layer.operands[..] else { panic!("four operands") };
    for operands in [&[x, weight, first][..], &[x, weight, first, weight], &[first, weight, x, cell], &[]] {
        assert!(matches!(refused(&kernel, operands), ErrorKind::Shape(_)));
    }
    let wide = Array::some(DType::F64, &[3, 4], 1);
    assert!(matches!(refused(&kernel, &[x, weight, &wide, cell]), ErrorKind::DType(_)));
}
