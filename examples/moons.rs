//! micrograd's demonstration: a perceptron of scalar values learns to tell two interleaved half moons apart.
//!
//! ```text
//! cargo run --release --example moons [seed] [picture.png]
//! ```
//!
//! Prints loss and accuracy as they come and writes the decision boundary as a picture.

use std::error::Error;
use std::f64::consts::{PI, TAU};
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write, stdout};
use std::time::{Duration, Instant};

use mg_autograd::scalar::{Span, Value};
use mg_nn::scalar::MLP;

const POINTS: usize = 100;
const NOISE: f64 = 0.1;
const STEPS: usize = 100;
/// What the pictures show: x from −1.7 to 2.7, y from −1.3 to 1.8.
const VIEW: [f64; 4] = [-1.7, 2.7, -1.3, 1.8];

/// A point of the plane and its class, −1 or 1.
struct Sample {
    at: [f64; 2],
    class: f64,
    inputs: Span,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let seed: u64 = args.next().map_or(Ok(1337), |s| s.parse())?;
    let picture = args.next().unwrap_or_else(|| "moons.png".into());
    let colour = stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();

    let data = moons(POINTS, NOISE, seed);
    let model = MLP::new(2, &[16, 16, 1], seed);
    println!(
        "\n  two moons · {POINTS} points · MLP(2, [16, 16, 1]) · {} parameters\n",
        model.parameters().len()
    );
    println!("  step      loss   accuracy                            time");

    let mut total = Duration::ZERO;
    for k in 0..STEPS {
        let start = Instant::now();
        let (loss, accuracy) = evaluate(&model, &data)?;
        model.zero_grad();
        loss.backward();
        let rate = 1.0 - 0.9 * k as f64 / STEPS as f64;
        for p in model.parameters() {
            p.set_data(p.data() - rate * p.grad());
        }
        let loss = loss.data();
        let time = start.elapsed();
        total += time;
        if k % 5 == 0 || k + 1 == STEPS {
            let bar = paint(&bar(accuracy, 20), if accuracy == 1.0 { "32" } else { "36" }, colour);
            let (percent, ms) = (accuracy * 100.0, time.as_secs_f64() * 1e3);
            println!("  {k:4}  {loss:8.4}   {percent:5.1} %  {bar}  {ms:7.3} ms");
        }
    }
    let (loss, accuracy) = evaluate(&model, &data)?;
    println!("\n  after {STEPS} steps: loss {:.4}, accuracy {:.0} %", loss.data(), accuracy * 100.0);
    let mean = total.as_secs_f64() * 1e3 / STEPS as f64;
    println!("  {mean:.3} ms a step: forward, loss, backward, update\n");

    print_plane(&model, &data, colour)?;
    write_picture(&model, &data, &picture)?;
    println!("\n  the decision boundary is in {picture}\n");
    Ok(())
}

/// The loss, and the share of points on the right side: a maximum margin, max(0, 1 − class · score), on average, and a
/// little of the parameters' squares to keep them small.
fn evaluate(model: &MLP, data: &[Sample]) -> mg_device::Result<(Value, f64)> {
    let mut right = 0;
    let mut losses = Vec::with_capacity(data.len());
    for sample in data {
        let score = model.forward(&sample.inputs)?.swap_remove(0);
        right += usize::from((score > 0.0) == (sample.class > 0.0));
        losses.push((1.0 - score * sample.class).relu());
    }
    let margin = losses.into_iter().sum::<Value>() / data.len() as f64;
    let squares: Value = model.parameters().iter().map(|p| p * p).sum();
    Ok((margin + squares * 1e-4, right as f64 / data.len() as f64))
}

