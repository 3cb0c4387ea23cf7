//! `cargo xtask bench`: this project and its peers side by side, on the same work, in one run.
//!
//! Within a case the rounds take turns (ours, a peer, ours, the next peer, …), so that what disturbs the machine for a
//! while disturbs both; each ratio is of the medians of rounds that were neighbours.

mod machine;
mod measure;
mod report;
mod worker;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use crate::workspace::Workspace;
use crate::{Result, process, venv};
pub use machine::source;
use measure::{Case, Measured};
use worker::{Start, Worker};

const USAGE: &str = "\
usage: cargo xtask bench [options]

  --peers DIR           the Python environment with the peers (without it: the python3 on the PATH)
  --only PATTERN        the cases whose name contains this, or matches it where it has a '*'; several by commas
  --frameworks A,B      the peers to run: torch, torch-compile, jax, numpy (all); micrograd_rs, our own wheel, beside the program
  --python              the cases of Python's own, from Python, beside micrograd, PyTorch and NumPy; builds the wheel first
  --rounds N            rounds of each pair (7)
  --threads N           threads of each framework (2)
  --quick               3 short rounds: to see that everything runs
  --out FILE            the JSON file to write; the table goes beside it, as .md

Writes docs/measured/cpu-<machine>.json and .md (python-<machine> with --python); an --only or --quick run writes to target/measured unless told by --out.
MNIST's cases read the gz files in $MNIST_DIR.";

const FRAMEWORKS: [&str; 4] = ["torch", "torch-compile", "jax", "numpy"];
/// Those of Python's own cases.
const PYTHON_PEERS: [&str; 3] = ["micrograd", "torch", "numpy"];
/// Our wheel, as `peer.py` calls it.
const WHEEL: &str = "micrograd_rs";

/// The name of the bench target that is our own worker.
const OURS: &str = "peers";

struct Options {
    peers: Option<PathBuf>,
    only: Vec<String>,
    frameworks: Vec<String>,
    rounds: usize,
    threads: usize,
    quick: bool,
    python: bool,
    out: Option<PathBuf>,
}

pub fn main(arguments: &[String]) -> Result<ExitCode> {
    let Some(options) = options(arguments)? else { return Ok(ExitCode::SUCCESS) };
    let workspace = Workspace::find()?;
    let machine = machine::Machine::of(options.threads);
    let cases = cases(&workspace, &options)?;
    let seconds = if options.quick { 0.05 } else { 0.2 };

    let worker_options = [
        "--serve".into(),
        "--threads".into(),
        options.threads.to_string(),
        "--seconds".into(),
        seconds.to_string(),
    ];
    let mut left_out = Vec::new();
    // The environment that our wheel is in, built for this run where it takes part.
    let takes_part = options.python || options.frameworks.iter().any(|name| name == WHEEL);
    let wheel = if takes_part { Some(crate::wheel::installed(&workspace)?) } else { None };
    let peer = |framework: &str, python: &Path| {
        let mut program = vec![python.as_os_str().to_owned()];
        program.extend(["-B", "benches/peers/peer.py", "--framework", framework].map(Into::into));
        Start::new(program, &worker_options, &workspace.root, &machine)
    };
    let mut ours = match our_program(&workspace, &options)? {
        _ if options.python => {
            let start = peer(WHEEL, wheel.as_deref().unwrap_or(Path::new(venv::PYTHON)));
            Some(Worker::start(start).map_err(|failure| format!("our own worker: {failure}"))?)
        }
        None => {
            left_out.push(format!("ours: there is no bench target `{OURS}`"));
            None
        }
        Some(program) => {
            let start =
                Start::new(vec![program.into_os_string()], &worker_options, &workspace.root, &machine);
            Some(Worker::start(start).map_err(|failure| format!("our own worker: {failure}"))?)
        }
    };
    let mut peers = Vec::new();
    for framework in &options.frameworks {
        let own = wheel.as_deref().filter(|_| framework == WHEEL);
        let mut start = peer(framework, own.unwrap_or(&python(&options)));
        if let Some(stand_ins) = options
            .peers
            .as_ref()
            .map(|folder| folder.join("stand-ins"))
            .filter(|f| f.exists() && own.is_none())
        {
            start.library_path(stand_ins);
        }
        match Worker::start(start) {
            Ok(worker) => peers.push(worker),
            Err(failure) => left_out.push(format!("{framework}: {failure}")),
        }
    }
    for line in &left_out {
        println!("left out: {line}");
    }
    if ours.is_none() && peers.is_empty() {
        return Err("nothing to measure".to_owned());
    }
    let idle = machine::load();
    if idle.is_some_and(|load| load > 0.5) {
        println!(
            "note: the machine is busy (load {:.2}); its figures will be poor",
            idle.unwrap_or_default()
        );
    }

    let mut measured: Vec<Measured> = Vec::new();
    for case in cases {
        let result = measure::case(case, ours.as_mut(), &mut peers, options.rounds);
        println!("{}", report::line(&result));
        measured.push(result);
    }

    let versions =
        ours.iter().chain(&peers).map(|worker| (worker.framework.clone(), worker.version.clone())).collect();
    let run = report::Run {
        command: command(arguments),
        versions,
        left_out,
        rounds: options.rounds,
        seconds,
        load: idle,
        source: machine::source(&workspace),
    };
    let path = options.out.clone().unwrap_or_else(|| {
        let partial = options.quick || !options.only.is_empty() || ours.is_none();
        let folder =
            if partial { workspace.target().join("measured") } else { workspace.root.join("docs/measured") };
        let what = if options.python { "python" } else { "cpu" };
        folder.join(format!("{what}-{}.json", machine.slug()))
    });
    report::write(&path, &run, &machine, &measured)?;
    println!("\nwrote {} and the table beside it", path.display());
    let failed = measured.iter().any(Measured::has_error);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The command as it is recorded: without the paths, which mean nothing elsewhere.
fn command(arguments: &[String]) -> String {
    let mut words = vec!["cargo xtask bench"];
    for word in arguments {
        let path = matches!(words.last(), Some(&("--peers" | "--out")));
        words.push(if path { "PATH" } else { word });
    }
    words.join(" ")
}

fn python(options: &Options) -> PathBuf {
    // A path given relative to where the user stands, not to the root, which the workers start in.
    let absolute = |folder: &PathBuf| std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
    options
        .peers
        .as_ref()
        .map_or_else(|| PathBuf::from(venv::PYTHON), |folder| venv::interpreter(&absolute(folder)))
}

/// The cases to run, in the order of the peers' table.
fn cases(workspace: &Workspace, options: &Options) -> Result<Vec<Case>> {
    let only = &options.only;
    let mut describe = process::command(venv::PYTHON, &workspace.root);
    describe.args(["-B", "benches/peers/peer.py", "--describe"]).args(options.python.then_some("--python"));
    let text = process::output(&mut describe)?;
    let cases = text.lines().map(|line| {
        let value: Value =
            serde_json::from_str(line).map_err(|error| format!("peer.py --describe: {error}"))?;
        let number = |name: &str| value[name].as_f64().unwrap_or_default();
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        Ok(Case { name: text("case"), work: text("work"), flops: number("flops"), bytes: number("bytes") })
    });
    let mut cases = cases.collect::<Result<Vec<Case>>>()?;
    if !only.is_empty() {
        cases.retain(|case| only.iter().any(|pattern| matches(pattern, &case.name)));
    }
    if cases.is_empty() { Err(format!("no case matches {}", only.join(","))) } else { Ok(cases) }
}

/// Whether a name contains the pattern, or matches it as a whole where the pattern has a `*`.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return name.contains(pattern) };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut pieces = rest.split('*').collect::<Vec<_>>();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some(at) = name.find(piece) else { return false };
        name = &name[at + piece.len()..];
    }
    name.ends_with(last)
}

