//! What is done to the PTX that NVRTC answers with, before it is written.

/// The first line of a kernel's file.
pub fn heading(source: &str) -> String {
    format!("// From kernels/{source} by `cargo xtask ptx`.\n")
}

/// The PTX without what only takes room: comments (but for the marks where code is spliced in), blank lines, indentation,
/// constants of the source that no instruction reads.
///
/// A level of its own is told in the second line, as `Gpu::load_module` reads it.
pub fn tidy(ptx: &str, source: &str, level: Option<&str>) -> String {
    let mut text = heading(source);
    if let Some(level) = level {
        text.push_str(&format!("// mg.level {level}\n"));
    }
    for line in ptx.lines().map(str::trim) {
        let comment = line.starts_with("//") && !line.starts_with("// mg.");
        if line.is_empty() || comment || unused(line, ptx) {
            continue;
        }
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.push_str(&line.replace(", ", ","));
        text.push('\n');
    }
    text
}

/// Whether the line defines a constant that stands nowhere else.
fn unused(line: &str, ptx: &str) -> bool {
    let Some(definition) = line.strip_prefix(".global ") else { return false };
    let name = definition
        .split([' ', '=', ';', '['])
        .filter(|word| !word.is_empty() && !word.starts_with('.'))
        .find(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
    name.is_some_and(|name| {
        let whole = |at: usize| {
            let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
            !ptx[..at].ends_with(part) && !ptx[at + name.len()..].starts_with(part)
        };
        ptx.match_indices(name).filter(|&(at, _)| whole(at)).count() == 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tidied_ptx_keeps_code_and_marks() {
        let ptx = "//\n// Generated\n.version 8.0\n.global .align 4 .u32 BM = 128;\n\n\tadd.f32 \t%f1, %f2, %f3;\n\t// begin inline asm\n\t// mg.epilogue %f1\n";
        let expected = "// From kernels/a.cu by `cargo xtask ptx`.\n.version 8.0\nadd.f32 %f1,%f2,%f3;\n// mg.epilogue %f1\n";
        assert_eq!(tidy(ptx, "a.cu", None), expected);
        assert!(
            tidy(ptx, "a.cu", Some("2"))
                .starts_with("// From kernels/a.cu by `cargo xtask ptx`.\n// mg.level 2\n.version")
        );
    }
}
