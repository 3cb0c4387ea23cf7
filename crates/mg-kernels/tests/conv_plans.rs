//! Plans of convolutions for capability 9.0, carried out on the CPU: every launch does here to arrays of numbers what its kernel does
//! (`kernels/conv_tiles.cuh` and what includes it), tile by tile and stage by stage, and the result is compared with the sum of products
//! that a convolution is. So the addresses of windows, the order of tiles and parts, and the copies before and after are checked
//! without a GPU.

mod numbers;

use mg_device::cuda::{Moved, WindowMap};
use mg_device::{DType, Layout, Shape};
use mg_kernels::cuda::library::{KernelLaunch, KernelPlan, MAX_ARGS, Map, Pointer};
use mg_kernels::library::conv::{Conv, ConvKind};
use mg_kernels::library::matmul::{Epilogue, Precision};
use mg_kernels::library::{Described, Innermost, Library, Shaped, Target, innermost_layout};
use numbers::numbers;
use std::collections::HashMap;

/// What has its channels innermost.
type Lying = Innermost;

/// Images with their channels innermost.
fn turned(planes: &[f64], [n, c, h, w]: [usize; 4]) -> Vec<f64> {
    let of = |i: usize| (i / (h * w * c) * c + i % c) * h * w + i / c % (h * w);
    (0..n * c * h * w).map(|i| planes[of(i)]).collect()
}

/// A convolution over two axes.
#[derive(Clone, Copy, Debug)]
struct Case {
    n: usize,
    c: usize,
    size: [usize; 2],
    o: usize,
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
}

impl Case {
    fn output(&self) -> [usize; 2] {
        [0, 1].map(|i| {
            let reach = self.dilation[i] * (self.kernel[i] - 1) + 1;
            (self.size[i] + 2 * self.padding[i] - reach) / self.stride[i] + 1
        })
    }

    /// Shapes of the input, the weight, the output.
    fn shapes(&self) -> [[usize; 4]; 3] {
        let [h, w] = self.size;
        let [p, q] = self.output();
        let [r, s] = self.kernel;
        [[self.n, self.c, h, w], [self.o, self.c, r, s], [self.n, self.o, p, q]]
    }

    /// Shapes of the operands, and of the result.
    fn of_kind(&self, kind: ConvKind) -> [[usize; 4]; 3] {
        let [x, w, y] = self.shapes();
        match kind {
            ConvKind::Forward => [x, w, y],
            ConvKind::Input => [y, w, x],
            ConvKind::Weight => [x, y, w],
        }
    }

    /// What is computed, straight from what it is.
    fn expected(&self, kind: ConvKind, a: &[f64], b: &[f64]) -> Vec<f64> {
        let [x, w, y] = self.shapes();
        let at = |shape: [usize; 4], i: [usize; 4]| i.iter().zip(shape).fold(0, |at, (i, n)| at * n + i);
        let result = match kind {
            ConvKind::Forward => y,
            ConvKind::Input => x,
            ConvKind::Weight => w,
        };
        let mut out = vec![0.0; result.iter().product()];
        for n in 0..self.n {
            for o in 0..self.o {
                for c in 0..self.c {
                    for (p, q, r, s) in (0..y[2]).flat_map(|p| {
                        (0..y[3]).flat_map(move |q| {
                            (0..w[2]).flat_map(move |r| (0..w[3]).map(move |s| (p, q, r, s)))
                        })
                    }) {
                        let line = p * self.stride[0] + r * self.dilation[0];
                        let column = q * self.stride[1] + s * self.dilation[1];
                        let (Some(line), Some(column)) =
                            (line.checked_sub(self.padding[0]), column.checked_sub(self.padding[1]))
                        else {
                            continue;
                        };
                        if line >= x[2] || column >= x[3] {
                            continue;
                        }
                        let (ix, iw, iy) =
                            (at(x, [n, c, line, column]), at(w, [o, c, r, s]), at(y, [n, o, p, q]));
                        match kind {
                            ConvKind::Forward => out[iy] += a[ix] * b[iw],
                            ConvKind::Input => out[ix] += a[iy] * b[iw],
                            ConvKind::Weight => out[iw] += a[ix] * b[iy],
                        }
                    }
                }
            }
        }
        out
    }

    fn plan(&self, kind: ConvKind, dtype: DType, precision: Precision, tile: Option<&str>) -> KernelPlan {
        self.plan_lying(Lying::default(), kind, dtype, precision, tile)
    }

    fn plan_lying(
        &self,
        lying: Lying,
        kind: ConvKind,
        dtype: DType,
        precision: Precision,
        tile: Option<&str>,
    ) -> KernelPlan {
        let target = Target { innermost: lying.result, ..Target::new(16, 90, precision) };
        let (conv, operands) = self.kernel(lying, kind, dtype);
        match tile {
            Some(tile) => conv.cuda_with(&operands, target, tile).unwrap(),
            None => self.planned(lying, kind, dtype, target),
        }
    }

    fn planned(&self, lying: Lying, kind: ConvKind, dtype: DType, target: Target) -> KernelPlan {
        let (conv, operands) = self.kernel(lying, kind, dtype);
        let shaped = operands.map(|o| Shaped { shape: *o.layout.shape(), dtype });
        let kernel = Library::from(conv);
        kernel.cuda(&operands, &kernel.result(&shaped).unwrap(), target).unwrap()
    }

