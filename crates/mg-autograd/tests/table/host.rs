//! The rows on the host: floats in f64, integers in 128 bits, one element at a time.

use crate::common::{Array, Cell, Tolerance, indices, joint};
use mg_device::{DType, bf16, f16};
use mg_kernels::Row;
use mg_kernels::rows::RowClass;
use std::f64::consts::PI;

unsafe extern "C" {
    /// The C library's error function, within 1 ulp.
    safe fn erf(x: f64) -> f64;
    /// The others of its functions that the standard library has not or has with less care.
    safe fn erfc(x: f64) -> f64;
    safe fn lgamma(x: f64) -> f64;
    safe fn asinh(x: f64) -> f64;
    safe fn acosh(x: f64) -> f64;
    safe fn atanh(x: f64) -> f64;
}

/// e^(x²)·erfc x: a continued fraction (DLMF 7.9.1) where the product would lose digits.
fn erfcx(x: f64) -> f64 {
    if x < 3.0 {
        // What the square loses by its rounding counts as often as the square is large.
        let square = x * x;
        let lost = if square < 800.0 { x.mul_add(x, -square) } else { 0.0 };
        return square.exp() * (1.0 + lost) * erfc(x);
    }
    let tail = (1..120).rev().fold(0.0, |tail, k| f64::from(k) / 2.0 / (x + tail));
    1.0 / std::f64::consts::PI.sqrt() / (x + tail)
}

/// The number z ≥ 0 with erfc z = c, 0 < c ≤ 1, by Newton's method on the logarithm.
fn inverse_erfc(c: f64) -> f64 {
    let mut z = if c > 0.1 { 0.886 * (1.0 - c) } else { (-c.ln()).sqrt() * 0.9 };
    for _ in 0..60 {
        let scaled = erfcx(z);
        let off = scaled.ln() - z * z - c.ln();
        z += off * scaled * std::f64::consts::PI.sqrt() / 2.0;
    }
    z
}

fn erfinv(x: f64) -> f64 {
    match x.abs() {
        a if a > 1.0 || a.is_nan() => f64::NAN,
        1.0 => f64::INFINITY.copysign(x),
        // The first terms of the series, below which nothing is left.
        a if a < 1e-4 => x * (PI.sqrt() / 2.0) * (1.0 + PI / 12.0 * x * x),
        a if a < 0.5 => {
            let step = |y: f64| y - (erf(y) - a) * PI.sqrt() / 2.0 * (y * y).exp();
            (0..20).fold(a, |y, _| step(y)).copysign(x)
        }
        a => inverse_erfc(1.0 - a).copysign(x),
    }
}

/// The part of the normal distribution that is below x.
fn normal(x: f64) -> f64 {
    0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

fn ndtri(p: f64) -> f64 {
    match p {
        0.0 => f64::NEG_INFINITY,
        1.0 => f64::INFINITY,
        p if !(0.0..=1.0).contains(&p) => f64::NAN,
        p if (p - 0.5).abs() < 0.25 => std::f64::consts::SQRT_2 * erfinv(2.0 * p - 1.0),
        p if p < 0.5 => -std::f64::consts::SQRT_2 * inverse_erfc(2.0 * p),
        p => std::f64::consts::SQRT_2 * inverse_erfc(2.0 * (1.0 - p)),
    }
}

fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::NEG_INFINITY.copysign(-x);
    }
    if x < 0.0 {
        let turns = x - x.round();
        return if turns == 0.0 || x.is_infinite() {
            f64::NAN
        } else {
            digamma(1.0 - x) - PI / (PI * turns).tan()
        };
    }
    let (mut x, mut steps) = (x, 0.0);
    while x < 12.0 {
        (steps, x) = (steps + 1.0 / x, x + 1.0);
    }
    let z = 1.0 / (x * x);
    let numbers = [691.0 / 32760.0, -1.0 / 132.0, 1.0 / 240.0, -1.0 / 252.0, 1.0 / 120.0, -1.0 / 12.0];
    let series = numbers.iter().fold(-1.0 / 12.0, |sum, number| sum * z + number);
    x.ln() - 0.5 / x + z * series - steps
}

