//! Gradient rules of the nodes that are not rows of the op table. A gradient may be smaller than what it belongs to, if
//! it broadcasts to it: a literal stays a scalar until somebody needs its shape.

use mg_device::{AxisSet, DType, Error, ErrorKind, Layout, MAX_RANK, Result, Shape};
use mg_graph::{Kernel, Map, Node, Op, SourceKind, Sources, View};
use mg_kernels::library::Library;
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use smallvec::SmallVec;

/// Where each source begins in a node that lays them one after the other; empty for other nodes.
pub(crate) type Places = Vec<usize>;

/// The places of a node's sources.
pub(crate) fn places(node: &Node, sources: &Sources) -> Places {
    let Op::Kernel(Kernel::Concat { axis }) = node.op() else { return Places::new() };
    let sizes = sources.iter().map(|source| source.shape()[usize::from(*axis)]);
    let place = |end: &mut usize, size: usize| Some(std::mem::replace(end, *end + size));
    sizes.scan(0, place).collect()
}

/// The gradient of source `i` of a node with these sources, which lie in it at these places, given the node's gradient; `None` where it
/// is zero.
pub(crate) fn vjp(
    node: &Node,
    sources: &Sources,
    i: usize,
    places: &Places,
    g: &Node,
) -> Result<Option<Node>> {
    let source = &sources[i];
    Ok(match node.op() {
        Op::Source(_) | Op::Map(Map::Guard { .. }) => None,
        Op::Map(Map::Copy { .. }) => Some(g.clone()),
        Op::Map(Map::Cast) => Some(g.cast(source.dtype())),
        Op::Map(Map::Row(_)) => match elementwise(node, sources, i, g) {
            // A factor may be f32 where the product is not.
            Some(gradient) => Some(sum_to(&gradient, node.shape(), source.shape())?.cast(source.dtype())),
            None => None,
        },
        Op::View(view) => Some(through_view(node, source, view, g)?),
        Op::Reduce(kind, axes) => through_reduce(node, source, *kind, *axes, g)?,
        Op::Kernel(kernel) => through_kernel(node, sources, i, places, kernel, &g.expand(*node.shape())?)?,
    })
}

/// How an element of an elementwise node depends on that of source `i`, times `g`: before it is summed where the source was broadcast.
/// `None` where it is zero.
pub(crate) fn elementwise(node: &Node, sources: &Sources, i: usize, g: &Node) -> Option<Node> {
    let Op::Map(Map::Row(row)) = node.op() else { return None };
    if let (Row::Pow, 0, Some(0.0)) = (row, i, sources.get(1).and_then(Node::literal)) {
        // One, whatever it is a power of.
        return None;
    }
    if let (Row::Div, 1, Some(number)) = (row, i, sources[0].literal())
        && number != 0.0
    {
        // Of a number divided by a tensor, the quotient is all that it takes.
        let quotient = if number == 1.0 { node.clone() } else { node.scale(1.0 / number) };
        return Some(g.neg().mul(&node.mul(&quotient)));
    }
    if let (Row::Pow, 1, Op::Map(Map::Cast)) = (row, i, sources[0].op())
        && let [number] = &sources[0].sources()[..]
        && matches!(number.op(), Op::Source(SourceKind::Const { .. } | SourceKind::Live { .. }))
    {
        // A number that was rounded to a half type: its logarithm is not.
        return row.vjp(i, &[number.clone(), sources[1].clone()], node, g);
    }
    if *row == Row::Digamma && node.dtype().is_half() {
        // Some twenty steps, of which each would be rounded.
        let wide = |n: &Node| n.cast(DType::F32);
        let slope = row.vjp(i, &[wide(&sources[0])], &wide(node), &wide(g));
        return slope.map(|slope| slope.cast(node.dtype()));
    }
    row.vjp(i, sources, node, g)
}

/// A gradient of something of shape `of`, summed over the axes along which `to` was broadcast to it.
fn sum_to(gradient: &Node, of: &Shape, to: &Shape) -> Result<Node> {
    if of == to {
        return Ok(gradient.clone());
    }
    let lead = of.rank() - to.rank();
    let mut axes = 0;
    for axis in 0..of.rank() {
        if axis < lead || (to[axis - lead] == 1 && of[axis] != 1) {
            axes |= 1 << axis;
        }
    }
    gradient.expand(*of)?.reduce(ReduceKind::Sum, axes, true)?.reshape(*to)
}

/// The gradient of a node that stands for what `was` computed, where that may have had another shape or dtype (`x.data = y`):
/// as one of what was computed.
pub(crate) fn of_what_it_was(gradient: Node, node: &Node, was: &Node) -> Result<Node> {
    let (of, to) = (*node.shape(), *was.shape());
    if of == to {
        return Ok(if gradient.dtype() == was.dtype() { gradient } else { gradient.cast(was.dtype()) });
    }
    if Shape::broadcast(&of, &to) != Some(of) {
        let text =
            format!("a gradient of shape {of} for what was computed as {to}: its data is another's since");
        return Err(Error::new("backward", ErrorKind::Gradient(text)));
    }
    sum_to(&gradient.cast(was.dtype()), &of, &to)
}

