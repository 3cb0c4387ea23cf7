//! The few messages of `onnx.proto` that a model is made of, written as protocol buffers are: a key of field and kind, then a number of seven
//! bits a byte, or a length and as many bytes (<https://protobuf.dev/programming-guides/encoding>, <https://github.com/onnx/onnx/blob/main/onnx/onnx.proto>).

use mg_device::DType;

/// A message that is being written.
#[derive(Default)]
pub(super) struct Message(pub(super) Vec<u8>);

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

impl Message {
    /// A field that is an integer.
    pub fn int(&mut self, field: u32, number: i64) -> &mut Message {
        varint(&mut self.0, u64::from(field) << 3);
        varint(&mut self.0, number as u64);
        self
    }

    /// A field that is bytes, or words.
    pub fn bytes(&mut self, field: u32, bytes: &[u8]) -> &mut Message {
        varint(&mut self.0, u64::from(field) << 3 | 2);
        varint(&mut self.0, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// A field that is a message.
    pub fn message(&mut self, field: u32, message: &Message) -> &mut Message {
        self.bytes(field, &message.0)
    }
}

/// A `TensorProto`.
pub(super) fn tensor(name: &str, dtype: DType, dims: &[usize], data: &[u8]) -> Message {
    let mut message = Message::default();
    for &n in dims {
        message.int(1, n as i64);
    }
    message.int(2, dtype.onnx_number().into());
    if !name.is_empty() {
        message.bytes(8, name.as_bytes());
    }
    message.bytes(9, data);
    message
}

/// A `ValueInfoProto` of a tensor; a size is a number or a name.
pub(super) fn value(name: &str, dtype: DType, dims: &[Result<usize, &str>]) -> Message {
    let (mut shape, mut of, mut kind, mut message) =
        (Message::default(), Message::default(), Message::default(), Message::default());
    for dim in dims {
        let mut size = Message::default();
        match dim {
            Ok(n) => size.int(1, *n as i64),
            Err(name) => size.bytes(2, name.as_bytes()),
        };
        shape.message(1, &size);
    }
    of.int(1, dtype.onnx_number().into()).message(2, &shape);
    kind.message(1, &of);
    message.bytes(1, name.as_bytes()).message(2, &kind);
    message
}
