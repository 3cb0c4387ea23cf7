//! Indexing by several things at once, as NumPy and PyTorch have it: positions, slices, new axes, and tensors of integers or truth
//! values, composed of views, gathers and choices.

use crate::caller::public;
use crate::checks::{Found, known_indices};
use crate::operations::{bounds, signed};
use crate::ops::Operand;
use crate::parts::{filled, room};
use crate::tensor::{Tensor, in_place};
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, form, is_recording};
use mg_kernels::library::{Compact, Put};
use mg_kernels::{ReduceKind, Rules};

/// One of the things that an index is made of: what stands between the commas of Python's `x[…]`.
#[derive(Clone)]
pub enum Index {
    /// A position along an axis, which goes; negative ones count from the end.
    At(isize),
    /// Positions along an axis; see [`Tensor::slice`].
    Slice {
        /// The first one.
        start: Option<isize>,
        /// The one before which they end.
        end: Option<isize>,
        /// The distance.
        step: isize,
    },
    /// A new axis of size 1.
    NewAxis,
    /// What a plain truth value selects: an index as tensors are, of one position of a new axis or none.
    Truth(bool),
    /// All axes that nothing else is said of: `...`.
    Rest,
    /// Integers, for one axis, or truth values, for as many axes as they have. Bytes (u8) are truth values, as in PyTorch.
    Tensor(Tensor),
}

impl From<isize> for Index {
    fn from(at: isize) -> Index {
        Index::At(at)
    }
}
impl From<&Tensor> for Index {
    fn from(index: &Tensor) -> Index {
        Index::Tensor(index.clone())
    }
}
impl From<std::ops::RangeFull> for Index {
    fn from(_: std::ops::RangeFull) -> Index {
        Index::Slice { start: None, end: None, step: 1 }
    }
}
impl From<std::ops::Range<isize>> for Index {
    fn from(range: std::ops::Range<isize>) -> Index {
        Index::Slice { start: Some(range.start), end: Some(range.end), step: 1 }
    }
}
impl From<std::ops::RangeFrom<isize>> for Index {
    fn from(range: std::ops::RangeFrom<isize>) -> Index {
        Index::Slice { start: Some(range.start), end: None, step: 1 }
    }
}
impl From<std::ops::RangeTo<isize>> for Index {
    fn from(range: std::ops::RangeTo<isize>) -> Index {
        Index::Slice { start: None, end: Some(range.end), step: 1 }
    }
}

impl Index {
    /// How many axes it takes.
    pub fn axes(&self) -> usize {
        match self {
            Index::At(_) | Index::Slice { .. } => 1,
            Index::NewAxis | Index::Truth(_) | Index::Rest => 0,
            Index::Tensor(t) if t.is_bool() || self.is_of_bytes() => t.rank(),
            Index::Tensor(_) => 1,
        }
    }

    /// Whether it is what PyTorch's masks were made of before there were truth values, and still are.
    fn is_of_bytes(&self) -> bool {
        matches!(self, Index::Tensor(t) if t.dtype() == DType::U8)
    }

    /// The same with truth values for bytes.
    fn of_truths(&self) -> Index {
        match self {
            Index::Tensor(t) if self.is_of_bytes() => Index::Tensor(t.to_dtype(DType::Bool)),
            other => other.clone(),
        }
    }
}

/// What an index selects of a tensor: a view, and what tensors pick of that.
pub struct Selection {
    view: Tensor,
    picks: Vec<Pick>,
}

/// A tensor that stands as an index, at an axis.
struct Pick {
    axis: usize,
    index: Tensor,
}

/// What tensors pick: for each axis in `axes` (ascending), the positions, broadcast to one shape.
struct Plan {
    axes: Vec<usize>,
    indices: Vec<Tensor>,
    shape: Shape,
}

fn error(kind: ErrorKind) -> Error {
    Error::new("index", kind)
}

/// Positions of what holds in a mask, for each of its axes; where the mask is.
pub(crate) fn found(mask: &Tensor) -> Result<Vec<Tensor>> {
    if !mask.device().is_cpu() && mask.rank() > 0 && mask.numel() > 0 {
        return found_there(mask);
    }
    let tensor = |at: Vec<i64>| {
        let n = at.len();
        Tensor::from_vec(at, &[n])?.to(mask.device())
    };
    found_here(mask)?.into_iter().map(tensor).collect()
}

