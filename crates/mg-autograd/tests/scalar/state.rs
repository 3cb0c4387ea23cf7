//! Graphs as data: copies, states, drawings.

use mg_autograd::scalar::{Direction, GraphState, Side, Span, Value};
use mg_device::ErrorKind;

use crate::{assert_close, cuda, many};

#[test]
fn a_copy_is_deep_and_shares_what_was_shared() {
    let x = Value::new(3.0).labelled("x");
    let square = &x * &x;
    let y = &square * &square + 2.0 * &x;
    y.backward();
    let copy = y.deep_clone();
    assert_eq!((copy.data(), copy.grad(), copy.op()), (y.data(), y.grad(), y.op()));
    let (ours, theirs) = (y.trace(), copy.trace());
    assert_eq!(ours.len(), theirs.len());
    assert!(theirs.iter().all(|t| ours.iter().all(|o| !o.is(t))));
    let x2 = theirs.iter().find(|v| v.is_leaf()).unwrap();
    assert_eq!((x2.grad(), x2.label().as_deref()), (x.grad(), Some("x")));
    copy.backward();
    assert_eq!((x.grad(), x2.grad()), (110.0, 220.0));
}

#[test]
fn a_state_builds_the_graph_it_was_taken_of() {
    let (a, b) = (Value::new(1.25), Value::new(-0.5));
    let w = Span::from([a.clone(), b.clone(), Value::new(0.1)]);
    let n = w.affine(&Span::from([b.clone(), &a + 1.0])).unwrap();
    let moved = n.to(cuda(3)).unwrap().cpu();
    let all = [
        2.0 - &a,
        &a / &b,
        a.pow(3.0),
        a.rpow(2.0),
        a.pow(&b),
        (-&a).exp(),
        a.log() + b.tanh(),
        b.sigmoid().relu(),
        moved,
    ];
    let y: Value = all.iter().sum();
    y.backward();
    let state = GraphState::of([&y, &a, &n]);
    let [y2, a2, n2] = state.build().unwrap().try_into().unwrap();
    assert_eq!(GraphState::of([&y2, &a2, &n2]).nodes.len(), state.nodes.len());
    let ops = |v: &Value| {
        let mut ops: Vec<String> = v.trace().iter().map(|v| v.op().into_owned()).collect();
        ops.sort();
        ops
    };
    assert_eq!(ops(&y), ops(&y2));
    assert_eq!((y2.data(), n2.data(), a2.grad()), (y.data(), n.data(), a.grad()));
    a2.zero_grad();
    y2.backward();
    assert_close(a2.grad(), a.grad(), 1e-12);
}

#[test]
fn a_state_that_makes_no_sense_is_refused() {
    let x = Value::new(1.0);
    let good = GraphState::of([&(&x + &x * 2.0)]);
    assert_eq!(good.nodes[1].number, Some((Side::Right, 2.0)));
    let refused = |change: fn(&mut GraphState)| {
        let mut state = good.clone();
        change(&mut state);
        let error = state.build().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Format(_)), "{error}");
        error.to_string()
    };
    assert!(
        refused(|s| s.nodes[1].op = "%".into()).contains("node 1 (op \"%\"): there is no such operation")
    );
    assert!(refused(|s| s.nodes[1].parents = vec![1]).contains("operand 1 does not come before it"));
    assert!(refused(|s| s.nodes[2].parents = vec![0]).contains("does not take 1 values"));
    assert!(refused(|s| s.roots = vec![3]).contains("root 3 is not one of 3 nodes"));
    assert!(refused(|s| s.nodes[0].number = Some((Side::Left, 1.0))).contains("and a number"));
    assert!(refused(|s| s.nodes[2].op = "to".into()).contains("does not take 2 values"));
}

