//! Extremes by index against a loop over what is written.

use super::Extreme;
use crate::finding::Finding;
use crate::library::testing::{Array, computed, places, refused};
use mg_device::{DType, ErrorKind};

/// The larger (or smaller), as the kernel has it: NaN before all, −0 below 0.
fn joined(a: f64, b: f64, least: bool) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) | (_, true) => f64::NAN,
        _ if a == b => {
            if a.is_sign_negative() == least {
                a
            } else {
                b
            }
        }
        _ => {
            if (a < b) == least {
                a
            } else {
                b
            }
        }
    }
}

#[test]
fn what_is_written_meets_what_is_there() {
    for (dtype, least, own) in DType::computed()
        .flat_map(|d| [(d, false, false), (d, false, true), (d, true, false), (d, true, true)])
    {
        let base = Array::some(dtype, &[2, 4, 3], 1);
        let mut x = Array::some(dtype, &[2, 6, 3], 2);
        if dtype.is_float() {
            x.values[3..6].copy_from_slice(&[f64::NAN, -0.0, 0.0]);
        }
        let index = Array::indices(&[2, 6, 3], (0..36).map(|i| i * 7 % 5 % 4));
        let mut want = base.clone();
        let mut met = vec![false; want.values.len()];
        for place in places(&[2, 6, 3]) {
            let to = (place[0] * 4 + index.at(&place) as usize) * 3 + place[2];
            let alone = !own && !met[to];
            want.values[to] = if alone { x.at(&place) } else { joined(want.values[to], x.at(&place), least) };
            met[to] = true;
        }
        let got = computed(&Extreme { axis: 1, lead: 0, least, own }, &[&base, &x, &index]).unwrap();
        // Of zeros the sign too.
        let bits =
            |a: &Array| a.values.iter().map(|v| if v.is_nan() { 1 } else { v.to_bits() }).collect::<Vec<_>>();
        assert_eq!(bits(&got), bits(&want), "{dtype}, least: {least}, own: {own}");
    }
}

#[test]
fn indices_and_shapes_are_checked() {
    let extreme = Extreme { axis: 0, lead: 0, least: false, own: true };
    let (base, x) = (Array::some(DType::F32, &[3], 1), Array::some(DType::F32, &[2], 2));
    let index = |last| Array::indices(&[2], [0, last]);
    assert_eq!(computed(&extreme, &[&base, &x, &index(3)]), Err(Finding::Index { index: 3, size: 3 }));
    assert_eq!(computed(&extreme, &[&base, &x, &index(-1)]), Err(Finding::Index { index: -1, size: 3 }));
    assert!(matches!(refused(&extreme, &[&base, &x]), ErrorKind::Value(_)));
    assert!(matches!(
        refused(&extreme, &[&base, &Array::some(DType::F32, &[1], 1), &index(1)]),
        ErrorKind::Shape(_)
    ));
    assert!(matches!(
        refused(&extreme, &[&base, &Array::some(DType::F64, &[2], 1), &index(1)]),
        ErrorKind::DType(_)
    ));
}
