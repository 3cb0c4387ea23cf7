//! Diagonals and triangles, and parts that are written over.

use super::joining::too_much;
use super::movement::{at_least, axes_of, bounds, shape_of, wrong_shape, wrong_value};
use crate::tensor::Tensor;
use mg_device::{DType, Device, Error, ErrorKind, Layout, Result, Shape, normalize_axis};
use mg_graph::{Node, View, cell_bits_of_int, form};
use mg_kernels::{Algebra, Row, Rules};
use mg_macros::operations;
use std::ops::Range;

/// Which diagonal of which axes, and how long it is.
struct Diagonal {
    axes: [usize; 2],
    offset: i64,
    len: usize,
}

impl Diagonal {
    fn of(shape: &Shape, offset: isize, dims: [isize; 2]) -> Result<Diagonal> {
        let rank = shape.rank();
        let axes = [normalize_axis(dims[0], rank)?, normalize_axis(dims[1], rank)?];
        if axes[0] == axes[1] {
            return wrong_value(format!("a diagonal is of two axes, got {} twice", axes[0]));
        }
        let (rows, columns) = (shape[axes[0]], shape[axes[1]]);
        let len = match offset {
            0.. => rows.min(columns.saturating_sub(offset.unsigned_abs())),
            _ => rows.saturating_sub(offset.unsigned_abs()).min(columns),
        };
        // An empty one is anywhere.
        let offset = if len == 0 { 0 } else { offset as i64 };
        Ok(Diagonal { axes, offset, len })
    }

    fn view(&self) -> View {
        View::Diagonal { axes: [self.axes[0] as u8, self.axes[1] as u8], offset: self.offset }
    }

    fn shape(&self, of: &Shape) -> Result<Shape> {
        let rest = (0..of.rank()).filter(|axis| !self.axes.contains(axis)).map(|axis| of[axis]);
        shape_of(rest.chain([self.len]))
    }
}

/// `base` (or zeros of a shape) with `src` in place of what a view sees of it.
fn put(base: Option<&Node>, shape: Shape, src: &Node, view: &View, seen: Shape) -> Result<Tensor> {
    let none = || Error::new("view", ErrorKind::Internal("a layout that has no such view".into()));
    let region = view.apply(&Layout::contiguous(shape), &seen).ok_or_else(none)?;
    Ok(Tensor::from_node(src.write_into(base, shape, region)?))
}

/// Refuses what is to replace a part of another shape.
fn check_part(src: &Tensor, part: &[usize]) -> Result<()> {
    if *src.shape() != *part {
        return wrong_shape(format!(
            "a part of shape {part:?} is not replaced by one of shape {}",
            src.shape()
        ));
    }
    Ok(())
}

/// `kept(row, column)` says which elements of matrices stay; the others are 0.
fn triangle(x: &Node, diagonal: i64, kept: impl FnOnce(&Node, &Node) -> Node) -> Result<Tensor> {
    let rank = x.shape().rank();
    if rank < 2 {
        return wrong_shape(format!("takes matrices, got shape {}", x.shape()));
    }
    let (rows, columns) = (x.shape()[rank - 2], x.shape()[rank - 1]);
    let bits = cell_bits_of_int(diagonal, DType::I64);
    let diagonal = Node::scalar_bits(bits, DType::I64, x.device(), false);
    let row = Node::ramp(Shape::of(&[rows, 1]), x.device()).add(&diagonal);
    let column = Node::ramp(Shape::of(&[1, columns]), x.device());
    Ok(Tensor::from_node(kept(&row, &column).choose(x, &x.lit(0.0))))
}

