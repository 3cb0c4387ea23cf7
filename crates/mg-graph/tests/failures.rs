//! What goes wrong stays where it went wrong: with the nodes that depend on it, and nobody else.

mod common;

use common::*;
use mg_device::{Device, ErrorKind};
use mg_graph::{Node, realize};
use mg_kernels::{ReduceKind, Row};
use std::sync::atomic::{AtomicBool, Ordering};

/// An index error's index and size, and the line it names.
#[track_caller]
fn index_error(node: &Node) -> (i64, usize, u32) {
    let error = realize(&[node]).unwrap_err();
    let ErrorKind::Index { index, size, .. } = *error.kind() else { panic!("{error}") };
    assert!(error.location().file().ends_with("failures.rs"), "{error}");
    (index, size, error.location().line())
}

#[test]
fn an_index_out_of_range_names_index_size_and_line() {
    let _turn = alone();
    let x = floats(&[4, 5], 1);
    for (bad, axis, size) in [(5i64, 1, 5), (-1, 1, 5), (4, 0, 4), (1 << 40, 0, 4)] {
        let mut index = vec![0i64; 20];
        index[13] = bad;
        let index = data(&index, &[4, 5]);
        let (gathered, line) = (x.gather(axis, &index).unwrap(), line!());
        assert_eq!(index_error(&gathered), (bad, size, line));
        let (added, line) = (x.scatter_add(axis, &index, 4).unwrap(), line!());
        if bad != 4 || axis == 0 {
            assert_eq!(index_error(&added), (bad, 4, line));
        }
        let (guarded, line) = (index.guard(0, 3), line!());
        assert_eq!(index_error(&map(Row::Neg, &[&guarded])), (bad, 3, line));
    }
}

#[test]
fn every_reader_of_a_failed_node_gets_its_error() {
    let _turn = alone();
    let x = floats(&[3], 1);
    let (bad, line) = (x.gather(0, &data(&[0i64, 7, 1], &[3])).unwrap(), line!());
    let early = add(&bad, &x);
    realize(&[&bad]).unwrap_err();
    let late = map(Row::Exp, &[&bad]);
    let sum = late.reduce(ReduceKind::Sum, 1, false).unwrap();
    for node in [&bad, &early, &late, &sum, &bad.alias(), &bad.slice(0, 0, 1, 2).unwrap()] {
        assert_eq!(index_error(node), (7, 3, line), "{node:?}");
        assert_eq!(index_error(node), (7, 3, line), "{node:?}, asked again");
    }
    assert!(f32s(&map(Row::Neg, &[&x])).len() == 3, "what it was computed from is as it was");
}

#[test]
fn nodes_that_do_not_depend_on_the_failure_are_computed() {
    let _turn = alone();
    let x = floats(&[3], 1);
    let bad = x.gather(0, &data(&[0i64, 7, 1], &[3])).unwrap();
    let (good, after) = (map(Row::Neg, &[&x]), add(&bad, &x));
    assert!(realize(&[&good, &after]).is_err());
    assert_eq!(f32s(&good), f32s(&x).iter().map(|v| -v).collect::<Vec<_>>());
    let held = add(&x, &x);
    held.hold();
    let worse = add(&x.gather(0, &data(&[9i64, 0, 0], &[3])).unwrap(), &x);
    assert!(realize(&[&worse]).is_err());
    assert_eq!(f32s(&held), f32s(&x).iter().map(|v| v + v).collect::<Vec<_>>());
    held.let_go();
}

#[test]
fn a_neighbour_in_the_same_launch_does_not_fail_with_a_guard() {
    let _turn = alone();
    let index = data(&[0i64, 7, 1], &[3]);
    let (guarded, doubled) = (mul(&index.guard(0, 3), &index), add(&index, &index));
    assert!(realize(&[&guarded, &doubled]).is_err());
    assert_eq!(index_error(&guarded).0, 7);
    assert_eq!(i64s(&doubled), [0, 14, 2]);
}

#[test]
fn two_failures_of_one_realisation_keep_their_own_errors() {
    let _turn = alone();
    let (x, y) = (floats(&[3], 1), floats(&[4], 2));
    let (first, first_line) = (x.gather(0, &data(&[5i64, 0, 0], &[3])).unwrap(), line!());
    let (second, second_line) = (y.gather(0, &data(&[0i64, 0, 0, -2], &[4])).unwrap(), line!());
    assert!(realize(&[&first, &second]).is_err());
    assert_eq!(index_error(&first), (5, 3, first_line));
    assert_eq!(index_error(&second), (-2, 4, second_line));
    // Two checks of one launch.
    let (a, b) = (data(&[0i64, 1], &[2]), data(&[0i64, 9], &[2]));
    let (fine, bad, line) = (a.guard(0, 2), b.guard(0, 2), line!());
    assert_eq!(index_error(&add(&fine, &bad)), (9, 2, line));
    let both = {
        let fine = a.guard(0, 5);
        (fine, line!(), b.guard(0, 6), line!())
    };
    assert_eq!(index_error(&add(&both.0, &both.2)), (9, 6, both.3));
}

