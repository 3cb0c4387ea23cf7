//! Layers that find out their sizes when they meet the first input.
//!
//! Their parameters are there from the beginning, without a shape: an optimiser may have them before, they move to devices, and take the
//! shapes of a state that is loaded. The first input gives them their shapes and draws them, on the device where they are.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use mg_autograd::{Tensor, no_grad, with_default_device};
use mg_device::{DType, Device, Error, ErrorKind, Result};

use crate::convolution::{
    Conv1d, Conv2d, Conv3d, ConvOptions, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d,
    ConvTransposeOptions,
};
use crate::init;
use crate::linear::{Linear, LinearOptions};
use crate::module::{Module, Visitor, told};
use crate::norm::{
    BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, NormOptions,
};

/// A parameter without a shape.
#[track_caller]
fn open_parameter(dtype: DType) -> Result<Tensor> {
    init::constant_parameter(&[0], 0.0, dtype)
}

/// Whether a parameter or a buffer has no shape yet.
fn is_open(t: &Tensor) -> bool {
    *t.shape() == [0]
}

/// Whether the first input is still to come, and who waits for another's.
#[derive(Default)]
struct Waiting {
    is_over: AtomicBool,
    turn: Mutex<()>,
}

impl Waiting {
    /// Has a layer be what `make` makes, on its device, if it has no shape yet.
    #[track_caller]
    fn end<M: Module>(
        &self,
        layer: &M,
        is_open: bool,
        device: Device,
        make: impl FnOnce() -> Result<M>,
    ) -> Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if is_open && !self.is_over() {
            let _guard = no_grad();
            let made = with_default_device(device, make)??;
            let pairs = [
                (layer.named_parameters(), made.named_parameters()),
                (layer.named_buffers(), made.named_buffers()),
            ];
            for (own, new) in pairs.into_iter().flat_map(|(own, new)| own.into_iter().zip(new)) {
                own.1.set_data(&new.1.detach())?;
            }
        }
        self.is_over.store(true, Ordering::Release);
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }
}

/// [`Linear`], whose `in_features` is the size of the first input's last axis.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_device::DType;
/// use mg_nn::{LazyLinear, Module, ReLU, sequential};
///
/// let net = sequential![LazyLinear::new(8)?, ReLU, LazyLinear::new(1)?];
/// assert_eq!(*net.forward(&Tensor::zeros(&[4, 3], DType::F32)?)?.shape(), [4, 1]);
/// assert!(net.describe().contains("Linear(in_features=3, out_features=8, bias=true)"));
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct LazyLinear {
    inner: Linear,
    out_features: usize,
    waiting: Waiting,
}

impl LazyLinear {
    /// With a bias, in f32, drawn as [`Linear`]'s.
    ///
    /// # Errors
    ///
    /// Memory.
    #[track_caller]
    pub fn new(out_features: usize) -> Result<LazyLinear> {
        LazyLinear::with_options(out_features, LinearOptions::default())
    }

    /// With the options of [`Linear`].
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; memory.
    #[track_caller]
    pub fn with_options(out_features: usize, options: LinearOptions) -> Result<LazyLinear> {
        let LinearOptions { bias, dtype } = options;
        let bias = if bias { Some(open_parameter(dtype)?) } else { None };
        let inner = Linear { weight: open_parameter(dtype)?, bias };
        Ok(LazyLinear { inner, out_features, waiting: Waiting::default() })
    }

    /// The layer, once it has its sizes.
    #[must_use]
    pub fn layer(&self) -> Option<&Linear> {
        (!is_open(&self.inner.weight)).then_some(&self.inner)
    }

    #[track_caller]
    fn end(&self, x: &Tensor) -> Result<()> {
        let weight = &self.inner.weight;
        let Some(&features) = x.shape().last() else {
            let text = "takes […, in_features], got a tensor without axes".to_owned();
            return Err(Error::new("LazyLinear", ErrorKind::Shape(text)));
        };
        let options = LinearOptions { bias: self.inner.bias.is_some(), dtype: weight.dtype() };
        self.waiting.end(&self.inner, is_open(weight), weight.device(), || {
            Linear::with_options(features, self.out_features, options)
        })
    }
}

