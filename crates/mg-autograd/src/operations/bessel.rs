//! Bessel functions of orders 0 and 1, by Chebyshev series on two ranges (Clenshaw, "Chebyshev series for mathematical functions", 1962;
//! summed by his recurrence). Up to 8, or 2 for the modified ones, series in x² of the function, without its logarithm; beyond, series in
//! (8/x)² of the modulus and phase of Hankel's expansion, or in 4/x of √x eˣ K. Coefficients are the discrete cosine transforms of values in
//! 40 digits, down to 10⁻¹⁸.

use super::elementwise::{and, unary};
use crate::tensor::Tensor;
use mg_device::Result;
use mg_graph::Node;
use mg_kernels::{Algebra, Row, Rules};
use mg_macros::operations;
use std::f64::consts::{FRAC_2_PI, LN_2, PI};

// The first is two units of 10⁻¹⁶ below its own, so that J₀(0) is 1 and never above.
const J0: [f64; 17] = [
    0.15772797147488993,
    -0.008723442352852221,
    0.2651786132033368,
    -0.37009499387264977,
    0.15806710233209725,
    -0.034893769411408884,
    0.004819180069467605,
    -0.00046062616620627504,
    3.246032882100508e-05,
    -1.7619469077621507e-06,
    7.608163592418782e-08,
    -2.679253530557673e-09,
    7.848696314479465e-11,
    -1.9438346867370164e-12,
    4.125320595634374e-14,
    -7.588508125447546e-16,
    1.2218515873961411e-17,
];
const J1: [f64; 16] = [
    0.08104484632565812,
    -0.1489751450676521,
    0.1609992623572097,
    -0.08268049176681791,
    0.022213639654966037,
    -0.003646940600769276,
    0.0004050337728354822,
    -3.255554866857259e-05,
    1.9858774049915165e-06,
    -9.521984756750436e-08,
    3.687133759097148e-09,
    -1.178026622695885e-10,
    3.160154580348003e-12,
    -7.221755239651773e-14,
    1.4232144003513942e-15,
    -2.4441972916190464e-17,
];
const Y0: [f64; 17] = [
    -0.03314611320328494,
    -0.2744743055297453,
    0.17903431407718265,
    0.26156734625504663,
    -0.17730201278114358,
    0.04719668959576339,
    -0.007287962479552079,
    0.0007531135932577742,
    -5.632079141056987e-05,
    3.206532537654801e-06,
    -1.44072332740187e-07,
    5.248794787330516e-09,
    -1.5837552541812015e-10,
    4.02633081830612e-12,
    -8.747341203310769e-14,
    1.6434898714919468e-15,
    -2.6977881152566837e-17,
];
const Y1: [f64; 16] = [
    0.0025380132357417816,
    -0.01608717304766875,
    -0.09591204536083074,
    0.08445197259652346,
    -0.028328123944594365,
    0.005289897544167113,
    -0.0006414551451326356,
    5.505982873338744e-05,
    -3.53808001868935e-06,
    1.7707804556154404e-07,
    -7.11055004989928e-09,
    2.344337905911516e-10,
    -6.4651518414115946e-12,
    1.51429151205002e-13,
    -3.0511859694473254e-15,
    5.34668038572867e-17,
];
const P0: [f64; 14] = [
    0.9994603493475187,
    -0.0005365220468132117,
    3.0751847875194745e-06,
    -5.1705945376060975e-08,
    1.6306464635151382e-09,
    -7.86409137723707e-11,
    5.168262387349193e-12,
    -4.3045788699253914e-13,
    4.3265957431549404e-14,
    -5.069034095935236e-15,
    6.748072215733873e-16,
    -1.0011513723467786e-16,
    1.6305919233744186e-17,
    -2.880866169482871e-18,
];
const Q0: [f64; 14] = [
    -0.015555854605337009,
    6.838519942611649e-05,
    -7.414498411060647e-07,
    1.7972457247968992e-08,
    -7.27191593686632e-10,
    4.2201219046687385e-11,
    -3.206747420996635e-12,
    3.006145125351706e-13,
    -3.336328185322427e-14,
    4.255225040245461e-15,
    -6.09993013164005e-16,
    9.662128970303257e-17,
    -1.6686065214378146e-17,
    3.1082440486738143e-18,
];
const P1: [f64; 14] = [
    1.0009030408600137,
    0.0008989898330859408,
    -3.987284300488908e-06,
    6.177633960644299e-08,
    -1.8718907491063067e-09,
    8.816898659582339e-11,
    -5.704863640395645e-12,
    4.699195515230542e-13,
    -4.6842237839904895e-14,
    5.452674896044717e-15,
    -7.221180842274018e-16,
    1.0667689114335412e-16,
    -1.7312313216116335e-17,
    3.0492991197665872e-18,
];
const Q1: [f64; 14] = [
    0.04677778706953532,
    -9.62772354915708e-05,
    9.138615257955454e-07,
    -2.0959781384083424e-08,
    8.229193327650554e-10,
    -4.686363688176945e-11,
    3.5152187949686082e-12,
    -3.2643156743279e-13,
    3.5967765829165294e-14,
    -4.5612523950772974e-15,
    6.508282957783384e-16,
    -1.0269147531823243e-16,
    1.767635548776479e-17,
    -3.2834519872981614e-18,
];
const K0: [f64; 10] = [
    -0.2676636966169514,
    0.3442898999246285,
    0.0359799365153615,
    0.001264615411446926,
    2.286212103119452e-05,
    2.5347910790261494e-07,
    1.904516377220209e-09,
    1.0349695257633625e-11,
    4.2598161427910826e-14,
    1.3744654358807508e-16,
];
const K1: [f64; 11] = [
    0.7626501136694739,
    -0.3531559607765449,
    -0.12261118082265715,
    -0.006975723859639864,
    -0.0001730288957513052,
    -2.4334061415659684e-06,
    -2.213387630734726e-08,
    -1.4114883926335278e-10,
    -6.666901694199329e-13,
    -2.427449850519366e-15,
    -7.023863479386288e-18,
];
const L0: [f64; 26] = [
    1.2201515410329777,
    -0.0314481013119645,
    0.0015698838857300533,
    -0.00012849549581627802,
    1.39498137188765e-05,
    -1.8317555227191195e-06,
    2.766813639445015e-07,
    -4.660489897687948e-08,
    8.574034017414225e-09,
    -1.6975345093890614e-09,
    3.5773972814003283e-10,
    -7.957489244477396e-11,
    1.8559491149549264e-11,
    -4.514597883374519e-12,
    1.1403405882073441e-12,
    -2.9800969231481784e-13,
    8.032890775068375e-14,
    -2.2275133267462965e-14,
    6.340076476276646e-15,
    -1.848593377920907e-15,
    5.5120559994043335e-16,
    -1.6782311257549006e-16,
    5.2103917776435543e-17,
    -1.6475805939842632e-17,
    5.3004337711773354e-18,
    -1.7331712005821001e-18,
];
const L1: [f64; 26] = [
    1.3603130952422213,
    0.10392373657681724,
    -0.002857816859622779,
    0.00019521551847135162,
    -1.936197974166083e-05,
    2.406484947837217e-06,
    -3.5019606030878126e-07,
    5.7410841254500495e-08,
    -1.0345762465678097e-08,
    2.0150497551970347e-09,
    -4.1903547593419254e-10,
    9.218315187605315e-11,
    -2.129967838427791e-11,
    5.139639673482343e-12,
    -1.2891739609498229e-12,
    3.348419666052243e-13,
    -8.976705182010146e-14,
    2.4771544242195988e-14,
    -7.0198370892147685e-15,
    2.038703166239861e-15,
    -6.057047270643018e-16,
    1.8380935752430455e-16,
    -5.689462849193648e-17,
    1.7940510478863572e-17,
    -5.7567444820733025e-18,
    1.8778651901623268e-18,
];

