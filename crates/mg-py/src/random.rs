//! Generators of random numbers.

use mg_autograd::{Generator, Tensor};
use mg_device::{DType, Device, Error, ErrorKind, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyFloat;

use crate::device::{PyDevice, usable_device};
use crate::error::{build, compute};
use crate::tensor::PyTensor;

/// A generator of random numbers: a seed, which is the key of Philox4x32-10, and the position of the next number. The same seed gives the same numbers on
/// every device.
///
/// What is drawn takes its positions where the operation is called, in the program's order: a draw of `n` numbers takes `n` of them, rounded up to a
/// multiple of 4, and the element at row-major place `i` has the number at the first of them plus `i`. An f32 is the upper 24 bits of word `at % 4` of
/// the block at counter `at / 4`, an f64 the upper 53 bits of words `2 (at % 2)` and the next of the block at counter `2⁶³ + at / 2`. What each distribution makes of
/// these is in docs/random.md of the sources.
///
/// Arguments:
///     device: where it is said to be
///
/// Errors: RuntimeError for a device that is not there.
///
/// >>> g = mg.Generator().manual_seed(7)
/// >>> a = mg.rand(3, generator=g)
/// >>> bool((a == mg.rand(3, generator=g.manual_seed(7))).all())
/// True
#[pyclass(frozen, name = "Generator", module = "micrograd_rs")]
pub struct PyGenerator(pub Generator, Device);

/// A seed as it is given: negative ones count from the end, as in PyTorch.
fn seed_of(seed: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(seed) = seed.extract::<u64>() {
        return Ok(seed);
    }
    match seed.extract::<i64>() {
        Ok(seed) => Ok(seed as u64),
        // A float without its fraction, as PyTorch has it.
        Err(_) if seed.is_instance_of::<PyFloat>() && seed.extract::<f64>()?.is_finite() => {
            seed_of(&seed.call_method0("__int__")?)
        }
        Err(_) => Err(PyValueError::new_err(format!("takes a seed of 64 bits, got {}", seed.repr()?))),
    }
}

/// The state as a tensor: seed and position, 16 bytes.
fn state(generator: &Generator) -> Result<Tensor> {
    let (seed, position) = generator.state();
    let bytes: Vec<u8> = seed.to_le_bytes().into_iter().chain(position.to_le_bytes()).collect();
    Tensor::from_vec(bytes, &[16])?.to(Device::cpu())
}

fn set_state(op: &'static str, generator: &Generator, state: &Tensor) -> Result<()> {
    let refused = || {
        let text = "takes the state that was asked for before: 16 bytes, in a tensor of uint8";
        Error::new(op, ErrorKind::Value(format!("{text}; got {} of shape {}", state.dtype(), state.shape())))
    };
    if state.dtype() != DType::U8 {
        return Err(refused());
    }
    let bytes = state.to_vec::<u8>()?;
    let (words, []) = bytes.as_chunks::<8>() else { return Err(refused()) };
    let [seed, position] = words else { return Err(refused()) };
    generator.set_state(u64::from_le_bytes(*seed), u64::from_le_bytes(*position));
    Ok(())
}

#[pymethods]
impl PyGenerator {
    #[new]
    #[pyo3(signature = (device=None))]
    fn new(device: Option<&Bound<'_, PyAny>>) -> PyResult<PyGenerator> {
        Ok(PyGenerator(Generator::new(), usable_device(device)?.unwrap_or(Device::cpu())))
    }

    /// Starts anew with a seed; answers with the generator itself.
    ///
    /// >>> g = mg.Generator().manual_seed(7)
    /// >>> g.initial_seed()
    /// 7
    fn manual_seed<'py>(slf: Bound<'py, Self>, seed: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        slf.get().0.manual_seed(seed_of(seed)?);
        Ok(slf)
    }

    /// Starts anew with a seed that nobody knows, and answers with it.
    ///
    /// >>> g = mg.Generator()
    /// >>> g.seed() == g.initial_seed()
    /// True
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    /// The seed.
    ///
    /// >>> mg.Generator().manual_seed(7).initial_seed()
    /// 7
    fn initial_seed(&self) -> u64 {
        self.0.state().0
    }

    /// The state as a tensor of bytes: seed and position.
    ///
    /// >>> g = mg.Generator().manual_seed(7)
    /// >>> state = g.get_state()
    /// >>> a = mg.rand(3, generator=g)
    /// >>> _ = g.set_state(state)
    /// >>> bool((a == mg.rand(3, generator=g)).all())
    /// True
    fn get_state(&self, py: Python<'_>) -> PyResult<PyTensor> {
        mg_graph::needs_values();
        Ok(build(py, || state(&self.0))?.into())
    }

    /// Goes on from a state that `get_state` answered with.
    ///
    /// Arguments:
    ///     new_state: the state
    ///
    /// See `Generator.get_state`.
    fn set_state<'py>(slf: Bound<'py, Self>, new_state: &Bound<'py, PyTensor>) -> PyResult<Bound<'py, Self>> {
        let (generator, new) = (&slf.get().0, &new_state.get().t);
        compute(slf.py(), || self::set_state("set_state", generator, new))?;
        Ok(slf)
    }

    /// A generator of its own in the same state.
    ///
    /// >>> g = mg.Generator().manual_seed(7)
    /// >>> bool((mg.rand(3, generator=g.clone_state()) == mg.rand(3, generator=g)).all())
    /// True
    fn clone_state(&self) -> PyGenerator {
        let (seed, position) = self.0.state();
        let other = Generator::new();
        other.set_state(seed, position);
        PyGenerator(other, self.1)
    }

    fn __copy__(&self) -> PyGenerator {
        self.clone_state()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> PyGenerator {
        self.clone_state()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,), PyTensor)> {
        let generator = slf.get();
        let state = generator.get_state(slf.py())?;
        Ok((slf.get_type().into_any(), (generator.1.to_string(),), state))
    }

    fn __setstate__(slf: Bound<'_, Self>, state: &Bound<'_, PyTensor>) -> PyResult<()> {
        PyGenerator::set_state(slf, state).map(drop)
    }

    /// The device that it was made for; it makes the same numbers on every one.
    ///
    /// >>> mg.Generator().device
    /// Device('cpu')
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.1)
    }

    fn __repr__(&self) -> String {
        let (seed, position) = self.0.state();
        format!("Generator(seed={seed}, position={position})")
    }
}

