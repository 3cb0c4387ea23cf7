//! `cargo xtask gpu-bundle`: everything that is checked and measured on a GPU, for a machine that has one and no cargo.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use crate::bench::source;
use crate::workspace::{Workspace, cargo_program};
use crate::{Result, at, process, wheel};

const USAGE: &str = "\
usage: cargo xtask gpu-bundle [--out DIR] [--pack]

Builds test programs, benches, examples and the wheel, and puts them into a folder (target/gpu-bundle unless told otherwise) with a
script, run.sh, that runs them on a machine with a GPU: `run.sh check`, `bench`, `peers`, `sanitize`, `wheel`, `sustained`, `tiles`, or all but
the last.
There it needs the driver; Python for the parts `peers` and `wheel`, with those of PyTorch and JAX that are to be compared with.
  --out DIR   where the folder is made
  --pack      also DIR.tar.xz, which must stay below 64 MiB; `python3 -m tarfile -e FILE FOLDER` unpacks it";

/// Packages whose tests run on the device that `MG_DEVICE` names.
const PACKAGES: [&str; 5] = ["mg-device", "mg-kernels", "mg-graph", "mg-autograd", "mg-nn"];
/// With the package that each is of.
const EXAMPLES: [(&str, &str); 3] =
    [("micrograd-rs", "gpu"), ("micrograd-rs", "mnist"), ("mg-kernels", "tiles")];
/// Tests that read the sources or need a compiler.
const AT_HOME: [&str; 2] = ["mg-kernels-ptx_corpus", "mg-autograd-cuda_faults"];
/// Tests of Python that read them.
const PYTHON_AT_HOME: [&str; 2] = ["test_examples.py", "test_names.py"];
/// What a bundle may be packed.
const MOST_BYTES: u64 = 64 << 20;

const RUNNER: &str = include_str!("run.sh");

/// A program that cargo built.
struct Program {
    name: String,
    path: PathBuf,
}

