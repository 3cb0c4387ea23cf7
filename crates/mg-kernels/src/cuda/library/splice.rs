//! Code of others in the epilogue of a product: the prebuilt text with lines put in at its marks.
//!
//! A called function would cost a call for every four elements (the assembler does not inline `.func`), and a pointer to
//! one cannot be told from a launch. So `finish` in `kernels/matmul.cuh` leaves a comment in the PTX just before the store,
//! which names the registers that hold what code there needs, and a product with an epilogue of its own is this text
//! with that code in place of the comment. It is assembled and kept as emitted programs are.

use super::Prebuilt;

/// A mark: the registers that are live there, with their names in the PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark<'a> {
    /// Four neighbouring values of a row (`.f32`), which are stored after the mark: write them to change what is stored.
    pub values: [&'a str; 4],
    /// The matrix of the batch (`.b32`).
    pub batch: &'a str,
    /// The row (`.b32`).
    pub row: &'a str,
    /// The column of the first value (`.b32`). Fewer than four columns may be left up to the result's edge.
    pub column: &'a str,
}

/// The kernel's text with `code` in place of each mark (there may be several). Code that needs registers or labels
/// of its own declares them within braces. It may read the last [`HOOK_WORDS`](super::matmul::HOOK_WORDS) words of the
/// argument, which nothing else uses; the plan has to have an [`Epilogue`](super::matmul::Epilogue), without one stores
/// pass the mark by.
pub fn splice(kernel: &Prebuilt, mut code: impl FnMut(Mark) -> String) -> String {
    let mut text = String::with_capacity(kernel.ptx.len());
    for line in kernel.ptx.lines() {
        match mark(line) {
            Some(mark) => text.push_str(&code(mark)),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

fn mark(line: &str) -> Option<Mark<'_>> {
    let mut words = line.strip_prefix("// mg.epilogue ")?.split_whitespace();
    let mut next = || words.next();
    Some(Mark { values: [next()?, next()?, next()?, next()?], batch: next()?, row: next()?, column: next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_floats_have_marks() {
        for kernel in super::super::KERNELS.iter().filter(|k| k.name.starts_with("matmul_")) {
            let floats = ["f32", "tf32", "f16", "bf16"];
            let product = floats.iter().any(|t| kernel.name.starts_with(&format!("matmul_{t}_")));
            let mut marks = 0;
            let text = splice(kernel, |mark| {
                marks += 1;
                assert!(mark.values.iter().all(|v| v.starts_with("%f")), "{mark:?}");
                assert!([mark.batch, mark.row, mark.column].iter().all(|r| r.starts_with("%r")), "{mark:?}");
                format!("neg.f32 {0},{0};", mark.values[0])
            });
            assert_eq!(marks > 0, product, "{}", kernel.name);
            assert!(!text.contains("mg.epilogue"));
            assert_eq!(text.matches("neg.f32").count(), kernel.ptx.matches("neg.f32").count() + marks);
        }
    }
}
