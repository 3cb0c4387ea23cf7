//! Positions over several axes, as `kernels/index.cuh` has them.

use super::args::index::{Axes, Divisor};
use super::many::TAKEN;
use mg_device::{Error, ErrorKind, MAX_RANK, Result};
use smallvec::SmallVec;
use std::array::from_fn;

/// Positions from which on 32-bit division does not do.
pub(crate) const WIDE: usize = 1 << 31;

/// The multiplier and the shift that divide numbers below 2³¹ by `size`: Granlund and Montgomery, "Division by invariant
/// integers using multiplication" (1994). Multiplier 0 stands for a size of 1 (or more than 2³¹, where nothing divides).
fn divisor(size: usize) -> (u32, u32) {
    if size <= 1 || size >= WIDE {
        return (0, 0);
    }
    let bits = usize::BITS - (size - 1).leading_zeros();
    let multiplier = (1u64 << (31 + bits)).div_ceil(size as u64);
    (multiplier as u32, bits - 1)
}

/// Sizes, and strides over them.
type Space<const N: usize = 2> = (SmallVec<[usize; MAX_RANK]>, [[isize; MAX_RANK]; N]);

/// Axes as the kernels take them, whose sizes have 32 bits: a longer outermost one becomes two. Their product may be more
/// than there are positions; those beyond are never asked for.
pub(crate) fn countable<const N: usize>(
    op: &'static str,
    sizes: &[usize],
    strides: [[isize; MAX_RANK]; N],
) -> Result<Space<N>> {
    let mut out: SmallVec<[usize; MAX_RANK]> = sizes.into();
    let mut spread = strides;
    if sizes.first().is_some_and(|&n| n > u32::MAX as usize) && sizes.len() < TAKEN {
        out[0] = sizes[0].div_ceil(WIDE);
        out.insert(1, WIDE);
        for s in &mut spread {
            s.copy_within(..MAX_RANK - 1, 1);
            s[0] = s[1] * WIDE as isize;
        }
    }
    match out.iter().find(|&&n| n > u32::MAX as usize) {
        None => Ok((out, spread)),
        Some(n) => {
            let text = format!("an axis of {n} elements inside others: up to {} are taken", u32::MAX);
            Err(Error::new(op, ErrorKind::Shape(text)))
        }
    }
}

impl Divisor {
    /// Division by one.
    pub(crate) const ONE: Divisor = Divisor { size: 1, multiplier: 0, shift: 0 };

    /// Division by a size.
    pub(crate) fn by(size: usize) -> Divisor {
        let (multiplier, shift) = divisor(size);
        Divisor { size: size.min(u32::MAX as usize) as u32, multiplier, shift }
    }
}

impl<const N: usize> Axes<N> {
    /// Sizes, and the strides of each operand over them.
    pub(crate) fn of(sizes: &[usize], strides: [&[isize]; N], wide: bool) -> Axes<N> {
        Axes {
            size: from_fn(|axis| Divisor::by(sizes.get(axis).copied().unwrap_or(1))),
            stride: strides.map(|of| from_fn(|axis| of.get(axis).copied().unwrap_or(0) as i64)),
            rank: sizes.len() as u32,
            wide: wide.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The offsets of a position as `Axes::offsets` finds them where positions are wide.
    fn offsets(position: usize, (sizes, strides): &Space) -> [isize; 2] {
        let (mut position, mut at) = (position as u64, [0; 2]);
        for axis in (0..sizes.len()).rev() {
            let size = u64::from(u32::try_from(sizes[axis]).unwrap());
            let rest = position / size;
            for (at, s) in at.iter_mut().zip(strides) {
                *at += (position - rest * size) as isize * s[axis];
            }
            position = rest;
        }
        at
    }

    #[test]
    fn positions_beyond_32_bits_are_found() {
        let mut strides = [[0; MAX_RANK]; 2];
        strides[0][..2].copy_from_slice(&[1, 0]);
        strides[1][..2].copy_from_slice(&[-3, 0]);
        let n = (1 << 32) + 11;
        let space = countable("copy", &[n], strides).unwrap();
        for i in [0, 1, WIDE - 1, WIDE, (1 << 32) - 2, (1 << 32) - 1, 1 << 32, n - 1] {
            assert_eq!(offsets(i, &space), [i as isize, -3 * i as isize]);
        }
        let mut strides = [[0; MAX_RANK]; 2];
        strides[0][..2].copy_from_slice(&[5, 1]);
        let space = countable("copy", &[n, 5], strides).unwrap();
        for i in [7, 5 * WIDE - 1, 5 * WIDE, 5 * n - 1] {
            assert_eq!(offsets(i, &space)[0], i as isize);
        }
        let error = countable("copy", &[2, n], strides).unwrap_err();
        assert!(error.to_string().contains("4294967307"), "{error}");
        let small = countable("copy", &[3, 4], strides).unwrap();
        assert_eq!((&small.0[..], small.1), (&[3, 4][..], strides));
    }

    #[test]
    fn multiplication_divides() {
        let sizes = [1, 2, 3, 5, 7, 10, 64, 641, 1000, 65535, 65536, 65537, 0x7fff_ffff, 1 << 30];
        for size in sizes {
            let (multiplier, shift) = divisor(size);
            let near = (0..4).flat_map(|i| [size * i, (size * i).wrapping_sub(1), size * i + 1]);
            for x in near.chain([0x7fff_ffff, 0x7fff_fffe, 123_456_789]).filter(|&x| x < WIDE) {
                let high = ((x as u64 * u64::from(multiplier)) >> 32) as u32;
                let quotient = if multiplier == 0 { x as u32 } else { high >> shift };
                assert_eq!(quotient as usize, x / size, "{x} / {size}");
            }
        }
    }
}
