//! Reductions, gather and scatter, from a thousand elements to 2²⁴.

#[path = "common/group.rs"]
mod group;
#[path = "common/inputs.rs"]
mod inputs;

use criterion::Criterion;
use group::{SIZES, of_matrix, of_one, time};
use inputs::{labels, uniform};
use mg_autograd::Tensor;
use mg_device::Result;

fn whole(criterion: &mut Criterion) -> Result<()> {
    of_one(criterion, "sum", (-1.0, 1.0), |x| x.sum_dim(&[], false))?;
    of_one(criterion, "max", (-1.0, 1.0), |x| x.max_dim(&[], false))?;
    of_one(criterion, "argmax", (-1.0, 1.0), |x| x.argmax(None))
}

fn axes(criterion: &mut Criterion) -> Result<()> {
    of_matrix(criterion, "sum over axis 0", |x| x.sum_dim(&[0], false))?;
    of_matrix(criterion, "sum over axis 1", |x| x.sum_dim(&[1], false))?;
    of_matrix(criterion, "argmax over axis 1", |x| x.argmax(Some(1)))
}

/// Rows of a table by random indices, as an embedding reads and updates them.
fn indexed(criterion: &mut Criterion) -> Result<()> {
    const COLUMNS: usize = 64;
    for n in SIZES {
        let rows = n / COLUMNS;
        let table = uniform(1, &[1000, COLUMNS], -1.0, 1.0)?;
        let values = uniform(2, &[rows, COLUMNS], -1.0, 1.0)?;
        let index = labels(3, rows, 1000)?;
        let wide: Tensor = index.unsqueeze(1)?.expand(&[rows as isize, COLUMNS as isize])?;
        let size = format!("{rows}x{COLUMNS}");
        time(criterion, "gather", &size, rows * COLUMNS, || table.index_select(0, &index))?;
        time(criterion, "scatter_add", &size, rows * COLUMNS, || table.scatter_add(0, &wide, &values))?;
    }
    Ok(())
}

fn main() -> Result<()> {
    group::run(&[whole, axes, indexed])
}
