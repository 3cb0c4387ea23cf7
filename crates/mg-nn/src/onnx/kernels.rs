//! Kernels of the library, as ONNX's operators.

use super::graph::{Attribute, Graph, Id, refuse};
use mg_device::{DType, Result, Shape};
use mg_kernels::library::{
    Attention, AttentionKind, Conv, ConvKind, Library, Pool, PoolKind, ScanKind, Share,
};
use mg_kernels::library::{Shaped, Sort, SortKind};

fn ints(numbers: impl IntoIterator<Item = usize>) -> Attribute {
    Attribute::Ints(numbers.into_iter().map(|n| n as i64).collect())
}

/// The last of three numbers that there are axes for.
fn last(numbers: &[u32; 3], axes: u8) -> Vec<usize> {
    numbers[3 - usize::from(axes)..].iter().map(|&n| n as usize).collect()
}

/// A kernel, of operands of shapes and dtypes.
pub(super) fn kernel(
    graph: &mut Graph,
    kernel: &Library,
    x: &[Id],
    of: &[Shaped],
    to: &Shaped,
) -> Result<Id> {
    match kernel {
        Library::MatMul(_) => Ok(graph.call("MatMul", x)),
        Library::ScatterAdd(scatter) => {
            let (zero, shape) = (graph.number(0.0, to.dtype)?, graph.shape(&to.shape));
            let zeros = graph.call("Expand", &[zero, shape]);
            let axis = Attribute::Int(scatter.axis.into());
            let attributes = vec![("axis", axis), ("reduction", Attribute::Text("add"))];
            Ok(graph.call_with("ScatterElements", &[zeros, x[1], x[0]], attributes))
        }
        Library::Put(put) => {
            let (base, value, index) = (&of[0], &of[1], &of[2]);
            let count = index.shape.numel();
            let outer = base.shape.numel() / (put.n * put.inner).max(1);
            // Places come first, so that an index names one.
            let rows = graph.reshape(x[0], &[outer, put.n, put.inner]);
            let rows = graph.transpose(rows, [1, 0, 2]);
            let written = match value.shape.rank() {
                0 => {
                    let all = graph.shape(&[count, outer, put.inner]);
                    graph.call("Expand", &[x[1], all])
                }
                _ => {
                    let parts = graph.reshape(x[1], &[outer, count, put.inner]);
                    graph.transpose(parts, [1, 0, 2])
                }
            };
            let at = graph.reshape(x[2], &[count, 1]);
            let rows = graph.call("ScatterND", &[rows, at, written]);
            let rows = graph.transpose(rows, [1, 0, 2]);
            Ok(graph.reshape(rows, &to.shape))
        }
        Library::Conv(conv) => convolution(graph, conv, x, of),
        Library::Pool(pool) => pooling(graph, pool, x[0], &of[0], to),
        Library::Attention(attention) => attended(graph, attention, x, of),
        Library::Scan(scan) if scan.kind == ScanKind::Sum => {
            // A number: an axis in a line of one is not taken by all who read models.
            let axis = graph.number(scan.axis.into(), DType::I64)?;
            let reverse = Attribute::Int(scan.reverse.into());
            Ok(graph.call_with("CumSum", &[x[0], axis], vec![("reverse", reverse)]))
        }
        Library::Sort(sort) => sorted(graph, sort, x[0]),
        // The value is the first operand; the others say what its gradient is.
        Library::Known(_) => Ok(x[0]),
        // What depends on how an index came about is made where that is known.
        Library::Gather(_)
        | Library::Blend(_)
        | Library::Unblend(_)
        | Library::Resample(_)
        | Library::Scan(_)
        | Library::Factor(_)
        | Library::Triangular(_)
        | Library::Extreme(_)
        | Library::Compact(_)
        | Library::Own(_)
        | Library::Pair(_)
        | Library::Recurrent(_)
        | Library::Ctc(_)
        | Library::Surprise(_)
        | Library::Scaled(_)
        | Library::Search(_)
        | Library::Tally(_)
        | Library::Thin(_) => refuse(format!("ONNX has no operator for {}", kernel.name())),
    }
}

