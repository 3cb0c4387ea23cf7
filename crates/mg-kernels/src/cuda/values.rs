//! Values in registers: rows of the op table, conversions, rounding, and the way from memory and back.
//!
//! As in the CPU's tiles, what is narrower than its cell is brought back to the dtype after each instruction; bool is a
//! predicate, u8 a 32-bit register.

use super::lanes::{F32, F64, I32, I64, Pred, U8, U64, select, select_pred};
use super::ptx::{Kind, Op, Opnd, assign, imm, imm64, ins, op1, op2, op3, reg};
use crate::cell::{Cell, by_cell};
use crate::lane::{FloatLane, IntLane, Lane};
use crate::rows::{self, Compare2, Float1, Float2, Integer2, Logic1, Logic2, Numeric1, Numeric2, Row};
use mg_device::{DType, Float, Narrow};

/// The register that holds a value of a dtype.
pub(crate) fn kind_of(dtype: DType) -> Kind {
    match Cell::of(dtype) {
        Cell::F32 => Kind::F,
        Cell::F64 => Kind::G,
        Cell::I64 | Cell::U64 => Kind::D,
        Cell::I32 | Cell::U8 => Kind::R,
        Cell::Bool => Kind::P,
    }
}

macro_rules! numeric {
    ($dtype:expr, $x:ident => $e:expr) => {
        by_cell!($dtype, $x => $e, F32 F32, F64 F64, I64 I64, I32 I32, U64 U64, U8 U8)
    };
}

macro_rules! float {
    ($dtype:expr, $x:ident => $e:expr) => {
        by_cell!($dtype, $x => $e, F32 F32, F64 F64)
    };
}

macro_rules! integer {
    ($dtype:expr, $x:ident => $e:expr) => {
        by_cell!($dtype, $x => $e, I64 I64, I32 I32, U64 U64, U8 U8)
    };
}

trait Wrap: Copy {
    fn wrap(op: Op) -> Self;
    fn op(self) -> Op;
}
macro_rules! wrap {
    ($($Name:ident)*) => {$(
        impl Wrap for $Name {
            fn wrap(op: Op) -> Self {
                $Name(op)
            }
            fn op(self) -> Op {
                self.0
            }
        }
    )*};
}
wrap!(F32 F64 I32 I64 U64 U8);

fn numeric1<B: Numeric1, L: Lane + Wrap>(a: Op) -> Op {
    B::apply(L::wrap(a)).op()
}
fn numeric2<B: Numeric2, L: Lane + Wrap>(a: Op, b: Op) -> Op {
    B::apply(L::wrap(a), L::wrap(b)).op()
}
fn float1<B: Float1, L: FloatLane + Wrap>(a: Op) -> Op {
    B::apply(L::wrap(a)).op()
}
fn float2<B: Float2, L: FloatLane + Wrap>(a: Op, b: Op) -> Op {
    B::apply(L::wrap(a), L::wrap(b)).op()
}
fn integer2<B: Integer2, L: IntLane + Wrap>(a: Op, b: Op) -> Op {
    B::apply(L::wrap(a), L::wrap(b)).op()
}
fn compare<B: Compare2, L: Lane<Mask = Pred> + Wrap>(a: Op, b: Op) -> Op {
    B::apply(L::wrap(a), L::wrap(b)).0
}

