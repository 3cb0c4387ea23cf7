//! All three convolutions against one sum of products.

use super::{Conv, ConvKind, MAX_AXES};
use crate::cpu::pool::{num_threads, set_num_threads};
use crate::library::Kernel;
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

/// Calls `f` with the positions in `y`, `x` and `w` of each product that there is; with none in `x` where it is beyond the edge.
fn products(
    conv: &Conv,
    y: &[usize],
    x: &[usize],
    w: &[usize],
    mut f: impl FnMut(&[usize], Option<&[usize]>, &[usize]),
) {
    let (groups, each) = (conv.groups as usize, y[1] / conv.groups as usize);
    assert_eq!(x[1], w[1] * groups);
    for p in places(y) {
        for q in places(&w[1..]) {
            let axes = usize::from(conv.axes);
            let at = |axis: usize| {
                let a = axis + MAX_AXES - axes;
                let i = p[2 + axis] * conv.stride[a] as usize + q[1 + axis] * conv.dilation[a] as usize;
                i.checked_sub(conv.padding[a] as usize).filter(|&i| i < x[2 + axis])
            };
            let met: Option<Vec<usize>> = (0..axes).map(at).collect();
            let lead = [p[0], p[1] / each * w[1] + q[0]];
            let met = met.map(|met| [&lead[..], &met].concat());
            f(&p, met.as_deref(), &[&p[1..2], &q[..]].concat());
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
            let of_edge = |q: Option<&[usize]>| q.map_or(0.0, |q| of_x.at(q));
            products(&conv, &y, &x, &w, |p, q, r| want[flat(&y, p)] += of_edge(q) * of_w.at(r));
            let scale = |want: &[f64]| within * want.iter().fold(1.0f64, |most, v| most.max(v.abs()));
            assert_close(&got.values, &want, scale(&want));

            let of_y = Array::some(dtype, &y, 3);
            let sizes = |a: &[usize]| [1, a[0] as u32, a[1] as u32];
            let by_input = Conv { kind: ConvKind::Input, sizes: sizes(&input), ..conv };
            let got = computed(&by_input, &[&of_y, &of_w]).unwrap();
            let mut want = vec![0.0; x.iter().product()];
            products(&conv, &y, &x, &w, |p, q, r| {
                q.into_iter().for_each(|q| want[flat(&x, q)] += of_y.at(p) * of_w.at(r));
            });
            assert_close(&got.values, &want, scale(&want));

            let by_weight = Conv { kind: ConvKind::Weight, sizes: sizes(&kernel), ..conv };
            let got = computed(&by_weight, &[&of_x, &of_y]).unwrap();
            let mut want = vec![0.0; w.iter().product()];
            products(&conv, &y, &x, &w, |p, q, r| want[flat(&w, r)] += of_y.at(p) * of_edge(q));
            assert_close(&got.values, &want, scale(&want));
        }
    }
}

/// All three beside naive sums of `f64`.
fn compare(conv: Conv, batch: usize, channels: [usize; 2], sizes: &[usize], kernel: &[usize], dtype: DType) {
    compare_with(conv, batch, channels, sizes, kernel, dtype, &mut |_| {});
}

/// The same of numbers that `odd` has changed.
fn compare_with(
    conv: Conv,
    batch: usize,
    channels: [usize; 2],
    sizes: &[usize],
    kernel: &[usize],
    dtype: DType,
    odd: &mut dyn FnMut(&mut Array),
) {
    let within = if dtype == DType::F64 { 1e-12 } else { 1e-5 };
    let groups = conv.groups as usize;
    let x = [&[batch, channels[0]], sizes].concat();
    let w = [&[channels[1], channels[0] / groups], kernel].concat();
    let (mut of_x, mut of_w) = (Array::some(dtype, &x, 1), Array::some(dtype, &w, 2));
    let y = conv.result(&[of_x.shaped(), of_w.shaped()]).unwrap().shape.to_vec();
    let mut of_y = Array::some(dtype, &y, 3);
    [&mut of_x, &mut of_w, &mut of_y].into_iter().for_each(odd);
    let mut want = [&y, &x, &w].map(|sizes| vec![0.0; sizes.iter().product()]);
    products(&conv, &y, &x, &w, |p, q, r| {
        let at_x = q.map_or(0.0, |q| of_x.at(q));
        want[0][flat(&y, p)] += at_x * of_w.at(r);
        q.into_iter().for_each(|q| want[1][flat(&x, q)] += of_y.at(p) * of_w.at(r));
        want[2][flat(&w, r)] += of_y.at(p) * at_x;
    });
    let wide = |from: &[usize]| {
        let mut all = [1; MAX_AXES];
        all[MAX_AXES - from.len()..].copy_from_slice(&from.iter().map(|&n| n as u32).collect::<Vec<_>>());
        all
    };
    let kinds = [
        (conv, [&of_x, &of_w]),
        (Conv { kind: ConvKind::Input, sizes: wide(sizes), ..conv }, [&of_y, &of_w]),
        (Conv { kind: ConvKind::Weight, sizes: wide(kernel), ..conv }, [&of_x, &of_y]),
    ];
    for ((conv, operands), want) in kinds.iter().zip(&want) {
        let got = computed(conv, operands).unwrap();
        let finite = want.iter().filter(|v| v.is_finite());
        let scale = within * finite.fold(1.0f64, |most, v| most.max(v.abs()));
        assert_close(&got.values, want, scale);
    }
}

