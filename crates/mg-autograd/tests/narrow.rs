//! Floats of eight bits: what they take part in, and what refuses them.

use mg_autograd::surface::{Answer, Arg, Given, Kind, Operation, operations};
use mg_autograd::{Operand, Tensor};
use mg_device::{DType, Element, ErrorKind, F8E4M3, F8E5M2, bf16, f16};
use std::collections::BTreeSet;

const NARROW: [DType; 2] = [DType::F8E4M3, DType::F8E5M2];

/// Every code.
fn all_e4m3() -> Vec<F8E4M3> {
    (0..=u8::MAX).map(F8E4M3::from_bits).collect()
}

fn all_e5m2() -> Vec<F8E5M2> {
    (0..=u8::MAX).map(F8E5M2::from_bits).collect()
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Elements of `x` converted one by one are those of `x.to_dtype`.
fn converts<A: Element, B: Element>(x: &[A]) {
    let got = Tensor::from_slice(x).to_dtype(B::DTYPE).to_vec::<B>().unwrap();
    for (from, got) in x.iter().zip(got) {
        let want = if A::DTYPE.is_int() { B::from_i64(from.to_i64()) } else { B::from_f64(from.to_f64()) };
        assert!(
            same(want.to_f64(), got.to_f64()),
            "{} {from:?} to {}: {got:?}, not {want:?}",
            A::DTYPE,
            B::DTYPE
        );
    }
}

#[test]
fn every_code_converts_to_every_dtype() {
    macro_rules! to {
        ($($T:ty)*) => {$(
            converts::<_, $T>(&all_e4m3());
            converts::<_, $T>(&all_e5m2());
        )*};
    }
    to!(f64 f32 f16 bf16 i64 i32 bool F8E4M3 F8E5M2);
    // Narrow integers of what is beyond them wrap, or not: of what they hold there is no doubt.
    let small: Vec<F8E4M3> = (0..=0x6f).map(F8E4M3::from_bits).collect();
    converts::<_, u8>(&small);
    converts::<_, i8>(&small);
    converts::<_, u16>(&small);
    converts::<_, u64>(&small);
}

#[test]
fn every_number_converts_to_floats_of_eight_bits() {
    fn from<T: Element>(x: &[T]) {
        converts::<T, F8E4M3>(x);
        converts::<T, F8E5M2>(x);
    }
    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let brains: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
    from(&halves);
    from(&brains);
    // Both sides of what is halfway between two numbers, where rounding twice would err.
    let middles: Vec<f64> =
        all_e4m3().windows(2).map(|w| f64::midpoint(w[0].to_f64(), w[1].to_f64())).collect();
    let doubles: Vec<f64> =
        middles.iter().flat_map(|&m| [m, m.next_up(), m.next_down(), m * 1.0000001]).collect();
    from(&doubles);
    from(&doubles.iter().map(|&v| v as f32).collect::<Vec<f32>>());
    from(&(0..70_000).map(|i| f32::from_bits(i * 61_357)).collect::<Vec<f32>>());
    from(&(-70_000..70_000).map(|i| i64::from(i) * 7).collect::<Vec<i64>>());
    from(&[i64::MIN, i64::MAX, (1 << 40) + 1]);
    from(&(i16::MIN..=i16::MAX).collect::<Vec<i16>>());
    from(&(0..=u8::MAX).collect::<Vec<u8>>());
    from(&[false, true]);
    from(&[0u64, u64::MAX, 449]);
}

#[test]
fn elements_are_moved_compared_and_chosen() {
    let (x, codes) = (Tensor::from_slice(&all_e4m3()), all_e4m3());
    let bits = |t: &Tensor| t.to_vec::<F8E4M3>().unwrap().iter().map(|v| v.to_bits()).collect::<Vec<u8>>();
    let all: Vec<u8> = (0..=u8::MAX).collect();
    assert_eq!(bits(&x), all);
    // Whatever the layout is, every code stays what it is, NaN included.
    let turned = x.reshape(&[16, 16]).unwrap().transpose(0, 1).unwrap().contiguous().unwrap();
    assert_eq!(bits(&turned)[..4], [0, 16, 32, 48]);
    assert_eq!(bits(&x.flip(&[0]).unwrap()), all.iter().rev().copied().collect::<Vec<u8>>());
    assert_eq!(bits(&Tensor::cat(&[x.clone(), x.clone()], 0).unwrap()), [&all[..], &all[..]].concat());
    let index = Tensor::from_slice(&[255i64, 127, 0, 128]);
    assert_eq!(bits(&x.index_select(0, &index).unwrap()), [255, 127, 0, 128]);
    let equal = x.eq(&x).to_vec::<bool>().unwrap();
    let nan = x.isnan().to_vec::<bool>().unwrap();
    for (v, (equal, nan)) in codes.iter().zip(equal.into_iter().zip(nan)) {
        assert_eq!((equal, nan), (!v.is_nan(), v.is_nan()));
    }
    assert!(!x.isinf().any(&[], false).item::<bool>().unwrap());
    let y = Tensor::from_slice(&all_e5m2());
    let infinite = y.isinf().to_vec::<bool>().unwrap();
    assert_eq!(infinite.iter().filter(|&&v| v).count(), 2);
    assert!(infinite[0x7c] && infinite[0xfc]);
    assert_eq!(y.isfinite().to_vec::<bool>().unwrap().iter().filter(|&&v| v).count(), 2 * 0x7c);
    let chosen = Tensor::where_(&x.eq(1.0), 2.0, &x).unwrap();
    assert_eq!((chosen.dtype(), bits(&chosen)[0x38]), (DType::F8E4M3, 0x40));
    assert_eq!(Tensor::full(&[3], 3.3, DType::F8E4M3).unwrap().to_vec::<F8E4M3>().unwrap()[2].to_f32(), 3.25);
}

#[test]
fn a_gradient_passes_a_conversion() {
    for dtype in NARROW {
        let x = Tensor::from_slice(&[1.1f32, -3.3, 1e9]).requires_grad_(true).unwrap();
        x.to_dtype(dtype).to_dtype(DType::F32).mul(2.0).sum().backward().unwrap();
        assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), [2.0, 2.0, 2.0]);
    }
}

