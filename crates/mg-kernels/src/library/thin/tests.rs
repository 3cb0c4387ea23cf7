//! Numbers of weights against Philox one by one.

use super::Thin;
use crate::library::testing::{Array, computed, refused};
use crate::philox::philox4x32;
use mg_device::{DType, ErrorKind};

/// The number of a weight, as [`Thin`] says it.
pub(in crate::library) fn number(words: [u32; 2], row: usize, column: usize) -> u32 {
    let block = philox4x32([(column / 8) as u32, row as u32, words[0], words[1]], [0; 2]);
    let word = block[column % 4];
    if column % 8 < 4 { word & 0xffff } else { word >> 16 }
}

#[test]
fn a_weight_stays_by_its_number() {
    let drawn = [[7u32, 0xffff_ffff], [0x8000_0001, 12]];
    let words = Array::indices(&[2, 2], drawn.concat().iter().map(|&word| i64::from(word)));
    for (first, rows, columns) in [(0, 3, 1), (5, 2, 9), (0, 1, 515), (70, 40, 2100), (0, 0, 5), (0, 5, 0)] {
        for left_out in [0, 1, 6554, 32768, 40000, 65535, 65536] {
            let got = computed(&Thin { first, rows, columns, left_out }, &[&words]).unwrap();
            assert_eq!((got.dtype, got.shape.dims()), (DType::Bool, &[2, rows, columns][..]));
            let places = crate::library::testing::places(&[2, rows, columns]);
            for (place, got) in places.iter().zip(&got.values) {
                let &[matrix, row, column] = &place[..] else { unreachable!("three axes") };
                let stays = number(drawn[matrix], first + row, column) >= left_out;
                assert_eq!(*got, f64::from(stays), "{place:?} of {rows} × {columns}, {left_out}");
            }
        }
    }
}

/// As many are left out as the probability says, within four standard deviations: of all, of one row, of one column.
#[test]
fn as_many_are_left_out_as_is_asked_for() {
    let words = Array::indices(&[1, 2], [0x1234_5678, 0x9abc_def0]);
    let (rows, columns) = (512, 1024);
    for p in [0.01, 0.1, 0.5, 0.9] {
        let thin = Thin { first: 0, rows, columns, left_out: Thin::share_of(p) };
        let got = computed(&thin, &[&words]).unwrap().values;
        let close = |share: f64, of: usize| {
            let apart = (share - p).abs();
            assert!(apart < 4.5 * (p * (1.0 - p) / of as f64).sqrt() + 1e-5, "{share} of {of}, not {p}");
        };
        let out = |values: &mut dyn Iterator<Item = &f64>| values.filter(|&&v| v == 0.0).count() as f64;
        close(out(&mut got.iter()) / got.len() as f64, got.len());
        for i in [0, 1, 100, 511] {
            close(out(&mut got[i * columns..(i + 1) * columns].iter()) / columns as f64, columns);
            close(out(&mut got.iter().skip(i).step_by(columns)) / rows as f64, rows);
        }
    }
}

#[test]
fn what_it_does_not_take_is_refused() {
    let thin = Thin { first: 0, rows: 2, columns: 2, left_out: 5 };
    assert!(matches!(refused(&thin, &[]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&thin, &[&Array::indices(&[3], [1, 2, 3])]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&thin, &[&Array::some(DType::F64, &[2], 1)]), ErrorKind::DType(_)));
    let many = Thin { rows: 1 << 31, ..thin };
    assert!(matches!(refused(&many, &[&Array::indices(&[2], [1, 2])]), ErrorKind::Shape(_)));
}
