//! `cargo xtask wheel`: the Python package as it is published.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::test::python::{files, wheel_tools};
use crate::workspace::Workspace;
use crate::{Result, at, process};

const USAGE: &str = "\
usage: cargo xtask wheel [options]

  --out DIR     where the files go (dist)
  --sdist       the source distribution beside the wheel
  -- ARGUMENTS  more for maturin: -- --compatibility manylinux_2_28

The wheel is of the stable ABI: one for Python 3.11 and all later ones. The release workflow builds those of other machines.";

/// The largest a wheel may be.
const MOST_BYTES: u64 = 10_000_000;

pub fn main(arguments: &[String]) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let (mut out, mut sdist, mut more) = (workspace.root.join("dist"), false, Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--out" => {
                let folder = rest.next().ok_or_else(|| format!("--out needs a value\n{USAGE}"))?;
                out = std::path::absolute(folder).unwrap_or_else(|_| PathBuf::from(folder));
            }
            "--sdist" => sdist = true,
            "--" => more.extend(rest.by_ref().cloned()),
            "-h" | "--help" => {
                println!("{USAGE}");
                return Ok(ExitCode::SUCCESS);
            }
            other => return Err(format!("wheel has no option '{other}'\n{USAGE}")),
        }
    }
    let Some((venv, folder)) = wheel_tools(&workspace)? else {
        return Err("there is no crate of the Python package".to_owned());
    };
    // Wheels of earlier versions would be told of beside the new one.
    for old in files(&out, "whl").unwrap_or_default() {
        std::fs::remove_file(&old).map_err(at(&old))?;
    }
    let mut build = venv.python(&folder);
    build.args(["-m", "maturin", "build", "--interpreter", "python", "--out"]).arg(&out).args(more);
    process::run(&mut build)?;
    if sdist {
        process::run(venv.python(&folder).args(["-m", "maturin", "sdist", "--out"]).arg(&out))?;
    }
    for wheel in files(&out, "whl")? {
        let bytes = std::fs::metadata(&wheel).map_err(at(&wheel))?.len();
        println!("{}: {:.2} MB", wheel.display(), bytes as f64 / 1e6);
        if bytes > MOST_BYTES {
            return Err(format!("a wheel of {bytes} bytes: it is to stay below {MOST_BYTES}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}
