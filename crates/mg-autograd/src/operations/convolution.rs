//! Convolutions.

use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Layout, Result, Shape};
use mg_graph::Node;
use mg_kernels::library::{Conv, ConvKind, Kernel, Shaped};
use mg_kernels::{Algebra, Rules};
use mg_macros::operations;

/// Numbers for each axis: one for all, or one for each.
fn each(op: &'static str, what: &str, given: &[usize], axes: usize) -> Result<[u32; 3]> {
    let mut found = if what == "padding" { [0; 3] } else { [1; 3] };
    let numbers: Vec<usize> = match given {
        [one] => vec![*one; axes],
        several => several.to_vec(),
    };
    if numbers.len() != axes {
        let text = format!("takes a {what} of {axes} numbers, got {given:?}");
        return Err(Error::new(op, ErrorKind::Value(text)));
    }
    for (to, &n) in found[3 - axes..].iter_mut().zip(&numbers) {
        *to = u32::try_from(n)
            .ok()
            .filter(|&n| n <= i32::MAX as u32)
            .ok_or_else(|| Error::new(op, ErrorKind::Value(format!("{n} is too large a {what}"))))?;
    }
    Ok(found)
}

/// What a convolution is told beside its operands.
struct Told<'a> {
    op: &'static str,
    axes: usize,
    stride: &'a [usize],
    dilation: &'a [usize],
    groups: usize,
}

