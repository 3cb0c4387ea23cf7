//! How much labels surprise under the softmax of the scores that a linear map makes of rows, and what flows back to the map: a cross entropy whose scores are
//! never all in memory.
//!
//! Scores are made for some rows at a time, in one place (see [`SCORES`]), and become what flows back to them there; so the gradients cost three
//! products, as those of scores that are kept (Hsu and others, "Liger kernel", 2024). That takes knowing what flows back to each row's surprise, which is an
//! operand of [`SurpriseKind::Slopes`].

mod cpu;
mod cuda;
#[cfg(test)]
mod tests;

use super::{Described, Kernel, Operand, Shaped, Structure, Target};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use mg_device::{DType, Error, ErrorKind, Result, Shape};

/// Bytes of scores that are in memory at a time, but for what one row has; and where the weight has more, so many as it has, up to the second number: each block
/// reads and writes all of the weight's gradient, which is the larger part of its time where it has few rows.
pub const SCORES: [usize; 2] = [256 << 20, 512 << 20];

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SurpriseKind {
    /// Of rows `[n, in]`, a weight `[words, in]`, labels `[n]` (i64) and, where there are such, a bias `[words]` and shares `[words]`: the
    /// surprise of each row's label, `log Σ eᶻ − z` of that label's score; with a spread, in a second line, the sum of the surprises of all words. In f32, of f64
    /// in f64: `[1, n]` or `[2, n]`.
    Forward,
    /// Of these operands and what flows back to that: in one line of the rows' dtype the gradients of the weight, of the rows and of the bias, and the
    /// bits of what [`SurpriseKind::Forward`] answers with.
    Slopes,
    /// That answer out of such a line, of the line and the operands that it was made of.
    Answer,
    /// A number that is linear in that answer, with what flowed back to the line for factors: of the number, the line and the operands that it was made of. It has the
    /// line's gradients.
    Total,
}

/// How the surprises of all words are added up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Spread {
    /// Not at all.
    Nothing,
    /// As they are.
    Evenly,
    /// Each times its word's share, which is an operand of the dtype of sums.
    ByShares,
}

/// Surprises of labels, or what flows back to what they were computed of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Surprise {
    /// What is computed.
    pub kind: SurpriseKind,
    /// Whether there is a bias.
    pub biased: bool,
    /// Of all words.
    pub spread: Spread,
}

/// The dtype that sums are in.
pub fn dtype_of_sums(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// All sizes.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Sizes {
    dtype: DType,
    rows: usize,
    width: usize,
    words: usize,
    /// Lines of the answer.
    lines: usize,
    biased: bool,
}

impl Sizes {
    /// Where in a line of gradients, in elements, those of the rows, of the bias, and the answer begin, and how long it is.
    fn places(&self) -> [usize; 4] {
        let rows = self.words * self.width;
        let bias = rows + self.rows * self.width;
        let end = bias + if self.biased { self.words } else { 0 };
        let size = self.dtype.size();
        let answer = end.next_multiple_of(16 / size);
        [rows, bias, answer, answer + self.lines * self.rows * (dtype_of_sums(self.dtype).size() / size)]
    }

    /// Bytes of scores that may be in memory at a time.
    fn room(&self) -> usize {
        let [least, most] = SCORES;
        self.words.saturating_mul(self.width).saturating_mul(self.dtype.size()).clamp(least, most)
    }

    /// Rows of which scores are made at a time, where a row has so many bytes and all of a block at most so many: as many in each block, and of many
    /// a multiple of `many`.
    fn block(&self, bytes: usize, many: usize, room: usize) -> usize {
        let most = (room / bytes.max(1)).max(1);
        let most = if most > many { most / many * many } else { most };
        let even = self.rows.div_ceil(self.rows.div_ceil(most).max(1)).max(1);
        if even > many { even.next_multiple_of(many).min(most) } else { even }
    }
}

