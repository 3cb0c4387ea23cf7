//! Drawings of a graph: what is shown, and Graphviz DOT. The SVG is drawn in `svg.rs`, with no program to install.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::str::FromStr;

use mg_device::{Error, ErrorKind};

use super::{Value, backward, svg};

/// Which way a drawing grows, from operands to results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// From left to right.
    #[default]
    LeftToRight,
    /// From top to bottom.
    TopToBottom,
}

impl Direction {
    const fn rankdir(self) -> &'static str {
        match self {
            Direction::LeftToRight => "LR",
            Direction::TopToBottom => "TB",
        }
    }
}

impl FromStr for Direction {
    type Err = Error;

    /// Takes "LR" and "TB", as Graphviz writes them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for anything else.
    #[track_caller]
    fn from_str(text: &str) -> Result<Direction, Error> {
        match text {
            "LR" => Ok(Direction::LeftToRight),
            "TB" => Ok(Direction::TopToBottom),
            _ => {
                let text = format!("a drawing's direction is \"LR\" or \"TB\"; got {text:?}");
                Err(Error::new("draw", ErrorKind::Value(text)))
            }
        }
    }
}

/// One value as it is drawn: a record, and a circle before it if it has an operation.
pub(super) struct Record {
    pub(super) cells: Vec<String>,
    /// Whether the first cell is a name.
    pub(super) named: bool,
    pub(super) op: String,
    /// Positions of the operands' records, each once and before this one.
    pub(super) operands: Vec<usize>,
    /// Every digit, for a tooltip.
    pub(super) exact: String,
}

/// The records of a graph, each behind its operands. A number that was an operand has a record of its own, as in
/// micrograd, where it is a value.
pub(super) fn records(root: &Value) -> Vec<Record> {
    let trace = backward::trace([root]);
    let devices = trace.iter().any(|v| v.device().is_cuda());
    let mut records: Vec<Record> = Vec::with_capacity(trace.len());
    let mut position = HashMap::with_capacity(trace.len());
    for value in &trace {
        let mut operands: Vec<usize> = Vec::new();
        value.for_each_operand(|p| {
            let at = position[&p.id()];
            if !operands.contains(&at) {
                operands.push(at);
            }
        });
        let device = devices.then(|| value.device().to_string());
        if let Some((data, grad)) = value.shown_number() {
            operands.push(records.len());
            records.push(record(None, data, grad, device.clone(), String::new(), Vec::new()));
        }
        position.insert(value.id(), records.len());
        let op = value.op().into_owned();
        records.push(record(value.label(), value.data(), value.grad(), device, op, operands));
    }
    records
}

fn record(
    label: Option<String>,
    data: f64,
    grad: f64,
    device: Option<String>,
    op: String,
    operands: Vec<usize>,
) -> Record {
    let mut cells: Vec<String> = label.into_iter().filter(|l| !l.is_empty()).collect();
    let named = !cells.is_empty();
    cells.extend([format!("data {data:.4}"), format!("grad {grad:.4}")]);
    cells.extend(device);
    Record { cells, named, op, operands, exact: format!("data {data:?}\ngrad {grad:?}") }
}

impl Value {
    /// The graph in Graphviz's DOT language, drawn as micrograd draws it: a record `label | data | grad` for each value,
    /// a circle for each operation.
    ///
    /// # Examples
    ///
    /// ```
    /// use mg_autograd::scalar::{Direction, Value};
    ///
    /// let a = Value::new(2.0).labelled("a");
    /// let dot = a.pow(3.0).to_dot(Direction::LeftToRight);
    /// assert!(dot.contains("{ a | data 2.0000 | grad 0.0000 }"));
    /// ```
    #[must_use]
    pub fn to_dot(&self, direction: Direction) -> String {
        let mut dot = format!("digraph {{\n\trankdir={}\n", direction.rankdir());
        for (i, record) in records(self).iter().enumerate() {
            let cells: Vec<String> = record.cells.iter().map(|c| escape_record(c)).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(dot, "\tn{i} [label=\"{{ {} }}\" shape=record]", cells.join(" | "));
            if !record.op.is_empty() {
                let _ = writeln!(dot, "\to{i} [label=\"{}\"]\n\to{i} -> n{i}", record.op);
                for p in &record.operands {
                    let _ = writeln!(dot, "\tn{p} -> o{i}");
                }
            }
        }
        dot.push_str("}\n");
        dot
    }

    /// The graph as an SVG picture, in micrograd's look. Graphviz is not needed. The numbers show every digit when the
    /// mouse rests on them, and the colours follow the viewer's light or dark theme.
    #[must_use]
    pub fn to_svg(&self, direction: Direction) -> String {
        svg::draw(&records(self), direction)
    }
}

/// Escapes what has a meaning in a record label inside a quoted string.
fn escape_record(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '{' | '}' | '|' | '<' | '>' => escaped.extend(['\\', c]),
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\\\\\"),
            '\n' => escaped.push_str("\\n"),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}
