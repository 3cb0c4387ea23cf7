//! Pooling by shares: so many results, whatever the size of the input; and by windows of random size.

use super::pooling::{MOST, Told, alone, asked, both, largest};
use super::wide;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, same_device};
use mg_kernels::library::{Pool, PoolKind, Share};
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;

/// Shares of the planes of `[n, c, …]`, so many along each axis; as many as there are elements where nothing is said.
fn shares(told: &Told<'_>, kind: PoolKind, shape: &Shape, sizes: &[Option<usize>]) -> Result<Pool> {
    let axes = told.axes;
    if sizes.len() != 1 && sizes.len() != axes {
        let text = format!("takes an output_size of {axes} numbers, got {}", sizes.len());
        return Err(Error::new(told.op, ErrorKind::Value(text)));
    }
    let (mut input, mut output) = ([1; MOST], [1; MOST]);
    for axis in 0..axes {
        let (i, n) = (MOST - axes + axis, shape[2 + axis]);
        let wanted = sizes.get(axis).unwrap_or(&sizes[0]).unwrap_or(n);
        if n == 0 {
            return told.fail(format!("takes planes with elements, got shape {shape}"));
        }
        let fits = |n: usize| u32::try_from(n).ok().filter(|&n| n < 1 << 30);
        match (fits(n), fits(wanted)) {
            (Some(n), Some(wanted)) => (input[i], output[i]) = (n, wanted),
            _ => return told.fail(format!("{n} elements and {wanted} shares of them are too many")),
        }
    }
    let ones = [1; MOST];
    // Shares that are all as large are windows beside each other.
    let even = input.iter().zip(&output).all(|(n, &count)| count > 0 && n % count == 0);
    let each = if even { std::array::from_fn(|i| input[i] / output[i]) } else { ones };
    Ok(Pool {
        kind,
        axes: axes as u8,
        adaptive: !even,
        kernel: each,
        stride: each,
        padding: [0; MOST],
        dilation: ones,
        input,
        output,
        share: Share::Elements,
    })
}

fn adaptive_mean(op: &'static str, axes: usize, input: &Tensor, sizes: &[Option<usize>]) -> Result<Tensor> {
    let told = alone(op, axes);
    let (x, single) = told.planes(&input.node())?;
    if !x.dtype().is_float() {
        return Err(Error::new(op, ErrorKind::DType(format!("takes floats, got {}", x.dtype()))));
    }
    let pool = shares(&told, PoolKind::Mean, x.shape(), sizes)?;
    // One share, all of it, is a mean like others.
    if pool.output == [1; MOST] {
        let rank = x.shape().rank();
        let mask = (2..rank).fold(0, |m, d| m | 1 << d);
        return told.finish(&crate::parts::mean(&x, mask, true)?, single);
    }
    told.finish(&Node::library(pool.into(), &[&x])?, single)
}

fn adaptive_largest(
    op: &'static str,
    axes: usize,
    input: &Tensor,
    sizes: &[Option<usize>],
    indices: bool,
) -> Result<(Tensor, Option<Tensor>)> {
    let told = alone(op, axes);
    let (x, single) = told.planes(&input.node())?;
    let pool = shares(&told, PoolKind::Max, x.shape(), sizes)?;
    if indices {
        return both(&told, pool, &x, single).map(|(y, at)| (y, Some(at)));
    }
    Ok((told.finish(&largest(pool, &x)?, single)?, None))
}

/// How many windows that begin at random there are along each axis: so many, or so much of the axis.
fn counts(
    told: &Told<'_>,
    size: Option<&[usize]>,
    ratio: Option<&[f64]>,
    planes: &[usize],
) -> Result<Vec<usize>> {
    let axes = told.axes;
    let bad = |text: String| Err(Error::new(told.op, ErrorKind::Value(text)));
    let all = |given: usize| given == 1 || given == axes;
    match (size, ratio) {
        (Some(size), None) if all(size.len()) => {
            Ok((0..axes).map(|i| *size.get(i).unwrap_or(&size[0])).collect())
        }
        (None, Some(ratio)) if all(ratio.len()) => {
            let ratios: Vec<f64> = (0..axes).map(|i| *ratio.get(i).unwrap_or(&ratio[0])).collect();
            if ratios.iter().any(|r| !(0.0..1.0).contains(r) || *r == 0.0) {
                return bad(format!("an output_ratio is between 0 and 1, got {ratios:?}"));
            }
            Ok(ratios.iter().zip(planes).map(|(r, &n)| (n as f64 * r) as usize).collect())
        }
        _ => bad(format!("takes an output_size or an output_ratio, of {axes} numbers")),
    }
}

