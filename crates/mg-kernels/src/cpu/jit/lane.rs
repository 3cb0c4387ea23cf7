//! A lane whose methods note instructions: what the bodies of the op table come to, in single assignment.

use super::emit::{Inst, Signs};
use crate::cpu::compile::Reg;
use crate::lane::{BitLane, FloatLane, Format, Lane, Truth, nothing_below};
use crate::rows::{self, Compare2, Float1, Float2, Logic1, Logic2, Numeric1, Numeric2, Row};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// An instruction's result.
pub(super) type Id = u16;

/// What has been noted so far.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) insts: Vec<Inst>,
    known: HashMap<Inst, Id>,
    /// The value that a tile's register holds.
    held: HashMap<Reg, Id>,
    /// What is seldom is left to another body.
    usual: bool,
}

thread_local! {
    static NOTES: RefCell<Notes> = RefCell::default();
}

impl Notes {
    /// An instruction; the same one again is the same value.
    fn note(&mut self, inst: Inst) -> Id {
        if let Some(&id) = self.known.get(&inst) {
            return id;
        }
        let id = self.insts.len() as Id;
        self.insts.push(inst);
        self.known.insert(inst, id);
        id
    }
}

/// Bodies call it hundreds of times: nothing of it is to stand in them.
#[inline(never)]
fn note(inst: Inst) -> Id {
    NOTES.with_borrow_mut(|n| n.note(inst))
}

/// Starts anew; `usual`: what is seldom is not noted, but a jump to where it is.
pub(super) fn clear(usual: bool) {
    NOTES.with_borrow_mut(|n| *n = Notes { usual, ..Notes::default() });
}

/// Notes a jump for where the mask holds, if that is to be left to another body. What is stored could not be computed again: it may lie where
/// an operand does.
fn leave(mask: Id) -> bool {
    NOTES.with_borrow_mut(|n| {
        let stored = |inst: &Inst| matches!(inst, Inst::Store(..) | Inst::StoreMask(..) | Inst::Stream(..));
        let leaves = n.usual && !n.insts.iter().any(stored);
        if leaves {
            n.note(Inst::Leave(mask));
        }
        leaves
    })
}

/// Whether what is seldom is left out.
fn usual() -> bool {
    NOTES.with_borrow(|n| n.usual)
}

/// What was noted since the start.
pub(super) fn take() -> Vec<Inst> {
    NOTES.with_borrow_mut(|n| std::mem::take(n).insts)
}

/// The number of instructions noted.
pub(super) fn len() -> usize {
    NOTES.with_borrow(|n| n.insts.len())
}

/// The value of a tile's register, by the instruction that loads it if nothing noted has computed it.
pub(super) fn held(reg: Reg, load: Inst) -> Id {
    NOTES.with_borrow_mut(|n| match n.held.get(&reg) {
        Some(&id) => id,
        None => {
            let id = n.note(load);
            n.held.insert(reg, id);
            id
        }
    })
}

/// Says that a register holds a value from here on; `store` writes it out.
pub(super) fn hold(reg: Reg, id: Id, store: Option<Inst>) {
    NOTES.with_borrow_mut(|n| {
        n.held.insert(reg, id);
        n.insts.extend(store);
    });
}

/// An f32.
#[derive(Clone, Copy)]
pub(super) struct Single(pub(super) Id);
/// Its bits.
#[derive(Clone, Copy)]
pub(super) struct Word(Id);
/// A truth value.
#[derive(Clone, Copy)]
pub(super) struct Mask(pub(super) Id);

impl BitAnd for Mask {
    type Output = Mask;
    fn bitand(self, o: Mask) -> Mask {
        Mask(note(Inst::Both(self.0, o.0)))
    }
}
impl BitOr for Mask {
    type Output = Mask;
    fn bitor(self, o: Mask) -> Mask {
        Mask(note(Inst::Either(self.0, o.0)))
    }
}
impl BitXor for Mask {
    type Output = Mask;
    fn bitxor(self, o: Mask) -> Mask {
        Mask(note(Inst::Unlike(self.0, o.0)))
    }
}
impl Not for Mask {
    type Output = Mask;
    fn not(self) -> Mask {
        Mask(note(Inst::Not(self.0)))
    }
}
impl Truth for Mask {}