    fn kernel(&self, lying: Lying, kind: ConvKind, dtype: DType) -> (Conv, [Described; 2]) {
        let [a, b, _] = self.of_kind(kind);
        let sizes = match kind {
            ConvKind::Forward => [0; 2],
            ConvKind::Input => self.size,
            ConvKind::Weight => self.kernel,
        };
        let axes = |numbers: [usize; 2], missing: u32| [missing, numbers[0] as u32, numbers[1] as u32];
        let conv = Conv {
            kind,
            axes: 2,
            stride: axes(self.stride, 1),
            padding: axes(self.padding, 0),
            dilation: axes(self.dilation, 1),
            groups: 1,
            sizes: if kind == ConvKind::Forward { [0; 3] } else { axes(sizes, 1) },
        };
        let operands = [(a, lying.operands[0]), (b, lying.operands[1])].map(|(dims, innermost)| {
            let shape = Shape::from(dims);
            let layout =
                if innermost { innermost_layout(&shape).unwrap() } else { Layout::contiguous(shape) };
            Described { layout, dtype, align: 16 }
        });
        (conv, operands)
    }
}

/// Numbers of an argument, one after the other.
struct Read<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Read<'_> {
    fn u32(&mut self) -> usize {
        self.at += 4;
        u32::from_ne_bytes(self.bytes[self.at - 4..self.at].try_into().unwrap()) as usize
    }

    fn i32(&mut self) -> isize {
        self.u32() as u32 as i32 as isize
    }

    fn u64(&mut self) -> u64 {
        self.at = self.at.next_multiple_of(8) + 8;
        u64::from_ne_bytes(self.bytes[self.at - 8..self.at].try_into().unwrap())
    }

    fn i64(&mut self) -> isize {
        self.u64() as i64 as isize
    }

    fn divisor(&mut self) -> usize {
        let size = self.u32();
        self.at += 12;
        size
    }

    /// Offsets of all positions of `struct Axes`, to and from.
    fn axes(&mut self) -> Vec<[isize; 2]> {
        let sizes: Vec<usize> = (0..8).map(|_| self.divisor()).collect();
        let strides: Vec<Vec<isize>> = (0..2).map(|_| (0..8).map(|_| self.i64()).collect()).collect();
        let rank = self.u32();
        let mut all = vec![[0, 0]];
        for axis in 0..rank {
            all = all
                .iter()
                .flat_map(|&[to, from]| {
                    let (a, b) = (strides[0][axis], strides[1][axis]);
                    (0..sizes[axis] as isize).map(move |i| [to + i * a, from + i * b])
                })
                .collect();
        }
        all
    }
}

/// How sums of a tile are told to a mark: how many filters and places there are, and places of an image; whether places are rows; whether channels are
/// innermost.
struct Finishes {
    counts: [usize; 2],
    places: usize,
    by_places: bool,
    innermost: bool,
}

/// What lies in a device's memory, by element; sums of parts lie apart, in f32.
struct Memory {
    size: usize,
    /// What a mark counts, of the plan.
    matrix: [usize; 2],
    arrays: HashMap<Pointer, Vec<f64>>,
    parts: HashMap<usize, Vec<f64>>,
}

impl Memory {
    fn read(&self, (pointer, byte): (Pointer, u64), element: isize) -> f64 {
        self.arrays[&pointer][(byte as usize / self.size).checked_add_signed(element).unwrap()]
    }

    fn write(&mut self, (pointer, byte): (Pointer, u64), element: isize, value: f64) {
        let at = (byte as usize / self.size).checked_add_signed(element).unwrap();
        // Every element of the result is written once.
        let to = &mut self.arrays.get_mut(&pointer).unwrap()[at];
        assert!(!matches!(pointer, Pointer::Output(_)) || to.is_nan());
        *to = value;
    }

