//! Where things go in a layered drawing, after Sugiyama, Tagawa and Toda, "Methods for visual understanding of
//! hierarchical system structures" (1981): ranks by longest paths, long edges through empty places in the ranks between,
//! few crossings by the barycentre heuristic, and straight edges by least squares.
//!
//! The *main* axis runs across the ranks, the *cross* axis along them; the caller maps them to x and y.

/// The extent of an item along each axis.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) main: f64,
    pub(super) cross: f64,
}

/// A layered drawing.
pub(super) struct Layout {
    /// For each item: where it ends on the main axis, and its centre on the cross axis.
    pub(super) ends: Vec<(f64, f64)>,
    /// For each edge the straight stretches it runs along, to the start of its target: start and end on the main axis,
    /// and the place on the cross axis. It begins at the end of its source, or where it leaves another edge from there.
    pub(super) routes: Vec<Vec<(f64, f64, f64)>>,
    pub(super) extent: Size,
}

/// Space between ranks, and between neighbours in a rank.
const RANK_GAP: f64 = 44.0;
const GAP: f64 = 14.0;
/// Empty places make a graph with many long edges larger; beyond this number such edges run straight instead.
const MAX_EMPTY: usize = 50_000;

struct Graph {
    /// Of items, then of empty places.
    rank: Vec<usize>,
    cross: Vec<f64>,
    items: usize,
    /// Between neighbouring ranks only: neighbour and weight.
    before: Vec<Vec<(usize, f64)>>,
    after: Vec<Vec<(usize, f64)>>,
    ranks: Vec<Vec<usize>>,
}

/// Places items, each of which comes behind the sources of its edges `(source, target)`.
pub(super) fn layered(sizes: &[Size], edges: &[(usize, usize)]) -> Layout {
    let rank = ranks(sizes.len(), edges);
    let (mut graph, trunks) = Graph::new(rank, sizes, edges);
    graph.order();
    let centre = graph.place();

    let count = graph.ranks.len();
    let mut thickness = vec![0.0_f64; count];
    for (i, size) in sizes.iter().enumerate() {
        thickness[graph.rank[i]] = thickness[graph.rank[i]].max(size.main);
    }
    // A gap that edges cross steeply is wider.
    let mut gap = vec![RANK_GAP; count];
    for (v, after) in graph.after.iter().enumerate() {
        for &(w, _) in after {
            let r = graph.rank[v];
            gap[r] = gap[r].max((RANK_GAP + 0.08 * (centre[v] - centre[w]).abs()).min(4.0 * RANK_GAP));
        }
    }
    let mut starts = Vec::with_capacity(count);
    let mut at = 0.0;
    for r in 0..count {
        starts.push(at);
        at += thickness[r] + if r + 1 < count { gap[r] } else { 0.0 };
    }
    let end = |v: usize| starts[graph.rank[v]] + thickness[graph.rank[v]];
    let low = (0..sizes.len()).map(|i| centre[i] - sizes[i].cross / 2.0).fold(f64::INFINITY, f64::min);
    let high = (0..sizes.len()).map(|i| centre[i] + sizes[i].cross / 2.0).fold(f64::NEG_INFINITY, f64::max);
    let mut drawn = vec![false; sizes.len()];
    let mut route = |&(source, target): &(usize, usize)| {
        let first = graph.rank[source] + 1;
        let places = &trunks[source][..(graph.rank[target] - first).min(trunks[source].len())];
        let mut stretches = vec![(end(source), end(source), centre[source] - low)];
        for (&place, r) in places.iter().zip(first..) {
            stretches.push((starts[r], starts[r] + thickness[r], centre[place] - low));
        }
        // The longest edge draws what all edges of a source share; the others leave it where they part.
        let shared = stretches.len() - 1;
        if shared > 0 && (drawn[source] || places.len() < trunks[source].len()) {
            let (_, part, cross) = stretches[shared];
            stretches = vec![(part, part, cross)];
        } else if shared > 0 {
            drawn[source] = true;
        }
        let start = end(target) - sizes[target].main;
        stretches.push((starts[graph.rank[target]], start, centre[target] - low));
        stretches
    };
    Layout {
        routes: edges.iter().map(&mut route).collect(),
        ends: (0..sizes.len()).map(|i| (end(i), centre[i] - low)).collect(),
        extent: Size { main: at, cross: (high - low).max(0.0) },
    }
}

