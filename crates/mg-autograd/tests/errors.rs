//! Errors: typed, with the operation, what it got, and the caller's line; panics of operators say the same.

mod common;

use common::f32s;
use mg_autograd::{Backward, Tensor, grad, no_grad};
use mg_device::{DType, Device, Error, ErrorKind, Result};
use proptest::prelude::*;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn matrix() -> Tensor {
    f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
}

fn vector(n: usize) -> Tensor {
    Tensor::from_slice(&vec![1.0f32; n])
}

fn i64s(shape: &[usize], data: &[i64]) -> Tensor {
    Tensor::from_vec(data.to_vec(), shape).unwrap()
}

thread_local! {
    /// What is wrong, so that a test tells all of it.
    static FAULTS: RefCell<Vec<String>> = const { RefCell::new(vec![]) };
}

fn expect(holds: bool, what: String) {
    if !holds {
        FAULTS.with_borrow_mut(|f| f.push(what));
    }
}

/// Ends a test.
#[track_caller]
fn no_faults() {
    let faults = FAULTS.take();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// Expects an error of this kind and operation, from the lines of the call, whose text has all these parts.
macro_rules! fails {
    ($kind:pat, $op:literal, [$($part:literal),*], $call:expr) => {{
        let what = concat!(stringify!($call));
        match $call {
            Ok(_) => expect(false, format!("{what}: no error")),
            Err(error) => {
                let error: Error = error;
                expect(matches!(error.kind(), $kind), format!("{what}: kind of {error:?}"));
                expect(error.op() == $op, format!("{what}: not {} but {error}", $op));
                let text = error.to_string();
                $(expect(text.contains($part), format!("{what}: {:?} is not in {text:?}", $part));)*
                // The macro's line is its first; the call may stand a few lines below.
                let (file, at) = (error.location().file(), error.location().line());
                let here = file == file!() && (line!()..line!() + 9).contains(&at);
                expect(here, format!("{what}: the caller is at line {}: {error}", line!()));
            }
        }
    }};
}

#[test]
fn elementwise_operations() {
    let (a, b) = (matrix(), vector(2));
    fails!(ErrorKind::Shape(_), "add", ["[2, 3]", "[2]"], a.try_add(&b));
    fails!(ErrorKind::Shape(_), "sub", ["[2, 3]", "[2]"], a.try_sub(&b));
    fails!(ErrorKind::Shape(_), "mul", ["[2]", "[2, 3]"], b.try_mul(&a));
    fails!(ErrorKind::Shape(_), "div", ["[2, 3]", "[2]"], a.try_div(&b));
    fails!(ErrorKind::Shape(_), "pow", ["[2, 3]", "[2]"], a.try_pow(&b));
    fails!(ErrorKind::Shape(_), "maximum", ["[2, 3]", "[2]"], a.try_maximum(&b));
    fails!(ErrorKind::Shape(_), "lt", ["[2, 3]", "[2]"], a.try_lt(&b));
    fails!(ErrorKind::Shape(_), "logical_and", ["[2, 3]", "[2]"], a.try_logical_and(&b));
    fails!(ErrorKind::Shape(_), "where", ["[2, 3]", "[2]"], Tensor::where_(&a.lt(2.0), &a, &b));
    fails!(ErrorKind::DType(_), "where", ["f32"], Tensor::where_(&a, &a, &a));
    fails!(ErrorKind::Value(_), "pow", ["-1"], i64s(&[1], &[2]).try_pow(-1i64));
    no_faults();
}

#[test]
fn views() {
    let a = matrix();
    fails!(ErrorKind::Shape(_), "reshape", ["[4]", "[2, 3]"], a.reshape(&[4]));
    fails!(ErrorKind::Shape(_), "reshape", ["[-1, -1]"], a.reshape(&[-1, -1]));
    fails!(ErrorKind::Shape(_), "reshape", ["[-1, 4]"], a.reshape(&[-1, 4]));
    fails!(ErrorKind::Shape(_), "reshape", ["-2"], a.reshape(&[-2, 3]));
    fails!(ErrorKind::Shape(_), "reshape", ["[2, 3]"], a.reshape(&[isize::MAX, isize::MAX, -1]));
    fails!(ErrorKind::Axis { axis: 2, rank: 2 }, "transpose", ["axis 2", "rank 2"], a.transpose(0, 2));
    fails!(ErrorKind::Axis { axis: -3, rank: 2 }, "permute", ["axis -3"], a.permute(&[-3, 0]));
    fails!(ErrorKind::Shape(_), "permute", ["[0, 0]", "[2, 3]"], a.permute(&[0, 0]));
    fails!(ErrorKind::Shape(_), "permute", ["[0]", "[2, 3]"], a.permute(&[0]));
    fails!(ErrorKind::Axis { .. }, "slice", ["axis 5"], a.slice(5, None, None, 1));
    fails!(ErrorKind::Value(_), "slice", ["step"], a.slice(0, None, None, 0));
    fails!(ErrorKind::Value(_), "narrow", ["[2, 3]"], a.narrow(1, 2, 2));
    fails!(ErrorKind::Index { index: 3, axis: 1, size: 3 }, "select", ["index 3", "size 3"], a.select(1, 3));
    fails!(ErrorKind::Index { index: -4, axis: 1, size: 3 }, "select", ["index -4"], a.select(1, -4));
    fails!(ErrorKind::Shape(_), "expand", ["[2, 3]", "[2, 4]"], a.expand(&[2, 4]));
    fails!(ErrorKind::Shape(_), "expand", ["[2, 3]", "[3]"], a.expand(&[3]));
    fails!(ErrorKind::Shape(_), "expand", ["-1"], a.expand(&[-1, 2, 3]));
    fails!(ErrorKind::Axis { .. }, "flip", ["axis 2"], a.flip(&[2]));
    fails!(ErrorKind::Axis { .. }, "unsqueeze", ["axis 3"], a.unsqueeze(3));
    fails!(ErrorKind::Axis { .. }, "squeeze", ["axis 2"], a.squeeze(Some(&[2])));
    fails!(ErrorKind::Axis { .. }, "flatten", ["axis 2"], a.flatten(2, -1));
    fails!(ErrorKind::Axis { .. }, "size", ["axis 2"], a.size(2));
    fails!(ErrorKind::Shape(_), "expand", ["16"], a.expand(&[[1; 15].as_slice(), &[2, 3]].concat()));
    fails!(ErrorKind::Shape(_), "expand", ["many"], a.expand(&[isize::MAX, isize::MAX, 2, 3]));
    let deep = f32s(&[1; 16], &[0.0]);
    fails!(ErrorKind::Shape(_), "unsqueeze", ["16"], deep.unsqueeze(0));
    no_faults();
}

#[test]
fn reductions() {
    let a = matrix();
    let none = f32s(&[0, 3], &[]);
    fails!(ErrorKind::Axis { axis: 2, rank: 2 }, "sum", ["axis 2"], a.try_sum_dim(&[2], false));
    fails!(ErrorKind::Axis { .. }, "mean", ["axis -3"], a.try_mean_dim(&[-3], false));
    fails!(ErrorKind::Axis { .. }, "var", ["axis 9"], a.try_var_dim(&[9], false, Some(1.0)));
    fails!(ErrorKind::Axis { .. }, "std", ["axis 2"], a.try_std_dim(&[2], false, Some(1.0)));
    fails!(ErrorKind::Value(_), "sum", ["twice"], a.try_sum_dim(&[0, -2], false));
    let whole = a.to_dtype(DType::I64);
    fails!(ErrorKind::DType(_), "var", ["i64"], whole.try_var_dim(&[], false, None));
    fails!(ErrorKind::DType(_), "std", ["i64"], whole.try_std_dim(&[], false, None));
    fails!(ErrorKind::Empty(_), "amax", ["[0, 3]"], none.try_amax(&[0], false));
    fails!(ErrorKind::Empty(_), "amin", ["[0, 3]"], none.try_amin(&[], true));
    fails!(ErrorKind::Empty(_), "argmax", ["[0, 3]"], none.try_argmax(None, false));
    fails!(ErrorKind::Empty(_), "argmin", ["[0, 3]"], none.try_argmin(Some(0), false));
    fails!(ErrorKind::Axis { .. }, "argmax", ["axis 2"], a.try_argmax(Some(2), false));
    fails!(ErrorKind::Axis { .. }, "softmax", ["axis 2"], a.try_softmax(Some(2), None));
    fails!(ErrorKind::Axis { .. }, "log_softmax", ["axis -3"], a.try_log_softmax(Some(-3), None));
    fails!(ErrorKind::Axis { .. }, "logsumexp", ["axis 7"], a.try_logsumexp(&[7], false));
    fails!(ErrorKind::Axis { .. }, "softmax", ["axis 5"], none.try_softmax(Some(5), None));
    no_faults();
}

#[test]
fn kernels_and_losses() {
    let a = matrix();
    fails!(ErrorKind::Shape(_), "matmul", ["[2, 3]"], a.try_matmul(&a));
    fails!(ErrorKind::Shape(_), "matmul", ["[2, 3]", "[2]"], a.try_matmul(&vector(2)));
    fails!(ErrorKind::Shape(_), "matmul", ["[]"], a.try_matmul(&Tensor::scalar(1f32)));
    fails!(
        ErrorKind::Shape(_),
        "matmul",
        ["[2, 1, 3]", "[3, 3, 1]"],
        f32s(&[2, 1, 3], &[0.0; 6]).try_matmul(&f32s(&[3, 3, 1], &[0.0; 9]))
    );
    fails!(
        ErrorKind::DType(_),
        "matmul",
        ["bool"],
        Tensor::from_slice(&[true]).try_matmul(&Tensor::from_slice(&[true]))
    );
    fails!(ErrorKind::DType(_), "index_select", ["f32"], a.index_select(0, &vector(2)));
    fails!(ErrorKind::Shape(_), "index_select", ["[1, 1]"], a.index_select(0, &i64s(&[1, 1], &[0])));
    fails!(ErrorKind::Axis { .. }, "index_select", ["axis 2"], a.index_select(2, &i64s(&[1], &[0])));
    fails!(ErrorKind::DType(_), "gather", ["f32"], a.gather(0, &a));
    fails!(ErrorKind::Shape(_), "gather", ["[3, 3]", "[2, 3]"], a.gather(1, &i64s(&[3, 3], &[0; 9])));
    fails!(
        ErrorKind::Shape(_),
        "scatter_add",
        ["[3, 3]", "[2, 3]"],
        a.scatter_add(0, &i64s(&[3, 3], &[0; 9]), &a)
    );
    fails!(ErrorKind::Value(_), "cat", ["at least one"], Tensor::cat(&[] as &[Tensor], 0));
    fails!(ErrorKind::Shape(_), "cat", ["[2, 3]", "[2]"], Tensor::cat(&[&a, &vector(2)], 0));
    fails!(ErrorKind::Axis { .. }, "cat", ["axis 2"], Tensor::cat(&[&a, &a], 2));
    fails!(ErrorKind::Shape(_), "stack", ["[2]", "[3]"], Tensor::stack(&[&vector(2), &vector(3)], 0));
    fails!(
        ErrorKind::Shape(_),
        "cross_entropy",
        ["[2, 3]", "[3]"],
        a.try_cross_entropy(&i64s(&[3], &[0; 3]), None, -100, "mean", 0.0)
    );
    fails!(
        ErrorKind::DType(_),
        "cross_entropy",
        ["f32"],
        a.try_cross_entropy(&vector(2), None, -100, "mean", 0.0)
    );
    fails!(ErrorKind::Shape(_), "mse_loss", ["[2, 3]", "[2]"], a.try_mse_loss(&vector(2), "mean", None));
    fails!(ErrorKind::Shape(_), "layer_norm", ["[4]", "[2, 3]"], a.try_layer_norm(&[4], None, None, 1e-5));
    fails!(
        ErrorKind::Shape(_),
        "layer_norm",
        ["weight", "[2]"],
        a.try_layer_norm(&[3], Some(&vector(2)), None, 1e-5)
    );
    fails!(ErrorKind::Value(_), "dropout", ["1.5"], a.try_dropout(1.5, true));
    fails!(ErrorKind::DType(_), "dropout", ["i64"], a.to_dtype(DType::I64).try_dropout(0.5, true));
    fails!(ErrorKind::Value(_), "dropout", ["-0.1"], a.try_dropout(-0.1, true));
    fails!(ErrorKind::Value(_), "dropout", ["NaN"], a.try_dropout(f64::NAN, true));
    no_faults();
}

#[test]
fn creation_and_reading() {
    fails!(
        ErrorKind::Shape(_),
        "from_vec",
        ["3 elements", "[2, 2]"],
        Tensor::from_vec(vec![1f32, 2.0, 3.0], &[2, 2])
    );
    fails!(ErrorKind::Shape(_), "zeros", ["16"], Tensor::zeros(&[1; 17], DType::F32));
    fails!(ErrorKind::Shape(_), "ones", ["many"], Tensor::ones(&[usize::MAX, 2], DType::F32));
    fails!(ErrorKind::Shape(_), "eye", ["many"], Tensor::eye(usize::MAX, DType::F32));
    fails!(ErrorKind::DType(_), "rand", ["i64"], Tensor::rand(&[2], DType::I64));
    fails!(ErrorKind::DType(_), "randn", ["bool"], Tensor::randn(&[2], DType::Bool));
    fails!(ErrorKind::Value(_), "item", ["[2, 3]"], matrix().item::<f32>());
    fails!(ErrorKind::DType(_), "to_vec", ["f32", "f64"], matrix().to_vec::<f64>());
    no_faults();
}

#[test]
fn gradients() {
    let x = matrix().requires_grad_(true).unwrap();
    let constant = vector(1).sum();
    fails!(ErrorKind::Gradient(_), "backward", ["requires a gradient"], constant.backward());
    fails!(ErrorKind::Gradient(_), "backward", ["[2, 3]", "seed"], (&x * 2.0).backward());
    let y = (&x * &x).sum();
    fails!(
        ErrorKind::Shape(_),
        "backward",
        ["[2]", "[]"],
        y.backward_with(Some(&vector(2)), Backward::default())
    );
    fails!(ErrorKind::Gradient(_), "grad", ["[2, 3]"], grad(&[&(&x * 2.0)], &[&x], &[], Backward::default()));
    y.backward().unwrap();
    fails!(ErrorKind::Gradient(_), "backward", ["retain_graph=True"], y.backward());
    fails!(
        ErrorKind::Gradient(_),
        "grad",
        ["retain_graph=True"],
        grad(&[&y], &[&x], &[], Backward::default())
    );
    fails!(ErrorKind::DType(_), "requires_grad_", ["i64"], i64s(&[1], &[1]).requires_grad_(true));
    fails!(ErrorKind::Gradient(_), "requires_grad_", ["detach"], (&x * 2.0).requires_grad_(false));
    fails!(ErrorKind::Gradient(_), "assign", ["no_grad"], x.assign(0.0));
    fails!(ErrorKind::Shape(_), "set_grad", ["[2]", "[2, 3]"], x.set_grad(Some(&vector(2))));
    fails!(ErrorKind::Shape(_), "assign", ["[4]", "[2, 3]"], matrix().assign(vector(4)));
    let wide = vector(1).expand(&[3]).unwrap();
    fails!(ErrorKind::Value(_), "assign", ["broadcast"], wide.assign(0.0));
    fails!(
        ErrorKind::Value(_),
        "gradcheck",
        ["requires a gradient"],
        mg_autograd::gradcheck(|x| Ok(x[0].clone()), &[matrix()], Default::default())
    );
    fails!(
        ErrorKind::DType(_),
        "gradcheck",
        ["input 0", "f32"],
        mg_autograd::gradcheck(|x| Ok(x[0].clone()), std::slice::from_ref(&x), Default::default())
    );
    let _off = no_grad();
    let y = (&x * &x).sum();
    fails!(ErrorKind::Gradient(_), "backward", ["requires a gradient"], y.backward());
    no_faults();
}

/// A wrong gradient is named by input, element and both numbers.
#[test]
fn a_wrong_gradient_is_named() {
    let x = Tensor::from_vec(vec![1.0f64, 2.0, 3.0, 4.0], &[2, 2]).unwrap().requires_grad_(true).unwrap();
    let k = Tensor::from_slice(&[1.0f64]).requires_grad_(true).unwrap();
    // As if the derivative of the last row were forgotten.
    let wrong = |x: &[Tensor]| {
        let square = x[1].square();
        Tensor::cat(&[&square.narrow(0, 0, 1)?, &square.narrow(0, 1, 1)?.detach()], 0)?.try_mul(&x[0])
    };
    let error = mg_autograd::gradcheck(wrong, &[k, x], Default::default()).unwrap_err();
    let line = line!() - 1;
    assert!(matches!(error.kind(), ErrorKind::Gradient(_)));
    let text = error.to_string();
    assert!(
        text.starts_with(
            "gradcheck: the gradient of input 1 at element [1, 0] is 0, central differences give "
        ),
        "{text}"
    );
    assert_eq!((error.location().file(), error.location().line()), (file!(), line));
}

/// Indices that are known only when they are computed.
fn later(shape: &[usize], data: &[i64]) -> Tensor {
    i64s(shape, data).try_add(0i64).unwrap()
}

/// What is found out when the value is computed names the line that asked for it.
#[test]
fn late_errors_name_the_line_of_the_operation() {
    let a = matrix();
    let (picked, line) = (a.index_select(0, &later(&[2], &[0, 2])).unwrap(), line!());
    let error = picked.to_vec::<f32>().unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Index { index: 2, axis: 0, size: 2 });
    assert_eq!((error.location().file(), error.location().line()), (file!(), line), "{error}");
    assert_eq!(error.op(), "index_select");
    let (picked, line) = (a.gather(1, &later(&[2, 1], &[0, -1])).unwrap(), line!());
    let error = (&picked + 1.0).sum().item::<f32>().unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Index { index: -1, axis: 1, size: 3 });
    assert_eq!((error.location().file(), error.location().line()), (file!(), line), "{error}");
    // Indices and labels that the host knows are told of at once.
    if a.device().is_cpu() {
        let (known, line) = (a.index_select(0, &i64s(&[2], &[0, 2])).map(drop).unwrap_err(), line!());
        assert_eq!(*known.kind(), ErrorKind::Index { index: 2, axis: 0, size: 2 });
        assert_eq!((known.location().file(), known.location().line()), (file!(), line), "{known}");
        let (known, line) = (
            a.try_cross_entropy(&i64s(&[2], &[0, 3]), None, -100, "mean", 0.0).map(drop).unwrap_err(),
            line!() - 1,
        );
        assert!(matches!(known.kind(), ErrorKind::Index { index: 3, size: 3, .. }), "{known}");
        assert_eq!((known.location().file(), known.location().line()), (file!(), line), "{known}");
    }
    let labels = i64s(&[2], &[-1, 2]).try_add(1i64).unwrap();
    let (loss, line) = (a.try_cross_entropy(&labels, None, -100, "mean", 0.0).unwrap(), line!());
    let error = loss.item::<f32>().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Index { index: 3, size: 3, .. }), "{error}");
    assert_eq!((error.location().file(), error.location().line()), (file!(), line), "{error}");
    let values = f32s(&[1, 3], &[1.0; 3]);
    let (sum, line) = (a.scatter_add(0, &later(&[1, 3], &[0, 1, 7]), &values).unwrap(), line!());
    let error = sum.to_vec::<f32>().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Index { index: 7, size: 2, .. }), "{error}");
    assert_eq!((error.location().file(), error.location().line()), (file!(), line), "{error}");
}

