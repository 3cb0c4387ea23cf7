//! The five kinds of node, and no sixth.

use crate::hash::mix;
use crate::kernel::Kernel;
use crate::live::LiveScalar;
use mg_device::{AxisSet, Layout, MAX_RANK, Shape};
use mg_kernels::{Law, ReduceKind, Row};

/// What a node is.
#[derive(Clone, Debug)]
pub enum Op {
    /// Data, or numbers that come from nowhere.
    Source(SourceKind),
    /// An elementwise operation; sources broadcast to the node's shape.
    Map(Map),
    /// The source's elements, seen otherwise.
    View(View),
    /// A reduction of the source over axes (a bit each); the node's rank is the source's (sizes 1) or less by the
    /// reduced axes.
    Reduce(ReduceKind, AxisSet),
    /// What is computed by launches of its own: see [`Kernel`].
    Kernel(Kernel),
}

/// The sources of a graph.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceKind {
    /// A value in memory.
    Data,
    /// A scalar: the bits of a tile's cell. A literal is part of a plan; another is an argument of it.
    Const {
        /// The value's bits in a cell.
        bits: u64,
        /// Whether the value is part of the graph's structure.
        literal: bool,
    },
    /// A scalar that replays read anew.
    Live {
        /// The scalar.
        scalar: LiveScalar,
        /// Its bits when the node was made.
        bits: u64,
    },
    /// 0, 1, 2, … in row-major order, i64.
    Ramp,
    /// Random numbers, f32 or f64: Philox at `counter` plus the element's row-major position.
    Random {
        /// How they are distributed.
        law: Law,
        /// The key.
        seed: u64,
        /// The first position.
        counter: u64,
    },
}

/// An elementwise operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Map {
    /// A row of the op table.
    Row(Row),
    /// Conversion to the node's dtype.
    Cast,
    /// The source's elements in memory of their own.
    Copy {
        /// Where axis 1 is to be innermost in it; otherwise they lie row by row. See [`Node::lies_innermost`](crate::Node::lies_innermost).
        innermost: bool,
    },
    /// The source itself, checked to be an index of an axis of some size.
    Guard {
        /// The number of positions along the axis.
        size: i64,
        /// The axis, for the error.
        axis: u8,
        /// The operation that a person called, for the error.
        op: &'static str,
    },
}

/// How a view sees its source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// The same elements in row-major order, in the node's shape.
    Reshape,
    /// Axes reordered: axis `i` of the view is axis `axes[i]` of the source.
    Permute([u8; MAX_RANK]),
    /// Along an axis, positions `start`, `start + step`, …, as many as the node's shape says.
    Slice {
        /// The axis.
        axis: u8,
        /// The first position, within the axis (or anything for an empty view).
        start: i64,
        /// The distance, not 0; negative goes backwards.
        step: i64,
    },
    /// Where the positions along two axes are `offset` apart: those axes go, and the diagonal becomes the last.
    Diagonal {
        /// The two axes.
        axes: [u8; 2],
        /// How far the position along the second is ahead of that along the first.
        offset: i64,
    },
    /// Windows along an axis: as many as the node's shape says, of the size of its last axis, which is new. They may overlap.
    Windows {
        /// The axis.
        axis: u8,
        /// The distance from one window to the next, at least 1.
        step: i64,
    },
    /// Broadcast to the node's shape, from the right.
    Expand,
    /// The elements that a layout reaches in the dense source.
    Region(Box<Layout>),
}

