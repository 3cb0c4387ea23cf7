//! Which part of what is known already is made anew: another with each commit, so that in a few of them all is.

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

/// Whether what has this hash, in hexadecimal digits, is in a share.
pub fn has(share: &str, hash: &str) -> bool {
    let Some((part, of)) = share.split_once('/') else { return false };
    let (Ok(part), Ok(of)) = (part.parse::<u32>(), of.parse::<u32>()) else { return false };
    u32::from_str_radix(&hash[..4], 16).is_ok_and(|number| number % of == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_all_together() {
        for hash in ["00ff", "0100", "beef", "fff8"] {
            assert_eq!((0..8).filter(|part| has(&format!("{part}/8"), hash)).count(), 1);
            assert!(has("0/1", hash) && !has("", hash));
        }
    }
}
