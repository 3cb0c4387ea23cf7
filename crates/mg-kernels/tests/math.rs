//! The elementary functions keep the bounds that their documentation states, and their special cases.
//!
//! Single precision is held against double precision over all arguments (every 101st unless the ignored tests run),
//! double precision against sums of two doubles.
#![allow(clippy::approx_constant, clippy::excessive_precision, clippy::type_complexity)] // tables of constants and functions

#[path = "math/reference.rs"]
mod reference;

use mg_kernels::math;
use reference::Exact;

/// Functions over slices, compiled for what the processor offers as the executor compiles its loops.
macro_rules! loops {
    ($float:ident, $($name:ident)*) => {
        mod $float {
            $(
                pub fn $name(to: &mut [$float], from: &[$float]) {
                    #[cfg(target_arch = "x86_64")]
                    {
                        #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")]
                        fn widest(to: &mut [$float], from: &[$float]) {
                            plain(to, from);
                        }
                        #[target_feature(enable = "avx2,fma")]
                        fn wide(to: &mut [$float], from: &[$float]) {
                            plain(to, from);
                        }
                        if crate::has_avx512() {
                            // SAFETY: the processor has the features that the function is compiled for.
                            return unsafe { widest(to, from) };
                        }
                        if crate::has_avx2() {
                            // SAFETY: the processor has the features that the function is compiled for.
                            return unsafe { wide(to, from) };
                        }
                    }
                    plain(to, from);
                    #[inline(always)]
                    fn plain(to: &mut [$float], from: &[$float]) {
                        for (to, &x) in to.iter_mut().zip(from) {
                            *to = mg_kernels::math::$name(x);
                        }
                    }
                }
            )*
        }
    };
}
loops!(f32, exp log tanh sigmoid softplus sin cos erf
    expm1 log1p exp2 log2 log10 tan asin acos atan sinh cosh asinh acosh atanh erfc erfcx erfinv ndtri lgamma digamma i0e i1e gelu gelu_slope);
loops!(f64, exp log tanh sigmoid softplus sin cos erf
    expm1 log1p exp2 log2 log10 tan asin acos atan sinh cosh asinh acosh atanh erfc erfcx erfinv ndtri lgamma digamma i0e i1e gelu gelu_slope);

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2()
        && std::is_x86_feature_detected!("avx512f")
        && std::is_x86_feature_detected!("avx512dq")
        && std::is_x86_feature_detected!("avx512bw")
        && std::is_x86_feature_detected!("avx512vl")
}

/// `x` to the power `y`, with the processor's fused multiplication where it has one.
fn pow32(x: f32, y: f32) -> f32 {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn fused(x: f32, y: f32) -> f32 {
            math::pow(x, y)
        }
        if has_avx2() {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { fused(x, y) };
        }
    }
    math::pow(x, y)
}

/// The distance of `got` from `exact` in ulps of single precision; infinite where one is NaN, infinite or negative
/// zero and the other is not.
fn ulps(got: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if exact.is_nan() || got.is_nan() {
        return if exact.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if exact == 0.0 || got.is_infinite() || rounded.is_infinite() {
        return if got.to_bits() == rounded.to_bits() { 0.0 } else { f64::INFINITY };
    }
    let place = ((exact.to_bits() >> 52) & 0x7ff).max(1023 - 126);
    (f64::from(got) - exact).abs() * f64::from_bits((2046 + 23 - place) << 52)
}

type Loop<T> = fn(&mut [T], &[T]);

/// The largest error of `function` over all bit patterns with the given step, and the argument that has it.
fn worst_single(function: Loop<f32>, exact: fn(f64) -> f64, step: u64) -> (f64, f32) {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || {
                    let (mut worst, mut at) = (0.0, 0.0);
                    let mut next = thread * step;
                    let (mut from, mut to) = ([0.0f32; 4096], [0.0f32; 4096]);
                    while next < 1 << 32 {
                        for x in &mut from {
                            *x = f32::from_bits(next.min(u64::from(u32::MAX)) as u32);
                            next += threads * step;
                        }
                        function(&mut to, &from);
                        for (&got, &x) in to.iter().zip(&from) {
                            let error = ulps(got, exact(f64::from(x)));
                            if error > worst {
                                (worst, at) = (error, x);
                            }
                        }
                    }
                    (worst, at)
                })
            })
            .collect();
        parts
            .into_iter()
            .map(|part| part.join().expect("no check panics"))
            .fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a })
    })
}

