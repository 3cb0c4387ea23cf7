//! Hooks: functions that are told of gradients when a walk has them, and may say others.

use crate::gradient::{accumulate, as_computed, is_leaf};
use crate::history::History;
use crate::jit;
use crate::tensor::memory::locked;
use crate::tensor::{Cell, Tensor};
use mg_device::{Error, ErrorKind, Result};
use mg_graph::{Node, Op};
use std::any::Any;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// Is told a gradient, and may answer with another one in its place.
pub type Hook = Arc<dyn Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync>;
/// Is told the leaf whose gradient was added to.
pub type AfterHook = Arc<dyn Fn(&Tensor) -> Result<()> + Send + Sync>;

/// Gradients of several tensors, `None` where there is none.
pub type Gradients = [Option<Tensor>];
/// Is told the gradients of an operation's results before those of its inputs are computed, and may answer with others in their place.
pub type NodePreHook = Arc<dyn Fn(&Gradients) -> Result<Option<Vec<Option<Tensor>>>> + Send + Sync>;
/// Is told the gradients of an operation's inputs, and those of its results; may answer with others in the place of the inputs'.
pub type NodeHook = Arc<dyn Fn(&Gradients, &Gradients) -> Result<Option<Vec<Option<Tensor>>>> + Send + Sync>;
/// Is told the gradients of several tensors of one pass backwards.
pub type MultiHook = Arc<dyn Fn(&Gradients) -> Result<()> + Send + Sync>;

/// What is to be told of a gradient: of a node's, or of a leaf's.
#[derive(Default)]
pub(crate) struct Watch {
    hooks: Mutex<Vec<(u64, Hook)>>,
    after: Mutex<Vec<(u64, AfterHook)>>,
    /// Those of the operation, behind the tensor's own.
    node_before: Mutex<Vec<(u64, NodePreHook)>>,
    node_after: Mutex<Vec<(u64, NodeHook)>>,
    /// The tensor that keeps the gradient though it is no leaf.
    keeper: Mutex<Weak<Cell>>,
}

/// Removes the hook that it was given for.
pub struct HookHandle {
    watches: Vec<Weak<Watch>>,
    number: u64,
}

const HOOKED: &str = "it registers a hook, or keeps the gradient of a result";

static NUMBER: AtomicU64 = AtomicU64::new(1);
/// How often hooks of leaves came or went: what was recorded before may not fit.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// Tensors that are no leaves and keep their gradients. The gradient belongs to what they are when a walk begins, whoever has written to them
/// since they were asked to.
static RETAINING: Mutex<Retaining> = Mutex::new(Retaining { cells: vec![], most: 64 });

struct Retaining {
    cells: Vec<Weak<Cell>>,
    /// Those of tensors that are gone are removed when there are as many.
    most: usize,
}

impl Retaining {
    fn tidy(&mut self) {
        self.cells.retain(|cell| cell.strong_count() > 0);
        self.most = 64.max(2 * self.cells.len());
    }
}

/// Makes tensors that keep their gradients known to what computes them now.
pub(crate) fn follow_writes() {
    let all: Vec<Tensor> = {
        let mut retaining = locked(&RETAINING);
        if retaining.cells.is_empty() {
            return;
        }
        retaining.tidy();
        retaining.cells.iter().filter_map(Weak::upgrade).map(Tensor).collect()
    };
    for t in all.iter().filter(|t| !t.keeps_grad()) {
        let node = as_computed(t.current());
        if node.is_tracked()
            && let Some(watch) = Watch::made(&node)
        {
            *locked(&watch.keeper) = Arc::downgrade(&t.0);
        }
    }
}

/// Says that somebody is told of gradients of a leaf's view from now on: steps that know the view, which may be replayed, were recorded without.
fn note_view_watched(node: &Node) {
    if mg_graph::is_recording() || !matches!(node.op(), Op::View(_)) {
        return;
    }
    let mut seen = node.clone();
    while matches!(seen.op(), Op::View(_)) && !is_leaf(&seen) {
        let Some(source) = seen.sources().into_iter().next() else { return };
        seen = source;
    }
    if is_leaf(&seen) {
        CHANGES.fetch_add(1, Ordering::Relaxed);
    }
}

