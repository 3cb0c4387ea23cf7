//! Compresses the library kernels, which are text: a program with them is five megabytes smaller.

use std::io::Write;
use std::path::Path;
use std::{env, fs, io};

const FOLDER: &str = "../../kernels/ptx";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={FOLDER}");
    println!("cargo::rerun-if-changed=build.rs");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    // Not while developing: it takes a second, and programs that are packed together share what is not compressed.
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let level = if release { flate2::Compression::best() } else { flate2::Compression::none() };
    for entry in fs::read_dir(FOLDER)? {
        let path = entry?.path();
        let Some(name) = path.file_stem().filter(|_| path.extension().is_some_and(|e| e == "ptx")) else {
            continue;
        };
        let file = fs::File::create(Path::new(&out).join(name).with_extension("ptx.z"))?;
        let mut to = flate2::write::ZlibEncoder::new(file, level);
        to.write_all(&fs::read(&path)?)?;
        to.finish()?;
    }
    Ok(())
}
