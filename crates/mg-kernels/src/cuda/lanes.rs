//! The register types: lanes whose methods write instructions.
//!
//! Each method writes the IEEE operation that the CPU's lane performs, rounded to nearest (`.rn`, so that the assembler
//! contracts nothing), without flushing denormals; results are the CPU's, bit by bit (NaNs as NaNs).

use super::capability::AMPERE;
use super::ptx::{Kind, Op, Opnd, assign, capability, copy, imm, ins, label, op1, op2, op3, place};
use crate::lane::{BitLane, FloatLane, Format, IntLane, Lane, Truth, logarithm_by_selects};
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// The result of a comparison: a predicate register.
#[derive(Clone, Copy)]
pub(crate) struct Pred(pub(crate) Op);

/// An f32 in a register.
#[derive(Clone, Copy)]
pub(crate) struct F32(pub(crate) Op);
/// An f64 in a register.
#[derive(Clone, Copy)]
pub(crate) struct F64(pub(crate) Op);
/// An i32 in a register.
#[derive(Clone, Copy)]
pub(crate) struct I32(pub(crate) Op);
/// An i64 in a register.
#[derive(Clone, Copy)]
pub(crate) struct I64(pub(crate) Op);
/// A u64 in a register.
#[derive(Clone, Copy)]
pub(crate) struct U64(pub(crate) Op);
/// A u8 in a 32-bit register.
#[derive(Clone, Copy)]
pub(crate) struct U8(pub(crate) Op);

impl BitAnd for Pred {
    type Output = Pred;
    fn bitand(self, o: Pred) -> Pred {
        pred2("and.pred", self.0, o.0)
    }
}
impl BitOr for Pred {
    type Output = Pred;
    fn bitor(self, o: Pred) -> Pred {
        pred2("or.pred", self.0, o.0)
    }
}
impl BitXor for Pred {
    type Output = Pred;
    fn bitxor(self, o: Pred) -> Pred {
        pred2("xor.pred", self.0, o.0)
    }
}
impl Not for Pred {
    type Output = Pred;
    fn not(self) -> Pred {
        Pred(op1(Kind::P, "not.pred", self.0))
    }
}
impl Truth for Pred {}

fn pred2(mnemonic: &str, a: Op, b: Op) -> Pred {
    Pred(op2(Kind::P, mnemonic, a, b))
}

pub(crate) fn select(p: Pred, a: Op, b: Op) -> Op {
    if a == b {
        return a;
    }
    let mnemonic = match a.0 {
        Kind::F => "selp.f32",
        Kind::G => "selp.f64",
        Kind::D => "selp.b64",
        Kind::R | Kind::P | Kind::H => "selp.b32",
    };
    op3(a.0, mnemonic, a, b, p.0)
}

/// Truth values have no select of their own.
pub(crate) fn select_pred(p: Pred, a: Pred, b: Pred) -> Pred {
    let both = op2(Kind::P, "and.pred", p.0, a.0);
    let not = op1(Kind::P, "not.pred", p.0);
    let other = op2(Kind::P, "and.pred", not, b.0);
    Pred(op2(Kind::P, "or.pred", both, other))
}

// Bodies call these methods hundreds of times, to write text: a call is all that is to stand there.
macro_rules! masks {
    ($Name:ident, $lt:expr, $le:expr, $eq:expr) => {
        type Mask = Pred;
        #[inline(never)]
        fn lt(self, o: Self) -> Pred {
            pred2($lt, self.0, o.0)
        }
        #[inline(never)]
        fn le(self, o: Self) -> Pred {
            pred2($le, self.0, o.0)
        }
        #[inline(never)]
        fn eq(self, o: Self) -> Pred {
            pred2($eq, self.0, o.0)
        }
        #[inline(never)]
        fn select(mask: Pred, a: Self, b: Self) -> Self {
            $Name(select(mask, a.0, b.0))
        }
        #[inline(never)]
        fn both(a: Pred, b: Pred) -> Pred {
            pred2("and.pred", a.0, b.0)
        }
        #[inline(never)]
        fn either(a: Pred, b: Pred) -> Pred {
            pred2("or.pred", a.0, b.0)
        }
        #[inline(never)]
        fn not(a: Pred) -> Pred {
            Pred(op1(Kind::P, "not.pred", a.0))
        }
    };
}

