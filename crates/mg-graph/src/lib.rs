//! When it runs: nodes, scheduling into programs, plans and their cache.
mod build;
mod engine;
mod explain;
mod fold;
mod kernel;
mod node;
mod op;
mod plan;
mod replay;
mod schedule;

pub use build::{cell_bits, cell_bits_of_int};
pub use engine::{PlanStats, clear_plans, is_eager, plan_stats, realize, set_eager};
pub use explain::{Explanation, LaunchInfo, explain};
pub use kernel::Kernel;
pub use node::{At, Node, Sources, Value, at, is_tracking, set_tracking};
pub use replay::{Computed, Replay, Trace, is_recording, note_host_read, record};
pub use op::{Map, Op, SourceKind, View};
