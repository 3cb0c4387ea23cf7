//! The tiles that products are divided into: which there are kernels for, of which dtype and which operands. What each takes on a GPU is measured
//! (`measured.rs`).
//!
//! The build reads this file too.

use super::capability::{AMPERE, HOPPER, most_shared, room_for};

/// A tile.
#[derive(Debug)]
pub struct Tile {
    /// As the kernels' names have it.
    pub name: &'static str,
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
    /// Depth of a stage, of all groups of threads.
    pub k: usize,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Which operands there is a kernel for: neighbours of a along k or m, of b along k or n, x where they are not aligned; "any"
    /// takes all.
    pub forms: &'static [&'static str],
    /// Blocks that a multiprocessor has at a time, at most, of those whose times are told apart.
    pub blocks: usize,
    /// By the instructions of capability 9.0 alone (`kernels/matmul_wgmma.cu`): blocks take tile after tile, and the copy
    /// engine brings the operands.
    pub hopper: bool,
}

/// What kernels are for, as the files of measured tiles name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// f32 of which every bit counts.
    F32,
    /// f32 rounded to 10 bits of fraction.
    Tf32,
    /// f16.
    F16,
    /// bf16.
    Bf16,
    /// Several products of f16 or bf16 as one launch (`kernels/matmul_many.cu`).
    Many,
    /// Floats of eight bits (`kernels/scaled_wgmma.cu`).
    Scaled,
    /// Every GPU and every dtype, where there is no other.
    Any,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 7] =
        [Kind::F32, Kind::Tf32, Kind::F16, Kind::Bf16, Kind::Many, Kind::Scaled, Kind::Any];

    /// Its name in files of measured tiles.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::F32 => "f32",
            Kind::Tf32 => "tf32",
            Kind::F16 => "f16",
            Kind::Bf16 => "bf16",
            Kind::Many => "many",
            Kind::Scaled => "scaled",
            Kind::Any => "any",
        }
    }

    /// In the order in which they are looked at: of two that take as long, the first is chosen.
    pub const fn tiles(self) -> &'static [Tile] {
        match self {
            Kind::F32 => F32,
            Kind::Tf32 => TF32,
            Kind::F16 | Kind::Bf16 => HALF,
            Kind::Many => MANY,
            Kind::Scaled => SCALED,
            Kind::Any => ANY,
        }
    }

    /// Whether GPUs of this capability run kernels of a tile.
    pub const fn runs(self, tile: &Tile, capability: u32) -> bool {
        let has = match self {
            Kind::F32 | Kind::Tf32 | Kind::F16 | Kind::Bf16 | Kind::Many | Kind::Scaled => {
                capability >= AMPERE
            }
            Kind::Any => true,
        };
        has && (!tile.hopper || capability == HOPPER) && tile.shared <= most_shared(capability)
    }
}

impl Tile {
    /// Blocks that a multiprocessor of this capability has at a time, of those whose times are told apart: as many as shared memory has room for.
    pub const fn room(&self, capability: u32) -> usize {
        let room = room_for(self.shared, capability);
        if room == 0 {
            1
        } else if room < self.blocks {
            room
        } else {
            self.blocks
        }
    }
}

const fn tile(size: [usize; 3], shared: u32, blocks: usize) -> Tile {
    let [m, n, k] = size;
    let name = match (m, n) {
        (256, 128) => "256x128",
        (128, 256) => "128x256",
        (128, 128) => "128x128",
        (128, 64) => "128x64",
        (32, 64) => "32x64",
        (32, 32) => "32x32",
        (64, 64) => "64x64",
        _ => panic!("a tile without a kernel"),
    };
    let forms = &["kn", "kk", "mn", "mk"];
    Tile { name, m, n, k, shared, forms, blocks, hopper: false }
}

/// 128 rows by `n`, for capability 9.0; lines of a stage are 128 bytes of k.
const fn hopper(name: &'static str, n: usize, k: usize, stages: u32) -> Tile {
    // Stages begin at multiples of 1024 bytes; besides them a block has 4096 bytes for each warp that multiplies, and two
    // barriers a stage.
    let shared = 1024 + stages * (128 * (128 + n as u32) + 16) + 8 * 4096;
    let forms = &["kn", "kk", "mn", "mk"];
    Tile { name, m: 128, n, k, shared, forms, blocks: 1, hopper: true }
}

/// As [`hopper`], of `m` rows by 128: what the result turned has.
const fn turned(name: &'static str, m: usize, stages: u32) -> Tile {
    let tile = hopper(name, m, 32, stages);
    Tile { m, n: 128, ..tile }
}

/// As [`hopper`], of f32 by thirds (`kernels/thirds.cuh`): a ring of stages for those of the second operand too, 64 bytes a line.
const fn thirds(name: &'static str, n: usize, stages: [u32; 2]) -> Tile {
    let [raw, ready] = stages;
    let tile = hopper(name, n, 32, raw);
    Tile { shared: tile.shared + ready * (3 * 64 * n as u32 + 16), ..tile }
}

const fn only(forms: &'static [&'static str], tile: Tile) -> Tile {
    Tile { forms, ..tile }
}

/// Where one operand is not aligned, or neither.
const fn unaligned(tile: Tile) -> Tile {
    only(&["xn", "xk", "kx", "mx", "any"], tile)
}

const fn any(tile: Tile) -> Tile {
    only(&["any"], tile)
}

const ANY: &[Tile] = &[any(tile([64, 64, 16], 0, 3))];

