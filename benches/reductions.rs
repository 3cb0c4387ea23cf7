//! Reductions, gather and scatter.

#[path = "common/group.rs"]
mod group;
#[path = "common/inputs.rs"]
mod inputs;

use criterion::Criterion;
use group::{Size, compare, curve, few, of_matrix, of_one};
use inputs::{labels, uniform};
use mg_autograd::Tensor;
use mg_device::Result;

fn whole(criterion: &mut Criterion) -> Result<()> {
    of_one(criterion, "sum", curve(), (-1.0, 1.0), |x| x.try_sum_dim(&[], false))?;
    of_one(criterion, "max", few(), (-1.0, 1.0), |x| x.try_amax(&[], false))?;
    of_one(criterion, "argmax", few(), (-1.0, 1.0), |x| x.try_argmax(None, false))
}

fn axes(criterion: &mut Criterion) -> Result<()> {
    of_matrix(criterion, "sum over axis 0", few(), |x| x.try_sum_dim(&[0], false))?;
    of_matrix(criterion, "sum over axis 1", few(), |x| x.try_sum_dim(&[1], false))?;
    of_matrix(criterion, "argmax over axis 1", few(), |x| x.try_argmax(Some(1), false))
}

/// Rows of a table by random indices, as an embedding reads and updates them.
fn indexed(criterion: &mut Criterion) -> Result<()> {
    const COLUMNS: usize = 64;
    struct Rows {
        table: Tensor,
        values: Tensor,
        index: Tensor,
        wide: Tensor,
    }
    let make = |n| {
        let rows = n / COLUMNS;
        let index = labels(3, rows, 1000)?;
        Ok(Rows {
            table: uniform(1, &[1000, COLUMNS], -1.0, 1.0)?,
            values: uniform(2, &[rows, COLUMNS], -1.0, 1.0)?,
            wide: index.unsqueeze(1)?.expand(&[rows as isize, COLUMNS as isize])?,
            index,
        })
    };
    let sizes = || few().map(|size| Size { work: size.n / COLUMNS * COLUMNS, ..size });
    compare(criterion, "gather", sizes(), make, |r| r.table.index_select(0, &r.index)?.realize().map(drop))?;
    compare(criterion, "scatter_add", sizes(), make, |r| {
        r.table.scatter_add(0, &r.wide, &r.values)?.realize().map(drop)
    })
}

fn main() -> Result<()> {
    group::run(&[whole, axes, indexed])
}
