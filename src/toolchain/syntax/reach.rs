//! Whether a text can make a compiler read files from outside of the project.
//!
//! A compiler quotes what it reads, and a device never ends. Before a person has approved a text it
//! is compiled only when all its includes are plain and stay inside. Errs on the side of no.

use std::path::{Path, PathBuf};

use super::job::{HEADERS, NewText, has_ending};
use super::probes::{Quote, asks_inside, quoted};
use crate::toolchain::paths::inside;

/// What a text may name.
pub(super) struct IncludeScope<'a> {
    /// Absolute path of the project.
    pub(super) project: &'a Path,
    /// The files that are looked at together.
    pub(super) batch: &'a [NewText],
    /// Folders of the project that headers are searched in, absolute.
    pub(super) folders: &'a [PathBuf],
}

impl IncludeScope<'_> {
    /// Whether a file names nothing beyond the project and its include folders. What no compiler
    /// reads does.
    pub(super) fn holds(&self, file: &NewText) -> bool {
        let read = [super::C, super::CXX, HEADERS];
        if !read.into_iter().any(|endings| has_ending(&file.path, endings)) {
            return true;
        }
        let Ok(text) = std::str::from_utf8(&file.content) else { return false };
        let folder = Path::new(file.path.as_str()).parent().unwrap_or(Path::new(""));
        // A trigraph, which strict dialects read as a backslash.
        if text.contains("??/") {
            return false;
        }
        let text = spliced(text);
        let is_inside = |quote, target: &str| self.is_inside(folder, quote, target);
        // Comments are not told from code: where they end a directive may begin.
        text.lines()
            .flat_map(|line| std::iter::once(line).chain(line.split("*/").skip(1)))
            .all(|line| is_fine(line.trim_start(), &is_inside))
            && asks_inside(&text, &is_inside)
    }

    /// Whether the name of a file, in a text that lies in `folder`, leads to nothing outside.
    fn is_inside(&self, folder: &Path, quote: Quote, target: &str) -> bool {
        let Some(path) = inside(folder, target) else { return false };
        if target.split('/').any(|part| part == "..") {
            // From each folder of headers it would lead elsewhere: only what is found at once.
            return quote == Quote::Double && (self.is_proposed(&path) || self.is_there(&path));
        }
        let places = self.folders.iter().map(|folder| folder.join(target));
        places.chain([self.project.join(&path)]).all(|place| self.is_within(&place))
    }

    fn is_proposed(&self, path: &Path) -> bool {
        self.batch.iter().any(|file| Path::new(file.path.as_str()) == path)
    }

    fn is_there(&self, path: &Path) -> bool {
        let place = self.project.join(path);
        place.is_file() && self.is_within(&place)
    }

    /// Whether what is there, if anything is, lies in the project, links followed.
    fn is_within(&self, place: &Path) -> bool {
        let Ok(project) = self.project.canonicalize() else { return true };
        // Of what is not there the nearest folder tells: the answer must not depend on the rest.
        for place in place.ancestors() {
            match place.canonicalize() {
                Ok(real) => return real.starts_with(&project),
                Err(_) if place.symlink_metadata().is_ok_and(|found| found.is_symlink()) => {
                    return false;
                }
                Err(_) => {}
            }
        }
        true
    }
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
fn is_fine(line: &str, is_inside: &dyn Fn(Quote, &str) -> bool) -> bool {
    let Some(rest) = ["#", "%:", "??="].iter().find_map(|mark| line.strip_prefix(mark)) else {
        return is_fine_import(line, is_inside);
    };
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(rest.len());
    let (name, operand) = rest.split_at(end);
    match name {
        // The number of a line with the name of its file, which errors quote. A comment may hide
        // the name of a directive.
        "" | "line" => !rest.starts_with(['/', '\\']) && is_own_place(operand),
        "include" | "include_next" | "import" | "embed" => {
            let Some((quote, target, _)) = quoted(operand.trim_start()) else { return false };
            let is_plain = name == "include" || !target.contains("..");
            is_plain && is_inside(quote, target)
        }
        _ => !operand.starts_with(['/', '\\']) || !"include".starts_with(name),
    }
}

/// Whether no header unit of C++ is imported from elsewhere.
fn is_fine_import(line: &str, is_inside: &dyn Fn(Quote, &str) -> bool) -> bool {
    let line = line.strip_prefix("export").map_or(line, str::trim_start);
    let Some(operand) = line.strip_prefix("import") else { return true };
    match quoted(operand.trim_start()) {
        Some((quote, target, _)) => !target.contains("..") && is_inside(quote, target),
        None => true,
    }
}

/// Whether the name behind the number of a line, if there is one, could be a file of the project.
fn is_own_place(operand: &str) -> bool {
    operand.split_once('"').is_none_or(|(_, name)| !name.starts_with('/') && !name.contains(".."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ProjectPath;

    fn new(path: &str, text: &[u8]) -> NewText {
        NewText { path: ProjectPath::new(path).unwrap(), content: text.to_vec() }
    }

    fn stays(path: &str, text: &str) -> bool {
        let batch = [new("main/include/bus.h", b""), new(path, text.as_bytes())];
        let project = Path::new("/no/such/project");
        IncludeScope { project, batch: &batch, folders: &[] }.holds(&batch[1])
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
            // Behind the folders of the system's headers that would be outside.
            "#include \"../../etc/passwd\"",
            "#include <../include/bus.h>",
            "#include_next \"../include/bus.h\"",
            "#include \"../include/gone.h\"",
            "#line 1 \"/etc/passwd\"",
            "# 1 \"/etc/passwd\"",
            "import \"/etc/passwd\";",
            "export import </etc/passwd>;",
            "#if __has_include(\"/etc/passwd\")\n#error there\n#endif",
            "#if __has_inc\\\nlude(\"/etc/passwd\")\n#error there\n#endif",
        ] {
            assert!(!stays("main/src/a.c", text), "{text}");
        }
        let binary = [new("a.c", &[0xff, 0xfe])];
        let reach = IncludeScope { project: Path::new("/none"), batch: &binary, folders: &[] };
        assert!(!reach.holds(&binary[0]));
    }

    #[test]
    fn links_of_the_project_do_not_lead_out() {
        let (place, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let project = place.path();
        std::fs::create_dir_all(project.join("main/include")).unwrap();
        std::fs::write(project.join("main/real.h"), "").unwrap();
        std::fs::write(outside.path().join("secret"), "").unwrap();
        let link = |to: &Path, from| std::os::unix::fs::symlink(to, from).unwrap();
        link(&outside.path().join("secret"), project.join("main/far.h"));
        link(outside.path(), project.join("main/include/far"));
        link(Path::new("real.h"), project.join("main/near.h"));
        let folders = [project.join("main/include")];
        let holds = |text: &str| {
            let batch = [new("main/src/a.c", b""), new("main/a.c", text.as_bytes())];
            IncludeScope { project, batch: &batch, folders: &folders }.holds(&batch[1])
        };
        assert!(holds("#include \"near.h\"\n#include <stdio.h>\n#include \"src/../real.h\"\n"));
        link(Path::new("/no/such/folder"), project.join("main/gone"));
        // Whether it is there must not show in whether there is an answer.
        for text in ["\"far.h\"", "<far/secret>", "\"far/none\"", "\"include/far/no\"", "<gone/x>"]
        {
            assert!(!holds(&format!("#include {text}\n")), "{text}");
            assert!(!holds(&format!("#if __has_include({text})\n#endif\n")), "{text}");
        }
    }
}
