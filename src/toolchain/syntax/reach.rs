//! Whether a text can make a compiler read files from outside of the project.
//!
//! A compiler quotes what it reads, and a device never ends. Before a person has approved a text it
//! is compiled only when all its includes are plain and stay inside. Errs on the side of no.

use std::path::{Component, Path};

use super::{HEADERS, NewText, has_ending};

/// Whether a file names nothing beyond the project and its include folders. What no compiler reads
/// does.
pub(super) fn stays_inside(file: &NewText) -> bool {
    if ![super::C, super::CXX, HEADERS].into_iter().any(|endings| has_ending(&file.path, endings)) {
        return true;
    }
    let Ok(text) = std::str::from_utf8(&file.content) else { return false };
    let folder = Path::new(file.path.as_str()).parent().unwrap_or(Path::new(""));
    // A trigraph, which strict dialects read as a backslash.
    if text.contains("??/") {
        return false;
    }
    let text = spliced(text);
    // Comments are not told from code: where they end a directive may begin.
    text.lines()
        .flat_map(|line| std::iter::once(line).chain(line.split("*/").skip(1)))
        .all(|line| is_fine(line.trim_start(), folder))
}

/// Lines that end with a backslash are one with the next, also with blanks after it.
fn spliced(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.trim_end().strip_suffix('\\') {
            Some(begun) if line.ends_with('\n') => joined.push_str(begun),
            _ => joined.push_str(line),
        }
    }
    joined
}

/// Whether a line is no directive that reads files, or one that stays inside.
fn is_fine(line: &str, folder: &Path) -> bool {
    let Some(rest) = ["#", "%:", "??="].iter().find_map(|mark| line.strip_prefix(mark)) else {
        return true;
    };
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(rest.len());
    let (name, operand) = rest.split_at(end);
    match name {
        // A comment may hide the name.
        "" => !rest.starts_with(['/', '\\']),
        "include" | "include_next" | "import" | "embed" => {
            let operand = operand.trim_start();
            let close = match operand.chars().next() {
                Some('"') => '"',
                Some('<') => '>',
                _ => return false,
            };
            let target = operand.get(1..).and_then(|rest| rest.split(close).next());
            target.is_some_and(|target| is_inside(folder, target))
        }
        _ => !operand.starts_with(['/', '\\']) || !"include".starts_with(name),
    }
}

fn is_inside(folder: &Path, target: &str) -> bool {
    let mut depth = folder.components().count();
    for part in Path::new(target).components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ProjectPath;

    fn stays(path: &str, text: &str) -> bool {
        let path = ProjectPath::new(path).unwrap();
        stays_inside(&NewText { path, content: text.as_bytes().to_vec() })
    }

    #[test]
    fn what_firmware_includes_stays_inside() {
        for text in [
            "#include <stdio.h>\n#include \"driver/i2c_master.h\"\n",
            "#include \"../include/bus.h\"\n  # include \"./a.h\"\n",
            "#define A(x) #x\n#if A /* why */\n#endif // \"/etc/passwd\"\n# 3 \"a.c\"\n",
            "/* #include is /etc */\nint a; /* b */ #pragma once\n",
            "#include_next <stdlib.h>\n#\n",
        ] {
            assert!(stays("main/src/a.c", text), "{text}");
        }
        assert!(stays("README.md", "#include \"/etc/passwd\""), "no compiler reads it");
    }

    #[test]
    fn what_leads_out_or_hides_where_it_leads_does_not() {
        for text in [
            "#include \"/etc/passwd\"",
            "#include </dev/zero>",
            "  #  include \"../../../x\"",
            "#include \"a/../../../../x\"",
            "#define F \"/etc/passwd\"\n#include F",
            "#include /* x */ \"/etc/passwd\"",
            "#/**/include \"/etc/passwd\"",
            "# /*\n*/ include \"/etc/passwd\"",
            "#incl\\\nude \"/etc/passwd\"",
            "#incl\\  \nude \"/etc/passwd\"",
            "#inc/**/lude \"/etc/passwd\"",
            "%:include \"/etc/passwd\"",
            "??=include \"/etc/passwd\"",
            "#incl??/\nude \"/etc/passwd\"",
            "/* a */ #include \"/etc/passwd\"",
            "/* a\n b */ #include \"/etc/passwd\"",
            "R\"(/*)\"\n#include \"/etc/passwd\"\n// */",
            "#embed \"/etc/passwd\"",
            "#import \"/etc/passwd\"",
            "#include_next \"/etc/passwd\"",
            "\u{b}#include \"/etc/passwd\"",
        ] {
            assert!(!stays("main/src/a.c", text), "{text}");
        }
        let binary = NewText { path: ProjectPath::new("a.c").unwrap(), content: vec![0xff, 0xfe] };
        assert!(!stays_inside(&binary));
    }
}
