//! Launches on the CPU, and what fails with what.

use crate::plan::{Bindings, Call, Code, Copies, KernelArg, Launch, ProgramLaunch};
use crate::run::{Executor, Failures, Memory, Run};
use mg_device::{Checked, Error, ErrorKind, Result};
use mg_kernels::args::{Args, InputArg};
use mg_kernels::cpu::library as routines;
use mg_kernels::finding::{Checks, Finding, Refusals, join_refusals};
use mg_kernels::library::{Operand, Shaped};
use mg_kernels::{Inst, Val};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Mutex;

/// The executor of the CPU. Results of a launch fail one by one: what is computed from what is there is computed.
pub(crate) struct Cpu;

impl<B: Bindings + Sync> Executor<B> for Cpu {
    fn program(&self, _: &Launch, p: &ProgramLaunch, run: &mut Run<B>) -> Result<()> {
        let Some(bad) = p.depends_on(run.failures) else { return Ok(()) };
        let compiled = p.coded.code.on_cpu()?;
        let result = p.with_args(run.memory, |args, _| {
            // SAFETY: operands and outputs are the plan's, sized by the shapes that the program was made from.
            unsafe { compiled.run(args) }
        });
        p.note(bad, result.err(), run.memory.graph, run.failures);
        Ok(())
    }

    /// Divided among threads as one.
    fn list(&self, _: &Launch, list: &[ProgramLaunch], run: &mut Run<B>) -> Result<()> {
        let bad: SmallVec<[Option<Bad>; 16]> = list.iter().map(|p| p.depends_on(run.failures)).collect();
        // Of what depends on a failure alone nothing is computed.
        let each = list.iter().zip(&bad).map(|(p, bad)| if bad.is_some() { p.coded.code.len() } else { 0 });
        let lengths: SmallVec<[usize; 16]> = each.collect();
        let work: usize = list.iter().map(|p| p.coded.code.len() * p.coded.program.values.len()).sum();
        let memory = SharedMemory(run.memory);
        let refused = mg_kernels::cpu::run::list(&lengths, work, &|i, range| {
            let (memory, p) = (&memory, &list[i]);
            let Code::Cpu(compiled) = &p.coded.code else { return Ok(()) };
            // SAFETY: as for a program; ranges are disjoint.
            p.with_args(memory.0, |args, _| unsafe { compiled.run_range(args, range) })
        });
        for ((p, bad), found) in list.iter().zip(bad).zip(refused) {
            if let Some(bad) = bad {
                p.note(bad, (!found.is_empty()).then_some(found), memory.0.graph, run.failures);
            }
        }
        Ok(())
    }

    fn copies(&self, launch: &Launch, copies: &Copies, run: &mut Run<B>) -> Result<()> {
        run.failures.none_of(copies.parts.iter().map(|part| &part.from))?;
        let (size, out) = (launch.dtype.size(), run.memory.slots[copies.output]);
        if copies.zeros {
            // SAFETY: the slot has room for the result.
            unsafe { routines::fill_zero(out, launch.shape.numel() * size) };
        }
        for part in copies.parts() {
            let (from, layout) = run.memory.operand(&part.from);
            // SAFETY: the operand lies as its layout says; the part is within the result, for which the slot has room.
            unsafe { routines::copy_strided(size, from, &layout, out, &part.to) };
        }
        Ok(())
    }

    fn transfer(&self, launch: &Launch, _: &KernelArg, _: usize, _: &mut Run<B>) -> Result<()> {
        // The other device copies.
        Err(Error::new(launch.name, ErrorKind::Internal("a transfer that the CPU is to make".into())))
    }

    fn kernel(&self, launch: &Launch, call: &Call, run: &mut Run<B>) -> Result<()> {
        run.failures.none_of(call.args.iter())?;
        let mut operands: SmallVec<[Operand; 4]> = SmallVec::new();
        for arg in &call.args {
            let (base, layout) = run.memory.operand(arg);
            if !layout.is_contiguous() && !call.kernel.takes_any_layout() {
                let text = "a kernel's operand does not lie densely".into();
                return Err(Error::new(launch.name, ErrorKind::Internal(text)));
            }
            operands.push(Operand { base, layout, dtype: arg.dtype });
        }
        let result = Shaped { shape: launch.shape, dtype: launch.dtype };
        let out = call.output.map(|slot| run.memory.slots[slot]);
        let is_refused = |found| refused(run.memory.graph, launch.node, call.kernel.checks(), found);
        match (&call.epilogue, out) {
            (Some(p), _) => launch.with_epilogue(call, p, &operands, out, run),
            // SAFETY: operands and output are the plan's, and lie as their layouts say.
            (None, Some(out)) => unsafe { call.kernel.cpu(&operands, out, &result) }.map_err(is_refused),
            (None, None) => {
                Err(Error::new(launch.name, ErrorKind::Internal("a kernel whose result nobody reads".into())))
            }
        }
    }
}

