//! The kernels of single operations are the files in `kernels/programs`: a change of the emitter shows there.

use std::path::PathBuf;

/// Has the files written, rather than compared.
const WRITE: &str = "MG_WRITE_PTX";

#[test]
fn files_are_what_the_emitter_writes() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../kernels/programs");
    let files = mg_kernels::cuda::single::files().unwrap();
    assert_eq!(files.len(), 8);
    if std::env::var_os(WRITE).is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text) in &files {
            std::fs::write(folder.join(name), text).unwrap();
        }
    }
    for (name, text) in &files {
        let now = std::fs::read_to_string(folder.join(name)).unwrap_or_default().replace("\r\n", "\n");
        if now == *text {
            continue;
        }
        let line = now.lines().zip(text.lines()).position(|(a, b)| a != b).unwrap_or(0);
        let kernel = text.lines().take(line + 1).filter_map(|l| l.split_once(".entry ")).last();
        let kernel = kernel.map_or("its head", |(_, rest)| rest.split('(').next().unwrap_or(rest));
        panic!(
            "kernels/programs/{name} is not what the emitter writes, from line {} in {kernel}: `cargo xtask ptx` writes \
             it anew",
            line + 1
        );
    }
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
