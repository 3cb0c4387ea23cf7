//! Pooling: largest elements and means of windows, and the way back.

use super::wide;
use crate::parts::{comparable, flat_at_zero, restored};
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, same_device};
use mg_kernels::library::{Pool, PoolKind, Share};
use mg_kernels::{Algebra, Row, Rules};
use mg_macros::operations;

/// Axes of a plane.
pub(super) const MOST: usize = 3;

/// What a window is told beside its operand.
#[derive(Clone, Copy)]
pub(super) struct Told<'a> {
    pub(super) op: &'static str,
    pub(super) axes: usize,
    pub(super) kernel: &'a [usize],
    /// The kernel's, where it is empty.
    pub(super) stride: &'a [usize],
    pub(super) padding: &'a [usize],
    pub(super) dilation: &'a [usize],
    pub(super) ceil: bool,
}

impl Told<'_> {
    pub(super) fn fail<T>(&self, text: String) -> Result<T> {
        Err(Error::new(self.op, ErrorKind::Shape(text)))
    }

    /// Numbers for each axis: one for all, or one for each.
    pub(super) fn each(&self, what: &str, given: &[usize], neutral: u32) -> Result<[u32; MOST]> {
        let mut found = [neutral; MOST];
        if given.len() != 1 && given.len() != self.axes {
            let text = format!("takes a {what} of {} numbers, got {given:?}", self.axes);
            return Err(Error::new(self.op, ErrorKind::Value(text)));
        }
        for (i, to) in found[MOST - self.axes..].iter_mut().enumerate() {
            let n = *given.get(i).unwrap_or(&given[0]);
            *to = u32::try_from(n)
                .ok()
                .filter(|&n| n < 1 << 30)
                .ok_or_else(|| Error::new(self.op, ErrorKind::Value(format!("{n} is too large a {what}"))))?;
        }
        Ok(found)
    }

    /// A node with a batch and channels, and whether it came without a batch.
    pub(super) fn planes(&self, x: &Node) -> Result<(Node, bool)> {
        let (rank, wanted) = (x.shape().rank(), self.axes + 2);
        if rank != wanted && rank + 1 != wanted {
            let text = format!("takes {} or {wanted} axes, got shape {}", wanted - 1, x.shape());
            return self.fail(text);
        }
        match rank == wanted {
            true => Ok((x.clone(), false)),
            false => Ok((x.reshape(x.shape().insert(0, 1))?, true)),
        }
    }

    /// A result, without the batch that nobody asked for.
    pub(super) fn finish(&self, y: &Node, alone: bool) -> Result<Tensor> {
        let shape = if alone { y.shape().remove(0) } else { *y.shape() };
        Ok(Tensor::from_node(y.reshape(shape)?))
    }

    /// The windows over planes of a shape `[n, c, …]`.
    pub(super) fn windows(&self, kind: PoolKind, shape: &Shape, most: Margin) -> Result<Pool> {
        let kernel = self.each("kernel_size", self.kernel, 1)?;
        let stride = if self.stride.is_empty() { kernel } else { self.each("stride", self.stride, 1)? };
        let padding = self.each("padding", self.padding, 0)?;
        let dilation = self.each("dilation", self.dilation, 1)?;
        if kernel.iter().chain(&stride).chain(&dilation).any(|&n| n == 0) {
            let text = "kernel_size, stride and dilation are positive".into();
            return Err(Error::new(self.op, ErrorKind::Value(text)));
        }
        let (mut input, mut output) = ([1; MOST], [1; MOST]);
        for axis in 0..self.axes {
            let i = MOST - self.axes + axis;
            let n = shape[2 + axis] as u64;
            let [k, s, p, d] = [kernel[i], stride[i], padding[i], dilation[i]].map(u64::from);
            let spread = d * (k - 1) + 1;
            if most == Margin::Half && p > spread / 2 {
                let text = format!("a padding of {p} is more than half of a window of {spread}");
                return Err(Error::new(self.op, ErrorKind::Value(text)));
            }
            let room = n + 2 * p + if self.ceil { s - 1 } else { 0 };
            let mut count = match room.checked_sub(spread) {
                Some(rest) => rest / s + 1,
                None => 0,
            };
            // No window begins beyond the axis and the margin before it.
            if self.ceil && count > 0 && (count - 1) * s >= n + p {
                count -= 1;
            }
            if n == 0 || count == 0 {
                return self
                    .fail(format!("windows of {spread} do not fit an axis of {n} with a padding of {p}"));
            }
            let fits = |n: u64| u32::try_from(n).ok().filter(|&n| n < 1 << 30);
            match (fits(n), fits(count)) {
                (Some(n), Some(count)) => (input[i], output[i]) = (n, count),
                _ => return self.fail(format!("an axis of {n} elements is too long")),
            }
        }
        Ok(Pool {
            kind,
            axes: self.axes as u8,
            adaptive: false,
            kernel,
            stride,
            padding,
            dilation,
            input,
            output,
            share: Share::Places,
        })
    }

    fn largest(&self, input: &Tensor) -> Result<Tensor> {
        let (x, alone) = self.planes(&input.node())?;
        let pool = self.windows(PoolKind::Max, x.shape(), Margin::Half)?;
        self.finish(&largest(pool, &x)?, alone)
    }

    /// The largest elements, and where they stand in their planes.
    fn largest_and_where(&self, input: &Tensor) -> Result<(Tensor, Tensor)> {
        let (x, alone) = self.planes(&input.node())?;
        let pool = self.windows(PoolKind::Max, x.shape(), Margin::Half)?;
        both(self, pool, &x, alone)
    }

    fn maybe(&self, input: &Tensor, indices: bool) -> Result<(Tensor, Option<Tensor>)> {
        if indices {
            return self.largest_and_where(input).map(|(y, at)| (y, Some(at)));
        }
        Ok((self.largest(input)?, None))
    }

    fn mean(&self, input: &Tensor, margin_counts: bool, divisor: Option<i64>) -> Result<Tensor> {
        let (x, alone) = self.planes(&input.node())?;
        let pool = self.windows(PoolKind::Mean, x.shape(), Margin::Half)?;
        let share = match divisor {
            Some(0) => {
                let text = "a divisor_override is not 0".into();
                return Err(Error::new(self.op, ErrorKind::Value(text)));
            }
            Some(n) => Share::Number(n),
            None if margin_counts => Share::Places,
            None => Share::Elements,
        };
        self.finish(&Node::library(Pool { share, ..pool }.into(), &[&x])?, alone)
    }

    /// The roots of sums of powers.
    fn power(&self, input: &Tensor, p: f64) -> Result<Tensor> {
        if p == 0.0 {
            let text = format!("takes a norm_type that is not 0, got {p}");
            return Err(Error::new(self.op, ErrorKind::Value(text)));
        }
        let (x, alone) = self.planes(&super::float(input))?;
        if p.is_infinite() {
            // What roots of ever higher powers come to, and of ever lower ones.
            let pool = self.windows(PoolKind::Max, x.shape(), Margin::Half)?;
            let magnitudes = x.map(Row::Abs);
            let found = match p > 0.0 {
                true => largest(pool, &magnitudes)?,
                false => largest(pool, &magnitudes.neg())?.neg(),
            };
            return self.finish(&found, alone);
        }
        let x = wide(&x);
        let pool = self.windows(PoolKind::Mean, x.shape(), Margin::Half)?;
        let places: u32 = pool.kernel.iter().product();
        let powers = match p {
            1.0 => x,
            2.0 => x.map(Row::Square),
            p => Node::apply(Row::Pow, &[&x, &x.lit(p)]),
        };
        let sums = Node::library(pool.into(), &[&powers])?.scale(f64::from(places));
        let roots = match p {
            // As of other orders, its slope is 0 where it is 0.
            1.0 => flat_at_zero(&sums, Node::clone),
            p => flat_at_zero(&sums, |s| Node::apply(Row::Pow, &[s, &s.lit(1.0 / p)])),
        };
        self.finish(&roots.cast(super::float(input).dtype()), alone)
    }

    /// Zeros with elements where largest ones stood.
    fn unpooled(&self, input: &Tensor, indices: &Tensor, size: Option<&[usize]>) -> Result<Tensor> {
        let (x, alone) = self.planes(&input.node())?;
        let (at, _) = self.planes(&indices.node())?;
        if at.shape() != x.shape() || at.dtype() != DType::I64 {
            let text = format!("takes i64 indices of shape {}, got {} {}", x.shape(), at.dtype(), at.shape());
            return self.fail(text);
        }
        same_device(self.op, &[&x, &at])?;
        let kernel = self.each("kernel_size", self.kernel, 1)?;
        let stride = if self.stride.is_empty() { kernel } else { self.each("stride", self.stride, 1)? };
        let padding = self.each("padding", self.padding, 0)?;
        let (n, c) = (x.shape()[0], x.shape()[1]);
        let given = match size {
            Some(size) if size.len() == self.axes => Some(size),
            Some(size) if size.len() == self.axes + 2 => Some(&size[2..]),
            Some(size) => {
                let text = format!("takes an output_size of {} numbers, got {size:?}", self.axes);
                return Err(Error::new(self.op, ErrorKind::Value(text)));
            }
            None => None,
        };
        let mut sizes = vec![n, c];
        for axis in 0..self.axes {
            let i = MOST - self.axes + axis;
            let [k, s, p] = [kernel[i], stride[i], padding[i]].map(|n| n as usize);
            let usual = ((x.shape()[2 + axis].max(1) - 1) * s + k).checked_sub(2 * p).filter(|&n| n > 0);
            let Some(usual) = usual else { return self.fail(format!("a padding of {p} leaves nothing")) };
            let wanted = given.map_or(usual, |sizes| sizes[axis]);
            if wanted + s <= usual || wanted >= usual + s {
                let text = format!("an output_size of {wanted} is too far from {usual}");
                return Err(Error::new(self.op, ErrorKind::Value(text)));
            }
            sizes.push(wanted);
        }
        let plane: usize = sizes[2..].iter().product();
        indices.check_indices(self.op, 0, self.axes + 1, plane)?;
        let (planes, count) = (n * c, x.shape()[2..].iter().product());
        let line =
            |node: &Node| Ok::<_, Error>(Tensor::from_node(node.reshape(Shape::new(&[planes, count])?)?));
        let zeros = Tensor::from_node(x.lit(0.0).expand(Shape::new(&[planes, plane])?)?);
        let written = zeros.scatter(1, &line(&at)?, line(&x)?, None)?;
        self.finish(&written.node().reshape(Shape::new(&sizes)?)?, alone)
    }
}

