//! Times of the tiles of matrix products on this machine's GPU, and plans by two files of such times beside each other. `docs/tiles.md` says what for.
//!
//!     tiles measure FOLDER DRIVER DATE COMMIT     writes the GPU's file into a folder
//!     tiles compare FILE [FILE]                   what is chosen by each (without a second: by what the library has), where they differ, and how long that takes

use half::{bf16, f16};
use mg_device::cuda::{Gpu, Graph, Kernel, Launches, Origin};
use mg_device::{Buffer, DType, Device, Layout, Shape};
use mg_kernels::cuda::library::{KernelLaunch, KernelPlan, MAX_ARGS, Pointer, Prebuilt, TICKETS};
use mg_kernels::library::matmul::cuda::{self as matmul, Kind, Row, Tile, known};
use mg_kernels::library::matmul::{Features, Measured, Precision, Problem, Tiles};
use mg_kernels::library::{Described, Library, Scaled, Shaped, Target};
use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Depths that a tile is measured at.
const DEPTHS: [usize; 6] = [128, 256, 512, 1024, 2048, 4096];
/// Depths that several rounds of blocks are measured at, and how many.
const ROUNDS_DEPTHS: [usize; 2] = [1024, 4096];
const SEVERAL: usize = 4;
/// Seconds of launches that are timed together, and how often.
const SPAN: f64 = 4e-3;
const ROUNDS: usize = 5;
/// Launches of a graph, at most.
const MOST: usize = 500;

/// Kernels that were loaded, and operands that were made.
struct Bench {
    gpu: &'static Gpu,
    kernels: HashMap<&'static str, Kernel>,
    /// By dtype: memory that two operands lie in, one behind the other.
    operands: HashMap<DType, Buffer>,
    tickets: Buffer,
}

/// What is launched, and what it works on.
struct Work<'a> {
    plan: &'a KernelPlan,
    dtype: DType,
    /// Bytes of each operand; of scales, which are ones, nothing.
    operands: Vec<usize>,
    /// Of each result.
    results: Vec<usize>,
}

/// Numbers from a normal distribution, nearly: sums of four that are drawn evenly.
fn numbers(count: usize) -> impl Iterator<Item = f32> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut even = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    (0..count).map(move |_| (even() + even() + even() + even()) * 1.73)
}

/// So many bytes of numbers, of which a million are drawn.
fn drawn(dtype: DType, bytes: usize) -> Result<Vec<u8>> {
    let some = numbers(1 << 20);
    let some: Vec<u8> = match dtype {
        DType::F32 => some.flat_map(f32::to_le_bytes).collect(),
        DType::F16 => some.flat_map(|x| f16::from_f32(x).to_le_bytes()).collect(),
        DType::BF16 => some.flat_map(|x| bf16::from_f32(x).to_le_bytes()).collect(),
        // Signs, exponents around that of one, fractions.
        DType::F8E4M3 => some.map(|x| ((x * 997.0) as i32 as u8 & 0x9f) + 0x28).collect(),
        other => return Err(format!("no numbers of {other}").into()),
    };
    Ok(some.iter().copied().cycle().take(bytes).collect())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let gpu = Gpu::of(Device::cuda(0)?)?;
    let tickets = Buffer::zeroed(gpu.device(), DType::U8, 4 * TICKETS)?;
    let bench = Bench { gpu, kernels: HashMap::new(), operands: HashMap::new(), tickets };
    match words.as_slice() {
        ["measure", folder, driver, date, commit] => {
            measure(bench, Path::new(folder), [driver, date, commit])
        }
        ["compare", file] => compare(bench, Path::new(file), None),
        ["compare", file, other] => compare(bench, Path::new(file), Some(Path::new(other))),
        _ => Err("usage: tiles measure FOLDER DRIVER DATE COMMIT | tiles compare FILE [FILE]".into()),
    }
}