fn through_view(node: &Node, source: &Node, view: &View, g: &Node) -> Result<Node> {
    // A scalar is the same seen from anywhere, where every element of the source is seen once.
    if g.shape().rank() == 0 && matches!(view, View::Reshape | View::Permute(_)) {
        return Ok(g.clone());
    }
    let g = g.expand(*node.shape())?;
    match view {
        View::Reshape => g.reshape(*source.shape()),
        View::Permute(axes) => {
            let rank = node.shape().rank();
            let mut inverse = [0usize; mg_device::MAX_RANK];
            for (i, &a) in axes[..rank].iter().enumerate() {
                inverse[a as usize] = i;
            }
            g.permute(&inverse[..rank])
        }
        // An axis the other way round has all of it: what it gets is seen the other way round as well.
        View::Slice { axis, step: -1, .. } if node.shape() == source.shape() => {
            let n = node.shape()[*axis as usize];
            g.slice(*axis as usize, n.saturating_sub(1), -1, n)
        }
        View::Slice { .. } | View::Diagonal { .. } | View::Windows { .. } => {
            let dense = Layout::contiguous(*source.shape());
            put_back(&g, *source.shape(), view.apply(&dense, node.shape()).unwrap_or(dense))
        }
        View::Region(region) => put_back(&g, *source.shape(), **region),
        View::Expand => sum_to(&g, node.shape(), source.shape()),
    }
}

/// Zeros of a shape, with a gradient added where a region of it was seen.
fn put_back(g: &Node, shape: Shape, region: Layout) -> Result<Node> {
    if !region.overlaps() {
        return g.write_into(None, shape, region);
    }
    // What was seen more than once has as many gradients.
    let whole = |n: i64| Node::scalar_bits(n as u64, DType::I64, g.device(), true);
    let (rank, count) = (region.rank(), region.numel());
    let mut at = whole(region.offset() as i64);
    for (axis, (&n, &stride)) in region.shape().iter().zip(region.strides()).enumerate() {
        let line = Node::ramp(Shape::of(&[1; MAX_RANK][..rank]).with(axis, n), g.device());
        at = at.add(&line.mul(&whole(stride as i64)));
    }
    let index = at.expand(*region.shape())?.reshape(Shape::of(&[count]))?;
    let line = g.reshape(Shape::of(&[count]))?;
    line.scatter_add(0, &index, shape.numel())?.reshape(shape)
}

/// A reduced node (or its gradient) with the reduced axes back, of size 1.
fn keep_axes(reduced: &Node, source: &Shape, axes: AxisSet) -> Result<Node> {
    if reduced.shape().rank() == 0 {
        return Ok(reduced.clone());
    }
    let mut shape = *source;
    for axis in 0..source.rank() {
        if axes >> axis & 1 == 1 {
            shape = shape.with(axis, 1);
        }
    }
    reduced.reshape(shape)
}

/// Whether elements are equal, or both NaN.
pub(crate) fn is_same(x: &Node, y: &Node) -> Node {
    let is_nan = |x: &Node| Node::apply(Row::Ne, &[x, x]);
    Node::apply(Row::Or, &[&x.eq(y), &Node::apply(Row::And, &[&is_nan(x), &is_nan(y)])])
}

pub(crate) fn through_reduce(
    node: &Node,
    source: &Node,
    kind: ReduceKind,
    axes: AxisSet,
    g: &Node,
) -> Result<Option<Node>> {
    let g = if g.shape().rank() == 0 { g.clone() } else { g.expand(*node.shape())? };
    let g = keep_axes(&g, source.shape(), axes)?;
    let sum = |n: &Node| n.reduce(ReduceKind::Sum, axes, true);
    Ok(match kind {
        ReduceKind::Sum => Some(g),
        ReduceKind::Max | ReduceKind::Min => {
            // Shared equally among equals, as PyTorch does. Of all elements those that are NaN share it too, where the largest is:
            // PyTorch has it so for max, and NaN for amax.
            let y = keep_axes(node, source.shape(), axes)?;
            let of_all = node.shape().rank() == 0;
            let at = if of_all { is_same(source, &y) } else { source.eq(&y) }.cast(source.dtype());
            let share = g.div(&sum(&at)?);
            Some(at.mul(&share))
        }
        // For a gradient that may be differentiated itself.
        ReduceKind::Prod if mg_graph::is_tracking() => Some(times_the_others(source, axes, &g)?),
        ReduceKind::Prod => {
            // The product of the others, also where an element is zero, in one pass. What it says of zeros is right as
            // a number, but does not depend on them as the product does.
            let (zero, one) = (source.lit(0.0), source.lit(1.0));
            let is_zero = source.eq(&zero);
            let others = is_zero.choose(&one, source);
            let product = others.reduce(ReduceKind::Prod, axes, true)?;
            let zeros = sum(&is_zero.cast(source.dtype()))?;
            let at_zero = zeros.eq(&one).choose(&product, &zero);
            let elsewhere = zeros.eq(&zero).choose(&product, &zero).div(&others);
            Some(g.mul(&is_zero.choose(&at_zero, &elsewhere)))
        }
        ReduceKind::ArgMax | ReduceKind::ArgMin => None,
    })
}

