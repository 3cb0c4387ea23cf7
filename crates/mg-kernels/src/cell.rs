//! Cells: what a value of a dtype is held in between memory and memory, in a tile of the CPU as in a register of the GPU.
//!
//! There are fewer cells than dtypes. What is narrower than its cell is computed in it and brought back to the dtype after
//! each instruction: half types are rounded, integers wrapped. Rows are thus compiled for cells, not for dtypes.

use mg_device::{Category, DType, Element, Width, with_element};

/// What values are held in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    /// IEEE single precision: f32, f16, bf16, and floats of eight bits.
    F32,
    /// IEEE double precision.
    F64,
    /// A signed integer of 32 bits: i32, i16, i8, u16.
    I32,
    /// A signed integer of 64 bits: i64, u32.
    I64,
    /// An unsigned integer of 64 bits.
    U64,
    /// A byte: u8.
    U8,
    /// A truth value: a byte that is 0 or 1 in a tile, a predicate in a register.
    Bool,
}

impl Cell {
    /// The cell of a dtype.
    pub const fn of(dtype: DType) -> Cell {
        match dtype {
            DType::F32 | DType::F16 | DType::BF16 | DType::F8E4M3 | DType::F8E5M2 => Cell::F32,
            DType::F64 => Cell::F64,
            DType::I32 | DType::I16 | DType::I8 | DType::U16 => Cell::I32,
            DType::I64 | DType::U32 => Cell::I64,
            DType::U64 => Cell::U64,
            DType::U8 => Cell::U8,
            DType::Bool => Cell::Bool,
        }
    }

    /// Bytes that a value takes in a tile.
    pub const fn size(self) -> usize {
        match self {
            Cell::F64 | Cell::I64 | Cell::U64 => 8,
            Cell::F32 | Cell::I32 => 4,
            Cell::U8 | Cell::Bool => 1,
        }
    }

    /// Whether a dtype has fewer bits than the cell that it is held in.
    pub const fn is_wider_than(self, dtype: DType) -> bool {
        self.size() > dtype.size()
    }
}

// What moves cells by their size knows of these, and takes what is none of the first two for the last.
const _: () = {
    let mut i = 0;
    while i < DType::ALL.len() {
        assert!(matches!(Cell::of(DType::ALL[i]).size(), 1 | 4 | 8));
        i += 1;
    }
};

/// The bits of a scalar in a cell of `dtype`: half types are held as rounded f32, bool as 0 or 1; integers saturate, NaN is 0.
pub fn cell_bits(value: f64, dtype: DType) -> u64 {
    match dtype.int_range() {
        Some((least, largest)) => int_bits((value as i128).clamp(least, largest), dtype),
        None if dtype.is_bool() => u64::from(value != 0.0),
        None => float_bits(with_element!(dtype, T => T::from_f64(value).to_f64()), dtype),
    }
}

/// The bits of an integer scalar in a cell of `dtype`; exact where [`cell_bits`] would round. Integers wrap.
pub fn cell_bits_of_int(value: i64, dtype: DType) -> u64 {
    match dtype.category() {
        Category::Integer => int_bits(value.into(), dtype),
        Category::Bool => u64::from(value != 0),
        Category::Float => float_bits(with_element!(dtype, T => T::from_i64(value).to_f64()), dtype),
    }
}

/// The bits of a number that the dtype holds.
fn float_bits(value: f64, dtype: DType) -> u64 {
    match Cell::of(dtype) {
        Cell::F64 => value.to_bits(),
        Cell::F32 | Cell::I32 | Cell::I64 | Cell::U64 | Cell::U8 | Cell::Bool => {
            u64::from((value as f32).to_bits())
        }
    }
}

/// The integer, wrapped to the dtype, in as many bits as its cell has.
fn int_bits(value: i128, dtype: DType) -> u64 {
    let unused = 128 - 8 * dtype.size();
    let wrapped = match dtype.is_signed() {
        true => value << unused >> unused,
        false => ((value as u128) << unused >> unused) as i128,
    };
    let spare = 64 - 8 * Cell::of(dtype).size();
    (wrapped as u64) << spare >> spare
}

/// An integer dtype whose sums, differences and products have the same bits, in two's complement: kernels that do nothing
/// else with integers need one of the two. Other dtypes are their own.
pub const fn same_sums(dtype: DType) -> DType {
    if !dtype.is_int() {
        return dtype;
    }
    match dtype.width() {
        Width::W64 => DType::I64,
        Width::W32 => DType::I32,
        Width::W16 => DType::I16,
        Width::W8 => DType::U8,
    }
}

/// Whether the kernels that put elements in order take the dtype. Integers of other dtypes are cast to one of these first.
pub const fn is_compared(dtype: DType) -> bool {
    // Of integers these three have kernels: a new one has none until it stands here.
    dtype.float().is_some() || dtype.is_bool() || matches!(dtype, DType::I64 | DType::I32 | DType::U8)
}

/// Evaluates an expression for the type that stands for a dtype's cell, as `Some`; `None` for a cell that is not listed:
/// `by_cell!(dtype, T => f::<T>(), F32 f32, F64 f64)`.
macro_rules! by_cell {
    ($dtype:expr, $T:ident => $e:expr, $($Cell:ident $Type:ty),+) => {
        match $crate::cell::Cell::of($dtype) {
            $($crate::cell::Cell::$Cell => {
                type $T = $Type;
                Some($e)
            })+
            _ => None,
        }
    };
}
pub(crate) use by_cell;
