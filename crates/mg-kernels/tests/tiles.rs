//! Tiles by themselves: one program over spaces of many sizes, however its operands lie, on any number of threads, whole or piece by
//! piece, beside sums over the elements one by one.

use mg_device::{DType, MAX_RANK};
use mg_kernels::args::{Args, InputArg};
use mg_kernels::cpu::compile::{Compiled, RESIDENT, TILE};
use mg_kernels::cpu::pool::{num_threads, set_num_threads};
use mg_kernels::finding::Finding;
use mg_kernels::{Class, Inst, Operand, Over, Program, ReduceKind, Row, Source, Val, Value};

/// Sizes at the bounds of tiles, of rows that stay, and of what threads share.
const COLUMNS: [usize; 11] =
    [1, 2, 31, TILE - 1, TILE, TILE + 1, 3 * TILE, RESIDENT - 1, RESIDENT, RESIDENT + 1, 70_000];
const ROWS: [usize; 5] = [1, 2, 3, 65, 300];

/// How an operand lies over `rows × columns`.
#[derive(Clone, Copy, Debug)]
enum Lies {
    Densely,
    Turned,
    EverySecond,
    Backwards,
    ByRow,
    ByColumn,
    Alone,
}

const ALL: [Lies; 7] = [
    Lies::Densely,
    Lies::Turned,
    Lies::EverySecond,
    Lies::Backwards,
    Lies::ByRow,
    Lies::ByColumn,
    Lies::Alone,
];

impl Lies {
    /// Strides, and where the element at index zero is.
    fn strides(self, rows: usize, columns: usize) -> ([isize; 2], usize) {
        let (r, c) = (rows as isize, columns as isize);
        match self {
            Lies::Densely => ([c, 1], 0),
            Lies::Turned => ([1, r], 0),
            Lies::EverySecond => ([2 * c, 2], 0),
            Lies::Backwards => ([-c, -1], rows * columns - 1),
            Lies::ByRow => ([1, 0], 0),
            Lies::ByColumn => ([0, 1], 0),
            Lies::Alone => ([0, 0], 0),
        }
    }
}

struct Case {
    rows: usize,
    columns: usize,
    /// Small whole numbers: every sum of them is exact.
    data: Vec<f32>,
    lies: [Lies; 2],
}

impl Case {
    fn new(rows: usize, columns: usize, lies: [Lies; 2]) -> Case {
        let data = (0..2 * rows * columns).map(|i| ((i * 7919) >> 3) as f32 % 7.0 - 3.0).collect();
        Case { rows, columns, data, lies }
    }

    fn operand(&self, operand: usize, row: usize, column: usize) -> f32 {
        let ([r, c], first) = self.lies[operand].strides(self.rows, self.columns);
        self.data[(first as isize + row as isize * r + column as isize * c) as usize]
    }

    /// `x · y + x`.
    fn element(&self, row: usize, column: usize) -> f32 {
        let [x, y] = [0, 1].map(|operand| self.operand(operand, row, column));
        x * y + x
    }

    /// A program that begins with `x · y + x`, its value 3.
    fn program(&self) -> Program {
        let inputs = self.lies.map(|lies| {
            let mut strides = [0; MAX_RANK];
            strides[..2].copy_from_slice(&lies.strides(self.rows, self.columns).0);
            Operand { source: Source::Buffer, dtype: DType::F32, strides }
        });
        let space = vec![self.rows, self.columns];
        let mut program = Program { space, outer: 1, inputs: inputs.to_vec(), ..Program::default() };
        push(&mut program, Inst::Input(0), DType::F32);
        push(&mut program, Inst::Input(1), DType::F32);
        push(&mut program, Inst::Map(Row::Mul, [0, 1, 0]), DType::F32);
        push(&mut program, Inst::Map(Row::Add, [2, 0, 0]), DType::F32);
        program
    }

    fn inputs(&self) -> Vec<InputArg> {
        let place = |lies: Lies| &raw const self.data[lies.strides(self.rows, self.columns).1];
        self.lies.iter().map(|&lies| InputArg { ptr: place(lies).cast(), base: 0, seed: 0 }).collect()
    }

    /// Runs a program whose outputs are of f32 or of four bytes, and answers with their elements.
    fn run(&self, program: &Program) -> Vec<Vec<f32>> {
        let compiled = Compiled::new(program, &[]).unwrap();
        let lengths = program.outputs.iter().map(|&(_, class)| program.len_of(class));
        let mut outputs: Vec<Vec<f32>> = lengths.map(|n| vec![f32::NAN; n]).collect();
        let places: Vec<*mut u8> = outputs.iter_mut().map(|o| o.as_mut_ptr().cast()).collect();
        let args = Args { inputs: &self.inputs(), consts: &[], outputs: &places };
        // SAFETY: operands and outputs are as large as the program's space says.
        unsafe { compiled.run(&args) }.unwrap();
        outputs
    }
}

