//! Indexing by tensors: what is picked by integers and masks, and what is written or added there.
//!
//! Sums are made by the kernel that adds in order. Where what is written last stays, a kernel writes it; where gradients are recorded it is
//! looked for which value that is, and the values are picked; products and extremes are made of pairs, level by level. So every result is the same each time.

use super::{axis_of, signed};
use crate::ops::Operand;
use crate::parts::{filled, room};
use crate::picks::{self, put_at, written};
use crate::tensor::Tensor;
use crate::tensor::memory::untracked;
use mg_device::{DType, Error, ErrorKind, Layout, Result, Shape};
use mg_graph::{Node, cell_bits_of_int, form};
use mg_kernels::library::{Extreme, Put};
use mg_kernels::{Algebra, Row, Rules};
use mg_macros::operations;

fn wrong_shape<T>(text: String) -> Result<T> {
    Err(Error::new("index", ErrorKind::Shape(text)))
}

fn wrong_value<T>(text: String) -> Result<T> {
    Err(Error::new("index", ErrorKind::Value(text)))
}

/// Refuses what is no mask.
fn check_mask(mask: &Tensor) -> Result<()> {
    if mask.is_bool() {
        return Ok(());
    }
    let text = format!("takes a mask of truth values, got {}", mask.dtype());
    Err(Error::new("mask", ErrorKind::DType(text)))
}

/// Refuses values of another dtype than the tensor's that they are written to.
fn check_dtype(src: &Tensor, of: &Node) -> Result<()> {
    if src.dtype() == of.dtype() {
        return Ok(());
    }
    let text = format!("takes values of {}, got {}", of.dtype(), src.dtype());
    Err(Error::new("index", ErrorKind::DType(text)))
}

/// Indices of any integer dtype as i64, none negative, along an axis of a shape; what is known already is checked at once.
fn checked(index: &Tensor, axis: usize, of: &Shape) -> Result<Node> {
    if of.numel() == 0 {
        picks::told_now(index)?;
    }
    index.check_indices("index", 0, axis, of[axis])?;
    Ok(index.node().cast(DType::I64))
}

/// A tensor's node with an axis at least.
fn lined(t: &Tensor) -> Result<Node> {
    let node = t.node();
    if node.shape().rank() == 0 { node.reshape(Shape::of(&[1])) } else { Ok(node) }
}

/// A number of a dtype as a node, on the device of another.
fn whole(value: i64, dtype: DType, like: &Node) -> Node {
    Node::scalar_bits(cell_bits_of_int(value, dtype), dtype, like.device(), true)
}

fn sum(a: &Node, b: &Node) -> Node {
    if a.dtype().is_bool() { Node::apply(Row::Or, &[a, b]) } else { a.add(b) }
}

/// None of a node's elements, in an empty shape: what has its history.
fn none_of(node: &Node, shape: Shape) -> Result<Node> {
    node.reshape(Shape::of(&[node.shape().numel()]))?.slice(0, 0, 1, 0)?.reshape(shape)
}

/// A copy of a node that has the history of values, too, of which none are written to it.
fn unwritten(node: &Node, values: &Node) -> Result<Node> {
    let line = Shape::of(&[node.shape().numel()]);
    let none = Layout::contiguous(Shape::of(&[0]));
    none_of(values, *none.shape())?.write_into(Some(&node.reshape(line)?), line, none)?.reshape(*node.shape())
}

/// Places of a tensor, one for each element of an index: the element's own position, but along an axis what the index says.
struct Places {
    axis: usize,
    index: Node,
    /// Of the tensor.
    shape: Shape,
}

impl Places {
    /// The tensor's node, and the places that an index names. Both have an axis at least, and as many.
    fn of(tensor: &Tensor, dim: isize, index: &Tensor) -> Result<(Node, Places)> {
        let (node, at) = (lined(tensor)?, lined(index)?);
        let (shape, wanted) = (*node.shape(), *at.shape());
        let axis = axis_of(dim, shape.rank())?;
        // Before the shapes: what is no index fits nowhere.
        let checked = checked(index, axis, &shape)?.reshape(wanted)?;
        let fits = wanted.numel() == 0
            || wanted.rank() == shape.rank() && (0..shape.rank()).all(|d| d == axis || wanted[d] <= shape[d]);
        if !fits {
            return wrong_shape(format!("index of shape {wanted} does not fit {shape} along axis {axis}"));
        }
        Ok((node, Places { axis, index: checked, shape }))
    }

    /// The index of one axis for all that lies along others: as long as `values` are there.
    fn along(node: &Node, dim: isize, index: &Tensor, values: &Shape) -> Result<Places> {
        let shape = *node.shape();
        let axis = axis_of(dim, shape.rank())?;
        let line = line(index, axis, &shape)?;
        let count = line.shape()[0];
        if *values != shape.with(axis, count) {
            return wrong_shape(format!(
                "values of shape {values} for {count} positions along axis {axis} of {shape}"
            ));
        }
        let own = Shape::of(&[1; mg_device::MAX_RANK][..shape.rank()]).with(axis, count);
        Ok(Places { axis, index: line.reshape(own)?.expand(*values)?, shape })
    }

