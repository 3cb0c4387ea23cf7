//! What is particular to CUDA devices: transfers, late errors, memory, replays, and results equal to the CPU's. Where there
//! is no device, each test says so. (The other tests of this crate run on a device too, under `MG_DEVICE=cuda`.)

mod common;

use common::numbers;
use mg_autograd::{Tensor, jit, no_grad};
use mg_device::{DType, Device, ErrorKind};
use std::sync::{Mutex, MutexGuard};

/// One test at a time: limits and statistics are the device's.
static DEVICE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    DEVICE.lock().unwrap_or_else(|e| e.into_inner())
}

fn device() -> Option<(Device, MutexGuard<'static, ()>)> {
    match Device::cuda(0) {
        Ok(device) => Some((device, alone())),
        Err(_) => {
            eprintln!("skipped: no CUDA device");
            None
        }
    }
}

fn on_cpu(values: Vec<f32>, shape: &[usize]) -> Tensor {
    Tensor::from_vec(values, shape).unwrap().to(Device::cpu()).unwrap()
}

fn bits(t: &Tensor) -> Vec<u32> {
    t.to_vec::<f32>().unwrap().into_iter().map(f32::to_bits).collect()
}

#[test]
fn gradients_flow_through_transfers() {
    let Some((gpu, _lock)) = device() else { return };
    let x = on_cpu(numbers(1000, 1), &[10, 100]).requires_grad_(true).unwrap();
    let y = x.t().to(gpu).unwrap().square().to(Device::cpu()).unwrap();
    y.sum().backward().unwrap();
    let grad = x.grad().unwrap();
    assert_eq!(grad.device(), Device::cpu());
    let want: Vec<f32> = x.to_vec::<f32>().unwrap().iter().map(|v| v + v).collect();
    assert_eq!(grad.to_vec::<f32>().unwrap(), want);
}

#[test]
fn devices_are_never_mixed() {
    let Some((gpu, _lock)) = device() else { return };
    let x = on_cpu(numbers(3, 1), &[3]);
    let error = x.try_add(x.to(gpu).unwrap()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnlikeDevices(_)), "{error}");
    assert!(error.to_string().contains("cpu") && error.to_string().contains("cuda:0"), "{error}");
}

#[test]
fn an_index_out_of_range_is_told_with_its_line() {
    let Some((gpu, _lock)) = device() else { return };
    let x = on_cpu(numbers(12, 1), &[4, 3]).to(gpu).unwrap();
    let index = Tensor::from_slice(&[0i64, 9, 1]).to(gpu).unwrap();
    let line = line!() + 1;
    let picked = x.index_select(0, &index).unwrap();
    let error = picked.to_vec::<f32>().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Index { index: 9, axis: 0, size: 4 }), "{error}");
    assert!(error.to_string().contains(&format!("cuda.rs:{line}")), "{error}");
    // What follows is well.
    assert_eq!((&x + &x).to_vec::<f32>().unwrap().len(), 12);
}

#[test]
fn out_of_memory_says_how_much_and_leaves_the_engine_usable() {
    let Some((gpu, _lock)) = device() else { return };
    gpu.empty_cache();
    let active = gpu.memory_stats().active;
    gpu.set_memory_limit(Some(active + (8 << 20)));
    let small = on_cpu(numbers(1000, 1), &[1000]).to(gpu).unwrap();
    small.realize().unwrap();
    let error = small.unsqueeze(0).unwrap().expand(&[10_000, 1000]).unwrap().exp().realize().unwrap_err();
    gpu.set_memory_limit(None);
    match error.kind() {
        ErrorKind::OutOfMemory { requested, limit, .. } => {
            assert!(*requested >= 40_000_000 && limit.is_some(), "{error}");
        }
        _ => panic!("{error}"),
    }
    assert_eq!(bits(&(&small + &small)).len(), 1000);
}

#[test]
fn memory_is_counted_and_reused() {
    let Some((gpu, _lock)) = device() else { return };
    let x = on_cpu(numbers(1 << 16, 1), &[1 << 16]).to(gpu).unwrap();
    x.realize().unwrap();
    let before = gpu.memory_stats();
    for _ in 0..1000 {
        (&x + &x).realize().unwrap();
    }
    let after = gpu.memory_stats();
    assert_eq!(before.active, after.active);
    assert!(after.hits - before.hits >= 999, "{before:?} {after:?}");
    // Dropped on another thread, too.
    let y = (&x * &x).realize().unwrap().clone();
    std::thread::spawn(move || drop(y)).join().unwrap();
    assert!(gpu.memory_stats().active <= after.active + (1 << 19));
}

