//! Tensors from data, constants and random numbers.

use crate::caller::public;
use crate::default_device::default_device;
use crate::generator::Generator;
use crate::operations::between;
use crate::tensor::Tensor;
use mg_device::{Buffer, DType, Device, Element, Error, ErrorKind, Layout, Result, Shape};
use mg_graph::{Node, Value, cell_bits};
use mg_kernels::{Algebra, Law, Row, Rules};

/// Data on the default device.
#[track_caller]
fn placed(buffer: Buffer) -> Result<Buffer> {
    let device = default_device();
    if device.is_cpu() { Ok(buffer) } else { buffer.to_device(device) }
}

/// `steps` numbers as far from each other, from `start` to `end`, both included, in f64; where they are to be integers of `dtype`, from
/// `start` and to `end` without their fractions.
pub(crate) fn evenly_spaced(
    start: f64,
    end: f64,
    steps: usize,
    dtype: DType,
    device: Device,
) -> Result<Node> {
    let (start, end) = if dtype.is_int() { (start.trunc(), end.trunc()) } else { (start, end) };
    let i = Node::ramp(Shape::new(&[steps])?, device).cast(DType::F64);
    let gaps = steps.saturating_sub(1) as f64;
    let step = if steps > 1 { (end - start) / gaps } else { 0.0 };
    // From the nearer end, so that both ends are exact.
    let up = i.scale(step).add(&i.lit(start));
    let down = i.sub(&i.lit(gaps)).scale(step).add(&i.lit(end));
    // Where an end is 0, nothing is added to the product with the step: its own zero has the step's sign.
    let ended = |line: Node, at: f64, value: f64| match value == 0.0 && step < 0.0 {
        true => Node::apply(Row::Eq, &[&i, &i.lit(at)]).choose(&i.lit(value), &line),
        false => line,
    };
    let (up, down) = (ended(up, 0.0, start), ended(down, gaps, end));
    Ok(match steps {
        0 | 1 => up,
        _ => i.lt(&i.lit(steps as f64 / 2.0)).choose(&up, &down),
    })
}

impl Tensor {
    /// A vector of a slice's elements, copied. Where the default device cannot be used, whoever reads it is told.
    #[track_caller]
    pub fn from_slice<T: Element>(data: &[T]) -> Tensor {
        let node = match Buffer::from_slice(data).and_then(placed) {
            Ok(buffer) => {
                Node::from_value(Value { buffer, layout: Layout::contiguous(Shape::of(&[data.len()])) })
            }
            Err(error) => Node::failed(error, &Node::scalar(0.0, T::DTYPE, Device::cpu(), true)),
        };
        Tensor::from_node(node)
    }

    /// A tensor of a vector's elements in row-major order; without a copy where the default device is the host.
    ///
    /// # Errors
    ///
    /// Another number of elements than the shape's, more than 16 axes; a default device that cannot be used.
    #[track_caller]
    pub fn from_vec<T: Element>(data: Vec<T>, shape: &[usize]) -> Result<Tensor> {
        public("from_vec", || {
            let shape = Shape::new(shape)?;
            if shape.numel() != data.len() {
                let text = format!("{} elements do not fill shape {shape}", data.len());
                return Err(Error::new("from_vec", ErrorKind::Shape(text)));
            }
            let value = Value { buffer: placed(Buffer::from_vec(data))?, layout: Layout::contiguous(shape) };
            Ok(Tensor::from_node(Node::from_value(value)))
        })
    }

    /// A tensor of a buffer's elements in row-major order, without a copy.
    ///
    /// # Errors
    ///
    /// Another number of elements than the shape's.
    #[track_caller]
    pub fn from_buffer(buffer: Buffer, shape: Shape) -> Result<Tensor> {
        if shape.numel() != buffer.len() {
            let text = format!("{} elements do not fill shape {shape}", buffer.len());
            return Err(Error::new("from_buffer", ErrorKind::Shape(text)));
        }
        Ok(Tensor::on(Value { buffer, layout: Layout::contiguous(shape) }))
    }

    /// A tensor without axes.
    #[track_caller]
    pub fn scalar<T: Element>(value: T) -> Tensor {
        // A line of one element, seen without its axis: nobody else has it, so it is a tensor of its own.
        let line = Tensor::from_slice(&[value]).node();
        Tensor::from_node(line.reshape(Shape::scalar()).unwrap_or(line))
    }

    #[track_caller]
    pub(crate) fn full_on(shape: &[usize], value: f64, dtype: DType, device: Device) -> Result<Tensor> {
        let scalar = Node::scalar_bits(cell_bits(value, dtype), dtype, device, false);
        Ok(Tensor::from_node(scalar.expand(Shape::new(shape)?)?))
    }

    /// The same value everywhere.
    ///
    /// # Errors
    ///
    /// More than 16 axes, sizes that overflow.
    #[track_caller]
    pub fn full(shape: &[usize], value: f64, dtype: DType) -> Result<Tensor> {
        public("full", || Tensor::full_on(shape, value, dtype, default_device()))
    }

