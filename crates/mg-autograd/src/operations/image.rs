//! Images and what is like them: margins, other sizes, channels as pixels.

use super::joining::too_much;
use super::{Tap, blended, wide};
use crate::parts::mean;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Layout, Result, Shape};
use mg_graph::{Node, cell_bits, form};
use mg_kernels::library::Resample;
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;

/// What stands beyond the ends of an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Margin {
    Reflect,
    Replicate,
    Circular,
}

/// An axis with margins of these widths.
fn margin(x: &Node, axis: usize, before: usize, after: usize, kind: Margin) -> Result<Node> {
    let n = x.shape()[axis];
    let most = match kind {
        Margin::Reflect => n.saturating_sub(1),
        Margin::Replicate if n == 0 => 0,
        Margin::Replicate => usize::MAX,
        Margin::Circular => n,
    };
    if before > most || after > most {
        let text = format!(
            "margins of {before} and {after} take more of axis {axis} than there is: its size is {n}"
        );
        return Err(Error::new("pad", ErrorKind::Shape(text)));
    }
    let part = |start: usize, step: isize, len: usize| match len {
        0 => Ok(None),
        _ => x.slice(axis, start, step, len).map(Some),
    };
    let edge = |at: usize, len: usize| match len {
        0 => Ok(None),
        _ => x.slice(axis, at, 1, 1)?.expand(Shape::new(&x.shape().with(axis, len))?).map(Some),
    };
    let (left, right) = match kind {
        Margin::Reflect => (part(before, -1, before)?, part(n.saturating_sub(2), -1, after)?),
        Margin::Replicate => (edge(0, before)?, edge(n.saturating_sub(1), after)?),
        Margin::Circular => (part(n - before, 1, before)?, part(0, 1, after)?),
    };
    let all: Vec<&Node> = [left.as_ref(), Some(x), right.as_ref()].into_iter().flatten().collect();
    Node::concat(&all, axis)
}

/// A vector laid along an axis.
fn along(vector: &Node, axis: usize, rank: usize) -> Result<Node> {
    let n = vector.shape().numel();
    let sizes: Vec<usize> = (0..rank).map(|d| if d == axis { n } else { 1 }).collect();
    vector.reshape(Shape::of(&sizes))
}

/// Positions along an axis by a vector of them, i64.
fn pick(x: &Node, axis: usize, at: &Node) -> Result<Node> {
    let n = at.shape().numel();
    x.gather(axis, &along(at, axis, x.shape().rank())?.expand(Shape::new(&x.shape().with(axis, n))?)?)
}

/// What stands in margins: a number, or elements.
#[derive(Clone, Copy, PartialEq)]
enum Filling {
    Constant(f64),
    Elements(Margin),
}

impl Filling {
    fn of(mode: &str, value: Option<f64>) -> Result<Filling> {
        let fail = |text| Err(Error::new("pad", ErrorKind::Value(text)));
        let kind = match mode {
            "constant" => return Ok(Filling::Constant(value.unwrap_or(0.0))),
            "reflect" => Margin::Reflect,
            "replicate" => Margin::Replicate,
            "circular" => Margin::Circular,
            other => {
                return fail(format!(
                    "a mode is \"constant\", \"reflect\", \"replicate\" or \"circular\", got {other:?}"
                ));
            }
        };
        match value.is_some_and(|v| v != 0.0) {
            true => fail(format!("takes a value for the mode \"constant\", not for {mode:?}")),
            false => Ok(Filling::Elements(kind)),
        }
    }
}

/// How much an axis gets before and after it; what is below zero is taken away.
#[derive(Clone, Copy)]
struct Width {
    axis: usize,
    before: isize,
    after: isize,
}

impl Width {
    /// Those of axes from the last one on.
    fn all(pad: &[isize], sizes: &Shape, filling: Filling) -> Vec<Width> {
        let widths = pad.chunks_exact(2).enumerate().map(|(i, w)| {
            let (axis, before, after) = (sizes.rank() - 1 - i, w[0], w[1]);
            let width = Width { axis, before, after };
            match filling {
                Filling::Elements(Margin::Replicate) => width.that_keeps_an_end(sizes[axis]),
                Filling::Elements(Margin::Reflect | Margin::Circular) | Filling::Constant(_) => width,
            }
        });
        widths.collect()
    }

    /// The same in the end, where an end is repeated: even where all but it is taken away.
    fn that_keeps_an_end(self, size: usize) -> Width {
        let Width { axis, before, after } = self;
        let most = size.saturating_sub(1) as isize;
        let keeps = before.saturating_add(after) > -1 - most && most >= 0;
        if keeps && before < -most && after > 0 {
            Width { axis, before: -most, after: after + before + most }
        } else if keeps && after < -most && before > 0 {
            Width { axis, before: before + after + most, after: -most }
        } else {
            self
        }
    }