#[test]
fn a_plan_found_again_names_the_line_of_this_time() {
    let _turn = alone();
    let x = floats(&[2], 1);
    let index = || data(&[0i64, 8], &[2]);
    let (one, one_line) = (x.gather(0, &index()).unwrap(), line!());
    let (two, two_line) = (x.gather(0, &index()).unwrap(), line!());
    assert_eq!(index_error(&one), (8, 2, one_line));
    assert_eq!(index_error(&two), (8, 2, two_line));
    let (one, one_line) = (index().guard(0, 3), line!());
    let (two, two_line) = (index().guard(0, 3), line!());
    assert_eq!(index_error(&one.copy()), (8, 3, one_line));
    assert_eq!(index_error(&two.copy()), (8, 3, two_line));
}

#[test]
fn a_check_of_a_result_of_a_full_reduction_counts() {
    let _turn = alone();
    let x = data(&[3f32, 9.0, 2.0], &[3]);
    let at = x.reduce(ReduceKind::ArgMax, 1, false).unwrap();
    assert_eq!(i64s(&at.guard(0, 3)), [1]);
    let at = x.reduce(ReduceKind::ArgMax, 1, false).unwrap();
    let (checked, line) = (at.guard(0, 1), line!());
    assert_eq!(index_error(&checked), (1, 1, line));
}

#[test]
fn memory_beyond_the_limit_is_an_error_and_no_more() {
    let _turn = alone();
    let device = Device::cpu();
    let x = floats(&[1 << 16], 1);
    let y = Node::concat(&[&x; 64], 0).unwrap();
    let small = map(Row::Neg, &[&x.slice(0, 0, 1, 10).unwrap()]);
    device.empty_cache();
    device.set_memory_limit(Some(device.memory_stats().active + (1 << 20)));
    let error = realize(&[&y]).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::OutOfMemory { requested, .. } if *requested >= 1 << 24),
        "{error}"
    );
    assert_eq!(f32s(&small).len(), 10, "what fits is computed");
    assert!(realize(&[&y]).is_err(), "asked again, it still does not fit");
    device.set_memory_limit(None);
    let values = f32s(&x);
    let all = f32s(&y);
    assert!(all.chunks(1 << 16).all(|part| part == values));
}

#[test]
fn a_donated_operand_survives_a_realisation_without_memory() {
    let _turn = alone();
    let device = Device::cpu();
    let x = floats(&[1 << 16], 1);
    let want = f32s(&x);
    // The first result takes over x, the second finds no memory.
    let other = floats(&[1 << 16], 2);
    let (y, z) = (map(Row::Neg, &[&x]), Node::concat(&[&other; 64], 0).unwrap());
    drop(x);
    device.empty_cache();
    device.set_memory_limit(Some(device.memory_stats().active + (1 << 20)));
    assert!(realize(&[&y, &z]).is_err());
    device.set_memory_limit(None);
    assert_eq!(f32s(&y), want.iter().map(|v| -v).collect::<Vec<_>>());
    assert_eq!(f32s(&z).len(), 1 << 22);
}

