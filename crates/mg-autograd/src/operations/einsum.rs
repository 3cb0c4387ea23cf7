//! Sums of products of tensors whose axes have labels.

use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, MAX_RANK, Result, Shape};
use mg_graph::Node;
use mg_kernels::{ReduceKind, Row};

/// An axis' label: letters first, then the further axes of an ellipsis.
pub(crate) type Label = usize;

/// The labels of 52 letters come first.
const LETTERS: usize = 52;

/// Beyond so many operands, the order of contractions is not searched for.
const SEARCHED: usize = 8;

fn letter(c: char) -> Option<Label> {
    match c {
        'A'..='Z' => Some(c as usize - 'A' as usize),
        'a'..='z' => Some(26 + c as usize - 'a' as usize),
        _ => None,
    }
}

fn wrong<T>(equation: &str, text: &str) -> Result<T> {
    Err(Error::new("einsum", ErrorKind::Value(format!("equation {equation:?}: {text}"))))
}

/// A part of an equation: labels before an ellipsis, and after it if there is one.
struct Part {
    before: Vec<Label>,
    after: Option<Vec<Label>>,
}

impl Part {
    fn parse(equation: &str, text: &str) -> Result<Part> {
        let labels = |text: &str| -> Result<Vec<Label>> {
            let found: Option<Vec<Label>> = text.chars().filter(|c| *c != ' ').map(letter).collect();
            found.map_or_else(|| wrong(equation, "letters, `...`, `,` and `->` are what there is"), Ok)
        };
        Ok(match text.split_once("...") {
            None => Part { before: labels(text)?, after: None },
            Some((before, after)) => Part { before: labels(before)?, after: Some(labels(after)?) },
        })
    }

    fn letters(&self) -> impl Iterator<Item = Label> + '_ {
        self.before.iter().chain(self.after.iter().flatten()).copied()
    }

    fn len(&self) -> usize {
        self.letters().count()
    }

    /// The labels with `n` further axes where the ellipsis is, the last of `all`.
    fn with(&self, n: usize, all: usize) -> Vec<Label> {
        let further = if self.after.is_some() { all - n..all } else { 0..0 };
        let mut labels = self.before.clone();
        labels.extend(further.map(|i| LETTERS + i));
        labels.extend(self.after.iter().flatten());
        labels
    }
}

/// The labels of each operand, and of the result.
pub(crate) fn parsed(equation: &str, operands: &[Tensor]) -> Result<(Vec<Vec<Label>>, Vec<Label>)> {
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (equation, None),
    };
    let parts = inputs.split(',').map(|text| Part::parse(equation, text)).collect::<Result<Vec<_>>>()?;
    if parts.len() != operands.len() || operands.is_empty() {
        return wrong(equation, &format!("names {} operands, got {}", parts.len(), operands.len()));
    }
    let mut further = 0;
    for (part, t) in parts.iter().zip(operands) {
        let (rank, named) = (t.rank(), part.len());
        if rank < named || rank > named && part.after.is_none() {
            return wrong(equation, &format!("{named} letters for an operand of shape {}", t.shape()));
        }
        further = further.max(rank - named);
    }
    let labels: Vec<Vec<Label>> =
        parts.iter().zip(operands).map(|(part, t)| part.with(t.rank() - part.len(), further)).collect();
    let out = match output {
        Some(text) => {
            let part = Part::parse(equation, text)?;
            // Further axes that the result does not name are summed over.
            let out = part.with(further, further);
            let mut met = out.clone();
            met.sort_unstable();
            met.dedup();
            if met.len() != out.len() {
                return wrong(equation, "a letter is twice in the result");
            }
            if !part.letters().all(|l| parts.iter().any(|p| p.letters().any(|m| m == l))) {
                return wrong(equation, "a letter of the result is in no operand");
            }
            out
        }
        None => {
            let all: Vec<Label> = parts.iter().flat_map(Part::letters).collect();
            let once = (0..LETTERS).filter(|l| all.iter().filter(|m| *m == l).count() == 1);
            (0..further).map(|i| LETTERS + i).chain(once).collect()
        }
    };
    Ok((labels, out))
}

/// A tensor whose axes have labels, each another.
#[derive(Clone)]
struct Labelled {
    node: Node,
    labels: Vec<Label>,
}

impl Labelled {
    /// The sizes of the axes of some labels, in their order.
    fn sizes(&self, labels: &[Label]) -> Vec<usize> {
        let size = |l: &Label| self.labels.iter().position(|m| m == l).map_or(1, |at| self.node.shape()[at]);
        labels.iter().map(size).collect()
    }

