//! What a kernel's source says that its caller has to know: the struct that it takes, and its constants.
//!
//! Not a compiler: sources are read as this project writes them. What is not understood is an error of the build where an argument
//! has it, and left out where a constant does.

use crate::Result;
use crate::expression::{Names, value};
use std::collections::BTreeMap;
use std::fs;

/// A struct of C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// The file that declares it, without its ending.
    pub file: String,
    pub name: String,
    /// The number that it is a template over.
    pub parameter: Option<String>,
    /// In the order of memory.
    pub fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub kind: Kind,
    /// Elements of each dimension of an array, in text.
    pub dims: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Pointer,
    /// A number, by Rust's name for it.
    Number(&'static str),
    /// A struct (its file and its name, once it was found), and what it is a template of.
    Struct(Path, Option<String>),
}

/// Where a struct is: a file without its ending, and a name.
pub type Path = (String, String);

/// A source as one variant of it sees it: conditions decided, comments gone, what it includes before it.
pub struct Seen {
    text: String,
    /// The same by files.
    files: BTreeMap<String, String>,
    /// Numbers of whole files: `constexpr` and `enum`.
    pub constants: Names,
}

impl Seen {
    /// The file with these definitions ("V_BM=128"), for an architecture ("90a").
    pub fn new(folder: &std::path::Path, file: &str, defines: &[String], architecture: &str) -> Result<Seen> {
        let mut names = Names::new();
        let number = architecture.trim_end_matches(|c: char| !c.is_ascii_digit());
        names.insert("__CUDA_ARCH__".into(), number.parse::<i64>().unwrap_or(0) * 10);
        for define in defines {
            let (name, text) = define.split_once('=').unwrap_or((define, "1"));
            // A definition that is no number is there all the same.
            names.insert(name.into(), value(text, &Names::new()).unwrap_or(i64::MAX));
        }
        let mut seen = Seen { text: String::new(), files: BTreeMap::new(), constants: Names::new() };
        seen.read(folder, file, &names, &mut Vec::new())?;
        names.retain(|_, value| *value != i64::MAX);
        let element = defines.iter().find_map(|define| bytes(define.strip_prefix("V_T=")?));
        seen.constants = constants(&seen.text, names, element);
        Ok(seen)
    }