fn global() -> PyGenerator {
    PyGenerator(Generator::global(), Device::cpu())
}

/// Gives this thread a generator of random tensors of its own, or the one of all threads again.
#[pyfunction]
pub fn _draw_from(generator: Option<&PyGenerator>) {
    mg_autograd::draw_from(generator.map(|generator| generator.0.clone()));
}

/// Seeds the generator of random tensors, and answers with it: the same seed gives the same numbers, on every device.
///
/// Arguments:
///     seed: any integer
///
/// Errors: ValueError for what is no integer of 64 bits.
///
/// >>> a = [mg.rand(2) for _ in range(2) if mg.manual_seed(7)]
/// >>> bool((a[0] == a[1]).all())
/// True
#[pyfunction]
pub fn manual_seed(seed: &Bound<'_, PyAny>) -> PyResult<PyGenerator> {
    let generator = global();
    generator.0.manual_seed(seed_of(seed)?);
    Ok(generator)
}

/// Seeds the generator of random tensors with a seed that nobody knows, and answers with it.
///
/// >>> mg.seed() == mg.initial_seed()
/// True
#[pyfunction]
pub fn seed() -> u64 {
    global().0.seed()
}

/// The seed of the generator of random tensors.
///
/// >>> _ = mg.manual_seed(7)
/// >>> mg.initial_seed()
/// 7
#[pyfunction]
pub fn initial_seed() -> u64 {
    mg_autograd::refuse_replay("it asks for the seed of the generator of random numbers");
    global().0.state().0
}

/// The state of the generator of random tensors, as a tensor of bytes.
///
/// >>> state = mg.get_rng_state()
/// >>> a = mg.rand(3)
/// >>> mg.set_rng_state(state)
/// >>> bool((a == mg.rand(3)).all())
/// True
#[pyfunction]
pub fn get_rng_state(py: Python<'_>) -> PyResult<PyTensor> {
    global().get_state(py)
}

/// Lets the generator of random tensors go on from a state that `get_rng_state` answered with.
///
/// Arguments:
///     new_state: the state
///
/// See `get_rng_state`.
#[pyfunction]
pub fn set_rng_state(py: Python<'_>, new_state: &Bound<'_, PyTensor>) -> PyResult<()> {
    let new = &new_state.get().t;
    compute(py, || set_state("set_rng_state", &Generator::global(), new))
}

/// The generator of random tensors.
#[pyfunction]
pub fn _default_generator() -> PyGenerator {
    global()
}
