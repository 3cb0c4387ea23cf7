//! The guide of `docs/gpu.md` as a program: results and gradients on the GPU equal the CPU's, a loss and its gradients are one
//! launch, and what a line costs. `--check` only checks.

use micrograd_rs::prelude::*;
use std::hint::black_box;
use std::time::Instant;

type Res = std::result::Result<(), Box<dyn std::error::Error>>;

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

/// Microseconds of a call, amortised: `n` calls, one synchronisation, the middle of seven rounds.
fn timed(device: Device, n: u32, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    for _ in 0..n {
        call()?;
    }
    let mut rounds = vec![];
    for _ in 0..7 {
        device.synchronize()?;
        let start = Instant::now();
        for _ in 0..n {
            call()?;
        }
        device.synchronize()?;
        rounds.push(start.elapsed().as_secs_f64() * 1e6 / f64::from(n));
    }
    rounds.sort_by(f64::total_cmp);
    Ok(rounds[3])
}

/// What the parts of a line cost, on 16 elements.
fn costs(gpu: Device) -> Res {
    let leaf = |seed| Tensor::from_vec(data(16, seed), &[16])?.to(gpu)?.requires_grad_(true);
    let (a, b) = (leaf(1)?, leaf(2)?);
    let (x, y) = (a.detach(), b.detach());
    Tensor::realize_all([&a, &b, &x, &y])?;
    let line = |what: &str, microseconds: f64| println!("{what:<54}{microseconds:8.2} us");
    let build = timed(gpu, 10_000, || {
        black_box(&x + &y);
        Ok(())
    })?;
    line("a + b, built and dropped", build);
    line("a + b, realised", timed(gpu, 5_000, || (&x + &y).realize().map(drop))?);
    line("ten in a row, realised at their end: one launch", {
        timed(gpu, 2_000, || (0..10).fold(x.clone(), |sum, _| sum + &y).realize().map(drop))?
    });
    let ten = |t: &Tensor| (0..10).try_fold(t.clone(), |sum, _| Ok((sum + &y).realize()?.clone()));
    line("ten in a row, each realised: ten launches", timed(gpu, 500, || ten(&x).map(drop))?);
    let mut replayed = jit(|inputs: &[Tensor]| Ok(vec![ten(&inputs[0])?]));
    line("the same ten launches, replayed", timed(gpu, 500, || replayed.call(&[&x]).map(drop))?);
    let latency = timed(gpu, 500, || (&x + &y).to_vec::<f32>().map(drop))?;
    line("a + b, read by the host: a launch, a wait, a copy", latency);
    let backward = || {
        a.zero_grad();
        b.zero_grad();
        let loss = chain(&a, &b);
        loss.backward()?;
        Tensor::realize_all([Some(loss), a.grad(), b.grad()].iter().flatten())
    };
    line("the chain with both gradients, realised: one launch", timed(gpu, 2_000, backward)?);
    Ok(())
}

/// The launches of the chain, forward and backward.
fn shown(gpu: Device) -> Res {
    let n = 1_000_000;
    let leaf = |seed| Tensor::from_vec(data(n, seed), &[n])?.to(gpu)?.requires_grad_(true);
    let (a, b) = (leaf(1)?, leaf(2)?);
    Tensor::realize_all([&a, &b])?;
    let loss = chain(&a, &b);
    loss.backward()?;
    let (Some(da), Some(db)) = (a.grad(), b.grad()) else { return Err("no gradient".into()) };
    println!("{}", explain(&[&loss, &da, &db])?);
    Ok(())
}

fn main() -> Res {
    let gpu = match Device::cuda(0) {
        Ok(gpu) => gpu,
        Err(why) => {
            println!("skipped: no CUDA device ({})", why.kind());
            return Ok(());
        }
    };
    let capability =
        gpu.compute_capability()?.map_or("?".into(), |(major, minor)| format!("{major}.{minor}"));
    println!("{}, compute capability {capability}", gpu.name());
    check(gpu)?;
    if std::env::args().any(|argument| argument == "--check") {
        return Ok(());
    }
    shown(gpu)?;
    costs(gpu)
}
