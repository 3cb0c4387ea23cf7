//! Scans on the CPU.
//!
//! The order in which elements are joined depends on sizes alone, not on the number of threads: lines are divided into pieces, pieces into
//! blocks, blocks into chunks, and each of these goes on from what all before it come to.

use super::{Lines, Scan, ScanKind, sums};
use crate::cpu::library::Shared;
use crate::cpu::loops::{by_isa, isa};
use crate::cpu::pool::{num_threads, parallel};
use crate::library::Operand;
use mg_device::{DType, bf16, f16};

/// Chunks of a block that are gone through side by side, so that one addition need not wait for the other.
pub(super) const CHUNKS: usize = 8;
/// Elements of a chunk: a block lies in the first-level cache.
pub(super) const CHUNK: usize = 256;
/// Elements of a piece, which one thread has.
const PIECE: usize = 1 << 16;
/// Lines beside each other that are gone through together.
const COLUMNS: usize = 256;
/// Elements from which threads share the work.
const PARALLEL: usize = 1 << 16;

/// What is carried from element to element.
trait State: Copy + Send + Sync {
    /// An element, and with it what the second operand has there.
    type In: Copy;
    /// What is written.
    type Out;
    /// Nothing.
    const NONE: Self;
    /// What an element alone comes to.
    fn of(x: Self::In, a: Self::In, at: usize) -> Self;
    /// This, and then what comes after it.
    fn then(self, after: Self) -> Self;
    /// What is written of it.
    fn out(self) -> Self::Out;
    /// Goes through [`CHUNKS`] chunks of a line from its element `first` on, if there are instructions for that, as [`Work::piece`] does.
    ///
    /// # Safety
    ///
    /// The elements are the line's; nobody else writes them.
    unsafe fn block(_: &Work<Self>, _first: usize, _start: Self, _all: &mut Self, _write: bool) -> bool {
        false
    }
}

/// An element in the type that it is added in.
trait Wide: Copy + Send + Sync {
    type As: Number;
    fn wide(self) -> Self::As;
    fn narrow(wide: Self::As) -> Self;
    /// As [`State::block`], of sums.
    ///
    /// # Safety
    ///
    /// As there.
    unsafe fn sums(
        _: &Work<Sum<Self>>,
        _first: usize,
        _start: Self::As,
        _all: &mut Self::As,
        _write: bool,
    ) -> bool {
        false
    }
}

impl Wide for f32 {
    type As = f64;
    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }
    #[inline(always)]
    fn narrow(wide: f64) -> f32 {
        wide as f32
    }
    unsafe fn sums(work: &Work<Sum<f32>>, first: usize, start: f64, all: &mut f64, write: bool) -> bool {
        // SAFETY: this function's contract.
        unsafe {
            let (x, out) = (work.x.add(first), write.then(|| work.out.add(first)));
            sums::block(sums::Block { x, out, reverse: work.reverse, start, all })
        }
    }
}

trait Number: Copy + Send + Sync + PartialOrd {
    const ZERO: Self;
    const ONE: Self;
    const LEAST: Self;
    fn plus(self, o: Self) -> Self;
    fn times(self, o: Self) -> Self;
    fn exp_of_difference(self, from: Self) -> Self;
    fn ln(self) -> Self;
}

macro_rules! wide {
    ($($T:ty => $W:ty, |$x:ident| $wide:expr, |$w:ident| $narrow:expr;)*) => {$(
        impl Wide for $T {
            type As = $W;
            #[inline(always)]
            fn wide(self) -> $W {
                let $x = self;
                $wide
            }
            #[inline(always)]
            fn narrow($w: $W) -> $T {
                $narrow
            }
        }
    )*};
}
wide! {
    f64 => f64, |x| x, |w| w;
    f16 => f32, |x| x.to_f32(), |w| f16::from_f32(w);
    bf16 => f32, |x| x.to_f32(), |w| bf16::from_f32(w);
    i64 => i64, |x| x, |w| w;
    i32 => i64, |x| i64::from(x), |w| w as i32;
    u8 => i64, |x| i64::from(x), |w| w as u8;
}
macro_rules! floats {
    ($($T:ty)*) => {$(
        impl Number for $T {
            const ZERO: $T = 0.0;
            const ONE: $T = 1.0;
            const LEAST: $T = <$T>::NEG_INFINITY;
            #[inline(always)]
            fn plus(self, o: $T) -> $T {
                self + o
            }
            #[inline(always)]
            fn times(self, o: $T) -> $T {
                self * o
            }
            #[inline(always)]
            fn exp_of_difference(self, from: $T) -> $T {
                (self - from).exp()
            }
            #[inline(always)]
            fn ln(self) -> $T {
                <$T>::ln(self)
            }
        }
    )*};
}
floats!(f32 f64);
impl Number for i64 {
    const ZERO: i64 = 0;
    const ONE: i64 = 1;
    const LEAST: i64 = i64::MIN;
    #[inline(always)]
    fn plus(self, o: i64) -> i64 {
        self.wrapping_add(o)
    }
    #[inline(always)]
    fn times(self, o: i64) -> i64 {
        self.wrapping_mul(o)
    }
    // Integers have no logarithms: `Scan::result` refuses them.
    fn exp_of_difference(self, _: i64) -> i64 {
        0
    }
    fn ln(self) -> i64 {
        0
    }
}