    /// Positions that are taken away, and those that there are more.
    fn taken(&self) -> [usize; 2] {
        [self.before, self.after].map(|n| n.min(0).unsigned_abs())
    }

    fn added(&self) -> [usize; 2] {
        [self.before, self.after].map(|n| n.max(0) as usize)
    }

    fn adds(&self) -> bool {
        self.before > 0 || self.after > 0
    }
}

/// What is left where widths take away.
fn shortened(mut x: Node, widths: &[Width]) -> Result<Node> {
    for width in widths {
        let (n, [from, off]) = (x.shape()[width.axis], width.taken());
        let Some(left) = n.checked_sub(from).and_then(|n| n.checked_sub(off)) else {
            let text = format!("takes {from} and {off} away from axis {} of size {n}", width.axis);
            return Err(Error::new("pad", ErrorKind::Shape(text)));
        };
        if left < n {
            x = x.slice(width.axis, from, 1, left)?;
        }
    }
    Ok(x)
}

/// Margins of a number.
fn surrounded(x: &Node, widths: &[Width], value: f64) -> Result<Node> {
    let mut sizes = x.shape().to_vec();
    for width in widths {
        let [before, after] = width.added();
        sizes[width.axis] = sizes[width.axis].saturating_add(before.saturating_add(after));
    }
    let shape = Shape::new(&sizes)?;
    let constant =
        || Node::scalar_bits(cell_bits(value, x.dtype()), x.dtype(), x.device(), false).expand(shape);
    if x.shape().numel() == 0 {
        let margins = constant()?;
        if !x.is_tracked() || !mg_graph::is_tracking() {
            return Ok(margins);
        }
        // The sum of no elements, which has their history.
        let all = (0..x.shape().rank()).fold(0, |m, d| m | 1 << d);
        let nothing = x.reduce(ReduceKind::Sum, all, false)?;
        return Ok(margins.add(&nothing));
    }
    let mut region = Layout::contiguous(shape);
    for width in widths {
        let (start, n) = (width.before.max(0), x.shape()[width.axis] as isize);
        region = region.slice(width.axis, Some(start), Some(start + n), 1)?;
    }
    let base = if value == 0.0 { None } else { Some(constant()?) };
    x.write_into(base.as_ref(), shape, region)
}

/// How an axis gets another size.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Nearest,
    NearestExact,
    Linear,
    Cubic,
    Area,
}

impl Mode {
    fn of(mode: &str, shape: &Shape) -> Result<Mode> {
        let fail = |kind| Err(Error::new("interpolate", kind));
        let (kind, wanted) = match mode {
            "nearest" => (Mode::Nearest, 1..=3),
            "nearest-exact" => (Mode::NearestExact, 1..=3),
            "area" => (Mode::Area, 1..=3),
            "linear" => (Mode::Linear, 1..=1),
            "bilinear" => (Mode::Linear, 2..=2),
            "trilinear" => (Mode::Linear, 3..=3),
            "bicubic" => (Mode::Cubic, 2..=2),
            other => {
                let text = format!(
                    "a mode is \"nearest\", \"nearest-exact\", \"linear\", \"bilinear\", \"trilinear\", \"bicubic\" or \
                     \"area\", got {other:?}"
                );
                return fail(ErrorKind::Value(text));
            }
        };
        match wanted.contains(&shape.rank().saturating_sub(2)) {
            true => Ok(kind),
            false => fail(ErrorKind::Shape(format!("mode {mode:?} does not take shape {shape}"))),
        }
    }
}

/// How pixels between others are found, where they are.
#[derive(Clone, Copy)]
struct Edges {
    /// Whether the outermost pixels' centres stay where they are, and not their outer edges.
    aligned: bool,
    /// Whether what becomes smaller is weighed over all that it covers.
    antialias: bool,
}

impl Edges {
    fn of(mode: &str, kind: Mode, align_corners: Option<bool>, antialias: bool) -> Result<Edges> {
        let fail = |text| Err(Error::new("interpolate", ErrorKind::Value(text)));
        if align_corners.is_some() && !matches!(kind, Mode::Linear | Mode::Cubic) {
            return fail(format!("mode {mode:?} does not take align_corners"));
        }
        if antialias && !matches!(mode, "bilinear" | "bicubic") {
            return fail(format!("antialias is for \"bilinear\" and \"bicubic\", not {mode:?}"));
        }
        Ok(Edges { aligned: align_corners.unwrap_or(false), antialias })
    }
}

/// For each new position an old one (i64), and what it counts there.
type Neighbour = (Node, Node);

