//! Walks over a row that is too long to stay: one for each depth of reductions, each of which computes anew what it needs.

use crate::program::{Class, Inst, Over, Program, Val};

/// How many reductions over the row have to be known before a value is, by value.
pub(crate) fn depths(program: &Program) -> Vec<usize> {
    let mut depths = vec![0usize; program.values.len()];
    for v in 0..depths.len() {
        let from_args = program.args(v as Val).map(|a| depths[a as usize]).max().unwrap_or(0);
        let inner = matches!(program.values[v].inst, Inst::Reduce(_, Over::Inner, _));
        depths[v] = from_args + inner as usize;
    }
    depths
}

/// In which walk elements leave the program, as outputs or to a reduction over columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaving {
    /// As soon as they are known.
    Known,
    /// In the last one, after which no operand is read.
    Last,
}

/// A walk over a row that does not fit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Walk {
    /// Values of the row as a whole that are computed first.
    pub(crate) row_values: Vec<usize>,
    /// Values over elements that are computed (anew) on the way, and what they are computed from.
    pub(crate) needed: Vec<bool>,
    /// Reductions on the way, over the row or over columns, and what they reduce.
    pub(crate) targets: Vec<(usize, Val)>,
    /// There is nothing to walk for.
    pub(crate) is_idle: bool,
    /// No other follows.
    pub(crate) is_last: bool,
}

/// The walks over a row: values over elements are computed anew in each that needs them.
pub(crate) fn walks(program: &Program, classes: &[Class], leaving: Leaving) -> Vec<Walk> {
    let n = program.values.len();
    let available = depths(program);
    let depth = available.iter().copied().max().unwrap_or(0);
    let is_full = |v: usize| classes[v] == Class::Full;
    let walk = |phase: usize| {
        let is_last = phase == depth;
        let leaves = |v: Val| match leaving {
            Leaving::Known => available[v as usize] == phase,
            Leaving::Last => is_last,
        };
        let mut walk = Walk { needed: vec![false; n], is_last, ..Walk::default() };
        for v in 0..n {
            match program.values[v].inst {
                Inst::Reduce(_, Over::Inner, a) if available[a as usize] == phase => {
                    walk.targets.push((v, a))
                }
                Inst::Reduce(_, Over::Outer, a) if leaves(a) => walk.targets.push((v, a)),
                Inst::Guard(..) if is_full(v) && available[v] == phase => walk.needed[v] = true,
                Inst::Reduce(..)
                | Inst::Guard(..)
                | Inst::Input(_)
                | Inst::Const(_)
                | Inst::Map(..)
                | Inst::Cast(_) => {}
            }
        }
        // What is written over elements may be a value of rows: each element has its row's.
        let written = program.outputs.iter().filter(|o| o.1 == Class::Full && leaves(o.0)).map(|o| o.0);
        for v in written.chain(walk.targets.iter().map(|t| t.1)) {
            walk.needed[v as usize] = true;
        }
        for v in (0..n).rev().filter(|&v| is_full(v)) {
            if walk.needed[v] {
                program.args(v as Val).for_each(|a| walk.needed[a as usize] = true);
            }
        }
        let is_row =
            |v: &usize| classes[*v] == Class::Row && !matches!(program.values[*v].inst, Inst::Reduce(..));
        walk.row_values = (0..n).filter(|&v| available[v] == phase).filter(is_row).collect();
        walk.is_idle = !is_last && walk.targets.is_empty() && !(0..n).any(|v| walk.needed[v] && is_full(v));
        walk
    };
    (0..=depth).map(walk).collect()
}
