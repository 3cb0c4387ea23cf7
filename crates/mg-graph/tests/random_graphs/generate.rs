//! Random graphs, and random ways of asking for their values.

use crate::common::Rng;
use crate::spec::{Inferred, LIES, Lie, Spec};
use mg_device::{DType, Layout, Shape};
use mg_kernels::rows::RowClass;
use mg_kernels::{ReduceKind, Row};

/// What is done to a handle when its node has been made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Marks {
    pub hold: bool,
    pub tracked: bool,
    pub optional: bool,
    pub release: bool,
}

/// What happens between the making of nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Nodes are asked for, in one realisation.
    Realize(Vec<usize>),
    /// A handle is let go.
    Drop(usize),
}

/// A graph and its history.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub specs: Vec<Spec>,
    pub marks: Vec<Marks>,
    /// Events, each after the node of this position was made; those beyond the last node come at the end.
    pub events: Vec<(usize, Event)>,
}

/// Sizes at which tiles, chunks and blocks of the executor end.
const LARGE: [&[usize]; 27] = [
    &[1023],
    &[1024],
    &[1025],
    &[4095],
    &[4096],
    &[4097],
    &[65535],
    &[65536],
    &[65537],
    &[70001],
    &[3, 4097],
    &[2, 9000],
    &[65, 1025],
    &[129, 513],
    &[200, 300],
    &[219, 300],
    &[5000, 13],
    &[22000, 3],
    &[66, 1000],
    &[2, 33000],
    &[64, 128, 16],
    &[5, 700, 40],
    &[3, 2, 4100],
    &[300, 4, 64],
    &[1500, 1, 70],
    &[513, 2, 65],
    &[20000, 5],
];
const KINDS: [ReduceKind; 6] = [
    ReduceKind::Sum,
    ReduceKind::Sum,
    ReduceKind::Prod,
    ReduceKind::Max,
    ReduceKind::Min,
    ReduceKind::ArgMax,
];

struct Maker {
    rng: Rng,
    specs: Vec<Spec>,
    known: Inferred,
    large: Option<Vec<usize>>,
    limit: usize,
    /// Dtypes of this graph's sources.
    dtypes: Vec<DType>,
}

/// A graph with its history, the same for the same seed.
pub fn case(seed: u64) -> Case {
    let mut rng = Rng::new(seed);
    let large = rng.chance(4).then(|| rng.pick(&LARGE).to_vec());
    let dtypes = match rng.below(4) {
        0 => vec![DType::F32],
        1 => vec![DType::F64, DType::F32],
        2 => vec![DType::F32, DType::F16, DType::BF16, DType::I32],
        _ => DType::computed().collect(),
    };
    let n = if large.is_some() { 3 + rng.below(8) } else { 2 + rng.below(22) };
    let limit = if large.is_some() { 150_000 } else { 600 };
    let known = Inferred { nodes: vec![], shapes: vec![], bounds: vec![] };
    let mut maker = Maker { rng: rng.clone(), specs: vec![], known, large, limit, dtypes };
    maker.source(None, None);
    for _ in 0..200 {
        if maker.specs.len() >= n {
            break;
        }
        maker.step();
    }
    let specs = maker.specs;
    history(specs, rng.next())
}

/// The graph with another history.
pub fn history(specs: Vec<Spec>, seed: u64) -> Case {
    let mut rng = Rng::new(seed);
    let n = specs.len();
    let mut last_use = vec![0; n];
    for (i, spec) in specs.iter().enumerate() {
        spec.sources().into_iter().for_each(|s| last_use[s] = i);
        last_use[i] = i;
    }
    let (holds, marked) = (rng.pick(&[0, 30, 90]), rng.chance(50));
    let marks = (0..n)
        .map(|_| Marks {
            hold: rng.chance(holds),
            tracked: marked && rng.chance(12),
            optional: marked && rng.chance(12),
            release: marked && rng.chance(5),
        })
        .collect();
    let mut events = vec![];
    // Most handles go as soon as they are not needed: that is when memory changes hands.
    let drops = rng.pick(&[20, 60, 95]);
    let mut alive: Vec<usize> = vec![];
    let realise_often = rng.pick(&[0, 5, 20]);
    for i in 0..n {
        alive.push(i);
        if rng.chance(realise_often) {
            events.push((i, Event::Realize(some_of(&alive, &mut rng))));
        }
        alive.retain(|&a| {
            let goes =
                last_use[a] <= i && a + 1 < n && rng.chance(drops) && (last_use[a] > a || rng.chance(10));
            if goes {
                events.push((i, Event::Drop(a)));
            }
            !goes
        });
    }
    while !alive.is_empty() {
        let roots = some_of(&alive, &mut rng);
        events.push((n, Event::Realize(roots)));
        let at = rng.below(alive.len());
        if rng.chance(60) {
            events.push((n, Event::Drop(alive.swap_remove(at))));
        }
        if rng.chance(15) {
            break;
        }
    }
    Case { specs, marks, events }
}

