//! Positions over several axes, as `kernels/index.cuh` has them.

use super::args::Args;
use mg_device::MAX_RANK;

/// Positions from which on 32-bit division does not do.
pub(super) const WIDE: usize = 1 << 31;

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

impl Args {
    /// `struct Divisor`.
    pub(super) fn divisor(&mut self, size: usize) -> &mut Args {
        let (multiplier, shift) = divisor(size);
        self.u32(size.min(u32::MAX as usize) as u32).u32(multiplier).u32(shift).u32(0)
    }

    /// `struct Axes`: sizes, and the strides of each operand over them.
    pub(super) fn axes(&mut self, sizes: &[usize], strides: &[&[isize]], wide: bool) -> &mut Args {
        for axis in 0..MAX_RANK {
            self.divisor(sizes.get(axis).copied().unwrap_or(1));
        }
        for operand in strides {
            for axis in 0..MAX_RANK {
                self.i64(operand.get(axis).copied().unwrap_or(0));
            }
        }
        self.u32(sizes.len() as u32).u32(wide.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
