//! Attention: means of values, weighed by the softmax of products of queries and keys, and its gradient. The weights are never in memory as a whole: softmax is
//! computed by blocks of keys, each correcting what came before (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et
//! al., "FlashAttention", 2022), and the gradient computes them again from the logarithm of their sum.

mod cpu;
mod cuda;
mod hopper;
mod span;
#[cfg(test)]
mod tests;

use super::{Described, Kernel, Operand, Shaped, Structure, Target, Thin, led, of_all, of_one};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use mg_device::{DType, Error, ErrorKind, Layout, Result, Shape};

pub use span::Span;

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum AttentionKind {
    /// Of queries `[b, h, l, e]`, keys `[b, k, s, e]`, values `[b, k, s, v]` and, where there is one, a mask: the means and after them
    /// the logarithms of the sums `[b, h, l]`, in one line; see [`Attention::means`].
    Forward,
    /// Of these operands, that result and the gradient of its means `[b, h, l, v]`: the gradients of queries, keys and values, in one line, the heads of
    /// each position side by side. Where there are as many keys as queries, each position has the heads of all three.
    Backward,
}

/// Attention with heads that may share keys and values (`k` divides `h`). A mask has four axes that broadcast to `[b, h, l, s]` (the last one is whole): of truth values, it
/// says what takes part; of f32 (f64 beside f64), what is added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Attention {
    /// What is computed.
    pub kind: AttentionKind,
    /// Which keys a query takes by its position.
    pub span: Span,
    /// Whether there is a mask.
    pub masked: bool,
    /// How many of [`Thin::ALL`](super::Thin::ALL) numbers stand for a weight that is left out, the others being multiplied by
    /// [`Thin::times`](super::Thin::times); which they are, [`Thin`] says. Behind the mask is then an operand, `[b, h, 2]`, the words of heads.
    pub left_out: u32,
    /// Whether ranges say which keys a query takes, in place of a span: behind all of these are then two operands of i32, `[l, 2]` and `[s, 2]`, the first key of
    /// each query and one after its last, and the same of queries for each key. Neither number of a row is less than that of the row before, and all
    /// are positions there are (or one after the last). These two numbers are how many keys a query takes at most, and how many queries a key: by them tiles are chosen.
    pub ranges: Option<[u32; 2]>,
    /// The bits of the f64 that products are multiplied by.
    pub scale: u64,
}

/// All sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sizes {
    batch: usize,
    heads: usize,
    /// Heads of keys and values.
    shared: usize,
    queries: usize,
    keys: usize,
    /// Elements of a query.
    width: usize,
    /// Elements of a value.
    depth: usize,
    /// Steps of the mask along batch, heads, queries, in elements; keys lie side by side.
    mask: [usize; 3],
}

impl Sizes {
    /// Rows of all heads.
    fn rows(&self) -> usize {
        self.batch * self.heads * self.queries
    }

    /// Elements of queries, keys and values.
    fn elements(&self) -> [usize; 3] {
        let each = self.batch * self.shared * self.keys;
        [self.rows() * self.width, each * self.width, each * self.depth]
    }

    /// Where the means lie in the line of the result: all heads of a query side by side, as the rows of a product of them.
    fn means(&self) -> Heads {
        let Sizes { heads, queries, depth, .. } = *self;
        Heads { count: heads, rows: queries, size: depth, begin: 0, row: heads * depth, first: 0 }
    }

    /// Where the gradients of queries, keys and values lie in the line of the gradients.
    fn gradients(&self) -> [Heads; 3] {
        let Sizes { heads, shared, queries, keys, width, depth, .. } = *self;
        let joined = queries == keys;
        let [q, k, v] = [heads * width, shared * width, shared * depth];
        let (first, begin) = if joined { (q, 0) } else { (0, self.elements()[0]) };
        let row = if joined { q + k + v } else { k + v };
        let own = if joined { row } else { q };
        [
            Heads { count: heads, rows: queries, size: width, begin: 0, row: own, first: 0 },
            Heads { count: shared, rows: keys, size: width, begin, row, first },
            Heads { count: shared, rows: keys, size: depth, begin, row, first: first + k },
        ]
    }
}