/// e^(−|x|)·Iₙ(x) for n of 0 and 1: the power series, or the asymptotic one (DLMF 10.40.1).
fn bessel(n: u32, x: f64) -> f64 {
    let a = x.abs();
    let value = if a < 20.0 {
        let (mut term, mut sum) = (if n == 0 { 1.0 } else { a / 2.0 }, 0.0);
        for k in 1..100 {
            sum += term;
            term *= a * a / 4.0 / f64::from(k) / f64::from(k + n);
        }
        sum * (-a).exp()
    } else {
        let (mut term, mut sum) = (1.0, 0.0);
        for k in 1..20 {
            sum += term;
            let odd = f64::from(2 * k - 1);
            term *= -(f64::from(4 * n * n) - odd * odd) / (8.0 * f64::from(k) * a);
        }
        sum / (2.0 * PI).sqrt() / a.sqrt()
    };
    if n == 1 && x < 0.0 { -value } else { value }
}

/// The next number after a towards b, of f64 or of f32.
fn next_after(dtype: DType, a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if a == b {
        return b;
    }
    match dtype {
        DType::F64 if a < b => a.next_up(),
        DType::F64 => a.next_down(),
        DType::F16 => f16::from_bits(beside(f16::from_f64(a).to_bits(), a < b)).to_f64(),
        DType::BF16 => bf16::from_bits(beside(bf16::from_f64(a).to_bits(), a < b)).to_f64(),
        _ if a < b => f64::from((a as f32).next_up()),
        _ => f64::from((a as f32).next_down()),
    }
}

/// The bits of the next number up or down, of a sign and a magnitude.
fn beside(bits: u16, up: bool) -> u16 {
    match (bits & 0x7fff == 0, (bits >> 15 == 0) == up) {
        (true, _) => 1 | u16::from(!up) << 15,
        (false, true) => bits + 1,
        (false, false) => bits - 1,
    }
}

