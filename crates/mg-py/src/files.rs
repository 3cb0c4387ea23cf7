//! Checkpoints and data sets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mg_autograd::Tensor;
use mg_device::{DType, Device, Result};
use mg_nn::State;
use mg_nn::checkpoint::{Mapped, Pages, Sharded};
use mg_nn::data::{Batches, Idx, Mnist};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::device::usable_device;
use crate::dtype::{PyDType, optional_dtype};
use crate::error::{compute, exception};
use crate::size;
use crate::tensor::PyTensor;

/// A dictionary of tensors.
pub fn named(py: Python<'_>, tensors: BTreeMap<String, Tensor>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, t) in tensors {
        dict.set_item(name, Bound::new(py, PyTensor::from(t))?)?;
    }
    Ok(dict)
}

/// The tensors of a dictionary.
pub fn tensors_of(dict: &Bound<'_, PyDict>) -> PyResult<BTreeMap<String, Tensor>> {
    // As it is at one moment: another thread may change it.
    dict.copy()?
        .iter()
        .map(|(name, t)| Ok((name.extract()?, t.cast::<PyTensor>()?.get().t.clone())))
        .collect()
}

/// An error of the system as `open` raises it: of the class for its code, and with the file's name.
pub fn at(path: &Path) -> impl FnOnce(std::io::Error) -> PyErr {
    noted_at(path, String::new())
}

/// As [`at`], with what else there is to say of the system's words.
fn noted_at(path: &Path, note: String) -> impl FnOnce(std::io::Error) -> PyErr {
    let path = path.as_os_str().to_owned();
    move |error| {
        let Some(code) = error.raw_os_error() else { return error.into() };
        let text = error.to_string();
        let text = text.split(" (os error").next().unwrap_or_default().to_owned() + &note;
        if cfg!(windows) {
            PyOSError::new_err((0, text, path, code))
        } else {
            PyOSError::new_err((code, text, path))
        }
    }
}

/// Writes named tensors to a safetensors file, with text as metadata.
#[pyfunction]
#[pyo3(signature = (tensors, path, metadata=None))]
pub fn save_safetensors(
    py: Python<'_>,
    tensors: &Bound<'_, PyDict>,
    path: PathBuf,
    metadata: Option<BTreeMap<String, String>>,
) -> PyResult<()> {
    let state = State { tensors: tensors_of(tensors)?, metadata: metadata.unwrap_or_default() };
    // What is wrong with the place itself has an exception of its own: FileNotFoundError, PermissionError, ….
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        std::fs::metadata(folder).map_err(noted_at(&path, format!(" (the folder {})", folder.display())))?;
    }
    compute(py, || state.save(&path))
}

/// The bytes of the file that `save_safetensors` writes.
#[pyfunction]
#[pyo3(signature = (tensors, metadata=None))]
pub fn _safetensors_bytes<'py>(
    py: Python<'py>,
    tensors: &Bound<'py, PyDict>,
    metadata: Option<BTreeMap<String, String>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let state = State { tensors: tensors_of(tensors)?, metadata: metadata.unwrap_or_default() };
    let bytes = compute(py, || state.to_bytes())?;
    crate::export::to_bytes(py, &bytes)
}

