//! Kernels of one's own: functions of scalars that become elementwise operations.
//!
//! A [`Kernel`] is a list of [`Step`]s in single assignment, each a declared elementwise operation, a choice, or a kernel that has
//! a gradient of its own. A call makes nodes of the steps, which the scheduler fuses with each other and with their neighbours, and
//! which have gradients of any order. Rust's `#[kernel]` and Python's `mg.kernel` both write down a kernel; what a call of it
//! means stands here once. See docs/kernels.md and decision 0048.

mod guard;
mod raw;
mod run;
mod tidy;
mod trace;

use crate::caller::public;
use crate::function::{self, Context, Function};
use crate::ops::Operand;
use crate::surface::{Kind, Operation, Returns};
use crate::tensor::Tensor;
use mg_device::{Category, DType, Error, ErrorKind, Result};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use mg_kernels::library::own::Config;
pub use raw::{Output, Raw, Source};
pub use trace::{Choose, Compare, Condition, Connect, Known, Results, S, Truth, called, trace};

/// What stands in a kernel's text.
#[derive(Clone, PartialEq, Debug)]
pub enum Constant {
    /// A floating-point number.
    Float(f64),
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A word that says how an operation is meant.
    Text(String),
    /// An argument that is left out: its default holds.
    Missing,
}

/// An argument of an operation in a kernel.
#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    /// The value of an earlier step.
    Value(usize),
    /// What is the same in all calls.
    Constant(Constant),
}

/// What a value of a kernel is.
#[derive(Clone)]
pub enum Step {
    /// The argument at a position.
    Argument(usize),
    /// A number or a truth value.
    Constant(Constant),
    /// An elementwise operation.
    Call(&'static Operation, Vec<Part>),
    /// The second where the first holds, else the third.
    Select([usize; 3]),
    /// The second value, as it is read where the first holds: elsewhere no gradient flows through it.
    Within([usize; 2]),
    /// The second value where the first holds; elsewhere, of an integer, one. What divides is not looked at where nothing is divided.
    Shield([usize; 2]),
    /// The value as a float, an integer (towards zero), a truth value.
    As(Sort, usize),
    /// A result of another kernel, which has a gradient of its own.
    Kernel(Arc<Kernel>, Vec<usize>, usize),
}

/// What a number is, whatever its width is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Sort {
    /// A truth value.
    Bool,
    /// An integer.
    Int,
    /// A floating-point number.
    Float,
}

/// How a kernel is differentiated where not by its steps.
#[derive(Clone)]
enum Slopes {
    /// The partial derivatives, one for each argument, of the arguments.
    Partial(Arc<Kernel>),
    /// The gradients of the arguments, of the arguments and of the gradients of the results.
    Backward(Arc<Kernel>),
}

/// A function of scalars, applied to the elements of tensors.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_autograd::kernel::{Builder, Part};
///
/// // x · sigmoid(b · x), with b a number or a tensor.
/// let mut f = Builder::new("swish", 2);
/// let (x, b) = (f.argument(0)?, f.argument(1)?);
/// let bx = f.call("mul", &[Part::Value(b), Part::Value(x)])?;
/// let gate = f.call("sigmoid", &[Part::Value(bx)])?;
/// let y = f.call("mul", &[Part::Value(x), Part::Value(gate)])?;
/// let swish = std::sync::Arc::new(f.end(&[y])?);
///
/// let x = Tensor::from_slice(&[0.0f32, 1.0]);
/// let y = swish.call(&[(&x).into(), 2.0.into()])?.remove(0);
/// let y = y.to_vec::<f32>()?;
/// assert!(y[0] == 0.0 && (y[1] - 0.880797).abs() < 1e-6);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct Kernel {
    name: &'static str,
    arguments: usize,
    steps: Vec<Step>,
    results: Vec<usize>,
    slopes: Option<Slopes>,
}

/// The most steps of a kernel: what a loop is unrolled to.
pub const MAX_STEPS: usize = 1 << 16;

/// The operations that a kernel may consist of, by their names: those that work element by element.
pub fn elementwise() -> &'static HashMap<&'static str, &'static Operation> {
    static ALL: OnceLock<HashMap<&'static str, &'static Operation>> = OnceLock::new();
    ALL.get_or_init(|| {
        let tables = [
            crate::ops::ROWS,
            crate::operations::ELEMENTWISE,
            crate::operations::SPECIAL,
            crate::operations::ACTIVATIONS,
        ];
        let all = tables.into_iter().flatten();
        let all = all
            .filter(|o| o.has_receiver && o.returns == Returns::Tensor && !o.reads && !o.places.is_empty());
        // What looks along an axis, draws numbers, or reads a weight of each channel.
        let all = all.filter(|o| {
            o.in_kernels && !o.params.iter().any(|p| p.name == "dim" || p.kind == Kind::Generator)
        });
        all.flat_map(|o| o.aliases.iter().copied().chain([o.name]).map(move |name| (name, o))).collect()
    })
}