/// An axis that gets another size, and how many of its old positions one new one is.
#[derive(Clone, Copy)]
struct Resize {
    axis: usize,
    size: usize,
    scale: f64,
}

impl Resize {
    /// Those of all axes behind the first two: to a size, or by a factor, of which with `recompute` only the sizes count.
    fn all(
        kind: Mode,
        shape: &Shape,
        size: Option<&[usize]>,
        factor: Option<&[f64]>,
        recompute: bool,
    ) -> Result<Vec<Resize>> {
        let fail = |kind| Err(Error::new("interpolate", kind));
        let axes = shape.rank().saturating_sub(2);
        let (sizes, factors) = match (size, factor) {
            (Some(_), None) if recompute => {
                return fail(ErrorKind::Value("recomputes a scale_factor, and none is given".into()));
            }
            (Some(size), None) => (each(size, axes, "size")?, None),
            (None, Some(factor)) => {
                let factors = each(factor, axes, "scale_factor")?;
                let scaled = shape[2..].iter().zip(&factors).map(|(&n, &f)| (n as f64 * f).floor() as usize);
                (scaled.collect(), (!recompute && kind != Mode::Area).then_some(factors))
            }
            (Some(_), Some(_)) | (None, None) => {
                return fail(ErrorKind::Value("takes a size or a scale_factor".into()));
            }
        };
        // Means over windows of which there are none are nothing.
        if sizes.contains(&0) && kind != Mode::Area || shape[1..].contains(&0) {
            return fail(ErrorKind::Shape(format!("shape {shape} cannot become one of sizes {sizes:?}")));
        }
        let resize = |i: usize| {
            let ratio = shape[i + 2] as f64 / sizes[i] as f64;
            let scale = factors.as_ref().map_or(ratio, |f| 1.0 / f[i]);
            Resize { axis: i + 2, size: sizes[i], scale }
        };
        Ok((0..axes).map(resize).collect())
    }

    /// The new positions, in the dtype that positions are computed in.
    fn places(&self, x: &Node) -> Node {
        let dtype = if x.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
        Node::ramp(Shape::of(&[self.size]), x.device()).cast(dtype)
    }

    /// The old positions that new ones stand for, as numbers.
    fn positions(&self, x: &Node, n: usize, aligned: bool, clamped: bool) -> Node {
        let at = self.places(x);
        if aligned {
            let step = if self.size > 1 { (n as f64 - 1.0) / (self.size as f64 - 1.0) } else { 0.0 };
            return at.scale(step);
        }
        let at = at.add(&at.lit(0.5)).scale(self.scale).sub(&at.lit(0.5));
        if clamped { Node::apply(Row::Maximum, &[&at, &at.lit(0.0)]) } else { at }
    }

    /// Positions as indices that are inside of the axis.
    fn inside(at: &Node, n: usize) -> Node {
        let at = at.cast(DType::I64);
        let at = Node::apply(Row::Maximum, &[&at, &at.lit(0.0)]);
        Node::apply(Row::Minimum, &[&at, &at.lit(n as f64 - 1.0)])
    }

    /// The nearest old position.
    fn nearest(&self, x: &Node, exact: bool) -> Result<Node> {
        let n = x.shape()[self.axis];
        // Every so many: a view.
        if self.scale >= 1.0 && self.scale.fract() == 0.0 && self.scale * self.size as f64 <= n as f64 {
            let step = self.scale as usize;
            return x.slice(self.axis, if exact { step / 2 } else { 0 }, step as isize, self.size);
        }
        let at = self.places(x);
        let at = if exact { at.add(&at.lit(0.5)) } else { at };
        // As in PyTorch what is next to a whole number is that: it floors in f32 whatever it has computed in.
        pick(x, self.axis, &Resize::inside(&at.scale(self.scale).cast(DType::F32).map(Row::Floor), n))
    }

    /// A sum of neighbours by weights.
    fn weighed(&self, x: &Node, taps: &[Neighbour]) -> Result<Node> {
        let rank = x.shape().rank();
        let tap = |(at, weight): &Neighbour| {
            let (at, weight) = (along(at, self.axis, rank)?, along(weight, self.axis, rank)?);
            Ok(Tap { at, weight, inside: None })
        };
        let taps = taps.iter().map(tap).collect::<Result<Vec<Tap>>>()?;
        blended(x, self.axis, Shape::new(&x.shape().with(self.axis, self.size))?, &taps)
    }

    /// What each new position is made of.
    fn neighbours(&self, x: &Node, aligned: bool, is_cubic: bool) -> Vec<Neighbour> {
        let all = if is_cubic { self.cubic(x, aligned) } else { self.linear(x, aligned) };
        all.into_iter().map(|(at, weight)| (at, weight.cast(x.dtype()))).collect()
    }