/// Zeros, infinities, NaN, the ends of the denormal numbers, and 2000 neighbours of each number where a function
/// changes its course, of either sign.
fn thresholds() -> Vec<f32> {
    let turning = [
        f32::MIN_POSITIVE,
        1e-45,
        3e-39,
        2f32.powi(-24),
        2f32.powi(-12),
        0.34657359,
        0.5,
        0.6666667,
        0.785398,
        1.0,
        1.3333334,
        1.5707964,
        3.1415927,
        3.92,
        3.95,
        4.0,
        6.2831855,
        8.3,
        9.01,
        9.05,
        16.635532,
        17.33,
        87.33655,
        88.02969,
        88.72284,
        89.0,
        103.27893,
        103.97208,
        104.0,
        1.6777216e7,
        2f32.powi(42),
        2f32.powi(60),
        2f32.powi(78),
        2f32.powi(96),
        2f32.powi(114),
        f32::MAX,
    ];
    let mut all = vec![0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    for x in turning {
        for bits in x.to_bits().saturating_sub(1000)..(x.to_bits() + 1000).min(0x7f80_0000) {
            all.extend([f32::from_bits(bits), -f32::from_bits(bits)]);
        }
    }
    all
}

fn sigmoid(x: f64) -> f64 {
    if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn erf(x: f64) -> f64 {
    let mut to = [0.0];
    f64::erf(&mut to, &[x]);
    to[0]
}

/// Name, loop, exact function, and the bound that the documentation states.
const SINGLE: [(&str, Loop<f32>, fn(f64) -> f64, f64); 8] = [
    ("exp", f32::exp, |x| x.exp(), 0.9),
    ("log", f32::log, |x| x.ln(), 0.94),
    ("tanh", f32::tanh, |x| x.tanh(), 2.0),
    ("sigmoid", f32::sigmoid, sigmoid, 1.5),
    ("softplus", f32::softplus, softplus, 1.9),
    ("sin", f32::sin, |x| x.sin(), 0.99),
    ("cos", f32::cos, |x| x.cos(), 0.94),
    ("erf", f32::erf, erf, 1.0),
];

fn check_single(step: u64) {
    let special = thresholds();
    let mut values = vec![0.0; special.len()];
    for (name, function, exact, bound) in SINGLE {
        let (worst, at) = worst_single(function, exact, step);
        println!("{name}: {worst:.4} ulp at {at:e}");
        assert!(worst <= bound, "{name}({at:e}) is off by {worst} ulp");
        function(&mut values, &special);
        for (&got, &x) in values.iter().zip(&special) {
            let error = ulps(got, exact(f64::from(x)));
            assert!(error <= bound, "{name}({x:e}) = {got:e} is off by {error} ulp");
        }
    }
}

/// What gelu and its derivative state, against the complementary error function in double precision.
#[test]
fn gelu_and_its_derivative_keep_their_bounds() {
    check_gelu(101);
}

#[test]
#[ignore = "some minutes: all 2³² arguments of each function"]
fn gelu_and_its_derivative_keep_their_bounds_everywhere() {
    check_gelu(1);
}

fn check_gelu(step: usize) {
    let normal = |x: f64| 0.5 * math::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
    let density = |x: f64| (-0.5 * x * x).exp() * 0.3989422804014327;
    let (mut to, mut slopes) = ([0.0f32; 4096], [0.0f32; 4096]);
    let mut worst = [(0.0, 0.0); 4];
    let mut bits = (0..=u32::MAX).step_by(step).map(f32::from_bits);
    let special = thresholds();
    let mut special = special.iter().copied().chain((0..4_000_000).map(|i| -13.3 + i as f32 * 3.5e-6));
    loop {
        let from: Vec<f32> = special.by_ref().chain(bits.by_ref()).take(4096).collect();
        if from.is_empty() {
            break;
        }
        let (to, slopes) = (&mut to[..from.len()], &mut slopes[..from.len()]);
        f32::gelu(to, &from);
        f32::gelu_slope(slopes, &from);
        for ((&got, &slope), &x) in to.iter().zip(&*slopes).zip(&from) {
            let wide = f64::from(x);
            if x.is_nan() {
                assert!(got.is_nan() && slope.is_nan());
                continue;
            }
            let near = wide.clamp(-40.0, 40.0);
            let (exact, exact_slope) = (wide.max(-40.0) * normal(near), normal(near) + near * density(near));
            // The distance as a part of what is allowed, which is no less than where normal numbers end.
            let part = |got: f32, exact: f64, least: f64, of_it: i32| {
                let allowed = least.min(exact.abs() * 2f64.powi(of_it)).max(1e-37);
                (f64::from(got) - exact).abs() / allowed
            };
            let errors = if x >= 0.0 {
                [ulps(got, exact), 0.0, ulps(slope, exact_slope), 0.0]
            } else {
                // The derivative's zero is no better than what is around it.
                let of_slope = if x > -3.0 { 100 } else { -7 };
                [0.0, part(got, exact, 3.5e-8, -9), 0.0, part(slope, exact_slope, 6.5e-8, of_slope)]
            };
            for (worst, error) in worst.iter_mut().zip(errors) {
                if error > worst.0 || error.is_nan() {
                    *worst = (error, x);
                }
            }
        }
    }
    let names = ["gelu", "gelu below 0", "its derivative", "its derivative below 0"];
    for (worst, name) in worst.iter().zip(names) {
        println!("{name}: {:.4} at {:e}", worst.0, worst.1);
    }
    for ((worst, name), bound) in worst.iter().zip(names).zip([1.3, 1.0, 1.6, 1.0]) {
        assert!(worst.0 <= bound, "{name} of {:e} is off by {}", worst.1, worst.0);
    }
    let ends: [(fn(f32) -> f32, f32, f32); 2] =
        [(math::gelu, -0.0, f32::INFINITY), (math::gelu_slope, -0.0, 1.0)];
    for (function, low, high) in ends {
        assert_eq!(function(f32::NEG_INFINITY).to_bits(), low.to_bits());
        assert_eq!(function(-1e30).to_bits(), low.to_bits());
        assert_eq!(function(f32::INFINITY), high);
    }
    assert_eq!(math::gelu(-0.0f32).to_bits(), (-0.0f32).to_bits());
    assert_eq!(math::gelu(0.0f32).to_bits(), 0.0f32.to_bits());
    assert_eq!(math::gelu(f64::NEG_INFINITY).to_bits(), (-0.0f64).to_bits());
    assert_eq!(math::gelu_slope(f64::NEG_INFINITY), 0.0);
    assert_eq!(math::gelu_slope(f64::INFINITY), 1.0);
}

/// Without a fused instruction the standard library's function does the fusing, and nothing else differs.
#[test]
fn instruction_sets_agree_bit_by_bit() {
    let mut from = thresholds();
    from.extend((0..1u64 << 32).step_by(65_521).map(|bits| f32::from_bits(bits as u32)));
    let wide: Vec<f64> = from.iter().map(|&x| f64::from(x) * 1.000000001).collect();
    let mut to = vec![0.0; from.len()];
    let mut wide_to = vec![0.0; from.len()];
    macro_rules! check {
        ($($name:ident)*) => {$(
            f32::$name(&mut to, &from);
            for (got, &x) in to.iter().zip(&from) {
                let scalar = math::$name(x);
                assert!(got.to_bits() == scalar.to_bits() || (got.is_nan() && scalar.is_nan()), "{x:e}");
            }
            f64::$name(&mut wide_to, &wide);
            for (got, &x) in wide_to.iter().zip(&wide) {
                let scalar = math::$name(x);
                assert!(got.to_bits() == scalar.to_bits() || (got.is_nan() && scalar.is_nan()), "{x:e}");
            }
        )*};
    }
    check!(exp log tanh sigmoid softplus sin cos erf
        expm1 log1p exp2 log2 log10 tan asin acos atan sinh cosh asinh acosh atanh erfc erfcx erfinv ndtri lgamma digamma i0e i1e gelu gelu_slope);
}

#[test]
fn single_precision_keeps_its_bounds() {
    check_single(101);
}

#[test]
#[ignore = "some minutes: all 2³² arguments of each function"]
fn single_precision_keeps_its_bounds_everywhere() {
    check_single(1);
}

/// Name, loops, the span of arguments, and the bounds that the documentation states in single and double precision.
type Further = (&'static str, Loop<f32>, Loop<f64>, f32, f32, f64, f64);
const FURTHER: [Further; 22] = [
    ("expm1", f32::expm1, f64::expm1, f32::MIN, f32::MAX, 0.95, 1.0),
    ("log1p", f32::log1p, f64::log1p, -0.9999, f32::MAX, 1.05, 1.0),
    ("exp2", f32::exp2, f64::exp2, f32::MIN, f32::MAX, 0.8, 0.85),
    ("log2", f32::log2, f64::log2, 0.0, f32::MAX, 1.4, 1.1),
    ("log10", f32::log10, f64::log10, 0.0, f32::MAX, 0.9, 0.8),
    ("tan", f32::tan, f64::tan, -1e9, 1e9, 2.2, 1.1),
    ("asin", f32::asin, f64::asin, -1.0, 1.0, 1.9, 1.8),
    ("acos", f32::acos, f64::acos, -1.0, 1.0, 1.1, 1.1),
    ("atan", f32::atan, f64::atan, f32::MIN, f32::MAX, 1.6, 1.3),
    ("sinh", f32::sinh, f64::sinh, f32::MIN, f32::MAX, 1.7, 1.7),
    ("cosh", f32::cosh, f64::cosh, f32::MIN, f32::MAX, 1.4, 1.4),
    ("asinh", f32::asinh, f64::asinh, f32::MIN, f32::MAX, 1.8, 1.7),
    ("acosh", f32::acosh, f64::acosh, 1.0, f32::MAX, 2.2, 1.9),
    ("atanh", f32::atanh, f64::atanh, -1.0, 1.0, 2.2, 1.9),
    ("erfc", f32::erfc, f64::erfc, f32::MIN, f32::MAX, 4.7, 4.8),
    ("erfcx", f32::erfcx, f64::erfcx, -9.0, f32::MAX, 4.0, 5.0),
    ("erfinv", f32::erfinv, f64::erfinv, -1.0, 1.0, 3.1, 3.0),
    ("ndtri", f32::ndtri, f64::ndtri, 0.0, 1.0, 4.0, 4.0),
    ("lgamma", f32::lgamma, f64::lgamma, 0.0, 1e30, 5.5, 5.0),
    ("digamma", f32::digamma, f64::digamma, 4.0, 1e30, 4.0, 4.0),
    ("i0e", f32::i0e, f64::i0e, -1e30, 1e30, 4.2, 4.2),
    ("i1e", f32::i1e, f64::i1e, -1e30, 1e30, 4.2, 4.2),
];

/// In single precision against our own in double precision; that against numbers of 60 digits, computed with mpmath: the
/// argument, the result as a sum of two numbers.
#[test]
fn further_functions_keep_their_bounds() {
    check_further(4001);
}

#[test]
#[ignore = "some minutes: all 2³² arguments of each function"]
fn further_functions_keep_their_bounds_everywhere() {
    check_further(1);
}

fn check_further(step: usize) {
    let known = include_str!("math/known.txt");
    for (name, single, double, low, high, bound, bound_double) in FURTHER {
        let mut all = (0..1u64 << 32)
            .step_by(step)
            .map(|bits| f32::from_bits(bits as u32))
            .filter(|x| (low..=high).contains(x));
        let mut worst = (0.0, 0.0);
        loop {
            let from: Vec<f32> = all.by_ref().take(1 << 14).collect();
            if from.is_empty() {
                break;
            }
            let wide: Vec<f64> = from.iter().map(|&x| f64::from(x)).collect();
            let (mut to, mut exact) = (vec![0.0; from.len()], vec![0.0; from.len()]);
            single(&mut to, &from);
            double(&mut exact, &wide);
            for ((&got, &exact), &x) in to.iter().zip(&exact).zip(&from) {
                // A zero may have lost its sign to an underflow.
                let error = if got == 0.0 && exact.abs() < 1e-46 { 0.0 } else { ulps(got, exact) };
                if error > worst.0 {
                    worst = (error, x);
                }
            }
        }
        println!("{name}: {:.4} ulp at {:e}", worst.0, worst.1);
        assert!(worst.0 <= bound, "{name}({:e}) is off by {} ulp", worst.1, worst.0);
        let numbers: Vec<Vec<f64>> = known
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
            .map(|line| line.split(' ').map(|number| number.parse().unwrap()).collect())
            .collect();
        assert!(numbers.len() > 20, "{name}");
        let from: Vec<f64> = numbers.iter().map(|line| line[0]).collect();
        let mut to = vec![0.0; from.len()];
        double(&mut to, &from);
        for (line, &got) in numbers.iter().zip(&to) {
            let exact = Exact { value: reference::Double(line[1], line[2]), exponent: 0 };
            let error = exact.ulps(got);
            assert!(error <= bound_double, "{name}({:e}) = {got:e} is off by {error} ulp", line[0]);
        }
    }
}

#[test]
fn further_functions_handle_special_arguments() {
    let (infinity, nan) = (f64::INFINITY, f64::NAN);
    let same = |got: f64, want: f64, what: &str| {
        assert!(
            got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan()),
            "{what}: {got:e} for {want:e}"
        );
    };
    // Odd functions keep the sign of zero, and what is small is its own result.
    for sign in [1.0, -1.0] {
        for x in [0.0, 5e-324, 1e-310] {
            for f in [
                math::expm1,
                math::log1p,
                math::tan,
                math::asin,
                math::atan,
                math::sinh,
                math::asinh,
                math::atanh,
            ] {
                same(f(sign * x), sign * x, "small");
            }
        }
        same(math::atan(sign * infinity), sign * std::f64::consts::FRAC_PI_2, "atan ∞");
        same(math::sinh(sign * infinity), sign * infinity, "sinh ∞");
        same(math::cosh(sign * infinity), infinity, "cosh ∞");
        same(math::asinh(sign * infinity), sign * infinity, "asinh ∞");
        same(math::atanh(sign), sign * infinity, "atanh 1");
        same(math::atanh(sign * infinity), nan, "atanh ∞");
        same(math::asin(sign * 1.1), nan, "asin 1.1");
        same(math::acos(sign * 1.1), nan, "acos 1.1");
        same(math::erfinv(sign), sign * infinity, "erfinv 1");
        same(math::erfinv(sign * 1.5), nan, "erfinv 1.5");
        same(math::erfinv(sign * 0.0), sign * 0.0, "erfinv 0");
        same(math::tan(sign * infinity), nan, "tan ∞");
        same(math::digamma(sign * 0.0), sign * -infinity, "digamma 0");
        same(math::lgamma(sign * 0.0), infinity, "lgamma 0");
        same(math::lgamma(sign * infinity), infinity, "lgamma ∞");
    }
    same(math::expm1(-infinity), -1.0, "expm1 −∞");
    same(math::expm1(infinity), infinity, "expm1 ∞");
    same(math::expm1(709.782712893384), 1.7976931348622732e308, "expm1 of its last finite argument");
    same(math::log1p(-1.0), -infinity, "log1p −1");
    same(math::log1p(-1.5), nan, "log1p −1.5");
    same(math::log1p(infinity), infinity, "log1p ∞");
    same(math::acos(1.0), 0.0, "acos 1");
    same(math::acos(-1.0), std::f64::consts::PI, "acos −1");
    same(math::acosh(1.0), 0.0, "acosh 1");
    same(math::acosh(0.5), nan, "acosh ½");
    same(math::acosh(infinity), infinity, "acosh ∞");
    same(math::erfc(infinity), 0.0, "erfc ∞");
    same(math::erfc(-infinity), 2.0, "erfc −∞");
    same(math::erfc(0.0), 1.0, "erfc 0");
    same(math::erfcx(-30.0), infinity, "erfcx −30");
    same(math::ndtri(0.0), -infinity, "ndtri 0");
    same(math::ndtri(1.0), infinity, "ndtri 1");
    same(math::ndtri(0.5), 0.0, "ndtri ½");
    same(math::ndtri(-0.1), nan, "ndtri −0.1");
    same(math::lgamma(1.0), 0.0, "lgamma 1");
    same(math::lgamma(2.0), 0.0, "lgamma 2");
    same(math::lgamma(-3.0), infinity, "lgamma −3");
    same(math::digamma(-3.0), nan, "digamma −3");
    for n in -1074..1024 {
        let x = if n < -1022 {
            f64::from_bits(1 << (n + 1074))
        } else {
            f64::from_bits(((n + 1023) as u64) << 52)
        };
        same(math::exp2(f64::from(n)), x, "exp2 of a whole number");
        same(math::log2(x), f64::from(n), "log2 of a power of two");
    }
    for n in 0..23 {
        same(math::log10(10f64.powi(n)), f64::from(n), "log10 of a power of ten");
    }
    let functions: [fn(f64) -> f64; 22] = [
        math::expm1,
        math::log1p,
        math::exp2,
        math::log2,
        math::log10,
        math::tan,
        math::asin,
        math::acos,
        math::atan,
        math::sinh,
        math::cosh,
        math::asinh,
        math::acosh,
        math::atanh,
        math::erfc,
        math::erfcx,
        math::erfinv,
        math::ndtri,
        math::lgamma,
        math::digamma,
        math::i0e,
        math::i1e,
    ];
    for function in functions {
        same(function(nan), nan, "NaN");
        same(function(-nan), nan, "−NaN");
    }
    // As C has them, here by the standard library.
    let numbers = [0.0, 5e-324, 1e-308, 1e-200, 0.3, 1.0, 1.5, 1e200, f64::MAX, infinity, nan];
    for y in numbers.into_iter().flat_map(|y| [y, -y]) {
        for x in numbers.into_iter().flat_map(|x| [x, -x]) {
            let (got, want) = (math::atan2(y, x), y.atan2(x));
            let near = (got - want).abs() <= want.abs() * 2.3e-16 + 5e-324;
            assert!(
                (near && got.is_sign_negative() == want.is_sign_negative())
                    || (got.is_nan() && want.is_nan()),
                "atan2({y:e}, {x:e}) = {got:e}, not {want:e}"
            );
            same(math::copysign(y, x).abs(), y.abs(), "copysign");
            assert_eq!(math::copysign(y, x).is_sign_negative(), x.is_sign_negative());
            let next = match () {
                () if y.is_nan() || x.is_nan() => nan,
                () if y == x => x,
                () if y < x => y.next_up(),
                () => y.next_down(),
            };
            let next = if next == 0.0 && y != x { 0f64.copysign(y) } else { next };
            same(math::nextafter(y, x), next, "nextafter");
        }
    }
}

/// Xorshift, Marsaglia 2003: the same numbers in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Uniform on [−1, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * 2f64.powi(-52) - 1.0
    }

    /// Of either sign, with magnitudes spread evenly over the binary orders from 2^`low` to 2^`high`.
    fn spread(&mut self, low: f64, high: f64) -> f64 {
        let order = low + (self.unit() + 1.0) / 2.0 * (high - low);
        2f64.powf(order).copysign(self.unit())
    }
}

