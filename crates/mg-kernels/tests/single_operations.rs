//! The kernels of single operations are what `kernels/programs` says: those of f32 as text, in which a change of the emitter can
//! be read, those of the other dtypes as hashes.

use mg_device::DType;
use std::path::PathBuf;

/// Has the files written, rather than compared.
const WRITE: &str = "MG_WRITE_PTX";
/// A folder where the texts of all dtypes are put, for an assembler.
const TEXTS: &str = "MG_PTX_TEXTS";
/// The dtype whose kernels are kept as text.
const READ: DType = DType::F32;
const HASHES: &str = "hashes.txt";

/// Fowler, Noll and Vo's hash of 64 bits, FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn files_are_what_the_emitter_writes() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../kernels/programs");
    let files = mg_kernels::cuda::single::files().unwrap();
    assert_eq!(files.len(), DType::ALL.len());
    if let Some(texts) = std::env::var_os(TEXTS).map(PathBuf::from) {
        std::fs::create_dir_all(&texts).unwrap();
        for (name, text) in &files {
            std::fs::write(texts.join(name), text).unwrap();
        }
    }
    let read = format!("{READ}.ptx");
    let text = &files.iter().find(|(name, _)| *name == read).unwrap().1;
    let lines = files.iter().filter(|(name, _)| *name != read);
    let hashes: String = lines.map(|(name, text)| format!("{name} {:016x}\n", hash(text))).collect();
    if std::env::var_os(WRITE).is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(&read), text).unwrap();
        std::fs::write(folder.join(HASHES), &hashes).unwrap();
    }
    let now =
        |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default().replace("\r\n", "\n");
    let before = now(&read);
    if before != *text {
        let line = before.lines().zip(text.lines()).position(|(a, b)| a != b).unwrap_or(0);
        let kernel = text.lines().take(line + 1).filter_map(|l| l.split_once(".entry ")).last();
        let kernel = kernel.map_or("its head", |(_, rest)| rest.split('(').next().unwrap_or(rest));
        panic!(
            "kernels/programs/{read} is not what the emitter writes, from line {} in {kernel}: `cargo xtask sync \
             programs` writes it anew",
            line + 1
        );
    }
    let before = now(HASHES);
    let changed: Vec<&str> = hashes
        .lines()
        .filter(|line| !before.lines().any(|b| b == *line))
        .filter_map(|l| l.split(' ').next())
        .collect();
    assert!(
        changed.is_empty() && before.lines().count() == hashes.lines().count(),
        "the kernels of {changed:?} are not those of kernels/programs/{HASHES}: `cargo xtask sync programs` writes it anew"
    );
}

#[test]
fn kernels_have_the_names_of_the_op_table() {
    let programs = mg_kernels::cuda::single::programs(mg_device::DType::F32);
    let has = |name: &str| programs.iter().any(|(n, _)| n == name);
    for name in ["ew_add_f32", "ew_relu_f32", "ew_pow_f32_scalar", "cast_f32_bf16", "reduce_columns_sum_f32"]
    {
        assert!(has(name), "{name}");
    }
    let mut names: Vec<&String> = programs.iter().map(|(n, _)| n).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), programs.len());
}