macro_rules! row_text {
    (Numeric, $Name:ident, ($a:ident), $dtype:expr, $args:expr) => {
        numeric!($dtype, T => numeric1::<rows::$Name, T>($args[0]))
    };
    (Numeric, $Name:ident, ($a:ident $b:ident), $dtype:expr, $args:expr) => {
        numeric!($dtype, T => numeric2::<rows::$Name, T>($args[0], $args[1]))
    };
    (Float, $Name:ident, ($a:ident), $dtype:expr, $args:expr) => {
        float!($dtype, T => float1::<rows::$Name, T>($args[0]))
    };
    (Float, $Name:ident, ($a:ident $b:ident), $dtype:expr, $args:expr) => {
        float!($dtype, T => float2::<rows::$Name, T>($args[0], $args[1]))
    };
    (Integer, $Name:ident, ($a:ident $b:ident), $dtype:expr, $args:expr) => {
        integer!($dtype, T => integer2::<rows::$Name, T>($args[0], $args[1]))
    };
    (Compare, $Name:ident, ($a:ident $b:ident), $dtype:expr, $args:expr) => {
        if $dtype == DType::Bool {
            // A bool compares as the 0 or 1 that it is.
            Some(compare::<rows::$Name, U8>(as_number($args[0]), as_number($args[1])))
        } else {
            numeric!($dtype, T => compare::<rows::$Name, T>($args[0], $args[1]))
        }
    };
    (Logic, $Name:ident, ($a:ident), $dtype:expr, $args:expr) => {
        Some(<rows::$Name as Logic1>::apply(Pred($args[0])).0)
    };
    (Logic, $Name:ident, ($a:ident $b:ident), $dtype:expr, $args:expr) => {
        Some(<rows::$Name as Logic2>::apply(Pred($args[0]), Pred($args[1])).0)
    };
    (Select, $Name:ident, ($($a:ident)+), $dtype:expr, $args:expr) => {
        Some(if $dtype == DType::Bool {
            select_pred(Pred($args[0]), Pred($args[1]), Pred($args[2])).0
        } else {
            select(Pred($args[0]), $args[1], $args[2])
        })
    };
}

macro_rules! row_texts {
    ($([$($doc:literal)+] $Name:ident $name:literal $method:ident $try_method:ident $class:ident ($($arg:ident)+);)*) => {
        /// Writes a row's instructions for operands of `dtype` (for `where`: the dtype of the two values); `None` where the
        /// row does not take the dtype.
        pub(crate) fn apply(row: Row, dtype: DType, args: &[Op]) -> Option<Op> {
            match row {
                $(Row::$Name => row_text!($class, $Name, ($($arg)+), dtype, args)),*
            }
        }
    };
}
for_each_row!(row_texts);

/// A predicate as 0 or 1.
pub(crate) fn as_number(p: Op) -> Op {
    op3(Kind::R, "selp.b32", imm(1), imm(0), p)
}

fn is_nan(a: Op) -> Pred {
    let t = if a.0 == Kind::F { "setp.nan.f32" } else { "setp.nan.f64" };
    Pred(op2(Kind::P, t, a, a))
}

fn zero(kind: Kind) -> Op {
    Op(kind, Opnd::Imm(0))
}

