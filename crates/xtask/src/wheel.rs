//! `cargo xtask wheel`: the Python package as it is published.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::ptx::code;
use crate::venv::Venv;
use crate::workspace::Workspace;
use crate::{Result, at, process};

const USAGE: &str = "\
usage: cargo xtask wheel [options]

  --out DIR             where the files go (dist)
  --interpreter PYTHON  the Python it is for (that of .venv)
  --native              for this machine's C library and later ones, linked by this machine's linker
  --sdist               the source distribution beside the wheel
  -- ARGUMENTS          more for maturin: -- --target-dir elsewhere

The wheel is of the stable ABI: one for Python 3.11 and all later ones. A Python without the interpreter's lock (3.14t) has a wheel of its own,
which --interpreter asks for. On Linux the wheel is for glibc 2.28 and later, whatever this machine's is: zig links it, and auditwheel looks whether
that is so. It has machine code of the kernels that kernels/code.txt lists. The release workflow builds those of other machines. maturin, which builds it, zig and auditwheel are fetched from the Python package index
into .venv the first time.";

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
/// What links it for a glibc that is older than this machine's, and what looks at what it asks of one.
const ZIG: &str = "ziglang>=0.14,<1";
const AUDITWHEEL: &str = "auditwheel>=6.8,<7";
/// Whether there is such a C library here, and zig for the machine.
const HAS_ZIG: bool =
    cfg!(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")));
/// The oldest glibc that the wheel is for, as platforms of wheels are named.
const PLATFORM: &str = "manylinux_2_28";
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
    let (mut interpreter, mut portable) = ("python".to_owned(), HAS_ZIG);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"));
        match argument.as_str() {
            "--out" => {
                let folder = value()?;
                out = std::path::absolute(folder).unwrap_or_else(|_| PathBuf::from(folder));
            }
            "--interpreter" => interpreter = value()?.clone(),
            "--native" => portable = false,
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
    build.args(["-m", "maturin", "build", "--interpreter", &interpreter, "--out"]);
    build.arg(&out);
    if portable {
        venv.install("zig", &[ZIG.to_owned(), AUDITWHEEL.to_owned()])?;
        build.args(["--zig", "--compatibility", PLATFORM]);
    }
    if code::AVAILABLE {
        build.env("MG_CUBINS", code::folder(&workspace)?);
    }
    if has_no_lock(&venv, &folder, &interpreter)? {
        build.arg("--no-default-features");
    }
    process::run(build.args(more))?;
    // The format knows one compression only, and that can be done with more patience.
    venv.install("zopfli", &[ZOPFLI.to_owned()])?;
    for wheel in files(&out, "whl")? {
        process::run(venv.python(&folder).arg("tools/repack.py").arg(&wheel))?;
    }
    if sdist {
        process::run(venv.python(&folder).args(["-m", "maturin", "sdist", "--out"]).arg(&out))?;
    }
    for wheel in files(&out, "whl")? {
        if portable {
            let told = process::output(
                venv.python(&folder).args(["-m", "auditwheel", "show", "--json"]).arg(&wheel),
            )?;
            is_for_platform(&told).map_err(|failure| format!("{}: {failure}", wheel.display()))?;
        }
        let bytes = std::fs::metadata(&wheel).map_err(at(&wheel))?.len();
        println!("{}: {:.2} MB", wheel.display(), bytes as f64 / 1e6);
        if bytes > MOST_BYTES {
            return Err(format!("a wheel of {bytes} bytes: it is to stay below {MOST_BYTES}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a Python has no interpreter's lock, and no part in the stable ABI.
fn has_no_lock(venv: &Venv, folder: &Path, interpreter: &str) -> Result<bool> {
    // Named as for maturin, which is run in the environment.
    let mut ask = match interpreter {
        "python" => venv.python(folder),
        other => process::command(other, folder),
    };
    let code = "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)";
    Ok(process::output(ask.args(["-c", code]))?.trim() == "1")
}

/// Refuses a wheel that asks for a later glibc than [`PLATFORM`] has, by what auditwheel tells of it as JSON.
fn is_for_platform(told: &str) -> Result<()> {
    let told: serde_json::Value =
        serde_json::from_str(told).map_err(|error| format!("what auditwheel tells: {error}"))?;
    let tag = told["overall_tag"].as_str().ok_or("auditwheel tells no platform")?;
    match (glibc(tag), glibc(PLATFORM)) {
        (Some(asked), Some(most)) if asked <= most => Ok(()),
        _ => Err(format!("it is for {tag}, not for {PLATFORM}: {}", told["versioned_symbols"])),
    }
}

/// The version in "manylinux_2_28_x86_64".
fn glibc(tag: &str) -> Option<(u32, u32)> {
    let mut numbers = tag.strip_prefix("manylinux_")?.split('_').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_for_a_later_glibc_is_refused() {
        let told = |tag| format!("{{\"overall_tag\": \"{tag}\", \"versioned_symbols\": {{}}}}");
        assert!(is_for_platform(&told("manylinux_2_28_x86_64")).is_ok());
        assert!(is_for_platform(&told("manylinux_2_17_aarch64")).is_ok());
        assert!(
            is_for_platform(&told("manylinux_2_34_x86_64")).unwrap_err().contains("manylinux_2_34_x86_64")
        );
        assert!(is_for_platform(&told("linux_x86_64")).is_err());
        assert!(is_for_platform("{}").is_err());
    }
}
