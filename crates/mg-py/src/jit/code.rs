//! What code asks for: the names that stand in it, and whether it asks by ones that do not.

use std::collections::HashSet;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyCode, PyString, PyTuple, PyType};

use crate::jit::key::{ANY_FIELD, ANY_KEY, IDENTITY};
use crate::jit::sort::{is_of_a_program, is_type_named};

/// Who asks for attributes by names that do not stand in the code.
const ASKING: [&str; 13] = [
    "__getattribute__",
    "__getattr__",
    "__setattr__",
    "__delattr__",
    "__getstate__",
    "__reduce__",
    "__reduce_ex__",
    "__dir__",
    "attrgetter",
    "methodcaller",
    "getattr_static",
    "asdict",
    "astuple",
];
/// Who does so unless the name stands beside the question.
const TELLING: [&str; 8] =
    ["getattr", "hasattr", "setattr", "delattr", "vars", "__dict__", "dir", "getmembers"];
/// Letters of a word that may be a name.
const WORD: usize = 1024;

/// What an optimiser has its groups under.
const GROUPS: &str = "param_groups";

/// An instruction of code, as `dis` tells of it.
struct Instruction {
    op: String,
    /// What it is about, if that is a name.
    name: Option<String>,
    arg: usize,
}

impl Instruction {
    /// Those of code, but for what only fills it.
    fn all(code: &Bound<'_, PyAny>) -> PyResult<Vec<Instruction>> {
        let all = code.py().import("dis")?.call_method1("get_instructions", (code,))?;
        let all = all.try_iter()?.map(|instruction| Instruction::of(&instruction?));
        let all = all.collect::<PyResult<Vec<_>>>()?;
        Ok(all.into_iter().filter(|instruction| !instruction.is_silent()).collect())
    }

    fn of(instruction: &Bound<'_, PyAny>) -> PyResult<Instruction> {
        let py = instruction.py();
        let mut op = instruction.getattr(intern!(py, "opname"))?.str()?.to_string_lossy().into_owned();
        // As it was called before there was one for all operators.
        if op == "BINARY_OP" && instruction.getattr(intern!(py, "argrepr"))?.eq("[]")? {
            "BINARY_SUBSCR".clone_into(&mut op);
        }
        let name = instruction.getattr(intern!(py, "argval"))?.extract().ok();
        let arg = instruction.getattr(intern!(py, "arg"))?.extract().unwrap_or(0);
        Ok(Instruction { op, name, arg })
    }

    fn is_silent(&self) -> bool {
        matches!(&*self.op, "CACHE" | "EXTENDED_ARG" | "RESUME" | "NOP" | "PRECALL")
    }

    fn is_constant(&self) -> bool {
        self.op.starts_with("LOAD_CONST") || self.op.starts_with("LOAD_SMALL_INT")
    }

    fn stores(&self) -> Option<&String> {
        let is_store = matches!(&*self.op, "STORE_FAST" | "STORE_DEREF" | "STORE_NAME" | "STORE_GLOBAL");
        self.name.as_ref().filter(|_| is_store)
    }
}

/// Whether code asks an optimiser's group for something under a key that does not stand beside the question, or hands a group on: what is not
/// seen to be `group["name"]` is taken for that.
fn hands_on_groups(all: &[Instruction]) -> bool {
    let op = |at: usize| all.get(at).map_or("", |instruction| &*instruction.op);
    let is_constant = |at: usize| all.get(at).is_some_and(Instruction::is_constant);
    let is_key = |at: usize| is_constant(at) && matches!(op(at + 1), "BINARY_SUBSCR" | "STORE_SUBSCR");
    // Variables that hold groups.
    let mut held: Vec<&String> = vec![];
    for at in (0..all.len()).filter(|&at| all[at].name.as_deref() == Some(GROUPS)) {
        let next = match op(at + 1) {
            // `for group in optimizer.param_groups`, also where it is a part of a comprehension.
            "GET_ITER" => {
                let Some(turn) = (at + 2..all.len()).find(|&at| op(at) == "FOR_ITER") else { return true };
                if (at + 2..turn).any(|at| op(at).starts_with("CALL")) {
                    return true;
                }
                turn + 1
            }
            _ if is_constant(at + 1) && op(at + 2) == "BINARY_SUBSCR" => at + 3,
            _ => return true,
        };
        match all.get(next).and_then(Instruction::stores) {
            Some(name) => held.push(name),
            None if is_key(next) => {}
            None => return true,
        }
    }
    let is_held = |at: usize| {
        let loads = op(at).starts_with("LOAD_") && !is_constant(at);
        loads && all[at].name.as_ref().is_some_and(|name| held.contains(&name))
    };
    // Where two are loaded at once no name is told.
    let is_pair = |at: usize| op(at).contains("FAST_LOAD_FAST") || op(at).contains("FAST_BORROW_LOAD_FAST");
    (0..all.len()).any(|at| {
        !held.is_empty() && is_pair(at) || is_held(at) && !is_key(at + 1) && op(at + 1) != "CONTAINS_OP"
    })
}

/// Whether code asks for an attribute by a name that does not stand beside the question.
fn asks_for_any_name(all: &[Instruction]) -> bool {
    all.iter().enumerate().filter(|(_, asks)| asks.op.starts_with("LOAD_")).any(|(at, asks)| {
        match asks.name.as_deref() {
            Some("getattr" | "hasattr" | "setattr" | "delattr") => !names_a_constant(&all[at + 1..]),
            Some("vars" | "__dict__" | "dir" | "getmembers") => true,
            _ => false,
        }
    })
}

