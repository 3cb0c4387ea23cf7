//! What zeros beyond the edge make of factors that are no finite numbers, on the CPU.
//!
//! Padding is zeros, which are multiplied as all other elements are, and 0 · ∞ and 0 · NaN are NaN: in a convolution, where a kernel's place hangs
//! over, and in the gradient by the kernel, where a result's does. A gradient by the input adds up the results that there are, and multiplies no zeros.
//!
//! Kernels do as is fastest for them: they leave zeros out or multiply them, which is the same for finite factors. Factors that are not are looked
//! for afterwards, among the factors or in what they left in the result, whichever is less.

use super::cpu::Entry;
use super::{Geometry, MAX_AXES};
use crate::cpu::memory;

/// Elements that are looked at between two exits.
const STRETCH: usize = 1 << 12;

fn is_odd<T: Entry>(all: &[T]) -> bool {
    // A stretch without an exit is compared by vectors.
    all.chunks(STRETCH).any(|some| some.iter().fold(false, |odd, v| odd | !v.is_finite()))
}

/// Whether some factor is not finite. Each that is not leaves its mark in `result`, if `marks`.
pub(super) fn odd<T: Entry>(factors: &[T], result: &[T], marks: bool) -> bool {
    (!marks || factors.len() <= result.len() || is_odd(result)) && is_odd(factors)
}

/// The position with this number.
fn place(sizes: &[usize; MAX_AXES], i: usize) -> [usize; MAX_AXES] {
    [i / sizes[2] / sizes[1], i / sizes[2] % sizes[1], i % sizes[2]]
}

impl Geometry {
    /// Whether a result's window has this place of the kernel beyond the edge, along an axis.
    fn hangs(&self, axis: usize, at: usize, place: usize) -> bool {
        let source = at * self.stride[axis] + place * self.dilation[axis];
        source.checked_sub(self.padding[axis]).is_none_or(|i| i >= self.input[axis])
    }

    /// Whether each place of the kernel, or each result if `of_results`, meets the image.
    fn meets(&self, of_results: bool) -> bool {
        (0..MAX_AXES).all(|axis| {
            let (places, results) = (0..self.kernel[axis], 0..self.output[axis]);
            match of_results {
                true => results.clone().all(|at| places.clone().any(|k| !self.hangs(axis, at, k))),
                false => places.clone().all(|k| results.clone().any(|at| !self.hangs(axis, at, k))),
            }
        })
    }

    /// Of these places of the kernel, or results if `of_results`: which results, or places, meet one of them beyond the edge.
    fn beyond(&self, odd: &[bool], of_results: bool) -> Vec<bool> {
        let (from, to) = if of_results { (&self.output, &self.kernel) } else { (&self.kernel, &self.output) };
        let mut beyond = memory::filled(to.iter().product(), false);
        for i in (0..odd.len()).filter(|&i| odd[i]) {
            let of = place(from, i);
            for (j, beyond) in beyond.iter_mut().enumerate().filter(|(_, beyond)| !**beyond) {
                let met = place(to, j);
                let (at, k) = if of_results { (of, met) } else { (met, of) };
                *beyond = (0..MAX_AXES).any(|axis| self.hangs(axis, at[axis], k[axis]));
            }
        }
        beyond
    }

    /// [`Geometry::beyond`] of one channel after the other, which often are alike.
    fn each_beyond(&self, of_results: bool) -> impl FnMut(Vec<bool>) -> Vec<bool> {
        let mut last: Option<(Vec<bool>, Vec<bool>)> = None;
        move |odd| match &last {
            Some((same, beyond)) if *same == odd => beyond.clone(),
            _ => {
                let beyond = self.beyond(&odd, of_results);
                last = Some((odd, beyond.clone()));
                beyond
            }
        }
    }
}

/// Of neighbours `each` after `each`, which have one that is not finite.
fn which<'a, T: Entry>(all: impl Iterator<Item = &'a [T]>, len: usize, each: usize) -> Vec<bool> {
    let mut odd = memory::filled(len, false);
    for some in all {
        for (i, v) in some.iter().enumerate() {
            odd[i % each] |= !v.is_finite();
        }
    }
    odd
}

fn mark<T: Entry>(to: &mut [T], beyond: &[bool]) {
    for (to, _) in to.iter_mut().zip(beyond).filter(|(_, beyond)| **beyond) {
        *to = T::NAN;
    }
}

/// After the convolution `y` of `w`.
pub(super) fn outputs<T: Entry>(g: &Geometry, w: &[T], y: &mut [T]) {
    if g.padding == [0; MAX_AXES] || !odd(w, y, g.meets(false)) {
        return;
    }
    let (places, results, channels) = (g.depth() / g.c, g.outputs(), g.groups * g.o);
    let mut beyond = g.each_beyond(false);
    for (o, w) in w.chunks_exact(g.depth()).enumerate() {
        let beyond = beyond(which([w].into_iter(), places, places));
        for y in y.chunks_exact_mut(results).skip(o).step_by(channels) {
            mark(y, &beyond);
        }
    }
}

/// After the gradient `w` by the kernel, of `y`.
pub(super) fn weight<T: Entry>(g: &Geometry, y: &[T], w: &mut [T]) {
    if g.padding == [0; MAX_AXES] || !odd(y, w, g.meets(true)) {
        return;
    }
    let (places, results, channels) = (g.depth() / g.c, g.outputs(), g.groups * g.o);
    let mut beyond = g.each_beyond(true);
    for (o, w) in w.chunks_exact_mut(g.depth()).enumerate() {
        let of_images = y.chunks_exact(results).skip(o).step_by(channels);
        let beyond = beyond(which(of_images, results, results));
        w.chunks_exact_mut(places).for_each(|w| mark(w, &beyond));
    }
}
