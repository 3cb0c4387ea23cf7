//! Library kernels that are one room each: a folder has the kernel's rules, its gradient, its CPU half and its CUDA half.
//!
//! A kernel is a small value: what it is and its parameters. The graph holds it as a [`Library`], which asks the room. A new kernel is a folder and
//! its line in `library!` below; without a rule for its gradient it does not compile.

pub mod attention;
pub mod blend;
pub mod compact;
pub mod conv;
pub mod ctc;
pub mod extreme;
pub mod factor;
pub mod gather;
pub mod known;
pub mod matmul;
pub mod own;
pub mod pair;
pub mod pool;
pub mod put;
pub mod recurrent;
pub mod resample;
pub mod scaled;
pub mod scan;
pub mod search;
pub mod sort;
pub mod surprise;
pub mod tally;
#[cfg(test)]
mod testing;
pub mod thin;
pub mod triangular;
pub mod unblend;

use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use crate::rows::Algebra;
use matmul::{Epilogue, Precision, Tiles};
use mg_device::{DType, Layout, Result, Shape};
use std::ops::Range;

pub use attention::{Attention, AttentionKind, Span};
pub use blend::Blend;
pub use compact::Compact;
pub use conv::{Conv, ConvKind};
pub use ctc::{Ctc, CtcKind};
pub use extreme::Extreme;
pub use factor::{Demand, Factor, FactorKind};
pub use gather::{Gather, ScatterAdd};
pub use known::{Known, Rule};
pub use matmul::MatMul;
pub use own::Own;
pub use pair::{Pair, PairKind};
pub use pool::{Pool, PoolKind, Share};
pub use put::Put;
pub use recurrent::{Cell, Recurrent, RecurrentKind};
pub use resample::Resample;
pub use scaled::Scaled;
pub use scan::{Scan, ScanKind};
pub use search::Search;
pub use sort::{Sort, SortKind};
pub use surprise::{Spread, Surprise, SurpriseKind};
pub use tally::Tally;
pub use thin::Thin;
pub use triangular::Triangular;
pub use unblend::Unblend;

/// So many kernels at most are launched [together](Kernel::together).
pub const MOST_TOGETHER: usize = matmul::cuda::MOST;

/// A shape and a dtype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shaped {
    /// The shape.
    pub shape: Shape,
    /// The dtype.
    pub dtype: DType,
}

/// An operand as a launch on the CPU has it.
#[derive(Clone, Copy)]
pub struct Operand {
    /// The buffer's start.
    pub base: *const u8,
    /// How it lies there.
    pub layout: Layout,
    /// Its dtype.
    pub dtype: DType,
}

impl Operand {
    /// The element at index zero.
    pub fn first(&self) -> *const u8 {
        self.base.wrapping_add(self.layout.offset() * self.dtype.size())
    }

    /// Its shape and dtype.
    pub fn shaped(&self) -> Shaped {
        Shaped { shape: *self.layout.shape(), dtype: self.dtype }
    }
}

/// An operand as a plan for CUDA has it: without an address.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// How it lies; the address is that of its element at index zero.
    pub layout: Layout,
    /// Its dtype.
    pub dtype: DType,
    /// What the address is a multiple of, in bytes, up to 16.
    pub align: usize,
}

impl Described {
    /// Its shape and dtype.
    pub fn shaped(&self) -> Shaped {
        Shaped { shape: *self.layout.shape(), dtype: self.dtype }
    }
}

/// What is called for each finished panel of a result: the address such that position `p` of the result lies `p` elements from it, and
/// the positions of the panel.
pub type After<'a> = &'a (dyn Fn(*const u8, Range<usize>) + Sync);

/// What a plan for CUDA is made for.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// What the output's address is a multiple of, in bytes, up to 16.
    pub align: usize,
    /// The device's compute capability: 75, 80, 90, ….
    pub capability: u32,
    /// What tiles of products take on the device.
    pub tiles: &'static Tiles,
    /// Whether the output is the operand that the kernel [overwrites](Kernel::overwrites), and has its elements.
    pub in_place: bool,
    /// Whether the output's axis 1 is innermost in memory, as a kernel has it that [can](Kernel::innermost).
    pub innermost: bool,
    /// How products of f32 are computed.
    pub precision: Precision,
    /// Whether the kernel has code of the engine's own at its mark, before the store: of one that [takes](Kernel::takes_epilogue) it.
    pub epilogue: Option<Epilogue>,
}

