//! Values between bounds.

use super::of_truth_values;
use super::operand::{Operand, Term, cast, kind};
use crate::gradient::no_grad;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result};
use mg_graph::Node;
use mg_kernels::{Algebra, Row, Rules};

/// A bound for integers: `None` where it excludes none of them.
pub(super) fn int_bound(row: Row, bound: i64, dtype: DType) -> Result<Option<i64>> {
    let Some((least, largest)) = dtype.int_range() else { return Ok(Some(bound)) };
    let wide = i128::from(bound);
    let (excludes_none, excludes_all) = match row {
        Row::Maximum => (wide < least, wide > largest),
        Row::Minimum => (wide > largest, wide < least),
        // No other row is a bound.
        _ => return Ok(Some(bound)),
    };
    if excludes_all {
        let text = format!("the bound {bound} is beyond every {dtype} ({least} to {largest})");
        return Err(Error::new(row.name(), ErrorKind::Value(text)));
    }
    Ok(if excludes_none { None } else { Some(bound) })
}

/// Values between bounds, where they are given.
#[track_caller]
pub(crate) fn clamped(t: &Tensor, min: Option<Operand>, max: Option<Operand>) -> Result<Tensor> {
    clamp(t, min.map(|m| m.look()), max.map(|m| m.look()))
}

/// A number divided by another with a whole quotient.
#[track_caller]
fn clamp(t: &Tensor, min: Option<Term>, max: Option<Term>) -> Result<Tensor> {
    let fail = |kind| Err(Error::new("clamp", kind));
    let x = t.node();
    let bounds = [(Row::Maximum, min), (Row::Minimum, max)];
    let given = bounds.iter().filter_map(|(_, bound)| bound.as_ref());
    if given.clone().next().is_none() {
        return fail(ErrorKind::Value("takes a bound at least on one side".into()));
    }
    let by_tensor = given.clone().any(|bound| matches!(bound, Term::Node(_)));
    let dtype = DType::result_type(given.map(Term::kind).chain([kind(&x)]));
    if dtype.is_bool() && !by_tensor {
        return fail(ErrorKind::DType("truth values have no bounds; convert to an integer first".into()));
    }
    let x = cast(x, dtype);
    let mut limits = vec![];
    for (row, bound) in bounds {
        match bound {
            None => {}
            Some(Term::Int(v)) if int_bound(row, v, dtype)?.is_none() => {}
            Some(bound) => limits.push((row, bound.into_node(dtype, x.device()))),
        }
    }
    let limits: Vec<(Row, Node)> = match dtype.is_bool() {
        true => limits.into_iter().map(|(row, n)| Ok((of_truth_values(row)?, n))).collect::<Result<_>>()?,
        false => limits,
    };
    let bounded =
        |x: &Node| limits.iter().try_fold(x.clone(), |x, (row, bound)| Node::map(*row, &[&x, bound]));
    if limits.is_empty() {
        return Ok(Tensor::from_node(x.alias()));
    }
    if by_tensor || !x.is_tracked() || !mg_graph::is_tracking() {
        return Ok(Tensor::from_node(bounded(&x)?));
    }
    // Strictly between the bounds it is the value itself, elsewhere (and where there is no number) a constant.
    let inside =
        limits.iter().map(|(row, bound)| if *row == Row::Maximum { bound.lt(&x) } else { x.lt(bound) });
    let Some(inside) = inside.reduce(|a, b| Node::apply(Row::And, &[&a, &b])) else { return Ok(t.clone()) };
    let clamped = {
        let _guard = no_grad();
        bounded(&x)?
    };
    Ok(Tensor::from_node(inside.choose(&x, &clamped)))
}
