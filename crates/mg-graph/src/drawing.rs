//! A plan as a picture: its launches as boxes, those that wait for others below them.

use std::fmt::Write as _;

use crate::explain::{Explanation, LaunchInfo, bytes, joined};

const WIDTH: usize = 250;
const HEIGHT: usize = 52;
const ACROSS: usize = 24;
const DOWN: usize = 30;
/// Characters that a line of a box has room for.
const LONGEST: usize = 38;

/// A text as XML has it, cut to what there is room for.
fn text(line: &str) -> String {
    let is_long = line.chars().count() > LONGEST;
    let mut out = String::new();
    for c in line.chars().take(if is_long { LONGEST - 1 } else { LONGEST }) {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
    if is_long {
        out.push('…');
    }
    out
}

/// How many launches are one behind the other before each.
fn levels(launches: &[LaunchInfo]) -> Vec<usize> {
    let mut levels: Vec<usize> = Vec::with_capacity(launches.len());
    for launch in launches {
        // Launches stand in an order in which they can run.
        let before = launch.after.iter().filter_map(|&from| levels.get(from));
        levels.push(before.max().map_or(0, |level| level + 1));
    }
    levels
}

impl Explanation {
    /// The launches as an SVG picture, for a browser or a notebook: a box for each, with lines from those that it waits for.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let levels = levels(&self.launches);
        let mut beside = vec![0; levels.iter().max().map_or(0, |most| most + 1)];
        let places: Vec<(usize, usize)> = levels
            .iter()
            .map(|&level| {
                let x = ACROSS / 2 + beside[level] * (WIDTH + ACROSS);
                beside[level] += 1;
                (x, DOWN / 2 + level * (HEIGHT + DOWN))
            })
            .collect();
        let width = beside.iter().max().copied().unwrap_or(0).max(1) * (WIDTH + ACROSS);
        let height = beside.len().max(1) * (HEIGHT + DOWN);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"monospace\" font-size=\"10\">\n"
        );
        for (launch, &(x, y)) in self.launches.iter().zip(&places) {
            for &(from_x, from_y) in launch.after.iter().filter_map(|&from| places.get(from)) {
                let (start, end, middle) = (from_y + HEIGHT, y, (from_y + HEIGHT + y) / 2);
                let (from_x, x) = (from_x + WIDTH / 2, x + WIDTH / 2);
                let _ = writeln!(
                    svg,
                    "<path d=\"M{from_x} {start} C{from_x} {middle} {x} {middle} {x} {end}\" fill=\"none\" stroke=\"#888\"/>"
                );
            }
        }
        for (launch, &(x, y)) in self.launches.iter().zip(&places) {
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"4\" fill=\"#eef3fa\" stroke=\"#4477aa\"/>"
            );
            let lines = [
                format!("{} {:?}", launch.kind, launch.shape),
                joined(&launch.operations),
                format!("reads {}, writes {}", bytes(launch.bytes_read), bytes(launch.bytes_written)),
            ];
            for (i, line) in lines.iter().enumerate() {
                let (x, y) = (x + 8, y + 16 + 14 * i);
                let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" fill=\"#222\">{}</text>", text(line));
            }
        }
        svg.push_str("</svg>\n");
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(kind: &str, after: &[usize]) -> LaunchInfo {
        LaunchInfo { kind: kind.into(), after: after.into(), ..LaunchInfo::default() }
    }

    #[test]
    fn what_waits_stands_below() {
        let launches = vec![launch("a", &[]), launch("b<&\"", &[]), launch("c", &[0, 1]), launch("d", &[2])];
        assert_eq!(levels(&launches), [0, 0, 1, 2]);
        let svg = Explanation { launches, temporary_bytes: 0 }.to_svg();
        assert_eq!((svg.matches("<rect ").count(), svg.matches("<path ").count()), (4, 3));
        assert!(svg.contains("b&lt;&amp;&quot; []"), "{svg}");
        // Two beside each other, three below each other.
        assert!(svg.contains("width=\"548\" height=\"246\""), "{svg}");
    }

    #[test]
    fn long_lines_are_cut_and_no_launch_is_a_picture() {
        assert_eq!(text(&"é".repeat(50)), "é".repeat(LONGEST - 1) + "…");
        assert_eq!(text(&"x".repeat(LONGEST)), "x".repeat(LONGEST));
        let svg = Explanation { launches: vec![], temporary_bytes: 0 }.to_svg();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }
}
