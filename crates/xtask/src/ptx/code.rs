//! Machine code of kernels, which the wheel has beside their texts: those of `kernels/code.txt`, by the newest assembler. The build of mg-kernels packs the
//! folder that is made here. What comes of each text is on record.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use sha2::{Digest, Sha256};

use super::{FOLDER, SOURCES, assembled, available, compiled, file, share, variants};
use crate::venv::Venv;
use crate::workspace::Workspace;
use crate::{Result, at, process};

// What packs and unpacks is the library's.
#[allow(dead_code)]
#[path = "../../../mg-kernels/src/cuda/library/deltas.rs"]
mod deltas;

/// What there is code of.
const LIST: &str = "code.txt";
const RECORD: &str = "kernels/assembled/code.txt";
const HEAD: &str = "\
# What NVIDIA's assembler makes of the kernels of kernels/code.txt, by `cargo xtask ptx`: the kernel's name, the capability, the SHA-256 of the text,
# and of the file that is made of it.
";

/// A kernel and the capability that its code is for.
type Asked = (String, String);

/// Whether NVIDIA has an assembler for this machine.
pub const AVAILABLE: bool = !cfg!(target_os = "macos");

/// Makes all of it, and answers with the folder.
pub fn folder(workspace: &Workspace) -> Result<PathBuf> {
    let all = asked(workspace)?;
    let made = assemble(workspace, &all)?;
    // Elsewhere the assembler is another program.
    if available() && read(workspace) != text(&made) {
        return Err(format!("{RECORD} is not what comes of the kernels; mend it with: cargo xtask ptx"));
    }
    let folder = workspace.target().join("code");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(at(&folder))?;
    }
    for ((name, capability), made) in &made {
        let folder = folder.join(capability);
        std::fs::create_dir_all(&folder).map_err(at(&folder))?;
        let file = folder.join(format!("{name}.cubin"));
        std::fs::copy(&made.file, &file).map_err(at(&file))?;
    }
    Ok(folder)
}

/// Writes the record.
pub fn write(workspace: &Workspace) -> Result<()> {
    let made = assemble(workspace, &asked(workspace)?)?;
    let path = workspace.root.join(RECORD);
    std::fs::write(&path, text(&made)).map_err(at(&path))
}

/// Whether the record is of the kernels as they are; a share that each commit draws is assembled anew.
pub fn check(workspace: &Workspace) -> Result<()> {
    let all = asked(workspace)?;
    let (record, share) = (read(workspace), share::of_commit(workspace));
    let known: BTreeMap<Asked, [&str; 2]> = record
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
            [name, capability, text, code] => Some(((name.to_owned(), capability.to_owned()), [text, code])),
            _ => None,
        })
        .collect();
    let wrong = |what: &str| format!("{RECORD}: {what}; mend it with: cargo xtask ptx");
    if known.keys().ne(all.keys()) {
        return Err(wrong("other kernels than those of kernels/code.txt"));
    }
    if let Some(((name, _), _)) = all.iter().find(|(asked, text)| known[*asked][0] != compiled::hash(&[text]))
    {
        return Err(wrong(&format!("{name} has another text")));
    }
    if !available() {
        return Ok(());
    }
    let anew = all.into_iter().filter(|(asked, _)| share::has(&share, known[asked][0])).collect();
    let made = assemble(workspace, &anew)?;
    match made.iter().find(|(asked, made)| known[*asked][1] != made.hash) {
        Some(((name, capability), _)) => Err(wrong(&format!("{name} is another file for {capability}"))),
        None => Ok(()),
    }
}

fn read(workspace: &Workspace) -> String {
    std::fs::read_to_string(workspace.root.join(RECORD)).unwrap_or_default().replace("\r\n", "\n")
}

/// The texts that are asked for, as the library has them.
fn asked(workspace: &Workspace) -> Result<BTreeMap<Asked, String>> {
    let list = workspace.root.join(SOURCES).join(LIST);
    let names: Vec<String> = variants(workspace)?.into_iter().map(|variant| variant.name).collect();
    let asked = parse(&std::fs::read_to_string(&list).map_err(at(&list))?, &names)?;
    let text = |(name, capability): Asked| {
        let path = file(workspace, &name);
        let text = std::fs::read_to_string(&path).map_err(at(&path))?.replace("\r\n", "\n");
        let text = deltas::renumbered(&text).ok_or_else(|| format!("{FOLDER}/{name}.ptx has no numbers"))?;
        Ok(((name, capability), text))
    };
    asked.into_iter().map(text).collect()
}

