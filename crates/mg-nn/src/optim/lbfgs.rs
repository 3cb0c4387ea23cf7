//! L-BFGS.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use mg_autograd::{Tensor, enable_grad, no_grad};
use mg_device::{DType, Result};
use mg_graph::{Exclusive, LiveScalar};

use super::options::{OptionType, OptionValue, options};
use super::wolfe::{Point, strong_wolfe};
use super::{at_least_0, check_parameters, finite, next_change};
use crate::state::{IncompatibleKeys, State};

options! {
    /// Options of [`LBFGS`], with PyTorch's defaults.
    LBFGSOptions {
        /// What steps are multiplied by, and where a line search begins: 1.
        lr: f64 = 1.0,
        /// The most iterations of a step: 20.
        max_iter: u64 = 20,
        /// The most losses that a step asks for; where nothing is said, 5/4 of the iterations.
        max_eval: Option<u64> = None,
        /// The largest gradient that counts as none: 10⁻⁷.
        tolerance_grad: f64 = 1e-7,
        /// The smallest change of a parameter or of the loss that counts as one: 10⁻⁹.
        tolerance_change: f64 = 1e-9,
        /// How many steps are remembered: 100.
        history_size: u64 = 100,
        /// How far a step goes; where nothing is said, `lr` times its direction.
        line_search_fn: Option<LineSearch> = None,
        /// Up the gradient rather than down.
        maximize: bool = false,
    }
}

/// How a step's length is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LineSearch {
    /// So that the strong Wolfe conditions hold: Nocedal and Wright, "Numerical optimization", algorithms 3.5 and 3.6.
    StrongWolfe,
}

impl OptionType for LineSearch {
    const TAKES: &'static str = "'strong_wolfe'";
    fn value(&self) -> OptionValue {
        match self {
            LineSearch::StrongWolfe => OptionValue::Text("strong_wolfe".into()),
        }
    }
    fn of(value: &OptionValue) -> Option<LineSearch> {
        matches!(value, OptionValue::Text(text) if text == "strong_wolfe").then_some(LineSearch::StrongWolfe)
    }
}

/// What is remembered between steps. The tensors are as long as all parameters together.
#[derive(Clone)]
struct Memory {
    func_evals: u64,
    n_iter: u64,
    direction: Tensor,
    length: f64,
    /// Changes of the gradient and of the parameters, the oldest first, and 1 over their product.
    history: VecDeque<(Tensor, Tensor, f64)>,
    scale: f64,
    grad: Tensor,
    loss: f64,
}

/// The limited-memory method of Broyden, Fletcher, Goldfarb and Shanno: Liu and Nocedal, "On the limited memory BFGS method
/// for large scale optimization", 1989, in PyTorch's form. For losses of all samples at once, of which it asks for several
/// in a step. It reads losses and slopes on the host, so `jit` runs a function with such a step as it is.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::optim::{LBFGS, LBFGSOptions, LineSearch};
///
/// let w = Tensor::from_slice(&[-1.2f64, 1.0]).requires_grad_(true)?;
/// let line_search_fn = Some(LineSearch::StrongWolfe);
/// let options = LBFGSOptions { line_search_fn, tolerance_change: 1e-12, ..Default::default() };
/// let mut lbfgs = LBFGS::with_options(vec![w.clone()], options)?;
/// for _ in 0..3 {
///     lbfgs.step(&mut || {
///         // Rosenbrock's valley.
///         let (x, y) = (w.narrow(0, 0, 1)?, w.narrow(0, 1, 1)?);
///         let loss = ((&x * -1.0 + 1.0).square() + (y - x.square()).square() * 100.0).sum();
///         w.zero_grad();
///         loss.backward()?;
///         Ok(loss)
///     })?;
/// }
/// assert!(w.to_vec::<f64>()?.iter().all(|x| (x - 1.0).abs() < 1e-6));
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct LBFGS {
    parameters: Vec<Tensor>,
    options: LBFGSOptions,
    memory: Option<Memory>,
    changed: u64,
    /// A step is made, saved, loaded and given other options by one thread at a time.
    exclusive: Arc<Exclusive>,
}

#[track_caller]
fn check(options: &LBFGSOptions) -> Result<()> {
    at_least_0("LBFGS", "a tolerance of gradients", options.tolerance_grad)?;
    at_least_0("LBFGS", "a tolerance of changes", options.tolerance_change)
}

/// What a step's closure answers with: a loss, whose gradients are those of the parameters then.
type Closure<'a> = &'a mut dyn FnMut() -> Result<Tensor>;

impl LBFGS {
    pub(super) const NAME: &str = "LBFGS";
    /// What is remembered, at the first parameter.
    pub(super) const MEMORY: &[&str] = &[
        "func_evals",
        "n_iter",
        "d",
        "t",
        "H_diag",
        "prev_flat_grad",
        "prev_loss",
        "old_dirs",
        "old_stps",
        "ro",
        "al",
    ];

