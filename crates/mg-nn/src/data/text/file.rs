//! `tokenizer.json`, and GPT-2's two files.

use super::Bpe;
use mg_device::{Error, ErrorKind, Result};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::Path;

/// The bytes in the order in which files have them: those that are letters first, as characters sort.
pub(super) fn bytes_in_order() -> Vec<u8> {
    let mut all: Vec<u8> = (0..=255).collect();
    all.sort_by_key(|&byte| letter_of(byte));
    all
}

/// Whether a byte is written as the character of its own number.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff)
}

/// The character that stands for a byte in files: one that can be seen, which GPT-2 began.
fn letter_of(byte: u8) -> char {
    if is_plain(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|&b| !is_plain(b)).count() as u32;
    char::from_u32(256 + before).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn letters() -> HashMap<char, u8> {
    (0..=255).map(|byte| (letter_of(byte), byte)).collect()
}

/// The bytes of a token, as files have it; its own letters where they stand for no bytes.
fn bytes_of(token: &str, letters: &HashMap<char, u8>) -> Vec<u8> {
    let bytes: Option<Vec<u8>> = token.chars().map(|c| letters.get(&c).copied()).collect();
    bytes.unwrap_or_else(|| token.as_bytes().to_vec())
}

/// A path in words; a file that cannot be read or understood.
struct Reader<'a>(&'a Path);

impl Reader<'_> {
    fn wrong<T>(&self, text: impl std::fmt::Display) -> Result<T> {
        let text = format!("{}: {text}", self.0.display());
        Err(Error::new("Bpe.from_file", ErrorKind::Format(text)))
    }

    fn text(&self) -> Result<String> {
        match std::fs::read(self.0) {
            Ok(bytes) => String::from_utf8(bytes).or_else(|_| self.wrong("no UTF-8")),
            Err(error) => {
                let text = format!("{}: {error}", self.0.display());
                Err(Error::new("Bpe.from_file", ErrorKind::Io(text)))
            }
        }
    }

    fn json(&self, text: &str) -> Result<Value> {
        serde_json::from_str(text).or_else(|error| self.wrong(format!("no JSON: {error}")))
    }

    fn vocab(&self, of: Option<&Value>) -> Result<Bpe> {
        let Some(vocab) = of.and_then(Value::as_object) else { return self.wrong("there is no vocab") };
        let mut bpe = Bpe { parts: true, ..Bpe::default() };
        let letters = letters();
        for (token, id) in vocab {
            let id = id.as_u64().filter(|&id| id < MOST).map(|id| id as usize);
            let Some(id) = id else { return self.wrong(format!("the number of token {token:?}")) };
            bpe.set(id, bytes_of(token, &letters));
        }
        for byte in 0..=255 {
            if let Some(&id) = bpe.numbers.get(&[byte][..]) {
                bpe.bytes.insert(byte, id);
            }
        }
        Ok(bpe)
    }

    fn merge(&self, bpe: &mut Bpe, left: &str, right: &str, letters: &HashMap<char, u8>) -> Result<()> {
        let (left, right) = (bytes_of(left, letters), bytes_of(right, letters));
        let joined = [left.clone(), right.clone()].concat();
        let of = |bytes: &[u8]| bpe.numbers.get(bytes).copied();
        let (Some(a), Some(b), Some(c)) = (of(&left), of(&right), of(&joined)) else {
            let text = format!("merge {} joins what is not in the vocab", bpe.merges.len());
            return self.wrong(text);
        };
        let rank = bpe.merges.len() as u32;
        bpe.merges.entry((a, b)).or_insert((rank, c));
        Ok(())
    }
}

/// More numbers than any vocabulary has: a larger one is a mistake.
const MOST: u64 = 1 << 24;

impl Bpe {
    /// Gives a token this number.
    pub(super) fn set(&mut self, id: usize, bytes: Vec<u8>) {
        if self.tokens.len() <= id {
            self.tokens.resize(id + 1, None);
        }
        self.numbers.insert(bytes.clone(), id as u32);
        self.tokens[id] = Some(bytes);
    }

