//! Rotary positions: Su et al., "RoFormer: enhanced transformer with rotary position embedding", 2021.

use mg_autograd::Tensor;
use mg_device::{Error, ErrorKind, Result};

use crate::module::{Module, Visitor, told};

const NAME: &str = "RotaryPositionalEmbeddings";

/// Turns the features of queries, or of keys, by pairs, by angles that grow with the position, so that their products depend on how far apart they
/// stand: [`Tensor::rotary_embedding`], with the cosines and sines of as many positions as there may be. Pair `i` of `dim / 2` is turned by the position times
/// `base^(−2i / dim)`. Neighbours are pairs, as in torchtune; by [halves](RotaryPositionalEmbeddings::by_halves) a feature of the first half and the one as far into the second.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_device::DType;
/// use mg_nn::{Module, RotaryPositionalEmbeddings};
///
/// let rotary = RotaryPositionalEmbeddings::new(8, 64, 10_000.0)?;
/// let queries = Tensor::ones(&[2, 5, 4, 8], DType::F32)?;
/// let turned = rotary.forward(&queries)?;
/// assert_eq!(*turned.shape(), [2, 5, 4, 8]);
/// // A token alone, at position 4.
/// let last = rotary.at(&queries.narrow(1, 4, 1)?, &Tensor::from_vec(vec![4i64], &[1])?)?;
/// assert_eq!(last.to_vec::<f32>()?, turned.narrow(1, 4, 1)?.contiguous()?.to_vec::<f32>()?);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct RotaryPositionalEmbeddings {
    /// Cosines and sines, f32 `[max_seq_len, dim / 2, 2]`. It is not saved.
    pub cache: Tensor,
    interleaved: bool,
}

impl RotaryPositionalEmbeddings {
    /// For heads of `dim` features, and positions below `max_seq_len`. Angles are computed in f64.
    ///
    /// # Errors
    ///
    /// A `dim` that is not even; a base that is not positive; memory.
    #[track_caller]
    pub fn new(dim: usize, max_seq_len: usize, base: f64) -> Result<RotaryPositionalEmbeddings> {
        if !dim.is_multiple_of(2) || !base.is_finite() || base <= 0.0 {
            let text = format!("takes an even dim and a positive base, got {dim} and {base}");
            return Err(Error::new(NAME, ErrorKind::Value(text)));
        }
        let mut cache = vec![];
        for position in 0..max_seq_len {
            for pair in 0..dim / 2 {
                let angle = position as f64 * base.powf(-2.0 * pair as f64 / dim as f64);
                cache.extend([angle.cos() as f32, angle.sin() as f32]);
            }
        }
        let cache = Tensor::from_vec(cache, &[max_seq_len, dim / 2, 2])?;
        Ok(RotaryPositionalEmbeddings { cache, interleaved: true })
    }

    /// With pairs that are half a head apart, as Llama's weights in Transformers have them.
    #[must_use]
    pub fn by_halves(self) -> RotaryPositionalEmbeddings {
        RotaryPositionalEmbeddings { interleaved: false, ..self }
    }

    /// `[batch, sequence, heads, dim]` turned by the angles of positions: integers `[batch, sequence]`, or `[sequence]` for all of the batch.
    ///
    /// # Errors
    ///
    /// Other axes or features; what are no floats, no integers; unlike devices. A position that the cache does not have is found when the value is computed,
    /// if not before.
    #[track_caller]
    pub fn at(&self, x: &Tensor, positions: &Tensor) -> Result<Tensor> {
        told(self, self.turned_at(x, positions))
    }

    fn turned_at(&self, x: &Tensor, positions: &Tensor) -> Result<Tensor> {
        let (sizes, given) = (self.sizes(x)?, positions.shape());
        let [batch, sequence, ..] = sizes;
        let of_all = match *given {
            [own] if own == sequence => positions.unsqueeze(0)?,
            [own, l] if l == sequence && (own == batch || own == 1) => positions.clone(),
            _ => {
                let text =
                    format!("takes positions [{batch}, {sequence}] or [{sequence}], got shape {given}");
                return Err(Error::new(NAME, ErrorKind::Shape(text)));
            }
        };
        let rows = of_all.try_embedding(&self.cache.flatten(1, -1)?, None)?;
        let [own, sequence, pairs] = [of_all.shape()[0], sequence, self.cache.shape()[1]].map(|n| n as isize);
        self.turned(x, &rows.reshape(&[own, sequence, pairs, 2])?)
    }

