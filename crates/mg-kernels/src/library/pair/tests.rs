//! Functions of two numbers against Euclid, and against the closed form for whole first operands.

use super::{Pair, PairKind};
use crate::library::testing::{Array, assert_close, computed, refused};
use mg_device::{DType, ErrorKind};

fn euclid(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { euclid(b, a % b) }
}

#[test]
fn divisors_are_euclids() {
    let numbers = [0, 1, -1, 6, 8, -12, 30, 97, 1 << 40, 3_486_784_401];
    let all: Vec<(i64, i64)> = numbers.iter().flat_map(|&a| numbers.iter().map(move |&b| (a, b))).collect();
    let a = Array::indices(&[100], all.iter().map(|p| p.0));
    let b = Array::indices(&[100], all.iter().map(|p| p.1));
    let got = computed(&Pair { kind: PairKind::Gcd }, &[&a, &b]).unwrap();
    assert_eq!(got, Array::indices(&[100], all.iter().map(|&(a, b)| euclid(a, b))));
}

/// Q(n, x) = e⁻ˣ Σ xᵏ / k! over k < n.
fn upper(n: f64, x: f64) -> f64 {
    let mut term = 1.0;
    let mut sum = 0.0;
    for k in 0..n as u32 {
        sum += term;
        term *= x / f64::from(k + 1);
    }
    sum * (-x).exp()
}

#[test]
fn gammas_are_their_sums() {
    let xs = [0.0, 1e-3, 0.5, 1.0, 3.0, 7.5, 20.0, 60.0];
    let all: Vec<(f64, f64)> = (1..9).flat_map(|n| xs.iter().map(move |&x| (f64::from(n), x))).collect();
    for (dtype, within) in [(DType::F64, 1e-12), (DType::F32, 2e-5)] {
        let a = Array::new(dtype, &[64], all.iter().map(|p| p.0));
        let x = Array::new(dtype, &[64], all.iter().map(|p| p.1));
        let want: Vec<f64> = a.values.iter().zip(&x.values).map(|(&a, &x)| upper(a, x)).collect();
        assert_close(&computed(&Pair { kind: PairKind::Upper }, &[&a, &x]).unwrap().values, &want, within);
        let rest: Vec<f64> = want.iter().map(|q| 1.0 - q).collect();
        assert_close(&computed(&Pair { kind: PairKind::Lower }, &[&a, &x]).unwrap().values, &rest, within);
    }
}

#[test]
fn other_dtypes_and_shapes_are_refused() {
    let (gcd, lower) = (Pair { kind: PairKind::Gcd }, Pair { kind: PairKind::Lower });
    let floats = Array::some(DType::F64, &[2], 1);
    assert!(matches!(refused(&gcd, &[&floats, &floats]), ErrorKind::DType(_)));
    assert!(matches!(refused(&lower, &[&floats, &Array::some(DType::F64, &[3], 1)]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&lower, &[&floats]), ErrorKind::Value(_)));
}
