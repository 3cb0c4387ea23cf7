//! What NVIDIA's assemblers make of kernels: `kernels/assembled`, written and checked by the test that asks them (`ptx_corpus`).

use std::path::PathBuf;

use super::{available, share};
use crate::venv::Venv;
use crate::workspace::{Workspace, cargo_program};
use crate::{Result, process};

const RECORD: &str = "kernels/assembled";
/// Releases of the assembler, the newest first: it knows every architecture from sm_50 to sm_120. The older ones, which drivers of their time have
/// in them, are there for Linux on x86-64 alone.
pub const RELEASES: [&str; 3] = ["12.9.86", "12.4.131", "12.0.140"];
/// The GPUs that the emitter's corpus is assembled for: those whose instructions it is in, and the newest.
const TARGETS: &str = "sm_75 sm_80 sm_90 sm_120";

/// Has the test look at all texts, in a build that these options tell of.
pub fn check(workspace: &Workspace, build: &[&str]) -> Result<()> {
    run(workspace, build, [("PTXAS_SHARE", &share::of_commit(workspace))])
}

/// Assembles what the record does not have, and writes it.
pub fn write(workspace: &Workspace) -> Result<()> {
    run(workspace, &["--quiet", "--package", "mg-kernels"], [("PTXAS_WRITE", "1")])
}

fn run(workspace: &Workspace, build: &[&str], how: [(&str, &str); 1]) -> Result<()> {
    let assemblers = assemblers(&Venv::of(workspace)?)?;
    let named = std::env::join_paths(&assemblers).map_err(|error| format!("paths of assemblers: {error}"))?;
    let mut test = process::command(cargo_program(), &workspace.root);
    test.arg("test").args(build).args(["--test", "ptx_corpus"]);
    test.env("PTXAS", named).env("PTXAS_TARGETS", TARGETS).envs(how);
    // What only one assembler is there for is not all of the record.
    if available() {
        test.env("PTXAS_RECORD", workspace.root.join(RECORD));
    }
    process::run(&mut test)
}

/// The assemblers, fetched where they are not there yet.
fn assemblers(venv: &Venv) -> Result<Vec<PathBuf>> {
    let releases = if available() { &RELEASES[..] } else { &RELEASES[..1] };
    releases.iter().map(|release| install(venv, release)).collect()
}

/// The newest of them.
pub fn newest(venv: &Venv) -> Result<PathBuf> {
    install(venv, RELEASES[0])
}

fn install(venv: &Venv, release: &str) -> Result<PathBuf> {
    let program = if cfg!(windows) { "ptxas.exe" } else { "ptxas" };
    let folder =
        venv.install_apart(&format!("ptxas-{release}"), &format!("nvidia-cuda-nvcc-cu12=={release}"))?;
    Ok(folder.join("nvidia/cuda_nvcc/bin").join(program))
}
