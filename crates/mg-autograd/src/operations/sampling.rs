//! Images read at places that are numbers: grids, and affine maps that make them.

use super::{Tap, blended, wide};
use crate::parts::without_slope;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, same_device};
use mg_kernels::{Algebra, Row, Rules};
use mg_macros::operations;

const OP: &str = "grid_sample";

/// What stands beyond the ends of an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beyond {
    Zeros,
    Border,
    Reflection,
}

/// How what lies between elements is made of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    Linear,
    Nearest,
    Cubic,
}

impl Beyond {
    fn of(padding_mode: &str) -> Result<Beyond> {
        match padding_mode {
            "zeros" => Ok(Beyond::Zeros),
            "border" => Ok(Beyond::Border),
            "reflection" => Ok(Beyond::Reflection),
            other => {
                let text =
                    format!("a padding_mode is \"zeros\", \"border\" or \"reflection\", got {other:?}");
                Err(Error::new(OP, ErrorKind::Value(text)))
            }
        }
    }
}

impl Between {
    fn of(mode: &str) -> Result<Between> {
        match mode {
            "bilinear" => Ok(Between::Linear),
            "nearest" => Ok(Between::Nearest),
            "bicubic" => Ok(Between::Cubic),
            other => {
                let text = format!("a mode is \"bilinear\", \"nearest\" or \"bicubic\", got {other:?}");
                Err(Error::new(OP, ErrorKind::Value(text)))
            }
        }
    }
}

/// An axis, as grids see it.
#[derive(Clone, Copy)]
struct Axis {
    size: usize,
    beyond: Beyond,
    aligned: bool,
}

/// Elements along an axis: their positions (i64, inside), and what each counts, where that is not the same for all; nothing where a position was
/// outside.
struct Along {
    at: Node,
    weight: Option<Node>,
    inside: Option<Node>,
}

impl Axis {
    /// From −1 … 1 to positions.
    fn unnormalized(&self, grid: &Node) -> Node {
        let n = self.size as f64;
        match self.aligned {
            true => grid.add(&grid.lit(1.0)).scale((n - 1.0) / 2.0),
            false => grid.add(&grid.lit(1.0)).scale(n).sub(&grid.lit(1.0)).scale(0.5),
        }
    }

    /// Positions bent back to the axis, where it has no margins of zeros.
    fn bent(&self, at: &Node) -> Node {
        let clip = |at: &Node| {
            // A NaN is taken for 0.
            let low = at.lit(0.0).lt(at).choose(at, &at.lit(0.0));
            // At an end nothing changes with the place.
            let last = at.lit(self.size as f64 - 1.0);
            low.lt(&last).choose(&low, &last)
        };
        match self.beyond {
            Beyond::Zeros => at.clone(),
            Beyond::Border => clip(at),
            Beyond::Reflection => clip(&self.reflected(at)),
        }
    }

    /// Positions mirrored at the ends, which are centres of elements or their edges.
    fn reflected(&self, at: &Node) -> Node {
        let n = self.size as f64;
        let (low, span) = if self.aligned { (0.0, n - 1.0) } else { (-0.5, n) };
        if span == 0.0 {
            return at.scale(0.0);
        }
        let far = at.sub(&at.lit(low)).map(Row::Abs);
        let turns = super::set_aside(|| far.scale(1.0 / span).map(Row::Floor));
        let rest = far.sub(&turns.scale(span));
        let odd = turns.sub(&turns.scale(0.5).map(Row::Floor).scale(2.0)).eq(&at.lit(1.0));
        odd.choose(&rest.lit(span).sub(&rest), &rest).add(&at.lit(low))
    }

    /// Elements at whole positions, with their weights; whether they are there, if some may not be.
    fn tap(&self, at: &Node, weight: Option<Node>, asks: bool) -> Along {
        let last = self.size as f64 - 1.0;
        // What is no number, or far outside, has no integer.
        let inside = Node::apply(
            Row::And,
            &[&Node::apply(Row::Le, &[&at.lit(0.0), at]), &Node::apply(Row::Le, &[at, &at.lit(last)])],
        );
        let kept = inside.choose(at, &at.lit(0.0)).cast(DType::I64);
        Along { at: kept, weight, inside: asks.then_some(inside) }
    }

