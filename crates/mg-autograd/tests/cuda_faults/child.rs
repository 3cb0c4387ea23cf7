//! What the children do: each prints what it meets.

use mg_autograd::{Tensor, jit};
use mg_device::{DType, Device, Error, ErrorKind};
use std::cell::RefCell;
use std::sync::OnceLock;

/// Does nothing among the other tests.
#[test]
fn child() {
    match std::env::var("FAULT_CHILD").as_deref() {
        Ok("add") => add(),
        Ok("none") => none(),
        Ok("lost") => lost(),
        Ok("memory") => memory(),
        Ok("replay") => replay(),
        Ok("plans") => plans(),
        Ok("gate") => gate(),
        Ok("refused") => refused(),
        Ok("drop") => drops(),
        Ok("two") => two(),
        Ok("fork") => forked(),
        Ok("code") => code(),
        Ok("sums") => sums(),
        Ok("behind") => behind(),
        Ok("meanwhile") => meanwhile(),
        _ => {}
    }
}

fn kind(e: &Error) -> &'static str {
    match e.kind() {
        ErrorKind::Cuda(_) => "cuda",
        ErrorKind::OutOfMemory { .. } => "memory",
        ErrorKind::Device(_) => "device",
        _ => "other",
    }
}

fn gpu() -> Device {
    Device::cuda(0).unwrap()
}

fn ones(n: usize) -> Tensor {
    Tensor::from_vec(vec![1f32; n], &[n]).unwrap()
}

fn on_gpu(n: usize) -> mg_device::Result<Tensor> {
    Ok(ones(n).to(gpu())?.realize()?.clone())
}

/// Loads files of machine code, or what is called so: the first is whole, and has a table of a section, of 64 bytes, at its end.
fn code() {
    let mut whole = [0; 128];
    whole[..5].copy_from_slice(b"\x7fELF\x02");
    (whole[0x28], whole[0x3a], whole[0x3c]) = (64, 64, 1);
    let gpu = mg_device::cuda::Gpu::of(gpu()).unwrap();
    for bytes in [&whole[..], &whole[..127], &whole[..40], b"", b"// PTX"] {
        println!("of {} bytes: {:?}", bytes.len(), gpu.load_code(bytes, "k").map(|kernel| kernel.is_some()));
    }
}

/// What is done behind a convolution, planned and launched.
fn behind() {
    let conv = |x: &Tensor, w: &Tensor, step: usize| {
        let padding = [w.shape()[2] / 2];
        x.conv2d(w, None, &[step], (&padding).into(), &[1], 1)
    };
    let on = |shape: &[usize]| {
        let t = Tensor::from_vec(vec![1f32; shape.iter().product()], shape).unwrap();
        t.to(gpu()).unwrap().to_dtype(mg_device::DType::BF16).realize().unwrap().clone()
    };
    let (x, odd, w, point) =
        (on(&[4, 16, 16, 16]), on(&[4, 16, 7, 7]), on(&[32, 16, 3, 3]), on(&[32, 32, 1, 1]));
    let (bias, beside) = (on(&[1, 32, 1, 1]), on(&[4, 32, 16, 16]));
    let hidden = |x: &Tensor| (conv(x, &w, 1) + &bias).relu();
    let result = match std::env::var("BEHIND").as_deref() {
        Ok("planes") => hidden(&x),
        Ok("innermost") => conv(&hidden(&x), &point, 1),
        Ok("both") => (conv(&hidden(&x), &point, 1) + &beside).relu(),
        Ok("odd") => hidden(&odd),
        Ok("apart") => conv(&(conv(&x, &w, 1) + &beside).relu(), &point, 1),
        _ => conv(&x, &w, 2).relu(),
    };
    let told = result.explain().unwrap();
    let launches: Vec<String> = told.launches.iter().map(|launch| launch.operations.join(" ")).collect();
    result.realize().unwrap();
    println!("planned: {}", launches.join(" | "));
}

