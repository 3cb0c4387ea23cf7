//! Plans of every room against what the build read in the kernels' sources: arguments (a plan whose argument does not fit is
//! refused), tiles and the shared memory of a block.

use mg_device::{DType, Layout, Shape};
use mg_kernels::cuda::library::{KERNELS, KernelLaunch, KernelPlan, copy};
use mg_kernels::library::matmul::{Precision, Problem, cuda as matmul};
use mg_kernels::library::{
    Blend, Compact, Described, Extreme, Library, Resample, Scaled, Shaped, Target, Unblend, attention, conv,
    factor, gather, pair, pool, put, scan, search, sort, surprise, tally, thin, triangular,
};
use std::collections::BTreeSet;

const FLOATS: [DType; 4] = [DType::F32, DType::F64, DType::F16, DType::BF16];

fn dense(dims: &[usize]) -> Layout {
    Layout::contiguous(Shape::new(dims).unwrap())
}

/// The launches of a room for dense operands, on GPUs of all kinds.
fn launches(kernel: impl Into<Library>, operands: &[(&[usize], DType)]) -> Vec<KernelLaunch> {
    let kernel: Library = kernel.into();
    let shaped: Vec<Shaped> =
        operands.iter().map(|&(dims, dtype)| Shaped { shape: Shape::new(dims).unwrap(), dtype }).collect();
    let described: Vec<Described> =
        operands.iter().map(|&(dims, dtype)| Described { layout: dense(dims), dtype, align: 16 }).collect();
    let result = match kernel {
        // Their rules want the factorisations of the host, which are a feature.
        Library::Triangular(_) => shaped[1],
        Library::Factor(factor) => {
            let (lead, &[m, n]) = shaped[0].shape.split_last_chunk::<2>().expect("matrices");
            let line = factor.parts(m, n).iter().map(Shape::numel).sum();
            Shaped { shape: Shape::new(&[lead, &[line]].concat()).unwrap(), ..shaped[0] }
        }
        _ => kernel.result(&shaped).unwrap_or_else(|error| panic!("{operands:?}: {error}")),
    };
    let mut all = vec![];
    for capability in [75, 80, 90] {
        for precision in [Precision::Highest, Precision::High] {
            let target = Target::new(16, capability, precision);
            let plan: KernelPlan =
                kernel.cuda(&described, &result, target).unwrap_or_else(|error| panic!("{error}"));
            all.extend(plan.launches);
        }
    }
    all
}

fn attentions() -> Vec<KernelLaunch> {
    use attention::{Attention, AttentionKind, Span};
    let mut all = vec![];
    for dtype in FLOATS {
        for width in [16, 64, 96, 128, 192, 256, 300] {
            let few: (&[usize], &[usize]) = (&[2, 4, 1, width], &[2, 2, 5000, width]);
            let many: (&[usize], &[usize]) = (&[2, 4, 70, width], &[2, 2, 90, width]);
            for (q, k) in [few, many] {
                let of = |kind| Attention {
                    kind,
                    span: Span::CAUSAL,
                    masked: false,
                    left_out: 0,
                    ranges: None,
                    scale: 1f64.to_bits(),
                };
                let forward = [(q, dtype), (k, dtype), (k, dtype)];
                let shaped = forward.map(|(dims, dtype)| Shaped { shape: Shape::new(dims).unwrap(), dtype });
                let means = of(AttentionKind::Forward).into();
                let line = Library::result(&means, &shaped).unwrap().shape;
                all.extend(launches(means, &forward));
                let backward = [(q, dtype), (k, dtype), (k, dtype), (&line[..], dtype), (q, dtype)];
                all.extend(launches(of(AttentionKind::Backward), &backward));
                let thinned = |kind| Attention { left_out: 6554, ..of(kind) };
                let words: (&[usize], DType) = (&[2, 4, 2], DType::I64);
                all.extend(launches(
                    thinned(AttentionKind::Forward),
                    &[forward[0], forward[1], forward[2], words],
                ));
                let backward = [backward[0], backward[1], backward[2], words, backward[3], backward[4]];
                all.extend(launches(thinned(AttentionKind::Backward), &backward));
            }
        }
    }
    all
}

