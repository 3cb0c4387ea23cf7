//! Kernels written in Rust: the number that a function of scalars computes with, and what `#[kernel]` makes of `if`.
//!
//! A function marked `#[kernel]` is called once with numbers that write down what is done with them. Each knows in which branch it was
//! made; one that is read in a branch further in is read as that branch reads it ([`Builder::within`]).

use super::{Builder, Constant, Kernel, Part, Sort, elementwise};
use mg_device::{Error, ErrorKind, Result};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A number of a kernel: an element of an argument, a constant, or what is computed of them.
///
/// It has the operators, and the elementwise operations of tensors as methods. Numbers of Rust stand beside it; where one stands alone,
/// it is written `S::from(0.0)`.
#[derive(Clone, Copy, Debug)]
pub struct S {
    at: usize,
    depth: usize,
}

/// A truth value of a kernel: what a comparison answers with.
#[derive(Clone, Copy, Debug)]
pub struct Truth(S);

/// A kernel that is being written down on this thread.
struct Trace {
    builder: Builder,
    /// The steps that were made for a key.
    known: HashMap<String, Vec<usize>>,
    /// The conditions of the branches that are open.
    branches: Vec<usize>,
    /// Those, and the conditions beside which something is asked for: `b != 0 && …`.
    taken: Vec<usize>,
    /// What went wrong first.
    error: Option<Error>,
}

thread_local! {
    static TRACES: RefCell<Vec<Trace>> = const { RefCell::new(vec![]) };
}

/// Does something with the kernel that is written down; without one, answers with a number that no kernel knows.
fn with<T>(f: impl FnOnce(&mut Trace) -> T, none: T) -> T {
    TRACES.with_borrow_mut(|all| all.last_mut().map_or(none, f))
}

const NOWHERE: S = S { at: usize::MAX, depth: 0 };

impl Trace {
    fn once(&mut self, key: String, make: impl FnOnce(&mut Builder) -> Result<usize>) -> usize {
        self.all_once(key, 1, |b| Ok(vec![make(b)?]))[0]
    }

    /// As [`Trace::once`], of several values.
    fn all_once(
        &mut self,
        key: String,
        count: usize,
        make: impl FnOnce(&mut Builder) -> Result<Vec<usize>>,
    ) -> Vec<usize> {
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        match make(&mut self.builder) {
            Ok(all) => {
                self.known.insert(key, all.clone());
                all
            }
            Err(error) => {
                self.error.get_or_insert(error);
                vec![usize::MAX; count]
            }
        }
    }

    /// A value as the open branches read it.
    fn read(&mut self, value: S) -> usize {
        let mut at = value.at;
        for depth in value.depth..self.branches.len() {
            let condition = self.branches[depth];
            let of = at;
            at = self.once(format!("within {condition} {of}"), |b| b.within(condition, of));
        }
        at
    }

    /// A value as it divides where it is asked for.
    fn shielded(&mut self, mut at: usize) -> usize {
        for i in 0..self.taken.len() {
            let (condition, of) = (self.taken[i], at);
            at = self.once(format!("shield {condition} {of}"), |b| b.shield(condition, of));
        }
        at
    }

    fn made(&self, at: usize) -> S {
        S { at, depth: self.branches.len() }
    }

    fn call(&mut self, name: &str, values: &[S]) -> S {
        let mut parts: Vec<Part> = values.iter().map(|&v| Part::Value(self.read(v))).collect();
        let divides = elementwise().get(name).is_some_and(|operation| operation.divides);
        if let (true, Some(Part::Value(divisor))) = (divides, parts.get_mut(1)) {
            *divisor = self.shielded(*divisor);
        }
        let at = self.once(format!("{name} {parts:?}"), |b| b.call(name, &parts));
        self.made(at)
    }
}

/// An elementwise operation by its name.
fn call(name: &str, values: &[S]) -> S {
    with(|trace| trace.call(name, values), NOWHERE)
}

fn constant(constant: Constant) -> S {
    with(
        |trace| {
            let at = trace.once(format!("{constant:?}"), |b| b.constant(constant));
            S { at, depth: 0 }
        },
        NOWHERE,
    )
}

