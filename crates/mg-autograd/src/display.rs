//! How tensors print: as in PyTorch, with the dtype always. `{}` shows the elements and computes them if need be; `{:?}`
//! tells what the tensor is and computes nothing.

use crate::tensor::{Tensor, element};
use mg_device::{Buffer, DType, Layout, Result};
use std::fmt::{self, Display, Formatter};

/// Beyond so many elements, the middle of long axes is left out.
const THRESHOLD: usize = 1000;
/// How many positions of a shortened axis are shown at either end.
const EDGE: usize = 3;
/// Digits after the point.
const PRECISION: usize = 4;
/// The width of a line.
const WIDTH: usize = 80;
/// Every text starts with this, and rows are aligned behind it.
const OPENING: &str = "tensor(";

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let node = self.node();
        write!(f, "Tensor({} {} on {}", node.dtype(), node.shape(), node.device())?;
        if self.requires_grad() {
            f.write_str(", requires_grad")?;
        }
        match node.value() {
            None => write!(f, ", pending {})", node.op().name()),
            Some(Ok(_)) => f.write_str(")"),
            Some(Err(error)) => write!(f, ", failed: {error})"),
        }
    }
}

impl Display for Tensor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match text(self) {
            Ok(text) => f.write_str(&text),
            // Printing is where people look for what went wrong: it says so, and stops nothing.
            Err(error) => write!(f, "{OPENING}failed: {error})"),
        }
    }
}

fn text(tensor: &Tensor) -> Result<String> {
    let value = tensor.value()?;
    let shape = *value.layout.shape();
    let mut suffixes = vec![];
    let mut out = String::from(OPENING);
    if shape.numel() == 0 {
        out.push_str("[]");
        if shape.rank() != 1 {
            let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
            suffixes.push(format!("size=({})", sizes.join(", ")));
        }
    } else {
        let rows = Rows::new(&value.buffer, value.layout)?;
        rows.write(&mut out, 0, value.layout.offset() as isize);
    }
    suffixes.push(format!("dtype={}", tensor.dtype()));
    if !tensor.device().is_cpu() {
        suffixes.push(format!("device={}", tensor.device()));
    }
    if tensor.is_leaf() && tensor.requires_grad() {
        suffixes.push("requires_grad=True".into());
    } else if tensor.requires_grad() {
        suffixes.push(format!("grad_fn=<{}>", tensor.node().op().name()));
    }
    let mut column = out.len() - out.rfind('\n').map_or(0, |at| at + 1);
    for suffix in suffixes {
        if column + suffix.len() + 3 > WIDTH {
            out.push_str(",\n");
            out.push_str(&" ".repeat(OPENING.len()));
            column = OPENING.len();
        } else {
            out.push_str(", ");
            column += 2;
        }
        column += suffix.len();
        out.push_str(&suffix);
    }
    out.push(')');
    Ok(out)
}

/// The elements that are shown, as text.
struct Rows {
    layout: Layout,
    /// Texts by offset in the buffer: only what is shown is read.
    cells: std::collections::HashMap<isize, String>,
    width: usize,
    shorten: bool,
}

impl Rows {
    fn new(buffer: &Buffer, layout: Layout) -> Result<Rows> {
        let mut rows =
            Rows { layout, cells: Default::default(), width: 0, shorten: layout.numel() > THRESHOLD };
        let mut shown = vec![];
        rows.collect(0, layout.offset() as isize, &mut shown);
        let format = Format::new(buffer, &shown)?;
        for at in shown {
            let text = format.text(buffer, at as usize)?;
            rows.width = rows.width.max(text.len());
            rows.cells.insert(at, text);
        }
        Ok(rows)
    }

    /// The positions shown along an axis; `None` stands for those left out.
    fn positions(&self, axis: usize) -> impl Iterator<Item = Option<usize>> + use<> {
        let n = self.layout.shape()[axis];
        let shorten = self.shorten && n > 2 * EDGE;
        let (head, tail) = if shorten { (EDGE, n - EDGE) } else { (n, n) };
        let gap = shorten.then_some(None);
        (0..head).map(Some).chain(gap).chain((tail..n).map(Some))
    }

