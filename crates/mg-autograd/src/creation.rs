//! Tensors from data, constants and random numbers.

use crate::caller::public;
use crate::tensor::Tensor;
use mg_device::{Buffer, DType, Device, Element, Error, ErrorKind, Layout, Result, Shape};
use mg_graph::{Node, Value, cell_bits};
use mg_kernels::{Algebra, Law, Row, Rules};
use std::cell::{Cell, RefCell};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock};

/// A generator of random numbers: a seed, which is the key of Philox4x32-10, and the position of the next number.
///
/// What is drawn takes its positions when the operation is called, in program order, whenever and wherever it is computed: the
/// same seed gives the same numbers on every device, fused or not. A draw of `n` uniform numbers takes `n` positions, rounded up
/// to a multiple of 4; the element at row-major position `i` is the number at the draw's first position plus `i`. An f32 is the
/// upper 24 bits of word `at % 4` of the block at counter `at / 4`; an f64 the upper 53 bits of words `2 (at % 2)` and the next
/// of the block at counter `2⁶³ + at / 2`.
///
/// Uniform, exponential, geometric, Cauchy and Bernoulli numbers, and integers from a range of less
/// than 2⁵³ take one draw of as many numbers (integers in f64, others in f64 for f64 tensors and in f32 else); so do normal and
/// log-normal numbers: of the numbers u and v at an even position and the next, the first is √(−2 ln(1 − u))·cos 2πv, the second the same with
/// the sine. Integers from larger ranges take two draws, one after the other. A permutation of `n` is the order
/// of `n` numbers of f64. `multinomial` takes one draw: a number for each weight, in f64 for f64 tensors and in f32 else; several
/// samples with replacement, a number of f64 for each sample.
///
/// Clones are handles on one generator.
///
/// ```
/// use mg_autograd::{Generator, Tensor};
/// use mg_device::DType;
///
/// let (a, b) = (Generator::new(), Generator::new());
/// a.manual_seed(7);
/// b.manual_seed(7);
/// let x = Tensor::zeros(&[3], DType::F32)?;
/// assert_eq!(
///     x.uniform_like(0.0, 1.0, Some(&a)).to_vec::<f32>()?,
///     x.uniform_like(0.0, 1.0, Some(&b)).to_vec::<f32>()?,
/// );
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone)]
pub struct Generator(Arc<Mutex<(u64, u64)>>);

impl Default for Generator {
    fn default() -> Generator {
        Generator::new()
    }
}

impl Generator {
    /// A generator of its own, with the seed that PyTorch's generators have at first.
    pub fn new() -> Generator {
        Generator(Arc::new(Mutex::new((67_280_421_310_721, 0))))
    }

    /// The generator that random tensors come from where none is named: one for all threads, but for those that have one of their own
    /// ([`draw_from`]).
    pub fn global() -> Generator {
        OWN.with_borrow(|own| own.clone()).unwrap_or_else(|| GENERATOR.clone())
    }

    fn is(&self, other: &Generator) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Starts anew with a seed.
    pub fn manual_seed(&self, seed: u64) {
        self.set_state(seed, 0);
    }

    /// Starts anew with a seed that nobody knows, and answers with it.
    pub fn seed(&self) -> u64 {
        let seed = RandomState::new().build_hasher().finish();
        self.manual_seed(seed);
        seed
    }

