//! Weights of a fixed length or a fixed largest stretch: `torch.nn.utils.parametrizations`.

use mg_autograd::{Tensor, no_grad, with_default_device};
use mg_device::{Error, ErrorKind, Result, normalize_axis};

use super::parametrize::{Parametrization, Parametrized, register_parametrization};
use crate::module::Module;

/// The product of a length and a direction.
struct WeightNorm {
    /// −1 for all axes as one.
    dim: i64,
}

impl Parametrization for WeightNorm {
    fn value(&self, originals: &[Tensor], _: bool) -> Result<Tensor> {
        let [length, direction] = originals else {
            let text = format!("a length and a direction, got {} tensors", originals.len());
            return Err(Error::new("weight_norm", ErrorKind::Internal(text)));
        };
        direction.try_mul(length.try_div(direction.try_norm_except_dim(2, self.dim)?)?)
    }

    fn originals(&self, value: &Tensor) -> Result<Vec<Tensor>> {
        Ok(vec![value.try_norm_except_dim(2, self.dim)?, value.clone()])
    }

    fn describe(&self) -> String {
        let dim = if self.dim == -1 { "None".to_owned() } else { self.dim.to_string() };
        format!("_WeightNorm(dim={dim})")
    }
}

/// Makes a parameter the product of its length (`parametrizations.weight.original0`) and its direction (`…original1`), for each index along
/// `dim`, PyTorch's default of which is `Some(0)`, or for all as one: Salimans and Kingma, "Weight normalization", 2016.
///
/// ```
/// use mg_nn::utils::parametrizations::weight_norm;
/// use mg_nn::{Linear, Module};
///
/// let layer = weight_norm(Linear::new(3, 2)?, "weight", Some(0))?;
/// let shapes: Vec<_> = layer.originals().iter().map(|(name, t)| (name.as_str(), t.shape().to_vec())).collect();
/// assert_eq!(shapes[0], ("parametrizations.weight.original0", vec![2, 1]));
/// assert_eq!(shapes[1], ("parametrizations.weight.original1", vec![2, 3]));
/// let plain: Linear = layer.remove()?;
/// assert_eq!(plain.parameters().len(), 2);
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// A name that no parameter has; an axis that is not there.
#[track_caller]
pub fn weight_norm<M: Module>(module: M, name: &str, dim: Option<usize>) -> Result<Parametrized<M>> {
    let dim = dim.map_or(-1, |dim| i64::try_from(dim).unwrap_or(i64::MAX));
    register_parametrization(module, name, WeightNorm { dim })
}

/// How [`spectral_norm`] finds the largest stretch, with PyTorch's defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct SpectralNormOptions {
    /// Steps of the power method at each call in training: 1.
    pub n_power_iterations: usize,
    /// The least length that is divided by: 1e−12.
    pub eps: f64,
    /// The axis of the outputs: 1 of transposed convolutions, else 0.
    pub dim: Option<isize>,
}

impl Default for SpectralNormOptions {
    fn default() -> SpectralNormOptions {
        SpectralNormOptions { n_power_iterations: 1, eps: 1e-12, dim: None }
    }
}

struct SpectralNorm {
    n_power_iterations: usize,
    eps: f64,
    dim: usize,
    /// The singular vectors, as far as they are known; of what is no matrix, none.
    vectors: Option<(Tensor, Tensor)>,
}

impl SpectralNorm {
    #[track_caller]
    fn matrix(&self, weight: &Tensor) -> Result<Tensor> {
        let rows = if self.dim == 0 { weight.clone() } else { weight.movedim(&[self.dim as isize], &[0])? };
        rows.flatten(1, -1)
    }

    #[track_caller]
    fn iterate(&self, matrix: &Tensor, (u, v): &(Tensor, Tensor), times: usize) -> Result<()> {
        let _guard = no_grad();
        let unit = |t: Tensor| t.try_normalize(2.0, &[0], self.eps);
        let (mut left, mut right) = (u.clone(), v.clone());
        for _ in 0..times {
            left = unit(matrix.try_mv(&right)?)?;
            right = unit(matrix.try_t()?.try_mv(&left)?)?;
        }
        u.assign(&left)?;
        v.assign(&right)
    }
}

