//! Elementwise operations and reductions, as ONNX's operators.

use super::graph::{Attribute, Graph, Id, refuse};
use mg_device::{DType, Result};
use mg_kernels::{ReduceKind, Row};

/// A row of the op table, of operands of a dtype.
pub(super) fn row(graph: &mut Graph, row: Row, x: &[Id], dtype: DType) -> Result<Id> {
    let direct = match row {
        Row::Add => "Add",
        Row::Sub => "Sub",
        Row::Mul => "Mul",
        Row::Div => "Div",
        Row::Pow | Row::IntPow => "Pow",
        Row::Maximum => "Max",
        Row::Minimum => "Min",
        Row::Neg => "Neg",
        Row::Abs => "Abs",
        Row::Sign => "Sign",
        Row::Relu => "Relu",
        Row::Exp => "Exp",
        Row::Log => "Log",
        Row::Sqrt => "Sqrt",
        Row::Tanh => "Tanh",
        Row::Sigmoid => "Sigmoid",
        Row::Softplus => "Softplus",
        Row::Sin => "Sin",
        Row::Cos => "Cos",
        Row::Tan => "Tan",
        Row::Asin => "Asin",
        Row::Acos => "Acos",
        Row::Atan => "Atan",
        Row::Sinh => "Sinh",
        Row::Cosh => "Cosh",
        Row::Asinh => "Asinh",
        Row::Acosh => "Acosh",
        Row::Atanh => "Atanh",
        Row::Erf => "Erf",
        Row::Floor => "Floor",
        Row::Ceil => "Ceil",
        Row::Round => "Round",
        Row::BitAnd => "BitwiseAnd",
        Row::BitOr => "BitwiseOr",
        Row::BitXor => "BitwiseXor",
        Row::Lt => "Less",
        Row::Le => "LessOrEqual",
        Row::Eq => "Equal",
        Row::And => "And",
        Row::Or => "Or",
        Row::Xor => "Xor",
        Row::Not => "Not",
        Row::Where => "Where",
        Row::Square => return Ok(graph.call("Mul", &[x[0], x[0]])),
        Row::Ne => {
            let equal = graph.call("Equal", x);
            return Ok(graph.call("Not", &[equal]));
        }
        Row::Gate => {
            let zero = graph.number(0.0, dtype)?;
            let closed = graph.call("LessOrEqual", &[x[0], zero]);
            return Ok(graph.call("Where", &[closed, zero, x[1]]));
        }
        Row::Expm1 => {
            let (one, exp) = (graph.number(1.0, dtype)?, graph.call("Exp", x));
            return Ok(graph.call("Sub", &[exp, one]));
        }
        Row::Log1p => {
            let one = graph.number(1.0, dtype)?;
            let sum = graph.call("Add", &[x[0], one]);
            return Ok(graph.call("Log", &[sum]));
        }
        Row::Exp2 => {
            let two = graph.number(2.0, dtype)?;
            return Ok(graph.call("Pow", &[two, x[0]]));
        }
        Row::Log2 | Row::Log10 => {
            let base = if row == Row::Log2 { std::f64::consts::LN_2 } else { std::f64::consts::LN_10 };
            let (base, log) = (graph.number(base, dtype)?, graph.call("Log", x));
            return Ok(graph.call("Div", &[log, base]));
        }
        Row::Erfc => {
            let (one, erf) = (graph.number(1.0, dtype)?, graph.call("Erf", x));
            return Ok(graph.call("Sub", &[one, erf]));
        }
        Row::Gelu | Row::GeluSlope => {
            let half = graph.number(0.5, dtype)?;
            let root = graph.number(std::f64::consts::FRAC_1_SQRT_2, dtype)?;
            let inner = graph.call("Mul", &[x[0], root]);
            let erf = graph.call("Erf", &[inner]);
            let (erf, squares) = (graph.call("Mul", &[erf, half]), graph.call("Mul", &[inner, inner]));
            let part = graph.call("Add", &[erf, half]);
            if row == Row::Gelu {
                return Ok(graph.call("Mul", &[x[0], part]));
            }
            let factor = graph.number((0.5 / std::f64::consts::PI).sqrt(), dtype)?;
            let minus = graph.call("Neg", &[squares]);
            let density = graph.call("Exp", &[minus]);
            let density = graph.call("Mul", &[density, factor]);
            let more = graph.call("Mul", &[x[0], density]);
            return Ok(graph.call("Add", &[part, more]));
        }
        Row::Trunc => {
            let zero = graph.number(0.0, dtype)?;
            let negative = graph.call("Less", &[x[0], zero]);
            let (up, down) = (graph.call("Ceil", x), graph.call("Floor", x));
            return Ok(graph.call("Where", &[negative, up, down]));
        }
        Row::Fmod => return Ok(graph.call_with("Mod", x, vec![("fmod", Attribute::Int(1))])),
        Row::Atan2
        | Row::Entr
        | Row::Erfcx
        | Row::Erfinv
        | Row::Ndtri
        | Row::Lgamma
        | Row::Digamma
        | Row::I0e
        | Row::I1e
        | Row::Copysign
        | Row::NextAfter
        | Row::Shl
        | Row::Shr => return refuse(format!("ONNX has no operator for {}", row.name())),
    };
    Ok(graph.call(direct, x))
}

/// A reduction over some axes of an operand of a shape and a dtype, which keeps them with size 1.
pub(super) fn reduce(
    graph: &mut Graph,
    kind: ReduceKind,
    x: Id,
    (shape, dtype): (&[usize], DType),
    axes: &[usize],
) -> Result<Id> {
    let keep = ("keepdims", Attribute::Int(1));
    let result = kind.result(dtype);
    let over = |graph: &mut Graph, op: &'static str, x: Id| {
        if axes.is_empty() {
            return x;
        }
        let axes = graph.sizes(axes.iter().map(|&a| a as i64));
        graph.call_with(op, &[x, axes], vec![keep.clone()])
    };
    match kind {
        ReduceKind::Sum | ReduceKind::Prod => {
            let x = if dtype == result { x } else { graph.cast(x, result) };
            Ok(over(graph, if kind == ReduceKind::Sum { "ReduceSum" } else { "ReduceProd" }, x))
        }
        ReduceKind::Max | ReduceKind::Min => {
            let op = if kind == ReduceKind::Max { "ReduceMax" } else { "ReduceMin" };
            if dtype != DType::Bool {
                return Ok(over(graph, op, x));
            }
            let x = graph.cast(x, DType::I32);
            let found = over(graph, op, x);
            Ok(graph.cast(found, DType::Bool))
        }
        ReduceKind::ArgMax | ReduceKind::ArgMin => {
            let op = if kind == ReduceKind::ArgMax { "ArgMax" } else { "ArgMin" };
            let (x, axis) = match axes {
                [axis] => (x, *axis),
                _ if axes.len() == shape.len() => {
                    let line = graph.sizes([-1]);
                    (graph.call("Reshape", &[x, line]), 0)
                }
                _ => {
                    return refuse(format!(
                        "{op} over several axes of {shape:?}: ONNX has it of one, or of all"
                    ));
                }
            };
            let found = graph.call_with(op, &[x], vec![("axis", Attribute::Int(axis as i64)), keep.clone()]);
            Ok(if axes.len() == 1 { found } else { graph.reshape(found, &vec![1; shape.len()]) })
        }
    }
}
