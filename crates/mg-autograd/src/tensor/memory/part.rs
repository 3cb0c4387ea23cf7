//! The nodes of views: parts of a whole, by the way they were made or by where they lie.

use mg_device::{Layout, Result, Shape};
use mg_graph::{Node, View};
use smallvec::SmallVec;

/// The elements of a node that a layout reaches, among its own laid out densely: never the node itself.
#[track_caller]
pub(super) fn part_of(whole: &Node, layout: &Layout) -> Result<Node> {
    if let Some(part) = whole.known_part(layout) {
        return Ok(part);
    }
    let part = seen(whole, layout)?;
    Ok(if part.is(whole) { whole.all_of() } else { part })
}

#[track_caller]
fn seen(whole: &Node, layout: &Layout) -> Result<Node> {
    let shape = *layout.shape();
    if layout.is_contiguous() && layout.offset() == 0 && shape.numel() == whole.shape().numel() {
        return if shape == *whole.shape() { Ok(whole.all_of()) } else { whole.reshape(shape) };
    }
    if let Some(Axes { slice, order }) = Axes::of(whole.shape(), layout) {
        // As people write it: the scheduler and the rules of products know a transpose by its permutation.
        let sliced = match slice {
            Some((axis, start, step, n)) => whole.slice(axis, start, step, n)?,
            None => whole.clone(),
        };
        // Axes of one position come and go by themselves.
        let permuted = if order.is_sorted() { sliced } else { sliced.permute(&order)? };
        let narrow =
            (0..shape.rank()).fold(shape, |s, d| if layout.strides()[d] == 0 { s.with(d, 1) } else { s });
        return permuted.reshape(narrow)?.expand(shape);
    }
    // Elements that are met more than once are met by broadcasting, which knows to add up their gradients.
    let narrow = (0..shape.rank()).fold(shape, |s, axis| match layout.strides()[axis] {
        0 => s.with(axis, s[axis].min(1)),
        _ => s,
    });
    whole.region(Layout::new(narrow, layout.strides(), layout.offset())?)?.expand(shape)
}

/// A view's node: never the one that it is a view of.
#[track_caller]
pub(super) fn view_of(of: &Node, view: &View, shape: Shape) -> Result<Node> {
    let node = viewed(of, view, shape)?;
    Ok(if node.is(of) { of.all_of() } else { node })
}

#[track_caller]
fn viewed(of: &Node, view: &View, shape: Shape) -> Result<Node> {
    match view {
        View::Reshape => of.reshape(shape),
        View::Permute(axes) => {
            let axes: SmallVec<[usize; 8]> = axes[..shape.rank()].iter().map(|&a| a as usize).collect();
            of.permute(&axes)
        }
        &View::Slice { axis, start, step } => {
            of.slice(axis as usize, start as usize, step as isize, shape[axis as usize])
        }
        &View::Diagonal { axes: [first, second], offset } => {
            of.diagonal([first as usize, second as usize], offset, shape[shape.rank() - 1])
        }
        &View::Windows { axis, step } => {
            of.windows(axis as usize, shape[axis as usize], shape[shape.rank() - 1], step as usize)
        }
        View::Expand => of.expand(shape),
        View::Region(region) => of.region(**region),
    }
}

/// A part of something dense as positions along one of its axes at most, in another order of the axes, where those of one
/// position come and go and elements are broadcast.
struct Axes {
    /// The axis, the first position, the distance and how many.
    slice: Option<(usize, usize, isize, usize)>,
    /// All axes; where they stay as they are, those of one position left out.
    order: SmallVec<[usize; 8]>,
}

impl Axes {
    fn of(whole: &Shape, layout: &Layout) -> Option<Axes> {
        if layout.numel() == 0 || whole.numel() == 0 {
            return None;
        }
        let dense = Layout::contiguous(*whole);
        let dense = dense.padded_strides();
        let rank = whole.rank();
        let mut rest = layout.offset();
        let start: SmallVec<[usize; 8]> = (0..rank)
            .map(|k| {
                let at = rest / dense[k].unsigned_abs().max(1);
                rest -= at * dense[k].unsigned_abs();
                at
            })
            .collect();
        // How each axis of the whole is seen: how far from one position to the next, and how many.
        let mut seen: SmallVec<[Option<(isize, usize)>; 8]> = smallvec::smallvec![None; rank];
        let mut order: SmallVec<[usize; 8]> = SmallVec::new();
        for (&n, &stride) in layout.shape().iter().zip(layout.strides()) {
            if n == 1 || stride == 0 {
                continue;
            }
            let axis = (0..rank).find(|&k| {
                whole[k] > 1 && dense[k] != 0 && stride % dense[k] == 0 && {
                    let last = start[k] as isize + stride / dense[k] * (n as isize - 1);
                    (0..whole[k] as isize).contains(&last)
                }
            })?;
            if seen[axis].is_some() {
                return None;
            }
            seen[axis] = Some((stride / dense[axis], n));
            order.push(axis);
        }
        let mut slice = None;
        for k in 0..rank {
            let (step, n) = seen[k].unwrap_or((1, 1));
            if (start[k], step, n) == (0, 1, whole[k]) {
                continue;
            }
            if slice.replace((k, start[k], step, n)).is_some() {
                return None;
            }
        }
        if !order.is_sorted() {
            // Before the others: one image of several is permuted as all of them are.
            order.insert_many(0, (0..rank).filter(|&k| seen[k].is_none()));
        }
        Some(Axes { slice, order })
    }
}