/// Two half circles with normal noise, as scikit-learn's `make_moons` has them.
fn moons(n: usize, noise: f64, seed: u64) -> Vec<Sample> {
    let mut state = seed;
    let mut uniform = move || {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let half = n / 2;
    let sample = |i: usize| {
        let angle = PI * (i % half) as f64 / (half - 1) as f64;
        let (x, y, class) = if i < half {
            (angle.cos(), angle.sin(), -1.0)
        } else {
            (1.0 - angle.cos(), 0.5 - angle.sin(), 1.0)
        };
        // Box and Muller: two normal numbers from two uniform ones.
        let (radius, turn) = (noise * (-2.0 * (1.0 - uniform()).ln()).sqrt(), TAU * uniform());
        let at = [x + radius * turn.cos(), y + radius * turn.sin()];
        Sample { at, class, inputs: at.into() }
    };
    (0..n).map(sample).collect()
}

/// The model's scores on a grid over the view, row by row from the top; places are the centres of the cells.
fn scores(model: &MLP, columns: usize, rows: usize) -> mg_device::Result<Vec<f64>> {
    let [left, right, bottom, top] = VIEW;
    let mut scores = Vec::with_capacity(columns * rows);
    for r in 0..rows {
        let y = top - (top - bottom) * (r as f64 + 0.5) / rows as f64;
        for c in 0..columns {
            let x = left + (right - left) * (c as f64 + 0.5) / columns as f64;
            scores.push(model.forward([x, y])?[0].data());
        }
    }
    Ok(scores)
}

/// Where a point lies in a picture of this size.
fn project(at: [f64; 2], width: f64, height: f64) -> (f64, f64) {
    let [left, right, bottom, top] = VIEW;
    ((at[0] - left) / (right - left) * width, (top - at[1]) / (top - bottom) * height)
}

fn print_plane(model: &MLP, data: &[Sample], colour: bool) -> Result<(), Box<dyn Error>> {
    let (columns, rows) = (72, 25);
    let scores = scores(model, columns, rows)?;
    let mut marks = vec![' '; scores.len()];
    for sample in data {
        let (x, y) = project(sample.at, columns as f64, rows as f64);
        let (c, r) = (x.max(0.0) as usize, y.max(0.0) as usize);
        if c < columns && r < rows {
            marks[r * columns + c] = if sample.class > 0.0 { '●' } else { '○' };
        }
    }
    let mut out = stdout().lock();
    for (scores, marks) in scores.chunks(columns).zip(marks.chunks(columns)) {
        let line: String = scores
            .iter()
            .zip(marks)
            .map(|(&score, &mark)| {
                if colour {
                    paint(&mark.to_string(), if score > 0.0 { "97;48;5;130" } else { "97;48;5;25" }, true)
                } else if mark == ' ' && score > 0.0 {
                    "·".into()
                } else {
                    mark.to_string()
                }
            })
            .collect();
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

fn write_picture(model: &MLP, data: &[Sample], path: &str) -> Result<(), Box<dyn Error>> {
    const WIDTH: usize = 880;
    const HEIGHT: usize = 620;
    const CELL: usize = 4;
    let (columns, rows) = (WIDTH / CELL, HEIGHT / CELL);
    let coarse = scores(model, columns, rows)?;
    // Between the centres of the coarse grid's cells the score is interpolated.
    let score = |x: usize, y: usize| {
        let along = |at: usize, n: usize| {
            let at = ((at as f64 + 0.5) / CELL as f64 - 0.5).clamp(0.0, (n - 1) as f64);
            let cell = (at as usize).min(n - 2);
            (cell, at - cell as f64)
        };
        let ((c, u), (r, v)) = (along(x, columns), along(y, rows));
        let at = |r: usize, c: usize| coarse[r * columns + c];
        let (upper, lower) =
            (at(r, c) * (1.0 - u) + at(r, c + 1) * u, at(r + 1, c) * (1.0 - u) + at(r + 1, c + 1) * u);
        upper * (1.0 - v) + lower * v
    };
    const BLUE: [f64; 3] = [58.0, 110.0, 165.0];
    const ORANGE: [f64; 3] = [226.0, 132.0, 56.0];
    const WHITE: [f64; 3] = [255.0; 3];
    const DARK: [f64; 3] = [40.0, 42.0, 48.0];

    let mut image = vec![WHITE; WIDTH * HEIGHT];
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let s = score(x, y);
            // How sure the model is, in five steps of colour; a dark line where it is not sure at all.
            let sure = (s.abs().min(2.0) * 2.5).ceil() / 5.0;
            let tint = mix(WHITE, if s > 0.0 { ORANGE } else { BLUE }, 0.12 + 0.5 * sure);
            let slope = (score((x + 1).min(WIDTH - 1), y) - s).hypot(score(x, (y + 1).min(HEIGHT - 1)) - s);
            let line = (1.6 - s.abs() / slope.max(1e-9)).clamp(0.0, 1.0);
            image[y * WIDTH + x] = mix(tint, DARK, line);
        }
    }
    for sample in data {
        let (px, py) = project(sample.at, WIDTH as f64, HEIGHT as f64);
        let fill = if sample.class > 0.0 { ORANGE } else { BLUE };
        for y in (py - 9.0).max(0.0) as usize..((py + 9.0).max(0.0) as usize).min(HEIGHT) {
            for x in (px - 9.0).max(0.0) as usize..((px + 9.0).max(0.0) as usize).min(WIDTH) {
                let distance = (x as f64 + 0.5 - px).hypot(y as f64 + 0.5 - py);
                let pixel = &mut image[y * WIDTH + x];
                *pixel = mix(*pixel, WHITE, (8.0 - distance).clamp(0.0, 1.0));
                *pixel = mix(*pixel, mix(fill, DARK, 0.25), (6.2 - distance).clamp(0.0, 1.0));
            }
        }
    }
    let bytes: Vec<u8> = image.iter().flatten().map(|&c| c.round() as u8).collect();
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), WIDTH as u32, HEIGHT as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header()?.write_image_data(&bytes)?;
    Ok(())
}

fn mix(a: [f64; 3], b: [f64; 3], share: f64) -> [f64; 3] {
    std::array::from_fn(|i| a[i] + (b[i] - a[i]) * share)
}

fn bar(share: f64, width: usize) -> String {
    let full = (share * width as f64).round() as usize;
    "█".repeat(full) + &"░".repeat(width - full)
}

fn paint(text: &str, code: &str, colour: bool) -> String {
    if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into() }
}