/// As [`found`], without bringing the mask to the host: what holds is counted by tiles, and each tile then knows where its positions
/// begin. How many there are is all that is looked at.
fn found_there(mask: &Tensor) -> Result<Vec<Tensor>> {
    let shape = mask.shape();
    let line = mask.node().reshape(Shape::of(&[shape.numel()]))?;
    let mut at = Tensor::from_node(found_in(&line, false)?);
    let mut found = vec![];
    for axis in (0..shape.rank()).rev() {
        if axis == 0 {
            found.push(at.clone());
        } else {
            found.push(at.try_remainder(shape[axis] as i64)?);
            at = at.try_floor_divide(shape[axis] as i64)?;
        }
    }
    found.reverse();
    Ok(found)
}

/// The positions of what holds in a line, found where it lies; with `first` of all positions but 0, which is found in any case. How many there
/// are is looked at.
pub(crate) fn found_in(line: &Node, first: bool) -> Result<Node> {
    let ends = held(line)?;
    // Both are wanted: what was only counted would be computed again.
    mg_graph::realize(&[line, &ends.node()])?;
    let holds = usize::try_from(ends.select(0, -1)?.item::<i64>()?).unwrap_or(0);
    let compact = Compact { found: holds + usize::from(first), first };
    Node::library(compact.into(), &[line, &ends.node()])
}

/// How many truth values of a line hold up to the end of each of its tiles.
pub(crate) fn held(line: &Node) -> Result<Tensor> {
    const TILE: usize = Compact::TILE;
    let numel = line.shape().numel();
    // Of a tile they fit any number; smaller ones take fewer instructions.
    let number = line.cast(DType::I32);
    let whole = numel / TILE * TILE;
    let mut counts = vec![];
    if whole > 0 {
        let tiles = number.slice(0, 0, 1, whole)?.reshape(Shape::of(&[whole / TILE, TILE]))?;
        counts.push(tiles.reduce(ReduceKind::Sum, 2, false)?);
    }
    if whole < numel {
        let rest = number.slice(0, whole, 1, numel - whole)?;
        counts.push(rest.reduce(ReduceKind::Sum, 1, false)?.reshape(Shape::of(&[1]))?);
    }
    let counts = match &counts[..] {
        [one] => one.clone(),
        all => Node::concat(&all.iter().collect::<Vec<_>>(), 0)?,
    };
    Tensor::from_node(counts.cast(DType::I64)).try_cumsum(0, None)
}

/// As [`found`], of a mask that is brought to the host.
fn found_here(mask: &Tensor) -> Result<Vec<Vec<i64>>> {
    let shape = mask.shape();
    let holds = mask.to_vec::<bool>()?;
    let count = holds.iter().filter(|&&holds| holds).count();
    let Some(last) = shape.rank().checked_sub(1) else { return Ok(vec![]) };
    let mut found: Vec<Vec<i64>> = vec![];
    for _ in 0..last {
        found.push(room("index", count)?);
    }
    // One place more: each position is written, and the next one over it where nothing was found.
    let mut along = filled("index", count + 1, 0i64)?;
    let mut n = 0;
    for (row, holds) in holds.chunks(shape[last].max(1)).enumerate() {
        for (at, &holds) in holds.iter().enumerate() {
            along[n] = at as i64;
            n += usize::from(holds);
        }
        let mut row = row;
        for (axis, found) in found.iter_mut().enumerate().rev() {
            found.resize(n, (row % shape[axis]) as i64);
            row /= shape[axis];
        }
    }
    along.truncate(count);
    found.push(along);
    Ok(found)
}

/// Integers as positions along an axis of `n`: negative ones count from the end. What is known already is checked at
/// once, the rest when it is computed.
pub(crate) fn positions(index: &Tensor, of: &Tensor, axis: usize, n: usize) -> Result<Tensor> {
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
    // What is too small stays as it is, and is told so.
    let is_counted = index.try_lt(0i64)?.try_logical_and(&index.try_ge(-(n as i64))?)?;
    Tensor::where_(&is_counted, index.try_add(n as i64)?, &index)
}

