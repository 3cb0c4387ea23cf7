//! Everything that is generated, written in one go.

use std::process::ExitCode;

use crate::wheel::{install, tools};
use crate::workspace::Workspace;
use crate::{Result, process, ptx, references};

const USAGE: &str = "\
usage: cargo xtask sync [PARTS]

Writes what follows from something else; without PARTS all of it:
  index      the index of decisions
  programs   what the emitter writes for single operations: with cargo alone
  ptx        the library kernels, by their compiler, and the programs
  stubs      Python's stubs and functions, of the package, which is built for it
  coverage   the list of PyTorch's names that there are, of the package as well";

const PARTS: [&str; 5] = ["index", "programs", "ptx", "stubs", "coverage"];

pub fn main(arguments: &[String]) -> Result<ExitCode> {
    if let ["-h" | "--help"] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        println!("{USAGE}");
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(other) = arguments.iter().find(|part| !PARTS.contains(&part.as_str())) {
        return Err(format!("sync has no part '{other}'\n{USAGE}"));
    }
    let asked = |part: &str| arguments.is_empty() || arguments.iter().any(|a| a == part);
    let workspace = Workspace::find()?;
    if asked("index") {
        references::write_index(&workspace)?;
    }
    let compiles = asked("ptx") && ptx::available();
    if compiles {
        ptx::main(&[])?;
    } else if asked("ptx") {
        println!("library kernels are left as they are: their compiler is for Linux on x86-64 alone");
    }
    if asked("programs") && !compiles {
        ptx::write_programs(&workspace)?;
    }
    if (asked("stubs") || asked("coverage"))
        && let Some((venv, folder)) = tools(&workspace)?
    {
        install(&workspace, &venv, &folder, "test-wheel", &["--release"])?;
        for (part, script) in [("stubs", "tools/stubs.py"), ("coverage", "tools/coverage.py")] {
            if asked(part) {
                process::run(venv.python(&folder).arg(script))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
