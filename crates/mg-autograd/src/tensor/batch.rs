//! Samples side by side.

use super::Tensor;
use mg_device::{Buffer, Device, Result, Shape};

impl Tensor {
    /// What [`Tensor::stack`] makes of samples along a new first axis, where that is nothing but copying: they are on the host and of one shape and dtype,
    /// their values are known, and neither gradients nor a recorded step have to know them. It is done at once, without a node for each. `None` where it
    /// is more than that.
    ///
    /// ```
    /// use mg_autograd::Tensor;
    ///
    /// let [a, b] = [Tensor::from_slice(&[1.0f32, 2.0]), Tensor::from_slice(&[3.0f32, 4.0])];
    /// let batch = Tensor::batch_of(&[a.clone(), b])?.expect("both are there");
    /// assert_eq!((batch.shape().dims(), batch.to_vec::<f32>()?), (&[2, 2][..], vec![1.0, 2.0, 3.0, 4.0]));
    /// assert!(Tensor::batch_of(&[a.clone(), a * 2.0])?.is_none(), "one is still to be computed");
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Memory.
    #[track_caller]
    pub fn batch_of(samples: &[Tensor]) -> Result<Option<Tensor>> {
        let Some(first) = samples.first() else { return Ok(None) };
        let (shape, dtype) = (first.shape(), first.dtype());
        let mut sizes = vec![samples.len()];
        sizes.extend(shape.iter());
        let Ok(batch) = Shape::new(&sizes) else { return Ok(None) };
        if mg_graph::is_recording() {
            return Ok(None);
        }
        let mut values = Vec::with_capacity(samples.len());
        for sample in samples {
            let node = sample.node();
            if node.is_traced() || sample.is_tracked() {
                return Ok(None);
            }
            match node.value() {
                Some(Ok(value))
                    if value.buffer.device().is_cpu()
                        && value.buffer.dtype() == dtype
                        && *value.layout.shape() == shape
                        && value.layout.is_contiguous() =>
                {
                    values.push(value.clone());
                }
                Some(_) | None => return Ok(None),
            }
        }
        let buffer = Buffer::uninit(Device::cpu(), dtype, batch.numel())?;
        let bytes = shape.numel() * dtype.size();
        mg_graph::under_lock(|| {
            for (i, value) in values.iter().enumerate() {
                // SAFETY: the buffer is new, and has room for as many samples; the elements of a value lie one after the other from its offset on, and
                // nobody writes to them meanwhile.
                unsafe {
                    let from = value.buffer.as_ptr().add(value.layout.offset() * dtype.size());
                    buffer.as_mut_ptr().add(i * bytes).copy_from_nonoverlapping(from, bytes);
                }
            }
        });
        Tensor::from_buffer(buffer, batch).map(Some)
    }
}
