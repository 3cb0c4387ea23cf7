//! `cargo xtask wheel`: the Python package as it is published.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::venv::Venv;
use crate::workspace::Workspace;
use crate::{Result, at, process};

const USAGE: &str = "\
usage: cargo xtask wheel [options]

  --out DIR     where the files go (dist)
  --sdist       the source distribution beside the wheel
  -- ARGUMENTS  more for maturin: -- --compatibility manylinux_2_28

The wheel is of the stable ABI: one for Python 3.11 and all later ones. The release workflow builds those of other machines.
maturin, which builds it, is fetched from the Python package index into .venv the first time.";

/// The interpreter of an environment that the package, built as it is published, was just installed in.
pub fn installed(workspace: &Workspace) -> Result<PathBuf> {
    let Some((venv, folder)) = tools(workspace)? else {
        return Err("there is no crate of the Python package".to_owned());
    };
    install(workspace, &venv, &folder, "bench-wheel", &[])?;
    Ok(venv.interpreter())
}

/// Builds the wheel for this machine, in a folder of the target directory, and installs it; `arguments` are more for
/// maturin.
pub fn install(
    workspace: &Workspace,
    venv: &Venv,
    folder: &Path,
    out: &str,
    arguments: &[&str],
) -> Result<()> {
    let out = workspace.target().join(out);
    // A wheel of an earlier version would be installed beside the new one.
    if out.exists() {
        std::fs::remove_dir_all(&out).map_err(at(&out))?;
    }
    let mut build = venv.python(folder);
    // "linux" asks for no old glibc.
    build.args(["-m", "maturin", "build", "--compatibility", "linux", "--interpreter", "python"]);
    process::run(build.args(arguments).arg("--out").arg(&out))?;
    let mut pip = venv.python(&workspace.root);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--force-reinstall",
        "--no-deps",
    ]);
    process::run(pip.args(files(&out, "whl")?))
}

/// What builds the wheel.
const MATURIN: &str = "maturin>=1.16,<2";
/// What packs it as small as its format allows.
const ZOPFLI: &str = "zopfli>=0.2.3,<1";
/// What builds the wheel and tests it; `crates/mg-py/requirements-test.txt` adds to it, where there is one.
const TOOLS: &[&str] = &[MATURIN, "numpy", "pytest", "mypy", "pyright[nodejs]"];
/// Where the package is.
pub const CRATE: &str = "crates/mg-py";

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
    let Some(folder) = workspace.existing(CRATE) else {
        return Err("there is no crate of the Python package".to_owned());
    };
    let venv = Venv::of(&workspace)?;
    venv.install("maturin", &[MATURIN.to_owned()])?;
    // Wheels of earlier versions would be told of beside the new one.
    for old in files(&out, "whl").unwrap_or_default() {
        std::fs::remove_file(&old).map_err(at(&old))?;
    }
    let mut build = venv.python(&folder);
    build.args(["-m", "maturin", "build", "--interpreter", "python", "--out"]);
    build.arg(&out).args(more);
    process::run(&mut build)?;
    // The format knows one compression only, and that can be done with more patience.
    venv.install("zopfli", &[ZOPFLI.to_owned()])?;
    for wheel in files(&out, "whl")? {
        process::run(venv.python(&folder).arg("tools/repack.py").arg(&wheel))?;
    }
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

/// The environment with the wheel's tools, and the crate's folder; `None` where there is no such crate.
pub fn tools(workspace: &Workspace) -> Result<Option<(Venv, PathBuf)>> {
    let Some(folder) = workspace.existing(CRATE) else { return Ok(None) };
    let venv = Venv::of(workspace)?;
    let mut requirements: Vec<String> = TOOLS.iter().map(|&tool| tool.to_owned()).collect();
    if let Ok(more) = std::fs::read_to_string(folder.join("requirements-test.txt")) {
        requirements.extend(more.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()));
    }
    venv.install("wheel", &requirements)?;
    Ok(Some((venv, folder)))
}

/// The files in a folder with this extension, in order; none is an error.
pub fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(at(folder))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    if files.is_empty() { Err(format!("no .{extension} file in {}", folder.display())) } else { Ok(files) }
}
