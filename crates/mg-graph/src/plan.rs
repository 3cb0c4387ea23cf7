//! Plans: the launches that a graph's structure stands for, with everything decided that does not depend on addresses,
//! scalars and offsets.

pub(crate) use crate::code::Code;
use crate::cuda::Prepared;
use crate::engine::Collected;
use crate::kernel::Kernel;
use crate::node::{Inner, Value};
use crate::op::{Map, Op, SourceKind};
use mg_device::{DType, Device, Layout, Shape};
use mg_kernels::{Program, Val};
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

/// The operation that a person called, the axis that it indexes, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) op: &'static str,
    pub(crate) axis: usize,
    pub(crate) line: &'static Location<'static>,
}

impl Origin {
    pub(crate) fn of(inner: &Inner) -> Origin {
        let (op, axis) = match &inner.op {
            Op::Map(Map::Guard { op, axis, .. })
            | Op::Kernel(Kernel::Gather { op, axis } | Kernel::ScatterAdd { op, axis }) => (*op, *axis),
            op => (op.name(), 0),
        };
        Origin { op, axis: axis as usize, line: inner.location }
    }
}

pub(crate) struct ProgramLaunch {
    pub(crate) program: Program,
    pub(crate) code: Code,
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
    /// Elements laid out densely that were not.
    Copy {
        from: KernelArg,
        output: usize,
    },
    Kernel {
        kernel: Kernel,
        args: Vec<KernelArg>,
        output: Option<usize>,
        /// Somebody besides the epilogue reads the output.
        raw: bool,
        /// The output lies where the last operand lies: what is written to it alone is left to do.
        in_place: bool,
        epilogue: Option<ProgramLaunch>,
    },
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
    /// Whether its epilogue may be part of a CUDA kernel, for all that is known.
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
        checks.chain(self.launches.iter().map(|l| l.node))
    }

    /// Whether it copies between devices.
    pub(crate) fn transfers(&self) -> bool {
        let is_transfer = |l: &Launch| matches!(l.action, Action::Kernel { kernel: Kernel::Transfer, .. });
        self.launches.iter().any(is_transfer)
    }
}

impl Launch {
    /// The programs of the launch: its own, those of a list, or a kernel's epilogue.
    pub(crate) fn programs(&self) -> &[ProgramLaunch] {
        match &self.action {
            Action::Program(p) => std::slice::from_ref(p),
            Action::List(list) => list,
            Action::Copy { .. } => &[],
            Action::Kernel { epilogue, .. } => epilogue.as_slice(),
        }
    }

    /// Whether it writes over its last operand.
    pub(crate) fn is_in_place(&self) -> bool {
        matches!(self.action, Action::Kernel { in_place: true, .. })
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
            Action::Kernel { kernel, .. } => usize::from(kernel.is_checked()),
            Action::Program(_) | Action::List(_) | Action::Copy { .. } => 0,
        };
        own + self.programs().iter().map(|p| p.checks.len()).sum::<usize>()
    }

    /// What the launch reads.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Bind> {
        let args = match &self.action {
            Action::Kernel { args, .. } => args.as_slice(),
            Action::Copy { from, .. } => std::slice::from_ref(from),
            _ => &[],
        };
        self.programs().iter().flat_map(|p| &p.inputs).chain(args.iter().map(|a| &a.bind))
    }

    /// The slots that the launch writes.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = usize> + '_ {
        let output = match &self.action {
            Action::Kernel { output, .. } => *output,
            Action::Copy { output, .. } => Some(*output),
            _ => None,
        };
        self.programs().iter().flat_map(|p| p.outputs.iter().copied()).chain(output)
    }
}
