//! Indexing by tensors, as PyTorch has it: integers and masks, composed of gathers and choices.

use mg_autograd::{Operand, Tensor};
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, is_recording};
use pyo3::prelude::*;

use crate::arith::constant;
use crate::error::{build, compute};
use crate::size::signed;
use crate::tensor::PyTensor;

/// A tensor that stands as an index, at an axis.
pub struct Pick {
    pub axis: usize,
    pub index: Tensor,
}

/// All of them, in order.
#[derive(Default)]
pub struct Picks(pub Vec<Pick>);

/// What tensors pick: for each axis in `axes` (ascending), the positions, broadcast to one shape.
struct Plan {
    axes: Vec<usize>,
    indices: Vec<Tensor>,
    shape: Shape,
}

fn error(kind: ErrorKind) -> Error {
    Error::new("index", kind)
}

/// Positions of what holds in a mask, an index for each of its axes.
fn nonzero(mask: &Tensor) -> Result<Vec<Vec<i64>>> {
    let shape = mask.shape();
    let mut found: Vec<Vec<i64>> = vec![vec![]; shape.rank()];
    for (mut at, holds) in mask.to_vec::<bool>()?.into_iter().enumerate() {
        if !holds {
            continue;
        }
        for (axis, found) in found.iter_mut().enumerate().rev() {
            found.push((at % shape[axis]) as i64);
            at /= shape[axis];
        }
    }
    Ok(found)
}

/// Integers as positions along an axis of `n`: negative ones count from the end. What is known already is checked at
/// once, the rest when it is computed.
fn positions(index: &Tensor, of: &Tensor, axis: usize) -> Result<Tensor> {
    let n = of.shape()[axis];
    let dtype = index.dtype();
    if !dtype.is_int() {
        let text = format!("a tensor of {dtype} cannot be an index: integers and truth values can");
        return Err(error(ErrorKind::DType(text)));
    }
    if of.numel() == 0 {
        told_now(index)?;
    }
    let negative = index.check_indices("index", -(n as i64), axis, n)?;
    // Indices may lie on the host whatever they are an index of.
    let index = index.to_dtype(DType::I64).to(of.device())?;
    // A step that is recorded is replayed with other indices.
    if negative == Some(false) && !is_recording() {
        return Ok(index);
    }
    Tensor::where_(&index.try_lt(0i64)?, index.try_add(n as i64)?, &index)
}

/// Computes an index of nothing: what is picked with it has no elements, so nobody would compute it and find it out of range.
fn told_now(index: &Tensor) -> Result<()> {
    if !is_recording() {
        index.realize()?;
    }
    Ok(())
}

/// What PyTorch takes as the index of `index_select`, `gather` and `scatter_add`, as i64.
fn checked(op: &'static str, index: &Tensor, axis: usize, of: &Tensor) -> Result<Tensor> {
    let (shape, dtype) = (of.shape(), index.dtype());
    // A tensor without axes is its own only row.
    let size = shape.get(axis).copied().unwrap_or(1);
    if shape.numel() == 0 {
        told_now(index)?;
    }
    if !matches!(dtype, DType::I64 | DType::I32) {
        let text = format!("takes an index of i64 or i32, got {dtype}");
        return Err(Error::new(op, ErrorKind::DType(text)));
    }
    index.check_indices(op, 0, axis, size)?;
    Ok(index.to_dtype(DType::I64))
}

/// Refuses what is no mask.
fn check_mask(op: &'static str, mask: &Tensor) -> Result<()> {
    if mask.is_bool() {
        return Ok(());
    }
    let text = format!("takes a mask of truth values, got {}", mask.dtype());
    Err(Error::new(op, ErrorKind::DType(text)))
}

