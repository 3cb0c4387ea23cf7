//! Functions with gradients of their own.
//!
//! A call's results are nodes that a walk does not pass by way of their sources: they lead to the call ([`Node::call`]), which is younger
//! than its inputs and older than its results, so that it is come to when the gradients of all results are complete.

mod saved;

pub use saved::Saved;

use crate::gradient::no_grad;
use crate::tensor::Tensor;
use crate::tensor::memory::{Facts, untracked};
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, Sources, Tag};
use mg_kernels::ReduceKind;
use smallvec::SmallVec;
use std::sync::{Arc, Mutex, PoisonError};

/// What a walk over the graph does at a call that has a gradient of its own.
pub trait Rule: Send + Sync {
    /// What it is called in errors.
    fn name(&self) -> &str;

    /// The gradients of the inputs, given those of the results: `None` where a result has none and zeros were not asked for. What it
    /// computes is differentiated itself where gradients of gradients are recorded.
    ///
    /// # Errors
    ///
    /// Those of the function.
    fn backward(&self, saved: &Arc<Saved>, gradients: &[Option<Tensor>]) -> Result<Way>;

    /// The tangents of the results, given those of the inputs: `None` for a result that has none. What it computes is differentiated itself
    /// where gradients of tangents are recorded. `None` for all where the function says nothing of it: then they follow from
    /// [`Rule::backward`].
    ///
    /// # Errors
    ///
    /// Those of the function.
    fn jvp(&self, saved: &Arc<Saved>, tangents: &[Option<Tensor>]) -> Result<Option<Vec<Option<Tensor>>>> {
        let _ = (saved, tangents);
        Ok(None)
    }

    /// Whether it computes the results again.
    fn is_again(&self) -> bool {
        false
    }
}

/// How a walk goes on behind a call.
pub enum Way {
    /// To the inputs, with these gradients: one for each input, `None` where there is none, so that a leaf that has no other keeps what it
    /// has.
    Inputs(Vec<Option<Tensor>>),
    /// Through the results as they were computed again.
    Again(Vec<Tensor>),
}

/// What a call says of its results.
#[derive(Default)]
pub struct Marks {
    /// Tensors that the gradient needs.
    pub saved: Vec<Option<Tensor>>,
    /// Tensors that the tangents need, where they are not those.
    pub saved_forward: Option<Vec<Option<Tensor>>>,
    /// Results through which no gradient flows.
    pub non_differentiable: Vec<Tensor>,
    /// Inputs that the call has changed in place.
    pub dirty: Vec<Tensor>,
    /// Gradients that there are none of are given as `None`, not as zeros.
    pub keeps_none: bool,
}

/// A call that has begun: its inputs as they were then.
pub struct Begun {
    sources: Sources,
    /// The input that each source is.
    positions: SmallVec<[usize; 3]>,
    inputs: Vec<Tensor>,
}

/// What a call's node has beside its inputs.
pub(crate) struct Call {
    rule: Mutex<Option<Arc<dyn Rule>>>,
    name: String,
    is_again: bool,
    saved: Arc<Saved>,
    /// What the tangents need, where it is something else.
    saved_forward: Option<Arc<Saved>>,
    positions: SmallVec<[usize; 3]>,
    inputs: usize,
    results: Vec<Facts>,
    keeps_none: bool,
}

impl Begun {
    /// Begins a call with these inputs. Nothing is recorded unless one of them requires a gradient, and gradients are recorded.
    pub fn with(inputs: &[&Tensor]) -> Begun {
        let mut begun = Begun {
            sources: Sources::new(),
            positions: SmallVec::new(),
            inputs: inputs.iter().map(|&t| t.clone()).collect(),
        };
        if mg_graph::is_tracking() {
            for (i, input) in inputs.iter().enumerate() {
                if input.requires_grad() {
                    begun.sources.push(input.node());
                    begun.positions.push(i);
                }
            }
        }
        begun
    }

    /// A call with inputs that are nodes.
    pub(crate) fn of_nodes(sources: Sources) -> Begun {
        let positions = (0..sources.len()).collect();
        let inputs = sources.iter().map(|node| Tensor::from_node(node.clone())).collect();
        Begun { sources, positions, inputs }
    }

