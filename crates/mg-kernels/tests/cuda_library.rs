//! Plans of the CUDA library against the kernels' own text: what a plan launches exists, takes such an argument and such
//! blocks. What the launches compute is checked on a GPU (`kernels/bench`).

use mg_device::cuda::{Elements, Moved, TENSOR_MAP_BYTES, TensorMap};
use mg_device::{DType, Error, ErrorKind, Layout, Result, Shape};
use mg_kernels::cuda::library::{KERNELS, KernelLaunch, KernelPlan, MAX_ARGS, Map, Pointer, copy};
use mg_kernels::library::gather::cuda::{gather, scatter_add};
use mg_kernels::library::matmul::{Epilogue, Precision, Problem, cuda as matmul};
use mg_kernels::library::{Attention, AttentionKind, Described, Library, Put, Shaped, Span, Target};
use mg_kernels::same_sums;

fn dense(dims: &[usize]) -> Layout {
    Layout::contiguous(Shape::new(dims).unwrap())
}

/// The number after `start` in the text.
fn number(text: &str, start: &str) -> usize {
    let rest = text.split_once(start).unwrap_or_else(|| panic!("no {start}")).1;
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

/// Checks a plan's launches against the text of their kernels; gives them back.
fn sound(plan: Result<KernelPlan>) -> Vec<KernelLaunch> {
    let plan = plan.unwrap();
    for launch in &plan.launches {
        let KernelLaunch { kernel, grid, block, shared, .. } = launch;
        let mut memory = [0u8; MAX_ARGS];
        let argument = launch.bind(&mut memory, |_| 0);
        let parameter = format!(" .b8 {}_param_0[", kernel.name);
        assert_eq!(argument.len(), number(kernel.ptx(), &parameter), "{}", kernel.name);
        assert_eq!(block[0] as usize, number(kernel.ptx(), ".maxntid "), "{}", kernel.name);
        assert!(grid.iter().all(|&n| n > 0) && grid[0] <= i32::MAX as u32 && grid[1] == 1 && grid[2] == 1);
        assert_eq!(*shared > 0, kernel.ptx().contains(".extern .shared"), "{}", kernel.name);
        let workspace = launch.pointers().filter(|(_, pointer, _)| *pointer == Pointer::Workspace);
        assert!(workspace.into_iter().all(|(_, _, offset)| offset < plan.workspace as u64));
        // Tensor maps lie where the kernel has room for them, and nothing else does.
        let aligned = number(kernel.ptx(), ".param .align ");
        for map in launch.maps() {
            assert!(map.at.is_multiple_of(64) && aligned.is_multiple_of(64), "{}", kernel.name);
            assert!(argument[map.at..map.at + TENSOR_MAP_BYTES].iter().all(|&byte| byte == 0));
            match &map.tensor {
                Moved::Boxes(tensor) => {
                    assert!(
                        tensor.sizes.iter().all(|&n| n > 0) && tensor.strides.iter().all(|n| n % 16 == 0)
                    );
                    assert_eq!(tensor.boxes[0] as usize * tensor.elements.size(), 128);
                    assert!(tensor.boxes.iter().all(|&n| n <= 256));
                }
                Moved::Windows(tensor) => {
                    assert!(
                        tensor.sizes.iter().all(|&n| n > 0) && tensor.strides.iter().all(|n| n % 16 == 0)
                    );
                    assert_eq!(tensor.neighbours as usize * tensor.elements.size(), 128);
                    assert!(tensor.places <= 256 && tensor.steps.iter().all(|n| (1..=8).contains(n)));
                    assert!(tensor.low.iter().chain(&tensor.high).all(|n| (-128..128).contains(n)));
                }
            }
        }
        for (at, _, offset) in launch.pointers() {
            assert!(launch.maps().iter().all(|map| at + 8 <= map.at || at >= map.at + TENSOR_MAP_BYTES));
            let mut memory = [0u8; MAX_ARGS];
            let argument = launch.bind(&mut memory, |_| 0x1000);
            assert_eq!(argument[at..at + 8], (0x1000 + offset).to_ne_bytes());
        }
    }
    plan.launches.to_vec()
}

/// A tensor of which boxes are moved.
fn boxes(map: &Map) -> &TensorMap {
    match &map.tensor {
        Moved::Boxes(tensor) => tensor,
        Moved::Windows(_) => panic!("windows are gathered of it"),
    }
}

fn product(dtype: DType, a: &Layout, b: &Layout) -> Problem {
    Problem::new(dtype, a, b).unwrap()
}

#[test]
fn kernels_are_in_order_and_named_as_their_entries() {
    assert!(KERNELS.windows(2).all(|pair| pair[0].name < pair[1].name));
    for kernel in &KERNELS {
        assert_eq!(kernel.ptx().matches(".entry").count(), 1, "{}", kernel.name);
        assert!(kernel.ptx().contains(&format!(".entry {}(", kernel.name)), "{}", kernel.name);
    }
}

#[test]
fn kernels_take_what_their_sources_declare() {
    for kernel in &KERNELS {
        let parameter = format!(" .b8 {}_param_0[", kernel.name);
        assert_eq!(kernel.argument(), number(kernel.ptx(), &parameter), "{}", kernel.name);
        assert!(kernel.argument() <= MAX_ARGS, "{}", kernel.name);
    }
}

#[test]
fn every_dtype_form_and_size_has_a_product() {
    for dtype in DType::computed() {
        for capability in [75, 86, 90, 100] {
            for precision in [Precision::Highest, Precision::High] {
                for n in [1, 8, 65, 512, 1000, 1024, 4096] {
                    for (across_a, across_b) in [(false, false), (false, true), (true, false), (true, true)] {
                        let square = dense(&[n, n]);
                        let turned = square.transpose(0, 1).unwrap();
                        let a = if across_a { &turned } else { &square };
                        let b = if across_b { &turned } else { &square };
                        let mut problem = product(dtype, a, b);
                        (problem.capability, problem.precision) = (capability, precision);
                        let launches = sound(matmul::plan(&problem));
                        let (last, copies) = launches.split_last().unwrap();
                        assert!(copies.iter().all(|launch| !launch.kernel.name.starts_with("matmul")));
                        let shared = if capability >= 90 { 227 } else { 99 } << 10;
                        assert!(last.shared <= shared, "{} on {capability}", last.kernel.name);
                        let target = number(last.kernel.ptx(), ".target sm_");
                        assert!(target <= capability as usize, "{} on {capability}", last.kernel.name);
                        // Instructions of one architecture alone.
                        let alone = last.kernel.ptx().contains(".target sm_90a");
                        assert!(!alone || capability == 90, "{} on {capability}", last.kernel.name);
                    }
                }
            }
        }
    }
}

/// The gradient of a weight of so many rows and columns, over so many rows of a batch.
fn weight(dtype: DType, m: usize, n: usize, k: usize) -> Problem {
    let mut problem = product(dtype, &dense(&[k, m]).transpose(0, 1).unwrap(), &dense(&[k, n]));
    problem.capability = 90;
    problem
}

#[test]
fn several_products_of_one_depth_are_one_launch() {
    for dtype in [DType::F16, DType::BF16] {
        for sizes in
            [&[(384, 1536), (1536, 384), (384, 384), (1152, 384)][..], &[(72, 264); 2], &[(200, 136); 8]]
        {
            let all: Vec<Problem> = sizes.iter().map(|&(m, n)| weight(dtype, m, n, 16384)).collect();
            let plan = matmul::together(&all).unwrap().unwrap();
            let (maps, workspace) = (plan.launches[0].maps().to_vec(), plan.workspace);
            let [launch] = &sound(Ok(plan))[..] else { panic!("one launch") };
            assert!(launch.grid[0] <= 132 && launch.kernel.name.starts_with("matmul_many"));
            let parts = launch.pointers().filter(|(_, pointer, _)| *pointer == Pointer::Workspace).count();
            assert_eq!(parts > 0, workspace > 0);
            // Each has its operands and its result, which lies densely.
            assert_eq!(maps.len(), 3 * sizes.len());
            for (i, &(m, n)) in sizes.iter().enumerate() {
                let of = |pointer: Pointer| {
                    let map = maps.iter().find(|map| map.pointer == pointer).unwrap();
                    boxes(map).sizes.to_vec()
                };
                let (m, n) = (m as u64, n as u64);
                assert_eq!(of(Pointer::Input(2 * i as u8)), [m, 16384, 1]);
                assert_eq!(of(Pointer::Input(2 * i as u8 + 1)), [n, 16384, 1]);
                assert_eq!(of(Pointer::Output(i as u8)), [n, m, 1]);
            }
        }
    }
}

#[test]
fn products_that_are_not_alike_are_launched_by_themselves() {
    let one = weight(DType::BF16, 384, 384, 4096);
    let with = |change: &dyn Fn(&mut Problem)| {
        let mut other = one.clone();
        change(&mut other);
        matmul::together(&[one.clone(), other]).unwrap().map(|plan| plan.launches.len())
    };
    assert_eq!(with(&|_| ()), Some(1));
    assert_eq!(with(&|other| *other = weight(DType::BF16, 384, 384, 4104)), None);
    assert_eq!(with(&|other| *other = weight(DType::F16, 384, 384, 4096)), None);
    // Too large to need it, and a result whose rows are not aligned.
    assert_eq!(with(&|other| *other = weight(DType::BF16, 4096, 4096, 4096)), None);
    assert_eq!(with(&|other| *other = weight(DType::BF16, 384, 388, 4096)), None);
    let turned = dense(&[384, 4096]).transpose(0, 1).unwrap();
    assert_eq!(with(&|other| other.align = [16, 2]), None);
    assert_eq!(with(&|other| other.align_out = 8), None);
    assert_eq!(with(&|other| other.capability = 100), None);
    assert_eq!(with(&|other| other.epilogue = Some(Epilogue { stores: true })), None);
    let rows = product(DType::BF16, &dense(&[384, 4096]), &turned);
    assert_eq!(matmul::together(&[rows.clone(), rows]).unwrap().map(|plan| plan.launches.len()), None);
    for problems in [0, 1, matmul::MOST + 1] {
        assert!(matmul::together(&vec![one.clone(); problems]).unwrap().is_none());
    }
    // What is not deep is over before others are there.
    let short = weight(DType::BF16, 384, 384, 512);
    assert!(matmul::together(&[short.clone(), short]).unwrap().is_none());
}

#[test]
fn products_of_aligned_operands_are_read_sixteen_bytes_at_a_time() {
    let form = |a: &Layout, b: &Layout, align| {
        let mut problem = product(DType::F32, a, b);
        problem.align = [align; 2];
        let forms = ["32x32", "64x64"].map(|tile| {
            let plan = matmul::plan_with(&problem, tile, None).unwrap().unwrap();
            sound(Ok(plan))[0].kernel.name.rsplit('_').next().unwrap()
        });
        sound(matmul::plan(&problem));
        forms
    };
    let (a, b) = (dense(&[2048, 64]), dense(&[64, 2048]));
    assert_eq!(form(&a, &b, 16), ["kn", "kn"]);
    assert_eq!(form(&a, &b, 4), ["any", "any"]);
    // Rows of 63 elements are not aligned; one row has no distance to the next.
    assert_eq!(form(&dense(&[2048, 63]), &dense(&[63, 2048]), 16), ["xn", "any"]);
    assert_eq!(form(&dense(&[1, 63]), &dense(&[63, 2048]), 16), ["kn", "kn"]);
    assert_eq!(form(&a, &dense(&[2048, 64]).transpose(0, 1).unwrap(), 16), ["kk", "kk"]);
}

#[test]
fn the_same_product_is_always_divided_alike() {
    let plan = || sound(matmul::plan(&product(DType::F32, &dense(&[128, 8192]), &dense(&[8192, 512]))));
    let (one, two) = (plan(), plan());
    assert_eq!((one[0].kernel.name, one[0].grid), (two[0].kernel.name, two[0].grid));
    // Its tiles, 64 at most, would leave most multiprocessors idle.
    assert!(one[0].grid[0] > 64);
    assert!(one[0].pointers().any(|(_, pointer, _)| pointer == Pointer::Tickets));
}

#[test]
fn nothing_is_launched_for_nothing() {
    let empty =
        |a: &[usize], b: &[usize]| sound(matmul::plan(&product(DType::F32, &dense(a), &dense(b)))).len();
    assert_eq!(empty(&[0, 3], &[3, 4]), 0);
    assert_eq!(empty(&[2, 0, 3, 3], &[2, 0, 3, 4]), 0);
    // Sums of nothing are zeros, and have to be stored.
    assert_eq!(empty(&[2, 0], &[0, 4]), 1);
    let index = dense(&[0, 4]);
    assert!(gather(4, &dense(&[3, 4]), &index, 0, 16, false).unwrap().launches.is_empty());
    assert!(copy::plan(4, &index, &index, 16).unwrap().launches.is_empty());
    assert_eq!(sound(scatter_add(DType::F32, &index, &index, 0, 5))[0].kernel.name, "fill_b32");
}

#[test]
fn epilogues_are_for_floating_point_up_to_f32() {
    for dtype in DType::computed() {
        let mut problem = product(dtype, &dense(&[64, 64]), &dense(&[64, 64]));
        for stores in [true, false] {
            problem.epilogue = Some(Epilogue { stores });
            match dtype {
                DType::F32 | DType::F16 | DType::BF16 => {
                    let launches = sound(matmul::plan(&problem));
                    let output = |(_, pointer, _)| pointer == Pointer::Output(0);
                    assert_eq!(launches[0].pointers().any(output), stores);
                }
                _ => assert!(matches!(matmul::plan(&problem).unwrap_err().kind(), ErrorKind::DType(_))),
            }
        }
    }
}

#[test]
fn products_of_floats_have_one_mark_for_an_epilogue() {
    for kernel in KERNELS.iter().filter(|k| k.name.starts_with("matmul_")) {
        let floats = ["f32", "tf32", "f16", "bf16"];
        let product = floats.iter().any(|t| kernel.name.starts_with(&format!("matmul_{t}_")));
        let marks: Vec<&str> =
            kernel.ptx().lines().filter_map(|l| l.strip_prefix("// mg.epilogue")).collect();
        assert_eq!(marks.len(), usize::from(product), "{}", kernel.name);
        for mark in marks {
            // Four of one row, or of four rows; before these, how far they are apart.
            let is_hopper = kernel.name.contains("_w");
            assert_eq!(mark.starts_with("s 2 "), is_hopper, "{mark}");
            let names: Vec<&str> = mark.split_whitespace().skip(if is_hopper { 2 } else { 0 }).collect();
            let elements = if is_hopper { 16 } else { 4 };
            assert_eq!(names.len(), elements + 3, "{mark}");
            assert!(names[..elements].iter().all(|v| v.starts_with("%f")), "{mark}");
            assert!(names[elements..].iter().all(|r| r.starts_with("%r")), "{mark}");
        }
    }
}

#[test]
fn an_operand_that_is_not_aligned_leaves_the_other_its_wide_reads() {
    // The gradient of a last layer's weights, [128, 10] transposed times [128, 256], where one tile is small enough.
    let gradient = dense(&[128, 10]).transpose(0, 1).unwrap();
    let problem = product(DType::F32, &gradient, &dense(&[128, 256]));
    let name = |tile| matmul::plan_with(&problem, tile, None).unwrap().map(|p| p.launches[0].kernel.name);
    assert_eq!(name("32x32"), Some("matmul_f32_32x32_xn"));
    assert_eq!(name("64x64"), Some("matmul_f32_64x64_any"));
    assert_eq!(name("256x128"), None);
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let kind = |error: Error| error.kind().clone();
    let refused = Problem::new(DType::F32, &dense(&[2, 3]), &dense(&[4, 5])).unwrap_err();
    assert!(matches!(kind(refused), ErrorKind::Shape(_)));
    let refused = Problem::new(DType::F32, &dense(&[3]), &dense(&[3])).unwrap_err();
    assert!(matches!(kind(refused), ErrorKind::Shape(_)));
    let refused = gather(4, &dense(&[3, 4]), &dense(&[3, 5]), 0, 16, false).unwrap_err();
    assert!(matches!(kind(refused), ErrorKind::Shape(_)));
    let refused = scatter_add(DType::F32, &dense(&[3]), &dense(&[3]), 1, 4).unwrap_err();
    assert!(matches!(kind(refused), ErrorKind::Axis { axis: 1, rank: 1 }));
    let refused = copy::plan(4, &dense(&[3, 4]), &dense(&[4, 3]), 16).unwrap_err();
    assert!(matches!(kind(refused), ErrorKind::Shape(_)));
    assert!(matches!(kind(copy::fill(3, 4, 0).unwrap_err()), ErrorKind::Value(_)));
}

#[test]
fn rows_move_in_the_widest_units_that_fit() {
    let rows = |row: usize, align: usize| {
        let index = dense(&[70, 1]).expand(&Shape::from([70, row])).unwrap();
        sound(gather(4, &dense(&[50, row]), &index, 0, align, true))[0].kernel.name
    };
    assert_eq!(rows(48, 256), "gather_b128");
    assert_eq!(rows(46, 256), "gather_b64");
    assert_eq!(rows(48, 4), "gather_b32");
    assert_eq!(rows(47, 256), "gather_b32");
    for size in [1, 2, 4, 8] {
        sound(gather(size, &dense(&[6, 10, 7]), &dense(&[6, 33, 7]), 1, 1, false));
        let turned = dense(&[64, 96]).transpose(0, 1).unwrap();
        let name = sound(copy::plan(size, &turned, &dense(&[96, 64]), 256))[0].kernel.name;
        assert!(name.starts_with("transpose_b"), "{name}");
        assert_eq!(
            sound(copy::plan(size, &dense(&[64, 96]), &dense(&[64, 96]), 256))[0].kernel.name,
            "copy_b128"
        );
        sound(copy::fill(size, 1000, 7));
    }
}

#[test]
fn neighbours_are_stored_at_once_wherever_they_come_from() {
    let name = |size: usize, from: &Layout, align: usize| {
        sound(copy::plan(size, from, &dense(from.shape().dims()), align))[0].kernel.name
    };
    // Pixels that were channels, and each pixel twice.
    let shuffled = dense(&[8, 4, 4, 64, 64]).permute(&[0, 3, 1, 4, 2]).unwrap();
    assert_eq!(name(4, &shuffled, 16), "copy_b32_x4");
    assert_eq!(name(2, &shuffled, 8), "copy_b16_x4");
    assert_eq!(name(8, &shuffled, 16), "copy_b64_x2");
    assert_eq!(name(4, &shuffled, 8), "copy_b32_x2");
    assert_eq!(name(4, &shuffled, 4), "copy_b32");
    let twice = dense(&[512, 512, 1]).expand(&Shape::from([512, 512, 2])).unwrap();
    assert_eq!(name(4, &twice, 16), "copy_b32_x2");
    // Few threads are better than fewer.
    let few = dense(&[8, 4, 4, 6, 7]).permute(&[0, 3, 1, 4, 2]).unwrap();
    assert_eq!(name(4, &few, 16), "copy_b32");
}

#[test]
fn parts_are_copied_at_once() {
    let (whole, image) = (dense(&[16, 132]), dense(&[16, 128]));
    let part = |layout: &Layout, start, end, step| layout.slice(1, Some(start), Some(end), step).unwrap();
    let (left, right) = (part(&image, 2, 0, -1), part(&image, 126, 124, -1));
    let places = [(0, 2), (2, 130), (130, 132)].map(|(start, end)| part(&whole, start, end, 1));
    let parts = [(&left, &places[0], 4), (&image, &places[1], 8), (&right, &places[2], 4)];
    let plan = copy::together(4, &parts).unwrap().unwrap();
    let [launch] = &plan.launches[..] else { panic!("{} launches", plan.launches.len()) };
    assert_eq!((launch.kernel.name, launch.grid[0]), ("copy_parts", 3));
    let pointers: Vec<(Pointer, u64)> =
        launch.pointers().map(|(_, pointer, offset)| (pointer, offset)).collect();
    let output = |offset| (Pointer::Output(0), offset);
    let input = |number| (Pointer::Input(number), 0);
    assert_eq!(pointers, [output(0), input(0), output(8), input(1), output(520), input(2)]);
    // One part, very much, and what goes by tiles, are copied by themselves.
    assert!(copy::together(4, &parts[..1]).unwrap().is_none());
    let much = dense(&[2048, 4096]);
    assert!(copy::together(4, &[(&much, &much, 16); 2]).unwrap().is_none());
    let turned = dense(&[64, 16]).transpose(0, 1).unwrap();
    assert!(copy::together(4, &[(&turned, &dense(&[16, 64]), 16), parts[0]]).unwrap().is_none());
}

#[test]
fn operands_of_many_axes_are_copied_first() {
    let dims = [2; 13];
    let axes = [12, 0, 11, 1, 10, 2, 9, 3, 8, 4, 7, 5, 6];
    let turned = dense(&dims).permute(&axes).unwrap();
    for (plan, last) in [
        (gather(4, &turned, &turned, 5, 16, false), "gather_"),
        (scatter_add(DType::F32, &turned, &turned, 5, 2), "scatter_"),
        (matmul::plan(&product(DType::F32, &turned, &turned)), "matmul_"),
    ] {
        let launches = sound(plan);
        let (kernel, copies) = launches.split_last().unwrap();
        assert!(kernel.kernel.name.starts_with(last), "{}", kernel.kernel.name);
        assert!(
            copies.len() == 2 && copies.iter().all(|launch| launch.kernel.name.starts_with("copy_many_"))
        );
        // Both operands are read where they were copied to, one behind the other.
        let read = kernel.pointers().filter(|(_, pointer, _)| *pointer == Pointer::Workspace);
        let mut places: Vec<u64> = read.map(|(_, _, offset)| offset).collect();
        places.sort_unstable();
        assert_eq!(places, [0, 4 << 13], "{last}");
        assert!(kernel.pointers().all(|(_, pointer, _)| !matches!(pointer, Pointer::Input(_))));
    }
}

#[test]
fn sums_by_index_look_or_sort() {
    for dtype in DType::computed() {
        let name = |positions: usize, row: usize, size: usize| {
            let index = dense(&[positions, 1]).expand(&Shape::from([positions, row])).unwrap();
            sound(scatter_add(dtype, &dense(&[positions, row]), &index, 0, size)).last().unwrap().kernel.name
        };
        // Sums of integers that atomics add do not depend on an order.
        if matches!(same_sums(dtype), DType::I64 | DType::I32) {
            assert!(name(128, 1, 10).starts_with("scatter_add_"));
            assert!(name(100_000, 2, 100).starts_with("scatter_few_"));
            assert!(name(100_000, 2, 10_000).starts_with("scatter_add_"));
            continue;
        }
        assert!(name(128, 1, 10).starts_with("scatter_scan_"));
        assert!(name(1000, 96, 65).starts_with("scatter_rows_"));
        // What many positions may meet at comes last.
        assert!(name(1023, 1, 50_000).starts_with("scatter_segments_"));
        assert!(name(200_000, 1, 3000).starts_with("scatter_piles_"));
        assert!(name(32, 768, 50257).starts_with("scatter_chains_"));
        assert!(name(33, 768, 50257).starts_with("scatter_heavy_"));
        assert!(name(1 << 16, 768, 50257).starts_with("scatter_heavy_"));
    }
}

/// Where many positions meet at each place, they are sorted and nothing is linked before.
#[test]
fn sums_by_index_link_where_few_meet() {
    let first = |positions: usize, row: usize, size: usize| {
        let index = dense(&[positions, 1]).expand(&Shape::from([positions, row])).unwrap();
        let launches = sound(scatter_add(DType::F32, &dense(&[positions, row]), &index, 0, size));
        // What is filled with zeros before says nothing, but where the result itself is.
        let said = launches.iter().skip(1).map(|launch| launch.kernel.name);
        said.into_iter().find(|name| *name != "fill_b64").unwrap()
    };
    // Single elements have their values beside the links.
    assert_eq!(first(200_000, 1, 100_000), "scatter_pairs_f32");
    assert_eq!(first(200_001, 1, 100_000), "order_count_b32");
    assert_eq!(first(100_000, 31, 50_000), "scatter_links");
    assert_eq!(first(100_000, 1, 800_000), "scatter_pairs_f32");
    // Far more places than positions: their heads are where their sums will be, of one element alone.
    assert_eq!(first(100_000, 1, 800_001), "fill_b32");
    assert_eq!(first(100_000, 2, 800_001), "order_count_b32");
    // Rows are added by warps, which follow links where there are not many positions.
    assert_eq!(first(10_000, 32, 10_000), "scatter_links");
    assert_eq!(first(100_000, 32, 100_000), "order_count_b32");
}

#[test]
fn writes_to_most_places_go_by_places() {
    let blocks = |n: usize, inner: usize, count: usize| {
        let described = |dims: &[usize], dtype| Described { layout: dense(dims), dtype, align: 16 };
        let operands = [
            described(&[n * inner], DType::F32),
            described(&[count * inner], DType::F32),
            described(&[count], DType::I64),
        ];
        let precision = Precision::Highest;
        let target = Target { in_place: true, ..Target::new(16, 90, precision) };
        let result = Shaped { shape: *operands[0].layout.shape(), dtype: DType::F32 };
        let launches = sound(Library::from(Put { n, inner }).cuda(&operands, &result, target));
        launches.last().unwrap().grid[0]
    };
    // 1024 units a block: of the result, or of the values where these are fewer.
    assert_eq!(blocks(10_000, 1, 5000), 10);
    assert_eq!(blocks(10_001, 1, 5000), 5);
    assert_eq!(blocks(2000, 3, 5000), 6);
}

#[test]
fn sums_of_one_value_for_all_are_rows() {
    // A gradient of ones has no strides at all.
    let shape = Shape::from([16384, 256]);
    let index = dense(&[16384, 1]).expand(&shape).unwrap();
    let ones = dense(&[1, 1]).expand(&shape).unwrap();
    let names = |x: &Layout, size: usize| -> Vec<&str> {
        let launches = sound(scatter_add(DType::F32, x, &index, 0, size));
        launches.iter().map(|launch| launch.kernel.name).collect()
    };
    for x in [&ones, &dense(&[16384, 256]), &dense(&[256, 16384]).transpose(0, 1).unwrap()] {
        let expected =
            ["fill_b32", "scatter_links", "scatter_chains_f32", "scatter_look", "scatter_heavy_f32"];
        assert_eq!(names(x, 4096), expected);
        // Where more meet, positions are sorted: of keys up to 4095 two digits.
        let sorts = ["scatter_keys", "fill_b64", "order_count_b32", "order_sweep_b32", "order_sweep_b32"];
        let expected = [&sorts[..], &["scatter_strips_f32", "scatter_heavy_f32"]].concat();
        assert_eq!(names(x, 4095), expected);
    }
}

/// Whether a product of capability 9.0 uses what is there alone, of operands as they lie; and its launch.
fn on_hopper(dtype: DType, a: &Layout, b: &Layout) -> (bool, KernelLaunch) {
    let mut problem = product(dtype, a, b);
    (problem.capability, problem.precision) = (90, Precision::High);
    let mut launches = sound(matmul::plan(&problem));
    let launch = launches.pop().unwrap();
    (launches.is_empty() && launch.kernel.ptx().contains("wgmma"), launch)
}

#[test]
fn large_products_use_what_hopper_has() {
    let square = dense(&[2048, 2048]);
    let turned = square.transpose(0, 1).unwrap();
    for dtype in [DType::F16, DType::BF16] {
        for (a, b) in [(&square, &square), (&square, &turned), (&turned, &square), (&turned, &turned)] {
            assert!(on_hopper(dtype, a, b).0);
        }
    }
    // Lines of one operand of tf32 run along k, at least: the other one is held by the threads.
    for (a, b, name) in [
        (&square, &turned, "matmul_tf32_w128x256_kk"),
        (&turned, &turned, "matmul_tf32_w128x256_mk"),
        (&square, &square, "matmul_tf32_w256x128_kn"),
    ] {
        let (as_they_lie, launch) = on_hopper(DType::F32, a, b);
        assert!(as_they_lie);
        assert_eq!(launch.kernel.name, name);
    }
    assert!(!on_hopper(DType::F32, &turned, &square).0);
    assert!(!on_hopper(DType::F64, &square, &turned).0);
    let (_, launch) = on_hopper(DType::F32, &square, &turned);
    assert_eq!(
        launch.maps().iter().map(|m| boxes(m).elements).collect::<Vec<_>>(),
        [Elements::TF32, Elements::TF32, Elements::F32]
    );
    // More tiles than multiprocessors: blocks take several.
    assert!(on_hopper(DType::BF16, &dense(&[8192, 512]), &dense(&[512, 8192])).1.grid[0] <= 132);
}

#[test]
fn operands_that_the_copy_engine_does_not_take_are_for_others() {
    let takes = |a: &Layout, b: &Layout| on_hopper(DType::BF16, a, b).0;
    let (a, b) = (dense(&[4096, 1024]), dense(&[1024, 4096]));
    assert!(takes(&a, &b));
    // Rows of 2044 bytes; rows that are one and the same; rows that overlap; rows from the last to the first.
    assert!(!takes(&dense(&[4096, 1022]), &dense(&[1022, 4096])));
    let shape = Shape::from([4096, 1024]);
    assert!(!takes(&dense(&[1, 1024]).expand(&shape).unwrap(), &b));
    assert!(!takes(&Layout::new(shape, &[8, 1], 0).unwrap(), &b));
    assert!(!takes(&Layout::new(shape, &[-1024, 1], 4095 * 1024).unwrap(), &b));
    // Nothing to add up.
    assert!(!takes(&dense(&[4096, 0]), &dense(&[0, 4096])));
    // One axis of a batch is taken, also where an operand repeats along it; two that do not merge are not.
    let (batch, one) =
        (dense(&[4, 1024, 512]), dense(&[1, 1024, 512]).expand(&Shape::from([4, 1024, 512])).unwrap());
    let other = dense(&[4, 512, 1024]);
    assert!(takes(&batch, &other) && takes(&one, &other));
    let (_, launch) = on_hopper(DType::BF16, &one, &other);
    assert_eq!([boxes(&launch.maps()[0]).sizes[2], boxes(&launch.maps()[1]).sizes[2]], [1, 4]);
    let heads = |t: &Layout| t.transpose(1, 2).unwrap();
    assert!(!takes(&heads(&dense(&[4, 1024, 8, 64])), &heads(&dense(&[4, 64, 8, 1024]))));
}

#[test]
fn results_with_lines_that_boxes_do_not_fit_are_stored_by_threads() {
    let out = |n: usize, align| {
        let mut problem =
            product(DType::BF16, &dense(&[4096, 1024]), &dense(&[n, 1024]).transpose(0, 1).unwrap());
        (problem.capability, problem.align_out) = (90, align);
        let launch = sound(matmul::plan(&problem)).remove(0);
        assert!(launch.kernel.ptx().contains("wgmma"));
        launch.maps().len() == 3
    };
    assert!(out(4096, 16));
    assert!(!out(4096, 8) && !out(4100, 16) && !out(4097, 16));
}

/// The kernels of a product's launches, and which addresses the last one takes.
fn launched(problem: &Problem) -> (Vec<&'static str>, Vec<Pointer>) {
    let launches = sound(matmul::plan(problem));
    let last = launches.last().unwrap();
    let pointers =
        last.pointers().map(|(_, pointer, _)| pointer).chain(last.maps().iter().map(|map| map.pointer));
    (launches.iter().map(|launch| launch.kernel.name).collect(), pointers.collect())
}

#[test]
fn operands_are_copied_where_the_product_is_faster_then() {
    // Lines of tf32 are turned until they run along k, of the smaller operand.
    let tall = |n: usize| dense(&[16384, n]);
    for (m, n, kept, kernel) in [(1536, 384, 0, "_mk"), (384, 1536, 1, "_kn")] {
        let mut problem = product(DType::F32, &tall(m).transpose(0, 1).unwrap(), &tall(n));
        (problem.capability, problem.precision) = (90, Precision::High);
        let (kernels, pointers) = launched(&problem);
        assert_eq!(kernels.len(), 2);
        assert!(kernels[0] == "transpose_b32_v" && kernels[1].starts_with("matmul_tf32_w"), "{kernels:?}");
        assert!(kernels[1].ends_with(kernel), "{kernels:?}");
        assert!(pointers.contains(&Pointer::Input(kept)) && pointers.contains(&Pointer::Workspace));
        assert!(!pointers.contains(&Pointer::Input(1 - kept)));
    }
    let square = dense(&[2048, 2048]);
    let mut problem = product(DType::F32, &square.transpose(0, 1).unwrap(), &square);
    problem.capability = 90;
    // Exact products take every form as it lies.
    problem.precision = Precision::Highest;
    assert_eq!(launched(&problem).0.len(), 1);
    // Rows that are not aligned are moved apart, of either operand.
    for capability in [80, 90] {
        let mut problem = product(DType::BF16, &dense(&[2047, 2047]), &dense(&[2047, 2047]));
        problem.capability = capability;
        let (kernels, pointers) = launched(&problem);
        assert!(kernels.len() == 3 && kernels[2].ends_with("_kn"), "{kernels:?}");
        assert!(!pointers.contains(&Pointer::Input(0)) && !pointers.contains(&Pointer::Input(1)));
        problem.epilogue = Some(Epilogue { stores: false });
        assert_eq!(launched(&problem).0.len(), 3);
        // They are not where that takes longer than the product.
        let mut problem = product(DType::BF16, &dense(&[65, 67]), &dense(&[67, 33]));
        problem.capability = capability;
        assert_eq!(launched(&problem).0.len(), 1);
    }
}

#[test]
fn what_is_copied_of_operands_has_room() {
    for (m, n, k, batch) in [(2047, 1023, 4095, 1), (513, 700, 1023, 3)] {
        let a = dense(&[batch, m, k]);
        let b = dense(&[1, k, n]).expand(&Shape::from([batch, k, n])).unwrap();
        let mut problem = product(DType::F16, &a, &b);
        problem.capability = 90;
        let plan = matmul::plan(&problem).unwrap();
        assert_eq!(plan.launches.len(), 3);
        let line = |n: usize| n.next_multiple_of(8);
        let (all_a, all_b) = (batch * m * line(k) * 2, k * line(n) * 2);
        assert!(plan.workspace >= all_a + all_b);
        // The second copy is behind the first, and what blocks share behind both.
        let offsets = |launch: &KernelLaunch| -> Vec<u64> {
            let pointers = launch.pointers().filter(|(_, pointer, _)| *pointer == Pointer::Workspace);
            pointers.map(|(_, _, offset)| offset).collect()
        };
        assert_eq!(offsets(&plan.launches[0]), [0]);
        let second = offsets(&plan.launches[1])[0] as usize;
        assert!(second >= all_a && second.is_multiple_of(16));
        assert_eq!(plan.launches[2].maps()[1].offset as usize, second);
        assert!(offsets(&plan.launches[2])[2..].iter().all(|&offset| offset as usize >= second + all_b));
    }
}

#[test]
fn results_are_stored_as_kernels_hold_them() {
    let square = dense(&[2048, 2048]);
    let turned = square.transpose(0, 1).unwrap();
    let rows = |dtype, a, b| boxes(&on_hopper(dtype, a, b).1.maps()[2]).boxes[..2].to_vec();
    assert_eq!(rows(DType::F32, &square, &turned), [32, 16]);
    assert_eq!(rows(DType::F32, &turned, &turned), [32, 8]);
    assert_eq!(rows(DType::F32, &square, &square), [32, 32]);
    assert_eq!(rows(DType::BF16, &turned, &turned), [64, 16]);
    let mut problem = product(DType::F32, &turned, &turned);
    problem.capability = 90;
    let launch = sound(matmul::plan(&problem)).pop().unwrap();
    assert_eq!(boxes(&launch.maps()[2]).boxes[..2], [32, 16]);
}

#[test]
fn operands_too_large_to_copy_are_copied_in_bands() {
    // Rows of the first operand that are not aligned, 1.6 and 3.3 GB of them.
    for (dtype, size) in [(DType::BF16, 2), (DType::F32, 4)] {
        let (m, n, k) = (16384 + 100, 768, 50257);
        let mut problem = product(dtype, &dense(&[m, k]), &dense(&[k, n]));
        (problem.capability, problem.precision) = (90, Precision::High);
        let plan = matmul::plan(&problem).unwrap();
        let launches = sound(Ok(plan.clone()));
        assert!(plan.workspace <= 640 << 20 && launches.len() > 4, "{}", plan.workspace);
        let mut done = 0;
        for pair in launches.chunks(2) {
            let [copied, product] = pair else { panic!("{} launches", launches.len()) };
            let offset = |launch: &KernelLaunch, of: Pointer| {
                let one = launch.pointers().find(|(_, pointer, _)| *pointer == of);
                one.map(|(_, _, offset)| offset as usize)
            };
            // The band that was copied is multiplied, and stored where it belongs.
            assert_eq!(offset(copied, Pointer::Input(0)), Some(done * k * size));
            assert_eq!(offset(copied, Pointer::Workspace), Some(0));
            assert_eq!(offset(product, Pointer::Output(0)), Some(done * n * size));
            let [a, _, out] = product.maps() else { panic!("{} maps", product.maps().len()) };
            assert_eq!((a.pointer, a.offset), (Pointer::Workspace, 0));
            assert_eq!((out.pointer, out.offset as usize), (Pointer::Output(0), done * n * size));
            assert_eq!(boxes(a).sizes[1], boxes(out).sizes[1]);
            done += boxes(a).sizes[1] as usize;
        }
        assert_eq!(done, m);
        // What follows a product counts its rows, and there is one launch that it follows.
        problem.epilogue = Some(Epilogue { stores: true });
        assert_eq!(launched(&problem).0.len(), 1);
    }
}

/// The names of what causal attention launches, forward and backward: of operands that lie as heads of products do, or densely; with a mask.
fn attention(
    dtype: DType,
    capability: u32,
    precision: Precision,
    sizes: [usize; 6],
    rows: bool,
) -> Vec<&'static str> {
    attention_of(dtype, capability, precision, sizes, rows, [true, true], 0)
}