/// Which operand of [`SurpriseKind::Forward`] is what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Order {
    bias: Option<usize>,
    shares: Option<usize>,
    /// How many there are.
    count: usize,
}

impl Surprise {
    fn fail<T>(&self, kind: ErrorKind) -> Result<T> {
        Err(Error::new(self.name(), kind))
    }

    fn order(&self) -> Order {
        let bias = self.biased.then_some(3);
        let count = 3 + usize::from(self.biased);
        match self.spread {
            Spread::Nothing | Spread::Evenly => Order { bias, shares: None, count },
            Spread::ByShares => Order { bias, shares: Some(count), count: count + 1 },
        }
    }

    /// Lines of the answer.
    fn lines(&self) -> usize {
        match self.spread {
            Spread::Nothing => 1,
            Spread::Evenly | Spread::ByShares => 2,
        }
    }

    /// How many operands come before those of [`SurpriseKind::Forward`].
    fn first(&self) -> usize {
        match self.kind {
            SurpriseKind::Forward | SurpriseKind::Slopes => 0,
            SurpriseKind::Answer => 1,
            SurpriseKind::Total => 2,
        }
    }

    fn sizes(&self, operands: &[Shaped]) -> Result<Sizes> {
        let misfit = || {
            let text = format!("takes rows [n, in], a weight [words, in] and labels [n], got {operands:?}");
            self.fail(ErrorKind::Shape(text))
        };
        let (order, first) = (self.order(), self.first());
        let flows = usize::from(self.kind == SurpriseKind::Slopes);
        if operands.len() != first + order.count + flows {
            return misfit();
        }
        let (before, own) = operands.split_at(first);
        let (x, w, labels) = (&own[0], &own[1], &own[2]);
        let (&[rows, width], &[words, inner]) = (x.shape.dims(), w.shape.dims()) else { return misfit() };
        let of_words = [order.bias, order.shares];
        let fits = inner == width
            && words > 0
            && labels.shape[..] == [rows]
            && of_words.iter().flatten().all(|&i| own[i].shape[..] == [words])
            && own[order.count..].iter().all(|f| f.shape[..] == [self.lines(), rows]);
        if !fits {
            return misfit();
        }
        let sums = dtype_of_sums(x.dtype);
        let sizes = Sizes { dtype: x.dtype, rows, width, words, lines: self.lines(), biased: self.biased };
        let [.., line] = sizes.places();
        let of_line = match self.kind {
            SurpriseKind::Forward | SurpriseKind::Slopes => None,
            SurpriseKind::Answer => before.first(),
            SurpriseKind::Total => before.last(),
        };
        if of_line.is_some_and(|of| of.shape[..] != [line] || of.dtype != x.dtype) {
            return misfit();
        }
        let is_total = self.kind == SurpriseKind::Total;
        let dtypes = x.dtype.is_float()
            && w.dtype == x.dtype
            && labels.dtype == DType::I64
            && order.bias.is_none_or(|i| own[i].dtype == x.dtype)
            && order.shares.is_none_or(|i| own[i].dtype == sums)
            && own[order.count..].iter().all(|f| f.dtype == sums)
            && (!is_total || before[0].dtype.is_float() && before[0].shape.rank() == 0);
        if !dtypes {
            let text = format!("takes floats of one dtype and labels of i64, got {operands:?}");
            return self.fail(ErrorKind::DType(text));
        }
        Ok(sizes)
    }

    /// The gradient of an operand of [`SurpriseKind::Forward`] out of a line of gradients; `None` of those that have none.
    ///
    /// # Errors
    ///
    /// Operands that the kernel does not take.
    pub fn part<T: Structure>(&self, operands: &[Shaped], line: &T, i: usize) -> Result<Option<T>> {
        let s = Surprise { kind: SurpriseKind::Forward, ..*self }.sizes(operands)?;
        let [rows, bias, ..] = s.places();
        let (at, shape) = match i {
            0 => (rows, Shape::of(&[s.rows, s.width])),
            1 => (0, Shape::of(&[s.words, s.width])),
            i if self.order().bias == Some(i) => (bias, Shape::of(&[s.words])),
            _ => return Ok(None),
        };
        line.part(0, at, shape.numel())?.reshaped(shape).map(Some)
    }

