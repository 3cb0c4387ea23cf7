//! Pooling: the largest elements of windows, or their means.

use mg_autograd::Tensor;
use mg_device::Result;

use crate::fields;
use crate::module::Module;

macro_rules! pools {
    ($($axes:literal $Max:ident $max:ident $Avg:ident $avg:ident($($divisor:ident)?) $AdaptiveAvg:ident $adaptive_avg:ident $AdaptiveMax:ident $adaptive_max:ident;)*) => {$(
        /// The largest element of each window.
        #[derive(Clone, Debug)]
        pub struct $Max {
            /// Sizes of a window.
            pub kernel_size: [usize; $axes],
            /// From one window to the next: those of the window where none are named.
            pub stride: Option<[usize; $axes]>,
            /// Places at both ends of each axis, smaller than every number: 0.
            pub padding: [usize; $axes],
            /// The distance between a window's elements: 1.
            pub dilation: [usize; $axes],
            /// Windows that begin inside and end outside count: no.
            pub ceil_mode: bool,
        }

        impl $Max {
            /// Windows side by side.
            pub fn new(kernel_size: [usize; $axes]) -> $Max {
                $Max { kernel_size, stride: None, padding: [0; $axes], dilation: [1; $axes], ceil_mode: false }
            }
        }

        impl Module for $Max {
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                let stride = self.stride.as_ref().map_or(&[][..], |s| s);
                x.$max(&self.kernel_size, stride, &self.padding, &self.dilation, self.ceil_mode)
            }
            fields!();

            fn describe(&self) -> String {
                let stride = self.stride.unwrap_or(self.kernel_size);
                format!(
                    "{}(kernel_size={:?}, stride={stride:?}, padding={:?}, dilation={:?}, ceil_mode={})",
                    stringify!($Max), self.kernel_size, self.padding, self.dilation, self.ceil_mode
                )
            }
        }

        /// The mean of each window.
        #[derive(Clone, Debug)]
        pub struct $Avg {
            /// Sizes of a window.
            pub kernel_size: [usize; $axes],
            /// From one window to the next: those of the window where none are named.
            pub stride: Option<[usize; $axes]>,
            /// Zeros at both ends of each axis: 0.
            pub padding: [usize; $axes],
            /// Windows that begin inside and end outside count: no.
            pub ceil_mode: bool,
            /// The zeros at the ends are among what is averaged: yes.
            pub count_include_pad: bool,
        }

        impl $Avg {
            /// Windows side by side.
            pub fn new(kernel_size: [usize; $axes]) -> $Avg {
                let padding = [0; $axes];
                $Avg { kernel_size, stride: None, padding, ceil_mode: false, count_include_pad: true }
            }
        }

        impl Module for $Avg {
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                let stride = self.stride.as_ref().map_or(&[][..], |s| s);
                x.$avg(&self.kernel_size, stride, &self.padding, self.ceil_mode, self.count_include_pad $(, $divisor)?)
            }
            fields!();

            fn describe(&self) -> String {
                let stride = self.stride.unwrap_or(self.kernel_size);
                format!(
                    "{}(kernel_size={:?}, stride={stride:?}, padding={:?})",
                    stringify!($Avg), self.kernel_size, self.padding
                )
            }
        }

        /// Means of as many windows as there are to be results; `None` keeps an axis as it is.
        #[derive(Clone, Debug)]
        pub struct $AdaptiveAvg {
            /// Results along each axis.
            pub output_size: [Option<usize>; $axes],
        }

        impl Module for $AdaptiveAvg {
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                x.$adaptive_avg(&self.output_size)
            }
            fields!();

            fn describe(&self) -> String {
                format!("{}(output_size={:?})", stringify!($AdaptiveAvg), self.output_size)
            }
        }

        /// The largest elements of as many windows as there are to be results; `None` keeps an axis as it is.
        #[derive(Clone, Debug)]
        pub struct $AdaptiveMax {
            /// Results along each axis.
            pub output_size: [Option<usize>; $axes],
        }

        impl Module for $AdaptiveMax {
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                x.$adaptive_max(&self.output_size)
            }
            fields!();

            fn describe(&self) -> String {
                format!("{}(output_size={:?})", stringify!($AdaptiveMax), self.output_size)
            }
        }
    )*};
}

/// The number of elements of a window divides its sum.
const COUNT: Option<i64> = None;

pools! {
    1 MaxPool1d try_max_pool1d AvgPool1d try_avg_pool1d() AdaptiveAvgPool1d try_adaptive_avg_pool1d AdaptiveMaxPool1d try_adaptive_max_pool1d;
    2 MaxPool2d try_max_pool2d AvgPool2d try_avg_pool2d(COUNT) AdaptiveAvgPool2d try_adaptive_avg_pool2d AdaptiveMaxPool2d try_adaptive_max_pool2d;
    3 MaxPool3d try_max_pool3d AvgPool3d try_avg_pool3d(COUNT) AdaptiveAvgPool3d try_adaptive_avg_pool3d AdaptiveMaxPool3d try_adaptive_max_pool3d;
}

