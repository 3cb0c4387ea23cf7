//! Event files, bars of progress, histories and pictures of `mg-nn`.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mg_device::DType;
use mg_nn::plot::{Curves, Image, confusion_matrix, curves, histogram, images, scatter};
use mg_nn::watch::{Bar, EventWriter, History};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{build, compute};
use crate::tensor::PyTensor;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A tensor's numbers, read on the host.
fn numbers(py: Python<'_>, t: &Bound<'_, PyTensor>) -> PyResult<Vec<f64>> {
    let t = &t.get().t;
    compute(py, || t.detach().to_dtype(DType::F64).to_vec::<f64>())
}

/// Images `[n, channels, height, width]` of numbers from 0 to 1.
fn pictures(py: Python<'_>, images: &Bound<'_, PyTensor>) -> PyResult<Vec<Image>> {
    let t = &images.get().t;
    let shape = build(py, || Ok(t.shape()))?;
    let &[n, channels, height, width] = shape.dims() else {
        return Err(PyValueError::new_err(format!(
            "takes images [n, channels, height, width], got shape {shape}"
        )));
    };
    if channels != 1 && channels != 3 {
        return Err(PyValueError::new_err(format!("takes images of 1 or 3 channels, got {channels}")));
    }
    let all = numbers(py, images)?;
    let size = channels * height * width;
    Ok((0..n).map(|i| Image::of_planes(&all[i * size..(i + 1) * size], channels, height, width)).collect())
}

/// An event file.
#[pyclass(frozen, name = "_EventWriter", module = "micrograd_rs")]
pub struct PyEventWriter(Mutex<EventWriter>);

#[pymethods]
impl PyEventWriter {
    #[new]
    fn new(directory: PathBuf, suffix: &str) -> PyResult<PyEventWriter> {
        Ok(PyEventWriter(Mutex::new(EventWriter::create(&directory, suffix)?)))
    }

    /// Where it is.
    #[getter]
    fn path(&self) -> PathBuf {
        lock(&self.0).path().to_path_buf()
    }

    fn scalar(&self, tag: &str, value: f64, step: i64, time: Option<f64>) -> PyResult<()> {
        Ok(lock(&self.0).scalar(tag, value, step, time)?)
    }

    fn histogram(
        &self,
        py: Python<'_>,
        tag: &str,
        values: &Bound<'_, PyTensor>,
        bins: usize,
        step: i64,
        time: Option<f64>,
    ) -> PyResult<()> {
        let values = numbers(py, values)?;
        Ok(lock(&self.0).histogram(tag, &values, bins, step, time)?)
    }

    /// One image `[channels, height, width]`, with an axis before.
    fn image(
        &self,
        py: Python<'_>,
        tag: &str,
        image: &Bound<'_, PyTensor>,
        step: i64,
        time: Option<f64>,
    ) -> PyResult<()> {
        let all = pictures(py, image)?;
        let mut held = lock(&self.0);
        Ok(all.iter().try_for_each(|image| held.image(tag, image, step, time))?)
    }

    fn text(&self, tag: &str, text: &str, step: i64, time: Option<f64>) -> PyResult<()> {
        Ok(lock(&self.0).text(tag, text, step, time)?)
    }

    fn flush(&self) -> PyResult<()> {
        Ok(lock(&self.0).flush()?)
    }
}

/// A bar of progress, as text.
#[pyclass(frozen, name = "_Bar", module = "micrograd_rs")]
pub struct PyBar(Mutex<Bar>);

#[pymethods]
impl PyBar {
    #[new]
    fn new(name: &str, total: Option<u64>, unit: &str) -> PyBar {
        PyBar(Mutex::new(Bar::new(name, total, unit)))
    }

    fn advance(&self, steps: u64) {
        lock(&self.0).advance(steps);
    }

    #[getter]
    fn done(&self) -> u64 {
        lock(&self.0).done()
    }

    fn set(&self, name: &str, value: &str) {
        lock(&self.0).set(name, value);
    }

    fn text(&self, width: usize) -> String {
        lock(&self.0).text(width)
    }
}

/// Numbers by step.
#[pyclass(frozen, name = "_History", module = "micrograd_rs")]
pub struct PyHistoryOfSteps(Mutex<History>);

#[pymethods]
impl PyHistoryOfSteps {
    #[new]
    fn new() -> PyHistoryOfSteps {
        PyHistoryOfSteps(Mutex::default())
    }

    fn log(&self, step: i64, name: &str, value: f64) {
        lock(&self.0).log(step, name, value);
    }

    fn names(&self) -> Vec<String> {
        lock(&self.0).names().to_vec()
    }

    fn series(&self, name: &str) -> Vec<(f64, f64)> {
        lock(&self.0).series(name)
    }

    fn to_csv(&self) -> String {
        lock(&self.0).to_csv()
    }

    fn save_csv(&self, path: PathBuf) -> PyResult<()> {
        Ok(lock(&self.0).save_csv(&path)?)
    }
}

#[pyfunction]
pub fn _svg_curves(
    series: Vec<(String, Vec<(f64, f64)>)>,
    title: &str,
    xlabel: &str,
    ylabel: &str,
    log: bool,
) -> String {
    let series: Vec<(&str, Vec<(f64, f64)>)> =
        series.iter().map(|(name, points)| (name.as_str(), points.clone())).collect();
    curves(&series, Curves { title, xlabel, ylabel, log })
}

#[pyfunction]
pub fn _svg_scatter(
    groups: Vec<(String, Vec<(f64, f64)>)>,
    title: &str,
    xlabel: &str,
    ylabel: &str,
) -> String {
    let groups: Vec<(&str, Vec<(f64, f64)>)> =
        groups.iter().map(|(name, points)| (name.as_str(), points.clone())).collect();
    scatter(&groups, Curves { title, xlabel, ylabel, log: false })
}

#[pyfunction]
pub fn _svg_histogram(
    py: Python<'_>,
    values: &Bound<'_, PyTensor>,
    bins: usize,
    title: &str,
) -> PyResult<String> {
    Ok(histogram(&numbers(py, values)?, bins, title))
}

#[pyfunction]
pub fn _svg_images(
    py: Python<'_>,
    all: &Bound<'_, PyTensor>,
    columns: usize,
    scale: f64,
) -> PyResult<String> {
    Ok(images(&pictures(py, all)?, columns, scale))
}

#[pyfunction]
pub fn _svg_confusion_matrix(
    py: Python<'_>,
    matrix: &Bound<'_, PyTensor>,
    names: Vec<String>,
    title: &str,
) -> PyResult<String> {
    let t = &matrix.get().t;
    let shape = build(py, || Ok(t.shape()))?;
    let &[n, m] = shape.dims() else {
        return Err(PyValueError::new_err(format!("takes a matrix, got shape {shape}")));
    };
    if n != m {
        return Err(PyValueError::new_err(format!("takes a square matrix, got shape {shape}")));
    }
    let all = numbers(py, matrix)?;
    let rows: Vec<Vec<f64>> = all.chunks(n.max(1)).map(<[f64]>::to_vec).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(confusion_matrix(&rows, &names, title))
}