fn push(program: &mut Program, inst: Inst, dtype: DType) -> Val {
    program.values.push(Value { inst, dtype });
    (program.values.len() - 1) as Val
}

#[test]
fn elements_are_computed_wherever_operands_lie() {
    for (at, columns) in COLUMNS.into_iter().enumerate() {
        for (nth, rows) in ROWS.into_iter().enumerate().filter(|(_, rows)| rows * columns <= 1 << 19) {
            let lies = [ALL[(at + nth) % 7], ALL[(at * 3 + nth + 1) % 7]];
            let case = Case::new(rows, columns, lies);
            let mut program = case.program();
            program.outputs.push((3, Class::Full));
            let got = &case.run(&program)[0];
            for (i, &element) in got.iter().enumerate() {
                let want = case.element(i / columns, i % columns);
                assert_eq!(element, want, "{rows} x {columns}, {lies:?}, at {i}");
            }
        }
    }
}

#[test]
fn pieces_are_what_the_whole_is() {
    let (rows, columns) = (7, 2 * TILE + 5);
    for lies in [[Lies::Densely, Lies::Turned], [Lies::ByRow, Lies::Backwards], [Lies::ByColumn, Lies::Alone]]
    {
        let case = Case::new(rows, columns, lies);
        let mut program = case.program();
        program.outputs.push((3, Class::Full));
        let compiled = Compiled::new(&program, &[]).unwrap();
        assert!(compiled.is_elementwise() && compiled.len() == rows * columns);
        let mut out = vec![f32::NAN; rows * columns];
        let inputs = case.inputs();
        let mut from = 0;
        for piece in [1, 3, TILE - 1, TILE, 1, columns, 5, 3 * columns, usize::MAX].into_iter() {
            let to = from + piece.min(rows * columns - from);
            let args = Args { inputs: &inputs, consts: &[], outputs: &[out.as_mut_ptr().cast()] };
            // SAFETY: the operands and the output are as large as the space.
            unsafe { compiled.run_range(&args, from..to) }.unwrap();
            // What is beyond the piece is not touched.
            assert!(out[from..to].iter().all(|v| !v.is_nan()) && out[to..].iter().all(|v| v.is_nan()));
            from = to;
        }
        assert_eq!(out, case.run(&program)[0], "{lies:?}");
    }
}

#[test]
fn rows_are_reduced_and_read_again_short_or_long() {
    for columns in COLUMNS {
        for rows in ROWS.into_iter().filter(|rows| rows * columns <= 1 << 18) {
            let case = Case::new(rows, columns, [Lies::Densely, Lies::ByColumn]);
            let mut program = case.program();
            let sum = push(&mut program, Inst::Reduce(ReduceKind::Sum, Over::Inner, 3), DType::F32);
            let less = push(&mut program, Inst::Map(Row::Sub, [3, sum, 0]), DType::F32);
            let most = push(&mut program, Inst::Reduce(ReduceKind::Max, Over::Inner, less), DType::F32);
            let twice = push(&mut program, Inst::Map(Row::Add, [most, most, 0]), DType::F32);
            program.outputs.extend([(less, Class::Full), (sum, Class::Row), (twice, Class::Row)]);
            let got = case.run(&program);
            for row in 0..rows {
                let elements: Vec<f32> = (0..columns).map(|column| case.element(row, column)).collect();
                let sum: f32 = elements.iter().sum();
                let most = elements.iter().map(|e| e - sum).fold(f32::NEG_INFINITY, f32::max);
                assert_eq!((got[1][row], got[2][row]), (sum, 2.0 * most), "{rows} x {columns}, row {row}");
                let less: Vec<f32> = elements.iter().map(|e| e - sum).collect();
                assert_eq!(got[0][row * columns..(row + 1) * columns], less, "{rows} x {columns}, row {row}");
            }
        }
    }
}

