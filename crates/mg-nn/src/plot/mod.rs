//! Pictures as SVG text: curves, points, grids of images, confusion matrices, histograms.

mod axes;
mod figures;

pub use crate::watch::png::Image;
pub use figures::{Curves, confusion_matrix, curves, histogram, images, scatter};