#[test]
fn channels_side_by_side() {
    let padded = |n: u32| Conv { padding: [0, n, n], ..PLAIN };
    for dtype in [DType::F32, DType::F64] {
        // Lines, images beside each other, and channels that no tile ends with.
        compare(padded(1), 2, [9, 33], &[9, 19], &[3, 3], dtype);
        compare(padded(1), 17, [40, 17], &[4, 4], &[3, 3], dtype);
        compare(padded(1), 30, [33, 8], &[3, 2], &[3, 3], dtype);
        compare(padded(2), 5, [12, 70], &[3, 5], &[5, 3], dtype);
        // Several visits of the result.
        compare(padded(1), 3, [150, 16], &[5, 5], &[3, 3], dtype);
        compare(PLAIN, 3, [300, 40], &[3, 5], &[1, 1], dtype);
        // Steps of several, with inputs that are not reached.
        let strided = Conv { stride: [1, 2, 2], ..padded(1) };
        compare(strided, 3, [10, 12], &[9, 12], &[3, 3], dtype);
        compare(strided, 20, [10, 12], &[6, 5], &[3, 3], dtype);
        compare(Conv { stride: [1, 3, 4], ..PLAIN }, 3, [16, 9], &[11, 12], &[1, 1], dtype);
        compare(Conv { stride: [1, 2, 2], ..padded(1) }, 3, [16, 9], &[5, 7], &[1, 1], dtype);
        compare(
            Conv { stride: [1, 3, 2], dilation: [1, 2, 3], ..padded(3) },
            2,
            [11, 14],
            &[12, 17],
            &[3, 4],
            dtype,
        );
        compare(Conv { dilation: [1, 4, 3], ..padded(2) }, 16, [11, 14], &[9, 7], &[3, 3], dtype);
        // Few channels, of which the kernel's places make steps.
        compare(padded(3), 2, [3, 20], &[13, 18], &[7, 7], dtype);
        compare(Conv { stride: [1, 2, 2], ..padded(3) }, 3, [3, 20], &[13, 18], &[7, 7], dtype);
        compare(
            Conv { stride: [1, 2, 4], dilation: [1, 1, 6], ..padded(2) },
            3,
            [2, 16],
            &[13, 38],
            &[3, 4],
            dtype,
        );
        compare(padded(1), 40, [1, 32], &[6, 6], &[3, 3], dtype);
        compare(padded(9), 2, [8, 8], &[2, 3], &[3, 3], dtype);
        // Inputs that are nothing but edges.
        compare(padded(2), 2, [9, 10], &[0, 5], &[3, 3], dtype);
        compare(padded(2), 16, [2, 10], &[3, 0], &[3, 3], dtype);
        // Groups, one axis, three.
        compare(Conv { groups: 3, ..padded(1) }, 4, [27, 48], &[6, 7], &[3, 3], dtype);
        let line = Conv { axes: 1, padding: [0, 0, 2], stride: [1, 1, 2], ..PLAIN };
        compare(line, 3, [20, 24], &[57], &[5], dtype);
        let solid = Conv { axes: 3, padding: [1; 3], ..PLAIN };
        compare(solid, 2, [9, 10], &[4, 5, 6], &[3, 3, 3], dtype);
        compare(Conv { stride: [2, 1, 2], ..solid }, 18, [3, 10], &[5, 2, 3], &[2, 3, 3], dtype);
    }
    // Parts of an image, and of many beside each other.
    compare(padded(1), 1, [8, 9], &[41, 43], &[3, 3], DType::F32);
    compare(padded(1), 15, [90, 6], &[16, 15], &[3, 3], DType::F32);
    // Results that go past the caches.
    compare(Conv { padding: [0, 0, 1], ..PLAIN }, 1, [1, 17], &[256, 256], &[1, 3], DType::F32);
    compare(Conv { stride: [1, 2, 3], ..padded(2) }, 1, [9, 8], &[70, 61], &[5, 5], DType::F32);
    compare(Conv { axes: 3, padding: [0, 1, 0], ..PLAIN }, 1, [8, 8], &[12, 12, 12], &[2, 3, 1], DType::F32);
}

