//! This project's part in the comparison with its peers: the cases of `cases.py`, by the protocol of `README.md`.

mod cases;
#[path = "../common/inputs.rs"]
mod inputs;
#[path = "../common/mlp.rs"]
mod mlp;
mod timer;
mod work;

use mg_autograd::set_default_device;
use mg_device::Device;
use std::fmt::Display;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Duration;
use timer::Timer;

const USAGE: &str =
    "peers --serve | --case NAME [--rounds N]   [--device cpu|cuda] [--replay] [--threads N] [--seconds S]";

/// Why a case has no time.
pub enum Refusal {
    /// It cannot be done here.
    Skip(String),
    /// It failed.
    Error(String),
}

impl From<mg_device::Error> for Refusal {
    fn from(error: mg_device::Error) -> Refusal {
        Refusal::Error(error.to_string())
    }
}

/// The answer to a request, or the reason why there is none.
pub type Result<T> = std::result::Result<T, Refusal>;

enum Command {
    Serve,
    Case(String),
    /// There is nothing to compare with.
    Nothing,
}

struct Options {
    command: Command,
    device: String,
    replay: bool,
    rounds: usize,
    threads: usize,
    least: Duration,
}

fn options(mut arguments: impl Iterator<Item = String>) -> std::result::Result<Options, String> {
    let (mut command, mut rounds, mut threads, mut least) = (None, 1, 2, Duration::from_millis(200));
    let (mut device, mut replay, mut unknown) = ("cpu".to_owned(), false, None);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} takes a value"));
        let mut number = |name: &str| {
            let text = value()?;
            text.parse::<usize>().map_err(|_| format!("{name} takes a whole number, not '{text}'"))
        };
        match argument.as_str() {
            "--serve" => command = Some(Command::Serve),
            "--case" => command = Some(Command::Case(value()?)),
            "--device" => device = value()?,
            "--replay" => replay = true,
            "--rounds" => rounds = number("--rounds")?,
            "--threads" => threads = number("--threads")?.max(1),
            "--seconds" => {
                let text = value()?;
                let seconds = text.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
                least = seconds.ok_or_else(|| format!("--seconds takes a number, not '{text}'"))?;
            }
            // Added by `cargo bench`.
            "--bench" => {}
            other => unknown = unknown.or(Some(other.to_owned())),
        }
    }
    // Run by `cargo bench` along with all the others, options are for the others.
    let command = match (command, unknown) {
        (Some(_), Some(other)) => return Err(format!("no option '{other}'")),
        (Some(command), None) => command,
        (None, _) => Command::Nothing,
    };
    Ok(Options { command, device, replay, rounds, threads, least })
}

/// A string in JSON.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if c < ' ' => write!(f, "\\u{:04x}", c as u32)?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

/// One answer: an object with the framework's name and the given fields.
fn say(framework: &str, fields: impl Display) {
    let mut out = std::io::stdout().lock();
    // Who asked may be gone, and then nobody is there to be told.
    let _ = writeln!(out, "{{\"framework\": \"{framework}\", {fields}}}");
    let _ = out.flush();
}

/// Keeps the case of the last request, so that rounds of several workers can take turns.
struct Server {
    device: Device,
    replay: bool,
    /// What it calls itself.
    name: &'static str,
    least: Duration,
    current: Option<(String, Timer)>,
}

impl Server {
    fn answer(&mut self, name: &str, rounds: usize) {
        // A panic is a failure of the case, not of the server.
        let refused = catch_unwind(AssertUnwindSafe(|| self.rounds(name, rounds))).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
            Err(Refusal::Error(text.unwrap_or_else(|| "a panic".into())))
        });
        if let Err(refusal) = refused {
            self.current = None;
            let (kind, text) = match &refusal {
                Refusal::Skip(why) => ("skip", why),
                Refusal::Error(what) => ("error", what),
            };
            say(self.name, format_args!("\"case\": {}, \"{kind}\": {}", Quoted(name), Quoted(text)));
        }
    }

    fn rounds(&mut self, name: &str, rounds: usize) -> Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        if self.current.as_ref().is_none_or(|(current, _)| current != name) {
            self.current = None;
            self.device.synchronize()?;
            let timer = Timer::new(cases::prepare(name, self.replay)?, self.device, self.least)?;
            self.current = Some((name.to_owned(), timer));
        }
        let Some((_, timer)) = &mut self.current else { return Ok(()) };
        if rounds == 0 {
            let check = timer.check.map_or("null".into(), |check| format!("{check:?}"));
            say(
                self.name,
                format_args!("\"case\": \"{name}\", \"version\": \"{version}\", \"check\": {check}"),
            );
            return Ok(());
        }
        for _ in 0..rounds {
            let (seconds, calls) = (timer.round()?, timer.calls()?);
            let answer = format!(
                "\"case\": \"{name}\", \"seconds_per_call\": {seconds:e}, \"calls\": {calls}, \"version\": \"{version}\""
            );
            say(self.name, answer);
        }
        Ok(())
    }
}

/// The device of this name, made the one that everything is made on; the error says why there is none.
fn device(name: &str) -> mg_device::Result<Device> {
    let device: Device = name.parse()?;
    set_default_device(device)?;
    Ok(device)
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(text) => {
            eprintln!("{text}\nusage: {USAGE}");
            return ExitCode::from(2);
        }
    };
    mg_kernels::cpu::pool::set_num_threads(options.threads);
    let (least, replay) = (options.least, options.replay);
    let name = if replay { "micrograd-rs-jit" } else { "micrograd-rs" };
    let found = device(&options.device);
    let mut server =
        Server { device: *found.as_ref().unwrap_or(&Device::cpu()), replay, name, least, current: None };
    if let Err(why) = found {
        say(server.name, format_args!("\"skip\": {}", Quoted(&why.to_string())));
        return ExitCode::SUCCESS;
    }
    match options.command {
        Command::Nothing => {
            println!("nothing to compare with: `cargo xtask bench` runs this beside its peers")
        }
        Command::Case(name) => server.answer(&name, options.rounds),
        Command::Serve => {
            let (version, threads) = (env!("CARGO_PKG_VERSION"), options.threads);
            let device = server.device.name();
            say(
                server.name,
                format_args!(
                    "\"version\": \"{version}\", \"threads\": {threads}, \"device\": {}",
                    Quoted(&device)
                ),
            );
            for line in std::io::stdin().lock().lines().map_while(std::io::Result::ok) {
                let mut words = line.split_whitespace();
                if let Some(name) = words.next() {
                    server.answer(name, words.next().and_then(|n| n.parse().ok()).unwrap_or(1));
                }
            }
        }
    }
    ExitCode::SUCCESS
}
