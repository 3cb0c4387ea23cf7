//! Weights of which some are zero: `torch.nn.utils.prune`.
//!
//! A pruned parameter is kept whole as `weight_orig` beside a mask `weight_mask`, and their product is made for each call. What prunes one that is
//! pruned already looks at what is left of it.
//!
//! ```
//! use mg_nn::utils::prune;
//! use mg_nn::{Linear, Module};
//!
//! let layer = prune::l1_unstructured(Linear::new(4, 2)?, "weight", 3)?;
//! assert_eq!(layer.named_buffers()[0].0, "weight_mask");
//! assert_eq!(layer.parameter()?.to_vec::<f32>()?.iter().filter(|w| **w == 0.0).count(), 3);
//! // A fifth of those that are left.
//! layer.l1_unstructured(0.2)?;
//! let plain: Linear = layer.remove()?;
//! assert_eq!(plain.weight.to_vec::<f32>()?.iter().filter(|w| **w == 0.0).count(), 4);
//! # Ok::<(), mg_device::Error>(())
//! ```

use mg_autograd::{Tensor, no_grad, with_default_device};
use mg_device::{DType, Error, ErrorKind, Result, normalize_axis};

use super::parametrize::{Parametrization, Parametrized};
use crate::module::{Module, Visitor};

/// How much is pruned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A part of what is left, between 0 and 1.
    Part(f64),
    /// So many.
    Count(usize),
}

impl From<f64> for Amount {
    fn from(part: f64) -> Amount {
        Amount::Part(part)
    }
}

impl From<usize> for Amount {
    fn from(count: usize) -> Amount {
        Amount::Count(count)
    }
}

impl Amount {
    /// How many of so many.
    #[track_caller]
    fn of(self, most: usize, op: &'static str) -> Result<usize> {
        let fail = |text: String| Err(Error::new(op, ErrorKind::Value(text)));
        match self {
            Amount::Part(part) if !(0.0..=1.0).contains(&part) => {
                fail(format!("takes an amount in [0, 1], or a number of them, got {part}"))
            }
            Amount::Part(part) => Ok((part * most as f64).round_ties_even() as usize),
            Amount::Count(count) if count > most => {
                fail(format!("takes an amount of at most the {most} that are left, got {count}"))
            }
            Amount::Count(count) => Ok(count),
        }
    }
}

/// The product with a mask.
struct Mask(Tensor);

impl Parametrization for Mask {
    fn value(&self, originals: &[Tensor], _: bool) -> Result<Tensor> {
        let [original] = originals else {
            let text = format!("one parameter, got {}", originals.len());
            return Err(Error::new("prune", ErrorKind::Internal(text)));
        };
        original.try_mul(&self.0)
    }

    fn buffers(&self) -> Vec<(&'static str, &Tensor)> {
        vec![("_mask", &self.0)]
    }

    fn describe(&self) -> String {
        "pruned".to_owned()
    }
}

/// A module with a parameter of which some elements are zero, and stay so.
pub struct Pruned<M> {
    inner: Parametrized<M>,
    mask: Tensor,
}

impl<M: Module> Pruned<M> {
    /// Makes mask and copy of a parameter, and prunes nothing: PyTorch's `identity`. The name may be a path, `"0.weight"`.
    ///
    /// # Errors
    ///
    /// A name that no parameter has.
    #[track_caller]
    pub fn new(module: M, name: &str) -> Result<Pruned<M>> {
        let found = module.named_parameters().into_iter().find(|(own, _)| own == name);
        let mask = match found {
            Some((_, t)) => t.detach().try_ones_like()?.copy(),
            // Told of below.
            None => Tensor::ones(&[], DType::F32)?,
        };
        mask.realize()?;
        let [original, buffer] = ["_orig", "_mask"].map(|end| format!("{name}{end}"));
        let inner =
            Parametrized::new(module, name, |_, _| original.clone(), |_| buffer.clone(), Mask(mask.clone()))?;
        Ok(Pruned { inner, mask })
    }

    /// What is left of the parameter: ones and zeros, in its shape and dtype.
    #[must_use]
    pub fn mask(&self) -> &Tensor {
        &self.mask
    }