#[test]
fn one_place_met_everywhere() {
    for dtype in [DType::F32, DType::F64] {
        // Products as images lie, of all and of groups; with channels that compete for few sets, and few lanes used.
        compare(PLAIN, 3, [20, 33], &[12, 13], &[1, 1], dtype);
        compare(Conv { groups: 2, ..PLAIN }, 2, [20, 34], &[12, 13], &[1, 1], dtype);
        compare(Conv { axes: 1, groups: 3, ..PLAIN }, 4, [24, 33], &[48], &[1], dtype);
        compare(PLAIN, 1, [8, 9], &[32, 32], &[1, 1], dtype);
        compare(PLAIN, 1, [70, 66], &[32, 32], &[1, 1], dtype);
        compare(PLAIN, 5, [70, 66], &[3, 3], &[1, 1], dtype);
    }
}

#[test]
fn long_lines_of_which_little_is_met() {
    let line = |stride: u32| Conv { axes: 1, stride: [1, 1, stride], ..PLAIN };
    for dtype in [DType::F32, DType::F64] {
        // Steps above the kernel, on lines short and long.
        compare(line(16), 2, [9, 33], &[650], &[10], dtype);
        compare(line(160), 1, [9, 20], &[9000], &[10], dtype);
        compare(line(64), 2, [12, 8], &[5000], &[4], dtype);
        compare(Conv { padding: [0, 0, 3], ..line(7) }, 3, [2, 10], &[300], &[3], dtype);
        compare(Conv { groups: 2, padding: [0, 0, 40], ..line(30) }, 3, [20, 14], &[4200], &[5], dtype);
        // The same with steps within the kernel, and those alone.
        compare(Conv { dilation: [1, 1, 50], ..line(50) }, 2, [9, 12], &[700], &[3], dtype);
        compare(Conv { dilation: [1, 1, 7], ..line(3) }, 2, [9, 12], &[300], &[3], dtype);
        compare(Conv { dilation: [1, 1, 690], ..line(1) }, 2, [9, 12], &[700], &[2], dtype);
        // Of one place; as long as the kernel.
        compare(line(160), 1, [9, 20], &[3000], &[1], dtype);
        compare(line(160), 1, [9, 20], &[5000], &[1], dtype);
        compare(line(16), 2, [9, 20], &[400], &[16], dtype);
        // Long lines of which all is met; edges that are longer than the line.
        compare(Conv { padding: [0, 0, 1], ..line(1) }, 1, [9, 6], &[4097], &[3], dtype);
        compare(line(2), 1, [9, 6], &[4096], &[3], dtype);
        compare(Conv { padding: [0, 0, 2500], ..line(9) }, 1, [9, 6], &[40], &[10], dtype);
        // Along other axes.
        let far = Conv { stride: [1, 20, 1], ..PLAIN };
        compare(far, 2, [9, 12], &[170, 5], &[3, 3], dtype);
        compare(far, 2, [9, 12], &[170, 5], &[1, 1], dtype);
        compare(Conv { stride: [1, 6, 6], ..PLAIN }, 2, [9, 12], &[40, 50], &[2, 2], dtype);
        compare(Conv { stride: [1, 6, 6], ..PLAIN }, 2, [9, 12], &[40, 50], &[2, 1], dtype);
    }
}