/// A name that lives as long as the program: kernels are made of text, and nodes know their names.
fn kept(name: &str) -> &'static str {
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    if let Some(&known) = names.get(name) {
        return known;
    }
    let known: &'static str = Box::leak(name.into());
    names.insert(known);
    known
}

/// A kernel that is being written down.
pub struct Builder {
    kernel: Kernel,
}

impl Builder {
    /// A kernel without steps.
    pub fn new(name: &str, arguments: usize) -> Builder {
        let kernel = Kernel { name: kept(name), arguments, steps: vec![], results: vec![], slopes: None };
        Builder { kernel }
    }

    fn fail<T>(&self, text: String) -> Result<T> {
        Err(Error::new(self.kernel.name, ErrorKind::Value(text)))
    }

    fn push(&mut self, step: Step) -> Result<usize> {
        if self.kernel.steps.len() >= MAX_STEPS {
            return self.fail(format!("takes more than {MAX_STEPS} steps: its loops are unrolled"));
        }
        self.kernel.steps.push(step);
        Ok(self.kernel.steps.len() - 1)
    }

    fn known(&self, values: impl IntoIterator<Item = usize>) -> Result<()> {
        match values.into_iter().find(|&v| v >= self.kernel.steps.len()) {
            Some(v) => self.fail(format!("has no value {v} yet")),
            None => Ok(()),
        }
    }

    /// The argument at a position.
    ///
    /// # Errors
    ///
    /// An argument that the kernel does not have; too many steps, as for all that follow.
    pub fn argument(&mut self, at: usize) -> Result<usize> {
        if at >= self.kernel.arguments {
            return self.fail(format!("takes {} arguments", self.kernel.arguments));
        }
        self.push(Step::Argument(at))
    }

    /// A number or a truth value.
    ///
    /// # Errors
    ///
    /// A word.
    pub fn constant(&mut self, constant: Constant) -> Result<usize> {
        match constant {
            Constant::Float(_) | Constant::Int(_) | Constant::Bool(_) => self.push(Step::Constant(constant)),
            Constant::Text(_) | Constant::Missing => self.fail("computes with numbers only".into()),
        }
    }

    /// An elementwise operation by its name: see [`elementwise`].
    ///
    /// # Errors
    ///
    /// A name that no such operation has; arguments that it does not take.
    pub fn call(&mut self, name: &str, parts: &[Part]) -> Result<usize> {
        let Some(&operation) = elementwise().get(name) else {
            return self.fail(format!("{name} is no elementwise operation"));
        };
        self.known(parts.iter().filter_map(|p| if let Part::Value(v) = p { Some(*v) } else { None }))?;
        let required = 1 + operation.params.iter().filter(|p| p.default.is_none()).count();
        let most = 1 + operation.params.len();
        if parts.len() < required || parts.len() > most {
            let text = format!("{name} takes {required} to {most} arguments, got {}", parts.len());
            return self.fail(text);
        }
        for (part, param) in parts[1..].iter().zip(operation.params) {
            let is_ok = match (param.kind, part) {
                (Kind::Operand | Kind::Tensor, Part::Value(_)) | (_, Part::Constant(Constant::Missing)) => {
                    true
                }
                (_, Part::Value(_)) => false,
                (Kind::Operand | Kind::Tensor, Part::Constant(c)) => !matches!(c, Constant::Text(_)),
                (Kind::Float, Part::Constant(Constant::Float(_) | Constant::Int(_))) => true,
                (Kind::Int, Part::Constant(Constant::Int(_))) => true,
                (Kind::Bool, Part::Constant(Constant::Bool(_))) => true,
                (Kind::Text, Part::Constant(Constant::Text(_))) => true,
                (_, Part::Constant(_)) => false,
            };
            if !is_ok {
                let wanted = match param.kind {
                    Kind::Operand | Kind::Tensor => "a number",
                    Kind::Float => "a constant number",
                    Kind::Int => "a constant integer",
                    Kind::Bool => "a constant truth value",
                    Kind::Text => "a constant word",
                    _ => "left out in kernels",
                };
                return self.fail(format!("the argument '{}' of {name} is {wanted}", param.name));
            }
        }
        self.push(Step::Call(operation, parts.to_vec()))
    }

