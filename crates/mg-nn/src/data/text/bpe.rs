//! Byte-level byte pair encoding: [`Bpe`].

use super::words::words;
use super::{Tokenizer, refuse, unknown};
use mg_device::Result;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Byte-level byte pair encoding, as GPT-2 has it: a text is parted into words, a word into bytes, and pairs are joined in the order in
/// which they were learnt (Sennrich, Haddow and Birch, "Neural machine translation of rare words with subword units", 2016; Radford et al.,
/// "Language models are unsupervised multitask learners", 2019).
///
/// ```
/// use mg_nn::data::text::{Bpe, Tokenizer};
///
/// let bpe = Bpe::train(["low lower lowest low low"], 260, &["<end>"], 2)?;
/// assert_eq!(bpe.vocab_size(), 260);
/// let ids = bpe.encode("low lowest<end>")?;
/// assert_eq!(bpe.decode(&ids)?, "low lowest<end>");
/// assert!(ids.len() < "low lowest".len());
/// assert_eq!(bpe.token_to_id("<end>"), Some(0));
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bpe {
    /// What each number stands for, in bytes; nothing for numbers that are left out.
    pub(super) tokens: Vec<Option<Vec<u8>>>,
    pub(super) numbers: HashMap<Vec<u8>, u32>,
    /// The numbers of single bytes.
    pub(super) bytes: HashMap<u8, u32>,
    /// Pairs, by their place in order, and what becomes of them.
    pub(super) merges: HashMap<(u32, u32), (u32, u32)>,
    /// Texts that are tokens of their own wherever they stand; the longest first.
    pub(super) added: Vec<(String, u32)>,
    /// A space is put before a text that does not begin with one.
    pub(super) add_prefix_space: bool,
    /// Texts are parted into words.
    pub(super) parts: bool,
}

/// A part of a word: its token, and its neighbours.
#[derive(Clone, Copy)]
struct Part {
    token: u32,
    before: usize,
    after: usize,
    /// Whether it is still there.
    is: bool,
}

const NONE: usize = usize::MAX;

/// A pair of neighbours: its place in order, where it stands, its two tokens, and what becomes of them.
type Pair = (u32, usize, u32, u32, u32);

impl Bpe {
    /// What a number stands for.
    #[must_use]
    pub fn id_to_token(&self, id: i64) -> Option<&[u8]> {
        self.tokens.get(usize::try_from(id).ok()?)?.as_deref()
    }

    /// The number of a token, in its own letters: an added one, or what it stands for.
    #[must_use]
    pub fn token_to_id(&self, token: &str) -> Option<i64> {
        let added = self.added.iter().find(|(text, _)| text == token).map(|&(_, id)| id);
        added.or_else(|| self.numbers.get(token.as_bytes()).copied()).map(i64::from)
    }

    /// The tokens of a word: of all pairs the one that was learnt first is joined, as long as there are any.
    pub(super) fn word(&self, word: &str) -> Result<Vec<u32>> {
        let mut parts = Vec::with_capacity(word.len());
        for (i, byte) in word.bytes().enumerate() {
            let Some(&token) = self.bytes.get(&byte) else {
                return refuse("Bpe.encode", format!("there is no number for byte {byte} of {word:?}"));
            };
            let after = if i + 1 < word.len() { i + 1 } else { NONE };
            parts.push(Part { token, before: i.checked_sub(1).unwrap_or(NONE), after, is: true });
        }
        let mut heap = BinaryHeap::new();
        let pair = |parts: &[Part], at: usize| -> Option<Reverse<Pair>> {
            let (left, right) = (parts.get(at)?, parts.get(parts.get(at)?.after)?);
            let &(rank, joined) = self.merges.get(&(left.token, right.token))?;
            Some(Reverse((rank, at, left.token, right.token, joined)))
        };
        heap.extend((0..parts.len()).filter_map(|at| pair(&parts, at)));
        while let Some(Reverse((_, at, left, right, joined))) = heap.pop() {
            let Part { token, before, after, is } = parts[at];
            // What one of the two has become part of meanwhile is another pair.
            if !is || token != left || after == NONE || parts[after].token != right {
                continue;
            }
            let next = parts[after].after;
            parts[after].is = false;
            parts[at] = Part { token: joined, before, after: next, is: true };
            if next != NONE {
                parts[next].before = at;
            }
            heap.extend(pair(&parts, at));
            if before != NONE {
                heap.extend(pair(&parts, before));
            }
        }
        Ok(parts.into_iter().filter(|part| part.is).map(|part| part.token).collect())
    }

    /// The numbers of a text without added tokens in it.
    fn plain<'a>(
        &self,
        text: &'a str,
        known: &mut HashMap<&'a str, Vec<u32>>,
        all: &mut Vec<i64>,
    ) -> Result<()> {
        if !self.parts {
            all.extend(self.word(text)?.into_iter().map(i64::from));
            return Ok(());
        }
        for word in words(text) {
            if let Some(tokens) = known.get(word) {
                all.extend(tokens.iter().map(|&id| i64::from(id)));
                continue;
            }
            let tokens = self.word(word)?;
            all.extend(tokens.iter().map(|&id| i64::from(id)));
            known.insert(word, tokens);
        }
        Ok(())
    }
}

impl Tokenizer for Bpe {
    fn encode(&self, text: &str) -> Result<Vec<i64>> {
        let mut parts: Vec<(String, Option<u32>)> = vec![];
        let mut rest = text;
        while !rest.is_empty() {
            // The first added token, the longest of those that begin at one place.
            let found =
                self.added.iter().filter_map(|(token, id)| Some((rest.find(token.as_str())?, token, *id)));
            let first = found.min_by_key(|(at, token, _)| (*at, Reverse(token.len())));
            let (before, id, after) = match first {
                Some((at, token, id)) => (&rest[..at], Some(id), &rest[at + token.len()..]),
                None => (rest, None, ""),
            };
            let prefix = self.add_prefix_space && !before.is_empty() && !before.starts_with(' ');
            parts.push((format!("{}{before}", if prefix { " " } else { "" }), id));
            rest = after;
        }
        let (mut known, mut all) = (HashMap::new(), vec![]);
        for (text, id) in &parts {
            self.plain(text, &mut known, &mut all)?;
            all.extend(id.map(i64::from));
        }
        Ok(all)
    }

    fn decode(&self, ids: &[i64]) -> Result<String> {
        let mut bytes = vec![];
        for &id in ids {
            match self.id_to_token(id) {
                Some(token) => bytes.extend_from_slice(token),
                None => return unknown("Bpe.decode", id, self.vocab_size()),
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn vocab_size(&self) -> usize {
        self.tokens.len()
    }
}
