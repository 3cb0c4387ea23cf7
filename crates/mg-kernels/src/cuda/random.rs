//! Philox in registers; see [`crate::philox`], whose numbers these are.

use super::lanes::{Pred, select};
use super::ptx::{Kind, Op, imm, imm64, ins, op1, op2, reg};
use mg_device::DType;

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
        let product =
            |a: Op, b: i64| (op2(Kind::R, "mul.hi.u32", a, imm(b)), op2(Kind::R, "mul.lo.u32", a, imm(b)));
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

/// The uniform number at a position: f64, or else f32.
pub(crate) fn uniform(dtype: DType, seed: Op, at: Op) -> Op {
    if dtype == DType::F64 {
        let half = op2(Kind::D, "shr.u64", at, imm(1));
        let position = op2(Kind::D, "or.b64", half, imm64(i64::MIN));
        let w = block(seed, position);
        let which = op2(Kind::D, "and.b64", at, imm64(1));
        let first = Pred(op2(Kind::P, "setp.eq.s64", which, imm64(0)));
        let (high, low) = (select(first, w[0], w[2]), select(first, w[1], w[3]));
        let bits = reg(Kind::D);
        ins!("mov.b64 {bits}, {{{low}, {high}}}");
        let bits = op2(Kind::D, "shr.u64", bits, imm(11));
        let number = op1(Kind::G, "cvt.rn.f64.u64", bits);
        let scale = Op(Kind::G, super::ptx::Opnd::Imm((1.0 / (1u64 << 53) as f64).to_bits()));
        return op2(Kind::G, "mul.rn.f64", number, scale);
    }
    let position = op2(Kind::D, "shr.u64", at, imm(2));
    let w = block(seed, position);
    let (low, _) = halves(at);
    let bit = |mask: i64| {
        let b = op2(Kind::R, "and.b32", low, imm(mask));
        Pred(op2(Kind::P, "setp.eq.s32", b, imm(0)))
    };
    let (even, lower) = (bit(1), bit(2));
    let (a, b) = (select(even, w[0], w[1]), select(even, w[2], w[3]));
    let word = select(lower, a, b);
    let bits = op2(Kind::R, "shr.u32", word, imm(8));
    let number = op1(Kind::F, "cvt.rn.f32.u32", bits);
    let scale = Op(Kind::F, super::ptx::Opnd::Imm((1.0 / (1u32 << 24) as f32).to_bits() as u64));
    op2(Kind::F, "mul.rn.f32", number, scale)
}
