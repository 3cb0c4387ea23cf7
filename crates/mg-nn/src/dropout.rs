//! [`Dropout`].

use mg_autograd::Tensor;
use mg_device::{Error, ErrorKind, Result};

use crate::module::{Mode, Module, Visitor};

/// In training, zeros with probability `p` and the rest scaled by 1/(1 − p); otherwise the input itself. Srivastava et al.,
/// "Dropout: a simple way to prevent neural networks from overfitting", 2014.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::{Dropout, Module};
///
/// let dropout = Dropout::new(0.5)?;
/// let x = Tensor::from_slice(&[1.0f32; 100]);
/// assert!(dropout.forward(&x)?.to_vec::<f32>()?.iter().all(|&v| v == 0.0 || v == 2.0));
/// dropout.eval();
/// assert_eq!(dropout.forward(&x)?.to_vec::<f32>()?, [1.0; 100]);
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Debug)]
pub struct Dropout {
    p: f64,
    mode: Mode,
}

impl Dropout {
    /// With the probability of a zero.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a probability outside [0, 1].
    #[track_caller]
    pub fn new(p: f64) -> Result<Dropout> {
        if !(0.0..=1.0).contains(&p) {
            let text = format!("takes a probability in [0, 1], got {p}");
            return Err(Error::new("Dropout", ErrorKind::Value(text)));
        }
        Ok(Dropout { p, mode: Mode::default() })
    }
}

impl Module for Dropout {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_dropout(self.p, self.mode.is_training())
    }
    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        visitor.mode(&self.mode);
    }
    fn describe(&self) -> String {
        format!("Dropout(p={})", self.p)
    }
}