/// Builds our worker and gives its path; `None` where the project has none, or another one is asked for.
fn our_program(workspace: &Workspace, options: &Options) -> Result<Option<PathBuf>> {
    if options.python || !workspace.has_target("bench", OURS) {
        return Ok(None);
    }
    let mut build = workspace.cargo("build --release --message-format=json-render-diagnostics --bench");
    let text = process::output_with_errors_shown(build.arg(OURS))?;
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executable = messages
        .filter(|message| message["target"]["name"] == OURS)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    executable.map(Some).ok_or_else(|| format!("cargo built no bench `{OURS}`"))
}

/// `None` when the question was answered.
fn options(arguments: &[String]) -> Result<Option<Options>> {
    let mut options = Options {
        peers: None,
        only: Vec::new(),
        frameworks: vec![],
        rounds: 0,
        threads: 2,
        quick: false,
        python: false,
        out: None,
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"));
        let number = |text: &String| match text.parse::<usize>() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!("{argument} takes a positive whole number, not '{text}'")),
        };
        match argument.as_str() {
            "--peers" => options.peers = Some(PathBuf::from(value()?)),
            "--only" => options.only.extend(value()?.split(',').map(str::to_owned)),
            "--frameworks" => options.frameworks = value()?.split(',').map(str::to_owned).collect(),
            "--rounds" => options.rounds = number(value()?)?,
            "--threads" => options.threads = number(value()?)?,
            "--quick" => options.quick = true,
            "--python" => options.python = true,
            "--out" => options.out = Some(PathBuf::from(value()?)),
            "-h" | "--help" => {
                println!("{USAGE}");
                return Ok(None);
            }
            other => return Err(format!("bench has no option '{other}'\n{USAGE}")),
        }
    }
    if options.rounds == 0 {
        options.rounds = if options.quick { 3 } else { 7 };
    }
    if options.frameworks.is_empty() {
        let all = if options.python { &PYTHON_PEERS[..] } else { &FRAMEWORKS };
        options.frameworks = all.iter().map(|&name| name.to_owned()).collect();
    }
    let known = |name: &str| name == WHEEL || FRAMEWORKS.contains(&name) || PYTHON_PEERS.contains(&name);
    if let Some(unknown) = options.frameworks.iter().find(|name| !known(name)) {
        return Err(format!("no peer '{unknown}'; there are {}, micrograd, {WHEEL}", FRAMEWORKS.join(", ")));
    }
    if let Some(folder) = options.peers.as_ref().filter(|folder| !venv::interpreter(folder).exists()) {
        return Err(format!("{} is no Python environment", folder.display()));
    }
    Ok(Some(options))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_pattern_without_a_star_is_a_part_of_the_name() {
        assert!(matches("chain", "small_chain_16") && matches("matmul_64", "matmul_64"));
        assert!(!matches("chain_1e6", "chain_1e4"));
    }

    #[test]
    fn a_pattern_with_a_star_is_the_whole_name() {
        assert!(
            matches("chain_*", "chain_1e6")
                && matches("*_fb", "gelu_fb")
                && matches("mlp*_1*8", "mlp_sgd_128")
        );
        assert!(
            !matches("chain_*", "small_chain_16") && !matches("*_fb", "gelu_fwd") && !matches("a*a", "a")
        );
    }
}
