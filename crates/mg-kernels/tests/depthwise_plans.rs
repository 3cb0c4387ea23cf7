//! Plans of convolutions whose filters see one channel each, carried out on the CPU: what each block of `kernels/conv_depthwise.cu` has, what it may read of it, and
//! how much of shared memory that takes; the result is compared with the sum of products that a convolution is.

mod numbers;

use mg_device::{DType, Layout, Shape};
use mg_kernels::cuda::library::{KernelLaunch, KernelPlan, MAX_ARGS};
use mg_kernels::library::conv::{Conv, ConvKind};
use mg_kernels::library::matmul::Precision;
use mg_kernels::library::{Described, Library, Shaped, Target};
use numbers::numbers;

/// Images, channels, filters of each, lines and columns; side, step and padding of the kernel.
#[derive(Clone, Copy, Debug)]
struct Case {
    n: usize,
    c: usize,
    m: usize,
    size: [usize; 2],
    side: usize,
    step: usize,
    padding: [usize; 2],
}

const fn case(n: usize, c: usize, size: [usize; 2], side: usize, step: usize, padding: [usize; 2]) -> Case {
    Case { n, c, m: 1, size, side, step, padding }
}

const CASES: [Case; 13] = [
    case(2, 5, [7, 7], 3, 1, [1, 1]),
    case(3, 4, [8, 9], 5, 1, [2, 0]),
    case(2, 3, [13, 14], 3, 2, [1, 1]),
    case(1, 6, [14, 13], 5, 2, [2, 3]),
    case(2, 2, [15, 15], 7, 1, [3, 3]),
    // Strips of a plane, of which the last one is shorter.
    case(1, 2, [150, 160], 3, 1, [1, 1]),
    case(2, 2, [151, 90], 3, 2, [0, 1]),
    case(1, 2, [110, 122], 7, 1, [3, 2]),
    case(2, 2, [120, 130], 5, 2, [4, 4]),
    // Windows beyond the image, and images smaller than a window.
    case(2, 3, [2, 3], 5, 1, [4, 4]),
    case(2, 70, [1, 5], 3, 2, [2, 0]),
    Case { m: 3, ..case(2, 5, [9, 8], 3, 1, [1, 0]) },
    Case { m: 2, ..case(3, 40, [7, 7], 3, 2, [1, 1]) },
];
const KINDS: [ConvKind; 3] = [ConvKind::Forward, ConvKind::Input, ConvKind::Weight];

impl Case {
    fn output(&self) -> [usize; 2] {
        [0, 1].map(|i| (self.size[i] + 2 * self.padding[i] - self.side) / self.step + 1)
    }

    /// Shapes of the input, the weight, the output.
    fn shapes(&self) -> [[usize; 4]; 3] {
        let ([h, w], [p, q]) = (self.size, self.output());
        let filters = self.c * self.m;
        [[self.n, self.c, h, w], [filters, 1, self.side, self.side], [self.n, filters, p, q]]
    }

    fn conv(&self, kind: ConvKind) -> ([[usize; 4]; 3], Conv) {
        let [x, w, y] = self.shapes();
        let (of_kind, sizes) = match kind {
            ConvKind::Forward => ([x, w, y], [0; 3]),
            ConvKind::Input => ([y, w, x], [1, x[2] as u32, x[3] as u32]),
            ConvKind::Weight => ([x, y, w], [1, w[2] as u32, w[3] as u32]),
        };
        let (step, [py, px]) = (self.step as u32, self.padding.map(|n| n as u32));
        let (stride, padding) = ([1, step, step], [0, py, px]);
        let groups = self.c as u32;
        (of_kind, Conv { kind, axes: 2, stride, padding, dilation: [1; 3], groups, sizes })
    }

    fn plan(&self, kind: ConvKind, dtype: DType) -> KernelPlan {
        let ([a, b, _], conv) = self.conv(kind);
        let described =
            [a, b].map(|dims| Described { layout: Layout::contiguous(Shape::from(dims)), dtype, align: 16 });
        let shaped = described.map(|o| Shaped { shape: *o.layout.shape(), dtype });
        let kernel = Library::from(conv);
        let target = Target::new(16, 80, Precision::Highest);
        kernel.cuda(&described, &kernel.result(&shaped).unwrap(), target).unwrap()
    }

