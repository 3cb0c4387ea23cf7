//! Scans on the CPU: what is carried from element to element, for each kind and dtype. `walk.rs` goes through the lines.

use super::walk::{GROUP, Groups, Tile, Work, run};
use super::{Lines, Scan, ScanKind, sums};
use crate::cpu::convert::{bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32, round_bf16, round_f16};
use crate::cpu::memory;
use crate::library::Operand;
use crate::math;
use mg_device::{Float, Width, bf16, f16};

/// What is carried from element to element.
pub(super) trait State: Copy + Send + Sync {
    /// An element, and with it what the second operand has there.
    type In: Copy;
    /// What is written.
    type Out;
    /// Nothing.
    const NONE: Self;
    /// Whether elements are joined by a tree, which takes more steps of which more go side by side. Extremes are better in order, where the
    /// processor foresees that the one so far remains.
    const TREE: bool;
    /// Whether it pays to have groups or blocks in wide instructions too.
    const WIDE: bool;
    /// Whether most elements leave what is carried as it is.
    const SETTLES: bool = false;
    /// Whether none of these elements, coming after, changes it.
    fn stays(self, _: &[Self::In]) -> bool {
        false
    }
    /// What an element alone comes to.
    fn of(x: Self::In, a: Self::In, at: usize) -> Self;
    /// This, and then what comes after it.
    fn then(self, after: Self) -> Self;
    /// What is written of it.
    fn out(self) -> Self::Out;
    /// Goes through groups of a line as [`Work::groups`] does, if there are instructions for that.
    ///
    /// # Safety
    ///
    /// As there.
    unsafe fn groups(_: &Work<Self>, _: Groups<Self>) -> Option<Self> {
        None
    }
    /// Goes through a tile, if there are instructions for that.
    ///
    /// # Safety
    ///
    /// Its elements are there; nobody else writes them.
    unsafe fn tile(_: &Work<Self>, _: Tile<Self>) -> bool {
        false
    }
}

