//! Sequences on the CPU: rows of a batch on all threads, each with all its steps.

use super::{Cell, Recurrent, RecurrentKind, Sizes};
use crate::cpu::loops::{by_isa, isa};
use crate::cpu::memory;
use crate::cpu::pool::{num_threads, parallel};
use crate::lane::FloatLane;
use crate::library::Operand;
use crate::library::matmul::cpu::entry::Entry;
use crate::library::matmul::cpu::micro::Compute;
use crate::library::matmul::cpu::strips::Strips;
use crate::math::{sigmoid, tanh};
use mg_device::Float;
use std::ops::Range;

/// Multiplications from which threads share the work.
const PARALLEL: usize = 1 << 18;
/// Rows that a task's are a multiple of.
const ROWS: usize = 4;
/// Numbers that are computed side by side.
const LANES: usize = 16;

/// What is computed in.
trait Real: FloatLane + Compute + Entry<Acc = Self> {
    const ZERO: Self;
    const ONE: Self;
}
impl Real for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
}
impl Real for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
}

/// # Safety
///
/// As [`crate::library::Kernel::cpu`], of operands that have these sizes.
pub(super) unsafe fn run(of: &Recurrent, s: Sizes, operands: &[Operand], out: *mut u8) {
    match operands[0].dtype.float() {
        // SAFETY: this function's contract.
        Some(Float::F64) => unsafe { run_as::<f64>(of, s, operands, out.cast()) },
        // SAFETY: as above; other dtypes were refused when the node was made.
        Some(Float::F32 | Float::F16 | Float::BF16) | None => unsafe {
            run_as::<f32>(of, s, operands, out.cast());
        },
    }
}

/// The addresses of a call.
struct Call<T> {
    s: Sizes,
    cell: Cell,
    reverse: bool,
    /// The weight of the state, in the order in which it is multiplied by.
    weight: Strips<T>,
    inputs: *const T,
    /// The state at first, and the cell.
    first: [*const T; 2],
    bias: *const T,
    /// What all steps come to.
    states: *mut T,
    /// The gradient of all outputs, and that of the last cell: null where there is none.
    outputs: *const T,
    last: *const T,
    /// The gradients of gates, and of the states at first, which are those of the state before each step meanwhile.
    slopes: *mut T,
    carried: [*mut T; 2],
}

// SAFETY: the caller of the kernel vouches for the addresses, and tasks write rows of their own.
unsafe impl<T> Sync for Call<T> {}

impl<T> Call<T> {
    /// The rows of a step, counted in the order in which steps are taken, and of that before it.
    fn at(&self, step: usize, row: usize) -> usize {
        let at = if self.reverse { self.s.steps - 1 - step } else { step };
        at * self.s.batch + row
    }

    /// A part of what is kept of all steps.
    fn part(&self, part: usize) -> *mut T {
        self.states.wrapping_add(part * self.s.rows() * self.s.size)
    }

    /// A state before a step: `part` of those that are kept.
    fn before(&self, part: usize, step: usize, row: usize) -> *const T {
        match step {
            0 => self.first[part].wrapping_add(row * self.s.size),
            _ => self.part(part).wrapping_add(self.at(step - 1, row) * self.s.size).cast_const(),
        }
    }
}

type Rows<T> = unsafe fn(&Call<T>, Range<usize>);

