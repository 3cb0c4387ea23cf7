//! What surrounds a replayed step: what its code, and all code that was seen to run within it, finds by its names.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCFunction, PyDict, PyFunction, PyModule, PyString, PyTuple, PyType, PyWeakrefReference};

use crate::error::{there, type_name};
use crate::jit::code::{Named, asks_by_another_name};
use crate::jit::key::{ANY_FIELD, Names, Words};
use crate::jit::same::{Same, Seeing, contents};
use crate::jit::sort::{Language, is_code, is_of_a_program, is_the_packages, module_type};
use crate::tensor::PyTensor;

/// Functions whose names are looked for.
const FUNCTIONS: usize = 256;
/// Functions of one code whose variables are looked at.
const MADE: usize = 256;

/// Functions that say on which thread they are called.
const THREADS: [&str; 6] =
    ["get_ident", "get_native_id", "current_thread", "currentThread", "main_thread", "current_task"];
/// Functions of the package that say how it is set, but for what recordings are told apart by anyhow.
const MODES: [&str; 3] =
    ["is_inference_mode_enabled", "are_deterministic_algorithms_enabled", "get_num_threads"];
/// Functions that answer otherwise in each call, by the Python modules that they are of.
const CLOCKS: [(&str, &[&str]); 3] = [
    (
        "time",
        &[
            "time",
            "time_ns",
            "perf_counter",
            "perf_counter_ns",
            "monotonic",
            "monotonic_ns",
            "process_time",
            "process_time_ns",
            "thread_time",
            "thread_time_ns",
        ],
    ),
    ("posix", &["urandom", "getrandom", "times"]),
    ("nt", &["urandom", "times"]),
];
/// What was told of a function's surroundings, thing by thing.
#[derive(Default)]
pub struct Told {
    pub words: Vec<Range<usize>>,
    pub same: Vec<Same>,
}

/// What a function finds around it: variables of functions that it was made in, globals that it names, the object that it is a
/// method of; and as much of the functions that it names, and of all that were seen to run within it.
#[derive(Default)]
pub struct Surroundings {
    cells: Vec<Py<PyAny>>,
    globals: Vec<(Py<PyDict>, Py<PyString>)>,
    object: Option<Py<PyAny>>,
    /// What is partly applied, and to what; defaults of functions; Python modules that are imported within.
    parts: Vec<Py<PyAny>>,
    names: HashSet<String>,
    /// Some code asks for attributes by names that are not written in it.
    is_any_name: bool,
    /// Some code catches errors.
    pub catches: bool,
    /// Some code asks on which thread it is.
    asks_thread: bool,
    /// Functions of the package that some code asks how it is set.
    modes: Vec<&'static str>,
    /// Some code draws from NumPy's generators.
    draws: bool,
    /// There is more than is looked at.
    is_endless: bool,
    /// Code that was read, by its address, and what of it was found already.
    codes: HashMap<usize, Py<PyAny>>,
    seen: HashSet<(usize, String)>,
    /// How many functions of the same code were looked at since it was met.
    made: HashMap<usize, usize>,
    /// The functions of code that has variables of functions it was made in, as they were when they were looked for.
    referred: Arc<Mutex<HashMap<usize, Referred>>>,
}

/// How many refer to an object.
pub fn referring(obj: &Bound<'_, PyAny>) -> isize {
    // SAFETY: it is held.
    unsafe { ffi::Py_REFCNT(obj.as_ptr()) }
}

/// Who refers to some code.
struct Referred {
    /// How many do, whoever has read it for surroundings left out.
    count: isize,
    /// References to those of them that are functions, which let go.
    functions: Vec<Py<PyWeakrefReference>>,
}

impl Referred {
    fn copy(&self, py: Python<'_>) -> Referred {
        let functions = self.functions.iter().map(|function| function.clone_ref(py)).collect();
        Referred { count: self.count, functions }
    }

    /// Whether nobody is known to have come or gone, where so many read it for surroundings. To look for who refers to something takes as
    /// long as there are objects.
    fn is_as_before(&self, code: &Bound<'_, PyAny>, readers: isize) -> bool {
        let is_there = |function: &Py<PyWeakrefReference>| {
            function.bind(code.py()).call0().is_ok_and(|function| !function.is_none())
        };
        referring(code) - readers == self.count && self.functions.iter().all(is_there)
    }
}

