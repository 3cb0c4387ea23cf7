//! Files of measured tiles, one for each GPU: `kernels/tiles`. What they say is in docs/tiles.md.
//!
//! The build reads this file too, and checks those files by it.

use super::tiles::{Kind, Tile};
use std::fmt::{self, Write as _};

/// A file: whose it is, where it comes from, and what each tile takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The GPU's name, as its driver has it.
    pub gpu: String,
    /// Its compute capability: 80, 90, ….
    pub capability: u32,
    /// How many it has.
    pub multiprocessors: usize,
    /// The highest that its multiprocessors run at, in MHz.
    pub clock: usize,
    /// The driver's version: for people, as the two below.
    pub driver: String,
    /// The day.
    pub date: String,
    /// The commit of what was measured.
    pub commit: String,
    /// Of all tiles that this GPU runs, in the order of [`known`].
    pub rows: Vec<Row>,
}

/// What a tile takes of operands that lie in one way.
#[derive(Clone, Debug)]
pub struct Row {
    /// What the kernel computes.
    pub kind: Kind,
    /// Its tile.
    pub tile: &'static Tile,
    /// How the operands lie, one of [`Tile::forms`].
    pub form: &'static str,
    /// What a launch takes at least, in microseconds.
    pub once: f64,
    /// What a depth of 1024 takes where each multiprocessor has 1, 2, … blocks at a time; no more than these fit.
    pub depth: Vec<f64>,
}

impl PartialEq for Row {
    fn eq(&self, other: &Row) -> bool {
        (self.kind, self.tile.name, self.form) == (other.kind, other.tile.name, other.form)
            && (self.once, &self.depth) == (other.once, &other.depth)
    }
}

/// Times beyond this are no tile's, in microseconds.
const LONGEST: f64 = 1e6;
/// More blocks than a multiprocessor has at a time.
const MOST_BLOCKS: usize = 32;

/// Everything that there is a time of, on GPUs of a capability.
pub fn known(capability: u32) -> impl Iterator<Item = (Kind, &'static Tile, &'static str)> {
    let tiles = Kind::ALL.into_iter().flat_map(|kind| kind.tiles().iter().map(move |tile| (kind, tile)));
    let run = tiles.filter(move |(kind, tile)| kind.runs(tile, capability));
    run.flat_map(|(kind, tile)| tile.forms.iter().map(move |form| (kind, tile, *form)))
}

/// What was found in the lines of a file, so far.
#[derive(Default)]
struct Found<'t> {
    /// By [`HEAD`].
    head: [Option<&'t str>; HEAD.len()],
    capability: u32,
    multiprocessors: usize,
    clock: usize,
    rows: Vec<(usize, Row)>,
}

/// The words that lines of the head begin with, and what follows them.
const HEAD: [(&str, &str); 7] = [
    ("gpu", "the GPU's name"),
    ("capability", "a compute capability, such as 9.0"),
    ("multiprocessors", "a number from 1 to 65535"),
    ("clock", "a number of MHz from 1 to 65535"),
    ("driver", "the driver's version"),
    ("date", "the day"),
    ("commit", "the commit"),
];

impl Measured {
    /// What the GPU's file is called: its name in small letters, with a hyphen for whatever is neither a letter nor a digit.
    pub fn file_name(&self) -> String {
        let words = self.gpu.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-") + ".txt"
    }

    /// What a file's text says.
    ///
    /// # Errors
    ///
    /// What is wrong, in words: the line, what it has, and what it takes.
    pub fn parse(text: &str) -> Result<Measured, String> {
        let mut found = Found::default();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                found.read(at + 1, line).map_err(|wrong| format!("line {}: {wrong}", at + 1))?;
            }
        }
        found.finish()
    }
}

/// A kind as a file has it: in quotes, or Python would say `float32` for a dtype's short name.
fn quoted(kind: Kind) -> String {
    format!("{:?}", kind.name())
}