fn some_of(alive: &[usize], rng: &mut Rng) -> Vec<usize> {
    let n = 1 + rng.below(4);
    let late = rng.chance(60);
    (0..n)
        .map(|_| {
            let at =
                if late { alive.len() - 1 - rng.below(alive.len().min(4)) } else { rng.below(alive.len()) };
            alive[at]
        })
        .collect()
}

impl Maker {
    /// Adds a node; `None` where it cannot be, or would be too large.
    fn push(&mut self, spec: Spec) -> Option<usize> {
        self.known.push(&spec)?;
        let last = self.known.shapes.len() - 1;
        if self.known.shapes[last].iter().product::<usize>() > self.limit {
            self.known.nodes.pop();
            self.known.shapes.pop();
            self.known.bounds.pop();
            return None;
        }
        self.specs.push(spec);
        Some(last)
    }

    fn shape(&self, i: usize) -> Vec<usize> {
        self.known.shapes[i].clone()
    }

    fn dtype(&self, i: usize) -> DType {
        self.known.dtype(i)
    }

    fn any(&mut self) -> usize {
        let n = self.specs.len();
        if self.rng.chance(65) { n - 1 - self.rng.below(n.min(3)) } else { self.rng.below(n) }
    }

    fn size(&mut self) -> usize {
        match self.rng.below(100) {
            0..2 => 0,
            2..20 => 1,
            _ => 2 + self.rng.below(5),
        }
    }

    fn random_shape(&mut self) -> Vec<usize> {
        if let Some(large) = &self.large {
            return large.clone();
        }
        let rank = self.rng.pick(&[0, 1, 1, 2, 2, 2, 3, 3, 4, 5]);
        loop {
            let shape: Vec<usize> = (0..rank).map(|_| self.size()).collect();
            if shape.iter().product::<usize>() <= self.limit {
                return shape;
            }
        }
    }

    /// A source of numbers.
    fn source(&mut self, shape: Option<Vec<usize>>, dtype: Option<DType>) -> Option<usize> {
        let shape = shape.unwrap_or_else(|| self.random_shape());
        let dtype = dtype.unwrap_or_else(|| {
            let dtypes = self.dtypes.clone();
            self.rng.pick(&dtypes)
        });
        match self.rng.below(12) {
            0 => {
                let ramp = self.push(Spec::Ramp { shape })?;
                self.cast(ramp, dtype)
            }
            1 => {
                let wide = if dtype == DType::F64 { dtype } else { DType::F32 };
                let random = self.push(Spec::Random { dtype: wide, shape })?;
                self.cast(random, dtype)
            }
            _ => {
                let lie = if self.rng.chance(55) { Lie::Dense } else { self.rng.pick(&LIES) };
                self.push(Spec::Data { dtype, shape, lie })
            }
        }
    }

    fn cast(&mut self, i: usize, dtype: DType) -> Option<usize> {
        if self.dtype(i) == dtype { Some(i) } else { self.push(Spec::Cast(i, dtype)) }
    }

    /// A node that broadcasts with `shape`, of this dtype.
    fn partner(&mut self, shape: &[usize], dtype: DType) -> Option<usize> {
        let of = Shape::of(shape);
        if self.rng.chance(60) {
            let fitting: Vec<usize> = (0..self.specs.len())
                .filter(|&j| {
                    let joined = Shape::broadcast(&of, &Shape::of(&self.known.shapes[j]));
                    joined.is_some_and(|s| {
                        s.numel() <= self.limit && (self.large.is_none() || s.numel() == of.numel())
                    })
                })
                .collect();
            if !fitting.is_empty() {
                let j = self.rng.pick(&fitting);
                return self.cast(j, dtype);
            }
        }
        match self.rng.below(10) {
            0..3 => {
                let value = self.rng.pick(&[0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 7.0]);
                let literal = self.rng.chance(40);
                self.push(Spec::Scalar { dtype, value, literal })
            }
            3..6 => self.source(Some(shape.to_vec()), Some(dtype)),
            _ => {
                let lead = self.rng.below(shape.len() + 1);
                let mut partial = shape[lead..].to_vec();
                for n in partial.iter_mut() {
                    if self.rng.chance(35) {
                        *n = 1;
                    }
                }
                self.source(Some(partial), Some(dtype))
            }
        }
    }

