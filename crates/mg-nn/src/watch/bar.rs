//! A bar of progress, as text.

use std::time::{Duration, Instant};

/// How far a loop is, how fast it goes, and numbers beside it. It is text; who shows it says where, and how often.
///
/// ```
/// use mg_nn::watch::Bar;
///
/// let mut bar = Bar::new("epoch 1", Some(8), "batch");
/// bar.advance(2);
/// bar.set("loss", "0.5");
/// assert!(bar.text(80).starts_with("epoch 1:  25%|"));
/// assert!(bar.text(80).ends_with("loss=0.5]"));
/// ```
#[derive(Debug)]
pub struct Bar {
    name: String,
    total: Option<u64>,
    unit: String,
    done: u64,
    started: Instant,
    values: Vec<(String, String)>,
}

/// `1:02:03`, `02:03`.
fn clock(time: Duration) -> String {
    let s = time.as_secs();
    match s / 3600 {
        0 => format!("{:02}:{:02}", s / 60, s % 60),
        hours => format!("{hours}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

/// A rate in three digits.
fn rate(x: f64) -> String {
    match x {
        x if !x.is_finite() => "?".into(),
        x if x >= 1e6 => format!("{:.2}M", x / 1e6),
        x if x >= 1e4 => format!("{:.1}k", x / 1e3),
        x if x >= 100.0 => format!("{x:.0}"),
        x if x >= 10.0 => format!("{x:.1}"),
        x => format!("{x:.2}"),
    }
}

impl Bar {
    /// Of a loop that has so many steps, if that is known.
    #[must_use]
    pub fn new(name: &str, total: Option<u64>, unit: &str) -> Bar {
        let (name, unit) = (name.to_string(), unit.to_string());
        Bar { name, total, unit, done: 0, started: Instant::now(), values: vec![] }
    }

    /// So many steps further.
    pub fn advance(&mut self, steps: u64) {
        self.done += steps;
    }

    /// How many steps were made.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Shows a value beside it.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.values.iter_mut().find(|(n, _)| n == name) {
            Some((_, held)) => *held = value.to_string(),
            None => self.values.push((name.to_string(), value.to_string())),
        }
    }

    /// One line of at most so many characters.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let spent = self.started.elapsed();
        let speed = self.done as f64 / spent.as_secs_f64();
        let values: String = self.values.iter().map(|(n, v)| format!(", {n}={v}")).collect();
        let name = if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) };
        let (before, after) = match self.total {
            Some(total) => {
                let part = if total == 0 { 1.0 } else { (self.done as f64 / total as f64).min(1.0) };
                let left = match self.done {
                    0 => "?".into(),
                    n => clock(Duration::from_secs_f64(total.saturating_sub(n) as f64 / speed.max(1e-9))),
                };
                let unit = &self.unit;
                let after = format!(
                    "| {}/{total} [{}<{left}, {}{unit}/s{values}]",
                    self.done,
                    clock(spent),
                    rate(speed)
                );
                (format!("{name}{:3.0}%|", 100.0 * part), (after, part))
            }
            None => {
                let text = format!(
                    "{name}{} {} [{}, {}{}/s{values}]",
                    self.done,
                    self.unit,
                    clock(spent),
                    rate(speed),
                    self.unit
                );
                return text.chars().take(width).collect();
            }
        };
        let (after, part) = after;
        let room = width.saturating_sub(before.chars().count() + after.chars().count()).min(30);
        // Eighths of a character.
        let eighths = (part * room as f64 * 8.0) as usize;
        let parts = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
        let mut bar: String = "█".repeat(eighths / 8);
        if let (true, Some(rest)) = (eighths / 8 < room, (eighths % 8).checked_sub(1)) {
            bar.push(parts[rest]);
        }
        let blank = room - bar.chars().count();
        format!("{before}{bar}{}{after}", " ".repeat(blank)).chars().take(width).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fits_its_width() {
        let mut bar = Bar::new("epoch", Some(3), "it");
        for _ in 0..4 {
            for width in [0, 5, 40, 60, 200] {
                assert!(bar.text(width).chars().count() <= width);
            }
            bar.advance(1);
        }
        assert!(bar.text(100).contains("100%") && bar.text(100).contains("4/3"));
        let mut open = Bar::new("", None, "it");
        open.advance(2);
        assert!(open.text(80).starts_with("2 it ["));
    }
}