/// Ranks by the longest path from a source; what is only needed later moves up to where it is needed.
fn ranks(items: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut rank = vec![0; items];
    let (mut degree_in, mut nearest) = (vec![0; items], vec![usize::MAX; items]);
    let mut degree_out = vec![0; items];
    let mut by_target = edges.to_vec();
    by_target.sort_unstable_by_key(|e| e.1);
    for &(source, target) in &by_target {
        rank[target] = rank[target].max(rank[source] + 1);
        degree_in[target] += 1;
        degree_out[source] += 1;
    }
    let mut by_source = by_target;
    by_source.sort_unstable_by_key(|e| std::cmp::Reverse(e.0));
    let mut rest = &by_source[..];
    for i in (0..items).rev() {
        while let Some((&(source, target), tail)) = rest.split_first()
            && source == i
        {
            nearest[i] = nearest[i].min(rank[target]);
            rest = tail;
        }
        if degree_out[i] > 0 && degree_in[i] <= degree_out[i] {
            rank[i] = nearest[i] - 1;
        }
    }
    rank
}

impl Graph {
    /// The graph with empty places where edges pass a rank: one chain for each source, which its edges share. Returns
    /// the chains too.
    fn new(rank: Vec<usize>, sizes: &[Size], edges: &[(usize, usize)]) -> (Graph, Vec<Vec<usize>>) {
        let items = sizes.len();
        let mut farthest = rank.clone();
        for &(source, target) in edges {
            farthest[source] = farthest[source].max(rank[target]);
        }
        let empty: usize = (0..items).map(|i| (farthest[i] - rank[i]).saturating_sub(1)).sum();
        let mut graph = Graph {
            cross: sizes.iter().map(|s| s.cross).collect(),
            items,
            before: vec![Vec::new(); items],
            after: vec![Vec::new(); items],
            ranks: vec![Vec::new(); rank.iter().max().map_or(0, |r| r + 1)],
            rank,
        };
        let mut trunks = vec![Vec::new(); items];
        if empty <= MAX_EMPTY {
            for i in 0..items {
                for r in graph.rank[i] + 1..farthest[i] {
                    let place = graph.rank.len();
                    graph.rank.push(r);
                    graph.cross.push(4.0);
                    graph.before.push(Vec::new());
                    graph.after.push(Vec::new());
                    let last = trunks[i].last().copied();
                    // Bends in the middle of an edge catch the eye most.
                    graph.join(last.unwrap_or(i), place, if last.is_some() { 8.0 } else { 2.0 });
                    trunks[i].push(place);
                }
            }
        }
        for &(source, target) in edges {
            let steps = graph.rank[target] - graph.rank[source];
            match steps {
                1 => graph.join(source, target, 1.0),
                _ => {
                    if let Some(&last) = trunks[source].get(steps - 2) {
                        graph.join(last, target, 2.0);
                    }
                }
            }
        }
        for v in 0..graph.rank.len() {
            graph.ranks[graph.rank[v]].push(v);
        }
        (graph, trunks)
    }

    fn join(&mut self, v: usize, w: usize, weight: f64) {
        self.after[v].push((w, weight));
        self.before[w].push((v, weight));
    }

