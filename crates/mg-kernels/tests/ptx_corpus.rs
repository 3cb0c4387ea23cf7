//! A corpus of emitted kernels, assembled for every architecture where `ptxas` is found (`PTXAS`, or on the path); where
//! it is not, only their making is checked.

use mg_device::{DType, Device};
use mg_kernels::cuda::library::{KERNELS, Prebuilt};
use mg_kernels::cuda::{CudaEpilogue, CudaProgram, gate_ptx, gated_ptx};
use mg_kernels::program::Build;
use mg_kernels::{Class, Inst, Law, Over, Program, ReduceKind, Row, Source, Val};
use std::path::{Path, PathBuf};
use std::process::Command;

fn reductions(corpus: &mut Vec<(String, Program)>) {
    use ReduceKind::*;
    for dtype in DType::ALL {
        for kind in [Sum, Prod, Max, Min, ArgMax, ArgMin] {
            for n in [100, 1 << 22] {
                let mut b = Build::new(&[n], 0, 0);
                let x = b.load(dtype);
                let v = b.reduce(kind, Over::All, x);
                b.out(v, Class::Total);
                corpus.push((format!("all_{}_{dtype}_{n}", kind.name()), b.0));
            }
            for columns in [3, 10, 64, 1000, 4096, 4097, 100_000] {
                if dtype != DType::F32 && columns > 100 {
                    continue;
                }
                let mut b = Build::new(&[33, columns], 0, 1);
                let x = b.load(dtype);
                let v = b.reduce(kind, Over::Inner, x);
                b.out(v, Class::Row);
                corpus.push((format!("inner_{}_{dtype}_{columns}", kind.name()), b.0));
            }
            if kind.is_arg() {
                continue;
            }
            for (batch, columns) in [(0, 10), (0, 4096), (1, 77)] {
                let space: &[usize] = if batch == 1 { &[3, 50, columns] } else { &[5000, columns] };
                let mut b = Build::new(space, batch, 1);
                let x = b.load(dtype);
                let v = b.reduce(kind, Over::Outer, x);
                b.out(v, Class::Column);
                corpus.push((format!("outer_{}_{dtype}_{batch}_{columns}", kind.name()), b.0));
            }
        }
    }
}

/// Softmax with its gradient, a loss over all rows and column sums, as the scheduler writes them.
fn row_programs(corpus: &mut Vec<(String, Program)>) {
    for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
        for columns in [10, 128, 1000, 4096, 20_000] {
            for with_columns in [false, true] {
                let mut b = Build::new(&[50, columns], 0, 1);
                let x = b.load(dtype);
                let g = b.load(dtype);
                let max = b.reduce(ReduceKind::Max, Over::Inner, x);
                let shifted = b.map(Row::Sub, dtype, &[x, max]);
                let e = b.map(Row::Exp, dtype, &[shifted]);
                let sum = b.reduce(ReduceKind::Sum, Over::Inner, e);
                let y = b.map(Row::Div, dtype, &[e, sum]);
                let gy = b.map(Row::Mul, dtype, &[g, y]);
                let dot = b.reduce(ReduceKind::Sum, Over::Inner, gy);
                let log = b.map(Row::Log, dtype, &[sum]);
                let loss = b.reduce(ReduceKind::Sum, Over::All, log);
                let centred = b.map(Row::Sub, dtype, &[g, dot]);
                let dx = b.map(Row::Mul, dtype, &[centred, y]);
                b.out(y, Class::Full);
                b.out(dx, Class::Full);
                b.out(sum, Class::Row);
                b.out(loss, Class::Total);
                if with_columns {
                    let column = b.reduce(ReduceKind::Sum, Over::Outer, dx);
                    b.out(column, Class::Column);
                }
                corpus.push((format!("softmax_{dtype}_{columns}_{with_columns}"), b.0));
            }
        }
    }
}