impl<'t> Found<'t> {
    fn read(&mut self, number: usize, line: &'t str) -> Result<(), String> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        if let Some(at) = HEAD.iter().position(|(known, _)| *known == word) {
            return self.read_head(at, rest);
        }
        let row = self.row(line)?;
        let same = |(_, other): &&(usize, Row)| {
            (other.kind, other.tile.name, other.form) == (row.kind, row.tile.name, row.form)
        };
        if let Some((before, _)) = self.rows.iter().find(same) {
            let Row { tile, form, .. } = &row;
            let kind = quoted(row.kind);
            return Err(format!("{kind} {} {form} is in line {before} already", tile.name));
        }
        self.rows.push((number, row));
        Ok(())
    }

    fn read_head(&mut self, at: usize, rest: &'t str) -> Result<(), String> {
        let (word, takes) = HEAD[at];
        if self.head[at].is_some() {
            return Err(format!("{word} is said twice"));
        }
        let wrong = || format!("{word} is followed by {rest:?}, takes {takes}");
        let number = |text: &str| text.parse::<u16>().ok().filter(|&n| n > 0).ok_or_else(wrong);
        match word {
            "capability" => {
                let (major, minor) = rest.split_once('.').ok_or_else(wrong)?;
                let (major, minor) = (number(major)?, minor.parse::<u8>().map_err(|_| wrong())?);
                if !(7..100).contains(&major) || minor > 9 {
                    return Err(wrong());
                }
                self.capability = u32::from(major) * 10 + u32::from(minor);
            }
            "multiprocessors" => self.multiprocessors = number(rest)?.into(),
            "clock" => self.clock = number(rest.strip_suffix("MHz").unwrap_or(rest).trim())?.into(),
            _ if rest.is_empty() => return Err(wrong()),
            _ => {}
        }
        self.head[at] = Some(rest);
        Ok(())
    }

    /// A tile's line: the capability is known before.
    fn row(&self, line: &str) -> Result<Row, String> {
        const TAKES: &str = "takes DTYPE TILE FORM ONCE DEPTH…, the last of them numbers of microseconds";
        if self.capability == 0 {
            return Err(format!("got {line:?} before the line that says the capability"));
        }
        let mut words = line.split_whitespace();
        let (Some(kind), Some(tile), Some(form)) = (words.next(), words.next(), words.next()) else {
            return Err(format!("got {line:?}, {TAKES}"));
        };
        let all = Kind::ALL;
        let Some(kind) = all.into_iter().find(|known| known.name() == kind) else {
            let names: Vec<String> = all.iter().map(|kind| quoted(*kind)).collect();
            let head: Vec<&str> = HEAD.iter().map(|(word, _)| *word).collect();
            let (names, head) = (names.join(", "), head.join(", "));
            return Err(format!("got {kind:?}, a line begins with a dtype ({names}) or one of {head}"));
        };
        let of = quoted(kind);
        let named = || kind.tiles().iter().filter(|known| known.name == tile);
        if named().next().is_none() {
            let mut names: Vec<&str> = kind.tiles().iter().map(|tile| tile.name).collect();
            names.dedup();
            return Err(format!("got the tile {tile:?}, {of} takes {}", names.join(", ")));
        }
        let known = named().flat_map(|tile| tile.forms.iter().map(move |form| (tile, *form)));
        let Some((tile, form)) = known.clone().find(|(_, known)| *known == form) else {
            let forms: Vec<&str> = known.map(|(_, form)| form).collect();
            return Err(format!("got the form {form:?}, {of} {tile} takes {}", forms.join(", ")));
        };
        if !kind.runs(tile, self.capability) {
            let (major, minor) = (self.capability / 10, self.capability % 10);
            return Err(format!("GPUs of capability {major}.{minor} do not run {of} {}", tile.name));
        }
        let mut times = Vec::new();
        for word in words {
            let time = word.parse::<f64>().ok().filter(|time| *time > 0.0 && *time <= LONGEST);
            times.push(
                time.ok_or_else(|| format!("got {word:?} for a time, {TAKES}, above 0 and up to {LONGEST}"))?,
            );
        }
        match times.split_first() {
            Some((&once, depth)) if (1..=MOST_BLOCKS).contains(&depth.len()) => {
                Ok(Row { kind, tile, form, once, depth: depth.to_vec() })
            }
            Some(_) | None => {
                let (count, most) = (times.len(), MOST_BLOCKS + 1);
                Err(format!("got {count} times, {TAKES}: at least 2 and at most {most}"))
            }
        }
    }

    fn finish(mut self) -> Result<Measured, String> {
        if let Some(at) = self.head.iter().position(Option::is_none) {
            let (word, takes) = HEAD[at];
            return Err(format!("there is no line {word:?}, which says {takes}"));
        }
        let mut rows = Vec::new();
        for (kind, tile, form) in known(self.capability) {
            let is_this =
                |(_, row): &(usize, Row)| (row.kind, row.tile.name, row.form) == (kind, tile.name, form);
            let Some(at) = self.rows.iter().position(is_this) else {
                return Err(format!("there is no line for {} {} {form}", quoted(kind), tile.name));
            };
            rows.push(self.rows.swap_remove(at).1);
        }
        let [gpu, _, _, _, driver, date, commit] = self.head.map(|text| text.unwrap_or_default().to_owned());
        let Found { capability, multiprocessors, clock, .. } = self;
        Ok(Measured { gpu, capability, multiprocessors, clock, driver, date, commit, rows })
    }
}

