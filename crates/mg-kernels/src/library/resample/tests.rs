//! Both axes at once against one after the other.

use super::Resample;
use crate::library::Blend;
use crate::library::testing::{Array, computed, places, refused};
use mg_device::{DType, ErrorKind};

/// Numbers, and the lines of both axes, of which some indices are out of range.
fn operands(kernel: Resample, dtype: DType, shape: &[usize], sizes: [usize; 2]) -> Vec<Array> {
    let mut all = vec![Array::some(dtype, shape, 1)];
    for (axis, &size) in sizes.iter().enumerate() {
        let n = shape[shape.len() - 2 + axis] as i64;
        let taps = i64::from(kernel.taps);
        let index = |t: i64| Array::indices(&[size], (0..size).map(|i| (i as i64 * (3 + t)) % (n + 2) - 1));
        all.extend((0..taps).map(index));
        all.extend((0..taps).map(|t| Array::some(dtype, &[size], 10 + t as u64)));
    }
    all
}

#[test]
fn both_axes_at_once_are_one_after_the_other() {
    for dtype in [DType::F32, DType::F64] {
        for taps in 1..=4 {
            for (last_first, shape, sizes) in
                [(false, &[2, 3, 5, 7][..], [9, 4]), (true, &[2, 3, 5, 7], [3, 150]), (true, &[4, 6], [1, 1])]
            {
                let kernel = Resample { taps, last_first };
                let all = operands(kernel, dtype, shape, sizes);
                let got = computed(&kernel, &all.iter().collect::<Vec<_>>()).unwrap();
                let mut x = Array::new(dtype, shape, all[0].values.clone());
                for axis in kernel.order() {
                    let at = shape.len() - 2 + axis;
                    let wanted = x.shape.with(at, sizes[axis]);
                    let spread = |line: &Array| {
                        let values = places(&wanted).into_iter().map(|place| line.values[place[at]]);
                        Array::new(line.dtype, &wanted, values)
                    };
                    let behind: Vec<Array> = all[kernel.lines(axis)].iter().map(spread).collect();
                    let blend = Blend { axis: at as u8, taps, asks: false, line: true };
                    let of: Vec<&Array> = std::iter::once(&x).chain(&behind).collect();
                    x = computed(&blend, &of).unwrap();
                }
                assert_eq!(got.values, x.values, "{kernel:?}, {dtype}, {shape:?}");
            }
        }
    }
}

#[test]
fn other_lines_are_refused() {
    let kernel = Resample { taps: 1, last_first: false };
    let mut all = operands(kernel, DType::F32, &[4, 6], [3, 3]);
    all[2] = Array::some(DType::F32, &[2], 1);
    assert!(matches!(refused(&kernel, &all.iter().collect::<Vec<_>>()), ErrorKind::Shape(_)));
    assert!(matches!(refused(&kernel, &[&all[0], &all[1]]), ErrorKind::Value(_)));
}