impl View {
    /// The layout of the view of something that has `layout`; `None` where a copy is needed first.
    pub fn apply(&self, layout: &Layout, shape: &Shape) -> Option<Layout> {
        match self {
            View::Reshape => layout.reshape(shape),
            View::Permute(axes) => {
                let axes: smallvec::SmallVec<[usize; 8]> =
                    axes[..shape.rank()].iter().map(|&a| a as usize).collect();
                layout.permute(&axes).ok()
            }
            &View::Slice { axis, start, step } => {
                let axis = axis as usize;
                let (mut strides, n) = (layout.padded_strides(), shape[axis]);
                let offset = layout.offset() as i64 + if n > 0 { start * strides[axis] as i64 } else { 0 };
                strides[axis] = strides[axis].wrapping_mul(step as isize);
                Layout::new(*shape, &strides[..shape.rank()], offset.max(0) as usize).ok()
            }
            &View::Diagonal { axes: [first, second], offset } => {
                let (first, second) = (first as usize, second as usize);
                let along = layout.strides();
                let mut strides = [0isize; MAX_RANK];
                let rest = (0..along.len()).filter(|&axis| axis != first && axis != second);
                rest.enumerate().for_each(|(i, axis)| strides[i] = along[axis]);
                strides[shape.rank() - 1] = along[first].wrapping_add(along[second]);
                let start =
                    if offset < 0 { -offset * along[first] as i64 } else { offset * along[second] as i64 };
                let start = layout.offset() as i64 + if shape.numel() > 0 { start } else { 0 };
                Layout::new(*shape, &strides[..shape.rank()], start.max(0) as usize).ok()
            }
            &View::Windows { axis, step } => {
                let mut strides = layout.padded_strides();
                strides[shape.rank() - 1] = strides[axis as usize];
                strides[axis as usize] = strides[axis as usize].wrapping_mul(step as isize);
                Layout::new(*shape, &strides[..shape.rank()], layout.offset()).ok()
            }
            View::Expand => layout.expand(shape).ok(),
            View::Region(region) => layout.part(region),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            View::Reshape => "reshape",
            View::Permute(_) => "permute",
            View::Slice { .. } => "slice",
            View::Diagonal { .. } => "diagonal",
            View::Windows { .. } => "unfold",
            View::Expand => "expand",
            View::Region(_) => "region",
        }
    }
}

impl Op {
    /// The operation's name in the public API.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Source(SourceKind::Data) => "data",
            Op::Source(SourceKind::Const { .. } | SourceKind::Live { .. }) => "scalar",
            Op::Source(SourceKind::Ramp) => "arange",
            Op::Source(SourceKind::Random { law: Law::Uniform, .. }) => "rand",
            Op::Source(SourceKind::Random { law: Law::Normal, .. }) => "randn",
            Op::Map(Map::Row(row)) => row.name(),
            Op::Map(Map::Cast) => "cast",
            Op::Map(Map::Copy { .. }) => "copy",
            Op::Map(Map::Guard { .. }) => "check_index",
            Op::View(view) => view.name(),
            Op::Reduce(kind, _) => kind.name(),
            Op::Kernel(kernel) => kernel.name(),
        }
    }

    /// Whether it has no sources by nature.
    pub fn is_source(&self) -> bool {
        matches!(self, Op::Source(_))
    }

    /// A hash of the operation and its parameters; arguments of a launch are left out.
    pub(crate) fn signature(&self) -> u64 {
        match self {
            Op::Source(SourceKind::Data) => 1,
            Op::Source(SourceKind::Const { bits, literal: true }) => mix(2, *bits),
            Op::Source(SourceKind::Const { .. } | SourceKind::Live { .. }) => 3,
            Op::Source(SourceKind::Ramp) => 4,
            Op::Source(SourceKind::Random { law, .. }) => mix(5, *law as u64),
            Op::Map(Map::Row(row)) => 0x100 + *row as u64,
            Op::Map(Map::Cast) => 6,
            Op::Map(Map::Copy { innermost: false }) => 14,
            Op::Map(Map::Copy { innermost: true }) => 17,
            Op::Map(Map::Guard { size, .. }) => mix(7, *size as u64),
            Op::View(View::Reshape) => 8,
            Op::View(View::Permute(axes)) => {
                // Axes are below 16: two of them are a byte.
                const { assert!(MAX_RANK == 16) };
                let all = u128::from_le_bytes(*axes);
                mix(9, all as u64 | ((all >> 64) as u64) << 4)
            }
            Op::View(View::Region(region)) => mix(13, crate::kernel::layout_signature(region)),
            Op::View(View::Slice { axis, start, step }) => {
                mix(mix(mix(10, *axis as u64), *start as u64), *step as u64)
            }
            Op::View(View::Diagonal { axes, offset }) => {
                mix(mix(15, u16::from_le_bytes(*axes) as u64), *offset as u64)
            }
            Op::View(View::Windows { axis, step }) => mix(mix(16, *axis as u64), *step as u64),
            Op::View(View::Expand) => 11,
            Op::Reduce(kind, axes) => (1 << 32) + ((*kind as u64) << 16) + *axes as u64,
            Op::Kernel(kernel) => mix(12, kernel.signature()),
        }
    }
}