/// The positions of a triangle of a matrix: rows first, then columns.
fn triangle_indices(
    op: &'static str,
    (rows, columns): (usize, usize),
    kept: impl Fn(i64) -> Range<i64>,
    dtype: Option<DType>,
    device: Option<Device>,
) -> Result<Tensor> {
    let dtype = dtype.unwrap_or(DType::I64);
    if !matches!(dtype, DType::I64 | DType::I32) {
        return Err(Error::new("dtype", ErrorKind::DType(format!("positions are i64 or i32, got {dtype}"))));
    }
    Shape::new(&[rows, columns])?;
    let within = |row: i64| {
        let Range { start, end } = kept(row);
        start.clamp(0, columns as i64)..end.clamp(0, columns as i64)
    };
    let count = (0..rows as i64).map(|row| within(row).count()).sum::<usize>();
    let mut both: Vec<i64> = vec![];
    let positions = count.saturating_mul(2);
    both.try_reserve_exact(positions).map_err(|_| too_much(op, positions))?;
    for row in 0..rows as i64 {
        both.extend(std::iter::repeat_n(row, within(row).count()));
    }
    for row in 0..rows as i64 {
        both.extend(within(row));
    }
    let device = device.unwrap_or_else(crate::default_device);
    Ok(Tensor::from_vec::<i64>(both, &[2, count])?.to(device)?.to_dtype(dtype))
}

#[operations(DIAGONALS, fallible)]
impl Tensor {
    /// The diagonal of two axes (above the main one by `offset`), which go; it becomes the last. A view.
    ///
    /// # Errors
    ///
    /// An axis out of range, or twice the same.
    #[surface(method, function, view)]
    pub fn diagonal(
        &self,
        #[default(0)] offset: isize,
        #[default(0)] dim1: isize,
        #[default(1)] dim2: isize,
    ) -> Result<Tensor> {
        let shape = self.shape();
        let diagonal = Diagonal::of(&shape, offset, [dim1, dim2])?;
        self.seen(diagonal.view(), diagonal.shape(&shape)?)
    }

    /// The last axis as the diagonal of two new ones (above the main one by `offset`), among zeros.
    ///
    /// # Errors
    ///
    /// No axes; an axis out of range, or twice the same.
    pub fn diag_embed(
        &self,
        #[default(0)] offset: isize,
        #[default(-2)] dim1: isize,
        #[default(-1)] dim2: isize,
    ) -> Result<Tensor> {
        at_least(self, 1)?;
        let x = self.node();
        let rank = x.shape().rank();
        let n = x.shape()[rank - 1].saturating_add(offset.unsigned_abs());
        let axes = axes_of(&[dim1, dim2], rank + 1)?;
        let mut rest = x.shape()[..rank - 1].iter().copied();
        let shape = shape_of(
            (0..rank + 1).map(|axis| if axes.contains(&axis) { n } else { rest.next().unwrap_or(n) }),
        )?;
        let diagonal = Diagonal::of(&shape, offset, [dim1, dim2])?;
        put(None, shape, &x, &diagonal.view(), *x.shape())
    }

    /// Of a vector, the matrix with it as a diagonal; of a matrix, a copy of that diagonal.
    ///
    /// # Errors
    ///
    /// Other than one or two axes.
    pub fn diag(&self, #[default(0)] diagonal: isize) -> Result<Tensor> {
        match self.rank() {
            1 => {
                form("diag.DiagEmbedBackward0");
                self.diag_embed(diagonal, 0, 1)
            }
            2 => {
                form("diag.DiagonalBackward0_copy");
                Ok(self.diagonal(diagonal, 0, 1)?.copy())
            }
            _ => wrong_shape(format!("takes a vector or a matrix, got shape {}", self.shape())),
        }
    }

    /// All elements as a diagonal of a matrix.
    ///
    /// # Errors
    ///
    /// More elements than a matrix can have rows.
    pub fn diagflat(&self, #[default(0)] offset: isize) -> Result<Tensor> {
        self.reshape(&[-1])?.diag_embed(offset, 0, 1)
    }

    /// The elements on the diagonal `diagonal` of the last two axes (above the main one, if it is positive) and below it;
    /// 0 elsewhere.
    ///
    /// # Errors
    ///
    /// Fewer than two axes.
    #[surface(method, function, in_place)]
    pub fn tril(&self, #[default(0)] diagonal: i64) -> Result<Tensor> {
        triangle(&self.node(), diagonal, |row, column| Node::apply(Row::Le, &[column, row]))
    }