/// Computes an index of nothing: what is picked with it has no elements, so nobody would compute it and find it out of range.
#[track_caller]
pub(crate) fn told_now(index: &Tensor) -> Result<()> {
    if !is_recording() {
        index.realize()?;
    }
    Ok(())
}

impl Tensor {
    /// What an index selects, to be looked at or written to.
    ///
    /// # Errors
    ///
    /// More axes than there are, two `...`; a position or slice that [`Tensor::select`] or [`Tensor::slice`] refuses.
    #[track_caller]
    pub fn selection(&self, index: &[Index]) -> Result<Selection> {
        public("index", || {
            let masks: Vec<Index>;
            let index = match index.iter().any(Index::is_of_bytes) {
                false => index,
                true => {
                    masks = index.iter().map(Index::of_truths).collect();
                    &masks
                }
            };
            let rank = self.rank();
            let taken: usize = index.iter().map(Index::axes).sum();
            if taken > rank {
                let text = format!("{taken} indices for a tensor of {rank} axes");
                return Err(error(ErrorKind::Indices(text)));
            }
            // A second `...` stands for nothing where nothing is behind it.
            let mut index = index;
            let mut rests = index.iter().filter(|i| matches!(i, Index::Rest)).count();
            while let [before @ .., Index::Rest] = index
                && rests > 1
            {
                (index, rests) = (before, rests - 1);
            }
            if rests > 1 {
                return Err(error(ErrorKind::Indices(
                    "an index can have one ... only, but at its end".into(),
                )));
            }
            // The axis of what is selected so far, and of this tensor.
            let (mut t, mut axis, mut own, mut picks) = (self.clone(), 0usize, 0usize, vec![]);
            for item in index {
                match item {
                    Index::Truth(truth) => {
                        t = t.unsqueeze(axis as isize)?;
                        let places = Node::scalar_bits(0, DType::I64, t.device(), false);
                        let places = places.expand(Shape::of(&[usize::from(*truth)]))?;
                        picks.push(Pick { axis, index: Tensor::from_node(places) });
                        axis += 1;
                    }
                    Index::At(at) => {
                        form("index.SelectBackward0");
                        t = t.selected(axis, *at, own)?;
                    }
                    Index::Slice { start, end, step } => {
                        let size = t.shape()[axis];
                        let (from, n) = bounds(size, *start, *end, *step)?;
                        // Beside others, what takes all is no step.
                        if index.len() == 1 || n != size || *step != 1 {
                            form("index.SliceBackward0");
                            t = t.sliced(axis, from, *step, n)?;
                        }
                        axis += 1;
                    }
                    Index::NewAxis => {
                        form("index.UnsqueezeBackward0");
                        t = t.unsqueeze(axis as isize)?;
                        axis += 1;
                    }
                    Index::Rest => axis += rank - taken,
                    // A mask without axes is one of a new axis of size 1.
                    Index::Tensor(index) if index.is_bool() && index.rank() == 0 => {
                        t = t.unsqueeze(axis as isize)?;
                        picks.push(Pick { axis, index: index.reshape(&[1])? });
                        axis += 1;
                    }
                    Index::Tensor(index) => {
                        picks.push(Pick { axis, index: index.clone() });
                        axis += item.axes();
                    }
                }
                own += if let Index::Rest = item { rank - taken } else { item.axes() };
            }
            // All of it is a view too.
            let view = match t.is(self) {
                true => {
                    let is_slice = matches!(index, [Index::Slice { .. }]);
                    form(if is_slice { "index.SliceBackward0" } else { "index.AliasBackward0" });
                    t.permuted(&(0..t.rank()).collect::<Vec<_>>())?
                }
                false => t,
            };
            Ok(Selection { view, picks })
        })
    }

