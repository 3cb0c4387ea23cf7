//! What a thread is in for a block or a function: whether gradients are recorded, inference, the search for NaN, mixed precision.
//!
//! To enter a block, to leave it, and to call a function in one, is one call each. Python stops for a signal between two of its own
//! instructions; between a change and the note of what is to be put back there are none.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mg_autograd::autocast::{DeviceKind, autocast_state, set_autocast_state};
use mg_device::DType;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;

use crate::autocast::kind;
use crate::dtype::dtype;
use crate::error::exception;
use crate::turns::this_thread;

thread_local! {
    /// Whether this thread is in `inference_mode`.
    static INFERENCE: Cell<bool> = const { Cell::new(false) };
}

/// Mixed precision on a type of device: whether it is on, the dtype of products, and whether parameters are converted once.
type Precision = (DeviceKind, bool, DType, bool);

/// What is switched, and to what.
#[derive(Clone, Copy)]
struct Mode {
    records: Option<bool>,
    inference: Option<bool>,
    /// Whether NaN is looked for, and whether gradients are looked at.
    anomaly: Option<(bool, bool)>,
    autocast: Option<Precision>,
}

fn set_precision((kind, enabled, dtype, caches): Precision) -> PyResult<Precision> {
    let state = autocast_state();
    let now = state.with(kind, enabled, dtype).map_err(|e| exception(&e))?.with_cache(caches);
    set_autocast_state(now);
    Ok((kind, state.is_enabled(kind), state.dtype(kind), state.caches()))
}

fn set_anomaly((on, checks): (bool, bool)) -> (bool, bool) {
    let before = (mg_autograd::anomaly::is_on(), mg_autograd::anomaly::checks_nan());
    mg_autograd::set_detect_anomaly(on, checks);
    before
}

impl Mode {
    /// Switches to it; answers with what there was.
    fn set(self) -> PyResult<Mode> {
        // First, since it alone can be refused.
        let autocast = self.autocast.map(set_precision).transpose()?;
        Ok(Mode {
            autocast,
            records: self.records.map(mg_graph::set_tracking),
            inference: self.inference.map(|on| INFERENCE.replace(on)),
            anomaly: self.anomaly.map(set_anomaly),
        })
    }
}

/// A block, or a function, in a mode.
#[pyclass(frozen, subclass, name = "_Switch", module = "micrograd_rs")]
pub struct PySwitch {
    mode: Mutex<Mode>,
    /// It was switched when it was made, and the block that follows begins there.
    at_once: bool,
    /// What there was before each of the blocks that were entered, and on which thread that was: threads may share one switch.
    before: Mutex<SmallVec<[(usize, Mode); 1]>>,
}

impl PySwitch {
    fn mode(&self) -> Mode {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn before(&self) -> MutexGuard<'_, SmallVec<[(usize, Mode); 1]>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this thread is in a block of it.
    fn is_entered(&self) -> bool {
        self.before().iter().any(|(thread, _)| *thread == this_thread())
    }

    fn enter(&self) -> PyResult<()> {
        // What is let go by it may run anything: the stack is not held meanwhile.
        let before = self.mode().set()?;
        self.before().push((this_thread(), before));
        Ok(())
    }

    /// What there was before this thread's innermost block; a block may also be left by another thread than entered it.
    fn pop(&self) -> Option<Mode> {
        let mut all = self.before();
        let own = all.iter().rposition(|(thread, _)| *thread == this_thread());
        let at = own.or_else(|| all.len().checked_sub(1))?;
        Some(all.remove(at).1)
    }

    fn leave(&self) -> PyResult<()> {
        let Some(before) = self.pop() else {
            return Err(PyRuntimeError::new_err("a block was left that was not entered"));
        };
        before.set().map(drop)
    }
}

#[pymethods]
impl PySwitch {
    #[new]
    #[pyo3(signature = (records=None, *, inference=None, anomaly=None, at_once=false))]
    fn new(
        records: Option<bool>,
        inference: Option<bool>,
        anomaly: Option<(bool, bool)>,
        at_once: bool,
    ) -> PyResult<PySwitch> {
        let mode = Mutex::new(Mode { records, inference, anomaly, autocast: None });
        let switch = PySwitch { mode, at_once, before: Mutex::default() };
        if at_once {
            switch.enter()?;
        }
        Ok(switch)
    }

    /// Has it switch mixed precision.
    fn _set_autocast(
        &self,
        device_type: &str,
        enabled: bool,
        of: &Bound<'_, PyAny>,
        caches: bool,
    ) -> PyResult<()> {
        let autocast = Some((kind(device_type)?, enabled, dtype(of)?, caches));
        self.mode.lock().unwrap_or_else(PoisonError::into_inner).autocast = autocast;
        Ok(())
    }

    fn __enter__(slf: Bound<'_, PySwitch>) -> PyResult<Option<Bound<'_, PySwitch>>> {
        let this = slf.get();
        if !this.at_once || !this.is_entered() {
            this.enter()?;
        }
        // As PyTorch's: only a region of mixed precision is something to have.
        Ok(this.mode().autocast.is_some().then_some(slf))
    }

    #[pyo3(signature = (_exc_type=None, _error=None, _traceback=None))]
    fn __exit__(
        &self,
        _exc_type: Option<&Bound<'_, PyAny>>,
        _error: Option<&Bound<'_, PyAny>>,
        _traceback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.leave()
    }

    /// Calls a function in the mode.
    fn _run<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let before = self.mode().set()?;
        let answer = function.call(args, Some(kwargs));
        before.set()?;
        answer
    }

    /// Takes back what was switched when this was made.
    fn _take_back(&self) -> PyResult<()> {
        let before = self.pop();
        before.map_or(Ok(()), |before| before.set().map(drop))
    }
}

/// Whether `inference_mode` is on.
///
/// >>> with mg.inference_mode():
/// ...     mg.is_inference_mode_enabled()
/// True
#[pyfunction]
pub fn is_inference_mode_enabled() -> bool {
    INFERENCE.get()
}
