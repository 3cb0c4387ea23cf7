//! The op table: every elementwise operation, once.
//!
//! A row is a name, a class (which dtypes it takes and what it answers with), a cost, a body generic over [`Lane`] and a
//! gradient rule generic over [`Algebra`]. From it come the CPU loops, the emitted GPU kernels, the methods of
//! tensors with their words, and the calls of the tests. What is not here is the mathematics of a body ([`crate::math`]) and
//! what others call a row; docs/add-an-operation.md names all that a new one wants.

use crate::lane::{FloatLane, IntLane, Lane, Truth};
use crate::math;
use mg_device::DType;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2, LN_10, PI};

/// Which dtypes a row takes and what it answers with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RowClass {
    /// Floats to the same float; integers and bool are promoted to the default float first.
    Float,
    /// Floats and integers to the same dtype; bool is promoted to i64 first.
    Numeric,
    /// Integers to the same dtype; bool is promoted to i64 first.
    Integer,
    /// Two of one dtype, bool included, to bool.
    Compare,
    /// Bool to bool.
    Logic,
    /// A bool and two of one dtype, to that dtype.
    Select,
}

/// Operations that gradient rules are written in. [`Algebra::apply`] and [`Algebra::lit`] are all that has to be
/// given; the names of the rows are provided by [`Rules`].
pub trait Algebra: Clone {
    /// Applies a row to operands of one dtype (the condition of `where` aside), broadcasting their shapes.
    fn apply(row: Row, args: &[&Self]) -> Self;
    /// A literal of the dtype of `self` that broadcasts against it. Neutral literals are folded away.
    fn lit(&self, value: f64) -> Self;
    /// A literal that `self` is multiplied with or divided by: as [`Algebra::lit`], but for half types in f32 (see
    /// [`Row::keeps_single`]).
    fn factor(&self, value: f64) -> Self {
        self.lit(value)
    }
}

macro_rules! body {
    (Float, $Name:ident, |$a:ident| $body:expr) => {
        impl Float1 for $Name {
            #[inline(always)]
            fn apply<L: FloatLane>($a: L) -> L {
                $body
            }
        }
    };
    (Float, $Name:ident, |$a:ident, $b:ident| $body:expr) => {
        impl Float2 for $Name {
            #[inline(always)]
            fn apply<L: FloatLane>($a: L, $b: L) -> L {
                $body
            }
        }
    };
    (Numeric, $Name:ident, |$a:ident| $body:expr) => {
        impl Numeric1 for $Name {
            #[inline(always)]
            fn apply<L: Lane>($a: L) -> L {
                $body
            }
        }
    };
    (Numeric, $Name:ident, |$a:ident, $b:ident| $body:expr) => {
        impl Numeric2 for $Name {
            #[inline(always)]
            fn apply<L: Lane>($a: L, $b: L) -> L {
                $body
            }
        }
    };
    (Integer, $Name:ident, |$a:ident, $b:ident| $body:expr) => {
        impl Integer2 for $Name {
            #[inline(always)]
            fn apply<L: IntLane>($a: L, $b: L) -> L {
                $body
            }
        }
    };
    (Compare, $Name:ident, |$a:ident, $b:ident| $body:expr) => {
        impl Compare2 for $Name {
            #[inline(always)]
            fn apply<L: Lane>($a: L, $b: L) -> L::Mask {
                $body
            }
        }
    };
    (Logic, $Name:ident, |$a:ident| $body:expr) => {
        impl Logic1 for $Name {
            #[inline(always)]
            fn apply<T: Truth>($a: T) -> T {
                $body
            }
        }
    };
    (Logic, $Name:ident, |$a:ident, $b:ident| $body:expr) => {
        impl Logic2 for $Name {
            #[inline(always)]
            fn apply<T: Truth>($a: T, $b: T) -> T {
                $body
            }
        }
    };
    // A choice between values of any dtype, truth values among them: the executors write it out.
    (Select, $Name:ident, |$($a:ident),+| $body:expr) => {};
}