impl Told<'_> {
    fn fail<T>(&self, text: String) -> Result<T> {
        Err(Error::new(self.op, ErrorKind::Shape(text)))
    }

    /// An input of other channels than a weight is for, of which each group takes some.
    fn no_channels<T>(&self, x: &Node, w: &Node, each: usize, groups: usize) -> Result<T> {
        let axes = ["L", "H, W", "D, H, W"].get(self.axes.wrapping_sub(1)).copied().unwrap_or("…");
        let wanted = each.saturating_mul(groups);
        let of = if groups == 1 { String::new() } else { format!(" = {groups} groups × {each}") };
        let (has, x, w) = (x.shape()[1], x.shape(), w.shape());
        self.fail(format!(
            "takes an input [N, C, {axes}] with C = {wanted}{of} channels for a weight of shape {w}, got shape {x}, with {has}"
        ))
    }

    fn conv(&self, kind: ConvKind, padding: &[usize]) -> Result<Conv> {
        let (op, axes) = (self.op, self.axes);
        let stride = each(op, "stride", self.stride, axes)?;
        let dilation = each(op, "dilation", self.dilation, axes)?;
        if self.stride.contains(&0) || self.dilation.contains(&0) || self.groups == 0 {
            return Err(Error::new(op, ErrorKind::Value("stride, dilation and groups are positive".into())));
        }
        let padding = each(op, "padding", padding, axes)?;
        let groups = u32::try_from(self.groups)
            .map_err(|_| Error::new(op, ErrorKind::Value(format!("{} groups are too many", self.groups))))?;
        Ok(Conv { kind, axes: axes as u8, stride, padding, dilation, groups, sizes: [0; 3] })
    }

    /// Operands of one dtype of numbers, the input with a batch; and whether it came without one.
    fn operands(&self, input: &Tensor, weight: &Tensor) -> Result<(Node, Node, bool)> {
        let (x, w) = (input.node(), weight.node());
        let dtype = DType::promote(x.dtype(), w.dtype());
        if dtype.is_bool() {
            let text = format!("takes numbers, got {} and {}", x.dtype(), w.dtype());
            return Err(Error::new(self.op, ErrorKind::DType(text)));
        }
        let (x, w) = (x.cast(dtype), w.cast(dtype));
        let (rank, wanted) = (x.shape().rank(), self.axes + 2);
        if w.shape().rank() != wanted || rank != wanted && rank + 1 != wanted {
            let (x, w) = (x.shape(), w.shape());
            return self.fail(format!(
                "takes an input of {} or {wanted} axes and a weight of {wanted}, got shapes {x} and {w}",
                wanted - 1
            ));
        }
        if rank == wanted {
            return Ok((x, w, false));
        }
        let batched = x.shape().insert(0, 1);
        Ok((x.reshape(batched)?, w, true))
    }

    /// The result with a bias, and without the batch that nobody asked for.
    fn finish(&self, y: Node, bias: Option<&Tensor>, alone: bool) -> Result<Tensor> {
        let mut y = y;
        if let Some(bias) = bias {
            if bias.dtype().is_float() && !y.dtype().is_float() {
                let text = format!("takes a bias of integers for {}, got {}", y.dtype(), bias.dtype());
                return Err(Error::new(self.op, ErrorKind::DType(text)));
            }
            let bias = bias.node().cast(y.dtype());
            let channels = y.shape()[1];
            if **bias.shape() != [channels] {
                return self.fail(format!("takes a bias of {channels} elements, got shape {}", bias.shape()));
            }
            let mut along = [1; 5];
            along[1] = channels;
            y = y.add(&bias.reshape(Shape::of(&along[..self.axes + 2]))?);
        }
        let shape = if alone { y.shape().remove(0) } else { *y.shape() };
        Ok(Tensor::from_node(y.reshape(shape)?))
    }

    fn forward(
        &self,
        input: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        padding: &[usize],
    ) -> Result<Tensor> {
        let (x, w, alone) = self.operands(input, weight)?;
        if x.shape()[1] != w.shape()[1] * self.groups {
            return self.no_channels(&x, &w, w.shape()[1], self.groups);
        }
        let conv = self.conv(ConvKind::Forward, padding)?;
        if !x.dtype().is_float() {
            shaped(conv, &x, &w)?;
            let y = of_integers(&Tensor::from_node(x), &Tensor::from_node(w), &conv)?;
            return self.finish(y.node(), bias, alone);
        }
        self.finish(Node::library(conv.into(), &[&x, &w])?, bias, alone)
    }

    /// The convolution with padding as it is given.
    fn convolve(
        &self,
        input: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        padding: Padding<'_>,
    ) -> Result<Tensor> {
        match padding {
            Padding::Sizes(padding) => self.forward(input, weight, bias, padding),
            Padding::Word(word) => {
                let (input, padding) = self.padded(input, weight, word)?;
                self.forward(&input, weight, bias, &padding)
            }
        }
    }

    /// The padding that a word stands for, and zeros to be added after the input where both sides differ.
    fn padded(&self, input: &Tensor, weight: &Tensor, word: &str) -> Result<(Tensor, Vec<usize>)> {
        let axes = self.axes;
        match word {
            "valid" => return Ok((input.clone(), vec![0; axes])),
            "same" => {}
            other => {
                let text = format!("padding is \"same\" or \"valid\", got {other:?}");
                return Err(Error::new(self.op, ErrorKind::Value(text)));
            }
        }
        if self.stride.iter().any(|&s| s != 1) {
            let text = "padding \"same\" is for a stride of 1".into();
            return Err(Error::new(self.op, ErrorKind::Value(text)));
        }
        let shape = weight.shape();
        let dilation = each(self.op, "dilation", self.dilation, axes)?;
        let mut node = input.node();
        let mut before = vec![0; axes];
        let lead = node.shape().rank().wrapping_sub(axes);
        for axis in 0..axes {
            let kernel = shape.get(2 + axis).copied().unwrap_or(1);
            let all = dilation[3 - axes + axis] as usize * kernel.saturating_sub(1);
            before[axis] = all / 2;
            if all % 2 == 1 && lead < node.shape().rank() {
                // One zero more after the input.
                let edge = node.lit(0.0).expand(node.shape().with(lead + axis, 1))?;
                node = Node::concat(&[&node, &edge], lead + axis)?;
            }
        }
        Ok((Tensor::from_node(node), before))
    }

    fn transposed(
        &self,
        input: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        padding: &[usize],
        output_padding: &[usize],
    ) -> Result<Tensor> {
        let (y, w, alone) = self.operands(input, weight)?;
        if y.shape()[1] != w.shape()[0] {
            return self.no_channels(&y, &w, w.shape()[0], 1);
        }
        let mut conv = self.conv(ConvKind::Input, padding)?;
        let more = each(self.op, "padding", output_padding, self.axes)?;
        conv.sizes = [1; 3];
        // Positions of the result that no window of a convolution reaches, since they are as many as a stride or more: so many are made
        // by less padding before the axis (and left out again), and behind it, where there is none to take off, as zeros.
        let mut beyond: [(usize, usize); 3] = [(0, 0); 3];
        for (axis, beyond) in beyond[..self.axes].iter_mut().enumerate() {
            let i = 3 - self.axes + axis;
            let (stride, dilation) = (conv.stride[i] as usize, conv.dilation[i] as usize);
            if more[i] as usize >= stride.max(dilation) {
                let text =
                    format!("output_padding {output_padding:?} is not smaller than stride or dilation");
                return Err(Error::new(self.op, ErrorKind::Value(text)));
            }
            let spread = dilation * w.shape()[2 + axis].saturating_sub(1) + 1;
            let whole = (y.shape()[2 + axis].max(1) - 1) * stride + spread + more[i] as usize;
            let size = whole.checked_sub(2 * conv.padding[i] as usize).filter(|&size| size > 0);
            let Some(size) = size else {
                return self.fail(format!("a padding of {padding:?} leaves none of {whole} positions"));
            };
            let reached = (more[i] as usize).min(stride - 1);
            let rest = more[i] - reached as u32;
            let before = rest.min(conv.padding[i]);
            conv.padding[i] -= before;
            *beyond = (before as usize, (rest - before) as usize);
            // What is made: without what is taken off before it, nor the zeros behind it.
            let made = size + before as usize - (rest - before) as usize;
            conv.sizes[i] = match u32::try_from(made) {
                Ok(made) => made,
                Err(_) => return self.fail(format!("a result of {made} positions is too long")),
            };
        }
        let mut x = match y.dtype().is_float() {
            true => Node::library(conv.into(), &[&y, &w])?,
            false => {
                let sizes = shaped(conv, &y, &w)?;
                turned_of_integers(&Tensor::from_node(y), &Tensor::from_node(w), &conv, &sizes)?.node()
            }
        };
        for (axis, &(before, behind)) in beyond[..self.axes].iter().enumerate().map(|(i, b)| (2 + i, b)) {
            let n = x.shape()[axis] - before;
            x = x.slice(axis, before, 1, n)?;
            if behind > 0 {
                let whole = x.shape().with(axis, n + behind);
                let dense = Layout::contiguous(whole);
                let region = Layout::new(*x.shape(), dense.strides(), 0)?;
                x = x.write_into(None, whole, region)?;
            }
        }
        self.finish(x, bias, alone)
    }
}

