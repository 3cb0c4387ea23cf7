//! Strided copies and fills.

use super::args::index::Axes;
use super::args::{self, OUTPUT, input};
use super::axes::{WIDE, countable};
use super::constants::copy::{BLOCK, THREADS};
use super::many::{TAKEN, indices};
use super::{Plan, Pointer};
use mg_device::{Error, ErrorKind, Layout, MAX_RANK, Result, Shape, collapse};
use smallvec::{SmallVec, smallvec};

/// Rows and columns of the tiles that are transposed with 16-byte accesses, for elements of 2, 4 and 8 bytes; and without.
const SIDES_VECTOR: [[usize; 2]; 3] = [[128, 128], [128, 64], [64, 64]];
const SIDES: [usize; 2] = [32, 32];
/// Rows and columns from which tiles pay.
const SMALLEST_SIDE: usize = 8;

/// Copies the elements of [`Pointer::Input`]`(0)`, which lie as `from` says, to [`Pointer::Output`]`(0)`, as `to` says;
/// both of one shape, elements of `size` bytes (1, 2, 4 or 8). Strides of `to` reach every element once; offsets do not
/// count, addresses are those of the elements at index zero. `align` is what both addresses are multiples of, in bytes.
///
/// # Errors
///
/// [`ErrorKind::Shape`] where the shapes differ or there are more tiles than a launch has blocks.
pub fn plan(size: usize, from: &Layout, to: &Layout, align: usize) -> Result<Plan> {
    if from.shape() != to.shape() {
        let text = format!("shapes {} and {} of a copy differ", from.shape(), to.shape());
        return Err(Error::new("copy", ErrorKind::Shape(text)));
    }
    // Outermost first, as the result lies in memory.
    let mut order: SmallVec<[usize; MAX_RANK]> = (0..to.rank()).collect();
    order.sort_by_key(|&d| std::cmp::Reverse(to.strides()[d].unsigned_abs()));
    let (to, from) = (to.permute(&order)?, from.permute(&order)?);
    let mut strides = [to.padded_strides(), from.padded_strides()];
    let shape = collapse(to.shape(), &mut strides);
    if shape.contains(&0) {
        return Ok(Plan::default());
    }
    if shape.rank() > TAKEN {
        return in_parts(size, &shape, &strides, align);
    }
    merged(size, shape, strides, align)
}

/// A copy over more axes than a kernel takes: a launch for each index of those that are shortest.
fn in_parts(size: usize, shape: &Shape, strides: &[[isize; MAX_RANK]; 2], align: usize) -> Result<Plan> {
    let mut by_size: SmallVec<[usize; MAX_RANK]> = (0..shape.rank()).collect();
    by_size.sort_by_key(|&axis| shape[axis]);
    let (walked, kept) = by_size.split_at_mut(shape.rank() - TAKEN);
    kept.sort_unstable();
    let of = |axes: &[usize]| axes.iter().map(|&axis| shape[axis]).collect::<SmallVec<[usize; MAX_RANK]>>();
    let inner = strides.map(|strides| {
        let mut inner = [0; MAX_RANK];
        inner.iter_mut().zip(kept.iter()).for_each(|(to, &axis)| *to = strides[axis]);
        inner
    });
    // Parts begin at other addresses.
    let steps = strides.iter().flat_map(|strides| walked.iter().map(|&axis| strides[axis]));
    let align = steps.fold(align.min(16), |align, step| {
        let step = step.unsigned_abs() * size;
        if step == 0 { align } else { align.min(1 << step.trailing_zeros().min(4)) }
    });
    let part = merged(size, Shape::of(&of(kept)), inner, align)?;
    let mut plan = Plan::default();
    for index in indices(&of(walked)) {
        let at = strides.map(|strides| {
            let steps = index.iter().zip(walked.iter()).map(|(&i, &axis)| i as isize * strides[axis]);
            (steps.sum::<isize>() * size as isize) as i64 as u64
        });
        let moved = |pointer| match pointer {
            Pointer::Output(_) => (pointer, at[0]),
            Pointer::Input(_) => (pointer, at[1]),
            Pointer::Workspace | Pointer::Tickets | Pointer::Fault => (pointer, 0),
        };
        plan.launches.extend(part.launches.iter().cloned().map(|launch| launch.moved(moved)));
    }
    Ok(plan)
}