    /// The node of a call with results like these.
    pub(crate) fn call(self, results: Vec<Facts>, rule: Arc<dyn Rule>, keeps_none: bool) -> Result<Node> {
        let saved = Arc::new(Saved::new(vec![]));
        let call = Call {
            name: rule.name().to_string(),
            is_again: rule.is_again(),
            rule: Mutex::new(Some(rule)),
            saved,
            saved_forward: None,
            positions: self.positions,
            inputs: self.inputs.len(),
            results,
            keeps_none,
        };
        Node::call(self.sources, Box::new(call))
    }

    /// Whether a gradient may be asked for.
    pub fn is_recorded(&self) -> bool {
        !self.sources.is_empty()
    }

    /// Ends the call: these were its results, computed without recording gradients, and `rule` is the gradient. Answers with the results
    /// as the caller is to see them.
    ///
    /// # Errors
    ///
    /// A leaf that requires a gradient and was changed in place; memory.
    #[track_caller]
    pub fn end(self, results: &[Tensor], marks: Marks, rule: Arc<dyn Rule>) -> Result<Vec<Tensor>> {
        let fail = |text: String| Error::new("apply", ErrorKind::Gradient(text));
        for dirty in &marks.dirty {
            if !self.inputs.iter().any(|t| t.is(dirty)) {
                return Err(fail(format!("{}: only inputs are marked as changed", rule.name())));
            }
            if self.is_recorded() && dirty.is_of_leaf() {
                let text = "a leaf that requires a gradient was changed in place";
                return Err(fail(format!("{}: {text}", rule.name())));
            }
            if !results.iter().any(|t| t.is(dirty)) {
                let text = "an input that is marked as changed is not among the results";
                return Err(fail(format!("{}: {text}", rule.name())));
            }
        }
        let is_dirty = |t: &Tensor| marks.dirty.iter().any(|d| d.is(t));
        let is_input = |t: &Tensor| self.inputs.iter().any(|input| input.is(t));
        if !self.is_recorded() {
            let _guard = no_grad();
            // An input that is handed through is another tensor on the same memory.
            let each =
                results.iter().map(|t| if is_input(t) && !is_dirty(t) { t.detach() } else { t.clone() });
            return Ok(each.collect());
        }
        // What an input was changed to is a result.
        let as_it_came = |t: &Tensor| is_input(t) && !is_dirty(t);
        let kept = |tensors: &[Option<Tensor>]| {
            let entries = tensors.iter().map(|t| saved::Entry::of(t.as_ref(), results, as_it_came));
            Arc::new(Saved::new(entries.collect()))
        };
        let (saved, saved_forward) = (kept(&marks.saved), marks.saved_forward.as_deref().map(kept));
        let call = Call {
            name: rule.name().to_string(),
            is_again: rule.is_again(),
            rule: Mutex::new(Some(rule)),
            saved: saved.clone(),
            saved_forward: saved_forward.clone(),
            positions: self.positions,
            inputs: self.inputs.len(),
            results: results.iter().map(Tensor::asked_facts).collect(),
            keeps_none: marks.keeps_none,
        };
        let node = Node::call(self.sources, Box::new(call))?;
        saved.belongs_to(&node);
        saved_forward.iter().for_each(|saved| saved.belongs_to(&node));
        let mut answers = Vec::with_capacity(results.len());
        for (i, result) in results.iter().enumerate() {
            let has_none = marks.non_differentiable.iter().any(|t| t.is(result));
            if has_none || !result.dtype().is_float() {
                let _guard = no_grad();
                answers.push(if is_input(result) && !is_dirty(result) {
                    result.detach()
                } else {
                    result.clone()
                });
                continue;
            }
            let seen = result_of(&node, i, &result.node());
            answers.push(match is_dirty(result) {
                true => {
                    result.write(seen)?;
                    result.clone()
                }
                false => Tensor::from_node(seen),
            });
        }
        Ok(answers)
    }
}