#[test]
fn results_are_the_cpus() {
    let Some((gpu, _lock)) = device() else { return };
    let (m, n) = (37, 129);
    let (x, y) = (on_cpu(numbers(m * n, 1), &[m, n]), on_cpu(numbers(m * n, 2), &[m, n]));
    let of = |x: &Tensor, y: &Tensor| {
        let row = y.select(0, 3).unwrap();
        vec![
            x + y,
            x / y,
            x.exp().log(),
            x.abs().pow(2.5),
            x.tanh() * y.sigmoid(),
            x.sin() + y.cos(),
            x.erf(),
            (x * &row).relu(),
            x.t() - y.t(),
            x.to_dtype(DType::BF16).mul(y.to_dtype(DType::BF16)).to_dtype(DType::F32),
            x.to_dtype(DType::F16).exp().to_dtype(DType::F32),
        ]
    };
    let (gx, gy) = (x.to(gpu).unwrap(), y.to(gpu).unwrap());
    for (i, (c, g)) in of(&x, &y).iter().zip(of(&gx, &gy)).enumerate() {
        assert_eq!(bits(c), bits(&g), "expression {i}");
    }
    let (c, g) = (x.sum().item::<f32>().unwrap(), gx.sum().item::<f32>().unwrap());
    assert!((c - g).abs() <= 1e-4, "{c} and {g}");
}

/// A small network's losses, step by step.
fn losses(device: Device, replayed: bool) -> Vec<f32> {
    let place = |values: Vec<f32>, shape: &[usize]| on_cpu(values, shape).to(device).unwrap();
    let leaf = |t: Tensor| {
        t.realize().unwrap();
        t.requires_grad_(true).unwrap()
    };
    let scaled = |n: usize, seed: u64| numbers(n, seed).into_iter().map(|v| v * 0.1).collect::<Vec<_>>();
    let (w, b) = (leaf(place(scaled(20 * 50, 1), &[20, 50])), leaf(place(scaled(50, 2), &[50])));
    let v = leaf(place(scaled(50 * 10, 3), &[50, 10]));
    let x = place(numbers(64 * 20, 4), &[64, 20]);
    let y = Tensor::from_slice(&(0..64).map(|i| i % 10).collect::<Vec<i64>>()).to(device).unwrap();
    let step = |x: &Tensor| {
        let hidden = (x.matmul(&w) + &b).relu();
        let loss = hidden.matmul(&v).try_cross_entropy(&y, None, -100, "mean", 0.0)?;
        for p in [&w, &b, &v] {
            p.zero_grad();
        }
        loss.backward()?;
        let _guard = no_grad();
        for p in [&w, &b, &v] {
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
    (0..20).map(|_| step.call(&[&x]).unwrap()[0].item::<f32>().unwrap()).collect()
}

#[test]
fn training_goes_as_on_the_cpu() {
    let bits = |losses: &[f32]| losses.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let host = alone();
    let cpu = losses(Device::cpu(), false);
    assert!(cpu[19] < cpu[0] * 0.95, "{cpu:?}");
    assert_eq!(bits(&cpu), bits(&losses(Device::cpu(), true)));
    drop(host);
    let Some((gpu, _lock)) = device() else { return };
    let plain = losses(gpu, false);
    for (c, g) in cpu.iter().zip(&plain) {
        assert!((c - g).abs() <= 1e-4 * c.abs(), "{cpu:?} {plain:?}");
    }
    // A replay launches the same kernels in the same order.
    assert_eq!(bits(&plain), bits(&losses(gpu, true)));
}

#[test]
fn random_numbers_are_the_cpus() {
    let Some((gpu, _lock)) = device() else { return };
    let draw = |device| {
        mg_autograd::manual_seed(7);
        let before = mg_autograd::default_device();
        mg_autograd::set_default_device(device).unwrap();
        let t = Tensor::randn(&[1003], DType::F32).unwrap();
        mg_autograd::set_default_device(before).unwrap();
        bits(&t)
    };
    assert_eq!(draw(Device::cpu()), draw(gpu));
}

/// A replay collects its launches; another thread that copies meanwhile starts them, and none is lost or out of order.
#[test]
fn a_replay_beside_copies_of_other_threads() {
    let Some((gpu, _lock)) = device() else { return };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let want = losses(gpu, true);
    std::thread::scope(|s| {
        for seed in 0..3 {
            let stop = &stop;
            s.spawn(move || {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let values = numbers(3000, seed);
                    let x = on_cpu(values.clone(), &[3000]).to(gpu).unwrap();
                    assert_eq!(x.to_vec::<f32>().unwrap(), values);
                }
            });
        }
        let got: Vec<Vec<f32>> = (0..10).map(|_| losses(gpu, true)).collect();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        got.iter().for_each(|got| assert_eq!(*got, want));
    });
}

/// Checks of threads that never look do not come into the way of others', however many there were.
#[test]
fn thousands_of_checks_keep_their_errors() {
    let Some((gpu, _lock)) = device() else { return };
    let x = on_cpu(numbers(12, 1), &[4, 3]).to(gpu).unwrap().realize().unwrap().clone();
    let good = Tensor::from_slice(&[0i64, 1, 2]).to(gpu).unwrap().realize().unwrap().clone();
    let bad = Tensor::from_slice(&[0i64, 7, 2]).to(gpu).unwrap().realize().unwrap().clone();
    std::thread::scope(|s| {
        s.spawn(|| drop(x.index_select(0, &bad).unwrap().realize().unwrap().clone()));
    });
    for _ in 0..5000 {
        x.index_select(0, &good).unwrap().realize().unwrap();
    }
    gpu.synchronize().unwrap();
    let error = x.index_select(0, &bad).unwrap().to_vec::<f32>().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Index { index: 7, .. }), "{error}");
    gpu.synchronize().unwrap();
}

