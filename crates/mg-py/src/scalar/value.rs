//! `Value`: micrograd's, on the scalar engine.

use mg_autograd::scalar::{Direction, Number, Value};
use mg_device::Device;
use pyo3::basic::CompareOp;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PySet;

use crate::device::{PyDevice, device};
use crate::error::{compute, exception, type_name};
use crate::tensor::PyTensor;

/// A number (float64) that remembers how it was computed: micrograd's `Value`.
///
/// `backward()` gives every value that it came from its gradient. Leaves accumulate gradients over calls until
/// `zero_grad()`. Equal is only what is the same value, as in micrograd: so sets, keys and `in` tell values of one number
/// apart. `<`, `<=`, `>` and `>=` compare the data; for equal numbers, compare those: `a.data == 1`.
///
/// Arguments:
///     data: the number
///     device: where it is computed
///     label: what it is called in a drawing of the graph
///
/// >>> a = mg.Value(2.0)
/// >>> b = a * a + 3 * a
/// >>> b.backward()
/// >>> b.data, a.grad
/// (10.0, 7.0)
#[pyclass(frozen, name = "Value", module = "micrograd_rs")]
pub struct PyValue(pub Value);

/// What stands on the other side of an operator, `None` where it is nothing that numbers go with.
#[inline]
fn number(obj: &Bound<'_, PyAny>) -> PyResult<Option<Number>> {
    if let Ok(value) = obj.cast_exact::<PyValue>() {
        return Ok(Some(Number::Value(value.get().0.clone())));
    }
    Ok(plain(obj)?.map(Number::Plain))
}

/// A plain number: Python's, NumPy's, and what else can be made a float, but for text, tensors and arrays.
#[inline]
fn plain(obj: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    // SAFETY: the object is alive and the interpreter's lock is held.
    if unsafe { ffi::PyFloat_CheckExact(obj.as_ptr()) } != 0 {
        // SAFETY: as above.
        return Ok(Some(unsafe { ffi::PyFloat_AsDouble(obj.as_ptr()) }));
    }
    other_number(obj)
}

#[cold]
fn other_number(obj: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    let is_array = || -> PyResult<bool> { Ok(obj.hasattr("shape")? && obj.getattr("shape")?.len()? > 0) };
    // SAFETY: as in `plain`.
    let is_int = unsafe { ffi::PyLong_Check(obj.as_ptr()) } != 0;
    if is_int || (obj.hasattr("__float__")? && !obj.is_instance_of::<PyTensor>() && !is_array()?) {
        return obj.extract().map(Some);
    }
    Ok(None)
}

/// The value that an argument is or makes, on a device.
pub fn value_on(obj: &Bound<'_, PyAny>, device: Device) -> PyResult<Value> {
    if let Ok(value) = obj.cast::<PyValue>() {
        return Ok(value.get().0.clone());
    }
    match plain(obj)? {
        Some(data) => Value::with_device(data, device).map_err(|e| exception(&e)),
        None => {
            let text = format!("takes values and numbers, got {}", type_name(obj));
            Err(pyo3::exceptions::PyTypeError::new_err(text))
        }
    }
}

fn direction(name: &str) -> PyResult<Direction> {
    name.parse().map_err(|e| exception(&e))
}

type Slot<'py> = PyResult<Bound<'py, PyAny>>;

impl PyValue {
    #[inline]
    fn with<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        f: impl FnOnce(&Value, Number) -> mg_device::Result<Value>,
    ) -> Slot<'py> {
        let py = other.py();
        match number(other)? {
            Some(other) => {
                Ok(Bound::new(py, PyValue(f(&self.0, other).map_err(|e| exception(&e))?))?.into_any())
            }
            None => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    /// `number ∘ self`; the other side is never a value, which would have come first.
    #[inline]
    fn reflected<'py>(&self, other: &Bound<'py, PyAny>, f: impl FnOnce(f64, &Value) -> Value) -> Slot<'py> {
        let py = other.py();
        match plain(other)? {
            Some(other) => Ok(Bound::new(py, PyValue(f(other, &self.0)))?.into_any()),
            None => Ok(py.NotImplemented().into_bound(py)),
        }
    }
}

