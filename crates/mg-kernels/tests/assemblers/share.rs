//! Shares of what has a hash; `cargo xtask ptx` draws them too.

/// Whether what has this hash, in hexadecimal digits, is in a share: the fourth of eight is "3/8". Nothing is in what is no share.
pub fn has(share: &str, hash: &str) -> bool {
    let Some((part, of)) = share.split_once('/') else { return false };
    let (Ok(part), Ok(of)) = (part.parse::<u32>(), of.parse::<u32>()) else { return false };
    u32::from_str_radix(&hash[..4], 16).is_ok_and(|number| number % of == part)
}

#[test]
fn shares_are_all_together() {
    for hash in ["00ff", "0100", "beef", "fff8"] {
        assert_eq!((0..8).filter(|part| has(&format!("{part}/8"), hash)).count(), 1);
        assert!(has("0/1", hash) && !has("", hash));
    }
}