impl Launch {
    /// Runs a kernel, and the elementwise work that follows for each panel of its result.
    fn with_epilogue<B: Bindings>(
        &self,
        call: &Call,
        p: &ProgramLaunch,
        operands: &[Operand],
        out: Option<*mut u8>,
        run: &mut Run<B>,
    ) -> Result<()> {
        if p.depends_on(run.failures).is_none() && out.is_none() {
            return Ok(());
        }
        let compiled = p.coded.code.on_cpu()?;
        let refusals: Mutex<Refusals> = Mutex::default();
        let result = Shaped { shape: self.shape, dtype: self.dtype };
        let computed = p.with_args(run.memory, |args, product| {
            let shared = SharedArgs(args);
            let after = |panel: *const u8, range: Range<usize>| {
                let shared = &shared;
                let mut inputs: SmallVec<[InputArg; 16]> = shared.0.inputs.into();
                for &i in product {
                    inputs[i].ptr = panel;
                }
                let args = Args { inputs: &inputs, ..*shared.0 };
                // SAFETY: the panel holds these positions of the result; the rest as for programs.
                let result = unsafe { compiled.run_range(&args, range) };
                if let (Err(found), Ok(mut refusals)) = (result, refusals.lock()) {
                    join_refusals(&mut refusals, &found);
                }
            };
            // SAFETY: operands and output are the plan's, and lie as their layouts say.
            unsafe { call.kernel.cpu_then(operands, out, &result, &after) }
        });
        computed.map_err(|found| refused(run.memory.graph, self.node, call.kernel.checks(), found))?;
        let found = refusals.into_inner().unwrap_or_default();
        let bad = p.bad_inputs(run.failures);
        p.note(bad, (!found.is_empty()).then_some(found), run.memory.graph, run.failures);
        Ok(())
    }
}

/// The error of a check that refused something. `checks` is what the kernel says that it looks at; a program's checks say it themselves.
fn refused<B: Bindings>(graph: &B, node: usize, checks: Checks, found: Finding) -> Error {
    let Some(origin) = graph.origin(node) else {
        return Error::new("realize", ErrorKind::Internal("a check of unknown origin".into()));
    };
    let kind = match (found, checks) {
        (Finding::Index { index, size }, _) => Checked::Index { axis: origin.axis, size }.refusal(index),
        (Finding::Divisor, _) => Checked::Divisor.refusal(0),
        (Finding::Kernel { code, found }, Checks::Own { meaning, .. }) => meaning(code, found),
        (Finding::Kernel { .. }, Checks::Nothing | Checks::Index { .. }) => {
            ErrorKind::Internal("a kernel has refused what it does not check".into())
        }
    };
    Error::new(origin.op, kind).with_location(origin.line)
}

/// Values of a program that are wrong, and why.
type Bad = Vec<(Val, Error)>;

/// A plan's memory, for the threads that run a list.
struct SharedMemory<'a, 'b, B>(&'a Memory<'b, B>);
// SAFETY: the bindings are Sync; slots are addresses of memory that this run owns, of which tasks write disjoint ranges.
unsafe impl<B: Sync> Sync for SharedMemory<'_, '_, B> {}

/// A launch's arguments, for the threads that run a product's panels.
struct SharedArgs<'a, 'b>(&'a Args<'b>);
// SAFETY: `Args` may be used from any thread by its own contract.
unsafe impl Sync for SharedArgs<'_, '_> {}

impl ProgramLaunch {
    /// The operands that an earlier failure left without values.
    fn bad_inputs(&self, failures: &Failures) -> Bad {
        if failures.0.is_empty() {
            return vec![];
        }
        let values = self.coded.program.values.iter().enumerate();
        let bad = values.filter_map(|(v, value)| match value.inst {
            Inst::Input(i) => Some((v as Val, failures.at(&self.inputs[i as usize])?)),
            Inst::Const(_) | Inst::Map(..) | Inst::Cast(_) | Inst::Reduce(..) | Inst::Guard(..) => None,
        });
        bad.collect()
    }

    /// As [`ProgramLaunch::bad_inputs`]; `None` if that leaves nothing to compute, which is then noted.
    fn depends_on(&self, failures: &mut Failures) -> Option<Bad> {
        let bad = self.bad_inputs(failures);
        if bad.is_empty() {
            return Some(bad);
        }
        let errors = self.errors(&bad);
        if errors.iter().any(Option::is_none) {
            return Some(bad);
        }
        self.outputs
            .iter()
            .zip(errors)
            .for_each(|(&slot, e)| e.into_iter().for_each(|e| failures.add(slot, e)));
        None
    }

    /// For each output, the error of the first wrong value that it is computed from.
    fn errors(&self, bad: &Bad) -> Vec<Option<Error>> {
        let mut errors: Vec<Option<&Error>> = vec![None; self.coded.program.values.len()];
        for v in 0..errors.len() {
            let own = bad.iter().find(|(b, _)| *b as usize == v).map(|(_, error)| error);
            errors[v] = self.coded.program.args(v as Val).find_map(|a| errors[a as usize]).or(own);
        }
        self.coded.program.outputs.iter().map(|&(v, _)| errors[v as usize].cloned()).collect()
    }

    /// Notes the outputs that are computed from wrong operands or from what a check refused.
    fn note<B: Bindings>(&self, mut bad: Bad, found: Option<Refusals>, graph: &B, failures: &mut Failures) {
        for refusal in found.into_iter().flatten() {
            let node = self.checks.iter().find(|c| c.value == refusal.value).map_or(usize::MAX, |c| c.node);
            bad.push((refusal.value, refused(graph, node, Checks::Nothing, refusal.found)));
        }
        if bad.is_empty() {
            return;
        }
        for (&slot, error) in self.outputs.iter().zip(self.errors(&bad)) {
            error.into_iter().for_each(|error| failures.add(slot, error));
        }
    }
}
