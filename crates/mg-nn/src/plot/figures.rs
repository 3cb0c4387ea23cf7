//! The pictures.

use std::fmt::Write as _;

use super::axes::{Axis, Frame, escape, opening, short};
use crate::watch::png::{Image, base64};
use crate::watch::spread;

/// Colours that people who see few of them can tell apart (Okabe and Ito, 2008).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999"];

/// Ten of them, for groups of points: Tableau's.
const MANY: [&str; 10] = [
    "#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#ff9da7", "#9c755f",
    "#7f7f7f",
];

/// What stands beside curves, and beside points.
#[derive(Clone, Copy, Debug, Default)]
pub struct Curves<'a> {
    /// Above it.
    pub title: &'a str,
    /// Below it.
    pub xlabel: &'a str,
    /// At its left.
    pub ylabel: &'a str,
    /// Whether the upright axis is logarithmic; what is not positive is left out.
    pub log: bool,
}

/// Named curves through points. Points that are not finite are gaps.
///
/// ```
/// use mg_nn::plot::{Curves, curves};
///
/// let svg = curves(&[("loss", vec![(1.0, 0.5), (2.0, 0.25)])], Curves { title: "Training", ..Curves::default() });
/// assert!(svg.starts_with("<svg") && svg.contains("Training"));
/// ```
#[must_use]
pub fn curves(series: &[(&str, Vec<(f64, f64)>)], words: Curves<'_>) -> String {
    let points = || series.iter().flat_map(|(_, points)| points.iter().copied());
    let (x, y) = (Axis::of(points().map(|p| p.0), false), Axis::of(points().map(|p| p.1), words.log));
    let mut frame = Frame::new(x, y, words.title, [words.xlabel, words.ylabel]);
    let colour = |i: usize| COLOURS[i % COLOURS.len()];
    for (i, (_, points)) in series.iter().enumerate() {
        let mut path = String::new();
        let mut pen = 'M';
        for &(x, y) in points {
            if !x.is_finite() || !y.is_finite() || words.log && y <= 0.0 {
                pen = 'M';
                continue;
            }
            // Writing to a string cannot fail, here and below.
            let _ = write!(path, "{pen}{:.1} {:.1}", frame.across(x), frame.up(y));
            pen = 'L';
        }
        // A point alone is seen by its round ends.
        let _ = writeln!(
            frame.svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" stroke-linecap=\"round\" \
             stroke-linejoin=\"round\"/>",
            colour(i)
        );
    }
    if series.len() > 1 {
        let names: Vec<(&str, &str)> =
            series.iter().enumerate().map(|(i, (name, _))| (*name, colour(i))).collect();
        frame.legend(&names);
    }
    frame.done()
}

