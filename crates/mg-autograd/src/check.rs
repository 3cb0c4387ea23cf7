//! Checking gradients against central differences.

use crate::gradient::{Backward, enable_grad, grad};
use crate::tensor::Tensor;
use mg_device::{DType, Device, Error, ErrorKind, Result, Shape};
use std::panic::Location;

/// How closely [`gradcheck`] compares: `|analytic − numeric| ≤ atol + rtol · |numeric|`. The defaults are PyTorch's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The step of the central difference. Its error is about `eps²·f‴/6 + 10⁻¹⁶·f/eps`.
    pub eps: f64,
    /// The absolute tolerance.
    pub atol: f64,
    /// The tolerance relative to the numeric gradient.
    pub rtol: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { eps: 1e-6, atol: 1e-5, rtol: 1e-3 }
    }
}

/// What [`gradcheck`] found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// How many elements of inputs were varied.
    pub elements: usize,
    /// The largest `|analytic − numeric|`.
    pub max_error: f64,
}

/// Compares the gradients of `f` at `inputs` with central differences, element by element.
///
/// The inputs that require a gradient are varied, the others are passed as they are. What is differentiated is a fixed
/// combination `Σ wᵢ yᵢ` of the result's elements with weights between ½ and 1½ in magnitude, so one backward pass and
/// two calls of `f` an input element check the whole Jacobian ("fast mode" in PyTorch). A result that requires no
/// gradient counts as one whose gradient is 0.
///
/// `f` must be a function: the same result for the same inputs (seed random numbers inside), and smooth near them.
///
/// # Errors
///
/// [`ErrorKind::Gradient`] that names input, element and both numbers where they differ (NaN differs from everything);
/// [`ErrorKind::DType`] where an input that requires a gradient, or the result, is not f64; [`ErrorKind::Value`] where no
/// input requires a gradient; and whatever `f` answers with.
///
/// ```
/// use mg_autograd::check::Options;
/// use mg_autograd::{Tensor, gradcheck};
///
/// let x = Tensor::from_slice(&[0.5f64, -1.0, 2.0]).requires_grad_(true)?;
/// let report = gradcheck(|x| Ok(x[0].tanh().square().sum()), &[x], Options::default())?;
/// assert_eq!(report.elements, 3);
/// # Ok::<(), mg_device::Error>(())
/// ```
#[track_caller]
pub fn gradcheck(
    f: impl Fn(&[Tensor]) -> Result<Tensor>,
    inputs: &[Tensor],
    options: Options,
) -> Result<Report> {
    compare(Check { op: "gradcheck", options, location: Location::caller() }, &f, inputs)
}

/// Compares the second derivatives of `f` at `inputs` with central differences of its first.
///
/// [`gradcheck`] of the function that takes the inputs and a seed gradient to the gradients of `f`, so both how the
/// gradients depend on the inputs and how they depend on the seed is checked.
///
/// # Errors
///
/// As [`gradcheck`]. The last input that an error may name is the seed.
#[track_caller]
pub fn gradgradcheck(
    f: impl Fn(&[Tensor]) -> Result<Tensor>,
    inputs: &[Tensor],
    options: Options,
) -> Result<Report> {
    let check = Check { op: "gradgradcheck", options, location: Location::caller() };
    let _on = enable_grad();
    let y = f(inputs)?;
    check.takes("the result", y.dtype())?;
    let seed = leaf(weights(y.numel()), &y.shape(), y.device())?;
    let n = inputs.len();
    let mut all = inputs.to_vec();
    all.push(seed);
    let gradients = |x: &[Tensor]| -> Result<Tensor> {
        let varied: Vec<&Tensor> = x[..n].iter().filter(|t| t.requires_grad()).collect();
        let how = Backward { create_graph: true, ..Backward::default() };
        let found = gradients_of(&f(&x[..n])?, &varied, &x[n], how)?;
        let flat = found.iter().map(|g| g.reshape(&[-1])).collect::<Result<Vec<_>>>()?;
        Tensor::cat(&flat.iter().collect::<Vec<_>>(), 0)
    };
    compare(check, &gradients, &all)
}

/// What a check is of, for its errors.
#[derive(Clone, Copy)]
struct Check {
    op: &'static str,
    options: Options,
    location: &'static Location<'static>,
}

