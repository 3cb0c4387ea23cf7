//! Paths: the views between a value and the place where it is read.

use super::Graph;
use crate::build::laid;
use crate::hash::{Table, WordHasher};
use crate::op::{Op, View};
use mg_device::{Layout, Shape};
use smallvec::SmallVec;
use std::collections::HashSet;
use std::hash::BuildHasherDefault;

/// A step of a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Elem {
    /// The view that this node is.
    View(u32),
    /// Broadcast to the shape of this node, an elementwise operation.
    Broadcast(u32),
}

/// Views in the order in which they are applied, from the value outwards.
pub(crate) type Path = SmallVec<[Elem; 4]>;

/// Where a value is met. Paths that stand for the same place see the same elements, of any layout, and need a copy in
/// the same places: runs of slices and permutations, which never do, are one.
pub(crate) type Place = SmallVec<[Segment; 1]>;

/// A part of a place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Segment {
    /// Slices and permutations, as what they make of a dense value.
    Affine(Layout),
    Reshape(Shape),
    Expand(Shape),
    Region(Layout),
}

/// A place, by its number among those that were met; 0 is the value itself.
pub(crate) type PlaceId = u32;

/// The places that were met while a plan is made.
#[derive(Default)]
pub(crate) struct Places {
    ids: Table<Place, PlaceId>,
}

/// Values met at places.
#[derive(Default)]
pub(crate) struct MetAtPlaces(HashSet<u64, BuildHasherDefault<WordHasher>>);

