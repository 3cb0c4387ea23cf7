//! Where tensors live: element types, layouts, buffers, devices and the caching allocator.
//!
//! A [`Buffer`] is memory on a [`Device`], tagged with a [`DType`]. A [`Layout`] says how a tensor of some [`Shape`] lies
//! in it: strides and an offset, in elements. Views (transpose, slice, flip, expand, …) answer with another layout and
//! touch no data; [`collapse`] simplifies the layouts of a kernel's operands together. Memory comes from a caching
//! allocator, whose figures [`Device::memory_stats`] tells. Whatever fails answers with an [`Error`] that names the
//! operation, what it got, and the caller's line. A machine without a CUDA driver is no special case: [`Device::cuda`]
//! says why there is no device, and nothing panics. Nothing here computes.
//!
//! ```
//! use mg_device::{Buffer, Layout, Shape};
//!
//! let data = Buffer::from_slice(&[0i64, 1, 2, 3, 4, 5])?;
//! let matrix = Layout::contiguous(Shape::new(&[2, 3])?);
//! let column = matrix.select(1, -1)?;
//! let values = data.as_slice::<i64>()?;
//! assert_eq!(column.offsets().map(|o| values[o]).collect::<Vec<_>>(), [2, 5]);
//! # Ok::<(), mg_device::Error>(())
//! ```

mod allocator;
mod buffer;
mod collapse;
pub mod cuda;
mod device;
mod dtype;
mod error;
mod few;
mod layout;
mod narrow;
mod shape;
mod storage;
mod writings;

pub use allocator::MemoryStats;
pub use buffer::{Buffer, Exported};
pub use collapse::{collapse, merge_dims};
pub use device::Device;
pub use dtype::{Category, DType, Element, Float, Standing, Width};
pub use error::{Checked, Error, ErrorKind, Result, Valid};
pub use half::{bf16, f16};
pub use layout::{Layout, Offsets};
pub use narrow::{F8E4M3, F8E5M2, Narrow};
pub use shape::{AxisSet, MAX_RANK, Shape, normalize_axis};
pub use writings::Writing;