impl Module for LazyLinear {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        if !self.waiting.is_over() {
            told(self, self.end(x))?;
        }
        self.inner.forward(x)
    }

    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        self.inner.visit(visitor);
        if self.layer().is_none() {
            visitor.open(&self.inner.weight, &[Some(self.out_features), None]);
            self.inner.bias.iter().for_each(|b| visitor.open(b, &[Some(self.out_features)]));
        }
    }

    fn describe(&self) -> String {
        self.layer().map_or_else(
            || {
                let bias = self.inner.bias.is_some();
                format!("LazyLinear(in_features=0, out_features={}, bias={bias})", self.out_features)
            },
            Module::describe,
        )
    }
}

macro_rules! lazy_convolutions {
    ($($Lazy:ident $Name:ident $Options:ident $axes:literal $is_transposed:literal;)*) => {$(
        #[doc = concat!("[`", stringify!($Name), "`] for as many channels as the first input has.")]
        pub struct $Lazy {
            inner: $Name,
            out_channels: usize,
            kernel_size: [usize; $axes],
            waiting: Waiting,
        }

        impl $Lazy {
            #[doc = concat!("With a bias, in f32, as [`", stringify!($Name), "`].")]
            ///
            /// # Errors
            ///
            /// Memory.
            #[track_caller]
            pub fn new(out_channels: usize, kernel_size: [usize; $axes]) -> Result<$Lazy> {
                $Lazy::with_options(out_channels, kernel_size, $Options::default())
            }

            #[doc = concat!("With the options of [`", stringify!($Name), "`].")]
            ///
            /// # Errors
            ///
            /// Channels that do not fall into the groups; a dtype that is not floating point; memory.
            #[track_caller]
            pub fn with_options(
                out_channels: usize,
                kernel_size: [usize; $axes],
                options: $Options<$axes>,
            ) -> Result<$Lazy> {
                if options.groups == 0 || !out_channels.is_multiple_of(options.groups) {
                    let text = format!("{out_channels} channels do not fall into {} groups", options.groups);
                    return Err(Error::new(stringify!($Lazy), ErrorKind::Value(text)));
                }
                let bias = if options.bias { Some(open_parameter(options.dtype)?) } else { None };
                let inner = $Name { weight: open_parameter(options.dtype)?, bias, options };
                Ok($Lazy { inner, out_channels, kernel_size, waiting: Waiting::default() })
            }

            /// The layer, once it has its sizes.
            #[must_use]
            pub fn layer(&self) -> Option<&$Name> {
                (!is_open(&self.inner.weight)).then_some(&self.inner)
            }

            #[track_caller]
            fn end(&self, x: &Tensor) -> Result<()> {
                let (shape, weight) = (x.shape(), &self.inner.weight);
                let Some(axis) = shape.rank().checked_sub($axes + 1).filter(|axis| *axis < 2) else {
                    let text = format!("takes {} or {} axes, got shape {shape}", $axes + 1, $axes + 2);
                    return Err(Error::new(stringify!($Lazy), ErrorKind::Shape(text)));
                };
                let (kernel, options) = (self.kernel_size, self.inner.options.clone());
                self.waiting.end(&self.inner, is_open(weight), weight.device(), || {
                    $Name::with_options(shape[axis], self.out_channels, kernel, options)
                })
            }
        }

        impl Module for $Lazy {
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                if !self.waiting.is_over() {
                    told(self, self.end(x))?;
                }
                self.inner.forward(x)
            }

            fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
                self.inner.visit(visitor);
                if self.layer().is_none() {
                    let out = self.out_channels;
                    let mut sizes = match $is_transposed {
                        true => vec![None, Some(out / self.inner.options.groups)],
                        false => vec![Some(out), None],
                    };
                    sizes.extend(self.kernel_size.map(Some));
                    visitor.open(&self.inner.weight, &sizes);
                    self.inner.bias.iter().for_each(|b| visitor.open(b, &[Some(out)]));
                }
            }

            fn describe(&self) -> String {
                self.layer().map_or_else(
                    || self.inner.described_as(stringify!($Lazy), [0, self.out_channels], &self.kernel_size),
                    Module::describe,
                )
            }
        }
    )*};
}
lazy_convolutions! {
    LazyConv1d Conv1d ConvOptions 1 false;
    LazyConv2d Conv2d ConvOptions 2 false;
    LazyConv3d Conv3d ConvOptions 3 false;
    LazyConvTranspose1d ConvTranspose1d ConvTransposeOptions 1 true;
    LazyConvTranspose2d ConvTranspose2d ConvTransposeOptions 2 true;
    LazyConvTranspose3d ConvTranspose3d ConvTransposeOptions 3 true;
}

