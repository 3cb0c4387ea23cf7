//! The layouts of kernels for capability 9.0, followed element by element on the CPU: a tile from its matrices in global memory to the result,
//! operands that are held in registers, thirds, and which tile is whose. What the kernels do is written again here in Rust, by their names; texts of the sources
//! are compared where they are short, so that neither changes alone.
//!
//! To learn how a product is computed read docs/products.md, then `machine.rs`, then `product` below beside `compute` of matmul_wgmma.cuh.

mod machine;
mod span;

use machine::{Matrix, Shared, Sums, Swizzle, THREADS, Tensor, held, held_alone, stmatrix};
use mg_device::cuda::{Moved, TensorMap};
use mg_device::{DType, Layout, Shape};
use mg_kernels::cuda::library::{Map, Pointer};
use mg_kernels::library::matmul::{Precision, Problem, cuda as matmul};

/// A source of the kernels has this text, whatever blanks and lines it is written with.
fn says(source: &str, text: &str) {
    let path = format!("{}/kernels/{source}", env!("CARGO_MANIFEST_DIR"));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let all = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert!(words(&all).contains(&words(text)), "{source} is another than is followed here: no `{text}`");
}

/// `matrix` of hopper.cuh.
fn matrix(lines_k: bool, size: usize, at: usize, apart: usize) -> Matrix {
    let leading = if lines_k { 1 } else { apart as u64 >> 4 };
    let description = 1 << 62 | (1024 >> 4) << 32 | leading << 16 | (at as u64 & 0x3ffff) >> 4;
    Matrix { description, lines_k, size }
}

/// `matrix_of_thirds` of thirds.cuh.
fn matrix_of_thirds(at: usize) -> Matrix {
    let description = 2 << 62 | (512 >> 4) << 32 | 1 << 16 | (at as u64 & 0x3ffff) >> 4;
    Matrix { description, lines_k: true, size: 2 }
}

impl Matrix {
    /// So many bytes further on, as the kernels add to descriptions.
    fn on(self, bytes: usize) -> Matrix {
        Matrix { description: self.description + bytes as u64 / 16, ..self }
    }
}

#[test]
fn descriptions_are_the_sources_own() {
    says(
        "hopper.cuh",
        "u64 description = (u64)1 << 62 | (u64)(further >> 4) << 32 | (u64)(apart >> 4) << 16;
         return description | (at & 0x3ffff) >> 4;",
    );
    // 16 bytes are 1, in units of 16.
    says("hopper.cuh", "return matrix(at, LINES_K ? 16 : apart, 1024);");
    says("thirds.cuh", "return (u64)2 << 62 | (u64)(512 >> 4) << 32 | (u64)1 << 16 | (at & 0x3ffff) >> 4;");
}

#[test]
fn a_swizzle_has_eight_lines_of_a_chunk_in_eight_places() {
    for (swizzle, line) in [(Swizzle::Lines128, 128), (Swizzle::Lines64, 64)] {
        let mut places: Vec<usize> = (0..1024).map(|at| swizzle.of(at)).collect();
        for chunk in 0..line / 16 {
            // Banks repeat each 128 bytes.
            let mut banks: Vec<usize> =
                (0..8).map(|row| places[row * line + chunk * 16] % 128 / 16).collect();
            banks.sort();
            assert_eq!(banks, [0, 1, 2, 3, 4, 5, 6, 7], "{swizzle:?}, chunk {chunk}");
        }
        places.sort();
        assert!(places.into_iter().eq(0..1024), "{swizzle:?}");
    }
}