fn convolutions() -> Vec<KernelLaunch> {
    use conv::{Conv, ConvKind};
    let mut all = vec![];
    for dtype in FLOATS {
        // Few channels; many, of several sizes of a tile; an image whose lines are not aligned.
        for (c, o, side) in
            [(3, 8, 9), (64, 32, 16), (64, 64, 32), (128, 128, 32), (64, 512, 15), (256, 96, 64)]
        {
            let (x, w, y): (&[usize], &[usize], &[usize]) =
                (&[8, c, side, side], &[o, c, 3, 3], &[8, o, side, side]);
            let of = |kind, sizes| Conv {
                kind,
                axes: 2,
                stride: [1; 3],
                padding: [0, 1, 1],
                dilation: [1; 3],
                groups: 1,
                sizes,
            };
            // Results with steps.
            let half = (side - 1) / 2 + 1;
            let (stepped, y2): (_, &[usize]) = (
                Conv { stride: [1, 2, 2], ..of(ConvKind::Input, [1, side as u32, side as u32]) },
                &[8, o, half, half],
            );
            all.extend(launches(stepped, &[(y2, dtype), (w, dtype)]));
            // Filters that see one channel each.
            let alone = Conv { groups: o as u32, ..of(ConvKind::Forward, [0; 3]) };
            all.extend(launches(alone, &[(y, dtype), (&[o, 1, 3, 3], dtype)]));
            let side = side as u32;
            all.extend(launches(of(ConvKind::Forward, [0; 3]), &[(x, dtype), (w, dtype)]));
            all.extend(launches(of(ConvKind::Input, [1, side, side]), &[(y, dtype), (w, dtype)]));
            all.extend(launches(of(ConvKind::Weight, [1, 3, 3]), &[(x, dtype), (y, dtype)]));
        }
    }
    all
}

fn factorisations() -> Vec<KernelLaunch> {
    use factor::{Demand, Factor, FactorKind};
    let mut all = vec![];
    for dtype in [DType::F32, DType::F64] {
        // A warp's, a panel's, several panels, more rows than threads have four of.
        for (m, n) in [(7, 7), (64, 64), (130, 200), (600, 600), (4000, 70)] {
            let lu = Factor { kind: FactorKind::Lu, demand: Demand::Solution };
            all.extend(launches(lu, &[(&[2, m, n], dtype)]));
            let cholesky = Factor { kind: FactorKind::Cholesky, demand: Demand::Definite };
            all.extend(launches(cholesky, &[(&[2, n, n], dtype)]));
            let reflections = FactorKind::Qr { complete: true, vectors: true };
            let qr = Factor { kind: reflections, demand: Demand::Nothing };
            all.extend(launches(qr, &[(&[2, m.min(2000), n], dtype)]));
            for (upper, transposed) in [(false, false), (true, false), (true, true)] {
                let solve = triangular::Triangular { upper, unit: false, transposed };
                all.extend(launches(solve, &[(&[2, n, n], dtype), (&[2, n, 50], dtype)]));
            }
        }
    }
    all
}

/// Surprises of more rows than a block has, whose last lines are not aligned.
fn surprises() -> Vec<KernelLaunch> {
    use surprise::{Spread, Surprise, SurpriseKind};
    let (rows, words) = (4099, 70_001);
    let mut all = vec![];
    for dtype in FLOATS {
        let sums = if dtype == DType::F64 { dtype } else { DType::F32 };
        let (x, w): (&[usize], &[usize]) = (&[rows, 64], &[words, 64]);
        let (of_rows, of_words, flows): (&[usize], &[usize], &[usize]) = (&[rows], &[words], &[2, rows]);
        let given = [
            (x, dtype),
            (w, dtype),
            (of_rows, DType::I64),
            (of_words, dtype),
            (of_words, sums),
            (flows, sums),
        ];
        let of = |kind| Surprise { kind, biased: true, spread: Spread::ByShares };
        all.extend(launches(of(SurpriseKind::Forward), &given[..5]));
        all.extend(launches(of(SurpriseKind::Slopes), &given));
    }
    all
}

