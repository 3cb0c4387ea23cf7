//! Mixed precision: regions in which products run in f16 or bf16, and what needs the digits in f32.
//!
//! Each declared operation asks here when it is called ([`mg_macros`] writes that), so nothing else knows of it:
//! what is recorded are conversions and operations as if they had been written out, and gradients come back through
//! the conversions in the dtype that the parameter has.

mod lists;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use mg_device::{DType, Device, Error, ErrorKind, Result};

use crate::ops::Operand;
use crate::tensor::Tensor;

pub use lists::{Way, Ways, listed, ways};

/// A kind of device, each of which has lists of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceKind {
    /// The CPU.
    Cpu,
    /// CUDA devices.
    Cuda,
}

impl From<Device> for DeviceKind {
    fn from(device: Device) -> DeviceKind {
        if device.is_cuda() { DeviceKind::Cuda } else { DeviceKind::Cpu }
    }
}

/// What a thread's regions say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AutocastState {
    /// Whether operations on the CPU convert their operands, and on CUDA devices.
    enabled: [bool; 2],
    /// To what.
    dtypes: [DType; 2],
    /// Whether a parameter is converted once in a region.
    caches: bool,
}

impl AutocastState {
    const OFF: AutocastState =
        AutocastState { enabled: [false; 2], dtypes: [DType::BF16, DType::F16], caches: true };

    /// Whether operations on the device convert their operands.
    #[must_use]
    pub fn is_enabled(self, device: impl Into<DeviceKind>) -> bool {
        self.enabled[device.into() as usize]
    }

    /// The dtype of regions on the device.
    #[must_use]
    pub fn dtype(self, device: impl Into<DeviceKind>) -> DType {
        self.dtypes[device.into() as usize]
    }

    /// Whether a parameter is converted once in a region.
    #[must_use]
    pub fn caches(self) -> bool {
        self.caches
    }

    /// The same with operations on the device's kind switched on or off, and another dtype for them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::DType`] for what is neither f16 nor bf16.
    pub fn with(
        mut self,
        device: impl Into<DeviceKind>,
        enabled: bool,
        dtype: DType,
    ) -> Result<AutocastState> {
        if enabled && !dtype.is_half() {
            let text = format!("takes float16 or bfloat16, got {dtype}");
            return Err(Error::new("autocast", ErrorKind::DType(text)));
        }
        let at = device.into() as usize;
        (self.enabled[at], self.dtypes[at]) = (enabled, dtype);
        Ok(self)
    }

    /// The same with the cache on or off.
    #[must_use]
    pub fn with_cache(self, caches: bool) -> AutocastState {
        AutocastState { caches, ..self }
    }
}

/// Parameters that were converted, and the number of the value that they had: one that was overwritten has another number. What a step that is
/// being recorded converts is part of that step, and of no other.
type Converted = HashMap<Conversion, (u64, Tensor)>;

/// Which parameter, into what, whether gradients were recorded, and by which recording.
type Conversion = (usize, DType, bool, u64);

thread_local! {
    static STATE: Cell<AutocastState> = const { Cell::new(AutocastState::OFF) };
    /// Whether it says anything, and the thread is not within an operation that has been taken care of.
    static ON: Cell<bool> = const { Cell::new(false) };
    static CONVERTED: RefCell<Option<Converted>> = const { RefCell::new(None) };
}

/// Whether any thread was in a region at some time: every operation asks, and most programs have none.
static EVER: AtomicBool = AtomicBool::new(false);

/// What this thread's regions say.
#[must_use]
pub fn autocast_state() -> AutocastState {
    STATE.get()
}

/// Sets what this thread's regions say; answers with what it was. [`autocast`] and [`AutocastGuard`] restore it by
/// themselves.
pub fn set_autocast_state(state: AutocastState) -> AutocastState {
    let says = state.enabled != [false; 2];
    ON.set(says);
    if says {
        EVER.store(true, Ordering::Relaxed);
    } else {
        clear_autocast_cache();
    }
    STATE.replace(state)
}