/// Conversion between dtypes: floats saturate to integers, integers wrap. The result of one to a float of fewer bits than an f32
/// has is not rounded yet.
pub(crate) fn cast(from: DType, to: DType, a: Op) -> Op {
    let half = to.is_rounded();
    let sign = if from.is_signed() || Cell::of(from) != Cell::U64 { "s" } else { "u" };
    match (kind_of(from), kind_of(to)) {
        (Kind::P, Kind::P) => a,
        (Kind::P, _) => cast(DType::U8, to, as_number(a)),
        (Kind::F, Kind::F) | (Kind::G, Kind::G) => a,
        (Kind::F, Kind::G) => op1(Kind::G, "cvt.f64.f32", a),
        (Kind::G, Kind::F) if half => round_to_odd(a),
        (Kind::G, Kind::F) => op1(Kind::F, "cvt.rn.f32.f64", a),
        (Kind::D, Kind::F) if half => int_to_odd(a, sign),
        (Kind::R, Kind::F) if half && from.size() > 1 => round_to_odd(cast(from, DType::F64, a)),
        (Kind::D, Kind::F) => op1(Kind::F, &format!("cvt.rn.f32.{sign}64"), a),
        (Kind::D, Kind::G) => op1(Kind::G, &format!("cvt.rn.f64.{sign}64"), a),
        (Kind::R, Kind::F) => op1(Kind::F, "cvt.rn.f32.s32", a),
        (Kind::R, Kind::G) => op1(Kind::G, "cvt.rn.f64.s32", a),
        (Kind::R, Kind::D) => wrapped(to, op1(Kind::D, "cvt.s64.s32", a)),
        (Kind::D, Kind::R) => wrapped(to, op1(Kind::R, "cvt.u32.u64", a)),
        (Kind::R, Kind::R) | (Kind::D, Kind::D) if from == to => a,
        (Kind::R, Kind::R) | (Kind::D, Kind::D) => wrapped(to, a),
        (Kind::F | Kind::G, Kind::D | Kind::R) => {
            let t = if a.0 == Kind::F { "f32" } else { "f64" };
            let kind = kind_of(to);
            let whole = match to {
                DType::I64 => op1(kind, &format!("cvt.rzi.s64.{t}"), a),
                DType::U64 => op1(kind, &format!("cvt.rzi.u64.{t}"), a),
                DType::I32 => op1(kind, &format!("cvt.rzi.s32.{t}"), a),
                DType::U32 => op1(Kind::D, "cvt.u64.u32", op1(Kind::R, &format!("cvt.rzi.u32.{t}"), a)),
                // The narrower ones by way of 32 bits, which saturate as well.
                DType::U8 | DType::U16 => {
                    let word = op1(Kind::R, &format!("cvt.rzi.u32.{t}"), a);
                    op2(Kind::R, "min.u32", word, imm(if to == DType::U8 { 0xff } else { 0xffff }))
                }
                DType::I8 | DType::I16 => {
                    let (low, high) = if to == DType::I8 { (-0x80, 0x7f) } else { (-0x8000, 0x7fff) };
                    let word = op1(Kind::R, &format!("cvt.rzi.s32.{t}"), a);
                    op2(Kind::R, "min.s32", op2(Kind::R, "max.s32", word, imm(low)), imm(high))
                }
                DType::F64 | DType::F32 | DType::F16 | DType::BF16 => {
                    unreachable!("no integer: see `kind_of`")
                }
                DType::F8E4M3 | DType::F8E5M2 | DType::Bool => unreachable!("no integer: see `kind_of`"),
            };
            select(is_nan(a), zero(whole.0), whole)
        }
        (Kind::F, Kind::P) => op2(Kind::P, "setp.neu.f32", a, zero(Kind::F)),
        (Kind::G, Kind::P) => op2(Kind::P, "setp.neu.f64", a, zero(Kind::G)),
        (Kind::D, Kind::P) => op2(Kind::P, "setp.ne.s64", a, zero(Kind::D)),
        (Kind::R, Kind::P) => op2(Kind::P, "setp.ne.s32", a, imm(0)),
        (Kind::H, _) | (_, Kind::H) => unreachable!("a register of 16 bits holds no value: see `kind_of`"),
    }
}

/// An integer with as many of its low bits as the dtype has.
fn wrapped(dtype: DType, a: Op) -> Op {
    let low = |mask: i64| op2(Kind::R, "and.b32", a, imm(mask));
    let signed = |bits: i64| {
        let up = op2(Kind::R, "shl.b32", a, imm(32 - bits));
        op2(Kind::R, "shr.s32", up, imm(32 - bits))
    };
    match dtype {
        DType::U8 => low(0xff),
        DType::U16 => low(0xffff),
        DType::I8 => signed(8),
        DType::I16 => signed(16),
        DType::U32 => op2(Kind::D, "and.b64", a, imm64(0xffff_ffff)),
        DType::I64
        | DType::I32
        | DType::U64
        | DType::F64
        | DType::F32
        | DType::F16
        | DType::BF16
        | DType::F8E4M3
        | DType::F8E5M2
        | DType::Bool => a,
    }
}

/// The f32 beside an f64 whose last bit is odd, unless the number is an f32: rounding that once more gives what rounding
/// the number would. It is what mg-device's `dtype.rs` has for the CPU, where the source is named.
fn round_to_odd(a: Op) -> Op {
    let toward_zero = op1(Kind::F, "cvt.rz.f32.f64", a);
    let wide = op1(Kind::G, "cvt.f64.f32", toward_zero);
    let inexact = as_number(op2(Kind::P, "setp.ne.f64", wide, a));
    with_last_bit(toward_zero, inexact)
}

/// As [`round_to_odd`], of a 64-bit integer, with a sign ("s") or without ("u").
fn int_to_odd(a: Op, sign: &str) -> Op {
    let toward_zero = op1(Kind::F, &format!("cvt.rz.f32.{sign}64"), a);
    let back = op1(Kind::D, &format!("cvt.rzi.{sign}64.f32"), toward_zero);
    let inexact = as_number(op2(Kind::P, "setp.ne.s64", back, a));
    with_last_bit(toward_zero, inexact)
}