/// The shape of a convolution's result, whose operands are taken for floats.
fn shaped(conv: Conv, a: &Node, b: &Node) -> Result<Shape> {
    let of = |node: &Node| Shaped { shape: *node.shape(), dtype: DType::F32 };
    Ok(conv.result(&[of(a), of(b)])?.shape)
}

/// A convolution of integers, in their own arithmetic: products with the windows of the input, which are laid beside each other.
fn of_integers(x: &Tensor, w: &Tensor, conv: &Conv) -> Result<Tensor> {
    let (axes, groups) = (usize::from(conv.axes), conv.groups as usize);
    let kernel: Vec<usize> = w.shape()[2..].to_vec();
    let each = |numbers: &[u32; 3], axis: usize| numbers[3 - axes + axis] as usize;
    let margins: Vec<isize> =
        (0..axes).rev().flat_map(|axis| [each(&conv.padding, axis) as isize; 2]).collect();
    let mut windows = x.try_pad(&margins, "constant", None)?;
    for (axis, &places) in kernel.iter().enumerate() {
        let dilation = each(&conv.dilation, axis);
        let spread = dilation * places.saturating_sub(1) + usize::from(places > 0);
        let step = each(&conv.stride, axis);
        windows = windows.unfold(2 + axis as isize, spread, step)?;
        let last = windows.rank() - 1;
        windows = Tensor::from_node(windows.node().slice(last, 0, dilation as isize, places)?);
    }
    // [n, channels, results…, kernel…] as [n, groups, channels · kernel, results].
    let shape = windows.shape();
    let (n, channels, results) = (shape[0], shape[1] / groups, shape[2..2 + axes].to_vec());
    let order = [0, 1].into_iter().chain(2 + axes..2 + 2 * axes).chain(2..2 + axes).map(|axis| axis as isize);
    let windows = windows.permute(&order.collect::<Vec<_>>())?.node();
    let (depth, count) = (channels * kernel.iter().product::<usize>(), results.iter().product::<usize>());
    let windows = windows.reshape(Shape::new(&[n, groups, depth, count])?)?;
    let outputs = w.shape()[0] / groups;
    let weight = w.node().reshape(Shape::new(&[groups, outputs, depth])?)?;
    let products = Tensor::from_node(weight).try_matmul(&Tensor::from_node(windows))?;
    let whole: Vec<usize> = [n, groups * outputs].into_iter().chain(results).collect();
    Ok(Tensor::from_node(products.node().reshape(Shape::new(&whole)?)?))
}

