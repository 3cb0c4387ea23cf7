//! The walk: what accumulates, what is kept, what is let go, what it costs.

mod common;

use common::{Rng, assert_close, f32s, leaf};
use mg_autograd::surface::Spacing;
use mg_autograd::{Backward, Tensor, enable_grad, grad, is_grad_enabled, no_grad};
use mg_device::{DType, ErrorKind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

const RETAIN: Backward = Backward { retain_graph: true, create_graph: false };
const CREATE: Backward = Backward { retain_graph: false, create_graph: true };

/// Tests that look at counters or at the clock run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn values(t: &Tensor) -> Vec<f64> {
    t.to_f64_vec().unwrap()
}

fn grad_of(t: &Tensor) -> Vec<f64> {
    values(&t.grad().expect("a gradient"))
}

fn scalar(v: f64) -> Tensor {
    Tensor::scalar(v).requires_grad_(true).unwrap()
}

#[test]
fn gradients_accumulate() {
    let x = scalar(3.0);
    let y = x.powf(3.0);
    y.backward_with(None, RETAIN).unwrap();
    assert_eq!(grad_of(&x), [27.0]);
    y.backward().unwrap();
    assert_eq!(grad_of(&x), [54.0]);
    x.zero_grad();
    assert!(x.grad().is_none());
    (&x * 5.0).backward().unwrap();
    assert_eq!(grad_of(&x), [5.0]);
    x.set_grad(Some(&Tensor::scalar(100.0f64))).unwrap();
    (&x * 5.0).backward().unwrap();
    assert_eq!(grad_of(&x), [105.0]);
    x.set_grad(None).unwrap();
    assert!(x.grad().is_none());
}

/// What `grad` answers with is one tensor, which later backward passes add to.
#[test]
fn a_gradient_is_one_tensor() {
    let x = leaf(&[2], &[1.0, 2.0]);
    x.square().sum().backward().unwrap();
    let first = x.grad().unwrap();
    assert!(first.is(&x.grad().unwrap()));
    x.square().sum().backward().unwrap();
    assert_eq!(values(&first), [4.0, 8.0]);
    first.assign(1.0).unwrap();
    assert_eq!(grad_of(&x), [1.0, 1.0]);
    // Once it was let go it is nobody's gradient.
    x.zero_grad();
    x.square().sum().backward().unwrap();
    first.assign(0.0).unwrap();
    assert_eq!(grad_of(&x), [2.0, 4.0]);
}

#[test]
fn a_leaf_used_twice_gets_both_shares() {
    let a = scalar(7.0);
    (&a * 2.0 + &a * 3.0).backward().unwrap();
    assert_eq!(grad_of(&a), [5.0]);
    let a = scalar(2.0);
    (&a * &a + &a).backward().unwrap();
    assert_eq!(grad_of(&a), [5.0]);
    let (a, b) = (scalar(2.0), scalar(3.0));
    (&a * &b + &a).square().backward().unwrap();
    // ∂(ab + a)² = 2(ab + a)(b + 1), 2(ab + a)a.
    assert_eq!((grad_of(&a), grad_of(&b)), (vec![64.0], vec![32.0]));
    let a = scalar(3.0);
    a.try_mul(&a).unwrap().backward().unwrap();
    assert_eq!(grad_of(&a), [6.0]);
    let a = leaf(&[2], &[1.0, 5.0]);
    a.maximum(&a).sum().backward().unwrap();
    assert_eq!(grad_of(&a), [1.0, 1.0]);
}

#[test]
fn several_results_add_up() {
    let x = leaf(&[2], &[1.0, 2.0]);
    let (y, z) = (x.square().sum(), (&x * 10.0).sum());
    y.backward().unwrap();
    z.backward().unwrap();
    assert_eq!(grad_of(&x), [12.0, 14.0]);
    let g = grad(&[&x.square().sum(), &(&x * 10.0).sum()], &[&x], &[], Backward::default()).unwrap();
    assert_eq!(values(g[0].as_ref().unwrap()), [12.0, 14.0]);
}

#[test]
fn the_seed_is_what_the_walk_starts_with() {
    let x = leaf(&[3], &[1.0, 2.0, 3.0]);
    let seed = f32s(&[3], &[1.0, 10.0, 100.0]);
    x.square().backward_with(Some(&seed), Backward::default()).unwrap();
    assert_eq!(grad_of(&x), [2.0, 40.0, 600.0]);
    let one = f32s(&[1, 1], &[3.0]).requires_grad_(true).unwrap();
    one.square().backward().unwrap();
    assert_eq!(grad_of(&one), [6.0], "one element needs no seed, whatever its rank");
}

#[test]
fn a_graph_is_let_go_unless_it_is_kept() {
    let x = leaf(&[2], &[1.0, 2.0]);
    let y = (x.exp() * &x).sum();
    y.backward().unwrap();
    let error = y.backward().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Gradient(_)));
    assert!(error.to_string().contains("retain_graph=True"), "{error}");
    // A part of a graph that was let go is no way to walk either.
    let h = &x * 2.0;
    let (y, z) = (h.square().sum(), h.sum());
    y.backward().unwrap();
    assert!(z.backward().unwrap_err().to_string().contains("retain_graph=True"));
    // Kept, it can be walked as often as one likes; values stay readable either way.
    let y = (&x * &x).sum();
    for _ in 0..3 {
        y.backward_with(None, RETAIN).unwrap();
    }
    y.backward().unwrap();
    assert_eq!(y.item::<f32>().unwrap(), 5.0);
    assert!(y.backward().is_err());
}