unsafe fn run_as<T: Real>(of: &Recurrent, s: Sizes, operands: &[Operand], out: *mut T) {
    let at = |i: usize| operands.get(i).map_or(std::ptr::null(), |o| o.first().cast::<T>());
    // SAFETY: this function's contract.
    unsafe {
        let states = match of.kind {
            RecurrentKind::States => 0,
            RecurrentKind::Outputs => {
                std::ptr::copy_nonoverlapping(at(0), out, s.rows() * s.size);
                return;
            }
            RecurrentKind::Last => {
                let row = if of.reverse { s.rows() } else { 2 * s.rows() - s.batch };
                std::ptr::copy_nonoverlapping(at(0).add(row * s.size), out, s.batch * s.size);
                return;
            }
            RecurrentKind::Slopes { .. } => 1,
        };
        let wide = of.cell.gates() * s.size;
        let (weight, mut g) = (at(states + 1), [std::ptr::null(); 2]);
        let mut carried = [std::ptr::null_mut(); 2];
        let (weight, rows): (Strips<T>, Rows<T>) = match of.kind {
            RecurrentKind::Slopes { last } => {
                g[usize::from(last)] = at(operands.len() - 1);
                let first = out.add(of.cell.slopes() * s.rows() * s.size);
                carried = [first, first.add(if of.cell == Cell::Lstm { s.batch * s.size } else { 0 })];
                let rows = by_isa!(isa(), Rows<T>, fn <U: Real>(call: &Call<U>, rows: Range<usize>) { backward::<U>(call, rows) }, [T]);
                (Strips::of(weight, [wide, s.size], [s.size, 1]), rows)
            }
            RecurrentKind::States | RecurrentKind::Outputs | RecurrentKind::Last => {
                let rows = by_isa!(isa(), Rows<T>, fn <U: Real>(call: &Call<U>, rows: Range<usize>) { forward::<U>(call, rows) }, [T]);
                (Strips::of(weight, [s.size, wide], [1, s.size]), rows)
            }
        };
        let call = Call {
            s,
            cell: of.cell,
            reverse: of.reverse,
            weight,
            inputs: at(states),
            first: [at(states + 2), at(states + 3)],
            bias: if of.cell == Cell::Gru && operands.len() == 2 * states + 4 {
                at(states + 3)
            } else {
                std::ptr::null()
            },
            states: if states == 0 { out } else { at(0).cast_mut() },
            outputs: g[0],
            last: g[1],
            slopes: out,
            carried,
        };
        // A row is the same whichever task has it.
        let threads = if s.rows() * wide * s.size < PARALLEL { 1 } else { num_threads() };
        let each = s.batch.div_ceil(threads).next_multiple_of(ROWS);
        parallel(s.batch.div_ceil(each), &|task| rows(&call, task * each..s.batch.min((task + 1) * each)));
    }
}

/// Some of the numbers from an address on, and zeros.
#[inline(always)]
unsafe fn load<T: Real>(from: *const T, n: usize) -> [T; LANES] {
    // SAFETY: the caller's address is valid for `n` reads, at most [`LANES`].
    unsafe {
        if n == LANES {
            return *from.cast::<[T; LANES]>();
        }
        let mut lanes = [T::ZERO; LANES];
        std::ptr::copy_nonoverlapping(from, lanes.as_mut_ptr(), n);
        lanes
    }
}

#[inline(always)]
unsafe fn store<T: Real>(lanes: &[T; LANES], to: *mut T, n: usize) {
    // SAFETY: the caller's address is valid for `n` writes, at most [`LANES`].
    unsafe {
        if n == LANES {
            *to.cast::<[T; LANES]>() = *lanes;
        } else {
            std::ptr::copy_nonoverlapping(lanes.as_ptr(), to, n);
        }
    }
}

/// Numbers of a row that are computed side by side: where they begin, and how many they are.
fn stretches(size: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..size).step_by(LANES).map(move |at| (at, LANES.min(size - at)))
}

#[inline(always)]
unsafe fn forward<T: Real>(call: &Call<T>, rows: Range<usize>) {
    let (size, count) = (call.s.size, rows.len());
    let wide = call.cell.gates() * size;
    let gates = call.part(call.cell.kept() - call.cell.gates());
    // GRU's products are no gates yet.
    let mut products = memory::filled(if call.cell == Cell::Gru { count * wide } else { 0 }, T::ZERO);
    for step in 0..call.s.steps {
        let first = call.at(step, rows.start);
        // SAFETY: the call's addresses have these rows.
        unsafe {
            let inputs = call.inputs.add(first * wide);
            let out = match call.cell {
                Cell::Lstm => gates.add(first * wide),
                Cell::Gru => products.as_mut_ptr(),
                Cell::Tanh | Cell::Relu => call.part(0).add(first * wide),
            };
            // Sums begin with what is added to them.
            match call.cell {
                Cell::Gru if call.bias.is_null() => {}
                Cell::Gru => (0..count)
                    .for_each(|row| std::ptr::copy_nonoverlapping(call.bias, out.add(row * wide), wide)),
                Cell::Lstm | Cell::Tanh | Cell::Relu => {
                    std::ptr::copy_nonoverlapping(inputs, out, count * wide)
                }
            }
            let add = call.cell != Cell::Gru || !call.bias.is_null();
            call.weight.product(count, call.before(0, step, rows.start), size, out, wide, add);
            for row in 0..count {
                let (row, line) = (first + row, out.add(row * wide));
                let to = call.part(0).add(row * size);
                match call.cell {
                    Cell::Lstm => {
                        let cell = call.before(1, step, rows.start + row - first);
                        lstm(size, line, cell, call.part(1).add(row * size), to);
                    }
                    Cell::Gru => {
                        let state = call.before(0, step, rows.start + row - first);
                        let kept = call.part(1).add(row * 4 * size);
                        gru(size, call.inputs.add(row * wide), line, state, kept, to);
                    }
                    Cell::Tanh | Cell::Relu => simple(call.cell, size, to),
                }
            }
        }
    }
}

