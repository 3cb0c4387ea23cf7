//! A frame with axes, and numbers at round places.

use std::fmt::Write as _;

pub(super) const WIDTH: f64 = 640.0;
pub(super) const HEIGHT: f64 = 400.0;
const LEFT: f64 = 68.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 50.0;

pub(super) const STYLE: &str = "\
text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#222}\
.title{font-size:14px;font-weight:600;text-anchor:middle}.x{text-anchor:middle}.y{text-anchor:end}\
.frame{fill:none;stroke:#888}.grid{stroke:#8884;stroke-width:1}\
@media(prefers-color-scheme:dark){text{fill:#ddd}}";

/// What has a meaning in SVG, as text.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A number with few digits.
pub(super) fn short(x: f64) -> String {
    let size = x.abs();
    match size {
        0.0 => "0".into(),
        _ if !(1e-4..1e6).contains(&size) => format!("{x:.2e}"),
        _ => {
            let text = format!("{x:.6}");
            let text = text.trim_end_matches('0').trim_end_matches('.');
            text.to_string()
        }
    }
}

/// An axis: where its numbers begin and end, and whether it is logarithmic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) log: bool,
}

impl Axis {
    /// That has room for finite numbers, and on a logarithmic axis for positive ones.
    pub(super) fn of(values: impl Iterator<Item = f64>, log: bool) -> Axis {
        let fits = |x: &f64| x.is_finite() && (!log || *x > 0.0);
        let (from, to) =
            values.filter(fits).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let (from, to) = match (from < to, from == to, log) {
            (true, ..) => (from, to),
            (_, true, true) => (from / 2.0, to * 2.0),
            (_, true, false) => (from - 0.5, to + 0.5),
            (_, _, true) => (1.0, 10.0),
            (_, _, false) => (0.0, 1.0),
        };
        Axis { from, to, log }
    }

    /// Where a number lies, from 0 to 1.
    pub(super) fn place(self, x: f64) -> f64 {
        match self.log {
            // By parts, which no quotient or difference of numbers can exceed.
            true => (x.ln() - self.from.ln()) / (self.to.ln() - self.from.ln()),
            false => (x / 2.0 - self.from / 2.0) / (self.to / 2.0 - self.from / 2.0),
        }
    }

    /// Round numbers on it: 1, 2 or 5 times a power of ten apart, or powers of ten.
    fn ticks(self) -> Vec<f64> {
        if self.log {
            let (low, high) = (self.from.log10().floor() as i32, self.to.log10().ceil() as i32);
            let every = ((high - low) / 8 + 1) as usize;
            let all = (low..=high).step_by(every).map(|e| 10f64.powi(e));
            return all.filter(|x| (-1e-9..=1.0 + 1e-9).contains(&self.place(*x))).collect();
        }
        let raw = self.to / 5.0 - self.from / 5.0;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| m * power >= raw).unwrap_or(10.0) * power;
        let first = (self.from / step).ceil();
        let ticks = (0..12).map(|i| (first + f64::from(i)) * step);
        ticks
            .take_while(|x| *x <= self.to + step * 1e-9)
            .map(|x| if x.abs() < step * 1e-9 { 0.0 } else { x })
            .collect()
    }
}

/// What a picture is drawn into.
pub(super) struct Frame {
    pub(super) svg: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
}

pub(super) fn opening(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n<style>{STYLE}</style>\n"
    )
}

impl Frame {
    /// A frame with its numbers and names.
    pub(super) fn new(x: Axis, y: Axis, title: &str, names: [&str; 2]) -> Frame {
        let mut frame = Frame { svg: opening(WIDTH, HEIGHT), x, y };
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        // Writing to a string cannot fail, here and below.
        for tick in x.ticks() {
            let (at, text) = (frame.across(tick), short(tick));
            let _ = writeln!(frame.svg, "<path class=\"grid\" d=\"M{at:.1} {TOP}V{bottom}\"/>");
            let _ = writeln!(
                frame.svg,
                "<text class=\"x\" x=\"{at:.1}\" y=\"{:.1}\">{text}</text>",
                bottom + 17.0
            );
        }
        for tick in y.ticks() {
            let (at, text) = (frame.up(tick), short(tick));
            let _ = writeln!(frame.svg, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/>");
            let _ = writeln!(
                frame.svg,
                "<text class=\"y\" x=\"{:.1}\" y=\"{:.1}\">{text}</text>",
                LEFT - 6.0,
                at + 4.0
            );
        }
        let (w, h) = (right - LEFT, bottom - TOP);
        let _ = writeln!(
            frame.svg,
            "<rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{w}\" height=\"{h}\"/>"
        );
        let middle = LEFT + w / 2.0;
        let _ = writeln!(frame.svg, "<text class=\"title\" x=\"{middle}\" y=\"20\">{}</text>", escape(title));
        let _ = writeln!(
            frame.svg,
            "<text class=\"x\" x=\"{middle}\" y=\"{}\">{}</text>",
            HEIGHT - 12.0,
            escape(names[0])
        );
        let across = TOP + h / 2.0;
        let _ = writeln!(
            frame.svg,
            "<text class=\"x\" x=\"16\" y=\"{across}\" transform=\"rotate(-90 16 {across})\">{}</text>",
            escape(names[1])
        );
        frame
    }

    pub(super) fn across(&self, x: f64) -> f64 {
        LEFT + self.x.place(x) * (WIDTH - LEFT - RIGHT)
    }

    pub(super) fn up(&self, y: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.place(y) * (HEIGHT - TOP - BOTTOM)
    }

    /// Names of colours, at the right above.
    pub(super) fn legend(&mut self, entries: &[(&str, &str)]) {
        for (i, (name, colour)) in entries.iter().enumerate() {
            let (x, y) = (WIDTH - RIGHT - 12.0, TOP + 16.0 + 17.0 * i as f64);
            let _ = writeln!(
                self.svg,
                "<path d=\"M{} {}h14\" stroke=\"{colour}\" stroke-width=\"3\"/>",
                x - 10.0,
                y - 4.0
            );
            let _ =
                writeln!(self.svg, "<text class=\"y\" x=\"{}\" y=\"{y}\">{}</text>", x - 15.0, escape(name));
        }
    }

    pub(super) fn done(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}
