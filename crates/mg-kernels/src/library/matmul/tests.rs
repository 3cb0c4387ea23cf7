//! Products against three loops.

use super::MatMul;
use crate::library::testing::{Array, assert_close, computed, refused};
use mg_device::{DType, ErrorKind};

#[test]
fn products_are_sums_of_products() {
    let within = |dtype| match dtype {
        DType::F64 => 1e-13,
        DType::F32 => 1e-5,
        DType::F16 => 1e-3,
        DType::BF16 => 8e-3,
        _ => 0.0,
    };
    for dtype in DType::computed().filter(|d| !d.is_bool()) {
        let few = [[1, 1, 1, 1], [2, 5, 3, 7], [1, 33, 70, 17], [3, 1, 40, 64], [1, 2, 0, 3]];
        // Strips of several blocks, and of lines that compete for few sets of a cache; of more rows than are read in place.
        let large = [[1, 61, 1030, 70], [1, 60, 66, 1024], [1, 300, 290, 232]];
        let is_large = matches!(dtype, DType::F64 | DType::F32 | DType::BF16);
        for [count, m, k, n] in few.into_iter().chain(large.into_iter().filter(|_| is_large)) {
            let a = Array::some(dtype, &[count, m, k], 1);
            let b = Array::some(dtype, &[count, k, n], 2);
            let got = computed(&MatMul, &[&a, &b]).unwrap();
            assert_eq!(got.shape.dims(), [count, m, n]);
            for (at, &v) in got.values.iter().enumerate() {
                let (c, i, j) = (at / n / m, at / n % m, at % n);
                let want: f64 = (0..k).map(|l| a.at(&[c, i, l]) * b.at(&[c, l, j])).sum();
                // Integers wrap.
                let bits = 2f64.powi(8 * dtype.size() as i32);
                let wrapped = |v: f64| if dtype.is_int() { v.rem_euclid(bits) } else { v };
                let size: f64 = (0..k).map(|l| (a.at(&[c, i, l]) * b.at(&[c, l, j])).abs()).sum();
                assert_close(&[wrapped(v)], &[wrapped(want)], within(dtype) * size.max(1.0));
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let a = Array::some(DType::F32, &[2, 3], 1);
    assert!(matches!(refused(&MatMul, &[&a]), ErrorKind::Value(_)));
    assert!(matches!(refused(&MatMul, &[&a, &a]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&MatMul, &[&a, &Array::some(DType::F32, &[3], 1)]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&MatMul, &[&a, &Array::some(DType::F64, &[3, 2], 1)]), ErrorKind::DType(_)));
}
