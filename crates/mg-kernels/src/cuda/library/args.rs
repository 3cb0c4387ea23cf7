//! The arguments of a kernel, written field by field as the C struct of the same name has them.

use super::{Map, Pointer};
use mg_device::cuda::{Moved, TENSOR_MAP_BYTES};
use smallvec::SmallVec;

/// Writes an argument; every field is aligned to its size, as the compiler of the kernels does it.
#[derive(Default)]
pub(crate) struct Args {
    bytes: SmallVec<[u8; 256]>,
    pointers: SmallVec<[(u16, Pointer, u64); 6]>,
    maps: Vec<Map>,
}

impl Args {
    fn put<const N: usize>(&mut self, value: [u8; N]) -> &mut Args {
        self.pad(N);
        self.bytes.extend_from_slice(&value);
        self
    }

    fn pad(&mut self, to: usize) {
        let aligned = self.bytes.len().next_multiple_of(to);
        self.bytes.resize(aligned, 0);
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Args {
        self.put(value.to_ne_bytes())
    }

    pub(crate) fn i64(&mut self, value: isize) -> &mut Args {
        self.put((value as i64).to_ne_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Args {
        self.put(value.to_ne_bytes())
    }

    pub(crate) fn i64s(&mut self, values: &[isize]) -> &mut Args {
        for &value in values {
            self.i64(value);
        }
        self
    }

    /// Room for an address, to which `offset` bytes are added; null without one.
    pub(crate) fn pointer(&mut self, pointer: Option<(Pointer, u64)>) -> &mut Args {
        self.u64(0);
        if let Some((pointer, offset)) = pointer {
            self.pointers.push(((self.bytes.len() - 8) as u16, pointer, offset));
        }
        self
    }

    /// Room for a tensor map.
    pub(crate) fn map(&mut self, (pointer, offset): (Pointer, u64), tensor: Moved) -> &mut Args {
        self.pad(64);
        self.maps.push(Map { at: self.bytes.len(), pointer, offset, tensor });
        self.room_for_map()
    }

    /// Room for a tensor map that the kernel does not use.
    pub(crate) fn no_map(&mut self) -> &mut Args {
        self.pad(64);
        self.room_for_map()
    }

    fn room_for_map(&mut self) -> &mut Args {
        self.bytes.resize(self.bytes.len() + TENSOR_MAP_BYTES, 0);
        self
    }

    /// The argument, a multiple of 8 bytes long, and where its addresses and its tensor maps go.
    #[allow(clippy::type_complexity)]
    pub(crate) fn finish(mut self) -> (SmallVec<[u8; 256]>, SmallVec<[(u16, Pointer, u64); 6]>, Vec<Map>) {
        self.pad(8);
        debug_assert!(self.bytes.len() <= super::MAX_ARGS, "{} bytes", self.bytes.len());
        (self.bytes, self.pointers, self.maps)
    }
}
