//! [`Span`]: the operands of a fused node.

use std::ops::Deref;
use std::sync::Arc;

use mg_device::{Error, ErrorKind, Result};

use super::Value;
use super::op::{Form, Op};
use super::tape::{self, Operand};

/// A shared, immutable list of values: the weights of a neuron, or what goes into a layer.
///
/// [`Span::affine`] makes the whole of a neuron's sum one node of the graph, instead of two nodes a weight. The node
/// counts one reference to each of its two spans, however long they are.
///
/// # Examples
///
/// ```
/// use mg_autograd::scalar::Span;
///
/// let weights = Span::from([2.0, -1.0, 0.5]); // the last one is the bias
/// let inputs = Span::from([3.0, 4.0]);
/// let y = weights.affine(&inputs)?;
/// y.backward();
/// assert_eq!(y.data(), 2.0 * 3.0 - 4.0 + 0.5);
/// assert_eq!(weights[0].grad(), 3.0);
/// assert_eq!(inputs[1].grad(), -1.0);
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Span(Arc<SpanInner>);

#[derive(Debug)]
pub(super) struct SpanInner {
    values: Box<[Value]>,
    /// The largest sequence number among the values' pages.
    newest: u64,
    /// The first value on another device than value 0.
    stranger: Option<usize>,
}

impl SpanInner {
    pub(super) fn values(&self) -> &[Value] {
        &self.values
    }

    pub(super) fn into_values(self) -> impl Iterator<Item = Value> {
        self.values.into_iter()
    }
}

impl Span {
    /// A span of these values. They may be on different devices; [`Span::affine`] takes them only if they are not.
    #[must_use]
    pub fn new(values: impl Into<Box<[Value]>>) -> Span {
        let values = values.into();
        let newest = values.iter().map(Value::seq).max().unwrap_or(0);
        let stranger = values.iter().position(|v| v.node().device != values[0].node().device);
        Span(Arc::new(SpanInner { values, newest, stranger }))
    }

    /// `Σ wᵢ·xᵢ + b` as one node, where the weights `w` and, if there is one value more than inputs, the bias `b` are
    /// this span. The terms are added to the bias in order, as micrograd's neuron does, so the sum is the same to the
    /// last bit.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Shape`] if there are neither as many weights as inputs nor one more; [`ErrorKind::UnlikeDevices`] if the
    /// values are on unlike devices.
    #[track_caller]
    pub fn affine(&self, inputs: &Span) -> Result<Value> {
        let (w, x) = (&*self.0.values, &*inputs.0.values);
        if w.is_empty() || w.len() != x.len() && w.len() != x.len() + 1 {
            let text = format!(
                "a span of {} values takes {} inputs, or {} and its last value as bias; got {}",
                w.len(),
                w.len(),
                w.len().saturating_sub(1),
                x.len()
            );
            return Err(Error::new("affine", ErrorKind::Shape(text)));
        }
        for span in [self, inputs] {
            if let Some(i) = span.0.stranger {
                return Err(super::unlike_devices("affine", &span[0], &span[i]));
            }
        }
        if let Some(first) = x.first()
            && first.node().device != w[0].node().device
        {
            return Err(super::unlike_devices("affine", &w[0], first));
        }
        let mut sum = w.get(x.len()).map_or(0.0, Value::data);
        for (w, x) in w.iter().zip(x) {
            sum += w.data() * x.data();
        }
        let operands = (
            Operand { span: Arc::into_raw(Arc::clone(&self.0)) },
            Operand { span: Arc::into_raw(Arc::clone(&inputs.0)) },
        );
        let newest = self.0.newest.max(inputs.0.newest);
        let device = w[0].node().device;
        // SAFETY: two spans, each with a count for the node.
        Ok(Value(unsafe { tape::push(Op::Affine, Form::Spans, device, sum, operands, newest) }))
    }

    /// [`affine`](Span::affine), then ReLU: two nodes.
    ///
    /// # Errors
    ///
    /// As [`affine`](Span::affine).
    #[track_caller]
    pub fn affine_relu(&self, inputs: &Span) -> Result<Value> {
        Ok(super::ops::unary(Op::Relu, self.affine(inputs)?))
    }
}

impl Deref for Span {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0.values
    }
}

impl From<Vec<Value>> for Span {
    fn from(values: Vec<Value>) -> Span {
        Span::new(values)
    }
}

impl From<&[Value]> for Span {
    fn from(values: &[Value]) -> Span {
        Span::new(values)
    }
}

impl<const N: usize> From<[Value; N]> for Span {
    fn from(values: [Value; N]) -> Span {
        Span::new(values)
    }
}

impl From<&[f64]> for Span {
    /// New leaves on the CPU.
    fn from(numbers: &[f64]) -> Span {
        numbers.iter().copied().collect()
    }
}

impl<const N: usize> From<[f64; N]> for Span {
    /// New leaves on the CPU.
    fn from(numbers: [f64; N]) -> Span {
        numbers.into_iter().collect()
    }
}

impl From<&Span> for Span {
    fn from(span: &Span) -> Span {
        span.clone()
    }
}

impl FromIterator<Value> for Span {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Span {
        Span::new(values.into_iter().collect::<Box<[Value]>>())
    }
}

impl FromIterator<f64> for Span {
    fn from_iter<I: IntoIterator<Item = f64>>(numbers: I) -> Span {
        numbers.into_iter().map(Value::new).collect()
    }
}