impl Target {
    /// A plan for an output whose address is a multiple of `align` bytes, of its own memory, dense, and without an epilogue; for no GPU in particular
    /// of this capability.
    pub fn new(align: usize, capability: u32, precision: Precision) -> Target {
        let tiles = Tiles::unnamed();
        Target { align, capability, tiles, in_place: false, innermost: false, precision, epilogue: None }
    }
}

/// What a kernel takes and leaves with axis 1 innermost in memory and the others in their order before it, as well as densely. See [`Kernel::innermost`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Innermost {
    /// Operands, by position: it is faster so.
    pub operands: [bool; 2],
    /// The result: it is as fast.
    pub result: bool,
}

/// The layout of a dense tensor of this shape whose axis 1 is innermost; of one without an axis 1, that of any dense one.
///
/// # Errors
///
/// None of a shape that there is: those of [`Layout`].
///
/// ```
/// use mg_device::Shape;
/// use mg_kernels::library::innermost_layout;
///
/// let layout = innermost_layout(&Shape::new(&[2, 3, 4, 5])?)?;
/// assert_eq!(layout.strides(), [60, 1, 15, 3]);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub fn innermost_layout(shape: &Shape) -> Result<Layout> {
    let mut axes: smallvec::SmallVec<[usize; 8]> = (0..shape.rank()).collect();
    let mut back = axes.clone();
    if shape.rank() > 1 {
        axes.remove(1);
        axes.push(1);
    }
    for (to, &from) in axes.iter().enumerate() {
        back[from] = to;
    }
    let sizes: smallvec::SmallVec<[usize; 8]> = axes.iter().map(|&axis| shape[axis]).collect();
    Layout::contiguous(Shape::new(&sizes)?).permute(&back)
}

/// Whether all elements lie one after the other with axis 1 innermost. (Of an axis of one element the stride says nothing.)
pub fn lies_innermost(layout: &Layout) -> bool {
    let rank = layout.rank();
    if rank < 3 {
        return false;
    }
    let (shape, strides) = (layout.shape(), layout.strides());
    let mut stride = 1isize;
    let is_empty = layout.numel() == 0;
    [1].into_iter().chain((2..rank).rev()).chain([0]).all(|axis| {
        let lies = is_empty || shape[axis] == 1 || strides[axis] == stride;
        stride = stride.wrapping_mul(shape[axis] as isize);
        lies
    })
}

/// What gradient rules of kernels are written in: the rows' algebra, kernels and shapes.
pub trait Structure: Algebra {
    /// The shape.
    fn sizes(&self) -> Shape;
    /// The dtype.
    fn dtype(&self) -> DType;
    /// A kernel applied to operands; the same again where it was just applied to them, so that a rule may take one kernel's result apart for
    /// several gradients.
    ///
    /// # Errors
    ///
    /// Operands that the kernel does not take.
    fn kernel(kernel: Library, operands: &[&Self]) -> Result<Self>;
    /// `len` elements from `start` along an axis.
    ///
    /// # Errors
    ///
    /// Elements that are not there.
    fn part(&self, axis: usize, start: usize, len: usize) -> Result<Self>;
    /// The same elements in another shape of as many.
    ///
    /// # Errors
    ///
    /// Another number of elements.
    fn reshaped(&self, shape: Shape) -> Result<Self>;
    /// Operands one after the other along an axis.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit.
    fn joined(parts: &[&Self], axis: usize) -> Result<Self>;
    /// Zeros of `size` positions along an axis, with this one's elements added where indices (i64) say.
    ///
    /// # Errors
    ///
    /// Indices of another shape.
    fn placed(&self, axis: usize, indices: &Self, size: usize) -> Result<Self>;
    /// A literal of this one's dtype, everywhere in a shape.
    ///
    /// # Errors
    ///
    /// A shape with too many elements.
    fn filled(&self, value: f64, shape: Shape) -> Result<Self>;
    /// The axes in another order.
    ///
    /// # Errors
    ///
    /// Axes that are not there, or twice.
    fn permuted(&self, axes: &[usize]) -> Result<Self>;
    /// Broadcast to a shape.
    ///
    /// # Errors
    ///
    /// A shape that it does not broadcast to.
    fn expanded(&self, shape: Shape) -> Result<Self>;
    /// Whether it is a view that exchanges the last two axes of something.
    fn is_seen_swapped(&self) -> bool;
    /// The elements that indices (i64, of the result's shape) name along an axis.
    ///
    /// # Errors
    ///
    /// Indices of a shape that does not fit.
    fn gathered(&self, axis: usize, indices: &Self) -> Result<Self>;
    /// The matrix product.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit.
    fn matmul(&self, o: &Self) -> Result<Self>;
    /// The sum of the matrices in the last two axes, which stay with one element each.
    ///
    /// # Errors
    ///
    /// What is no matrix.
    fn summed(&self) -> Result<Self>;
    /// The product along the last axis, which stays with one element.
    ///
    /// # Errors
    ///
    /// What has no axes.
    fn multiplied(&self) -> Result<Self>;
    /// The rows (along the last but one axis) that an index (i64) names, one for each row of the result.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit.
    fn rows_at(&self, index: &Self) -> Result<Self>;
    /// 0, 1, 2, … (i64) in a shape, on its device.
    fn ramp(&self, shape: Shape) -> Self;
}