impl Picks {
    fn plan(&self, of: &Tensor) -> Result<Plan> {
        let shape = of.shape();
        let mut plan = Plan { axes: vec![], indices: vec![], shape: Shape::scalar() };
        for Pick { axis, index } in &self.0 {
            if !index.is_bool() {
                plan.axes.push(*axis);
                plan.indices.push(positions(index, of, *axis)?);
                continue;
            }
            let masked = shape.get(*axis..*axis + index.rank()).unwrap_or(&[]);
            if *masked != *index.shape() {
                let text = format!("a mask of shape {} for axes of sizes {masked:?}", index.shape());
                return Err(error(ErrorKind::Shape(text)));
            }
            if index.rank() == 0 {
                let text = "a mask without axes; use t if mask else t[:0]";
                return Err(error(ErrorKind::Shape(text.into())));
            }
            for (i, found) in nonzero(index)?.into_iter().enumerate() {
                plan.axes.push(*axis + i);
                let n = found.len();
                plan.indices.push(Tensor::from_vec(found, &[n])?.to(of.device())?);
            }
        }
        for index in &plan.indices {
            let (a, b) = (plan.shape, index.shape());
            plan.shape = Shape::broadcast(&a, &b).ok_or_else(|| {
                error(ErrorKind::Shape(format!("indices of shapes {a} and {b} do not broadcast")))
            })?;
        }
        let wide = signed(&plan.shape);
        for index in &mut plan.indices {
            *index = index.expand(&wide)?;
        }
        Ok(plan)
    }

    /// The elements picked from `of`.
    pub fn get(&self, py: Python<'_>, of: &Tensor) -> PyResult<Tensor> {
        let host_read = of.numel() == 0 || self.0.iter().any(|p| p.index.is_bool());
        let get = || {
            let plan = self.plan(of)?;
            let picked = plan.unfold(of, &plan.rows(of)?.index_select(0, &plan.linear(of)?)?)?;
            // A tensor of its own, which lies as it is seen.
            if picked.is_contiguous()? { Ok(picked) } else { Ok(picked.copy()) }
        };
        if host_read { compute(py, get) } else { build(py, get) }
    }

    /// Writes into the elements picked from `of`.
    pub fn set(&self, py: Python<'_>, of: &PyTensor, value: Operand) -> PyResult<()> {
        if let [Pick { axis, index }] = &self.0[..]
            && index.is_bool()
        {
            let spread = build(py, || masked_value(&of.t, *axis, index, &value))?;
            if let Some((mask, value)) = spread {
                return of.write(py, |t| t.assign(Tensor::where_(&mask, value, t)?));
            }
        }
        let written = compute(py, || {
            let t = &of.t;
            let plan = self.plan(t)?;
            let value = self::written(value, t)?;
            if mg_autograd::in_place(|| plan.write_at_once(t, &value))? {
                return Ok(Written::AtOnce);
            }
            Ok(plan.replaced(t, &value)?.map_or(Written::Nothing(value), Written::Whole))
        })?;
        match written {
            Written::AtOnce => Ok(()),
            Written::Whole(new) => of.write(py, |t| t.assign(new)),
            // What requires a gradient makes the tensor require one all the same, as in PyTorch.
            Written::Nothing(value) => of.write(py, |t| t.narrow(0, 0, 0)?.assign(value.sum())),
        }
    }
}

/// What became of a write into picked elements.
enum Written {
    /// It is done.
    AtOnce,
    /// The tensor with the elements in it.
    Whole(Tensor),
    /// Nothing is picked.
    Nothing(Tensor),
}

impl Plan {
    /// Whether the picked axes are neighbours: then what is picked stands where they stood, else in front.
    fn place(&self) -> usize {
        let adjacent = self.axes.windows(2).all(|w| w[0] + 1 == w[1]);
        if adjacent { self.axes[0] } else { 0 }
    }

    /// All axes of `of`, the picked ones first.
    fn order(&self, of: &Tensor) -> Vec<isize> {
        let rest = (0..of.rank()).filter(|a| !self.axes.contains(a));
        self.axes.iter().copied().chain(rest).map(|a| a as isize).collect()
    }