/// A copy over axes that no longer merge, as many as a kernel takes.
fn merged(size: usize, shape: Shape, strides: [[isize; MAX_RANK]; 2], align: usize) -> Result<Plan> {
    let rank = shape.rank();
    let unit = |s: &[isize; MAX_RANK]| (0..rank).find(|&d| s[d] == 1 && shape[d] > 1);
    if let (Some(row), Some(column)) = (unit(&strides[0]), unit(&strides[1]))
        && row != column
        && size <= 8
        && shape[row].min(shape[column]) >= SMALLEST_SIDE
    {
        return transposed(size, &shape, &strides, row, column, align);
    }
    let (unit, shape, strides) = widen(size, shape, strides, align);
    let count = shape.numel();
    let (sizes, strides) = countable("copy", shape.dims(), strides)?;
    let axes = Axes::of(&sizes, [&strides[0], &strides[1]], count >= WIDE);
    let args = args::copy::Copy { out: OUTPUT, from: input(0), count: count as u64, axes };
    let name = format!("copy_b{}", unit * 8);
    Ok(Plan {
        launches: smallvec![super::launch("copy", &name, count.div_ceil(BLOCK), &args)?],
        ..Plan::default()
    })
}

/// Several neighbours as one element, where both sides have them side by side and aligned: bytes of the element, and the
/// space over such elements.
fn widen(
    size: usize,
    shape: Shape,
    strides: [[isize; MAX_RANK]; 2],
    align: usize,
) -> (usize, Shape, [[isize; MAX_RANK]; 2]) {
    let Some(last) = shape.rank().checked_sub(1) else { return (size, shape, strides) };
    let fits = |each: usize| {
        let divides = |stride: isize| stride.unsigned_abs().is_multiple_of(each);
        align.is_multiple_of(each * size)
            && shape[last].is_multiple_of(each)
            && strides.iter().all(|s| s[last] == 1 && s[..last].iter().all(|&s| divides(s)))
    };
    let each = [16, 8, 4, 2].into_iter().find(|&each| each * size <= 16 && fits(each)).unwrap_or(1);
    let wide = strides.map(|mut s| {
        s[..last].iter_mut().for_each(|s| *s /= each as isize);
        s
    });
    (size * each, shape.with(last, shape[last] / each), wide)
}

/// Neighbours along `row` lie side by side in the result, along `column` in the source.
fn transposed(
    size: usize,
    shape: &Shape,
    strides: &[[isize; MAX_RANK]; 2],
    row: usize,
    column: usize,
    align: usize,
) -> Result<Plan> {
    let around: SmallVec<[usize; MAX_RANK]> =
        (0..shape.rank()).filter(|&d| d != row && d != column).collect();
    let (rows, columns) = (shape[row], shape[column]);
    let (from_row, out_column) = (strides[1][row], strides[0][column]);
    let sizes: SmallVec<[usize; MAX_RANK]> = around.iter().map(|&d| shape[d]).collect();
    let rest = |s: &[isize; MAX_RANK]| around.iter().map(|&d| s[d]).collect::<SmallVec<[isize; MAX_RANK]>>();
    let (out_rest, from_rest) = (rest(&strides[0]), rest(&strides[1]));
    let each = 16 / size;
    let divides = |stride: isize| stride.unsigned_abs().is_multiple_of(each);
    let vector = size > 1
        && align.is_multiple_of(16)
        && rows.is_multiple_of(each)
        && columns.is_multiple_of(each)
        && divides(from_row)
        && divides(out_column)
        && out_rest.iter().chain(&from_rest).all(|&s| divides(s));
    let [high, wide] = if vector { SIDES_VECTOR[size.ilog2() as usize - 1] } else { SIDES };
    let (tiles_r, tiles_c) = (rows.div_ceil(high), columns.div_ceil(wide));
    let count: usize = sizes.iter().product();
    if rows >= WIDE || columns >= WIDE {
        let text = format!("a transposed copy of {rows} by {columns}: sizes have to be below 2^31");
        return Err(Error::new("copy", ErrorKind::Shape(text)));
    }
    let args = args::copy::Plane {
        out: OUTPUT,
        from: input(0),
        rows: rows as u32,
        columns: columns as u32,
        from_row: from_row as i64,
        out_column: out_column as i64,
        tiles_r: tiles_r as u32,
        tiles_c: tiles_c as u32,
        around: Axes::of(&sizes, [&out_rest, &from_rest], false),
    };
    let name = format!("transpose_b{}{}", size * 8, if vector { "_v" } else { "" });
    Ok(Plan {
        launches: smallvec![super::launch("copy", &name, tiles_r * tiles_c * count, &args)?],
        ..Plan::default()
    })
}

