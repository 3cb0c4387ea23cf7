//! As much of a multiprocessor of capability 9.0 as the kernels' layouts rest on: shared memory and its swizzle, boxes that the copy engine brings
//! and takes, matrices as an instruction is told of them, and which thread has what of a product. Nothing is timed and nothing waits.
//!
//! What each part does is NVIDIA's "PTX ISA", sections "Asynchronous warpgroup-level matrix instructions" and "Tensor swizzling modes".

use mg_device::cuda::TensorMap;

/// A block's shared memory. An element is at the address of its first byte; what nobody wrote is nothing, and reading it fails.
pub struct Shared(Vec<Option<f32>>);

impl Shared {
    pub fn new(bytes: usize) -> Shared {
        Shared(vec![None; bytes])
    }

    pub fn read(&self, at: usize) -> f32 {
        self.0[at].unwrap_or_else(|| panic!("nothing was written at {at}"))
    }

    pub fn write(&mut self, at: usize, x: f32) {
        self.0[at] = Some(x);
    }
}

/// How chunks of 16 bytes change places within lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swizzle {
    None,
    /// Eight lines of 128 bytes: the chunk's number, by an exclusive or with the line's.
    Lines128,
    /// Eight lines of 64 bytes: with half the line's number.
    Lines64,
}

impl Swizzle {
    /// Where the byte goes that would be at this address. It is bits of the address itself that are exchanged, so the pattern is the same for the copy
    /// engine, for products and for threads, as long as tiles begin at multiples of 1024.
    pub fn of(self, at: usize) -> usize {
        match self {
            Swizzle::None => at,
            Swizzle::Lines128 => at ^ (((at >> 7) & 7) << 4),
            Swizzle::Lines64 => at ^ (((at >> 7) & 3) << 4),
        }
    }
}

/// A tensor in global memory: its elements, lying as a map says.
pub struct Tensor<'a> {
    pub map: &'a TensorMap,
    pub elements: &'a mut [f32],
}

impl Tensor<'_> {
    /// Calls `each` with every element of the box at these coordinates: where it is in the box (as bytes of lines of 128 one after the other), and where in
    /// the tensor, or nowhere.
    fn walk(&self, at: [usize; 3], mut each: impl FnMut(usize, Option<usize>)) {
        let TensorMap { elements, sizes, strides, boxes } = self.map;
        let size = elements.size();
        let steps = [1, strides[0] as usize / size, strides[1] as usize / size];
        let mut line = 0;
        for z in 0..boxes[2] as usize {
            for y in 0..boxes[1] as usize {
                for x in 0..boxes[0] as usize {
                    let place = [at[0] + x, at[1] + y, at[2] + z];
                    let is_inside = place.iter().zip(sizes).all(|(&place, &size)| place < size as usize);
                    let from = place.iter().zip(steps).map(|(place, step)| place * step).sum();
                    each(line * 128 + x * size, is_inside.then_some(from));
                }
                line += 1;
            }
        }
    }

    /// The copy engine brings a box to shared memory; what lies outside of the tensor is zero.
    pub fn bring(&self, shared: &mut Shared, to: usize, at: [usize; 3]) {
        self.walk(at, |byte, from| {
            shared.write(Swizzle::Lines128.of(to + byte), from.map_or(0.0, |from| self.elements[from]));
        });
    }

    /// The copy engine takes a box from shared memory to the tensor, but for what lies outside.
    pub fn take(&mut self, shared: &Shared, from: usize, at: [usize; 3]) {
        let mut moved = vec![];
        self.walk(at, |byte, to| moved.extend(to.map(|to| (to, Swizzle::Lines128.of(from + byte)))));
        for (to, from) in moved {
            self.elements[to] = shared.read(from);
        }
    }
}

/// A matrix in shared memory as an instruction reads it of its description, a word of 64 bits.
#[derive(Clone, Copy)]
pub struct Matrix {
    pub description: u64,
    /// Whether lines run along k.
    pub lines_k: bool,
    /// Bytes of an element.
    pub size: usize,
}