macro_rules! numbers {
    ($($T:ty: $Constant:ident as $As:ty;)*) => {$(
        impl From<$T> for S {
            fn from(number: $T) -> S {
                constant(Constant::$Constant(number as $As))
            }
        }
        operators!($T);
        compared!($T, S);
        compared!(S, $T);
    )*};
}

macro_rules! operators {
    ($T:ty) => {
        operators!($T, Add add "add", Sub sub "sub", Mul mul "mul", Div div "div", Rem rem "fmod");
    };
    ($T:ty, $($Trait:ident $method:ident $name:literal),*) => {$(
        impl std::ops::$Trait<S> for $T {
            type Output = S;
            fn $method(self, other: S) -> S {
                call($name, &[self.into(), other])
            }
        }
    )*};
}

/// With whatever is a number of a kernel: one implementation, so that the answer's type is known before that of a literal:
/// `(x + 1.0).ln()`.
macro_rules! arithmetic {
    ($($Trait:ident $method:ident $name:literal),*) => {$(
        impl<T> std::ops::$Trait<T> for S
        where
            S: From<T>,
        {
            type Output = S;
            fn $method(self, other: T) -> S {
                call($name, &[self, S::from(other)])
            }
        }
    )*};
}

macro_rules! assigned {
    ($($Trait:ident $method:ident $op:tt),*) => {$(
        impl<T> std::ops::$Trait<T> for S
        where
            S: From<T>,
        {
            fn $method(&mut self, other: T) {
                *self = *self $op other;
            }
        }
    )*};
}

/// What two values of these types compare to: a [`Truth`] of the kernel, or what Rust knows at once.
pub trait Compare<Other> {
    /// The answer.
    type Answer;
    /// `self < other`.
    fn lt(self, other: Other) -> Self::Answer;
    /// `self ≤ other`.
    fn le(self, other: Other) -> Self::Answer;
    /// `self > other`.
    fn gt(self, other: Other) -> Self::Answer;
    /// `self ≥ other`.
    fn ge(self, other: Other) -> Self::Answer;
    /// `self = other`.
    fn eq(self, other: Other) -> Self::Answer;
    /// `self ≠ other`.
    fn ne(self, other: Other) -> Self::Answer;
}

macro_rules! compared {
    ($A:ty, $B:ty) => {
        compared!($A, $B, lt, le, gt, ge, eq, ne);
    };
    ($A:ty, $B:ty, $($method:ident),*) => {
        impl Compare<$B> for $A {
            type Answer = Truth;
            $(fn $method(self, other: $B) -> Truth {
                Truth(call(stringify!($method), &[self.into(), other.into()]))
            })*
        }
    };
}

macro_rules! plainly {
    ($($T:ty)*) => {$(
        impl Compare<$T> for $T {
            type Answer = bool;
            fn lt(self, other: $T) -> bool {
                self < other
            }
            fn le(self, other: $T) -> bool {
                self <= other
            }
            fn gt(self, other: $T) -> bool {
                self > other
            }
            fn ge(self, other: $T) -> bool {
                self >= other
            }
            fn eq(self, other: $T) -> bool {
                self == other
            }
            fn ne(self, other: $T) -> bool {
                self != other
            }
        }
    )*};
}
plainly! { f64 f32 i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool char &str }
arithmetic!(Add add "add", Sub sub "sub", Mul mul "mul", Div div "div", Rem rem "fmod");
compared!(S, S);
numbers! {
    f64: Float as f64;
    f32: Float as f64;
    i32: Int as i64;
    i64: Int as i64;
    usize: Int as i64;
}
assigned!(AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *, DivAssign div_assign /);

impl From<bool> for Truth {
    fn from(known: bool) -> Truth {
        Truth(constant(Constant::Bool(known)))
    }
}

impl From<Truth> for S {
    fn from(truth: Truth) -> S {
        truth.0
    }
}

impl std::ops::Neg for S {
    type Output = S;
    fn neg(self) -> S {
        call("neg", &[self])
    }
}

impl std::ops::Not for Truth {
    type Output = Truth;
    fn not(self) -> Truth {
        Truth(call("logical_not", &[self.0]))
    }
}

