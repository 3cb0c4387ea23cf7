//! The list of prebuilt kernels, `kernels/variants.txt`.

use crate::Result;

/// One kernel to build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// The source, in the folder of the list.
    pub source: String,
    /// The lowest architecture: "80".
    pub architecture: String,
    /// The kernel's name.
    pub name: String,
    /// What is defined: "V_BM=128".
    pub defines: Vec<String>,
}

impl Variant {
    /// At which level the driver assembles it, where that is not its own.
    pub fn level(&self) -> Option<&str> {
        self.defines.iter().find_map(|define| define.strip_prefix("V_LEVEL="))
    }
}

/// Every kernel of the list, in the order of their names.
pub fn parse(list: &str) -> Result<Vec<Variant>> {
    let mut variants = Vec::new();
    for line in list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        for line in expand(line)? {
            let mut words = line.split_whitespace().map(str::to_owned);
            let (Some(source), Some(architecture), Some(name)) = (words.next(), words.next(), words.next())
            else {
                return Err(format!("not a kernel: '{line}'"));
            };
            let defines = words.flat_map(|word| form(&word)).collect();
            variants.push(Variant { source, architecture, name, defines });
        }
    }
    variants.sort_by(|a, b| a.name.cmp(&b.name));
    match variants.windows(2).find(|pair| pair[0].name == pair[1].name) {
        Some(pair) => Err(format!("two kernels are named {}", pair[0].name)),
        None => Ok(variants),
    }
}

/// "V_FORM=kn" as what it stands for, other words as they are.
fn form(word: &str) -> Vec<String> {
    let Some(form) = word.strip_prefix("V_FORM=") else { return vec![word.to_owned()] };
    let (a, b) = if form == "any" { ("x", "x") } else { form.split_at(1) };
    vec![
        format!("V_A_K={}", a != "m"),
        format!("V_B_K={}", b == "k"),
        format!("V_A_ANY={}", a == "x"),
        format!("V_B_ANY={}", b == "x"),
    ]
}

/// The line once for each way to choose from its groups; groups of one mark choose together.
fn expand(line: &str) -> Result<Vec<String>> {
    let Some(start) = line.find('{') else { return Ok(vec![line.to_owned()]) };
    let bad = || format!("not a group of alternatives, {{1:a|b}}: '{line}'");
    let mark: String = line[start + 1..].split_once(':').ok_or_else(bad)?.0.to_owned();
    let opening = format!("{{{mark}:");
    let alternatives = line[start + opening.len()..].split_once('}').ok_or_else(bad)?.0.split('|').count();
    let mut lines = Vec::new();
    for turn in 0..alternatives {
        let mut text = String::new();
        let mut rest = line;
        while let Some((before, group)) = rest.split_once(&opening) {
            let (group, after) = group.split_once('}').ok_or_else(bad)?;
            if group.split('|').count() != alternatives {
                return Err(format!("groups {mark} have different numbers of alternatives: '{line}'"));
            }
            text.push_str(before);
            text.push_str(group.split('|').nth(turn).ok_or_else(bad)?);
            rest = after;
        }
        text.push_str(rest);
        lines.extend(expand(&text)?);
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_one_mark_take_turns_together() {
        let lines = expand("a_{1:x|y}_{2:p|q} {1:1|2}").unwrap();
        assert_eq!(lines, ["a_x_p 1", "a_x_q 1", "a_y_p 2", "a_y_q 2"]);
        assert!(expand("{1:a|b} {1:a|b|c}").is_err());
        assert!(expand("{a|b}").is_err());
    }

    #[test]
    fn forms_become_definitions() {
        let variants = parse("# kernels\nm.cu 80 m_{1:mk|any} V_FORM={1:mk|any} V_BM=64").unwrap();
        assert_eq!(variants[0].name, "m_any");
        assert_eq!(
            variants[0].defines,
            ["V_A_K=true", "V_B_K=false", "V_A_ANY=true", "V_B_ANY=true", "V_BM=64"]
        );
        assert_eq!(
            variants[1].defines,
            ["V_A_K=false", "V_B_K=true", "V_A_ANY=false", "V_B_ANY=false", "V_BM=64"]
        );
        assert!(parse("m.cu 80 m\nn.cu 80 m").is_err());
    }
}
