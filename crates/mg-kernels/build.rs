//! Packs the library kernels, which are text: what users fetch is seven megabytes smaller by it.
//!
//! Kernels whose names differ in the dtype alone are mostly the same text, so they are compressed together: half as
//! large as each by itself, and what is unpacked for one of them stays small.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const FOLDER: &str = "../../kernels/ptx";
/// Words of a kernel's name that tell its dtype.
const DTYPES: [&str; 14] =
    ["bf16", "bool", "f16", "f32", "f64", "i16", "i32", "i64", "i8", "tf32", "u16", "u32", "u64", "u8"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={FOLDER}");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?);
    // Not while developing: it takes some seconds.
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let level = if release { 19 } else { 1 };

    let families = families()?;
    let mut kernels: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
    let mut table = format!("static PACKS: [Pack; {}] = [\n", families.len());
    let written = io::Error::other;
    for (number, names) in families.into_values().enumerate() {
        let mut text = Vec::new();
        for name in names {
            let start = text.len();
            text.extend(fs::read(Path::new(FOLDER).join(&name).with_extension("ptx"))?);
            kernels.insert(name, (number, start, text.len()));
        }
        let file = out.join(format!("{number}.ptx.zst"));
        fs::write(&file, zstd::bulk::compress(&text, level)?)?;
        writeln!(table, "Pack::new(include_bytes!({file:?}), {}),", text.len()).map_err(written)?;
    }
    table.push_str("];\n/// Every prebuilt kernel, in the order of their names.\n");
    writeln!(table, "pub static KERNELS: [Prebuilt; {}] = [", kernels.len()).map_err(written)?;
    for (name, (pack, start, end)) in &kernels {
        writeln!(table, "Prebuilt::new({name:?}, &PACKS[{pack}], {start}, {end}),").map_err(written)?;
    }
    table.push_str("];\n");
    fs::write(out.join("prebuilt.rs"), table)
}

/// The names of all kernels by what is left of a name without its dtype.
fn families() -> io::Result<BTreeMap<String, Vec<String>>> {
    let mut families: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir(FOLDER)? {
        let path = entry?.path();
        let Some(name) = path.file_stem().filter(|_| path.extension().is_some_and(|e| e == "ptx")) else {
            continue;
        };
        let name = name.to_str().ok_or_else(|| io::Error::other("a kernel's name is text"))?;
        let family: Vec<&str> = name.split('_').filter(|word| !DTYPES.contains(word)).collect();
        families.entry(family.join("_")).or_default().push(name.to_owned());
    }
    // As the names are ordered, not the folder: the same files make the same program.
    families.values_mut().for_each(|names| names.sort());
    Ok(families)
}