pub fn main(arguments: &[String]) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let (mut out, mut pack) = (workspace.target().join("gpu-bundle"), false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--out" => out = PathBuf::from(rest.next().ok_or("--out needs a folder")?),
            "--pack" => pack = true,
            "-h" | "--help" => {
                println!("{USAGE}");
                return Ok(ExitCode::SUCCESS);
            }
            other => return Err(format!("gpu-bundle has no option '{other}'\n{USAGE}")),
        }
    }
    if out.exists() {
        // Programs of an earlier build would be run beside the new ones.
        std::fs::remove_dir_all(&out).map_err(at(&out))?;
    }
    fill(&workspace, &out)?;
    println!("the bundle is in {}", out.display());
    if pack {
        packed(&out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn fill(workspace: &Workspace, out: &Path) -> Result<()> {
    let packages = PACKAGES.iter().flat_map(|package| ["--package", package]);
    let mut tests =
        workspace.cargo("test --release --no-run --tests --message-format json-render-diagnostics");
    let tests = built(tests.args(packages))?;
    let tests = tests.into_iter().filter(|program| !AT_HOME.contains(&program.name.as_str()));
    let mut benches = workspace.cargo("build --release --benches --package micrograd-rs");
    let benches = built(benches.arg("--message-format=json-render-diagnostics"))?;
    let mut examples = process::command(cargo_program(), &workspace.root);
    examples.args(["build", "--release"]);
    process::run(examples.args(EXAMPLES.iter().flat_map(|(of, name)| ["--package", of, "--example", name])))?;
    let examples = EXAMPLES.map(|(_, name)| Program {
        name: name.to_owned(),
        path: workspace.target().join("release/examples").join(name),
    });

    for (folder, programs) in
        [("tests", tests.collect()), ("benches", benches), ("examples", Vec::from(examples))]
    {
        let folder = out.join(folder);
        std::fs::create_dir_all(&folder).map_err(at(&folder))?;
        for program in programs {
            stripped(&program.path, &folder.join(program.name))?;
        }
    }
    let arguments = ["--out".to_owned(), out.join("wheel").display().to_string()];
    wheel::main(&arguments)?;
    files(&workspace.root.join("benches/peers"), &out.join("peers"), &[])?;
    files(&workspace.root.join(wheel::CRATE).join("tests"), &out.join("python-tests"), &PYTHON_AT_HOME)?;
    let text = serde_json::to_string(&source(workspace)).map_err(|error| error.to_string())?;
    let path = out.join("source.json");
    std::fs::write(&path, text + "\n").map_err(at(&path))?;
    let runner = out.join("run.sh");
    std::fs::write(&runner, RUNNER).map_err(at(&runner))
}

/// The programs that a cargo command builds.
fn built(command: &mut std::process::Command) -> Result<Vec<Program>> {
    let text = process::output_with_errors_shown(command)?;
    let found: Vec<Program> = text.lines().filter_map(program).collect();
    if found.is_empty() { Err("cargo built no programs".into()) } else { Ok(found) }
}

/// What a line of cargo's messages says of a program that was built: of a test with its package's name, since two packages may
/// have tests of one name.
fn program(line: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(line).ok()?;
    let path = PathBuf::from(message["executable"].as_str()?);
    let name = message["target"]["name"].as_str()?;
    let is_bench = message["target"]["kind"].as_array()?.iter().any(|kind| kind == "bench");
    if is_bench {
        return Some(Program { name: name.to_owned(), path });
    }
    if message["profile"]["test"] != true {
        return None;
    }
    let id = message["package_id"].as_str()?;
    let package = PACKAGES.iter().find(|package| id.contains(*package))?;
    Some(Program { name: format!("{package}-{name}"), path })
}

/// A copy without symbols, which are most of a program.
fn stripped(from: &Path, to: &Path) -> Result<()> {
    let mut strip = process::command("strip", Path::new("."));
    process::run(strip.arg("-o").args([to, from]))
}

/// Copies a folder's Python files.
fn files(from: &Path, to: &Path, except: &[&str]) -> Result<()> {
    std::fs::create_dir_all(to).map_err(at(to))?;
    for file in wheel::files(from, "py")? {
        let Some(name) = file.file_name().filter(|name| except.iter().all(|e| name != e)) else { continue };
        std::fs::copy(&file, to.join(name)).map_err(at(&file))?;
    }
    Ok(())
}

/// The folder as one file beside it.
fn packed(folder: &Path) -> Result<()> {
    let mut name = folder.as_os_str().to_owned();
    name.push(".tar.xz");
    let file = PathBuf::from(name);
    let mut tar = process::command("tar", folder);
    process::run(tar.env("XZ_OPT", "-4 -T0").arg("-cJf").arg(&file).arg("."))?;
    let bytes = std::fs::metadata(&file).map_err(at(&file))?.len();
    println!("{}: {:.1} MiB", file.display(), bytes as f64 / f64::from(1 << 20));
    if bytes < MOST_BYTES { Ok(()) } else { Err(format!("{bytes} bytes are more than {MOST_BYTES}")) }
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn programs_are_named_by_their_packages() {
        let line = r#"{"reason":"compiler-artifact","package_id":"path+file:///x/crates/mg-graph#0.1.0","target":{"kind":["test"],
            "name":"scheduling"},"profile":{"test":true},"executable":"/t/scheduling-1"}"#;
        let found = program(&line.replace('\n', "")).unwrap();
        assert_eq!(
            (found.name.as_str(), found.path.to_str()),
            ("mg-graph-scheduling", Some("/t/scheduling-1"))
        );
        let bench = r#"{"package_id":"p","target":{"kind":["bench"],"name":"steps"},"profile":{"test":false},"executable":"/t/s"}"#;
        assert_eq!(program(bench).unwrap().name, "steps");
        let library = r#"{"package_id":"p","target":{"kind":["lib"],"name":"x"},"profile":{"test":false},"executable":null}"#;
        assert!(program(library).is_none());
    }
}
