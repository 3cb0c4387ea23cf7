//! Elements and sums by index against loops.

use super::way::{Extent, Linking, Way};
use super::{Gather, ScatterAdd};
use crate::finding::{Checks, Finding, IndexBound};
use crate::library::Kernel;
use crate::library::testing::{Array, computed, places, refused};
use mg_device::{DType, ErrorKind};

const WRAPS: Gather = Gather { axis: 1, lead: 0, wraps: true, once: false, called: "take" };

#[test]
fn elements_are_those_that_indices_name() {
    for dtype in DType::ALL {
        let x = Array::some(dtype, &[3, 4, 2], 1);
        let index = Array::indices(&[3, 5, 2], (0..30).map(|i| i * 5 % 8 - 4));
        let want = places(&[3, 5, 2]).into_iter().map(|p| {
            let at = index.at(&p) as i64;
            x.at(&[p[0], if at < 0 { at + 4 } else { at } as usize, p[2]])
        });
        let want = Array::new(dtype, &[3, 5, 2], want);
        assert_eq!(computed(&WRAPS, &[&x, &index]).unwrap(), want, "{dtype}");
    }
}

#[test]
fn sums_are_in_the_order_of_the_indices() {
    for dtype in DType::computed().filter(|d| !d.is_bool()) {
        let x = Array::some(dtype, &[2, 6, 3], 3);
        let index = Array::indices(&[2, 6, 3], (0..36).map(|i| i * 7 % 4));
        let mut want = Array::new(dtype, &[2, 5, 3], [0.0; 30]);
        for p in places(&[2, 6, 3]) {
            let to = (p[0] * 5 + index.at(&p) as usize) * 3 + p[2];
            // In f32, or in f64 where that is the dtype; half types are rounded once.
            let sum = want.values[to] + x.at(&p);
            want.values[to] = if dtype == DType::F64 || dtype.is_int() { sum } else { f64::from(sum as f32) };
        }
        let want = Array::new(dtype, &[2, 5, 3], want.values);
        let sums = ScatterAdd { axis: 1, lead: 0, size: 5, once: false, called: "scatter_add" };
        assert_eq!(computed(&sums, &[&x, &index]).unwrap(), want, "{dtype}");
    }
    // Sums whose order is none are made by all threads, each of some of the indices.
    let many = (1 << 18) + 5;
    let index = Array::indices(&[many], (0..many).map(|i| (i * 7 % 11) as i64));
    for dtype in [DType::I64, DType::U8] {
        let x = Array::new(dtype, &[many], (0..many).map(|i| (i % 3) as f64));
        let mut want = [0.0; 13];
        index.values.iter().zip(&x.values).for_each(|(&at, v)| want[at as usize] += v);
        let want = if dtype == DType::U8 { want.map(|v| v % 256.0) } else { want };
        let sums = ScatterAdd { axis: 0, lead: 0, size: 13, once: false, called: "bincount" };
        assert_eq!(computed(&sums, &[&x, &index]).unwrap().values, want, "{dtype}");
    }
    let sums = ScatterAdd { axis: 0, lead: 0, size: 10, once: false, called: "bincount" };
    let ones = Array::new(DType::I64, &[many], vec![1.0; many]);
    assert!(computed(&sums, &[&ones, &index]).is_err(), "an index of 10");
    // Integers wrap.
    let x = Array::new(DType::U8, &[3], [200.0, 100.0, 7.0]);
    let sums = ScatterAdd { axis: 0, lead: 0, size: 1, once: false, called: "scatter_add" };
    assert_eq!(computed(&sums, &[&x, &Array::indices(&[3], [0, 0, 0])]).unwrap().values, [51.0]);
}

#[test]
fn indices_are_checked() {
    let x = Array::some(DType::F32, &[3, 4, 2], 1);
    let index = |at| Array::indices(&[3, 1, 2], [0, 1, 2, 3, at, 0]);
    assert!(matches!(WRAPS.checks(), Checks::Index { places: IndexBound::Of(0), .. }));
    for at in [4, -5] {
        assert_eq!(computed(&WRAPS, &[&x, &index(at)]), Err(Finding::Index { index: at, size: 4 }));
    }
    let strict = Gather { wraps: false, ..WRAPS };
    assert_eq!(computed(&strict, &[&x, &index(-1)]), Err(Finding::Index { index: -1, size: 4 }));
    let sums = ScatterAdd { axis: 1, lead: 0, size: 3, once: false, called: "scatter_add" };
    let values = Array::some(DType::F32, &[3, 1, 2], 1);
    assert_eq!(computed(&sums, &[&values, &index(0)]), Err(Finding::Index { index: 3, size: 3 }));
    assert!(matches!(refused(&WRAPS, &[&x, &values]), ErrorKind::DType(_)));
    assert!(matches!(refused(&WRAPS, &[&x, &Array::indices(&[3, 1, 1], [0; 3])]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&sums, &[&x, &index(0)]), ErrorKind::Shape(_)));
}

#[test]
fn sizes_decide_the_way_of_sums() {
    let way = |positions, targets, row| {
        let extent = Extent { positions, targets, row, length: positions };
        [true, false].map(|owns| Way::of(&extent, owns))
    };
    let one = |positions, targets, row| {
        let [owned, other] = way(positions, targets, row);
        assert_eq!(owned, other);
        owned
    };
    // Few of both: every target looks for its own.
    assert_eq!(one(100, 100, 1), Way::Scan);
    assert_eq!(one(100, 100, 64), Way::Rows);
    assert_eq!(one(100, 100, 64).left_from(), None);
    // Long rows.
    assert_eq!(one(1 << 15, 1 << 15, 64), Way::Chains);
    assert_eq!(one(1 << 15, 1000, 64), Way::Strips);
    assert_eq!(one((1 << 15) + 1, 1 << 15, 64), Way::Strips);
    // Short ones: crowded, as many as there are targets, far fewer.
    assert_eq!(one(1 << 20, 1000, 1), Way::Segments(None));
    assert_eq!(one(1 << 20, 1 << 20, 1), Way::Segments(Some(Linking::Pairs)));
    assert_eq!(one(1 << 20, 1 << 20, 8), Way::Segments(Some(Linking::Links)));
    assert_eq!(one(1 << 20, 1 << 24, 8), Way::Segments(None));
    assert_eq!(way(1 << 20, 1 << 24, 1), [Way::Segments(Some(Linking::Owned)), Way::Segments(None)]);
    // More than a kernel counts.
    assert_eq!(one(1 << 10, u32::MAX as usize, 64), Way::Rows);
}