/// The named tensors of a safetensors file, copied to memory; with `metadata`, and its text. `mg.load(path, mmap=True)` and
/// `mg.safetensors.safe_open` map the file, and read elements where somebody looks at them.
///
/// Arguments:
///     path: the file
///     metadata: whether the text of the file is answered too
///
/// Errors: OSError where the file cannot be read; ValueError where it is none.
///
/// >>> import os, tempfile
/// >>> path = os.path.join(tempfile.mkdtemp(), "a.safetensors")
/// >>> mg.save_safetensors({"a": mg.tensor([1, 2])}, path)
/// >>> mg.load_safetensors(path)
/// {'a': tensor([1, 2])}
#[pyfunction]
#[pyo3(signature = (path, *, metadata=false))]
pub fn load_safetensors(py: Python<'_>, path: PathBuf, metadata: bool) -> PyResult<Bound<'_, PyAny>> {
    std::fs::File::open(&path).map_err(at(&path))?;
    let state = compute(py, || State::load(&path))?;
    let tensors = named(py, state.tensors)?;
    if metadata {
        Ok((tensors, state.metadata).into_pyobject(py)?.into_any())
    } else {
        Ok(tensors.into_any())
    }
}

/// What `load_safetensors` answers with, with its text, of the bytes of a file.
#[pyfunction]
pub fn _from_safetensors_bytes<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyBytes>,
) -> PyResult<Bound<'py, PyAny>> {
    let bytes = data.as_bytes();
    let state = compute(py, || State::from_bytes(bytes))?;
    Ok((named(py, state.tensors)?, state.metadata).into_pyobject(py)?.into_any())
}

/// Tensors by name, which `read` copies to a device.
fn read<'py>(
    py: Python<'py>,
    names: &[String],
    device: &Bound<'_, PyAny>,
    read: impl FnOnce(&[&str], Device) -> Result<BTreeMap<String, Tensor>> + Send,
) -> PyResult<Bound<'py, PyDict>> {
    let device = usable_device(Some(device))?.unwrap_or(Device::cpu());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    named(py, compute(py, || read(&names, device))?)
}

/// A safetensors file whose tensors are read when they are asked for.
#[pyclass(frozen, name = "_Mapped", module = "micrograd_rs")]
pub struct PyMapped(Arc<Mapped>);

#[pymethods]
impl PyMapped {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<PyMapped> {
        std::fs::File::open(&path).map_err(at(&path))?;
        compute(py, || Mapped::open(&path)).map(|file| PyMapped(Arc::new(file)))
    }

    /// The tensors' names.
    fn names(&self) -> Vec<&str> {
        self.0.names().collect()
    }

    /// What else was saved.
    fn metadata(&self) -> BTreeMap<String, String> {
        self.0.metadata().clone()
    }

    /// The dtype and the shape of a tensor; None for one that is not there.
    fn info(&self, name: &str) -> PyResult<Option<(PyDType, Vec<usize>)>> {
        let info = self.0.info(name).map_err(|e| exception(&e))?;
        Ok(info.map(|(dtype, shape)| (PyDType(dtype), shape.to_vec())))
    }

    #[pyo3(signature = (name, device=None))]
    fn tensor(&self, py: Python<'_>, name: &str, device: Option<&Bound<'_, PyAny>>) -> PyResult<PyTensor> {
        let device = usable_device(device)?.unwrap_or(Device::cpu());
        compute(py, || self.0.tensor_on(name, device)).map(PyTensor::from)
    }

    #[pyo3(signature = (name, start, length, device=None))]
    fn rows(
        &self,
        py: Python<'_>,
        name: &str,
        start: usize,
        length: usize,
        device: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyTensor> {
        let device = usable_device(device)?.unwrap_or(Device::cpu());
        compute(py, || self.0.rows_on(name, start, length, device)).map(PyTensor::from)
    }

    /// Tensors by name, copied to a device.
    fn read<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        device: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        read(py, &names, device, |names, device| self.0.read(names, device))
    }
}

/// A file of elements whose places are known, which are read when they are looked at.
#[pyclass(frozen, name = "_Pages", module = "micrograd_rs")]
pub struct PyPages(Pages);

#[pymethods]
impl PyPages {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<PyPages> {
        std::fs::File::open(&path).map_err(at(&path))?;
        compute(py, || Pages::open(&path)).map(PyPages)
    }

    /// `n` elements from a byte of the file on.
    fn line(&self, py: Python<'_>, at: usize, n: usize, dtype: &Bound<'_, PyAny>) -> PyResult<PyTensor> {
        let dtype = optional_dtype(Some(dtype))?.unwrap_or(DType::F32);
        compute(py, || self.0.line(at, n, dtype)).map(PyTensor::from)
    }
}

