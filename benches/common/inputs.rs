//! The numbers that benches work on: those of `peers/README.md`, the same in every framework.

// Each bench takes what it needs.
#![allow(dead_code)]

use mg_autograd::Tensor;
use mg_device::Result;

/// Element `i` is the finaliser of splitmix64 (Steele, Lea, Flood 2014) over `seed · 2³² + i`.
fn bits(seed: u64, i: u64) -> u64 {
    let z = (seed << 32).wrapping_add(i).wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// f32 between `low` and `high`.
pub fn uniform(seed: u64, shape: &[usize], low: f64, high: f64) -> Result<Tensor> {
    let n = shape.iter().product::<usize>() as u64;
    let value = |i| (low + (high - low) * ((bits(seed, i) >> 40) as f64 / (1u64 << 24) as f64)) as f32;
    Tensor::from_vec((0..n).map(value).collect(), shape)
}

/// i64 `[n]` below `classes`.
pub fn labels(seed: u64, n: usize, classes: u64) -> Result<Tensor> {
    Tensor::from_vec((0..n as u64).map(|i| (bits(seed, i) % classes) as i64).collect(), &[n])
}
