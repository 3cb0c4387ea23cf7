//! Convolutions of many channels on the CPU, without their windows ever lying anywhere: a tile of results in registers is one chain of steps over
//! places of the kernel and channels, each place a link that begins elsewhere in the same memory.
//!
//! What is read by vectors is laid out with the channels of a tile side by side, once; what is read number by number needs only even distances
//! between the rows of a tile. Rows of a tile are neighbours along a line, or, where lines are short, the same place of several images: then
//! places of the kernel that hang over the edge are left out. The order of a sum's terms depends on sizes alone.

mod images;
mod weights;

pub(super) use images::{gradient, outputs};
pub(super) use weights::weight;

use super::{Geometry, MAX_AXES};
use crate::cpu::memory;
use crate::cpu::pool::part;
use std::ops::Range;

/// Tasks into which work is cut, at the least, where there is so much of it.
const TASKS: usize = 16;
/// Links that are made once for all lots, at the most (1.5 MB): of more, each task makes those of its lot. Short lines of large images have many.
const LINKS: usize = 1 << 16;

/// How results along an axis meet what they are made of.
#[derive(Clone, Copy, Debug)]
struct Axis {
    /// Sizes of the result and of what it is made of.
    result: usize,
    source: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
    dilation: usize,
    /// Whether results are inputs, made of outputs.
    is_back: bool,
}

impl Axis {
    /// All axes of a convolution, or of its gradient by the input.
    fn all(g: &Geometry, is_back: bool) -> [Axis; MAX_AXES] {
        std::array::from_fn(|i| Axis {
            result: if is_back { g.input[i] } else { g.output[i] },
            source: if is_back { g.output[i] } else { g.input[i] },
            kernel: g.kernel[i],
            stride: g.stride[i],
            padding: g.padding[i],
            dilation: g.dilation[i],
            is_back,
        })
    }

    /// From a result to the next one that meets the same places of the kernel.
    fn phases(&self) -> usize {
        if self.is_back { self.stride } else { 1 }
    }

    /// From the source of a result to that of the next one of its phase.
    fn step(&self) -> usize {
        if self.is_back { 1 } else { self.stride }
    }

    /// How many results a phase has.
    fn count(&self, phase: usize) -> usize {
        self.result.saturating_sub(phase).div_ceil(self.phases())
    }

    /// Where the first result of a phase meets a place of the kernel, if it does; perhaps before the first source or behind the last.
    fn base(&self, phase: usize, place: usize) -> Option<isize> {
        let (place, padding) = ((place * self.dilation) as isize, self.padding as isize);
        if !self.is_back {
            return Some(place - padding);
        }
        let (at, stride) = (phase as isize + padding - place, self.stride as isize);
        (at.rem_euclid(stride) == 0).then(|| at.div_euclid(stride))
    }

    /// The source that a result meets at a place of the kernel.
    fn source(&self, at: usize, place: usize) -> Option<usize> {
        let base = self.base(at % self.phases(), place)?;
        let found = base + (at / self.phases() * self.step()) as isize;
        usize::try_from(found).ok().filter(|&i| i < self.source)
    }

    /// The place of the kernel that is laid out as number `i`: of one, sources further on are met further on.
    fn place(&self, i: usize) -> usize {
        if self.is_back { self.kernel - 1 - i } else { i }
    }

