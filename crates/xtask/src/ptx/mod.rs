//! `cargo xtask ptx`: the library kernels, from CUDA C to PTX, with NVRTC from the Python package index. Needs no GPU.

pub mod assembled;
pub mod code;
mod compiled;
mod share;
mod tidy;
#[path = "../../../mg-kernels/build/variants.rs"]
mod variants;
mod warps;

use tidy::{heading, tidy};

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use serde_json::{Value, json};

use crate::venv::Venv;
use crate::workspace::{Workspace, cargo_program};
use crate::{Result, at, process};

const USAGE: &str = "\
usage: cargo xtask ptx [--check | --bound MILLISECONDS FOLDER | SOURCE.cu ...]

Compiles kernels/*.cu, as kernels/variants.txt lists them, to kernels/ptx/*.ptx;
has the emitter write the kernels of single operations to kernels/programs, and
three assemblers read it all (kernels/assembled), and the newest makes the
machine code that the wheel has of some (kernels/code.txt). What did not change since
kernels/compiled.txt was written is left as it is; with MG_ANEW=1 nothing is.
  --check     changes nothing; fails where a file is not what would be written
  --bound     compiles all to this folder instead, for tests: who waits longer
              than so many milliseconds says what for, and ends the kernel
  SOURCE.cu   compiles the kernels of these sources alone";

/// The oldest that knows what the kernels use: its PTX 8.0 is read by drivers from 525 on.
const NVRTC_PACKAGE: &str = "nvidia-cuda-nvrtc-cu12==12.0.140";
const SOURCES: &str = "kernels";
pub const FOLDER: &str = "kernels/ptx";
const NVRTC: &str = include_str!("nvrtc.py");
const TIDY: &str = include_str!("tidy.rs");

pub fn main(arguments: &[String]) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            write(&workspace, &[])?;
            write_programs(&workspace)?;
            assembled::write(&workspace)?;
            code::write(&workspace)?;
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
    let share = if share::is_all() { share::of_commit(workspace) } else { String::new() };
    let Kernels { texts, record, compiled } = build(workspace, sources, &share)?;
    let folder = workspace.root.join(FOLDER);
    std::fs::create_dir_all(&folder).map_err(at(&folder))?;
    for stale in stale(workspace, &texts, sources)? {
        std::fs::remove_file(&stale).map_err(at(&stale))?;
    }
    let mut bytes = 0;
    for (name, text) in &texts {
        let path = file(workspace, name);
        bytes += text.len();
        if std::fs::read_to_string(&path).is_ok_and(|now| now == *text) {
            continue;
        }
        std::fs::write(&path, text).map_err(at(&path))?;
    }
    compiled::Record::write(&workspace.root.join(SOURCES), &record)?;
    println!("{} kernels, {} KiB; {compiled} of them compiled", texts.len(), bytes / 1024);
    Ok(())
}

/// Writes all kernels to another folder, with an end to every wait (`kernels/bounded.cuh`).
fn write_bounded(workspace: &Workspace, milliseconds: u64, folder: &Path) -> Result<()> {
    let variants = variants(workspace)?;
    let texts = compile(workspace, &variants.iter().collect::<Vec<_>>(), Some(milliseconds))?;
    std::fs::create_dir_all(folder).map_err(at(folder))?;
    for (variant, text) in variants.iter().zip(&texts) {
        let path = folder.join(format!("{}.ptx", variant.name));
        std::fs::write(&path, text).map_err(at(&path))?;
    }
    println!("{} kernels, of which none waits for more than {milliseconds} ms", texts.len());
    Ok(())
}

/// Has the emitter write the kernels of single operations, by the test that compares them: with cargo alone, wherever that runs.
pub fn write_programs(workspace: &Workspace) -> Result<()> {
    let mut write = process::command(cargo_program(), &workspace.root);
    write.args(["test", "--quiet", "--package", "mg-kernels", "--test", "single_operations"]);
    process::run(write.env("MG_WRITE_PTX", "1"))
}

/// Compares what there is with what it comes from: by the record, and a share that each commit draws by compiling it.
pub fn check(workspace: &Workspace) -> Result<()> {
    let Kernels { texts, record, compiled } = build(workspace, &[], &share::of_commit(workspace))?;
    let mut wrong: Vec<String> = stale(workspace, &texts, &[])?
        .iter()
        .map(|path| format!("{} belongs to no kernel", path.display()))
        .collect();
    for (name, text) in &texts {
        // What git checked out may have other line ends.
        let now = std::fs::read_to_string(file(workspace, name)).unwrap_or_default();
        if now.replace("\r\n", "\n") != *text {
            wrong.push(format!("{FOLDER}/{name}.ptx is not what its source compiles to"));
        }
    }
    if wrong.is_empty() && !compiled::Record::is(&workspace.root.join(SOURCES), &record) {
        wrong.push(format!("{SOURCES}/{} is not what would be written", compiled::FILE));
    }
    if !wrong.is_empty() {
        return Err(format!("{}; mend it with: cargo xtask ptx", wrong.join("\n")));
    }
    println!("{} kernels are what their sources compile to; {compiled} of them were compiled", texts.len());
    Ok(())
}

/// Whether NVIDIA has the compiler for this machine.
pub fn available() -> bool {
    cfg!(all(target_os = "linux", target_arch = "x86_64"))
}

/// What is to be written.
struct Kernels {
    /// Names and texts of kernels.
    texts: Vec<(String, String)>,
    /// What they come from, as a file.
    record: String,
    /// How many were compiled.
    compiled: usize,
}

/// Where a kernel is written.
fn file(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.root.join(FOLDER).join(format!("{name}.ptx"))
}

fn variants(workspace: &Workspace) -> Result<Vec<variants::Variant>> {
    let list = workspace.root.join(SOURCES).join("variants.txt");
    variants::parse(&std::fs::read_to_string(&list).map_err(at(&list))?)
}

/// What the compiler is told of a kernel, but for where its headers are.
fn options(variant: &variants::Variant) -> Vec<String> {
    let mut options = vec![
        "--std=c++17".to_owned(),
        format!("--gpu-architecture=compute_{}", variant.architecture),
        format!("--define-macro=V_NAME={}", variant.name),
    ];
    options.extend(variant.defines.iter().map(|define| format!("--define-macro={define}")));
    options
}

/// The kernels of these sources, or of all if none is named. Those that the record knows are not compiled, but for those of the share.
fn build(workspace: &Workspace, of: &[&str], share: &str) -> Result<Kernels> {
    let sources = workspace.root.join(SOURCES);
    all_lanes_meet(&sources)?;
    let all = variants(workspace)?;
    if let Some(unknown) = of.iter().find(|&&source| all.iter().all(|v| v.source != source)) {
        return Err(format!("no kernel of variants.txt is of {unknown}"));
    }
    let names: Vec<String> = all.iter().map(|variant| variant.name.clone()).collect();
    let asked: Vec<_> =
        all.iter().filter(|variant| of.is_empty() || of.contains(&variant.source.as_str())).collect();
    let record = compiled::Record::read(&sources);
    let (mut from, mut read) = (BTreeMap::new(), BTreeMap::new());
    let (mut texts, mut todo) = (BTreeMap::new(), Vec::new());
    for variant in &asked {
        let name = &variant.name;
        let source = variant.source.as_str();
        // Many kernels are of one source.
        if !read.contains_key(source) {
            read.insert(source, compiled::texts(&sources, source)?);
        }
        let options = options(variant).join("\n");
        let mut parts = vec![NVRTC_PACKAGE, NVRTC, TIDY, &options, variant.level().unwrap_or_default()];
        parts.extend(read[source].iter().map(String::as_str));
        let hash = compiled::hash(&parts);
        let now = std::fs::read_to_string(file(workspace, name)).unwrap_or_default().replace("\r\n", "\n");
        if record.has(name, &hash, &now) && !share::has(share, &hash) {
            texts.insert(name, now);
        } else {
            todo.push(*variant);
        }
        from.insert(name, hash);
    }
    for (variant, text) in todo.iter().zip(compile(workspace, &todo, None)?) {
        texts.insert(&variant.name, text);
    }
    let texts: Vec<(String, String)> = texts.into_iter().map(|(name, text)| (name.clone(), text)).collect();
    let told = |(name, text): &(String, String)| (name.clone(), from[name].clone(), text.clone());
    let record = record.text(&texts.iter().map(told).collect::<Vec<_>>(), &names);
    Ok(Kernels { texts, record, compiled: todo.len() })
}

/// The texts of kernels, by NVRTC. With a bound no wait takes more milliseconds.
fn compile(
    workspace: &Workspace,
    variants: &[&variants::Variant],
    bound: Option<u64>,
) -> Result<Vec<String>> {
    if variants.is_empty() {
        return Ok(Vec::new());
    }
    if !available() {
        return Err("the compiler's package is for Linux on x86-64 alone".to_owned());
    }
    let sources = workspace.root.join(SOURCES);
    let jobs: Vec<Value> = variants
        .iter()
        .map(|variant| {
            let mut options = options(variant);
            options.push(format!("--include-path={}", sources.display()));
            options
                .extend(bound.map(|milliseconds| format!("--define-macro=V_BOUND={milliseconds}000000ull")));
            json!({ "name": variant.name, "source": sources.join(&variant.source), "options": options })
        })
        .collect();
    let venv = Venv::of(workspace)?;
    venv.install("nvrtc", &[NVRTC_PACKAGE.to_owned()])?;
    let mut compile = venv.python(&workspace.root);
    compile.args(["-c", NVRTC]).stdin(Stdio::piped()).stdout(Stdio::piped());
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
    let text = |(variant, result): (&&variants::Variant, &Value)| match result["ptx"].as_str() {
        Some(ptx) => Ok(tidy(ptx, &variant.source, variant.level())),
        None => {
            let error = result["error"].as_str().unwrap_or("no answer");
            Err(format!("{} ({}): {error}", variant.name, variant.source))
        }
    };
    variants.iter().zip(&results).map(text).collect()
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

/// Files in the folder that are of none of these kernels.
fn stale(workspace: &Workspace, texts: &[(String, String)], sources: &[&str]) -> Result<Vec<PathBuf>> {
    let folder = workspace.root.join(FOLDER);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(&folder).map_err(at(&folder))?;
    let known = |path: &Path| texts.iter().any(|(name, _)| file(workspace, name) == path);
    let own = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        sources.is_empty() || sources.iter().any(|source| text.starts_with(&heading(source)))
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(paths.filter(|path| !known(path) && own(path)).collect())
}