fn layouts(corpus: &mut Vec<(String, Program)>) {
    for (name, space, strides) in [
        ("transposed", vec![64usize, 48], vec![1isize, 64]),
        ("row", vec![64, 48], vec![0, 1]),
        ("column", vec![64, 48], vec![1, 0]),
        ("flipped", vec![1000], vec![-1]),
        ("stepped", vec![20, 30, 40], vec![9600, 160, 2]),
        ("scalar", vec![64, 48], vec![0, 0]),
        ("far", vec![70_000, 70_000], vec![0, 70_000]),
    ] {
        for source in
            [Source::Buffer, Source::Index, Source::Random(Law::Uniform), Source::Random(Law::Normal)]
        {
            let dtype = if source == Source::Index { DType::I64 } else { DType::F32 };
            let mut b = Build::new(&space, 0, 0);
            let x = b.input(source, dtype, &strides);
            let y = b.load(dtype);
            let v = b.map(Row::Add, dtype, &[x, y]);
            let c = b.push(Inst::Const(0), dtype);
            let w = b.map(Row::Mul, dtype, &[v, c]);
            b.out(w, Class::Full);
            corpus.push((format!("{name}_{source:?}"), b.0));
        }
    }
    for columns in [300, 30_000] {
        let mut b = Build::new(&[40, columns], 0, 1);
        let i = b.load(DType::I64);
        let g = b.push(Inst::Guard(i, 0), DType::I64);
        let d = b.map(Row::Div, DType::I64, &[g, i]);
        let s = b.reduce(ReduceKind::Sum, Over::Inner, d);
        let bias = b.input(Source::Buffer, DType::I64, &[1, 0]);
        let t = b.map(Row::Add, DType::I64, &[s, bias]);
        b.out(t, Class::Row);
        b.out(d, Class::Full);
        corpus.push((format!("guarded_{columns}"), b.0));
    }
    let mut b = Build::new(&[0, 5], 0, 1);
    let x = b.load(DType::F32);
    let v = b.reduce(ReduceKind::Sum, Over::Outer, x);
    b.out(v, Class::Column);
    corpus.push(("empty_outer".into(), b.0));
    let mut b = Build::new(&[0], 0, 0);
    let x = b.load(DType::F32);
    let v = b.reduce(ReduceKind::Sum, Over::All, x);
    b.out(v, Class::Total);
    corpus.push(("empty_all".into(), b.0));
}

/// So many blocks that the last of each group joins full reductions before the last of all does.
fn groups_of_blocks(corpus: &mut Vec<(String, Program)>) {
    for kind in [ReduceKind::Sum, ReduceKind::ArgMax] {
        let mut b = Build::new(&[1 << 27], 0, 0);
        let x = b.load(DType::F32);
        let y = b.map(Row::Square, DType::F32, &[x]);
        let total = b.reduce(kind, Over::All, y);
        let other = b.reduce(ReduceKind::Max, Over::All, x);
        b.out(y, Class::Full);
        b.out(total, Class::Total);
        b.out(other, Class::Total);
        corpus.push((format!("groups_{}", kind.name()), b.0));
    }
}

/// A cross entropy with its gradient, whose rows are walked three times.
fn long_rows(corpus: &mut Vec<(String, Program)>) {
    for (dtype, columns) in
        [(DType::BF16, 50304), (DType::F16, 50301), (DType::F32, 20_000), (DType::F64, 10_000)]
    {
        let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
        let mut b = Build::new(&[300, columns], 0, 1);
        let x = b.load(dtype);
        let x = b.push(Inst::Cast(x), wide);
        let label = b.input(Source::Buffer, DType::I64, &[1, 0]);
        let place = b.input(Source::Index, DType::I64, &[0, 1]);
        let max = b.reduce(ReduceKind::Max, Over::Inner, x);
        let shifted = b.map(Row::Sub, wide, &[x, max]);
        let e = b.map(Row::Exp, wide, &[shifted]);
        let sum = b.reduce(ReduceKind::Sum, Over::Inner, e);
        let here = b.map(Row::Eq, DType::I64, &[label, place]);
        let share = b.map(Row::Div, wide, &[e, sum]);
        let less = b.map(Row::Sub, wide, &[share, sum]);
        let d = b.map(Row::Where, wide, &[here, less, share]);
        let d = b.push(Inst::Cast(d), dtype);
        let log = b.map(Row::Log, wide, &[sum]);
        b.out(d, Class::Full);
        b.out(log, Class::Row);
        corpus.push((format!("cross_entropy_{dtype}_{columns}_100000"), b.0));
    }
}

/// A gradient of GELU behind a bias, which is summed over rows as it is written.
fn sums_beside_elements(corpus: &mut Vec<(String, Program)>) {
    for (dtype, columns) in [(DType::BF16, 3072), (DType::F32, 257)] {
        let mut b = Build::new(&[4096, columns], 0, 1);
        let (g, h) = (b.load(dtype), b.load(dtype));
        let bias = b.input(Source::Buffer, DType::F32, &[0, 1]);
        let cast = |b: &mut Build, v: Val, to: DType| b.push(Inst::Cast(v), to);
        let bias = cast(&mut b, bias, dtype);
        let x = b.map(Row::Add, dtype, &[h, bias]);
        let (x, g) = (cast(&mut b, x, DType::F32), cast(&mut b, g, DType::F32));
        let erf = b.map(Row::Erf, DType::F32, &[x]);
        let square = b.map(Row::Square, DType::F32, &[x]);
        let power = b.map(Row::Exp, DType::F32, &[square]);
        let slope = b.map(Row::Mul, DType::F32, &[power, x]);
        let slope = b.map(Row::Add, DType::F32, &[slope, erf]);
        let d = b.map(Row::Mul, DType::F32, &[slope, g]);
        let d = cast(&mut b, d, dtype);
        let sum = b.reduce(ReduceKind::Sum, Over::Outer, d);
        b.out(d, Class::Full);
        b.out(sum, Class::Column);
        corpus.push((format!("sum_beside_gelu_{dtype}_100000"), b.0));
    }
}

