//! What a model consists of and costs, as a table: [`summary`].

use std::fmt;

use mg_autograd::{Tensor, no_grad};
use mg_device::{Result, Shape};
use mg_graph::LaunchInfo;

use crate::module::Module;

/// A module of a model, with all inside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name within the module around it; empty for the model itself.
    pub name: String,
    /// What it is: the first line of its description.
    pub kind: String,
    /// How many modules are around it.
    pub depth: usize,
    /// The shapes that it takes and gives; known of the model itself, and of modules in a [`Sequential`](crate::Sequential) that is called.
    pub shapes: Option<[Shape; 2]>,
    /// The numbers that its parameters consist of.
    pub parameters: usize,
    /// Those of them that are trained.
    pub trained: usize,
    /// Floating-point operations of a call, and bytes that it reads and writes; known where the shapes are.
    pub cost: Option<[u64; 2]>,
}

/// A table of a model's modules, the model itself first; it prints as such.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The lines.
    pub rows: Vec<Row>,
    /// Bytes of parameters and buffers.
    pub bytes: usize,
}

/// Calls a model with an input, and tells of each module inside it: parameters and, of the model and of what stands in
/// [`Sequential`](crate::Sequential)s, the shapes taken and given, floating-point operations and the bytes that are read and written. The model is
/// called as it is: with `eval` first, nothing of it changes.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_device::DType;
/// use mg_nn::{Linear, ReLU, sequential, summary};
///
/// let model = sequential![Linear::new(784, 128)?, ReLU, Linear::new(128, 10)?];
/// let table = summary(&model, &Tensor::zeros(&[32, 784], DType::F32)?)?;
/// assert_eq!((table.rows[0].parameters, table.rows.len()), (101_770, 4));
/// assert_eq!(table.rows[1].shapes.map(|[_, given]| given), mg_device::Shape::new(&[32, 128]).ok());
/// assert!(table.to_string().contains("101770"));
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// Those of the model.
#[track_caller]
pub fn summary(model: &dyn Module, input: &Tensor) -> Result<Summary> {
    let _guard = no_grad();
    let mut rows = vec![];
    tell(model, "", 0, Some(input), &mut rows)?;
    let all = model.named_parameters().into_iter().chain(model.named_buffers());
    Ok(Summary { rows, bytes: all.map(|(_, t)| t.numel() * t.dtype().size()).sum() })
}

/// Operations of a launch: what a library kernel says, or one for each element and operation.
fn flops(launch: &LaunchInfo) -> u64 {
    let each: usize = launch.shape.iter().product();
    let plain = |word: &&String| *word != "copy" && !word.starts_with("to_");
    launch.flops.unwrap_or_else(|| (each * launch.operations.iter().filter(plain).count()) as u64)
}

/// Tells of a module and those inside it; the result, where it was called.
fn tell(
    module: &dyn Module,
    name: &str,
    depth: usize,
    input: Option<&Tensor>,
    rows: &mut Vec<Row>,
) -> Result<Option<Tensor>> {
    let own = module.parameters();
    let text = module.describe();
    let kind = text.lines().next().unwrap_or_default().trim_end_matches('(').to_string();
    let at = rows.len();
    rows.push(Row {
        name: name.to_string(),
        kind,
        depth,
        shapes: None,
        parameters: own.iter().map(Tensor::numel).sum(),
        trained: own.iter().filter(|p| p.requires_grad()).map(Tensor::numel).sum(),
        cost: None,
    });
    let children = module.children();
    if let (true, Some(input)) = (module.is_chain(), input) {
        let mut x = input.clone();
        let mut cost = [0, 0];
        for (name, child) in children {
            let below = rows.len();
            x = tell(child, &name, depth + 1, Some(&x), rows)?.unwrap_or(x);
            let [flops, bytes] = rows[below].cost.unwrap_or_default();
            cost = [cost[0] + flops, cost[1] + bytes];
        }
        rows[at].shapes = Some([input.shape(), x.shape()]);
        rows[at].cost = Some(cost);
        return Ok(Some(x));
    }
    let output = match input {
        Some(input) => {
            input.realize()?;
            let output = module.forward(input)?;
            let launches = output.explain()?.launches;
            let bytes = launches.iter().map(|l| l.bytes_read + l.bytes_written).sum();
            rows[at].cost = Some([launches.iter().map(flops).sum(), bytes]);
            output.realize()?;
            rows[at].shapes = Some([input.shape(), output.shape()]);
            Some(output)
        }
        None => None,
    };
    for (name, child) in children {
        tell(child, &name, depth + 1, None, rows)?;
    }
    Ok(output)
}

/// A number with three digits and a prefix.
fn scaled(n: u64) -> String {
    let mut size = n as f64;
    for prefix in ["", "k", "M", "G", "T"] {
        if size < 1000.0 {
            return if prefix.is_empty() { n.to_string() } else { format!("{size:.3} {prefix}") };
        }
        size /= 1000.0;
    }
    format!("{size:.3} P")
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<[String; 6]> =
            vec![["module", "input", "output", "parameters", "FLOPs", "bytes"].map(String::from)];
        for row in &self.rows {
            let label =
                if row.name.is_empty() { row.kind.clone() } else { format!("{}: {}", row.name, row.kind) };
            let shape = |i: usize| row.shapes.map_or("–".into(), |shapes| shapes[i].to_string());
            let cost = |i: usize| row.cost.map_or("–".into(), |cost| scaled(cost[i]));
            let parameters = if row.parameters == 0 { "–".into() } else { row.parameters.to_string() };
            let indented = format!("{}{label}", "  ".repeat(row.depth));
            lines.push([indented, shape(0), shape(1), parameters, cost(0), cost(1)]);
        }
        let width = |i: usize| lines.iter().map(|line| line[i].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..6).map(width).collect();
        for line in &lines {
            let mut text = String::new();
            for (i, (cell, &width)) in line.iter().zip(&widths).enumerate() {
                text += &if i < 3 { format!("{cell:<width$}  ") } else { format!("{cell:>width$}  ") };
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        let (all, trained) = self.rows.first().map_or((0, 0), |row| (row.parameters, row.trained));
        write!(f, "parameters: {all}, of which trained: {trained}; bytes: {}", scaled(self.bytes as u64))
    }
}
