//! Attention on the CPU: blocks of queries against blocks of keys, multiplied as matrices.

use super::{Attention, AttentionKind, Heads, Sizes};
use crate::cpu::library::scratch::{self, Slot};
use crate::cpu::library::{Shared, copy_strided, fill_zero};
use crate::cpu::loops::{by_isa, isa};
use crate::cpu::pool::parallel;
use crate::lane::FloatLane;
use crate::library::Operand;
use crate::library::matmul::cpu::matmul;
use crate::math;
use half::slice::HalfFloatSliceExt;
use mg_device::{DType, Float, Layout, Shape, bf16, f16};
use smallvec::SmallVec;

/// Queries of a block.
const QUERIES: usize = 64;
/// Keys of a block.
const KEYS: usize = 512;
/// Keys of a block where gradients are computed: two blocks of weights lie in the cache.
const KEYS_BACK: usize = 256;
/// Multiplications from which threads share the work.
const PARALLEL: usize = 1 << 18;
/// Sums that are added side by side.
const LANES: usize = 16;

/// What is computed in.
trait Real: FloatLane + Send + Sync + PartialOrd + 'static {
    const DTYPE: DType;
    const ZERO: Self;
    const LEAST: Self;
    const MOST: Self;
    fn of(x: f64) -> Self;
    fn ln(self) -> Self;
}
macro_rules! real {
    ($($T:ty: $D:ident;)*) => {$(
        impl Real for $T {
            const DTYPE: DType = DType::$D;
            const ZERO: $T = 0.0;
            const LEAST: $T = <$T>::NEG_INFINITY;
            const MOST: $T = <$T>::INFINITY;
            fn of(x: f64) -> $T {
                x as $T
            }
            fn ln(self) -> $T {
                <$T>::ln(self)
            }
        }
    )*};
}
real! {
    f32: F32;
    f64: F64;
}

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

/// The addresses of a call, in the type that is computed in.
#[derive(Clone, Copy)]
struct Call<T> {
    s: Sizes,
    causal: bool,
    scale: T,
    q: *const T,
    k: *const T,
    v: *const T,
    mask: Mask<T>,
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

