//! How a case is timed.

use crate::Result;
use crate::work::Work;
use std::time::{Duration, Instant};

/// One case, warmed up and calibrated to at least a given time a round.
pub struct Timer {
    work: Box<dyn Work>,
    /// Calls of one round.
    pub calls: u64,
    /// From the results of the first call: the sum of their mean magnitudes.
    pub check: Option<f64>,
}

impl Timer {
    pub fn new(mut work: Box<dyn Work>, least: Duration) -> Result<Timer> {
        work.reset()?;
        let check = work.check()?;
        let mut timer = Timer { work, calls: 1, check };
        let least = least.as_secs_f64();
        loop {
            let per_call = timer.round()?;
            if per_call * timer.calls as f64 >= least {
                return Ok(timer);
            }
            let wanted = (least / per_call.max(1e-9) * 1.1).ceil() as u64;
            timer.calls = wanted.min(timer.calls * 10);
        }
    }

    /// Seconds per call.
    pub fn round(&mut self) -> Result<f64> {
        self.work.reset()?;
        let start = Instant::now();
        self.work.calls(self.calls)?;
        Ok(start.elapsed().as_secs_f64() / self.calls as f64)
    }
}
