//! Products of floats of eight bits, which numbers stand beside that they were divided by.

use crate::caller::public;
use crate::gradient::is_grad_enabled;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, same_device};
use mg_kernels::Rules;
use mg_kernels::library::Scaled;

const NAME: &str = "scaled_mm";

/// What stands beside a [scaled product](Tensor::scaled_mm).
#[derive(Clone, Copy, Default, Debug)]
pub struct ScaledMm<'a> {
    /// Added to each row of the product: `[n]`, of f32, f16 or bf16.
    pub bias: Option<&'a Tensor>,
    /// What a result of floats of eight bits is multiplied by before it is rounded: one f32. Of another result nothing is asked of it, as in
    /// PyTorch.
    pub scale_result: Option<&'a Tensor>,
    /// The result's dtype: f32, f16, bf16 or a float of eight bits; by itself the first operand's.
    pub out_dtype: Option<DType>,
    /// Whether sums may have fewer bits than f32 has, as tensor cores of capability 9.0 add them up. Else theirs are added up in f32, every 128
    /// products.
    pub use_fast_accum: bool,
}

fn refused<T>(kind: fn(String) -> ErrorKind, text: String) -> Result<T> {
    Err(Error::new(NAME, kind(text)))
}

impl Tensor {
    /// `(self · scale_a) @ (other · scale_b) + bias`, of matrices `[m, k]` and `[k, n]` of floats of eight bits. They are multiplied and added up
    /// in f32, and rounded once, to the result's dtype.
    ///
    /// The scales are f32: one number each, or one for each row of `self`, `[m, 1]`, and for each column of `other`, `[1, n]`.
    ///
    /// ```
    /// use mg_autograd::{ScaledMm, Tensor};
    /// use mg_device::DType;
    ///
    /// // Numbers beyond 448 are divided by a power of two before they are rounded.
    /// let a = Tensor::from_vec(vec![512.0f32, 1024.0], &[1, 2])?;
    /// let narrow = a.div(8.0).to_dtype(DType::F8E4M3);
    /// let (eight, one) = (Tensor::scalar(8.0).to_dtype(DType::F32), Tensor::scalar(1.0).to_dtype(DType::F32));
    /// let b = Tensor::from_vec(vec![0.5f32, 2.0], &[2, 1])?.to_dtype(DType::F8E4M3);
    /// let options = ScaledMm { out_dtype: Some(DType::F32), ..ScaledMm::default() };
    /// assert_eq!(narrow.scaled_mm(&b, &eight, &one, options)?.to_vec::<f32>()?, [2304.0]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What is no matrix, sizes that do not fit; operands that are not of eight bits, scales that are not f32 or of another shape, a bias or a
    /// result of another dtype; unlike devices; operands that require a gradient: there is none.
    #[track_caller]
    pub fn scaled_mm(
        &self,
        other: &Tensor,
        scale_a: &Tensor,
        scale_b: &Tensor,
        options: ScaledMm<'_>,
    ) -> Result<Tensor> {
        public(NAME, || {
            let ScaledMm { bias, scale_result, out_dtype, use_fast_accum } = options;
            let (a, b) = (self.node(), other.node());
            let (&[m, k], &[of_k, n]) = (a.shape().dims(), b.shape().dims()) else {
                let text = format!("takes matrices, got shapes {} and {}", a.shape(), b.shape());
                return refused(ErrorKind::Shape, text);
            };
            if k != of_k {
                let text = format!("the inner sizes of {} and {} differ", a.shape(), b.shape());
                return refused(ErrorKind::Shape, text);
            }
            if !a.dtype().is_narrow() || !b.dtype().is_narrow() {
                let text = format!("takes floats of eight bits, got {} and {}", a.dtype(), b.dtype());
                return refused(ErrorKind::DType, text);
            }
            let result = out_dtype.unwrap_or(a.dtype());
            if !matches!(result, DType::F32 | DType::F16 | DType::BF16) && !result.is_narrow() {
                let text = format!("answers with f32, f16, bf16 or a float of eight bits, not with {result}");
                return refused(ErrorKind::DType, text);
            }
            let others: Vec<&Tensor> =
                [Some(scale_a), Some(scale_b), bias, scale_result].into_iter().flatten().collect();
            let nodes: Vec<Node> = [self, other].iter().chain(&others).map(|t| t.node()).collect();
            same_device(NAME, &nodes)?;
            let tracked = [self, other].into_iter().chain(others.iter().copied()).any(Tensor::requires_grad);
            if tracked && is_grad_enabled() {
                let text = "has no gradient: detach what requires one, and say what its gradient is by a function with a \
                            backward of its own";
                return refused(ErrorKind::Gradient, text.into());
            }
            let scales = [scale_a, scale_b].map(Tensor::node);
            for scale in &scales {
                if scale.dtype() != DType::F32 {
                    return refused(ErrorKind::DType, format!("takes scales of f32, got {}", scale.dtype()));
                }
            }
            let one = |node: &Node| node.shape().numel() == 1;
            let rows = *scales[0].shape() == [m, 1] && *scales[1].shape() == [1, n];
            if !rows && !scales.iter().all(one) {
                let text = format!(
                    "takes scales of one number each, or of shapes [{m}, 1] and [1, {n}], got {} and {}",
                    scales[0].shape(),
                    scales[1].shape()
                );
                return refused(ErrorKind::Shape, text);
            }
            let bias = bias.map(Tensor::node);
            let fits = |bias: &Node| {
                *bias.shape() == [n] && matches!(bias.dtype(), DType::F32 | DType::F16 | DType::BF16)
            };
            if let Some(bias) = bias.as_ref().filter(|bias| !fits(bias)) {
                let (shape, dtype) = (bias.shape(), bias.dtype());
                let text =
                    format!("takes a bias of shape [{n}] and of f32, f16 or bf16, got {shape} of {dtype}");
                return refused(ErrorKind::Shape, text);
            }
            let more = scale_result.filter(|_| result.is_narrow()).map(Tensor::node);
            if let Some(scale) = more.as_ref().filter(|scale| scale.dtype() != DType::F32 || !one(scale)) {
                let (shape, dtype) = (scale.shape(), scale.dtype());
                let text = format!("takes one number of f32 as the result's scale, got {shape} of {dtype}");
                return refused(ErrorKind::Shape, text);
            }
            let bias = bias.map(|bias| bias.cast(DType::F32));
            let shapes: [Shape; 2] = if rows { [[m].into(), [n].into()] } else { [[].into(), [].into()] };
            let [scale_a, scale_b] = [scales[0].reshape(shapes[0])?, scales[1].reshape(shapes[1])?];
            // A result of eight bits is f32 before it is scaled once more.
            let held = if result.is_narrow() { DType::F32 } else { result };
            let kernel = Scaled { result: held, fast: use_fast_accum };
            let (dtypes, device) = ([a.dtype(), b.dtype()], a.device().compute_capability()?);
            let product = if device.is_some_and(|device| kernel.is_taken(dtypes, [m, n, k], device)) {
                let turned = b.permute(&[1, 0])?;
                let operands: Vec<&Node> =
                    [&a, &turned, &scale_a, &scale_b].into_iter().chain(&bias).collect();
                Node::library(kernel.into(), &operands)?
            } else {
                let down = if rows { scale_a.reshape([m, 1].into())? } else { scale_a };
                let product = a.cast(DType::F32).matmul(&b.cast(DType::F32))?.mul(&down).mul(&scale_b);
                bias.iter().fold(product, |sum, bias| sum.add(bias))
            };
            let scaled = match more {
                Some(scale) => product.mul(&scale.reshape([].into())?),
                None => product,
            };
            Ok(Tensor::from_node(scaled.cast(result)))
        })
    }
}
