//! Making a failing case small: whatever can go while it still fails, goes.

use crate::generate::{Case, Event};
use crate::spec::{Inferred, Lie, Spec};
use mg_device::DType;

/// A smaller case that fails too, and how. `check` also gets the steps that led to a case: see [`follow`].
pub fn shrink(case: Case, check: impl Fn(&Case, &[usize]) -> Result<(), String>) -> (Case, String) {
    let mut best = case;
    let mut steps = vec![];
    let mut message = match check(&best, &steps) {
        Ok(()) => return (best, "did not fail again".into()),
        Err(message) => message,
    };
    let mut attempts = 4000;
    'again: loop {
        for (step, candidate) in smaller(&best).into_iter().enumerate() {
            if attempts == 0 {
                break 'again;
            }
            if !is_valid(&candidate) {
                continue;
            }
            attempts -= 1;
            steps.push(step);
            // A case that went wrong is not traded for one that only does not make sense.
            if let Err(text) = check(&candidate, &steps) {
                if !text.contains("case:") {
                    (best, message) = (candidate, text);
                    continue 'again;
                }
            }
            steps.pop();
        }
        break;
    }
    (best, message)
}

/// The case that steps of [`shrink`] lead to.
pub fn follow(case: Case, steps: &[usize]) -> Case {
    steps.iter().fold(case, |case, &step| smaller(&case).swap_remove(step))
}

fn is_valid(case: &Case) -> bool {
    Inferred::of(&case.specs).is_some()
}

/// Cases a step smaller, the largest steps first.
fn smaller(case: &Case) -> Vec<Case> {
    let mut out = vec![];
    let n = case.specs.len();
    for at in (0..case.events.len()).rev() {
        let mut c = case.clone();
        c.events.remove(at);
        out.push(c);
    }
    for at in 0..case.events.len() {
        if let Event::Realize(roots) = &case.events[at].1 {
            for r in 0..roots.len() {
                if roots.len() > 1 {
                    let mut c = case.clone();
                    if let Event::Realize(roots) = &mut c.events[at].1 {
                        roots.remove(r);
                    }
                    out.push(c);
                }
            }
        }
    }
    for i in (0..n).rev() {
        let used = case.specs.iter().any(|s| s.sources().contains(&i));
        if !used {
            out.push(without(case, i, None));
        }
    }
    if let Some(inferred) = Inferred::of(&case.specs) {
        for i in (0..n).rev() {
            for s in case.specs[i].sources() {
                if inferred.shapes[s] == inferred.shapes[i] && inferred.dtype(s) == inferred.dtype(i) {
                    out.push(without(case, i, Some(s)));
                }
            }
        }
        for i in 0..n {
            let plain = match inferred.bounds[i] {
                Some(below) => Spec::Index { shape: inferred.shapes[i].clone(), below },
                None => Spec::Data {
                    dtype: inferred.dtype(i),
                    shape: inferred.shapes[i].clone(),
                    lie: Lie::Dense,
                },
            };
            let is_source = matches!(case.specs[i], Spec::Data { lie: Lie::Dense, .. } | Spec::Index { .. });
            if !is_source && case.specs[i] != plain {
                let mut c = case.clone();
                c.specs[i] = plain;
                out.push(c);
            }
        }
    }
    for i in 0..n {
        let marks = case.marks[i];
        for mark in 0..4 {
            let mut c = case.clone();
            let m = &mut c.marks[i];
            *[&mut m.hold, &mut m.tracked, &mut m.optional, &mut m.release][mark] = false;
            if c.marks[i] != marks {
                out.push(c);
            }
        }
    }
    let mut sizes: Vec<usize> = case.specs.clone().iter_mut().flat_map(|s| s.sizes()).map(|n| *n).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for &size in sizes.iter().rev() {
        for new in [1, 2, 3, size / 2, size - size / 8, size.saturating_sub(1)] {
            if new < size && new > 0 {
                let mut c = case.clone();
                c.specs.iter_mut().flat_map(|s| s.sizes()).filter(|n| **n == size).for_each(|n| *n = new);
                out.push(c);
            }
        }
    }
    for i in 0..n {
        let mut c = case.clone();
        match &mut c.specs[i] {
            Spec::Data { dtype, .. } if *dtype != DType::F32 => {
                let old = *dtype;
                for spec in c.specs.iter_mut() {
                    match spec {
                        Spec::Data { dtype, .. } | Spec::Scalar { dtype, .. } | Spec::Cast(_, dtype)
                            if *dtype == old =>
                        {
                            *dtype = DType::F32;
                        }
                        _ => {}
                    }
                }
            }
            Spec::Data { lie, .. } if *lie != Lie::Dense => *lie = Lie::Dense,
            Spec::Scalar { value, .. } if *value != 1.0 => *value = 1.0,
            Spec::Slice { start, .. } if *start > 0 => *start -= 1,
            _ => continue,
        }
        out.push(c);
    }
    out
}

/// The case without node `i`, whose readers read `instead`.
fn without(case: &Case, i: usize, instead: Option<usize>) -> Case {
    let rename = |s: usize| {
        let s = if s == i { instead.unwrap_or(s) } else { s };
        if s > i { s - 1 } else { s }
    };
    let mut c = case.clone();
    c.specs.remove(i);
    c.marks.remove(i);
    for spec in c.specs.iter_mut() {
        *spec = spec.renamed(&rename);
    }
    c.events = vec![];
    for (at, event) in &case.events {
        let at = if *at > i || (*at == i && i > 0) { at - 1 } else { *at };
        match event {
            Event::Drop(d) if *d == i => {}
            // Handles that now stand for two nodes may be needed longer than before.
            Event::Drop(d) => {
                let d = rename(*d);
                let last = c.specs.iter().rposition(|s| s.sources().contains(&d)).unwrap_or(d);
                c.events.push((at.max(last), Event::Drop(d)));
            }
            Event::Realize(roots) => {
                let roots: Vec<usize> =
                    roots.iter().filter(|&&r| r != i || instead.is_some()).map(|&r| rename(r)).collect();
                if !roots.is_empty() {
                    c.events.push((at, Event::Realize(roots)));
                }
            }
        }
    }
    c.events.sort_by_key(|e| e.0);
    c
}