/// A node whose work failed keeps its error for every reader; what does not depend on it stays usable.
#[test]
fn a_failure_stays_where_it_belongs() {
    let a = matrix();
    let bad = a.index_select(0, &later(&[1], &[9])).unwrap();
    let (good, after) = (&a * 2.0, &bad + 1.0);
    let first = bad.to_vec::<f32>().unwrap_err();
    assert_eq!(good.to_vec::<f32>().unwrap(), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    if a.device().is_cuda() {
        // There the kernel reads zero and goes on, and whoever waits first is told.
        assert!(matches!(first.kind(), ErrorKind::Index { index: 9, .. }), "{first}");
        assert_eq!(after.to_vec::<f32>().unwrap(), [1.0; 3]);
        return;
    }
    for reader in [bad.clone(), after.clone(), after.sum(), &after * &good] {
        let again = reader.to_vec::<f32>().unwrap_err();
        assert_eq!((again.kind(), again.location()), (first.kind(), first.location()));
    }
    assert_eq!((&good + &a).sum().item::<f32>().unwrap(), 63.0);
    // A leaf of its value has it too.
    let leaf = bad.detach().requires_grad_(true).unwrap();
    let again = leaf.to_vec::<f32>().unwrap_err();
    assert_eq!((again.kind(), again.location()), (first.kind(), first.location()));
    // And a tensor that it is written to.
    let target = f32s(&[1, 3], &[0.0; 3]);
    target.assign(&bad).unwrap();
    let again = target.to_vec::<f32>().unwrap_err();
    assert_eq!((again.op(), again.kind(), again.location()), (first.op(), first.kind(), first.location()));
}

fn panic_text(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("must panic");
    payload.downcast_ref::<String>().cloned().unwrap_or_default()
}

/// Operators and plain methods panic with the text of their `try_` twin, at the caller's line.
#[test]
fn operators_panic_with_the_same_text() {
    let (a, b) = (matrix(), vector(2));
    // On one line each, so that text and line agree; columns differ.
    macro_rules! same {
        ($try_call:expr, $call:expr) => {{
            let error = $try_call.err().unwrap();
            let text = panic_text(|| drop($call));
            let line = format!("({}:{}:", file!(), line!());
            let cut = |s: &str| s.split(" (").next().unwrap_or_default().to_string();
            assert_eq!(cut(&text), cut(&error.to_string()));
            assert!(text.contains(&line), "{text:?} does not name {line}");
        }};
    }
    same!(a.try_add(&b), &a + &b);
    same!(a.try_add(&b), a.clone() + b.clone());
    same!(a.try_sub(&b), &a - &b);
    same!(a.try_mul(&b), &a * &b);
    same!(a.try_div(&b), &a / &b);
    same!(a.try_pow(&b), a.pow(&b));
    same!(a.try_minimum(&b), a.minimum(&b));
    same!(a.try_matmul(&b), a.matmul(&b));
    same!(f32s(&[0], &[]).try_max(), f32s(&[0], &[]).max());
    same!(a.try_sum_dim(&[2], false), a.sum_dim(&[2], false));
    same!(a.try_norm("inf", &[], false), a.norm("inf", &[], false));
    // These have no twin.
    let (greater, line) = (panic_text(|| drop(a.gt(&b))), line!());
    assert!(greater.starts_with("gt: ") && greater.contains(&format!("{}:{line}:", file!())), "{greater}");
    let (text, line) = (panic_text(|| drop(a.ge(2.0).ge(&b))), line!());
    assert!(text.starts_with("ge: ") && text.contains(&format!("{}:{line}:", file!())), "{text}");
    let deep = f32s(&[1, 2, 3], &[0.0; 6]);
    let text = panic_text(|| drop(deep.t()));
    assert!(text.starts_with("t: ") && text.contains(file!()), "{text}");
}

/// On a machine with a GPU; elsewhere there is no second device to be unlike.
#[test]
fn unlike_devices() {
    let Ok(cuda) = Device::cuda(0) else { return };
    let there = Tensor::from_node(mg_graph::Node::scalar(1.0, DType::F32, cuda, false));
    let error = matrix().to(Device::cpu()).unwrap().try_add(&there).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnlikeDevices(_)));
    let text = error.to_string();
    assert!(text.contains("tensors must be on the same device (no implicit device transfers)"), "{text}");
    assert!(text.contains("cpu") && text.contains("cuda:0"), "{text}");
}