    fn read(
        &mut self,
        folder: &std::path::Path,
        file: &str,
        names: &Names,
        read: &mut Vec<String>,
    ) -> Result<()> {
        if read.iter().any(|before| before == file) {
            return Ok(());
        }
        read.push(file.to_owned());
        let text = fs::read_to_string(folder.join(file)).map_err(|error| format!("{file}: {error}"))?;
        // Whether each condition that is open holds, and whether one of its alternatives did.
        let mut open: Vec<(bool, bool)> = Vec::new();
        let mut goes_on = false;
        for line in text.lines() {
            // The lines of a macro.
            let within = goes_on;
            goes_on = line.ends_with('\\') && (within || line.starts_with('#'));
            if within {
                continue;
            }
            let line = line.split("//").next().unwrap_or_default().trim_end();
            let Some(directive) = line.trim_start().strip_prefix('#') else {
                if open.iter().all(|(holds, _)| *holds) {
                    let stem = file.split('.').next().unwrap_or(file).to_owned();
                    for text in [&mut self.text, self.files.entry(stem).or_default()] {
                        text.push_str(line);
                        text.push('\n');
                    }
                }
                continue;
            };
            let (word, rest) = directive.trim().split_once(' ').unwrap_or((directive.trim(), ""));
            let has = |name: &str| names.contains_key(name.trim());
            let holds = |text: &str| {
                let mut known = names.clone();
                // What is not defined is 0, as the preprocessor has it.
                let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                for word in words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic())) {
                    known.entry(word.to_owned()).or_insert(0);
                }
                value(text, &known)
                    .map(|v| v != 0)
                    .ok_or_else(|| format!("{file}: cannot decide '#if {text}'"))
            };
            match word {
                "ifdef" => open.push((has(rest), has(rest))),
                "ifndef" => open.push((!has(rest), !has(rest))),
                "if" => {
                    let holds = holds(rest)?;
                    open.push((holds, holds));
                }
                "elif" | "else" => {
                    let now = if word == "else" { true } else { holds(rest)? };
                    let last = open.last_mut().ok_or_else(|| format!("{file}: #{word} without #if"))?;
                    *last = (now && !last.1, now || last.1);
                }
                "endif" => {
                    open.pop();
                }
                "include" if open.iter().all(|(holds, _)| *holds) => {
                    self.read(folder, rest.trim_matches('"'), names, read)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The name of the struct that the kernel takes by value.
    pub fn argument(&self) -> Option<&str> {
        let mut entries = self.text.split(" V_NAME(const ").skip(1);
        let mut words = entries.next()?.split_whitespace();
        let first = words.find(|word| *word != "__grid_constant__")?;
        // Another name for a template over types: addresses are of them, whatever they are.
        let other =
            self.text.split_once(&format!("using {first} = ")).and_then(|(_, rest)| rest.split_once('<'));
        entries.next().is_none().then_some(other.map_or(first, |(name, _)| name))
    }

    /// The struct of this name with all that it consists of. Answers with where it is.
    pub fn structs(&self, name: &str, found: &mut BTreeMap<Path, Struct>) -> Result<Path> {
        let mut places = self.files.iter().filter_map(|(file, text)| find(file, text, name));
        let one = places.next().ok_or_else(|| format!("no struct {name}"))?;
        let mut one = one.map_err(|error| format!("struct {name}: {error}"))?;
        for field in &mut one.fields {
            if let Kind::Struct(path, _) = &mut field.kind {
                *path = self.structs(&path.1, found)?;
            }
        }
        let path = (one.file.clone(), one.name.clone());
        match found.insert(path.clone(), one.clone()) {
            Some(other) if other != one => Err(format!("struct {name} is not the same in all kernels")),
            _ => Ok(path),
        }
    }
}

/// The struct of this name in a file's text.
fn find(file: &str, text: &str, name: &str) -> Option<Result<Struct>> {
    for (at, _) in text.match_indices("struct ") {
        let (head, rest) = text[at..].split_once('{')?;
        if head.contains([';', '<']) || head.split_whitespace().last() != Some(name) {
            continue;
        }
        let before = text[..at].trim_end();
        let template = before.ends_with('>').then(|| before.rsplit_once("template <")).flatten();
        let parameter = template.and_then(|(_, rest)| rest.trim_end_matches('>').strip_prefix("int "));
        return Some(fields(body(rest)).map(|fields| Struct {
            file: file.into(),
            name: name.into(),
            parameter: parameter.map(str::to_owned),
            fields,
        }));
    }
    None
}

/// What stands before the brace that closes.
fn body(text: &str) -> &str {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

/// The fields of a struct; functions and static members are passed by.
fn fields(body: &str) -> Result<Vec<Field>> {
    let mut statements = vec![String::new()];
    let mut depth = 0;
    for c in body.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match c {
            ';' | '}' if depth == 0 => statements.push(String::new()),
            c => {
                if let Some(last) = statements.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    let mut found = Vec::new();
    for statement in statements {
        let statement = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        if statement.is_empty() || statement.contains('(') || statement.starts_with("static ") {
            continue;
        }
        let text = statement.strip_prefix("const ").unwrap_or(&statement);
        let bad = || format!("'{statement}' is not understood");
        let end = text.find([' ', '*', '<']).ok_or_else(bad)?;
        let (kind, mut rest) = text.split_at(end);
        let mut parameter = None;
        if let Some((inner, after)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
            parameter = Some(inner.trim().to_owned());
            rest = after;
        }
        for declared in rest.split(',') {
            let declared = declared.trim();
            let name = declared.trim_start_matches(['*', ' ']);
            let (name, dims) = match name.split_once('[') {
                Some((name, dims)) => {
                    (name, dims.trim_end_matches(']').split("][").map(str::to_owned).collect())
                }
                None => (name, Vec::new()),
            };
            let number = match kind {
                "u8" => Some("u8"),
                "i32" => Some("i32"),
                "u32" => Some("u32"),
                "i64" => Some("i64"),
                "u64" => Some("u64"),
                "float" => Some("f32"),
                "double" => Some("f64"),
                _ => None,
            };
            let kind = match number {
                _ if declared.starts_with('*') => Kind::Pointer,
                Some(number) => Kind::Number(number),
                None => Kind::Struct((String::new(), kind.to_owned()), parameter.clone()),
            };
            found.push(Field { name: name.trim().to_owned(), kind, dims });
        }
    }
    Ok(found)
}

/// Bytes of a number of C.
fn bytes(kind: &str) -> Option<usize> {
    match kind {
        "float" | "tf32" => Some(4),
        "double" => Some(8),
        _ => {
            let bits =
                ["i", "u", "f", "bf"].iter().find_map(|sort| kind.strip_prefix(sort)?.parse::<usize>().ok());
            bits.filter(|bits| matches!(bits, 8 | 16 | 32 | 64)).map(|bits| bits / 8)
        }
    }
}

/// Numbers that stand outside of all braces: `constexpr int A = 1, B = A + 1;` and `enum : u32 { C = 2 };`. `element` is the size of
/// what the sources call T.
fn constants(text: &str, mut names: Names, element: Option<usize>) -> Names {
    let mut found = Names::new();
    let mut depth = 0;
    let mut outside = String::new();
    for part in text.split_inclusive(['{', '}']) {
        let is_enum = part.ends_with('{')
            && part.rsplit(';').next().is_some_and(|last| last.trim().starts_with("enum"));
        if depth == 0 {
            outside.push_str(part.trim_end_matches(['{', '}']));
            // What is in the braces of an enumeration is read as constants are.
            outside.push_str(if is_enum { "; constexpr int " } else { ";" });
        }
        depth += i32::from(part.ends_with('{') && !is_enum) - i32::from(part.ends_with('}') && depth > 0);
    }
    for statement in outside.split(';') {
        let Some(rest) = statement.trim().strip_prefix("constexpr ") else { continue };
        let Some((_, declared)) = rest.split_once(' ') else { continue };
        for one in declared.split(',') {
            let Some((name, text)) = one.split_once('=') else { continue };
            let text = match element {
                Some(bytes) => {
                    let half = if bytes == 2 { "1" } else { "0" };
                    text.replace("sizeof(T)", &bytes.to_string()).replace("Is16<T>::value", half)
                }
                None => text.to_owned(),
            };
            if let Some(number) = value(&text, &names) {
                names.insert(name.trim().to_owned(), number);
                found.insert(name.trim().to_owned(), number);
            }
        }
    }
    found
}
