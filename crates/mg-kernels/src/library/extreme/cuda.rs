//! Launches of `kernels/extreme.cu`.

use super::Extreme;
use crate::cuda::library::args::index::Axes;
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::axes::WIDE;
use crate::cuda::library::constants::extreme::{GIVE, LOWER, RAISE, TAKE, THREADS};
use crate::cuda::library::many::TAKEN;
use crate::cuda::library::{KernelPlan, Pointer, launch};
use crate::library::Described;
use crate::library::sort::{bits, turn};
use mg_device::{Error, ErrorKind, Layout, Result, collapse};

pub(super) fn plan(extreme: &Extreme, operands: &[Described]) -> Result<KernelPlan> {
    const OP: &str = "scatter_reduce";
    let [base, x, _] = operands else {
        return Err(Error::new(OP, ErrorKind::Internal("takes three operands".into())));
    };
    let (shape, given) = (*base.layout.shape(), *x.layout.shape());
    let axis = usize::from(extreme.axis);
    let dense = Layout::contiguous(shape);
    let mut around = [dense.padded_strides()];
    let stride = std::mem::replace(&mut around[0][axis], 0);
    let sizes = collapse(&given, &mut around);
    if sizes.rank() > TAKEN || given.iter().any(|&n| n > u32::MAX as usize) {
        let text = format!("values of shape {given} on a CUDA device: too many axes, or too long ones");
        return Err(Error::new(OP, ErrorKind::Shape(text)));
    }
    let mut plan = KernelPlan::default();
    // Atomics are of four bytes at least.
    let size = base.dtype.size();
    let keys = if size < 4 { Some((Pointer::Workspace, 0)) } else { OUTPUT };
    if size < 4 {
        plan.workspace = 4 * shape.numel();
    }
    let name = format!("extreme_{}", bits(base.dtype));
    let mut step = |step: usize, count: usize| {
        let args = args::extreme::Extreme {
            out: OUTPUT,
            base: input(0),
            x: input(1),
            index: input(2),
            fault: Some((Pointer::Fault, 0)),
            keys,
            count: count as u64,
            limit: shape[axis] as i64,
            stride: stride as i64,
            sign: turn(base.dtype, false),
            step: step as u32,
            least: extreme.least.into(),
            places: Axes::of(&sizes, [&around[0]], given.numel() >= WIDE),
        };
        if count > 0 {
            plan.launches.push(launch(OP, &name, count.div_ceil(THREADS), &args)?);
        }
        Ok::<(), Error>(())
    };
    step(TAKE, shape.numel())?;
    if !extreme.own {
        step(LOWER, given.numel())?;
    }
    step(RAISE, given.numel())?;
    step(GIVE, shape.numel())?;
    Ok(plan)
}
