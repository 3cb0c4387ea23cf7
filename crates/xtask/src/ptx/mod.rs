//! `cargo xtask ptx`: the library kernels, from CUDA C to PTX, with NVRTC from the Python package index. Needs no GPU.

#[path = "../../../mg-kernels/build/variants.rs"]
mod variants;
mod warps;

use std::io::Write;
use std::path::Path;
use std::process::{ExitCode, Stdio};

use serde_json::{Value, json};

use crate::venv::Venv;
use crate::workspace::{Workspace, cargo_program};
use crate::{Result, at, process};

const USAGE: &str = "\
usage: cargo xtask ptx [--check | --bound MILLISECONDS FOLDER | SOURCE.cu ...]

Compiles kernels/*.cu, as kernels/variants.txt lists them, to kernels/ptx/*.ptx;
has the emitter write the kernels of single operations to kernels/programs.
  --check     changes nothing; fails where a file is not what would be written
  --bound     compiles all to this folder instead, for tests: who waits longer
              than so many milliseconds says what for, and ends the kernel
  SOURCE.cu   compiles the kernels of these sources alone";

/// The oldest that knows what the kernels use: its PTX 8.0 is read by drivers from 525 on.
const NVRTC_PACKAGE: &str = "nvidia-cuda-nvrtc-cu12==12.0.140";
const SOURCES: &str = "kernels";
pub const FOLDER: &str = "kernels/ptx";

pub fn main(arguments: &[String]) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            write(&workspace, &[])?;
            write_programs(&workspace)?;
        }
        ["--check"] => check(&workspace)?,
        ["--bound", milliseconds, folder] => {
            let bound: u64 = milliseconds
                .parse()
                .map_err(|_| format!("--bound takes milliseconds, got '{milliseconds}'\n{USAGE}"))?;
            write_bounded(&workspace, bound, Path::new(folder))?;
        }
        ["-h" | "--help"] => println!("{USAGE}"),
        ref sources if sources.iter().all(|source| source.ends_with(".cu")) => write(&workspace, sources)?,
        _ => return Err(format!("ptx has no such options\n{USAGE}")),
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the kernels of these sources, or of all if none is named.
fn write(workspace: &Workspace, sources: &[&str]) -> Result<()> {
    let files = build(workspace, sources, None)?;
    let folder = workspace.root.join(FOLDER);
    std::fs::create_dir_all(&folder).map_err(at(&folder))?;
    for stale in stale(workspace, &files, sources)? {
        std::fs::remove_file(&stale).map_err(at(&stale))?;
    }
    let mut bytes = 0;
    for (path, text) in &files {
        let path = workspace.root.join(path);
        bytes += text.len();
        if std::fs::read_to_string(&path).is_ok_and(|now| now == *text) {
            continue;
        }
        std::fs::write(&path, text).map_err(at(&path))?;
    }
    println!("{} kernels, {} KiB", files.len(), bytes / 1024);
    Ok(())
}

/// Writes all kernels to another folder, with an end to every wait (`kernels/bounded.cuh`).
fn write_bounded(workspace: &Workspace, milliseconds: u64, folder: &Path) -> Result<()> {
    let files = build(workspace, &[], Some(milliseconds))?;
    std::fs::create_dir_all(folder).map_err(at(folder))?;
    for (path, text) in &files {
        let path = folder.join(Path::new(path).file_name().unwrap_or_default());
        std::fs::write(&path, text).map_err(at(&path))?;
    }
    println!("{} kernels, of which none waits for more than {milliseconds} ms", files.len());
    Ok(())
}

/// Has the emitter write the kernels of single operations, by the test that compares them: with cargo alone, wherever that runs.
pub fn write_programs(workspace: &Workspace) -> Result<()> {
    let mut write = process::command(cargo_program(), &workspace.root);
    write.args(["test", "--quiet", "--package", "mg-kernels", "--test", "single_operations"]);
    process::run(write.env("MG_WRITE_PTX", "1"))
}

/// Compiles everything anew and compares.
pub fn check(workspace: &Workspace) -> Result<()> {
    let files = build(workspace, &[], None)?;
    let mut wrong: Vec<String> = stale(workspace, &files, &[])?
        .iter()
        .map(|path| format!("{} belongs to no kernel", path.display()))
        .collect();
    for (path, text) in &files {
        // What git checked out may have other line ends.
        let now = std::fs::read_to_string(workspace.root.join(path)).unwrap_or_default();
        if now.replace("\r\n", "\n") != *text {
            wrong.push(format!("{path} is not what its source compiles to"));
        }
    }
    if !wrong.is_empty() {
        return Err(format!("{}; mend it with: cargo xtask ptx", wrong.join("\n")));
    }
    println!("{} kernels are what their sources compile to", files.len());
    Ok(())
}

/// Whether NVIDIA has the compiler for this machine.
pub fn available() -> bool {
    cfg!(all(target_os = "linux", target_arch = "x86_64"))
}

/// Every file to be written, below the root, with its text: of the kernels of these sources, or of all if none is named. With a bound no wait takes
/// more milliseconds.
fn build(workspace: &Workspace, of: &[&str], bound: Option<u64>) -> Result<Vec<(String, String)>> {
    if !available() {
        return Err("the compiler's package is for Linux on x86-64 alone".to_owned());
    }
    let sources = workspace.root.join(SOURCES);
    all_lanes_meet(&sources)?;
    let list = sources.join("variants.txt");
    let mut variants = variants::parse(&std::fs::read_to_string(&list).map_err(at(&list))?)?;
    if let Some(unknown) = of.iter().find(|&&source| variants.iter().all(|v| v.source != source)) {
        return Err(format!("no kernel of variants.txt is of {unknown}"));
    }
    variants.retain(|variant| of.is_empty() || of.contains(&variant.source.as_str()));
    let jobs: Vec<Value> = variants
        .iter()
        .map(|variant| {
            let mut options = vec![
                "--std=c++17".to_owned(),
                format!("--gpu-architecture=compute_{}", variant.architecture),
                format!("--include-path={}", sources.display()),
                format!("--define-macro=V_NAME={}", variant.name),
            ];
            options.extend(variant.defines.iter().map(|define| format!("--define-macro={define}")));
            options
                .extend(bound.map(|milliseconds| format!("--define-macro=V_BOUND={milliseconds}000000ull")));
            json!({ "name": variant.name, "source": sources.join(&variant.source), "options": options })
        })
        .collect();
    let venv = Venv::of(workspace)?;
    venv.install("nvrtc", &[NVRTC_PACKAGE.to_owned()])?;
    let mut compile = venv.python(&workspace.root);
    compile.args(["-c", include_str!("nvrtc.py")]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let failed = |error: std::io::Error| format!("could not run NVRTC: {error}");
    let mut child = compile.spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(Value::from(jobs).to_string().as_bytes()).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    if !output.status.success() {
        return Err(format!("NVRTC ended with {}", output.status));
    }
    let results: Vec<Value> =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("NVRTC's answer: {error}"))?;
    let mut files = Vec::new();
    for (variant, result) in variants.iter().zip(&results) {
        let Some(ptx) = result["ptx"].as_str() else {
            let error = result["error"].as_str().unwrap_or("no answer");
            return Err(format!("{} ({}): {error}", variant.name, variant.source));
        };
        files.push((format!("{FOLDER}/{}.ptx", variant.name), tidy(ptx, &variant.source, variant.level())));
    }
    Ok(files)
}

/// That no source has lanes of a warp meet where some of them may not come.
fn all_lanes_meet(folder: &Path) -> Result<()> {
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(at(folder))? {
        let path = entry.map_err(at(folder))?.path();
        if path.extension().is_some_and(|extension| extension == "cu" || extension == "cuh") {
            let source = std::fs::read_to_string(&path).map_err(at(&path))?;
            wrong.extend(warps::left_out(&source).iter().map(|line| format!("{}:{line}", path.display())));
        }
    }
    if !wrong.is_empty() {
        let places = wrong.join(", ");
        return Err(format!("lanes that meet behind `&&`, `||` or `?`, where some do not come: {places}"));
    }
    Ok(())
}

/// Files in the folder that are not among `files`.
fn stale(
    workspace: &Workspace,
    files: &[(String, String)],
    sources: &[&str],
) -> Result<Vec<std::path::PathBuf>> {
    let folder = workspace.root.join(FOLDER);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(&folder).map_err(at(&folder))?;
    let known = |path: &Path| files.iter().any(|(file, _)| workspace.root.join(file) == path);
    let own = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        sources.is_empty() || sources.iter().any(|source| text.starts_with(&heading(source)))
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(paths.filter(|path| !known(path) && own(path)).collect())
}

/// The first line of a kernel's file.
fn heading(source: &str) -> String {
    format!("// From kernels/{source} by `cargo xtask ptx`.\n")
}

/// The PTX without what only takes room: comments (but for the marks where code is spliced in), blank lines, indentation,
/// constants of the source that no instruction reads.
///
/// A level of its own is told in the second line, as `Gpu::load_module` reads it.
fn tidy(ptx: &str, source: &str, level: Option<&str>) -> String {
    let mut text = heading(source);
    if let Some(level) = level {
        text.push_str(&format!("// mg.level {level}\n"));
    }
    for line in ptx.lines().map(str::trim) {
        let comment = line.starts_with("//") && !line.starts_with("// mg.");
        if line.is_empty() || comment || unused(line, ptx) {
            continue;
        }
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.push_str(&line.replace(", ", ","));
        text.push('\n');
    }
    text
}

/// Whether the line defines a constant that stands nowhere else.
fn unused(line: &str, ptx: &str) -> bool {
    let Some(definition) = line.strip_prefix(".global ") else { return false };
    let name = definition
        .split([' ', '=', ';', '['])
        .filter(|word| !word.is_empty() && !word.starts_with('.'))
        .find(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
    name.is_some_and(|name| {
        let whole = |at: usize| {
            let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
            !ptx[..at].ends_with(part) && !ptx[at + name.len()..].starts_with(part)
        };
        ptx.match_indices(name).filter(|&(at, _)| whole(at)).count() == 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tidied_ptx_keeps_code_and_marks() {
        let ptx = "//\n// Generated\n.version 8.0\n.global .align 4 .u32 BM = 128;\n\n\tadd.f32 \t%f1, %f2, %f3;\n\t// begin inline asm\n\t// mg.epilogue %f1\n";
        let expected = "// From kernels/a.cu by `cargo xtask ptx`.\n.version 8.0\nadd.f32 %f1,%f2,%f3;\n// mg.epilogue %f1\n";
        assert_eq!(tidy(ptx, "a.cu", None), expected);
        assert!(
            tidy(ptx, "a.cu", Some("2"))
                .starts_with("// From kernels/a.cu by `cargo xtask ptx`.\n// mg.level 2\n.version")
        );
    }
}
