//! A user's PTX as the engine launches it: one entry, whose parameters are one structure, under a name of its own.
//!
//! The engine's kernels have one parameter, and a second one where a failed check closes the way (`cuda/gate.rs`). So
//! the entry's list of parameters becomes one array of bytes, and each name in its body the array's with an offset. Other entries are left out.

use mg_device::{Error, ErrorKind, Result};

/// What a parameter of an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param {
    /// Where it lies in the structure, in bytes.
    pub at: usize,
    /// How many bytes it has.
    pub size: usize,
    /// Whether it is a floating-point number.
    pub is_float: bool,
}

/// The text for the engine, and the entry's parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Adapted {
    /// The text, with an entry of the new name.
    pub text: String,
    /// The parameters, in their order.
    pub params: Vec<Param>,
}

/// The name of the structure.
const ARGS: &str = "mg_args";

fn fail<T>(text: String) -> Result<T> {
    Err(Error::new("raw kernel", ErrorKind::Value(text)))
}

/// An entry's place in a text.
struct Entry<'a> {
    /// From its directives to its closing brace.
    start: usize,
    end: usize,
    name: &'a str,
    /// Where its name stands.
    name_at: usize,
    /// Between the parentheses; empty where there are none.
    params: std::ops::Range<usize>,
    /// Where its body begins.
    body: usize,
}

/// The text without its comments, each of which becomes a space.
fn without_comments(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('/') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        rest = if from.starts_with("//") {
            &from[from.find('\n').unwrap_or(from.len())..]
        } else if let Some(inner) = from.strip_prefix("/*") {
            out.push(' ');
            inner.find("*/").map_or("", |end| &inner[end + 2..])
        } else {
            out.push('/');
            &from[1..]
        };
    }
    out.push_str(rest);
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

/// The entries of a text without comments.
fn entries(text: &str) -> Option<Vec<Entry<'_>>> {
    let (mut all, mut from) = (vec![], 0);
    while let Some(found) = text[from..].find(".entry") {
        let directive = from + found;
        let name_at = directive + ".entry".len();
        let name_at = name_at + text[name_at..].find(|c: char| !c.is_whitespace())?;
        let name = &text[name_at..name_at + text[name_at..].find(|c| !is_word(c))?];
        let brace = name_at + text[name_at..].find('{')?;
        let params = match text[name_at..brace].find('(') {
            Some(open) => name_at + open + 1..name_at + open + text[name_at + open..brace].find(')')?,
            None => name_at + name.len()..name_at + name.len(),
        };
        let (mut depth, mut end) = (0, None);
        for (at, c) in text[brace..].char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                end = Some(brace + at + 1);
                break;
            }
        }
        let end = end?;
        // `.visible`, `.weak` and their like stand before it.
        let line = text[..directive].rfind(['\n', ';', '}']).map_or(0, |at| at + 1);
        all.push(Entry { start: line, end, name, name_at, params, body: brace + 1 });
        from = end;
    }
    Some(all)
}

/// What a declaration of a parameter says: its name, its size and alignment.
fn param(text: &str) -> Option<(&str, usize, usize, bool)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (name, count) = match words.last()?.split_once('[') {
        Some((name, count)) => (name, count.trim_end_matches(']').parse().ok()?),
        None => (*words.last()?, 1),
    };
    let (mut size, mut align, mut is_float, mut is_pointer) = (0, None, false, false);
    let mut i = 0;
    while i + 1 < words.len() {
        let word = words[i];
        match word {
            ".param" | ".const" | ".global" | ".local" | ".shared" => {}
            ".ptr" => is_pointer = true,
            ".align" => {
                i += 1;
                let value = words.get(i)?.parse().ok()?;
                // That of what a pointer points to is not the parameter's own.
                align = if is_pointer { align } else { Some(value) };
            }
            _ => {
                let digits = word.trim_start_matches(|c: char| !c.is_ascii_digit());
                size = digits.parse::<usize>().ok()? / 8;
                is_float = word.starts_with(".f");
            }
        }
        i += 1;
    }
    (size > 0).then_some((name, size * count, align.unwrap_or(size), is_float))
}