impl Surroundings {
    /// Of a function, a method, or whatever else can be called.
    pub fn of(function: &Bound<'_, PyAny>) -> PyResult<Surroundings> {
        let mut found = Surroundings::default();
        // Hooks of all layers.
        let hooks = function.py().import("micrograd_rs.nn._hooks")?.getattr("everywhere")?;
        found.parts.push(hooks.unbind());
        // Methods of tensors, which a program may have replaced.
        found.parts.push(function.py().get_type::<PyTensor>().into_any().unbind());
        let mut stack = vec![function.clone()];
        let mut met = HashSet::new();
        while let Some(obj) = stack.pop() {
            if met.len() >= FUNCTIONS {
                found.is_endless = true;
                break;
            }
            if !met.insert(obj.as_ptr() as usize) {
                continue;
            }
            let py = obj.py();
            let bound = there(py, obj.getattr("__self__"))?
                .filter(|o| !o.is_none() && !o.is_instance_of::<PyModule>());
            if obj.is(function) {
                // A method's object; an object that is called; what is partly applied.
                let is_plain = obj.is_instance_of::<PyFunction>() || obj.is_instance_of::<PyCFunction>();
                if let Some(object) = bound.or_else(|| (!is_plain).then(|| obj.clone())) {
                    if !object.is_instance(module_type(obj.py())?)? {
                        for part in ["func", "args", "keywords"] {
                            if let Some(part) = there(py, object.getattr(part))? {
                                found.parts.push(part.clone().unbind());
                                stack.push(part);
                            }
                        }
                    }
                    methods_of(&object, &mut stack)?;
                    found.object = Some(object.unbind());
                }
            }
            let obj = there(py, obj.getattr("__func__"))?.unwrap_or(obj);
            let Some(code) = there(py, obj.getattr("__code__"))? else { continue };
            if obj.is_instance_of::<PyFunction>() && met.len() == 1 {
                // What it is given where an argument is left out may be another tuple later, and its code another one.
                found.parts.push(obj.clone().unbind());
            }
            for inner in found.function(&obj)? {
                rules_of(&inner, &mut stack)?;
                methods_of(&inner, &mut stack)?;
                stack.push(inner);
            }
            if let Some(globals) = there(py, obj.getattr("__globals__"))?
                && let Ok(globals) = globals.cast_into::<PyDict>()
            {
                for value in found.code(&code, &globals)? {
                    if value.is_instance_of::<PyFunction>() {
                        stack.push(value);
                    } else if !is_code(&value) {
                        methods_of(&value, &mut stack)?;
                    } else {
                        rules_of(&value, &mut stack)?;
                    }
                }
            }
        }
        found.conclude(function.py())?;
        Ok(found)
    }

    fn copy(&self, py: Python<'_>) -> Surroundings {
        let of = |all: &[Py<PyAny>]| all.iter().map(|o| o.clone_ref(py)).collect();
        Surroundings {
            cells: of(&self.cells),
            globals: self.globals.iter().map(|(g, n)| (g.clone_ref(py), n.clone_ref(py))).collect(),
            object: self.object.as_ref().map(|o| o.clone_ref(py)),
            parts: of(&self.parts),
            names: self.names.clone(),
            is_any_name: self.is_any_name,
            catches: self.catches,
            asks_thread: self.asks_thread,
            modes: self.modes.clone(),
            draws: self.draws,
            is_endless: self.is_endless,
            codes: self.codes.iter().map(|(at, o)| (*at, o.clone_ref(py))).collect(),
            seen: self.seen.clone(),
            made: self.made.clone(),
            referred: self.referred.clone(),
        }
    }

    /// Looks for what follows from all names.
    fn conclude(&mut self, py: Python<'_>) -> PyResult<()> {
        for value in self.all(py)?.into_iter().flatten() {
            self.draws |= draws_from_numpy(&value, &self.names)?;
        }
        self.asks_thread = THREADS.iter().any(|name| self.names.contains(*name));
        self.modes = MODES.into_iter().filter(|name| self.names.contains(*name)).collect();
        Ok(())
    }

