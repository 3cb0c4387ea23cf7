//! The random numbers of data and of scalar models: small, seeded, and the same on every machine.

/// SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
/// A handful of operations, and every seed is a good one.
pub(crate) struct SplitMix64(u64);

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection of 64-bit numbers that looks random (Stafford's mix 13).
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl SplitMix64 {
    /// The generator's own stream of a seed.
    pub(crate) fn of(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// Stream `index` of `seed`. Another index or another seed starts somewhere unrelated.
    pub(super) fn stream(seed: u64, index: u64) -> SplitMix64 {
        SplitMix64(mix(mix(seed.wrapping_add(GAMMA)) ^ index.wrapping_mul(GAMMA)))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mix(self.0)
    }

    /// Uniform in `0..n`, without bias: Lemire, "Fast random integer generation in an interval", 2019. `n` is at least 1.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        loop {
            let product = u128::from(self.next()) * u128::from(n);
            let low = product as u64;
            // `n.wrapping_neg() % n` is 2⁶⁴ mod n, the count of values that would come up once too often.
            if low >= n || low >= n.wrapping_neg() % n {
                return (product >> 64) as u64;
            }
        }
    }

    /// Shuffles, as Fisher and Yates in Durstenfeld's form (Communications of the ACM 7, 1964).
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }

    /// Uniform in [0, 1), a multiple of 2⁻²⁴.
    pub(super) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 * (1.0 / (1u32 << 24) as f32)
    }

    /// Uniform in [−1, 1).
    pub(super) fn signed(&mut self) -> f32 {
        2.0 * self.unit() - 1.0
    }

    /// Uniform in [−1, 1), a multiple of 2⁻⁵².
    pub(crate) fn wide(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// About normal, with variance 1 and no value beyond 3: the sum of three uniforms. Unlike the usual methods it takes
    /// no logarithm or sine, whose last bits differ between machines.
    pub(super) fn bell(&mut self) -> f32 {
        self.signed() + self.signed() + self.signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounded_numbers_are_uniform() {
        let mut random = SplitMix64::stream(1, 2);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[random.below(7) as usize] += 1;
        }
        // Six degrees of freedom: chi-squared beyond 22.5 has a probability of 0.001.
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 22.5, "{counts:?}");
        assert_eq!(random.below(1), 0);
        assert!((0..100).all(|_| random.below(u64::MAX) < u64::MAX));
    }

    #[test]
    fn the_bell_has_mean_0_and_variance_1() {
        let mut random = SplitMix64::stream(3, 0);
        let draws: Vec<f64> = (0..100_000).map(|_| f64::from(random.bell())).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.015 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }
}
