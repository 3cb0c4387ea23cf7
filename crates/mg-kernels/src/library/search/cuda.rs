//! The launch of `kernels/search.cu`.

use super::{Lines, Search};
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants::search::THREADS;
use crate::cuda::library::{Plan, launch};
use crate::library::Described;
use crate::library::sort::{bits, turn};
use mg_device::{Error, ErrorKind, Result};

pub(super) fn plan(search: &Search, operands: &[Described]) -> Result<Plan> {
    let op = "searchsorted";
    let [sorted, values] = operands else {
        return Err(Error::new(op, ErrorKind::Internal("takes two operands".into())));
    };
    let lines = Lines::of(sorted.layout.shape(), values.layout.shape());
    let mut plan = Plan::default();
    if lines.count == 0 {
        return Ok(plan);
    }
    let args = args::search::Search {
        out: OUTPUT,
        sorted: input(0),
        values: input(1),
        length: lines.length as u64,
        each: lines.values as u64,
        count: lines.count as u64,
        right: search.right.into(),
        turn: turn(sorted.dtype, false),
    };
    let name = format!("search_{}", bits(sorted.dtype));
    plan.launches.push(launch(op, &name, lines.count.div_ceil(THREADS), &args)?);
    Ok(plan)
}
