//! How dtypes meet: every pair, with and without axes, beside numbers. The rule is PyTorch's.

use crate::common::*;
use mg_autograd::{Operand, Tensor};
use mg_device::{DType, ErrorKind};

/// What stands on one side.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Side {
    Axes(DType),
    NoAxes(DType),
    Float,
    Int,
    Bool,
}

impl Side {
    fn all() -> Vec<Side> {
        let tensors = DType::computed().flat_map(|d| [Side::Axes(d), Side::NoAxes(d)]);
        tensors.chain([Side::Float, Side::Int, Side::Bool]).collect()
    }

    fn is_tensor(self) -> bool {
        matches!(self, Side::Axes(_) | Side::NoAxes(_))
    }

    fn dtype(self) -> DType {
        match self {
            Side::Axes(d) | Side::NoAxes(d) => d,
            Side::Float => DType::F32,
            Side::Int => DType::I64,
            Side::Bool => DType::Bool,
        }
    }

    /// Tensors with axes come before tensors without, and those before numbers.
    fn rank(self) -> u8 {
        match self {
            Side::Axes(_) => 2,
            Side::NoAxes(_) => 1,
            Side::Float | Side::Int | Side::Bool => 0,
        }
    }

    fn operand(self) -> Operand {
        match self {
            Side::Axes(d) => Array::new(&[2], d, vec![Cell::I(1), Cell::I(1)]).tensor().into(),
            Side::NoAxes(d) => Array::new(&[], d, vec![Cell::I(1)]).tensor().into(),
            Side::Float => Operand::Float(1.0),
            Side::Int => Operand::Int(1),
            Side::Bool => Operand::Bool(true),
        }
    }
}

fn category(d: DType) -> u8 {
    u8::from(!d.is_bool()) + u8::from(d.is_float())
}

/// The wider of two dtypes of tensors that count alike.
fn wider(a: DType, b: DType) -> DType {
    // The first that holds every number of both; halves hold integers as well as they can.
    let holds = |d: DType, of: DType| match (d.int_range(), of.int_range()) {
        (Some(own), Some(other)) => own.0 <= other.0 && own.1 >= other.1,
        (None, Some(_)) => d.is_float() && (a.is_float() || b.is_float() || d == DType::F64),
        (_, None) if of.is_bool() => true,
        (_, None) => d == of || d.is_float() && d.size() > of.size(),
    };
    // Truth values, integers, floats, the narrower first, of integers those without a sign.
    let mut narrow: Vec<DType> = DType::computed().collect();
    narrow.sort_by_key(|d| (category(*d), d.size(), d.is_signed(), *d));
    narrow.into_iter().find(|&d| holds(d, a) && holds(d, b)).unwrap()
}

fn met(a: Side, b: Side) -> DType {
    let (above, below) = if a.rank() >= b.rank() { (a, b) } else { (b, a) };
    match above.rank() == below.rank() {
        true => wider(a.dtype(), b.dtype()),
        false if category(below.dtype()) > category(above.dtype()) => below.dtype(),
        false => above.dtype(),
    }
}