    /// Calls `with` the places of x, w and y of each product.
    fn products(&self, mut with: impl FnMut([usize; 3])) {
        let [_, _, [n, filters, p, q]] = self.shapes();
        let [h, w] = self.size;
        for plane in 0..n * filters {
            let of = [plane / self.m, plane % filters];
            for (y, x) in (0..p).flat_map(|y| (0..q).map(move |x| (y, x))) {
                for tap in 0..self.side * self.side {
                    let line = (y * self.step + tap / self.side).checked_sub(self.padding[0]);
                    let column = (x * self.step + tap % self.side).checked_sub(self.padding[1]);
                    if let (Some(line), Some(column)) = (line.filter(|&i| i < h), column.filter(|&i| i < w)) {
                        let in_x = (of[0] * h + line) * w + column;
                        let in_w = of[1] * self.side * self.side + tap;
                        with([in_x, in_w, (plane * p + y) * q + x]);
                    }
                }
            }
        }
    }
}

/// `struct Depthwise` of `kernels/conv_depthwise.cu`.
#[derive(Debug)]
struct Depthwise {
    side: usize,
    step: usize,
    planes: usize,
    each: usize,
    seen: [usize; 2],
    made: [usize; 2],
    lines: usize,
    run: usize,
    padding: [isize; 2],
    turned: bool,
    stage: usize,
    made_at: usize,
    weights: usize,
    units: usize,
    share: usize,
    lanes: usize,
    count: usize,
    strips: usize,
    runs: usize,
    across: usize,
    channels: usize,
    multiplier: usize,
}

impl Depthwise {
    fn of(launch: &KernelLaunch) -> Depthwise {
        let mut memory = [0; MAX_ARGS];
        let bytes = launch.bind(&mut memory, |_| 0);
        let word = |i: usize| u32::from_ne_bytes(bytes[32 + 4 * i..][..4].try_into().unwrap());
        let [side, step, planes, each, in_h, in_w, out_h, out_w, lines, run] =
            std::array::from_fn(|i| word(i) as usize);
        let [stage, made_at, weights, units, share, lanes, count] =
            std::array::from_fn(|i| word(13 + i) as usize);
        let [strips, runs, across, channels, multiplier] = std::array::from_fn(|i| word(20 + 4 * i) as usize);
        let padding = [10, 11].map(|i| word(i) as i32 as isize);
        let (seen, made, turned) = ([in_h, in_w], [out_h, out_w], word(12) == 1);
        Depthwise {
            side,
            step,
            planes,
            each,
            seen,
            made,
            lines,
            run,
            padding,
            turned,
            stage,
            made_at,
            weights,
            units,
            share,
            lanes,
            count,
            strips,
            runs,
            across,
            channels,
            multiplier,
        }
    }

    /// The lines of x that a block has which makes these lines of some planes: `seen`.
    fn lines(&self, first: isize, last: isize) -> std::ops::Range<usize> {
        let within = |n: isize| n.clamp(0, self.seen[0] as isize) as usize;
        match self.strips {
            1 => 0..self.seen[0],
            _ => within(first)..within(last).max(within(first)),
        }
    }

    /// What a block has fits where it is put, and each of its results is some thread's.
    fn fits(&self, launch: &KernelLaunch, size: usize, [seen, made]: [usize; 2], pairs: bool) {
        let (kernel, end) = (launch.kernel.name, launch.shared as usize);
        let elements = |lines: usize, columns: usize| (self.each * lines * columns + 16 / size) * size;
        let [seen, made] = [elements(seen, self.seen[1]), elements(made, self.made[1])];
        let weights = self.each * self.side * self.side * 4;
        // Two stages of what is read: of the gradient by the weight both operands, else before what is made, and the weight.
        let lies = match kernel.contains("weight") {
            true => seen <= self.made_at && self.made_at + made <= self.stage && 2 * self.stage <= end,
            false => {
                seen <= self.stage
                    && 2 * self.stage <= self.made_at
                    && self.made_at + made <= self.weights
                    && self.weights + weights <= end
            }
        };
        assert!(
            lies && [self.stage, self.made_at, self.weights].iter().all(|n| n % 16 == 0),
            "{kernel} {self:?}"
        );
        let columns = if size == 2 && !pairs { 2 } else { 1 };
        let wide = if pairs { self.made[1].div_ceil(2) } else { self.made[1] };
        assert!(self.runs * self.run >= self.lines && self.across * columns >= wide, "{kernel} {self:?}");
        assert!(self.each == 1 || self.each * self.runs * self.across <= 256 && self.strips == 1);
        assert!(end <= 96 << 10);
    }
}

