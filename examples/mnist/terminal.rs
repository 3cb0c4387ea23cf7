//! What the example shows in a terminal: a progress bar, digits, and whether somebody pressed Ctrl-C.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How digits are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// Half blocks in 24-bit colour.
    True,
    /// Half blocks in the 256 colours of xterm.
    Palette,
    /// Letters and signs only.
    None,
}

impl Colours {
    /// What standard output takes: none where it is no terminal, or `NO_COLOR` is set (no-color.org).
    pub fn of_stdout() -> Colours {
        let var = |name| std::env::var(name).unwrap_or_default();
        Colours::choose(io::stdout().is_terminal(), &var("NO_COLOR"), &var("TERM"), &var("COLORTERM"))
    }

    fn choose(terminal: bool, no_color: &str, term: &str, colorterm: &str) -> Colours {
        if !terminal || !no_color.is_empty() || term == "dumb" {
            Colours::None
        } else if matches!(colorterm, "truecolor" | "24bit") {
            Colours::True
        } else {
            Colours::Palette
        }
    }

    /// The escape sequence that sets `layer` (38: the sign, 48: what is behind it) to a grey.
    fn grey(self, layer: u8, level: u8) -> String {
        match self {
            Colours::True => format!("\x1b[{layer};2;{level};{level};{level}m"),
            // 232 to 255 are greys; black is 16.
            Colours::Palette if level < 8 => format!("\x1b[{layer};5;16m"),
            Colours::Palette => format!("\x1b[{layer};5;{}m", 232 + u32::from(level) * 23 / 255),
            Colours::None => String::new(),
        }
    }

    /// `text` in green or red, where there are colours.
    fn verdict(self, good: bool, text: &str) -> String {
        match self {
            Colours::None => text.to_string(),
            _ => format!("\x1b[{}m{text}\x1b[0m", if good { 32 } else { 31 }),
        }
    }
}

/// Rows and columns of an image.
const SIDE: usize = 28;

/// A 28×28 image, 0 for background, as 14 lines of 28 columns: two pixels, one above the other, are one sign.
pub fn digit(pixels: &[u8], colours: Colours) -> Vec<String> {
    const RAMP: &[u8; 10] = b" .:-=+*#%@";
    let rows: Vec<&[u8]> = pixels.chunks(SIDE).collect();
    rows.chunks(2)
        .map(|pair| {
            let (upper, lower) = (pair[0], pair.get(1).copied().unwrap_or(&[]));
            let mut line = String::new();
            let mut last = None;
            for (i, &top) in upper.iter().enumerate() {
                let bottom = lower.get(i).copied().unwrap_or(0);
                if colours == Colours::None {
                    let mean = (usize::from(top) + usize::from(bottom)) / 2;
                    line.push(char::from(RAMP[mean * (RAMP.len() - 1) / 255]));
                    continue;
                }
                if last != Some((top, bottom)) {
                    line += &colours.grey(38, top);
                    line += &colours.grey(48, bottom);
                    last = Some((top, bottom));
                }
                line.push('▀');
            }
            if colours != Colours::None {
                line += "\x1b[0m";
            }
            line
        })
        .collect()
}

/// An image, what it shows and what the model took it for.
pub struct Sample<'a> {
    /// 28×28 pixels.
    pub pixels: &'a [u8],
    /// What it shows.
    pub label: u8,
    /// What the model says.
    pub prediction: u8,
    /// How sure the model is of that, 0 to 1.
    pub probability: f32,
}