#[test]
fn double_precision_keeps_its_bounds() {
    check_double(20_000);
}

#[test]
#[ignore = "some minutes: four million arguments of each function"]
fn double_precision_keeps_its_bounds_at_length() {
    check_double(4_000_000);
}

fn check_double(count: u64) {
    // Name, loop, exact function, the span that matters, whether negative numbers are in the domain, the bound.
    type Row = (&'static str, Loop<f64>, fn(f64) -> Exact, f64, bool, f64);
    let rows: [Row; 8] = [
        ("exp", f64::exp, reference::exp, 745.0, true, 0.87),
        ("log", f64::log, reference::log, 1e308, false, 1.0),
        ("tanh", f64::tanh, reference::tanh, 20.0, true, 1.9),
        ("sigmoid", f64::sigmoid, reference::sigmoid, 745.0, true, 1.5),
        ("softplus", f64::softplus, reference::softplus, 745.0, true, 1.8),
        ("sin", f64::sin, reference::sin, 1073741824.0, true, 0.86),
        ("cos", f64::cos, reference::cos, 1073741824.0, true, 0.88),
        ("erf", f64::erf, reference::erf, 6.0, true, 0.98),
    ];
    for (name, function, exact, span, negative, bound) in rows {
        let mut random = Random(88_172_645_463_325_252);
        let mut from = Vec::new();
        for i in 0..count {
            from.push(match i % 4 {
                0 => random.unit() * span,
                1 => random.unit() * 4.0,
                2 => random.spread(-60.0, span.log2()),
                // Close to 1 and to multiples of a quarter of π.
                _ => {
                    let centre =
                        if i % 8 < 4 { 1.0 } else { (random.next() % 64) as f64 * 0.7853981633974483 };
                    centre + random.spread(-50.0, -5.0)
                }
            });
        }
        from.extend([
            0.5,
            1.0,
            2.0,
            709.782712893384,
            -708.3964185322641,
            -745.1332191019411,
            1e-300,
            5e-324,
            3e-310,
        ]);
        from.retain(|x| x.abs() <= span && if negative { true } else { *x > 0.0 });
        let mut to = vec![0.0; from.len()];
        function(&mut to, &from);
        let mut worst = (0.0, 0.0);
        for (&got, &x) in to.iter().zip(&from) {
            let error = exact(x).ulps(got);
            if error > worst.0 {
                worst = (error, x);
            }
        }
        println!("{name}: {:.4} ulp at {:e}", worst.0, worst.1);
        assert!(worst.0 <= bound, "{name}({:e}) is off by {} ulp", worst.1, worst.0);
    }
}

#[test]
fn double_precision_reduces_angles_of_any_size() {
    // Computed to 500 bits; the fourth is next to an odd multiple of π/2 as no other double is.
    let known = [
        (1e22, -0.8522008497671888, 0.523214785395139),
        (1.7976931348623157e308, 0.004961954789184062, -0.9999876894265599),
        (1.0715086071862673e301, -0.15920170308624243, 0.9872460775989135),
        (5.319372648326541e255, 1.0, -4.687165924254628e-19),
        (1.152921504606847e18, -0.8306492176372546, -0.5567960822766417),
        (3.65e16, -0.9993889173929252, 0.03495413841302406),
        (3.141592653589793, 1.2246467991473532e-16, -1.0),
    ];
    for (x, sine, cosine) in known {
        let near = |got: f64, want: f64| (got.to_bits() as i64 - want.to_bits() as i64).abs() <= 1;
        assert!(near(math::sin(x), sine), "sin {x:e} = {:e}", math::sin(x));
        assert!(near(math::cos(x), cosine), "cos {x:e} = {:e}", math::cos(x));
        assert!(near(math::sin(-x), -sine));
    }
}

#[test]
fn double_precision_handles_special_arguments() {
    let infinity = f64::INFINITY;
    let same = |got: f64, want: f64, what: &str| {
        assert!(
            got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan()),
            "{what}: {got:e} for {want:e}"
        );
    };
    same(math::exp(0.0), 1.0, "exp 0");
    same(math::exp(infinity), infinity, "exp ∞");
    same(math::exp(-infinity), 0.0, "exp −∞");
    same(math::exp(709.782712893384), 1.7976931348622732e308, "exp of its last finite argument");
    same(math::exp(709.7827128933841), infinity, "exp of the next one");
    same(math::exp(-745.1332191019411), 5e-324, "exp of its last argument above zero");
    same(math::exp(-745.1332191019412), 0.0, "exp of the next one");
    same(math::log(1.0), 0.0, "log 1");
    same(math::log(0.0), -infinity, "log 0");
    same(math::log(-0.0), -infinity, "log −0");
    same(math::log(-1.0), f64::NAN, "log −1");
    same(math::log(-infinity), f64::NAN, "log −∞");
    same(math::log(infinity), infinity, "log ∞");
    same(math::log(5e-324), -744.4400719213812, "log of the least number");
    for sign in [1.0, -1.0] {
        same(math::tanh(sign * infinity), sign, "tanh ∞");
        same(math::tanh(sign * 0.0), sign * 0.0, "tanh 0");
        same(math::tanh(sign * 5e-324), sign * 5e-324, "tanh of the least number");
        same(math::erf(sign * infinity), sign, "erf ∞");
        same(math::erf(sign * 0.0), sign * 0.0, "erf 0");
        same(math::erf(sign * 6.0), sign, "erf 6");
        same(math::sin(sign * 0.0), sign * 0.0, "sin 0");
        same(math::sin(sign * 5e-324), sign * 5e-324, "sin of the least number");
        same(math::sin(sign * infinity), f64::NAN, "sin ∞");
        same(math::cos(sign * infinity), f64::NAN, "cos ∞");
        same(math::cos(sign * 5e-324), 1.0, "cos of the least number");
    }
    same(math::sigmoid(infinity), 1.0, "sigmoid ∞");
    same(math::sigmoid(-infinity), 0.0, "sigmoid −∞");
    same(math::sigmoid(0.0), 0.5, "sigmoid 0");
    same(math::sigmoid(-745.0), 5e-324, "sigmoid of a number far below zero");
    same(math::softplus(infinity), infinity, "softplus ∞");
    same(math::softplus(-infinity), 0.0, "softplus −∞");
    same(math::softplus(0.0), std::f64::consts::LN_2, "softplus 0");
    same(math::softplus(-745.0), 5e-324, "softplus of a number far below zero");
    same(math::softplus(1e300), 1e300, "softplus of a large number");
    for function in
        [math::exp, math::log, math::tanh, math::sigmoid, math::softplus, math::sin, math::cos, math::erf]
    {
        same(function(f64::NAN), f64::NAN, "NaN");
        same(function(-f64::NAN), f64::NAN, "−NaN");
    }
}