/// What an operation answers with for `x` and, in the place of each other tensor, for it again; `None` where it wants something else.
fn answer(operation: &Operation, x: &Tensor) -> Option<mg_device::Result<()>> {
    let all = [x.clone(), x.clone()];
    let mut args = if operation.has_receiver { vec![Arg::Tensor(x)] } else { vec![] };
    for param in operation.params {
        args.push(match (param.default, param.kind) {
            (Some(_), _) => Arg::Missing,
            (None, Kind::Tensor) => Arg::Tensor(x),
            (None, Kind::Tensors) => Arg::Tensors(all.to_vec().into()),
            (None, Kind::Operand) => Arg::Operand(Operand::Tensor(x.clone())),
            (None, Kind::Float) => Arg::Float(1.0),
            (None, Kind::Int) => Arg::Int(1),
            (None, _) => return None,
        });
    }
    Some((operation.call)(&Given { args: &args }).and_then(|answer| match answer {
        Answer::Tensor(t) => t.realize().map(|_| ()),
        Answer::Several(all) => all.iter().try_for_each(|t| t.realize().map(|_| ())),
        Answer::List(all) => all.iter().try_for_each(|t| t.realize().map(|_| ())),
        _ => Ok(()),
    }))
}

/// Every operation that takes nothing but tensors and numbers moves elements of eight bits, or says that it does not compute with them.
#[test]
fn what_computes_refuses_them() {
    let x = Tensor::from_slice(&all_e5m2()[..4]).reshape(&[2, 2]).unwrap();
    let (mut taken, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for operation in operations() {
        let Some(found) = answer(operation, &x) else { continue };
        match found {
            Ok(_) => _ = taken.insert(operation.name),
            Err(error) if matches!(error.kind(), ErrorKind::DType(_)) => _ = refused.insert(operation.name),
            // Shapes that do not fit.
            Err(_) => {}
        }
    }
    let moved = "abs adjoint all any argwhere atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cat clone column_stack conj \
                 conj_physical count_nonzero diag diag_embed diagflat diagonal dstack eq equal expand_as flatten fliplr flipud \
                 get_device hstack isfinite isin isinf isnan isneginf isposinf isreal logical_and logical_not logical_or logical_xor \
                 ne positive ravel real reshape_as resize_as resolve_conj resolve_neg rot90 select signbit slice slice_scatter \
                 squeeze stack swapaxes t transpose tril triu unbind unique_consecutive unsqueeze view_as vstack";
    let others: Vec<_> =
        taken.iter().copied().filter(|name| !moved.split(' ').any(|one| one == *name)).collect();
    // Of these nothing is computed where their numbers say so: a power of 1, no dropout, zeros and ones that are drawn; float_power is in f64.
    assert_eq!(
        others,
        ["alpha_dropout", "bernoulli", "feature_alpha_dropout", "float_power", "matrix_power", "range"]
    );
    assert!(refused.len() > 100, "{}", refused.len());
    for name in ["add", "mul", "exp", "sum", "matmul", "softmax", "sort", "cumsum", "lt", "relu", "argmax"] {
        assert!(refused.contains(name), "{name}");
    }
}