#[test]
fn every_sum_and_every_held_element_is_one_threads() {
    for columns in [32, 64, 128, 144, 192, 256] {
        let mut seen = vec![false; 64 * columns];
        for (thread, i) in (0..THREADS).flat_map(|thread| (0..columns / 2).map(move |i| (thread, i))) {
            let [row, column] = Sums::place(thread, i);
            assert!(!std::mem::replace(&mut seen[row * columns + column], true));
        }
        assert!(seen.iter().all(|&seen| seen));
    }
    let all = (0..64).flat_map(|row| (0..16).map(move |k| held(row, k)));
    let mut all: Vec<usize> = all.map(|[thread, word, half]| (thread * 4 + word) * 2 + half).collect();
    all.sort();
    assert!(all.into_iter().eq(0..64 * 16));
}

/// `place` of matmul_wgmma.cuh: the tile of a turn.
fn place(mut id: usize, tiles_m: usize, tiles_n: usize) -> [usize; 2] {
    let group = 8;
    let mut first = 0;
    if tiles_m > group {
        let band = id / (group * tiles_n);
        first = band * group;
        id -= first * tiles_n;
    }
    let height = group.min(tiles_m - first);
    let tile_n = id / height;
    [first + id - tile_n * height, tile_n]
}

#[test]
fn each_tile_is_one_turns() {
    says(
        "matmul_wgmma.cuh",
        "constexpr u32 group = 8;
         u32 first = 0;
         if (tiles_m > group) {
             u32 band = id / (group * tiles_n);
             first = band * group;
             id -= first * tiles_n;
         }
         u32 height = min(group, tiles_m - first);
         tile_n = id / height;
         tile_m = first + id - tile_n * height;",
    );
    for tiles_m in 1..=70 {
        for tiles_n in 1..=70 {
            let mut seen = vec![false; tiles_m * tiles_n];
            for id in 0..tiles_m * tiles_n {
                let [m, n] = place(id, tiles_m, tiles_n);
                assert!(m < tiles_m && n < tiles_n, "turn {id} of {tiles_m} x {tiles_n}");
                assert!(
                    !std::mem::replace(&mut seen[m * tiles_n + n], true),
                    "turn {id} of {tiles_m} x {tiles_n}"
                );
            }
        }
    }
}

/// Small whole numbers, of which products and sums are exact in every dtype.
fn number(row: usize, column: usize) -> f32 {
    ((row * 7 + column * 13 + row * column) % 9) as f32 - 4.0
}

/// Which neighbours lie side by side, and the elements as they lie: of a matrix [rows, columns].
fn lying(rows: usize, columns: usize, turned: bool, seed: usize) -> (Layout, Vec<f32>) {
    let dims = if turned { [columns, rows] } else { [rows, columns] };
    let layout = Layout::contiguous(Shape::new(&dims).unwrap());
    let at = |i: usize| if turned { (i % rows, i / rows) } else { (i / columns, i % columns) };
    let elements = (0..rows * columns).map(|i| number(at(i).0 + seed, at(i).1)).collect();
    (if turned { layout.transpose(0, 1).unwrap() } else { layout }, elements)
}

fn boxes(maps: &[Map], pointer: Pointer) -> &TensorMap {
    let map = maps.iter().find(|map| map.pointer == pointer).unwrap();
    let Moved::Boxes(tensor) = &map.tensor else { panic!("{pointer:?} is not moved by boxes") };
    tensor
}

/// `load` of matmul_wgmma.cuh: a stage of so many rows of an operand.
fn load(shared: &mut Shared, operand: &Tensor, to: usize, lines_k: bool, k: usize, row: usize, rows: usize) {
    if lines_k {
        operand.bring(shared, to, [k, row, 0]);
    } else {
        let each = operand.map.boxes[0] as usize;
        let stage = 128 / operand.map.elements.size();
        for i in (0..rows).step_by(each) {
            operand.bring(shared, to + i * (stage * 128 / each), [row + i, k, 0]);
        }
    }
}