/// The f32 with its last bit set where `bit` is 1.
fn with_last_bit(a: Op, bit: Op) -> Op {
    let bits = op1(Kind::R, "mov.b32", a);
    let odd = op2(Kind::R, "or.b32", bits, bit);
    op1(Kind::F, "mov.b32", odd)
}

/// Brings the result of an instruction to a dtype that is narrower than its cell: floats are rounded, integers wrapped.
pub(crate) fn round(dtype: DType, a: Op) -> Op {
    if let Some(how) = dtype.narrow() {
        return round_narrow(how, a);
    }
    match dtype.float() {
        Some(Float::F64 | Float::F32) => a,
        Some(Float::F16) => {
            let half = op1(Kind::H, "cvt.rn.f16.f32", a);
            op1(Kind::F, "cvt.f32.f16", half)
        }
        Some(Float::BF16) => {
            let bits = round_bf16(a);
            op1(Kind::F, "mov.b32", bits)
        }
        // A byte wraps by itself.
        None if dtype == DType::U8 => a,
        None => wrapped(dtype, a),
    }
}

/// A number as f32.
fn constant(value: f32) -> Op {
    op1(Kind::F, "mov.b32", imm(value.to_bits().into()))
}

// Floats of eight bits, by instructions that every GPU has: those that convert these floats came with capability 8.9.

/// Nearest, ties to even, as f32: adding and taking away a number so far above rounds at the right place ([`Narrow::code`]).
fn round_narrow(how: Narrow, a: Op) -> Op {
    let bits = op1(Kind::R, "mov.b32", a);
    let magnitude = op1(Kind::F, "mov.b32", op2(Kind::R, "and.b32", bits, imm(0x7fff_ffff)));
    let exponent = op2(Kind::R, "and.b32", bits, imm(0x7f80_0000));
    let exponent = op2(Kind::R, "max.u32", exponent, imm(i64::from(128 - how.bias) << 23));
    let exponent = op2(Kind::R, "min.u32", exponent, imm(200 << 23));
    // One and a half times the power of two.
    let magic = op2(Kind::R, "add.u32", exponent, imm(i64::from(23 - how.fraction) << 23 | 0x0040_0000));
    let magic = op1(Kind::F, "mov.b32", magic);
    let rounded = op2(Kind::F, "add.rn.f32", magnitude, magic);
    let rounded = op2(Kind::F, "sub.rn.f32", rounded, magic);
    let is_beyond = op2(Kind::P, "setp.gt.f32", rounded, constant(how.most));
    let result = select(Pred(is_beyond), constant(how.value(how.beyond)), rounded);
    let sign = op2(Kind::R, "and.b32", bits, imm(0x8000_0000));
    let signed = op2(Kind::R, "or.b32", op1(Kind::R, "mov.b32", result), sign);
    op1(Kind::F, "mov.b32", signed)
}

/// The code, in a word, of an f32 that is such a number already.
fn narrow_code(how: Narrow, a: Op) -> Op {
    let bits = op1(Kind::R, "mov.b32", a);
    let magnitude = op1(Kind::F, "mov.b32", op2(Kind::R, "and.b32", bits, imm(0x7fff_ffff)));
    // Scaled so that its exponent is the code's, which makes subnormal numbers right.
    let scaled = op2(Kind::F, "mul.rn.f32", magnitude, constant(f32::from_bits(how.bias << 23)));
    let code = op2(Kind::R, "shr.u32", op1(Kind::R, "mov.b32", scaled), imm((23 - how.fraction).into()));
    // Infinity and NaN, of which that is none: e4m3 has no infinity.
    let is_infinite = Pred(op2(Kind::P, "setp.ge.u32", code, imm(0xff << how.fraction)));
    let code = select(is_infinite, imm(how.special.into()), code);
    let code = select(is_nan(a), imm(0x7f), code);
    let sign = op2(Kind::R, "shr.u32", bits, imm(24));
    let sign = op2(Kind::R, "and.b32", sign, imm(0x80));
    op2(Kind::R, "or.b32", code, sign)
}

