//! Finds the lines of settings that a finding names without one, and unfinished code.
//!
//! Reads files of the project, nothing else.

use std::path::Path;

use super::unfinished;
use crate::files;
use crate::model::Diagnostic;
use crate::text::pattern::Pattern;

/// How messages name an option.
static OPTION: Pattern = Pattern::new(
    r"(?:unknown kconfig symbol '| is invalid for |symbol |^)([A-Z][A-Z0-9_]+)(?:'| \(defined at| has user-set)",
);

/// The files with values, those that a person writes first.
fn files_of(project: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(project)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with("sdkconfig.defaults"))
        .collect();
    names.sort();
    names.push("sdkconfig".to_owned());
    names
}

/// Corrects the places of findings by what the files of `project` say: adds the line of settings to
/// those that name an option and no line of them, and moves errors in headers from elsewhere to the
/// code before them that has no end.
pub fn locate(project: &Path, found: &mut Vec<Diagnostic>) {
    unfinished::blame(project, found);
    for one in found {
        if one.message.starts_with("Project sdkconfig '") {
            one.line = line_of(project, "sdkconfig", "IDF_TARGET");
        } else if let (Some(file), Some(name)) = (&one.file, partition(&one.message)) {
            let is_it = |line: &str| line.split(',').next().is_some_and(|it| it.trim() == name);
            one.line = one.line.or_else(|| line_with(project, file, is_it));
        } else if one.file.is_none() && one.message.starts_with("Manifest is not valid: ") {
            if let Some((file, line)) = manifest(project, &one.message) {
                (one.file, one.line) = (Some(file), line);
            }
        } else if let Some((file, line)) = place_of(project, one) {
            (one.file, one.line, one.column) = (Some(file), Some(line), None);
        }
    }
}

/// The line of settings, or of a list of components, that a finding is about.
fn place_of(project: &Path, one: &Diagnostic) -> Option<(String, u32)> {
    if let Some((component, name)) = requirement(&one.message) {
        return list_with(project, component, name);
    }
    if one.message.contains("version solving failed")
        && let Some(place) = dependency(project, &one.message)
    {
        return Some(place);
    }
    if let Some(target) = unknown_target(&one.message) {
        return target_line(project, target);
    }
    let found = OPTION.captures(&one.message)?;
    let option = found.get(1)?.as_str();
    let is_placed = one.file.as_deref().is_some_and(|file| file.starts_with("sdkconfig"));
    let names = match &one.file {
        Some(_) if is_placed && one.line.is_some() => return None,
        Some(file) if is_placed => vec![file.clone()],
        Some(_) | None => files_of(project),
    };
    names.into_iter().find_map(|name| line_of(project, &name, option).map(|line| (name, line)))
}

/// The last line of a file that gives a value to an option.
fn line_of(project: &Path, file: &str, option: &str) -> Option<u32> {
    line_with(project, file, |line| {
        line.trim_start()
            .strip_prefix("CONFIG_")
            .and_then(|rest| rest.strip_prefix(option))
            .is_some_and(|rest| rest.starts_with('='))
    })
}

/// The last line of a file of the project that `is_it`.
fn line_with(project: &Path, file: &str, is_it: impl Fn(&str) -> bool) -> Option<u32> {
    let text = files::read_text(&project.join(file), files::SOURCE).ok()?;
    let at = text.lines().enumerate().filter(|(_, line)| is_it(line)).last()?.0;
    u32::try_from(at + 1).ok()
}

/// The chip that the framework has no compiler settings for.
fn unknown_target(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("Toolchain file ")?.trim_end();
    let file = rest.strip_suffix(" not found")?.rsplit('/').next()?;
    file.strip_prefix("toolchain-")?.strip_suffix(".cmake")
}

/// Where the project's settings choose that chip.
fn target_line(project: &Path, target: &str) -> Option<(String, u32)> {
    let is_it = |line: &str| {
        let value = line.trim_start().strip_prefix("CONFIG_IDF_TARGET=");
        value.is_some_and(|value| value.trim().trim_matches('"') == target)
    };
    let names = files_of(project).into_iter();
    names.filter_map(|file| Some((file.clone(), line_with(project, &file, is_it)?))).next()
}

/// The partition that a message of the partition table's tool is about.
fn partition(message: &str) -> Option<&str> {
    message.strip_prefix("Partition ")?.split_once(" invalid: ").map(|(name, _)| name)
}

/// The component that requires another, and the name of that one, which nobody knows.
fn requirement(message: &str) -> Option<(&str, &str)> {
    let rest = message.strip_prefix("Failed to resolve component '")?;
    let (name, rest) = rest.split_once('\'')?;
    let (_, rest) = rest.split_once(" required by component '")?;
    Some((rest.split_once('\'')?.0, name))
}

/// The manifests of the project's components.
fn manifests(project: &Path) -> Vec<String> {
    let components = std::fs::read_dir(project.join("components")).into_iter().flatten().flatten();
    let mut folders: Vec<String> = components
        .filter_map(|entry| Some(format!("components/{}", entry.file_name().to_str()?)))
        .collect();
    folders.sort();
    folders.insert(0, "main".to_owned());
    let files = folders.into_iter().map(|folder| format!("{folder}/idf_component.yml"));
    files.filter(|file| project.join(file).is_file()).collect()
}

