//! A worker: a program that answers one JSON line for each round it is asked for (`benches/peers/README.md`).

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;

use super::machine::Machine;
use crate::{Result, process};

/// The longest answer worth waiting for: a compiler that starts cold takes minutes on some cases.
const PATIENCE: Duration = Duration::from_secs(300);

/// How to start a worker, again if it dies.
pub struct Start {
    words: Vec<OsString>,
    folder: PathBuf,
    library_path: Option<PathBuf>,
}

impl Start {
    /// A program with its first arguments, the options every worker takes, and the processors it may use.
    pub fn new(program: Vec<OsString>, options: &[String], folder: &Path, machine: &Machine) -> Self {
        let mut words = machine.pinned();
        words.extend(program);
        words.extend(options.iter().map(OsString::from));
        Self { words, folder: folder.to_owned(), library_path: None }
    }

    /// A folder to look for shared libraries in.
    pub fn library_path(&mut self, folder: PathBuf) {
        self.library_path = std::path::absolute(folder).ok();
    }

    fn command(&self) -> Command {
        let mut command = process::command(&self.words[0], &self.folder);
        // What cargo adds to the library path is its own, and may hide what a framework brings along.
        command.env_remove("LD_LIBRARY_PATH");
        if let Some(folder) = &self.library_path {
            command.env("LD_LIBRARY_PATH", folder);
        }
        command.args(&self.words[1..]);
        command
    }
}

/// A worker that said hello.
pub struct Worker {
    start: Start,
    running: Option<Running>,
    /// What it calls itself.
    pub framework: String,
    /// Of the framework.
    pub version: String,
}

struct Running {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
}

/// An answer that is not a measurement.
pub enum Refusal {
    /// The framework does not have the case.
    Skip(String),
    /// It failed.
    Error(String),
}

impl Worker {
    /// Starts it and waits for its hello.
    pub fn start(start: Start) -> Result<Self> {
        let mut worker = Self { start, running: None, framework: String::new(), version: String::new() };
        worker.run()?;
        Ok(worker)
    }

    fn run(&mut self) -> Result<&mut Running> {
        if self.running.is_none() {
            let mut command = self.start.command();
            let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
            let mut child =
                child.map_err(|error| format!("could not start `{}`: {error}", process::shown(&command)))?;
            let (Some(requests), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
                return Err("no pipes".to_owned());
            };
            // A thread reads, so that waiting can end.
            let (sender, answers) = channel();
            std::thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(std::result::Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
            let mut running = Running { child, requests, answers };
            let hello = running.answer()?;
            if let Some(why) = hello["skip"].as_str() {
                running.end();
                return Err(why.to_owned());
            }
            let text =
                |name: &str| hello[name].as_str().map(str::to_owned).ok_or(format!("no {name} in its hello"));
            (self.framework, self.version) = (text("framework")?, text("version")?);
            self.running = Some(running);
        }
        self.running.as_mut().ok_or_else(|| "not running".to_owned())
    }

    /// Asks for a number of rounds (0: to prepare the case), and gives one answer for each (for the preparation).
    /// A worker that dies or hangs is started anew by the next request.
    pub fn ask(&mut self, case: &str, rounds: usize) -> std::result::Result<Vec<Value>, Refusal> {
        let asked = self.run().and_then(|running| {
            writeln!(running.requests, "{case} {rounds}").map_err(|error| format!("it ended: {error}"))?;
            let mut answers = Vec::new();
            while answers.len() < rounds.max(1) {
                let answer = running.answer()?;
                let refused = answer["skip"].is_string() || answer["error"].is_string();
                answers.push(answer);
                if refused {
                    break;
                }
            }
            Ok(answers)
        });
        let answers = asked.map_err(|failure| {
            if let Some(running) = self.running.take() {
                running.end();
            }
            Refusal::Error(failure)
        })?;
        match answers.last() {
            Some(last) if last["skip"].is_string() => Err(Refusal::Skip(text(&last["skip"]))),
            Some(last) if last["error"].is_string() => Err(Refusal::Error(text(&last["error"]))),
            _ => Ok(answers),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Running {
    fn answer(&mut self) -> Result<Value> {
        match self.answers.recv_timeout(PATIENCE) {
            Ok(line) => serde_json::from_str(&line).map_err(|error| format!("it answered '{line}': {error}")),
            Err(RecvTimeoutError::Timeout) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
            Err(RecvTimeoutError::Disconnected) => Err(match self.child.wait() {
                Ok(status) => format!("it ended ({status})"),
                Err(error) => format!("it is lost: {error}"),
            }),
        }
    }

    fn end(mut self) {
        // It may have ended already, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.end();
        }
    }
}
