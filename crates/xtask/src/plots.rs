//! `cargo xtask plots`: pictures of what was measured on a GPU.

use std::process::ExitCode;

use crate::venv::PYTHON;
use crate::workspace::Workspace;
use crate::{Result, process, wheel};

const USAGE: &str = "\
usage: cargo xtask plots

Draws docs/measured/gpu-*.svg, speed against size, from docs/measured/gpu-*.json; needs python3 alone.";

/// Draws the curves of every GPU that compare.py measured, beside the measurements.
pub fn main(arguments: &[String]) -> Result<ExitCode> {
    match arguments.first().map(String::as_str) {
        None => {}
        Some("--help" | "-h") => {
            println!("{USAGE}");
            return Ok(ExitCode::SUCCESS);
        }
        Some(other) => return Err(format!("no option '{other}'\n{USAGE}")),
    }
    let workspace = Workspace::find()?;
    let folder = workspace.root.join("docs/measured");
    let files = wheel::files(&folder, "json")?;
    let of_gpus = files
        .iter()
        .filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("gpu-")));
    for file in of_gpus {
        let mut draw = process::command(PYTHON, &workspace.root);
        process::run(draw.args(["-B", "benches/peers/plots.py"]).args([file, &folder]))?;
    }
    Ok(ExitCode::SUCCESS)
}
