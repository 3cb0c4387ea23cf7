//! Attention: means of values, weighed by the softmax of products of queries and keys, and its gradient. The weights are never in memory as a whole: softmax is
//! computed by blocks of keys, each correcting what came before (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et
//! al., "FlashAttention", 2022), and the gradient computes them again from the logarithm of their sum.

mod cpu;
mod cuda;
mod hopper;

use super::{Described, Kernel, Operand, Shaped, Structure, Target};
use crate::cpu::run::OutOfRange;
use crate::cuda::library::Plan;
use mg_device::{DType, Error, ErrorKind, Result, Shape};

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum AttentionKind {
    /// Of queries `[b, h, l, e]`, keys `[b, k, s, e]`, values `[b, k, s, v]` and, where there is one, a mask: the means `[b, h, l, v]` and after them
    /// the logarithms of the sums `[b, h, l]`, in one line; see [`Attention::parts`].
    Forward,
    /// Of these operands, that result and its gradient: the gradients of queries, keys and values, in one line.
    Backward,
}

/// Attention with heads that may share keys and values (`k` divides `h`). A mask has four axes that broadcast to `[b, h, l, s]` (the last one is whole): of truth values, it
/// says what takes part; of f32 (f64 beside f64), what is added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Attention {
    /// What is computed.
    pub kind: AttentionKind,
    /// Whether a query takes only the keys up to its own position.
    pub causal: bool,
    /// Whether there is a mask.
    pub masked: bool,
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
}

/// The dtype that is computed in.
fn wide(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

impl Attention {
    /// The elements of the means, and of the line after which the logarithms begin; and of the whole line.
    fn line(&self, s: &Sizes, dtype: DType) -> [usize; 3] {
        let times = wide(dtype).size() / dtype.size();
        let means = s.rows() * s.depth;
        let begin = means.next_multiple_of(times);
        [means, begin, begin + s.rows() * times]
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
        let lines = match self.kind {
            AttentionKind::Forward => 0,
            AttentionKind::Backward => 2,
        };
        let whole = self.line(&sizes, dtype)[2];
        if rest.len() != lines || rest.iter().any(|o| o.dtype != dtype || *o.shape.dims() != [whole]) {
            return fail(format!("takes {lines} lines of {whole} elements beside its operands"));
        }
        Ok(sizes)
    }

    /// Where in the line of the result the means are: their number of elements, and their shape.
    ///
    /// # Errors
    ///
    /// Operands that the kernel does not take.
    pub fn parts(&self, operands: &[Shaped]) -> Result<(usize, Shape)> {
        let s = self.sizes(operands)?;
        let shape = Shape::new(&[s.batch, s.heads, s.queries, s.depth])?;
        Ok((shape.numel(), shape))
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
        [self.kind as u64 | u64::from(self.causal) << 1 | u64::from(self.masked) << 2, self.scale]
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

    /// The keys of a cache are a part of it, and heads come out of products side by side.
    fn takes_any_layout(&self) -> bool {
        true
    }

    fn is_checked(&self) -> bool {
        false
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
                let operands: smallvec::SmallVec<[&T; 6]> = x.iter().chain([y, g]).collect();
                let all = T::kernel(Attention { kind: AttentionKind::Backward, ..*self }.into(), &operands)?;
                let shape = x[i].sizes();
                let start = x[..i].iter().map(|x| x.sizes().numel()).sum();
                all.part(0, start, shape.numel())?.reshaped(shape).map(Some)
            }
            AttentionKind::Forward => fail("has no gradient by its mask"),
            AttentionKind::Backward => fail("is not differentiated again"),
        }
    }

    unsafe fn cpu(
        &self,
        operands: &[Operand],
        out: *mut u8,
        _: &Shaped,
    ) -> std::result::Result<(), OutOfRange> {
        let shaped = operands.iter().map(|o| Shaped { shape: *o.layout.shape(), dtype: o.dtype });
        let shaped: smallvec::SmallVec<[Shaped; 6]> = shaped.collect();
        // What the node was made of had these sizes.
        if let Ok(sizes) = self.sizes(&shaped) {
            // SAFETY: this function's contract.
            unsafe { cpu::attention(self, &sizes, operands, out) };
        }
        Ok(())
    }

    fn cuda(&self, operands: &[Described], _: &Shaped, target: Target) -> Result<Plan> {
        let shaped = operands.iter().map(|o| Shaped { shape: *o.layout.shape(), dtype: o.dtype });
        let shaped: smallvec::SmallVec<[Shaped; 6]> = shaped.collect();
        cuda::plan(self, &self.sizes(&shaped)?, operands, target)
    }
}