/// What a code, in a word, stands for.
fn narrow_value(how: Narrow, code: Op) -> Op {
    let magnitude = op2(Kind::R, "and.b32", code, imm(0x7f));
    let shifted = op2(Kind::R, "shl.b32", magnitude, imm((23 - how.fraction).into()));
    let above = constant(f32::from_bits((254 - how.bias) << 23));
    let scaled = op2(Kind::F, "mul.rn.f32", op1(Kind::F, "mov.b32", shifted), above);
    let is_special = Pred(op2(Kind::P, "setp.ge.u32", magnitude, imm(how.special.into())));
    let special = op2(Kind::R, "or.b32", shifted, imm(0x7f80_0000));
    let bits = select(is_special, special, op1(Kind::R, "mov.b32", scaled));
    let sign = op2(Kind::R, "and.b32", code, imm(0x80));
    let sign = op2(Kind::R, "shl.b32", sign, imm(24));
    op1(Kind::F, "mov.b32", op2(Kind::R, "or.b32", bits, sign))
}

/// Nearest bf16, ties to even, in the upper half of a word.
fn round_bf16(a: Op) -> Op {
    if super::ptx::capability() >= super::capability::AMPERE {
        // Two at once, of which the lower is nothing.
        return op2(Kind::R, "cvt.rn.bf16x2.f32", a, zero(Kind::F));
    }
    let bits = op1(Kind::R, "mov.b32", a);
    let odd = op3(Kind::R, "bfe.u32", bits, imm(16), imm(1));
    let up = op2(Kind::R, "add.u32", bits, imm(0x7fff));
    let up = op2(Kind::R, "add.u32", up, odd);
    let rounded = op2(Kind::R, "and.b32", up, imm(0xffff_0000));
    let quiet = op2(Kind::R, "or.b32", bits, imm(0x0040_0000));
    let nan = op2(Kind::R, "and.b32", quiet, imm(0xffff_0000));
    select(is_nan(a), nan, rounded)
}

/// A launch's scalar argument, from the 64 bits of its cell.
pub(crate) fn from_cell(dtype: DType, cell: Op) -> Op {
    let low = |cell: Op| op1(Kind::R, "cvt.u32.u64", cell);
    match kind_of(dtype) {
        Kind::D => cell,
        Kind::G => op1(Kind::G, "mov.b64", cell),
        Kind::F => {
            let bits = low(cell);
            op1(Kind::F, "mov.b32", bits)
        }
        Kind::P => op2(Kind::P, "setp.ne.s64", cell, zero(Kind::D)),
        Kind::R | Kind::H => low(cell),
    }
}

/// Zero of a dtype, in a register of its own.
fn cleared(kind: Kind) -> Op {
    let d = reg(kind);
    match kind {
        Kind::P => ins!("setp.ne.s32 {d}, 0, 0"),
        Kind::H => ins!("mov.b16 {d}, 0"),
        Kind::R | Kind::D | Kind::F | Kind::G => assign(d, zero(kind)),
    }
    d
}

fn at(p: Option<Op>) -> String {
    p.map_or(String::new(), |p| format!("@{p} "))
}

/// Which memory an address is of.
#[derive(Clone, Copy)]
enum State {
    Global,
    Shared,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Global => "global",
            State::Shared => "shared",
        }
    }
}

/// Words of 32 bits from memory, by the widest accesses that `bytes` are (16 at most).
fn load_words(state: State, address: Op, offset: i64, words: usize, p: Option<Op>) -> Vec<Op> {
    let mut out = vec![];
    let state = state.name();
    let mut done = 0;
    while done < words {
        let n = match words - done {
            4.. => 4,
            2.. => 2,
            _ => 1,
        };
        let d: Vec<Op> = (0..n).map(|_| if p.is_some() { cleared(Kind::R) } else { reg(Kind::R) }).collect();
        let from = offset + 4 * done as i64;
        let guard = at(p);
        match n {
            4 => {
                ins!(
                    "{guard}ld.{state}.v4.b32 {{{}, {}, {}, {}}}, [{address}+{from}]",
                    d[0],
                    d[1],
                    d[2],
                    d[3]
                )
            }
            2 => ins!("{guard}ld.{state}.v2.b32 {{{}, {}}}, [{address}+{from}]", d[0], d[1]),
            _ => ins!("{guard}ld.{state}.b32 {}, [{address}+{from}]", d[0]),
        }
        out.extend(d);
        done += n;
    }
    out
}

