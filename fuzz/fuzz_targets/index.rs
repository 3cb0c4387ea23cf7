//! The index of several safetensors files, of which one is there.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mg_fuzz::{bytes, file, usual};
use mg_nn::checkpoint::Sharded;

/// Two tensors, `a` and `b`.
const A: &[u8] = include_bytes!("../seeds/safetensors/two");

fuzz_target!(|data: &[u8]| {
    let index = file("model.safetensors.index.json", data);
    file("a.safetensors", A);
    let Some(index) = usual(Sharded::open(&index)) else { return };
    for name in index.names() {
        if let Some(tensor) = usual(index.tensor(name)) {
            bytes(&tensor);
        }
    }
    usual(index.state());
});
