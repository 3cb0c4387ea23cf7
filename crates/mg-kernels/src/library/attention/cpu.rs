//! Attention on the CPU: blocks of queries against blocks of keys, multiplied as matrices.

use super::{Attention, AttentionKind, Heads, Sizes, Span};
use crate::cpu::library::scratch::{self, Slot};
use crate::cpu::library::softmax::{Real, convert, convert_back, largest, weighed};
use crate::cpu::library::{Shared, copy_strided, fill_zero};
use crate::cpu::loops::{by_isa, isa};
use crate::cpu::pool::parallel;
use crate::library::Operand;
use crate::library::matmul::cpu::matmul;
use crate::library::thin::{self, Thin};
use crate::math;
use mg_device::{Buffer, DType, Float, Layout, Shape};
use smallvec::SmallVec;
use std::ops::Range;

/// Queries of a block.
const QUERIES: usize = 64;
/// Keys of a block.
const KEYS: usize = 512;
/// Keys of a block where gradients are computed: two blocks of weights lie in the cache.
const KEYS_BACK: usize = 256;
/// Multiplications from which threads share the work.
const PARALLEL: usize = 1 << 18;

/// What a mask adds to a row of scores, or takes of it.
#[derive(Clone, Copy)]
enum Mask<T> {
    None,
    Bool(*const u8),
    Number(*const T),
}

impl<T> Mask<T> {
    fn add(self, n: usize) -> Mask<T> {
        match self {
            Mask::None => Mask::None,
            Mask::Bool(at) => Mask::Bool(at.wrapping_add(n)),
            Mask::Number(at) => Mask::Number(at.wrapping_add(n)),
        }
    }
}

/// Rows of heads, whose elements lie side by side.
#[derive(Clone, Copy)]
struct Lines<T> {
    first: *const T,
    /// How many there are of each of the batch.
    heads: usize,
    /// From one of the batch, head, row to the next.
    steps: [usize; 3],
}

impl<T> Lines<T> {
    /// An operand, `[batch, heads, rows, size]`, that lies so; see [`is_lines`].
    fn of(operand: &Operand) -> Lines<T> {
        let (shape, strides) = (operand.layout.shape(), operand.layout.strides());
        let steps = [0, 1, 2].map(|axis| strides[axis] as usize);
        Lines { first: operand.first().cast(), heads: shape[1], steps }
    }

    /// Rows one after the other.
    fn dense(first: *const T, [heads, rows, size]: [usize; 3]) -> Lines<T> {
        Lines { first, heads, steps: [heads * rows * size, rows * size, size] }
    }

    /// Those of a result.
    fn to(first: *mut T, heads: &Heads) -> Lines<T> {
        Lines { first: first.wrapping_add(heads.offset()), heads: heads.count, steps: heads.steps() }
    }

    /// Where a row begins, of a head by its number in all of the batch.
    fn row(&self, head: usize, row: usize) -> *const T {
        let at = [head / self.heads, head % self.heads, row];
        self.first.wrapping_add(at.iter().zip(self.steps).map(|(n, step)| n * step).sum())
    }

    fn row_mut(&self, head: usize, row: usize) -> *mut T {
        self.row(head, row).cast_mut()
    }

    /// The strides of a matrix of rows.
    fn rows(&self) -> [usize; 2] {
        [self.steps[2], 1]
    }
}

/// Whether rows of an operand lie as [`Lines`] say.
fn is_lines(layout: &Layout) -> bool {
    let strides = layout.strides();
    layout.shape().rank() == 4 && strides[3] == 1 && strides.iter().all(|&stride| stride >= 0)
}

/// The addresses of a call, in the type that is computed in.
#[derive(Clone, Copy)]
struct Call<T> {
    s: Sizes,
    span: Span,
    /// Of queries, in place of the span.
    ranges: Option<*const [i32; 2]>,
    scale: T,
    q: Lines<T>,
    k: Lines<T>,
    v: Lines<T>,
    mask: Mask<T>,
    thin: Option<Thinned<T>>,
}

/// Weights that are left out.
#[derive(Clone, Copy)]
struct Thinned<T> {
    /// Words of heads.
    words: *const i64,
    left_out: u32,
    /// What those that stay are multiplied by.
    times: T,
}

