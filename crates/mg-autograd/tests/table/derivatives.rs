//! First and second derivatives of the rows against central differences, in f64.

use crate::common::*;
use crate::host::reference;
use mg_autograd::check::Options;
use mg_autograd::{Tensor, gradcheck, gradgradcheck};
use mg_device::{DType, Result};
use mg_graph::Node;
use mg_kernels::Row;
use mg_kernels::rows::RowClass;

/// Tight: the truncation error is about 10⁻¹¹, the rounding error 10⁻¹⁰.
pub const TIGHT: Options = Options { eps: 1e-5, atol: 1e-6, rtol: 1e-5 };

/// Checks first and second derivatives; the inputs that require a gradient are varied.
#[track_caller]
pub fn both(what: &str, f: impl Fn(&[Tensor]) -> Result<Tensor>, inputs: &[Tensor]) {
    if let Err(e) = gradcheck(&f, inputs, TIGHT) {
        panic!("{what}: {e}");
    }
    if let Err(e) = gradgradcheck(&f, inputs, TIGHT) {
        panic!("{what}: {e}");
    }
}

fn apply(row: Row, x: &[Tensor]) -> Result<Tensor> {
    let nodes: Vec<Node> = x.iter().map(Tensor::node).collect();
    Ok(Tensor::from_node(Node::map(row, &nodes.iter().collect::<Vec<_>>())?))
}

fn rows() -> impl Iterator<Item = Row> {
    Row::ALL
        .iter()
        .copied()
        .filter(|r| matches!(r.class(), RowClass::Float | RowClass::Numeric | RowClass::Select))
}

/// Numbers away from zero (where many rows have a kink), positive and, if the row is defined there, negative.
fn operands(row: Row, rng: &mut Rng, shapes: &[&[usize]], sign: f64) -> Option<Vec<Tensor>> {
    // Next to a pole no difference is small enough, and of −∞ there is none.
    if sign < 0.0 && matches!(row, Row::Lgamma | Row::Digamma | Row::Entr) {
        return None;
    }
    let draw = |rng: &mut Rng, shape: &[usize]| {
        let n = shape.iter().product();
        rng.vec(n, 0.3, 1.7)
            .into_iter()
            .map(|v| v * if rng.below(2) == 0 { sign } else { 1.0 })
            .collect::<Vec<_>>()
    };
    let mut out = vec![];
    for (i, shape) in shapes.iter().enumerate().take(row.arity()) {
        if row == Row::Where && i == 0 {
            out.push(array(rng, shape, DType::Bool, Rng::cell).tensor());
        } else {
            let leaf = Tensor::from_vec(draw(rng, shape), shape).unwrap().requires_grad_(true).unwrap();
            out.push(leaf);
        }
    }
    let defined = (0..50).all(|_| {
        let cells: Vec<Cell> = (0..row.arity()).map(|_| Cell::F(sign * rng.uniform(0.3, 1.7))).collect();
        row == Row::Where || !reference(row, DType::F64, &cells).f().is_nan()
    });
    defined.then_some(out)
}

#[test]
fn rows_have_their_derivatives() {
    let mut rng = Rng(1);
    for row in rows() {
        for sign in [1.0, -1.0] {
            if let Some(x) = operands(row, &mut rng, &[&[3, 4], &[3, 4], &[3, 4]], sign) {
                both(&format!("{}, sign {sign}", row.name()), |x| apply(row, x), &x);
            }
        }
    }
}

#[test]
fn gradients_have_the_shape_of_their_operand() {
    let mut rng = Rng(2);
    let shapes: [[&[usize]; 3]; 5] = [
        [&[2, 3], &[3], &[2, 1]],
        [&[3], &[2, 3], &[]],
        [&[2, 1], &[1, 3], &[2, 3]],
        [&[], &[2, 2], &[2]],
        [&[1, 2], &[2, 2, 1], &[1]],
    ];
    for row in rows().filter(|r| r.arity() > 1) {
        for shapes in shapes {
            if let Some(x) = operands(row, &mut rng, &shapes, 1.0) {
                both(&format!("{} of {shapes:?}", row.name()), |x| apply(row, x), &x);
            }
        }
    }
}

#[test]
fn gradients_flow_through_layouts_of_operands() {
    let mut rng = Rng(3);
    for row in rows().filter(|r| r.arity() < 3) {
        let Some(x) = operands(row, &mut rng, &[&[4, 6], &[6, 4]], 1.0) else { continue };
        let f = |x: &[Tensor]| {
            let a = x[0].slice(0, None, None, -2)?.slice(1, Some(1), Some(5), 1)?;
            let b = x.get(1).map(|b| b.t().narrow(0, 1, 2)?.narrow(1, 1, 4)).transpose()?;
            apply(row, &std::iter::once(a).chain(b).collect::<Vec<_>>())
        };
        both(row.name(), f, &x);
        let both_sides = |x: &[Tensor]| apply(row, &vec![x[0].clone(); row.arity()]);
        // A tie of an operand with itself has no derivative to compare with, nor has a whole quotient or a step of none.
        if !matches!(row, Row::Maximum | Row::Minimum | Row::Fmod | Row::NextAfter) {
            both(&format!("{} of one tensor", row.name()), both_sides, &x[..1]);
        }
    }
}

