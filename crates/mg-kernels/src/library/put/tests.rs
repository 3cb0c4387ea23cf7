//! What is written by index against a loop, the last of several staying.

use super::Put;
use crate::library::testing::{Array, computed, places, refused};
use mg_device::{DType, ErrorKind};

#[test]
fn the_last_value_stays() {
    for dtype in DType::ALL {
        for (outer, n, inner) in [(1, 5, 1), (2, 3, 4), (3, 1, 2)] {
            let base = Array::some(dtype, &[outer, n, inner], 1);
            let index = Array::indices(&[4], [n as i64 - 1, 0, n as i64 / 2, 0]);
            for one in [false, true] {
                let sizes: &[usize] = if one { &[] } else { &[outer, 4, inner] };
                let value = Array::some(dtype, sizes, 2);
                let mut want = base.clone();
                for place in places(&[outer, 4, inner]) {
                    let to = (place[0] * n + index.values[place[1]] as usize) * inner + place[2];
                    want.values[to] = if one { value.values[0] } else { value.at(&place) };
                }
                assert_eq!(computed(&Put { n, inner }, &[&base, &value, &index]).unwrap(), want, "{dtype}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (base, index) = (Array::some(DType::F32, &[6], 1), Array::indices(&[2], [0, 1]));
    let value = |dtype, n| Array::some(dtype, &[n], 2);
    let put = Put { n: 3, inner: 2 };
    assert!(matches!(refused(&put, &[&base, &value(DType::F32, 3), &index]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&put, &[&base, &value(DType::F64, 4), &index]), ErrorKind::DType(_)));
    assert!(matches!(
        refused(&Put { n: 4, inner: 2 }, &[&base, &value(DType::F32, 4), &index]),
        ErrorKind::Shape(_)
    ));
}
