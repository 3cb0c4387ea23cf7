//! Indexing by tensors, as PyTorch has it: integers and masks, composed of gathers and choices.

use mg_autograd::{Operand, Tensor};
use mg_device::{DType, Error, ErrorKind, Result, Shape};
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
    let index = index.to_dtype(DType::I64);
    let known = match index.node().value() {
        Some(Ok(value)) if value.buffer.device().is_cpu() => {
            let all = value.buffer.as_slice::<i64>()?;
            let size = n as i64;
            let mut negative = false;
            for at in value.layout.offsets() {
                if all[at] < -size || all[at] >= size {
                    return Err(error(ErrorKind::Index { index: all[at], axis, size: n }));
                }
                negative |= all[at] < 0;
            }
            Some(negative)
        }
        _ => None,
    };
    // Indices may lie on the host whatever they are an index of.
    let index = index.to(of.device())?;
    if known == Some(false) {
        return Ok(index);
    }
    Tensor::where_(&index.try_lt(0i64)?, index.try_add(n as i64)?, &index)
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
            let masked = &shape[*axis..*axis + index.rank()];
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
        let host_read = self.0.iter().any(|p| p.index.is_bool());
        let get = || {
            let plan = self.plan(of)?;
            plan.unfold(of, &plan.rows(of)?.index_select(0, &plan.linear(of)?)?)
        };
        if host_read { compute(py, get) } else { build(py, get) }
    }

    /// Writes into the elements picked from `of`.
    pub fn set(&self, py: Python<'_>, of: &PyTensor, value: Operand) -> PyResult<()> {
        if let [Pick { axis, index }] = &self.0[..]
            && index.is_bool()
            && !matches!(&value, Operand::Tensor(v) if v.numel() != 1)
        {
            return of.write(py, |t| {
                // Checks the mask's shape.
                let mut sizes = vec![1isize; t.rank()];
                for (i, &n) in index.shape().iter().enumerate() {
                    if t.shape()[axis + i] != n {
                        let text = format!("a mask of shape {} for shape {}", index.shape(), t.shape());
                        return Err(error(ErrorKind::Shape(text)));
                    }
                    sizes[axis + i] = n as isize;
                }
                let value = constant(value, t)?.reshape(&[])?.to_dtype(t.dtype());
                t.assign(Tensor::where_(&index.reshape(&sizes)?, value, t)?)
            });
        }
        let new = compute(py, || {
            let t = &of.t;
            let plan = self.plan(t)?;
            let value = constant(value, t)?.to_dtype(t.dtype());
            plan.replaced(t, &value)
        })?;
        match new {
            Some(new) => of.write(py, |t| t.assign(new)),
            None => Ok(()),
        }
    }
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

    /// `of` with `value` written to what is picked; where a position occurs more than once, the last one stays. `None`
    /// where nothing is picked.
    fn replaced(&self, of: &Tensor, value: &Tensor) -> Result<Option<Tensor>> {
        let value = value.expand(&signed(&self.result(of)?)).map_err(|e| e.with_op("index"))?;
        let rows = self.rows(of)?;
        let (n, picked) = (rows.shape()[0], self.linear(of)?.to_vec::<i64>()?);
        if picked.is_empty() {
            return Ok(None);
        }
        // The axes back in front, and merged.
        let mut inverse = vec![0isize; value.rank()];
        for (i, a) in self.to_place(of)?.into_iter().enumerate() {
            inverse[a as usize] = i as isize;
        }
        let mut sizes = vec![picked.len()];
        sizes.extend(rows.shape()[1..].iter());
        let value = value.permute(&inverse)?.reshape(&signed(&sizes))?;
        // For each row, which of the values it gets.
        let (mut from, mut hit) = (vec![0i64; n], vec![false; n]);
        for (i, &at) in picked.iter().enumerate() {
            let size = n;
            let row = usize::try_from(at).ok().filter(|&at| at < n);
            let Some(row) = row else {
                return Err(error(ErrorKind::Index { index: at, axis: self.axes[0], size }));
            };
            (from[row], hit[row]) = (i as i64, true);
        }
        let mut column = vec![1isize; rows.rank()];
        column[0] = n as isize;
        let hit = Tensor::from_vec(hit, &[n])?.to(of.device())?.reshape(&column)?;
        let new = Tensor::where_(
            &hit,
            value.index_select(0, &Tensor::from_vec(from, &[n])?.to(of.device())?)?,
            &rows,
        )?;
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

#[pymethods]
impl PyTensor {
    /// Rows (or what lies along `dim`) by their indices, integers with one axis.
    fn index_select(&self, py: Python<'_>, dim: isize, index: &Bound<'_, PyTensor>) -> PyResult<PyTensor> {
        let index = &index.get().t;
        self.unary(py, |t| {
            let axis = mg_device::normalize_axis(dim, t.rank())?;
            t.index_select(dim, &positions(index, t, axis)?)
        })
    }

    /// `out[…, j, …] = self[…, index[…, j, …], …]` along an axis.
    fn gather(&self, py: Python<'_>, dim: isize, index: &Bound<'_, PyTensor>) -> PyResult<PyTensor> {
        let index = &index.get().t;
        self.unary(py, |t| t.gather(dim, index))
    }

    /// `src` added at `index` along an axis.
    fn scatter_add(
        &self,
        py: Python<'_>,
        dim: isize,
        index: &Bound<'_, PyTensor>,
        src: &Bound<'_, PyTensor>,
    ) -> PyResult<PyTensor> {
        let (index, src) = (&index.get().t, &src.get().t);
        self.unary(py, |t| t.scatter_add(dim, index, src))
    }

    /// The elements where a mask of the same shape holds, in one axis.
    fn masked_select(&self, py: Python<'_>, mask: &Bound<'_, PyTensor>) -> PyResult<PyTensor> {
        let picks = Picks(vec![Pick { axis: 0, index: mask.get().t.clone() }]);
        let t = picks.get(py, &self.t)?;
        PyTensor::result(py, t, self.borrowed)
    }

    /// The tensor with `value` where the mask holds, which broadcasts.
    fn masked_fill(
        &self,
        py: Python<'_>,
        mask: &Bound<'_, PyTensor>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<PyTensor> {
        let mask = &mask.get().t;
        let value = crate::arith::other(value)?;
        self.binary(py, value, |t, v| Tensor::where_(mask, constant(v, t)?.to_dtype(t.dtype()), t))
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
