//! Reductions over every set of axes.

use crate::common::*;
use mg_autograd::Tensor;
use mg_device::{DType, ErrorKind, Result};
use std::collections::BTreeMap;

/// The cells that each result is made of, in row-major order, and the results' shape.
fn groups(a: &Array, axes: &[usize], keepdim: bool) -> (Vec<usize>, Vec<Vec<Cell>>) {
    let reduced = |d: usize| axes.is_empty() || axes.contains(&d);
    let kept: Vec<usize> = (0..a.shape.len()).map(|d| if reduced(d) { 1 } else { a.shape[d] }).collect();
    let mut groups: BTreeMap<Vec<usize>, Vec<Cell>> =
        indices(&kept).into_iter().map(|i| (i, vec![])).collect();
    for (at, index) in indices(&a.shape).into_iter().enumerate() {
        let to: Vec<usize> = index.iter().enumerate().map(|(d, &i)| if reduced(d) { 0 } else { i }).collect();
        groups.get_mut(&to).unwrap().push(a.data[at]);
    }
    let shape = (0..a.shape.len()).filter(|&d| keepdim || !reduced(d)).map(|d| kept[d]).collect();
    (shape, groups.into_values().collect())
}

/// All sets of axes of a rank; the empty one means all.
fn axis_sets(rank: usize) -> Vec<Vec<usize>> {
    (0..1usize << rank).map(|mask| (0..rank).filter(|d| mask >> d & 1 == 1).collect()).collect()
}

fn signed(axes: &[usize], rank: usize, negative: bool) -> Vec<isize> {
    axes.iter().map(|&a| if negative { a as isize - rank as isize } else { a as isize }).collect()
}

type Reduction = (&'static str, fn(&Tensor, &[isize], bool) -> Result<Tensor>);

/// How far a float result may be off, relative to the sum of magnitudes of what it is made of.
fn unit(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => 1e-14,
        DType::F32 => 1e-6,
        DType::F16 => f64::powi(2.0, -10),
        _ => f64::powi(2.0, -7),
    }
}

#[track_caller]
fn check(
    what: &str,
    got: Result<Tensor>,
    dtype: DType,
    (shape, groups): (Vec<usize>, Vec<Vec<Cell>>),
    of: impl Fn(&[Cell]) -> (Cell, f64),
) {
    let got = got.unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(got.dtype(), dtype, "{what}");
    assert_eq!(got.shape().to_vec(), shape, "{what}");
    let got = Array::of(&got);
    assert_eq!(got.data.len(), groups.len(), "{what}");
    for (at, (g, group)) in got.data.iter().zip(&groups).enumerate() {
        let (expected, slack) = of(group);
        let same = match (g, expected) {
            (Cell::F(g), Cell::F(e)) => *g == e || (g.is_nan() && e.is_nan()) || (g - e).abs() <= slack,
            _ => *g == expected,
        };
        assert!(
            same,
            "{what}: element {at} is {g:?}, expected {expected:?} ± {slack} of {} elements",
            group.len()
        );
    }
}

/// Runs over dtypes, layouts, sets of axes and keepdim.
fn each(seed: u64, draw: Draw, mut f: impl FnMut(&str, &Pair, &[usize], &[isize], bool)) {
    let mut rng = Rng(seed);
    for dtype in DType::computed() {
        let mut all = layouts(&mut rng, dtype, draw);
        all.extend(
            odd_shapes(&mut rng, dtype, draw)
                .into_iter()
                .filter(|(name, _)| !matches!(*name, "eight axes" | "sixteen axes")),
        );
        for (name, p) in &all {
            let rank = p.a.shape.len();
            for axes in axis_sets(rank) {
                for keepdim in [false, true] {
                    let what = format!("{dtype}, {name}, axes {axes:?}, keepdim {keepdim}");
                    f(&what, p, &axes, &signed(&axes, rank, keepdim), keepdim);
                }
            }
        }
    }
}

fn integers_become_i64(dtype: DType) -> DType {
    if dtype.is_float() || dtype == DType::U64 { dtype } else { DType::I64 }
}

#[test]
fn sums_and_products() {
    let rows: [Reduction; 2] = [("sum", Tensor::try_sum_dim), ("prod", Tensor::try_prod_dim)];
    each(1, Rng::moderate, |what, p, axes, signed, keepdim| {
        for (name, f) in rows {
            let dtype = integers_become_i64(p.a.dtype);
            let sum = name == "sum";
            check(
                &format!("{name} of {what}"),
                f(&p.t, signed, keepdim),
                dtype,
                groups(&p.a, axes, keepdim),
                |x| {
                    if !dtype.is_float() {
                        let fold = |a: i128, c: &Cell| {
                            if sum { a.wrapping_add(c.i()) } else { a.wrapping_mul(c.i()) }
                        };
                        return (Cell::I(x.iter().fold(!sum as i128, fold)).cast(dtype), 0.0);
                    }
                    let value: f64 =
                        if sum { x.iter().map(|c| c.f()).sum() } else { x.iter().map(|c| c.f()).product() };
                    let size: f64 =
                        if sum { x.iter().map(|c| c.f().abs()).sum() } else { x.len() as f64 * value.abs() };
                    // A sum of half types is accumulated in f32 and rounded once.
                    let tiny = if dtype == DType::F16 { f64::powi(2.0, -24) } else { 0.0 };
                    let single = if dtype == DType::F64 { 1e-15 } else { 1e-7 };
                    (Cell::F(value).cast(dtype), unit(dtype) * value.abs() + single * size + tiny)
                },
            );
        }
    });
}

