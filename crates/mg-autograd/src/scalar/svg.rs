//! A graph as an SVG picture.

use std::fmt::Write as _;

use super::draw::{Direction, Record};
use super::layout::{Size, layered};

/// Text is monospace at 12 pixels, so its width is known without a font.
const CHAR: f64 = 7.25;
const PAD: f64 = 9.0;
const HEIGHT: f64 = 28.0;
/// Between the circle of an operation and the record of its result.
const STEM: f64 = 22.0;
const MARGIN: f64 = 12.0;

const STYLE: &str = "\
.edge{fill:none;stroke:#555;stroke-width:1.1}\
.head{fill:#555}\
.box,.op{fill:#fff;stroke:#222;stroke-width:1.2}\
.leaf{fill:#f3f7fc}\
.bar{stroke:#222;stroke-width:1}\
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#111;\
text-anchor:middle;dominant-baseline:central}\
.name{font-weight:600}\
.grad{fill:#8a3ffc}\
@media(prefers-color-scheme:dark){\
.edge,.bar,.box,.op{stroke:#aaa}.head{fill:#aaa}.box,.op{fill:#1b1b1f}.leaf{fill:#1c2733}text{fill:#eee}\
.grad{fill:#c79bff}}";

fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHAR
}

/// Half the width of an operation's ellipse.
fn op_radius(op: &str) -> f64 {
    (text_width(op) / 2.0 + 7.0).max(HEIGHT / 2.0)
}

fn box_width(record: &Record) -> f64 {
    record.cells.iter().map(|c| text_width(c) + 2.0 * PAD).sum()
}

pub(super) fn draw(records: &[Record], direction: Direction) -> String {
    let across = direction == Direction::LeftToRight;
    let size = |r: &Record| {
        let (width, has_op) = (box_width(r), !r.op.is_empty());
        if across {
            let before = if has_op { 2.0 * op_radius(&r.op) + STEM } else { 0.0 };
            Size { main: before + width, cross: HEIGHT }
        } else {
            let before = if has_op { HEIGHT + STEM } else { 0.0 };
            Size { main: before + HEIGHT, cross: width.max(2.0 * op_radius(&r.op)) }
        }
    };
    let sizes: Vec<Size> = records.iter().map(size).collect();
    let edges: Vec<(usize, usize)> =
        records.iter().enumerate().flat_map(|(i, r)| r.operands.iter().map(move |&p| (p, i))).collect();
    let layout = layered(&sizes, &edges);

    let place = |(main, cross): (f64, f64)| {
        let (x, y) = if across { (main, cross) } else { (cross, main) };
        (x + MARGIN, y + MARGIN)
    };
    let (width, height) = place((layout.extent.main, layout.extent.cross));
    let (width, height) = (width + MARGIN, height + MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.1} {height:.1}\" role=\"img\">\n<style>{STYLE}</style>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path class=\"head\" d=\"M0 1 8 4 0 7z\"/></marker></defs>\n"
    );
    for route in &layout.routes {
        edge(&mut svg, route, place, across);
    }
    for (record, &end) in records.iter().zip(&layout.ends) {
        let (x, y) = place(end);
        let width = box_width(record);
        let left = if across { x - width } else { x - width / 2.0 };
        let top = if across { y - HEIGHT / 2.0 } else { y - HEIGHT };
        value(&mut svg, record, left, top, width);
        if !record.op.is_empty() {
            let rx = op_radius(&record.op);
            let (cx, cy) = if across { (left - STEM - rx, y) } else { (x, top - STEM - HEIGHT / 2.0) };
            let d = if across {
                format!("M{:.1} {cy:.1}H{left:.1}", cx + rx)
            } else {
                format!("M{cx:.1} {:.1}V{top:.1}", cy + HEIGHT / 2.0)
            };
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(
                svg,
                "<path class=\"edge\" marker-end=\"url(#head)\" d=\"{d}\"/>\
                 <ellipse class=\"op\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" rx=\"{rx:.1}\" ry=\"{:.1}\"/>\
                 <text x=\"{cx:.1}\" y=\"{cy:.1}\">{}</text>",
                HEIGHT / 2.0,
                escape(&record.op)
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// A record: its cells side by side, with bars between.
fn value(svg: &mut String, record: &Record, left: f64, top: f64, width: f64) {
    let leaf = if record.op.is_empty() { " leaf" } else { "" };
    let _ = write!(
        svg,
        "<g><title>{}</title><rect class=\"box{leaf}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
         height=\"{HEIGHT}\" rx=\"3\"/>",
        escape(&record.exact)
    );
    let (mut x, middle) = (left, top + HEIGHT / 2.0);
    for (i, cell) in record.cells.iter().enumerate() {
        if i > 0 {
            let _ = write!(svg, "<path class=\"bar\" d=\"M{x:.1} {top:.1}v{HEIGHT}\"/>");
        }
        let class = match cell.split(' ').next() {
            _ if i == 0 && record.named => " class=\"name\"",
            Some("grad") => " class=\"grad\"",
            _ => "",
        };
        let cell_width = text_width(cell) + 2.0 * PAD;
        let centre = x + cell_width / 2.0;
        let _ = write!(svg, "<text{class} x=\"{centre:.1}\" y=\"{middle:.1}\">{}</text>", escape(cell));
        x += cell_width;
    }
    svg.push_str("</g>\n");
}

/// An edge: straight through the ranks, curved between them.
fn edge(svg: &mut String, route: &[(f64, f64, f64)], place: impl Fn((f64, f64)) -> (f64, f64), across: bool) {
    let mut d = String::new();
    for (i, &(start, end, cross)) in route.iter().enumerate() {
        let (x, y) = place((start, cross));
        if i == 0 {
            let _ = write!(d, "M{x:.1} {y:.1}");
        } else {
            let (x0, y0) = place((route[i - 1].1, route[i - 1].2));
            let (mx, my) = ((x0 + x) / 2.0, (y0 + y) / 2.0);
            let _ = if across {
                write!(d, "C{mx:.1} {y0:.1} {mx:.1} {y:.1} {x:.1} {y:.1}")
            } else {
                write!(d, "C{x0:.1} {my:.1} {x:.1} {my:.1} {x:.1} {y:.1}")
            };
        }
        if end > start {
            let (x, y) = place((end, cross));
            let _ = write!(d, "L{x:.1} {y:.1}");
        }
    }
    let _ = writeln!(svg, "<path class=\"edge\" marker-end=\"url(#head)\" d=\"{d}\"/>");
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Other control characters are not allowed in XML at all.
            c if c.is_control() && c != '\n' => {}
            c => escaped.push(c),
        }
    }
    escaped
}