/// The body of a unary [`RowClass::Float`] row.
pub trait Float1 {
    /// The value of the operation.
    fn apply<L: FloatLane>(a: L) -> L;
}
/// The body of a binary [`RowClass::Float`] row.
pub trait Float2 {
    /// The value of the operation.
    fn apply<L: FloatLane>(a: L, b: L) -> L;
}
/// The body of a unary [`RowClass::Numeric`] row.
pub trait Numeric1 {
    /// The value of the operation.
    fn apply<L: Lane>(a: L) -> L;
}
/// The body of a binary [`RowClass::Numeric`] row.
pub trait Numeric2 {
    /// The value of the operation.
    fn apply<L: Lane>(a: L, b: L) -> L;
}
/// The body of a binary [`RowClass::Integer`] row.
pub trait Integer2 {
    /// The value of the operation.
    fn apply<L: IntLane>(a: L, b: L) -> L;
}
/// The body of a [`RowClass::Compare`] row.
pub trait Compare2 {
    /// The value of the operation.
    fn apply<L: Lane>(a: L, b: L) -> L::Mask;
}
/// The body of a unary [`RowClass::Logic`] row.
pub trait Logic1 {
    /// The value of the operation.
    fn apply<T: Truth>(a: T) -> T;
}
/// The body of a binary [`RowClass::Logic`] row.
pub trait Logic2 {
    /// The value of the operation.
    fn apply<T: Truth>(a: T, b: T) -> T;
}

macro_rules! op_table {
    (($d:tt) $(
        $(#[doc = $doc:literal])+
        $Name:ident $name:literal $method:ident $try_method:ident $class:ident cost $cost:literal
        |$($arg:ident),+| $body:expr;
        grad |$g:ident, $x:ident, $y:ident| [$($rule:expr),*]
    )*) => {
        /// An elementwise operation. Discriminants are stable within a build only.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Row { $($(#[doc = $doc])+ $Name),* }

        $( #[doc = concat!("Body of the row `", $name, "`.")] pub struct $Name; body!($class, $Name, |$($arg),+| $body); )*

        impl Row {
            /// Every row of the table.
            pub const ALL: &'static [Row] = &[$(Row::$Name),*];

            /// The operation's name in the public API.
            pub const fn name(self) -> &'static str {
                match self { $(Row::$Name => $name),* }
            }

            /// Which dtypes it takes and answers with.
            pub const fn class(self) -> RowClass {
                match self { $(Row::$Name => RowClass::$class),* }
            }

            /// How many operands it takes: 1, 2 or 3.
            pub const fn arity(self) -> usize {
                match self { $(Row::$Name => [$(stringify!($arg)),+].len()),* }
            }

            /// Instructions that an element of f32 takes on a GPU, roughly: from some hundred on a thread has fewer elements.
            pub const fn cost(self) -> usize {
                match self { $(Row::$Name => $cost),* }
            }

            /// What it computes, in a line.
            pub const fn doc(self) -> &'static str {
                match self { $(Row::$Name => concat!($($doc, "\n"),+)),* }
            }

            /// Whether any operand has a gradient.
            pub const fn is_differentiable(self) -> bool {
                match self { $(Row::$Name => { const RULES: &[&str] = &[$(stringify!($rule)),*]; !RULES.is_empty() })* }
            }

            /// The gradient with respect to operand `i`, given operands `x`, result `y` and the result's gradient `g`;
            /// `None` where it is zero everywhere. Operands that were broadcast get a gradient of the result's shape:
            /// the caller sums it.
            pub fn vjp<T: Algebra>(self, i: usize, x: &[T], y: &T, g: &T) -> Option<T> {
                match self {
                    $(Row::$Name => {
                        #[allow(unused_variables)]
                        let ($g, $x, $y) = (g, x, y);
                        let rules: &[&dyn Fn() -> Option<T>] = &[$(&|| $rule),*];
                        rules.get(i).and_then(|rule| rule())
                    })*
                }
            }
        }

        /// Calls `callback!` with every row of the table: `[doc] Name "name" method try_method RowClass (operands);`
        /// each.
        #[macro_export]
        macro_rules! for_each_row {
            ($d callback:ident) => {
                $d callback! { $( [$($doc)+] $Name $name $method $try_method $class ($($arg)+); )* }
            };
        }
    };
}

