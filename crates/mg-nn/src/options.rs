//! What layers are made with: structs of options, and their defaults by name.

use crate::optim::OptionValue;
use crate::{adaptive, attention, cells, convolution, decoder, linear, norm, recurrent};

/// A struct of a layer's options with their defaults, PyTorch's, which are read by name too. Beside them is the dtype of the
/// parameters, which is f32. What is said of each axis is one number by name where it is the same for all.
macro_rules! layer_options {
    ($(#[$meta:meta])* $Name:ident $(<$AXES:ident>)? { $($(#[$doc:meta])* $field:ident: $T:ty = $default:expr,)+ }) => {
        $(#[$meta])*
        pub struct $Name $(<const $AXES: usize>)? {
            $($(#[$doc])* pub $field: $T,)+
            /// Of the parameters: f32.
            pub dtype: mg_device::DType,
        }

        impl $(<const $AXES: usize>)? Default for $Name $(<$AXES>)? {
            fn default() -> Self {
                $Name { $($field: $default,)+ dtype: mg_device::DType::F32 }
            }
        }

        impl $(<const $AXES: usize>)? $Name $(<$AXES>)? {
            /// The options by name, but for the dtype.
            pub(crate) fn by_name(&self) -> $crate::options::ByName {
                vec![$((stringify!($field), $crate::optim::OptionType::value(&self.$field)),)+]
            }
        }
    };
}
pub(crate) use layer_options;

/// Options by name.
pub(crate) type ByName = Vec<(&'static str, OptionValue)>;

/// The options of a layer by name, with their defaults. None where options of such a layer have no names.
#[must_use]
pub fn layer_defaults(layer: &str) -> Option<Vec<(&'static str, OptionValue)>> {
    let all = [
        adaptive::defaults,
        attention::defaults,
        cells::defaults,
        convolution::defaults,
        decoder::defaults,
        linear::defaults,
        norm::defaults,
        recurrent::defaults,
    ];
    all.iter().find_map(|of| of(layer))
}