    /// What `f` makes of the module, in which the parameter has its zeros: for what modules do besides [`Module::forward`].
    ///
    /// # Errors
    ///
    /// As [`Parametrized::call`].
    #[track_caller]
    pub fn call<T>(&self, f: impl FnOnce(&M) -> Result<T>) -> Result<T> {
        self.inner.call(f)
    }

    /// The parameter as it is now, with its zeros.
    ///
    /// # Errors
    ///
    /// Those of computing it.
    #[track_caller]
    pub fn parameter(&self) -> Result<Tensor> {
        self.inner.parameter()
    }

    /// The module with a plain parameter again, with its zeros.
    ///
    /// # Errors
    ///
    /// Those of computing it.
    #[track_caller]
    pub fn remove(self) -> Result<M> {
        self.inner.remove()
    }

    /// Prunes the elements of the least magnitudes among those that are left.
    ///
    /// # Errors
    ///
    /// An amount outside [0, 1], or of more than are left.
    #[track_caller]
    pub fn l1_unstructured(&self, amount: impl Into<Amount>) -> Result<()> {
        let scores = self.value()?.try_abs()?;
        self.unstructured(&scores, amount.into(), "l1_unstructured")
    }

    /// Prunes elements by chance, among those that are left.
    ///
    /// # Errors
    ///
    /// As [`Pruned::l1_unstructured`].
    #[track_caller]
    pub fn random_unstructured(&self, amount: impl Into<Amount>) -> Result<()> {
        let shape = self.mask.shape();
        let scores = with_default_device(self.mask.device(), || Tensor::rand(&shape, DType::F32))??;
        self.unstructured(&scores, amount.into(), "random_unstructured")
    }

    /// Prunes the indices along an axis whose parts have the least norms of order `n` (infinity is the largest magnitude), among those of
    /// which something is left.
    ///
    /// # Errors
    ///
    /// A parameter of fewer than two axes, an axis that is not there; as [`Pruned::l1_unstructured`].
    #[track_caller]
    pub fn ln_structured(&self, amount: impl Into<Amount>, n: f64, dim: isize) -> Result<()> {
        const OP: &str = "ln_structured";
        let axis = self.axis(dim, OP)?;
        let lines = self.value()?.movedim(&[axis as isize], &[0])?.flatten(1, -1)?;
        let scores = lines.try_vector_norm(n, &[1], false, None)?;
        self.structured(&scores, amount.into(), axis, OP)
    }

    /// Prunes indices along an axis by chance, among those of which something is left.
    ///
    /// # Errors
    ///
    /// As [`Pruned::ln_structured`].
    #[track_caller]
    pub fn random_structured(&self, amount: impl Into<Amount>, dim: isize) -> Result<()> {
        const OP: &str = "random_structured";
        let axis = self.axis(dim, OP)?;
        let n = self.mask.shape()[axis];
        let scores = with_default_device(self.mask.device(), || Tensor::rand(&[n], DType::F32))??;
        self.structured(&scores, amount.into(), axis, OP)
    }

    /// Prunes what a mask has zeros for.
    ///
    /// # Errors
    ///
    /// A mask of another shape.
    #[track_caller]
    pub fn custom_from_mask(&self, mask: &Tensor) -> Result<()> {
        if mask.shape() != self.mask.shape() {
            let text = format!("takes a mask of shape {}, got {}", self.mask.shape(), mask.shape());
            return Err(Error::new("custom_from_mask", ErrorKind::Shape(text)));
        }
        let _guard = no_grad();
        let mask = mask.to(self.mask.device())?.to_dtype(self.mask.dtype());
        self.put(&self.mask.try_mul(&mask)?)
    }

    #[track_caller]
    fn value(&self) -> Result<Tensor> {
        Ok(self.inner.parameter()?.detach())
    }

    #[track_caller]
    fn axis(&self, dim: isize, op: &'static str) -> Result<usize> {
        let shape = self.mask.shape();
        if shape.rank() < 2 {
            let text = format!("takes a parameter of two axes or more, got shape {shape}");
            return Err(Error::new(op, ErrorKind::Shape(text)));
        }
        normalize_axis(dim, shape.rank()).map_err(|e| e.with_op(op))
    }

