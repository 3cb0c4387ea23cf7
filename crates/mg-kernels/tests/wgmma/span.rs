//! Which tiles blocks of attention meet: `Range`, `Turn` and the ways of groups in attention_wgmma.cu and attention_span.cuh.

use crate::says;
use mg_kernels::library::Span;

/// `Range` of attention_span.cuh, as tiles of so many: the first, and one after the last.
fn tiles(row: usize, rows: usize, [before, after]: [i32; 2], all: usize, tile: usize) -> [usize; 2] {
    let begin = (row as i32 - before).max(0) as usize;
    let end = ((row + rows) as i32 + after).min(all as i32).max(0) as usize;
    let first = begin / tile;
    [first, if end > begin { end.div_ceil(tile) } else { first }]
}

/// `all_near`.
fn all_near([behind, ahead]: [i32; 2], query: usize, queries: i32, key: usize, keys: i32) -> bool {
    let apart = (key as i64 - query as i64) as i32;
    apart + (keys - 1) <= ahead && queries - 1 - apart <= behind
}

/// `are_near`, which wraps.
fn are_near([behind, ahead]: [i32; 2], query: usize, key: usize) -> bool {
    let [behind, ahead] = [behind, ahead].map(|bound| bound as u32);
    (key as u32).wrapping_sub(query as u32).wrapping_add(behind) <= behind.wrapping_add(ahead)
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
fn keys_are_near_as_spans_say() {
    says("attention_span.cuh", "return key - query + (u32)p.behind <= (u32)p.behind + (u32)p.ahead;");
    for (queries, keys) in SIZES {
        for span in spans(queries, keys) {
            for query in 0..queries {
                let taken = span.keys(query, keys);
                assert!((0..keys).all(|key| are_near(span.bounds(), query, key) == taken.contains(&key)));
            }
        }
    }
    let last = Span::FAR as usize - 1;
    for (query, key) in [(0, last), (last, 0), (last, last), (0, 0)] {
        assert!(are_near(Span::ALL.bounds(), query, key));
        assert_eq!(are_near(Span::CAUSAL.bounds(), query, key), key <= query);
    }
}

/// Every tile that is brought for a block is waited for once by each of its groups, and a group multiplies by all tiles that have something for it.
#[test]
fn groups_meet_what_is_brought_for_their_block() {
    says(
        "attention_span.cuh",
        "begin = (u32)max((i32)row - before, 0);
         end = (u32)max(min((i32)(row + rows) + after, (i32)all), 0);",
    );
    says("attention_span.cuh", "return apart + (keys - 1) <= p.ahead && queries - 1 - apart <= p.behind;");
    says("attention_wgmma.cu", "pass(at.first, min(first, end));");
    says("attention_wgmma.cu", "pass(max(last, at.first), end);");
    says("attention_wgmma.cu", "if (begin >= p.keys || from + OTHERS <= own_met.begin || from >= own_met.end) {");
    for (queries, keys) in SIZES {
        for span in spans(queries, keys) {
            let bounds @ [behind, ahead] = span.bounds();
            for (groups, others) in [(1, 32), (1, 64), (2, 48), (2, 64), (2, 128), (3, 64), (3, 128)] {
                let what = format!("{queries} {keys} {span:?}: {groups} groups, tiles of {others}");
                // Queries meet keys.
                for row in (0..queries).step_by(64 * groups) {
                    let [at, end] = tiles(row, 64 * groups, bounds, keys, others);
                    for begin in (0..groups).map(|group| row + group * 64) {
                        let [first, mut last] = tiles(begin, 64, bounds, keys, others);
                        last = if begin < queries { last } else { first };
                        let before = first.min(end).saturating_sub(at);
                        let after = end.saturating_sub(last.max(at));
                        assert_eq!(before + (last - first) + after, end - at, "{what}: {begin}");
                        for query in begin..queries.min(begin + 64) {
                            let taken = span.keys(query, keys);
                            assert!(taken.is_empty() || taken.start >= first * others, "{what}: {query}");
                            assert!(taken.end <= last * others || taken.is_empty(), "{what}: {query}");
                        }
                        for t in first..last {
                            let whole = all_near(bounds, begin, 64, t * others, others as i32);
                            let all = (begin..queries.min(begin + 64))
                                .all(|query| (t * others..keys.min((t + 1) * others)).all(|key| span.keys(query, keys).contains(&key)));
                            assert!(!whole || all, "{what}: {begin} {t}");
                        }
                        let width = behind.saturating_add(ahead) as usize + 1;
                        assert!((last - first) * others <= keys.min(width + 64) + 2 * others, "{what}");
                    }
                }
                // Keys meet queries.
                for row in (0..keys).step_by(64 * groups) {
                    let [at, end] = tiles(row, 64 * groups, [ahead, behind], queries, others);
                    for begin in (0..groups).map(|group| row + group * 64).filter(|&begin| begin < keys) {
                        let met = [(begin as i32 - ahead).max(0), ((begin + 64) as i32 + behind).min(queries as i32).max(0)];
                        let is_met = |t: usize| {
                            let from = (t * others) as i32;
                            !(from + others as i32 <= met[0] || from >= met[1])
                        };
                        for key in begin..keys.min(begin + 64) {
                            for query in (0..queries).filter(|&query| span.keys(query, keys).contains(&key)) {
                                let t = query / others;
                                assert!((at..end).contains(&t) && is_met(t), "{what}: {query} {key}");
                            }
                        }
                        // Where a stage is let go one tile later, as of two groups with tiles of 64, tiles that are skipped in a row are fewer than there are stages.
                        if (groups, others) == (2, 64) && (at..end).any(is_met) {
                            let skipped = (at..end).filter(|&t| !is_met(t)).count();
                            assert!(skipped <= 2, "{what}: {begin}");
                        }
                    }
                }
            }
        }
    }
}
