//! PTX as the build packs it: registers and labels are numbered anew, in the order in which a text names them, and told by how long ago they were new.
//! What was unrolled, and what variants of a source have in common, is then the same text again and again, whatever numbers the compiler gave; what
//! compresses it (`build/main.rs`) leaves a third of what it would leave of the compiler's numbers. Assemblers make the same machine code of it.

use std::fmt::Write;

/// What labels begin with, the number behind it. Registers begin with their kind, as `%r`.
const LABEL: &str = "BB0_";

/// How many numbers of each kind there were.
#[derive(Default)]
struct Newest<'a>(Vec<(&'a str, u64)>);

impl<'a> Newest<'a> {
    fn of(&mut self, kind: &'a str) -> &mut u64 {
        let place = self.0.iter().position(|&(known, _)| known == kind).unwrap_or_else(|| {
            self.0.push((kind, 0));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }
}

/// The text up to the first kind of numbers, that kind, and the rest. A name as `%tid` is a kind too, of which there are no numbers.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let at = from + text[from..].bytes().position(|byte| byte == b'%' || byte == b'B')?;
        let length = match text[at..].starts_with(LABEL) {
            true => LABEL.len(),
            false => 1 + text[at + 1..].bytes().take_while(u8::is_ascii_lowercase).count(),
        };
        if length > 1 {
            let (before, rest) = text.split_at(at);
            let (kind, rest) = rest.split_at(length);
            return Some((before, kind, rest));
        }
        from = at + 1;
    }
}

/// The number that a text begins with, and the rest.
fn number(text: &str) -> Option<(u64, &str)> {
    let (digits, rest) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
    Some((digits.parse().ok()?, rest))
}

/// The kinds of registers that a text declares by how many there are (`.reg .b32 %r<848>`), with that number: of other names, as `%clock64`, the
/// digits are a part.
#[cfg_attr(not(test), allow(dead_code))]
fn declared(text: &str) -> Vec<(&str, u64)> {
    let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix(".reg ")?.split_once('%'));
    lines
        .filter_map(|(_, name)| name.split_once('<'))
        .filter_map(|(kind, rest)| Some((kind, number(rest)?.0)))
        .collect()
}

/// The kernel with its registers and labels numbered from 1, in the order in which it names them. `None` where they are more than it declares. The
/// build asks for it.
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) fn renumbered(text: &str) -> Option<String> {
    let declared = declared(text);
    let (mut out, mut rest, mut newest) = (String::with_capacity(text.len()), text, Newest::default());
    let mut numbers = std::collections::HashMap::new();
    while let Some((before, kind, behind)) = next(rest) {
        out.push_str(before);
        out.push_str(kind);
        rest = behind;
        let most = match declared.iter().find(|(known, _)| *known == &kind[1..]) {
            Some(&(_, many)) => many.checked_sub(1)?,
            None if kind == LABEL => u64::MAX,
            None => continue,
        };
        if let Some((old, behind)) = number(behind) {
            let new = *numbers.entry((kind, old)).or_insert_with(|| {
                *newest.of(kind) += 1;
                *newest.of(kind)
            });
            // Into a text everything can be written.
            let _ = write!(out, "{new}");
            rest = behind;
            if new > most {
                return None;
            }
        }
    }
    Some(out + rest)
}

/// A kernel that is [`renumbered`], with `+` for the number that is new and how much less it is than the newest for others: `%r7` is `%r+` the first time, and
/// `%r-2` where `%r9` was there last. The build asks for it.
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) fn encode(text: &str) -> String {
    let declared = declared(text);
    let (mut out, mut rest, mut newest) = (String::with_capacity(text.len()), text, Newest::default());
    while let Some((before, kind, behind)) = next(rest) {
        out.push_str(before);
        out.push_str(kind);
        rest = behind;
        if kind != LABEL && declared.iter().all(|(known, _)| *known != &kind[1..]) {
            continue;
        }
        if let Some((now, behind)) = number(behind) {
            let newest = newest.of(kind);
            if now > *newest {
                *newest = now;
                out.push('+');
            } else {
                // As above.
                let _ = write!(out, "-{}", *newest - now);
            }
            rest = behind;
        }
    }
    out + rest
}

/// What [`encode`] was given, which had so many bytes. `None` for what it never answers with.
pub(crate) fn decode(text: &str, bytes: usize) -> Option<String> {
    let (mut out, mut rest, mut newest) = (String::with_capacity(bytes), text, Newest::default());
    while let Some((before, kind, behind)) = next(rest) {
        out.push_str(before);
        out.push_str(kind);
        let newest = newest.of(kind);
        match behind.bytes().next() {
            Some(b'+') => {
                *newest += 1;
                let _ = write!(out, "{newest}");
                rest = &behind[1..];
            }
            Some(b'-') => {
                let (less, behind) = number(&behind[1..])?;
                let _ = write!(out, "{}", newest.checked_sub(less)?);
                rest = behind;
            }
            _ => rest = behind,
        }
    }
    out.push_str(rest);
    Some(out).filter(|out| out.len() == bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".reg .b32 %r<9>;\n.reg .b64 %rd<3>;\n.reg .pred %p<3>;\n$L__BB0_9:\nadd.s32 %r7,%r5,%r7;\nld.u32 %r8,[%rd1+208];\nmov.u32 %r1,%clock64;\nmov.u32 %r5,%tid.x;\n@%p2 bra $L__BB0_11;\n@%p2 bra $L__BB0_9;\n% B";

    #[test]
    fn registers_and_labels_are_told_by_how_long_ago_they_were_new() {
        let whole = ".reg .b32 %r<9>;\n.reg .b64 %rd<3>;\n.reg .pred %p<3>;\n$L__BB0_1:\nadd.s32 %r1,%r2,%r1;\nld.u32 %r3,[%rd1+208];\nmov.u32 %r4,%clock64;\nmov.u32 %r2,%tid.x;\n@%p1 bra $L__BB0_2;\n@%p1 bra $L__BB0_1;\n% B";
        let told = ".reg .b32 %r<9>;\n.reg .b64 %rd<3>;\n.reg .pred %p<3>;\n$L__BB0_+:\nadd.s32 %r+,%r+,%r-1;\nld.u32 %r+,[%rd++208];\nmov.u32 %r+,%clock64;\nmov.u32 %r-2,%tid.x;\n@%p+ bra $L__BB0_+;\n@%p-0 bra $L__BB0_-1;\n% B";
        assert_eq!(renumbered(TEXT).as_deref(), Some(whole));
        assert_eq!(encode(whole), told);
        assert_eq!(decode(told, whole.len()).as_deref(), Some(whole));
    }

    #[test]
    fn more_registers_than_there_are_have_no_numbers() {
        assert_eq!(renumbered(".reg .b32 %r<3>;\nadd.s32 %r0,%r1,%r2;"), None);
        assert_eq!(renumbered(".reg .b32 %r<0>;\nneg.s32 %r0,%r0;"), None);
    }

    #[test]
    fn what_was_never_encoded_is_refused() {
        assert_eq!(decode("%r+", 4), None);
        assert_eq!(decode("%r-", 3), None);
        assert_eq!(decode("%r-1", 3), None);
        assert_eq!(decode("%r-99999999999999999999", 22), None);
    }
}