#[test]
fn whole_numbers_are_exact() {
    let same = |got: f64, want: f64, what: &str| {
        assert!(
            got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan()),
            "{what}: {got:e}, not {want:e}"
        );
    };
    // Bits of every exponent, and what lies between them and the next whole number.
    let mut state = 1u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for round in 0..200_000 {
        let (x, y) = (f64::from_bits(draw()), f64::from_bits(draw()));
        // Half of them of one magnitude, where quotients are small.
        let y = if round % 2 == 0 { y } else { x * (f64::from(draw() as u16) / 4096.0 + 0.01) };
        let near = if round % 2 == 0 { x } else { f64::from(draw() as i32) / 64.0 };
        same(math::floor(near), near.floor(), &format!("floor {near:e}"));
        same(math::ceil(near), near.ceil(), &format!("ceil {near:e}"));
        same(math::trunc(near), near.trunc(), &format!("trunc {near:e}"));
        same(math::round(near), near.round_ties_even(), &format!("round {near:e}"));
        same(math::fmod(x, y), x % y, &format!("fmod {x:e} {y:e}"));
        let (x, y, near) = (x as f32, y as f32, near as f32);
        same(math::floor(near).into(), near.floor().into(), &format!("floor {near:e}"));
        same(math::ceil(near).into(), near.ceil().into(), &format!("ceil {near:e}"));
        same(math::trunc(near).into(), near.trunc().into(), &format!("trunc {near:e}"));
        same(math::round(near).into(), near.round_ties_even().into(), &format!("round {near:e}"));
        same(math::fmod(x, y).into(), (x % y).into(), &format!("fmod {x:e} {y:e}"));
        let (x, y) = (f32::from_bits(draw() as u32), f32::from_bits(draw() as u32));
        same(math::fmod(x, y).into(), (x % y).into(), &format!("fmod {x:e} {y:e}"));
    }
    for x in [0.0, 0.5, 1.5, 5e-324, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY, f64::NAN] {
        for x in [x, -x] {
            for y in [0.0, 1.0, 0.3, 5e-324, f64::MAX, f64::INFINITY, f64::NAN] {
                same(math::fmod(x, y), x % y, &format!("fmod {x:e} {y:e}"));
                same(math::fmod(x, -y), x % -y, &format!("fmod {x:e} {:e}", -y));
            }
        }
    }
    assert_eq!(math::int_pow(3i64, 39), 3i64.pow(39));
    // 3^(2^62) is 1 modulo 2^64, so that 3^(2^63 − 1) is the inverse of 3.
    assert_eq!(math::int_pow(3i64, i64::MAX).wrapping_mul(3), 1);
    assert_eq!((math::int_pow(-1i32, -3), math::int_pow(2i32, -1), math::int_pow(0u8, 0)), (-1, 0, 1));
    assert_eq!(math::int_pow(2u8, 200), 0);
}