/// An operand of `rows` by `columns`, whose neighbours lie along its rows or its columns, aligned or not.
fn operand([rows, columns]: [usize; 2], across: bool, aligned: bool) -> Result<Layout> {
    let lengthened = |n: usize| if aligned { n } else { n | 1 } as isize;
    let strides = if across { [1, lengthened(rows)] } else { [lengthened(columns), 1] };
    Ok(Layout::new(Shape::new(&[rows, columns])?, &strides, 0)?)
}

/// Both operands of a product that lie in this form.
fn operands([m, n, k]: [usize; 3], form: &str) -> Result<[Layout; 2]> {
    let (a, b) = match form {
        "any" => ('x', 'x'),
        form => (form.chars().next().unwrap_or('x'), form.chars().nth(1).unwrap_or('x')),
    };
    Ok([operand([m, k], a == 'm', a != 'x')?, operand([k, n], b == 'k', b != 'x')?])
}

fn dtype(kind: Kind) -> (DType, Precision) {
    match kind {
        Kind::F32 | Kind::Any => (DType::F32, Precision::Highest),
        Kind::Tf32 => (DType::F32, Precision::High),
        Kind::F16 => (DType::F16, Precision::Highest),
        Kind::Bf16 | Kind::Many => (DType::BF16, Precision::Highest),
        Kind::Scaled => (DType::F8E4M3, Precision::Highest),
    }
}

/// Bytes from an operand's first element to its last.
fn bytes(dtype: DType, layout: &Layout) -> usize {
    let reach = layout.shape().iter().zip(layout.strides()).map(|(&n, &s)| (n - 1) * s.unsigned_abs());
    (reach.sum::<usize>() + 1) * dtype.size()
}

fn problem(
    kind: Kind,
    sizes: [usize; 3],
    form: &str,
    capability: u32,
    tiles: &'static Tiles,
) -> Result<Problem> {
    let ([a, b], (dtype, precision)) = (operands(sizes, form)?, dtype(kind));
    let mut problem = Problem::new(dtype, &a, &b)?;
    (problem.capability, problem.precision, problem.tiles) = (capability, precision, tiles);
    Ok(problem)
}

/// Rows and columns of tiles: as many as there is room for among `blocks`, in a shape that is about square.
fn grid(tile: &Tile, blocks: usize) -> [usize; 2] {
    let square = (blocks as f64 * tile.m as f64 / tile.n as f64).sqrt();
    let columns = (square / 1.5) as usize..=(square * 1.5) as usize + 1;
    let all =
        columns.filter(|&columns| (1..=blocks).contains(&columns)).map(|columns| [blocks / columns, columns]);
    let far = |columns: usize| (columns as f64 - square).abs();
    all.max_by(|a, b| (a[0] * a[1]).cmp(&(b[0] * b[1])).then(far(b[1]).total_cmp(&far(a[1]))))
        .unwrap_or([1, 1])
}