/// As above, causal or not, with a mask or without, with so many of 65536 weights left out.
fn attention_of(
    dtype: DType,
    capability: u32,
    precision: Precision,
    sizes: [usize; 6],
    rows: bool,
    [causal, masked]: [bool; 2],
    left_out: u32,
) -> Vec<&'static str> {
    let span = if causal { Span::CAUSAL } else { Span::ALL };
    attention_near(dtype, capability, precision, sizes, rows, (span, masked), left_out)
}

/// As above, of the keys that are near enough.
fn attention_near(
    dtype: DType,
    capability: u32,
    precision: Precision,
    sizes: [usize; 6],
    rows: bool,
    (span, masked): (Span, bool),
    left_out: u32,
) -> Vec<&'static str> {
    let [heads, shared, queries, keys, width, depth] = sizes;
    let layout = |heads: usize, length: usize, size: usize| {
        let lies = dense(&[2, length, heads, size]).permute(&[0, 2, 1, 3]).unwrap();
        if rows { lies } else { Layout::contiguous(*lies.shape()) }
    };
    let of = |layout: Layout, dtype: DType| Described { layout, dtype, align: 16 };
    let mut operands = vec![
        of(layout(heads, queries, width), dtype),
        of(layout(shared, keys, width), dtype),
        of(layout(shared, keys, depth), dtype),
        of(dense(&[1, heads, 1, keys]), DType::Bool),
    ];
    operands.truncate(if masked { 4 } else { 3 });
    if left_out > 0 {
        operands.push(of(dense(&[2, heads, 2]), DType::I64));
    }
    let mut names = Vec::new();
    for kind in [AttentionKind::Forward, AttentionKind::Backward] {
        let kernel: Library =
            Attention { kind, span, masked, left_out, ranges: None, scale: 0.125f64.to_bits() }.into();
        let shaped: Vec<Shaped> =
            operands.iter().map(|o| Shaped { shape: *o.layout.shape(), dtype: o.dtype }).collect();
        let result = kernel.result(&shaped).unwrap();
        let target = Target::new(16, capability, precision);
        let launches = sound(kernel.cuda(&operands, &result, target));
        // What the smallest of the GPUs with tensor cores has, and what those of capability 9.0 have.
        // Of narrow blocks two or three share it, and a kilobyte each is the driver's.
        let most = |launch: &KernelLaunch| match launch.kernel.constant("EACH") {
            Some(each) => (228 << 10) / each as u32 - 1024,
            None => 99 << 10,
        };
        assert!(launches.iter().all(|launch| launch.shared <= most(launch)));
        names.extend(launches.iter().map(|launch| launch.kernel.name));
        operands
            .extend([of(Layout::contiguous(result.shape), dtype), of(layout(heads, queries, depth), dtype)]);
    }
    names
}

