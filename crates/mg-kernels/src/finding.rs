//! What checks find: indices, integer divisors, and what a kernel looks at by itself.

use crate::program::Val;
use mg_device::ErrorKind;

/// What a check found on the CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finding {
    /// An index that names none of the places that there are.
    Index {
        /// The index.
        index: i64,
        /// The number of places.
        size: usize,
    },
    /// An integer that is divided by is zero.
    Divisor,
    /// What a kernel looks at by itself: what it is, and a word that says where. Its [`Checks`] say what they mean.
    Kernel {
        /// What it is.
        code: i64,
        /// Where.
        found: i64,
    },
}

/// What a kernel may refuse.
#[derive(Clone, Copy, Debug)]
pub enum Checks {
    /// Nothing.
    Nothing,
    /// Indices along an axis.
    Index {
        /// The axis.
        axis: usize,
        /// How many places there are.
        places: IndexBound,
    },
    /// What it looks at by itself.
    Own {
        /// What the CUDA half looks at.
        code: i64,
        /// What a code and the word that was found mean.
        meaning: fn(i64, i64) -> ErrorKind,
    },
}

impl Checks {
    /// Whether anything may be refused.
    pub fn any(self) -> bool {
        !matches!(self, Checks::Nothing)
    }

    /// The axis that is indexed, if one is; else 0.
    pub fn axis(self) -> usize {
        match self {
            Checks::Index { axis, .. } => axis,
            Checks::Nothing | Checks::Own { .. } => 0,
        }
    }
}

/// How many places an index can name.
#[derive(Clone, Copy, Debug)]
pub enum IndexBound {
    /// As many as this operand has along the axis.
    Of(usize),
    /// So many.
    Exactly(usize),
}

/// What a check of a program (an [`Inst::Guard`](crate::Inst::Guard), an integer division) found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refused {
    /// The value that checks.
    pub value: Val,
    /// What it found.
    pub found: Finding,
    /// The position in the space: of several findings of one check, the first is kept.
    pub(crate) position: usize,
}

/// What the checks of a launch found: for each that refused anything, the first that it met in the order of the space.
pub type Refusals = Vec<Refused>;

pub(crate) fn refuse(refusals: &mut Refusals, new: Refused) {
    match refusals.iter_mut().find(|r| r.value == new.value) {
        Some(old) if old.position <= new.position => {}
        Some(old) => *old = new,
        None => refusals.push(new),
    }
}

/// Joins findings of launches of the same program.
pub fn join_refusals(into: &mut Refusals, from: &[Refused]) {
    from.iter().for_each(|&r| refuse(into, r));
}
