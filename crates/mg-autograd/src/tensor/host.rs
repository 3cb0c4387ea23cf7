//! Reading values on the host.

use super::Tensor;
use crate::caller::named;
use crate::parts::room;
use mg_device::{Buffer, DType, Device, Element, Error, ErrorKind, Layout, Result, with_element};
use mg_graph::{Node, Value};

impl Tensor {
    /// The computed value: memory and layout.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`].
    #[track_caller]
    pub fn value(&self) -> Result<Value> {
        if mg_graph::is_recording() {
            // What follows may depend on it in ways that no recording sees.
            mg_graph::note_host_read();
            if !mg_graph::may_read() {
                let text = "the host reads a value inside the step: what follows from it cannot be replayed";
                return Err(Error::new("jit", ErrorKind::Value(text.into())));
            }
        }
        let node = self.node();
        mg_graph::realize(&[&node])?;
        match node.value() {
            Some(Ok(value)) => Ok(value.clone()),
            Some(Err(error)) => Err(error.clone()),
            None => Err(Error::new("realize", ErrorKind::Internal("the value was not computed".into()))),
        }
    }

    /// The computed value in the host's memory: the value itself, or a copy of what lies on another device.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`]; what the device's work failed with.
    #[track_caller]
    pub fn host_value(&self) -> Result<Value> {
        let value = self.value()?;
        if value.buffer.device().is_cpu() {
            return Ok(value);
        }
        let Some((first, last)) = value.layout.extent() else {
            let buffer = Buffer::uninit(Device::cpu(), value.buffer.dtype(), 0)?;
            let layout = Layout::new(*value.layout.shape(), value.layout.strides(), 0)?;
            return Ok(Value { buffer, layout });
        };
        if last - first + 1 > 2 * value.layout.numel() {
            // Scattered elements are brought together first.
            return Tensor::from_node(Node::from_value(value).copy()).host_value();
        }
        let buffer = value.buffer.read(first, last - first + 1)?;
        let offset = value.layout.offset() - first;
        Ok(Value { buffer, layout: Layout::new(*value.layout.shape(), value.layout.strides(), offset)? })
    }

    /// As [`Tensor::host_value`], with the elements one after the other in row-major order: a copy, where the value lies otherwise. (What a
    /// tensor was written with may lie as that did, whatever [`Tensor::lie`] tells.)
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`]; what the device's work failed with; memory.
    #[track_caller]
    pub fn dense_value(&self) -> Result<Value> {
        let value = self.host_value()?;
        if value.layout.is_contiguous() {
            return Ok(value);
        }
        let value = Tensor::from_node(Node::from_value(value).copy()).host_value()?;
        match value.layout.is_contiguous() {
            true => Ok(value),
            false => Err(Error::new("dense_value", ErrorKind::Internal("a copy that is not dense".into()))),
        }
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    ///
    /// Another element type than the tensor's dtype; as [`Tensor::realize`].
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let value = self.host_value()?;
        let data = value.buffer.as_slice::<T>().map_err(named("to_vec"))?;
        if value.layout.is_contiguous() {
            // No elements may lie anywhere.
            let start = value.layout.offset();
            let data = data.get(start..start + value.layout.numel()).unwrap_or_default();
            let mut all = room("to_vec", data.len())?;
            all.extend_from_slice(data);
            return Ok(all);
        }
        let mut all = room("to_vec", value.layout.numel())?;
        all.extend(value.layout.offsets().map(|at| data[at]));
        Ok(all)
    }

    /// The only element, converted to `T`.
    ///
    /// # Errors
    ///
    /// More or fewer elements than one; as [`Tensor::realize`].
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        let value = self.host_value()?;
        if value.layout.numel() != 1 {
            let text = format!("item() takes a tensor of one element, got shape {}", value.layout.shape());
            return Err(Error::new("item", ErrorKind::Value(text)));
        }
        let at = value.layout.offset();
        if T::DTYPE == value.buffer.dtype() {
            return Ok(value.buffer.as_slice::<T>().map_err(named("item"))?[at]);
        }
        if value.buffer.dtype() == DType::I64 {
            return Ok(T::from_i64(value.buffer.as_slice::<i64>().map_err(named("item"))?[at]));
        }
        Ok(T::from_f64(element(&value.buffer, at).map_err(named("item"))?))
    }

    /// The elements in row-major order, whatever the dtype, as f64.
    ///
    /// # Errors
    ///
    /// As [`Tensor::realize`].
    #[track_caller]
    pub fn to_f64_vec(&self) -> Result<Vec<f64>> {
        let value = self.host_value()?;
        let mut all = room("to_f64_vec", value.layout.numel())?;
        for at in value.layout.offsets() {
            all.push(element(&value.buffer, at).map_err(named("to_f64_vec"))?);
        }
        Ok(all)
    }
}

/// One element as f64.
pub(crate) fn element(buffer: &Buffer, at: usize) -> Result<f64> {
    fn get<T: Element>(buffer: &Buffer, at: usize) -> Result<f64> {
        Ok(buffer.as_slice::<T>()?[at].to_f64())
    }
    with_element!(buffer.dtype(), T => get::<T>(buffer, at))
}