/// The rows as methods, so that gradient rules read like mathematics.
pub trait Rules: Algebra {
    /// `self + o`.
    fn add(&self, o: &Self) -> Self {
        Self::apply(Row::Add, &[self, o])
    }
    /// `self − o`.
    fn sub(&self, o: &Self) -> Self {
        Self::apply(Row::Sub, &[self, o])
    }
    /// `self · o`.
    fn mul(&self, o: &Self) -> Self {
        Self::apply(Row::Mul, &[self, o])
    }
    /// `self · value`.
    fn scale(&self, value: f64) -> Self {
        self.mul(&self.factor(value))
    }
    /// `self / o`.
    fn div(&self, o: &Self) -> Self {
        Self::apply(Row::Div, &[self, o])
    }
    /// Any unary row.
    fn map(&self, row: Row) -> Self {
        Self::apply(row, &[self])
    }
    /// `−self`.
    fn neg(&self) -> Self {
        self.map(Row::Neg)
    }
    /// `self < o`, as bool.
    fn lt(&self, o: &Self) -> Self {
        Self::apply(Row::Lt, &[self, o])
    }
    /// `self = o`, as bool.
    fn eq(&self, o: &Self) -> Self {
        Self::apply(Row::Eq, &[self, o])
    }
    /// With `self` a bool: `a` where it holds, else `b`.
    fn choose(&self, a: &Self, b: &Self) -> Self {
        Self::apply(Row::Where, &[self, a, b])
    }
}
impl<T: Algebra> Rules for T {}

/// The share of a gradient that `own` gets where it is not below `other` (with both negated: not above): ties are halved,
/// and what is no number gets all of it, as in PyTorch.
fn not_below<T: Algebra>(own: &T, other: &T, g: &T) -> T {
    let share = own.eq(other).choose(&g.scale(0.5), g);
    own.lt(other).choose(&g.lit(0.0), &share)
}

/// `1 / (a² + b²)`, and 0 where both are 0.
fn inverse_norm<T: Algebra>(x: &[T]) -> T {
    let norm = x[0].map(Row::Square).add(&x[1].map(Row::Square));
    let zero = norm.eq(&norm.lit(0.0));
    let one = norm.lit(1.0);
    zero.choose(&norm.lit(0.0), &one.div(&zero.choose(&one, &norm)))
}

/// How often `b` was taken off `a` to leave `rest`: `a / b` may round to the next whole number. (By 0 it is infinite.)
fn whole_quotient<T: Algebra>(a: &T, b: &T, rest: &T) -> T {
    b.eq(&b.lit(0.0)).choose(a, &a.sub(rest)).div(b).map(Row::Round)
}

/// Which modified Bessel function of the first kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BesselOrder {
    /// I₀.
    Zero,
    /// I₁.
    One,
}

/// I₀(x), or I₁(x)/x, for |x| up to 1, by their power series (DLMF 10.25.2): polynomials in x², whose derivatives of any order keep their digits.
/// As many terms as f64 and two derivatives take.
pub fn bessel_series<T: Algebra>(x: &T, order: BesselOrder) -> T {
    let shift = match order {
        BesselOrder::Zero => 0,
        BesselOrder::One => 1,
    };
    // 1 / (4ᵏ k! (k + shift)! 2^shift), from the last term on.
    let factorial = |n: i32| (1..=n).map(f64::from).product::<f64>();
    let term = |k: i32| 1.0 / (4f64.powi(k) * factorial(k) * factorial(k + shift) * 2f64.powi(shift));
    let square = x.map(Row::Square);
    (0..10).rev().fold(x.lit(term(10)), |sum, k| sum.mul(&square).add(&x.lit(term(k))))
}

/// The second derivative of `lgamma`: steps up to where the asymptotic series (DLMF 5.15.9) holds; below 0 the reflection
/// `π² / sin²(πx) − ψ′(1 − x)`.
fn trigamma<T: Algebra>(x: &T) -> T {
    let (zero, one) = (x.lit(0.0), x.lit(1.0));
    let negative = x.lt(&zero);
    let mut b = negative.choose(&one.sub(x), x);
    let mut sum = zero.clone();
    for _ in 0..10 {
        let small = b.lt(&b.lit(10.0));
        // The square of the quotient, whose slope at 0 is as infinite as it is there; that of the quotient by the square would be 0 · ∞.
        let inverse = one.div(&small.choose(&b, &one)).map(Row::Square);
        sum = sum.add(&small.choose(&inverse, &zero));
        b = small.choose(&b.add(&one), &b);
    }
    let r = one.div(&b);
    let square = r.map(Row::Square);
    // Bernoulli's numbers B₁₆, B₁₄, …, B₂.
    let numbers = [
        -3617.0 / 510.0,
        7.0 / 6.0,
        -691.0 / 2730.0,
        5.0 / 66.0,
        -1.0 / 30.0,
        1.0 / 42.0,
        -1.0 / 30.0,
        1.0 / 6.0,
    ];
    let series = numbers[1..].iter().fold(x.lit(numbers[0]), |s, &next| s.mul(&square).add(&x.lit(next)));
    let tail = r.mul(&square).mul(&series).add(&square.scale(0.5)).add(&r);
    let positive = sum.add(&tail);
    let turns = x.sub(&x.map(Row::Round));
    let turns = negative.choose(&turns, &x.lit(0.5));
    let sine = turns.scale(PI).map(Row::Sin);
    let reflected = x.lit(PI * PI).div(&sine.map(Row::Square)).sub(&positive);
    negative.choose(&reflected, &positive)
}