/// What says where windows begin, a number for each plane and axis: what is given, or what is drawn.
fn drawn(told: &Told<'_>, x: &Node, samples: Option<&Tensor>) -> Result<Node> {
    let (n, c, axes) = (x.shape()[0], x.shape()[1], told.axes);
    let samples = match samples {
        Some(samples) => {
            if *samples.shape() != [n, c, axes] || !samples.dtype().is_float() {
                let text = format!("takes samples of shape [{n}, {c}, {axes}], got {}", samples.shape());
                return told.fail(text);
            }
            samples.node()
        }
        None => super::noise(x, Shape::new(&[n, c, axes])?, x.dtype())?,
    };
    same_device(told.op, &[x, &samples])?;
    Ok(samples)
}

/// Where so many windows of `k` elements of an axis begin, by the sample of each plane.
fn beginnings(sample: &Node, size: usize, k: usize, windows: usize) -> Node {
    let step = if windows > 1 { (size - k) as f64 / (windows - 1) as f64 } else { 0.0 };
    let along = Node::ramp(Shape::of(&[windows]), sample.device());
    let floor = |v: &Node| v.map(Row::Floor).cast(DType::I64);
    let begin = floor(&along.cast(sample.dtype()).add(sample).scale(step)).sub(&floor(&sample.scale(step)));
    let last = along.eq(&along.lit(windows as f64 - 1.0));
    last.choose(&begin.lit((size - k) as f64), &begin)
}

/// The elements of all windows, as places in their plane: `[n, c, windows along each axis …, elements of one along each …]`.
fn elements(
    told: &Told<'_>,
    shape: &Shape,
    windows: &[usize],
    kernels: &[u32],
    samples: &Node,
) -> Result<Node> {
    let axes = told.axes;
    let of_axis = |lead: [usize; 2], axis: usize, n: usize| {
        let mut dims = lead.to_vec();
        dims.extend((0..2 * axes).map(|d| if d == axis { n } else { 1 }));
        Shape::new(&dims)
    };
    // Along each axis where windows begin, and from there their elements: sums of these are places in the plane.
    let mut at: Option<Node> = None;
    for (axis, (&count, &k)) in windows.iter().zip(kernels).enumerate() {
        let (size, k) = (shape[2 + axis], k as usize);
        if count == 0 || k == 0 || count + k - 1 > size {
            return told.fail(format!("{count} windows of {k} do not fit an axis of {size}"));
        }
        // PyTorch draws for the last axis first where there are two.
        let sample = if axes == 2 { axes - 1 - axis } else { axis };
        let begin = beginnings(&wide(&samples.slice(2, sample, 1, 1)?), size, k, count);
        let begin = begin.reshape(of_axis([shape[0], shape[1]], axis, count)?)?;
        let within = Node::ramp(Shape::of(&[k]), samples.device());
        let within = within.reshape(of_axis([1, 1], axes + axis, k)?)?;
        let stride: usize = shape[3 + axis..].iter().product();
        let part = begin.add(&within).mul(&begin.lit(stride as f64));
        at = Some(at.map_or(part.clone(), |at| at.add(&part)));
    }
    at.map_or_else(|| told.fail("takes planes".into()), Ok)
}

