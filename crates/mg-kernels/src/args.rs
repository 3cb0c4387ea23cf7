//! What a launch of a program is given, on any device.

/// An operand of a launch.
#[derive(Clone, Copy, Debug)]
pub struct InputArg {
    /// The element at offset 0 of the operand's walk (buffers).
    pub ptr: *const u8,
    /// What is added to offsets (ramps and random numbers).
    pub base: u64,
    /// The seed (random numbers).
    pub seed: u64,
}

/// What a launch is given.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    /// The operands, in the program's order.
    pub inputs: &'a [InputArg],
    /// The scalar arguments, as the bits of their dtypes' cells.
    pub consts: &'a [u64],
    /// Where the outputs go, in the program's order.
    pub outputs: &'a [*mut u8],
}

// SAFETY: who runs a program vouches that every address may be used for the launch, from any thread; tasks
// write disjoint ranges.
unsafe impl Sync for Args<'_> {}
// SAFETY: as above.
unsafe impl Send for Args<'_> {}
