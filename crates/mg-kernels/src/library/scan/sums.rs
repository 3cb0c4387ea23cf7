//! Running sums and products of f32 by instructions for several numbers at a time. The steps are those of [`Work::groups`], in its order,
//! and so are the bits. What is said of sums holds for products.
//!
//! [`Work::groups`]: super::walk::Work::groups

use crate::cpu::loops::{Isa, isa};

/// Groups of a line, one after the other on the way along it, which goes down where it is `reverse`.
pub(super) struct Run {
    /// The first element on the way.
    pub(super) x: *const f32,
    /// Where its sum goes, if sums are written.
    pub(super) out: Option<*mut f32>,
    pub(super) groups: usize,
    pub(super) reverse: bool,
    /// What is before the piece.
    pub(super) start: f64,
    /// Whether sums go past the caches, where they lie so that they can.
    pub(super) streams: bool,
    /// How much further on the way lies what is to come into the cache meanwhile; 0 if nothing is.
    pub(super) ahead: usize,
}

/// Some elements on the way along sixteen lines beside each other.
pub(super) struct Tile<'a> {
    /// The first element of the first line.
    pub(super) x: *const f32,
    /// Where its sum goes, if sums are written.
    pub(super) out: Option<*mut f32>,
    pub(super) rows: usize,
    /// How far apart neighbours on the way are.
    pub(super) apart: isize,
    /// What the piece comes to up to here.
    pub(super) now: &'a mut [f64],
    /// What is before the piece.
    pub(super) start: Option<&'a [f64]>,
    /// As in [`Run`].
    pub(super) streams: bool,
}

/// Adds up groups, or multiplies, if there are instructions for it. Answers with what their elements alone come to.
///
/// # Safety
///
/// The elements are there, and nobody else writes their sums.
pub(super) unsafe fn groups(run: Run, product: bool) -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instructions are there; this function's contract.
    return unsafe {
        match (isa(), run.reverse, product) {
            (Isa::Baseline, _, _) => None,
            (Isa::Avx2, false, false) => Some(wide::avx2::<false, false>(run)),
            (Isa::Avx2, false, true) => Some(wide::avx2::<false, true>(run)),
            (Isa::Avx2, true, false) => Some(wide::avx2::<true, false>(run)),
            (Isa::Avx2, true, true) => Some(wide::avx2::<true, true>(run)),
            (Isa::Avx512, false, false) => Some(wide::avx512::<false, false>(run)),
            (Isa::Avx512, false, true) => Some(wide::avx512::<false, true>(run)),
            (Isa::Avx512, true, false) => Some(wide::avx512::<true, false>(run)),
            (Isa::Avx512, true, true) => Some(wide::avx512::<true, true>(run)),
        }
    };
    #[cfg(not(target_arch = "x86_64"))]
    match isa() {
        Isa::Baseline | Isa::Avx2 | Isa::Avx512 => None,
    }
}

/// As [`groups`], of a tile.
///
/// # Safety
///
/// As there.
pub(super) unsafe fn tile(tile: Tile, product: bool) -> bool {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instructions are there; this function's contract.
    return unsafe {
        match (isa(), product) {
            (Isa::Baseline, _) => return false,
            (Isa::Avx2 | Isa::Avx512, false) => wide::tile::<false>(tile),
            (Isa::Avx2 | Isa::Avx512, true) => wide::tile::<true>(tile),
        }
        true
    };
    #[cfg(not(target_arch = "x86_64"))]
    match isa() {
        Isa::Baseline | Isa::Avx2 | Isa::Avx512 => false,
    }
}

/// Groups that are gone through together: first what their rows come to, then all sums. So there are so many chains of dependent additions
/// at a time, where the processor looks ahead for about one and a half.
const TOGETHER: usize = 4;

