//! NVIDIA's assemblers, and the record of what they made of texts (`kernels/assembled`).
//!
//! Three assemblers look at hundreds of texts, for several architectures: ten minutes of a processor, for texts that hardly ever change. So what
//! each of them said of each text is kept under the text's SHA-256, and asked for there. What is not in the record is assembled; of what is,
//! everything by the newest assembler for its own architecture, and of the rest a share that each commit draws anew. A record that is not what
//! it would be written as fails.

mod share;

use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The record's folder; without it everything is assembled.
const RECORD: &str = "PTXAS_RECORD";
/// Which part is assembled though it is recorded, as "3/8".
const SHARE: &str = "PTXAS_SHARE";
/// Set where the record is to be written.
const WRITE: &str = "PTXAS_WRITE";
const HEAD: &str = "\
# What NVIDIA's assemblers made of each text, by `cargo xtask ptx`: its name, its SHA-256, and by release and architecture the registers,
# the bytes stored and loaded for want of registers, and what was warned of.
";

pub struct Assembler {
    path: PathBuf,
    /// "12.9"
    pub release: String,
    /// "12.9.86"
    version: String,
}

impl Assembler {
    fn at(path: PathBuf) -> Result<Assembler, String> {
        let asked = Command::new(&path).arg("--version").output();
        let said = asked.map_err(|error| format!("{}: {error}", path.display()))?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let word = |before: &str| {
            let (_, rest) = said.split_once(before)?;
            Some(rest.split([',', '\n', ' ']).next()?.to_owned())
        };
        match (word("release "), word(", V")) {
            (Some(release), Some(version)) => Ok(Assembler { path, release, version }),
            _ => Err(format!("{} is no ptxas: {said}", path.display())),
        }
    }

    /// Runs it on a file; what it said, or that it failed.
    fn run(&self, options: &[&str], path: &Path) -> Result<String, String> {
        let out =
            Command::new(&self.path).args(options).args(["-o", "/dev/null"]).arg(path).output().unwrap();
        let said = [out.stdout, out.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        if out.status.success() {
            Ok(said)
        } else {
            Err(format!("{} by {}: {said}", path.display(), self.version))
        }
    }
}

/// The assemblers, the newest first. One that is named but does not run is a failure; none at all is said.
pub fn assemblers() -> Vec<Assembler> {
    match std::env::var_os("PTXAS") {
        Some(named) => std::env::split_paths(&named)
            .map(|path| Assembler::at(path).unwrap_or_else(|error| panic!("PTXAS: {error}")))
            .collect(),
        None => {
            let found: Vec<Assembler> = Assembler::at("ptxas".into()).into_iter().collect();
            if found.is_empty() {
                eprintln!("skipped: no ptxas");
            }
            found
        }
    }
}

/// Whether there is a record, and so reason to look at everything that is in it.
pub fn is_recorded() -> bool {
    std::env::var_os(RECORD).is_some()
}

/// Calls `work` of each, on all processors.
fn each<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}

/// A text that an assembler is to look at.
pub struct Job<'a> {
    pub name: &'a str,
    pub text: &'a str,
    pub assembler: &'a Assembler,
    /// "sm_90a"
    pub architecture: String,
    /// What it is told besides.
    pub options: &'static [&'static str],
    /// Assembled even where it is recorded.
    pub anew: bool,
}

/// What an assembler said of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    pub registers: u32,
    /// Bytes kept in memory for want of registers: stores and loads.
    pub spilled: [u32; 2],
    /// That products of matrices wait for each other (C75xx), each kind once, or that `setmaxnreg` is not heeded.
    pub warned: String,
}

fn number(word: Option<&str>, said: &str) -> u32 {
    word.and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("a number that is none: {said}"))
}

impl Reading {
    fn of(said: &str) -> Reading {
        // The number before a unit, or behind a word.
        let before = |unit: &str| {
            let words = said.match_indices(unit).map(|(at, _)| said[..at].split_whitespace().next_back());
            words.map(|word| number(word, said)).sum()
        };
        let used = said.match_indices("Used ").map(|(at, word)| said[at + word.len()..].split(' ').next());
        let registers = used.map(|word| number(word, said)).max();
        let codes = said.match_indices("C75").map(|(at, _)| said[at..].chars().take(5).collect::<String>());
        let warned: BTreeSet<String> =
            codes.chain(said.contains("setmaxnreg").then(|| "setmaxnreg".to_owned())).collect();
        Reading {
            registers: registers.unwrap_or(0),
            spilled: ["bytes spill stores", "bytes spill loads"].map(before),
            warned: warned.into_iter().collect::<Vec<_>>().join("+"),
        }
    }

    fn parse(text: &str) -> Option<Reading> {
        let mut words = text.split(',');
        let mut number = || words.next()?.parse().ok();
        let (registers, stores, loads) = (number()?, number()?, number()?);
        Some(Reading { registers, spilled: [stores, loads], warned: words.next().unwrap_or_default().into() })
    }

    fn text(&self) -> String {
        let Reading { registers, spilled: [stores, loads], warned } = self;
        let comma = if warned.is_empty() { "" } else { "," };
        format!("{registers},{stores},{loads}{comma}{warned}")
    }
}