impl<T: Real> Thinned<T> {
    fn of(attention: &Attention, operands: &[Operand]) -> Option<Thinned<T>> {
        let words = operands.get(attention.words_at()?)?.first().cast();
        Some(Thinned { words, left_out: attention.left_out, times: T::of(Thin::times(attention.left_out)) })
    }

    /// What weights of a query are multiplied by, of `n` keys from one on, which is a multiple of 8.
    #[inline(always)]
    unsafe fn factors(&self, head: usize, query: usize, key: usize, n: usize) -> [T; KEYS] {
        // SAFETY: the caller's head is one of those that have words.
        let words = [0, 1].map(|i| unsafe { self.words.add(2 * head + i).read() as u32 });
        let mut factors = [T::ZERO; KEYS];
        for (i, part) in factors[..n].chunks_mut(thin::BESIDE).enumerate() {
            let numbers = thin::numbers(words, query, key + i * thin::BESIDE);
            for (factor, &number) in part.iter_mut().zip(&numbers) {
                *factor = if u32::from(number) >= self.left_out { self.times } else { T::ZERO };
            }
        }
        factors
    }
}

impl<T: Real> Call<T> {
    /// Where the mask of a head's row begins.
    fn mask(&self, head: usize, row: usize) -> Mask<T> {
        let [b, h, l] = self.s.mask;
        self.mask.add(head / self.s.heads * b + head % self.s.heads * h + row * l)
    }

    /// The head of keys and values that one of queries has.
    fn shared(&self, head: usize) -> usize {
        let s = &self.s;
        head / s.heads * s.shared + head % s.heads / (s.heads / s.shared)
    }

    /// The keys that a query takes.
    fn keys(&self, row: usize) -> Range<usize> {
        match self.ranges {
            None => self.span.keys(row, self.s.keys),
            Some(ranges) => {
                // SAFETY: there is a range for each query.
                let [begin, end] =
                    unsafe { *ranges.add(row) }.map(|at| (at.max(0) as usize).min(self.s.keys));
                begin.min(end)..end
            }
        }
    }

    /// Which of `n` keys from one on a query takes.
    fn taken(&self, row: usize, from: usize, n: usize) -> Range<usize> {
        let keys = self.keys(row);
        let end = keys.end.saturating_sub(from).min(n);
        keys.start.saturating_sub(from).min(end)..end
    }

    /// The keys that some queries take, from a multiple of 8 on, as the numbers of weights go by eights.
    fn met(&self, queries: Range<usize>) -> Range<usize> {
        let keys = self.keys(queries.start).start..self.keys(queries.end - 1).end;
        if keys.is_empty() { keys } else { keys.start / 8 * 8..keys.end }
    }
}

/// Computes attention or its gradient.
///
/// # Safety
///
/// Operands and result are valid for what the sizes say, from any thread, for the time of the call.
pub(super) unsafe fn attention(attention: &Attention, s: &Sizes, operands: &[Operand], out: *mut u8) {
    let Some(first) = operands.first() else { return };
    let dtype = first.dtype;
    let [_, begin, _] = attention.line(s, dtype);
    let mut operands: SmallVec<[Operand; 9]> = operands.iter().copied().collect();
    let (mut sums, mut results) = (out.wrapping_add(begin * dtype.size()), SmallVec::<[Heads; 3]>::new());
    match attention.kind {
        AttentionKind::Forward => results.push(s.means()),
        AttentionKind::Backward => {
            let line = operands.len() - 2;
            sums = operands[line].first().wrapping_add(begin * dtype.size()).cast_mut();
            let Some(layout) = s.means().layout(s.batch) else { return };
            operands[line] = Operand { base: operands[line].first(), layout, ..operands[line] };
            results.extend(s.gradients());
        }
    }
    // Half types are converted as they lie one after the other, and a mask's rows are counted so.
    let half = dtype.is_half();
    let mut copies: SmallVec<[Buffer; 10]> = SmallVec::new();
    let mut room = |bytes: usize| {
        copies.push(scratch::block(bytes));
        copies.last().map_or(std::ptr::null_mut(), Buffer::as_mut_ptr)
    };
    for (i, operand) in operands.iter_mut().enumerate() {
        let is_mask = attention.masked && i == 3;
        if operand.layout.is_contiguous() || !half && !is_mask && is_lines(&operand.layout) {
            continue;
        }
        let (size, layout) = (operand.dtype.size(), Layout::contiguous(*operand.layout.shape()));
        let base = room(layout.shape().numel() * size);
        // SAFETY: the operand has these elements, and the memory room for them.
        unsafe { copy_strided(size, operand.base, &operand.layout, base, &layout) };
        (operand.base, operand.layout) = (base, layout);
    }
    // SAFETY: this function's contract; half types are computed with as f32. What was computed has the elements of the results.
    unsafe {
        match dtype.float() {
            Some(Float::F64) => call::<f64>(attention, s, &operands, sums, out, &results),
            Some(Float::F16 | Float::BF16) => {
                let lie: SmallVec<[Layout; 3]> =
                    results.iter().filter_map(|heads| heads.layout(s.batch)).collect();
                let mut from = room(lie.iter().map(Layout::numel).sum::<usize>() * dtype.size());
                widened(attention, s, &operands, sums, from);
                for layout in &lie {
                    copy_strided(dtype.size(), from, &Layout::contiguous(*layout.shape()), out, layout);
                    from = from.add(layout.numel() * dtype.size());
                }
            }
            // `Attention::sizes` takes no integers.
            Some(Float::F32) | None => call::<f32>(attention, s, &operands, sums, out, &results),
        }
    }
}