    fn collect(&self, axis: usize, at: isize, out: &mut Vec<isize>) {
        if axis == self.layout.rank() {
            out.push(at);
            return;
        }
        let stride = self.layout.strides()[axis];
        for i in self.positions(axis).flatten() {
            self.collect(axis + 1, at + i as isize * stride, out);
        }
    }

    fn cell(&self, at: isize) -> String {
        format!("{:>1$}", self.cells.get(&at).map_or("", String::as_str), self.width)
    }

    fn write(&self, out: &mut String, axis: usize, at: isize) {
        let rank = self.layout.rank();
        if rank == 0 {
            out.push_str(&self.cell(at));
            return;
        }
        let stride = self.layout.strides()[axis];
        let indent = " ".repeat(OPENING.len() + axis + 1);
        out.push('[');
        if axis + 1 == rank {
            let a_line = ((WIDTH - indent.len()) / (self.width + 2)).max(1);
            for (i, position) in self.positions(axis).enumerate() {
                match i {
                    0 => {}
                    _ if i % a_line == 0 => {
                        out.push_str(",\n");
                        out.push_str(&indent);
                    }
                    _ => out.push_str(", "),
                }
                match position {
                    Some(i) => out.push_str(&self.cell(at + i as isize * stride)),
                    None => out.push_str(" ..."),
                }
            }
        } else {
            for (i, position) in self.positions(axis).enumerate() {
                if i > 0 {
                    out.push(',');
                    out.push_str(&"\n".repeat(rank - 1 - axis));
                    out.push_str(&indent);
                }
                match position {
                    Some(i) => self.write(out, axis + 1, at + i as isize * stride),
                    None => out.push_str("..."),
                }
            }
        }
        out.push(']');
    }
}

/// How the numbers of one tensor are written: all alike.
enum Format {
    /// Integers and truth values.
    Exact,
    /// Floats that are whole: `3.`
    Whole,
    /// A fixed number of digits after the point.
    Fixed,
    /// With an exponent.
    Scientific,
}

impl Format {
    fn new(buffer: &Buffer, shown: &[isize]) -> Result<Format> {
        if !buffer.dtype().is_float() {
            return Ok(Format::Exact);
        }
        let (mut least, mut most, mut whole) = (f64::INFINITY, 0f64, true);
        for &at in shown {
            let v = element(buffer, at as usize)?;
            if v.is_finite() && v != 0.0 {
                (least, most) = (least.min(v.abs()), most.max(v.abs()));
                whole &= v == v.trunc();
            }
        }
        let wide = most > 0.0 && (most / least > 1e3 || most > 1e8);
        Ok(match whole {
            true if wide => Format::Scientific,
            true => Format::Whole,
            false if wide || least < 1e-4 => Format::Scientific,
            false => Format::Fixed,
        })
    }

    fn text(&self, buffer: &Buffer, at: usize) -> Result<String> {
        match buffer.dtype() {
            DType::Bool => return Ok(if buffer.as_slice::<bool>()?[at] { "True" } else { "False" }.into()),
            // Through f64, large ones would lose digits.
            DType::I64 => return Ok(buffer.as_slice::<i64>()?[at].to_string()),
            _ => {}
        }
        let v = element(buffer, at)?;
        Ok(match self {
            _ if v.is_nan() => "nan".into(),
            _ if v.is_infinite() => if v > 0.0 { "inf" } else { "-inf" }.into(),
            Format::Exact => format!("{v:.0}"),
            Format::Whole => format!("{v:.0}."),
            Format::Fixed => format!("{v:.PRECISION$}"),
            Format::Scientific => scientific(v),
        })
    }
}

/// `1.2346e-05`: the exponent with its sign and two digits at least, as C writes it.
fn scientific(v: f64) -> String {
    let text = format!("{v:.PRECISION$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => match exponent.strip_prefix('-') {
            Some(digits) => format!("{mantissa}e-{digits:0>2}"),
            None => format!("{mantissa}e+{exponent:0>2}"),
        },
        None => text,
    }
}
