//! Operations that are composed of others, by family. Each is declared once: see [`crate::surface`].

mod activation;
mod adaptive;
mod attention;
mod bessel;
mod convolution;
mod creation;
mod ctc;
mod diagonal;
mod distance;
mod dropout;
mod einsum;
mod elementwise;
mod factorization;
mod factors;
mod heads;
mod histogram;
mod image;
mod indexing;
mod joining;
mod laws;
mod layer;
mod linear_algebra;
mod lobpcg;
mod loss;
mod matrix_function;
mod movement;
mod normalization;
mod polynomial;
mod pooling;
mod recurrent;
mod reduction;
mod rotary;
mod sampling;
mod scaled;
mod scan;
mod search;
mod segment;
mod sort;
mod special;
mod surprise;
mod system;
mod unfold;
mod window;

pub(crate) use activation::ACTIVATIONS;
pub(crate) use adaptive::ADAPTIVE_POOLING;
pub(crate) use attention::{ATTENTION, PACKED_ATTENTION, differentiable_vjp};
pub(crate) use bessel::BESSEL;
pub(crate) use convolution::CONVOLUTIONS;
pub use convolution::Padding;
pub(crate) use creation::{CREATION, between};
pub(crate) use ctc::CTC;
pub(crate) use diagonal::DIAGONALS;
pub(crate) use distance::DISTANCES;
pub(crate) use dropout::DROPOUTS;
pub(crate) use elementwise::ELEMENTWISE;
pub(crate) use factorization::FACTORIZATIONS;
pub(crate) use heads::HEADS;
pub(crate) use histogram::HISTOGRAMS;
pub(crate) use image::IMAGES;
pub(crate) use indexing::INDEXING;
pub(crate) use joining::JOINING;
pub(crate) use laws::LAWS;
pub(crate) use layer::LAYERS;
pub(crate) use linear_algebra::LINEAR_ALGEBRA;
pub(crate) use lobpcg::LOBPCG;
pub(crate) use loss::LOSSES;
pub(crate) use matrix_function::MATRIX_FUNCTIONS;
pub(crate) use movement::{MOVEMENT, PLAIN_MOVEMENT, bounds};
pub(crate) use normalization::NORMALIZATIONS;
pub(crate) use polynomial::POLYNOMIALS;
pub(crate) use pooling::POOLING;
pub(crate) use recurrent::RECURRENT;
pub(crate) use reduction::REDUCTIONS;
pub(crate) use rotary::ROTARY;
pub(crate) use sampling::SAMPLING;
pub use scaled::ScaledMm;
pub(crate) use scan::SCANS;
pub(crate) use search::SEARCHES;
pub(crate) use segment::SEGMENTS;
pub(crate) use sort::SORTS;
pub(crate) use special::SPECIAL;
pub(crate) use surprise::differentiable_surprise;
pub(crate) use system::LINEAR_SYSTEMS;
pub(crate) use unfold::UNFOLDING;
pub(crate) use window::WINDOWS;

use crate::creation::drawn_in;
use crate::default_device::with_default_device;
use crate::gradient::no_grad;
use crate::ops::kind;
use crate::parts::{all_axes, axis_mask, wide};
use crate::tensor::Tensor;
use crate::tensor::memory::untracked;
use mg_device::{DType, Error, ErrorKind, Result, Shape, normalize_axis};
use mg_graph::{Kernel, Node, Op, same_device};
use mg_kernels::library::{Blend, Known, Library, Rule};
use mg_kernels::{Algebra, Rules};

/// A float node: integers become the default float.
pub(crate) fn float(t: &Tensor) -> Node {
    let node = t.node();
    let dtype = if node.dtype().is_float() { node.dtype() } else { DType::default_float() };
    node.cast(dtype)
}

/// An axis, from the end where it is negative. A tensor without axes is taken to have one.
pub(crate) fn axis_of(dim: isize, rank: usize) -> Result<usize> {
    normalize_axis(dim, rank.max(1))
}

/// Signed sizes, as views take them.
pub(crate) fn signed(sizes: &[usize]) -> Vec<isize> {
    sizes.iter().map(|&n| n as isize).collect()
}