    /// What lies there.
    fn gather(&self, node: &Node) -> Result<Node> {
        let wanted = *self.index.shape();
        if wanted.numel() == 0 {
            return none_of(node, wanted);
        }
        let mut part = node.clone();
        for axis in (0..wanted.rank()).filter(|&axis| axis != self.axis) {
            part = part.slice(axis, 0, 1, wanted[axis])?;
        }
        part.gather(self.axis, &self.index)
    }

    /// Zeros with values (of the index's shape) added there, in order. Truth values are counted: what is met twice is still 1.
    fn scatter(&self, values: &Node) -> Result<Node> {
        let dtype = values.dtype();
        if self.index.shape().numel() == 0 {
            return unwritten(&values.lit(0.0).expand(self.shape)?, values);
        }
        let counted = if dtype.is_bool() { values.cast(DType::I64) } else { values.clone() };
        let sums = counted.scatter_add(self.axis, &self.index, self.shape[self.axis])?.cast(dtype);
        if *sums.shape() == self.shape {
            return Ok(sums);
        }
        let dense = Layout::contiguous(self.shape);
        let region = Layout::new(*sums.shape(), dense.strides(), 0)?;
        sums.write_into(None, self.shape, region)
    }

    /// How often each place is met.
    fn counts(&self) -> Result<Node> {
        self.scatter(&whole(1, DType::I64, &self.index).expand(*self.index.shape())?)
    }

    /// Where any place is met, as bool.
    fn hit(&self) -> Result<Node> {
        Ok(self.counts()?.cast(DType::Bool))
    }

    /// The values that belong to the places, of the index's shape.
    fn values(&self, src: &Node) -> Result<Node> {
        let wanted = *self.index.shape();
        let has = *src.shape();
        let fits = wanted.numel() == 0
            || has.rank() == wanted.rank()
                && has.iter().zip(wanted.iter()).all(|(has, wanted)| wanted <= has);
        if !fits {
            return wrong_shape(format!("index of shape {wanted} for values of shape {has}"));
        }
        if wanted.numel() == 0 {
            return none_of(src, wanted);
        }
        (0..wanted.rank()).try_fold(src.clone(), |part, axis| part.slice(axis, 0, 1, wanted[axis]))
    }

    /// The places among all elements in row-major order, in one axis.
    fn flat(&self) -> Result<Node> {
        let wanted = *self.index.shape();
        let rank = wanted.rank();
        let dense = Layout::contiguous(self.shape);
        let size = self.shape[self.axis];
        let mut at = match rank {
            1 => self.index.clone(),
            // Once added up, a position beyond one axis could not be told from a good one.
            _ => self.index.guard(self.axis, size),
        };
        if dense.strides()[self.axis] != 1 {
            at = at.mul(&whole(dense.strides()[self.axis] as i64, DType::I64, &at));
        }
        for axis in (0..rank).filter(|&axis| axis != self.axis) {
            let line = Node::ramp(
                Shape::of(&[1; mg_device::MAX_RANK][..rank]).with(axis, wanted[axis]),
                at.device(),
            );
            at = at.add(&line.mul(&whole(dense.strides()[axis] as i64, DType::I64, &at)));
        }
        at.reshape(Shape::of(&[wanted.numel()]))
    }

    /// `node` with values (of the index's shape) in their places; where a place is met more than once, the last one stays.
    fn replace(&self, node: &Node, values: &Node) -> Result<Node> {
        let (count, numel) = (self.index.shape().numel(), self.shape.numel());
        if count == 0 || numel == 0 {
            return unwritten(node, values);
        }
        let flat = self.flat()?;
        if let Some(new) = put_at(node, &flat, values, Put { n: numel, inner: 1 }, self.axis)? {
            return Ok(new);
        }
        let (from, hit) = picks::writers(&Tensor::from_node(flat), numel, self.axis)?;
        let new = values.reshape(Shape::of(&[count]))?.gather(0, &from.node())?.reshape(self.shape)?;
        Ok(hit.node().reshape(self.shape)?.choose(&new, node))
    }

