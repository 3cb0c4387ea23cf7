//! A safetensors file, loaded as a whole, and mapped.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mg_autograd::Tensor;
use mg_fuzz::{bytes, file, usual};
use mg_nn::State;
use mg_nn::checkpoint::{self, Mapped};

fuzz_target!(|data: &[u8]| {
    let path = file("a.safetensors", data);
    let (whole, mapped) = (usual(checkpoint::load(&path)), usual(Mapped::open(&path)));
    let Some(mapped) = mapped else {
        assert!(whole.is_none(), "what cannot be mapped cannot be loaded");
        return;
    };
    let mut refused = false;
    for name in mapped.names() {
        usual(mapped.info(name));
        let Some(tensor) = usual(mapped.tensor(name)) else {
            refused = true;
            continue;
        };
        if let Some(rows) = tensor.shape().first() {
            usual(mapped.rows(name, 0, *rows)).expect("all rows of what was read");
            assert!(mapped.rows(name, rows + 1, 0).is_err() && mapped.rows(name, usize::MAX, 2).is_err());
        }
        if let Some(whole) = &whole {
            let entry = &whole.tensors[name];
            assert_eq!((entry.shape, entry.dtype()), (tensor.shape(), tensor.dtype()));
            let loaded = Tensor::from_buffer(entry.data.clone(), entry.shape).expect("what was loaded is a tensor");
            assert_eq!(bytes(&loaded), bytes(&tensor), "{name:?} loaded and mapped");
        }
    }
    assert_eq!(whole.is_none(), refused, "what one way takes the other does");
    if let Some(state) = usual(State::load(&path)) {
        // What was read can be written, and is the same then.
        let again = file("b.safetensors", &[]);
        state.save(&again).expect("what was loaded can be saved");
        let other = State::load(&again).expect("what was saved can be loaded");
        assert_eq!(state.metadata, other.metadata);
        assert!(state.tensors.keys().eq(other.tensors.keys()));
        for (name, t) in &state.tensors {
            assert_eq!(bytes(t), bytes(&other.tensors[name]));
        }
    }
});