    /// With these options.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`](mg_device::ErrorKind::Value) for options below 0 or not finite, no parameters, one twice, and what is no
    /// floating-point leaf.
    #[track_caller]
    pub fn with_options(parameters: Vec<Tensor>, options: LBFGSOptions) -> Result<LBFGS> {
        check_parameters("LBFGS", &parameters)?;
        at_least_0("LBFGS", "a learning rate", options.lr)?;
        check(&options)?;
        Ok(LBFGS { parameters, options, memory: None, changed: next_change(), exclusive: Arc::default() })
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> LBFGSOptions {
        self.options
    }

    /// Changes the options for steps to come.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`](mg_device::ErrorKind::Value) for options that [`LBFGS::with_options`] does not take.
    #[track_caller]
    pub fn set_options(&mut self, options: LBFGSOptions) -> Result<()> {
        self.check_options(&options)?;
        let _alone = Exclusive::take([&self.exclusive]);
        self.options = options;
        Ok(())
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &[Tensor] {
        &self.parameters
    }

    /// What each of its steps, saves and loads has for itself.
    #[must_use]
    pub fn exclusive(&self) -> Arc<Exclusive> {
        self.exclusive.clone()
    }

    /// Has it do nothing while somebody else has this.
    pub fn share(&mut self, exclusive: Arc<Exclusive>) {
        self.exclusive = exclusive;
    }

    /// Up to `max_iter` iterations. The closure removes the gradients, computes the loss, calls its `backward` and answers
    /// with it; the first loss is the step's answer.
    ///
    /// # Errors
    ///
    /// The closure's, and whatever computing fails with. The parameters are then what they were before, and the step has not
    /// been made.
    pub fn step(&mut self, closure: Closure<'_>) -> Result<Tensor> {
        // It decides by losses.
        mg_graph::needs_values();
        let exclusive = self.exclusive.clone();
        let _alone = Exclusive::take([&exclusive]);
        let _guard = no_grad();
        self.changed = next_change();
        let memory = self.memory.clone();
        let before: Vec<Tensor> = self.parameters.iter().map(Tensor::snapshot).collect();
        let made = self.iterate(closure);
        if made.is_err() {
            self.memory = memory;
            self.put(&before)?;
        }
        made
    }

    fn iterate(&mut self, closure: Closure<'_>) -> Result<Tensor> {
        let o = self.options;
        let max_eval = o.max_eval.unwrap_or(o.max_iter.saturating_mul(5) / 4);
        let (first, mut loss, mut grad) = self.evaluate(closure)?;
        let mut evals = 1;
        if read([grad.try_abs()?.try_amax(&[], false)?])?[0] <= o.tolerance_grad {
            if let Some(memory) = &mut self.memory {
                memory.func_evals += 1;
            }
            return Ok(first);
        }
        let mut known = self.memory.take();
        for i in 1..=o.max_iter {
            let mut now = match known.take() {
                None => Memory {
                    func_evals: 0,
                    n_iter: 0,
                    direction: grad.try_neg()?,
                    length: 0.0,
                    history: VecDeque::new(),
                    scale: 1.0,
                    grad: grad.clone(),
                    loss,
                },
                Some(last) => next_direction(last, &grad, o.history_size)?,
            };
            now.n_iter += 1;
            (now.grad, now.loss) = (grad.clone(), loss);
            let [slope, sum, largest] = read([
                grad.try_mul(&now.direction)?.sum(),
                grad.try_abs()?.sum(),
                now.direction.try_abs()?.try_amax(&[], false)?,
            ])?;
            now.length = if now.n_iter == 1 { (1.0 / sum).min(1.0) * o.lr } else { o.lr };
            let mut is_done = slope > -o.tolerance_change;
            if !is_done {
                let mut asked = 0;
                if let Some(LineSearch::StrongWolfe) = o.line_search_fn {
                    let start = Point { at: 0.0, loss, slope, grad: grad.clone() };
                    let origin: Vec<Tensor> = self.parameters.iter().map(Tensor::snapshot).collect();
                    let mut look = |at: f64| {
                        self.advance(at, &now.direction)?;
                        let (_, loss, grad) = self.evaluate(closure)?;
                        self.put(&origin)?;
                        let slope = read([grad.try_mul(&now.direction)?.sum()])?[0];
                        Ok(Point { at, loss, slope, grad })
                    };
                    let left = max_eval.saturating_sub(evals);
                    let (found, looks) = strong_wolfe(&mut look, start, now.length, largest, left)?;
                    (loss, grad, now.length, asked) = (found.loss, found.grad, found.at, looks);
                    self.advance(now.length, &now.direction)?;
                } else {
                    self.advance(now.length, &now.direction)?;
                    // In the last iteration nobody would look at it.
                    if i != o.max_iter {
                        (_, loss, grad) = self.evaluate(closure)?;
                        asked = 1;
                    }
                }
                evals += asked;
                is_done = i == o.max_iter
                    || evals >= max_eval
                    || read([grad.try_abs()?.try_amax(&[], false)?])?[0] <= o.tolerance_grad
                    || largest * now.length <= o.tolerance_change
                    || (loss - now.loss).abs() < o.tolerance_change;
            }
            known = Some(now);
            if is_done {
                break;
            }
        }
        if let Some(now) = &mut known {
            now.func_evals += evals;
        }
        self.memory = known;
        Ok(first)
    }

    /// The loss, as it is and as what is to become less, and all gradients one after another.
    fn evaluate(&self, closure: Closure<'_>) -> Result<(Tensor, f64, Tensor)> {
        let loss = {
            let _guard = enable_grad();
            closure()?
        };
        let mut grads = Vec::with_capacity(self.parameters.len());
        for p in &self.parameters {
            grads.push(p.grad().unwrap_or_else(|| p.zeros_like()).reshape(&[-1])?);
        }
        let mut grad = Tensor::cat(&grads, 0)?;
        // The closure may write to the gradients when it is called again.
        grad = if self.options.maximize { grad.try_neg()? } else { grad.copy() };
        Tensor::realize_all([&loss, &grad])?;
        let value = read([loss.detach()])?[0];
        Ok((loss, if self.options.maximize { -value } else { value }, grad))
    }

    /// Moves the parameters along a direction.
    fn advance(&self, length: f64, direction: &Tensor) -> Result<()> {
        let mut before = 0;
        let length = LiveScalar::new(length);
        for p in &self.parameters {
            let shape: Vec<isize> = p.shape().iter().map(|&n| n as isize).collect();
            let own = direction.narrow(0, before as isize, p.numel())?.reshape(&shape)?;
            p.assign(p.try_add(own.try_mul(&length)?)?)?;
            before += p.numel();
        }
        Tensor::realize_all(&self.parameters)
    }

    fn put(&self, values: &[Tensor]) -> Result<()> {
        for (p, value) in self.parameters.iter().zip(values) {
            p.assign(value)?;
        }
        Tensor::realize_all(&self.parameters)
    }

    /// The last change of what is remembered: another number after each step and each load, and one that no other optimiser has.
    #[must_use]
    pub fn last_change(&self) -> u64 {
        self.changed
    }

    /// What it remembers, under PyTorch's names, at the first parameter: `0.d`, `0.old_dirs.3`, ….
    #[must_use]
    pub fn state(&self) -> State {
        let _alone = Exclusive::take([&self.exclusive]);
        let mut state = State::default();
        let Some(m) = &self.memory else { return state };
        let mut put = |name: String, t: Tensor| state.tensors.insert(format!("0.{name}"), t);
        let number = |x: f64| Tensor::scalar(x);
        put("func_evals".into(), Tensor::scalar(m.func_evals as i64));
        put("n_iter".into(), Tensor::scalar(m.n_iter as i64));
        put("d".into(), m.direction.clone());
        put("t".into(), number(m.length));
        put("H_diag".into(), number(m.scale));
        put("prev_flat_grad".into(), m.grad.clone());
        put("prev_loss".into(), number(m.loss));
        for (i, (y, s, ro)) in m.history.iter().enumerate() {
            put(format!("old_dirs.{i}"), y.clone());
            put(format!("old_stps.{i}"), s.clone());
            put(format!("ro.{i}"), number(*ro));
        }
        state
    }

    /// Remembers what [`LBFGS::state`] answered with.
    ///
    /// # Errors
    ///
    /// Entries that are missing, that it does not have, or that are of parameters of other shapes:
    /// [`ErrorKind::Value`](mg_device::ErrorKind::Value) that lists them all. Then nothing was changed.
    #[track_caller]
    pub fn load_state(&mut self, state: &State) -> Result<()> {
        let exclusive = self.exclusive.clone();
        let _alone = Exclusive::take([&exclusive]);
        self.incompatible_keys(state).check("LBFGS", "optimiser")?;
        let p = &self.parameters[0];
        let held = |key: &str| state.tensors.get(&format!("0.{key}"));
        let number = |key: &str| held(key).map(|t| t.to_dtype(DType::F64).item::<f64>()).transpose();
        let vector =
            |key: &str| held(key).map(|t| Ok(t.to_dtype(p.dtype()).to(p.device())?.snapshot())).transpose();
        let mut history = VecDeque::new();
        for i in 0.. {
            let (y, s) = (vector(&format!("old_dirs.{i}"))?, vector(&format!("old_stps.{i}"))?);
            let (Some(y), Some(s), Some(ro)) = (y, s, number(&format!("ro.{i}"))?) else { break };
            history.push_back((y, s, ro));
        }
        let numbers =
            [number("func_evals")?, number("n_iter")?, number("t")?, number("H_diag")?, number("prev_loss")?];
        let memory = match (numbers, vector("d")?, vector("prev_flat_grad")?) {
            (
                [Some(evals), Some(iter), Some(length), Some(scale), Some(loss)],
                Some(direction),
                Some(grad),
            ) => {
                let (func_evals, n_iter) = (evals as u64, iter as u64);
                Some(Memory { func_evals, n_iter, direction, length, history, scale, grad, loss })
            }
            _ => None,
        };
        (self.memory, self.changed) = (memory, next_change());
        Ok(())
    }

    /// Why [`LBFGS::load_state`] would not take a state.
    #[must_use]
    pub fn incompatible_keys(&self, state: &State) -> IncompatibleKeys {
        let mut keys = IncompatibleKeys::default();
        if state.tensors.is_empty() {
            return keys;
        }
        let n: usize = self.parameters.iter().map(Tensor::numel).sum();
        let numbers = ["func_evals", "n_iter", "t", "H_diag", "prev_loss"];
        let mut takes: BTreeMap<String, bool> = numbers.map(|name| (format!("0.{name}"), false)).into();
        takes.extend(["d", "prev_flat_grad"].map(|name| (format!("0.{name}"), true)));
        let lists = [("old_dirs", true), ("old_stps", true), ("ro", false)];
        let is_there =
            |i: &usize| lists.iter().any(|(name, _)| state.tensors.contains_key(&format!("0.{name}.{i}")));
        for i in (0..).take_while(is_there) {
            takes.extend(lists.map(|(name, is_vector)| (format!("0.{name}.{i}"), is_vector)));
        }
        for (key, &is_vector) in &takes {
            match state.tensors.get(key) {
                None => keys.missing.push(key.clone()),
                Some(t) if is_vector && t.shape().as_ref() != [n] => {
                    keys.misshape(key, format!("[{n}]"), t.shape())
                }
                Some(t) if !is_vector && t.numel() != 1 => keys.misshape(key, "[]", t.shape()),
                Some(_) => {}
            }
        }
        keys.unexpected.extend(state.tensors.keys().filter(|key| !takes.contains_key(*key)).cloned());
        keys
    }

    /// Whether [`LBFGS::set_options`] would take options.
    ///
    /// # Errors
    ///
    /// Those of [`LBFGS::set_options`].
    #[track_caller]
    pub fn check_options(&self, options: &LBFGSOptions) -> Result<()> {
        finite("LBFGS", "a learning rate", options.lr)?;
        check(options)
    }
}

/// The direction in which the approximate inverse of the Hessian sends a gradient, after the last step has been remembered:
/// the two loops of Nocedal, "Updating quasi-Newton matrices with limited storage", 1980.
fn next_direction(mut last: Memory, grad: &Tensor, history_size: u64) -> Result<Memory> {
    let live = |x: f64| LiveScalar::new(x);
    let y = grad.try_sub(&last.grad)?;
    let s = last.direction.try_mul(live(last.length))?;
    let dot = |a: &Tensor, b: &Tensor| -> Result<Tensor> { Ok(a.try_mul(b)?.sum()) };
    let [ys, yy] = read([dot(&y, &s)?, dot(&y, &y)?])?;
    if ys > 1e-10 {
        while !last.history.is_empty() && last.history.len() as u64 >= history_size {
            last.history.pop_front();
        }
        Tensor::realize_all([&y, &s])?;
        last.history.push_back((y, s, 1.0 / ys));
        last.scale = ys / yy;
    }
    let mut q = grad.try_neg()?;
    let mut parts = Vec::with_capacity(last.history.len());
    for (y, s, ro) in last.history.iter().rev() {
        let part = dot(s, &q)?.try_mul(live(*ro))?;
        q = q.try_sub(y.try_mul(&part)?)?;
        parts.push(part);
    }
    let mut r = q.try_mul(live(last.scale))?;
    for ((y, s, ro), part) in last.history.iter().zip(parts.into_iter().rev()) {
        let back = dot(y, &r)?.try_mul(live(*ro))?;
        r = r.try_add(s.try_mul(part.try_sub(back)?)?)?;
    }
    r.realize()?;
    last.direction = r;
    Ok(last)
}

/// Numbers that are looked at on the host, computed together.
fn read<const N: usize>(tensors: [Tensor; N]) -> Result<[f64; N]> {
    let wide = tensors.map(|t| t.to_dtype(DType::F64));
    Tensor::realize_all(&wide)?;
    let mut values = [0.0; N];
    for (value, t) in values.iter_mut().zip(&wide) {
        *value = t.item::<f64>()?;
    }
    Ok(values)
}