macro_rules! float {
    ($Name:ident, $T:ty, $kind:expr, $t:literal, $Bits:ident, $bits_kind:expr, $b:literal, $format:expr) => {
        impl Lane for $Name {
            masks!($Name, concat!("setp.lt.", $t), concat!("setp.le.", $t), concat!("setp.eq.", $t));
            fn lit(self, value: f64) -> Self {
                $Name(Op($kind, Opnd::Imm((value as $T).to_bits() as u64)))
            }
            #[inline(never)]
            fn add(self, o: Self) -> Self {
                $Name(op2($kind, concat!("add.rn.", $t), self.0, o.0))
            }
            #[inline(never)]
            fn sub(self, o: Self) -> Self {
                $Name(op2($kind, concat!("sub.rn.", $t), self.0, o.0))
            }
            #[inline(never)]
            fn mul(self, o: Self) -> Self {
                $Name(op2($kind, concat!("mul.rn.", $t), self.0, o.0))
            }
            #[inline(never)]
            fn div(self, o: Self) -> Self {
                $Name(op2($kind, concat!("div.rn.", $t), self.0, o.0))
            }
            #[inline(never)]
            fn neg(self) -> Self {
                $Name(op1($kind, concat!("neg.", $t), self.0))
            }
            #[inline(never)]
            fn abs(self) -> Self {
                $Name(op1($kind, concat!("abs.", $t), self.0))
            }
            #[inline(never)]
            fn is_nan(self) -> Pred {
                pred2(concat!("setp.nan.", $t), self.0, self.0)
            }
        }

        impl FloatLane for $Name {
            type Bits = $Bits;
            fn format(self) -> Format {
                $format
            }
            #[inline(never)]
            fn fma(self, b: Self, c: Self) -> Self {
                $Name(op3($kind, concat!("fma.rn.", $t), self.0, b.0, c.0))
            }
            #[inline(never)]
            fn sqrt(self) -> Self {
                $Name(op1($kind, concat!("sqrt.rn.", $t), self.0))
            }
            // The steps by which the assembler makes a division and a root of ordinary numbers, correctly rounded, without its test
            // for others: a branch for each element.
            #[inline(never)]
            fn quotient(self, o: Self) -> Self {
                if $kind != Kind::F {
                    return self.div(o);
                }
                let minus = Lane::neg(o);
                let one = Lane::lit(self, 1.0);
                let rough = $Name(op1($kind, "rcp.approx.ftz.f32", o.0));
                let inverse = rough.fma(minus.fma(rough, one), rough);
                let first = if self.0 == one.0 { inverse } else { self.fma(inverse, Lane::lit(self, 0.0)) };
                minus.fma(first, self).fma(inverse, first)
            }
            #[inline(never)]
            fn root(self) -> Self {
                if $kind != Kind::F {
                    return FloatLane::sqrt(self);
                }
                // Of zero it is infinite: what is finite makes zero of zero again.
                let rough = F32(op1($kind, "rsqrt.approx.ftz.f32", self.0));
                let rough = $Name(at_most(rough, 2f64.powi(54)).0);
                let (first, half) = (Lane::mul(rough, self), Lane::mul(rough, Lane::lit(self, 0.5)));
                Lane::neg(first).fma(first, self).fma(half, first)
            }
            #[inline(never)]
            fn between(self, low: Self, high: Self) -> Self {
                if $kind == Kind::F && capability() >= AMPERE {
                    let x = op2($kind, concat!("max.NaN.", $t), self.0, low.0);
                    return $Name(op2($kind, concat!("min.NaN.", $t), x, high.0));
                }
                let x = Lane::select(self.lt(low), low, self);
                Lane::select(high.lt(x), high, x)
            }
            #[inline(never)]
            fn at_least(self, low: Self) -> Self {
                if $kind == Kind::F && capability() >= AMPERE {
                    return $Name(op2($kind, concat!("max.NaN.", $t), self.0, low.0));
                }
                Lane::select(self.lt(low), low, self)
            }
            // Who has a logarithm that is rough has its ends exactly, but takes what is no normal number for zero.
            #[inline(never)]
            fn logarithm(self, inside: Self) -> Self {
                if $kind != Kind::F {
                    return logarithm_by_selects(self, inside);
                }
                let (zero, infinity) = (Lane::lit(self, 0.0), Lane::lit(self, f64::INFINITY));
                let normal = Lane::mul(self, Lane::lit(self, 2f64.powi(30)));
                let rough = $Name(op1($kind, "lg2.approx.ftz.f32", normal.0));
                let usual = op2(Kind::P, concat!("setp.gt.", $t), self.0, zero.0);
                let usual = op3(Kind::P, concat!("setp.lt.and.", $t), self.0, infinity.0, usual);
                Lane::select(Pred(usual), inside, rough)
            }
            #[inline(never)]
            fn to_bits(self) -> $Bits {
                $Bits(match self.0.1 {
                    Opnd::Imm(bits) => Op($bits_kind, Opnd::Imm(bits)),
                    _ => op1($bits_kind, concat!("mov.", $b), self.0),
                })
            }
            #[inline(never)]
            fn from_bits(bits: $Bits) -> Self {
                $Name(match bits.0.1 {
                    Opnd::Imm(bits) => Op($kind, Opnd::Imm(bits)),
                    _ => op1($kind, concat!("mov.", $b), bits.0),
                })
            }
            fn seldom<const N: usize>(
                mask: Pred,
                values: [Self; N],
                other: impl FnOnce([Self; N]) -> [Self; N],
            ) -> [Self; N] {
                let made = values.map(|value| $Name(copy(value.0)));
                let over = label();
                ins!("@!{} bra L{over}", mask.0);
                for (made, other) in made.iter().zip(other(values)) {
                    assign(made.0, other.0);
                }
                place(over);
                made
            }
        }
    };
}

