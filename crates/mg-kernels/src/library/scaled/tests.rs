//! What scaled products take, and what their launches are.

use super::Scaled;
use crate::cuda::library::Pointer;
use crate::library::matmul::cuda::Precision;
use crate::library::{Described, Kernel, Shaped, Target};
use mg_device::{DType, ErrorKind, Layout, Shape};

fn shaped(dtype: DType, shape: &[usize]) -> Shaped {
    Shaped { shape: Shape::new(shape).unwrap(), dtype }
}

fn described(dtype: DType, shape: &[usize], align: usize) -> Described {
    Described { layout: Layout::contiguous(Shape::new(shape).unwrap()), dtype, align }
}

const WHOLE: Scaled = Scaled { result: DType::BF16, fast: false };

#[test]
fn sizes_and_dtypes_decide_whether_there_is_a_kernel() {
    let taken = |scaled: Scaled, dtypes, sizes| scaled.is_taken(dtypes, sizes, (9, 0));
    let narrow = [DType::F8E4M3, DType::F8E4M3];
    assert!(taken(WHOLE, narrow, [1, 8, 16]) && taken(WHOLE, [DType::F8E5M2, DType::F8E4M3], [17, 24, 4096]));
    for sizes in [[1, 8, 17], [1, 4, 16], [0, 8, 16], [1, 0, 16], [1, 8, 0], [1 << 31, 8, 16]] {
        assert!(!taken(WHOLE, narrow, sizes), "{sizes:?}");
    }
    assert!(taken(Scaled { result: DType::F32, ..WHOLE }, narrow, [1, 4, 16]));
    for result in [DType::F64, DType::F16, DType::F8E4M3] {
        assert!(!taken(Scaled { result, ..WHOLE }, narrow, [1, 8, 16]));
    }
    for dtypes in [[DType::F8E4M3, DType::F8E5M2], [DType::F8E5M2, DType::F8E5M2], [DType::F16, DType::F16]] {
        assert!(!taken(WHOLE, dtypes, [16, 16, 16]), "{dtypes:?}");
    }
    for capability in [(7, 5), (8, 9), (10, 0), (12, 0)] {
        assert!(!WHOLE.is_taken(narrow, [16, 16, 16], capability));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (a, b) = (shaped(DType::F8E4M3, &[2, 16]), shaped(DType::F8E4M3, &[3, 16]));
    let (one, rows, columns) = (shaped(DType::F32, &[]), shaped(DType::F32, &[2]), shaped(DType::F32, &[3]));
    let result = WHOLE.result(&[a, b, one, one]).unwrap();
    assert_eq!((result.shape.dims(), result.dtype), (&[2, 3][..], DType::BF16));
    WHOLE.result(&[a, b, rows, columns, columns]).unwrap();
    let shape =
        |operands: &[Shaped]| matches!(WHOLE.result(operands).unwrap_err().kind(), ErrorKind::Shape(_));
    assert!(shape(&[a, b]) && shape(&[a, b, one, columns]) && shape(&[a, b, columns, rows]));
    assert!(shape(&[a, b, one, one, rows]) && shape(&[a, b, one, one, columns, columns]));
    assert!(shape(&[a, shaped(DType::F8E4M3, &[3, 8]), one, one]));
    let dtype =
        |operands: &[Shaped]| matches!(WHOLE.result(operands).unwrap_err().kind(), ErrorKind::DType(_));
    assert!(dtype(&[shaped(DType::F16, &[2, 16]), b, one, one]));
    assert!(dtype(&[a, b, shaped(DType::F64, &[]), one]));
}

/// Operands that lie where the copy engine does not read are copied before, a result where it does not write after.
#[test]
fn addresses_that_are_not_aligned_are_copied() {
    let target = |align| Target::new(align, 90, Precision::Highest);
    let operands = |align: usize| {
        [
            described(DType::F8E4M3, &[64, 32], align),
            described(DType::F8E4M3, &[48, 32], 16),
            described(DType::F32, &[64], 16),
            described(DType::F32, &[48], 16),
            described(DType::F32, &[48], 16),
        ]
    };
    let result = shaped(DType::BF16, &[64, 48]);
    let plan = |align, out| WHOLE.cuda(&operands(align), &result, target(out)).unwrap();
    assert_eq!(plan(16, 16).launches.len(), 1);
    assert_eq!(plan(1, 16).launches.len(), 6);
    let apart = plan(16, 2);
    assert_eq!((apart.launches.len(), apart.workspace), (2, 64 * 48 * 2));
    let product = &apart.launches[0];
    assert!(product.maps.iter().all(|map| !matches!(map.pointer, Pointer::Output(_))));
    assert_eq!(product.kernel.name, "matmul_scaled_w128x256");
}
