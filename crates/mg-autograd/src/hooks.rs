//! Hooks: functions that are told of gradients when a walk has them, and may say others.

use crate::gradient::{accumulate, as_computed, is_leaf};
use crate::jit;
use crate::tensor::memory::locked;
use crate::tensor::{Cell, Tensor};
use mg_device::{Error, ErrorKind, Result};
use mg_graph::{Node, Op};
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// Is told a gradient, and may answer with another one in its place.
pub type Hook = Arc<dyn Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync>;
/// Is told the leaf whose gradient was added to.
pub type AfterHook = Arc<dyn Fn(&Tensor) -> Result<()> + Send + Sync>;

/// What is to be told of a gradient: of a node's, or of a leaf's.
#[derive(Default)]
pub(crate) struct Watch {
    hooks: Mutex<Vec<(u64, Hook)>>,
    after: Mutex<Vec<(u64, AfterHook)>>,
    /// The tensor that keeps the gradient though it is no leaf.
    keeper: Mutex<Weak<Cell>>,
}

/// Removes the hook that it was given for.
pub struct HookHandle {
    watch: Weak<Watch>,
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
        let Some(watch) = self.watch.upgrade() else { return };
        CHANGES.fetch_add(1, Ordering::Relaxed);
        // Dropped when no lock is held.
        let of = |number: u64| number == self.number;
        let hooks: Vec<_> = locked(&watch.hooks).extract_if(.., |(number, _)| of(*number)).collect();
        let after: Vec<_> = locked(&watch.after).extract_if(.., |(number, _)| of(*number)).collect();
        drop((hooks, after));
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
            if new.shape() != gradient.shape()
                || new.dtype() != gradient.dtype()
                || new.device() != gradient.device()
            {
                let text = format!(
                    "a hook made a gradient {} {} of one {} {}",
                    new.dtype(),
                    new.shape(),
                    gradient.dtype(),
                    gradient.shape()
                );
                return Err(Error::new("backward", ErrorKind::Gradient(text)));
            }
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

    /// As [`Watch::seen`], of a leaf.
    pub(crate) fn seen_by_leaf(&self, gradient: Node) -> Result<Node> {
        if !locked(&self.hooks).is_empty() {
            jit::note_hook();
        }
        self.seen(gradient)
    }

    /// Tells that a leaf's gradient was added to.
    pub(crate) fn added(&self, leaf: &Tensor) -> Result<()> {
        let hooks = locked(&self.after).clone();
        if !hooks.is_empty() {
            jit::note_hook();
        }
        hooks.into_iter().try_for_each(|(_, hook)| hook(leaf))
    }

    /// Forgets the hooks: the walk was the last one.
    pub(crate) fn clear(&self) {
        let hooks = std::mem::take(&mut *locked(&self.hooks));
        drop(hooks);
    }
}

impl Tensor {
    /// What is to be told of this tensor's gradient: that of a leaf whatever is written to it, or of a result as it is now.
    fn watch(&self) -> Result<Arc<Watch>> {
        jit::refuse_replay(HOOKED);
        let found = match self.keeps_grad() {
            true => {
                CHANGES.fetch_add(1, Ordering::Relaxed);
                Some(self.0.watch.get_or_init(Arc::default).clone())
            }
            false => {
                // What graphs have of it, whoever has changed its numbers since.
                let node = as_computed(self.node());
                note_view_watched(&node);
                Watch::made(&node)
            }
        };
        found.ok_or_else(|| {
            Error::new("register_hook", ErrorKind::Internal("a node is watched by others".into()))
        })
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
        let watch = self.watch()?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        locked(&watch.hooks).push((number, hook));
        Ok(HookHandle { watch: Arc::downgrade(&watch), number })
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
        let watch = self.watch()?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        locked(&watch.after).push((number, hook));
        Ok(HookHandle { watch: Arc::downgrade(&watch), number })
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
