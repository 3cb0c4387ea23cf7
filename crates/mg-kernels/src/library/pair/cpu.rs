//! Functions of two numbers on the CPU. The incomplete gamma functions are computed in f64, for f32 too.

use super::PairKind;
use crate::cpu::library::Shared;
use crate::cpu::pool::parallel;
use crate::library::{Operand, Shaped};
use mg_device::DType;
use std::f64::consts::PI;

/// Elements of a task.
const TASK: usize = 1 << 12;

/// # Safety
///
/// As [`crate::library::Kernel::cpu`].
pub(super) unsafe fn run(kind: PairKind, operands: &[Operand], out: *mut u8, result: &Shaped) {
    let [a, b] = operands else { return };
    let n = result.shape.numel();
    // SAFETY: this function's contract: operands and output have n elements of this dtype, which lie densely.
    unsafe {
        match (kind, result.dtype) {
            (PairKind::Gcd, _) => each::<i64>(a, b, out, n, gcd),
            (PairKind::Lower, DType::F64) => each::<f64>(a, b, out, n, lower),
            (PairKind::Lower, _) => each::<f32>(a, b, out, n, |a, x| lower(a.into(), x.into()) as f32),
            (PairKind::Upper, DType::F64) => each::<f64>(a, b, out, n, upper),
            (PairKind::Upper, _) => each::<f32>(a, b, out, n, |a, x| upper(a.into(), x.into()) as f32),
        }
    }
}

/// # Safety
///
/// Operands and output have `n` elements of this type.
unsafe fn each<T: Copy>(a: &Operand, b: &Operand, out: *mut u8, n: usize, f: impl Fn(T, T) -> T + Sync) {
    let places = Shared((a.first().cast::<T>(), b.first().cast::<T>(), out.cast::<T>()));
    let task = |task: usize| {
        let (a, b, out) = places.get();
        for i in task * TASK..((task + 1) * TASK).min(n) {
            // SAFETY: this function's contract; tasks write disjoint ranges.
            unsafe { out.add(i).write(f(*a.add(i), *b.add(i))) };
        }
    };
    match n.div_ceil(TASK) {
        1 => task(0),
        tasks => parallel(tasks, &task),
    }
}

/// By Euclid; that of the smallest i64 and 0 (or itself) wraps.
fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}

/// From where on Stirling's series is right to the last place.
const STIRLING: f64 = 20.0;

/// ln Γ*(a), where Γ(a) = √(2π/a) (a/e)ᵃ Γ*(a), for large a (DLMF 5.11.1).
fn ln_gamma_star(a: f64) -> f64 {
    let square = 1.0 / (a * a);
    (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))) / a
}

/// ln Γ(a) of positive a.
fn ln_gamma(a: f64) -> f64 {
    let (mut a, mut product) = (a, 1.0);
    while a < STIRLING {
        product *= a;
        a += 1.0;
    }
    (a - 0.5) * a.ln() - a + 0.5 * (2.0 * PI).ln() + ln_gamma_star(a) - product.ln()
}

/// xᵃ e⁻ˣ / Γ(a).
fn factor(a: f64, x: f64) -> f64 {
    if a < STIRLING {
        return (a * x.ln() - x - ln_gamma(a)).exp();
    }
    // (x/a)ᵃ eᵃ⁻ˣ √(a/2π) / Γ*(a), in which nothing large is taken from something large.
    let off = (x - a) / a;
    let power = match off.abs() < 0.5 {
        true => a * (off.ln_1p() - off),
        false => a * (x / a).ln() + a - x,
    };
    (power - ln_gamma_star(a)).exp() * (a / (2.0 * PI)).sqrt()
}

/// What is known without computing; `None` elsewhere. Outside of a, x ≥ 0, NaN.
fn known(a: f64, x: f64) -> Option<f64> {
    match () {
        () if a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 => Some(f64::NAN),
        () if a == 0.0 => Some(if x > 0.0 { 1.0 } else { f64::NAN }),
        () if x == 0.0 => Some(0.0),
        () if a.is_infinite() => Some(if x.is_infinite() { f64::NAN } else { 0.0 }),
        () if x.is_infinite() => Some(1.0),
        () => None,
    }
}

/// P(a, x) for x < a + 1: xᵃ e⁻ˣ / Γ(a + 1) · Σ xⁿ / ((a + 1) … (a + n)) (DLMF 8.11.4).
fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut at) = (1.0, 1.0, a);
    while term > sum * f64::EPSILON * 0.5 {
        at += 1.0;
        term *= x / at;
        sum += term;
    }
    factor(a, x) * sum / a
}

/// Q(a, x) for x ≥ a + 1: Legendre's continued fraction (DLMF 8.9.2) by the method of Lentz.
fn fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / b);
    let mut result = d;
    for i in 1..100_000 {
        let i = f64::from(i);
        let weight = -i * (i - a);
        b += 2.0;
        d = weight * d + b;
        d = 1.0 / if d.abs() < TINY { TINY } else { d };
        c = b + weight / c;
        c = if c.abs() < TINY { TINY } else { c };
        result *= d * c;
        if (d * c - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    factor(a, x) * result
}

/// From where on the first terms of Temme's expansion are right to the last place.
const LARGE: f64 = 1e8;

/// Q(a, x) for a that is large (DLMF 8.12.4, with c₀ of 8.12.10).
fn expansion(a: f64, x: f64) -> f64 {
    let off = (x - a) / a;
    let half = match off.abs() < 0.01 {
        // μ − ln(1 + μ), of which the first terms are all that there is.
        true => {
            (2..12).rev().fold(0.0, |sum, k| {
                let k = f64::from(k);
                off * (sum + if k % 2.0 == 0.0 { 1.0 / k } else { -1.0 / k })
            }) * off
        }
        false => off - off.ln_1p(),
    };
    let eta = (2.0 * half).sqrt().copysign(off);
    let first = match off.abs() < 1e-3 {
        true => -1.0 / 3.0 + eta / 12.0,
        false => 1.0 / off - 1.0 / eta,
    };
    let tail = crate::math::erfc(eta * (a / 2.0).sqrt()) / 2.0;
    (tail + (-a * half).exp() / (2.0 * PI * a).sqrt() * first).clamp(0.0, 1.0)
}

fn lower(a: f64, x: f64) -> f64 {
    match known(a, x) {
        Some(p) => p,
        None if a >= LARGE => 1.0 - expansion(a, x),
        None if x < a + 1.0 => series(a, x),
        None => 1.0 - fraction(a, x),
    }
}

fn upper(a: f64, x: f64) -> f64 {
    match known(a, x) {
        Some(p) => 1.0 - p,
        None if a >= LARGE => expansion(a, x),
        None if x < a + 1.0 => 1.0 - series(a, x),
        None => fraction(a, x),
    }
}
