//! Positions of what holds in a mask.

#[cfg(test)]
mod tests;

use super::{Described, Kernel, Operand, Shaped, Structure, Target};
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants;
use crate::cuda::library::{KernelPlan, launch};
use crate::finding::{Checks, Finding};
use mg_device::{DType, Error, ErrorKind, Result, Shape};

/// The positions, in order, of the truth values that hold in a line, i64. The operands are the line, and how many hold in each
/// [tile](Compact::TILE) of it and all before (i64). With `first` the line says it of all positions but 0, which is found in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Compact {
    /// How many there are.
    pub found: usize,
    /// Whether the line begins at position 1.
    pub first: bool,
}

impl Compact {
    /// Truth values that are counted together.
    pub const TILE: usize = constants::compact::TILE;
}

impl Kernel for Compact {
    fn name(&self) -> &'static str {
        "nonzero"
    }

    fn words(&self) -> [u64; 2] {
        [self.found as u64, self.first.into()]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let fits = match operands {
            [mask, ends] => {
                mask.dtype == DType::Bool
                    && mask.shape.rank() == 1
                    && ends.dtype == DType::I64
                    && ends.shape.numel() == mask.shape.numel().div_ceil(Compact::TILE)
            }
            _ => false,
        };
        if !fits {
            let text = "takes a line of truth values, and how many hold up to each tile's end";
            return Err(Error::new(self.name(), ErrorKind::Value(text.into())));
        }
        Ok(Shaped { shape: Shape::new(&[self.found])?, dtype: DType::I64 })
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, _: &[Shaped]) -> Option<u64> {
        None
    }

    fn vjp<T: Structure>(&self, _: usize, _: &[T], _: &T, _: &T) -> Result<Option<T>> {
        Ok(None)
    }

    unsafe fn cpu(&self, operands: &[Operand], out: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        let [mask, _] = operands else { return Ok(()) };
        let count = mask.layout.shape().numel();
        // SAFETY: this function's contract; truth values are bytes.
        let (mask, out) = unsafe {
            (
                std::slice::from_raw_parts(mask.first(), count),
                std::slice::from_raw_parts_mut(out.cast::<i64>(), self.found),
            )
        };
        // Position 0 is found in any case, where the line begins behind it.
        let mut found = usize::from(self.first);
        if let (true, Some(place)) = (self.first, out.first_mut()) {
            *place = 0;
        }
        // Each is written, and stays where it holds: nobody foresees which do.
        for (at, &holds) in mask.iter().enumerate() {
            let Some(place) = out.get_mut(found) else { break };
            *place = (at + usize::from(self.first)) as i64;
            found += usize::from(holds != 0);
        }
        Ok(())
    }

    fn cuda(&self, operands: &[Described], _: &Shaped, _: Target) -> Result<KernelPlan> {
        let Some(mask) = operands.first() else {
            return Err(Error::new(self.name(), ErrorKind::Internal("no operands".into())));
        };
        let count = mask.layout.shape().numel();
        let mut plan = KernelPlan::default();
        if self.found > 0 {
            let args = args::compact::Compact {
                out: OUTPUT,
                mask: input(0),
                ends: input(1),
                count: count as u64,
                found: self.found as u64,
                first: self.first.into(),
            };
            // Of a line without truth values position 0 alone is found, by one block.
            let blocks = count.div_ceil(Compact::TILE).max(1);
            plan.launches.push(launch(self.name(), "compact", blocks, &args)?);
        }
        Ok(plan)
    }
}