op_table! {
    ($)
    /// `a + b`.
    Add "add" add try_add Numeric cost 1 |a, b| a.add(b);
    grad |g, x, y| [Some(g.clone()), Some(g.clone())]

    /// `a − b`.
    Sub "sub" sub try_sub Numeric cost 1 |a, b| a.sub(b);
    grad |g, x, y| [Some(g.clone()), Some(g.neg())]

    /// `a · b`.
    Mul "mul" mul try_mul Numeric cost 1 |a, b| a.mul(b);
    grad |g, x, y| [Some(g.mul(&x[1])), Some(g.mul(&x[0]))]

    /// `a / b`, correctly rounded; integers are promoted to the default float by the public API's true division.
    Div "div" div try_div Numeric cost 12 |a, b| a.div(b);
    grad |g, x, y| [Some(g.div(&x[1])), Some(g.mul(y).div(&x[1]).neg())]

    /// `a` to the power `b`, with the special cases of C's `pow`.
    Pow "pow" pow try_pow Float cost 160 |a, b| math::pow(a, b);
    grad |g, x, y| [
        Some({
            let d = g.mul(&x[1].mul(&T::apply(Row::Pow, &[&x[0], &x[1].sub(&x[1].lit(1.0))])));
            x[1].eq(&x[1].lit(0.0)).choose(&g.lit(0.0), &d)
        }),
        Some({
            let d = g.mul(&y.mul(&x[0].map(Row::Log)));
            // 0 to a power that is not negative does not change with it.
            let (zero, power) = (x[0].eq(&x[0].lit(0.0)), T::apply(Row::Le, &[&x[1].lit(0.0), &x[1]]));
            T::apply(Row::And, &[&zero, &power]).choose(&g.lit(0.0), &d)
        })
    ]

    /// The larger of `a` and `b`; NaN if either is.
    Maximum "maximum" maximum try_maximum Numeric cost 1 |a, b| L::select(L::either(b.lt(a), a.is_nan()), a, b);
    grad |g, x, y| [Some(not_below(&x[0], &x[1], g)), Some(not_below(&x[1], &x[0], g))]

    /// The smaller of `a` and `b`; NaN if either is.
    Minimum "minimum" minimum try_minimum Numeric cost 1 |a, b| L::select(L::either(a.lt(b), a.is_nan()), a, b);
    grad |g, x, y| [
        Some({ let (a, b) = (x[0].neg(), x[1].neg()); not_below(&a, &b, g) }),
        Some({ let (a, b) = (x[0].neg(), x[1].neg()); not_below(&b, &a, g) })
    ]

    /// `−a`.
    Neg "neg" neg try_neg Numeric cost 1 |a| a.neg();
    grad |g, x, y| [Some(g.neg())]

    /// `|a|`.
    Abs "abs" abs try_abs Numeric cost 1 |a| a.abs();
    grad |g, x, y| [Some(g.mul(&x[0].map(Row::Sign)))]

    /// −1, 0 or 1 with the sign of `a`; 0 of NaN.
    Sign "sign" sign try_sign Numeric cost 1 |a| {
        let zero = a.lit(0.0);
        L::select(zero.lt(a), a.lit(1.0), L::select(a.lt(zero), a.lit(-1.0), zero))
    };
    grad |g, x, y| []

    /// `a · a`.
    Square "square" square try_square Numeric cost 1 |a| a.mul(a);
    grad |g, x, y| [Some({
        // Doubled last: a gradient of 0 stays so where twice the number is beyond what there is.
        let half = g.mul(&x[0]);
        half.add(&half)
    })]

    /// `max(a, 0)`; NaN stays.
    Relu "relu" relu try_relu Numeric cost 1 |a| L::select(a.le(a.lit(0.0)), a.lit(0.0), a);
    grad |g, x, y| [Some(T::apply(Row::Gate, &[y, g]))]

    /// 0 where `a ≤ 0`, else `b`: the gradient of `relu`.
    Gate "gate" gate try_gate Numeric cost 1 |a, b| L::select(a.le(a.lit(0.0)), b.lit(0.0), b);
    grad |g, x, y| [None, Some(T::apply(Row::Gate, &[&x[0], g]))]

    /// `eᵃ`.
    Exp "exp" exp try_exp Float cost 22 |a| math::exp(a);
    grad |g, x, y| [Some(g.mul(y))]

    /// The natural logarithm.
    Log "log" log try_log Float cost 40 |a| math::log(a);
    grad |g, x, y| [Some(g.div(&x[0]))]

    /// The correctly rounded square root.
    Sqrt "sqrt" sqrt try_sqrt Float cost 12 |a| a.sqrt();
    grad |g, x, y| [Some(g.scale(0.5).div(y))]

    /// The hyperbolic tangent.
    Tanh "tanh" tanh try_tanh Float cost 40 |a| math::tanh(a);
    grad |g, x, y| [Some(g.mul(&y.lit(1.0).sub(&y.map(Row::Square))))]

    /// `1 / (1 + e⁻ᵃ)`.
    Sigmoid "sigmoid" sigmoid try_sigmoid Float cost 40 |a| math::sigmoid(a);
    grad |g, x, y| [Some(g.mul(&y.mul(&y.lit(1.0).sub(y))))]

    /// `log(1 + eᵃ)`, without overflow.
    Softplus "softplus" softplus try_softplus Float cost 60 |a| math::softplus(a);
    grad |g, x, y| [Some(g.mul(&x[0].map(Row::Sigmoid)))]

    /// The sine, of radians.
    Sin "sin" sin try_sin Float cost 60 |a| math::sin(a);
    grad |g, x, y| [Some(g.mul(&x[0].map(Row::Cos)))]

    /// The cosine, of radians.
    Cos "cos" cos try_cos Float cost 60 |a| math::cos(a);
    grad |g, x, y| [Some(g.mul(&x[0].map(Row::Sin)).neg())]

    /// The error function.
    Erf "erf" erf try_erf Float cost 60 |a| math::erf(a);
    grad |g, x, y| [Some(g.mul(&x[0].map(Row::Square).neg().map(Row::Exp).scale(FRAC_2_SQRT_PI)))]

    /// `a Φ(a)`, Φ the normal distribution.
    Gelu "gelu" gelu try_gelu Float cost 30 |a| math::gelu(a);
    grad |g, x, y| [Some(g.mul(&x[0].map(Row::GeluSlope)))]

    /// `Φ(a) + a φ(a)`, the derivative of `gelu`.
    GeluSlope "gelu_slope" gelu_slope try_gelu_slope Float cost 30 |a| math::gelu_slope(a);
    grad |g, x, y| [Some({
        let square = x[0].map(Row::Square);
        let density = square.scale(-0.5).map(Row::Exp).scale(FRAC_2_SQRT_PI * FRAC_1_SQRT_2 / 2.0);
        g.mul(&square.lit(2.0).sub(&square).mul(&density))
    })]

    /// `eᵃ − 1`, which keeps its digits where `a` is small.
    Expm1 "expm1" expm1 try_expm1 Float cost 30 |a| math::expm1(a);
    grad |g, x, y| [Some(g.mul(&y.add(&y.lit(1.0))))]

    /// `log(1 + a)`, which keeps its digits where `a` is small.
    Log1p "log1p" log1p try_log1p Float cost 40 |a| math::log1p(a);
    grad |g, x, y| [Some(g.div(&x[0].add(&x[0].lit(1.0))))]

    /// `2ᵃ`.
    Exp2 "exp2" exp2 try_exp2 Float cost 22 |a| math::exp2(a);
    grad |g, x, y| [Some(g.mul(y).scale(LN_2))]

    /// The logarithm of base 2.
    Log2 "log2" log2 try_log2 Float cost 40 |a| math::log2(a);
    grad |g, x, y| [Some(g.div(&x[0].scale(LN_2)))]

    /// The logarithm of base 10.
    Log10 "log10" log10 try_log10 Float cost 40 |a| math::log10(a);
    grad |g, x, y| [Some(g.div(&x[0].scale(LN_10)))]

    /// The tangent, of radians.
    Tan "tan" tan try_tan Float cost 60 |a| math::tan(a);
    grad |g, x, y| [Some(g.mul(&y.map(Row::Square).add(&y.lit(1.0))))]

    /// The angle of a sine, from −π/2 to π/2.
    Asin "asin" asin try_asin Float cost 60 |a| math::asin(a);
    grad |g, x, y| [Some(g.div(&x[0].lit(1.0).sub(&x[0].map(Row::Square)).map(Row::Sqrt)))]

    /// The angle of a cosine, from 0 to π.
    Acos "acos" acos try_acos Float cost 60 |a| math::acos(a);
    grad |g, x, y| [Some(g.div(&x[0].lit(1.0).sub(&x[0].map(Row::Square)).map(Row::Sqrt)).neg())]

    /// The angle of a tangent, from −π/2 to π/2.
    Atan "atan" atan try_atan Float cost 60 |a| math::atan(a);
    grad |g, x, y| [Some(g.div(&x[0].map(Row::Square).add(&x[0].lit(1.0))))]

    /// The angle of the point with the coordinates `b` and `a`, from −π to π.
    Atan2 "atan2" atan2 try_atan2 Float cost 60 |a, b| math::atan2(a, b);
    grad |g, x, y| [Some(g.mul(&x[1].mul(&inverse_norm(x)))), Some(g.mul(&x[0].mul(&inverse_norm(x))).neg())]

    /// The hyperbolic sine.
    Sinh "sinh" sinh try_sinh Float cost 60 |a| math::sinh(a);
    grad |g, x, y| [Some(g.mul(&x[0].map(Row::Cosh)))]

    /// The hyperbolic cosine.
    Cosh "cosh" cosh try_cosh Float cost 60 |a| math::cosh(a);
    grad |g, x, y| [Some(g.mul(&x[0].map(Row::Sinh)))]

    /// The inverse of the hyperbolic sine.
    Asinh "asinh" asinh try_asinh Float cost 60 |a| math::asinh(a);
    grad |g, x, y| [Some(g.div(&x[0].map(Row::Square).add(&x[0].lit(1.0)).map(Row::Sqrt)))]

    /// The inverse of the hyperbolic cosine; NaN below 1.
    Acosh "acosh" acosh try_acosh Float cost 60 |a| math::acosh(a);
    grad |g, x, y| [Some(g.div(&x[0].map(Row::Square).sub(&x[0].lit(1.0)).map(Row::Sqrt)))]

    /// The inverse of the hyperbolic tangent; NaN beyond 1.
    Atanh "atanh" atanh try_atanh Float cost 60 |a| math::atanh(a);
    grad |g, x, y| [Some(g.div(&x[0].lit(1.0).sub(&x[0].map(Row::Square))))]

    /// `1 − erf a`, which keeps its digits where that is small.
    Erfc "erfc" erfc try_erfc Float cost 60 |a| math::erfc(a);
    grad |g, x, y| [Some(g.mul(&x[0].map(Row::Square).neg().map(Row::Exp).scale(-FRAC_2_SQRT_PI)))]

    /// `e^(a²) · erfc a`.
    Erfcx "erfcx" erfcx try_erfcx Float cost 100 |a| math::erfcx(a);
    grad |g, x, y| [Some(g.mul(&x[0].mul(y).scale(2.0).sub(&y.lit(FRAC_2_SQRT_PI))))]

    /// `−a ln a`; 0 at 0, and −∞ below.
    Entr "entr" entr try_entr Float cost 60 |a| math::entr(a);
    grad |g, x, y| [Some(g.mul(&x[0].map(Row::Log).add(&y.lit(1.0)).neg()))]

    /// The inverse of the error function; NaN beyond 1.
    Erfinv "erfinv" erfinv try_erfinv Float cost 100 |a| math::erfinv(a);
    grad |g, x, y| [Some(g.mul(&x[0].map(Row::Erfinv).map(Row::Square).map(Row::Exp).scale(1.0 / FRAC_2_SQRT_PI)))]

    /// The number below which the normal distribution has the part `a`; NaN outside [0, 1].
    Ndtri "ndtri" ndtri try_ndtri Float cost 100 |a| math::ndtri(a);
    grad |g, x, y| [Some(g.mul(&y.map(Row::Square).scale(0.5).map(Row::Exp).scale((2.0 * PI).sqrt())))]

    /// The logarithm of the magnitude of the gamma function.
    Lgamma "lgamma" lgamma try_lgamma Float cost 180 |a| math::lgamma(a);
    grad |g, x, y| [Some(g.mul(&x[0].map(Row::Digamma)))]

    /// The derivative of `lgamma`.
    Digamma "digamma" digamma try_digamma Float cost 180 |a| math::digamma(a);
    grad |g, x, y| [Some(g.mul(&trigamma(&x[0])))]

    /// The modified Bessel function of the first kind and order 0, times `e^(−|a|)`.
    I0e "i0e" i0e try_i0e Float cost 60 |a| math::i0e(a);
    grad |g, x, y| [Some(g.mul(&x[0].map(Row::I1e).sub(&x[0].map(Row::Sign).mul(y))))]

    /// The modified Bessel function of the first kind and order 1, times `e^(−|a|)`.
    I1e "i1e" i1e try_i1e Float cost 60 |a| math::i1e(a);
    grad |g, x, y| [Some({
        // y/a by the series of I₁ where |a| is at most 1: the slope of the quotient is a difference of nearly equal numbers there.
        let (one, size) = (x[0].lit(1.0), x[0].map(Row::Abs));
        let is_near = T::apply(Row::Le, &[&size, &one]);
        let near = is_near.choose(&x[0], &x[0].lit(0.0));
        let near = bessel_series(&near, BesselOrder::One).mul(&near.map(Row::Abs).neg().map(Row::Exp));
        let ratio = is_near.choose(&near, &y.div(&is_near.choose(&one, &x[0])));
        g.mul(&x[0].map(Row::I0e).sub(&x[0].map(Row::Sign).mul(y)).sub(&ratio))
    })]

    /// `|a|` with the sign of `b`, zeros and NaN included.
    Copysign "copysign" copysign try_copysign Float cost 1 |a, b| math::copysign(a, b);
    grad |g, x, y| [Some({
        let zero = x[0].eq(&x[0].lit(0.0));
        let ratio = y.div(&zero.choose(&x[0].lit(1.0), &x[0]));
        g.mul(&zero.choose(&g.lit(0.0), &ratio))
    })]

    /// The next number after `a` towards `b`.
    NextAfter "nextafter" nextafter try_nextafter Float cost 12 |a, b| math::nextafter(a, b);
    grad |g, x, y| [Some(x[0].eq(&x[1]).choose(&g.lit(0.0), g)), None]

    /// The largest whole number that is no larger. Integers stay.
    Floor "floor" floor try_floor Float cost 8 |a| math::floor(a);
    grad |g, x, y| []

    /// The smallest whole number that is no smaller. Integers stay.
    Ceil "ceil" ceil try_ceil Float cost 8 |a| math::ceil(a);
    grad |g, x, y| []

    /// The nearest whole number, of two the even one. Integers stay.
    Round "round" round try_round Float cost 8 |a| math::round(a);
    grad |g, x, y| []

    /// The whole number next towards zero. Integers stay.
    Trunc "trunc" trunc try_trunc Float cost 8 |a| math::trunc(a);
    grad |g, x, y| []

    /// The remainder of `a / b` with the sign of `a`, exact: C's `fmod`. Of integers an integer.
    Fmod "fmod" fmod try_fmod Float cost 160 |a, b| math::fmod(a, b);
    grad |g, x, y| [Some(g.clone()), Some(g.mul(&whole_quotient(&x[0], &x[1], y)).neg())]

    /// An integer `a` to the power of an integer `b`; a negative one gives 0, but for the bases 1 and −1.
    IntPow "int_pow" int_pow try_int_pow Integer cost 250 |a, b| math::int_pow(a, b);
    grad |g, x, y| []

    /// The bits that are set in both integers; of truth values, `logical_and`.
    BitAnd "bitwise_and" bitwise_and try_bitwise_and Integer cost 1 |a, b| a.and(b);
    grad |g, x, y| []

    /// The bits that are set in either integer; of truth values, `logical_or`.
    BitOr "bitwise_or" bitwise_or try_bitwise_or Integer cost 1 |a, b| a.or(b);
    grad |g, x, y| []

    /// The bits that are set in one of two integers; of truth values, `logical_xor`.
    BitXor "bitwise_xor" bitwise_xor try_bitwise_xor Integer cost 1 |a, b| a.xor(b);
    grad |g, x, y| []

    /// The bits of an integer moved up by `b`; 0 where `b` is negative or not smaller than the number of bits.
    Shl "bitwise_left_shift" bitwise_left_shift try_bitwise_left_shift Integer cost 1 |a, b| a.shl(b);
    grad |g, x, y| []

    /// The bits of an integer moved down by `b`, its sign kept; the sign alone where `b` is negative or not smaller than
    /// the number of bits.
    Shr "bitwise_right_shift" bitwise_right_shift try_bitwise_right_shift Integer cost 1 |a, b| a.shr(b);
    grad |g, x, y| []

    /// `a < b`.
    Lt "lt" lt try_lt Compare cost 1 |a, b| a.lt(b);
    grad |g, x, y| []

    /// `a ≤ b`.
    Le "le" le try_le Compare cost 1 |a, b| a.le(b);
    grad |g, x, y| []

    /// `a = b`.
    Eq "eq" eq try_eq Compare cost 1 |a, b| a.eq(b);
    grad |g, x, y| []

    /// `a ≠ b`; true when either is NaN.
    Ne "ne" ne try_ne Compare cost 1 |a, b| L::not(a.eq(b));
    grad |g, x, y| []

    /// `a` and `b`.
    And "logical_and" logical_and try_logical_and Logic cost 1 |a, b| a & b;
    grad |g, x, y| []

    /// `a` or `b`.
    Or "logical_or" logical_or try_logical_or Logic cost 1 |a, b| a | b;
    grad |g, x, y| []

    /// `a` or `b`, not both.
    Xor "logical_xor" logical_xor try_logical_xor Logic cost 1 |a, b| a ^ b;
    grad |g, x, y| []

    /// Not `a`.
    Not "logical_not" logical_not try_logical_not Logic cost 1 |a| !a;
    grad |g, x, y| []

    /// `a` where the condition holds, else `b`.
    Where "where" choose try_choose Select cost 1 |c, a, b| if c { a } else { b };
    grad |g, x, y| [None, Some(x[0].choose(g, &g.lit(0.0))), Some(x[0].choose(&g.lit(0.0), g))]
}

