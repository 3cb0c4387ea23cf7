//! Convolutions, and their transposes.

use mg_autograd::{Padding, Tensor};
use mg_device::{DType, Error, ErrorKind, Result};

use crate::current::{current, current_of};
use crate::module::{Module, told};
use crate::options::{ByName, layer_options};
use crate::{fields, init};

layer_options! {
    /// How a convolution walks over its input, with PyTorch's defaults.
    #[derive(Clone, Debug, PartialEq)]
    ConvOptions<AXES> {
        /// The distance from one window to the next: 1.
        stride: [usize; AXES] = [1; AXES],
        /// Zeros at both ends of each axis: 0. `None` adds as many as keep sizes (PyTorch's "same").
        padding: Option<[usize; AXES]> = Some([0; AXES]),
        /// The distance between a window's elements: 1.
        dilation: [usize; AXES] = [1; AXES],
        /// Parts that channels fall into, each seen by its own outputs alone: 1.
        groups: usize = 1,
        /// A number is added to each output channel: yes.
        bias: bool = true,
    }
}

layer_options! {
    /// How the transpose of a convolution walks over its output, with PyTorch's defaults.
    #[derive(Clone, Debug, PartialEq)]
    ConvTransposeOptions<AXES> {
        /// The distance from one window of the output to the next: 1.
        stride: [usize; AXES] = [1; AXES],
        /// What is left out at both ends of each axis: 0.
        padding: [usize; AXES] = [0; AXES],
        /// What is added at one end of each axis: 0. Several sizes of an input have one size of output with a stride.
        output_padding: [usize; AXES] = [0; AXES],
        /// The distance between a window's elements: 1.
        dilation: [usize; AXES] = [1; AXES],
        /// Parts that channels fall into: 1.
        groups: usize = 1,
        /// A number is added to each output channel: yes.
        bias: bool = true,
    }
}

/// The options of a convolution by name, with their defaults.
pub(crate) fn defaults(layer: &str) -> Option<ByName> {
    Some(match layer.strip_prefix("Lazy").unwrap_or(layer) {
        "Conv1d" => ConvOptions::<1>::default().by_name(),
        "Conv2d" => ConvOptions::<2>::default().by_name(),
        "Conv3d" => ConvOptions::<3>::default().by_name(),
        "ConvTranspose1d" => ConvTransposeOptions::<1>::default().by_name(),
        "ConvTranspose2d" => ConvTransposeOptions::<2>::default().by_name(),
        "ConvTranspose3d" => ConvTransposeOptions::<3>::default().by_name(),
        _ => return None,
    })
}

/// A weight `[first, second / groups, kernel…]` and a bias of `out`, both drawn from ±1/√(inputs of an output) as PyTorch draws them.
#[track_caller]
fn parameters(
    op: &'static str,
    [first, second, out]: [usize; 3],
    kernel: &[usize],
    groups: usize,
    bias: bool,
    dtype: DType,
) -> Result<(Tensor, Option<Tensor>)> {
    if groups == 0 || !first.is_multiple_of(groups) || !second.is_multiple_of(groups) {
        let text = format!("{first} and {second} channels do not fall into {groups} groups");
        return Err(Error::new(op, ErrorKind::Value(text)));
    }
    let mut shape = vec![first, second / groups];
    shape.extend(kernel);
    let bound = init::default_bound(shape[1..].iter().product());
    let weight = init::uniform_parameter(&shape, bound, dtype)?;
    let bias = if bias { Some(init::uniform_parameter(&[out], bound, dtype)?) } else { None };
    Ok((weight, bias))
}

/// `(3, 3)`, as PyTorch prints it.
fn tuple(numbers: &[usize]) -> String {
    let list: Vec<String> = numbers.iter().map(usize::to_string).collect();
    if let [one] = &list[..] { format!("({one},)") } else { format!("({})", list.join(", ")) }
}

/// Numbers as PyTorch prints them, where they are not the usual ones.
fn unusual(numbers: &[usize], usual: usize) -> Option<String> {
    numbers.iter().any(|&n| n != usual).then(|| tuple(numbers))
}

