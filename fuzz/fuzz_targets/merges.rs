//! GPT-2's two files, with a zero byte between them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mg_fuzz::{file, usual};
use mg_nn::data::text::{Bpe, Tokenizer};

fuzz_target!(|data: &[u8]| {
    let vocab_length = data.iter().position(|&b| b == 0).unwrap_or(data.len());
    let (vocab, merges) = data.split_at(vocab_length);
    let vocab = file("vocab.json", vocab);
    let merges = file("merges.txt", merges.get(1..).unwrap_or_default());
    let Some(bpe) = usual(Bpe::from_files(&vocab, &merges)) else { return };
    for text in ["low lower lowest", "né\u{1f600} it's 12\n"] {
        if let Some(ids) = usual(bpe.encode(text)) {
            usual(bpe.decode(&ids)).expect("what was encoded can be decoded");
        }
    }
});