    fn step(&mut self) -> Option<usize> {
        match self.rng.below(100) {
            0..8 => self.source(None, None),
            8..46 => self.map(),
            46..50 => {
                let (a, dtypes) = (self.any(), self.dtypes.clone());
                let dtype = self.rng.pick(&dtypes);
                self.cast(a, dtype)
            }
            50..70 => self.view(),
            70..84 => {
                let a = self.any();
                self.reduce(a)
            }
            84..94 => self.kernel(),
            94..98 => self.motif(),
            _ => {
                let a = self.any();
                let size = self.known.bounds[a]? + self.rng.below(2);
                self.push(Spec::Guard(a, size))
            }
        }
    }

    fn map(&mut self) -> Option<usize> {
        let simple = [Row::Add, Row::Mul, Row::Sub, Row::Maximum, Row::Relu, Row::Neg];
        let row = if self.rng.chance(50) { self.rng.pick(&simple) } else { self.rng.pick(Row::ALL) };
        let a = self.any();
        let mut dtype = row.operand(self.dtype(a));
        if row.class() == RowClass::Logic {
            dtype = DType::Bool;
        }
        if row.refuses_zero(dtype) {
            return None; // random integers have zeros among them: an error of its own, tested elsewhere
        }
        let a = self.cast(a, dtype)?;
        let shape = self.shape(a);
        let args = match row.arity() {
            1 => vec![a],
            2 => {
                let b = self.partner(&shape, dtype)?;
                if self.rng.chance(50) { vec![a, b] } else { vec![b, a] }
            }
            _ => {
                let (c, b) = (self.partner(&shape, DType::Bool)?, self.partner(&shape, dtype)?);
                vec![c, a, b]
            }
        };
        let args = if row == Row::Copysign { self.signed(args)? } else { args };
        self.push(Spec::Map(row, args))
    }

    /// Operands of which the second, whose sign is asked for, is the first where it is no number: the sign of a NaN that was computed depends on
    /// the instructions that computed it.
    fn signed(&mut self, args: Vec<usize>) -> Option<Vec<usize>> {
        let [a, sign] = args[..] else { return Some(args) };
        let is_number = self.push(Spec::Map(Row::Eq, vec![sign, sign]))?;
        Some(vec![a, self.push(Spec::Map(Row::Where, vec![is_number, sign, a]))?])
    }

    fn reduce(&mut self, of: usize) -> Option<usize> {
        let rank = self.shape(of).len();
        let axes = match self.rng.below(4) {
            0 => ((1u32 << rank) - 1) as u16,
            1 => 1u16 << rank.saturating_sub(1),
            2 => 1,
            _ => self.rng.below(1 << rank) as u16,
        };
        let kind = if self.rng.chance(5) { ReduceKind::ArgMin } else { self.rng.pick(&KINDS) };
        let keepdim = self.rng.chance(50);
        let reduced =
            self.push(Spec::Reduce { of, kind, axes: axes & ((1u32 << rank) - 1) as u16, keepdim })?;
        if keepdim && self.rng.chance(50) {
            // What follows over the same rows.
            let dtype = self.dtype(of);
            let (a, b) = (of, self.cast(reduced, dtype)?);
            let row = self.rng.pick(&[Row::Sub, Row::Mul, Row::Add, Row::Maximum]);
            if row.operand(dtype) == dtype {
                return self.push(Spec::Map(row, vec![a, b]));
            }
        }
        Some(reduced)
    }

