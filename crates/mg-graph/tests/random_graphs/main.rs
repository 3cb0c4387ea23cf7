//! Random graphs give the same bits however they are asked for: lazily in any order, on any number of threads, from a
//! plan that is new or found again, as when each node is computed by itself.
#![allow(clippy::collapsible_if)]

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

/// The graph of a seed with the first or the second of its histories.
fn case_of(seed: u64, order: usize) -> Case {
    let first = case(seed);
    if order == 0 { first } else { generate::history(first.specs, Rng::new(seed ^ 0x5555).next()) }
}

/// Checks the graph of a seed with two histories; on failure, the smallest case found and its message.
fn check_seed(seed: u64) -> Result<(), String> {
    // With `MG_ISOLATE`, each case runs in a process of its own, so that one that crashes can be made smaller too.
    let isolate = std::env::var_os("MG_ISOLATE").is_some();
    for order in 0..2 {
        let check = |case: &Case, steps: &[usize]| {
            if isolate { in_child(seed, order, steps) } else { run::check(case) }
        };
        let case = case_of(seed, order);
        if check(&case, &[]).is_err() {
            let (small, message) = shrink::shrink(case, check);
            return Err(format!("seed {seed}: {message}\n{}", listing(&small)));
        }
    }
    Ok(())
}

fn in_child(seed: u64, order: usize, steps: &[usize]) -> Result<(), String> {
    let steps: Vec<String> = steps.iter().map(|s| s.to_string()).collect();
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = std::process::Command::new(program)
        .args(["--ignored", "--exact", "--nocapture", "one_case"])
        .env("MG_CASE", format!("{seed} {order} {}", steps.join(" ")))
        .output()
        .map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.split_once("RESULT ") {
        _ if output.status.success() => Ok(()),
        Some((_, message)) => Err(message.lines().next().unwrap_or_default().into()),
        None => Err(format!("{}", output.status)),
    }
}

fn listing(case: &Case) -> String {
    let mut text = String::new();
    for (i, (spec, marks)) in case.specs.iter().zip(&case.marks).enumerate() {
        let marks = [
            (marks.hold, "held"),
            (marks.tracked, "tracked"),
            (marks.optional, "optional"),
            (marks.release, "released"),
        ];
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
    // The graphs are small; what large ones are made of is to be tested all the same.
    mg_kernels::cpu::compile::set_fuse_from(0);
    let started = Instant::now();
    std::panic::set_hook(Box::new(run::note_panic));
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
    check_seeds(
        setting("MG_SEED", 1 << 20),
        setting("MG_SEEDS", 1_000_000),
        seconds,
        setting("MG_FAILURES", 3) as usize,
    );
}

/// One case of [`check_seed`] in a process of its own; `MG_CASE` says which.
#[test]
#[ignore = "run by a_million_graphs with MG_ISOLATE"]
fn one_case() {
    let Ok(text) = std::env::var("MG_CASE") else { return };
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|w| w.parse().ok()).collect();
    let steps: Vec<usize> = numbers[2..].iter().map(|&n| n as usize).collect();
    let case = shrink::follow(case_of(numbers[0], numbers[1] as usize), &steps);
    std::panic::set_hook(Box::new(run::note_panic));
    let result = run::check(&case);
    let _ = std::panic::take_hook();
    if let Err(message) = result {
        println!("RESULT {}", message.replace('\n', " "));
        std::process::exit(1);
    }
}