/// A float node in a dtype that is asked for, which is one of floats.
fn float_as(op: &'static str, t: &Tensor, dtype: Option<DType>) -> Result<Node> {
    match dtype {
        None => Ok(float(t)),
        Some(dtype) if dtype.is_float() => Ok(t.node().cast(dtype)),
        Some(other) => {
            let text = format!("answers with floats: takes a floating-point dtype, got {other}");
            Err(Error::new(op, ErrorKind::DType(text)))
        }
    }
}

/// What a kernel has made whose gradient has none itself, or none that holds everywhere, made of operations which have derivatives of any order; `None`
/// for what was made otherwise.
pub(crate) fn of_operations(node: &Node) -> Result<Option<Node>> {
    match node.op() {
        &Op::Kernel(Kernel::Library(Library::Recurrent(of))) => recurrent::of_operations(of, &node.sources()),
        &Op::Kernel(Kernel::Library(Library::Ctc(of))) => ctc::of_operations(of, &node.sources()),
        &Op::Kernel(Kernel::Library(Library::Known(Known { rule: Rule::Det }))) => {
            system::det_of_operations(&node.sources())
        }
        Op::Source(_) | Op::Map(_) | Op::View(_) | Op::Reduce(..) | Op::Kernel(_) => Ok(None),
    }
}

/// A value, with the slopes of another one that is as large but for rounding, and finite.
fn with_slopes_of(value: &Node, other: &Node) -> Node {
    untracked(value).add(&other.sub(&untracked(other)))
}

/// What is made without a gradient of its own.
fn set_aside<T>(f: impl FnOnce() -> T) -> T {
    let _guard = no_grad();
    f()
}

/// Elements along an axis: where they stand (i64, inside of it), what each counts, and whether it is there at all.
struct Tap {
    at: Node,
    weight: Node,
    inside: Option<Node>,
}

/// The sum of some elements along an axis for each place of a shape, to which all that is said of them is broadcast.
fn blended(x: &Node, axis: usize, shape: Shape, taps: &[Tap]) -> Result<Node> {
    let mut sum: Option<Node> = None;
    for some in taps.chunks(Blend::MOST) {
        let asks = some.iter().any(|tap| tap.inside.is_some());
        let ats = some.iter().map(|tap| &tap.at);
        let all = ats
            .chain(some.iter().map(|tap| &tap.weight))
            .chain(some.iter().filter_map(|tap| tap.inside.as_ref()));
        let behind = all.map(|node| node.expand(shape)).collect::<Result<Vec<Node>>>()?;
        let operands: Vec<&Node> = std::iter::once(x).chain(&behind).collect();
        // Whether all lines have the same.
        let line =
            some.iter().all(|tap| [&tap.at, &tap.weight].iter().all(|of| of.shape().numel() == shape[axis]));
        let kernel = Blend { axis: axis as u8, taps: some.len() as u8, asks, line };
        let part = Node::library(kernel.into(), &operands)?;
        sum = Some(sum.map_or(part.clone(), |s| s.add(&part)));
    }
    sum.map_or_else(|| x.lit(0.0).expand(shape), Ok)
}

/// Uniform random numbers in [0, 1) in a node's shape, f64 beside f64 and else f32.
fn with_noise(x: &Node) -> Result<Node> {
    noise(x, *x.shape(), drawn_in(x.dtype()))
}

/// Uniform random numbers in [0, 1) on a node's device.
fn noise(x: &Node, shape: Shape, dtype: DType) -> Result<Node> {
    Ok(with_default_device(x.device(), || Tensor::rand(&shape, dtype))??.node())
}

/// Two operands as floats of one dtype whose shapes broadcast.
fn meet(op: &'static str, a: &Tensor, b: &Tensor) -> Result<(Node, Node)> {
    let (a, b) = (a.node(), b.node());
    let dtype = DType::met(op, [kind(&a), kind(&b)])?;
    let dtype = if dtype.is_float() { dtype } else { DType::default_float() };
    if Shape::broadcast(a.shape(), b.shape()).is_none() {
        let text = format!("shapes {} and {} cannot be broadcast together", a.shape(), b.shape());
        return Err(Error::new(op, ErrorKind::Shape(text)));
    }
    same_device(op, &[&a, &b])?;
    Ok((a.cast(dtype), b.cast(dtype)))
}
