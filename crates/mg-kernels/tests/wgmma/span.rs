//! Which tiles blocks of attention meet: `Range`, `Turn` and the ways of groups in attention_wgmma.cu and attention_span.cuh.

use crate::says;
use mg_kernels::library::Span;

/// `met_by` of attention_span.cuh, of so many rows that meet so many others.
fn met_by([before, after]: [i32; 2], rows: usize, all: usize, row: usize) -> [usize; 2] {
    if row >= rows {
        return [all; 2];
    }
    let begin = (row as i32 - before).max(0).min(all as i32);
    [begin, begin.max((row as i32 + 1 + after).min(all as i32))].map(|at| at as usize)
}

/// Of rows with these ranges, what any of some meets, and what all of them meet.
fn met_by_several(
    met: &dyn Fn(usize) -> [usize; 2],
    rows: usize,
    row: usize,
    count: usize,
) -> [[usize; 2]; 2] {
    let last = (row + count).min(rows) - 1;
    [[met(row)[0], met(last)[1]], [met(last)[0], met(row)[1]]]
}

/// Tiles of so many: the first, and one after the last.
fn tiles([begin, end]: [usize; 2], tile: usize) -> [usize; 2] {
    [begin / tile, if end > begin { end.div_ceil(tile) } else { begin / tile }]
}

/// Bounds of all sorts for so many queries and keys.
fn spans(queries: usize, keys: usize) -> Vec<Span> {
    let corner = keys as i64 - queries as i64;
    let of = |behind: Option<i64>, ahead: Option<i64>| Span::new(behind, ahead).unwrap();
    let mut all = vec![Span::ALL, Span::CAUSAL, of(None, Some(corner)), of(Some(-corner), None)];
    for (left, right) in [(0, 0), (1, 0), (63, 0), (64, 63), (65, 200), (500, 0)] {
        all.push(of(Some(left - corner), Some(right + corner)));
    }
    all.extend([of(Some(-40), Some(90)), of(Some(90), Some(-40))]);
    all
}

const SIZES: [(usize, usize); 10] =
    [(1, 1), (1, 700), (700, 1), (64, 64), (65, 63), (193, 385), (385, 193), (500, 500), (3, 129), (600, 40)];

#[test]
fn rows_meet_what_spans_say() {
    says(
        "attention_span.cuh",
        "i32 begin = min(max((i32)row - before, 0), all);
         return {(u32)begin, (u32)max(begin, min((i32)row + 1 + after, all))};",
    );
    for (queries, keys) in SIZES {
        for span in spans(queries, keys) {
            let [behind, ahead] = span.bounds();
            let taken: Vec<_> = (0..queries).map(|query| span.keys(query, keys)).collect();
            for (query, taken) in taken.iter().enumerate() {
                let [begin, end] = met_by([behind, ahead], queries, keys, query);
                assert!(
                    taken.is_empty() && begin == end || *taken == (begin..end),
                    "{queries} {keys} {span:?}"
                );
            }
            for key in 0..keys {
                let [begin, end] = met_by([ahead, behind], keys, queries, key);
                assert!(
                    (0..queries).all(|query| (begin..end).contains(&query) == taken[query].contains(&key))
                );
            }
        }
    }
    let last = Span::FAR as usize - 1;
    for row in [0, last] {
        assert_eq!(met_by(Span::ALL.bounds(), last + 1, last + 1, row), [0, last + 1]);
        assert_eq!(met_by(Span::CAUSAL.bounds(), last + 1, last + 1, row), [0, row + 1]);
    }
}

/// Every tile that is brought for a block is waited for once by each of its groups, which multiplies by all tiles that have something for it.
#[test]
fn groups_meet_what_is_brought_for_their_block() {
    says(
        "attention_span.cuh",
        "any = {first.begin, last.end};
         by_each = {last.begin, KEYS && first.end == p.queries ? ~0u : first.end};",
    );
    says("attention_span.cuh", "return end > begin ? (end + TILE - 1) / TILE : first<TILE>();");
    says("attention_wgmma.cu", "pass(at.first, min(first, end));");
    says("attention_wgmma.cu", "pass(max(last, at.first), end);");
    says("attention_wgmma.cu", "u32 how = tile + OTHERS > any.begin && tile < any.end ? SOME : NOT;");
    for (queries, keys) in SIZES {
        for span in spans(queries, keys) {
            let [behind, ahead] = span.bounds();
            let what = format!("{queries} {keys} {span:?}");
            let of_queries = |query| met_by([behind, ahead], queries, keys, query);
            let of_keys = |key| met_by([ahead, behind], keys, queries, key);
            blocks_meet(&what, &of_queries, queries, keys);
            blocks_meet(&what, &of_keys, keys, queries);
        }
        // Sequences one after the other, of which some have no keys or no queries.
        let lengths = |all: usize, each: &[usize]| -> Vec<usize> {
            let ends = each.iter().scan(0, |at, n| {
                *at = (*at + n).min(all);
                Some(*at)
            });
            std::iter::once(0).chain(ends).collect()
        };
        let (of_queries, of_keys) =
            (lengths(queries, &[3, 0, 70, 64, 1, 200, 500]), lengths(keys, &[9, 4, 0, 129, 40, 150, 500]));
        let range = |of: &[usize], to: &[usize], row: usize| {
            let i = of.iter().position(|&at| at > row).map_or(of.len() - 2, |after| after - 1);
            [to[i], to[i + 1]]
        };
        blocks_meet("packed", &|query| range(&of_queries, &of_keys, query), queries, keys);
        blocks_meet("packed", &|key| range(&of_keys, &of_queries, key), keys, queries);
    }
}

fn blocks_meet(what: &str, met: &dyn Fn(usize) -> [usize; 2], rows: usize, all: usize) {
    for (groups, others) in [(1, 32), (1, 64), (2, 48), (2, 64), (2, 128), (3, 64), (3, 128)] {
        let what = format!("{what}: {rows} rows, {groups} groups, tiles of {others}");
        for row in (0..rows).step_by(64 * groups) {
            let [any, _] = met_by_several(met, rows, row, 64 * groups);
            let [at, end] = tiles(any, others);
            for begin in (0..groups).map(|group| row + group * 64) {
                if begin >= rows {
                    continue;
                }
                let [any, each] = met_by_several(met, rows, begin, 64);
                let [first, last] = tiles(any, others);
                let passed = first.min(end).saturating_sub(at) + end.saturating_sub(last.max(at));
                assert_eq!(passed + (last - first), end - at, "{what}: {begin}");
                let own = begin..rows.min(begin + 64);
                for [from, to] in own.clone().map(met).filter(|range| range[0] < range[1]) {
                    assert!(from >= first * others && to <= last * others, "{what}: {begin}");
                }
                for from in (first..last).map(|t| t * others) {
                    let whole = from >= each[0] && from + others <= each[1];
                    let all_of = |[begin, end]: [usize; 2]| begin <= from && all.min(from + others) <= end;
                    assert!(!whole || own.clone().map(met).all(all_of), "{what}: {begin} {from}");
                }
            }
        }
    }
}