/// How far windows may hang over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Margin {
    /// By half of them.
    Half,
    /// Without a limit.
    Any,
}

/// Elements in the same order, of a dtype whose largest elements are found: integers become i64.
fn in_order(x: &Node) -> Node {
    if x.dtype().is_int() { comparable(x).cast(DType::I64) } else { x.clone() }
}

/// The largest elements.
pub(super) fn largest(pool: Pool, x: &Node) -> Result<Node> {
    Ok(restored(&Node::library(pool.into(), &[&in_order(x)])?, x.dtype()))
}

/// The largest elements, and where they stand in their planes.
pub(super) fn both(told: &Told<'_>, pool: Pool, x: &Node, alone: bool) -> Result<(Tensor, Tensor)> {
    let y = largest(pool, x)?;
    let at = Node::library(Pool { kind: PoolKind::MaxAt, ..pool }.into(), &[&in_order(x)])?;
    Ok((told.finish(&y, alone)?, told.finish(&at, alone)?))
}

/// What is told where windows are shares of the plane.
pub(super) fn alone(op: &'static str, axes: usize) -> Told<'static> {
    Told { op, axes, kernel: &[1], stride: &[1], padding: &[0], dilation: &[1], ceil: false }
}

/// An answer with indices, or without them.
pub(super) fn asked(answer: (Tensor, Tensor), indices: bool) -> (Tensor, Option<Tensor>) {
    (answer.0, indices.then_some(answer.1))
}

macro_rules! plain {
    ($($name:ident $try_name:ident $try_asked:ident $axes:literal;)*) => {
        /// Pooling as Rust calls it; Python's functions may answer with indices, too.
        impl Tensor {
            $(
                #[doc = concat!("The largest element of each window of `kernel_size` over the last ", $axes, " axes; NaN if any is. Windows are `stride`")]
                /// (`kernel_size`, where that is empty) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`;
                /// with `ceil_mode` the last one may hang over. Of equal elements the first has the gradient.
                ///
                /// # Panics
                ///
                /// Where its `try_` twin answers with an error.
                #[track_caller]
                pub fn $name(
                    &self,
                    kernel_size: &[usize],
                    stride: &[usize],
                    padding: &[usize],
                    dilation: &[usize],
                    ceil_mode: bool,
                ) -> Tensor {
                    crate::ops::or_panic(self.$try_name(kernel_size, stride, padding, dilation, ceil_mode))
                }

                #[doc = concat!("As [`Tensor::", stringify!($name), "`].")]
                ///
                /// # Errors
                ///
                /// Another number of axes; windows that do not fit; numbers that are 0; truth values.
                #[track_caller]
                pub fn $try_name(
                    &self,
                    kernel_size: &[usize],
                    stride: &[usize],
                    padding: &[usize],
                    dilation: &[usize],
                    ceil_mode: bool,
                ) -> Result<Tensor> {
                    Ok(self.$try_asked(kernel_size, stride, padding, dilation, ceil_mode, false)?.0)
                }
            )*
        }
    };
}
plain! {
    max_pool1d try_max_pool1d try_max_pool1d_asked "one";
    max_pool2d try_max_pool2d try_max_pool2d_asked "two";
    max_pool3d try_max_pool3d try_max_pool3d_asked "three";
}

#[operations(POOLING)]
impl Tensor {
    /// The largest element of each window of `kernel_size` over `[n, c, length]` (or without `n`); NaN if any is. Windows are `stride`
    /// (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    /// one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    /// gradient goes.
    ///
    /// # Errors
    ///
    /// Another number of axes; windows that do not fit; numbers that are 0; truth values.
    #[doc(hidden)] // Rust says which of the two it asks for by the name
    #[surface(function, nn, name = "max_pool1d", manners(Truth("return_indices")))]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn max_pool1d_asked(
        &self,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(&[1])] dilation: &[usize],
        #[default(false)] ceil_mode: bool,
        #[default(false)] return_indices: bool,
    ) -> Result<(Tensor, Option<Tensor>)> {
        let told = Told {
            op: "max_pool1d",
            axes: 1,
            kernel: kernel_size,
            stride,
            padding,
            dilation,
            ceil: ceil_mode,
        };
        told.maybe(self, return_indices)
    }

    /// `max_pool1d` with its indices.
    ///
    /// # Errors
    ///
    /// As `max_pool1d`.
    #[surface(function, nn)]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn max_pool1d_with_indices(
        &self,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(&[1])] dilation: &[usize],
        #[default(false)] ceil_mode: bool,
    ) -> Result<(Tensor, Tensor)> {
        let told = Told {
            op: "max_pool1d",
            axes: 1,
            kernel: kernel_size,
            stride,
            padding,
            dilation,
            ceil: ceil_mode,
        };
        told.largest_and_where(self)
    }

    /// The largest element of each window of `kernel_size` over `[n, c, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    /// (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    /// one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    /// gradient goes.
    ///
    /// # Errors
    ///
    /// Another number of axes; windows that do not fit; numbers that are 0; truth values.
    #[doc(hidden)] // Rust says which of the two it asks for by the name
    #[surface(function, nn, name = "max_pool2d", manners(Truth("return_indices")))]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn max_pool2d_asked(
        &self,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(&[1])] dilation: &[usize],
        #[default(false)] ceil_mode: bool,
        #[default(false)] return_indices: bool,
    ) -> Result<(Tensor, Option<Tensor>)> {
        let told = Told {
            op: "max_pool2d",
            axes: 2,
            kernel: kernel_size,
            stride,
            padding,
            dilation,
            ceil: ceil_mode,
        };
        told.maybe(self, return_indices)
    }

    /// `max_pool2d` with its indices.
    ///
    /// # Errors
    ///
    /// As `max_pool2d`.
    #[surface(nn)]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn max_pool2d_with_indices(
        &self,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(&[1])] dilation: &[usize],
        #[default(false)] ceil_mode: bool,
    ) -> Result<(Tensor, Tensor)> {
        let told = Told {
            op: "max_pool2d",
            axes: 2,
            kernel: kernel_size,
            stride,
            padding,
            dilation,
            ceil: ceil_mode,
        };
        told.largest_and_where(self)
    }

    /// The largest element of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    /// (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    /// one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    /// gradient goes.
    ///
    /// # Errors
    ///
    /// Another number of axes; windows that do not fit; numbers that are 0; truth values.
    #[doc(hidden)] // Rust says which of the two it asks for by the name
    #[surface(function, nn, name = "max_pool3d", manners(Truth("return_indices")))]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn max_pool3d_asked(
        &self,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(&[1])] dilation: &[usize],
        #[default(false)] ceil_mode: bool,
        #[default(false)] return_indices: bool,
    ) -> Result<(Tensor, Option<Tensor>)> {
        let told = Told {
            op: "max_pool3d",
            axes: 3,
            kernel: kernel_size,
            stride,
            padding,
            dilation,
            ceil: ceil_mode,
        };
        told.maybe(self, return_indices)
    }

    /// `max_pool3d` with its indices.
    ///
    /// # Errors
    ///
    /// As `max_pool3d`.
    #[surface(nn)]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn max_pool3d_with_indices(
        &self,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(&[1])] dilation: &[usize],
        #[default(false)] ceil_mode: bool,
    ) -> Result<(Tensor, Tensor)> {
        let told = Told {
            op: "max_pool3d",
            axes: 3,
            kernel: kernel_size,
            stride,
            padding,
            dilation,
            ceil: ceil_mode,
        };
        told.largest_and_where(self)
    }

    /// The mean of each window of `kernel_size` over `[n, c, length]` (or without `n`). Windows are `stride` (`kernel_size`, where it is not
    /// given) apart and begin `padding` before the plane (at most half a window); with `ceil_mode` the last one may hang over. Zeros of the padding count, unless
    /// `count_include_pad` is false. Half types are added in f32; means of i64 are rounded towards 0.
    ///
    /// # Errors
    ///
    /// Another number of axes; windows that do not fit; numbers that are 0; other integers than i64.
    #[surface(function, nn)]
    pub fn avg_pool1d(
        &self,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(false)] ceil_mode: bool,
        #[default(true)] count_include_pad: bool,
    ) -> Result<Tensor> {
        let told = Told {
            op: "avg_pool1d",
            axes: 1,
            kernel: kernel_size,
            stride,
            padding,
            dilation: &[1],
            ceil: ceil_mode,
        };
        told.mean(self, count_include_pad, None)
    }

    /// The mean of each window of `kernel_size` over `[n, c, height, width]` (or without `n`). Windows are `stride` (`kernel_size`, where it is not
    /// given) apart and begin `padding` before the plane (at most half a window); with `ceil_mode` the last one may hang over. Zeros of the padding count, unless
    /// `count_include_pad` is false. Instead of by their number, sums are divided by `divisor_override` where it is given. Half types are added in f32; means of i64 are rounded towards 0.
    ///
    /// # Errors
    ///
    /// Another number of axes; windows that do not fit; numbers that are 0; other integers than i64.
    #[surface(nn)]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn avg_pool2d(
        &self,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(false)] ceil_mode: bool,
        #[default(true)] count_include_pad: bool,
        #[default(None)] divisor_override: Option<i64>,
    ) -> Result<Tensor> {
        let told = Told {
            op: "avg_pool2d",
            axes: 2,
            kernel: kernel_size,
            stride,
            padding,
            dilation: &[1],
            ceil: ceil_mode,
        };
        told.mean(self, count_include_pad, divisor_override)
    }

    /// The mean of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`). Windows are `stride` (`kernel_size`, where it is not
    /// given) apart and begin `padding` before the plane (at most half a window); with `ceil_mode` the last one may hang over. Zeros of the padding count, unless
    /// `count_include_pad` is false. Instead of by their number, sums are divided by `divisor_override` where it is given. Half types are added in f32; means of i64 are rounded towards 0.
    ///
    /// # Errors
    ///
    /// Another number of axes; windows that do not fit; numbers that are 0; other integers than i64.
    #[surface(nn)]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn avg_pool3d(
        &self,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(false)] ceil_mode: bool,
        #[default(true)] count_include_pad: bool,
        #[default(None)] divisor_override: Option<i64>,
    ) -> Result<Tensor> {
        let told = Told {
            op: "avg_pool3d",
            axes: 3,
            kernel: kernel_size,
            stride,
            padding,
            dilation: &[1],
            ceil: ceil_mode,
        };
        told.mean(self, count_include_pad, divisor_override)
    }

    /// The root of the sum of `norm_type`-th powers of each window over `[n, c, length]` (or without `n`); windows that hang over, with
    /// `ceil_mode`, count as if they were whole. Where the sum is 0, so is the gradient. Of a `norm_type` of ∞ it is the
    /// largest magnitude, of −∞ the least. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Another number of axes; windows that do not fit; numbers that are 0, `norm_type` among them.
    #[surface(nn)]
    pub fn lp_pool1d(
        &self,
        norm_type: f64,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(false)] ceil_mode: bool,
    ) -> Result<Tensor> {
        let told = Told {
            op: "lp_pool1d",
            axes: 1,
            kernel: kernel_size,
            stride,
            padding: &[0],
            dilation: &[1],
            ceil: ceil_mode,
        };
        told.power(self, norm_type)
    }

    /// The root of the sum of `norm_type`-th powers of each window over `[n, c, height, width]` (or without `n`); windows that hang over, with
    /// `ceil_mode`, count as if they were whole. Where the sum is 0, so is the gradient. Of a `norm_type` of ∞ it is the
    /// largest magnitude, of −∞ the least. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Another number of axes; windows that do not fit; numbers that are 0, `norm_type` among them.
    #[surface(nn)]
    pub fn lp_pool2d(
        &self,
        norm_type: f64,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(false)] ceil_mode: bool,
    ) -> Result<Tensor> {
        let told = Told {
            op: "lp_pool2d",
            axes: 2,
            kernel: kernel_size,
            stride,
            padding: &[0],
            dilation: &[1],
            ceil: ceil_mode,
        };
        told.power(self, norm_type)
    }

    /// The root of the sum of `norm_type`-th powers of each window over `[n, c, depth, height, width]` (or without `n`); windows that hang over, with
    /// `ceil_mode`, count as if they were whole. Where the sum is 0, so is the gradient. Of a `norm_type` of ∞ it is the
    /// largest magnitude, of −∞ the least. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Another number of axes; windows that do not fit; numbers that are 0, `norm_type` among them.
    #[surface(nn)]
    pub fn lp_pool3d(
        &self,
        norm_type: f64,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(false)] ceil_mode: bool,
    ) -> Result<Tensor> {
        let told = Told {
            op: "lp_pool3d",
            axes: 3,
            kernel: kernel_size,
            stride,
            padding: &[0],
            dilation: &[1],
            ceil: ceil_mode,
        };
        told.power(self, norm_type)
    }

    /// Zeros with the elements of `[n, c, length]` (or without `n`) where `indices` (i64, of the same shape) say in their plane, the last one where
    /// a place is met more than once: the reverse of `max_pool1d`. The plane is as large as windows of `kernel_size`, `stride` apart and with
    /// `padding`, need it, or `output_size`, which differs from that by less than `stride`.
    ///
    /// # Errors
    ///
    /// Another number of axes; indices of another shape or dtype; an output size that is too far away. An index outside the plane is found when
    /// the value is computed, if not before.
    #[surface(nn, reads)]
    pub fn max_unpool1d(
        &self,
        indices: &Tensor,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(None)] output_size: Option<&[usize]>,
    ) -> Result<Tensor> {
        let told = Told {
            op: "max_unpool1d",
            axes: 1,
            kernel: kernel_size,
            stride,
            padding,
            dilation: &[1],
            ceil: false,
        };
        told.unpooled(self, indices, output_size)
    }

    /// Zeros with the elements of `[n, c, height, width]` (or without `n`) where `indices` (i64, of the same shape) say in their plane, the last one where
    /// a place is met more than once: the reverse of `max_pool2d`. The plane is as large as windows of `kernel_size`, `stride` apart and with
    /// `padding`, need it, or `output_size`, which differs from that by less than `stride`.
    ///
    /// # Errors
    ///
    /// Another number of axes; indices of another shape or dtype; an output size that is too far away. An index outside the plane is found when
    /// the value is computed, if not before.
    #[surface(nn, reads)]
    pub fn max_unpool2d(
        &self,
        indices: &Tensor,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(None)] output_size: Option<&[usize]>,
    ) -> Result<Tensor> {
        let told = Told {
            op: "max_unpool2d",
            axes: 2,
            kernel: kernel_size,
            stride,
            padding,
            dilation: &[1],
            ceil: false,
        };
        told.unpooled(self, indices, output_size)
    }

    /// Zeros with the elements of `[n, c, depth, height, width]` (or without `n`) where `indices` (i64, of the same shape) say in their plane, the last one where
    /// a place is met more than once: the reverse of `max_pool3d`. The plane is as large as windows of `kernel_size`, `stride` apart and with
    /// `padding`, need it, or `output_size`, which differs from that by less than `stride`.
    ///
    /// # Errors
    ///
    /// Another number of axes; indices of another shape or dtype; an output size that is too far away. An index outside the plane is found when
    /// the value is computed, if not before.
    #[surface(nn, reads)]
    pub fn max_unpool3d(
        &self,
        indices: &Tensor,
        kernel_size: &[usize],
        #[default(&[])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(None)] output_size: Option<&[usize]>,
    ) -> Result<Tensor> {
        let told = Told {
            op: "max_unpool3d",
            axes: 3,
            kernel: kernel_size,
            stride,
            padding,
            dilation: &[1],
            ceil: false,
        };
        told.unpooled(self, indices, output_size)
    }
}