/// So many blocks; and the bytes of all operands, and of all results.
fn round(
    (kind, tile, form): (Kind, &Tile, &str),
    blocks: usize,
    k: usize,
    features: &Features,
    tiles: &'static Tiles,
) -> Result<(KernelPlan, Vec<usize>, Vec<usize>)> {
    let [rows, columns] = grid(tile, blocks);
    let (m, n, (dtype, _)) = (rows * tile.m, columns * tile.n, dtype(kind));
    let of = |m: usize| -> Result<Vec<usize>> {
        Ok(operands([m, n, k], form)?.iter().map(|layout| bytes(dtype, layout)).collect())
    };
    let capability = if kind == Kind::Any { 75 } else { features.capability };
    let missing = || format!("{} {} {form} has no plan of {m} by {n} by {k}", kind.name(), tile.name);
    match kind {
        Kind::F32 | Kind::Tf32 | Kind::F16 | Kind::Bf16 | Kind::Any => {
            let problem = problem(kind, [m, n, k], form, capability, tiles)?;
            let plan = matmul::plan_with(&problem, tile.name, Some(1))?.ok_or_else(missing)?;
            Ok((plan, of(m)?, vec![m * n * dtype.size()]))
        }
        Kind::Many => {
            let heights = [rows / 2, rows - rows / 2].map(|rows| rows * tile.m);
            let problems = heights.map(|m| problem(kind, [m, n, k], form, capability, tiles));
            let problems = problems.into_iter().collect::<Result<Vec<Problem>>>()?;
            let plan = matmul::together_with(&problems, tile.name)?.ok_or_else(missing)?;
            let all: Vec<Vec<usize>> = heights.into_iter().map(of).collect::<Result<_>>()?;
            Ok((plan, all.concat(), heights.map(|m| m * n * dtype.size()).to_vec()))
        }
        Kind::Scaled => {
            let described = |dtype: DType, dims: &[usize]| -> Result<Described> {
                Ok(Described { layout: Layout::contiguous(Shape::new(dims)?), dtype, align: 16 })
            };
            let one = described(DType::F32, &[])?;
            let all = [described(dtype, &[m, k])?, described(dtype, &[n, k])?, one, one];
            let kernel = Library::from(Scaled { result: DType::BF16, fast: false });
            let result = Shaped { shape: Shape::new(&[m, n])?, dtype: DType::BF16 };
            let target = Target { tiles, ..Target::new(16, capability, Precision::Highest) };
            let plan = kernel.cuda(&all, &result, target)?;
            Ok((plan, vec![m * k, n * k, 0, 0], vec![m * n * 2]))
        }
    }
}

/// What the times are if they are `once` and `each` for a unit of depth: those of the least squares of what they are beside it. `once` may be known.
fn fit(times: &[(f64, f64)], once: Option<f64>) -> (f64, f64) {
    let sum = |f: &dyn Fn(f64, f64) -> f64| times.iter().map(|&(x, t)| f(x, t) / (t * t)).sum::<f64>();
    let (one, x, xx) = (sum(&|_, _| 1.0), sum(&|x, _| x), sum(&|x, _| x * x));
    let (t, xt) = (sum(&|_, t| t), sum(&|x, t| x * t));
    let once = once.unwrap_or((t * xx - x * xt) / (one * xx - x * x)).max(0.1);
    (once, ((xt - once * x) / xx).max(0.01))
}

