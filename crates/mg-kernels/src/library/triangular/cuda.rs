//! Launches of `kernels/triangular.cu`.

use super::Triangular;
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants::triangular::SIDE;
use crate::cuda::library::{Plan, launch};
use crate::library::{Described, Shaped};
use mg_device::{Error, ErrorKind, Result};

pub(super) fn plan(kernel: &Triangular, operands: &[Described], result: &Shaped) -> Result<Plan> {
    const OP: &str = "solve_triangular";
    let Some((lead, &[n, k])) = result.shape.split_last_chunk::<2>() else { return Ok(Plan::default()) };
    let count: usize = lead.iter().product();
    if count * n * k == 0 || operands.len() != 2 {
        return Ok(Plan::default());
    }
    if n >= 1 << 31 || k >= 1 << 31 {
        let text = format!("matrices of {n} by {k}: sizes have to be below 2^31");
        return Err(Error::new(OP, ErrorKind::Shape(text)));
    }
    let tiles = k.div_ceil(SIDE);
    let args = args::triangular::Triangular {
        out: OUTPUT,
        a: input(0),
        b: input(1),
        n: n as u32,
        k: k as u32,
        tiles: tiles as u32,
        upper: kernel.upper.into(),
        unit: kernel.unit.into(),
        transposed: kernel.transposed.into(),
    };
    let name = format!("triangular_{}", result.dtype.name());
    let mut plan = Plan::default();
    plan.launches.push(launch(OP, &name, tiles * count, &args)?);
    Ok(plan)
}
