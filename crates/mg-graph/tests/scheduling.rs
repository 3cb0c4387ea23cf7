//! What a graph becomes: how many launches, what they compute, whose memory they use.

mod common;

use common::*;
use mg_device::{DType, Device, Layout, Shape};
use mg_graph::{Node, Value, clear_plans, explain, realize};
use mg_kernels::{ReduceKind, Row};

fn launches(nodes: &[&Node]) -> usize {
    explain(nodes).unwrap().launches.len()
}

fn operations(nodes: &[&Node]) -> Vec<String> {
    explain(nodes).unwrap().launches.into_iter().flat_map(|l| l.operations).collect()
}

fn ones(a: &Node) -> Node {
    Node::scalar(1.0, a.dtype(), a.device(), true)
}

/// A person's handle.
struct Held(Node);

impl Held {
    fn new(node: &Node) -> Held {
        node.hold();
        Held(node.clone())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.let_go();
    }
}

#[test]
fn a_chain_with_its_gradients_is_one_launch() {
    let _turn = alone();
    let (a, b) = (floats(&[3000], 1), floats(&[3000], 2));
    let d = add(&mul(&a, &b), &a);
    let r = map(Row::Relu, &[&d]);
    let y = map(Row::Square, &[&r]).reduce(ReduceKind::Sum, 1, false).unwrap();
    let dr = add(&r, &r);
    let dd = map(Row::Gate, &[&d, &dr]);
    let da = add(&mul(&dd, &b), &dd);
    let db = mul(&dd, &a);
    assert_eq!(launches(&[&y, &da, &db]), 1);
    realize(&[&y, &da, &db]).unwrap();
    let (a, b, da, db) = (f32s(&a), f32s(&b), f32s(&da), f32s(&db));
    for i in 0..3000 {
        let d = a[i] * b[i] + a[i];
        let g = if d > 0.0 { 2.0 * d } else { 0.0 };
        assert_eq!((da[i], db[i]), (g * b[i] + g, g * a[i]), "at {i}");
    }
}

fn softmax(x: &Node, axes: u16) -> Node {
    let e = map(Row::Exp, &[&map(Row::Sub, &[x, &reduce(x, ReduceKind::Max, axes)])]);
    map(Row::Div, &[&e, &reduce(&e, ReduceKind::Sum, axes)])
}

#[test]
fn softmax_is_one_launch() {
    let _turn = alone();
    for dims in [&[64usize, 10][..], &[3, 5000], &[2, 3, 4, 33]] {
        let x = floats(dims, 3);
        let axes = 1 << (dims.len() - 1);
        let y = softmax(&x, axes);
        assert_eq!(launches(&[&y]), 1, "{dims:?}");
        let sums = f32s(&y.reduce(ReduceKind::Sum, axes, false).unwrap());
        assert!(sums.iter().all(|s| (s - 1.0).abs() < 1e-5), "{dims:?}: {sums:?}");
    }
}

#[test]
fn layer_norm_with_all_its_gradients_is_one_launch() {
    let _turn = alone();
    let (n, c) = (64, 256);
    let (x, dy) = (floats(&[n, c], 1), floats(&[n, c], 2));
    let (gamma, beta) = (floats(&[c], 3), floats(&[c], 4));
    let mean = |a: &Node| mul(&reduce(a, ReduceKind::Sum, 2), &scalar(1.0 / c as f64));
    let centred = map(Row::Sub, &[&x, &mean(&x)]);
    let variance = mean(&map(Row::Square, &[&centred]));
    let scale = map(Row::Div, &[&ones(&x), &map(Row::Sqrt, &[&add(&variance, &scalar(1e-5))])]);
    let hat = mul(&centred, &scale);
    let y = add(&mul(&hat, &gamma), &beta);
    let dgamma = mul(&dy, &hat).reduce(ReduceKind::Sum, 1, false).unwrap();
    let dbeta = dy.reduce(ReduceKind::Sum, 1, false).unwrap();
    let dhat = mul(&dy, &gamma);
    let along = mul(&hat, &mean(&mul(&dhat, &hat)));
    let dx = mul(&scale, &map(Row::Sub, &[&map(Row::Sub, &[&dhat, &mean(&dhat)]), &along]));
    let all = [&y, &dx, &dgamma, &dbeta];
    assert_eq!(launches(&all), 1, "{}", explain(&all).unwrap());
    realize(&all).unwrap();
    // The gradient of a function of the normalised row has no component along ones, nor along the row.
    let sums = f32s(&dx.reduce(ReduceKind::Sum, 2, false).unwrap());
    assert!(sums.iter().all(|s| s.abs() < 1e-3), "{sums:?}");
    let want = f32s(&dy);
    let got = f32s(&dbeta);
    for j in 0..c {
        let exact: f64 = (0..n).map(|i| want[i * c + j] as f64).sum();
        assert!((got[j] as f64 - exact).abs() < 1e-4);
    }
}