    fn linear(&self, x: &Node, aligned: bool) -> Vec<Neighbour> {
        let n = x.shape()[self.axis];
        let at = self.positions(x, n, aligned, true);
        // All else is said by the first, which is stored: so one launch computes it.
        let first = Resize::inside(&at.map(Row::Floor), n);
        let share = Node::apply(Row::Minimum, &[&at.sub(&first.cast(at.dtype())), &at.lit(1.0)]);
        let next = Resize::inside(&first.add(&first.lit(1.0)), n);
        vec![(first, at.lit(1.0).sub(&share)), (next, share)]
    }

    /// Keys' convolution with a = −0.75 (1981).
    fn cubic(&self, x: &Node, aligned: bool) -> Vec<Neighbour> {
        const A: f64 = -0.75;
        let n = x.shape()[self.axis];
        let at = self.positions(x, n, aligned, false);
        // As where it is linear; but the first may be before the axis.
        let first = Resize::inside(&at.map(Row::Floor), n);
        let past = at.sub(&first.cast(at.dtype()));
        let before = past.lt(&past.lit(0.0));
        let share = before.choose(&past.add(&past.lit(1.0)), &past);
        let floor = first.sub(&before.cast(DType::I64));
        let lit = |v: f64| at.lit(v);
        let near = |t: &Node| t.scale(A + 2.0).sub(&lit(A + 3.0)).mul(t).mul(t).add(&lit(1.0));
        let far =
            |t: &Node| t.scale(A).sub(&lit(5.0 * A)).mul(t).add(&lit(8.0 * A)).mul(t).sub(&lit(4.0 * A));
        let rest = lit(1.0).sub(&share);
        let weights = [far(&share.add(&lit(1.0))), near(&share), near(&rest), far(&rest.add(&lit(1.0)))];
        let place = |(i, w): (usize, Node)| (Resize::inside(&floor.add(&floor.lit(i as f64 - 1.0)), n), w);
        weights.into_iter().enumerate().map(place).collect()
    }

    /// By products with what each element counts for each new one: the kernel is as much wider as pixels become (Keys' with a = −½ where
    /// it is cubic), so that none is left out.
    fn antialiased(&self, x: &Node, aligned: bool, cubic: bool) -> Result<Node> {
        let (n, m) = (x.shape()[self.axis], self.size);
        let scale = match (aligned, m) {
            (true, 1) => 0.0,
            (true, _) => (n as f64 - 1.0) / (m as f64 - 1.0),
            (false, _) => self.scale,
        };
        let kernel = |t: f64| {
            let t = t.abs();
            match cubic {
                false => (1.0 - t).max(0.0),
                true if t < 1.0 => (1.5 * t - 2.5) * t * t + 1.0,
                true if t < 2.0 => ((-0.5 * t + 2.5) * t - 4.0) * t + 2.0,
                true => 0.0,
            }
        };
        let wider = scale.max(1.0);
        let support = wider * if cubic { 2.0 } else { 1.0 };
        let places = n.saturating_mul(m);
        let mut weights: Vec<f64> = vec![];
        weights.try_reserve_exact(places).map_err(|_| too_much("interpolate", places))?;
        weights.resize(places, 0.0);
        for i in 0..m {
            let middle = scale * (i as f64 + 0.5);
            let first = (middle - support + 0.5).max(0.0) as usize;
            let last = ((middle + support + 0.5) as usize).min(n);
            let each: Vec<f64> = (first..last).map(|j| kernel((j as f64 - middle + 0.5) / wider)).collect();
            let total: f64 = each.iter().sum();
            for (j, weight) in (first..last).zip(each) {
                weights[j * m + i] = if total == 0.0 { 0.0 } else { weight / total };
            }
        }
        let weights = Tensor::from_vec(weights, &[n, m])?.to(x.device())?.to_dtype(x.dtype());
        let lines = Tensor::from_node(x.clone()).movedim(&[self.axis as isize], &[-1])?;
        Ok(lines.try_matmul(&weights)?.movedim(&[-1], &[self.axis as isize])?.node())
    }