#[test]
fn extremes() {
    let rows: [Reduction; 2] = [("amax", Tensor::try_amax), ("amin", Tensor::try_amin)];
    each(2, Rng::cell, |what, p, axes, signed, keepdim| {
        for (name, f) in rows {
            let what = format!("{name} of {what}");
            let (shape, groups) = groups(&p.a, axes, keepdim);
            let empty = groups.iter().any(Vec::is_empty) || (p.a.numel() == 0 && axes.is_empty());
            let got = f(&p.t, signed, keepdim);
            if empty {
                let error = got.unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::Empty(_)) && error.op() == name, "{what}: {error}");
                continue;
            }
            if p.a.numel() == 0 {
                // Nothing over nothing: an empty result, or an error where an axis of no elements was reduced.
                if let Ok(t) = got {
                    assert_eq!(t.shape().to_vec(), shape, "{what}");
                }
                continue;
            }
            check(&what, got, p.a.dtype, (shape, groups), |x| {
                let pick = |a: Cell, b: Cell| {
                    let (less, nan) = match p.a.dtype.is_float() {
                        true => (a.f() < b.f(), a.f().is_nan()),
                        false => (a.i() < b.i(), false),
                    };
                    if nan || (b.f().is_nan()) {
                        return if nan { a } else { b };
                    }
                    if less == (name == "amax") { b } else { a }
                };
                (x.iter().copied().reduce(pick).unwrap(), 0.0)
            });
        }
    });
}

