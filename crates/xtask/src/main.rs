//! Everything a contributor repeats, as a command: `cargo xtask` names them.
//!
//! Commands run in the foreground's process group, so Ctrl-C reaches them as it reaches this program.

mod bench;
mod gpu_bundle;
mod plots;
mod process;
mod ptx;
mod publish;
mod references;
mod sync;
mod test;
mod venv;
mod wheel;
mod workspace;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

commands:
  test     every check and test there is; `cargo xtask test --help` for its options
  bench    this project and its peers side by side, into docs/measured; `cargo xtask bench --help`
  wheel    the Python package as a wheel, into dist; `cargo xtask wheel --help` for its options
  publish  the crates: whether the registry would take them, and there; `cargo xtask publish --help`
  sync     everything that is generated, written anew: kernels, stubs, lists
  ptx      the CUDA kernels, from kernels/*.cu to kernels/ptx; `cargo xtask ptx --help`
  gpu-bundle  what is checked and measured on a GPU, for a machine without cargo; `cargo xtask gpu-bundle --help`
  plots    speed against size from docs/measured/gpu-*.json, as pictures beside them; needs python3";

/// What stopped a command, in a line or two for the person who ran it.
type Failure = String;
type Result<T> = std::result::Result<T, Failure>;

/// Names the file or folder that an error is about.
fn at(path: &Path) -> impl Fn(std::io::Error) -> Failure + '_ {
    move |error| format!("{}: {error}", path.display())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let arguments: Vec<String> = arguments.collect();
    let result = match command.as_str() {
        "test" => test::main(&arguments),
        "bench" => bench::main(&arguments),
        "wheel" => wheel::main(&arguments),
        "publish" => publish::main(&arguments),
        "sync" => sync::main(&arguments),
        "ptx" => ptx::main(&arguments),
        "gpu-bundle" => gpu_bundle::main(&arguments),
        "plots" => plots::main(&arguments),
        "" | "help" | "-h" | "--help" => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        other => Err(format!("no command '{other}'\n{USAGE}")),
    };
    match result {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}