fn convolution(graph: &mut Graph, conv: &Conv, x: &[Id], of: &[Shaped]) -> Result<Id> {
    let [stride, padding, dilation] =
        [&conv.stride, &conv.padding, &conv.dilation].map(|n| last(n, conv.axes));
    let kernel: Vec<usize> = of[1].shape[2..].to_vec();
    let mut attributes = vec![
        ("kernel_shape", ints(kernel.clone())),
        ("strides", ints(stride.clone())),
        ("pads", ints(padding.iter().chain(&padding).copied())),
        ("dilations", ints(dilation.clone())),
        ("group", Attribute::Int(conv.groups.into())),
    ];
    match conv.kind {
        ConvKind::Forward => Ok(graph.call_with("Conv", x, attributes)),
        ConvKind::Input => {
            let sizes = last(&conv.sizes, conv.axes);
            let extra = sizes.iter().enumerate().map(|(i, &n)| {
                let least = (of[0].shape[2 + i] - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + 1;
                (n + 2 * padding[i]).saturating_sub(least)
            });
            attributes.push(("output_padding", ints(extra)));
            Ok(graph.call_with("ConvTranspose", x, attributes))
        }
        ConvKind::Weight => refuse("ONNX has no operator for a convolution's gradient".into()),
    }
}

/// Batch and channels before the planes, as ONNX has them.
fn planes(graph: &mut Graph, x: Id, shape: &Shape, axes: usize) -> (Id, bool) {
    let lead = shape.rank() - axes;
    if lead == 2 {
        return (x, false);
    }
    let all: usize = shape[..lead].iter().product();
    let sizes: Vec<usize> = [1, all].into_iter().chain(shape[lead..].iter().copied()).collect();
    (graph.reshape(x, &sizes), true)
}

fn pooling(graph: &mut Graph, pool: &Pool, x: Id, of: &Shaped, to: &Shaped) -> Result<Id> {
    let max = match pool.kind {
        PoolKind::Max => true,
        PoolKind::Mean => false,
        PoolKind::MaxAt
        | PoolKind::MaxGrad
        | PoolKind::MaxPick
        | PoolKind::MeanGrad
        | PoolKind::Unfold
        | PoolKind::Fold => {
            let text = "positions of the largest, windows themselves and gradients of pooling";
            return refuse(format!("ONNX has no operator for {text}"));
        }
    };
    if !of.dtype.is_float() {
        return refuse(format!("ONNX's operators for pooling take floats, got {}", of.dtype));
    }
    let (input, output) = (last(&pool.input, pool.axes), last(&pool.output, pool.axes));
    let (x, turned) = planes(graph, x, &of.shape, usize::from(pool.axes));
    let made = if pool.adaptive && output.iter().all(|&n| n == 1) {
        graph.call(if max { "GlobalMaxPool" } else { "GlobalAveragePool" }, &[x])
    } else {
        let (kernel, stride, padding, dilation) = if pool.adaptive {
            if input.iter().zip(&output).any(|(n, k)| *k == 0 || n % k != 0) {
                let text = "adaptive pooling to sizes that do not divide the input's";
                return refuse(format!("ONNX has no operator for {text}: {input:?} to {output:?}"));
            }
            let each: Vec<usize> = input.iter().zip(&output).map(|(n, k)| n / k).collect();
            (each.clone(), each, vec![0; input.len()], vec![1; input.len()])
        } else {
            let [a, b, c, d] =
                [&pool.kernel, &pool.stride, &pool.padding, &pool.dilation].map(|n| last(n, pool.axes));
            (a, b, c, d)
        };
        // Windows that hang over count where there are more than fit.
        let hangs = (0..input.len()).any(|i| {
            let spread = dilation[i] * (kernel[i] - 1) + 1;
            (input[i] + 2 * padding[i]).saturating_sub(spread) / stride[i] + 1 < output[i]
        });
        let mut attributes = vec![
            ("kernel_shape", ints(kernel.clone())),
            ("strides", ints(stride)),
            ("pads", ints(padding.iter().chain(&padding).copied())),
            ("ceil_mode", Attribute::Int(hangs.into())),
        ];
        if max {
            attributes.push(("dilations", ints(dilation)));
            graph.call_with("MaxPool", &[x], attributes)
        } else {
            if dilation.iter().any(|&n| n != 1) {
                return refuse("ONNX has no operator for means of windows with steps in them".into());
            }
            let all = !matches!(pool.share, Share::Elements) && !pool.adaptive;
            attributes.push(("count_include_pad", Attribute::Int(all.into())));
            let mean = graph.call_with("AveragePool", &[x], attributes);
            match pool.share {
                Share::Number(n) => {
                    let places: usize = kernel.iter().product();
                    let factor = graph.number(places as f64 / n as f64, to.dtype)?;
                    graph.call("Mul", &[mean, factor])
                }
                Share::Places | Share::Elements => mean,
            }
        }
    };
    Ok(if turned { graph.reshape(made, &to.shape) } else { made })
}

/// The means alone, in one line: the logarithms after them are for gradients.
fn attended(graph: &mut Graph, attention: &Attention, x: &[Id], of: &[Shaped]) -> Result<Id> {
    if attention.kind != AttentionKind::Forward {
        return refuse("ONNX has no operator for attention's gradient".into());
    }
    if attention.left_out > 0 {
        return refuse("ONNX has no operator for attention that leaves weights out at random".into());
    }
    if attention.ranges.is_some() {
        return refuse("ONNX has no operator for attention of packed sequences".into());
    }
    let (q, k, v) = (&of[0].shape, &of[1].shape, &of[2].shape);
    let mut shared = |x: Id, of: &Shape| {
        if of[1] == q[1] {
            return x;
        }
        let apart = graph.reshape(x, &[of[0], of[1], 1, of[2], of[3]]);
        let all = graph.shape(&[of[0], of[1], q[1] / of[1], of[2], of[3]]);
        let all = graph.call("Expand", &[apart, all]);
        graph.reshape(all, &[q[0], q[1], of[2], of[3]])
    };
    let (keys, values) = (shared(x[1], k), shared(x[2], v));
    let dtype = of[0].dtype;
    let scale = graph.number(f64::from_bits(attention.scale), dtype)?;
    let turned = graph.transpose(keys, [0, 1, 3, 2]);
    let scores = graph.call("MatMul", &[x[0], turned]);
    let mut scores = graph.call("Mul", &[scores, scale]);
    let never = graph.number(f64::NEG_INFINITY, dtype)?;
    if attention.masked {
        scores = match of[3].dtype {
            DType::Bool => graph.call("Where", &[x[3], scores, never]),
            kind => {
                let mask = if kind == dtype { x[3] } else { graph.cast(x[3], dtype) };
                graph.call("Add", &[scores, mask])
            }
        };
    }
    let [behind, ahead] = attention.span.limits(q[2], k[2]);
    // Triangles of ones: up to so many after a query's position, and from so many before it on.
    for (upper, by) in [(0, ahead), (1, behind.map(|behind| -behind))] {
        let Some(by) = by else { continue };
        let (one, all) = (graph.number(1.0, DType::F32)?, graph.shape(&[q[2], k[2]]));
        let ones = graph.call("Expand", &[one, all]);
        let mut inputs = vec![ones];
        if by != 0 {
            inputs.push(graph.number(by as f64, DType::I64)?);
        }
        let near = graph.call_with("Trilu", &inputs, vec![("upper", Attribute::Int(upper))]);
        let near = graph.cast(near, DType::Bool);
        scores = graph.call("Where", &[near, scores, never]);
    }
    let weights = graph.call_with("Softmax", &[scores], vec![("axis", Attribute::Int(-1))]);
    let means = graph.call("MatMul", &[weights, values]);
    // In the result's line all heads of a query lie side by side.
    let means = graph.transpose(means, [0, 2, 1, 3]);
    let line = graph.sizes([-1]);
    Ok(graph.call("Reshape", &[means, line]))
}

fn sorted(graph: &mut Graph, sort: &Sort, x: Id) -> Result<Id> {
    let at = match sort.kind {
        SortKind::Values => 0,
        SortKind::Indices => 1,
        SortKind::Nth | SortKind::Median | SortKind::NanMedian | SortKind::Mode => {
            return refuse("ONNX has no operator for an element by its rank, medians and modes".into());
        }
    };
    let count = graph.sizes([sort.count as i64]);
    let largest = Attribute::Int(sort.descending.into());
    let values =
        graph.call_with("TopK", &[x, count], vec![("largest", largest), ("sorted", Attribute::Int(1))]);
    let indices = graph.value(super::graph::Made::Result);
    if let Some(call) = graph.calls.last_mut() {
        call.outputs.push(indices);
    }
    Ok([values, indices][at])
}
