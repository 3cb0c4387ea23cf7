//! The Python environment `.venv` in the root: what the tests need from the Python package index, and nothing of the system's.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::Workspace;
use crate::{Result, at, process};

/// What the system's Python is called.
pub const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// A virtual environment.
pub struct Venv {
    folder: PathBuf,
    root: PathBuf,
}

impl Venv {
    /// `.venv` in the root, made when it is not there.
    pub fn of(workspace: &Workspace) -> Result<Self> {
        let venv = Self { folder: workspace.root.join(".venv"), root: workspace.root.clone() };
        if !interpreter(&venv.folder).exists() {
            let mut make = process::command(PYTHON, &workspace.root);
            process::run(make.args(["-m", "venv"]).arg(&venv.folder)).map_err(|failure| {
                format!("{failure}\nPython 3.11 or later with its venv module is needed (Debian: apt install python3-venv)")
            })?;
        }
        Ok(venv)
    }

    /// Its interpreter, to be given arguments; starts in `folder`, as if the environment were activated.
    pub fn python(&self, folder: &Path) -> Command {
        let interpreter = interpreter(&self.folder);
        let mut path = interpreter.parent().map(Path::as_os_str).unwrap_or_default().to_owned();
        if let Some(rest) = std::env::var_os("PATH") {
            path.push(if cfg!(windows) { ";" } else { ":" });
            path.push(rest);
        }
        let mut command = process::command(interpreter, folder);
        command.env("PATH", path).env("VIRTUAL_ENV", &self.folder).env_remove("PYTHONHOME");
        command
    }

    /// The path of its interpreter.
    pub fn interpreter(&self) -> PathBuf {
        interpreter(&self.folder)
    }

    /// Installs `requirements` from the package index, unless this very list was the last that `purpose` installed.
    pub fn install(&self, purpose: &str, requirements: &[String]) -> Result<()> {
        self.install_with(purpose, requirements, |_| {})
    }

    /// Installs one package in a folder of its own below the environment's, for one of which several versions are needed: nothing imports it.
    /// Answers with the folder.
    pub fn install_apart(&self, purpose: &str, requirement: &str) -> Result<PathBuf> {
        let folder = self.folder.join(purpose);
        self.install_with(purpose, &[requirement.to_owned()], |pip| {
            pip.args(["--upgrade", "--no-deps", "--target"]).arg(&folder);
        })?;
        Ok(folder)
    }

    fn install_with(
        &self,
        purpose: &str,
        requirements: &[String],
        options: impl FnOnce(&mut Command),
    ) -> Result<()> {
        let stamp = self.folder.join(format!("installed-{purpose}.txt"));
        let list = requirements.join("\n");
        if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == list) {
            return Ok(());
        }
        let mut pip = self.python(&self.root);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        options(&mut pip);
        process::run(pip.args(requirements))?;
        std::fs::write(&stamp, list).map_err(at(&stamp))
    }
}

/// The interpreter of the environment in `folder`.
pub fn interpreter(folder: &Path) -> PathBuf {
    if cfg!(windows) { folder.join("Scripts").join("python.exe") } else { folder.join("bin").join("python") }
}
