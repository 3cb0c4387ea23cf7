//! How sums by index are taken: what sizes alone decide.

use crate::cuda::library::axes::WIDE;
use crate::cuda::library::constants::scatter::{CHAIN, FEW, HEAVY, PILE, ROW};

/// Positions of long rows up to which they are linked, and those of a target that has many are looked for among all.
const MOST_CHAINED: usize = 1 << 15;
/// Steps of a warp up to which every target looks through all indices that may name it.
const LOOK: usize = 1 << 18;

/// How much is added to how much.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Rows that are added, each at a target.
    pub(super) positions: usize,
    /// Rows of the result.
    pub(super) targets: usize,
    /// Elements of a row, which share an index.
    pub(super) row: usize,
    /// Positions along the axis, of which each may name a target.
    pub(super) length: usize,
}

impl Extent {
    /// Elements of the result.
    pub(super) fn sums(&self) -> usize {
        self.targets * self.row
    }

    /// Whether elements are counted in 64 bits.
    pub(super) fn is_wide(&self) -> bool {
        self.sums().max(self.positions * self.row) >= WIDE
    }

    /// Whether a row is worth a warp.
    pub(super) fn is_long(&self) -> bool {
        self.row >= ROW
    }

    /// Steps of a warp that looks, for every target, through all indices that may name it.
    fn steps(&self) -> usize {
        match self.is_long() {
            true => self.targets * self.row.div_ceil(ROW) * self.length.div_ceil(32),
            false => self.sums().saturating_mul(self.length) / 32,
        }
    }
}

/// How positions are brought to their targets: by the kernel that adds them in the end, or adds what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A thread for an element of the result looks through all indices that may name it.
    Scan,
    /// So does a warp for a long row.
    Rows,
    /// Positions of long rows are linked to their targets; blocks look for those of a target that has many.
    Chains,
    /// Positions of long rows are sorted by their targets.
    Strips,
    /// Positions of short rows are sorted; or linked first, and sorted only where a target has more than that is good for.
    Segments(Option<Linking>),
}

impl Way {
    /// The way for sums of this extent; `owns` says whether there is a kernel for them with heads in the result itself.
    pub(super) fn of(extent: &Extent, owns: bool) -> Way {
        let &Extent { positions, targets, .. } = extent;
        let sorts = extent.steps() > LOOK && targets < u32::MAX as usize && positions < WIDE;
        match (sorts, extent.is_long()) {
            (false, true) => Way::Rows,
            (false, false) => Way::Scan,
            (true, true) if positions <= MOST_CHAINED && positions <= targets * (CHAIN / 8) => Way::Chains,
            (true, true) => Way::Strips,
            (true, false) => Way::Segments(Linking::of(extent, owns)),
        }
    }

    /// How positions are linked, if they are.
    pub(super) fn linking(self) -> Option<Linking> {
        match self {
            Way::Scan | Way::Rows | Way::Strips => None,
            Way::Chains => Some(Linking::Links),
            Way::Segments(linking) => linking,
        }
    }

    /// From how many positions on a target is left to blocks: none is where every target looks for its own.
    pub(super) fn left_from(self) -> Option<usize> {
        match self {
            Way::Scan | Way::Rows => None,
            Way::Chains => Some(CHAIN + 1),
            Way::Strips => Some(HEAVY),
            Way::Segments(_) => Some(PILE),
        }
    }
}

/// How positions are linked to their targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Linking {
    /// By numbers alone, for rows of several elements.
    Links,
    /// With the values of single elements beside them.
    Pairs,
    /// So too, with heads in the result itself: where targets are many, and most of them zeros.
    Owned,
}

impl Linking {
    /// How positions of short rows are linked, if there are few enough for a target.
    fn of(extent: &Extent, owns: bool) -> Option<Linking> {
        let &Extent { positions, targets, row, .. } = extent;
        // Several times as many positions as there are on average can be linked to each target.
        if positions > targets.saturating_mul(FEW / 8) {
            return None;
        }
        match (row, targets > positions.saturating_mul(8)) {
            (1, true) if owns => Some(Linking::Owned),
            // Where there are far more targets than positions, heads of their own take longer than a sort.
            (_, true) => None,
            (1, false) => Some(Linking::Pairs),
            (_, false) => Some(Linking::Links),
        }
    }
}
