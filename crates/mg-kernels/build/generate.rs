//! The structs that kernels take, as Rust, and what is known of each kernel.

use crate::Result;
use crate::expression::{Names, value};
use crate::source::{Field, Kind, Seen, Struct};
use crate::variants::Variant;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// What a launch has to know of a kernel.
pub struct Facts {
    /// The struct that it takes.
    pub takes: String,
    /// Its bytes.
    pub bytes: usize,
    /// Where each of its numbers lies, those of arrays and of structs within it too, and its bytes.
    pub fields: Vec<(usize, usize)>,
    /// Numbers that this variant has, by name.
    pub constants: Names,
}

/// How a struct lies in memory.
struct Layout {
    bytes: usize,
    align: usize,
    fields: Vec<(usize, usize)>,
}

#[derive(Default)]
pub struct Sources {
    structs: BTreeMap<crate::source::Path, Struct>,
    /// Of each file, what is the same in all its variants that have it; `None` where two differ.
    files: BTreeMap<String, BTreeMap<String, Option<i64>>>,
    /// Of all files together, likewise.
    names: BTreeMap<String, Option<i64>>,
}

/// Notes a number; `None` stands for two that differ.
fn note(names: &mut BTreeMap<String, Option<i64>>, name: &str, number: i64) {
    let known = names.entry(name.to_owned()).or_insert(Some(number));
    if *known != Some(number) {
        *known = None;
    }
}

/// A copy engine's description, which the driver makes: written by hand.
const MADE_BY_THE_DRIVER: &str = "TensorMap";

impl Sources {
    pub fn add(&mut self, folder: &Path, variant: &Variant) -> Result<Facts> {
        let at = |error: String| format!("{} ({}): {error}", variant.source, variant.name);
        let seen = Seen::new(folder, &variant.source, &variant.defines, &variant.architecture).map_err(at)?;
        let takes = seen
            .argument()
            .ok_or_else(|| at("no struct, or several, that a kernel takes".into()))?
            .to_owned();
        let path = seen.structs(&takes, &mut self.structs).map_err(at)?;
        let file = self.files.entry(variant.source.clone()).or_default();
        for (name, number) in &seen.constants {
            note(file, name, *number);
            note(&mut self.names, name, *number);
        }
        let Layout { bytes, fields, .. } = self.layout(&path, None).map_err(at)?;
        Ok(Facts { takes: format!("{}::{}", path.0, path.1), bytes, fields, constants: seen.constants })
    }

    /// What has one value wherever it stands.
    fn same(&self) -> Names {
        self.names.iter().filter_map(|(name, number)| Some((name.clone(), (*number)?))).collect()
    }

    /// Bytes of a struct, what its address is a multiple of, and its numbers.
    fn layout(&self, path: &crate::source::Path, parameter: Option<&str>) -> Result<Layout> {
        let name = &path.1;
        if name == MADE_BY_THE_DRIVER {
            return Ok(Layout { bytes: 128, align: 64, fields: vec![(0, 128)] });
        }
        let one = self.structs.get(path).ok_or_else(|| format!("no struct {name}"))?;
        let mut names = self.same();
        if let (Some(of), Some(text)) = (&one.parameter, parameter) {
            names.insert(of.clone(), value(text, &names).ok_or_else(|| format!("{name}<{text}>"))?);
        }
        let mut all = Layout { bytes: 0, align: 1, fields: vec![] };
        let number = |bytes| Layout { bytes, align: bytes, fields: vec![(0, bytes)] };
        for field in &one.fields {
            let each = match &field.kind {
                Kind::Pointer => number(8),
                Kind::Number(kind) => {
                    number(kind[1..].parse::<usize>().map_err(|error| error.to_string())? / 8)
                }
                Kind::Struct(inner, parameter) => self.layout(inner, parameter.as_deref())?,
            };
            let mut count = 1;
            for dim in &field.dims {
                let dim = value(dim, &names).and_then(|n| usize::try_from(n).ok());
                count *= dim.ok_or_else(|| format!("{name}: {} has no number of elements", field.name))?;
            }
            all.align = all.align.max(each.align);
            all.bytes = all.bytes.next_multiple_of(each.align);
            for _ in 0..count {
                all.fields.extend(each.fields.iter().map(|(at, bytes)| (all.bytes + at, *bytes)));
                all.bytes += each.bytes;
            }
        }
        all.bytes = all.bytes.next_multiple_of(all.align);
        Ok(all)
    }

