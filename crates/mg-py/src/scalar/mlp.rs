//! micrograd's `Neuron`, `Layer` and `MLP`.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use mg_autograd::scalar::{Span, Value};
use mg_device::{Device, Result};
use mg_nn::scalar::{Layer, MLP, Neuron};
use pyo3::PyTypeInfo;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::device::device;
use crate::error::exception;
use crate::scalar::state::copied;
use crate::scalar::value::{PyValue, value_on};

/// A seed from Python's own generator, so that `random.seed` decides, as it does in micrograd.
fn seed(py: Python<'_>, given: Option<u64>) -> PyResult<u64> {
    match given {
        Some(seed) => Ok(seed),
        None => py.import("random")?.call_method1("getrandbits", (64,))?.extract(),
    }
}

/// Refuses sizes that no memory holds before they are asked for: a value takes about 64 bytes.
fn check_sizes(nin: usize, nouts: &[usize]) -> PyResult<()> {
    let parameters = [nin]
        .iter()
        .chain(nouts)
        .zip(nouts)
        .try_fold(0usize, |sum, (&nin, &nout)| sum.checked_add(nin.checked_add(1)?.checked_mul(nout)?));
    match parameters {
        Some(n) if n <= 1 << 28 && nin <= 1 << 28 => Ok(()),
        _ => Err(PyMemoryError::new_err(
            "more than 2**28 parameters are too many for single numbers; see nn.Linear",
        )),
    }
}

fn inputs(x: &Bound<'_, PyAny>, device: Device) -> PyResult<Span> {
    if let Ok(list) = x.cast_exact::<PyList>() {
        let values = (0..list.len()).map(|i| value_on(&list.get_item(i)?, device));
        return Ok(Span::new(values.collect::<PyResult<Vec<Value>>>()?));
    }
    let values = x.try_iter()?.map(|v| value_on(&v?, device)).collect::<PyResult<Vec<Value>>>()?;
    Ok(Span::new(values))
}