/// The tensors of the safetensors files that an index names.
#[pyclass(frozen, name = "_Sharded", module = "micrograd_rs")]
pub struct PySharded(Sharded);

#[pymethods]
impl PySharded {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<PySharded> {
        std::fs::File::open(&path).map_err(at(&path))?;
        compute(py, || Sharded::open(&path)).map(PySharded)
    }

    /// The tensors' names.
    fn names(&self) -> Vec<&str> {
        self.0.names().collect()
    }

    /// Tensors by name, copied to a device.
    fn read<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        device: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        read(py, &names, device, |names, device| self.0.read(names, device))
    }

    /// The file that a tensor is in.
    fn file_of(&self, py: Python<'_>, name: &str) -> PyResult<PyMapped> {
        compute(py, || self.0.file_of(name)).map(PyMapped)
    }
}

/// Writes named tensors to files of at most `max_bytes` in a folder, with an index.
#[pyfunction]
pub fn _save_sharded(
    py: Python<'_>,
    tensors: &Bound<'_, PyDict>,
    folder: PathBuf,
    max_bytes: usize,
    metadata: BTreeMap<String, String>,
) -> PyResult<()> {
    let state = State { tensors: tensors_of(tensors)?, metadata };
    std::fs::metadata(&folder).map_err(at(&folder))?;
    compute(py, || state.save_sharded(&folder, max_bytes))
}

fn idx(idx: Idx) -> Result<Tensor> {
    Tensor::from_buffer(idx.data, idx.shape)
}

/// The array of an IDX file.
#[pyfunction]
pub fn _read_idx(py: Python<'_>, path: PathBuf) -> PyResult<PyTensor> {
    std::fs::metadata(&path).map_err(at(&path))?;
    let found = compute(py, || idx(mg_nn::data::idx::read(&path)?))?;
    Ok(PyTensor::from(found))
}

/// The training images and labels and the test images and labels of MNIST's four files in a folder, as u8.
#[pyfunction]
pub fn _mnist(py: Python<'_>, folder: PathBuf) -> PyResult<[PyTensor; 4]> {
    std::fs::metadata(&folder).map_err(at(&folder))?;
    let mnist = compute(py, || Mnist::load(&folder))?;
    four(mnist)
}

/// As `_mnist`, of digits that are drawn here.
#[pyfunction]
pub fn _drawn_digits(py: Python<'_>, train: usize, test: usize, seed: u64) -> PyResult<[PyTensor; 4]> {
    if train.checked_add(test).is_none_or(|n| n > 1 << 24) {
        return Err(PyValueError::new_err("more than 2**24 digits"));
    }
    let mnist = compute(py, || Ok(mg_nn::data::digits::mnist(train, test, seed)))?;
    four(mnist)
}

fn four(mnist: Mnist) -> PyResult<[PyTensor; 4]> {
    let all = [mnist.train_images, mnist.train_labels, mnist.test_images, mnist.test_labels].map(idx);
    let [a, b, c, d] = all.map(|t| t.map(PyTensor::from).map_err(|e| exception(&e)));
    Ok([a?, b?, c?, d?])
}

/// The batches of one epoch over `n` samples: a tensor of indices each.
#[pyfunction]
pub fn _batches<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = size::count)] n: usize,
    #[pyo3(from_py_with = size::count)] batch: usize,
    shuffle_seed: Option<u64>,
    drop_last: bool,
    epoch: u64,
) -> PyResult<Bound<'py, PyList>> {
    let batches = Batches::new(n, batch, shuffle_seed, drop_last).map_err(|e| exception(&e))?;
    let all = PyList::empty(py);
    for indices in &batches.try_epoch(epoch).map_err(|e| exception(&e))? {
        all.append(Bound::new(py, PyTensor::from(Tensor::from_slice(indices)))?)?;
    }
    Ok(all)
}
