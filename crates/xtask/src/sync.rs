//! Everything that is generated, written in one go.

use std::process::ExitCode;

use crate::wheel::{install, tools};
use crate::workspace::Workspace;
use crate::{Result, process, ptx, references};

const USAGE: &str = "\
usage: cargo xtask sync

Writes what follows from something else: the library kernels and their table, what the emitter writes for single operations,
Python's stubs and functions (of the package, which is built for it), the index of decisions.";

pub fn main(arguments: &[String]) -> Result<ExitCode> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {}
        ["-h" | "--help"] => {
            println!("{USAGE}");
            return Ok(ExitCode::SUCCESS);
        }
        _ => return Err(format!("sync has no such options\n{USAGE}")),
    }
    let workspace = Workspace::find()?;
    references::write_index(&workspace)?;
    if ptx::available() {
        ptx::main(&[])?;
    } else {
        println!("library kernels are left as they are: their compiler is for Linux on x86-64 alone");
    }
    let Some((venv, folder)) = tools(&workspace)? else { return Ok(ExitCode::SUCCESS) };
    install(&workspace, &venv, &folder, "test-wheel", &["--release"])?;
    process::run(venv.python(&folder).arg("tools/stubs.py"))?;
    Ok(ExitCode::SUCCESS)
}
