//! Weighted sums of elements by index: what all lines share of them is found out once for a tile of positions, and lines are gone through with it.

use super::Blend;
use crate::cpu::library::{Shared, in_ranges};
use crate::cpu::loops::{Isa, isa};
use crate::cpu::memory;
use crate::library::Operand;
use crate::library::gather::cpu::stretches;
use mg_device::{Layout, MAX_RANK, Shape};
use std::array::from_fn;
use std::ops::{Add, Mul, Range};

/// Elements from which the work is divided among threads.
const PARALLEL: usize = 1 << 16;
/// Indices, weights and what counts of all taps, and `x`.
const LAYOUTS: usize = 3 * Blend::MOST + 1;
/// Positions along the last axis of a tile.
const TILE: usize = 128;
/// Positions that have one word to say which of them count.
const LANES: usize = 16;

/// A number that is blended.
pub(in crate::library) trait Element:
    Copy + Default + Add<Output = Self> + Mul<Output = Self> + Send + Sync
{
    /// The sums of `n` neighbours: of elements of `x`, as `taps` say.
    ///
    /// # Safety
    ///
    /// They are there, and there is room for them.
    unsafe fn sums(taps: &[Tap<Self>], n: usize, x: *const Self, out: *mut Self) {
        // SAFETY: this function's contract.
        unsafe { one_by_one(taps, 0..n, x, out) }
    }
}

impl Element for f64 {}

impl Element for f32 {
    unsafe fn sums(taps: &[Tap<f32>], n: usize, x: *const f32, out: *mut f32) {
        // SAFETY: this function's contract.
        unsafe {
            match isa() {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => sixteen(taps, n, x, out),
                _ => one_by_one(taps, 0..n, x, out),
            }
        }
    }
}

/// A tap of a tile's positions: where its elements are, by what they are multiplied, and which of them count.
#[derive(Clone)]
pub(in crate::library) struct Tap<T> {
    at: [i32; TILE],
    weight: [T; TILE],
    counts: [u16; TILE / LANES],
}

/// Safety: that of [`Element::sums`].
#[inline(always)]
unsafe fn one_by_one<T: Element>(taps: &[Tap<T>], positions: Range<usize>, x: *const T, out: *mut T) {
    for j in positions {
        let part = |tap: &Tap<T>| {
            let counts = tap.counts[j / LANES] >> (j % LANES) & 1 != 0;
            // SAFETY: what counts is there.
            (if counts { unsafe { *x.offset(tap.at[j] as isize) } } else { T::default() }) * tap.weight[j]
        };
        let sum = taps.iter().map(part).reduce(|sum, part| sum + part).unwrap_or_default();
        // SAFETY: there is room.
        unsafe { out.add(j).write(sum) };
    }
}

/// Safety: that of [`Element::sums`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn sixteen(taps: &[Tap<f32>], n: usize, x: *const f32, out: *mut f32) {
    use std::arch::x86_64::{
        _mm512_add_ps, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_mask_i32gather_ps, _mm512_mul_ps,
        _mm512_setzero_ps, _mm512_storeu_ps,
    };
    let whole = n / LANES;
    let [first, others @ ..] = taps else {
        // SAFETY: this function's contract.
        return unsafe { one_by_one(taps, 0..n, x, out) };
    };
    for j in 0..whole {
        // SAFETY: what counts is there; a tile has so many positions.
        unsafe {
            let part = |tap: &Tap<f32>| {
                let at = _mm512_loadu_si512(tap.at.as_ptr().add(j * LANES).cast());
                let found = _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), tap.counts[j], at, x);
                _mm512_mul_ps(found, _mm512_loadu_ps(tap.weight.as_ptr().add(j * LANES)))
            };
            let mut sum = part(first);
            for tap in others {
                sum = _mm512_add_ps(sum, part(tap));
            }
            _mm512_storeu_ps(out.add(j * LANES), sum);
        }
    }
    // SAFETY: this function's contract.
    unsafe { one_by_one(taps, whole * LANES..n, x, out) }
}

/// How a kernel is gone through by tiles.
struct Tiles<'a> {
    shape: Shape,
    /// Those of `x`, from one line to another, and from position to position; from index to index.
    x: [isize; MAX_RANK],
    along: isize,
    limit: u64,
    /// Operands behind `x`.
    behind: &'a [Operand],
    taps: usize,
    asks: bool,
    /// Whether the axis before the last is one along which taps are the same.
    repeats: bool,
}

