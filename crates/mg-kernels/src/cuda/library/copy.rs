//! Strided copies and fills.

use super::args::index::Axes;
use super::args::{self, OUTPUT, input};
use super::axes::{WIDE, countable};
use super::constants::copy::{BLOCK, MOST_PARTS, THREADS};
use super::many::TAKEN;
use super::{KernelLaunch, KernelPlan, Pointer};
use mg_device::{Error, ErrorKind, Layout, MAX_RANK, Result, Shape, collapse};
use smallvec::{SmallVec, smallvec};
use std::array::from_fn;

/// Rows and columns of the tiles that are transposed with 16-byte accesses, for elements of 2, 4 and 8 bytes; and without.
const SIDES_VECTOR: [[usize; 2]; 3] = [[128, 128], [128, 64], [64, 64]];
const SIDES: [usize; 2] = [32, 32];
/// Rows and columns from which tiles pay.
const SMALLEST_SIDE: usize = 8;
/// Elements from which there are enough threads where each has several neighbours.
const NEIGHBOURS: usize = 1 << 18;

/// Copies the elements of [`Pointer::Input`]`(0)`, which lie as `from` says, to [`Pointer::Output`]`(0)`, as `to` says;
/// both of one shape, elements of `size` bytes (1, 2, 4 or 8). Strides of `to` reach every element once; offsets do not
/// count, addresses are those of the elements at index zero. `align` is what both addresses are multiples of, in bytes.
///
/// # Errors
///
/// [`ErrorKind::Shape`] where the shapes differ or there are more tiles than a launch has blocks.
pub fn plan(size: usize, from: &Layout, to: &Layout, align: usize) -> Result<KernelPlan> {
    if from.shape() != to.shape() {
        let text = format!("shapes {} and {} of a copy differ", from.shape(), to.shape());
        return Err(Error::new("copy", ErrorKind::Shape(text)));
    }
    let (shape, strides) = outermost_first(from, to)?;
    if shape.contains(&0) {
        return Ok(KernelPlan::default());
    }
    if shape.rank() > TAKEN {
        return many(size, shape, strides, align);
    }
    merged(size, shape, strides, align)
}

/// Copies `count` lines of `length` neighbours of `size` bytes to [`Pointer::Output`]`(0)`, where lines begin at multiples of 16 bytes and have room for whole
/// ones; the source's begin anywhere. `strides` are elements from one line to the next, of the source and the result. `None` for other sizes than 2 and 4, and for
/// more than a launch takes.
pub(crate) fn lines(
    size: usize,
    [count, length]: [usize; 2],
    strides: [isize; 2],
) -> Result<Option<KernelPlan>> {
    let chunks = length.saturating_mul(size).div_ceil(16);
    let all = chunks.saturating_mul(count);
    if !matches!(size, 2 | 4) || all == 0 || all >= WIDE {
        return Ok(None);
    }
    let [from_line, out_line] = strides.map(|stride| stride as i64);
    let args = args::copy::Lines {
        out: OUTPUT,
        from: input(0),
        count: count as u32,
        length: length as u32,
        chunks: chunks as u32,
        from_line,
        out_line,
    };
    let name = format!("copy_lines_b{}", size * 8);
    let launches = smallvec![super::launch("copy", &name, all.div_ceil(BLOCK), &args)?];
    Ok(Some(KernelPlan { launches, ..KernelPlan::default() }))
}

/// A part of what is copied [together]: how it lies, where it goes (the offset counts), and what both addresses are multiples of.
pub type Part<'a> = (&'a Layout, &'a Layout, usize);

/// Bytes up to which several parts are copied at once: of more a launch is the least of it.
const TOGETHER: usize = 1 << 25;

