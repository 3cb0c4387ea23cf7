//! The innermost loops of matrix products: a tile of the result held in registers.
//!
//! A tile is up to `rows` rows by `vectors` vectors. For each step along `k` it takes the vectors of one row of `b` and
//! one number of each row of `a`. Only `b` has to be contiguous along the tile's columns; `a` is read in place as long
//! as its rows stay in cache, because a number that is spread over a vector costs the same from anywhere.

use std::ops::Range;

/// Steps of a tile that are evenly spaced: from where in `a` and `b` on, in elements, and how many, at least one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Link {
    pub a: isize,
    pub b: isize,
    pub k: usize,
}

/// What a tile is computed from. Strides are in elements.
pub(crate) struct Tile<'a, T> {
    /// The steps along `k`, in the order in which they are added.
    pub links: &'a [Link],
    pub a: *const T,
    pub a_row: isize,
    pub a_k: isize,
    pub b: *const T,
    pub b_k: isize,
    pub c: *mut T,
    pub c_row: isize,
    /// Columns to load and store; [`Kernels::masked`] says whether fewer than the vectors hold are possible.
    pub columns: usize,
    /// Adds to what is in `c`.
    pub add: bool,
    /// What will be read after this tile, and how far to go in it at each step.
    pub ahead: *const T,
    pub ahead_k: isize,
}

/// Computes a tile.
///
/// # Safety
///
/// The addresses are valid for the tile's rows, columns and the steps of its links; the processor has the kernel's
/// instructions. Each link has at least one step: a link of none would be taken for one of `usize::MAX + 1`, far beyond
/// what there is. There may be no links at all, whose sum is 0.
pub(crate) type Micro<T> = unsafe fn(&Tile<T>);

/// The kernels of a type on this processor.
pub(crate) struct Kernels<T: 'static> {
    /// The most rows of a tile.
    pub rows: usize,
    /// Elements of a vector.
    pub lanes: usize,
    /// Whether `b` may be loaded and `c` stored for a part of the last vector.
    pub masked: bool,
    /// For one and two vectors, the kernel of each height from 1 to `rows`.
    pub micro: [&'static [Micro<T>]; 2],
    /// Those of a matrix and a vector.
    pub lines: LineKernels<T>,
}

/// Lines of a matrix, contiguous, and a vector `x`. Strides are in elements.
pub(crate) struct Line<T> {
    pub lines: usize,
    pub len: usize,
    pub a: *const T,
    /// From one line to the next.
    pub a_line: isize,
    pub x: *const T,
    pub y: *mut T,
    /// From the number that one line gives to that of the next.
    pub y_step: usize,
    /// Adds to what is in `y`.
    pub add: bool,
}

/// What multiplies lines with a vector.
///
/// Safety: the addresses are valid for the lines and the vector; the processor has the kernel's instructions.
type OfLines<T> = unsafe fn(&Line<T>);

/// The kernels of products of a matrix and a vector.
pub(crate) struct LineKernels<T: 'static> {
    /// The sum over one line times the vector, and those of four lines beside each other. A line's sum is the same in both.
    pub dot: OfLines<T>,
    pub dots_beside: OfLines<T>,
    /// The sum of all lines, each times a number of the vector, in their order.
    pub sum: OfLines<T>,
}

impl<T> Kernels<T> {
    /// The most columns of a tile.
    pub fn columns(&self) -> usize {
        self.lanes * self.micro.len()
    }

    /// The columns that a tile writes of which so many are wanted: all of its vectors.
    pub fn written(&self, wanted: usize) -> usize {
        wanted.min(self.columns()).next_multiple_of(self.lanes)
    }

    /// The kernel of tiles of so many rows and columns.
    pub fn of(&self, rows: usize, columns: usize) -> Micro<T> {
        self.micro[columns.div_ceil(self.lanes) - 1][rows - 1]
    }
}

/// A type that products are computed in.
pub(crate) trait Compute: Copy + Default + Send + Sync + 'static {
    /// The kernels for this processor.
    fn kernels() -> &'static Kernels<Self>;
    /// `self + a · b`, as the kernels compute it on some processor.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The sum.
    fn plus(self, other: Self) -> Self;
}

