//! Programs: what one launch computes.
//!
//! A program walks an iteration space `batch × outer × inner` (each a group of dimensions) and evaluates a
//! straight-line list of values in single assignment. How far a value reaches — one a launch, one a row, one an
//! element — follows from its operands ([`Program::classes`]); executors derive their stages from that, so that
//! nobody writes them down. Sizes, strides, constants and offsets of random numbers are arguments of a launch.

use crate::rows::Row;
use mg_device::{DType, MAX_RANK, Shape, collapse};

/// The most values that the scheduler puts into one program.
pub const MAX_VALUES: usize = 128;
/// The most operands that the scheduler gives one program.
pub const MAX_INPUTS: usize = 24;

/// A value of a program, by its position in [`Program::values`].
pub type Val = u16;

/// How an associative operation combines elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum ReduceKind {
    /// The sum: floats in blocks of 512 with a fixed tree, blocks in f64; integers in i64.
    Sum,
    /// The product.
    Prod,
    /// The largest; NaN if any is.
    Max,
    /// The smallest; NaN if any is.
    Min,
    /// The index of the first largest (or of the first NaN), i64.
    ArgMax,
    /// The index of the first smallest (or of the first NaN), i64.
    ArgMin,
}

impl ReduceKind {
    /// Every kind.
    pub const ALL: [ReduceKind; 6] = {
        use ReduceKind::*;
        [Sum, Prod, Max, Min, ArgMax, ArgMin]
    };

    /// What nothing reduces to: of 0, 1, the least and the greatest of the values that there are.
    #[inline]
    pub fn neutral<T>(self, [zero, one, least, greatest]: [T; 4]) -> T {
        match self {
            ReduceKind::Sum => zero,
            ReduceKind::Prod => one,
            ReduceKind::Max | ReduceKind::ArgMax => least,
            ReduceKind::Min | ReduceKind::ArgMin => greatest,
        }
    }

    /// As [`ReduceKind::neutral`], of floats.
    #[inline]
    pub fn neutral_float(self) -> f64 {
        self.neutral([0.0, 1.0, f64::NEG_INFINITY, f64::INFINITY])
    }

    /// The dtype of the result for elements of `dtype`.
    pub fn result(self, dtype: DType) -> DType {
        match self {
            ReduceKind::ArgMax | ReduceKind::ArgMin => DType::I64,
            ReduceKind::Sum | ReduceKind::Prod if !dtype.is_float() && dtype != DType::U64 => DType::I64,
            ReduceKind::Sum | ReduceKind::Prod | ReduceKind::Max | ReduceKind::Min => dtype,
        }
    }

    /// Whether the result is an index.
    pub fn is_arg(self) -> bool {
        matches!(self, ReduceKind::ArgMax | ReduceKind::ArgMin)
    }

    /// Whether there is no result without elements.
    pub fn needs_elements(self) -> bool {
        match self {
            ReduceKind::Sum | ReduceKind::Prod => false,
            ReduceKind::Max | ReduceKind::Min | ReduceKind::ArgMax | ReduceKind::ArgMin => true,
        }
    }

    /// The operation's name in the public API.
    pub fn name(self) -> &'static str {
        match self {
            ReduceKind::Sum => "sum",
            ReduceKind::Prod => "prod",
            ReduceKind::Max => "max",
            ReduceKind::Min => "min",
            ReduceKind::ArgMax => "argmax",
            ReduceKind::ArgMin => "argmin",
        }
    }
}

/// Which dimensions of the space a reduction runs over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Over {
    /// The inner dimensions: one result a row, which later values of the same program may use.
    Inner,
    /// The outer dimensions: one result a column (and batch).
    Outer,
    /// All dimensions: one result.
    All,
}

/// Where an operand's elements come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Source {
    /// Memory; the launch brings the address.
    Buffer,
    /// The element's offset itself (i64), by the operand's strides: an index ramp.
    Index,
    /// The Philox number at the element's offset; the launch brings seed and counter.
    Random(Law),
}

/// How the random numbers of a source are distributed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Law {
    /// Uniformly in [0, 1), of 24 or 53 random bits.
    Uniform,
    /// Normally, of mean 0 and variance 1: [`normal_pair`](crate::math::normal_pair) of the uniform numbers at an even position and the next.
    Normal,
}