/// A number that is another one when hooks of leaves, or of their views, came or went.
pub(crate) fn changes() -> u64 {
    CHANGES.load(Ordering::Relaxed)
}

impl HookHandle {
    /// Removes the hook. Again does nothing.
    pub fn remove(&self) {
        fn taken<H>(hooks: &Mutex<Vec<(u64, H)>>, number: u64) -> Vec<(u64, H)> {
            locked(hooks).extract_if(.., |(of, _)| *of == number).collect()
        }
        for watch in self.watches.iter().filter_map(Weak::upgrade) {
            CHANGES.fetch_add(1, Ordering::Relaxed);
            // Dropped when no lock is held.
            drop(taken(&watch.hooks, self.number));
            drop(taken(&watch.after, self.number));
            drop(taken(&watch.node_before, self.number));
            drop(taken(&watch.node_after, self.number));
        }
    }

    /// The hook's number.
    pub fn id(&self) -> u64 {
        self.number
    }
}

impl Watch {
    /// What is beside a node.
    pub(crate) fn of(node: &Node) -> Option<&Watch> {
        node.watch()?.downcast_ref()
    }

    /// What is to be told of the gradient of a node that is no leaf's.
    fn of_result(node: &Node) -> Result<Arc<Watch>> {
        note_view_watched(node);
        Watch::made(node).ok_or_else(|| {
            Error::new("register_hook", ErrorKind::Internal("a node is watched by others".into()))
        })
    }

    /// Has a hook be called from now on, one of those that `place` says.
    fn register<H>(
        self: &Arc<Watch>,
        place: impl Fn(&Watch) -> &Mutex<Vec<(u64, H)>>,
        hook: H,
    ) -> HookHandle {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        locked(place(self)).push((number, hook));
        HookHandle { watches: vec![Arc::downgrade(self)], number }
    }

    fn made(node: &Node) -> Option<Arc<Watch>> {
        let watch = node.watch_or(|| Arc::<Watch>::default() as Arc<dyn Any + Send + Sync>);
        watch.clone().downcast().ok()
    }

    /// The gradient that the hooks have made of one, which is of its shape and dtype.
    pub(crate) fn seen(&self, gradient: Node) -> Result<Node> {
        let hooks = locked(&self.hooks).clone();
        let mut gradient = gradient;
        for (_, hook) in hooks {
            let told = Tensor::from_node(gradient.clone());
            let said = hook(&told)?;
            // What a hook has changed in place counts as well.
            let new = said.unwrap_or(told).node();
            fits(&new, &gradient)?;
            gradient = new;
        }
        Ok(gradient)
    }

    /// Keeps a gradient of a node, where that is what a tensor is now which is to have it.
    pub(crate) fn keep(&self, node: &Node, gradient: &Node, create_graph: bool) -> Result<()> {
        let keeper = locked(&self.keeper).upgrade().map(Tensor);
        match keeper.filter(|t| !t.keeps_grad() && as_computed(t.current()).is(node)) {
            Some(t) => accumulate(&t, gradient.clone(), create_graph),
            None => Ok(()),
        }
    }

    /// The gradients of an operation's results that its hooks have made of some.
    pub(crate) fn before(&self, gradients: Vec<Option<Node>>) -> Result<Vec<Option<Node>>> {
        let hooks = locked(&self.node_before).clone();
        let mut now = gradients;
        for (_, hook) in hooks {
            if let Some(said) = hook(&tensors(&now))? {
                now = replaced(&now, &said)?;
            }
        }
        Ok(now)
    }

    /// Whether hooks want to be told of the gradients of an operation's results.
    pub(crate) fn begins(&self) -> bool {
        !locked(&self.node_before).is_empty()
    }

    /// Whether hooks want to be told of the gradients of an operation's inputs.
    pub(crate) fn waits(&self) -> bool {
        !locked(&self.node_after).is_empty()
    }

    /// The gradients of an operation's inputs that its hooks have made of some, given those of its results.
    pub(crate) fn behind(
        &self,
        inputs: Vec<Option<Node>>,
        results: &[Option<Node>],
    ) -> Result<Vec<Option<Node>>> {
        let hooks = locked(&self.node_after).clone();
        let of = tensors(results);
        let mut now = inputs;
        for (_, hook) in hooks {
            if let Some(said) = hook(&tensors(&now), &of)? {
                now = replaced(&now, &said)?;
            }
        }
        Ok(now)
    }

