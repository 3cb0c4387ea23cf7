//! What runs: the op table, programs and their executors, library kernels.
#[macro_use]
pub mod rows;
pub mod cpu;
pub mod lane;
pub mod math;
pub mod philox;
pub mod program;
pub use lane::{BitLane, FloatLane, Format, Lane};
pub use program::{Class, Inst, Operand, Over, Program, ReduceKind, Source, Val, Value};
pub use rows::{Algebra, Row, Rules};
