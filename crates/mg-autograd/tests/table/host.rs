//! The rows on the host: floats in f64, integers in 128 bits, one element at a time.

use crate::common::{Array, Cell, indices, joint};
use mg_device::DType;
use mg_kernels::Row;
use mg_kernels::rows::Class;

unsafe extern "C" {
    /// The C library's error function, within 1 ulp.
    safe fn erf(x: f64) -> f64;
}

/// aᵇ as integers have it.
fn power(a: i64, b: i64) -> i64 {
    if b < 0 {
        return match a {
            1 => 1,
            -1 => 1 - 2 * (b & 1),
            _ => 0,
        };
    }
    let (mut out, mut square, mut left) = (1i64, a, b);
    while left > 0 {
        if left % 2 == 1 {
            out = out.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left /= 2;
    }
    out
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
    let bits = 8 * dtype.size() as i64;
    let value = match row {
        Row::Floor => number(f(0).floor(), i(0)),
        Row::Ceil => number(f(0).ceil(), i(0)),
        Row::Round => number(f(0).round_ties_even(), i(0)),
        Row::Trunc => number(f(0).trunc(), i(0)),
        Row::Fmod => float(f(0) % f(1)),
        Row::IntPow => Cell::I(power(x[0].i(), x[1].i())),
        Row::BitAnd => Cell::I(x[0].i() & x[1].i()),
        Row::BitOr => Cell::I(x[0].i() | x[1].i()),
        Row::BitXor => Cell::I(x[0].i() ^ x[1].i()),
        Row::Shl if !(0..bits).contains(&x[1].i()) => Cell::I(0),
        Row::Shl => Cell::I(x[0].i() << x[1].i()),
        Row::Shr if !(0..bits).contains(&x[1].i()) => Cell::I(x[0].i() >> 63),
        Row::Shr => Cell::I(x[0].i() >> x[1].i()),
        Row::Sign if dtype.is_bool() => x[0],
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
        (Row::Sqrt | Row::Floor | Row::Ceil | Row::Round | Row::Trunc | Row::Fmod, ..) => 0,
        (_, Class::Float, DType::F64) => 4,
        (_, Class::Float, _) => 1,
        _ => 0,
    }
}

/// The row that the public method comes to for operands of these dtypes, and the dtype in which it takes them; `None`
/// where it refuses them.
pub fn meant(row: Row, dtypes: &[DType]) -> Option<(Row, DType)> {
    let values = if row == Row::Where { &dtypes[1..] } else { dtypes };
    let joined = values.iter().copied().reduce(DType::promote).unwrap();
    let rounds = matches!(row, Row::Floor | Row::Ceil | Row::Round | Row::Trunc);
    let row = match row {
        Row::Sub if values.contains(&DType::Bool) => return None,
        Row::Add | Row::Maximum | Row::BitOr if joined.is_bool() => Row::Or,
        Row::Mul | Row::Minimum | Row::BitAnd if joined.is_bool() => Row::And,
        Row::BitXor if joined.is_bool() => Row::Xor,
        Row::Neg | Row::Pow | Row::Fmod | Row::Shl | Row::Shr if joined.is_bool() => return None,
        Row::Pow if joined.is_int() => Row::IntPow,
        _ if rounds && joined.is_bool() => return None,
        _ if row.class() == Class::Integer && joined.is_float() => return None,
        row => row,
    };
    let dtype = match row {
        // True division, as in Python.
        Row::Div if !joined.is_float() => DType::F32,
        Row::Sign if joined.is_bool() => joined,
        _ if rounds => joined,
        _ => row.operand(joined),
    };
    Some((row, dtype))
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