macro_rules! lazy_norms {
    ($($Lazy:ident $Name:ident $options:expr;)*) => {$(
        #[doc = concat!("[`", stringify!($Name), "`] for as many channels (axis 1) as the first input has.")]
        pub struct $Lazy {
            inner: $Name,
            options: NormOptions,
            waiting: Waiting,
        }

        impl $Lazy {
            /// With PyTorch's defaults.
            ///
            /// # Errors
            ///
            /// Memory.
            #[track_caller]
            pub fn new() -> Result<$Lazy> {
                $Lazy::with_options($options)
            }

            /// With options.
            ///
            /// # Errors
            ///
            /// A dtype that is not floating point; memory.
            #[track_caller]
            pub fn with_options(options: NormOptions) -> Result<$Lazy> {
                let inner = $Name::with_options(0, options.clone())?;
                Ok($Lazy { inner, options, waiting: Waiting::default() })
            }

            /// The parameters and statistics that have no shape yet.
            fn open(&self) -> impl Iterator<Item = &Tensor> {
                let own = &self.inner.0;
                let all = [&own.weight, &own.bias, &own.running_mean, &own.running_var];
                all.into_iter().flatten().filter(|t| is_open(t))
            }

            /// The layer, once it has its sizes.
            #[must_use]
            pub fn layer(&self) -> Option<&$Name> {
                self.open().next().is_none().then_some(&self.inner)
            }

            #[track_caller]
            fn end(&self, x: &Tensor) -> Result<()> {
                let shape = x.shape();
                if !$Name::AXES.contains(&shape.rank()) {
                    let axes = $Name::AXES.map(|n| n.to_string()).join(" or ");
                    let text = format!("takes {axes} axes, got shape {shape}");
                    return Err(Error::new(stringify!($Lazy), ErrorKind::Shape(text)));
                }
                let device = self.open().next().map(Tensor::device);
                self.waiting.end(&self.inner, device.is_some(), device.unwrap_or(x.device()), || {
                    $Name::with_options(shape[1], self.options.clone())
                })
            }
        }

        impl Module for $Lazy {
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                if !self.waiting.is_over() {
                    told(self, self.end(x))?;
                }
                self.inner.forward(x)
            }

            fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
                self.inner.visit(visitor);
                self.open().for_each(|t| visitor.open(t, &[None]));
            }

            fn describe(&self) -> String {
                let name = if self.layer().is_some() { stringify!($Name) } else { stringify!($Lazy) };
                self.inner.0.describe(name)
            }
        }
    )*};
}
lazy_norms! {
    LazyBatchNorm1d BatchNorm1d NormOptions::default();
    LazyBatchNorm2d BatchNorm2d NormOptions::default();
    LazyBatchNorm3d BatchNorm3d NormOptions::default();
    LazyInstanceNorm1d InstanceNorm1d NormOptions::of_instances();
    LazyInstanceNorm2d InstanceNorm2d NormOptions::of_instances();
    LazyInstanceNorm3d InstanceNorm3d NormOptions::of_instances();
}
