//! The steps that need Python: the wheel and its tests, the PTX assembler (which comes as a Python package), the peers.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Outcome;
use super::counts::Counts;
use crate::ptx::{self, FOLDER};
use crate::venv::{PYTHON, Venv};
use crate::wheel::{CRATE, files, install, tools};
use crate::workspace::{Workspace, cargo_program};
use crate::{Result, at, process};

/// Releases of the assembler, the newest first: it knows every architecture from sm_50 to sm_120. The older ones, which drivers of their time have
/// in them, are there for Linux on x86-64 alone.
const PTXAS: [&str; 3] = ["12.9.86", "12.4.131", "12.0.140"];
/// Turing, Ampere, Ada's parent, Hopper, Blackwell in data centres and desks: one of each binary-compatible line.
const ARCHITECTURES: &[u32] = &[75, 80, 86, 90, 100, 120];

pub fn peers(workspace: &Workspace, _: &mut Counts) -> Result<Outcome> {
    let Some(folder) = workspace.existing("benches/peers") else {
        return Ok(Outcome::Skipped("no benches/peers".to_owned()));
    };
    let parse = "import ast, pathlib\nfor f in sorted(pathlib.Path('.').glob('*.py')): ast.parse(f.read_bytes(), str(f))";
    process::run(process::command(PYTHON, &folder).args(["-c", parse]))?;
    let cases = process::output(process::command(PYTHON, &folder).args(["-B", "peer.py", "--list"]))?;
    println!("{} cases", cases.lines().count());
    process::run(process::command(PYTHON, &folder).args(["-B", "-m", "unittest", "--quiet"]))?;
    Ok(Outcome::Done)
}

fn no_wheel_crate() -> Outcome {
    Outcome::Skipped(format!("no {CRATE}"))
}

pub fn wheel(workspace: &Workspace, _: &mut Counts) -> Result<Outcome> {
    let Some((venv, folder)) = tools(workspace)? else { return Ok(no_wheel_crate()) };
    install(workspace, &venv, &folder, "test-wheel", &["--release"])?;
    Ok(Outcome::Done)
}

pub fn pytest(workspace: &Workspace, counts: &mut Counts) -> Result<Outcome> {
    let Some((venv, folder)) = tools(workspace)? else { return Ok(no_wheel_crate()) };
    let mut command = venv.python(&folder);
    if std::env::var_os("FUZZ_SEED").is_none() {
        // Other random programs and calls each time; what fails says of which seed.
        command.env("FUZZ_SEED", "fresh");
    }
    counts.run(command.args(["-m", "pytest", "--color=no"]))?;
    Ok(Outcome::Done)
}

pub fn pyright(workspace: &Workspace, _: &mut Counts) -> Result<Outcome> {
    let Some((venv, folder)) = tools(workspace)? else { return Ok(no_wheel_crate()) };
    process::run(venv.python(&folder).args(["-m", "pyright"]))?;
    Ok(Outcome::Done)
}

pub fn mypy(workspace: &Workspace, _: &mut Counts) -> Result<Outcome> {
    let Some((venv, folder)) = tools(workspace)? else { return Ok(no_wheel_crate()) };
    process::run(venv.python(&folder).args(["-m", "mypy"]))?;
    Ok(Outcome::Done)
}

pub fn ptx(workspace: &Workspace, _: &mut Counts) -> Result<Outcome> {
    if !ptx::available() {
        return Ok(Outcome::Skipped("the compiler's package is for Linux on x86-64 alone".to_owned()));
    }
    ptx::check(workspace)?;
    Ok(Outcome::Done)
}