/// Forgets the parameters that were converted.
pub fn clear_autocast_cache() {
    // Taken out first: to let go of a tensor may do anything.
    let forgotten = CONVERTED.take();
    drop(forgotten);
}

/// Forgets the parameters that a recording has converted, by its first node.
pub(crate) fn forget_recording(start: u64) {
    let of = |(_, _, _, recording): &Conversion| *recording == start;
    let forgotten: Vec<_> = CONVERTED.with_borrow_mut(|all| {
        all.as_mut().map(|all| all.extract_if(|key, _| of(key)).collect()).unwrap_or_default()
    });
    drop(forgotten);
}

/// Restores what the thread's regions said when it is dropped.
#[must_use = "the region ends when this is dropped"]
pub struct AutocastGuard(AutocastState);

impl AutocastGuard {
    /// Sets what the thread's regions say.
    pub fn new(state: AutocastState) -> AutocastGuard {
        AutocastGuard(set_autocast_state(state))
    }
}

impl Drop for AutocastGuard {
    fn drop(&mut self) {
        set_autocast_state(self.0);
    }
}

/// Runs a function with products (matrix products, convolutions, attention, recurrent layers) in f16 or bf16 on
/// every device, and in f32 what loses too much there (losses; on CUDA devices also sums, powers, exponentials and
/// normalisations). Parameters stay what they are, and have gradients of their own dtype. f64 is left alone. What
/// is written in place keeps the dtype that it has.
///
/// Which operation runs how is what PyTorch says of it, for each kind of device: [`ways`]. The backward pass
/// belongs outside.
///
/// ```
/// use mg_autograd::{Tensor, autocast};
/// use mg_device::DType;
///
/// let w = Tensor::from_slice(&[2.0f32]).requires_grad_(true)?;
/// let y = autocast(DType::BF16, || w.matmul(&w))?;
/// assert_eq!(y.dtype(), DType::BF16);
/// y.sum().backward()?;
/// assert_eq!(w.grad().unwrap().dtype(), DType::F32);
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// [`ErrorKind::DType`] for what is neither f16 nor bf16.
pub fn autocast<T>(dtype: DType, f: impl FnOnce() -> T) -> Result<T> {
    let state = autocast_state().with(DeviceKind::Cpu, true, dtype)?.with(DeviceKind::Cuda, true, dtype)?;
    let _region = AutocastGuard::new(state);
    Ok(f())
}

/// Whether an operation that is called now has to ask how it runs.
#[inline]
pub(crate) fn is_on() -> bool {
    EVER.load(Ordering::Relaxed) && ON.get()
}

/// Until it is dropped, operations run in the dtypes that they are given.
#[must_use = "they run in others once this is dropped"]
pub struct Aside(bool);

/// See [`Aside`].
pub(crate) fn aside() -> Aside {
    Aside(ON.replace(false))
}

impl Drop for Aside {
    fn drop(&mut self) {
        ON.set(self.0);
    }
}

/// How an operation that is called now runs.
pub(crate) enum Entry {
    /// With operands of this dtype.
    In(To),
    /// As it is, and so does what it is composed of.
    AsItIs,
    /// By its parts.
    ByParts,
}

/// Into what operands are converted.
#[derive(Clone, Copy)]
pub(crate) struct To {
    dtype: DType,
    cuda: bool,
    caches: bool,
}

