//! What layers do: products with weights, and rows of tables.

use super::elementwise::{and, or};
use super::set_aside;
use crate::checks::known_integers;
use crate::gradient::no_grad;
use crate::tensor::{Tensor, in_place};
use mg_device::{DType, Device, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, cell_bits_of_int, form, same_device};
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;

/// Rows of a table `[n, size]` by positions `[m]`, i64.
fn rows(table: &Node, at: &Node) -> Result<Node> {
    table.gather(0, &at.repeated(table.shape()[1])?)
}

/// A table, and positions in it of any shape, one after the other.
fn looked_up(op: &'static str, index: &Tensor, table: &Tensor) -> Result<(Node, Node)> {
    let shape = table.shape();
    if shape.rank() != 2 {
        let text = format!("takes a table [n, size], got shape {shape}");
        return Err(Error::new(op, ErrorKind::Shape(text)));
    }
    if !index.dtype().is_int() {
        return Err(Error::new(op, ErrorKind::DType(format!("takes integers, got {}", index.dtype()))));
    }
    let (at, table) = (index.node(), table.node());
    same_device(op, &[&at, &table])?;
    index.check_indices(op, 0, 0, shape[0])?;
    let count = at.shape().numel();
    Ok((table, at.cast(DType::I64).reshape(Shape::of(&[count]))?))
}

/// The row that stands for nothing, counted from the end if it is negative.
fn padding(op: &'static str, index: Option<i64>, size: usize) -> Result<Option<i64>> {
    let Some(index) = index else { return Ok(None) };
    let n = size as i64;
    if !(-n..n).contains(&index) {
        return Err(Error::new(
            op,
            ErrorKind::Value(format!("padding_idx {index} is not among {size} rows")),
        ));
    }
    Ok(Some(if index < 0 { index + n } else { index }))
}

fn integer(like: &Node, value: i64) -> Node {
    Node::scalar_bits(cell_bits_of_int(value, DType::I64), DType::I64, like.device(), false)
}

/// The bag that each of `count` positions is in, by the positions where bags begin.
fn bags(offsets: &Node, bags: usize, count: usize) -> Result<Node> {
    let shape = Shape::of(&[count]);
    let (at, one) = (Node::ramp(shape, offsets.device()), integer(offsets, 1));
    // How many bags begin at or before each position, by halving.
    let mut low = integer(offsets, 0).expand(shape)?;
    let mut high = integer(offsets, bags as i64).expand(shape)?;
    let last = integer(offsets, bags as i64 - 1);
    for _ in 0..usize::BITS - bags.leading_zeros() {
        let open = low.lt(&high);
        let middle = Node::apply(Row::Shr, &[&low.add(&high), &one]);
        let begin = offsets.gather(0, &Node::apply(Row::Minimum, &[&middle, &last]))?;
        let begun = Node::apply(Row::Le, &[&begin, &at]);
        let (up, down) =
            (Node::apply(Row::And, &[&open, &begun]), Node::apply(Row::And, &[&open, &begun.map(Row::Not)]));
        (low, high) = (up.choose(&middle.add(&one), &low), down.choose(&middle, &high));
    }
    Ok(low.sub(&one).guard(0, bags))
}

/// Zeros, with the history of rows that nothing is taken of.
fn of_nothing(found: &Node, sizes: &[usize]) -> Result<Tensor> {
    let none = found.slice(0, 0, 1, 0)?.reduce(ReduceKind::Sum, 0b11, false)?;
    Ok(Tensor::from_node(none.expand(Shape::new(sizes)?)?.copy()))
}

