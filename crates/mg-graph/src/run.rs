//! What launches are run with: the memory of one run of a plan, and what failed so far.

use crate::node::Value;
use crate::op::SourceKind;
use crate::plan::{
    Action, Bind, Bindings, Call, ConstBind, Copies, KernelArg, Launch, Loc, ProgramLaunch, Slot,
};
use mg_device::{DType, Device, Error, Layout, Result};
use mg_kernels::args::{Args, InputArg};
use mg_kernels::library::matmul::Precision;
use smallvec::SmallVec;
use std::ops::Range;

/// The memory of one run of a plan.
pub(crate) struct Memory<'a, B> {
    pub(crate) graph: &'a B,
    pub(crate) slots: SmallVec<[*mut u8; 16]>,
    pub(crate) planned: &'a [Slot],
    /// Of products, for the whole run: another thread may set another one meanwhile.
    pub(crate) precision: Precision,
}

impl<B: Bindings> Memory<'_, B> {
    pub(crate) fn value(&self, node: usize) -> Option<&Value> {
        self.graph.value(node)
    }

    fn input(&self, bind: &Bind, dtype: DType) -> InputArg {
        let mut arg = InputArg { ptr: std::ptr::null(), base: bind.delta as i64 as u64, seed: 0 };
        match bind.loc {
            Loc::Slot(slot) => {
                arg.ptr = self.slots[slot].wrapping_offset(bind.delta * dtype.size() as isize).cast_const();
            }
            Loc::Node(node) => match self.graph.argument(node) {
                Some(SourceKind::Random { seed, counter, .. }) => {
                    arg.seed = seed;
                    arg.base = arg.base.wrapping_add(counter);
                }
                Some(SourceKind::Ramp) => {}
                Some(SourceKind::Data | SourceKind::Const { .. } | SourceKind::Live { .. }) | None => {
                    if let Some(value) = self.value(node) {
                        let offset = value.layout.offset() as isize + bind.delta;
                        arg.ptr = value.buffer.as_ptr().wrapping_offset(offset * dtype.size() as isize);
                    }
                }
            },
            Loc::Stored(_) | Loc::Product => {}
        }
        arg
    }

    /// The device of an operand.
    pub(crate) fn device_of(&self, arg: &KernelArg) -> Device {
        match arg.bind.loc {
            Loc::Slot(slot) => self.planned[slot].device,
            Loc::Node(node) => self.value(node).map_or(Device::cpu(), |v| v.buffer.device()),
            Loc::Stored(_) | Loc::Product => Device::cpu(),
        }
    }

    /// The addresses of what lies at a place; nothing where it is no memory.
    pub(crate) fn span(&self, loc: Loc) -> Option<Range<u64>> {
        let (start, bytes) = match loc {
            Loc::Slot(slot) => {
                let planned = &self.planned[slot];
                (self.slots[slot].addr(), planned.len * planned.dtype.size())
            }
            Loc::Node(node) => {
                let buffer = &self.value(node)?.buffer;
                (buffer.as_ptr().addr(), buffer.bytes())
            }
            Loc::Stored(_) | Loc::Product => return None,
        };
        Some(start as u64..(start + bytes) as u64)
    }

    /// The buffer's start, and the layout with the offset of this run.
    pub(crate) fn operand(&self, arg: &KernelArg) -> (*const u8, Layout) {
        let (base, offset) = match arg.bind.loc {
            Loc::Slot(slot) => (self.slots[slot].cast_const(), 0),
            Loc::Node(node) => self
                .value(node)
                .map_or((std::ptr::null(), 0), |v| (v.buffer.as_ptr(), v.layout.offset() as isize)),
            Loc::Stored(_) | Loc::Product => (std::ptr::null(), 0),
        };
        (base, with_offset(&arg.layout, offset + arg.bind.delta))
    }
}

/// A layout with another offset.
pub(crate) fn with_offset(layout: &Layout, offset: isize) -> Layout {
    if layout.offset() as isize == offset {
        return *layout;
    }
    Layout::new(*layout.shape(), layout.strides(), offset.max(0) as usize).unwrap_or(*layout)
}

/// Why slots have no value. Nearly always empty.
#[derive(Default)]
pub(crate) struct Failures(pub(crate) Vec<(usize, Error)>);

impl Failures {
    pub(crate) fn of(&self, slot: usize) -> Option<&Error> {
        self.0.iter().find(|f| f.0 == slot).map(|f| &f.1)
    }

