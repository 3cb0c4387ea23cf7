//! Factorisations, put together again.

#![cfg(feature = "linalg")]

use super::{Demand, Factor, FactorKind, meaning};
use crate::finding::Finding;
use crate::library::testing::{Array, assert_close, computed};
use mg_device::DType;

/// Rows by columns, of the parts of one answer.
fn product(a: &[f64], b: &[f64], [m, k, n]: [usize; 3]) -> Vec<f64> {
    (0..m * n).map(|at| (0..k).map(|i| a[at / n * k + i] * b[i * n + at % n]).sum()).collect()
}

fn transposed(a: &[f64], m: usize, n: usize) -> Vec<f64> {
    (0..m * n).map(|at| a[at % m * n + at / m]).collect()
}

fn unit(n: usize) -> Vec<f64> {
    (0..n * n).map(|at| f64::from(at / n == at % n)).collect()
}

/// The parts of each matrix's answer.
fn factored(factor: Factor, a: &Array) -> Vec<Vec<Vec<f64>>> {
    let [.., m, n] = *a.shape.dims() else { panic!("no matrix") };
    let parts = factor.parts(m, n);
    let line: usize = parts.iter().map(|s| s.numel()).sum();
    let all = computed(&factor, &[a]).unwrap();
    assert_eq!(all.values.len() % line, 0);
    let split = |line: &[f64]| {
        let mut rest = line;
        parts
            .iter()
            .map(|part| {
                let (own, after) = rest.split_at(part.numel());
                rest = after;
                own.to_vec()
            })
            .collect()
    };
    all.values.chunks(line).map(split).collect()
}

const WITHIN: [(DType, f64); 2] = [(DType::F64, 1e-10), (DType::F32, 1e-4)];

#[test]
fn parts_give_the_matrix() {
    for (dtype, within) in WITHIN {
        for [m, n] in [[1, 1], [4, 4], [6, 3], [3, 5], [8, 8], [9, 9], [12, 5]] {
            let (k, a) = (m.min(n), Array::some(dtype, &[2, m, n], 3));
            let of = |kind| factored(Factor { kind, demand: Demand::Nothing }, &a);
            for (parts, a) in
                of(FactorKind::Qr { complete: false, vectors: true }).iter().zip(a.values.chunks(m * n))
            {
                assert_close(&product(&parts[0], &parts[1], [m, k, n]), a, within);
                let own = product(&transposed(&parts[0], m, k), &parts[0], [k, m, k]);
                assert_close(&own, &unit(k), within);
            }
            for (parts, a) in
                of(FactorKind::Svd { complete: false, vectors: true }).iter().zip(a.values.chunks(m * n))
            {
                let scaled: Vec<f64> =
                    parts[1].iter().enumerate().map(|(at, u)| u * parts[0][at % k]).collect();
                assert_close(&product(&scaled, &parts[2], [m, k, n]), a, within);
                assert!(parts[0].is_sorted_by(|a, b| a >= b) && parts[0][k - 1] >= 0.0);
            }
            for (parts, a) in of(FactorKind::Lu).iter().zip(a.values.chunks(m * n)) {
                let part = |i: usize, j: usize| parts[0][i * n + j];
                let lower: Vec<f64> = (0..m * k)
                    .map(|at| (at / k, at % k))
                    .map(|(i, j)| {
                        if i == j {
                            1.0
                        } else if i > j {
                            part(i, j)
                        } else {
                            0.0
                        }
                    })
                    .collect();
                let upper: Vec<f64> = (0..k * n)
                    .map(|at| (at / n, at % n))
                    .map(|(i, j)| if i <= j { part(i, j) } else { 0.0 })
                    .collect();
                let rows = parts[2].iter().flat_map(|&row| &a[row as usize * n..][..n]);
                assert_close(&product(&lower, &upper, [m, k, n]), &rows.copied().collect::<Vec<_>>(), within);
            }
        }
    }
}

