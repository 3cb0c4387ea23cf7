//! `cargo xtask gpu-bundle`: test programs, examples and a runner, for a machine with a GPU and no cargo.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use crate::workspace::{Workspace, cargo_program};
use crate::{Result, at, process};

const USAGE: &str = "\
usage: cargo xtask gpu-bundle [--out DIR]

Builds the test programs and the examples gpu and mnist, and puts them into a folder (target/gpu-bundle unless told otherwise) with a
script, run.sh, that runs them on a machine with a GPU: first whether results are right, then how fast they come, then
compute-sanitizer where there is one. Copy the folder there; it needs the driver and nothing else. With python3 and PyTorch there, the
same work is timed by PyTorch too.
  --out DIR   where the folder is made";

/// Packages whose tests run on the device that `MG_DEVICE` names.
const PACKAGES: [&str; 3] = ["mg-device", "mg-graph", "mg-autograd"];
const EXAMPLES: [&str; 2] = ["gpu", "mnist"];

const RUNNER: &str = r#"#!/bin/sh
# Runs the tests on the GPU, then measures. Results go to ./results; the exit status is 0 where every test passed.
cd "$(dirname "$0")" || exit 1
mkdir -p results
failed=0
for program in tests/*; do
    name=$(basename "$program")
    if MG_DEVICE="${MG_DEVICE:-cuda}" "$program" > "results/$name.txt" 2>&1; then
        echo "$name: $(grep '^test result' "results/$name.txt")"
    else
        echo "$name: FAILED, see results/$name.txt"
        failed=1
    fi
done
./examples/gpu --check || failed=1
./examples/gpu | tee results/gpu.txt
if python3 -c 'import torch' 2> /dev/null; then
    python3 torch_gpu.py | tee results/torch.txt
fi
if command -v compute-sanitizer > /dev/null; then
    for tool in memcheck racecheck initcheck; do
        compute-sanitizer --tool "$tool" ./examples/gpu --check > "results/$tool.txt" 2>&1 || failed=1
        tail -n 1 "results/$tool.txt"
    done
fi
exit $failed
"#;

pub fn main(arguments: &[String]) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let out = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => workspace.target().join("gpu-bundle"),
        ["--out", dir] => PathBuf::from(dir),
        ["-h" | "--help"] => {
            println!("{USAGE}");
            return Ok(ExitCode::SUCCESS);
        }
        _ => return Err(format!("gpu-bundle has no such options\n{USAGE}")),
    };
    let tests = tests(&workspace)?;
    let mut build = process::command(cargo_program(), &workspace.root);
    build.args(["build", "--release", "--package", "micrograd-rs"]);
    process::run(build.args(EXAMPLES.iter().flat_map(|name| ["--example", name])))?;
    for folder in ["tests", "examples"] {
        let folder = out.join(folder);
        std::fs::create_dir_all(&folder).map_err(at(&folder))?;
    }
    for (name, program) in &tests {
        copy(program, &out.join("tests").join(name))?;
    }
    for name in EXAMPLES {
        copy(&workspace.target().join("release/examples").join(name), &out.join("examples").join(name))?;
    }
    copy(&workspace.root.join("benches/peers/gpu/torch_gpu.py"), &out.join("torch_gpu.py"))?;
    let runner = out.join("run.sh");
    std::fs::write(&runner, RUNNER).map_err(at(&runner))?;
    println!("{} test programs and {} examples in {}", tests.len(), EXAMPLES.len(), out.display());
    Ok(ExitCode::SUCCESS)
}

/// Builds the test programs; answers with their names and where they are.
fn tests(workspace: &Workspace) -> Result<Vec<(String, PathBuf)>> {
    let mut build = process::command(cargo_program(), &workspace.root);
    build.args(["test", "--no-run", "--message-format", "json"]);
    build.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    let text = process::output_with_errors_shown(&mut build)?;
    let mut found = vec![];
    for line in text.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let is_test = message["profile"]["test"] == true;
        if let (true, Some(program), Some(name), Some(package)) = (
            is_test,
            message["executable"].as_str(),
            message["target"]["name"].as_str(),
            message["package_id"].as_str(),
        ) {
            // Two packages may have tests of one name.
            let package = PACKAGES.iter().find(|p| package.contains(*p)).unwrap_or(&"");
            found.push((format!("{package}-{name}"), PathBuf::from(program)));
        }
    }
    if found.is_empty() {
        return Err("cargo built no test programs".into());
    }
    Ok(found)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::copy(from, to).map_err(at(from))?;
    Ok(())
}