    /// The elements on the diagonal `diagonal` of the last two axes (above the main one, if it is positive) and above it;
    /// 0 elsewhere.
    ///
    /// # Errors
    ///
    /// Fewer than two axes.
    #[surface(method, function, in_place)]
    pub fn triu(&self, #[default(0)] diagonal: i64) -> Result<Tensor> {
        triangle(&self.node(), diagonal, |row, column| Node::apply(Row::Le, &[row, column]))
    }

    /// The positions of the lower triangle of a matrix, row by row: `[2, n]`, rows first.
    ///
    /// # Errors
    ///
    /// A dtype other than i64 and i32; more positions than memory has room for.
    #[surface(function, keywords_from = "dtype", manners(Makes))]
    pub fn tril_indices(
        row: usize,
        col: usize,
        #[default(0)] offset: i64,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
    ) -> Result<Tensor> {
        let columns = |row: i64| 0..row.saturating_add(offset).saturating_add(1);
        triangle_indices("tril_indices", (row, col), columns, dtype, device)
    }

    /// The positions of the upper triangle of a matrix, row by row: `[2, n]`, rows first.
    ///
    /// # Errors
    ///
    /// A dtype other than i64 and i32; more positions than memory has room for.
    #[surface(function, keywords_from = "dtype", manners(Makes))]
    pub fn triu_indices(
        row: usize,
        col: usize,
        #[default(0)] offset: i64,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
    ) -> Result<Tensor> {
        let columns = |row: i64| row.saturating_add(offset)..i64::MAX;
        triangle_indices("triu_indices", (row, col), columns, dtype, device)
    }

    /// A copy with `src` in place of one position along an axis.
    ///
    /// # Errors
    ///
    /// An axis or index out of range; a `src` of another shape.
    pub fn select_scatter(&self, src: &Tensor, dim: isize, index: isize) -> Result<Tensor> {
        let shape = self.shape();
        let axis = normalize_axis(dim, shape.rank())?;
        let size = shape[axis];
        let at = if index < 0 { index.wrapping_add_unsigned(size) } else { index };
        if at < 0 || at >= size as isize {
            return Err(Error::new("select_scatter", ErrorKind::Index { index: index as i64, axis, size }));
        }
        check_part(src, &shape.remove(axis))?;
        let view = View::Slice { axis: axis as u8, start: at as i64, step: 1 };
        let (base, seen) = (self.node(), shape.with(axis, 1));
        put(Some(&base), shape, &src.node().cast(base.dtype()).reshape(seen)?, &view, seen)
    }

    /// A copy with `src` in place of positions along an axis; see `slice`.
    ///
    /// # Errors
    ///
    /// An axis out of range, step 0; a `src` of another shape.
    pub fn slice_scatter(
        &self,
        src: &Tensor,
        #[default(0)] dim: isize,
        #[default(None)] start: Option<isize>,
        #[default(None)] end: Option<isize>,
        #[default(1)] step: isize,
    ) -> Result<Tensor> {
        let shape = self.shape();
        let axis = normalize_axis(dim, shape.rank())?;
        let (from, n) = bounds(shape[axis], start, end, step)?;
        let seen = shape.with(axis, n);
        check_part(src, &seen)?;
        let view = View::Slice { axis: axis as u8, start: from as i64, step: step as i64 };
        let base = self.node();
        put(Some(&base), shape, &src.node().cast(base.dtype()), &view, seen)
    }

    /// A copy with `src` in place of a diagonal; see `diagonal`.
    ///
    /// # Errors
    ///
    /// An axis out of range, or twice the same; a `src` of another shape.
    pub fn diagonal_scatter(
        &self,
        src: &Tensor,
        #[default(0)] offset: isize,
        #[default(0)] dim1: isize,
        #[default(1)] dim2: isize,
    ) -> Result<Tensor> {
        let shape = self.shape();
        let diagonal = Diagonal::of(&shape, offset, [dim1, dim2])?;
        let seen = diagonal.shape(&shape)?;
        check_part(src, &seen)?;
        let base = self.node();
        put(Some(&base), shape, &src.node().cast(base.dtype()), &diagonal.view(), seen)
    }
}
