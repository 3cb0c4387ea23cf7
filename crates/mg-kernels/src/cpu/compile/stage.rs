//! How a program is staged for the CPU: what a tile has of its space, what is read where it lies, which values are computed over what
//! and in which order, and what is left for the end. All of it is decided here, before a register is named.

use super::{RESIDENT, TILE};
use crate::frame::{Frame, Free, Walked};
use crate::program::{Class, Inst, Over, Program, Source, Val, Value};
use crate::walks::{Leaving, depths, walks};
use mg_device::Result;

/// A program's stages.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) frame: Frame,
    pub(super) tile_rows: usize,
    pub(super) tile_columns: usize,
    /// Whether rows are walked side by side, column after column.
    pub(super) across: bool,
    /// Operands that are read where they lie, if that is what a tile computes with.
    pub(super) in_place: Vec<bool>,
    /// Walks over the rows of a tile, one after the other: one, but for rows that are too long to stay.
    pub(super) passes: Vec<Pass>,
    /// Outputs over rows that leave when the last walk is done.
    pub(super) row_results: Vec<usize>,
    pub(super) end: End,
}

/// A walk over the rows of a tile.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Pass {
    /// Values over rows that are computed before, in order.
    pub(super) rows: Vec<Val>,
    /// Values that are computed of each stretch, in order.
    pub(super) elements: Vec<Val>,
    /// Reductions that are added to stretch by stretch, and what they reduce.
    pub(super) targets: Vec<(Val, Val)>,
    /// Outputs that leave with it.
    pub(super) stores: Vec<usize>,
}

/// What is computed when all tasks are done, over single cells: each value has the cell of its own number.
#[derive(Debug, Default, PartialEq)]
pub(super) struct End {
    pub(super) steps: Vec<AtEnd>,
    /// Outputs that are such cells, by output.
    pub(super) cells: Vec<Option<Val>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AtEnd {
    /// A scalar that was known from the start goes to its cell.
    Take(Val),
    /// A value of full reductions.
    Compute(Val),
}

impl Stage {
    /// `donated[i]`: the output that takes over operand `i`'s memory.
    pub(super) fn new(program: &Program, donated: &[Option<usize>]) -> Result<Stage> {
        let frame = Frame::new(program, Free::ByLines)?;
        let is_resident = program.reduces(Over::Inner) && frame.columns <= RESIDENT;
        let across = lies_across(program, &frame);
        let (tile_rows, tile_columns) = if across {
            let rows = (frame.rows / 16).next_multiple_of(64).clamp(64, 256).min(frame.rows);
            (rows, (TILE / rows).min(frame.columns))
        } else if is_resident || frame.columns <= TILE {
            ((TILE / frame.columns.max(1)).clamp(1, frame.rows.max(1)), frame.columns)
        } else {
            (1, TILE)
        };
        let in_place = (0..program.inputs.len())
            .map(|i| {
                let here = lies_as_tiles(&frame, &frame.inputs[i], tile_rows);
                here && !(across && frame.inputs[i].class == Class::Full)
                    && outlives_reads(program, donated, i)
            })
            .collect();
        let is_long = across || tile_columns < frame.columns && program.reduces(Over::Inner);
        let (passes, row_results) =
            if is_long { long(program, &frame, donated) } else { (vec![whole(program, donated)], vec![]) };
        let end = End::of(program, &frame.classes);
        Ok(Stage { frame, tile_rows, tile_columns, across, in_place, passes, row_results, end })
    }

