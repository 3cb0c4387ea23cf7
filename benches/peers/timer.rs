//! How a case is timed.

use crate::Result;
use crate::work::Work;
use mg_device::Device;
use std::time::{Duration, Instant};

/// One case, warmed up.
pub struct Timer {
    work: Box<dyn Work>,
    device: Device,
    least: Duration,
    /// Calls of one round, once they were counted.
    calls: Option<u64>,
    /// From the results of the first call: the sum of their mean magnitudes.
    pub check: Option<f64>,
}

impl Timer {
    /// Makes the first call; rounds are to take `least`.
    pub fn new(mut work: Box<dyn Work>, device: Device, least: Duration) -> Result<Timer> {
        work.reset()?;
        let check = work.check()?;
        Ok(Timer { work, device, least, calls: None, check })
    }

    /// Calls of one round, so many that it takes long enough: found by rounds of more and more of them.
    pub fn calls(&mut self) -> Result<u64> {
        if let Some(calls) = self.calls {
            return Ok(calls);
        }
        let least = self.least.as_secs_f64();
        let mut calls = 1;
        // Whatever else the first calls have to do is not to be counted.
        self.timed(calls)?;
        loop {
            let per_call = self.timed(calls)?;
            if per_call * calls as f64 >= least {
                break;
            }
            let wanted = (least / per_call.max(1e-9) * 1.1).ceil() as u64;
            calls = wanted.min(calls * 10);
        }
        self.calls = Some(calls);
        Ok(calls)
    }

    /// Seconds per call of one round.
    pub fn round(&mut self) -> Result<f64> {
        let calls = self.calls()?;
        self.timed(calls)
    }

    fn timed(&mut self, calls: u64) -> Result<f64> {
        self.work.reset()?;
        self.device.synchronize()?;
        let start = Instant::now();
        self.work.calls(calls)?;
        self.device.synchronize()?;
        Ok(start.elapsed().as_secs_f64() / calls as f64)
    }
}
