//! A PNG or JPEG file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mg_fuzz::{bytes, usual};
use mg_nn::data::{ImageMode, decode_image};

fuzz_target!(|data: &[u8]| {
    for mode in [ImageMode::Unchanged, ImageMode::Gray, ImageMode::Rgb, ImageMode::Rgba] {
        if let Some(image) = usual(decode_image("data", data, mode)) {
            assert_eq!(bytes(&image).len(), image.numel());
        }
    }
});
