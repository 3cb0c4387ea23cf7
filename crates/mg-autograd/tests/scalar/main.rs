//! Facts about the scalar engine.

mod derivatives;
mod memory;
mod random;
mod state;

use std::thread;

use mg_autograd::scalar::{Span, Value};
use mg_device::{Device, ErrorKind};

/// Fewer under Miri, which is four orders of magnitude slower.
const fn many(n: usize) -> usize {
    if cfg!(miri) { n / 1000 } else { n }
}

#[track_caller]
fn assert_close(got: f64, want: f64, tolerance: f64) {
    let scale = want.abs().max(1.0);
    assert!((got - want).abs() <= tolerance * scale, "got {got}, want {want}");
}

fn cuda(n: usize) -> Device {
    format!("cuda:{n}").parse().unwrap()
}

#[test]
fn a_handle_is_one_pointer_and_goes_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Value>();
    shared::<Span>();
    assert_eq!(size_of::<Option<Value>>(), size_of::<usize>());
}

#[test]
fn the_first_example_of_micrograd() {
    let x = Value::new(-4.0);
    let z = 2.0 * &x + 2.0 + &x;
    let q = z.relu() + &z * &x;
    let h = (&z * &z).relu();
    let y = &h + &q + &q * &x;
    y.backward();
    assert_eq!((y.data(), x.grad()), (-20.0, 46.0));
}

#[test]
fn the_second_example_of_micrograd() {
    let (a, b) = (Value::new(-4.0), Value::new(2.0));
    let mut c = &a + &b;
    let mut d = &a * &b + b.pow(3);
    c += &c + 1.0;
    c += 1.0 + &c + (-&a);
    d += &d * 2.0 + (&b + &a).relu();
    d += 3.0 * &d + (&b - &a).relu();
    let e = &c - &d;
    let f = e.pow(2);
    let mut g = &f / 2.0;
    g += 10.0 / &f;
    g.backward();
    assert_close(g.data(), 24.70408163265306, 1e-12);
    assert_close(a.grad(), 138.83381924198252, 1e-12);
    assert_close(b.grad(), 645.5772594752186, 1e-12);
}

#[test]
fn backward_again_accumulates_into_leaves_only() {
    let x = Value::new(3.0);
    let square = &x * &x;
    let y = &square * &x;
    y.backward();
    assert_eq!(x.grad(), 27.0);
    x.zero_grad();
    y.backward();
    assert_eq!(x.grad(), 27.0, "inner gradients started anew");
    assert_eq!((square.grad(), y.grad()), (3.0, 1.0));
    y.backward();
    assert_eq!(x.grad(), 54.0, "leaves accumulate");
}

#[test]
fn backward_of_a_leaf_is_one() {
    let x = Value::new(3.0);
    x.backward();
    x.backward_with(2.0);
    assert_eq!(x.grad(), 3.0);
}

#[test]
fn a_diamond_costs_its_depth() {
    let x = Value::new(1.0);
    let mut y = x.clone();
    for _ in 0..64 {
        y = &y + &y;
    }
    y.backward();
    let two_to_64 = (1_u128 << 64) as f64;
    assert_eq!((y.data(), x.grad()), (two_to_64, two_to_64));
    assert_eq!(y.trace().len(), 65);
}

#[test]
fn the_trace_of_a_sum_with_itself_has_two_nodes() {
    let a = Value::new(1.0);
    let y = &a + &a;
    assert_eq!(y.prev().len(), 1);
    assert!(y.prev()[0].is(&a));
    let trace = y.trace();
    assert_eq!(trace.len(), 2);
    assert!(trace[0].is(&a) && trace[1].is(&y));
}

#[test]
fn a_trace_has_operands_before_results() {
    let (a, b) = (Value::new(1.0), Value::new(2.0));
    let c = &a * &b;
    let y = (&c + &a).tanh() / &c;
    let trace = y.trace();
    let at = |v: &Value| trace.iter().position(|t| t.is(v)).unwrap();
    for v in &trace {
        assert!(v.prev().iter().all(|p| at(p) < at(v)));
    }
}

#[test]
fn operations_have_micrograds_names() {
    let (x, y) = (Value::new(2.0), Value::new(3.0));
    let named = [
        (x.clone(), ""),
        (&x + &y, "+"),
        (&x + 1.0, "+"),
        (&x - &y, "-"),
        (&x * &y, "*"),
        (&x / &y, "/"),
        (x.pow(3), "**3"),
        (x.pow(-1.0), "**-1"),
        (x.pow(0.5), "**0.5"),
        (x.pow(&y), "**"),
        (x.rpow(2.0), "2**"),
        (-&x, "neg"),
        (x.relu(), "ReLU"),
        (x.exp(), "exp"),
        (x.log(), "log"),
        (x.tanh(), "tanh"),
        (x.sigmoid(), "sigmoid"),
        (x.to(cuda(0)).unwrap(), "to"),
    ];
    for (value, name) in named {
        assert_eq!(value.op(), name);
        assert_eq!(value.is_leaf(), name.is_empty());
    }
}

#[test]
fn a_number_that_was_an_operand_shows_among_the_operands() {
    let x = Value::new(3.0);
    for (y, grad) in [(&x + 2.0, 1.0), (&x * 2.0, 3.0), (2.0 - &x, 1.0), (&x - 2.0, -1.0), (&x / 2.0, -0.75)]
    {
        y.backward();
        let prev = y.prev();
        assert_eq!(prev.len(), 2);
        assert!(prev[0].is(&x));
        assert_eq!((prev[1].data(), prev[1].grad(), prev[1].is_leaf()), (2.0, grad, true), "{}", y.op());
    }
    assert_eq!(x.pow(2).prev().len(), 1, "an exponent is part of the name");
}