    /// `yes` where `condition` holds (is not zero), else `no`.
    ///
    /// # Errors
    ///
    /// Values that are not there.
    pub fn select(&mut self, condition: usize, yes: usize, no: usize) -> Result<usize> {
        self.known([condition, yes, no])?;
        self.push(Step::Select([condition, yes, no]))
    }

    /// `value` as the branch reads it that is taken where `condition` holds: elsewhere no gradient flows through it, be what
    /// is computed from it there infinite or NaN.
    ///
    /// # Errors
    ///
    /// Values that are not there.
    pub fn within(&mut self, condition: usize, value: usize) -> Result<usize> {
        self.known([condition, value])?;
        self.push(Step::Within([condition, value]))
    }

    /// `value` as a branch divides by it that is taken where `condition` holds: an integer that is 0 elsewhere is no error.
    ///
    /// # Errors
    ///
    /// Values that are not there.
    pub fn shield(&mut self, condition: usize, value: usize) -> Result<usize> {
        self.known([condition, value])?;
        self.push(Step::Shield([condition, value]))
    }

    /// The value as a float, an integer (towards zero) or a truth value.
    ///
    /// # Errors
    ///
    /// A value that is not there.
    pub fn cast(&mut self, sort: Sort, value: usize) -> Result<usize> {
        self.known([value])?;
        self.push(Step::As(sort, value))
    }

    /// A result of a kernel that has a gradient of its own. (The steps of others are written down in their place.)
    ///
    /// # Errors
    ///
    /// Values that are not there; another number of arguments; a result that is not there.
    pub fn kernel(&mut self, kernel: &Arc<Kernel>, args: &[usize], result: usize) -> Result<usize> {
        self.known(args.iter().copied())?;
        if args.len() != kernel.arguments || result >= kernel.results.len() {
            let (got, takes) = (args.len(), kernel.arguments);
            return self.fail(format!("{} takes {takes} arguments, got {got}", kernel.name));
        }
        self.push(Step::Kernel(kernel.clone(), args.to_vec(), result))
    }

    /// The kernel with these results.
    ///
    /// # Errors
    ///
    /// Values that are not there; no result.
    pub fn end(mut self, results: &[usize]) -> Result<Kernel> {
        self.known(results.iter().copied())?;
        if results.is_empty() {
            return self.fail("has no result".into());
        }
        self.kernel.results = results.to_vec();
        tidy::without_idle_gates(&mut self.kernel);
        tidy::without_unread(&mut self.kernel);
        Ok(self.kernel)
    }
}

impl Kernel {
    /// What it is called in errors and explanations.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How many arguments it takes.
    pub fn arguments(&self) -> usize {
        self.arguments
    }

    /// How many results it has.
    pub fn results(&self) -> usize {
        self.results.len()
    }

    /// How many steps it consists of.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Whether it has a gradient of its own.
    pub fn has_gradient(&self) -> bool {
        self.slopes.is_some()
    }

    /// The kernel with a gradient of its own. `gradient` takes the kernel's arguments and answers with its derivative by each of
    /// them; or it takes the gradients of the results besides, and answers with the gradients of the arguments.
    ///
    /// # Errors
    ///
    /// Another number of arguments or results.
    pub fn with_gradient(self, gradient: Arc<Kernel>) -> Result<Kernel> {
        let (n, m) = (self.arguments, self.results.len());
        let slopes = match gradient.arguments {
            of if gradient.results.len() != n => {
                let text = format!("{of} arguments and {} results", gradient.results.len());
                let text =
                    format!("a gradient answers with one result for each of the {n} arguments, got {text}");
                return Err(Error::new(self.name, ErrorKind::Value(text)));
            }
            of if of == n && m == 1 => Slopes::Partial(gradient),
            of if of == n + m => Slopes::Backward(gradient),
            of => {
                let text = if m == 1 { format!("{n} or {}", n + 1) } else { format!("{}", n + m) };
                let text = format!("a gradient takes {text} arguments, got one of {of}");
                return Err(Error::new(self.name, ErrorKind::Value(text)));
            }
        };
        Ok(Kernel { slopes: Some(slopes), ..self })
    }

