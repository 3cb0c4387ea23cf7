//! Division and root of what a thread computes once a row, or once a launch, in f32, by instructions alone.
//!
//! `div.rn.f32` and `sqrt.rn.f32` are a few instructions and a function for what is rare, which the assembler compiles for every program that has one: 7 to 10 ms, and 5, of
//! the 20 that a text of rows takes without. Here quotient and root are made in f64, as good as exactly, and rounded once. No quotient of two f32, and no root of one, is nearer to the
//! middle between two f32 than 2⁻⁵¹ of itself (but in it, below the normal numbers: that quotient is an f64, and found exactly), so that they are the same bits.

use super::lanes::{Pred, select};
use super::ptx::{Kind, Op, Opnd, op1, op2, op3};
use crate::rows::Row;

/// Whether GPUs of this capability compute in f64 at half the rate of f32: others have one unit for it where these have sixteen and more.
pub(crate) const fn has_doubles(capability: u32) -> bool {
    matches!(capability, 80 | 90 | 100)
}

/// The operation by such instructions, of those that there are.
pub(crate) fn apply(row: Row, operands: &[Op]) -> Option<Op> {
    if operands.iter().any(|operand| operand.0 != Kind::F) {
        return None;
    }
    match *operands {
        [a, b] if row == Row::Div => Some(quotient(a, b)),
        [a] if row == Row::Sqrt => Some(root(a)),
        [..] => None,
    }
}

fn double(x: f64) -> Op {
    Op(Kind::G, Opnd::Imm(x.to_bits()))
}

fn fma(a: Op, b: Op, c: Op) -> Op {
    op3(Kind::G, "fma.rn.f64", a, b, c)
}

/// `a` divided by `b`.
fn quotient(a: Op, b: Op) -> Op {
    let [a, b] = [a, b].map(|x| op1(Kind::G, "cvt.f64.f32", x));
    let minus = op1(Kind::G, "neg.f64", b);
    // 20 bits, then 40, then all. Of zero and infinity the first is all there is to know, and no step leads from it.
    let first = op1(Kind::G, "rcp.approx.ftz.f64", b);
    let step = |y: Op| fma(y, fma(minus, y, double(1.0)), y);
    let second = step(first);
    let is_number = Pred(op2(Kind::P, "setp.num.f64", second, second));
    let y = select(is_number, step(second), first);
    // What is missing is known exactly; where nothing is, or there is no such number, the quotient stays as it is, with its sign.
    let quotient = op2(Kind::G, "mul.rn.f64", a, y);
    let missing = fma(minus, quotient, a);
    let misses = Pred(op2(Kind::P, "setp.ne.f64", missing, double(0.0)));
    let whole = select(misses, fma(missing, y, quotient), quotient);
    op1(Kind::F, "cvt.rn.f32.f64", whole)
}

/// The square root.
fn root(a: Op) -> Op {
    let near = op1(Kind::F, "sqrt.approx.f32", a);
    let inverse = op1(Kind::F, "rsqrt.approx.f32", a);
    let [x, mut y, inverse] = [a, near, inverse].map(|x| op1(Kind::G, "cvt.f64.f32", x));
    let half = op2(Kind::G, "mul.rn.f64", inverse, double(0.5));
    // 21 bits, then 42, then all.
    for _ in 0..2 {
        let minus = op1(Kind::G, "neg.f64", y);
        y = fma(fma(minus, y, x), half, y);
    }
    // Zeros, infinity and what has no root are what they are.
    let is_finite = op2(Kind::P, "setp.lt.f32", near, Op(Kind::F, Opnd::Imm(f32::INFINITY.to_bits().into())));
    let zero = Op(Kind::F, Opnd::Imm(0));
    let is_usual = op3(Kind::P, "setp.gt.and.f32", near, zero, is_finite);
    select(Pred(is_usual), op1(Kind::F, "cvt.rn.f32.f64", y), near)
}
