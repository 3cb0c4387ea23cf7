//! The forward recursion of connectionist temporal classification (Graves et al., 2006): all steps of all lines.
//!
//! A step is a few numbers for each label, and there are as many steps as a recording is long: on the CPU they are one kernel. As with
//! [`Recurrent`](super::Recurrent) it has no CUDA half, and who differentiates its gradient composes the steps of operations instead.

mod cpu;
#[cfg(test)]
mod tests;

use super::{Described, Kernel, Operand, Shaped, Structure, Target};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use mg_device::{DType, Error, ErrorKind, Result, Shape};

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum CtcKind {
    /// The logarithms of what all steps have come to, `[steps, lines, width]`: operands are the scores of labels with blanks between them
    /// `[steps, lines, width]`, where one may follow the one before the last `[lines, width]` (truth values), and how many steps and labels
    /// each line has, `[lines]` (i64).
    States,
    /// That at the end, `[lines, width]`: what [`CtcKind::States`] has found, then its operands.
    End,
    /// The gradient of the scores: the operands of [`CtcKind::End`], and the gradient of that.
    Slopes,
}

/// The recursion along labels with blanks between them. Lines whose steps are over keep what they have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Ctc {
    /// What is computed.
    pub kind: CtcKind,
}

/// The sizes of a call.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    steps: usize,
    lines: usize,
    width: usize,
}

impl Ctc {
    fn fail<T>(&self, kind: ErrorKind) -> Result<T> {
        Err(Error::new(self.name(), kind))
    }

    fn sizes(&self, operands: &[Shaped]) -> Result<Sizes> {
        let misfit =
            || self.fail(ErrorKind::Shape(format!("operands of a recursion do not fit: {operands:?}")));
        let (own, outer) = match (self.kind, operands) {
            (CtcKind::States, own) => (own, &[][..]),
            (CtcKind::End, [_, own @ ..]) => (own, &operands[..1]),
            (CtcKind::Slopes, [_, own @ .., _]) => (own, operands),
            (CtcKind::End | CtcKind::Slopes, _) => return misfit(),
        };
        let [scores, skips, steps, counts] = own else { return misfit() };
        let &[t, lines, width] = scores.shape.dims() else { return misfit() };
        let fits = skips.shape[..] == [lines, width]
            && [steps, counts].into_iter().all(|o| o.shape[..] == [lines])
            && outer.first().is_none_or(|states| states.shape == scores.shape)
            && (self.kind != CtcKind::Slopes || operands.last().is_some_and(|g| g.shape == skips.shape));
        if !fits || t == 0 {
            return misfit();
        }
        let is_float = matches!(scores.dtype, DType::F32 | DType::F64);
        let integers = [steps, counts].into_iter().all(|o| o.dtype == DType::I64);
        if !is_float || !integers || skips.dtype != DType::Bool {
            return self.fail(ErrorKind::DType(format!("takes f32 or f64, bool and i64, got {own:?}")));
        }
        Ok(Sizes { steps: t, lines, width })
    }
}

impl Kernel for Ctc {
    fn name(&self) -> &'static str {
        "ctc_loss"
    }

    fn words(&self) -> [u64; 2] {
        [self.kind as u64, 0]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let s = self.sizes(operands)?;
        let shape = match self.kind {
            CtcKind::States | CtcKind::Slopes => Shape::of(&[s.steps, s.lines, s.width]),
            CtcKind::End => Shape::of(&[s.lines, s.width]),
        };
        let scores = if self.kind == CtcKind::States { 0 } else { 1 };
        Ok(Shaped { shape, dtype: operands[scores].dtype })
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, _: &[Shaped]) -> Option<u64> {
        None
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], _: &T, g: &T) -> Result<Option<T>> {
        match (self.kind, i) {
            (CtcKind::End, 1) => {
                let operands: smallvec::SmallVec<[&T; 6]> = x.iter().chain([g]).collect();
                T::kernel(Ctc { kind: CtcKind::Slopes }.into(), &operands).map(Some)
            }
            (CtcKind::Slopes, _) => self.fail(ErrorKind::Gradient("is not differentiated again".into())),
            // What is known without a history, truth values and integers.
            (CtcKind::States | CtcKind::End, _) => Ok(None),
        }
    }

    unsafe fn cpu(&self, operands: &[Operand], out: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        let shaped: smallvec::SmallVec<[Shaped; 6]> = operands.iter().map(Operand::shaped).collect();
        // What the node was made of had these sizes.
        if let Ok(sizes) = self.sizes(&shaped) {
            // SAFETY: this function's contract.
            unsafe { cpu::run(self.kind, sizes, operands, out) };
        }
        Ok(())
    }

    fn cuda(&self, _: &[Described], _: &Shaped, _: Target) -> Result<KernelPlan> {
        self.fail(ErrorKind::Internal("a recursion is one kernel on the CPU alone".into()))
    }
}
