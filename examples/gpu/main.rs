//! What the GPU makes of the memory-bound chains of the guide, checked against the CPU and timed: one launch forward and
//! backward, reductions, rows, columns. Prints one line a measurement; `--check` only checks.

use micrograd_rs::prelude::*;
use micrograd_rs::set_float32_matmul_precision;
use std::time::Instant;

type Res = std::result::Result<(), Box<dyn std::error::Error>>;

/// Seconds of one call, amortised: `n` calls, one synchronisation, the best of five.
fn timed(device: Device, n: usize, mut f: impl FnMut() -> Result<()>) -> Result<f64> {
    for _ in 0..3 {
        f()?;
    }
    device.synchronize()?;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        for _ in 0..n {
            f()?;
        }
        device.synchronize()?;
        best = best.min(start.elapsed().as_secs_f64() / n as f64);
    }
    Ok(best)
}

fn data(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 40) as f32) / (1u32 << 23) as f32 - 1.0
        })
        .collect()
}

fn chain(a: &Tensor, b: &Tensor) -> Tensor {
    (a * b + a).relu().square().sum()
}

fn bits(t: &Tensor) -> Result<Vec<u32>> {
    Ok(t.to_vec::<f32>()?.into_iter().map(f32::to_bits).collect())
}

fn check(gpu: Device) -> Res {
    for n in [1usize, 16, 1000, 100_003, 1 << 20] {
        let (x, y) = (Tensor::from_vec(data(n, 1), &[n])?, Tensor::from_vec(data(n, 2), &[n])?);
        let (gx, gy) = (x.to(gpu)?, y.to(gpu)?);
        for (name, cpu, on_gpu) in [
            ("add", &x + &y, &gx + &gy),
            ("exp", x.exp(), gx.exp()),
            ("pow", x.abs().pow(2.5), gx.abs().pow(2.5)),
            ("tanh", x.tanh(), gx.tanh()),
            ("sin", x.sin(), gx.sin()),
            ("erf", x.erf(), gx.erf()),
            ("div", &x / &y, &gx / &gy),
        ] {
            if bits(&cpu)? != bits(&on_gpu)? {
                return Err(format!("{name} of {n} differs").into());
            }
        }
        let leaf = |t: &Tensor| t.detach().requires_grad_(true);
        let (a, b, ga, gb) = (leaf(&x)?, leaf(&y)?, leaf(&gx)?, leaf(&gy)?);
        let (l, gl) = (chain(&a, &b), chain(&ga, &gb));
        l.backward()?;
        gl.backward()?;
        let (l, gl) = (l.item::<f32>()?, gl.item::<f32>()?);
        if (l - gl).abs() > 1e-5 * l.abs() + 1e-6 {
            return Err(format!("chain of {n}: {gl} is not {l}").into());
        }
        for (c, g) in [(&a, &ga), (&b, &gb)] {
            let (c, g) = (c.grad().ok_or("no gradient")?, g.grad().ok_or("no gradient")?);
            if bits(&c)? != bits(&g)? {
                return Err(format!("gradient of {n} differs").into());
            }
        }
    }
    println!("checked: elementwise results and gradients equal the CPU's");
    Ok(())
}