    /// `node` and values (of the index's shape) in their places, reduced; see `scatter_reduce`.
    fn reduce(&self, node: &Node, values: &Node, how: Reduce, include_self: bool) -> Result<Node> {
        if self.index.shape().numel() == 0 || self.shape.numel() == 0 {
            return unwritten(node, values);
        }
        match how {
            Reduce::Sum if include_self => Ok(sum(node, &self.scatter(values)?)),
            Reduce::Sum => Ok(self.hit()?.choose(&self.scatter(values)?, node)),
            Reduce::Mean => {
                let (sums, counts) = (self.scatter(values)?, self.counts()?);
                let none = whole(0, DType::I64, &counts);
                let one = whole(1, DType::I64, &counts);
                let is_hit = counts.cast(DType::Bool);
                let (sums, counts) = match include_self {
                    true => (node.add(&sums), counts.add(&one)),
                    false => (is_hit.choose(&sums, node), counts.eq(&none).choose(&one, &counts)),
                };
                match node.dtype().is_float() {
                    true => Ok(sums.div(&counts.cast(node.dtype()))),
                    false => {
                        let counts = Tensor::from_node(counts.cast(node.dtype()));
                        Ok(Tensor::from_node(sums).try_floor_divide(&counts)?.node())
                    }
                }
            }
            Reduce::Prod => {
                let row = if node.dtype().is_bool() { Row::And } else { Row::Mul };
                let (products, hit) = self.pairwise(values, row)?;
                let all = if include_self { Node::apply(row, &[node, &products]) } else { products };
                Ok(hit.choose(&all, node))
            }
            Reduce::Amax => self.extreme(node, values, false, include_self),
            Reduce::Amin => self.extreme(node, values, true, include_self),
        }
    }

    /// The extremes, whose gradient is shared evenly by all that are equal to them.
    fn extreme(&self, node: &Node, values: &Node, least: bool, include_self: bool) -> Result<Node> {
        let (own, given) = (untracked(node), untracked(values));
        let kernel = Extreme { axis: self.axis as u8, lead: 0, least, own: include_self };
        let found = Node::library(kernel.into(), &[&own, &given, &self.index])?;
        if !(mg_graph::is_tracking() && (node.is_tracked() || values.is_tracked())) {
            return Ok(found);
        }
        // What adds nothing to the value, and has the gradient: the differences of those that are equal to it. (That of infinities
        // would be NaN, and is left out.)
        let zero = node.lit(0.0);
        let nothing = |of: &Node, at: &Node, extreme: &Node| {
            let is_finite = extreme.sub(extreme).eq(&zero);
            let at = Node::apply(Row::And, &[at, &is_finite]);
            at.choose(of, &zero).sub(&at.choose(extreme, &zero))
        };
        let there = self.gather(&found)?;
        let equal = given.eq(&there);
        let mut is_own = own.eq(&found);
        if !include_self {
            let hit = self.hit()?;
            is_own = hit.choose(&whole(0, DType::Bool, &hit), &is_own);
        }
        let count = self.scatter(&equal.cast(DType::I64))?.add(&is_own.cast(DType::I64));
        let one = whole(1, DType::I64, &count);
        let count = Node::apply(Row::Maximum, &[&count, &one]).cast(node.dtype());
        let shares = self.scatter(&nothing(values, &equal, &there))?.add(&nothing(node, &is_own, &found));
        Ok(found.add(&shares.div(&count)))
    }

    /// The values that meet at each place, taken together in pairs, in pairs of these and so on; and where there are any.
    ///
    /// Which values meet is known on the host (a sort on the device would do too); the work on them is done where they are.
    fn pairwise(&self, values: &Node, row: Row) -> Result<(Node, Node)> {
        let (count, numel) = (self.index.shape().numel(), self.shape.numel());
        if self.index.is_traced() {
            return self.doubled(values, row);
        }
        mg_graph::needs_values();
        let flat = Tensor::from_node(self.flat()?).to_vec::<i64>()?;
        let device = values.device();
        let Meeting { order, mut lengths, slots, hit } = Meeting::of(&flat, numel, self.axis)?;
        let index = |at: Vec<i64>| -> Result<Node> {
            let n = at.len();
            Ok(Tensor::from_vec(at, &[n])?.to(device)?.node())
        };
        let mut line = values.reshape(Shape::of(&[count]))?.gather(0, &index(order)?)?;
        while lengths.iter().any(|&n| n > 1) {
            // The first of each pair, and the second: one that has none is met with nothing, which stands at the end.
            let nothing = line.shape()[0] as i64;
            let (mut first, mut second, mut start) = (vec![], vec![], 0i64);
            for n in &mut lengths {
                let half = n.div_ceil(2);
                for i in 0..half {
                    first.push(start + i as i64);
                    let other = start + (i + half) as i64;
                    second.push(match (i + half < *n, row) {
                        (true, _) => other,
                        // A truth value is met with itself.
                        (false, Row::And) => start + i as i64,
                        (false, _) => nothing,
                    });
                }
                start += *n as i64;
                *n = half;
            }
            let padded = Node::concat(&[&line, &line.lit(1.0).expand(Shape::of(&[1]))?], 0)?;
            let (a, b) = (padded.gather(0, &index(first)?)?, padded.gather(0, &index(second)?)?);
            line = Node::apply(row, &[&a, &b]);
        }
        let hit = Tensor::from_vec(hit, &[numel])?.to(device)?.node().reshape(self.shape)?;
        Ok((line.gather(0, &index(slots)?)?.reshape(self.shape)?, hit))
    }