#[test]
fn dot_shows_records_and_operations() {
    let (a, b) = (Value::new(2.0).labelled("a"), Value::new(-3.0).labelled("b\"{x}"));
    let y = (&a * &b).pow(2) + 1.0;
    y.backward();
    let dot = y.to_dot(Direction::LeftToRight);
    for part in [
        "rankdir=LR",
        "[label=\"{ a | data 2.0000 | grad 36.0000 }\" shape=record]",
        "[label=\"{ b\\\"\\{x\\} | data -3.0000 | grad -24.0000 }\" shape=record]",
        "[label=\"{ data 1.0000 | grad 1.0000 }\" shape=record]",
        "[label=\"**2\"]",
    ] {
        assert!(dot.contains(part), "{part} is not in {dot}");
    }
    // Five values, the number 1 among them a sixth; an edge into each operation for each operand, and one out.
    assert_eq!(dot.matches("shape=record").count(), 6);
    assert_eq!(dot.matches("->").count(), 5 + 3);
    assert!(y.to_dot(Direction::TopToBottom).contains("rankdir=TB"));
    assert!("LR".parse::<Direction>().is_ok() && "RL".parse::<Direction>().is_err());
}

#[test]
fn svg_is_drawn_without_graphviz() {
    let x = Value::new(2.0).labelled("x < \"1\" & y");
    let y = (&x * &x + 1.0).tanh() * &x;
    y.backward();
    for direction in [Direction::LeftToRight, Direction::TopToBottom] {
        let svg = y.to_svg(direction);
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("x &lt; &quot;1&quot; &amp; y") && svg.contains(">tanh</text>"));
        assert_eq!(svg.matches("<rect").count(), 6);
        assert_eq!(svg.matches("<ellipse").count(), 4);
        assert_eq!(svg.matches("<path class=\"edge\"").count(), 6 + 4);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
    assert!(Value::new(1.0).to_svg(Direction::LeftToRight).contains("data 1.0000"));
}

#[test]
fn a_large_graph_is_drawn_too() {
    // Every value uses the first one: with places for all its edges the drawing would be quadratic.
    let x = Value::new(1.0);
    let mut y = x.clone();
    for _ in 0..many(3000) {
        y = (&y * 0.5 + &x).tanh();
    }
    assert!(y.to_svg(Direction::LeftToRight).ends_with("</svg>\n"));
}

#[test]
fn labels_go_with_their_values() {
    let x = Value::new(1.0).labelled("x");
    assert_eq!(x.clone().label().as_deref(), Some("x"));
    x.set_label("");
    assert_eq!(x.label(), None);
    drop(x.labelled("x"));
    // Whatever takes its place has no name.
    assert!((0..1000).all(|i| Value::new(f64::from(i)).label().is_none()));
}

#[test]
fn a_part_goes_on_from_what_is_there() {
    let (x, y) = (Value::new(2.0), Value::new(5.0));
    let a = &x * &y + 1.0;
    let b = a.tanh() + &x;
    // From `a` on, which somebody knows.
    let new = b.trace_until(|v| v.is(&a) || v.is(&x));
    assert_eq!(new.len(), 2);
    assert!(new[1].is(&b));
    let (state, outside) = GraphState::part(&new);
    assert_eq!(outside.len(), 2);
    assert!(outside.iter().any(|v| v.is(&a)) && outside.iter().any(|v| v.is(&x)));
    let others: Vec<Value> = outside.iter().map(|v| Value::new(v.data())).collect();
    let built = state.build_on(others.clone()).unwrap();
    assert_eq!(built[1].data(), b.data());
    built[1].backward();
    let grad = |of: &Value| others[outside.iter().position(|v| v.is(of)).unwrap()].grad();
    assert_eq!((grad(&x), x.grad()), (1.0, 0.0));
    assert_eq!(grad(&a), 1.0 - a.data().tanh().powi(2));
    // Fewer values than it goes on from.
    assert!(state.build_on(vec![]).is_err());
    assert!(b.trace_until(|_| true).is_empty());
    let all = b.trace_until(|_| false);
    assert_eq!(all.len(), b.trace().len());
    let place = |v: &Value| all.iter().position(|other| other.is(v)).unwrap();
    assert!(
        all.iter().all(|v| v
            .prev()
            .iter()
            .filter(|p| all.iter().any(|v| v.is(p)))
            .all(|p| place(p) < place(v)))
    );
}