/// What a plan of results computes: of each block's results those products whose lines it has.
fn made(plan: &KernelPlan, size: usize, x: &[f64], w: &[f64], out: &mut [f64]) {
    let [launch] = &plan.launches[..] else { panic!("one launch") };
    let p = Depthwise::of(launch);
    let pairs = launch.kernel.name.contains("input");
    let [[in_h, in_w], [out_h, out_w]] = [p.seen, p.made];
    let (side, step, odd) = (p.side as isize, p.step as isize, p.padding[0] & 1);
    let units = if pairs { (out_h + odd as usize).div_ceil(2) } else { out_h };
    // Blocks have some tiles each, one after the other.
    let tiles = p.planes.div_ceil(p.each) * p.strips;
    assert_eq!([p.units, launch.grid[0] as usize], [tiles, tiles.div_ceil(p.share)]);
    for block in 0..tiles {
        let (group, from) = (block / p.strips, block % p.strips * p.lines);
        let lines = p.lines.min(units - from) as isize;
        let from = from as isize;
        let (own, seen) = match pairs {
            true => {
                let own = (2 * from - odd).max(0) as usize..((2 * (from + lines) - odd) as usize).min(out_h);
                let last = from + lines + (p.padding[0] >> 1);
                (own, p.lines(last - lines - side / 2, last))
            }
            false => {
                let first = from * step - p.padding[0];
                (from as usize..(from + lines) as usize, p.lines(first, first + (lines - 1) * step + side))
            }
        };
        p.fits(launch, size, [seen.len(), own.len()], pairs);
        for plane in group * p.each..((group + 1) * p.each).min(p.planes) {
            let weight = &w[plane % p.channels * p.side * p.side..][..p.side * p.side];
            for (y, i) in own.clone().flat_map(|y| (0..out_w).map(move |i| (y, i))) {
                let mut sum = 0.0;
                for tap in 0..p.side * p.side {
                    let (r, s) = ((tap / p.side) as isize, (tap % p.side) as isize);
                    let (line, column) = match pairs {
                        true => {
                            let at = [y as isize + p.padding[0] - r, i as isize + p.padding[1] - s];
                            if at[0] % 2 != 0 || at[1] % 2 != 0 {
                                continue;
                            }
                            (at[0] / 2, at[1] / 2)
                        }
                        false => (y as isize * step - p.padding[0] + r, i as isize * step - p.padding[1] + s),
                    };
                    if !(0..in_h as isize).contains(&line) || !(0..in_w as isize).contains(&column) {
                        continue;
                    }
                    assert!(seen.contains(&(line as usize)), "{p:?}: line {line} is not there");
                    let of = weight[if p.turned { p.side * p.side - 1 - tap } else { tap }];
                    sum += of * x[(plane / p.multiplier * in_h + line as usize) * in_w + column as usize];
                }
                let to = &mut out[(plane * out_h + y) * out_w + i];
                assert!(to.is_nan(), "{p:?} makes a result twice");
                *to = sum;
            }
        }
    }
}