/// As micrograd: one output alone, several in a list.
fn outputs(py: Python<'_>, mut out: Vec<Value>) -> PyResult<Bound<'_, PyAny>> {
    if out.len() == 1 {
        return Ok(Bound::new(py, PyValue(out.swap_remove(0)))?.into_any());
    }
    Ok(values(py, out)?.into_any())
}

fn values(py: Python<'_>, all: Vec<Value>) -> PyResult<Bound<'_, PyList>> {
    let all = all.into_iter().map(|v| Bound::new(py, PyValue(v)));
    PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)
}

/// What the three have in common.
trait Part: Clone {
    fn parameters(&self) -> Vec<Value>;
    fn forward(&self, inputs: Span) -> Result<Vec<Value>>;
    fn to(&mut self, device: Device) -> Result<()>;
    fn with_parameters(&self, parameters: &[Value]) -> Result<Self>;
    fn text(&self) -> String;

    fn device(&self) -> Device {
        self.parameters().first().map_or(Device::cpu(), Value::device)
    }
}

macro_rules! part {
    ($T:ty, |$x:ident, $inputs:ident| $forward:expr) => {
        impl Part for $T {
            fn parameters(&self) -> Vec<Value> {
                <$T>::parameters(self)
            }
            fn forward(&self, $inputs: Span) -> Result<Vec<Value>> {
                let $x = self;
                $forward
            }
            fn to(&mut self, device: Device) -> Result<()> {
                <$T>::to(self, device)
            }
            fn with_parameters(&self, parameters: &[Value]) -> Result<$T> {
                <$T>::with_parameters(self, parameters)
            }
            fn text(&self) -> String {
                self.to_string()
            }
        }
    };
}
part!(Neuron, |n, x| Ok(vec![Neuron::forward(n, x)?]));
part!(Layer, |l, x| Layer::forward(l, x));
part!(MLP, |m, x| MLP::forward(m, x));

/// A part that may be moved to another device.
struct Held<T> {
    part: RwLock<T>,
    /// What new leaves are made on.
    device: RwLock<Device>,
}

impl<T: Part> Held<T> {
    fn new(part: T) -> Held<T> {
        let device = RwLock::new(part.device());
        Held { part: RwLock::new(part), device }
    }

    fn read(&self) -> RwLockReadGuard<'_, T> {
        self.part.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn device(&self) -> Device {
        *self.device.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn call<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let inputs = inputs(x, self.device())?;
        let out = self.read().forward(inputs).map_err(|e| exception(&e))?;
        outputs(x.py(), out)
    }

    fn to(&self, to: &Bound<'_, PyAny>) -> PyResult<()> {
        let to = device(to)?;
        to.check().map_err(|e| exception(&e))?;
        let mut moved = self.read().clone();
        moved.to(to).map_err(|e| exception(&e))?;
        *self.part.write().unwrap_or_else(PoisonError::into_inner) = moved;
        *self.device.write().unwrap_or_else(PoisonError::into_inner) = to;
        Ok(())
    }

    /// Its parameters and device, for pickling.
    fn state(&self) -> State {
        (self.read().parameters().into_iter().map(PyValue).collect(), self.device().to_string())
    }

    /// Takes over these parameters: the values themselves, which others may hold as well.
    fn set_state(&self, parameters: &[Value], device: &str) -> PyResult<()> {
        let device: Device = device.parse().map_err(|e| exception(&e))?;
        let part = self.read().with_parameters(parameters).map_err(|e| exception(&e))?;
        *self.part.write().unwrap_or_else(PoisonError::into_inner) = part;
        *self.device.write().unwrap_or_else(PoisonError::into_inner) = device;
        Ok(())
    }

    /// A copy whose parameters are those of the other values that are copied with it.
    fn copied(&self, memo: &Bound<'_, PyDict>) -> PyResult<Held<T>> {
        let copies = copied(memo, &self.read().parameters())?;
        let part = self.read().with_parameters(&copies).map_err(|e| exception(&e))?;
        Ok(Held { part: RwLock::new(part), device: RwLock::new(self.device()) })
    }
}

/// What pickle keeps of a part beside its shape.
type State = (Vec<PyValue>, String);

macro_rules! part_class {
    ($Py:ident) => {
        #[pymethods]
        impl $Py {
            /// The output (or outputs, in a list) for a list of inputs: values and numbers.
            fn __call__<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                self.0.call(x)
            }

            /// All parameters.
            fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
                values(py, self.0.read().parameters())
            }

            /// Sets the gradient of each parameter to 0.
            fn zero_grad(&self) {
                self.0.read().zero_grad();
            }

            /// Makes new parameters on a device: the same numbers, and no gradient.
            fn to<'py>(slf: Bound<'py, $Py>, device: &Bound<'py, PyAny>) -> PyResult<Bound<'py, $Py>> {
                slf.get().0.to(device)?;
                Ok(slf)
            }

            fn __repr__(&self) -> String {
                self.0.read().text()
            }

            fn __setstate__(&self, state: (Vec<Bound<'_, PyValue>>, String)) -> PyResult<()> {
                let (parameters, device) = state;
                let parameters: Vec<Value> = parameters.iter().map(|p| p.get().0.clone()).collect();
                self.0.set_state(&parameters, &device)
            }

            fn __deepcopy__(&self, memo: &Bound<'_, PyDict>) -> PyResult<$Py> {
                self.0.copied(memo).map($Py)
            }
        }
    };
}

/// `relu(Σ wᵢ·xᵢ + b)`, or the sum alone if not `nonlin`. Weights are uniform in [−1, 1), the bias is 0.
///
/// Arguments:
///     nin: how many inputs it takes
///     nonlin: whether negative sums become 0
///     seed: what the weights are drawn by; unlike each time without one
///
/// >>> n = mg.Neuron(2, seed=1)
/// >>> len(n.parameters()), n([1.0, -2.0]).data >= 0
/// (3, True)
#[pyclass(frozen, name = "Neuron", module = "micrograd_rs")]
pub struct PyNeuron(Held<Neuron>);

/// Neurons that take the same inputs.
///
/// Arguments:
///     nin: how many inputs each takes
///     nout: how many neurons there are
///     nonlin: whether negative sums become 0
///     seed: what the weights are drawn by; unlike each time without one
///
/// >>> layer = mg.Layer(2, 3, seed=1)
/// >>> len(layer([1.0, -2.0])), len(layer.parameters())
/// (3, 9)
#[pyclass(frozen, name = "Layer", module = "micrograd_rs")]
pub struct PyLayer(Held<Layer>);

