//! `cargo xtask test`: every check and test there is, on a machine that has cargo and Python 3, with or without a GPU.

mod counts;
mod python;
mod rust;

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use counts::Counts;

use crate::Result;
use crate::workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask test [--only STEP]... [--list]

Runs the steps in order and stops at the first that fails. The last line counts the tests that cargo test and pytest ran.
  --only STEP   this step alone (may be given again, or several separated by commas)
  --list        the steps";

/// How a step that did not fail ended.
enum Outcome {
    Done,
    /// Does not apply here; says why.
    Skipped(String),
}

struct Step {
    name: &'static str,
    what: &'static str,
    run: fn(&Workspace, &mut Counts) -> Result<Outcome>,
}

const STEPS: &[Step] = &[
    Step { name: "fmt", what: "the code is formatted", run: rust::fmt },
    Step { name: "clippy", what: "no warning from the compiler or clippy", run: rust::clippy },
    Step { name: "test", what: "unit, integration and property tests, in release", run: rust::test },
    Step { name: "doctest", what: "the examples in the documentation", run: rust::doctest },
    Step { name: "examples", what: "every example builds; the quick ones run", run: rust::examples },
    Step { name: "docs", what: "the documentation builds without a warning", run: rust::docs },
    Step { name: "publish", what: "the registry would take the crates", run: rust::publish },
    Step { name: "ptx", what: "prebuilt PTX is what its sources compile to", run: python::ptx },
    Step {
        name: "ptxas",
        what: "every prebuilt PTX file assembles for each GPU it is for, old assemblers' too, and stays in registers",
        run: python::ptxas,
    },
    Step {
        name: "peers",
        what: "the peers' benchmarks parse, list their cases, and compare rightly",
        run: python::peers,
    },
    Step { name: "wheel", what: "the Python wheel builds and installs", run: python::wheel },
    Step { name: "pytest", what: "the wheel's tests", run: python::pytest },
    Step { name: "pyright", what: "the wheel's types, by pyright", run: python::pyright },
    Step { name: "mypy", what: "the wheel's types, by mypy", run: python::mypy },
];

pub fn main(arguments: &[String]) -> Result<ExitCode> {
    let Some(only) = options(arguments)? else { return Ok(ExitCode::SUCCESS) };
    let workspace = Workspace::find()?;
    let mut counts = Counts::default();
    let mut summary: Vec<(&str, String, Duration)> = Vec::new();
    let mut failure = None;
    for step in STEPS.iter().filter(|step| only.is_empty() || only.contains(step.name)) {
        say(&format!("\n── {}: {}", step.name, step.what));
        let start = Instant::now();
        let result = (step.run)(&workspace, &mut counts);
        let time = start.elapsed();
        let end = match result {
            Ok(Outcome::Done) => "ok".to_owned(),
            Ok(Outcome::Skipped(why)) => format!("skipped: {why}"),
            Err(why) => {
                say(&format!("\nFAILED: {}: {why}", step.name));
                failure = Some(step.name);
                "FAILED".to_owned()
            }
        };
        say(&format!("── {}: {end} ({})", step.name, seconds(time)));
        summary.push((step.name, end, time));
        if failure.is_some() {
            break;
        }
    }
    say("\n── summary");
    for (name, end, time) in &summary {
        say(&format!("{name:<10} {:>8}  {end}", seconds(*time)));
    }
    if counts.ignored > 0 {
        say(&format!("{} tests ignored or skipped", counts.ignored));
    }
    if let Some(name) = failure {
        say(&format!("stopped at the first failure; again by itself: cargo xtask test --only {name}"));
    }
    say(&counts.to_string());
    Ok(if failure.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The steps asked for, none meaning all; `None` when the question was answered.
fn options(arguments: &[String]) -> Result<Option<BTreeSet<String>>> {
    let mut only = BTreeSet::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--list" => {
                for step in STEPS {
                    println!("{:<10} {}", step.name, step.what);
                }
                return Ok(None);
            }
            "--only" => {
                let names = rest.next().ok_or("--only needs the name of a step; --list shows them")?;
                only.extend(names.split(',').map(str::to_owned));
            }
            "-h" | "--help" => {
                println!("{USAGE}");
                return Ok(None);
            }
            other => return Err(format!("test has no option '{other}'\n{USAGE}")),
        }
    }
    if let Some(unknown) = only.iter().find(|name| STEPS.iter().all(|step| step.name != name.as_str())) {
        return Err(format!("no step '{unknown}'; `cargo xtask test --list` shows them"));
    }
    Ok(Some(only))
}

/// Everything is said on stdout, in order: the count has to be the last line.
fn say(line: &str) {
    println!("{line}");
    let _ = std::io::stdout().flush();
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