/// `g` times, for each element, the product of all others along some axes: by multiplication alone, so that it has
/// gradients of any order where elements are zero.
///
/// Products of pairs, of pairs of these and so on go up a tree, and on the way down each one of a pair meets the other's
/// product: the reverse mode of a pairwise product, in O(n) memory and 2 log n steps.
fn times_the_others(x: &Node, axes: AxisSet, g: &Node) -> Result<Node> {
    if x.shape().numel() == 0 {
        return Ok(x.lit(0.0));
    }
    // What a kernel gives stays in memory, where a map of maps would be recomputed at each step from its leaves.
    let stored = |parts: &[&Node]| Node::concat(parts, 0);
    let rank = x.shape().rank();
    let reduced = |axis: &usize| axes >> axis & 1 == 1;
    let mut order: SmallVec<[usize; 8]> = (0..rank).filter(reduced).collect();
    let split = order.len();
    order.extend((0..rank).filter(|axis| !reduced(axis)));
    let front = x.permute(&order)?;
    let shape = *front.shape();
    let (n, rest) = shape.split_at(split);
    let (mut n, rest) = (n.iter().product::<usize>(), rest.iter().product());
    let mut line = front.reshape(Shape::of(&[n, rest]))?;
    if !front.is(x) {
        line = stored(&[&line])?;
    }
    let mut levels = vec![];
    while n > 1 {
        let half = n / 2;
        let products = line.slice(0, 0, 1, half)?.mul(&line.slice(0, half, 1, half)?);
        let next = match n % 2 {
            0 => stored(&[&products])?,
            _ => stored(&[&products, &line.slice(0, n - 1, 1, 1)?])?,
        };
        levels.push((std::mem::replace(&mut line, next), n));
        n -= half;
    }
    let kept =
        (0..rank).fold(*x.shape(), |shape, axis| if reduced(&axis) { shape.with(axis, 1) } else { shape });
    let mut others = g.expand(kept)?.reshape(Shape::of(&[1, rest]))?;
    while let Some((line, n)) = levels.pop() {
        let half = n / 2;
        let pairs = line.slice(0, 0, 1, 2 * half)?.reshape(Shape::of(&[2, half, rest]))?;
        let above = others.slice(0, 0, 1, half)?.reshape(Shape::of(&[1, half, rest]))?;
        let each = pairs.slice(0, 1, -1, 2)?.mul(&above).reshape(Shape::of(&[2 * half, rest]))?;
        others = match n % 2 {
            0 => each,
            _ => stored(&[&each, &others.slice(0, half, 1, 1)?])?,
        };
    }
    let mut back = order.clone();
    order.iter().enumerate().for_each(|(at, &axis)| back[axis] = at);
    others.reshape(shape)?.permute(&back)
}

fn through_kernel(
    node: &Node,
    sources: &Sources,
    i: usize,
    places: &Places,
    kernel: &Kernel,
    g: &Node,
) -> Result<Option<Node>> {
    let source = &sources[i];
    Ok(match (kernel, i) {
        (Kernel::Write { region }, 0) => Some(g.region(**region)?),
        (Kernel::Write { region }, _) => {
            let zero = source.lit(0.0).expand(*region.shape())?;
            Some(zero.write_into(Some(g), *node.shape(), **region)?)
        }
        (Kernel::Concat { axis }, _) => {
            let axis = *axis as usize;
            Some(g.slice(axis, places[i], 1, source.shape()[axis])?)
        }
        (Kernel::Transfer, _) => Some(g.to_device(source.device())?),
        (Kernel::Library(library), _) => through_library(node, sources, i, library, g)?,
    })
}

/// The gradient of a library kernel's operand, which may be differentiated itself where gradients are recorded.
pub(crate) fn through_library(
    node: &Node,
    sources: &Sources,
    i: usize,
    library: &Library,
    g: &Node,
) -> Result<Option<Node>> {
    if let (Library::Attention(attention), true) = (library, mg_graph::is_tracking()) {
        return crate::operations::differentiable_vjp(attention, sources, i, g);
    }
    if let Library::Surprise(surprise) = library {
        return crate::operations::differentiable_surprise(surprise, node, sources, i, g);
    }
    library.vjp(i, sources, node, g)
}

/// Adds two gradients of one node.
pub(crate) fn add(a: &Node, b: &Node) -> Node {
    Node::apply(Row::Add, &[a, b])
}
