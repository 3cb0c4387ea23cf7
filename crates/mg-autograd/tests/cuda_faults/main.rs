//! What a CUDA device's faults become: typed errors that say what was launched from where. The device is a small library
//! compiled here, loaded by a child process, that computes nothing and answers as it is told.

#![cfg(target_os = "linux")]

use mg_autograd::Tensor;
use mg_device::{Device, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;

/// In the child: adds two tensors on the device and prints what comes of it. Does nothing among the other tests.
#[test]
fn child() {
    if std::env::var_os("FAULT_CHILD").is_none() {
        return;
    }
    let gpu = Device::cuda(0).unwrap();
    let n = if std::env::var_os("STUB_ALLOC").is_some() { 1 << 24 } else { 16 };
    let result = Tensor::from_vec(vec![1.0f32; n], &[n]).unwrap().to(gpu).and_then(|x| {
        let sum = &x + &x;
        sum.to_vec::<f32>()
    });
    match result {
        Ok(values) => println!("values {}", values.len()),
        Err(e) => {
            let kind = match e.kind() {
                ErrorKind::Cuda(_) => "cuda",
                ErrorKind::OutOfMemory { .. } => "memory",
                _ => "other",
            };
            println!("{kind}: {e}");
        }
    }
    println!("active {}", gpu.memory_stats().active);
}

/// The stub as libcuda.so; `None` where there is no C compiler.
fn stub(name: &str) -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda_faults/stub.c");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-w", "-o"])
        .args([dir.join("libcuda.so"), source])
        .status();
    match built {
        Ok(status) => {
            assert!(status.success(), "cc failed");
            Some(dir)
        }
        Err(_) => {
            eprintln!("skipped: no C compiler");
            None
        }
    }
}

fn run(dir: &Path, vars: &[(&str, &str)]) -> String {
    let out = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env("FAULT_CHILD", "1")
        .env("LD_LIBRARY_PATH", dir)
        .envs(vars.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && !errors.contains("panicked"), "{text}\n{errors}");
    text
}

#[test]
fn faults_are_errors_that_name_the_launches() {
    let Some(dir) = stub("faults") else { return };
    let text = run(&dir, &[]);
    assert!(text.contains("values 16") && text.contains("active 0"), "{text}");
    // Found when the value is read: the launch and its line are named.
    let text = run(&dir, &[("STUB_SYNC", "719")]);
    assert!(text.contains("cuda:") && text.contains("CUDA_ERROR_LAUNCH_FAILED (719)"), "{text}");
    assert!(
        text.contains("the last launches, latest first: add (") && text.contains("cuda_faults/main.rs:"),
        "{text}"
    );
    // Found at the launch itself.
    let text = run(&dir, &[("STUB_SYNC", "719"), ("MG_SYNC", "1")]);
    assert!(text.contains("cuda: add: ") && text.contains("cuda_faults/main.rs:"), "{text}");
    let text = run(&dir, &[("STUB_LAUNCH", "1")]);
    assert!(text.contains("cuda: add: CUDA: cuLaunchKernel on cuda:0 answers error code 1"), "{text}");
    // PTX that the driver is too old for.
    let text = run(&dir, &[("STUB_LOAD", "222")]);
    assert!(text.contains("PTX 8.0 needs a driver of CUDA 12.0"), "{text}");
    // Every case left nothing behind.
    let text = run(&dir, &[("STUB_ALLOC", "2")]);
    assert!(
        text.contains("memory: ") && text.contains("64.00 MiB asked for") && text.contains("active 0"),
        "{text}"
    );
    std::fs::remove_dir_all(dir).unwrap();
}
