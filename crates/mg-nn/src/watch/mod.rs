//! Seeing how a training goes: numbers to CSV, event files for TensorBoard, a bar of progress, checkpoints of what goes well.

mod bar;
mod checkpointer;
mod events;
mod history;
pub(crate) mod png;

pub(crate) use events::spread;

pub use bar::Bar;
pub use checkpointer::Checkpointer;
pub use events::EventWriter;
pub use history::History;