fn corpus() -> Vec<(String, Program)> {
    let mut corpus = vec![];
    sums_beside_elements(&mut corpus);
    long_rows(&mut corpus);
    groups_of_blocks(&mut corpus);
    reductions(&mut corpus);
    row_programs(&mut corpus);
    layouts(&mut corpus);
    corpus
}

fn ptxas() -> Option<PathBuf> {
    let path = std::env::var_os("PTXAS").map(PathBuf::from).unwrap_or_else(|| "ptxas".into());
    Command::new(&path).arg("--version").output().is_ok_and(|o| o.status.success()).then_some(path)
}

#[test]
fn every_kernel_assembles() {
    let device: Device = "cuda:0".parse().unwrap();
    for capability in [(7, 5), (8, 0), (9, 0)] {
        assemble_corpus(device, capability);
    }
}

/// The corpus in the instructions of a capability, for architectures that have them.
fn assemble_corpus(device: Device, capability: (u32, u32)) {
    let kernels: Vec<(String, String)> = corpus()
        .iter()
        .enumerate()
        .filter(|(i, (name, _))| capability == (7, 5) || i % 3 == 0 || name.ends_with("_100000"))
        .flat_map(|(_, (name, program))| {
            let made = CudaProgram::of_capability(program, device, capability)
                .unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut texts =
                [true, false].map(|a| (format!("{name}_{a}"), made.ptx(a).unwrap().to_string())).to_vec();
            if made.is_elementwise() {
                texts.push((format!("{name}_list"), made.list_ptx().unwrap().to_string()));
            }
            texts
        })
        .collect();
    assert!(kernels.len() > if capability == (7, 5) { 250 } else { 80 });
    assert!(kernels.iter().any(|k| k.1.contains(".reqnctapercluster")) == (capability == (9, 0)));
    let Some(ptxas) = ptxas() else {
        eprintln!("skipped: no ptxas");
        return;
    };
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ptx-corpus-{}", capability.0));
    std::fs::create_dir_all(&dir).unwrap();
    // One file for each run of kernels: starting the assembler costs more than a kernel.
    let mut files = vec![];
    for (f, chunk) in kernels.chunks(100).enumerate() {
        let mut text = String::new();
        for (i, (_, ptx)) in chunk.iter().enumerate() {
            let body = ptx.split_once(".address_size 64\n").unwrap().1;
            text += &body.replace(".entry k(", &format!(".entry k{i}("));
        }
        let head = ptx_head(&chunk[0].1);
        let path = dir.join(format!("{f}.ptx"));
        std::fs::write(&path, head + &text).unwrap();
        files.push((path, chunk));
    }
    let targets = std::env::var("PTXAS_TARGETS").unwrap_or("sm_75 sm_80 sm_86 sm_90 sm_100 sm_120".into());
    let least = capability.0 * 10 + capability.1;
    let runs_it = |target: &&str| target[3..].parse::<u32>().is_ok_and(|target| target >= least);
    for target in targets.split_whitespace().filter(runs_it) {
        for (path, chunk) in &files {
            let out = Command::new(&ptxas)
                .args(["-arch", target, "-O1", "-o", "/dev/null"])
                .arg(path)
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&out.stderr);
            if !out.status.success() {
                let names: Vec<&str> = chunk.iter().map(|(n, _)| n.as_str()).collect();
                panic!("{target}, {}: {text}\nkernels: {names:?}", path.display());
            }
        }
    }
}

fn ptx_head(ptx: &str) -> String {
    let (head, _) = ptx.split_once(".address_size 64\n").unwrap();
    format!("{head}.address_size 64\n")
}