#[test]
fn cross_entropy_with_its_gradient_is_one_launch() {
    let _turn = alone();
    let (n, classes) = (128, 10);
    let x = floats(&[n, classes], 5);
    let labels: Vec<i64> = (0..n as i64).map(|i| i * 7 % classes as i64).collect();
    let labels = data(&labels, &[n, 1]).guard(0, classes);
    let here = map(Row::Eq, &[&Node::ramp(Shape::of(&[1, classes]), Device::cpu()), &labels]);
    let shifted = map(Row::Sub, &[&x, &reduce(&x, ReduceKind::Max, 2)]);
    let e = map(Row::Exp, &[&shifted]);
    let sum = reduce(&e, ReduceKind::Sum, 2);
    let zero = Node::scalar(0.0, DType::F32, Device::cpu(), true);
    let picked = reduce(&map(Row::Where, &[&here, &shifted, &zero]), ReduceKind::Sum, 2);
    let each = map(Row::Sub, &[&map(Row::Log, &[&sum]), &picked]);
    let loss = mul(&each.reduce(ReduceKind::Sum, 3, false).unwrap(), &scalar(1.0 / n as f64));
    let hot = here.cast(DType::F32);
    let grad = mul(&map(Row::Sub, &[&map(Row::Div, &[&e, &sum]), &hot]), &scalar(1.0 / n as f64));
    assert_eq!(launches(&[&loss, &grad]), 1, "{}", explain(&[&loss, &grad]).unwrap());
    realize(&[&loss, &grad]).unwrap();
    let rows = f32s(&grad.reduce(ReduceKind::Sum, 2, false).unwrap());
    assert!(rows.iter().all(|s| s.abs() < 1e-6), "{rows:?}");
    let loss = f32s(&loss)[0];
    assert!(loss > 1.0 && loss < 5.0, "{loss}");
}

#[test]
fn a_product_takes_bias_and_activation_as_its_epilogue() {
    let _turn = alone();
    let (x, w, b) = (floats(&[33, 20], 1), floats(&[20, 17], 2), floats(&[17], 3));
    let product = x.matmul(&w).unwrap();
    let y = map(Row::Relu, &[&add(&product, &b)]);
    let plan = explain(&[&y]).unwrap();
    assert_eq!(plan.launches.len(), 1, "{plan}");
    assert_eq!(plan.launches[0].operations, ["matmul", "add", "relu"]);
    let separate = f32s(&x.matmul(&w).unwrap());
    let (got, bias) = (f32s(&y), f32s(&b));
    for (i, &p) in separate.iter().enumerate() {
        assert_eq!(got[i], (p + bias[i % 17]).max(0.0), "at {i}");
    }
}

#[test]
fn scalar_mathematics_after_a_sum_is_part_of_its_launch() {
    let _turn = alone();
    let x = floats(&[5000], 1);
    let s = x.reduce(ReduceKind::Sum, 1, false).unwrap();
    let y = map(Row::Tanh, &[&add(&mul(&s, &scalar(0.25)), &scalar(1.0))]);
    assert_eq!(launches(&[&y]), 1);
    let want = f32s(&x.reduce(ReduceKind::Sum, 1, false).unwrap())[0] * 0.25 + 1.0;
    assert!((f32s(&y)[0] - want.tanh()).abs() < 1e-6);
}

