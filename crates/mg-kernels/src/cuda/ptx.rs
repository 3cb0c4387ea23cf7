//! Writing PTX: registers, operands, and the text under construction.

use std::cell::RefCell;
use std::fmt::Write;

/// A kind of register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// 32 bits.
    R,
    /// 64 bits.
    D,
    /// f32.
    F,
    /// f64.
    G,
    /// A truth value.
    P,
    /// 16 bits.
    H,
}

impl Kind {
    fn prefix(self) -> &'static str {
        match self {
            Kind::R => "%er",
            Kind::D => "%ed",
            Kind::F => "%ef",
            Kind::G => "%eg",
            Kind::P => "%ep",
            Kind::H => "%eh",
        }
    }

    fn declaration(self) -> &'static str {
        match self {
            Kind::R => ".b32",
            Kind::D => ".b64",
            Kind::F => ".f32",
            Kind::G => ".f64",
            Kind::P => ".pred",
            Kind::H => ".b16",
        }
    }
}

const KINDS: [Kind; 6] = [Kind::R, Kind::D, Kind::F, Kind::G, Kind::P, Kind::H];

/// An operand: a register or a constant (its bits).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Opnd {
    Reg(u32),
    Imm(u64),
}

/// An operand with its kind, which is how it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Op(pub(crate) Kind, pub(crate) Opnd);

impl std::fmt::Display for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.1, self.0) {
            (Opnd::Reg(n), kind) => write!(f, "{}{n}", kind.prefix()),
            (Opnd::Imm(bits), Kind::F) => write!(f, "0f{:08X}", bits as u32),
            (Opnd::Imm(bits), Kind::G) => write!(f, "0d{bits:016X}"),
            (Opnd::Imm(bits), Kind::R) => write!(f, "{}", bits as u32 as i32),
            (Opnd::Imm(bits), _) => write!(f, "{}", bits as i64),
        }
    }
}

/// The text of a kernel's body, and how many registers of each kind it uses.
#[derive(Default)]
pub(crate) struct Writer {
    text: String,
    counts: [u32; KINDS.len()],
    labels: u32,
    /// The lowest capability that the text is for.
    capability: u32,
    /// Instructions written, roughly.
    pub(crate) instructions: usize,
}

thread_local! {
    static WRITER: RefCell<Writer> = RefCell::default();
}

/// Starts a new body on this thread, for GPUs of this capability and later.
pub(crate) fn begin_for(capability: u32) {
    WRITER.with_borrow_mut(|w| *w = Writer { capability, ..Writer::default() });
}

/// The lowest capability that the body is for.
pub(crate) fn capability() -> u32 {
    WRITER.with_borrow(|w| w.capability)
}

/// Ends the body: declarations of its registers, then its instructions.
pub(crate) fn end() -> String {
    WRITER.with_borrow_mut(|w| {
        let w = std::mem::take(w);
        let mut text = String::with_capacity(w.text.len() + 256);
        for kind in KINDS {
            let n = w.counts[kind as usize];
            if n > 0 {
                let _ = writeln!(text, "\t.reg {} {}<{n}>;", kind.declaration(), kind.prefix());
            }
        }
        text + &w.text
    })
}

/// A new register.
pub(crate) fn reg(kind: Kind) -> Op {
    WRITER.with_borrow_mut(|w| {
        let n = &mut w.counts[kind as usize];
        *n += 1;
        Op(kind, Opnd::Reg(*n - 1))
    })
}

/// A new label.
pub(crate) fn label() -> u32 {
    WRITER.with_borrow_mut(|w| {
        w.labels += 1;
        w.labels - 1
    })
}

/// Writes a line: an instruction, without its semicolon.
#[inline(never)]
pub(crate) fn line(args: std::fmt::Arguments) {
    WRITER.with_borrow_mut(|w| {
        w.text.push('\t');
        let _ = w.text.write_fmt(args);
        w.text.push_str(";\n");
        w.instructions += 1;
    });
}

/// Writes a label.
pub(crate) fn place(label: u32) {
    WRITER.with_borrow_mut(|w| {
        let _ = writeln!(w.text, "L{label}:");
    });
}

/// Writes an instruction: `ins!("add.s32 {}, {}, 1", d, a)`.
macro_rules! ins {
    ($($arg:tt)*) => { $crate::cuda::ptx::line(format_args!($($arg)*)) };
}
pub(crate) use ins;

/// A 32-bit constant.
pub(crate) fn imm(value: i64) -> Op {
    Op(Kind::R, Opnd::Imm(value as u64))
}

/// A 64-bit constant.
pub(crate) fn imm64(value: i64) -> Op {
    Op(Kind::D, Opnd::Imm(value as u64))
}

/// `mnemonic d, a, b` with a new `d`.
#[inline(never)]
pub(crate) fn op2(kind: Kind, mnemonic: &str, a: Op, b: Op) -> Op {
    let d = reg(kind);
    ins!("{mnemonic} {d}, {a}, {b}");
    d
}

/// `mnemonic d, a` with a new `d`.
#[inline(never)]
pub(crate) fn op1(kind: Kind, mnemonic: &str, a: Op) -> Op {
    let d = reg(kind);
    ins!("{mnemonic} {d}, {a}");
    d
}

/// `mnemonic d, a, b, c` with a new `d`.
#[inline(never)]
pub(crate) fn op3(kind: Kind, mnemonic: &str, a: Op, b: Op, c: Op) -> Op {
    let d = reg(kind);
    ins!("{mnemonic} {d}, {a}, {b}, {c}");
    d
}

/// The suffix of a move between registers of a kind.
pub(crate) fn bits_of(kind: Kind) -> &'static str {
    match kind {
        Kind::R => "b32",
        Kind::D => "b64",
        Kind::F => "f32",
        Kind::G => "f64",
        Kind::P => "pred",
        Kind::H => "b16",
    }
}

/// A register of its own with the operand's value.
pub(crate) fn copy(a: Op) -> Op {
    let d = reg(a.0);
    assign(d, a);
    d
}

/// Gives a register another value.
pub(crate) fn assign(d: Op, a: Op) {
    ins!("mov.{} {d}, {a}", bits_of(d.0));
}

/// A special register, such as `%tid.x`.
pub(crate) fn special(name: &str) -> Op {
    let d = reg(Kind::R);
    ins!("mov.u32 {d}, {name}");
    d
}