/// Where heads lie in a line, `[batch, rows, row]`: of each row, one after the other from `first` on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Heads {
    count: usize,
    rows: usize,
    /// Elements of a head.
    size: usize,
    /// Where the rows of the first of the batch begin.
    begin: usize,
    /// From one row to the next.
    row: usize,
    first: usize,
}

impl Heads {
    /// Where the first element is.
    fn offset(&self) -> usize {
        self.begin + self.first
    }

    /// From one of the batch, head, row to the next.
    fn steps(&self) -> [usize; 3] {
        [self.rows * self.row, self.size, self.row]
    }

    /// Them as an operand, `[batch, heads, rows, size]`. None where no shape is that large.
    fn layout(&self, batch: usize) -> Option<Layout> {
        let [b, h, r] = self.steps().map(|step| step as isize);
        let shape = Shape::new(&[batch, self.count, self.rows, self.size]).ok()?;
        Layout::new(shape, &[b, h, r, 1], self.offset()).ok()
    }

    /// The heads in a line, `[batch, heads, rows, size]`.
    fn of<T: Structure>(&self, line: &T, batch: usize) -> Result<T> {
        let Heads { count, rows, size, begin, row, first } = *self;
        let all = line.part(0, begin, batch * rows * row)?.reshaped(Shape::new(&[batch, rows, row])?)?;
        let own = all.part(2, first, count * size)?.reshaped(Shape::new(&[batch, rows, count, size])?)?;
        own.permuted(&[0, 2, 1, 3])
    }
}

/// A line for each example, of one in which parts of so many elements for each lie one after the other, each part of all examples together.
fn in_turn<T: Structure>(line: &T, parts: &[usize], size: usize) -> Result<T> {
    let mut at = 0;
    let each = parts.iter().map(|&n| {
        let part = line.part(0, at, n * size)?;
        at += n * size;
        part.reshaped(Shape::new(&[size, n])?)
    });
    beside(&each.collect::<Result<Vec<T>>>()?, 1)
}

/// Parts one after the other, where they have elements.
fn beside<T: Structure>(parts: &[T], axis: usize) -> Result<T> {
    match &parts.iter().filter(|part| part.sizes().numel() > 0).collect::<Vec<_>>()[..] {
        [] => Ok(parts[0].clone()),
        [one] => Ok((*one).clone()),
        some => T::joined(some, axis),
    }
}