#[test]
fn independent_updates_of_parameters_are_one_launch() {
    let _turn = alone();
    let shapes: [&[usize]; 6] = [&[40, 30], &[30], &[30, 20], &[20], &[20, 10], &[10]];
    let rate = scalar(0.1);
    let params: Vec<Node> = shapes.iter().enumerate().map(|(i, s)| floats(s, i as u64)).collect();
    let grads: Vec<Node> = shapes.iter().enumerate().map(|(i, s)| floats(s, 50 + i as u64)).collect();
    let new: Vec<Node> =
        params.iter().zip(&grads).map(|(p, g)| map(Row::Sub, &[p, &mul(g, &rate)])).collect();
    let all: Vec<&Node> = new.iter().collect();
    assert_eq!(launches(&all), 1, "{}", explain(&all).unwrap());
    realize(&all).unwrap();
    for ((p, g), n) in params.iter().zip(&grads).zip(&new) {
        let (p, g, n) = (f32s(p), f32s(g), f32s(n));
        assert!((0..p.len()).all(|i| n[i] == p[i] - g[i] * 0.1));
    }
}

#[test]
fn a_loss_looked_at_after_an_update_was_computed_with_it() {
    let _turn = alone();
    let (w, x) = (floats(&[500], 1), floats(&[500], 2));
    let product = mul(&w, &x);
    let loss = map(Row::Square, &[&product]).reduce(ReduceKind::Sum, 1, false).unwrap();
    let grad = mul(&add(&product, &product), &x);
    let new = map(Row::Sub, &[&w, &mul(&grad, &scalar(0.01))]);
    let held = Held::new(&loss);
    assert_eq!(launches(&[&new]), 1);
    realize(&[&new]).unwrap();
    assert!(!held.0.is_pending(), "the loss shares the work of the update");
    assert_eq!(launches(&[&loss]), 0);
    let (w, x) = (f32s(&w), f32s(&x));
    let exact: f64 = w.iter().zip(&x).map(|(w, x)| ((w * x) * (w * x)) as f64).sum();
    assert!((f32s(&loss)[0] as f64 - exact).abs() < 1e-3);
}

#[test]
fn a_held_value_computed_from_overwritten_memory_comes_along() {
    let _turn = alone();
    let w = floats(&[1000], 1);
    let before = f32s(&w);
    // Nothing is shared but the parameter itself, which the update takes over.
    let norm = map(Row::Abs, &[&w]);
    let new = map(Row::Neg, &[&w]);
    let held = Held::new(&norm);
    drop(w);
    realize(&[&new]).unwrap();
    assert_same(&f32s(&held.0), &before.iter().map(|v| v.abs()).collect::<Vec<_>>(), "norm");
    assert_same(&f32s(&new), &before.iter().map(|v| -v).collect::<Vec<_>>(), "update");
}

#[test]
fn what_nobody_asks_for_costs_nothing() {
    let _turn = alone();
    let x = floats(&[100], 1);
    let shared = map(Row::Exp, &[&x]);
    let asked = map(Row::Neg, &[&shared]);
    let dear = map(Row::Tanh, &[&shared]);
    assert_eq!(operations(&[&asked]), ["exp", "neg"]);
    {
        let _held = Held::new(&dear);
        let with = operations(&[&asked]);
        assert!(with.contains(&"tanh".to_string()), "{with:?}");
    }
    assert_eq!(operations(&[&asked]), ["exp", "neg"], "a handle that is gone asks for nothing");
    realize(&[&asked]).unwrap();
    assert!(dear.is_pending() && shared.is_pending());
    // A held value that shares nothing with what is asked stays as it is.
    let far = map(Row::Sin, &[&floats(&[100], 2)]);
    let held = Held::new(&far);
    realize(&[&map(Row::Cos, &[&floats(&[100], 3)])]).unwrap();
    assert!(held.0.is_pending());
}