    /// Orders each rank so that few edges cross.
    fn order(&mut self) {
        let mut position = vec![0; self.rank.len()];
        self.number(&mut position);
        let mut best = (self.crossings(&position), self.ranks.clone());
        let sweeps = if self.rank.len() > 5000 { 4 } else { 24 };
        for sweep in 0..sweeps {
            if best.0 == 0 {
                break;
            }
            let forward = sweep % 2 == 0;
            for i in 0..self.ranks.len() {
                let r = if forward { i } else { self.ranks.len() - 1 - i };
                let side = if forward { &self.before } else { &self.after };
                let mean = |v: usize| {
                    let near = &side[v];
                    let sum: usize = near.iter().map(|&(w, _)| position[w]).sum();
                    if near.is_empty() { position[v] as f64 } else { sum as f64 / near.len() as f64 }
                };
                let mut keyed: Vec<(f64, usize)> = self.ranks[r].iter().map(|&v| (mean(v), v)).collect();
                // Every other pair of sweeps turns ties round, to get out of a rut.
                if sweep % 4 >= 2 {
                    keyed.reverse();
                }
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.ranks[r] = keyed.into_iter().map(|(_, v)| v).collect();
                for (p, &v) in self.ranks[r].iter().enumerate() {
                    position[v] = p;
                }
            }
            let crossings = self.crossings(&position);
            if crossings < best.0 {
                best = (crossings, self.ranks.clone());
            }
        }
        self.ranks = best.1;
    }

    fn number(&self, position: &mut [usize]) {
        for rank in &self.ranks {
            for (p, &v) in rank.iter().enumerate() {
                position[v] = p;
            }
        }
    }

    /// The number of crossings, by counting inversions in a Fenwick tree (Barth, Jünger and Mutzel 2002).
    fn crossings(&self, position: &[usize]) -> usize {
        let mut total = 0;
        for (r, rank) in self.ranks.iter().enumerate() {
            let mut tree = vec![0usize; self.ranks.get(r + 1).map_or(0, Vec::len) + 1];
            let mut seen = 0;
            for &v in rank {
                let mut ends: Vec<usize> = self.after[v].iter().map(|&(w, _)| position[w]).collect();
                ends.sort_unstable();
                // Those of one source do not cross each other: all are counted before any is entered.
                for &end in &ends {
                    let (mut not_beyond, mut i) = (0, end + 1);
                    while i > 0 {
                        not_beyond += tree[i];
                        i &= i - 1;
                    }
                    total += seen - not_beyond;
                }
                for &end in &ends {
                    let mut i = end + 1;
                    while i < tree.len() {
                        tree[i] += 1;
                        i += i & i.wrapping_neg();
                    }
                    seen += 1;
                }
            }
        }
        total
    }

    /// Centres on the cross axis: sweeps that draw each rank to its neighbours, the order kept.
    fn place(&self) -> Vec<f64> {
        let mut centre = vec![0.0; self.rank.len()];
        for rank in &self.ranks {
            let mut at = 0.0;
            for (i, &v) in rank.iter().enumerate() {
                at += if i > 0 { self.distance(rank[i - 1], v) } else { 0.0 };
                centre[v] = at;
            }
            rank.iter().for_each(|&v| centre[v] -= at / 2.0);
        }
        let sweeps = if self.rank.len() > 5000 { 6 } else { 30 };
        for sweep in 0..sweeps {
            let forward = sweep % 2 == 0;
            let settle = sweep + 6 >= sweeps;
            for i in 0..self.ranks.len() {
                let rank = &self.ranks[if forward { i } else { self.ranks.len() - 1 - i }];
                let wish = |v: usize| {
                    let (one, other) =
                        if forward { (&self.before, &self.after) } else { (&self.after, &self.before) };
                    let near = one[v].iter().chain(if settle { &other[v][..] } else { &[] });
                    let (mut sum, mut weight) = (0.0, 0.0);
                    for &(w, by) in near {
                        sum += by * centre[w];
                        weight += by;
                    }
                    if weight == 0.0 { (centre[v], 0.01) } else { (sum / weight, weight) }
                };
                let wishes: Vec<(f64, f64)> = rank.iter().map(|&v| wish(v)).collect();
                for (&v, at) in rank.iter().zip(self.fit(rank, &wishes)) {
                    centre[v] = at;
                }
            }
        }
        centre
    }

    /// The least distance of two neighbours' centres.
    fn distance(&self, v: usize, w: usize) -> f64 {
        let gap = if v < self.items && w < self.items { GAP } else { GAP * 0.7 };
        (self.cross[v] + self.cross[w]) / 2.0 + gap
    }