/// An operand: a source and its strides over the space's dimensions, in elements (0 where it is broadcast).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Operand {
    /// Where the elements come from.
    pub source: Source,
    /// The dtype in memory.
    pub dtype: DType,
    /// A stride for each dimension of the space.
    pub strides: [isize; MAX_RANK],
}

/// How a value comes about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Inst {
    /// An operand's element.
    Input(u16),
    /// A scalar argument of the launch, by its position among them.
    Const(u16),
    /// A row of the op table; operands past its arity repeat the first.
    Map(Row, [Val; 3]),
    /// Conversion to the value's dtype: floats round to nearest even, float to integer saturates and NaN gives 0.
    Cast(Val),
    /// A reduction.
    Reduce(ReduceKind, Over, Val),
    /// The operand itself, after a check that it is at least 0 and less than the scalar argument.
    Guard(Val, u16),
}

/// A value: how it comes about, and its dtype.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Value {
    /// How it comes about.
    pub inst: Inst,
    /// Its dtype. What is narrower than its [cell](crate::Cell) is brought back to the dtype after each instruction.
    pub dtype: DType,
}

/// How many elements a value has, in terms of the space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Class {
    /// One a launch, known before it starts: constants, operands broadcast over everything.
    Uniform,
    /// One a row (`batch × outer`).
    Row,
    /// One an element.
    Full,
    /// One a column (`batch × inner`), known when the launch ends: results of [`Over::Outer`].
    Column,
    /// One a launch, known when it ends: results of [`Over::All`] and what is computed from them.
    Total,
}

/// What one launch computes. Outputs are written densely, row-major over the dimensions that their class has.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Default)]
pub struct Program {
    /// Sizes of the space's dimensions: batch, then outer, then inner.
    pub space: Vec<usize>,
    /// How many leading dimensions are batch (more than 0 only in programs with [`Over::Outer`]).
    pub batch: usize,
    /// How many dimensions after them are outer.
    pub outer: usize,
    /// The operands.
    pub inputs: Vec<Operand>,
    /// The values, each after its operands.
    pub values: Vec<Value>,
    /// The values that are written, in the order of the launch's outputs, each over the dimensions of a class at
    /// least as wide as its own.
    pub outputs: Vec<(Val, Class)>,
}

impl Program {
    /// The operands of a value.
    pub fn args(&self, v: Val) -> impl Iterator<Item = Val> + use<> {
        let (n, args) = match self.values[v as usize].inst {
            Inst::Input(_) | Inst::Const(_) => (0, [0; 3]),
            Inst::Map(row, args) => (row.arity(), args),
            Inst::Cast(a) | Inst::Reduce(_, _, a) | Inst::Guard(a, _) => (1, [a; 3]),
        };
        args.into_iter().take(n)
    }

    /// The dtype in which a row takes these operands (of `where`: that of its two values).
    pub(crate) fn operand_dtype(&self, row: Row, args: [Val; 3]) -> DType {
        let own = |a: Val| self.values[usize::from(a)].dtype;
        let last = own(args[row.arity() - 1]);
        if row.keeps_single() { row.common([own(args[0]), last]).unwrap_or(last) } else { last }
    }

    /// How far each value reaches.
    pub fn classes(&self) -> Vec<Class> {
        let rank = self.space.len();
        let rows = self.batch + self.outer;
        self.classes_by(|input| {
            let strides = &self.inputs[input as usize].strides[..rank];
            let moves = |from: usize, to: usize| (from..to).any(|d| strides[d] != 0 && self.space[d] != 1);
            if moves(rows, rank) {
                Class::Full
            } else if moves(0, rows) {
                Class::Row
            } else {
                Class::Uniform
            }
        })
    }

    /// How far each value reaches, for operands that reach as far as `of_input` says.
    pub fn classes_by(&self, of_input: impl Fn(u16) -> Class) -> Vec<Class> {
        let mut classes: Vec<Class> = Vec::with_capacity(self.values.len());
        for (v, value) in self.values.iter().enumerate() {
            let class = match value.inst {
                Inst::Const(_) => Class::Uniform,
                Inst::Input(i) => of_input(i),
                Inst::Reduce(_, Over::Inner, _) => Class::Row,
                Inst::Reduce(_, Over::Outer, _) => Class::Column,
                Inst::Reduce(_, Over::All, _) => Class::Total,
                Inst::Map(..) | Inst::Cast(_) | Inst::Guard(..) => {
                    self.args(v as Val).map(|a| classes[a as usize]).max().unwrap_or(Class::Uniform)
                }
            };
            classes.push(class);
        }
        classes
    }

