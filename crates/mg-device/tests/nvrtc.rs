//! CUDA C is compiled by whatever library there is, on whatever thread: here by a small one that is compiled for it, loaded by a child process.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use mg_device::cuda::nvrtc;

/// A compiler that takes 10 MiB of its caller's stack, and tells when it is loaded.
const LIBRARY: &str = r#"
#include <alloca.h>
#include <stdio.h>
#include <string.h>
static const char *ptx = "// made";
__attribute__((constructor)) static void loaded(void) { puts("loaded"); }
int nvrtcVersion(int *major, int *minor) { return 0; }
int nvrtcCreateProgram(void **p, const char *s, const char *f, int n, void *h, void *i) { *p = 0; return 0; }
int nvrtcCompileProgram(void *p, int n, const char **options) {
    size_t bytes = 10 << 20;
    volatile char *deep = alloca(bytes);
    /* Page by page, as calls do. */
    for (size_t at = bytes; at > 0; at -= 1024) deep[at - 1] = 1;
    return 0;
}
int nvrtcGetPTXSize(void *p, size_t *n) { *n = strlen(ptx) + 1; return 0; }
int nvrtcGetPTX(void *p, char *to) { strcpy(to, ptx); return 0; }
int nvrtcGetProgramLogSize(void *p, size_t *n) { *n = 0; return 0; }
int nvrtcGetProgramLog(void *p, char *to) { return 0; }
int nvrtcDestroyProgram(void **p) { return 0; }
"#;

/// In the child. Does nothing when run as one test among the others.
#[test]
fn child() {
    if std::env::var_os("NVRTC_CHILD").is_none() {
        return;
    }
    for _ in 0..2 {
        let made = nvrtc::compile("", "k.cu", 90, &[], &[] as &[&Path]);
        println!("made {:?}", made.as_deref());
    }
}

/// The threads of tests have 2 MiB of stack. The library stays loaded: another compile finds it as it was.
#[test]
fn compilers_have_a_stack_of_their_own_and_stay() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("nvrtc-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let (source, library) = (dir.join("nvrtc.c"), dir.join("libnvrtc.so"));
    std::fs::write(&source, LIBRARY).unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-w", "-o"]).args([&library, &source]).status();
    let Ok(built) = built else {
        eprintln!("skipped: no C compiler");
        return;
    };
    assert!(built.success(), "cc failed");
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "child", "--nocapture"]).env("NVRTC_CHILD", "1").env("MG_NVRTC", &library);
    let out = child.output().unwrap();
    let _ = std::fs::remove_dir_all(&dir);
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{}\n{text}\n{}", out.status, String::from_utf8_lossy(&out.stderr));
    assert_eq!(text.matches("made Ok(\"// made\")").count(), 2, "{text}");
    assert_eq!(text.matches("loaded").count(), 1, "{text}");
}
