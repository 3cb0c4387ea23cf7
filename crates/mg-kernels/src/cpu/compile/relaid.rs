//! The same program over dimensions in another order: that in which its operands lie, where nothing leaves it that has an order.

use crate::program::{Class, Inst, Over, Program, ReduceKind, Source, Value};
use mg_device::MAX_RANK;

/// The program in the order of memory, if that is another one: of what is reduced as a whole dimensions are walked from the far to the near,
/// and columns whose elements are neighbours are reduced as rows.
pub(super) fn relaid(program: &Program) -> Option<Program> {
    let has = |over| program.reduces(over);
    // Places tell of an order, random numbers follow one, and a check tells of the first that it refuses.
    let has_order = |v: &Value| match v.inst {
        Inst::Guard(..) | Inst::Reduce(ReduceKind::ArgMax | ReduceKind::ArgMin, ..) => true,
        Inst::Map(row, args) => row.refuses_zero(program.operand_dtype(row, args)),
        Inst::Input(_) | Inst::Const(_) | Inst::Cast(_) | Inst::Reduce(..) => false,
    };
    if has(Over::Inner)
        || program.values.iter().any(has_order)
        || program.inputs.iter().any(|i| i.source == Source::Random)
    {
        return None;
    }
    let all_leave_as = |class| program.outputs.iter().all(|o| o.1 == class);
    match (has(Over::Outer), has(Over::All)) {
        (false, true) if all_leave_as(Class::Total) => far_to_near(program),
        (true, false) if all_leave_as(Class::Column) => columns_as_rows(program),
        _ => None,
    }
}

fn in_order(program: &Program, order: &[usize], outer: usize) -> Program {
    let mut new = Program { batch: 0, outer, ..program.clone() };
    new.space = order.iter().map(|&d| program.space[d]).collect();
    for (new, old) in new.inputs.iter_mut().zip(&program.inputs) {
        new.strides = [0; MAX_RANK];
        new.strides.iter_mut().zip(order).for_each(|(stride, &d)| *stride = old.strides[d]);
    }
    new
}

fn far_to_near(program: &Program) -> Option<Program> {
    let buffers = || program.inputs.iter().filter(|i| i.source == Source::Buffer);
    let reach = |d: usize| buffers().map(|i| i.strides[d].unsigned_abs()).max().unwrap_or(0);
    let mut order: Vec<usize> = (0..program.space.len()).filter(|&d| program.space[d] != 1).collect();
    let before = order.clone();
    order.sort_by_key(|&d| std::cmp::Reverse(reach(d)));
    (order != before).then(|| in_order(program, &order, 0))
}

/// Elements of a column from which it is worth a walk of its own.
const LONG: usize = 16;

fn columns_as_rows(program: &Program) -> Option<Program> {
    let (first, end, rank) = (program.batch, program.batch + program.outer, program.space.len());
    let moving = |strides: &[isize; MAX_RANK], from: usize, to: usize| -> Vec<usize> {
        let steps = (from..to).filter(|&d| program.space[d] != 1).map(|d| strides[d].unsigned_abs());
        steps.filter(|&s| s != 0).collect()
    };
    let mut any = false;
    for input in program.inputs.iter().filter(|i| i.source == Source::Buffer) {
        let (down, along) = (moving(&input.strides, first, end), moving(&input.strides, end, rank));
        let (Some(&near), Some(&least)) = (down.last(), along.iter().min()) else { continue };
        if near != 1 || least * input.dtype.size() < 64 {
            return None;
        }
        any = true;
    }
    if !any || program.space[first..end].iter().product::<usize>() < LONG {
        return None;
    }
    let order: Vec<usize> = (0..first).chain(end..rank).chain(first..end).collect();
    let mut new = in_order(program, &order, rank - program.outer);
    for value in &mut new.values {
        if let Inst::Reduce(_, over, _) = &mut value.inst {
            *over = Over::Inner;
        }
    }
    new.outputs.iter_mut().for_each(|o| o.1 = Class::Row);
    Some(new)
}