    /// Whether a row is walked stretch by stretch.
    pub(super) fn is_cut(&self) -> bool {
        self.across || self.tile_columns < self.frame.columns
    }
}

/// Whether rows are reduced whose elements lie by columns, and nothing but results of rows leaves: memory is read in the order that it lies in
/// then, and nothing is turned.
fn lies_across(program: &Program, frame: &Frame) -> bool {
    let by_columns = |o: &Walked| {
        let far = o.column.last().is_some_and(|along| along.unsigned_abs() * o.dtype.size() >= 64);
        o.class == Class::Full && o.source == Source::Buffer && far && matches!(o.row.last(), Some(1 | -1))
    };
    let is_read_well = |o: &Walked| match (o.source, o.class) {
        (Source::Buffer, Class::Full) => by_columns(o) || o.row.iter().all(|&s| s == 0),
        (Source::Random(_), _) => false,
        (Source::Buffer | Source::Index, _) => true,
    };
    // A check tells of the first that it refuses, in the order of rows.
    let checks = |v: &Value| match v.inst {
        Inst::Guard(..) => true,
        Inst::Map(row, args) => row.refuses_zero(program.operand_dtype(row, args)),
        Inst::Input(_) | Inst::Const(_) | Inst::Cast(_) | Inst::Reduce(..) => false,
    };
    program.reduces(Over::Inner)
        && !program.reduces(Over::Outer)
        && frame.columns >= 16
        && frame.row_dims.last().is_some_and(|&n| n >= 32)
        && frame.inputs.iter().any(by_columns)
        && frame.inputs.iter().all(is_read_well)
        && program.outputs.iter().all(|o| o.1 != Class::Full)
        && !program.values.iter().any(checks)
}

/// Whether the elements of a tile lie side by side, in its order.
fn lies_as_tiles(frame: &Frame, operand: &Walked, tile_rows: usize) -> bool {
    let dense = |dims: &[usize], strides: &[isize]| dims.is_empty() || (dims.len() == 1 && strides[0] == 1);
    let rows_follow = || {
        tile_rows == 1
            || frame.row_dims.is_empty()
            || (frame.row_dims.len() == 1 && operand.row[0] == frame.columns as isize)
    };
    operand.source == Source::Buffer
        && match operand.class {
            Class::Full => dense(&frame.column_dims, &operand.column) && rows_follow(),
            Class::Row => dense(&frame.row_dims, &operand.row),
            Class::Uniform | Class::Column | Class::Total => false,
        }
}

fn is_donated(program: &Program, donated: &[Option<usize>], v: usize) -> bool {
    matches!(program.values[v].inst, Inst::Input(i) if donated.get(usize::from(i)).is_some_and(Option::is_some))
}

/// Whether an operand's memory stays as it is until its last reader, at the earliest, overwrites it.
fn outlives_reads(program: &Program, donated: &[Option<usize>], input: usize) -> bool {
    let Some(output) = donated.get(input).copied().flatten() else { return true };
    let writer = program.outputs[output].0 as usize;
    // Values that are read from the operand's place: itself, checks of it, and conversions, of which some happen where an output is stored.
    let mut here: Vec<bool> = Vec::with_capacity(program.values.len());
    for (v, value) in program.values.iter().enumerate() {
        let is_later = v > writer && program.args(v as Val).any(|a| here[a as usize]);
        here.push(match value.inst {
            Inst::Input(i) => i as usize == input,
            Inst::Guard(a, _) => here[a as usize],
            Inst::Const(_) | Inst::Map(..) | Inst::Cast(_) | Inst::Reduce(..) if is_later => return false,
            Inst::Cast(a) => here[a as usize],
            Inst::Const(_) | Inst::Map(..) | Inst::Reduce(..) => false,
        });
    }
    !program.outputs.iter().any(|&(v, _)| here[v as usize])
}

/// Values in order, but operands first, those whose memory is taken over before all others: what is computed of them can be one loop
/// then.
fn loads_first(
    program: &Program,
    donated: &[Option<usize>],
    values: impl Iterator<Item = usize>,
) -> Vec<Val> {
    let mut values: Vec<usize> = values.collect();
    let is_load = |v: usize| matches!(program.values[v].inst, Inst::Input(_));
    values.sort_by_key(|&v| (!is_donated(program, donated, v), !is_load(v)));
    values.into_iter().map(|v| v as Val).collect()
}

/// Rows that stay in registers, or that nothing waits for: everything is computed once. Operands whose memory is taken over are read
/// before any output is written.
fn whole(program: &Program, donated: &[Option<usize>]) -> Pass {
    Pass {
        elements: loads_first(program, donated, 0..program.values.len()),
        stores: (0..program.outputs.len()).collect(),
        ..Pass::default()
    }
}

/// Rows too long to stay: a walk for each depth of reductions. Values over elements are computed anew in each that needs them; values
/// over rows stay.
fn long(program: &Program, frame: &Frame, donated: &[Option<usize>]) -> (Vec<Pass>, Vec<usize>) {
    let available = depths(program);
    let class = |v: usize| frame.classes[v];
    let is_row_result = |o: &usize| {
        class(program.outputs[*o].0 as usize) == Class::Row && program.outputs[*o].1 == Class::Row
    };
    let passes = walks(program, &frame.classes, Leaving::Known)
        .into_iter()
        .enumerate()
        .map(|(at, walk)| {
            let is_before = |v: &usize| match (class(*v), program.values[*v].inst) {
                // A full reduction over rows' results takes them as soon as they are known.
                (_, Inst::Reduce(_, Over::All, a)) => available[a as usize] == at,
                (_, Inst::Reduce(_, Over::Inner | Over::Outer, _)) => false,
                (Class::Row, _) => available[*v] == at,
                (Class::Uniform, _) => at == 0,
                (Class::Full | Class::Column | Class::Total, _) => false,
            };
            let needed = (0..walk.needed.len()).filter(|&v| walk.needed[v]);
            let needed = needed.filter(|&v| class(v) == Class::Full || is_donated(program, donated, v));
            let leaves = |o: &usize| {
                let v = program.outputs[*o].0 as usize;
                available[v] == at && class(v) < Class::Column && !is_row_result(o)
            };
            Pass {
                rows: (0..program.values.len()).filter(is_before).map(|v| v as Val).collect(),
                elements: loads_first(program, donated, needed),
                targets: walk.targets.iter().map(|&(v, a)| (v as Val, a)).collect(),
                stores: (0..program.outputs.len()).filter(leaves).collect(),
            }
        })
        .collect();
    (passes, (0..program.outputs.len()).filter(is_row_result).collect())
}

impl End {
    fn of(program: &Program, classes: &[Class]) -> End {
        let n = program.values.len();
        let mut end = End { steps: vec![], cells: vec![None; program.outputs.len()] };
        let mut wanted = vec![false; n];
        for (o, &(v, class)) in program.outputs.iter().enumerate() {
            match classes[v as usize] {
                Class::Total => {
                    wanted[v as usize] = true;
                    end.cells[o] = Some(v);
                }
                // Beside full reductions an output may be computed from no elements at all.
                Class::Uniform if class == Class::Total => {
                    end.cells[o] = Some(v);
                    end.steps.push(AtEnd::Take(v));
                }
                Class::Uniform | Class::Row | Class::Full | Class::Column => {}
            }
        }
        let is_reduction = |v: usize| matches!(program.values[v].inst, Inst::Reduce(..));
        for v in (0..n).rev().filter(|&v| !is_reduction(v)) {
            if wanted[v] {
                program.args(v as Val).for_each(|a| wanted[a as usize] = true);
            }
        }
        for v in (0..n).filter(|&v| wanted[v] && classes[v] == Class::Total && !is_reduction(v)) {
            let known = program.args(v as Val).filter(|&a| classes[a as usize] != Class::Total);
            end.steps.extend(known.map(AtEnd::Take));
            end.steps.push(AtEnd::Compute(v as Val));
        }
        end
    }

