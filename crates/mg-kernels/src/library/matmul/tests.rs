//! Products against three loops.

use super::MatMul;
use crate::library::testing::{Array, assert_close, computed, refused};
use mg_device::{DType, ErrorKind, Layout, Shape};

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

/// A product of f32, however its operands lie.
fn product(a: (&[f32], &Layout), b: (&[f32], &Layout)) -> Vec<u32> {
    let n = a.1.shape()[0] * b.1.shape()[1];
    let mut out = vec![0f32; n];
    let [from_a, from_b] = [a, b].map(|(numbers, layout)| {
        assert!(layout.extent().is_none_or(|(_, last)| last < numbers.len()));
        numbers.as_ptr().cast()
    });
    let to = Some(out.as_mut_ptr().cast());
    // SAFETY: the operands' elements are there, and the result has room.
    unsafe { super::cpu::matmul(DType::F32, from_a, a.1, from_b, b.1, to, None) };
    out.into_iter().map(f32::to_bits).collect()
}

#[test]
fn rows_with_gaps_are_added_up_as_those_without() {
    let numbers = |n: usize| -> Vec<f32> { (0..n).map(|i| (i * 7919 % 1009) as f32 / 500.0 - 1.0).collect() };
    let dense = |rows, columns| Layout::contiguous(Shape::of(&[rows, columns]));
    for (m, k) in [(1, 32), (7, 47), (1026, 32), (13, 1030)] {
        for n in 1..=4 {
            let b = numbers(k * n);
            let wide = numbers(m * k * 2);
            let lies = [
                dense(m, 2 * k).slice(1, Some(1), None, 2).unwrap(),
                dense(m, k).flip(1).unwrap(),
                dense(1, k).flip(1).unwrap().expand(&Shape::of(&[m, k])).unwrap(),
                dense(m, 1).expand(&Shape::of(&[m, k])).unwrap(),
            ];
            for lie in lies {
                let packed: Vec<f32> = lie.offsets().map(|at| wide[at]).collect();
                let (with, without) = ((&wide[..], &lie), (&packed[..], &dense(m, k)));
                let given = (&b[..], &dense(k, n));
                assert_eq!(product(with, given), product(without, given), "{m} {k} {n} {lie:?}");
                // The same product, turned.
                let [turned, of] = [lie, dense(m, k)].map(|lie| lie.permute(&[1, 0]).unwrap());
                let given = (&b[..], &dense(n, k));
                assert_eq!(
                    product(given, (&wide, &turned)),
                    product(given, (&packed, &of)),
                    "{m} {k} {n} {lie:?}"
                );
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
