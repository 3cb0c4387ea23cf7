//! An IDX file, plain or gzipped.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mg_fuzz::{file, usual};
use mg_nn::data::idx;

fuzz_target!(|data: &[u8]| {
    if let Some(idx) = usual(idx::parse("data", data)) {
        assert_eq!(idx.data.len(), idx.shape.numel());
        // Damage is found however the file is read.
        assert!(idx.data.bytes() == 0 || idx::read_with_limit(file("data", data), idx.data.bytes() - 1).is_err());
    }
});
