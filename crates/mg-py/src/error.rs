//! The edge to the engine: every call goes through [`build`] or [`compute`], which turn errors into Python's exceptions,
//! keep panics from reaching Python, and let other Python threads run while work does.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::keeper;
use crate::writes;
use mg_autograd::anomaly;
use mg_device::{DType, Error, ErrorKind, Result};
use pyo3::exceptions::{
    PyException, PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyOverflowError,
    PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

pyo3::create_exception!(
    micrograd_rs,
    LinAlgError,
    PyRuntimeError,
    "A matrix that cannot be factorised, inverted or solved with.

>>> try:
...     mg.linalg.inv(mg.zeros(2, 2))
... except mg.linalg.LinAlgError:
...     print(\"singular\")
singular"
);

/// An exception of two kinds: that which Python's own functions raise, and PyTorch's for the same mistake.
fn both(py: Python<'_>, name: &str, first: Bound<'_, PyType>, doc: &str) -> PyResult<Py<PyType>> {
    let members = PyDict::new(py);
    members.set_item("__module__", "micrograd_rs")?;
    members.set_item("__doc__", doc)?;
    let bases = (first, py.get_type::<PyRuntimeError>());
    Ok(py.get_type::<PyType>().call1((name, bases, members))?.cast_into::<PyType>()?.unbind())
}

/// `ArgumentError`: shapes or numbers that an operation does not take.
pub fn argument_error(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let doc = "Shapes or numbers that an operation does not take: a ValueError, and the RuntimeError that PyTorch raises.

>>> try:
...     mg.zeros(2) + mg.zeros(3)
... except mg.ArgumentError as error:
...     isinstance(error, ValueError), isinstance(error, RuntimeError)
(True, True)";
    let made = TYPE.get_or_try_init(py, || both(py, "ArgumentError", py.get_type::<PyValueError>(), doc))?;
    Ok(made.bind(py).clone())
}

/// `EmptyError`: no elements, of which one is asked for.
pub fn empty_error(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let doc = "No elements, of which one is asked for (the largest, the median): an ArgumentError, and the IndexError that PyTorch raises along an axis.

>>> try:
...     mg.zeros(0).max()
... except mg.EmptyError:
...     print(\"nothing\")
nothing";
    let made = TYPE.get_or_try_init(py, || {
        let members = PyDict::new(py);
        members.set_item("__module__", "micrograd_rs")?;
        members.set_item("__doc__", doc)?;
        let bases = (argument_error(py)?, py.get_type::<PyIndexError>());
        let made = py.get_type::<PyType>().call1(("EmptyError", bases, members))?;
        Ok::<_, PyErr>(made.cast_into::<PyType>()?.unbind())
    })?;
    Ok(made.bind(py).clone())
}

/// An [`argument_error`] that says this.
pub fn unfit(py: Python<'_>, text: String) -> PyErr {
    argument_error(py).map_or_else(|error| error, |kind| PyErr::from_type(kind, text))
}

/// `DTypeError`: dtypes that an operation does not take.
pub fn dtype_error(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let doc = "Dtypes that an operation does not take: a TypeError, and the RuntimeError that PyTorch raises.

>>> try:
...     mg.tensor([1, 2]).softmax(0, dtype=mg.int64)
... except mg.DTypeError as error:
...     isinstance(error, TypeError), isinstance(error, RuntimeError)
(True, True)";
    let made = TYPE.get_or_try_init(py, || both(py, "DTypeError", py.get_type::<PyTypeError>(), doc))?;
    Ok(made.bind(py).clone())
}

/// What the type of an object is called, for errors. (Not by `Display`, which has Python make a text of the name, and loses a Ctrl-C that comes meanwhile.)
pub fn type_name(obj: &Bound<'_, PyAny>) -> String {
    obj.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// What is wrong with an argument, said by the operation.
#[cold]
pub fn said_by(py: Python<'_>, operation: &str, error: PyErr) -> PyErr {
    let kind = error.get_type(py);
    let plain = [
        Ok(py.get_type::<PyTypeError>()),
        Ok(py.get_type::<PyValueError>()),
        Ok(py.get_type::<PyOverflowError>()),
        argument_error(py),
    ];
    // Python calls handlers of signals here: Ctrl-C is told before what is wrong.
    let text = match error.value(py).str() {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(other) => return other,
    };
    if !plain.iter().any(|plain| plain.as_ref().is_ok_and(|plain| kind.is(plain)))
        || text.starts_with(operation)
    {
        return error;
    }
    PyErr::from_type(kind, format!("{operation}(): {text}"))
}

/// A message of the engine with dtypes under the names that Python has for them: the short ones are Rust's. What is quoted or part of a name or a path is
/// left as it is.
fn in_pythons_words(text: String) -> String {
    const KEPT: &[char] = &['_', '.', '"', '\'', '`', '/', '\\'];
    let is_part = |c: char| c.is_alphanumeric() || KEPT.contains(&c);
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.as_str();
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let (word, behind) = from.split_at(from.find(|c: char| !is_part(c)).unwrap_or(from.len()));
        // A sentence may end behind it.
        let bare = word.trim_end_matches('.');
        let known = DType::ALL.iter().find(|dtype| dtype.name() == bare);
        out.push_str(before);
        out.push_str(known.map_or(bare, |dtype| dtype.long_name()));
        out.push_str(&word[bare.len()..]);
        rest = behind;
    }
    out + rest
}

/// An exception of one of these.
fn raised(kind: fn(Python<'_>) -> PyResult<Bound<'_, PyType>>, text: String) -> PyErr {
    Python::attach(|py| match kind(py) {
        Ok(kind) => PyErr::from_type(kind, text),
        Err(error) => error,
    })
}

/// Threads that are in the engine without the interpreter's lock, and where there is no such lock, all that are in the engine.
static BUSY: AtomicUsize = AtomicUsize::new(0);

/// Forks under way: nobody is let into the engine.
static FORKING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread has let the interpreter's lock go, in [`compute`] or to wait.
    static LET_GO: Cell<bool> = const { Cell::new(false) };
    /// Set while a signal handler runs in the middle of a computation, under the engine's lock.
    static IN_HANDLER: Cell<bool> = const { Cell::new(false) };
    /// Set while this thread forks.
    static FORKER: Cell<bool> = const { Cell::new(false) };
    /// What the signal handler raised, or code of Python's within the engine.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Threads that have something in [`RAISED`], or are in a handler, and one for a profile: every call asks, and mostly there is none.
static DISTURBED: AtomicUsize = AtomicUsize::new(0);

/// Whether this thread is in the middle of a computation, in a signal handler.
#[inline]
fn is_in_handler() -> bool {
    DISTURBED.load(Ordering::Relaxed) != 0 && IN_HANDLER.get()
}

/// Keeps an exception for whoever called the engine.
fn raise(error: PyErr) {
    DISTURBED.fetch_add(1, Ordering::Relaxed);
    if RAISED.replace(Some(error)).is_some() {
        DISTURBED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The exception that is kept for whoever called the engine, which is this call.
#[inline]
fn take_raised() -> Option<PyErr> {
    if DISTURBED.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let raised = RAISED.take();
    if raised.is_some() {
        DISTURBED.fetch_sub(1, Ordering::Relaxed);
    }
    raised
}

/// Between launches, signals are looked for at most this often.
const SIGNALS_EVERY: Duration = Duration::from_millis(20);

/// The Python exception for an engine's error. Its text has no place in our Rust: the traceback shows the user's line.
pub fn exception(error: &Error) -> PyErr {
    // `Mnist::load` is `Mnist.load` in Python.
    let mut text = in_pythons_words(format!("{}: {}", error.op().replace("::", "."), error.kind()));
    if let ErrorKind::Gradient(_) = error.kind() {
        match writes::overwriting_line() {
            Ok(Some(line)) => text += &format!("; it was changed at {line}"),
            Ok(None) => {}
            Err(raised) => return raised,
        }
    }
    match error.kind() {
        ErrorKind::DType(_) => raised(dtype_error, text),
        ErrorKind::Index { .. } | ErrorKind::Indices(_) | ErrorKind::Axis { .. } => {
            PyIndexError::new_err(text)
        }
        // Operands that do not go together are the caller's mistake; a device that is not there is the machine's state.
        ErrorKind::Shape(_) | ErrorKind::Value(_) | ErrorKind::UnlikeDevices(_) => {
            raised(argument_error, text)
        }
        ErrorKind::Empty(_) => raised(empty_error, text),
        ErrorKind::Format(_) => PyValueError::new_err(text),
        ErrorKind::OutOfMemory { .. } => PyMemoryError::new_err(text),
        ErrorKind::Singular(_) => LinAlgError::new_err(text),
        ErrorKind::Io(_) => PyOSError::new_err(text),
        ErrorKind::Cancelled => take_raised().unwrap_or_else(|| PyKeyboardInterrupt::new_err(())),
        ErrorKind::Device(_) | ErrorKind::Gradient(_) | ErrorKind::Cuda(_) | ErrorKind::Internal(_) => {
            PyRuntimeError::new_err(text)
        }
        // A kind that is new to this file, of which another crate's compiler says nothing: test_failures.py does.
        _ => PyRuntimeError::new_err(text),
    }
}

/// The exception for a panic: a mistake of ours, which must not look like the end of the interpreter.
#[cold]
fn panicked(payload: &(dyn Any + Send)) -> PyErr {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without words");
    PyRuntimeError::new_err(format!("internal error, please report it: {text}"))
}

fn guarded<T>(f: impl FnOnce() -> Result<T>) -> std::result::Result<Result<T>, Box<dyn Any + Send>> {
    // What a panic leaves behind is immutable nodes, and locks that the engine takes when poisoned.
    catch_unwind(AssertUnwindSafe(f))
}

fn answer<T>(result: std::result::Result<Result<T>, Box<dyn Any + Send>>) -> PyResult<T> {
    match result {
        Ok(Ok(value)) => match take_raised() {
            None => Ok(value),
            // The engine stopped work that it had begun by itself, and whose failure concerns nobody here.
            Some(error) => Err(error),
        },
        Ok(Err(error)) => Err(exception(&error)),
        Err(payload) => Err(panicked(&*payload)),
    }
}

/// Refuses what asks tensors outside of [`build`] and [`compute`], where a signal handler that interrupts a computation does.
#[inline]
pub fn not_in_handler() -> PyResult<()> {
    if is_in_handler() { Err(in_handler()) } else { Ok(()) }
}

/// Runs what builds graphs: short work, done under the interpreter's lock unless another thread is in the engine.
#[inline]
pub fn build<T: Send>(py: Python<'_>, f: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    if anomaly::remembers() {
        return noted(py, f);
    }
    // Without the interpreter's lock a fork does not wait for who builds, but for who is counted.
    if cfg!(Py_GIL_DISABLED) || BUSY.load(Ordering::Relaxed) != 0 || is_in_handler() {
        return compute(py, f);
    }
    let result = guarded(f);
    writes::remember(py);
    answer(result)
}

/// As [`compute`], and remembers the line of Python that it is called from: what is made here came from there.
#[cold]
fn noted<T: Send>(py: Python<'_>, f: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    if is_in_handler() {
        return Err(in_handler());
    }
    // The line is asked of Python, whose signal handlers may run meanwhile: what they raise is the call's.
    let line = there(py, line(py))?;
    let before = mg_graph::next_sequence();
    let outer = mg_graph::profile_caller(line.as_deref().map(Into::into));
    let answer = computed(py, f);
    mg_graph::profile_caller(outer);
    let after = mg_graph::next_sequence();
    if after > before
        && let Some(line) = line
    {
        anomaly::note(before..after, line);
    }
    answer
}

/// The line of Python that calls, outside of this package.
fn line(py: Python<'_>) -> PyResult<String> {
    let mut frame = py.import("sys")?.getattr("_getframe")?.call0()?;
    loop {
        let name: String = frame.getattr("f_code")?.getattr("co_filename")?.extract()?;
        let back = frame.getattr("f_back")?;
        if is_ours(py, &name)? && !back.is_none() {
            frame = back;
            continue;
        }
        let number: i32 = frame.getattr("f_lineno")?.extract()?;
        // As errors show it, or as a trace does.
        return if anomaly::is_on() { shown_line(py, &name, number) } else { Ok(format!("{name}:{number}")) };
    }
}

/// Whether a file is one of this package's.
fn is_ours(py: Python<'_>, name: &str) -> PyResult<bool> {
    static FOLDER: PyOnceLock<String> = PyOnceLock::new();
    let folder = FOLDER.get_or_try_init(py, || -> PyResult<String> {
        let init: String = py.import("micrograd_rs")?.getattr("__file__")?.extract()?;
        Ok(init.strip_suffix("__init__.py").unwrap_or(&init).to_owned())
    })?;
    Ok(name.starts_with(folder.as_str()))
}

/// A line as errors tell it.
pub fn shown_line(py: Python<'_>, name: &str, number: i32) -> PyResult<String> {
    let text: String = py.import("linecache")?.getattr("getline")?.call1((name, number))?.extract()?;
    let text = text.trim();
    let shown = if text.is_empty() { String::new() } else { format!(": {text}") };
    Ok(format!("\"{name}\", line {number}{shown}"))
}

/// Runs what may take long: other Python threads run meanwhile.
#[inline]
pub fn compute<T: Send>(py: Python<'_>, f: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    // All that is rare is behind one question.
    if DISTURBED.load(Ordering::Relaxed) != 0 {
        return disturbed(py, f);
    }
    computed(py, f)
}

#[cold]
fn disturbed<T: Send>(py: Python<'_>, f: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    if is_in_handler() {
        return Err(in_handler());
    }
    if PROFILES.load(Ordering::Relaxed) { noted(py, f) } else { computed(py, f) }
}

/// Whether calls say where they come from, for a profile.
static PROFILES: AtomicBool = AtomicBool::new(false);

/// Has calls remember the lines of Python that they come from, or no longer.
pub fn profiles(on: bool) {
    if PROFILES.swap(on, Ordering::Relaxed) == on {
        return;
    }
    if on {
        DISTURBED.fetch_add(1, Ordering::Relaxed);
    } else {
        DISTURBED.fetch_sub(1, Ordering::Relaxed);
    }
    anomaly::set_remembering(on);
}

#[inline]
fn computed<T: Send>(py: Python<'_>, f: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    enter(py);
    let result = py.detach(|| {
        let outer = LET_GO.replace(true);
        let result = guarded(f);
        LET_GO.set(outer);
        leave();
        result
    });
    keeper::let_go(py);
    writes::remember(py);
    answer(result)
}

#[cold]
fn in_handler() -> PyErr {
    PyRuntimeError::new_err("a signal handler that interrupts a computation cannot compute tensors itself")
}

/// Lets nobody into the engine and waits until no other thread is there: before a fork, whose child has none of them to
/// give locks back. Who enters is counted before it looks for forks, so nobody enters between the last look and the fork.
#[pyfunction]
pub fn _before_fork(py: Python<'_>) {
    FORKING.fetch_add(1, Ordering::SeqCst);
    // Other hooks of this fork may compute.
    FORKER.set(true);
    while BUSY.load(Ordering::SeqCst) != 0 && !is_in_handler() {
        wait(py);
    }
}

/// Lets threads into the engine again, in the parent and in the child.
#[pyfunction]
pub fn _after_fork() {
    FORKER.set(false);
    FORKING.fetch_sub(1, Ordering::SeqCst);
}

#[cold]
fn wait(py: Python<'_>) {
    py.detach(|| std::thread::sleep(Duration::from_micros(50)));
}

/// Counts this thread among those in the engine.
#[inline]
fn enter(py: Python<'_>) {
    loop {
        // In this order: a fork under way has seen this thread, or is seen by it.
        BUSY.fetch_add(1, Ordering::SeqCst);
        if FORKING.load(Ordering::SeqCst) == 0 || FORKER.get() {
            return;
        }
        leave();
        wait(py);
    }
}

#[inline]
fn leave() {
    BUSY.fetch_sub(1, Ordering::SeqCst);
}

/// Counts against Python's recursion limit, as a call in Python does: user code may come back to us without end.
pub fn recursive<T>(py: Python<'_>, f: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    // SAFETY: the interpreter's lock is held; the text lives for ever.
    if unsafe { ffi::Py_EnterRecursiveCall(c" in micrograd_rs".as_ptr()) } != 0 {
        return Err(PyErr::fetch(py));
    }
    let result = f();
    // SAFETY: entered above.
    unsafe { ffi::Py_LeaveRecursiveCall() };
    result
}

/// Asked by the engine between launches: whether a signal's handler raised something.
fn interrupted() -> bool {
    static START: OnceLock<Instant> = OnceLock::new();
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = START.get_or_init(Instant::now).elapsed().as_millis() as u64;
    let last = LAST.load(Ordering::Relaxed);
    if now.saturating_sub(last) < SIGNALS_EVERY.as_millis() as u64 {
        return false;
    }
    // Python handles signals in its main thread alone.
    if MAIN.get().is_some_and(|main| *main != std::thread::current().id()) {
        return false;
    }
    LAST.store(now, Ordering::Relaxed);
    let raised = Python::try_attach(|py| {
        DISTURBED.fetch_add(1, Ordering::Relaxed);
        IN_HANDLER.set(true);
        let raised = py.check_signals();
        IN_HANDLER.set(false);
        DISTURBED.fetch_sub(1, Ordering::Relaxed);
        raised
    });
    match raised {
        Some(Err(error)) => {
            raise(error);
            true
        }
        _ => false,
    }
}

/// Around every wait of the engine for another thread, which may itself wait for the interpreter's lock, to ask for signals or to run what is
/// being recorded: whoever has that lock lets it go. [`compute`] did; what asks a tensor for its shape outside of it did not.
fn let_go(wait: &mut dyn FnMut()) {
    /// A wait of this thread.
    struct Here<'a>(&'a mut dyn FnMut());
    // SAFETY: it is run by the thread that asks for it, and touches nothing of Python's, which is what `detach` wants to know.
    unsafe impl Send for Here<'_> {}
    impl Here<'_> {
        fn run(self) {
            let outer = LET_GO.replace(true);
            (self.0)();
            LET_GO.set(outer);
        }
    }
    let mut here = Some(Here(wait));
    if !LET_GO.get() && !is_in_handler() {
        // A thread that has not got the lock, none of Python's, gets it first, and lets it go.
        Python::try_attach(|py| {
            let here = here.take();
            // It may have other locks of the engine, which the child of a fork must not find taken.
            BUSY.fetch_add(1, Ordering::SeqCst);
            py.detach(|| here.map(Here::run));
            BUSY.fetch_sub(1, Ordering::SeqCst);
        });
    }
    if let Some(here) = here {
        here.run();
    }
}

/// Python's main thread, if this module was imported in it.
static MAIN: OnceLock<std::thread::ThreadId> = OnceLock::new();

/// A module of Python's, if the program has imported it.
pub fn imported<'py>(py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    modules.get_item(name)
}