    /// Puts another mask in the place of this one, in the same tensor.
    #[track_caller]
    fn put(&self, mask: &Tensor) -> Result<()> {
        let _guard = no_grad();
        self.mask.assign(mask)?;
        self.mask.realize().map(drop)
    }

    /// Prunes the elements of the least scores.
    #[track_caller]
    fn unstructured(&self, scores: &Tensor, amount: Amount, op: &'static str) -> Result<()> {
        let mut kept = self.mask.to_f64_vec()?;
        prune_least(&scores.to_f64_vec()?, &mut kept, amount, op)?;
        self.custom_from_mask(&Tensor::from_vec(kept, &self.mask.shape())?)
    }

    /// Prunes the indices of the least scores along an axis.
    #[track_caller]
    fn structured(&self, scores: &Tensor, amount: Amount, axis: usize, op: &'static str) -> Result<()> {
        let kept = self.mask.try_ne(0.0)?.to_dtype(DType::F32).movedim(&[axis as isize], &[0])?;
        let kept = kept.flatten(1, -1)?.try_vector_norm(f64::INFINITY, &[1], false, None)?.to_f64_vec()?;
        let scores = scores.to_f64_vec()?;
        let mut left: Vec<usize> = (0..kept.len()).filter(|&i| kept[i] != 0.0).collect();
        let count = amount.of(left.len(), op)?;
        left.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        let mut line = vec![1.0f64; kept.len()];
        left[..count].iter().for_each(|&i| line[i] = 0.0);
        let mut sizes = vec![1; self.mask.rank()];
        sizes[axis] = line.len();
        let line = Tensor::from_vec(line, &sizes)?.to_dtype(self.mask.dtype()).to(self.mask.device())?;
        self.put(&self.mask.try_mul(&line)?)
    }
}

/// Sets zeros where, of what is not zero yet, scores are the least.
#[track_caller]
fn prune_least(scores: &[f64], kept: &mut [f64], amount: Amount, op: &'static str) -> Result<()> {
    let mut left: Vec<usize> = (0..kept.len()).filter(|&i| kept[i] != 0.0).collect();
    let count = amount.of(left.len(), op)?;
    left.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    left[..count].iter().for_each(|&i| kept[i] = 0.0);
    Ok(())
}

/// A pruned parameter of whatever module, for [`global_unstructured`].
pub trait PrunedParameter {
    /// What is left of it: [`Pruned::mask`].
    fn mask(&self) -> &Tensor;

    /// As it is now, with its zeros: [`Pruned::parameter`].
    ///
    /// # Errors
    ///
    /// Those of computing it.
    #[track_caller]
    fn parameter(&self) -> Result<Tensor>;

    /// Prunes what a mask has zeros for: [`Pruned::custom_from_mask`].
    ///
    /// # Errors
    ///
    /// A mask of another shape.
    #[track_caller]
    fn custom_from_mask(&self, mask: &Tensor) -> Result<()>;
}

impl<M: Module> PrunedParameter for Pruned<M> {
    fn mask(&self) -> &Tensor {
        Pruned::mask(self)
    }
    fn parameter(&self) -> Result<Tensor> {
        Pruned::parameter(self)
    }
    fn custom_from_mask(&self, mask: &Tensor) -> Result<()> {
        Pruned::custom_from_mask(self, mask)
    }
}

/// By what [`global_unstructured`] chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PruningMethod {
    /// The least magnitudes.
    L1Unstructured,
    /// By chance.
    RandomUnstructured,
}

