//! PyTorch's files: the archive, and the pickle in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mg_fuzz::{bytes, file, usual};
use mg_nn::pt::{self, Object};
use mg_nn::State;

/// Looks at every tensor that can be reached by so many steps.
fn look(object: &Object, left: &mut usize) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    match object {
        // One that is spread is not made dense: it may be of any size.
        Object::Tensor(t) if t.numel() < 1 << 20 => {
            bytes(&t.copy());
        }
        Object::List(items) | Object::Tuple(items) | Object::Set(items) | Object::Made(_, items) => {
            items.iter().for_each(|item| look(item, left));
        }
        Object::Dict(pairs) => pairs.iter().for_each(|(key, value)| {
            look(key, left);
            look(value, left);
        }),
        Object::Tensor(_)
        | Object::None
        | Object::Bool(_)
        | Object::Int(_)
        | Object::Float(_)
        | Object::Text(_)
        | Object::Bytes(_)
        | Object::DType(_) => {}
    }
}

fuzz_target!(|data: &[u8]| {
    let path = file("a.pt", data);
    if let Some(object) = usual(pt::load(&path)) {
        look(&object, &mut 10_000);
    }
    usual(State::load_pt(&path));
});
