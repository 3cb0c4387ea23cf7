//! [`State`]: named tensors between models, optimisers and checkpoints.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::path::Path;

use mg_autograd::Tensor;
use mg_device::{Buffer, Error, ErrorKind, Result};
use mg_graph::Value;

use crate::checkpoint;

/// Named tensors, and what else belongs to them: what a model or an optimiser is at a moment.
///
/// ```
/// use mg_nn::{Linear, Module, State};
///
/// let path = std::env::temp_dir().join(format!("state-{}.safetensors", std::process::id()));
/// let model = Linear::new(3, 2)?;
/// let mut state = model.state();
/// state.metadata.insert("epoch".into(), "5".into());
/// state.save(&path)?;
///
/// let other = Linear::new(3, 2)?;
/// let state = State::load(&path)?;
/// other.load_state(&state)?;
/// assert_eq!(other.weight.to_vec::<f32>()?, model.weight.to_vec::<f32>()?);
/// assert_eq!(state.metadata["epoch"], "5");
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct State {
    /// The tensors by name.
    pub tensors: BTreeMap<String, Tensor>,
    /// What is not a tensor. Readers of the file format take strings only.
    pub metadata: BTreeMap<String, String>,
}

impl State {
    /// Adds all of `other` under `prefix`: its `weight` becomes `prefix.weight`. To keep a model and its optimiser in one
    /// file.
    #[must_use]
    pub fn with(mut self, prefix: &str, other: State) -> State {
        let under = |name: &String| format!("{prefix}.{name}");
        self.tensors.extend(other.tensors.iter().map(|(name, t)| (under(name), t.clone())));
        self.metadata.extend(other.metadata.iter().map(|(name, text)| (under(name), text.clone())));
        self
    }

    /// What is under `prefix`: the reverse of [`State::with`].
    #[must_use]
    pub fn part(&self, prefix: &str) -> State {
        fn within<T: Clone>(map: &BTreeMap<String, T>, prefix: &str) -> BTreeMap<String, T> {
            let inner = |name: &str| Some(name.strip_prefix(prefix)?.strip_prefix('.')?.to_string());
            map.iter().filter_map(|(name, value)| Some((inner(name)?, value.clone()))).collect()
        }
        State { tensors: within(&self.tensors, prefix), metadata: within(&self.metadata, prefix) }
    }

    /// Saves to a safetensors file; see [`checkpoint::save`].
    ///
    /// # Errors
    ///
    /// As [`checkpoint::save`], and whatever computing a tensor fails with.
    #[track_caller]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.with_views(|views| checkpoint::save(path, views, &self.metadata))
    }

    /// The bytes of the file that [`State::save`] writes.
    ///
    /// # Errors
    ///
    /// As [`checkpoint::to_bytes`], and whatever computing a tensor fails with.
    #[track_caller]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.with_views(|views| checkpoint::to_bytes(views, &self.metadata))
    }

    #[track_caller]
    fn with_views<T>(&self, write: impl FnOnce(&[checkpoint::View<'_>]) -> Result<T>) -> Result<T> {
        Tensor::realize_all(self.tensors.values())?;
        let dense = self.tensors.iter().map(|(name, t)| Ok((name.as_str(), t.shape(), dense(t)?)));
        let dense = dense.collect::<Result<Vec<_>>>()?;
        let views = dense.iter().map(|(name, shape, buffer)| checkpoint::View::new(name, *shape, buffer));
        write(&views.collect::<Result<Vec<_>>>()?)
    }

    /// Loads a safetensors file; see [`checkpoint::load`]. [`State::load_pt`] loads PyTorch's, [`npz`](crate::npz) NumPy's.
    ///
    /// # Errors
    ///
    /// As [`checkpoint::load`].
    #[track_caller]
    pub fn load(path: impl AsRef<Path>) -> Result<State> {
        State::of(checkpoint::load(path)?)
    }

    /// Loads what [`State::to_bytes`] has written.
    ///
    /// # Errors
    ///
    /// As [`checkpoint::from_bytes`].
    #[track_caller]
    pub fn from_bytes(bytes: &[u8]) -> Result<State> {
        State::of(checkpoint::from_bytes(bytes)?)
    }

    #[track_caller]
    fn of(file: checkpoint::Checkpoint) -> Result<State> {
        let mut tensors = BTreeMap::new();
        for (name, entry) in file.tensors {
            tensors.insert(name, Tensor::from_buffer(entry.data, entry.shape)?);
        }
        Ok(State { tensors, metadata: file.metadata })
    }
}

/// What a state and the model or optimiser that is to take it do not have in common, by name.
///
/// ```
/// use mg_nn::{Linear, Module, ReLU, State, sequential};
///
/// let first = Linear::new(3, 2)?;
/// let model = sequential![Linear::new(3, 2)?, ReLU, Linear::new(2, 1)?];
/// let found = model.load_state_with(&State::default().with("0", first.state()), false)?;
/// assert_eq!(found.missing, ["2.weight", "2.bias"]);
/// assert_eq!(found.to_string(), "missing: 2.weight, 2.bias");
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IncompatibleKeys {
    /// What the state does not have.
    pub missing: Vec<String>,
    /// What only the state has.
    pub unexpected: Vec<String>,
    /// What has another shape in the state, with the shapes: `weight (takes [3], got [4])`.
    pub misshapen: Vec<String>,
}

impl IncompatibleKeys {
    /// Whether everything is in both.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.unexpected.is_empty() && self.misshapen.is_empty()
    }

    /// Notes that something has another shape.
    pub(crate) fn misshape(&mut self, name: impl Display, takes: impl Display, got: impl Display) {
        self.misshapen.push(format!("{name} (takes {takes}, got {got})"));
    }

    /// An error that names all of it, where there is some: of `whose` the state is.
    #[track_caller]
    pub(crate) fn check(&self, op: &'static str, whose: &str) -> Result<()> {
        match self.is_empty() {
            true => Ok(()),
            false => Err(Error::new(op, ErrorKind::Value(format!("the state of another {whose}; {self}")))),
        }
    }
}

impl Display for IncompatibleKeys {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let lists = [
            ("missing:", &self.missing),
            ("unexpected:", &self.unexpected),
            ("of another shape:", &self.misshapen),
        ];
        let words = lists.into_iter().filter(|(_, names)| !names.is_empty());
        let words: Vec<String> = words.map(|(what, names)| format!("{what} {}", names.join(", "))).collect();
        f.write_str(&words.join("; "))
    }
}

/// Memory that holds a tensor's elements in order, and nothing else.
#[track_caller]
pub(crate) fn dense(t: &Tensor) -> Result<Buffer> {
    let is_all = |value: &Value| value.layout.offset() == 0 && value.buffer.len() == value.layout.numel();
    let mut value = t.dense_value()?;
    if !is_all(&value) {
        value = t.copy().dense_value()?;
    }
    if !is_all(&value) {
        return Err(Error::new("checkpoint::save", ErrorKind::Internal("a copy that is not dense".into())));
    }
    Ok(value.buffer)
}