/// Makes of the entry `wanted` of a text what the engine launches, under the name `unique`.
///
/// # Errors
///
/// A text without that entry, or one that is not understood.
pub fn adapted(text: &str, wanted: &str, unique: &str) -> Result<Adapted> {
    let text = without_comments(text);
    let Some(all) = entries(&text) else {
        return fail("its PTX is not understood: an entry has no body".into());
    };
    let exact = all.iter().position(|e| e.name == wanted);
    // C++ writes the length of a name before it.
    let mangled = format!("{}{wanted}", wanted.len());
    let similar: Vec<usize> = (0..all.len()).filter(|&i| all[i].name.contains(&mangled)).collect();
    let at = match (exact, similar.as_slice()) {
        (Some(at), _) => at,
        (None, [at]) => *at,
        (None, _) => {
            let names: Vec<&str> = all.iter().map(|e| e.name).collect();
            let has = if names.is_empty() { "none".into() } else { names.join(", ") };
            return fail(format!(
                "its text has no entry {wanted} (it has {has}); in CUDA C: extern \"C\" __global__ void {wanted}(…)"
            ));
        }
    };
    let entry = &all[at];
    let (mut params, mut names, mut end, mut widest) = (vec![], vec![], 0usize, 8usize);
    for declared in text[entry.params.clone()].split(',').map(str::trim).filter(|d| !d.is_empty()) {
        let Some((name, size, align, is_float)) = param(declared) else {
            return fail(format!("its PTX has a parameter that is not understood: {declared}"));
        };
        if !align.is_power_of_two() || align > 16 {
            return fail(format!("its PTX has a parameter aligned to {align} bytes: {declared}"));
        }
        let place = end.next_multiple_of(align);
        params.push(Param { at: place, size, is_float });
        names.push((name, place));
        (end, widest) = (place + size, widest.max(align));
    }
    let mut made = String::with_capacity(text.len() + 256);
    let mut from = 0;
    for (i, other) in all.iter().enumerate() {
        if i != at {
            made.push_str(&text[from..other.start]);
            from = other.end;
            continue;
        }
        // One space after the word: what puts the gate in looks for it.
        made.push_str(text[from..other.name_at].trim_end());
        made.push(' ');
        made.push_str(&format!(
            "{unique}(.param .align {widest} .b8 {ARGS}[{}])",
            end.max(8).next_multiple_of(8)
        ));
        // Directives between the parameters and the body.
        let after = if other.params.is_empty() && !text[other.name_at..other.body].contains('(') {
            other.params.end
        } else {
            other.params.end + 1
        };
        made.push_str(&text[after..other.body]);
        made.push_str(&renamed(&text[other.body..other.end], &names));
        from = other.end;
    }
    made.push_str(&text[from..]);
    Ok(Adapted { text: made, params })
}

/// A body with the structure and an offset in the place of each parameter.
fn renamed(body: &str, names: &[(&str, usize)]) -> String {
    let (mut out, mut rest) = (String::with_capacity(body.len()), body);
    while let Some(start) = rest.find(is_word) {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let len = from.find(|c| !is_word(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(len);
        match names.iter().find(|(name, _)| *name == word) {
            None => {
                out.push_str(word);
                rest = after;
            }
            Some((_, at)) => {
                // An offset of the text's own is added to it.
                let offset = after.strip_prefix('+').map(|digits| {
                    let len = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
                    digits.split_at(len)
                });
                let (more, tail) = match offset {
                    Some((digits, tail)) => (digits.parse::<usize>().unwrap_or(0), tail),
                    None => (0, after),
                };
                out.push_str(&format!("{ARGS}+{}", at + more));
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAXPY: &str = "
.version 8.0
.target sm_75
.address_size 64
// .entry nothing(
.visible .entry other(.param .u32 other_param_0)
{
	ret;
}
.visible .entry saxpy(
	.param .u64 .ptr .global .align 4 saxpy_param_0,
	.param .f32 saxpy_param_1,
	.param .u64 saxpy_param_2,
	.param .align 8 .b8 saxpy_param_3[16]
)
.maxntid 256, 1, 1
{
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [saxpy_param_0];
	ld.param.f32 %f1, [saxpy_param_1];
	ld.param.u64 %rd2, [saxpy_param_3+8];
	mov.b64 %rd3, saxpy_param_2;
	{ ret; }
}
";

    #[test]
    fn parameters_become_one_structure() {
        let made = adapted(SAXPY, "saxpy", "mg_own_1").unwrap();
        let at: Vec<_> = made.params.iter().map(|p| (p.at, p.size, p.is_float)).collect();
        assert_eq!(at, [(0, 8, false), (8, 4, true), (16, 8, false), (24, 16, false)]);
        assert!(
            made.text
                .contains(".visible .entry mg_own_1(.param .align 8 .b8 mg_args[40])\n.maxntid 256, 1, 1\n{")
        );
        for line in ["[mg_args+0]", "[mg_args+8]", "[mg_args+32]", "mov.b64 %rd3, mg_args+16;"] {
            assert!(made.text.contains(line), "{line} in {}", made.text);
        }
        assert!(!made.text.contains("other") && !made.text.contains("saxpy"), "{}", made.text);
        let gated = crate::cuda::gated_ptx(&made.text).unwrap();
        assert!(gated.contains("mg_args[40], .param .align 8 .b8 mg_gate[16])"), "{gated}");
    }

    #[test]
    fn names_of_cpp_and_entries_without_parameters() {
        let text = ".visible .entry _Z4nopev\n{\n ret;\n}\n";
        let made = adapted(text, "nope", "mg_own_2").unwrap();
        assert!(
            made.params.is_empty() && made.text.contains("mg_own_2(.param .align 8 .b8 mg_args[8])\n{"),
            "{}",
            made.text
        );
    }

    #[test]
    fn what_is_not_there_is_told() {
        let text = |t: &str, name: &str| adapted(t, name, "u").unwrap_err().to_string();
        assert!(text(SAXPY, "axpy").contains("no entry axpy (it has other, saxpy)"));
        assert!(text("", "axpy").contains("it has none"));
        assert!(
            text(".entry k(.param .texref t) { ret; }", "k").contains("not understood: .param .texref t")
        );
        assert!(text(".entry k() { ret; ", "k").contains("an entry has no body"));
    }
}