    /// The means of windows that cover the axis.
    fn area(&self, x: &Node) -> Result<Node> {
        let (n, m, axis) = (x.shape()[self.axis], self.size, self.axis);
        let with = |sizes: &[usize]| {
            let shape = x.shape();
            let all: Vec<usize> =
                shape[..axis].iter().chain(sizes).chain(&shape[axis + 1..]).copied().collect();
            Shape::new(&all)
        };
        let begin = |i: usize| i * n / m;
        let end = |i: usize| ((i + 1) * n).div_ceil(m);
        // More than there is memory for is refused before anybody goes through it.
        let (mut at, mut weights) = (vec![], vec![]);
        let places = m.saturating_mul(n / m + 2);
        let lacks = |_| too_much("interpolate", places);
        at.try_reserve_exact(places).map_err(lacks)?;
        weights.try_reserve_exact(places).map_err(lacks)?;
        let most = (0..m).map(|i| end(i) - begin(i)).max().unwrap_or(1);
        // Window by window, each taken for as long as the longest; what is too much counts 0.
        for i in 0..m {
            for j in 0..most {
                at.push((begin(i) + j).min(n - 1) as i64);
                weights.push(if begin(i) + j < end(i) { 1.0 / (end(i) - begin(i)) as f64 } else { 0.0 });
            }
        }
        let at = Tensor::from_vec(at, &[m * most])?.to(x.device())?.node();
        let weights = Tensor::from_vec(weights, &[m * most])?.to(x.device())?.node().cast(x.dtype());
        let parts = pick(x, axis, &at)?.mul(&along(&weights, axis, x.shape().rank())?);
        parts.reshape(with(&[m, most])?)?.reduce(ReduceKind::Sum, 1 << (axis + 1), false)
    }
}

/// The means of blocks of so many positions along some axes, in one step.
fn blocks(x: &Node, sizes: &[usize]) -> Result<Node> {
    let (mut parts, mut out, mut mask) = (vec![], vec![], 0);
    for (&n, &size) in x.shape().iter().zip(sizes) {
        parts.push(n / size);
        out.push(n / size);
        if size > 1 {
            mask |= 1 << parts.len();
            parts.push(size);
        }
    }
    mean(&x.reshape(Shape::new(&parts)?)?, mask, false)?.reshape(Shape::new(&out)?)
}

/// Every position several times along some axes, in one step.
fn repeated(x: &Node, times: &[usize]) -> Result<Node> {
    let shape = *x.shape();
    let (mut narrow, mut broad, mut out) = (vec![], vec![], vec![]);
    for (&n, &times) in shape.iter().zip(times) {
        narrow.push(n);
        broad.push(n);
        out.push(n * times);
        if times > 1 {
            narrow.push(1);
            broad.push(times);
        }
    }
    x.reshape(Shape::new(&narrow)?)?.expand(Shape::new(&broad)?)?.reshape(Shape::new(&out)?)
}

/// What is said of sizes: one for all axes, or one for each.
fn each<T: Copy>(given: &[T], axes: usize, name: &str) -> Result<Vec<T>> {
    match given {
        [one] => Ok(vec![*one; axes]),
        all if all.len() == axes => Ok(all.to_vec()),
        other => {
            let text = format!("takes one {name} or {axes}, got {}", other.len());
            Err(Error::new("interpolate", ErrorKind::Value(text)))
        }
    }
}

/// Another size of pixels that are each one of the old ones: the nearest.
fn picked(x: &Node, resizes: &[Resize], exact: bool) -> Result<Node> {
    let shape = *x.shape();
    // What is a whole number of times as large is repeated, at once along all such axes.
    let times = |r: &Resize| {
        let n = shape[r.axis];
        let whole = r.size.is_multiple_of(n) && r.scale == n as f64 / r.size as f64;
        if whole { r.size / n } else { 1 }
    };
    let mut x = x.clone();
    for r in resizes.iter().filter(|r| times(r) == 1 && (r.size != shape[r.axis] || r.scale != 1.0)) {
        x = r.nearest(&x, exact)?;
    }
    let all: Vec<usize> = [1, 1].into_iter().chain(resizes.iter().map(times)).collect();
    if all.iter().any(|&t| t > 1) { repeated(&x, &all) } else { Ok(x.copy()) }
}

/// Another size of pixels that are made of several of the old ones.
fn averaged(mut y: Node, mut resizes: Vec<Resize>, kind: Mode, edges: Edges) -> Result<Node> {
    // What becomes smaller first makes less to do for the others.
    resizes.sort_by(|a, b| b.scale.total_cmp(&a.scale));
    if kind == Mode::Area {
        let block = |r: &Resize| match y.shape()[r.axis] {
            n if n.is_multiple_of(r.size) => n / r.size,
            _ => 1,
        };
        let mut sizes = vec![1; y.shape().rank()];
        resizes.iter().for_each(|r| sizes[r.axis] = block(r));
        if sizes.iter().any(|&n| n > 1) {
            y = blocks(&y, &sizes)?;
        }
    }
    let Edges { aligned, antialias } = edges;
    // Lines stay what they are where their size does, whatever the factor, as in PyTorch on processors.
    resizes.retain(|r| {
        let stays = aligned || r.scale == 1.0 || kind == Mode::Area || kind == Mode::Linear && !antialias;
        r.size != y.shape()[r.axis] || !stays
    });
    if matches!(kind, Mode::Linear | Mode::Cubic) && !antialias {
        return between(y, &resizes, aligned, kind == Mode::Cubic);
    }
    for r in &resizes {
        y = match kind {
            Mode::Linear | Mode::Cubic => r.antialiased(&y, aligned, kind == Mode::Cubic)?,
            Mode::Area => r.area(&y)?,
            Mode::Nearest => r.nearest(&y, false)?,
            Mode::NearestExact => r.nearest(&y, true)?,
        };
    }
    Ok(y)
}

