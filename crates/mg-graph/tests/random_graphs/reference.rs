//! What each node of a graph must be: every node is computed by itself, from the values of its sources. Nodes that
//! only move elements are also computed here, so that a mistake that the engine always makes is seen as well.

use crate::common::{buffer_of, cells, on_host};
use crate::spec::{Spec, placed};
use mg_device::{Layout, Shape};
use mg_graph::{Node, Value, realize};

/// A value in row-major order.
pub struct Known {
    pub shape: Vec<usize>,
    pub cells: Vec<u64>,
    value: Value,
}

/// The values of all nodes, one after the other.
pub fn values(specs: &[Spec], variant: u64) -> Result<Vec<Known>, String> {
    let mut known: Vec<Known> = vec![];
    for (i, spec) in specs.iter().enumerate() {
        let sources: Vec<Node> =
            spec.sources().iter().map(|&s| Node::from_value(known[s].value.clone())).collect();
        let describe = |what: String| format!("node {i} by itself, {spec:?}: {what}");
        let node = spec.build(&sources, i, variant).map_err(|e| describe(e.to_string()))?;
        realize(&[&node]).map_err(|e| describe(e.to_string()))?;
        let Some(Ok(value)) = node.value() else { return Err(describe("has no value".into())) };
        let shape = node.shape().to_vec();
        let got = cells(value);
        let small = got.len() < 10_000 && spec.sources().iter().all(|&s| known[s].cells.len() < 10_000);
        if let Some(want) = small.then(|| moved(spec, &shape, &known)).flatten() {
            if got != want {
                return Err(describe(differs(&got, &want)));
            }
        }
        // Dense, whatever the engine made of it: a sum must not depend on how its operand lies.
        let lies = matches!(spec, Spec::Data { .. } | Spec::Index { .. });
        let value = if lies {
            value.clone()
        } else {
            let layout = Layout::contiguous(Shape::of(&shape));
            placed(Value { buffer: buffer_of(&raw(value), node.dtype()), layout })
                .map_err(|e| e.to_string())?
        };
        known.push(Known { shape, cells: got, value });
    }
    Ok(known)
}

/// Where two lists of cells first differ.
pub fn differs(got: &[u64], want: &[u64]) -> String {
    if got.len() != want.len() {
        return format!("{} elements instead of {}", got.len(), want.len());
    }
    let wrong = (0..got.len()).filter(|&i| got[i] != want[i]).count();
    match (0..got.len()).find(|&i| got[i] != want[i]) {
        Some(i) => format!(
            "{wrong} of {} elements differ; at {i}: {:#x} instead of {:#x}",
            got.len(),
            got[i],
            want[i]
        ),
        None => "equal".into(),
    }
}

/// The elements as they are, NaNs included.
fn raw(value: &Value) -> Vec<u64> {
    let size = value.buffer.dtype().size();
    let buffer = on_host(value);
    let at = |o: usize| {
        let mut bytes = [0u8; 8];
        // SAFETY: the layout lies within the buffer (`cells` has checked it), whose elements have this size.
        unsafe { buffer.as_ptr().add(o * size).copy_to_nonoverlapping(bytes.as_mut_ptr(), size) };
        u64::from_le_bytes(bytes)
    };
    value.layout.offsets().map(at).collect()
}

/// The position in row-major order of an index.
fn linear(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |at, (&n, &i)| at * n + i)
}

/// Every index of a shape in row-major order.
fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    (0..shape.iter().product::<usize>()).map(move |mut at| {
        let mut index = vec![0; shape.len()];
        for d in (0..shape.len()).rev() {
            index[d] = at % shape[d];
            at /= shape[d];
        }
        index
    })
}

/// The elements of a node that only moves them.
fn moved(spec: &Spec, shape: &[usize], known: &[Known]) -> Option<Vec<u64>> {
    let pick = |of: usize, from: &dyn Fn(&[usize]) -> Vec<usize>| -> Vec<u64> {
        indices(shape).map(|i| known[of].cells[linear(&known[of].shape, &from(&i))]).collect()
    };
    Some(match spec {
        Spec::Alias(a) | Spec::Reshape(a, _) | Spec::Guard(a, _) => known[*a].cells.clone(),
        Spec::Permute(a, axes) => pick(*a, &|i| {
            let mut from = vec![0; axes.len()];
            axes.iter().zip(i).for_each(|(&axis, &i)| from[axis] = i);
            from
        }),
        Spec::Slice { of, axis, start, step, .. } => pick(*of, &|i| {
            let mut from = i.to_vec();
            from[*axis] = (*start as isize + i[*axis] as isize * step) as usize;
            from
        }),
        Spec::Expand(a, _) => {
            let own = &known[*a].shape;
            let lead = shape.len() - own.len();
            pick(*a, &|i| own.iter().zip(&i[lead..]).map(|(&n, &i)| if n == 1 { 0 } else { i }).collect())
        }
        Spec::Region { of, strides, offset, .. } => indices(shape)
            .map(|i| {
                let at = i.iter().zip(strides).fold(*offset as isize, |at, (&i, &s)| at + i as isize * s);
                known[*of].cells[at as usize]
            })
            .collect(),
        Spec::Gather { of, axis, index } => {
            let index = &known[*index];
            indices(shape)
                .map(|mut i| {
                    i[*axis] = index.cells[linear(&index.shape, &i)] as usize;
                    known[*of].cells[linear(&known[*of].shape, &i)]
                })
                .collect()
        }
        Spec::Write { of, base, strides, offset, .. } => {
            let mut out = base.map_or(vec![0; shape.iter().product()], |b| known[b].cells.clone());
            for (i, &cell) in indices(&known[*of].shape).zip(&known[*of].cells) {
                let at = i.iter().zip(strides).fold(*offset as isize, |at, (&i, &s)| at + i as isize * s);
                out[at as usize] = cell;
            }
            out
        }
        Spec::Concat(parts, axis) => {
            let mut out = vec![0; shape.iter().product()];
            let mut from = 0;
            for &part in parts {
                for (mut i, &cell) in indices(&known[part].shape).zip(&known[part].cells) {
                    i[*axis] += from;
                    out[linear(shape, &i)] = cell;
                }
                from += known[part].shape[*axis];
            }
            out
        }
        _ => return None,
    })
}
