//! Descriptions of graphs: what a node is made of, so that the same graph can be built again with other data.

use crate::common::{Rng, buffer_of};
use mg_device::{Buffer, Category, DType, Device, Float, Layout, Result, Shape, bf16, f16};
use mg_graph::{Node, Value};
use mg_kernels::{Law, ReduceKind, Row};
use std::sync::OnceLock;

/// How a data source lies in its memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lie {
    Dense,
    /// Dense, in memory that was a vector's.
    Adopted,
    /// From the third element on.
    Offset,
    /// The last axis first.
    Transposed,
    /// Every second element of the last axis.
    Spread,
    /// The last axis backwards.
    Backwards,
    /// The first axis repeats one element.
    Repeated,
}

pub const LIES: [Lie; 7] =
    [Lie::Dense, Lie::Adopted, Lie::Offset, Lie::Transposed, Lie::Spread, Lie::Backwards, Lie::Repeated];

/// A node by what it is made of; sources are positions of earlier nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Spec {
    Data {
        dtype: DType,
        shape: Vec<usize>,
        lie: Lie,
    },
    /// i64 data in `0..below`.
    Index {
        shape: Vec<usize>,
        below: usize,
    },
    Scalar {
        dtype: DType,
        value: f64,
        literal: bool,
    },
    Ramp {
        shape: Vec<usize>,
    },
    Random {
        dtype: DType,
        shape: Vec<usize>,
    },
    Map(Row, Vec<usize>),
    Cast(usize, DType),
    Guard(usize, usize),
    Alias(usize),
    Reshape(usize, Vec<usize>),
    Permute(usize, Vec<usize>),
    Slice {
        of: usize,
        axis: usize,
        start: usize,
        step: isize,
        len: usize,
    },
    Expand(usize, Vec<usize>),
    /// A view by strides and offset, over the dense source.
    Region {
        of: usize,
        shape: Vec<usize>,
        strides: Vec<isize>,
        offset: usize,
    },
    Reduce {
        of: usize,
        kind: ReduceKind,
        axes: u16,
        keepdim: bool,
    },
    MatMul(usize, usize),
    Gather {
        of: usize,
        axis: usize,
        index: usize,
    },
    ScatterAdd {
        of: usize,
        axis: usize,
        index: usize,
        size: usize,
    },
    Write {
        of: usize,
        base: Option<usize>,
        shape: Vec<usize>,
        strides: Vec<isize>,
        offset: usize,
    },
    Concat(Vec<usize>, usize),
}

impl Spec {
    /// The nodes that it is computed from.
    pub fn sources(&self) -> Vec<usize> {
        match self {
            Spec::Data { .. }
            | Spec::Index { .. }
            | Spec::Scalar { .. }
            | Spec::Ramp { .. }
            | Spec::Random { .. } => {
                vec![]
            }
            Spec::Map(_, args) | Spec::Concat(args, _) => args.clone(),
            Spec::Cast(a, _)
            | Spec::Guard(a, _)
            | Spec::Alias(a)
            | Spec::Reshape(a, _)
            | Spec::Permute(a, _) => {
                vec![*a]
            }
            Spec::Expand(a, _) => vec![*a],
            Spec::Slice { of, .. } | Spec::Region { of, .. } | Spec::Reduce { of, .. } => vec![*of],
            Spec::MatMul(a, b) => vec![*a, *b],
            Spec::Gather { of, index, .. } | Spec::ScatterAdd { of, index, .. } => vec![*of, *index],
            Spec::Write { of, base, .. } => [*of].into_iter().chain(*base).collect(),
        }
    }

    /// The same with other sources.
    pub fn renamed(&self, f: &impl Fn(usize) -> usize) -> Spec {
        let mut spec = self.clone();
        match &mut spec {
            Spec::Data { .. }
            | Spec::Index { .. }
            | Spec::Scalar { .. }
            | Spec::Ramp { .. }
            | Spec::Random { .. } => {}
            Spec::Map(_, args) | Spec::Concat(args, _) => args.iter_mut().for_each(|a| *a = f(*a)),
            Spec::Cast(a, _)
            | Spec::Guard(a, _)
            | Spec::Alias(a)
            | Spec::Reshape(a, _)
            | Spec::Permute(a, _) => {
                *a = f(*a);
            }
            Spec::Expand(of, _)
            | Spec::Slice { of, .. }
            | Spec::Region { of, .. }
            | Spec::Reduce { of, .. } => {
                *of = f(*of);
            }
            Spec::MatMul(a, b) => (*a, *b) = (f(*a), f(*b)),
            Spec::Gather { of, index, .. } | Spec::ScatterAdd { of, index, .. } => {
                (*of, *index) = (f(*of), f(*index))
            }
            Spec::Write { of, base, .. } => {
                *of = f(*of);
                *base = base.map(f);
            }
        }
        spec
    }

