//! Places in sorted lines against counting what is before them.

use super::Search;
use crate::library::testing::{Array, computed, refused};
use mg_device::{DType, ErrorKind};

/// The order of a sort: NaN is larger than every number.
fn before(a: f64, b: f64, right: bool) -> bool {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => right,
        (true, false) => false,
        (false, true) => true,
        (false, false) => a < b || right && a == b,
    }
}

#[test]
fn places_are_counts_of_what_is_before() {
    for (dtype, right) in DType::computed().flat_map(|d| [(d, false), (d, true)]) {
        // Few of either, and enough values that keys are made for them.
        for (lead, length, n) in [(1, 7, 9), (3, 7, 9), (1, 45, 100), (3, 64, 75)] {
            let mut sorted = Array::some(dtype, &[lead, length], 1);
            let mut values = Array::some(dtype, &[lead, n], 2);
            for (line, own) in sorted.values.chunks_mut(length).zip(values.values.chunks_mut(n)) {
                line.sort_by(f64::total_cmp);
                (own[0], own[2], own[3]) = (line[3], line[0], line[length - 2]);
                if dtype.is_float() {
                    (line[length - 1], own[1]) = (f64::NAN, f64::NAN);
                }
            }
            let lines = sorted.values.chunks(length).zip(values.values.chunks(n));
            let count = |line: &[f64], v: f64| line.iter().filter(|&&e| before(e, v, right)).count() as f64;
            let want: Vec<f64> =
                lines.flat_map(|(line, own)| own.iter().map(move |&v| count(line, v))).collect();
            let got = computed(&Search { right }, &[&sorted, &values]).unwrap();
            assert_eq!((got.dtype, got.values), (DType::I64, want), "{dtype}, right: {right}");
        }
    }
}

#[test]
fn one_line_is_for_all_values_and_other_shapes_are_refused() {
    let line = Array::new(DType::F64, &[3], [1.0, 2.0, 2.0]);
    let values = Array::new(DType::F64, &[2, 2], [0.0, 2.0, 3.0, 1.0]);
    assert_eq!(computed(&Search { right: false }, &[&line, &values]).unwrap().values, [0.0, 1.0, 3.0, 0.0]);
    assert_eq!(computed(&Search { right: true }, &[&line, &values]).unwrap().values, [0.0, 3.0, 3.0, 1.0]);
    let search = Search { right: true };
    assert!(matches!(refused(&search, &[&values, &line]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&search, &[&line, &Array::some(DType::F32, &[2], 1)]), ErrorKind::DType(_)));
}
