//! The lock of NumPy's generator while there are workers of a loader: who takes it finds the thread's own stream.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// What every draw of NumPy's takes, which asks whose stream the next numbers are of. It is no Python code: between what it does no
/// signal is looked for, and Ctrl-C finds it whole.
#[pyclass(frozen, name = "_Turns", module = "micrograd_rs")]
pub struct PyTurns {
    /// NumPy's own lock.
    lock: Py<PyAny>,
    get_state: Py<PyAny>,
    set_state: Py<PyAny>,
    /// By thread, in `numpy`: where its stream is kept while others draw, or `None` for that of everybody else.
    mine: Py<PyAny>,
    everybody: Py<PyAny>,
    /// Which thread holds the lock (0 for none), and how often it has taken it.
    holder: AtomicUsize,
    depth: AtomicUsize,
    now: Mutex<Py<PyAny>>,
}

/// A number of this thread's own, as long as it lives.
pub fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

impl PyTurns {
    fn enter(&self, py: Python<'_>) -> PyResult<()> {
        if self.holder.load(Ordering::Relaxed) != this_thread() {
            self.lock.call_method0(py, intern!(py, "acquire"))?;
            self.holder.store(this_thread(), Ordering::Relaxed);
        }
        if self.depth.fetch_add(1, Ordering::Relaxed) > 0 {
            return Ok(());
        }
        let turned = self.mine(py).and_then(|mine| self.turn(py, mine));
        turned.or_else(|error| self.leave(py).and(Err(error)))
    }

    fn leave(&self, py: Python<'_>) -> PyResult<()> {
        if self.depth.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.holder.store(0, Ordering::Relaxed);
            self.lock.call_method0(py, intern!(py, "release"))?;
        }
        Ok(())
    }

    /// Whose turn it is.
    fn now(&self, py: Python<'_>) -> Py<PyAny> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone_ref(py)
    }

    /// Where the numbers of this thread are from.
    fn mine(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let own = self.mine.getattr(py, intern!(py, "numpy"))?;
        Ok(if own.is_none(py) { self.everybody.clone_ref(py) } else { own })
    }
}

#[pymethods]
impl PyTurns {
    #[new]
    fn new(
        lock: Py<PyAny>,
        get_state: Py<PyAny>,
        set_state: Py<PyAny>,
        mine: Py<PyAny>,
        everybody: Py<PyAny>,
    ) -> PyTurns {
        let now = Mutex::new(Python::attach(|py| everybody.clone_ref(py)));
        let (holder, depth) = (AtomicUsize::new(0), AtomicUsize::new(0));
        PyTurns { lock, get_state, set_state, mine, everybody, holder, depth, now }
    }

    fn __enter__(&self, py: Python<'_>) -> PyResult<()> {
        self.enter(py)
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.leave(py)
    }

    #[pyo3(signature = (*_how, **_named))]
    fn acquire(
        &self,
        py: Python<'_>,
        _how: &Bound<'_, PyTuple>,
        _named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        self.enter(py).map(|()| true)
    }

    fn release(&self, py: Python<'_>) -> PyResult<()> {
        self.leave(py)
    }

    /// Where a stream is, which need not take its turn for that. The thread does not hold the lock.
    fn state_of(&self, py: Python<'_>, mine: Py<PyAny>) -> PyResult<Py<PyAny>> {
        self.lock.call_method0(py, intern!(py, "acquire"))?;
        let state = match self.now(py).is(&mine) {
            true => self.get_state.call1(py, (false,)),
            false => mine.getattr(py, intern!(py, "state")),
        };
        self.lock.call_method0(py, intern!(py, "release"))?;
        state
    }

    /// NumPy's own function, which takes no lock, for this thread's stream.
    #[pyo3(signature = (legacy = true))]
    fn get_state(&self, py: Python<'_>, legacy: bool) -> PyResult<Py<PyAny>> {
        self.enter(py)?;
        let state = self.get_state.call1(py, (legacy,));
        self.leave(py)?;
        state
    }

    /// As `get_state`.
    fn set_state(&self, py: Python<'_>, state: Py<PyAny>) -> PyResult<()> {
        self.enter(py)?;
        let done = self.set_state.call1(py, (state,));
        self.leave(py)?;
        done.map(drop)
    }

    /// Whose stream the next numbers are of. The thread holds the lock.
    fn turn(&self, py: Python<'_>, mine: Py<PyAny>) -> PyResult<()> {
        let now = self.now(py);
        if now.is(&mine) {
            return Ok(());
        }
        now.setattr(py, intern!(py, "state"), self.get_state.call1(py, (false,))?)?;
        self.set_state.call1(py, (mine.getattr(py, intern!(py, "state"))?,))?;
        let before = std::mem::replace(&mut *self.now.lock().unwrap_or_else(PoisonError::into_inner), mine);
        drop(before);
        Ok(())
    }
}