/// 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Degree {
    Zero,
    One,
}

/// The sum of Chebyshev polynomials of t in [−1, 1].
fn sum(coefficients: &[f64], t: &Node) -> Node {
    let [first, others @ .., last] = coefficients else { return t.lit(0.0) };
    let (mut below, mut here) = (t.lit(0.0), t.lit(*last));
    for &c in others.iter().rev() {
        let next = t.scale(2.0).mul(&here).sub(&below).add(&t.lit(c));
        below = std::mem::replace(&mut here, next);
    }
    t.mul(&here).sub(&below).add(&t.lit(*first))
}

/// x within [−8, 8], and x²/32 − 1. (At the ends `clamp` has no gradient.)
fn near(x: &Node) -> (Node, Node) {
    let inner = x.lit(8.0).lt(&x.map(Row::Abs)).choose(&x.lit(8.0), x);
    let t = inner.mul(&inner).scale(1.0 / 32.0).sub(&x.lit(1.0));
    (inner, t)
}

/// J and Y of |x| from 8 on.
fn wave(x: &Node, degree: Degree) -> (Node, Node) {
    let y = x.map(Row::Abs);
    let y = le(&y, 8.0).choose(&y.lit(8.0), &y);
    let u = y.lit(8.0).div(&y);
    let t = u.scale(2.0).mul(&u).sub(&u.lit(1.0));
    // Cosine and sine of y − π/4, or of y − 3π/4, times √2.
    let (cos, sin) = (y.map(Row::Cos), y.map(Row::Sin));
    let (a, b) = (cos.add(&sin), sin.sub(&cos));
    let (p, q, c, s) = match degree {
        Degree::Zero => (sum(&P0, &t), sum(&Q0, &t).mul(&u), a, b),
        Degree::One => (sum(&P1, &t), sum(&Q1, &t).mul(&u), b, a.neg()),
    };
    let root = y.scale(PI).map(Row::Sqrt);
    (p.mul(&c).sub(&q.mul(&s)).div(&root), p.mul(&s).add(&q.mul(&c)).div(&root))
}

