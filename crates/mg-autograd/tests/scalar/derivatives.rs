//! Every operation's value and derivatives.

use mg_autograd::scalar::{Span, Value};

use crate::cuda;

/// Every operation: name, function, points inside its domain and away from kinks.
type Case = (&'static str, fn(&Value, &Value) -> Value, &'static [(f64, f64)]);

const CASES: &[Case] = &[
    ("add", |x, y| x + y, &[(1.5, -2.0)]),
    ("add number", |x, _| x + 2.5, &[(1.5, 0.0)]),
    ("number add", |x, _| 2.5 + x, &[(1.5, 0.0)]),
    ("sub", |x, y| x - y, &[(1.5, -2.0)]),
    ("sub number", |x, _| x - 2.5, &[(1.5, 0.0)]),
    ("number sub", |x, _| 2.5 - x, &[(1.5, 0.0)]),
    ("mul", |x, y| x * y, &[(1.5, -2.0), (0.0, 3.0)]),
    ("mul number", |x, _| x * 2.5, &[(1.5, 0.0)]),
    ("number mul", |x, _| 2.5 * x, &[(1.5, 0.0)]),
    ("div", |x, y| x / y, &[(1.5, -2.0), (0.0, 3.0)]),
    ("div number", |x, _| x / 2.5, &[(1.5, 0.0)]),
    ("number div", |x, _| 2.5 / x, &[(1.5, 0.0), (-0.3, 0.0)]),
    ("pow 3", |x, _| x.pow(3), &[(1.5, 0.0), (-1.5, 0.0)]),
    ("pow 2", |x, _| x.pow(2), &[(1.5, 0.0), (-1.5, 0.0), (0.0, 0.0)]),
    ("pow -1", |x, _| x.pow(-1), &[(1.5, 0.0), (-1.5, 0.0)]),
    ("pow 0.5", |x, _| x.pow(0.5), &[(1.5, 0.0), (0.01, 0.0)]),
    ("pow 1", |x, _| x.pow(1), &[(1.5, 0.0), (0.0, 0.0)]),
    ("pow 0", |x, _| x.pow(0), &[(1.5, 0.0), (0.0, 0.0)]),
    ("pow value", |x, y| x.pow(y), &[(1.5, -2.5), (0.3, 2.0), (4.0, 0.5)]),
    ("number pow", |x, _| x.rpow(2.0), &[(1.5, 0.0), (-3.0, 0.0)]),
    ("neg", |x, _| -x, &[(1.5, 0.0)]),
    ("relu", |x, _| x.relu(), &[(1.5, 0.0), (-1.5, 0.0)]),
    ("exp", |x, _| x.exp(), &[(1.5, 0.0), (-20.0, 0.0)]),
    ("log", |x, _| x.log(), &[(1.5, 0.0), (0.01, 0.0)]),
    ("tanh", |x, _| x.tanh(), &[(0.0, 0.0), (1.5, 0.0), (-5.0, 0.0)]),
    ("sigmoid", |x, _| x.sigmoid(), &[(0.0, 0.0), (1.5, 0.0), (-5.0, 0.0)]),
    ("to", |x, _| x.to(cuda(1)).unwrap(), &[(1.5, 0.0)]),
    (
        "affine",
        |x, y| Span::from([x, y, x].map(Clone::clone)).affine(&Span::from([y.clone(), x + y])).unwrap(),
        &[(1.5, -2.0)],
    ),
];

#[test]
fn every_derivative_agrees_with_central_differences() {
    for &(name, f, points) in CASES {
        for &(x0, y0) in points {
            let (x, y) = (Value::new(x0), Value::new(y0));
            let out = f(&x, &y);
            // From another seed than 1, so that a rule that forgets to multiply is found.
            out.backward_with(-1.5);
            let at = |x: f64, y: f64| f(&Value::new(x), &Value::new(y)).data();
            let h = 1e-6;
            let by_x = (at(x0 + h, y0) - at(x0 - h, y0)) / (2.0 * h);
            let by_y = (at(x0, y0 + h) - at(x0, y0 - h)) / (2.0 * h);
            for (got, want) in [(x.grad(), -1.5 * by_x), (y.grad(), -1.5 * by_y)] {
                let error = (got - want).abs() / want.abs().max(1.0);
                assert!(error < 1e-7, "{name} at ({x0}, {y0}): got {got}, want {want}");
            }
        }
    }
}

#[test]
fn functions_answer_as_ieee_says_at_the_edges() {
    let (zero, one) = (Value::new(0.0), Value::new(-1.0));
    assert_eq!(zero.log().data(), f64::NEG_INFINITY);
    assert!(one.log().data().is_nan() && one.pow(0.5).data().is_nan());
    assert_eq!((1.0 / &zero).data(), f64::INFINITY);
    assert!(Value::new(f64::NAN).relu().data().is_nan());
    assert_eq!(Value::new(1e4).sigmoid().data(), 1.0);
    assert_eq!(Value::new(-1e4).sigmoid().data(), 0.0);

    let derivative = |f: fn(&Value) -> Value, at: f64| {
        let x = Value::new(at);
        f(&x).backward();
        x.grad()
    };
    assert_eq!(derivative(|x| x.pow(0), 0.0), 0.0);
    assert_eq!(derivative(|x| x.pow(0.5), 0.0), f64::INFINITY);
    assert_eq!(derivative(|x| x.relu(), 0.0), 0.0);
    assert_eq!(derivative(|x| Value::new(0.0).pow(x), 2.0), 0.0);
    assert!(derivative(|x| Value::new(-2.0).pow(x), 2.0).is_nan());
    assert_eq!(derivative(|x| x.sigmoid(), 0.0), 0.25);
    assert_eq!(derivative(|x| x.tanh(), 0.0), 1.0);
}
