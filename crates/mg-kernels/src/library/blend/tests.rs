//! Weighted sums of elements by index against adding them up one by one.

use super::Blend;
use crate::cuda::library::Pointer;
use crate::library::matmul::Precision;
use crate::library::testing::{Array, computed, computed_of, places, refused};
use crate::library::{Described, Kernel, Library, Shaped, Target};
use mg_device::{DType, ErrorKind, Layout, Shape};

/// Operands of a kernel: numbers along `axis`, indices of which some are out of range, weights, and what counts.
fn operands(kernel: Blend, dtype: DType, shape: &[usize], n: usize) -> Vec<Array> {
    let (axis, taps) = (usize::from(kernel.axis), u64::from(kernel.taps));
    let mut of = shape.to_vec();
    of[axis] = n;
    let count: usize = shape.iter().product();
    let mut all = vec![Array::some(dtype, &of, 1)];
    for t in 0..taps {
        let at = (0..count).map(|i| (i as i64 * (3 + t as i64)) % (n as i64 + 2) - 1);
        all.push(Array::indices(shape, at));
    }
    all.extend((0..taps).map(|t| Array::some(dtype, shape, 10 + t)));
    if kernel.asks {
        all.extend((0..taps).map(|t| Array::some(DType::Bool, shape, 20 + t)));
    }
    all
}

/// One product and one sum after the other, each rounded.
fn expected(kernel: Blend, all: &[Array], shape: &[usize]) -> Vec<f64> {
    let (axis, taps) = (usize::from(kernel.axis), usize::from(kernel.taps));
    let round = |v: f64| if all[0].dtype == DType::F32 { f64::from(v as f32) } else { v };
    let element = |place: &Vec<usize>| {
        (0..taps).fold(None, |sum: Option<f64>, t| {
            let index = all[1 + t].at(place);
            let inside = index >= 0.0 && index < all[0].shape[axis] as f64;
            let counts = inside && (!kernel.asks || all[1 + 2 * taps + t].at(place) != 0.0);
            let mut from = place.clone();
            from[axis] = index.max(0.0) as usize;
            let part = round(if counts { all[0].at(&from) } else { 0.0 } * all[1 + taps + t].at(place));
            Some(sum.map_or(part, |s| round(s + part)))
        })
    };
    places(shape).iter().map(|place| element(place).unwrap()).collect()
}

#[test]
fn sums_are_what_taps_say() {
    for dtype in [DType::F32, DType::F64] {
        for (taps, asks) in [(1, false), (1, true), (2, false), (3, true), (4, true), (4, false)] {
            for (axis, shape) in [(0, &[5][..]), (1, &[2, 7, 3]), (2, &[2, 3, 9]), (0, &[4, 1, 2])] {
                let kernel = Blend { axis, taps, asks, line: false };
                let all = operands(kernel, dtype, shape, 6);
                let got = computed(&kernel, &all.iter().collect::<Vec<_>>()).unwrap();
                assert_eq!(got.values, expected(kernel, &all, shape), "{kernel:?}, {dtype}, {shape:?}");
            }
        }
    }
}

#[test]
fn what_lines_share_is_the_same_for_each() {
    // Lines of channels, longer than a tile; taps backwards, and those of all channels; images that lie channel by channel.
    let (shape, n) = ([2, 3, 301], 40);
    let whole = Shape::of(&shape);
    for dtype in [DType::F32, DType::F64] {
        for (taps, asks) in [(1, false), (2, true), (4, true)] {
            let kernel = Blend { axis: 2, taps, asks, line: false };
            let few = operands(kernel, dtype, &[2, 1, 301], n);
            let images = Array::some(dtype, &[2, n, 3], 1);
            let taps = Layout::new(whole, &[301, 0, -1], 300).unwrap();
            let of_images = Layout::new(Shape::of(&[2, 3, n]), &[3 * n as isize, 1, 3], 0).unwrap();
            let mut lying = vec![(&images, of_images)];
            lying.extend(few[1..].iter().map(|few| (few, taps)));
            let dense = |(a, layout): &(&Array, Layout)| {
                let at = |place: Vec<usize>| {
                    let by = place.iter().zip(layout.strides()).map(|(&i, by)| i as isize * by);
                    a.values[(layout.offset() as isize + by.sum::<isize>()) as usize]
                };
                Array {
                    shape: *layout.shape(),
                    dtype: a.dtype,
                    values: places(layout.shape()).into_iter().map(at).collect(),
                }
            };
            let all: Vec<Array> = lying.iter().map(dense).collect();
            let got = computed_of(&kernel, &lying).unwrap();
            assert_eq!(got.values, expected(kernel, &all, &shape), "{kernel:?}, {dtype}");
        }
    }
}