/// Assembles a product's text for capability 9.0. What is for it alone loses most of its speed where the assembler has to
/// wait for one product after the other (it says so, C75xx), or keeps sums in memory.
fn assembles_well(ptxas: &Path, path: &Path) {
    let alone = std::fs::read_to_string(path).unwrap().contains(".target sm_90a");
    let arch = if alone { "sm_90a" } else { "sm_90" };
    let out = Command::new(ptxas).args(["-v", "-arch", arch, "-o", "/dev/null"]).arg(path).output().unwrap();
    let said = [out.stdout, out.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(out.status.success(), "{}: {said}", path.display());
    if alone {
        let spills =
            said.contains("bytes spill") && !said.contains(" 0 bytes spill stores, 0 bytes spill loads");
        assert!(!said.contains("C75") && !spills, "{}: {said}", path.display());
    }
}

#[test]
fn products_for_hopper_alone_stay_in_registers() {
    let Some(ptxas) = ptxas() else {
        eprintln!("skipped: no ptxas");
        return;
    };
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ptx-hopper");
    std::fs::create_dir_all(&dir).unwrap();
    let hopper = KERNELS.iter().filter(|kernel| kernel.ptx().contains(".target sm_90a"));
    let mut n = 0;
    for kernel in hopper {
        let path = dir.join(format!("{}.ptx", kernel.name));
        std::fs::write(&path, kernel.ptx()).unwrap();
        assembles_well(&ptxas, &path);
        n += 1;
    }
    assert!(n > 0);
}

/// Bias, activation and an update in place, on products whose rows divide by four and whose do not.
#[test]
fn epilogues_assemble() {
    let ptxas = ptxas();
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ptx-epilogues");
    std::fs::create_dir_all(&dir).unwrap();
    for (name, dtype) in [
        ("matmul_f32_64x64_kn", DType::F32),
        ("matmul_f32_32x32_xn", DType::F32),
        ("matmul_tf32_64x64_kk", DType::F32),
        ("matmul_tf32_32x32_mn", DType::F32),
        ("matmul_bf16_64x64_kn", DType::BF16),
        ("matmul_f16_128x256_kn", DType::F16),
        ("matmul_bf16_w128x256_mn", DType::BF16),
        ("matmul_tf32_w128x64_kk", DType::F32),
    ] {
        for columns in [64, 10] {
            let mut b = Build::new(&[128, columns], 0, 0);
            let product = b.load(dtype);
            let bias = b.input(Source::Buffer, dtype, &[0, 1]);
            let sum = b.map(Row::Add, dtype, &[product, bias]);
            let relu = b.map(Row::Relu, dtype, &[sum]);
            let rate = b.push(Inst::Const(0), dtype);
            let old = b.load(dtype);
            let step = b.map(Row::Mul, dtype, &[relu, rate]);
            let new = b.map(Row::Sub, dtype, &[old, step]);
            b.out(relu, Class::Full);
            b.out(new, Class::Full);
            for aligned in [true, false] {
                let base = Prebuilt::find(name).unwrap_or_else(|| panic!("no kernel {name}"));
                let ptx = CudaEpilogue::ptx(base, &b.0, &[0], [128, columns], aligned).unwrap();
                let ptx = ptx.unwrap_or_else(|| panic!("{name} takes no epilogue"));
                assert!(!ptx.contains("mg.epilogue") && !ptx.contains("@V0@"));
                // Rounded by one instruction, which the kernels' GPUs have.
                assert_eq!(ptx.matches("cvt.rn.bf16x2.f32 %er").count() > 0, dtype == DType::BF16);
                let Some(ptxas) = &ptxas else { continue };
                let path = dir.join(format!("{name}-{columns}-{aligned}.ptx"));
                std::fs::write(&path, ptx).unwrap();
                assembles_well(ptxas, &path);
            }
        }
    }
    if ptxas.is_none() {
        eprintln!("skipped: no ptxas");
    }
}

/// Kernels of every kind with the gate before them, and those that set it and make up for it.
#[test]
fn gates_assemble() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ptx-gates");
    std::fs::create_dir_all(&dir).unwrap();
    let mut texts: Vec<String> = gate_ptx().map(String::from).into();
    for kernel in KERNELS.iter().filter(|k| k.name.ends_with("b32") || k.name.contains("128x128_k")) {
        texts.push(gated_ptx(kernel.ptx()).unwrap_or_else(|| panic!("{} has no entry", kernel.name)));
    }
    for (_, program) in corpus().iter().step_by(25) {
        let program = CudaProgram::new(program, Device::cpu()).unwrap();
        texts.push(gated_ptx(program.ptx(true).unwrap()).unwrap());
    }
    assert!(texts[2..].iter().all(|text| text.matches("[mg_gate]").count() == 1));
    let Some(ptxas) = ptxas() else {
        eprintln!("skipped: no ptxas");
        return;
    };
    for (i, text) in texts.iter().enumerate() {
        let path = dir.join(format!("{i}.ptx"));
        std::fs::write(&path, text).unwrap();
        assembles_well(&ptxas, &path);
    }
}
