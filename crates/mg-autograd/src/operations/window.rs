//! Windows that signals are weighed with. As PyTorch's `signal.windows`: `m` points, symmetric or (with `sym` false) one period
//! of what repeats, in the default dtype unless another is named.

use super::creation::{finished, on};
use crate::tensor::Tensor;
use mg_device::{AxisSet, DType, Device, Error, ErrorKind, Result, Shape};
use mg_graph::Node;
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;
use std::f64::consts::{PI, TAU};

/// What a window is made in.
struct Made {
    dtype: DType,
    device: Device,
    requires_grad: bool,
}

impl Made {
    fn of(
        op: &'static str,
        dtype: Option<DType>,
        device: Option<Device>,
        requires_grad: bool,
    ) -> Result<Made> {
        let dtype = dtype.unwrap_or_else(DType::default_float);
        if !dtype.is_float() {
            return Err(Error::new(
                op,
                ErrorKind::DType(format!("takes a floating-point dtype, got {dtype}")),
            ));
        }
        Ok(Made { dtype, device: on(device)?, requires_grad })
    }

    /// `f` of the points 0, 1, … in f64, rounded once.
    fn points(&self, m: usize, f: impl FnOnce(&Node) -> Result<Node>) -> Result<Tensor> {
        let i = Node::ramp(Shape::new(&[m])?, self.device).cast(DType::F64);
        finished(f(&i)?.cast(self.dtype), self.requires_grad)
    }
}

/// The number of gaps in which the window's points are taken.
fn gaps(m: usize, sym: bool) -> f64 {
    (if sym { m.saturating_sub(1) } else { m }).max(1) as f64
}

/// `Σ (−1)ᵏ aₖ cos(k x)`, of x that goes once around; one point is 1.
fn cosines(m: usize, a: &[f64], sym: bool, made: &Made) -> Result<Tensor> {
    made.points(m, |i| {
        if m == 1 {
            return Ok(i.lit(1.0).expand(*i.shape())?.cast(DType::F64));
        }
        let x = i.scale(TAU / gaps(m, sym));
        let mut sum: Option<Node> = None;
        for (k, &weight) in a.iter().enumerate() {
            let sign = if k % 2 == 0 { weight } else { -weight };
            let term = x.scale(k as f64).map(Row::Cos).scale(sign);
            sum = Some(sum.map_or(term.clone(), |s| s.add(&term)));
        }
        Ok(sum.unwrap_or_else(|| x.scale(0.0)))
    })
}

/// The middle of the points.
fn middle(m: usize, sym: bool) -> f64 {
    (if !sym && m > 1 { m } else { m.saturating_sub(1) }) as f64 / 2.0
}

#[operations(WINDOWS)]
impl Tensor {
    /// Bartlett's window, a triangle.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; a device that is not there.
    #[surface(windows, keywords_from = "sym")]
    pub fn bartlett(
        m: usize,
        #[default(true)] sym: bool,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let made = Made::of("bartlett", dtype, device, requires_grad)?;
        made.points(m, |i| {
            if m == 1 {
                return i.lit(1.0).expand(*i.shape());
            }
            let x = i.scale(2.0 / gaps(m, sym));
            Ok(x.lit(1.0).sub(&x.sub(&x.lit(1.0)).map(Row::Abs)))
        })
    }

    /// Blackman's window: `0.42 − 0.5 cos x + 0.08 cos 2x`.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; a device that is not there.
    #[surface(windows, keywords_from = "sym")]
    pub fn blackman(
        m: usize,
        #[default(true)] sym: bool,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        cosines(m, &[0.42, 0.5, 0.08], sym, &Made::of("blackman", dtype, device, requires_grad)?)
    }

    /// A window of half a period of the sine.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; a device that is not there.
    #[surface(windows, keywords_from = "sym")]
    pub fn cosine(
        m: usize,
        #[default(true)] sym: bool,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let made = Made::of("cosine", dtype, device, requires_grad)?;
        let points = if !sym && m > 1 { m + 1 } else { m };
        made.points(m, |i| Ok(i.add(&i.lit(0.5)).scale(PI / points.max(1) as f64).map(Row::Sin)))
    }

