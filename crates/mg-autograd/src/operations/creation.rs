//! Tensors from nothing, and random numbers.

use crate::caller::public;
use crate::checks::{unseen, valid};
use crate::creation::{drawn_in, evenly_spaced, normal, takes_floats, uniform};
use crate::default_device::default_device;
use crate::generator::Generator;
use crate::ops::Operand;
use crate::tensor::Tensor;
use mg_device::{DType, Device, Error, ErrorKind, Float, Result, Shape, Valid, bf16, f16};
use mg_graph::{Node, cell_bits, cell_bits_of_int};
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;

fn refused<T>(op: &'static str, text: String) -> Result<T> {
    Err(Error::new(op, ErrorKind::Value(text)))
}

/// A leaf, if one is asked for.
pub(super) fn finished(node: Node, requires_grad: bool) -> Result<Tensor> {
    let t = Tensor::from_node(node);
    if requires_grad { t.requires_grad_(true) } else { Ok(t) }
}

/// The device of what is made without naming one.
pub(super) fn on(device: Option<Device>) -> Result<Device> {
    let device = device.unwrap_or_else(default_device);
    device.check()?;
    Ok(device)
}

/// A number everywhere.
fn filled(op: &'static str, shape: &[usize], value: Operand, dtype: DType, device: Device) -> Result<Node> {
    device.check()?;
    value.check_fits(op, dtype)?;
    let node = match value {
        Operand::Tensor(t) if t.rank() == 0 => t.node().cast(dtype).to_device(device)?,
        Operand::Tensor(t) => {
            let text = format!("takes a number or a tensor without axes, got shape {}", t.shape());
            return Err(Error::new(op, ErrorKind::Shape(text)));
        }
        Operand::Float(v) => Node::scalar_bits(cell_bits(v, dtype), dtype, device, false),
        Operand::Int(v) => Node::scalar_bits(cell_bits_of_int(v, dtype), dtype, device, false),
        Operand::Bool(v) => Node::scalar_bits(cell_bits_of_int(v.into(), dtype), dtype, device, false),
        Operand::Live(v) => Node::live(&v, dtype, device),
    };
    node.expand(Shape::new(shape)?)
}

/// Uniform numbers in [0, 1) in a tensor's shape, in the dtype in which its dtype's are computed.
pub(super) fn uniform_of(t: &Tensor, generator: Option<&Generator>) -> Result<Node> {
    uniform(&t.shape(), drawn_in(t.dtype()), t.device(), generator)
}

/// What was drawn by what a tensor holds: its gradient is zeros, as in PyTorch.
pub(super) fn drawn_by(drawn: Tensor, by: &Tensor) -> Result<Tensor> {
    if !by.requires_grad() || !crate::is_grad_enabled() {
        return Ok(drawn);
    }
    let zeros = by.try_sign()?.to_dtype(drawn.dtype()).try_mul(0.0)?;
    drawn.try_add(&zeros)
}

/// Refuses what cannot hold numbers between whole ones.
fn floats(op: &'static str, t: &Tensor) -> Result<()> {
    if t.dtype().float().is_some() { Ok(()) } else { Err(Error::new(op, takes_floats(t.dtype()))) }
}

/// `−log(1 − u)`, of uniform numbers.
fn surprise(u: &Node) -> Node {
    u.lit(1.0).sub(u).map(Row::Log).neg()
}

/// Whole numbers from `low` up to `high`, which is left out.
pub(crate) fn integers(
    op: &'static str,
    shape: &[usize],
    (low, high): (i64, i128),
    device: Device,
    generator: Option<&Generator>,
) -> Result<Tensor> {
    let width = high - i128::from(low);
    if width <= 0 || width > 1 << 64 {
        return refused(op, format!("no integers from {low} up to {high}, or more than 2⁶⁴"));
    }
    let bits = |width: f64| -> Result<Tensor> {
        let u = uniform(shape, DType::F64, device, generator)?;
        Ok(Tensor::from_node(u.scale(width).cast(DType::I64)))
    };
    let whole = match width < 1 << 53 {
        // Below `width` also where the product is rounded up to it.
        true => bits(width as f64)?.try_minimum((width - 1) as i64)?,
        false => {
            let half = || -> Result<Node> { Ok(bits(4_294_967_296.0)?.to_dtype(DType::U64).node()) };
            let (upper, lower) = (half()?, half()?);
            let all = match u64::try_from(width) {
                Ok(width) => upper_half(&upper, &lower, width),
                // As many as there are of 64 bits.
                Err(_) => upper.mul(&upper.lit(4_294_967_296.0)).add(&lower),
            };
            Tensor::from_node(all.cast(DType::I64))
        }
    };
    whole.try_add(low)
}