/// Truth values of a kernel and of Rust, connected. What stands on the right is asked for where it decides: of truth values of Rust not at
/// all where the left one does, of those of a kernel as in a branch.
pub trait Connect<Other> {
    /// The answer.
    type Answer;
    /// Whether both hold.
    fn and(self, other: impl Fn() -> Other) -> Self::Answer;
    /// Whether one of them holds.
    fn or(self, other: impl Fn() -> Other) -> Self::Answer;
}

impl Connect<bool> for bool {
    type Answer = bool;
    fn and(self, other: impl Fn() -> bool) -> bool {
        self && other()
    }
    fn or(self, other: impl Fn() -> bool) -> bool {
        self || other()
    }
}

impl Connect<Truth> for bool {
    type Answer = Truth;
    fn and(self, other: impl Fn() -> Truth) -> Truth {
        if self { other() } else { Truth::from(false) }
    }
    fn or(self, other: impl Fn() -> Truth) -> Truth {
        if self { Truth::from(true) } else { other() }
    }
}

impl<B: Into<Truth>> Connect<B> for Truth {
    type Answer = Truth;
    fn and(self, other: impl Fn() -> B) -> Truth {
        let other = beside(self, || other().into());
        Truth(call("logical_and", &[self.0, other.0]))
    }
    fn or(self, other: impl Fn() -> B) -> Truth {
        let other = beside(!self, || other().into());
        Truth(call("logical_or", &[self.0, other.0]))
    }
}

/// Does something that is asked for where a condition holds. No gradient flows through a truth value, so nothing is read otherwise there.
fn beside<R>(condition: Truth, f: impl FnOnce() -> R) -> R {
    with(
        |trace| {
            let at = trace.read(condition.0);
            trace.taken.push(at);
        },
        (),
    );
    let answer = f();
    with(|trace| trace.taken.pop(), None);
    answer
}

/// Does something in the branch that is taken where a condition holds.
fn within<R>(condition: Truth, f: impl FnOnce() -> R) -> R {
    beside(condition, || {
        let open = |trace: &mut Trace| trace.branches.extend(trace.taken.last().copied());
        with(open, ());
        let answer = f();
        with(|trace| trace.branches.pop(), None);
        answer
    })
}

macro_rules! methods {
    ($($name:ident)*; $($binary:ident)*; $($asks:ident)*) => {
        /// The elementwise operations of [`Tensor`](crate::Tensor), under its names.
        impl S {
            $(
                #[doc = concat!("[`Tensor::", stringify!($name), "`](crate::Tensor::", stringify!($name), ") of the number.")]
                #[must_use]
                pub fn $name(self) -> S {
                    call(stringify!($name), &[self])
                }
            )*
            $(
                #[doc = concat!("[`Tensor::", stringify!($binary), "`](crate::Tensor::", stringify!($binary), ") of the number and another.")]
                #[must_use]
                pub fn $binary(self, other: impl Into<S>) -> S {
                    call(stringify!($binary), &[self, other.into()])
                }
            )*
            $(
                #[doc = concat!("[`Tensor::", stringify!($asks), "`](crate::Tensor::", stringify!($asks), ") of the number.")]
                #[must_use]
                pub fn $asks(self) -> Truth {
                    Truth(call(stringify!($asks), &[self]))
                }
            )*
        }
    };
}
methods! {
    exp exp2 expm1 log log2 log10 log1p sqrt rsqrt cbrt square reciprocal abs sign
    sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sinc
    erf erfc erfinv lgamma digamma sigmoid silu mish relu relu6 softsign logsigmoid hardswish selu
    floor ceil trunc frac;
    pow atan2 hypot maximum minimum fmax fmin fmod remainder floor_divide copysign logaddexp xlogy
    bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift;
    isnan isinf isfinite signbit
}

impl S {
    /// The nearest whole number, the even one of two.
    #[must_use]
    pub fn round(self) -> S {
        call("round", &[self])
    }

    /// No less than `min` and no more than `max`.
    #[must_use]
    pub fn clamp(self, min: impl Into<S>, max: impl Into<S>) -> S {
        call("clamp", &[self, min.into(), max.into()])
    }

    /// An elementwise operation by its name, of this number and others: see [`elementwise`](super::elementwise).
    #[must_use]
    pub fn call(self, name: &str, others: &[S]) -> S {
        let all: Vec<S> = [self].into_iter().chain(others.iter().copied()).collect();
        call(name, &all)
    }

