//! What is particular to CUDA devices: transfers, late errors, memory, replays, and results equal to the CPU's. Where there
//! is no device, each test says so. (The other tests of this crate run on a device too, under `MG_DEVICE=cuda`.)

use mg_autograd::{Tensor, jit, no_grad};
use mg_device::{DType, Device, ErrorKind};
use std::sync::{Mutex, MutexGuard};

/// One test at a time: limits and statistics are the device's.
static DEVICE: Mutex<()> = Mutex::new(());

fn device() -> Option<(Device, MutexGuard<'static, ()>)> {
    match Device::cuda(0) {
        Ok(device) => Some((device, DEVICE.lock().unwrap_or_else(|e| e.into_inner()))),
        Err(_) => {
            eprintln!("skipped: no CUDA device");
            None
        }
    }
}

fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
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
    assert!(matches!(error.kind(), ErrorKind::Device(_)), "{error}");
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
        let loss = hidden.matmul(&v).cross_entropy(&y)?;
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
    let cpu = losses(Device::cpu(), false);
    assert!(cpu[19] < cpu[0] * 0.95, "{cpu:?}");
    assert_eq!(bits(&cpu), bits(&losses(Device::cpu(), true)));
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