/// The upper 64 bits of the product of a number of 64 random bits, given as halves in u64, and a number: each result is that of as many
/// numbers, or of one more (Lemire, "Fast random integer generation in an interval", 2019, without the part that rejects; that one more is one of
/// 2⁶⁴ / width).
fn upper_half(upper: &Node, lower: &Node, width: u64) -> Node {
    let bits = |bits| Node::scalar_bits(bits, DType::U64, upper.device(), false);
    let (high, low) = (bits(width >> 32), bits(width & u64::from(u32::MAX)));
    let (shift, mask) = (bits(32), bits(u64::from(u32::MAX)));
    let above = |n: &Node| Node::apply(Row::Shr, &[n, &shift]);
    let below = |n: &Node| Node::apply(Row::BitAnd, &[n, &mask]);
    // The four products of halves; the sum of what meets in the middle is below 2³⁴.
    let (left, right) = (upper.mul(&low), lower.mul(&high));
    let middle = above(&lower.mul(&low)).add(&below(&left)).add(&below(&right));
    upper.mul(&high).add(&above(&left)).add(&above(&right)).add(&above(&middle))
}

/// The integers that a dtype holds, from 0 on; of floats those up to which it holds all.
fn last_integer(dtype: DType) -> i128 {
    match dtype.float() {
        Some(Float::F64) => 1 << 53,
        Some(Float::F32) => 1 << 24,
        Some(Float::F16) => 1 << 11,
        Some(Float::BF16) => 1 << 8,
        // Truth values have no range of integers.
        None => dtype.int_range().map_or(1, |(_, last)| last),
    }
}

/// Refuses bounds of random integers that a dtype does not hold.
fn check_range(op: &'static str, low: i64, high: i128, dtype: DType) -> Result<()> {
    if dtype.is_narrow() {
        return Err(dtype.not_computed(op));
    }
    let (least, most) = match dtype.float() {
        Some(Float::F16) => (-65504, 65504),
        // They hold larger ones than there are.
        Some(Float::F64 | Float::F32 | Float::BF16) => return Ok(()),
        // Truth values are 0 and 1.
        None => dtype.int_range().unwrap_or((0, 1)),
    };
    let last = high - 1;
    if i128::from(low) < least || last > most {
        let text = format!("draws {dtype} from {least} to {most}, not from {low} to {last}");
        return refused(op, text);
    }
    Ok(())
}

/// The largest number of a dtype of floats below one.
fn before(number: f64, dtype: DType) -> f64 {
    match dtype.float() {
        Some(Float::F16) => {
            before_of(number, f16::from_f64(number).to_bits(), |b| f16::from_bits(b).to_f64())
        }
        Some(Float::BF16) => {
            before_of(number, bf16::from_f64(number).to_bits(), |b| bf16::from_bits(b).to_f64())
        }
        Some(Float::F32) => match number as f32 {
            near if f64::from(near) < number => near.into(),
            near => near.next_down().into(),
        },
        Some(Float::F64) | None => number.next_down(),
    }
}

/// The largest number of a dtype of floats.
fn largest(dtype: DType) -> f64 {
    before(f64::INFINITY, dtype)
}

/// Numbers from `low` up to `high` of uniform ones in [0, 1) and of their dtype.
pub(crate) fn between(u: Node, low: f64, high: f64) -> Node {
    let dtype = u.dtype();
    if (low, high) == (0.0, 1.0) {
        return u;
    }
    let u = u.cast(drawn_in(dtype));
    let drawn = u.scale(high - low).add(&u.lit(low));
    // What lies below `high` may be rounded up to it: that becomes the number before it.
    let drawn = match low < high {
        true => Node::apply(Row::Minimum, &[&drawn, &drawn.lit(before(high, dtype).max(low))]),
        false => drawn,
    };
    drawn.cast(dtype)
}