fn le(a: &Node, b: f64) -> Node {
    Node::apply(Row::Le, &[a, &a.lit(b)])
}

/// The number itself where it is positive, else 1, which is never looked at.
fn positive(x: &Node) -> Node {
    x.lit(0.0).lt(x).choose(x, &x.lit(1.0))
}

/// Values of positive numbers; of others what there is instead: at 0 an infinity, with as steep a slope, and of negative numbers NaN,
/// with none.
fn with_pole(x: &Node, values: &Node, falls: bool) -> Node {
    let zero = x.lit(0.0);
    // Of −0 and 0 the sum is 0, whose slope is that of 0: no literal, which would be left out.
    let pole = x.add(&Node::scalar(0.0, x.dtype(), x.device(), false)).map(Row::Log);
    let pole = if falls { pole } else { pole.neg() };
    let nothing = x.lt(&zero).choose(x, &zero).scale(f64::NAN);
    zero.lt(x).choose(values, &x.eq(&zero).choose(&pole, &nothing))
}

/// J, the function of the first kind.
fn first_kind(x: &Node, degree: Degree) -> Node {
    let (inner, t) = near(x);
    let (near, far) = match degree {
        Degree::Zero => (sum(&J0, &t), wave(x, degree).0),
        Degree::One => (inner.mul(&sum(&J1, &t)), x.map(Row::Sign).mul(&wave(x, degree).0)),
    };
    le(&x.map(Row::Abs), 8.0).choose(&near, &far)
}

/// Y, the function of the second kind.
fn second_kind(x: &Node, degree: Degree) -> Node {
    let some = positive(x);
    let (inner, t) = near(&some);
    let log = inner.map(Row::Log);
    let near = match degree {
        Degree::Zero => log.scale(FRAC_2_PI).mul(&sum(&J0, &t)).add(&sum(&Y0, &t)),
        Degree::One => {
            let singular = log.mul(&inner).mul(&sum(&J1, &t)).sub(&inner.lit(1.0).div(&inner));
            singular.scale(FRAC_2_PI).add(&inner.mul(&sum(&Y1, &t)))
        }
    };
    let values = le(&some, 8.0).choose(&near, &wave(&some, degree).1);
    with_pole(x, &values, true)
}