    /// Summed over the axes whose labels are not among those that are kept.
    fn summed(self, kept: impl Fn(Label) -> bool) -> Result<Labelled> {
        let gone = self.labels.iter().enumerate().filter(|(_, l)| !kept(**l));
        let mask = gone.fold(0, |mask, (at, _)| mask | 1 << at);
        if mask == 0 {
            return Ok(self);
        }
        let dtype = self.node.dtype();
        let node = self.node.reduce(ReduceKind::Sum, mask, false)?.cast(dtype);
        Ok(Labelled { node, labels: self.labels.into_iter().filter(|&l| kept(l)).collect() })
    }

    /// With the axes in an order that has all of their labels; those that are not there have size 1.
    fn ordered(&self, order: &[Label]) -> Result<Node> {
        let axes: Vec<usize> = order.iter().filter_map(|l| self.labels.iter().position(|m| m == l)).collect();
        self.node.permute(&axes)?.reshape(Shape::new(&self.sizes(order))?)
    }
}

fn product(sizes: impl IntoIterator<Item = usize>) -> usize {
    sizes.into_iter().product()
}

/// Two operands multiplied, and summed over the labels that are not kept.
fn pair(op: &'static str, a: &Labelled, b: &Labelled, kept: impl Fn(Label) -> bool) -> Result<Labelled> {
    let (a, b) = (
        a.clone().summed(|l| kept(l) || b.labels.contains(&l))?,
        b.clone().summed(|l| kept(l) || a.labels.contains(&l))?,
    );
    let shared = |l: &&Label| b.labels.contains(l);
    let batch: Vec<Label> = a.labels.iter().filter(shared).filter(|l| kept(**l)).copied().collect();
    let inner: Vec<Label> = a.labels.iter().filter(shared).filter(|l| !kept(**l)).copied().collect();
    let left: Vec<Label> = a.labels.iter().filter(|l| !b.labels.contains(l)).copied().collect();
    let right: Vec<Label> = b.labels.iter().filter(|l| !a.labels.contains(l)).copied().collect();
    let labels: Vec<Label> = [&batch[..], &left, &right].concat();
    if labels.len() > MAX_RANK {
        let text = format!("a product of {} axes: there are {MAX_RANK} at most", labels.len());
        return Err(Error::new(op, ErrorKind::Shape(text)));
    }
    if inner.is_empty() || left.is_empty() && right.is_empty() {
        // One pass over the elements does it.
        let order = [&labels[..], &inner].concat();
        let node = Node::map(Row::Mul, &[&a.ordered(&order)?, &b.ordered(&order)?])?;
        return Labelled { node, labels: order }.summed(|l| !inner.contains(&l));
    }
    let (n, k) = (product(a.sizes(&batch)), product(a.sizes(&inner)));
    let (rows, columns) = (a.sizes(&left), b.sizes(&right));
    let (m, p) = (product(rows.iter().copied()), product(columns.iter().copied()));
    // Products of batches in several axes need them not together.
    let apart = a.sizes(&batch);
    let lead: &[usize] = if batch.len() + 2 <= MAX_RANK { &apart } else { &[n] };
    let shape = |x: usize, y: usize| Shape::new(&[lead, &[x, y]].concat());
    let rows_of_a = a.ordered(&[&batch[..], &left, &inner].concat())?.reshape(shape(m, k)?)?;
    let columns_of_b = b.ordered(&[&batch[..], &inner, &right].concat())?.reshape(shape(k, p)?)?;
    let sizes = [a.sizes(&batch), rows, columns].concat();
    let node = rows_of_a.matmul(&columns_of_b)?.reshape(Shape::new(&sizes)?)?;
    Ok(Labelled { node, labels })
}

/// The order in which operands are contracted: pairs of positions, each pair's result at the end.
fn order(operands: &[Labelled], sizes: &[usize], out: &[Label]) -> Vec<(usize, usize)> {
    let count = operands.len();
    let sets: Vec<Vec<Label>> = operands.iter().map(|o| o.labels.clone()).collect();
    let cost = |labels: &[Label]| labels.iter().map(|&l| sizes[l] as f64).product::<f64>();
    if count <= SEARCHED {
        return searched(&sets, out, &cost);
    }
    // The pair first whose product is cheapest.
    let mut sets: Vec<Option<Vec<Label>>> = sets.into_iter().map(Some).collect();
    let mut pairs = vec![];
    for _ in 1..count {
        let mut best: Option<(f64, usize, usize)> = None;
        for i in 0..sets.len() {
            for j in i + 1..sets.len() {
                if let (Some(a), Some(b)) = (&sets[i], &sets[j]) {
                    let c = cost(&union(a, b));
                    best = Some(best.filter(|&(least, ..)| least <= c).unwrap_or((c, i, j)));
                }
            }
        }
        let Some((_, i, j)) = best else { break };
        let both = union(&sets[i].take().unwrap_or_default(), &sets[j].take().unwrap_or_default());
        let wanted = |l: &Label| out.contains(l) || sets.iter().flatten().any(|s| s.contains(l));
        let result: Vec<Label> = both.into_iter().filter(wanted).collect();
        sets.push(Some(result));
        pairs.push((i, j));
    }
    pairs
}

