//! Two CUDA devices: copies between them and the order of those with what makes and what overwrites their source, gradients,
//! memory, replays, errors. On a machine with one, each test says so.

mod common;

use common::numbers;
use mg_autograd::{Backward, Tensor, grad, jit, no_grad};
use mg_device::{DType, Device, ErrorKind, Result};
use std::sync::{Mutex, MutexGuard};

/// One test at a time: statistics are the devices'.
static DEVICES: Mutex<()> = Mutex::new(());

fn two() -> Option<(Device, Device, MutexGuard<'static, ()>)> {
    match (Device::cuda(0), Device::cuda(1)) {
        (Ok(first), Ok(second)) => Some((first, second, DEVICES.lock().unwrap_or_else(|e| e.into_inner()))),
        (Ok(_), Err(_)) => {
            eprintln!("skipped: one CUDA device");
            None
        }
        _ => {
            eprintln!("skipped: no CUDA device");
            None
        }
    }
}

fn on(device: Device, n: usize, seed: u64) -> Tensor {
    Tensor::from_vec(numbers(n, seed), &[n]).unwrap().to(device).unwrap().realize().unwrap().clone()
}

fn f32s(t: &Tensor) -> Vec<f32> {
    t.to_vec::<f32>().unwrap()
}

/// Work of some milliseconds that gives another matrix of the same size.
fn long(x: &Tensor, steps: usize) -> Tensor {
    let mut y = x.clone();
    for _ in 0..steps {
        y = (y.matmul(x) * (1.0 / 64.0)).tanh();
    }
    y
}

#[test]
fn copies_keep_every_bit() {
    let Some((first, second, _lock)) = two() else { return };
    for n in [0, 1, 3, 31, 4097, (1 << 20) + 1, 5 << 20] {
        let values = numbers(n, 1);
        let x = Tensor::from_vec(values.clone(), &[n]).unwrap().to(first).unwrap();
        let there = x.to(second).unwrap();
        assert_eq!(there.device(), second);
        assert_eq!(f32s(&there), values, "{n} elements");
        assert_eq!(f32s(&there.to(first).unwrap().to(second).unwrap().to(Device::cpu()).unwrap()), values);
    }
    for dtype in DType::ALL {
        let x = Tensor::from_vec(numbers(1000, 2), &[1000]).unwrap().to_dtype(dtype);
        let there = x.to(first).unwrap().to(second).unwrap();
        assert_eq!((there.dtype(), there.to_f64_vec().unwrap()), (dtype, x.to_f64_vec().unwrap()));
    }
}

#[test]
fn views_and_pending_work_are_copied() {
    let Some((first, second, _lock)) = two() else { return };
    let x = on(first, 6000, 3).reshape(&[60, 100]).unwrap();
    type View = fn(&Tensor) -> Result<Tensor>;
    let views: [View; 6] = [
        |x| Ok(x.t()),
        |x| x.slice(1, Some(3), Some(90), 7),
        |x| x.flip(&[0]),
        |x| x.select(0, 7)?.expand(&[5, 100]),
        |x| Ok((x * 2.0).exp().t()),
        |x| x.narrow(0, 59, 1),
    ];
    for (i, view) in views.iter().enumerate() {
        let there = view(&x).unwrap().to(second).unwrap();
        assert_eq!(f32s(&there), f32s(&view(&x).unwrap()), "view {i}");
        // And used on, on the other side.
        assert_eq!(f32s(&(&there + 1.0).t()), f32s(&(view(&x).unwrap() + 1.0).t()), "view {i}");
    }
}

#[test]
fn gradients_flow_between_devices() {
    let Some((first, second, _lock)) = two() else { return };
    let leaf = |device, seed| on(device, 1000, seed).requires_grad_(true).unwrap();
    let (x, w) = (leaf(first, 4), leaf(second, 5));
    let y = (x.square().to(second).unwrap() * &w).to(first).unwrap();
    (&y * &x).sum().backward().unwrap();
    let (gx, gw) = (x.grad().unwrap(), w.grad().unwrap());
    assert_eq!((gx.device(), gw.device()), (first, second));
    // y = x³w.
    for (((x, w), gx), gw) in f32s(&x).iter().zip(f32s(&w)).zip(f32s(&gx)).zip(f32s(&gw)) {
        assert!((gx - 3.0 * x * x * w).abs() <= 1e-5, "{gx} is not 3·{x}²·{w}");
        assert!((gw - x * x * x).abs() <= 1e-6, "{gw} is not {x}³");
    }
    // Of the second order, through both transfers again.
    let how = Backward { create_graph: true, ..Backward::default() };
    let y = x.to(second).unwrap().powf(3.0).sum().to(first).unwrap();
    let slope = grad(&[&y], &[&x], &[], how).unwrap().remove(0).unwrap();
    let curve = grad(&[&slope.sum()], &[&x], &[], Backward::default()).unwrap().remove(0).unwrap();
    assert_eq!(curve.device(), first);
    for (x, c) in f32s(&x).iter().zip(f32s(&curve)) {
        assert!((c - 6.0 * x).abs() <= 1e-5, "{c} is not 6·{x}");
    }
}