unsafe fn widened(attention: &Attention, s: &Sizes, operands: &[Operand], sums: *mut u8, out: *mut u8) {
    let dtype = operands[0].dtype;
    let [n, kn, vn] = s.elements();
    let means = s.rows() * s.depth;
    let given = [[s.heads, s.queries, s.width], [s.shared, s.keys, s.width], [s.shared, s.keys, s.depth]];
    let of_means = [s.heads, s.queries, s.depth];
    let floats = |n: usize| scratch::block(n * size_of::<f32>());
    // SAFETY: the operands have so many elements, and so has the result.
    unsafe {
        let wide = floats(n + kn + vn);
        let at = wide.as_mut_ptr().cast::<f32>();
        for (operand, (count, from)) in operands.iter().zip([(n, 0), (kn, n), (vn, n + kn)]) {
            convert(dtype, operand.first(), count, at.add(from));
        }
        let call = Call {
            s: *s,
            span: attention.span,
            ranges: ranges(attention, operands),
            scale: f64::from_bits(attention.scale) as f32,
            q: Lines::dense(at, given[0]),
            k: Lines::dense(at.add(n), given[1]),
            v: Lines::dense(at.add(n + kn), given[2]),
            mask: mask(attention, operands),
            thin: Thinned::of(attention, operands),
        };
        match attention.kind {
            AttentionKind::Forward => {
                let answer = floats(means);
                let to = answer.as_mut_ptr().cast::<f32>();
                forward(&call, Lines::dense(to, of_means), sums.cast());
                convert_back(dtype, to, means, out);
            }
            AttentionKind::Backward => {
                let means_and_flows = &operands[operands.len() - 2..];
                let (both, answer) = (floats(2 * means), floats(n + kn + vn));
                let (both, to) = (both.as_mut_ptr().cast::<f32>(), answer.as_mut_ptr().cast::<f32>());
                for (operand, from) in means_and_flows.iter().zip([0, means]) {
                    convert(dtype, operand.first(), means, both.add(from));
                }
                let [y, g] = [0, means].map(|from| Lines::dense(both.add(from), of_means));
                let parts = [0, n, n + kn].map(|from| to.add(from).cast_const());
                let out_lines = [0, 1, 2].map(|i| Lines::dense(parts[i], given[i]));
                fill_zero(to.cast(), (n + kn + vn) * size_of::<f32>());
                backward(&call, [y, g], sums.cast(), out_lines);
                convert_back(dtype, to, n + kn + vn, out);
            }
        }
    }
}

/// The ranges of queries, where there are some.
fn ranges(attention: &Attention, operands: &[Operand]) -> Option<*const [i32; 2]> {
    Some(operands.get(attention.ranges_at()?)?.first().cast())
}

fn mask<T>(attention: &Attention, operands: &[Operand]) -> Mask<T> {
    match (attention.masked, operands.get(3)) {
        (true, Some(mask)) if mask.dtype == DType::Bool => Mask::Bool(mask.first()),
        (true, Some(mask)) => Mask::Number(mask.first().cast()),
        _ => Mask::None,
    }
}

