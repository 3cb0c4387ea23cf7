//! What runs: the op table, programs and their executors, library kernels.
