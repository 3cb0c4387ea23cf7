//! One rule of failure: what can fail answers with a `Result`, and what panics instead has a public `try_` twin that answers.
//!
//! Read from the sources: a new function cannot forget it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|end| end == "rs") => found.push(path),
            false => {}
        }
    }
}

/// A public function: its name, whether it is for the crates' own use, what it answers with, what it does.
struct Function {
    name: String,
    is_hidden: bool,
    answers: bool,
    body: String,
}

/// Whether a body ends in a panic where something is not so. What a build for users leaves out does not count.
fn panics(body: &str) -> bool {
    let asserts = |word: &str| body.match_indices(word).any(|(at, _)| !body[..at].ends_with("debug_"));
    ["panic!(", ".expect(", ".unwrap()"].iter().any(|word| body.contains(word))
        || ["assert!(", "assert_eq!(", "assert_ne!("].into_iter().any(asserts)
}

/// The public functions of a text, without its tests. The brace that ends one stands as far in as its beginning.
fn functions(text: &str) -> Vec<Function> {
    let text = text.split("#[cfg(test)]\nmod").next().unwrap();
    let mut found = vec![];
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("pub fn ") {
        let indent = before.rsplit('\n').next().unwrap();
        if !indent.trim().is_empty() {
            rest = after;
            continue;
        }
        let end = after.find(&format!("\n{indent}}}")).unwrap_or(after.len());
        let (head, body) = after[..end].split_once('{').unwrap_or((&after[..end], ""));
        let beside = before.rsplit("\n\n").next().unwrap();
        let is_hidden = beside.contains("#[doc(hidden)]");
        let name = head.split(['(', '<']).next().unwrap().trim().to_owned();
        let answers = head.rsplit("->").next().is_some_and(|kind| kind.trim().contains("Result<"))
            && head.contains("->");
        found.push(Function { name, is_hidden, answers, body: body.to_owned() });
        rest = after;
    }
    found
}

#[test]
fn what_panics_has_a_twin_that_answers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![];
    for crate_ in ["mg-device", "mg-autograd", "mg-nn"] {
        sources(&root.join("..").join(crate_).join("src"), &mut files);
    }
    let mut wrong = BTreeSet::new();
    let mut panicking = 0;
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let all = functions(&text);
        let mut by_name: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
        for function in &all {
            by_name.entry(&function.name).or_default().push(function);
        }
        for function in &all {
            let at =
                || format!("{}: {}", file.strip_prefix(root.join("..")).unwrap().display(), function.name);
            if let Some(plain) = function.name.strip_prefix("try_") {
                // Functions of modules and of types may have one name.
                let plain = by_name.get(plain).is_some_and(|all| all.iter().all(|f| f.answers));
                if !function.answers || plain {
                    wrong.insert(format!(
                        "{}: a twin answers with a Result, and its plain name does not",
                        at()
                    ));
                }
            }
            for (place, _) in function.body.match_indices("or_panic(") {
                panicking += 1;
                let what = &function.body[place + "or_panic(".len()..];
                let called = what.trim_start().trim_start_matches("self.").trim_start_matches("Tensor::");
                if !called.starts_with("try_") && !called.starts_with("$try_") {
                    wrong.insert(format!("{}: panics, and has no twin that it asks", at()));
                }
            }
            let has_twin = by_name.contains_key(format!("try_{}", function.name).as_str());
            if panics(&function.body) && !function.is_hidden && !has_twin {
                wrong.insert(format!("{}: panics, and has no twin", at()));
            }
        }
    }
    assert!(panicking >= 8, "{panicking} functions that panic were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