    /// As [`Watch::seen`], of a leaf.
    pub(crate) fn seen_by_leaf(&self, gradient: Node) -> Result<Node> {
        if !locked(&self.hooks).is_empty() {
            jit::note_hook();
        }
        self.seen(gradient)
    }

    /// What the hooks of a leaf's accumulation have made of the gradient that is to be added, if there is to be any.
    pub(crate) fn before_leaf(&self, gradient: Node) -> Result<Option<Node>> {
        jit::note_hook();
        Ok(self.before(vec![Some(gradient)])?.into_iter().next().flatten())
    }

    /// Tells that a leaf's gradient was added to, by this one, or by nothing.
    pub(crate) fn added(&self, leaf: &Tensor, gradient: Option<Node>) -> Result<()> {
        let hooks = locked(&self.after).clone();
        if !hooks.is_empty() || self.waits() {
            jit::note_hook();
        }
        hooks.into_iter().try_for_each(|(_, hook)| hook(leaf))?;
        self.behind(vec![], &[gradient]).map(drop)
    }

    /// Forgets the hooks: the walk was the last one.
    pub(crate) fn clear(&self) {
        let hooks = std::mem::take(&mut *locked(&self.hooks));
        let before = std::mem::take(&mut *locked(&self.node_before));
        let after = std::mem::take(&mut *locked(&self.node_after));
        drop((hooks, before, after));
    }
}

fn tensors(nodes: &[Option<Node>]) -> Vec<Option<Tensor>> {
    nodes.iter().map(|g| g.clone().map(Tensor::from_node)).collect()
}

/// Checks that what a hook has made of a gradient is like it.
pub(crate) fn fits(new: &Node, gradient: &Node) -> Result<()> {
    if new.shape() == gradient.shape() && new.dtype() == gradient.dtype() && new.device() == gradient.device()
    {
        return Ok(());
    }
    let text = format!(
        "a hook made a gradient {} {} of one {} {}",
        new.dtype(),
        new.shape(),
        gradient.dtype(),
        gradient.shape()
    );
    Err(Error::new("backward", ErrorKind::Gradient(text)))
}

/// The gradients that a hook has put in the place of others: as many, each like the one before.
fn replaced(now: &[Option<Node>], said: &Gradients) -> Result<Vec<Option<Node>>> {
    if said.len() != now.len() {
        let text = format!("a hook made {} gradients of {}", said.len(), now.len());
        return Err(Error::new("backward", ErrorKind::Gradient(text)));
    }
    let of = |(new, before): (&Option<Tensor>, &Option<Node>)| {
        let new = new.as_ref().map(Tensor::node);
        if let (Some(new), Some(before)) = (&new, before) {
            fits(new, before)?;
        }
        Ok(new)
    };
    said.iter().zip(now).map(of).collect()
}

thread_local! {
    /// Passes backwards that have begun on this thread, the innermost last: what hooks of several tensors were told in each.
    static PASSES: RefCell<Vec<Vec<Told>>> = const { RefCell::new(vec![]) };
}

/// What a hook of several tensors was told in a pass.
struct Told {
    number: u64,
    hook: MultiHook,
    gradients: Vec<Option<Tensor>>,
}

/// A pass backwards. Where it is dropped before its end, hooks of several tensors are not told of it.
pub(crate) struct Pass(usize);

impl Pass {
    pub(crate) fn begin() -> Pass {
        Pass(PASSES.with_borrow_mut(|passes| {
            passes.push(vec![]);
            passes.len()
        }))
    }

    /// All gradients are there: hooks of several tensors are told theirs.
    pub(crate) fn end(self) -> Result<()> {
        let told = PASSES.with_borrow_mut(|passes| passes.last_mut().map(std::mem::take));
        told.into_iter().flatten().try_for_each(|told| (told.hook)(&told.gradients))
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let passed = PASSES.with_borrow_mut(|passes| passes.split_off((self.0 - 1).min(passes.len())));
        drop(passed);
    }
}

/// When [`register_multi_grad_hook`] calls its hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MultiMode {
    /// At the end of a pass that computed a gradient of any of the tensors, with all of them.
    All,
    /// With the first of them in a pass.
    Any,
}

