//! What PyTorch's tensors tell about themselves, and what they do for other layouts, other processes and older programs.

use mg_autograd::Tensor;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyTuple};

use crate::error::{build, compute};
use crate::format::PyLayout;
use crate::tensor::PyTensor;

/// What is so of none of our tensors.
macro_rules! never {
    ($($(#[doc = $doc:literal])+ $name:ident;)*) => {
        #[pymethods]
        impl PyTensor {
            $($(#[doc = $doc])+ #[getter] fn $name(&self) -> bool { false })*
        }
    };
}
never! {
    /// Whether only some elements are kept: never.
    ///
    /// >>> mg.tensor([1.0]).is_sparse
    /// False
    is_sparse;
    /// Whether it is stored by compressed rows: never.
    ///
    /// >>> mg.tensor([1.0]).is_sparse_csr
    /// False
    is_sparse_csr;
    /// Whether the elements are quantised: never.
    ///
    /// >>> mg.tensor([1.0]).is_quantized
    /// False
    is_quantized;
    /// Whether it has a shape and no elements: never.
    ///
    /// >>> mg.tensor([1.0]).is_meta
    /// False
    is_meta;
    /// Whether it is on a device of Apple's: never.
    ///
    /// >>> mg.tensor([1.0]).is_mps
    /// False
    is_mps;
    /// Whether it is on a device of Intel's: never.
    ///
    /// >>> mg.tensor([1.0]).is_xpu
    /// False
    is_xpu;
    /// Whether it is on a device by XLA: never.
    ///
    /// >>> mg.tensor([1.0]).is_xla
    /// False
    is_xla;
    /// Whether it is in the layout of oneDNN: never.
    ///
    /// >>> mg.tensor([1.0]).is_mkldnn
    /// False
    is_mkldnn;
    /// Whether it is made of tensors of unlike sizes: never.
    ///
    /// >>> mg.tensor([1.0]).is_nested
    /// False
    is_nested;
}

#[pymethods]
impl PyTensor {
    /// How it is stored: by strides.
    ///
    /// >>> mg.zeros(2).layout
    /// micrograd_rs.strided
    #[getter]
    fn layout(&self) -> PyLayout {
        PyLayout::strided
    }

    /// The tensor itself: its numbers are real.
    ///
    /// >>> mg.tensor([1.0]).real
    /// tensor([1.])
    #[getter]
    fn real<'py>(slf: Bound<'py, PyTensor>) -> Bound<'py, PyTensor> {
        slf
    }

    /// The last two axes exchanged, of a matrix.
    ///
    /// >>> mg.tensor([[1, 2], [3, 4]]).H
    /// tensor([[1, 3],
    ///         [2, 4]])
    #[getter(H)]
    fn adjoint_matrix(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.conjugate_transposed(py)
    }

    /// The last two axes exchanged.
    ///
    /// Errors: IndexError for one axis.
    ///
    /// >>> mg.zeros(5, 2, 3).mH.shape
    /// (5, 3, 2)
    #[getter(mH)]
    fn conjugate_transposed(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.view(py, |t| t.transpose(-2, -1))
    }

    /// Which result of the operation that made it it is: gradients are told apart by other means here, so always 0.
    ///
    /// >>> mg.tensor([1.0]).output_nr
    /// 0
    #[getter]
    fn output_nr(&self) -> usize {
        0
    }

    /// The number of axes.
    ///
    /// >>> mg.zeros(2, 3).ndimension()
    /// 2
    fn ndimension(&self, py: Python<'_>) -> PyResult<usize> {
        build(py, || Ok(self.t.rank()))
    }

    /// Whether the elements are complex numbers: never.
    ///
    /// >>> mg.tensor([1.0]).is_complex()
    /// False
    fn is_complex(&self) -> bool {
        false
    }

    /// Whether it is to be conjugated when it is read: never.
    ///
    /// >>> mg.tensor([1.0]).is_conj()
    /// False
    fn is_conj(&self) -> bool {
        false
    }

    /// Whether it is to be negated when it is read: never.
    ///
    /// >>> mg.tensor([-1.0]).is_neg()
    /// False
    fn is_neg(&self) -> bool {
        false
    }

    /// Whether it was made in `inference_mode`; no tensor is less than others for that here.
    ///
    /// >>> mg.tensor([1.0]).is_inference()
    /// False
    fn is_inference(&self) -> bool {
        false
    }

    /// How often its memory was written to: by it, by its views, by others that share it.
    #[getter]
    fn _version(&self, py: Python<'_>) -> PyResult<u32> {
        build(py, || Ok(self.t.version()))
    }

    /// A tensor of all of the memory that a view is of, with its history; None for what is no view.
    #[getter]
    fn _base(&self, py: Python<'_>) -> PyResult<Option<PyTensor>> {
        let base = build(py, || Ok(self.t.base()))?;
        Ok(base.map(|t| PyTensor::of(t, self.borrowed)))
    }

    /// Whether it is a view.
    fn _is_view(&self, py: Python<'_>) -> PyResult<bool> {
        build(py, || Ok(self.t.base().is_some()))
    }

    /// Whether other processes see its memory: never.
    ///
    /// >>> mg.tensor([1.0]).is_shared()
    /// False
    fn is_shared(&self) -> bool {
        false
    }

    /// RuntimeError: processes share no memory.
    ///
    /// >>> mg.tensor([1.0]).share_memory_()
    /// Traceback (most recent call last):
    ///     ...
    /// RuntimeError: share_memory_: processes share no memory here: threads (threading.Thread) share a tensor as it is, and another process is sent a copy
    fn share_memory_(&self) -> PyResult<()> {
        Err(PyRuntimeError::new_err(
            "share_memory_: processes share no memory here: threads (threading.Thread) share a tensor as it is, and another process \
             is sent a copy",
        ))
    }

    /// The address of the memory that it lies in, how many bytes that has, and all of it, where that is more than this tensor.
    fn _memory(&self, py: Python<'_>) -> PyResult<(u64, usize, Option<PyTensor>)> {
        let width = build(py, || Ok(self.t.dtype().size()))?;
        let first = compute(py, || self.t.address())?;
        let from = build(py, || self.t.lie())?.offset() * width;
        let sharing = build(py, || self.t.sharing())?;
        let whole = sharing.map(|sharing| PyTensor::of(sharing.whole, self.borrowed));
        let of = whole.as_ref().unwrap_or(self);
        let count = build(py, || Ok(of.t.numel()))?;
        Ok((first - from as u64, count * width, whole))
    }

    /// The memory that it lies in, as bytes.
    ///
    /// >>> mg.zeros(3).untyped_storage().nbytes()
    /// 12
    fn untyped_storage<'py>(slf: &Bound<'py, PyTensor>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("micrograd_rs.storage")?.getattr("UntypedStorage")?.call1((slf,))
    }

    /// The memory that it lies in, as elements.
    ///
    /// >>> mg.tensor([1.0, 2.0])[1:].storage().tolist()
    /// [1.0, 2.0]
    fn storage<'py>(slf: &Bound<'py, PyTensor>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("micrograd_rs.storage")?.getattr("TypedStorage")?.call1((slf,))
    }

    /// Whether its dtype has negative numbers.
    ///
    /// >>> mg.tensor([1.0]).is_signed(), mg.tensor([1], dtype=mg.uint8).is_signed()
    /// (True, False)
    fn is_signed(&self, py: Python<'_>) -> PyResult<bool> {
        build(py, || Ok(self.t.dtype().is_signed()))
    }

    /// Whether its only element is not 0.
    ///
    /// Errors: RuntimeError for several elements, or for none.
    ///
    /// >>> mg.tensor([0.0]).is_nonzero(), mg.tensor(3).is_nonzero()
    /// (False, True)
    fn is_nonzero(&self, py: Python<'_>) -> PyResult<bool> {
        if build(py, || Ok(self.t.numel()))? != 1 {
            return Err(PyRuntimeError::new_err("is_nonzero(): takes a tensor of one element"));
        }
        self.only(py, "is_nonzero")?.is_truthy()
    }

    /// Whether another tensor has the same shape.
    ///
    /// Arguments:
    ///     other: the tensor that it is compared with
    ///
    /// >>> mg.zeros(2, 3).is_same_size(mg.ones(2, 3))
    /// True
    fn is_same_size(&self, py: Python<'_>, other: &Bound<'_, PyTensor>) -> PyResult<bool> {
        let other = &other.get().t;
        build(py, || Ok(self.t.shape() == other.shape()))
    }

    /// Whether another tensor is the same part of the same memory.
    ///
    /// Arguments:
    ///     tensor: the other one
    ///
    /// >>> x = mg.zeros(4)
    /// >>> x.is_set_to(x.view(4)), x.is_set_to(x[:2])
    /// (True, False)
    fn is_set_to(&self, py: Python<'_>, tensor: &Bound<'_, PyTensor>) -> PyResult<bool> {
        let (a, b) = (self.value(py)?, tensor.get().value(py)?);
        Ok(a.layout == b.layout && a.buffer.as_ptr() == b.buffer.as_ptr())
    }

    /// A copy in page-locked memory of the host, of which `to("cuda")` makes its copy while the device computes. The tensor itself where there is no CUDA device,
    /// where it is pinned already, and where it requires a gradient.
    ///
    /// Arguments:
    ///     device: of no effect: what is pinned is so for every CUDA device
    ///
    /// Errors: RuntimeError for a tensor that is not on the host (`x.device` is "cuda:0", say).
    ///
    /// >>> mg.tensor([1.0]).pin_memory()
    /// tensor([1.])
    #[pyo3(signature = (device=None))]
    fn pin_memory<'py>(
        slf: Bound<'py, PyTensor>,
        device: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTensor>> {
        let _ = device;
        let (py, this) = (slf.py(), slf.get());
        let on = build(py, || Ok(this.t.device()))?;
        if !on.is_cpu() {
            let text = format!("cannot pin a tensor on {on}: only tensors on the CPU can be pinned");
            return Err(PyRuntimeError::new_err(text));
        }
        let made = compute(py, || match this.t.is_pinned() {
            true => Ok(None),
            false => this.t.pin_memory().map(|t| Some(t).filter(Tensor::is_pinned)),
        })?;
        made.map_or(Ok(slf), |pinned| Bound::new(py, PyTensor::from(pinned)))
    }

    /// Whether its memory is page-locked.
    ///
    /// Arguments:
    ///     device: of no effect: what is pinned is so for every CUDA device
    ///
    /// >>> mg.tensor([1.0]).is_pinned()
    /// False
    #[pyo3(signature = (device=None))]
    fn is_pinned(&self, py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let _ = device;
        build(py, || Ok(self.t.is_pinned()))
    }

    /// In the dtype, and on the device, of another tensor.
    ///
    /// Arguments:
    ///     other: the tensor whose dtype and device they are
    ///
    /// >>> mg.tensor([1, 2]).type_as(mg.tensor([0.5]))
    /// tensor([1., 2.])
    fn type_as<'py>(
        slf: Bound<'py, PyTensor>,
        other: &Bound<'py, PyTensor>,
    ) -> PyResult<Bound<'py, PyTensor>> {
        let to = slf.getattr("to")?;
        Ok(to.call1((other,))?.cast_into::<PyTensor>()?)
    }

    /// The axes from the one with the largest stride on: the order in which elements lie in memory. With `ambiguity_check` (True, or a list of memory
    /// formats), RuntimeError where there are several such orders.
    ///
    /// Arguments:
    ///     ambiguity_check: whether several orders are refused
    ///
    /// >>> mg.zeros(2, 3, 4).transpose(0, 2).dim_order()
    /// (2, 1, 0)
    #[pyo3(signature = (*, ambiguity_check=None), text_signature = "($self, *, ambiguity_check=False)")]
    fn dim_order<'py>(
        &self,
        py: Python<'py>,
        ambiguity_check: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let value = self.value(py)?;
        let strides = value.layout.strides();
        let is_checked = ambiguity_check.map_or(Ok(false), |check| check.is_truthy())?;
        let is_alone = ambiguity_check.is_some_and(|check| check.is_instance_of::<PyBool>());
        // Of memory formats there is one, which is an order.
        if is_checked && is_alone {
            let mut sorted = strides.to_vec();
            sorted.sort_unstable();
            if sorted.windows(2).any(|two| two[0] == two[1])
                || strides.len() > 1 && value.layout.shape().contains(&1)
            {
                let text = "dim_order: the axes lie in several orders, as one is of size 1 or some have the same stride";
                return Err(PyRuntimeError::new_err(text));
            }
        }
        let mut axes: Vec<usize> = (0..strides.len()).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(strides[axis].unsigned_abs()));
        PyTuple::new(py, axes)
    }

    /// Cuts it off from what computed it, in place: it is a constant from now on.
    ///
    /// >>> x = mg.tensor([1.0], requires_grad=True) * 2
    /// >>> x.detach_().requires_grad
    /// False
    fn detach_<'py>(slf: Bound<'py, PyTensor>) -> PyResult<Bound<'py, PyTensor>> {
        let this = slf.get();
        build(slf.py(), || this.t.detach_())?;
        Ok(slf)
    }

    /// A tensor in the same dtype and on the same device, of data, or of zeros in a shape.
    ///
    /// >>> mg.tensor([1, 2], dtype=mg.int32).new([7, 8])
    /// tensor([7, 8], dtype=micrograd_rs.int32)
    #[pyo3(name = "new", signature = (*args))]
    fn another<'py>(slf: Bound<'py, PyTensor>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let is_truth = |arg: &Bound<'_, PyAny>| arg.is_instance_of::<PyBool>();
        let sizes = args.iter().all(|arg| !is_truth(&arg) && arg.extract::<usize>().is_ok());
        if args.iter().any(|arg| is_truth(&arg) || arg.is_instance_of::<PyFloat>()) {
            return Err(PyTypeError::new_err("takes data in a sequence, or the sizes of a shape"));
        }
        match (args.len(), sizes) {
            // Of no size at all there is nothing, where PyTorch's oldest way of making tensors is meant.
            (0, _) => slf.call_method1("new_empty", ([0usize],)),
            // A size of its own type is no data.
            (1, false) if args.get_item(0)?.get_type().name()? == "Size" => {
                slf.call_method1("new_empty", args)
            }
            (1, false) => slf.call_method1("new_tensor", args),
            (_, true) => slf.call_method1("new_empty", (args,)),
            _ => Err(PyTypeError::new_err("takes data, or the sizes of a shape")),
        }
    }

    /// The `n`-th derivative of the digamma function.
    ///
    /// Arguments:
    ///     n: the order, from 0 on
    ///
    /// Errors: ValueError for an order below 0.
    ///
    /// >>> mg.tensor([1.0, 2.0]).polygamma(1)
    /// tensor([1.6449, 0.6449])
    fn polygamma(&self, py: Python<'_>, n: i64) -> PyResult<PyTensor> {
        self.unary(py, |t| Tensor::try_polygamma(n, t))
    }

    /// Says that a stream uses it: its memory is given back in the order of its device's work anyway.
    ///
    /// Arguments:
    ///     stream: the stream
    ///
    /// >>> x.record_stream(mg.cuda.current_stream())  # doctest: +SKIP
    fn record_stream(&self, stream: &Bound<'_, PyAny>) {
        let _ = stream;
    }
}