#[test]
fn a_failed_walk_adds_nothing() {
    let x = leaf(&[2], &[1.0, 2.0]);
    let h = &x * 2.0;
    h.sum().backward().unwrap();
    x.zero_grad();
    let both = (&x * 3.0).sum() + h.sum();
    assert!(both.backward().is_err());
    assert!(
        x.grad().is_none(),
        "a walk that fails leaves no half of a gradient: {:?}",
        x.grad().map(|g| values(&g))
    );
}

#[test]
fn grad_returns_and_leaves_nothing_behind() {
    let (x, z) = (leaf(&[2], &[3.0, 4.0]), leaf(&[1], &[1.0]));
    let h = x.square();
    let y = (&h * 2.0).sum();
    let g = grad(&[&y], &[&x, &h, &z], &[], Backward::default()).unwrap();
    assert_eq!(values(g[0].as_ref().unwrap()), [12.0, 16.0]);
    assert_eq!(values(g[1].as_ref().unwrap()), [2.0, 2.0], "a tensor on the way");
    assert!(g[2].is_none(), "what the result does not depend on");
    assert!(x.grad().is_none() && z.grad().is_none());
    assert!(!g[0].as_ref().unwrap().requires_grad());
    let g = grad(&[&x.square()], &[&x], &[Some(&f32s(&[2], &[1.0, -1.0]))], Backward::default()).unwrap();
    assert_eq!(values(g[0].as_ref().unwrap()), [6.0, -8.0]);
    let y = x.sum();
    let g = grad(&[&y], &[&y], &[], Backward::default()).unwrap();
    assert_eq!(values(g[0].as_ref().unwrap()), [1.0], "of itself");
}

#[test]
fn gradients_of_gradients() {
    let x = scalar(2.0);
    let mut y = x.powf(4.0);
    for expected in [32.0, 48.0, 48.0, 24.0] {
        y = grad(&[&y], &[&x], &[], CREATE).unwrap().remove(0).unwrap();
        assert_eq!(values(&y), [expected]);
    }
    // A penalty on the gradient: ∂(∂x³)² = ∂(9x⁴) = 36x³.
    let x = scalar(2.0);
    let slope = grad(&[&x.powf(3.0)], &[&x], &[], CREATE).unwrap().remove(0).unwrap();
    slope.square().backward().unwrap();
    assert_eq!(grad_of(&x), [288.0]);
    // backward(create_graph) leaves gradients that have gradients.
    let x = scalar(3.0);
    x.powf(3.0).backward_with(None, CREATE).unwrap();
    let first = x.grad().unwrap();
    assert_eq!(values(&first), [27.0]);
    x.zero_grad();
    first.backward().unwrap();
    assert_eq!(grad_of(&x), [18.0]);
    let x = scalar(0.5);
    let mut y = x.sin();
    for expected in [0.5f64.cos(), -0.5f64.sin(), -0.5f64.cos(), 0.5f64.sin()] {
        y = grad(&[&y], &[&x], &[], CREATE).unwrap().remove(0).unwrap();
        assert_close("derivatives of sin", &y, &[expected], 1e-14, 0.0);
    }
}

#[test]
fn hessian_of_a_quadratic_form() {
    let mut rng = Rng(1);
    let a = Tensor::from_vec(rng.vec(16, -1.0, 1.0), &[4, 4]).unwrap();
    let x = rng.leaf(&[4], -1.0, 1.0);
    let y = x.matmul(&a.matmul(&x));
    let g = grad(&[&y], &[&x], &[], CREATE).unwrap().remove(0).unwrap();
    let h = &a + &a.t();
    for i in 0..4 {
        let row = grad(&[&g.select(0, i).unwrap()], &[&x], &[], RETAIN).unwrap().remove(0).unwrap();
        let expected = values(&h.select(0, i).unwrap());
        assert_close("a row of A + Aᵀ", &row, &expected, 1e-13, 1e-14);
    }
}

#[test]
fn recording_can_be_switched_off() {
    let x = leaf(&[2], &[1.0, 2.0]);
    assert!(is_grad_enabled());
    let off = no_grad();
    assert!(!is_grad_enabled());
    let y = &x * 2.0;
    assert!(!y.requires_grad() && y.is_leaf());
    {
        let _on = enable_grad();
        assert!(is_grad_enabled() && (&x * 2.0).requires_grad());
    }
    assert!(!is_grad_enabled());
    assert!(x.requires_grad(), "leaves stay what they are");
    // Another thread records all the same.
    std::thread::scope(|s| assert!(s.spawn(is_grad_enabled).join().unwrap()));
    drop(off);
    assert!(is_grad_enabled() && (&x * 2.0).requires_grad());
    let z = (&y * &x).sum();
    z.backward().unwrap();
    assert_eq!(grad_of(&x), [2.0, 4.0], "what was made without recording is a constant");
}

#[test]
fn detached_values_are_constants() {
    let x = leaf(&[2], &[3.0, 4.0]);
    let h = x.square();
    let cut = h.detach();
    assert!(!cut.requires_grad() && cut.is_leaf() && h.requires_grad());
    (&cut * &x).sum().backward().unwrap();
    assert_eq!(grad_of(&x), [9.0, 16.0]);
    assert_eq!(values(&cut), values(&h));
    let again = h.detach().requires_grad_(true).unwrap();
    again.sum().backward().unwrap();
    assert_eq!(grad_of(&again), [1.0, 1.0]);
    assert!(h.requires_grad() && !h.is_leaf());
}

