//! Random graphs give the same bits however they are asked for: lazily in any order, on any number of threads, from a
//! plan that is new or found again, as when each node is computed by itself.

#[path = "../common/mod.rs"]
mod common;
mod generate;
mod reference;
mod run;
mod shrink;
mod spec;

use common::{Rng, alone};
use generate::{Case, case};
use std::time::{Duration, Instant};

/// Checks the graph of a seed with two histories; on failure, the smallest case found and its message.
fn check_seed(seed: u64) -> Result<(), String> {
    let first = case(seed);
    let again = generate::history(first.specs.clone(), Rng::new(seed ^ 0x5555).next());
    for case in [first, again] {
        if run::check(&case).is_err() {
            let (small, message) = shrink::shrink(case, run::check);
            return Err(format!("seed {seed}: {message}\n{}", listing(&small)));
        }
    }
    Ok(())
}

fn listing(case: &Case) -> String {
    let mut text = String::new();
    for (i, (spec, marks)) in case.specs.iter().zip(&case.marks).enumerate() {
        let marks = [(marks.hold, "held"), (marks.tracked, "tracked"), (marks.optional, "optional"), (marks.release, "released")];
        let marks: Vec<&str> = marks.iter().filter(|m| m.0).map(|m| m.1).collect();
        text += &format!("    {i}: {spec:?} {}\n", marks.join(" "));
        for (_, event) in case.events.iter().filter(|(at, _)| *at == i) {
            text += &format!("       then {event:?}\n");
        }
    }
    for (_, event) in case.events.iter().filter(|(at, _)| *at >= case.specs.len()) {
        text += &format!("       then {event:?}\n");
    }
    text
}

/// Checks seeds from `first` on, and reports up to `most` that fail.
fn check_seeds(first: u64, n: u64, budget: Duration, most: usize) {
    let _turn = alone();
    let started = Instant::now();
    std::panic::set_hook(Box::new(|_| {}));
    let mut failures = vec![];
    let mut done = 0;
    for seed in first..first + n {
        if std::env::var_os("MG_TRACE").is_some() {
            eprintln!("seed {seed}");
        }
        failures.extend(check_seed(seed).err());
        done += 1;
        if started.elapsed() > budget || failures.len() >= most {
            break;
        }
    }
    let _ = std::panic::take_hook();
    eprintln!("{done} graphs in {:.1} s", started.elapsed().as_secs_f64());
    assert!(failures.is_empty(), "{} of {done} graphs\n{}", failures.len(), failures.join("\n"));
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

#[test]
fn graphs_give_the_same_bits_as_their_nodes_one_by_one() {
    check_seeds(0, 10_000, Duration::from_secs(300), 3);
}

/// `MG_SEED` is where to start, `MG_SEEDS` how many, `MG_SECONDS` for how long at most, `MG_FAILURES` how many to report.
#[test]
#[ignore = "a million graphs take an hour"]
fn a_million_graphs() {
    let seconds = Duration::from_secs(setting("MG_SECONDS", 7200));
    check_seeds(setting("MG_SEED", 1 << 20), setting("MG_SEEDS", 1_000_000), seconds, setting("MG_FAILURES", 3) as usize);
}