    /// The places nearest to the wishes (place, weight), by least squares, that keep order and distances: isotonic
    /// regression by pooling adjacent violators, on places less the distances before them.
    fn fit(&self, rank: &[usize], wishes: &[(f64, f64)]) -> Vec<f64> {
        let mut offset = vec![0.0; rank.len()];
        for i in 1..rank.len() {
            offset[i] = offset[i - 1] + self.distance(rank[i - 1], rank[i]);
        }
        // Blocks that move together: mean, weight, length.
        let mut blocks: Vec<(f64, f64, usize)> = Vec::with_capacity(rank.len());
        for (&(wish, weight), shift) in wishes.iter().zip(&offset) {
            let mut block = (wish - shift, weight, 1);
            while let Some(&(mean, weight, len)) = blocks.last()
                && mean > block.0
            {
                blocks.pop();
                let sum = weight + block.1;
                block = ((mean * weight + block.0 * block.1) / sum, sum, len + block.2);
            }
            blocks.push(block);
        }
        let means = blocks.iter().flat_map(|&(mean, _, len)| std::iter::repeat_n(mean, len));
        means.zip(&offset).map(|(mean, shift)| mean + shift).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Size = Size { main: 30.0, cross: 10.0 };

    #[test]
    fn a_chain_is_a_straight_line() {
        let layout = layered(&[BOX; 4], &[(0, 1), (1, 2), (2, 3)]);
        assert!(layout.ends.windows(2).all(|w| w[0].0 + RANK_GAP + 30.0 == w[1].0));
        assert!(layout.ends.iter().all(|e| (e.1 - 5.0).abs() < 1e-9));
        assert_eq!(layout.extent.cross, 10.0);
    }

    #[test]
    fn a_leaf_stands_right_before_its_use() {
        assert_eq!(ranks(4, &[(0, 2), (2, 3), (1, 3)]), [0, 1, 1, 2]);
    }

    #[test]
    fn crossings_that_can_be_avoided_are() {
        // Two ladders whose rungs are entered crosswise.
        let edges = [(0, 5), (1, 4), (2, 7), (3, 6)];
        let (mut graph, _) = Graph::new(ranks(8, &edges), &[BOX; 8], &edges);
        graph.order();
        let mut position = vec![0; 8];
        graph.number(&mut position);
        assert_eq!(graph.crossings(&position), 0);
    }

    #[test]
    fn crossings_are_counted() {
        let edges = [(0, 3), (0, 5), (1, 4), (2, 3)];
        let (graph, _) = Graph::new(ranks(6, &edges), &[BOX; 6], &edges);
        let mut position = vec![0; 6];
        graph.number(&mut position);
        // 1-4 under 0-5; 2-3 under 0-5 and 1-4.
        assert_eq!(graph.crossings(&position), 3);
    }

    #[test]
    fn neighbours_keep_their_distance() {
        // A fan of many leaves into one.
        let edges: Vec<_> = (0..9).map(|i| (i, 9)).collect();
        let layout = layered(&[BOX; 10], &edges);
        let mut at: Vec<f64> = layout.ends[..9].iter().map(|e| e.1).collect();
        at.sort_by(f64::total_cmp);
        assert!(at.windows(2).all(|w| w[1] - w[0] >= 10.0 + GAP - 1e-9), "{at:?}");
        assert!((layout.ends[9].1 - at[4]).abs() < 1e-6, "the one stands in the middle");
    }

    #[test]
    fn a_long_edge_passes_between_the_items_it_passes() {
        let edges = [(0, 1), (1, 2), (2, 3), (0, 3)];
        let layout = layered(&[BOX; 4], &edges);
        for &(start, end, cross) in &layout.routes[3][1..3] {
            let passed = layout.ends.iter().find(|e| e.0 > start - 1e-9 && e.0 < end + 1e-9).unwrap();
            assert!((passed.1 - cross).abs() >= 5.0, "{passed:?} {cross}");
        }
    }
}
