//! What was measured, as a line, a JSON file and a table.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::machine::Machine;
use super::measure::{Measured, Peer, Side};
use crate::{Result, at};

/// How a run was made.
pub struct Run {
    pub command: String,
    /// Framework and version.
    pub versions: Vec<(String, String)>,
    pub left_out: Vec<String>,
    pub rounds: usize,
    /// The least that a round takes.
    pub seconds: f64,
    /// When the run began.
    pub load: Option<f64>,
    pub source: Value,
}

/// A case on the terminal.
pub fn line(measured: &Measured) -> String {
    let mut line = format!("{:<16}", measured.case.name);
    if let Some(ours) = &measured.ours {
        let _ = write!(line, " ours {:<10}{}", shown(ours), why(ours));
    }
    for peer in &measured.peers {
        let _ = write!(line, "  {} {}{}{}", peer.framework, shown(&peer.side), ratio(peer), why(&peer.side));
    }
    for difference in &measured.differing {
        let _ = write!(line, "\n    DIFFERENT RESULTS: {difference}");
    }
    line
}

/// Writes the JSON file, and the table beside it.
pub fn write(path: &Path, run: &Run, machine: &Machine, measured: &[Measured]) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(at(folder))?;
    }
    let document = json(run, machine, measured);
    let text = serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?;
    std::fs::write(path, text + "\n").map_err(at(path))?;
    let table_path = path.with_extension("md");
    std::fs::write(&table_path, table(run, machine, measured)).map_err(at(&table_path))
}

fn json(run: &Run, machine: &Machine, measured: &[Measured]) -> Value {
    let versions: Map<String, Value> =
        run.versions.iter().map(|(name, version)| (name.clone(), json!(version))).collect();
    let cases: Vec<Value> = measured
        .iter()
        .map(|m| {
            let peers = m.peers.iter().map(|peer| {
                let mut value = side_json(&peer.side);
                value["ours_beside"] = json!(peer.ours_beside);
                value["ratio"] = json!(peer.ratio());
                (peer.framework.clone(), value)
            });
            json!({
                "case": m.case.name,
                "work": m.case.work,
                "flops": m.case.flops,
                "bytes": m.case.bytes,
                "ours": m.ours.as_ref().map(side_json),
                "peers": peers.collect::<Map<String, Value>>(),
                "different_results": m.differing,
            })
        })
        .collect();
    json!({
        "date": today(),
        "command": run.command,
        "source": run.source,
        "machine": machine.json(),
        "load_before": run.load,
        "versions": versions,
        "left_out": run.left_out,
        "protocol": {"rounds": run.rounds, "seconds_per_round": run.seconds, "unit": "seconds per call"},
        "cases": cases,
    })
}

fn side_json(side: &Side) -> Value {
    match side {
        Side::Rounds { seconds, calls, check } => {
            json!({"median": side.median(), "rounds": seconds, "calls_per_round": calls, "check": check})
        }
        Side::Skipped(why) => json!({"skipped": why}),
        Side::Failed(what) => json!({"error": what}),
    }
}

fn table(run: &Run, machine: &Machine, measured: &[Measured]) -> String {
    let text = |name: &str| run.source[name].as_str().unwrap_or("unknown").to_owned();
    let modified = if run.source["modified"] == true { " with changes" } else { "" };
    let peers: Vec<&str> =
        measured.first().map_or_else(Vec::new, |m| m.peers.iter().map(|p| p.framework.as_str()).collect());
    let versions: Vec<String> =
        run.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let mut page = format!(
        "# Measured on {}\n\nWritten by `{}` on {}, commit {}{modified}; {}. How: [README.md](README.md).\n\n- Machine: {}\n- Versions: {}\n\
         - Median of {} rounds of at least {} s; beside a peer's time, how many times as long as ours it takes (above 1 we are faster).\n",
        machine.slug().replace('-', " "),
        run.command,
        today(),
        text("commit"),
        text("rustc"),
        machine.sentence(),
        versions.join(", "),
        run.rounds,
        run.seconds,
    );
    for reason in &run.left_out {
        let _ = writeln!(page, "- Left out: {reason}");
    }
    let _ = writeln!(page, "\n| case | ours | rate | {} | best peer ÷ ours | work |", peers.join(" | "));
    let _ = writeln!(page, "|{}", "---|".repeat(5 + peers.len()));
    for m in measured {
        let cells: Vec<String> = m.peers.iter().map(|peer| shown(&peer.side) + &ratio(peer)).collect();
        let ours = m.ours.as_ref().map_or_else(|| "–".to_owned(), shown);
        let best = m.best_peer().and_then(Peer::ratio).map_or_else(|| "–".to_owned(), |r| format!("{r:.2}"));
        let _ = writeln!(
            page,
            "| {} | {ours} | {} | {} | {best} | {} |",
            m.case.name,
            rate(m),
            cells.join(" | "),
            escaped(&m.case.work)
        );
    }
    for m in measured {
        let sides = m.ours.iter().map(|side| ("ours", side));
        for (name, side) in sides.chain(m.peers.iter().map(|peer| (peer.framework.as_str(), &peer.side))) {
            if let Side::Failed(what) = side {
                let _ = writeln!(page, "\n{}: **{name} failed**: {what}", m.case.name);
            }
        }
        for difference in &m.differing {
            let _ = writeln!(page, "\n{}: **different results**: {difference}", m.case.name);
        }
    }
    page
}

/// Markdown takes `*` for emphasis and `|` for a cell's end.
fn escaped(text: &str) -> String {
    text.replace('*', "\\*").replace('|', "\\|")
}

/// What our time makes of the case's arithmetic, or of its bytes.
fn rate(measured: &Measured) -> String {
    let Some(seconds) = measured.ours.as_ref().and_then(Side::median) else { return "–".to_owned() };
    if measured.case.flops > 0.0 {
        format!("{:.1} GFLOP/s", measured.case.flops / seconds / 1e9)
    } else if measured.case.bytes > 0.0 {
        format!("{:.1} GB/s", measured.case.bytes / seconds / 1e9)
    } else {
        String::new()
    }
}

fn shown(side: &Side) -> String {
    match side {
        Side::Rounds { .. } => side.median().map_or_else(|| "–".to_owned(), time),
        Side::Skipped(_) => "–".to_owned(),
        Side::Failed(_) => "failed".to_owned(),
    }
}

/// Why there is no time, in parentheses.
fn why(side: &Side) -> String {
    match side {
        Side::Rounds { .. } => String::new(),
        Side::Skipped(why) | Side::Failed(why) => format!(" ({why})"),
    }
}

fn ratio(peer: &Peer) -> String {
    peer.ratio().map_or_else(String::new, |ratio| format!(" (×{ratio:.2})"))
}

/// Three significant digits and a unit.
fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}

fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date(seconds / 86_400)
}

/// The date of a day since 1970-01-01, by Howard Hinnant's `civil_from_days`.
fn date(day: u64) -> String {
    let day = day + 719_468;
    let (era, day_of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day_of_month:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_777), "2026-11-20");
    }

    #[test]
    fn times_have_three_digits() {
        assert_eq!(time(3.21e-7), "321 ns");
        assert_eq!(time(1.284e-5), "12.8 µs");
        assert_eq!(time(0.0049999), "5.00 ms");
        assert_eq!(time(2.5), "2.50 s");
    }
}