fn shape() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![4 => 0usize..5, 1 => Just(1)], 0..5)
}

fn dtype() -> impl Strategy<Value = DType> {
    prop::sample::select(DType::ALL.to_vec())
}

fn tensor() -> impl Strategy<Value = Tensor> {
    (shape(), dtype(), 0..4usize).prop_map(|(shape, dtype, how)| {
        let n: usize = shape.iter().product();
        let data: Vec<f64> = (0..n).map(|i| (i % 7) as f64 - 2.0).collect();
        let t = Tensor::from_vec(data, &shape).unwrap().to_dtype(dtype);
        match how {
            0 => t.realize().cloned().unwrap_or(t),
            1 => t.requires_grad_(dtype.is_float()).unwrap(),
            2 if shape.len() > 1 => t.transpose(0, -1).unwrap(),
            _ => t,
        }
    })
}

/// Reads a result, if there is one: what went through the checks computes, or answers with an error too.
fn read(t: Result<Tensor>) {
    if let Ok(t) = t {
        if let Ok(values) = t.to_f64_vec() {
            assert_eq!(values.len(), t.numel());
        }
        let _ = format!("{t:?} {t}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(
        a in tensor(), b in tensor(), c in tensor(),
        axis in -6isize..6, other in -6isize..6, index in -6isize..6, step in -3isize..4,
        dims in prop::collection::vec(-2isize..6, 0..6),
        axes in prop::collection::vec(-5isize..5, 0..5),
        start in 0usize..6, len in 0usize..6, keep: bool,
    ) {
        read(a.try_add(&b));
        read(a.try_sub(&b));
        read(a.try_mul(&b));
        read(a.try_div(&b));
        read(a.try_pow(&b));
        read(a.try_maximum(&b));
        read(a.try_lt(&b));
        read(a.try_logical_xor(&b));
        read(a.try_exp());
        read(a.try_neg());
        read(a.try_relu());
        read(a.try_logical_not());
        read(a.try_pow(index as i64));
        read(Tensor::where_(&c, &a, &b));
        read(Tensor::where_(&c.ne(1.0), &a, &b));
        read(a.reshape(&dims));
        read(a.expand(&dims));
        read(a.permute(&axes));
        read(a.transpose(axis, other));
        read(a.flatten(axis, -1));
        read(a.slice(axis, Some(index), Some(other), step));
        read(a.slice(axis, None, Some(index), step));
        read(a.narrow(axis, start as isize, len));
        read(a.select(axis, index));
        read(a.flip(&[axis]));
        read(a.unsqueeze(axis));
        read(a.squeeze(Some(&[axis])));
        read(a.squeeze(None));
        read(a.try_sum_dim(&axes, keep));
        read(a.try_prod_dim(&axes, keep));
        read(a.try_amax(&axes, keep));
        read(a.try_amin(&axes, keep));
        read(a.try_mean_dim(&axes, keep));
        read(a.try_var_dim(&axes, keep, Some(start as f64)));
        read(a.try_argmax(Some(axis), false));
        read(a.try_argmin(None, false));
        read(a.try_softmax(Some(axis), None));
        read(a.try_log_softmax(Some(axis), None));
        read(a.try_logsumexp(&axes, keep));
        read(a.try_matmul(&b));
        read(a.try_mse_loss(&b, "mean", None));
        read(a.try_cross_entropy(&b, None, -100, "mean", 0.0));
        read(a.try_layer_norm(&b.shape(), Some(&b), Some(&c), 1e-5));
        read(a.gather(axis, &b));
        read(a.gather(axis, &b.to_dtype(DType::I64)));
        read(a.index_select(axis, &b.to_dtype(DType::I64)));
        read(a.scatter_add(axis, &b.to_dtype(DType::I64), &c));
        read(Tensor::cat(&[&a, &b, &c], axis));
        read(Tensor::cat(&[&a, &a], axis));
        read(Tensor::stack(&[&a, &b], axis));
        read(Tensor::stack(&[&a, &a], axis));
        read(a.try_dropout(index as f64 / 4.0, true));
        read(a.contiguous());
        let _ = a.item::<f32>();
        let _ = a.to_vec::<u8>();
        let _ = a.size(axis);
        let _ = a.copy().assign(&b);
        if let Ok(view) = a.copy().select(axis, index) {
            let _ = view.assign(&b);
        }
        let _ = a.backward();
        let _ = a.backward_with(Some(&b), Backward::default());
        read(grad(&[&a], &[&b], &[Some(&c)], Backward::default()).map(|mut g| g.remove(0).unwrap_or(a.clone())));
    }

    /// Gradients of whatever works work too, and have the shape of what they are of.
    #[test]
    fn gradients_of_random_shapes(a in shape(), b in shape(), axes in prop::collection::vec(-4isize..4, 0..3), keep: bool) {
        let make = |shape: &[usize]| {
            let n: usize = shape.iter().product();
            Tensor::from_vec((0..n).map(|i| 0.5 + (i % 5) as f64).collect(), shape).unwrap().requires_grad_(true).unwrap()
        };
        let (a, b) = (make(&a), make(&b));
        let results = [
            a.try_mul(&b), a.try_div(&b), a.try_pow(&b), a.try_maximum(&b), a.try_matmul(&b),
            a.try_sum_dim(&axes, keep), a.try_prod_dim(&axes, keep), a.try_amax(&axes, keep), a.try_var_dim(&axes, keep, Some(0.0)),
            a.try_softmax(Some(0), None), a.try_logsumexp(&axes, keep), Tensor::cat(&[&a, &b], 0), a.flip(&[-1]),
        ];
        for y in results.into_iter().flatten() {
            let g = grad(&[&y.sum()], &[&a, &b], &[], Backward::default()).unwrap();
            for (g, x) in g.into_iter().zip([&a, &b]) {
                if let Some(g) = g {
                    prop_assert_eq!(g.shape(), x.shape());
                    prop_assert_eq!(g.to_f64_vec().unwrap().len(), x.numel());
                }
            }
        }
    }
}

#[test]
fn sizes_that_cannot_be_counted_or_held_are_errors() {
    let ones = |shape: &[usize]| Tensor::ones(shape, DType::F32).unwrap();
    let (row, column) = (ones(&[1 << 32]), ones(&[1 << 32, 1]));
    let most = Tensor::ones(&[isize::MAX as usize], DType::U8).unwrap();
    let wide = ones(&[2, 1 << 60]);
    let index = Tensor::arange(16).to_dtype(DType::I64);
    let cases: [(&str, Result<Tensor>); 5] = [
        ("mul", row.try_mul(&column)),
        ("matmul", column.try_matmul(&row.reshape(&[1, -1]).unwrap())),
        ("cat", Tensor::cat(&[&most, &most], 0)),
        ("cat", Tensor::cat(&[&most, &most, &most], 0)),
        ("index_select", wide.index_select(0, &index)),
    ];
    for (op, result) in cases {
        let error = result.map(|t| t.shape()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Shape(_)) && error.op() == op, "{op}: {error}");
        assert!(error.location().file().ends_with("errors.rs"), "{error}");
    }
    assert!(matches!(Tensor::arange(usize::MAX).realize().unwrap_err().kind(), ErrorKind::Shape(_)));
    // As temporaries, whose bytes are more than an address has.
    for n in [1usize << 61, 1 << 62, isize::MAX as usize] {
        let (x, y) = (Tensor::arange(n).to_dtype(DType::F32), Tensor::arange(n).to_dtype(DType::F32));
        for t in [x.try_matmul(&y).unwrap(), x.exp()] {
            let error = t.realize().map(|_| ()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{n}: {error}");
            assert!(error.location().file().ends_with("errors.rs"), "{error}");
        }
    }
}