    /// The structs as Rust: a module for each file.
    pub fn structs(&self) -> Result<String> {
        let mut out = String::new();
        let mut module = "";
        for one in self.structs.values().filter(|one| one.name != MADE_BY_THE_DRIVER) {
            if module != one.file {
                out.push_str(if module.is_empty() { "" } else { "}\n\n" });
                module = &one.file;
                let _ = writeln!(
                    out,
                    "/// Structs of `kernels/{module}`.\n#[allow(dead_code)]\npub(crate) mod {module} {{\nuse super::*;\n"
                );
            }
            self.write(one, &mut out)?;
        }
        out.push_str(if module.is_empty() { "" } else { "}\n" });
        Ok(out)
    }

    fn write(&self, one: &Struct, out: &mut String) -> Result<()> {
        let name = &one.name;
        let generic = one.parameter.as_ref().map(|p| format!("<const {p}: usize>")).unwrap_or_default();
        let of = one.parameter.as_ref().map(|p| format!("<{p}>")).unwrap_or_default();
        let mut declared = String::new();
        let mut written = String::new();
        let mut aligns = String::new();
        for field in &one.fields {
            let kind = self.kind(one, field)?;
            let _ = write!(aligns, "<{kind} as Field>::ALIGN, ");
            let name = match field.name.as_str() {
                "in" => "r#in",
                name => name,
            };
            if matches!(name, "unused" | "reserved") {
                let _ = writeln!(written, "        Field::write(&<{kind}>::default(), args);");
                continue;
            }
            let _ = writeln!(declared, "    pub(crate) {name}: {kind},");
            let _ = writeln!(written, "        self.{name}.write(args);");
        }
        let _ = write!(
            out,
            "/// `struct {name}` of the kernels' sources.\n#[derive(Clone, Debug)]\npub(crate) struct {name}{generic} \
             {{\n{declared}}}\n\nimpl{generic} Field for {name}{of} {{\n    const ALIGN: usize = most(&[{aligns}]);\n    \
             fn write(&self, args: &mut Args) {{\n        args.align(Self::ALIGN);\n{written}        \
             args.align(Self::ALIGN);\n    }}\n}}\n\n"
        );
        if one.parameter.is_none() {
            let _ = writeln!(
                out,
                "impl Argument for {name} {{\n    const NAME: &'static str = \"{}::{name}\";\n}}\n",
                one.file
            );
        }
        Ok(())
    }

    /// A field's type in Rust.
    fn kind(&self, one: &Struct, field: &Field) -> Result<String> {
        let mut kind = match &field.kind {
            Kind::Pointer => "Address".to_owned(),
            Kind::Number(number) => (*number).to_owned(),
            Kind::Struct((_, name), _) if name == MADE_BY_THE_DRIVER => "Mapped".to_owned(),
            Kind::Struct((file, name), None) => format!("super::{file}::{name}"),
            Kind::Struct((file, name), Some(parameter)) => format!("super::{file}::{name}<{parameter}>"),
        };
        for dim in field.dims.iter().rev() {
            let count = match &one.parameter {
                Some(parameter) if parameter == dim => dim.clone(),
                _ => value(dim, &self.same()).ok_or_else(|| format!("{}: [{dim}]", field.name))?.to_string(),
            };
            kind = format!("[{kind}; {count}]");
        }
        Ok(kind)
    }

    /// A module for each file, with what is the same in all its variants.
    pub fn constants(&self) -> String {
        let mut out = String::new();
        for (file, constants) in &self.files {
            let name = file.trim_end_matches(".cu");
            let _ = writeln!(
                out,
                "/// Numbers of `kernels/{file}`.\n#[allow(dead_code)]\npub(crate) mod {name} {{"
            );
            for (name, number) in constants {
                if let Some(number) = number.filter(|number| *number >= 0) {
                    let _ = writeln!(out, "    pub(crate) const {name}: usize = {number};");
                }
            }
            out.push_str("}\n\n");
        }
        out
    }
}
