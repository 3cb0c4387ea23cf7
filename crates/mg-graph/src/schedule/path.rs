//! Paths: the views between a value and the place where it is read.

use super::Graph;
use crate::op::Op;
use mg_device::Layout;
use smallvec::SmallVec;

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
        while self.is_inlined(i) && matches!(self.nodes[i].op, Op::View(_)) {
            path.insert(0, Elem::View(i as u32));
            i = self.sources[i][0];
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
            _ => Layout::contiguous(self.nodes[i].shape),
        }
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

    /// Everything that an anchor's program reads from memory, with paths, and the elementwise nodes computed on the way.
    pub(crate) fn reads(&self, anchor: usize) -> (Vec<(usize, Path)>, Vec<usize>) {
        let mut reads = vec![];
        let mut inlined = vec![];
        let mut seen = std::collections::HashSet::new();
        let mut stack: Vec<(usize, Path)> = self.starts(anchor).into_vec();
        while let Some((i, mut path)) = stack.pop() {
            // An anchor that stores what is known (or an argument) reads the original.
            let itself = i == anchor && (self.known[i] || self.argument[i]);
            let i = if itself { i } else { self.strip(i, &mut path) };
            if !seen.insert((i, path.clone())) {
                continue;
            }
            if itself || !self.is_inlined(i) {
                if !self.argument[i] || self.stored[i] && !itself {
                    reads.push((i, path));
                }
                continue;
            }
            inlined.push(i);
            for &s in &self.sources[i] {
                stack.push((s, self.below(i, s, &path)));
            }
        }
        inlined.sort_unstable();
        inlined.dedup();
        (reads, inlined)
    }
}