    /// `struct Copy` and `struct Plane` of `kernels/copy.cu`, `struct Fill`.
    fn copied(&mut self, launch: &KernelLaunch, args: &[u8]) {
        let places: HashMap<usize, (Pointer, u64)> =
            launch.pointers().map(|(at, p, o)| (at, (p, o))).collect();
        let mut read = Read { bytes: args, at: 16 };
        let to = places[&0];
        if launch.kernel.name.starts_with("fill") {
            read.at = 8;
            for i in 0..read.u64() {
                self.write(to, i as isize, 0.0);
            }
        } else if let Some(bits) = launch.kernel.name.strip_prefix("copy_b") {
            let unit = bits.parse::<usize>().unwrap() / 8 / self.size;
            let count = read.u64() as usize;
            for [a, b] in read.axes().into_iter().take(count) {
                for i in 0..unit as isize {
                    let value = self.read(places[&8], b * unit as isize + i);
                    self.write(to, a * unit as isize + i, value);
                }
            }
        } else {
            let (rows, columns) = (read.u32() as isize, read.u32() as isize);
            let (from_row, out_column) = (read.i64(), read.i64());
            let _ = (read.u32(), read.u32());
            for [a, b] in read.axes() {
                for (r, c) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
                    let value = self.read(places[&8], b + r * from_row + c);
                    self.write(to, a + c * out_column + r, value);
                }
            }
        }
    }

    /// A box of a tensor of any number of dimensions: lines of neighbours, one after the other as they come to lie.
    fn lines<const RANK: usize>(&self, map: &Map, at: [isize; RANK]) -> Vec<Vec<f64>> {
        let Moved::Boxes(tensor) = &map.tensor else { panic!("boxes are moved") };
        // As the driver takes them.
        let taken = |&stride: &u64| stride > 0 && stride.is_multiple_of(16) && stride < 1 << 40;
        assert!(tensor.strides.iter().all(taken), "{:?}", tensor.strides);
        assert!(tensor.boxes.iter().all(|&n| (1..=256).contains(&n)), "{:?}", tensor.boxes);
        let (across, others) = tensor.boxes.split_first().unwrap();
        let inside = |i: &[isize]| i.iter().zip(&tensor.sizes).all(|(&i, &n)| (0..n as isize).contains(&i));
        let one = |first: &[isize; RANK], x: u32| {
            let mut i = *first;
            i[0] += x as isize;
            if !inside(&i) {
                return 0.0;
            }
            let byte: u64 = i[1..].iter().zip(&tensor.strides).map(|(&i, &stride)| i as u64 * stride).sum();
            self.read((map.pointer, map.offset + byte), i[0])
        };
        let count: u32 = others.iter().product();
        let first = |mut line: u32| {
            let mut i = at;
            for (i, &n) in i[1..].iter_mut().zip(others) {
                *i += (line % n) as isize;
                line /= n;
            }
            i
        };
        (0..count).map(first).map(|first| (0..*across).map(|x| one(&first, x)).collect()).collect()
    }

    /// Windows, as the copy engine walks over them.
    fn gathered(&self, map: &Map, first: usize, from: [isize; 3], apart: [isize; 2]) -> Vec<Vec<f64>> {
        let Moved::Windows(WindowMap { sizes, strides, low, high, steps, neighbours, places, .. }) =
            &map.tensor
        else {
            panic!("windows are gathered")
        };
        let [mut x, mut y, mut image] = from;
        let mut all = Vec::new();
        for _ in 0..*places {
            let at = [x + apart[0], y + apart[1], image];
            let inside = at.iter().zip(&sizes[1..]).all(|(&i, &n)| (0..n as isize).contains(&i));
            let line = (0..*neighbours as usize).map(|i| {
                if !inside || first + i >= sizes[0] as usize {
                    return 0.0;
                }
                let byte: u64 = at.iter().zip(strides).map(|(&i, &stride)| i as u64 * stride).sum();
                self.read((map.pointer, map.offset + byte), (first + i) as isize)
            });
            all.push(line.collect());
            x += steps[0] as isize;
            if x > sizes[1] as isize - 1 + high[0] as isize {
                (x, y) = (low[0] as isize, y + steps[1] as isize);
                if y > sizes[2] as isize - 1 + high[1] as isize {
                    (y, image) = (low[1] as isize, image + 1);
                }
            }
        }
        all
    }

    /// `struct Conv` of `kernels/conv_tiles.cuh`.
    fn multiplied(&mut self, launch: &KernelLaunch, args: &[u8]) {
        let (kind, tile) = launch.kernel.name.rsplit_once("_w").unwrap();
        let (bm, bn) = tile.split_once('x').unwrap();
        let (bm, bn): (usize, usize) = (bm.parse().unwrap(), bn.parse().unwrap());
        let mut read = Read { bytes: args, at: 16 };
        let [m, n, tiles_m, tiles_n, chunks, taps, wide, steps, share, together] =
            [(); 10].map(|()| read.u32());
        let low = [read.i32(), read.i32()];
        let [step_y, step_x, apart_y, apart_x] = [(); 4].map(|()| read.u32());
        let [first, down, right] = [(); 3].map(|()| read.i32());
        let [vector, out_first, out_down, out_right, of_place] = [(); 5].map(|()| read.u32());
        let (plane, image) = (read.u64() as usize, read.u64() as usize);
        let (places, line) = (read.divisor(), read.divisor());
        let [a, b] = launch.maps() else { panic!("two operands") };
        let each = 128 / self.size;
        let window = |place: usize| {
            let (image, rest) = (place / places, place % places);
            let x = (rest % line * step_x) as isize + low[1];
            [x, (rest / line * step_y) as isize + low[0], image as isize]
        };
        let apart = |tap: usize| [(tap % wide * apart_x) as isize, (tap / wide * apart_y) as isize];
        let mut sum = vec![0.0; bm * bn];
        if kind.contains("gather") {
            let to = launch.pointers().find(|p| p.0 == 0).map(|p| (p.1, p.2));
            let by_places = kind.ends_with("_f32") && bm < 128;
            for turn in 0..tiles_m * tiles_n {
                let (tile_n, tile_m) = (turn / tiles_m, turn % tiles_m);
                sum.fill(0.0);
                for stage in 0..taps * chunks {
                    let (tap, chunk) = (stage / chunks, stage % chunks * each);
                    let filter = first + (tap / wide) as isize * down + (tap % wide) as isize * right;
                    let a = self.lines(a, signed([chunk, tile_m * bm, usize::try_from(filter).unwrap()]));
                    let b = self.gathered(b, chunk, window(tile_n * bn), apart(tap));
                    for (i, j) in (0..bm).flat_map(|i| (0..bn).map(move |j| (i, j))) {
                        sum[i * bn + j] += a[i].iter().zip(&b[j]).map(|(a, b)| a * b).sum::<f64>();
                    }
                }
                if vector == 0 {
                    let finishes = Finishes { counts: [m, n], places, by_places, innermost: of_place > 1 };
                    let of_tile =
                        |filter: usize, place: usize| sum[(filter - tile_m * bm) * bn + place - tile_n * bn];
                    self.finished(finishes, [tile_m * bm, tile_n * bn], [bm, bn], of_tile);
                    continue;
                }
                let to = to.unwrap();
                for (i, j) in (0..bm).flat_map(|i| (0..bn).map(move |j| (i, j))) {
                    let (row, place) = (tile_m * bm + i, tile_n * bn + j);
                    if row >= m || place >= n {
                        continue;
                    }
                    // Places that are stored at a time are neighbours.
                    assert!(of_place > 1 || place % vector == 0 || place % places != 0);
                    let mut rest = place % places;
                    if out_right > 0 {
                        rest = out_first + rest / line * out_down + rest % line * out_right;
                    }
                    let at = place / places * image + row * plane + rest * of_place;
                    self.write(to, at as isize, sum[i * bn + j]);
                }
            }
            return;
        }
        for block in 0..launch.grid[0] as usize {
            let tiles = tiles_m * tiles_n;
            let (mut turn, turns) = turns_of(block, [tiles, steps, share, together]);
            assert!(turn < turns);
            while turn < turns {
                let tile = turn / steps;
                let (tile_n, tile_m) = (tile / tiles_m, tile % tiles_m);
                let end = turns.min((tile + 1) * steps);
                sum.fill(0.0);
                for k in turn - tile * steps..end - tile * steps {
                    let parts = |i: usize| self.lines(a, signed([tile_m * bm + i, k * each, 0]));
                    let a: Vec<_> = match kind {
                        // Places are innermost.
                        "conv_weight_tf32" => {
                            let lines = self.lines(a, signed([k * each, tile_m * bm, 0]));
                            let part = |rows: &[Vec<f64>]| {
                                (0..each).map(|k| rows.iter().map(|row| row[k]).collect()).collect()
                            };
                            lines.chunks(each).map(part).collect()
                        }
                        _ => (0..bm).step_by(each).map(parts).collect(),
                    };
                    let columns = (0..bn / each).map(|i| (tile_n * (bn / each) + i).min(taps * chunks - 1));
                    let b: Vec<_> = columns
                        .map(|i| self.gathered(b, i % chunks * each, window(k * each), apart(i / chunks)))
                        .collect();
                    for (i, j) in (0..bm).flat_map(|i| (0..bn).map(move |j| (i, j))) {
                        let products = (0..each).map(|k| a[i / each][k][i % each] * b[j / each][k][j % each]);
                        sum[i * bn + j] += products.sum::<f64>();
                    }
                }
                let slot = if together > 0 { block } else { block + tile };
                assert!(self.parts.insert(slot, sum.clone()).is_none());
                turn = end;
            }
        }
    }

    /// What is told to a mark, lane by lane (`finish` of `kernels/conv_wgmma.cu`): each element is written where an epilogue's program has it.
    fn finished(
        &mut self,
        Finishes { counts: [m, n], places, by_places, innermost }: Finishes,
        [filter, place]: [usize; 2],
        [filters, of_tile]: [usize; 2],
        value: impl Fn(usize, usize) -> f64,
    ) {
        let (size, across) = (self.size, 128 / self.size);
        let turned = innermost != by_places;
        let (first, all) = match by_places {
            true => ([place, filter], [of_tile, filters]),
            false => ([filter, place], [filters, of_tile]),
        };
        let units = 32 / size;
        let slices = |rows: usize, columns: usize| {
            (0..rows).step_by(16).flat_map(move |r| (0..columns).step_by(across).map(move |c| (r, c)))
        };
        for ((r, c), lane) in slices(all[0], all[1]).flat_map(|at| (0..32).map(move |lane| (at, lane))) {
            let (row, column) = (first[0] + r, first[1] + c);
            let unit = if turned { lane % 4 } else { lane % units };
            let line = if turned { lane / 4 % size + lane / (4 * size) * 16 } else { lane / units };
            let (begin, along) = if turned { (column, row) } else { (row, column) };
            let (rows, most) = if innermost { (n, m) } else { (m, n) };
            let at = along + unit * 4;
            if at >= most {
                continue;
            }
            let (image, own) = if innermost { (0, at) } else { (at / places, at % places) };
            for line in (0..16 / size).map(|i| begin + line + i * size).filter(|&line| line < rows) {
                for e in 0..4 {
                    assert!(at + e < most && own + e < self.matrix[1], "fours are whole");
                    let (filter, place) = if innermost { (at + e, line) } else { (line, at + e) };
                    let position = (image * self.matrix[0] + line) * self.matrix[1] + own + e;
                    self.write((Pointer::Output(0), 0), position as isize, value(filter, place));
                }
            }
        }
    }

    /// As [`Memory::multiplied`], of windows of one element.
    fn points(&mut self, launch: &KernelLaunch, args: &[u8]) {
        let (_, tile) = launch.kernel.name.rsplit_once("_w").unwrap();
        let (bm, bn) = tile.split_once('x').unwrap();
        let (bm, bn): (usize, usize) = (bm.parse().unwrap(), bn.parse().unwrap());
        let mut read = Read { bytes: args, at: 24 };
        let [tiles_m, tiles_n, _, _, _, steps, share, together] = [(); 8].map(|()| read.u32());
        read.at = 128;
        let stages = read.divisor();
        let [a, b] = launch.maps() else { panic!("two operands") };
        let each = 128 / self.size;
        for block in 0..launch.grid[0] as usize {
            let tiles = tiles_m * tiles_n;
            let (mut turn, turns) = turns_of(block, [tiles, steps, share, together]);
            while turn < turns {
                let tile = turn / steps;
                let end = turns.min((tile + 1) * steps);
                let mut sum = vec![0.0; bm * bn];
                for k in turn - tile * steps..end - tile * steps {
                    let (image, place) = (k / stages, k % stages * each);
                    let a = self.lines(a, signed([place, tile % tiles_m * bm, image]));
                    let b = self.lines(b, signed([place, tile / tiles_m * bn, image]));
                    for (i, j) in (0..bm).flat_map(|i| (0..bn).map(move |j| (i, j))) {
                        sum[i * bn + j] += a[i].iter().zip(&b[j]).map(|(a, b)| a * b).sum::<f64>();
                    }
                }
                let slot = if together > 0 { block } else { block + tile };
                assert!(self.parts.insert(slot, sum).is_none());
                turn = end;
            }
        }
    }

    /// `struct Slab` of `kernels/conv_slab.cu`: a line of shared memory is one of 64 filters or channels, and groups of eight k are lines from one on.
    fn slabs(&mut self, launch: &KernelLaunch, args: &[u8]) {
        let mut read = Read { bytes: args, at: 8 };
        let [_, _, tiles_m, tiles, steps, share, rows, images, down, right] = [(); 10].map(|()| read.u32());
        let [stages, room_a, room_b, _, high, wide] = [(); 6].map(|()| read.u32());
        let low = [read.i32(), read.i32()];
        let [_, _, overhangs] = [(); 3].map(|()| read.u32());
        assert!(room_a >= images * rows * 1024 && room_b >= images * (rows + 2) * 1280);
        assert!(room_a % 1024 == 0 && room_b % 1024 == 0 && (rows * images) % 2 == 0);
        let shared = 1024 + stages * (room_a + room_b + 16);
        assert!(launch.shared as usize == shared && shared <= 227 * 1024 && stages > 2);
        assert!(overhangs > 0 || wide % 8 == 0 && high % rows == 0);
        let [a, b] = launch.maps() else { panic!("two operands") };
        for block in 0..launch.grid[0] as usize {
            let (part, tile) = (block / tiles, block % tiles);
            let (tile_n, tile_m) = (tile / tiles_m, tile % tiles_m);
            let mut sum = vec![0.0; 64 * 576];
            assert!(part * share < steps);
            for k in part * share..((part + 1) * share).min(steps) {
                let (x, y) = ((k % right * 8) as isize, (k / right % down * rows) as isize);
                let image = (k / right / down * images) as isize;
                let a = self.lines(a, [(tile_m * 64) as isize, x, y, image]);
                let b = self.lines(b, [(tile_n * 64) as isize, x + low[1], y + low[0], image]);
                let mut at = 0;
                for group in 0..images * rows {
                    for (tap, i) in (0..9).flat_map(|tap| (0..8).map(move |i| (tap, i))) {
                        let (a, b) = (&a[group * 8 + i], &b[at + tap / 3 * 10 + tap % 3 + i]);
                        for (f, c) in (0..64).flat_map(|f| (0..64).map(move |c| (f, c))) {
                            sum[f * 576 + tap * 64 + c] += a[f] * b[c];
                        }
                    }
                    at += if (group + 1) % rows == 0 { 30 } else { 10 };
                }
            }
            assert!(self.parts.insert(block, sum).is_none());
        }
    }

    /// `struct Spread` of `kernels/conv_spread.cu`.
    fn spread(&mut self, launch: &KernelLaunch, args: &[u8]) {
        let places: HashMap<usize, (Pointer, u64)> =
            launch.pointers().map(|(at, p, o)| (at, (p, o))).collect();
        let mut read = Read { bytes: args, at: 16 };
        let [from_image, from_channel, to_image, to_place] = [(); 4].map(|()| read.u64() as usize);
        let [channels, line, count, tiles_p, tiles_c, _] = [(); 6].map(|()| read.u32());
        let wide = read.divisor();
        let each = 128 / self.size;
        assert!(wide <= 64 && wide * tiles_p >= count && tiles_c * each >= channels);
        for block in 0..launch.grid[0] as usize {
            let (tile_c, rest) = (block % tiles_c, block / tiles_c);
            let (tile_p, image) = (rest % tiles_p, rest / tiles_p);
            for place in tile_p * wide..((tile_p + 1) * wide).min(count) {
                for channel in tile_c * each..((tile_c + 1) * each).min(line) {
                    let from = image * from_image + channel * from_channel + place;
                    let value = if channel < channels { self.read(places[&8], from as isize) } else { 0.0 };
                    let to = image * to_image + place * to_place + channel;
                    self.write(places[&0], to as isize, value);
                }
            }
        }
    }

    /// `struct Add` of `kernels/conv_add.cu`.
    fn added(&mut self, launch: &KernelLaunch, args: &[u8]) {
        let mut read = Read { bytes: args, at: 16 };
        let [m, channels, taps, chunks, tiles_m, tiles, rows, columns, _, steps, share, together] =
            [(); 12].map(|()| read.u32());
        let [ways, whole, neighbours, inner, row, channel, along] = [(); 7].map(|()| read.u32());
        assert!(256 % ways == 0 && launch.grid[0] as usize * 256 >= tiles * rows * columns / 4 * ways);
        let to = launch.pointers().find(|p| p.0 == 0).map(|p| (p.1, p.2)).unwrap();
        let each = 128 / self.size;
        for tile in 0..tiles {
            let slots: Vec<usize> = if together > 0 {
                (0..steps.div_ceil(share)).map(|part| tile + part * tiles).collect()
            } else {
                (tile * steps / share..=((tile + 1) * steps - 1) / share).map(|block| block + tile).collect()
            };
            let parts: Vec<Vec<f64>> = slots.iter().map(|slot| self.parts.remove(slot).unwrap()).collect();
            for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                let (filter, column) = (tile % tiles_m * rows + i, tile / tiles_m * columns + j);
                let (tap, neighbour) = match whole {
                    0 => (column / (chunks * each), column % (chunks * each)),
                    _ => (column / each % taps, column / (each * taps) * each + column % each),
                };
                let (place, c) = (neighbour / inner, neighbour % inner);
                if filter < m && tap < taps && neighbour < neighbours && c < channels {
                    let sum = parts.iter().map(|part| part[i * columns + j]).sum();
                    self.write(to, (filter * row + c * channel + tap * along + place) as isize, sum);
                }
            }
        }
        assert!(self.parts.is_empty());
    }

    /// `struct Weave` of `kernels/conv_weave.cu`.
    fn woven(&mut self, launch: &KernelLaunch, args: &[u8]) {
        let places: HashMap<usize, (Pointer, u64)> =
            launch.pointers().map(|(at, p, o)| (at, (p, o))).collect();
        let mut read = Read { bytes: args, at: 16 };
        let (count, _) = (read.u32(), read.u32());
        let first = [(); 16].map(|()| read.u64());
        let [high, wide, down, right] = [(); 4].map(|()| read.divisor());
        for at in 0..count {
            let (x, y, plane) = (at % wide, at / wide % high, at / wide / high);
            let (rows, columns) = ((high - y % down).div_ceil(down), (wide - x % right).div_ceil(right));
            let from = first[y % down * right + x % right];
            let inside = (plane * rows + y / down) * columns + x / right;
            let value =
                if from == u64::MAX { 0.0 } else { self.read(places[&8], from as isize + inside as isize) };
            self.write(places[&0], at as isize, value);
        }
    }

    fn run(&mut self, plan: &KernelPlan) {
        for launch in &plan.launches {
            let mut memory = [0; MAX_ARGS];
            let args = launch.bind(&mut memory, |_| 0);
            let name = launch.kernel.name;
            match name.strip_prefix("conv_").and_then(|rest| rest.split('_').next()) {
                Some("gather" | "weight") => self.multiplied(launch, args),
                Some("slab") => self.slabs(launch, args),
                Some("add") => self.added(launch, args),
                Some("weave") => self.woven(launch, args),
                Some("point") => self.points(launch, args),
                Some("spread") => self.spread(launch, args),
                _ => self.copied(launch, args),
            }
        }
    }
}

