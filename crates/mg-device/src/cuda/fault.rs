//! What goes wrong while a device works by itself: indices out of range, found by kernels, and faults of launches, which
//! the driver reports later.

use std::collections::VecDeque;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Checked, Error};

/// Launches that a fault names.
const REMEMBERED: usize = 8;
/// Checks that may be under way before one has to be waited for.
pub(super) const SLOTS: usize = 4096;

/// Where a launch comes from: its name and the caller's line.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// What is launched.
    pub name: &'static str,
    /// The line that asked for it.
    pub line: &'static Location<'static>,
}

/// A check that a kernel makes of its indices, of its integer divisors, or of what it computes.
#[derive(Clone, Copy, Debug)]
pub struct Guarded {
    /// The operation that the error names.
    pub op: &'static str,
    /// The line that asked for it.
    pub line: &'static Location<'static>,
    /// What it looks at.
    pub check: Checked,
}

impl Guarded {
    pub(super) fn error(&self, found: i64) -> Error {
        Error::new(self.op, self.check.refusal(found)).with_location(self.line)
    }
}

/// What a kernel writes where a check fails, in memory that the host sees: `found` last.
#[repr(C)]
pub(super) struct Slot {
    pub(super) index: i64,
    pub(super) found: u64,
}

/// Checks under way, oldest first, and the launches before now.
pub(super) struct Watch {
    /// Slots that no check under way writes to.
    pub(super) free: Vec<usize>,
    /// The slot of each check, and the thread that asked for it.
    pub(super) pending: VecDeque<(usize, Guarded, u64)>,
    /// Where checks say what they find, since somebody has asked.
    pub(super) noted: Vec<u64>,
    /// What was found for threads that have not looked since.
    found: VecDeque<(u64, Error)>,
    launches: VecDeque<Origin>,
}

/// Errors that wait for their thread.
const WAITING: usize = 64;

/// A number of this thread's own.
pub(super) fn this_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static MINE: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    MINE.with(|n| *n)
}

impl Default for Watch {
    fn default() -> Watch {
        let free = (0..SLOTS).rev().collect();
        Watch {
            free,
            pending: VecDeque::new(),
            noted: vec![],
            found: VecDeque::new(),
            launches: VecDeque::new(),
        }
    }
}

impl Watch {
    /// Keeps an error for the thread whose work it is of.
    pub(super) fn keep(&mut self, thread: u64, error: Error) {
        if self.found.len() == WAITING {
            self.found.pop_front();
        }
        self.found.push_back((thread, error));
    }

    /// Whether any error waits.
    pub(super) fn has_found(&self) -> bool {
        !self.found.is_empty()
    }

    /// The first error of a thread's work; its others are dropped with it.
    pub(super) fn take(&mut self, thread: u64) -> Option<Error> {
        let at = self.found.iter().position(|f| f.0 == thread)?;
        let (_, error) = self.found.remove(at)?;
        self.found.retain(|f| f.0 != thread);
        Some(error)
    }

    /// Remembers a launch.
    #[inline]
    pub(super) fn launched(&mut self, origin: Origin) {
        if self.launches.len() == REMEMBERED {
            self.launches.pop_front();
        }
        self.launches.push_back(origin);
    }

    /// The launches before now, for a fault's text.
    pub(super) fn story(&self) -> String {
        if self.launches.is_empty() {
            return String::new();
        }
        let each: Vec<String> = self
            .launches
            .iter()
            .rev()
            .map(|o| format!("{} ({}:{})", o.name, o.line.file(), o.line.line()))
            .collect();
        format!("; the last launches, latest first: {}", each.join(", "))
    }
}