    /// The elements that an index selects: a view where nothing but positions, slices and new axes are in it, else a copy.
    ///
    /// ```
    /// use mg_autograd::{Index, Tensor};
    ///
    /// let x = Tensor::arange(12).reshape(&[3, 4])?;
    /// let rows = Tensor::from_slice(&[2i64, 0]);
    /// let picked = x.index(&[Index::from(&rows), Index::from(1..)])?;
    /// assert_eq!(picked.to_vec::<i64>()?, [9, 10, 11, 1, 2, 3]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Tensor::selection`]; indices that do not broadcast, a mask of another shape than its axes'. An index out of range that is
    /// not known yet is found when the value is computed.
    #[track_caller]
    pub fn index(&self, index: &[Index]) -> Result<Tensor> {
        public("index", || self.selection(index)?.get())
    }

    /// Writes into the elements that an index selects; `value` broadcasts. Where one is selected more than once the last value stays.
    ///
    /// # Errors
    ///
    /// As [`Tensor::index`] and [`Tensor::assign`].
    #[track_caller]
    pub fn set_index(&self, index: &[Index], value: impl Into<Operand>) -> Result<()> {
        let value = value.into();
        public("index", || self.selection(index)?.set(value))
    }
}

impl Selection {
    /// Whether it is a view and nothing else.
    pub fn is_view(&self) -> bool {
        self.picks.is_empty()
    }

    /// Whether looking at it computes: which elements a mask picks, or whether there is what is picked of nothing.
    pub fn reads(&self) -> bool {
        !self.is_view() && self.view.numel() == 0 || self.picks.iter().any(|pick| pick.index.is_bool())
    }

    /// What is selected.
    ///
    /// # Errors
    ///
    /// As [`Tensor::index`].
    #[track_caller]
    pub fn get(&self) -> Result<Tensor> {
        public("index", || {
            if self.is_view() {
                return Ok(self.view.clone());
            }
            form("index.IndexBackward0");
            if let Some(picked) = self.picked_at_once()? {
                return Ok(picked);
            }
            let plan = self.plan()?;
            let rows = plan.rows(&self.view)?.index_select(0, &plan.linear(&self.view)?)?;
            let picked = plan.unfold(&self.view, &rows)?;
            // A tensor of its own, which lies as it is seen.
            let own = picked.contiguous()?;
            // No view of what nobody else knows: views of it are made of this one.
            Ok(if own.layout().is_some() { Tensor::from_node(own.node()) } else { own })
        })
    }

    /// What integers pick of one axis, where it is not known whether some of them are negative: one launch, which finds out.
    fn picked_at_once(&self) -> Result<Option<Tensor>> {
        let of = &self.view;
        let [Pick { axis, index }] = &self.picks[..] else { return Ok(None) };
        let (axis, shape, at) = (*axis, of.shape(), index.shape());
        let known = index.device().is_cpu() || index.device() != of.device();
        if known || !index.dtype().is_int() || of.numel() == 0 || at.numel() == 0 {
            return Ok(None);
        }
        // Their gradients are added by rows, for which the index has to be known as it is for one row.
        if crate::is_grad_enabled() && of.node().is_tracked() {
            return Ok(None);
        }
        let mut sizes = shape[..axis].to_vec();
        sizes.extend(at.iter().chain(&shape[axis + 1..]));
        let wide = Shape::new(&shape.with(axis, at.numel()))?;
        let line = Shape::of(&[1; mg_device::MAX_RANK][..shape.rank()]).with(axis, at.numel());
        let places = index.node().cast(DType::I64).reshape(line)?.expand(wide)?;
        let picked = of.node().gather_from_both_ends(axis, &places)?;
        Ok(Some(Tensor::from_node(picked.reshape(Shape::new(&sizes)?)?)))
    }

    /// Writes into what is selected.
    ///
    /// # Errors
    ///
    /// As [`Tensor::set_index`].
    #[track_caller]
    pub fn set(&self, value: impl Into<Operand>) -> Result<()> {
        let value = value.into();
        public("index", || {
            in_place(|| {
                let t = &self.view;
                if self.is_view() {
                    return t.assign(without_leading_ones(value, t.rank())?);
                }
                form(match (&self.picks[..], &value) {
                    (_, Operand::Tensor(_)) => "index.IndexPutBackward0",
                    ([Pick { index, .. }], _) if index.is_bool() => "index.MaskedFillBackward0",
                    ([_], _) => "index.IndexFillBackward0",
                    _ => "index.IndexPutBackward0",
                });
                let value = without_leading_ones(value, 0)?;
                if let Some(new) = self.chosen(&value)? {
                    return t.assign(new);
                }
                let (plan, value) = (self.plan()?, written(value, t)?);
                if plan.write_at_once(t, &value)? {
                    return Ok(());
                }
                t.check_writable()?;
                if !t.is_on_memory_of_others() {
                    let (all, from) = t.all_of_memory();
                    if let Some(new) = plan.put(&all, from, t, &value)? {
                        drop(all);
                        return t.write_all(new);
                    }
                }
                match plan.replaced(t, &value)? {
                    Some(new) => t.assign(new),
                    // What requires a gradient makes the tensor require one all the same, as in PyTorch.
                    None => t.narrow(0, 0, 0)?.assign(value.sum()),
                }
            })
        })
    }