unsafe fn call<T: Real>(
    attention: &Attention,
    s: &Sizes,
    operands: &[Operand],
    sums: *mut u8,
    out: *mut u8,
    results: &[Heads],
) {
    let call = Call {
        s: *s,
        span: attention.span,
        ranges: ranges(attention, operands),
        scale: T::of(f64::from_bits(attention.scale)),
        q: Lines::of(&operands[0]),
        k: Lines::of(&operands[1]),
        v: Lines::of(&operands[2]),
        mask: mask(attention, operands),
        thin: Thinned::of(attention, operands),
    };
    // SAFETY: this function's contract.
    unsafe {
        match (attention.kind, results) {
            (AttentionKind::Forward, [means]) => forward(&call, Lines::to(out.cast(), means), sums.cast()),
            (AttentionKind::Backward, [q, k, v]) => {
                let [y, g] = [2, 1].map(|i| Lines::<T>::of(&operands[operands.len() - i]));
                fill_zero(out, s.elements().iter().sum::<usize>() * size_of::<T>());
                backward(&call, [y, g], sums.cast(), [q, k, v].map(|heads| Lines::to(out.cast(), heads)));
            }
            (AttentionKind::Forward | AttentionKind::Backward, _) => {
                unreachable!("each kind has its results")
            }
        }
    }
}

fn run(tasks: usize, work: usize, task: &(dyn Fn(usize) + Sync)) {
    if work < PARALLEL { (0..tasks).for_each(task) } else { parallel(tasks, task) }
}

/// `a · b`, densely; of matrices whose rows and columns lie as far apart as the strides say.
unsafe fn product<T: Real>(
    a: *const T,
    sizes: [usize; 3],
    sa: [usize; 2],
    b: *const T,
    sb: [usize; 2],
    out: *mut T,
) {
    let [m, k, n] = sizes;
    let signed = |s: [usize; 2]| s.map(|n| n as isize);
    let (la, lb) =
        (Layout::new(Shape::of(&[m, k]), &signed(sa), 0), Layout::new(Shape::of(&[k, n]), &signed(sb), 0));
    let (Ok(la), Ok(lb)) = (la, lb) else { return };
    // SAFETY: the callers' matrices.
    unsafe { matmul(T::DTYPE, a.cast(), &la, b.cast(), &lb, Some(out.cast()), None) };
}

/// The matrices of heads, `rows` of `size` elements, turned, one after the other.
unsafe fn turned<T: Real>(from: &Lines<T>, batch: usize, heads: usize, [rows, size]: [usize; 2], to: *mut T) {
    let [b, h, row] = from.steps.map(|step| step as isize);
    let shape = Shape::of(&[batch, heads, size, rows]);
    let Ok(lies) = Layout::new(shape, &[b, h, 1, row], 0) else { return };
    // SAFETY: the caller's matrices.
    unsafe {
        copy_strided(size_of::<T>(), from.first.cast(), &lies, to.cast(), &Layout::contiguous(shape));
    }
}

/// A row of scores: scaled, and masked.
#[inline(always)]
unsafe fn scored<T: Real>(row: *mut T, n: usize, scale: T, mask: Mask<T>) {
    // SAFETY: the caller's row and mask have `n` elements.
    unsafe {
        match mask {
            Mask::None => {
                for i in 0..n {
                    *row.add(i) = (*row.add(i)).mul(scale);
                }
            }
            Mask::Bool(taken) => {
                for i in 0..n {
                    // Added, as in PyTorch: a score that is no number stays none.
                    let more = if *taken.add(i) != 0 { T::ZERO } else { T::LEAST };
                    *row.add(i) = (*row.add(i)).mul(scale).add(more);
                }
            }
            Mask::Number(more) => {
                for i in 0..n {
                    *row.add(i) = (*row.add(i)).mul(scale).add(*more.add(i));
                }
            }
        }
    }
}

/// What a row of softmax has come to.
#[derive(Clone, Copy)]
struct Row<T> {
    top: T,
    sum: T,
    /// What came before counts so much now.
    fade: T,
}