    /// These, and what the code that has run within the function finds around it; `None` if that is known.
    pub fn with(&self, py: Python<'_>, run: &Run) -> PyResult<Option<Surroundings>> {
        let is_new = |code: &Py<PyAny>| !self.codes.contains_key(&(code.as_ptr() as usize));
        // Code that is known may be that of a function that was made since, with variables of its own.
        let is_other = |code: &Bound<'_, PyAny>| {
            // Looked at when the lock is let go: a function that is met there may be one that nobody else has any more.
            let known = {
                let referred = self.referred.lock().unwrap_or_else(PoisonError::into_inner);
                referred.get(&(code.as_ptr() as usize)).map(|known| known.copy(py))
            };
            // These surroundings have read it.
            has_variables(code) && known.is_none_or(|known| !known.is_as_before(code, 1))
        };
        let asked: Vec<_> = run
            .codes
            .iter()
            .map(|(code, _)| code.bind(py))
            .filter(|code| is_new(code.as_unbound()) || is_other(code))
            .collect();
        let libraries: Vec<_> = run.libraries.iter().filter(|(code, _)| is_new(code)).collect();
        if asked.is_empty() && libraries.is_empty() {
            return Ok(None);
        }
        let mut found = self.copy(py);
        let mut is_more = false;
        for (code, globals) in run.codes.iter().filter(|(code, _)| is_new(code)) {
            found.code(code.bind(py), globals.bind(py))?;
            is_more = true;
        }
        for (code, module) in libraries {
            found.library(code.bind(py), module)?;
            is_more = true;
        }
        // A frame says what code it runs, not of which function: who refers to the code does.
        let referrers = match asked.is_empty() {
            true => PyTuple::empty(py).into_any(),
            false => py.import("gc")?.getattr("get_referrers")?.call1(PyTuple::new(py, &asked)?)?,
        };
        let mut functions: HashMap<usize, Vec<Py<PyWeakrefReference>>> = HashMap::new();
        for function in referrers.try_iter()? {
            let function = function?;
            if !function.is_instance_of::<PyFunction>() {
                continue;
            }
            let code = function.getattr("__code__")?;
            let known = found.made.get(&(code.as_ptr() as usize)).copied().unwrap_or(0);
            if !asked.iter().any(|asked| asked.is(&code)) {
                continue;
            }
            let weak = PyWeakrefReference::new(&function)?.unbind();
            functions.entry(code.as_ptr() as usize).or_default().push(weak);
            if known >= MADE {
                is_more |= !found.is_endless;
                found.is_endless = true;
            } else {
                let before = found.cells.len() + found.parts.len();
                found.function(&function)?;
                if found.cells.len() + found.parts.len() > before {
                    found.made.insert(code.as_ptr() as usize, known + 1);
                    is_more = true;
                }
            }
        }
        // What the question was asked with is among them.
        drop(referrers);
        for code in asked.iter().filter(|code| has_variables(code)) {
            let at = code.as_ptr() as usize;
            let functions = functions.remove(&at).unwrap_or_default();
            let readers = [self, &found].into_iter().filter(|of| of.codes.contains_key(&at)).count();
            let now = Referred { count: referring(code) - readers as isize, functions };
            let before = self.referred.lock().unwrap_or_else(PoisonError::into_inner).insert(at, now);
            drop(before);
        }
        found.conclude(py)?;
        Ok(is_more.then_some(found))
    }

    /// What a function has of its own: variables of functions that it was made in, and defaults. Answers with what the variables hold.
    fn function<'py>(&mut self, function: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut inner = vec![];
        if let Ok(cells) = function.getattr("__closure__")
            && let Ok(cells) = cells.cast_into::<PyTuple>()
        {
            for cell in cells.iter() {
                if self.seen.insert((cell.as_ptr() as usize, String::new())) {
                    self.cells.push(cell.clone().unbind());
                }
                let held = contents(&cell);
                if let Some(held) = &held {
                    self.is_any_name |= asks_by_another_name(held, None)?;
                }
                inner.extend(held);
            }
        }
        for name in ["__defaults__", "__kwdefaults__"] {
            if let Ok(defaults) = function.getattr(name)
                && !defaults.is_none()
                && self.seen.insert((defaults.as_ptr() as usize, String::new()))
            {
                self.parts.push(defaults.unbind());
            }
        }
        Ok(inner)
    }

    /// The names that code uses, and the globals and Python modules under them, which are answered with.
    fn code<'py>(
        &mut self,
        code: &Bound<'py, PyAny>,
        globals: &Bound<'py, PyDict>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = code.py();
        let mut values = vec![];
        if self.codes.insert(code.as_ptr() as usize, code.clone().unbind()).is_some() {
            return Ok(values);
        }
        let modules = Language::known(py)?.modules(py);
        let builtins = py.import("builtins")?.dict();
        let Named { globals: of_globals, names, words, asks_any_name, catches } = Named::by(code)?;
        self.is_any_name |= asks_any_name;
        self.catches |= catches;
        // Variables under any name, too. (`model.eval()` is none of these.)
        let has = |name: &str| names.iter().any(|own| own == name);
        self.is_endless |= ["globals", "exec", "import_module", "__import__"].into_iter().any(has);
        self.is_endless |= has("sys") && has("modules");
        self.is_endless |= has("eval")
            && ["eval", "builtins", "__builtins__"].into_iter().any(|name| of_globals.contains(name));
        for name in names.iter().filter(|name| of_globals.contains(*name)) {
            // A name that is none yet may be one before the next call.
            if self.seen.insert((globals.as_ptr() as usize, name.clone())) {
                let name = PyString::new(py, name).unbind();
                self.globals.push((globals.clone().unbind(), name));
            }
            match globals.get_item(name)? {
                Some(value) => {
                    self.is_any_name |= asks_by_another_name(&value, Some(name))?;
                    // By another name.
                    if value.is_instance_of::<PyCFunction>() {
                        let known = value.getattr(intern!(py, "__name__"))?.extract::<String>()?;
                        self.is_endless |= matches!(&*known, "globals" | "eval" | "exec" | "__import__");
                    }
                    if let Ok(module) = value.cast::<PyModule>() {
                        let module = module.name()?;
                        self.is_endless |=
                            has("eval") && module == "builtins" || has("modules") && module == "sys";
                    }
                    values.push(value);
                }
                // The language's own, in whose place a program may put another; or imported where it is used.
                None if builtins.contains(name)? => {
                    if self.seen.insert((builtins.as_ptr() as usize, name.clone())) {
                        self.globals.push((builtins.clone().unbind(), PyString::new(py, name).unbind()));
                    }
                }
                None => {
                    if let Some(module) = modules.get_item(name)?
                        && self.seen.insert((module.as_ptr() as usize, String::new()))
                    {
                        self.parts.push(module.unbind());
                    }
                }
            }
        }
        self.names.extend(names);
        self.names.extend(words);
        Ok(values)
    }

    /// The names of attributes that a library's code asks for: of what it was handed, or has been made of.
    fn library(&mut self, code: &Bound<'_, PyAny>, module: &str) -> PyResult<()> {
        self.codes.insert(code.as_ptr() as usize, code.clone().unbind());
        self.names.extend(Named::by(code)?.names);
        // What is copied by way of what it tells of itself tells all that it is; fields of dataclasses are read by names that are made.
        let name = code.getattr(intern!(code.py(), "co_name"))?;
        self.is_any_name |= module == "copy" && name.eq("_reconstruct")?;
        self.names.extend((module == "dataclasses").then(|| ANY_FIELD.to_owned()));
        Ok(())
    }

    /// Shows the collector what is held.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let held = self.cells.iter().chain(&self.object).chain(&self.parts).chain(self.codes.values());
        held.into_iter().try_for_each(|object| visit.call(object))?;
        self.globals.iter().try_for_each(|(globals, _)| visit.call(globals))
    }

    /// What is there now: each thing's name, and the thing. An empty cell has no contents, and a name may be none yet.
    fn all<'py>(&self, py: Python<'py>) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let mut all = Vec::with_capacity(self.cells.len() + self.globals.len() + self.parts.len() + 1);
        for cell in &self.cells {
            all.push(contents(cell.bind(py)));
        }
        for (globals, name) in &self.globals {
            all.push(globals.bind(py).get_item(name.bind(py))?);
        }
        for part in &self.parts {
            all.push(Some(part.bind(py).clone()));
        }
        Ok(all)
    }

    /// Adds to the words of the arguments what else a call depends on that the function's code asks for: which thread it is, and modes.
    pub fn situation<'py>(&self, py: Python<'py>, words: &mut Words<'_, 'py>) -> PyResult<()> {
        if self.asks_thread {
            words.key.push(py.import("_thread")?.call_method0(intern!(py, "get_ident"))?.extract()?);
        }
        for mode in &self.modes {
            words.known(Some(&py.import("micrograd_rs")?.call_method0(*mode)?), None)?;
        }
        Ok(())
    }

    /// The names of attributes that the function's code asks for; none where it may be any.
    pub fn names(&self) -> Names<'_> {
        (!self.is_any_name).then_some(&self.names)
    }

    /// Whether what is there now is what was told once, and answered with as it is seen later.
    pub fn are<'py>(&self, py: Python<'py>, things: &[Same], words: &mut Words<'_, 'py>) -> bool {
        let mut seeing = Seeing { py, words, names: self.names() };
        let mut things = things.iter();
        let mut next = || things.next().unwrap_or(&Same::Never);
        self.cells.iter().all(|cell| seeing.is_held(next(), contents(cell.bind(py)).as_ref()))
            && self.globals.iter().all(|(globals, name)| seeing.is_entry(next(), globals.bind(py), name))
            && self.parts.iter().chain(&self.object).all(|part| seeing.is_held(next(), Some(part.bind(py))))
            && things.next().is_none()
    }

    /// Tells what is there now; answers with which words each thing is, and how it is seen later.
    pub fn tell<'py>(&self, py: Python<'py>, words: &mut Words<'_, 'py>) -> PyResult<Told> {
        let names = self.names();
        let why = match (self.draws, self.is_endless) {
            (true, _) => Some("a generator of NumPy's"),
            (false, true) => Some("variables and functions that are not all looked at"),
            (false, false) => None,
        };
        if words.unknown.is_none() {
            words.unknown = why.map(str::to_owned);
        }
        let mut things = self.all(py)?;
        things.extend(self.object.as_ref().map(|object| Some(object.bind(py).clone())));
        let mut told = Told::default();
        for thing in things {
            let start = words.key.len();
            told.same.push(words.known(thing.as_ref(), names)?);
            told.words.push(start..words.key.len());
        }
        Ok(told)
    }

    /// What a thing is called that [`Surroundings::tell`] has answered with.
    pub fn name(&self, py: Python<'_>, at: usize) -> String {
        let global = at.checked_sub(self.cells.len()).and_then(|at| self.globals.get(at));
        match (self.cells.get(at), global) {
            (Some(cell), _) => {
                let held = cell.bind(py).getattr("cell_contents");
                held.map_or_else(
                    |_| "a variable".to_owned(),
                    |held| format!("a variable that holds {}", type_name(&held)),
                )
            }
            (None, Some((_, name))) => format!("{:?}", name.bind(py).to_string_lossy()),
            (None, None) => "the object that it is a method of".to_owned(),
        }
    }
}