/// `store_bare`: a warp's 16 rows, turned into lines in a slice of its own.
fn store(
    shared: &mut Shared,
    out: &mut Tensor,
    slice: usize,
    [row, column]: [usize; 2],
    sums: &Sums,
    warp: usize,
) {
    let size = out.map.elements.size();
    let (width, fragments) = (128 / size, 128 / size / 8);
    for s in 0..sums.columns / width {
        let to = slice + s % 2 * 2048;
        let sum = |lane: usize, i: usize| sums.of_threads[warp * 32 + lane][s * fragments * 4 + i];
        if size == 2 {
            for j in (0..fragments).step_by(2) {
                let line = |lane: usize| to + lane % 16 * 128 + (((j + lane / 16) ^ (lane % 16 % 8)) << 4);
                stmatrix(shared, line, |lane, i| [sum(lane, 4 * j + 2 * i), sum(lane, 4 * j + 2 * i + 1)]);
            }
        } else {
            for (lane, j) in (0..32).flat_map(|lane| (0..fragments).map(move |j| (lane, j))) {
                let (r, c) = (lane / 4, lane % 4);
                let at = to + r * 128 + (((2 * j + c / 2) ^ r) << 4) + c % 2 * 8;
                for i in 0..4 {
                    shared.write(at + i / 2 * 1024 + i % 2 * 4, sum(lane, 4 * j + i));
                }
            }
        }
        out.take(shared, to, [column + s * width, row, 0]);
    }
}

/// A product as `compute` of matmul_wgmma.cuh has it, of one part of k, from the plan that the engine launches.
fn product(dtype: DType, tile: &str, [m, n, k]: [usize; 3], [a_k, b_k]: [bool; 2]) {
    let (a_layout, mut a) = lying(m, k, !a_k, 0);
    let (b_layout, mut b) = lying(k, n, b_k, 3);
    let mut problem = Problem::new(dtype, &a_layout, &b_layout).unwrap();
    (problem.precision, problem.capability) = (Precision::High, 90);
    let plan = matmul::plan_with(&problem, tile, Some(1)).unwrap().unwrap();
    let [launch] = &plan.launches[..] else { panic!("one launch") };
    let maps = launch.maps();
    let [of_a, of_b, of_out] =
        [Pointer::Input(0), Pointer::Input(1), Pointer::Output(0)].map(|pointer| boxes(maps, pointer));
    let mut c = vec![f32::NAN; m * n];
    let a = Tensor { map: of_a, elements: &mut a };
    let b = Tensor { map: of_b, elements: &mut b };
    let mut out = Tensor { map: of_out, elements: &mut c };

    let (bm, bn) = tile.trim_start_matches('w').split_once('x').unwrap();
    let (bm, bn): (usize, usize) = (bm.parse().unwrap(), bn.parse().unwrap());
    let size = dtype.size();
    let (bk, steps, groups) = (128 / size, 4, 2);
    let parts = bm / (64 * groups);
    let bytes_a = bm * 128;
    let slices = bytes_a + bn * 128;
    let [step_a, step_b] = [a_k, b_k].map(|lines_k| if lines_k { 32 } else { 16 * 128 });
    let (tiles_m, tiles_n) = (m.div_ceil(bm), n.div_ceil(bn));
    for turn in 0..tiles_m * tiles_n {
        let [tile_m, tile_n] = place(turn, tiles_m, tiles_n);
        let (row, column) = (tile_m * bm, tile_n * bn);
        let mut sums: Vec<Sums> = (0..groups * parts).map(|_| Sums::new(bn)).collect();
        for from in (0..k).step_by(bk) {
            // One stage of the ring is as good as another.
            let mut shared = Shared::new(slices);
            load(&mut shared, &a, 0, a_k, from, row, bm);
            load(&mut shared, &b, bytes_a, b_k, from, column, bn);
            let from_b = matrix(b_k, size, bytes_a, bk * 128);
            for (i, sums) in sums.iter_mut().enumerate() {
                let (group, part) = (i / parts, i % parts);
                let from_a = matrix(a_k, size, group * parts * 64 * 128, bk * 128);
                for s in 0..steps {
                    let (a, b) = (from_a.on(part * 64 * 128 + s * step_a), from_b.on(s * step_b));
                    let shared = &shared;
                    sums.multiply(
                        bk / steps,
                        |row, k| a.element(shared, row, k),
                        |row, k| b.element(shared, row, k),
                    );
                }
            }
        }
        for (i, sums) in sums.iter().enumerate() {
            for warp in 0..4 {
                let row = row + i * 64 + warp * 16;
                if row < m {
                    store(&mut Shared::new(4096), &mut out, 0, [row, column], sums, warp);
                }
            }
        }
    }
    for (i, &found) in c.iter().enumerate() {
        let (row, column) = (i / n, i % n);
        let expected: f32 = (0..k).map(|k| number(row, k) * number(k + 3, column)).sum();
        assert_eq!(found, expected, "{dtype} {tile}, {a_k} {b_k}: row {row}, column {column}");
    }
}