    /// Whether there is anything to finish.
    pub(super) fn is_empty(&self) -> bool {
        self.cells.iter().all(Option::is_none)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Operand, ReduceKind};
    use crate::rows::Row;
    use mg_device::{DType, MAX_RANK};

    /// A program over `rows × columns` with dense operands, the first dimension being one of rows.
    fn program(rows: usize, columns: usize, operands: u16) -> Program {
        let mut strides = [0; MAX_RANK];
        (strides[0], strides[1]) = (columns as isize, 1);
        let input = Operand { source: Source::Buffer, dtype: DType::F32, strides };
        let mut program = Program {
            space: vec![rows, columns],
            outer: 1,
            inputs: vec![input; operands.into()],
            ..Program::default()
        };
        for i in 0..operands {
            push(&mut program, Inst::Input(i));
        }
        program
    }

    fn push(program: &mut Program, inst: Inst) -> Val {
        program.values.push(Value { inst, dtype: DType::F32 });
        (program.values.len() - 1) as Val
    }

    /// `(x − max(x)) ÷ Σ (x − max(x))` over rows.
    fn softmax_like(rows: usize, columns: usize) -> Program {
        let mut p = program(rows, columns, 1);
        let most = push(&mut p, Inst::Reduce(ReduceKind::Max, Over::Inner, 0));
        let less = push(&mut p, Inst::Map(Row::Sub, [0, most, 0]));
        let sum = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::Inner, less));
        let out = push(&mut p, Inst::Map(Row::Div, [less, sum, 0]));
        p.outputs.push((out, Class::Full));
        p
    }

    #[test]
    fn tiles_fit_and_hold_whole_rows_where_they_can() {
        for (rows, columns) in
            [(1, 1), (7, 3), (1000, 64), (3, 1024), (3, 1025), (2, 4096), (2, 4097), (5, 1 << 17)]
        {
            let staged = Stage::new(&softmax_like(rows, columns), &[]).unwrap();
            let Stage { tile_rows, tile_columns, .. } = staged;
            assert_eq!(tile_columns, if columns <= RESIDENT { columns } else { TILE });
            assert!(
                tile_rows >= 1 && (tile_rows == 1 || tile_rows * tile_columns <= TILE) && tile_rows <= rows
            );
            assert_eq!(staged.passes.len(), if columns <= RESIDENT { 1 } else { 3 });
        }
    }

    #[test]
    fn a_short_row_is_walked_once() {
        let staged = Stage::new(&softmax_like(10, 100), &[]).unwrap();
        let whole = Pass { elements: vec![0, 1, 2, 3, 4], stores: vec![0], ..Pass::default() };
        assert_eq!((staged.passes, staged.row_results.len()), (vec![whole], 0));
    }

    #[test]
    fn a_long_row_is_walked_once_for_each_depth() {
        let staged = Stage::new(&softmax_like(3, 1 << 17), &[]).unwrap();
        let targets: Vec<&[(Val, Val)]> = staged.passes.iter().map(|p| &p.targets[..]).collect();
        assert_eq!(targets, [&[(1, 0)][..], &[(3, 2)], &[]]);
        // The difference is computed anew for the sum and for what is written.
        let elements: Vec<&[Val]> = staged.passes.iter().map(|p| &p.elements[..]).collect();
        assert_eq!(elements, [&[0][..], &[0, 2], &[0, 2, 4]]);
        assert_eq!(staged.passes.iter().map(|p| p.stores.len()).collect::<Vec<_>>(), [0, 0, 1]);
    }

    #[test]
    fn values_of_rows_are_computed_between_walks_and_leave_at_the_end() {
        let mut p = program(3, 1 << 17, 1);
        let sum = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::Inner, 0));
        let root = push(&mut p, Inst::Map(Row::Sqrt, [sum; 3]));
        let all = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::All, root));
        p.outputs.extend([(root, Class::Row), (all, Class::Total)]);
        let staged = Stage::new(&p, &[]).unwrap();
        assert_eq!(staged.passes.iter().map(|p| &p.rows[..]).collect::<Vec<_>>(), [&[][..], &[root, all]]);
        assert_eq!(staged.row_results, [0]);
        assert_eq!(staged.end, End { steps: vec![], cells: vec![None, Some(all)] });
    }

    #[test]
    fn memory_that_is_taken_over_is_read_first() {
        let mut p = program(4, 8, 2);
        let root = push(&mut p, Inst::Map(Row::Sqrt, [0; 3]));
        let sum = push(&mut p, Inst::Map(Row::Add, [root, 1, 0]));
        p.outputs.extend([(root, Class::Full), (sum, Class::Full)]);
        // The first output takes the second operand's memory, which is read after that is written.
        let staged = Stage::new(&p, &[None, Some(0)]).unwrap();
        assert_eq!(staged.passes[0].elements, [1, 0, 2, 3]);
        assert_eq!(staged.in_place, [true, false]);
        // The second one may: who writes it is the operand's last reader.
        assert_eq!(Stage::new(&p, &[None, Some(1)]).unwrap().in_place, [true, true]);
    }

    #[test]
    fn only_what_lies_in_the_order_of_tiles_is_read_in_place() {
        let staged = |strides: [isize; 2]| {
            let mut p = program(4, 8, 1);
            p.inputs[0].strides[..2].copy_from_slice(&strides);
            let root = push(&mut p, Inst::Map(Row::Sqrt, [0; 3]));
            p.outputs.push((root, Class::Full));
            Stage::new(&p, &[]).unwrap().in_place[0]
        };
        assert!(staged([8, 1]) && staged([1, 0]));
        assert!(!staged([1, 4]) && !staged([16, 1]) && !staged([8, 2]));
    }

    #[test]
    fn what_follows_from_totals_is_computed_at_the_end() {
        let mut p = program(4, 8, 1);
        let factor = push(&mut p, Inst::Const(0));
        let sum = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::All, 0));
        let mean = push(&mut p, Inst::Map(Row::Mul, [sum, factor, 0]));
        p.outputs.extend([(mean, Class::Total), (factor, Class::Total)]);
        let end = Stage::new(&p, &[]).unwrap().end;
        assert_eq!(end.steps, [AtEnd::Take(factor), AtEnd::Take(factor), AtEnd::Compute(mean)]);
        assert_eq!(end.cells, [Some(mean), Some(factor)]);
    }
}