/// Of each bag and column the first one of the largest elements of rows `[count, size]` that count; 0 where none does. `bag` says which
/// bag a row belongs to.
fn largest_of_bags(found: &Node, counts: &Node, bag: &Node, bags: usize) -> Result<Tensor> {
    let (count, size) = (found.shape()[0], found.shape()[1]);
    if count == 0 {
        return of_nothing(found, &[bags, size]);
    }
    let whole = *found.shape();
    let (first, is_any) = set_aside(|| {
        let bag = Tensor::from_node(bag.expand(whole)?);
        let counted = counts.choose(found, &found.lit(f64::NEG_INFINITY));
        let into = |value: &Node| Ok::<_, Error>(Tensor::from_node(value.expand(Shape::of(&[bags, size]))?));
        let source = Tensor::from_node(counted.clone());
        let largest = into(&found.lit(f64::NEG_INFINITY))?.scatter_reduce(0, &bag, &source, "amax", true)?;
        let reached = largest.gather(0, &bag)?.node();
        // NaN is the largest, wherever it stands.
        let is_largest = or(&counted.eq(&reached), &Node::apply(Row::Ne, &[&counted, &counted]));
        let line = Node::ramp(Shape::of(&[count]), found.device()).reshape(Shape::of(&[count, 1]))?;
        let none = line.lit(count as f64);
        let place = and(&is_largest, counts).choose(&line.expand(whole)?, &none);
        let first = into(&none)?.scatter_reduce(0, &bag, &Tensor::from_node(place), "amin", true)?.node();
        let is_any = first.lt(&none);
        Ok::<_, Error>((is_any.choose(&first, &first.lit(0.0)), is_any))
    })?;
    let largest = found.gather(0, &first)?;
    Ok(Tensor::from_node(is_any.choose(&largest, &found.lit(0.0))))
}

/// What is made of the rows of a bag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bag {
    Sum,
    Mean,
    Max,
}

impl Bag {
    fn of(mode: &str, weights: Option<&Tensor>, shape: &Shape) -> Result<Bag> {
        let fail = |text| Err(Error::new("embedding_bag", ErrorKind::Value(text)));
        let bag = match mode {
            "sum" => Bag::Sum,
            "mean" => Bag::Mean,
            "max" => Bag::Max,
            _ => return fail(format!("a mode is \"sum\", \"mean\" or \"max\", got {mode:?}")),
        };
        match weights.is_some_and(|weights| weights.shape() != *shape || bag != Bag::Sum) {
            true => fail("takes per_sample_weights of the indices' shape, for the mode \"sum\"".into()),
            false => Ok(bag),
        }
    }

    /// Of a bag's sum, and how many rows it is of.
    fn of_sum(self, sum: Node, n: &Node) -> Tensor {
        Tensor::from_node(match self {
            Bag::Mean => sum.div(&Node::apply(Row::Maximum, &[n, &n.lit(1.0)])),
            Bag::Sum | Bag::Max => sum,
        })
    }
}

/// How many bags begin at these offsets.
fn number_of_bags(op: &'static str, offsets: &Tensor, device: Device, with_end: bool) -> Result<usize> {
    if offsets.rank() != 1 || !offsets.dtype().is_int() || offsets.device() != device {
        let (dtype, shape) = (offsets.dtype(), offsets.shape());
        let text = format!("takes integers with one axis as offsets, got {dtype} {shape}");
        return Err(Error::new(op, ErrorKind::Shape(text)));
    }
    let number = offsets.numel().checked_sub(usize::from(with_end));
    number.ok_or_else(|| Error::new(op, ErrorKind::Value("takes at least one offset".into())))
}

/// Offsets of bags that lie in `count` indices, the first at the first one: of known ones that is seen now, of others when they are used
/// whether they lie there.
fn bounded(op: &'static str, offsets: &Node, count: usize) -> Result<Node> {
    if let Some(known) = known_integers(offsets)? {
        let fits = |&at: &i64| usize::try_from(at).is_ok_and(|at| at <= count);
        let text = match known.first() {
            Some(0) if !known.is_sorted() => format!("takes offsets that do not fall, got {known:?}"),
            Some(0) => match known.iter().find(|at| !fits(at)) {
                Some(at) => format!("takes offsets from 0 to the {count} indices' end, got {at}"),
                None => String::new(),
            },
            Some(first) => format!("takes 0 as the first offset, got {first}"),
            None => String::new(),
        };
        if !text.is_empty() {
            return Err(Error::new(op, ErrorKind::Value(text)));
        }
        // A replay's may be others.
        if !mg_graph::is_recording() {
            return Ok(offsets.clone());
        }
    }
    Ok(offsets.guard(0, count.saturating_add(1)))
}

