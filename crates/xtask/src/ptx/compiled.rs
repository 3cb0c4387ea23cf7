//! The record of what kernels were compiled from, `kernels/compiled.txt`: NVRTC takes minutes for all of them, and a kernel is what it was where
//! everything that it comes from is what it was.

use std::collections::BTreeMap;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::{Result, at};

pub const FILE: &str = "compiled.txt";
const HEAD: &str = "\
# What kernels/ptx was compiled from, by `cargo xtask ptx`: a kernel's name, the SHA-256 of its source, of what that includes, of the options,
# the compiler and what is done to its answer, and the SHA-256 of the kernel.
";

/// Kernels by their names: the hash of what it was compiled from, and its own.
pub struct Record(BTreeMap<String, [String; 2]>);

/// A hash, in hexadecimal digits.
pub fn hash(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // As git has it, whatever the ends of lines are here; and where one part ends.
        let part = part.replace("\r\n", "\n");
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Record {
    /// What the sources' folder has; nothing, where there is none.
    pub fn read(sources: &Path) -> Record {
        let text = std::fs::read_to_string(sources.join(FILE)).unwrap_or_default();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let of = |line: &str| {
            let mut words = line.split_whitespace().map(str::to_owned);
            Some((words.next()?, [words.next()?, words.next()?]))
        };
        Record(lines.filter_map(of).collect())
    }

    /// Whether a kernel of this text is known to come from what has this hash.
    pub fn has(&self, name: &str, from: &str, text: &str) -> bool {
        self.0.get(name).is_some_and(|[known, kernel]| known == from && *kernel == hash(&[text]))
    }

    /// The record as a file, with these kernels; of all others, which are not compiled now, what it has of those that still are.
    pub fn text(mut self, kernels: &[(String, String, String)], names: &[String]) -> String {
        self.0.retain(|name, _| names.contains(name));
        for (name, from, text) in kernels {
            self.0.insert(name.clone(), [from.clone(), hash(&[text])]);
        }
        self.0
            .iter()
            .fold(HEAD.to_owned(), |all, (name, [from, kernel])| all + &format!("{name} {from} {kernel}\n"))
    }

    /// Writes such a text.
    pub fn write(sources: &Path, text: &str) -> Result<()> {
        let path = sources.join(FILE);
        std::fs::write(&path, text).map_err(at(&path))
    }

    /// Whether the folder's is this.
    pub fn is(sources: &Path, text: &str) -> bool {
        std::fs::read_to_string(sources.join(FILE)).is_ok_and(|now| now.replace("\r\n", "\n") == text)
    }
}

/// A source and all that it includes of its folder, each once.
pub fn texts(folder: &Path, source: &str) -> Result<Vec<String>> {
    let (mut texts, mut seen, mut next) = (Vec::new(), vec![source.to_owned()], 0);
    while let Some(name) = seen.get(next).cloned() {
        next += 1;
        let path = folder.join(&name);
        let text = std::fs::read_to_string(&path).map_err(at(&path))?;
        for line in text.lines() {
            let included =
                line.trim_start().strip_prefix("#include \"").and_then(|rest| rest.split('"').next());
            if let Some(included) = included.filter(|included| !seen.iter().any(|known| known == included)) {
                seen.push(included.to_owned());
            }
        }
        texts.push(text);
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_known_by_what_it_comes_from() {
        let names = ["a".to_owned(), "b".to_owned()];
        let made = |name: &str, from: &str, text: &str| (name.to_owned(), from.to_owned(), text.to_owned());
        let text = Record(BTreeMap::new())
            .text(&[made("a", "0a", "A"), made("b", "0b", "B"), made("c", "0c", "C")], &names);
        let folder = std::env::temp_dir().join(format!("mg-compiled-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Record::write(&folder, &text).unwrap();
        assert!(Record::is(&folder, &text));
        let record = Record::read(&folder);
        assert!(record.has("a", "0a", "A") && !record.has("a", "0b", "A") && !record.has("a", "0a", "B"));
        assert!(!record.has("d", "0a", "A"));
        // One kernel compiled again, and one gone.
        let text = record.text(&[made("a", "1a", "A")], &["a".to_owned()]);
        assert!(text.lines().filter(|line| !line.starts_with('#')).eq([format!("a 1a {}", hash(&["A"]))]));
        // What is included counts, of whoever includes it.
        std::fs::write(folder.join("k.cu"), "#include \"h.cuh\"\nint k;\n").unwrap();
        std::fs::write(folder.join("h.cuh"), "#pragma once\n  #include \"g.cuh\"\n#include \"h.cuh\"\n")
            .unwrap();
        std::fs::write(folder.join("g.cuh"), "int g;\n").unwrap();
        assert_eq!(texts(&folder, "k.cu").unwrap().len(), 3);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_ne!(hash(&["a", "b"]), hash(&["ab", ""]));
    }
}
