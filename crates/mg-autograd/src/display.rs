//! How tensors print: as in PyTorch, with the dtype where it is not what numbers alone would have got. `{}` shows the elements
//! and computes them if need be; `{:?}` tells what the tensor is and computes nothing.

use crate::tensor::{Tensor, element};
use mg_device::{Buffer, Category, DType, Layout, Result};
use std::fmt::{self, Display, Formatter};
use std::sync::{PoisonError, RwLock};

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

impl Tensor {
    /// The text of `{}`, with other names for dtypes.
    #[doc(hidden)]
    #[must_use]
    pub fn text(&self, name: fn(DType) -> String) -> String {
        // Printing is where people look for what went wrong: it says so, and stops nothing.
        text(self, name).unwrap_or_else(|error| format!("{OPENING}failed: {error})"))
    }
}

impl Display for Tensor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(|dtype| dtype.name().into()))
    }
}

fn text(tensor: &Tensor, name: fn(DType) -> String) -> Result<String> {
    if tensor.current_is_traced() {
        // An example of many.
        return Ok(format!("{OPENING}..., shape={}, dtype={})", tensor.shape(), name(tensor.dtype())));
    }
    mg_graph::note_printing();
    let value = tensor.host_value()?;
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
    let options = print_options();
    let dtype = tensor.dtype();
    let understood = match dtype.category() {
        Category::Float => dtype == DType::default_float(),
        Category::Integer => dtype == DType::I64 && shape.numel() > 0,
        Category::Bool => shape.numel() > 0,
    };
    if !understood {
        suffixes.push(format!("dtype={}", name(dtype)));
    }
    if !tensor.device().is_cpu() {
        suffixes.push(format!("device={}", tensor.device()));
    }
    if tensor.is_leaf() && tensor.requires_grad() {
        suffixes.push("requires_grad=True".into());
    } else if let Some(history) = tensor.grad_fn() {
        suffixes.push(format!("grad_fn=<{}>", history.name()));
    }
    let mut column = out.len() - out.rfind('\n').map_or(0, |at| at + 1);
    for suffix in suffixes {
        if column + suffix.len() + 3 > options.width {
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

/// How tensors are printed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PrintOptions {
    /// Digits after the point.
    pub precision: usize,
    /// Elements beyond which the middle of each axis is left out.
    pub threshold: usize,
    /// Elements that are shown at each end of an axis then.
    pub edge_items: usize,
    /// Characters of a line.
    pub width: usize,
    /// Whether numbers have an exponent; where that is open their sizes decide.
    pub scientific: Option<bool>,
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions { precision: 4, threshold: 1000, edge_items: 3, width: 80, scientific: None }
    }
}

static OPTIONS: RwLock<Option<PrintOptions>> = RwLock::new(None);

/// How tensors are printed.
pub fn print_options() -> PrintOptions {
    OPTIONS.read().unwrap_or_else(PoisonError::into_inner).unwrap_or_default()
}

/// Says how tensors are printed from now on.
pub fn set_print_options(options: PrintOptions) {
    *OPTIONS.write().unwrap_or_else(PoisonError::into_inner) = Some(options);
}

/// The elements that are shown, as text.
struct Rows {
    layout: Layout,
    /// Texts by offset in the buffer: only what is shown is read.
    cells: std::collections::HashMap<isize, String>,
    width: usize,
    shorten: bool,
    options: PrintOptions,
}

impl Rows {
    fn new(buffer: &Buffer, layout: Layout) -> Result<Rows> {
        let options = print_options();
        let shorten = layout.numel() > options.threshold;
        let mut rows = Rows { layout, cells: Default::default(), width: 0, shorten, options };
        let mut shown = vec![];
        rows.collect(0, layout.offset() as isize, &mut shown);
        let format = Format::new(buffer, &shown, &rows.options)?;
        for at in shown {
            let text = format.text(buffer, at as usize, rows.options.precision)?;
            if format.is_exact() || is_measured(element(buffer, at as usize)?) {
                rows.width = rows.width.max(text.len());
            }
            rows.cells.insert(at, text);
        }
        Ok(rows)
    }

    /// The positions shown along an axis; `None` stands for those left out.
    fn positions(&self, axis: usize) -> impl Iterator<Item = Option<usize>> + use<> {
        let n = self.layout.shape()[axis];
        let edge = self.options.edge_items;
        let shorten = self.shorten && n > 2 * edge;
        let (head, tail) = if shorten { (edge, n - edge) } else { (n, n) };
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
            let a_line = (self.options.width.saturating_sub(indent.len()) / (self.width + 2)).max(1);
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

/// Whether the width of columns goes by a float: as in PyTorch, not by zeros and what is not finite.
fn is_measured(v: f64) -> bool {
    v.is_finite() && v != 0.0
}

impl Format {
    fn is_exact(&self) -> bool {
        matches!(self, Format::Exact)
    }

    fn new(buffer: &Buffer, shown: &[isize], options: &PrintOptions) -> Result<Format> {
        if !buffer.dtype().is_float() {
            return Ok(Format::Exact);
        }
        let (mut least, mut most, mut whole) = (f64::INFINITY, 0f64, true);
        for &at in shown {
            let v = element(buffer, at as usize)?;
            if is_measured(v) {
                (least, most) = (least.min(v.abs()), most.max(v.abs()));
                whole &= v == v.trunc();
            }
        }
        let wide = most > 0.0 && (most / least > 1e3 || most > 1e8);
        let scientific = options.scientific.unwrap_or(wide || !whole && least < 1e-4);
        Ok(match whole {
            _ if scientific => Format::Scientific,
            true => Format::Whole,
            false => Format::Fixed,
        })
    }

    fn text(&self, buffer: &Buffer, at: usize, precision: usize) -> Result<String> {
        match buffer.dtype() {
            DType::Bool => return Ok(if buffer.as_slice::<bool>()?[at] { "True" } else { "False" }.into()),
            // Through f64, large ones would lose digits.
            DType::I64 => return Ok(buffer.as_slice::<i64>()?[at].to_string()),
            DType::U64 => return Ok(buffer.as_slice::<u64>()?[at].to_string()),
            _ => {}
        }
        let v = element(buffer, at)?;
        Ok(match self {
            _ if v.is_nan() => "nan".into(),
            _ if v.is_infinite() => if v > 0.0 { "inf" } else { "-inf" }.into(),
            Format::Exact => format!("{v:.0}"),
            Format::Whole => format!("{v:.0}."),
            Format::Fixed => format!("{v:.precision$}"),
            Format::Scientific => scientific(v, precision),
        })
    }
}

/// `1.2346e-05`: the exponent with its sign and two digits at least, as C writes it.
fn scientific(v: f64, precision: usize) -> String {
    let text = format!("{v:.precision$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => match exponent.strip_prefix('-') {
            Some(digits) => format!("{mantissa}e-{digits:0>2}"),
            None => format!("{mantissa}e+{exponent:0>2}"),
        },
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mg_device::bf16;

    fn t<T: mg_device::Element>(shape: &[usize], data: &[T]) -> Tensor {
        Tensor::from_vec(data.to_vec(), shape).unwrap()
    }

    #[test]
    fn whole_numbers_and_fractions_are_aligned() {
        assert_eq!(t(&[2, 2], &[1.0f32, 2.0, 3.0, 4.0]).to_string(), "tensor([[1., 2.],\n        [3., 4.]])");
        assert_eq!(
            t(&[2, 2], &[0.5f64, -20.0, 3.0, 4.25]).to_string(),
            "tensor([[  0.5000, -20.0000],\n        [  3.0000,   4.2500]], dtype=f64)"
        );
        assert_eq!(t(&[3], &[1.0f32, f32::NAN, f32::NEG_INFINITY]).to_string(), "tensor([1., nan, -inf])");
        assert_eq!(t(&[3], &[0.0f32, -0.0, 7.0]).to_string(), "tensor([0., -0., 7.])");
        assert_eq!(Tensor::scalar(2.5f32).to_string(), "tensor(2.5000)");
        assert_eq!(Tensor::scalar(bf16::ONE).to_string(), "tensor(1., dtype=bf16)");
    }

    #[test]
    fn wide_ranges_have_exponents() {
        assert_eq!(t(&[2], &[1e-6f32, 2.0]).to_string(), "tensor([1.0000e-06, 2.0000e+00])");
        assert_eq!(t(&[2], &[1.0f64, 1e10]).to_string(), "tensor([1.0000e+00, 1.0000e+10], dtype=f64)");
        assert_eq!(t(&[1], &[1.5f64 * 1e-200]).to_string(), "tensor([1.5000e-200], dtype=f64)");
    }

    #[test]
    fn integers_keep_every_digit() {
        assert_eq!(
            t(&[2], &[i64::MAX, -1]).to_string(),
            "tensor([9223372036854775807,                  -1])"
        );
        assert_eq!(t(&[2], &[7u8, 255]).to_string(), "tensor([  7, 255], dtype=u8)");
        assert_eq!(t(&[2], &[true, false]).to_string(), "tensor([ True, False])");
    }

    #[test]
    fn blocks_are_apart_and_long_axes_shortened() {
        let cube = t(&[2, 1, 2], &[1i64, 2, 3, 4]);
        assert_eq!(cube.to_string(), "tensor([[[1, 2]],\n\n        [[3, 4]]])");
        let long = Tensor::arange(1001);
        assert_eq!(long.to_string(), "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
        assert!(!Tensor::arange(1000).to_string().contains("..."));
        let table = Tensor::arange(4000).reshape(&[1000, 4]).unwrap().to_string();
        let rows = [
            "tensor([[   0,    1,    2,    3],",
            "[   4,    5,    6,    7],",
            "[   8,    9,   10,   11],",
            "...,",
            "[3988, 3989, 3990, 3991],",
            "[3992, 3993, 3994, 3995],",
            "[3996, 3997, 3998, 3999]])",
        ];
        assert_eq!(table, rows.join("\n        "));
    }

    #[test]
    fn long_lines_are_broken() {
        let text = Tensor::arange(40).to_string();
        assert!(
            text.lines().all(|l| l.len() <= PrintOptions::default().width + 1) && text.lines().count() == 3,
            "{text}"
        );
        assert!(text.lines().nth(1).unwrap().starts_with("        1"), "{text}");
    }

    #[test]
    fn nothing_has_a_size() {
        assert_eq!(t::<f32>(&[0], &[]).to_string(), "tensor([])");
        assert_eq!(t::<f32>(&[2, 0], &[]).to_string(), "tensor([], size=(2, 0))");
    }

    #[test]
    fn gradients_are_mentioned() {
        let x = t(&[2], &[1.0f32, 2.0]).requires_grad_(true).unwrap();
        assert_eq!(x.to_string(), "tensor([1., 2.], requires_grad=True)");
        assert_eq!((&x * 2.0).to_string(), "tensor([2., 4.], grad_fn=<MulBackward0>)");
        assert_eq!(x.detach().to_string(), "tensor([1., 2.])");
    }

    #[test]
    fn views_print_what_they_show() {
        let x = t(&[2, 3], &[0i64, 1, 2, 3, 4, 5]);
        let v = x.t().flip(&[0]).unwrap();
        assert_eq!(v.to_string(), "tensor([[2, 5],\n        [1, 4],\n        [0, 3]])");
        let wide = x.select(1, 0).unwrap().unsqueeze(1).unwrap().expand(&[2, 2]).unwrap();
        assert_eq!(wide.to_string(), "tensor([[0, 0],\n        [3, 3]])");
    }

    #[test]
    fn debug_computes_nothing() {
        let x = t(&[2, 3], &[0f32; 6]);
        assert_eq!(format!("{x:?}"), "Tensor(f32 [2, 3] on cpu)");
        let y = x.exp();
        assert_eq!(format!("{y:?}"), "Tensor(f32 [2, 3] on cpu, pending exp)");
        assert!(y.node().is_pending());
        let leaf = x.requires_grad_(true).unwrap();
        assert_eq!(format!("{leaf:?}"), "Tensor(f32 [2, 3] on cpu, requires_grad)");
    }

    #[test]
    fn a_failure_is_printed() {
        // An index that is known would be told of at once.
        let index = t(&[1], &[4i64]).try_add(1i64).unwrap();
        let bad = t(&[2], &[1f32, 2.0]).index_select(0, &index).unwrap();
        let text = bad.to_string();
        assert!(text.starts_with("tensor(failed: ") && text.contains('5'), "{text}");
        assert!(format!("{bad:?}").contains("failed"), "{bad:?}");
    }
}