#[test]
fn devices_are_never_mixed() {
    let Some((first, second, _lock)) = two() else { return };
    let (x, y) = (on(first, 4, 1), on(second, 4, 2));
    let index = Tensor::from_slice(&[0i64, 1]).to(second).unwrap();
    let errors = [
        x.try_add(&y).map(drop).unwrap_err(),
        x.try_matmul(&y).map(drop).unwrap_err(),
        Tensor::cat(&[&x, &y], 0).map(drop).unwrap_err(),
        Tensor::where_(&y.lt(0.0), &x, &x).map(drop).unwrap_err(),
        x.index_select(0, &index).map(drop).unwrap_err(),
        x.assign(&y).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error.kind(), ErrorKind::UnlikeDevices(_)), "{error}");
        let text = error.to_string();
        assert!(text.contains("cuda:0") && text.contains("cuda:1"), "{text}");
        assert!(text.contains("cuda_devices.rs"), "{text}");
    }
    let error = Device::cuda(Device::cuda_count()).unwrap_err().to_string();
    assert!(error.contains(&format!("this machine has {} CUDA devices", Device::cuda_count())), "{error}");
}

#[test]
fn each_device_counts_its_own_memory() {
    let Some((first, second, _lock)) = two() else { return };
    first.synchronize().unwrap();
    let before = (first.memory_stats().active, second.memory_stats().active);
    let x = on(second, 1 << 20, 1);
    assert_eq!(first.memory_stats().active, before.0);
    assert_eq!(second.memory_stats().active, before.1 + (4 << 20));
    let y = x.to(first).unwrap().realize().unwrap().clone();
    assert_eq!(first.memory_stats().active, before.0 + (4 << 20));
    // A limit holds for its own device.
    first.set_memory_limit(Some(before.0 + (5 << 20)));
    let error = x.to(first).unwrap().realize().map(drop).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}");
    assert_eq!(f32s(&(&x + &x)).len(), 1 << 20);
    first.set_memory_limit(None);
    assert_eq!(f32s(&x.to(first).unwrap()), f32s(&y));
    drop((x, y));
    assert_eq!((first.memory_stats().active, second.memory_stats().active), before);
}

/// The copy is on the destination's stream, and what makes its source on the other.
#[test]
fn a_copy_waits_for_what_makes_its_source() {
    let Some((first, second, _lock)) = two() else { return };
    for seed in 0..10 {
        let x = on(first, 1 << 20, seed).reshape(&[1024, 1024]).unwrap();
        let y = long(&x, 30).realize().unwrap().clone();
        // Nothing has waited for the device so far.
        let there = y.to(second).unwrap();
        let sum = (&there + 1.0).realize().unwrap().clone();
        assert_eq!(f32s(&there), f32s(&y), "seed {seed}");
        let want: Vec<f32> = f32s(&y).into_iter().map(|v| v + 1.0).collect();
        assert_eq!(f32s(&sum), want, "seed {seed}");
    }
}

/// The destination is busy, so the copy comes late; the source's memory is given back and written at once.
#[test]
fn memory_is_not_reused_before_it_was_copied() {
    let Some((first, second, _lock)) = two() else { return };
    let n = 4 << 20;
    let busy = on(second, 1 << 22, 99).reshape(&[2048, 2048]).unwrap();
    for seed in 0..10 {
        let x = on(first, n, seed);
        let want = numbers(n, seed);
        let work = long(&busy, 20).realize().unwrap().clone();
        let there = x.to(second).unwrap().realize().unwrap().clone();
        drop(x);
        // The same memory, from the cache.
        let hits = first.memory_stats().hits;
        let others: Vec<Tensor> = (0..3)
            .map(|i| Tensor::scalar(i as f32).to(first).unwrap().expand(&[n as isize]).unwrap())
            .collect();
        let others: Vec<Tensor> = others.iter().map(|t| t.copy().realize().unwrap().clone()).collect();
        assert!(first.memory_stats().hits > hits, "nothing was reused");
        assert_eq!(f32s(&there), want, "seed {seed}");
        drop((work, others));
    }
}

#[test]
fn many_threads_copy_both_ways() {
    let Some((first, second, _lock)) = two() else { return };
    std::thread::scope(|s| {
        for thread in 0..4 {
            s.spawn(move || {
                let (here, there) = if thread % 2 == 0 { (first, second) } else { (second, first) };
                for i in 0..50 {
                    let n = 1000 + 37 * i;
                    let x = on(here, n, thread * 100 + i as u64);
                    let y = (&x + &x).to(there).unwrap();
                    let z = (&y * 0.5).to(here).unwrap();
                    assert_eq!(f32s(&z), numbers(n, thread * 100 + i as u64));
                    // A thread of its own has no current device.
                    there.synchronize().unwrap();
                }
            });
        }
    });
}