/// The dtype that is computed in.
fn wide(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

impl Attention {
    /// Where the words of heads are among the operands, where weights are left out.
    fn words_at(&self) -> Option<usize> {
        (self.left_out > 0).then(|| 3 + usize::from(self.masked))
    }

    /// Where the ranges of queries are among the operands, and those of keys behind them.
    pub fn ranges_at(&self) -> Option<usize> {
        self.ranges.map(|_| self.operands() - 2)
    }

    /// How many operands the means are computed of; gradients have more behind them.
    fn operands(&self) -> usize {
        let beside = [self.masked, self.left_out > 0].map(usize::from);
        3 + beside.iter().sum::<usize>() + 2 * usize::from(self.ranges.is_some())
    }

    /// Whether the kernel that leaves weights out is the way to do so on a CUDA device: elsewhere products are faster.
    ///
    /// # Errors
    ///
    /// Operands that the kernel does not take.
    pub fn thins(&self, operands: &[Shaped], capability: u32) -> Result<bool> {
        let sizes = self.sizes(operands)?;
        Ok(hopper::thins(self, &sizes, operands[0].dtype, capability))
    }

    /// The elements of the means, and of the line after which the logarithms begin; and of the whole line.
    fn line(&self, s: &Sizes, dtype: DType) -> [usize; 3] {
        let times = wide(dtype).size() / dtype.size();
        let means = s.rows() * s.depth;
        let begin = means.next_multiple_of(times);
        [means, begin, begin + s.rows() * times]
    }

    /// The line of all examples, of a line for each.
    fn line_of_all<T: Structure>(&self, s: &Sizes, all: &Sizes, dtype: DType, lines: &T) -> Result<T> {
        let [means, begin, whole] = self.line(s, dtype);
        let [of_all, after, _] = self.line(all, dtype);
        let size = lines.sizes()[0];
        let flat = |start: usize, end: usize| {
            lines.part(1, start, end - start)?.reshaped(Shape::new(&[size * (end - start)])?)
        };
        let gap = lines.filled(0.0, Shape::new(&[after - of_all])?)?;
        beside(&[flat(0, means)?, gap, flat(begin, whole)?], 0)
    }

    /// The other way.
    fn lines_of_each<T: Structure>(
        &self,
        s: &Sizes,
        all: &Sizes,
        dtype: DType,
        line: &T,
        size: usize,
    ) -> Result<T> {
        let [means, begin, whole] = self.line(s, dtype);
        let [of_all, after, end] = self.line(all, dtype);
        let rows = |start: usize, end: usize, each: usize| {
            line.part(0, start, end - start)?.reshaped(Shape::new(&[size, each])?)
        };
        let gap = line.filled(0.0, Shape::new(&[size, begin - means])?)?;
        beside(&[rows(0, of_all, means)?, gap, rows(after, end, whole - begin)?], 1)
    }

    fn sizes(&self, operands: &[Shaped]) -> Result<Sizes> {
        let fail = |text: String| Err(Error::new("attention", ErrorKind::Shape(text)));
        let [q, k, v, rest @ ..] = operands else {
            return fail(format!("takes queries, keys and values, got {} operands", operands.len()));
        };
        let dtype = q.dtype;
        if !dtype.is_float() || k.dtype != dtype || v.dtype != dtype {
            let text = format!("takes floats of one dtype, got {dtype}, {} and {}", k.dtype, v.dtype);
            return Err(Error::new("attention", ErrorKind::DType(text)));
        }
        let (&[batch, heads, queries, width], &[bk, shared, keys, wk], &[bv, hv, kv, depth]) =
            (q.shape.dims(), k.shape.dims(), v.shape.dims())
        else {
            return fail(format!("takes four axes, got {}, {} and {}", q.shape, k.shape, v.shape));
        };
        let grouped = shared == heads || shared > 0 && heads % shared == 0;
        if [bk, bv] != [batch; 2] || wk != width || hv != shared || kv != keys || !grouped {
            return fail(format!("shapes {}, {} and {} do not fit", q.shape, k.shape, v.shape));
        }
        let mut sizes = Sizes { batch, heads, shared, queries, keys, width, depth, mask: [0; 3] };
        if self.left_out > Thin::ALL {
            return fail(format!("leaves out {} of {} weights", self.left_out, Thin::ALL));
        }
        let mut rest = rest;
        if self.masked {
            let [mask, after @ ..] = rest else { return fail("takes a mask".into()) };
            rest = after;
            let all = [batch, heads, queries];
            let &[b, h, l, s] = mask.shape.dims() else {
                return fail(format!("takes a mask of four axes, got {}", mask.shape));
            };
            let fits = [b, h, l].iter().zip(all).all(|(&n, of)| n == 1 || n == of) && s == keys;
            if !fits || mask.dtype != DType::Bool && mask.dtype != wide(dtype) {
                let text = format!("a mask of {} {} does not fit", mask.dtype, mask.shape);
                return fail(format!("{text} queries of {} and {keys} keys", q.shape));
            }
            let step = |n: usize, step: usize| if n == 1 { 0 } else { step };
            sizes.mask = [step(b, h * l * s), step(h, l * s), step(l, s)];
        }
        if self.left_out > 0 {
            let [words, after @ ..] = rest else { return fail("takes words of heads".into()) };
            rest = after;
            if *words.shape.dims() != [batch, heads, 2] || words.dtype != DType::I64 {
                let text = format!("takes words of heads as i64 [{batch}, {heads}, 2]");
                return fail(format!("{text}, got {} {}", words.dtype, words.shape));
            }
        }
        if self.ranges.is_some() {
            let [of_queries, of_keys, after @ ..] = rest else { return fail("takes ranges".into()) };
            rest = after;
            for (ranges, rows) in [(of_queries, queries), (of_keys, keys)] {
                if *ranges.shape.dims() != [rows, 2] || ranges.dtype != DType::I32 {
                    let text = format!("takes ranges as i32 [{rows}, 2]");
                    return fail(format!("{text}, got {} {}", ranges.dtype, ranges.shape));
                }
            }
            if !self.span.is_all() {
                return fail(format!("takes ranges or a span, got both, {:?}", self.span));
            }
        }
        let whole = self.line(&sizes, dtype)[2];
        match (self.kind, rest) {
            (AttentionKind::Forward, []) => Ok(sizes),
            (AttentionKind::Backward, [y, g])
                if [y.dtype, g.dtype] == [dtype; 2]
                    && *y.shape.dims() == [whole]
                    && *g.shape.dims() == [batch, heads, queries, depth] =>
            {
                Ok(sizes)
            }
            (AttentionKind::Forward, _) => fail(format!("takes nothing else, got {} operands", rest.len())),
            (AttentionKind::Backward, _) => {
                fail(format!("takes a result of {whole} elements and the gradient of its means"))
            }
        }
    }

    /// How many elements of the result's line, the first ones, are means.
    ///
    /// # Errors
    ///
    /// Operands that the kernel does not take.
    pub fn len_of_means(&self, operands: &[Shaped]) -> Result<usize> {
        let s = self.sizes(operands)?;
        Ok(s.rows() * s.depth)
    }

    /// The means in the line of the result, `[b, h, l, v]`: a view.
    ///
    /// # Errors
    ///
    /// Operands that the kernel does not take, a line that is not their result.
    pub fn means<T: Structure>(&self, operands: &[Shaped], line: &T) -> Result<T> {
        let s = self.sizes(operands)?;
        s.means().of(line, s.batch)
    }
}

impl Kernel for Attention {
    fn name(&self) -> &'static str {
        match self.kind {
            AttentionKind::Forward => "attention",
            AttentionKind::Backward => "attention_backward",
        }
    }

    fn words(&self) -> [u64; 2] {
        let flags = self.kind as u64 | u64::from(self.masked) << 1 | u64::from(self.ranges.is_some()) << 2;
        [flags | u64::from(self.left_out) << 8, self.scale]
    }

    fn more_words(&self) -> u64 {
        let [behind, ahead] =
            self.ranges.unwrap_or(self.span.bounds().map(|bound| bound as u32)).map(u64::from);
        behind << 32 | ahead
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let s = self.sizes(operands)?;
        let dtype = operands[0].dtype;
        let n = match self.kind {
            AttentionKind::Forward => self.line(&s, dtype)[2],
            AttentionKind::Backward => s.elements().iter().sum(),
        };
        Ok(Shaped { shape: Shape::new(&[n])?, dtype })
    }

    fn batched<T: Structure>(&self, x: &[T], differs: &[bool], size: usize) -> Result<Option<T>> {
        // Ranges are the same for all of a batch.
        if self.ranges_at().is_some_and(|at| differs[at..at + 2].contains(&true)) {
            return Ok(None);
        }
        let of_each = x.iter().zip(differs).map(|(x, &d)| Shaped { shape: of_one(x, d), dtype: x.dtype() });
        let s = self.sizes(&of_each.collect::<smallvec::SmallVec<[Shaped; 9]>>())?;
        let all = Sizes { batch: s.batch * size, ..s };
        let dtype = x[0].dtype();
        let mut operands: smallvec::SmallVec<[T; 9]> = smallvec::SmallVec::new();
        for (i, (x, &differs)) in x.iter().zip(differs).enumerate() {
            let own = of_one(x, differs);
            operands.push(if self.ranges_at().is_some_and(|at| (at..at + 2).contains(&i)) {
                x.clone()
            } else if i == self.operands() {
                self.line_of_all(&s, &all, dtype, &of_all(x, differs, size)?)?
            } else if i == 3 && self.masked && !differs && own[0] == 1 {
                // A mask for all of an example's is one for all.
                x.clone()
            } else {
                let whole = of_all(x, differs, size)?.expanded(led(size, &own.with(0, s.batch))?)?;
                whole.reshaped(Shape::new(&own.with(0, all.batch))?)?
            });
        }
        let line = T::kernel((*self).into(), &operands.iter().collect::<smallvec::SmallVec<[&T; 9]>>())?;
        match self.kind {
            AttentionKind::Forward => self.lines_of_each(&s, &all, dtype, &line, size).map(Some),
            AttentionKind::Backward => {
                let [q, k, v] = s.elements();
                let parts: &[usize] = if s.queries == s.keys { &[q + k + v] } else { &[q, k + v] };
                in_turn(&line, parts, size).map(Some)
            }
        }
    }

    /// The keys of a cache are a part of it, and heads come out of products side by side.
    fn takes_any_layout(&self) -> bool {
        true
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, operands: &[Shaped]) -> Option<u64> {
        let s = self.sizes(operands).ok()?;
        let pairs = (s.rows() * s.keys) as u64;
        let (width, depth) = (s.width as u64, s.depth as u64);
        Some(match self.kind {
            AttentionKind::Forward => 2 * pairs * (width + depth),
            AttentionKind::Backward => 2 * pairs * (3 * width + 2 * depth),
        })
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], y: &T, g: &T) -> Result<Option<T>> {
        let fail = |text: &str| Err(Error::new(self.name(), ErrorKind::Gradient(text.into())));
        match self.kind {
            // One node for all three: the graph knows it again.
            AttentionKind::Forward if i < 3 => {
                // What the sizes ask of a dtype held where `y` was made.
                let shaped = x.iter().map(|x| Shaped { shape: x.sizes(), dtype: x.dtype() });
                let s = self.sizes(&shaped.collect::<smallvec::SmallVec<[Shaped; 7]>>())?;
                let flows = s.means().of(g, s.batch)?;
                let operands: smallvec::SmallVec<[&T; 9]> = x.iter().chain([y, &flows]).collect();
                let all = T::kernel(Attention { kind: AttentionKind::Backward, ..*self }.into(), &operands)?;
                s.gradients()[i].of(&all, s.batch).map(Some)
            }
            // By the words of heads, and by ranges.
            AttentionKind::Forward if self.words_at() == Some(i) => Ok(None),
            AttentionKind::Forward if self.ranges_at().is_some_and(|at| i >= at) => Ok(None),
            AttentionKind::Forward => fail("has no gradient by its mask"),
            AttentionKind::Backward => fail("is not differentiated again"),
        }
    }

    unsafe fn cpu(&self, operands: &[Operand], out: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        let shaped: smallvec::SmallVec<[Shaped; 9]> = operands.iter().map(Operand::shaped).collect();
        // What the node was made of had these sizes.
        if let Ok(sizes) = self.sizes(&shaped) {
            // SAFETY: this function's contract.
            unsafe { cpu::attention(self, &sizes, operands, out) };
        }
        Ok(())
    }

    fn cuda(&self, operands: &[Described], _: &Shaped, target: Target) -> Result<KernelPlan> {
        let shaped: smallvec::SmallVec<[Shaped; 9]> = operands.iter().map(Described::shaped).collect();
        cuda::plan(self, &self.sizes(&shaped)?, operands, target)
    }
}
