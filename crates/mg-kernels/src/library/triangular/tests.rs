//! Solutions, put back into their equations.

use super::Triangular;
use crate::library::testing::{Array, refused};
#[cfg(feature = "linalg")]
use crate::library::testing::{assert_close, computed};
use mg_device::{DType, ErrorKind};

#[cfg(feature = "linalg")]
#[test]
fn solutions_solve() {
    let flags = (0..8).map(|i| Triangular { upper: i & 1 > 0, unit: i & 2 > 0, transposed: i & 4 > 0 });
    for (kernel, dtype, within) in flags.flat_map(|k| [(k, DType::F64, 1e-9), (k, DType::F32, 1e-3)]) {
        for n in [1, 4, 17] {
            let mut a = Array::some(dtype, &[2, n, n], 1);
            // What is not read may be anything, and what is divided by is not small.
            for (at, v) in a.values.iter_mut().enumerate() {
                let (i, j) = (at / n % n, at % n);
                let read = if kernel.upper { i < j } else { i > j };
                *v = if i == j {
                    if kernel.unit { f64::NAN } else { 3.0 }
                } else if read {
                    *v / n as f64
                } else {
                    f64::NAN
                };
            }
            let a = Array::new(dtype, &[2, n, n], a.values);
            let b = Array::some(dtype, &[2, n, 3], 2);
            let x = computed(&kernel, &[&a, &b]).unwrap();
            let element = |m: usize, i: usize, j: usize| {
                let (i, j) = if kernel.transposed { (j, i) } else { (i, j) };
                let read = if kernel.upper { i < j } else { i > j };
                if i == j && kernel.unit {
                    1.0
                } else if i == j || read {
                    a.at(&[m, i, j])
                } else {
                    0.0
                }
            };
            let mut product = vec![];
            for (m, i, c) in (0..2).flat_map(|m| (0..n).flat_map(move |i| (0..3).map(move |c| (m, i, c)))) {
                product.push((0..n).map(|j| element(m, i, j) * x.at(&[m, j, c])).sum());
            }
            assert_close(&product, &b.values, within);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let kernel = Triangular { upper: true, unit: false, transposed: false };
    let square = |dtype| Array::some(dtype, &[3, 3], 1);
    let b = Array::some(DType::F64, &[3, 1], 1);
    assert!(matches!(refused(&kernel, &[&square(DType::F64)]), ErrorKind::Value(_)));
    assert!(matches!(refused(&kernel, &[&Array::some(DType::F64, &[2, 3], 1), &b]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&kernel, &[&square(DType::F32), &b]), ErrorKind::DType(_)));
    let halves = (square(DType::F16), Array::some(DType::F16, &[3, 1], 1));
    assert!(matches!(refused(&kernel, &[&halves.0, &halves.1]), ErrorKind::DType(_)));
}