#[cfg(target_arch = "x86_64")]
macro_rules! instructions {
    ($name:ident, $features:literal, $Rows:ident, $load:ident, $store:ident) => {
        /// # Safety
        ///
        /// As the outer one's, and there are the instructions.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $name<const REVERSE: bool, const PRODUCT: bool>(run: Run) -> f64 {
            let start = _mm256_set1_pd(run.start);
            let step = if REVERSE { -(GROUP as isize) } else { GROUP as isize };
            // Where a group begins in memory, from the first element on the way.
            let lowest = if REVERSE { 1 - GROUP as isize } else { 0 };
            let (mut x, mut out) =
                (run.x.wrapping_offset(lowest), run.out.map(|out| out.wrapping_offset(lowest)));
            let ahead = run.ahead as isize * step.signum();
            let streams = run.streams && out.is_some_and(|out| out.addr().is_multiple_of(64));
            let mut all = none256::<PRODUCT>();
            for first in (0..run.groups).step_by(TOGETHER) {
                let mut rows = [const { MaybeUninit::<$Rows>::uninit() }; TOGETHER];
                let rows = &mut rows[..TOGETHER.min(run.groups - first)];
                // SAFETY: this function's contract; what is read of `rows` is written before.
                unsafe {
                    for rows in &mut *rows {
                        rows.write($load::<REVERSE, PRODUCT>(x));
                        if ahead != 0 {
                            for line in (0..GROUP).step_by(16) {
                                _mm_prefetch::<_MM_HINT_T1>(
                                    x.wrapping_offset(ahead).wrapping_add(line).cast(),
                                );
                            }
                        }
                        x = x.wrapping_offset(step);
                    }
                    for rows in rows {
                        let rows = rows.assume_init_ref();
                        let (before, total) = before::<PRODUCT>(rows.branches);
                        if let Some(to) = &mut out {
                            let before = join256::<PRODUCT>(start, join256::<PRODUCT>(all, before));
                            $store::<REVERSE, PRODUCT>(rows, before, *to, streams);
                            *to = to.wrapping_offset(step);
                        }
                        all = join256::<PRODUCT>(all, total);
                    }
                }
            }
            _mm256_cvtsd_f64(all)
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::super::walk::{GROUP, ROW, ROWS, TILE};
    use super::{Run, TOGETHER, Tile};
    use std::arch::x86_64::*;
    use std::array::from_fn;
    use std::mem::MaybeUninit;

    const _: () = assert!(ROW == 4 && ROWS == 4 && TILE.0 == 16);

    instructions!(avx512, "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl", Rows512, load512, store512);
    instructions!(avx2, "avx2,fma", Rows256, load256, store256);

    #[inline]
    #[target_feature(enable = "avx2")]
    fn none256<const PRODUCT: bool>() -> __m256d {
        _mm256_set1_pd(f64::from(u8::from(PRODUCT)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn join256<const PRODUCT: bool>(a: __m256d, b: __m256d) -> __m256d {
        if PRODUCT { _mm256_mul_pd(a, b) } else { _mm256_add_pd(a, b) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn join512<const PRODUCT: bool>(a: __m512d, b: __m512d) -> __m512d {
        if PRODUCT { _mm512_mul_pd(a, b) } else { _mm512_add_pd(a, b) }
    }

    /// From what the four branches of the tree come to: what is before each, and what all come to, four times.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn before<const PRODUCT: bool>(branches: __m256d) -> (__m256d, __m256d) {
        let none = none256::<PRODUCT>();
        // none, a, none, c
        let left = _mm256_unpacklo_pd(none, branches);
        // a, ab, c, cd
        let pairs = join256::<PRODUCT>(left, branches);
        let first = _mm256_permute4x64_pd::<0x55>(pairs);
        // none, a, ab, abc
        let before = join256::<PRODUCT>(_mm256_blend_pd::<0b1100>(none, first), left);
        (before, join256::<PRODUCT>(first, _mm256_permute4x64_pd::<0xff>(pairs)))
    }

    /// The sums within the rows of a group. A register has what stands at one place of its row, of first and second rows or of third and
    /// fourth ones.
    #[derive(Clone, Copy)]
    struct Rows512 {
        low: [__m512d; ROW],
        high: [__m512d; ROW],
        /// What the first row of each branch comes to, the first two, the first three, and all.
        one: __m256d,
        two: __m256d,
        three: __m256d,
        branches: __m256d,
    }

    /// Exchanges rows of elements and registers. Twice, it changes nothing.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn transposed512(x: [__m512; 4]) -> [__m512; 4] {
        let (ab, cd) = (_mm512_unpacklo_ps(x[0], x[1]), _mm512_unpacklo_ps(x[2], x[3]));
        let (ef, gh) = (_mm512_unpackhi_ps(x[0], x[1]), _mm512_unpackhi_ps(x[2], x[3]));
        [
            _mm512_shuffle_ps::<0x44>(ab, cd),
            _mm512_shuffle_ps::<0xee>(ab, cd),
            _mm512_shuffle_ps::<0x44>(ef, gh),
            _mm512_shuffle_ps::<0xee>(ef, gh),
        ]
    }

    /// The elements of a register in the order of the way.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn turned512<const REVERSE: bool>(x: __m512) -> __m512 {
        let turn = _mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        if REVERSE { _mm512_permutexvar_ps(turn, x) } else { x }
    }

    /// # Safety
    ///
    /// A group begins there.
    #[inline]
    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn load512<const REVERSE: bool, const PRODUCT: bool>(x: *const f32) -> Rows512 {
        let place = |branch: usize| if REVERSE { 3 - branch } else { branch };
        // SAFETY: this function's contract.
        let load = |branch| unsafe { turned512::<REVERSE>(_mm512_loadu_ps(x.add(16 * place(branch)))) };
        let x = transposed512([load(0), load(1), load(2), load(3)]);
        let mut low = from_fn(|i| _mm512_cvtps_pd(_mm512_castps512_ps256(x[i])));
        let mut high = from_fn(|i| _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(x[i])));
        for i in 1..ROW {
            low[i] = join512::<PRODUCT>(low[i - 1], low[i]);
            high[i] = join512::<PRODUCT>(high[i - 1], high[i]);
        }
        let one = _mm512_castpd512_pd256(low[3]);
        let two = join256::<PRODUCT>(one, _mm512_extractf64x4_pd::<1>(low[3]));
        let three = join256::<PRODUCT>(two, _mm512_castpd512_pd256(high[3]));
        let branches = join256::<PRODUCT>(three, _mm512_extractf64x4_pd::<1>(high[3]));
        Rows512 { low, high, one, two, three, branches }
    }

    /// Writes the sums of a group from what is before its branches.
    ///
    /// # Safety
    ///
    /// A group begins there, and a line of the cache if it `streams`.
    #[inline]
    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn store512<const REVERSE: bool, const PRODUCT: bool>(
        rows: &Rows512,
        before: __m256d,
        out: *mut f32,
        streams: bool,
    ) {
        let pair = |a, b| _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(a), b);
        let low = pair(before, join256::<PRODUCT>(before, rows.one));
        let high = pair(join256::<PRODUCT>(before, rows.two), join256::<PRODUCT>(before, rows.three));
        let sums = transposed512(from_fn(|i| {
            let low = _mm512_cvtpd_ps(join512::<PRODUCT>(low, rows.low[i]));
            let high = _mm512_cvtpd_ps(join512::<PRODUCT>(high, rows.high[i]));
            _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high)
        }));
        for branch in 0..4 {
            let sums = turned512::<REVERSE>(sums[branch]);
            // SAFETY: this function's contract.
            unsafe {
                let to = out.add(16 * if REVERSE { 3 - branch } else { branch });
                if streams { _mm512_stream_ps(to, sums) } else { _mm512_storeu_ps(to, sums) }
            }
        }
    }

    /// As [`Rows512`]: a register has what stands at one place of its row.
    #[derive(Clone, Copy)]
    struct Rows256 {
        /// Of first, second, third and fourth rows.
        rows: [[__m256d; ROW]; ROWS],
        two: __m256d,
        three: __m256d,
        branches: __m256d,
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn transposed256(x: [__m256; 4]) -> [__m256; 4] {
        let (ab, cd) = (_mm256_unpacklo_ps(x[0], x[1]), _mm256_unpacklo_ps(x[2], x[3]));
        let (ef, gh) = (_mm256_unpackhi_ps(x[0], x[1]), _mm256_unpackhi_ps(x[2], x[3]));
        [
            _mm256_shuffle_ps::<0x44>(ab, cd),
            _mm256_shuffle_ps::<0xee>(ab, cd),
            _mm256_shuffle_ps::<0x44>(ef, gh),
            _mm256_shuffle_ps::<0xee>(ef, gh),
        ]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn turned256<const REVERSE: bool>(x: __m256) -> __m256 {
        if REVERSE { _mm256_permutevar8x32_ps(x, _mm256_set_epi32(0, 1, 2, 3, 4, 5, 6, 7)) } else { x }
    }

    /// # Safety
    ///
    /// A group begins there.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn load256<const REVERSE: bool, const PRODUCT: bool>(x: *const f32) -> Rows256 {
        let place = |half: usize| if REVERSE { 7 - half } else { half };
        // SAFETY: this function's contract.
        let load = |half| unsafe { turned256::<REVERSE>(_mm256_loadu_ps(x.add(8 * place(half)))) };
        let halves = [
            transposed256([load(0), load(2), load(4), load(6)]),
            transposed256([load(1), load(3), load(5), load(7)]),
        ];
        let mut rows = [[_mm256_setzero_pd(); ROW]; ROWS];
        for i in 0..ROW {
            for (half, x) in halves.iter().enumerate() {
                rows[2 * half][i] = _mm256_cvtps_pd(_mm256_castps256_ps128(x[i]));
                rows[2 * half + 1][i] = _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(x[i]));
            }
        }
        for row in &mut rows {
            for i in 1..ROW {
                row[i] = join256::<PRODUCT>(row[i - 1], row[i]);
            }
        }
        let two = join256::<PRODUCT>(rows[0][3], rows[1][3]);
        let three = join256::<PRODUCT>(two, rows[2][3]);
        let branches = join256::<PRODUCT>(three, rows[3][3]);
        Rows256 { rows, two, three, branches }
    }

    /// # Safety
    ///
    /// As [`store512`]'s.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn store256<const REVERSE: bool, const PRODUCT: bool>(
        rows: &Rows256,
        before: __m256d,
        out: *mut f32,
        streams: bool,
    ) {
        let before = [
            before,
            join256::<PRODUCT>(before, rows.rows[0][3]),
            join256::<PRODUCT>(before, rows.two),
            join256::<PRODUCT>(before, rows.three),
        ];
        for half in 0..2 {
            let sums = transposed256(from_fn(|i| {
                let low = _mm256_cvtpd_ps(join256::<PRODUCT>(before[2 * half], rows.rows[2 * half][i]));
                let high =
                    _mm256_cvtpd_ps(join256::<PRODUCT>(before[2 * half + 1], rows.rows[2 * half + 1][i]));
                _mm256_set_m128(high, low)
            }));
            for branch in 0..4 {
                let sums = turned256::<REVERSE>(sums[branch]);
                let place = 2 * branch + half;
                // SAFETY: this function's contract.
                unsafe {
                    let to = out.add(8 * if REVERSE { 7 - place } else { place });
                    if streams { _mm256_stream_ps(to, sums) } else { _mm256_storeu_ps(to, sums) }
                }
            }
        }
    }

    /// # Safety
    ///
    /// As the outer one's, and there is AVX2.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn tile<const PRODUCT: bool>(tile: Tile) {
        let Tile { x, out, rows, apart, now, start, streams } = tile;
        let quads = |states: &[f64]| {
            let mut quads = [_mm256_setzero_pd(); 4];
            for (quad, states) in quads.iter_mut().zip(states.chunks_exact(4)) {
                // SAFETY: there are four.
                *quad = unsafe { _mm256_loadu_pd(states.as_ptr()) };
            }
            quads
        };
        let mut states = quads(now);
        let start = start.map(quads);
        let rows = rows.min(TILE.1);
        // All that is read comes before all that is written: where lines are as far apart as pages, the processor takes what it reads of one
        // row for what it wrote of the row before, and waits.
        let mut read = [[_mm256_setzero_ps(); 2]; TILE.1];
        for (i, read) in read[..rows].iter_mut().enumerate() {
            let x = x.wrapping_offset(i as isize * apart);
            // SAFETY: this function's contract.
            *read = unsafe { [_mm256_loadu_ps(x), _mm256_loadu_ps(x.add(8))] };
        }
        for (i, read) in read[..rows].iter().enumerate() {
            for (half, &x) in read.iter().enumerate() {
                let x = [_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x)];
                for (state, x) in states[2 * half..].iter_mut().zip(x) {
                    *state = join256::<PRODUCT>(*state, _mm256_cvtps_pd(x));
                }
            }
            let Some(out) = out else { continue };
            let out = out.wrapping_offset(i as isize * apart);
            let all = match start {
                None => states,
                Some(start) => {
                    let mut all = states;
                    for (all, start) in all.iter_mut().zip(start) {
                        *all = join256::<PRODUCT>(start, *all);
                    }
                    all
                }
            };
            let streams = streams && out.addr().is_multiple_of(32);
            for half in 0..2 {
                let sums =
                    _mm256_set_m128(_mm256_cvtpd_ps(all[2 * half + 1]), _mm256_cvtpd_ps(all[2 * half]));
                // SAFETY: this function's contract.
                unsafe {
                    let to = out.add(8 * half);
                    if streams { _mm256_stream_ps(to, sums) } else { _mm256_storeu_ps(to, sums) }
                }
            }
        }
        for (now, state) in now.chunks_exact_mut(4).zip(states) {
            // SAFETY: there are four.
            unsafe { _mm256_storeu_pd(now.as_mut_ptr(), state) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::walk::{GROUP, ROW, ROWS};
    use super::*;

    /// Groups as they are added up without instructions of their own.
    fn plainly(x: &[f32], start: f64) -> (Vec<f32>, f64) {
        let (mut out, mut all) = (vec![], 0.0);
        for group in x.chunks(GROUP) {
            let mut before = [0.0; ROWS];
            let mut sums = [0.0; GROUP];
            let mut branches = [0.0; ROWS];
            for (b, branch) in group.chunks(GROUP / ROWS).enumerate() {
                let mut rows = None;
                for (r, row) in branch.chunks(ROW).enumerate() {
                    let mut now = 0.0;
                    for (i, &x) in row.iter().enumerate() {
                        now += f64::from(x);
                        sums[b * GROUP / ROWS + r * ROW + i] = now;
                    }
                    rows = Some(rows.map_or(now, |rows: f64| rows + now));
                }
                branches[b] = rows.unwrap_or(0.0);
            }
            let [a, b, c, d] = branches;
            for (before, sum) in before.iter_mut().zip([0.0, a, a + b, a + b + c]) {
                *before = start + (all + sum);
            }
            for (b, before) in before.into_iter().enumerate() {
                let mut rows: Option<f64> = None;
                for r in 0..ROWS {
                    let row = &sums[b * GROUP / ROWS + r * ROW..][..ROW];
                    let before = rows.map_or(before, |rows| before + rows);
                    out.extend(row.iter().map(|sum| (before + sum) as f32));
                    rows = Some(rows.map_or(row[ROW - 1], |rows| rows + row[ROW - 1]));
                }
            }
            all += (a + b) + (c + d);
        }
        (out, all)
    }

    #[test]
    fn groups_have_the_bits_of_additions_one_by_one() {
        let n = 7 * GROUP;
        let number = |i: usize| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let mut x: Vec<f32> = (0..n).map(|i| number(i) as f32 * 1.1e-7 - 0.9).collect();
        (x[5], x[70], x[199]) = (-0.0, 1e30, -1e30);
        type Groups = unsafe fn(Run) -> f64;
        let mut all_ways: Vec<[Groups; 2]> = vec![];
        #[cfg(target_arch = "x86_64")]
        {
            if isa() != Isa::Baseline {
                all_ways.push([wide::avx2::<false, false>, wide::avx2::<true, false>]);
            }
            if isa() == Isa::Avx512 {
                all_ways.push([wide::avx512::<false, false>, wide::avx512::<true, false>]);
            }
        }
        for (groups, reverse) in all_ways.iter().flat_map(|ways| [(ways[0], false), (ways[1], true)]) {
            for (start, streams) in [(0.0, false), (-17.25, true), (0.3, false)] {
                let mut out = vec![f32::NAN; n];
                let first = if reverse { n - 1 } else { 0 };
                let (from, to) = (&raw const x[first], &raw mut out[first]);
                let run = |out| Run { x: from, out, groups: n / GROUP, reverse, start, streams, ahead: 0 };
                // SAFETY: the groups are all of both.
                let (all, sum) = unsafe { (groups(run(Some(to))), groups(run(None))) };
                let mut on_way = x.clone();
                if reverse {
                    on_way.reverse();
                    out.reverse();
                }
                let (wanted, wanted_all) = plainly(&on_way, start);
                assert_eq!((all.to_bits(), sum.to_bits()), (wanted_all.to_bits(), wanted_all.to_bits()));
                assert!(out.iter().zip(&wanted).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
        }
    }
}
