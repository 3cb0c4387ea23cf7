//! Operations declared once, and modules derived from their fields.
//!
//! [`macro@operations`] stands on an `impl Tensor` block, and each public function in it is an operation of the public
//! surface. From one function come the method that panics, its `try_` twin, the two that write in place, and a
//! description (names, arguments with their defaults, documentation) from which the Python package makes its method, its
//! function and its stub, and tests draw their calls.

use proc_macro::TokenStream;

mod declared;
mod kernel;
mod module;
mod twins;
mod written;

/// Makes operations of the functions of an `impl Tensor` block, and a table of their descriptions under the given name.
///
/// Under `#[operations(TABLE, fallible)]` the plain functions answer with a `Result`, and there are no `try_` twins: for
/// operations that are asked for what may not be there (axes, positions).
///
/// A function answers with a `Result` and has documentation; its name is the plain one. Its receiver is `&self`, or it has
/// none. Arguments may have a default, `#[default(0.01)]`, which is Python's: in Rust every argument is given, but for those
/// marked `#[python]`, for which Rust has other words and its functions take the default. What `#[surface(…)]` says beside a
/// function:
///
/// | word | |
/// |---|---|
/// | `method`, `function`, `nn`, `linalg`, `special`, `windows` | where Python has it; `method, function` where none is named |
/// | `in_place` | there is a twin with an underscore that writes the result into the tensor |
/// | `in_place_only` | there is that twin only |
/// | `name = "…"` | what Python calls it, and the twin with an underscore, where Rust has something else under that name |
/// | `plain = "…"` | Rust has a method of this name too, which takes no arguments: each has its default |
/// | `view` | the result shares memory with the tensor |
/// | `variadic` | the last list may be given as its items |
/// | `each` | Python's function takes several tensors too, and answers with a result for each |
/// | `reads` | values decide the result's shape: they are computed at once, while other threads of Python run |
/// | `integers`, `doubles` | it makes integers of integers, or f64; without these floats |
/// | `compares` | it answers with where a comparison holds |
/// | `divides` | it divides integers by its second operand |
/// | `warns` | of a target of another size than the input |
/// | `keeps_zero` | a gradient of zero stays zero, be operands infinite or NaN |
/// | `not_in_kernels` | no kernel of scalars may consist of it |
/// | `manners(…)` | other ways in which PyTorch's callers call it: variants of `surface::Manner` |
/// | `alias = "…"` | another name, with the same meaning |
/// | `answers("values", "indices")` | the names of several results |
/// | `keywords_from = "…"` | this argument and those after it are taken by keyword only |
///
/// Within a region of mixed precision, the function is called once more with converted operands where `autocast`'s lists have its name.
#[proc_macro_attribute]
pub fn operations(table: TokenStream, block: TokenStream) -> TokenStream {
    let table = syn::parse_macro_input!(table as declared::Table);
    let block = syn::parse_macro_input!(block as syn::ItemImpl);
    match declared::operations(&block) {
        Ok(operations) => written::block(&table, &block, &operations).into(),
        Err(error) => error.to_compile_error().into(),
    }
}

/// The other methods of a row of the op table, for an `impl Tensor` block: `twins!(abs())` is the two that write its result into the tensor, `abs_`
/// and `try_abs_`; `twins!(absolute = abs())` is the row by another name, `absolute` and `try_absolute`, and these two of it. A row of two
/// operands is written with the second: `twins!(mul(other))`.
#[proc_macro]
pub fn twins(input: TokenStream) -> TokenStream {
    let twins = syn::parse_macro_input!(input as twins::Twins);
    twins.written().into()
}

/// Makes a module of a struct: its fields are parameters (`Tensor`), other modules, buffers (`#[module(buffer)]`), or numbers and words that
/// are neither; `Option`s and `Vec`s of these too. Names, gradients, modes, devices and checkpoints follow from that.
///
/// What the module computes is a method `forward(&self, input: &Tensor) -> Result<Tensor>` of the struct's own. One that takes something else
/// says `#[module(no_forward)]`: it can stand inside other modules and is called by what it has.
///
/// | | |
/// |---|---|
/// | `#[module(no_forward)]` on the struct | there is no `forward` of one tensor |
/// | `#[module(crate = path)]` on the struct | where the trait `Module` is, if not in `micrograd_rs::nn` |
/// | `#[module(buffer)]` on a tensor | it is saved with the parameters and not trained |
/// | `#[module(skip)]` on a field | it is nothing of the module's |
#[proc_macro_derive(Module, attributes(module))]
pub fn module(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    module::derive(&input).unwrap_or_else(|error| error.to_compile_error()).into()
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