#[test]
fn pow_has_the_special_cases_of_c() {
    let numbers = [
        0.0,
        1.0,
        2.0,
        3.0,
        4.0,
        0.5,
        1.5,
        2.5,
        0.1,
        0.9999999,
        1.0000001,
        5.0,
        7.0,
        16777215.0,
        16777216.0,
        16777217.0,
        8388607.0,
        8388608.5,
        33554432.0,
        8388609.0,
        4194303.5,
        4194304.5,
        9007199254740991.0,
        9007199254740992.0,
        9007199254740994.0,
        4503599627370497.0,
        4503599627370495.5,
        1e10,
        1e30,
        1e-30,
        1e-40,
        1e-45,
        5e-324,
        1e300,
        1e308,
        1e-308,
        f64::INFINITY,
        f64::NAN,
    ];
    for x in numbers.into_iter().flat_map(|x| [x, -x]) {
        for y in numbers.into_iter().flat_map(|y| [y, -y]) {
            let (got, want) = (math::pow(x, y), x.powf(y));
            let close = (got - want).abs() <= want.abs() * 3e-16 + 1e-323;
            let same = got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
            assert!(
                same || (close && got.is_sign_negative() == want.is_sign_negative()),
                "{x:e}^{y:e} = {got:e}"
            );
            let (x, y) = (x as f32, y as f32);
            let (got, want) = (math::pow(x, y), f64::from(x).powf(f64::from(y)));
            assert!(ulps(got, want) <= 1.0, "{x:e}^{y:e} = {got:e}, exactly {want:e}");
        }
    }
}