/// `high` above it, NaN for NaN.
fn at_most(x: F32, high: f64) -> F32 {
    let high = Lane::lit(x, high);
    if capability() >= AMPERE {
        return F32(op2(Kind::F, "min.NaN.f32", x.0, high.0));
    }
    Lane::select(high.lt(x), high, x)
}

float!(F32, f32, Kind::F, "f32", I32, Kind::R, "b32", Format::Single);
float!(F64, f64, Kind::G, "f64", I64, Kind::D, "b64", Format::Double);

macro_rules! int {
    ($Name:ident, $T:ty, $kind:expr, $s:literal, $u:literal, $b:literal) => {
        impl Lane for $Name {
            masks!($Name, concat!("setp.lt.", $s), concat!("setp.le.", $s), concat!("setp.eq.", $s));
            fn lit(self, value: f64) -> Self {
                $Name(Op($kind, Opnd::Imm(value as $T as u64)))
            }
            #[inline(never)]
            fn add(self, o: Self) -> Self {
                $Name(op2($kind, concat!("add.", $s), self.0, o.0))
            }
            #[inline(never)]
            fn sub(self, o: Self) -> Self {
                $Name(op2($kind, concat!("sub.", $s), self.0, o.0))
            }
            #[inline(never)]
            fn mul(self, o: Self) -> Self {
                $Name(op2($kind, concat!("mul.lo.", $s), self.0, o.0))
            }
            #[inline(never)]
            fn div(self, o: Self) -> Self {
                // The smallest number by −1 wraps, and is not left to the hardware.
                let minus = pred2(concat!("setp.eq.", $s), o.0, Lane::lit(self, -1.0).0);
                let divisor = $Name(select(minus, Lane::lit(self, 1.0).0, o.0));
                let quotient = $Name(op2($kind, concat!("div.", $s), self.0, divisor.0));
                $Name(select(minus, self.neg().0, quotient.0))
            }
            #[inline(never)]
            fn neg(self) -> Self {
                $Name(op1($kind, concat!("neg.", $s), self.0))
            }
            #[inline(never)]
            fn abs(self) -> Self {
                Lane::select(Lane::lt(self, Lane::lit(self, 0.0)), self.neg(), self)
            }
            #[inline(never)]
            fn is_nan(self) -> Pred {
                pred2(concat!("setp.ne.", $s), self.0, self.0)
            }
        }

        impl BitLane for $Name {
            type Mask = Pred;
            fn lit(self, value: i64) -> Self {
                $Name(Op($kind, Opnd::Imm(value as u64)))
            }
            fn add(self, o: Self) -> Self {
                Lane::add(self, o)
            }
            fn sub(self, o: Self) -> Self {
                Lane::sub(self, o)
            }
            fn mul(self, o: Self) -> Self {
                Lane::mul(self, o)
            }
            #[inline(never)]
            fn and(self, o: Self) -> Self {
                $Name(op2($kind, concat!("and.", $b), self.0, o.0))
            }
            #[inline(never)]
            fn or(self, o: Self) -> Self {
                $Name(op2($kind, concat!("or.", $b), self.0, o.0))
            }
            #[inline(never)]
            fn xor(self, o: Self) -> Self {
                $Name(op2($kind, concat!("xor.", $b), self.0, o.0))
            }
            #[inline(never)]
            fn shl(self, by: u32) -> Self {
                $Name(op2($kind, concat!("shl.", $b), self.0, imm(by as i64)))
            }
            #[inline(never)]
            fn sar(self, by: u32) -> Self {
                $Name(op2($kind, concat!("shr.", $s), self.0, imm(by as i64)))
            }
            #[inline(never)]
            fn shr(self, by: u32) -> Self {
                $Name(op2($kind, concat!("shr.", $u), self.0, imm(by as i64)))
            }
            fn lt(self, o: Self) -> Pred {
                Lane::lt(self, o)
            }
            fn eq(self, o: Self) -> Pred {
                Lane::eq(self, o)
            }
            fn select(mask: Pred, a: Self, b: Self) -> Self {
                Lane::select(mask, a, b)
            }
        }
    };
}
macro_rules! bits {
    ($Name:ident, $kind:expr, $bits:literal, $b:literal) => {
        impl IntLane for $Name {
            const BITS: u32 = $bits;
            fn and(self, o: Self) -> Self {
                $Name(op2($kind, concat!("and.", $b), self.0, o.0))
            }
            fn or(self, o: Self) -> Self {
                $Name(op2($kind, concat!("or.", $b), self.0, o.0))
            }
            fn xor(self, o: Self) -> Self {
                $Name(op2($kind, concat!("xor.", $b), self.0, o.0))
            }
            fn shl(self, o: Self) -> Self {
                $Name::up(self, o)
            }
            fn shr(self, o: Self) -> Self {
                $Name::down(self, o)
            }
        }
    };
}
bits!(I32, Kind::R, 32, "b32");
bits!(I64, Kind::D, 64, "b64");
bits!(U64, Kind::D, 64, "b64");
bits!(U8, Kind::R, 8, "b32");