fn union(a: &[Label], b: &[Label]) -> Vec<Label> {
    a.iter().chain(b.iter().filter(|l| !a.contains(l))).copied().collect()
}

/// The cheapest order of all, by the cheapest way to each set of operands.
fn searched(sets: &[Vec<Label>], out: &[Label], cost: &dyn Fn(&[Label]) -> f64) -> Vec<(usize, usize)> {
    let (count, all) = (sets.len(), (1usize << sets.len()) - 1);
    // What is left of the product of some operands: the labels that others or the result have.
    let left: Vec<Vec<Label>> = (0..=all)
        .map(|of| {
            let inside = (0..count).filter(|i| of >> i & 1 == 1).fold(vec![], |u, i| union(&u, &sets[i]));
            let outside = |l: &Label| (0..count).any(|i| of >> i & 1 == 0 && sets[i].contains(l));
            inside.into_iter().filter(|l| out.contains(l) || outside(l)).collect()
        })
        .collect();
    let mut best: Vec<(f64, usize)> = vec![(f64::INFINITY, 0); all + 1];
    for of in 1..=all {
        if of.count_ones() == 1 {
            best[of] = (0.0, 0);
            continue;
        }
        // Each way to part it, once: the first of its operands stays in one of the parts.
        let first = of & of.wrapping_neg();
        let mut part = (of - 1) & of;
        while part > 0 {
            if part & first != 0 {
                let here = cost(&union(&left[part], &left[of ^ part]));
                let total = best[part].0 + best[of ^ part].0 + here;
                if total < best[of].0 {
                    best[of] = (total, part);
                }
            }
            part = (part - 1) & of;
        }
    }
    fn walk(of: usize, best: &[(f64, usize)], next: &mut usize, pairs: &mut Vec<(usize, usize)>) -> usize {
        if of.count_ones() == 1 {
            return of.trailing_zeros() as usize;
        }
        // Costs that are no numbers any more are all the same: then the first one is taken off.
        let part = if best[of].1 == 0 { of & of.wrapping_neg() } else { best[of].1 };
        let (a, b) = (walk(part, best, next, pairs), walk(of ^ part, best, next, pairs));
        pairs.push((a, b));
        *next += 1;
        *next - 1
    }
    let (mut pairs, mut next) = (vec![], count);
    walk(all, &best, &mut next, &mut pairs);
    pairs
}

/// An operand's axes in another order, and of those that have one label the diagonal: a view, as everywhere. `None` where something is summed, or sizes
/// do not fit.
pub(crate) fn seen(operand: &Tensor, labels: &[Label], out: &[Label]) -> Result<Option<Tensor>> {
    if labels.iter().any(|label| !out.contains(label)) {
        return Ok(None);
    }
    let (mut view, mut labels) = (operand.clone(), labels.to_vec());
    while let Some((i, j)) = twice(&labels) {
        if view.shape()[i] != view.shape()[j] {
            return Ok(None);
        }
        view = view.diagonal(0, i as isize, j as isize)?;
        joined(&mut labels, i, j);
    }
    let order: Option<Vec<isize>> =
        out.iter().map(|label| labels.iter().position(|l| l == label).map(|at| at as isize)).collect();
    order.filter(|order| order.len() == labels.len()).map(|order| view.permute(&order)).transpose()
}

/// Two axes that have one label.
fn twice(labels: &[Label]) -> Option<(usize, usize)> {
    (0..labels.len()).find_map(|i| (i + 1..labels.len()).find(|&j| labels[i] == labels[j]).map(|j| (i, j)))
}

/// The labels when the diagonal of two axes is the last axis.
fn joined(labels: &mut Vec<Label>, i: usize, j: usize) {
    let label = labels.remove(j);
    labels.remove(i);
    labels.push(label);
}

