//! Tells the crate what the Python that it is built for has: `Py_GIL_DISABLED` where there is no interpreter's lock.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    pyo3_build_config::use_pyo3_cfgs();
}
