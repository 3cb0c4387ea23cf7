//! Files of measured tiles: checked, and taken into the library.

use crate::measured::Measured;
use crate::{Result, read};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// A table of the texts of all files in a folder, in the order of their names.
pub fn table(folder: &Path) -> Result<String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    let mut table = "/// What the files of `kernels/tiles` say.\n".to_owned();
    let _ = writeln!(table, "static FILES: [&str; {}] = [", paths.len());
    for path in &paths {
        let text = read(path)?;
        let wrong = |text: String| format!("{}: {text}", path.display());
        let measured = Measured::parse(&text).map_err(wrong)?;
        let name = measured.file_name();
        if path.file_name().is_none_or(|known| *known != *name) {
            return Err(wrong(format!("the file of {:?} is called {name}", measured.gpu)));
        }
        let _ = writeln!(table, "{text:?},");
    }
    table.push_str("];\n");
    if paths.is_empty() { Err(format!("{}: no file", folder.display())) } else { Ok(table) }
}