/// A shape with an axis before its own.
pub(crate) fn led(size: usize, shape: &Shape) -> Result<Shape> {
    let dims: smallvec::SmallVec<[usize; 8]> = std::iter::once(size).chain(shape.iter().copied()).collect();
    Shape::new(&dims)
}

/// An operand of [`Kernel::batched`] with the axis of examples, whether it differs or not.
fn of_all<T: Structure>(x: &T, differs: bool, size: usize) -> Result<T> {
    if differs { Ok(x.clone()) } else { x.expanded(led(size, &x.sizes())?) }
}

/// The shape of an example of it.
fn of_one<T: Structure>(x: &T, differs: bool) -> Shape {
    if differs { x.sizes().remove(0) } else { x.sizes() }
}

/// One of several kernels that may be one launch.
#[derive(Clone, Copy)]
pub struct Alike<'a, K> {
    /// The kernel.
    pub kernel: K,
    /// Its operands.
    pub operands: &'a [Described],
    /// Its result.
    pub result: Shaped,
    /// What it is planned for.
    pub target: Target,
}

/// What the rest of the engine asks of a kernel. Operands lie densely, but for one that [takes them as they lie](Kernel::takes_any_layout).
pub trait Kernel: Copy {
    /// The operation's name.
    fn name(&self) -> &'static str;