/// Samples side by side, as many in a row as `columns` columns hold, each over a line that says what the model made of it.
pub fn samples(samples: &[Sample<'_>], columns: usize, colours: Colours) -> String {
    const GAP: &str = "  ";
    let per_row = ((columns + GAP.len()) / (SIDE + GAP.len())).max(1);
    let mut text = String::new();
    for row in samples.chunks(per_row) {
        let images: Vec<Vec<String>> = row.iter().map(|s| digit(s.pixels, colours)).collect();
        for i in 0..SIDE / 2 {
            let line: Vec<&str> =
                images.iter().filter_map(|image| image.get(i).map(String::as_str)).collect();
            text += line.join(GAP).trim_end_matches(' ');
            text.push('\n');
        }
        let captions: Vec<String> = row
            .iter()
            .map(|s| {
                let good = s.label == s.prediction;
                let percent = 100.0 * s.probability;
                let caption = if good {
                    format!("{}, {percent:.1} % sure", s.label)
                } else {
                    format!("{} taken for {}, {percent:.1} % sure", s.label, s.prediction)
                };
                // Padded before it is coloured, because escape sequences have no width.
                colours.verdict(good, &format!("{caption:^SIDE$}"))
            })
            .collect();
        text += captions.join(GAP).trim_end_matches(' ');
        text += "\n\n";
    }
    text.pop();
    text
}

/// The columns of the terminal: those of `COLUMNS`, or 80.
pub fn columns() -> usize {
    std::env::var("COLUMNS").ok().and_then(|n| n.parse().ok()).filter(|&n| n > 0).unwrap_or(80)
}

/// A line that shows how far training has come, drawn over itself in a terminal; elsewhere ten lines in all.
pub struct Progress {
    label: String,
    total: usize,
    start: Instant,
    drawn: Option<Instant>,
    tenth: usize,
    live: bool,
}

impl Progress {
    /// A bar for `total` steps of what `label` names, on standard output.
    pub fn new(label: impl Into<String>, total: usize) -> Progress {
        let live = io::stdout().is_terminal() && std::env::var("TERM").as_deref() != Ok("dumb");
        Progress { label: label.into(), total, start: Instant::now(), drawn: None, tenth: 0, live }
    }

    /// Says that `done` steps, `images` images in all, are done, the last with this loss.
    pub fn update(&mut self, done: usize, images: usize, loss: f32) {
        let last = done >= self.total;
        if self.live {
            // Often enough to look alive, seldom enough to cost nothing.
            if !last && self.drawn.is_some_and(|t| t.elapsed() < Duration::from_millis(50)) {
                return;
            }
            self.drawn = Some(Instant::now());
            let bar = bar(done, self.total, 24);
            print!("\r{} {bar} {}\x1b[K", self.label, self.figures(done, images, loss));
            if last {
                println!();
            }
        } else {
            let tenth = if last { 10 } else { done * 10 / self.total };
            if tenth == self.tenth {
                return;
            }
            self.tenth = tenth;
            println!("{} {}", self.label, self.figures(done, images, loss));
        }
        let _ = io::stdout().flush();
    }

    /// Ends the line before the work is done.
    pub fn stop(&mut self) {
        if self.live && self.drawn.take().is_some() {
            println!();
        }
    }

    fn figures(&self, done: usize, images: usize, loss: f32) -> String {
        let total = self.total;
        let width = total.to_string().len();
        let rate = rate(images, self.start.elapsed());
        format!("{done:>width$}/{total}  loss {loss:.4}  {rate} images/s")
    }
}

/// A bar of `width` columns.
fn bar(done: usize, total: usize, width: usize) -> String {
    let full = (done.min(total) * width).checked_div(total).unwrap_or(width);
    "━".repeat(full) + &"─".repeat(width - full)
}

/// "48,210": how many a second.
fn rate(n: usize, time: Duration) -> String {
    let digits = format!("{:.0}", n as f64 / time.as_secs_f64().max(1e-9));
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From here on Ctrl-C only makes [`interrupted`] true, so that training can end in order. A second one ends the program
/// at once.
pub fn watch_interrupts() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
}

/// Whether Ctrl-C was pressed.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        assert_eq!(Colours::choose(true, "", "xterm-256color", "truecolor"), Colours::True);
        assert_eq!(Colours::choose(true, "", "xterm-256color", ""), Colours::Palette);
        for (terminal, no_color, term) in [(false, "", "xterm"), (true, "1", "xterm"), (true, "", "dumb")] {
            assert_eq!(Colours::choose(terminal, no_color, term, "24bit"), Colours::None);
        }
    }

    /// A vertical line of ink in column 14, and one pixel in the top left corner.
    fn image() -> Vec<u8> {
        let mut pixels = vec![0; SIDE * SIDE];
        (0..SIDE).for_each(|row| pixels[row * SIDE + 14] = 255);
        pixels[0] = 128;
        pixels
    }

    #[test]
    fn a_digit_is_14_lines_of_28_columns() {
        let plain = digit(&image(), Colours::None);
        assert_eq!(plain.len(), 14);
        assert!(plain.iter().all(|line| line.len() == 28 && line.is_ascii() && line[14..15] == *"@"));
        assert_eq!(plain[0].find(|c| c != ' '), Some(0), "{plain:?}");
        for colours in [Colours::True, Colours::Palette] {
            let lines = digit(&image(), colours);
            assert!(lines.iter().all(|line| line.chars().filter(|&c| c == '▀').count() == 28));
            assert!(lines.iter().all(|line| line.ends_with("\x1b[0m")));
        }
        assert!(digit(&image(), Colours::True)[0].starts_with("\x1b[38;2;128;128;128m\x1b[48;2;0;0;0m▀"));
        assert!(digit(&image(), Colours::Palette)[1].contains("\x1b[38;5;255m\x1b[48;5;255m▀"));
    }

    #[test]
    fn samples_fill_the_columns() {
        let pixels = image();
        let sample = |prediction| Sample { pixels: &pixels, label: 1, prediction, probability: 0.987 };
        let three = [sample(1), sample(7), sample(1)];
        let text = samples(&three, 80, Colours::None);
        assert_eq!(text.lines().count(), 15 + 1 + 15);
        assert!(text.contains("1, 98.7 % sure") && text.contains("1 taken for 7, 98.7 % sure"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80 && !line.contains('\x1b')));
        assert_eq!(samples(&three, 100, Colours::None).lines().count(), 15);
        assert_eq!(samples(&three, 1, Colours::None).lines().count(), 3 * 15 + 2);
        let colours = samples(&three, 80, Colours::True);
        assert!(colours.contains("\x1b[31m 1 taken for 7"), "{colours:?}");
        assert_eq!(samples(&[], 80, Colours::True), "");
    }

    #[test]
    fn a_bar_grows_from_nothing_to_full() {
        assert_eq!(bar(0, 10, 4), "────");
        assert_eq!(bar(5, 10, 4), "━━──");
        assert_eq!(bar(10, 10, 4), "━━━━");
        assert_eq!(bar(0, 0, 4), "━━━━");
        assert_eq!(bar(99, 10, 4), "━━━━");
    }

    #[test]
    fn rates_are_readable() {
        assert_eq!(rate(12_345_678, Duration::from_secs(1)), "12,345,678");
        assert_eq!(rate(999, Duration::from_secs(1)), "999");
        assert_eq!(rate(128, Duration::from_millis(100)), "1,280");
        assert_eq!(rate(0, Duration::ZERO), "0");
    }

    #[test]
    fn a_line_says_step_loss_and_rate() {
        let progress = Progress::new("epoch 1/5", 469);
        let text = progress.figures(7, 896, 0.25);
        assert!(text.starts_with("  7/469  loss 0.2500  ") && text.ends_with(" images/s"), "{text}");
    }
}