    fn taps(&self, grid: &Node, between: Between) -> Vec<Along> {
        let at = self.unnormalized(grid);
        let is_open = self.beyond == Beyond::Zeros;
        match between {
            Between::Nearest => {
                let at = self.bent(&at);
                vec![self.tap(&super::set_aside(|| at.map(Row::Round)), None, is_open)]
            }
            Between::Linear => {
                let at = self.bent(&at);
                let floor = super::set_aside(|| at.map(Row::Floor));
                let share = at.sub(&floor);
                let next = floor.add(&at.lit(1.0));
                let rest = share.lit(1.0).sub(&share);
                // Beyond the last element there is none, whatever is beyond the edge.
                vec![self.tap(&floor, Some(rest), true), self.tap(&next, Some(share), true)]
            }
            // Keys' convolution with a = −0.75 (1981).
            Between::Cubic => {
                const A: f64 = -0.75;
                let floor = super::set_aside(|| at.map(Row::Floor));
                let share = at.sub(&floor);
                let lit = |v: f64| share.lit(v);
                let near = |t: &Node| t.scale(A + 2.0).sub(&lit(A + 3.0)).mul(t).mul(t).add(&lit(1.0));
                let far = |t: &Node| {
                    t.scale(A).sub(&lit(5.0 * A)).mul(t).add(&lit(8.0 * A)).mul(t).sub(&lit(4.0 * A))
                };
                let rest = lit(1.0).sub(&share);
                let weights =
                    [far(&share.add(&lit(1.0))), near(&share), near(&rest), far(&rest.add(&lit(1.0)))];
                let places = weights.into_iter().enumerate().map(|(i, weight)| {
                    let place = floor.add(&floor.lit(i as f64 - 1.0));
                    self.tap(&self.bent(&place), Some(weight), is_open)
                });
                places.collect()
            }
        }
    }
}

fn both(a: Option<Node>, b: Option<&Node>, row: Row) -> Option<Node> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Node::apply(row, &[&a, b])),
        (a, b) => a.or_else(|| b.cloned()),
    }
}

/// Refuses images and grids that do not fit each other.
fn fit(x: &Node, grid: &Node) -> Result<()> {
    let fail = |kind| Err(Error::new(OP, kind));
    let (shape, places) = (x.shape(), grid.shape());
    let axes = shape.rank().wrapping_sub(2);
    if !(2..=3).contains(&axes)
        || places.rank() != axes + 2
        || places[0] != shape[0]
        || places[axes + 1] != axes
    {
        let text = format!("images of shape {shape} do not fit a grid of shape {places}");
        return fail(ErrorKind::Shape(text));
    }
    if shape[2..].contains(&0) {
        return fail(ErrorKind::Shape(format!("takes images with elements, got shape {shape}")));
    }
    if !x.dtype().is_float() || grid.dtype() != x.dtype() {
        let text = format!("takes floats of one dtype, got {} and {}", x.dtype(), grid.dtype());
        return fail(ErrorKind::DType(text));
    }
    same_device(OP, &[x, grid]).map(drop)
}

/// All ways to choose one of what there was and an element along one more axis, whose elements lie `stride` apart.
fn crossed(begun: Vec<Along>, taps: &[Along], stride: f64) -> Vec<Along> {
    let mut all = vec![];
    for tap in taps {
        let at = if stride == 1.0 { tap.at.clone() } else { tap.at.scale(stride) };
        if begun.is_empty() {
            all.push(Along { at: at.clone(), weight: tap.weight.clone(), inside: tap.inside.clone() });
        }
        for before in &begun {
            let weight = both(before.weight.clone(), tap.weight.as_ref(), Row::Mul);
            let inside = both(before.inside.clone(), tap.inside.as_ref(), Row::And);
            all.push(Along { at: before.at.add(&at), weight, inside });
        }
    }
    all
}

/// What lines have at places, by their weights.
fn weighed(lines: &Node, all: Vec<Along>, wanted: Shape) -> Result<Node> {
    if let [Along { at, weight: None, inside }] = &all[..] {
        // The nearest one, as it is.
        let part = lines.gather(2, &at.expand(wanted)?)?;
        return Ok(inside.as_ref().map_or(part.clone(), |inside| inside.choose(&part, &part.lit(0.0))));
    }
    let tap = |Along { at, weight, inside }| Some(Tap { at, weight: weight?, inside });
    blended(lines, 2, wanted, &all.into_iter().filter_map(tap).collect::<Vec<Tap>>())
}