    /// Places of the kernel that a result meets, by the numbers they are laid out as, and where.
    fn met(&self, at: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.kernel).filter_map(move |i| Some((i, self.source(at, self.place(i))?)))
    }

    /// How a line is laid out: with the zeros that results meet beyond the edges, if asked for. Of a kernel of one place, and
    /// steps that long or longer, only what it meets.
    fn line(&self, is_padded: bool, sparse: usize) -> Line {
        if self.kernel == 1 && !self.is_back && self.stride >= sparse {
            return Line { first: -(self.padding as isize), every: self.stride, len: self.result };
        }
        let mut line = Line { first: 0, every: 1, len: self.source };
        if is_padded {
            let phases = || 0..self.phases().min(self.result);
            let bases =
                || phases().flat_map(|p| (0..self.kernel).filter_map(move |k| Some((p, self.base(p, k)?))));
            line.first = bases().map(|(_, base)| base).min().unwrap_or(0).min(0);
            let ends = bases().map(|(p, base)| base + (self.step() * (self.count(p) - 1)) as isize + 1);
            line.len = (ends.max().unwrap_or(0) - line.first).max(1) as usize;
        }
        line
    }

    /// The sources that some results meet.
    fn sources(&self, results: Range<usize>) -> Range<usize> {
        let all = || results.clone().flat_map(|at| self.met(at).map(|(_, source)| source));
        match (all().min(), all().max()) {
            (Some(first), Some(last)) => first..last + 1,
            _ => 0..0,
        }
    }

    /// Which of them.
    fn is_met(&self, results: Range<usize>) -> Vec<bool> {
        let mut is_met = memory::filled(self.source, false);
        for (_, source) in results.flat_map(|at| self.met(at)) {
            is_met[source] = true;
        }
        is_met
    }
}

/// Some images, and of the results some along the first two axes.
#[derive(Clone, Debug)]
struct Lot {
    images: Range<usize>,
    along: [Range<usize>; 2],
    /// Which of the lots that differ in more than their first image.
    kind: usize,
}

impl Lot {
    /// Results of an image.
    fn positions(&self, axes: &[Axis; MAX_AXES]) -> usize {
        self.along[0].len() * self.along[1].len() * axes[2].result
    }

    /// The number of the first of them in its image.
    fn start(&self, axes: &[Axis; MAX_AXES]) -> usize {
        (self.along[0].start * axes[1].result + self.along[1].start) * axes[2].result
    }
}

/// Cuts all results into lots of about `target` of them: of several images, or of one. Each of these is cut along its first axes: into `cuts`, and
/// an image that is too large alone into as many as it takes.
fn lots(batch: usize, axes: &[Axis; MAX_AXES], target: usize, images: usize, cuts: usize) -> Vec<Lot> {
    let [z, y, x] = axes.map(|axis| axis.result);
    let positions = z * y * x;
    let together = if positions <= target { images.max(target / positions).min(batch) } else { 1 };
    let (lots, parts) = (batch.div_ceil(together), cuts.max(positions.div_ceil(target)));
    // Along the second axis only where one of the first is far too much: results of a lot lie beside each other.
    let zs = parts.min(z);
    let ys = if z > 1 { parts / (4 * z) } else { parts }.clamp(1, y);
    let along = |i: usize| [part(i / ys, zs, z), part(i % ys, ys, y)];
    (0..lots)
        .flat_map(|n| {
            (0..zs * ys).map(move |i| Lot { images: part(n, lots, batch), along: along(i), kind: 0 })
        })
        .collect()
}

/// Numbers the kinds of lots, and gives one of each.
fn kinds(lots: &mut [Lot]) -> Vec<Lot> {
    let mut kinds: Vec<Lot> = Vec::new();
    for lot in lots {
        let is_alike = |kind: &Lot| kind.images.len() == lot.images.len() && kind.along == lot.along;
        lot.kind = kinds.iter().position(is_alike).unwrap_or(kinds.len());
        if lot.kind == kinds.len() {
            kinds.push(lot.clone());
        }
    }
    kinds
}

/// How a line of sources is laid out: element `i` is the source `i · every + first`, or 0 where there is none.
#[derive(Clone, Copy, Debug)]
struct Line {
    first: isize,
    every: usize,
    len: usize,
}

impl Line {
    /// The elements that are there, of a line of `size` sources.
    fn inside(&self, size: usize) -> Range<usize> {
        let (every, size) = (self.every as isize, size as isize);
        let from = |least: isize| ((least - self.first + every - 1).div_euclid(every)).max(0) as usize;
        let end = from(size).min(self.len);
        from(0).min(end)..end
    }

    /// Where something lies in it that may be beyond the sources.
    fn place(&self, source: isize) -> isize {
        (source - self.first).div_euclid(self.every as isize)
    }
}