    /// The view with `value` where a mask picks, if that is all that picks and each place can tell its value.
    fn chosen(&self, value: &Operand) -> Result<Option<Tensor>> {
        if let [Pick { axis, index }] = &self.picks[..]
            && index.is_bool()
            && let Some((mask, value)) = masked_value(&self.view, *axis, index, value)?
        {
            return Tensor::where_(&mask, value, &self.view).map(Some);
        }
        Ok(None)
    }

    /// `of`, which is what is picked of, with `values` where the selection picks, or added there.
    fn with(&self, of: &Tensor, values: &Tensor, accumulate: bool) -> Result<Tensor> {
        if accumulate {
            return self.plan()?.added(of, values);
        }
        if let Some(new) = self.chosen(&Operand::Tensor(values.clone()))? {
            return Ok(new);
        }
        let plan = self.plan()?;
        if let Some(new) = plan.put(&of.node(), 0, of, values)? {
            return Ok(Tensor::from_node(new));
        }
        Ok(plan.replaced(of, values)?.unwrap_or_else(|| of.copy()))
    }

    fn plan(&self) -> Result<Plan> {
        let of = &self.view;
        let shape = of.shape();
        let mut plan = Plan { axes: vec![], indices: vec![], shape: Shape::scalar() };
        for Pick { axis, index } in &self.picks {
            if !index.is_bool() {
                plan.axes.push(*axis);
                plan.indices.push(positions(index, of, *axis, shape[*axis])?);
                continue;
            }
            let masked = shape.get(*axis..*axis + index.rank()).unwrap_or(&[]);
            if *masked != *index.shape() {
                let text = format!("a mask of shape {} for axes of sizes {masked:?}", index.shape());
                return Err(error(ErrorKind::Indices(text)));
            }
            for (i, found) in found(index)?.into_iter().enumerate() {
                plan.axes.push(*axis + i);
                plan.indices.push(found.to(of.device())?);
            }
        }
        for index in &plan.indices {
            let (a, b) = (plan.shape, index.shape());
            plan.shape = Shape::broadcast(&a, &b).ok_or_else(|| {
                error(ErrorKind::Indices(format!("indices of shapes {a} and {b} do not broadcast")))
            })?;
        }
        let wide = signed(&plan.shape);
        for index in &mut plan.indices {
            *index = index.expand(&wide)?;
        }
        Ok(plan)
    }
}

/// A value that is written to something of `rank` axes: more in front, of size 1, are none.
fn without_leading_ones(value: Operand, rank: usize) -> Result<Operand> {
    let Operand::Tensor(value) = value else { return Ok(value) };
    let shape = value.shape();
    let more = shape.rank().saturating_sub(rank);
    let more = shape[..more].iter().take_while(|&&n| n == 1).count();
    if more == 0 {
        return Ok(Operand::Tensor(value));
    }
    value.reshape(&signed(&shape[more..])).map(Operand::Tensor)
}

