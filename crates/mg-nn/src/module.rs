//! [`Module`]: what networks are built of, and the walk over a tree of them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

use mg_autograd::{Tensor, no_grad};
use mg_device::{DType, Device, Error, ErrorKind, Result};

use crate::state::{IncompatibleKeys, State};

/// A part of a network: parameters, other modules inside it, and what it makes of an input.
///
/// A module of your own is a struct of parameters and modules that says what it computes; names, gradients, modes and checkpoints follow
/// from its fields. (The second line of attributes is for those who use this crate alone: with the whole library, `micrograd_rs`, the first is enough.)
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_device::{DType, Result};
/// use mg_nn::{Linear, Module};
///
/// #[derive(Module)]
/// #[module(crate = mg_nn)]
/// struct Net {
///     fc1: Linear,
///     fc2: Linear,
///     scale: Tensor,
/// }
///
/// impl Net {
///     fn forward(&self, x: &Tensor) -> Result<Tensor> {
///         self.fc2.forward(&self.fc1.forward(x)?.relu())?.try_mul(&self.scale)
///     }
/// }
///
/// let scale = Tensor::ones(&[1], DType::F32)?.requires_grad_(true)?;
/// let net = Net { fc1: Linear::new(2, 4)?, fc2: Linear::new(4, 1)?, scale };
/// let names: Vec<String> = net.named_parameters().into_iter().map(|(name, _)| name).collect();
/// assert_eq!(names, ["fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias", "scale"]);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub trait Module: Send + Sync {
    /// The output for an input.
    ///
    /// # Errors
    ///
    /// An input whose shape, dtype or device the module does not take.
    // For all implementations: a mistake is told of the line that called the module.
    #[track_caller]
    fn forward(&self, input: &Tensor) -> Result<Tensor>;

    /// Tells a visitor the module's own parameters, buffers and children, in the order in which they are listed. Most
    /// modules leave the writing to [`fields!`](crate::fields).
    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>);

    /// The module in words, one line for each module inside it.
    fn describe(&self) -> String {
        let path = std::any::type_name::<Self>();
        let path = path.split('<').next().unwrap_or(path);
        describe_as(path.rsplit("::").next().unwrap_or(path), &visited(self))
    }

    /// Whether its answer is what the modules directly inside it make of the input, one after the other.
    fn is_chain(&self) -> bool {
        false
    }

    /// The modules directly inside this one, with their names.
    fn children(&self) -> Vec<(String, &dyn Module)> {
        let fields = visited(self).into_iter();
        fields
            .filter_map(|(name, field)| match field {
                Field::Child(child) => Some((name, child)),
                Field::Parameter(_)
                | Field::Buffer(_)
                | Field::Derived(_)
                | Field::Mode(_)
                | Field::Open(..) => None,
            })
            .collect()
    }

    /// This module, under the name `""`, and all inside it, each behind the one that it is in: `""`, `encoder`, `encoder.fc1`, ….
    ///
    /// ```
    /// use mg_nn::{Linear, Module, ReLU, sequential};
    ///
    /// let net = sequential![Linear::new(2, 3)?, ReLU, sequential![Linear::new(3, 1)?]];
    /// let names: Vec<String> = net.named_modules().into_iter().map(|(name, _)| name).collect();
    /// assert_eq!(names, ["", "0", "1", "2", "2.0"]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    fn named_modules(&self) -> Vec<(String, &dyn Module)>
    where
        Self: Sized,
    {
        modules_of(self)
    }

    /// Calls a function with each module inside this one, and then with this one, as PyTorch's does, and the name that it has here.
    ///
    /// ```
    /// use mg_nn::{Linear, Module, ReLU, init, sequential};
    ///
    /// let net = sequential![Linear::new(2, 3)?, ReLU, Linear::new(3, 1)?];
    /// net.apply(|_, module| {
    ///     for (name, p) in module.own_parameters() {
    ///         match name.as_str() {
    ///             "bias" => init::constant_(&p, 0.0)?,
    ///             _ => init::xavier_uniform_(&p, 1.0, None)?,
    ///         };
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!(net.parameters()[1].to_vec::<f32>()?, [0.0; 3]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The function's first, behind which it is not called any more.
    fn apply(&self, mut f: impl FnMut(&str, &dyn Module) -> Result<()>) -> Result<()>
    where
        Self: Sized,
    {
        applied("", self, &mut f)
    }

    /// The parameters of this module itself with their names, without those of modules inside it.
    fn own_parameters(&self) -> Vec<(String, Tensor)> {
        let fields = visited(self).into_iter();
        fields
            .filter_map(|(name, field)| match field {
                Field::Parameter(t) => Some((name, t.clone())),
                Field::Buffer(_) | Field::Derived(_) | Field::Child(_) | Field::Mode(_) | Field::Open(..) => {
                    None
                }
            })
            .collect()
    }

    /// All parameters, each once.
    fn parameters(&self) -> Vec<Tensor> {
        self.named_parameters().into_iter().map(|(_, parameter)| parameter).collect()
    }

    /// All parameters with their names, as PyTorch forms them: `0.weight`, `encoder.fc1.bias`. A parameter that several
    /// modules share is listed once, under its first name.
    fn named_parameters(&self) -> Vec<(String, Tensor)> {
        let found = parameters_of(self);
        Tensor::set_names(found.iter().map(|(name, t)| (name.as_str(), t)));
        found
    }

    /// All buffers with their names: what is not trained, and saved with the parameters unless it is made of numbers that the model has anyway.
    fn named_buffers(&self) -> Vec<(String, Tensor)> {
        let mut found = vec![];
        walk("", visited(self), &mut |name, field| {
            if let Field::Buffer(t) | Field::Derived(t) = field {
                found.push((name, t.clone()));
            }
        });
        found
    }

    /// Puts the module and all inside it in the mode for training, or the one for using it: dropout drops in the first only.
    fn train(&self, training: bool) {
        walk("", visited(self), &mut |_, field| {
            if let Field::Mode(mode) = field {
                mode.set(training);
            }
        });
    }

    /// As [`Module::train`] with `false`.
    fn eval(&self) {
        self.train(false);
    }

    /// Moves parameters and buffers to a device; they stay the same tensors, for an optimiser too. Move a module before its
    /// optimiser's first step: what that remembers is not moved.
    ///
    /// ```
    /// use mg_device::Device;
    /// use mg_nn::{Linear, Module};
    ///
    /// let layer = Linear::new(2, 3)?;
    /// let device = Device::cuda(0).unwrap_or(Device::cpu());
    /// layer.to(device)?;
    /// assert!(layer.parameters().iter().all(|p| p.device() == device));
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A device that is not there; memory, of which those before the one that failed have been moved.
    #[track_caller]
    fn to(&self, device: Device) -> Result<()> {
        device.check()?;
        let parameters = self.named_parameters().into_iter();
        for (_, t) in parameters.chain(self.named_buffers()) {
            t.move_to(device)?;
        }
        Ok(())
    }

    /// Converts parameters, their gradients and buffers of floats to a dtype of floats; they stay the same tensors, for an optimiser too. Buffers of
    /// integers are left as they are.
    ///
    /// ```
    /// use mg_device::DType;
    /// use mg_nn::{Linear, Module};
    ///
    /// let layer = Linear::new(2, 3)?;
    /// let weight = layer.weight.clone();
    /// layer.to_dtype(DType::BF16)?;
    /// assert!(weight.dtype() == DType::BF16 && weight.is_leaf() && weight.requires_grad());
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::DType`] for integers and truth values; memory. Then nothing was converted.
    #[track_caller]
    fn to_dtype(&self, dtype: DType) -> Result<()> {
        if !dtype.is_float() {
            let text = format!("a module takes a dtype of floats, got {dtype}");
            return Err(Error::new("to_dtype", ErrorKind::DType(text)));
        }
        let _guard = no_grad();
        let all = self.named_parameters().into_iter().chain(self.named_buffers());
        let all = all.map(|(_, t)| t).filter(|t| t.dtype().is_float() && t.dtype() != dtype);
        let made: Vec<(Tensor, Tensor, Option<Tensor>)> = all
            .map(|t| {
                let grad = t.grad().map(|grad| grad.to_dtype(dtype).snapshot());
                (t.clone(), t.to_dtype(dtype).snapshot(), grad)
            })
            .collect();
        // All of it is there before anything is put in its place.
        Tensor::realize_all(made.iter().flat_map(|(_, value, grad)| std::iter::once(value).chain(grad)))?;
        for (t, value, grad) in made {
            t.zero_grad();
            t.set_data(&value)?;
            t.set_grad(grad.as_ref())?;
        }
        Ok(())
    }

    /// Removes the gradients of all parameters.
    fn zero_grad(&self) {
        self.parameters().iter().for_each(Tensor::zero_grad);
    }

    /// What parameters and buffers are now, by name, but for those that have no shape yet. Later training does not change it.
    fn state(&self) -> State {
        let open = open_in(visited(self));
        let mut state = State::default();
        walk("", visited(self), &mut |name, field| {
            if let Field::Parameter(t) | Field::Buffer(t) = field
                && !open.contains_key(&t.id())
            {
                state.tensors.insert(name, t.snapshot());
            }
        });
        state
    }

    /// Sets parameters and buffers to those of `state`, converted to their dtypes.
    ///
    /// # Errors
    ///
    /// Entries that are missing, that the module does not have, or that have another shape: [`ErrorKind::Value`] that lists
    /// them all. Then nothing was changed.
    #[track_caller]
    fn load_state(&self, state: &State) -> Result<()> {
        load(visited(self), state, true).map(drop)
    }

    /// [`Module::load_state`]; without `strict`, of what `state` has that the module has too. Answers with what is missing and what
    /// the module does not have.
    ///
    /// ```
    /// use mg_nn::{Linear, Module};
    ///
    /// let (layer, mut state) = (Linear::new(3, 2)?, Linear::new(3, 2)?.state());
    /// state.tensors.remove("bias");
    /// assert_eq!(layer.load_state_with(&state, false)?.missing, ["bias"]);
    /// assert_eq!(layer.weight.to_vec::<f32>()?, state.tensors["weight"].to_vec::<f32>()?);
    /// assert!(layer.load_state_with(&state, true).is_err());
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Module::load_state`] if `strict`; without, entries of another shape: [`ErrorKind::Value`] that lists all that does not fit.
    /// Then nothing was changed.
    #[track_caller]
    fn load_state_with(&self, state: &State, strict: bool) -> Result<IncompatibleKeys> {
        load(visited(self), state, strict)
    }
}

/// A name within the module of another one.
fn within(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

fn modules_of(module: &dyn Module) -> Vec<(String, &dyn Module)> {
    fn add<'a>(name: String, module: &'a dyn Module, found: &mut Vec<(String, &'a dyn Module)>) {
        found.push((name.clone(), module));
        for (inner, child) in module.children() {
            add(within(&name, &inner), child, found);
        }
    }
    let mut found = vec![];
    add(String::new(), module, &mut found);
    found
}

fn applied(
    name: &str,
    module: &dyn Module,
    f: &mut dyn FnMut(&str, &dyn Module) -> Result<()>,
) -> Result<()> {
    module.children().into_iter().try_for_each(|(inner, child)| applied(&within(name, &inner), child, f))?;
    f(name, module)
}

/// The fields of a module, as [`Module::visit`] tells them.
#[derive(Default)]
pub struct Visitor<'a>(Vec<(String, Field<'a>)>);

enum Field<'a> {
    Parameter(&'a Tensor),
    Buffer(&'a Tensor),
    Derived(&'a Tensor),
    Child(&'a dyn Module),
    Mode(&'a Mode),
    /// Of a parameter or a buffer that has no shape yet: the sizes that are known.
    Open(&'a Tensor, Vec<Option<usize>>),
}

impl<'a> Visitor<'a> {
    /// A tensor that is trained.
    pub fn param(&mut self, name: impl Into<String>, parameter: &'a Tensor) {
        self.0.push((name.into(), Field::Parameter(parameter)));
    }

    /// A tensor that is saved with the parameters and not trained.
    pub fn buffer(&mut self, name: impl Into<String>, buffer: &'a Tensor) {
        self.0.push((name.into(), Field::Buffer(buffer)));
    }

    /// A tensor that is neither trained nor saved: it goes where the buffers go, and is made again with the module.
    pub fn derived(&mut self, name: impl Into<String>, buffer: &'a Tensor) {
        self.0.push((name.into(), Field::Derived(buffer)));
    }

    /// A module inside this one.
    pub fn child(&mut self, name: impl Into<String>, child: &'a dyn Module) {
        self.0.push((name.into(), Field::Child(child)));
    }

    /// Of a parameter or a buffer that was told: it has no shape yet, and takes that of a state that is loaded, if it has these sizes where they
    /// are known. So do lazy layers before their first input.
    pub fn open(&mut self, tensor: &'a Tensor, sizes: &[Option<usize>]) {
        self.0.push((String::new(), Field::Open(tensor, sizes.to_vec())));
    }

    /// What a module tells, without a tensor; `flat` tells of what is inside of its modules instead of these.
    pub(crate) fn without(&mut self, module: &'a dyn Module, hidden: &Tensor, flat: bool) {
        let mut tell = |name, field| {
            let is_hidden = matches!(
                &field,
                Field::Parameter(t) | Field::Buffer(t) | Field::Derived(t) if t.is(hidden)
            );
            if !is_hidden {
                self.0.push((name, field));
            }
        };
        match flat {
            true => walk("", visited(module), &mut tell),
            false => visited(module).into_iter().for_each(|(name, field)| tell(name, field)),
        }
    }

    /// The module's mode, for [`Module::train`] to switch.
    pub fn mode(&mut self, mode: &'a Mode) {
        self.0.push((String::new(), Field::Mode(mode)));
    }
}

/// Whether a module is being trained: at first it is. For modules that do something else then.
#[derive(Debug)]
pub struct Mode(AtomicBool);

impl Mode {
    /// Whether [`Module::train`] (rather than [`Module::eval`]) was called last.
    #[must_use]
    pub fn is_training(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Switches it.
    pub fn set(&self, training: bool) {
        self.0.store(training, Ordering::Relaxed);
    }
}

impl Default for Mode {
    fn default() -> Mode {
        Mode(AtomicBool::new(true))
    }
}

impl<M: Module + ?Sized> Module for Box<M> {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        (**self).forward(input)
    }
    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        (**self).visit(visitor);
    }
    fn describe(&self) -> String {
        (**self).describe()
    }
    fn is_chain(&self) -> bool {
        (**self).is_chain()
    }
}

/// What can be a field of a module: a parameter, a module, or some of either.
pub trait Register {
    /// Tells a visitor about itself, under this name.
    fn register<'a>(&'a self, name: &str, visitor: &mut Visitor<'a>);
}

impl Register for Tensor {
    fn register<'a>(&'a self, name: &str, visitor: &mut Visitor<'a>) {
        visitor.param(name, self);
    }
}

impl<M: Module> Register for M {
    fn register<'a>(&'a self, name: &str, visitor: &mut Visitor<'a>) {
        visitor.child(name, self);
    }
}

impl<T: Register> Register for Option<T> {
    fn register<'a>(&'a self, name: &str, visitor: &mut Visitor<'a>) {
        self.iter().for_each(|field| field.register(name, visitor));
    }
}

/// Named `name.0`, `name.1`, …
impl<T: Register> Register for Vec<T> {
    fn register<'a>(&'a self, name: &str, visitor: &mut Visitor<'a>) {
        self.iter().enumerate().for_each(|(i, field)| field.register(&format!("{name}.{i}"), visitor));
    }
}

/// Named by its keys, in their order: `name.key`.
impl<T: Register> Register for BTreeMap<String, T> {
    fn register<'a>(&'a self, name: &str, visitor: &mut Visitor<'a>) {
        self.iter().for_each(|(key, field)| field.register(&format!("{name}.{key}"), visitor));
    }
}

/// A switch of its mode, for [`Module::train`].
impl Register for Mode {
    fn register<'a>(&'a self, _: &str, visitor: &mut Visitor<'a>) {
        visitor.mode(self);
    }
}

/// Fields that are nothing to a visitor.
macro_rules! plain {
    ($($T:ty),*) => {$(
        impl Register for $T {
            fn register<'a>(&'a self, _: &str, _: &mut Visitor<'a>) {}
        }
    )*};
}
plain!(bool, u8, i32, u32, i64, u64, isize, usize, f32, f64, String, &'static str, DType, Device);

/// What can be a buffer of a module: `#[module(buffer)]` of a derived one.
pub trait RegisterBuffer {
    /// Tells a visitor about itself, under this name.
    fn register_buffer<'a>(&'a self, name: &str, visitor: &mut Visitor<'a>);
}

impl RegisterBuffer for Tensor {
    fn register_buffer<'a>(&'a self, name: &str, visitor: &mut Visitor<'a>) {
        visitor.buffer(name, self);
    }
}

