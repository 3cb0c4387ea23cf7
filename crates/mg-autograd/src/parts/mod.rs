//! What operations are composed of, by subject, in numerically safe form. The scheduler makes one pass of each.

mod axes;
mod dtypes;
mod lists;
mod means;
mod norms;
mod peaks;
mod slopes;

pub(crate) use axes::{all_axes, axis_mask, count, kept, mask};
pub(crate) use dtypes::{comparable, restored, wide};
pub(crate) use lists::{filled, room};
pub(crate) use means::{mean, variance};
pub(crate) use norms::{norm_of, p_norm, vector_norm};
pub(crate) use peaks::{largest, shifted_exp_sum};
pub(crate) use slopes::{flat_at_zero, without_slope};
