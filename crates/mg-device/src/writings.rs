//! What was written to memory that others have too, and when: who has read it before is told so.

use std::ops::Range;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Places beyond which those that were written are taken for one, with all between them.
const MOST: usize = 32;

/// What was written to a block of memory.
#[derive(Default)]
pub(crate) struct Writings {
    /// When it was written last; 0 where it never was.
    last: AtomicU64,
    places: Mutex<Vec<Place>>,
}

struct Place {
    bytes: Range<usize>,
    last: Writing,
}

/// When something was written, by the clock of whoever notes it, and by which line.
#[derive(Clone, Copy, Debug)]
pub struct Writing {
    /// The time: later ones are larger, and none is 0.
    pub at: u64,
    /// The line.
    pub line: &'static Location<'static>,
}

impl Writings {
    pub(crate) fn note(&self, bytes: Range<usize>, writing: Writing) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        match places.iter_mut().find(|place| place.bytes == bytes) {
            Some(place) => place.last = writing,
            None => {
                if places.len() == MOST {
                    let all = places.iter().fold(bytes.clone(), |all, place| {
                        all.start.min(place.bytes.start)..all.end.max(place.bytes.end)
                    });
                    places.clear();
                    places.push(Place { bytes: all, last: writing });
                } else {
                    places.push(Place { bytes, last: writing });
                }
            }
        }
        self.last.fetch_max(writing.at, Ordering::Release);
    }

    /// The last one that has written to some of these bytes after a time.
    #[inline]
    pub(crate) fn after(&self, time: u64, bytes: impl FnOnce() -> Option<Range<usize>>) -> Option<Writing> {
        if self.last.load(Ordering::Acquire) <= time {
            return None;
        }
        let bytes = bytes()?;
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let meets = |place: &&Place| place.bytes.start < bytes.end && bytes.start < place.bytes.end;
        let last = places.iter().filter(meets).map(|place| place.last).max_by_key(|writing| writing.at);
        last.filter(|writing| writing.at > time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_read_what_was_written_since_is_told() {
        let writings = Writings::default();
        let note = |bytes, at| writings.note(bytes, Writing { at, line: Location::caller() });
        let after = |time, bytes| writings.after(time, || Some(bytes)).map(|writing| writing.at);
        assert_eq!(after(0, 0..8), None);
        note(0..8, 5);
        note(16..24, 7);
        assert_eq!((after(4, 0..8), after(5, 0..8), after(4, 8..16)), (Some(5), None, None));
        assert_eq!((after(4, 7..17), after(6, 0..8), after(6, 20..21)), (Some(7), None, Some(7)));
        note(0..8, 9);
        assert_eq!(after(7, 4..6), Some(9));
        // Many places are one.
        (0..100).for_each(|i| note(100 * i..100 * i + 1, 10 + i as u64));
        assert_eq!(after(9, 9900..9901), Some(109));
        assert!(after(9, 1000..1001).is_some());
    }
}
