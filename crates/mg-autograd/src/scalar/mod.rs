//! The scalar engine: micrograd's `Value` in f64, on a tape.
//!
//! A [`Value`] is one number that remembers how it was computed. [`Value::backward`] gives every number it came from its
//! gradient. This is the whole of reverse-mode differentiation with nothing around it, and a good place to see it work:
//! [`Value::to_svg`] draws the graph.
//!
//! ```
//! use mg_autograd::scalar::Value;
//!
//! let x = Value::new(-4.0);
//! let z = 2.0 * &x + 2.0 + &x;
//! let q = z.relu() + &z * &x;
//! let h = (&z * &z).relu();
//! let y = &h + &q + &q * &x;
//! y.backward();
//! assert_eq!((y.data(), x.grad()), (-20.0, 46.0));
//! ```
//!
//! It takes tens of millions of nodes a second each way; `tape.rs` says how.

mod backward;
mod draw;
mod layout;
mod op;
mod ops;
mod pool;
mod span;
mod state;
mod svg;
mod tape;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::ptr::NonNull;

use mg_device::{Device, Error, ErrorKind, Result};

use op::{Form, Op};
use tape::{Node, Operand};

pub use draw::Direction;
pub use ops::Number;
pub use span::Span;
pub use state::{GraphState, NodeState, Side};

/// A number (f64) and how it was computed.
///
/// A `Value` is a handle on a node of the tape: cloning it names the same node. The node, and what only it refers to, goes
/// when its last handle does. Handles may go to other threads; each operation there is safe, and gradients that two
/// threads add to one leaf at the same time are both counted.
///
/// A leaf (one made by [`Value::new`]) accumulates gradients over calls of [`backward`](Value::backward) until
/// [`zero_grad`](Value::zero_grad). Any other value shows the gradient of the last call that reached it.
///
/// Values compare by their [`data`](Value::data), with each other and with numbers; [`Value::is`] asks whether two handles
/// name one node.
#[repr(transparent)]
pub struct Value(NonNull<Node>);

// SAFETY: a node's count, numbers and flags are atomic; its other fields are not written while a handle is out.
unsafe impl Send for Value {}
// SAFETY: as above.
unsafe impl Sync for Value {}

impl Value {
    /// A leaf on the CPU.
    #[inline]
    #[must_use]
    pub fn new(data: f64) -> Value {
        Value(tape::leaf(data, CPU))
    }

    /// A leaf with a device as its label. Arithmetic stays on the host.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Device`] for an ordinal above 254. The machine need not have the device: [`Device::check`] tells.
    #[track_caller]
    pub fn with_device(data: f64, device: Device) -> Result<Value> {
        Ok(Value(tape::leaf(data, device_code("value", device)?)))
    }

    /// The number.
    #[inline]
    #[must_use]
    pub fn data(&self) -> f64 {
        self.node().data()
    }

    /// Changes the number. What was computed from it stays as it is, but is differentiated at the new number.
    #[inline]
    pub fn set_data(&self, data: f64) {
        self.node().set_data(data);
    }

    /// The derivative, by this value, of what [`backward`](Value::backward) was called on; 0 before.
    #[inline]
    #[must_use]
    pub fn grad(&self) -> f64 {
        self.node().grad()
    }

    /// Changes the gradient.
    #[inline]
    pub fn set_grad(&self, grad: f64) {
        self.node().set_grad(grad);
    }

    /// Sets this value's gradient to 0.
    #[inline]
    pub fn zero_grad(&self) {
        self.node().set_grad(0.0);
    }