#[test]
fn pow_of_exact_powers_is_exact() {
    for y in [1.0, 2.0, 3.0, 4.0, 0.5, -1.0, -2.0] {
        for i in 1..4096 {
            let x = f64::from(i) * 0.25;
            let exact = x.powf(y);
            if f64::from(exact as f32) == exact {
                assert_eq!(math::pow(x as f32, y as f32), exact as f32, "{x}^{y}");
            }
            if y > 0.5 || f64::from(exact as f32) == exact {
                assert_eq!(math::pow(x, y), exact, "{x}^{y}");
            }
        }
    }
}

/// Draws a base by one of several rules, and an exponent so that the result is anywhere in the normal range.
fn base_and_power(random: &mut Random, rule: u64, bases: f64, reach: f64) -> (f64, f64) {
    let x = match rule % 4 {
        0 => random.spread(-bases, bases).abs(),
        1 => (random.unit() + 1.0) * 2.0,
        2 => 1.0 + random.spread(-22.0, -2.0),
        _ => 0.5 + (random.unit() + 1.0) * 0.75,
    };
    let end =
        if rule % 8 < 4 { random.unit() } else { (0.97 + random.unit() * 0.03).copysign(random.unit()) };
    (x, reach * end / x.ln())
}

#[test]
fn pow_keeps_its_bounds() {
    check_pow_single(4_000_000);
    check_pow_double(50_000);
}

