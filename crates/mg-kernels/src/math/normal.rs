//! Normal random numbers of uniform ones.

use super::log::log_of_fraction;
use super::trig::of_turn;
use crate::lane::FloatLane;

/// Two normal numbers of mean 0 and variance 1, independent of each other, of two uniform numbers in [0, 1) (Box and Muller, "A note on
/// the generation of random normal deviates", 1958): √(−2 ln(1 − u)) times the cosine and the sine of 2πv. 1 − u and the quarters of
/// the turn are exact where u and v are multiples of half an ulp of 1; the results are within 4.00 ulp in single and in double precision.
#[inline(always)]
pub fn normal_pair<L: FloatLane>(u: L, v: L) -> [L; 2] {
    let (zero, one) = (u.lit(0.0), u.lit(1.0));
    let square = log_of_fraction(one.sub(u)).mul(u.lit(-2.0));
    let radius = L::select(u.eq(zero), zero, square.root());
    let [cosine, sine] = of_turn(v);
    [radius.mul(cosine), radius.mul(sine)]
}

#[cfg(test)]
mod tests {
    use super::normal_pair;
    use crate::philox;

    /// How many units in the last place a result is off.
    fn ulps(got: f64, want: f64, fraction: i32) -> f64 {
        if got == want {
            return 0.0;
        }
        (got - want).abs() / 2f64.powi(want.abs().log2().floor() as i32 - fraction)
    }

    fn wanted(u: f64, v: f64) -> [f64; 2] {
        // A quarter of the turn at most, which is exact, so that neither function errs by more than its own rounding.
        let (quarters, radius) = ((v * 4.0).round(), (-2.0 * (-u).ln_1p()).sqrt());
        let (sine, cosine) = ((v * 4.0 - quarters) * std::f64::consts::FRAC_PI_2).sin_cos();
        let (cosine, sine) = match quarters as i64 % 4 {
            0 => (cosine, sine),
            1 => (-sine, cosine),
            2 => (-cosine, -sine),
            _ => (sine, -cosine),
        };
        [radius * cosine, radius * sine]
    }

    #[test]
    fn pairs_are_those_of_box_and_muller() {
        let mut most = [0f64; 2];
        let ends =
            [0, 1, 2, (1 << 24) - 1, (1 << 24) - 2, 1 << 23, 1 << 22, 3 << 22, (1 << 21) - 1, (1 << 21) + 1];
        let chosen = ends.iter().flat_map(|&a| ends.iter().map(move |&b| [a << 8, b << 8]));
        let drawn = (0..400_000).map(|at| philox::block(5, at)).flat_map(|[a, b, c, d]| [[a, b], [c, d]]);
        for [a, b] in chosen.chain(drawn) {
            let (u, v) = (philox::unit_f32(a), philox::unit_f32(b));
            for (got, want) in normal_pair(u, v).into_iter().zip(wanted(u.into(), v.into())) {
                most[0] = most[0].max(ulps(got.into(), want, 23));
            }
            let (u, v) = (philox::unit_f64(a, b), philox::unit_f64(b, a));
            for (got, want) in normal_pair(u, v).into_iter().zip(wanted(u, v)) {
                most[1] = most[1].max(ulps(got, want, 52));
            }
        }
        // What is compared with errs itself in double precision.
        assert!(most[0] < 4.0 && most[1] < 6.0, "{most:?}");
    }
}