/// A block of scores, `across` elements a row, becomes weights; what the rows have come to follows.
struct Softened<'a, T> {
    call: &'a Call<T>,
    scores: *mut T,
    head: usize,
    from: [usize; 2],
    size: [usize; 2],
    rows: *mut Row<T>,
}

/// `row · factors`.
#[inline(always)]
unsafe fn thinned<T: Real>(row: *mut T, factors: &[T]) {
    for (j, &factor) in factors.iter().enumerate() {
        // SAFETY: the caller's row has so many elements.
        unsafe { *row.add(j) = (*row.add(j)).mul(factor) };
    }
}

/// A row of `across` numbers is 0 but for some of them.
#[inline(always)]
unsafe fn nothing_outside<T: Real>(row: *mut T, taken: Range<usize>, across: usize) {
    for part in [0..taken.start, taken.end..across] {
        for j in part {
            // SAFETY: the caller's row has so many elements.
            unsafe { row.add(j).write(T::ZERO) };
        }
    }
}

#[inline(always)]
unsafe fn soften<T: Real>(b: &Softened<'_, T>) {
    let [rows, across] = b.size;
    for i in 0..rows {
        let query = b.from[0] + i;
        let taken = b.call.taken(query, b.from[1], across);
        // SAFETY: the block has these rows.
        unsafe {
            let row = b.scores.add(i * across);
            let state = &mut *b.rows.add(i);
            let (own, n) = (row.add(taken.start), taken.len());
            scored(own, n, b.call.scale, b.call.mask(b.head, query).add(b.from[1] + taken.start));
            let found = largest(own, n);
            let top = if found > state.top { found } else { state.top };
            // Where nothing was taken yet there is nothing to subtract.
            let shift = if top > T::LEAST { top } else { T::ZERO };
            let sum = weighed(own, n, shift);
            if let Some(thin) = &b.call.thin {
                thinned(own, &thin.factors(b.head, query, b.from[1], taken.end)[taken.clone()]);
            }
            nothing_outside(row, taken, across);
            let fade = math::exp(state.top.sub(shift));
            *state = Row { top, sum: state.sum.mul(fade).add(sum), fade };
        }
    }
}

/// `to · fade + more` by rows, which lie `apart`.
#[inline(always)]
unsafe fn follow<T: Real>(
    to: *mut T,
    apart: usize,
    more: *const T,
    rows: *const Row<T>,
    [count, n]: [usize; 2],
) {
    for i in 0..count {
        // SAFETY: the caller's matrices have these rows.
        unsafe {
            let fade = (*rows.add(i)).fade;
            let (to, more) = (to.add(i * apart), more.add(i * n));
            for j in 0..n {
                *to.add(j) = (*to.add(j)).mul(fade).add(*more.add(j));
            }
        }
    }
}