fn check(case: Case, kind: ConvKind, dtype: DType, precision: Precision, tile: Option<&str>) -> KernelPlan {
    check_lying(case, Lying::default(), kind, dtype, precision, tile)
}

fn check_lying(
    case: Case,
    lying: Lying,
    kind: ConvKind,
    dtype: DType,
    precision: Precision,
    tile: Option<&str>,
) -> KernelPlan {
    let plan = case.plan_lying(lying, kind, dtype, precision, tile);
    carried_out(&plan, case, lying, kind, dtype);
    plan
}

/// Carries a plan out and compares its result, or what an epilogue is told.
fn carried_out(plan: &KernelPlan, case: Case, lying: Lying, kind: ConvKind, dtype: DType) {
    let shapes = case.of_kind(kind);
    let [a, b, out] = shapes.map(|shape| shape.iter().product::<usize>());
    let (a, b) = (numbers(a, 1), numbers(b, 2));
    let mut expected = case.expected(kind, &a, &b);
    let lies = |planes: Vec<f64>, i: usize, innermost: bool| match innermost {
        true => turned(&planes, shapes[i]),
        false => planes,
    };
    let (a, b) = (lies(a, 0, lying.operands[0]), lies(b, 1, lying.operands[1]));
    expected = lies(expected, 2, lying.result);
    let size = dtype.size();
    let arrays = HashMap::from([
        (Pointer::Input(0), a),
        (Pointer::Input(1), b),
        (Pointer::Output(0), vec![f64::NAN; out]),
        (Pointer::Workspace, vec![f64::NAN; plan.workspace.div_ceil(size)]),
    ]);
    let mut memory = Memory { size, matrix: plan.matrix, arrays, parts: HashMap::new() };
    memory.run(plan);
    let far = memory.arrays[&Pointer::Output(0)].iter().zip(&expected).map(|(a, b)| (a - b).abs());
    // Not `fold(max)`: a NaN has to fail.
    assert!(far.clone().all(|d| d < 1e-9), "{case:?} {lying:?} {kind:?} {dtype}");
}

