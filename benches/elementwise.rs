//! Elementwise operations, conversions and copies.

#[path = "common/group.rs"]
mod group;
#[path = "common/inputs.rs"]
mod inputs;

use criterion::Criterion;
use group::{curve, few, of_matrix, of_one, of_two};
use mg_autograd::Tensor;
use mg_device::{DType, Result};

fn curves(criterion: &mut Criterion) -> Result<()> {
    of_two(criterion, "add", curve(), |a, b| a.try_add(b))?;
    of_one(criterion, "relu", curve(), (-1.0, 1.0), Tensor::try_relu)?;
    of_one(criterion, "pow", curve(), (0.01, 4.0), |x| x.try_pow(2.5))
}

fn others(criterion: &mut Criterion) -> Result<()> {
    of_two(criterion, "mul", few(), |a, b| a.try_mul(b))?;
    of_one(criterion, "exp", few(), (-4.0, 4.0), Tensor::try_exp)?;
    of_one(criterion, "tanh", few(), (-4.0, 4.0), Tensor::try_tanh)?;
    of_one(criterion, "sigmoid", few(), (-4.0, 4.0), Tensor::try_sigmoid)?;
    of_one(criterion, "log", few(), (0.01, 4.0), Tensor::try_log)
}

fn copies(criterion: &mut Criterion) -> Result<()> {
    of_one(criterion, "copy", few(), (-1.0, 1.0), |x| Ok(x.copy()))?;
    of_one(criterion, "cast to f16", few(), (-1.0, 1.0), |x| Ok(x.to_dtype(DType::F16)))?;
    of_one(criterion, "cast to i64", few(), (-100.0, 100.0), |x| Ok(x.to_dtype(DType::I64)))?;
    of_matrix(criterion, "transpose", few(), |x| x.t().contiguous())
}

fn main() -> Result<()> {
    group::run(&[curves, others, copies])
}