/// Another size of pixels that are made of their neighbours: along both of the last axes at once.
fn between(mut y: Node, resizes: &[Resize], aligned: bool, is_cubic: bool) -> Result<Node> {
    let last = y.shape().rank() - 1;
    let mut rest = resizes;
    while let [r, behind @ ..] = rest {
        rest = behind;
        let own = r.neighbours(&y, aligned, is_cubic);
        let Some(next) = behind.first().filter(|next| r.axis.min(next.axis) + 1 == last) else {
            y = r.weighed(&y, &own)?;
            continue;
        };
        rest = &behind[1..];
        let other = next.neighbours(&y, aligned, is_cubic);
        let last_first = r.axis == last;
        let kernel = Resample { taps: own.len() as u8, last_first };
        let lines = if last_first { [other, own] } else { [own, other] };
        let each =
            lines.iter().flat_map(|line| line.iter().map(|tap| &tap.0).chain(line.iter().map(|tap| &tap.1)));
        y = Node::library(kernel.into(), &std::iter::once(&y).chain(each).collect::<Vec<_>>())?;
    }
    Ok(y)
}

/// Channels and the two axes behind them, all before as one: `[batch, channels, height, width]`.
fn pictures(op: &'static str, x: &Node) -> Result<[usize; 4]> {
    let shape = x.shape();
    let rank = shape.rank();
    if rank < 3 {
        let text = format!("takes at least channels, height and width, got shape {shape}");
        return Err(Error::new(op, ErrorKind::Shape(text)));
    }
    let batch = shape[..rank - 3].iter().product();
    Ok([batch, shape[rank - 3], shape[rank - 2], shape[rank - 1]])
}

/// A shape with other sizes in the place of the last three.
fn with_last(shape: &Shape, last: [usize; 3]) -> Result<Shape> {
    let all: Vec<usize> = shape[..shape.rank() - 3].iter().copied().chain(last).collect();
    Shape::new(&all)
}

/// Names of steps back: see [`form`].
const REFLECTIONS: [&str; 3] =
    ["pad.ReflectionPad1DBackward0", "pad.ReflectionPad2DBackward0", "pad.ReflectionPad3DBackward0"];
const REPLICATIONS: [&str; 3] =
    ["pad.ReplicationPad1DBackward0", "pad.ReplicationPad2DBackward0", "pad.ReplicationPad3DBackward0"];

/// The same of `interpolate` along so many axes.
fn upsampling(mode: &str, axes: usize, antialias: bool) -> Option<&'static str> {
    Some(match (mode, axes, antialias) {
        ("nearest", 1, _) => "interpolate.UpsampleNearest1DBackward0",
        ("nearest", 2, _) => "interpolate.UpsampleNearest2DBackward0",
        ("nearest", 3, _) => "interpolate.UpsampleNearest3DBackward0",
        ("nearest-exact", 1, _) => "interpolate.UpsampleNearestExact1DBackward0",
        ("nearest-exact", 2, _) => "interpolate.UpsampleNearestExact2DBackward0",
        ("nearest-exact", 3, _) => "interpolate.UpsampleNearestExact3DBackward0",
        ("linear", ..) => "interpolate.UpsampleLinear1DBackward0",
        ("bilinear", _, false) => "interpolate.UpsampleBilinear2DBackward0",
        ("bilinear", _, true) => "interpolate.UpsampleBilinear2DAaBackward0",
        ("trilinear", ..) => "interpolate.UpsampleTrilinear3DBackward0",
        ("bicubic", _, false) => "interpolate.UpsampleBicubic2DBackward0",
        ("bicubic", _, true) => "interpolate.UpsampleBicubic2DAaBackward0",
        ("area", 2, _) => "interpolate.AdaptiveAvgPool2DBackward0",
        ("area", 3, _) => "interpolate.AdaptiveAvgPool3DBackward0",
        _ => return None,
    })
}

#[operations(IMAGES)]
impl Tensor {
    /// The tensor with margins of one number: `pad` has two widths for each axis, from the last one on; negative ones take away.
    ///
    /// # Errors
    ///
    /// As `pad`.
    #[surface(function)]
    pub fn constant_pad_nd(&self, pad: &[isize], #[default(0.0)] value: f64) -> Result<Tensor> {
        self.try_pad(pad, "constant", Some(value))
    }