#[test]
fn symmetric_matrices_have_roots_and_directions() {
    for (dtype, within) in WITHIN {
        let n = 5;
        let b = Array::some(dtype, &[n, n], 4).values;
        let a = product(&b, &transposed(&b, n, n), [n, n, n]);
        let a: Vec<f64> = a.iter().enumerate().map(|(at, v)| v + f64::from(at / n == at % n)).collect();
        let a = Array::new(dtype, &[1, n, n], a);
        let root = &factored(Factor { kind: FactorKind::Cholesky, demand: Demand::Definite }, &a)[0][0];
        assert_close(&product(root, &transposed(root, n, n), [n, n, n]), &a.values, within);
        assert!((0..n * n).all(|at| at / n >= at % n || root[at] == 0.0));
        let parts =
            &factored(Factor { kind: FactorKind::Eigh { vectors: true }, demand: Demand::Nothing }, &a)[0];
        let scaled: Vec<f64> = parts[1].iter().enumerate().map(|(at, v)| v * parts[0][at % n]).collect();
        assert_close(&product(&scaled, &transposed(&parts[1], n, n), [n, n, n]), &a.values, 10.0 * within);
        assert!(parts[0].is_sorted());
    }
}

/// `L D Lᵀ` has the matrix' elements, its rows and columns in their new order: of blocks of one row, and of two.
#[test]
fn blocks_give_the_symmetric_matrix() {
    for (dtype, within) in WITHIN {
        for n in [1, 2, 3, 5, 9] {
            let some = Array::some(dtype, &[n, n], 3);
            let symmetric = |at: usize| match at / n == at % n {
                true => 0.01 * some.values[at],
                false => some.values[at] + some.values[at % n * n + at / n],
            };
            let a = Array::new(dtype, &[n, n], (0..n * n).map(symmetric));
            let found = factored(Factor { kind: FactorKind::Ldl, demand: Demand::Diagonal }, &a).remove(0);
            let rows = (0..n).flat_map(|i| found[0][i * n..(i + 1) * n].iter().chain(&found[1][i..i + 1]));
            let packed = Array::new(dtype, &[n, n + 1], rows.copied());
            let parts =
                factored(Factor { kind: FactorKind::Blocks, demand: Demand::Nothing }, &packed).remove(0);
            let [l, diagonal, below, order, inverse] = &parts[..] else { panic!("{parts:?}") };
            let between = |i: usize, j: usize| match i.abs_diff(j) {
                0 => diagonal[i],
                1 => below[i.min(j)],
                _ => 0.0,
            };
            let turned: Vec<f64> =
                (0..n * n).map(|at| a.values[order[at / n] as usize * n + order[at % n] as usize]).collect();
            assert!((0..n).all(|i| inverse[order[i] as usize] as usize == i));
            // Of A = L D Lᵀ the product with L⁻ᵀ D⁻¹ is L.
            let mut right: Vec<f64> = (0..n * n).map(|at| between(at / n, at % n)).collect();
            for column in 0..n {
                for i in (0..n).rev() {
                    for k in i + 1..n {
                        right[i * n + column] -= l[k * n + i] * right[k * n + column];
                    }
                }
            }
            assert_close(&product(&turned, &right, [n, n, n]), l, 100.0 * within);
        }
    }
}

#[test]
fn what_is_demanded_is_refused_in_words() {
    let told = |found| match found {
        Finding::Kernel { code, found } => meaning(code, found).to_string(),
        other => panic!("{other:?}"),
    };
    let a = Array::new(DType::F64, &[2, 2, 2], [4.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 1.0]);
    let found =
        computed(&Factor { kind: FactorKind::Cholesky, demand: Demand::Definite }, &[&a]).unwrap_err();
    let text = told(found);
    assert!(text.starts_with("(Batch element 1): ") && text.contains("minor of order 2"), "{text}");
    let singular = Array::new(DType::F64, &[2, 2], [1.0, 2.0, 2.0, 4.0]);
    for (demand, word) in
        [(Demand::Inverse, "inversion"), (Demand::Solution, "solver"), (Demand::Pivots, "U[2,2]")]
    {
        let found = computed(&Factor { kind: FactorKind::Lu, demand }, &[&singular]).unwrap_err();
        let text = told(found);
        assert!(text.contains(word), "{text}");
    }
}