fn main() -> Res {
    let gpu = match Device::cuda(0) {
        Ok(gpu) => gpu,
        Err(why) => {
            println!("skipped: no CUDA device ({why})");
            return Ok(());
        }
    };
    println!("{} {:?}", gpu.name(), gpu.compute_capability()?);
    let start = Instant::now();
    let first = Tensor::from_slice(&[1.0f32, 2.0]).to(gpu)?;
    println!("first transfer {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    println!("{:?} in {:.1} ms", (&first + &first).to_vec::<f32>()?, start.elapsed().as_secs_f64() * 1e3);
    check(gpu)?;
    if std::env::args().any(|a| a == "--check") {
        return Ok(());
    }
    set_default_device(gpu)?;
    let gb = |bytes: f64, s: f64| bytes / s / 1e12;
    let n = 1usize << 28;
    let make = |n: usize, seed: f64| -> Result<Tensor> {
        let t = Tensor::arange(n).to_dtype(DType::F32).mul(1e-3).add(seed).sin();
        t.realize()?;
        Ok(t)
    };
    {
        let (x, y) = (make(n, 1.0)?, make(n, 2.0)?);
        let bytes = n as f64 * 4.0;
        let line = |name: &str, bytes: f64, f: &dyn Fn() -> Tensor| -> Res {
            let s = timed(gpu, 20, || f().realize().map(|_| ()))?;
            println!("{name} 2^28: {:.1} us, {:.2} TB/s", s * 1e6, gb(bytes, s));
            Ok(())
        };
        line("add", 3.0 * bytes, &|| &x + &y)?;
        line("mul", 3.0 * bytes, &|| &x * &y)?;
        line("relu", 2.0 * bytes, &|| x.relu())?;
        line("exp", 2.0 * bytes, &|| x.exp())?;
        line("pow(2.5)", 2.0 * bytes, &|| x.pow(2.5))?;
        line("sum", bytes, &|| x.sum())?;
        line("max", bytes, &|| x.max())?;
    }
    for n in [16usize, 1000, 1_000_000, 1 << 24, 1 << 27] {
        let leaf = |seed| make(n, seed).and_then(|t| t.requires_grad_(true));
        let (a, b) = (leaf(1.0)?, leaf(2.0)?);
        let reps = if n > 1 << 22 { 20 } else { 500 };
        let add = timed(gpu, reps, || (a.detach() + b.detach()).realize().map(|_| ()))?;
        let forward = timed(gpu, reps, || chain(&a, &b).realize().map(|_| ()))?;
        let l = chain(&a, &b);
        l.backward()?;
        let (ga, gb) = (a.grad(), b.grad());
        let (Some(ga), Some(gb)) = (ga, gb) else { return Err("no gradient".into()) };
        println!("{}", explain(&[&l.node(), &ga.node(), &gb.node()])?);
        let both = timed(gpu, reps, || {
            a.zero_grad();
            b.zero_grad();
            let l = chain(&a, &b);
            l.backward()?;
            let (Some(ga), Some(gb)) = (a.grad(), b.grad()) else { return Ok(()) };
            Tensor::realize_all([&l, &ga, &gb])
        })?;
        println!(
            "n = {n}: add {:.2} us, chain forward {:.2} us, forward and backward {:.2} us",
            add * 1e6,
            forward * 1e6,
            both * 1e6
        );
    }
    rows(gpu)?;
    products(gpu)?;
    steps(gpu)?;
    let stats = gpu.memory_stats();
    println!("{stats:?}");
    Ok(())
}

fn rows(gpu: Device) -> Res {
    let (m, n) = (16384usize, 4096usize);
    let x = Tensor::arange(m * n).to_dtype(DType::F32).mul(1e-3).sin().reshape(&[m as isize, n as isize])?;
    let g = Tensor::arange(m * n).to_dtype(DType::F32).mul(2e-3).cos().reshape(&[m as isize, n as isize])?;
    Tensor::realize_all([&x, &g])?;
    let x = x.requires_grad_(true)?;
    let w = Tensor::ones(&[n], DType::F32)?;
    let b = Tensor::zeros(&[n], DType::F32)?;
    Tensor::realize_all([&w, &b])?;
    let (w, b) = (w.requires_grad_(true)?, b.requires_grad_(true)?);
    type F<'a> = Box<dyn Fn() -> Result<Tensor> + 'a>;
    let cases: Vec<(&str, F)> = vec![
        ("softmax", Box::new(|| x.softmax(-1))),
        ("layer_norm", Box::new(|| x.layer_norm(&[n], Some(&w), Some(&b), 1e-5))),
        ("gelu", Box::new(|| Ok(x.gelu()))),
        ("sum over axis 0", Box::new(|| x.sum_dim(&[0], false))),
        ("sum over axis 1", Box::new(|| x.sum_dim(&[1], false))),
    ];
    for (name, f) in &cases {
        let forward = {
            let _no = no_grad();
            timed(gpu, 20, || f()?.realize().map(|_| ()))?
        };
        print!("{name} {m}x{n}: forward {:.1} us", forward * 1e6);
        if !name.starts_with("sum") {
            let run = |with_y: bool| {
                timed(gpu, 20, || {
                    [&x, &w, &b].iter().for_each(|t| t.zero_grad());
                    let y = f()?;
                    y.backward_with(Some(&g), Backward::default())?;
                    let grads: Vec<Tensor> = [&x, &w, &b].iter().filter_map(|t| t.grad()).collect();
                    let mut all: Vec<&Tensor> = grads.iter().collect();
                    if with_y {
                        all.push(&y);
                        return Tensor::realize_all(all);
                    }
                    drop(y);
                    Tensor::realize_all(grads.iter())
                })
            };
            let (both, with_y) = (run(false)?, run(true)?);
            print!(", with backward {:.1} us, and y {:.1} us", both * 1e6, with_y * 1e6);
        }
        println!();
    }
    let t = timed(gpu, 20, || {
        let _no = no_grad();
        x.t().copy().realize().map(|_| ())
    })?;
    println!("transposed copy {m}x{n}: {:.1} us", t * 1e6);
    Ok(())
}

fn products(gpu: Device) -> Res {
    for (dtype, precision) in
        [(DType::F32, "highest"), (DType::F32, "high"), (DType::BF16, "high"), (DType::F16, "high")]
    {
        set_float32_matmul_precision(precision)?;
        print!("matmul {dtype} {precision}:");
        for n in [512usize, 1024, 2048, 4096, 8192] {
            let a = Tensor::randn(&[n, n], DType::F32)?.to_dtype(dtype);
            let b = Tensor::randn(&[n, n], DType::F32)?.to_dtype(dtype);
            Tensor::realize_all([&a, &b])?;
            let reps = if n > 4096 { 5 } else { 20 };
            let t = timed(gpu, reps, || a.matmul(&b).realize().map(|_| ()))?;
            print!(" {n}: {:.1}", 2.0 * (n as f64).powi(3) / t / 1e12);
        }
        println!(" TFLOP/s");
    }
    set_float32_matmul_precision("highest")?;
    Ok(())
}

fn steps(gpu: Device) -> Res {
    for precision in ["highest", "high"] {
        set_float32_matmul_precision(precision)?;
        for batch in [128usize, 1024, 8192] {
            let model = sequential![
                Linear::new(784, 512)?,
                ReLU,
                Linear::new(512, 256)?,
                ReLU,
                Linear::new(256, 10)?
            ];
            let mut sgd = SGD::new(model.parameters(), 0.01)?;
            let x = Tensor::rand(&[batch, 784], DType::F32)?;
            let y = Tensor::from_slice(&(0..batch as i64).map(|i| i % 10).collect::<Vec<_>>());
            Tensor::realize_all([&x, &y])?;
            let mut once = |x: &Tensor, y: &Tensor| -> Result<Tensor> {
                let loss = model.forward(x)?.cross_entropy(y)?;
                sgd.zero_grad();
                loss.backward()?;
                sgd.step()?;
                Ok(loss)
            };
            let first = once(&x, &y)?.item::<f32>()?;
            let plain = timed(gpu, 100, || once(&x, &y)?.realize().map(|_| ()))?;
            let mut step = jit(|args: &[Tensor]| Ok(vec![once(&args[0], &args[1])?]));
            for _ in 0..3 {
                step.call(&[&x, &y])?;
            }
            let replayed = timed(gpu, 100, || step.call(&[&x, &y]).map(|_| ()))?;
            let last = step.call(&[&x, &y])?[0].item::<f32>()?;
            println!(
                "MLP step {precision} batch {batch}: {:.1} us, jit {:.1} us (loss {first:.4} to {last:.4})",
                plain * 1e6,
                replayed * 1e6
            );
        }
    }
    set_float32_matmul_precision("highest")?;
    Ok(())
}
