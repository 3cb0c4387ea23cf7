//! Random programs and random orders of drops.

use mg_autograd::scalar::{Span, Value};
use proptest::prelude::*;

/// One line of a random program; operands are positions of earlier values.
#[derive(Debug, Clone, Copy)]
struct Line {
    op: u8,
    x: usize,
    y: usize,
    number: f64,
}

fn line() -> impl Strategy<Value = Line> {
    (0..17_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>(), -2.0..2.0_f64)
        .prop_map(|(op, x, y, number)| Line { op, x: x.index(1 << 20), y: y.index(1 << 20), number })
}

/// The operations once more, written as plainly as can be: value, and derivatives by both operands.
fn reference(op: u8, x: f64, y: f64, c: f64) -> (f64, f64, f64) {
    match op {
        0 => (x + y, 1.0, 1.0),
        1 => (x - y, 1.0, -1.0),
        2 => (x * y, y, x),
        3 => (x / y, 1.0 / y, -x / (y * y)),
        4 => (x + c, 1.0, 0.0),
        5 => (c - x, -1.0, 0.0),
        6 => (x * c, c, 0.0),
        7 => (c / x, -c / (x * x), 0.0),
        8 => (-x, -1.0, 0.0),
        9 => (if x < 0.0 { 0.0 } else { x }, if x > 0.0 { 1.0 } else { 0.0 }, 0.0),
        10 => (x.exp(), x.exp(), 0.0),
        11 => (x.ln(), 1.0 / x, 0.0),
        12 => (x.tanh(), 1.0 - x.tanh().powi(2), 0.0),
        13 => (1.0 / (1.0 + (-x).exp()), (-x).exp() / (1.0 + (-x).exp()).powi(2), 0.0),
        14 => (x.powi(3), 3.0 * x * x, 0.0),
        15 => (2.0_f64.powf(x), 2.0_f64.powf(x) * 2.0_f64.ln(), 0.0),
        _ => (x * x + x * y + c, 2.0 * x + y, x),
    }
}

fn engine(line: Line, x: &Value, y: &Value) -> Value {
    let c = line.number;
    match line.op {
        0 => x + y,
        1 => x - y,
        2 => x * y,
        3 => x / y,
        4 => x + c,
        5 => c - x,
        6 => x * c,
        7 => c / x,
        8 => -x,
        9 => x.relu(),
        10 => x.exp(),
        11 => x.log(),
        12 => x.tanh(),
        13 => x.sigmoid(),
        14 => x.pow(3),
        15 => x.rpow(2.0),
        _ => Span::from([x.clone(), y.clone(), Value::new(c)])
            .affine(&Span::from([x.clone(), x.clone()]))
            .unwrap(),
    }
}

/// The value at `at` and its derivative by leaf `by`, by recursion.
fn recurse(program: &[Line], leaves: &[f64; 3], at: usize, by: usize) -> (f64, f64) {
    if at < 3 {
        return (leaves[at], if at == by { 1.0 } else { 0.0 });
    }
    let line = program[at - 3];
    let (x, dx) = recurse(program, leaves, line.x % at, by);
    let (y, dy) = recurse(program, leaves, line.y % at, by);
    let (value, by_x, by_y) = reference(line.op, x, y, line.number);
    // What a function does not depend on adds nothing, even where its derivative is infinite.
    let product = |a: f64, b: f64| if b == 0.0 { 0.0 } else { a * b };
    (value, product(by_x, dx) + product(by_y, dy))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 8 } else { 1000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_graphs_agree_with_recursion(
        leaves in prop::array::uniform3(-2.0..2.0_f64),
        program in prop::collection::vec(line(), 1..12),
    ) {
        let mut values: Vec<Value> = leaves.iter().map(|&x| Value::new(x)).collect();
        for &line in &program {
            let n = values.len();
            values.push(engine(line, &values[line.x % n], &values[line.y % n]));
        }
        let leaf = values[..3].to_vec();
        // All other handles go first: what is not needed for the last value is gone.
        let y = values.pop().unwrap();
        drop(values);
        y.backward();
        for (by, leaf) in leaf.iter().enumerate() {
            let (value, derivative) = recurse(&program, &leaves, program.len() + 2, by);
            if value.is_finite() && derivative.is_finite() && derivative.abs() < 1e100 && leaf.grad().is_finite() {
                prop_assert!((y.data() - value).abs() <= 1e-9 * value.abs().max(1.0), "{} {value}", y.data());
                let error = (leaf.grad() - derivative).abs();
                prop_assert!(error <= 1e-6 * derivative.abs().max(1.0), "{} {derivative}", leaf.grad());
            }
        }
    }

    #[test]
    fn values_outlive_any_order_of_drops(
        steps in prop::collection::vec((any::<u16>(), any::<u16>(), 0..4_u8), 1..400),
    ) {
        let mut alive: Vec<(Value, f64)> = vec![(Value::new(1.0), 1.0)];
        for (i, &(a, b, kind)) in steps.iter().enumerate() {
            let (a, b) = (a as usize % alive.len(), b as usize % alive.len());
            match kind {
                0 => alive.push((Value::new(i as f64), i as f64)),
                1 if alive.len() > 1 => drop(alive.swap_remove(a)),
                _ => {
                    let (x, y) = (&alive[a], &alive[b]);
                    let new = (&x.0 * 0.5 + &y.0, x.1 * 0.5 + y.1);
                    alive.push(new);
                }
            }
        }
        for (value, want) in &alive {
            prop_assert_eq!(value.data(), *want);
            // Whatever is left of the graph still computes to itself.
            for node in value.trace() {
                let prev: f64 = node.prev().iter().map(Value::data).sum();
                prop_assert!(node.is_leaf() || prev.is_finite());
            }
        }
    }
}
