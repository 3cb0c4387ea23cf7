//! Initialisers: what parameters are before training, with PyTorch's defaults.
//!
//! Each writes into a tensor, a parameter or not, and records nothing for gradients. Random ones draw from the generator
//! that they are given, or from the one that [`manual_seed`](mg_autograd::manual_seed) seeds.
//!
//! ```
//! use mg_autograd::{Generator, Tensor};
//! use mg_device::DType;
//! use mg_nn::init::{self, Fan, Nonlinearity};
//!
//! let (w, again) = (Tensor::zeros(&[3, 4], DType::F32)?, Tensor::zeros(&[3, 4], DType::F32)?);
//! for t in [&w, &again] {
//!     let generator = Generator::new();
//!     generator.manual_seed(7);
//!     init::kaiming_uniform_(t, Fan::In, Nonlinearity::Relu, Some(&generator))?;
//! }
//! assert_eq!(w.to_vec::<f32>()?, again.to_vec::<f32>()?);
//! # Ok::<(), mg_device::Error>(())
//! ```

use mg_autograd::{Generator, Operand, Tensor, draw_from, no_grad, with_default_device};
use mg_device::{DType, Error, ErrorKind, Result};

/// Which count keeps its variance: that of the inputs forward, or that of the gradients backward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fan {
    /// The number of inputs of an output.
    #[default]
    In,
    /// The number of outputs of an input.
    Out,
}

/// What follows the weights, which decides by how much they are scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nonlinearity {
    /// Nothing.
    Linear,
    /// The logistic function.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// The rectifier.
    Relu,
    /// The rectifier with this slope where negative.
    LeakyRelu(f64),
    /// The scaled exponential linear unit.
    Selu,
}

impl Nonlinearity {
    /// The recommended gain: PyTorch's `init.calculate_gain`.
    #[must_use]
    pub fn gain(self) -> f64 {
        match self {
            Nonlinearity::Linear | Nonlinearity::Sigmoid => 1.0,
            Nonlinearity::Tanh => 5.0 / 3.0,
            Nonlinearity::Relu => std::f64::consts::SQRT_2,
            Nonlinearity::LeakyRelu(slope) => (2.0 / (1.0 + slope * slope)).sqrt(),
            Nonlinearity::Selu => 0.75,
        }
    }
}

/// Fan-in and fan-out of a weight `[out, in, …]`, whose further axes are a receptive field.
///
/// # Errors
///
/// [`ErrorKind::Shape`] for fewer than two axes.
#[track_caller]
pub fn fans(weight: &Tensor) -> Result<(usize, usize)> {
    let shape = weight.shape();
    if shape.rank() < 2 {
        let text = format!("fan-in and fan-out take a weight of two axes or more, got shape {shape}");
        return Err(Error::new("init", ErrorKind::Shape(text)));
    }
    let field: usize = shape[2..].iter().product();
    Ok((shape[1] * field, shape[0] * field))
}

/// The half-width of the uniform distribution on `[−bound, bound)` that PyTorch's layers draw weights and biases from:
/// `1/√fan_in`.
#[must_use]
pub fn default_bound(fan_in: usize) -> f64 {
    if fan_in == 0 { 0.0 } else { 1.0 / (fan_in as f64).sqrt() }
}

/// What `make` makes, on the device of a tensor.
#[track_caller]
fn there(t: &Tensor, make: impl FnOnce() -> Result<Tensor>) -> Result<Tensor> {
    with_default_device(t.device(), make)?
}

/// As [`there`], of the numbers of a generator.
#[track_caller]
fn drawn(t: &Tensor, generator: Option<&Generator>, make: impl FnOnce() -> Result<Tensor>) -> Result<Tensor> {
    /// The generator that the thread had.
    struct Restore(Option<Generator>);
    impl Drop for Restore {
        fn drop(&mut self) {
            draw_from(self.0.take());
        }
    }
    let _restore = generator.map(|generator| Restore(draw_from(Some(generator.clone()))));
    there(t, make)
}

#[track_caller]
fn write(t: &Tensor, value: impl Into<Operand>) -> Result<()> {
    let _guard = no_grad();
    t.assign(value)?;
    t.realize()?;
    Ok(())
}

/// Uniform on `[low, high)`.
///
/// # Errors
///
/// A tensor that is not floating point; memory.
#[track_caller]
pub fn uniform_(t: &Tensor, low: f64, high: f64, generator: Option<&Generator>) -> Result<()> {
    write(t, drawn(t, generator, || Tensor::uniform(&t.shape(), low, high, t.dtype()))?)
}

/// Normal with this mean and standard deviation.
///
/// # Errors
///
/// As [`uniform_`].
#[track_caller]
pub fn normal_(t: &Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
    write(t, drawn(t, generator, || Tensor::randn(&t.shape(), t.dtype()))?.try_mul(std)?.try_add(mean)?)
}

