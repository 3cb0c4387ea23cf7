//! Powers.

use super::operand::{Operand, Term, cast};
use super::{binary, reflected};
use crate::tensor::Tensor;
use mg_device::{Error, ErrorKind, Result};
use mg_kernels::Row;

impl Tensor {
    /// `self` to the power of a number.
    ///
    /// # Panics
    ///
    /// As [`Tensor::pow`].
    #[track_caller]
    pub fn powf(&self, exponent: f64) -> Tensor {
        self.pow(exponent)
    }
}

/// A tensor to a power; see [`Tensor::pow`].
#[track_caller]
pub(crate) fn power(base: &Tensor, exponent: Operand) -> Result<Tensor> {
    let own = base.dtype();
    let whole = match exponent {
        Operand::Int(n) => Some(n),
        Operand::Bool(b) if own.is_bool() => {
            // To the power True it stays; to the power False it is 1.
            return if b { Ok(Tensor::from_node(base.node().alias())) } else { Ok(base.ones_like()) };
        }
        Operand::Bool(b) => Some(b.into()),
        Operand::Float(v) if own.is_float() && v == v.trunc() && v.abs() < 4.0 => Some(v as i64),
        Operand::Tensor(_) | Operand::Float(_) | Operand::Live(_) => None,
    };
    match whole {
        // Another tensor of the same value: writing to one does not change the other.
        Some(1) => return Ok(Tensor::from_node(cast(base.node(), Row::Square.operand(own)).alias())),
        // 1 whatever the base is, and its gradient 0.
        Some(0) if own.is_float() => {
            let (node, ones) = (base.node(), base.ones_like());
            if node.is_tracked() && mg_graph::is_tracking() {
                return Ok(Tensor::from_node(crate::parts::without_slope(&ones.node(), &node)));
            }
            return Ok(ones);
        }
        Some(2) => return base.try_square(),
        Some(3) => return base.try_square()?.try_mul(base),
        Some(-1) if own.is_float() => return reflected(Row::Div, Term::Float(1.0), base),
        Some(n) if !own.is_float() => return integer_power(base, n),
        _ => {}
    }
    if matches!(exponent, Operand::Float(0.5)) {
        return base.try_sqrt();
    }
    binary(Row::Pow, base, exponent.look())
}

/// A whole power of integers, by squaring.
#[track_caller]
fn integer_power(base: &Tensor, exponent: i64) -> Result<Tensor> {
    if exponent < 0 {
        let text = format!("integers to a negative power ({exponent}); convert to float first");
        return Err(Error::new("pow", ErrorKind::Value(text)));
    }
    if let Some((_, largest)) = base.dtype().int_range()
        && i128::from(exponent) > largest
    {
        let text = format!("the exponent {exponent} does not fit {}", base.dtype());
        return Err(Error::new("pow", ErrorKind::Value(text)));
    }
    let mut square = Tensor::from_node(cast(base.node(), Row::Square.operand(base.dtype())));
    let mut out: Option<Tensor> = None;
    let mut n = exponent;
    while n > 0 {
        if n & 1 == 1 {
            out = Some(match out {
                Some(o) => o.try_mul(&square)?,
                None => square.clone(),
            });
        }
        n >>= 1;
        if n > 0 {
            square = square.try_mul(&square)?;
        }
    }
    match out {
        Some(out) => Ok(out),
        None => Ok(square.ones_like()),
    }
}