    /// As [`Places::pairwise`], where nobody knows which values meet: in the order of their places, each is taken together with the one before
    /// it, if both belong to one place, then with the one two before it, four before it and so on (Hillis and Steele, "Data parallel
    /// algorithms", 1986).
    fn doubled(&self, values: &Node, row: Row) -> Result<(Node, Node)> {
        let (count, numel) = (self.index.shape().numel(), self.shape.numel());
        let flat = Tensor::from_node(self.flat()?);
        let (at, order) = flat.try_sort(0, false, true)?;
        let at = at.node();
        let mut line = values.reshape(Shape::of(&[count]))?.gather(0, &order.node())?;
        let mut step = 1;
        while step < count {
            let (before, behind) =
                (|x: &Node| x.slice(0, 0, 1, count - step), |x: &Node| x.slice(0, step, 1, count - step));
            let meet = behind(&at)?.eq(&before(&at)?);
            let taken = meet.choose(&Node::apply(row, &[&behind(&line)?, &before(&line)?]), &behind(&line)?);
            line = Node::concat(&[&line.slice(0, 0, 1, step)?, &taken], 0)?;
            step *= 2;
        }
        let (last, hit) = picks::writers(&Tensor::from_node(at), numel, self.axis)?;
        Ok((line.gather(0, &last.node())?.reshape(self.shape)?, hit.node().reshape(self.shape)?))
    }
}

/// Which values meet.
struct Meeting {
    /// The values by their places, those of one place in their order.
    order: Vec<i64>,
    /// How many there are at each place where there are any.
    lengths: Vec<usize>,
    /// For each place, which of those it is (0 where there is none).
    slots: Vec<i64>,
    /// Whether it is one of those.
    hit: Vec<bool>,
}

impl Meeting {
    fn of(flat: &[i64], numel: usize, axis: usize) -> Result<Meeting> {
        const OP: &str = "index";
        let mut counts = filled(OP, numel, 0usize)?;
        for &at in flat {
            let place = usize::try_from(at).ok().and_then(|at| counts.get_mut(at));
            let Some(place) = place else {
                return Err(Error::new(OP, ErrorKind::Index { index: at, axis, size: numel }));
            };
            *place += 1;
        }
        let (mut start, mut slot) = (0, 0);
        let (mut starts, mut slots, mut lengths) =
            (filled(OP, numel, 0usize)?, filled(OP, numel, 0i64)?, vec![]);
        for (place, &n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            (starts[place], slots[place]) = (start, slot);
            lengths.push(n);
            (start, slot) = (start + n, slot + 1);
        }
        let mut order = filled(OP, flat.len(), 0i64)?;
        for (i, &at) in flat.iter().enumerate() {
            let next = &mut starts[at as usize];
            order[*next] = i as i64;
            *next += 1;
        }
        let mut hit = room(OP, numel)?;
        hit.extend(counts.iter().map(|&n| n > 0));
        Ok(Meeting { order, lengths, slots, hit })
    }
}

/// How values at one place are taken together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reduce {
    Sum,
    Prod,
    Mean,
    Amax,
    Amin,
}

impl Reduce {
    fn of(word: &str, allowed: &[(&str, Reduce)]) -> Result<Reduce> {
        if let Some((_, found)) = allowed.iter().find(|(known, _)| *known == word) {
            return Ok(*found);
        }
        let words: Vec<_> = allowed.iter().map(|(known, _)| *known).collect();
        wrong_value(format!("reduce is one of {}, got {word:?}", words.join(", ")))
    }
}

/// Indices for one axis: a line of them.
fn line(index: &Tensor, axis: usize, of: &Shape) -> Result<Node> {
    if index.rank() > 1 {
        return wrong_shape(format!("takes indices with one axis, got shape {}", index.shape()));
    }
    let checked = checked(index, axis, of)?;
    checked.reshape(Shape::of(&[index.numel()]))
}

/// What is written at positions along an axis.
fn along(shape: &Shape, axis: usize) -> Put {
    Put { n: shape[axis], inner: shape[axis + 1..].iter().product() }
}

/// A line along one axis of as many as `rank`.
fn column(line: &Node, axis: usize, rank: usize) -> Result<Node> {
    line.reshape(Shape::of(&[1; mg_device::MAX_RANK][..rank]).with(axis, line.shape()[0]))
}

/// A result with the axes of the tensor that it is of.
fn shaped(of: &Tensor, node: Node) -> Result<Tensor> {
    Ok(Tensor::from_node(if of.rank() == 0 { node.reshape(Shape::scalar())? } else { node }))
}

#[operations(INDEXING, fallible)]
impl Tensor {
    /// What lies along an axis at some positions, by their indices (integers, in one axis).
    ///
    /// # Errors
    ///
    /// An axis out of range, indices that are no integers or have more axes, more than one for a tensor without axes. An index
    /// out of range is an error at once where it is known, else when the value is computed.
    pub fn index_select(&self, dim: isize, index: &Tensor) -> Result<Tensor> {
        let node = lined(self)?;
        let axis = axis_of(dim, node.shape().rank())?;
        let at = line(index, axis, node.shape())?;
        let wide = Shape::new(&node.shape().with(axis, at.shape()[0]))?;
        if self.rank() == 0 && wide.numel() != 1 {
            let text = format!("takes one index into a tensor without axes, got {}", wide.numel());
            return Err(Error::new("index_select", ErrorKind::Value(text)));
        }
        shaped(self, node.gather(axis, &column(&at, axis, wide.rank())?.expand(wide)?)?)
    }