/// Rows that go into bags.
struct Bagged {
    /// `[count, size]`.
    found: Node,
    /// Which of them count `[count, 1]`, and whether that is all.
    counts: Node,
    all: bool,
}

impl Bagged {
    /// The rows, zeros where they do not count.
    fn kept(&self) -> Node {
        if self.all { self.found.clone() } else { self.counts.choose(&self.found, &self.found.lit(0.0)) }
    }

    /// Of `bags` bags of `m` rows each.
    fn beside_each_other(&self, mode: Bag, bags: usize, m: usize) -> Result<Tensor> {
        let Bagged { found, counts, .. } = self;
        let size = found.shape()[1];
        let (wide, each) = (Shape::of(&[bags, m, size]), Shape::of(&[bags, m]));
        if mode == Bag::Max {
            if m == 0 {
                return of_nothing(found, &[bags, size]);
            }
            let zero = found.lit(0.0);
            let found = counts.choose(found, &found.lit(f64::NEG_INFINITY)).reshape(wide)?;
            let first = set_aside(|| found.reduce(ReduceKind::ArgMax, 1 << 1, true))?;
            let largest = found.gather(1, &first)?.reshape(Shape::of(&[bags, size]))?;
            let any = counts.cast(DType::I64).reshape(each)?.reduce(ReduceKind::Max, 1 << 1, true)?;
            return Ok(Tensor::from_node(any.lit(0.0).lt(&any).choose(&largest, &zero)));
        }
        let sum = self.kept().reshape(wide)?.reduce(ReduceKind::Sum, 1 << 1, false)?;
        let n = match self.all {
            false => counts.cast(found.dtype()).reshape(each)?.reduce(ReduceKind::Sum, 1 << 1, true)?,
            true => sum.lit(m as f64),
        };
        Ok(mode.of_sum(sum, &n))
    }

    /// Of so many bags, of which `bag` says for each row in which one it is.
    fn one_after_another(&self, mode: Bag, bag: &Node, number: usize) -> Result<Tensor> {
        let Bagged { found, counts, .. } = self;
        if mode == Bag::Max {
            return largest_of_bags(found, counts, bag, number);
        }
        let sum = self.kept().scatter_add(0, &bag.expand(*found.shape())?, number)?;
        let n = counts.cast(found.dtype()).scatter_add(0, bag, number)?;
        Ok(mode.of_sum(sum, &n))
    }
}

/// What becomes of a table when its rows are used: PyTorch's options of embeddings.
impl Tensor {
    /// Scales the rows of this table `[n, size]` that integers name down to the `norm_type`-norm `max_norm`, where they are longer. No
    /// gradient is recorded.
    ///
    /// ```
    /// use mg_autograd::Tensor;
    ///
    /// let table = Tensor::from_vec(vec![3.0f64, 4.0, 6.0, 8.0, 0.3, 0.4], &[3, 2])?;
    /// table.embedding_renorm_(&Tensor::from_slice(&[0i64, 2, 0]), 1.0, 2.0)?;
    /// let lengths = table.square().sum_dim(&[1], false).sqrt().to_vec::<f64>()?;
    /// assert!((lengths[0] - 1.0).abs() < 1e-6 && lengths[1] == 10.0 && lengths[2] == 0.5);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What is no table, no integers; an index outside the table, as [`Tensor::index_fill`] finds it; a `norm_type` that is not
    /// positive, a negative `max_norm`; unlike devices.
    #[track_caller]
    pub fn embedding_renorm_(&self, indices: &Tensor, max_norm: f64, norm_type: f64) -> Result<()> {
        let _guard = no_grad();
        let (rows, at) = (number_of_rows(self)?, indices.detach().flatten(0, -1)?);
        let used = Tensor::full_on(&[rows, 1], 0.0, DType::Bool, self.device())?;
        let used = used.index_fill(0, &at, true)?;
        let shortened = Tensor::where_(&used, self.try_renorm(norm_type, 0, max_norm)?, self)?;
        in_place(|| self.assign(shortened))
    }