impl RegisterBuffer for Option<Tensor> {
    fn register_buffer<'a>(&'a self, name: &str, visitor: &mut Visitor<'a>) {
        self.iter().for_each(|buffer| visitor.buffer(name, buffer));
    }
}

/// The answer of a module that takes something else than one tensor.
///
/// # Errors
///
/// Always.
#[doc(hidden)]
#[track_caller]
pub fn no_forward(name: &'static str) -> Result<Tensor> {
    let text = format!("a {name} takes something else than one tensor: call it by its own methods");
    Err(Error::new("forward", ErrorKind::Value(text)))
}

/// Writes [`Module::visit`] for the fields named: tensors are parameters, modules children, each under its field's name;
/// `Option`s and `Vec`s of them too. See [`Module`] for an example.
#[macro_export]
macro_rules! fields {
    ($($field:ident),* $(,)?) => {
        fn visit<'a>(&'a self, visitor: &mut $crate::Visitor<'a>) {
            let _ = &visitor;
            $($crate::Register::register(&self.$field, stringify!($field), visitor);)*
        }
    };
}

/// All parameters with their names, each once.
fn parameters_of<M: Module + ?Sized>(module: &M) -> Vec<(String, Tensor)> {
    let (mut found, mut known) = (vec![], HashSet::new());
    walk("", visited(module), &mut |name, field| {
        if let Field::Parameter(t) = field
            && known.insert(t.id())
        {
            found.push((name, t.clone()));
        }
    });
    found
}