    /// Reads Hugging Face's `tokenizer.json` with a byte-level BPE model in it, such as GPT-2's. Nothing is put around texts: what the file says
    /// of tokens before and behind is left out.
    ///
    /// # Errors
    ///
    /// A file that cannot be read; other models, normalizers and ways to part texts; numbers and merges that make no sense.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Bpe> {
        let file = Reader(path.as_ref());
        let all = file.json(&file.text()?)?;
        let model = &all["model"];
        let kind = model["type"].as_str().unwrap_or("BPE");
        if kind != "BPE" {
            return file.wrong(format!("a model of type {kind:?}; only BPE is read"));
        }
        if !all["normalizer"].is_null() {
            return file.wrong(format!("a normalizer of type {}; none is known", all["normalizer"]["type"]));
        }
        let set = |name: &str| model[name].as_str().is_some_and(|text| !text.is_empty());
        if model["byte_fallback"] == true || set("continuing_subword_prefix") || set("end_of_word_suffix") {
            return file.wrong("a model that is not of bytes: byte_fallback, prefixes or suffixes of words");
        }
        let mut bpe = file.vocab(model.get("vocab"))?;
        file.parting(&all["pre_tokenizer"], &mut bpe)?;
        let letters = letters();
        for (i, merge) in model["merges"].as_array().unwrap_or(&vec![]).iter().enumerate() {
            let pair = match merge {
                Value::String(text) => text.split_once(' '),
                Value::Array(pair) => match &pair[..] {
                    [Value::String(a), Value::String(b)] => Some((a.as_str(), b.as_str())),
                    _ => None,
                },
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
            };
            let Some((left, right)) = pair else { return file.wrong(format!("merge {i} is no pair")) };
            file.merge(&mut bpe, left, right, &letters)?;
        }
        for token in all["added_tokens"].as_array().unwrap_or(&vec![]) {
            let (text, id) = (token["content"].as_str(), token["id"].as_u64().filter(|&id| id < MOST));
            let (Some(text), Some(id)) = (text.filter(|t| !t.is_empty()), id) else {
                return file.wrong("an added token without content or number");
            };
            bpe.set(id as usize, text.as_bytes().to_vec());
            bpe.added.push((text.to_string(), id as u32));
        }
        Ok(bpe)
    }

    /// Reads the two files that GPT-2 was published with: `vocab.json` and `merges.txt`.
    ///
    /// # Errors
    ///
    /// Files that cannot be read, or make no sense.
    pub fn from_files(vocab: impl AsRef<Path>, merges: impl AsRef<Path>) -> Result<Bpe> {
        let (vocab, merges) = (Reader(vocab.as_ref()), Reader(merges.as_ref()));
        let numbers = vocab.json(&vocab.text()?)?;
        let mut bpe = vocab.vocab(Some(&numbers))?;
        let letters = letters();
        for line in merges.text()?.lines().filter(|line| !line.is_empty() && !line.starts_with("#version")) {
            let Some((left, right)) = line.split_once(' ') else {
                return merges.wrong(format!("line {line:?} is no pair"));
            };
            merges.merge(&mut bpe, left, right, &letters)?;
        }
        Ok(bpe)
    }

    /// Writes a `tokenizer.json`, which Hugging Face's libraries read.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let written = |id: u32| -> String {
            let bytes = self.tokens[id as usize].as_deref().unwrap_or_default();
            bytes.iter().map(|&byte| letter_of(byte)).collect()
        };
        let is_added = |id: u32| self.added.iter().find(|(_, of)| *of == id);
        let mut vocab = Map::new();
        for id in (0..self.tokens.len() as u32).filter(|&id| self.tokens[id as usize].is_some()) {
            let text = is_added(id).map_or_else(|| written(id), |(text, _)| text.clone());
            vocab.insert(text, id.into());
        }
        let mut merges: Vec<(u32, u32, u32)> =
            self.merges.iter().map(|(&(a, b), &(rank, _))| (rank, a, b)).collect();
        merges.sort_unstable();
        let merges: Vec<Value> = merges.iter().map(|&(_, a, b)| json!([written(a), written(b)])).collect();
        let level = json!({"type": "ByteLevel", "add_prefix_space": self.add_prefix_space, "trim_offsets": true, "use_regex": self.parts});
        let added: Vec<Value> = self
            .added
            .iter()
            .map(|(text, id)| {
                json!({"id": id, "content": text, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true})
            })
            .collect();
        let all = json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": added, "normalizer": null,
            "pre_tokenizer": level, "post_processor": null, "decoder": level,
            "model": {
                "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "vocab": vocab, "merges": merges,
            },
        });
        crate::checkpoint::replace(path.as_ref(), all.to_string().as_bytes())
    }
}

impl Reader<'_> {
    /// How texts are parted into words.
    fn parting(&self, of: &Value, bpe: &mut Bpe) -> Result<()> {
        match of["type"].as_str() {
            Some("ByteLevel") => {
                bpe.add_prefix_space = of["add_prefix_space"] == true;
                bpe.parts = of["use_regex"] != false;
                Ok(())
            }
            Some(other) => self.wrong(format!("a pre_tokenizer of type {other:?}; only ByteLevel is read")),
            None => self.wrong("no pre_tokenizer: only byte-level models are read"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes_in_order, letter_of, letters};

    #[test]
    fn every_byte_has_a_letter() {
        assert_eq!((letter_of(b' '), letter_of(b'a'), letter_of(0), letter_of(0xad)), ('Ġ', 'a', 'Ā', 'Ń'));
        assert_eq!((letters().len(), bytes_in_order().len()), (256, 256));
        assert_eq!(bytes_in_order()[0], b'!');
    }
}