    fn view(&mut self) -> Option<usize> {
        let a = self.any();
        let shape = self.shape(a);
        let rank = shape.len();
        let numel: usize = shape.iter().product();
        match self.rng.below(8) {
            0 => self.push(Spec::Alias(a)),
            1 | 2 => {
                let new = self.factors(&shape);
                self.push(Spec::Reshape(a, new))
            }
            3 => {
                let mut axes: Vec<usize> = (0..rank).collect();
                for i in (1..rank).rev() {
                    axes.swap(i, self.rng.below(i + 1));
                }
                self.push(Spec::Permute(a, axes))
            }
            4 | 5 => {
                if rank == 0 {
                    return None;
                }
                let axis = self.rng.below(rank);
                let n = shape[axis];
                let step = self.rng.pick(&[1isize, 1, 2, 3, -1, -1, -2]);
                let start = self.rng.below(n.max(1));
                let room = if step > 0 { n.saturating_sub(start + 1) } else { start.min(n) };
                let most = if n == 0 { 0 } else { room / step.unsigned_abs() + 1 };
                let len = if self.rng.chance(60) { most } else { self.rng.below(most + 1) };
                self.push(Spec::Slice { of: a, axis, start, step, len })
            }
            6 => {
                let mut new = shape.clone();
                for n in new.iter_mut().filter(|n| **n == 1) {
                    if self.rng.chance(60) {
                        *n = 1 + self.rng.below(4);
                    }
                }
                if new.len() < 6 && self.rng.chance(50) {
                    new.insert(0, 1 + self.rng.below(3));
                }
                self.push(Spec::Expand(a, new))
            }
            _ => {
                if numel > 0 && self.rng.chance(30) {
                    // Windows that overlap.
                    let k = 1 + self.rng.below(numel.min(4));
                    return self.push(Spec::Region {
                        of: a,
                        shape: vec![numel - k + 1, k],
                        strides: vec![1, 1],
                        offset: 0,
                    });
                }
                let region = self.part_of(&shape)?;
                let (shape, strides) = (region.shape().to_vec(), region.strides().to_vec());
                self.push(Spec::Region { of: a, shape, strides, offset: region.offset() })
            }
        }
    }

    /// Another shape of as many elements.
    fn factors(&mut self, shape: &[usize]) -> Vec<usize> {
        let mut new = shape.to_vec();
        if new.len() >= 2 && self.rng.chance(50) {
            let at = self.rng.below(new.len() - 1);
            let n = new.remove(at);
            new[at] *= n;
        } else if !new.is_empty() {
            let at = self.rng.below(new.len());
            for f in [2, 3, 5, 1] {
                if new[at].is_multiple_of(f) && new[at] > 0 && self.rng.chance(60) {
                    new[at] /= f;
                    new.insert(at, f);
                    break;
                }
            }
        } else {
            new = vec![1; self.rng.below(3)];
        }
        new.truncate(8);
        new
    }

    /// A view of a dense shape that meets each element at most once.
    fn part_of(&mut self, shape: &[usize]) -> Option<Layout> {
        let mut layout = Layout::contiguous(Shape::of(shape));
        for _ in 0..1 + self.rng.below(3) {
            let rank = layout.rank();
            if rank == 0 {
                break;
            }
            let axis = self.rng.below(rank);
            let n = layout.shape()[axis] as isize;
            layout = match self.rng.below(3) {
                0 => layout.flip(axis).ok()?,
                1 => layout.transpose(axis, self.rng.below(rank)).ok()?,
                _ => {
                    let start = self.rng.below(n as usize + 1) as isize;
                    let end = self.rng.below(n as usize + 1) as isize;
                    layout
                        .slice(axis, Some(start.min(end)), Some(start.max(end)), self.rng.pick(&[1, 1, 2]))
                        .ok()?
                }
            };
        }
        Some(layout)
    }

    fn kernel(&mut self) -> Option<usize> {
        let a = self.any();
        let shape = self.shape(a);
        let rank = shape.len();
        match self.rng.below(6) {
            0 | 1 => self.product(a),
            2 => {
                if rank == 0 {
                    return None;
                }
                let axis = self.rng.below(rank);
                let n = shape[axis];
                let mut index = shape.clone();
                index[axis] = if n == 0 { 0 } else { self.rng.below(n.min(3) * 2 + 1) };
                let index = self.push(Spec::Index { shape: index, below: n })?;
                self.push(Spec::Gather { of: a, axis, index })
            }
            3 => {
                if rank == 0 || self.dtype(a) == DType::Bool {
                    return None;
                }
                let axis = self.rng.below(rank);
                let size = 1 + self.rng.below(5);
                let index = self.push(Spec::Index { shape, below: size })?;
                self.push(Spec::ScatterAdd { of: a, axis, index, size })
            }
            4 => {
                // Into a larger shape, over zeros or over something.
                let mut outer = shape.clone();
                for n in outer.iter_mut() {
                    *n += self.rng.below(3);
                }
                let mut layout = Layout::contiguous(Shape::of(&outer));
                for (axis, &n) in shape.iter().enumerate() {
                    let from = self.rng.below(outer[axis] - n + 1) as isize;
                    layout = layout.slice(axis, Some(from), Some(from + n as isize), 1).ok()?;
                    if self.rng.chance(15) {
                        layout = layout.flip(axis).ok()?;
                    }
                }
                let dtype = self.dtype(a);
                let base = if self.rng.chance(50) {
                    Some(self.source(Some(outer.clone()), Some(dtype))?)
                } else {
                    None
                };
                let (strides, offset) = (layout.strides().to_vec(), layout.offset());
                self.push(Spec::Write { of: a, base, shape: outer, strides, offset })
            }
            _ => {
                if rank == 0 {
                    return None;
                }
                let axis = self.rng.below(rank);
                let dtype = self.dtype(a);
                let mut parts = vec![a];
                for _ in 0..self.rng.below(3) {
                    let fitting: Vec<usize> = (0..self.specs.len())
                        .filter(|&j| {
                            let other = &self.known.shapes[j];
                            other.len() == rank && (0..rank).all(|d| d == axis || other[d] == shape[d])
                        })
                        .collect();
                    let j = self.rng.pick(&fitting);
                    parts.push(self.cast(j, dtype)?);
                }
                self.push(Spec::Concat(parts, axis))
            }
        }
    }