/// The largest number below one, of the type whose nearest number has these bits.
fn before_of(number: f64, bits: u16, value: impl Fn(u16) -> f64) -> f64 {
    // Magnitudes are in the order of their bits, behind the sign.
    match value(bits) {
        near if near < number => near,
        0.0 => value(0x8001),
        near if near > 0.0 => value(bits - 1),
        _ => value(bits + 1),
    }
}

impl Tensor {
    /// Random integers from `low` up to `high`, which is left out.
    ///
    /// # Errors
    ///
    /// Bounds with no integer between them, or beyond an integer dtype; as [`Tensor::full`].
    #[track_caller]
    pub fn randint(
        low: i64,
        high: i64,
        shape: &[usize],
        dtype: DType,
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        public("randint", || {
            check_range("randint", low, high.into(), dtype)?;
            let whole = integers("randint", shape, (low, high.into()), default_device(), generator)?;
            Ok(whole.to_dtype(dtype))
        })
    }
}

#[operations(CREATION)]
impl Tensor {
    /// Zeros of a shape, in the tensor's dtype and on its device unless others are named.
    ///
    /// # Errors
    ///
    /// More than 16 axes, sizes that overflow; a device that is not there.
    #[surface(method, variadic, keywords_from = "dtype")]
    pub fn new_zeros(
        &self,
        size: &[usize],
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        self.try_new_full(size, 0i64, dtype, device, requires_grad)
    }

    /// Ones of a shape, in the tensor's dtype and on its device unless others are named.
    ///
    /// # Errors
    ///
    /// More than 16 axes, sizes that overflow; a device that is not there.
    #[surface(method, variadic, keywords_from = "dtype")]
    pub fn new_ones(
        &self,
        size: &[usize],
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        self.try_new_full(size, 1i64, dtype, device, requires_grad)
    }

    /// As `new_zeros`: there is no memory that nobody wrote.
    ///
    /// # Errors
    ///
    /// More than 16 axes, sizes that overflow; a device that is not there.
    #[surface(method, variadic, keywords_from = "dtype")]
    pub fn new_empty(
        &self,
        size: &[usize],
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        self.try_new_full(size, 0i64, dtype, device, requires_grad)
    }

    /// The same value everywhere, in the tensor's dtype and on its device unless others are named.
    ///
    /// # Errors
    ///
    /// More than 16 axes, sizes that overflow; a device that is not there; a value with axes.
    #[surface(method, keywords_from = "dtype")]
    pub fn new_full(
        &self,
        size: &[usize],
        fill_value: Operand,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let (dtype, device) = (dtype.unwrap_or(self.dtype()), device.unwrap_or(self.device()));
        finished(filled("new_full", size, fill_value, dtype, device)?, requires_grad)
    }

    /// A number as a tensor without axes; of the default dtype unless another is named.
    ///
    /// # Errors
    ///
    /// A device that is not there.
    #[surface(function, keywords_from = "dtype")]
    pub fn scalar_tensor(
        s: Operand,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let dtype = dtype.unwrap_or_else(DType::default_float);
        finished(filled("scalar_tensor", &[], s, dtype, on(device)?)?, requires_grad)
    }

    /// Uniform random numbers in [0, 1), of the default dtype unless another is named.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; more than 16 axes, sizes that overflow; a device that is not there.
    #[surface(function, name = "rand", variadic, keywords_from = "generator", manners(NeedsList))]
    pub fn rand_of(
        size: &[usize],
        #[default(None)] generator: Option<&Generator>,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let dtype = dtype.unwrap_or_else(DType::default_float);
        finished(uniform(size, dtype, on(device)?, generator)?, requires_grad)
    }

    /// Normal random numbers of mean 0 and variance 1, of the default dtype unless another is named.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; more than 16 axes, sizes that overflow; a device that is not there.
    #[surface(function, name = "randn", variadic, keywords_from = "generator", manners(NeedsList))]
    pub fn randn_of(
        size: &[usize],
        #[default(None)] generator: Option<&Generator>,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let dtype = dtype.unwrap_or_else(DType::default_float);
        if dtype.float().is_none() {
            return Err(Error::new("randn", takes_floats(dtype)));
        }
        finished(normal(size, dtype, on(device)?, generator)?, requires_grad)
    }