impl MetAtPlaces {
    /// Whether the value was not met there before.
    pub(crate) fn insert(&mut self, i: usize, at: PlaceId) -> bool {
        // The multiplication spreads neighbours over the table.
        self.0.insert(((i as u64) << 32 | at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

/// What an anchor's program reads from memory, by paths, and the elementwise nodes computed on the way.
pub(crate) struct Reads {
    pub(crate) reads: Vec<(usize, Path)>,
    pub(crate) inlined: Vec<(usize, PlaceId)>,
}

impl Graph<'_> {
    /// The layout at the end of a path, or the view before which a copy is needed.
    pub(crate) fn follow(&self, mut layout: Layout, path: &[Elem]) -> Result<Layout, usize> {
        for elem in path {
            layout = match *elem {
                Elem::View(v) => {
                    let node = self.nodes[v as usize];
                    let Op::View(view) = &node.op else { return Err(v as usize) };
                    view.apply(&layout, &node.shape).ok_or(v as usize)?
                }
                Elem::Broadcast(v) => layout.expand(&self.nodes[v as usize].shape).map_err(|_| v as usize)?,
            };
        }
        Ok(layout)
    }

    /// Goes down through views to what they see, putting them on the path.
    pub(crate) fn strip(&self, mut i: usize, path: &mut Path) -> usize {
        let mut passed = Path::new();
        while self.is_inlined(i) && matches!(self.nodes[i].op, Op::View(_)) {
            passed.push(Elem::View(i as u32));
            i = self.sources[i][0];
        }
        if !passed.is_empty() {
            passed.reverse();
            passed.extend_from_slice(path);
            *path = passed;
        }
        i
    }

    /// The path to source `s` of the elementwise node `i` that is itself read by `path`.
    pub(crate) fn below(&self, i: usize, s: usize, path: &Path) -> Path {
        if self.nodes[s].shape == self.nodes[i].shape {
            return path.clone();
        }
        let mut longer = Path::new();
        longer.push(Elem::Broadcast(i as u32));
        longer.extend_from_slice(path);
        longer
    }

    /// The layout in which a value is read before any path: where it lies, or dense where this plan (or nobody) stores it.
    pub(crate) fn layout_of(&self, i: usize) -> Layout {
        match self.nodes[i].value.get() {
            Some(Ok(value)) if !self.stored[i] => value.layout,
            _ => self.stored_layout(i),
        }
    }

    /// Where a value lies that this plan stores.
    pub(crate) fn stored_layout(&self, i: usize) -> Layout {
        laid(&self.nodes[i].shape, self.innermost[i])
    }

    /// Where a known value lies, even if this plan stores a dense copy of it.
    pub(crate) fn layout_of_original(&self, i: usize) -> Layout {
        match self.nodes[i].value.get() {
            Some(Ok(value)) => value.layout,
            _ => Layout::contiguous(self.nodes[i].shape),
        }
    }

    /// What an anchor starts from: the expressions whose elements its program visits.
    pub(crate) fn starts(&self, anchor: usize) -> SmallVec<[(usize, Path); 3]> {
        if self.known[anchor] {
            return [(anchor, Path::new())].into_iter().collect();
        }
        match self.nodes[anchor].op {
            Op::View(_) => {
                let path: Path = [Elem::View(anchor as u32)].into_iter().collect();
                [(self.sources[anchor][0], path)].into_iter().collect()
            }
            Op::Reduce(..) => [(self.sources[anchor][0], Path::new())].into_iter().collect(),
            Op::Source(_) => [(anchor, Path::new())].into_iter().collect(),
            Op::Map(_) => {
                let empty = Path::new();
                self.sources[anchor].iter().map(|&s| (s, self.below(anchor, s, &empty))).collect()
            }
            Op::Kernel(_) => self.sources[anchor].iter().map(|&s| (s, Path::new())).collect(),
        }
    }

    /// Where `i` is met at the end of a path.
    pub(crate) fn place(&self, i: usize, path: &Path) -> PlaceId {
        if path.is_empty() {
            return 0;
        }
        let place = self.place_of(i, path);
        let mut places = self.places.borrow_mut();
        let next = places.ids.len() as PlaceId + 1;
        *places.ids.entry(place).or_insert(next)
    }

    fn place_of(&self, i: usize, path: &Path) -> Place {
        let mut place = Place::new();
        let mut shape = self.nodes[i].shape;
        for elem in path {
            let (Elem::View(v) | Elem::Broadcast(v)) = *elem;
            let node = self.nodes[v as usize];
            let segment = match (elem, &node.op) {
                (
                    Elem::View(_),
                    Op::View(
                        view @ (View::Slice { .. }
                        | View::Permute(_)
                        | View::Diagonal { .. }
                        | View::Windows { .. }),
                    ),
                ) => {
                    let before = match place.last() {
                        Some(Segment::Affine(layout)) => *layout,
                        Some(Segment::Reshape(_) | Segment::Region(_) | Segment::Expand(_)) | None => {
                            Layout::contiguous(shape)
                        }
                    };
                    view.apply(&before, &node.shape).map(Segment::Affine)
                }
                (Elem::View(_), Op::View(View::Reshape)) => Some(Segment::Reshape(node.shape)),
                (Elem::View(_), Op::View(View::Region(region))) => Some(Segment::Region(**region)),
                (Elem::View(_), Op::View(View::Expand)) | (Elem::Broadcast(_), _) => {
                    Some(Segment::Expand(node.shape))
                }
                // A view element of a path stands for a view.
                (Elem::View(_), Op::Source(_) | Op::Map(_) | Op::Reduce(..) | Op::Kernel(_)) => None,
            };
            // Slices, diagonals, windows and permutations of a dense value always are a layout.
            let segment = segment.unwrap_or(Segment::Reshape(node.shape));
            match (place.last_mut(), &segment) {
                (Some(last @ Segment::Affine(_)), Segment::Affine(_)) => *last = segment,
                _ => place.push(segment),
            }
            shape = node.shape;
        }
        place
    }

    /// Everything that an anchor's program reads and computes; the walk ends when it has found more than `limit` of either.
    pub(crate) fn reads(&self, anchor: usize, limit: usize) -> Reads {
        let (mut reads, mut inlined) = (vec![], vec![]);
        let mut seen = MetAtPlaces::default();
        let mut stack: Vec<(usize, Path)> = self.starts(anchor).into_vec();
        while let Some((i, mut path)) = stack.pop() {
            // An anchor that stores what is known (or an argument) reads the original.
            let itself = i == anchor && (self.known[i] || self.argument[i]);
            let i = if itself { i } else { self.strip(i, &mut path) };
            let place = self.place(i, &path);
            if !seen.insert(i, place) {
                continue;
            }
            if reads.len() > limit || inlined.len() > limit {
                break;
            }
            if itself || !self.is_inlined(i) {
                if !self.argument[i] || self.stored[i] && !itself {
                    reads.push((i, path));
                }
                continue;
            }
            inlined.push((i, place));
            for &s in &self.sources[i] {
                stack.push((s, self.below(i, s, &path)));
            }
        }
        Reads { reads, inlined }
    }
}
