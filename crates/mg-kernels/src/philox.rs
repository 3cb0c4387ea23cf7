//! Philox4x32-10, the counter-based generator (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2,
//! 3", 2011): the number at a position is a function of seed and position alone.

/// A round of the cipher.
#[inline(always)]
fn round(c: [u32; 4], k: [u32; 2]) -> [u32; 4] {
    let p0 = c[0] as u64 * 0xD251_1F53;
    let p1 = c[2] as u64 * 0xCD9E_8D57;
    [(p1 >> 32) as u32 ^ c[1] ^ k[0], p1 as u32, (p0 >> 32) as u32 ^ c[3] ^ k[1], p0 as u32]
}

/// The keys of its ten rounds.
#[inline(always)]
fn keys(key: [u32; 2]) -> impl Iterator<Item = [u32; 2]> {
    let next = |k: &[u32; 2]| Some([k[0].wrapping_add(0x9E37_79B9), k[1].wrapping_add(0xBB67_AE85)]);
    std::iter::successors(Some(key), next).take(10)
}

/// Four words from a 128-bit counter and a 64-bit key.
#[inline]
pub fn philox4x32(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    keys(key).fold(counter, round)
}

/// The block of four words at a position.
#[inline]
pub fn block(seed: u64, position: u64) -> [u32; 4] {
    philox4x32([position as u32, (position >> 32) as u32, 0, 0], [seed as u32, (seed >> 32) as u32])
}

/// Blocks that are computed beside each other.
pub(crate) const BESIDE: usize = 64;

/// The words of [`BESIDE`] blocks, `[word][block]`, the first of which is at a position.
#[inline(always)]
pub(crate) fn blocks(seed: u64, first: u64) -> [[u32; BESIDE]; 4] {
    let mut c = [[0u32; BESIDE]; 4];
    let [low, high, ..] = &mut c;
    for (i, (low, high)) in low.iter_mut().zip(high).enumerate() {
        let at = first.wrapping_add(i as u64);
        (*low, *high) = (at as u32, (at >> 32) as u32);
    }
    words_beside(c, [seed as u32, (seed >> 32) as u32])
}

/// The words of blocks with these counters, both `[word][block]`. Where it is inlined, the loops over blocks become vector instructions.
#[inline(always)]
pub(crate) fn words_beside(mut c: [[u32; BESIDE]; 4], key: [u32; 2]) -> [[u32; BESIDE]; 4] {
    for k in keys(key) {
        let mut next = [[0u32; BESIDE]; 4];
        for i in 0..BESIDE {
            let words = round([c[0][i], c[1][i], c[2][i], c[3][i]], k);
            (next[0][i], next[1][i], next[2][i], next[3][i]) = (words[0], words[1], words[2], words[3]);
        }
        c = next;
    }
    c
}

/// The f32 at position `at`: 24 bits, uniform in [0, 1). Four neighbouring positions share a block.
#[inline]
pub fn uniform_f32(seed: u64, at: u64) -> f32 {
    unit_f32(block(seed, at / 4)[(at % 4) as usize])
}

/// The number in [0, 1) that a word stands for.
#[inline(always)]
pub(crate) fn unit_f32(word: u32) -> f32 {
    (word >> 8) as f32 * (1.0 / (1u32 << 24) as f32)
}

/// The f64 at position `at`: 53 bits, uniform in [0, 1). Its blocks are none of the f32 numbers': bit 63 of their
/// number keeps them apart.
#[inline]
pub fn uniform_f64(seed: u64, at: u64) -> f64 {
    let words = block(seed, (at / 2) | (1 << 63));
    let pair = (at % 2) as usize * 2;
    unit_f64(words[pair], words[pair + 1])
}

/// The number in [0, 1) that two words stand for.
#[inline(always)]
pub(crate) fn unit_f64(high: u32, low: u32) -> f64 {
    let bits = ((high as u64) << 32) | low as u64;
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_beside_each_other_are_those_alone() {
        for first in [0, 5, (1 << 32) - 3, (1 << 63) | 7, u64::MAX - 70] {
            let all = blocks(0x1234_5678_9abc_def0, first);
            let beside = (0..BESIDE).map(|i| all.map(|word| word[i]));
            for (i, beside) in beside.enumerate() {
                assert_eq!(beside, block(0x1234_5678_9abc_def0, first + i as u64));
            }
        }
    }

    #[test]
    fn known_answers() {
        // From the Random123 distribution's known-answer file.
        assert_eq!(philox4x32([0; 4], [0; 2]), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
        assert_eq!(philox4x32([!0; 4], [!0; 2]), [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]);
        assert_eq!(
            philox4x32([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0]),
            [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]
        );
    }
}