/// Sets `count` neighbouring elements of `size` bytes (1, 2, 4 or 8) at [`Pointer::Output`]`(0)` to the lowest bytes of
/// `bits`.
///
/// # Errors
///
/// [`ErrorKind::Value`] for another size.
pub fn fill(size: usize, count: usize, bits: u64) -> Result<Plan> {
    if !matches!(size, 1 | 2 | 4 | 8) {
        return Err(Error::new(
            "fill",
            ErrorKind::Value(format!("elements of {size} bytes; 1, 2, 4, 8 are taken")),
        ));
    }
    if count == 0 {
        return Ok(Plan::default());
    }
    let args = args::copy::Fill { out: OUTPUT, count: count as u64, bits };
    // Blocks go on to other parts where there are more than these.
    let blocks = (count * size).div_ceil(16 * THREADS * 4).min(1 << 14);
    let name = format!("fill_b{}", size * 8);
    Ok(Plan { launches: smallvec![super::launch("fill", &name, blocks, &args)?], ..Plan::default() })
}

/// A launch with an argument that was written number by number.
pub(crate) fn launch(
    op: &'static str,
    name: &str,
    blocks: usize,
    args: super::args::Args,
) -> Result<super::Launch> {
    let Ok(grid) = i32::try_from(blocks) else {
        let text = format!("{blocks} blocks are needed, at most 2^31 - 1 are taken");
        return Err(Error::new(op, ErrorKind::Shape(text)));
    };
    super::Launch::with(op, super::find(op, name)?, grid as u32, args)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a strided copy moves, read from the arguments of its launches as the kernel reads them: bytes from, bytes to.
    fn moves(plan: &Plan) -> Vec<(i64, i64)> {
        let mut all = vec![];
        for launch in &plan.launches {
            let args = launch.args.as_slice();
            let number = |at: usize| i64::from_ne_bytes(args[at..at + 8].try_into().unwrap());
            let small = |at: usize| u32::from_ne_bytes(args[at..at + 4].try_into().unwrap()) as i64;
            let base = |wanted: Pointer| {
                let mut found = launch.pointers().filter(|(_, pointer, _)| *pointer == wanted);
                found.next().map(|(_, _, offset)| offset as i64).unwrap()
            };
            let unit: i64 = launch.kernel.name.trim_start_matches("copy_b").parse::<i64>().unwrap() / 8;
            let strides = 24 + 16 * TAKEN;
            let rank = small(strides + 16 * TAKEN) as usize;
            for mut position in 0..number(16) {
                let mut at = [base(Pointer::Output(0)), base(Pointer::Input(0))];
                for axis in (0..rank).rev() {
                    let size = small(24 + 16 * axis);
                    for (of, at) in at.iter_mut().enumerate() {
                        *at += position % size * number(strides + 8 * (of * TAKEN + axis)) * unit;
                    }
                    position /= size;
                }
                all.extend((0..unit).map(|byte| (at[1] + byte, at[0] + byte)));
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn more_axes_than_a_kernel_takes_are_copied_in_parts() {
        let two = Layout::contiguous(Shape::from([2; 12]));
        let mut reversed: Vec<usize> = (0..12).rev().collect();
        reversed.swap(3, 8);
        let turned = two.permute(&reversed).unwrap();
        let sizes = Layout::contiguous(Shape::from([2, 3, 1, 2, 2, 2, 3, 2, 2, 2, 2, 3]));
        let axes: Vec<usize> = [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11].into();
        for (from, size) in [(turned, 4), (turned, 2), (sizes.permute(&axes).unwrap(), 8)] {
            let to = Layout::contiguous(*from.shape());
            let plan = plan(size, &from, &to, 16).unwrap();
            assert!(plan.launches.len() > 1 && plan.launches.len() <= 64, "{} launches", plan.launches.len());
            let each = |(from, to): (usize, usize)| {
                (0..size).map(move |byte| ((from * size + byte) as i64, (to * size + byte) as i64))
            };
            let mut wanted: Vec<(i64, i64)> = from.offsets().zip(to.offsets()).flat_map(each).collect();
            wanted.sort_unstable();
            assert_eq!(moves(&plan), wanted);
        }
    }
}
