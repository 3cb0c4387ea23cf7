//! What `kernels/thirds.cuh` counts on: three numbers of bf16 are one of f32, and six of the nine products of such are the product of two.

use half::bf16;

/// Each what is left, rounded.
fn thirds(x: f32) -> [f32; 3] {
    let first = bf16::from_f32(x).to_f32();
    let second = bf16::from_f32(x - first).to_f32();
    [first, second, bf16::from_f32(x - first - second).to_f32()]
}

/// Numbers of all sizes between two powers of two.
fn numbers(low: i32, high: i32) -> impl Iterator<Item = f32> {
    let mut state = 0x9e37_79b9_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let bits = (state >> 32) as u32;
        let exponent = low + ((state >> 8) as i32).rem_euclid(high - low);
        f32::from_bits((bits & 0x807f_ffff) | ((exponent + 127) as u32) << 23)
    })
}

#[test]
fn three_are_one() {
    for x in numbers(-109, 127).take(200_000).chain([0.0, -0.0, 1.0, f32::MIN_POSITIVE * 131_072.0]) {
        let [first, second, third] = thirds(x);
        assert_eq!(f64::from(first) + f64::from(second) + f64::from(third), f64::from(x), "{x:e}");
    }
    // The largest are an infinity of bf16, which shows in every sum: those are added up again.
    assert!(thirds(f32::MAX)[0].is_infinite() && thirds(f32::INFINITY)[1].is_nan());
}

#[test]
fn six_products_are_one() {
    let (mut worst, mut all) = (0.0f64, 0.0f64);
    let count = 200_000;
    let mut some = numbers(-50, 60);
    for _ in 0..count {
        let (x, y) = (some.next().unwrap(), some.next().unwrap());
        let (a, b) = (thirds(x).map(f64::from), thirds(y).map(f64::from));
        let six: f64 = (0..3).flat_map(|i| (0..3 - i).map(move |j| (i, j))).map(|(i, j)| a[i] * b[j]).sum();
        let product = f64::from(x) * f64::from(y);
        let error = ((six - product) / product).abs();
        worst = worst.max(error);
        all += error;
    }
    // Rounding to f32 is off by 2^-24 at most.
    assert!(
        worst < 2f64.powi(-23) && all / f64::from(count) < 2f64.powi(-27),
        "{worst:e} {:e}",
        all / f64::from(count)
    );
}

#[test]
fn added_from_the_smallest_on_they_are_the_number() {
    for x in numbers(-109, 127).take(10_000) {
        let [first, second, third] = thirds(x);
        assert_eq!(third + second + first, x);
    }
}
