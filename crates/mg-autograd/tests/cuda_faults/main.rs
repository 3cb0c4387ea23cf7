//! What a CUDA device's faults become: typed errors that say what was asked for, by which line, and what was launched
//! before. The device is a small library compiled here, loaded by a child process, that computes nothing and answers as it is
//! told.

#![cfg(target_os = "linux")]

mod child;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The stub as libcuda.so; removed at the end.
struct Stub(PathBuf);

impl Drop for Stub {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Stub {
    /// `None` where there is no C compiler.
    fn new(name: &str) -> Option<Stub> {
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
                Some(Stub(dir))
            }
            Err(_) => {
                eprintln!("skipped: no C compiler");
                None
            }
        }
    }

    /// What a child prints, which must end well.
    #[track_caller]
    fn run(&self, child: &str, vars: &[(&str, &str)]) -> String {
        let out = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child::child", "--nocapture"])
            .env("FAULT_CHILD", child)
            .env("LD_LIBRARY_PATH", &self.0)
            .env("STUB_COUNTS", "1")
            .env_remove("MG_DEVICE")
            .env_remove("MG_MEANWHILE")
            .envs(vars.iter().copied())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(
            out.status.success() && !errors.contains("panicked"),
            "{child} {vars:?}: {}\n{text}\n{errors}",
            out.status
        );
        text
    }
}

