//! The launch of `kernels/blend.cu`.

use super::Blend;
use crate::cuda::library::args::index::{Axes, Divisor};
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::axes::{WIDE, countable};
use crate::cuda::library::constants::blend::{THREADS, TIMES};
use crate::cuda::library::many::{self, Copied, TAKEN};
use crate::cuda::library::{KernelPlan, launch};
use crate::library::{Described, Shaped};
use mg_device::{Error, ErrorKind, Layout, MAX_RANK, Result, Shape, collapse};
use std::array::from_fn;

const OP: &str = "blend";
/// So many threads are enough for any GPU: of more elements each has several that share indices, up to [`EACH`].
const ENOUGH: usize = 1 << 19;
const EACH: usize = 4 * TIMES;

/// As the walk of a shape sees them: where an axis has one position, its stride says nothing.
fn strides(layout: &Layout) -> [isize; MAX_RANK] {
    let mut strides = layout.padded_strides();
    let ones = strides.iter_mut().zip(layout.shape().iter()).filter(|(_, n)| **n == 1);
    ones.for_each(|(stride, _)| *stride = 0);
    strides
}

pub(super) fn plan(kernel: &Blend, operands: &[Described], result: &Shaped) -> Result<KernelPlan> {
    let [x, behind @ ..] = operands else {
        return Err(Error::new(OP, ErrorKind::Internal("a kernel without its operands".into())));
    };
    let shape = result.shape;
    if shape.contains(&0) {
        return Ok(KernelPlan::default());
    }
    let (axis, taps) = (usize::from(kernel.axis), usize::from(kernel.taps));
    let mut around =
        [strides(&behind[0].layout), x.layout.padded_strides(), Layout::contiguous(shape).padded_strides()];
    let along = std::mem::replace(&mut around[1][axis], 0);
    let alike = behind.iter().all(|o| strides(&o.layout) == around[0]);
    let sizes = collapse(&shape, &mut around);
    if !alike || sizes.rank() > TAKEN {
        return of_dense(kernel, operands, result);
    }
    // What shares indices along an axis is a thread's, but along the innermost one, where threads lie side by side.
    let rank = sizes.rank();
    let among = (0..rank.saturating_sub(1)).filter(|&d| around[0][d] == 0 && sizes[d] <= u32::MAX as usize);
    let shared = among.max_by_key(|&d| sizes[d]);
    let places = shared.map_or(1, |d| sizes[d]);
    let step = |k: usize| shared.map_or(0, |d| around[k][d]) as i64;
    let (x_step, out_step) = (step(1), step(2));
    let kept: Vec<usize> = (0..rank).filter(|&d| Some(d) != shared).collect();
    let others = Shape::of(&kept.iter().map(|&d| sizes[d]).collect::<Vec<_>>());
    let around = around.map(|of| from_fn(|d| kept.get(d).map_or(0, |&from| of[from])));
    let count = others.numel();
    let wide = count >= WIDE;
    let (sizes, around) = countable(OP, others.dims(), around)?;
    let each = (shape.numel() / ENOUGH).next_multiple_of(TIMES).clamp(TIMES, EACH);
    let across = count.div_ceil(THREADS);
    let blocks = across.saturating_mul(places.div_ceil(each));
    if across > u32::MAX as usize || blocks >= WIDE {
        return Err(Error::new(
            OP,
            ErrorKind::Shape(format!("{shape} has more elements than a launch takes")),
        ));
    }
    let pointer = |group: usize, t: usize| match t < taps && (group < 2 || kernel.asks) {
        true => input((1 + group * taps + t) as u8),
        false => None,
    };
    let args = args::blend::Blend {
        out: OUTPUT,
        x: input(0),
        index: from_fn(|t| pointer(0, t)),
        weight: from_fn(|t| pointer(1, t)),
        inside: from_fn(|t| pointer(2, t)),
        count: count as u64,
        limit: x.layout.shape()[axis] as i64,
        along: along as i64,
        x_step,
        out_step,
        shared: places as u32,
        each: each as u32,
        taps: taps as u32,
        asks: kernel.asks.into(),
        across: Divisor::by(across),
        wide: wide.into(),
        axes: Axes::of(&sizes, [&around[0], &around[1], &around[2]], wide),
    };
    let name = format!("blend_{}", result.dtype.name());
    let mut plan = KernelPlan::default();
    plan.launches.push(launch(OP, &name, blocks, &args)?);
    Ok(plan)
}

/// Indices and weights that lie in different ways, or along more axes than a kernel takes, are copied first.
fn of_dense(kernel: &Blend, operands: &[Described], result: &Shaped) -> Result<KernelPlan> {
    let axis = usize::from(kernel.axis);
    let dense: Vec<Described> =
        operands.iter().map(|o| Described { layout: many::around(&o.layout, axis), ..*o }).collect();
    let lying = Layout::contiguous(result.shape);
    let result = Shaped { shape: *many::around(&lying, axis).shape(), ..*result };
    let copied: Vec<Copied> = operands.iter().map(|o| (o.dtype.size(), &o.layout, o.align)).collect();
    many::of_dense(&copied, plan(&Blend { axis: 1, ..*kernel }, &dense, &result)?)
}