    /// `of` with the picked axes merged into the first.
    fn rows(&self, of: &Tensor) -> Result<Tensor> {
        let shape = of.shape();
        let mut sizes: Vec<usize> = vec![self.axes.iter().map(|&a| shape[a]).product()];
        sizes.extend((0..of.rank()).filter(|a| !self.axes.contains(a)).map(|a| shape[a]));
        of.permute(&self.order(of))?.reshape(&signed(&sizes))
    }

    /// The positions in the merged axis.
    fn linear(&self, of: &Tensor) -> Result<Tensor> {
        let shape = of.shape();
        let mut out: Option<Tensor> = None;
        for (&axis, index) in self.axes.iter().zip(&self.indices) {
            out = Some(match out {
                None => index.clone(),
                // Once added up, a position beyond one axis could not be told from a good one.
                Some(before) => {
                    let checked = Tensor::from_node(index.node().guard(axis, shape[axis]));
                    before.try_mul(shape[axis] as i64)?.try_add(checked)?
                }
            });
        }
        let out = out.ok_or_else(|| error(ErrorKind::Internal("no indices".into())))?;
        out.reshape(&[self.shape.numel() as isize])
    }

    /// The shape of what is picked: the indices' own in place of the picked axes.
    fn result(&self, of: &Tensor) -> Result<Shape> {
        let (shape, place) = (of.shape(), self.place());
        let rest: Vec<usize> = (0..of.rank()).filter(|a| !self.axes.contains(a)).map(|a| shape[a]).collect();
        let mut sizes = rest[..place].to_vec();
        sizes.extend(self.shape.iter());
        sizes.extend(&rest[place..]);
        Shape::new(&sizes)
    }

    /// For results whose first axes are the indices': the axes in their places.
    fn to_place(&self, of: &Tensor) -> Result<Vec<isize>> {
        let (indices, place) = (self.shape.rank(), self.place());
        let rank = self.result(of)?.rank();
        let axes = (indices..indices + place).chain(0..indices).chain(indices + place..rank);
        Ok(axes.map(|a| a as isize).collect())
    }

    /// From rows to the result's shape.
    fn unfold(&self, of: &Tensor, rows: &Tensor) -> Result<Tensor> {
        let mut sizes = self.shape.to_vec();
        sizes.extend(rows.shape()[1..].iter());
        rows.reshape(&signed(&sizes))?.permute(&self.to_place(of)?)
    }

    /// Writes a few rows into much memory that is the tensor's alone, each for itself: the rest is not touched. Answers whether
    /// that was possible.
    fn write_at_once(&self, of: &Tensor, value: &Tensor) -> Result<bool> {
        let count = self.shape.numel();
        let bytes = of.numel().saturating_mul(of.dtype().size());
        // A row takes a microsecond or two, in which ten kilobytes of the whole are copied.
        if count == 0 || count.saturating_mul(10_000) > bytes || is_recording() {
            return Ok(false);
        }
        if value.requires_grad() || !of.is_written_at_once() {
            return Ok(false);
        }
        let shape = of.shape();
        let one = (value.rank() == 0).then(|| value.clone());
        let value = self.rows_of_value(of, value)?;
        if one.is_none() {
            value.realize()?;
        }
        if !of.is_written_at_once() {
            return Ok(false);
        }
        let picked: Vec<Vec<i64>> = self
            .indices
            .iter()
            .map(|index| index.reshape(&[count as isize])?.to_vec())
            .collect::<Result<_>>()?;
        for (&axis, picked) in self.axes.iter().zip(&picked) {
            let out = |at: &&i64| usize::try_from(**at).map_or(true, |at| at >= shape[axis]);
            if let Some(&index) = picked.iter().find(out) {
                return Err(error(ErrorKind::Index { index, axis, size: shape[axis] }));
            }
        }
        for i in 0..count {
            let mut row = of.clone();
            // From the last axis on, so that the others keep their numbers.
            for (&axis, picked) in self.axes.iter().zip(&picked).rev() {
                row = row.select(axis as isize, picked[i] as isize)?;
            }
            match &one {
                Some(one) => row.assign(one)?,
                None => row.assign(value.select(0, i as isize)?)?,
            }
        }
        Ok(true)
    }

