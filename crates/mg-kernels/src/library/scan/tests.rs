//! Scans against one walk along each line.

use super::{Scan, ScanKind};
use crate::library::testing::{Array, assert_close, computed, refused};
use mg_device::{DType, ErrorKind};

/// One line of the result.
fn walked(kind: ScanKind, x: &[f64], a: &[f64]) -> Vec<f64> {
    let mut out: Vec<f64> = vec![];
    for i in 0..x.len() {
        let before = out.last().copied();
        out.push(match kind {
            ScanKind::Sum => before.unwrap_or(0.0) + x[i],
            ScanKind::Prod => before.unwrap_or(1.0) * x[i],
            ScanKind::LogSumExp => x[..=i].iter().map(|v| v.exp()).sum::<f64>().ln(),
            ScanKind::Linear => x[i] + before.map_or(0.0, |y| a[i] * y),
            ScanKind::ArgMax | ScanKind::ArgMin => {
                let best = before.map_or(0, |b| b as usize);
                let (new, old) = (x[i], x[best]);
                let takes = if kind == ScanKind::ArgMax { new >= old } else { new <= old };
                (if new.is_nan() || takes && !old.is_nan() { i } else { best }) as f64
            }
            ScanKind::Max | ScanKind::Min => {
                let least = if kind == ScanKind::Max { f64::NEG_INFINITY } else { f64::INFINITY };
                let (new, old) = (x[i], before.unwrap_or(least));
                let takes = if kind == ScanKind::Max { new >= old } else { new <= old };
                if new.is_nan() || takes && !old.is_nan() { new } else { old }
            }
        });
    }
    out
}

#[test]
fn lines_are_walked() {
    let kinds = [
        ScanKind::Sum,
        ScanKind::Prod,
        ScanKind::LogSumExp,
        ScanKind::ArgMax,
        ScanKind::ArgMin,
        ScanKind::Max,
        ScanKind::Min,
        ScanKind::Linear,
    ];
    for (kind, dtype) in kinds.into_iter().flat_map(|k| [(k, DType::F64), (k, DType::F32), (k, DType::I64)]) {
        let indices = matches!(kind, ScanKind::ArgMax | ScanKind::ArgMin);
        if dtype.is_int() && matches!(kind, ScanKind::LogSumExp | ScanKind::Linear) {
            continue;
        }
        for (sizes, axis) in [([2, 9, 3], 1), ([3, 2, 30], 2), ([70, 1, 4], 0), ([2, 1, 100], 2)] {
            for reverse in [false, true] {
                let mut x = Array::some(dtype, &sizes, 1);
                // Products stay small.
                let small = if kind == ScanKind::Prod && !dtype.is_int() { 0.4 } else { 1.0 };
                x = Array::new(dtype, &sizes, x.values.iter().map(|v| v * small));
                if (indices || matches!(kind, ScanKind::Max | ScanKind::Min)) && dtype.is_float() {
                    x.values[5] = f64::NAN;
                }
                if kind == ScanKind::Prod && dtype.is_int() {
                    x.values.iter_mut().for_each(|v| *v = v.signum());
                }
                let a =
                    Array::new(dtype, &sizes, Array::some(dtype, &sizes, 2).values.iter().map(|v| v / 5.0));
                let operands: &[&Array] = if kind == ScanKind::Linear { &[&x, &a] } else { &[&x] };
                let got = computed(&Scan { kind, axis: axis as u8, reverse }, operands).unwrap();
                let (length, inner) = (sizes[axis], sizes[axis + 1..].iter().product::<usize>());
                for line in 0..x.values.len() / length {
                    let place = |i: usize| line / inner * length * inner + i * inner + line % inner;
                    let order: Vec<usize> =
                        (0..length).map(|i| if reverse { length - 1 - i } else { i }).collect();
                    let along = |of: &Array| order.iter().map(|&i| of.values[place(i)]).collect::<Vec<_>>();
                    let mut want = walked(kind, &along(&x), &along(&a));
                    if indices {
                        want.iter_mut().for_each(|i| *i = order[*i as usize] as f64);
                    }
                    assert_close(&along(&got), &want, if dtype == DType::F32 { 1e-5 } else { 1e-12 });
                }
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let x = Array::some(DType::F32, &[2, 3], 1);
    let scan = |kind, axis| Scan { kind, axis, reverse: false };
    assert!(matches!(refused(&scan(ScanKind::Sum, 2), &[&x]), ErrorKind::Axis { axis: 2, rank: 2 }));
    assert!(matches!(
        refused(&scan(ScanKind::Sum, 0), &[&Array::some(DType::U8, &[2], 1)]),
        ErrorKind::DType(_)
    ));
    assert!(matches!(refused(&scan(ScanKind::Linear, 0), &[&x]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&scan(ScanKind::Sum, 0), &[&x, &x]), ErrorKind::Value(_)));
}