impl<'a> Tiles<'a> {
    /// Where taps differ from position to position, and positions are few enough to be counted by 32 bits.
    fn of(kernel: &Blend, x: &Layout, behind: &'a [Operand], shape: &Shape) -> Option<Tiles<'a>> {
        let (axis, last) = (usize::from(kernel.axis), shape.rank() - 1);
        if behind.iter().all(|o| o.layout.strides()[last] == 0) {
            return None;
        }
        let along = x.strides()[axis];
        let far = |count: usize, by: isize| (count as isize - 1).saturating_mul(by.abs());
        let x_by = if last == axis { 0 } else { x.strides()[last] };
        let most = far(x.shape()[axis], along).saturating_add(far(shape[last], x_by));
        if most > i32::MAX as isize {
            return None;
        }
        let repeats =
            last > 0 && axis + 1 != last && behind.iter().all(|o| o.layout.strides()[last - 1] == 0);
        let x_strides = from_fn(|d| if d == axis || d > last { 0 } else { x.strides()[d] });
        Some(Tiles {
            shape: *shape,
            x: x_strides,
            along,
            limit: x.shape()[axis] as u64,
            behind,
            taps: kernel.taps.into(),
            asks: kernel.asks,
            repeats,
        })
    }

    /// Axes whose places have tiles of their own.
    fn outer(&self) -> usize {
        self.shape.rank() - 1 - usize::from(self.repeats)
    }

    fn across(&self) -> usize {
        self.shape[self.shape.rank() - 1].div_ceil(TILE)
    }

    fn count(&self) -> usize {
        self.shape[..self.outer()].iter().product::<usize>() * self.across()
    }

    /// Some tiles.
    ///
    /// # Safety
    ///
    /// That of [`blend`]; `x` and `out` are the first elements.
    unsafe fn run<T: Element>(&self, tiles: Range<usize>, x: *const T, out: *mut T) {
        let (last, outer) = (self.shape.rank() - 1, self.outer());
        let lines = if self.repeats { self.shape[last - 1] } else { 1 };
        let none = Tap { at: [0; TILE], weight: [T::default(); TILE], counts: [0; TILE / LANES] };
        let mut taps = memory::filled(self.taps, none);
        for tile in tiles {
            let (mut rest, first) = (tile / self.across(), tile % self.across() * TILE);
            let n = (self.shape[last] - first).min(TILE);
            let mut index = [0isize; MAX_RANK];
            for d in (0..outer).rev() {
                (index[d], rest) = ((rest % self.shape[d]) as isize, rest / self.shape[d]);
            }
            let place = |strides: &[isize]| (0..outer).map(|d| index[d] * strides[d]).sum::<isize>();
            let line = (0..outer).fold(0, |line, d| line * self.shape[d] + index[d] as usize) * lines;
            // SAFETY: the operands have these positions.
            unsafe {
                for (t, tap) in taps.iter_mut().enumerate() {
                    self.prepare(t, &place, first..first + n, tap);
                }
                let x = x.offset(place(&self.x));
                let apart = if self.repeats { self.x[last - 1] } else { 0 };
                for i in 0..lines {
                    let out = out.add((line + i) * self.shape[last] + first);
                    T::sums(&taps, n, x.offset(i as isize * apart), out);
                }
            }
        }
    }

    /// A tap of some positions of a line.
    ///
    /// # Safety
    ///
    /// The operands have them.
    unsafe fn prepare<T: Element>(
        &self,
        t: usize,
        place: &impl Fn(&[isize]) -> isize,
        positions: Range<usize>,
        tap: &mut Tap<T>,
    ) {
        let last = self.shape.rank() - 1;
        let operand = |number: usize| {
            let (layout, base) = (&self.behind[number].layout, self.behind[number].base);
            let by = layout.strides()[last];
            (base, layout.offset() as isize + place(layout.strides()) + positions.start as isize * by, by)
        };
        let (index, weight) = (operand(t), operand(self.taps + t));
        let inside = self.asks.then(|| operand(2 * self.taps + t));
        let x_by = self.x[last];
        tap.counts = [0; TILE / LANES];
        for j in 0..positions.len() {
            let by = j as isize;
            // SAFETY: this function's contract.
            unsafe {
                let i = *index.0.cast::<i64>().offset(index.1 + by * index.2);
                let is_inside = inside.is_none_or(|(base, at, step)| *base.offset(at + by * step) != 0);
                let counts = (i as u64) < self.limit && is_inside;
                let at = i.wrapping_mul(self.along as i64) + ((positions.start + j) as isize * x_by) as i64;
                tap.at[j] = if counts { at as i32 } else { 0 };
                tap.weight[j] = *weight.0.cast::<T>().offset(weight.1 + by * weight.2);
                tap.counts[j / LANES] |= u16::from(counts) << (j % LANES);
            }
        }
    }
}

/// A tap along a stretch: where its operands begin, and how far apart they follow.
struct Stretch<T> {
    index: (*const i64, isize),
    weight: (*const T, isize),
    inside: Option<(*const u8, isize)>,
}

/// Adds a tap to `n` sums, or begins them.
///
/// # Safety
///
/// All of these are there, but where an index is out of range.
#[inline(always)]
unsafe fn add<T: Element>(
    n: usize,
    (x, by, along, limit): (*const T, isize, isize, u64),
    tap: &Stretch<T>,
    begins: bool,
    out: *mut T,
) {
    // SAFETY: this function's contract.
    unsafe {
        let counts = |j: isize| tap.inside.is_none_or(|(inside, by)| *inside.offset(j * by) != 0);
        let read = |j: isize| {
            let index = *tap.index.0.offset(j * tap.index.1);
            let there = (index as u64) < limit && counts(j);
            if there { *x.offset(j * by + index as isize * along) } else { T::default() }
        };
        let keep = |j: usize, part: T| {
            let sum = out.add(j);
            sum.write(if begins { part } else { *sum + part });
        };
        let first = *tap.index.0;
        if tap.index.1 == 0 && tap.weight.1 == 0 && by == 1 && tap.inside.is_none() && (first as u64) < limit
        {
            // A row that has one index.
            let (row, weight) = (x.offset(first as isize * along), *tap.weight.0);
            (0..n).for_each(|j| keep(j, *row.add(j) * weight));
        } else {
            (0..n).for_each(|j| keep(j, read(j as isize) * *tap.weight.0.offset(j as isize * tap.weight.1)));
        }
    }
}

/// # Safety
///
/// As [`Kernel::cpu`](crate::library::Kernel::cpu) of a kernel whose elements are `T`.
pub(in crate::library) unsafe fn blend<T: Element>(kernel: &Blend, operands: &[Operand], out: *mut T) {
    let (axis, taps) = (usize::from(kernel.axis), usize::from(kernel.taps));
    let [x, behind @ ..] = operands else { return };
    let shape = *behind[0].layout.shape();
    let count = shape.numel();
    if count == 0 {
        return;
    }
    let much = count >= PARALLEL;
    if let Some(tiles) = Tiles::of(kernel, &x.layout, behind, &shape) {
        let at = Shared((&tiles, x.first().cast::<T>(), out));
        return in_ranges(tiles.count(), much, &|range| {
            let (tiles, x, out) = at.get();
            // SAFETY: by this function's contract; tiles are disjoint.
            unsafe { tiles.run(range, x, out) };
        });
    }
    // `x` comes last; what is not there is walked as it is.
    let layouts: [_; LAYOUTS] =
        from_fn(|k| behind.get(k).filter(|_| k + 1 < LAYOUTS).map_or(&x.layout, |o| &o.layout));
    let bases: [_; LAYOUTS] =
        from_fn(|k| Shared(behind.get(k).filter(|_| k + 1 < LAYOUTS).map_or(x.base, |o| o.base)));
    let (along, limit, out) = (x.layout.strides()[axis], x.layout.shape()[axis] as u64, Shared(out));
    in_ranges(count, much, &|range| {
        stretches(&shape, layouts, axis, range, |position, n, at, by| {
            // SAFETY: by this function's contract; stretches of the result are disjoint.
            unsafe {
                let source = bases[LAYOUTS - 1].get().cast::<T>().offset(at[LAYOUTS - 1]);
                for t in 0..taps {
                    let (i, w, m) = (t, taps + t, 2 * taps + t);
                    let tap = Stretch {
                        index: (bases[i].get().cast::<i64>().offset(at[i]), by[i]),
                        weight: (bases[w].get().cast::<T>().offset(at[w]), by[w]),
                        inside: kernel.asks.then(|| (bases[m].get().offset(at[m]), by[m])),
                    };
                    add(n, (source, by[LAYOUTS - 1], along, limit), &tap, t == 0, out.get().add(position));
                }
            }
            true
        });
    });
}