/// Rows that meet few others are computed by narrow blocks, without a mask; what a part meets decides, and each part for itself.
#[test]
fn attention_over_few_rows_is_of_narrow_blocks() {
    let of = |sizes, causal, masked| {
        attention_of(DType::BF16, 90, Precision::Highest, sizes, true, [causal, masked], 0)
    };
    let names = |forms: [&str; 3]| {
        [("forward", 0), ("dq", 1), ("dkv", 2)].map(|(part, i)| format!("attention_{part}_bf16_{}", forms[i]))
    };
    let narrow = names(["s64"; 3]);
    for length in [17, 64, 200, 256] {
        assert_eq!(of([4, 2, length, length, 64, 48], false, false), narrow);
    }
    assert_eq!(of([4, 2, 512, 512, 64, 48], true, false), narrow);
    let means_alone = names(["s64", "w64", "w64"]);
    assert_eq!(of([4, 2, 257, 257, 64, 48], false, false), means_alone);
    assert_eq!(of([4, 2, 513, 513, 64, 48], true, false), means_alone);
    let wide = names(["w64"; 3]);
    assert_eq!(of([4, 2, 513, 513, 64, 48], false, false), wide);
    assert_eq!(of([4, 2, 1025, 1025, 64, 48], true, false), wide);
    assert_eq!(of([4, 2, 256, 256, 64, 48], false, true), names(["w64_masked"; 3]));
    assert_eq!(of([4, 2, 64, 64, 128, 48], true, false), names(["s128", "s128", "w128"]));
    assert_eq!(of([4, 2, 257, 257, 128, 48], false, false), names(["w128", "s128", "w128"]));
    assert_eq!(of([4, 2, 513, 513, 128, 48], true, false), names(["w128"; 3]));
    assert_eq!(of([4, 2, 64, 64, 136, 48], true, false), names(["w192"; 3]));
    assert_eq!(of([4, 2, 64, 64, 200, 48], true, false), names(["w256"; 3]));
    assert_eq!(of([4, 2, 1000, 100, 64, 48], false, false), names(["s64", "s64", "w64"]));
    assert_eq!(of([4, 2, 100, 1000, 64, 48], false, false), names(["w64", "w64", "s64"]));
    // As tf32 there are no others.
    for (sizes, masked, form) in [
        ([4, 2, 17, 17, 64, 48], false, "s64"),
        ([4, 2, 4000, 4000, 64, 48], false, "s64"),
        ([4, 2, 300, 300, 64, 48], true, "s64_masked"),
        ([4, 2, 300, 300, 64, 46], false, "mma64"),
        ([4, 2, 300, 300, 62, 48], false, "mma64"),
        ([4, 2, 300, 300, 100, 48], false, "mma128"),
    ] {
        let of = attention_of(DType::F32, 90, Precision::High, sizes, true, [true, masked], 0);
        assert_eq!(of, ["forward", "dq", "dkv"].map(|part| format!("attention_{part}_tf32_{form}")));
    }
}