unsafe fn forward<T: Real>(call: &Call<T>, out: Lines<T>, sums: *mut T) {
    let s = call.s;
    if s.rows() == 0 {
        return;
    }
    if s.keys == 0 {
        // SAFETY: the result has so many elements.
        unsafe {
            for i in 0..s.rows() {
                fill_zero(out.row_mut(i / s.queries, i % s.queries).cast(), s.depth * size_of::<T>());
                sums.add(i).write(T::MOST);
            }
        }
        return;
    }
    let blocks = s.queries.div_ceil(QUERIES);
    let heads = s.batch * s.heads;
    let work = s.rows() * s.keys * (s.width + s.depth);
    type Soften<T> = unsafe fn(&Softened<'_, T>);
    type Follow<T> = unsafe fn(*mut T, usize, *const T, *const Row<T>, [usize; 2]);
    let soften: Soften<T> =
        by_isa!(isa(), Soften<T>, fn <U: Real>(b: &Softened<'_, U>) { soften::<U>(b) }, [T]);
    let follow: Follow<T> = by_isa!(
        isa(),
        Follow<T>,
        fn <U: Real>(to: *mut U, apart: usize, more: *const U, rows: *const Row<U>, size: [usize; 2]) {
            follow::<U>(to, apart, more, rows, size)
        },
        [T]
    );
    let turn = s.batch * s.shared * s.width * s.keys;
    scratch::with(Slot::Packed, turn, |keys: *mut T| {
        // SAFETY: there is room for all keys.
        unsafe { turned(&call.k, s.batch, s.shared, [s.keys, s.width], keys) };
        let at = Shared((*call, keys.cast_const(), out, sums));
        let task = |task: usize| {
            let (call, keys, out, sums) = at.get();
            let (head, block) = (task / blocks, task % blocks);
            let (from, shared) = (block * QUERIES, call.shared(head));
            let rows = QUERIES.min(s.queries - from);
            let across = KEYS.min(s.keys);
            let room = rows * (across + s.depth);
            // SAFETY: tasks write disjoint rows; the operands have what the sizes say.
            scratch::with(Slot::Windows, room, |scores: *mut T| unsafe {
                let more = scores.add(rows * across);
                let q = call.q.row(head, from);
                let keys = keys.add(shared * s.width * s.keys);
                let (to, apart) = (out.row_mut(head, from), out.steps[2]);
                let mut states = [Row { top: T::LEAST, sum: T::ZERO, fade: T::ZERO }; QUERIES];
                let met = call.met(from..from + rows);
                (0..rows).for_each(|i| fill_zero(to.add(i * apart).cast(), s.depth * size_of::<T>()));
                for key in met.clone().step_by(KEYS) {
                    let n = KEYS.min(met.end - key);
                    product(q, [rows, s.width, n], call.q.rows(), keys.add(key), [s.keys, 1], scores);
                    let (rows_at, size) = (states.as_mut_ptr(), [rows, n]);
                    soften(&Softened { call: &call, scores, head, from: [from, key], size, rows: rows_at });
                    let (values, apart_v) = (call.v.row(shared, key), call.v.rows());
                    product(scores.cast_const(), [rows, n, s.depth], [n, 1], values, apart_v, more);
                    follow(to, apart, more, rows_at, [rows, s.depth]);
                }
                for (i, state) in states[..rows].iter().enumerate() {
                    let nothing = state.sum == T::ZERO;
                    let share = if nothing { T::ZERO } else { T::of(1.0).div(state.sum) };
                    for j in i * apart..i * apart + s.depth {
                        *to.add(j) = (*to.add(j)).mul(share);
                    }
                    let log = if nothing { T::MOST } else { state.top.add(state.sum.ln()) };
                    sums.add(head * s.queries + from + i).write(log);
                }
            });
        };
        run(heads * blocks, work, &task);
    });
}

/// A block of scores becomes weights, and one of what flows back to them what flows back to the scores.
struct Hardened<'a, T> {
    call: &'a Call<T>,
    scores: *mut T,
    back: *mut T,
    head: usize,
    from: [usize; 2],
    size: [usize; 2],
    sums: *const T,
    means: *const T,
}

#[inline(always)]
unsafe fn harden<T: Real>(b: &Hardened<'_, T>) {
    let [rows, across] = b.size;
    for i in 0..rows {
        let query = b.from[0] + i;
        let taken = b.call.taken(query, b.from[1], across);
        // SAFETY: the blocks have these rows.
        unsafe {
            let (row, back) = (b.scores.add(i * across), b.back.add(i * across));
            let first = taken.start;
            scored(
                row.add(first),
                taken.len(),
                b.call.scale,
                b.call.mask(b.head, query).add(b.from[1] + first),
            );
            let (sum, mean) = (*b.sums.add(i), *b.means.add(i));
            let factors = b.call.thin.map(|thin| thin.factors(b.head, query, b.from[1], taken.end));
            if let Some(factors) = &factors {
                thinned(back.add(first), &factors[taken.clone()]);
            }
            for j in taken.clone() {
                let weight = math::exp((*row.add(j)).sub(sum));
                *row.add(j) = weight;
                *back.add(j) = weight.mul((*back.add(j)).sub(mean)).mul(b.call.scale);
            }
            if let Some(factors) = &factors {
                thinned(row.add(first), &factors[taken.clone()]);
            }
            nothing_outside(row, taken.clone(), across);
            nothing_outside(back, taken, across);
        }
    }
}

/// `to + more` by rows, which lie `apart`.
#[inline(always)]
unsafe fn add<T: Real>(to: *mut T, apart: usize, more: *const T, [rows, n]: [usize; 2]) {
    for i in 0..rows {
        for j in 0..n {
            // SAFETY: the caller's matrices have these rows.
            unsafe { *to.add(i * apart + j) = (*to.add(i * apart + j)).add(*more.add(i * n + j)) };
        }
    }
}

/// Adds the gradients of queries, keys and values to what is there, of a result `y` and what flows back to it.
unsafe fn backward<T: Real>(
    call: &Call<T>,
    [y, g]: [Lines<T>; 2],
    sums: *const T,
    [dq, dk, dv]: [Lines<T>; 3],
) {
    let s = call.s;
    if s.rows() * s.keys == 0 {
        return;
    }
    type Harden<T> = unsafe fn(&Hardened<'_, T>);
    type Add<T> = unsafe fn(*mut T, usize, *const T, [usize; 2]);
    let harden: Harden<T> =
        by_isa!(isa(), Harden<T>, fn <U: Real>(b: &Hardened<'_, U>) { harden::<U>(b) }, [T]);
    let add: Add<T> = by_isa!(isa(), Add<T>, fn <U: Real>(to: *mut U, apart: usize, more: *const U, size: [usize; 2]) {
        add::<U>(to, apart, more, size)
    }, [T]);
    let heads = s.batch * s.shared;
    let group = s.heads / s.shared;
    let work = s.rows() * s.keys * (3 * s.width + 2 * s.depth);
    let (block, across) = (QUERIES.min(s.queries), KEYS_BACK.min(s.keys));
    // Keys and values turned, what flows through a block, and what it gives to a block of operands.
    let part = across.max(block) * s.width.max(s.depth);
    let room = s.keys * (s.width + s.depth) + 2 * block * across + part + block;
    let at = Shared((*call, [y, g], sums, [dq, dk, dv]));
    let task = |shared: usize| {
        let (call, [y, g], sums, [dq, dk, dv]) = at.get();
        // SAFETY: tasks write the gradients of different heads; the operands have what the sizes say.
        scratch::with(Slot::Windows, room, |memory: *mut T| unsafe {
            let keys = memory;
            let values = keys.add(s.keys * s.width);
            let scores = values.add(s.keys * s.depth);
            let back = scores.add(block * across);
            let part = back.add(block * across);
            let means = part.add(across.max(block) * s.width.max(s.depth));
            let own = |lines: &Lines<T>| Lines { first: lines.row(shared, 0), ..*lines };
            turned(&own(&call.k), 1, 1, [s.keys, s.width], keys);
            turned(&own(&call.v), 1, 1, [s.keys, s.depth], values);
            let first = shared / s.shared * s.heads + shared % s.shared * group;
            for head in first..first + group {
                for from in (0..s.queries).step_by(QUERIES) {
                    let rows = QUERIES.min(s.queries - from);
                    let (q, flows, to) = (call.q.row(head, from), g.row(head, from), dq.row_mut(head, from));
                    for i in 0..rows {
                        let (y, g) = (y.row(head, from + i), g.row(head, from + i));
                        let products = (0..s.depth).map(|j| (*y.add(j)).mul(*g.add(j)));
                        means.add(i).write(products.fold(T::ZERO, T::add));
                    }
                    let met = call.met(from..from + rows);
                    for key in met.clone().step_by(KEYS_BACK) {
                        let n = KEYS_BACK.min(met.end - key);
                        let (keys, values) = (keys.add(key).cast_const(), values.add(key).cast_const());
                        product(q, [rows, s.width, n], call.q.rows(), keys, [s.keys, 1], scores);
                        product(flows, [rows, s.depth, n], g.rows(), values, [s.keys, 1], back);
                        harden(&Hardened {
                            call: &call,
                            scores,
                            back,
                            head,
                            from: [from, key],
                            size: [rows, n],
                            sums: sums.add(head * s.queries + from),
                            means,
                        });
                        let (weights, back) = (scores.cast_const(), back.cast_const());
                        product(weights, [n, rows, s.depth], [1, n], flows, g.rows(), part);
                        add(dv.row_mut(shared, key), dv.steps[2], part, [n, s.depth]);
                        product(back, [n, rows, s.width], [1, n], q, call.q.rows(), part);
                        add(dk.row_mut(shared, key), dk.steps[2], part, [n, s.width]);
                        let k = call.k.row(shared, key);
                        product(back, [rows, n, s.width], [n, 1], k, call.k.rows(), part);
                        add(to, dq.steps[2], part, [rows, s.width]);
                    }
                }
            }
        });
    };
    run(heads, work, &task);
}
