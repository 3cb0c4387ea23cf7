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

/// After so many elements the numbers begin again.
const PERIOD: usize = 1 << 24;

/// f32 between `low` and `high`, on the default device.
pub fn uniform(seed: u64, shape: &[usize], low: f64, high: f64) -> Result<Tensor> {
    let n = shape.iter().product::<usize>();
    let value = |i| (low + (high - low) * ((bits(seed, i) >> 40) as f64 / (1u64 << 24) as f64)) as f32;
    let values: Vec<f32> = (0..n.min(PERIOD) as u64).map(value).collect();
    if n <= PERIOD {
        return Tensor::from_vec(values, shape);
    }
    let once = Tensor::from_vec(values, &[PERIOD])?;
    let periods = n.div_ceil(PERIOD) as isize;
    let sizes: Vec<isize> = shape.iter().map(|&size| size as isize).collect();
    let all = once.expand(&[periods, PERIOD as isize])?.reshape(&[-1])?;
    let all = all.narrow(0, 0, n)?.reshape(&sizes)?;
    all.realize()?;
    Ok(all)
}

/// i64 `[n]` below `classes`.
pub fn labels(seed: u64, n: usize, classes: u64) -> Result<Tensor> {
    Tensor::from_vec((0..n as u64).map(|i| (bits(seed, i) % classes) as i64).collect(), &[n])
}
