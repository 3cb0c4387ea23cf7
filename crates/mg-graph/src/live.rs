//! Numbers of the host that replays read anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that the host may change between two replays of a step: a learning rate, a temperature. Operations take it as they
/// take a number, and read it when they are called; where they are replayed, at each replay.
#[derive(Clone, Debug)]
pub struct LiveScalar(Arc<AtomicU64>);

impl LiveScalar {
    /// With a first value.
    pub fn new(value: f64) -> LiveScalar {
        LiveScalar(Arc::new(AtomicU64::new(value.to_bits())))
    }

    /// The value.
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    /// Changes the value, for operations and replays to come.
    pub fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }
}

/// The same number, not only an equal one.
impl PartialEq for LiveScalar {
    fn eq(&self, other: &LiveScalar) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