/// Whether what follows is a call whose second argument is a constant text, and whose third, if there is one, is a constant or a variable.
fn names_a_constant(following: &[Instruction]) -> bool {
    let mut loaded: Vec<&Instruction> = vec![];
    for next in following {
        match &*next.op {
            "PUSH_NULL" => {}
            "CALL" => {
                let Some(at) = (loaded.len() + 1).checked_sub(next.arg).filter(|_| matches!(next.arg, 2 | 3))
                else {
                    return false;
                };
                // The object may take any number of instructions, the others take one each.
                let is_simple = |of: &&Instruction| {
                    matches!(&*of.op, "LOAD_CONST" | "LOAD_FAST" | "LOAD_GLOBAL" | "LOAD_DEREF" | "LOAD_NAME")
                };
                let is_text = |of: &&Instruction| of.op == "LOAD_CONST" && of.name.is_some();
                return loaded.get(at).is_some_and(is_text) && loaded[at..].iter().skip(1).all(is_simple);
            }
            // It is kept, handed on, or one of several.
            other
                if ["CALL", "STORE_", "RETURN_", "POP_", "YIELD_"].iter().any(|of| other.starts_with(of))
                    || other.contains("JUMP") =>
            {
                return false;
            }
            _ => loaded.push(next),
        }
    }
    false
}

/// Whether something is a function that asks for attributes by names, under another name than its own.
pub fn asks_by_another_name(value: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<bool> {
    let py = value.py();
    let class = value.get_type();
    if is_type_named(&class, "functools", "partial")? {
        return asks_by_another_name(&value.getattr(intern!(py, "func"))?, None);
    }
    if is_type_named(&class, "builtins", "method-wrapper")? {
        let own = value.getattr(intern!(py, "__name__"))?.str()?;
        return Ok(ASKING.contains(&&*own.to_string_lossy()));
    }
    if !value.is_instance_of::<PyCFunction>() && !value.is_instance_of::<PyType>() {
        return Ok(false);
    }
    let own = value.getattr(intern!(py, "__name__"))?.str()?;
    let own = own.to_string_lossy();
    let is_asking = TELLING.contains(&&*own) || ASKING.contains(&&*own);
    Ok(is_asking && name != Some(&*own) && !is_of_a_program(&value.getattr(intern!(py, "__module__"))?)?)
}

/// The names that code and the code within it uses.
pub struct Named {
    /// Of variables of the Python module, and of what is imported.
    pub globals: HashSet<String>,
    /// All of them, those of attributes too.
    pub names: Vec<String>,
    /// Words that stand in it and could be names; and what stands among names for questions that need none ([`ANY_KEY`] and its like).
    pub words: Vec<String>,
    /// It asks for attributes by names that are not written in it.
    pub asks_any_name: bool,
    /// There is something to do where an error is raised.
    pub catches: bool,
}

impl Named {
    pub fn by(code: &Bound<'_, PyAny>) -> PyResult<Named> {
        let mut named = Named {
            globals: HashSet::new(),
            names: vec![],
            words: vec![],
            asks_any_name: false,
            catches: false,
        };
        let mut stack = vec![code.clone()];
        while let Some(code) = stack.pop() {
            let Ok(all) = code.getattr("co_names") else { continue };
            for name in all.try_iter()? {
                named.names.push(name?.extract::<String>()?);
            }
            let all = Instruction::all(&code)?;
            named.asks_any_name |= asks_for_any_name(&all);
            if hands_on_groups(&all) {
                named.words.push(ANY_KEY.to_owned());
            }
            for (at, instruction) in all.iter().enumerate() {
                let op = &*instruction.op;
                named.catches |= matches!(op, "CHECK_EXC_MATCH" | "CHECK_EG_MATCH");
                // With what is no constant.
                if op == "IS_OP" && at.checked_sub(1).is_some_and(|before| !all[before].is_constant()) {
                    named.words.push(IDENTITY.to_owned());
                }
                if op == "MATCH_CLASS" && instruction.arg > 0 {
                    named.words.push(ANY_FIELD.to_owned());
                }
                // An attribute may have the name of a variable that the code has nothing to do with.
                if op.contains("GLOBAL") || op.ends_with("_NAME") {
                    named.globals.extend(instruction.name.clone());
                }
            }
            for constant in code.getattr("co_consts")?.try_iter()? {
                let constant = constant?;
                if constant.is_instance_of::<PyCode>() {
                    stack.push(constant);
                } else {
                    named.words_of(&constant)?;
                }
            }
        }
        if named.words.iter().any(|word| word == GROUPS) {
            named.words.push(ANY_KEY.to_owned());
        }
        let has = |known: &[&str]| named.names.iter().any(|name| known.contains(&&**name));
        named.asks_any_name = has(&ASKING) || has(&TELLING) && named.asks_any_name;
        named.catches |= has(&["suppress"]);
        Ok(named)
    }

    /// The words in a constant: as `getattr` has them, keywords of patterns, and fields of a format.
    fn words_of(&mut self, constant: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(all) = constant.cast::<PyTuple>() {
            return all.iter().try_for_each(|part| self.words_of(&part));
        }
        let Ok(text) = constant.cast::<PyString>() else { return Ok(()) };
        let text = text.to_string_lossy();
        // Fields of a format name attributes behind points.
        for field in text.split('{').skip(1) {
            let parts = field.split(['}', '!', ':', '[']).next().unwrap_or_default().split('.').skip(1);
            self.words.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
        }
        if text.len() <= WORD && !text.contains(char::is_whitespace) {
            self.words.push(text.into_owned());
        }
        Ok(())
    }
}