/// Copies several parts, each [`Pointer::Input`] of its number, to where they lie in one output, of which none overlap. `None` where each is
/// better copied by itself.
///
/// # Errors
///
/// As [`plan`].
pub fn together(size: usize, parts: &[Part]) -> Result<Option<KernelPlan>> {
    let elements: usize = parts.iter().map(|(from, _, _)| from.numel()).sum();
    if !(2..=MOST_PARTS).contains(&parts.len()) || elements * size > TOGETHER {
        return Ok(None);
    }
    let mut all: [args::copy::Part; MOST_PARTS] = from_fn(|_| args::copy::Part {
        out: None,
        from: None,
        count: 0,
        first: 0,
        unit: 1,
        axes: Axes::of(&[], [&[], &[]], false),
    });
    let mut blocks = 0;
    for (number, (part, &(from, to, align))) in all.iter_mut().zip(parts).enumerate() {
        let (shape, strides) = outermost_first(from, to)?;
        if shape.contains(&0) || shape.rank() > TAKEN || !matches!(way(size, &shape, &strides), Way::Strided)
        {
            return Ok(None);
        }
        let (unit, shape, strides) = widen(size, shape, strides, align);
        let (sizes, strides) = countable("copy", shape.dims(), strides)?;
        *part = args::copy::Part {
            out: Some((Pointer::Output(0), (to.offset() * size) as u64)),
            from: input(number as u8),
            count: shape.numel() as u64,
            first: blocks as u32,
            unit: unit as u32,
            axes: Axes::of(&sizes, [&strides[0], &strides[1]], false),
        };
        blocks += shape.numel().div_ceil(BLOCK);
    }
    let args = args::copy::Parts { count: parts.len() as u32, parts: all };
    let launches = smallvec![super::launch("copy", "copy_parts", blocks, &args)?];
    Ok(Some(KernelPlan { launches, ..KernelPlan::default() }))
}

/// Axes in the order in which the result lies in memory, those that merge as one; the result's strides come first.
fn outermost_first(from: &Layout, to: &Layout) -> Result<(Shape, [[isize; MAX_RANK]; 2])> {
    let mut order: SmallVec<[usize; MAX_RANK]> = (0..to.rank()).collect();
    order.sort_by_key(|&d| std::cmp::Reverse(to.strides()[d].unsigned_abs()));
    let (to, from) = (to.permute(&order)?, from.permute(&order)?);
    let mut strides = [to.padded_strides(), from.padded_strides()];
    let shape = collapse(to.shape(), &mut strides);
    Ok((shape, strides))
}

/// How elements are copied best.
enum Way {
    /// From the other end of an axis.
    Turned(usize),
    /// By tiles of a row and a column.
    Transposed(usize, usize),
    Strided,
}

fn way(size: usize, shape: &Shape, strides: &[[isize; MAX_RANK]; 2]) -> Way {
    let rank = shape.rank();
    let unit = |s: &[isize; MAX_RANK]| (0..rank).find(|&d| s[d] == 1 && shape[d] > 1);
    // Neighbours of the source in the other direction: the result is written from its other end instead.
    let turned = |d: &usize| strides[1][*d] == -1 && strides[0][*d] != 1 && shape[*d] > 1;
    match (unit(&strides[0]), unit(&strides[1])) {
        (_, None) => (0..rank).find(turned).map_or(Way::Strided, Way::Turned),
        (Some(row), Some(column))
            if row != column && size <= 8 && shape[row].min(shape[column]) >= SMALLEST_SIDE =>
        {
            Way::Transposed(row, column)
        }
        _ => Way::Strided,
    }
}

/// A copy over more axes than kernels take elsewhere.
fn many(size: usize, shape: Shape, strides: [[isize; MAX_RANK]; 2], align: usize) -> Result<KernelPlan> {
    let (unit, shape, strides) = widen(size, shape, strides, align);
    let count = shape.numel();
    let (outer, inner) = shape.dims().split_at(shape.rank() - TAKEN);
    let inside = strides.map(|mut s| {
        s.rotate_left(outer.len());
        s
    });
    let positions: [usize; 2] = [outer, inner].map(|sizes| sizes.iter().product());
    let axes = |sizes, strides, positions| {
        let (sizes, strides) = countable("copy", sizes, strides)?;
        Ok::<_, Error>(Axes::of(&sizes, [&strides[0], &strides[1]], positions >= WIDE))
    };
    let args = args::copy::Many {
        out: OUTPUT,
        from: input(0),
        count: count as u64,
        inside: positions[1] as u64,
        around: axes(outer, strides, positions[0])?,
        axes: axes(inner, inside, positions[1])?,
    };
    let name = format!("copy_many_b{}", unit * 8);
    Ok(KernelPlan {
        launches: smallvec![super::launch("copy", &name, count.div_ceil(BLOCK), &args)?],
        ..KernelPlan::default()
    })
}