/// The same value everywhere.
///
/// # Errors
///
/// Memory.
#[track_caller]
pub fn constant_(t: &Tensor, value: f64) -> Result<()> {
    // A copy, because a constant that is only broadcast has no memory of its own to be updated in.
    write(t, there(t, || Tensor::full(&t.shape(), value, t.dtype()))?.copy())
}

/// Uniform on ±gain·√(6/(fan-in + fan-out)): Glorot and Bengio, "Understanding the difficulty of training deep feedforward
/// neural networks", 2010.
///
/// # Errors
///
/// Fewer than two axes; as [`uniform_`].
#[track_caller]
pub fn xavier_uniform_(t: &Tensor, gain: f64, generator: Option<&Generator>) -> Result<()> {
    let bound = 3f64.sqrt() * xavier_std(t, gain)?;
    uniform_(t, -bound, bound, generator)
}

/// Normal with standard deviation gain·√(2/(fan-in + fan-out)); see [`xavier_uniform_`].
///
/// # Errors
///
/// As [`xavier_uniform_`].
#[track_caller]
pub fn xavier_normal_(t: &Tensor, gain: f64, generator: Option<&Generator>) -> Result<()> {
    normal_(t, 0.0, xavier_std(t, gain)?, generator)
}

#[track_caller]
fn xavier_std(t: &Tensor, gain: f64) -> Result<f64> {
    let (fan_in, fan_out) = fans(t)?;
    Ok(gain * (2.0 / (fan_in + fan_out).max(1) as f64).sqrt())
}

/// Uniform on ±gain·√(3/fan): He et al., "Delving deep into rectifiers", 2015.
///
/// # Errors
///
/// As [`xavier_uniform_`].
#[track_caller]
pub fn kaiming_uniform_(
    t: &Tensor,
    fan: Fan,
    nonlinearity: Nonlinearity,
    generator: Option<&Generator>,
) -> Result<()> {
    let bound = 3f64.sqrt() * kaiming_std(t, fan, nonlinearity)?;
    uniform_(t, -bound, bound, generator)
}

/// Normal with standard deviation gain/√fan; see [`kaiming_uniform_`].
///
/// # Errors
///
/// As [`xavier_uniform_`].
#[track_caller]
pub fn kaiming_normal_(
    t: &Tensor,
    fan: Fan,
    nonlinearity: Nonlinearity,
    generator: Option<&Generator>,
) -> Result<()> {
    normal_(t, 0.0, kaiming_std(t, fan, nonlinearity)?, generator)
}

#[track_caller]
fn kaiming_std(t: &Tensor, fan: Fan, nonlinearity: Nonlinearity) -> Result<f64> {
    let (fan_in, fan_out) = fans(t)?;
    let n = if fan == Fan::In { fan_in } else { fan_out };
    Ok(nonlinearity.gain() / (n.max(1) as f64).sqrt())
}

/// Ones on the diagonal of a matrix, zeros beside it.
///
/// # Errors
///
/// What is no matrix; memory.
#[track_caller]
pub fn eye_(t: &Tensor) -> Result<()> {
    let shape = t.shape();
    let [rows, columns] = shape[..] else {
        return Err(Error::new("eye_", ErrorKind::Shape(format!("takes a matrix, got shape {shape}"))));
    };
    write(t, there(t, || line(rows, &[rows, 1])?.try_eq(line(columns, &[1, columns])?))?.to_dtype(t.dtype()))
}

/// 0, 1, 2, … along one axis of a shape.
#[track_caller]
fn line(n: usize, shape: &[usize]) -> Result<Tensor> {
    let sizes: Vec<isize> = shape.iter().map(|&n| n as isize).collect();
    Tensor::arange(n).reshape(&sizes)
}

/// What keeps the channels of a convolution as they are, as far as there are as many: a one in the middle of the kernel
/// from each channel to itself, within each group. Zagoruyko and Komodakis, "DiracNets", 2017.
///
/// # Errors
///
/// A weight of other than 3, 4 or 5 axes, channels that do not part into the groups; memory.
#[track_caller]
pub fn dirac_(t: &Tensor, groups: usize) -> Result<()> {
    let shape = t.shape();
    let (rank, kernel) = (shape.rank(), shape.get(2..).unwrap_or_default());
    if !(3..=5).contains(&rank) || groups == 0 || !shape[0].is_multiple_of(groups) {
        let text = format!(
            "takes a weight [out, in, …] of 3 to 5 axes, out divisible by {groups}, got shape {shape}"
        );
        return Err(Error::new("dirac_", ErrorKind::Shape(text)));
    }
    let along = |axis: usize| {
        let mut sizes = vec![1; rank];
        sizes[axis] = shape[axis];
        line(shape[axis], &sizes)
    };
    let made = there(t, || {
        let mut is = along(0)?.try_remainder((shape[0] / groups) as i64)?.try_eq(along(1)?)?;
        for (i, &n) in kernel.iter().enumerate() {
            is = is.try_logical_and(along(2 + i)?.try_eq((n / 2) as i64)?)?;
        }
        Ok(is.to_dtype(t.dtype()))
    })?;
    write(t, made)
}