/// What a block of scores needs does not grow with the rows or the words.
#[test]
fn surprises_take_a_bounded_workspace() {
    use surprise::{SCORES, Spread, Surprise, SurpriseKind};
    for dtype in FLOATS {
        for (rows, width, words) in [
            (16384, 384, 65),
            (1 << 20, 64, 65),
            (8192, 768, 50_257),
            (4096, 2048, 131_072),
            (20_000, 2048, 262_144),
        ] {
            let dims: [&[usize]; 4] = [&[rows, width], &[words, width], &[rows], &[1, rows]];
            let sums = if dtype == DType::F64 { dtype } else { DType::F32 };
            let dtypes = [dtype, dtype, DType::I64, sums];
            let described: Vec<Described> = dims
                .iter()
                .zip(dtypes)
                .map(|(dims, dtype)| Described { layout: dense(dims), dtype, align: 16 })
                .collect();
            let shaped: Vec<Shaped> = described.iter().map(Described::shaped).collect();
            let slopes = Surprise { kind: SurpriseKind::Slopes, biased: false, spread: Spread::Nothing };
            let slopes = Library::from(slopes);
            let result = slopes.result(&shaped).unwrap();
            let precision = Precision::Highest;
            let target = Target::new(16, 90, precision);
            let plan = slopes.cuda(&described, &result, target).unwrap();
            // Besides the scores: what rows have come to, a part of a weight's gradient, and products' sums of parts.
            assert!(plan.workspace <= SCORES[1] + (160 << 20), "{dtype} {rows} {words}: {}", plan.workspace);
        }
    }
}

/// Of capability 9.0 alone.
fn scaled_products() -> Vec<KernelLaunch> {
    let mut all = vec![];
    for (a, fast) in [(DType::F8E4M3, true), (DType::F8E4M3, false), (DType::F8E5M2, false)] {
        for result in [DType::F32, DType::BF16] {
            for size in [64, 1024, 8192] {
                let of = |dims: &[usize], dtype| Described { layout: dense(dims), dtype, align: 16 };
                let square: &[usize] = &[size, size];
                let operands =
                    [of(square, a), of(square, DType::F8E4M3), of(&[], DType::F32), of(&[], DType::F32)];
                let shaped = operands.map(|x| x.shaped());
                let kernel = Library::from(Scaled { result, fast });
                let target = Target::new(16, 90, Precision::Highest);
                all.extend(
                    kernel.cuda(&operands, &kernel.result(&shaped).unwrap(), target).unwrap().launches,
                );
            }
        }
    }
    all
}