#[test]
fn threads_that_share_nodes_see_the_same_values() {
    let _turn = alone();
    let x = floats(&[257], 1);
    let base = f32s(&x);
    for round in 0..60 {
        let shared = map(Row::Exp, &[&add(&x, &scalar(round as f64))]);
        let sum = reduce(&shared, ReduceKind::Sum, 1);
        let (shared_ref, sum_ref) = (&shared, &sum);
        let results: Vec<Vec<f32>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..6)
                .map(|t| {
                    scope.spawn(move || {
                        let mine = map(Row::Div, &[shared_ref, sum_ref]);
                        mine.hold();
                        let scaled = mul(&mine, &scalar(t as f64));
                        let values = if t % 2 == 0 { f32s(&mine) } else { f32s(&scaled) };
                        mine.let_go();
                        let divisor = if t % 2 == 0 { 1.0 } else { t as f32 };
                        values.iter().map(|v| v / divisor).collect()
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        for r in &results {
            assert!(r.iter().zip(&results[0]).all(|(a, b)| (a - b).abs() <= 1e-6 * b.abs()), "round {round}");
        }
    }
    assert_eq!(f32s(&x), base);
}

#[test]
fn handles_dropped_by_one_thread_while_others_realise_free_nothing_in_use() {
    let _turn = alone();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for t in 0..3u64 {
            let stop = &stop;
            scope.spawn(move || {
                let mut seed = t;
                while !stop.load(Ordering::Relaxed) {
                    seed += 3;
                    let x = floats(&[64], seed);
                    let want: Vec<f32> = f32s(&x).iter().map(|v| (v + v) * v).collect();
                    let doubled = add(&x, &x);
                    let product = mul(&doubled, &x);
                    product.hold();
                    // Another thread lets a part of the graph go while this one computes it.
                    std::thread::scope(|inner| {
                        inner.spawn(move || drop((x, doubled)));
                        assert_eq!(f32s(&product), want);
                    });
                    product.let_go();
                }
            });
        }
        std::thread::sleep(std::time::Duration::from_millis(600));
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_million_pending_nodes_are_dropped_without_recursion() {
    let _turn = alone();
    // A small stack would not survive one frame a node.
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(|| {
        let x = floats(&[4], 1);
        let one = scalar(1.0);
        let mut y = x.clone();
        for _ in 0..1_000_000 {
            y = add(&y, &one);
        }
        drop(y);
        // A ladder: each node is reached in two ways.
        let (mut a, mut b) = (x.clone(), x);
        for _ in 0..200_000 {
            (a, b) = (add(&a, &b), mul(&a, &b));
        }
        drop(a);
        drop(b);
    });
    thread.unwrap().join().unwrap();
}

#[test]
fn a_long_chain_is_realised_on_a_small_stack() {
    let _turn = alone();
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(|| {
        let mut y = data(&[1i64], &[1]);
        let one = data(&[1i64], &[1]);
        for _ in 0..30_000 {
            y = add(&y, &one);
        }
        i64s(&y)
    });
    assert_eq!(thread.unwrap().join().unwrap(), [30_001]);
}

#[test]
fn what_reads_a_failure_does_not_take_others_along() {
    let _turn = alone();
    let x = floats(&[3], 1);
    let bad = x.gather(0, &data(&[0i64, 7, 1], &[3])).unwrap();
    assert!(realize(&[&bad]).is_err());
    // Held, and pending: one reads the failure; the other reads that one, and something that is asked for.
    let asked = add(&x, &x);
    let first = add(&mul(&x, &x), &bad);
    let second = add(&first, &asked);
    for node in [&first, &second, &asked] {
        node.hold();
    }
    assert_eq!(f32s(&asked), f32s(&x).iter().map(|v| v + v).collect::<Vec<_>>());
    assert_eq!((index_error(&first).0, index_error(&second).0), (7, 7));
    for node in [&first, &second, &asked] {
        node.let_go();
    }
    drop((first, second, asked));
    let (good, worse) = (mul(&x, &x), map(Row::Exp, &[&bad]));
    assert!(realize(&[&worse, &good]).is_err());
    assert!(!good.is_pending(), "asked for together with what fails");
}

#[test]
fn a_failure_among_held_nodes_does_not_stop_what_waits_from_being_computed() {
    let _turn = alone();
    let x = floats(&[3], 1);
    let bad = x.gather(0, &data(&[0i64, 7, 1], &[3])).unwrap();
    assert!(realize(&[&bad]).is_err());
    let reader = add(&bad, &x);
    reader.hold();
    let mut sum = x.clone();
    for _ in 0..20_000 {
        let next = add(&sum, &x);
        next.hold();
        sum.let_go();
        sum = next;
    }
    let mut waiting = 0;
    let mut at = sum.clone();
    while at.is_pending() {
        at = at.sources()[0].clone();
        waiting += 1;
    }
    assert!(waiting <= 1 << 14, "{waiting} nodes wait");
    sum.let_go();
    reader.let_go();
}

#[test]
fn a_thread_that_ends_drops_the_graphs_that_its_locals_hold() {
    thread_local! {
        static KEPT: std::cell::RefCell<Option<Node>> = const { std::cell::RefCell::new(None) };
    }
    let chain = |n: usize| (0..n).fold(floats(&[2], 1), |x, _| add(&x, &x));
    let kept = std::thread::spawn(move || {
        KEPT.set(Some(chain(100_000)));
        // Whatever dropping a graph sets up on a thread is set up after the local that outlives it.
        drop(chain(10));
    });
    kept.join().unwrap();
}

#[test]
fn work_that_waits_is_computed_at_the_same_bound_every_time() {
    let _turn = alone();
    let one = floats(&[1], 1);
    let mut sum = one.clone();
    let mut most = 0;
    let mut waiting = 0;
    for _ in 0..60_000 {
        let next = add(&sum, &one);
        next.hold();
        waiting = if sum.is_pending() { waiting + 1 } else { 1 };
        most = most.max(waiting);
        sum.let_go();
        sum = next;
    }
    sum.let_go();
    assert!(most <= (1 << 14) + 200, "{most} nodes waited");
}