/// An element in the type that it is added in.
trait Wide: Copy + Send + Sync {
    type As: Number;
    fn wide(self) -> Self::As;
    fn narrow(wide: Self::As) -> Self;
    /// As [`State::groups`], of sums or products.
    ///
    /// # Safety
    ///
    /// As there.
    unsafe fn groups<S: State<In = Self, Out = Self>>(
        _: &Work<S>,
        _: Groups<Self::As>,
        _product: bool,
    ) -> Option<Self::As> {
        None
    }
    /// As [`State::tile`], of sums or products.
    ///
    /// # Safety
    ///
    /// As there.
    unsafe fn tile<S: State<In = Self, Out = Self>>(_: &Work<S>, _: Tile<Self::As>, _product: bool) -> bool {
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
    unsafe fn groups<S: State<In = f32, Out = f32>>(
        work: &Work<S>,
        groups: Groups<f64>,
        product: bool,
    ) -> Option<f64> {
        let Groups { line, from, to, start, write, ahead } = groups;
        let first = line + work.at(from);
        // SAFETY: this function's contract.
        unsafe {
            let (x, out) = (work.x.add(first), write.then(|| work.out.add(first)));
            let (start, groups) = (start.unwrap_or(f64::from(u8::from(product))), (to - from) / GROUP);
            let Work { reverse, streams, .. } = *work;
            sums::groups(sums::Run { x, out, groups, reverse, start, streams, ahead }, product)
        }
    }
    unsafe fn tile<S: State<In = f32, Out = f32>>(work: &Work<S>, tile: Tile<f64>, product: bool) -> bool {
        // SAFETY: this function's contract.
        unsafe {
            let (x, out) = (work.x.add(tile.at), tile.write.then(|| work.out.add(tile.at)));
            let Tile { rows, now, start, .. } = tile;
            let tile = sums::Tile { x, out, rows, apart: work.apart(), now, start, streams: work.streams };
            sums::tile(tile, product)
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
    fn log(self) -> Self;
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
    f16 => f32, |x| f16_to_f32(x.to_bits()), |w| f16::from_bits(f16_from_f32(round_f16(w)));
    bf16 => f32, |x| bf16_to_f32(x.to_bits()), |w| bf16::from_bits(bf16_from_f32(round_bf16(w)));
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
                math::exp(self - from)
            }
            #[inline(always)]
            fn log(self) -> $T {
                math::log(self)
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
    fn log(self) -> i64 {
        0
    }
}

#[derive(Clone, Copy)]
#[repr(transparent)]
struct Sum<T: Wide>(T::As);
impl<T: Wide> State for Sum<T> {
    unsafe fn groups(work: &Work<Self>, groups: Groups<Self>) -> Option<Self> {
        // SAFETY: this function's contract.
        unsafe { T::groups(work, groups.map(|state| state.0), false).map(Sum) }
    }
    unsafe fn tile(work: &Work<Self>, tile: Tile<Self>) -> bool {
        // SAFETY: this function's contract; a state is its number.
        unsafe { T::tile(work, tile.cast(), false) }
    }
    type In = T;
    type Out = T;
    const NONE: Self = Sum(T::As::ZERO);
    const TREE: bool = true;
    // Not for f32, which has instructions of its own; half types are converted on the way.
    const WIDE: bool = size_of::<T>() != 4;
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
#[repr(transparent)]
struct Prod<T: Wide>(T::As);
impl<T: Wide> State for Prod<T> {
    unsafe fn groups(work: &Work<Self>, groups: Groups<Self>) -> Option<Self> {
        // SAFETY: this function's contract.
        unsafe { T::groups(work, groups.map(|state| state.0), true).map(Prod) }
    }
    unsafe fn tile(work: &Work<Self>, tile: Tile<Self>) -> bool {
        // SAFETY: this function's contract; a state is its number.
        unsafe { T::tile(work, tile.cast(), true) }
    }
    type In = T;
    type Out = T;
    const NONE: Self = Prod(T::As::ONE);
    const TREE: bool = true;
    // Not for f32, which has instructions of its own; half types are converted on the way.
    const WIDE: bool = size_of::<T>() != 4;
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
    const TREE: bool = false;
    const WIDE: bool = size_of::<T>() >= 4;
    const NONE: Self = LogSum { top: T::As::LEAST, sum: T::As::ZERO };
    #[inline(always)]
    fn of(x: T, _: T, _: usize) -> Self {
        LogSum { top: x.wide(), sum: T::As::ONE }
    }
    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn then(self, after: Self) -> Self {
        let above = (self.top > after.top) | (self.top != self.top);
        let (high, low) = if above { (self, after) } else { (after, self) };
        // Equal ones may be infinite.
        let fall = low.top.exp_of_difference(high.top);
        let fall = if low.top == high.top { T::As::ONE } else { fall };
        LogSum { top: high.top, sum: high.sum.plus(low.sum.times(fall)) }
    }
    #[inline(always)]
    fn out(self) -> T {
        T::narrow(self.top.plus(self.sum.log()))
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
    const TREE: bool = false;
    const WIDE: bool = true;
    const SETTLES: bool = true;
    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn stays(self, x: &[T]) -> bool {
        let before = self.value;
        let changes = x.iter().fold(false, |changes, x| {
            let now = x.wide();
            let beyond = if SMALLEST { now <= before } else { now >= before };
            changes | beyond | (now != now)
        });
        self.at >= 0 && !changes
    }
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
    const TREE: bool = false;
    const WIDE: bool = false;
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
                run(Work::<$S>::new([x, a], out.cast(), lines, scan.reverse))
            }
        };
    }
    macro_rules! numbers {
        ($State:ident, $integers:expr) => {
            match x.dtype.float() {
                Some(Float::F32) => go!($State<f32>),
                Some(Float::F64) => go!($State<f64>),
                Some(Float::F16) => go!($State<f16>),
                Some(Float::BF16) => go!($State<bf16>),
                // `Scan::result` takes i64 where numbers are added or multiplied, and no other integers.
                None => $integers,
            }
        };
    }
    macro_rules! extremes {
        ($smallest:literal) => {
            match (x.dtype.float(), x.dtype.width()) {
                (Some(Float::F32), _) => go!(Extreme<f32, $smallest>),
                (Some(Float::F64), _) => go!(Extreme<f64, $smallest>),
                (Some(Float::F16), _) => go!(Extreme<f16, $smallest>),
                (Some(Float::BF16), _) => go!(Extreme<bf16, $smallest>),
                // `Scan::result` takes i64, i32, u8 and bool, and no integers besides.
                (None, Width::W32) => go!(Extreme<i32, $smallest>),
                (None, Width::W8) => go!(Extreme<u8, $smallest>),
                (None, Width::W64 | Width::W16) => go!(Extreme<i64, $smallest>),
            }
        };
    }
    match scan.kind {
        ScanKind::Sum => numbers!(Sum, go!(Sum<i64>)),
        ScanKind::Prod => numbers!(Prod, go!(Prod<i64>)),
        ScanKind::LogSumExp => numbers!(LogSum, {}),
        ScanKind::Linear => numbers!(Linear, {}),
        ScanKind::ArgMax => extremes!(false),
        ScanKind::ArgMin => extremes!(true),
        // SAFETY: this function's contract.
        ScanKind::Max | ScanKind::Min => unsafe { elements(scan, lines, x, out) },
    }
}

/// The elements that stand where a scan finds extremes, as they stand.
///
/// # Safety
///
/// That of [`scan`].
unsafe fn elements(scan: &Scan, lines: Lines, x: &Operand, out: *mut u8) {
    let mut places = memory::filled(lines.outer * lines.length * lines.inner, 0i64);
    let positions = Scan { kind: scan.kind.indices(), ..*scan };
    // SAFETY: this function's contract, and there is room for the positions; the width is the elements'.
    unsafe {
        self::scan(&positions, lines, std::slice::from_ref(x), places.as_mut_ptr().cast());
        match x.dtype.width() {
            Width::W8 => picked::<u8>(lines, &places, x.first().cast(), out.cast()),
            Width::W16 => picked::<u16>(lines, &places, x.first().cast(), out.cast()),
            Width::W32 => picked::<u32>(lines, &places, x.first().cast(), out.cast()),
            Width::W64 => picked::<u64>(lines, &places, x.first().cast(), out.cast()),
        }
    }
}

/// Safety: `x` and `out` have the elements of all lines, whose positions these are.
unsafe fn picked<T: Copy>(lines: Lines, places: &[i64], x: *const T, out: *mut T) {
    for (i, &place) in places.iter().enumerate() {
        let (line, beside) = (i / (lines.length * lines.inner), i % lines.inner);
        // SAFETY: this function's contract.
        unsafe { *out.add(i) = *x.add((line * lines.length + place as usize) * lines.inner + beside) };
    }
}
