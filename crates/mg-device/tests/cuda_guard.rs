//! The guard before the CUDA driver, on machines that have none and on machines whose driver is broken in some way: always
//! an error that says why, never a panic. Broken drivers are small libraries compiled here, loaded by a child process.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

use mg_device::{Buffer, DType, Device, ErrorKind};

/// A driver that answers what the environment says.
const STUB: &str = r#"
#include <stdlib.h>
#include <string.h>
static int number(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}
unsigned cuDriverGetVersion(int *v) { *v = number("STUB_VERSION", 12080); return 0; }
unsigned cuInit(unsigned flags) { return (unsigned)number("STUB_INIT", 0); }
unsigned cuDeviceGetCount(int *n) { *n = number("STUB_COUNT", 0); return 0; }
unsigned cuDeviceGet(int *d, int i) { *d = 40 + i; return 0; }
unsigned cuDeviceGetName(char *s, int n, int d) { strcpy(s, d == 41 ? "Second" : "First"); return 0; }
"#;

/// In the child: prints what the guard found. Does nothing when run as one test among the others.
#[test]
fn child() {
    if std::env::var_os("GUARD_CHILD").is_none() {
        return;
    }
    println!("count={} available={}", Device::cuda_count(), Device::is_cuda_available());
    for ordinal in [0, 1, 2, usize::MAX] {
        match Device::cuda(ordinal) {
            Ok(d) => println!("{ordinal}: {d} {}", d.name()),
            Err(e) => {
                assert!(matches!(e.kind(), ErrorKind::Device(_)));
                println!("{ordinal}: {e}");
            }
        }
    }
    let named: Device = "cuda".parse().unwrap();
    let e = Buffer::uninit(named, DType::F32, 1).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::Device(_)));
    println!("buffer: {e}");
    assert_eq!(named.memory_stats(), Default::default());
}

/// Runs `child` with these variables and answers with what it printed.
fn run(vars: &[(&str, &str)]) -> String {
    let out = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env("GUARD_CHILD", "1")
        .envs(vars.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && !errors.contains("panicked"), "{text}\n{errors}");
    text
}

/// A folder with `source` compiled as libcuda.so; `None` where there is no C compiler.
fn stub(name: &str, source: &str) -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("stub.c"), source).unwrap();
    let cc = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([dir.join("libcuda.so"), dir.join("stub.c")])
        .status();
    match cc {
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

#[test]
fn without_a_driver_every_question_has_an_answer() {
    let text = run(&[]);
    if text.contains("available=true") || !text.contains("is not on this machine") {
        eprintln!("skipped: this machine has a driver");
        return;
    }
    assert!(text.contains("count=0 available=false"), "{text}");
    assert!(
        text.contains("0: device: cuda:0 cannot be used: the CUDA driver's library (libcuda.so.1"),
        "{text}"
    );
    assert!(text.contains("buffer: allocate: cuda:0 cannot be used"), "{text}");
}

#[test]
fn each_fault_of_a_driver_is_named() {
    let Some(dir) = stub("driver", STUB) else { return };
    let path = dir.to_str().unwrap();
    let cases: [(&[(&str, &str)], &str); 6] = [
        (&[], "the CUDA driver works, but has no device"),
        (&[("STUB_INIT", "100")], "the CUDA driver finds no device (CUDA_ERROR_NO_DEVICE)"),
        (&[("STUB_INIT", "803")], "cuInit answers error code 803, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        (&[("STUB_INIT", "424242")], "cuInit answers error code 424242"),
        (
            &[("STUB_VERSION", "11080")],
            "the driver is too old: it is for CUDA 11.8, and 12.0 or later is needed",
        ),
        (&[("STUB_COUNT", "-5")], "the CUDA driver works, but has no device"),
    ];
    for (vars, want) in cases {
        let text = run(&[&[("LD_LIBRARY_PATH", path)], vars].concat());
        assert!(text.contains("count=0 available=false"), "{text}");
        assert!(text.contains(want), "{want:?} is not in {text}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_library_that_is_no_driver_is_told_apart() {
    let Some(dir) = stub("empty", "int nothing;") else { return };
    let text = run(&[("LD_LIBRARY_PATH", dir.to_str().unwrap())]);
    assert!(text.contains("count=0") && text.contains("it is not a driver"), "{text}");
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn devices_are_counted_and_named() {
    let Some(dir) = stub("two", STUB) else { return };
    let text = run(&[("LD_LIBRARY_PATH", dir.to_str().unwrap()), ("STUB_COUNT", "2")]);
    for want in [
        "count=2 available=true",
        "0: cuda:0 First",
        "1: cuda:1 Second",
        "2: device: there is no cuda:2: this machine has 2 CUDA devices",
        "18446744073709551615: device: there is no device cuda:18446744073709551615",
        "buffer: allocate: the CUDA driver lacks cuGetErrorName",
    ] {
        assert!(text.contains(want), "{want:?} is not in {text}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}