/// A row of a step: gates in place, the cell and the output.
#[inline(always)]
unsafe fn lstm<T: Real>(size: usize, gates: *mut T, before: *const T, cell: *mut T, out: *mut T) {
    for (at, n) in stretches(size) {
        // SAFETY: the caller's rows have these elements.
        unsafe {
            let [i, f, g, o] = [0, 1, 2, 3].map(|gate| gates.add(gate * size + at));
            let (mut enter, mut keep, mut new, mut leave) = (load(i, n), load(f, n), load(g, n), load(o, n));
            let mut carried = load(before.add(at), n);
            for lanes in [&mut enter, &mut keep, &mut leave] {
                for x in lanes {
                    *x = sigmoid(*x);
                }
            }
            for x in &mut new {
                *x = tanh(*x);
            }
            for l in 0..LANES {
                carried[l] = keep[l].mul(carried[l]).add(enter[l].mul(new[l]));
            }
            let mut output = carried;
            for x in &mut output {
                *x = tanh(*x);
            }
            for l in 0..LANES {
                output[l] = output[l].mul(leave[l]);
            }
            store(&enter, i, n);
            store(&keep, f, n);
            store(&new, g, n);
            store(&leave, o, n);
            store(&carried, cell.add(at), n);
            store(&output, out.add(at), n);
        }
    }
}

/// A row of a step: gates and the state's share of the last one, and the output.
#[inline(always)]
unsafe fn gru<T: Real>(
    size: usize,
    inputs: *const T,
    products: *const T,
    before: *const T,
    kept: *mut T,
    out: *mut T,
) {
    for (at, n) in stretches(size) {
        // SAFETY: the caller's rows have these elements.
        unsafe {
            let [xr, xz, xn] = [0, 1, 2].map(|gate| load(inputs.add(gate * size + at), n));
            let [hr, hz, share] = [0, 1, 2].map(|gate| load(products.add(gate * size + at), n));
            let old = load(before.add(at), n);
            let (mut reset, mut keep, mut new, mut output) =
                ([T::ZERO; LANES], [T::ZERO; LANES], [T::ZERO; LANES], [T::ZERO; LANES]);
            for l in 0..LANES {
                reset[l] = sigmoid(xr[l].add(hr[l]));
                keep[l] = sigmoid(xz[l].add(hz[l]));
                new[l] = tanh(xn[l].add(reset[l].mul(share[l])));
                output[l] = new[l].add(keep[l].mul(old[l].sub(new[l])));
            }
            for (gate, lanes) in [&reset, &keep, &new, &share].into_iter().enumerate() {
                store(lanes, kept.add(gate * size + at), n);
            }
            store(&output, out.add(at), n);
        }
    }
}

/// A row of a step, in place.
#[inline(always)]
unsafe fn simple<T: Real>(cell: Cell, size: usize, out: *mut T) {
    for (at, n) in stretches(size) {
        // SAFETY: the caller's row has these elements.
        unsafe {
            let mut lanes = load(out.add(at), n);
            if cell == Cell::Relu {
                for x in &mut lanes {
                    // NaN stays.
                    *x = T::select(x.lt(T::ZERO), T::ZERO, *x);
                }
            } else {
                for x in &mut lanes {
                    *x = tanh(*x);
                }
            }
            store(&lanes, out.add(at), n);
        }
    }
}

#[inline(always)]
unsafe fn backward<T: Real>(call: &Call<T>, rows: Range<usize>) {
    let (size, count) = (call.s.size, rows.len());
    let wide = call.cell.slopes() * size;
    let [hidden, cell] = call.carried.map(|carried| carried.wrapping_add(rows.start * size));
    // SAFETY: the call's addresses have these rows.
    unsafe {
        std::slice::from_raw_parts_mut(hidden, count * size).fill(T::ZERO);
        if call.cell == Cell::Lstm {
            match call.last.is_null() {
                true => std::slice::from_raw_parts_mut(cell, count * size).fill(T::ZERO),
                false => std::ptr::copy_nonoverlapping(call.last.add(rows.start * size), cell, count * size),
            }
        }
        for step in (0..call.s.steps).rev() {
            let first = call.at(step, rows.start);
            let slopes = call.slopes.add(first * wide);
            for row in 0..count {
                let (at, own) = (first + row, row * size);
                let line = slopes.add(row * wide);
                let to = hidden.add(own);
                if !call.outputs.is_null() {
                    let g = call.outputs.add(at * size);
                    for (at, n) in stretches(size) {
                        let (mut sum, g) = (load(to.add(at), n), load(g.add(at), n));
                        for l in 0..LANES {
                            sum[l] = sum[l].add(g[l]);
                        }
                        store(&sum, to.add(at), n);
                    }
                }
                match call.cell {
                    Cell::Lstm => {
                        let gates = call.part(2).add(at * 4 * size);
                        let before = call.before(1, step, rows.start + row);
                        lstm_slopes(
                            size,
                            gates,
                            call.part(1).add(at * size),
                            before,
                            to,
                            cell.add(own),
                            line,
                        );
                    }
                    Cell::Gru => {
                        let kept = call.part(1).add(at * 4 * size);
                        gru_slopes(size, kept, call.before(0, step, rows.start + row), to, line);
                    }
                    Cell::Tanh | Cell::Relu => {
                        simple_slopes(call.cell, size, call.part(0).add(at * size), to, line);
                    }
                }
            }
            // What flows to the state before: by its product, and GRU's straight on as well.
            let own = if call.cell == Cell::Gru { size } else { 0 };
            let a = slopes.add(own).cast_const();
            call.weight.product(count, a, wide, hidden, size, call.cell == Cell::Gru);
        }
    }
}

