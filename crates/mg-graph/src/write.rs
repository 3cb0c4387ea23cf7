//! Writing into memory at once, where that is seen by nobody who should see the old value.

use crate::node::{Node, Value, put_overwritten};
use crate::op::{Op, SourceKind, View};
use mg_device::{DType, Error, ErrorKind, Float, Layout, Writing, bf16, f16};
use mg_kernels::cpu::library;
use std::sync::Arc;

/// What is written: elements in memory, or one for all of them.
enum Elements {
    Memory(Value),
    One([u8; 8]),
}

/// The bytes of an element, of the bits of a cell.
fn element(bits: u64, dtype: DType) -> [u8; 8] {
    let mut bytes = [0; 8];
    let held = f32::from_bits(bits as u32);
    let bits = match (dtype.float(), dtype.narrow()) {
        (Some(Float::F16), _) => f16::from_f32(held).to_bits().into(),
        (Some(Float::BF16), _) => bf16::from_f32(held).to_bits().into(),
        (_, Some(narrow)) => narrow.code(held).into(),
        // The low bytes of the cell.
        (Some(Float::F64 | Float::F32) | None, None) => bits,
    };
    let size = dtype.size();
    match cfg!(target_endian = "little") {
        true => bytes[..size].copy_from_slice(&bits.to_ne_bytes()[..size]),
        false => bytes[..size].copy_from_slice(&bits.to_ne_bytes()[8 - size..]),
    }
    bytes
}

fn elements(value: &Node) -> Option<Elements> {
    if let Some(known) = value.value() {
        return known.as_ref().ok().filter(|v| v.buffer.device().is_cpu()).cloned().map(Elements::Memory);
    }
    let scalar = match value.op() {
        Op::View(View::Expand | View::Reshape) => value.sources().first()?.clone(),
        _ => value.clone(),
    };
    match *scalar.op() {
        Op::Source(SourceKind::Const { bits, .. }) => Some(Elements::One(element(bits, scalar.dtype()))),
        _ => None,
    }
}

impl Node {
    /// Writes `value`, which has the region's shape and this node's dtype, into this node's memory through `region`, a view of
    /// its elements laid out densely, and answers with a node for the memory as it is then.
    ///
    /// That is done only where nobody can tell: the value and the memory are there, on the host, no gradient is recorded, no
    /// step is being recorded, and nobody else has this node or its memory (which is why it is taken by value). Memory that is
    /// somebody else's by agreement ([`Buffer::is_borrowed`](mg_device::Buffer::is_borrowed)) is written in any case: whoever
    /// shares it wants to see that. Otherwise the node comes back as it was.
    ///
    /// # Errors
    ///
    /// The node itself, where the writing has to become a node of the graph.
    pub fn write_now(self, value: &Node, region: &Layout) -> Result<Node, Node> {
        let Some(Ok(memory)) = self.value() else { return Err(self) };
        let own =
            Arc::strong_count(&self.0) == 1 && memory.buffer.ref_count() == 1 && !memory.buffer.is_borrowed();
        let plain = !self.is_tracked() && !value.is_tracked() && !crate::replay::is_recording();
        if !own || !plain || !memory.buffer.device().is_cpu() || self.dtype() != value.dtype() {
            return Err(self);
        }
        let Some(elements) = elements(value) else { return Err(self) };
        // Where the elements lie among those of the memory: a view of a view, if the memory is not dense.
        let whole = &memory.layout;
        let target = match whole.is_contiguous() {
            true => Layout::new(*region.shape(), region.strides(), region.offset() + whole.offset()).ok(),
            // Not where elements share a place, as those of a number that fills it all.
            false if region.is_contiguous() && region.shape() == whole.shape() && !whole.overlaps() => {
                Some(*whole)
            }
            false => None,
        };
        let Some(target) = target else { return Err(self) };
        // SAFETY: nobody else reads or writes the memory, which is this node's alone; the region lies within it.
        unsafe { write(memory, &elements, &target) };
        Ok(Node::from_value(memory.clone()))
    }