/// K, the modified function of the second kind, times eˣ where that is asked for.
fn modified(x: &Node, degree: Degree, scaled: bool) -> Node {
    let some = positive(x);
    let two = some.lit(2.0);
    let inner = two.lt(&some).choose(&two, &some);
    let outer = le(&some, 2.0).choose(&two, &some);
    let t = inner.mul(&inner).scale(0.5).sub(&some.lit(1.0));
    let u = some.lit(4.0).div(&outer).sub(&some.lit(1.0));
    // Of the smallest numbers the half would be 0: they are taken times 2⁶⁴.
    let is_tiny = inner.lt(&inner.lit(1e-30));
    let halved = is_tiny.choose(&inner.scale(2f64.powi(63)), &inner.scale(0.5));
    let log = halved.map(Row::Log).sub(&is_tiny.choose(&inner.lit(64.0 * LN_2), &inner.lit(0.0)));
    let growth = inner.map(Row::Exp);
    let root = outer.map(Row::Sqrt);
    let (near, far) = match degree {
        Degree::Zero => {
            let i0 = inner.map(Row::I0e).mul(&growth);
            (sum(&K0, &t).sub(&log.mul(&i0)), sum(&L0, &u).div(&root))
        }
        Degree::One => {
            let i1 = inner.map(Row::I1e).mul(&growth);
            (sum(&K1, &t).div(&inner).add(&log.mul(&i1)), sum(&L1, &u).div(&root))
        }
    };
    let is_near = le(&some, 2.0);
    let values = match scaled {
        true => is_near.choose(&near.mul(&growth), &far),
        false => is_near.choose(&near, &far.mul(&outer.neg().map(Row::Exp))),
    };
    with_pole(x, &values, false)
}

#[operations(BESSEL)]
impl Tensor {
    /// J₀, the Bessel function of the first kind of order 0. Integers become the default float; half types are computed in f32.
    #[surface(special)]
    pub fn bessel_j0(&self) -> Result<Tensor> {
        unary(self, |x| first_kind(x, Degree::Zero))
    }

    /// J₁, the Bessel function of the first kind of order 1. Integers become the default float; half types are computed in f32.
    #[surface(special)]
    pub fn bessel_j1(&self) -> Result<Tensor> {
        unary(self, |x| first_kind(x, Degree::One))
    }

    /// Y₀, the Bessel function of the second kind of order 0: −∞ at 0, NaN of negative numbers. Integers become the default float; half
    /// types are computed in f32.
    #[surface(special)]
    pub fn bessel_y0(&self) -> Result<Tensor> {
        unary(self, |x| second_kind(x, Degree::Zero))
    }

    /// Y₁, the Bessel function of the second kind of order 1: −∞ at 0, NaN of negative numbers. Integers become the default float; half
    /// types are computed in f32.
    #[surface(special)]
    pub fn bessel_y1(&self) -> Result<Tensor> {
        unary(self, |x| second_kind(x, Degree::One))
    }

    /// K₀, the modified Bessel function of the second kind of order 0: ∞ at 0, NaN of negative numbers. Integers become the default
    /// float; half types are computed in f32.
    #[surface(special)]
    pub fn modified_bessel_k0(&self) -> Result<Tensor> {
        unary(self, |x| modified(x, Degree::Zero, false))
    }

    /// K₁, the modified Bessel function of the second kind of order 1: ∞ at 0, NaN of negative numbers. Integers become the default
    /// float; half types are computed in f32.
    #[surface(special)]
    pub fn modified_bessel_k1(&self) -> Result<Tensor> {
        unary(self, |x| modified(x, Degree::One, false))
    }

    /// `exp(x) · modified_bessel_k0(x)`, which does not become 0 so soon.
    #[surface(special)]
    pub fn scaled_modified_bessel_k0(&self) -> Result<Tensor> {
        unary(self, |x| modified(x, Degree::Zero, true))
    }

    /// `exp(x) · modified_bessel_k1(x)`, which does not become 0 so soon.
    #[surface(special)]
    pub fn scaled_modified_bessel_k1(&self) -> Result<Tensor> {
        unary(self, |x| modified(x, Degree::One, true))
    }

    /// Bessel's spherical function of order 0, `sin(x) / x`: 1 at 0, and 0 at infinity. Integers become the default float; half types are
    /// computed in f32.
    #[surface(special)]
    pub fn spherical_bessel_j0(&self) -> Result<Tensor> {
        unary(self, |x| {
            // The quotient is as near as its parts, but for 0 and infinity.
            let (zero, one) = (x.lit(0.0), x.lit(1.0));
            let is_zero = x.eq(&zero);
            let is_infinite = x.map(Row::Abs).eq(&x.lit(f64::INFINITY));
            let is_neither = and(&is_zero.map(Row::Not), &is_infinite.map(Row::Not));
            let inside = is_neither.choose(x, &one);
            let edge = is_zero.choose(&one, &is_infinite.choose(&zero, x));
            is_neither.choose(&inside.map(Row::Sin).div(&inside), &edge)
        })
    }
}
