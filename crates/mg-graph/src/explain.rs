//! Seeing what a line becomes: the launches of a plan, in words and as a drawing.

use crate::engine::{Collected, with_plan};
use crate::node::Node;
use crate::plan::{Action, Call, KernelArg, Launch, Loc, Plan, ProgramLaunch};
use mg_device::Result;
use mg_kernels::{Class, Inst, Program, Source};
use std::fmt::Write;
use std::sync::OnceLock;

/// A plan to look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The launches, in order.
    pub launches: Vec<LaunchInfo>,
    /// Bytes of temporary memory.
    pub temporary_bytes: usize,
}

/// A launch to look at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaunchInfo {
    /// What it is: `program`, or the name of a library kernel.
    pub kind: String,
    /// The space it walks, or the shape of its result.
    pub shape: Vec<usize>,
    /// The operations, in order.
    pub operations: Vec<String>,
    /// Bytes read from memory.
    pub bytes_read: u64,
    /// Bytes written to memory.
    pub bytes_written: u64,
    /// Floating-point operations of a library kernel.
    pub flops: Option<u64>,
    /// The line that the launch's last operation comes from; not shown where it is empty.
    pub line: String,
    /// The launches whose results it reads.
    pub after: Vec<usize>,
}

/// The launches that computing `nodes` would take; none where their values are known. Nothing is computed.
///
/// # Errors
///
/// An earlier failure of something that the nodes depend on.
pub fn explain(nodes: &[&Node]) -> Result<Explanation> {
    let explanation = with_plan(nodes, describe)?;
    Ok(explanation.unwrap_or(Explanation { launches: vec![], temporary_bytes: 0 }))
}

pub(crate) fn log(plan: &Plan, graph: &Collected) {
    static ON: OnceLock<bool> = OnceLock::new();
    if *ON.get_or_init(|| std::env::var("MG_LOG").is_ok_and(|v| v.split(',').any(|w| w == "plan"))) {
        eprintln!("{}", describe(plan, graph));
    }
}

fn operations(program: &Program, out: &mut Vec<String>) {
    for value in &program.values {
        match value.inst {
            Inst::Map(row, _) => out.push(row.name().into()),
            Inst::Cast(_) => out.push(format!("to_{}", value.dtype)),
            Inst::Reduce(kind, _, _) => out.push(kind.name().into()),
            Inst::Guard(..) => out.push("check_index".into()),
            Inst::Input(_) | Inst::Const(_) => {}
        }
    }
    if out.is_empty() {
        out.push("copy".into());
    }
}

fn traffic(p: &ProgramLaunch) -> (u64, u64) {
    let program = &p.coded.program;
    let read = program.inputs.iter().zip(&p.inputs).map(|(operand, bind)| {
        if operand.source != Source::Buffer || bind.loc == Loc::Product {
            return 0;
        }
        let n: usize =
            program.space.iter().zip(&operand.strides).map(|(&n, &s)| if s == 0 { 1 } else { n }).product();
        (n * operand.dtype.size()) as u64
    });
    let written = program.outputs.iter().map(|&(v, class)| {
        let n = program.len_of(if class == Class::Uniform { Class::Total } else { class });
        (n * program.values[v as usize].dtype.size()) as u64
    });
    (read.sum(), written.sum())
}

/// Bytes that are read of an operand: elements that repeat count once.
fn read(arg: &KernelArg) -> u64 {
    let dims = arg.layout.shape().iter().zip(arg.layout.strides());
    let n: usize = dims.map(|(&n, &s)| if s == 0 { 1 } else { n }).product();
    (n * arg.dtype.size()) as u64
}

fn written(plan: &Plan, slot: usize) -> u64 {
    (plan.slots[slot].len * plan.slots[slot].dtype.size()) as u64
}

fn describe(plan: &Plan, graph: &Collected) -> Explanation {
    let mut writer = vec![None; plan.slots.len()];
    let mut launches = vec![];
    for (at, launch) in plan.launches.iter().enumerate() {
        let line = graph.nodes[launch.node].location;
        launches.push(info(plan, format!("{}:{}", line.file(), line.line()), launch, &writer));
        let mut write = |slot: usize| writer[slot] = Some(at);
        launch.outputs().for_each(&mut write);
    }
    Explanation { launches, temporary_bytes: plan.arenas.iter().map(|a| a.1).sum() }
}