fn constant(bits: u32) -> Id {
    note(Inst::Const(bits))
}

/// What a value is the negative of, if it was noted as that.
fn unsigned(id: Id) -> Option<Id> {
    NOTES.with_borrow(|n| match n.insts[id as usize] {
        Inst::Xor(of, sign) if n.insts[sign as usize] == Inst::Const(1 << 31) => Some(of),
        _ => None,
    })
}

impl Lane for Single {
    type Mask = Mask;
    fn lit(self, value: f64) -> Self {
        Single(constant((value as f32).to_bits()))
    }
    fn add(self, o: Self) -> Self {
        Single(note(Inst::Add(self.0, o.0)))
    }
    fn sub(self, o: Self) -> Self {
        Single(note(Inst::Sub(self.0, o.0)))
    }
    fn mul(self, o: Self) -> Self {
        Single(note(Inst::Mul(self.0, o.0)))
    }
    fn div(self, o: Self) -> Self {
        Single(note(Inst::Div(self.0, o.0)))
    }
    fn neg(self) -> Self {
        Single(note(Inst::Xor(self.0, constant(1 << 31))))
    }
    fn abs(self) -> Self {
        Single(note(Inst::And(self.0, constant(!(1 << 31)))))
    }
    fn lt(self, o: Self) -> Mask {
        Mask(note(Inst::Less(self.0, o.0)))
    }
    fn le(self, o: Self) -> Mask {
        Mask(note(Inst::LessEqual(self.0, o.0)))
    }
    fn eq(self, o: Self) -> Mask {
        Mask(note(Inst::Equal(self.0, o.0)))
    }
    fn select(mask: Mask, a: Self, b: Self) -> Self {
        Single(note(Inst::Select(mask.0, a.0, b.0)))
    }
    fn both(a: Mask, b: Mask) -> Mask {
        Mask(note(Inst::Both(a.0, b.0)))
    }
    fn either(a: Mask, b: Mask) -> Mask {
        Mask(note(Inst::Either(a.0, b.0)))
    }
    fn not(a: Mask) -> Mask {
        Mask(note(Inst::Not(a.0)))
    }
    fn is_nan(self) -> Mask {
        Mask(note(Inst::IsNan(self.0)))
    }
}

impl FloatLane for Single {
    type Bits = Word;
    fn format(self) -> Format {
        Format::Single
    }
    fn fma(self, b: Self, c: Self) -> Self {
        let (x, y, z) = (unsigned(self.0), unsigned(b.0), unsigned(c.0));
        let signs = Signs { product: x.is_some() != y.is_some(), addend: z.is_some() };
        Single(note(Inst::Fma(x.unwrap_or(self.0), y.unwrap_or(b.0), z.unwrap_or(c.0), signs)))
    }
    fn at_least(self, low: Self) -> Self {
        Single(note(Inst::Max(low.0, self.0)))
    }
    fn between(self, low: Self, high: Self) -> Self {
        Single(note(Inst::Min(high.0, self.at_least(low).0)))
    }
    fn sqrt(self) -> Self {
        Single(note(Inst::Sqrt(self.0)))
    }
    fn vanishing(self, low: Self, f: impl FnOnce(Self) -> Self) -> Self {
        nothing_below(self, low, f)
    }
    fn to_bits(self) -> Word {
        Word(self.0)
    }
    fn from_bits(bits: Word) -> Self {
        Single(bits.0)
    }
    fn seldom<const N: usize>(
        mask: Mask,
        values: [Self; N],
        other: impl FnOnce([Self; N]) -> [Self; N],
    ) -> [Self; N] {
        if leave(mask.0) {
            return values;
        }
        let mut made = other(values);
        for (made, value) in made.iter_mut().zip(values) {
            *made = Lane::select(mask, *made, value);
        }
        made
    }
    fn usually(mask: impl FnOnce() -> Mask, fast: impl FnOnce() -> Self, any: impl FnOnce() -> Self) -> Self {
        if usual() && leave(<Self as Lane>::not(mask()).0) { fast() } else { any() }
    }
    fn scaled(self, n: Self, _: impl FnOnce() -> Self) -> Self {
        Single(note(Inst::Scale(self.0, n.0)))
    }
}

