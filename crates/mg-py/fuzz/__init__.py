"""Random programs, run by micrograd_rs in several modes and by a reference that knows storages and no graphs.

`python -m fuzz --help` (from crates/mg-py) tells how to run it, docs/fuzzing.md how it is built.
"""