    /// The name of the operation as micrograd writes it: "" for a leaf, "+", "*", "**3", "ReLU", and so on.
    #[must_use]
    pub fn op(&self) -> Cow<'static, str> {
        self.node().op.name(self.node().form, self.number().unwrap_or(0.0))
    }

    /// Whether it was not computed from other values.
    #[inline]
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        self.node().form == Form::Leaf
    }

    /// The values it was computed from, each once, as micrograd's `_prev`.
    ///
    /// A number that was an operand appears as a leaf made for the answer, with its gradient. An exponent or a base that
    /// is a number is part of the operation's name instead.
    #[must_use]
    pub fn prev(&self) -> Vec<Value> {
        let mut prev: Vec<Value> = Vec::new();
        self.for_each_operand(|v| {
            if !prev.iter().any(|p| p.is(v)) {
                prev.push(v.clone());
            }
        });
        if let Some((data, grad)) = self.shown_number() {
            let leaf = Value(tape::leaf(data, self.node().device));
            leaf.set_grad(grad);
            prev.push(leaf);
        }
        prev
    }

    /// Every value that this one was computed from, itself last, each behind its operands.
    #[must_use]
    pub fn trace(&self) -> Vec<Value> {
        backward::trace([self])
    }

    /// The device it is labelled with.
    #[must_use]
    pub fn device(&self) -> Device {
        device_of(self.node().device)
    }

    /// The same number under another device's label; gradients flow back through it. The same handle if it is there
    /// already.
    ///
    /// # Errors
    ///
    /// As [`Value::with_device`].
    #[track_caller]
    pub fn to(&self, device: Device) -> Result<Value> {
        let code = device_code("to", device)?;
        if code == self.node().device {
            return Ok(self.clone());
        }
        let (newest, x) = (self.seq(), Operand { node: self.clone().into_raw().as_ptr() });
        let none = Operand { none: () };
        // SAFETY: one node, with a count for the new one.
        Ok(Value(unsafe { tape::push(Op::To, Form::Unary, code, self.data(), (x, none), newest) }))
    }

    /// [`to`](Value::to) the CPU.
    #[must_use]
    pub fn cpu(&self) -> Value {
        match self.to(Device::cpu()) {
            Ok(value) => value,
            Err(e) => panic_with(&e),
        }
    }

    /// [`to`](Value::to) the CUDA device of this ordinal.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Device`] if this machine has no such device.
    #[track_caller]
    pub fn cuda(&self, ordinal: usize) -> Result<Value> {
        self.to(Device::cuda(ordinal)?)
    }

    /// The name shown in drawings, if it has one.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        self.node().label()
    }

    /// Names the value; an empty name takes the name away.
    pub fn set_label(&self, label: &str) {
        self.node().set_label(label);
    }

    /// Names the value, in the middle of an expression.
    #[must_use]
    pub fn labelled(self, label: &str) -> Value {
        self.set_label(label);
        self
    }

    /// Whether both handles name one node.
    #[inline]
    #[must_use]
    pub fn is(&self, other: &Value) -> bool {
        self.0 == other.0
    }

    /// A number that tells this node from every other that is alive.
    #[inline]
    #[must_use]
    pub fn id(&self) -> usize {
        self.0.addr().get()
    }

    #[inline(always)]
    fn node(&self) -> &Node {
        // SAFETY: the handle counts, so the node is alive.
        unsafe { self.0.as_ref() }
    }

    /// The sequence number of its page.
    #[inline(always)]
    fn seq(&self) -> u64 {
        // SAFETY: the handle counts, so the node is alive.
        unsafe { tape::page_seq(tape::page_of(self.0.as_ptr())) }
    }

    /// The handle's count goes to the caller.
    #[inline(always)]
    fn into_raw(self) -> NonNull<Node> {
        std::mem::ManuallyDrop::new(self).0
    }

    /// # Safety
    ///
    /// The node is alive.
    #[inline(always)]
    unsafe fn from_ref(node: *const Node) -> Value {
        // SAFETY: alive, as the caller says, and so not null.
        unsafe {
            (*node).retain();
            Value(NonNull::new_unchecked(node.cast_mut()))
        }
    }

    /// The operand that is a number, if there is one.
    fn number(&self) -> Option<f64> {
        match self.node().form {
            // SAFETY: in these two forms `b` is a number.
            Form::NumberRight | Form::NumberLeft => Some(unsafe { self.node().b.number }),
            Form::Leaf | Form::Unary | Form::Both | Form::Spans => None,
        }
    }

    /// The operand that is a number, with its gradient, unless it is part of the operation's name.
    fn shown_number(&self) -> Option<(f64, f64)> {
        let node = self.node();
        let number = self.number().filter(|_| node.op != Op::Pow)?;
        // SAFETY: with a number in `b`, `a` is a node, and this one counts it.
        let other = unsafe { &*node.a.node }.data();
        let (g, out) = (node.grad(), node.data());
        let grad = match node.form {
            Form::NumberRight => node.op.grad_y(g, other, number, out),
            // What has a number has it on one of two sides.
            Form::NumberLeft | Form::Leaf | Form::Unary | Form::Both | Form::Spans => {
                node.op.grad_x(g, number, other, out)
            }
        };
        Some((number, grad))
    }

    /// Operands that are values, in order, as often as they were given.
    fn for_each_operand(&self, mut f: impl FnMut(&Value)) {
        let node = self.node();
        // SAFETY: the operands are what the form says, and this node counts them. A `Value` is a pointer to its node.
        unsafe {
            match node.form {
                Form::Leaf => {}
                Form::Unary | Form::NumberRight | Form::NumberLeft => f(borrow(&node.a.node)),
                Form::Both => {
                    f(borrow(&node.a.node));
                    f(borrow(&node.b.node));
                }
                Form::Spans => {
                    (*node.a.span).values().iter().for_each(&mut f);
                    (*node.b.span).values().iter().for_each(&mut f);
                }
            }
        }
    }
}