#[test]
fn operands_meet_as_in_pytorch() {
    let mut pairs = 0;
    for a in Side::all() {
        for b in Side::all() {
            if !a.is_tensor() {
                continue;
            }
            pairs += 1;
            let (x, y) = (a.operand(), b.operand());
            let Operand::Tensor(x) = x else { unreachable!() };
            let (expected, what) = (met(a, b), format!("{a:?} and {b:?}"));
            let dtype = |t: mg_device::Result<Tensor>| t.unwrap_or_else(|e| panic!("{what}: {e}")).dtype();
            assert_eq!(dtype(x.try_add(y.clone())), expected, "add, {what}");
            assert_eq!(dtype(x.try_mul(y.clone())), expected, "mul, {what}");
            assert_eq!(dtype(x.try_maximum(y.clone())), expected, "maximum, {what}");
            assert_eq!(dtype(x.try_minimum(y.clone())), expected, "minimum, {what}");
            assert_eq!(dtype(x.try_lt(y.clone())), DType::Bool, "lt, {what}");
            let divided = if expected.is_float() { expected } else { DType::F32 };
            assert_eq!(dtype(x.try_div(y.clone())), divided, "div, {what}");
            let condition = Tensor::from_slice(&[true, false]);
            assert_eq!(dtype(Tensor::where_(&condition, &x, y.clone())), expected, "where, {what}");
            assert_eq!(dtype(Tensor::where_(&condition, y.clone(), &x)), expected, "where, {what}");
            let refused = |t: mg_device::Result<Tensor>| matches!(t.unwrap_err().kind(), ErrorKind::DType(_));
            // Truth values are not subtracted, bounded by numbers, divided or raised to powers.
            if a.dtype().is_bool() || b.dtype().is_bool() {
                assert!(refused(x.try_sub(y.clone())), "sub, {what}");
            } else {
                assert_eq!(dtype(x.try_sub(y.clone())), expected, "sub, {what}");
            }
            match expected {
                DType::Bool => {
                    assert!(refused(x.try_remainder(y.clone())), "remainder, {what}");
                    assert!(b == Side::Bool || refused(x.try_pow(y.clone())), "pow, {what}");
                    assert_eq!(dtype(x.try_bitwise_and(y.clone())), expected, "bitwise_and, {what}");
                }
                d if d.is_float() => {
                    assert_eq!(dtype(x.try_pow(y.clone())), expected, "pow, {what}");
                    assert_eq!(dtype(x.try_clamp(Some(y.clone()), None)), expected, "clamp, {what}");
                    assert_eq!(dtype(x.try_remainder(y.clone())), expected, "remainder, {what}");
                    assert!(refused(x.try_bitwise_and(y.clone())), "bitwise_and, {what}");
                }
                _ => {
                    assert_eq!(dtype(x.try_pow(y.clone())), expected, "pow, {what}");
                    assert_eq!(dtype(x.try_clamp(Some(y.clone()), None)), expected, "clamp, {what}");
                    assert_eq!(dtype(x.try_floor_divide(y.clone())), expected, "floor_divide, {what}");
                    assert_eq!(dtype(x.try_bitwise_or(y.clone())), expected, "bitwise_or, {what}");
                    assert_eq!(dtype(x.try_bitwise_left_shift(y)), expected, "bitwise_left_shift, {what}");
                }
            }
        }
    }
    let count = DType::computed().count();
    assert_eq!(pairs, 2 * count * (2 * count + 3));
}

/// As PyTorch answers, one by one.
#[test]
fn some_answers_of_pytorch() {
    let of = |a: Side, b: Side| {
        let Operand::Tensor(x) = a.operand() else { unreachable!() };
        (&x + b.operand()).dtype()
    };
    use DType::*;
    use Side::{Axes, NoAxes};
    assert_eq!(of(Axes(F16), NoAxes(F64)), F16);
    assert_eq!(of(Axes(F16), NoAxes(BF16)), F16);
    assert_eq!(of(NoAxes(F16), NoAxes(BF16)), F32);
    assert_eq!(of(Axes(I32), NoAxes(I64)), I32);
    assert_eq!(of(Axes(U8), NoAxes(F16)), F16);
    assert_eq!(of(Axes(I64), NoAxes(F64)), F64);
    assert_eq!(of(NoAxes(F64), Axes(F32)), F32);
    assert_eq!(of(Axes(Bool), NoAxes(U8)), U8);
    assert_eq!(of(NoAxes(U8), Side::Int), U8);
    assert_eq!(of(NoAxes(Bool), Side::Int), I64);
    assert_eq!(of(NoAxes(U8), Side::Float), F32);
    assert_eq!(of(Axes(Bool), Side::Bool), Bool);
    let three = [Operand::Tensor(Tensor::scalar(-1.5f32)), Operand::Tensor(Tensor::scalar(1.5f64))];
    let [min, max] = three;
    let clamped = Tensor::from_slice(&[2i64, -3]).try_clamp(Some(min), Some(max)).unwrap();
    assert_eq!(clamped.dtype(), F64);
    assert_eq!(clamped.to_f64_vec().unwrap(), [1.5, -1.5]);
}

#[test]
fn truth_values_stay_truth_values() {
    let (a, b) = (Tensor::from_slice(&[true, true, false]), Tensor::from_slice(&[true, false, false]));
    let truth = |t: Tensor| t.to_vec::<bool>().unwrap();
    assert_eq!(truth(&a + &b), [true, true, false]);
    assert_eq!(truth(&a * &b), [true, false, false]);
    assert_eq!(truth(a.maximum(&b)), [true, true, false]);
    assert_eq!(truth(a.minimum(&b)), [true, false, false]);
    assert_eq!(truth(b.sign()), [true, false, false]);
    assert_eq!(truth(a.pow(true)), [true, true, false]);
    assert_eq!(truth(a.pow(false)), [true, true, true]);
    assert_eq!(a.pow(3i64).to_vec::<i64>().unwrap(), [1, 1, 0]);
    let met_twice =
        b.scatter_add(0, &Tensor::from_slice(&[2i64, 2]), &Tensor::from_slice(&[true, true])).unwrap();
    assert_eq!(truth(met_twice), [true, false, true]);
}