    /// The operation that a person called, for errors.
    fn called(&self) -> &'static str {
        self.name()
    }

    /// The parameters, so that two kernels with different ones differ.
    fn words(&self) -> [u64; 2];

    /// Whether operands may be floats of eight bits: of one that moves elements, or says itself which it takes.
    fn takes_narrow(&self) -> bool {
        false
    }

    /// Another one of these, where two do not hold them.
    fn more_words(&self) -> u64 {
        0
    }

    /// The shape and the dtype of the result.
    ///
    /// # Errors
    ///
    /// Operands that the kernel does not take.
    fn result(&self, operands: &[Shaped]) -> Result<Shaped>;

    /// The kernel for operands that all have another axis before their own, which counts examples: `None` where there is none, and
    /// a batch is run example by example.
    fn with_batch(&self) -> Option<Library> {
        None
    }

    /// What it makes of `size` examples, which lie along another axis before the result's own: those operands have it too that `differs`
    /// names, the others are the same for all. `None` where there is no such rule. Of a kernel that has none [with a batch](Kernel::with_batch).
    ///
    /// # Errors
    ///
    /// Shapes that are too large.
    fn batched<T: Structure>(&self, _x: &[T], _differs: &[bool], _size: usize) -> Result<Option<T>> {
        Ok(None)
    }

    /// Whether operands may lie in any way.
    fn takes_any_layout(&self) -> bool {
        false
    }

    /// What may lie with its axis 1, the channels of images, innermost in memory, on a CUDA device of this capability.
    fn innermost(&self, _operands: &[Shaped], _capability: u32) -> Innermost {
        Innermost::default()
    }

    /// Whether elementwise work that follows may be done before the result is stored: on a CUDA device of this capability, or on the CPU where there is none. Of
    /// a result whose axis 1 is innermost in memory the work goes through elements in that order.
    fn takes_epilogue(&self, _operands: &[Shaped], _capability: Option<u32>, _innermost: bool) -> bool {
        false
    }

    /// Of operands as large as the result, so many may be read by elementwise work that is done before the store on a CUDA device: with more it is done sooner by a
    /// program of its own.
    fn most_read_behind(&self) -> usize {
        usize::MAX
    }

    /// What several such kernels have in common that wait for nothing of each other and may be one launch on a CUDA device; `None`
    /// where this one is better launched by itself.
    fn alike(&self, _operands: &[Described], _result: &Shaped, _target: Target) -> Option<[usize; 2]> {
        None
    }

    /// Whether those that are launched [together](Kernel::together) have to read the same operands.
    fn shares(&self) -> bool {
        false
    }

    /// The launches that compute this kernel and others that are [alike](Kernel::alike) at once, each for operands of its own; `None` where they
    /// are better launched one by one. Of all, operands are [`Pointer::Input`](crate::cuda::library::Pointer::Input)s one after the other, and
    /// results as many [`Pointer::Output`](crate::cuda::library::Pointer::Output)s.
    ///
    /// # Errors
    ///
    /// Operands that the kernel does not take, sizes that no launch can take.
    fn together(&self, _all: &[Alike<'_, Self>]) -> Result<Option<KernelPlan>> {
        Ok(None)
    }

    /// How many of the operands, from the first on, the result is computed from; what is behind them only its gradient reads.
    fn computed_from(&self) -> usize {
        usize::MAX
    }

    /// Whether the gradient reads the result only for what can be had from the operands once more: then it may be computed again where
    /// something was written over it.
    fn is_computed_again(&self) -> bool {
        false
    }

    /// Whether the result is linear in operand `i` while the others stay: what the operand changes by, in its place, is what the result changes by.
    /// (A sum in which it is one of several summands is not.)
    fn is_linear_in(&self, _i: usize) -> bool {
        false
    }

    /// What it may refuse of what it reads.
    fn checks(&self) -> Checks;

    /// Multiplications and additions, for explanations.
    fn flops(&self, operands: &[Shaped]) -> Option<u64>;

    /// The operand that the result is, but for some elements: where nobody wants it any more, its memory is the result's, and the rest
    /// need not be copied. It has the result's shape and dtype. (On the CPU, its address is then the output's.)
    fn overwrites(&self) -> Option<usize> {
        None
    }

    /// The gradient of operand `i`, given operands `x`, result `y` and its gradient `g` (of the result's shape); `None` where it is
    /// zero everywhere.
    ///
    /// # Errors
    ///
    /// Operands that the rule's own operations do not take.
    fn vjp<T: Structure>(&self, i: usize, x: &[T], y: &T, g: &T) -> Result<Option<T>>;

    /// Computes it on the CPU.
    ///
    /// # Errors
    ///
    /// What it [refuses](Kernel::checks).
    ///
    /// # Safety
    ///
    /// Operands and output are valid for what the shapes say, from any thread, for the time of the call; the output is dense.
    unsafe fn cpu(
        &self,
        operands: &[Operand],
        out: *mut u8,
        result: &Shaped,
    ) -> std::result::Result<(), Finding>;

    /// As [`Kernel::cpu`] of a kernel that [takes an epilogue](Kernel::takes_epilogue): `after` is called for each panel of the result,
    /// once, on the thread that computed it. Without `out` panels live only as long as that call.
    ///
    /// # Errors
    ///
    /// As [`Kernel::cpu`].
    ///
    /// # Safety
    ///
    /// As [`Kernel::cpu`].
    unsafe fn cpu_then(
        &self,
        operands: &[Operand],
        out: Option<*mut u8>,
        result: &Shaped,
        after: After<'_>,
    ) -> std::result::Result<(), Finding> {
        if let Some(out) = out {
            // SAFETY: this function's contract.
            unsafe { self.cpu(operands, out, result)? };
            after(out, 0..result.shape.numel());
        }
        Ok(())
    }

    /// The launches that compute it on a CUDA device; the output is dense.
    ///
    /// # Errors
    ///
    /// Sizes that no launch can take.
    fn cuda(&self, operands: &[Described], result: &Shaped, target: Target) -> Result<KernelPlan>;
}