    /// What is written to each position, one after the other in the first axis.
    fn rows_of_value(&self, of: &Tensor, value: &Tensor) -> Result<Tensor> {
        let value = value.expand(&signed(&self.result(of)?)).map_err(|e| e.with_op("index"))?;
        // The axes back in front, and merged.
        let mut inverse = vec![0isize; value.rank()];
        for (i, a) in self.to_place(of)?.into_iter().enumerate() {
            inverse[a as usize] = i as isize;
        }
        let shape = of.shape();
        let mut sizes = vec![self.shape.numel()];
        sizes.extend((0..of.rank()).filter(|a| !self.axes.contains(a)).map(|a| shape[a]));
        value.permute(&inverse)?.reshape(&signed(&sizes))
    }

    /// `of` with `value` written to what is picked; where a position occurs more than once, the last one stays. `None`
    /// where nothing is picked.
    fn replaced(&self, of: &Tensor, value: &Tensor) -> Result<Option<Tensor>> {
        let value = self.rows_of_value(of, value)?;
        let rows = self.rows(of)?;
        let (n, count) = (rows.shape()[0], self.shape.numel());
        if count == 0 {
            return Ok(None);
        }
        if n == 0 {
            return Err(error(ErrorKind::Index { index: 0, axis: self.axes[0], size: 0 }));
        }
        let picked = self.linear(of)?;
        let (from, hit) = if is_recording() || !of.device().is_cpu() {
            last_writers(&picked, n)?
        } else {
            let (from, hit) = known_writers(&picked.to_vec::<i64>()?, n, self.axes[0])?;
            // What is made of data lies on the default device.
            (from.to(of.device())?, hit.to(of.device())?)
        };
        let mut column = vec![1isize; rows.rank()];
        column[0] = n as isize;
        let new = Tensor::where_(&hit.reshape(&column)?, value.index_select(0, &from)?, &rows)?;
        // The rows back to the shape and order of `of`.
        let order = self.order(of);
        let shape = of.shape();
        let split: Vec<isize> = order.iter().map(|&a| shape[a as usize] as isize).collect();
        let mut inverse = vec![0isize; order.len()];
        for (i, &a) in order.iter().enumerate() {
            inverse[a as usize] = i as isize;
        }
        new.reshape(&split)?.permute(&inverse).map(Some)
    }
}

/// For each of `n` rows, the last of the values that are written to it (0 where there is none), and whether there is one.
/// `picked` says which row each value goes to.
fn known_writers(picked: &[i64], n: usize, axis: usize) -> Result<(Tensor, Tensor)> {
    let (mut from, mut hit) = (vec![0i64; n], vec![false; n]);
    for (i, &at) in picked.iter().enumerate() {
        let Some(row) = usize::try_from(at).ok().filter(|&at| at < n) else {
            return Err(error(ErrorKind::Index { index: at, axis, size: n }));
        };
        (from[row], hit[row]) = (i as i64, true);
    }
    Ok((Tensor::from_vec(from, &[n])?, Tensor::from_vec(hit, &[n])?))
}

/// As `known_writers`, where the device knows the rows: nothing is read on the host, so that `jit` can record it. A search by
/// halves: in each round a row keeps the upper half of its values if there is one in it.
fn last_writers(picked: &Tensor, n: usize) -> Result<(Tensor, Tensor)> {
    let count = picked.numel();
    // The values are counted in 32 bits where those hold their number.
    let dtype = if i32::try_from(count).is_ok() { DType::I32 } else { DType::I64 };
    let zeros = Tensor::zeros(&[n], dtype)?.to(picked.device())?;
    let has = |which: &Tensor| zeros.scatter_add(0, picked, which)?.try_ne(0i64);
    let hit = has(&picked.ones_like().to_dtype(dtype))?;
    let order = Tensor::from_node(Node::ramp(Shape::of(&[count]), picked.device())).to_dtype(dtype);
    let mut last = zeros.clone();
    for bit in (0..usize::BITS - (count - 1).leading_zeros()).rev() {
        let higher = last.try_add(1i64 << bit)?;
        let is_in_it = higher.index_select(0, picked)?.try_le(&order)?.to_dtype(dtype);
        last = Tensor::where_(&has(&is_in_it)?, higher, &last)?;
    }
    Ok((last.to_dtype(DType::I64), hit))
}

