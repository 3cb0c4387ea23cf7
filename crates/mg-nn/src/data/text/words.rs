//! Texts in words, as GPT-2 has them: what the pattern
//! `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+` finds, one match after the other.

use super::marks::is_letter;

/// What a run consists of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Letters,
    Digits,
    Space,
    Others,
}

fn sort(c: char) -> Sort {
    if is_letter(c) {
        Sort::Letters
    } else if c.is_numeric() {
        Sort::Digits
    } else if c.is_whitespace() {
        Sort::Space
    } else {
        Sort::Others
    }
}

/// Where a run of one sort that begins a text ends.
fn run(text: &str, of: Sort) -> usize {
    text.char_indices().find(|&(_, c)| sort(c) != of).map_or(text.len(), |(at, _)| at)
}

/// The words of a text; together they are the text.
pub(super) fn words(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let first = text.chars().next()?;
        let (word, rest) = text.split_at(first_word(text, first));
        text = rest;
        Some(word)
    })
}

fn first_word(text: &str, first: char) -> usize {
    for ending in ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"] {
        if text.starts_with(ending) {
            return ending.len();
        }
    }
    let skip = usize::from(first == ' ');
    let next = text[skip..].chars().next();
    if let Some(of) = next.map(sort).filter(|&of| of != Sort::Space) {
        return skip + run(&text[skip..], of);
    }
    let end = run(text, Sort::Space);
    let last = text[..end].chars().next_back().map_or(0, char::len_utf8);
    // The last space before something belongs to that; alone it is a word.
    if end == text.len() || end == last { end } else { end - last }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_gpt2s() {
        let all = |text| words(text).collect::<Vec<&str>>();
        assert_eq!(
            all("I'll  go, it's 12:30!"),
            ["I", "'ll", " ", " go", ",", " it", "'s", " 12", ":", "30", "!"]
        );
        assert_eq!(all("a\n\n b \t"), ["a", "\n\n", " b", " \t"]);
        assert_eq!(all("a\nb"), ["a", "\n", "b"]);
        assert_eq!(all("né 日本語 x²"), ["né", " 日本語", " x", "²"]);
        assert_eq!(all("हिन्दी"), ["ह", "ि", "न", "्", "द", "ी"]);
        assert!(all("").is_empty());
    }
}
