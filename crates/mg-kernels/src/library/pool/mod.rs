//! Windows over memory: largest elements, means, the windows themselves, and the gradients of these.
//!
//! A plane is what lies along the last one to three axes of an operand. Each output has a window of its input's plane: so many places in steps, or,
//! adaptively, the share of the plane that is its own. What flows back is asked for by the inputs, of the windows that hold them, in a fixed order: no two
//! threads add to one element.

mod cpu;
mod cuda;
mod geometry;
mod span;
#[cfg(test)]
mod tests;

use super::{Described, Kernel, Library, Operand, Shaped, Structure, Target};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use geometry::Geometry;
use mg_device::{DType, Error, ErrorKind, MAX_RANK, Result, Shape};

/// Axes that a plane may have.
pub const MAX_AXES: usize = 3;

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum PoolKind {
    /// The largest element of each window of `x`; NaN if any is.
    Max,
    /// Where it stands in its plane, i64: of equal ones the first, of NaNs the last.
    MaxAt,
    /// Of `x`, its [`PoolKind::Max`] `y` and `g` of its shape: `g` where the largest elements stand, in the shape of `x`.
    MaxGrad,
    /// Of `x` and `v` of its shape: what stands in `v` where the largest elements of `x` do.
    MaxPick,
    /// The mean of each window of `x`.
    Mean,
    /// The gradient of that: of `g`, in the shape of the input.
    MeanGrad,
    /// All elements of each window of `x`, zeros where it hangs over: the places within a window are an axis before those of the outputs.
    Unfold,
    /// The gradient of that: sums of what windows have at each element.
    Fold,
}

/// What sums of windows are divided by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Share {
    /// The places of the window, margins included.
    Places,
    /// The elements in it.
    Elements,
    /// A number, not 0.
    Number(i64),
}

/// Windows over the last axes. Axes that are not there come first, with size 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Pool {
    /// What is computed.
    pub kind: PoolKind,
    /// How many axes a plane has.
    pub axes: u8,
    /// Whether the plane is divided among the outputs; stride, padding, dilation and kernel do not count then.
    pub adaptive: bool,
    /// Places of a window.
    pub kernel: [u32; MAX_AXES],
    /// From one window to the next.
    pub stride: [u32; MAX_AXES],
    /// How far the first window hangs over.
    pub padding: [u32; MAX_AXES],
    /// Steps within a window.
    pub dilation: [u32; MAX_AXES],
    /// The sizes of a plane.
    pub input: [u32; MAX_AXES],
    /// How many windows there are.
    pub output: [u32; MAX_AXES],
    /// What means are divided by.
    pub share: Share,
}

impl Pool {
    fn fail<T>(&self, text: String) -> Result<T> {
        Err(Error::new(self.name(), ErrorKind::Shape(text)))
    }

    /// The sizes along the axes that there are.
    fn there<'a>(&self, sizes: &'a [u32; MAX_AXES]) -> impl Iterator<Item = usize> + 'a {
        sizes[MAX_AXES - usize::from(self.axes).min(MAX_AXES)..].iter().map(|&n| n as usize)
    }

    /// The sizes of planes as an operand of each kind has them: of the input, of the results, of results with the places of windows.
    fn sizes(&self, of: Of) -> smallvec::SmallVec<[usize; MAX_AXES + 1]> {
        match of {
            Of::Input => self.there(&self.input).collect(),
            Of::Output => self.there(&self.output).collect(),
            Of::Windows => {
                let places = self.there(&self.kernel).product();
                std::iter::once(places).chain(self.there(&self.output)).collect()
            }
        }
    }

    /// What the operands are, and the result.
    fn roles(&self) -> (&'static [Of], Of) {
        match self.kind {
            PoolKind::Max | PoolKind::MaxAt | PoolKind::Mean => (&[Of::Input], Of::Output),
            PoolKind::MaxGrad => (&[Of::Input, Of::Output, Of::Output], Of::Input),
            PoolKind::MaxPick => (&[Of::Input, Of::Input], Of::Output),
            PoolKind::MeanGrad => (&[Of::Output], Of::Input),
            PoolKind::Unfold => (&[Of::Input], Of::Windows),
            PoolKind::Fold => (&[Of::Windows], Of::Input),
        }
    }

    /// The axes before the planes.
    fn lead(&self, shape: &Shape, of: Of) -> Result<Shape> {
        let sizes = self.sizes(of);
        match shape.strip_suffix(&sizes[..]) {
            Some(lead) => Ok(Shape::of(lead)),
            None => self.fail(format!("takes {sizes:?} as last sizes, got shape {shape}")),
        }
    }

    fn of_kind(&self, kind: PoolKind) -> Library {
        Pool { kind, ..*self }.into()
    }

    fn geometry(&self, lead: &Shape) -> Geometry {
        Geometry::of(self, lead.numel())
    }
}

/// Whose sizes.
#[derive(Clone, Copy)]
enum Of {
    Input,
    Output,
    Windows,
}