/// Where a box begins that is all behind the first element.
fn signed<const RANK: usize>(at: [usize; RANK]) -> [isize; RANK] {
    at.map(|n| n as isize)
}

/// The stages that a block takes, of all tiles': from one on, up to another.
fn turns_of(block: usize, [tiles, steps, share, together]: [usize; 4]) -> (usize, usize) {
    if together == 0 {
        return (block * share, ((block + 1) * share).min(tiles * steps));
    }
    let (part, tile) = (block / tiles, block % tiles);
    let turn = tile * steps + part * share;
    (turn, (turn + share).min((tile + 1) * steps))
}

const fn case(n: usize, c: usize, size: [usize; 2], o: usize, kernel: [usize; 2]) -> Case {
    Case { n, c, size, o, kernel, stride: [1; 2], padding: [1; 2], dilation: [1; 2] }
}

const CASES: [Case; 10] = [
    Case { stride: [2, 1], padding: [1, 0], dilation: [1, 2], ..case(3, 24, [9, 11], 40, [3, 2]) },
    Case { stride: [3, 2], padding: [2, 1], ..case(2, 40, [13, 17], 70, [5, 3]) },
    Case { stride: [2, 2], padding: [0, 0], ..case(4, 72, [6, 6], 70, [1, 1]) },
    case(7, 64, [7, 7], 66, [3, 3]),
    Case { stride: [3, 3], padding: [4, 3], dilation: [3, 2], ..case(1, 40, [10, 14], 36, [3, 3]) },
    Case { stride: [2, 2], padding: [3, 3], ..case(2, 32, [15, 14], 20, [4, 4]) },
    Case { stride: [2, 2], padding: [3, 3], ..case(3, 3, [14, 15], 20, [7, 7]) },
    // So narrow that the gradient by the input sees a part of the taps alone.
    Case { stride: [2, 2], padding: [2, 2], ..case(8, 32, [1, 1], 32, [4, 4]) },
    Case { stride: [1, 2], padding: [2, 3], ..case(8, 16, [9, 1], 20, [5, 6]) },
    Case { padding: [0, 0], ..case(1, 32, [9, 8], 40, [3, 3]) },
];
const KINDS: [ConvKind; 3] = [ConvKind::Forward, ConvKind::Input, ConvKind::Weight];

