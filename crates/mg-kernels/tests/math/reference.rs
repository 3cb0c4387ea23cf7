//! What the elementary functions ought to give, in sums of two doubles: about 100 correct bits, at leisure.
//!
//! The arithmetic is that of Dekker, "A floating-point technique for extending the available precision", Numerische
//! Mathematik 18, 1971.

use std::f64::consts::LOG2_E;

/// `0` + `1`, the second at most half an ulp of the first.
#[derive(Clone, Copy, Debug)]
pub struct Double(pub f64, pub f64);

const LN_2: Double = Double(0.6931471805599453, 2.3190468138462996e-17);
const HALF_PI: [f64; 4] =
    [1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33, 5.562271104316826e-50];
const TWO_OVER_ROOT_PI: Double = Double(1.1283791670955126, 1.533545961316588e-17);

impl Double {
    fn sum(a: f64, b: f64) -> Double {
        let s = a + b;
        let t = s - a;
        Double(s, (a - (s - t)) + (b - t))
    }

    fn product(a: f64, b: f64) -> Double {
        let p = a * b;
        Double(p, a.mul_add(b, -p))
    }

    fn add(self, o: Double) -> Double {
        let s = Double::sum(self.0, o.0);
        let t = Double::sum(self.1, o.1);
        let u = Double::sum(s.0, s.1 + t.0);
        Double::sum(u.0, u.1 + t.1)
    }

    fn neg(self) -> Double {
        Double(-self.0, -self.1)
    }

    fn mul(self, o: Double) -> Double {
        let p = Double::product(self.0, o.0);
        Double::sum(p.0, p.1 + (self.0 * o.1 + self.1 * o.0))
    }

    fn div(self, o: Double) -> Double {
        let q = self.0 / o.0;
        let rest = self.add(o.mul(Double(-q, 0.0)));
        let r = rest.0 / o.0;
        let rest = rest.add(o.mul(Double(-r, 0.0)));
        Double::sum(q, r).add(Double(rest.0 / o.0, 0.0))
    }

    fn scaled(self, power: i32) -> Double {
        Double(self.0 * 2f64.powi(power), self.1 * 2f64.powi(power))
    }
}

/// `value`·2^`exponent`, for results outside the range of a double.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    pub value: Double,
    pub exponent: i32,
}

impl Exact {
    fn plain(value: Double) -> Exact {
        Exact { value, exponent: 0 }
    }

    /// The distance of `got` in ulps of the exact result; infinite where one overflows and the other does not.
    pub fn ulps(self, got: f64) -> f64 {
        let Double(high, low) = self.value;
        if high == 0.0 {
            return if got == 0.0 { 0.0 } else { f64::INFINITY };
        }
        let place = high.abs().log2().floor() as i32 + self.exponent;
        let largest = Double(2.0, -2f64.powi(-53));
        let overflows = place > 1023
            || (place == 1023
                && Double(high.abs(), 0.0).scaled(self.exponent - 1023).add(largest.neg()).0 >= 0.0);
        if overflows || got.is_infinite() {
            let same = got.is_infinite() && got.is_sign_positive() == (high > 0.0);
            return if same && overflows { 0.0 } else { f64::INFINITY };
        }
        let half = self.exponent / 2;
        let near = got * 2f64.powi(-half) * 2f64.powi(half - self.exponent);
        // In two steps, because the ulp of a denormal number is one.
        let digits = 52 - place.max(-1022) + self.exponent;
        ((near - high) - low).abs() * 2f64.powi(digits / 2) * 2f64.powi(digits - digits / 2)
    }
}

/// eˣ − 1 for |x| < 0.4.
fn exp_m1_small(x: Double) -> Double {
    let r = x.scaled(-9);
    let mut sum = Double(0.0, 0.0);
    for k in (1..=12).rev() {
        sum = sum.add(Double(1.0, 0.0)).mul(r).div(Double(f64::from(k), 0.0));
    }
    for _ in 0..9 {
        sum = sum.scaled(1).add(sum.mul(sum));
    }
    sum
}

fn exp_sum(x: Double) -> Exact {
    let n = (x.0 * LOG2_E).round();
    let r = x.add(LN_2.mul(Double(-n, 0.0)));
    Exact { value: exp_m1_small(r).add(Double(1.0, 0.0)), exponent: n as i32 }
}

pub fn exp(x: f64) -> Exact {
    exp_sum(Double(x, 0.0))
}

fn log_sum(x: f64) -> Double {
    let shift = if x < f64::MIN_POSITIVE { 54 } else { 0 };
    let x = x * 2f64.powi(shift);
    let mut n = ((x.to_bits() >> 52) as i32) - 1023;
    let mut m = f64::from_bits((x.to_bits() & ((1 << 52) - 1)) | (1023 << 52));
    if m > std::f64::consts::SQRT_2 {
        m /= 2.0;
        n += 1;
    }
    // 2·artanh((m − 1)/(m + 1)).
    let s = Double(m - 1.0, 0.0).div(Double::sum(m, 1.0));
    let square = s.mul(s);
    let mut sum = Double(0.0, 0.0);
    for k in (0..=24).rev() {
        sum = sum.mul(square).add(Double(1.0, 0.0).div(Double(f64::from(2 * k + 1), 0.0)));
    }
    LN_2.mul(Double(f64::from(n - shift), 0.0)).add(sum.mul(s).scaled(1))
}