impl Kernel for Pool {
    fn name(&self) -> &'static str {
        match self.kind {
            PoolKind::Max => "max_pool",
            PoolKind::MaxAt => "max_pool_indices",
            PoolKind::MaxGrad => "max_pool_backward",
            PoolKind::MaxPick => "max_pool_pick",
            PoolKind::Mean => "avg_pool",
            PoolKind::MeanGrad => "avg_pool_backward",
            PoolKind::Unfold => "unfold",
            PoolKind::Fold => "fold",
        }
    }

    fn words(&self) -> [u64; 2] {
        let lists = [self.kernel, self.stride, self.padding, self.dilation, self.input, self.output];
        let share = match self.share {
            Share::Places => [0, 0],
            Share::Elements => [1, 0],
            Share::Number(n) => [2, n as u64],
        };
        let numbers = lists.into_iter().flatten().map(u64::from);
        let rest = [self.kind as u64, u64::from(self.axes), u64::from(self.adaptive), share[0], share[1]];
        // Two independent sums of powers.
        numbers.chain(rest).fold([3, 4], |[a, b], n| {
            let (a, b) = (a ^ n.wrapping_add(1), b ^ n.wrapping_add(1));
            [
                a.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29),
                b.wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(37),
            ]
        })
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let (roles, result) = self.roles();
        let positive = |sizes: &[u32; MAX_AXES]| sizes.iter().all(|&n| n > 0);
        let axes = usize::from(self.axes);
        if operands.len() != roles.len() || axes == 0 || axes > MAX_AXES {
            return self.fail(format!("takes {} operands, got {}", roles.len(), operands.len()));
        }
        let divided = !matches!(self.share, Share::Number(0));
        if !(positive(&self.kernel) && positive(&self.stride) && positive(&self.dilation) && divided) {
            return self.fail("kernel, stride, dilation and divisor are not 0".into());
        }
        // Of an input with windows no axis is empty.
        if positive(&self.output) && !positive(&self.input) {
            return self.fail(format!("an input of sizes {:?} has no windows", self.input));
        }
        let plane: Option<usize> = self.there(&self.input).try_fold(1usize, usize::checked_mul);
        if plane.is_none_or(|n| n > i32::MAX as usize) {
            return self.fail(format!("takes planes of up to {} elements, got {:?}", i32::MAX, self.input));
        }
        let (first, dtype) = (&operands[0], operands[0].dtype);
        let lead = self.lead(&first.shape, roles[0])?;
        for (operand, &role) in operands.iter().zip(roles).skip(1) {
            if self.lead(&operand.shape, role)? != lead || operand.dtype != dtype {
                let text = format!("{} {} does not belong to", operand.dtype, operand.shape);
                return self.fail(format!("{text} {dtype} {}", first.shape));
            }
        }
        let takes = match self.kind {
            PoolKind::Max | PoolKind::MaxAt | PoolKind::Mean => dtype.is_float() || dtype == DType::I64,
            PoolKind::Unfold => true,
            PoolKind::MaxGrad | PoolKind::MaxPick | PoolKind::MeanGrad | PoolKind::Fold => dtype.is_float(),
        };
        if !takes {
            return Err(Error::new(self.name(), ErrorKind::DType(format!("does not take {dtype}"))));
        }
        let sizes = self.sizes(result);
        if lead.rank() + sizes.len() > MAX_RANK {
            return self.fail(format!("{} is too many axes", first.shape.rank()));
        }
        let all: smallvec::SmallVec<[usize; MAX_RANK]> = lead.iter().copied().chain(sizes).collect();
        let dtype = if self.kind == PoolKind::MaxAt { DType::I64 } else { dtype };
        Ok(Shaped { shape: Shape::new(&all)?, dtype })
    }

    fn with_batch(&self) -> Option<Library> {
        // Whatever is before the last axes counts planes.
        Some((*self).into())
    }

    fn is_computed_again(&self) -> bool {
        // Of the largest elements the gradient asks where they stand: `relu_` of what was pooled leaves that.
        self.kind == PoolKind::Max
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, _: &[Shaped]) -> Option<u64> {
        None
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], y: &T, g: &T) -> Result<Option<T>> {
        let of = |kind, operands: &[&T]| T::kernel(self.of_kind(kind), operands).map(Some);
        match (self.kind, i) {
            (PoolKind::Max, _) => of(PoolKind::MaxGrad, &[&x[0], y, g]),
            (PoolKind::MaxGrad, 2) => of(PoolKind::MaxPick, &[&x[0], g]),
            (PoolKind::MaxPick, 1) => {
                let largest = T::kernel(self.of_kind(PoolKind::Max), &[&x[0]])?;
                of(PoolKind::MaxGrad, &[&x[0], &largest, g])
            }
            // Where the largest elements stand does not change with them.
            (PoolKind::MaxAt | PoolKind::MaxGrad | PoolKind::MaxPick, _) => Ok(None),
            (PoolKind::Mean, _) => of(PoolKind::MeanGrad, &[g]),
            (PoolKind::MeanGrad, _) => of(PoolKind::Mean, &[g]),
            (PoolKind::Unfold, _) => of(PoolKind::Fold, &[g]),
            (PoolKind::Fold, _) => of(PoolKind::Unfold, &[g]),
        }
    }

    unsafe fn cpu(&self, operands: &[Operand], out: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        // What the node was made of had these axes.
        if let Some(first) = operands.first()
            && let Ok(lead) = self.lead(first.layout.shape(), self.roles().0[0])
        {
            let addresses: smallvec::SmallVec<[*const u8; 3]> = operands.iter().map(Operand::first).collect();
            // SAFETY: this function's contract.
            unsafe { cpu::pool(self.kind, &self.geometry(&lead), first.dtype, &addresses, out) };
        }
        Ok(())
    }

    fn cuda(&self, operands: &[Described], result: &Shaped, _: Target) -> Result<KernelPlan> {
        let Some(first) = operands.first() else { return self.fail("takes an operand".into()) };
        let lead = self.lead(first.layout.shape(), self.roles().0[0])?;
        cuda::plan(self.kind, &self.geometry(&lead), first.dtype, operands.len(), result.shape.numel())
    }
}
