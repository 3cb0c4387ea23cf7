//! Kernels of the user's own: what Python's reader of functions writes down, and the calls of it.

use std::sync::{Arc, Mutex, PoisonError};

use std::path::PathBuf;

use mg_autograd::kernel::{Builder, Config, Constant, Kernel, Part, Raw, Sort, Source, elementwise};
use mg_device::Shape;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyTuple};

use crate::arith::other;
use crate::dtype::PyDType;
use crate::error::{build, compute, exception, type_name};
use crate::tensor::{Other, PyTensor};

/// A kernel that is being written down.
#[pyclass(frozen, name = "_KernelBuilder", module = "micrograd_rs")]
pub struct PyBuilder(Mutex<Option<Builder>>);

/// A function of scalars that is applied to the elements of tensors.
#[pyclass(frozen, name = "_Kernel", module = "micrograd_rs")]
pub struct PyKernel(Arc<Kernel>);

/// What stands in a kernel's text: `None` is an argument that is left out.
fn constant(obj: &Bound<'_, PyAny>) -> PyResult<Constant> {
    Ok(match obj {
        none if none.is_none() => Constant::Missing,
        b if b.cast::<PyBool>().is_ok() => Constant::Bool(b.extract()?),
        n if n.cast::<PyInt>().is_ok() => match n.extract() {
            Ok(n) => Constant::Int(n),
            Err(_) => Constant::Float(n.extract()?),
        },
        x if x.cast::<PyFloat>().is_ok() => Constant::Float(x.extract()?),
        word if word.cast::<PyString>().is_ok() => Constant::Text(word.extract()?),
        other => {
            let kind = type_name(other);
            return Err(PyTypeError::new_err(format!("a kernel computes with numbers, not {kind}")));
        }
    })
}

/// A value's number, or a constant in a tuple of its own.
fn part(obj: &Bound<'_, PyAny>) -> PyResult<Part> {
    match obj.cast::<PyTuple>() {
        Ok(one) => Ok(Part::Constant(constant(&one.get_item(0)?)?)),
        Err(_) => Ok(Part::Value(obj.extract()?)),
    }
}

impl PyBuilder {
    fn with<T>(&self, f: impl FnOnce(&mut Builder) -> mg_device::Result<T>) -> PyResult<T> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let builder = held.as_mut().ok_or_else(|| PyRuntimeError::new_err("a kernel ends once"))?;
        f(builder).map_err(|error| exception(&error))
    }
}

#[pymethods]
impl PyBuilder {
    #[new]
    fn new(name: &str, arguments: usize) -> PyBuilder {
        PyBuilder(Mutex::new(Some(Builder::new(name, arguments))))
    }

    /// The argument at a position.
    fn argument(&self, at: usize) -> PyResult<usize> {
        self.with(|b| b.argument(at))
    }

    /// A number.
    fn constant(&self, value: &Bound<'_, PyAny>) -> PyResult<usize> {
        let value = constant(value)?;
        self.with(|b| b.constant(value))
    }

    /// An elementwise operation of values and of constants (each in a tuple of its own).
    fn call(&self, name: &str, parts: Vec<Bound<'_, PyAny>>) -> PyResult<usize> {
        let parts = parts.iter().map(part).collect::<PyResult<Vec<_>>>()?;
        self.with(|b| b.call(name, &parts))
    }

    /// One value where another holds, else a third.
    fn select(&self, condition: usize, yes: usize, no: usize) -> PyResult<usize> {
        self.with(|b| b.select(condition, yes, no))
    }

    /// A value as a branch reads it.
    fn within(&self, condition: usize, value: usize) -> PyResult<usize> {
        self.with(|b| b.within(condition, value))
    }

    /// A value as a branch divides by it.
    fn shield(&self, condition: usize, value: usize) -> PyResult<usize> {
        self.with(|b| b.shield(condition, value))
    }

    /// A value as a `float`, an `int` or a `bool`.
    fn cast(&self, sort: &str, value: usize) -> PyResult<usize> {
        let sort = match sort {
            "float" => Sort::Float,
            "int" => Sort::Int,
            "bool" => Sort::Bool,
            other => {
                let text =
                    format!("a kernel's value is cast to \"float\", \"int\" or \"bool\", not {other:?}");
                return Err(PyValueError::new_err(text));
            }
        };
        self.with(|b| b.cast(sort, value))
    }