    /// `out[…, j, …] = self[…, index[…, j, …], …]` along an axis, for an index (integers) that is nowhere else longer than the
    /// tensor.
    ///
    /// # Errors
    ///
    /// As `index_select`; an index of other axes than the tensor's, or longer.
    #[surface(method, function, manners(Ignores("sparse_grad")))]
    pub fn gather(&self, dim: isize, index: &Tensor) -> Result<Tensor> {
        let (node, places) = Places::of(self, dim, index)?;
        shaped(index, places.gather(&node)?)
    }

    /// Elements by the positions that `indices` have along an axis (negative ones count from its end), where all other axes
    /// broadcast; by their positions among all elements, in one axis, where no axis is named.
    ///
    /// # Errors
    ///
    /// As `gather`; shapes that do not broadcast.
    pub fn take_along_dim(&self, indices: &Tensor, #[default(None)] dim: Option<isize>) -> Result<Tensor> {
        let Some(dim) = dim else {
            return self.reshape(&[-1])?.take_along_dim(&indices.reshape(&[-1])?, Some(0));
        };
        let (own, wanted) = (self.shape(), indices.shape());
        let axis = axis_of(dim, own.rank())?;
        if own.rank() != wanted.rank() {
            return wrong_shape(format!(
                "indices of shape {wanted} for a tensor of shape {own}: as many axes are wanted"
            ));
        }
        if own.rank() == 0 {
            return self.gather(dim, indices);
        }
        let Some(joint) = Shape::broadcast(&own.with(axis, 1), &wanted.with(axis, 1)) else {
            return wrong_shape(format!("shapes {own} and {wanted} do not broadcast off axis {axis}"));
        };
        let at = picks::positions(indices, self, axis, own[axis])?;
        let at = at.expand(&signed(&joint.with(axis, wanted[axis])))?;
        self.expand(&signed(&joint.with(axis, own[axis])))?.gather(dim, &at)
    }

    /// Elements by their positions among all, in row-major order; negative ones count from the end. The result has the shape of the
    /// index.
    ///
    /// # Errors
    ///
    /// Indices that are no integers, or out of range.
    pub fn take(&self, index: &Tensor) -> Result<Tensor> {
        let flat = self.reshape(&[-1])?;
        if index.dtype().is_int() && !flat.device().is_cpu() {
            return flat.index(&[picks::Index::from(index)]);
        }
        let at = picks::positions(index, self, 0, flat.numel())?;
        flat.index_select(0, &at.reshape(&[-1])?)?.reshape(&signed(&index.shape()))
    }

    /// A copy with the elements of `source` at the positions among all elements that `index` says (negative ones count from the
    /// end), the last one where a position occurs more than once; or added there, with `accumulate`.
    ///
    /// # Errors
    ///
    /// Indices that are no integers, or out of range; another number or dtype of elements.
    #[surface(method, function, in_place, reads)]
    pub fn put(&self, index: &Tensor, source: &Tensor, #[default(false)] accumulate: bool) -> Result<Tensor> {
        let node = self.node();
        check_dtype(source, &node)?;
        if index.numel() != source.numel() {
            let text = format!("{} values for {} positions", source.numel(), index.numel());
            return wrong_shape(text);
        }
        let numel = node.shape().numel();
        let line = node.reshape(Shape::of(&[numel]))?;
        let at = picks::positions(index, self, 0, numel)?.reshape(&[-1])?.node();
        let places = Places { axis: 0, index: at, shape: *line.shape() };
        let values = source.node().reshape(Shape::of(&[source.numel()]))?;
        let new = match accumulate {
            true => places.reduce(&line, &values, Reduce::Sum, true)?,
            false => places.replace(&line, &values)?,
        };
        Ok(Tensor::from_node(new.reshape(*node.shape())?))
    }

