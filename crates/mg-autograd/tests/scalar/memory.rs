//! Deep graphs, memory, threads, speed.

use std::sync::{Mutex, MutexGuard, mpsc};
use std::thread;

use mg_autograd::scalar::{Span, Value, tape_bytes};

use crate::{assert_close, many};

/// Tests that take much memory, or look at how much there is, take turns.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[test]
fn a_long_chain_builds_differentiates_and_drops() {
    let _turn = alone();
    let n = many(1_000_000);
    let x = Value::new(0.5);
    let mut y = x.clone();
    for i in 0..n {
        y = if i % 2 == 0 { &y + &x } else { &y - 0.5 };
    }
    y.backward();
    assert_eq!(x.grad(), 1.0 + n.div_ceil(2) as f64);
    assert_eq!(y.trace().len(), n + 1);
}

#[test]
fn a_deep_stack_of_neurons_drops() {
    let _turn = alone();
    let w = Span::from([1.0, 0.5]);
    let mut x = Value::new(1.0);
    let first = x.clone();
    let n = many(200_000);
    for _ in 0..n {
        x = w.affine(&Span::from([x])).unwrap();
    }
    x.backward();
    assert_eq!((x.data(), first.grad(), w[1].grad()), (1.0 + n as f64 / 2.0, 1.0, n as f64));
}

#[test]
fn memory_of_dropped_graphs_is_used_again() {
    let _turn = alone();
    let round = |n: usize| {
        let x = Value::new(1.0);
        let mut kept = Vec::new();
        let mut y = x.clone();
        for i in 0..n {
            y = &y * 0.5 + &x;
            if i % 100 == 0 {
                kept.push(Value::new(y.data()));
            }
        }
        y.backward();
    };
    let n = many(100_000);
    round(n);
    let before = tape_bytes();
    for _ in 0..30 {
        round(n);
    }
    // Other tests run at the same time, so some growth is theirs; thirty rounds without reuse are 240 MB.
    let grown = tape_bytes() - before;
    assert!(grown < 120_000_000, "{grown} bytes");
}

#[test]
fn memory_dropped_on_another_thread_is_used_again() {
    let _turn = alone();
    let (send, receive) = mpsc::sync_channel::<Value>(1);
    let consumer = thread::spawn(move || receive.into_iter().map(|v| v.data()).sum::<f64>());
    let n = many(50_000);
    let before = tape_bytes();
    for _ in 0..40 {
        let x = Value::new(1.0);
        let y = (0..n).fold(x.clone(), |y, _| y * 1.0 + Value::new(0.0));
        send.send(y).unwrap();
    }
    drop(send);
    assert_eq!(consumer.join().unwrap(), 40.0);
    // Without reuse: 240 MB.
    let grown = tape_bytes() - before;
    assert!(grown < 120_000_000, "{grown} bytes");
}

#[test]
fn memory_of_threads_that_end_is_used_again() {
    let _turn = alone();
    let n = many(20_000);
    let before = tape_bytes();
    for _ in 0..100 {
        let graph = thread::spawn(move || (0..n).fold(Value::new(1.0), |y, _| y * 1.0)).join().unwrap();
        // A thread that only drops keeps nothing either.
        thread::spawn(move || drop(graph)).join().unwrap();
    }
    // Without reuse: 80 MB.
    let grown = tape_bytes() - before;
    assert!(grown < 60_000_000, "{grown} bytes");
}

#[test]
fn threads_build_on_shared_leaves_and_lose_no_gradient() {
    let leaves: Span = (0..10).map(f64::from).collect();
    let rounds = many(200_000) / 1000;
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for _ in 0..rounds {
                    let sum: Value = leaves.iter().map(|v| v * 2.0).sum();
                    (&sum + leaves.affine(&Span::from([1.0; 10])).unwrap()).backward();
                }
            });
        }
    });
    for leaf in leaves.iter() {
        assert_eq!(leaf.grad(), (4 * rounds * 3) as f64);
    }
}

#[test]
fn a_graph_that_grows_on_two_threads_by_turns_is_in_order() {
    // The page that is newer when a value is made changes from turn to turn.
    let (to_other, at_other) = mpsc::channel::<Value>();
    let (to_us, at_us) = mpsc::channel::<Value>();
    let other = thread::spawn(move || {
        for v in at_other {
            to_us.send(&v * 1.0 + &v * 0.0).unwrap();
        }
    });
    let x = Value::new(1.0);
    let mut y = x.clone();
    for _ in 0..many(2_000_000) / 1000 {
        to_other.send(y.clone()).unwrap();
        let back = at_us.recv().unwrap();
        y = (&back + &y) * 0.5;
    }
    drop(to_other);
    other.join().unwrap();
    y.backward();
    assert_eq!((y.data(), x.grad()), (1.0, 1.0));
}

#[test]
fn many_threads_may_differentiate_one_graph() {
    let x = Value::new(0.3);
    let y = (0..many(1_000_000) / 1000).fold(x.clone(), |y, i| if i % 2 == 0 { &y + &x } else { y * 0.5 });
    y.backward();
    let once = x.grad();
    x.zero_grad();
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| y.backward());
        }
    });
    assert_close(x.grad(), 4.0 * once, 1e-15);
}

/// `cargo test --release -p mg-autograd --test scalar -- --ignored --nocapture speed`
#[test]
#[ignore = "prints times; run it in release mode on a quiet machine"]
fn speed() {
    use std::time::Instant;
    const N: usize = 1_000_000;
    let x = Value::new(1.0);
    type Build = fn(&Value) -> Value;
    let builds: [(&str, Build); 5] = [
        ("chain, y = y + c", |x| (0..N).fold(x.clone(), |y, _| y + 1e-6)),
        ("chain, y = &y + c", |x| (0..N).fold(x.clone(), |y, _| &y + 1e-6)),
        ("chain, y = &y * &x", |x| (0..N).fold(x.clone(), |y, _| &y * x)),
        ("diamonds, y = (&y + &y) * c", |x| (0..N / 2).fold(x.clone(), |y, _| (&y + &y) * 0.5)),
        ("binary tree", |x| {
            let mut row: Vec<Value> = (0..N / 2).map(|_| x * 0.5).collect();
            while row.len() > 1 {
                row = row.chunks(2).map(|pair| pair.iter().sum()).collect();
            }
            row.swap_remove(0)
        }),
    ];
    println!(
        "{:30} {:>12} {:>12} {:>12}   million nodes a second, best of 9",
        "", "build", "backward", "drop"
    );
    for (name, build) in builds {
        let mut best = [f64::INFINITY; 3];
        for _ in 0..9 {
            let t0 = Instant::now();
            let y = build(&x);
            let t1 = Instant::now();
            y.backward();
            let t2 = Instant::now();
            drop(y);
            let t3 = Instant::now();
            for (b, d) in best.iter_mut().zip([t1 - t0, t2 - t1, t3 - t2]) {
                *b = b.min(d.as_secs_f64());
            }
        }
        let [a, b, c] = best.map(|s| N as f64 / s / 1e6);
        println!("{name:30} {a:12.1} {b:12.1} {c:12.1}");
    }
    let start = Instant::now();
    let y = (0..N).fold(x.clone(), |y, _| &y + 1e-6);
    y.backward();
    drop(y);
    println!(
        "a million nodes built, differentiated and dropped: {:.1} ms",
        start.elapsed().as_secs_f64() * 1e3
    );
}
