//! Sizes that the file leaves open.
//!
//! The model is called with stand-ins of several sizes. Graphs have to be the same but for the whole numbers that operators take as sizes; each
//! of these that differs is a sum of products of open sizes, which is found from its differences and checked at another point. So nothing of
//! the model has to know that sizes may be open, and what depends on one in another way is an error.

use super::graph::{Attribute, Call, Graph, Id, Made, refuse};
use mg_device::Result;

/// An open size: its name, and the inputs and axes that have it.
pub(super) struct Open {
    pub name: String,
    pub at: Vec<(usize, usize)>,
    /// Of the first stand-ins.
    pub size: usize,
}

/// The sizes that models are called with: the first, each one more, each two of them one more, and a last one to check.
pub(super) fn points(open: &[Open]) -> Vec<Vec<usize>> {
    let base: Vec<usize> = open.iter().map(|open| open.size).collect();
    let mut all = vec![base.clone()];
    if open.is_empty() {
        return all;
    }
    let more = |which: &[usize], by: usize| {
        let mut point = base.clone();
        which.iter().for_each(|&i| point[i] += by);
        point
    };
    (0..base.len()).for_each(|i| all.push(more(&[i], 1)));
    for i in 0..base.len() {
        (i + 1..base.len()).for_each(|j| all.push(more(&[i, j], 1)));
    }
    all.push(more(&(0..base.len()).collect::<Vec<_>>(), 3));
    all
}

/// A number as a sum of products of open sizes: what each is multiplied by. The number without any comes first.
struct Sum(Vec<(i64, Vec<usize>)>);

impl Sum {
    fn at(&self, point: &[usize]) -> i64 {
        let term = |(by, which): &(i64, Vec<usize>)| which.iter().fold(*by, |n, &i| n * point[i] as i64);
        self.0.iter().map(term).sum()
    }

    /// From what the number is at each point; `None` where it is no such sum.
    fn of(values: &[i64], points: &[Vec<usize>]) -> Option<Sum> {
        let base: Vec<i64> = points[0].iter().map(|&n| n as i64).collect();
        let n = base.len();
        let mut pairs = vec![];
        let mut at = 1 + n;
        for i in 0..n {
            for j in i + 1..n {
                pairs.push((values[at] - values[1 + i] - values[1 + j] + values[0], vec![i, j]));
                at += 1;
            }
        }
        let mut terms = vec![(0, vec![])];
        for i in 0..n {
            let with = pairs.iter().filter(|(_, which)| which.contains(&i));
            let others: i64 = with.map(|(by, which)| by * base[which[0] + which[1] - i]).sum();
            terms.push((values[1 + i] - values[0] - others, vec![i]));
        }
        terms.extend(pairs);
        let mut sum = Sum(terms);
        sum.0[0].0 = values[0] - sum.at(&points[0]);
        sum.0.retain(|(by, _)| *by != 0);
        points.iter().zip(values).all(|(point, &value)| sum.at(point) == value).then_some(sum)
    }
}

fn bytes(graph: &Graph, id: Id) -> Result<Vec<u8>> {
    match &graph.values[id] {
        Made::Stored(stored) => super::dense(&stored.tensor),
        Made::Input | Made::Sizes(_) | Made::Result => Ok(vec![]),
    }
}

/// Refuses what is not the same whatever the open sizes are.
fn depends<T>(what: &str, open: &[Open]) -> Result<T> {
    let names = open.iter().map(|open| format!("{:?}", open.name)).collect::<Vec<_>>().join(", ");
    refuse(format!("{what} depends on a size that is to be open ({names}): leave it out of dynamic_axes"))
}

/// The values that are sizes which are not the same in all graphs, with what each graph has for them; all else has to be the same.
fn differing(graph: &Graph, others: &[Graph], open: &[Open]) -> Result<Vec<(Id, Vec<Vec<i64>>)>> {
    for another in others {
        let same = graph.values.len() == another.values.len()
            && graph.calls.len() == another.calls.len()
            && graph
                .calls
                .iter()
                .zip(&another.calls)
                .all(|(a, b)| (a.op, &a.inputs, &a.attributes) == (b.op, &b.inputs, &b.attributes));
        if !same {
            return depends("what the model computes", open);
        }
    }
    let mut differing = vec![];
    for id in 0..graph.values.len() {
        let mut all = vec![];
        for of in std::iter::once(graph).chain(others) {
            match (&graph.values[id], &of.values[id]) {
                (Made::Sizes(first), Made::Sizes(sizes)) if first.len() == sizes.len() => {
                    all.push(sizes.clone());
                }
                (Made::Stored(first), Made::Stored(stored)) => {
                    let (a, b) = (&first.tensor, &stored.tensor);
                    let same = first.name == stored.name && a.dtype() == b.dtype() && a.shape() == b.shape();
                    if !same || first.name.is_none() && bytes(graph, id)? != bytes(of, id)? {
                        return depends("a constant of the model", open);
                    }
                }
                (Made::Input, Made::Input) | (Made::Result, Made::Result) => {}
                _ => return depends("what the model computes", open),
            }
        }
        if all.windows(2).any(|pair| pair[0] != pair[1]) {
            differing.push((id, all));
        }
    }
    Ok(differing)
}

