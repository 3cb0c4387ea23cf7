//! A product that is added to what there is: its kernel, with that for an epilogue. For plans that consist of several products.

use super::internal;
use crate::cuda::library::{KernelLaunch, Pointer, Prebuilt};
use crate::cuda::params::Field;
use crate::cuda::splice::splice;
use crate::program::{Class, Inst, Operand, Program, Source, Val, Value};
use crate::rows::Row;
use mg_device::{DType, MAX_RANK, Result};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The product's element and the one that is there, added in f32.
fn program(dtype: DType, [rows, columns]: [usize; 2]) -> Program {
    let mut strides = [0; MAX_RANK];
    strides[..2].copy_from_slice(&[columns as isize, 1]);
    let operand = |dtype| Operand { source: Source::Buffer, dtype, strides };
    let mut program = Program {
        space: vec![rows, columns],
        // The sum is not rounded before it is added.
        inputs: vec![operand(DType::F32), operand(dtype)],
        ..Program::default()
    };
    let mut push = |inst, dtype| -> Val {
        program.values.push(Value { inst, dtype });
        (program.values.len() - 1) as Val
    };
    let (product, there) = (push(Inst::Input(0), DType::F32), push(Inst::Input(1), dtype));
    let there = if dtype == DType::F32 { there } else { push(Inst::Cast(there), DType::F32) };
    let sum = push(Inst::Map(Row::Add, [there, product, there]), DType::F32);
    let sum = if dtype == DType::F32 { sum } else { push(Inst::Cast(sum), dtype) };
    program.outputs.push((sum, Class::Full));
    program
}

/// A kernel's text under a name of its own, kept from then on.
fn kept(base: &Prebuilt, text: String) -> &'static Prebuilt {
    static KNOWN: Mutex<Option<HashMap<String, &'static Prebuilt>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    let count = known.len();
    known.entry(text).or_insert_with_key(|text| {
        let name = format!("{}_adding_{count}", base.name);
        let text = text.replace(base.name, &name);
        Prebuilt::of_text(name, text)
    })
}

/// The launch of a product of f32, f16 or bf16 that was planned with an [`Epilogue`](super::Epilogue) and without a result of its own, as one that
/// adds to the `rows` by `columns` elements at [`Pointer::Output`]`(0)`. `aligned` says whether those are, to 16 bytes.
///
/// # Errors
///
/// An internal error, of a kernel that takes no epilogue.
pub(crate) fn adding(
    mut launch: KernelLaunch,
    dtype: DType,
    [rows, columns]: [usize; 2],
    aligned: bool,
) -> Result<KernelLaunch> {
    let none = || internal("a product that takes no epilogue");
    let spliced = splice(launch.kernel, &program(dtype, [rows, columns]), &[0], [rows, columns], aligned, 0)?;
    let spliced = spliced.ok_or_else(none)?;
    let first = launch.args.len().next_multiple_of(8);
    launch.args.resize(first, 0);
    launch.args.extend_from_slice(&spliced.params.bytes);
    for (at, field) in spliced.params.fields {
        match field {
            Field::Input(_) | Field::Output(_) => {
                launch.pointers.push((first as u16 + at, Pointer::Output(0), 0));
            }
            Field::Base(_)
            | Field::Seed(_)
            | Field::Const(_)
            | Field::Tickets
            | Field::Scratch(_)
            | Field::Check(_) => return Err(none()),
        }
    }
    launch.kernel = kept(launch.kernel, spliced.text);
    Ok(launch)
}