    /// `steps` powers of `base`, whose exponents are evenly spaced from `start` to `end`, both included. Computed in f64, and
    /// rounded once; where the dtype is one of integers, from `start` and `end` without their fractions, as PyTorch does.
    ///
    /// # Errors
    ///
    /// Too many of them; a device that is not there.
    #[surface(function, keywords_from = "dtype")]
    pub fn logspace(
        start: f64,
        end: f64,
        steps: usize,
        #[default(10.0)] base: f64,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let dtype = dtype.unwrap_or_else(DType::default_float);
        let exponents = evenly_spaced(start, end, steps, dtype, on(device)?)?;
        finished(Node::apply(Row::Pow, &[&exponents.lit(base), &exponents]).cast(dtype), requires_grad)
    }

    /// `start`, `start + step`, … up to `end`, which is included; of the default dtype unless another is named. `arange`, which
    /// leaves the end out, is what one wants.
    ///
    /// # Errors
    ///
    /// Bounds that are not finite or that the step does not lead to; a step of 0; a device that is not there.
    #[surface(function, keywords_from = "dtype")]
    pub fn range(
        start: f64,
        end: f64,
        #[default(1.0)] step: f64,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let count = ((end - start) / step).floor() + 1.0;
        if !(count >= 1.0 && count < isize::MAX as f64 / 16.0) || step == 0.0 {
            return refused("range", format!("no steps of {step} from {start} to {end}"));
        }
        let dtype = dtype.unwrap_or_else(DType::default_float);
        let i = Node::ramp(Shape::new(&[count as usize])?, on(device)?).cast(DType::F64);
        finished(i.scale(step).add(&i.lit(start)).cast(dtype), requires_grad)
    }

    /// The integers below `n` in a random order, i64 unless another dtype is named.
    ///
    /// # Errors
    ///
    /// A dtype that does not hold all of them, truth values; a device that is not there.
    #[surface(function, keywords_from = "generator")]
    pub fn randperm(
        n: usize,
        #[default(None)] generator: Option<&Generator>,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let dtype = dtype.unwrap_or(DType::I64);
        if dtype.is_bool() {
            let text = "takes a dtype of numbers, got truth values";
            return Err(Error::new("randperm", ErrorKind::DType(text.into())));
        }
        if dtype.is_narrow() {
            return Err(dtype.not_computed("randperm"));
        }
        let most = last_integer(dtype) + 1;
        if n as i128 > most {
            return refused("randperm", format!("{dtype} holds {most} integers from 0 on, got n = {n}"));
        }
        let device = on(device)?;
        // The order of so many random numbers of 53 bits; should two be the same, the first one is first.
        let drawn = Tensor::from_node(uniform(&[n], DType::F64, device, generator)?);
        let order = drawn.try_argsort(-1, false, true)?;
        finished(order.to_dtype(dtype).node(), requires_grad)
    }