    /// Every size that it names, for shrinking.
    pub fn sizes(&mut self) -> Vec<&mut usize> {
        match self {
            Spec::Data { shape, .. } | Spec::Ramp { shape } | Spec::Random { shape, .. } => {
                shape.iter_mut().collect()
            }
            Spec::Index { shape, below } => shape.iter_mut().chain([below]).collect(),
            Spec::Reshape(_, shape) | Spec::Expand(_, shape) => shape.iter_mut().collect(),
            Spec::Region { shape, .. } | Spec::Write { shape, .. } => shape.iter_mut().collect(),
            Spec::Slice { len, .. } => vec![len],
            Spec::ScatterAdd { size, .. } => vec![size],
            Spec::Guard(_, size) => vec![size],
            _ => vec![],
        }
    }

    /// Makes the node. `number` is its position, `variant` chooses among different data for the same graph.
    pub fn build(&self, sources: &[Node], number: usize, variant: u64) -> Result<Node> {
        let seed = variant << 32 | number as u64;
        let here = device();
        let args = || -> Vec<&Node> { sources.iter().collect() };
        Ok(match self {
            Spec::Data { dtype, shape, lie } => Node::from_value(placed(data(*dtype, shape, *lie, seed))?),
            Spec::Index { shape, below } => {
                let mut rng = Rng::new(seed);
                let values: Vec<i64> =
                    (0..shape.iter().product()).map(|_| rng.below(*below) as i64).collect();
                let layout = Layout::contiguous(Shape::new(shape)?);
                Node::from_value(placed(Value { buffer: Buffer::from_slice(&values)?, layout })?)
            }
            Spec::Scalar { dtype, value, literal } => {
                // A literal is part of the structure; another scalar may differ when the graph is built again.
                let value = if *literal || !value.is_finite() { *value } else { *value + variant as f64 };
                Node::scalar(value, *dtype, here, *literal)
            }
            Spec::Ramp { shape } => Node::ramp(Shape::new(shape)?, here),
            Spec::Random { dtype, shape } => Node::random(
                Law::Uniform,
                Shape::new(shape)?,
                *dtype,
                here,
                (seed, variant * 1003 + number as u64),
            ),
            Spec::Map(row, _) => Node::map(*row, &args())?,
            Spec::Cast(_, dtype) => sources[0].cast(*dtype),
            Spec::Guard(_, size) => sources[0].guard(0, *size),
            Spec::Alias(_) => sources[0].alias(),
            Spec::Reshape(_, shape) => sources[0].reshape(Shape::new(shape)?)?,
            Spec::Permute(_, axes) => sources[0].permute(axes)?,
            Spec::Slice { axis, start, step, len, .. } => sources[0].slice(*axis, *start, *step, *len)?,
            Spec::Expand(_, shape) => sources[0].expand(Shape::new(shape)?)?,
            Spec::Region { shape, strides, offset, .. } => {
                sources[0].region(Layout::new(Shape::new(shape)?, strides, *offset)?)?
            }
            Spec::Reduce { kind, axes, keepdim, .. } => sources[0].reduce(*kind, *axes, *keepdim)?,
            Spec::MatMul(..) => sources[0].matmul(&sources[1])?,
            Spec::Gather { axis, .. } => sources[0].gather(*axis, &sources[1])?,
            Spec::ScatterAdd { axis, size, .. } => sources[0].scatter_add(*axis, &sources[1], *size)?,
            Spec::Write { shape, strides, offset, .. } => {
                let region = Layout::new(*sources[0].shape(), strides, *offset)?;
                sources[0].write_into(sources.get(1), Shape::new(shape)?, region)?
            }
            Spec::Concat(_, axis) => Node::concat(&args(), *axis)?,
        })
    }

