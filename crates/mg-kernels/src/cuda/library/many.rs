//! More axes than a kernel takes. They are rare: a kernel that copies takes them, and operands of other kernels are copied first, so that
//! they lie densely and their axes merge.

use super::{KernelPlan, Pointer, copy};
use mg_device::{Layout, Result};
use smallvec::SmallVec;

/// Axes that `kernels/index.cuh` has room for.
pub(crate) use super::constants::copy::MAX_RANK as TAKEN;

/// What is copied: bytes of an element, how the operand lies, what its address is a multiple of.
pub(crate) type Copied<'a> = (usize, &'a Layout, usize);

/// The plan of a kernel whose first operands are dense copies of these, made before.
pub(crate) fn of_dense(operands: &[Copied], plan: KernelPlan) -> Result<KernelPlan> {
    let mut launches = SmallVec::new();
    let mut places: SmallVec<[u64; 2]> = SmallVec::new();
    let mut at = 0usize;
    for (number, &(size, layout, align)) in operands.iter().enumerate() {
        let copy = copy::plan(size, layout, &Layout::contiguous(*layout.shape()), align.min(256))?;
        let moved = |pointer| match pointer {
            Pointer::Input(_) => (Pointer::Input(number as u8), 0),
            Pointer::Output(_) | Pointer::Workspace => (Pointer::Workspace, at as u64),
            Pointer::Tickets | Pointer::Fault => (pointer, 0),
        };
        launches.extend(copy.launches.into_iter().map(|launch| launch.moved(moved)));
        places.push(at as u64);
        at += (layout.numel() * size).next_multiple_of(256);
    }
    let moved = |pointer| match pointer {
        Pointer::Input(number) => match places.get(usize::from(number)) {
            Some(&place) => (Pointer::Workspace, place),
            None => (pointer, 0),
        },
        Pointer::Workspace => (pointer, at as u64),
        Pointer::Output(_) | Pointer::Tickets | Pointer::Fault => (pointer, 0),
    };
    launches.extend(plan.launches.into_iter().map(|launch| launch.moved(moved)));
    Ok(KernelPlan { launches, workspace: at + plan.workspace, ..plan })
}

/// The dense layout of as many elements, with the axes before `axis` and those after it as one each.
pub(crate) fn around(layout: &Layout, axis: usize) -> Layout {
    let (outer, rest) = layout.shape().split_at(axis);
    let (n, inner) = rest.split_first().map_or((1, rest), |(&n, inner)| (n, inner));
    Layout::contiguous([outer.iter().product(), n, inner.iter().product()].into())
}