#[test]
fn products_are_what_the_tiles_compute() {
    for a_k in [true, false] {
        for b_k in [true, false] {
            product(DType::BF16, "w128x64", [136, 72, 72], [a_k, b_k]);
        }
    }
    product(DType::F16, "w128x256", [72, 264, 136], [true, false]);
    product(DType::BF16, "w128x192", [136, 200, 8], [false, true]);
    product(DType::F32, "w128x128", [132, 140, 44], [true, true]);
}

/// Where `across` of thirds.cuh has an element of a stage whose lines run along m or n.
fn across(row: usize, k: usize) -> usize {
    row / 32 * (32 * 128) + k * 128 + (((row % 32 / 4) ^ (k % 8)) << 4) + row % 4 * 4
}

/// `Held::place`: which of a stage's 32 is the `k`th of product s.
fn place_of_third(a_k: bool, s: usize, k: usize) -> usize {
    if a_k { k % 8 / 2 * 8 + 4 * s + k / 8 * 2 + k % 2 } else { 16 * s + k }
}

/// Products of thirds: threads read a's stage into registers, others write b's thirds in lines of 64 bytes; where both count k in the
/// same order the product is that of the stage. Of numbers that bf16 holds the second and third thirds are nothing.
#[test]
fn thirds_are_the_stages_own_numbers() {
    says("thirds.cuh", "return A_K ? k % 8 / 2 * 8 + 4 * s + k / 8 * 2 + k % 2 : 16 * s + k;");
    says(
        "thirds.cuh",
        "return row / 32 * (32 * 128) + k * 128 + ((row % 32 / 4 ^ k % 8) << 4) + row % 4 * 4;",
    );
    let (bm, bn, depth) = (64, 128, 32);
    for (a_k, b_k) in [(true, true), (true, false), (false, true), (false, false)] {
        // As the copy engine brings them: f32, lines of 32 numbers.
        let stage = |rows: usize, lines_k: bool, seed: usize| {
            let mut shared = Shared::new(rows * 128);
            for (row, k) in (0..rows).flat_map(|row| (0..depth).map(move |k| (row, k))) {
                let byte =
                    if lines_k { row * 128 + k * 4 } else { row / 32 * (32 * 128) + k * 128 + row % 32 * 4 };
                shared.write(Swizzle::Lines128.of(byte), number(row + seed, k));
            }
            shared
        };
        let (a, b) = (stage(bm, a_k, 0), stage(bn, b_k, 5));

        // `Held::read`: a thread's words of both products.
        let mut words = vec![vec![[[f32::NAN; 2]; 4]; THREADS]; 2];
        for (s, of_threads) in words.iter_mut().enumerate() {
            for (thread, own) in of_threads.iter_mut().enumerate() {
                let (first, c) = (thread / 32 * 16 + thread % 32 / 4, thread % 4);
                for i in 0..2 {
                    let row = first + 8 * i;
                    let x: [f32; 4] = std::array::from_fn(|j| {
                        if a_k {
                            a.read(row * 128 + (((2 * c + s) ^ (row % 8)) << 4) + 4 * j)
                        } else {
                            a.read(across(row, 16 * s + 2 * c + j % 2 + j / 2 * 8))
                        }
                    });
                    own[i] = [x[0], x[1]];
                    own[i + 2] = [x[2], x[3]];
                }
            }
        }

        // `split_row`: sixteen numbers of a row, in the order in which a's are multiplied, as two chunks of a line of 64 bytes.
        let mut ready = Shared::new(bn * 64);
        for (row, s) in (0..bn).flat_map(|row| [(row, 0), (row, 1)]) {
            let mut x = [f32::NAN; 16];
            for i in (0..16).step_by(4) {
                if b_k {
                    let at = if a_k { 2 * i + 4 * s } else { 16 * s + i };
                    let v: [f32; 4] =
                        std::array::from_fn(|j| b.read(row * 128 + (((at / 4) ^ (row % 8)) << 4) + 4 * j));
                    let (first, then) = if a_k { (i / 2, i / 2 + 8) } else { (i, i + 2) };
                    (x[first], x[first + 1], x[then], x[then + 1]) = (v[0], v[1], v[2], v[3]);
                } else {
                    for (j, x) in x.iter_mut().enumerate().skip(i).take(4) {
                        *x = b.read(across(row, place_of_third(a_k, s, j)));
                    }
                }
            }
            for (i, x) in x.into_iter().enumerate() {
                ready.write(row * 64 + (((2 * s + i / 8) ^ (row / 2 % 4)) << 4) + i % 8 * 2, x);
            }
        }

        let mut sums = Sums::new(bn);
        for (s, words) in words.iter().enumerate() {
            let b = matrix_of_thirds(0).on(32 * s);
            let of_a = |row: usize, k: usize| {
                let [thread, word, half] = held(row, k);
                assert_eq!(
                    words[thread][word][half],
                    number(row, place_of_third(a_k, s, k)),
                    "row {row}, {k}"
                );
                words[thread][word][half]
            };
            sums.multiply(16, of_a, |row, k| b.element(&ready, row, k));
        }
        for (thread, i) in (0..THREADS).flat_map(|thread| (0..bn / 2).map(move |i| (thread, i))) {
            let [row, column] = Sums::place(thread, i);
            let expected: f32 = (0..depth).map(|k| number(row, k) * number(column + 5, k)).sum();
            assert_eq!(sums.of_threads[thread][i], expected, "{a_k} {b_k}: row {row}, column {column}");
        }
    }
}