macro_rules! norm_pools {
    ($($axes:literal $Name:ident $pool:ident;)*) => {$(
        /// The norm of each window: `(Σ xᵖ)^(1/p)`; of a `p` of ∞ its largest magnitude, of −∞ the least.
        #[derive(Clone, Debug)]
        pub struct $Name {
            /// `p`.
            pub norm_type: f64,
            /// Sizes of a window.
            pub kernel_size: [usize; $axes],
            /// From one window to the next: those of the window where none are named.
            pub stride: Option<[usize; $axes]>,
            /// Windows that begin inside and end outside count: no.
            pub ceil_mode: bool,
        }

        impl $Name {
            /// Windows side by side.
            pub fn new(norm_type: f64, kernel_size: [usize; $axes]) -> $Name {
                $Name { norm_type, kernel_size, stride: None, ceil_mode: false }
            }
        }

        impl Module for $Name {
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                let stride = self.stride.as_ref().map_or(&[][..], |s| s);
                x.$pool(self.norm_type, &self.kernel_size, stride, self.ceil_mode)
            }
            fields!();

            fn describe(&self) -> String {
                let stride = self.stride.unwrap_or(self.kernel_size);
                format!(
                    "{}(norm_type={}, kernel_size={:?}, stride={stride:?}, ceil_mode={})",
                    stringify!($Name), self.norm_type, self.kernel_size, self.ceil_mode
                )
            }
        }
    )*};
}
norm_pools! {
    1 LPPool1d try_lp_pool1d;
    2 LPPool2d try_lp_pool2d;
    3 LPPool3d try_lp_pool3d;
}

/// How many windows of a [`FractionalMaxPool2d`] or [`FractionalMaxPool3d`] there are along each axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FractionalSize<const AXES: usize> {
    /// So many.
    Size([usize; AXES]),
    /// So many for each of the input's places: below 1.
    Ratio([f64; AXES]),
}

macro_rules! fractional_pools {
    ($($axes:literal $Name:ident $pool:ident;)*) => {$(
        /// The largest elements of windows that begin at random, about as far from each other as their number says: Graham, "Fractional
        /// max-pooling", 2014.
        #[derive(Clone, Debug)]
        pub struct $Name {
            /// Sizes of a window.
            pub kernel_size: [usize; $axes],
            /// How many windows there are.
            pub output: FractionalSize<$axes>,
        }

        impl $Name {
            /// So many windows.
            pub fn new(kernel_size: [usize; $axes], output_size: [usize; $axes]) -> $Name {
                $Name { kernel_size, output: FractionalSize::Size(output_size) }
            }

            /// As many windows as a part of the input's places.
            pub fn with_ratio(kernel_size: [usize; $axes], output_ratio: [f64; $axes]) -> $Name {
                $Name { kernel_size, output: FractionalSize::Ratio(output_ratio) }
            }
        }

        impl Module for $Name {
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                let (size, ratio) = match &self.output {
                    FractionalSize::Size(size) => (Some(&size[..]), None),
                    FractionalSize::Ratio(ratio) => (None, Some(&ratio[..])),
                };
                x.$pool(&self.kernel_size, size, ratio, None)
            }
            fields!();

            fn describe(&self) -> String {
                let output = match &self.output {
                    FractionalSize::Size(size) => format!("output_size={size:?}"),
                    FractionalSize::Ratio(ratio) => format!("output_ratio={ratio:?}"),
                };
                format!("{}(kernel_size={:?}, {output})", stringify!($Name), self.kernel_size)
            }
        }
    )*};
}
fractional_pools! {
    2 FractionalMaxPool2d try_fractional_max_pool2d;
    3 FractionalMaxPool3d try_fractional_max_pool3d;
}

macro_rules! unpools {
    ($($axes:literal $Name:ident $unpool:ident $Max:literal;)*) => {$(
        /// The largest elements put back where they came from, zeros elsewhere.
        #[derive(Clone, Debug)]
        pub struct $Name {
            /// Sizes of a window.
            pub kernel_size: [usize; $axes],
            /// From one window to the next: those of the window where none are named.
            pub stride: Option<[usize; $axes]>,
            /// Places at both ends of each axis: 0.
            pub padding: [usize; $axes],
        }

        impl $Name {
            /// Windows side by side.
            pub fn new(kernel_size: [usize; $axes]) -> $Name {
                $Name { kernel_size, stride: None, padding: [0; $axes] }
            }

            #[doc = concat!("The elements at the places that pooling told (`Tensor::", $Max, "`), in an image of `output_size` or of the")]
            /// smallest that there was.
            ///
            /// # Errors
            ///
            /// Shapes that do not fit, an index outside the image.
            #[track_caller]
            pub fn run(&self, x: &Tensor, indices: &Tensor, output_size: Option<&[usize]>) -> Result<Tensor> {
                let stride = self.stride.as_ref().map_or(&[][..], |s| s);
                x.$unpool(indices, &self.kernel_size, stride, &self.padding, output_size)
            }
        }
    )*};
}
unpools! {
    1 MaxUnpool1d try_max_unpool1d "try_max_pool1d_with_indices";
    2 MaxUnpool2d try_max_unpool2d "try_max_pool2d_with_indices";
    3 MaxUnpool3d try_max_unpool3d "try_max_pool3d_with_indices";
}
