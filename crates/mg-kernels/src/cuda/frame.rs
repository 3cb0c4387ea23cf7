//! The space of a program as a kernel walks it: rows by columns, each a merged group of dimensions.

use crate::program::{Class, Over, Program, Source};
use mg_device::{DType, Error, ErrorKind, MAX_RANK, Result};

/// How a kernel is organised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Elements one by one, with full reductions on the way.
    Map,
    /// Rows, whose reductions later values may use.
    Row,
    /// Columns: reductions over rows.
    Column,
}

/// An operand over the merged dimensions.
#[derive(Clone, Debug)]
pub(crate) struct Walked {
    pub(crate) source: Source,
    pub(crate) dtype: DType,
    pub(crate) class: Class,
    /// Strides over rows, in elements.
    pub(crate) row: Vec<isize>,
    /// Strides over columns, in elements.
    pub(crate) column: Vec<isize>,
}

/// The space, divided.
pub(crate) struct Frame {
    pub(crate) form: Form,
    pub(crate) batches: usize,
    /// Rows of all batches.
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) row_dims: Vec<usize>,
    pub(crate) column_dims: Vec<usize>,
    pub(crate) inputs: Vec<Walked>,
    pub(crate) classes: Vec<Class>,
}

pub(crate) fn internal(message: &str) -> Error {
    Error::new("compile", ErrorKind::Internal(message.into()))
}

impl Frame {
    pub(crate) fn new(program: &Program) -> Result<Frame> {
        let rank = program.space.len();
        if rank > MAX_RANK {
            return Err(internal("a space of more than 16 dimensions"));
        }
        let classes = program.classes();
        let has = |over| program.reduces(over);
        let flat = program.reduces_elements(&classes);
        if flat && (has(Over::Inner) || has(Over::Outer)) {
            return Err(internal("a full reduction beside one over rows or columns"));
        }
        let group = |from, to| {
            let (dims, strides) = program.collapsed(from, to);
            let n = dims.len();
            (dims, strides.into_iter().map(|s| s[..n].to_vec()).collect::<Vec<_>>())
        };
        let form = if has(Over::Inner) {
            Form::Row
        } else if has(Over::Outer) {
            Form::Column
        } else {
            Form::Map
        };
        let split = if form == Form::Map { 0 } else { program.batch + program.outer };
        let (row_dims, row) = group(0, split);
        let (column_dims, column) = group(split, rank);
        let (rows, columns) = (row_dims.iter().product(), column_dims.iter().product());
        let moves = |dims: &[usize], s: &[isize]| dims.iter().zip(s).any(|(&n, &s)| n != 1 && s != 0);
        let inputs: Vec<Walked> = program
            .inputs
            .iter()
            .zip(row.into_iter().zip(column))
            .map(|(operand, (row, column))| {
                let class = if rows * columns == 0 {
                    // In an empty space an operand need not have a single element: it is never read.
                    Class::Uniform
                } else if moves(&column_dims, &column) {
                    Class::Full
                } else if moves(&row_dims, &row) {
                    Class::Row
                } else {
                    Class::Uniform
                };
                Walked { source: operand.source, dtype: operand.dtype, class, row, column }
            })
            .collect();
        let classes = program.classes_by(|i| inputs[i as usize].class);
        let batches = program.space[..program.batch].iter().product();
        Ok(Frame { form, batches, rows, columns, row_dims, column_dims, inputs, classes })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows * self.columns == 0
    }

    /// Whether offsets need 64 bits: positions, or the bytes that a stride or an operand spans.
    pub(crate) fn is_wide(&self) -> bool {
        const LIMIT: usize = 1 << 31;
        let far = |dims: &[usize], strides: &[isize], size: usize| {
            strides.iter().any(|s| s.unsigned_abs().saturating_mul(size) >= LIMIT)
                || dims.iter().any(|&n| n >= LIMIT)
        };
        self.rows >= LIMIT
            || self.columns >= LIMIT
            || self.inputs.iter().any(|i| {
                far(&self.row_dims, &i.row, i.dtype.size())
                    || far(&self.column_dims, &i.column, i.dtype.size())
            })
    }
}
