//! Counts by intervals against a loop.

use super::Tally;
use crate::library::testing::{Array, computed, refused};
use mg_device::{DType, ErrorKind};

#[test]
fn both_ends_count_and_nothing_beyond() {
    let number = |dtype, v| Array::new(dtype, &[], [v]);
    for dtype in [DType::F32, DType::F64] {
        for (n, bins) in [(0, 3), (1, 1), (300, 1), (300, 7), (300, Tally::MOST), (200_000, 5)] {
            let mut x = Array::some(dtype, &[n], 3);
            for (to, v) in x.values.iter_mut().zip([-2.0, 3.0, f64::NAN, f64::INFINITY, -2.1, 3.1]) {
                *to = if dtype == DType::F32 { f64::from(v as f32) } else { v };
            }
            let mut want = vec![0.0; bins];
            for &v in x.values.iter().filter(|v| (-2.0..=3.0).contains(*v)) {
                let place = match dtype {
                    DType::F64 => ((v + 2.0) / 5.0 * bins as f64) as usize,
                    _ => ((v as f32 + 2.0) / 5.0 * bins as f32) as usize,
                };
                want[place.min(bins - 1)] += 1.0;
            }
            let got = computed(&Tally { bins }, &[&x, &number(dtype, -2.0), &number(dtype, 3.0)]).unwrap();
            assert_eq!((got.dtype, got.values), (DType::I64, want), "{dtype}, {n} in {bins}");
        }
    }
}

#[test]
fn what_it_does_not_take_is_refused() {
    let (x, end) = (Array::some(DType::F32, &[4], 1), Array::new(DType::F32, &[], [1.0]));
    for bins in [0, Tally::MOST + 1] {
        assert!(matches!(refused(&Tally { bins }, &[&x, &end, &end]), ErrorKind::Value(_)));
    }
    let tally = Tally { bins: 2 };
    assert!(matches!(refused(&tally, &[&x, &x, &end]), ErrorKind::Value(_)));
    let half = Array::some(DType::F16, &[4], 1);
    assert!(matches!(refused(&tally, &[&half, &end, &end]), ErrorKind::DType(_)));
}
