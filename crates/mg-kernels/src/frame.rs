//! The space of a program as executors walk it: rows by columns, each a merged group of dimensions.

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
    /// Strides over rows, in elements, one a dimension.
    pub(crate) row: Vec<isize>,
    /// Strides over columns, in elements.
    pub(crate) column: Vec<isize>,
}

impl Walked {
    /// Whether memory is read that lies densely along this one of several dimensions of columns, and not along the last.
    pub(crate) fn is_turned(&self, axis: usize) -> bool {
        let last = self.column.last().copied().unwrap_or(0);
        let reads = self.class == Class::Full && self.source == Source::Buffer;
        reads && axis + 1 < self.column.len() && self.column[axis] == 1 && !matches!(last, 0 | 1)
    }
}

/// The space, divided.
#[derive(Clone, Debug)]
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
    /// A full reduction runs over elements, and not over the results of rows only.
    pub(crate) reduces_elements: bool,
}

pub(crate) fn internal(message: &str) -> Error {
    Error::new("compile", ErrorKind::Internal(message.into()))
}

/// How the space of a program without reductions over rows or columns is divided, as nothing in it says how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Free {
    /// Into one row.
    Joined,
    /// The last merged dimension is the columns, unless a full reduction runs over the elements.
    ByLines,
}

impl Frame {
    pub(crate) fn new(program: &Program, free: Free) -> Result<Frame> {
        let rank = program.space.len();
        if rank > MAX_RANK {
            return Err(internal("a space of more than 16 dimensions"));
        }
        let classes = program.classes();
        let has = |over| program.reduces(over);
        let reduces_elements = program.reduces_elements(&classes);
        if reduces_elements && (has(Over::Inner) || has(Over::Outer)) {
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
        let (mut row_dims, mut row) = group(0, split);
        let (mut column_dims, mut column) = group(split, rank);
        if form == Form::Map && free == Free::ByLines && !reduces_elements {
            let kept = column_dims.len().saturating_sub(1);
            (row_dims, row) = (column_dims.clone(), column.clone());
            row_dims.truncate(kept);
            row.iter_mut().for_each(|strides| strides.truncate(kept));
            column_dims.drain(..kept);
            column.iter_mut().for_each(|strides| drop(strides.drain(..kept)));
        }
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
        Ok(Frame { form, batches, rows, columns, row_dims, column_dims, inputs, classes, reduces_elements })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Inst, Operand, ReduceKind, Value};

    /// `space` with an operand of these strides, added up over what `over` says.
    fn framed(space: &[usize], outer: usize, strides: &[isize], over: Option<Over>, free: Free) -> Frame {
        let mut all = [0; MAX_RANK];
        all[..strides.len()].copy_from_slice(strides);
        let value = |inst| Value { inst, dtype: DType::F32 };
        let mut program = Program {
            space: space.to_vec(),
            outer,
            inputs: vec![Operand { source: Source::Buffer, dtype: DType::F32, strides: all }],
            values: vec![value(Inst::Input(0))],
            ..Program::default()
        };
        program.values.extend(over.map(|over| value(Inst::Reduce(ReduceKind::Sum, over, 0))));
        Frame::new(&program, free).unwrap()
    }

    #[test]
    fn dimensions_that_lie_side_by_side_are_one() {
        let frame = framed(&[4, 5, 6], 0, &[30, 6, 1], None, Free::Joined);
        assert_eq!((frame.rows, frame.columns), (1, 120));
        assert_eq!((&frame.column_dims[..], &frame.inputs[0].column[..]), (&[120][..], &[1][..]));
        // A dimension that is turned stays one of its own.
        let frame = framed(&[4, 5, 6], 0, &[1, 24, 4], None, Free::Joined);
        assert_eq!(frame.column_dims, [4, 30]);
    }

    #[test]
    fn where_nothing_fixes_rows_the_last_dimension_is_a_line() {
        let frame = framed(&[4, 5, 6], 0, &[1, 24, 4], None, Free::ByLines);
        assert_eq!((frame.rows, frame.columns), (4, 30));
        assert_eq!((&frame.inputs[0].row[..], &frame.inputs[0].column[..]), (&[1][..], &[4][..]));
        assert_eq!(frame.inputs[0].class, Class::Full);
        // An operand that is the same along lines is one of rows.
        let frame = framed(&[4, 5], 0, &[1, 0], None, Free::ByLines);
        assert_eq!((frame.rows, frame.columns, frame.inputs[0].class), (4, 5, Class::Row));
        let frame = framed(&[], 0, &[], None, Free::ByLines);
        assert_eq!((frame.rows, frame.columns, frame.inputs[0].class), (1, 1, Class::Uniform));
        // Elements that are added up are one row.
        let frame = framed(&[4, 5, 6], 0, &[1, 24, 4], Some(Over::All), Free::ByLines);
        assert_eq!((frame.rows, frame.columns, frame.reduces_elements), (1, 120, true));
    }

    #[test]
    fn reductions_fix_rows_whatever_lies_side_by_side() {
        for free in [Free::Joined, Free::ByLines] {
            let frame = framed(&[4, 5, 6], 2, &[30, 6, 1], Some(Over::Inner), free);
            assert_eq!((frame.form, frame.rows, frame.columns), (Form::Row, 20, 6));
            let frame = framed(&[4, 5, 6], 1, &[30, 6, 1], Some(Over::Outer), free);
            assert_eq!((frame.form, frame.rows, frame.columns), (Form::Column, 4, 30));
        }
    }

    #[test]
    fn an_empty_space_reads_nothing() {
        let frame = framed(&[3, 0], 0, &[1, 1], None, Free::ByLines);
        assert!(frame.is_empty() && frame.inputs[0].class == Class::Uniform);
    }
}
