//! The last good checkpoint of a training.

use std::path::{Path, PathBuf};

use mg_autograd::{Generator, Tensor, no_grad};
use mg_device::{DType, Device, Error, ErrorKind, Result};

use crate::state::State;

const NAME: &str = "Checkpointer";
/// Under which the file says of which step it is.
const STEP: &str = "step";
/// Under which it has the seed and the position of the generator of random tensors.
const RNG: &str = "rng";

/// Saves a training now and then, and never over the last good file what has gone wrong: a loss that is no number, or infinite, is an error that
/// names the step, and so is a state with NaN in it.
///
/// A step is told its loss, which is read when the next checkpoint is due: nothing waits for it before. The state of the [generator](Generator::global) of
/// random tensors is saved with what `state` answers, so that a run with dropout and a shuffling loader goes on with the numbers that it would have drawn.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::optim::{Optimizer, SGD};
/// use mg_nn::watch::Checkpointer;
/// use mg_nn::{Linear, Module, State};
///
/// let path = std::env::temp_dir().join(format!("checkpointer-{}.safetensors", std::process::id()));
/// let net = Linear::new(1, 1)?;
/// let mut sgd = SGD::new(net.parameters(), 0.1)?;
/// let mut checkpointer = Checkpointer::new(&path, 2)?;
/// let mut told = String::new();
/// for step in 1..=4 {
///     let x = Tensor::from_slice(&[if step == 3 { f32::NAN } else { 1.0 }]);
///     let loss = net.forward(&x)?.square().mean();
///     sgd.zero_grad();
///     loss.backward()?;
///     sgd.step()?;
///     let state = || State::default().with("model", net.state()).with("optim", sgd.state());
///     if let Err(mistake) = checkpointer.step(&loss, state) {
///         told = mistake.to_string();
///     }
/// }
/// assert!(told.contains("the loss of step 3 is NaN; the last good checkpoint is that of step 2"), "{told}");
///
/// // Where it was good, training goes on.
/// let state = checkpointer.load()?.expect("two steps were good");
/// net.load_state(&state.part("model"))?;
/// assert_eq!(checkpointer.steps(), 2);
/// assert!(!net.weight.item::<f32>()?.is_nan());
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct Checkpointer {
    path: PathBuf,
    every: u64,
    steps: u64,
    /// The last step that was saved here or loaded.
    saved: Option<u64>,
    /// Losses that nobody has looked at yet, with their steps.
    losses: Vec<(u64, Tensor)>,
}

impl Checkpointer {
    /// Saves to this file every so many steps.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for 0 steps.
    #[track_caller]
    pub fn new(path: impl AsRef<Path>, every: u64) -> Result<Checkpointer> {
        if every == 0 {
            return Err(wrong("takes at least 1 step between checkpoints, got 0".into()));
        }
        let path = path.as_ref().to_path_buf();
        Ok(Checkpointer { path, every, steps: 0, saved: None, losses: vec![] })
    }

    /// How many steps were made, with those before the checkpoint that was loaded.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// A step was made, and this is its loss. When a checkpoint is due, it is saved, of the state that `state` answers with.
    ///
    /// # Errors
    ///
    /// Those of [`Checkpointer::save`] when one is due; [`ErrorKind::Shape`] for a loss that is not one number.
    #[track_caller]
    pub fn step(&mut self, loss: &Tensor, state: impl FnOnce() -> State) -> Result<()> {
        if loss.numel() != 1 {
            let text = format!("a loss is one number, got shape {}", loss.shape());
            return Err(Error::new(NAME, ErrorKind::Shape(text)));
        }
        self.steps += 1;
        self.losses.push((self.steps, loss.detach()));
        match self.steps.is_multiple_of(self.every) {
            true => self.save(state()),
            false => Ok(()),
        }
    }