impl Row {
    /// The dtype in which operands of (promoted) dtype `of` are taken.
    pub fn operand(self, of: DType) -> DType {
        match self.class() {
            RowClass::Float if !of.is_float() => DType::default_float(),
            RowClass::Numeric if of == DType::Bool => DType::I64,
            RowClass::Integer if !of.is_int() => DType::I64,
            RowClass::Logic => DType::Bool,
            RowClass::Float
            | RowClass::Numeric
            | RowClass::Integer
            | RowClass::Compare
            | RowClass::Select => of,
        }
    }

    /// Whether operands may be floats of eight bits, which are compared for equality, chosen, and have their sign taken off, and nothing else.
    pub const fn takes_narrow(self) -> bool {
        matches!(self, Row::Eq | Row::Ne | Row::Where | Row::Abs)
    }

    /// Whether an operand may be f32 where the other is of a half type, which the result is of then: a factor or a divisor that was not
    /// rounded to the half type before (65536 is beyond f16; 0.3 is another number in bf16). Half types are computed in f32 and rounded
    /// once, so that it costs nothing.
    pub const fn keeps_single(self) -> bool {
        matches!(self, Row::Mul | Row::Div)
    }

    /// The dtype in which operands of these dtypes (of two of them the values, where the first is a condition) are taken together; `None`
    /// where the row does not take them beside each other.
    pub fn common(self, dtypes: impl IntoIterator<Item = DType>) -> Option<DType> {
        let mut dtypes = dtypes.into_iter();
        let first = dtypes.next()?;
        dtypes.try_fold(first, |of, dtype| match (of, dtype) {
            _ if of == dtype => Some(of),
            (half, DType::F32) | (DType::F32, half) if self.keeps_single() && half.is_half() => Some(half),
            _ => None,
        })
    }

    /// The dtype of the result for operands of dtype `of`.
    pub fn result(self, of: DType) -> DType {
        match self.class() {
            RowClass::Compare | RowClass::Logic => DType::Bool,
            RowClass::Float | RowClass::Numeric | RowClass::Integer | RowClass::Select => of,
        }
    }

    /// Whether a zero among the second operand's integers is an error.
    pub fn refuses_zero(self, dtype: DType) -> bool {
        self == Row::Div && dtype.is_int()
    }
}
