//! What layers are made with: structs of options, and their defaults by name.

use crate::optim::OptionValue;
use crate::{cells, linear, norm, recurrent};

/// A struct of a layer's options with their defaults, PyTorch's, which are read by name too. Beside them is the dtype of the
/// parameters, which is f32.
macro_rules! layer_options {
    ($(#[$meta:meta])* $Name:ident { $($(#[$doc:meta])* $field:ident: $T:ty = $default:expr,)+ }) => {
        $(#[$meta])*
        pub struct $Name {
            $($(#[$doc])* pub $field: $T,)+
            /// Of the parameters: f32.
            pub dtype: mg_device::DType,
        }

        impl Default for $Name {
            fn default() -> $Name {
                $Name { $($field: $default,)+ dtype: mg_device::DType::F32 }
            }
        }

        impl $Name {
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
    [linear::defaults, norm::defaults, cells::defaults, recurrent::defaults].iter().find_map(|of| of(layer))
}
