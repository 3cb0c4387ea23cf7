//! What a case gives to be timed.

use crate::Result;
use mg_autograd::Tensor;

/// A case that is ready to run. Calls return when their results are computed, so no synchronisation follows them.
pub trait Work {
    /// Before each round, untimed: parameters as they were.
    fn reset(&mut self) -> Result<()> {
        Ok(())
    }

    /// What is timed.
    fn calls(&mut self, n: u64) -> Result<()>;

    /// One call, and the sum of the mean magnitudes of its results; none where they are random.
    fn check(&mut self) -> Result<Option<f64>>;
}

/// The mean magnitude of the elements.
fn magnitude(t: &Tensor) -> Result<f64> {
    let values = t.to_f64_vec()?;
    Ok(values.iter().map(|v| v.abs()).sum::<f64>() / values.len() as f64)
}

fn check<'a>(results: impl IntoIterator<Item = &'a Tensor>) -> Result<Option<f64>> {
    results.into_iter().map(magnitude).sum::<Result<f64>>().map(Some)
}

/// A call that answers with its one result.
pub struct One<F>(pub F);

impl<F: FnMut() -> mg_device::Result<Tensor>> Work for One<F> {
    fn calls(&mut self, n: u64) -> Result<()> {
        for _ in 0..n {
            self.0()?.realize()?;
        }
        Ok(())
    }

    fn check(&mut self) -> Result<Option<f64>> {
        check([&self.0()?])
    }
}

/// A call whose results are the gradients of `leaves`, and the loss where it is asked for.
pub struct Gradients<F> {
    pub leaves: Vec<Tensor>,
    /// Given to `backward`; without it, the result is a loss.
    pub upstream: Option<Tensor>,
    pub forward: F,
}

impl<F: FnMut(&[Tensor]) -> mg_device::Result<Tensor>> Gradients<F> {
    fn call(&mut self) -> Result<Option<Tensor>> {
        self.leaves.iter().for_each(Tensor::zero_grad);
        let y = (self.forward)(&self.leaves)?;
        y.backward_with(self.upstream.as_ref(), Default::default())?;
        let loss = if self.upstream.is_none() { Some(y) } else { None };
        let [a, b, c] = [0, 1, 2].map(|i| self.leaves.get(i).and_then(Tensor::grad));
        Tensor::realize_all([&loss, &a, &b, &c].into_iter().flatten())?;
        Ok(loss)
    }
}

impl<F: FnMut(&[Tensor]) -> mg_device::Result<Tensor>> Work for Gradients<F> {
    fn calls(&mut self, n: u64) -> Result<()> {
        for _ in 0..n {
            self.call()?;
        }
        Ok(())
    }

    fn check(&mut self) -> Result<Option<f64>> {
        let loss = self.call()?;
        let gradients: Vec<Tensor> = self.leaves.iter().filter_map(Tensor::grad).collect();
        check(loss.iter().chain(&gradients))
    }
}

/// Calls that go on from one another, and answer with a loss.
pub struct Training<S, F> {
    pub state: S,
    pub reset: fn(&mut S) -> mg_device::Result<()>,
    pub call: F,
    pub comparable: bool,
}

impl<S, F: FnMut(&mut S) -> mg_device::Result<Tensor>> Work for Training<S, F> {
    fn reset(&mut self) -> Result<()> {
        Ok((self.reset)(&mut self.state)?)
    }

    fn calls(&mut self, n: u64) -> Result<()> {
        for _ in 0..n {
            (self.call)(&mut self.state)?.realize()?;
        }
        Ok(())
    }

    fn check(&mut self) -> Result<Option<f64>> {
        let loss = (self.call)(&mut self.state)?;
        let checked = check([&loss])?;
        Ok(if self.comparable { checked } else { None })
    }
}