macro_rules! library {
    ($($(#[doc = $doc:literal])+ $Name:ident;)*) => {
        /// A library kernel and its parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Library {
            $($(#[doc = $doc])+ $Name($Name),)*
        }

        $(impl From<$Name> for Library {
            fn from(kernel: $Name) -> Library {
                Library::$Name(kernel)
            }
        })*

        impl Library {
            /// See [`Kernel::name`].
            pub fn name(&self) -> &'static str {
                match self { $(Library::$Name(k) => k.name()),* }
            }

            /// See [`Kernel::called`].
            pub fn called(&self) -> &'static str {
                match self { $(Library::$Name(k) => k.called()),* }
            }

            /// Which kernel it is, and its parameters.
            pub fn words(&self) -> [u64; 4] {
                #[derive(Clone, Copy)]
                enum Number {
                    $($Name,)*
                }
                match self {
                    $(Library::$Name(k) => {
                        let [a, b] = k.words();
                        [Number::$Name as u64, a, b, k.more_words()]
                    })*
                }
            }

            /// See [`Kernel::takes_narrow`].
            pub fn takes_narrow(&self) -> bool {
                match self { $(Library::$Name(k) => k.takes_narrow()),* }
            }

            /// See [`Kernel::result`].
            ///
            /// # Errors
            ///
            /// Operands that the kernel does not take.
            #[track_caller]
            pub fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
                let narrow = operands.iter().find(|x| x.dtype.is_narrow());
                if let Some(x) = narrow.filter(|_| !self.takes_narrow()) {
                    return Err(x.dtype.not_computed(self.called()));
                }
                match self { $(Library::$Name(k) => k.result(operands)),* }
            }

            /// See [`Kernel::with_batch`].
            pub fn with_batch(&self) -> Option<Library> {
                match self { $(Library::$Name(k) => k.with_batch()),* }
            }

            /// See [`Kernel::batched`].
            ///
            /// # Errors
            ///
            /// Shapes that are too large.
            pub fn batched<T: Structure>(&self, x: &[T], differs: &[bool], size: usize) -> Result<Option<T>> {
                match self { $(Library::$Name(k) => k.batched(x, differs, size)),* }
            }

            /// See [`Kernel::takes_any_layout`].
            pub fn takes_any_layout(&self) -> bool {
                match self { $(Library::$Name(k) => k.takes_any_layout()),* }
            }

            /// See [`Kernel::innermost`].
            pub fn innermost(&self, operands: &[Shaped], capability: u32) -> Innermost {
                match self { $(Library::$Name(k) => k.innermost(operands, capability)),* }
            }

            /// See [`Kernel::takes_epilogue`].
            pub fn takes_epilogue(&self, operands: &[Shaped], capability: Option<u32>, innermost: bool) -> bool {
                match self { $(Library::$Name(k) => k.takes_epilogue(operands, capability, innermost)),* }
            }

            /// See [`Kernel::most_read_behind`].
            pub fn most_read_behind(&self) -> usize {
                match self { $(Library::$Name(k) => k.most_read_behind()),* }
            }

            /// See [`Kernel::alike`]; those of unlike kinds never are.
            pub fn alike(&self, operands: &[Described], result: &Shaped, target: Target) -> Option<[usize; 3]> {
                let [a, b] = match self { $(Library::$Name(k) => k.alike(operands, result, target)),* }?;
                Some([self.words()[0] as usize, a, b])
            }

            /// See [`Kernel::shares`].
            pub fn shares(&self) -> bool {
                match self { $(Library::$Name(k) => k.shares()),* }
            }

            /// See [`Kernel::together`].
            ///
            /// # Errors
            ///
            /// Operands that the kernel does not take, sizes that no launch can take.
            pub fn together(&self, all: &[Alike<'_, Library>]) -> Result<Option<KernelPlan>> {
                match self {
                    $(Library::$Name(k) => {
                        let mut own = Vec::with_capacity(all.len());
                        for &Alike { kernel, operands, result, target } in all {
                            let Library::$Name(kernel) = kernel else { return Ok(None) };
                            own.push(Alike { kernel, operands, result, target });
                        }
                        k.together(&own)
                    })*
                }
            }

            /// See [`Kernel::computed_from`].
            pub fn computed_from(&self) -> usize {
                match self { $(Library::$Name(k) => k.computed_from()),* }
            }

            /// See [`Kernel::is_computed_again`].
            pub fn is_computed_again(&self) -> bool {
                match self { $(Library::$Name(k) => k.is_computed_again()),* }
            }

            /// See [`Kernel::is_linear_in`].
            pub fn is_linear_in(&self, i: usize) -> bool {
                match self { $(Library::$Name(k) => k.is_linear_in(i)),* }
            }

            /// See [`Kernel::checks`].
            pub fn checks(&self) -> Checks {
                match self { $(Library::$Name(k) => k.checks()),* }
            }

            /// See [`Kernel::flops`].
            pub fn flops(&self, operands: &[Shaped]) -> Option<u64> {
                match self { $(Library::$Name(k) => k.flops(operands)),* }
            }

            /// See [`Kernel::overwrites`].
            pub fn overwrites(&self) -> Option<usize> {
                match self { $(Library::$Name(k) => k.overwrites()),* }
            }

            /// See [`Kernel::vjp`].
            ///
            /// # Errors
            ///
            /// Operands that the rule's own operations do not take.
            pub fn vjp<T: Structure>(&self, i: usize, x: &[T], y: &T, g: &T) -> Result<Option<T>> {
                match self { $(Library::$Name(k) => k.vjp(i, x, y, g)),* }
            }

            /// See [`Kernel::cpu`].
            ///
            /// # Errors
            ///
            /// What it [refuses](Kernel::checks).
            ///
            /// # Safety
            ///
            /// As [`Kernel::cpu`].
            pub unsafe fn cpu(
                &self,
                operands: &[Operand],
                out: *mut u8,
                result: &Shaped,
            ) -> std::result::Result<(), Finding> {
                // SAFETY: this function's contract is the kernel's.
                unsafe { match self { $(Library::$Name(k) => k.cpu(operands, out, result)),* } }
            }

            /// See [`Kernel::cpu_then`].
            ///
            /// # Errors
            ///
            /// What it [refuses](Kernel::checks).
            ///
            /// # Safety
            ///
            /// As [`Kernel::cpu`].
            pub unsafe fn cpu_then(
                &self,
                operands: &[Operand],
                out: Option<*mut u8>,
                result: &Shaped,
                after: After<'_>,
            ) -> std::result::Result<(), Finding> {
                // SAFETY: this function's contract is the kernel's.
                unsafe { match self { $(Library::$Name(k) => k.cpu_then(operands, out, result, after)),* } }
            }

            /// See [`Kernel::cuda`].
            ///
            /// # Errors
            ///
            /// Sizes that no launch can take.
            pub fn cuda(&self, operands: &[Described], result: &Shaped, target: Target) -> Result<KernelPlan> {
                match self { $(Library::$Name(k) => k.cuda(operands, result, target)),* }
            }
        }
    };
}
library! {
    /// Matrix products.
    MatMul;
    /// Elements by index.
    Gather;
    /// Sums by index.
    ScatterAdd;
    /// Weighted sums of elements by index.
    Blend;
    /// What comes back to elements of which weighted sums were taken.
    Unblend;
    /// Weighted sums of elements by index along both of the last axes.
    Resample;
    /// Means of values by the softmax of products of queries and keys.
    Attention;
    /// Running sums and their like.
    Scan;
    /// Convolutions and their gradients.
    Conv;
    /// Order, sorted elements, and elements by their rank.
    Sort;
    /// Factorisations of matrices.
    Factor;
    /// A value that is known, and how it depends on its operands.
    Known;
    /// Systems of equations whose matrix is a triangle.
    Triangular;
    /// Windows over planes: their largest elements, means, and themselves.
    Pool;
    /// Values written at indices.
    Put;
    /// Functions of two numbers that take many steps.
    Pair;
    /// A kernel of the user's own text.
    Own;
    /// How many elements lie in intervals.
    Tally;
    /// Where values belong in sorted lines.
    Search;
    /// The largest or smallest of what is written to one place.
    Extreme;
    /// Positions of what holds in a mask.
    Compact;
    /// Sequences through a recurrent layer.
    Recurrent;
    /// Labels along the steps of a recording.
    Ctc;
    /// Scaled products of floats of eight bits.
    Scaled;
    /// How much labels surprise under the scores of a linear map.
    Surprise;
    /// Which weights of attention stay.
    Thin;
}
