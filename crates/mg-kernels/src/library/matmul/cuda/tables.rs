//! Which times of tiles a GPU's products are planned by: those of a file that was measured on its like, or of a model.

use super::measured::{Measured, Row, known};
use super::model::{ROUND, Timed};
use super::tiles::Kind;
use crate::frame::internal;
use mg_device::cuda::Gpu;
use mg_device::{Device, Error, ErrorKind, Result};
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

include!(concat!(env!("OUT_DIR"), "/measured_files.rs"));

/// Times of the tiles that products are divided into, on one GPU. The same product is divided in the same way wherever these are the same.
///
/// A GPU whose name and multiprocessors a file of the folder `kernels/tiles` has is planned for by that; others by a model of it, made of the file of
/// the nearest capability. The environment variable `MG_TILES` names a file to be used instead, of the GPU at hand. `docs/tiles.md` tells more.
#[derive(Debug)]
pub struct Tiles {
    multiprocessors: usize,
    /// What the times are from.
    source: String,
    /// By kind, in the order of its tiles.
    of: [Vec<Timed>; Kind::ALL.len()],
}

/// What a GPU says of itself, as far as tiles depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// As its driver has it: "NVIDIA H200".
    pub name: String,
    /// 80, 86, 90, ….
    pub capability: u32,
    /// How many it has.
    pub multiprocessors: usize,
    /// The highest that they run at, in MHz; 0 where nobody knows.
    pub clock: usize,
}

impl Features {
    /// Those of a GPU.
    pub fn of(gpu: &Gpu) -> Features {
        let (major, minor) = gpu.capability();
        Features {
            name: gpu.device().name(),
            capability: major * 10 + minor,
            multiprocessors: gpu.multiprocessors() as usize,
            clock: gpu.clock() as usize / 1000,
        }
    }

    fn is_of(&self, file: &Measured) -> bool {
        (self.name.as_str(), self.capability, self.multiprocessors)
            == (file.gpu.as_str(), file.capability, file.multiprocessors)
    }
}

/// What the build has taken in, and checked.
fn files() -> &'static [Measured] {
    static READ: OnceLock<Vec<Measured>> = OnceLock::new();
    READ.get_or_init(|| FILES.iter().filter_map(|text| Measured::parse(text).ok()).collect())
}

impl Tiles {
    /// What each round of blocks after the first begins and ends with, in microseconds: measured on an H200.
    pub const ROUND: f64 = ROUND;

    /// Those of a GPU.
    ///
    /// # Errors
    ///
    /// Of the file that `MG_TILES` names: [`ErrorKind::Io`] where it cannot be read, [`ErrorKind::Format`] where a line of it is not what such a file has,
    /// [`ErrorKind::Value`] where it is another GPU's.
    pub fn of(gpu: &Gpu) -> Result<&'static Tiles> {
        static KNOWN: Mutex<Vec<(Device, Result<&'static Tiles>)>> = Mutex::new(Vec::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let device = gpu.device();
        let at = known.iter().position(|(of, _)| *of == device).unwrap_or_else(|| {
            let named = std::env::var_os("MG_TILES").filter(|path| !path.is_empty());
            let tiles = Tiles::new(&Features::of(gpu), named.as_deref().map(Path::new));
            known.push((device, tiles.map(|tiles| &*Box::leak(Box::new(tiles)))));
            known.len() - 1
        });
        match &known[at].1 {
            Ok(tiles) => Ok(tiles),
            Err(error) => Err(Error::new("MG_TILES", error.kind().clone())),
        }
    }