pub fn log(x: f64) -> Exact {
    Exact::plain(log_sum(x))
}

/// xʸ for positive x.
pub fn pow(x: f64, y: f64) -> Exact {
    let power = log_sum(x).mul(Double(y, 0.0));
    exp_sum(power)
}

pub fn tanh(x: f64) -> Exact {
    if x.abs() > 40.0 {
        return Exact::plain(Double(1f64.copysign(x), -1e-34f64.copysign(x)));
    }
    if x.abs() < 1e-9 {
        return Exact::plain(Double(x, -x * x * x / 3.0));
    }
    let twice = Double(2.0 * x, 0.0);
    let e = if x.abs() < 0.17 {
        exp_m1_small(twice)
    } else {
        let e = exp_sum(twice);
        e.value.scaled(e.exponent).add(Double(-1.0, 0.0))
    };
    Exact::plain(e.div(e.add(Double(2.0, 0.0))))
}

pub fn sigmoid(x: f64) -> Exact {
    let e = exp_sum(Double(-x.abs(), 0.0));
    let small = if e.exponent < -300 { Double(0.0, 0.0) } else { e.value.scaled(e.exponent) };
    let below = small.add(Double(1.0, 0.0));
    if x < 0.0 {
        Exact { value: e.value.div(below), exponent: e.exponent }
    } else {
        Exact::plain(Double(1.0, 0.0).div(below))
    }
}

pub fn softplus(x: f64) -> Exact {
    let e = exp_sum(Double(-x.abs(), 0.0));
    if e.exponent < -30 {
        let z = if e.exponent < -300 { Double(0.0, 0.0) } else { e.value.scaled(e.exponent) };
        // ln(1 + z)/z.
        let mut series = Double(-0.25, 0.0);
        for coefficient in [Double(1.0, 0.0).div(Double(3.0, 0.0)), Double(-0.5, 0.0), Double(1.0, 0.0)] {
            series = series.mul(z).add(coefficient);
        }
        return if x < 0.0 {
            Exact { value: e.value.mul(series), exponent: e.exponent }
        } else {
            Exact::plain(z.mul(series).add(Double(x, 0.0)))
        };
    }
    let u = e.value.scaled(e.exponent).add(Double(1.0, 0.0));
    let log = log_sum(u.0).add(Double(u.1, 0.0).div(Double(u.0, 0.0)));
    Exact::plain(log.add(Double(x.max(0.0), 0.0)))
}

/// Sine and cosine for |x| < 2⁴⁰.
fn sine_and_cosine(x: f64) -> (Double, Double) {
    let n = (x / HALF_PI[0]).round();
    let mut r = Double(x, 0.0);
    for part in HALF_PI {
        r = r.add(Double::product(-n, part));
    }
    let square = r.mul(r).neg();
    let (mut sine, mut cosine) = (Double(0.0, 0.0), Double(0.0, 0.0));
    for k in (1..=15).rev() {
        let step = |sum: Double, a: i32, b: i32| {
            sum.add(Double(1.0, 0.0)).mul(square).div(Double(f64::from(a * b), 0.0))
        };
        sine = step(sine, 2 * k, 2 * k + 1);
        cosine = step(cosine, 2 * k - 1, 2 * k);
    }
    let sine = sine.mul(r).add(r);
    let cosine = cosine.add(Double(1.0, 0.0));
    match n.rem_euclid(4.0) as i32 {
        0 => (sine, cosine),
        1 => (cosine, sine.neg()),
        2 => (sine.neg(), cosine.neg()),
        _ => (cosine.neg(), sine),
    }
}

pub fn sin(x: f64) -> Exact {
    Exact::plain(sine_and_cosine(x).0)
}

pub fn cos(x: f64) -> Exact {
    Exact::plain(sine_and_cosine(x).1)
}

/// 2/√π·e^(−x²)·Σ 2ᵏx²ᵏ⁺¹/(1·3·5…(2k + 1)): all terms have one sign.
pub fn erf(x: f64) -> Exact {
    if x.abs() > 7.0 {
        return Exact::plain(Double(1f64.copysign(x), -1e-23f64.copysign(x)));
    }
    let square = Double::product(x, x);
    let mut sum = Double(0.0, 0.0);
    for k in (1..=220).rev() {
        sum = sum.add(Double(1.0, 0.0)).mul(square.scaled(1)).div(Double(f64::from(2 * k + 1), 0.0));
    }
    let e = exp_sum(square.neg());
    let scale = e.value.scaled(e.exponent).mul(TWO_OVER_ROOT_PI);
    Exact::plain(sum.add(Double(1.0, 0.0)).mul(scale).mul(Double(x, 0.0)))
}
