//! When it runs: nodes, scheduling into programs, plans and their cache.