/// Readings by the text's hash, the assembler's release and the architecture.
type Readings = BTreeMap<(String, String), Reading>;

fn parse(record: &str) -> Readings {
    let mut readings = Readings::new();
    for line in record.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace().skip(1);
        let hash = words.next().unwrap_or_default();
        for word in words {
            let (by, text) = word.split_once(':').unwrap_or_else(|| panic!("no reading: {line}"));
            let reading = Reading::parse(text).unwrap_or_else(|| panic!("no reading: {line}"));
            readings.insert((hash.to_owned(), by.to_owned()), reading);
        }
    }
    readings
}

/// What the assemblers say of texts, from the record of this name where that has it.
///
/// # Panics
///
/// Where a text does not assemble; where the record differs from what is seen now, or is not complete, or has more.
pub fn readings(record: &str, jobs: &[Job]) -> Vec<Reading> {
    let place = std::env::var_os(RECORD).map(|folder| Path::new(&folder).join(format!("{record}.txt")));
    let before = place.as_ref().map(|place| std::fs::read_to_string(place).unwrap_or_default());
    let known = before.as_deref().map(parse).unwrap_or_default();
    let (share, write) = (std::env::var(SHARE).unwrap_or_default(), std::env::var_os(WRITE).is_some());
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ptx-{record}"));
    std::fs::create_dir_all(&dir).unwrap();

    let keys: Vec<(String, String)> = jobs
        .iter()
        .map(|job| {
            let digest = Sha256::digest(job.text.replace("\r\n", "\n"));
            let hash = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            (hash, format!("{}/{}", job.assembler.version, job.architecture))
        })
        .collect();
    let todo: Vec<usize> = (0..jobs.len())
        .filter(|&i| {
            let again = !write && (jobs[i].anew || share::has(&share, &keys[i].0));
            again || !known.contains_key(&keys[i])
        })
        .collect();
    // Written once each: several assemblers read a text.
    let names: BTreeMap<&str, &str> = todo.iter().map(|&i| (jobs[i].name, jobs[i].text)).collect();
    for (name, text) in names {
        std::fs::write(dir.join(format!("{name}.ptx")), text).unwrap();
    }
    let seen = Mutex::new(BTreeMap::new());
    let wrong = Mutex::new(vec![]);
    each(&todo, |&i| {
        let job = &jobs[i];
        let path = dir.join(format!("{}.ptx", job.name));
        let options = [&["-v", "-arch", &job.architecture], job.options].concat();
        match job.assembler.run(&options, &path) {
            Ok(said) => drop(seen.lock().unwrap().insert(i, Reading::of(&said))),
            Err(failure) => wrong.lock().unwrap().push(failure),
        }
    });
    let (seen, mut wrong) = (seen.into_inner().unwrap(), wrong.into_inner().unwrap());
    for (i, reading) in &seen {
        if let Some(known) = known.get(&keys[*i]).filter(|known| *known != reading) {
            wrong.push(format!("{}: {} finds {reading:?}, recorded is {known:?}", jobs[*i].name, keys[*i].1));
        }
    }
    assert!(wrong.is_empty(), "{} texts\n{}", wrong.len(), wrong.join("\n"));
    println!("{record}: {} readings, {} of them anew", jobs.len(), todo.len());

    let all: Vec<Reading> =
        (0..jobs.len()).map(|i| seen.get(&i).or_else(|| known.get(&keys[i])).unwrap().clone()).collect();
    if let (Some(place), Some(before)) = (place, before) {
        let mut lines: BTreeMap<&str, String> = BTreeMap::new();
        for ((job, (hash, by)), reading) in jobs.iter().zip(&keys).zip(&all) {
            let line = lines.entry(job.name).or_insert_with(|| format!("{} {hash}", job.name));
            let _ = write!(line, " {by}:{}", reading.text());
        }
        let now = lines.values().fold(HEAD.to_owned(), |text, line| text + line + "\n");
        if write {
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, now).unwrap();
        } else {
            let same = before.replace("\r\n", "\n") == now;
            assert!(
                same,
                "{} is not what would be written: `cargo xtask ptx` writes it anew",
                place.display()
            );
        }
    }
    all
}

#[test]
fn records_are_read_as_they_are_written() {
    let said = "ptxas info    : (C7515) wgmma: accumulator registers of a wgmma\nptxas info    : (C7515) once more\n    8 bytes stack \
                frame, 8 bytes spill stores, 12 bytes spill loads\nptxas info    : Used 168 registers, used 1 barriers";
    let reading = Reading::of(said);
    assert_eq!(reading, Reading { registers: 168, spilled: [8, 12], warned: "C7515".into() });
    let text = format!("# words\na 00ff 12.9.86/sm_90a:{} 12.9.86/sm_80:7,0,0\n", reading.text());
    let readings = parse(&text);
    assert_eq!(readings[&("00ff".into(), "12.9.86/sm_90a".into())], reading);
    assert_eq!(readings[&("00ff".into(), "12.9.86/sm_80".into())].text(), "7,0,0");
}
