//! A `tokenizer.json`, and texts that it makes numbers of.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mg_fuzz::{file, usual};
use mg_nn::data::text::{Bpe, Tokenizer};

const TEXTS: [&str; 4] = ["low lower lowest", "<end>né\u{1f600}  it's 12 \n\t<end>", "", "\0\u{7f}\u{a0}aaaa"];

fuzz_target!(|data: &[u8]| {
    let path = file("tokenizer.json", data);
    let Some(bpe) = usual(Bpe::from_file(&path)) else { return };
    for text in TEXTS {
        if let Some(ids) = usual(bpe.encode(text)) {
            assert!(ids.iter().all(|&id| bpe.id_to_token(id).is_some()), "{ids:?} stand for something");
            usual(bpe.decode(&ids)).expect("what was encoded can be decoded");
        }
    }
    for id in [-1, 0, 1, 255, i64::MAX, i64::MIN, bpe.vocab_size() as i64] {
        usual(bpe.decode(&[id]));
    }
    usual(bpe.save(&path)).expect("what was read can be written");
    usual(Bpe::from_file(&path));
});
