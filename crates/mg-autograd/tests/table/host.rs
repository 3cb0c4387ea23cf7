//! The rows on the host: floats in f64, integers in 128 bits, one element at a time.

use crate::common::{Array, Cell, indices, joint};
use mg_device::DType;
use mg_kernels::Row;
use mg_kernels::rows::Class;

unsafe extern "C" {
    /// The C library's error function, within 1 ulp.
    safe fn erf(x: f64) -> f64;
}

/// What a row gives for operands of `dtype`.
pub fn reference(row: Row, dtype: DType, x: &[Cell]) -> Cell {
    let f = |i: usize| x[i].f();
    let i = |i: usize| x[i].i() as i128;
    let float = |v: f64| Cell::F(v);
    // Two's complement: the low bits, then the dtype's width.
    let wrapped = |v: i128| Cell::I(v as i64);
    let number =
        |of_float: f64, of_int: i128| if dtype.is_float() { float(of_float) } else { wrapped(of_int) };
    let compared = |of_float: bool, of_int: bool| Cell::B(if dtype.is_float() { of_float } else { of_int });
    let value = match row {
        Row::Add => number(f(0) + f(1), i(0) + i(1)),
        Row::Sub => number(f(0) - f(1), i(0) - i(1)),
        Row::Mul => number(f(0) * f(1), i(0) * i(1)),
        Row::Div if dtype.is_float() => float(f(0) / f(1)),
        Row::Div => wrapped(i(0) / i(1)),
        Row::Pow => float(f(0).powf(f(1))),
        Row::Maximum if f(0).is_nan() || f(1).is_nan() => float(f64::NAN),
        Row::Maximum => number(f(0).max(f(1)), i(0).max(i(1))),
        Row::Minimum if f(0).is_nan() || f(1).is_nan() => float(f64::NAN),
        Row::Minimum => number(f(0).min(f(1)), i(0).min(i(1))),
        Row::Neg => number(-f(0), -i(0)),
        Row::Abs => number(f(0).abs(), i(0).abs()),
        Row::Sign if f(0) == 0.0 || f(0).is_nan() => x[0],
        Row::Sign => number(f(0).signum(), i(0).signum()),
        Row::Square => number(f(0) * f(0), i(0) * i(0)),
        Row::Relu => number(if f(0) <= 0.0 { 0.0 } else { f(0) }, i(0).max(0)),
        Row::Gate => number(if f(0) <= 0.0 { 0.0 } else { f(1) }, if i(0) <= 0 { 0 } else { i(1) }),
        Row::Exp => float(f(0).exp()),
        Row::Log => float(f(0).ln()),
        Row::Sqrt => float(f(0).sqrt()),
        Row::Tanh => float(f(0).tanh()),
        // Either form alone loses digits on one side.
        Row::Sigmoid if f(0) < 0.0 => float(f(0).exp() / (1.0 + f(0).exp())),
        Row::Sigmoid => float(1.0 / (1.0 + (-f(0)).exp())),
        Row::Softplus => float(f(0).max(0.0) + (-f(0).abs()).exp().ln_1p()),
        Row::Sin => float(f(0).sin()),
        Row::Cos => float(f(0).cos()),
        Row::Erf => float(erf(f(0))),
        Row::Lt => compared(f(0) < f(1), i(0) < i(1)),
        Row::Le => compared(f(0) <= f(1), i(0) <= i(1)),
        Row::Eq => compared(f(0) == f(1), i(0) == i(1)),
        Row::Ne => compared(f(0) != f(1), i(0) != i(1)),
        Row::And => Cell::B(x[0].b() & x[1].b()),
        Row::Or => Cell::B(x[0].b() | x[1].b()),
        Row::Xor => Cell::B(x[0].b() ^ x[1].b()),
        Row::Not => Cell::B(!x[0].b()),
        Row::Where => {
            if x[0].b() {
                x[1]
            } else {
                x[2]
            }
        }
    };
    value.cast(row.result(dtype))
}

/// How far a row's value may be from the reference, in units in the last place of its dtype. The reference of an
/// elementary function is itself off by one or two in f64, and by a rounding in narrower types.
pub fn tolerance(row: Row, dtype: DType) -> u64 {
    match (row, row.class(), dtype) {
        (Row::Sqrt, ..) => 0,
        (_, Class::Float, DType::F64) => 4,
        (_, Class::Float, _) => 1,
        _ => 0,
    }
}

/// The dtype in which the public method takes operands of these dtypes.
pub fn operand_dtype(row: Row, dtypes: &[DType]) -> DType {
    let values = if row == Row::Where { &dtypes[1..] } else { dtypes };
    let joined = values.iter().copied().reduce(DType::promote).unwrap();
    match row {
        // True division, as in Python.
        Row::Div if !joined.is_float() => DType::F32,
        _ => row.operand(joined),
    }
}

/// A row on arrays: broadcasting, promotion and all.
pub fn evaluate(row: Row, x: &[&Array], dtype: DType) -> Array {
    let shape = joint(&x.iter().map(|a| a.shape.as_slice()).collect::<Vec<_>>());
    let wide: Vec<Array> = x
        .iter()
        .enumerate()
        .map(
            |(i, a)| {
                if row == Row::Where && i == 0 { a.expand(&shape) } else { a.cast(dtype).expand(&shape) }
            },
        )
        .collect();
    let data = (0..indices(&shape).len())
        .map(|at| reference(row, dtype, &wide.iter().map(|a| a.data[at]).collect::<Vec<_>>()))
        .collect();
    Array { shape, data, dtype: row.result(dtype) }
}
