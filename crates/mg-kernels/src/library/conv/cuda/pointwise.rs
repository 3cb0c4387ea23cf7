//! Convolutions with windows of one element, one by one: products of matrices.

use super::super::ConvKind;
use super::Problem;
use crate::cuda::library::{KernelPlan, Pointer};
use crate::library::matmul::{Problem as Product, cuda as matmul};
use mg_device::{DType, Layout, Result, Shape};

/// `None` where it is no product, or a slower one.
pub(super) fn plan(problem: &Problem) -> Result<Option<KernelPlan>> {
    let Problem { kind, g, dtype, align, target, .. } = problem;
    let one = |numbers: [usize; 3]| numbers == [1; 3];
    let places = g.outputs();
    if !one(g.kernel) || !one(g.stride) || g.padding != [0; 3] || g.groups != 1 || target.capability < 80 {
        return Ok(None);
    }
    // Lines of places that are not aligned are moved apart before a product, and have to be stored one by one.
    let gathered = target.capability == 90 && matches!(dtype, DType::F16 | DType::BF16);
    let aligned = (places * dtype.size()).is_multiple_of(16);
    let c = g.c as isize;
    // Each image's channels by its places, multiplied by the weight from the left.
    let (a, weight, b) = match kind {
        _ if gathered && !aligned => return Ok(None),
        ConvKind::Forward => ([g.batch, g.o, g.c], [0, c, 1], [g.batch, g.c, places]),
        ConvKind::Input => ([g.batch, g.c, g.o], [0, 1, c], [g.batch, g.o, places]),
        ConvKind::Weight => return Ok(None),
    };
    let a = Layout::new(Shape::new(&a)?, &weight, 0)?;
    let b = Layout::contiguous(Shape::new(&b)?);
    let mut product = Product::new(*dtype, &a, &b)?;
    product.capability = target.capability;
    product.precision = target.precision;
    product.align = [align[1], align[0]];
    product.align_out = target.align;
    let mut plan = KernelPlan::default();
    plan.then(
        matmul::plan(&product)?,
        &[(Pointer::Input(1), 0), (Pointer::Input(0), 0)],
        (Pointer::Output(0), 0),
    );
    Ok(Some(plan))
}