/// A number that is written into a tensor, in the tensor's dtype: an operation, so that recordings take it for the same number.
fn written(number: Operand, t: &Tensor) -> Result<Tensor> {
    let (dtype, device) = (t.dtype(), t.device());
    let zero = |dtype| Tensor::zeros(&[], dtype)?.to(device);
    match number {
        Operand::Tensor(v) => Ok(v.to_dtype(dtype)),
        Operand::Int(n) if dtype.is_int() => Ok(zero(dtype)?.try_add(n)?.to_dtype(dtype)),
        Operand::Int(n) if dtype.is_bool() => Ok(zero(DType::I64)?.try_add(n)?.to_dtype(dtype)),
        other @ (Operand::Int(_) | Operand::Float(_) | Operand::Bool(_) | Operand::Live(_)) => {
            Ok(constant(other, t)?.to_dtype(dtype))
        }
    }
}

/// For `t[mask] = value`, with the mask's first axis at `axis`: mask and value as `where` takes them. `None` where the value has
/// an element for each that the mask picks, whose number only the host can tell.
fn masked_value(t: &Tensor, axis: usize, mask: &Tensor, value: &Operand) -> Result<Option<(Tensor, Tensor)>> {
    let shape = t.shape();
    let (rank, masked) = (shape.rank(), mask.rank());
    if shape.get(axis..axis + masked) != Some(&mask.shape()[..]) || masked == 0 {
        let text = format!("a mask of shape {} at axis {axis} of shape {shape}", mask.shape());
        return Err(error(ErrorKind::Shape(text)));
    }
    let mut wide = vec![1isize; rank];
    for (size, &n) in wide[axis..].iter_mut().zip(mask.shape().iter()) {
        *size = n as isize;
    }
    let mask = mask.to(t.device())?.reshape(&wide)?;
    let value = written(value.clone(), t)?;
    // What is picked has one axis in place of those of the mask.
    let behind = rank - axis - masked;
    let mut sizes = signed(&value.shape());
    if value.numel() == 1 {
        sizes.clear();
    } else if sizes.len() > behind {
        let at = sizes.len() - 1 - behind;
        if sizes[at] != 1 {
            return Ok(None);
        }
        sizes.splice(at..=at, std::iter::repeat_n(1, masked));
    }
    Ok(Some((mask, value.reshape(&sizes)?)))
}

#[pymethods]
impl PyTensor {
    /// Rows (or what lies along `dim`) by their indices, i64 or i32 with one axis. IndexError for one outside of the axis.
    fn index_select(&self, py: Python<'_>, dim: isize, index: &Bound<'_, PyTensor>) -> PyResult<PyTensor> {
        let index = &index.get().t;
        self.unary(py, |t| {
            let axis = mg_device::normalize_axis(dim, t.rank().max(1))?;
            t.index_select(dim, &checked("index_select", index, axis, t)?)
        })
    }

    /// `out[…, j, …] = self[…, index[…, j, …], …]` along an axis, for an index of i64 or i32 that is nowhere else longer than
    /// the tensor. IndexError for an index outside of the axis.
    fn gather(&self, py: Python<'_>, dim: isize, index: &Bound<'_, PyTensor>) -> PyResult<PyTensor> {
        let index = &index.get().t;
        self.unary(py, |t| {
            let axis = mg_device::normalize_axis(dim, t.rank())?;
            let index = checked("gather", index, axis, t)?;
            let (shape, wanted) = (t.shape(), index.shape());
            let mut part = t.clone();
            if shape.rank() == wanted.rank() {
                for (a, (&n, &m)) in shape.iter().zip(wanted.iter()).enumerate() {
                    if a != axis && m < n {
                        part = part.narrow(a as isize, 0, m)?;
                    }
                }
            }
            part.gather(dim, &index)
        })
    }