    pub(crate) fn at(&self, bind: &Bind) -> Option<Error> {
        match bind.loc {
            Loc::Slot(slot) => self.of(slot).cloned(),
            Loc::Node(_) | Loc::Stored(_) | Loc::Product => None,
        }
    }

    /// An error where one of these has no value.
    pub(crate) fn none_of<'a>(&self, args: impl IntoIterator<Item = &'a KernelArg>) -> Result<()> {
        args.into_iter().find_map(|arg| self.at(&arg.bind)).map_or(Ok(()), Err)
    }

    pub(crate) fn add(&mut self, slot: usize, error: Error) {
        if self.of(slot).is_none() {
            self.0.push((slot, error));
        }
    }
}

impl ProgramLaunch {
    /// Binds the arguments; `f` also gets the positions of the operands that are the product's panel.
    pub(crate) fn with_args<B: Bindings, R>(
        &self,
        memory: &Memory<B>,
        f: impl FnOnce(&Args, &[usize]) -> R,
    ) -> R {
        const NONE: InputArg = InputArg { ptr: std::ptr::null(), base: 0, seed: 0 };
        let (mut few, mut many);
        let inputs: &mut [InputArg] = if self.inputs.len() <= 8 {
            few = [NONE; 8];
            &mut few[..self.inputs.len()]
        } else {
            many = vec![NONE; self.inputs.len()];
            &mut many
        };
        let mut product: SmallVec<[usize; 2]> = SmallVec::new();
        for (i, (bind, operand)) in self.inputs.iter().zip(&self.coded.program.inputs).enumerate() {
            if bind.loc == Loc::Product {
                product.push(i);
            }
            inputs[i] = memory.input(bind, operand.dtype);
        }
        let mut consts: SmallVec<[u64; 8]> = SmallVec::new();
        for c in &self.consts {
            consts.push(match *c {
                ConstBind::Literal(bits) => bits,
                ConstBind::Node(node) => match memory.graph.argument(node) {
                    Some(SourceKind::Const { bits, .. } | SourceKind::Live { bits, .. }) => bits,
                    // Only scalars are bound here.
                    Some(SourceKind::Data | SourceKind::Ramp | SourceKind::Random { .. }) | None => 0,
                },
            });
        }
        let mut outputs: SmallVec<[*mut u8; 8]> = SmallVec::new();
        for &slot in &self.outputs {
            outputs.push(memory.slots[slot]);
        }
        f(&Args { inputs, consts: &consts, outputs: &outputs }, &product)
    }
}

/// What a device does with a launch: one method for each kind. What fails is the error of all that the launch would have written,
/// unless the device can tell its results apart and has noted which of them it is.
pub(crate) trait Executor<B: Bindings> {
    /// Runs a program.
    fn program(&self, launch: &Launch, program: &ProgramLaunch, run: &mut Run<B>) -> Result<()>;
    /// Runs programs that do not wait for each other.
    fn list(&self, launch: &Launch, list: &[ProgramLaunch], run: &mut Run<B>) -> Result<()>;
    /// Copies parts to a dense result.
    fn copies(&self, launch: &Launch, copies: &Copies, run: &mut Run<B>) -> Result<()>;
    /// Copies from another device to one of its own, or from one of its own to the host.
    fn transfer(&self, launch: &Launch, from: &KernelArg, output: usize, run: &mut Run<B>) -> Result<()>;
    /// Runs a kernel that has a room.
    fn kernel(&self, launch: &Launch, call: &Call, run: &mut Run<B>) -> Result<()>;
    /// Runs kernels that are alike and do not wait for each other.
    fn together(&self, _: &Launch, all: &[Launch], run: &mut Run<B>) -> Result<()> {
        all.iter().try_for_each(|one| self.launch(one, run))
    }

    /// Runs a launch.
    fn launch(&self, launch: &Launch, run: &mut Run<B>) -> Result<()> {
        match &launch.action {
            Action::Program(program) => self.program(launch, program, run),
            Action::List(list) => self.list(launch, list, run),
            Action::Copies(copies) => self.copies(launch, copies, run),
            Action::Transfer { from, output } => self.transfer(launch, from, *output, run),
            Action::Kernel(call) => self.kernel(launch, call, run),
            Action::Together(all) => self.together(launch, all, run),
        }
    }
}

/// What a launch finds.
pub(crate) struct Run<'a, 'm, B> {
    pub(crate) memory: &'a Memory<'m, B>,
    pub(crate) failures: &'a mut Failures,
}