// The hardware takes amounts without a sign, and all from the width on as the width.

impl I32 {
    fn up(self, o: I32) -> I32 {
        I32(op2(Kind::R, "shl.b32", self.0, o.0))
    }
    fn down(self, o: I32) -> I32 {
        I32(op2(Kind::R, "shr.s32", self.0, o.0))
    }
}

impl I64 {
    /// The amount as the 32 bits that it is taken in.
    fn amount(self) -> Op {
        let at_most = op2(Kind::D, "min.u64", self.0, Op(Kind::D, Opnd::Imm(64)));
        op1(Kind::R, "cvt.u32.u64", at_most)
    }
    fn up(self, o: I64) -> I64 {
        I64(op2(Kind::D, "shl.b64", self.0, o.amount()))
    }
    fn down(self, o: I64) -> I64 {
        I64(op2(Kind::D, "shr.s64", self.0, o.amount()))
    }
}

impl U64 {
    fn up(self, o: U64) -> U64 {
        U64(op2(Kind::D, "shl.b64", self.0, I64(o.0).amount()))
    }
    fn down(self, o: U64) -> U64 {
        U64(op2(Kind::D, "shr.u64", self.0, I64(o.0).amount()))
    }
}

impl U8 {
    fn up(self, o: U8) -> U8 {
        U8::wrap(op2(Kind::R, "shl.b32", self.0, o.0))
    }
    fn down(self, o: U8) -> U8 {
        U8(op2(Kind::R, "shr.u32", self.0, o.0))
    }
}

int!(I32, i32, Kind::R, "s32", "u32", "b32");
int!(I64, i64, Kind::D, "s64", "u64", "b64");

impl U8 {
    /// The low byte of a result.
    fn wrap(r: Op) -> U8 {
        U8(op2(Kind::R, "and.b32", r, imm(0xff)))
    }
}

impl Lane for U8 {
    masks!(U8, "setp.lt.u32", "setp.le.u32", "setp.eq.u32");
    fn lit(self, value: f64) -> Self {
        U8(imm((value as u8) as i64))
    }
    fn add(self, o: Self) -> Self {
        U8::wrap(op2(Kind::R, "add.u32", self.0, o.0))
    }
    fn sub(self, o: Self) -> Self {
        U8::wrap(op2(Kind::R, "sub.u32", self.0, o.0))
    }
    fn mul(self, o: Self) -> Self {
        U8::wrap(op2(Kind::R, "mul.lo.u32", self.0, o.0))
    }
    fn div(self, o: Self) -> Self {
        U8::wrap(op2(Kind::R, "div.u32", self.0, o.0))
    }
    fn neg(self) -> Self {
        U8::wrap(op1(Kind::R, "neg.s32", self.0))
    }
    fn abs(self) -> Self {
        self
    }
    fn is_nan(self) -> Pred {
        pred2("setp.ne.u32", self.0, self.0)
    }
}

impl Lane for U64 {
    masks!(U64, "setp.lt.u64", "setp.le.u64", "setp.eq.u64");
    fn lit(self, value: f64) -> Self {
        U64(Op(Kind::D, Opnd::Imm(value as u64)))
    }
    fn add(self, o: Self) -> Self {
        U64(op2(Kind::D, "add.u64", self.0, o.0))
    }
    fn sub(self, o: Self) -> Self {
        U64(op2(Kind::D, "sub.u64", self.0, o.0))
    }
    fn mul(self, o: Self) -> Self {
        U64(op2(Kind::D, "mul.lo.u64", self.0, o.0))
    }
    fn div(self, o: Self) -> Self {
        U64(op2(Kind::D, "div.u64", self.0, o.0))
    }
    fn neg(self) -> Self {
        U64(op1(Kind::D, "neg.s64", self.0))
    }
    fn abs(self) -> Self {
        self
    }
    fn is_nan(self) -> Pred {
        pred2("setp.ne.u64", self.0, self.0)
    }
}