fn measure(mut bench: Bench, folder: &Path, [driver, date, commit]: [&str; 3]) -> Result<()> {
    let began = Instant::now();
    let features = Features::of(bench.gpu);
    // A model's times say which tiles there are, and how many blocks fit.
    let tiles: &'static Tiles = Box::leak(Box::new(Tiles::new(&features, None)?));
    let mut plans = vec![];
    for of in known(features.capability) {
        for each in 1..=of.1.room(features.capability) {
            // Several products are one launch where they are deep.
            let depths = DEPTHS.iter().filter(|&&depth| of.0 != Kind::Many || depth >= 1024);
            let mut cases: Vec<(usize, usize)> = depths.map(|&depth| (1, depth)).collect();
            // Where no more blocks fit, those that are left take their turns. (Large products are not launched together.)
            if each == of.1.room(features.capability) && of.0 != Kind::Many {
                cases.extend(ROUNDS_DEPTHS.map(|depth| (SEVERAL, depth)));
            }
            let planned = |(rounds, depth): (usize, usize)| {
                let blocks = features.multiprocessors * each * rounds;
                Ok(((rounds, depth), round(of, blocks, depth, &features, tiles)?))
            };
            plans.push((of, each, cases.into_iter().map(planned).collect::<Result<Vec<_>>>()?));
        }
    }
    bench.load(plans.iter().flat_map(|(.., depths)| depths.iter().map(|(_, round)| &round.0)))?;
    println!("{} kernels loaded after {:.1} s", bench.kernels.len(), began.elapsed().as_secs_f64());
    let mut rows: Vec<Row> = vec![];
    for ((kind, tile, form), each, depths) in plans {
        let mut times = vec![];
        for ((rounds, depth), (plan, operands, results)) in &depths {
            let (operands, results) = (operands.clone(), results.clone());
            let work = Work { plan, dtype: dtype(kind).0, operands, results };
            let begun = (rounds - 1) as f64 * Tiles::ROUND;
            times.push(((rounds * depth) as f64 / 1024.0, bench.times(&[work])?[0] - begun));
        }
        match rows.last_mut().filter(|_| each > 1) {
            Some(row) => {
                let (_, depth) = fit(&times, Some(row.once));
                row.depth.push(round_to(depth));
            }
            None => {
                let (once, depth) = fit(&times, None);
                rows.push(Row { kind, tile, form, once: round_to(once), depth: vec![round_to(depth)] });
            }
        }
        let (once, depth) = rows.last().map_or((0.0, 0.0), |row| (row.once, row.depth[each - 1]));
        let off = |(x, t): &(f64, f64)| format!("{:+.0} %", 100.0 * (once + x * depth - t) / t);
        let offs: Vec<String> = times.iter().map(off).collect();
        println!("{} {} {form} {each}: {once:.2} {depth:.2}; {}", kind.name(), tile.name, offs.join(", "));
    }
    let Features { name: gpu, capability, multiprocessors, clock } = features;
    let [driver, date, commit] = [driver, date, commit].map(str::to_owned);
    let measured = Measured { gpu, capability, multiprocessors, clock, driver, date, commit, rows };
    let text = measured.to_string();
    if Measured::parse(&text)? != measured {
        return Err("the file does not say what was measured".into());
    }
    let path = folder.join(measured.file_name());
    std::fs::write(&path, text)?;
    println!("{} after {:.1} s", path.display(), began.elapsed().as_secs_f64());
    Ok(())
}

/// To hundredths.
fn round_to(time: f64) -> f64 {
    (time * 100.0).round() / 100.0
}