#[test]
fn a_replay_without_memory_changes_nothing() {
    let Some((gpu, _lock)) = device() else { return };
    let n = 1 << 20;
    let weight = on_cpu(vec![0.0; n], &[n]).to(gpu).unwrap().realize().unwrap().clone();
    let x = on_cpu(vec![1.0; n], &[n]).to(gpu).unwrap().realize().unwrap().clone();
    let mut step = jit(|args: &[Tensor]| {
        weight.assign(&weight + &args[0])?;
        Ok(vec![(&weight * 2.0).matmul(&args[0])])
    });
    for i in 1..=6 {
        assert_eq!(step.call(&[&x]).unwrap()[0].item::<f32>().unwrap(), 2.0 * i as f32 * n as f32);
    }
    assert!(step.is_replaying());
    gpu.empty_cache();
    gpu.set_memory_limit(Some(gpu.memory_stats().active));
    let error = step.call(&[&x]).map(drop).unwrap_err();
    gpu.set_memory_limit(None);
    assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}");
    assert_eq!(weight.to_vec::<f32>().unwrap(), vec![6.0; n]);
    assert_eq!(step.call(&[&x]).unwrap()[0].item::<f32>().unwrap(), 14.0 * n as f32);
    assert_eq!(weight.to_vec::<f32>().unwrap(), vec![7.0; n]);
}

/// Products and a convolution with work behind them, each launched once: a line of each.
fn tell_bits(gpu: Device) {
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let on = |seed: u64, shape: &[usize]| {
            let t = on_cpu(numbers(shape.iter().product(), seed), shape).to(gpu).unwrap();
            t.to_dtype(dtype).realize().unwrap().clone()
        };
        let (x, w, bias, beside) = (on(1, &[128, 96]), on(2, &[96, 256]), on(3, &[256]), on(4, &[128, 256]));
        let (images, filters, shift) =
            (on(5, &[4, 32, 16, 16]), on(6, &[64, 32, 3, 3]), on(7, &[1, 64, 1, 1]));
        let conv = || images.conv2d(&filters, None, &[1], (&[1]).into(), &[1], 1);
        // Their kernels are there from here on, whatever the package has of them.
        Tensor::realize_all([&x.matmul(&w), &conv()]).unwrap();
        for (what, result) in [
            ("relu", x.matmul(&w).relu()),
            ("bias tanh", (x.matmul(&w) + &bias).tanh()),
            ("beside exp", ((x.matmul(&w) * 0.1).exp() - &beside) * &bias),
            ("conv", (conv() + &shift).relu()),
        ] {
            // Of which convolutions that is so, the device says.
            assert!(what == "conv" || result.explain().unwrap().launches.len() == 1, "{what} of {dtype}");
            let mut hasher = std::hash::DefaultHasher::new();
            std::hash::Hash::hash(&bits(&result.to_dtype(DType::F32)), &mut hasher);
            println!("bits of {what}, {dtype}: {:x}", std::hash::Hasher::finish(&hasher));
        }
    }
}

