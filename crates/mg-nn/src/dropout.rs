//! Dropout: parts of an input that are left out in training.

use mg_autograd::Tensor;
use mg_device::{Error, ErrorKind, Result};

use crate::module::{Mode, Module, Visitor};

macro_rules! dropouts {
    ($($(#[doc = $doc:literal])+ $Name:ident $op:ident;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Debug)]
        pub struct $Name {
            p: f64,
            mode: Mode,
        }

        impl $Name {
            /// With the probability of a zero.
            ///
            /// # Errors
            ///
            /// [`ErrorKind::Value`] for a probability outside [0, 1].
            #[track_caller]
            pub fn new(p: f64) -> Result<$Name> {
                if !(0.0..=1.0).contains(&p) {
                    let text = format!("takes a probability in [0, 1], got {p}");
                    return Err(Error::new(stringify!($Name), ErrorKind::Value(text)));
                }
                Ok($Name { p, mode: Mode::default() })
            }
        }

        impl Module for $Name {
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                x.$op(self.p, self.mode.is_training())
            }
            fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
                visitor.mode(&self.mode);
            }
            fn describe(&self) -> String {
                format!("{}(p={})", stringify!($Name), self.p)
            }
        }
    )*};
}
dropouts! {
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
    Dropout try_dropout;
    /// As [`Dropout`], of whole channels `[n, channels, length]`: Tompson et al., 2014.
    Dropout1d try_dropout1d;
    /// As [`Dropout`], of whole channels `[n, channels, height, width]`.
    Dropout2d try_dropout2d;
    /// As [`Dropout`], of whole channels `[n, channels, depth, height, width]`.
    Dropout3d try_dropout3d;
    /// As [`Dropout`], and mean and variance stay what they were: for [`SELU`](crate::SELU). Klambauer et al., 2017.
    AlphaDropout try_alpha_dropout;
    /// As [`AlphaDropout`], of whole channels.
    FeatureAlphaDropout try_feature_alpha_dropout;
}
