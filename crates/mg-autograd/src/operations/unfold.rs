//! Windows of images laid out as columns, and columns summed into images.

use super::pooling::{Margin, Told};
use crate::tensor::Tensor;
use mg_device::{Error, ErrorKind, Result, Shape};
use mg_graph::{Node, form};
use mg_kernels::library::PoolKind;
use mg_macros::operations;

#[operations(UNFOLDING)]
impl Tensor {
    /// The windows of `kernel_size` of `[n, c, height, width]` (or without `n`) as columns `[n, c · places, windows]`; zeros where they hang over. Windows
    /// are `stride` apart, begin `padding` before the plane, and have steps of `dilation`. (im2col.)
    ///
    /// # Errors
    ///
    /// Another number of axes; windows that do not fit; numbers that are 0.
    #[surface(nn, name = "unfold")]
    pub fn columns(
        &self,
        kernel_size: &[usize],
        #[default(&[1])] dilation: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(&[1])] stride: &[usize],
    ) -> Result<Tensor> {
        form("unfold.Im2ColBackward0");
        let told =
            Told { op: "unfold", axes: 2, kernel: kernel_size, stride, padding, dilation, ceil: false };
        let (x, alone) = told.planes(&self.node())?;
        let pool = told.windows(PoolKind::Unfold, x.shape(), Margin::Any)?;
        let windows = Node::library(pool.into(), &[&x])?;
        let sizes = windows.shape();
        let shape = Shape::new(&[sizes[0], sizes[1] * sizes[2], sizes[3] * sizes[4]])?;
        told.finish(&windows.reshape(shape)?, alone)
    }

    /// Columns `[n, c · places, windows]` (or without `n`) added where the windows of an image of `output_size` lie, as `unfold` has them:
    /// `[n, c, height, width]`. (col2im.)
    ///
    /// # Errors
    ///
    /// Another number of axes, columns or windows than the sizes say; numbers that are 0; integers.
    #[surface(nn)]
    pub fn fold(
        &self,
        output_size: &[usize],
        kernel_size: &[usize],
        #[default(&[1])] dilation: &[usize],
        #[default(&[0])] padding: &[usize],
        #[default(&[1])] stride: &[usize],
    ) -> Result<Tensor> {
        let told = Told { op: "fold", axes: 2, kernel: kernel_size, stride, padding, dilation, ceil: false };
        let x = self.node();
        let rank = x.shape().rank();
        if rank != 2 && rank != 3 {
            return told.fail(format!("takes columns [n, c · places, windows], got shape {}", x.shape()));
        }
        let alone = rank == 2;
        let (height, width) = match *output_size {
            [side] => (side, side),
            [height, width] => (height, width),
            _ => {
                let text = format!("takes an output_size of 2 numbers, got {output_size:?}");
                return Err(Error::new("fold", ErrorKind::Value(text)));
            }
        };
        let x = if alone { x.reshape(x.shape().insert(0, 1))? } else { x };
        let [n, columns, count] = [x.shape()[0], x.shape()[1], x.shape()[2]];
        let pool = told.windows(PoolKind::Fold, &Shape::new(&[n, 1, height, width])?, Margin::Any)?;
        let of = |sizes: [u32; 3]| sizes.map(|n| n as usize);
        let ([_, kh, kw], [_, oh, ow]) = (of(pool.kernel), of(pool.output));
        if !columns.is_multiple_of(kh * kw) || count != oh * ow {
            let text = format!("{columns} columns of {count} windows are not those of {kh} by {kw} places");
            return told.fail(format!("{text} and {oh} by {ow} windows"));
        }
        let windows = x.reshape(Shape::new(&[n, columns / (kh * kw), kh * kw, oh, ow])?)?;
        told.finish(&Node::library(pool.into(), &[&windows])?, alone)
    }
}
