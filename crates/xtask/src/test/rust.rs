//! The steps that cargo does.

use super::Outcome;
use super::counts::Counts;
use crate::workspace::Workspace;
use crate::{Result, process};
use crate::{publish, references};

/// Examples that are run, with what makes them finish in seconds: they need no data.
const QUICK_EXAMPLES: &[(&str, &[&str])] = &[
    ("tour", &[]),
    ("mnist_cnn", &["1", "2000"]),
    ("lbfgs", &[]),
    ("pinn", &["100"]),
    ("vae", &["1", "2000"]),
    ("autoencoder", &["1", "2000"]),
    ("names", &["60"]),
    ("gpt", &["60", "-", "2", "32", "32"]),
    ("dcgan", &["1", "640", "8"]),
    ("resnet", &["1", "128", "8"]),
    ("translate", &["40"]),
    ("finetune", &["4", "600", "known.safetensors"]),
    ("export_onnx", &["30", "digits.onnx"]),
];

fn component(workspace: &Workspace, subcommand: &str, name: &str) -> Result<()> {
    let installed = process::output(workspace.cargo(subcommand).arg("--version"));
    installed
        .map(drop)
        .map_err(|_| format!("{name} is not installed; get it with: rustup component add {name}"))
}

pub fn fmt(workspace: &Workspace, _: &mut Counts) -> Result<Outcome> {
    component(workspace, "fmt", "rustfmt")?;
    process::run(&mut workspace.cargo("fmt --all --check"))
        .map_err(|failure| format!("{failure}; mend it with: cargo fmt"))?;
    Ok(Outcome::Done)
}

pub fn clippy(workspace: &Workspace, _: &mut Counts) -> Result<Outcome> {
    component(workspace, "clippy", "clippy")?;
    // As the tests are built: macros and build scripts are compiled once, and run once, for all steps.
    process::run(&mut workspace.cargo("clippy --release --workspace --all-targets -- -D warnings"))?;
    Ok(Outcome::Done)
}

pub fn test(workspace: &Workspace, counts: &mut Counts) -> Result<Outcome> {
    // All packages in each step: of one alone its dependencies have fewer features, and would be built again. The Python module is among
    // them for its features; its tests are Python's.
    counts.run(&mut workspace.cargo("test --release --tests --no-fail-fast --workspace"))?;
    Ok(Outcome::Done)
}

pub fn doctest(workspace: &Workspace, counts: &mut Counts) -> Result<Outcome> {
    counts.run(&mut workspace.cargo("test --release --doc --no-fail-fast --workspace"))?;
    Ok(Outcome::Done)
}

pub fn examples(workspace: &Workspace, _: &mut Counts) -> Result<Outcome> {
    process::run(&mut workspace.cargo("build --release --examples --workspace"))?;
    // As they were built: `cargo run` chooses this package alone, whose dependencies have fewer features then, and would build them all again.
    let built = workspace.target().join("release/examples");
    for (example, arguments) in
        QUICK_EXAMPLES.iter().filter(|(name, _)| workspace.has_target("example", name))
    {
        let program = built.join(format!("{example}{}", std::env::consts::EXE_SUFFIX));
        // Some write files.
        let mut run = process::command(program, &workspace.target());
        process::run(run.args(*arguments).env_remove("MNIST_DIR"))?;
    }
    Ok(Outcome::Done)
}

pub fn docs(workspace: &Workspace, _: &mut Counts) -> Result<Outcome> {
    references::check(workspace)?;
    process::run(workspace.cargo("doc --release --workspace --no-deps").env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::Done)
}

pub fn publish(workspace: &Workspace, _: &mut Counts) -> Result<Outcome> {
    println!("{} crates could be published", publish::check(workspace)?);
    Ok(Outcome::Done)
}