fn others() -> Vec<KernelLaunch> {
    let line: &[usize] = &[3, 5000];
    let f32s = |dims| (dims, DType::F32);
    let mut all = launches(scan::Scan { kind: scan::ScanKind::Sum, axis: 1, reverse: false }, &[f32s(line)]);
    all.extend(launches(scan::Scan { kind: scan::ScanKind::Sum, axis: 0, reverse: false }, &[f32s(line)]));
    for kind in [sort::SortKind::Indices, sort::SortKind::Median] {
        all.extend(launches(sort::Sort { kind, descending: false, count: 5000 }, &[f32s(line)]));
    }
    all.extend(launches(search::Search { right: true }, &[f32s(&[100]), f32s(&[7])]));
    // One line that blocks keep.
    all.extend(launches(search::Search { right: true }, &[f32s(&[100]), f32s(&[1 << 20])]));
    for dtype in [DType::F32, DType::F64] {
        let operands: [(&[usize], DType); 3] = [(line, dtype), (&[], dtype), (&[], dtype)];
        all.extend(launches(tally::Tally { bins: 5 }, &operands));
    }
    for dtype in FLOATS {
        let operands: [(&[usize], DType); 2] = [(&[4, 7], dtype), (&[4, 7], DType::I64)];
        let back = gather::ScatterAdd { axis: 1, lead: 0, size: 9, once: true, called: "scatter_add" };
        all.extend(launches(back, &operands));
    }
    for columns in [9, 16] {
        let some = thin::Thin { first: 3, rows: 4, columns, left_out: 6554 };
        all.extend(launches(some, &[(&[5, 2], DType::I64)]));
    }
    all.extend(launches(pair::Pair { kind: pair::PairKind::Lower }, &[f32s(&[9]), f32s(&[9])]));
    let windows = pool::Pool {
        kind: pool::PoolKind::Max,
        axes: 2,
        adaptive: false,
        kernel: [1, 2, 2],
        stride: [1, 2, 2],
        padding: [0; 3],
        dilation: [1; 3],
        input: [1, 8, 8],
        output: [1, 4, 4],
        share: pool::Share::Places,
    };
    let (images, tops): (&[usize], &[usize]) = (&[2, 3, 8, 8], &[2, 3, 4, 4]);
    all.extend(launches(windows, &[f32s(images)]));
    for adaptive in [false, true] {
        let spread = pool::Pool { kind: pool::PoolKind::MaxGrad, adaptive, ..windows };
        all.extend(launches(spread, &[f32s(images), f32s(tops), f32s(tops)]));
    }
    let (lines, places): (&[usize], &[usize]) = (&[2, 3, 8], &[2, 3, 70]);
    for dtype in [DType::F32, DType::F64] {
        let between = [(lines, dtype), (places, DType::I64), (places, dtype), (places, DType::Bool)];
        all.extend(launches(Blend { axis: 2, taps: 1, asks: true, line: false }, &between));
        let back = [(lines, dtype), (&[8], DType::I64), (&[8], dtype)];
        all.extend(launches(Unblend { axis: 2, taps: 1, size: 70 }, &back));
        let (index, weight): ((&[usize], _), (&[usize], _)) = ((&[9], DType::I64), (&[9], dtype));
        let image: &[usize] = &[2, 3, 8];
        all.extend(launches(
            Resample { taps: 1, last_first: true },
            &[(image, dtype), index, weight, index, weight],
        ));
    }
    let written = put::Put { n: 10, inner: 4 };
    all.extend(launches(written, &[f32s(&[10, 4]), f32s(&[3, 4]), (&[3], DType::I64)]));
    all.extend(launches(written, &[f32s(&[10, 4]), f32s(&[3000, 4]), (&[3000], DType::I64)]));
    for dtype in [DType::F32, DType::F16, DType::Bool] {
        let operands: [(&[usize], DType); 3] = [(&[9, 8], dtype), (&[4, 7], dtype), (&[4, 7], DType::I64)];
        for own in [true, false] {
            all.extend(launches(Extreme { axis: 0, lead: 0, least: false, own }, &operands));
        }
    }
    all.extend(launches(Compact { found: 5, first: true }, &[(&[3000], DType::Bool), (&[2], DType::I64)]));
    all.extend(launches(Compact { found: 5, first: false }, &[(&[3000], DType::Bool), (&[2], DType::I64)]));
    let middle = sort::Sort { kind: sort::SortKind::Median, descending: false, count: 0 };
    all.extend(launches(middle, &[f32s(&[3, 5000])]));
    all.extend(
        copy::plan(4, &dense(&[64, 64]).transpose(0, 1).unwrap(), &dense(&[64, 64]), 16).unwrap().launches,
    );
    all.extend(copy::fill(4, 100, 0).unwrap().launches);
    all.extend(gather::cuda::gather(4, &dense(&[9, 8]), &dense(&[4, 8]), 0, 16, false).unwrap().launches);
    let (rows, index) = (dense(&[1 << 20]), dense(&[1 << 20]));
    for size in [1000, 1 << 21, 1 << 24] {
        all.extend(gather::cuda::scatter_add(DType::F32, &rows, &index, 0, size).unwrap().launches);
    }
    let index = dense(&[1000, 1]).expand(&Shape::from([1000, 64])).unwrap();
    all.extend(
        gather::cuda::scatter_add(DType::F32, &dense(&[1000, 64]), &index, 0, 50_000).unwrap().launches,
    );
    for (dtype, capability) in [(DType::F32, 75), (DType::F32, 80), (DType::F16, 80), (DType::F16, 90)] {
        let mut problem = Problem::new(dtype, &dense(&[2048, 2048]), &dense(&[2048, 2048])).unwrap();
        problem.capability = capability;
        all.extend(matmul::plan(&problem).unwrap().launches);
    }
    let across = dense(&[4096, 384]).transpose(0, 1).unwrap();
    let mut weight = Problem::new(DType::F16, &across, &dense(&[4096, 384])).unwrap();
    weight.capability = 90;
    all.extend(matmul::together(&[weight.clone(), weight]).unwrap().unwrap().launches);
    all
}

