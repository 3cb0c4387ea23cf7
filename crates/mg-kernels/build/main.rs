//! Packs the library kernels, which are text: in the wheel they take half of what its own compression would leave of them, and in a
//! program a ninth of the text.
//!
//! Kernels whose names differ in the dtype alone are mostly the same text, so they are compressed together: half as
//! large as each by itself, and what is unpacked for one of them stays small. Registers and labels are numbered anew (`deltas.rs`).
//!
//! And reads the kernels' sources for what their caller has to know: the structs that they take become structs of Rust, their
//! constants constants, so that neither stands in two places.

mod code;
// What only the library asks for.
#[allow(dead_code)]
#[path = "../src/cuda/library/deltas.rs"]
mod deltas;
// What only the library asks for.
#[allow(dead_code)]
#[path = "../src/cuda/capability.rs"]
mod capability;
mod expression;
mod generate;
#[allow(dead_code)]
#[path = "../src/library/matmul/cuda/measured.rs"]
mod measured;
mod source;
mod tiles_files;
// What only the library asks for.
#[allow(dead_code)]
#[path = "../src/library/matmul/cuda/tiles.rs"]
mod tiles;
// What only `cargo xtask ptx` asks for.
#[allow(dead_code)]
mod variants;

use code::Codes;
use generate::{Facts, Sources};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What failed, in words.
type Result<T> = std::result::Result<T, String>;

/// Where the kernels are: in the package as it is published, where a link leads in the repository, and what it leads to, for checkouts
/// that have no links.
const PLACES: [&str; 2] = ["kernels", "../../kernels"];
/// Bytes of text up to which families are compressed together. A pack is unpacked as a whole when the first of its kernels is wanted, and none becomes
/// as large as that could take some twenty milliseconds; smaller ones have less in common.
const PACK: u64 = 2 << 20;

/// Whether a word of a kernel's name tells its dtype: f32, bf16, tf32, u8, bool.
fn is_dtype(word: &str) -> bool {
    let kind = word.trim_end_matches(|c: char| c.is_ascii_digit());
    word == "bool"
        || (matches!(kind, "f" | "bf" | "tf" | "i" | "u")
            && matches!(&word[kind.len()..], "8" | "16" | "32" | "64"))
}

fn main() -> Result<()> {
    let sources_at = PLACES.into_iter().map(Path::new).find(|place| place.is_dir());
    let sources_at = sources_at.ok_or_else(|| format!("no folder {}", PLACES.join(" and no folder ")))?;
    let folder = &sources_at.join("ptx");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let level = level(&out);

    let mut sources = Sources::default();
    let facts = facts(sources_at, &mut sources)?;
    let mut codes = Codes::read()?;
    let packs = packs(families(folder)?, folder)?;
    let mut kernels: BTreeMap<String, String> = BTreeMap::new();
    let mut lists: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut table = format!("static PACKS: [Pack; {}] = [\n", packs.len());
    for (number, names) in packs.into_iter().enumerate() {
        let mut told = String::new();
        for name in names {
            let path = folder.join(&name).with_extension("ptx");
            let text = deltas::renumbered(&read(&path)?)
                .ok_or_else(|| format!("{} has more registers than it declares", path.display()))?;
            let start = told.len();
            told.push_str(&deltas::encode(&text));
            if deltas::decode(&told[start..], text.len()).is_none_or(|decoded| decoded != text) {
                return Err(format!("{} does not come back from what is packed of it", path.display()));
            }
            let Some(Facts { takes, bytes, fields, constants }) = facts.get(&name) else {
                return Err(format!("ptx/{name}.ptx is of no kernel of variants.txt"));
            };
            let threads = threads(&text).ok_or_else(|| format!("ptx/{name}.ptx has no .maxntid"))?;
            let constants: Vec<(&String, &i64)> = constants.iter().collect();
            let place = format!("Part::new(&PACKS[{number}], {start}, {}), {}", told.len(), text.len());
            let code = codes.take(&name);
            let number = lists.iter().position(|list| list == fields).unwrap_or_else(|| {
                lists.push(fields.clone());
                lists.len() - 1
            });
            let facts = format!(
                "Facts {{ takes: {takes:?}, bytes: {bytes}, fields: FIELDS[{number}], threads: {threads}, \
                 constants: &{constants:?} }}"
            );
            kernels.insert(name.clone(), format!("Prebuilt::new({name:?}, {place}, {code:?}, {facts}),"));
        }
        let file = out.join(format!("{number}.ptx.zst"));
        let packed = zstd::bulk::compress(told.as_bytes(), level).map_err(|error| error.to_string())?;
        write(&file, &packed)?;
        let _ = writeln!(table, "Pack::new(include_bytes!({file:?}), {}),", told.len());
    }
    table.push_str("];\n");
    table.push_str(&codes.write(&out, level)?);
    let lists: Vec<String> = lists.iter().map(|list| format!("&{list:?}")).collect();
    let _ = writeln!(table, "static FIELDS: [&[(u16, u8)]; {}] = [{}];", lists.len(), lists.join(",\n"));
    table.push_str("/// Every prebuilt kernel, in the order of their names.\n");
    let _ = writeln!(table, "pub static KERNELS: [Prebuilt; {}] = [", kernels.len());
    for kernel in kernels.values() {
        let _ = writeln!(table, "{kernel}");
    }
    table.push_str("];\n");
    write(&out.join("prebuilt.rs"), table.as_bytes())?;
    write(&out.join("measured_files.rs"), tiles_files::table(&sources_at.join("tiles"))?.as_bytes())?;
    write(&out.join("arguments.rs"), sources.structs()?.as_bytes())?;
    write(&out.join("constants.rs"), sources.constants().as_bytes())
}