/// The transpose of a convolution of integers, with a result of these sizes: the convolution, with the kernel turned round, of an input
/// with zeros between what the stride leaves apart.
fn turned_of_integers(y: &Tensor, w: &Tensor, conv: &Conv, sizes: &Shape) -> Result<Tensor> {
    let (axes, groups) = (usize::from(conv.axes), conv.groups as usize);
    let each = |numbers: &[u32; 3], axis: usize| numbers[3 - axes + axis] as usize;
    let (mut spaced, mut margins) = (y.node(), vec![]);
    for axis in 0..axes {
        let (at, stride) = (2 + axis, each(&conv.stride, axis));
        let shape = *spaced.shape();
        let n = shape[at];
        let zeros = spaced.lit(0.0).expand(shape.insert(at + 1, stride - 1))?;
        let rows = spaced.reshape(shape.insert(at + 1, 1))?;
        let joined = if stride > 1 { Node::concat(&[&rows, &zeros], at + 1)? } else { rows };
        let length = (n.max(1) - 1) * stride + n.min(1);
        spaced = joined.reshape(shape.with(at, n * stride))?.slice(at, 0, 1, length)?;
        let spread = (each(&conv.dilation, axis) * w.shape()[at].saturating_sub(1)) as isize;
        let before = spread - each(&conv.padding, axis) as isize;
        margins.push([before, (sizes[at] as isize + spread) - before - length as isize]);
    }
    let margins: Vec<isize> = margins.into_iter().rev().flatten().collect();
    let x = Tensor::from_node(spaced).try_pad(&margins, "constant", None)?;
    // [groups · inputs, outputs, kernel…] as [groups · outputs, inputs, kernel…].
    let shape = w.shape();
    let (inputs, outputs) = (shape[0] / groups, shape[1]);
    let kernel: Vec<isize> = (2..2 + axes as isize).collect();
    let turned = w.flip(&kernel)?.node();
    let split: Vec<usize> = [groups, inputs, outputs].into_iter().chain(shape[2..].iter().copied()).collect();
    let swapped = Tensor::from_node(turned.reshape(Shape::new(&split)?)?).transpose(1, 2)?.node();
    let whole: Vec<usize> =
        [groups * outputs, inputs].into_iter().chain(shape[2..].iter().copied()).collect();
    let weight = Tensor::from_node(swapped.reshape(Shape::new(&whole)?)?);
    of_integers(&x, &weight, &Conv { stride: [1; 3], padding: [0; 3], ..*conv })
}