    /// Of `n` keys from one on, how many a query takes.
    fn taken(&self, row: usize, from: usize, n: usize) -> usize {
        if self.causal { (row + 1).saturating_sub(from).min(n) } else { n }
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
    let mut operands: SmallVec<[Operand; 6]> = operands.iter().copied().collect();
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
    // What does not lie densely is copied.
    let mut copies: SmallVec<[Vec<u64>; 8]> = SmallVec::new();
    let mut room = |n: usize| {
        copies.push(vec![0u64; (n * dtype.size()).div_ceil(8)]);
        copies.last_mut().map_or(std::ptr::null_mut(), |memory| memory.as_mut_ptr().cast::<u8>())
    };
    for operand in operands.iter_mut().filter(|operand| !operand.layout.is_contiguous()) {
        let (size, layout) = (operand.dtype.size(), Layout::contiguous(*operand.layout.shape()));
        // A mask's numbers may be wider.
        let base = room((layout.shape().numel() * size).div_ceil(dtype.size()));
        // SAFETY: the operand has these elements, and the memory room for them.
        unsafe { copy_strided(size, operand.base, &operand.layout, base, &layout) };
        (operand.base, operand.layout) = (base, layout);
    }
    let lie: SmallVec<[Layout; 3]> = results.iter().filter_map(|heads| heads.layout(s.batch)).collect();
    let dense = lie.iter().all(Layout::is_contiguous);
    let to = if dense { out } else { room(lie.iter().map(Layout::numel).sum()) };
    // SAFETY: this function's contract; half types are computed with as f32. What was computed has the elements of the results.
    unsafe {
        match dtype.float() {
            Some(Float::F64) => call::<f64>(attention, s, &operands, sums, to),
            Some(Float::F16 | Float::BF16) => widened(attention, s, &operands, sums, to),
            // `Attention::sizes` takes no integers.
            Some(Float::F32) | None => call::<f32>(attention, s, &operands, sums, to),
        }
        let mut from = to;
        for layout in lie.iter().filter(|_| !dense) {
            copy_strided(dtype.size(), from, &Layout::contiguous(*layout.shape()), out, layout);
            from = from.add(layout.numel() * dtype.size());
        }
    }
}

/// Half types as f32.
unsafe fn convert(dtype: DType, from: *const u8, n: usize, to: *mut f32) {
    // SAFETY: the caller's addresses are valid for `n`.
    unsafe {
        let to = std::slice::from_raw_parts_mut(to, n);
        match dtype.float() {
            Some(Float::F16) => std::slice::from_raw_parts(from.cast::<f16>(), n).convert_to_f32_slice(to),
            Some(Float::BF16) => std::slice::from_raw_parts(from.cast::<bf16>(), n).convert_to_f32_slice(to),
            Some(Float::F32 | Float::F64) | None => unreachable!("the callers have half types"),
        }
    }
}

/// f32 as half types.
unsafe fn convert_back(dtype: DType, from: *const f32, n: usize, to: *mut u8) {
    // SAFETY: the caller's addresses are valid for `n`.
    unsafe {
        let from = std::slice::from_raw_parts(from, n);
        match dtype.float() {
            Some(Float::F16) => {
                std::slice::from_raw_parts_mut(to.cast::<f16>(), n).convert_from_f32_slice(from);
            }
            Some(Float::BF16) => {
                std::slice::from_raw_parts_mut(to.cast::<bf16>(), n).convert_from_f32_slice(from);
            }
            Some(Float::F32 | Float::F64) | None => unreachable!("the callers have half types"),
        }
    }
}

unsafe fn widened(attention: &Attention, s: &Sizes, operands: &[Operand], sums: *mut u8, out: *mut u8) {
    let dtype = operands[0].dtype;
    let [n, kn, vn] = s.elements();
    let means = s.rows() * s.depth;
    // SAFETY: the operands have so many elements, and so has the result.
    unsafe {
        let mut wide = vec![0.0f32; n + kn + vn];
        let at = wide.as_mut_ptr();
        for (operand, (count, from)) in operands.iter().zip([(n, 0), (kn, n), (vn, n + kn)]) {
            convert(dtype, operand.first(), count, at.add(from));
        }
        let call = Call {
            s: *s,
            causal: attention.causal,
            scale: f64::from_bits(attention.scale) as f32,
            q: at.cast_const(),
            k: at.add(n).cast_const(),
            v: at.add(n + kn).cast_const(),
            mask: mask(attention, operands),
        };
        match attention.kind {
            AttentionKind::Forward => {
                let mut answer = vec![0.0f32; means];
                forward(&call, answer.as_mut_ptr(), sums.cast());
                convert_back(dtype, answer.as_ptr(), means, out);
            }
            AttentionKind::Backward => {
                let means_and_flows = &operands[operands.len() - 2..];
                let mut both = vec![0.0f32; 2 * means];
                for (operand, to) in means_and_flows.iter().zip([0, means]) {
                    convert(dtype, operand.first(), means, both.as_mut_ptr().add(to));
                }
                let mut answer = vec![0.0f32; n + kn + vn];
                backward(&call, both.as_ptr(), sums.cast(), both.as_ptr().add(means), answer.as_mut_ptr());
                convert_back(dtype, answer.as_ptr(), n + kn + vn, out);
            }
        }
    }
}

fn mask<T>(attention: &Attention, operands: &[Operand]) -> Mask<T> {
    match (attention.masked, operands.get(3)) {
        (true, Some(mask)) if mask.dtype == DType::Bool => Mask::Bool(mask.first()),
        (true, Some(mask)) => Mask::Number(mask.first().cast()),
        _ => Mask::None,
    }
}

unsafe fn call<T: Real>(attention: &Attention, s: &Sizes, operands: &[Operand], sums: *mut u8, out: *mut u8) {
    let call = Call {
        s: *s,
        causal: attention.causal,
        scale: T::of(f64::from_bits(attention.scale)),
        q: operands[0].first().cast::<T>(),
        k: operands[1].first().cast(),
        v: operands[2].first().cast(),
        mask: mask(attention, operands),
    };
    // SAFETY: this function's contract.
    unsafe {
        match attention.kind {
            AttentionKind::Forward => forward(&call, out.cast(), sums.cast()),
            AttentionKind::Backward => {
                let [y, g] = [2, 1].map(|i| operands[operands.len() - i].first().cast::<T>());
                backward(&call, y, sums.cast(), g, out.cast());
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

/// Matrices `[m, n]` turned, one after the other.
unsafe fn turned<T: Real>(from: *const T, count: usize, m: usize, n: usize, to: *mut T) {
    let strides = [(m * n) as isize, 1, n as isize];
    let lies = Layout::new(Shape::of(&[count, n, m]), &strides, 0);
    let Ok(lies) = lies else { return };
    let dense = Layout::contiguous(Shape::of(&[count, n, m]));
    // SAFETY: the caller's matrices.
    unsafe { copy_strided(size_of::<T>(), from.cast(), &lies, to.cast(), &dense) };
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

#[inline(always)]
unsafe fn largest<T: Real>(row: *const T, n: usize) -> T {
    let pick = |a: T, b: T| if b > a { b } else { a };
    let mut lanes = [T::LEAST; LANES];
    let whole = n / LANES * LANES;
    // SAFETY: the caller's row has `n` elements.
    unsafe {
        for i in (0..whole).step_by(LANES) {
            for (j, lane) in lanes.iter_mut().enumerate() {
                *lane = pick(*lane, *row.add(i + j));
            }
        }
        for i in whole..n {
            lanes[0] = pick(lanes[0], *row.add(i));
        }
    }
    lanes.into_iter().fold(T::LEAST, pick)
}

/// `eˣ⁻ᵐ` of a row, in place, and their sum.
#[inline(always)]
unsafe fn weighed<T: Real>(row: *mut T, n: usize, top: T) -> T {
    let mut lanes = [T::ZERO; LANES];
    let whole = n / LANES * LANES;
    // SAFETY: the caller's row has `n` elements.
    unsafe {
        for i in (0..whole).step_by(LANES) {
            for (j, lane) in lanes.iter_mut().enumerate() {
                let e = math::exp((*row.add(i + j)).sub(top));
                *row.add(i + j) = e;
                *lane = lane.add(e);
            }
        }
        for i in whole..n {
            let e = math::exp((*row.add(i)).sub(top));
            *row.add(i) = e;
            lanes[0] = lanes[0].add(e);
        }
    }
    lanes.into_iter().fold(T::ZERO, |a, b| a.add(b))
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
            scored(row, taken, b.call.scale, b.call.mask(b.head, query).add(b.from[1]));
            let found = largest(row, taken);
            let top = if found > state.top { found } else { state.top };
            // Where nothing was taken yet there is nothing to subtract.
            let shift = if top > T::LEAST { top } else { T::ZERO };
            let sum = weighed(row, taken, shift);
            for j in taken..across {
                row.add(j).write(T::ZERO);
            }
            let fade = math::exp(state.top.sub(shift));
            *state = Row { top, sum: state.sum.mul(fade).add(sum), fade };
        }
    }
}

/// `to · fade + more` by rows.
#[inline(always)]
unsafe fn follow<T: Real>(to: *mut T, more: *const T, rows: *const Row<T>, count: usize, n: usize) {
    for i in 0..count {
        // SAFETY: the caller's matrices have these rows.
        unsafe {
            let fade = (*rows.add(i)).fade;
            for j in i * n..(i + 1) * n {
                *to.add(j) = (*to.add(j)).mul(fade).add(*more.add(j));
            }
        }
    }
}

unsafe fn forward<T: Real>(call: &Call<T>, out: *mut T, sums: *mut T) {
    let s = call.s;
    if s.rows() == 0 {
        return;
    }
    if s.keys == 0 {
        // SAFETY: the result has so many elements.
        unsafe {
            fill_zero(out.cast(), s.rows() * s.depth * size_of::<T>());
            (0..s.rows()).for_each(|i| sums.add(i).write(T::MOST));
        }
        return;
    }
    let blocks = s.queries.div_ceil(QUERIES);
    let heads = s.batch * s.heads;
    let work = s.rows() * s.keys * (s.width + s.depth);
    type Soften<T> = unsafe fn(&Softened<'_, T>);
    type Follow<T> = unsafe fn(*mut T, *const T, *const Row<T>, usize, usize);
    let soften: Soften<T> =
        by_isa!(isa(), Soften<T>, fn <U: Real>(b: &Softened<'_, U>) { soften::<U>(b) }, [T]);
    let follow: Follow<T> = by_isa!(
        isa(),
        Follow<T>,
        fn <U: Real>(to: *mut U, more: *const U, rows: *const Row<U>, count: usize, n: usize) {
            follow::<U>(to, more, rows, count, n)
        },
        [T]
    );
    let turn = s.batch * s.shared * s.width * s.keys;
    scratch::with(Slot::Packed, turn, |keys: *mut T| {
        // SAFETY: there is room for all keys.
        unsafe { turned(call.k, s.batch * s.shared, s.keys, s.width, keys) };
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
                let q = call.q.add((head * s.queries + from) * s.width);
                let keys = keys.add(shared * s.width * s.keys);
                let values = call.v.add(shared * s.keys * s.depth);
                let out = out.add((head * s.queries + from) * s.depth);
                let mut states = [Row { top: T::LEAST, sum: T::ZERO, fade: T::ZERO }; QUERIES];
                let end = if call.causal { s.keys.min(from + rows) } else { s.keys };
                fill_zero(out.cast(), rows * s.depth * size_of::<T>());
                for key in (0..end).step_by(KEYS) {
                    let n = KEYS.min(end - key);
                    product(q, [rows, s.width, n], [s.width, 1], keys.add(key), [s.keys, 1], scores);
                    let (rows_at, size) = (states.as_mut_ptr(), [rows, n]);
                    soften(&Softened { call: &call, scores, head, from: [from, key], size, rows: rows_at });
                    let values = values.add(key * s.depth);
                    product(scores.cast_const(), [rows, n, s.depth], [n, 1], values, [s.depth, 1], more);
                    follow(out, more, rows_at, rows, s.depth);
                }
                for (i, state) in states[..rows].iter().enumerate() {
                    let nothing = state.sum == T::ZERO;
                    let share = if nothing { T::ZERO } else { T::of(1.0).div(state.sum) };
                    for j in i * s.depth..(i + 1) * s.depth {
                        *out.add(j) = (*out.add(j)).mul(share);
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
            scored(row, taken, b.call.scale, b.call.mask(b.head, query).add(b.from[1]));
            let (sum, mean) = (*b.sums.add(i), *b.means.add(i));
            for j in 0..taken {
                let weight = math::exp((*row.add(j)).sub(sum));
                *row.add(j) = weight;
                *back.add(j) = weight.mul((*back.add(j)).sub(mean)).mul(b.call.scale);
            }
            for j in taken..across {
                row.add(j).write(T::ZERO);
                back.add(j).write(T::ZERO);
            }
        }
    }
}

/// `to + more`.
#[inline(always)]
unsafe fn add<T: Real>(to: *mut T, more: *const T, n: usize) {
    for i in 0..n {
        // SAFETY: the caller's lines have `n` elements.
        unsafe { *to.add(i) = (*to.add(i)).add(*more.add(i)) };
    }
}

unsafe fn backward<T: Real>(call: &Call<T>, y: *const T, sums: *const T, g: *const T, out: *mut T) {
    let s = call.s;
    let [nq, nk, nv] = s.elements();
    // SAFETY: the result has so many elements.
    unsafe { fill_zero(out.cast(), (nq + nk + nv) * size_of::<T>()) };
    if s.rows() * s.keys == 0 {
        return;
    }
    type Harden<T> = unsafe fn(&Hardened<'_, T>);
    type Add<T> = unsafe fn(*mut T, *const T, usize);
    let harden: Harden<T> =
        by_isa!(isa(), Harden<T>, fn <U: Real>(b: &Hardened<'_, U>) { harden::<U>(b) }, [T]);
    let add: Add<T> = by_isa!(isa(), Add<T>, fn <U: Real>(to: *mut U, more: *const U, n: usize) { add::<U>(to, more, n) }, [T]);
    let heads = s.batch * s.shared;
    let group = s.heads / s.shared;
    let work = s.rows() * s.keys * (3 * s.width + 2 * s.depth);
    let (block, across) = (QUERIES.min(s.queries), KEYS_BACK.min(s.keys));
    // Keys and values turned, what flows through a block, and what it gives to a block of operands.
    let part = across.max(block) * s.width.max(s.depth);
    let room = s.keys * (s.width + s.depth) + 2 * block * across + part + block;
    let at = Shared((*call, y, sums, g, out));
    let task = |shared: usize| {
        let (call, y, sums, g, out) = at.get();
        // SAFETY: tasks write the gradients of different heads; the operands have what the sizes say.
        scratch::with(Slot::Windows, room, |memory: *mut T| unsafe {
            let keys = memory;
            let values = keys.add(s.keys * s.width);
            let scores = values.add(s.keys * s.depth);
            let back = scores.add(block * across);
            let part = back.add(block * across);
            let means = part.add(across.max(block) * s.width.max(s.depth));
            let (k, v) = (call.k.add(shared * s.keys * s.width), call.v.add(shared * s.keys * s.depth));
            turned(k, 1, s.keys, s.width, keys);
            turned(v, 1, s.keys, s.depth, values);
            let dk = out.add(nq + shared * s.keys * s.width);
            let dv = out.add(nq + nk + shared * s.keys * s.depth);
            let first = shared / s.shared * s.heads + shared % s.shared * group;
            for head in first..first + group {
                for from in (0..s.queries).step_by(QUERIES) {
                    let rows = QUERIES.min(s.queries - from);
                    let row = head * s.queries + from;
                    let (q, dq) = (call.q.add(row * s.width), out.add(row * s.width));
                    let (y, g) = (y.add(row * s.depth), g.add(row * s.depth));
                    for i in 0..rows {
                        let line = i * s.depth..(i + 1) * s.depth;
                        means.add(i).write(line.fold(T::ZERO, |sum, j| sum.add((*y.add(j)).mul(*g.add(j)))));
                    }
                    let end = if call.causal { s.keys.min(from + rows) } else { s.keys };
                    for key in (0..end).step_by(KEYS_BACK) {
                        let n = KEYS_BACK.min(end - key);
                        product(
                            q,
                            [rows, s.width, n],
                            [s.width, 1],
                            keys.add(key).cast_const(),
                            [s.keys, 1],
                            scores,
                        );
                        product(
                            g,
                            [rows, s.depth, n],
                            [s.depth, 1],
                            values.add(key).cast_const(),
                            [s.keys, 1],
                            back,
                        );
                        harden(&Hardened {
                            call: &call,
                            scores,
                            back,
                            head,
                            from: [from, key],
                            size: [rows, n],
                            sums: sums.add(row),
                            means,
                        });
                        product(scores.cast_const(), [n, rows, s.depth], [1, n], g, [s.depth, 1], part);
                        add(dv.add(key * s.depth), part, n * s.depth);
                        product(back.cast_const(), [n, rows, s.width], [1, n], q, [s.width, 1], part);
                        add(dk.add(key * s.width), part, n * s.width);
                        product(
                            back.cast_const(),
                            [rows, n, s.width],
                            [n, 1],
                            k.add(key * s.width),
                            [s.width, 1],
                            part,
                        );
                        add(dq, part, rows * s.width);
                    }
                }
            }
        });
    };
    run(heads, work, &task);
}
