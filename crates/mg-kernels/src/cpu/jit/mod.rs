//! Runs of elementwise steps as one loop of machine code: values stay in registers where the tile's loops would write
//! and read them.
//!
//! The bodies of the op table are instantiated with a lane that notes instructions ([`lane`]), and these are written as
//! AVX-512 ([`emit`], [`asm`]). They are the operations of the table's own loops, in the same order, so the results are
//! the same bits; elsewhere those loops run.

mod asm;
mod emit;
mod lane;

use super::compile::{Len, Reg, Step};
use super::loops::{Isa, isa};
use crate::rows::{Row, RowClass};
use emit::Inst;
use mg_device::DType;

/// A loop over elements `first..end` of the tile's registers, whose addresses are in a table; the third number is the
/// row.
type Call = unsafe extern "sysv64" fn(addresses: *const *mut u8, first: usize, end: usize, row: usize);

/// Machine code in memory of its own, readable and executable.
pub(super) struct Fused {
    memory: *mut u8,
    bytes: usize,
    /// Registers that are streamed, and where the code begins that stores them otherwise: for addresses that are not
    /// multiples of 64.
    streamed: Vec<Reg>,
    unaligned: usize,
    /// The tile's registers that it reads or writes.
    pub(super) regs: Vec<Reg>,
    /// Whether it reads cells of rows, so that each row is a call of its own.
    by_row: bool,
    /// Whether what is seldom is left out where it can be.
    leaves: bool,
}

// SAFETY: the memory is written before it is shared, and then only executed.
unsafe impl Send for Fused {}
// SAFETY: as above.
unsafe impl Sync for Fused {}

unsafe extern "C" {
    fn mmap(at: *mut u8, bytes: usize, protection: i32, flags: i32, file: i32, offset: i64) -> *mut u8;
    fn mprotect(at: *mut u8, bytes: usize, protection: i32) -> i32;
    fn munmap(at: *mut u8, bytes: usize) -> i32;
}
const READ: i32 = 1;
const WRITE: i32 = 2;
const EXECUTE: i32 = 4;
const PRIVATE_ANONYMOUS: i32 = 0x22;

impl Fused {
    /// `None` where the system gives no executable memory: the table's loops run then.
    fn new(insts: &[Inst], usual: Option<&[Inst]>, by_row: bool) -> Option<Fused> {
        let mut regs: Vec<Reg> = insts.iter().filter_map(|i| i.reg()).collect();
        regs.sort_unstable();
        regs.dedup();
        let streamed: Vec<Reg> =
            insts.iter().filter(|i| matches!(i, Inst::Stream(..))).filter_map(|i| i.reg()).collect();
        let mut code = emit::code(insts, usual, true)?;
        let unaligned = if streamed.is_empty() { 0 } else { code.len() };
        if !streamed.is_empty() {
            code.extend(emit::code(insts, usual, false)?);
        }
        let bytes = code.len();
        // SAFETY: fresh memory; it is written before it becomes executable, and given back if that fails.
        unsafe {
            let memory = mmap(std::ptr::null_mut(), bytes, READ | WRITE, PRIVATE_ANONYMOUS, -1, 0);
            if memory as isize == -1 {
                return None;
            }
            std::ptr::copy_nonoverlapping(code.as_ptr(), memory, bytes);
            if mprotect(memory, bytes, READ | EXECUTE) != 0 {
                munmap(memory, bytes);
                return None;
            }
            Some(Fused { memory, bytes, streamed, unaligned, regs, by_row, leaves: usual.is_some() })
        }
    }

    /// Runs over `rows` rows of `columns` elements.
    ///
    /// # Safety
    ///
    /// `addresses` has the registers of the steps that this stands for, with room for as many elements and rows.
    pub(super) unsafe fn run(&self, addresses: &[*mut u8], rows: usize, columns: usize) {
        // Rows start where the first ends.
        let is_aligned = |reg: &Reg| {
            (addresses[*reg as usize] as usize).is_multiple_of(64)
                && (!self.by_row || rows == 1 || columns.is_multiple_of(16))
        };
        let at = if self.streamed.iter().all(is_aligned) { 0 } else { self.unaligned };
        // SAFETY: the memory holds the code of such functions, at its start and there.
        let call: Call = unsafe { std::mem::transmute(self.memory.wrapping_add(at)) };
        let table = addresses.as_ptr();
        // SAFETY: this function's contract.
        unsafe {
            if self.by_row {
                (0..rows).for_each(|r| call(table, r * columns, (r + 1) * columns, r));
            } else {
                call(table, 0, rows * columns, 0);
            }
        }
    }
}