/// Normal with this mean and standard deviation, within `[low, high]`: what lies beyond is not drawn. By the inverse of the
/// distribution function.
///
/// # Errors
///
/// As [`uniform_`].
#[track_caller]
pub fn trunc_normal_(
    t: &Tensor,
    mean: f64,
    std: f64,
    low: f64,
    high: f64,
    generator: Option<&Generator>,
) -> Result<()> {
    let side = |at: f64| {
        let z = Tensor::from_slice(&[(at - mean) / std * std::f64::consts::FRAC_1_SQRT_2]);
        z.to(t.device())?.try_erf()?.try_sum_dim(&[], false)
    };
    let (from, to) = (side(low)?, side(high)?);
    // Half types are too coarse to be drawn from: their ends would be met again and again.
    let dtype = if t.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
    let u = drawn(t, generator, || Tensor::rand(&t.shape(), dtype))?;
    let u = u.try_mul(to.try_sub(&from)?.to_dtype(dtype))?.try_add(from.to_dtype(dtype))?;
    let found = u.try_erfinv()?.try_mul(std * std::f64::consts::SQRT_2)?.try_add(mean)?;
    write(t, found.try_clamp(Some(low.into()), Some(high.into()))?.to_dtype(t.dtype()))
}

/// A matrix, of all but the first axis as one, with orthonormal rows or columns, whichever are fewer, times `gain`: Saxe,
/// McClelland and Ganguli, "Exact solutions to the nonlinear dynamics of learning in deep linear neural networks", 2013.
///
/// # Errors
///
/// Fewer than two axes; as [`uniform_`].
#[track_caller]
pub fn orthogonal_(t: &Tensor, gain: f64, generator: Option<&Generator>) -> Result<()> {
    let shape = t.shape();
    if shape.rank() < 2 {
        let text = format!("takes a tensor of two axes or more, got shape {shape}");
        return Err(Error::new("orthogonal_", ErrorKind::Shape(text)));
    }
    if shape.numel() == 0 {
        return Ok(());
    }
    let rows = shape[0];
    let columns = shape.numel() / rows;
    let tall = [rows.max(columns), rows.min(columns)];
    let dtype = if t.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
    let (q, r) = drawn(t, generator, || Tensor::randn(&tall, dtype))?.try_qr("reduced")?;
    // With signs that make it a draw from all such matrices alike.
    let q = q.try_mul(r.diagonal(0, 0, 1)?.try_sign()?)?;
    let q = if rows < columns { q.try_t()? } else { q };
    let sizes: Vec<isize> = shape.iter().map(|&n| n as isize).collect();
    write(t, q.reshape(&sizes)?.try_mul(gain)?.to_dtype(t.dtype()))
}

/// Normal with this standard deviation, with a part `sparsity` of each column set to 0: Martens, "Deep learning via
/// Hessian-free optimization", 2010.
///
/// # Errors
///
/// What is no matrix; as [`uniform_`].
#[track_caller]
pub fn sparse_(t: &Tensor, sparsity: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
    let shape = t.shape();
    let [rows, columns] = shape[..] else {
        return Err(Error::new("sparse_", ErrorKind::Shape(format!("takes a matrix, got shape {shape}"))));
    };
    let zeros = (sparsity * rows as f64).ceil() as i64;
    normal_(t, 0.0, std, generator)?;
    // An order of the rows for each column, drawn by sorting.
    let order =
        drawn(t, generator, || Tensor::rand(&[rows, columns], DType::F32))?.try_argsort(0, false, false)?;
    let kept = order.try_argsort(0, false, false)?.try_ge(zeros)?;
    let own = {
        let _guard = no_grad();
        t.try_mul(kept.to_dtype(t.dtype()))?
    };
    write(t, own)
}

/// A parameter drawn uniformly from ±`bound`.
#[track_caller]
pub(crate) fn uniform_parameter(shape: &[usize], bound: f64, dtype: DType) -> Result<Tensor> {
    parameter(Tensor::uniform(shape, -bound, bound, dtype)?)
}

/// A parameter of the same value everywhere.
#[track_caller]
pub(crate) fn constant_parameter(shape: &[usize], value: f64, dtype: DType) -> Result<Tensor> {
    parameter(Tensor::full(shape, value, dtype)?.copy())
}

/// A leaf in memory of its own: computed now, so that the first step of training is planned as every other.
#[track_caller]
pub(crate) fn parameter(t: Tensor) -> Result<Tensor> {
    t.realize()?;
    t.requires_grad_(true)
}