/// Whether code uses variables of functions that it stands in.
fn has_variables(code: &Bound<'_, PyAny>) -> bool {
    code.getattr(intern!(code.py(), "co_freevars")).and_then(|names| names.len()).is_ok_and(|n| n > 0)
}

/// What ran while a function was recorded.
#[derive(Default)]
pub struct Run {
    codes: Vec<(Py<PyAny>, Py<PyDict>)>,
    /// Code of the language's and others' libraries, and in which Python module it stands.
    libraries: Vec<(Py<PyAny>, String)>,
    /// It drew random numbers of which no recording knows.
    draws: bool,
    /// It asked what time it is.
    reads_clock: bool,
    /// Somebody else is told of calls, in a way that cannot be taken up again.
    is_unwatched: bool,
}

impl Run {
    /// What a replay would not do of what ran.
    pub fn against(&self) -> Option<&'static str> {
        if self.is_unwatched {
            Some("a profiler is told of all calls, so that it is not seen what runs within the step")
        } else if self.draws {
            Some("the step draws numbers from Python's random")
        } else if self.reads_clock {
            Some("the step reads a clock")
        } else {
            None
        }
    }
}

/// Calls `f`, and says what code of programs has run on this thread meanwhile.
pub fn watched_run<T>(py: Python<'_>, f: impl FnOnce() -> T) -> PyResult<(T, Run)> {
    let sys = py.import("sys")?;
    let run = Arc::new(Mutex::new((Run::default(), HashSet::new())));
    let seen = run.clone();
    Language::known(py)?;
    let watch = PyCFunction::new_closure(py, None, None, move |args, _| {
        // What cannot be seen is no failure of what runs.
        if note_frame(args, &seen).is_err() {
            seen.lock().unwrap_or_else(PoisonError::into_inner).0.is_unwatched = true;
        }
    })?;
    let before = sys.call_method0(intern!(py, "getprofile"))?;
    if !before.is_none() && !before.is_callable() {
        return Ok((f(), Run { is_unwatched: true, ..Run::default() }));
    }
    // Whose turn it would be to collect garbage is chance, and what others want to be called then is no part of the step.
    let collects = Collects::paused(py)?;
    sys.call_method1(intern!(py, "setprofile"), (&watch,))?;
    let restore = Restore { sys, before };
    let result = f();
    let is_watching = restore.sys.call_method0(intern!(py, "getprofile"))?.is(&watch);
    drop((restore, collects));
    let mut run = std::mem::take(&mut run.lock().unwrap_or_else(PoisonError::into_inner).0);
    run.is_unwatched |= !is_watching;
    Ok((result, run))
}