    /// The results for these arguments, whose shapes broadcast.
    ///
    /// # Errors
    ///
    /// Another number of arguments; shapes that do not broadcast; operands on several devices; dtypes that a step does not take.
    #[track_caller]
    pub fn call(self: &Arc<Self>, args: &[Operand]) -> Result<Vec<Tensor>> {
        if args.len() != self.arguments {
            let text = format!("takes {} arguments, got {}", self.arguments, args.len());
            return Err(Error::new(self.name, ErrorKind::Value(text)));
        }
        public(self.name, || self.called(args))
    }

    /// As [`Kernel::call`], within another call.
    fn called(self: &Arc<Self>, args: &[Operand]) -> Result<Vec<Tensor>> {
        let needs = |a: &Operand| matches!(a, Operand::Tensor(t) if t.requires_grad());
        if self.slopes.is_none() || !mg_graph::is_tracking() || !args.iter().any(needs) {
            return run::run(self, args);
        }
        let inputs: Vec<&Tensor> =
            args.iter().filter_map(|a| if let Operand::Tensor(t) = a { Some(t) } else { None }).collect();
        function::apply(OwnGradient { kernel: self.clone(), args: without_tensors(args) }, &inputs)
    }
}

/// The numbers among arguments, and gaps where the tensors are.
fn without_tensors(args: &[Operand]) -> Vec<Option<Operand>> {
    args.iter().map(|a| if matches!(a, Operand::Tensor(_)) { None } else { Some(a.clone()) }).collect()
}

/// A call of a kernel that has a gradient of its own.
struct OwnGradient {
    kernel: Arc<Kernel>,
    /// The arguments that are numbers.
    args: Vec<Option<Operand>>,
}

impl OwnGradient {
    fn args(&self, tensors: &[Tensor]) -> Vec<Operand> {
        let mut tensors = tensors.iter();
        let one = |a: &Option<Operand>| a.clone().or_else(|| tensors.next().map(Operand::from));
        self.args.iter().filter_map(one).collect()
    }
}

impl Function for OwnGradient {
    fn name(&self) -> &str {
        self.kernel.name
    }

    fn forward(&self, context: &mut Context, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        context.save_for_backward(&inputs.iter().collect::<Vec<_>>());
        run::run(&self.kernel, &self.args(inputs))
    }

    fn backward(&self, saved: &[Tensor], gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        let mut args = self.args(saved);
        let Some(slopes) = &self.kernel.slopes else {
            return Err(Error::new(
                self.kernel.name,
                ErrorKind::Internal("a kernel lost its gradient".into()),
            ));
        };
        let zero = || Operand::Float(0.0);
        let given = gradients.iter().map(|g| g.as_ref().map_or_else(zero, Operand::from));
        let all = match slopes {
            Slopes::Backward(kernel) => {
                args.extend(given);
                kernel.called(&args)?
            }
            Slopes::Partial(kernel) => {
                let partial = kernel.called(&args)?;
                match gradients.first() {
                    Some(Some(g)) => partial.iter().map(|p| p.try_mul(g)).collect::<Result<_>>()?,
                    Some(None) | None => return Ok(vec![None; saved.len()]),
                }
            }
        };
        let of_tensors = all.into_iter().zip(&self.args).filter(|(_, a)| a.is_none()).map(|(g, _)| g);
        of_tensors
            .zip(saved)
            .map(|(g, x)| if x.dtype().is_float() { fitted(g, x).map(Some) } else { Ok(None) })
            .collect()
    }
}

/// A gradient summed to the shape of what it is the gradient of.
fn fitted(g: Tensor, x: &Tensor) -> Result<Tensor> {
    let (of, to) = (g.shape(), x.shape());
    let g = if g.dtype() == x.dtype() { g } else { Tensor::from_node(g.node().cast(x.dtype())) };
    if of == to {
        return Ok(g);
    }
    let lead = of.rank().saturating_sub(to.rank());
    let axes: Vec<isize> =
        (0..of.rank()).filter(|&d| d < lead || to[d - lead] == 1 && of[d] != 1).map(|d| d as isize).collect();
    if axes.is_empty() {
        return Ok(g);
    }
    let summed = g.try_sum_dim(&axes, true)?;
    Ok(Tensor::from_node(summed.node().reshape(to)?))
}

/// The dtype of a sort, for numbers that nothing else gives one.
fn plain(sort: Sort) -> DType {
    match sort {
        Sort::Bool => DType::Bool,
        Sort::Int => DType::I64,
        Sort::Float => DType::default_float(),
    }
}

/// What a dtype is, whatever its width is.
fn sort_of(dtype: DType) -> Sort {
    match dtype.category() {
        Category::Bool => Sort::Bool,
        Category::Float => Sort::Float,
        Category::Integer => Sort::Int,
    }
}
