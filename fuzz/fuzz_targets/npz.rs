//! NumPy's `.npy` and `.npz` files.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mg_fuzz::{bytes, file, usual};
use mg_nn::npz;

fuzz_target!(|data: &[u8]| {
    let path = file("a.npz", data);
    let again = file("b.npz", &[]);
    if let Some(tensor) = usual(npz::load(&path)) {
        // What was read can be written, and is the same then.
        npz::save(&again, &tensor).expect("what was loaded can be saved");
        let other = npz::load(&again).expect("what was saved can be loaded");
        assert_eq!((tensor.shape(), tensor.dtype(), bytes(&tensor)), (other.shape(), other.dtype(), bytes(&other)));
    }
    if let Some(tensors) = usual(npz::loadz(&path)) {
        npz::savez_compressed(&again, &tensors).expect("what was loaded can be saved");
        let other = npz::loadz(&again).expect("what was saved can be loaded");
        assert!(tensors.keys().eq(other.keys()));
        for (name, t) in &tensors {
            assert_eq!(bytes(t), bytes(&other[name]));
        }
    }
});