/// The manifest that a message is about, which does not name it, and the line of the value or the
/// field that it quotes; `None` when it may be any of several.
fn manifest(project: &Path, message: &str) -> Option<(String, Option<u32>)> {
    let quoted: Vec<&str> = message.split('"').skip(1).step_by(2).collect();
    let with = |word: &str| -> Vec<(String, Option<u32>)> {
        let has = |line: &str| {
            let code = line.split('#').next().unwrap_or(line);
            let parts = code.split([':', '"', '\'', '[', ']', '{', '}', ',']);
            parts.map(str::trim).any(|part| part == word)
        };
        let files = manifests(project).into_iter();
        files
            .filter_map(|file| Some((file.clone(), Some(line_with(project, &file, has)?))))
            .collect()
    };
    // The value stands last, the names of fields before it.
    let fields = quoted.iter().flat_map(|text| text.split(':').map(str::trim));
    let words = quoted.last().copied().into_iter().chain(fields.rev());
    for word in words.filter(|word| !word.is_empty()) {
        if let [one] = with(word).as_slice() {
            return Some(one.clone());
        }
    }
    let [only] = manifests(project).try_into().ok()?;
    Some((only, None))
}

/// Where a manifest of the project asks for a component that a message says cannot be had.
fn dependency(project: &Path, message: &str) -> Option<(String, u32)> {
    let names = message.split(|c: char| c.is_whitespace() || "(),;".contains(c));
    let names: Vec<&str> = names.filter(|name| !name.is_empty() && !name.contains('=')).collect();
    manifests(project).into_iter().find_map(|file| {
        let line = line_with(project, &file, |line| {
            let key = line.split(':').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
            line.contains(':')
                && line.starts_with(' ')
                && names.iter().any(|name| *name == key || *name == format!("espressif/{key}"))
        })?;
        Some((file, line))
    })
}

/// Where the list of a component of the project names another component.
fn list_with(project: &Path, component: &str, name: &str) -> Option<(String, u32)> {
    let is_word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    [format!("{component}/CMakeLists.txt"), format!("components/{component}/CMakeLists.txt")]
        .into_iter()
        .find_map(|file| {
            let line = line_with(project, &file, |line| {
                let code = line.split('#').next().unwrap_or(line);
                code.split(|c| !is_word(c)).any(|word| word == name)
            })?;
            Some((file, line))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Severity;

    #[test]
    fn options_get_the_line_that_sets_them() {
        let project = tempfile::tempdir().unwrap();
        let text = "CONFIG_IDF_TARGET=\"esp32\"\n\nCONFIG_SPEED=5\nCONFIG_PIN=abc\n";
        std::fs::write(project.path().join("sdkconfig.defaults"), text).unwrap();
        std::fs::write(project.path().join("sdkconfig"), text).unwrap();
        std::fs::write(project.path().join("parts.csv"), "# x\nnvs,data\n app ,app\n").unwrap();
        let list = "# wifi\nidf_component_register(SRCS net.c\n  REQUIRES log wifi)\n# wifi_x";
        std::fs::create_dir_all(project.path().join("components/net")).unwrap();
        std::fs::write(project.path().join("components/net/CMakeLists.txt"), list).unwrap();
        let manifest = "dependencies:\n  idf: \">=5\"\n  led: ^9.0.0\n";
        std::fs::write(project.path().join("components/net/idf_component.yml"), manifest).unwrap();
        let one = |message: &str, file: &str| Diagnostic {
            file: Some(file.to_owned()),
            ..Diagnostic::new(Severity::Warning, message.to_owned())
        };
        let mut found = vec![
            one("unknown kconfig symbol 'SPEED' assigned to '5' in /p/x", "sdkconfig.defaults"),
            one("the value 'abc' is invalid for PIN (defined at main/Kconfig:2)", "main/Kconfig"),
            one("Project sdkconfig '/p/sdkconfig' was generated for target 'x'", "sdkconfig"),
            one(
                "Failed to resolve component 'wifi' required by component 'net': unknown name.",
                "CMakeLists.txt",
            ),
            one(
                "ERROR: Because project depends on espressif/led (^9.0.0) which doesn't match any \
                 versions, version solving failed.",
                "CMakeLists.txt",
            ),
            one("Partition app invalid: Offset 0x12000 is not aligned", "parts.csv"),
            Diagnostic::new(
                Severity::Error,
                "Manifest is not valid: Invalid field \"dependencies:led:version\": Invalid version \
                 specification \"^9.0.0\""
                    .to_owned(),
            ),
            one("unknown kconfig symbol 'NONE' assigned to '5' in /p/x", "sdkconfig.defaults"),
        ];
        locate(project.path(), &mut found);
        let at = |one: &Diagnostic| format!("{}:{:?}", one.file.as_deref().unwrap(), one.line);
        let places: Vec<String> = found.iter().map(at).collect();
        assert_eq!(
            places,
            [
                "sdkconfig.defaults:Some(3)",
                "sdkconfig.defaults:Some(4)",
                "sdkconfig:Some(1)",
                "components/net/CMakeLists.txt:Some(3)",
                "components/net/idf_component.yml:Some(3)",
                "parts.csv:Some(3)",
                "components/net/idf_component.yml:Some(3)",
                "sdkconfig.defaults:None"
            ]
        );
    }
}