/// The file that a kernel was compiled from.
fn source(ptx: &str) -> &str {
    let first = ptx.lines().next().and_then(|line| line.strip_prefix("// From kernels/"));
    first.and_then(|line| line.split_whitespace().next()).expect("the first line names the source")
}

#[test]
fn every_source_takes_what_its_room_writes() {
    let all =
        [attentions(), convolutions(), factorisations(), surprises(), scaled_products(), others()].concat();
    let planned: BTreeSet<&str> = all.iter().map(|launch| source(launch.kernel.ptx())).collect();
    let sources: BTreeSet<&str> = KERNELS.iter().map(|kernel| source(kernel.ptx())).collect();
    let missing: Vec<_> = sources.difference(&planned).collect();
    assert!(missing.is_empty(), "no plan launches a kernel of {missing:?}");
    // What is written when a product adds to what there is has the threads of the kernel that it was made of.
    for launch in all.iter().filter(|launch| !launch.kernel.name.contains("_adding_")) {
        let [threads, 1, 1] = launch.block else { panic!("{}", launch.kernel.name) };
        let (name, most) = (launch.kernel.name, launch.kernel.threads());
        // Of an elimination's panel there are as many as its rows want, of reflections a warp for each column.
        let fits = if name.starts_with("factor_lu_panel") {
            threads <= most && threads.is_power_of_two() && threads >= 128
        } else if name.starts_with("factor_qr_panel") {
            threads <= most && threads.is_multiple_of(32) && threads > 0
        } else {
            threads == most
        };
        assert!(fits, "{}: {threads}", launch.kernel.name);
    }
}

#[test]
fn shared_memory_is_as_long_as_stages_are() {
    let mut seen = BTreeSet::new();
    for launch in [attentions(), convolutions(), scaled_products()].concat() {
        let kernel = launch.kernel;
        let number = |name| kernel.constant(name).unwrap_or_else(|| panic!("{}: no {name}", kernel.name));
        let wanted = match source(kernel.ptx()) {
            "attention_mma.cu" => {
                // Gradients of queries: with a block's rows a number for each.
                let rows = if number("FORWARD") + number("TURNED") == 0 { number("OWN") * 4 } else { 0 };
                number("RING") + number("STAGES") * number("STAGE") + rows
            }
            "attention_wgmma.cu" => {
                // From a multiple of 1024 on a block's own rows and what it meets, two barriers for each operand; of own rows one more, and whose turn it is.
                let own = number("OWNS") * (number("OWN") * number("BYTES_OWN") + 16 + 3 * 8);
                let stage = 2 * number("BYTES_PLACE") + number("BYTES_NUMBERS") + 4 * 8;
                1024 + own + number("STAGES") * stage + number("BYTES_HANDED")
            }
            "conv_wgmma.cu" | "conv_held.cu" | "conv_simt.cu" => {
                // Stages from a multiple of 1024 on, two barriers for each, where warps turn sums into rows, and stages of thirds.
                let slices = if kernel.name.starts_with("conv_gather") {
                    kernel.constant("SLICE").map_or(0, |bytes| bytes * number("WARPS"))
                } else {
                    0
                };
                let ready = kernel.constant("READY").unwrap_or(0) * (3 * 64 * number("BN") + 16);
                1024 + number("STAGES") * (128 * (number("BM") + number("BN")) + 16) + slices + ready
            }
            "scaled_wgmma.cu" => {
                let stage = 128 * (number("BM") + number("BN")) + 16;
                1024 + number("STAGES") * stage + number("SLICE") * number("WARPS")
            }
            // Their plans are checked where attention is.
            "attention_few.cu" => continue,
            // As much as sizes ask for: `depthwise_plans.rs` carries them out.
            "conv_depthwise.cu" => continue,
            // So too: `conv_plans.rs`.
            "conv_slab.cu" => continue,
            _ => 0,
        };
        assert_eq!(launch.shared as usize, wanted, "{}", kernel.name);
        seen.insert(kernel.name);
    }
    // Every size of a head has its tile.
    let heads = KERNELS.iter().filter(|kernel| source(kernel.ptx()) == "attention_mma.cu");
    assert!(heads.filter(|kernel| seen.contains(kernel.name)).count() >= 40, "{seen:?}");
}
