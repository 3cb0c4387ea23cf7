//! Activation functions.

use super::float;
use crate::functional::wide;
use crate::ops::Operand;
use crate::tensor::Tensor;
use mg_device::{Error, ErrorKind, Result};
use mg_kernels::{Algebra, Row, Rules};
use mg_macros::operations;

#[operations(ACTIVATIONS)]
impl Tensor {
    /// Gaussian error linear unit, `x Φ(x)` (Hendrycks and Gimpel, 2016): by the error function or, with
    /// `approximate = "tanh"`, `½x (1 + tanh(√(2/π)(x + 0.044715x³)))`. Integers become f32.
    ///
    /// # Errors
    ///
    /// Another word than `"none"` and `"tanh"`.
    #[surface(method, nn)]
    pub fn gelu(&self, #[default("none")] approximate: &str) -> Result<Tensor> {
        let own = float(self);
        let x = wide(&own);
        let phi = match approximate {
            "none" => x.scale(std::f64::consts::FRAC_1_SQRT_2).map(Row::Erf),
            "tanh" => {
                let cube = x.map(Row::Square).mul(&x);
                let inner = x.add(&cube.scale(0.044715)).scale((2.0 / std::f64::consts::PI).sqrt());
                inner.map(Row::Tanh)
            }
            other => {
                let text = format!("approximate is \"none\" or \"tanh\", got {other:?}");
                return Err(Error::new("gelu", ErrorKind::Value(text)));
            }
        };
        Ok(Tensor::from_node(x.mul(&phi.scale(0.5).add(&x.lit(0.5))).cast(own.dtype())))
    }

    /// Sigmoid linear unit, `x σ(x)`. Integers become f32.
    #[surface(method, nn, in_place)]
    pub fn silu(&self) -> Result<Tensor> {
        let own = float(self);
        let x = wide(&own);
        Ok(Tensor::from_node(x.mul(&x.map(Row::Sigmoid)).cast(own.dtype())))
    }

    /// `x`, or `negative_slope · x` where `x` is not positive. Integers become f32.
    #[surface(method, nn, in_place)]
    pub fn leaky_relu(&self, #[default(0.01)] negative_slope: f64) -> Result<Tensor> {
        let x = float(self);
        Ok(Tensor::from_node(x.lit(0.0).lt(&x).choose(&x, &x.scale(negative_slope))))
    }

    /// `x`, or `alpha (exp(x / alpha) − 1)` where `x` is not positive (Barron, 2017). Integers become f32.
    ///
    /// # Errors
    ///
    /// An `alpha` of 0.
    #[surface(function, nn, in_place)]
    pub fn celu(&self, #[default(1.0)] alpha: f64) -> Result<Tensor> {
        if alpha == 0.0 {
            return Err(Error::new("celu", ErrorKind::Value("alpha cannot be 0".into())));
        }
        let x = float(self);
        let below = x.scale(1.0 / alpha).map(Row::Exp).sub(&x.lit(1.0)).scale(alpha);
        Ok(Tensor::from_node(x.lit(0.0).lt(&x).choose(&x, &below)))
    }

    /// `ln(exp(x) + exp(y))` without overflow.
    pub fn logaddexp(&self, other: Operand) -> Result<Tensor> {
        let other = other.beside(self);
        let larger = self.try_maximum(&other)?;
        let apart = self.try_sub(&other)?.try_abs()?.try_neg()?;
        larger.try_add(apart.try_exp()?.try_add(1.0)?.try_log()?)
    }
}