pub fn ptxas(workspace: &Workspace, _: &mut Counts) -> Result<Outcome> {
    let Some(folder) = workspace.existing(FOLDER) else {
        return Ok(Outcome::Skipped(format!("no {FOLDER}")));
    };
    if cfg!(target_os = "macos") {
        return Ok(Outcome::Skipped("NVIDIA has no assembler for macOS".to_owned()));
    }
    let assemblers = assemblers(&Venv::of(workspace)?)?;
    let ptxas = &assemblers[0];

    // Of all packages, as the tests were built.
    let tests = |name: &str| {
        let mut run = process::command(cargo_program(), &workspace.root);
        run.args(["test", "--release", "--quiet", "--workspace", "--test", name]);
        run
    };
    // What is assembled as well as can be: every prebuilt kernel for its own architecture, and a corpus of the emitter's.
    let named = std::env::join_paths(&assemblers).map_err(|error| format!("paths of assemblers: {error}"))?;
    // The corpus for the GPUs whose instructions it is in, and the newest.
    let targets = "sm_75 sm_80 sm_90 sm_120";
    process::run(tests("ptx_corpus").env("PTXAS", named).env("PTXAS_TARGETS", targets))?;

    let mut jobs = Vec::new();
    let mut add = |folder: &Path, own_too: bool| -> Result<()> {
        for file in files(folder, "ptx")? {
            let text = std::fs::read_to_string(&file).map_err(at(&file))?;
            let target = target(&text).ok_or_else(|| format!("{} has no .target line", file.display()))?;
            let those = architectures(target)?.into_iter().filter(|to| own_too || to != target);
            jobs.extend(those.map(|architecture| (file.clone(), architecture)));
        }
        Ok(())
    };
    add(&folder, false)?;
    // The emitter's, by the test that compares their hashes.
    let texts = workspace.target().join("programs");
    process::run(tests("single_operations").env("MG_PTX_TEXTS", &texts))?;
    add(&texts, true)?;
    let failures = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((file, architecture)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut assemble = process::command(ptxas, &folder);
                    assemble.arg(format!("-arch={architecture}")).arg(file);
                    if let Err(failure) = process::output(
                        assemble.args(["-o", if cfg!(windows) { "NUL" } else { "/dev/null" }]),
                    ) {
                        failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{} of {} assemblies succeed", jobs.len() - failures.len(), jobs.len());
    if failures.is_empty() { Ok(Outcome::Done) } else { Err(failures.join("\n")) }
}

/// The assemblers, fetched where they are not there yet.
fn assemblers(venv: &Venv) -> Result<Vec<PathBuf>> {
    let releases = if ptx::available() { &PTXAS[..] } else { &PTXAS[..1] };
    let program = if cfg!(windows) { "ptxas.exe" } else { "ptxas" };
    let install = |release: &&str| {
        let folder =
            venv.install_apart(&format!("ptxas-{release}"), &format!("nvidia-cuda-nvcc-cu12=={release}"))?;
        Ok(folder.join("nvidia/cuda_nvcc/bin").join(program))
    };
    releases.iter().map(install).collect()
}

/// The architecture that a PTX file is written for: "sm_80" of ".target sm_80, texmode_independent".
fn target(ptx: &str) -> Option<&str> {
    let line = ptx.lines().find_map(|line| line.trim_start().strip_prefix(".target"))?;
    line.split(',').next().map(str::trim)
}

/// The architectures to assemble a file of this target for: its own and the later ones, or, where the target is
/// specific to one architecture ("sm_90a"), that alone.
fn architectures(target: &str) -> Result<Vec<String>> {
    let number = target.strip_prefix("sm_").ok_or_else(|| format!("no architecture: '{target}'"))?;
    match number.parse::<u32>() {
        Ok(lowest) => Ok(ARCHITECTURES.iter().filter(|&&a| a >= lowest).map(|a| format!("sm_{a}")).collect()),
        Err(_) => Ok(vec![target.to_owned()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portable_ptx_is_for_its_architecture_and_later_ones() {
        let ptx = "// made\n.version 8.0\n.target sm_80, texmode_independent\n.address_size 64";
        assert_eq!(target(ptx), Some("sm_80"));
        assert_eq!(architectures("sm_80").unwrap(), ["sm_80", "sm_86", "sm_90", "sm_100", "sm_120"]);
    }

    #[test]
    fn specific_ptx_is_for_one_architecture() {
        assert_eq!(architectures("sm_90a").unwrap(), ["sm_90a"]);
        assert!(architectures("compute_90").is_err());
        assert_eq!(target(".version 8.0"), None);
    }
}
