//! `cargo xtask publish`: the crates as the registry takes them.

use std::process::ExitCode;

use serde_json::Value;

use crate::workspace::Workspace;
use crate::{Result, at, process};

const USAGE: &str = "\
usage: cargo xtask publish --check [options]
       cargo xtask publish --tag TAG [options]

Looks whether the registry would take the crates: what they say of themselves, what is packed, whether that builds, whether CHANGELOG.md knows the
version, and whether the public interfaces changed as the version did. Then publishes them, each after those it depends on.

  --check         publishes nothing
  --tag TAG       the release's tag, which has to be the version: v0.1.0
  --baseline REV  what the interfaces are compared with (the last tag v… before this one; without one they are not)

cargo-semver-checks, which compares them, is compiled into target/tools the first time.";

/// What the registry takes at most of a crate, packed.
const MOST_BYTES: u64 = 10 << 20;
const SEMVER_CHECKS: &str = "cargo-semver-checks";
const CHANGES: &str = "CHANGELOG.md";

pub fn main(arguments: &[String]) -> Result<ExitCode> {
    let (mut checks, mut tag, mut baseline) = (false, None, None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"));
        match argument.as_str() {
            "--check" => checks = true,
            "--tag" => tag = Some(value()?.as_str()),
            "--baseline" => baseline = Some(value()?.clone()),
            "-h" | "--help" => {
                println!("{USAGE}");
                return Ok(ExitCode::SUCCESS);
            }
            other => return Err(format!("publish has no option '{other}'\n{USAGE}")),
        }
    }
    if !checks && tag.is_none() {
        return Err(format!("publish takes --check, or the --tag of a release\n{USAGE}"));
    }
    let workspace = Workspace::find()?;
    let version = described(&workspace)?;
    let changes = workspace.root.join(CHANGES);
    let changes = std::fs::read_to_string(&changes).map_err(at(&changes))?;
    is_told(&changes, &version, tag)?;
    // Packed, and built of what was packed.
    process::run(&mut of_published(&workspace, "publish --dry-run --allow-dirty"))?;
    are_small(&workspace, &version)?;
    match baseline.or_else(|| last_release(&workspace, tag)) {
        Some(baseline) => compare(&workspace, &baseline)?,
        None => println!("no release yet: there is nothing to compare the interfaces with"),
    }
    if !checks {
        process::run(&mut of_published(&workspace, "publish"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What takes seconds of it: nothing is built. Answers with the number of crates.
pub fn check(workspace: &Workspace) -> Result<usize> {
    let version = described(workspace)?;
    let changes = workspace.root.join(CHANGES);
    is_told(&std::fs::read_to_string(&changes).map_err(at(&changes))?, &version, None)?;
    process::run(&mut of_published(workspace, "package --quiet --no-verify --allow-dirty"))?;
    are_small(workspace, &version)
}

/// A cargo command for all crates that are published.
fn of_published(workspace: &Workspace, words: &str) -> std::process::Command {
    let mut command = workspace.cargo(words);
    for package in workspace.packages().filter(|package| is_published(package)) {
        command.arg("--package").arg(name(package));
    }
    command
}

fn is_published(package: &Value) -> bool {
    // An empty list of registries.
    package["publish"].as_array().is_none_or(|registries| !registries.is_empty())
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap_or_default()
}

/// Checks what the crates say of themselves, and answers with the version that all of them have.
fn described(workspace: &Workspace) -> Result<String> {
    let published: Vec<&Value> = workspace.packages().filter(|package| is_published(package)).collect();
    let mut wrong = Vec::new();
    for package in &published {
        let asked = ["description", "license", "repository", "rust_version"];
        for field in asked.into_iter().filter(|&field| package[field].as_str().is_none_or(str::is_empty)) {
            wrong.push(format!("{} has no {field}", name(package)));
        }
        let docs = &package["metadata"]["docs"]["rs"];
        if docs["all-features"] != true || docs["targets"].as_array().is_none_or(Vec::is_empty) {
            wrong.push(format!("{} does not say how docs.rs builds it", name(package)));
        }
        if package["version"] != published[0]["version"] {
            wrong.push(format!("{} has another version than {}", name(package), name(published[0])));
        }
    }
    let version = published.first().and_then(|package| package["version"].as_str());
    match version {
        Some(version) if wrong.is_empty() => Ok(version.to_owned()),
        None => Err("no crate is published".to_owned()),
        _ => Err(wrong.join("\n")),
    }
}

/// Whether the list of changes has the version: under its own heading, or, before it is released, under "Unreleased".
fn is_told(changes: &str, version: &str, tag: Option<&str>) -> Result<()> {
    let has = |heading: &str| {
        changes.lines().filter_map(|line| line.strip_prefix("## ")).any(|line| {
            line.trim().trim_start_matches('[').strip_prefix(heading).is_some_and(|rest| {
                // "0.1.0", "[0.1.0] - 2026-01-01"; not "0.1.01".
                rest.is_empty() || rest.starts_with([' ', ']'])
            })
        })
    };
    match tag {
        Some(tag) if tag != format!("v{version}") => {
            Err(format!("the tag {tag} is not that of version {version}"))
        }
        Some(_) if !has(version) => Err(format!("{CHANGES} has no heading for {version}")),
        None if !has(version) && !has("Unreleased") => {
            Err(format!("{CHANGES} has a heading neither for {version} nor for what is unreleased"))
        }
        _ => Ok(()),
    }
}

/// Whether the registry takes the packages for their size; how many there are.
fn are_small(workspace: &Workspace, version: &str) -> Result<usize> {
    let mut count = 0;
    for package in workspace.packages().filter(|package| is_published(package)) {
        let file = workspace.target().join("package").join(format!("{}-{version}.crate", name(package)));
        let bytes = std::fs::metadata(&file).map_err(at(&file))?.len();
        println!("{:<14} {:>6.2} MB", name(package), bytes as f64 / 1e6);
        if bytes > MOST_BYTES {
            return Err(format!("{} has {bytes} bytes: the registry takes {MOST_BYTES}", file.display()));
        }
        count += 1;
    }
    Ok(count)
}

/// The release before this one.
fn last_release(workspace: &Workspace, tag: Option<&str>) -> Option<String> {
    let mut describe = process::command("git", &workspace.root);
    describe.args(["describe", "--tags", "--abbrev=0", "--match", "v*"]);
    if let Some(tag) = tag {
        describe.args(["--exclude", tag]);
    }
    process::output(&mut describe).ok().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty())
}

/// Whether the version says what changed in the public interfaces since `baseline`.
fn compare(workspace: &Workspace, baseline: &str) -> Result<()> {
    let tools = workspace.target().join("tools");
    let program = tools.join("bin").join(format!("{SEMVER_CHECKS}{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        let mut install = workspace.cargo("install --locked --quiet --root");
        process::run(install.arg(&tools).arg(SEMVER_CHECKS))?;
    }
    let mut compare = process::command(program, &workspace.root);
    compare.args(["semver-checks", "--all-features", "--baseline-rev", baseline]);
    // Of the interface of macros there is no description to compare.
    for package in workspace.packages().filter(|package| is_published(package) && has_interface(package)) {
        compare.arg("--package").arg(name(package));
    }
    process::run(&mut compare)
}

fn has_interface(package: &Value) -> bool {
    let targets = package["targets"].as_array().into_iter().flatten();
    targets.filter_map(|target| target["kind"].as_array()).any(|kinds| kinds.iter().any(|kind| kind == "lib"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_has_its_heading_and_its_tag() {
        let changes = "# Changes\n\n## Unreleased\n\n## [0.2.0] - 2026-01-01\n\n## 0.1.0\n";
        assert!(is_told(changes, "0.2.0", Some("v0.2.0")).is_ok());
        assert!(is_told(changes, "0.1.0", Some("v0.1.0")).is_ok());
        assert!(is_told(changes, "0.2.0", Some("v0.1.0")).is_err());
        assert!(is_told(changes, "0.2", Some("v0.2")).is_err());
        assert!(is_told(changes, "0.3.0", Some("v0.3.0")).is_err());
        assert!(is_told(changes, "0.3.0", None).is_ok());
        assert!(is_told("# Changes\n\n## 0.1.0\n", "0.3.0", None).is_err());
    }

    #[test]
    fn crates_that_are_kept_are_not_published() {
        let package = |publish: &str| {
            serde_json::from_str::<Value>(&format!("{{\"name\": \"a\", \"publish\": {publish}}}")).unwrap()
        };
        assert!(is_published(&package("null")));
        assert!(is_published(&package("[\"registry\"]")));
        assert!(!is_published(&package("[]")));
    }
}
