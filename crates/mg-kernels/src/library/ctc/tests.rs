//! The recursion against sums over all paths, and its gradient against differences.

use super::{Ctc, CtcKind};
use crate::library::testing::{Array, assert_close, computed, refused};
use mg_device::{DType, ErrorKind};

/// Two lines of two labels and one, with blanks between them; the first of the first line's may not be skipped to.
fn operands(dtype: DType, steps: [i64; 2], t: usize) -> [Array; 4] {
    let skips = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    [
        Array::some(dtype, &[t, 2, 5], 3),
        Array::new(DType::Bool, &[2, 5], skips),
        Array::indices(&[2], steps),
        Array::indices(&[2], [2, 1]),
    ]
}

/// What the last step has come to, by the sums of what all paths have.
fn paths([scores, skips, steps, counts]: &[Array; 4], line: usize, label: usize) -> f64 {
    fn below(all: [&Array; 3], line: usize, label: usize, step: usize, count: f64) -> f64 {
        let [scores, skips, _] = all;
        let score = scores.at(&[step, line, label]).exp();
        if step == 0 {
            return if label as f64 <= count.min(1.0) { score } else { 0.0 };
        }
        let back = |by: usize| if label < by { 0.0 } else { below(all, line, label - by, step - 1, count) };
        let skipped = if skips.at(&[line, label]) == 0.0 { 0.0 } else { back(2) };
        score * (back(0) + back(1) + skipped)
    }
    match steps.at(&[line]) as usize {
        0 => f64::NEG_INFINITY,
        n => below([scores, skips, steps], line, label, n - 1, counts.at(&[line])).ln(),
    }
}

fn ends(all: &[Array; 4]) -> Vec<f64> {
    (0..10).map(|at| paths(all, at / 5, at % 5)).collect()
}

#[test]
fn steps_sum_over_paths() {
    for (dtype, within) in [(DType::F64, 1e-12), (DType::F32, 1e-5)] {
        for steps in [[6, 6], [6, 4], [1, 2], [0, 6]] {
            let all = operands(dtype, steps, 6);
            let own: Vec<&Array> = all.iter().collect();
            let states = computed(&Ctc { kind: CtcKind::States }, &own).unwrap();
            let found = computed(&Ctc { kind: CtcKind::End }, &[&[&states], &own[..]].concat()).unwrap();
            assert_close(&found.values, &ends(&all), within);
        }
    }
}

#[test]
fn slopes_are_those_of_differences() {
    const STEP: f64 = 1e-6;
    for steps in [[5, 5], [5, 3], [0, 1]] {
        let all = operands(DType::F64, steps, 5);
        let own: Vec<&Array> = all.iter().collect();
        let states = computed(&Ctc { kind: CtcKind::States }, &own).unwrap();
        let mut g = Array::some(DType::F64, &[2, 5], 9);
        // What nothing comes to does not change.
        for (g, _) in g.values.iter_mut().zip(ends(&all)).filter(|(_, y)| y.is_infinite()) {
            *g = 0.0;
        }
        let found =
            computed(&Ctc { kind: CtcKind::Slopes }, &[&[&states], &own[..], &[&g]].concat()).unwrap();
        let total = |all: &[Array; 4]| -> f64 {
            ends(all).iter().zip(&g.values).filter(|(y, _)| y.is_finite()).map(|(y, g)| y * g).sum()
        };
        let wanted = (0..50).map(|i| {
            let moved = |by: f64| {
                let mut all = all.clone();
                all[0].values[i] += by;
                total(&all)
            };
            (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
        });
        assert_close(&found.values, &wanted.collect::<Vec<f64>>(), 1e-7);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let [scores, skips, steps, counts] = &operands(DType::F32, [3, 3], 3);
    let kernel = Ctc { kind: CtcKind::States };
    for few in
        [&[scores, skips, steps][..], &[skips, skips, steps, counts], &[scores, steps, steps, counts], &[]]
    {
        assert!(matches!(refused(&kernel, few), ErrorKind::Shape(_)));
    }
    assert!(matches!(refused(&kernel, &[scores, scores, steps, counts]), ErrorKind::Shape(_)));
    let floats = Array::some(DType::F32, &[2], 1);
    assert!(matches!(refused(&kernel, &[scores, skips, &floats, counts]), ErrorKind::DType(_)));
}
