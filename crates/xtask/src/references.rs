//! What the documentation refers to: files that exist, names that stand in them, decisions that the index has.

use std::path::{Path, PathBuf};

use crate::workspace::Workspace;
use crate::{Result, at};

const DOCS: &str = "docs";
/// A book of its own: what lies outside of its folder is not in it, and is linked to where the repository is.
const GUIDE: &str = "docs/guide/src";
const REPOSITORY: &str = "https://github.com/micrograd-rs/micrograd-rs/blob/main/";
const DECISIONS: &str = "docs/decisions";
const INDEX: &str = "docs/decisions/README.md";

/// A link of a page into the repository, a part of the page there, and the name in code that follows it, which stands in the file.
#[derive(Debug, PartialEq, Eq)]
struct Reference<'a> {
    target: &'a str,
    part: Option<&'a str>,
    name: Option<&'a str>,
}

/// Checks every page: what is wrong, all of it.
pub fn check(workspace: &Workspace) -> Result<()> {
    let mut pages = vec![workspace.root.join("README.md")];
    collect(&workspace.root.join(DOCS), &mut pages)?;
    let guide = workspace.root.join(GUIDE);
    let guide = guide.canonicalize().map_err(at(&guide))?;
    let mut wrong = Vec::new();
    for page in &pages {
        let text = std::fs::read_to_string(page).map_err(at(page))?;
        let folder = page.parent().unwrap_or(&workspace.root);
        let from_guide = page.canonicalize().map_err(at(page))?.starts_with(&guide);
        let shown = page.strip_prefix(&workspace.root).unwrap_or(page).display();
        for Reference { target, part, name } in references(&text) {
            let path = target.strip_prefix(REPOSITORY);
            let file = match path {
                Some(path) => workspace.root.join(path),
                None if target.is_empty() => page.clone(),
                None => folder.join(target),
            };
            let Ok(file) = file.canonicalize() else {
                wrong.push(format!("{shown} refers to {target}, which is not there"));
                continue;
            };
            let to_guide = file.starts_with(&guide);
            if path.is_some() && from_guide == to_guide {
                wrong.push(format!(
                    "{shown} refers to {target} by the repository's address: a relative link leads there, too"
                ));
            } else if path.is_none() && from_guide && !to_guide {
                wrong.push(format!(
                    "{shown} refers to {target}, which is not in the book: {REPOSITORY}… leads there"
                ));
            }
            if !file.is_file() || (part.is_none() && name.is_none()) {
                continue;
            }
            let there = std::fs::read_to_string(&file).map_err(at(&file))?;
            if let Some(part) = part.filter(|part| !parts(&there).any(|there| there == *part)) {
                wrong.push(format!("{shown} refers to {target}#{part}, and no heading there is called so"));
            }
            if let Some(name) = name.filter(|name| !there.contains(name)) {
                wrong.push(format!("{shown} refers to `{name}`, which {target} does not have"));
            }
        }
    }
    let index = workspace.root.join(INDEX);
    if std::fs::read_to_string(&index).unwrap_or_default().replace("\r\n", "\n") != index_of(workspace)? {
        wrong.push(format!("{INDEX} is not the list of decisions: cargo xtask sync writes it anew"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Writes the index of decisions.
pub fn write_index(workspace: &Workspace) -> Result<()> {
    let path = workspace.root.join(INDEX);
    std::fs::write(&path, index_of(workspace)?).map_err(at(&path))
}

fn index_of(workspace: &Workspace) -> Result<String> {
    let mut files = Vec::new();
    collect(&workspace.root.join(DECISIONS), &mut files)?;
    files.sort();
    let mut text = String::from(
        "# Decisions\n\nWhy it is as it is: what was tried, measured and learnt, the failed predictions included. Numbers that are \
         missing were never used.\n\n| | |\n|---|---|\n",
    );
    for file in files.iter().filter(|file| !file.ends_with("README.md")) {
        let page = std::fs::read_to_string(file).map_err(at(file))?;
        let title = page.lines().next().unwrap_or_default().trim_start_matches('#').trim();
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let number = name.split('-').next().unwrap_or_default();
        text += &format!("| [{number}]({name}) | {title} |\n");
    }
    Ok(text)
}

/// The pages of a folder and of those in it.
fn collect(folder: &Path, pages: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).map_err(at(folder))? {
        let path = entry.map_err(at(folder))?.path();
        if path.is_dir() {
            collect(&path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    Ok(())
}

/// The links of a page into the repository, outside of its blocks of code. Of a link to a source file, the word in code right behind it
/// is a name that stands there.
fn references(text: &str) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("](").into_iter().chain(rest.find("```")).min() {
        if rest[at..].starts_with("```") {
            let Some(end) = rest[at + 3..].find("```") else { break };
            rest = &rest[at + 3 + end + 3..];
            continue;
        }
        let behind = &rest[at + 2..];
        let Some(end) = behind.find(')') else { break };
        rest = &behind[end + 1..];
        let (target, part) = behind[..end]
            .split_once('#')
            .map_or((&behind[..end], None), |(target, part)| (target, Some(part)));
        let is_elsewhere = target.contains("://") && !target.starts_with(REPOSITORY);
        if is_elsewhere || target.starts_with("mailto:") {
            continue;
        }
        let source = [".rs", ".py", ".cu"].iter().any(|extension| target.ends_with(extension));
        let word = rest.trim_start().strip_prefix('`').and_then(|word| word.split('`').next());
        found.push(Reference { target, part, name: word.filter(|word| source && !word.is_empty()) });
    }
    found
}

/// The names by which the parts of a page are linked to: its headings, small, with lines for spaces and without other signs.
fn parts(text: &str) -> impl Iterator<Item = String> {
    let mut in_code = false;
    text.lines().filter_map(move |line| {
        in_code ^= line.starts_with("```");
        let heading =
            line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#') && !in_code)?;
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
        Some(kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::{REPOSITORY, Reference, parts, references};

    #[test]
    fn links_and_the_names_behind_them_are_found() {
        let text = format!(
            "see [a](x/a.rs) `walk`, [b](b.md#part), [c](https://d.e), [e]({REPOSITORY}e.py)\n```\n[no](no.rs)\n```\n[d](d.rs) walks, [f](#part)"
        );
        let reference = |target, part, name| Reference { target, part, name };
        let e = format!("{REPOSITORY}e.py");
        let expected = [
            reference("x/a.rs", None, Some("walk")),
            reference("b.md", Some("part"), None),
            reference(&e, None, None),
            reference("d.rs", None, None),
            reference("", Some("part"), None),
        ];
        assert_eq!(references(&text), expected);
    }

    #[test]
    fn headings_have_names_to_link_to() {
        let text = "# A page: `x`\n```\n# no heading\n```\n## What it’s *for*, now\n#no\n";
        assert_eq!(parts(text).collect::<Vec<_>>(), ["a-page-x", "what-its-for-now"]);
    }
}
