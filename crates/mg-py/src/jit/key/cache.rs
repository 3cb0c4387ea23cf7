//! What is told of functions that remember their answers (`functools.lru_cache`).

use std::sync::{Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyWeakrefReference};

use super::{Kind, Look, Words};
use crate::jit::same::Same;
use crate::jit::sort::{is_code, is_type_named};

/// A function that remembers its answers, how often it had to compute one when it was looked at last, and how often all were seen to be forgotten.
struct Cache {
    of: Py<PyWeakrefReference>,
    misses: u64,
    cleared: u64,
}

/// Those that were looked at.
static CACHES: Mutex<Vec<Cache>> = Mutex::new(vec![]);
/// How many of them are known.
const CACHES_KNOWN: usize = 1024;

/// How often a function was seen to have forgotten its answers: what it remembers may be other ones since, though it has as many.
fn cleared(cached: &Bound<'_, PyAny>, misses: u64) -> PyResult<u64> {
    // There is one such reference of an object, as long as somebody has it.
    let of = PyWeakrefReference::new(cached)?;
    let mut caches = CACHES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = caches.iter_mut().find(|known| known.of.is(&of)) {
        known.cleared += u64::from(misses < known.misses);
        known.misses = misses;
        return Ok(known.cleared);
    }
    let first = (caches.len() >= CACHES_KNOWN).then(|| caches.remove(0));
    caches.push(Cache { of: of.unbind(), misses, cleared: 0 });
    drop(caches);
    drop(first);
    Ok(0)
}

impl<'py> Words<'_, 'py> {
    /// A function that remembers: what it does, how often it had to, and its answers.
    pub(super) fn cached(&mut self, obj: &Bound<'py, PyAny>, look: &Look) -> PyResult<Same> {
        self.object_at(obj);
        self.tell(&obj.getattr(intern!(obj.py(), "__wrapped__"))?, &look.outside())?;
        // Of what it remembers one sees how much that is.
        let info = obj.call_method0(intern!(obj.py(), "cache_info"))?;
        for name in ["misses", "currsize"] {
            self.tell(&info.getattr(name)?, &look.deeper())?;
        }
        self.key.push(cleared(obj, info.getattr("misses")?.extract()?)?);
        self.remembered(obj, look)?;
        self.seen_again(obj, look)
    }

    /// What a function has answered with and remembers, whatever the order: the one asked for last stands in front.
    fn remembered(&mut self, cached: &Bound<'py, PyAny>, look: &Look) -> PyResult<()> {
        let py = cached.py();
        let own = cached.getattr(intern!(py, "__dict__"))?;
        let referents = py.import("gc")?.call_method1(intern!(py, "get_referents"), (cached,))?;
        let mut all = vec![];
        for referent in referents.try_iter()? {
            let referent = referent?;
            match referent.cast_exact::<PyDict>() {
                _ if referent.is(&own) || is_code(&referent) => {}
                // Those of a function that remembers all; of another one, places of what stands beside them.
                Ok(answers) => {
                    let is_place = |value: &Bound<'py, PyAny>| {
                        is_type_named(&value.get_type(), "functools", "_lru_list_elem")
                    };
                    for value in answers.values() {
                        if !is_place(&value)? {
                            all.push(value);
                        }
                    }
                }
                Err(_) => all.push(referent),
            }
        }
        self.items += all.len();
        let mut words =
            all.iter().map(|answer| self.alone(answer, &look.outside())).collect::<PyResult<Vec<_>>>()?;
        words.sort_unstable();
        words.iter().for_each(|words| self.key.extend(words));
        self.kind(Kind::End);
        Ok(())
    }
}