#[track_caller]
fn contains(text: &str, all: &[&str]) {
    for part in all {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

#[test]
fn nothing_is_wrong_with_the_stub() {
    let Some(stub) = Stub::new("well") else { return };
    contains(&stub.run("add", &[]), &["values 16", "active 0"]);
}

#[test]
fn a_replayed_plan_overwrites_what_plans_before_it_computed() {
    let Some(stub) = Stub::new("plans") else { return };
    contains(&stub.run("plans", &[]), &["allocations 1\n"]);
}

/// A bias's gradient is a sum over what a product has stored behind its gate: the product adds it up itself where that is much. Of little, the sum is a program
/// that runs beside others; large halves leave a gate and the sum to a program.
#[test]
fn a_product_adds_up_the_columns_of_what_it_stores() {
    let Some(stub) = Stub::new("sums") else { return };
    contains(
        &stub.run("sums", &[]),
        &[
            "f32: 1 launches, the last one matmul mul sum\n",
            "of three axes: 1 launches, the last one matmul mul sum\n",
            "small: 2 launches, the last one sum\n",
            "halves: 1 launches, the last one matmul relu sum\n",
            "gated halves: 2 launches, the last one mul sum\n",
        ],
    );
}

/// A product with work behind it is a text of its own. Until the driver has assembled it, the product that is there already and the work by itself are launched;
/// what is replayed is made anew when it is there. A process that ends meanwhile waits for the assembler.
#[test]
fn a_product_is_launched_by_itself_until_what_follows_is_in_its_text() {
    let Some(stub) = Stub::new("meanwhile") else { return };
    let run = |vars: &[(&str, &str)]| {
        // Seconds where nobody is to see the end of it, little where somebody waits for it.
        let slow = if vars.iter().any(|(name, _)| *name == "WAIT") { "50" } else { "3000" };
        let mut all = vec![("STUB_LAUNCHES", "1"), ("STUB_SLOW", slow)];
        all.extend(vars);
        let text = stub.run("meanwhile", &all);
        assert!(!text.contains("being assembled"), "{text}");
        contains(&text, &["explained: 1"]);
        text
    };
    // Three operands are made, and one product is launched alone; then what is launched three times is one launch, or two.
    contains(&run(&[("MG_MEANWHILE", "0")]), &["launches 7, "]);
    contains(&run(&[]), &["launches 10, "]);
    contains(&run(&[("WAIT", "1")]), &["launches 8, "]);
    // A step of two products, one of which is added to a parameter.
    contains(&run(&[("MEANWHILE", "replay"), ("WAIT", "1")]), &["of the last graph 2\n"]);
    contains(&run(&[("MEANWHILE", "replay")]), &["of the last graph 4\n"]);
    // Each device has a text of its own.
    contains(&run(&[("MEANWHILE", "devices"), ("WAIT", "1"), ("STUB_DEVICES", "2")]), &["launches 14, "]);
    // What overwrites a parameter looks at a check's word first, in each of its forms.
    contains(&run(&[("MEANWHILE", "update"), ("WAIT", "1")]), &["launches behind the gate 3\n"]);
}

/// A text that does not assemble is told by who would launch it, each time.
#[test]
fn a_text_that_does_not_assemble_behind_what_goes_on_is_told() {
    let Some(stub) = Stub::new("large") else { return };
    let text = stub.run("meanwhile", &[("MEANWHILE", "told"), ("LARGE", "218"), ("STUB_SLOW", "50")]);
    let told = |round: u32| {
        format!("round {round}: matmul: CUDA: a kernel could not be loaded on cuda:0: error code 218")
    };
    contains(&text, &["round 0: well", &told(1), &told(2)]);
}

/// By the time that a text is assembled, memory that nobody uses may be all there is for it.
#[test]
fn a_kernel_that_finds_no_memory_has_what_was_cached() {
    let Some(stub) = Stub::new("full") else { return };
    let vars = [("MEANWHILE", "told"), ("LARGE", "2"), ("STUB_SLOW", "50"), ("STUB_LAUNCHES", "1")];
    let text = stub.run("meanwhile", &vars);
    contains(&text, &["round 0: well", "round 1: well", "round 2: well", "launches 8, "]);
    let vars = [("MEANWHILE", "replay"), ("WAIT", "1"), vars[1], vars[2], vars[3]];
    contains(&stub.run("meanwhile", &vars), &["of the last graph 2\n"]);
}

/// The threads that assemble are the parent's.
#[test]
fn a_forked_child_does_not_wait_for_its_parents_texts() {
    let Some(stub) = Stub::new("child") else { return };
    let text = stub.run("meanwhile", &[("MEANWHILE", "fork"), ("STUB_SLOW", "3000")]);
    contains(&text, &["the child waited: false"]);
}

/// What depends on labels is written where they are good, and only that waits for them. Its text is assembled beside the others, and in the
/// form alone in which it is launched.
#[test]
fn what_depends_on_checks_looks_at_them_before_it_overwrites() {
    let Some(stub) = Stub::new("gate") else { return };
    contains(&stub.run("gate", &[]), &["gated texts 1, alone 0; launches behind the gate 1\n"]);
    contains(&stub.run("gate", &[("GATE_ALONE", "1")]), &["launches behind the gate 0\n"]);
}

/// The device tells late that it has refused a label: so does the gradient that was made of it.
#[test]
fn a_gradient_that_was_refused_late_says_so() {
    let Some(stub) = Stub::new("refused") else { return };
    contains(&stub.run("refused", &[]), &["loss 1 values", "gradient true", "again true"]);
    let text = stub.run("refused", &[("STUB_FOUND", "64")]);
    contains(&text, &["loss: index_select: index 0 is out of range", "held: scatter_add", "again false"]);
}

#[test]
fn a_fault_found_late_names_the_launches_and_their_lines() {
    let Some(stub) = Stub::new("late") else { return };
    for (code, name) in
        [("719", "CUDA_ERROR_LAUNCH_FAILED (719)"), ("700", "CUDA_ERROR_ILLEGAL_ADDRESS (700)")]
    {
        let text = stub.run("add", &[("STUB_SYNC", code)]);
        contains(&text, &["cuda: read: CUDA: cuEventSynchronize on cuda:0 answers", name, "active 0"]);
        // The addition is the last launch; the line is that of `let sum`.
        contains(
            &text,
            &["the last launches, latest first: add (crates/mg-autograd/tests/cuda_faults/child.rs:"],
        );
    }
}

#[test]
fn a_fault_found_at_once_names_its_own_line() {
    let Some(stub) = Stub::new("once") else { return };
    let line = |text: &str| text.lines().find_map(|l| l.strip_prefix("line ")).unwrap().to_string();
    let text = stub.run("add", &[("STUB_SYNC", "719"), ("MG_SYNC", "1")]);
    let at = format!("(crates/mg-autograd/tests/cuda_faults/child.rs:{}:", line(&text));
    contains(
        &text,
        &["cuda: add: CUDA: cuStreamSynchronize on cuda:0 answers CUDA_ERROR_LAUNCH_FAILED (719)", &at],
    );
    let text = stub.run("add", &[("STUB_LAUNCH", "1")]);
    contains(&text, &["cuda: add: CUDA: cuLaunchKernel on cuda:0 answers error code 1", &at, "active 0"]);
}

#[test]
fn ptx_that_the_driver_does_not_take_names_what_is_needed() {
    let Some(stub) = Stub::new("ptx") else { return };
    let text = stub.run("add", &[("STUB_LOAD", "222"), ("STUB_VERSION", "12010")]);
    contains(
        &text,
        &[
            "cuda: add: CUDA: a kernel could not be loaded on cuda:0",
            "PTX 8.0 needs a driver of CUDA 12.0 (525) or later, and this driver is of CUDA 12.1",
            "cuda_faults/child.rs:",
            "active 0",
        ],
    );
    let text = stub.run("add", &[("STUB_LOAD", "218")]);
    contains(&text, &["cuda: add: CUDA: a kernel could not be loaded on cuda:0: error code 218", "active 0"]);
}

/// Machine code that a driver does not take, and a file that is not whole, are none: the text is there.
#[test]
fn machine_code_is_loaded_where_the_driver_takes_it() {
    let Some(stub) = Stub::new("code") else { return };
    let torn = [
        "of 127 bytes: Ok(false)",
        "of 40 bytes: Ok(false)",
        "of 0 bytes: Ok(false)",
        "of 6 bytes: Ok(false)",
    ];
    let text = stub.run("code", &[]);
    contains(&text, &["of 128 bytes: Ok(true)"]);
    contains(&text, &torn);
    // CUDA_ERROR_NO_BINARY_FOR_GPU
    contains(&stub.run("code", &[("STUB_LOAD", "209")]), &["of 128 bytes: Ok(false)"]);
}

#[test]
fn a_driver_without_a_device_or_too_old_is_told_to_who_asks_for_one() {
    let Some(stub) = Stub::new("none") else { return };
    let text = stub.run("none", &[("STUB_DEVICES", "0")]);
    contains(&text, &["device: cuda:0 cannot be used: the CUDA driver works, but has no device", "here 2"]);
    let text = stub.run("none", &[("STUB_VERSION", "11080")]);
    contains(&text, &["the driver is too old: it is for CUDA 11.8, and 12.0 or later is needed", "here 2"]);
    let text = stub.run("none", &[("MG_DEVICE", "cuda:3")]);
    contains(&text, &["there is no cuda:3: this machine has 1 CUDA device", "here 2"]);
}

#[test]
fn a_lost_device_is_an_error_for_every_use_and_harms_nothing_else() {
    let Some(stub) = Stub::new("lost") else { return };
    let text = stub.run("lost", &[("STUB_LOST", "700")]);
    let told = text.lines().filter(|l| l.contains("CUDA_ERROR_ILLEGAL_ADDRESS (700)")).count();
    assert_eq!(told, 6, "{text}");
    assert!(!text.contains("out of memory"), "{text}");
    contains(&text, &["allocate: CUDA: cuCtxSetCurrent answers CUDA_ERROR_ILLEGAL_ADDRESS (700) on cuda:0"]);
    contains(&text, &["active 0", "host 3"]);
}

#[test]
fn out_of_memory_gives_the_cache_back_and_tries_again() {
    let Some(stub) = Stub::new("memory") else { return };
    let text = stub.run("memory", &[("STUB_MEMORY", "100000000")]);
    contains(
        &text,
        &[
            // Fits only after what was cached is given back.
            "cached 25165824",
            "second 83886080",
            // Does not fit: every figure, and the line that asked for it.
            "memory: to: out of memory: 114.44 MiB asked for, 0 B in use, 80.00 MiB cached, 95.37 MiB free",
            "cuda_faults/child.rs:",
            "with limit: 4.00 MiB asked for, 1.00 MiB in use, 0 B cached, limit 2.00 MiB, 94.37 MiB free",
            "after: 256 values, active 0",
        ],
    );
    // The request of `add` is refused by the driver whatever is free.
    let text = stub.run("add", &[("STUB_ALLOC", "2")]);
    contains(&text, &["memory: ", "64.00 MiB asked for", "active 0"]);
}

#[test]
fn a_replay_that_fails_changes_nothing() {
    let Some(stub) = Stub::new("replay") else { return };
    let text = stub.run("replay", &[("STUB_GRAPH", "1")]);
    contains(
        &text,
        &["failed: ", "cuGraphInstantiate on cuda:0 answers error code 1", "weight 4", "at last: active 0"],
    );
    contains(&text, &["graphs 0;"]);
    let text = stub.run("replay", &[]);
    contains(&text, &["replayed", "no memory: ", "again", "weight 4", "at last: active 0", "graphs 0;"]);
}

#[test]
fn tensors_go_on_any_thread_and_at_the_end() {
    let Some(stub) = Stub::new("drop") else { return };
    let text = stub.run("drop", &[]);
    contains(&text, &["threads: active 0", "kept"]);
    // And after a fault, whatever the driver answers then.
    let text = stub.run("drop", &[("STUB_LOST", "719")]);
    contains(&text, &["threads: active 0", "kept"]);
}

#[test]
fn copies_between_devices_leave_no_events_behind() {
    let Some(stub) = Stub::new("two") else { return };
    let text = stub.run("two", &[("STUB_DEVICES", "2")]);
    contains(
        &text,
        &[
            "values [1.0, 2.0, 3.0] on cuda:1",
            "tensors must be on the same device (no implicit device transfers)",
            "cuda:0 and cuda:1",
            "there is no cuda:2: this machine has 2 CUDA devices",
            "active 64 and 64",
            "moved Ok([4.0, 5.0]) Ok([5.0]) Ok([6.0, 7.0])",
            // Those of the pinned pieces, four a device.
            "events 8,",
        ],
    );
}

/// What is done behind a convolution is part of its launch where all elements are told to the mark as they lie.
#[test]
fn work_behind_a_convolution_is_part_of_its_launch() {
    let Some(stub) = Stub::new("behind") else { return };
    // Of all launches: before it are six casts, and copies of what does not lie as the copy engine takes it.
    let cases = [
        ("planes", "planned: conv add relu\n", 10),
        ("innermost", "planned: conv channels innermost add relu | conv\n", 11),
        // An operand as large as the result is read sooner by a program.
        ("both", "planned: conv channels innermost add relu | conv | add relu\n", 12),
        // Fours of places would be of two images.
        ("odd", "planned: conv | add relu\n", 11),
        // The operand lies in planes, the result does not.
        ("apart", "planned: conv channels innermost | add relu | conv\n", 12),
        ("steps", "planned: conv relu\n", 10),
    ];
    for (name, planned, launches) in cases {
        let vars = [("BEHIND", name), ("STUB_LAUNCHES", "1"), ("MG_MEANWHILE", "0")];
        contains(&stub.run("behind", &vars), &[planned, &format!("launches {launches}, ")]);
    }
}

#[test]
fn a_forked_child_is_told() {
    let Some(stub) = Stub::new("fork") else { return };
    let text = stub.run("fork", &[]);
    contains(
        &text,
        &[
            "cuda:0 cannot be used in a child made by fork(), where the CUDA driver does not work: start the child with \"spawn\"",
            "child: host 3",
            "parent: 3 values",
        ],
    );
    assert_eq!(text.matches("start the child with \"spawn\" (crates/mg-autograd/tests").count(), 4, "{text}");
}