/// Attention's second product: what the first one's sums became is its first operand as it lies in registers, values are read along their rows.
#[test]
fn weights_in_registers_meet_their_values() {
    says("attention_wgmma.cu", "to[i] = pair(T(), from[TURNED ? 0 : 2 * i], from[TURNED ? 0 : 2 * i + 1]);");
    says("attention_wgmma.cu", "multiply_held<false>(sum, &held[4 * s], other + s * 16 * 128 / 16, H());");
    for (keys, depth) in [(64, 64), (128, 128), (32, 64)] {
        // Values as they are brought: chunks of 64 columns, a line of 128 bytes for each key.
        let mut shared = Shared::new(keys * depth * 2);
        for (key, column) in (0..keys).flat_map(|key| (0..depth).map(move |column| (key, column))) {
            let byte = column / 64 * (keys * 128) + key * 128 + column % 64 * 2;
            shared.write(Swizzle::Lines128.of(byte), number(key, column));
        }
        // Weights where the product of queries and keys left its sums, and `rounded`.
        let weights: Vec<Vec<f32>> = (0..THREADS)
            .map(|thread| {
                let places = (0..keys / 2).map(|i| Sums::place(thread, i));
                places.map(|[row, key]| number(key + 1, row)).collect()
            })
            .collect();
        let words = |thread: usize, i: usize| [weights[thread][2 * i], weights[thread][2 * i + 1]];
        let mut sums = Sums::new(depth);
        for s in 0..keys / 16 {
            let values = matrix(false, 2, 0, keys * 128).on(s * 16 * 128);
            let of_weights = |row: usize, k: usize| {
                let [thread, word, half] = held(row, k);
                words(thread, 4 * s + word)[half]
            };
            sums.multiply(16, of_weights, |column, k| values.element(&shared, column, k));
        }
        for (thread, i) in (0..THREADS).flat_map(|thread| (0..depth / 2).map(move |i| (thread, i))) {
            let [row, column] = Sums::place(thread, i);
            let expected: f32 = (0..keys).map(|key| number(key + 1, row) * number(key, column)).sum();
            assert_eq!(sums.of_threads[thread][i], expected, "{keys} keys: row {row}, column {column}");
        }
    }
}

