//! What was measured on: the machine, and the source.

use std::ffi::OsString;
use std::path::Path;

use serde_json::{Value, json};

use crate::process;
use crate::workspace::Workspace;

/// The machine, as it describes itself.
pub struct Machine {
    model: String,
    /// The processors that workers are held to, one a core; empty where nothing has to be done or can be.
    held: Vec<usize>,
    processors: usize,
    threads: usize,
    facts: Value,
}

impl Machine {
    /// Reads what `lscpu` and /proc tell, or on macOS `sysctl`.
    pub fn of(threads: usize) -> Self {
        let lscpu = quiet("lscpu", &[]);
        let field = |name: &str| {
            let found = lscpu.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'));
            found.map(|value| value.trim().to_owned())
        };
        let sysctl =
            || Some(quiet("sysctl", &["-n", "machdep.cpu.brand_string"])).filter(|text| !text.is_empty());
        let model = field("Model name").or_else(sysctl).unwrap_or_else(|| std::env::consts::ARCH.to_owned());
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let flags = field("Flags").unwrap_or_default();
        let vectors = ["avx2", "fma", "avx512f", "avx512_bf16", "amx_tile", "asimd", "sve"];
        let vectors: Vec<&str> =
            vectors.into_iter().filter(|v| flags.split(' ').any(|flag| flag == *v)).collect();
        let facts = json!({
            "cpu": model,
            "processors": processors,
            "caches": {"L1d": field("L1d cache"), "L1i": field("L1i cache"), "L2": field("L2 cache"), "L3": field("L3 cache")},
            "vectors": vectors,
            "hypervisor": field("Hypervisor vendor"),
            "memory": memory(),
            // The version without its builder's suffix.
            "os": quiet("uname", &["-sr"]).split('-').next(),
        });
        let held =
            if processors > threads { cores().into_iter().take(threads).collect() } else { Vec::new() };
        Self { model, held, processors, threads, facts }
    }

    /// The words to start a worker with so that it stays on as many cores as it has threads.
    pub fn pinned(&self) -> Vec<OsString> {
        if self.held.len() < self.threads || quiet("taskset", &["--version"]).is_empty() {
            return Vec::new();
        }
        vec!["taskset".into(), "-c".into(), join(&self.held).into()]
    }

    /// The machine's name in a file's name: "intel-xeon-processor-2-cores".
    pub fn slug(&self) -> String {
        let plain = self.model.to_lowercase().replace("(r)", " ").replace("(tm)", " ");
        let words = plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        format!("{}-{}-cores", words.collect::<Vec<_>>().join("-"), self.processors.min(self.threads.max(1)))
    }

    /// One line.
    pub fn sentence(&self) -> String {
        let fact =
            |pointer: &str| self.facts.pointer(pointer).and_then(Value::as_str).unwrap_or("?").to_owned();
        let vectors: Vec<&str> =
            self.facts["vectors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let held =
            if self.held.is_empty() { String::new() } else { format!(", held to {}", join(&self.held)) };
        format!(
            "{}, {} processors{held}, L1d {}, L2 {}, L3 {}, {}, {}, {}",
            self.model,
            self.processors,
            fact("/caches/L1d"),
            fact("/caches/L2"),
            fact("/caches/L3"),
            vectors.join(" "),
            fact("/memory"),
            fact("/os"),
        )
    }

    /// All of it, for the JSON file.
    pub fn json(&self) -> Value {
        let mut facts = self.facts.clone();
        facts["threads"] = self.threads.into();
        facts["held_to"] = self.held.clone().into();
        facts
    }
}

fn join(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// What a program prints; nothing where it is not there.
fn quiet(program: &str, arguments: &[&str]) -> String {
    let mut command = process::command(program, Path::new("."));
    // Field names in English wherever the machine stands.
    process::output(command.args(arguments).env("LC_ALL", "C"))
        .map_or_else(|_| String::new(), |text| text.trim().to_owned())
}

fn memory() -> Option<String> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kib: f64 = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()?;
    Some(format!("{:.0} GiB", kib / 1024.0 / 1024.0))
}

/// The first processor of every core that this program may run on.
fn cores() -> Vec<usize> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
    let mut taken = Vec::new();
    list(allowed)
        .into_iter()
        .filter(|processor| {
            let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
            let siblings = std::fs::read_to_string(path).unwrap_or_default();
            let fresh = !taken.contains(processor);
            taken.extend(list(&siblings));
            fresh
        })
        .collect()
}

/// The numbers of "0-3,8".
fn list(text: &str) -> Vec<usize> {
    let ranges = text.trim().split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?)
    });
    ranges.flatten().collect()
}

/// Processes that wanted to run in the last minute, on average.
pub fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// The commit, whether the tree differs from it, and the compiler.
pub fn source(workspace: &Workspace) -> Value {
    let git = |arguments: &[&str]| {
        let mut command = process::command("git", &workspace.root);
        process::output(command.args(arguments)).map(|text| text.trim().to_owned()).ok()
    };
    json!({
        "commit": git(&["rev-parse", "--short=12", "HEAD"]),
        "modified": git(&["status", "--porcelain", "--untracked-files=no"]).map(|changes| !changes.is_empty()),
        "rustc": process::output(process::command("rustc", &workspace.root).arg("--version")).ok().map(|text| text.trim().to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_lists() {
        assert_eq!(list("0-3,8\n"), [0, 1, 2, 3, 8]);
        assert_eq!(list("5"), [5]);
        assert!(list("").is_empty());
    }

    #[test]
    fn a_slug_is_fit_for_a_file_name() {
        let model = "AMD EPYC(TM) 9V74 80-Core Processor".to_owned();
        let machine = Machine { model, held: vec![], processors: 4, threads: 2, facts: json!({}) };
        assert_eq!(machine.slug(), "amd-epyc-9v74-80-core-processor-2-cores");
    }
}