impl Matrix {
    fn bits(self, from: u32, count: u32) -> usize {
        (self.description >> from) as usize & ((1 << count) - 1)
    }

    /// Where an element is: `row` is along m of the first operand, n of the second.
    pub fn address(self, row: usize, k: usize) -> usize {
        // In units of 16 bytes.
        let [start, leading, stride] = [0, 16, 32].map(|from| self.bits(from, 14) * 16);
        let (swizzle, line) = match self.bits(62, 2) {
            0 => (Swizzle::None, 16),
            1 => (Swizzle::Lines128, 128),
            2 => (Swizzle::Lines64, 64),
            other => panic!("no swizzle of this project: {other}"),
        };
        let at = if self.lines_k {
            // Eight rows are a group, `stride` apart; a line goes on along k as far as the instruction asks.
            let byte = k * self.size;
            row / 8 * stride + row % 8 * line + byte / line * leading + byte % line
        } else {
            // Lines along rows: as many as fit one, the next of these `leading` apart; eight lines of k are a group.
            let each = line / self.size;
            row / each * leading + k / 8 * stride + k % 8 * line + row % each * self.size
        };
        swizzle.of(start + at)
    }

    pub fn element(self, shared: &Shared, row: usize, k: usize) -> f32 {
        shared.read(self.address(row, k))
    }
}

/// Threads of a group of four warps.
pub const THREADS: usize = 128;

/// Sums of a product of 64 rows and so many columns, as the threads have them.
pub struct Sums {
    pub of_threads: Vec<Vec<f32>>,
    pub columns: usize,
}

impl Sums {
    pub fn new(columns: usize) -> Sums {
        Sums { of_threads: vec![vec![0.0; columns / 2]; THREADS], columns }
    }

    /// Row and column of a thread's sum.
    pub fn place(thread: usize, i: usize) -> [usize; 2] {
        let (warp, lane) = (thread / 32, thread % 32);
        [16 * warp + lane / 4 + i % 4 / 2 * 8, i / 4 * 8 + 2 * (lane % 4) + i % 2]
    }

    /// One instruction: adds the product of 64 rows of `a` and rows of `b`, over as much of k as 32 bytes have.
    pub fn multiply(
        &mut self,
        depth: usize,
        a: impl Fn(usize, usize) -> f32,
        b: impl Fn(usize, usize) -> f32,
    ) {
        for (thread, sums) in self.of_threads.iter_mut().enumerate() {
            for (i, sum) in sums.iter_mut().enumerate() {
                let [row, column] = Sums::place(thread, i);
                for k in 0..depth {
                    *sum += a(row, k) * b(column, k);
                }
            }
        }
    }
}

/// A first operand in registers: of each thread four words, of two neighbours of 16 bits. Which thread, word and half has an element of the 64 rows
/// and 16 of k.
pub fn held(row: usize, k: usize) -> [usize; 3] {
    let thread = row / 16 * 32 + row % 8 * 4 + k % 8 / 2;
    [thread, k / 8 * 2 + row % 16 / 8, k % 2]
}

/// The same of tf32: one number a word, and 8 of k.
pub fn held_alone(row: usize, k: usize) -> [usize; 2] {
    [row / 16 * 32 + row % 8 * 4 + k % 4, k / 4 * 2 + row % 16 / 8]
}

/// `stmatrix`: four fragments of eight rows and eight elements of 16 bits. Lane l says where row l % 8 of fragment l / 8 goes, and has of each fragment
/// two neighbours of row l / 4.
pub fn stmatrix(shared: &mut Shared, to: impl Fn(usize) -> usize, words: impl Fn(usize, usize) -> [f32; 2]) {
    for fragment in 0..4 {
        for lane in 0..32 {
            let line = to(fragment * 8 + lane / 4);
            for (i, x) in words(lane, fragment).into_iter().enumerate() {
                shared.write(line + (lane % 4 * 2 + i) * 2, x);
            }
        }
    }
}