#[test]
fn leaves_and_results() {
    let (x, c) = (leaf(&[1], &[1.0]), f32s(&[1], &[1.0]));
    assert!(x.is_leaf() && x.requires_grad() && c.is_leaf() && !c.requires_grad());
    let y = &x * &c;
    assert!(!y.is_leaf() && y.requires_grad());
    assert!(!x.lt(2.0).requires_grad() && !x.argmax(None, false).requires_grad());
    assert!(!x.to_dtype(DType::I64).requires_grad(), "integers have no gradient");
    assert!(x.to_dtype(DType::F64).requires_grad());
    let frozen = x.requires_grad_(false).unwrap();
    assert!(!frozen.requires_grad() && !(&frozen * 2.0).requires_grad());
    assert!(y.backward().is_ok(), "a graph made before is not changed");
}

#[test]
fn gradients_have_their_leaf_s_dtype() {
    for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
        let x = f32s(&[2], &[1.0, 2.0]).to_dtype(dtype).requires_grad_(true).unwrap();
        let w = f32s(&[2], &[3.0, 4.0]).requires_grad_(true).unwrap();
        (&x * &w).sum().backward().unwrap();
        let g = x.grad().unwrap();
        assert_eq!((g.dtype(), values(&g)), (dtype, vec![3.0, 4.0]));
        assert_eq!((w.grad().unwrap().dtype(), grad_of(&w)), (DType::F32, vec![1.0, 2.0]));
    }
}

/// A walk to what was computed last does not look at how that came to be: steps whose gradients are of their own last state take what a step takes,
/// however many came before.
#[test]
fn a_history_below_what_is_wanted_is_not_walked() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let start = Instant::now();
    let first = f32s(&[3], &[1.0, -2.0, 3.0]).requires_grad_(true).unwrap();
    let mut x = &first * 1.0;
    for _ in 0..6000 {
        let slope = grad(&[&x.square().sum()], &[&x], &[None], CREATE).unwrap().remove(0).unwrap();
        x = &x - slope * 1e-4;
    }
    x.sum().backward().unwrap();
    assert_close("the gradient", &first.grad().unwrap(), &[0.9998f64.powi(6000); 3], 1e-3, 0.0);
    assert!(start.elapsed() < Duration::from_secs(20), "it took minutes: {:?}", start.elapsed());
}

/// A number that halves are multiplied with or divided by is not rounded to theirs, whether it is learned, fused, stored or replayed.
#[test]
fn a_number_beside_halves_keeps_its_digits() {
    for dtype in [DType::F16, DType::BF16] {
        let numbers: Vec<f32> = (1..400).map(|i| i as f32 / 97.0).collect();
        let x = f32s(&[399], &numbers).to_dtype(dtype);
        let wide = x.to_dtype(DType::F32);
        let once = |y: Tensor| values(&y.to_dtype(dtype));
        for number in [0.3, 0.9, 7.1] {
            assert_eq!(values(&(&x * number)), once(&wide * number));
            assert_eq!(values(&(number * &x)), once(&wide * number));
            assert_eq!(values(&(&x / number)), once(&wide / number));
            assert_eq!(values(&x.mul(Tensor::scalar(number))), once(&wide * number));
            let reciprocal = (1.0 / &wide).to_dtype(dtype).to_dtype(DType::F32);
            assert_eq!(values(&(number / &x)), once(reciprocal * number));
            let floor = wide.try_floor_divide(number).unwrap();
            assert_eq!(values(&x.try_floor_divide(number).unwrap()), once(floor));
            // What is added is a number of the dtype.
            let rounded = Tensor::scalar(number).to_dtype(dtype).to_dtype(DType::F32);
            assert_eq!(values(&(&x + number)), once(&wide + rounded));
        }
        // A gradient of 1 is the factor itself, which is an element by then.
        let leaf = x.detach().requires_grad_(true).unwrap();
        let scale = Tensor::scalar(0.3f32).requires_grad_(true).unwrap();
        (leaf.mul(&scale)).sum().backward().unwrap();
        assert_eq!(grad_of(&leaf), vec![once(Tensor::scalar(0.3f32))[0]; 399]);
        let g = scale.grad().unwrap();
        assert_eq!((g.dtype(), values(&g)[0]), (DType::F32, once(wide.sum())[0]));
        // Stored in between, and not.
        let fused = ((&x * 0.3).exp() * 0.7) / 1.1;
        let (a, b);
        a = &x * 0.3;
        a.realize().unwrap();
        b = a.exp() * 0.7;
        b.realize().unwrap();
        assert_eq!(values(&fused), values(&(b / 1.1)));
    }
    let big = f32s(&[2], &[1e-3, 0.5]).to_dtype(DType::F16) * 65536.0;
    assert_eq!(values(&big), [65.5625, 32768.0]);
}