impl Check {
    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(self.op, kind).with_location(self.location)
    }

    fn takes(&self, what: &str, dtype: DType) -> Result<()> {
        if dtype == DType::F64 {
            return Ok(());
        }
        let text = format!("{what} is {dtype}; differences are exact enough in f64 only");
        Err(self.error(ErrorKind::DType(text)))
    }
}

/// Fixed numbers of magnitude ½ to 1½ and both signs, by multiplication with the golden ratio modulo 1.
fn weights(n: usize) -> Vec<f64> {
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    (0..n)
        .map(|i| {
            let u = ((i + 1) as f64 * golden).fract();
            if i % 3 == 1 { -0.5 - u } else { 0.5 + u }
        })
        .collect()
}

/// The gradients of `Σ seed · y`; zeros where there is none.
fn gradients_of(y: &Tensor, inputs: &[&Tensor], seed: &Tensor, how: Backward) -> Result<Vec<Tensor>> {
    let found =
        if y.requires_grad() { grad(&[y], inputs, &[Some(seed)], how)? } else { vec![None; inputs.len()] };
    Ok(found.into_iter().zip(inputs).map(|(g, x)| g.unwrap_or_else(|| x.zeros_like())).collect())
}

fn compare(check: Check, f: &dyn Fn(&[Tensor]) -> Result<Tensor>, inputs: &[Tensor]) -> Result<Report> {
    let _on = enable_grad();
    let varied: Vec<usize> = (0..inputs.len()).filter(|&i| inputs[i].requires_grad()).collect();
    if varied.is_empty() {
        return Err(check.error(ErrorKind::Value("no input requires a gradient".into())));
    }
    // Leaves of our own, so that nothing is left behind in the caller's.
    let mut own = inputs.to_vec();
    for &i in &varied {
        check.takes(&format!("input {i}"), inputs[i].dtype())?;
        own[i] = leaf(inputs[i].to_vec::<f64>()?, &inputs[i].shape(), inputs[i].device())?;
    }
    let y = f(&own)?;
    check.takes("the result", y.dtype())?;
    let weight = weights(y.numel());
    let seed = Tensor::from_vec(weight.clone(), &y.shape())?.to(y.device())?;
    let leaves: Vec<&Tensor> = varied.iter().map(|&i| &own[i]).collect();
    let analytic = gradients_of(&y, &leaves, &seed, Backward::default())?;

    let Options { eps, atol, rtol } = check.options;
    let mut report = Report::default();
    for (analytic, &i) in analytic.iter().zip(&varied) {
        let shape = inputs[i].shape();
        if analytic.shape() != shape {
            let text = format!("the gradient of input {i} has shape {}, the input {shape}", analytic.shape());
            return Err(check.error(ErrorKind::Gradient(text)));
        }
        let analytic = analytic.to_vec::<f64>()?;
        let at = inputs[i].to_vec::<f64>()?;
        for (element, &analytic) in analytic.iter().enumerate() {
            let mut sides = [0.0, 0.0];
            let mut step = 0.0;
            for (side, sign) in sides.iter_mut().zip([1.0, -1.0]) {
                let mut moved = at.clone();
                moved[element] += sign * eps;
                // What the rounding of x ± eps left of the step.
                step += sign * moved[element];
                let mut x = own.clone();
                x[i] = leaf(moved, &shape, own[i].device())?;
                let y = f(&x)?.to_vec::<f64>()?;
                *side = y.iter().zip(&weight).map(|(y, w)| y * w).sum();
            }
            let numeric = (sides[0] - sides[1]) / step;
            let error = (analytic - numeric).abs();
            let close = error <= atol + rtol * numeric.abs();
            if !close {
                let index = unravel(element, &shape);
                let text = format!(
                    "the gradient of input {i} at element {index:?} is {analytic}, central differences give {numeric}"
                );
                return Err(check.error(ErrorKind::Gradient(text)));
            }
            report.elements += 1;
            report.max_error = report.max_error.max(error);
        }
    }
    Ok(report)
}

fn leaf(values: Vec<f64>, shape: &Shape, device: Device) -> Result<Tensor> {
    Tensor::from_vec(values, shape)?.to(device)?.requires_grad_(true)
}

/// The index of the element that comes `at`-th in row-major order.
fn unravel(mut at: usize, shape: &Shape) -> Vec<usize> {
    let mut index = vec![0; shape.rank()];
    for (i, &n) in index.iter_mut().zip(shape.iter()).rev() {
        *i = at % n;
        at /= n;
    }
    index
}
