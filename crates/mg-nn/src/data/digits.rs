//! Digits that the program draws itself: images like those of MNIST, for machines without its files and without a network.
//!
//! Each digit is a handful of pen strokes in one of several styles of writing (a 7 with and without its bar, an open and a
//! closed 4). A random smooth warp, a slant, a rotation and a change of proportions make the hand; the strokes are then
//! drawn with a pen of random width, pressure and softness onto 28×28 pixels. They are somewhat easier than MNIST: with
//! 60,000 of them to learn from, taking the nearest mean image gets 77 of 100 right, a linear model 94, and a perceptron of
//! one hidden layer with 128 units 99.
//!
//! Only additions, multiplications, divisions and square roots are used, which are exact to the last bit everywhere, so
//! a seed gives the same images on every machine.

use mg_device::{Buffer, Shape};

use super::idx::Idx;
use super::mnist::Mnist;
use super::random::SplitMix64;

/// Rows and columns of an image.
pub const SIDE: usize = 28;

/// Bytes of an image.
const AREA: usize = SIDE * SIDE;

/// Draws `n` digits: u8 images `[n, 28, 28]` in row-major order, 0 for background and 255 for full ink, and their labels, 0
/// to 9. Sample `i` depends on `seed` and `i` alone.
///
/// # Examples
///
/// ```
/// use mg_nn::data::digits;
///
/// let (images, labels) = digits::draw(100, 7);
/// assert_eq!((images.len(), labels.len()), (100 * 28 * 28, 100));
/// assert_eq!(digits::draw(3, 7).1, labels[..3]);
/// ```
#[must_use]
pub fn draw(n: usize, seed: u64) -> (Vec<u8>, Vec<u8>) {
    let mut images = Vec::with_capacity(n * AREA);
    let mut labels = Vec::with_capacity(n);
    for i in 0..n {
        let mut random = SplitMix64::stream(seed, i as u64);
        let label = random.below(10) as u8;
        labels.push(label);
        images.extend_from_slice(&draw_one(label, &mut random));
    }
    (images, labels)
}

/// A data set of `train` and `test` drawn digits in the form of MNIST. The two parts have no image in common.
#[must_use]
pub fn mnist(train: usize, test: usize, seed: u64) -> Mnist {
    let (images, labels) = draw(train + test, seed);
    let part = |from: usize, to: usize| {
        let pixels = images[from * AREA..to * AREA].to_vec();
        let count = to - from;
        (
            Idx { shape: Shape::from([count, SIDE, SIDE]), data: Buffer::from_vec(pixels) },
            Idx { shape: Shape::from([count]), data: Buffer::from_vec(labels[from..to].to_vec()) },
        )
    };
    let (train_images, train_labels) = part(0, train);
    let (test_images, test_labels) = part(train, train + test);
    Mnist { train_images, train_labels, test_images, test_labels }
}

/// A point: x to the right, y down.
type Point = (f32, f32);