/// Steps from a row of `b` to the one that is brought near beside it: strips are longer than the nearest cache, and low tiles have no time to wait.
const NEAR: isize = 8;

trait Vector<T>: Copy {
    const LANES: usize;
    const MASKED: bool;
    type Mask: Copy;
    fn mask(n: usize) -> Self::Mask;
    unsafe fn zero() -> Self;
    unsafe fn splat(x: T) -> Self;
    unsafe fn load(p: *const T) -> Self;
    unsafe fn load_part(p: *const T, mask: Self::Mask) -> Self;
    unsafe fn store(self, p: *mut T);
    unsafe fn store_part(self, p: *mut T, mask: Self::Mask);
    unsafe fn plus(self, other: Self) -> Self;
    /// `self + a · b`.
    unsafe fn mul_add(self, a: Self, b: Self) -> Self;
}

#[inline(always)]
#[allow(clippy::needless_range_loop)] // see `steps`
unsafe fn tile<T: Copy, V: Vector<T>, const ROWS: usize, const VECTORS: usize>(t: &Tile<T>) {
    // SAFETY: by the contract of `Micro`.
    unsafe {
        let mask = V::mask(t.columns - (VECTORS - 1) * V::LANES);
        for i in 0..ROWS {
            for v in 0..VECTORS {
                prefetch(t.c.offset(i as isize * t.c_row).add(v * V::LANES));
            }
        }
        // A mask costs a slot of the multipliers, so it is left out where it can be.
        let acc = if const { !V::MASKED } || t.columns == VECTORS * V::LANES {
            steps::<T, V, ROWS, VECTORS>(t, |p| V::load(p))
        } else {
            steps::<T, V, ROWS, VECTORS>(t, |p| V::load_part(p, mask))
        };
        for i in 0..ROWS {
            for v in 0..VECTORS {
                let acc = acc[i][v];
                let to = t.c.offset(i as isize * t.c_row).add(v * V::LANES);
                if V::MASKED && v == VECTORS - 1 {
                    (if t.add { acc.plus(V::load_part(to, mask)) } else { acc }).store_part(to, mask);
                } else {
                    (if t.add { acc.plus(V::load(to)) } else { acc }).store(to);
                }
            }
        }
    }
}

/// The sums of a tile; `last` loads the last vector of a row of `b`.
///
/// By numbers rather than iterators: there are two hundred of these, and each iterator would be compiled, and dissolved, in each.
#[inline(always)]
#[allow(clippy::needless_range_loop)]
unsafe fn steps<T: Copy, V: Vector<T>, const ROWS: usize, const VECTORS: usize>(
    t: &Tile<T>,
    last: impl Fn(*const T) -> V,
) -> [[V; VECTORS]; ROWS] {
    debug_assert!(t.links.iter().all(|link| link.k > 0));
    // SAFETY: by the contract of `Micro`.
    unsafe {
        let mut acc = [[V::zero(); VECTORS]; ROWS];
        // Rows in groups of four, each with a pointer of its own: one pointer for all would be a chain of additions as
        // long as a step takes.
        let one = t.a_row * size_of::<T>() as isize;
        let three = opaque(std::ptr::without_provenance::<T>((3 * one) as usize)).addr() as isize;
        let step = t.a_k * size_of::<T>() as isize;
        let mut ahead = t.ahead;
        let mut links = t.links.as_ptr_range();
        let (mut a, mut b, mut left) = ([t.a; 4], t.b, 0);
        // One loop and not two: in the inner one of two the compiler would not keep the sums of tall tiles in registers.
        loop {
            if left == 0 {
                if links.start == links.end {
                    break;
                }
                let link = *links.start;
                links.start = links.start.add(1);
                for g in 0..ROWS.div_ceil(4) {
                    a[g] = opaque(t.a.wrapping_offset(link.a).wrapping_byte_offset(4 * g as isize * one));
                }
                (b, left) = (t.b.wrapping_offset(link.b), link.k);
            }
            left -= 1;
            let mut row = [V::zero(); VECTORS];
            for v in 0..VECTORS {
                let from = b.add(v * V::LANES);
                prefetch(from.wrapping_offset(NEAR * t.b_k));
                row[v] = if v == VECTORS - 1 { last(from) } else { V::load(from) };
            }
            prefetch_far(ahead);
            ahead = ahead.wrapping_offset(t.ahead_k);
            for i in 0..ROWS {
                let a = a[i / 4];
                let x = V::splat(*match i % 4 {
                    0 => a,
                    1 => a.byte_offset(one),
                    2 => a.byte_offset(2 * one),
                    _ => a.byte_offset(three),
                });
                for v in 0..VECTORS {
                    acc[i][v] = acc[i][v].mul_add(x, row[v]);
                }
            }
            for g in 0..ROWS.div_ceil(4) {
                a[g] = opaque(a[g].wrapping_byte_offset(step));
            }
            b = b.wrapping_offset(t.b_k);
        }
        acc
    }
}