/// `base` with `values` written to what tensors pick of its first axes, or added to it: PyTorch's `index_put`.
pub(crate) fn put(base: &Tensor, indices: &[Tensor], values: &Tensor, accumulate: bool) -> Result<Tensor> {
    let items: Vec<Index> = indices.iter().map(Index::from).collect();
    let selection = base.selection(&items)?;
    if selection.is_view() {
        return Err(error(ErrorKind::Value("takes at least one index".into())));
    }
    let values = values.to_dtype(base.dtype());
    if selection.view.rank() == base.rank() {
        return selection.with(base, &values, accumulate);
    }
    // A mask without axes picks of an axis of size 1 that it adds.
    selection.with(&selection.view, &values, accumulate)?.reshape(&signed(&base.shape()))
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
            // Once added up, a position beyond one axis could not be told from a good one, nor what it was.
            let checked = match self.axes.len() {
                1 => index.clone(),
                _ => Tensor::from_node(index.node().guard(axis, shape[axis])),
            };
            out = Some(match out {
                None => checked,
                Some(before) => before.try_mul(shape[axis] as i64)?.try_add(checked)?,
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
        // A row takes a microsecond or two, in which ten kilobytes of the whole are copied, or many rows written together.
        if count == 0 || count > FEW || count.saturating_mul(10_000) > bytes || is_recording() {
            return Ok(false);
        }
        if value.requires_grad() || !of.is_written_at_once() {
            return Ok(false);
        }
        let shape = of.shape();
        let one = (value.rank() == 0).then(|| value.clone());
        let value = self.fold(of, value)?;
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

    /// From the result's shape, to which the values broadcast, to what is written to each position, one after the other in the
    /// first axis.
    fn fold(&self, of: &Tensor, value: &Tensor) -> Result<Tensor> {
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

    /// Rows back to the shape and order of `of`.
    fn restored(&self, of: &Tensor, rows: &Tensor) -> Result<Tensor> {
        let order = self.order(of);
        let shape = of.shape();
        let split: Vec<isize> = order.iter().map(|&a| shape[a as usize] as isize).collect();
        let mut inverse = vec![0isize; order.len()];
        for (i, &a) in order.iter().enumerate() {
            inverse[a as usize] = i as isize;
        }
        rows.reshape(&split)?.permute(&inverse)
    }

    /// `all`, among whose elements those of `of` lie in their order from `from` on, with `value` written to what is picked, for what it
    /// costs to write that; `None` where it has to be done otherwise.
    fn put(&self, all: &Node, from: usize, of: &Tensor, value: &Tensor) -> Result<Option<Node>> {
        let shape = of.shape();
        let count = self.shape.numel();
        let (Some(&first), Some(&last)) = (self.axes.first(), self.axes.last()) else { return Ok(None) };
        let adjacent = last - first + 1 == self.axes.len();
        if !adjacent || count == 0 || shape.numel() == 0 {
            return Ok(None);
        }
        let (n, inner) =
            (shape[first..=last].iter().product::<usize>(), shape[last + 1..].iter().product::<usize>());
        let mut index = self.linear(of)?.node();
        let mut put = Put { n, inner };
        let numel = all.shape().numel();
        if numel != shape.numel() {
            // The places of a part are places of the whole.
            if n * inner != shape.numel() || !from.is_multiple_of(inner) || !numel.is_multiple_of(inner) {
                return Ok(None);
            }
            let shift = Node::scalar_bits((from / inner) as u64, DType::I64, index.device(), true);
            index = index.guard(first, n).add(&shift);
            put.n = numel / inner;
        }
        let value = match value.rank() {
            0 => value.clone(),
            _ => value.expand(&signed(&self.result(of)?)).map_err(|e| e.with_op("index"))?,
        };
        put_at(all, &index, &value.node(), put, first)
    }

    /// `of` with `value` written to what is picked; where a position occurs more than once, the last one stays. `None`
    /// where nothing is picked.
    fn replaced(&self, of: &Tensor, value: &Tensor) -> Result<Option<Tensor>> {
        let rows = self.rows(of)?;
        let (n, count) = (rows.shape()[0], self.shape.numel());
        let value = self.fold(of, value)?;
        if count == 0 {
            return Ok(None);
        }
        if n == 0 {
            return Err(error(ErrorKind::Index { index: 0, axis: self.axes[0], size: 0 }));
        }
        let (from, hit) = writers(&self.linear(of)?, n, self.axes[0])?;
        let mut column = vec![1isize; rows.rank()];
        column[0] = n as isize;
        let new = Tensor::where_(&hit.reshape(&column)?, value.index_select(0, &from)?, &rows)?;
        self.restored(of, &new).map(Some)
    }

    /// `of` with `value` added to what is picked, as often as it is.
    fn added(&self, of: &Tensor, value: &Tensor) -> Result<Tensor> {
        let rows = self.rows(of)?;
        let value = self.fold(of, value)?;
        let sum = rows.index_add(0, &self.linear(of)?, &value, 1i64)?;
        self.restored(of, &sum)
    }
}

/// `base`, seen as [`Put`] says, with `value` (in that order, or one element without axes) written at `index` (of one axis), for what it
/// costs to write that, if nobody wants the base any more; `None` where it has to be done by choosing: where gradients are recorded,
/// and for very many indices on CUDA.
pub(crate) fn put_at(base: &Node, index: &Node, value: &Node, put: Put, axis: usize) -> Result<Option<Node>> {
    let tracked = crate::is_grad_enabled() && (base.is_tracked() || value.is_tracked());
    let many = !base.device().is_cpu() && index.shape().numel() > Put::MOST_ON_CUDA;
    if tracked || many {
        return Ok(None);
    }
    // Should this write be refused, what was written before it is there: computed apart, its memory is free to be written to.
    if base.is_pending() && base.before().is_some() && !is_recording() {
        let _ = mg_graph::realize_quietly(&[base]);
    }
    let places = 0..put.n as i64;
    if !is_recording() && matches!(known_indices("index", index, places, None)?, Found::Inside { .. }) {
        return Node::library(put.into(), &[base, value, index]).map(Some);
    }
    base.put(value, index, put, axis).map(Some)
}

/// Rows that are written one by one.
const FEW: usize = 8;

/// For each of `n` rows, the last of the values that are written to it (0 where there is none), and whether there is one.
/// `picked` (of one axis, not empty) says which row each value goes to.
pub(crate) fn writers(picked: &Tensor, n: usize, axis: usize) -> Result<(Tensor, Tensor)> {
    if is_recording() || picked.node().is_traced() || !picked.device().is_cpu() {
        last_writers(picked, n)
    } else {
        let (from, hit) = known_writers(&picked.to_vec::<i64>()?, n, axis)?;
        // What is made of data lies on the default device.
        Ok((from.to(picked.device())?, hit.to(picked.device())?))
    }
}

fn known_writers(picked: &[i64], n: usize, axis: usize) -> Result<(Tensor, Tensor)> {
    let (mut from, mut hit) = (filled("index", n, 0i64)?, filled("index", n, false)?);
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
pub(crate) fn written(number: Operand, t: &Tensor) -> Result<Tensor> {
    let (dtype, device) = (t.dtype(), t.device());
    number.check_fits("write", dtype)?;
    let zero = |dtype| Tensor::zeros(&[], dtype)?.to(device);
    match number {
        Operand::Tensor(v) => Ok(v.to_dtype(dtype)),
        Operand::Int(n) if dtype.is_int() => Ok(zero(dtype)?.try_add(n)?.to_dtype(dtype)),
        Operand::Int(n) if dtype.is_bool() => Ok(zero(DType::I64)?.try_add(n)?.to_dtype(dtype)),
        // In f64, of which more are integers.
        number @ (Operand::Float(_) | Operand::Live(_)) if dtype.is_int() => {
            Ok(Tensor::from_node(number.on(DType::F64, device)).to_dtype(dtype))
        }
        other @ (Operand::Int(_) | Operand::Float(_) | Operand::Bool(_) | Operand::Live(_)) => {
            Ok(other.beside(t).to_dtype(dtype))
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
        return Err(error(ErrorKind::Indices(text)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_positions_are_those_that_are_looked_up() -> Result<()> {
        for shape in [&[7isize][..], &[3, 5], &[2, 3, 4], &[1, 1]] {
            let n: isize = shape.iter().product();
            for every in [1, 2, 3, 100] {
                let mask =
                    Tensor::arange(n as usize).try_remainder(every)?.try_eq(every - 1)?.reshape(shape)?;
                let there: Vec<Vec<i64>> =
                    found_there(&mask)?.iter().map(|t| t.to_vec::<i64>()).collect::<Result<_>>()?;
                assert_eq!(there, found_here(&mask)?, "{shape:?} {every}");
            }
        }
        Ok(())
    }
}