    /// With margins, whose widths are given from the last axis on, before and after: `[left, right, top, bottom, …]`. What is in them
    /// says `mode`: "constant" is `value` (0), "reflect" the axis mirrored at its ends, "replicate" its ends, "circular" its other end. A
    /// negative width takes away.
    ///
    /// # Errors
    ///
    /// An odd number of widths, or too many; another mode; margins of elements that are not those of all axes behind one or two; a `value` for another
    /// mode than "constant"; more taken away, mirrored or wrapped than there is.
    #[surface(nn)]
    pub fn pad(
        &self,
        pad: &[isize],
        #[default("constant")] mode: &str,
        #[default(None)] value: Option<f64>,
    ) -> Result<Tensor> {
        let x = self.node();
        if pad.len() % 2 == 1 || pad.len() / 2 > x.shape().rank() {
            let text =
                format!("takes two widths for each axis that gets margins, got {pad:?} for {}", x.shape());
            return Err(Error::new("pad", ErrorKind::Value(text)));
        }
        let filling = Filling::of(mode, value)?;
        // As many axes get margins as lie behind those of examples and channels, of which the first may be missing.
        let (axes, rank) = (pad.len() / 2, x.shape().rank());
        if let Filling::Elements(_) = filling
            && !((1..=3).contains(&axes) && (1..=2).contains(&(rank - axes)))
        {
            let text = format!(
                "in mode {mode:?} takes margins of the last axis of 2 or 3, the last two of 3 or 4, or the last three of 4 or 5; got {pad:?} for {}",
                x.shape()
            );
            return Err(Error::new("pad", ErrorKind::Shape(text)));
        }
        if let Filling::Elements(Margin::Reflect | Margin::Replicate) = filling {
            // An axis in front of the channels may be empty, as in PyTorch.
            let channels = (x.shape().rank() - pad.len() / 2).saturating_sub(1);
            if x.shape().dims()[channels..].contains(&0) {
                let text = format!("takes elements in mode {mode:?}, got shape {}", x.shape());
                return Err(Error::new("pad", ErrorKind::Shape(text)));
            }
        }
        if let (Filling::Elements(_), 1..=3) = (filling, axes) {
            form(match mode {
                "reflect" => REFLECTIONS[axes - 1],
                "replicate" => REPLICATIONS[axes - 1],
                _ => "pad.CopySlices",
            });
        }
        let widths = Width::all(pad, x.shape(), filling);
        let mut x = shortened(x, &widths)?;
        if !widths.iter().any(Width::adds) {
            return Ok(Tensor::from_node(x.copy()));
        }
        match filling {
            Filling::Constant(value) => x = surrounded(&x, &widths, value)?,
            Filling::Elements(kind) => {
                for width in widths.iter().filter(|width| width.adds()) {
                    let [before, after] = width.added();
                    x = margin(&x, width.axis, before, after, kind)?;
                }
            }
        }
        Ok(Tensor::from_node(x))
    }

