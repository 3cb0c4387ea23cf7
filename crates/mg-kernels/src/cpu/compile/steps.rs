//! What a program is made into: steps over tiles, and how tasks walk them.

use crate::cpu::convert::RoundFn;
use crate::cpu::gather::Walk;
use crate::cpu::jit::Fused;
use crate::cpu::loops::MapFn;
use crate::cpu::reduce::{ColumnReducer, Reducer};
use crate::program::{Class, Source, Val};
use crate::rows::Row;
use mg_device::DType;

/// A position in the table of addresses that a task keeps.
pub(in crate::cpu) type Reg = u16;

/// Whether a step runs over a tile's elements or over its rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::cpu) enum Len {
    Full,
    Row,
}

/// What is done to a tile.
#[derive(Clone, Copy)]
pub(in crate::cpu) enum Step {
    Map {
        f: MapFn,
        dst: Reg,
        args: [Reg; 3],
        len: Len,
        /// The row of the table, and the dtype of its operands, if it is one.
        row: Option<(Row, DType)>,
    },
    /// A loop that stands for several steps over elements.
    Fused {
        index: u16,
    },
    Round {
        f: RoundFn,
        dst: Reg,
        len: Len,
    },
    /// Elements of an operand by its walk (or its offsets, or its random numbers).
    Gather {
        input: u16,
        dst: Reg,
        len: Len,
    },
    /// A row's scalar to each of its elements.
    Expand {
        dst: Reg,
        src: Reg,
        dtype: DType,
    },
    Copy {
        dst: Reg,
        src: Reg,
        size: u8,
        len: Len,
    },
    /// As `Copy`, past the caches.
    Stream {
        dst: Reg,
        src: Reg,
        dtype: DType,
    },
    /// A reduction of whole rows, each at once.
    Rows {
        reducer: u16,
        dst: Reg,
        src: Reg,
    },
    /// A reduction of a row, stretch by stretch; `Finish` writes its result.
    Accumulate {
        reducer: u16,
        src: Reg,
    },
    Finish {
        reducer: u16,
        dst: Reg,
    },
    /// A row of a reduction over outer dimensions.
    Column {
        column: u16,
        src: Reg,
    },
    /// A stretch of a full reduction.
    Total {
        total: u16,
        src: Reg,
    },
    /// Row values kept for a full reduction at the end.
    Keep {
        total: u16,
        src: Reg,
    },
    Check {
        check: Check,
        src: Reg,
        dtype: DType,
        len: Len,
        value: Val,
    },
}

/// What is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::cpu) enum Check {
    /// Indices that are negative, or not below this scalar argument.
    Below(u16),
    /// Integers that are zero: divisors.
    NonZero,
}

/// What is computed once a task, before its tiles.
#[derive(Clone, Copy)]
pub(in crate::cpu) enum Uniform {
    /// A scalar argument, to every element of a register.
    Const {
        index: u16,
        dst: Reg,
        size: u8,
    },
    /// The only element of an operand, to every element of a register.
    Load {
        input: u16,
        dst: Reg,
        size: u8,
    },
    /// An operand that is the same for every row, for as many rows as a tile has.
    Columns {
        input: u16,
        dst: Reg,
        tmp: Reg,
        convert: Option<MapFn>,
    },
    Map {
        f: MapFn,
        dst: Reg,
        args: [Reg; 3],
    },
    Round {
        f: RoundFn,
        dst: Reg,
    },
    Check {
        check: Check,
        src: Reg,
        dtype: DType,
        value: Val,
    },
}

/// What is computed when all tasks are done: a value's cell has the value's number.
#[derive(Clone, Copy)]
pub(in crate::cpu) enum CellStep {
    Map {
        f: MapFn,
        dst: Val,
        args: [Val; 3],
    },
    Round {
        f: RoundFn,
        dst: Val,
    },
    /// A register's first element.
    Take {
        dst: Val,
        src: Reg,
        size: u8,
    },
    Copy {
        dst: Val,
        src: Val,
        size: u8,
    },
    Check {
        check: Check,
        src: Val,
        dtype: DType,
        value: Val,
    },
}

/// A stage of a row: all there is in programs whose rows stay resident.
#[derive(Clone, Default)]
pub(in crate::cpu) struct Phase {
    /// Over the rows, before the elements.
    pub(in crate::cpu) rows: Vec<Step>,
    /// Over each stretch of the rows.
    pub(in crate::cpu) steps: Vec<Step>,
    /// Over the rows, after the elements.
    pub(in crate::cpu) finish: Vec<Step>,
    /// Reductions that start in this phase.
    pub(in crate::cpu) reducers: Vec<u16>,
}

