//! Plans: the launches that a graph's structure stands for, with everything decided that does not depend on addresses,
//! scalars and offsets.

pub(crate) use crate::code::{Code, Coded};
use crate::engine::Collected;
use crate::kernel::Kernel;
use crate::node::{Inner, Value};
use crate::op::{Map, Op, SourceKind};
use crate::prepared::Prepared;
use mg_device::{DType, Device, Layout, Shape};
use mg_kernels::Val;
use mg_kernels::library::{Library, Shaped};
use smallvec::SmallVec;
use std::panic::Location;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Where an operand comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Loc {
    /// A known value, or an argument (ramp, random numbers), by its position in the graph.
    Node(usize),
    /// A value that this plan computes, by its position in the graph (until slots are known).
    Stored(usize),
    /// A slot of the plan.
    Slot(usize),
    /// The panel of the matrix product that the program is the epilogue of.
    Product,
}

/// An operand's source and what is added to its offset, in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bind {
    pub(crate) loc: Loc,
    pub(crate) delta: isize,
}

/// Where a scalar argument comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ConstBind {
    Literal(u64),
    Node(usize),
}

/// A value of a program that refuses some operands, and the node that it stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    pub(crate) value: Val,
    pub(crate) node: usize,
}

/// An operation, the axis that it indexes, and where a person called it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The node's own; of what checks indices, the one that a person called.
    pub(crate) op: &'static str,
    /// The one that a person called, of which the node may be a part.
    pub(crate) called: &'static str,
    pub(crate) axis: usize,
    pub(crate) line: &'static Location<'static>,
    /// The node's, when the plan or the recording was made of it.
    pub(crate) sequence: u64,
}

impl Origin {
    pub(crate) fn of(inner: &Inner) -> Origin {
        let (op, axis) = match &inner.op {
            Op::Map(Map::Guard { op, axis, .. }) => (*op, usize::from(*axis)),
            Op::Kernel(Kernel::Library(kernel)) => (kernel.called(), kernel.checks().axis()),
            op => (op.name(), 0),
        };
        Origin {
            op,
            called: inner.called.map_or(op, crate::node::plain),
            axis,
            line: inner.location,
            sequence: inner.seq,
        }
    }
}

pub(crate) struct ProgramLaunch {
    pub(crate) coded: Arc<Coded>,
    pub(crate) inputs: Vec<Bind>,
    pub(crate) consts: Vec<ConstBind>,
    pub(crate) outputs: Vec<usize>,
    pub(crate) checks: Vec<Check>,
}

pub(crate) struct KernelArg {
    pub(crate) bind: Bind,
    /// Strides as planned; the offset is the planned one and is replaced at the launch.
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
}

pub(crate) enum Action {
    Program(ProgramLaunch),
    /// Elementwise programs over spaces of their own that do not wait for each other: an optimiser's step.
    List(Vec<ProgramLaunch>),
    /// Elements that are copied to parts of a dense result.
    Copies(Copies),
    /// Elements that are copied from another device.
    Transfer {
        from: KernelArg,
        output: usize,
    },
    Kernel(Call),
    /// Kernels that are alike and do not wait for each other: products of matrices.
    Together(Vec<Launch>),
}

impl KernelArg {
    pub(crate) fn shaped(&self) -> Shaped {
        Shaped { shape: *self.layout.shape(), dtype: self.dtype }
    }
}

/// Strided copies to one dense result: elements laid out densely that were not, parts of a tensor that is written to, tensors one after the other.
pub(crate) struct Copies {
    /// In order: of what overlaps, the last is there afterwards.
    pub(crate) parts: Vec<CopyPart>,
    /// What no part is copied to is zero.
    pub(crate) zeros: bool,
    /// The first part lies there already: only the others are copied.
    pub(crate) in_place: bool,
    pub(crate) output: usize,
}

/// What is copied, and where it goes in the result.
pub(crate) struct CopyPart {
    pub(crate) from: KernelArg,
    pub(crate) to: Layout,
}

/// A kernel that has a room, and its operands.
pub(crate) struct Call {
    pub(crate) kernel: Library,
    pub(crate) args: Vec<KernelArg>,
    pub(crate) output: Option<usize>,
    /// Somebody besides the epilogue reads the output.
    pub(crate) raw: bool,
    /// The output lies where the operand lies that the kernel overwrites, and has its elements.
    pub(crate) in_place: bool,
    /// The output lies with its axis 1 innermost.
    pub(crate) innermost: bool,
    pub(crate) epilogue: Option<ProgramLaunch>,
}