    /// A node of the same shape and dtype over no data, for finding out shapes.
    pub fn prototype(&self, sources: &[Node]) -> Result<Node> {
        Ok(match self {
            Spec::Data { dtype, shape, .. } => {
                Node::random(Law::Uniform, Shape::new(shape)?, DType::F32, device(), (0, 0)).cast(*dtype)
            }
            Spec::Index { shape, .. } => Node::ramp(Shape::new(shape)?, device()),
            _ => self.build(sources, 0, 0)?,
        })
    }

    /// A size that all of the node's values (integers) are below, and at least 0; `None` where they may be anything.
    pub fn bound(&self, shapes: &[Vec<usize>], bounds: &[Option<usize>]) -> Option<usize> {
        match self {
            Spec::Index { below, .. } => Some(*below),
            Spec::Ramp { shape } => Some(shape.iter().product()),
            Spec::Reduce { of, kind, axes, .. } if kind.is_arg() => {
                let dims = shapes[*of].iter().enumerate().filter(|(a, _)| axes >> a & 1 == 1);
                Some(dims.map(|(_, &n)| n).product::<usize>().max(1))
            }
            Spec::Guard(a, size) => Some((*size).min(bounds[*a].unwrap_or(usize::MAX))),
            Spec::Map(Row::Maximum | Row::Minimum, args) => Some(bounds[args[0]]?.max(bounds[args[1]]?)),
            Spec::Alias(a) | Spec::Reshape(a, _) | Spec::Permute(a, _) | Spec::Expand(a, _) => bounds[*a],
            Spec::Slice { of, .. } | Spec::Region { of, .. } | Spec::Gather { of, .. } => bounds[*of],
            _ => None,
        }
    }

    /// What the node's values must be for its kernel to accept them: the source and the size it is below.
    pub fn asks(&self, shapes: &[Vec<usize>]) -> Option<(usize, usize)> {
        match self {
            Spec::Guard(a, size) => Some((*a, *size)),
            Spec::Gather { of, axis, index } => Some((*index, shapes[*of][*axis])),
            Spec::ScatterAdd { index, size, .. } => Some((*index, *size)),
            _ => None,
        }
    }
}

/// Shapes, dtypes and bounds of a list of nodes; `None` where it is no graph, or one that fails by its data.
pub struct Inferred {
    pub nodes: Vec<Node>,
    pub shapes: Vec<Vec<usize>>,
    pub bounds: Vec<Option<usize>>,
}

impl Inferred {
    pub fn of(specs: &[Spec]) -> Option<Inferred> {
        let mut inferred = Inferred { nodes: vec![], shapes: vec![], bounds: vec![] };
        for spec in specs {
            inferred.push(spec)?;
        }
        Some(inferred)
    }

    /// Adds a node; `None` where it cannot be.
    pub fn push(&mut self, spec: &Spec) -> Option<()> {
        let sources: Vec<Node> = spec.sources().iter().map(|&s| self.nodes[s].clone()).collect();
        let node = spec.prototype(&sources).ok()?;
        if let Some((of, size)) = spec.asks(&self.shapes) {
            let empty = self.shapes[of].contains(&0);
            if !empty && self.bounds[of].is_none_or(|bound| bound > size || bound == 0) {
                return None;
            }
        }
        if let Spec::Index { shape, below: 0 } = spec {
            if !shape.contains(&0) {
                return None;
            }
        }
        if let Spec::Write { shape, strides, .. } = spec {
            // What is written twice has no one value.
            let written = sources[0].shape();
            let collides = written.iter().zip(strides).any(|(&n, &s)| n > 1 && s == 0);
            if collides || shape.iter().product::<usize>() < written.numel() {
                return None;
            }
        }
        self.bounds.push(spec.bound(&self.shapes, &self.bounds));
        self.shapes.push(node.shape().to_vec());
        self.nodes.push(node);
        Some(())
    }

    pub fn dtype(&self, i: usize) -> DType {
        self.nodes[i].dtype()
    }
}