    /// The seed and the position of the next number.
    pub fn state(&self) -> (u64, u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on with a seed from a position; see [`Generator::state`].
    pub fn set_state(&self, seed: u64, position: u64) {
        crate::jit::note_seed();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (seed, position);
    }

    /// Takes `n` positions, and answers with the seed and the first of them.
    pub(crate) fn draw(generator: Option<&Generator>, n: usize) -> (u64, u64) {
        let global = Generator::global();
        let generator = generator.unwrap_or(&global);
        // Whole blocks of Philox, so that neighbours never share one.
        let taken = n.next_multiple_of(4) as u64;
        if generator.is(&global) {
            DRAWN.set(DRAWN.get().wrapping_add(taken));
        } else {
            // A replay goes on from where the global generator is, and knows of no other.
            crate::jit::note_draw("it draws random numbers from a generator of its own");
        }
        let mut state = generator.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (seed, at) = *state;
        state.1 = at.wrapping_add(taken);
        (seed, at)
    }
}

/// Every random node takes its positions when it is made, in program order.
static GENERATOR: LazyLock<Generator> =
    LazyLock::new(|| Generator(Arc::new(Mutex::new((0x6d69_6372_6f67_7261, 0)))));

/// The default device, once it was asked for.
static DEFAULT_DEVICE: RwLock<Option<Device>> = RwLock::new(None);

/// Makes this the device of tensors that are made without naming one, of data too: `torch.set_default_device`. It is the
/// CPU unless `MG_DEVICE` says otherwise.
///
/// # Errors
///
/// A device that is not there.
#[track_caller]
pub fn set_default_device(device: Device) -> Result<()> {
    device.check()?;
    *DEFAULT_DEVICE.write().unwrap_or_else(PoisonError::into_inner) = Some(device);
    Ok(())
}

thread_local! {
    static HERE: Cell<Option<Device>> = const { Cell::new(None) };
}

/// Runs `f` with another default device on this thread: tensors that it makes are made there, not made here and moved.
///
/// # Errors
///
/// A device that is not there.
#[track_caller]
pub fn with_default_device<R>(device: Device, f: impl FnOnce() -> R) -> Result<R> {
    struct Restore(Option<Device>);
    impl Drop for Restore {
        fn drop(&mut self) {
            HERE.set(self.0);
        }
    }
    device.check()?;
    let _restore = Restore(HERE.replace(Some(device)));
    Ok(f())
}

/// Makes another device the default of this thread from now on, or none of its own; answers with the one before. As
/// [`with_default_device`], for those who cannot give a function.
///
/// # Errors
///
/// A device that is not there.
#[track_caller]
pub fn set_default_device_here(device: Option<Device>) -> Result<Option<Device>> {
    if let Some(device) = device {
        device.check()?;
    }
    Ok(HERE.replace(device))
}

/// The device of tensors that are made without naming one; see [`set_default_device`] and [`with_default_device`].
pub fn default_device() -> Device {
    if let Some(here) = HERE.get() {
        return here;
    }
    let known = *DEFAULT_DEVICE.read().unwrap_or_else(PoisonError::into_inner);
    known.unwrap_or_else(|| {
        // A device that is not there stays the default: whoever uses it is told.
        let named =
            match std::env::var("MG_DEVICE").ok().filter(|name| !name.is_empty()).map(|name| name.parse()) {
                Some(Ok(device)) => device,
                Some(Err(error)) => {
                    // Nobody is there to take an error, and on another device than was asked for everything looks right.
                    let error: Error = error;
                    eprintln!("MG_DEVICE: {}; the CPU is used", error.kind());
                    Device::cpu()
                }
                None => Device::cpu(),
            };
        *DEFAULT_DEVICE.write().unwrap_or_else(PoisonError::into_inner) = Some(named);
        named
    })
}

/// Data on the default device.
#[track_caller]
fn placed(buffer: Buffer) -> Result<Buffer> {
    let device = default_device();
    if device.is_cpu() { Ok(buffer) } else { buffer.to_device(device) }
}

/// Seeds the generator of random tensors: the same seed gives the same numbers, on every device, fused or not.
pub fn manual_seed(seed: u64) {
    Generator::global().manual_seed(seed);
}

thread_local! {
    /// What this thread draws from, if that is not what all do.
    static OWN: RefCell<Option<Generator>> = const { RefCell::new(None) };
}

/// Makes this the generator of random tensors on this thread, or gives the thread the one of all again. Answers with what it had.
///
/// ```
/// use mg_autograd::{Generator, Tensor, draw_from, manual_seed};
/// use mg_device::DType;
///
/// manual_seed(1);
/// let of_a_worker = std::thread::spawn(|| {
///     draw_from(Some(Generator::new()));
///     manual_seed(7);
///     Tensor::rand(&[2], DType::F32)?.to_vec::<f32>()
/// });
/// let of_a_worker = of_a_worker.join().expect("it does not panic")?;
/// let here = Tensor::rand(&[2], DType::F32)?.to_vec::<f32>()?;
/// manual_seed(7);
/// assert_eq!(Tensor::rand(&[2], DType::F32)?.to_vec::<f32>()?, of_a_worker);
/// manual_seed(1);
/// assert_eq!(Tensor::rand(&[2], DType::F32)?.to_vec::<f32>()?, here);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub fn draw_from(generator: Option<Generator>) -> Option<Generator> {
    crate::jit::note_draw("it gives its thread another generator of random numbers");
    OWN.replace(generator)
}

/// The generator's seed and next position.
pub(crate) fn generator() -> (u64, u64) {
    Generator::global().state()
}

/// Runs `f` with the generator as it was once, and puts it back to what it is now: numbers that were drawn are drawn again.
pub(crate) fn from_state<R>(seed: u64, position: u64, f: impl FnOnce() -> R) -> R {
    struct Restore(Option<Generator>, u64);
    impl Drop for Restore {
        fn drop(&mut self) {
            OWN.replace(self.0.take());
            DRAWN.set(self.1);
        }
    }
    // Of this thread alone: others go on.
    let once = Generator(Arc::new(Mutex::new((seed, position))));
    let _restore = Restore(OWN.replace(Some(once)), DRAWN.get());
    f()
}

/// Takes positions that a replayed step has drawn.
pub(crate) fn advance(n: u64) {
    let generator = Generator::global();
    let mut state = generator.0.lock().unwrap_or_else(PoisonError::into_inner);
    state.1 = state.1.wrapping_add(n);
}

thread_local! {
    /// The positions that this thread has taken so far.
    static DRAWN: Cell<u64> = const { Cell::new(0) };
}

/// How many positions this thread has taken so far.
pub(crate) fn drawn() -> u64 {
    DRAWN.get()
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
            let refused = |text| Err(Error::new("arange", ErrorKind::Value(text)));
            if step == 0.0 || !(start.is_finite() && end.is_finite() && step.is_finite()) {
                let text = "takes finite numbers and a step that is not 0";
                return refused(format!("from {start} to {end} by {step}: {text}"));
            }
            let n = ((end - start) / step).ceil().max(0.0);
            if n > isize::MAX as f64 / 16.0 {
                return refused(format!("{n} elements are too many"));
            }
            let whole = dtype.is_int();
            let (start, step) = if whole { (start.trunc(), step.trunc()) } else { (start, step) };
            let steps = Tensor::arange(n as usize).to_dtype(DType::F64);
            Ok(steps.try_mul(step)?.try_add(start)?.to_dtype(dtype))
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
            Ok(Tensor::from_node(u.scale(high - low).add(&u.lit(low))))
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
            if !dtype.is_float() {
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
            if !self.dtype().is_float() {
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

pub(crate) fn takes_floats(dtype: DType) -> ErrorKind {
    ErrorKind::DType(format!("takes a floating-point dtype, got {dtype}"))
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
    if !dtype.is_float() {
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
    if !dtype.is_float() {
        return Err(Error::new("normal", takes_floats(dtype)));
    }
    let shape = Shape::new(shape)?;
    let drawn = Generator::draw(generator, shape.numel());
    Ok(Node::random(Law::Normal, shape, drawn_in(dtype), device, drawn).cast(dtype))
}
