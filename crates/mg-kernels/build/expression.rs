//! Integer expressions of C, as constants and conditions of the kernels' sources have them.

use std::collections::BTreeMap;

/// Numbers by name.
pub type Names = BTreeMap<String, i64>;

/// The value of an expression; `None` where it has something that is not known (a type, a name without a number).
pub fn value(text: &str, names: &Names) -> Option<i64> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: &tokens, names };
    let value = reader.choice()?;
    reader.tokens.is_empty().then_some(value)
}

fn tokens(text: &str) -> Option<Vec<String>> {
    const PAIRS: [&str; 8] = ["<=", ">=", "==", "!=", "&&", "||", "<<", ">>"];
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = match first {
            c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            _ if PAIRS.iter().any(|pair| rest.starts_with(pair)) => 2,
            '+' | '-' | '*' | '/' | '%' | '(' | ')' | '?' | ':' | '<' | '>' | '!' | '&' | '|' => 1,
            _ => return None,
        };
        found.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    Some(found)
}

/// The operators of two operands, those that bind least first.
const LEVELS: [&[&str]; 8] =
    [&["||"], &["&&"], &["|"], &["&"], &["==", "!="], &["<", ">", "<=", ">="], &["<<", ">>"], &["+", "-"]];

struct Reader<'a> {
    tokens: &'a [String],
    names: &'a Names,
}

impl Reader<'_> {
    fn next_of(&mut self, among: &[&str]) -> Option<String> {
        let (first, rest) = self.tokens.split_first()?;
        among.contains(&first.as_str()).then(|| {
            self.tokens = rest;
            first.clone()
        })
    }

    fn choice(&mut self) -> Option<i64> {
        let condition = self.level(0)?;
        if self.next_of(&["?"]).is_none() {
            return Some(condition);
        }
        let yes = self.choice()?;
        self.next_of(&[":"])?;
        let no = self.choice()?;
        Some(if condition != 0 { yes } else { no })
    }

    fn level(&mut self, at: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(at) else { return self.product() };
        let mut left = self.level(at + 1)?;
        while let Some(operator) = self.next_of(operators) {
            let right = self.level(at + 1)?;
            left = match operator.as_str() {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "|" => left | right,
                "&" => left & right,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "<<" => left.checked_shl(u32::try_from(right).ok()?)?,
                ">>" => left.checked_shr(u32::try_from(right).ok()?)?,
                "+" => left.checked_add(right)?,
                "-" => left.checked_sub(right)?,
                _ => return None,
            };
        }
        Some(left)
    }

    fn product(&mut self) -> Option<i64> {
        let mut left = self.single()?;
        while let Some(operator) = self.next_of(&["*", "/", "%"]) {
            let right = self.single()?;
            left = match operator.as_str() {
                "*" => left.checked_mul(right)?,
                "/" => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        Some(left)
    }

    fn single(&mut self) -> Option<i64> {
        if let Some(sign) = self.next_of(&["-", "!"]) {
            let value = self.single()?;
            return Some(if sign == "-" { -value } else { i64::from(value == 0) });
        }
        if self.next_of(&["("]).is_some() {
            let value = self.choice()?;
            return self.next_of(&[")"]).map(|_| value);
        }
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        if first == "true" || first == "false" {
            return Some(i64::from(first == "true"));
        }
        if !first.starts_with(|c: char| c.is_ascii_digit()) {
            return self.names.get(first).copied();
        }
        let digits = first.trim_end_matches(['u', 'U', 'l', 'L']);
        match digits.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None => digits.parse().ok(),
        }
    }
}