/// What has no shape yet, by what tells tensors apart, and the sizes that are known.
fn open_in(fields: Vec<(String, Field<'_>)>) -> HashMap<usize, Vec<Option<usize>>> {
    let mut found = HashMap::new();
    walk("", fields, &mut |_, field| {
        if let Field::Open(t, sizes) = field {
            found.insert(t.id(), sizes);
        }
    });
    found
}

/// Whether a tensor of a module has no shape yet.
pub(crate) fn is_open<M: Module + ?Sized>(module: &M, tensor: &Tensor) -> bool {
    open_in(visited(module)).contains_key(&tensor.id())
}

/// Where a module is in the model whose parameters were asked for last: `None` where nobody asked, and where it has none.
fn path_of<M: Module + ?Sized>(module: &M) -> Option<String> {
    parameters_of(module).into_iter().find_map(|(own, t)| {
        let name = t.name()?;
        Some(name.strip_suffix(own.as_str())?.trim_end_matches('.').to_string())
    })
}

/// A module's answer, whose error is told of the module: `encoder.3.linear: takes […, 64], got …`. The path is known once the model
/// around it was asked for its parameters, as every optimiser, checkpoint and move to a device does.
///
/// # Errors
///
/// That of the answer.
#[doc(hidden)]
pub fn told<M: Module + ?Sized, T>(module: &M, answer: Result<T>) -> Result<T> {
    answer.map_err(|error| {
        if error.place().is_some() {
            return error;
        }
        let of = std::any::type_name::<M>();
        let of = of.split('<').next().and_then(|path| path.rsplit("::").next()).unwrap_or_default();
        match path_of(module).filter(|path| !path.is_empty()) {
            Some(path) => error.within(path, of),
            None => error,
        }
    })
}

/// The answer of the child of this name, whose error is told of the child where that cannot tell by itself.
pub(crate) fn told_of<M: Module + ?Sized, T>(
    module: &M,
    child: impl Display,
    answer: Result<T>,
) -> Result<T> {
    answer.map_err(|error| {
        if error.place().is_some() {
            return error;
        }
        let path = path_of(module).filter(|path| !path.is_empty());
        error.within(path.map_or_else(|| child.to_string(), |path| format!("{path}.{child}")), "")
    })
}

fn visited<M: Module + ?Sized>(module: &M) -> Vec<(String, Field<'_>)> {
    let mut visitor = Visitor::default();
    module.visit(&mut visitor);
    visitor.0
}

fn walk<'a>(prefix: &str, fields: Vec<(String, Field<'a>)>, f: &mut dyn FnMut(String, Field<'a>)) {
    for (name, field) in fields {
        let name = within(prefix, &name);
        match field {
            Field::Child(child) => walk(&name, visited(child), f),
            field => f(name, field),
        }
    }
}