/// Makes the engine ask for signals.
pub fn listen(py: Python<'_>) -> PyResult<()> {
    // A program that has not imported `threading` has one thread; to import it for that would cost every start.
    let is_main = match imported(py, "threading")? {
        Some(threading) => {
            let main = threading.call_method0("main_thread")?.getattr("ident")?;
            main.eq(threading.call_method0("get_ident")?)?
        }
        None => true,
    };
    if is_main {
        let _ = MAIN.set(std::thread::current().id());
    }
    mg_graph::set_interrupt(Some(interrupted));
    mg_graph::set_around_waits(let_go);
    Ok(())
}

/// As [`in_python`], for code whose exception the engine is to hand on: whoever called the engine raises it.
pub fn told_by_python<T>(f: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T> {
    in_python(f).map_err(|raised| {
        raise(raised);
        Error::new("python", ErrorKind::Cancelled)
    })
}

/// Runs Python code from within [`compute`], where no lock of the engine is held: a function that is being recorded.
pub fn in_python<T>(f: impl FnOnce(Python<'_>) -> PyResult<T>) -> PyResult<T> {
    leave();
    let outer = LET_GO.replace(false);
    let result = Python::try_attach(|py| {
        let result = f(py);
        enter(py);
        result
    });
    LET_GO.set(outer);
    result.unwrap_or_else(|| {
        BUSY.fetch_add(1, Ordering::SeqCst);
        Err(PyRuntimeError::new_err("the interpreter is gone"))
    })
}

/// What was found; nothing where asking for it has raised an exception. What is none that a program means (Ctrl-C) goes on.
pub fn there<T>(py: Python<'_>, found: PyResult<T>) -> PyResult<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(None),
        Err(error) => Err(error),
    }
}