/// Prunes elements of several parameters as if they were one: the least of all of them go, or some by chance, among those that are left.
///
/// ```
/// use mg_nn::utils::prune::{Pruned, PruningMethod, global_unstructured};
/// use mg_nn::{Linear, init};
///
/// let (first, second) = (Linear::new(2, 2)?, Linear::new(2, 2)?);
/// init::constant_(&first.weight, 1.0)?;
/// init::constant_(&second.weight, -2.0)?;
/// let (first, second) = (Pruned::new(first, "weight")?, Pruned::new(second, "weight")?);
/// global_unstructured(&[&first, &second], PruningMethod::L1Unstructured, 0.5)?;
/// assert_eq!(first.parameter()?.to_vec::<f32>()?, [0.0; 4]);
/// assert_eq!(second.parameter()?.to_vec::<f32>()?, [-2.0; 4]);
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// An amount outside [0, 1], or of more than are left; then nothing is pruned.
#[track_caller]
pub fn global_unstructured(
    parameters: &[&dyn PrunedParameter],
    method: PruningMethod,
    amount: impl Into<Amount>,
) -> Result<()> {
    let (mut scores, mut kept) = (vec![], vec![]);
    for parameter in parameters {
        let mask = parameter.mask();
        kept.extend(mask.to_f64_vec()?);
        scores.extend(match method {
            PruningMethod::L1Unstructured => parameter.parameter()?.detach().try_abs()?.to_f64_vec()?,
            PruningMethod::RandomUnstructured => Tensor::rand(&mask.shape(), DType::F32)?.to_f64_vec()?,
        });
    }
    prune_least(&scores, &mut kept, amount.into(), "global_unstructured")?;
    let mut rest = &kept[..];
    for parameter in parameters {
        let (own, others) = rest.split_at(parameter.mask().numel());
        parameter.custom_from_mask(&Tensor::from_vec(own.to_vec(), &parameter.mask().shape())?)?;
        rest = others;
    }
    Ok(())
}

impl<M: Module> Module for Pruned<M> {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.inner.forward(input)
    }
    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        self.inner.visit(visitor);
    }
    fn describe(&self) -> String {
        self.inner.describe().replacen("Parametrized(", "Pruned(", 1)
    }
}

/// Prunes the elements of a parameter whose magnitudes are the least: so many, or such a part.
///
/// # Errors
///
/// A name that no parameter has; an amount outside [0, 1], or of more than there are.
#[track_caller]
pub fn l1_unstructured<M: Module>(module: M, name: &str, amount: impl Into<Amount>) -> Result<Pruned<M>> {
    let pruned = Pruned::new(module, name)?;
    pruned.l1_unstructured(amount)?;
    Ok(pruned)
}

/// Prunes elements of a parameter by chance: so many, or such a part.
///
/// # Errors
///
/// As [`l1_unstructured`].
#[track_caller]
pub fn random_unstructured<M: Module>(module: M, name: &str, amount: impl Into<Amount>) -> Result<Pruned<M>> {
    let pruned = Pruned::new(module, name)?;
    pruned.random_unstructured(amount)?;
    Ok(pruned)
}

/// Prunes the indices of a parameter along an axis whose parts have the least norms of order `n`.
///
/// # Errors
///
/// As [`Pruned::ln_structured`]; a name that no parameter has.
#[track_caller]
pub fn ln_structured<M: Module>(
    module: M,
    name: &str,
    amount: impl Into<Amount>,
    n: f64,
    dim: isize,
) -> Result<Pruned<M>> {
    let pruned = Pruned::new(module, name)?;
    pruned.ln_structured(amount, n, dim)?;
    Ok(pruned)
}

/// Prunes indices of a parameter along an axis by chance.
///
/// # Errors
///
/// As [`ln_structured`].
#[track_caller]
pub fn random_structured<M: Module>(
    module: M,
    name: &str,
    amount: impl Into<Amount>,
    dim: isize,
) -> Result<Pruned<M>> {
    let pruned = Pruned::new(module, name)?;
    pruned.random_structured(amount, dim)?;
    Ok(pruned)
}

/// Prunes what a mask has zeros for.
///
/// # Errors
///
/// A name that no parameter has; a mask of another shape.
#[track_caller]
pub fn custom_from_mask<M: Module>(module: M, name: &str, mask: &Tensor) -> Result<Pruned<M>> {
    let pruned = Pruned::new(module, name)?;
    pruned.custom_from_mask(mask)?;
    Ok(pruned)
}