    /// Zeros.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full`].
    #[track_caller]
    pub fn zeros(shape: &[usize], dtype: DType) -> Result<Tensor> {
        public("zeros", || Tensor::full(shape, 0.0, dtype))
    }

    /// Ones.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full`].
    #[track_caller]
    pub fn ones(shape: &[usize], dtype: DType) -> Result<Tensor> {
        public("ones", || Tensor::full(shape, 1.0, dtype))
    }

    /// As [`Tensor::zeros`]: there is no memory that nobody wrote.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full`].
    #[track_caller]
    pub fn empty(shape: &[usize], dtype: DType) -> Result<Tensor> {
        public("empty", || Tensor::zeros(shape, dtype))
    }

    /// 0, 1, …, `n` − 1, i64. More of them than can be counted are an error for whoever reads them.
    #[track_caller]
    pub fn arange(n: usize) -> Tensor {
        let ramp = |n| Node::ramp(Shape::of(&[n]), default_device());
        Tensor::from_node(match Shape::new(&[n]) {
            Ok(_) => ramp(n),
            Err(error) => Node::failed(Error::new("arange", error.kind().clone()), &ramp(0)),
        })
    }

    /// `start`, `start + step`, … before `end`, as many as there are in f64. In a dtype of integers they are counted so too, and are
    /// the multiples of the step without its fraction, from the start without its own, as in PyTorch.
    ///
    /// ```
    /// use mg_autograd::Tensor;
    /// use mg_device::DType;
    ///
    /// assert_eq!(Tensor::arange_by(1.0, 2.0, 0.25, DType::F64)?.to_vec::<f64>()?, [1.0, 1.25, 1.5, 1.75]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A step of 0, numbers that are not finite, too many elements.
    #[track_caller]
    pub fn arange_by(start: f64, end: f64, step: f64, dtype: DType) -> Result<Tensor> {
        public("arange", || {
            if step == 0.0 || !(start.is_finite() && end.is_finite() && step.is_finite()) {
                let text = "takes finite numbers and a step that is not 0";
                let text = format!("from {start} to {end} by {step}: {text}");
                return Err(Error::new("arange", ErrorKind::Value(text)));
            }
            let n = count_of(((end - start) / step).ceil().max(0.0))?;
            let whole = dtype.is_int();
            let (start, step) = if whole { (start.trunc(), step.trunc()) } else { (start, step) };
            let steps = Tensor::arange(n).to_dtype(DType::F64);
            Ok(steps.try_mul(step)?.try_add(start)?.to_dtype(dtype))
        })
    }

    /// As [`Tensor::arange_by`], of integers that f64 may not hold: i64, exactly.
    ///
    /// ```
    /// use mg_autograd::Tensor;
    ///
    /// assert_eq!(Tensor::arange_by_int(i64::MAX - 5, i64::MAX, 2)?.to_vec::<i64>()?, [i64::MAX - 5, i64::MAX - 3, i64::MAX - 1]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A step of 0, too many elements.
    #[track_caller]
    pub fn arange_by_int(start: i64, end: i64, step: i64) -> Result<Tensor> {
        public("arange", || {
            let way = match step {
                0 => return Err(Error::new("arange", ErrorKind::Value("the step cannot be 0".into()))),
                1.. => i128::from(end) - i128::from(start),
                ..0 => i128::from(start) - i128::from(end),
            };
            let n = count_of(way.max(0).unsigned_abs().div_ceil(i128::from(step).unsigned_abs()) as f64)?;
            let mut range = Tensor::arange(n);
            if step != 1 {
                range = range.try_mul(step)?;
            }
            if start != 0 {
                range = range.try_add(start)?;
            }
            Ok(range)
        })
    }

    /// `steps` numbers as far from each other, from `start` to `end`, both included; computed in f64. In a dtype of integers, from
    /// `start` and to `end` without their fractions, as in PyTorch.
    ///
    /// ```
    /// use mg_autograd::Tensor;
    /// use mg_device::DType;
    ///
    /// assert_eq!(Tensor::linspace(0.0, 1.0, 5, DType::F32)?.to_vec::<f32>()?, [0.0, 0.25, 0.5, 0.75, 1.0]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Too many elements.
    #[track_caller]
    pub fn linspace(start: f64, end: f64, steps: usize, dtype: DType) -> Result<Tensor> {
        public("linspace", || {
            let exact = evenly_spaced(start, end, steps, dtype, default_device())?;
            Ok(Tensor::from_node(exact.cast(dtype)))
        })
    }

    /// Uniform random numbers in [0, 1).
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; as [`Tensor::full`].
    #[track_caller]
    pub fn rand(shape: &[usize], dtype: DType) -> Result<Tensor> {
        public("rand", || Ok(Tensor::from_node(uniform(shape, dtype, default_device(), None)?)))
    }

