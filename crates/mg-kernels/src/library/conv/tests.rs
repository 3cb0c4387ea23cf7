//! All three convolutions against one sum of products.

use super::{Conv, ConvKind};
use crate::library::testing::{Array, assert_close, computed, places, refused};
use mg_device::{DType, ErrorKind};

/// Two axes.
const PLAIN: Conv = Conv {
    kind: ConvKind::Forward,
    axes: 2,
    stride: [1; 3],
    padding: [0; 3],
    dilation: [1; 3],
    groups: 1,
    sizes: [0; 3],
};

/// Calls `f` with the positions in `y`, `x` and `w` of each product that there is.
fn products(
    conv: &Conv,
    y: &[usize],
    x: &[usize],
    w: &[usize],
    mut f: impl FnMut(&[usize], &[usize], &[usize]),
) {
    let (groups, each) = (conv.groups as usize, y[1] / conv.groups as usize);
    assert_eq!(x[1], w[1] * groups);
    for p in places(y) {
        for q in places(&w[1..]) {
            let at = |axis: usize| {
                let a = axis + 1;
                let i = p[2 + axis] * conv.stride[a] as usize + q[1 + axis] * conv.dilation[a] as usize;
                i.checked_sub(conv.padding[a] as usize).filter(|&i| i < x[2 + axis])
            };
            if let (Some(i), Some(j)) = (at(0), at(1)) {
                f(&p, &[p[0], p[1] / each * w[1] + q[0], i, j], &[p[1], q[0], q[1], q[2]]);
            }
        }
    }
}

fn flat(sizes: &[usize], place: &[usize]) -> usize {
    place.iter().zip(sizes).fold(0, |at, (&i, &n)| at * n + i)
}

#[test]
fn the_three_are_one_sum() {
    let kinds = [
        (PLAIN, [3, 3], [1, 1]),
        (Conv { stride: [1, 2, 1], padding: [0, 1, 2], ..PLAIN }, [3, 2], [3, 5]),
        (Conv { dilation: [1, 2, 3], groups: 2, padding: [0, 2, 0], ..PLAIN }, [2, 3], [6, 9]),
        // Few outputs a group; lines longer than what is computed together.
        (Conv { groups: 4, padding: [0, 1, 1], ..PLAIN }, [3, 3], [20, 60]),
        (Conv { groups: 4, stride: [1, 2, 3], padding: [0, 2, 1], ..PLAIN }, [3, 5], [9, 110]),
        (Conv { groups: 4, stride: [1, 3, 2], dilation: [1, 2, 3], ..PLAIN }, [3, 2], [9, 41]),
        (Conv { groups: 2, padding: [0, 3, 4], ..PLAIN }, [2, 3], [0, 0]),
    ];
    for (dtype, within) in [(DType::F64, 1e-12), (DType::F32, 1e-5), (DType::F16, 5e-3), (DType::BF16, 4e-2)]
    {
        for (conv, kernel, extra) in kinds {
            let input = [kernel[0] + extra[0] + 4, kernel[1] + extra[1] + 4];
            let (groups, outputs) = (conv.groups as usize, if conv.groups == 4 { 8 } else { 6 });
            let (x, w) = ([2, 4, input[0], input[1]], [outputs, 4 / groups, kernel[0], kernel[1]]);
            let (of_x, of_w) = (Array::some(dtype, &x, 1), Array::some(dtype, &w, 2));
            let got = computed(&conv, &[&of_x, &of_w]).unwrap();
            let y: Vec<usize> = got.shape.to_vec();
            let mut want = vec![0.0; y.iter().product()];
            products(&conv, &y, &x, &w, |p, q, r| want[flat(&y, p)] += of_x.at(q) * of_w.at(r));
            let scale = |want: &[f64]| within * want.iter().fold(1.0f64, |most, v| most.max(v.abs()));
            assert_close(&got.values, &want, scale(&want));

            let of_y = Array::some(dtype, &y, 3);
            let sizes = |a: &[usize]| [1, a[0] as u32, a[1] as u32];
            let by_input = Conv { kind: ConvKind::Input, sizes: sizes(&input), ..conv };
            let got = computed(&by_input, &[&of_y, &of_w]).unwrap();
            let mut want = vec![0.0; x.iter().product()];
            products(&conv, &y, &x, &w, |p, q, r| want[flat(&x, q)] += of_y.at(p) * of_w.at(r));
            assert_close(&got.values, &want, scale(&want));

            let by_weight = Conv { kind: ConvKind::Weight, sizes: sizes(&kernel), ..conv };
            let got = computed(&by_weight, &[&of_x, &of_y]).unwrap();
            let mut want = vec![0.0; w.iter().product()];
            products(&conv, &y, &x, &w, |p, q, r| want[flat(&w, r)] += of_y.at(p) * of_x.at(q));
            assert_close(&got.values, &want, scale(&want));
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let x = Array::some(DType::F32, &[1, 4, 5, 5], 1);
    let w = |sizes: &[usize]| Array::some(DType::F32, sizes, 2);
    assert!(matches!(refused(&PLAIN, &[&x]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&PLAIN, &[&x, &w(&[2, 3, 3, 3])]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&PLAIN, &[&x, &w(&[2, 4, 6, 3])]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&Conv { groups: 3, ..PLAIN }, &[&x, &w(&[3, 4, 3, 3])]), ErrorKind::Shape(_)));
    assert!(matches!(
        refused(&PLAIN, &[&x, &Array::some(DType::F64, &[2, 4, 3, 3], 1)]),
        ErrorKind::DType(_)
    ));
}