/// aᵇ as integers have it.
fn power(a: i128, b: i128) -> i128 {
    if b < 0 {
        return match a {
            1 => 1,
            -1 => 1 - 2 * (b & 1),
            _ => 0,
        };
    }
    let (mut out, mut square, mut left) = (1i128, a, b);
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
    // Of floats nobody asks: infinities would leave no room for a sign.
    let i = |i: usize| if dtype.is_float() { 0 } else { x[i].i() };
    let float = |v: f64| Cell::F(v);
    // Two's complement: the low bits, then the dtype's width.
    let wrapped = Cell::I;
    let number =
        |of_float: f64, of_int: i128| if dtype.is_float() { float(of_float) } else { wrapped(of_int) };
    let compared = |of_float: bool, of_int: bool| Cell::B(if dtype.is_float() { of_float } else { of_int });
    let bits = 8 * dtype.size() as i128;
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
        Row::Shr if !(0..bits).contains(&x[1].i()) => Cell::I(x[0].i() >> 127),
        Row::Shr => Cell::I(x[0].i() >> x[1].i()),
        Row::Sign | Row::Abs if dtype.is_bool() => x[0],
        Row::Add => number(f(0) + f(1), i(0) + i(1)),
        Row::Sub => number(f(0) - f(1), i(0) - i(1)),
        Row::Mul => number(f(0) * f(1), i(0).wrapping_mul(i(1))),
        Row::Div if dtype.is_float() => float(f(0) / f(1)),
        Row::Div => wrapped(i(0) / i(1)),
        Row::Pow => float(f(0).powf(f(1))),
        Row::Maximum if f(0).is_nan() || f(1).is_nan() => float(f64::NAN),
        Row::Maximum => number(f(0).max(f(1)), i(0).max(i(1))),
        Row::Minimum if f(0).is_nan() || f(1).is_nan() => float(f64::NAN),
        Row::Minimum => number(f(0).min(f(1)), i(0).min(i(1))),
        Row::Neg => number(-f(0), -i(0)),
        Row::Abs => number(f(0).abs(), i(0).abs()),
        Row::Sign if f(0) == 0.0 => x[0],
        Row::Sign if f(0).is_nan() => number(0.0, 0),
        Row::Sign => number(f(0).signum(), i(0).signum()),
        Row::Square => number(f(0) * f(0), i(0).wrapping_mul(i(0))),
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
        // At the ends it is the limit.
        Row::Gelu => float(f(0).max(-1e3) * normal(f(0))),
        Row::GeluSlope => {
            let x = f(0).clamp(-1e3, 1e3);
            float(normal(x) + x * (-x * x / 2.0).exp() / (2.0 * PI).sqrt())
        }
        Row::Expm1 => float(f(0).exp_m1()),
        Row::Log1p => float(f(0).ln_1p()),
        Row::Exp2 => float(f(0).exp2()),
        Row::Log2 => float(f(0).log2()),
        Row::Log10 => float(f(0).log10()),
        Row::Tan => float(f(0).tan()),
        Row::Asin => float(f(0).asin()),
        Row::Acos => float(f(0).acos()),
        Row::Atan => float(f(0).atan()),
        Row::Atan2 => float(f(0).atan2(f(1))),
        Row::Sinh => float(f(0).sinh()),
        Row::Cosh => float(f(0).cosh()),
        Row::Asinh => float(asinh(f(0))),
        Row::Acosh => float(acosh(f(0))),
        Row::Atanh => float(atanh(f(0))),
        Row::Erfc => float(erfc(f(0))),
        Row::Entr if f(0) == 0.0 => float(0.0),
        Row::Entr if f(0) < 0.0 => float(f64::NEG_INFINITY),
        Row::Entr => float(-f(0) * f(0).ln()),
        Row::Erfcx => float(erfcx(f(0))),
        Row::Erfinv => float(erfinv(f(0))),
        Row::Ndtri => float(ndtri(f(0))),
        Row::Lgamma => float(lgamma(f(0))),
        Row::Digamma => float(digamma(f(0))),
        Row::I0e => float(bessel(0, f(0))),
        Row::I1e => float(bessel(1, f(0))),
        Row::Copysign => float(f(0).copysign(f(1))),
        Row::NextAfter => float(next_after(dtype, f(0), f(1))),
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

/// How far a row's value may be from the reference.
pub fn tolerance(row: Row, dtype: DType) -> Tolerance {
    // What is small below 0 is as exact as the distribution there, which is near 1 beside it.
    let least = match (row, dtype) {
        (Row::Gelu | Row::GeluSlope, DType::F64) => 2e-15,
        (Row::Gelu | Row::GeluSlope, _) => 6.5e-8,
        _ => 0.0,
    };
    Tolerance { ulps: places(row, dtype), least }
}

/// The same in units in the last place of its dtype. The reference of an elementary function is itself off by one or two in f64, and by a rounding in
/// narrower types.
fn places(row: Row, dtype: DType) -> u64 {
    match (row, row.class(), dtype) {
        (Row::Sqrt | Row::Floor | Row::Ceil | Row::Round | Row::Trunc | Row::Fmod, ..) => 0,
        (Row::Copysign | Row::NextAfter, ..) => 0,
        // Near their zeros and poles below 0 the terms of the sum are larger than the result.
        (Row::Lgamma | Row::Digamma, _, DType::F64 | DType::F32) => 1 << 14,
        (Row::Lgamma | Row::Digamma, ..) => 64,
        (Row::Gelu | Row::GeluSlope, _, DType::F32) => 2,
        // The references lose digits themselves.
        (Row::Erfcx | Row::Erfinv | Row::Ndtri | Row::I0e | Row::I1e, _, DType::F64) => 64,
        (Row::Erfc | Row::Asinh | Row::Acosh | Row::Atanh, _, DType::F64) => 8,
        (
            Row::Entr
            | Row::Erfc
            | Row::Erfcx
            | Row::Erfinv
            | Row::Ndtri
            | Row::I0e
            | Row::I1e
            | Row::Asinh
            | Row::Acosh
            | Row::Atanh
            | Row::Sinh
            | Row::Cosh
            | Row::Tan,
            _,
            DType::F32,
        ) => 4,
        (_, RowClass::Float, DType::F64) => 4,
        // Within two of its own, and one by the rounding of the reference.
        (_, RowClass::Float, DType::F32) => 3,
        (_, RowClass::Float, _) => 1,
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
        Row::Abs | Row::Neg | Row::Pow | Row::Fmod | Row::Shl | Row::Shr if joined.is_bool() => return None,
        Row::Pow if joined.is_int() => Row::IntPow,
        Row::NextAfter if !joined.is_float() => return None,
        _ if rounds && joined.is_bool() => return None,
        _ if row.class() == RowClass::Integer && joined.is_float() => return None,
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
