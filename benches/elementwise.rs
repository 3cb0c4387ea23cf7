//! Elementwise operations, conversions and copies, from a thousand elements to 2²⁴.

#[path = "common/group.rs"]
mod group;
#[path = "common/inputs.rs"]
mod inputs;

use criterion::Criterion;
use group::{SIZES, of_matrix, of_one, time};
use inputs::uniform;
use mg_autograd::Tensor;
use mg_device::{DType, Result};

fn binary(criterion: &mut Criterion) -> Result<()> {
    for n in SIZES {
        let (a, b) = (uniform(1, &[n], -1.0, 1.0)?, uniform(2, &[n], -1.0, 1.0)?);
        time(criterion, "add", &n.to_string(), n, || a.try_add(&b))?;
        time(criterion, "mul", &n.to_string(), n, || a.try_mul(&b))?;
    }
    Ok(())
}

fn unary(criterion: &mut Criterion) -> Result<()> {
    of_one(criterion, "relu", (-1.0, 1.0), Tensor::try_relu)?;
    of_one(criterion, "exp", (-4.0, 4.0), Tensor::try_exp)?;
    of_one(criterion, "tanh", (-4.0, 4.0), Tensor::try_tanh)?;
    of_one(criterion, "sigmoid", (-4.0, 4.0), Tensor::try_sigmoid)?;
    of_one(criterion, "log", (0.01, 4.0), Tensor::try_log)?;
    of_one(criterion, "pow", (0.01, 4.0), |x| x.try_pow(2.5))
}

fn copies(criterion: &mut Criterion) -> Result<()> {
    of_one(criterion, "copy", (-1.0, 1.0), |x| Ok(x.copy()))?;
    of_one(criterion, "cast to f16", (-1.0, 1.0), |x| Ok(x.to_dtype(DType::F16)))?;
    of_one(criterion, "cast to i64", (-100.0, 100.0), |x| Ok(x.to_dtype(DType::I64)))?;
    of_matrix(criterion, "transpose", |x| x.t().contiguous())
}

fn main() -> Result<()> {
    group::run(&[binary, unary, copies])
}
