//! What is planned for gradients, in a process where nothing else is computed: what waits is computed by itself once enough else was computed or waits,
//! on other threads too, and a plan that is asked for then has no launches.

mod common;

use common::{Rng, assert_close, f32s, leaf};
use mg_autograd::{Backward, Tensor, explain, grad};
use mg_device::DType;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// One test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn values(t: &Tensor) -> Vec<f64> {
    t.to_f64_vec().unwrap()
}

fn grad_of(t: &Tensor) -> Vec<f64> {
    values(&t.grad().expect("a gradient"))
}

/// Launches, bytes read and bytes written that computing these would take.
fn cost(tensors: &[&Tensor]) -> (usize, u64, u64) {
    let plan = explain(tensors).unwrap();
    let bytes = plan.launches.iter().map(|l| (l.bytes_read, l.bytes_written));
    let (read, written) = bytes.fold((0, 0), |(r, w), (a, b)| (r + a, w + b));
    (plan.launches.len(), read, written)
}

/// Each element by itself: as many parts as there are elements, which are neither compared each with each nor added as wholes.
#[test]
fn many_parts_cost_their_number() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let n = 12_000;
    let numbers: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let x = f32s(&[n], &numbers).requires_grad_(true).unwrap();
    let parts: Vec<Tensor> = (0..n).rev().map(|i| x.select(0, i as isize).unwrap()).collect();
    let line = Tensor::stack(&parts.iter().collect::<Vec<_>>(), 0).unwrap();
    let start = Instant::now();
    (line * f32s(&[n], &numbers)).sum().backward().unwrap();
    let text = x.grad().unwrap().explain().unwrap().to_string();
    assert!(text.lines().next().is_some_and(|line| !line.contains("0 launches")), "{text}");
    assert!(text.lines().count() < 40, "one launch for each part");
    let wanted: Vec<f64> = numbers.iter().rev().map(|&v| f64::from(v)).collect();
    assert_eq!(grad_of(&x), wanted);
    assert!(start.elapsed() < Duration::from_secs(20), "it took minutes: {:?}", start.elapsed());
}

/// What is made of random numbers for each column is made once, and not for each element of all rows.
#[test]
fn random_numbers_are_drawn_once_for_many_readers() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let launches = |rows: usize| {
        let x = f32s(&[rows, 64], &vec![1.0; rows * 64]);
        let sum = x + Tensor::rand(&[64], DType::F32).unwrap() * 2.0;
        let sum_of = sum.explain().unwrap().launches.len();
        let all = sum.to_f64_vec().unwrap();
        assert!(all.chunks(64).all(|row| row == &all[..64]) && all[0] != all[1]);
        sum_of
    };
    assert_eq!([launches(16), launches(1 << 14)], [1, 2]);
    // So it is for several results, of which each is a program of its own.
    let drawn = |n: usize, results: isize| {
        let drawn = Tensor::rand(&[n, 8], DType::F32).unwrap() * 2.0 - 1.0;
        let part = |i: isize| (drawn.narrow(1, i, 1).unwrap().exp()).try_cumsum(0, None).unwrap();
        let sums: Vec<Tensor> = (0..results).map(part).collect();
        drop(drawn);
        let told = explain(&sums.iter().collect::<Vec<_>>()).unwrap();
        told.launches.iter().filter(|launch| launch.operations.iter().any(|name| name == "sub")).count()
    };
    assert_eq!([drawn(4, 8), drawn(1 << 15, 8)], [8, 1]);
    // A step and its gradient draw the same mask twice: that takes no memory.
    assert_eq!(drawn(1 << 16, 2), 2);
}

#[test]
fn gradients_that_nobody_reads_cost_nothing() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let n = 1 << 12;
    let mut rng = Rng(2);
    let data = |rng: &mut Rng, shape: &[usize]| {
        let n = shape.iter().product();
        f32s(shape, &rng.vec(n, -1.0, 1.0).iter().map(|&v| v as f32).collect::<Vec<_>>())
    };
    let x = data(&mut rng, &[64, 64]);
    let w = data(&mut rng, &[64, 64]).requires_grad_(true).unwrap();
    let v = data(&mut rng, &[64, 64]).requires_grad_(true).unwrap();
    let loss = x.matmul(&w).tanh().matmul(&v).square().mean();
    let forward = cost(&[&loss]);
    loss.backward().unwrap();
    let unread = cost(&[&loss]);
    assert_eq!(
        unread.0, forward.0,
        "launches for the loss alone: {forward:?} before backward, {unread:?} after"
    );
    let one = cost(&[&v.grad().unwrap()]);
    let both = cost(&[&v.grad().unwrap(), &w.grad().unwrap()]);
    assert!(one.0 < both.0, "the other gradient's product is not computed: {one:?}, {both:?}");
    // With no handle left, nothing at all is computed.
    let y = data(&mut rng, &[n]).requires_grad_(true).unwrap();
    let z = y.exp().sum();
    z.backward().unwrap();
    drop(z);
    // In a statement of its own: a handle on `x + 1` would be a reason to compute it.
    let total = (&x + 1.0).sum();
    let (launches, _, written) = cost(&[&total]);
    assert_eq!((launches, written), (1, 4));
}

