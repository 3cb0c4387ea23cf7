//! What GPUs of a compute capability have. A capability is one number here: 86 is 8.6.

/// What every GPU has that this library runs on.
pub(crate) const LEAST: u32 = 75;
/// The one from which texts are another: bf16 is rounded, and a NaN found among numbers, by one instruction.
pub(crate) const AMPERE: u32 = 80;
/// The one from which blocks of a cluster read each other's shared memory.
pub(crate) const HOPPER: u32 = 90;

/// What a block takes of a multiprocessor's shared memory besides its own, in bytes.
const RESERVED: u32 = 1 << 10;

/// Bytes of shared memory that a multiprocessor has (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"); of
/// capabilities that are not known yet, what the least one of their time has.
const fn shared(capability: u32) -> u32 {
    let kib = match capability {
        ..=69 => 0,
        70..=79 => 64,
        80 | 87 => 164,
        81..=86 | 88..=89 => 100,
        90..=119 => 228,
        120.. => 100,
    };
    kib << 10
}

/// Bytes of shared memory that a block can have.
pub(crate) const fn most_shared(capability: u32) -> u32 {
    shared(capability).saturating_sub(RESERVED)
}

/// How many blocks that have so much shared memory each a multiprocessor has room for at a time.
pub(crate) const fn room_for(bytes: u32, capability: u32) -> usize {
    (shared(capability) / (bytes + RESERVED)) as usize
}

/// Bytes of shared memory that two blocks of a multiprocessor may each have.
pub(crate) const fn half_of_shared(capability: u32) -> u32 {
    (shared(capability) / 2).saturating_sub(RESERVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_what_the_guide_says() {
        let most = [(80, 163), (86, 99), (87, 163), (89, 99), (90, 227), (100, 227), (103, 227), (120, 99)];
        for (capability, kib) in most {
            assert_eq!(most_shared(capability), kib << 10, "{capability}");
        }
        assert_eq!(
            [(98304, 90), (98304, 80), (98304, 86), (0, 75)].map(|(n, c)| room_for(n, c)),
            [2, 1, 1, 64]
        );
        assert_eq!([80, 86, 90].map(half_of_shared), [81, 49, 113].map(|kib: u32| kib << 10));
    }
}
