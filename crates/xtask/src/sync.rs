//! Everything that is generated, written in one go.

use std::process::ExitCode;

use crate::wheel::{install, tools};
use crate::workspace::Workspace;
use crate::{Result, process, ptx, references};

const USAGE: &str = "\
usage: cargo xtask sync [PARTS]

Writes what follows from something else; without PARTS all of it:
  index      the index of decisions
  ptx        the library kernels, and what the emitter writes for single operations
  stubs      Python's stubs and functions, of the package, which is built for it
  coverage   the list of PyTorch's names that there are, of the package as well";

const PARTS: [&str; 4] = ["index", "ptx", "stubs", "coverage"];

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
    if asked("ptx") && ptx::available() {
        ptx::main(&[])?;
    } else if asked("ptx") {
        println!("library kernels are left as they are: their compiler is for Linux on x86-64 alone");
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
