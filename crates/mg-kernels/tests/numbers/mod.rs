//! Data for plans that tests carry out.

/// Numbers that are no two alike, small.
pub fn numbers(count: usize, seed: u32) -> Vec<f64> {
    let mut x = seed;
    let mut next = || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(x >> 8) / f64::from(1 << 24) - 0.5
    };
    (0..count).map(|_| next()).collect()
}