/// Whoever was told of calls before is told of them again once this is dropped.
struct Restore<'py> {
    sys: Bound<'py, PyModule>,
    before: Bound<'py, PyAny>,
}

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        // It takes what it has answered with.
        let _ = self.sys.call_method1(intern!(self.sys.py(), "setprofile"), (&self.before,));
    }
}

/// Garbage is collected again once this is dropped, if it was before.
struct Collects<'py>(Option<Bound<'py, PyModule>>);

impl Collects<'_> {
    fn paused(py: Python<'_>) -> PyResult<Collects<'_>> {
        let gc = py.import("gc")?;
        if !gc.call_method0(intern!(py, "isenabled"))?.is_truthy()? {
            return Ok(Collects(None));
        }
        gc.call_method0(intern!(py, "disable"))?;
        Ok(Collects(Some(gc)))
    }
}

impl Drop for Collects<'_> {
    fn drop(&mut self) {
        if let Some(gc) = &self.0 {
            // It takes no arguments, and answers nothing.
            let _ = gc.call_method0(intern!(gc.py(), "enable"));
        }
    }
}

/// Python tells of a call: of its frame, what happens, and what is called if that is no Python.
fn note_frame(args: &Bound<'_, PyTuple>, run: &Mutex<(Run, HashSet<usize>)>) -> PyResult<()> {
    let py = args.py();
    let (frame, event) = (args.get_item(0)?, args.get_item(1)?);
    let event = event.cast::<PyString>()?;
    if event == "call" {
        let code = frame.getattr(intern!(py, "f_code"))?;
        {
            let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
            if !run.1.insert(code.as_ptr() as usize) {
                return Ok(());
            }
        }
        let (globals, module) = globals_of(&frame)?;
        let (is_a_programs, is_the_packages) = match &module {
            Some(module) => (is_of_a_program(module)?, is_the_packages(module)?),
            None => (true, false),
        };
        // Before the lock is taken: Python calls handlers of signals then, of which this is told as well.
        let library = match module.filter(|_| !is_a_programs && !is_the_packages) {
            Some(module) => Some(module.str()?.to_string_lossy().into_owned()),
            None => None,
        };
        let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
        if is_a_programs {
            run.0.codes.push((code.unbind(), globals.unbind()));
        } else if let Some(library) = library {
            run.0.libraries.push((code.unbind(), library));
        }
    } else if event == "c_call" {
        let called = args.get_item(2)?;
        if is_clock(&called)? && globals_of(&frame)?.1.map_or(Ok(true), |module| is_of_a_program(&module))? {
            run.lock().unwrap_or_else(PoisonError::into_inner).0.reads_clock = true;
        }
        if let Ok(of) = called.getattr(intern!(py, "__self__"))
            && is_pythons_random(&of)?
        {
            run.lock().unwrap_or_else(PoisonError::into_inner).0.draws = true;
        }
    }
    Ok(())
}

