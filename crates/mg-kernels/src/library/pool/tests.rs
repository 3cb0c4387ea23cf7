//! Windows against loops over their places.

use super::{Pool, PoolKind, Share};
use crate::library::testing::{Array, assert_close, computed, places, refused};
use mg_device::{DType, ErrorKind};

const POOL: Pool = Pool {
    kind: PoolKind::Max,
    axes: 2,
    adaptive: false,
    kernel: [1, 3, 2],
    stride: [1, 2, 1],
    padding: [0, 1, 0],
    dilation: [1, 1, 2],
    input: [1, 7, 6],
    output: [1, 4, 4],
    share: Share::Places,
};

/// The places of the plane that a window has, in order; `None` where it hangs over.
fn window(o: &[usize]) -> Vec<Option<[usize; 2]>> {
    places(&[3, 2])
        .into_iter()
        .map(|k| {
            let i = (o[0] * 2 + k[0]).checked_sub(1).filter(|&i| i < 7)?;
            Some([i, o[1] + k[1] * 2]).filter(|at| at[1] < 6)
        })
        .collect()
}

#[test]
fn windows_are_their_places() {
    for (dtype, within) in [(DType::F64, 1e-13), (DType::F32, 1e-6), (DType::F16, 1e-3), (DType::BF16, 8e-3)]
    {
        let x = Array::some(dtype, &[3, 7, 6], 1);
        let v = Array::some(dtype, &[3, 7, 6], 2);
        let g = Array::some(dtype, &[3, 4, 4], 3);
        let [mut max, mut at, mut pick, mut mean] = [const { Vec::<f64>::new() }; 4];
        let [mut max_grad, mut mean_grad, mut fold] = [const { [0.0; 3 * 42] }; 3];
        let mut unfold = vec![0.0; 3 * 6 * 16];
        let windows = Array::some(dtype, &[3, 6, 4, 4], 4);
        for p in places(&[3, 4, 4]) {
            let there = window(&p[1..]);
            let inside: Vec<[usize; 2]> = there.iter().flatten().copied().collect();
            let of = |a: &Array, q: &[usize; 2]| a.at(&[p[0], q[0], q[1]]);
            let best =
                inside.iter().copied().reduce(|a, b| if of(&x, &b) > of(&x, &a) { b } else { a }).unwrap();
            let plane = |q: &[usize; 2]| p[0] * 42 + q[0] * 6 + q[1];
            max.push(of(&x, &best));
            at.push((best[0] * 6 + best[1]) as f64);
            pick.push(of(&v, &best));
            mean.push(inside.iter().map(|q| of(&x, q)).sum::<f64>() / 6.0);
            max_grad[plane(&best)] += g.at(&p);
            inside.iter().for_each(|q| mean_grad[plane(q)] += g.at(&p) / 6.0);
            for (k, q) in there.iter().enumerate() {
                let place = ((p[0] * 6 + k) * 4 + p[1]) * 4 + p[2];
                if let Some(q) = q {
                    unfold[place] = of(&x, q);
                    fold[plane(q)] += windows.values[place];
                }
            }
        }
        let run = |kind, operands: &[&Array]| computed(&Pool { kind, ..POOL }, operands).unwrap();
        let y = run(PoolKind::Max, &[&x]);
        assert_eq!(y.values, max);
        assert_eq!(run(PoolKind::MaxAt, &[&x]).values, at);
        assert_eq!(run(PoolKind::MaxPick, &[&x, &v]).values, pick);
        assert_eq!(run(PoolKind::Unfold, &[&x]).values, unfold);
        assert_close(&run(PoolKind::Mean, &[&x]).values, &mean, within);
        assert_close(&run(PoolKind::MaxGrad, &[&x, &y, &g]).values, &max_grad, 4.0 * within);
        assert_close(&run(PoolKind::MeanGrad, &[&g]).values, &mean_grad, 4.0 * within);
        assert_close(&run(PoolKind::Fold, &[&windows]).values, &fold, 4.0 * within);
    }
}

#[test]
fn other_planes_are_refused() {
    assert!(matches!(refused(&POOL, &[&Array::some(DType::F32, &[3, 7, 5], 1)]), ErrorKind::Shape(_)));
    let half = [&Array::some(DType::F32, &[3, 7, 6], 1)];
    assert!(matches!(
        refused(&Pool { kind: PoolKind::MaxPick, ..POOL }, &half),
        ErrorKind::Shape(_) | ErrorKind::Value(_)
    ));
}