/// The sums over `ROWS` lines times the vector: two for each line, added up at the end in pairs.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // see `steps`
unsafe fn dots<T: Compute, V: Vector<T>, const ROWS: usize>(l: &Line<T>) {
    // SAFETY: by the contract of `OfLines`.
    unsafe {
        let mut acc = [[V::zero(); 2]; ROWS];
        let a: [*const T; ROWS] = std::array::from_fn(|i| l.a.wrapping_offset(i as isize * l.a_line));
        let mut at = 0;
        while at + 2 * V::LANES <= l.len {
            for half in 0..2 {
                let x = V::load(l.x.add(at));
                for i in 0..ROWS {
                    acc[i][half] = acc[i][half].mul_add(x, V::load(a[i].add(at)));
                }
                at += V::LANES;
            }
        }
        if at + V::LANES <= l.len {
            let x = V::load(l.x.add(at));
            for i in 0..ROWS {
                acc[i][0] = acc[i][0].mul_add(x, V::load(a[i].add(at)));
            }
            at += V::LANES;
        }
        if V::MASKED && at < l.len {
            let mask = V::mask(l.len - at);
            let x = V::load_part(l.x.add(at), mask);
            for i in 0..ROWS {
                acc[i][1] = acc[i][1].mul_add(x, V::load_part(a[i].add(at), mask));
            }
        }
        for i in 0..ROWS {
            let mut sum = across(acc[i][0].plus(acc[i][1]));
            if !V::MASKED {
                for j in at..l.len {
                    sum = sum.mul_add(*l.x.add(j), *a[i].add(j));
                }
            }
            let to = l.y.add(i * l.y_step);
            *to = if l.add { (*to).plus(sum) } else { sum };
        }
    }
}

/// The sum of a vector's numbers, halves added to halves.
#[inline(always)]
unsafe fn across<T: Compute, V: Vector<T>>(v: V) -> T {
    let mut all = [T::default(); 16];
    // SAFETY: no vector has more numbers.
    unsafe { v.store(all.as_mut_ptr()) };
    let mut n = V::LANES;
    while n > 1 {
        n /= 2;
        for i in 0..n {
            all[i] = all[i].plus(all[i + n]);
        }
    }
    all[0]
}

/// The sum of all lines, each times its number of the vector, in their order: several in each pass over the result, which stays near.
#[inline(always)]
unsafe fn sums<T: Compute, V: Vector<T>>(l: &Line<T>) {
    const BESIDE: usize = 8;
    /// Of the result at a time: it stays in the first-level cache, and each line is read in long stretches.
    const STRETCH: usize = 2048;
    // SAFETY: by the contract of `OfLines`.
    unsafe {
        for at in (0..l.len).step_by(STRETCH) {
            let end = l.len.min(at + STRETCH);
            let mut line = 0;
            while line + BESIDE <= l.lines {
                pass::<T, V, BESIDE>(l, line, at..end);
                line += BESIDE;
            }
            for line in line..l.lines {
                pass::<T, V, 1>(l, line, at..end);
            }
        }
    }
}