#[operations(SAMPLING)]
impl Tensor {
    /// Images `[n, c, height, width]` read at the places of a grid `[n, h, w, 2]`, each an x and a y: −1 … 1 from one edge to the other (from one centre
    /// of an outermost element to the other, with `align_corners`); `[n, c, h, w]`. `mode` says what lies between elements: "bilinear",
    /// "nearest", whose grid has a gradient of 0, or "bicubic"; `padding_mode` what lies beyond them: "zeros", "border" or "reflection". Of images
    /// `[n, c, depth, height, width]` with a grid `[n, d, h, w, 3]` likewise. (Jaderberg et al., 2015.)
    ///
    /// # Errors
    ///
    /// Shapes that do not fit; images without elements; another mode; integers; dtypes that differ; unlike devices.
    #[surface(nn)]
    pub fn grid_sample(
        &self,
        grid: &Tensor,
        #[default("bilinear")] mode: &str,
        #[default("zeros")] padding_mode: &str,
        #[default(None)] align_corners: Option<bool>,
    ) -> Result<Tensor> {
        let between = Between::of(mode)?;
        let beyond = Beyond::of(padding_mode)?;
        let (x, grid) = (self.node(), grid.node());
        fit(&x, &grid)?;
        let (shape, places) = (*x.shape(), *grid.shape());
        let axes = shape.rank() - 2;
        let (n, c) = (shape[0], shape[1]);
        let count: usize = places[1..=axes].iter().product();
        let (image, numbers) = (wide(&x), wide(&grid));
        let line = Shape::new(&[n, 1, count])?;
        let along = |axis| numbers.slice(axes + 1, axis, 1, 1)?.reshape(line);
        // A grid's numbers are of the last axis first.
        let mut all: Vec<Along> = vec![];
        let mut stride = 1.0;
        for axis in 0..axes {
            let size = shape[1 + axes - axis];
            let seen = Axis { size, beyond, aligned: align_corners.unwrap_or(false) };
            all = crossed(all, &seen.taps(&along(axis)?, between), stride);
            stride *= size as f64;
        }
        let plane = shape[2..].iter().product();
        let lines = image.reshape(Shape::new(&[n, c, plane])?)?;
        let wanted = Shape::new(&[n, c, count])?;
        let sum = weighed(&lines, all, wanted)?;
        let sum = match between {
            // Nothing changes with the places, but there are some.
            Between::Nearest => without_slope(&sum, &along(0)?.expand(wanted)?),
            Between::Linear | Between::Cubic => sum,
        };
        let out: Vec<usize> = [n, c].into_iter().chain(places[1..=axes].iter().copied()).collect();
        Ok(Tensor::from_node(sum.cast(x.dtype()).reshape(Shape::new(&out)?)?))
    }

    /// The grid `[n, h, w, 2]` with which `grid_sample` moves images of `size` `[n, c, h, w]` by affine maps `[n, 2, 3]`; or `[n, d, h, w, 3]` of
    /// `[n, c, d, h, w]` by `[n, 3, 4]`. With `align_corners` −1 and 1 are the centres of the outermost elements, else their edges.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit; a size of 0; integers.
    #[surface(nn)]
    pub fn affine_grid(
        &self,
        size: &[usize],
        #[default(None)] align_corners: Option<bool>,
    ) -> Result<Tensor> {
        let op = "affine_grid";
        let theta = self.node();
        let axes = size.len().wrapping_sub(2);
        if !(2..=3).contains(&axes) || **theta.shape() != [size[0], axes, axes + 1] || size.contains(&0) {
            let text = format!("maps of shape {} do not fit images of size {size:?}", theta.shape());
            return Err(Error::new(op, ErrorKind::Shape(text)));
        }
        if !theta.dtype().is_float() {
            return Err(Error::new(op, ErrorKind::DType(format!("takes floats, got {}", theta.dtype()))));
        }
        let maps = wide(&theta);
        let aligned = align_corners.unwrap_or(false);
        // For each result a sum over the axes of its places: [n, …, row of the map].
        let mut sum: Option<Node> = None;
        let rank = axes + 2;
        let column = |k: usize| {
            let mut shape = vec![1; rank];
            (shape[0], shape[rank - 1]) = (size[0], axes);
            maps.slice(2, k, 1, 1)?.reshape(Shape::new(&shape)?)
        };
        for k in 0..axes {
            let n = size[1 + axes - k];
            let ramp = Node::ramp(Shape::of(&[n]), maps.device()).cast(maps.dtype());
            let steps = (n - 1).max(1) as f64;
            let line = ramp.scale(2.0 / steps).sub(&ramp.lit(1.0));
            let line = match (n, aligned) {
                (1, _) => ramp.scale(0.0),
                (_, true) => line,
                (_, false) => line.scale((n as f64 - 1.0) / n as f64),
            };
            let mut shape = vec![1; rank];
            shape[axes - k] = n;
            let part = line.reshape(Shape::new(&shape)?)?.mul(&column(k)?);
            sum = Some(sum.map_or(part.clone(), |s| s.add(&part)));
        }
        let last = column(axes)?;
        let grid = sum.map_or(last.clone(), |s| s.add(&last));
        let out: Vec<usize> = [size[0]].into_iter().chain(size[2..].iter().copied()).chain([axes]).collect();
        Ok(Tensor::from_node(grid.expand(Shape::new(&out)?)?.cast(theta.dtype())))
    }
}
