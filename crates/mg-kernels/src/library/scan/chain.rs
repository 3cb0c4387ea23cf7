//! Threads that share lines: they have the pieces in turn. Who has a piece looks first what it comes to by itself, which brings it into the
//! cache, and goes through it a second time from what is before it, so that memory is read once.

use super::cpu::State;
use crate::cpu::library::Shared;
use crate::cpu::memory;
use crate::cpu::pool::{num_threads, parallel};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How often a thread looks whether another has gone through a piece before it does so itself.
const LOOKS: usize = 4096;

/// What threads that share lines tell each other: what pieces come to.
pub(super) struct Chain<S> {
    totals: Shared<*mut S>,
    known: Vec<AtomicBool>,
    width: usize,
}

/// A pass over a piece: the line, the piece, what is before it, and where it says what the piece comes to.
pub(super) type Pass<'a, S> = &'a (dyn Fn(usize, usize, Option<&[S]>, &mut [S]) + Sync);

impl<S: State> Chain<S> {
    /// Goes through `pieces` of each of `outer` lines, or of so many bundles of `width` lines, on all threads. `sum` says what a piece comes
    /// to, `write` writes it. Pieces are begun in order, so that no thread waits for one that was not begun; where the thread that has it
    /// is held up, the one that waits goes through the piece itself.
    pub(super) fn run(outer: usize, pieces: usize, width: usize, sum: Pass<S>, write: Pass<S>) {
        let mut totals = memory::filled((outer * pieces).saturating_mul(width), S::NONE);
        let known = memory::collected((0..outer * pieces).map(|_| AtomicBool::new(false)));
        let chain = Chain { totals: Shared(totals.as_mut_ptr()), known, width };
        let next = AtomicUsize::new(0);
        parallel(num_threads().min(outer * pieces), &|_| {
            let (mut before, mut own) = (memory::filled(width, S::NONE), memory::filled(width, S::NONE));
            // Of which line `before` holds how many pieces.
            let mut held = (0, 0);
            loop {
                let task = next.fetch_add(1, Ordering::Relaxed);
                if task >= outer * pieces {
                    break;
                }
                let (line, piece) = (task / pieces, task % pieces);
                if piece + 1 < pieces {
                    chain.tell(task, &mut own, &|own: &mut [S]| sum(line, piece, None, own));
                }
                if held.0 != line {
                    held = (line, 0);
                }
                for earlier in held.1..piece {
                    let total = chain.total(line * pieces + earlier, &mut own, &|own: &mut [S]| {
                        sum(line, earlier, None, own)
                    });
                    for (before, total) in before.iter_mut().zip(total) {
                        *before = if earlier == 0 { *total } else { before.then(*total) };
                    }
                }
                held.1 = piece;
                own.fill(S::NONE);
                write(line, piece, (piece > 0).then_some(&before), &mut own);
            }
        });
    }

    /// Says what a piece comes to. Only who has it does.
    #[inline(never)]
    fn tell(&self, task: usize, own: &mut [S], sum: &dyn Fn(&mut [S])) {
        own.fill(S::NONE);
        sum(own);
        // SAFETY: each piece has totals of its own, and nobody reads them before they are known.
        unsafe {
            std::ptr::copy_nonoverlapping(own.as_ptr(), self.totals.get().add(task * self.width), self.width)
        };
        self.known[task].store(true, Ordering::Release);
    }

    /// What a piece comes to: as it was told, or gone through here.
    #[inline(never)]
    fn total<'a>(&'a self, task: usize, own: &'a mut [S], sum: &dyn Fn(&mut [S])) -> &'a [S] {
        for _ in 0..LOOKS {
            if self.known[task].load(Ordering::Acquire) {
                // SAFETY: they were written before they were known, and are not written again.
                return unsafe {
                    std::slice::from_raw_parts(self.totals.get().add(task * self.width), self.width)
                };
            }
            std::hint::spin_loop();
        }
        own.fill(S::NONE);
        sum(own);
        own
    }
}