#[test]
fn a_diamond_costs_its_depth() {
    let x = scalar(1.0);
    let mut y = &x * 1.0;
    for _ in 0..64 {
        y = &y + &y;
    }
    let start = Instant::now();
    y.backward().unwrap();
    assert_eq!(y.item::<f64>().unwrap(), f64::powi(2.0, 64));
    assert_eq!(grad_of(&x), [f64::powi(2.0, 64)]);
    assert!(start.elapsed() < Duration::from_secs(2));
    let mut z = x.detach().requires_grad_(true).unwrap();
    let leaf = z.clone();
    for _ in 0..64 {
        z = (&z + &z) * 0.5;
    }
    let g = grad(&[&z], &[&leaf], &[], CREATE).unwrap().remove(0).unwrap();
    assert_eq!(values(&g), [1.0]);
}

/// Resident memory of this process in bytes; `None` where the system does not say.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split_whitespace().nth(1)?.parse::<usize>().ok()? * 4096)
}

/// A chain of a million operations builds, differentiates and drops, in bounded time and memory.
#[test]
fn a_million_operations() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let n = if cfg!(debug_assertions) { 50_000 } else { 1_000_000 };
    let x = scalar(1.0);
    // What a device takes once is not counted.
    (&x + 1.0).realize().unwrap();
    let before = resident();
    let start = Instant::now();
    let mut y = &x * 1.0;
    for i in 0..n {
        y = if i % 2 == 0 { &y + 1e-6 } else { &y * 1.000_001 };
    }
    let built = start.elapsed();
    y.backward().unwrap();
    let walked = start.elapsed();
    let expected = 1.000_001f64.powi(n / 2);
    assert_close("the gradient", &x.grad().unwrap(), &[expected], 1e-9, 0.0);
    let computed = start.elapsed();
    assert!(y.item::<f64>().unwrap().is_finite());
    if let (Some(before), Some(after)) = (before, resident()) {
        let each = after.saturating_sub(before) / n as usize;
        assert!(each < 3000, "{each} bytes an operation");
    }
    drop(y);
    drop(x);
    let dropped = start.elapsed();
    println!("built {built:?}, walked {walked:?}, computed {computed:?}, dropped {dropped:?}");
    assert!(dropped < Duration::from_secs(60), "{dropped:?}");
}

/// A graph that nobody computes is dropped without recursion, and so is one that was computed without gradients.
#[test]
fn long_chains_drop() {
    // Thousands of pending nodes make the engine compute the oldest, other tests' too.
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let n = if cfg!(debug_assertions) { 50_000 } else { 300_000 };
    for tracked in [true, false] {
        let x = Tensor::scalar(1.0f64).requires_grad_(tracked).unwrap();
        let mut y = &x + 0.0;
        for _ in 0..n {
            y = &y + 1.0;
        }
        drop(x);
        drop(y);
        let x = Tensor::scalar(1.0f64).requires_grad_(tracked).unwrap();
        let mut y = &x + 0.0;
        for _ in 0..n {
            y = &y + 1.0;
        }
        assert_eq!(y.item::<f64>().unwrap(), 1.0 + n as f64);
    }
}

/// Gradients are the same bits whether they are read one by one, together, or computed operation by operation.
#[test]
fn gradients_do_not_depend_on_when_they_are_read() {
    let run = |when: u32| {
        let mut rng = Rng(4);
        let (w, v) = (rng.leaf(&[7, 9], -1.0, 1.0), rng.leaf(&[9, 5], -1.0, 1.0));
        let x = Tensor::from_vec(rng.vec(21, -1.0, 1.0), &[3, 7]).unwrap();
        let h = x.matmul(&w);
        if when == 3 {
            h.realize().unwrap();
        }
        let y = h.tanh().matmul(&v).try_softmax(Some(1), None).unwrap();
        let loss = (&y * &y).sum();
        if when == 0 {
            loss.realize().unwrap();
        }
        loss.backward().unwrap();
        if when == 1 {
            Tensor::realize_all([&w.grad().unwrap(), &v.grad().unwrap(), &loss]).unwrap();
        }
        if when == 2 {
            v.grad().unwrap().realize().unwrap();
        }
        (grad_of(&w), grad_of(&v), values(&loss))
    };
    let first = run(0);
    for when in 1..4 {
        let again = run(when);
        for (what, a, b) in
            [("w", &again.0, &first.0), ("v", &again.1, &first.1), ("loss", &again.2, &first.2)]
        {
            let unlike: Vec<_> = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b).collect();
            assert!(unlike.is_empty(), "{what}, order {when}: {unlike:?}");
        }
    }
}

/// Reading one gradient before another overwrites nothing that the other needs.
#[test]
fn a_gradient_that_is_read_later_is_whole() {
    let matrix = |v: [f64; 4]| Tensor::from_vec(v.to_vec(), &[2, 2]).unwrap().requires_grad_(true).unwrap();
    let run = |first: bool, realize: bool| {
        let (a, v) = (matrix([0.1, 0.2, 0.3, 0.4]), matrix([1.0, 2.0, 3.0, 4.0]));
        let loss = a.tanh().matmul(&v).square().sum();
        if realize {
            loss.realize().unwrap();
        }
        loss.backward().unwrap();
        if first {
            a.grad().unwrap().realize().unwrap();
        }
        let gv = grad_of(&v);
        (grad_of(&a), gv)
    };
    let expected = run(false, false);
    assert_close(
        "∂v",
        &Tensor::from_slice(&expected.1),
        &[0.97172905754, 1.42203440649, 1.36062124001, 1.98796955621],
        1e-9,
        0.0,
    );
    for (first, realize) in [(true, false), (false, true), (true, true)] {
        assert_eq!(run(first, realize), expected, "∂a read first: {first}, loss computed before: {realize}");
    }
}