impl Parametrization for SpectralNorm {
    fn value(&self, originals: &[Tensor], training: bool) -> Result<Tensor> {
        let [weight] = originals else {
            let text = format!("one weight, got {}", originals.len());
            return Err(Error::new("spectral_norm", ErrorKind::Internal(text)));
        };
        let Some(vectors) = &self.vectors else { return weight.try_normalize(2.0, &[0], self.eps) };
        let matrix = self.matrix(weight)?;
        if training {
            self.iterate(&matrix.detach(), vectors, self.n_power_iterations)?;
        }
        // As they are now: the next call moves them, and this one may be differentiated after it.
        let (u, v) = (vectors.0.copy(), vectors.1.copy());
        weight.try_div(u.try_dot(&matrix.try_mv(&v)?)?)
    }

    fn buffers(&self) -> Vec<(&'static str, &Tensor)> {
        self.vectors.iter().flat_map(|(u, v)| [("_u", u), ("_v", v)]).collect()
    }

    fn describe(&self) -> String {
        "_SpectralNorm()".to_owned()
    }
}

/// Divides a weight by its largest singular value, which is followed by steps of the power method at each call in training (its vectors
/// are the buffers `parametrizations.weight.0._u` and `…_v`): Miyato et al., "Spectral normalization for generative adversarial networks", 2018.
///
/// ```
/// use mg_nn::utils::parametrizations::{SpectralNormOptions, spectral_norm};
/// use mg_nn::{Linear, init};
///
/// let plain = Linear::new(2, 2)?;
/// init::constant_(&plain.weight, 2.0)?;
/// // It stretches (1, 1) to (4, 4).
/// let layer = spectral_norm(plain, "weight", &SpectralNormOptions::default())?;
/// assert!(layer.parameter()?.to_vec::<f32>()?.iter().all(|w| (w - 0.5).abs() < 1e-6));
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// A name that no parameter has, no steps, an axis that is not there.
#[track_caller]
pub fn spectral_norm<M: Module>(
    module: M,
    name: &str,
    options: &SpectralNormOptions,
) -> Result<Parametrized<M>> {
    let SpectralNormOptions { n_power_iterations, eps, dim } = *options;
    if n_power_iterations == 0 {
        let text = "takes n_power_iterations above 0, got 0".to_owned();
        return Err(Error::new("spectral_norm", ErrorKind::Value(text)));
    }
    let class = std::any::type_name::<M>();
    let is_transposed = class.rsplit("::").next().is_some_and(|class| class.starts_with("ConvTranspose"));
    let dim = dim.unwrap_or(if is_transposed { 1 } else { 0 });
    let weight = module.named_parameters().into_iter().find(|(own, _)| own == name).map(|(_, t)| t.detach());
    let mut norm = SpectralNorm { n_power_iterations, eps, dim: 0, vectors: None };
    // A name that is not there is told of below.
    if let Some(weight) = weight {
        norm.dim = normalize_axis(dim, weight.rank()).map_err(|e| e.with_op("spectral_norm"))?;
        if weight.rank() > 1 {
            let _guard = no_grad();
            let matrix = norm.matrix(&weight)?;
            let drawn = |n: usize| -> Result<Tensor> {
                let drawn = with_default_device(weight.device(), || Tensor::randn(&[n], weight.dtype()))??;
                let vector = drawn.try_normalize(2.0, &[0], eps)?.copy();
                vector.realize()?;
                Ok(vector)
            };
            let vectors = (drawn(matrix.shape()[0])?, drawn(matrix.shape()[1])?);
            norm.iterate(&matrix, &vectors, 15)?;
            norm.vectors = Some(vectors);
        }
    }
    register_parametrization(module, name, norm)
}