impl Bench {
    /// Loads kernels, side by side.
    fn load<'a>(&mut self, plans: impl Iterator<Item = &'a KernelPlan>) -> Result<()> {
        let mut new: Vec<&'static Prebuilt> = vec![];
        for launch in plans.flat_map(|plan| &plan.launches) {
            if !self.kernels.contains_key(launch.kernel.name)
                && !new.iter().any(|k| std::ptr::eq(*k, launch.kernel))
            {
                new.push(launch.kernel);
            }
        }
        self.gpu.assemble(new.iter().map(|kernel| kernel.ptx().to_owned()).collect());
        for kernel in new {
            self.kernels.insert(kernel.name, self.gpu.load(kernel.whole()?, kernel.name)?);
        }
        Ok(())
    }

    fn operand(&mut self, dtype: DType, least: usize) -> Result<u64> {
        if self.operands.get(&dtype).is_none_or(|buffer| buffer.bytes() < least) {
            self.operands.remove(&dtype);
            let buffer = Buffer::from_slice(&drawn(dtype, least)?)?.to_device(self.gpu.device())?;
            self.operands.insert(dtype, buffer);
        }
        Ok(self.operands[&dtype].address())
    }

    /// Microseconds of each, in turns.
    fn times(&mut self, works: &[Work]) -> Result<Vec<f64>> {
        let mut graphs: Vec<(Graph, usize, [Buffer; 3])> = vec![];
        for work in works {
            let memory = self.memory(work)?;
            let (few, first) = (4, self.graph(work, 4, &memory)?);
            self.run(&first)?;
            let one = self.run(&first)? / few as f64;
            let count = ((SPAN / one) as usize).clamp(2, MOST);
            let graph = self.graph(work, count, &memory)?;
            self.run(&graph)?;
            graphs.push((graph, count, memory));
        }
        let mut times = vec![vec![]; works.len()];
        for _ in 0..ROUNDS {
            for ((graph, count, _), times) in graphs.iter().zip(&mut times) {
                times.push(self.run(graph)? * 1e6 / *count as f64);
            }
        }
        let median = |mut times: Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        };
        Ok(times.into_iter().map(median).collect())
    }

    /// Memory for the results, for what blocks share, and a number that is one.
    fn memory(&mut self, work: &Work) -> Result<[Buffer; 3]> {
        let device = self.gpu.device();
        let results = work.results.iter().map(|bytes| bytes.next_multiple_of(256)).sum();
        let one = Buffer::from_slice(&[1f32; 4])?.to_device(device)?;
        let new = |bytes: usize| Buffer::uninit(device, DType::U8, bytes);
        Ok([new(results)?, new(work.plan.workspace.max(1))?, one])
    }

    /// So many launches, one after the other.
    fn graph(&mut self, work: &Work, count: usize, [results, workspace, one]: &[Buffer; 3]) -> Result<Graph> {
        let starts = |bytes: &[usize]| -> Vec<u64> {
            let step = |at: &mut u64, bytes: &usize| {
                let start = *at;
                *at += bytes.next_multiple_of(256) as u64;
                Some(start)
            };
            bytes.iter().scan(0, step).collect()
        };
        let all: usize = work.operands.iter().map(|bytes| bytes.next_multiple_of(256)).sum();
        let base = self.operand(work.dtype, all)?;
        let (inputs, outs) = (starts(&work.operands), starts(&work.results));
        let address = |pointer| match pointer {
            Pointer::Input(i) if work.operands[usize::from(i)] == 0 => one.address(),
            Pointer::Input(i) => base + inputs[usize::from(i)],
            Pointer::Output(i) => results.address() + outs[usize::from(i)],
            Pointer::Workspace => workspace.address(),
            Pointer::Tickets => self.tickets.address(),
            Pointer::Fault => 0,
        };
        let origin = Origin { name: "tiles", line: std::panic::Location::caller() };
        self.gpu.bind()?;
        self.gpu.collect_launches(Launches::default());
        let everything = || std::iter::once(0..u64::MAX).collect();
        self.gpu.collects_work(everything(), everything());
        for _ in 0..count {
            for launch in &work.plan.launches {
                let mut memory = [0u8; MAX_ARGS];
                let args = launch.bind(&mut memory, address);
                for map in launch.maps() {
                    let encoded = self.gpu.tensor_map(&map.tensor, address(map.pointer) + map.offset)?;
                    KernelLaunch::set_map(args, map, &encoded);
                }
                let kernel = self.kernels[launch.kernel.name];
                // SAFETY: the arguments are the kernel's; operands and results lie in memory that is as large as the plan has them, and lives as long as the
                // graph does, beside which it is kept.
                unsafe { self.gpu.launch(kernel, launch.grid, launch.block, launch.shared, args, origin)? };
            }
        }
        let mut launches = self.gpu.collected_launches().launches;
        // SAFETY: as above; each launch waits for the one before.
        Ok(unsafe { Graph::new(self.gpu, &mut launches)? })
    }

    /// Seconds of a run.
    fn run(&self, graph: &Graph) -> Result<f64> {
        let origin = Origin { name: "tiles", line: std::panic::Location::caller() };
        self.gpu.wait()?;
        let began = Instant::now();
        // SAFETY: see `Bench::graph`.
        unsafe { graph.run(origin)? };
        self.gpu.wait()?;
        Ok(began.elapsed().as_secs_f64())
    }
}

