//! Products of floats of eight bits, which numbers stand beside that they were divided by.

use crate::caller::public;
use crate::gradient::is_grad_enabled;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, same_device};
use mg_kernels::Rules;
use mg_kernels::library::Scaled;
use smallvec::SmallVec;

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

fn shapes<T>(a: &Node, b: &Node) -> Result<T> {
    refused(
        ErrorKind::Shape,
        format!("takes matrices [m, k] and [k, n], got {} and {}", a.shape(), b.shape()),
    )
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
                return shapes(&a, &b);
            };
            if k != of_k {
                return shapes(&a, &b);
            }
            if !a.dtype().is_narrow() || !b.dtype().is_narrow() {
                let text = format!("takes floats of eight bits, got {} and {}", a.dtype(), b.dtype());
                return refused(ErrorKind::DType, text);
            }
            let result = out_dtype.unwrap_or(a.dtype());
            let is_rounded = |dtype: DType| matches!(dtype, DType::F32 | DType::F16 | DType::BF16);
            if !is_rounded(result) && !result.is_narrow() {
                let text = format!("answers with f32, f16, bf16 or a float of eight bits, not with {result}");
                return refused(ErrorKind::DType, text);
            }
            let beside: SmallVec<[&Tensor; 4]> =
                [Some(scale_a), Some(scale_b), bias, scale_result].into_iter().flatten().collect();
            let all = || [self, other].into_iter().chain(beside.iter().copied());
            same_device(NAME, &all().map(Tensor::node).collect::<SmallVec<[Node; 6]>>())?;
            if is_grad_enabled() && all().any(Tensor::requires_grad) {
                let text = "has no gradient: detach what requires one, and say what its gradient is by a function with a \
                            backward of its own";
                return refused(ErrorKind::Gradient, text.into());
            }
            // What stands beside the operands: whether it is of a dtype that is taken, and of a shape.
            let check = |what: &str, t: &Tensor, is_taken: bool, fits: bool| {
                let (kind, fails): (fn(String) -> ErrorKind, _) =
                    if is_taken { (ErrorKind::Shape, !fits) } else { (ErrorKind::DType, true) };
                if fails {
                    refused(kind, format!("takes {what}, got {} of {}", t.node().shape(), t.dtype()))
                } else {
                    Ok(())
                }
            };
            let scales = [scale_a, scale_b].map(Tensor::node);
            let one = |t: &Tensor| t.node().shape().numel() == 1;
            let rows = *scales[0].shape() == [m, 1] && *scales[1].shape() == [1, n];
            let fits = rows || one(scale_a) && one(scale_b);
            for scale in [scale_a, scale_b] {
                let what = "scales of f32, one number each, or [m, 1] and [1, n] of them";
                check(what, scale, scale.dtype() == DType::F32, fits)?;
            }
            if let Some(bias) = bias {
                let fits = *bias.node().shape() == [n];
                check("a bias [n] of f32, f16 or bf16", bias, is_rounded(bias.dtype()), fits)?;
            }
            let more = scale_result.filter(|_| result.is_narrow());
            if let Some(scale) = more {
                check(
                    "one number of f32 as the result's scale",
                    scale,
                    scale.dtype() == DType::F32,
                    one(scale),
                )?;
            }
            let (bias, more) = (bias.map(Tensor::node), more.map(Tensor::node));
            let bias = bias.map(|bias| bias.cast(DType::F32));
            let shapes: [Shape; 2] = if rows { [[m].into(), [n].into()] } else { [[].into(), [].into()] };
            let [scale_a, scale_b] = [scales[0].reshape(shapes[0])?, scales[1].reshape(shapes[1])?];
            // Other results are f32 before: those of eight bits are scaled once more.
            let held = if result == DType::BF16 { result } else { DType::F32 };
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