/// A product by itself, then what follows it, at once and twice later, eagerly or replayed.
fn meanwhile() {
    let on = |value: f32| {
        let t = Tensor::from_vec(vec![value; 128 * 128], &[128, 128]).unwrap();
        t.to(gpu()).unwrap().to_dtype(DType::BF16).realize().unwrap().clone()
    };
    let (x, w, weight) = (on(1.0), on(2.0), on(3.0));
    x.matmul(&w).realize().unwrap();
    let wait = || std::thread::sleep(std::time::Duration::from_millis(900));
    if let Ok(code) = std::env::var("LARGE") {
        // SAFETY: the test's own threads are waited for, and those that assemble have not begun.
        unsafe { std::env::set_var("STUB_LARGE", code) };
    }
    match std::env::var("MEANWHILE").as_deref() {
        Ok("told") => {
            for round in 0..3 {
                let result = x.matmul(&w).relu().realize().map(drop);
                println!("round {round}: {}", result.map_or_else(|e| e.to_string(), |()| "well".into()));
                if round == 0 {
                    wait();
                }
            }
        }
        Ok("devices") => {
            for gpu in [gpu(), Device::cuda(1).unwrap()] {
                let [x, w] = [&x, &w].map(|t| t.to(gpu).unwrap().realize().unwrap().clone());
                x.matmul(&w).realize().unwrap();
                for round in 0..3 {
                    x.matmul(&w).relu().realize().unwrap();
                    if round == 0 {
                        wait();
                    }
                }
            }
        }
        Ok("fork") => {
            x.matmul(&w).relu().realize().unwrap();
            let began = std::time::Instant::now();
            let pid = fork();
            if pid == 0 {
                std::process::exit(0);
            }
            assert_eq!(ended(pid), 0, "the child ended otherwise");
            println!("the child waited: {}", began.elapsed().as_millis() > 1500);
        }
        Ok("replay") => {
            let mut step = jit(|args: &[Tensor]| {
                weight.assign(&weight + args[0].matmul(&w).relu())?;
                Ok(vec![w.matmul(&args[0]).relu()])
            });
            (0..4).for_each(|_| drop(step.call(&[&x]).unwrap()));
            if std::env::var_os("WAIT").is_some() {
                wait();
            }
            (0..4).for_each(|_| drop(step.call(&[&x]).unwrap()));
            assert!(step.is_replaying());
        }
        Ok("update") => {
            let labels = Tensor::from_vec(vec![0i64, 1], &[2]).unwrap().to(gpu()).unwrap();
            labels.realize().unwrap();
            for round in 0..3 {
                let picked = weight.index_select(0, &labels).unwrap().sum();
                weight.assign(&weight + x.matmul(&w) * &picked).unwrap();
                Tensor::realize_all([&weight, &picked]).unwrap();
                if round == 0 {
                    wait();
                }
            }
        }
        _ => {
            for round in 0..3 {
                x.matmul(&w).relu().realize().unwrap();
                if round == 0 && std::env::var_os("WAIT").is_some() {
                    wait();
                }
            }
        }
    }
    println!("explained: {}", x.matmul(&w).relu().explain().unwrap().launches.len());
}

/// Adds two tensors.
fn add() {
    let n = if std::env::var_os("STUB_ALLOC").is_some() { 1 << 24 } else { 16 };
    println!("line {}", line!() + 2);
    let result = ones(n).to(gpu()).and_then(|x| {
        let sum = &x + &x;
        sum.to_vec::<f32>()
    });
    match result {
        Ok(values) => println!("values {}", values.len()),
        Err(e) => println!("{}: {e}", kind(&e)),
    }
    println!("active {}", gpu().memory_stats().active);
}

/// Asks for a device that is not there, in several ways.
fn none() {
    let named: Device = std::env::var("MG_DEVICE").as_deref().unwrap_or("cuda").parse().unwrap();
    let here = Tensor::from_node(mg_graph::Node::scalar(1.0, mg_device::DType::F32, Device::cpu(), false));
    for e in [
        Device::cuda(named.ordinal()).map(drop).unwrap_err(),
        here.to(named).and_then(|t| t.realize().map(drop)).unwrap_err(),
        mg_autograd::set_default_device(named).unwrap_err(),
    ] {
        assert_eq!(kind(&e), "device", "{e}");
        println!("{e}");
    }
    named.set_memory_limit(Some(1));
    named.empty_cache();
    assert_eq!(named.memory_stats(), Default::default());
    println!("here {}", (&here + &here).item::<f32>().unwrap());
}

fn lost() {
    let x = on_gpu(1000).unwrap();
    (&x + &x).realize().unwrap();
    for _ in 0..2 {
        for result in [
            (&x * &x).to_vec::<f32>().map(drop),
            ones(10).to(gpu()).and_then(|t| t.realize().map(drop)),
            gpu().synchronize(),
        ] {
            println!("{}", result.unwrap_err());
        }
    }
    drop(x);
    gpu().empty_cache();
    println!("active {}", gpu().memory_stats().active);
    println!("host {}", ones(3).sum().item::<f32>().unwrap());
}

fn memory() {
    let first = on_gpu(6 << 20).unwrap();
    drop(first);
    println!("cached {}", gpu().memory_stats().cached);
    let second = on_gpu(20 << 20).unwrap();
    println!("second {}", gpu().memory_stats().active);
    drop(second);
    let e = on_gpu(30_000_000).unwrap_err();
    println!("{}: {e}", kind(&e));
    gpu().empty_cache();
    let held = on_gpu(1 << 18).unwrap();
    gpu().set_memory_limit(Some(2 << 20));
    let e = on_gpu(1 << 20).unwrap_err();
    println!("with limit: {}", e.kind().to_string().trim_start_matches("out of memory: "));
    gpu().set_memory_limit(None);
    drop(held);
    let n = on_gpu(256).unwrap().to_vec::<f32>().unwrap().len();
    println!("after: {n} values, active {}", gpu().memory_stats().active);
}

