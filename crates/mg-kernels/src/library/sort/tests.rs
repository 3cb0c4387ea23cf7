//! Orders against a stable sort of the numbers themselves.

use super::{Sort, SortKind};
use crate::library::testing::{Array, computed, refused};
use mg_device::{DType, ErrorKind};
use std::cmp::Ordering;

/// NaN is larger than every number, and zeros are equal.
fn order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// The positions of a line's elements in order.
fn sorted(line: &[f64], descending: bool) -> Vec<usize> {
    let mut at: Vec<usize> = (0..line.len()).collect();
    at.sort_by(|&i, &j| if descending { order(line[j], line[i]) } else { order(line[i], line[j]) });
    at
}

/// Lines of a dtype, some with elements that are equal, and NaNs and both zeros.
fn lines(dtype: DType, length: usize) -> Array {
    let mut x = Array::some(dtype, &[3, length], 5);
    for i in (1..length).step_by(3) {
        x.values[i] = x.values[i / 2];
    }
    if dtype.is_float() && length > 4 {
        (x.values[2], x.values[3], x.values[length]) = (-0.0, 0.0, f64::NAN);
    }
    x
}

#[test]
fn orders_are_stable() {
    for (dtype, descending) in DType::computed().flat_map(|d| [(d, false), (d, true)]) {
        for (length, count) in [(1, 1), (7, 7), (40, 3), (300, 300)] {
            let x = lines(dtype, length);
            let orders = x.values.chunks(length).map(|line| sorted(line, descending));
            let indices: Vec<f64> = orders
                .clone()
                .flat_map(|o| o[..count].iter().map(|&i| i as f64).collect::<Vec<_>>())
                .collect();
            let sort = |kind| Sort { kind, descending, count };
            let got = computed(&sort(SortKind::Indices), &[&x]).unwrap();
            assert_eq!(
                (got.dtype, got.values),
                (DType::I64, indices),
                "{dtype}, {length}, descending: {descending}"
            );
            let values: Vec<f64> = x
                .values
                .chunks(length)
                .zip(orders)
                .flat_map(|(line, o)| o[..count].iter().map(|&i| line[i]).collect::<Vec<_>>())
                .collect();
            let got = computed(&sort(SortKind::Values), &[&x]).unwrap();
            let same = |a: &f64, b: &f64| a == b || a.is_nan() && b.is_nan();
            assert!(
                got.values.iter().zip(&values).all(|(a, b)| same(a, b)),
                "{dtype}, {length}, {descending}"
            );
        }
    }
}

#[test]
fn long_lines_are_sorted_by_all_threads() {
    let length = (1 << 17) + 3;
    for (dtype, descending) in DType::computed().flat_map(|d| [(d, false), (d, true)]) {
        let x = Array::some(dtype, &[1, length], 5);
        let order = sorted(&x.values, descending);
        for count in [5, length] {
            let sort = |kind| computed(&Sort { kind, descending, count }, &[&x]).unwrap().values;
            let indices: Vec<f64> = order[..count].iter().map(|&i| i as f64).collect();
            assert_eq!(sort(SortKind::Indices), indices, "{dtype}, {count}, descending: {descending}");
            let values: Vec<f64> = order[..count].iter().map(|&i| x.values[i]).collect();
            assert_eq!(sort(SortKind::Values), values, "{dtype}, {count}, descending: {descending}");
        }
    }
}

/// Lines of all lengths about those that are sorted in another way: of few values, in order, in the reverse, one value, and without order.
#[test]
fn words_are_sorted_whatever_they_are() {
    let lengths = (0..150).chain([255, 257, 1000, 4099]);
    for n in lengths {
        let some = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let kinds: [&dyn Fn(usize) -> u64; 6] =
            [&some, &|i| some(i) % 3, &|i| i as u64, &|i| (n - i) as u64, &|_| u64::MAX, &|i| {
                some(i) | 1 << 63
            }];
        for (kind, word) in kinds.iter().enumerate() {
            let words: Vec<u64> = (0..n).map(word).collect();
            let mut wide = words.clone();
            super::words::sort(&mut wide, &mut vec![0; n], 0);
            let mut narrow: Vec<u32> = words.iter().map(|&w| (w >> 7) as u32).collect();
            let mut wanted = (words, narrow.clone());
            super::words::sort(&mut narrow, &mut vec![0; n], 0);
            wanted.0.sort_unstable();
            wanted.1.sort_unstable();
            assert!(wide == wanted.0 && narrow == wanted.1, "{n} words of kind {kind}");
        }
    }
}

#[test]
fn ranks_medians_and_modes_are_those_of_the_order() {
    for dtype in DType::computed() {
        for length in [1, 6, 41, 300] {
            let x = lines(dtype, length);
            let found =
                |kind, count| computed(&Sort { kind, descending: false, count }, &[&x]).unwrap().values;
            let [nth, median, nan, mode] = [
                found(SortKind::Nth, length / 3),
                found(SortKind::Median, 0),
                found(SortKind::NanMedian, 0),
                found(SortKind::Mode, 0),
            ];
            for (row, line) in x.values.chunks(length).enumerate() {
                let ordered: Vec<f64> = sorted(line, false).into_iter().map(|i| line[i]).collect();
                let numbers = ordered.iter().filter(|v| !v.is_nan()).count();
                let same = |at: f64, want: f64| {
                    let got = line[at as usize];
                    assert!(
                        got == want || got.is_nan() && want.is_nan(),
                        "{dtype}, {length}: {got}, not {want}"
                    );
                };
                same(nth[row], ordered[length / 3]);
                same(median[row], if numbers < length { f64::NAN } else { ordered[(length - 1) / 2] });
                same(nan[row], if numbers == 0 { f64::NAN } else { ordered[(numbers - 1) / 2] });
                let times = |v: f64| line.iter().filter(|&&o| order(o, v) == Ordering::Equal).count();
                let most = ordered.iter().map(|&v| times(v)).max().unwrap();
                let value = *ordered.iter().find(|&&v| times(v) == most).unwrap();
                same(mode[row], value);
                let last = (0..length).rfind(|&i| order(line[i], value) == Ordering::Equal).unwrap();
                assert_eq!(mode[row] as usize, last, "{dtype}, {length}");
            }
        }
    }
}

#[test]
fn more_than_there_is_is_refused() {
    let x = Array::some(DType::F32, &[2, 3], 1);
    let sort = |kind, count| Sort { kind, descending: false, count };
    assert!(matches!(refused(&sort(SortKind::Values, 4), &[&x]), ErrorKind::Value(_)));
    assert!(matches!(refused(&sort(SortKind::Nth, 3), &[&x]), ErrorKind::Value(_)));
    assert!(matches!(
        refused(&sort(SortKind::Mode, 0), &[&Array::some(DType::F32, &[2, 0], 1)]),
        ErrorKind::Value(_)
    ));
    assert!(matches!(
        refused(&sort(SortKind::Mode, 0), &[&Array::some(DType::F32, &[], 1)]),
        ErrorKind::Axis { .. }
    ));
}