#[test]
fn an_optional_value_is_computed_where_it_costs_no_launch() {
    let _turn = alone();
    let (x, w) = (floats(&[30, 40], 1), floats(&[40, 20], 2));
    let shared = map(Row::Exp, &[&x]);
    let free = mul(&shared, &x);
    let dear = shared.matmul(&w).unwrap();
    for node in [&free, &dear] {
        node.set_optional(true);
        node.announce();
    }
    let y = map(Row::Neg, &[&shared]);
    assert_eq!(launches(&[&y]), 1);
    realize(&[&y]).unwrap();
    assert!(!free.is_pending(), "it is one operation more in the same launch");
    assert!(dear.is_pending(), "a product is a launch of its own");
    let want: Vec<f32> = f32s(&x);
    let e = f32s(&map(Row::Exp, &[&x]));
    assert_eq!(f32s(&free), (0..1200).map(|i| e[i] * want[i]).collect::<Vec<_>>());
}

fn active() -> usize {
    Device::cpu().memory_stats().active
}

#[test]
fn a_source_that_dies_gives_its_memory() {
    let _turn = alone();
    let n = 1 << 18;
    let mut x = floats(&[n], 1);
    let mut want = f32s(&x);
    clear_plans();
    realize(&[&map(Row::Neg, &[&floats(&[n], 2)])]).unwrap();
    let (before, _) = (active(), Device::cpu().reset_peak());
    for _ in 0..4 {
        x = map(Row::Relu, &[&map(Row::Neg, &[&x])]);
        realize(&[&x]).unwrap();
        want.iter_mut().for_each(|v| *v = if -*v <= 0.0 { 0.0 } else { -*v });
    }
    assert_eq!(active(), before);
    let peak = Device::cpu().memory_stats().peak;
    assert!(peak < before + n * 4, "a copy was made: {} bytes over {before}", peak - before);
    assert_same(&f32s(&x), &want, "four steps");
}

/// What computing `-x` must leave alone, given who else can see `x`.
fn assert_kept(name: &str, read: impl FnOnce(&Node) -> Vec<Node>) {
    let x = floats(&[1000], 7);
    let want = f32s(&x);
    let others = read(&x);
    let y = map(Row::Neg, &[&x]);
    drop(x);
    realize(&[&y]).unwrap();
    assert_same(&f32s(&y), &want.iter().map(|v| -v).collect::<Vec<_>>(), name);
    for other in &others {
        let mut got = f32s(other);
        got.truncate(1000);
        assert_same(&got, &want[..got.len()], &format!("{name}: {other:?}"));
    }
}

#[test]
fn memory_that_somebody_can_still_read_is_never_taken() {
    let _turn = alone();
    assert_kept("another handle", |x| vec![x.clone()]);
    assert_kept("a view", |x| vec![x.slice(0, 0, 1, 10).unwrap()]);
    assert_kept("a node over the same buffer", |x| vec![Node::from_value(value(x))]);
    assert_kept("a pending reader", |x| vec![add(x, &scalar(0.0))]);
    assert_kept("a pending reader of a reader", |x| vec![map(Row::Neg, &[&map(Row::Neg, &[x])])]);
    assert_kept("a pending alias", |x| vec![x.alias()]);
    assert_kept("a pending alias that is held", |x| {
        let alias = x.alias();
        alias.hold();
        vec![alias]
    });
    assert_kept("an alias of an alias", |x| vec![x.alias().alias()]);
    assert_kept("a pending view of a tracked node", |x| {
        x.set_tracked(true);
        vec![x.slice(0, 0, 1, 500).unwrap()]
    });
    assert_kept("a realised alias", |x| {
        let alias = x.alias();
        realize(&[&alias]).unwrap();
        vec![alias]
    });
    assert_kept("a pending concatenation", |x| vec![Node::concat(&[x, x], 0).unwrap()]);
    assert_kept("a pending gather", |x| {
        let index: Vec<i64> = (0..1000).collect();
        vec![x.gather(0, &data(&index, &[1000])).unwrap()]
    });
    assert_kept("an optional reader that costs a launch", |x| {
        // Touched by what it shares with the plan, but not part of it.
        let square = x.reshape(Shape::of(&[10, 100])).unwrap();
        let mut eye = vec![0f32; 10_000];
        (0..100).for_each(|i| eye[i * 101] = 1.0);
        let product = square.matmul(&data(&eye, &[100, 100])).unwrap();
        product.set_optional(true);
        product.announce();
        vec![product.reshape(Shape::of(&[1000])).unwrap()]
    });
}

