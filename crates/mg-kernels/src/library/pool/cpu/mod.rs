//! Pooling on the CPU: rows of windows at a time. Rows of the input are joined first, whole, and then what lies side by side.

mod columns;
mod element;
mod joined;
mod largest;
mod spread;

use super::PoolKind;
use super::geometry::Geometry;
use crate::cpu::library::fill_zero;
use crate::cpu::library::scratch::{self, Slot};
use crate::cpu::loops::{by_isa, isa};
use crate::cpu::pool::parallel;
use columns::{fold, unfold};
use element::Element;
use joined::{largest, means};
use largest::{largest_gradient, picked, positions};
use mg_device::{DType, Float, Width, bf16, f16};
use spread::means_gradient;
use std::ops::Range;

/// Elements from which threads share the work.
const PARALLEL: usize = 1 << 15;
/// Elements of a task.
const TASK: usize = 1 << 14;

/// A call: its addresses, and how it is divided.
struct Job<'a> {
    g: &'a Geometry,
    operands: [*const u8; 3],
    out: *mut u8,
    /// Rows (or planes) of a task.
    each: usize,
    /// How many there are.
    all: usize,
}

// SAFETY: the addresses are valid from any thread for the time of the call, and tasks write disjoint elements.
unsafe impl Sync for Job<'_> {}

impl Job<'_> {
    fn range(&self, task: usize) -> Range<usize> {
        task * self.each..self.all.min((task + 1) * self.each)
    }
}

