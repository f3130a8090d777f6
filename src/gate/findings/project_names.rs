//! What a project declares besides the framework: its own names, those of downloaded components,
//! and those of texts that are proposed.
//!
//! Reads the project; must not judge.

use std::collections::BTreeSet;

use super::Subject;
use super::declared_uses::{UseKind, declared_in};
use crate::knowledge::{COMPONENT, HEADER};
use crate::model::ProjectPath;
use crate::workspace::{ManagedComponents, Sources};

/// Names that are asked for, and which of them the project declares.
pub(super) struct ProjectNames {
    /// What the framework does not know and the project does.
    pub(super) known: BTreeSet<String>,
    /// Components come from elsewhere that are not there: anything could be declared by them.
    pub(super) is_open: bool,
}

/// Looks the names up in the project as it will be.
pub(super) fn look_up(
    path: &ProjectPath,
    subject: &Subject<'_>,
    wanted: &BTreeSet<(UseKind, String)>,
) -> ProjectNames {
    let mut names = ProjectNames { known: BTreeSet::new(), is_open: false };
    let components = ManagedComponents::of(subject.project_dir);
    let managed = components.names();
    for component in &managed {
        let short = component.rsplit("__").next().unwrap_or(component);
        names.known.insert(format!("{COMPONENT}{short}"));
        names.known.insert(format!("{COMPONENT}{component}"));
    }
    let proposed = &subject.context.proposed;
    let own_text = subject.text().map(|text| (path.clone(), text.to_owned()));
    let others = proposed.texts().filter(|(other, _)| *other != path);
    let others = others.map(|(path, text)| (path.clone(), text.to_owned()));
    let on_disk = Sources::of(subject.project_dir)
        .texts()
        .filter(|(other, _)| other != path && !proposed.has(other));
    for (file, text) in own_text.into_iter().chain(others).chain(on_disk) {
        names.read((&file, &text), path, wanted);
        names.is_open |= is_open(file.as_str(), &text, &managed);
    }
    for file in components.files() {
        if wanted.iter().all(|(_, name)| names.known.contains(name)) {
            break;
        }
        names.take_words(&file.path, &file.text, wanted);
    }
    names
}

impl ProjectNames {
    fn read(
        &mut self,
        (file, text): (&ProjectPath, &str),
        own: &ProjectPath,
        wanted: &BTreeSet<(UseKind, String)>,
    ) {
        let name = file.file_name();
        let is_header = matches!(file.extension(), Some("h" | "hpp" | "hh" | "hxx"));
        let is_own = file == own;
        if !is_own && is_header || name.starts_with("Kconfig") {
            self.take_words(file.as_str(), text, wanted);
        }
        if name == "CMakeLists.txt"
            && let Some(folder) =
                file.parent().and_then(|folder| folder.rsplit('/').next().map(str::to_owned))
        {
            self.known.insert(format!("{COMPONENT}{folder}"));
        }
        let is_symbol = |kind: &UseKind| matches!(kind, UseKind::Symbol | UseKind::Option);
        let is_used =
            |(kind, name): &&(UseKind, String)| is_symbol(kind) && text.contains(name.as_str());
        let is_code = is_header || matches!(file.extension(), Some("c" | "cpp" | "cc" | "cxx"));
        if is_code && wanted.iter().any(|wanted| is_used(&wanted)) {
            let declared = declared_in(text);
            let names = wanted.iter().filter(is_used).map(|(_, name)| name);
            self.known.extend(names.filter(|name| declared.contains(*name)).cloned());
        }
    }

    /// Every word of a header counts, and every option of a list; and the header itself.
    fn take_words(&mut self, path: &str, text: &str, wanted: &BTreeSet<(UseKind, String)>) {
        let is_list = path.rsplit('/').next().is_some_and(|name| name.starts_with("Kconfig"));
        for (kind, name) in wanted {
            let is_here = match kind {
                UseKind::Header => {
                    let header = name.strip_prefix(HEADER).unwrap_or(name);
                    let header = header.trim_start_matches("../");
                    path == header || path.ends_with(&format!("/{header}"))
                }
                UseKind::Option if is_list => {
                    has_word(text, name.strip_prefix("CONFIG_").unwrap_or(name))
                }
                UseKind::Symbol | UseKind::Option => has_word(text, name),
                UseKind::Component => false,
            };
            if is_here {
                self.known.insert(name.clone());
            }
        }
    }
}

/// Whether a text holds a name as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    memchr::memmem::find_iter(text.as_bytes(), name).any(|at| {
        let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
        !is_part(before) && !is_part(text.as_bytes().get(at + name.len()))
    })
}

/// Whether a file of the build takes in components that are not in the project.
fn is_open(path: &str, text: &str, managed: &[String]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name == "CMakeLists.txt" {
        let brings = [
            "EXTRA_COMPONENT_DIRS",
            "FetchContent",
            "add_subdirectory",
            "ExternalProject",
            "ulp_embed_binary",
        ];
        return text.lines().map(|line| line.split('#').next().unwrap_or_default()).any(|line| {
            brings.iter().any(|word| line.contains(word))
                && !line.contains("IDF_PATH}/examples/common_components")
        });
    }
    name == "idf_component.yml"
        && dependencies(text).any(|(name, is_near)| {
            let folder = name.replace('/', "__");
            let is_there = |have: &String| {
                *have == folder || have.rsplit("__").next() == Some(folder.as_str())
            };
            !is_near && name != "idf" && !managed.iter().any(is_there)
        })
}

/// The dependencies of a manifest, each with whether it lies among the framework's own.
fn dependencies(text: &str) -> impl Iterator<Item = (String, bool)> {
    let mut found: Vec<(String, bool)> = Vec::new();
    let (mut inside, mut least) = (false, usize::MAX);
    for line in text.lines() {
        let code = line.split('#').next().unwrap_or_default();
        let trimmed = code.trim();
        if trimmed.is_empty() {
            continue;
        }
        let indent = code.len() - code.trim_start().len();
        if indent == 0 {
            (inside, least) = (trimmed.starts_with("dependencies:"), usize::MAX);
        } else if inside {
            least = least.min(indent);
            if indent == least {
                let name = trimmed.split(':').next().unwrap_or_default();
                found.push((name.trim_matches(['"', '\'']).to_owned(), false));
            } else if trimmed.contains("IDF_PATH}/examples/common_components/")
                && let Some((_, is_near)) = found.last_mut()
            {
                *is_near = true;
            }
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_downloaded_leaves_names_open() {
        let manifest = "dependencies:\n  idf: \">=5\"\n  espressif/led_strip: \"^2\"\n  common:\n    \
                        path: ${IDF_PATH}/examples/common_components/x\n";
        assert!(is_open("main/idf_component.yml", manifest, &[]));
        assert!(!is_open("main/idf_component.yml", manifest, &["espressif__led_strip".into()]));
        assert!(is_open("CMakeLists.txt", "set(EXTRA_COMPONENT_DIRS ../x)\n", &[]));
        assert!(!is_open("CMakeLists.txt", "# EXTRA_COMPONENT_DIRS\nproject(x)\n", &[]));
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("a foo_bar(b)", "foo_bar") && !has_word("a foo_bars(b)", "foo_bar"));
    }
}