/// `title`, and the children below it.
fn describe_as(title: &str, fields: &[(String, Field<'_>)]) -> String {
    let mut text = format!("{title}(");
    let mut any = false;
    for (name, field) in fields {
        if let Field::Child(child) = field {
            any = true;
            text += &format!("\n  ({name}): {}", child.describe().replace('\n', "\n  "));
        }
    }
    text + if any { "\n)" } else { ")" }
}

#[track_caller]
fn load(fields: Vec<(String, Field<'_>)>, state: &State, strict: bool) -> Result<IncompatibleKeys> {
    let mut own: Vec<(String, &Tensor)> = vec![];
    let mut open = HashMap::new();
    walk("", fields, &mut |name, field| match field {
        Field::Parameter(t) | Field::Buffer(t) => own.push((name, t)),
        Field::Open(t, sizes) => {
            open.insert(t.id(), sizes);
        }
        Field::Derived(_) | Field::Child(_) | Field::Mode(_) => {}
    });
    Tensor::set_names(own.iter().map(|(name, t)| (name.as_str(), *t)));
    let keys = incompatible(&own, &open, state);
    if strict || !keys.misshapen.is_empty() {
        keys.check("load_state", "model")?;
    }
    let _guard = no_grad();
    let given = own.iter().filter_map(|(name, t)| Some((*t, state.tensors.get(name)?)));
    // Wherever memory is wanting, it is before anything is written.
    let given = given.map(|(t, given)| Ok((t, given.to(t.device())?))).collect::<Result<Vec<_>>>()?;
    for (t, given) in &given {
        match open.contains_key(&t.id()) {
            true => t.set_data(&given.to_dtype(t.dtype()).copy())?,
            false => t.assign(given)?,
        }
    }
    Tensor::realize_all(given.iter().map(|(t, _)| *t))?;
    Ok(keys)
}

/// What a module's own tensors, some of which may have no shape yet, and a state do not have in common.
fn incompatible(
    own: &[(String, &Tensor)],
    open: &HashMap<usize, Vec<Option<usize>>>,
    state: &State,
) -> IncompatibleKeys {
    let known: HashSet<&str> = own.iter().map(|(name, _)| name.as_str()).collect();
    let unexpected = state.tensors.keys().filter(|name| !known.contains(name.as_str())).cloned();
    let mut keys = IncompatibleKeys { unexpected: unexpected.collect(), ..Default::default() };
    for (name, t) in own {
        let Some(given) = state.tensors.get(name) else {
            keys.missing.push(name.clone());
            continue;
        };
        let (takes, got) = (t.shape(), given.shape());
        let Some(sizes) = open.get(&t.id()) else {
            if takes != got {
                keys.misshape(name, takes, got);
            }
            continue;
        };
        if sizes.len() != got.rank() || !sizes.iter().zip(got.iter()).all(|(s, n)| s.is_none_or(|s| s == *n))
        {
            let words = sizes.iter().map(|s| s.map_or("any".to_owned(), |n| n.to_string()));
            keys.misshape(name, format!("[{}]", words.collect::<Vec<_>>().join(", ")), got);
        }
    }
    keys
}