impl Copies {
    /// What is copied.
    pub(crate) fn parts(&self) -> &[CopyPart] {
        &self.parts[usize::from(self.in_place)..]
    }
}

pub(crate) struct Launch {
    pub(crate) action: Action,
    /// Where its results lie.
    pub(crate) device: Device,
    /// The last operation that it computes.
    pub(crate) node: usize,
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) dtype: DType,
    /// A library kernel's launches on a CUDA device, once they were made.
    pub(crate) prepared: Mutex<Option<Arc<Prepared>>>,
    /// The bit of its checks, if it makes any.
    pub(crate) bit: u64,
    /// Whether its epilogue may be part of a CUDA kernel, or its kernels one launch, for all that is known.
    pub(crate) fuses: AtomicBool,
}

/// Memory for a value.
pub(crate) struct Slot {
    pub(crate) device: Device,
    pub(crate) dtype: DType,
    pub(crate) len: usize,
    pub(crate) shape: Shape,
    /// The known node whose memory it takes over.
    pub(crate) donor: Option<usize>,
    /// It is a result: it gets a buffer of its own.
    pub(crate) leaves: bool,
    /// The launches, by their bits, whose checks may refuse what it is computed from.
    pub(crate) depends: u64,
    /// Where it lies in the arena, otherwise.
    pub(crate) offset: usize,
}

#[derive(Clone, Copy)]
pub(crate) enum Place {
    Slot(usize),
    Node(usize),
}

/// A node whose value is known after the plan.
pub(crate) struct Output {
    pub(crate) node: usize,
    pub(crate) slot: Place,
    /// For views: the planned layout, and its offset less the base's.
    pub(crate) layout: Option<(Layout, isize)>,
}

#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) key: Vec<u64>,
    pub(crate) launches: Vec<Launch>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) results: Vec<Output>,
    /// Bytes of temporary memory, by device.
    pub(crate) arenas: SmallVec<[(Device, usize); 1]>,
    /// The first launch that overwrites memory of a value from before; past all launches where none does.
    pub(crate) overwrites_from: usize,
    /// The launches before this one may refuse what they read; those after it do not.
    pub(crate) checks_until: usize,
    /// The CUDA device that launches with checks run on, and how many checks they have. What overwrites comes after them.
    pub(crate) guarded: Option<(Device, usize)>,
    /// What its launches need was assembled.
    pub(crate) assembled: AtomicBool,
}

/// What a run of a plan is given: the graph that it was found for, or what a recording says.
pub(crate) trait Bindings {
    /// The known value of the node at a position.
    fn value(&self, node: usize) -> Option<&Value>;
    /// The scalar, ramp or random numbers at a position.
    fn argument(&self, node: usize) -> Option<SourceKind>;
    /// Where the node at a position comes from; asked of [`Plan::origins`] only.
    fn origin(&self, node: usize) -> Option<Origin>;
}

impl Bindings for Collected<'_> {
    #[inline]
    fn value(&self, node: usize) -> Option<&Value> {
        self.nodes[node].value.get().and_then(|v| v.as_ref().ok())
    }

    #[inline]
    fn argument(&self, node: usize) -> Option<SourceKind> {
        match &self.nodes[node].op {
            Op::Source(kind) if self.nodes[node].value.get().is_none() => Some(kind.clone()),
            _ => None,
        }
    }

    fn origin(&self, node: usize) -> Option<Origin> {
        self.nodes.get(node).map(|inner| Origin::of(inner))
    }
}

impl Plan {
    /// The nodes that an error could name.
    pub(crate) fn origins(&self) -> impl Iterator<Item = usize> + '_ {
        let checks = self.launches.iter().flat_map(Launch::programs).flat_map(|p| &p.checks).map(|c| c.node);
        let own = self.launches.iter().flat_map(|launch| match &launch.action {
            Action::Together(all) => all.iter().map(|one| one.node).collect(),
            Action::Program(_) | Action::List(_) | Action::Copies(_) | Action::Transfer { .. } => {
                vec![launch.node]
            }
            Action::Kernel(_) => vec![launch.node],
        });
        checks.chain(own)
    }

    /// Whether it copies between devices.
    pub(crate) fn transfers(&self) -> bool {
        self.launches.iter().any(Launch::is_transfer)
    }
}

impl Launch {
    /// The programs of the launch: its own, those of a list, or a kernel's epilogue.
    pub(crate) fn programs(&self) -> &[ProgramLaunch] {
        match &self.action {
            Action::Program(p) => std::slice::from_ref(p),
            Action::List(list) => list,
            Action::Copies(_) | Action::Transfer { .. } => &[],
            Action::Kernel(call) => call.epilogue.as_slice(),
            // None of them has an epilogue.
            Action::Together(_) => &[],
        }
    }