#[test]
fn columns_and_everything_are_added_up() {
    for columns in COLUMNS {
        for rows in ROWS.into_iter().filter(|rows| rows * columns <= 1 << 18) {
            let case = Case::new(rows, columns, [Lies::Turned, Lies::Densely]);
            let mut program = case.program();
            let sums = push(&mut program, Inst::Reduce(ReduceKind::Sum, Over::Outer, 3), DType::F32);
            program.outputs.push((sums, Class::Column));
            let got = &case.run(&program)[0];
            let column = |c: usize| (0..rows).map(|row| case.element(row, c)).sum::<f32>();
            assert_eq!(*got, (0..columns).map(column).collect::<Vec<_>>(), "{rows} x {columns}");

            let mut program = case.program();
            let sum = push(&mut program, Inst::Reduce(ReduceKind::Sum, Over::All, 3), DType::F32);
            let root = push(&mut program, Inst::Map(Row::Abs, [sum; 3]), DType::F32);
            program.outputs.extend([(sum, Class::Total), (root, Class::Total), (3, Class::Full)]);
            let got = case.run(&program);
            let all: f32 = (0..columns).map(column).sum();
            assert_eq!((got[0][0], got[1][0]), (all, all.abs()), "{rows} x {columns}");
            assert_eq!(got[2][rows * columns - 1], case.element(rows - 1, columns - 1));
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let case = Case::new(300, 3 * TILE + 1, [Lies::Densely, Lies::Turned]);
    let third = |inst| {
        let mut program = case.program();
        let x = push(&mut program, Inst::Map(Row::Exp, [0; 3]), DType::F32);
        let y = push(&mut program, inst, DType::F32);
        (program, x, y)
    };
    let before = num_threads();
    for over in [Over::Inner, Over::Outer, Over::All] {
        let (mut program, x, sum) = third(Inst::Reduce(ReduceKind::Sum, over, 4));
        let class = program.classes()[usize::from(sum)];
        program.outputs.extend([(sum, class), (x, Class::Full)]);
        let [one, two, five] = [1, 2, 5].map(|threads| {
            set_num_threads(threads);
            case.run(&program)
        });
        assert!(one == two && two == five, "{over:?}");
    }
    set_num_threads(before);
}

/// Bytes of outputs over rows: of what is reduced in rows of `x`, and of deviations from the largest times a number of the row.
fn of_rows(
    dtype: DType,
    rows: usize,
    columns: usize,
    lies: Lies,
    data: &[u64],
    kind: ReduceKind,
) -> Vec<Vec<u8>> {
    let operand = |dtype, strides: [isize; 2]| {
        let mut all = [0; MAX_RANK];
        all[..2].copy_from_slice(&strides);
        Operand { source: Source::Buffer, dtype, strides: all }
    };
    let ([down, along], _) = lies.strides(rows, columns);
    let inputs = vec![operand(dtype, [down, along]), operand(dtype, [1, 0])];
    let mut program = Program { space: vec![rows, columns], outer: 1, inputs, ..Program::default() };
    let x = push(&mut program, Inst::Input(0), dtype);
    let y = push(&mut program, Inst::Input(1), dtype);
    let found = push(&mut program, Inst::Reduce(kind, Over::Inner, x), kind.result(dtype));
    let most = push(&mut program, Inst::Reduce(ReduceKind::Max, Over::Inner, x), dtype);
    let less = push(&mut program, Inst::Map(Row::Sub, [x, most, 0]), dtype);
    let times = push(&mut program, Inst::Map(Row::Mul, [less, y, 0]), dtype);
    let deviation =
        push(&mut program, Inst::Reduce(ReduceKind::Sum, Over::Inner, times), ReduceKind::Sum.result(dtype));
    program.outputs.extend([(found, Class::Row), (deviation, Class::Row)]);
    let mut lying = vec![0u8; rows * columns * 8];
    for (i, bits) in data.iter().enumerate() {
        let at = (i / columns) as isize * down + (i % columns) as isize * along;
        let size = dtype.size();
        lying[at as usize * size..][..size].copy_from_slice(&bits.to_ne_bytes()[..size]);
    }
    let mut outputs = vec![vec![0u8; rows * 8]; 2];
    let places: Vec<*mut u8> = outputs.iter_mut().map(|o| o.as_mut_ptr()).collect();
    let factors: Vec<u8> =
        data[..rows].iter().flat_map(|bits| bits.to_ne_bytes()[..dtype.size()].to_vec()).collect();
    let place = |of: &[u8]| InputArg { ptr: of.as_ptr(), base: 0, seed: 0 };
    let args = Args { inputs: &[place(&lying), place(&factors)], consts: &[], outputs: &places };
    // SAFETY: operands and outputs are as large as the program's space says.
    unsafe { Compiled::new(&program, &[]).unwrap().run(&args) }.unwrap();
    outputs
}

#[test]
fn rows_that_lie_by_columns_have_the_bits_of_dense_ones() {
    let kinds = [
        ReduceKind::Sum,
        ReduceKind::Prod,
        ReduceKind::Max,
        ReduceKind::Min,
        ReduceKind::ArgMax,
        ReduceKind::ArgMin,
    ];
    let odd = [f32::NAN, -0.0, 0.0, f32::INFINITY, f32::NEG_INFINITY, 1e-40];
    for (rows, columns) in [(32, 16), (33, 65), (65, 511), (300, 512), (64, 513), (1100, 40), (40, 5000)] {
        for dtype in
            [DType::F32, DType::F64, DType::F16, DType::BF16, DType::I64, DType::I32, DType::U64, DType::U8]
        {
            let data: Vec<u64> = (0..rows * columns)
                .map(|i| {
                    let hash = (i as u64 + 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
                    let row = i / columns;
                    let v = match hash as usize % 97 {
                        at if at < odd.len() && row % 3 == at % 3 => odd[at],
                        _ => (hash % 2000) as f32 / 1000.0 - 1.0,
                    };
                    match dtype {
                        DType::F32 => v.to_bits().into(),
                        DType::F64 => f64::from(v).to_bits(),
                        DType::F16 => half::f16::from_f32(v).to_bits().into(),
                        DType::BF16 => half::bf16::from_f32(v).to_bits().into(),
                        _ => hash.wrapping_sub(1 << 30),
                    }
                })
                .collect();
            for kind in kinds {
                let [dense, turned] = [Lies::Densely, Lies::Turned]
                    .map(|lies| of_rows(dtype, rows, columns, lies, &data, kind));
                for (which, (dense, turned)) in dense.iter().zip(&turned).enumerate() {
                    let result = if which == 0 { kind.result(dtype) } else { dtype };
                    let same = |(a, b): (&[u8], &[u8])| {
                        let is_nan = |v: &[u8]| match result {
                            DType::F32 => f32::from_ne_bytes(v.try_into().unwrap()).is_nan(),
                            DType::F64 => f64::from_ne_bytes(v.try_into().unwrap()).is_nan(),
                            DType::F16 => half::f16::from_ne_bytes(v.try_into().unwrap()).is_nan(),
                            DType::BF16 => half::bf16::from_ne_bytes(v.try_into().unwrap()).is_nan(),
                            _ => false,
                        };
                        a == b || is_nan(a) && is_nan(b)
                    };
                    let size = result.size();
                    let at = dense.chunks(size).zip(turned.chunks(size)).position(|pair| !same(pair));
                    assert_eq!(at, None, "{kind:?} of {dtype:?}, {rows} x {columns}, result {which}");
                }
            }
        }
    }
}

#[test]
fn a_check_tells_of_the_first_that_it_refuses() {
    let (rows, columns) = (5, TILE + 7);
    let mut data: Vec<i64> = vec![3; rows * columns];
    (data[2 * columns + 9], data[columns + 1], data[4 * columns]) = (-1, 7, 12);
    let mut strides = [0; MAX_RANK];
    strides[..2].copy_from_slice(&[columns as isize, 1]);
    let input = Operand { source: Source::Buffer, dtype: DType::I64, strides };
    let mut program =
        Program { space: vec![rows, columns], outer: 1, inputs: vec![input], ..Program::default() };
    push(&mut program, Inst::Input(0), DType::I64);
    let guard = push(&mut program, Inst::Guard(0, 0), DType::I64);
    program.outputs.push((guard, Class::Full));
    let compiled = Compiled::new(&program, &[]).unwrap();
    let mut out = vec![0i64; rows * columns];
    let inputs = [InputArg { ptr: data.as_ptr().cast(), base: 0, seed: 0 }];
    let args = Args { inputs: &inputs, consts: &[7], outputs: &[out.as_mut_ptr().cast()] };
    // SAFETY: the operand and the output are as large as the space.
    let refused = unsafe { compiled.run(&args) }.unwrap_err();
    assert_eq!(
        refused.iter().map(|r| (r.value, r.found)).collect::<Vec<_>>(),
        [(guard, Finding::Index { index: 7, size: 7 })]
    );
}

#[test]
fn an_empty_space_is_nothing_and_reduces_to_what_nothing_does() {
    for (rows, columns) in [(0, 5), (5, 0)] {
        let case = Case { rows, columns, data: vec![0.0], lies: [Lies::Densely, Lies::Alone] };
        let mut program = case.program();
        let sum = push(&mut program, Inst::Reduce(ReduceKind::Sum, Over::All, 3), DType::F32);
        program.outputs.extend([(3, Class::Full), (sum, Class::Total)]);
        let got = case.run(&program);
        assert_eq!((got[0].len(), &got[1][..]), (0, &[0.0][..]));
    }
}