/// A node with the value of `value` that is result `i` of a call.
pub(crate) fn result_of(call: &Node, i: usize, value: &Node) -> Node {
    let node = untracked(value);
    node.set_tracked(true);
    node.set_tag(Tag::Output(call.clone(), i));
    node
}

/// Gradients of results that a walk has come by, by their numbers.
pub(crate) type Arrived = SmallVec<[(usize, Node); 2]>;

/// Where a walk goes on behind a call.
pub(crate) enum Onward {
    /// Gradients of the node's sources.
    Sources(SmallVec<[Option<Node>; 3]>),
    /// Results that were computed again, with their gradients.
    Results(Vec<(Node, Node)>),
}

impl Call {
    /// What a node has, if it is a call's.
    pub(crate) fn of(node: &Node) -> Option<&Call> {
        match node.tag()? {
            Tag::Call(call) => call.downcast_ref(),
            Tag::Owner(_) | Tag::History(_) | Tag::Forgotten(_) | Tag::Output(..) | Tag::Replayed(_) => None,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// See [`Rule::is_again`].
    pub(crate) fn is_again(&self) -> bool {
        self.is_again
    }

    /// The gradients of all results, of their shapes, of those that a walk has come by.
    pub(crate) fn wholes(&self, arrived: &Arrived) -> Result<Vec<Option<Node>>> {
        let of = |(i, facts): (usize, &Facts)| {
            let found = arrived.iter().find(|(at, _)| *at == i);
            found.map(|(_, gradient)| gradient.expand(facts.shape)).transpose()
        };
        self.results.iter().enumerate().map(of).collect()
    }

    /// The nodes of the tensors that it has kept for its gradient.
    pub(crate) fn saved(&self) -> Vec<Node> {
        self.saved.nodes()
    }

    /// See [`Marks::keeps_none`].
    pub(crate) fn keeps_none(&self) -> bool {
        self.keeps_none
    }

    /// What the results are of so many such calls together.
    pub(crate) fn facts_of_batch(&self, size: usize) -> Result<Vec<Facts>> {
        let of = |of: &Facts| Ok(Facts { shape: crate::transform::led(size, &of.shape)?, ..*of });
        self.results.iter().map(of).collect()
    }

    /// Gradients of the results through which one can differentiate: of ones, as a rule may leave out what a gradient of 0 asks nothing of.
    pub(crate) fn stand_ins(&self) -> Result<Vec<Node>> {
        let of = |of: &Facts| {
            let node = Node::scalar(1.0, of.dtype, of.device, true).expand(of.shape)?.alias();
            node.set_tracked(of.dtype.is_float());
            Ok(node)
        };
        self.results.iter().map(of).collect()
    }

    /// Lets go what the gradient needs.
    pub(crate) fn release(&self) {
        let rule = self.rule.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(rule);
        self.saved.release();
        self.saved_forward.iter().for_each(|saved| saved.release());
    }

    /// The tangents of the results by a rule of the function's own, if it has one, given those of the node's sources.
    pub(crate) fn forward(&self, given: &[Option<Node>]) -> Result<Option<Vec<Option<Node>>>> {
        let rule = self.rule.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(rule) = rule else { return Ok(None) };
        let mut tangents: Vec<Option<Tensor>> = vec![None; self.inputs];
        for (at, t) in self.positions.iter().zip(given) {
            tangents[*at] = t.clone().map(Tensor::from_node);
        }
        let saved = self.saved_forward.as_ref().unwrap_or(&self.saved);
        let Some(found) = rule.jvp(saved, &tangents)? else { return Ok(None) };
        if found.len() != self.results.len() {
            let text =
                format!("jvp answered with {} tangents for {} results", found.len(), self.results.len());
            return Err(self.fail(text));
        }
        let fitted = found.into_iter().zip(&self.results).enumerate().map(|(i, (t, of))| {
            let Some(t) = t else { return Ok(None) };
            if t.shape() != of.shape || t.dtype() != of.dtype || t.device() != of.device {
                let (got, wanted) =
                    (format!("{} {}", t.dtype(), t.shape()), format!("{} {}", of.dtype, of.shape));
                return Err(self.fail(format!("jvp answered with a tangent {got} for result {i}, {wanted}")));
            }
            Ok(Some(t.node()))
        });
        fitted.collect::<Result<Vec<_>>>().map(Some)
    }

    fn fail(&self, text: String) -> Error {
        Error::new("backward", ErrorKind::Gradient(format!("{}: {text}", self.name)))
    }

    /// Calls the rule.
    pub(crate) fn onward(&self, arrived: Arrived) -> Result<Onward> {
        let rule = self.rule.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(rule) = rule else {
            return Err(self.fail("the graph was let go after an earlier backward".into()));
        };
        let mut gradients: Vec<Option<Tensor>> = Vec::with_capacity(self.results.len());
        for (i, facts) in self.results.iter().enumerate() {
            let found = arrived.iter().find(|(at, _)| *at == i).map(|(_, gradient)| gradient);
            let gradient = match found {
                Some(gradient) => Some(gradient.expand(facts.shape)?),
                None if self.keeps_none => None,
                None => Some(Node::scalar(0.0, facts.dtype, facts.device, true).expand(facts.shape)?),
            };
            gradients.push(gradient.map(Tensor::from_node));
        }
        let found = match rule.backward(&self.saved, &gradients)? {
            Way::Inputs(found) => found,
            Way::Again(results) => return self.again(&results, &arrived),
        };
        if found.len() < self.inputs || found[self.inputs..].iter().any(Option::is_some) {
            let text = format!("answered with {} gradients for {} inputs", found.len(), self.inputs);
            return Err(self.fail(text));
        }
        let source = self.positions.iter().map(|&at| found[at].as_ref().map(Tensor::node));
        Ok(Onward::Sources(source.collect()))
    }

    fn again(&self, results: &[Tensor], arrived: &Arrived) -> Result<Onward> {
        let like = |t: &Tensor, of: &Facts| t.shape() == of.shape && t.dtype() == of.dtype;
        if results.len() != self.results.len()
            || !results.iter().zip(&self.results).all(|(t, of)| like(t, of))
        {
            let shapes = |all: &mut dyn Iterator<Item = (DType, Shape)>| {
                all.map(|(dtype, shape)| format!("{dtype} {shape}")).collect::<Vec<_>>().join(", ")
            };
            let text = format!(
                "what was computed again is not what it was: {} instead of {}",
                shapes(&mut results.iter().map(|t| (t.dtype(), t.shape()))),
                shapes(&mut self.results.iter().map(|of| (of.dtype, of.shape)))
            );
            return Err(self.fail(text));
        }
        let of = arrived.iter().map(|(i, gradient)| (results[*i].node(), gradient.clone()));
        Ok(Onward::Results(of.filter(|(node, _)| node.is_tracked()).collect()))
    }

    /// A gradient as that of a source: of its shape, or one that it was broadcast to, and its dtype.
    pub(crate) fn fitted(&self, gradient: &Node, source: &Node, i: usize) -> Result<Node> {
        let (of, to) = (*gradient.shape(), *source.shape());
        if gradient.device() != source.device() {
            let (got, wanted) = (gradient.device(), source.device());
            return Err(self.fail(format!("the gradient {i} is on {got}, its input on {wanted}")));
        }
        let gradient = gradient.cast(source.dtype());
        if of == to {
            return Ok(gradient);
        }
        if Shape::broadcast(&of, &to) != Some(of) {
            let text = format!("the gradient {i} has the shape {of}, its input {to}");
            return Err(self.fail(text));
        }
        let lead = of.rank() - to.rank();
        let axes = (0..of.rank()).filter(|&axis| axis < lead || (to[axis - lead] == 1 && of[axis] != 1));
        let axes = axes.fold(0, |axes, axis| axes | 1 << axis);
        gradient.reduce(ReduceKind::Sum, axes, true)?.reshape(to)
    }

    /// The number of the input that source `k` is.
    pub(crate) fn position(&self, k: usize) -> usize {
        self.positions[k]
    }
}

/// A function with a gradient of its own, for [`apply`].
///
/// ```
/// use mg_autograd::function::{Context, Function};
/// use mg_autograd::{Tensor, apply};
/// use mg_device::Result;
///
/// /// The exponential, whose gradient is its result.
/// struct Exp;
///
/// impl Function for Exp {
///     fn name(&self) -> &str {
///         "Exp"
///     }
///     fn forward(&self, context: &mut Context, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
///         let result = inputs[0].try_exp()?;
///         context.save_for_backward(&[&result]);
///         Ok(vec![result])
///     }
///     fn backward(&self, saved: &[Tensor], gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
///         Ok(vec![gradients[0].as_ref().map(|g| g * &saved[0])])
///     }
/// }
///
/// let x = Tensor::from_slice(&[0.0f64, 1.0]).requires_grad_(true)?;
/// let y = apply(Exp, &[&x])?.remove(0);
/// y.sum().backward()?;
/// assert_eq!(x.grad().unwrap().to_vec::<f64>()?, y.to_vec::<f64>()?);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub trait Function: Send + Sync + 'static {
    /// What it is called in errors.
    fn name(&self) -> &str;

    /// The results. What it computes is not recorded: the gradient is what [`Function::backward`] says.
    ///
    /// # Errors
    ///
    /// Those of the function.
    fn forward(&self, context: &mut Context, inputs: &[Tensor]) -> Result<Vec<Tensor>>;

    /// The gradients of the inputs, `None` where there is none, of the tensors that were saved and the gradients of the results. (These
    /// are zeros where there is none, unless [`Context::set_materialize_grads`] says otherwise.)
    ///
    /// # Errors
    ///
    /// Those of the function.
    fn backward(&self, saved: &[Tensor], gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>>;
}

/// What the forward half of a [`Function`] tells the backward half.
#[derive(Default)]
pub struct Context {
    marks: Marks,
    needs: Vec<bool>,
}

impl Context {
    /// Keeps tensors (inputs, results, others) for the gradient. One that is changed in place before that is an error there.
    pub fn save_for_backward(&mut self, tensors: &[&Tensor]) {
        self.marks.saved = tensors.iter().map(|&t| Some(t.clone())).collect();
    }

    /// No gradient flows through these results.
    pub fn mark_non_differentiable(&mut self, results: &[&Tensor]) {
        self.marks.non_differentiable = results.iter().map(|&t| t.clone()).collect();
    }

    /// These inputs were changed in place; they are among the results.
    pub fn mark_dirty(&mut self, inputs: &[&Tensor]) {
        self.marks.dirty = inputs.iter().map(|&t| t.clone()).collect();
    }

    /// Whether gradients that there are none of are given as zeros, which is so unless it is switched off, or as `None`.
    pub fn set_materialize_grads(&mut self, on: bool) {
        self.marks.keeps_none = !on;
    }

    /// Whether input `i` requires a gradient.
    pub fn needs_input_grad(&self, i: usize) -> bool {
        self.needs.get(i).copied().unwrap_or(false)
    }
}

struct Applied<F>(F);

impl<F: Function> Rule for Applied<F> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn backward(&self, saved: &Arc<Saved>, gradients: &[Option<Tensor>]) -> Result<Way> {
        let saved: Vec<Tensor> = saved.tensors()?.into_iter().flatten().collect();
        self.0.backward(&saved, gradients).map(Way::Inputs)
    }
}

/// Calls a function with a gradient of its own; see [`Function`]. In Python, `autograd.Function`.
///
/// # Errors
///
/// Those of the function's forward half; a leaf that it changed in place.
#[track_caller]
pub fn apply(function: impl Function, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
    let begun = Begun::with(inputs);
    let mut context =
        Context { marks: Marks::default(), needs: inputs.iter().map(|t| t.requires_grad()).collect() };
    let all: Vec<Tensor> = inputs.iter().map(|&t| t.clone()).collect();
    let results = {
        let _guard = no_grad();
        function.forward(&mut context, &all)?
    };
    begun.end(&results, context.marks, Arc::new(Applied(function)))
}
