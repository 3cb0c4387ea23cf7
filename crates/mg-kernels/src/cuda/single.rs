//! The programs of single operations: a row of the op table, a conversion, a reduction. `cargo xtask sync programs` writes the kernels of
//! f32 to `kernels/programs`, where they can be read, and the hashes of all others; all are assembled without a GPU in tests.
//!
//! A program's text depends on its structure alone: sizes, strides and scalars are parameters. What a plan launches for one
//! of these operations is the text in the file, under the name `k`; it is emitted rather than read, which takes less time
//! than looking for it would, and nothing is stored twice.

use super::CudaProgram;
use crate::program::{Build, Class, Inst, Over, Program, ReduceKind};
use crate::rows::{Row, RowClass};
use mg_device::{DType, Device, Result};

/// Elements of elementwise work, and of what is reduced.
const ELEMENTS: usize = 1 << 20;
/// Rows, and columns.
const SIDE: usize = 1 << 10;

/// A row of the op table; `scalar`: its last operand is a number.
fn elementwise(row: Row, dtype: DType, scalar: bool) -> Program {
    let mut b = Build::new(&[ELEMENTS], 0, 0);
    let mut args = [0; 3];
    for (i, arg) in args.iter_mut().enumerate().take(row.arity()) {
        *arg = match (row.class(), i) {
            _ if scalar && i + 1 == row.arity() => b.push(Inst::Const(0), dtype),
            (RowClass::Select, 0) => b.load(DType::Bool),
            _ => b.load(dtype),
        };
    }
    let v = b.push(Inst::Map(row, args), row.result(dtype));
    b.out(v, Class::Full);
    b.0
}

fn conversion(from: DType, to: DType) -> Program {
    let mut b = Build::new(&[ELEMENTS], 0, 0);
    let x = b.load(from);
    let v = b.push(Inst::Cast(x), to);
    b.out(v, Class::Full);
    b.0
}

fn reduction(kind: ReduceKind, over: Over, dtype: DType) -> Program {
    let (mut b, class) = match over {
        Over::All => (Build::new(&[ELEMENTS], 0, 0), Class::Total),
        Over::Inner => (Build::new(&[SIDE, SIDE], 0, 1), Class::Row),
        Over::Outer => (Build::new(&[SIDE, SIDE], 0, 1), Class::Column),
    };
    let x = b.load(dtype);
    let v = b.push(Inst::Reduce(kind, over, x), kind.result(dtype));
    b.out(v, class);
    b.0
}

/// Single operations on a dtype, with their kernels' names: `ew_add_f32`, `ew_pow_f32_scalar`, `cast_f32_f16`,
/// `reduce_sum_f32` (all elements), `reduce_rows_sum_f32`, `reduce_columns_sum_f32`.
pub fn programs(dtype: DType) -> Vec<(String, Program)> {
    let mut all = vec![];
    for &row in Row::ALL {
        if row.operand(dtype) != dtype
            || (row.class() == RowClass::Logic && dtype != DType::Bool)
            || (dtype.is_narrow() && !row.takes_narrow())
        {
            continue;
        }
        all.push((format!("ew_{}_{dtype}", row.name()), elementwise(row, dtype, false)));
        if row.arity() == 2 && dtype != DType::Bool {
            all.push((format!("ew_{}_{dtype}_scalar", row.name()), elementwise(row, dtype, true)));
        }
    }
    for to in DType::ALL.into_iter().filter(|&to| to != dtype) {
        all.push((format!("cast_{dtype}_{to}"), conversion(dtype, to)));
    }
    for kind in ReduceKind::ALL.into_iter().filter(|_| !dtype.is_narrow()) {
        for (over, name) in [(Over::All, ""), (Over::Inner, "rows_"), (Over::Outer, "columns_")] {
            let name = format!("reduce_{name}{}_{dtype}", kind.name());
            all.push((name, reduction(kind, over, dtype)));
        }
    }
    all
}

/// The file of a dtype's single operations: its name and text, a module with all their kernels.
///
/// # Errors
///
/// An internal error, of an operation that cannot be written.
pub fn files() -> Result<Vec<(String, String)>> {
    let mut files = vec![];
    for dtype in DType::ALL {
        let mut text = String::from("// Written by `cargo xtask ptx` from the op table.\n");
        for (i, (name, program)) in programs(dtype).iter().enumerate() {
            let made = CudaProgram::new(program, Device::cpu())?;
            let ptx = made.ptx(true)?;
            let (head, kernel) = ptx.split_once(HEAD_END).unwrap_or(("", ptx));
            if i == 0 {
                text += head;
                text += HEAD_END;
            }
            text += &kernel.replacen(".entry k(", &format!(".entry {name}("), 1);
        }
        files.push((format!("{dtype}.ptx"), text));
    }
    Ok(files)
}

/// What a module's declarations end with.
const HEAD_END: &str = ".address_size 64\n";
