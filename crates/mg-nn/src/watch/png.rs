//! Images as PNG files, by the specification of 2003 (ISO/IEC 15948): 8 bits, without a filter.

use std::io::Write as _;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// An image: rows of pixels, one byte for each channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// 1 (grey) or 3 (red, green, blue).
    pub channels: usize,
    /// The bytes.
    pub pixels: Vec<u8>,
}

impl Image {
    /// Of numbers from 0 to 1, channel after channel, as tensors have them. What lies beyond is cut off.
    #[must_use]
    pub fn of_planes(planes: &[f64], channels: usize, height: usize, width: usize) -> Image {
        let byte = |x: f64| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
        let plane = height * width;
        let pixels = (0..plane).flat_map(|at| (0..channels).map(move |c| c * plane + at));
        let pixels = pixels.map(|at| planes.get(at).map_or(0, |&x| byte(x))).collect();
        Image { width, height, channels, pixels }
    }

    /// The file.
    #[must_use]
    pub fn to_png(&self) -> Vec<u8> {
        let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
        let mut head = vec![];
        head.extend((self.width as u32).to_be_bytes());
        head.extend((self.height as u32).to_be_bytes());
        head.extend([8, if self.channels == 1 { 0 } else { 2 }, 0, 0, 0]);
        chunk(&mut out, b"IHDR", &head);
        let mut rows = ZlibEncoder::new(vec![], Compression::default());
        for row in self.pixels.chunks(self.width.max(1) * self.channels) {
            // Writing to memory cannot fail.
            let _ = rows.write_all(&[0]).and_then(|()| rows.write_all(row));
        }
        chunk(&mut out, b"IDAT", &rows.finish().unwrap_or_default());
        chunk(&mut out, b"IEND", &[]);
        out
    }
}

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(data);
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(kind);
    out.extend(data);
    out.extend(crc.sum().to_be_bytes());
}

/// Bytes as text (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let byte = |i: usize| u32::from(part.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= part.len() { char::from(digit) } else { '=' });
        }
    }
    out
}