/// How an operand is laid out over rows and columns.
pub(in crate::cpu) struct In {
    pub(in crate::cpu) source: Source,
    pub(in crate::cpu) dtype: DType,
    pub(in crate::cpu) class: Class,
    pub(in crate::cpu) outer: Walk,
    pub(in crate::cpu) all: Walk,
    /// The distance of neighbours in a column, 1 or −1, where those of a row lie far from each other.
    pub(in crate::cpu) turned: Option<isize>,
    /// The walk by columns, in programs that go by them.
    pub(in crate::cpu) across: Option<Walk>,
    /// Where its address stands in the table, if it is read in place.
    pub(in crate::cpu) direct: Option<Reg>,
}

pub(in crate::cpu) struct Out {
    pub(in crate::cpu) dtype: DType,
    pub(in crate::cpu) class: Class,
    /// Where its address stands in the table (outputs over elements or rows).
    pub(in crate::cpu) reg: Option<Reg>,
    /// For results that are known at the end: the cell.
    pub(in crate::cpu) cell: Option<u16>,
}

pub(in crate::cpu) struct ColumnOut {
    pub(in crate::cpu) reducer: ColumnReducer,
    pub(in crate::cpu) outputs: Vec<u16>,
}

pub(in crate::cpu) struct TotalOut {
    pub(in crate::cpu) reducer: Reducer,
    pub(in crate::cpu) kept: bool,
    pub(in crate::cpu) cell: u16,
}

/// How tasks divide the space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::cpu) enum Mode {
    /// One row, cut at multiples of [`super::reduce::CHUNK`] because a full reduction runs over it.
    Flat,
    /// Blocks of rows; columns are divided too when no row is reduced.
    Rows,
}

/// A program made ready for the CPU: independent of addresses, constants and offsets.
pub struct Compiled {
    pub(in crate::cpu) mode: Mode,
    pub(in crate::cpu) batches: usize,
    pub(in crate::cpu) rows: usize,
    pub(in crate::cpu) columns: usize,
    pub(in crate::cpu) tile_rows: usize,
    pub(in crate::cpu) tile_columns: usize,
    /// Whether a tile holds columns one after the other: all its rows of the first, then of the next.
    pub(in crate::cpu) across: bool,
    pub(in crate::cpu) splits_columns: bool,
    pub(in crate::cpu) inputs: Vec<In>,
    pub(in crate::cpu) outputs: Vec<Out>,
    pub(in crate::cpu) uniforms: Vec<Uniform>,
    pub(in crate::cpu) phases: Vec<Phase>,
    pub(in crate::cpu) reducers: Vec<Reducer>,
    pub(in crate::cpu) fused: Vec<Fused>,
    pub(in crate::cpu) ends: Ends,
    pub(in crate::cpu) registers: Registers,
    /// Values and one: what an element costs, roughly.
    pub(in crate::cpu) weight: usize,
    pub(in crate::cpu) n_consts: usize,
}

/// What is left to do when the tiles of a launch are done.
#[derive(Default)]
pub(in crate::cpu) struct Ends {
    /// Reductions of columns.
    pub(in crate::cpu) columns: Vec<ColumnOut>,
    /// Reductions of everything.
    pub(in crate::cpu) totals: Vec<TotalOut>,
    /// Steps over cells, once all totals are known.
    pub(in crate::cpu) last: Vec<CellStep>,
    pub(in crate::cpu) cells: usize,
}

/// Where a tile's registers lie.
#[derive(Default)]
pub(in crate::cpu) struct Registers {
    pub(in crate::cpu) count: usize,
    /// Byte offsets in the arena of those that are not operands or outputs.
    pub(in crate::cpu) slots: Vec<(Reg, usize)>,
    /// Bytes.
    pub(in crate::cpu) arena: usize,
    /// Whether any holds the same columns for every row.
    pub(in crate::cpu) hoists: bool,
    /// Whether what is the same everywhere is read for rows alone.
    pub(in crate::cpu) uniform_rows: bool,
}

impl Compiled {
    /// Whether it reduces nothing, so that any range of positions can be computed by itself.
    pub fn is_elementwise(&self) -> bool {
        self.ends.totals.is_empty() && self.ends.columns.is_empty() && self.reducers.is_empty()
    }

    /// The number of positions of its space.
    pub fn len(&self) -> usize {
        self.rows * self.columns
    }

    /// Whether its space has no positions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