impl BitLane for Word {
    type Mask = Mask;
    fn lit(self, value: i64) -> Self {
        Word(constant(value as u32))
    }
    fn add(self, o: Self) -> Self {
        Word(note(Inst::AddWord(self.0, o.0)))
    }
    fn sub(self, o: Self) -> Self {
        Word(note(Inst::SubWord(self.0, o.0)))
    }
    fn mul(self, o: Self) -> Self {
        Word(note(Inst::MulWord(self.0, o.0)))
    }
    fn and(self, o: Self) -> Self {
        Word(note(Inst::And(self.0, o.0)))
    }
    fn or(self, o: Self) -> Self {
        Word(note(Inst::Or(self.0, o.0)))
    }
    fn xor(self, o: Self) -> Self {
        Word(note(Inst::Xor(self.0, o.0)))
    }
    fn shl(self, by: u32) -> Self {
        Word(note(Inst::ShiftLeft(self.0, by as u8)))
    }
    fn sar(self, by: u32) -> Self {
        Word(note(Inst::ShiftRightSigned(self.0, by as u8)))
    }
    fn shr(self, by: u32) -> Self {
        Word(note(Inst::ShiftRight(self.0, by as u8)))
    }
    fn lt(self, o: Self) -> Mask {
        Mask(note(Inst::LessWord(self.0, o.0)))
    }
    fn eq(self, o: Self) -> Mask {
        Mask(note(Inst::EqualWord(self.0, o.0)))
    }
    fn select(mask: Mask, a: Self, b: Self) -> Self {
        Word(note(Inst::Select(mask.0, a.0, b.0)))
    }
}

// Each body by itself, not all of them in one function.

#[inline(never)]
fn numeric1<B: Numeric1>(a: Id) -> Id {
    B::apply(Single(a)).0
}
#[inline(never)]
fn numeric2<B: Numeric2>(a: Id, b: Id) -> Id {
    B::apply(Single(a), Single(b)).0
}
#[inline(never)]
fn float1<B: Float1>(a: Id) -> Id {
    B::apply(Single(a)).0
}
#[inline(never)]
fn float2<B: Float2>(a: Id, b: Id) -> Id {
    B::apply(Single(a), Single(b)).0
}
fn compare<B: Compare2>(a: Id, b: Id) -> Id {
    B::apply(Single(a), Single(b)).0
}

fn logic1<B: Logic1>(a: Id) -> Id {
    B::apply(Mask(a)).0
}
fn logic2<B: Logic2>(a: Id, b: Id) -> Id {
    B::apply(Mask(a), Mask(b)).0
}

macro_rules! row_notes {
    // Integers run in the table's own loops.
    (@ Integer $Name:ident ($($a:ident)+) $args:ident) => { return None };
    (@ Numeric $Name:ident ($a:ident) $args:ident) => { numeric1::<rows::$Name>($args[0]) };
    (@ Numeric $Name:ident ($a:ident $b:ident) $args:ident) => { numeric2::<rows::$Name>($args[0], $args[1]) };
    (@ Float $Name:ident ($a:ident) $args:ident) => { float1::<rows::$Name>($args[0]) };
    (@ Float $Name:ident ($a:ident $b:ident) $args:ident) => { float2::<rows::$Name>($args[0], $args[1]) };
    (@ Compare $Name:ident ($a:ident $b:ident) $args:ident) => { compare::<rows::$Name>($args[0], $args[1]) };
    (@ Logic $Name:ident ($a:ident) $args:ident) => { logic1::<rows::$Name>($args[0]) };
    (@ Logic $Name:ident ($a:ident $b:ident) $args:ident) => { logic2::<rows::$Name>($args[0], $args[1]) };
    (@ Select $Name:ident ($($a:ident)+) $args:ident) => { note(Inst::Select($args[0], $args[1], $args[2])) };
    ($([$($doc:literal)+] $Name:ident $name:literal $method:ident $try_method:ident $class:ident ($($arg:ident)+);)*) => {
        /// Notes a row's instructions, for operands in f32 (truth values for logic, and as the condition of `where`); `None`
        /// for a row of integers.
        pub(super) fn apply(row: Row, args: &[Id]) -> Option<Id> {
            Some(match row {
                $(Row::$Name => row_notes!(@ $class $Name ($($arg)+) args)),*
            })
        }
    };
}
for_each_row!(row_notes);