/// The names of axes of results whose sizes are not the same in all graphs.
fn names_of_results(
    graph: &Graph,
    others: &[Graph],
    open: &[Open],
    points: &[Vec<usize>],
) -> Vec<Vec<Option<String>>> {
    let name = |at: usize, axis: usize| {
        let first = graph.results[at].2[axis];
        let others = others.iter().map(|other| other.results[at].2[axis]);
        let sizes: Vec<usize> = std::iter::once(first).chain(others).collect();
        if sizes.iter().all(|&n| n == first) {
            return None;
        }
        let known = (0..open.len()).find(|&i| points.iter().zip(&sizes).all(|(point, &n)| point[i] == n));
        Some(known.map_or_else(|| format!("result_{at}_{axis}"), |i| open[i].name.clone()))
    };
    let results = graph.results.iter().enumerate();
    results.map(|(at, (_, _, shape))| (0..shape.rank()).map(|axis| name(at, axis)).collect()).collect()
}

/// The first graph with its open sizes computed, and the names of open sizes of results.
pub(super) fn opened(
    mut graphs: Vec<Graph>,
    open: &[Open],
    points: &[Vec<usize>],
) -> Result<(Graph, Vec<Vec<Option<String>>>)> {
    let mut graph = graphs.remove(0);
    if open.is_empty() {
        let fixed = graph.results.iter().map(|(_, _, shape)| vec![None; shape.rank()]).collect();
        return Ok((graph, fixed));
    }
    let differing = differing(&graph, &graphs, open)?;
    let mut computed = Computed { made: vec![None; open.len()], open };
    // What computes sizes comes before what takes them.
    let calls = std::mem::take(&mut graph.calls);
    for (id, all) in differing {
        let of = |i: usize| all.iter().map(|sizes| sizes[i]).collect::<Vec<i64>>();
        let open_ones: Vec<usize> =
            (0..all[0].len()).filter(|&i| of(i).windows(2).any(|p| p[0] != p[1])).collect();
        let reshapes = calls.iter().filter(|call| call.inputs.contains(&id)).all(|call| call.op == "Reshape");
        if let (&[one], true) = (&open_ones[..], reshapes) {
            let mut sizes = all[0].clone();
            sizes[one] = -1;
            graph.values[id] = Made::Sizes(sizes);
            continue;
        }
        let mut parts = vec![];
        for i in 0..all[0].len() {
            let Some(sum) = Sum::of(&of(i), points) else {
                return depends("a size, other than as a sum of products,", open);
            };
            parts.push(computed.sum(&mut graph, &sum));
        }
        graph.values[id] = Made::Result;
        let attributes = vec![("axis", Attribute::Int(0))];
        graph.calls.push(Call { op: "Concat", inputs: parts, outputs: vec![id], attributes });
    }
    graph.calls.extend(calls);
    let names = names_of_results(&graph, &graphs, open, points);
    Ok((graph, names))
}

/// Open sizes as the model reads them.
struct Computed<'a> {
    made: Vec<Option<Id>>,
    open: &'a [Open],
}

impl Computed<'_> {
    fn size(&mut self, graph: &mut Graph, i: usize) -> Id {
        if let Some(id) = self.made[i] {
            return id;
        }
        let (input, axis) = self.open[i].at[0];
        let shape = graph.call("Shape", &[graph.inputs[input].0]);
        let at = graph.sizes([axis as i64]);
        let size = graph.call_with("Gather", &[shape, at], vec![("axis", Attribute::Int(0))]);
        self.made[i] = Some(size);
        size
    }

    fn sum(&mut self, graph: &mut Graph, sum: &Sum) -> Id {
        let mut total = None;
        for (by, which) in &sum.0 {
            let mut term = if *by == 1 && !which.is_empty() { None } else { Some(graph.sizes([*by])) };
            for &i in which {
                let size = self.size(graph, i);
                term = Some(term.map_or(size, |term| graph.call("Mul", &[term, size])));
            }
            let Some(term) = term else { continue };
            total = Some(total.map_or(term, |total| graph.call("Add", &[total, term])));
        }
        total.unwrap_or_else(|| graph.sizes([0]))
    }
}