impl Drop for Fused {
    fn drop(&mut self) {
        // SAFETY: the memory is this value's own, and nobody calls it any more.
        unsafe { munmap(self.memory, self.bytes) };
    }
}

/// Whether steps can be fused on this machine.
pub(super) fn is_available() -> bool {
    isa() == Isa::Avx512
}

/// Instructions that one loop may have.
const MOST: usize = 1500;

/// Whether a step can be part of a loop; `by_rows`: over rows one after the other.
fn fits(step: &Step, by_rows: bool) -> bool {
    match step {
        // Its loop leaves out most of the digits.
        Step::Map { row: Some((Row::Fmod, _)), .. } => false,
        Step::Map { row: Some((row, dtype)), len: Len::Full, .. } => match row.class() {
            RowClass::Logic => true,
            RowClass::Float
            | RowClass::Numeric
            | RowClass::Integer
            | RowClass::Compare
            | RowClass::Select => *dtype == DType::F32,
        },
        Step::Expand { dtype: DType::F32, .. } => by_rows,
        Step::Stream { dtype: DType::F32, .. } => true,
        _ => false,
    }
}

/// Puts loops in the place of runs of steps; `is_read_later(reg, position)` says whether a register is wanted by anything
/// but the steps before that position.
pub(super) fn fuse(
    steps: &mut Vec<Step>,
    fused: &mut Vec<Fused>,
    by_rows: bool,
    is_read_later: impl Fn(Reg, usize) -> bool,
) {
    let old = std::mem::take(steps);
    let mut at = 0;
    while at < old.len() {
        let run = old[at..].iter().take_while(|s| fits(s, by_rows)).count();
        let maps = old[at..at + run].iter().filter(|s| matches!(s, Step::Map { .. })).count();
        let worth = maps >= 2 || maps == 1 && run > 1;
        let made = (maps > 0).then(|| one(&old[at..at + run], |reg| is_read_later(reg, at + run))).flatten();
        // A step by itself gains where most of its elements leave something out.
        match made.filter(|f| worth || f.leaves) {
            Some(f) => {
                steps.push(Step::Fused { index: fused.len() as u16 });
                fused.push(f);
            }
            None => steps.extend(&old[at..at + run]),
        }
        at += run;
        if at < old.len() {
            steps.push(old[at]);
            at += 1;
        }
    }
}

/// One loop for these steps.
fn one(run: &[Step], is_read_later: impl Fn(Reg) -> bool) -> Option<Fused> {
    let all = noted(run, false, &is_read_later)?;
    let usual = noted(run, true, &is_read_later)?;
    let leaves = usual.iter().any(|inst| matches!(inst, Inst::Leave(_)));
    let by_row = run.iter().any(|s| matches!(s, Step::Expand { .. }));
    Fused::new(&all, leaves.then_some(&usual[..]), by_row)
}

/// The instructions of these steps; `usual`: without what is seldom.
fn noted(run: &[Step], usual: bool, is_read_later: impl Fn(Reg) -> bool) -> Option<Vec<Inst>> {
    lane::clear(usual);
    let number = |reg: Reg| lane::held(reg, Inst::Load(reg));
    let truth = |reg: Reg| lane::held(reg, Inst::LoadMask(reg));
    for step in run {
        match *step {
            Step::Map { dst, args, row: Some((row, _)), .. } => {
                let args: Vec<lane::Id> = (0..row.arity())
                    .map(|i| match (row.class(), i) {
                        (RowClass::Logic, _) | (RowClass::Select, 0) => truth(args[i]),
                        _ => number(args[i]),
                    })
                    .collect();
                let value = lane::apply(row, &args)?;
                let is_truth = matches!(row.class(), RowClass::Logic | RowClass::Compare);
                let store = is_read_later(dst).then_some(match is_truth {
                    true => Inst::StoreMask(dst, value),
                    false => Inst::Store(dst, value),
                });
                lane::hold(dst, value, store);
            }
            Step::Expand { dst, src, .. } => {
                let value = lane::held(dst, Inst::LoadRow(src));
                lane::hold(dst, value, is_read_later(dst).then_some(Inst::Store(dst, value)));
            }
            Step::Stream { dst, src, .. } => {
                let value = number(src);
                lane::hold(dst, value, Some(Inst::Stream(dst, value)));
            }
            _ => return None,
        }
        if lane::len() > MOST {
            return None;
        }
    }
    Some(lane::take())
}