/// Zeros around an input: numbers, or the word for them.
#[derive(Clone, Copy, Debug)]
pub enum Padding<'a> {
    /// So many before and after, for each axis (or one number for all).
    Sizes(&'a [usize]),
    /// `"valid"`: none; `"same"`: as many as leave the size as it is.
    Word(&'a str),
}

impl<'a> From<&'a [usize]> for Padding<'a> {
    fn from(sizes: &'a [usize]) -> Padding<'a> {
        Padding::Sizes(sizes)
    }
}

impl<'a> From<&'a str> for Padding<'a> {
    fn from(word: &'a str) -> Padding<'a> {
        Padding::Word(word)
    }
}

impl<'a, const N: usize> From<&'a [usize; N]> for Padding<'a> {
    fn from(sizes: &'a [usize; N]) -> Padding<'a> {
        Padding::Sizes(sizes)
    }
}

#[operations(CONVOLUTIONS)]
impl Tensor {
    /// The convolution (cross-correlation) of an input `[n, c, l]` (or `[c, l]`) with a weight `[o, c / groups, k]`, plus a bias `[o]`:
    /// `[n, o, (l + 2 padding − dilation (k − 1) − 1) / stride + 1]`. A padding of `"same"` keeps `l`, `"valid"` is none. Products of
    /// f32 are exact; half types are added in f32, integers as such.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, a kernel larger than the padded input, numbers that are not positive, truth values.
    #[surface(function, nn)]
    #[allow(clippy::too_many_arguments)]
    pub fn conv1d(
        &self,
        weight: &Tensor,
        #[default(None)] bias: Option<&Tensor>,
        #[default(&[1])] stride: &[usize],
        #[default(Padding::Sizes(&[0]))] padding: Padding<'_>,
        #[default(&[1])] dilation: &[usize],
        #[default(1)] groups: usize,
    ) -> Result<Tensor> {
        let told = Told { op: "conv1d", axes: 1, stride, dilation, groups };
        told.convolve(self, weight, bias, padding)
    }

    /// The convolution (cross-correlation) of an input `[n, c, h, w]` (or `[c, h, w]`) with a weight `[o, c / groups, kh, kw]`, plus a bias
    /// `[o]`; see [`Tensor::conv1d`] for sizes. Stride, padding and dilation are one number, or one for each axis.
    ///
    /// # Errors
    ///
    /// As [`Tensor::conv1d`].
    #[surface(function, nn)]
    #[allow(clippy::too_many_arguments)]
    pub fn conv2d(
        &self,
        weight: &Tensor,
        #[default(None)] bias: Option<&Tensor>,
        #[default(&[1])] stride: &[usize],
        #[default(Padding::Sizes(&[0]))] padding: Padding<'_>,
        #[default(&[1])] dilation: &[usize],
        #[default(1)] groups: usize,
    ) -> Result<Tensor> {
        let told = Told { op: "conv2d", axes: 2, stride, dilation, groups };
        told.convolve(self, weight, bias, padding)
    }

    /// The convolution (cross-correlation) of an input `[n, c, d, h, w]` (or `[c, d, h, w]`) with a weight `[o, c / groups, kd, kh, kw]`, plus a
    /// bias `[o]`; see [`Tensor::conv1d`] for sizes.
    ///
    /// # Errors
    ///
    /// As [`Tensor::conv1d`].
    #[surface(function, nn)]
    #[allow(clippy::too_many_arguments)]
    pub fn conv3d(
        &self,
        weight: &Tensor,
        #[default(None)] bias: Option<&Tensor>,
        #[default(&[1])] stride: &[usize],
        #[default(Padding::Sizes(&[0]))] padding: Padding<'_>,
        #[default(&[1])] dilation: &[usize],
        #[default(1)] groups: usize,
    ) -> Result<Tensor> {
        let told = Told { op: "conv3d", axes: 3, stride, dilation, groups };
        told.convolve(self, weight, bias, padding)
    }

    /// The transposed convolution of an input `[n, c, l]` (or `[c, l]`) with a weight `[c, o / groups, k]`, plus a bias `[o]`: the gradient of a
    /// convolution by its input, `[n, o, (l − 1) stride − 2 padding + dilation (k − 1) + output_padding + 1]`.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit; an output padding that is not smaller than stride or dilation.
    #[surface(function, nn)]
    #[allow(clippy::too_many_arguments)]
    pub fn conv_transpose1d(
        &self,
        weight: &Tensor,
        #[default(None)] bias: Option<&Tensor>,
        #[default(&[1])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(&[0])] output_padding: &[usize],
        #[default(1)] groups: usize,
        #[default(&[1])] dilation: &[usize],
    ) -> Result<Tensor> {
        let told = Told { op: "conv_transpose1d", axes: 1, stride, dilation, groups };
        told.transposed(self, weight, bias, padding, output_padding)
    }

    /// The transposed convolution of an input `[n, c, h, w]` (or `[c, h, w]`) with a weight `[c, o / groups, kh, kw]`, plus a bias `[o]`; see
    /// [`Tensor::conv_transpose1d`] for sizes.
    ///
    /// # Errors
    ///
    /// As [`Tensor::conv_transpose1d`].
    #[surface(function, nn)]
    #[allow(clippy::too_many_arguments)]
    pub fn conv_transpose2d(
        &self,
        weight: &Tensor,
        #[default(None)] bias: Option<&Tensor>,
        #[default(&[1])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(&[0])] output_padding: &[usize],
        #[default(1)] groups: usize,
        #[default(&[1])] dilation: &[usize],
    ) -> Result<Tensor> {
        let told = Told { op: "conv_transpose2d", axes: 2, stride, dilation, groups };
        told.transposed(self, weight, bias, padding, output_padding)
    }

    /// The transposed convolution of an input `[n, c, d, h, w]` (or `[c, d, h, w]`) with a weight `[c, o / groups, kd, kh, kw]`, plus a bias `[o]`;
    /// see [`Tensor::conv_transpose1d`] for sizes.
    ///
    /// # Errors
    ///
    /// As [`Tensor::conv_transpose1d`].
    #[surface(function, nn)]
    #[allow(clippy::too_many_arguments)]
    pub fn conv_transpose3d(
        &self,
        weight: &Tensor,
        #[default(None)] bias: Option<&Tensor>,
        #[default(&[1])] stride: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(&[0])] output_padding: &[usize],
        #[default(1)] groups: usize,
        #[default(&[1])] dilation: &[usize],
    ) -> Result<Tensor> {
        let told = Told { op: "conv_transpose3d", axes: 3, stride, dilation, groups };
        told.transposed(self, weight, bias, padding, output_padding)
    }
}
