//! Operations declared once.
//!
//! [`macro@operations`] stands on an `impl Tensor` block, and each public function in it is an operation of the public
//! surface. From one function come the method that panics, its `try_` twin, the two that write in place, and a
//! description (names, arguments with their defaults, documentation) from which the Python package makes its method, its
//! function and its stub, and tests draw their calls.

use proc_macro::TokenStream;

mod declared;
mod kernel;
mod written;

/// Makes operations of the functions of an `impl Tensor` block, and a table of their descriptions under the given name.
///
/// Under `#[operations(TABLE, fallible)]` the plain functions answer with a `Result`, and there are no `try_` twins: for
/// operations that are asked for what may not be there (axes, positions).
///
/// A function answers with a `Result` and has documentation; its name is the plain one. Its receiver is `&self`, or it has
/// none. Arguments may have a default, `#[default(0.01)]`, which is Python's: in Rust every argument is given. What
/// `#[surface(…)]` says beside a function:
///
/// | word | |
/// |---|---|
/// | `method`, `function`, `nn`, `linalg`, `special`, `windows` | where Python has it; `method, function` where none is named |
/// | `in_place` | there is a twin with an underscore that writes the result into the tensor |
/// | `in_place_only` | there is that twin only |
/// | `name = "…"` | what Python calls it, and the twin with an underscore, where Rust has something else under that name |
/// | `view` | the result shares memory with the tensor |
/// | `variadic` | the last list may be given as its items |
/// | `each` | Python's function takes several tensors too, and answers with a result for each |
/// | `reads` | values decide the result's shape: they are computed at once, while other threads of Python run |
/// | `alias = "…"` | another name, with the same meaning |
/// | `answers("values", "indices")` | the names of several results |
/// | `keywords_from = "…"` | this argument and those after it are taken by keyword only |
#[proc_macro_attribute]
pub fn operations(table: TokenStream, block: TokenStream) -> TokenStream {
    let table = syn::parse_macro_input!(table as declared::Table);
    let block = syn::parse_macro_input!(block as syn::ItemImpl);
    match declared::operations(&block) {
        Ok(operations) => written::block(&table, &block, &operations).into(),
        Err(error) => error.to_compile_error().into(),
    }
}

/// Makes an elementwise operation of tensors of a function of numbers (`S`), with gradients of any order.
///
/// Of `fn f(x: S, y: S) -> S` come the function `f` of tensors and numbers, its twin `try_f`, and the type `f`, by which other kernels call it
/// (`f::scalar(x, y)`). Arguments of other types, after those, are constants of the kernel. `#[kernel(gradient = g)]` names a kernel that
/// answers with the derivative by each argument. See docs/kernels.md.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, function: TokenStream) -> TokenStream {
    let options = syn::parse_macro_input!(options as kernel::Options);
    let function = syn::parse_macro_input!(function as syn::ItemFn);
    match kernel::kernel(&options, &function) {
        Ok(written) => written.into(),
        Err(error) => error.to_compile_error().into(),
    }
}