    /// The numbers of this table `[n, size]`, whose rows have their gradients divided by how often integers name them.
    ///
    /// ```
    /// use mg_autograd::Tensor;
    ///
    /// let table = Tensor::from_vec(vec![1.0f32, 2.0, 3.0], &[3, 1])?.requires_grad_(true)?;
    /// let often = Tensor::from_slice(&[0i64, 0, 2]);
    /// often.embedding(&table.scale_grad_by_freq(&often)?, None).sum().backward()?;
    /// assert_eq!(table.grad().map(|g| g.to_vec::<f32>()).transpose()?, Some(vec![1.0, 0.0, 1.0]));
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What is no table, no integers; an index outside the table, as [`Tensor::index_add`] finds it; unlike devices.
    #[track_caller]
    pub fn scale_grad_by_freq(&self, indices: &Tensor) -> Result<Tensor> {
        let (rows, at) = (number_of_rows(self)?, indices.detach().flatten(0, -1)?);
        let alike = |n: usize, value: f64| Tensor::full_on(&[n], value, self.dtype(), self.device());
        let count = alike(rows, 0.0)?.index_add(0, &at, &alike(at.numel(), 1.0)?, 1i64)?;
        let divided = self.try_div(count.try_clamp_min(1i64)?.unsqueeze(1)?)?;
        divided.try_add(self.try_sub(&divided)?.detach())
    }
}

/// How many rows a table has.
fn number_of_rows(table: &Tensor) -> Result<usize> {
    let shape = table.shape();
    let refused = || Error::new("embedding", ErrorKind::Shape("takes a table [n, size], got no axes".into()));
    shape.first().copied().ok_or_else(refused)
}

#[operations(LAYERS)]
impl Tensor {
    /// `x Wᵀ + b` on the last axis, with a weight `[out, in]`, or `[in]` for one output without an axis.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, unlike devices.
    #[surface(nn)]
    pub fn linear(&self, weight: &Tensor, #[default(None)] bias: Option<&Tensor>) -> Result<Tensor> {
        let fail = |text: String| Err(Error::new("linear", ErrorKind::Shape(text)));
        let (shape, sizes) = (self.shape(), weight.shape());
        let (outputs, inputs) = match *sizes.dims() {
            [inputs] => (None, inputs),
            [outputs, inputs] => (Some(outputs), inputs),
            _ => return fail(format!("takes a weight [out, in], got shape {sizes}")),
        };
        let Some((_, lead)) = shape.split_last().filter(|(n, _)| **n == inputs) else {
            return fail(format!("takes […, {inputs}], got {shape}"));
        };
        if let ([_], None, Some(_)) = (lead, bias, outputs) {
            form("linear.MmBackward0");
        }
        // One product of matrices, whatever the leading axes: the weight is not broadcast over them.
        let rows: usize = lead.iter().product();
        let x = if lead.len() > 1 {
            Tensor::from_node(self.node().reshape(Shape::new(&[rows, inputs])?)?)
        } else {
            self.clone()
        };
        let transposed = if outputs.is_some() {
            Tensor::from_node(weight.node().permute(&[1, 0])?)
        } else {
            weight.clone()
        };
        let mut y = x.try_matmul(&transposed)?;
        if let Some(bias) = bias {
            y = y.try_add(bias)?;
        }
        if lead.len() > 1 {
            let out: Vec<usize> = lead.iter().copied().chain(outputs).collect();
            y = Tensor::from_node(y.node().reshape(Shape::new(&out)?)?);
        }
        Ok(y)
    }