    /// In another size along the axes behind the first two: `size`, or the old one times `scale_factor`, rounded down; one for all axes
    /// or one for each. `mode` is "nearest", "nearest-exact" (of pixels' centres), "linear" (one axis), "bilinear" (two), "bicubic" (two),
    /// "trilinear" (three) or "area" (means). With `align_corners` the centres of the outermost pixels stay where they are, else their
    /// outer edges. Positions follow from `scale_factor` as it is given, or with `recompute_scale_factor` from the sizes. With `antialias`
    /// (of "bilinear" and "bicubic") what becomes smaller is weighed over all that it covers.
    ///
    /// # Errors
    ///
    /// Both a size and a factor, or neither; sizes for another number of axes; a mode for another number of axes; `align_corners` for a
    /// mode that has none; an axis that is empty, or becomes so in another mode than "area"; integers where numbers are averaged, but u8 in the modes "bilinear" and "bicubic".
    #[surface(nn, manners(Truth("antialias")))]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn interpolate(
        &self,
        #[default(None)] size: Option<&[usize]>,
        #[default(None)] scale_factor: Option<&[f64]>,
        #[default("nearest")] mode: &str,
        #[default(None)] align_corners: Option<bool>,
        #[default(None)] recompute_scale_factor: Option<bool>,
        #[default(false)] antialias: bool,
    ) -> Result<Tensor> {
        let (x, shape) = (self.node(), self.shape());
        let kind = Mode::of(mode, &shape)?;
        let edges = Edges::of(mode, kind, align_corners, antialias)?;
        if let Some(form) = upsampling(mode, shape.rank().wrapping_sub(2), antialias) {
            mg_graph::form(form);
        }
        let recompute = recompute_scale_factor.unwrap_or(false);
        let resizes = Resize::all(kind, &shape, size, scale_factor, recompute)?;
        if matches!(kind, Mode::Nearest | Mode::NearestExact) {
            return Ok(Tensor::from_node(picked(&x, &resizes, kind == Mode::NearestExact)?));
        }
        // Pixels of a byte are averaged as floats, and rounded at the end.
        let is_bytes = self.dtype() == DType::U8 && matches!(mode, "bilinear" | "bicubic");
        if !self.dtype().is_float() && !is_bytes {
            let text = format!("mode {mode:?} takes floats, got {}", self.dtype());
            return Err(Error::new("interpolate", ErrorKind::DType(text)));
        }
        if resizes.iter().any(|r| r.size == 0) {
            let mut sizes = shape.to_vec();
            let mut y = x;
            for r in &resizes {
                sizes[r.axis] = r.size;
                y = if r.size == 0 { y.slice(r.axis, 0, 1, 0)? } else { y };
            }
            return Ok(Tensor::from_node(y.reshape(Shape::new(&sizes)?)?.copy()));
        }
        let mut y = if is_bytes { x.cast(DType::F32) } else { wide(&x) };
        y = averaged(y, resizes, kind, edges)?;
        if is_bytes {
            // To the nearest, of which a conversion takes the whole part; what is beyond a byte becomes its end there.
            y = y.add(&y.lit(0.5)).map(Row::Floor);
        }
        Ok(Tensor::from_node(y.cast(x.dtype())))
    }

    /// `[…, channels · r², height, width]` as `[…, channels, height · r, width · r]`, with `r` the `upscale_factor` (Shi et al., 2016).
    ///
    /// # Errors
    ///
    /// Fewer than three axes; channels that do not part so; a factor of 0.
    #[surface(function, nn)]
    pub fn pixel_shuffle(&self, upscale_factor: usize) -> Result<Tensor> {
        let (x, r) = (self.node(), upscale_factor);
        let [batch, channels, height, width] = pictures("pixel_shuffle", &x)?;
        if r == 0 || !r.checked_mul(r).is_some_and(|square| channels.is_multiple_of(square)) {
            let text = format!("{channels} channels do not part into squares of {r}");
            return Err(Error::new("pixel_shuffle", ErrorKind::Shape(text)));
        }
        let parts = x.reshape(Shape::new(&[batch, channels / (r * r), r, r, height, width])?)?;
        let out = with_last(x.shape(), [channels / (r * r), height * r, width * r])?;
        Ok(Tensor::from_node(parts.permute(&[0, 1, 4, 2, 5, 3])?.reshape(out)?))
    }

    /// `[…, channels, height · r, width · r]` as `[…, channels · r², height, width]`, with `r` the `downscale_factor`.
    ///
    /// # Errors
    ///
    /// Fewer than three axes; height or width that do not part so; a factor of 0.
    #[surface(function, nn)]
    pub fn pixel_unshuffle(&self, downscale_factor: usize) -> Result<Tensor> {
        let (x, r) = (self.node(), downscale_factor);
        let [batch, channels, height, width] = pictures("pixel_unshuffle", &x)?;
        if r == 0 || !height.is_multiple_of(r) || !width.is_multiple_of(r) {
            let text = format!("{height} by {width} do not part into squares of {r}");
            return Err(Error::new("pixel_unshuffle", ErrorKind::Shape(text)));
        }
        let parts = x.reshape(Shape::new(&[batch, channels, height / r, r, width / r, r])?)?;
        let out = with_last(x.shape(), [channels * r * r, height / r, width / r])?;
        Ok(Tensor::from_node(parts.permute(&[0, 1, 3, 5, 2, 4])?.reshape(out)?))
    }

    /// Channels (axis 1) in another order: the first of each of so many groups, then the second of each, … (Zhang et al., 2018).
    ///
    /// # Errors
    ///
    /// Fewer than three axes; channels that do not part into the groups.
    #[surface(function, nn)]
    pub fn channel_shuffle(&self, groups: usize) -> Result<Tensor> {
        let x = self.node();
        let shape = *x.shape();
        if shape.rank() < 3 {
            let text = format!("takes a batch, channels and more, got shape {shape}");
            return Err(Error::new("channel_shuffle", ErrorKind::Shape(text)));
        }
        if groups == 0 || !shape[1].is_multiple_of(groups) {
            let text = format!("{} channels do not part into {groups} groups", shape[1]);
            return Err(Error::new("channel_shuffle", ErrorKind::Shape(text)));
        }
        let inner = shape[2..].iter().product();
        let parts = x.reshape(Shape::new(&[shape[0], groups, shape[1] / groups, inner])?)?;
        Ok(Tensor::from_node(parts.permute(&[0, 2, 1, 3])?.reshape(shape)?))
    }
}