fn uses(plan: &KernelPlan, start: &str) -> bool {
    plan.launches.iter().any(|launch| launch.kernel.name.starts_with(start))
}

#[test]
fn plans_compute_the_convolution() {
    for case in CASES {
        for kind in KINDS {
            for (dtype, precision) in [
                (DType::BF16, Precision::Highest),
                (DType::F32, Precision::High),
                (DType::F32, Precision::Highest),
            ] {
                let plan = case.plan(kind, dtype, precision, None);
                // What is left to the kernel for all sizes has no plan to follow here.
                if uses(&plan, "conv_gather") || uses(&plan, "conv_add") {
                    check(case, kind, dtype, precision, None);
                } else {
                    assert!(case.c < 4, "{case:?} {kind:?} {dtype}");
                }
            }
        }
    }
}

#[test]
fn every_tile_computes_it() {
    let case = CASES[1];
    for tile in ["128x256", "128x192", "128x128", "64x256"] {
        for kind in KINDS {
            check(case, kind, DType::F16, Precision::Highest, Some(tile));
        }
    }
    for tile in ["256x128", "128x128", "64x128"] {
        check(case, ConvKind::Weight, DType::F32, Precision::High, Some(tile));
    }
    for tile in ["128x128", "64x192", "32x256"] {
        check(case, ConvKind::Forward, DType::F32, Precision::Highest, Some(tile));
    }
    for tile in ["128x256", "64x288", "64x128", "32x288", "32x96"] {
        check(case, ConvKind::Weight, DType::F32, Precision::Highest, Some(tile));
    }
}