    /// `Σ x1 W x2 + b` on the last axes of two tensors, with a weight `[out, in1, in2]`.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, unlike devices.
    #[surface(function, nn)]
    pub fn bilinear(
        input1: &Tensor,
        input2: &Tensor,
        weight: &Tensor,
        #[default(None)] bias: Option<&Tensor>,
    ) -> Result<Tensor> {
        let (own, other, sizes) = (input1.shape(), input2.shape(), weight.shape());
        let fits = match (own.split_last(), other.split_last()) {
            (Some((a, lead)), Some((b, same))) => lead == same && sizes.rank() == 3 && sizes[1..] == [*a, *b],
            _ => false,
        };
        if !fits || bias.is_some_and(|b| *b.shape() != sizes[..1]) {
            let text =
                format!("takes […, in1], […, in2] and [out, in1, in2], got {own}, {other} and {sizes}");
            return Err(Error::new("bilinear", ErrorKind::Shape(text)));
        }
        let lead = &own[..own.rank() - 1];
        let (n, outputs): (usize, usize) = (lead.iter().product(), sizes[0]);
        let dtype = DType::promote(DType::promote(input1.dtype(), input2.dtype()), weight.dtype());
        let (a, b, w) = (input1.node().cast(dtype), input2.node().cast(dtype), weight.node().cast(dtype));
        let w = w.permute(&[1, 0, 2])?.reshape(Shape::new(&[sizes[1], outputs * sizes[2]])?)?;
        let first = a.reshape(Shape::of(&[n, sizes[1]]))?.matmul(&w)?;
        let first = first.reshape(Shape::new(&[n, outputs, sizes[2]])?)?;
        let products = Node::map(Row::Mul, &[&first, &b.reshape(Shape::of(&[n, 1, sizes[2]]))?])?;
        let y = products.reduce(ReduceKind::Sum, 1 << 2, false)?.cast(dtype);
        let out: Vec<usize> = lead.iter().copied().chain([outputs]).collect();
        let y = Tensor::from_node(y.reshape(Shape::new(&out)?)?);
        match bias {
            Some(bias) => y.try_add(bias),
            None => Ok(y),
        }
    }

    /// Rows of a table `[n, size]` by integers of any shape, which become `[…, size]`. The row `padding_idx` gets no gradient.
    ///
    /// # Errors
    ///
    /// What is no table, no integers; a `padding_idx` outside the table; unlike devices. An index outside the table is found when the
    /// value is computed, if not before.
    #[surface(nn)]
    pub fn embedding(&self, weight: &Tensor, #[default(None)] padding_idx: Option<i64>) -> Result<Tensor> {
        let (table, at) = looked_up("embedding", self, weight)?;
        let size = table.shape()[1];
        let mut found = rows(&table, &at)?;
        if let Some(padding) = padding("embedding", padding_idx, table.shape()[0])?
            && table.is_tracked()
        {
            let row = set_aside(|| table.slice(0, padding as usize, 1, 1))?;
            let is = at.eq(&integer(&at, padding)).reshape(Shape::of(&[at.shape()[0], 1]))?;
            found = is.choose(&row, &found);
        }
        let out: Vec<usize> = self.shape().iter().copied().chain([size]).collect();
        Ok(Tensor::from_node(found.reshape(Shape::new(&out)?)?))
    }

