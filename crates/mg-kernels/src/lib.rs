//! What runs: the op table, programs and their executors, library kernels.
//!
//! [`rows`] is the op table: an elementwise operation is one row, its body generic over a [`Lane`], its gradient rule over an
//! [`Algebra`]. A [`Program`] is what one launch computes: a straight-line list of values over a space of rows and columns,
//! with reductions. [`cpu`] runs programs in tiles that stay in the first-level cache, with a vectorised loop for each
//! instruction, [`cuda`] as PTX. [`library`] has the kernels that are no programs (products, gathers, sorts, …), each in a room of its
//! own with its gradient and its halves for both devices.
//! [`math`] has the elementary functions, [`philox`] the random numbers. Nothing here knows graphs, and of gradients only the rules, which are
//! written in an algebra that a graph is one of.
//!
//! ```
//! use mg_device::{DType, MAX_RANK};
//! use mg_kernels::args::{Args, InputArg};
//! use mg_kernels::cpu::compile::Compiled;
//! use mg_kernels::{Class, Inst, Operand, Over, Program, ReduceKind, Row, Source, Value};
//!
//! // The sum of squares of four numbers.
//! let mut strides = [0; MAX_RANK];
//! strides[0] = 1;
//! let value = |inst| Value { inst, dtype: DType::F32 };
//! let program = Program {
//!     space: vec![4],
//!     inputs: vec![Operand { source: Source::Buffer, dtype: DType::F32, strides }],
//!     values: vec![
//!         value(Inst::Input(0)),
//!         value(Inst::Map(Row::Square, [0; 3])),
//!         value(Inst::Reduce(ReduceKind::Sum, Over::All, 1)),
//!     ],
//!     outputs: vec![(2, Class::Total)],
//!     ..Program::default()
//! };
//! let compiled = Compiled::new(&program, &[])?;
//! let (x, mut sum) = ([1.0f32, 2.0, 3.0, 4.0], 0.0f32);
//! let input = InputArg { ptr: x.as_ptr().cast(), base: 0, seed: 0 };
//! let args = Args { inputs: &[input], consts: &[], outputs: &[(&raw mut sum).cast()] };
//! // SAFETY: the operand has the four elements that the space visits, the output room for one.
//! unsafe { compiled.run(&args) }.unwrap();
//! assert_eq!(sum, 30.0);
//! # Ok::<(), mg_device::Error>(())
//! ```

#[macro_use]
pub mod rows;
pub mod args;
mod cell;
pub mod cpu;
pub mod cuda;
pub mod finding;
mod frame;
pub mod lane;
pub mod library;
pub mod math;
pub mod philox;
pub mod program;
mod walks;

pub use cell::{Cell, cell_bits, cell_bits_of_int, is_compared, same_sums};
pub use lane::{BitLane, FloatLane, Format, Lane, Truth};
pub use program::{Class, Inst, Law, Operand, Over, Program, ReduceKind, Source, Val, Value};
pub use rows::{Algebra, BesselOrder, Row, Rules, bessel_series};
