//! When it runs: nodes, scheduling into programs, plans and their cache.
//!
//! A [`Node`] describes a value that may not be computed yet; there are five kinds ([`Op`]). [`realize`] computes what it is
//! asked for: it walks what is pending, finds the plan that this structure was given before or makes one (what is stored,
//! what shares a launch, where it lies), and runs the launches. [`explain()`] shows a plan, [`record`] and [`Replay`] run a
//! step again without its graph. Nothing here computes gradients: nodes are an
//! [`Algebra`](mg_kernels::Algebra) in which rules are written, and one that is *tracked* keeps its sources for a layer above.
//!
//! ```
//! use mg_device::{Buffer, Layout, Shape};
//! use mg_graph::{Node, Value, explain, realize};
//! use mg_kernels::{ReduceKind, Row};
//!
//! let buffer = Buffer::from_slice(&[1.0f32, 2.0, 3.0])?;
//! let x = Node::from_value(Value { buffer, layout: Layout::contiguous(Shape::from([3])) });
//! let sum = Node::map(Row::Square, &[&x])?.reduce(ReduceKind::Sum, 1, false)?;
//! assert_eq!(explain(&[&sum])?.launches.len(), 1);
//! realize(&[&sum])?;
//! let value = sum.value().unwrap().as_ref().unwrap();
//! assert_eq!(value.buffer.as_slice::<f32>()?, [14.0]);
//! # Ok::<(), mg_device::Error>(())
//! ```

mod ahead;
mod build;
mod code;
mod cpu;
mod cuda;
mod drawing;
mod engine;
mod exclusive;
mod execute;
mod explain;
mod fold;
mod hash;
mod interrupt;
mod kernel;
mod live;
mod node;
mod op;
mod packed;
mod plan;
mod precision;
mod prepared;
mod profile;
mod recent;
mod refusal;
mod replay;
mod run;
mod schedule;
mod template;
mod wait;
mod write;

pub use build::same_device;
pub use engine::{
    PlanStats, clear_plans, compute_readers, is_eager, plan_stats, realize, realize_quietly, set_eager,
    under_lock,
};
pub use exclusive::{Alone, Exclusive};
pub use explain::{Explanation, LaunchInfo, explain};
pub use hash::WordHasher;
pub use interrupt::set_interrupt;
pub use kernel::Kernel;
pub use live::LiveScalar;
pub use mg_kernels::{cell_bits, cell_bits_of_int};
pub use node::{
    At, Node, Noted, Overwritten, Renamed, Sources, Tag, Value, WeakNode, at, form, has_overwritten,
    is_tracking, last_failure, line, next_sequence, renamed, set_tracking, take_overwritten, within,
};
pub use op::{Map, Op, SourceKind, View};
pub use precision::{get_float32_matmul_precision, set_float32_matmul_precision};
pub use profile::{TimedLaunch, chrome_trace, profile_caller, profile_start, profile_stop};
pub use replay::{
    Computed, Made, Outside, Recorded, Replaced, Replay, Trace, assume, is_recorded_elsewhere, is_recording,
    may_read, needs_values, note_host_read, note_printing, on_failed_replay, on_replay, record, started,
    unrecorded,
};
pub use template::{Grown, Template};
pub use wait::{locked, set_around_waits, waiting};
