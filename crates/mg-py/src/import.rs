//! Tensors from objects with Python's buffer protocol: NumPy's arrays and scalars, `array.array`, `bytes`, `memoryview`.

use std::ffi::CStr;
use std::mem::MaybeUninit;

use mg_autograd::Tensor;
use mg_device::{Buffer, DType, Device, Layout, MAX_RANK, Shape};
use mg_graph::Value;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;

use crate::error::{exception, type_name};
use crate::keeper::Keeper;

/// NumPy's dates and durations give their bytes as if those were numbers.
fn refuse_times(obj: &Bound<'_, PyAny>) -> PyResult<()> {
    let Some(dtype) = obj.getattr_opt("dtype")? else { return Ok(()) };
    let Some(kind) = dtype.getattr_opt("kind")? else { return Ok(()) };
    match kind.extract::<String>().as_deref() {
        Ok("M" | "m") => {
            let text = format!("takes numbers, got {}; for its number: x.astype('int64')", dtype.str()?);
            Err(PyTypeError::new_err(text))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A buffer that is given back when it goes.
struct View(Box<ffi::Py_buffer>);

impl View {
    /// Strided, read-only memory with its format.
    fn new(obj: &Bound<'_, PyAny>) -> PyResult<View> {
        refuse_times(obj)?;
        View::of(obj)
    }

    /// As [`View::new`], of what is known to have no times.
    fn of(obj: &Bound<'_, PyAny>) -> PyResult<View> {
        let mut view = Box::new(MaybeUninit::<ffi::Py_buffer>::zeroed());
        // SAFETY: the object is alive; the view is filled where the call answers with 0.
        let code = unsafe { ffi::PyObject_GetBuffer(obj.as_ptr(), view.as_mut_ptr(), ffi::PyBUF_FULL_RO) };
        if code != 0 {
            let cause = PyErr::fetch(obj.py());
            let kind = type_name(obj);
            let error = PyTypeError::new_err(format!("the elements of this {kind} are no numbers: {cause}"));
            return Err(error);
        }
        // SAFETY: filled by the call; zeroed before, so every field is initialised.
        Ok(View(unsafe { Box::from_raw(Box::into_raw(view).cast::<ffi::Py_buffer>()) }))
    }

    fn rank(&self) -> usize {
        usize::try_from(self.0.ndim).unwrap_or(0)
    }

    fn sizes(&self) -> &[ffi::Py_ssize_t] {
        dimension(self.0.shape, self.rank())
    }

    fn strides(&self) -> &[ffi::Py_ssize_t] {
        dimension(self.0.strides, self.rank())
    }

    fn shape(&self) -> PyResult<Shape> {
        if self.rank() > MAX_RANK {
            let text = format!("an array of {} axes; a tensor has at most {MAX_RANK}", self.rank());
            return Err(PyValueError::new_err(text));
        }
        let sizes: Vec<usize> = self.sizes().iter().map(|&n| n.max(0) as usize).collect();
        Shape::new(&sizes).map_err(|e| exception(&e))
    }

    /// The dtype of the elements, and whether their bytes lie in the other order than this machine's.
    fn dtype(&self) -> PyResult<(DType, bool)> {
        let format = match self.0.format.is_null() {
            true => c"B",
            // SAFETY: a format that is not null is a string that lives as long as the view.
            false => unsafe { CStr::from_ptr(self.0.format) },
        };
        let format = format.to_str().unwrap_or("?!");
        let bytes = usize::try_from(self.0.itemsize).unwrap_or(0);
        let (order, code) = match format.as_bytes() {
            [order @ (b'@' | b'=' | b'<' | b'>' | b'!'), code @ ..] => (*order, code),
            code => (b'@', code),
        };
        let foreign =
            if cfg!(target_endian = "little") { matches!(order, b'>' | b'!') } else { order == b'<' };
        // Codes that are another's on some machines, by how wide they are on this one.
        let own: &[u8] = match (code, bytes) {
            (b"c", _) => b"B",
            (b"l" | b"n", 4) => b"i",
            (b"l" | b"n", 8) => b"q",
            (b"L" | b"N", 4) => b"I",
            (b"L" | b"N", 8) => b"Q",
            _ => code,
        };
        let known = |d: &DType| d.size() == bytes && d.struct_code().is_some_and(|c| c.to_bytes() == own);
        let dtype = DType::ALL.into_iter().find(known).ok_or_else(|| {
            let what = match code {
                b"O" => "Python objects".to_string(),
                [b'Z', ..] => "complex numbers".to_string(),
                _ => format!("elements of format {format:?}"),
            };
            PyTypeError::new_err(format!("takes numbers, got an array of {what}"))
        })?;
        Ok((dtype, foreign && bytes > 1))
    }

    /// Calls `f` with the address of each element in row-major order.
    fn each(&self, mut f: impl FnMut(*const u8)) {
        fn walk(
            at: *const u8,
            sizes: &[ffi::Py_ssize_t],
            strides: &[ffi::Py_ssize_t],
            f: &mut impl FnMut(*const u8),
        ) {
            match (sizes.split_first(), strides.split_first()) {
                (Some((&n, sizes)), Some((&stride, strides))) => {
                    for i in 0..n {
                        walk(at.wrapping_offset(i * stride), sizes, strides, f);
                    }
                }
                _ => f(at),
            }
        }
        walk(self.0.buf.cast(), self.sizes(), self.strides(), &mut f);
    }

    /// Whether the elements lie in row-major order without gaps.
    fn is_dense(&self) -> bool {
        // SAFETY: the view is filled.
        unsafe { ffi::PyBuffer_IsContiguous(&*self.0, b'C' as std::ffi::c_char) != 0 }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: filled by `PyObject_GetBuffer`, given back once. Views live only while the interpreter's lock is held.
        unsafe { ffi::PyBuffer_Release(&mut *self.0) }
    }
}

fn dimension<'a>(ptr: *const ffi::Py_ssize_t, rank: usize) -> &'a [ffi::Py_ssize_t] {
    if ptr.is_null() || rank == 0 {
        return &[];
    }
    // SAFETY: as the buffer protocol has it, an array of `ndim` numbers that lives as long as the view; the callers'
    // slices do not outlive it.
    unsafe { std::slice::from_raw_parts(ptr, rank) }
}

/// A copy of the elements on the host.
pub fn copied(obj: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let view = View::new(obj)?;
    let (shape, (dtype, foreign)) = (view.shape()?, view.dtype()?);
    let n = shape.numel();
    let tensor = |buffer| Tensor::from_buffer(buffer, shape).map_err(|e| exception(&e));
    let buffer = Buffer::uninit(Device::cpu(), dtype, n).map_err(|e| exception(&e))?;
    let (size, out) = (dtype.size(), buffer.as_mut_ptr());
    if n > 0 && view.is_dense() {
        // SAFETY: the view holds `n` elements of that size in order; the buffer is new, and as large.
        unsafe { out.copy_from_nonoverlapping(view.0.buf.cast(), n * size) };
    } else if n > 0 {
        let mut at = 0;
        view.each(|element| {
            // SAFETY: the walk meets `n` elements, each of `size` bytes within the view; the buffer holds as many.
            unsafe { out.add(at).copy_from_nonoverlapping(element, size) };
            at += size;
        });
    }
    if foreign {
        for i in 0..n {
            // SAFETY: within the buffer, which is new and all written; elements do not overlap.
            unsafe { std::slice::from_raw_parts_mut(out.add(i * size), size) }.reverse();
        }
    }
    if dtype == DType::Bool {
        for i in 0..n {
            // SAFETY: within the buffer, which is new and all written.
            unsafe { *out.add(i) = u8::from(*out.add(i) != 0) };
        }
    }
    tensor(buffer)
}

/// Arrays of one shape and one dtype side by side along a new first axis, copied without the interpreter's lock. `None` for what has to be looked at one
/// by one: where they differ, lie otherwise than densely, have truth values, or are no arrays of numbers, which is told of there.
pub fn side_by_side(arrays: &[Bound<'_, PyAny>]) -> PyResult<Option<Tensor>> {
    let Some(first) = arrays.first() else { return Ok(None) };
    let (Ok(view), Ok(kind)) = (View::new(first), first.getattr("dtype")) else { return Ok(None) };
    let (Ok(shape), Ok((dtype, foreign))) = (view.shape(), view.dtype()) else { return Ok(None) };
    let mut sizes = vec![arrays.len()];
    sizes.extend(shape.iter());
    let Ok(all) = Shape::new(&sizes) else { return Ok(None) };
    if foreign || dtype == DType::Bool {
        return Ok(None);
    }
    let mut views = Vec::with_capacity(arrays.len());
    for array in arrays {
        // One object for each of NumPy's dtypes.
        if !array.getattr("dtype").is_ok_and(|dtype| dtype.is(&kind)) {
            return Ok(None);
        }
        let Ok(next) = View::of(array) else { return Ok(None) };
        if next.sizes() != view.sizes() || !next.is_dense() {
            return Ok(None);
        }
        views.push(next);
    }
    let starts: Vec<usize> = views.iter().map(|view| view.0.buf.expose_provenance()).collect();
    let bytes = shape.numel() * dtype.size();
    let buffer = Buffer::uninit(Device::cpu(), dtype, all.numel()).map_err(|e| exception(&e))?;
    first.py().detach(|| {
        for (i, start) in starts.iter().enumerate() {
            // SAFETY: the views, which are held until afterwards, hold `bytes` bytes each; the buffer is new, and has room for those of all.
            unsafe {
                let from = std::ptr::with_exposed_provenance::<u8>(*start);
                buffer.as_mut_ptr().add(i * bytes).copy_from_nonoverlapping(from, bytes);
            }
        }
    });
    Tensor::from_buffer(buffer, all).map(Some).map_err(|e| exception(&e))
}

/// A tensor on the array's own memory, kept alive by the tensor. Memory that cannot be used as it is (bytes between
/// elements that are no multiple of their size, unaligned, of a foreign type) is copied.
pub fn shared(obj: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    // The memoryview keeps the memory where it is, and is given back by Python's own rules.
    let keeper = PyMemoryView::from(obj)?;
    let view = View::new(&keeper)?;
    let (shape, (dtype, foreign)) = (view.shape()?, view.dtype()?);
    let size = dtype.size() as isize;
    let uneven = view.strides().iter().zip(view.sizes()).any(|(&s, &n)| n > 1 && s % size != 0);
    // What may not be written is copied: writing to the tensor would write there.
    let mut unshared = view.0.readonly != 0 || foreign;
    if dtype == DType::Bool {
        // SAFETY: the walk meets elements of the view, of one byte.
        view.each(|byte| unshared |= unsafe { *byte } > 1);
    }
    if unshared || uneven || view.0.buf.align_offset(dtype.size()) != 0 || shape.numel() == 0 {
        return Ok(None);
    }
    let strides: Vec<isize> =
        view.strides().iter().zip(view.sizes()).map(|(&s, &n)| if n > 1 { s / size } else { 0 }).collect();
    // Where strides are negative, memory begins before the first element.
    let reach = |sign: isize| -> isize {
        strides
            .iter()
            .zip(view.sizes())
            .filter(|(s, _)| s.signum() == sign)
            .map(|(s, n)| s.abs() * (n - 1))
            .sum()
    };
    let (before, after) = (reach(-1), reach(1));
    let start = view.0.buf.cast::<u8>().wrapping_offset(-before * size);
    let len = (before + after + 1) as usize;
    let owner = Box::new(Keeper::new(keeper.clone().into_any().unbind()));
    // SAFETY: the memoryview, which the owner keeps, holds the exporter's memory where it is; `start` and `len` are the
    // extent of its elements, aligned; others may write it, which is what a caller who shares memory asked for, and the
    // engine reads it at once, while the interpreter's lock is not held by the writer or the writer races itself.
    let buffer = unsafe { Buffer::from_foreign(start, len, dtype, owner) };
    let layout = Layout::new(shape, &strides, before as usize).map_err(|e| exception(&e))?;
    Ok(Some(Tensor::on(Value { buffer, layout })))
}
