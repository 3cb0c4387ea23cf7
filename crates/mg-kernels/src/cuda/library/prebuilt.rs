//! The kernels in `kernels/ptx`, in the order of their names. Written by `cargo xtask ptx`.

use super::Prebuilt;

macro_rules! prebuilt {
    ($($name:literal)*) => {
        &[$(Prebuilt {
            name: $name,
            ptx: include_str!(concat!("../../../../../kernels/ptx/", $name, ".ptx")),
        }),*]
    };
}

/// Every prebuilt kernel.
pub static KERNELS: &[Prebuilt] = prebuilt! {
    "copy_b128"
    "copy_b16"
    "copy_b32"
    "copy_b64"
    "copy_b8"
    "fill_b16"
    "fill_b32"
    "fill_b64"
    "fill_b8"
    "gather_b128"
    "gather_b16"
    "gather_b32"
    "gather_b64"
    "gather_b8"
    "matmul_bf16_any"
    "matmul_bool_any"
    "matmul_f16_any"
    "matmul_f32_128x128_any"
    "matmul_f32_128x128_kk"
    "matmul_f32_128x128_kn"
    "matmul_f32_128x128_mk"
    "matmul_f32_128x128_mn"
    "matmul_f32_any"
    "matmul_f64_any"
    "matmul_i32_any"
    "matmul_i64_any"
    "matmul_u8_any"
    "scatter_rows_bf16"
    "scatter_rows_f16"
    "scatter_rows_f32"
    "scatter_rows_f64"
    "scatter_rows_i32"
    "scatter_rows_i64"
    "scatter_rows_u8"
    "scatter_scan_bf16"
    "scatter_scan_f16"
    "scatter_scan_f32"
    "scatter_scan_f64"
    "scatter_scan_i32"
    "scatter_scan_i64"
    "scatter_scan_u8"
    "scatter_segments_bf16"
    "scatter_segments_f16"
    "scatter_segments_f32"
    "scatter_segments_f64"
    "scatter_segments_i32"
    "scatter_segments_i64"
    "scatter_segments_u8"
    "sort_count"
    "sort_keys"
    "sort_move"
    "sort_offsets"
    "transpose_b16"
    "transpose_b16_v"
    "transpose_b32"
    "transpose_b32_v"
    "transpose_b64"
    "transpose_b64_v"
    "transpose_b8"
};