#[test]
fn short_lines_of_large_images() {
    // More links than are made at once; lots of parts of a plane.
    let solid = Conv { axes: 3, ..PLAIN };
    compare(solid, 1, [8, 6], &[6, 1400, 1], &[5, 5, 1], DType::F32);
    compare(Conv { stride: [1, 2, 1], ..solid }, 2, [9, 7], &[3, 3400, 2], &[2, 5, 2], DType::F64);
    let padded = Conv { padding: [1; 3], ..solid };
    compare(padded, 1, [8, 6], &[2, 1300, 2], &[3, 5, 3], DType::F32);
    compare(padded, 1, [5, 6], &[2, 1300, 2], &[3, 5, 3], DType::F32);
}

#[test]
fn zeros_beyond_the_edge_are_multiplied() {
    let mut state = 7u64;
    let mut pick = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    for case in 0..400 {
        let dtype = [DType::F32, DType::F64][case % 2];
        let groups = [1, 1, 1, 2][pick(4)];
        let mut conv = Conv { groups: groups as u32, axes: 1 + pick(3) as u8, ..PLAIN };
        let axes = usize::from(conv.axes);
        let (mut sizes, mut kernel) = (Vec::new(), Vec::new());
        for axis in MAX_AXES - axes..MAX_AXES {
            conv.stride[axis] = 1 + pick(5) as u32 / 3;
            conv.dilation[axis] = 1 + pick(5) as u32 / 4;
            conv.padding[axis] = pick(4) as u32;
            let places = 1 + pick(3);
            let spread = (places - 1) * conv.dilation[axis] as usize + 1;
            let least = spread.saturating_sub(2 * conv.padding[axis] as usize).max(1);
            sizes.push(least + pick([16, 7, 3][axes - 1]));
            kernel.push(places);
        }
        let channels = [1, 3, 9, 17].map(|n| n * groups);
        let channels = [channels[pick(4)], channels[pick(4)]];
        let batch = [1, 2, 5, 14][pick(4)];
        // One, or all but none, of whichever of the three.
        let mut odd = |a: &mut Array| {
            let values = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
            match pick(4) {
                0 => {}
                1 => a.values.iter_mut().for_each(|v| *v = values[pick(3)]),
                _ => (0..=pick(3)).for_each(|_| {
                    let at = pick(a.values.len());
                    a.values[at] = values[pick(3)];
                }),
            }
        };
        compare_with(conv, batch, channels, &sizes, &kernel, dtype, &mut odd);
    }
}

#[test]
fn zeros_around_results_are_not() {
    // Long lines, windows laid out, one place: no kernel of a gradient multiplies what is no result.
    for (conv, channels, sizes, kernel) in [
        (Conv { axes: 1, padding: [0, 0, 1], ..PLAIN }, [9, 6], &[4097][..], &[3][..]),
        (Conv { padding: [0, 1, 1], stride: [1, 2, 2], ..PLAIN }, [40, 33], &[15, 14], &[3, 3]),
        (Conv { padding: [0, 1, 1], ..PLAIN }, [20, 33], &[12, 13], &[1, 1]),
        (Conv { padding: [0, 1, 1], ..PLAIN }, [64, 64], &[1, 1], &[3, 3]),
    ] {
        for at in [0, 1, 5] {
            let mut odd = |a: &mut Array| {
                let n = a.values.len();
                a.values[at * n / 6] = f64::INFINITY;
            };
            compare_with(conv, 2, channels, sizes, kernel, DType::F32, &mut odd);
        }
    }
}

#[test]
fn threads_change_nothing() {
    let x = Array::some(DType::F32, &[20, 40, 6, 6], 1);
    let w = Array::some(DType::F32, &[48, 40, 3, 3], 2);
    let conv = Conv { padding: [0, 1, 1], ..PLAIN };
    let of_all = || {
        let y = computed(&conv, &[&x, &w]).unwrap();
        let by_x = computed(&Conv { kind: ConvKind::Input, sizes: [1, 6, 6], ..conv }, &[&y, &w]).unwrap();
        let by_w = computed(&Conv { kind: ConvKind::Weight, sizes: [1, 3, 3], ..conv }, &[&x, &y]).unwrap();
        [y, by_x, by_w].map(|a| a.values)
    };
    let before = num_threads();
    let of_threads = [1, 2, 5].map(|n| {
        set_num_threads(n);
        of_all()
    });
    set_num_threads(before);
    assert_eq!(of_threads[0], of_threads[1]);
    assert_eq!(of_threads[0], of_threads[2]);
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