const F32: &[Tile] = &[
    thirds("w128x128", 128, [3, 3]),
    only(&["kn", "mn"], tile([256, 128, 16], 73728, 1)),
    only(&["kk", "mk"], tile([128, 256, 16], 73728, 1)),
    tile([64, 64, 16], 32768, 4),
    tile([32, 64, 64], 98304, 2),
    tile([32, 32, 128], 98304, 2),
    unaligned(tile([32, 32, 128], 98304, 2)),
    any(tile([128, 128, 16], 49152, 2)),
    any(tile([64, 64, 16], 32768, 4)),
];

const TF32: &[Tile] = &[
    only(&["kk", "mk"], hopper("w128x256", 256, 32, 4)),
    only(&["kk", "mk"], hopper("w128x192", 192, 32, 4)),
    only(&["kk", "mk"], hopper("w128x128", 128, 32, 6)),
    only(&["kk", "mk"], hopper("w128x64", 64, 32, 8)),
    only(&["kn"], turned("w256x128", 256, 4)),
    only(&["kn"], turned("w192x128", 192, 4)),
    only(&["kn"], turned("w128x128", 128, 6)),
    only(&["kn"], turned("w64x128", 64, 8)),
    only(&["kn"], tile([128, 256, 32], 196608, 1)),
    only(&["kk", "mk"], tile([256, 128, 32], 196608, 1)),
    tile([128, 128, 32], 98304, 2),
    tile([64, 64, 64], 98304, 2),
    tile([32, 32, 64], 65536, 3),
    unaligned(tile([32, 32, 64], 65536, 3)),
    any(tile([128, 128, 32], 98304, 2)),
    any(tile([64, 64, 64], 98304, 2)),
];

const HALF: &[Tile] = &[
    hopper("w128x256", 256, 64, 4),
    hopper("w128x192", 192, 64, 4),
    hopper("w128x128", 128, 64, 6),
    hopper("w128x64", 64, 64, 8),
    tile([128, 256, 64], 147456, 1),
    tile([128, 128, 64], 98304, 2),
    tile([128, 64, 64], 73728, 2),
    tile([64, 64, 128], 98304, 2),
    tile([32, 32, 128], 65536, 3),
    unaligned(tile([32, 32, 128], 65536, 3)),
    any(tile([128, 128, 64], 98304, 2)),
    any(tile([64, 64, 128], 98304, 2)),
];

const MANY: &[Tile] = &[
    only(&["mn"], hopper("w128x128", 128, 64, 6)),
    only(&["mn"], hopper("w128x256", 256, 64, 4)),
    only(&["mn"], hopper("w128x192", 192, 64, 4)),
];

const SCALED: &[Tile] = &[only(&["kk"], hopper("w128x256", 256, 128, 4))];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::library::Prebuilt;

    /// Each tile of a table with a kernel that it stands for.
    fn kernels(kind: &str, tiles: &'static [Tile]) -> Vec<(&'static Tile, &'static Prebuilt)> {
        let of = |tile: &'static Tile| {
            tile.forms.iter().map(move |form| {
                let name = format!("matmul_{kind}_{}_{form}", tile.name);
                (tile, Prebuilt::find(&name).unwrap_or_else(|| panic!("no kernel {name}")))
            })
        };
        // Where one operand is not aligned, small tiles alone have kernels.
        tiles.iter().flat_map(of).collect()
    }

    #[test]
    fn tiles_are_those_of_their_kernels() {
        let tables = [("f32", 4, F32), ("tf32", 4, TF32), ("f16", 2, HALF), ("bf16", 2, HALF)];
        for (kind, bytes, tiles) in tables.into_iter().chain([("many_f16", 2, MANY), ("many_bf16", 2, MANY)])
        {
            for (tile, kernel) in kernels(kind, tiles) {
                let number =
                    |name| kernel.constant(name).unwrap_or_else(|| panic!("{}: no {name}", kernel.name));
                let (m, n) = (number("BM"), number("BN"));
                assert_eq!((tile.m, tile.n), (m, n), "{}", kernel.name);
                let (stages, groups) = (number("STAGES"), number("GROUPS"));
                let shared = if tile.hopper {
                    assert_eq!(tile.k * bytes, 128, "{}", kernel.name);
                    // Warps that make thirds, and stages of these, if any.
                    let splitters = kernel.constant("SPLITTERS").unwrap_or(0);
                    let ready = kernel.constant("READY").map_or(0, |ready| ready * (3 * 64 * n + 16));
                    assert_eq!(kernel.threads() as usize, 128 * (1 + groups) + 32 * splitters);
                    // Stages begin at multiples of 1024 bytes; two barriers a stage.
                    1024 + stages * (number("STAGE") + 16) + ready + number("WARPS") * number("SLICE")
                } else {
                    assert_eq!(tile.k, number("BK") * groups, "{}", kernel.name);
                    assert_eq!(kernel.threads() as usize, number("THREADS") * groups);
                    // The stages' memory is the sums' afterwards: a slice of each group, lines 8 longer.
                    let stored = groups * number("SLICE") * (n + 8) * 4;
                    (groups * stages * (m + n) * number("BK") * bytes).max(stored)
                };
                assert_eq!(tile.shared as usize, shared, "{}", kernel.name);
            }
        }
        let any = Prebuilt::find("matmul_f32_any").unwrap();
        let number = |name| any.constant(name);
        let tile = &ANY[0];
        assert_eq!([number("BM"), number("BN"), number("BK")], [Some(tile.m), Some(tile.n), Some(tile.k)]);
        assert_eq!(tile.shared, 0);
    }
}
