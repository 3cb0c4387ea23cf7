//! A kernel's parameters: one packed block of bytes, what stands in it, and where.

use super::ptx::{Kind, Op, ins, reg};

/// What a launch writes into the parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Field {
    /// An operand's address.
    Input(u16),
    /// What is added to an operand's offsets (ramps, random numbers).
    Base(u16),
    /// The seed of an operand's random numbers.
    Seed(u16),
    /// A scalar argument.
    Const(u16),
    /// An output's address.
    Output(u16),
    /// Counters that are zero.
    Tickets,
    /// Memory for partial results, from this many bytes on.
    Scratch(u32),
    /// Where a check says what it found, by its position among the kernel's checks.
    Check(u16),
}

/// Parameters under construction: sizes and strides are written at once, the rest at each launch.
#[derive(Clone, Default, Debug)]
pub(crate) struct Params {
    pub(crate) bytes: Vec<u8>,
    pub(crate) fields: Vec<(u16, Field)>,
    /// Where the block of bytes starts; at the kernel's parameters, if nothing else is said.
    pub(crate) base: Option<Op>,
    /// The parameters' name, if it is not `p`.
    pub(crate) name: Option<String>,
}

impl Params {
    fn load(&self, kind: Kind, at: usize) -> Op {
        let d = reg(kind);
        let bits = if kind == Kind::D { "b64" } else { "b32" };
        match self.base {
            Some(base) => ins!("ld.param.{bits} {d}, [{base}+{at}]"),
            None => ins!("ld.param.{bits} {d}, [{}+{at}]", self.name.as_deref().unwrap_or("p")),
        }
        d
    }

    fn align(&mut self, to: usize) -> usize {
        let at = self.bytes.len().next_multiple_of(to);
        self.bytes.resize(at, 0);
        at
    }

    /// A 64-bit parameter that each launch writes.
    pub(crate) fn field(&mut self, field: Field) -> Op {
        let known = self.fields.iter().find(|f| f.1 == field).map(|f| usize::from(f.0));
        let at = known.unwrap_or_else(|| {
            let at = self.align(8);
            self.bytes.extend([0; 8]);
            self.fields.push((at as u16, field));
            at
        });
        self.load(Kind::D, at)
    }

    /// A 32-bit number that is part of the plan.
    pub(crate) fn word(&mut self, value: u32) -> Op {
        let at = self.align(4);
        self.bytes.extend(value.to_ne_bytes());
        self.load(Kind::R, at)
    }

    /// A 64-bit number that is part of the plan.
    pub(crate) fn long(&mut self, value: i64) -> Op {
        let at = self.align(8);
        self.bytes.extend(value.to_ne_bytes());
        self.load(Kind::D, at)
    }
}
