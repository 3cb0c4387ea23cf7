//! Layers of images without parameters: sizes, order of elements, borders.

use mg_autograd::Tensor;
use mg_device::Result;

use crate::fields;
use crate::module::Module;

/// To another size, or so many times as large.
#[derive(Clone, Debug)]
pub struct Upsample {
    /// Sizes of the axes behind the channels, or `None` where `scale_factor` says.
    pub size: Option<Vec<usize>>,
    /// How many times as large each of them becomes.
    pub scale_factor: Option<Vec<f64>>,
    /// "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area".
    pub mode: &'static str,
    /// Whether the centres of the corners' elements stay where they are, for modes that weigh neighbours.
    pub align_corners: Option<bool>,
}

impl Upsample {
    /// So many times as large, each element repeated.
    pub fn new(scale_factor: &[f64]) -> Upsample {
        Upsample { size: None, scale_factor: Some(scale_factor.into()), mode: "nearest", align_corners: None }
    }
}

impl Module for Upsample {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (size, scale) = (self.size.as_deref(), self.scale_factor.as_deref());
        x.try_interpolate(size, scale, self.mode, self.align_corners, None, false)
    }
    fields!();

    fn describe(&self) -> String {
        match (&self.size, &self.scale_factor) {
            (Some(size), _) => format!("Upsample(size={size:?}, mode='{}')", self.mode),
            (None, scale) => {
                format!(
                    "Upsample(scale_factor={:?}, mode='{}')",
                    scale.as_deref().unwrap_or_default(),
                    self.mode
                )
            }
        }
    }
}

/// Channels as places: `[n, c · r², h, w]` becomes `[n, c, h · r, w · r]`.
#[derive(Clone, Copy, Debug)]
pub struct PixelShuffle(
    /// `r`.
    pub usize,
);

impl Module for PixelShuffle {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_pixel_shuffle(self.0)
    }
    fields!();

    fn describe(&self) -> String {
        format!("PixelShuffle(upscale_factor={})", self.0)
    }
}

/// Places as channels: the reverse of [`PixelShuffle`].
#[derive(Clone, Copy, Debug)]
pub struct PixelUnshuffle(
    /// `r`.
    pub usize,
);

impl Module for PixelUnshuffle {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_pixel_unshuffle(self.0)
    }
    fields!();

    fn describe(&self) -> String {
        format!("PixelUnshuffle(downscale_factor={})", self.0)
    }
}

/// Channels in another order, taken from each of `groups` in turn: `[n, groups · c, …]`.
#[derive(Clone, Copy, Debug)]
pub struct ChannelShuffle(
    /// How many groups there are.
    pub usize,
);

impl Module for ChannelShuffle {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_channel_shuffle(self.0)
    }
    fields!();

    fn describe(&self) -> String {
        format!("ChannelShuffle(groups={})", self.0)
    }
}

/// Borders around the last axes.
#[derive(Clone, Debug)]
pub struct Pad {
    /// Before and after the last axis, then before and after the one before it, …; negative ones cut.
    pub padding: Vec<isize>,
    /// "constant", "reflect", "replicate", "circular".
    pub mode: &'static str,
    /// What a constant border consists of.
    pub value: f64,
}

impl Pad {
    /// With zeros.
    pub fn zeros(padding: &[isize]) -> Pad {
        Pad { padding: padding.into(), mode: "constant", value: 0.0 }
    }

    /// With a number.
    pub fn constant(padding: &[isize], value: f64) -> Pad {
        Pad { padding: padding.into(), mode: "constant", value }
    }

    /// With what lies at the other end.
    pub fn circular(padding: &[isize]) -> Pad {
        Pad { padding: padding.into(), mode: "circular", value: 0.0 }
    }

    /// With what lies behind the border, as in a mirror.
    pub fn reflection(padding: &[isize]) -> Pad {
        Pad { padding: padding.into(), mode: "reflect", value: 0.0 }
    }

    /// With the elements at the border.
    pub fn replication(padding: &[isize]) -> Pad {
        Pad { padding: padding.into(), mode: "replicate", value: 0.0 }
    }
}

impl Module for Pad {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_pad(&self.padding, self.mode, (self.mode == "constant").then_some(self.value))
    }
    fields!();

    fn describe(&self) -> String {
        format!("Pad({:?}, mode='{}')", self.padding, self.mode)
    }
}

/// One axis as several.
#[derive(Clone, Debug)]
pub struct Unflatten {
    /// The axis; negative ones count from the end.
    pub dim: isize,
    /// The sizes that it becomes, of which one may be −1.
    pub sizes: Vec<isize>,
}

impl Module for Unflatten {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.unflatten(self.dim, &self.sizes)
    }
    fields!();

    fn describe(&self) -> String {
        format!("Unflatten(dim={}, unflattened_size={:?})", self.dim, self.sizes)
    }
}

/// The windows of an image as columns: `[n, c, height, width]` becomes `[n, c · places, windows]`. (im2col.)
#[derive(Clone, Debug)]
pub struct Unfold {
    /// Sizes of a window.
    pub kernel_size: [usize; 2],
    /// The distance between a window's elements.
    pub dilation: [usize; 2],
    /// Zeros at both ends of each axis.
    pub padding: [usize; 2],
    /// From one window to the next.
    pub stride: [usize; 2],
}

impl Unfold {
    /// Windows at each place.
    pub fn new(kernel_size: [usize; 2]) -> Unfold {
        Unfold { kernel_size, dilation: [1; 2], padding: [0; 2], stride: [1; 2] }
    }
}

impl Module for Unfold {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_columns(&self.kernel_size, &self.dilation, &self.padding, &self.stride)
    }
    fields!();

    fn describe(&self) -> String {
        let Unfold { kernel_size, dilation, padding, stride } = self;
        format!(
            "Unfold(kernel_size={kernel_size:?}, dilation={dilation:?}, padding={padding:?}, stride={stride:?})"
        )
    }
}

/// Columns added where the windows of an image lie, as [`Unfold`] has them: `[n, c · places, windows]` becomes `[n, c, height, width]`. (col2im.)
#[derive(Clone, Debug)]
pub struct Fold {
    /// Height and width.
    pub output_size: [usize; 2],
    /// Sizes of a window.
    pub kernel_size: [usize; 2],
    /// The distance between a window's elements.
    pub dilation: [usize; 2],
    /// Zeros at both ends of each axis.
    pub padding: [usize; 2],
    /// From one window to the next.
    pub stride: [usize; 2],
}

impl Fold {
    /// Windows at each place.
    pub fn new(output_size: [usize; 2], kernel_size: [usize; 2]) -> Fold {
        Fold { output_size, kernel_size, dilation: [1; 2], padding: [0; 2], stride: [1; 2] }
    }
}

impl Module for Fold {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_fold(&self.output_size, &self.kernel_size, &self.dilation, &self.padding, &self.stride)
    }
    fields!();

    fn describe(&self) -> String {
        let Fold { output_size, kernel_size, dilation, padding, stride } = self;
        format!(
            "Fold(output_size={output_size:?}, kernel_size={kernel_size:?}, dilation={dilation:?}, padding={padding:?}, stride={stride:?})"
        )
    }
}