#[test]
fn a_tracked_node_keeps_its_sources() {
    let _turn = alone();
    let x = floats(&[1000], 1);
    let want = f32s(&x);
    x.set_tracked(true);
    let y = map(Row::Exp, &[&x]);
    assert!(y.is_tracked());
    drop(x);
    realize(&[&y]).unwrap();
    let sources = y.sources();
    assert_eq!(f32s(&sources[0]), want);
    drop(sources);
    y.release();
    assert!(y.sources().is_empty(), "after the walk they go");
}

#[test]
fn the_residual_of_a_product_is_not_overwritten_while_the_product_reads_it() {
    let _turn = alone();
    for n in [3, 16, 64, 200, 300] {
        let (x, w) = (floats(&[n, n], 1), floats(&[n, n], 2));
        let product = f32s(&x.matmul(&w).unwrap());
        let want: Vec<f32> = product.iter().zip(f32s(&x)).map(|(p, x)| p + x).collect();
        for operand in 0..2 {
            let (x, w) = (floats(&[n, n], 1), floats(&[n, n], 2));
            let (product, residual) = (x.matmul(&w).unwrap(), if operand == 0 { &x } else { &w });
            let y = add(&product, residual);
            let want = if operand == 0 {
                want.clone()
            } else {
                f32s(&x.matmul(&w).unwrap()).iter().zip(f32s(&w)).map(|(p, w)| p + w).collect()
            };
            drop((x, w, product));
            assert_same(&f32s(&y), &want, &format!("{n}, operand {operand}"));
        }
    }
}

#[test]
fn a_long_chain_is_computed() {
    let _turn = alone();
    let started = std::time::Instant::now();
    let x = data(&[1f32, 2.0, 3.0], &[3]);
    let one = scalar(1.0);
    let mut y = x.clone();
    for _ in 0..10_000 {
        y = add(&y, &one);
    }
    let plan = explain(&[&y]).unwrap();
    assert!(plan.launches.len() < 400, "{} launches", plan.launches.len());
    assert_eq!(f32s(&y), [10_001.0, 10_002.0, 10_003.0]);
    assert!(started.elapsed().as_secs_f64() < 5.0, "{:?}", started.elapsed());
}

#[test]
fn many_operands_are_added() {
    let _turn = alone();
    for n in [12, 13, 24, 25, 30, 100] {
        let operands: Vec<Node> = (0..n).map(|i| floats(&[50], i)).collect();
        let mut sum = operands[0].clone();
        let mut want = f32s(&sum);
        for operand in &operands[1..] {
            sum = add(&sum, operand);
            want.iter_mut().zip(f32s(operand)).for_each(|(w, v)| *w += v);
        }
        assert_eq!(f32s(&sum), want, "{n}");
        // The same as a tree.
        let mut level: Vec<Node> = operands.clone();
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|p| if p.len() == 2 { add(&p[0], &p[1]) } else { p[0].clone() })
                .collect();
        }
        let total: f32 = f32s(&level[0]).iter().sum();
        assert!((total - want.iter().sum::<f32>()).abs() < 1e-2);
    }
}

#[test]
fn views_of_one_operand_are_many_operands() {
    let _turn = alone();
    let n = 60;
    let x = floats(&[n + 40], 1);
    let values = f32s(&x);
    x.set_tracked(true);
    let mut sum = x.slice(0, 0, 1, n).unwrap();
    let mut want: Vec<f32> = values[..n].to_vec();
    for shift in 1..40 {
        sum = add(&sum, &x.slice(0, shift, 1, n).unwrap());
        (0..n).for_each(|i| want[i] += values[i + shift]);
    }
    assert_eq!(f32s(&sum), want);
}