/// Adds some lines to a part of the result.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // see `steps`
unsafe fn pass<T: Compute, V: Vector<T>, const LINES: usize>(l: &Line<T>, first: usize, part: Range<usize>) {
    // SAFETY: by the contract of `OfLines`.
    unsafe {
        let numbers: [T; LINES] = std::array::from_fn(|i| *l.x.add(first + i));
        let x: [V; LINES] = std::array::from_fn(|i| V::splat(numbers[i]));
        let a: [*const T; LINES] =
            std::array::from_fn(|i| l.a.wrapping_offset((first + i) as isize * l.a_line));
        let add = l.add || first > 0;
        let mut at = part.start;
        while at + V::LANES <= part.end {
            let to = l.y.add(at);
            let mut acc = if add { V::load(to) } else { V::zero() };
            for i in 0..LINES {
                acc = acc.mul_add(x[i], V::load(a[i].add(at)));
            }
            acc.store(to);
            at += V::LANES;
        }
        if V::MASKED && at < part.end {
            let (to, mask) = (l.y.add(at), V::mask(part.end - at));
            let mut acc = if add { V::load_part(to, mask) } else { V::zero() };
            for i in 0..LINES {
                acc = acc.mul_add(x[i], V::load_part(a[i].add(at), mask));
            }
            acc.store_part(to, mask);
            at = part.end;
        }
        for j in at..part.end {
            let to = l.y.add(j);
            let mut acc = if add { *to } else { T::default() };
            for i in 0..LINES {
                acc = acc.mul_add(numbers[i], *a[i].add(j));
            }
            *to = acc;
        }
    }
}

/// An address that the compiler cannot derive from another.
#[inline(always)]
fn opaque<T>(mut p: *const T) -> *const T {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: no instruction.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) p, options(pure, readonly, nostack, preserves_flags));
    }
    p
}

#[inline(always)]
unsafe fn prefetch<T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address is allowed.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(p.cast())
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

#[inline(always)]
unsafe fn prefetch_far<T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address is allowed.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(p.cast())
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

/// Vectors of any processor: loops that the compiler turns into its instructions.
#[derive(Clone, Copy)]
struct Portable<T, const N: usize>([T; N]);

