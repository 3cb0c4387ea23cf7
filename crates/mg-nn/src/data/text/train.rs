//! Learning which pairs to join.

use super::words::words;
use super::{Bpe, refuse};
use mg_device::Result;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

impl Bpe {
    /// Learns from texts: first come the added tokens, then the bytes, then what is joined, the most frequent pair first (of equally
    /// frequent ones that of smaller numbers), until there are `vocab_size` tokens or no pair is met `min_frequency` times. Hugging Face's
    /// trainer learns the same.
    ///
    /// # Errors
    ///
    /// Fewer tokens than there are bytes and added ones; an added token that is empty.
    pub fn train<'a>(
        texts: impl IntoIterator<Item = &'a str>,
        vocab_size: usize,
        special_tokens: &[&str],
        min_frequency: u64,
    ) -> Result<Bpe> {
        let least = special_tokens.len() + 256;
        if vocab_size < least || vocab_size > u32::MAX as usize {
            return refuse("Bpe.train", format!("takes a vocab_size from {least} on, got {vocab_size}"));
        }
        let mut bpe = Bpe { parts: true, ..Bpe::default() };
        for token in special_tokens {
            bpe.add(token)?;
        }
        for byte in super::file::bytes_in_order() {
            let id = bpe.tokens.len() as u32;
            bpe.bytes.insert(byte, id);
            bpe.token(vec![byte]);
        }
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for text in texts {
            words(text).for_each(|word| *counts.entry(word).or_default() += 1);
        }
        let mut all: Vec<(&str, u64)> = counts.into_iter().collect();
        all.sort_unstable();
        let mut split: Vec<(Vec<u32>, i64)> = vec![];
        for (word, count) in all {
            split.push((word.bytes().map(|byte| bpe.bytes[&byte]).collect(), count as i64));
        }
        // How often each pair is met, and in which words.
        let mut pairs: HashMap<(u32, u32), i64> = HashMap::new();
        let mut at: HashMap<(u32, u32), BTreeSet<usize>> = HashMap::new();
        for (i, (tokens, count)) in split.iter().enumerate() {
            for pair in tokens.windows(2) {
                *pairs.entry((pair[0], pair[1])).or_default() += count;
                at.entry((pair[0], pair[1])).or_default().insert(i);
            }
        }
        let mut heap: BinaryHeap<(i64, Reverse<(u32, u32)>)> =
            pairs.iter().map(|(&pair, &count)| (count, Reverse(pair))).collect();
        while bpe.tokens.len() < vocab_size {
            let Some((count, Reverse(pair))) = heap.pop() else { break };
            let now = pairs.get(&pair).copied().unwrap_or(0);
            if now != count {
                // It is met less often by now, and stands in the heap anew.
                continue;
            }
            if count < 1 || (count as u64) < min_frequency {
                break;
            }
            let joined = bpe.join(pair);
            let mut changed: HashMap<(u32, u32), i64> = HashMap::new();
            for i in at.remove(&pair).unwrap_or_default() {
                let (tokens, count) = &mut split[i];
                let mut made: Vec<u32> = Vec::with_capacity(tokens.len());
                let mut from = 0;
                while from < tokens.len() {
                    if tokens[from] == pair.0 && tokens.get(from + 1) == Some(&pair.1) {
                        made.push(joined);
                        from += 2;
                    } else {
                        made.push(tokens[from]);
                        from += 1;
                    }
                }
                for old in tokens.windows(2) {
                    *changed.entry((old[0], old[1])).or_default() -= *count;
                }
                for new in made.windows(2) {
                    *changed.entry((new[0], new[1])).or_default() += *count;
                    if new.contains(&joined) {
                        at.entry((new[0], new[1])).or_default().insert(i);
                    }
                }
                *tokens = made;
            }
            pairs.remove(&pair);
            for (changed, by) in changed.into_iter().filter(|&(other, by)| other != pair && by != 0) {
                let count = pairs.entry(changed).or_default();
                *count += by;
                heap.push((*count, Reverse(changed)));
            }
        }
        Ok(bpe)
    }

    /// Gives a token the next number.
    pub(super) fn token(&mut self, bytes: Vec<u8>) -> u32 {
        let id = self.tokens.len();
        self.set(id, bytes);
        id as u32
    }

    /// A token that is the text itself, wherever it stands.
    fn add(&mut self, token: &str) -> Result<()> {
        if token.is_empty() {
            return refuse("Bpe.train", "an added token is empty".into());
        }
        let id = self.token(token.as_bytes().to_vec());
        self.added.push((token.to_string(), id));
        Ok(())
    }

    /// The token of a pair, which is a new one unless others make it too.
    fn join(&mut self, pair: (u32, u32)) -> u32 {
        let of = |id: u32| self.tokens[id as usize].clone().unwrap_or_default();
        let bytes = [of(pair.0), of(pair.1)].concat();
        let id = match self.numbers.get(&bytes) {
            Some(&id) => id,
            None => self.token(bytes),
        };
        self.merges.insert(pair, (self.merges.len() as u32, id));
        id
    }
}
