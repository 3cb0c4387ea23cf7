//! A corpus of emitted kernels, assembled for every architecture, and all prebuilt kernels by every assembler there is: what it says of
//! them is looked at. `PTXAS` has the assemblers' paths, as `PATH` has folders, the newest first; without it the one on the path serves. Where there
//! is none only the making of kernels is checked. `cargo xtask test --only ptxas` has several, which it installs.

mod assemblers;

use assemblers::{Assembler, Job, Reading, assemblers, is_recorded, readings};
use mg_device::{DType, Device};
use mg_kernels::cuda::library::{KERNELS, Prebuilt};
use mg_kernels::cuda::{CudaEpilogue, CudaProgram, gate_ptx, gated_ptx};
use mg_kernels::program::Build;
use mg_kernels::{Class, Inst, Law, Over, Program, ReduceKind, Row, Source, Val};

fn reductions(corpus: &mut Vec<(String, Program)>) {
    use ReduceKind::*;
    for dtype in DType::computed() {
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

/// A batch norm's sums: of its input, of squares around means, and in its gradient, where that of a ReLU is stored as well (and is a sum of two).
fn batch_norms() -> Vec<(String, Program)> {
    let mut corpus = vec![];
    let f = DType::F32;
    for (dtype, channels) in [(DType::BF16, 64), (DType::BF16, 256), (DType::BF16, 77), (f, 64)] {
        let new = || {
            let mut b = Build::new(&[200_704, channels], 0, 1);
            let x = b.load(dtype);
            let x = b.push(Inst::Cast(x), f);
            (b, x)
        };
        let end = |b: &mut Build, v: Val| {
            let sum = b.reduce(ReduceKind::Sum, Over::Outer, v);
            b.out(sum, Class::Column);
        };
        let (mut b, x) = new();
        end(&mut b, x);
        corpus.push((format!("mean_{dtype}_{channels}"), b.0));
        let (mut b, x) = new();
        let mean = b.input(Source::Buffer, f, &[0, 1]);
        let less = b.map(Row::Sub, f, &[x, mean]);
        let square = b.map(Row::Square, f, &[less]);
        end(&mut b, square);
        corpus.push((format!("variance_{dtype}_{channels}"), b.0));
        for of_two in [false, true] {
            let (mut b, x) = new();
            let (y, mut g) = (b.load(dtype), b.load(dtype));
            if of_two {
                let other = b.load(dtype);
                g = b.map(Row::Add, dtype, &[g, other]);
            }
            let gate = b.map(Row::Gate, dtype, &[y, g]);
            b.out(gate, Class::Full);
            let gate = b.push(Inst::Cast(gate), f);
            let mean = b.input(Source::Buffer, f, &[0, 1]);
            let less = b.map(Row::Sub, f, &[x, mean]);
            let product = b.map(Row::Mul, f, &[less, gate]);
            end(&mut b, product);
            end(&mut b, gate);
            corpus.push((format!("gradient_{dtype}_{channels}_{of_two}"), b.0));
        }
    }
    corpus
}

/// Two blocks of 256 threads, or one of 512, have to fit on a multiprocessor, with all that they have under way in registers.
#[test]
fn sums_over_columns_stay_in_registers() {
    let device: Device = "cuda:0".parse().unwrap();
    let mut texts = vec![];
    for (name, program) in batch_norms() {
        let made = CudaProgram::of_capability(&program, device, (9, 0)).unwrap();
        texts.push((name, made.ptx(true).unwrap().to_string()));
    }
    let assemblers = assemblers();
    let jobs: Vec<Job> = texts.iter().flat_map(|(name, text)| by_all(&assemblers, name, text)).collect();
    let complaints: Vec<String> = readings("columns", &jobs)
        .iter()
        .zip(&jobs)
        .filter(|(reading, _)| reading.registers > 128 || reading.spilled != [0; 2])
        .map(|(reading, job)| format!("{}: {reading:?}", job.name))
        .collect();
    none(&complaints);
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

#[test]
fn every_kernel_assembles() {
    let device: Device = "cuda:0".parse().unwrap();
    let capabilities = [(7, 5), (8, 0), (9, 0)];
    let files: Vec<_> =
        capabilities.iter().flat_map(|&capability| corpus_files(device, capability)).collect();
    let assemblers = assemblers();
    let Some(newest) = assemblers.first() else { return };
    let targets = std::env::var("PTXAS_TARGETS").unwrap_or(ARCHITECTURES.join(" "));
    let mut jobs = vec![];
    for (name, text, least) in &files {
        let runs_it = |target: &&str| target[3..].parse::<u32>().is_ok_and(|target| target >= *least);
        jobs.extend(targets.split_whitespace().filter(runs_it).map(|target| Job {
            name,
            text,
            assembler: newest,
            architecture: target.to_owned(),
            options: &["-O1"],
            anew: false,
        }));
    }
    readings("corpus", &jobs);
}

/// The corpus in the instructions of a capability: files with their names, and the least architecture that has these.
fn corpus_files(device: Device, capability: (u32, u32)) -> Vec<(String, String, u32)> {
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
    let least = capability.0 * 10 + capability.1;
    // One file for each run of kernels: starting the assembler costs more than a kernel.
    let file = |(f, chunk): (usize, &[(String, String)])| {
        let mut text = ptx_head(&chunk[0].1);
        for (i, (name, ptx)) in chunk.iter().enumerate() {
            let body = ptx.split_once(".address_size 64\n").unwrap().1;
            text += &format!("// {name}\n");
            text += &body.replace(".entry k(", &format!(".entry k{i}("));
        }
        (format!("{least}-{f}"), text, least)
    };
    kernels.chunks(50).enumerate().map(file).collect()
}

fn ptx_head(ptx: &str) -> String {
    let (head, _) = ptx.split_once(".address_size 64\n").unwrap();
    format!("{head}.address_size 64\n")
}

/// Turing, Ampere, Ada's parent, Hopper, Blackwell in data centres and desks: one of each binary-compatible line.
const ARCHITECTURES: [&str; 6] = ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"];
/// What is for no other GPU, nor for later ones.
const ALONE: &str = "sm_90a";

/// Bytes that a kernel keeps in memory for want of registers: stores and loads.
type Spilled = [u32; 2];

/// What is known to be kept in memory, by release and kernel; a kernel that keeps more, or less, fails (decision 0128 says why each may).
const SPILLS: &[(&str, &str, Spilled)] = &[
    // For capability 9.0: a number or two of a block's turn, outside of its products.
    ("12.4", "attention_forward_bf16_w128", [8, 16]),
    ("12.4", "attention_forward_f16_w128", [8, 16]),
    ("12.0", "attention_forward_bf16_w128", [8, 16]),
    ("12.0", "attention_forward_f16_w128", [8, 16]),
    ("12.4", "conv_gather_f32_w128x128", [12, 16]),
    ("12.0", "conv_gather_f32_w128x128", [16, 28]),
    ("12.0", "conv_weight_f32_w128x128", [60, 92]),
    ("12.0", "conv_weight_f32_w64x128", [24, 52]),
    ("12.0", "conv_weight_f32_w64x256", [36, 44]),
    ("12.0", "conv_weight_f32_w64x288", [24, 52]),
    // For capability 8.0: three blocks a multiprocessor, or a thread with 255 registers.
    ("12.9", "attention_dkv_f64", [12, 12]),
    ("12.9", "attention_dq_bf16_mma64", [28, 28]),
    ("12.9", "attention_dq_f16_mma64", [28, 28]),
    ("12.9", "attention_few_bf16_mma256", [4, 4]),
    ("12.9", "attention_few_f16_mma256", [4, 4]),
    ("12.9", "attention_forward_bf16_mma128", [44, 56]),
    ("12.9", "attention_forward_bf16_mma64", [8, 16]),
    ("12.9", "attention_forward_f16_mma128", [44, 56]),
    ("12.9", "attention_forward_f16_mma64", [8, 16]),
    ("12.9", "matmul_f32_128x256_kk", [20, 24]),
    // A number or two, around loops.
    ("12.9", "order_block_b8", [8, 8]),
    ("12.9", "scan_rows_extreme_u8", [4, 4]),
    ("12.9", "scan_rows_prod_i64", [4, 4]),
];

/// The same of spliced texts: two numbers of a block's turn, before and behind its products.
const SPLICED_SPILLS: &[(&str, &str, Spilled)] = &[
    ("12.9", "matmul_bf16_w128x256_mn-10-true", [8, 8]),
    ("12.9", "matmul_bf16_w128x256_mn-10-false", [8, 8]),
    ("12.4", "matmul_bf16_w128x256_mn-10-true", [8, 8]),
    ("12.4", "matmul_bf16_w128x256_mn-10-false", [8, 8]),
];

/// Kernels whose products wait for each other as an old assembler has them (C7515: it takes other instructions for such as define sums within a
/// stage), and so on drivers of that age; later ones do not.
const SERIALISED: &[(&str, &str)] = &[
    ("12.0", "attention_dkv_bf16_w192"),
    ("12.0", "attention_dkv_bf16_w192_masked"),
    ("12.0", "attention_dkv_bf16_w256"),
    ("12.0", "attention_dkv_bf16_w256_masked"),
    ("12.0", "attention_dkv_f16_w192"),
    ("12.0", "attention_dkv_f16_w192_masked"),
    ("12.0", "attention_dkv_f16_w256"),
    ("12.0", "attention_dkv_f16_w256_masked"),
    // Its two ways to add up define the same sums.
    ("12.0", "matmul_scaled_w128x256"),
];

/// What is known of a text by its name.
fn known(of: &[(&str, &str, Spilled)], assembler: &Assembler, name: &str) -> Spilled {
    of.iter().find(|known| (known.0, known.1) == (&*assembler.release, name)).map_or([0; 2], |known| known.2)
}

/// The architecture that a text is written for.
fn own(text: &str) -> &str {
    let target = text.split_once(".target ").and_then(|(_, rest)| rest.split([',', '\n']).next());
    target.unwrap_or_else(|| panic!("no target: {text}")).trim()
}

/// What is wrong with a text, by an assembler. What is for capability 9.0 alone loses most of its speed where products wait for each other, or
/// where `setmaxnreg` is not heeded (the assembler says so, C75xx), or where it keeps sums in memory.
fn complaint(job: &Job, reading: &Reading, expected: Spilled) -> Option<String> {
    let serialised = SERIALISED.contains(&(&*job.assembler.release, job.name));
    // What waits as it is known to does so for that reason alone.
    let warned = if serialised { "C7515" } else { "" };
    (reading.warned != warned || reading.spilled != expected).then(|| {
        format!("{} by {}: {reading:?}, expected {expected:?} '{warned}'", job.name, job.assembler.release)
    })
}

fn none(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
}

/// One text by all assemblers that are asked: old ones are what old drivers have, and are slow, and were bad, at what is for capability 9.0 alone.
fn by_all<'a>(assemblers: &'a [Assembler], name: &'a str, text: &'a str) -> impl Iterator<Item = Job<'a>> {
    let own = own(text);
    let by = if own == ALONE { assemblers } else { &assemblers[..assemblers.len().min(1)] };
    by.iter().enumerate().map(move |(i, assembler)| Job {
        name,
        text,
        assembler,
        architecture: own.to_owned(),
        options: &[],
        anew: i == 0,
    })
}

/// A text for other architectures than its own, by the newest assembler.
fn for_others<'a>(
    assemblers: &'a [Assembler],
    name: &'a str,
    text: &'a str,
    others: &[&str],
) -> impl Iterator<Item = Job<'a>> {
    // What is specific to one architecture ("sm_90a") is for no other.
    let least: Option<u32> = own(text)[3..].parse().ok();
    let takes =
        |other: &&&str| least.is_some_and(|least| other[3..].parse::<u32>().is_ok_and(|other| other > least));
    let others: Vec<String> = others.iter().filter(takes).map(|&other| other.to_owned()).collect();
    let newest = assemblers.first().into_iter();
    newest.flat_map(move |assembler| {
        let jobs = others.clone().into_iter();
        jobs.map(move |architecture| Job { name, text, assembler, architecture, options: &[], anew: false })
    })
}

