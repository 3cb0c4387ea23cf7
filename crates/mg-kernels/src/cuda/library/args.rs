//! The arguments of kernels: the structs that their sources declare, as the build found them there (`build/generate.rs`). A field
//! that is missing, one too many or of another type does not compile.

use super::{Map, Pointer};
use mg_device::cuda::{Moved, TENSOR_MAP_BYTES};
use smallvec::SmallVec;

/// An address, and what is added to it, in bytes; `None` for null.
pub(crate) type Address = Option<(Pointer, u64)>;

/// A tensor as the copy engine takes it, and where it lies; `None` for room that the kernel does not use.
pub(crate) type Mapped = Option<((Pointer, u64), Moved)>;

/// The address of the operand `number`.
pub(crate) const fn input(number: u8) -> Address {
    Some((Pointer::Input(number), 0))
}

/// The address of the result.
pub(crate) const OUTPUT: Address = Some((Pointer::Output(0), 0));

/// What a kernel takes by value.
pub(crate) trait Argument: Field {
    /// The struct's name in the source.
    const NAME: &'static str;
}

/// A field of an argument.
pub(crate) trait Field {
    /// What its place is a multiple of, as the compiler of the kernels has it.
    const ALIGN: usize;
    fn write(&self, args: &mut Args);
}

macro_rules! numbers {
    ($($t:ident)*) => {$(
        impl Field for $t {
            const ALIGN: usize = size_of::<$t>();
            fn write(&self, args: &mut Args) {
                args.align(Self::ALIGN);
                let at = args.bytes.len();
                args.bytes.extend_from_slice(&self.to_ne_bytes());
                args.note(at);
            }
        }
    )*};
}
numbers!(i32 u32 i64 u64 f32 f64);

impl Field for Address {
    const ALIGN: usize = 8;
    fn write(&self, args: &mut Args) {
        0u64.write(args);
        if let Some((pointer, offset)) = *self {
            args.pointers.push(((args.bytes.len() - 8) as u16, pointer, offset));
        }
    }
}

impl Field for Mapped {
    const ALIGN: usize = 64;
    fn write(&self, args: &mut Args) {
        args.align(Self::ALIGN);
        let at = args.bytes.len();
        if let Some(((pointer, offset), tensor)) = self {
            args.maps.push(Map { at, pointer: *pointer, offset: *offset, tensor: tensor.clone() });
        }
        args.bytes.resize(at + TENSOR_MAP_BYTES, 0);
        args.note(at);
    }
}

impl<F: Field, const N: usize> Field for [F; N] {
    const ALIGN: usize = F::ALIGN;
    fn write(&self, args: &mut Args) {
        self.iter().for_each(|field| field.write(args));
    }
}

const fn most(numbers: &[usize]) -> usize {
    let (mut most, mut at) = (1, 0);
    while at < numbers.len() {
        if numbers[at] > most {
            most = numbers[at];
        }
        at += 1;
    }
    most
}

include!(concat!(env!("OUT_DIR"), "/arguments.rs"));

const _: () = assert!(TENSOR_MAP_BYTES == 128, "as build/generate.rs counts it");

/// An argument's bytes.
#[derive(Default)]
pub(crate) struct Args {
    bytes: SmallVec<[u8; 256]>,
    pointers: SmallVec<[(u16, Pointer, u64); 6]>,
    maps: Vec<Map>,
    /// Where each field begins, and its bytes.
    fields: SmallVec<[(u16, u8); 64]>,
}

impl Args {
    fn note(&mut self, at: usize) {
        self.fields.push((at as u16, (self.bytes.len() - at) as u8));
    }

    /// Whether fields lie where the source of a kernel has them.
    pub(crate) fn are(&self, fields: &[(u16, u8)]) -> bool {
        self.fields[..] == *fields
    }

    pub(crate) fn of(argument: &impl Argument) -> Args {
        let mut args = Args::default();
        argument.write(&mut args);
        args
    }

    fn align(&mut self, to: usize) {
        let aligned = self.bytes.len().next_multiple_of(to);
        self.bytes.resize(aligned, 0);
    }

    /// The argument, `bytes` long if its numbers are not more, and where its addresses and its tensor maps go.
    #[allow(clippy::type_complexity)]
    pub(crate) fn finish(
        mut self,
        bytes: usize,
    ) -> (SmallVec<[u8; 256]>, SmallVec<[(u16, Pointer, u64); 6]>, Vec<Map>) {
        if self.bytes.len() < bytes {
            self.bytes.resize(bytes, 0);
        }
        (self.bytes, self.pointers, self.maps)
    }
}
