//! PTX with the numbers of registers and labels as differences: each from the last one of its kind. A loop that was unrolled is then mostly the same text
//! again and again, and what compresses it (`build/main.rs`) leaves three fifths of what it left of the numbers themselves.

use std::fmt::Write;

/// What labels begin with, the number behind it. Registers begin with their kind, as `%r`.
const LABEL: &str = "BB0_";

/// The last number of each kind.
#[derive(Default)]
struct Last<'a>(Vec<(&'a str, i64)>);

impl<'a> Last<'a> {
    fn of(&mut self, kind: &'a str) -> &mut i64 {
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
fn number(text: &str) -> Option<(i64, &str)> {
    let (digits, rest) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
    Some((digits.parse().ok()?, rest))
}

/// Numbers as differences: `%r7` after `%r5` is `%r+2`. The build asks for it.
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) fn encode(text: &str) -> String {
    let (mut out, mut rest, mut last) = (String::with_capacity(text.len()), text, Last::default());
    while let Some((before, kind, behind)) = next(rest) {
        out.push_str(before);
        out.push_str(kind);
        rest = behind;
        if let Some((now, behind)) = number(behind) {
            let last = last.of(kind);
            // Into a text everything can be written.
            let _ = write!(out, "{:+}", now - *last);
            *last = now;
            rest = behind;
        }
    }
    out + rest
}

/// What [`encode`] was given, which had so many bytes. `None` for what it never answers with.
pub(crate) fn decode(text: &str, bytes: usize) -> Option<String> {
    let (mut out, mut rest, mut last) = (String::with_capacity(bytes), text, Last::default());
    while let Some((before, kind, behind)) = next(rest) {
        out.push_str(before);
        out.push_str(kind);
        rest = behind;
        let sign = match behind.bytes().next() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => continue,
        };
        let (difference, behind) = number(&behind[1..])?;
        let last = last.of(kind);
        *last = last.checked_add(sign * difference)?;
        let _ = write!(out, "{last}");
        rest = behind;
    }
    out.push_str(rest);
    Some(out).filter(|out| out.len() == bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_registers_and_labels_are_differences_and_come_back() {
        let text = "$L__BB0_9:\nadd.s32 %r7,%r5,%r7;\nld.u32 %r8,[%rd1+208];\n.reg .b32 %r<848>;\nmov.u32 %r1,%tid.x;\n@%p2 bra $L__BB0_11;\n% B";
        let told = "$L__BB0_+9:\nadd.s32 %r+7,%r-2,%r+2;\nld.u32 %r+1,[%rd+1+208];\n.reg .b32 %r<848>;\nmov.u32 %r-7,%tid.x;\n@%p+2 bra $L__BB0_+2;\n% B";
        assert_eq!(encode(text), told);
        assert_eq!(decode(told, text.len()).as_deref(), Some(text));
    }

    #[test]
    fn what_was_never_encoded_is_refused() {
        assert_eq!(decode("%r+1", 4), None);
        assert_eq!(decode("%r+", 3), None);
        assert_eq!(decode("%r+99999999999999999999", 22), None);
    }
}