#[test]
fn prebuilt_kernels_stay_in_registers() {
    let assemblers = assemblers();
    let mut jobs = vec![];
    for kernel in &KERNELS {
        jobs.extend(by_all(&assemblers, kernel.name, kernel.ptx()));
        // What GPUs make of it whose instructions it is not in: two thousand texts, where none is known.
        if is_recorded() {
            jobs.extend(for_others(&assemblers, kernel.name, kernel.ptx(), &ARCHITECTURES));
        }
    }
    let mut complaints = vec![];
    for (job, reading) in jobs.iter().zip(readings("prebuilt", &jobs)) {
        if job.architecture == own(job.text) {
            complaints.extend(complaint(job, &reading, known(SPILLS, job.assembler, job.name)));
        }
    }
    none(&complaints);
    for name in SPILLS.iter().map(|known| known.1).chain(SERIALISED.iter().map(|known| known.1)) {
        assert!(Prebuilt::find(name).is_some(), "SPILLS names {name}, which is no kernel");
    }
}

/// What the emitter writes for single operations, a file for each dtype.
#[test]
fn single_operations_assemble() {
    let assemblers = assemblers();
    let files = mg_kernels::cuda::single::files().unwrap();
    let mut jobs = vec![];
    for (name, text) in &files {
        let name = name.trim_end_matches(".ptx");
        jobs.extend(by_all(&assemblers, name, text));
        if is_recorded() {
            jobs.extend(for_others(&assemblers, name, text, &ARCHITECTURES));
        }
    }
    readings("single", &jobs);
}