/// The file's text.
impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { gpu, capability, multiprocessors, clock, driver, date, commit, rows } = self;
        let (major, minor) = (capability / 10, capability % 10);
        writeln!(
            f,
            "# What tiles of matrix products take on this GPU: docs/tiles.md says how it is measured and used."
        )?;
        writeln!(
            f,
            "gpu {gpu}\ncapability {major}.{minor}\nmultiprocessors {multiprocessors}\nclock {clock} MHz"
        )?;
        writeln!(f, "driver {driver}\ndate {date}\ncommit {commit}\n")?;
        writeln!(
            f,
            "# Microseconds: a launch at least; a depth of 1024 with 1, 2, … blocks on each multiprocessor."
        )?;
        for Row { kind, tile, form, once, depth } in rows {
            let mut line = format!("{:<6} {:<8} {form:<3} {once:>5.2}", kind.name(), tile.name);
            for time in depth {
                write!(line, " {time:>7.2}")?;
            }
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file in which every time is another number.
    fn file(capability: u32) -> Measured {
        let rows = known(capability).enumerate().map(|(at, (kind, tile, form))| {
            let depth = (0..=at % 4).map(|each| (at * 4 + each + 1) as f64 / 4.0).collect();
            Row { kind, tile, form, once: 0.01 + at as f64, depth }
        });
        Measured {
            gpu: "NVIDIA RTX 6000 Ada Generation (a test)".into(),
            capability,
            multiprocessors: 142,
            clock: 2505,
            driver: "580.65.06".into(),
            date: "2026-11-30".into(),
            commit: "0123abc".into(),
            rows: rows.collect(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for capability in [75, 80, 86, 89, 90, 100, 120] {
            let file = file(capability);
            assert_eq!(Measured::parse(&file.to_string()).as_ref(), Ok(&file), "{capability}");
        }
        assert_eq!(file(89).file_name(), "nvidia-rtx-6000-ada-generation-a-test.txt");
        // What one GPU runs is what there are kernels for; others run less.
        assert_eq!(known(75).count(), 1);
        assert!(known(90).count() > known(80).count() && known(80).count() > known(86).count());
        assert!(known(86).all(|(_, tile, _)| !tile.hopper && tile.shared <= 99 << 10));
    }

    #[test]
    fn lines_may_stand_in_any_order_behind_the_head() {
        let file = file(90);
        let text = file.to_string();
        let is_row =
            |line: &&str| Kind::ALL.iter().any(|kind| line.starts_with(&format!("{} ", kind.name())));
        let (mut rows, head): (Vec<&str>, Vec<&str>) = text.lines().partition(is_row);
        rows.reverse();
        let turned = [head, vec!["", "  # a remark"], rows].concat().join("\r\n");
        assert_eq!(Measured::parse(&turned), Ok(file));
    }

    #[test]
    fn what_is_wrong_is_told_by_its_line() {
        let good = file(90).to_string();
        let line = |start: &str| good.lines().position(|line| line.starts_with(start)).unwrap() + 1;
        let of = |start: &str| good.lines().find(|line| line.starts_with(start)).unwrap();
        let wrong = |old: &str, new: &str| Measured::parse(&good.replacen(old, new, 1)).unwrap_err();
        let row = of("bf16   w128x256 kn");
        let at = line("bf16   w128x256 kn");
        let numbers = "takes DTYPE TILE FORM ONCE DEPTH…, the last of them numbers of microseconds";
        for (old, new, told) in [
            (row, "bf16 w128x256", format!("line {at}: got \"bf16 w128x256\", {numbers}")),
            (
                row,
                "bf16 w128x256 kn",
                format!("line {at}: got 0 times, {numbers}: at least 2 and at most 33"),
            ),
            (
                row,
                "bf16 w128x256 kn 3.0",
                format!("line {at}: got 1 times, {numbers}: at least 2 and at most 33"),
            ),
            (
                row,
                "bf16 w128x256 kn 3.0 fast",
                format!("line {at}: got \"fast\" for a time, {numbers}, above 0 and up to 1000000"),
            ),
            (
                row,
                "bf16 w128x256 kn 3.0 -1",
                format!("line {at}: got \"-1\" for a time, {numbers}, above 0 and up to 1000000"),
            ),
            (
                row,
                "bf16 w128x256 kn 3.0 NaN",
                format!("line {at}: got \"NaN\" for a time, {numbers}, above 0 and up to 1000000"),
            ),
            (
                row,
                "bf16 w128x256 kn 3.0 inf",
                format!("line {at}: got \"inf\" for a time, {numbers}, above 0 and up to 1000000"),
            ),
            (
                row,
                "bf16 w128x256 kn 0 1",
                format!("line {at}: got \"0\" for a time, {numbers}, above 0 and up to 1000000"),
            ),
            (
                row,
                "bf16 w1x2 kn 3.0 1",
                format!(
                    "line {at}: got the tile \"w1x2\", \"bf16\" takes w128x256, w128x192, w128x128, w128x64, 128x256, 128x128, 128x64, 64x64, 32x32, 128x128, 64x64"
                ),
            ),
            (
                row,
                "bf16 w128x256 xx 3.0 1",
                format!("line {at}: got the form \"xx\", \"bf16\" w128x256 takes kn, kk, mn, mk"),
            ),
            (
                row,
                "bf17 w128x256 kn 3.0 1",
                format!(
                    "line {at}: got \"bf17\", a line begins with a dtype (\"f32\", \"tf32\", \"f16\", \"bf16\", \"many\", \"scaled\", \"any\") or one of gpu, capability, multiprocessors, clock, driver, date, commit"
                ),
            ),
            (row, "", "there is no line for \"bf16\" w128x256 kn".to_owned()),
            (of("gpu"), "", "there is no line \"gpu\", which says the GPU's name".to_owned()),
            (of("gpu"), "gpu", "line 2: gpu is followed by \"\", takes the GPU's name".to_owned()),
            (
                of("clock"),
                "clock fast",
                format!(
                    "line {}: clock is followed by \"fast\", takes a number of MHz from 1 to 65535",
                    line("clock")
                ),
            ),
            (
                of("capability"),
                "capability 90",
                "line 3: capability is followed by \"90\", takes a compute capability, such as 9.0"
                    .to_owned(),
            ),
            (
                of("capability"),
                "capability 0.9",
                "line 3: capability is followed by \"0.9\", takes a compute capability, such as 9.0"
                    .to_owned(),
            ),
            (
                of("multiprocessors"),
                "multiprocessors 0",
                "line 4: multiprocessors is followed by \"0\", takes a number from 1 to 65535".to_owned(),
            ),
            (
                of("multiprocessors"),
                "multiprocessors 70000",
                "line 4: multiprocessors is followed by \"70000\", takes a number from 1 to 65535".to_owned(),
            ),
            (of("date"), "driver 1", format!("line {}: driver is said twice", line("date"))),
            (
                of("capability"),
                "",
                format!("line {}: got {:?} before the line that says the capability", line("f32"), of("f32")),
            ),
        ] {
            assert_eq!(wrong(old, new), told);
        }
        let twice = format!("{good}{row}\n");
        assert_eq!(
            Measured::parse(&twice).unwrap_err(),
            format!("line {}: \"bf16\" w128x256 kn is in line {at} already", good.lines().count() + 1)
        );
        // Of another GPU, without what only this one runs.
        let other = wrong("capability 9.0", "capability 8.0");
        assert_eq!(
            other,
            format!("line {}: GPUs of capability 8.0 do not run \"f32\" w128x128", line("f32"))
        );
        for text in ["", "\0", "gpu\u{a0}x", "🦀 🦀 🦀", &"x ".repeat(1 << 16)] {
            Measured::parse(text).unwrap_err();
        }
    }

    #[test]
    fn no_text_is_too_strange() {
        // Words of such files in any order, and characters taken out.
        let good = file(90).to_string();
        let words: Vec<&str> = good.split_inclusive(char::is_whitespace).collect();
        let mut state = 5usize;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for _ in 0..300 {
            let mut text: String = (0..below(60)).map(|_| words[below(words.len())]).collect();
            let at = below(good.len());
            if good.is_char_boundary(at) {
                text.push_str(&good[..at]);
            }
            // Whatever it answers, it does.
            let _ = Measured::parse(&text);
        }
    }
}