fn store_words(state: State, address: Op, offset: i64, words: &[Op], p: Option<Op>) {
    let state = state.name();
    let mut done = 0;
    while done < words.len() {
        let w = &words[done..];
        let to = offset + 4 * done as i64;
        let guard = at(p);
        done += match w.len() {
            4.. => {
                ins!("{guard}st.{state}.v4.b32 [{address}+{to}], {{{}, {}, {}, {}}}", w[0], w[1], w[2], w[3]);
                4
            }
            2.. => {
                ins!("{guard}st.{state}.v2.b32 [{address}+{to}], {{{}, {}}}", w[0], w[1]);
                2
            }
            _ => {
                ins!("{guard}st.{state}.b32 [{address}+{to}], {}", w[0]);
                1
            }
        };
    }
}

/// `n` neighbouring elements from memory, by accesses of up to 16 bytes: the address is aligned to all of them together
/// (or to 16 bytes). Where the predicate does not hold, zeros.
pub(crate) fn load_vector(dtype: DType, address: Op, offset: i64, n: usize, p: Option<Op>) -> Vec<Op> {
    let bytes = n * dtype.size();
    if n == 1 || bytes < 4 {
        return (0..n).map(|i| load(dtype, address, offset + (i * dtype.size()) as i64, p)).collect();
    }
    let words = load_words(State::Global, address, offset, bytes / 4, p);
    elements_of(dtype, words)
}

/// As [`load_vector`], from what a run has in shared memory; `n` elements are words.
pub(crate) fn load_kept(dtype: DType, place: Op, n: usize, p: Option<Op>) -> Vec<Op> {
    elements_of(dtype, load_words(State::Shared, place, 0, n * dtype.size() / 4, p))
}

/// As [`load_vector`], and keeps what was read in shared memory.
pub(crate) fn load_and_keep(dtype: DType, address: Op, place: Op, n: usize, p: Option<Op>) -> Vec<Op> {
    let words = load_words(State::Global, address, 0, n * dtype.size() / 4, p);
    store_words(State::Shared, place, 0, &words, p);
    elements_of(dtype, words)
}

/// The elements that words have, as registers.
fn elements_of(dtype: DType, words: Vec<Op>) -> Vec<Op> {
    match dtype {
        DType::F32 => words.into_iter().map(|w| op1(Kind::F, "mov.b32", w)).collect(),
        DType::I32 => words,
        DType::U32 => words.into_iter().map(|w| op1(Kind::D, "cvt.u64.u32", w)).collect(),
        DType::I16 | DType::U16 => {
            words.into_iter().flat_map(|w| [0, 16].map(|from| field(dtype, w, from))).collect()
        }
        DType::F64 | DType::I64 | DType::U64 => {
            let kind = kind_of(dtype);
            words
                .chunks(2)
                .map(|w| {
                    let d = reg(kind);
                    ins!("mov.b64 {d}, {{{}, {}}}", w[0], w[1]);
                    d
                })
                .collect()
        }
        DType::BF16 => words
            .into_iter()
            .flat_map(|w| {
                let low = op2(Kind::R, "shl.b32", w, imm(16));
                let high = op2(Kind::R, "and.b32", w, imm(0xffff_0000));
                [op1(Kind::F, "mov.b32", low), op1(Kind::F, "mov.b32", high)]
            })
            .collect(),
        DType::F16 => words
            .into_iter()
            .flat_map(|w| {
                let (low, high) = (reg(Kind::H), reg(Kind::H));
                ins!("mov.b32 {{{low}, {high}}}, {w}");
                [op1(Kind::F, "cvt.f32.f16", low), op1(Kind::F, "cvt.f32.f16", high)]
            })
            .collect(),
        DType::I8 | DType::U8 | DType::Bool => words
            .into_iter()
            .flat_map(|w| {
                [0, 8, 16, 24].map(|from| {
                    let byte = field(dtype, w, from);
                    if dtype == DType::Bool { op2(Kind::P, "setp.ne.s32", byte, imm(0)) } else { byte }
                })
            })
            .collect(),
        DType::F8E4M3 | DType::F8E5M2 => words
            .into_iter()
            .flat_map(|w| {
                [0, 8, 16, 24].map(|from| of_code(dtype, op3(Kind::R, "bfe.u32", w, imm(from), imm(8))))
            })
            .collect(),
    }
}