/// A random element's bits: small numbers and ordinary ones, now and then what is special.
fn element(dtype: DType, rng: &mut Rng) -> u64 {
    let special = rng.below(40);
    let float = match special {
        0 => 0.0,
        1 => -0.0,
        2 => f64::INFINITY,
        3 if rng.chance(30) => f64::NAN,
        4 => -1e-40,
        5 => 1e30,
        6..20 => rng.below(9) as f64 - 4.0,
        _ => (rng.unit() - 0.5) * 8.0,
    };
    let bits = u64::MAX >> (64 - 8 * dtype.size());
    match (dtype.float(), dtype.category()) {
        (Some(Float::F64), _) => float.to_bits(),
        (Some(Float::F32), _) => (float as f32).to_bits() as u64,
        (Some(Float::F16), _) => f16::from_f64(float).to_bits() as u64,
        (Some(Float::BF16), _) => bf16::from_f64(float).to_bits() as u64,
        (None, Category::Bool) => rng.next() & 1,
        // Wide integers are small but for some: sums and products of the others only wrap.
        (None, _) if dtype.size() < 4 || special == 0 => rng.next() & bits,
        (None, _) => {
            let least = if dtype.is_signed() { -20 } else { 0 };
            (rng.below(41) as i64 + least) as u64 & bits
        }
    }
}

/// Where graphs are computed: what `MG_DEVICE` says, else on the CPU.
pub fn device() -> Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    *DEVICE.get_or_init(|| std::env::var("MG_DEVICE").map_or(Device::cpu(), |name| name.parse().unwrap()))
}

/// The value on that device.
pub fn placed(value: Value) -> Result<Value> {
    if device().is_cpu() {
        Ok(value)
    } else {
        Ok(Value { buffer: value.buffer.to_device(device())?, ..value })
    }
}

fn data(dtype: DType, shape: &[usize], lie: Lie, seed: u64) -> Value {
    let layout = lie_of(shape, lie);
    let n = layout.extent().map_or(0, |(_, last)| last + 1);
    let mut rng = Rng::new(seed);
    // Some sources are ordinary numbers throughout, so that sums are seldom NaN or infinite.
    let plain = rng.chance(60);
    let cells: Vec<u64> = (0..n)
        .map(|_| {
            loop {
                let bits = element(dtype, &mut rng);
                if !plain || is_ordinary(bits, dtype) {
                    break bits;
                }
            }
        })
        .collect();
    let buffer = match (lie, dtype) {
        (Lie::Adopted, DType::F32) => {
            Buffer::from_vec(cells.iter().map(|&c| f32::from_bits(c as u32)).collect())
        }
        (Lie::Adopted, DType::F64) => Buffer::from_vec(cells.iter().map(|&c| f64::from_bits(c)).collect()),
        _ => buffer_of(&cells, dtype),
    };
    Value { buffer, layout }
}

fn is_ordinary(bits: u64, dtype: DType) -> bool {
    let v = match dtype {
        DType::F64 => f64::from_bits(bits),
        DType::F32 => f32::from_bits(bits as u32) as f64,
        DType::F16 => f16::from_bits(bits as u16).to_f64(),
        DType::BF16 => bf16::from_bits(bits as u16).to_f64(),
        _ => return true,
    };
    v.is_finite() && v.abs() < 100.0
}

fn lie_of(dims: &[usize], lie: Lie) -> Layout {
    let shape = Shape::of(dims);
    let dense = Layout::contiguous(shape);
    let rank = dims.len();
    if rank == 0 {
        return dense;
    }
    let made = match lie {
        Lie::Dense | Lie::Adopted => Ok(dense),
        Lie::Offset => Layout::new(shape, dense.strides(), 2),
        Lie::Transposed => {
            let back: Vec<usize> = dims.iter().rev().copied().collect();
            Layout::contiguous(Shape::of(&back)).permute(&(0..rank).rev().collect::<Vec<_>>())
        }
        Lie::Spread => {
            let wide = Layout::contiguous(shape.with(rank - 1, dims[rank - 1] * 2));
            wide.slice(rank - 1, Some(1), None, 2)
        }
        Lie::Backwards => dense.flip(rank - 1),
        Lie::Repeated => Layout::contiguous(shape.with(0, dims[0].min(1))).expand(&shape),
    };
    made.unwrap()
}
