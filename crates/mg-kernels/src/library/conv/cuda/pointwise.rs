//! Convolutions with windows of one element, one by one: products of matrices.

use super::super::{ConvKind, Geometry};
use super::Problem;
use crate::cuda::library::{KernelPlan, Pointer};
use crate::library::matmul::{Problem as Product, cuda as matmul};
use mg_device::{DType, Layout, Result, Shape};

/// Whether it is a product.
fn is_product(g: &Geometry, capability: u32) -> bool {
    let one = |numbers: [usize; 3]| numbers == [1; 3];
    one(g.kernel) && one(g.stride) && g.padding == [0; 3] && g.groups == 1 && capability >= 80
}

/// Whether places that are not aligned are for the copy engine to gather: lines of them are moved apart before a product, and have to be stored one by one.
fn is_gathered(g: &Geometry, dtype: DType, capability: u32) -> bool {
    let aligned = (g.outputs() * dtype.size()).is_multiple_of(16);
    !aligned && capability == 90 && matches!(dtype, DType::F16 | DType::BF16)
}

/// Whether it is a product wherever operands lie, as those take elementwise work.
pub(super) fn takes_epilogue(g: &Geometry, dtype: DType, capability: u32, innermost: bool) -> bool {
    is_product(g, capability) && (innermost || !is_gathered(g, dtype, capability))
}

/// Columns of halves with which a product has little to do for each tile that it stores; the kernels of windows have places there, and those as rows.
const FEW: usize = 64;
/// Places of halves from which on blocks that share a tile of the gradient by the weight are so many that it is sooner added up by a launch of its own.
const MANY: usize = 1 << 15;

/// Whether the kernels of windows are faster, of operands and a result whose channels are innermost.
fn is_slower(kind: ConvKind, g: &Geometry, dtype: DType, capability: u32) -> bool {
    let halves = matches!(dtype, DType::F16 | DType::BF16);
    let faster = match kind {
        ConvKind::Forward => g.o <= FEW,
        ConvKind::Input => g.c <= FEW,
        ConvKind::Weight => g.batch * g.outputs() >= MANY,
    };
    halves && capability == 90 && faster
}

/// `None` where it is no product, or a slower one.
pub(super) fn plan(problem: &Problem) -> Result<Option<KernelPlan>> {
    let &Problem { kind, g, dtype, align, innermost, target, .. } = problem;
    let places = g.outputs();
    let in_planes = innermost == [false; 2] && !target.innermost;
    if !is_product(g, target.capability) || in_planes && is_gathered(g, dtype, target.capability) {
        return Ok(None);
    }
    let all_innermost = innermost[0] && (target.innermost || innermost[1]);
    if all_innermost && is_slower(kind, g, dtype, target.capability) {
        return Ok(None);
    }
    // Images of so many channels, seen as rows of channels by columns of places, or the other way round.
    let images = |channels: usize, innermost: bool, by_places: bool| {
        let image = (channels * places) as isize;
        let (channel, place) = if innermost { (1, channels as isize) } else { (places as isize, 1) };
        let (sizes, strides) = match by_places {
            true => ([g.batch, places, channels], [image, place, channel]),
            false => ([g.batch, channels, places], [image, channel, place]),
        };
        Layout::new(Shape::new(&sizes)?, &strides, 0)
    };
    let c = g.c as isize;
    // The weight, with this many rows before as many columns; a gradient's are the other way round.
    let weight = |sizes: [usize; 2], strides: [isize; 2]| {
        let [rows, columns] = sizes;
        Layout::new(Shape::new(&[g.batch, rows, columns])?, &[0, strides[0], strides[1]], 0)
    };
    let (a, b, operands) = match (kind, target.innermost) {
        // Places by channels, multiplied by the weight from the right.
        (ConvKind::Forward, true) => (images(g.c, innermost[0], true)?, weight([g.c, g.o], [1, c])?, [0, 1]),
        (ConvKind::Input, true) => (images(g.o, innermost[0], true)?, weight([g.o, g.c], [c, 1])?, [0, 1]),
        // Each image's channels by its places, multiplied by the weight from the left.
        (ConvKind::Forward, false) => {
            (weight([g.o, g.c], [c, 1])?, images(g.c, innermost[0], false)?, [1, 0])
        }
        (ConvKind::Input, false) => (weight([g.c, g.o], [1, c])?, images(g.o, innermost[0], false)?, [1, 0]),
        // Of all images' places at once, where these lie one after the other.
        (ConvKind::Weight, _) if innermost == [true; 2] => {
            let all = g.batch * places;
            let rows = Layout::new(Shape::new(&[g.o, all])?, &[1, g.o as isize], 0)?;
            (rows, Layout::contiguous(Shape::new(&[all, g.c])?), [1, 0])
        }
        (ConvKind::Weight, _) => return Ok(None),
    };
    let mut product = Product::new(dtype, &a, &b)?;
    product.capability = target.capability;
    product.tiles = target.tiles;
    product.precision = target.precision;
    product.align = operands.map(|operand| align[operand]);
    product.align_out = target.align;
    product.epilogue = target.epilogue;
    let [rows, columns, _] = product.sizes();
    let mut plan = KernelPlan { matrix: [rows, columns], ..KernelPlan::default() };
    plan.then(
        matmul::plan(&product)?,
        &operands.map(|operand| (Pointer::Input(operand as u8), 0)),
        (Pointer::Output(0), 0),
    );
    Ok(Some(plan))
}