    /// `src` (a tensor, or one number) written at the places that `index` names along an axis, the last one where a place is met more
    /// than once; with `reduce`, added (`"add"`) or multiplied (`"multiply"`).
    ///
    /// # Errors
    ///
    /// As `gather`; a `src` that is shorter than the index, or of another dtype.
    #[surface(method, function, in_place, reads, keywords_from = "reduce")]
    pub fn scatter(
        &self,
        dim: isize,
        index: &Tensor,
        src: Operand,
        #[default(None)] reduce: Option<&str>,
    ) -> Result<Tensor> {
        let how = reduce
            .map(|word| Reduce::of(word, &[("add", Reduce::Sum), ("multiply", Reduce::Prod)]))
            .transpose()?;
        if reduce.is_none() && !matches!(src, Operand::Tensor(_)) {
            form("scatter.ScatterBackward1");
        }
        let (node, places) = Places::of(self, dim, index)?;
        let number = match &src {
            Operand::Tensor(t) if t.rank() == 0 && index.rank() > 0 => Some(t.to_dtype(self.dtype()).node()),
            Operand::Tensor(t) => {
                check_dtype(t, &node)?;
                None
            }
            number => Some(written(number.clone(), self)?.node()),
        };
        let new = match (number, how, src) {
            // One number is the last at all places.
            (Some(number), None, _) => places.hit()?.choose(&number, &node),
            (Some(number), Some(how), _) => {
                let values = number.expand(*places.index.shape())?;
                places.reduce(&node, &values, how, true)?
            }
            (None, None, Operand::Tensor(t)) => places.replace(&node, &places.values(&lined(&t)?)?)?,
            (None, Some(how), Operand::Tensor(t)) => {
                places.reduce(&node, &places.values(&lined(&t)?)?, how, true)?
            }
            (None, ..) => return Err(Error::new("scatter", ErrorKind::Internal("no values".into()))),
        };
        shaped(self, new)
    }

    /// `src` added at the places that `index` names along an axis, in order.
    ///
    /// # Errors
    ///
    /// As `gather`; a `src` that is shorter than the index, or of another dtype.
    #[surface(method, function, in_place)]
    pub fn scatter_add(&self, dim: isize, index: &Tensor, src: &Tensor) -> Result<Tensor> {
        let (node, places) = Places::of(self, dim, index)?;
        check_dtype(src, &node)?;
        let values = places.values(&lined(src)?)?;
        shaped(self, sum(&node, &places.scatter(&values)?))
    }

    /// `src` at the places that `index` names along an axis, all that meet at a place reduced: `"sum"`, `"prod"`, `"mean"`,
    /// `"amax"` or `"amin"`, with the tensor's own element unless `include_self` is false.
    ///
    /// # Errors
    ///
    /// As `gather`; a `src` that is shorter than the index, or of another dtype; another word.
    #[surface(method, function, in_place, reads, keywords_from = "include_self")]
    pub fn scatter_reduce(
        &self,
        dim: isize,
        index: &Tensor,
        src: &Tensor,
        reduce: &str,
        #[default(true)] include_self: bool,
    ) -> Result<Tensor> {
        let allowed = [
            ("sum", Reduce::Sum),
            ("prod", Reduce::Prod),
            ("mean", Reduce::Mean),
            ("amax", Reduce::Amax),
            ("amin", Reduce::Amin),
        ];
        let how = Reduce::of(reduce, &allowed)?;
        let (node, places) = Places::of(self, dim, index)?;
        check_dtype(src, &node)?;
        let values = places.values(&lined(src)?)?;
        shaped(self, places.reduce(&node, &values, how, include_self)?)
    }

    /// `alpha · source` added at some positions along an axis, by their indices (integers, in one axis), in order.
    ///
    /// # Errors
    ///
    /// As `index_select`; a `source` that does not fit, or of another dtype.
    #[surface(method, function, in_place, keywords_from = "alpha")]
    pub fn index_add(
        &self,
        dim: isize,
        index: &Tensor,
        source: &Tensor,
        #[default(Operand::Int(1))] alpha: Operand,
    ) -> Result<Tensor> {
        let node = lined(self)?;
        check_dtype(source, &node)?;
        let source = match alpha {
            Operand::Int(1) => source.clone(),
            alpha => source.try_mul(alpha)?.to_dtype(node.dtype()),
        };
        let values = lined(&source)?;
        let places = Places::along(&node, dim, index, values.shape())?;
        shaped(self, sum(&node, &places.scatter(&values)?))
    }

    /// `source` written to some positions along an axis, by their indices (integers, in one axis); the last one where a position
    /// occurs more than once.
    ///
    /// # Errors
    ///
    /// As `index_select`; a `source` that does not fit, or of another dtype.
    #[surface(method, function, in_place, reads)]
    pub fn index_copy(&self, dim: isize, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        let node = lined(self)?;
        check_dtype(source, &node)?;
        let values = lined(source)?;
        let places = Places::along(&node, dim, index, values.shape())?;
        let (axis, rank, n) = (places.axis, node.shape().rank(), node.shape()[places.axis]);
        if index.numel() == 0 || node.shape().numel() == 0 {
            return shaped(self, unwritten(&node, &values)?);
        }
        let line = line(index, axis, node.shape())?;
        if let Some(new) = put_at(&node, &line, &values, along(node.shape(), axis), axis)? {
            return shaped(self, new);
        }
        let (from, hit) = picks::writers(&Tensor::from_node(line), n, axis)?;
        let from = column(&from.node(), axis, rank)?.expand(*node.shape())?;
        let new = values.gather(axis, &from)?;
        shaped(self, column(&hit.node(), axis, rank)?.choose(&new, &node))
    }