    /// Whether a full reduction runs over elements, and not over the results of rows only.
    pub(crate) fn reduces_elements(&self, classes: &[Class]) -> bool {
        self.values.iter().any(|v| match v.inst {
            Inst::Reduce(_, Over::All, a) => classes[a as usize] >= Class::Full || !self.reduces(Over::Inner),
            _ => false,
        })
    }

    /// Dimensions `from..to` of the space, neighbours merged where every operand's strides allow it, and each operand's
    /// strides over them.
    pub(crate) fn collapsed(&self, from: usize, to: usize) -> (Vec<usize>, Vec<[isize; MAX_RANK]>) {
        let part = |operand: &Operand| {
            let mut s = [0; MAX_RANK];
            s[..to - from].copy_from_slice(&operand.strides[from..to]);
            s
        };
        let mut strides: Vec<[isize; MAX_RANK]> = self.inputs.iter().map(part).collect();
        let shape = collapse(&Shape::of(&self.space[from..to]), &mut strides);
        (shape.to_vec(), strides)
    }

    /// The number of rows (`batch × outer`) and the number of elements in each.
    pub fn rows_and_columns(&self) -> (usize, usize) {
        let at = self.batch + self.outer;
        (self.space[..at].iter().product(), self.space[at..].iter().product())
    }

    /// Whether any value is reduced over the given dimensions.
    pub fn reduces(&self, over: Over) -> bool {
        self.values.iter().any(|v| matches!(v.inst, Inst::Reduce(_, o, _) if o == over))
    }

    /// The number of elements of a value of this class.
    pub fn len_of(&self, class: Class) -> usize {
        let (rows, columns) = self.rows_and_columns();
        match class {
            Class::Uniform | Class::Total => 1,
            Class::Row => rows,
            Class::Full => rows * columns,
            Class::Column => self.space[..self.batch].iter().product::<usize>() * columns,
        }
    }
}

/// A program under construction: what kernels are written for where no graph asks for them.
pub struct Build(pub Program);

impl Build {
    /// A program of nothing over a space, of whose dimensions the first are batch and the next outer.
    pub fn new(space: &[usize], batch: usize, outer: usize) -> Build {
        Build(Program { space: space.to_vec(), batch, outer, ..Program::default() })
    }

    /// The strides of what lies densely.
    pub fn dense(&self) -> Vec<isize> {
        let mut strides = vec![0; self.0.space.len()];
        let mut stride = 1;
        for (d, &n) in self.0.space.iter().enumerate().rev() {
            strides[d] = stride;
            stride *= n as isize;
        }
        strides
    }

    /// Appends a value.
    pub fn push(&mut self, inst: Inst, dtype: DType) -> Val {
        self.0.values.push(Value { inst, dtype });
        (self.0.values.len() - 1) as Val
    }

    /// The elements of an operand.
    pub fn input(&mut self, source: Source, dtype: DType, strides: &[isize]) -> Val {
        let mut all = [0; MAX_RANK];
        all[..strides.len()].copy_from_slice(strides);
        self.0.inputs.push(Operand { source, dtype, strides: all });
        self.push(Inst::Input(self.0.inputs.len() as u16 - 1), dtype)
    }

    /// The elements of an operand that lies densely.
    pub fn load(&mut self, dtype: DType) -> Val {
        let strides = self.dense();
        self.input(Source::Buffer, dtype, &strides)
    }

    /// A row of the op table, for operands of a dtype.
    pub fn map(&mut self, row: Row, of: DType, args: &[Val]) -> Val {
        let mut three = [args[0]; 3];
        three[..args.len()].copy_from_slice(args);
        self.push(Inst::Map(row, three), row.result(of))
    }

    /// A reduction.
    pub fn reduce(&mut self, kind: ReduceKind, over: Over, a: Val) -> Val {
        let dtype = kind.result(self.0.values[a as usize].dtype);
        self.push(Inst::Reduce(kind, over, a), dtype)
    }

    /// What leaves the program.
    pub fn out(&mut self, v: Val, class: Class) {
        self.0.outputs.push((v, class));
    }
}