/// The gradient of a parameter that was dropped, or changed meanwhile, goes where it belongs.
#[test]
fn leaves_may_change_or_go() {
    let (w, kept) = (leaf(&[1], &[2.0]), leaf(&[1], &[3.0]));
    let y = (&w * &kept).sum();
    drop(w);
    y.backward().unwrap();
    assert_eq!(grad_of(&kept), [2.0]);
    let w = leaf(&[1], &[2.0]);
    let y = (&w * 4.0).sum();
    {
        let _off = no_grad();
        w.assign(10.0).unwrap();
    }
    y.backward().unwrap();
    assert_eq!(grad_of(&w), [4.0]);
}

/// A step of training, as people write it.
#[test]
fn descent_finds_a_line() {
    let mut rng = Rng(5);
    let n = 200;
    let xs = rng.vec(n, -1.0, 1.0);
    let ys: Vec<f32> = xs.iter().map(|x| (2.0 * x + 1.0 + rng.uniform(-0.05, 0.05)) as f32).collect();
    let x = f32s(&[n, 1], &xs.iter().map(|&v| v as f32).collect::<Vec<_>>());
    let y = f32s(&[n, 1], &ys);
    let (w, b) = (leaf(&[1, 1], &[0.0]), leaf(&[1], &[0.0]));
    let mut last = f32::INFINITY;
    for step in 0..300 {
        let loss = (x.matmul(&w) + &b).try_mse_loss(&y, "mean", None).unwrap();
        w.zero_grad();
        b.zero_grad();
        loss.backward().unwrap();
        {
            let _off = no_grad();
            for p in [&w, &b] {
                p.assign(p - p.grad().unwrap() * 0.1).unwrap();
            }
        }
        if step % 50 == 0 {
            let now = loss.item::<f32>().unwrap();
            assert!(now <= last, "step {step}: {now} after {last}");
            last = now;
        }
    }
    assert_close("w", &w, &[2.0], 0.0, 0.05);
    assert_close("b", &b, &[1.0], 0.0, 0.05);
}