type Task = unsafe fn(&Job<'_>, usize, *mut u64);

/// Computes one of the kinds.
///
/// # Safety
///
/// The addresses are valid for what the geometry says, from any thread, for the time of the call.
pub(super) unsafe fn pool(kind: PoolKind, g: &Geometry, dtype: DType, operands: &[*const u8], out: *mut u8) {
    let (inputs, outputs) = (g.inputs() * g.planes, g.outputs() * g.planes);
    let size = dtype.size();
    let is_spread = matches!(kind, PoolKind::MaxGrad | PoolKind::MeanGrad | PoolKind::Fold);
    if inputs * outputs == 0 {
        if is_spread {
            // SAFETY: the result has so many elements.
            unsafe { fill_zero(out, inputs * size) };
        }
        return;
    }
    macro_rules! task {
        ($($narrow:ident)? => $call:ident<$T:ty>) => {
            by_isa!($($narrow)? isa(), Task, fn <E: Element>(job: &Job<'_>, task: usize, memory: *mut u64) { $call::<E>(job, task, memory) }, [$T])
        };
    }
    macro_rules! floats {
        ($($narrow:ident)? => $call:ident) => {
            match dtype.float() {
                Some(Float::F64) => task!($($narrow)? => $call<f64>),
                Some(Float::F16) => task!($($narrow)? => $call<f16>),
                Some(Float::BF16) => task!($($narrow)? => $call<bf16>),
                // `Pool::result` takes no integers.
                Some(Float::F32) | None => task!($($narrow)? => $call<f32>),
            }
        };
    }
    // What these go through is compiled for the instructions: see `joined::join`, `largest::find`.
    macro_rules! numbers {
        ($call:ident) => {
            match dtype.float() {
                Some(Float::F64) => $call::<f64>,
                Some(Float::F32) => $call::<f32>,
                Some(Float::F16) => $call::<f16>,
                Some(Float::BF16) => $call::<bf16>,
                // `Pool::result` takes no other integers.
                None => $call::<i64>,
            }
        };
    }
    let task: Task = match kind {
        PoolKind::Max => numbers!(largest),
        PoolKind::MaxAt => numbers!(positions),
        // Its windows of two by two are compared without a jump, which the widest instructions do best.
        PoolKind::MaxGrad => floats!(=> largest_gradient),
        PoolKind::MaxPick => numbers!(picked),
        PoolKind::Mean => numbers!(means),
        PoolKind::MeanGrad => floats!(narrow => means_gradient),
        PoolKind::Unfold => match dtype.width() {
            Width::W8 => unfold::<u8>,
            Width::W16 => unfold::<u16>,
            Width::W32 => unfold::<u32>,
            Width::W64 => unfold::<u64>,
        },
        PoolKind::Fold => floats!(narrow => fold),
    };
    // Rows of a plane that are independent, and the elements that one of them stands for.
    let rows = match kind {
        PoolKind::Max | PoolKind::MaxAt | PoolKind::MaxPick | PoolKind::Mean => {
            g.axes[0].output * g.axes[1].output
        }
        PoolKind::MeanGrad => g.axes[0].input * g.axes[1].input,
        PoolKind::MaxGrad | PoolKind::Unfold | PoolKind::Fold => parts(kind, g),
    };
    let places = if matches!(kind, PoolKind::Unfold | PoolKind::Fold) { g.places() } else { 1 };
    let work = (inputs.max(outputs)).saturating_mul(places);
    let all = g.planes * rows;
    let each = (TASK * all).div_ceil(work).clamp(1, all);
    let mut addresses = [std::ptr::null(); 3];
    addresses[..operands.len().min(3)].copy_from_slice(&operands[..operands.len().min(3)]);
    let job = Job { g, operands: addresses, out, each, all };
    // What is added in another type than it lies in.
    let sums = match kind {
        PoolKind::MaxGrad | PoolKind::Fold if size == 2 => g.inputs().div_ceil(2),
        PoolKind::MaxGrad
        | PoolKind::Fold
        | PoolKind::Max
        | PoolKind::MaxAt
        | PoolKind::MaxPick
        | PoolKind::Mean
        | PoolKind::MeanGrad
        | PoolKind::Unfold => 0,
    };
    let words = 5 * row_words(g) + sums;
    let run = |index: usize| {
        // SAFETY: this function's contract; tasks write disjoint rows.
        scratch::with(Slot::Windows, words, |memory: *mut u64| unsafe { task(&job, index, memory) })
    };
    let tasks = all.div_ceil(each);
    if work < PARALLEL { (0..tasks).for_each(run) } else { parallel(tasks, &run) }
}

/// Into how many parts a plane is divided whose elements are written by what reads them: along its first axis that has any.
fn parts(kind: PoolKind, g: &Geometry) -> usize {
    match kind {
        // Parts overlap in what they read.
        PoolKind::MaxGrad => {
            let lines = g.axes[outer(g)].input;
            (g.inputs() / (1 << 16)).clamp(1, 64).min(lines)
        }
        PoolKind::Max
        | PoolKind::MaxAt
        | PoolKind::MaxPick
        | PoolKind::Mean
        | PoolKind::MeanGrad
        | PoolKind::Unfold
        | PoolKind::Fold => 1,
    }
}

/// The first axis with more than one element, of the first two.
fn outer(g: &Geometry) -> usize {
    usize::from(g.axes[0].input == 1)
}

/// A row in the type that is computed with: where it is, or in a buffer.
#[inline(always)]
unsafe fn row<E: Element>(from: *const E, n: usize, buffer: *mut E::Wide) -> *const E::Wide {
    if E::DIRECT {
        return from.cast();
    }
    // SAFETY: the caller's row and buffer have `n` elements.
    unsafe { E::widen(from, buffer, n) };
    buffer
}

/// The buffers of a task: rows of the input and of results, where largest elements stand, and the sums of a part of a plane.
struct Buffers<T> {
    joined: *mut T,
    wide: *mut T,
    result: *mut T,
    other: *mut T,
    at: *mut u32,
    sums: *mut T,
}

/// The words of 8 bytes of a row.
fn row_words(g: &Geometry) -> usize {
    g.axes[2].input.max(g.axes[2].output).next_multiple_of(8)
}

impl<T> Buffers<T> {
    #[inline(always)]
    fn of(g: &Geometry, memory: *mut u64) -> Buffers<T> {
        let n = row_words(g);
        Buffers {
            joined: memory.cast(),
            wide: memory.wrapping_add(n).cast(),
            result: memory.wrapping_add(2 * n).cast(),
            other: memory.wrapping_add(3 * n).cast(),
            at: memory.wrapping_add(4 * n).cast(),
            sums: memory.wrapping_add(5 * n).cast(),
        }
    }
}
