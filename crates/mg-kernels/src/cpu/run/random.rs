//! Filling a tile with uniform numbers: blocks of the generator beside each other, in vector instructions.

use crate::args::InputArg;
use crate::cpu::gather::Walk;
use crate::cpu::loops::{by_isa, isa};
use crate::philox::{self, BESIDE};
use mg_device::DType;

/// Writes the numbers of [`BESIDE`] blocks from one on: four f32 a block, or two f64.
type Uniform = unsafe fn(dst: *mut u8, seed: u64, first: u64);

/// Numbers at the positions `start..start + n` of a walk.
///
/// Safety: `dst` has room for `n` f64 or f32.
pub(super) unsafe fn random(dst: *mut u8, dtype: DType, arg: &InputArg, walk: &Walk, start: usize, n: usize) {
    let stride = walk.inner_stride() as i64 as u64;
    walk.runs(start, n, |at, offset, len| {
        let first = arg.base.wrapping_add(offset as i64 as u64);
        // SAFETY: `at + len ≤ n`, and the register has room for `n`.
        unsafe {
            if dtype == DType::F64 {
                let dst = dst.cast::<f64>().add(at);
                let one = |position| philox::uniform_f64(arg.seed, position);
                stretch(dst, arg.seed, (first, stride), len, 2, doubles(), 1 << 63, one);
            } else {
                let dst = dst.cast::<f32>().add(at);
                let one = |position| philox::uniform_f32(arg.seed, position);
                stretch(dst, arg.seed, (first, stride), len, 4, singles(), 0, one);
            }
        }
    });
}

/// `len` numbers, of which a block has `each`; blocks are numbered by positions over `each`, with the bits `mark` set.
///
/// Safety: `dst` has room for them.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
unsafe fn stretch<T: Copy + Default>(
    dst: *mut T,
    seed: u64,
    (first, stride): (u64, u64),
    len: usize,
    each: usize,
    many: Uniform,
    mark: u64,
    one: impl Fn(u64) -> T,
) {
    let at = |i: usize| first.wrapping_add(stride.wrapping_mul(i as u64));
    let wrote = |i: usize| {
        // SAFETY: `i < len`.
        unsafe { *dst.add(i) = one(at(i)) }
    };
    if stride != 1 || first.checked_add(len as u64).is_none() {
        return (0..len).for_each(wrote);
    }
    let before = (first.next_multiple_of(each as u64) - first).min(len as u64) as usize;
    (0..before).for_each(wrote);
    let batch = BESIDE * each;
    let mut i = before;
    while i < len {
        let left = len - i;
        let block = (at(i) / each as u64) | mark;
        // SAFETY: a batch fits, or goes to memory of its own of which as much is copied as fits.
        unsafe {
            if left >= batch {
                many(dst.add(i).cast(), seed, block);
            } else if left >= batch / 8 {
                let mut own = [T::default(); BESIDE * 4];
                many(own.as_mut_ptr().cast(), seed, block);
                std::ptr::copy_nonoverlapping(own.as_ptr(), dst.add(i), left);
            } else {
                (i..len).for_each(wrote);
            }
        }
        i += left.min(batch);
    }
}

fn singles() -> Uniform {
    by_isa!(isa(), Uniform, fn<>(dst: *mut u8, seed: u64, first: u64) {
        let words = philox::blocks(seed, first);
        let dst = std::slice::from_raw_parts_mut(dst.cast::<[f32; 4]>(), BESIDE);
        for (i, four) in dst.iter_mut().enumerate() {
            for (number, words) in four.iter_mut().zip(&words) {
                *number = philox::unit_f32(words[i]);
            }
        }
    }, [])
}

fn doubles() -> Uniform {
    by_isa!(isa(), Uniform, fn<>(dst: *mut u8, seed: u64, first: u64) {
        let words = philox::blocks(seed, first);
        let dst = std::slice::from_raw_parts_mut(dst.cast::<[f64; 2]>(), BESIDE);
        for (i, two) in dst.iter_mut().enumerate() {
            for (number, pair) in two.iter_mut().zip(words.chunks_exact(2)) {
                *number = philox::unit_f64(pair[0][i], pair[1][i]);
            }
        }
    }, [])
}
