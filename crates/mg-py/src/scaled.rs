//! Products of floats of eight bits.

use mg_autograd::ScaledMm;
use pyo3::prelude::*;

use crate::dtype::optional_dtype;
use crate::error::build;
use crate::tensor::PyTensor;

/// `(input · scale_a) @ (mat2 · scale_b) + bias`, of matrices of floats of eight bits, added up in float32 and rounded once.
///
/// Arguments:
///     input: a matrix of float8_e4m3fn or float8_e5m2, `[m, k]`
///     mat2: another one, `[k, n]`
///     scale_a: what `input` was divided by: one number in a float32 tensor, or one for each row, `[m, 1]`
///     scale_b: the same of `mat2`: as many as `scale_a`, for each column, `[1, n]`
///     bias: what is added to each row, `[n]`
///     scale_result: what a result of eight bits is multiplied by before it is rounded
///     out_dtype: float32, float16, bfloat16 or one of eight bits; None is that of `input`
///     use_fast_accum: whether sums may have fewer bits than float32 has where that is faster: on GPUs of compute capability 9.0
///
/// Errors: ArgumentError for shapes that do not fit; DTypeError for other dtypes; RuntimeError for operands that require a gradient, of which there
/// is none.
///
/// >>> a = mg.tensor([[1.0, 2.0]]).to(mg.float8_e4m3fn)
/// >>> b = mg.tensor([[3.0], [4.0]]).to(mg.float8_e4m3fn)
/// >>> mg._scaled_mm(a, b, mg.tensor(0.5), mg.tensor(2.0), out_dtype=mg.float32)
/// tensor([[11.]])
#[pyfunction]
#[pyo3(signature = (
    input, mat2, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, use_fast_accum=false
))]
pub fn _scaled_mm(
    input: &Bound<'_, PyTensor>,
    mat2: &Bound<'_, PyTensor>,
    scale_a: &Bound<'_, PyTensor>,
    scale_b: &Bound<'_, PyTensor>,
    bias: Option<&Bound<'_, PyTensor>>,
    scale_result: Option<&Bound<'_, PyTensor>>,
    out_dtype: Option<&Bound<'_, PyAny>>,
    use_fast_accum: bool,
) -> PyResult<PyTensor> {
    let (py, out_dtype) = (input.py(), optional_dtype(out_dtype)?);
    let all = [Some(input), Some(mat2), Some(scale_a), Some(scale_b), bias, scale_result];
    let borrowed = all.into_iter().flatten().any(|t| t.get().is_borrowed());
    let [a, b, scale_a, scale_b] = [input, mat2, scale_a, scale_b].map(|t| &t.get().t);
    let (bias, scale_result) = (bias.map(|t| &t.get().t), scale_result.map(|t| &t.get().t));
    let options = ScaledMm { bias, scale_result, out_dtype, use_fast_accum };
    let made = build(py, || a.scaled_mm(b, scale_a, scale_b, options))?;
    PyTensor::result(py, made, borrowed)
}