    /// One number written to some positions along an axis, by their indices (integers, in one axis).
    ///
    /// # Errors
    ///
    /// As `index_select`; a tensor with axes as the value.
    #[surface(method, function, in_place)]
    pub fn index_fill(&self, dim: isize, index: &Tensor, value: Operand) -> Result<Tensor> {
        let node = lined(self)?;
        let (axis, rank) = (axis_of(dim, node.shape().rank())?, node.shape().rank());
        let n = node.shape()[axis];
        let index = picks::positions(index, self, axis, n)?;
        let (line, number) = (line(&index, axis, node.shape())?, one(value, self)?);
        if number.shape().rank() == 0
            && node.shape().numel() > 0
            && let Some(new) = put_at(&node, &line, &number, along(node.shape(), axis), axis)?
        {
            return shaped(self, new);
        }
        let places = Places { axis: 0, index: line, shape: Shape::of(&[n]) };
        shaped(self, column(&places.hit()?, axis, rank)?.choose(&number, &node))
    }

    /// `source` at some positions along an axis, by their indices, all that meet at a position reduced with the tensor's own element
    /// (unless `include_self` is false): `"prod"`, `"mean"`, `"amax"` or `"amin"`.
    ///
    /// # Errors
    ///
    /// As `index_select`; a `source` that does not fit, or of another dtype; another word.
    #[surface(method, function, in_place, reads, keywords_from = "include_self")]
    pub fn index_reduce(
        &self,
        dim: isize,
        index: &Tensor,
        source: &Tensor,
        reduce: &str,
        #[default(true)] include_self: bool,
    ) -> Result<Tensor> {
        let allowed =
            [("prod", Reduce::Prod), ("mean", Reduce::Mean), ("amax", Reduce::Amax), ("amin", Reduce::Amin)];
        let how = Reduce::of(reduce, &allowed)?;
        let node = lined(self)?;
        check_dtype(source, &node)?;
        let values = lined(source)?;
        let places = Places::along(&node, dim, index, values.shape())?;
        shaped(self, places.reduce(&node, &values, how, include_self)?)
    }

    /// `values` written to what tensors of integers or truth values pick of the first axes, as by `x[indices] = values`; with
    /// `accumulate` added there, as often as a place is picked.
    ///
    /// # Errors
    ///
    /// Indices that do not broadcast or are out of range; values of another dtype, or that do not broadcast.
    #[surface(method, function, in_place, reads)]
    pub fn index_put(
        &self,
        indices: &[Tensor],
        values: &Tensor,
        #[default(false)] accumulate: bool,
    ) -> Result<Tensor> {
        check_dtype(values, &self.node())?;
        picks::put(self, indices, values, accumulate)
    }

    /// The tensor with one number on the diagonal: where all indices are the same. Of a matrix with more rows than columns the diagonal
    /// goes on below, one row left out each time, with `wrap`.
    ///
    /// # Errors
    ///
    /// Fewer than two axes; more than two that are not of one size; a tensor with axes as the value.
    #[surface(in_place_only)]
    pub fn fill_diagonal(&self, fill_value: Operand, #[default(false)] wrap: bool) -> Result<Tensor> {
        let x = self.node();
        let shape = *x.shape();
        let rank = shape.rank();
        if rank < 2 || (rank > 2 && shape.iter().any(|&n| n != shape[0])) {
            let text = format!("takes a matrix, or several axes of one size, got shape {shape}");
            return Err(Error::new("fill_diagonal", ErrorKind::Shape(text)));
        }
        let value = one(fill_value, self)?;
        let sizes = (0..rank).rev().map(|d| shape[d]);
        let (step, mut stride) = sizes.fold((0, 1), |(step, stride), n| (step + stride, stride * n));
        if !wrap && rank == 2 {
            stride = stride.min(shape[1] * shape[1]);
        }
        let at = Node::ramp(Shape::of(&[shape.numel()]), x.device()).reshape(shape)?;
        let left = Tensor::from_node(at.clone()).try_remainder(step.max(1) as i64)?.node();
        let on = Node::apply(Row::And, &[&left.eq(&left.lit(0.0)), &at.lt(&at.lit(stride as f64))]);
        Ok(Tensor::from_node(Node::map(Row::Where, &[&on, &value, &x])?))
    }

    /// The tensor with one number where a mask of truth values holds, which broadcasts.
    ///
    /// # Errors
    ///
    /// A mask of another dtype, or that does not broadcast; a tensor with axes as the value.
    #[surface(method, function, in_place)]
    pub fn masked_fill(&self, mask: &Tensor, value: Operand) -> Result<Tensor> {
        check_mask(mask)?;
        Ok(Tensor::from_node(Node::map(Row::Where, &[&mask.node(), &one(value, self)?, &self.node()])?))
    }