/// A multilayer perceptron: layers one after another, all with ReLU but the last, which is linear.
///
/// Arguments:
///     nin: how many inputs it takes
///     nouts: how many neurons each layer has
///     seed: what the weights are drawn by; unlike each time without one
///
/// >>> model = mg.MLP(2, [4, 1], seed=1)
/// >>> loss = (model([1.0, -2.0]) - 1) ** 2
/// >>> loss.backward()
/// >>> len(model.parameters()), any(p.grad != 0 for p in model.parameters())
/// (17, True)
#[pyclass(frozen, name = "MLP", module = "micrograd_rs")]
pub struct PyMLP(Held<MLP>);

part_class!(PyNeuron);
part_class!(PyLayer);
part_class!(PyMLP);

/// `(class, arguments, state)`, as pickle takes it.
type Reduced<'py> = PyResult<Bound<'py, PyAny>>;

fn reduced<'py, T: PyTypeInfo>(
    py: Python<'py>,
    arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
    state: State,
) -> Reduced<'py> {
    let arguments = arguments.into_pyobject(py)?;
    Ok((py.get_type::<T>(), arguments, state).into_pyobject(py)?.into_any())
}

#[pymethods]
impl PyNeuron {
    #[new]
    #[pyo3(signature = (nin, nonlin=true, seed=None))]
    fn new(py: Python<'_>, nin: usize, nonlin: bool, seed: Option<u64>) -> PyResult<PyNeuron> {
        check_sizes(nin, &[1])?;
        Ok(PyNeuron(Held::new(Neuron::new(nin, nonlin, self::seed(py, seed)?))))
    }

    /// The weights.
    #[getter]
    fn w<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        values(py, self.0.read().weights().to_vec())
    }

    /// The bias.
    #[getter]
    fn b(&self) -> PyValue {
        PyValue(self.0.read().bias().clone())
    }

    /// Whether ReLU follows the sum.
    #[getter]
    fn nonlin(&self) -> bool {
        self.0.read().nonlin()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py> {
        let (nin, nonlin) = (self.0.read().weights().len(), self.nonlin());
        reduced::<PyNeuron>(py, (nin, nonlin, 0u64), self.0.state())
    }
}

#[pymethods]
impl PyLayer {
    #[new]
    #[pyo3(signature = (nin, nout, nonlin=true, seed=None))]
    fn new(py: Python<'_>, nin: usize, nout: usize, nonlin: bool, seed: Option<u64>) -> PyResult<PyLayer> {
        check_sizes(nin, &[nout])?;
        Ok(PyLayer(Held::new(Layer::new(nin, nout, nonlin, self::seed(py, seed)?))))
    }

    /// The neurons.
    #[getter]
    fn neurons(&self) -> Vec<PyNeuron> {
        self.0.read().neurons().iter().map(|n| PyNeuron(Held::new(n.clone()))).collect()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py> {
        let part = self.0.read();
        let nin = part.neurons().first().map_or(0, |n| n.weights().len());
        let nonlin = part.neurons().first().is_none_or(Neuron::nonlin);
        let nout = part.neurons().len();
        drop(part);
        reduced::<PyLayer>(py, (nin, nout, nonlin, 0u64), self.0.state())
    }
}

#[pymethods]
impl PyMLP {
    #[new]
    #[pyo3(signature = (nin, nouts, seed=None))]
    fn new(py: Python<'_>, nin: usize, nouts: Vec<usize>, seed: Option<u64>) -> PyResult<PyMLP> {
        check_sizes(nin, &nouts)?;
        Ok(PyMLP(Held::new(MLP::new(nin, &nouts, self::seed(py, seed)?))))
    }

    /// The layers.
    #[getter]
    fn layers(&self) -> Vec<PyLayer> {
        self.0.read().layers().iter().map(|l| PyLayer(Held::new(l.clone()))).collect()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py> {
        let part = self.0.read();
        let nin = part.layers().first().and_then(|l| l.neurons().first()).map_or(0, |n| n.weights().len());
        let nouts: Vec<usize> = part.layers().iter().map(|l| l.neurons().len()).collect();
        drop(part);
        reduced::<PyMLP>(py, (nin, nouts, 0u64), self.0.state())
    }
}