/// Products that are planned by both files.
fn cases() -> Vec<(Kind, [usize; 3], &'static str)> {
    let mut all = vec![];
    for kind in [Kind::Bf16, Kind::F16, Kind::Tf32, Kind::F32] {
        for form in ["kn", "kk", "mn", "mk"] {
            for n in [64, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192] {
                all.push((kind, [n, n, n], form));
            }
            for sizes in [
                // Layers of perceptrons and of language models, their gradients, and few rows.
                [128, 512, 784],
                [1024, 256, 512],
                [8192, 512, 784],
                [784, 512, 8192],
                [16384, 1152, 384],
                [16384, 384, 1536],
                [384, 1536, 16384],
                [4096, 4096, 1024],
                [16, 4096, 4096],
                [64, 4096, 1024],
                [2048, 1000, 2048],
                [1000, 1000, 1000],
                [1024, 50264, 768],
                [768, 50264, 1024],
            ] {
                all.push((kind, sizes, form));
            }
        }
        // Lines that are not aligned.
        for form in ["any", "kx", "xn", "mx", "xk"] {
            for sizes in
                [[4097, 4097, 4097], [1001, 1001, 1001], [257, 257, 257], [1024, 50257, 768], [64, 1001, 513]]
            {
                all.push((kind, sizes, form));
            }
        }
    }
    all
}

fn compare(mut bench: Bench, file: &Path, other: Option<&Path>) -> Result<()> {
    let features = Features::of(bench.gpu);
    let of = |file: Option<&Path>| -> Result<&'static Tiles> {
        Ok(Box::leak(Box::new(Tiles::new(&features, file)?)))
    };
    let tables = [of(Some(file))?, of(other)?];
    let mut plans = vec![];
    for (kind, sizes, form) in cases() {
        let planned = |tiles| Ok(matmul::plan(&problem(kind, sizes, form, features.capability, tiles)?)?);
        let both = tables.map(planned).into_iter().collect::<Result<Vec<KernelPlan>>>()?;
        plans.push((kind, sizes, form, both));
    }
    let told = |plan: &KernelPlan| {
        let of = |launch: &KernelLaunch| format!("{} on {}", launch.kernel.name, launch.grid[0]);
        plan.launches.iter().map(of).collect::<Vec<_>>().join(", ") + &format!(" {}", plan.workspace)
    };
    let differs = |both: &[KernelPlan]| {
        let launches = |plan: &KernelPlan| format!("{:?}", plan.launches);
        launches(&both[0]) != launches(&both[1])
    };
    let all = plans.len();
    plans.retain(|(.., both)| differs(both));
    bench.load(plans.iter().flat_map(|(.., both)| both))?;
    println!("{all} products, of which {} are planned in two ways", plans.len());
    let mut ratios = vec![];
    for (kind, sizes, form, both) in &plans {
        let (dtype, [m, n, _]) = (dtype(*kind).0, *sizes);
        let operands: Vec<usize> =
            operands(*sizes, form)?.iter().map(|layout| bytes(dtype, layout)).collect();
        let work =
            |plan| Work { plan, dtype, operands: operands.clone(), results: vec![m * n * dtype.size()] };
        let times = bench.times(&[work(&both[0]), work(&both[1])])?;
        let ratio = times[0] / times[1];
        let (kind, [one, two]) = (kind.name(), [told(&both[0]), told(&both[1])]);
        println!("{ratio:.3} {kind} {sizes:?} {form}: {:.1} {one}; {:.1} {two}", times[0], times[1]);
        ratios.push((ratio, kind));
    }
    for kind in ["bf16", "f16", "tf32", "f32"] {
        let of: Vec<f64> =
            ratios.iter().filter(|(_, known)| *known == kind).map(|(ratio, _)| *ratio).collect();
        let mean = (of.iter().map(|ratio| ratio.ln()).sum::<f64>() / of.len().max(1) as f64).exp();
        let (worst, best) = (of.iter().copied().fold(0.0, f64::max), of.iter().copied().fold(9.9, f64::min));
        println!("{kind}: {} differ, geometric mean {mean:.4}, worst {worst:.3}, best {best:.3}", of.len());
    }
    Ok(())
}
