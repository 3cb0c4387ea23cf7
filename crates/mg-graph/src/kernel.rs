//! Kernels, as the graph sees them.

use crate::hash::mix;
use mg_device::Layout;
use mg_kernels::library::Library;

/// What is computed by more than a program of elements: by a launch of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum Kernel {
    /// Zeros (or a copy of the second source) with the first source's elements written through a view of the dense result.
    Write {
        /// The view: its shape is the first source's.
        region: Box<Layout>,
    },
    /// The sources one after the other along an axis.
    Concat {
        /// The axis.
        axis: u8,
    },
    /// The source's elements on the node's device, which is another.
    Transfer,
    /// A kernel with a room of its own; sources: its operands.
    Library(Library),
}

impl Kernel {
    /// The operation's name.
    pub fn name(&self) -> &'static str {
        match self {
            Kernel::Write { .. } => "write",
            Kernel::Concat { .. } => "concat",
            Kernel::Transfer => "to",
            Kernel::Library(library) => library.name(),
        }
    }

    /// Whether it checks what it reads, and may refuse it.
    pub(crate) fn is_checked(&self) -> bool {
        match self {
            Kernel::Library(library) => library.checks().any(),
            Kernel::Write { .. } | Kernel::Concat { .. } | Kernel::Transfer => false,
        }
    }

    pub(crate) fn signature(&self) -> u64 {
        match self {
            Kernel::Write { region } => mix(4, layout_signature(region)),
            Kernel::Concat { axis } => mix(5, *axis as u64),
            Kernel::Transfer => 6,
            Kernel::Library(library) => library.words().into_iter().fold(7, mix),
        }
    }
}

/// A hash of a layout, offset included.
pub(crate) fn layout_signature(layout: &Layout) -> u64 {
    strides_signature(layout, mix(layout.rank() as u64, layout.offset() as u64))
}

/// A hash of a layout's shape and strides.
pub(crate) fn strides_signature(layout: &Layout, start: u64) -> u64 {
    let dims = layout.shape().iter().zip(layout.strides());
    dims.fold(start, |h, (&n, &s)| mix(mix(h, n as u64), s as u64))
}