/// What the code of a float of eight bits stands for.
fn of_code(dtype: DType, code: Op) -> Op {
    dtype.narrow().map_or(code, |how| narrow_value(how, code))
}

/// The code of an f32 that is a float of eight bits already.
fn code_of(dtype: DType, value: Op) -> Op {
    dtype.narrow().map_or(value, |how| narrow_code(how, value))
}

/// The element of 8 or 16 bits from a bit of a word on.
fn field(dtype: DType, word: Op, from: i64) -> Op {
    let mnemonic = if dtype.is_signed() { "bfe.s32" } else { "bfe.u32" };
    op3(Kind::R, mnemonic, word, imm(from), imm(8 * dtype.size() as i64))
}

/// One element from memory; zero where the predicate does not hold.
pub(crate) fn load(dtype: DType, address: Op, offset: i64, p: Option<Op>) -> Op {
    let guard = at(p);
    let new = |kind| if p.is_some() { cleared(kind) } else { reg(kind) };
    match dtype {
        DType::F32 => {
            let d = new(Kind::F);
            ins!("{guard}ld.global.f32 {d}, [{address}+{offset}]");
            d
        }
        DType::F64 => {
            let d = new(Kind::G);
            ins!("{guard}ld.global.f64 {d}, [{address}+{offset}]");
            d
        }
        DType::I64 | DType::U64 => {
            let d = new(Kind::D);
            ins!("{guard}ld.global.b64 {d}, [{address}+{offset}]");
            d
        }
        DType::U32 => {
            let d = new(Kind::D);
            ins!("{guard}ld.global.u32 {d}, [{address}+{offset}]");
            d
        }
        DType::I32 => {
            let d = new(Kind::R);
            ins!("{guard}ld.global.b32 {d}, [{address}+{offset}]");
            d
        }
        DType::I16 | DType::U16 | DType::I8 | DType::U8 | DType::Bool => {
            let d = new(Kind::R);
            let sign = if dtype.is_signed() { "s" } else { "u" };
            let bits = 8 * dtype.size();
            ins!("{guard}ld.global.{sign}{bits} {d}, [{address}+{offset}]");
            if dtype == DType::Bool { op2(Kind::P, "setp.ne.s32", d, imm(0)) } else { d }
        }
        DType::F8E4M3 | DType::F8E5M2 => {
            let d = new(Kind::R);
            ins!("{guard}ld.global.u8 {d}, [{address}+{offset}]");
            of_code(dtype, d)
        }
        DType::F16 => {
            let d = new(Kind::H);
            ins!("{guard}ld.global.b16 {d}, [{address}+{offset}]");
            op1(Kind::F, "cvt.f32.f16", d)
        }
        DType::BF16 => {
            let d = new(Kind::H);
            ins!("{guard}ld.global.b16 {d}, [{address}+{offset}]");
            let f = reg(Kind::F);
            let zero = cleared(Kind::H);
            ins!("mov.b32 {f}, {{{zero}, {d}}}");
            f
        }
    }
}