/// A copy over axes that no longer merge, as many as a kernel takes.
fn merged(size: usize, shape: Shape, strides: [[isize; MAX_RANK]; 2], align: usize) -> Result<KernelPlan> {
    let way = way(size, &shape, &strides);
    if let Way::Turned(d) = way {
        let last = shape[d] as isize - 1;
        let [to, from] = strides.map(|s| (last * s[d] * size as isize) as u64);
        let other = strides.map(|mut s| {
            s[d] = -s[d];
            s
        });
        let there = |pointer| match pointer {
            Pointer::Output(_) => (pointer, to),
            Pointer::Input(_) => (pointer, from),
            Pointer::Workspace | Pointer::Tickets | Pointer::Fault => (pointer, 0),
        };
        // Where that begins, addresses are multiples of an element's size.
        let plan = merged(size, shape, other, align.min(size))?;
        let launches = plan.launches.into_iter().map(|launch| launch.moved(there)).collect();
        return Ok(KernelPlan { launches, ..plan });
    }
    if let Way::Transposed(row, column) = way {
        return transposed(size, &shape, &strides, row, column, align);
    }
    let (unit, shape, strides) = widen(size, shape, strides, align);
    if unit == size
        && let Some(plan) = neighbours(size, &shape, &strides, align)?
    {
        return Ok(plan);
    }
    let count = shape.numel();
    let (sizes, strides) = countable("copy", shape.dims(), strides)?;
    let axes = Axes::of(&sizes, [&strides[0], &strides[1]], count >= WIDE);
    let args = args::copy::Copy { out: OUTPUT, from: input(0), count: count as u64, axes };
    let name = format!("copy_b{}", unit * 8);
    Ok(KernelPlan {
        launches: smallvec![super::launch("copy", &name, count.div_ceil(BLOCK), &args)?],
        ..KernelPlan::default()
    })
}

/// A copy that stores several neighbours at once, though their sources do not lie side by side, or are not aligned.
fn neighbours(
    size: usize,
    shape: &Shape,
    strides: &[[isize; MAX_RANK]; 2],
    align: usize,
) -> Result<Option<KernelPlan>> {
    let Some(last) = shape.rank().checked_sub(1) else { return Ok(None) };
    let fits = |each: usize| {
        align.is_multiple_of(each * size)
            && shape[last].is_multiple_of(each)
            && strides[0][..last].iter().all(|s| s.unsigned_abs().is_multiple_of(each))
    };
    let most: &[usize] = match size {
        1 => &[4],
        2 | 4 => &[4, 2],
        _ => &[2],
    };
    let each = most.iter().copied().find(|&each| strides[0][last] == 1 && fits(each));
    let Some(each) = each.filter(|_| shape.numel() >= NEIGHBOURS) else { return Ok(None) };
    let mut around = *strides;
    around[0][..last].iter_mut().for_each(|s| *s /= each as isize);
    around[1][last] *= each as isize;
    let sizes = collapse(&shape.with(last, shape[last] / each), &mut around);
    let count = sizes.numel();
    let (sizes, around) = countable("copy", sizes.dims(), around)?;
    let args = args::copy::Neighbours {
        out: OUTPUT,
        from: input(0),
        count: count as u64,
        step: strides[1][last] as i64,
        axes: Axes::of(&sizes, [&around[0], &around[1]], count >= WIDE),
    };
    let name = format!("copy_b{}_x{each}", size * 8);
    let launches = smallvec![super::launch("copy", &name, count.div_ceil(BLOCK), &args)?];
    Ok(Some(KernelPlan { launches, ..KernelPlan::default() }))
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
) -> Result<KernelPlan> {
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
    Ok(KernelPlan {
        launches: smallvec![super::launch("copy", &name, tiles_r * tiles_c * count, &args)?],
        ..KernelPlan::default()
    })
}

/// Sets `count` neighbouring elements of `size` bytes (1, 2, 4 or 8) at [`Pointer::Output`]`(0)` to the lowest bytes of
/// `bits`.
///
/// # Errors
///
/// [`ErrorKind::Value`] for another size.
pub fn fill(size: usize, count: usize, bits: u64) -> Result<KernelPlan> {
    if !matches!(size, 1 | 2 | 4 | 8) {
        return Err(Error::new(
            "fill",
            ErrorKind::Value(format!("elements of {size} bytes; 1, 2, 4, 8 are taken")),
        ));
    }
    if count == 0 {
        return Ok(KernelPlan::default());
    }
    let args = args::copy::Fill { out: OUTPUT, count: count as u64, bits };
    // Blocks go on to other parts where there are more than these.
    let blocks = (count * size).div_ceil(16 * THREADS * 4).min(1 << 14);
    let name = format!("fill_b{}", size * 8);
    Ok(KernelPlan {
        launches: smallvec![super::launch("fill", &name, blocks, &args)?],
        ..KernelPlan::default()
    })
}