#[test]
fn slabs_of_images_are_all_taps_of_them() {
    let slab = |case: Case| {
        for (dtype, lying) in [(DType::F16, [true; 2]), (DType::BF16, [false, true])] {
            let lying = Lying { operands: lying, result: false };
            let plan = check_lying(case, lying, ConvKind::Weight, dtype, Precision::Highest, Some("slab"));
            assert!(uses(&plan, "conv_slab") && uses(&plan, "conv_add"));
        }
    };
    // Lines that are whole, and that are not; two images of seven lines; images that there are not; other paddings; channels that are no multiple of 64.
    slab(case(2, 64, [16, 16], 64, [3, 3]));
    slab(case(2, 128, [14, 14], 64, [3, 3]));
    slab(case(5, 64, [7, 7], 128, [3, 3]));
    slab(Case { padding: [0, 2], ..case(3, 96, [9, 5], 40, [3, 3]) });
    slab(Case { padding: [5, 0], ..case(2, 64, [3, 20], 200, [3, 3]) });
    // What is chosen.
    let plan = |case: Case| case.plan(ConvKind::Weight, DType::BF16, Precision::Highest, None);
    for (c, side) in [(64, 56), (128, 28), (256, 14), (512, 7)] {
        assert!(uses(&plan(case(256, c, [side, side], c, [3, 3])), "conv_slab"), "{c}");
    }
    assert!(uses(&plan(Case { stride: [2, 2], ..case(256, 64, [56, 56], 64, [3, 3]) }), "conv_weight"));
    assert!(uses(&plan(case(256, 3, [56, 56], 64, [3, 3])), "conv_weight"));
}

#[test]
fn blocks_have_parts_of_one_tile_or_of_several() {
    // Many tiles and few stages: blocks go on from one tile to the next.
    let many = Case { padding: [0, 0], ..case(5, 256, [6, 6], 512, [3, 3]) };
    check(many, ConvKind::Weight, DType::F32, Precision::Highest, Some("32x96"));
    // Few tiles and many stages.
    let few = case(40, 16, [12, 12], 16, [3, 3]);
    check(few, ConvKind::Weight, DType::BF16, Precision::Highest, Some("128x128"));
}

#[test]
fn windows_of_one_element_are_products() {
    let one = Case { padding: [0, 0], ..case(4, 64, [16, 16], 32, [1, 1]) };
    for kind in [ConvKind::Forward, ConvKind::Input] {
        assert!(uses(&one.plan(kind, DType::BF16, Precision::Highest, None), "matmul"));
    }
    for (dtype, precision) in
        [(DType::F16, Precision::Highest), (DType::F32, Precision::High), (DType::F32, Precision::Highest)]
    {
        // Planes of more than one stage, and of one that is not whole.
        for size in [[16, 16], [5, 8]] {
            let plan = check(Case { size, ..one }, ConvKind::Weight, dtype, precision, None);
            assert!(uses(&plan, "conv_point"));
        }
    }
    // Planes that are not aligned are spread.
    let odd = check(Case { size: [5, 7], ..one }, ConvKind::Weight, DType::F16, Precision::Highest, None);
    assert!(uses(&odd, "conv_spread") && uses(&odd, "conv_weight"));
}

#[test]
fn what_the_copy_engine_does_not_take_is_for_the_kernel_for_all_sizes() {
    let padded = |padding, kernel| Case { padding: [padding, 1], ..case(1, 64, [8, 8], 64, [kernel, 3]) };
    let direct = |case: Case| {
        uses(&case.plan(ConvKind::Forward, DType::BF16, Precision::Highest, None), "conv_forward")
    };
    assert!(!direct(padded(3, 3)));
    // Corners of windows have eight bits, steps go to eight.
    assert!(direct(Case { padding: [130, 1], ..padded(130, 140) }));
    assert!(direct(Case { stride: [9, 1], ..case(8, 64, [40, 8], 64, [3, 3]) }));
    // As many windows as there are places between two steps would never be listed.
    let far = Case { stride: [1, 1 << 19], ..case(1, 1, [1, 1 << 20], 1, [3, 3]) };
    assert!(!far.plan(ConvKind::Input, DType::BF16, Precision::Highest, None).launches.is_empty());
    // No tensor cores in f64; older devices have no such copy engine.
    let f64 = CASES[3].plan(ConvKind::Forward, DType::F64, Precision::Highest, None);
    assert!(uses(&f64, "conv_forward_f64"));
}

#[test]
fn channels_may_be_innermost() {
    let mut met = [0; 3];
    let more = [
        Case { stride: [2, 2], ..case(3, 64, [9, 10], 40, [3, 3]) },
        Case { padding: [0, 0], ..case(3, 64, [5, 7], 48, [1, 1]) },
        Case { stride: [2, 2], padding: [0, 0], ..case(3, 40, [6, 7], 48, [1, 1]) },
        // Of which there are no windows for the copy engine: they are copied.
        Case { padding: [130, 1], ..case(1, 64, [8, 8], 64, [140, 3]) },
    ];
    for case in CASES.into_iter().chain(more) {
        for kind in KINDS {
            for (dtype, precision) in [
                (DType::BF16, Precision::Highest),
                (DType::F32, Precision::High),
                (DType::F32, Precision::Highest),
            ] {
                let shapes = case.of_kind(kind);
                // Whoever asks for it gets it, though it may cost a copy.
                for lying in 1..8 {
                    let asked = Lying {
                        operands: [lying & 1 > 0, lying & 2 > 0],
                        result: kind != ConvKind::Weight && lying & 4 > 0,
                    };
                    let aligned = |i: usize| (shapes[i][1] * dtype.size()).is_multiple_of(16);
                    let is_plane = |i: usize| shapes[i][2] * shapes[i][3] == 1;
                    let asks = [asked.operands[0], asked.operands[1], asked.result];
                    if (0..3).any(|i| asks[i] && (!aligned(i) || is_plane(i))) || asks == [false; 3] {
                        continue;
                    }
                    let plan = case.plan_lying(asked, kind, dtype, precision, None);
                    if uses(&plan, "matmul") || uses(&plan, "conv_forward") {
                        met[1] += 1;
                        continue;
                    }
                    if uses(&plan, "conv_gather") || uses(&plan, "conv_add") {
                        check_lying(case, asked, kind, dtype, precision, None);
                        met[usize::from(uses(&plan, "conv_weave")) * 2] += 1;
                    }
                }
            }
        }
    }
    assert!(met[0] > 80 && met[1] > 10, "{met:?}");
}

