//! Texts as numbers, and back: by [`Bytes`], by [`Characters`], and by byte-level [`Bpe`], which reads and writes Hugging Face's
//! `tokenizer.json`.

mod bpe;
mod file;
mod marks;
mod train;
mod words;

use mg_device::{Error, ErrorKind, Result};
use std::collections::{BTreeSet, HashMap};

pub use bpe::Bpe;

fn refuse<T>(op: &'static str, text: String) -> Result<T> {
    Err(Error::new(op, ErrorKind::Value(text)))
}

/// What makes numbers of texts.
pub trait Tokenizer: Send + Sync {
    /// The numbers of a text.
    ///
    /// # Errors
    ///
    /// A text that has what the tokenizer has no number for.
    fn encode(&self, text: &str) -> Result<Vec<i64>>;

    /// The text of numbers. Bytes that are no UTF-8 become U+FFFD.
    ///
    /// # Errors
    ///
    /// A number that stands for nothing.
    fn decode(&self, ids: &[i64]) -> Result<String>;

    /// How many numbers there are.
    fn vocab_size(&self) -> usize;
}

/// A text's bytes in UTF-8: 256 numbers, and nothing to learn.
///
/// ```
/// use mg_nn::data::text::{Bytes, Tokenizer};
///
/// assert_eq!(Bytes.encode("né")?, [110, 195, 169]);
/// assert_eq!(Bytes.decode(&[110, 195, 169])?, "né");
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes;

impl Tokenizer for Bytes {
    fn encode(&self, text: &str) -> Result<Vec<i64>> {
        Ok(text.bytes().map(i64::from).collect())
    }

    fn decode(&self, ids: &[i64]) -> Result<String> {
        let byte = |&id: &i64| u8::try_from(id).map_or_else(|_| unknown("Bytes.decode", id, 256), Ok);
        let bytes = ids.iter().map(byte).collect::<Result<Vec<u8>>>()?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn vocab_size(&self) -> usize {
        256
    }
}

fn unknown<T>(op: &'static str, id: i64, size: usize) -> Result<T> {
    refuse(op, format!("{id} stands for nothing: there are {size} numbers"))
}

/// A number for each character.
///
/// ```
/// use mg_nn::data::text::{Characters, Tokenizer};
///
/// let letters = Characters::of("hello");
/// assert_eq!(letters.alphabet(), ['e', 'h', 'l', 'o']);
/// assert_eq!(letters.encode("hole")?, [1, 3, 2, 0]);
/// assert!(letters.encode("hola").is_err());
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Characters {
    alphabet: Vec<char>,
    numbers: HashMap<char, i64>,
}

impl Characters {
    /// Those of a text, in the order of their code points.
    #[must_use]
    pub fn of(text: &str) -> Characters {
        Characters::with(text.chars().collect::<BTreeSet<char>>())
    }

    /// These, in order; one that comes again is left out.
    #[must_use]
    pub fn with(alphabet: impl IntoIterator<Item = char>) -> Characters {
        let mut all = Characters::default();
        for letter in alphabet {
            if !all.numbers.contains_key(&letter) {
                all.numbers.insert(letter, all.alphabet.len() as i64);
                all.alphabet.push(letter);
            }
        }
        all
    }

    /// The characters, in the order of their numbers.
    #[must_use]
    pub fn alphabet(&self) -> &[char] {
        &self.alphabet
    }
}

impl Tokenizer for Characters {
    fn encode(&self, text: &str) -> Result<Vec<i64>> {
        let number = |(at, letter): (usize, char)| match self.numbers.get(&letter) {
            Some(&id) => Ok(id),
            None => {
                refuse("Characters.encode", format!("{letter:?} at character {at} is not in the alphabet"))
            }
        };
        text.chars().enumerate().map(number).collect()
    }

    fn decode(&self, ids: &[i64]) -> Result<String> {
        let letter = |&id: &i64| match usize::try_from(id).ok().and_then(|at| self.alphabet.get(at)) {
            Some(&letter) => Ok(letter),
            None => unknown("Characters.decode", id, self.alphabet.len()),
        };
        ids.iter().map(letter).collect()
    }

    fn vocab_size(&self) -> usize {
        self.alphabet.len()
    }
}