#[test]
fn a_row_without_a_gradient_gives_none() {
    let x = Tensor::from_slice(&[1.0f64, -2.0]).requires_grad_(true).unwrap();
    for row in Row::ALL.iter().filter(|r| matches!(r.class(), RowClass::Compare)) {
        assert!(!row.is_differentiable(), "{}", row.name());
        let y = apply(*row, &[x.clone(), x.clone()]).unwrap();
        assert!(!y.requires_grad(), "{}", row.name());
    }
}

#[test]
fn ties_share_the_gradient() {
    let leaf = |v: &[f64]| Tensor::from_slice(v).requires_grad_(true).unwrap();
    let (a, b) = (leaf(&[1.0, 2.0, 3.0]), leaf(&[2.0, 2.0, 2.0]));
    a.maximum(&b).sum().backward().unwrap();
    assert_eq!(a.grad().unwrap().to_f64_vec().unwrap(), [0.0, 0.5, 1.0]);
    assert_eq!(b.grad().unwrap().to_f64_vec().unwrap(), [1.0, 0.5, 0.0]);
    a.zero_grad();
    b.zero_grad();
    a.minimum(&b).sum().backward().unwrap();
    assert_eq!(a.grad().unwrap().to_f64_vec().unwrap(), [1.0, 0.5, 0.0]);
    assert_eq!(b.grad().unwrap().to_f64_vec().unwrap(), [0.0, 0.5, 1.0]);
    let x = leaf(&[3.0, 1.0, 3.0, 3.0]);
    x.max().backward().unwrap();
    assert_close("max with ties", &x.grad().unwrap(), &[1.0 / 3.0, 0.0, 1.0 / 3.0, 1.0 / 3.0], 1e-15, 0.0);
    let x = leaf(&[0.0, 1.0, -1.0]);
    x.relu().sum().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_f64_vec().unwrap(), [0.0, 1.0, 0.0]);
    let x = leaf(&[0.0, -2.0, 5.0]);
    x.abs().sum().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_f64_vec().unwrap(), [0.0, -1.0, 1.0]);
}

#[test]
fn powers_at_their_edges() {
    let gradient = |base: &[f64], exponent: f64| {
        let x = Tensor::from_slice(base).requires_grad_(true).unwrap();
        x.pow(exponent).sum().backward().unwrap();
        x.grad().unwrap().to_f64_vec().unwrap()
    };
    assert_eq!(gradient(&[0.0, 2.0, -1.0], 0.0), [0.0, 0.0, 0.0], "x**0");
    assert_eq!(gradient(&[-2.0, 0.0, 3.0], 2.0), [-4.0, 0.0, 6.0]);
    assert_eq!(gradient(&[-2.0, 0.0, 3.0], 3.0), [12.0, 0.0, 27.0]);
    assert_eq!(gradient(&[-2.0, 0.0, 3.0], 5.0), [80.0, 0.0, 405.0]);
    assert_eq!(gradient(&[-2.0, 4.0], -2.0), [0.25, -2.0 / 64.0]);
    assert_eq!(gradient(&[0.0, 4.0], 0.5), [f64::INFINITY, 0.25], "x**0.5 at 0, as PyTorch answers");
    assert_eq!(gradient(&[0.0, 2.0], 1.0), [1.0, 1.0]);
    let (x, e) = (Tensor::from_slice(&[0.0f64, 2.0]), Tensor::from_slice(&[2.0f64, 3.0]));
    let e = e.requires_grad_(true).unwrap();
    x.pow(&e).sum().backward().unwrap();
    assert_close("0**e by e", &e.grad().unwrap(), &[0.0, 8.0 * 2f64.ln()], 1e-15, 0.0);
    // A tensor of exponents takes the general way; whole powers of negative numbers are defined there too.
    let (x, e) = (Tensor::from_slice(&[-2.0f64, -3.0]), Tensor::from_slice(&[3.0f64, 2.0]));
    let x = x.requires_grad_(true).unwrap();
    let y = x.pow(&e);
    assert_eq!(y.to_f64_vec().unwrap(), [-8.0, 9.0]);
    y.sum().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_f64_vec().unwrap(), [12.0, -6.0]);
}
