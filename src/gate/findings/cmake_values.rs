//! What the commands of a CMake list say once its own variables are put in.
//!
//! Follows `set`, `list` and `string` from top to bottom. Must not evaluate conditions.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::text::cmake::{self, CMakeCommand};

/// Longest value that is followed, in bytes.
const LONGEST: usize = 4_096;

/// Longest list that is read, in bytes.
const LONGEST_LIST: usize = 256 * 1024;

/// A command whose arguments hold variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResolvedCommand {
    /// Its line, from 1.
    pub(super) line: u32,
    /// The bytes between its parentheses.
    pub(super) range: Range<usize>,
    /// Its name and arguments with the values of variables, separated by blanks.
    pub(super) text: String,
}

/// Whether a file is a list of CMake.
pub(super) fn is_list(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "CMakeLists.txt" || name.ends_with(".cmake")
}

/// The commands that say something else with the values of their variables.
pub(super) fn resolved(text: &str) -> Vec<ResolvedCommand> {
    if !text.contains("${") || text.len() > LONGEST_LIST {
        return Vec::new();
    }
    let Ok(commands) = cmake::commands(text) else { return Vec::new() };
    let mut variables: HashMap<String, String> = HashMap::new();
    let mut found = Vec::new();
    for command in &commands {
        let plain: Vec<Cow<'_, str>> = command.args.iter().map(|arg| plain(&arg.text)).collect();
        let args: Vec<String> = plain.iter().map(|arg| with_values(arg, &variables)).collect();
        let is_other = plain.iter().zip(&args).any(|(raw, value)| raw != value);
        if is_other && command.args.iter().any(|arg| arg.text.contains("${")) {
            found.push(ResolvedCommand {
                line: u32::try_from(command.line).unwrap_or(u32::MAX),
                range: command.inside.clone(),
                text: format!("{} {}", command.name, args.join(" ").replace(';', " ")),
            });
        }
        assign(command, &args, &mut variables);
    }
    found
}

/// A text with the escapes that matter here as what they stand for.
fn plain(text: &str) -> Cow<'_, str> {
    match text.contains('\\') {
        true => text.replace("\\n", "\n").replace("\\\"", "\"").into(),
        false => text.into(),
    }
}

/// Carries out what gives a variable a value.
fn assign(command: &CMakeCommand, args: &[String], variables: &mut HashMap<String, String>) {
    let words = |from: usize| {
        let values = args.get(from..).unwrap_or_default().iter();
        let values = values.take_while(|value| !matches!(&***value, "CACHE" | "PARENT_SCOPE"));
        values.cloned().collect::<Vec<String>>()
    };
    let verb = args.first().map_or("", String::as_str);
    let (name, value) = match (command.name.as_str(), verb) {
        ("set", _) => (args.first(), words(1).join(";")),
        ("list", "APPEND" | "PREPEND") => {
            let known = args.get(1).and_then(|name| variables.get(name));
            let mut all: Vec<String> = known.cloned().into_iter().collect();
            all.extend(words(2));
            (args.get(1), all.join(";"))
        }
        ("string", "APPEND" | "PREPEND") => {
            let known = args.get(1).and_then(|name| variables.get(name)).cloned();
            let (before, after) = (known.unwrap_or_default(), words(2).concat());
            (args.get(1), if verb == "APPEND" { before + &after } else { after + &before })
        }
        ("string", "CONCAT") => (args.get(1), words(2).concat()),
        ("string", "JOIN") => {
            let glue = args.get(1).map_or("", String::as_str);
            let parts = words(3).join(";");
            (args.get(2), parts.split(';').collect::<Vec<_>>().join(glue))
        }
        ("string", "TOUPPER") => {
            (args.get(2), args.get(1).map(|it| it.to_uppercase()).unwrap_or_default())
        }
        ("string", "TOLOWER") => {
            (args.get(2), args.get(1).map(|it| it.to_lowercase()).unwrap_or_default())
        }
        _ => return,
    };
    if let Some(name) = name.filter(|_| value.len() <= LONGEST) {
        variables.insert(name.clone(), value);
    }
}

/// A text with the values that are known in place of variables, the innermost first.
fn with_values(text: &str, variables: &HashMap<String, String>) -> String {
    let mut out = text.to_owned();
    let mut from = 0;
    while let Some(start) = out.get(from..).and_then(|rest| rest.find("${")).map(|at| from + at) {
        let Some(length) = out.get(start..).and_then(|rest| rest.find('}')) else { break };
        let inner = out.get(start..start + length).and_then(|part| part.rfind("${"));
        let begin = start + inner.unwrap_or(0);
        let name = out.get(begin + 2..start + length).unwrap_or_default();
        match variables.get(name) {
            Some(value) if out.len() + value.len() <= LONGEST => {
                let value = value.clone();
                out.replace_range(begin..=start + length, &value);
                from = start.min(begin);
                if value.contains("${") {
                    from = begin + value.len();
                }
            }
            _ => from = start + length + 1,
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &str) -> Vec<String> {
        resolved(list).into_iter().map(|found| format!("{}: {}", found.line, found.text)).collect()
    }

    #[test]
    fn variables_are_put_in_from_top_to_bottom() {
        let list = "set(a -x)\nlist(APPEND a -y \"-z\")\nuse(${a})\nset(a q)\nuse(\"${a}_${b}\")\n";
        assert_eq!(texts(list), ["3: use -x -y -z", "5: use q_${b}"]);
        let list = "set(x \"-f\" \"no-guard\")\nstring(JOIN \"\" y ${x})\nuse(${y})\n";
        assert_eq!(texts(list), ["2: string JOIN  y -f no-guard", "3: use -fno-guard"]);
        let list = "set(n one)\nset(v_one 1)\nuse(${v_${n}})\nstring(APPEND n _two)\nuse(${n})\n";
        assert_eq!(texts(list), ["3: use 1", "5: use one_two"]);
        let list = "string(TOLOWER A_B x)\nstring(TOUPPER a_b y)\nuse(${x} ${y})\n";
        assert_eq!(texts(list), ["3: use a_b A_B"]);
        assert_eq!(texts("set(a ${a})\nuse(${a}${a})\nuse(${c})\n"), [] as [String; 0]);
        assert_eq!(texts("use(x)\n"), [] as [String; 0]);
        assert_eq!(texts("set(a \"${a\"\n"), [] as [String; 0]);
    }
}
