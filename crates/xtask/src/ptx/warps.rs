//! What nvcc takes and a GPU hangs on: a shuffle or a vote of a whole warp, in an expression that some of its lanes do not compute.

/// What all lanes that a mask names have to meet at.
const MEETINGS: [&str; 6] = ["__shfl_", "__ballot_sync", "__any_sync", "__all_sync", "__match_", "__reduce_"];

/// The lines (from 1) of a source where lanes meet behind `&&`, `||` or `?` of the same statement.
pub fn left_out(source: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut branches = false;
    for (number, line) in source.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        for (at, letter) in code.char_indices() {
            let rest = &code[at..];
            match letter {
                ';' | '{' | '}' => branches = false,
                '?' => branches = true,
                '&' | '|' => branches |= rest.starts_with("&&") || rest.starts_with("||"),
                '_' if branches && MEETINGS.iter().any(|name| rest.starts_with(name)) => {
                    found.push(number + 1);
                }
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meetings_behind_conditions_are_found() {
        assert_eq!(
            left_out("u32 same = __ballot_sync(~0u, left && digit == __shfl_sync(~0u, digit, who));"),
            [1]
        );
        assert_eq!(left_out("x = inside\n    ? __shfl_sync(~0u, y, 0) : 0;"), [2]);
        // What stands inside a vote's own argument is each lane's alone.
        assert_eq!(left_out("u32 n = __ballot_sync(~0u, at < high && keys[at] < row);"), [0; 0]);
        assert_eq!(
            left_out("bool a = b && c; // && __shfl_sync\nu32 other = __shfl_sync(~0u, a, 0);"),
            [0; 0]
        );
    }
}