#[derive(Clone, Copy)]
struct Sum<T: Wide>(T::As);
impl<T: Wide> State for Sum<T> {
    unsafe fn block(work: &Work<Self>, first: usize, start: Self, all: &mut Self, write: bool) -> bool {
        // SAFETY: this function's contract.
        unsafe { T::sums(work, first, start.0, &mut all.0, write) }
    }
    type In = T;
    type Out = T;
    const NONE: Self = Sum(T::As::ZERO);
    #[inline(always)]
    fn of(x: T, _: T, _: usize) -> Self {
        Sum(x.wide())
    }
    #[inline(always)]
    fn then(self, after: Self) -> Self {
        Sum(self.0.plus(after.0))
    }
    #[inline(always)]
    fn out(self) -> T {
        T::narrow(self.0)
    }
}

#[derive(Clone, Copy)]
struct Prod<T: Wide>(T::As);
impl<T: Wide> State for Prod<T> {
    type In = T;
    type Out = T;
    const NONE: Self = Prod(T::As::ONE);
    #[inline(always)]
    fn of(x: T, _: T, _: usize) -> Self {
        Prod(x.wide())
    }
    #[inline(always)]
    fn then(self, after: Self) -> Self {
        Prod(self.0.times(after.0))
    }
    #[inline(always)]
    fn out(self) -> T {
        T::narrow(self.0)
    }
}

/// `top + log(sum)`.
#[derive(Clone, Copy)]
struct LogSum<T: Wide> {
    top: T::As,
    sum: T::As,
}
impl<T: Wide> State for LogSum<T> {
    type In = T;
    type Out = T;
    const NONE: Self = LogSum { top: T::As::LEAST, sum: T::As::ZERO };
    #[inline(always)]
    fn of(x: T, _: T, _: usize) -> Self {
        LogSum { top: x.wide(), sum: T::As::ONE }
    }
    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn then(self, after: Self) -> Self {
        let above = self.top > after.top || self.top != self.top;
        let top = if above { self.top } else { after.top };
        let part = |s: Self| {
            if s.top == top { s.sum } else { s.sum.times(s.top.exp_of_difference(top)) }
        };
        LogSum { top, sum: part(self).plus(part(after)) }
    }
    #[inline(always)]
    fn out(self) -> T {
        T::narrow(self.top.plus(self.sum.ln()))
    }
}

/// The extreme element and its index; `SMALLEST` says which extreme.
#[derive(Clone, Copy)]
struct Extreme<T: Wide, const SMALLEST: bool> {
    value: T::As,
    at: i64,
}
impl<T: Wide, const SMALLEST: bool> State for Extreme<T, SMALLEST> {
    type In = T;
    type Out = i64;
    const NONE: Self = Extreme { value: T::As::ZERO, at: -1 };
    #[inline(always)]
    fn of(x: T, _: T, at: usize) -> Self {
        Extreme { value: x.wide(), at: at as i64 }
    }
    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn then(self, after: Self) -> Self {
        if after.at < 0 {
            return self;
        }
        if self.at < 0 {
            return after;
        }
        let (before, now) = (self.value, after.value);
        let beyond = if SMALLEST { now <= before } else { now >= before };
        if now != now || beyond && before == before { after } else { self }
    }
    #[inline(always)]
    fn out(self) -> i64 {
        self.at
    }
}

