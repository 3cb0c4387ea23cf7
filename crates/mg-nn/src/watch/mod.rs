//! Seeing how a training goes: numbers to CSV, event files for TensorBoard, a bar of progress.

mod bar;
mod events;
mod history;
pub(crate) mod png;

pub(crate) use events::spread;

pub use bar::Bar;
pub use events::EventWriter;
pub use history::History;