    /// The results of another kernel, in branches of these conditions.
    fn kernel(
        &self,
        kernel: &Bound<'_, PyKernel>,
        conditions: Vec<usize>,
        args: Vec<usize>,
    ) -> PyResult<Vec<usize>> {
        self.with(|b| b.kernel_within(&kernel.get().0, &conditions, &args))
    }

    /// The kernel, with a gradient of its own or without.
    #[pyo3(signature = (results, gradient=None))]
    fn end(&self, results: Vec<usize>, gradient: Option<&Bound<'_, PyKernel>>) -> PyResult<PyKernel> {
        let builder = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let builder = builder.ok_or_else(|| PyRuntimeError::new_err("a kernel ends once"))?;
        let kernel = builder.end(&results).and_then(|kernel| match gradient {
            Some(gradient) => kernel.with_gradient(gradient.get().0.clone()),
            None => Ok(kernel),
        });
        Ok(PyKernel(Arc::new(kernel.map_err(|error| exception(&error))?)))
    }
}

#[pymethods]
impl PyKernel {
    /// The results for these arguments: tensors and numbers.
    #[pyo3(signature = (*args))]
    fn __call__<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let (mut operands, mut lent) = (Vec::with_capacity(args.len()), false);
        for arg in args {
            let Other { operand, borrowed, .. } = other(&arg)?;
            lent |= borrowed;
            operands.push(operand);
        }
        let results = build(py, || self.0.call(&operands))?;
        let each = results.into_iter().map(|t| Bound::new(py, PyTensor::result(py, t, lent)?));
        let mut each = each.collect::<PyResult<Vec<_>>>()?;
        match each.len() {
            1 => Ok(each.swap_remove(0).into_any()),
            _ => Ok(PyTuple::new(py, each)?.into_any()),
        }
    }

    /// How many results it has.
    #[getter]
    fn results(&self) -> usize {
        self.0.results()
    }

    /// How many steps it consists of.
    #[getter]
    fn steps(&self) -> usize {
        self.0.steps()
    }
}

/// The names of the operations that a kernel may consist of, and of their arguments after the first.
#[pyfunction]
pub fn _elementwise() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    elementwise().iter().map(|(name, o)| (*name, o.name, o.params.iter().map(|p| p.name).collect())).collect()
}

/// A kernel that is CUDA C or PTX text.
#[pyclass(frozen, name = "_Raw", module = "micrograd_rs")]
pub struct PyRaw(Raw);

#[pymethods]
impl PyRaw {
    /// The entry of a name in a text, which is PTX or CUDA C.
    #[new]
    fn new(
        py: Python<'_>,
        name: &str,
        source: String,
        is_ptx: bool,
        options: Vec<String>,
        folders: Vec<PathBuf>,
    ) -> PyResult<PyRaw> {
        let source = if is_ptx { Source::Ptx(source) } else { Source::Cuda(source) };
        build(py, || Raw::new(name, source, &options, &folders)).map(PyRaw)
    }

    /// The PTX for devices of a compute capability.
    fn ptx(&self, py: Python<'_>, capability: u32) -> PyResult<String> {
        compute(py, || self.0.ptx(capability))
    }

    /// Launches it; answers with its results.
    fn launch(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        outputs: Vec<(Vec<usize>, Bound<'_, PyDType>)>,
    ) -> PyResult<Vec<PyTensor>> {
        let (mut operands, mut lent) = (Vec::with_capacity(args.len()), false);
        for arg in args {
            let Other { operand, borrowed, .. } = other(&arg)?;
            lent |= borrowed;
            operands.push(operand);
        }
        let mut results = Vec::with_capacity(outputs.len());
        for (sizes, dtype) in &outputs {
            let shape = Shape::new(sizes).map_err(|error| exception(&error))?;
            results.push((shape, dtype.get().0));
        }
        let config = Config { grid, block, shared };
        let all = compute(py, || self.0.launch(&operands, config, &results))?;
        all.into_iter().map(|t| PyTensor::result(py, t, lent)).collect()
    }
}
