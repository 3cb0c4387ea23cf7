//! Running sums and their like along an axis.

use super::float;
use crate::parts::{comparable, restored};
use crate::tensor::Tensor;
use mg_device::{DType, Result, normalize_axis};
use mg_graph::Node;
use mg_kernels::library::{Scan, ScanKind};
use mg_macros::operations;

/// A scan of a node along an axis; one without axes is what it is.
fn scan(x: &Node, kind: ScanKind, axis: isize, factors: Option<&Node>) -> Result<Node> {
    let rank = x.shape().rank();
    let axis = normalize_axis(axis, rank.max(1))?;
    let scan = Scan { kind, axis: axis as u8, reverse: false };
    let flat = match rank {
        0 => x.reshape(mg_device::Shape::of(&[1]))?,
        _ => x.clone(),
    };
    let result = match factors {
        Some(a) => Node::library(scan.into(), &[&flat, a])?,
        None => Node::library(scan.into(), &[&flat])?,
    };
    result.reshape(*x.shape())
}

/// Numbers as sums and products take them: integers become i64.
fn added(t: &Tensor, dtype: Option<DType>) -> Node {
    let node = t.node();
    let own = if node.dtype().is_float() { node.dtype() } else { DType::I64 };
    let to = dtype.unwrap_or(own);
    let wide = if to.is_float() { to } else { DType::I64 };
    node.cast(wide)
}

impl Tensor {
    /// The extremes so far along an axis, and where they stand.
    fn running_extreme(&self, kind: ScanKind, dim: isize) -> Result<(Tensor, Tensor)> {
        let x = self.node();
        let index = scan(&comparable(&x), kind.indices(), dim, None)?;
        if x.shape().rank() == 0 {
            return Ok((Tensor::from_node(x.alias()), Tensor::from_node(index)));
        }
        let axis = normalize_axis(dim, x.shape().rank())?;
        // A scan that writes elements moves less than indices that are read again do. A processor waits for neither, but steps twice.
        let values = match x.device().is_cpu() {
            true => x.gather(axis, &index)?,
            false => restored(&scan(&comparable(&x), kind, dim, None)?, x.dtype()),
        };
        Ok((Tensor::from_node(values), Tensor::from_node(index)))
    }
}

#[operations(SCANS)]
impl Tensor {
    /// The sum of each element and all before it along an axis. Integers become i64. f32 is added in f64, half types in f32; the
    /// order of additions depends on the shape alone.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[surface(method, function, in_place, alias = "cumulative_sum", keywords_from = "dtype")]
    pub fn cumsum(&self, dim: isize, #[default(None)] dtype: Option<DType>) -> Result<Tensor> {
        let sum = scan(&added(self, dtype), ScanKind::Sum, dim, None)?;
        Ok(Tensor::from_node(match dtype {
            Some(dtype) => sum.cast(dtype),
            None => sum,
        }))
    }

    /// The product of each element and all before it along an axis. Integers become i64.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[surface(method, function, in_place, alias = "cumulative_prod", keywords_from = "dtype")]
    pub fn cumprod(&self, dim: isize, #[default(None)] dtype: Option<DType>) -> Result<Tensor> {
        let product = scan(&added(self, dtype), ScanKind::Prod, dim, None)?;
        Ok(Tensor::from_node(match dtype {
            Some(dtype) => product.cast(dtype),
            None => product,
        }))
    }

    /// `log Σ eˣ` of each element and all before it along an axis, without overflow. Integers become the default float.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    pub fn logcumsumexp(&self, dim: isize) -> Result<Tensor> {
        Ok(Tensor::from_node(scan(&float(self), ScanKind::LogSumExp, dim, None)?))
    }

    /// The largest element so far along an axis, and its index (i64): of equal ones the last. NaN is larger than every number. The
    /// gradient goes to the element at the index.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[surface(method, function, answers("values", "indices"))]
    pub fn cummax(&self, dim: isize) -> Result<(Tensor, Tensor)> {
        self.running_extreme(ScanKind::Max, dim)
    }

    /// The smallest element so far along an axis, and its index (i64): of equal ones the last. NaN is smaller than every number. The
    /// gradient goes to the element at the index.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[surface(method, function, answers("values", "indices"))]
    pub fn cummin(&self, dim: isize) -> Result<(Tensor, Tensor)> {
        self.running_extreme(ScanKind::Min, dim)
    }

    /// The linear recurrence `yᵢ = xᵢ + aᵢ yᵢ₋₁` along an axis, which begins with `y₋₁ = 0`; `factors` are the `aᵢ`, and broadcast.
    /// Exponential averages, discounted returns and state-space models are of this kind. Integers become the default float.
    ///
    /// # Errors
    ///
    /// An axis out of range; factors that do not broadcast to the shape.
    pub fn recurrence(&self, factors: &Tensor, dim: isize) -> Result<Tensor> {
        let (x, a) = (float(self), float(factors));
        let dtype = DType::promote(x.dtype(), a.dtype());
        let (x, a) = (x.cast(dtype), a.cast(dtype).expand(*x.shape())?);
        let a = if x.shape().rank() == 0 { a.reshape(mg_device::Shape::of(&[1]))? } else { a };
        Ok(Tensor::from_node(scan(&x, ScanKind::Linear, dim, Some(&a))?))
    }
}