/// The same of tf32, which is read with lines along k alone: a tile of values is turned where it lies, its keys in the order that sums have as a first
/// operand, even ones of each eight before odd ones.
#[test]
fn turned_values_meet_weights_in_registers() {
    says(
        "attention_wgmma.cu",
        "to[i] = __float_as_uint(from[TURNED ? i / 4 * 4 + i % 2 * 2 + i / 2 % 2 : 0]);",
    );
    says(
        "attention_wgmma.cu",
        "return (u64)(EIGHT >> 4) << 32 | (u64)(TURNED_CHUNK >> 4) << 16 | (at & 0x3ffff) >> 4;",
    );
    let (keys, depth, eight) = (32, 64, 144);
    let turned_chunk = depth / 8 * eight;
    let mut shared = Shared::new(keys * depth * 4);
    for (key, column) in (0..keys).flat_map(|key| (0..depth).map(move |column| (key, column))) {
        let byte = column / 32 * (keys * 128) + key * 128 + column % 32 * 4;
        shared.write(Swizzle::Lines128.of(byte), number(key, column));
    }
    // `Part`: all threads have taken theirs before any puts it.
    let mut turned = Shared::new(keys / 4 * turned_chunk);
    for thread in 0..THREADS {
        let of = thread % 16;
        let (chunk, first) = (of % 8, thread / 32 * 8 + thread / 16 % 2);
        let to = thread / 16 * turned_chunk + of / 2 * eight + of % 2 * 64;
        for t in 0..4 {
            let row = first + 2 * t;
            for i in 0..4 {
                let from = of / 8 * (keys * 128) + row * 128 + ((chunk ^ (row % 8)) << 4) + 4 * i;
                turned.write(to + 16 * i + 4 * t, shared.read(from));
            }
        }
    }
    let description = (eight as u64 >> 4) << 32 | (turned_chunk as u64 >> 4) << 16;
    let values = Matrix { description, lines_k: true, size: 4 };
    let weight = |thread: usize, i: usize| {
        let [row, key] = Sums::place(thread, i);
        number(key + 1, row)
    };
    let mut sums = Sums::new(depth);
    for s in 0..keys / 8 {
        let values = values.on(s * 2 * turned_chunk);
        let of_weights = |row: usize, k: usize| {
            let [thread, word] = held_alone(row, k);
            let i = 4 * s + word;
            weight(thread, i / 4 * 4 + i % 2 * 2 + i / 2 % 2)
        };
        sums.multiply(8, of_weights, |column, k| values.element(&turned, column, k));
    }
    for (thread, i) in (0..THREADS).flat_map(|thread| (0..depth / 2).map(move |i| (thread, i))) {
        let [row, column] = Sums::place(thread, i);
        let expected: f32 = (0..keys).map(|key| number(key + 1, row) * number(key, column)).sum();
        assert_eq!(sums.of_threads[thread][i], expected, "row {row}, column {column}");
    }
}