    /// The number as a floating-point one.
    #[must_use]
    pub fn float(self) -> S {
        self.cast(Sort::Float)
    }

    /// The number as an integer, towards zero.
    #[must_use]
    pub fn int(self) -> S {
        self.cast(Sort::Int)
    }

    fn cast(self, sort: Sort) -> S {
        with(
            |trace| {
                let of = trace.read(self);
                let at = trace.once(format!("{sort:?} {of}"), |b| b.cast(sort, of));
                trace.made(at)
            },
            NOWHERE,
        )
    }
}

/// What a branch may answer with, or change: numbers and truth values of the kernel, and tuples of them. What Rust computes by itself may be the
/// same in both.
pub trait Choose: Sized {
    /// The first where the condition holds, else the second.
    fn choose(condition: Truth, yes: Self, no: Self) -> Self;
}

impl Choose for S {
    fn choose(condition: Truth, yes: S, no: S) -> S {
        with(
            |trace| {
                if yes.at == no.at {
                    return yes;
                }
                let [c, a, b] = [condition.0, yes, no].map(|v| trace.read(v));
                let at = trace.once(format!("select {c} {a} {b}"), |builder| builder.select(c, a, b));
                trace.made(at)
            },
            NOWHERE,
        )
    }
}

impl Choose for Truth {
    fn choose(condition: Truth, yes: Truth, no: Truth) -> Truth {
        Truth(S::choose(condition, yes.0, no.0))
    }
}

macro_rules! same {
    ($($T:ty)*) => {$(
        impl Choose for $T {
            fn choose(_: Truth, yes: $T, no: $T) -> $T {
                if yes != no {
                    fail(format!(
                        "a number of Rust is {yes} in one branch and {no} in the other: make it one of the kernel, S::from({yes})"
                    ));
                }
                yes
            }
        }
    )*};
}
same! { f64 f32 i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool }

impl<T: Choose, const N: usize> Choose for [T; N] {
    fn choose(condition: Truth, yes: [T; N], no: [T; N]) -> [T; N] {
        let mut no = no.into_iter();
        // As many stand on both sides.
        yes.map(|a| match no.next() {
            Some(b) => T::choose(condition, a, b),
            None => a,
        })
    }
}

impl<T: Choose> Choose for Vec<T> {
    fn choose(condition: Truth, yes: Vec<T>, no: Vec<T>) -> Vec<T> {
        if yes.len() != no.len() {
            let text =
                format!("a list has {} elements in one branch and {} in the other", yes.len(), no.len());
            fail(text);
        }
        yes.into_iter().zip(no).map(|(a, b)| T::choose(condition, a, b)).collect()
    }
}

/// Notes what is wrong with the kernel that is written down.
fn fail(text: String) {
    let note = |trace: &mut Trace| {
        let error = Error::new(trace.builder.kernel.name, ErrorKind::Value(text));
        trace.error.get_or_insert(error);
    };
    with(note, ());
}

macro_rules! tuples {
    ($($($T:ident $i:tt)*;)*) => {$(
        impl<$($T: Choose),*> Choose for ($($T,)*) {
            #[allow(unused_variables, clippy::unused_unit)]
            fn choose(condition: Truth, yes: Self, no: Self) -> Self {
                ($($T::choose(condition, yes.$i, no.$i),)*)
            }
        }
        impl<$($T: Results),*> Results for ($($T,)*) {
            #[allow(unused_variables)]
            fn results(self, all: &mut Vec<S>) {
                $(self.$i.results(all);)*
            }
        }
    )*};
}
tuples! {
    ;
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
}

/// What a kernel answers with.
pub trait Results {
    /// Puts the numbers into a list.
    fn results(self, all: &mut Vec<S>);
}

impl Results for S {
    fn results(self, all: &mut Vec<S>) {
        all.push(self);
    }
}

impl Results for Truth {
    fn results(self, all: &mut Vec<S>) {
        all.push(self.0);
    }
}

