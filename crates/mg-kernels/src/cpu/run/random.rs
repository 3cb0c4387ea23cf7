//! Filling a tile with random numbers: blocks of the generator beside each other, in vector instructions.

use crate::args::InputArg;
use crate::cpu::gather::Walk;
use crate::cpu::loops::{by_isa, isa};
use crate::math::normal_pair;
use crate::philox::{self, BESIDE};
use crate::program::Law;
use mg_device::DType;

/// Writes the numbers of [`BESIDE`] blocks from one on: four f32 a block, or two f64.
type Many = unsafe fn(dst: *mut u8, seed: u64, first: u64);

/// Numbers at the positions `start..start + n` of a walk.
///
/// Safety: `dst` has room for `n` f64 or f32.
pub(super) unsafe fn random(
    law: Law,
    dst: *mut u8,
    dtype: DType,
    arg: &InputArg,
    walk: &Walk,
    start: usize,
    n: usize,
) {
    let stride = walk.inner_stride() as i64 as u64;
    walk.runs(start, n, |at, offset, len| {
        let first = arg.base.wrapping_add(offset as i64 as u64);
        // SAFETY: `at + len ≤ n`, and the register has room for `n`.
        unsafe {
            if dtype == DType::F64 {
                let dst = dst.cast::<f64>().add(at);
                let uniform = |position| philox::uniform_f64(arg.seed, position);
                match law {
                    Law::Uniform => {
                        stretch(dst, arg.seed, (first, stride), len, 2, doubles(), 1 << 63, uniform);
                    }
                    Law::Normal => {
                        let one = |at| normal_pair(uniform(at & !1), uniform(at | 1))[(at & 1) as usize];
                        stretch(dst, arg.seed, (first, stride), len, 2, normal_doubles(), 1 << 63, one);
                    }
                }
            } else {
                let dst = dst.cast::<f32>().add(at);
                let uniform = |position| philox::uniform_f32(arg.seed, position);
                match law {
                    Law::Uniform => stretch(dst, arg.seed, (first, stride), len, 4, singles(), 0, uniform),
                    Law::Normal => {
                        let one = |at| normal_pair(uniform(at & !1), uniform(at | 1))[(at & 1) as usize];
                        stretch(dst, arg.seed, (first, stride), len, 4, normal_singles(), 0, one);
                    }
                }
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
    many: Many,
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

fn singles() -> Many {
    by_isa!(isa(), Many, fn<>(dst: *mut u8, seed: u64, first: u64) {
        let words = philox::blocks(seed, first);
        let dst = std::slice::from_raw_parts_mut(dst.cast::<[f32; 4]>(), BESIDE);
        for (i, four) in dst.iter_mut().enumerate() {
            for (number, words) in four.iter_mut().zip(&words) {
                *number = philox::unit_f32(words[i]);
            }
        }
    }, [])
}

fn doubles() -> Many {
    by_isa!(isa(), Many, fn<>(dst: *mut u8, seed: u64, first: u64) {
        let words = philox::blocks(seed, first);
        let dst = std::slice::from_raw_parts_mut(dst.cast::<[f64; 2]>(), BESIDE);
        for (i, two) in dst.iter_mut().enumerate() {
            for (number, pair) in two.iter_mut().zip(words.chunks_exact(2)) {
                *number = philox::unit_f64(pair[0][i], pair[1][i]);
            }
        }
    }, [])
}

fn normal_singles() -> Many {
    by_isa!(isa(), Many, fn<>(dst: *mut u8, seed: u64, first: u64) {
        let words = philox::blocks(seed, first);
        // [number][block], as words lie: vector instructions take blocks beside each other.
        let mut numbers = [[0f32; BESIDE]; 4];
        for (pair, words) in numbers.chunks_exact_mut(2).zip(words.chunks_exact(2)) {
            let [a, b] = pair else { continue };
            for i in 0..BESIDE {
                [a[i], b[i]] = normal_pair(philox::unit_f32(words[0][i]), philox::unit_f32(words[1][i]));
            }
        }
        put(&numbers, dst);
    }, [])
}

fn normal_doubles() -> Many {
    by_isa!(isa(), Many, fn<>(dst: *mut u8, seed: u64, first: u64) {
        let words = philox::blocks(seed, first);
        let mut numbers = [[0f64; BESIDE]; 2];
        let [a, b] = &mut numbers;
        for i in 0..BESIDE {
            let (u, v) = (philox::unit_f64(words[0][i], words[1][i]), philox::unit_f64(words[2][i], words[3][i]));
            [a[i], b[i]] = normal_pair(u, v);
        }
        put(&numbers, dst);
    }, [])
}

/// Writes the numbers of blocks beside each other, block after block.
///
/// Safety: there is room for them.
#[inline(always)]
unsafe fn put<T: Copy, const N: usize>(numbers: &[[T; BESIDE]; N], dst: *mut u8) {
    // SAFETY: this function's contract.
    let dst = unsafe { std::slice::from_raw_parts_mut(dst.cast::<[T; N]>(), BESIDE) };
    for (i, block) in dst.iter_mut().enumerate() {
        *block = numbers.map(|number| number[i]);
    }
}
