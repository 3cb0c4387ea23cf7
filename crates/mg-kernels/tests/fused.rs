//! Loops of machine code against the table's own loops: random programs over f32, the same bits.

use mg_device::{DType, MAX_RANK};
use mg_kernels::args::{Args, InputArg};
use mg_kernels::cpu::compile::{Compiled, set_fuse_from};
use mg_kernels::rows::RowClass;
use mg_kernels::{Class, Inst, Operand, Over, Program, ReduceKind, Row, Source, Val, Value};

/// A generator of small numbers (Marsaglia's xorshift64*).
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    fn float(&mut self) -> f32 {
        match self.below(24) {
            0 => 0.0,
            1 => -0.0,
            2 => f32::INFINITY,
            3 => f32::NAN,
            4 => 1e-42,
            5 => -1e30,
            _ => self.below(2000) as f32 / 250.0 - 4.0,
        }
    }
}

/// A program of `n` random rows over a space of `rows × columns`, with operands over elements, rows and columns.
fn program(rng: &mut Rng, rows: usize, columns: usize, n: usize) -> Program {
    let mut program = Program { space: vec![rows, columns], outer: 1, ..Program::default() };
    for i in 0..1 + rng.below(13) {
        let mut strides = [0isize; MAX_RANK];
        (strides[0], strides[1]) = match i % 4 {
            1 => (1, 0),
            2 => (0, 1),
            _ => (columns as isize, 1),
        };
        program.inputs.push(Operand { source: Source::Buffer, dtype: DType::F32, strides });
        program.values.push(Value { inst: Inst::Input(i as u16), dtype: DType::F32 });
    }
    program.values.push(Value { inst: Inst::Const(0), dtype: DType::F32 });
    let reduces = rng.below(3) == 0;
    for _ in 0..n {
        let of = |program: &Program, dtype: DType, rng: &mut Rng| {
            let fit: Vec<Val> = (0..program.values.len() as Val)
                .filter(|&v| program.values[v as usize].dtype == dtype)
                .collect();
            fit.get(rng.below(fit.len().max(1))).copied()
        };
        if reduces && rng.below(8) == 0 {
            let Some(a) = of(&program, DType::F32, rng) else { continue };
            if program.classes()[a as usize] == Class::Full {
                let kind = [ReduceKind::Sum, ReduceKind::Max][rng.below(2)];
                program.values.push(Value { inst: Inst::Reduce(kind, Over::Inner, a), dtype: DType::F32 });
            }
            continue;
        }
        let row = Row::ALL[rng.below(Row::ALL.len())];
        // It shows the sign of a NaN, which is whatever the instruction makes that was chosen for the operation before.
        if row == Row::Copysign {
            continue;
        }
        if row.class() == RowClass::Integer {
            continue;
        }
        let mut args = [0; 3];
        let mut complete = true;
        for (i, arg) in args.iter_mut().enumerate() {
            let is_truth = row.class() == RowClass::Logic || row.class() == RowClass::Select && i == 0;
            match of(&program, if is_truth { DType::Bool } else { DType::F32 }, rng) {
                Some(v) => *arg = v,
                None => complete = false,
            }
        }
        if complete {
            program.values.push(Value { inst: Inst::Map(row, args), dtype: row.result(DType::F32) });
        }
    }
    let (classes, last) = (program.classes(), program.values.len() - 1);
    for (v, &class) in classes.iter().enumerate() {
        if class == Class::Full && (v == last || rng.below(5) == 0) {
            program.outputs.push((v as Val, Class::Full));
        }
    }
    if program.outputs.is_empty() {
        program.outputs.push((0, Class::Full));
    }
    program
}

/// Runs a program, compiled with loops of its own from `fuse_from` elements; NaNs count as one.
fn run(program: &Program, data: &[Vec<f32>], fuse_from: usize) -> Vec<Vec<u32>> {
    set_fuse_from(fuse_from);
    let compiled = Compiled::new(program, &[]).unwrap();
    let inputs: Vec<InputArg> =
        data.iter().map(|d| InputArg { ptr: d.as_ptr().cast(), base: 0, seed: 0 }).collect();
    let n: usize = program.space.iter().product();
    let mut outputs: Vec<Vec<u64>> =
        program.outputs.iter().map(|_| vec![0x5a5a_5a5a_5a5a_5a5a; n.div_ceil(2) + 1]).collect();
    let places: Vec<*mut u8> = outputs.iter_mut().map(|o| o.as_mut_ptr().cast()).collect();
    let consts = [1.5f32.to_bits() as u64];
    // SAFETY: operands and outputs are as large as the program's space says.
    unsafe { compiled.run(&Args { inputs: &inputs, consts: &consts, outputs: &places }) }.unwrap();
    let clean = |bits: u32| if f32::from_bits(bits).is_nan() { 0x7fc0_0000 } else { bits };
    let read = |(out, &(v, _)): (&Vec<u64>, &(Val, Class))| -> Vec<u32> {
        let is_bool = program.values[v as usize].dtype == DType::Bool;
        // One element further, which must be as it was.
        (0..n + 1)
            .map(|i| match is_bool {
                true => out[i / 8].to_le_bytes()[i % 8] as u32,
                false => clean((out[i / 2] >> (i % 2 * 32)) as u32),
            })
            .collect()
    };
    outputs.iter().zip(&program.outputs).map(read).collect()
}

#[test]
fn loops_of_machine_code_give_the_bits_of_the_table_s_loops() {
    for seed in 1..1500u64 {
        let mut rng = Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let rows = [1, 2, 3, 7, 40][rng.below(5)];
        let columns = [1, 2, 15, 16, 17, 33, 100, 1025, 4100][rng.below(9)];
        let n = 1 + rng.below(40);
        let program = program(&mut rng, rows, columns, n);
        let data: Vec<Vec<f32>> =
            program.inputs.iter().map(|_| (0..rows * columns).map(|_| rng.float()).collect()).collect();
        let (with, without) = (run(&program, &data, 0), run(&program, &data, usize::MAX));
        assert_eq!(with, without, "seed {seed}: {program:#?}");
    }
}
