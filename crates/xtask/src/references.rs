//! What the documentation refers to: files that exist, names that stand in them, decisions that the index has.

use std::path::{Path, PathBuf};

use crate::workspace::Workspace;
use crate::{Result, at};

const DOCS: &str = "docs";
const DECISIONS: &str = "docs/decisions";
const INDEX: &str = "docs/decisions/README.md";

/// A relative link of a page, and the name in code that follows it, which stands in the file.
struct Reference<'a> {
    target: &'a str,
    name: Option<&'a str>,
}

/// Checks every page: what is wrong, all of it.
pub fn check(workspace: &Workspace) -> Result<()> {
    let mut pages = vec![workspace.root.join("README.md")];
    collect(&workspace.root.join(DOCS), &mut pages)?;
    let mut wrong = Vec::new();
    for page in &pages {
        let text = std::fs::read_to_string(page).map_err(at(page))?;
        let folder = page.parent().unwrap_or(&workspace.root);
        let shown = page.strip_prefix(&workspace.root).unwrap_or(page).display();
        for reference in references(&text) {
            let file = folder.join(reference.target);
            if !file.exists() {
                wrong.push(format!("{shown} refers to {}, which is not there", reference.target));
            } else if let Some(name) = reference.name.filter(|_| file.is_file())
                && !std::fs::read_to_string(&file).is_ok_and(|text| text.contains(name))
            {
                wrong.push(format!("{shown} refers to `{name}`, which {} does not have", reference.target));
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

/// The relative links of a page outside of its blocks of code. Of a link to a source file, the word in code right behind it
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
        let target = behind[..end].split('#').next().unwrap_or_default();
        if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let source = [".rs", ".py", ".cu"].iter().any(|extension| target.ends_with(extension));
        let word = rest.trim_start().strip_prefix('`').and_then(|word| word.split('`').next());
        found.push(Reference { target, name: word.filter(|_| source) });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::references;

    #[test]
    fn links_and_the_names_behind_them_are_found() {
        let text = "see [a](x/a.rs) `walk`, [b](b.md#part), [c](https://d.e)\n```\n[no](no.rs)\n```\n[d](d.rs) walks";
        let found: Vec<_> = references(text).iter().map(|r| (r.target, r.name)).collect();
        assert_eq!(found, [("x/a.rs", Some("walk")), ("b.md", None), ("d.rs", None)]);
    }
}