    /// `src` added at `index` (i64 or i32) along an axis. IndexError for an index outside of the axis.
    fn scatter_add(
        &self,
        py: Python<'_>,
        dim: isize,
        index: &Bound<'_, PyTensor>,
        src: &Bound<'_, PyTensor>,
    ) -> PyResult<PyTensor> {
        let (index, src) = (&index.get().t, &src.get().t);
        self.unary(py, |t| {
            let axis = mg_device::normalize_axis(dim, t.rank())?;
            if src.dtype() != t.dtype() {
                let text = format!("adds values of {} to {}", src.dtype(), t.dtype());
                return Err(Error::new("scatter_add", ErrorKind::DType(text)));
            }
            t.scatter_add(dim, &checked("scatter_add", index, axis, t)?, src)
        })
    }

    /// The elements where a mask holds, in one axis. Tensor and mask broadcast.
    fn masked_select(&self, py: Python<'_>, mask: &Bound<'_, PyTensor>) -> PyResult<PyTensor> {
        let mask = &mask.get().t;
        let (t, mask) = build(py, || {
            check_mask("masked_select", mask)?;
            let (a, b) = (self.t.shape(), mask.shape());
            let shape = Shape::broadcast(&a, &b).ok_or_else(|| {
                let text = format!("shapes {a} and {b} do not broadcast");
                Error::new("masked_select", ErrorKind::Shape(text))
            })?;
            // A mask has an axis.
            let wide = signed(&shape);
            let sizes = if wide.is_empty() { vec![1] } else { wide.clone() };
            Ok((self.t.expand(&wide)?.reshape(&sizes)?, mask.expand(&wide)?.reshape(&sizes)?))
        })?;
        let t = Picks(vec![Pick { axis: 0, index: mask }]).get(py, &t)?;
        PyTensor::result(py, t, self.borrowed)
    }

    /// The tensor with `value` where a mask of truth values holds, which broadcasts.
    fn masked_fill(
        &self,
        py: Python<'_>,
        mask: &Bound<'_, PyTensor>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<PyTensor> {
        let mask = &mask.get().t;
        let value = crate::arith::other(value)?;
        self.binary(py, value, |t, v| {
            check_mask("masked_fill", mask)?;
            Tensor::where_(mask, constant(v, t)?.to_dtype(t.dtype()), t)
        })
    }

    /// The positions of what is not zero: a row each. With `as_tuple`, a tensor for each axis.
    #[pyo3(signature = (*, as_tuple=false))]
    fn nonzero<'py>(&self, py: Python<'py>, as_tuple: bool) -> PyResult<Bound<'py, PyAny>> {
        let axes = compute(py, || {
            let found = nonzero(&self.t.try_ne(0i64)?)?;
            found
                .into_iter()
                .map(|v| {
                    let n = v.len();
                    Tensor::from_vec(v, &[n])?.to(self.t.device())
                })
                .collect::<Result<Vec<_>>>()
        })?;
        if as_tuple {
            let all = axes.into_iter().map(PyTensor::from).map(|t| Bound::new(py, t));
            return Ok(pyo3::types::PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)?.into_any());
        }
        let stacked = build(py, || match &axes[..] {
            [] => Tensor::from_vec(
                Vec::<i64>::new(),
                &[usize::from(self.t.to_f64_vec()?.iter().any(|&v| v != 0.0)), 0],
            ),
            axes => Tensor::stack(&axes.iter().collect::<Vec<_>>(), 1),
        })?;
        Ok(Bound::new(py, PyTensor::from(stacked))?.into_any())
    }
}