/// The launches of [`fill`] with zeros in the workspace, from a byte of it on.
///
/// # Errors
///
/// As [`fill`].
pub(crate) fn zeros(size: usize, count: usize, start: usize) -> Result<impl Iterator<Item = KernelLaunch>> {
    let there = move |pointer| match pointer {
        Pointer::Output(_) => (Pointer::Workspace, start as u64),
        Pointer::Input(_) | Pointer::Workspace | Pointer::Tickets | Pointer::Fault => (pointer, 0),
    };
    Ok(fill(size, count, 0)?.launches.into_iter().map(move |launch| launch.moved(there)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions over axes as `kernels/index.cuh` has them: read from an argument's bytes, and where that ends.
    fn axes(args: &[u8], begin: usize) -> (Vec<i64>, [Vec<i64>; 2], usize) {
        let number = |at: usize| i64::from_ne_bytes(args[at..at + 8].try_into().unwrap());
        let small = |at: usize| i64::from(u32::from_ne_bytes(args[at..at + 4].try_into().unwrap()));
        let strides = begin + 16 * TAKEN;
        let end = strides + 16 * TAKEN;
        let rank = small(end) as usize;
        let of =
            |operand: usize| (0..rank).map(|axis| number(strides + 8 * (operand * TAKEN + axis))).collect();
        ((0..rank).map(|axis| small(begin + 16 * axis)).collect(), [of(0), of(1)], end + 8)
    }

    /// What a copy over many axes moves, read from its launch's argument as the kernel reads it: bytes from, bytes to.
    fn moves(plan: &KernelPlan) -> Vec<(i64, i64)> {
        let [launch] = &plan.launches[..] else { panic!("{} launches", plan.launches.len()) };
        let args = launch.args.as_slice();
        let number = |at: usize| i64::from_ne_bytes(args[at..at + 8].try_into().unwrap());
        let unit: i64 = launch.kernel.name.trim_start_matches("copy_many_b").parse::<i64>().unwrap() / 8;
        let (count, inside) = (number(16), number(24));
        let (outer_sizes, outer, end) = axes(args, 32);
        let (inner_sizes, inner, _) = axes(args, end);
        assert_eq!(inner_sizes.iter().product::<i64>(), inside);
        let offset = |mut position: i64, sizes: &[i64], strides: &[i64]| {
            let mut at = 0;
            for (size, stride) in sizes.iter().zip(strides).rev() {
                at += position % size * stride;
                position /= size;
            }
            at
        };
        let mut all = vec![];
        for position in 0..count {
            let at = [0, 1].map(|of: usize| {
                let around = offset(position / inside, &outer_sizes, &outer[of]);
                (around + offset(position % inside, &inner_sizes, &inner[of])) * unit
            });
            all.extend((0..unit).map(|byte| (at[1] + byte, at[0] + byte)));
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn many_axes_are_copied_in_one_launch() {
        let two = Layout::contiguous(Shape::from([2; 12]));
        let most = Layout::contiguous(Shape::from([2; 16]));
        let mut reversed: Vec<usize> = (0..12).rev().collect();
        reversed.swap(3, 8);
        let turned = two.permute(&reversed).unwrap();
        let all: Vec<usize> = (0..16).rev().collect();
        let sizes = Layout::contiguous(Shape::from([2, 3, 1, 2, 2, 2, 3, 2, 2, 2, 2, 3]));
        let axes: Vec<usize> = [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11].into();
        let permuted = sizes.permute(&axes).unwrap();
        for (from, size) in [(turned, 4), (turned, 2), (permuted, 8), (most.permute(&all).unwrap(), 4)] {
            let to = Layout::contiguous(*from.shape());
            let plan = plan(size, &from, &to, 16).unwrap();
            let each = |(from, to): (usize, usize)| {
                (0..size).map(move |byte| ((from * size + byte) as i64, (to * size + byte) as i64))
            };
            let mut wanted: Vec<(i64, i64)> = from.offsets().zip(to.offsets()).flat_map(each).collect();
            wanted.sort_unstable();
            assert_eq!(moves(&plan), wanted);
        }
    }
}
