//! How operations come by factorisations: computed by the device or the host, without a gradient, and given one by [`Known`].

use super::set_aside;
use mg_device::{Device, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, is_tracking};
use mg_kernels::library::known::{Elimination, solved};
use mg_kernels::library::{Demand, Factor, FactorKind, Kernel, Known, Rule};
use mg_kernels::{Algebra, Rules};

pub(super) fn misfit<T>(op: &'static str, text: String) -> Result<T> {
    Err(Error::new(op, ErrorKind::Shape(text)))
}

/// The rows and columns of matrices.
pub(super) fn sides(op: &'static str, shape: &Shape) -> Result<(usize, usize)> {
    match shape.split_last_chunk::<2>() {
        Some((_, &[m, n])) => Ok((m, n)),
        None => misfit(op, format!("takes matrices, got shape {shape}")),
    }
}

/// The size of square matrices.
pub(super) fn square(op: &'static str, shape: &Shape) -> Result<usize> {
    match sides(op, shape)? {
        (m, n) if m == n => Ok(n),
        _ => misfit(op, format!("takes square matrices, got shape {shape}")),
    }
}

/// Whether a gradient of a node may be asked for.
pub(super) fn is_differentiated(x: &Node) -> bool {
    is_tracking() && x.is_tracked()
}

/// A factorisation: its parts, one after the other, on the matrices' own device.
pub(super) struct Factored {
    pub(super) packed: Node,
    shapes: Vec<Shape>,
}

impl Factored {
    /// A part: see [`Factor::parts`].
    pub(super) fn part(&self, at: usize) -> Result<Node> {
        self.part_of(&self.packed, at)
    }

    /// A part of another line of the same parts.
    pub(super) fn part_of(&self, packed: &Node, at: usize) -> Result<Node> {
        let start = self.shapes[..at].iter().map(Shape::numel).sum();
        let axis = packed.shape().rank() - 1;
        let lead = packed.shape().remove(axis);
        let part = packed.slice(axis, start, 1, self.shapes[at].numel())?;
        part.reshape(self.shapes[at].iter().fold(lead, |shape, &n| shape.insert(shape.rank(), n)))
    }

    /// A part that is a number: one for each matrix.
    pub(super) fn number(&self, at: usize) -> Result<Node> {
        let part = self.part(at)?;
        part.reshape(part.shape().remove(part.shape().rank() - 1))
    }
}

/// Factorises. What is refused is an error here, as it is in PyTorch, rather than where somebody looks at a number: so the factorisation
/// is computed now, and waited for. What a CUDA device does not do itself is copied to the host, and the parts back.
pub(super) fn factored(x: &Node, kind: FactorKind, demand: Demand) -> Result<Factored> {
    let found = factored_when_read(x, kind, demand)?;
    let factor = Factor { kind, demand };
    // What stands for many examples is computed, and refused, when they are.
    if factor.checks().any() && !found.packed.is_traced() {
        mg_graph::realize(&[&found.packed])?;
        // What a device finds it tells when it is waited for; of a recording, after it.
        if x.device().is_cuda() && factor.has_cuda(x.shape()) && !mg_graph::is_recording() {
            x.device().synchronize()?;
        }
    }
    Ok(found)
}

/// A factorisation that is computed, and refused, where somebody looks at its numbers.
pub(super) fn factored_when_read(x: &Node, kind: FactorKind, demand: Demand) -> Result<Factored> {
    let factor = Factor { kind, demand };
    set_aside(|| {
        let packed = match x.device().is_cpu() || factor.has_cuda(x.shape()) {
            true => Node::library(factor.into(), &[x])?,
            false => {
                let answer = Node::library(factor.into(), &[&x.to_device(Device::cpu())?])?;
                answer.to_device(x.device())?
            }
        };
        let (m, n) = sides("factor", x.shape())?;
        Ok(Factored { packed, shapes: factor.parts(m, n).into_vec() })
    })
}

/// A value with a gradient by a rule; the value itself, where nobody can ask for one.
pub(super) fn known(rule: Rule, value: &Node, of: &[&Node]) -> Result<Node> {
    if !of.iter().any(|x| is_differentiated(x)) {
        return Ok(value.clone());
    }
    let mut operands: Vec<&Node> = vec![value];
    operands.extend(of);
    Node::library(Known { rule }.into(), &operands)
}

/// An elimination of square matrices, and what it was refused or answers.
pub(super) struct Lu {
    pub(super) factored: Factored,
    pub(super) elimination: Elimination<Node>,
}