/// How hard to pack. What is built once and run by many is worth the seconds: the wheel, whose profile is known by its folder's name (cargo tells
/// of no others than two). With half a second the kernels are a fifth larger; cargo compiles this, and what packs, without optimisation for
/// who depends on the crate, so that the last fifth would take a minute.
fn level(out: &Path) -> i32 {
    // `out` is PROFILE/build/mg-kernels-HASH/out.
    let profile = out.ancestors().nth(3).and_then(|folder| folder.file_name());
    if profile.is_some_and(|name| name == "wheel") { 22 } else { 9 }
}

/// Families that are compressed together: neighbours whose names begin with the same word, which say much the same, up to [`PACK`] bytes.
fn packs(families: BTreeMap<String, Vec<String>>, folder: &Path) -> Result<Vec<Vec<String>>> {
    let mut packs: Vec<Vec<String>> = Vec::new();
    let (mut last, mut filled) = (String::new(), 0);
    for (family, names) in families {
        let sizes = names.iter().map(|name| {
            let path = folder.join(name).with_extension("ptx");
            path.metadata().map(|about| about.len()).map_err(|error| format!("{}: {error}", path.display()))
        });
        let bytes: u64 = sizes.sum::<Result<u64>>()?;
        let word = family.split('_').next().unwrap_or_default();
        match packs.last_mut().filter(|_| word == last && filled + bytes <= PACK) {
            Some(pack) => pack.extend(names),
            None => {
                packs.push(names);
                filled = 0;
            }
        }
        filled += bytes;
        last = word.to_owned();
    }
    Ok(packs)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// What the sources say, by the kernel's name.
fn facts(folder: &Path, sources: &mut Sources) -> Result<BTreeMap<String, Facts>> {
    for entry in fs::read_dir(folder).map_err(|error| error.to_string())?.filter_map(|entry| entry.ok()) {
        let path = entry.path();
        if path.extension().is_some_and(|end| ["cu", "cuh", "txt"].iter().any(|known| end == *known)) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    let variants = variants::parse(&read(&folder.join("variants.txt"))?)?;
    variants.iter().map(|variant| Ok((variant.name.clone(), sources.add(folder, variant)?))).collect()
}

/// Threads of a block, as the compiler was told.
fn threads(ptx: &str) -> Option<u32> {
    let rest = ptx.split_once(".maxntid ")?.1;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The names of all kernels by what is left of a name without its dtype.
fn families(folder: &Path) -> Result<BTreeMap<String, Vec<String>>> {
    let mut families: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let Some(name) = path.file_stem().filter(|_| path.extension().is_some_and(|e| e == "ptx")) else {
            continue;
        };
        let name = name.to_str().ok_or("a kernel's name is text")?;
        let family: Vec<&str> = name.split('_').filter(|word| !is_dtype(word)).collect();
        families.entry(family.join("_")).or_default().push(name.to_owned());
    }
    // As the names are ordered, not the folder: the same files make the same program.
    families.values_mut().for_each(|names| names.sort());
    Ok(families)
}