/// A layer in PyTorch's words: `told` is what stands between stride and groups, where it is said.
fn described(
    name: &str,
    [inputs, outputs]: [usize; 2],
    [kernel, stride]: [&[usize]; 2],
    told: &[(&str, Option<String>)],
    groups: usize,
    bias: bool,
) -> String {
    let (kernel, stride) = (tuple(kernel), tuple(stride));
    let mut text = format!("{name}({inputs}, {outputs}, kernel_size={kernel}, stride={stride}");
    for (name, value) in told {
        value.iter().for_each(|value| text += &format!(", {name}={value}"));
    }
    if groups != 1 {
        text += &format!(", groups={groups}");
    }
    text + if bias { ")" } else { ", bias=False)" }
}

macro_rules! convolutions {
    ($($(#[doc = $doc:literal])+ $Name:ident $axes:literal $op:ident;)*) => {$(
        $(#[doc = $doc])+
        pub struct $Name {
            /// `[out_channels, in_channels / groups, kernel…]`.
            pub weight: Tensor,
            /// `[out_channels]`.
            pub bias: Option<Tensor>,
            pub(crate) options: ConvOptions<$axes>,
        }

        impl $Name {
            /// With a bias, in f32, windows next to each other and nothing at the ends. Weight and bias are drawn uniformly from
            /// ±1/√(`in_channels` · kernel), as PyTorch does.
            ///
            /// # Errors
            ///
            /// Sizes that overflow; memory.
            #[track_caller]
            pub fn new(in_channels: usize, out_channels: usize, kernel_size: [usize; $axes]) -> Result<$Name> {
                $Name::with_options(in_channels, out_channels, kernel_size, ConvOptions::default())
            }

            /// With strides, padding, dilation and groups.
            ///
            /// # Errors
            ///
            /// Channels that do not fall into the groups; a dtype that is not floating point; as `new`.
            #[track_caller]
            pub fn with_options(
                in_channels: usize,
                out_channels: usize,
                kernel_size: [usize; $axes],
                options: ConvOptions<$axes>,
            ) -> Result<$Name> {
                let ConvOptions { groups, bias, dtype, .. } = options;
                let channels = [out_channels, in_channels, out_channels];
                let (weight, bias) =
                    parameters(stringify!($Name), channels, &kernel_size, groups, bias, dtype)?;
                Ok($Name { weight, bias, options })
            }

            pub(crate) fn described_as(&self, name: &str, channels: [usize; 2], kernel: &[usize]) -> String {
                let options = &self.options;
                let padding =
                    options.padding.as_ref().map_or(Some("same".to_owned()), |sizes| unusual(sizes, 0));
                described(
                    name,
                    channels,
                    [kernel, &options.stride],
                    &[("padding", padding), ("dilation", unusual(&options.dilation, 1))],
                    options.groups,
                    self.bias.is_some(),
                )
            }
        }

        impl Module for $Name {
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                let ConvOptions { stride, padding, dilation, groups, .. } = &self.options;
                let padding = match padding {
                    Some(sizes) => Padding::Sizes(sizes),
                    None => Padding::Word("same"),
                };
                let (weight, bias) = (current(&self.weight)?, current_of(&self.bias)?);
                told(self, x.$op(&weight, bias.as_deref(), stride, padding, dilation, *groups))
            }
            fields!(weight, bias);

            fn describe(&self) -> String {
                let shape = self.weight.shape();
                let channels = [shape[1] * self.options.groups, shape[0]];
                self.described_as(stringify!($Name), channels, &shape[2..])
            }
        }
    )*};
}
convolutions! {
    /// A convolution over a signal `[n, channels, length]`, or one without `n`.
    ///
    /// ```
    /// use mg_autograd::Tensor;
    /// use mg_nn::{Conv1d, Module};
    ///
    /// let layer = Conv1d::new(3, 16, [3])?;
    /// let x = Tensor::from_vec(vec![1.0f32; 2 * 3 * 8], &[2, 3, 8])?;
    /// assert_eq!(*layer.forward(&x)?.shape(), [2, 16, 6]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    Conv1d 1 try_conv1d;
    /// A convolution over images `[n, channels, height, width]`, or one without `n`.
    ///
    /// ```
    /// use mg_autograd::Tensor;
    /// use mg_nn::{Conv2d, Module};
    ///
    /// let layer = Conv2d::new(3, 16, [3, 3])?;
    /// let x = Tensor::from_vec(vec![1.0f32; 2 * 3 * 64], &[2, 3, 8, 8])?;
    /// assert_eq!(*layer.forward(&x)?.shape(), [2, 16, 6, 6]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    Conv2d 2 try_conv2d;
    /// A convolution over volumes `[n, channels, depth, height, width]`, or one without `n`.
    ///
    /// ```
    /// use mg_autograd::Tensor;
    /// use mg_nn::{Conv3d, Module};
    ///
    /// let layer = Conv3d::new(3, 16, [3, 3, 3])?;
    /// let x = Tensor::from_vec(vec![1.0f32; 2 * 3 * 256], &[2, 3, 4, 8, 8])?;
    /// assert_eq!(*layer.forward(&x)?.shape(), [2, 16, 2, 6, 6]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    Conv3d 3 try_conv3d;
}

macro_rules! transposes {
    ($($(#[doc = $doc:literal])+ $Name:ident $axes:literal $op:ident;)*) => {$(
        $(#[doc = $doc])+
        pub struct $Name {
            /// `[in_channels, out_channels / groups, kernel…]`.
            pub weight: Tensor,
            /// `[out_channels]`.
            pub bias: Option<Tensor>,
            pub(crate) options: ConvTransposeOptions<$axes>,
        }

        impl $Name {
            /// With a bias, in f32, windows next to each other.
            ///
            /// # Errors
            ///
            /// Sizes that overflow; memory.
            #[track_caller]
            pub fn new(in_channels: usize, out_channels: usize, kernel_size: [usize; $axes]) -> Result<$Name> {
                $Name::with_options(in_channels, out_channels, kernel_size, ConvTransposeOptions::default())
            }

            /// With strides, padding, dilation and groups.
            ///
            /// # Errors
            ///
            /// Channels that do not fall into the groups; a dtype that is not floating point; as `new`.
            #[track_caller]
            pub fn with_options(
                in_channels: usize,
                out_channels: usize,
                kernel_size: [usize; $axes],
                options: ConvTransposeOptions<$axes>,
            ) -> Result<$Name> {
                let ConvTransposeOptions { groups, bias, dtype, .. } = options;
                let channels = [in_channels, out_channels, out_channels];
                let (weight, bias) =
                    parameters(stringify!($Name), channels, &kernel_size, groups, bias, dtype)?;
                Ok($Name { weight, bias, options })
            }

            pub(crate) fn described_as(&self, name: &str, channels: [usize; 2], kernel: &[usize]) -> String {
                let options = &self.options;
                described(
                    name,
                    channels,
                    [kernel, &options.stride],
                    &[
                        ("padding", unusual(&options.padding, 0)),
                        ("dilation", unusual(&options.dilation, 1)),
                        ("output_padding", unusual(&options.output_padding, 0)),
                    ],
                    options.groups,
                    self.bias.is_some(),
                )
            }
        }

        impl Module for $Name {
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                let ConvTransposeOptions { stride, padding, output_padding, dilation, groups, .. } = &self.options;
                let (weight, bias) = (current(&self.weight)?, current_of(&self.bias)?);
                told(self, x.$op(&weight, bias.as_deref(), stride, padding, output_padding, *groups, dilation))
            }
            fields!(weight, bias);

            fn describe(&self) -> String {
                let shape = self.weight.shape();
                let channels = [shape[0], shape[1] * self.options.groups];
                self.described_as(stringify!($Name), channels, &shape[2..])
            }
        }
    )*};
}
transposes! {
    /// The transpose of a convolution over signals: what makes them longer.
    ConvTranspose1d 1 try_conv_transpose1d;
    /// The transpose of a convolution over images: what makes them larger.
    ConvTranspose2d 2 try_conv_transpose2d;
    /// The transpose of a convolution over volumes: what makes them larger.
    ConvTranspose3d 3 try_conv_transpose3d;
}