/// An update that depends on labels, one that depends on none, and labels alone.
fn gate() {
    let labels = Tensor::from_vec(vec![0i64, 1], &[2]).unwrap().to(gpu()).unwrap();
    labels.realize().unwrap();
    let (table, weight, other) = (on_gpu(4).unwrap(), on_gpu(4).unwrap(), on_gpu(4).unwrap());
    let picked = table.index_select(0, &labels).unwrap().sum();
    if std::env::var_os("GATE_ALONE").is_none() {
        weight.assign(&weight + &picked).unwrap();
    }
    other.assign(&other * 2.0).unwrap();
    Tensor::realize_all([&weight, &other, &picked]).unwrap();
}

/// Layers with the gradients of their biases: the launches of each.
fn sums() {
    let tell = |what: &str, tensors: &[&Tensor]| {
        let launches = mg_autograd::explain(tensors).unwrap().launches;
        let last = launches.last().unwrap();
        println!("{what}: {} launches, the last one {}", launches.len(), last.operations.join(" "));
        Tensor::realize_all(tensors.iter().copied()).unwrap();
    };
    let on_gpu = |dims: &[usize], dtype: DType| {
        let tensor = Tensor::zeros(dims, dtype).unwrap().to(gpu()).unwrap();
        tensor.realize().unwrap();
        tensor
    };
    for (what, dims, dtype, gated) in [
        ("f32", &[8192, 1024][..], DType::F32, true),
        ("of three axes", &[8, 1024, 1024], DType::F32, true),
        ("small", &[300, 64], DType::F32, true),
        ("halves", &[8192, 2048], DType::BF16, false),
        ("gated halves", &[8192, 2048], DType::BF16, true),
    ] {
        let (rows, columns) = (dims[..dims.len() - 1].iter().product(), dims[dims.len() - 1]);
        let (x, w) = (on_gpu(&[rows, 32], dtype), on_gpu(&[32, columns], dtype));
        let shape: Vec<isize> = dims.iter().map(|&n| n as isize).collect();
        let product = x.matmul(&w).reshape(&shape).unwrap();
        let flows = if gated { &product * &on_gpu(dims, dtype) } else { product.relu() };
        let axes: Vec<isize> = (0..dims.len() as isize - 1).collect();
        tell(what, &[&flows, &flows.sum_dim(&axes, false)]);
    }
}

/// A step of which a label may be refused, and its gradient.
fn refused() {
    let labels = Tensor::from_vec(vec![0i64, 1], &[2]).unwrap().to(gpu()).unwrap();
    labels.realize().unwrap();
    let table = on_gpu(4).unwrap().requires_grad_(true).unwrap();
    let loss = table.index_select(0, &labels).unwrap().sum();
    loss.backward().unwrap();
    let held = table.grad().unwrap();
    Tensor::realize_all([&loss, &held]).unwrap();
    match loss.to_vec::<f32>() {
        Ok(values) => println!("loss {} values", values.len()),
        Err(e) => println!("loss: {e}"),
    }
    println!("gradient {}", table.grad().is_some());
    if let Err(e) = held.to_vec::<f32>() {
        println!("held: {e}");
    }
    println!("again {}", held.to_vec::<f32>().is_ok());
}

/// A replayed step that cannot be started, or finds no memory.
fn replay() {
    {
        let weight = on_gpu(4).unwrap();
        let x = on_gpu(4).unwrap();
        let mut step = jit(|args: &[Tensor]| {
            weight.assign(&weight + &args[0])?;
            Ok(vec![(&weight * &args[0]).sum()])
        });
        let mut told = false;
        for _ in 0..8 {
            match step.call(&[&x]) {
                Ok(_) if step.is_replaying() => told = true,
                Ok(_) => {}
                Err(e) => {
                    println!("failed: {e}");
                    println!("weight {}", weight.to_vec::<f32>().unwrap().len());
                }
            }
        }
        if told {
            println!("replayed");
            gpu().empty_cache();
            gpu().set_memory_limit(Some(gpu().memory_stats().active));
            let e = step.call(&[&x]).unwrap_err();
            println!("no memory: {e}");
            assert_eq!(kind(&e), "memory", "{e}");
            gpu().set_memory_limit(None);
            println!("weight {}", weight.to_vec::<f32>().unwrap().len());
            step.call(&[&x]).unwrap();
            assert!(step.is_replaying());
            println!("again");
        }
    }
    println!("at last: active {}", gpu().memory_stats().active);
}