#[test]
fn much_is_divided_among_threads() {
    let kernel = Blend { axis: 1, taps: 2, asks: false, line: false };
    let shape = [3, 200, 300];
    let all = operands(kernel, DType::F32, &shape, 50);
    let got = computed(&kernel, &all.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(got.values, expected(kernel, &all, &shape));
}

#[test]
fn other_operands_are_refused() {
    let kernel = Blend { axis: 1, taps: 2, asks: false, line: false };
    let all = operands(kernel, DType::F32, &[2, 3], 4);
    let with = |i: usize, other: Array| {
        let mut all = all.clone();
        all[i] = other;
        refused(&kernel, &all.iter().collect::<Vec<_>>())
    };
    assert!(matches!(with(0, Array::some(DType::F16, &[2, 4], 1)), ErrorKind::DType(_)));
    assert!(matches!(with(0, Array::some(DType::F32, &[3, 4], 1)), ErrorKind::Shape(_)));
    assert!(matches!(with(1, Array::some(DType::F32, &[2, 3], 1)), ErrorKind::DType(_)));
    assert!(matches!(with(2, Array::indices(&[2, 1], [0, 0])), ErrorKind::Shape(_)));
    assert!(matches!(with(4, Array::some(DType::F64, &[2, 3], 1)), ErrorKind::DType(_)));
    let more = Blend { taps: 5, ..kernel };
    assert!(matches!(refused(&more, &all.iter().collect::<Vec<_>>()), ErrorKind::Value(_)));
    assert!(matches!(refused(&kernel, &[&all[0], &all[1]]), ErrorKind::Value(_)));
}

/// The names of launches, and how many blocks the last one has.
fn launched(shape: &[usize], n: usize, [index, weight]: [&[isize]; 2]) -> (Vec<&'static str>, u32) {
    let kernel = Blend { axis: (shape.len() - 1) as u8, taps: 1, asks: false, line: false };
    let whole = Shape::new(shape).unwrap();
    let lying = |strides: &[isize], dtype| Described {
        layout: Layout::new(whole, strides, 1 << 40).unwrap(),
        dtype,
        align: 16,
    };
    let x = Layout::contiguous(whole.with(shape.len() - 1, n));
    let x = Described { layout: x, dtype: DType::F32, align: 16 };
    let all = [x, lying(index, DType::I64), lying(weight, DType::F32)];
    let precision = Precision::Highest;
    let target = Target::new(16, 90, precision);
    let result = Shaped { shape: whole, dtype: DType::F32 };
    let plan = Library::from(kernel).cuda(&all, &result, target).unwrap();
    let reads =
        plan.launches.last().unwrap().pointers().filter(|(_, p, _)| matches!(p, Pointer::Input(_))).count();
    assert_eq!(reads, if plan.launches.len() == 1 { 3 } else { 0 });
    (plan.launches.iter().map(|l| l.kernel.name).collect(), plan.launches.last().unwrap().grid[0])
}

#[test]
fn who_shares_indices_is_a_threads() {
    // Of 128 images 4 at a time, in blocks of 256 pixels.
    assert_eq!(launched(&[8, 16, 1000], 50, [&[1000, 0, 1]; 2]), (vec!["blend_f32"], 8 * 4 * 4));
    assert_eq!(launched(&[128, 1000], 50, [&[0, 1]; 2]), (vec!["blend_f32"], 4 * 32));
    // An index of its own for each.
    assert_eq!(launched(&[128, 1000], 50, [&[1000, 1]; 2]), (vec!["blend_f32"], 500));
    // Indices and weights that lie otherwise are copied, and `x` with them.
    let (names, _) = launched(&[128, 1000], 50, [&[1000, 1], &[0, 1]]);
    assert_eq!((names.len(), names[3]), (4, "blend_f32"));
}

#[test]
fn what_it_is_linear_in() {
    let of = |taps| (0..4).map(move |i| Blend { axis: 1, taps, asks: true, line: false }.is_linear_in(i));
    assert!(of(1).eq([true, false, true, false]));
    // Not in one weight of several, whose share is one of a sum.
    assert!(of(2).eq([true, false, false, false]));
}