#[test]
fn powers_of_integers_are_integers() {
    let i = |v: &[i64]| Tensor::from_slice(v);
    assert_eq!(i(&[3]).pow(i(&[20])).to_vec::<i64>().unwrap(), [3_486_784_401]);
    assert_eq!(Tensor::scalar(3i64).pow(i(&[20, 0, -1])).to_vec::<i64>().unwrap(), [3_486_784_401, 1, 0]);
    let negative = i(&[2, -1, -1, 1, 0]).pow(i(&[-1, -3, -4, -5, -1]));
    assert_eq!(negative.to_vec::<i64>().unwrap(), [0, -1, 1, 1, 0]);
    assert!(matches!(i(&[2]).try_pow(-1i64).unwrap_err().kind(), ErrorKind::Value(_)));
    assert_eq!(i(&[2]).pow(-1.0).to_vec::<f32>().unwrap(), [0.5]);
    assert_eq!(
        Tensor::from_slice(&[3i32, 2]).pow(Tensor::from_slice(&[3i32, 31])).to_vec::<i32>().unwrap(),
        [27, i32::MIN]
    );
    assert_eq!(Tensor::from_slice(&[200u8]).pow(2i64).to_vec::<u8>().unwrap(), [64]);
    assert!(Tensor::from_slice(&[200u8]).try_pow(300i64).is_err());
}

#[test]
fn integers_have_bounds_of_their_own() {
    let u = Tensor::from_slice(&[0u8, 100, 255]);
    let clamp =
        |min: Option<i64>, max: Option<i64>| u.try_clamp(min.map(Operand::Int), max.map(Operand::Int));
    let values = |t: mg_device::Result<Tensor>| t.unwrap().to_vec::<u8>().unwrap();
    assert_eq!(values(clamp(Some(0), Some(300))), [0, 100, 255]);
    assert_eq!(values(clamp(Some(-1), None)), [0, 100, 255]);
    assert_eq!(values(clamp(Some(-1), Some(120))), [0, 100, 120]);
    assert!(matches!(clamp(None, Some(-1)).unwrap_err().kind(), ErrorKind::Value(_)));
    assert!(matches!(clamp(Some(256), None).unwrap_err().kind(), ErrorKind::Value(_)));
    assert_eq!(values(u.try_maximum(-1i64)), [0, 100, 255]);
    assert_eq!(values(u.try_minimum(300i64)), [0, 100, 255]);
    assert!(u.try_maximum(300i64).is_err());
    let i = Tensor::from_slice(&[5i32, -5]);
    let wide = i.try_clamp(Some(Operand::Int(-(1 << 40))), Some(Operand::Int(1 << 40))).unwrap();
    assert_eq!(wide.to_vec::<i32>().unwrap(), [5, -5]);
    assert_eq!(i.clamp(Some((-0.5).into()), Some(1.5.into())).to_vec::<f32>().unwrap(), [1.5, -0.5]);
    let (none, truth) = (i.try_clamp(None, None), Tensor::from_slice(&[true]));
    assert!(matches!(none.unwrap_err().kind(), ErrorKind::Value(_)));
    assert!(matches!(truth.try_clamp(Some(true.into()), None).unwrap_err().kind(), ErrorKind::DType(_)));
    // `where` would otherwise take 300 for 44.
    let condition = Tensor::from_slice(&[true, false, true]);
    assert!(matches!(Tensor::where_(&condition, &u, 300i64).unwrap_err().kind(), ErrorKind::Value(_)));
}