/// Replays a step whose plans overwrite what those before them computed: in memory that is state's, and in new memory.
fn plans() {
    let weight = on_gpu(4).unwrap();
    let x = on_gpu(4).unwrap();
    let mut step = jit(|args: &[Tensor]| {
        for _ in 0..2 {
            weight.assign(&weight + &args[0])?;
            weight.realize()?;
        }
        let double = &args[0] + &args[0];
        double.realize()?;
        let result = &double + &args[0];
        drop(double);
        Ok(vec![result])
    });
    for _ in 0..8 {
        step.call(&[&x]).unwrap();
    }
    let before = gpu().memory_stats().allocations;
    step.call(&[&x]).unwrap();
    assert!(step.is_replaying());
    println!("allocations {}", gpu().memory_stats().allocations - before);
}

/// Tensors that go on other threads, at the end of a thread, and at the end of the process.
fn drops() {
    thread_local! {
        static MINE: RefCell<Vec<Tensor>> = const { RefCell::new(vec![]) };
    }
    static KEPT: OnceLock<Vec<Tensor>> = OnceLock::new();
    let x = on_gpu(1000).unwrap();
    let made = (&x + &x).realize().unwrap().clone();
    let pending = &x * &x;
    let threads: Vec<_> = [x, made, pending]
        .into_iter()
        .map(|t| std::thread::spawn(move || MINE.with_borrow_mut(|mine| mine.push(t))))
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    println!("threads: active {}", gpu().memory_stats().active);
    let kept: Vec<Tensor> = on_gpu(10).into_iter().collect();
    MINE.with_borrow_mut(|mine| mine.extend(kept.iter().map(|t| t + t)));
    KEPT.set(kept).unwrap();
    println!("kept");
}

fn two() {
    let (first, second) = (Device::cuda(0).unwrap(), Device::cuda(1).unwrap());
    let x = Tensor::from_slice(&[1f32, 2.0, 3.0]).to(first).unwrap();
    let mut y = x.to(second).unwrap();
    for _ in 0..5 {
        y = y.to(first).unwrap().to(second).unwrap();
    }
    println!("values {:?} on {}", y.to_vec::<f32>().unwrap(), y.device());
    println!("active {} and {}", first.memory_stats().active, second.memory_stats().active);
    println!("{}", x.try_add(&y).map(drop).unwrap_err());
    println!("{}", Device::cuda(2).unwrap_err());
    // Moved itself: handles, views and the gradient go with it.
    let leaf = {
        let t = Tensor::from_slice(&[4f32, 5.0]).to(first).unwrap();
        t.realize().unwrap();
        t.requires_grad_(true).unwrap()
    };
    leaf.set_grad(Some(&Tensor::from_slice(&[6f32, 7.0]).to(first).unwrap())).unwrap();
    let (handle, view) = (leaf.clone(), leaf.narrow(0, 1, 1).unwrap());
    leaf.move_to(second).unwrap();
    let grad = handle.grad().unwrap();
    assert_eq!((handle.device(), view.device(), grad.device()), (second, second, second));
    assert!(handle.is_leaf() && handle.requires_grad());
    println!("moved {:?} {:?} {:?}", handle.to_vec::<f32>(), view.to_vec::<f32>(), grad.to_vec::<f32>());
    drop((x, y, leaf, handle, view, grad));
    for device in [first, second] {
        assert_eq!(device.memory_stats().active, 0);
    }
}

unsafe extern "C" {
    safe fn fork() -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    safe fn _exit(code: i32) -> !;
}

/// How a child ends.
fn ended(pid: i32) -> i32 {
    let mut status = 0;
    // SAFETY: the child is this process's; its status is written.
    unsafe { waitpid(pid, &mut status, 0) };
    status
}

fn forked() {
    let x = on_gpu(3).unwrap();
    let pending = &x + &x;
    let pid = fork();
    if pid == 0 {
        let told: Vec<String> = [
            on_gpu(3).map(drop),
            pending.to_vec::<f32>().map(drop),
            gpu().synchronize(),
            x.to(Device::cpu()).and_then(|t| t.to_vec::<f32>().map(drop)),
        ]
        .into_iter()
        .map(|result| format!("child: {}", result.unwrap_err()))
        .collect();
        drop((x, pending));
        gpu().empty_cache();
        println!("{}\nchild: host {}", told.join("\n"), ones(3).sum().item::<f32>().unwrap());
        _exit(0);
    }
    assert_eq!(ended(pid), 0, "the child ended otherwise");
    println!("parent: {} values", pending.to_vec::<f32>().unwrap().len());
}