    /// The kernel that it is, if it is one.
    pub(crate) fn call(&self) -> Option<&Call> {
        match &self.action {
            Action::Kernel(call) => Some(call),
            Action::Program(_) | Action::List(_) | Action::Copies(_) => None,
            Action::Transfer { .. } | Action::Together(_) => None,
        }
    }

    /// Whether it copies from another device.
    pub(crate) fn is_transfer(&self) -> bool {
        matches!(self.action, Action::Transfer { .. })
    }

    /// Whether its result has the elements already that lie where it writes.
    pub(crate) fn is_in_place(&self) -> bool {
        match &self.action {
            Action::Copies(copies) => copies.in_place,
            Action::Kernel(call) => call.in_place,
            Action::Program(_) | Action::List(_) | Action::Transfer { .. } | Action::Together(_) => false,
        }
    }

    /// Has the whole result written to memory that was not its own.
    pub(crate) fn leave_place(&mut self, slot: usize) {
        match &mut self.action {
            Action::Copies(copies) if copies.output == slot => copies.in_place = false,
            Action::Kernel(call) if call.output == Some(slot) => call.in_place = false,
            Action::Copies(_) | Action::Kernel(_) => {}
            Action::Program(_) | Action::List(_) | Action::Transfer { .. } | Action::Together(_) => {}
        }
    }

    /// Whether it may refuse what it reads.
    pub(crate) fn is_checked(&self) -> bool {
        self.checks() > 0
    }

    /// The launches whose checks may refuse what its results are computed from.
    pub(crate) fn depends(&self, slots: &[Slot]) -> u64 {
        self.outputs().fold(0, |bits, slot| bits | slots[slot].depends)
    }

    /// How many checks it makes.
    pub(crate) fn checks(&self) -> usize {
        let own = match &self.action {
            Action::Kernel(call) => usize::from(call.kernel.checks().any()),
            Action::Program(_) | Action::List(_) | Action::Copies(_) | Action::Transfer { .. } => 0,
            Action::Together(all) => all.iter().map(Launch::checks).sum(),
        };
        own + self.programs().iter().map(|p| p.checks.len()).sum::<usize>()
    }

    /// What the launch reads besides the operands of its programs.
    fn args(&self) -> SmallVec<[&KernelArg; 4]> {
        match &self.action {
            Action::Program(_) | Action::List(_) => SmallVec::new(),
            Action::Copies(copies) => copies.parts.iter().map(|part| &part.from).collect(),
            Action::Transfer { from, .. } => SmallVec::from_slice(&[from]),
            Action::Kernel(call) => call.args.iter().collect(),
            Action::Together(all) => all.iter().flat_map(Launch::args).collect(),
        }
    }

    /// What the launch reads.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Bind> {
        self.programs().iter().flat_map(|p| &p.inputs).chain(self.args().into_iter().map(|a| &a.bind))
    }

    /// What the launch reads, to be resolved.
    pub(crate) fn inputs_mut(&mut self) -> SmallVec<[&mut Bind; 8]> {
        match &mut self.action {
            Action::Program(p) => p.inputs.iter_mut().collect(),
            Action::List(list) => list.iter_mut().flat_map(|p| &mut p.inputs).collect(),
            Action::Copies(copies) => copies.parts.iter_mut().map(|part| &mut part.from.bind).collect(),
            Action::Transfer { from, .. } => std::iter::once(&mut from.bind).collect(),
            Action::Kernel(call) => {
                let own = call.args.iter_mut().map(|a| &mut a.bind);
                own.chain(call.epilogue.iter_mut().flat_map(|p| &mut p.inputs)).collect()
            }
            Action::Together(all) => all.iter_mut().flat_map(Launch::inputs_mut).collect(),
        }
    }

    /// The slots that the launch writes.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = usize> + '_ {
        let (output, all): (_, &[Launch]) = match &self.action {
            Action::Program(_) | Action::List(_) => (None, &[]),
            Action::Copies(copies) => (Some(copies.output), &[]),
            Action::Transfer { output, .. } => (Some(*output), &[]),
            Action::Kernel(call) => (call.output, &[]),
            Action::Together(all) => (None, all),
        };
        let of_calls = all.iter().filter_map(|launch| launch.call()?.output);
        self.programs().iter().flat_map(|p| p.outputs.iter().copied()).chain(output).chain(of_calls)
    }
}