    /// Of the operands of a kernel of this kind, those that one of [`SurpriseKind::Forward`] has.
    pub fn computed<'a, T>(&self, operands: &'a [T]) -> &'a [T] {
        &operands[self.first()..self.first() + self.order().count]
    }
}

impl Kernel for Surprise {
    fn name(&self) -> &'static str {
        match self.kind {
            SurpriseKind::Forward => "surprise",
            SurpriseKind::Slopes => "surprise_slopes",
            SurpriseKind::Answer => "surprise_answer",
            SurpriseKind::Total => "surprise_total",
        }
    }

    fn called(&self) -> &'static str {
        "linear_cross_entropy"
    }

    fn words(&self) -> [u64; 2] {
        [self.kind as u64, u64::from(self.biased) | (self.spread as u64) << 1]
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let s = self.sizes(operands)?;
        let sums = dtype_of_sums(s.dtype);
        Ok(match self.kind {
            SurpriseKind::Forward | SurpriseKind::Answer => {
                Shaped { shape: Shape::new(&[s.lines, s.rows])?, dtype: sums }
            }
            SurpriseKind::Slopes => Shaped { shape: Shape::new(&[s.places()[3]])?, dtype: s.dtype },
            SurpriseKind::Total => operands[0],
        })
    }

    fn computed_from(&self) -> usize {
        match self.kind {
            SurpriseKind::Forward | SurpriseKind::Slopes => usize::MAX,
            SurpriseKind::Answer | SurpriseKind::Total => 1,
        }
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, operands: &[Shaped]) -> Option<u64> {
        let s = self.sizes(operands).ok()?;
        let product = 2 * (s.rows * s.width * s.words) as u64;
        match self.kind {
            SurpriseKind::Forward => Some(product),
            SurpriseKind::Slopes => Some(3 * product),
            SurpriseKind::Answer | SurpriseKind::Total => None,
        }
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], _: &T, g: &T) -> Result<Option<T>> {
        let shaped = |x: &[T]| -> smallvec::SmallVec<[Shaped; 6]> {
            x.iter().map(|x| Shaped { shape: x.sizes(), dtype: x.dtype() }).collect()
        };
        match self.kind {
            // One node for all: the graph knows it again.
            SurpriseKind::Forward => {
                let operands: smallvec::SmallVec<[&T; 6]> = x.iter().chain([g]).collect();
                let line = T::kernel(Surprise { kind: SurpriseKind::Slopes, ..*self }.into(), &operands)?;
                self.part(&shaped(x), &line, i)
            }
            // Both are of unlike dtypes: see `differentiable_surprise` of `mg-autograd`.
            SurpriseKind::Slopes | SurpriseKind::Total => {
                self.fail(ErrorKind::Gradient("has its rule where numbers are converted".into()))
            }
            // What was known before.
            SurpriseKind::Answer => Ok(None),
        }
    }

    unsafe fn cpu(&self, operands: &[Operand], out: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        let shaped: smallvec::SmallVec<[Shaped; 8]> = operands.iter().map(Operand::shaped).collect();
        // What the node was made of had these sizes.
        if let Ok(sizes) = self.sizes(&shaped) {
            // SAFETY: this function's contract.
            unsafe { cpu::surprise(self, &sizes, operands, out) };
        }
        Ok(())
    }

    fn cuda(&self, operands: &[Described], _: &Shaped, target: Target) -> Result<KernelPlan> {
        let shaped: smallvec::SmallVec<[Shaped; 8]> = operands.iter().map(Described::shaped).collect();
        cuda::plan(self, &self.sizes(&shaped)?, operands, target)
    }
}