#[inline(always)]
unsafe fn lstm_slopes<T: Real>(
    size: usize,
    gates: *const T,
    cell: *const T,
    before: *const T,
    hidden: *const T,
    carried: *mut T,
    slopes: *mut T,
) {
    for (at, n) in stretches(size) {
        // SAFETY: the caller's rows have these elements.
        unsafe {
            let [i, f, g, o] = [0, 1, 2, 3].map(|gate| load(gates.add(gate * size + at), n));
            let (cell, before) = (load(cell.add(at), n), load(before.add(at), n));
            let (by_output, mut by_cell) = (load(hidden.add(at), n), load(carried.add(at), n));
            let mut found = [[T::ZERO; LANES]; 4];
            for l in 0..LANES {
                let reach = tanh(cell[l]);
                let open = T::ONE.sub(reach.mul(reach));
                let c = by_cell[l].add(by_output[l].mul(o[l]).mul(open));
                found[0][l] = c.mul(g[l]).mul(i[l].mul(T::ONE.sub(i[l])));
                found[1][l] = c.mul(before[l]).mul(f[l].mul(T::ONE.sub(f[l])));
                found[2][l] = c.mul(i[l]).mul(T::ONE.sub(g[l].mul(g[l])));
                found[3][l] = by_output[l].mul(reach).mul(o[l].mul(T::ONE.sub(o[l])));
                by_cell[l] = c.mul(f[l]);
            }
            for (gate, lanes) in found.iter().enumerate() {
                store(lanes, slopes.add(gate * size + at), n);
            }
            store(&by_cell, carried.add(at), n);
        }
    }
}

#[inline(always)]
unsafe fn gru_slopes<T: Real>(size: usize, kept: *const T, before: *const T, hidden: *mut T, slopes: *mut T) {
    for (at, n) in stretches(size) {
        // SAFETY: the caller's rows have these elements.
        unsafe {
            let [r, z, new, share] = [0, 1, 2, 3].map(|gate| load(kept.add(gate * size + at), n));
            let (old, mut by_output) = (load(before.add(at), n), load(hidden.add(at), n));
            let mut found = [[T::ZERO; LANES]; 4];
            for l in 0..LANES {
                let by_new = by_output[l].mul(T::ONE.sub(z[l])).mul(T::ONE.sub(new[l].mul(new[l])));
                found[0][l] = by_new;
                found[1][l] = by_new.mul(share[l]).mul(r[l].mul(T::ONE.sub(r[l])));
                found[2][l] = by_output[l].mul(old[l].sub(new[l])).mul(z[l].mul(T::ONE.sub(z[l])));
                found[3][l] = by_new.mul(r[l]);
                by_output[l] = by_output[l].mul(z[l]);
            }
            for (gate, lanes) in found.iter().enumerate() {
                store(lanes, slopes.add(gate * size + at), n);
            }
            store(&by_output, hidden.add(at), n);
        }
    }
}

#[inline(always)]
unsafe fn simple_slopes<T: Real>(cell: Cell, size: usize, out: *const T, hidden: *const T, slopes: *mut T) {
    for (at, n) in stretches(size) {
        // SAFETY: the caller's rows have these elements.
        unsafe {
            let (y, g) = (load(out.add(at), n), load(hidden.add(at), n));
            let mut found = [T::ZERO; LANES];
            for l in 0..LANES {
                found[l] = match cell {
                    Cell::Relu => T::select(T::ZERO.lt(y[l]), g[l], T::ZERO),
                    Cell::Tanh | Cell::Lstm | Cell::Gru => g[l].mul(T::ONE.sub(y[l].mul(y[l]))),
                };
            }
            store(&found, slopes.add(at), n);
        }
    }
}