/// Weights are left out by Hopper's instructions, in one form with masks and without, and everywhere else by the kernel of every GPU.
#[test]
fn weights_are_left_out_by_two_sources() {
    let of = |dtype, capability, size, masked| {
        let sizes = [4, 2, 300, 300, size, 48];
        attention_of(dtype, capability, Precision::High, sizes, true, [true, masked], 6554)
    };
    for masked in [false, true] {
        for (size, form) in [(40, 64), (64, 64), (72, 128), (128, 128)] {
            let names = ["forward", "dq", "dkv"].map(|part| format!("attention_{part}_bf16_w{form}_dropout"));
            assert_eq!(of(DType::BF16, 90, size, masked), names);
        }
        for (dtype, capability, size) in [
            (DType::F16, 80, 64),
            (DType::F16, 90, 136),
            (DType::F16, 90, 62),
            (DType::F32, 90, 64),
            (DType::F64, 75, 64),
        ] {
            let names = ["forward", "means", "dq", "dkv"].map(|part| format!("attention_{part}_{dtype}"));
            assert_eq!(of(dtype, capability, size, masked), names);
        }
    }
}

#[test]
fn attention_is_chosen_by_dtype_capability_and_sizes() {
    use Precision::{High, Highest};
    for size in [1, 32, 33, 64, 96, 100, 128, 192, 200, 256, 257, 300] {
        for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            for (capability, precision) in
                [(75, Highest), (80, Highest), (80, High), (90, High), (120, Highest)]
            {
                for (queries, keys) in [(1, 1), (1, 5000), (130, 70), (1000, 1000)] {
                    for rows in [false, true] {
                        attention(dtype, capability, precision, [4, 2, queries, keys, size, size], rows);
                    }
                }
            }
        }
    }
    let long = [4, 2, 300, 300, 64, 48];
    let of = |dtype, capability, precision, sizes| attention(dtype, capability, precision, sizes, true);
    assert_eq!(
        of(DType::BF16, 80, Highest, long),
        ["attention_forward_bf16_mma64", "attention_dq_bf16_mma64", "attention_dkv_bf16_mma64",]
    );
    assert_eq!(
        of(DType::BF16, 90, Highest, long),
        [
            "attention_forward_bf16_w64_masked",
            "attention_dq_bf16_w64_masked",
            "attention_dkv_bf16_w64_masked"
        ]
    );
    for (size, tiles) in [(136, 192), (192, 192), (200, 256), (256, 256)] {
        let wide = of(DType::F16, 90, Highest, [4, 2, 300, 300, size, 136]);
        assert_eq!(
            wide,
            ["forward", "dq", "dkv"].map(|part| format!("attention_{part}_f16_w{tiles}_masked"))
        );
    }
    // Heads whose lines are not aligned are the older kernels'.
    assert_eq!(of(DType::BF16, 90, Highest, [4, 2, 300, 300, 60, 60])[0], "attention_forward_bf16_mma64");
    assert_eq!(of(DType::F32, 80, High, long)[0], "attention_forward_tf32_mma64");
    assert_eq!(of(DType::F32, 90, High, long)[0], "attention_forward_tf32_s64_masked");
    assert_eq!(of(DType::BF16, 80, Highest, [4, 2, 3, 9000, 64, 64])[0], "attention_few_bf16_mma64");
    // Without tensor cores nothing is copied either.
    assert_eq!(of(DType::F32, 80, Highest, long)[0], "attention_forward_f32");
}