    /// Those of a GPU that says this of itself; `file` is used instead of what the library has.
    ///
    /// # Errors
    ///
    /// As [`Tiles::of`], of `file`.
    pub fn new(gpu: &Features, file: Option<&Path>) -> Result<Tiles> {
        if let Some(path) = file {
            let failed = |kind: fn(String) -> ErrorKind, text: String| {
                Error::new("MG_TILES", kind(format!("{}: {text}", path.display())))
            };
            let text = std::fs::read_to_string(path).map_err(|e| failed(ErrorKind::Io, e.to_string()))?;
            let measured = Measured::parse(&text).map_err(|wrong| failed(ErrorKind::Format, wrong))?;
            if !gpu.is_of(&measured) {
                let of = |name: &str, capability: u32, count: usize| {
                    let (major, minor) = (capability / 10, capability % 10);
                    format!("{name:?} of capability {major}.{minor} with {count} multiprocessors")
                };
                let file = of(&measured.gpu, measured.capability, measured.multiprocessors);
                let gpu = of(&gpu.name, gpu.capability, gpu.multiprocessors);
                return Err(failed(ErrorKind::Value, format!("measured on {file}, the device is {gpu}")));
            }
            return Ok(Tiles::measured(&measured, path.display().to_string()));
        }
        match files().iter().find(|file| gpu.is_of(file)) {
            Some(file) => Ok(Tiles::measured(file, format!("measured on {}", file.gpu))),
            None => Ok(Tiles::modelled(gpu, files())),
        }
    }