/// Windows that begin at random (Graham, 2014): the largest elements, and where they stand in their planes.
fn fractional(
    op: &'static str,
    axes: usize,
    input: &Tensor,
    kernel: &[usize],
    size: Option<&[usize]>,
    ratio: Option<&[f64]>,
    samples: Option<&Tensor>,
) -> Result<(Tensor, Tensor)> {
    let told = Told { kernel, ..alone(op, axes) };
    let (x, single) = told.planes(&input.node())?;
    let shape = *x.shape();
    if !x.dtype().is_float() {
        return Err(Error::new(op, ErrorKind::DType(format!("takes floats, got {}", x.dtype()))));
    }
    let sizes = counts(&told, size, ratio, &shape[2..])?;
    let kernels = told.each("kernel_size", kernel, 1)?;
    let samples = drawn(&told, &x, samples)?;
    let at = elements(&told, &shape, &sizes, &kernels[MOST - axes..], &samples)?;
    let count: usize = sizes.iter().product();
    let places = at.shape()[2 + axes..].iter().product();
    let (planes, plane) = (shape[0] * shape[1], shape[2..].iter().product());
    let at = at.reshape(Shape::new(&[planes, count * places])?)?;
    let line = x.reshape(Shape::new(&[planes, plane])?)?;
    let windows = Shape::new(&[planes, count, places])?;
    let found = Tensor::from_node(line.gather(1, &at)?.reshape(windows)?);
    let (y, which) = match found.numel() {
        0 => {
            let empty = Shape::new(&[planes, count, 1])?;
            let nothing = x.reshape(Shape::of(&[shape.numel()]))?.slice(0, 0, 1, 0)?;
            (Tensor::from_node(nothing.reshape(empty)?), Tensor::from_node(at.lit(0.0).expand(empty)?))
        }
        _ => {
            let which = Tensor::from_node(found.node().reduce(ReduceKind::ArgMax, 1 << 2, true)?);
            (Tensor::from_node(found.node().gather(2, &which.node())?), which)
        }
    };
    let at = at.reshape(windows)?.gather(2, &which.node())?;
    let out: Vec<usize> = shape[..2].iter().copied().chain(sizes).collect();
    let out = Shape::new(&out)?;
    Ok((told.finish(&y.node().reshape(out)?, single)?, told.finish(&at.reshape(out)?, single)?))
}