/// Spliced texts, and texts with a gate: those for capability 9.0 alone are looked at as prebuilt ones are, the others have to assemble.
fn spliced_assemble(record: &str, texts: &[(String, String)]) {
    let assemblers = assemblers();
    let jobs: Vec<Job> = texts.iter().flat_map(|(name, text)| by_all(&assemblers, name, text)).collect();
    let readings = readings(record, &jobs);
    let alone = jobs.iter().zip(&readings).filter(|(job, _)| job.architecture == ALONE);
    let complaints = alone
        .filter_map(|(job, reading)| complaint(job, reading, known(SPLICED_SPILLS, job.assembler, job.name)));
    none(&complaints.collect::<Vec<_>>());
}

/// Bias, activation and an update in place, on products whose rows divide by four and whose do not.
#[test]
fn epilogues_assemble() {
    let dtype_of = |name: &str| match name.split('_').nth(1) {
        Some("bf16") => DType::BF16,
        Some("f16") => DType::F16,
        Some("f32" | "tf32") => DType::F32,
        other => panic!("a product of {other:?}"),
    };
    let some = [
        "matmul_f32_64x64_kn",
        "matmul_f32_32x32_xn",
        "matmul_tf32_64x64_kk",
        "matmul_tf32_32x32_mn",
        "matmul_bf16_64x64_kn",
        "matmul_f16_128x256_kn",
        "matmul_bf16_w128x256_mn",
        "matmul_tf32_w128x64_kk",
    ];
    // What is for capability 9.0 alone is all looked at, once each.
    let alone = KERNELS.iter().filter(|kernel| {
        kernel.name.starts_with("matmul_")
            && kernel.ptx().contains(".target sm_90a")
            && kernel.ptx().contains("// mg.epilogue")
    });
    let forms =
        some.iter().flat_map(|name| [(64, true), (64, false), (10, true), (10, false)].map(|f| (*name, f)));
    let mut cases: Vec<(&str, (usize, bool))> = forms.collect();
    cases.extend(
        alone.map(|kernel| kernel.name).filter(|name| !some.contains(name)).map(|name| (name, (64, true))),
    );
    let texts: Vec<(String, String)> = cases
        .into_iter()
        .map(|(name, (columns, aligned))| {
            let dtype = dtype_of(name);
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
            // And the bias's gradient, where rows are fours.
            let sums = columns % 4 == 0;
            if sums {
                b.0.outer = 1;
                let sum = b.reduce(ReduceKind::Sum, Over::Outer, relu);
                b.out(sum, Class::Column);
            }
            let base = Prebuilt::find(name).unwrap_or_else(|| panic!("no kernel {name}"));
            let ptx = CudaEpilogue::ptx(base, &b.0, &[0], [128, columns], aligned).unwrap();
            let ptx = ptx.unwrap_or_else(|| panic!("{name} takes no epilogue"));
            assert!(
                !ptx.contains("mg.") || ptx.matches("// mg.").count() == ptx.matches("// mg.level").count()
            );
            assert!(!ptx.contains("@V0@") && !ptx.contains("@B@") && ptx.contains("%columns3") == sums);
            // Rounded by one instruction, which the kernels' GPUs have.
            assert_eq!(ptx.matches("cvt.rn.bf16x2.f32 %er").count() > 0, dtype == DType::BF16);
            (format!("{name}-{columns}-{aligned}"), ptx)
        })
        .collect();
    assert!(texts.len() > 4 * some.len());
    spliced_assemble("spliced", &texts);
}

/// Kernels of every kind with the gate before them, and those that set it and make up for it.
#[test]
fn gates_assemble() {
    let mut texts: Vec<String> = gate_ptx().map(String::from).into();
    for kernel in KERNELS.iter().filter(|k| k.name.ends_with("b32") || k.name.contains("128x128_k")) {
        texts.push(gated_ptx(kernel.ptx()).unwrap_or_else(|| panic!("{} has no entry", kernel.name)));
    }
    for (_, program) in corpus().iter().step_by(25) {
        let program = CudaProgram::new(program, Device::cpu()).unwrap();
        texts.push(gated_ptx(program.ptx(true).unwrap()).unwrap());
    }
    assert!(texts[2..].iter().all(|text| text.matches("[mg_gate]").count() == 1));
    let named = texts.into_iter().enumerate().map(|(i, text)| (i.to_string(), text));
    spliced_assemble("gated", &named.collect::<Vec<_>>());
}