/// Calls a function once in each pass backwards (`backward`, `grad`) that computes gradients of some of these tensors: with all of them, in the
/// tensors' order and `None` for those that the pass does not come to, when they are there and before those of leaves are added to; or with the
/// first that there is. What it answers is not asked for.
///
/// ```
/// use mg_autograd::{MultiMode, Tensor, register_multi_grad_hook};
/// use std::sync::{Arc, Mutex};
///
/// let [a, b] = [1.0f32, 2.0].map(|x| Tensor::from_slice(&[x]).requires_grad_(true));
/// let (a, b) = (a?, b?);
/// let told = Arc::new(Mutex::new(vec![]));
/// let notes = told.clone();
/// let hook = move |gradients: &[Option<Tensor>]| {
///     let read = |g: &Option<Tensor>| g.as_ref().map(|g| g.item::<f32>()).transpose();
///     let found = gradients.iter().map(read).collect::<Result<Vec<_>, mg_device::Error>>()?;
///     notes.lock().unwrap().push(found);
///     Ok(())
/// };
/// let handle = register_multi_grad_hook(&[&a, &b], Arc::new(hook), MultiMode::All)?;
/// (&a * &b).sum().backward()?;
/// (&a * 3.0).sum().backward()?;
/// assert_eq!(*told.lock().unwrap(), [[Some(2.0), Some(1.0)], [Some(3.0), None]]);
/// handle.remove();
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// A tensor that requires no gradient; no tensors.
#[track_caller]
pub fn register_multi_grad_hook(tensors: &[&Tensor], hook: MultiHook, mode: MultiMode) -> Result<HookHandle> {
    let op = "register_multi_grad_hook";
    if tensors.is_empty() {
        return Err(Error::new(op, ErrorKind::Value("takes at least one tensor, got none".into())));
    }
    tensors.iter().try_for_each(|t| t.check_watchable(op))?;
    let (number, n) = (NUMBER.fetch_add(1, Ordering::Relaxed), tensors.len());
    // All of them, or none: what fails has registered nothing.
    let watches = tensors.iter().map(|t| t.watch()).collect::<Result<Vec<_>>>()?;
    for (i, watch) in watches.iter().enumerate() {
        let hook = hook.clone();
        let note: Hook = Arc::new(move |gradient: &Tensor| {
            let is_first = PASSES.with_borrow_mut(|passes| {
                let pass = passes.last_mut()?;
                if let Some(told) = pass.iter_mut().find(|told| told.number == number) {
                    told.gradients[i] = Some(gradient.clone());
                    return Some(false);
                }
                // In the mode for any it is noted that it was called.
                let told: MultiHook = match mode {
                    MultiMode::All => hook.clone(),
                    MultiMode::Any => Arc::new(|_| Ok(())),
                };
                let mut gradients = vec![None; n];
                gradients[i] = Some(gradient.clone());
                pass.push(Told { number, hook: told, gradients });
                Some(true)
            });
            if mode == MultiMode::Any && is_first == Some(true) {
                hook(&[Some(gradient.clone())])?;
            }
            Ok(None)
        });
        locked(&watch.hooks).push((number, note));
    }
    Ok(HookHandle { watches: watches.iter().map(Arc::downgrade).collect(), number })
}

impl History {
    fn watch(&self) -> Result<Arc<Watch>> {
        match (self.is_leaf(), self.leaf()) {
            (true, Some(leaf)) => leaf.watch(),
            (true, None) => {
                let text = "the leaf that it stands for is gone";
                Err(Error::new("register_hook", ErrorKind::Gradient(text.into())))
            }
            (false, _) => {
                jit::refuse_replay(HOOKED);
                Watch::of_result(self.node())
            }
        }
    }

    /// Calls a function with the gradients of the operation's results, behind the hooks of these tensors, before those of its inputs are computed;
    /// the gradients that it answers with take their place. Of a leaf, it is that which is about to be added to.
    ///
    /// # Errors
    ///
    /// A leaf that is gone.
    #[track_caller]
    pub fn register_prehook(&self, hook: NodePreHook) -> Result<HookHandle> {
        Ok(self.watch()?.register(|watch| &watch.node_before, hook))
    }