/// The methods of Rust, which say by their names what they answer with; Python's functions have an argument for that.
macro_rules! named {
    ($(
        $(#[doc = $doc:literal])+
        $try_asked:ident: $name:ident $try_name:ident $with:ident $try_with:ident ($($argument:ident: $Kind:ty),*) ($($before:ident),*; $($behind:ident),*);
    )*) => {
        /// Pooling as Rust calls it.
        #[allow(clippy::too_many_arguments)] // PyTorch's
        impl Tensor {
            $(
                $(#[doc = $doc])+
                ///
                /// # Panics
                ///
                /// Where its `try_` twin answers with an error.
                #[track_caller]
                pub fn $name(&self $(, $argument: $Kind)*) -> Tensor {
                    crate::ops::or_panic(self.$try_name($($argument),*))
                }

                #[doc = concat!("As [`Tensor::", stringify!($name), "`].")]
                ///
                /// # Errors
                ///
                /// Another number of axes; what does not fit the planes.
                #[track_caller]
                pub fn $try_name(&self $(, $argument: $Kind)*) -> Result<Tensor> {
                    Ok(self.$try_asked($($before,)* false $(, $behind)*)?.0)
                }

                #[doc = concat!("[`Tensor::", stringify!($name), "`], and where the elements stand in their planes (i64): of equal ones the first.")]
                ///
                /// # Panics
                ///
                /// Where its `try_` twin answers with an error.
                #[track_caller]
                pub fn $with(&self $(, $argument: $Kind)*) -> (Tensor, Tensor) {
                    crate::ops::or_panic(self.$try_with($($argument),*))
                }

                #[doc = concat!("As [`Tensor::", stringify!($with), "`].")]
                ///
                /// # Errors
                ///
                #[doc = concat!("Those of [`Tensor::", stringify!($try_name), "`].")]
                #[track_caller]
                pub fn $try_with(&self $(, $argument: $Kind)*) -> Result<(Tensor, Tensor)> {
                    let (largest, places) = self.$try_asked($($before,)* true $(, $behind)*)?;
                    let none = || Error::new(stringify!($with), ErrorKind::Internal("no indices".into()));
                    Ok((largest, places.ok_or_else(none)?))
                }
            )*
        }
    };
}
named! {
    /// The largest element of each of `output_size` shares of `[n, c, length]` (or without `n`), as [`Tensor::adaptive_avg_pool1d`] has them.
    try_adaptive_max_pool1d_asked:
    adaptive_max_pool1d try_adaptive_max_pool1d adaptive_max_pool1d_with_indices try_adaptive_max_pool1d_with_indices
    (output_size: &[Option<usize>]) (output_size;);

    /// The largest element of each of `output_size` shares of `[n, c, height, width]` (or without `n`), as [`Tensor::adaptive_avg_pool2d`] has them.
    try_adaptive_max_pool2d_asked:
    adaptive_max_pool2d try_adaptive_max_pool2d adaptive_max_pool2d_with_indices try_adaptive_max_pool2d_with_indices
    (output_size: &[Option<usize>]) (output_size;);

    /// The largest element of each of `output_size` shares of `[n, c, depth, height, width]` (or without `n`), as [`Tensor::adaptive_avg_pool3d`] has them.
    try_adaptive_max_pool3d_asked:
    adaptive_max_pool3d try_adaptive_max_pool3d adaptive_max_pool3d_with_indices try_adaptive_max_pool3d_with_indices
    (output_size: &[Option<usize>]) (output_size;);

    /// The largest elements of `output_size` windows of `kernel_size` over `[n, c, height, width]` (or without `n`), which begin at random, about as
    /// far from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. `random_samples` `[n, c, 2]`, in
    /// [0, 1), are what is drawn.
    try_fractional_max_pool2d_asked:
    fractional_max_pool2d try_fractional_max_pool2d fractional_max_pool2d_with_indices try_fractional_max_pool2d_with_indices
    (kernel_size: &[usize], output_size: Option<&[usize]>, output_ratio: Option<&[f64]>, random_samples: Option<&Tensor>)
    (kernel_size, output_size, output_ratio; random_samples);

    /// The largest elements of `output_size` windows of `kernel_size` over `[n, c, depth, height, width]` (or without `n`), which begin at random,
    /// about as far from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. `random_samples`
    /// `[n, c, 3]`, in [0, 1), are what is drawn.
    try_fractional_max_pool3d_asked:
    fractional_max_pool3d try_fractional_max_pool3d fractional_max_pool3d_with_indices try_fractional_max_pool3d_with_indices
    (kernel_size: &[usize], output_size: Option<&[usize]>, output_ratio: Option<&[f64]>, random_samples: Option<&Tensor>)
    (kernel_size, output_size, output_ratio; random_samples);
}

#[operations(ADAPTIVE_POOLING)]
impl Tensor {
    /// The mean of each of `output_size` shares of `[n, c, length]` (or without `n`): shares of an axis of `l` elements begin at `⌊i l / size⌋` and
    /// end before `⌈(i + 1) l / size⌉`. Where a size is None, it is the input's.
    ///
    /// # Errors
    ///
    /// Another number of axes; planes without elements; integers.
    #[surface(function, nn)]
    pub fn adaptive_avg_pool1d(&self, output_size: &[Option<usize>]) -> Result<Tensor> {
        adaptive_mean("adaptive_avg_pool1d", 1, self, output_size)
    }

    /// The largest element of each of `output_size` shares of `[n, c, length]` (or without `n`), as `adaptive_avg_pool1d` has them; with
    /// `return_indices` also where it stands in its plane (i64): of equal ones the first.
    ///
    /// # Errors
    ///
    /// Another number of axes; planes without elements; truth values.
    #[doc(hidden)] // Rust says which of the two it asks for by the name
    #[surface(nn, name = "adaptive_max_pool1d", manners(Truth("return_indices")))]
    pub fn adaptive_max_pool1d_asked(
        &self,
        output_size: &[Option<usize>],
        #[default(false)] return_indices: bool,
    ) -> Result<(Tensor, Option<Tensor>)> {
        adaptive_largest("adaptive_max_pool1d", 1, self, output_size, return_indices)
    }

    /// The mean of each of `output_size` shares of `[n, c, height, width]` (or without `n`): shares of an axis of `l` elements begin at `⌊i l / size⌋` and
    /// end before `⌈(i + 1) l / size⌉`. Where a size is None, it is the input's.
    ///
    /// # Errors
    ///
    /// Another number of axes; planes without elements; integers.
    #[surface(nn)]
    pub fn adaptive_avg_pool2d(&self, output_size: &[Option<usize>]) -> Result<Tensor> {
        adaptive_mean("adaptive_avg_pool2d", 2, self, output_size)
    }

    /// The largest element of each of `output_size` shares of `[n, c, height, width]` (or without `n`), as `adaptive_avg_pool2d` has them; with
    /// `return_indices` also where it stands in its plane (i64): of equal ones the first.
    ///
    /// # Errors
    ///
    /// Another number of axes; planes without elements; truth values.
    #[doc(hidden)] // Rust says which of the two it asks for by the name
    #[surface(nn, name = "adaptive_max_pool2d", manners(Truth("return_indices")))]
    pub fn adaptive_max_pool2d_asked(
        &self,
        output_size: &[Option<usize>],
        #[default(false)] return_indices: bool,
    ) -> Result<(Tensor, Option<Tensor>)> {
        adaptive_largest("adaptive_max_pool2d", 2, self, output_size, return_indices)
    }

    /// The mean of each of `output_size` shares of `[n, c, depth, height, width]` (or without `n`): shares of an axis of `l` elements begin at `⌊i l / size⌋` and
    /// end before `⌈(i + 1) l / size⌉`. Where a size is None, it is the input's.
    ///
    /// # Errors
    ///
    /// Another number of axes; planes without elements; integers.
    #[surface(nn)]
    pub fn adaptive_avg_pool3d(&self, output_size: &[Option<usize>]) -> Result<Tensor> {
        adaptive_mean("adaptive_avg_pool3d", 3, self, output_size)
    }

    /// The largest element of each of `output_size` shares of `[n, c, depth, height, width]` (or without `n`), as `adaptive_avg_pool3d` has them; with
    /// `return_indices` also where it stands in its plane (i64): of equal ones the first.
    ///
    /// # Errors
    ///
    /// Another number of axes; planes without elements; truth values.
    #[doc(hidden)] // Rust says which of the two it asks for by the name
    #[surface(nn, name = "adaptive_max_pool3d", manners(Truth("return_indices")))]
    pub fn adaptive_max_pool3d_asked(
        &self,
        output_size: &[Option<usize>],
        #[default(false)] return_indices: bool,
    ) -> Result<(Tensor, Option<Tensor>)> {
        adaptive_largest("adaptive_max_pool3d", 3, self, output_size, return_indices)
    }

    /// The largest elements of `output_size` windows of `kernel_size` over `[n, c, height, width]` (or without `n`), which begin at random, about as far
    /// from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. With `return_indices` also where they stand
    /// in their plane (i64). `_random_samples` `[n, c, 2]`, in [0, 1), are what is drawn.
    ///
    /// # Errors
    ///
    /// Another number of axes; windows that do not fit; both a size and a ratio, or none; integers.
    #[doc(hidden)] // Rust says which of the two it asks for by the name
    #[surface(nn, name = "fractional_max_pool2d", manners(Truth("return_indices")))]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn fractional_max_pool2d_asked(
        &self,
        kernel_size: &[usize],
        #[default(None)] output_size: Option<&[usize]>,
        #[default(None)] output_ratio: Option<&[f64]>,
        #[default(false)] return_indices: bool,
        #[default(None)] _random_samples: Option<&Tensor>,
    ) -> Result<(Tensor, Option<Tensor>)> {
        let (size, ratio, samples) = (output_size, output_ratio, _random_samples);
        let answer = fractional("fractional_max_pool2d", 2, self, kernel_size, size, ratio, samples)?;
        Ok(asked(answer, return_indices))
    }

    /// The largest elements of `output_size` windows of `kernel_size` over `[n, c, depth, height, width]` (or without `n`), which begin at random, about as far
    /// from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. With `return_indices` also where they stand
    /// in their plane (i64). `_random_samples` `[n, c, 3]`, in [0, 1), are what is drawn.
    ///
    /// # Errors
    ///
    /// Another number of axes; windows that do not fit; both a size and a ratio, or none; integers.
    #[doc(hidden)] // Rust says which of the two it asks for by the name
    #[surface(nn, name = "fractional_max_pool3d", manners(Truth("return_indices")))]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn fractional_max_pool3d_asked(
        &self,
        kernel_size: &[usize],
        #[default(None)] output_size: Option<&[usize]>,
        #[default(None)] output_ratio: Option<&[f64]>,
        #[default(false)] return_indices: bool,
        #[default(None)] _random_samples: Option<&Tensor>,
    ) -> Result<(Tensor, Option<Tensor>)> {
        let (size, ratio, samples) = (output_size, output_ratio, _random_samples);
        let answer = fractional("fractional_max_pool3d", 3, self, kernel_size, size, ratio, samples)?;
        Ok(asked(answer, return_indices))
    }
}