#[test]
fn tensors_are_used_from_other_threads() {
    let x = leaf(&[1000], &vec![2.0; 1000]);
    let sums: Vec<f32> = std::thread::scope(|s| {
        let threads: Vec<_> = (0..4)
            .map(|k| {
                let x = &x;
                s.spawn(move || {
                    for _ in 0..20 {
                        let y = (x * (k as f64)).square().sum();
                        let g = grad(&[&y], &[x], &[], Backward::default()).unwrap().remove(0).unwrap();
                        assert_eq!(g.to_vec::<f32>().unwrap(), vec![4.0 * (k * k) as f32; 1000]);
                    }
                    (x * (k as f64)).sum().item::<f32>().unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(sums, [0.0, 2000.0, 4000.0, 6000.0]);
    // Gradients arrive from all threads.
    std::thread::scope(|s| {
        (0..4).for_each(|_| {
            s.spawn(|| (&x * 1.0).sum().backward().unwrap());
        })
    });
    assert_eq!(grad_of(&x), vec![4.0; 1000]);
}

#[test]
fn gradients_at_the_edges_are_those_of_pytorch() {
    let grad_at = |values: &[f64], f: &dyn Fn(&Tensor) -> Tensor| {
        let x = Tensor::from_slice(values).requires_grad_(true).unwrap();
        f(&x).sum().backward().unwrap();
        grad_of(&x)
    };
    // With respect to the exponent, of zero.
    let zero = Tensor::scalar(0.0f64);
    let slopes = grad_at(&[0.0, 2.0, 0.5, -1.0, f64::NAN], &|x| zero.pow(x));
    assert_eq!(slopes[..4], [0.0, 0.0, 0.0, f64::NEG_INFINITY]);
    assert!(slopes[4].is_nan());
    // What does not vary.
    let spread = |x: &Tensor| x.std_dim(&[0], false, Some(1.0));
    assert_eq!(spread(&Tensor::from_slice(&[1.0f64; 3])).item::<f64>().unwrap(), 0.0);
    assert_eq!(grad_at(&[1.0; 3], &spread), [0.0; 3]);
    assert_eq!(grad_at(&[1.0, 2.0, 3.0], &spread), [-0.5, 0.0, 0.5]);
}

#[test]
fn gradients_that_nobody_reads_do_not_pile_up() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let x = Tensor::from_slice(&[1.0f32, 2.0]).requires_grad_(true).unwrap();
    for _ in 0..40_000 {
        (&x * 2.0).sum().backward().unwrap();
    }
    let mut at = x.grad().unwrap().node();
    let mut waiting = 0;
    while at.is_pending() {
        at = at.sources()[0].clone();
        waiting += 1;
    }
    // So many nodes wait at most.
    assert!(waiting <= 1 << 14, "{waiting} sums wait");
    assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), [80_000.0; 2]);
}

/// The gradient of the sum of `f` at a point, by PyTorch 2.15.
#[track_caller]
fn slope(what: &str, f: impl Fn(&Tensor) -> Tensor, at: &[f64], expected: &[f64]) {
    let x = Tensor::from_slice(at).requires_grad_(true).unwrap();
    f(&x).sum().backward().unwrap();
    let got = x.grad().unwrap().to_f64_vec().unwrap();
    let same = got.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-12 || (a.is_nan() && b.is_nan()));
    assert!(same && got.len() == expected.len(), "{what}: {got:?}, not {expected:?}");
}

#[test]
fn slopes_where_there_are_several() {
    let nan = f64::NAN;
    for p in [1.0, 2.0, 3.0, f64::INFINITY] {
        slope(&format!("norm {p}"), |x| x.norm(p, &[], false), &[0.0, 0.0], &[0.0, 0.0]);
    }
    slope("norm of 3 and 4", |x| x.norm(2.0, &[], false), &[3.0, 4.0], &[0.6, 0.8]);
    slope("norm 1/2", |x| x.norm(0.5, &[], false), &[0.0, 1.0], &[0.0, 1.0]);
    slope("norm -inf", |x| x.norm(f64::NEG_INFINITY, &[], false), &[1.0, -1.0, 2.0], &[0.5, -0.5, 0.0]);
    slope("leaky_relu", |x| x.leaky_relu(0.1), &[0.0, -0.0, 1.0, -1.0], &[0.1, 0.1, 1.0, 0.1]);
    let at = [1.0, 3.0, 3.0, 0.0];
    slope("max along", |x| x.max_with_indices(0, false).0, &at, &[0.0, 1.0, 0.0, 0.0]);
    slope("min along", |x| x.min_with_indices(-1, true).0, &[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0]);
    slope("max of NaN", |x| x.max_with_indices(0, false).0, &[1.0, nan, nan], &[0.0, 1.0, 0.0]);
    slope("amax", |x| x.amax(&[0], false), &at, &[0.0, 0.5, 0.5, 0.0]);
    slope("max", Tensor::max, &at, &[0.0, 0.5, 0.5, 0.0]);
    let at = [0.0, 1.0, 0.5, 2.0, -1.0, nan];
    slope("clamp", |x| x.clamp(Some(0.0.into()), Some(1.0.into())), &at, &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    slope("clamp from below", |x| x.clamp(Some(0.0.into()), None), &[0.0, 1.0, -1.0], &[0.0, 1.0, 0.0]);
    slope("clamp from above", |x| x.clamp(None, Some(0.0.into())), &[0.0, 1.0, -1.0], &[0.0, 0.0, 1.0]);
    slope(
        "clamp of nothing",
        |x| x.clamp(Some(2.0.into()), Some(1.0.into())),
        &[0.0, 1.0, 1.5, 2.0],
        &[0.0; 4],
    );
    let bound = Tensor::from_slice(&[0.0f64; 3]);
    let by_tensor = |x: &Tensor| x.try_clamp(Some((&bound).into()), None).unwrap();
    slope("clamp by a tensor", by_tensor, &[0.0, 1.0, -1.0], &[0.5, 1.0, 0.0]);
    slope("maximum", |x| x.maximum(&bound), &[0.0, nan, -1.0], &[0.5, 1.0, 0.0]);
    slope("minimum", |x| x.minimum(&bound), &[0.0, nan, -1.0], &[0.5, 1.0, 1.0]);
    slope("x to the power 0", |x| x.pow(0i64), &[0.0, 2.0], &[0.0, 0.0]);
    slope("remainder", |x| x.remainder(2.0), &[3.0, -3.0], &[1.0, 1.0]);
    slope("frac", |x| x.frac(), &[1.5, -1.5], &[1.0, 1.0]);
}

/// What is zero by structure is a gradient of zeros, not none.
#[test]
fn zeros_by_structure_are_gradients() {
    type Named = (&'static str, fn(&Tensor) -> Tensor);
    let by_structure: [Named; 6] = [
        ("sign", Tensor::sign),
        ("floor", Tensor::floor),
        ("round", Tensor::round),
        ("floor_divide", |x| x.floor_divide(2.0)),
        ("abs of abs, twice", |x| x.sign().abs()),
        ("sign of a product", |x| (x * 2.0).sign()),
    ];
    for (name, f) in by_structure {
        slope(name, f, &[1.5, -2.0], &[0.0, 0.0]);
        let x = Tensor::from_slice(&[1.5f64, f64::INFINITY]).requires_grad_(true).unwrap();
        let found = grad(&[&f(&x).sum()], &[&x], &[], Backward::default()).unwrap();
        assert_eq!(found[0].as_ref().unwrap().to_f64_vec().unwrap(), [0.0, 0.0], "{name}");
    }
    // What does not depend on it at all has none.
    let x = Tensor::from_slice(&[1.0f64]).requires_grad_(true).unwrap();
    let y = Tensor::from_slice(&[1.0f64]).requires_grad_(true).unwrap();
    assert!(grad(&[&y.sum()], &[&x], &[], Backward::default()).unwrap()[0].is_none());
    // The second derivative of a magnitude.
    let create = Backward { create_graph: true, ..Backward::default() };
    let first = grad(&[&x.abs().sum()], &[&x], &[], create).unwrap().remove(0).unwrap();
    let second = grad(&[&first.sum()], &[&x], &[], Backward::default()).unwrap().remove(0).unwrap();
    assert_eq!(second.to_f64_vec().unwrap(), [0.0]);
}

#[test]
fn means_are_divisions() {
    for n in 1..2000usize {
        let ones = Tensor::ones(&[n], DType::F32).unwrap();
        assert_eq!(ones.mean().item::<f32>().unwrap(), 1.0, "mean of {n}");
    }
    let rows = Tensor::ones(&[3, 41], DType::F32).unwrap();
    assert_eq!(rows.mean_dim(&[1], false).to_vec::<f32>().unwrap(), [1.0; 3]);
    let long = Tensor::ones(&[100_000], DType::F16).unwrap();
    assert_eq!(long.mean().item::<f32>().unwrap(), 1.0, "the sum alone is too large for f16");
    let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0]);
    let var = |t: &Tensor, correction| t.var_dim(&[], false, Some(correction as f64)).item::<f32>().unwrap();
    assert_eq!((var(&x, 1), var(&x, 3), var(&x, 5)), (1.0, f32::INFINITY, f32::INFINITY));
    assert!(var(&Tensor::ones(&[3], DType::F32).unwrap(), 3).is_nan());
}

#[test]
fn gradients_of_parts_that_meet_are_added() {
    let x = leaf(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    // Two columns that meet in one, a row, and all of it.
    let y = &(&x.narrow(1, 0, 2).unwrap().sum() + &(x.narrow(1, 1, 2).unwrap().sum() * 10.0))
        + &(&(x.narrow(0, 1, 1).unwrap().sum() * 100.0) + &(x.sum() * 1000.0));
    let gradient = grad(&[&y], &[&x], &[], Backward::default()).unwrap().remove(0).unwrap();
    assert_eq!(values(&gradient), [1001.0, 1011.0, 1010.0, 1101.0, 1111.0, 1110.0]);
    // Parts with a gap between them, and their gradients' gradient.
    let y = &x.narrow(1, 0, 1).unwrap().powf(2.0).sum() + &x.narrow(1, 2, 1).unwrap().powf(3.0).sum();
    let first = grad(&[&y], &[&x], &[], CREATE).unwrap().remove(0).unwrap();
    assert_eq!(values(&first), [2.0, 0.0, 27.0, 8.0, 0.0, 108.0]);
    let second = grad(&[&first.sum()], &[&x], &[], RETAIN).unwrap().remove(0).unwrap();
    assert_eq!(values(&second), [2.0, 0.0, 18.0, 2.0, 0.0, 36.0]);
}

#[test]
fn gradients_that_somebody_gave_stay_theirs() {
    let (v, x) = (leaf(&[2], &[1.0, 2.0]), leaf(&[4], &[1.0, 2.0, 3.0, 4.0]));
    let first = v.pad(&[0, 2], "constant", None);
    let second = v.pad(&[2, 0], "constant", None);
    let h = &x * 2.0;
    let gradient = grad(&[&h, &h], &[&x], &[Some(&first), Some(&second)], CREATE).unwrap().remove(0).unwrap();
    assert_eq!(values(&gradient), [2.0, 4.0, 2.0, 4.0]);
    let again = grad(&[&gradient.sum()], &[&first], &[], RETAIN).unwrap().remove(0);
    assert_eq!(values(&again.expect("a gradient")), [2.0; 4]);
}

#[test]
fn what_leads_to_something_that_was_let_go_is_let_go_and_the_rest_is_not() -> mg_device::Result<()> {
    let w = Tensor::from_slice(&[1.0f32, 2.0]).requires_grad_(true)?;
    let trunk = &w + 1.0;
    let loss = (&trunk * &trunk).sum();
    loss.backward()?;
    // A loss that is kept, for its number, keeps nothing that it was computed of.
    loss.realize()?;
    assert!(loss.node().is_released() && loss.node().sources().is_empty());
    assert!(!trunk.node().is_released());
    trunk.sum().backward()?;
    assert_eq!(w.grad().map(|g| g.to_vec::<f32>()).transpose()?, Some(vec![5.0, 7.0]));
    Ok(())
}

#[test]
fn slopes_between_points_are_differentiated_by_both() {
    let x = Tensor::from_slice(&[1.0, 4.0, 9.0, 16.0, 30.0]).requires_grad_(true).unwrap();
    let at = Tensor::from_slice(&[1.0, 2.0, 4.0, 5.0, 8.0]).requires_grad_(true).unwrap();
    let points = [at.clone()];
    let slopes =
        |order: usize| Tensor::try_gradient(&x, Some(Spacing::At(&points)), &[], order).unwrap().remove(0);
    let inner = [17.0 / 6.0, 5.5, 77.0 / 12.0];
    let whole = |first: f64, last: f64| [&[first], &inner[..], &[last]].concat();
    assert_close("lines at the ends", &slopes(1), &whole(3.0, 14.0 / 3.0), 1e-12, 0.0);
    assert_close("parabolas at the ends", &slopes(2), &whole(19.0 / 6.0, 35.0 / 12.0), 1e-12, 0.0);
    slopes(1).narrow(0, 0, 1).unwrap().sum().backward().unwrap();
    // (x₁ − x₀) / (t₁ − t₀).
    assert_eq!(grad_of(&x), [-1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(grad_of(&at), [3.0, -3.0, 0.0, 0.0, 0.0]);
    let few = [Tensor::from_slice(&[1.0, 2.0])];
    let error = Tensor::try_gradient(&x, Some(Spacing::At(&few)), &[], 1).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Shape(_)));
}

#[test]
fn slopes_near_zero_keep_their_digits() {
    let at = [1e-12, 1e-8, 1e-3];
    let derivatives = |f: fn(&Tensor) -> mg_device::Result<Tensor>| {
        let x = Tensor::from_slice(&at).requires_grad_(true).unwrap();
        let y = f(&x).unwrap().sum();
        let first = grad(&[&y], &[&x], &[], CREATE).unwrap().remove(0).unwrap();
        let second = grad(&[&first.sum()], &[&x], &[], RETAIN).unwrap().remove(0).unwrap();
        (values(&first), values(&second))
    };
    let near = |name: &str, found: &[f64], wanted: fn(f64) -> f64| {
        for (found, at) in found.iter().zip(at) {
            assert!((found / wanted(at) - 1.0).abs() < 1e-5, "{name} at {at}: {found}, {}", wanted(at));
        }
    };
    let (first, second) = derivatives(Tensor::try_i0);
    near("i0, first", &first, |x| x / 2.0);
    near("i0, second", &second, |_| 0.5);
    let (first, second) = derivatives(Tensor::try_i1);
    near("i1, first", &first, |_| 0.5);
    near("i1, second", &second, |x| 3.0 * x / 8.0);
    let (first, second) = derivatives(Tensor::try_i1e);
    near("i1e, first", &first, |x| 0.5 - x);
    near("i1e, second", &second, |x| 15.0 * x / 8.0 - 1.0);
    let (first, second) = derivatives(Tensor::try_sinc);
    let curve = -std::f64::consts::PI.powi(2) / 3.0;
    near("sinc, first", &first, |x| -std::f64::consts::PI.powi(2) / 3.0 * x);
    assert!(second.iter().all(|v| (v / curve - 1.0).abs() < 1e-5), "{second:?}");
}

/// What uses of one weight come to, each use of the one that `of` says: steps of a sequence, with the weight or its transpose, and work that is no product.
fn steps(rng: &mut Rng, rows: &[usize], size: usize, of: impl Fn(usize) -> Tensor) -> Tensor {
    let mut loss = Tensor::scalar(0.0);
    let mut state: Option<Tensor> = None;
    for (at, &n) in rows.iter().enumerate() {
        let w = of(at);
        let inputs = Tensor::from_vec(rng.vec(n * size, -1.0, 1.0), &[n, size]).unwrap();
        let before = state.take().filter(|h| h.shape()[0] == n).unwrap_or(inputs);
        let made = match rng.below(4) {
            0 => before.matmul(&w.t()),
            1 | 2 => before.matmul(&w),
            _ => &before * w.sum() + before.matmul(&(&w * 0.5)),
        };
        let made = made.tanh();
        loss = loss + (&made * Tensor::from_vec(rng.vec(n * size, -1.0, 1.0), &[n, size]).unwrap()).sum();
        state = Some(made);
    }
    loss
}

/// The gradient of a weight that is used often is the sum of those that each use would have by itself, whatever it is computed as.
#[test]
fn uses_of_a_weight_add_up() {
    let mut rng = Rng(39);
    for round in 0..60 {
        let (size, uses) = (1 + rng.below(6), 1 + rng.below(7));
        let rows: Vec<usize> = {
            let n = 1 + rng.below(6);
            // Some have more rows than are worth copying.
            (0..uses).map(|_| if rng.below(5) == 0 { 40 } else { n }).collect()
        };
        let data = rng.vec(size * size, -1.0, 1.0);
        let new = || Tensor::from_vec(data.clone(), &[size, size]).unwrap().requires_grad_(true).unwrap();
        let (seed, one) = (rng.next(), new());
        steps(&mut Rng(seed), &rows, size, |_| one.clone()).backward().unwrap();
        let each: Vec<Tensor> = (0..uses).map(|_| new()).collect();
        steps(&mut Rng(seed), &rows, size, |at| each[at].clone()).backward().unwrap();
        let mut sum = vec![0.0; size * size];
        for one in &each {
            grad_of(one).iter().zip(&mut sum).for_each(|(g, sum)| *sum += g);
        }
        assert_close(&format!("round {round}"), &one.grad().unwrap(), &sum, 1e-11, 1e-11);
    }
}

/// A weight's gradient over steps is one product; of few steps, and of many rows each, it is a sum of products.
#[test]
fn the_gradient_over_steps_is_one_product() {
    let products = |uses: usize, rows: usize| {
        let w = Tensor::ones(&[32, 16], DType::F32).unwrap().requires_grad_(true).unwrap();
        let back = Tensor::ones(&[16, 32], DType::F32).unwrap();
        let mut h = Tensor::ones(&[rows, 32], DType::F32).unwrap();
        for _ in 0..uses {
            h = h.matmul(&w).tanh().matmul(&back).tanh();
        }
        h.sum().backward().unwrap();
        let told = w.grad().unwrap().explain().unwrap();
        told.launches.iter().filter(|launch| launch.kind == "matmul" && launch.shape == [32, 16]).count()
    };
    assert_eq!([products(8, 4), products(3, 4), products(2, 4), products(8, 200)], [1, 1, 2, 8]);
}

/// So it is for gradients of gradients.
#[test]
fn second_gradients_of_a_weight_of_many_steps() {
    let mut rng = Rng(40);
    let (w, x) = (rng.leaf(&[4, 4], -1.0, 1.0), rng.leaf(&[2, 4], -1.0, 1.0));
    let f = |inputs: &[Tensor]| {
        let mut h = inputs[1].clone();
        for _ in 0..4 {
            h = h.matmul(&inputs[0].t()).tanh();
        }
        Ok(h)
    };
    mg_autograd::gradcheck(f, &[w.clone(), x.clone()], Default::default()).unwrap();
    mg_autograd::gradgradcheck(f, &[w, x], Default::default()).unwrap();
}