    /// Random integers from `low` up to `high`, which is left out (from 0 up to `low`, if one bound is given), in the shape of a
    /// tensor; in its dtype and on its device unless others are named.
    ///
    /// # Errors
    ///
    /// No bound; bounds with no integer between them, or beyond an integer dtype; a device that is not there.
    #[surface(function, keywords_from = "generator")]
    pub fn randint_like(
        &self,
        #[default(None)] low: Option<i64>,
        #[default(None)] high: Option<i64>,
        #[default(None)] generator: Option<&Generator>,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        let (low, high) = match (low, high) {
            (Some(low), Some(high)) => (low, high),
            (Some(high), None) | (None, Some(high)) => (0, high),
            (None, None) => return refused("randint_like", "no bound is given".into()),
        };
        let (device, dtype) = (device.unwrap_or(self.device()), dtype.unwrap_or(self.dtype()));
        check_range("randint_like", low, high.into(), dtype)?;
        let whole = integers("randint_like", &self.shape(), (low, high.into()), device, generator)?;
        let drawn = whole.to_dtype(dtype);
        finished(
            if self.is_turned_to_channels()? { drawn.channels_last()? } else { drawn }.node(),
            requires_grad,
        )
    }

    /// Normal random numbers of a mean and a standard deviation, which are numbers or tensors that broadcast; of two numbers, in
    /// a shape. Gradients of means and deviations are zeros.
    ///
    /// # Errors
    ///
    /// Tensors that are not of floats, that do not broadcast, or on unlike devices; a deviation that is negative or no number: what is
    /// not known yet is found when the numbers are drawn; numbers without a shape, a shape beside tensors.
    #[surface(function, keywords_from = "generator")]
    pub fn normal(
        mean: Operand,
        #[default(Operand::Float(1.0))] std: Operand,
        #[default(None)] size: Option<&[usize]>,
        #[default(None)] generator: Option<&Generator>,
        #[default(None)] dtype: Option<DType>,
        #[default(None)] device: Option<Device>,
        #[default(false)] requires_grad: bool,
    ) -> Result<Tensor> {
        if let Operand::Float(v) = std
            && !Valid::Deviation.holds(v)
        {
            return refused("normal", format!("takes a standard deviation that is not negative, got {v}"));
        }
        let tensor =
            |operand: &Operand| if let Operand::Tensor(t) = operand { Some(t.clone()) } else { None };
        let by = [tensor(&mean), tensor(&std)];
        let detached = |operand: Operand| match operand {
            Operand::Tensor(t) => Operand::Tensor(t.detach()),
            number => number,
        };
        let (mean, std) = (detached(mean), detached(std));
        let std = match std {
            Operand::Tensor(t) if t.dtype().is_float() => {
                Operand::Tensor(Tensor::from_node(valid("normal", &t.node(), Valid::Deviation)?))
            }
            other => other,
        };
        let mut given: Vec<&Tensor> = vec![];
        for operand in [&mean, &std] {
            if let Operand::Tensor(t) = operand {
                floats("normal", t)?;
                given.push(t);
            }
        }
        let z = match (&given[..], size) {
            ([], Some(size)) => {
                let dtype = dtype.unwrap_or_else(DType::default_float);
                if dtype.float().is_none() {
                    return Err(Error::new("normal", takes_floats(dtype)));
                }
                normal(size, dtype, on(device)?, generator)?
            }
            ([], None) => {
                return refused("normal", "takes a shape where mean and deviation are numbers".into());
            }
            (_, Some(_)) => return refused("normal", "takes no shape beside tensors".into()),
            ([first, others @ ..], None) => {
                let (mut shape, mut of) = (first.shape(), first.dtype());
                for t in others {
                    let Some(both) = Shape::broadcast(&shape, &t.shape()) else {
                        let text = format!("shapes {shape} and {} cannot be broadcast together", t.shape());
                        return Err(Error::new("normal", ErrorKind::Shape(text)));
                    };
                    (shape, of) = (both, DType::promote(of, t.dtype()));
                }
                normal(&shape, of, first.device(), generator)?
            }
        };
        let drawn = Tensor::from_node(z).try_mul(std)?.try_add(&mean)?;
        // As in PyTorch, the means' dtype where there are some.
        let drawn = if let Operand::Tensor(mean) = &mean { drawn.to_dtype(mean.dtype()) } else { drawn };
        let drawn = by.iter().flatten().try_fold(drawn, drawn_by)?;
        if drawn.requires_grad() { Ok(drawn) } else { finished(drawn.node(), requires_grad) }
    }

    /// 1 with the probabilities that a tensor holds (or with `p` everywhere), else 0, in its dtype. Gradients of the probabilities are zeros.
    ///
    /// # Errors
    ///
    /// Probabilities that are not floats; ones outside [0, 1]: what is not known yet is found when the draws are computed.
    #[surface(method, function, keywords_from = "generator")]
    pub fn bernoulli(
        &self,
        #[default(None)] p: Option<f64>,
        #[default(None)] generator: Option<&Generator>,
    ) -> Result<Tensor> {
        match p {
            Some(p) => self.try_bernoulli_like(p, generator),
            None => {
                floats("bernoulli", self)?;
                drawn_by(self.try_bernoulli_like(self, generator)?, self)
            }
        }
    }

    /// 1 with probability `p`, a number or a tensor that broadcasts, else 0, in the tensor's shape and dtype.
    ///
    /// # Errors
    ///
    /// A number outside [0, 1]; a tensor that is not of floats or does not broadcast to the shape.
    #[surface(in_place_only, name = "bernoulli", keywords_from = "generator")]
    pub fn bernoulli_like(
        &self,
        #[default(Operand::Float(0.5))] p: Operand,
        #[default(None)] generator: Option<&Generator>,
    ) -> Result<Tensor> {
        let p = match p {
            Operand::Tensor(t) => {
                floats("bernoulli", &t)?;
                Operand::Tensor(Tensor::from_node(valid(
                    "bernoulli",
                    &t.detach().node(),
                    Valid::Probability,
                )?))
            }
            Operand::Float(v) if !(0.0..=1.0).contains(&v) => {
                return refused("bernoulli", format!("takes a probability in [0, 1], got {v}"));
            }
            Operand::Int(v) if !(0..=1).contains(&v) => {
                return refused("bernoulli", format!("takes a probability in [0, 1], got {v}"));
            }
            number => number,
        };
        let (shape, dtype) = (self.shape(), self.dtype());
        if let Operand::Tensor(t) = &p
            && Shape::broadcast(&t.shape(), &shape) != Some(shape)
        {
            let text = format!("probabilities of shape {} for {shape}", t.shape());
            return Err(Error::new("bernoulli", ErrorKind::Shape(text)));
        }
        Ok(Tensor::from_node(uniform_of(self, generator)?).try_lt(p)?.to_dtype(dtype))
    }

    /// Uniform random numbers from `from` up to `to`, in the tensor's shape and dtype.
    ///
    /// # Errors
    ///
    /// A tensor that is not of floats; bounds in the wrong order, or that the dtype does not hold.
    #[surface(in_place_only, name = "uniform", keywords_from = "generator")]
    pub fn uniform_like(
        &self,
        #[default(0.0)] from_: f64,
        #[default(1.0)] to: f64,
        #[default(None)] generator: Option<&Generator>,
    ) -> Result<Tensor> {
        floats("uniform", self)?;
        if from_.is_nan() || to.is_nan() || from_ > to {
            return refused("uniform", format!("takes bounds in order, got {from_} and {to}"));
        }
        let dtype = self.dtype();
        let most = largest(dtype);
        if from_ < -most || to > most || to - from_ > most {
            let text = format!(
                "takes bounds of {dtype}, which ends at {most:?}, and no further apart; got {from_:?} and {to:?}"
            );
            return refused("uniform", text);
        }
        let u = uniform(&self.shape(), dtype, self.device(), generator)?;
        Ok(Tensor::from_node(between(u, from_, to)))
    }

    /// Normal random numbers of a mean and a standard deviation, in the tensor's shape and dtype.
    ///
    /// # Errors
    ///
    /// A tensor that is not of floats; a negative deviation.
    #[surface(in_place_only, name = "normal", keywords_from = "generator")]
    pub fn normal_like(
        &self,
        #[default(0.0)] mean: f64,
        #[default(1.0)] std: f64,
        #[default(None)] generator: Option<&Generator>,
    ) -> Result<Tensor> {
        floats("normal", self)?;
        if std.is_nan() || std < 0.0 {
            return refused("normal", format!("takes a deviation that is not negative, got {std}"));
        }
        let z = normal(&self.shape(), drawn_in(self.dtype()), self.device(), generator)?;
        Ok(Tensor::from_node(z.scale(std).add(&z.lit(mean)).cast(self.dtype())))
    }

    /// Random numbers whose logarithms are normal, of a mean and a standard deviation, in the tensor's shape and dtype.
    ///
    /// # Errors
    ///
    /// A tensor that is not of floats; a deviation that is not positive.
    #[surface(in_place_only, name = "log_normal", keywords_from = "generator")]
    pub fn log_normal_like(
        &self,
        #[default(1.0)] mean: f64,
        #[default(2.0)] std: f64,
        #[default(None)] generator: Option<&Generator>,
    ) -> Result<Tensor> {
        floats("log_normal", self)?;
        if std.is_nan() || std <= 0.0 {
            return refused("log_normal", format!("takes a positive deviation, got {std}"));
        }
        let z = normal(&self.shape(), drawn_in(self.dtype()), self.device(), generator)?;
        Ok(Tensor::from_node(z.scale(std).add(&z.lit(mean)).map(Row::Exp).cast(self.dtype())))
    }

    /// Exponential random numbers of the rate `lambd`, in the tensor's shape and dtype.
    ///
    /// # Errors
    ///
    /// A tensor that is not of floats; a rate that is not positive.
    #[surface(in_place_only, name = "exponential", keywords_from = "generator")]
    pub fn exponential_like(
        &self,
        #[default(1.0)] lambd: f64,
        #[default(None)] generator: Option<&Generator>,
    ) -> Result<Tensor> {
        floats("exponential", self)?;
        if lambd.is_nan() || lambd <= 0.0 {
            return refused("exponential", format!("takes a positive rate, got {lambd}"));
        }
        Ok(Tensor::from_node(surprise(&uniform_of(self, generator)?).scale(1.0 / lambd).cast(self.dtype())))
    }

    /// Random numbers of Cauchy's distribution about `median`, in the tensor's shape and dtype.
    ///
    /// # Errors
    ///
    /// A tensor that is not of floats; a `sigma` that is not positive.
    #[surface(in_place_only, name = "cauchy", keywords_from = "generator")]
    pub fn cauchy_like(
        &self,
        #[default(0.0)] median: f64,
        #[default(1.0)] sigma: f64,
        #[default(None)] generator: Option<&Generator>,
    ) -> Result<Tensor> {
        floats("cauchy", self)?;
        if sigma.is_nan() || sigma <= 0.0 {
            return refused("cauchy", format!("takes a positive sigma, got {sigma}"));
        }
        let u = uniform_of(self, generator)?;
        let angle = u.sub(&u.lit(0.5)).scale(std::f64::consts::PI);
        let tangent = angle.map(Row::Sin).div(&angle.map(Row::Cos));
        Ok(Tensor::from_node(tangent.scale(sigma).add(&tangent.lit(median)).cast(self.dtype())))
    }

    /// How many trials of probability `p` it takes to the first success, random numbers in the tensor's shape and dtype.
    ///
    /// # Errors
    ///
    /// Truth values; a `p` outside (0, 1).
    #[surface(in_place_only, name = "geometric", keywords_from = "generator")]
    pub fn geometric_like(&self, p: f64, #[default(None)] generator: Option<&Generator>) -> Result<Tensor> {
        if self.is_bool() || p.is_nan() || p <= 0.0 || p >= 1.0 {
            let text = format!("takes numbers and a probability in (0, 1), got {} and {p}", self.dtype());
            return refused("geometric", text);
        }
        let trials = surprise(&uniform_of(self, generator)?).scale(-1.0 / (-p).ln_1p()).map(Row::Floor);
        Ok(Tensor::from_node(trials.add(&trials.lit(1.0)).cast(self.dtype())))
    }

    /// Random integers from `from` (0, if it is not given) up to `to`, which is left out, in the tensor's shape and dtype. Without `to`, up to the
    /// largest of the dtype, of floats up to where they hold all; with the least of i64 as `from`, all of 64 bits.
    ///
    /// # Errors
    ///
    /// Bounds with no integer between them, or beyond the dtype's.
    #[surface(in_place_only, name = "random", keywords_from = "generator", manners(Alone("to")))]
    pub fn random_like(
        &self,
        #[default(None)] from_: Option<i64>,
        #[default(None)] to: Option<i64>,
        #[default(None)] generator: Option<&Generator>,
    ) -> Result<Tensor> {
        let (op, dtype) = ("random", self.dtype());
        let (low, high) = match (from_, to) {
            (Some(low), Some(high)) => (low, i128::from(high)),
            (None, Some(high)) => (0, i128::from(high)),
            (low, None) => (low.unwrap_or(0), last_integer(dtype) + 1),
        };
        check_range(op, low, high, dtype)?;
        Ok(integers(op, &self.shape(), (low, high), self.device(), generator)?.to_dtype(dtype))
    }

    /// Positions (i64) drawn with the weights along the last axis, which need not add up to 1: `num_samples` of each row. Without
    /// replacement, the first of an exponential race (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006); with it,
    /// where so many numbers fall among the running sums of the weights. A single one is the first of a race.
    ///
    /// # Errors
    ///
    /// Weights that are not floats, other than one or two axes; no samples, or without replacement more than there are weights. Weights
    /// that are negative or not finite, rows of zeros: what is not known yet is found when the samples are computed.
    #[surface(method, function, keywords_from = "generator")]
    pub fn multinomial(
        &self,
        num_samples: usize,
        #[default(false)] replacement: bool,
        #[default(None)] generator: Option<&Generator>,
    ) -> Result<Tensor> {
        floats("multinomial", self)?;
        let shape = self.shape();
        let rank = shape.rank();
        if !(1..=2).contains(&rank) || shape[rank - 1] == 0 {
            return refused("multinomial", format!("takes weights in one or two axes, got shape {shape}"));
        }
        let n = shape[rank - 1];
        if num_samples == 0 || !replacement && num_samples > n {
            return refused("multinomial", format!("{num_samples} samples of {n} weights"));
        }
        let wide = drawn_in(self.dtype());
        let mut weights = valid("multinomial", &self.detach().node().cast(wide), Valid::Weight)?;
        let sums = weights.reduce(ReduceKind::Sum, 1 << (rank - 1), true)?;
        if weights.value().is_some() && self.device().is_cpu() && !mg_graph::is_recording() {
            // What is known is told of here.
            mg_graph::realize_quietly(&[&sums])?;
        }
        if let Some(zeros) = unseen("multinomial", &sums, Valid::Sum)? {
            weights = Node::map(Row::Add, &[&weights, &zeros.cast(wide)])?;
        }
        let draw = |sizes: &[usize], dtype| uniform(sizes, dtype, self.device(), generator);
        if replacement && num_samples > 1 {
            // A place below the sum of all weights is that of the first whose running sum is beyond it.
            let mut parts = Tensor::from_node(weights.cast(DType::F64));
            if wide == DType::F64 {
                // Where their sum is beyond what there is, the weights count as parts of as much.
                let part = 0.5 / n as f64;
                let [whole, part] = [1.0, part].map(|scale| Tensor::from_node(sums.lit(scale)));
                let is_finite = Tensor::from_node(sums.clone()).try_isfinite()?;
                parts = parts.try_mul(&Tensor::where_(&is_finite, &whole, &part)?)?;
            }
            let ends = parts.try_cumsum(-1, None)?;
            let sum = ends.narrow(-1, -1, 1)?.node();
            let places = draw(&shape.with(rank - 1, num_samples), DType::F64)?;
            let places = Tensor::from_node(Node::map(Row::Mul, &[&places, &sum])?);
            return Tensor::try_searchsorted(&ends, places, false, true, None, None);
        }
        // How early each arrives; none at 0, which a weight of 0 would be divided by.
        let u = draw(&shape, wide)?;
        let race = Node::map(Row::Div, &[&weights, &u.add(&u.lit(f64::powi(2.0, -26))).map(Row::Log).neg()])?;
        if num_samples == 1 {
            return Ok(Tensor::from_node(race.reduce(ReduceKind::ArgMax, 1 << (rank - 1), true)?));
        }
        Ok(Tensor::from_node(race).try_topk(num_samples, -1, true, true)?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upper_half_of_a_product_is_exact() {
        let bits = [0, 1, 0xFFFF_FFFF, 0x1_0000_0000, 0xDEAD_BEEF_1234_5678, u64::MAX - 1, u64::MAX];
        let u64s = |values: Vec<u64>| Tensor::from_slice(&values).node();
        for width in [1, 3, 0xFFFF_FFFF, 0x1_0000_0001, 3 << 61, (1 << 63) - 1, 1 << 63, u64::MAX] {
            let upper = u64s(bits.iter().map(|b| b >> 32).collect());
            let lower = u64s(bits.iter().map(|b| b & 0xFFFF_FFFF).collect());
            let got = Tensor::from_node(upper_half(&upper, &lower, width)).to_vec::<u64>().unwrap();
            let wanted = bits.map(|b| ((u128::from(b) * u128::from(width)) >> 64) as u64);
            assert_eq!(got, wanted, "{width}");
        }
    }

    #[test]
    fn the_number_before_another_is_its_neighbour() {
        assert_eq!(before(1.0, DType::F32), f64::from(1f32.next_down()));
        assert_eq!(before(0.1, DType::F32), f64::from(0.1f32.next_down()));
        assert_eq!(before(1.0, DType::F64), 1f64.next_down());
        assert_eq!(before(1.0, DType::F16), 1.0 - 2f64.powi(-11));
        assert_eq!(before(0.0, DType::BF16), -bf16::from_bits(1).to_f64());
        assert_eq!([DType::F16, DType::F32].map(largest), [65504.0, f64::from(f32::MAX)]);
    }
}