#[test]
fn an_epilogue_is_told_every_element_once() {
    let more = [
        case(3, 64, [9, 10], 40, [3, 3]),
        case(2, 24, [6, 6], 200, [3, 3]),
        Case { padding: [0, 0], ..case(3, 32, [10, 8], 64, [3, 3]) },
        Case { padding: [0, 0], ..case(4, 1, [14, 14], 32, [3, 3]) },
        Case { stride: [2, 2], ..case(3, 64, [9, 12], 72, [3, 3]) },
        Case { padding: [0, 0], ..case(4, 64, [4, 6], 48, [1, 1]) },
    ];
    let mut met = [0; 4];
    for case in CASES.into_iter().chain(more) {
        for (kind, dtype, precision) in KINDS.into_iter().flat_map(|kind| {
            let (exact, rounded) = (Precision::Highest, Precision::High);
            [(DType::BF16, exact), (DType::F16, exact), (DType::F32, rounded), (DType::F32, exact)]
                .map(|(dtype, precision)| (kind, dtype, precision))
        }) {
            for innermost in [false, true] {
                let [a, b, result] = case.of_kind(kind);
                let is_aligned = (result[1] * dtype.size()).is_multiple_of(16);
                if innermost && (kind == ConvKind::Weight || !is_aligned || result[2] * result[3] == 1) {
                    continue;
                }
                let lying = Lying { operands: [false; 2], result: innermost };
                let epilogue = Some(Epilogue { stores: false });
                let target = Target { innermost, epilogue, ..Target::new(16, 90, precision) };
                let plan = case.planned(lying, kind, dtype, target);
                let shaped = [a, b].map(|dims| Shaped { shape: Shape::from(dims), dtype });
                let kernel = Library::from(case.kernel(lying, kind, dtype).0);
                if innermost && !kernel.innermost(&shaped, 90).result {
                    continue;
                }
                let takes = kernel.takes_epilogue(&shaped, Some(90), innermost);
                // What the scheduler was told, and what comes of it.
                assert_eq!(takes, plan.matrix != [0, 0], "{case:?} {kind:?} {dtype} {innermost}");
                assert!(!kernel.takes_epilogue(&shaped, None, innermost));
                let last = plan.launches.last().unwrap().kernel;
                assert!(!takes || last.ptx().contains("mg.epilogue"));
                if takes && last.name.starts_with("conv_gather") {
                    carried_out(&plan, case, lying, kind, dtype);
                    met[usize::from(innermost) + 2 * usize::from(kind == ConvKind::Input)] += 1;
                }
            }
        }
    }
    assert!(met.iter().all(|&n| n > 8), "{met:?}");
}

#[test]
fn windows_of_channels_that_are_innermost_copy_nothing() {
    let case = Case { padding: [1, 1], ..case(4, 64, [9, 10], 128, [3, 3]) };
    let all = Lying { operands: [true; 2], result: true };
    let launches =
        |lying, kind| case.plan_lying(lying, kind, DType::BF16, Precision::Highest, None).launches.len();
    assert_eq!(launches(all, ConvKind::Forward), 1);
    // A gradient by the input adds up filters, which are no neighbours in a weight; one by the weight adds up what blocks have left.
    assert_eq!(launches(all, ConvKind::Input), 2);
    assert_eq!(launches(Lying { result: false, ..all }, ConvKind::Weight), 2);
    assert_eq!(launches(Lying { operands: [true, false], ..all }, ConvKind::Forward), 2);
}

#[test]
fn products_of_channels_that_are_innermost_copy_nothing() {
    let one = Case { padding: [0, 0], ..case(4, 96, [5, 7], 128, [1, 1]) };
    let all = Lying { operands: [true; 2], result: true };
    for kind in KINDS {
        let lying = match kind {
            ConvKind::Weight => Lying { result: false, ..all },
            ConvKind::Forward | ConvKind::Input => Lying { operands: [true, false], ..all },
        };
        let plan = one.plan_lying(lying, kind, DType::BF16, Precision::Highest, None);
        assert_eq!(plan.launches.len(), 1, "{kind:?}");
        assert!(uses(&plan, "matmul"));
    }
    // Of few columns, and of much to add up, kernels of windows are faster.
    let few = Case { padding: [0, 0], ..case(4, 128, [5, 7], 64, [1, 1]) };
    let lying = Lying { operands: [true, false], ..all };
    let plan = few.plan_lying(lying, ConvKind::Forward, DType::BF16, Precision::Highest, None);
    assert!(plan.launches.len() == 1 && uses(&plan, "conv_gather"));
    let deep = Case { padding: [0, 0], ..case(256, 128, [12, 12], 64, [1, 1]) };
    let plan = deep.plan_lying(
        Lying { result: false, ..all },
        ConvKind::Weight,
        DType::BF16,
        Precision::Highest,
        None,
    );
    assert!(plan.launches.len() == 2 && uses(&plan, "conv_weight"));
}
