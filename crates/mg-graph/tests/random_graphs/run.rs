//! Builds a graph without computing it, asks for values as its history says, and compares.

use crate::common::cells;
use crate::generate::{Case, Event};
use crate::reference::{self, Known, differs};
use mg_graph::{Node, clear_plans, plan_stats, realize};
use mg_kernels::cpu::pool::set_num_threads;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Mutex;

/// A person's handle on a node.
struct Handle {
    node: Node,
    held: bool,
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.held {
            self.node.let_go();
        }
    }
}

/// Builds and asks once.
fn history(case: &Case, variant: u64, want: &[Known]) -> Result<(), String> {
    let mut handles: Vec<Option<Handle>> = vec![];
    let n = case.specs.len();
    let mut events = case.events.iter().peekable();
    for at in 0..=n {
        if let Some(spec) = case.specs.get(at) {
            let mut sources = vec![];
            for s in spec.sources() {
                let source = handles[s]
                    .as_ref()
                    .ok_or_else(|| format!("case: node {s} is gone when {at} needs it"))?;
                sources.push(source.node.clone());
            }
            let node = spec.build(&sources, at, variant).map_err(|e| format!("building node {at}: {e}"))?;
            drop(sources);
            let marks = case.marks[at];
            if marks.tracked {
                node.set_tracked(true);
            }
            if marks.hold {
                node.hold();
            }
            if marks.optional {
                node.set_optional(true);
                node.announce();
            }
            if marks.release {
                node.release();
            }
            handles.push(Some(Handle { node, held: marks.hold }));
        }
        while let Some((_, event)) = events.next_if(|(when, _)| *when <= at) {
            match event {
                Event::Drop(i) => handles[*i] = None,
                Event::Realize(roots) => {
                    let live: Vec<&Node> =
                        roots.iter().filter_map(|&r| handles[r].as_ref()).map(|h| &h.node).collect();
                    realize(&live).map_err(|e| format!("realize({roots:?}) after {at}: {e}"))?;
                    for &root in roots {
                        if handles[root].as_ref().is_some_and(|h| h.node.is_pending()) {
                            return Err(format!("realize({roots:?}) after {at}: {root} has no value"));
                        }
                    }
                    compare(&handles, want, &format!("after realize({roots:?}) at {at}"))?;
                }
            }
        }
    }
    // What is still there can be asked for one by one.
    for i in (0..n).rev() {
        if let Some(handle) = &handles[i] {
            realize(&[&handle.node]).map_err(|e| format!("at last realize([{i}]): {e}"))?;
        }
    }
    compare(&handles, want, "at last")
}

/// Every value that is known must be the right one, whenever it came to be known.
fn compare(handles: &[Option<Handle>], want: &[Known], when: &str) -> Result<(), String> {
    for (i, handle) in handles.iter().enumerate() {
        let Some(value) = handle.as_ref().and_then(|h| h.node.value()) else { continue };
        let value = value.as_ref().map_err(|e| format!("{when}: node {i} failed: {e}"))?;
        let got = cells(value);
        if value.layout.shape().to_vec() != want[i].shape {
            return Err(format!(
                "{when}: node {i} has shape {}, not {:?}",
                value.layout.shape(),
                want[i].shape
            ));
        }
        if got != want[i].cells {
            return Err(format!("{when}: node {i}: {}", differs(&got, &want[i].cells)));
        }
    }
    Ok(())
}

/// Runs a case with two kinds of data, so that plans are made and found again, on one thread and on two.
pub fn check(case: &Case) -> Result<(), String> {
    let result = catch_unwind(AssertUnwindSafe(|| {
        set_num_threads(1);
        let first = reference::values(&case.specs, 0)?;
        let second = reference::values(&case.specs, 1)?;
        let large = first.iter().any(|k| k.cells.len() > 1000);
        let orders: &[[usize; 2]] = if large { &[[1, 2], [2, 1]] } else { &[[1, 2]] };
        for threads in orders {
            clear_plans();
            set_num_threads(threads[0]);
            history(case, 0, &first).map_err(|e| format!("first plan, {} threads: {e}", threads[0]))?;
            let before = plan_stats();
            set_num_threads(threads[1]);
            history(case, 1, &second)
                .map_err(|e| format!("plan found again, {} threads: {e}", threads[1]))?;
            let after = plan_stats();
            if after.made != before.made {
                return Err(format!(
                    "{} plans made for a graph that was seen before",
                    after.made - before.made
                ));
            }
            if before.made > 0 && before.cached > 0 && after.reused == before.reused {
                return Err("no plan was found again".into());
            }
        }
        Ok(())
    }));
    result.unwrap_or_else(|_| Err(PANIC.lock().map(|text| text.clone()).unwrap_or_default()))
}

/// The last panic's message and place.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// A panic hook that keeps the message instead of printing it.
pub fn note_panic(info: &PanicHookInfo) {
    if let Ok(mut text) = PANIC.lock() {
        *text = info.to_string();
    }
}