/// Five elementwise operations and their whole backward pass are one launch, which reads each operand once and writes each
/// gradient once.
#[test]
fn a_line_and_its_gradients_are_one_launch() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let n = 1 << 16;
    let mut rng = Rng(3);
    let data = |rng: &mut Rng| {
        let v: Vec<f32> = rng.vec(n, -1.0, 1.0).iter().map(|&v| v as f32).collect();
        f32s(&[n], &v).requires_grad_(true).unwrap()
    };
    let (a, b) = (data(&mut rng), data(&mut rng));
    let y = (&a * &b + &a).relu().powf(2.0).sum();
    y.backward().unwrap();
    let (ga, gb) = (a.grad().unwrap(), b.grad().unwrap());
    let (launches, read, written) = cost(&[&y, &ga, &gb]);
    assert_eq!(launches, 1);
    assert_eq!(read, 2 * 4 * n as u64);
    assert_eq!(written, 2 * 4 * n as u64 + 4);
    let (av, bv) = (values(&a), values(&b));
    let h = |i: usize| (av[i] * bv[i] + av[i]).max(0.0);
    let expected_a: Vec<f64> = (0..n).map(|i| 2.0 * h(i) * (bv[i] + 1.0)).collect();
    let expected_b: Vec<f64> = (0..n).map(|i| 2.0 * h(i) * av[i]).collect();
    assert_close("∂a", &ga, &expected_a, 1e-5, 1e-6);
    assert_close("∂b", &gb, &expected_b, 1e-5, 1e-6);
    assert_close("y", &y, &[(0..n).map(|i| h(i) * h(i)).sum()], 1e-6, 0.0);
}

#[test]
fn gradients_of_parts_are_laid_side_by_side() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let steps = 50;
    let x = leaf(&[steps, 3], &vec![1.0; steps * 3]);
    let mut sum = Tensor::scalar(0.0f32);
    for t in 0..steps {
        sum = &sum + &(x.narrow(0, t as isize, 1).unwrap() * (1.0 + t as f64)).sum();
    }
    let gradient = grad(&[&sum], &[&x], &[], Backward::default()).unwrap().remove(0).unwrap();
    // One tensor of the parts, not a tensor of zeros for each and their sum.
    let (launches, read, written) = cost(&[&gradient]);
    let bytes = (steps * 3 * 4) as u64;
    assert!(launches <= 2 && read + written <= 3 * bytes, "{launches} launches, {read} and {written} bytes");
    let wanted: Vec<f64> = (0..steps).flat_map(|t| [1.0 + t as f64; 3]).collect();
    assert_eq!(values(&gradient), wanted);
}

/// More than waits at once, again and again: what is computed in between is cut at the same places, and planned once.
#[test]
fn steps_that_are_cut_are_cut_where_they_were() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let ones = f32s(&[3], &[1.0; 3]);
    let mut held: Vec<Tensor> = (0..1500).map(|_| ones.copy()).collect();
    let mut step = || {
        for t in &mut held {
            *t = (0..14).fold(t.clone(), |t, _| (t * 0.5f32).sin());
        }
        Tensor::realize_all(&held).unwrap();
        mg_graph::plan_stats().made
    };
    let made: Vec<u64> = (0..6).map(|_| step()).collect();
    assert_eq!(made[3], made[5], "{made:?}");
}