#[test]
fn data_and_gradients_can_be_set() {
    let x = Value::new(3.0);
    let y = x.pow(2);
    x.set_data(5.0);
    x.set_grad(1.0);
    y.backward();
    assert_eq!(
        (y.data(), x.grad()),
        (9.0, 11.0),
        "differentiated at the new number, added to the old gradient"
    );
    y.set_data(1.0);
    assert_eq!(y.data(), 1.0);
}

#[test]
fn values_compare_by_their_numbers() {
    let (a, b) = (Value::new(1.0), Value::new(2.0));
    assert!(a < b && b > 1.5 && 1.0 <= a && a == 1.0 && a != b);
    assert!(a == Value::new(1.0) && !a.is(&Value::new(1.0)) && a.is(&a.clone()));
    let nan = Value::new(f64::NAN);
    assert!(nan != nan && nan.partial_cmp(&a).is_none());
}

#[test]
fn it_prints_as_micrograd_does() {
    assert_eq!(Value::new(2.0).to_string(), "Value(data=2.0, grad=0.0, device=cpu)");
    assert_eq!(format!("{:?}", Value::new(-0.5)), "Value(data=-0.5, grad=0.0, device=cpu)");
}

#[test]
fn assignments_rebind_the_handle() {
    let x = Value::new(6.0);
    let mut y = x.clone();
    y += 2.0;
    y -= &x;
    y *= 3.0;
    y /= Value::new(4.0);
    assert_eq!((x.data(), y.data()), (6.0, 1.5));
}

#[test]
fn sums_and_products_of_iterators() {
    let xs: Vec<Value> = (1..=4).map(|i| Value::new(f64::from(i))).collect();
    let sum: Value = xs.iter().sum();
    let product: Value = xs.iter().cloned().product();
    (&sum + &product).backward();
    assert_eq!((sum.data(), product.data(), xs[1].grad()), (10.0, 24.0, 13.0));
    assert_eq!(std::iter::empty::<Value>().sum::<Value>().data(), 0.0);
}

#[test]
fn unlike_devices_are_an_error_that_names_both() {
    let a = Value::new(1.0);
    let b = Value::with_device(2.0, cuda(1)).unwrap();
    let text = "values must be on the same device (no implicit device transfers); got cpu and cuda:1";
    let errors = [
        ("add", a.try_add(&b)),
        ("sub", a.try_sub(&b)),
        ("mul", a.try_mul(&b)),
        ("div", a.try_div(&b)),
        ("pow", a.try_pow(&b)),
        ("affine", Span::from([a.clone(), a.clone()]).affine(&Span::from([b.clone()]))),
        ("affine", Span::from([a.clone()]).affine(&Span::from([b.clone()]))),
        ("affine", Span::from([a.clone(), b.clone()]).affine(&Span::from([b.clone()]))),
    ];
    for (op, error) in errors {
        let error = error.unwrap_err();
        assert_eq!(error.op(), op);
        assert_eq!(*error.kind(), ErrorKind::UnlikeDevices(text.into()));
        assert!(error.location().file().ends_with("main.rs"));
    }
    let panic = thread::spawn(move || &a + &b).join().unwrap_err();
    let panic = panic.downcast_ref::<String>().unwrap();
    assert!(panic.contains(text), "{panic}");
}

#[test]
fn to_keeps_the_graph() {
    let x = Value::new(3.0);
    let there = x.to(cuda(0)).unwrap();
    assert_eq!((there.device(), there.data()), (cuda(0), 3.0));
    let y = &there * &there;
    assert_eq!(y.device(), cuda(0));
    let back = y.cpu() + &x;
    back.backward();
    assert_eq!(x.grad(), 7.0);
    assert!(x.to(Device::cpu()).unwrap().is(&x), "nothing to do");
    assert!(matches!(x.to(cuda(255)).unwrap_err().kind(), ErrorKind::Device(_)));
    // Miri cannot look for a driver.
    if !cfg!(miri) && !Device::is_cuda_available() {
        assert!(matches!(x.cuda(0).unwrap_err().kind(), ErrorKind::Device(_)));
    }
}

#[test]
fn a_span_of_the_wrong_length_is_an_error() {
    let error = Span::from([1.0, 2.0, 3.0]).affine(&Span::from([1.0])).unwrap_err();
    assert_eq!(
        *error.kind(),
        ErrorKind::Shape("a span of 3 values takes 3 inputs, or 2 and its last value as bias; got 1".into())
    );
    assert!(Span::from([0.0; 0]).affine(&Span::from([0.0; 0])).is_err());
    assert_eq!(Span::from([2.5]).affine(&Span::from([0.0; 0])).unwrap().data(), 2.5);
}

#[test]
fn a_fused_sum_is_the_same_to_the_last_bit() {
    let numbers = |seed: f64| (0..17).map(move |i| (seed + f64::from(i) * 0.7).sin());
    let (w, x): (Span, Span) = (numbers(1.0).collect(), numbers(2.0).take(16).collect());
    let fused = w.affine(&x).unwrap();
    let plain = w.iter().zip(x.iter()).fold(w[16].clone(), |sum, (w, x)| sum + w * x);
    assert_eq!(fused.data(), plain.data());
    let grads = |y: &Value| {
        w.iter().chain(x.iter()).for_each(Value::zero_grad);
        y.backward();
        w.iter().chain(x.iter()).map(Value::grad).collect::<Vec<_>>()
    };
    assert_eq!(grads(&fused), grads(&plain));
    assert_eq!(fused.op(), "w·x+b");
    assert_eq!(fused.prev().len(), 33);
}