/// A movement of the pen through points of the unit square.
enum Stroke {
    /// Straight from point to point.
    Line(&'static [Point]),
    /// Smoothly through all points.
    Curve(&'static [Point]),
}

/// A way to write a digit.
type Style = &'static [Stroke];

use Stroke::{Curve, Line};

#[rustfmt::skip] // or each point has a line of its own
const STYLES: [&[Style]; 10] = [
    &[
        &[Curve(&[
            (0.5, 0.0), (0.2, 0.15), (0.1, 0.5), (0.2, 0.87), (0.5, 1.0), (0.8, 0.85), (0.9, 0.5),
            (0.8, 0.14), (0.48, 0.0),
        ])],
        // Begun at the right and not quite closed.
        &[Curve(&[
            (0.7, 0.1), (0.4, 0.02), (0.15, 0.3), (0.12, 0.7), (0.4, 1.0), (0.75, 0.85), (0.88, 0.5),
            (0.8, 0.15), (0.55, 0.06),
        ])],
    ],
    &[
        &[Line(&[(0.5, 0.0), (0.5, 1.0)])],
        &[Line(&[(0.3, 0.24), (0.53, 0.0), (0.53, 1.0)])],
        &[Line(&[(0.28, 0.24), (0.53, 0.0), (0.53, 1.0)]), Line(&[(0.26, 1.0), (0.8, 1.0)])],
    ],
    &[
        &[
            Curve(&[
                (0.14, 0.26), (0.3, 0.05), (0.6, 0.0), (0.82, 0.2), (0.74, 0.46), (0.44, 0.74), (0.1, 0.98),
            ]),
            Line(&[(0.1, 0.98), (0.9, 0.98)]),
        ],
        // With a loop at the foot.
        &[Curve(&[
            (0.15, 0.22), (0.4, 0.0), (0.76, 0.1), (0.78, 0.42), (0.52, 0.76), (0.24, 0.98), (0.08, 0.9),
            (0.2, 0.77), (0.46, 0.88), (0.7, 0.99), (0.94, 0.88),
        ])],
    ],
    &[
        &[
            Curve(&[(0.15, 0.13), (0.42, 0.0), (0.76, 0.08), (0.8, 0.28), (0.64, 0.44), (0.38, 0.48)]),
            Curve(&[(0.38, 0.48), (0.7, 0.52), (0.88, 0.73), (0.74, 0.94), (0.44, 1.0), (0.1, 0.87)]),
        ],
        // With a flat top.
        &[
            Line(&[(0.15, 0.03), (0.82, 0.03), (0.44, 0.42)]),
            Curve(&[(0.44, 0.42), (0.76, 0.48), (0.88, 0.7), (0.74, 0.93), (0.44, 1.0), (0.1, 0.87)]),
        ],
    ],
    &[
        // Open.
        &[
            Curve(&[(0.2, 0.02), (0.14, 0.3), (0.16, 0.54), (0.5, 0.56), (0.86, 0.52)]),
            Line(&[(0.76, 0.0), (0.7, 1.0)]),
        ],
        // Closed.
        &[Line(&[(0.66, 0.0), (0.1, 0.64), (0.94, 0.64)]), Line(&[(0.66, 0.0), (0.66, 1.0)])],
    ],
    &[
        &[
            Line(&[(0.84, 0.03), (0.26, 0.03), (0.2, 0.43)]),
            Curve(&[
                (0.2, 0.43), (0.5, 0.36), (0.82, 0.5), (0.84, 0.77), (0.6, 0.98), (0.3, 0.98), (0.1, 0.87),
            ]),
        ],
        // Round, its top put on afterwards.
        &[
            Curve(&[
                (0.3, 0.05), (0.24, 0.25), (0.26, 0.42), (0.56, 0.45), (0.8, 0.64), (0.7, 0.92), (0.4, 1.0),
                (0.14, 0.92),
            ]),
            Line(&[(0.3, 0.05), (0.86, 0.0)]),
        ],
    ],
    &[
        &[Curve(&[
            (0.72, 0.0), (0.42, 0.18), (0.2, 0.48), (0.15, 0.75), (0.3, 0.97), (0.6, 0.99), (0.82, 0.8),
            (0.74, 0.58), (0.48, 0.52), (0.26, 0.62), (0.17, 0.76),
        ])],
        // Upright, with a small belly.
        &[Curve(&[
            (0.4, 0.0), (0.24, 0.32), (0.18, 0.68), (0.32, 0.97), (0.62, 0.97), (0.74, 0.78), (0.6, 0.64),
            (0.36, 0.68), (0.22, 0.8),
        ])],
    ],
    &[
        &[Line(&[(0.1, 0.05), (0.88, 0.03)]), Curve(&[(0.88, 0.03), (0.64, 0.42), (0.44, 1.0)])],
        // With a bar.
        &[
            Line(&[(0.1, 0.05), (0.88, 0.03)]),
            Curve(&[(0.88, 0.03), (0.62, 0.45), (0.46, 1.0)]),
            Line(&[(0.32, 0.5), (0.86, 0.47)]),
        ],
        // With a hook at the left.
        &[Line(&[(0.12, 0.2), (0.14, 0.03), (0.86, 0.03)]), Curve(&[(0.86, 0.03), (0.7, 0.42), (0.6, 1.0)])],
    ],
    &[
        // In one movement.
        &[Curve(&[
            (0.8, 0.14), (0.5, 0.0), (0.2, 0.14), (0.28, 0.36), (0.6, 0.56), (0.84, 0.8), (0.5, 1.0),
            (0.16, 0.82), (0.38, 0.56), (0.7, 0.36), (0.8, 0.12),
        ])],
        // Of two loops.
        &[
            Curve(&[
                (0.5, 0.46), (0.24, 0.34), (0.26, 0.1), (0.52, 0.0), (0.76, 0.12), (0.76, 0.34), (0.5, 0.46),
            ]),
            Curve(&[
                (0.5, 0.46), (0.2, 0.62), (0.2, 0.88), (0.5, 1.0), (0.82, 0.88), (0.8, 0.62), (0.5, 0.46),
            ]),
        ],
    ],
    &[
        // With a straight stem.
        &[
            Curve(&[
                (0.8, 0.2), (0.56, 0.0), (0.26, 0.12), (0.2, 0.36), (0.42, 0.5), (0.68, 0.42), (0.8, 0.2),
            ]),
            Line(&[(0.81, 0.12), (0.7, 1.0)]),
        ],
        // With a tail.
        &[
            Curve(&[
                (0.8, 0.2), (0.56, 0.0), (0.24, 0.12), (0.2, 0.36), (0.44, 0.5), (0.7, 0.42), (0.8, 0.2),
            ]),
            Curve(&[(0.8, 0.16), (0.82, 0.5), (0.72, 0.86), (0.46, 1.0), (0.2, 0.92)]),
        ],
    ],
];

fn draw_one(label: u8, random: &mut SplitMix64) -> [u8; AREA] {
    let styles = STYLES[usize::from(label)];
    let style = styles[random.below(styles.len() as u64) as usize];
    let hand = Hand::new(random);
    let mut paths: Vec<Vec<Point>> = style
        .iter()
        .map(|stroke| match stroke {
            Line(points) => flatten(points, false),
            Curve(points) => flatten(points, true),
        })
        .map(|path| path.into_iter().map(|p| hand.place(p)).collect())
        .collect();
    fit(&mut paths, random);
    ink(&paths, random)
}

/// The path through `points` in short straight pieces; `smooth` for a Catmull-Rom spline (Catmull and Rom, "A class of
/// local interpolating splines", 1974).
fn flatten(points: &[Point], smooth: bool) -> Vec<Point> {
    const PIECES: usize = 5;
    let mut path = vec![points[0]];
    for i in 0..points.len() - 1 {
        let (b, c) = (points[i], points[i + 1]);
        // A straight continuation at the ends.
        let a = if i > 0 { points[i - 1] } else { (2.0 * b.0 - c.0, 2.0 * b.1 - c.1) };
        let d = points.get(i + 2).copied().unwrap_or((2.0 * c.0 - b.0, 2.0 * c.1 - b.1));
        for k in 1..=PIECES {
            let t = k as f32 / PIECES as f32;
            let at = |a: f32, b: f32, c: f32, d: f32| {
                if smooth {
                    let cubic = 3.0 * (b - c) + d - a;
                    let square = 2.0 * a - 5.0 * b + 4.0 * c - d;
                    b + 0.5 * t * (c - a + t * (square + t * cubic))
                } else {
                    b + t * (c - b)
                }
            };
            path.push((at(a.0, b.0, c.0, d.0), at(a.1, b.1, c.1, d.1)));
        }
    }
    path
}

/// How somebody writes: an affine map after a smooth warp. Points that meet in the style meet on the paper too.
struct Hand {
    /// Displacements of a grid of 4×4 control points: a free-form deformation (Sederberg and Parry, 1986).
    warp: [[Point; 4]; 4],
    /// Rows of the matrix.
    matrix: [Point; 2],
}

impl Hand {
    fn new(random: &mut SplitMix64) -> Hand {
        const WARP: f32 = 0.13;
        let warp = [(); 4].map(|()| [(); 4].map(|()| (WARP * random.bell(), WARP * random.bell())));
        let width = 0.72 + 0.18 * random.signed();
        let slant = 0.2 * random.bell() - 0.1;
        // Rotation by 2·atan(t), without a sine.
        let t = 0.07 * random.bell();
        let (cos, sin) = ((1.0 - t * t) / (1.0 + t * t), 2.0 * t / (1.0 + t * t));
        let matrix = [(cos * width, -cos * slant - sin), (sin * width, cos - sin * slant)];
        Hand { warp, matrix }
    }

    fn place(&self, (x, y): Point) -> Point {
        let (columns, rows) = (bernstein(x), bernstein(y));
        let mut moved = (x, y);
        for (points, row) in self.warp.iter().zip(rows) {
            for (point, column) in points.iter().zip(columns) {
                moved.0 += row * column * point.0;
                moved.1 += row * column * point.1;
            }
        }
        let [a, b] = self.matrix;
        (a.0 * moved.0 + a.1 * moved.1, b.0 * moved.0 + b.1 * moved.1)
    }
}

/// The weights of four control points at `t` in [0, 1].
fn bernstein(t: f32) -> [f32; 4] {
    let t = t.clamp(0.0, 1.0);
    let s = 1.0 - t;
    [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t]
}

/// Moves the paths to the middle of the image, about 19 pixels long in the longer direction.
fn fit(paths: &mut [Vec<Point>], random: &mut SplitMix64) {
    let (mut low, mut high) = ((f32::MAX, f32::MAX), (f32::MIN, f32::MIN));
    for &(x, y) in paths.iter().flatten() {
        low = (low.0.min(x), low.1.min(y));
        high = (high.0.max(x), high.1.max(y));
    }
    let scale = (19.0 + 1.2 * random.signed()) / (high.0 - low.0).max(high.1 - low.1);
    let middle = SIDE as f32 / 2.0;
    let to = (middle + 0.7 * random.bell(), middle + 0.7 * random.bell());
    let from = ((low.0 + high.0) / 2.0, (low.1 + high.1) / 2.0);
    for p in paths.iter_mut().flatten() {
        *p = (to.0 + scale * (p.0 - from.0), to.1 + scale * (p.1 - from.1));
    }
}

/// Draws the paths, in units of pixels.
fn ink(paths: &[Vec<Point>], random: &mut SplitMix64) -> [u8; AREA] {
    let radius = 1.15 + 0.4 * random.bell().max(-1.3);
    // Over how many pixels the edge goes from ink to paper.
    let soft = 1.3 + 0.6 * random.unit();
    let peak = 225.0 + 45.0 * random.unit();
    let grain = 0.07 * random.unit();
    let mut coverage = [0.0f32; AREA];
    for path in paths {
        let (begin, end) = (1.0 + 0.15 * random.signed(), 1.0 + 0.25 * random.signed());
        for (i, pair) in path.windows(2).enumerate() {
            let along = i as f32 / (path.len() - 1) as f32;
            segment(&mut coverage, pair[0], pair[1], radius * (begin + along * (end - begin)), soft);
        }
    }
    coverage.map(|c| {
        if c == 0.0 {
            return 0;
        }
        (peak * c * (1.0 + grain * random.bell()) + 0.5).clamp(0.0, 255.0) as u8
    })
}

/// Draws the straight line from `a` to `b`.
fn segment(coverage: &mut [f32; AREA], a: Point, b: Point, radius: f32, soft: f32) {
    let reach = radius + soft / 2.0;
    let range = |a: f32, b: f32| {
        let limit = SIDE as f32;
        let (low, high) = (a.min(b) - reach - 0.5, a.max(b) + reach + 0.5);
        low.clamp(0.0, limit) as usize..high.clamp(0.0, limit) as usize
    };
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let square = (dx * dx + dy * dy).max(f32::MIN_POSITIVE);
    for row in range(a.1, b.1) {
        for column in range(a.0, b.0) {
            let (px, py) = (column as f32 + 0.5 - a.0, row as f32 + 0.5 - a.1);
            let t = ((px * dx + py * dy) / square).clamp(0.0, 1.0);
            let (ex, ey) = (px - t * dx, py - t * dy);
            let c = (0.5 + (radius - (ex * ex + ey * ey).sqrt()) / soft).clamp(0.0, 1.0);
            let pixel = &mut coverage[row * SIDE + column];
            *pixel = pixel.max(c);
        }
    }
}