    /// Uniform random numbers in [low, high).
    ///
    /// # Errors
    ///
    /// As [`Tensor::rand`].
    #[track_caller]
    pub fn uniform(shape: &[usize], low: f64, high: f64, dtype: DType) -> Result<Tensor> {
        public("uniform", || {
            let u = uniform(shape, dtype, default_device(), None)?;
            Ok(Tensor::from_node(between(u, low, high)))
        })
    }

    /// Normal random numbers of mean 0 and variance 1 (Box and Muller, 1958).
    ///
    /// # Errors
    ///
    /// As [`Tensor::rand`].
    #[track_caller]
    pub fn randn(shape: &[usize], dtype: DType) -> Result<Tensor> {
        public("randn", || {
            if dtype.float().is_none() {
                return Err(Error::new("randn", takes_floats(dtype)));
            }
            Ok(Tensor::from_node(normal(shape, dtype, default_device(), None)?))
        })
    }

    /// Uniform random numbers in [0, 1), in this tensor's shape and dtype, on its device.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; a device that cannot be used.
    #[track_caller]
    pub fn rand_like(&self) -> Result<Tensor> {
        public("rand_like", || {
            Ok(Tensor::from_node(uniform(&self.shape(), self.dtype(), self.device(), None)?))
        })
    }

    /// Normal random numbers of mean 0 and variance 1, in this tensor's shape and dtype, on its device.
    ///
    /// ```
    /// use mg_autograd::Tensor;
    /// use mg_device::DType;
    ///
    /// let x = Tensor::zeros(&[2, 3], DType::F64)?;
    /// let noise = x.randn_like()?;
    /// assert_eq!((noise.shape(), noise.dtype()), (x.shape(), x.dtype()));
    /// assert_eq!(x.full_like(2.5)?.to_vec::<f64>()?, [2.5; 6]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Tensor::rand_like`].
    #[track_caller]
    pub fn randn_like(&self) -> Result<Tensor> {
        public("randn_like", || {
            if self.dtype().float().is_none() {
                return Err(Error::new("randn_like", takes_floats(self.dtype())));
            }
            Ok(Tensor::from_node(normal(&self.shape(), self.dtype(), self.device(), None)?))
        })
    }

    /// One value in this tensor's shape and dtype, on its device.
    ///
    /// # Errors
    ///
    /// A device that cannot be used.
    #[track_caller]
    pub fn full_like(&self, value: f64) -> Result<Tensor> {
        public("full_like", || Tensor::full_on(&self.shape(), value, self.dtype(), self.device()))
    }

    /// The identity matrix.
    ///
    /// # Errors
    ///
    /// Sizes that overflow.
    #[track_caller]
    pub fn eye(n: usize, dtype: DType) -> Result<Tensor> {
        public("eye", || {
            Shape::new(&[n, n])?;
            let (rows, columns) = (Tensor::arange(n).unsqueeze(1)?, Tensor::arange(n));
            Ok(rows.eq(&columns).to_dtype(dtype))
        })
    }
}

/// The number of elements of a range, if there can be so many.
fn count_of(n: f64) -> Result<usize> {
    if n > isize::MAX as f64 / 16.0 {
        return Err(Error::new("arange", ErrorKind::Value(format!("{n} elements are too many"))));
    }
    Ok(n as usize)
}

pub(crate) fn takes_floats(dtype: DType) -> ErrorKind {
    let what =
        if dtype.is_narrow() { "floating-point dtype that is computed with" } else { "floating-point dtype" };
    ErrorKind::DType(format!("takes a {what}, got {dtype}"))
}

/// The dtype in which random numbers of a dtype are computed.
pub(crate) fn drawn_in(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// Uniform random numbers in [0, 1).
pub(crate) fn uniform(
    shape: &[usize],
    dtype: DType,
    device: Device,
    generator: Option<&Generator>,
) -> Result<Node> {
    if dtype.float().is_none() {
        return Err(Error::new("uniform", takes_floats(dtype)));
    }
    let shape = Shape::new(shape)?;
    let drawn = Generator::draw(generator, shape.numel());
    let node = Node::random(Law::Uniform, shape, dtype, device, drawn);
    // A half type rounds 1 − 2⁻²⁴ up to 1: such values become the largest below, where numbers are half as far apart.
    if dtype.is_half() {
        let largest = 1.0 - dtype.epsilon() / 2.0;
        return Ok(Node::apply(Row::Minimum, &[&node, &node.lit(largest)]).cast(dtype));
    }
    Ok(node)
}

/// Normal random numbers of mean 0 and variance 1 (Box and Muller, 1958).
pub(crate) fn normal(
    shape: &[usize],
    dtype: DType,
    device: Device,
    generator: Option<&Generator>,
) -> Result<Node> {
    if dtype.float().is_none() {
        return Err(Error::new("normal", takes_floats(dtype)));
    }
    let shape = Shape::new(shape)?;
    let drawn = Generator::draw(generator, shape.numel());
    Ok(Node::random(Law::Normal, shape, drawn_in(dtype), device, drawn).cast(dtype))
}