/// The variables around the code of a frame, and the name of their Python module.
fn globals_of<'py>(frame: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyDict>, Option<Bound<'py, PyAny>>)> {
    let globals = frame.getattr(intern!(frame.py(), "f_globals"))?.cast_into::<PyDict>()?;
    let module = globals.get_item(intern!(frame.py(), "__name__"))?;
    Ok((globals, module))
}

/// Whether something that is called answers otherwise each time.
fn is_clock(called: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = called.py();
    let Ok(name) = called.getattr(intern!(py, "__name__"))?.extract::<String>() else { return Ok(false) };
    if matches!(&*name, "now" | "utcnow" | "today") {
        let of = called.getattr_opt(intern!(py, "__self__"))?;
        let is_of = |of: &Bound<'_, PyType>| of.getattr(intern!(py, "__module__"))?.eq("datetime");
        return of.as_ref().and_then(|of| of.cast::<PyType>().ok()).map_or(Ok(false), is_of);
    }
    let Some(module) = called.getattr_opt(intern!(py, "__module__"))? else { return Ok(false) };
    let module = module.str()?;
    let module = module.to_string_lossy();
    Ok(CLOCKS.iter().any(|(of, names)| *of == &*module && names.contains(&&*name)))
}

/// Whether something is a generator of Python's `random`, of whatever class: workers of a loader change that of the one that all use.
fn is_pythons_random(of: &Bound<'_, PyAny>) -> PyResult<bool> {
    static RANDOM: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    of.is_instance(RANDOM.import(of.py(), "_random", "Random")?)
}