    /// A window that falls off exponentially by `tau` from `center`, which a symmetric one has in its middle.
    ///
    /// # Errors
    ///
    /// A `tau` that is not positive, a `center` of a symmetric window; a dtype that is not floating point; a device that is not
    /// there.
    #[surface(windows, keywords_from = "center")]
    pub fn exponential(
        m: usize,
        #[default(None)] center: Option<f64>,
        #[default(1.0)] tau: f64,
        #[default(true)] sym: bool,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        if tau.is_nan() || tau <= 0.0 || sym && center.is_some() {
            let center = center.map_or("none".to_owned(), |center| center.to_string());
            let text = format!(
                "takes a positive tau, and no center where it is symmetric, got a tau of {tau} and a center of {center}"
            );
            return Err(Error::new("exponential", ErrorKind::Value(text)));
        }
        let made = Made::of("exponential", dtype, device, requires_grad)?;
        let center = center.unwrap_or(middle(m, sym));
        made.points(m, |i| Ok(i.sub(&i.lit(center)).map(Row::Abs).scale(-1.0 / tau).map(Row::Exp)))
    }

    /// Gauss' bell, of a standard deviation.
    ///
    /// # Errors
    ///
    /// A deviation that is not positive; a dtype that is not floating point; a device that is not there.
    #[surface(windows, keywords_from = "std")]
    pub fn gaussian(
        m: usize,
        #[default(1.0)] std: f64,
        #[default(true)] sym: bool,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        if std.is_nan() || std <= 0.0 {
            let text = format!("takes a positive deviation, got {std}");
            return Err(Error::new("gaussian", ErrorKind::Value(text)));
        }
        let made = Made::of("gaussian", dtype, device, requires_grad)?;
        let scale = 1.0 / (std * std::f64::consts::SQRT_2);
        made.points(m, |i| {
            Ok(i.sub(&i.lit(middle(m, sym))).scale(scale).map(Row::Square).neg().map(Row::Exp))
        })
    }

    /// A window of cosines: `Σ (−1)ᵏ aₖ cos(k x)`.
    ///
    /// # Errors
    ///
    /// No weights; a dtype that is not floating point; a device that is not there.
    #[surface(windows, keywords_from = "a")]
    pub fn general_cosine(
        m: usize,
        a: &[f64],
        #[default(true)] sym: bool,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        if a.is_empty() {
            return Err(Error::new("general_cosine", ErrorKind::Value("takes a weight at least".into())));
        }
        cosines(m, a, sym, &Made::of("general_cosine", dtype, device, requires_grad)?)
    }

    /// A window of one cosine: `α − (1 − α) cos x`.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; a device that is not there.
    #[surface(windows, keywords_from = "alpha")]
    pub fn general_hamming(
        m: usize,
        #[default(0.54)] alpha: f64,
        #[default(true)] sym: bool,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let made = Made::of("general_hamming", dtype, device, requires_grad)?;
        cosines(m, &[alpha, 1.0 - alpha], sym, &made)
    }

    /// Hamming's window: `0.54 − 0.46 cos x`.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; a device that is not there.
    #[surface(windows, keywords_from = "sym")]
    pub fn hamming(
        m: usize,
        #[default(true)] sym: bool,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        cosines(m, &[0.54, 0.46], sym, &Made::of("hamming", dtype, device, requires_grad)?)
    }

    /// Hann's window: `½ − ½ cos x`.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; a device that is not there.
    #[surface(windows, keywords_from = "sym")]
    pub fn hann(
        m: usize,
        #[default(true)] sym: bool,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        cosines(m, &[0.5, 0.5], sym, &Made::of("hann", dtype, device, requires_grad)?)
    }

    /// Kaiser's window, `I₀(β √(1 − x²)) / I₀(β)`. The modified Bessel function is the mean of `exp(y cos θ)` over a circle, by the
    /// trapezoidal rule, which converges exponentially on what is periodic (Trefethen and Weideman, "The exponentially convergent
    /// trapezoidal rule", 2014).
    ///
    /// # Errors
    ///
    /// A negative `beta`; a dtype that is not floating point; a device that is not there.
    #[surface(windows, keywords_from = "beta")]
    pub fn kaiser(
        m: usize,
        #[default(12.0)] beta: f64,
        #[default(true)] sym: bool,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        if !beta.is_finite() || beta < 0.0 {
            let text = format!("takes a finite beta that is not negative, got {beta}");
            return Err(Error::new("kaiser", ErrorKind::Value(text)));
        }
        let made = Made::of("kaiser", dtype, device, requires_grad)?;
        made.points(m, |i| {
            if m == 1 {
                return i.lit(1.0).expand(*i.shape());
            }
            // So many points of the circle that what they miss, I_n(β) / I₀(β), is below the rounding of f64.
            let n = 32 + (9.5 * beta.sqrt()).ceil() as usize;
            let angle = Node::ramp(Shape::new(&[n])?, made.device).cast(DType::F64).scale(TAU / n as f64);
            let cosine = angle.map(Row::Cos);
            let x = i.scale(2.0 / gaps(m, sym)).sub(&i.lit(1.0));
            let inside = x.lit(1.0).sub(&x.map(Row::Square));
            let inside = Node::apply(Row::Maximum, &[&inside, &inside.lit(0.0)]);
            let y = inside.map(Row::Sqrt).scale(beta).reshape(Shape::new(&[m, 1])?)?;
            // Both parts are divided by exp β, the largest term.
            let mean = |y: &Node, mask: AxisSet| -> Result<Node> {
                let terms = Node::map(Row::Mul, &[y, &cosine])?;
                terms.sub(&terms.lit(beta)).map(Row::Exp).reduce(ReduceKind::Sum, mask, false)
            };
            let whole = mean(&cosine.lit(beta), 1)?;
            Ok(mean(&y, 2)?.div(&whole))
        })
    }

    /// Nuttall's window, of four cosines.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; a device that is not there.
    #[surface(windows, keywords_from = "sym")]
    pub fn nuttall(
        m: usize,
        #[default(true)] sym: bool,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let weights = [0.363_581_9, 0.489_177_5, 0.136_599_5, 0.010_641_1];
        cosines(m, &weights, sym, &Made::of("nuttall", dtype, device, requires_grad)?)
    }

    /// Bartlett's window, a triangle: `window_length` points of one period, or (with `periodic` false) symmetric ones. As `signal.windows.bartlett`.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; a device that is not there.
    #[surface(function)]
    pub fn bartlett_window(
        window_length: usize,
        #[default(true)] periodic: bool,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let (m, sym) = (window_length, !periodic);
        Tensor::try_bartlett(m, sym, dtype, device, requires_grad)
    }

    /// Blackman's window: `window_length` points of one period, or (with `periodic` false) symmetric ones. As `signal.windows.blackman`.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; a device that is not there.
    #[surface(function)]
    pub fn blackman_window(
        window_length: usize,
        #[default(true)] periodic: bool,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let (m, sym) = (window_length, !periodic);
        Tensor::try_blackman(m, sym, dtype, device, requires_grad)
    }

    /// Hann's window, `sin²`: `window_length` points of one period, or (with `periodic` false) symmetric ones. As `signal.windows.hann`.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; a device that is not there.
    #[surface(function)]
    pub fn hann_window(
        window_length: usize,
        #[default(true)] periodic: bool,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let (m, sym) = (window_length, !periodic);
        Tensor::try_hann(m, sym, dtype, device, requires_grad)
    }

    /// Hamming's window `alpha − beta cos x`: `window_length` points of one period, or (with `periodic` false) symmetric ones.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; a device that is not there.
    #[surface(function)]
    pub fn hamming_window(
        window_length: usize,
        #[default(true)] periodic: bool,
        #[default(0.54)] alpha: f64,
        #[default(0.46)] beta: f64,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let made = Made::of("hamming_window", dtype, device, requires_grad)?;
        cosines(window_length, &[alpha, beta], !periodic, &made)
    }

    /// Kaiser's window: `window_length` points of one period, or (with `periodic` false) symmetric ones. As `signal.windows.kaiser`.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; a device that is not there.
    #[surface(function)]
    pub fn kaiser_window(
        window_length: usize,
        #[default(true)] periodic: bool,
        #[default(12.0)] beta: f64,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        Tensor::try_kaiser(window_length, beta, !periodic, dtype, device, requires_grad)
    }
}
