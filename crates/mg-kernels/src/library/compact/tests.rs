//! Positions against a walk over the mask.

use super::Compact;
use crate::library::testing::{Array, computed, refused};
use mg_device::{DType, ErrorKind};

#[test]
fn positions_are_those_of_what_holds() {
    for count in [0, 1, 5, Compact::TILE, 2 * Compact::TILE + 3] {
        for seed in 1..4 {
            let mask = Array::some(DType::Bool, &[count], seed);
            let held = |n: usize| mask.values[..n.min(count)].iter().sum::<f64>();
            let tiles = count.div_ceil(Compact::TILE);
            let ends = Array::new(DType::I64, &[tiles], (1..=tiles).map(|t| held(t * Compact::TILE)));
            let want: Vec<f64> = (0..count).filter(|&i| mask.values[i] != 0.0).map(|i| i as f64).collect();
            let got = computed(&Compact { found: want.len(), first: false }, &[&mask, &ends]).unwrap();
            assert_eq!((got.dtype, &got.values), (DType::I64, &want));
            // Of a line that begins at 1, position 0 comes before all.
            let later: Vec<f64> = std::iter::once(0.0).chain(want.iter().map(|at| at + 1.0)).collect();
            let got = computed(&Compact { found: later.len(), first: true }, &[&mask, &ends]).unwrap();
            assert_eq!(got.values, later);
        }
    }
}

#[test]
fn other_operands_are_refused() {
    let (mask, ends) = (Array::some(DType::Bool, &[9], 1), Array::indices(&[1], [3]));
    let compact = Compact { found: 3, first: false };
    assert!(matches!(refused(&compact, &[&mask]), ErrorKind::Value(_)));
    assert!(matches!(refused(&compact, &[&Array::some(DType::U8, &[9], 1), &ends]), ErrorKind::Value(_)));
    assert!(matches!(refused(&compact, &[&mask, &Array::indices(&[2], [3, 3])]), ErrorKind::Value(_)));
}
