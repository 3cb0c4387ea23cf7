//! Which part of what is known already is made anew: another with each commit, so that in a few of them all is.

#[path = "../../../mg-kernels/tests/assemblers/share.rs"]
mod of_hashes;

pub use of_hashes::has;

use crate::process;
use crate::workspace::Workspace;

/// Parts.
const PARTS: u32 = 8;
/// "1" where all is to be made anew.
const ALL: &str = "MG_ANEW";

/// Whether all is asked for.
pub fn is_all() -> bool {
    std::env::var_os(ALL).is_some_and(|all| all == "1")
}

/// The share of the commit that is checked out, as "3/8"; of none without one.
pub fn of_commit(workspace: &Workspace) -> String {
    if is_all() {
        return "0/1".to_owned();
    }
    let mut head = process::command("git", &workspace.root);
    let commit = process::output(head.args(["rev-parse", "HEAD"])).unwrap_or_default();
    let number = commit.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    number.map_or_else(String::new, |number| format!("{}/{PARTS}", number % PARTS))
}
