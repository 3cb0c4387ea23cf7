//! Running other programs.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use crate::Result;

/// A command that reads nothing from the terminal and starts in `folder`.
pub fn command(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// The command as a person would type it, for messages.
pub fn shown(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(name).chain(command.get_args()).map(|word| {
        let word = word.to_string_lossy();
        if word.contains(' ') { format!("'{word}'") } else { word.into_owned() }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn started<T>(command: &Command, result: std::io::Result<T>) -> Result<T> {
    result.map_err(|error| format!("could not start `{}`: {error}", shown(command)))
}

/// Turns an unsuccessful end into a message.
pub fn check(command: &Command, status: ExitStatus) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    let end = status.code().map_or_else(|| status.to_string(), |code| format!("exit status {code}"));
    Err(format!("`{}` ended with {end}", shown(command)))
}

/// Runs a command whose output the user sees.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status();
    let status = started(command, status)?;
    check(command, status)
}

/// Runs a command quietly and gives what it wrote to stdout; a failure shows what it wrote to stderr.
pub fn output(command: &mut Command) -> Result<String> {
    let result = command.output();
    let output = started(command, result)?;
    check(command, output.status)
        .map_err(|end| format!("{end}\n{}", String::from_utf8_lossy(&output.stderr).trim_end()))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command and gives what it wrote to stdout; the user sees what it writes to stderr.
pub fn output_with_errors_shown(command: &mut Command) -> Result<String> {
    output(command.stderr(Stdio::inherit()))
}

/// Runs a command whose output the user sees, and shows each line of its stdout to `each` too.
pub fn run_reading(command: &mut Command, mut each: impl FnMut(&str)) -> Result<ExitStatus> {
    let child = command.stdout(Stdio::piped()).spawn();
    let mut child = started(command, child)?;
    if let Some(stdout) = child.stdout.take() {
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let mut terminal = std::io::stdout().lock();
            // A closed terminal is no reason to stop counting.
            let _ = terminal.write_all(&line).and_then(|()| terminal.flush());
            each(String::from_utf8_lossy(&line).trim_end());
            line.clear();
        }
    }
    child.wait().map_err(|error| format!("lost `{}`: {error}", shown(command)))
}
