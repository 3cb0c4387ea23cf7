//! Everything a contributor repeats, as a command.
fn main() {}
