//! A known value is its first operand, whatever it depends on.

use super::{Known, Rule};
use crate::library::Kernel;
use crate::library::testing::{Array, computed, refused};
use mg_device::{DType, ErrorKind};

const RULES: [Rule; 12] = [
    Rule::Solve { transposed: false },
    Rule::Solve { transposed: true },
    Rule::Det,
    Rule::Cofactors,
    Rule::LogDet,
    Rule::Lu,
    Rule::Cholesky,
    Rule::Qr,
    Rule::Eigh,
    Rule::Svd { complete: false },
    Rule::Svd { complete: true },
    Rule::Pinv,
];

#[test]
fn the_first_operand_is_the_value() {
    for (rule, dtype) in RULES.into_iter().flat_map(|rule| [(rule, DType::F32), (rule, DType::F64)]) {
        let (value, other) = (Array::some(dtype, &[2, 5], 1), Array::some(dtype, &[3, 3], 2));
        assert_eq!(computed(&Known { rule }, &[&value, &other]).unwrap(), value);
        assert!(matches!(refused(&Known { rule }, &[]), ErrorKind::Value(_)));
    }
}

#[test]
fn rules_are_told_apart() {
    let words = RULES.map(|rule| Known { rule }.words());
    assert!((0..RULES.len()).all(|i| !words[..i].contains(&words[i])), "{words:?}");
}