#[test]
fn division_of_integers_is_pythons() {
    for (a, b) in [(7i64, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3), (i64::MIN, -1), (0, -5)] {
        let (x, y) = (Tensor::from_slice(&[a]), Tensor::from_slice(&[b]));
        let one = |t: Tensor| t.to_vec::<i64>().unwrap()[0];
        let floor = a.wrapping_div(b) - i64::from(a.wrapping_rem(b) != 0 && (a < 0) != (b < 0));
        assert_eq!(one(x.floor_divide(&y)), floor, "{a} // {b}");
        assert_eq!(one(x.remainder(&y)), a.wrapping_sub(floor.wrapping_mul(b)), "{a} % {b}");
        assert_eq!(one(x.fmod(&y)), a.wrapping_rem(b), "fmod {a} {b}");
    }
    // What is known is refused at the call, the rest where it is computed.
    let (x, y) = (Tensor::from_slice(&[3i64, 1]), Tensor::from_slice(&[1i64, 0]));
    let known = [x.try_floor_divide(&y), x.try_remainder(&y), x.try_fmod(&y), x.try_remainder(0i64)];
    for (found, op) in known.into_iter().zip(["floor_divide", "remainder", "fmod", "remainder"]) {
        let error = found.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Value(_)) && error.op() == op, "{op}: {error}");
    }
    let late = x.floor_divide(y.mul(1i64));
    assert!(matches!(late.realize().unwrap_err().kind(), ErrorKind::Value(_)));
    let f = |v: f64| Tensor::from_slice(&[v]);
    let one = |t: Tensor| t.to_f64_vec().unwrap()[0];
    assert_eq!(one(f(-7.5).floor_divide(2.0)), -4.0);
    assert_eq!(one(f(-7.5).remainder(2.0)), 0.5);
    assert_eq!(one(f(-7.5).fmod(2.0)), -1.5);
    assert_eq!(one(f(1.0).floor_divide(0.1)), 9.0, "as Python: 1 is a little less than ten times 0.1");
    assert_eq!(one(f(1.0).floor_divide(0.0)), f64::INFINITY);
    assert!(one(f(-0.5).floor_divide(1e300)).is_sign_negative());
    assert!(one(f(1.0).remainder(0.0)).is_nan());
}

#[test]
fn alpha_scales_what_is_added() {
    let i = Tensor::from_slice(&[2i64, -3]);
    assert_eq!(i.add_scaled(&i, 2i64).unwrap().to_vec::<i64>().unwrap(), [6, -9]);
    assert_eq!(i.sub_scaled(1i64, 3i64).unwrap().to_vec::<i64>().unwrap(), [-1, -6]);
    assert_eq!(i.add_scaled(1.5, 2.5).unwrap().to_vec::<f32>().unwrap(), [5.75, 0.75]);
    assert!(matches!(i.add_scaled(&i, 2.5).unwrap_err().kind(), ErrorKind::DType(_)));
    let big = Tensor::from_slice(&[(1i64 << 53) + 1]);
    assert_eq!(big.add_scaled(&big, 2i64).unwrap().to_vec::<i64>().unwrap(), [3 * ((1 << 53) + 1)]);
}

#[test]
fn a_tensor_without_axes_is_a_number_as_alpha() {
    let i = Tensor::from_slice(&[2i64, -3]);
    let x = Tensor::from_slice(&[0.5f32, 4.0]).requires_grad_(true).unwrap();
    assert_eq!(i.add_scaled(&i, Tensor::scalar(2i32)).unwrap().to_vec::<i64>().unwrap(), [6, -9]);
    // Its dtype is not met: a number's is not either.
    let sum = x.sub_scaled(&x, Tensor::scalar(3.0f64)).unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), [-1.0, -8.0]);
    sum.sum().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), [-2.0, -2.0]);
    let truths = Tensor::from_slice(&[true, false]);
    assert_eq!(
        truths.add_scaled(&truths, Tensor::scalar(true)).unwrap().to_vec::<bool>().unwrap(),
        [true, false]
    );
    let m = Tensor::from_slice(&[1.0f32, 1.0, 1.0, 1.0]).reshape(&[2, 2]).unwrap();
    let added = m.try_addmm(&m, &m, Tensor::scalar(0.5f64), Tensor::scalar(2i64)).unwrap();
    assert_eq!(added.to_vec::<f32>().unwrap(), [4.5; 4]);
    for (of, alpha) in [
        (&i, Tensor::scalar(2.0f32)),
        (&i, Tensor::scalar(true)),
        (&x, Tensor::from_slice(&[2.0f32])),
        (&x, Tensor::scalar(2.0f32).requires_grad_(true).unwrap()),
    ] {
        assert!(matches!(of.add_scaled(of, &alpha).unwrap_err().kind(), ErrorKind::DType(_)), "{alpha:?}");
    }
}
