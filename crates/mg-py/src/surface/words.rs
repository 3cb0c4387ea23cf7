//! What Python's documentation of an operation says: the engine's words, its arguments, its errors, and an example.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::OnceLock;

use mg_autograd::surface::{Kind, Operation, Param, Place};

/// What the engine's words do not say: `== name`, lines `argument: what it is`, and an example that the tests run. Where operations of one name
/// differ, a place stands before the name, or an underscore behind it. Under `*` are arguments that are the same everywhere.
const TEXT: &str = include_str!("words.txt");

#[derive(Default)]
struct Entry {
    arguments: Vec<(&'static str, &'static str)>,
    example: &'static str,
}

fn entries() -> &'static HashMap<&'static str, Entry> {
    static ENTRIES: OnceLock<HashMap<&str, Entry>> = OnceLock::new();
    ENTRIES.get_or_init(|| {
        let entry = |text: &'static str| {
            let (name, rest) = text.split_once('\n').unwrap_or((text, ""));
            let (arguments, example) = rest.split_at(rest.find(">>>").unwrap_or(rest.len()));
            let arguments = arguments.lines().filter_map(|line| line.split_once(": ")).collect();
            (name.trim(), Entry { arguments, example: example.trim_end() })
        };
        TEXT.split("\n== ").skip(1).map(entry).collect()
    })
}

/// What an operation is called in the text, which tells it from others of its name.
pub(super) fn key(operation: &Operation) -> Cow<'static, str> {
    let within = match operation.places {
        [] if operation.in_place => return format!("{}_", operation.name).into(),
        [] | [Place::Method | Place::Function, ..] => return operation.name.into(),
        [Place::Nn, ..] => "nn",
        [Place::Linalg, ..] => "linalg",
        [Place::Special, ..] => "special",
        [Place::Windows, ..] => "windows",
    };
    format!("{within}.{}", operation.name).into()
}

/// What Python takes for a kind of argument.
fn taken(kind: Kind) -> &'static str {
    match kind {
        Kind::Tensor => "tensor",
        Kind::Tensors => "tensors",
        Kind::Operand => "tensor or number",
        Kind::Float => "float",
        Kind::Int | Kind::Size => "int",
        Kind::Ints | Kind::Sizes | Kind::Sections => "int or ints",
        Kind::OpenSizes => "int or ints, or None for some",
        Kind::Padding => "int, ints or str",
        Kind::Floats => "float or floats",
        Kind::Spacing => "float, floats or tensors",
        Kind::Bool => "bool",
        Kind::Text => "str",
        Kind::DType => "dtype",
        Kind::Device => "device",
        Kind::Order => "float or str",
        Kind::Pairing => "int or two lists of ints",
        Kind::Integers => "tensor or ints",
        Kind::Generator => "Generator",
    }
}

/// An argument's line: what it is, what stands for it where it is not given, and what it does.
fn argument(out: &mut String, param: &Param, entry: Option<&Entry>) {
    let _ = write!(out, "\n    {} ({}", param.name, taken(param.kind));
    match param.default {
        Some("None") => out.push_str(", or None"),
        Some(default) => _ = write!(out, ", default {default}"),
        None if param.takes_none => out.push_str(", or None"),
        None => {}
    }
    out.push(')');
    let said = |entry: Option<&Entry>, name: &str| {
        entry?.arguments.iter().find(|said| said.0 == name).map(|said| said.1)
    };
    let common = if (param.name, param.kind) == ("dim", Kind::Ints) { "dims" } else { param.name };
    if let Some(words) = said(entry, param.name).or_else(|| said(entries().get("*"), common)) {
        let _ = write!(out, ": {words}");
    }
}

/// The engine's words with Python's names of dtypes, and without links.
fn in_python(out: &mut String, text: &str) {
    const DTYPES: [(&str, &str); 9] = [
        ("f16", "float16"),
        ("bf16", "bfloat16"),
        ("f32", "float32"),
        ("f64", "float64"),
        ("i8", "int8"),
        ("i16", "int16"),
        ("i32", "int32"),
        ("i64", "int64"),
        ("u8", "uint8"),
    ];
    const LINKS: [(&str, &str); 3] = [("[`Tensor::", "`"), ("[`", "`"), ("`]", "`")];
    let mut rest = text;
    // A dtype's name has a digit, and letters that were written before it was met.
    while let Some(at) = rest.find(|c: char| matches!(c, '[' | '`') || c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let digits = from.len() - from.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            let link = LINKS.into_iter().find(|(link, _)| from.starts_with(link));
            let (link, said) = link.unwrap_or((&from[..1], &from[..1]));
            out.push_str(said);
            rest = &from[link.len()..];
            continue;
        }
        let letters = out.len() - out.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
        out.push_str(&from[..digits]);
        let word = out.len() - letters - digits;
        if let Some((_, said)) = DTYPES.into_iter().find(|(dtype, _)| out[word..] == **dtype) {
            out.replace_range(word.., said);
        }
        rest = &from[digits..];
    }
    out.push_str(rest);
}

/// The lines of an operation's arguments, if it takes any.
pub(super) fn arguments(out: &mut String, operation: &Operation) {
    if operation.params.is_empty() {
        return;
    }
    let entry = entries().get(&*key(operation));
    out.push_str("\n\nArguments:");
    operation.params.iter().for_each(|param| argument(out, param, entry));
}

/// An operation's documentation for who reads Python, up to its example.
pub(super) fn body(operation: &Operation) -> String {
    let (words, errors) = match operation.documentation.split_once("# Errors") {
        Some((words, errors)) => (words.trim(), errors.trim()),
        None => (operation.documentation.trim(), ""),
    };
    let mut out = String::with_capacity(1024);
    in_python(&mut out, words);
    if operation.row.is_some() && operation.params.iter().any(|param| param.name == "other") {
        out.push_str(" Here `a` is the tensor, and `b` is `other`.");
    }
    arguments(&mut out, operation);
    if !errors.is_empty() {
        out.push_str("\n\nErrors: ");
        in_python(&mut out, errors);
    }
    out
}

/// The example behind the rest, which calls the operation as a function by its first name: under another name, or as a method.
pub(super) fn example(out: &mut String, operation: &Operation, name: &str, method: bool) {
    let Some(entry) = entries().get(&*key(operation)) else { return };
    out.push_str("\n\n");
    let mut rest = entry.example;
    if !method && name == operation.name {
        out.push_str(rest);
        return;
    }
    while let Some(at) = rest.find("mg.") {
        let (before, call) = rest.split_at(at);
        out.push_str(before);
        let rooms = ["mg.nn.functional.", "mg.linalg.", "mg.special.", "mg.signal.windows.", "mg."];
        let room = rooms.into_iter().find(|room| call.starts_with(room)).unwrap_or("mg.");
        let inner = call[room.len()..].strip_prefix(operation.name).and_then(|call| call.strip_prefix('('));
        let Some(inner) = inner else {
            out.push_str(room);
            rest = &call[room.len()..];
            continue;
        };
        rest = inner;
        if method {
            let mut depth = 0;
            let ends = |(_, c): &(usize, char)| {
                depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
                depth < 0 || depth == 0 && *c == ','
            };
            let end = inner.char_indices().find(ends).map_or(inner.len(), |(at, _)| at);
            out.push_str(&inner[..end]);
            out.push('.');
            rest = inner[end..].strip_prefix(", ").unwrap_or(&inner[end..]);
        } else {
            out.push_str(room);
        }
        let _ = write!(out, "{name}(");
    }
    out.push_str(rest);
}