#[test]
fn repeated_differences_do_not_take_exponential_time() {
    let _turn = alone();
    let started = std::time::Instant::now();
    let n = 64;
    let values: Vec<i64> = (0..n as i64).map(|i| i * i * i % 1000).collect();
    let (mut x, mut want) = (data(&values, &[n]), values);
    for _ in 0..20 {
        let len = want.len() - 1;
        x = map(Row::Sub, &[&x.slice(0, 1, 1, len).unwrap(), &x.slice(0, 0, 1, len).unwrap()]);
        want = want.windows(2).map(|w| w[1] - w[0]).collect();
    }
    assert_eq!(i64s(&x), want);
    assert!(started.elapsed().as_secs_f64() < 2.0, "{:?}", started.elapsed());
}

#[test]
fn repeated_symmetric_sums_do_not_take_exponential_time() {
    let _turn = alone();
    let started = std::time::Instant::now();
    let values: Vec<i64> = (0..9).collect();
    let mut x = data(&values, &[3, 3]);
    let mut want = values;
    for _ in 0..16 {
        x = add(&x, &x.permute(&[1, 0]).unwrap());
        want = (0..9).map(|i| want[i] + want[i % 3 * 3 + i / 3]).collect();
    }
    assert_eq!(i64s(&x), want);
    assert!(started.elapsed().as_secs_f64() < 2.0, "{:?}", started.elapsed());
}

#[test]
fn pending_work_computes_itself_when_there_is_much() {
    let _turn = alone();
    let x = floats(&[10], 1);
    let nodes: Vec<Node> = (0..20_000).map(|i| add(&x, &scalar(i as f64))).collect();
    let held: Vec<Held> = nodes.iter().map(Held::new).collect();
    let done = held.iter().filter(|h| !h.0.is_pending()).count();
    assert!(done >= 16_000, "{done} of 20000 were computed");
    let first = f32s(&x)[0];
    for i in [0, 1, 16_383, 16_384, 19_999] {
        assert_eq!(f32s(&nodes[i])[0], first + i as f32);
    }
}

#[test]
fn different_operations_of_one_shape_have_different_plans() {
    let _turn = alone();
    clear_plans();
    let x = data(&[3f32, -1.0, 2.0], &[3]);
    let sums = [ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Max, ReduceKind::Min];
    for (kind, want) in sums.into_iter().zip([4f32, -6.0, 3.0, -1.0]) {
        for axes in [true, false] {
            assert_eq!(f32s(&x.reduce(kind, 1, axes).unwrap()), [want], "{kind:?}");
        }
    }
    for (kind, want) in [(ReduceKind::ArgMax, 0), (ReduceKind::ArgMin, 1)] {
        for axes in [true, false] {
            assert_eq!(i64s(&x.reduce(kind, 1, axes).unwrap()), [want], "{kind:?}");
        }
    }
    let index = data(&[1i64; 16], &[2, 2, 2, 2]);
    let y = floats(&[2, 2, 2, 2], 1);
    for axis in 0..4 {
        let (gathered, added) = (y.gather(axis, &index).unwrap(), y.scatter_add(axis, &index, 2).unwrap());
        let (values, got) = (f32s(&y), f32s(&gathered));
        let bit = 8 >> axis;
        assert_eq!(got, (0..16).map(|i| values[i | bit]).collect::<Vec<_>>(), "gather along {axis}");
        let want: Vec<f32> =
            (0..16).map(|i| if i & bit == 0 { 0.0 } else { values[i & !bit] + values[i] }).collect();
        assert_eq!(f32s(&added), want, "scatter_add along {axis}");
    }
}

