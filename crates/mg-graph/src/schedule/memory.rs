//! The plan as a whole: launches in order, with what they wait for and where their values lie.

use super::arena::place_temporaries;
use super::checks::guard;
use super::group::Groups;
use super::lower::Lowering;
use super::order::in_order;
use super::path::Path;
use super::store::Alias;
use super::{Graph, together};
use crate::engine::{Root, internal};
use crate::hash::Table;
use crate::plan::{Action, Bind, KernelArg, Launch, Loc, Output, Place, Plan};
use mg_device::Result;

/// Puts launches in order, compiles their programs and plans memory.
pub(crate) fn assemble(graph: &Graph, groups: Groups, aliases: Vec<Alias>) -> Result<Plan> {
    let order = together::put(graph, &groups, in_order(&groups)?);
    let mut lowering = Lowering::new(graph, &groups, &order, &aliases);
    for (at, &id) in order.iter().enumerate() {
        lowering.launch(at, id)?;
    }
    let Lowering { mut plan, slot_of, fallible, .. } = lowering;
    resolve(&mut plan, &slot_of)?;
    for (&node, &slot) in &slot_of {
        plan.slots[slot].depends |= fallible.of(node);
    }
    list_independent(&mut plan);
    together::join(&mut plan);
    plan.checks_until = plan.launches.iter().rposition(Launch::is_checked).map_or(0, |at| at + 1);
    guard(&mut plan);
    let overwrites = |l: &Launch| l.outputs().any(|s| plan.slots[s].donor.is_some());
    plan.overwrites_from = plan.launches.iter().position(overwrites).unwrap_or(usize::MAX);
    tell_results(graph, &mut plan, &slot_of, aliases)?;
    place_temporaries(&mut plan);
    Ok(plan)
}

/// What leaves the plan: values that are wanted, and views of such.
fn tell_results(
    graph: &Graph,
    plan: &mut Plan,
    slot_of: &Table<usize, usize>,
    aliases: Vec<Alias>,
) -> Result<()> {
    for (&node, &slot) in slot_of {
        if is_wanted(graph, node) && !graph.known[node] {
            plan.slots[slot].leaves = true;
            let layout = graph.innermost[node].then(|| (graph.stored_layout(node), 0));
            plan.results.push(Output { node, slot: Place::Slot(slot), layout });
        }
    }
    for alias in aliases {
        let layout = graph.layout_of(alias.base);
        let end = graph.follow(layout, &alias.path).map_err(|_| internal("a view that is no layout"))?;
        let place = match slot_of.get(&alias.base) {
            Some(&slot) => {
                plan.slots[slot].leaves = true;
                Place::Slot(slot)
            }
            None => Place::Node(alias.base),
        };
        let delta = end.offset() as isize - layout.offset() as isize;
        plan.results.push(Output { node: alias.node, slot: place, layout: Some((end, delta)) });
    }
    plan.results.sort_by_key(|r| r.node);
    Ok(())
}

/// Where a kernel's operand lies.
pub(super) fn operand(graph: &Graph, source: usize) -> Result<KernelArg> {
    let mut path = Path::new();
    let base = graph.strip(source, &mut path);
    let layout = graph.layout_of(base);
    let end = graph.follow(layout, &path).map_err(|_| internal("a kernel's operand that is no view"))?;
    let loc = if graph.stored[base] { Loc::Stored(base) } else { Loc::Node(base) };
    let delta = end.offset() as isize - layout.offset() as isize;
    Ok(KernelArg { bind: Bind { loc, delta }, layout: end, dtype: graph.nodes[source].dtype })
}

/// Whether a node's value is set when the plan has run.
pub(super) fn is_wanted(graph: &Graph, node: usize) -> bool {
    match graph.root(node) {
        Root::Required => true,
        Root::Optional => true,
        Root::No => graph.kept[node] && !graph.known[node],
    }
}

/// Makes one launch of neighbouring elementwise programs that do not wait for each other.
fn list_independent(plan: &mut Plan) {
    let mut launches: Vec<Launch> = vec![];
    for launch in std::mem::take(&mut plan.launches) {
        let joins = launches.last().is_some_and(|last| {
            let elementwise = |l: &Launch| {
                matches!(l.action, Action::Program(_) | Action::List(_))
                    && l.programs().iter().all(|p| p.coded.code.is_elementwise())
            };
            let waits =
                launch.inputs().any(|b| matches!(b.loc, Loc::Slot(s) if last.outputs().any(|o| o == s)));
            // A donated operand that the other program reads would be overwritten under its hands.
            let donated = |l: &Launch, other: &Launch| {
                l.outputs()
                    .filter_map(|s| plan.slots[s].donor)
                    .any(|d| other.inputs().any(|b| b.loc == Loc::Node(d)))
            };
            // What one check refuses is not to keep others from being written.
            let (bits, others) = (launch.depends(&plan.slots), last.depends(&plan.slots));
            let together = launch.device.is_cpu() || bits == others || bits & others != 0;
            elementwise(last)
                && together
                && elementwise(&launch)
                && last.device == launch.device
                && !waits
                && !donated(last, &launch)
                && !donated(&launch, last)
        });
        match (launches.last_mut(), launch.action) {
            (Some(last), Action::Program(p)) if joins => {
                last.bit |= launch.bit;
                match &mut last.action {
                    Action::List(list) => list.push(p),
                    action => {
                        let empty = Action::List(vec![]);
                        if let Action::Program(first) = std::mem::replace(action, empty) {
                            *action = Action::List(vec![first, p]);
                        }
                    }
                }
            }
            (_, action) => launches.push(Launch { action, ..launch }),
        }
    }
    plan.launches = launches;
}

/// Turns "where this node is stored" into slots.
fn resolve(plan: &mut Plan, slot_of: &Table<usize, usize>) -> Result<()> {
    for launch in &mut plan.launches {
        for bind in launch.inputs_mut() {
            if let Loc::Stored(node) = bind.loc {
                let slot = slot_of.get(&node).ok_or_else(|| internal("a value that no launch writes"))?;
                bind.loc = Loc::Slot(*slot);
            }
        }
    }
    Ok(())
}