#[test]
fn positions_of_extremes() {
    let mut rng = Rng(3);
    // Of truth values there are none.
    for dtype in DType::computed().filter(|d| !d.is_bool()) {
        for draw in [Rng::cell as Draw, Rng::moderate as Draw] {
            let mut all = layouts(&mut rng, dtype, draw);
            all.extend(odd_shapes(&mut rng, dtype, draw));
            for (name, p) in all.iter().filter(|(_, p)| p.a.numel() > 0) {
                let rank = p.a.shape.len();
                for axis in std::iter::once(None).chain((0..rank).map(Some)) {
                    for max in [true, false] {
                        let what = format!(
                            "{} of {dtype}, {name}, axis {axis:?}",
                            if max { "argmax" } else { "argmin" }
                        );
                        let signed = axis.map(|a| a as isize);
                        let got =
                            if max { p.t.try_argmax(signed, false) } else { p.t.try_argmin(signed, false) };
                        let axes: Vec<usize> = axis.into_iter().collect();
                        check(&what, got, DType::I64, groups(&p.a, &axes, false), |x| {
                            let better = |a: Cell, b: Cell| match dtype.is_float() {
                                true if a.f().is_nan() || b.f().is_nan() => !a.f().is_nan() && b.f().is_nan(),
                                true => {
                                    if max {
                                        b.f() > a.f()
                                    } else {
                                        b.f() < a.f()
                                    }
                                }
                                false => {
                                    if max {
                                        b.i() > a.i()
                                    } else {
                                        b.i() < a.i()
                                    }
                                }
                            };
                            let mut best = 0;
                            (1..x.len()).for_each(|i| {
                                if better(x[best], x[i]) {
                                    best = i
                                }
                            });
                            (Cell::I(best as i128), 0.0)
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn means_and_variances() {
    each(4, Rng::moderate, |what, p, axes, signed, keepdim| {
        let dtype = if p.a.dtype.is_float() { p.a.dtype } else { DType::F32 };
        let stats = |x: &[Cell]| {
            let n = x.len() as f64;
            let mean = x.iter().map(|c| c.f()).sum::<f64>() / n;
            (
                n,
                mean,
                x.iter().map(|c| (c.f() - mean).powi(2)).sum::<f64>(),
                x.iter().map(|c| c.f().abs()).sum::<f64>(),
            )
        };
        // Sum, then a division: two roundings.
        check(
            &format!("mean of {what}"),
            p.t.try_mean_dim(signed, keepdim),
            dtype,
            groups(&p.a, axes, keepdim),
            |x| {
                let (n, mean, _, size) = stats(x);
                (Cell::F(mean).cast(dtype), 2.0 * unit(dtype) * (size / n) + f64::powi(2.0, -24))
            },
        );
        for correction in [0, 1] {
            let got = p.t.try_var_dim(signed, keepdim, Some(correction as f64));
            if !p.a.dtype.is_float() {
                assert!(got.is_err_and(|e| e.to_string().contains("takes floats")), "var of {what}");
                continue;
            }
            check(&format!("var of {what}"), got, dtype, groups(&p.a, axes, keepdim), |x| {
                let (n, mean, squares, _) = stats(x);
                let left = n - correction as f64;
                let value = if left > 0.0 { squares / left } else { f64::NAN };
                let spread = x.iter().map(|c| (c.f() - mean).abs()).fold(0.0, f64::max) + mean.abs();
                (
                    Cell::F(value).cast(dtype),
                    8.0 * unit(dtype) * (value + spread * spread) + f64::powi(2.0, -20),
                )
            });
        }
    });
}

#[test]
fn nan_and_infinity_pass_through_sums() {
    for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
        for n in [3, 40, 700, 5000] {
            let sum = |at: &[(usize, f64)]| {
                let mut v = vec![Cell::F(1.0); n];
                at.iter().for_each(|&(i, x)| v[i % n] = Cell::F(x));
                Array::new(&[n], dtype, v).tensor().sum().to_f64_vec().unwrap()[0]
            };
            assert!(sum(&[(n - 1, f64::NAN)]).is_nan());
            assert_eq!(sum(&[(n / 2, f64::INFINITY)]), f64::INFINITY);
            assert_eq!(sum(&[(0, f64::NEG_INFINITY)]), f64::NEG_INFINITY);
            assert!(sum(&[(0, f64::INFINITY), (n - 1, f64::NEG_INFINITY)]).is_nan());
        }
    }
}

/// Sums of half types are accumulated in f32: 4096 ones are 4096, where bf16 itself would stop at 256.
#[test]
fn half_types_accumulate_in_f32() {
    for dtype in [DType::F16, DType::BF16] {
        let ones = Array::new(&[4096], dtype, vec![Cell::F(1.0); 4096]).tensor();
        assert_eq!(ones.sum().to_f64_vec().unwrap(), [4096.0], "{dtype}");
        let grid = ones.reshape(&[64, 64]).unwrap();
        assert_eq!(grid.sum_dim(&[0], false).to_f64_vec().unwrap(), [64.0; 64], "{dtype}");
        assert_eq!(ones.mean().to_f64_vec().unwrap(), [1.0], "{dtype}");
    }
}

/// A reduction gives the same bits whatever it is fused with, and run after run.
#[test]
fn reductions_are_reproducible() {
    let mut rng = Rng(5);
    let x = array(&mut rng, &[70, 301], DType::F32, Rng::moderate).tensor();
    for axes in [&[][..], &[0], &[1]] {
        let alone = Array::of(&x.sum_dim(axes, false));
        for _ in 0..3 {
            assert_eq!(Array::of(&x.sum_dim(axes, false)).data, alone.data);
        }
        let doubled = &x + &x;
        let fused = doubled.sum_dim(axes, false) * 0.5;
        assert_eq!(Array::of(&fused).data, alone.data, "axes {axes:?}: doubling is exact");
    }
}

#[test]
fn more_axes_than_a_program_has_groups() {
    let mut rng = Rng(6);
    let p =
        array(&mut rng, &[2, 3, 2, 3, 2, 3], DType::F64, Rng::moderate).pair().permute(&[5, 0, 3, 1, 4, 2]);
    for axes in axis_sets(6) {
        let got = p.t.try_sum_dim(&signed(&axes, 6, false), false);
        check(&format!("sum over {axes:?}"), got, DType::F64, groups(&p.a, &axes, false), |x| {
            (Cell::F(x.iter().map(|c| c.f()).sum()), 1e-12)
        });
        let got = p.t.try_amax(&signed(&axes, 6, false), true);
        check(&format!("max over {axes:?}"), got, DType::F64, groups(&p.a, &axes, true), |x| {
            (Cell::F(x.iter().map(|c| c.f()).fold(f64::NEG_INFINITY, f64::max)), 0.0)
        });
    }
}

/// The extreme of nothing but a dtype's least number is that number.
#[test]
fn extremes_of_extremes() {
    let (low, high) = (Tensor::from_slice(&[i32::MIN; 3]), Tensor::from_slice(&[i32::MAX; 3]));
    assert_eq!(low.max().item::<i32>().unwrap(), i32::MIN);
    assert_eq!(high.min().item::<i32>().unwrap(), i32::MAX);
    let (low, high) = (Tensor::from_slice(&[i64::MIN; 3]), Tensor::from_slice(&[i64::MAX; 3]));
    assert_eq!(low.max().item::<i64>().unwrap(), i64::MIN);
    assert_eq!(high.min().item::<i64>().unwrap(), i64::MAX);
    assert_eq!(Tensor::from_slice(&[255u8; 3]).min().item::<u8>().unwrap(), 255);
    let low = Tensor::from_slice(&[f32::NEG_INFINITY; 3]);
    assert_eq!(low.max().item::<f32>().unwrap(), f32::NEG_INFINITY);
    assert_eq!(low.argmax(None, false).item::<i64>().unwrap(), 0);
}
