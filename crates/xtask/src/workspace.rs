//! Where things are in the checkout.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{Result, process};

/// The checkout that `cargo xtask` was called in.
pub struct Workspace {
    /// Its root folder.
    pub root: PathBuf,
    metadata: Value,
}

impl Workspace {
    /// Asks cargo where the workspace is and what it has.
    pub fn find() -> Result<Self> {
        // `cargo run` says where the package stands now; what was compiled in may have been moved since.
        let here = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let mut command = process::command(cargo_program(), &here);
        let text = process::output(command.args(["metadata", "--no-deps", "--format-version", "1"]))?;
        let metadata: Value =
            serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
        let root = metadata["workspace_root"].as_str().ok_or("cargo metadata names no workspace root")?;
        Ok(Self { root: PathBuf::from(root), metadata })
    }

    /// Where cargo builds.
    pub fn target(&self) -> PathBuf {
        self.metadata["target_directory"].as_str().map_or_else(|| self.root.join("target"), PathBuf::from)
    }

    /// What cargo knows of each package.
    pub fn packages(&self) -> impl Iterator<Item = &Value> {
        self.metadata["packages"].as_array().into_iter().flatten()
    }

    /// Whether some package has a target of this kind ("example", "bench") and name.
    pub fn has_target(&self, kind: &str, name: &str) -> bool {
        self.packages().flat_map(|package| package["targets"].as_array().into_iter().flatten()).any(
            |target| {
                target["name"] == name
                    && target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|k| k == kind))
            },
        )
    }

    /// A cargo command in the root; `words` are its arguments, separated by spaces.
    pub fn cargo(&self, words: &str) -> Command {
        let mut command = process::command(cargo_program(), &self.root);
        command.args(words.split_whitespace());
        command
    }

    /// A path below the root, if there is something there.
    pub fn existing(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        Some(self.root.join(path)).filter(|path| path.exists())
    }
}

pub fn cargo_program() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
