//! What comes back against adding it up one by one.

use super::{Blend, Unblend};
use crate::library::matmul::Precision;
use crate::library::testing::{Array, computed, places, refused};
use crate::library::{Described, Kernel, Library, Shaped, Target};
use mg_device::{DType, ErrorKind, Layout, Shape};

/// Operands of a kernel: numbers, indices of which some are out of range and some the same, weights.
fn operands(kernel: Unblend, dtype: DType, shape: &[usize]) -> Vec<Array> {
    let (along, taps) = (shape[usize::from(kernel.axis)], u64::from(kernel.taps));
    let mut all = vec![Array::some(dtype, shape, 1)];
    for t in 0..taps {
        let at = (0..along).map(|j| (j as i64 * (3 + t as i64) / 2) % (kernel.size as i64 + 2) - 1);
        all.push(Array::indices(&[along], at));
    }
    all.extend((0..taps).map(|t| Array::some(dtype, &[along], 10 + t)));
    all
}

fn expected(kernel: Unblend, all: &[Array], shape: &[usize]) -> Vec<f64> {
    let (axis, taps) = (usize::from(kernel.axis), usize::from(kernel.taps));
    let round = |v: f64| if all[0].dtype == DType::F32 { f64::from(v as f32) } else { v };
    let mut sizes = shape.to_vec();
    sizes[axis] = kernel.size;
    let element = |place: &Vec<usize>| {
        let mut sum = 0.0;
        for j in 0..shape[axis] {
            for t in (0..taps).filter(|&t| all[1 + t].values[j] == place[axis] as f64) {
                let mut from = place.clone();
                from[axis] = j;
                sum = round(sum + round(all[0].at(&from) * all[1 + taps + t].values[j]));
            }
        }
        sum
    };
    places(&sizes).iter().map(element).collect()
}

#[test]
fn sums_are_what_indices_say() {
    for dtype in [DType::F32, DType::F64] {
        for taps in 1..=4 {
            for (axis, shape) in
                [(0, &[5][..]), (1, &[2, 7, 3]), (2, &[2, 3, 9]), (0, &[4, 1, 2]), (1, &[3, 200, 300])]
            {
                for size in [1, 6, 40] {
                    let kernel = Unblend { axis, taps, size };
                    let all = operands(kernel, dtype, shape);
                    let got = computed(&kernel, &all.iter().collect::<Vec<_>>()).unwrap();
                    assert_eq!(got.values, expected(kernel, &all, shape), "{kernel:?}, {dtype}, {shape:?}");
                }
            }
        }
    }
}

#[test]
fn empty_operands_come_back_as_zeros() {
    let kernel = Unblend { axis: 0, taps: 1, size: 3 };
    let all =
        [Array::some(DType::F32, &[0, 2], 1), Array::indices(&[0], []), Array::some(DType::F32, &[0], 2)];
    assert_eq!(computed(&kernel, &all.iter().collect::<Vec<_>>()).unwrap().values, [0.0; 6]);
    let none = Unblend { size: 0, ..kernel };
    let all =
        [Array::some(DType::F32, &[2], 1), Array::indices(&[2], [0, 1]), Array::some(DType::F32, &[2], 2)];
    assert!(computed(&none, &all.iter().collect::<Vec<_>>()).unwrap().values.is_empty());
}

#[test]
fn other_operands_are_refused() {
    let kernel = Unblend { axis: 1, taps: 2, size: 4 };
    let all = operands(kernel, DType::F32, &[2, 3]);
    let with = |i: usize, other: Array| {
        let mut all = all.clone();
        all[i] = other;
        refused(&kernel, &all.iter().collect::<Vec<_>>())
    };
    assert!(matches!(with(0, Array::some(DType::F16, &[2, 3], 1)), ErrorKind::DType(_)));
    assert!(matches!(with(0, Array::some(DType::F32, &[3], 1)), ErrorKind::Axis { axis: 1, rank: 1 }));
    assert!(matches!(with(1, Array::some(DType::F32, &[3], 1)), ErrorKind::DType(_)));
    assert!(matches!(with(2, Array::indices(&[2], [0, 0])), ErrorKind::Shape(_)));
    assert!(matches!(with(4, Array::some(DType::F64, &[3], 1)), ErrorKind::DType(_)));
    let all: Vec<&Array> = all.iter().collect();
    assert!(matches!(refused(&Unblend { taps: 3, ..kernel }, &all), ErrorKind::Value(_)));
    assert!(matches!(refused(&Unblend { taps: 5, ..kernel }, &all), ErrorKind::Value(_)));
}

#[test]
fn launches_have_as_many_threads_as_units() {
    let launched = |shape: &[usize], axis: u8, size: usize, align: usize| {
        let kernel = Unblend { axis, taps: 2, size };
        let dense =
            |dims: &[usize], dtype| Described { layout: Layout::contiguous(Shape::of(dims)), dtype, align };
        let line = [shape[usize::from(axis)]];
        let all = [
            dense(shape, DType::F32),
            dense(&line, DType::I64),
            dense(&line, DType::I64),
            dense(&line, DType::F32),
            dense(&line, DType::F32),
        ];
        let shaped: Vec<Shaped> =
            all.iter().map(|o| Shaped { shape: *o.layout.shape(), dtype: o.dtype }).collect();
        let result = kernel.result(&shaped).unwrap();
        let target = Target::new(16, 90, Precision::Highest);
        let plan = Library::from(kernel).cuda(&all, &result, target).unwrap();
        plan.launches.iter().map(|launch| (launch.kernel.name, launch.grid[0])).collect::<Vec<_>>()
    };
    assert_eq!(launched(&[8, 100, 64], 1, 50, 16), [("unblend_find", 7), ("unblend_f32_x4", 25)]);
    assert_eq!(launched(&[8, 100, 64], 1, 50, 4), [("unblend_find", 7), ("unblend_f32", 13)]);
    assert_eq!(launched(&[8, 100], 1, 50, 16), [("unblend_find", 7), ("unblend_f32", 1)]);
    // More positions than 31 bits have are several launches.
    assert_eq!(launched(&[1 << 16, 2, 8192], 1, 32, 16).len(), 4);
}

#[test]
fn it_is_linear_in_what_comes_back() {
    let kernel = Unblend { axis: 1, taps: 1, size: 4 };
    assert!(
        kernel.is_linear_in(0) && kernel.is_linear_in(2) && !Unblend { taps: 2, ..kernel }.is_linear_in(3)
    );
    assert_eq!(Blend::MOST, 4);
}