/// Whether something is NumPy's module of random numbers, NumPy in code that names that module, or one of its functions.
fn draws_from_numpy(value: &Bound<'_, PyAny>, names: &HashSet<String>) -> PyResult<bool> {
    if let Ok(module) = value.cast::<PyModule>() {
        let name = module.name()?;
        let name = name.to_string_lossy();
        return Ok(name == "numpy.random" || name == "numpy" && names.contains("random"));
    }
    if !value.is_instance_of::<PyCFunction>() {
        return Ok(false);
    }
    match value.getattr_opt(intern!(value.py(), "__self__"))? {
        Some(of) => Ok(of.get_type().name()? == "RandomState"),
        None => Ok(false),
    }
}

/// Puts the methods of an object's class on the stack: those that Python code can call on it. The package's own know themselves.
fn methods_of<'py>(object: &Bound<'py, PyAny>, stack: &mut Vec<Bound<'py, PyAny>>) -> PyResult<()> {
    if is_code(object) || object.cast::<PyTensor>().is_ok() {
        return Ok(());
    }
    // What a kernel was read from knows what the kernel knows.
    if object.get_type().hasattr(intern!(object.py(), "_is_kernel"))? {
        stack.push(object.getattr(intern!(object.py(), "_function"))?);
        let gradient = object.getattr(intern!(object.py(), "_gradient"))?;
        if !gradient.is_none() {
            methods_of(&gradient, stack)?;
        }
        return Ok(());
    }
    for class in object.get_type().getattr("__mro__")?.try_iter()? {
        let class = class?;
        let module = class.getattr("__module__")?;
        let module = module.str()?.to_string_lossy().into_owned();
        if module == "builtins" || module.starts_with("micrograd_rs") {
            continue;
        }
        let attributes = class.getattr("__dict__")?;
        for value in attributes.call_method0("values")?.try_iter()? {
            let value = value?;
            if value.is_instance_of::<PyFunction>() {
                stack.push(value);
            } else if let Some(getter) = there(value.py(), value.getattr("fget"))? {
                stack.push(getter);
            }
        }
    }
    Ok(())
}

/// Puts what an `autograd.Function` does on the stack.
fn rules_of<'py>(object: &Bound<'py, PyAny>, stack: &mut Vec<Bound<'py, PyAny>>) -> PyResult<()> {
    if !object.is_instance_of::<PyType>() || !object.hasattr(intern!(object.py(), "_has_rules"))? {
        return Ok(());
    }
    for class in object.getattr(intern!(object.py(), "__mro__"))?.try_iter()? {
        let class = class?;
        if class.getattr("__module__")?.str()?.to_string_lossy().starts_with("micrograd_rs") {
            continue;
        }
        for value in class.getattr("__dict__")?.call_method0("values")?.try_iter()? {
            let value = value?;
            if value.is_instance_of::<PyFunction>() || value.hasattr(intern!(object.py(), "__func__"))? {
                stack.push(value);
            }
        }
    }
    Ok(())
}