    /// Writes `value`, which has the region's shape and this node's dtype and is computed for it, into memory that is somebody
    /// else's by agreement ([`Buffer::is_borrowed`](mg_device::Buffer::is_borrowed)), and answers with a node for the memory as it is
    /// then, without history. Whoever shares it wants to see that, whatever is recorded. What was read there before is not there any more,
    /// for whoever is older than `writing` ([`Node::overwritten`]).
    ///
    /// # Errors
    ///
    /// A value that cannot be computed; memory that is on another device than the host.
    pub fn write_shared(&self, value: &Node, region: &Layout, writing: Writing) -> mg_device::Result<Node> {
        crate::engine::realize(&[value])?;
        let (Some(Ok(memory)), Some(elements)) = (self.value(), elements(value)) else {
            let text = "memory of others on another device cannot be written to";
            return Err(Error::new("write", ErrorKind::Device(text.into())));
        };
        let whole = &memory.layout;
        if whole.is_contiguous() {
            let at = region.offset() + whole.offset();
            let target = Layout::new(*region.shape(), region.strides(), at)?;
            // SAFETY: its owner has agreed to share the memory, and whatever the engine was to read of it was read when it was asked
            // for; the region lies within the node's elements, the value has its shape.
            unsafe { write(memory, &elements, &target) };
        } else {
            // Element by element, each where it lies.
            let places = region.offsets().map(|i| whole.linear_offset(i));
            let size = self.dtype().size();
            let from: Box<dyn Iterator<Item = *const u8>> = match &elements {
                Elements::Memory(from) => {
                    let start = from.buffer.as_ptr();
                    Box::new(from.layout.offsets().map(move |at| start.wrapping_add(at * size)))
                }
                Elements::One(bytes) => Box::new(std::iter::repeat(bytes.as_ptr())),
            };
            let _engine = crate::engine::lock();
            for (to, from) in places.zip(from) {
                // SAFETY: as above; both are places of elements.
                unsafe { from.copy_to(memory.buffer.as_mut_ptr().add(to * size), size) };
            }
        }
        let written = match (whole.is_contiguous(), region.extent()) {
            (true, extent) => extent.map(|(first, last)| (first + whole.offset(), last + whole.offset())),
            (false, Some(_)) => whole.extent(),
            (false, None) => None,
        };
        if let Some((first, last)) = written {
            let size = self.dtype().size();
            memory.buffer.note_written(first * size..(last + 1) * size, writing);
            put_overwritten(writing.at);
        }
        Ok(Node::from_value(memory.clone()))
    }
}

/// Writes elements to where a layout says.
///
/// # Safety
///
/// The layout lies within the memory, which is on the host and which nobody else uses meanwhile; the elements have its shape.
unsafe fn write(memory: &Value, elements: &Elements, target: &Layout) {
    let _engine = crate::engine::lock();
    let (out, size) = (memory.buffer.as_mut_ptr(), memory.buffer.dtype().size());
    // SAFETY (all): this function's contract.
    match elements {
        Elements::Memory(from) if from.buffer.ptr_eq(&memory.buffer) => {
            // Parts of one memory may overlap: by way of a copy.
            let mut copy = vec![0u8; from.layout.numel() * size];
            let dense = Layout::contiguous(*from.layout.shape());
            // SAFETY: see above; the copy has room for all elements.
            unsafe {
                library::copy_strided(size, from.buffer.as_ptr(), &from.layout, copy.as_mut_ptr(), &dense);
                library::copy_strided(size, copy.as_ptr(), &dense, out, target);
            }
        }
        // SAFETY: see above.
        Elements::Memory(from) => unsafe {
            library::copy_strided(size, from.buffer.as_ptr(), &from.layout, out, target);
        },
        Elements::One(bytes) => {
            let (shape, strides) = (*target.shape(), [0isize; mg_device::MAX_RANK]);
            if let Ok(from) = Layout::new(shape, &strides[..shape.rank()], 0) {
                // SAFETY: see above; each position reads the one element.
                unsafe { library::copy_strided(size, bytes.as_ptr(), &from, out, target) };
            }
        }
    }
}