/// What an `if` asks: what Rust knows takes one branch, a truth value of the kernel both.
pub trait Condition {
    /// Takes the branches from a state, the values of the names that they assign to; answers with what they answer with, and
    /// the state afterwards. Branches are `Fn`: what one would change otherwise than by assigning to a name, or to an element or
    /// a field of what that stands for, it would change for all numbers, and so it does not compile.
    fn branch<V: Choose, T: Choose + Clone>(
        self,
        state: T,
        yes: impl Fn(T) -> (V, T),
        no: impl Fn(T) -> (V, T),
    ) -> (V, T);
}

impl Condition for bool {
    fn branch<V: Choose, T: Choose + Clone>(
        self,
        state: T,
        yes: impl Fn(T) -> (V, T),
        no: impl Fn(T) -> (V, T),
    ) -> (V, T) {
        if self { yes(state) } else { no(state) }
    }
}

impl Condition for Truth {
    fn branch<V: Choose, T: Choose + Clone>(
        self,
        state: T,
        yes: impl Fn(T) -> (V, T),
        no: impl Fn(T) -> (V, T),
    ) -> (V, T) {
        let (a, after_a) = within(self, || yes(state.clone()));
        let (b, after_b) = within(!self, || no(state));
        (V::choose(self, a, b), T::choose(self, after_a, after_b))
    }
}

/// Writes down what a function does with numbers. `#[kernel]` calls it.
///
/// # Errors
///
/// What the function does that a kernel cannot.
pub fn trace<R: Results>(name: &str, arguments: usize, f: impl FnOnce(&[S]) -> R) -> Result<Kernel> {
    /// Takes the trace away also where the function panics.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            TRACES.with_borrow_mut(|all| drop(all.pop()));
        }
    }
    let mut builder = Builder::new(name, arguments);
    let all =
        (0..arguments).map(|at| Ok(S { at: builder.argument(at)?, depth: 0 })).collect::<Result<Vec<S>>>()?;
    let trace = Trace { builder, known: HashMap::new(), branches: vec![], taken: vec![], error: None };
    TRACES.with_borrow_mut(|traces| traces.push(trace));
    let end = End;
    let mut results = vec![];
    f(&all).results(&mut results);
    let trace = TRACES.with_borrow_mut(Vec::pop);
    std::mem::forget(end);
    match trace {
        Some(Trace { error: Some(error), .. }) => Err(error),
        Some(trace) => trace.builder.end(&results.iter().map(|r| r.at).collect::<Vec<_>>()),
        None => Err(Error::new("kernel", ErrorKind::Internal("a kernel ended twice".into()))),
    }
}

/// A kernel that has a gradient of its own, called in another.
pub fn called(kernel: &Result<Arc<Kernel>>, args: &[S]) -> Vec<S> {
    let call = |trace: &mut Trace| match kernel {
        Ok(kernel) => {
            let args: Vec<usize> = args.iter().map(|&v| trace.read(v)).collect();
            let taken = trace.taken.clone();
            let key = format!("kernel {:?} {args:?} {taken:?}", Arc::as_ptr(kernel));
            let all = trace.all_once(key, kernel.results(), |b| b.kernel_within(kernel, &taken, &args));
            all.into_iter().map(|at| trace.made(at)).collect()
        }
        Err(error) => {
            trace.error.get_or_insert(error.clone());
            vec![]
        }
    };
    with(call, vec![])
}

/// The kernels of a function, by its constants.
pub struct Known<C>(Mutex<Vec<(C, Arc<Kernel>)>>);

/// How many kernels are kept of one function.
const KEPT: usize = 64;

impl<C: PartialEq> Known<C> {
    /// None yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Known<C> {
        Known(Mutex::new(vec![]))
    }

    /// The kernel of some constants, which is made where it is not there.
    ///
    /// # Errors
    ///
    /// Those of making it.
    pub fn of(&self, constants: C, make: impl FnOnce() -> Result<Kernel>) -> Result<Arc<Kernel>> {
        let known = |all: &[(C, Arc<Kernel>)]| {
            all.iter().find(|(c, _)| *c == constants).map(|(_, kernel)| kernel.clone())
        };
        if let Some(kernel) = known(&self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(kernel);
        }
        // Not under the lock: a kernel may call itself by mistake, or another that calls it.
        let kernel = Arc::new(make()?);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= KEPT {
            all.remove(0);
        }
        all.push((constants, kernel.clone()));
        Ok(kernel)
    }
}
