//! Every row of the op table, every reduction and every composition, on every dtype and layout, against values computed
//! one by one on the host; derivatives against central differences. A new row needs one line in `host::reference`, and
//! nothing else here.
#![allow(clippy::type_complexity)] // tables of names and functions

#[path = "../common/mod.rs"]
mod common;
mod composite;
mod derivatives;
mod host;
mod matmul;
mod promotion;
mod reductions;
mod rows;