/// Until their text is assembled they are launched in parts: by a process that goes on, and by one that waits for its texts.
#[test]
fn the_parts_of_a_launch_are_the_bits_of_the_whole() {
    let Some((gpu, _lock)) = device() else { return };
    if std::env::var_os("TELL_BITS").is_some() {
        return tell_bits(gpu);
    }
    let told = ["0", "1"].map(|meanwhile| {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "the_parts_of_a_launch_are_the_bits_of_the_whole", "--nocapture"])
            .envs([("TELL_BITS", "1"), ("MG_MEANWHILE", meanwhile)])
            .output()
            .unwrap();
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
        let text = String::from_utf8(child.stdout).unwrap();
        text.lines().filter(|line| line.contains("bits of ")).map(String::from).collect::<Vec<_>>()
    });
    assert_eq!(told[0].len(), 12);
    assert_eq!(told[0], told[1]);
}

/// What steps, replays, failures and threads used is given back.
#[test]
fn memory_comes_back() {
    let Some((gpu, _lock)) = device() else { return };
    let active = || {
        gpu.synchronize().unwrap();
        gpu.memory_stats().active
    };
    losses(gpu, false);
    losses(gpu, true);
    let before = active();
    for _ in 0..3 {
        losses(gpu, false);
        losses(gpu, true);
        let x = on_cpu(numbers(1 << 16, 1), &[1 << 16]).to(gpu).unwrap();
        let index = Tensor::from_slice(&[1i64 << 40]).to(gpu).unwrap();
        assert!(x.index_select(0, &index).unwrap().to_vec::<f32>().is_err());
        drop(index);
        let pending = (&x + &x).exp();
        let made = x.sin().realize().unwrap().clone();
        for t in [x, pending, made] {
            std::thread::spawn(move || drop(t)).join().unwrap();
        }
        assert_eq!(active(), before);
    }
}

/// More than 2³² elements: positions need more than 32 bits.
#[test]
fn tensors_of_more_than_four_billion_elements() {
    let Some((gpu, _lock)) = device() else { return };
    let n = (1usize << 32) + 11;
    if gpu.total_memory().unwrap().unwrap() < 24 << 30 {
        eprintln!("skipped: the device has less than 24 GiB");
        return;
    }
    let x = Tensor::from_slice(&[1u8]).to(gpu).unwrap().expand(&[n as isize]).unwrap().copy();
    x.slice(0, Some(-3), None, 1).unwrap().assign(200i64).unwrap();
    x.slice(0, Some(1 << 31), Some((1 << 31) + 2), 1).unwrap().assign(100i64).unwrap();
    let total = (n - 5) as i64 + 3 * 200 + 2 * 100;
    assert_eq!(x.sum().item::<i64>().unwrap(), total);
    assert_eq!(x.argmax(None, false).item::<i64>().unwrap(), n as i64 - 3);
    let y = &x + 1i64;
    assert_eq!(y.narrow(0, n as isize - 4, 4).unwrap().to_vec::<u8>().unwrap(), [2, 201, 201, 201]);
    assert_eq!(y.sum().item::<i64>().unwrap(), total + n as i64);
    let last = Tensor::from_slice(&[n as i64 - 1, 1 << 31, 0]).to(gpu).unwrap();
    assert_eq!(x.index_select(0, &last).unwrap().to_vec::<u8>().unwrap(), [200, 100, 1]);
    // Reversed, every second one: strides and a start beyond 32 bits.
    let back = x.flip(&[0]).unwrap().slice(0, None, None, 2).unwrap();
    assert_eq!(back.sum().item::<i64>().unwrap(), (n as i64 + 1) / 2 - 3 + 2 * 200 + 100);
    let columns = x.narrow(0, 0, 1 << 32).unwrap().reshape(&[1 << 30, 4]).unwrap().sum_dim(&[0], false);
    assert_eq!(columns.to_vec::<i64>().unwrap(), [(1 << 30) + 99, (1 << 30) + 99, 1 << 30, 1 << 30]);
    let rows = x.narrow(0, 0, 1 << 32).unwrap().reshape(&[4, 1 << 30]).unwrap().amax(&[1], false);
    assert_eq!(rows.to_vec::<u8>().unwrap(), [1, 1, 100, 1]);
}
