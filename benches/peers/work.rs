//! What a case gives to be timed.

use crate::{Refusal, Result};
use mg_autograd::{Jit, Tensor, jit};
use mg_device::DType;
use std::cell::RefCell;
use std::rc::Rc;

/// A case that is ready to run. On a GPU, calls return when their results are asked for; who times waits for the device.
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

/// The mean magnitude of the elements. Large arrays come from a GPU as the means of their stretches.
fn magnitude(t: &Tensor) -> Result<f64> {
    const STRETCH: usize = 4096;
    let t = t.detach();
    let large = !t.device().is_cpu() && t.numel() > 1 << 20 && t.numel().is_multiple_of(STRETCH);
    let values = if large {
        let stretches = t.to_dtype(DType::F32).abs().reshape(&[-1, STRETCH as isize])?;
        stretches.mean_dim(&[1], false).to_f64_vec()?
    } else {
        t.to_f64_vec()?
    };
    Ok(values.iter().map(|v| v.abs()).sum::<f64>() / values.len() as f64)
}

fn check<'a>(results: impl IntoIterator<Item = &'a Tensor>) -> Result<Option<f64>> {
    let results: Vec<&Tensor> = results.into_iter().collect();
    // By themselves, as they are when they are timed: what follows would join their launches.
    Tensor::realize_all(results.iter().copied())?;
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
    /// Whether the result is wanted beside the gradients; a loss always is.
    pub keep: bool,
}

impl<F: FnMut(&[Tensor]) -> mg_device::Result<Tensor>> Gradients<F> {
    fn call(&mut self) -> Result<Option<Tensor>> {
        self.leaves.iter().for_each(Tensor::zero_grad);
        let y = (self.forward)(&self.leaves)?;
        y.backward_with(self.upstream.as_ref(), Default::default())?;
        // Held, it would be computed: somebody could still read it.
        let y = Some(y).filter(|_| self.upstream.is_none() || self.keep);
        let [a, b, c] = [0, 1, 2].map(|i| self.leaves.get(i).and_then(Tensor::grad));
        Tensor::realize_all([&y, &a, &b, &c].into_iter().flatten())?;
        Ok(y)
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
        let y = self.call()?;
        let gradients: Vec<Tensor> = self.leaves.iter().filter_map(Tensor::grad).collect();
        check(y.iter().chain(&gradients))
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

type Step = Box<dyn FnMut(&[Tensor]) -> mg_device::Result<Vec<Tensor>>>;

/// Training whose whole step is replayed.
pub struct Replayed<S> {
    pub make: Box<dyn Fn() -> mg_device::Result<S>>,
    pub call: fn(&mut S, &[Tensor]) -> mg_device::Result<Tensor>,
    /// Puts parameters back to where they began, once the step was recorded.
    pub restore: fn(&S) -> mg_device::Result<()>,
    pub inputs: [Tensor; 2],
    pub step: Option<Jit<Step>>,
}

impl<S: 'static> Replayed<S> {
    fn call(&mut self) -> Result<Tensor> {
        let [x, y] = &self.inputs;
        let step = self.step.as_mut().ok_or_else(|| Refusal::Error("the step was not recorded".into()))?;
        let loss = step.call(&[x, y])?.into_iter().next();
        loss.ok_or_else(|| Refusal::Error("the step answers with nothing".into()))
    }
}

impl<S: 'static> Work for Replayed<S> {
    fn reset(&mut self) -> Result<()> {
        // Calls that may disagree before a step is replayed.
        const MOST: usize = 8;
        let state = Rc::new(RefCell::new((self.make)()?));
        let (trained, call) = (state.clone(), self.call);
        let step: Step = Box::new(move |inputs| Ok(vec![call(&mut trained.borrow_mut(), inputs)?]));
        self.step = Some(jit(step));
        for _ in 0..MOST {
            self.call()?;
            if self.step.as_ref().is_some_and(Jit::is_replaying) {
                return Ok((self.restore)(&state.borrow())?);
            }
        }
        Err(Refusal::Error(format!("the step is not replayed after {MOST} calls")))
    }

    fn calls(&mut self, n: u64) -> Result<()> {
        for _ in 0..n {
            self.call()?;
        }
        Ok(())
    }

    fn check(&mut self) -> Result<Option<f64>> {
        check([&self.call()?])
    }
}