    /// Calls a function with the gradients of the operation's inputs, which are those of [`History::next`] and `None` where none flows, and of its
    /// results; the gradients that it answers with take the inputs' place. Of a leaf there are no inputs, and it is called when its gradient was
    /// added to.
    ///
    /// # Errors
    ///
    /// A leaf that is gone.
    #[track_caller]
    pub fn register_hook(&self, hook: NodeHook) -> Result<HookHandle> {
        Ok(self.watch()?.register(|watch| &watch.node_after, hook))
    }
}

impl Tensor {
    /// What is to be told of this tensor's gradient: that of a leaf whatever is written to it, or of a result as it is now.
    fn watch(&self) -> Result<Arc<Watch>> {
        jit::refuse_replay(HOOKED);
        match self.keeps_grad() {
            true => {
                CHANGES.fetch_add(1, Ordering::Relaxed);
                Ok(self.0.watch.get_or_init(Arc::default).clone())
            }
            // What graphs have of it, whoever has changed its numbers since.
            false => Watch::of_result(&as_computed(self.node())),
        }
    }

    /// The hooks of a leaf.
    pub(crate) fn leaf_watch(&self) -> Option<&Arc<Watch>> {
        self.0.watch.get()
    }

    /// Calls a function with the gradient of this tensor each time it is computed; the gradient that it answers with takes that one's
    /// place. Of a result, it is that of the value that it has now.
    ///
    /// ```
    /// use mg_autograd::Tensor;
    /// use std::sync::Arc;
    ///
    /// let x = Tensor::from_slice(&[1.0f32, 2.0]).requires_grad_(true)?;
    /// let y = &x * 3.0;
    /// let handle = y.register_hook(Arc::new(|gradient: &Tensor| Ok(Some(gradient * 2.0))))?;
    /// y.sum().backward()?;
    /// assert_eq!(x.grad().unwrap().to_vec::<f32>()?, [6.0, 6.0]);
    /// handle.remove();
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A tensor that requires no gradient.
    #[track_caller]
    pub fn register_hook(&self, hook: Hook) -> Result<HookHandle> {
        self.check_watchable("register_hook")?;
        Ok(self.watch()?.register(|watch| &watch.hooks, hook))
    }

    /// Calls a function with this leaf each time `backward` has added to its gradient.
    ///
    /// # Errors
    ///
    /// A tensor that is no leaf which requires a gradient.
    #[track_caller]
    pub fn register_post_accumulate_grad_hook(&self, hook: AfterHook) -> Result<HookHandle> {
        let op = "register_post_accumulate_grad_hook";
        self.check_watchable(op)?;
        if !self.keeps_grad() {
            let text = "only leaves have a gradient that is added to; this is the result of an operation";
            return Err(Error::new(op, ErrorKind::Gradient(text.into())));
        }
        Ok(self.watch()?.register(|watch| &watch.after, hook))
    }

    /// Keeps the gradient of this tensor in `grad` though it is the result of an operation. Leaves do that anyway. Where the tensor is written
    /// to, it is the gradient of what it is then.
    ///
    /// # Errors
    ///
    /// A tensor that requires no gradient.
    #[track_caller]
    pub fn retain_grad(&self) -> Result<()> {
        self.check_watchable("retain_grad")?;
        if !self.keeps_grad() {
            jit::refuse_replay(HOOKED);
        }
        if !self.keeps_grad() && !self.0.retains.swap(true, Ordering::Relaxed) {
            note_view_watched(&self.current());
            let mut retaining = locked(&RETAINING);
            if retaining.cells.len() >= retaining.most {
                retaining.tidy();
            }
            retaining.cells.push(Arc::downgrade(&self.0));
        }
        Ok(())
    }

    /// Whether it is the result of an operation whose gradient is kept.
    pub fn retains_grad(&self) -> bool {
        self.requires_grad() && !self.keeps_grad() && self.0.retains.load(Ordering::Relaxed)
    }

    #[track_caller]
    fn check_watchable(&self, op: &'static str) -> Result<()> {
        match self.requires_grad() {
            true => Ok(()),
            false => {
                let text = "takes a tensor that requires a gradient";
                Err(Error::new(op, ErrorKind::Gradient(text.into())))
            }
        }
    }
}