/// How an operation runs with these operands, the first of which says where.
pub(crate) fn entered(op: &'static str, ways: Ways, operands: &[&Tensor]) -> Result<Entry> {
    let Some(first) = operands.first() else { return Ok(Entry::AsItIs) };
    // An operand beside one on a CUDA device is a number that stands on the host.
    let device = operands.iter().map(|t| t.device()).find(|d| d.is_cuda()).unwrap_or_else(|| first.device());
    let state = autocast_state();
    if !state.is_enabled(device) {
        return Ok(Entry::AsItIs);
    }
    let cuda = device.is_cuda();
    let into = |dtype, caches| Entry::In(To { dtype, cuda, caches });
    Ok(match if cuda { ways.cuda } else { ways.cpu } {
        Way::Own => Entry::AsItIs,
        Way::Parts => Entry::ByParts,
        Way::Lower => into(state.dtype(device), state.caches),
        Way::LowerOfSeveral if operands.len() < 2 => Entry::AsItIs,
        Way::LowerOfSeveral => into(state.dtype(device), state.caches),
        Way::Single => into(DType::F32, false),
        Way::Widest => {
            let mut floats = operands.iter().map(|t| t.dtype()).filter(|d| d.is_float());
            let Some(first) = floats.next() else { return Ok(Entry::AsItIs) };
            match floats.fold(first, DType::promote) {
                DType::F64 => Entry::AsItIs,
                widest => into(widest, false),
            }
        }
        Way::Refused => {
            let text = "is not safe under autocast: its answers may be beyond what float16 holds. Take \
                        binary_cross_entropy_with_logits of what sigmoid was taken of, or convert to float32 in a region \
                        with enabled=False";
            return Err(Error::new(op, ErrorKind::DType(text.into())));
        }
    })
}

impl To {
    /// A tensor as the operation takes it: integers, truth values and f64 stay.
    pub(crate) fn tensor(self, t: &Tensor) -> Tensor {
        let own = t.dtype();
        let stays = own.float().is_none()
            || own == DType::F64
            || own == self.dtype
            || t.device().is_cuda() != self.cuda;
        if stays {
            return t.clone();
        }
        if !self.caches || own != DType::F32 || !t.keeps_grad() {
            return t.to_dtype(self.dtype);
        }
        let recording = if mg_graph::is_recording() { mg_graph::started() } else { 0 };
        let (key, sequence) = ((t.id(), self.dtype, mg_graph::is_tracking(), recording), t.node().sequence());
        let known = CONVERTED.with_borrow(|all| all.as_ref().and_then(|all| all.get(&key).cloned()));
        // One whose history an earlier backward has let go is made anew.
        let is_it = |(of, known): &(u64, Tensor)| *of == sequence && !known.node().is_released();
        known.filter(is_it).map(|(_, known)| known).unwrap_or_else(|| {
            let converted = t.to_dtype(self.dtype);
            let new = (sequence, converted.clone());
            // Let go of when nothing is borrowed.
            let old = CONVERTED.with_borrow_mut(|all| all.get_or_insert_default().insert(key, new));
            drop(old);
            converted
        })
    }

    pub(crate) fn tensors(self, all: &[Tensor]) -> Vec<Tensor> {
        all.iter().map(|t| self.tensor(t)).collect()
    }

    pub(crate) fn operand(self, operand: Operand) -> Operand {
        match operand {
            Operand::Tensor(t) => Operand::Tensor(self.tensor(&t)),
            number @ (Operand::Float(_) | Operand::Int(_) | Operand::Bool(_) | Operand::Live(_)) => number,
        }
    }
}

/// The operands of an operation that is composed of nothing, as it takes them; what is made of them while the
/// second answer lives is part of it.
///
/// # Errors
///
/// Operations that are refused in mixed precision.
#[inline]
pub fn taken<const N: usize>(
    op: &'static str,
    operands: [&Tensor; N],
) -> Result<([Tensor; N], Option<Aside>)> {
    if !is_on() {
        return Ok((operands.map(Tensor::clone), None));
    }
    let to = entered(op, ways(op), &operands)?;
    let operands = operands.map(|t| match to {
        Entry::In(to) => to.tensor(t),
        Entry::AsItIs | Entry::ByParts => t.clone(),
    });
    Ok((operands, Some(aside())))
}