/// `values` to neighbouring places in memory; alignment as for [`load_vector`].
pub(crate) fn store_vector(dtype: DType, address: Op, offset: i64, values: &[Op], p: Option<Op>) {
    let bytes = values.len() * dtype.size();
    if values.len() == 1 || bytes < 4 {
        for (i, &v) in values.iter().enumerate() {
            store(dtype, address, offset + (i * dtype.size()) as i64, v, p);
        }
        return;
    }
    let words: Vec<Op> = match dtype {
        DType::F32 => values.iter().map(|&v| op1(Kind::R, "mov.b32", v)).collect(),
        DType::I32 => values.to_vec(),
        DType::U32 => values.iter().map(|&v| op1(Kind::R, "cvt.u32.u64", v)).collect(),
        DType::F64 | DType::I64 | DType::U64 => values
            .iter()
            .flat_map(|&v| {
                let (low, high) = (reg(Kind::R), reg(Kind::R));
                // A constant has no halves to take.
                let v = if matches!(v.1, Opnd::Imm(_)) { super::ptx::copy(v) } else { v };
                ins!("mov.b64 {{{low}, {high}}}, {v}");
                [low, high]
            })
            .collect(),
        DType::BF16 => values
            .chunks(2)
            .map(|v| {
                // Rounded already: the low halves are zero.
                let (low, high) = (op1(Kind::R, "mov.b32", v[0]), op1(Kind::R, "mov.b32", v[1]));
                let d = reg(Kind::R);
                ins!("prmt.b32 {d}, {low}, {high}, 0x7632");
                d
            })
            .collect(),
        DType::F16 => values
            .chunks(2)
            .map(|v| {
                let (low, high) =
                    (op1(Kind::H, "cvt.rn.f16.f32", v[0]), op1(Kind::H, "cvt.rn.f16.f32", v[1]));
                let d = reg(Kind::R);
                ins!("mov.b32 {d}, {{{low}, {high}}}");
                d
            })
            .collect(),
        DType::I16 | DType::U16 => values
            .chunks(2)
            .map(|v| {
                let low = op2(Kind::R, "and.b32", v[0], imm(0xffff));
                op3(Kind::R, "mad.lo.u32", v[1], imm(1 << 16), low)
            })
            .collect(),
        DType::I8 | DType::U8 | DType::Bool | DType::F8E4M3 | DType::F8E5M2 => values
            .chunks(4)
            .map(|v| {
                let byte = |v: Op| match dtype.is_signed() {
                    true if dtype.is_narrow() => code_of(dtype, v),
                    true => op2(Kind::R, "and.b32", v, imm(0xff)),
                    false if dtype.is_bool() => as_number(v),
                    false => v,
                };
                let mut word = byte(v[0]);
                for (i, &next) in v.iter().enumerate().skip(1) {
                    word = op3(Kind::R, "mad.lo.u32", byte(next), imm(1 << (8 * i)), word);
                }
                word
            })
            .collect(),
    };
    store_words(State::Global, address, offset, &words, p);
}

/// One element to memory.
pub(crate) fn store(dtype: DType, address: Op, offset: i64, value: Op, p: Option<Op>) {
    let guard = at(p);
    match dtype {
        DType::F32 => ins!("{guard}st.global.f32 [{address}+{offset}], {value}"),
        DType::F64 => ins!("{guard}st.global.f64 [{address}+{offset}], {value}"),
        DType::I64 | DType::U64 => ins!("{guard}st.global.b64 [{address}+{offset}], {value}"),
        DType::U32 => ins!("{guard}st.global.u32 [{address}+{offset}], {value}"),
        DType::I32 => ins!("{guard}st.global.b32 [{address}+{offset}], {value}"),
        DType::I16 | DType::U16 => ins!("{guard}st.global.u16 [{address}+{offset}], {value}"),
        DType::I8 | DType::U8 => ins!("{guard}st.global.u8 [{address}+{offset}], {value}"),
        DType::Bool => {
            let byte = as_number(value);
            ins!("{guard}st.global.u8 [{address}+{offset}], {byte}");
        }
        DType::F8E4M3 | DType::F8E5M2 => {
            let code = code_of(dtype, value);
            ins!("{guard}st.global.u8 [{address}+{offset}], {code}");
        }
        DType::F16 => {
            let half = op1(Kind::H, "cvt.rn.f16.f32", value);
            ins!("{guard}st.global.b16 [{address}+{offset}], {half}");
        }
        DType::BF16 => {
            let bits = op1(Kind::R, "mov.b32", value);
            let (low, high) = (reg(Kind::H), reg(Kind::H));
            ins!("mov.b32 {{{low}, {high}}}, {bits}");
            ins!("{guard}st.global.b16 [{address}+{offset}], {high}");
        }
    }
}