    /// The elements where a mask of truth values holds, in one axis. Tensor and mask broadcast.
    ///
    /// # Errors
    ///
    /// A mask of another dtype, or that does not broadcast.
    #[surface(method, function, reads)]
    pub fn masked_select(&self, mask: &Tensor) -> Result<Tensor> {
        check_mask(mask)?;
        let (a, b) = (self.shape(), mask.shape());
        let Some(shape) = Shape::broadcast(&a, &b) else {
            return wrong_shape(format!("shapes {a} and {b} do not broadcast"));
        };
        let wide = signed(&shape);
        // A mask has an axis.
        let sizes = if wide.is_empty() { vec![1] } else { wide.clone() };
        let (t, mask) = (self.expand(&wide)?.reshape(&sizes)?, mask.expand(&wide)?.reshape(&sizes)?);
        t.index(&[picks::Index::Tensor(mask)])
    }

    /// The tensor with the elements of `source`, in order, where a mask of truth values holds, which broadcasts.
    ///
    /// # Errors
    ///
    /// A mask of another dtype, or that does not broadcast; another dtype. Fewer elements than places are found when the value is
    /// computed.
    #[surface(method, function, in_place)]
    pub fn masked_scatter(&self, mask: &Tensor, source: &Tensor) -> Result<Tensor> {
        check_mask(mask)?;
        let node = self.node();
        check_dtype(source, &node)?;
        let (a, b) = (self.shape(), mask.shape());
        let Some(shape) = Shape::broadcast(&a, &b) else {
            return wrong_shape(format!("shapes {a} and {b} do not broadcast"));
        };
        let mask = mask.expand(&signed(&shape))?.node();
        let count = shape.numel();
        if count == 0 {
            return Ok(Tensor::from_node(unwritten(&self.expand(&signed(&shape))?.node(), &source.node())?));
        }
        // The element that each place takes, where it takes one: as many places are before it. One beyond the source is an index out
        // of range.
        let holds = mask.cast(DType::I64).reshape(Shape::of(&[count]))?;
        let before = Tensor::from_node(holds.clone()).try_cumsum(0, None)?.node().sub(&holds);
        let source = source.reshape(&[-1])?.node();
        let (source, from) = match source.shape().numel() {
            // There is nothing to take: one element for those that take none.
            0 => (source.lit(0.0).expand(Shape::of(&[1]))?, holds),
            _ => (source, before.mul(&holds)),
        };
        let new = source.gather(0, &from)?.reshape(shape)?;
        Ok(Tensor::from_node(Node::map(Row::Where, &[&mask, &new, &node])?))
    }

    /// The positions of what is not zero: a row each.
    #[surface(method, function, reads)]
    pub fn argwhere(&self) -> Result<Tensor> {
        self.nonzero()
    }

    /// The positions along axes of a shape that positions among all elements in row-major order have: a tensor for each axis.
    ///
    /// # Errors
    ///
    /// Indices that are no integers.
    #[surface(function, manners(Receiver("indices")))]
    pub fn unravel_index(&self, shape: &[usize]) -> Result<Vec<Tensor>> {
        if !self.dtype().is_int() {
            let text = format!("takes integers, got {}", self.dtype());
            return Err(Error::new("unravel_index", ErrorKind::DType(text)));
        }
        let dense = Layout::contiguous(Shape::new(shape)?);
        let at = self.to_dtype(DType::I64);
        let axes = dense.strides().iter().zip(shape);
        axes.map(|(&stride, &n)| at.try_floor_divide(stride as i64)?.try_remainder(n as i64)).collect()
    }
}

/// One number, in a tensor's dtype.
fn one(value: Operand, t: &Tensor) -> Result<Node> {
    if let Operand::Tensor(value) = &value
        && value.rank() > 0
    {
        return wrong_shape(format!("takes one number as the value, got shape {}", value.shape()));
    }
    Ok(written(value, t)?.node())
}

impl Tensor {
    /// The positions of what is not zero: a row each, i64.
    ///
    /// # Errors
    ///
    /// Whatever computing the value fails with.
    #[track_caller]
    pub fn nonzero(&self) -> Result<Tensor> {
        crate::caller::public("nonzero", || match &self.found()?[..] {
            [] => {
                let is_there = self.try_ne(0i64)?.to_vec::<bool>()?.contains(&true);
                Tensor::from_vec(Vec::<i64>::new(), &[usize::from(is_there), 0])?.to(self.device())
            }
            // Positions along one axis are rows of one already.
            [one] => one.reshape(&[-1, 1]),
            axes => Tensor::stack(axes, 1),
        })
    }

    /// The positions of what is not zero: a tensor for each axis (one without axes is taken to have one).
    ///
    /// # Errors
    ///
    /// Whatever computing the value fails with.
    #[track_caller]
    pub fn nonzero_along_axes(&self) -> Result<Vec<Tensor>> {
        crate::caller::public("nonzero", || match self.rank() {
            0 => self.reshape(&[1])?.found(),
            _ => self.found(),
        })
    }

    fn found(&self) -> Result<Vec<Tensor>> {
        match self.is_bool() {
            true => picks::found(self),
            false => picks::found(&self.try_ne(0i64)?),
        }
    }
}