    fn product(&mut self, a: usize) -> Option<usize> {
        let dtype = self.dtype(a);
        let shape = self.shape(a);
        let rank = shape.len();
        if rank < 2 || dtype == DType::Bool {
            return None;
        }
        let n = if self.large.is_some() { 1 + self.rng.below(12) } else { self.size() };
        if shape.iter().product::<usize>() * n > 2_000_000 {
            return None;
        }
        let mut other = vec![shape[rank - 1], n];
        if rank == 3 && self.rng.chance(50) {
            other.insert(0, self.rng.pick(&[1, shape[0]]));
        }
        let square =
            (0..self.specs.len()).rev().find(|&j| self.known.shapes[j] == other && self.dtype(j) == dtype);
        let b = match square {
            Some(j) if self.rng.chance(50) => j,
            _ => self.source(Some(other), Some(dtype))?,
        };
        let product = self.push(Spec::MatMul(a, b))?;
        if self.rng.chance(60) {
            // Bias, activation, residual.
            let row = self.rng.pick(&[Row::Add, Row::Mul]);
            let shape = self.shape(product);
            let bias = self.partner(&shape, dtype)?;
            let biased = self.push(Spec::Map(row, vec![product, bias]))?;
            if self.rng.chance(50) {
                return self.push(Spec::Map(Row::Relu, vec![biased]));
            }
            return Some(biased);
        }
        Some(product)
    }

    /// Patterns that the scheduler treats in its own way.
    fn motif(&mut self) -> Option<usize> {
        let a = self.any();
        let dtype = if self.dtype(a) == DType::F64 { DType::F64 } else { DType::F32 };
        let x = self.cast(a, dtype)?;
        let rank = self.shape(x).len();
        if rank == 0 {
            return None;
        }
        let axes = 1u16 << (rank - 1);
        let reduce =
            |maker: &mut Maker, of, kind, axes| maker.push(Spec::Reduce { of, kind, axes, keepdim: true });
        match self.rng.below(3) {
            0 => {
                // Softmax, and how many rows' sums.
                let max = reduce(self, x, ReduceKind::Max, axes)?;
                let shifted = self.push(Spec::Map(Row::Sub, vec![x, max]))?;
                let exp = self.push(Spec::Map(Row::Exp, vec![shifted]))?;
                let sum = reduce(self, exp, ReduceKind::Sum, axes)?;
                self.push(Spec::Map(Row::Div, vec![exp, sum]))
            }
            1 => {
                // The largest of each row by its index.
                let axis = rank - 1;
                let index = reduce(self, x, ReduceKind::ArgMax, axes)?;
                self.push(Spec::Gather { of: x, axis, index })
            }
            _ => {
                // A product with columns' and full sums of it.
                let other = self.partner(&self.shape(x), dtype)?;
                let product = self.push(Spec::Map(Row::Mul, vec![x, other]))?;
                let columns = ((1u32 << (rank - 1)) - 1) as u16;
                let sums = reduce(self, product, ReduceKind::Sum, columns)?;
                let scaled = self.push(Spec::Map(Row::Mul, vec![product, sums]))?;
                reduce(self, scaled, ReduceKind::Sum, axes)
            }
        }
    }
}