#[pymethods]
impl PyValue {
    #[new]
    #[pyo3(signature = (data, device=None, label=None))]
    fn new(
        data: &Bound<'_, PyAny>,
        device: Option<&Bound<'_, PyAny>>,
        label: Option<&str>,
    ) -> PyResult<PyValue> {
        let data: f64 = data.extract()?;
        let value = match device.filter(|d| !d.is_none()) {
            None => Value::new(data),
            Some(d) => {
                let device = crate::device::device(d)?;
                device.check().and_then(|()| Value::with_device(data, device)).map_err(|e| exception(&e))?
            }
        };
        if let Some(label) = label {
            value.set_label(label);
        }
        Ok(PyValue(value))
    }

    fn __add__<'py>(&self, other: &Bound<'py, PyAny>) -> Slot<'py> {
        self.with(other, |a, b| a.try_add(b))
    }

    fn __radd__<'py>(&self, other: &Bound<'py, PyAny>) -> Slot<'py> {
        self.reflected(other, |a, b| a + b)
    }

    fn __sub__<'py>(&self, other: &Bound<'py, PyAny>) -> Slot<'py> {
        self.with(other, |a, b| a.try_sub(b))
    }

    fn __rsub__<'py>(&self, other: &Bound<'py, PyAny>) -> Slot<'py> {
        self.reflected(other, |a, b| a - b)
    }

    fn __mul__<'py>(&self, other: &Bound<'py, PyAny>) -> Slot<'py> {
        self.with(other, |a, b| a.try_mul(b))
    }

    fn __rmul__<'py>(&self, other: &Bound<'py, PyAny>) -> Slot<'py> {
        self.reflected(other, |a, b| a * b)
    }

    fn __truediv__<'py>(&self, other: &Bound<'py, PyAny>) -> Slot<'py> {
        self.with(other, |a, b| a.try_div(b))
    }

    fn __rtruediv__<'py>(&self, other: &Bound<'py, PyAny>) -> Slot<'py> {
        self.reflected(other, |a, b| a / b)
    }

    fn __pow__<'py>(&self, other: &Bound<'py, PyAny>, modulo: Option<&Bound<'py, PyAny>>) -> Slot<'py> {
        match modulo {
            Some(_) => Ok(other.py().NotImplemented().into_bound(other.py())),
            None => self.with(other, |a, b| a.try_pow(b)),
        }
    }

    fn __rpow__<'py>(&self, other: &Bound<'py, PyAny>, _modulo: Option<&Bound<'py, PyAny>>) -> Slot<'py> {
        self.reflected(other, |a, b| b.rpow(a))
    }

    fn __neg__(&self) -> PyValue {
        PyValue(-&self.0)
    }

    fn __pos__(slf: Bound<'_, PyValue>) -> Bound<'_, PyValue> {
        slf
    }

    fn __richcmp__<'py>(&self, other: &Bound<'py, PyAny>, op: CompareOp) -> Slot<'py> {
        let py = other.py();
        let is_same = other.cast_exact::<PyValue>().is_ok_and(|other| other.get().0.is(&self.0));
        let order = match op {
            CompareOp::Eq => return Ok(is_same.into_pyobject(py)?.to_owned().into_any()),
            CompareOp::Ne => return Ok((!is_same).into_pyobject(py)?.to_owned().into_any()),
            CompareOp::Lt => f64::lt,
            CompareOp::Le => f64::le,
            CompareOp::Gt => f64::gt,
            CompareOp::Ge => f64::ge,
        };
        let other = match number(other)? {
            Some(Number::Value(value)) => value.data(),
            Some(Number::Plain(data)) => data,
            None => return Ok(py.NotImplemented().into_bound(py)),
        };
        Ok(order(&self.0.data(), &other).into_pyobject(py)?.to_owned().into_any())
    }

    fn __hash__(&self) -> usize {
        self.0.id() >> 4
    }

    /// `max(0, x)`.
    ///
    /// >>> mg.Value(-2.0).relu().data, mg.Value(3.0).relu().data
    /// (0.0, 3.0)
    fn relu(&self) -> PyValue {
        PyValue(self.0.relu())
    }

    /// `eˣ`.
    ///
    /// >>> mg.Value(0.0).exp().data
    /// 1.0
    fn exp(&self) -> PyValue {
        PyValue(self.0.exp())
    }

    /// The natural logarithm.
    ///
    /// >>> mg.Value(1.0).log().data
    /// 0.0
    fn log(&self) -> PyValue {
        PyValue(self.0.log())
    }

    /// The hyperbolic tangent.
    ///
    /// >>> round(mg.Value(1.0).tanh().data, 4)
    /// 0.7616
    fn tanh(&self) -> PyValue {
        PyValue(self.0.tanh())
    }

    /// `1 / (1 + e⁻ˣ)`.
    ///
    /// >>> mg.Value(0.0).sigmoid().data
    /// 0.5
    fn sigmoid(&self) -> PyValue {
        PyValue(self.0.sigmoid())
    }

    /// The number. Setting it leaves what was computed from it as it is.
    ///
    /// >>> mg.Value(2.0).data
    /// 2.0
    #[getter]
    fn data(&self) -> f64 {
        self.0.data()
    }

    #[setter]
    fn set_data(&self, data: f64) {
        self.0.set_data(data);
    }

    /// The derivative, by this value, of what `backward` was called on; 0 before.
    ///
    /// >>> a = mg.Value(3.0)
    /// >>> (a**2).backward()
    /// >>> a.grad
    /// 6.0
    #[getter]
    fn grad(&self) -> f64 {
        self.0.grad()
    }

    #[setter]
    fn set_grad(&self, grad: f64) {
        self.0.set_grad(grad);
    }

    /// The name shown in drawings.
    ///
    /// >>> mg.Value(2.0, label="a").label
    /// 'a'
    #[getter]
    fn label(&self) -> String {
        self.0.label().unwrap_or_default()
    }

    #[setter]
    fn set_label(&self, label: &str) {
        self.0.set_label(label);
    }

    /// The values it was computed from, each once.
    #[getter]
    fn _prev<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PySet>> {
        let prev = self.0.prev().into_iter().map(|v| Bound::new(py, PyValue(v)));
        PySet::new(py, prev.collect::<PyResult<Vec<_>>>()?)
    }

    /// The operation: "", "+", "*", "**3", "ReLU" and so on.
    #[getter]
    fn _op(&self) -> String {
        self.0.op().into_owned()
    }

    /// Whether it was not computed from other values.
    ///
    /// >>> a = mg.Value(2.0)
    /// >>> a.is_leaf, (a * 2).is_leaf
    /// (True, False)
    #[getter]
    fn is_leaf(&self) -> bool {
        self.0.is_leaf()
    }

    /// The device it is labelled with.
    ///
    /// >>> mg.Value(2.0).device
    /// Device('cpu')
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.0.device())
    }

    /// The same number under another device's label; gradients flow back through it.
    ///
    /// >>> mg.Value(2.0).to("cpu").data
    /// 2.0
    fn to(&self, device: &Bound<'_, PyAny>) -> PyResult<PyValue> {
        let device = self::device(device)?;
        device.check().and_then(|()| self.0.to(device)).map(PyValue).map_err(|e| exception(&e))
    }

    /// As `to("cpu")`.
    ///
    /// >>> mg.Value(2.0).cpu().device
    /// Device('cpu')
    fn cpu(&self) -> PyValue {
        PyValue(self.0.cpu())
    }

    /// As `to("cuda:N")`.
    ///
    /// Arguments:
    ///     ordinal: the device's number
    ///
    /// >>> mg.Value(2.0).cuda()  # doctest: +SKIP
    #[pyo3(signature = (ordinal=0))]
    fn cuda(&self, ordinal: usize) -> PyResult<PyValue> {
        self.0.cuda(ordinal).map(PyValue).map_err(|e| exception(&e))
    }

    /// Gives every value that this one came from its gradient. Can be called again; leaves accumulate.
    ///
    /// >>> a, b = mg.Value(2.0), mg.Value(3.0)
    /// >>> (a * b + a).backward()
    /// >>> a.grad, b.grad
    /// (4.0, 2.0)
    fn backward(&self, py: Python<'_>) -> PyResult<()> {
        compute(py, || {
            self.0.backward();
            Ok(())
        })
    }

    /// Sets the gradient to 0.
    ///
    /// >>> a = mg.Value(2.0)
    /// >>> (a * a).backward()
    /// >>> a.zero_grad()
    /// >>> a.grad
    /// 0.0
    fn zero_grad(&self) {
        self.0.zero_grad();
    }

    /// Every value that this one was computed from, itself last, each behind its operands.
    ///
    /// >>> a, b = mg.Value(2.0), mg.Value(3.0)
    /// >>> sorted(value.data for value in (a * b).trace())
    /// [2.0, 3.0, 6.0]
    fn trace(&self) -> Vec<PyValue> {
        self.0.trace().into_iter().map(PyValue).collect()
    }

    /// The graph in Graphviz's DOT language. `rankdir` is "LR" or "TB".
    ///
    /// >>> (mg.Value(2.0) * 3).dot().startswith("digraph")
    /// True
    #[pyo3(signature = (rankdir="LR"))]
    fn dot(&self, rankdir: &str) -> PyResult<String> {
        Ok(self.0.to_dot(direction(rankdir)?))
    }

    /// The graph as an SVG picture; Graphviz is not needed. `rankdir` is "LR" or "TB".
    ///
    /// >>> (mg.Value(2.0) * 3).svg().startswith("<svg")
    /// True
    #[pyo3(signature = (rankdir="LR"))]
    fn svg(&self, rankdir: &str) -> PyResult<String> {
        Ok(self.0.to_svg(direction(rankdir)?))
    }

    fn _repr_svg_(&self) -> String {
        self.0.to_svg(Direction::LeftToRight)
    }

    fn __repr__(&self) -> String {
        python_repr(&self.0)
    }

    fn __float__(&self) -> f64 {
        self.0.data()
    }

    fn __bool__(&self) -> bool {
        self.0.data() != 0.0
    }

    fn __abs__(&self) -> PyValue {
        // |x| as micrograd's users write it.
        PyValue(self.0.relu() + (-&self.0).relu())
    }

    #[pyo3(signature = (ndigits=None))]
    fn __round__<'py>(&self, py: Python<'py>, ndigits: Option<i32>) -> PyResult<Bound<'py, PyAny>> {
        py.import("builtins")?.getattr("round")?.call1((self.0.data(), ndigits))
    }

    fn __format__<'py>(&self, py: Python<'py>, spec: &str) -> PyResult<Bound<'py, PyAny>> {
        if spec.is_empty() {
            return Ok(self.__repr__().into_pyobject(py)?.into_any());
        }
        py.import("builtins")?.getattr("format")?.call1((self.0.data(), spec))
    }

    /// NumPy leaves its operators to us.
    #[classattr]
    fn __array_ufunc__(py: Python<'_>) -> Py<PyAny> {
        py.None()
    }
}

/// As micrograd prints it, with the device, and Python's words for what is not finite.
fn python_repr(value: &Value) -> String {
    let float = |v: f64| if v.is_nan() { "nan".to_string() } else { format!("{v:?}") };
    format!("Value(data={}, grad={}, device={})", float(value.data()), float(value.grad()), value.device())
}