    /// The sizes of `[batch, sequence, heads, dim]`.
    fn sizes(&self, x: &Tensor) -> Result<[usize; 4]> {
        let features = 2 * self.cache.shape()[1];
        match *x.shape() {
            [batch, sequence, heads, size] if size == features => Ok([batch, sequence, heads, size]),
            _ => {
                let text = format!("takes [batch, sequence, heads, {features}], got shape {}", x.shape());
                Err(Error::new(NAME, ErrorKind::Shape(text)))
            }
        }
    }

    /// By cosines and sines `[batch, sequence, dim / 2, 2]`.
    fn turned(&self, x: &Tensor, angles: &Tensor) -> Result<Tensor> {
        self.sizes(x)?;
        let [cos, sin] = [angles.select(3, 0)?, angles.select(3, 1)?];
        let heads_first = x.transpose(1, 2)?;
        heads_first.try_rotary_embedding(&cos, &sin, None, self.interleaved, 0, 0)?.transpose(1, 2)
    }
}

impl Module for RotaryPositionalEmbeddings {
    /// `[batch, sequence, heads, dim]`, whose tokens stand at 0, 1, 2, ….
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (n, most) = (x.shape().get(1).copied().unwrap_or(0), self.cache.shape()[0]);
        if n > most {
            let text = format!("has angles of {most} positions, got {n} tokens, shape {}", x.shape());
            return told(self, Err(Error::new(NAME, ErrorKind::Shape(text))));
        }
        told(self, self.turned(x, &self.cache.narrow(0, 0, n)?.unsqueeze(0)?))
    }

    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        visitor.derived("cache", &self.cache);
    }

    fn describe(&self) -> String {
        format!("{NAME}()")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sequential;
    use mg_device::DType;

    /// The cache goes where the model goes, and is in none of its states.
    #[test]
    fn the_cache_is_made_and_not_saved() -> Result<()> {
        let mut model = Sequential::new();
        model.push(RotaryPositionalEmbeddings::new(4, 3, 100.0)?.by_halves());
        assert!(model.state().tensors.is_empty());
        assert_eq!(model.named_buffers().into_iter().map(|(name, _)| name).collect::<Vec<_>>(), ["0.cache"]);
        model.load_state(&RotaryPositionalEmbeddings::new(4, 9, 10.0)?.state())?;
        let x = Tensor::from_vec(vec![1.0f64, 2.0, 3.0, 4.0], &[1, 1, 1, 4])?.expand(&[1, 3, 1, 4])?;
        let turned = model.forward(&x)?.to_vec::<f64>()?;
        for (position, got) in turned.chunks(4).enumerate() {
            for (pair, speed) in [1.0, 0.1].into_iter().enumerate() {
                let (sin, cos) = (position as f64 * speed).sin_cos();
                let (a, b) = (1.0 + pair as f64, 3.0 + pair as f64);
                assert!((got[pair] - (a * cos - b * sin)).abs() < 1e-6, "{got:?}");
                assert!((got[pair + 2] - (b * cos + a * sin)).abs() < 1e-6, "{got:?}");
            }
        }
        model.to_dtype(DType::BF16)?;
        assert_eq!(model.named_buffers()[0].1.dtype(), DType::BF16);
        assert!(model.forward(&x.narrow(3, 0, 2)?).is_err());
        let rotary = RotaryPositionalEmbeddings::new(4, 3, 100.0)?;
        for wrong in [&[0i64, 1][..], &[0, 1, 2, 0][..]] {
            let error =
                rotary.at(&x, &Tensor::from_vec(wrong.to_vec(), &[wrong.len()])?).err().unwrap().to_string();
            assert!(
                error.contains(&format!("takes positions [1, 3] or [3], got shape [{}]", wrong.len())),
                "{error}"
            );
        }
        assert!(rotary.at(&x, &Tensor::from_vec(vec![1i64], &[1, 1, 1])?).is_err());
        assert!(rotary.at(&x, &Tensor::from_vec(vec![1i64], &[])?).is_err());
        assert!(
            RotaryPositionalEmbeddings::new(3, 4, 100.0).is_err()
                && RotaryPositionalEmbeddings::new(4, 4, 0.0).is_err()
        );
        Ok(())
    }
}