#[test]
fn sources_at_other_offsets_use_the_same_plan() {
    let _turn = alone();
    let values: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let all = value(&data(&values, &[100]));
    let part = |offset: usize| {
        let layout = Layout::new(Shape::of(&[10]), &[2], offset).unwrap();
        Node::from_value(Value { buffer: all.buffer.clone(), layout })
    };
    clear_plans();
    for offset in [0, 1, 7, 50] {
        let y = map(Row::Neg, &[&part(offset)]);
        assert_eq!(f32s(&y), (0..10).map(|i| -((offset + 2 * i) as f32)).collect::<Vec<_>>());
    }
    assert_eq!(mg_graph::plan_stats().cached, 1);
}

#[test]
fn an_explanation_is_well_formed() {
    let _turn = alone();
    let (x, w) = (floats(&[8, 16], 1), floats(&[16, 4], 2));
    let y = softmax(&x.matmul(&w).unwrap(), 2);
    let plan = explain(&[&y]).unwrap();
    assert!(y.is_pending(), "explaining computes nothing");
    assert_eq!(plan.launches.len(), 2, "{plan}");
    let text = plan.to_string();
    assert!(text.starts_with("2 launches, reads "), "{text}");
    assert!(
        text.contains("matmul [8, 4]") && text.contains("exp") && text.contains("scheduling.rs:"),
        "{text}"
    );
    let product = &plan.launches[0];
    assert_eq!((product.bytes_read, product.bytes_written), ((8 * 16 + 16 * 4) * 4, 8 * 4 * 4));
    assert_eq!(product.flops, Some(2 * 8 * 16 * 4));
    assert_eq!(plan.launches[1].after, [0]);
    assert_eq!((plan.launches[1].bytes_read, plan.launches[1].bytes_written), (8 * 4 * 4, 8 * 4 * 4));
    let dot = plan.to_dot();
    assert!(dot.starts_with("digraph plan {\n") && dot.ends_with("}\n"), "{dot}");
    for line in dot.lines().filter(|l| l.contains("label=")) {
        assert_eq!(line.matches('"').count() % 2, 0, "{line}");
        assert!(line.trim_start().starts_with('n') && line.ends_with("\"];"), "{line}");
    }
    assert!(dot.contains("n0 -> n1;"), "{dot}");
    realize(&[&y]).unwrap();
    assert_eq!(explain(&[&y]).unwrap().to_string(), "0 launches, reads 0 B, writes 0 B");
}

/// Bytes that all launches of a plan move.
fn moved(nodes: &[&Node]) -> u64 {
    explain(nodes).unwrap().launches.iter().map(|l| l.bytes_read + l.bytes_written).sum()
}

/// A sum that grows by a branch in each layer, each layer reading it, as networks with residual connections do: what is
/// moved grows as the depth and not as its square, and the answer has the same bits as one sum after the other.
#[test]
fn a_residual_sum_is_stored_on_its_way() {
    let _turn = alone();
    let (rows, columns) = (1024, 512);
    let network = |depth: usize| {
        let start = floats(&[rows, columns], 1);
        let (mut sum, mut read) = (start.clone(), vec![]);
        let mut branches = vec![start];
        for layer in 0..depth {
            let branch = floats(&[rows, columns], 2 + layer as u64);
            sum = add(&sum, &branch);
            branches.push(branch);
            // A norm over the other axis cannot share a program with the sums.
            read.push(softmax(&sum, 1));
            read.push(softmax(&sum, 2));
        }
        (read, branches)
    };
    let traffic = |depth: usize| {
        let (read, _) = network(depth);
        moved(&read.iter().collect::<Vec<_>>()) as f64
    };
    let (four, eight, sixteen) = (traffic(4), traffic(8), traffic(16));
    assert!((sixteen - eight) / (eight - four) < 2.2, "{four}, {eight}, {sixteen}");
    let (read, branches) = network(4);
    realize(&read.iter().collect::<Vec<_>>()).unwrap();
    let mut sum = branches[0].clone();
    for (layer, branch) in branches[1..].iter().enumerate() {
        sum = add(&sum, branch);
        realize(&[&sum]).unwrap();
        for axis in [0, 1] {
            let alone = softmax(&sum, 1 << axis);
            assert_same(&f32s(&read[2 * layer + axis]), &f32s(&alone), "a layer");
        }
    }
}