/// The same of a plan of the gradient by the weight.
fn weighed(plan: &KernelPlan, size: usize, x: &[f64], g: &[f64], out: &mut [f64]) {
    let p = Depthwise::of(&plan.launches[0]);
    let groups = p.planes.div_ceil(p.each);
    let parts = plan.launches[0].grid[0] as usize / groups;
    let taps = p.side * p.side;
    assert!(p.lanes.is_power_of_two() && p.lanes <= 32 && p.count == p.planes * taps);
    let mut sums = vec![vec![f64::NAN; p.count]; parts];
    let [[in_h, in_w], [out_h, out_w]] = [p.seen, p.made];
    for block in 0..parts * groups {
        let (part, group) = (block / groups, block % groups);
        for plane in group * p.each..((group + 1) * p.each).min(p.planes) {
            let sum = &mut sums[part][plane * taps..][..taps];
            assert!(sum[0].is_nan());
            sum.fill(0.0);
            for unit in part * p.share..((part + 1) * p.share).min(p.units) {
                let (image, from) = (unit / p.strips, unit % p.strips * p.lines);
                let lines = p.lines.min(out_h - from);
                let first = (from * p.step) as isize - p.padding[0];
                let seen = p.lines(first, first + ((lines - 1) * p.step + p.side) as isize);
                p.fits(&plan.launches[0], size, [seen.len(), lines], false);
                let of = (image * (p.planes / p.multiplier) + plane / p.multiplier) * in_h;
                for (y, i) in (from..from + lines).flat_map(|y| (0..out_w).map(move |i| (y, i))) {
                    let value = g[((image * p.planes + plane) * out_h + y) * out_w + i];
                    for (tap, sum) in sum.iter_mut().enumerate() {
                        let line = (y * p.step + tap / p.side) as isize - p.padding[0];
                        let column = (i * p.step + tap % p.side) as isize - p.padding[1];
                        if !(0..in_h as isize).contains(&line) || !(0..in_w as isize).contains(&column) {
                            continue;
                        }
                        assert!(seen.contains(&(line as usize)), "{p:?}: line {line} is not there");
                        *sum += value * x[(of + line as usize) * in_w + column as usize];
                    }
                }
            }
        }
    }
    if let [_, adding] = &plan.launches[..] {
        let adding = Depthwise::of(adding);
        assert_eq!([adding.share, adding.count], [parts, p.count]);
        assert_eq!(plan.workspace, parts * p.count * 4);
    } else {
        assert_eq!(parts, 1);
    }
    for (i, to) in out.iter_mut().enumerate() {
        *to = sums.iter().map(|sum| sum[i]).sum();
    }
}

#[test]
fn plans_compute_the_convolution() {
    for case in CASES {
        for (kind, dtype) in
            KINDS.into_iter().flat_map(|kind| [DType::F32, DType::BF16].map(|dtype| (kind, dtype)))
        {
            let plan = case.plan(kind, dtype);
            // Of the gradient by the input several filters are added up, which it leaves to another kernel.
            let ours = plan.launches[0].kernel.name.starts_with("conv_depthwise");
            assert_eq!(ours, kind != ConvKind::Input || case.m == 1, "{case:?} {kind:?}");
            if !ours {
                continue;
            }
            let [a, b, out] = case.conv(kind).0.map(|shape| shape.iter().product::<usize>());
            let (a, b) = (numbers(a, 1), numbers(b, 2));
            let (mut got, mut want) = (vec![f64::NAN; out], vec![0.0; out]);
            case.products(|[x, w, y]| match kind {
                ConvKind::Forward => want[y] += a[x] * b[w],
                ConvKind::Input => want[x] += a[y] * b[w],
                ConvKind::Weight => want[w] += a[x] * b[y],
            });
            match kind {
                ConvKind::Forward | ConvKind::Input => made(&plan, dtype.size(), &a, &b, &mut got),
                ConvKind::Weight => weighed(&plan, dtype.size(), &a, &b, &mut got),
            }
            // Not `fold(max)`: a NaN has to fail.
            assert!(got.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-9), "{case:?} {kind:?} {dtype}");
        }
    }
}

#[test]
fn what_is_not_taken_is_for_the_kernel_for_all_sizes() {
    // Of which groups have few filters.
    let direct = |case: Case, dtype| {
        let name = case.plan(ConvKind::Forward, dtype).launches[0].kernel.name;
        name.starts_with("conv_few_forward") || name.starts_with("conv_forward")
    };
    let taken = case(2, 4, [9, 9], 3, 1, [1, 1]);
    assert!(!direct(taken, DType::F16));
    assert!(direct(taken, DType::F64));
    assert!(direct(Case { side: 4, ..taken }, DType::F32));
    assert!(direct(Case { step: 3, ..taken }, DType::F32));
    assert!(direct(Case { side: 7, step: 2, padding: [3, 3], ..taken }, DType::F32));
    // Lines that are longer than shared memory.
    assert!(direct(Case { size: [3, 9000], ..taken }, DType::F32));
}