/// The gradients of queries, keys and values come of one computation, however what flows back lies: where it is memory seen in the order of the result, each of
/// the three is asked of views that are made anew.
#[test]
fn gradients_of_attention_are_computed_once() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let mut rng = Rng(5);
    let mut data = |shape: &[usize]| {
        let n = shape.iter().product();
        let t = f32s(shape, &rng.vec(n, -1.0, 1.0).iter().map(|&v| v as f32).collect::<Vec<_>>());
        t.realize().unwrap();
        t
    };
    let (heads, tokens, size) = (2, 6, 4);
    let by_head = data(&[1, heads, tokens, size]);
    let by_token = data(&[1, tokens, heads, size]).transpose(1, 2).unwrap();
    let turned = data(&[1, heads, size, tokens]).transpose(2, 3).unwrap();
    let part = data(&[1, tokens, heads, 2 * size]).narrow(3, 1, size).unwrap().transpose(1, 2).unwrap();
    let number = data(&[1]).expand(&[1, heads as isize, tokens as isize, size as isize]).unwrap();
    let flows = [
        ("by head", by_head),
        ("by token", by_token),
        ("turned", turned),
        ("a part", part),
        ("a number", number),
    ];
    // Of one projection, and each by itself.
    let all = data(&[1, tokens, 3, heads, size]).requires_grad_(true).unwrap();
    let each = [0; 3].map(|_| data(&[1, heads, tokens, size]).requires_grad_(true).unwrap());
    let ends = Tensor::from_vec(vec![0i32, 2, 6], &[3]).unwrap();
    let again = Backward { retain_graph: true, ..Backward::default() };
    for (name, flow) in &flows {
        for is_packed in [false, true] {
            for of_one in [false, true] {
                let operands = [0, 1, 2].map(|i| match of_one {
                    true => all.select(2, i as isize).unwrap().transpose(1, 2).unwrap(),
                    false => each[i].clone(),
                });
                let [q, k, v] = &operands;
                let (answer, flow) = if is_packed {
                    let [q, k, v] = [q, k, v].map(|t| t.select(0, 0).unwrap().transpose(0, 1).unwrap());
                    let answer = q.varlen_attn(&k, &v, &ends, &ends, 4, 4, true, None, None);
                    (answer, flow.select(0, 0).unwrap().transpose(0, 1).unwrap())
                } else {
                    let answer = q.scaled_dot_product_attention(k, v, None, 0.0, true, None, false, None);
                    (answer, flow.clone())
                };
                let by: Vec<&Tensor> = if of_one { vec![&all] } else { each.iter().collect() };
                let found = grad(&[&answer], &by, &[Some(&flow)], again).unwrap();
                let found: Vec<Tensor> = found.into_iter().flatten().collect();
                let plan = explain(&found.iter().collect::<Vec<_>>()).unwrap();
                let counted = plan.launches.iter().filter(|l| l.kind == "attention_backward").count();
                assert_eq!(counted, 1, "{name}, packed {is_packed}, of one {of_one}: {plan}");
                // As from what flows back in memory of its own.
                let copied = grad(&[&answer], &by, &[Some(&flow.copy())], again).unwrap();
                for (a, b) in found.iter().zip(copied.into_iter().flatten()) {
                    assert_eq!(values(a), values(&b), "{name}, packed {is_packed}, of one {of_one}");
                }
            }
        }
    }
}

/// What is written where a gradient lay makes another gradient, though what was made of the old one is there still.
#[test]
fn a_gradient_in_memory_that_was_written_to_is_another_one() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let data = |by: f32| f32s(&[1, 2, 3, 4], &(0..24).map(|i| (i as f32 * by).sin()).collect::<Vec<_>>());
    let [q, k, v] = [0.3, 0.7, 1.1].map(|by| data(by).requires_grad_(true).unwrap());
    let answer = q.scaled_dot_product_attention(&k, &v, None, 0.0, false, None, false, None);
    let whole = f32s(&[1, 3, 2, 4], &[1.0; 24]);
    whole.realize().unwrap();
    let flow = whole.transpose(1, 2).unwrap();
    let again = Backward { retain_graph: true, ..Backward::default() };
    let asked = || {
        let found = grad(&[&answer], &[&q, &k, &v], &[Some(&flow)], again).unwrap();
        found.into_iter().flatten().collect::<Vec<_>>()
    };
    let first = asked();
    let once: Vec<Vec<f64>> = first.iter().map(values).collect();
    whole.assign(&whole * 2.0).unwrap();
    whole.realize().unwrap();
    let second = asked();
    for ((one, two), kept) in once.iter().zip(&second).zip(&first) {
        let doubled: Vec<f64> = one.iter().map(|x| 2.0 * x).collect();
        assert_eq!(values(two), doubled);
        assert_eq!(&values(kept), one);
    }
}