    /// Those that products are planned by where nobody says for which GPU: of the first file, for all capabilities.
    pub fn unnamed() -> &'static Tiles {
        static FIRST: OnceLock<Tiles> = OnceLock::new();
        FIRST.get_or_init(|| match files().first() {
            Some(file) => Tiles::measured(file, format!("measured on {}", file.gpu)),
            None => Tiles { multiprocessors: 1, source: String::new(), of: Default::default() },
        })
    }

    fn measured(file: &Measured, source: String) -> Tiles {
        let mut tiles = Tiles { multiprocessors: file.multiprocessors, source, of: Default::default() };
        for row in &file.rows {
            tiles.of[row.kind as usize].push(Timed::new(row, file.multiprocessors));
        }
        tiles
    }

    /// Of a GPU that was not measured: a block takes what it takes on the nearest capability that was, by the ratio of the clocks, and as many as fit run at
    /// a time. The ratio is one of quarters, so that GPUs of one name that are clocked a little higher or lower are planned for alike.
    fn modelled(gpu: &Features, files: &[Measured]) -> Tiles {
        let Features { capability, multiprocessors, clock, .. } = *gpu;
        let multiprocessors = multiprocessors.max(1);
        let mut tiles = Tiles { multiprocessors, source: "a model".into(), of: Default::default() };
        for (kind, tile, form) in known(capability) {
            let row_of = |file: &Measured| {
                let mut rows = file.rows.iter();
                let row = rows.find(|row| (row.kind, row.tile.name, row.form) == (kind, tile.name, form));
                row.map(|row| (file.capability.abs_diff(capability), file.clock, row.clone()))
            };
            let Some((_, measured, row)) = files.iter().filter_map(row_of).min_by_key(|found| found.0) else {
                continue;
            };
            let quarters = (4 * measured + clock / 2).checked_div(clock).unwrap_or(4).max(1);
            let blocks = row.depth.len().min(tile.room(capability));
            let depth = row.depth[..blocks].iter().map(|time| time * quarters as f64 / 4.0).collect();
            tiles.of[kind as usize].push(Timed::new(&Row { depth, ..row }, multiprocessors));
        }
        tiles
    }

    /// What the times are from, in words: "measured on NVIDIA H200", "a model", a path.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Multiprocessors of the GPU.
    pub(crate) fn multiprocessors(&self) -> usize {
        self.multiprocessors
    }

    /// The tiles of a kind, by form.
    pub(super) fn kind(&self, kind: Kind) -> &[Timed] {
        &self.of[kind as usize]
    }

    /// The first tile of a kind.
    ///
    /// # Errors
    ///
    /// An internal error, where this GPU runs none.
    pub(super) fn first(&self, kind: Kind) -> Result<&Timed> {
        self.kind(kind).first().ok_or_else(|| internal("a product without a tile"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(name: &str, capability: u32, multiprocessors: usize, clock: usize) -> Features {
        Features { name: name.into(), capability, multiprocessors, clock }
    }

    /// All times of a kind, with what they are of.
    fn times(tiles: &Tiles, kind: Kind) -> Vec<String> {
        tiles.kind(kind).iter().map(|timed| format!("{timed:?}")).collect()
    }

    #[test]
    fn files_are_whole_and_are_found_by_name() {
        assert_eq!(files().len(), FILES.len());
        for file in files() {
            let Measured { gpu: name, capability, multiprocessors, clock, .. } = file;
            let own = Tiles::new(&gpu(name, *capability, *multiprocessors, *clock), None).unwrap();
            assert_eq!(own.source(), format!("measured on {name}"));
            // Whatever its clock is said to be.
            let slow = Tiles::new(&gpu(name, *capability, *multiprocessors, 1), None).unwrap();
            assert!(Kind::ALL.iter().all(|&kind| times(&own, kind) == times(&slow, kind)));
            // A part of one is another GPU.
            let part = Tiles::new(&gpu(name, *capability, 7, *clock), None).unwrap();
            assert_eq!((part.source(), part.multiprocessors()), ("a model", 7));
        }
    }

    #[test]
    fn a_model_has_what_its_gpu_runs() {
        for (capability, multiprocessors) in
            [(75, 46), (80, 108), (86, 84), (89, 128), (90, 114), (100, 148), (120, 170)]
        {
            let tiles = Tiles::new(&gpu("another", capability, multiprocessors, 1500), None).unwrap();
            for kind in Kind::ALL {
                let own: Vec<_> = known(capability)
                    .filter(|known| known.0 == kind)
                    .map(|known| (known.1.name, known.2))
                    .collect();
                let has: Vec<_> =
                    tiles.kind(kind).iter().map(|timed| (timed.tile.name, timed.form)).collect();
                assert_eq!(own, has, "{capability}");
            }
        }
        // By the ratio of the clocks in quarters, so that a little more or less is the same.
        let at = |clock| times(&Tiles::new(&gpu("another", 90, 114, clock), None).unwrap(), Kind::Bf16);
        let measured = files()[0].clock;
        assert_eq!(at(measured), at(measured + 30));
        assert_eq!(at(measured), at(0));
        assert_ne!(at(measured), at(measured / 2));
        assert_eq!(at(1), at(1));
    }

    #[test]
    fn a_file_of_ones_own_is_of_the_gpu_at_hand() {
        let folder = std::env::temp_dir().join(format!("mg-tiles-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("own.txt");
        let mut own = files()[0].clone();
        let here = gpu(&own.gpu, own.capability, own.multiprocessors, own.clock);
        own.rows[0].once = 77.0;
        std::fs::write(&path, own.to_string()).unwrap();
        let tiles = Tiles::new(&here, Some(&path)).unwrap();
        assert_eq!(tiles.source(), path.display().to_string());
        assert!(times(&tiles, own.rows[0].kind)[0].contains("once: 77.0"));

        let told = |gpu: &Features, path: &Path| Tiles::new(gpu, Some(path)).unwrap_err();
        let other = told(&Features { multiprocessors: 7, ..here.clone() }, &path);
        assert!(matches!(other.kind(), ErrorKind::Value(_)));
        assert!(other.to_string().contains("with 132 multiprocessors, the device is"), "{other}");
        let missing = told(&here, &folder.join("missing.txt"));
        assert!(matches!(missing.kind(), ErrorKind::Io(_)) && missing.to_string().contains("missing.txt"));
        std::fs::write(&path, own.to_string().replacen("77.00", "seven", 1)).unwrap();
        let wrong = told(&here, &path);
        assert!(matches!(wrong.kind(), ErrorKind::Format(_)));
        assert!(wrong.to_string().contains("own.txt: line 11: got \"seven\""), "{wrong}");
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(matches!(told(&here, &path).kind(), ErrorKind::Io(_)));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