/// Named groups of points, each in a colour of its own. Points that are not finite are left out.
///
/// ```
/// use mg_nn::plot::{Curves, scatter};
///
/// let svg = scatter(&[("cats", vec![(1.0, 0.5)]), ("dogs", vec![(2.0, 0.25)])], Curves::default());
/// assert_eq!(svg.matches("<circle").count(), 2);
/// ```
#[must_use]
pub fn scatter(groups: &[(&str, Vec<(f64, f64)>)], words: Curves<'_>) -> String {
    let points = || groups.iter().flat_map(|(_, points)| points.iter().copied());
    let (x, y) = (Axis::of(points().map(|p| p.0), false), Axis::of(points().map(|p| p.1), words.log));
    let mut frame = Frame::new(x, y, words.title, [words.xlabel, words.ylabel]);
    // Many points are small ones, so that they can be told apart.
    let radius = if points().count() > 500 { 1.8 } else { 3.0 };
    let colour = |i: usize| MANY[i % MANY.len()];
    for (i, (_, points)) in groups.iter().enumerate() {
        let _ = writeln!(frame.svg, "<g fill=\"{}\" fill-opacity=\"0.75\">", colour(i));
        for &(x, y) in points {
            if x.is_finite() && y.is_finite() && !(words.log && y <= 0.0) {
                let (x, y) = (frame.across(x), frame.up(y));
                let _ = writeln!(frame.svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>");
            }
        }
        frame.svg.push_str("</g>\n");
    }
    if groups.len() > 1 {
        let names: Vec<(&str, &str)> =
            groups.iter().enumerate().map(|(i, (name, _))| (*name, colour(i))).collect();
        frame.legend(&names);
    }
    frame.done()
}

/// How numbers are spread over so many bins.
#[must_use]
pub fn histogram(values: &[f64], bins: usize, title: &str) -> String {
    let (limits, counts) = spread(values, bins);
    let x = Axis::of(limits.iter().copied(), false);
    let y = Axis::of(counts.iter().copied().chain([0.0]), false);
    let mut frame = Frame::new(x, y, title, ["", "count"]);
    for (bounds, &count) in limits.windows(2).zip(&counts) {
        let (left, right) = (frame.across(bounds[0]), frame.across(bounds[1]));
        let (top, bottom) = (frame.up(count), frame.up(0.0));
        let _ = writeln!(
            frame.svg,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"/>",
            (right - left - 0.5).max(0.5),
            bottom - top,
            COLOURS[0]
        );
    }
    frame.done()
}

/// Images side by side, so many in a row, each pixel so many pixels wide.
#[must_use]
pub fn images(all: &[Image], columns: usize, scale: f64) -> String {
    let columns = columns.clamp(1, all.len().max(1));
    let cell = |size: fn(&Image) -> usize| all.iter().map(size).max().unwrap_or(0) as f64 * scale + 4.0;
    let (width, height) = (cell(|i| i.width), cell(|i| i.height));
    let rows = all.len().div_ceil(columns);
    let mut svg = opening(width * columns as f64 + 4.0, height * rows as f64 + 4.0);
    for (i, image) in all.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<image x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" style=\"image-rendering:pixelated\" \
             href=\"data:image/png;base64,{}\"/>",
            (i % columns) as f64 * width + 4.0,
            (i / columns) as f64 * height + 4.0,
            image.width as f64 * scale,
            image.height as f64 * scale,
            base64(&image.to_png())
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// A confusion matrix: a row for each label, a column for each prediction; the darker, the more of its row.
#[must_use]
pub fn confusion_matrix(matrix: &[Vec<f64>], names: &[&str], title: &str) -> String {
    let n = matrix.len();
    let cell = (420.0 / n.max(1) as f64).clamp(18.0, 64.0);
    let name = |i: usize| names.get(i).map_or_else(|| i.to_string(), |name| escape(name));
    let longest = (0..n).map(|i| name(i).chars().count()).max().unwrap_or(0) as f64;
    let (left, top) = (longest * 7.0 + 40.0, 54.0);
    let (width, height) = (left + cell * n as f64 + 16.0, top + cell * n as f64 + 34.0);
    let mut svg = opening(width, height);
    let middle = left + cell * n as f64 / 2.0;
    let _ = writeln!(svg, "<text class=\"title\" x=\"{middle:.1}\" y=\"20\">{}</text>", escape(title));
    let _ = writeln!(svg, "<text class=\"x\" x=\"{middle:.1}\" y=\"{:.1}\">prediction</text>", height - 10.0);
    let _ = writeln!(
        svg,
        "<text class=\"x\" x=\"14\" y=\"{0:.1}\" transform=\"rotate(-90 14 {0:.1})\">label</text>",
        top + cell * n as f64 / 2.0
    );
    for (i, row) in matrix.iter().enumerate() {
        let y = top + cell * i as f64;
        let _ = writeln!(
            svg,
            "<text class=\"y\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            left - 6.0,
            y + cell / 2.0 + 4.0,
            name(i)
        );
        let _ = writeln!(
            svg,
            "<text class=\"x\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            left + cell * (i as f64 + 0.5),
            top - 6.0,
            name(i)
        );
        let total: f64 = row.iter().filter(|x| x.is_finite()).sum();
        for (j, &count) in row.iter().enumerate() {
            let part = if total > 0.0 { (count / total).clamp(0.0, 1.0) } else { 0.0 };
            let x = left + cell * j as f64;
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{cell:.1}\" height=\"{cell:.1}\" fill=\"{}\" \
                 fill-opacity=\"{part:.3}\" stroke=\"#8884\"/>",
                COLOURS[0]
            );
            if cell >= 24.0 {
                let style = if part > 0.5 { " style=\"fill:#fff\"" } else { "" };
                let text = if count.fract() == 0.0 { short(count) } else { format!("{count:.2}") };
                let (x, y) = (x + cell / 2.0, y + cell / 2.0 + 4.0);
                let _ = writeln!(svg, "<text class=\"x\" x=\"{x:.1}\" y=\"{y:.1}\"{style}>{text}</text>");
            }
        }
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_the_numbers_there_is_a_picture() {
        let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, 1e-300];
        for log in [false, true] {
            for values in [&odd[..], &odd[..1], &odd[2..3], &[]] {
                let points = values.iter().map(|&y| (y, y)).collect();
                let svg = curves(
                    &[("a<b", points), ("c", vec![])],
                    Curves { title: "x & y", log, ..Curves::default() },
                );
                assert!(svg.contains("x &amp; y") && svg.contains("a&lt;b") && svg.ends_with("</svg>\n"));
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
                let points = values.iter().map(|&y| (y, y)).collect();
                let svg = scatter(&[("a", points), ("b", vec![])], Curves { log, ..Curves::default() });
                assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
                assert!(!histogram(values, 5, "").contains("NaN"));
            }
        }
        assert!(images(&[], 3, 1.0).contains("<svg"));
        assert!(confusion_matrix(&[], &[], "").contains("<svg"));
    }

    #[test]
    fn images_are_portable_network_graphics() {
        let image = Image::of_planes(&[0.0, 1.0, 2.0, 0.5], 1, 2, 2);
        assert_eq!(image.pixels, [0, 255, 255, 128]);
        let png = image.to_png();
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(base64(b"ab"), "YWI=");
        assert!(images(&[image], 1, 4.0).contains("data:image/png;base64,"));
    }
}
