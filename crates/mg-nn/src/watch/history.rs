//! Numbers by step.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

/// What was noted of each step: numbers by name.
///
/// ```
/// use mg_nn::watch::History;
///
/// let mut history = History::default();
/// history.log(1, "loss", 0.5);
/// history.log(2, "loss", 0.25);
/// history.log(2, "accuracy", 0.75);
/// assert_eq!(history.to_csv(), "step,loss,accuracy\n1,0.5,\n2,0.25,0.75\n");
/// assert_eq!(history.series("loss"), [(1.0, 0.5), (2.0, 0.25)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct History {
    names: Vec<String>,
    rows: BTreeMap<i64, Vec<Option<f64>>>,
}

/// A name or text as a field of CSV (RFC 4180).
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    }
}

impl History {
    /// Notes a number of a step. One of the same name takes its place.
    pub fn log(&mut self, step: i64, name: &str, value: f64) {
        let at = self.names.iter().position(|n| n == name).unwrap_or_else(|| {
            self.names.push(name.to_string());
            self.names.len() - 1
        });
        let row = self.rows.entry(step).or_default();
        if row.len() <= at {
            row.resize(at + 1, None);
        }
        row[at] = Some(value);
    }

    /// The names, in the order in which they were first noted.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The steps at which something of this name was noted, and what.
    #[must_use]
    pub fn series(&self, name: &str) -> Vec<(f64, f64)> {
        let Some(at) = self.names.iter().position(|n| n == name) else { return vec![] };
        let noted =
            |(step, row): (&i64, &Vec<Option<f64>>)| Some((*step as f64, row.get(at).copied().flatten()?));
        self.rows.iter().filter_map(noted).collect()
    }

    /// As comma-separated values: a line of names, and a line for each step. What was not noted is left open.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut out = "step".to_string();
        self.names.iter().for_each(|name| {
            out.push(',');
            out.push_str(&field(name));
        });
        out.push('\n');
        for (step, row) in &self.rows {
            // Writing to a string cannot fail.
            let _ = write!(out, "{step}");
            for at in 0..self.names.len() {
                let _ = match row.get(at).copied().flatten() {
                    Some(value) => write!(out, ",{value}"),
                    None => write!(out, ","),
                };
            }
            out.push('\n');
        }
        out
    }

    /// Writes the comma-separated values: another file beside it takes its place in one step.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn save_csv(&self, path: &Path) -> io::Result<()> {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        fs::write(&name, self.to_csv())?;
        fs::rename(&name, path).inspect_err(|_| {
            let _ = fs::remove_file(&name);
        })
    }
}