/// Parts of [`FactorKind::Lu`].
pub(super) const PIVOTS: usize = 1;
pub(super) const ORDER: usize = 2;
pub(super) const INVERSE: usize = 3;
pub(super) const SIGN: usize = 4;
pub(super) const INFO: usize = 5;

pub(super) fn eliminated(a: &Node, demand: Demand) -> Result<Lu> {
    let factored = factored(a, FactorKind::Lu, demand)?;
    set_aside(|| {
        let index = |at| Ok(factored.part(at)?.cast(mg_device::DType::I64));
        // Read by several triangular systems: once in memory of its own.
        let elimination =
            Elimination { lu: factored.part(0)?.copy(), order: index(ORDER)?, inverse: index(INVERSE)? };
        Ok(Lu { factored, elimination })
    })
}

impl Lu {
    /// `X` with `A X = B`, or `Aᵀ X = B`, with the gradients of both; their batches are the same.
    pub(super) fn solve(&self, a: &Node, b: &Node, transposed: bool) -> Result<Node> {
        let e = &self.elimination;
        let value = set_aside(|| solved(e, b, transposed))?;
        known(Rule::Solve { transposed }, &value, &[a, b, &e.lu, &e.order, &e.inverse])
    }

    /// The first element of `U`'s diagonal that is 0, counted from 1, or 0: i32.
    pub(super) fn info(&self) -> Result<Node> {
        Ok(self.factored.number(INFO)?.cast(mg_device::DType::I32))
    }
}

/// The matrices in the last two axes, transposed.
pub(super) fn transposed(x: &Node) -> Result<Node> {
    let rank = x.shape().rank();
    let mut axes: Vec<usize> = (0..rank).collect();
    axes.swap(rank - 1, rank - 2);
    x.permute(&axes)
}

/// Rows and columns of matrices, counted.
fn positions(x: &Node) -> (Node, Node) {
    let (shape, rank) = (x.shape(), x.shape().rank());
    let line = |dims: [usize; 2]| Node::ramp(Shape::of(&dims), x.device());
    (line([shape[rank - 2], 1]), line([1, shape[rank - 1]]))
}

/// The part above the diagonal, and the diagonal; or that below, and the diagonal.
pub(super) fn triangle(x: &Node, upper: bool) -> Node {
    let (row, column) = positions(x);
    let gone = if upper { column.lt(&row) } else { row.lt(&column) };
    gone.choose(&x.lit(0.0), x)
}

/// The part below the diagonal, with ones on it.
pub(super) fn unit_lower(x: &Node) -> Node {
    let (row, column) = positions(x);
    row.eq(&column).choose(&x.lit(1.0), &triangle(x, false))
}

/// Identity matrices in a shape.
pub(super) fn identity(like: &Node, shape: Shape) -> Result<Node> {
    let rank = shape.rank();
    let line = |dims: [usize; 2]| Node::ramp(Shape::of(&dims), like.device());
    line([shape[rank - 2], 1]).eq(&line([1, shape[rank - 1]])).cast(like.dtype()).expand(shape)
}

/// The diagonals of matrices, as a new last axis: a view.
pub(super) fn diagonal(x: &Node) -> Result<Node> {
    let (shape, rank) = (x.shape(), x.shape().rank());
    x.diagonal([rank - 2, rank - 1], 0, shape[rank - 2].min(shape[rank - 1]))
}

/// `A` and `B` with their batches broadcast; both are matrices.
pub(super) fn together(op: &'static str, a: &Node, b: &Node) -> Result<(Node, Node)> {
    let ((m, n), (o, p)) = (sides(op, a.shape())?, sides(op, b.shape())?);
    if a.dtype() != b.dtype() {
        let text = format!("takes operands of one dtype, got {} and {}", a.dtype(), b.dtype());
        return Err(Error::new(op, ErrorKind::DType(text)));
    }
    let lead = |x: &Node| Shape::of(&x.shape()[..x.shape().rank() - 2]);
    let Some(batch) = Shape::broadcast(&lead(a), &lead(b)) else {
        return misfit(
            op,
            format!("batches of {} and {} cannot be broadcast together", a.shape(), b.shape()),
        );
    };
    let whole = |rows: usize, columns: usize| Shape::new(&[batch.dims(), &[rows, columns]].concat());
    Ok((a.expand(whole(m, n)?)?, b.expand(whole(o, p)?)?))
}
