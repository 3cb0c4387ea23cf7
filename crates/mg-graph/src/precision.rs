//! How products of f32 matrices are computed on CUDA devices: one setting for all threads.

use mg_device::{Error, ErrorKind, Result};
use mg_kernels::library::matmul::Precision;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether operands may be rounded to tf32.
static ROUNDS: AtomicBool = AtomicBool::new(false);

pub(crate) fn matmul_precision() -> Precision {
    if ROUNDS.load(Ordering::Relaxed) { Precision::High } else { Precision::Highest }
}

/// How products of f32 matrices are computed on CUDA devices, as PyTorch's function of this name has it: "highest" (the
/// default) with all bits of f32, "high" and "medium" on tensor cores, with operands rounded to 10 bits of fraction.
///
/// With all bits: on GPUs of compute capability 9.0 large products, and convolutions, are computed on tensor cores too, each number as the sum of
/// three of bf16, with errors no larger than those of f32 arithmetic; the others in f32 throughout.
///
/// # Errors
///
/// Another name.
#[track_caller]
pub fn set_float32_matmul_precision(precision: &str) -> Result<()> {
    let rounds = match precision {
        "highest" => false,
        "high" | "medium" => true,
        _ => {
            let text = format!("{precision:?} is not a precision: \"highest\", \"high\" and \"medium\" are");
            return Err(Error::new("set_float32_matmul_precision", ErrorKind::Value(text)));
        }
    };
    ROUNDS.store(rounds, Ordering::Relaxed);
    Ok(())
}

/// What [`set_float32_matmul_precision`] was told: "highest" or "high", as which "medium" counts.
pub fn get_float32_matmul_precision() -> &'static str {
    match matmul_precision() {
        Precision::Highest => "highest",
        Precision::High => "high",
    }
}