/// The sum of the products of operands over all labels that the result does not have. Operands are of the dtype in which they
/// meet; an axis of size 1 broadcasts.
pub(crate) fn contract(op: &'static str, operands: &[(Tensor, Vec<Label>)], out: &[Label]) -> Result<Tensor> {
    let most = operands.iter().flat_map(|(_, labels)| labels).chain(out).max().map_or(0, |l| l + 1);
    let dtype = operands.iter().map(|(t, _)| t.dtype()).reduce(DType::promote).unwrap_or(DType::F32);
    if dtype == DType::Bool {
        let text = "truth values have no sums of products; convert to an integer or a float first";
        return Err(Error::new(op, ErrorKind::DType(text.into())));
    }
    let mut sizes = vec![1usize; most];
    let mut all = Vec::with_capacity(operands.len());
    for (t, labels) in operands {
        let (mut node, mut labels) = (t.node().cast(dtype), labels.clone());
        // A label that is there twice is that of the diagonal.
        while let Some((i, j)) = twice(&labels) {
            let (n, m) = (node.shape()[i], node.shape()[j]);
            if n != m {
                let text = format!("a diagonal of axes of sizes {n} and {m} of {}", t.shape());
                return Err(Error::new(op, ErrorKind::Shape(text)));
            }
            node = node.diagonal([i, j], 0, n)?;
            joined(&mut labels, i, j);
        }
        // An axis of size 1 is none, and broadcasts.
        let shape = *node.shape();
        let wide: Vec<usize> = (0..labels.len()).filter(|&d| shape[d] != 1).collect();
        let node = node.reshape(Shape::new(&wide.iter().map(|&d| shape[d]).collect::<Vec<_>>())?)?;
        let labels: Vec<Label> = wide.iter().map(|&d| labels[d]).collect();
        for (at, &label) in labels.iter().enumerate() {
            let size = node.shape()[at];
            if sizes[label] != 1 && sizes[label] != size {
                let shapes: Vec<String> = operands.iter().map(|(t, _)| t.shape().to_string()).collect();
                let (before, shapes) = (sizes[label], shapes.join(" and "));
                let text =
                    format!("axes that belong together have sizes {before} and {size}, got shapes {shapes}");
                return Err(Error::new(op, ErrorKind::Shape(text)));
            }
            sizes[label] = size;
        }
        all.push(Labelled { node, labels });
    }
    let pairs = order(&all, &sizes, out);
    let mut all: Vec<Option<Labelled>> = all.into_iter().map(Some).collect();
    for (i, j) in pairs {
        if let (Some(a), Some(b)) = (all[i].take(), all[j].take()) {
            let needed = |l: Label| out.contains(&l) || all.iter().flatten().any(|o| o.labels.contains(&l));
            let result = pair(op, &a, &b, needed)?;
            all.push(Some(result));
        }
    }
    let Some(last) = all.into_iter().flatten().next_back() else {
        return Err(Error::new(op, ErrorKind::Value("takes an operand at least".into())));
    };
    let last = last.summed(|l| out.contains(&l))?;
    Ok(Tensor::from_node(last.ordered(out)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrices(sizes: &[usize]) -> Vec<(Tensor, Vec<Label>)> {
        let shapes = sizes.windows(2).enumerate();
        shapes.map(|(i, s)| (Tensor::zeros(s, DType::F32).unwrap(), vec![i, i + 1])).collect()
    }

    fn order_of(sizes: &[usize]) -> Vec<(usize, usize)> {
        let operands: Vec<Labelled> =
            matrices(sizes).into_iter().map(|(t, labels)| Labelled { node: t.node(), labels }).collect();
        order(&operands, sizes, &[0, sizes.len() - 1])
    }

    /// A chain of matrices whose cheapest order is known: that of Cormen, Leiserson, Rivest and Stein, "Introduction to
    /// Algorithms", section 15.2.
    #[test]
    fn few_operands_take_the_cheapest_order() {
        assert_eq!(order_of(&[10, 100, 5, 50]), [(0, 1), (3, 2)]);
        let pairs = order_of(&[30, 35, 15, 5, 10, 20, 25]);
        assert_eq!(pairs, [(1, 2), (0, 6), (3, 4), (8, 5), (7, 9)]);
    }

    #[test]
    fn many_operands_are_all_contracted() {
        let sizes = [2, 3, 2, 4, 2, 5, 2, 3, 2, 4, 3];
        let ones: Vec<_> = matrices(&sizes).into_iter().map(|(t, l)| (t.ones_like(), l)).collect();
        let out = contract("einsum", &ones, &[0, sizes.len() - 1]).unwrap();
        let each: usize = sizes[1..sizes.len() - 1].iter().product();
        assert_eq!(out.to_vec::<f32>().unwrap(), vec![each as f32; 6]);
    }
}
