//! The steps that need Python: the wheel and its tests, the PTX assembler (which comes as a Python package), the peers.

use super::Outcome;
use super::counts::Counts;
use crate::ptx::{self, FOLDER, assembled, code};
use crate::venv::PYTHON;
use crate::wheel::{CRATE, install, tools};
use crate::workspace::Workspace;
use crate::{Result, process};

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
    if workspace.existing(FOLDER).is_none() {
        return Ok(Outcome::Skipped(format!("no {FOLDER}")));
    }
    if cfg!(target_os = "macos") {
        return Ok(Outcome::Skipped("NVIDIA has no assembler for macOS".to_owned()));
    }
    // Of all packages, as the tests were built.
    assembled::check(workspace, &["--release", "--quiet", "--workspace"])?;
    code::check(workspace)?;
    Ok(Outcome::Done)
}