/// # Safety
///
/// The node is alive as long as the reference to its pointer.
unsafe fn borrow(node: &*mut Node) -> &Value {
    // SAFETY: `Value` is a transparent wrapper of a pointer that is not null.
    unsafe { &*std::ptr::from_ref(node).cast::<Value>() }
}

impl Clone for Value {
    /// Another handle on the same node.
    #[inline]
    fn clone(&self) -> Value {
        self.node().retain();
        Value(self.0)
    }
}

impl Drop for Value {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this handle's count, given up once.
        unsafe { tape::release(self.0) }
    }
}

impl From<f64> for Value {
    fn from(data: f64) -> Value {
        Value::new(data)
    }
}

impl Default for Value {
    /// A leaf of 0 on the CPU.
    fn default() -> Value {
        Value::new(0.0)
    }
}

impl fmt::Display for Value {
    /// As micrograd's repr, with the device: `Value(data=2.0, grad=0.0, device=cpu)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value(data={:?}, grad={:?}, device={})", self.data(), self.grad(), self.device())
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.data() == other.data()
    }
}

impl PartialEq<f64> for Value {
    fn eq(&self, other: &f64) -> bool {
        self.data() == *other
    }
}

impl PartialEq<Value> for f64 {
    fn eq(&self, other: &Value) -> bool {
        *self == other.data()
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        self.data().partial_cmp(&other.data())
    }
}

impl PartialOrd<f64> for Value {
    fn partial_cmp(&self, other: &f64) -> Option<Ordering> {
        self.data().partial_cmp(other)
    }
}

impl PartialOrd<Value> for f64 {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        self.partial_cmp(&other.data())
    }
}

/// Bytes of memory the tape holds, in use or kept for reuse. It does not shrink: what dropped graphs leave is used again.
#[must_use]
pub fn tape_bytes() -> usize {
    tape::bytes()
}

/// A node's device is one byte: 0 is the CPU, `n + 1` is `cuda:n`.
const CPU: u8 = 0;

#[track_caller]
fn device_code(op: &'static str, device: Device) -> Result<u8> {
    if device.is_cpu() {
        return Ok(CPU);
    }
    u8::try_from(device.ordinal() + 1).map_err(|_| {
        let text = format!("a value takes cpu and cuda:0 to cuda:254; got {device}");
        Error::new(op, ErrorKind::Device(text))
    })
}

fn device_of(code: u8) -> Device {
    if code == CPU {
        return Device::cpu();
    }
    format!("cuda:{}", code - 1).parse().unwrap_or_default()
}

#[cold]
#[track_caller]
fn unlike_devices(op: &'static str, a: &Value, b: &Value) -> Error {
    let text = format!(
        "values must be on the same device (no implicit device transfers); got {} and {}",
        a.device(),
        b.device()
    );
    Error::new(op, ErrorKind::UnlikeDevices(text))
}

#[cold]
#[track_caller]
fn panic_with(error: &Error) -> ! {
    panic!("{error}")
}