/// What a launch is; `writer` has the launch that writes each slot, where that is to be known.
pub(crate) fn info(plan: &Plan, line: String, launch: &Launch, writer: &[Option<usize>]) -> LaunchInfo {
    let mut after: Vec<usize> = launch
        .inputs()
        .filter_map(|bind| match bind.loc {
            Loc::Slot(slot) => writer.get(slot).copied().flatten(),
            Loc::Node(_) | Loc::Stored(_) | Loc::Product => None,
        })
        .collect();
    let mut info = LaunchInfo {
        kind: "program".into(),
        shape: launch.shape.to_vec(),
        operations: vec![],
        bytes_read: 0,
        bytes_written: 0,
        flops: None,
        line,
        after: vec![],
    };
    match &launch.action {
        Action::Program(p) => {
            info.shape = p.coded.program.space.clone();
            operations(&p.coded.program, &mut info.operations);
            (info.bytes_read, info.bytes_written) = traffic(p);
        }
        Action::List(list) => {
            info.kind = format!("list of {}", list.len());
            info.shape = vec![list.iter().map(|p| p.coded.code.len()).sum()];
            for p in list {
                let (read, written) = traffic(p);
                info.bytes_read += read;
                info.bytes_written += written;
            }
            if let Some(p) = list.first() {
                operations(&p.coded.program, &mut info.operations);
            }
        }
        Action::Copies(copies) => {
            let is_plain = copies.parts.len() == 1 && !copies.zeros;
            let name = if is_plain { "copy" } else { launch.name };
            info.kind = name.into();
            info.operations.push(name.into());
            info.bytes_read = copies.parts().iter().map(|part| read(&part.from)).sum();
            info.bytes_written = match copies.in_place {
                true => info.bytes_read,
                false => written(plan, copies.output),
            };
        }
        Action::Transfer { from, output } => {
            info.kind = launch.name.into();
            info.operations.push(launch.name.into());
            info.bytes_read = read(from);
            info.bytes_written = written(plan, *output);
        }
        Action::Kernel(Call { kernel, args, output, raw, in_place, innermost, epilogue }) => {
            info.kind = kernel.name().into();
            info.operations.push(kernel.name().into());
            if *innermost {
                info.operations.push("channels innermost".into());
            }
            info.flops = kernel.flops(&args.iter().map(KernelArg::shaped).collect::<Vec<_>>());
            // What is written over is not read.
            let over = kernel.overwrites().filter(|_| *in_place);
            let others = args.iter().enumerate().filter(|(i, _)| Some(*i) != over);
            info.bytes_read = others.map(|(_, arg)| read(arg)).sum();
            if *in_place {
                info.bytes_written = info.bytes_read;
            } else if let Some(slot) = output.filter(|_| *raw) {
                info.bytes_written = written(plan, slot);
            }
            if let Some(p) = epilogue {
                operations(&p.coded.program, &mut info.operations);
                let (read, written) = traffic(p);
                info.bytes_read += read;
                info.bytes_written += written;
            }
        }
        Action::Together(all) => {
            info.kind = format!("{} ×{}", launch.name, all.len());
            info.shape = vec![all.iter().map(|one| one.shape.numel()).sum()];
            info.flops = Some(0);
            for one in all.iter().map(|one| self::info(plan, String::new(), one, writer)) {
                info.operations.extend(one.operations);
                info.bytes_read += one.bytes_read;
                info.bytes_written += one.bytes_written;
                info.flops = info.flops.zip(one.flops).map(|(sum, own)| sum + own);
            }
        }
    }
    after.sort_unstable();
    after.dedup();
    info.after = after;
    info
}

/// `1234567` as `1.23 MB`.
pub(crate) fn bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} B"),
        1_000..1_000_000 => format!("{:.2} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} MB", n as f64 / 1e6),
        _ => format!("{:.2} GB", n as f64 / 1e9),
    }
}

/// Operations in order, runs of one name as `mul ×3`.
pub(crate) fn joined(operations: &[String]) -> String {
    let mut out = String::new();
    let mut i = 0;
    while i < operations.len() {
        let n = operations[i..].iter().take_while(|o| **o == operations[i]).count();
        let _ = write!(out, "{}{}", if i > 0 { ", " } else { "" }, operations[i]);
        if n > 1 {
            let _ = write!(out, " ×{n}");
        }
        i += n;
    }
    out
}

impl std::fmt::Display for Explanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (read, written) =
            self.launches.iter().fold((0, 0), |(r, w), l| (r + l.bytes_read, w + l.bytes_written));
        let n = self.launches.len();
        let plural = if n == 1 { "" } else { "es" };
        write!(f, "{n} launch{plural}, reads {}, writes {}", bytes(read), bytes(written))?;
        if self.temporary_bytes > 0 {
            write!(f, ", {} of temporary memory", bytes(self.temporary_bytes as u64))?;
        }
        for (i, launch) in self.launches.iter().enumerate() {
            write!(
                f,
                "\n{i:>4}  {} {:?}: {}\n      reads {}, writes {}",
                launch.kind,
                launch.shape,
                joined(&launch.operations),
                bytes(launch.bytes_read),
                bytes(launch.bytes_written)
            )?;
            if let Some(flops) = launch.flops {
                write!(f, ", {:.1} Mflop", flops as f64 / 1e6)?;
            }
            if !launch.line.is_empty() {
                write!(f, "  ({})", launch.line)?;
            }
        }
        Ok(())
    }
}

impl Explanation {
    /// The launches as a Graphviz drawing.
    pub fn to_dot(&self) -> String {
        let mut dot =
            String::from("digraph plan {\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n");
        for (i, launch) in self.launches.iter().enumerate() {
            let _ = writeln!(
                dot,
                "  n{i} [label=\"{} {:?}\\n{}\\nreads {}, writes {}\"];",
                launch.kind,
                launch.shape,
                joined(&launch.operations),
                bytes(launch.bytes_read),
                bytes(launch.bytes_written)
            );
            for from in &launch.after {
                let _ = writeln!(dot, "  n{from} -> n{i};");
            }
        }
        dot.push_str("}\n");
        dot
    }
}
