//! A line search for the strong Wolfe conditions: Nocedal and Wright, "Numerical optimization", algorithms 3.5 and 3.6, with
//! Schmidt's interpolation and safeguards in minFunc, in PyTorch's form.

use mg_autograd::Tensor;
use mg_device::Result;

/// A place on the line.
#[derive(Clone)]
pub(super) struct Point {
    /// How far along the direction.
    pub at: f64,
    pub loss: f64,
    /// The derivative along the direction.
    pub slope: f64,
    pub grad: Tensor,
}

/// How much less the loss is to be, and how much flatter.
const C1: f64 = 1e-4;
const C2: f64 = 0.9;

/// An interval below which nothing is looked for.
const TOLERANCE: f64 = 1e-9;

/// The lowest point of the cubic through two points with their slopes, within bounds.
fn lowest(a: &Point, b: &Point, bounds: Option<(f64, f64)>) -> f64 {
    let (from, to) = bounds.unwrap_or(if a.at <= b.at { (a.at, b.at) } else { (b.at, a.at) });
    let d1 = a.slope + b.slope - 3.0 * (a.loss - b.loss) / (a.at - b.at);
    let square = d1 * d1 - a.slope * b.slope;
    if square < 0.0 || square.is_nan() {
        return (from + to) / 2.0;
    }
    let d2 = square.sqrt();
    let (a, b) = if a.at <= b.at { (a, b) } else { (b, a) };
    let at = b.at - (b.at - a.at) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2.0 * d2));
    at.max(from).min(to)
}

/// A point on the line that begins at `start` where the conditions hold, or the best that `most` looks found, and how often
/// it looked. `largest` is the direction's largest element.
pub(super) fn strong_wolfe(
    look: &mut dyn FnMut(f64) -> Result<Point>,
    start: Point,
    first: f64,
    largest: f64,
    most: u64,
) -> Result<(Point, u64)> {
    let is_high = |point: &Point| point.loss > start.loss + C1 * point.at * start.slope;
    let is_flat = |point: &Point| point.slope.abs() <= -C2 * start.slope;
    let mut last = start.clone();
    let mut now = look(first)?;
    let (mut looks, mut i) = (1, 0);
    let mut bracket = None;
    while i < most {
        if is_high(&now) || (i > 1 && now.loss >= last.loss) || (!is_flat(&now) && now.slope >= 0.0) {
            bracket = Some([last.clone(), now.clone()]);
            break;
        }
        if is_flat(&now) {
            return Ok((now, looks));
        }
        let bounds = (now.at + 0.01 * (now.at - last.at), now.at * 10.0);
        let at = lowest(&last, &now, Some(bounds));
        last = std::mem::replace(&mut now, look(at)?);
        looks += 1;
        i += 1;
    }
    let mut bracket = bracket.unwrap_or_else(|| [start.clone(), now.clone()]);
    // The lower and the higher end.
    let ends = |bracket: &[Point; 2]| if bracket[0].loss <= bracket[1].loss { (0, 1) } else { (1, 0) };
    let (mut low, mut high) = ends(&bracket);
    let mut was_near = false;
    while i < most {
        if (bracket[1].at - bracket[0].at).abs() * largest < TOLERANCE {
            break;
        }
        let mut at = lowest(&bracket[0], &bracket[1], None);
        let (from, to) = (bracket[0].at.min(bracket[1].at), bracket[0].at.max(bracket[1].at));
        // Twice in a row at an end, or outside, is no progress: then a tenth away from it.
        let margin = 0.1 * (to - from);
        let is_near = (to - at).min(at - from) < margin;
        let moves = is_near && (was_near || at >= to || at <= from);
        if moves {
            at = if (at - to).abs() < (at - from).abs() { to - margin } else { from + margin };
        }
        was_near = is_near && !moves;
        now = look(at)?;
        looks += 1;
        i += 1;
        if is_high(&now) || now.loss >= bracket[low].loss {
            bracket[high] = now;
            (low, high) = ends(&bracket);
        } else {
            let is_done = is_flat(&now);
            if !is_done && now.slope * (bracket[high].at - bracket[low].at) >= 0.0 {
                bracket[high] = bracket[low].clone();
            }
            bracket[low] = now;
            if is_done {
                break;
            }
        }
    }
    let [a, b] = bracket;
    Ok((if low == 0 { a } else { b }, looks))
}