    /// Looks at the losses since the last time.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for the first that is no number, or infinite: it names the step, and the last good checkpoint.
    #[track_caller]
    pub fn check(&mut self) -> Result<()> {
        let losses = std::mem::take(&mut self.losses);
        let _guard = no_grad();
        let numbers = losses.iter().map(|(_, t)| t.reshape(&[])?.to_dtype(DType::F64).to(Device::cpu()));
        let values = read(&numbers.collect::<Result<Vec<_>>>()?)?;
        match losses.iter().zip(values).find(|(_, value)| !value.is_finite()) {
            Some(((step, _), value)) => {
                Err(wrong(format!("the loss of step {step} is {value}; {}", self.last_good())))
            }
            None => Ok(()),
        }
    }

    /// Looks at the losses and saves a state, if all is well.
    ///
    /// # Errors
    ///
    /// Those of [`Checkpointer::check`]; [`ErrorKind::Value`] for a state with NaN, which names where; those of [`State::save`]. Then the file
    /// is what it was.
    #[track_caller]
    pub fn save(&mut self, mut state: State) -> Result<()> {
        self.check()?;
        let spoilt = spoilt(&state)?;
        if !spoilt.is_empty() {
            let names = spoilt.join(", ");
            let text = format!("after step {} there is NaN in {names}; {}", self.steps, self.last_good());
            return Err(wrong(text));
        }
        state.metadata.insert(STEP.into(), self.steps.to_string());
        let (seed, position) = Generator::global().state();
        state.metadata.insert(RNG.into(), format!("{seed} {position}"));
        state.save(&self.path)?;
        self.saved = Some(self.steps);
        Ok(())
    }

    /// What is in the file, if it is there; steps are counted from its own on, and random numbers drawn as they would have been then: so models are
    /// made before.
    ///
    /// # Errors
    ///
    /// Those of [`State::load`]; [`ErrorKind::Value`] for a file that does not say of which step it is, or where its random numbers were.
    #[track_caller]
    pub fn load(&mut self) -> Result<Option<State>> {
        if !self.path.exists() {
            return Ok(None);
        }
        let state = State::load(&self.path)?;
        let path = self.path.display();
        let Some(step) = state.metadata.get(STEP).and_then(|step| step.parse().ok()) else {
            return Err(wrong(format!("{path} does not say of which step it is")));
        };
        let drawn = state.metadata.get(RNG).and_then(|rng| {
            let (seed, position) = rng.split_once(' ')?;
            Some((seed.parse().ok()?, position.parse().ok()?))
        });
        let Some((seed, position)) = drawn else {
            return Err(wrong(format!("{path} does not say where its random numbers were")));
        };
        Generator::global().set_state(seed, position);
        (self.steps, self.saved) = (step, Some(step));
        self.losses.clear();
        Ok(Some(state))
    }

    fn last_good(&self) -> String {
        match self.saved {
            Some(step) => {
                format!("the last good checkpoint is that of step {step}, in {}", self.path.display())
            }
            None => format!("nothing was saved to {} yet", self.path.display()),
        }
    }
}

#[track_caller]
fn wrong(text: String) -> Error {
    Error::new(NAME, ErrorKind::Value(text))
}

/// Numbers of tensors without axes, at once.
#[track_caller]
fn read(numbers: &[Tensor]) -> Result<Vec<f64>> {
    match numbers.is_empty() {
        true => Ok(vec![]),
        false => Tensor::stack(&numbers.iter().collect::<Vec<_>>(), 0)?.to_f64_vec(),
    }
}

/// The names of tensors with NaN in them.
fn spoilt(state: &State) -> Result<Vec<String>> {
    let _guard = no_grad();
    let floats: Vec<(&String, &Tensor)> =
        state.tensors.iter().filter(|(_, t)| t.dtype().is_float()).collect();
    let found = floats
        .iter()
        .map(|(_, t)| t.try_isnan()?.try_any(&[], false)?.to_dtype(DType::F64).to(Device::cpu()));
    let found = read(&found.collect::<Result<Vec<_>>>()?)?;
    Ok(floats
        .iter()
        .zip(found)
        .filter(|(_, has)| *has != 0.0)
        .map(|((name, _), _)| (*name).clone())
        .collect())
}