    /// Sums, means or largest elements (`mode`) of rows of a table `[n, size]`: of each row of indices `[bags, m]`, or of what lies between
    /// the positions `offsets` in indices `[m]` (with `include_last_offset` the last of them is the end). The row `padding_idx` does
    /// not count, `per_sample_weights` are what rows count in a sum; a bag of nothing is 0.
    ///
    /// # Errors
    ///
    /// What is no table, no integers, not as many axes; offsets that do not begin with 0, fall, or are beyond the indices; another mode than "sum", "mean" and "max"; weights for another mode than
    /// sums; unlike devices. An index outside the table is found when the value is computed, if not
    /// before.
    #[surface(nn, keywords_from = "mode")]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn embedding_bag(
        &self,
        weight: &Tensor,
        #[default(None)] offsets: Option<&Tensor>,
        #[default("mean")] mode: &str,
        #[default(None)] per_sample_weights: Option<&Tensor>,
        #[default(false)] include_last_offset: bool,
        #[default(None)] padding_idx: Option<i64>,
    ) -> Result<Tensor> {
        let op = "embedding_bag";
        let mode = Bag::of(mode, per_sample_weights, &self.shape())?;
        let (table, at) = looked_up(op, self, weight)?;
        let (count, size) = (at.shape()[0], table.shape()[1]);
        let padding = padding(op, padding_idx, table.shape()[0])?;
        let column = Shape::of(&[count, 1]);
        let counts = match padding {
            Some(padding) => Node::apply(Row::Ne, &[&at, &integer(&at, padding)]).reshape(column)?,
            None => Node::scalar_bits(1, DType::Bool, at.device(), false).expand(column)?,
        };
        let mut found = rows(&table, &at)?;
        if let Some(weights) = per_sample_weights {
            found = found.mul(&weights.node().cast(found.dtype()).reshape(column)?);
        }
        let bagged = Bagged { found, counts, all: padding.is_none() };
        match (offsets, self.rank()) {
            (None, 2) => bagged.beside_each_other(mode, self.shape()[0], self.shape()[1]),
            (Some(offsets), 1) => {
                let number = number_of_bags(op, offsets, self.device(), include_last_offset)?;
                if number == 0 {
                    return of_nothing(&bagged.found, &[0, size]);
                }
                let offsets = bounded(op, &offsets.node(), count)?;
                let bag = bags(&offsets.cast(DType::I64), number, count)?.reshape(column)?;
                bagged.one_after_another(mode, &bag, number)
            }
            _ => {
                let text =
                    format!("takes indices [bags, m], or [m] with offsets, got shape {}", self.shape());
                Err(Error::new(op, ErrorKind::Shape(text)))
            }
        }
    }

    /// Integers as rows of zeros with a one, i64. Without `num_classes` there are as many classes as the largest integer says, which is
    /// read.
    ///
    /// # Errors
    ///
    /// What are no integers; no classes, or no integers without a number of them; an integer outside the classes is found when the value is computed.
    #[surface(function, nn)]
    pub fn one_hot(&self, #[default(-1)] num_classes: i64) -> Result<Tensor> {
        let op = "one_hot";
        if !self.dtype().is_int() {
            return Err(Error::new(op, ErrorKind::DType(format!("takes integers, got {}", self.dtype()))));
        }
        let at = self.node().cast(DType::I64);
        let classes = match num_classes {
            1.. => num_classes,
            _ if at.shape().numel() == 0 => {
                let text = "takes a number of classes where there are no integers to tell it";
                return Err(Error::new(op, ErrorKind::Value(text.into())));
            }
            ..=-2 | 0 => {
                let text = format!("class values must be smaller than num_classes, which is {num_classes}");
                return Err(Error::new(op, ErrorKind::Value(text)));
            }
            -1 => {
                let ends = [ReduceKind::Min, ReduceKind::Max];
                let ends = ends.map(|kind| at.reduce(kind, super::all_axes(&at), false));
                let [least, largest] = ends.map(|end| Tensor::from_node(end?).item::<i64>());
                if let least @ ..0 = least? {
                    let text = format!("class values must be non-negative, got {least}");
                    return Err(Error::new(op, ErrorKind::Value(text)));
                }
                largest?.saturating_add(1)
            }
        };
        let fits = |n: &usize| *n <= isize::MAX as usize / 16;
        let Some(classes) = usize::try_from(classes).ok().filter(fits) else {
            return Err(Error::new(op, ErrorKind::Value(format!("{classes} is no number of classes"))));
        };
        let out: Vec<usize> = at.shape().iter().copied().chain([1]).collect();
        let at = at.guard(0, classes).reshape(Shape::new(&out)?)?;
        let ramp = Node::ramp(Shape::new(&[classes])?, at.device());
        Ok(Tensor::from_node(Node::map(Row::Eq, &[&at, &ramp])?.cast(DType::I64)))
    }
}