/// What lines of the list name, of these kernels.
fn parse(list: &str, names: &[String]) -> Result<BTreeSet<Asked>> {
    let mut asked = BTreeSet::new();
    for line in list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let is_capability = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
        let (capabilities, patterns): (Vec<&str>, Vec<&str>) =
            line.split_whitespace().partition(is_capability);
        for pattern in patterns.into_iter().flat_map(expand) {
            let mut found = names.iter().filter(|name| fits(name, &pattern)).peekable();
            if found.peek().is_none() || capabilities.is_empty() {
                return Err(format!("{SOURCES}/{LIST}: no kernel for '{pattern}' of '{line}'"));
            }
            for name in found {
                asked.extend(capabilities.iter().map(|&capability| (name.clone(), capability.to_owned())));
            }
        }
    }
    Ok(asked)
}

/// A name once for each way to choose from its groups, `{f32|bf16}`.
fn expand(pattern: &str) -> Vec<String> {
    let parts = pattern.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (group, after))) = parts else { return vec![pattern.to_owned()] };
    group.split('|').flat_map(|one| expand(&format!("{before}{one}{after}"))).collect()
}

/// Whether a name is what a pattern says, in which a star is anything.
fn fits(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((before, rest)) => name
            .strip_prefix(before)
            .is_some_and(|behind| (0..=behind.len()).any(|at| fits(&behind[at..], rest))),
    }
}

struct Made {
    text: String,
    file: PathBuf,
    hash: String,
}

fn text(made: &BTreeMap<Asked, Made>) -> String {
    made.iter().fold(HEAD.to_owned(), |all, ((name, capability), made)| {
        all + &format!("{name} {capability} {} {}\n", made.text, made.hash)
    })
}

/// The files of texts. What was made of one stays in the target folder, by what it was made of.
fn assemble(workspace: &Workspace, asked: &BTreeMap<Asked, String>) -> Result<BTreeMap<Asked, Made>> {
    let assembler = assembled::newest(&Venv::of(workspace)?)?;
    let kept = workspace.target().join("code-kept");
    std::fs::create_dir_all(&kept).map_err(at(&kept))?;
    let todo = Mutex::new(asked.iter());
    let done = Mutex::new(Ok(BTreeMap::new()));
    let work = || {
        loop {
            let next = todo.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
            let Some(((name, capability), text)) = next else { return };
            let one = one(workspace, &assembler, &kept, capability, text);
            let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match (&mut *done, one) {
                (Ok(all), Ok(one)) => drop(all.insert((name.clone(), capability.clone()), one)),
                (Ok(_), Err(error)) => *done = Err(format!("{name} for {capability}: {error}")),
                (Err(_), _) => return,
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn one(workspace: &Workspace, assembler: &Path, kept: &Path, capability: &str, text: &str) -> Result<Made> {
    let hash = compiled::hash(&[text]);
    // What is for one architecture alone says so: "sm_90a".
    let own = text.lines().find_map(|line| line.trim().strip_prefix(".target sm_")).unwrap_or_default();
    let architecture = match own.strip_suffix('a') {
        Some(of) if of == capability => own,
        Some(_) => return Err(format!("the text is for sm_{own} alone")),
        None => capability,
    };
    let file = kept.join(format!("{}-{capability}-{hash}.cubin", assembled::RELEASES[0]));
    if !file.exists() {
        let (from, new) = (file.with_extension("ptx"), file.with_extension("new"));
        std::fs::write(&from, text).map_err(at(&from))?;
        let mut run = process::command(assembler, &workspace.root);
        run.arg(format!("-arch=sm_{architecture}")).arg(&from).arg("-o").arg(&new);
        if let Some(level) = text.lines().find_map(|line| line.strip_prefix("// mg.level ")) {
            run.arg(format!("-O{level}"));
        }
        process::output(&mut run)?;
        std::fs::remove_file(&from).map_err(at(&from))?;
        std::fs::rename(&new, &file).map_err(at(&file))?;
    }
    let bytes = std::fs::read(&file).map_err(at(&file))?;
    let made = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Made { text: hash, file, hash: made })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_kernels_and_capabilities() {
        let names = ["copy_b8", "copy_b16", "sort_f32", "sort_f64"].map(str::to_owned);
        let all = parse("# list\n90 80 copy_*\n90 sort_{f32|f64}", &names).unwrap();
        assert_eq!(all.len(), 6);
        assert!(
            all.contains(&("copy_b8".into(), "80".into()))
                && !all.contains(&("sort_f32".into(), "80".into()))
        );
        assert!(parse("90 scan_*", &names).is_err() && parse("copy_*", &names).is_err());
        assert!(fits("scan_rows_sum_f32", "scan_*_sum_*") && !fits("scan_rows_sum_f32", "scan_*_sum"));
    }
}