/// One structure, found again on the other device: its kernels and its memory are that device's.
#[test]
fn a_plan_is_of_one_device() {
    let Some((first, second, _lock)) = two() else { return };
    for round in 0..3 {
        for device in [first, second] {
            let x = on(device, 300, round).reshape(&[10, 30]).unwrap();
            let y = (x.try_softmax(Some(1), None).unwrap() * 2.0).matmul(&x.t()) + 1.0;
            assert_eq!(y.device(), device);
            let host = on(Device::cpu(), 300, round).reshape(&[10, 30]).unwrap();
            let want = (host.try_softmax(Some(1), None).unwrap() * 2.0).matmul(&host.t()) + 1.0;
            for (a, b) in f32s(&y).iter().zip(f32s(&want)) {
                assert!((a - b).abs() <= 1e-5 + 1e-5 * b.abs(), "{a} on {device}, {b} on the CPU");
            }
        }
    }
}

#[test]
fn an_index_out_of_range_is_told_by_its_own_device() {
    let Some((first, second, _lock)) = two() else { return };
    let (x, y) = (on(first, 4, 1), on(second, 4, 1));
    let index = Tensor::from_slice(&[0i64, 9]).to(second).unwrap();
    let line = line!() + 1;
    let picked = y.index_select(0, &index).unwrap();
    picked.realize().unwrap();
    assert_eq!(f32s(&(&x + &x)).len(), 4, "the other device knows nothing of it");
    let error = second.synchronize().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Index { index: 9, axis: 0, size: 4 }), "{error}");
    assert!(error.to_string().contains(&format!("cuda_devices.rs:{line}")), "{error}");
    assert_eq!(f32s(&(&y + &y)).len(), 4);
}

/// Losses of a small network on a device, its steps replayed or not.
fn losses(device: Device, replayed: bool) -> Vec<f32> {
    let leaf = |n: usize, shape: &[isize], seed| {
        let t = (on(device, n, seed) * 0.2).reshape(shape).unwrap().copy();
        t.realize().unwrap();
        t.detach().requires_grad_(true).unwrap()
    };
    let (w, v) = (leaf(20 * 50, &[20, 50], 1), leaf(50 * 10, &[50, 10], 2));
    let x = on(device, 64 * 20, 3).reshape(&[64, 20]).unwrap();
    let y = Tensor::from_slice(&(0..64).map(|i| i % 10).collect::<Vec<i64>>()).to(device).unwrap();
    let step = |x: &Tensor| {
        let loss = x.matmul(&w).relu().matmul(&v).try_cross_entropy(&y, None, -100, "mean", 0.0)?;
        for p in [&w, &v] {
            p.zero_grad();
        }
        loss.backward()?;
        let _guard = no_grad();
        for p in [&w, &v] {
            if let Some(g) = p.grad() {
                p.assign(p - &(&g * 0.5))?;
            }
        }
        Ok(loss)
    };
    if !replayed {
        return (0..20).map(|_| step(&x).unwrap().item::<f32>().unwrap()).collect();
    }
    let mut step = jit(|args: &[Tensor]| Ok(vec![step(&args[0])?]));
    let losses = (0..20).map(|_| step.call(&[&x]).unwrap()[0].item::<f32>().unwrap()).collect();
    assert!(step.is_replaying());
    losses
}

#[test]
fn the_second_device_trains_as_the_first() {
    let Some((first, second, _lock)) = two() else { return };
    let want = losses(first, false);
    assert!(want[19] < want[0] * 0.95, "{want:?}");
    for (device, replayed) in [(second, false), (second, true), (first, true), (second, true)] {
        let got = losses(device, replayed);
        assert_eq!(want, got, "{device}, replayed: {replayed}");
    }
}

/// Half of a step on each device, replayed: such a step is no single graph.
#[test]
fn a_step_over_both_devices_is_replayed() {
    let Some((first, second, _lock)) = two() else { return };
    let (a, b) = (on(first, 100, 1), on(second, 100, 2));
    let (wa, wb) = (numbers(100, 1), numbers(100, 2));
    let mut step = jit(|args: &[Tensor]| {
        a.assign(&a + &args[0])?;
        b.assign(&b + a.to(second)?)?;
        Ok(vec![b.to(first)?])
    });
    let (mut wa, mut wb) = (wa, wb);
    for i in 0..8 {
        let x = on(first, 100, 10 + i);
        let got = f32s(&step.call(&[&x]).unwrap()[0]);
        wa.iter_mut().zip(numbers(100, 10 + i)).for_each(|(w, v)| *w += v);
        wb.iter_mut().zip(&wa).for_each(|(w, v)| *w += v);
        assert_eq!(got, wb, "step {i}");
    }
    assert!(step.is_replaying());
}