/// A map `y ↦ factor · y + value`.
#[derive(Clone, Copy)]
struct Linear<T: Wide> {
    factor: T::As,
    value: T::As,
}
impl<T: Wide> State for Linear<T> {
    type In = T;
    type Out = T;
    const NONE: Self = Linear { factor: T::As::ONE, value: T::As::ZERO };
    #[inline(always)]
    fn of(x: T, a: T, _: usize) -> Self {
        Linear { factor: a.wide(), value: x.wide() }
    }
    #[inline(always)]
    fn then(self, after: Self) -> Self {
        Linear {
            factor: self.factor.times(after.factor),
            value: after.factor.times(self.value).plus(after.value),
        }
    }
    #[inline(always)]
    fn out(self) -> T {
        T::narrow(self.value)
    }
}

/// Computes a scan.
///
/// # Safety
///
/// Operands and output lie densely, as `lines` says, and are valid from any thread for the time of the call.
pub(super) unsafe fn scan(scan: &Scan, lines: Lines, operands: &[Operand], out: *mut u8) {
    let Some(x) = operands.first() else { return };
    let a = operands.get(1).unwrap_or(x).first();
    macro_rules! go {
        ($S:ty) => {
            // SAFETY: this function's contract; the dtype is the state's.
            unsafe {
                let (x, a) = (x.first().cast(), a.cast());
                run(Work::<$S> { x, a, out: out.cast(), lines, reverse: scan.reverse })
            }
        };
    }
    macro_rules! floats {
        ($State:ident) => {
            match x.dtype {
                DType::F32 => go!($State<f32>),
                DType::F64 => go!($State<f64>),
                DType::F16 => go!($State<f16>),
                DType::BF16 => go!($State<bf16>),
                // `Scan::result` takes i64 where numbers are added or multiplied, and no other integers.
                DType::I64
                | DType::I32
                | DType::I16
                | DType::I8
                | DType::U64
                | DType::U32
                | DType::U16
                | DType::U8
                | DType::Bool => go!($State<i64>),
            }
        };
    }
    macro_rules! extremes {
        ($smallest:literal) => {
            match x.dtype {
                DType::F32 => go!(Extreme<f32, $smallest>),
                DType::F64 => go!(Extreme<f64, $smallest>),
                DType::F16 => go!(Extreme<f16, $smallest>),
                DType::BF16 => go!(Extreme<bf16, $smallest>),
                DType::I32 => go!(Extreme<i32, $smallest>),
                DType::U8 | DType::Bool => go!(Extreme<u8, $smallest>),
                // `Scan::result` takes no integers but i64 besides.
                DType::I64 | DType::I16 | DType::I8 | DType::U64 | DType::U32 | DType::U16 => {
                    go!(Extreme<i64, $smallest>)
                }
            }
        };
    }
    match scan.kind {
        ScanKind::Sum => floats!(Sum),
        ScanKind::Prod => floats!(Prod),
        ScanKind::LogSumExp => floats!(LogSum),
        ScanKind::Linear => floats!(Linear),
        ScanKind::ArgMax => extremes!(false),
        ScanKind::ArgMin => extremes!(true),
    }
}

/// The addresses of a call, and how its lines lie.
struct Work<S: State> {
    x: *const S::In,
    a: *const S::In,
    out: *mut S::Out,
    lines: Lines,
    reverse: bool,
}

// SAFETY: the addresses are valid from any thread, and tasks write disjoint elements.
unsafe impl<S: State> Sync for Work<S> {}

impl<S: State> Work<S> {
    /// The position of the `i`-th element on the way along the axis.
    #[inline(always)]
    fn at(&self, i: usize) -> usize {
        if self.reverse { self.lines.length - 1 - i } else { i }
    }

    /// What the `i`-th element on the way of a line, which begins at `line`, comes to.
    #[inline(always)]
    unsafe fn load(&self, line: usize, i: usize) -> S {
        let j = self.at(i);
        // SAFETY: the element is the operand's.
        unsafe { S::of(*self.x.add(line + j), *self.a.add(line + j), j) }
    }