#[test]
#[ignore = "some minutes: a thousand times as many arguments"]
fn pow_keeps_its_bounds_at_length() {
    check_pow_single(4_000_000_000);
    check_pow_double(10_000_000);
}

fn check_pow_single(count: u64) {
    let mut random = Random(2_463_534_242);
    let mut worst = (0.0, 0.0, 0.0);
    for rule in 0..count {
        let (x, y) = base_and_power(&mut random, rule, 125.0, 87.3);
        let (x, y) = (x as f32, y as f32);
        let error = ulps(pow32(x, y), f64::from(x).powf(f64::from(y)));
        if error > worst.0 {
            worst = (error, x, y);
        }
    }
    println!("pow: {:.4} ulp at {:e}^{:e}", worst.0, worst.1, worst.2);
    assert!(worst.0 <= 0.98, "{:e}^{:e} is off by {} ulp", worst.1, worst.2, worst.0);
}

fn check_pow_double(count: u64) {
    let mut random = Random(2_463_534_242);
    let mut worst = (0.0, 0.0, 0.0);
    for rule in 0..count {
        let (x, y) = base_and_power(&mut random, rule, 1020.0, 708.3);
        if !y.is_finite() {
            continue;
        }
        let error = reference::pow(x, y).ulps(math::pow(x, y));
        if error > worst.0 {
            worst = (error, x, y);
        }
    }
    println!("pow: {:.4} ulp at {:e}^{:e}", worst.0, worst.1, worst.2);
    assert!(worst.0 <= 0.99, "{:e}^{:e} is off by {} ulp", worst.1, worst.2, worst.0);
}

#[test]
fn functions_are_monotone_where_they_level_off() {
    // Arguments in rising order; the results must not fall.
    let rising = |name: &str, function: Loop<f32>, low: f32, high: f32| {
        let from: Vec<f32> = if low > 0.0 {
            (low.to_bits()..=high.to_bits()).map(f32::from_bits).collect()
        } else {
            (high.to_bits()..=low.to_bits()).rev().map(f32::from_bits).collect()
        };
        let mut to = vec![0.0; from.len()];
        function(&mut to, &from);
        for (pair, at) in to.windows(2).zip(&from) {
            assert!(pair[0] <= pair[1], "{name} falls at {at:e}");
        }
    };
    rising("tanh", f32::tanh, 8.0, 0.85);
    rising("sigmoid", f32::sigmoid, 15.0, 20.0);
    rising("softplus", f32::softplus, 15.0, 20.0);
    rising("softplus", f32::softplus, -20.0, -15.0);
    rising("erf", f32::erf, 3.5, 1.0);
    rising("exp", f32::exp, 88.0, 0.9);
    rising("exp", f32::exp, -106.0, -100.0);
    rising("sigmoid", f32::sigmoid, -106.0, -100.0);
}
