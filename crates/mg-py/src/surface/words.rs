//! What Python's documentation of an operation says: the engine's words, its arguments, its errors, and an example.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::OnceLock;

use mg_autograd::surface::{Kind, Operation, Param, Place};

/// What the engine's words do not say: `== name`, lines `argument: what it is`, and an example that the tests run. Where operations of one name
/// differ, a place stands before the name, or an underscore behind it. Under `*` are arguments that are the same everywhere. Other lines are
/// `input: ` with what the tensor is whose method it is, `errors: ` with the exceptions, by Python's names, `says: ` with what stands in the place of the
/// engine's words, and `like: ` with an entry that has what this one has not, but for the example. In all of these `input` is that tensor, which a
/// method calls `self`.
const TEXT: &str = include_str!("words.txt");

#[derive(Default)]
struct Entry {
    lines: Vec<(&'static str, &'static str)>,
    example: &'static str,
}

impl Entry {
    /// What a line of the entry says, or of one that it is like.
    fn said(&self, name: &str) -> Option<&'static str> {
        let line = |name| self.lines.iter().find(|line| line.0 == name).map(|line| line.1);
        line(name).or_else(|| entries().get(line("like")?)?.said(name))
    }
}

fn entries() -> &'static HashMap<&'static str, Entry> {
    static ENTRIES: OnceLock<HashMap<&str, Entry>> = OnceLock::new();
    ENTRIES.get_or_init(|| {
        let entry = |text: &'static str| {
            let (name, rest) = text.split_once('\n').unwrap_or((text, ""));
            let (lines, example) = rest.split_at(rest.find(">>>").unwrap_or(rest.len()));
            let lines = lines.lines().filter_map(|line| line.split_once(": ")).collect();
            (name.trim(), Entry { lines, example: example.trim_end() })
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
        Some(default) => _ = write!(out, ", default {default}"),
        None if param.takes_none => out.push_str(", or None"),
        None => {}
    }
    out.push(')');
    let common = match (param.name, param.kind, param.default) {
        ("dim", Kind::Ints, Some("None")) => "dims",
        ("dim", Kind::Int, default) if default != Some("None") => "dim",
        ("dim", ..) | ("other", Kind::Tensor, _) => "",
        (name, ..) => name,
    };
    let own = entry.and_then(|entry| entry.said(param.name));
    if let Some(words) = own.or_else(|| entries().get("*")?.said(common)) {
        out.push_str(": ");
        wrapped(out, words, "        ");
    }
}

/// What is written behind the last line, in lines of their width, with an indent before each but the first. Code is not parted.
fn wrapped(out: &mut String, text: &str, indent: &str) {
    const WIDTH: usize = 120;
    let width = |text: &str| text.chars().count();
    let last = out.rfind('\n').map_or(0, |at| at + 1);
    let mut column = width(&out[last..]);
    let mut rest = text;
    while !rest.is_empty() {
        // Up to the first blank that is not within code.
        let (mut end, mut ticks) = (0, 0);
        for piece in rest.split(' ') {
            end += piece.len();
            ticks += piece.matches('`').count();
            if ticks % 2 == 0 {
                break;
            }
            end += 1;
        }
        let (piece, behind) = rest.split_at(end.min(rest.len()));
        let length = width(piece);
        if rest.len() == text.len() {
            column += length;
        } else if column + 1 + length > WIDTH {
            out.push('\n');
            out.push_str(indent);
            column = indent.len() + length;
        } else {
            out.push(' ');
            column += 1 + length;
        }
        out.push_str(piece);
        rest = behind.strip_prefix(' ').unwrap_or(behind);
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

/// A text in which what code calls `from` is called `to`.
fn renamed(text: &str, from: &str, to: &str) -> String {
    // A square is no part of what is squared.
    let is_part = |c: char| c.is_alphabetic() || c.is_ascii_digit() || c == '_';
    let mut out = String::with_capacity(text.len() + 16);
    let (mut told, mut looked_at, mut is_code) = (0, 0, false);
    for (at, _) in text.match_indices(from) {
        let end = at + from.len();
        is_code ^= text[looked_at..at].matches('`').count() % 2 == 1;
        looked_at = at;
        if is_code && !text[..at].ends_with(is_part) && !text[end..].starts_with(is_part) {
            out.push_str(&text[told..at]);
            out.push_str(to);
            told = end;
        }
    }
    out.push_str(&text[told..]);
    out
}

/// What a function's words are as the method's: its tensor is called `self`, and no number stands there.
pub(super) fn of_method(words: &str) -> String {
    const LINE: &str = "Arguments:\n    input (tensor";
    let words = renamed(words, "input", "self");
    let Some(at) = words.find(LINE) else { return words };
    let (before, rest) = words.split_at(at);
    let rest = rest[LINE.len()..].trim_start_matches(" or number");
    format!("{before}Arguments:\n    self (tensor{rest}")
}

/// The lines of a function's arguments, if it takes any; `input` says what its tensor is.
fn arguments(
    out: &mut String,
    operation: &Operation,
    entry: Option<&Entry>,
    input: Option<&str>,
    is_either: bool,
) {
    if operation.params.is_empty() && input.is_none() {
        return;
    }
    out.push_str("\n\nArguments:");
    if let Some(words) = input {
        out.push_str("\n    input (tensor");
        out.push_str(if is_either { " or number): " } else { "): " });
        wrapped(out, words, "        ");
    }
    operation.params.iter().for_each(|param| argument(out, param, entry));
}

/// A function's documentation for who reads Python, up to its example.
pub(super) fn body(operation: &Operation) -> String {
    let entry = entries().get(&*key(operation));
    let said = |name| entry.and_then(|entry| entry.said(name));
    let (words, errors) = match operation.documentation.split_once("# Errors") {
        Some((words, errors)) => (words.trim(), errors.trim()),
        None => (operation.documentation.trim(), ""),
    };
    let in_python = |text| {
        let mut out = String::with_capacity(1024);
        in_python(&mut out, text);
        if operation.has_receiver { renamed(&out, "self", "input") } else { out }
    };
    let mut out = match said("says") {
        Some(says) => {
            let mut out = String::with_capacity(1024);
            wrapped(&mut out, says, "");
            out
        }
        None => in_python(words),
    };
    let input = if operation.has_receiver { said("input") } else { None };
    // A number may stand there beside a tensor.
    let is_either = matches!(operation.params, [first, ..] if first.kind == Kind::Operand && matches!(first.name, "other" | "exponent"));
    arguments(&mut out, operation, entry, input, is_either);
    match said("errors") {
        Some(said) => {
            out.push_str("\n\nErrors: ");
            wrapped(&mut out, said, "");
        }
        None if errors.is_empty() => {}
        None => _ = write!(out, "\n\nErrors: {}", in_python(errors)),
    }
    out
}

/// The documentation of the function that writes into its tensor, up to its example.
pub(super) fn written(operation: &Operation) -> String {
    let mut out = String::with_capacity(1024);
    let room = if operation.places.first() == Some(&Place::Nn) { "nn.functional." } else { "" };
    let (how, input) = match operation.view {
        true => (" of `input` itself", "the tensor whose shape changes"),
        false => (", written into `input`", "what is written into: it keeps its shape and dtype"),
    };
    let _ = write!(out, "`{0}`{how}, which is answered. See `{room}{0}`.", operation.name);
    arguments(&mut out, operation, entries().get(&*key(operation)), Some(input), false);
    if !operation.view {
        let _ = write!(out, "\n\nErrors: those of `{}`; ", operation.name);
        let text = "TypeError for a result of another kind of dtype, as a float in integers; ValueError for a result of a larger shape, and for a \
                    broadcast view; RuntimeError for a leaf that requires a gradient, outside of `no_grad`.";
        wrapped(&mut out, text, "");
    }
    out
}

/// The example behind the rest, which calls the operation as a function by its first name: under another name, or as a method. What writes into its
/// tensor shows that of its own entry, behind whose name an underscore stands, or as the operation does that answers with another.
pub(super) fn example(out: &mut String, operation: &Operation, name: &str, method: bool, writes: bool) {
    let own = format!("{}_", key(operation));
    let (entry, called) = match entries().get(own.as_str()) {
        Some(entry) if writes => (entry, format!("{}_", operation.name)),
        _ => match entries().get(&*key(operation)) {
            Some(entry) => (entry, operation.name.to_owned()),
            None => return,
        },
    };
    out.push_str("\n\n");
    let mut rest = entry.example;
    if !method && name == called {
        out.push_str(rest);
        return;
    }
    while let Some(at) = rest.find("mg.") {
        let (before, call) = rest.split_at(at);
        out.push_str(before);
        let rooms = ["mg.nn.functional.", "mg.linalg.", "mg.special.", "mg.signal.windows.", "mg."];
        let room = rooms.into_iter().find(|room| call.starts_with(room)).unwrap_or("mg.");
        let inner = call[room.len()..].strip_prefix(called.as_str()).and_then(|call| call.strip_prefix('('));
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
