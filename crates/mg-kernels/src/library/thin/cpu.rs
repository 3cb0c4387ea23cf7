//! Which weights stay, on the CPU: numbers of many neighbours are computed beside each other.

use super::Thin;
use crate::cpu::library::Shared;
use crate::cpu::loops::{by_isa, isa};
use crate::cpu::pool::parallel;
use crate::library::Operand;
use crate::philox;

/// Columns whose numbers are computed beside each other.
pub(crate) const BESIDE: usize = 8 * philox::BESIDE;
/// Numbers that are worth a task.
const TASK: usize = 1 << 16;

/// The numbers of columns from a multiple of 8 on, of a row of a matrix with these words. Where it is inlined, its loops become vector instructions.
#[inline(always)]
pub(crate) fn numbers(words: [u32; 2], row: usize, column: usize) -> [u16; BESIDE] {
    let eighths = std::array::from_fn(|i| (column / 8 + i) as u32);
    let same = |word: u32| [word; philox::BESIDE];
    let counters = [eighths, same(row as u32), same(words[0]), same(words[1])];
    let blocks = philox::words_beside(counters, [0; 2]);
    let mut numbers = [0u16; BESIDE];
    for i in 0..philox::BESIDE {
        for (j, word) in blocks.iter().enumerate() {
            numbers[8 * i + j] = word[i] as u16;
            numbers[8 * i + 4 + j] = (word[i] >> 16) as u16;
        }
    }
    numbers
}

/// A row of a matrix.
#[derive(Clone, Copy)]
struct Line {
    words: [u32; 2],
    row: usize,
    columns: usize,
    left_out: u32,
    out: *mut u8,
}

#[inline(always)]
unsafe fn written(line: &Line) {
    for column in (0..line.columns).step_by(BESIDE) {
        let numbers = numbers(line.words, line.row, column);
        for (i, &number) in numbers[..BESIDE.min(line.columns - column)].iter().enumerate() {
            // SAFETY: the caller's row has so many elements.
            unsafe { line.out.add(column + i).write(u8::from(u32::from(number) >= line.left_out)) };
        }
    }
}

/// Writes whether weights stay.
///
/// # Safety
///
/// The operand lies densely and is valid for its shape; there is room for the result.
pub(super) unsafe fn thin(thin: &Thin, words: &Operand, out: *mut u8) {
    type Written = unsafe fn(&Line);
    let line: Written = by_isa!(isa(), Written, fn <>(line: &Line) { written(line) }, []);
    let Thin { first, rows, columns, left_out } = *thin;
    let lines = words.layout.shape().numel() / 2 * rows;
    let at = Shared((words.first().cast::<i64>(), out));
    let each = (TASK / columns.max(1)).max(1);
    let task = |task: usize| {
        let (words, out) = at.get();
        for i in task * each..lines.min((task + 1) * each) {
            // SAFETY: this function's contract; tasks write different rows.
            unsafe {
                let words = [0, 1].map(|k| words.add(i / rows * 2 + k).read() as u32);
                line(&Line { words, row: first + i % rows, columns, left_out, out: out.add(i * columns) });
            }
        }
    };
    match lines.div_ceil(each) {
        0 => {}
        1 => task(0),
        tasks => parallel(tasks, &task),
    }
}