    /// Goes through some elements of a line, from what is before them. Answers with what the elements alone come to.
    ///
    /// # Safety
    ///
    /// The elements are the line's; nobody else writes them.
    unsafe fn piece(&self, line: usize, from: usize, to: usize, start: S, write: bool) -> S {
        let (mut at, mut all) = (from, S::NONE);
        while at + CHUNKS * CHUNK <= to {
            // SAFETY: this function's contract.
            if unsafe { S::block(self, line + self.at(at), start, &mut all, write) } {
                at += CHUNKS * CHUNK;
                continue;
            }
            let mut totals = [S::NONE; CHUNKS];
            for i in 0..CHUNK {
                for (c, total) in totals.iter_mut().enumerate() {
                    // SAFETY: this function's contract.
                    *total = total.then(unsafe { self.load(line, at + c * CHUNK + i) });
                }
            }
            let mut now = [S::NONE; CHUNKS];
            for (now, total) in now.iter_mut().zip(totals) {
                *now = start.then(all);
                all = all.then(total);
            }
            if write {
                for i in 0..CHUNK {
                    for (c, now) in now.iter_mut().enumerate() {
                        let i = at + c * CHUNK + i;
                        // SAFETY: this function's contract.
                        unsafe {
                            *now = now.then(self.load(line, i));
                            self.out.add(line + self.at(i)).write(now.out());
                        }
                    }
                }
            }
            at += CHUNKS * CHUNK;
        }
        let mut now = start.then(all);
        for i in at..to {
            // SAFETY: this function's contract.
            unsafe {
                let x = self.load(line, i);
                all = all.then(x);
                if write {
                    now = now.then(x);
                    self.out.add(line + self.at(i)).write(now.out());
                }
            }
        }
        all
    }

    /// A whole line, by pieces.
    ///
    /// # Safety
    ///
    /// The line is there; nobody else writes it.
    unsafe fn line(&self, row: usize) {
        let length = self.lines.length;
        let mut before = S::NONE;
        for from in (0..length).step_by(PIECE) {
            let to = (from + PIECE).min(length);
            // SAFETY: this function's contract.
            before = before.then(unsafe { self.piece(row * length, from, to, before, true) });
        }
    }

    /// Some lines beside each other.
    ///
    /// # Safety
    ///
    /// The lines are there; nobody else writes them.
    #[inline(always)]
    unsafe fn columns(&self, row: usize, from: usize, to: usize) {
        let Lines { length, inner, .. } = self.lines;
        let mut states = [S::NONE; COLUMNS];
        for i in 0..length {
            let j = self.at(i);
            let base = (row * length + j) * inner + from;
            for (c, state) in states[..to - from].iter_mut().enumerate() {
                // SAFETY: this function's contract.
                unsafe {
                    *state = state.then(S::of(*self.x.add(base + c), *self.a.add(base + c), j));
                    self.out.add(base + c).write(state.out());
                }
            }
        }
    }
}

unsafe fn run<S: State>(work: Work<S>) {
    let Lines { outer, length, inner } = work.lines;
    if outer * length * inner == 0 {
        return;
    }
    let alone = outer * length * inner < PARALLEL || num_threads() == 1;
    let each = |tasks: usize, task: &(dyn Fn(usize) + Sync)| match alone {
        true => (0..tasks).for_each(task),
        false => parallel(tasks, task),
    };
    if inner > 1 {
        let tiles = inner.div_ceil(COLUMNS);
        type Columns<S> = unsafe fn(work: &Work<S>, row: usize, from: usize, to: usize);
        let columns = by_isa!(isa(), Columns<S>, fn<S: State>(work: &Work<S>, row: usize, from: usize, to: usize) {
            work.columns(row, from, to)
        }, [S]);
        // SAFETY: tiles are disjoint.
        return each(outer * tiles, &|task| unsafe {
            let (row, from) = (task / tiles, task % tiles * COLUMNS);
            columns(&work, row, from, (from + COLUMNS).min(inner));
        });
    }
    let pieces = length.div_ceil(PIECE);
    if alone || pieces < 2 || outer >= 2 * num_threads() {
        // Short lines are taken several at a time.
        let lines = PIECE.div_ceil(length.max(1)).min(outer.div_ceil(4)).max(1);
        return each(outer.div_ceil(lines), &|task| {
            for row in task * lines..((task + 1) * lines).min(outer) {
                // SAFETY: lines are disjoint.
                unsafe { work.line(row) }
            }
        });
    }
    let mut totals = vec![S::NONE; outer * pieces];
    let at = Shared(totals.as_mut_ptr());
    let ends = |piece: usize| (piece * PIECE, ((piece + 1) * PIECE).min(length));
    each(outer * pieces, &|task| {
        let (from, to) = ends(task % pieces);
        // SAFETY: each task has a total of its own, and writes nothing else.
        unsafe { at.get().add(task).write(work.piece(task / pieces * length, from, to, S::NONE, false)) };
    });
    for line in totals.chunks_mut(pieces) {
        let mut before = S::NONE;
        for total in line {
            let after = before.then(*total);
            *total = std::mem::replace(&mut before, after);
        }
    }
    each(outer * pieces, &|task| {
        let (from, to) = ends(task % pieces);
        // SAFETY: pieces are disjoint.
        unsafe { work.piece(task / pieces * length, from, to, totals[task], true) };
    });
}
