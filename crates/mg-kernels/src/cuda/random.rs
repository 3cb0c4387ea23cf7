//! Philox in registers; see [`crate::philox`], whose numbers these are.

use super::lanes::{F32, F64, Pred, select};
use super::ptx::{Kind, Op, assign, copy, imm, imm64, ins, label, op1, op2, place, reg};
use crate::math::normal_pair;
use crate::program::Law;
use mg_device::{DType, Float};

fn halves(a: Op) -> (Op, Op) {
    let (low, high) = (reg(Kind::R), reg(Kind::R));
    ins!("mov.b64 {{{low}, {high}}}, {a}");
    (low, high)
}

/// The block of four words at a position.
fn block(seed: Op, position: Op) -> [Op; 4] {
    let (c0, c1) = halves(position);
    let (mut k0, mut k1) = halves(seed);
    let mut c = [c0, c1, imm(0), imm(0)];
    for round in 0..10 {
        if round > 0 {
            k0 = op2(Kind::R, "add.u32", k0, imm(0x9E37_79B9));
            k1 = op2(Kind::R, "add.u32", k1, imm(0xBB67_AE85));
        }
        let product = |a: Op, b: i64| {
            let (low, high) = halves(op2(Kind::D, "mul.wide.u32", a, imm(b)));
            (high, low)
        };
        let (high0, low0) = product(c[0], 0xD251_1F53);
        let (high1, low1) = product(c[2], 0xCD9E_8D57);
        let xor = |a, b, k| {
            let ab = op2(Kind::R, "xor.b32", a, b);
            op2(Kind::R, "xor.b32", ab, k)
        };
        c = [xor(high1, c[1], k0), low1, xor(high0, c[3], k1), low0];
    }
    c
}

/// Words of a block that a number takes.
fn words_of(dtype: DType) -> usize {
    if dtype == DType::F64 { 2 } else { 1 }
}

/// The block that a number at a position is of, and which of its numbers that is.
fn place_of(dtype: DType, at: Op) -> (Op, Op) {
    let (low, _) = halves(at);
    match dtype.float() {
        Some(Float::F64) => {
            let half = op2(Kind::D, "shr.u64", at, imm(1));
            (op2(Kind::D, "or.b64", half, imm64(i64::MIN)), op2(Kind::R, "and.b32", low, imm(1)))
        }
        // The others are drawn in f32.
        Some(Float::F32 | Float::F16 | Float::BF16) | None => {
            (op2(Kind::D, "shr.u64", at, imm(2)), op2(Kind::R, "and.b32", low, imm(3)))
        }
    }
}

/// The number that its words make.
fn number(dtype: DType, words: &[Op]) -> Op {
    if let (DType::F64, &[high, low]) = (dtype, words) {
        let bits = reg(Kind::D);
        ins!("mov.b64 {bits}, {{{low}, {high}}}");
        let bits = op2(Kind::D, "shr.u64", bits, imm(11));
        let number = op1(Kind::G, "cvt.rn.f64.u64", bits);
        let scale = Op(Kind::G, super::ptx::Opnd::Imm((1.0 / (1u64 << 53) as f64).to_bits()));
        return op2(Kind::G, "mul.rn.f64", number, scale);
    }
    let bits = op2(Kind::R, "shr.u32", words[0], imm(8));
    let number = op1(Kind::F, "cvt.rn.f32.u32", bits);
    let scale = Op(Kind::F, super::ptx::Opnd::Imm((1.0 / (1u32 << 24) as f32).to_bits() as u64));
    op2(Kind::F, "mul.rn.f32", number, scale)
}

/// The words from the `skipped`-th number of a block on, of `each` words, as many numbers less than there are as a block has.
fn shifted(words: &[Op], skipped: Op, each: usize, of_block: usize) -> Vec<Op> {
    let mut words = words.to_vec();
    let mut by = of_block;
    while by > 1 {
        by /= 2;
        let bit = op2(Kind::R, "and.b32", skipped, imm(by as i64));
        let stay = Pred(op2(Kind::P, "setp.eq.s32", bit, imm(0)));
        let step = by * each;
        words = (0..words.len() - step).map(|i| select(stay, words[i], words[i + step])).collect();
    }
    words
}

/// The normal numbers that words make: of each two uniform ones two.
fn normals(dtype: DType, words: &[Op]) -> Vec<Op> {
    let uniform: Vec<Op> = words.chunks(words_of(dtype)).map(|words| number(dtype, words)).collect();
    let pair = |uniform: &[Op]| match (dtype.float(), uniform) {
        (Some(Float::F64), &[u, v]) => normal_pair(F64(u), F64(v)).map(|number| number.0),
        (Some(Float::F32 | Float::F16 | Float::BF16) | None, &[u, v]) => {
            normal_pair(F32(u), F32(v)).map(|number| number.0)
        }
        // A block has an even number of them.
        (Some(Float::F64 | Float::F32 | Float::F16 | Float::BF16) | None, _) => [imm(0); 2],
    };
    uniform.chunks(2).flat_map(pair).collect()
}

/// The number at a position: f64, or else f32.
pub(crate) fn one(law: Law, dtype: DType, seed: Op, at: Op) -> Op {
    let (position, which) = place_of(dtype, at);
    let words = block(seed, position);
    match law {
        Law::Uniform => {
            number(dtype, &shifted(&words, which, words_of(dtype), 4 / words_of(dtype))[..words_of(dtype)])
        }
        Law::Normal => {
            // Of the two that it is one of.
            let pair = match words_of(dtype) {
                1 => shifted(&words, op2(Kind::R, "shr.u32", which, imm(1)), 2, 2),
                _ => words.to_vec(),
            };
            shifted(&normals(dtype, &pair), which, 1, 2)[0]
        }
    }
}

/// The numbers at `n` neighbouring positions: a block of words is computed once for all numbers that are of it.
pub(crate) fn some(law: Law, dtype: DType, seed: Op, at: Op, n: usize) -> Vec<Op> {
    let of_block = 4 / words_of(dtype);
    if !n.is_multiple_of(of_block) {
        let at = |i: usize| op2(Kind::D, "add.s64", at, imm64(i as i64));
        return (0..n).map(|i| one(law, dtype, seed, at(i))).collect();
    }
    // Uniform ones are moved as words.
    let each = match law {
        Law::Uniform => words_of(dtype),
        Law::Normal => 1,
    };
    let block = |position: Op| {
        let words = block(seed, position);
        match law {
            Law::Uniform => words.to_vec(),
            Law::Normal => normals(dtype, &words),
        }
    };
    let (first, which) = place_of(dtype, at);
    let blocks = n / of_block;
    let position = |i: usize| op2(Kind::D, "add.s64", first, imm64(i as i64));
    let words: Vec<Op> = (0..blocks).flat_map(|i| block(position(i))).map(copy).collect();
    // A run begins where a block does, or all runs begin so far behind.
    let over = label();
    let whole = op2(Kind::P, "setp.eq.s32", which, imm(0));
    ins!("@{whole} bra L{over}");
    let mut all = words.clone();
    all.extend(block(position(blocks)));
    for (word, &later) in words.iter().zip(&shifted(&all, which, each, of_block)) {
        assign(*word, later);
    }
    place(over);
    match law {
        Law::Uniform => words.chunks(each).map(|words| number(dtype, words)).collect(),
        Law::Normal => words,
    }
}