impl<T: Compute, const N: usize> Vector<T> for Portable<T, N> {
    const LANES: usize = N;
    const MASKED: bool = false;
    type Mask = ();
    #[inline(always)]
    fn mask(_: usize) {}
    #[inline(always)]
    unsafe fn zero() -> Self {
        Portable([T::default(); N])
    }
    #[inline(always)]
    unsafe fn splat(x: T) -> Self {
        Portable([x; N])
    }
    #[inline(always)]
    unsafe fn load(p: *const T) -> Self {
        // SAFETY: by the contract of `Micro`.
        Portable(unsafe { p.cast::<[T; N]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn load_part(p: *const T, (): ()) -> Self {
        // SAFETY: as above.
        unsafe { Self::load(p) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut T) {
        // SAFETY: by the contract of `Micro`.
        unsafe { p.cast::<[T; N]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn store_part(self, p: *mut T, (): ()) {
        // SAFETY: as above.
        unsafe { self.store(p) }
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        Portable(std::array::from_fn(|i| self.0[i].plus(other.0[i])))
    }
    #[inline(always)]
    unsafe fn mul_add(self, a: Self, b: Self) -> Self {
        Portable(std::array::from_fn(|i| self.0[i].mul_add(a.0[i], b.0[i])))
    }
}

unsafe fn portable<T: Compute, const LANES: usize, const ROWS: usize, const VECTORS: usize>(t: &Tile<T>) {
    // SAFETY: by the contract of `Micro`.
    unsafe { tile::<T, Portable<T, LANES>, ROWS, VECTORS>(t) }
}

unsafe fn portable_dots<T: Compute, const LANES: usize, const ROWS: usize>(l: &Line<T>) {
    // SAFETY: by the contract of `OfLines`.
    unsafe { dots::<T, Portable<T, LANES>, ROWS>(l) }
}

unsafe fn portable_sums<T: Compute, const LANES: usize>(l: &Line<T>) {
    // SAFETY: by the contract of `OfLines`.
    unsafe { sums::<T, Portable<T, LANES>>(l) }
}

macro_rules! portable_kernels {
    ($T:ty, $lanes:literal) => {
        Kernels {
            rows: 4,
            lanes: $lanes,
            masked: false,
            micro: [
                &[
                    portable::<$T, $lanes, 1, 1>,
                    portable::<$T, $lanes, 2, 1>,
                    portable::<$T, $lanes, 3, 1>,
                    portable::<$T, $lanes, 4, 1>,
                ],
                &[
                    portable::<$T, $lanes, 1, 2>,
                    portable::<$T, $lanes, 2, 2>,
                    portable::<$T, $lanes, 3, 2>,
                    portable::<$T, $lanes, 4, 2>,
                ],
            ],
            lines: LineKernels {
                dot: portable_dots::<$T, $lanes, 1>,
                dots_beside: portable_dots::<$T, $lanes, 4>,
                sum: portable_sums::<$T, $lanes>,
            },
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Kernels, Line, LineKernels, Tile, Vector, dots, sums, tile};
    use std::arch::x86_64::*;

    macro_rules! vector {
        ($name:ident, $T:ty, $V:ty, $lanes:literal, $masked:literal, $Mask:ty, |$n:ident| $mask:expr,
         $zero:ident, $splat:ident, |$from:ident| $load:expr, |$pm:ident, $lm:ident| $load_part:expr,
         |$to:ident, $value:ident| $store:expr, |$ps:ident, $sm:ident, $vs:ident| $store_part:expr,
         $plus:ident, |$acc:ident, $a:ident, $b:ident| $fma:expr) => {
            #[derive(Clone, Copy)]
            pub(super) struct $name($V);

            // SAFETY of the blocks below: the functions are inlined into kernels that are compiled for these
            // instructions, and the addresses are valid by the contract of `Micro`.
            impl Vector<$T> for $name {
                const LANES: usize = $lanes;
                const MASKED: bool = $masked;
                type Mask = $Mask;
                #[inline(always)]
                fn mask($n: usize) -> $Mask {
                    $mask
                }
                #[inline(always)]
                unsafe fn zero() -> Self {
                    // SAFETY: see above.
                    $name(unsafe { $zero() })
                }
                #[inline(always)]
                unsafe fn splat(x: $T) -> Self {
                    // SAFETY: see above.
                    $name(unsafe { $splat(x) })
                }
                #[inline(always)]
                unsafe fn load($from: *const $T) -> Self {
                    // SAFETY: see above.
                    $name(unsafe { $load })
                }
                #[inline(always)]
                unsafe fn load_part($pm: *const $T, $lm: $Mask) -> Self {
                    // SAFETY: see above.
                    $name(unsafe { $load_part })
                }
                #[inline(always)]
                unsafe fn store(self, $to: *mut $T) {
                    let $value = self.0;
                    // SAFETY: see above.
                    unsafe { $store }
                }
                #[inline(always)]
                unsafe fn store_part(self, $ps: *mut $T, $sm: $Mask) {
                    let $vs = self.0;
                    // SAFETY: see above.
                    unsafe { $store_part }
                }
                #[inline(always)]
                unsafe fn plus(self, other: Self) -> Self {
                    // SAFETY: see above.
                    $name(unsafe { $plus(self.0, other.0) })
                }
                #[inline(always)]
                unsafe fn mul_add(self, a: Self, b: Self) -> Self {
                    let ($acc, $a, $b) = (self.0, a.0, b.0);
                    // SAFETY: see above.
                    $name(unsafe { $fma })
                }
            }
        };
    }

    vector!(
        F32x16,
        f32,
        __m512,
        16,
        true,
        __mmask16,
        |n| (1u32 << n).wrapping_sub(1) as u16,
        _mm512_setzero_ps,
        _mm512_set1_ps,
        |p| _mm512_loadu_ps(p),
        |p, m| _mm512_maskz_loadu_ps(m, p),
        |p, v| _mm512_storeu_ps(p, v),
        |p, m, v| _mm512_mask_storeu_ps(p, m, v),
        _mm512_add_ps,
        |c, a, b| _mm512_fmadd_ps(a, b, c)
    );
    vector!(
        F64x8,
        f64,
        __m512d,
        8,
        true,
        __mmask8,
        |n| (1u32 << n).wrapping_sub(1) as u8,
        _mm512_setzero_pd,
        _mm512_set1_pd,
        |p| _mm512_loadu_pd(p),
        |p, m| _mm512_maskz_loadu_pd(m, p),
        |p, v| _mm512_storeu_pd(p, v),
        |p, m, v| _mm512_mask_storeu_pd(p, m, v),
        _mm512_add_pd,
        |c, a, b| _mm512_fmadd_pd(a, b, c)
    );
    vector!(
        I32x16,
        i32,
        __m512i,
        16,
        true,
        __mmask16,
        |n| (1u32 << n).wrapping_sub(1) as u16,
        _mm512_setzero_si512,
        _mm512_set1_epi32,
        |p| _mm512_loadu_si512(p.cast()),
        |p, m| _mm512_maskz_loadu_epi32(m, p),
        |p, v| _mm512_storeu_si512(p.cast(), v),
        |p, m, v| _mm512_mask_storeu_epi32(p, m, v),
        _mm512_add_epi32,
        |c, a, b| _mm512_add_epi32(c, _mm512_mullo_epi32(a, b))
    );
    vector!(
        I64x8,
        i64,
        __m512i,
        8,
        true,
        __mmask8,
        |n| (1u32 << n).wrapping_sub(1) as u8,
        _mm512_setzero_si512,
        _mm512_set1_epi64,
        |p| _mm512_loadu_si512(p.cast()),
        |p, m| _mm512_maskz_loadu_epi64(m, p),
        |p, v| _mm512_storeu_si512(p.cast(), v),
        |p, m, v| _mm512_mask_storeu_epi64(p, m, v),
        _mm512_add_epi64,
        |c, a, b| _mm512_add_epi64(c, _mm512_mullo_epi64(a, b))
    );
    vector!(
        F32x8,
        f32,
        __m256,
        8,
        false,
        (),
        |_n| (),
        _mm256_setzero_ps,
        _mm256_set1_ps,
        |p| _mm256_loadu_ps(p),
        |p, _m| _mm256_loadu_ps(p),
        |p, v| _mm256_storeu_ps(p, v),
        |p, _m, v| _mm256_storeu_ps(p, v),
        _mm256_add_ps,
        |c, a, b| _mm256_fmadd_ps(a, b, c)
    );
    vector!(
        F64x4,
        f64,
        __m256d,
        4,
        false,
        (),
        |_n| (),
        _mm256_setzero_pd,
        _mm256_set1_pd,
        |p| _mm256_loadu_pd(p),
        |p, _m| _mm256_loadu_pd(p),
        |p, v| _mm256_storeu_pd(p, v),
        |p, _m, v| _mm256_storeu_pd(p, v),
        _mm256_add_pd,
        |c, a, b| _mm256_fmadd_pd(a, b, c)
    );
    vector!(
        I32x8,
        i32,
        __m256i,
        8,
        false,
        (),
        |_n| (),
        _mm256_setzero_si256,
        _mm256_set1_epi32,
        |p| _mm256_loadu_si256(p.cast()),
        |p, _m| _mm256_loadu_si256(p.cast()),
        |p, v| _mm256_storeu_si256(p.cast(), v),
        |p, _m, v| _mm256_storeu_si256(p.cast(), v),
        _mm256_add_epi32,
        |c, a, b| _mm256_add_epi32(c, _mm256_mullo_epi32(a, b))
    );

    macro_rules! kernels {
        ($kernel:ident, $table:ident, $features:literal, $V:ident, $T:ty, $masked:literal, $rows:literal, [$($r:literal)*]) => {
            #[target_feature(enable = $features)]
            unsafe fn $kernel<const ROWS: usize, const VECTORS: usize>(t: &Tile<$T>) {
                // SAFETY: by the contract of `Micro`.
                unsafe { tile::<$T, $V, ROWS, VECTORS>(t) }
            }
            impl $V {
                #[target_feature(enable = $features)]
                unsafe fn dots<const ROWS: usize>(l: &Line<$T>) {
                    // SAFETY: by the contract of `OfLines`.
                    unsafe { dots::<$T, $V, ROWS>(l) }
                }
                #[target_feature(enable = $features)]
                unsafe fn sums(l: &Line<$T>) {
                    // SAFETY: by the contract of `OfLines`.
                    unsafe { sums::<$T, $V>(l) }
                }
            }
            pub(super) static $table: Kernels<$T> = Kernels {
                rows: $rows,
                lanes: <$V as Vector<$T>>::LANES,
                masked: $masked,
                micro: [&[$($kernel::<$r, 1>),*], &[$($kernel::<$r, 2>),*]],
                lines: LineKernels { dot: $V::dots::<1>, dots_beside: $V::dots::<4>, sum: $V::sums },
            };
        };
    }
    // 28 of 32 registers accumulate, 2 hold a row of `b`, 1 a number of `a`.
    kernels!(f32_avx512, F32_AVX512, "avx512f,avx512vl,avx512dq", F32x16, f32, true, 14, [1 2 3 4 5 6 7 8 9 10 11 12 13 14]);
    kernels!(f64_avx512, F64_AVX512, "avx512f,avx512vl,avx512dq", F64x8, f64, true, 14, [1 2 3 4 5 6 7 8 9 10 11 12 13 14]);
    kernels!(i32_avx512, I32_AVX512, "avx512f,avx512vl,avx512dq", I32x16, i32, true, 6, [1 2 3 4 5 6]);
    kernels!(i64_avx512, I64_AVX512, "avx512f,avx512vl,avx512dq", I64x8, i64, true, 6, [1 2 3 4 5 6]);
    // 12 of 16 registers accumulate.
    kernels!(f32_avx2, F32_AVX2, "avx2,fma", F32x8, f32, false, 6, [1 2 3 4 5 6]);
    kernels!(f64_avx2, F64_AVX2, "avx2,fma", F64x4, f64, false, 6, [1 2 3 4 5 6]);
    kernels!(i32_avx2, I32_AVX2, "avx2", I32x8, i32, false, 4, [1 2 3 4]);
}

static F32_PORTABLE: Kernels<f32> = portable_kernels!(f32, 8);
static F64_PORTABLE: Kernels<f64> = portable_kernels!(f64, 4);
static I32_PORTABLE: Kernels<i32> = portable_kernels!(i32, 8);
static I64_PORTABLE: Kernels<i64> = portable_kernels!(i64, 4);

macro_rules! compute {
    ($T:ty, $avx512:ident, [$($avx2:ident)?], $portable:ident, |$c:ident, $a:ident, $b:ident| $mul_add:expr, |$x:ident, $y:ident| $plus:expr) => {
        impl Compute for $T {
            #[inline(always)]
            fn kernels() -> &'static Kernels<$T> {
                #[cfg(target_arch = "x86_64")]
                match crate::cpu::loops::isa() {
                    crate::cpu::loops::Isa::Avx512 => return &x86::$avx512,
                    $(crate::cpu::loops::Isa::Avx2 => return &x86::$avx2,)?
                    _ => {}
                }
                &$portable
            }
            #[inline(always)]
            fn mul_add(self, $a: $T, $b: $T) -> $T {
                let $c = self;
                $mul_add
            }
            #[inline(always)]
            fn plus(self, $y: $T) -> $T {
                let $x = self;
                $plus
            }
        }
    };
}
// A fused multiply-add where the instruction is sure to exist; elsewhere it would be a call.
compute!(
    f32,
    F32_AVX512,
    [F32_AVX2],
    F32_PORTABLE,
    |c, a, b| if FUSED { f32::mul_add(a, b, c) } else { c + a * b },
    |x, y| x + y
);
compute!(
    f64,
    F64_AVX512,
    [F64_AVX2],
    F64_PORTABLE,
    |c, a, b| if FUSED { f64::mul_add(a, b, c) } else { c + a * b },
    |x, y| x + y
);
compute!(i32, I32_AVX512, [I32_AVX2], I32_PORTABLE, |c, a, b| c.wrapping_add(a.wrapping_mul(b)), |x, y| x
    .wrapping_add(y));
compute!(i64, I64_AVX512, [], I64_PORTABLE, |c, a, b| c.wrapping_add(a.wrapping_mul(b)), |x, y| x
    .wrapping_add(y));

const FUSED: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));