/// Sums so deep that the operands of one program do not suffice have one stored for that reason alone, until others are for their own: none
/// of them reads many branches then, wherever along the way it is.
#[test]
fn no_residual_sum_reads_many_branches() {
    let _turn = alone();
    let (rows, columns) = (1024, 512);
    for depth in [6, 11, 12, 13, 14, 18, 25] {
        let mut sum = floats(&[rows, columns], 1);
        let mut read = vec![];
        for layer in 0..depth {
            let branch = floats(&[rows, columns], 2 + layer as u64).cast(DType::BF16);
            realize(&[&branch]).unwrap();
            sum = add(&sum, &branch.cast(DType::F32));
            read.push(softmax(&sum, 1));
            read.push(softmax(&sum, 2));
        }
        let plan = explain(&read.iter().collect::<Vec<_>>()).unwrap();
        let most = plan.launches.iter().map(|l| l.bytes_read).max().unwrap();
        let own = (rows * columns * 4) as u64;
        assert!(
            most <= own + 3 * own / 2,
            "{depth} layers: one reads {} times a sum: {plan}",
            most as f64 / own as f64
        );
    }
}

/// What is computed for each channel is computed once, beside the sums that it comes from.
#[test]
fn channels_have_their_roots_computed_once() {
    let _turn = alone();
    let image = |side: usize| floats(&[16, 32, side, side], 1);
    let normed = |x: &Node| {
        let n = Node::scalar((x.shape().numel() / 32) as f64, DType::F32, Device::cpu(), true);
        let mean = map(Row::Div, &[&reduce(x, ReduceKind::Sum, 0b1101), &n]);
        let apart = map(Row::Sub, &[x, &mean]);
        let square = reduce(&map(Row::Square, &[&apart]), ReduceKind::Sum, 0b1101);
        map(Row::Div, &[&apart, &map(Row::Sqrt, &[&map(Row::Div, &[&square, &n])])])
    };
    let y = normed(&image(64));
    let plan = explain(&[&y]).unwrap();
    assert_eq!(plan.launches.len(), 2, "{plan}");
    assert!(plan.launches[0].operations.iter().any(|o| o == "sqrt"), "{plan}");
    assert!(!plan.launches[1].operations.iter().any(|o| o == "sqrt"), "{plan}");
    let small = explain(&[&normed(&image(4))]).unwrap();
    assert!(
        small.launches[1].operations.iter().any(|o| o == "sqrt"),
        "of small images it is not worth it: {small}"
    );
    assert!(f32s(&y).iter().all(|v| v.is_finite()));
}

/// A counter that nobody reads, beside steps that are: what waits is computed now and then, so it grows no longer and no heavier.
#[test]
fn what_is_counted_and_never_read_does_not_wait_for_ever() {
    let _turn = alone();
    let mut count = Held::new(&data(&[0.0f32], &[1]));
    let (mut waits, mut longest) = (0, 0);
    for step in 0..1000 {
        count = Held::new(&add(&count.0, &scalar(1.0)));
        waits = if count.0.is_pending() { waits + 1 } else { 0 };
        longest = longest.max(waits);
        realize(&[&reduce(&data(&[step as f32, 1.0], &[2]), ReduceKind::Sum, 1)]).unwrap();
    }
    assert!(longest < 100, "it has waited for {longest} steps");
    assert_eq!(f32s(&count.0), [1000.0]);
}

/// Results that are kept and not read, beside steps that are: they are computed now and then, and keep nothing else.
#[test]
fn what_is_held_and_not_read_is_computed_when_others_were() {
    let _turn = alone();
    let mut kept = vec![];
    for step in 0..40 {
        kept.push(Held::new(&add(&data(&[step as f32], &[1]), &scalar(1.0))));
        realize(&[&reduce(&data(&[step as f32, 1.0], &[2]), ReduceKind::Sum, 1)]).unwrap();
        let waiting = kept.iter().filter(|held| held.0.is_pending()).count();
        assert!(waiting <= 17, "{waiting} wait");
    }
    assert_eq!(f32s(&kept[3].0), [4.0]);
}
