//! Tensors as the copy engine of a device takes them, from compute capability 9.0 on.

use super::api::Address;
use super::gpu::Gpu;
use crate::error::{Error, ErrorKind, Result};
use smallvec::SmallVec;

/// What the elements of a tensor are to the copy engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Copied as they are, one byte each.
    U8,
    /// Copied as they are, two bytes each.
    F16,
    /// Copied as they are, two bytes each.
    BF16,
    /// Copied as they are, four bytes each.
    F32,
    /// f32 that is rounded to tf32 (10 bits of fraction, to nearest, ties to even) on its way to shared memory.
    TF32,
}

impl Elements {
    /// Bytes of one.
    pub fn size(self) -> usize {
        match self {
            Elements::U8 => 1,
            Elements::F16 | Elements::BF16 => 2,
            Elements::F32 | Elements::TF32 => 4,
        }
    }

    /// `CUtensorMapDataType`.
    fn code(self) -> u32 {
        match self {
            Elements::U8 => 0,
            Elements::F16 => 6,
            Elements::F32 => 7,
            Elements::BF16 => 9,
            Elements::TF32 => 11,
        }
    }
}

/// A tensor of up to five dimensions and the boxes of it that a kernel moves, whose lines are 128 bytes of shared memory at most,
/// exchanged eight by eight (`kernels/hopper.cuh`). What a box has outside of the tensor is read as zero, and not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// What the elements are.
    pub elements: Elements,
    /// Elements along each dimension, none of them 0; first that whose neighbours lie side by side.
    pub sizes: SmallVec<[u64; 4]>,
    /// Bytes from one to the next along the second and each after it: multiples of 16 below 2⁴⁰.
    pub strides: SmallVec<[u64; 4]>,
    /// Elements of a box along each, 256 at most.
    pub boxes: SmallVec<[u32; 4]>,
}

/// A tensor of four dimensions (neighbours, x, y, image) and the windows over it that a kernel gathers: lines of neighbours at one
/// place after the other, moved by what the kernel asks for. They are exchanged as those of a [`TensorMap`]; what lies outside of
/// the tensor is read as zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowMap {
    /// What the elements are.
    pub elements: Elements,
    /// Elements along each dimension, none of them 0.
    pub sizes: [u64; 4],
    /// Bytes from one to the next along the second and those after it: multiples of 16 below 2⁴⁰.
    pub strides: [u64; 3],
    /// Where the first window of an image begins along x and y, from -128 to 127.
    pub low: [i32; 2],
    /// Where the last window may begin, less the tensor's last place: from -128 to 127.
    pub high: [i32; 2],
    /// From one window to the next along x and y, 8 at most.
    pub steps: [u32; 2],
    /// Neighbours that are gathered at a place, 128 bytes of them at most.
    pub neighbours: u32,
    /// Places that are gathered at a time, 256 at most.
    pub places: u32,
}

/// What the copy engine is told of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moved {
    /// Boxes of it are moved.
    Boxes(TensorMap),
    /// Windows over it are gathered.
    Windows(WindowMap),
}

impl Moved {
    /// Boxes of a tensor: its elements along each dimension, bytes from one to the next along the second and each after it, and
    /// elements of a box.
    pub fn boxes<const RANK: usize>(
        elements: Elements,
        sizes: [usize; RANK],
        strides: &[usize],
        boxes: [usize; RANK],
    ) -> Moved {
        Moved::Boxes(TensorMap {
            elements,
            sizes: sizes.iter().map(|&n| n as u64).collect(),
            strides: strides.iter().map(|&n| n as u64).collect(),
            boxes: boxes.iter().map(|&n| n as u32).collect(),
        })
    }
}

/// The bytes of an encoded tensor map, which a kernel takes as a part of its argument, at a multiple of 64.
pub const TENSOR_MAP_BYTES: usize = 128;

#[repr(C, align(64))]
struct Encoded([u8; TENSOR_MAP_BYTES]);

// CU_TENSOR_MAP_INTERLEAVE_NONE, SWIZZLE_128B, L2_PROMOTION_L2_256B, FLOAT_OOB_FILL_NONE.
const INTERLEAVE: u32 = 0;
const SWIZZLE: u32 = 3;
const PROMOTION: u32 = 3;
const FILL: u32 = 0;

impl Gpu {
    /// The tensor that lies at an address, a multiple of 16, in the form that kernels take.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda) where the driver takes no such tensor.
    pub fn tensor_map(&self, tensor: &Moved, address: u64) -> Result<[u8; TENSOR_MAP_BYTES]> {
        let mut encoded = Encoded([0; TENSOR_MAP_BYTES]);
        let to = encoded.0.as_mut_ptr().cast();
        match tensor {
            Moved::Boxes(map) => {
                const EACH: [u32; 5] = [1; 5];
                let rank = map.sizes.len();
                if rank > EACH.len() || [map.strides.len() + 1, map.boxes.len()] != [rank; 2] {
                    let text = format!("a tensor map of {rank} dimensions with {map:?}");
                    return Err(Error::new("tensor_map", ErrorKind::Internal(text)));
                }
                // SAFETY: the map is written to memory aligned to 64 bytes; the arrays have as many elements as a tensor of
                // so many dimensions asks for. The address is kept, not used.
                let code = unsafe {
                    (self.api.tensor_map_encode)(
                        to,
                        map.elements.code(),
                        rank as u32,
                        address as Address,
                        map.sizes.as_ptr(),
                        map.strides.as_ptr(),
                        map.boxes.as_ptr(),
                        EACH.as_ptr(),
                        INTERLEAVE,
                        SWIZZLE,
                        PROMOTION,
                        FILL,
                    )
                };
                self.check("cuTensorMapEncodeTiled", code)?;
            }
            Moved::Windows(map) => {
                let each = [1, map.steps[0], map.steps[1], 1];
                // SAFETY: as above, for a tensor of four dimensions, of which two are windows'.
                let code = unsafe {
                    (self.api.tensor_map_encode_windows)(
                        to,
                        map.elements.code(),
                        4,
                        address as Address,
                        map.sizes.as_ptr(),
                        map.strides.as_ptr(),
                        map.low.as_ptr(),
                        map.high.as_ptr(),
                        map.neighbours,
                        map.places,
                        each.as_ptr(),
                        INTERLEAVE,
                        SWIZZLE,
                        PROMOTION,
                        FILL,
                    )
                };
                self.check("cuTensorMapEncodeIm2col", code)?;
            }
        }
        Ok(encoded.0)
    }
}
