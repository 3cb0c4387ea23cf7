//! Machine code of kernels, beside their texts: `MG_CUBINS` names a folder that has, for each capability ("90"), a folder of files NAME.cubin.
//! `cargo xtask wheel` makes it. Without it a driver assembles every text.

use crate::{Result, read_bytes, write};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// Bytes of machine code up to which kernels of a source are compressed together: they are unpacked together, in a few milliseconds.
const PACK: usize = 1 << 20;
/// What the address of each is a multiple of.
const ALIGN: usize = 16;

/// Machine code by the kernel's name.
#[derive(Default)]
pub struct Codes {
    /// Its capability, its pack and where in that it is.
    places: BTreeMap<String, Vec<(u32, usize, [usize; 2])>>,
    packs: Vec<Vec<u8>>,
    /// What was taken, as the library's table has it.
    taken: Vec<String>,
}

impl Codes {
    pub fn read() -> Result<Codes> {
        println!("cargo::rerun-if-env-changed=MG_CUBINS");
        let mut all = Codes::default();
        let Some(folder) = env::var_os("MG_CUBINS") else { return Ok(all) };
        let folder = Path::new(&folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        for capability in names(folder, "")? {
            let number: u32 = capability.parse().map_err(|_| format!("{capability} is no capability"))?;
            let mut last = String::new();
            for name in names(&folder.join(&capability), ".cubin")? {
                let bytes = read_bytes(&folder.join(&capability).join(format!("{name}.cubin")))?;
                let word = name.split('_').next().unwrap_or_default().to_owned();
                let fits = |pack: &&mut Vec<u8>| word == last && pack.len() + bytes.len() <= PACK;
                if all.packs.last_mut().as_ref().filter(|pack| fits(pack)).is_none() {
                    all.packs.push(Vec::new());
                }
                let at = all.packs.len() - 1;
                let pack = &mut all.packs[at];
                let start = pack.len();
                pack.extend(bytes);
                all.places.entry(name).or_default().push((number, at, [start, pack.len()]));
                pack.resize(pack.len().next_multiple_of(ALIGN), 0);
                last = word;
            }
        }
        Ok(all)
    }

    /// Where in the table the kernel's are; from now on there is none of it.
    pub fn take(&mut self, name: &str) -> [usize; 2] {
        let start = self.taken.len();
        for (capability, pack, [from, to]) in self.places.remove(name).unwrap_or_default() {
            let part = format!("Part::new(&CODE_PACKS[{pack}], {from}, {to})");
            self.taken.push(format!("Code {{ capability: {capability}, part: {part} }},"));
        }
        [start, self.taken.len()]
    }

    /// Writes the packs, and answers with the tables. All has to be taken.
    pub fn write(&self, out: &Path, level: i32) -> Result<String> {
        if let Some((name, _)) = self.places.first_key_value() {
            return Err(format!("{name}.cubin is of no kernel"));
        }
        if self.packs.is_empty() {
            return Ok("static CODE: [Code; 0] = [];\n".to_owned());
        }
        let mut table = format!("static CODE_PACKS: [Pack; {}] = [\n", self.packs.len());
        for (number, pack) in self.packs.iter().enumerate() {
            let file = out.join(format!("{number}.cubin.zst"));
            let packed = zstd::bulk::compress(pack, level).map_err(|error| error.to_string())?;
            write(&file, &packed)?;
            let _ = writeln!(table, "Pack::new(include_bytes!({file:?}), {}),", pack.len());
        }
        let _ = writeln!(
            table,
            "];\nstatic CODE: [Code; {}] = [\n{}\n];",
            self.taken.len(),
            self.taken.join("\n")
        );
        Ok(table)
    }
}

/// What a folder has, in order, without this end of the name.
fn names(folder: &Path, end: &str) -> Result<Vec<String>> {
    let failed = |error| format!("{}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let name = name.to_str().and_then(|name| name.strip_suffix(end));
        names.push(name.ok_or_else(|| format!("{}: a name without {end}", folder.display()))?.to_owned());
    }
    names.sort();
    Ok(names)
}
