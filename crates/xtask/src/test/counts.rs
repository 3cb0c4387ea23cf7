//! How many tests ran, read from what cargo test and pytest print.

use std::fmt;
use std::process::Command;

use crate::{Result, process};

/// Tests counted so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed, pytest's errors among them.
    pub failed: u64,
    /// Tests that were ignored or skipped.
    pub ignored: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

impl Counts {
    /// Runs a test command, shows its output and counts its tests. A run that ends badly without having counted a
    /// failure (it crashed, or did not compile) counts as one.
    pub fn run(&mut self, command: &mut Command) -> Result<()> {
        let failed_before = self.failed;
        let status = process::run_reading(command, |line| self.read(line))?;
        if !status.success() && self.failed == failed_before {
            self.failed += 1;
        }
        process::check(command, status)
    }

    /// Adds what a line of output says, if it is a summary.
    fn read(&mut self, line: &str) {
        let line = without_colour(line);
        let parts = if let Some(result) = line.strip_prefix("test result: ") {
            // test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
            result.split_once(". ").map(|(_, counted)| counted.split("; ").collect::<Vec<_>>())
        } else {
            // ===== 1 failed, 12 passed, 2 skipped in 0.53s =====   or, with -q, the same without the rules
            let bare = line.trim_matches(['=', ' ']);
            bare.rsplit_once(" in ")
                .filter(|(_, time)| time.starts_with(|c: char| c.is_ascii_digit()))
                .map(|(counted, _)| counted.split(", ").collect())
        };
        let Some(pairs) = parts.map(|parts| parts.into_iter().map_while(count).collect::<Vec<_>>()) else {
            return;
        };
        for (number, what) in pairs {
            match what {
                "passed" | "xpassed" => self.passed += number,
                "failed" | "error" | "errors" => self.failed += number,
                "ignored" | "skipped" | "xfailed" => self.ignored += number,
                _ => {}
            }
        }
    }
}

/// "12 passed" as its number and word.
fn count(part: &str) -> Option<(u64, &str)> {
    let (number, what) = part.split_once(' ')?;
    Some((number.parse().ok()?, what))
}

/// The text without the escape sequences that colour it.
fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, escape)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        rest = escape.split_once('m').map_or("", |(_, after)| after);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    fn counted(lines: &[&str]) -> (u64, u64, u64) {
        let mut counts = Counts::default();
        lines.iter().for_each(|line| counts.read(line));
        (counts.passed, counts.failed, counts.ignored)
    }

    #[test]
    fn libtest_summaries_add_up() {
        let ok =
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.00s";
        let bad = "test result: FAILED. 12 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s";
        assert_eq!(counted(&["running 3 tests", "test a ... ok", ok, bad]), (15, 2, 1));
    }

    #[test]
    fn pytest_summaries_count_errors_as_failures() {
        assert_eq!(counted(&["===== 1 failed, 12 passed, 2 skipped, 3 errors in 0.53s ====="]), (12, 4, 2));
        assert_eq!(counted(&["120 passed in 61.20s (0:01:01)"]), (120, 0, 0));
        assert_eq!(counted(&["\x1b[32m\x1b[1m5 passed\x1b[0m\x1b[32m in 0.01s\x1b[0m"]), (5, 0, 0));
    }

    #[test]
    fn other_lines_count_nothing() {
        assert_eq!(
            counted(&["", "3 passed the gate in May", "no tests ran in 0.01s", "Finished in 3s", "\x1b["]),
            (0, 0, 0)
        );
    }

    #[test]
    fn a_run_that_crashes_counts_as_a_failure() {
        let mut counts = Counts::default();
        let mut no_such_test = process::command(env!("CARGO"), std::path::Path::new("."));
        assert!(counts.run(no_such_test.arg("--no-such-option").stderr(Stdio::null())).is_err());
        assert_eq!(counts.to_string(), "0 passed, 1 failed");
    }
}
