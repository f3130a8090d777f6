//! What is searched: the installed framework, notes, documents of the person, the project, and what
//! its past sessions came to.
//!
//! Owns which files belong to a corpus, and its version. Reads folders; must not write, and must
//! not know how passages are stored.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::applies::Applicability;
use super::chips::{ChipFacts, ChipSet};
use super::passage::PassageKind;
use super::split::Form;
use crate::files;

/// Name of the file with the records of a session.
pub const JOURNAL: &str = "journal.jsonl";
/// Deepest folder that is looked into.
const DEEPEST: usize = 24;
/// Most files of one corpus.
const MOST_FILES: usize = 200_000;
/// Folders in which nothing for people is written.
const SKIPPED: [&str; 12] = [
    ".git",
    "build",
    "node_modules",
    "__pycache__",
    "zh_CN",
    "_static",
    "test",
    "tests",
    "test_apps",
    "host_test",
    "target",
    "sphinx-known-warnings",
];

/// The same in a project.
const SKIPPED_IN_PROJECT: [&str; 6] =
    [".git", "build", "node_modules", "__pycache__", "managed_components", "target"];
/// Most files of a project that are read, and the longest of them, in bytes.
const MOST_OF_PROJECT: usize = 5_000;
const LONGEST_OF_PROJECT: u64 = 1 << 20;
/// Most sessions that are read, the newest ones.
const MOST_SESSIONS: usize = 400;

/// Libraries that a copy of the framework may lack, because Git brings them separately: their
/// folder, and how the names begin that they declare.
pub const SEPARATE: [(&str, &[&str]); 10] = [
    ("mbedtls/mbedtls", &["mbedtls_", "psa_", "MBEDTLS_", "PSA_", "mbedtls/", "psa/"]),
    (
        "lwip/lwip",
        &[
            "lwip_", "LWIP_", "netif_", "NETIF_", "tcp_", "TCP_", "udp_", "ip_", "ip4_", "ip6_",
            "ip4addr_", "ip6addr_", "ipaddr_", "dns_", "pbuf_", "sntp_", "sys_", "dhcp_", "lwip/",
            "netdb_", "IP_", "IP4_", "IP6_",
        ],
    ),
    ("json/cJSON", &["cJSON_", "cJSON"]),
    ("mqtt/esp-mqtt", &["esp_mqtt_", "mqtt_", "MQTT_", "ESP_MQTT_"]),
    ("bt/host/nimble/nimble", &["ble_", "BLE_", "os_", "nimble_", "host/", "services/", "nimble/"]),
    ("openthread/openthread", &["ot", "OT_", "openthread/"]),
    ("protobuf-c/protobuf-c", &["protobuf_c_", "PROTOBUF_C_", "protobuf-c/"]),
    ("unity/unity", &["Unity", "UNITY_", "TEST_", "RUN_TEST", "unity"]),
    ("spiffs/spiffs", &["spiffs_", "SPIFFS_"]),
    ("heap/tlsf", &["tlsf_"]),
];

/// What a corpus is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorpusKind {
    Framework,
    /// Notes inside the program.
    Notes,
    /// Files of the person.
    Documents,
    /// The project itself.
    Project,
    /// What past sessions of a project came to.
    Sessions,
    /// What another machine keeps and searches.
    Remote,
}

impl CorpusKind {
    /// Whether it is the person's own work, out of which secrets are taken.
    #[must_use]
    pub const fn is_own(self) -> bool {
        matches!(self, Self::Project | Self::Sessions)
    }
}

/// A body of documents with one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Corpus {
    pub kind: CorpusKind,
    /// Such as `esp-idf`.
    pub name: String,
    /// Such as `5.4.1`; empty when there is none.
    pub version: String,
    /// The folder or the file; empty for notes inside the program.
    pub root: PathBuf,
    /// What its licence says, in a word.
    pub licence: String,
    /// The project that sessions were about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<PathBuf>,
}

/// A file of a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusFile {
    /// Relative to the root.
    pub path: String,
    pub role: FileRole,
    pub chips: ChipSet,
}

/// What a file is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    Passages(Form, PassageKind),
    /// Its passages, from the reader for files that are no plain text.
    Parts(PassageKind),
    /// The names in it only.
    Names,
}

impl Corpus {
    /// The corpus in a folder, or of one file.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        if is_framework(root) {
            return Self {
                kind: CorpusKind::Framework,
                name: "esp-idf".to_owned(),
                version: framework_version(root).unwrap_or_default(),
                licence: "Apache-2.0".to_owned(),
                ..Self::own(root)
            };
        }
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| "documents".to_owned());
        Self { name, ..Self::own(root) }
    }

    /// The texts of a project.
    #[must_use]
    pub fn project(root: &Path) -> Self {
        Self { kind: CorpusKind::Project, name: "project".to_owned(), ..Self::own(root) }
    }

    /// What the sessions in a folder came to that were about a project.
    #[must_use]
    pub fn sessions(root: &Path, project: &Path) -> Self {
        let project = Some(project.to_owned());
        let name = "sessions".to_owned();
        Self { kind: CorpusKind::Sessions, name, project, ..Self::own(root) }
    }

    /// What another machine keeps under that name.
    #[must_use]
    pub fn remote(name: &str, version: &str) -> Self {
        let (name, version) = (name.to_owned(), version.to_owned());
        let licence = "the team's".to_owned();
        Self { kind: CorpusKind::Remote, name, version, licence, ..Self::own(Path::new("")) }
    }

    pub(super) fn own(root: &Path) -> Self {
        Self {
            kind: CorpusKind::Documents,
            name: String::new(),
            version: String::new(),
            root: root.to_owned(),
            licence: "the person's".to_owned(),
            project: None,
        }
    }

    /// Name and version.
    #[must_use]
    pub fn label(&self) -> String {
        match self.version.as_str() {
            "" => self.name.clone(),
            version => format!("{} {version}", self.name),
        }
    }

    /// A name for its index: the same for the same name, version and place.
    #[must_use]
    pub fn id(&self) -> String {
        let plain = |text: &str| -> String {
            text.chars()
                .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' })
                .take(40)
                .collect()
        };
        let mut id = plain(&self.label());
        let mut hash = Sha256::new_with_prefix(self.root.as_os_str().as_encoded_bytes());
        if let Some(project) = &self.project {
            hash.update([0]);
            hash.update(project.as_os_str().as_encoded_bytes());
        }
        let hash = hash.finalize();
        id.push('-');
        id.extend(hash.iter().take(4).map(|byte| format!("{byte:02x}")));
        id
    }

    /// All files that belong to it, in the order of their paths.
    #[must_use]
    pub fn files(&self) -> Vec<CorpusFile> {
        if self.root.is_file() {
            let name = self.root.file_name().map(|name| name.to_string_lossy().into_owned());
            return name.and_then(|name| document(&name)).into_iter().collect();
        }
        if self.kind == CorpusKind::Sessions {
            return self.session_files();
        }
        let is_framework = self.kind == CorpusKind::Framework;
        let mut files = Vec::new();
        let tops: &[&str] = if is_framework {
            &["docs/en", "components", "examples", "tools/idf_py_actions"]
        } else {
            &[""]
        };
        for top in tops {
            self.walk(&self.root.join(top), &mut files);
        }
        if is_framework {
            let names = ["README.md", "COMPATIBILITY.md", "SUPPORT_POLICY.md", "Kconfig"];
            files.extend(names.iter().filter_map(|name| framework_file(name)));
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        if is_framework {
            let paths = files.iter().map(|file| file.path.as_str());
            let rules = Applicability::read(&self.root, &self.chip_facts(), paths);
            for file in &mut files {
                file.chips = rules.chips(&file.path, file.chips);
            }
        }
        files
    }

    /// The journals of the newest sessions.
    fn session_files(&self) -> Vec<CorpusFile> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        // Names begin with the date; what is being removed begins with a dot.
        names.retain(|name| !name.starts_with('.'));
        names.sort_unstable();
        let newest = names.split_off(names.len().saturating_sub(MOST_SESSIONS));
        let role = FileRole::Parts(PassageKind::Session);
        let file =
            |name| CorpusFile { path: format!("{name}/{JOURNAL}"), role, chips: ChipSet::ALL };
        newest.into_iter().map(file).collect()
    }

    /// Where a file is on the disk.
    #[must_use]
    pub fn absolute(&self, path: &str) -> PathBuf {
        if self.root.is_file() { self.root.clone() } else { self.root.join(path) }
    }

    /// What the framework says that each chip can do.
    #[must_use]
    pub fn chip_facts(&self) -> ChipFacts {
        let mut facts = ChipFacts::default();
        for chip in ChipSet::ALL.names() {
            let list = format!("components/soc/{chip}/include/soc/Kconfig.soc_caps.in");
            if let Some(set) = ChipSet::of(chip)
                && let Ok(text) = files::read_text(&self.root.join(list), files::SOURCE)
            {
                facts.add(set, &text);
            }
        }
        facts
    }

    fn walk(&self, top: &Path, found: &mut Vec<CorpusFile>) {
        match self.kind {
            CorpusKind::Framework => self.walk_framework(top, found),
            CorpusKind::Project => self.walk_ignoring(&SKIPPED_IN_PROJECT, MOST_OF_PROJECT, found),
            CorpusKind::Notes | CorpusKind::Documents | CorpusKind::Sessions => {
                self.walk_ignoring(&SKIPPED, MOST_FILES, found);
            }
            // Its files are on another machine.
            CorpusKind::Remote => {}
        }
    }

    /// Goes through a folder of the framework, where nothing is ignored: without a look at each file,
    /// since the system's list of a folder tells what is a file.
    fn walk_framework(&self, top: &Path, found: &mut Vec<CorpusFile>) {
        let mut open: Vec<(PathBuf, usize)> = vec![(top.to_owned(), 0)];
        while let Some((folder, depth)) = open.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name();
                let Some(name) = name.to_str() else { continue };
                if kind.is_dir() && depth < DEEPEST && !SKIPPED.contains(&name) {
                    open.push((entry.path(), depth + 1));
                } else if kind.is_file()
                    && found.len() < MOST_FILES
                    && let Some(path) = entry.path().strip_prefix(&self.root).ok()
                {
                    found.extend(path.to_str().and_then(framework_file));
                }
            }
        }
    }

    /// Goes through a folder of the person without what Git ignores.
    fn walk_ignoring(&self, skipped: &'static [&str], most: usize, found: &mut Vec<CorpusFile>) {
        let is_project = self.kind == CorpusKind::Project;
        for entry in self.entries(skipped) {
            if found.len() >= most {
                return;
            }
            let Some(path) = self.relative(&entry) else { continue };
            found.extend(match is_project {
                true if is_long(&entry) => None,
                true => project_file(path),
                false => document(path),
            });
        }
    }

    /// The files of a folder of the person.
    fn entries(&self, skipped: &'static [&str]) -> impl Iterator<Item = DirEntry> + use<> {
        let mut walk = WalkBuilder::new(&self.root);
        walk.standard_filters(false).follow_links(false).max_depth(Some(DEEPEST));
        walk.git_ignore(true).git_exclude(true).hidden(true).require_git(false);
        walk.filter_entry(move |entry| {
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            let name = entry.file_name().to_string_lossy();
            !is_dir || entry.depth() == 0 || !skipped.contains(&name.as_ref())
        });
        let is_file = |entry: &DirEntry| entry.file_type().is_some_and(|kind| kind.is_file());
        walk.build().flatten().filter(is_file)
    }

    fn relative<'a>(&self, entry: &'a DirEntry) -> Option<&'a str> {
        entry.path().strip_prefix(&self.root).ok()?.to_str()
    }

    /// How many files of the person's documents are of kinds that are not read, the most frequent
    /// kind first.
    #[must_use]
    pub fn unread(&self) -> Vec<(String, usize)> {
        if self.kind != CorpusKind::Documents || self.root.is_file() {
            return Vec::new();
        }
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for entry in self.entries(&SKIPPED).take(MOST_FILES) {
            if self.relative(&entry).is_none_or(|path| document(path).is_none()) {
                let kind = entry.path().extension();
                let kind = kind.map_or_else(
                    || "no ending".to_owned(),
                    |kind| format!(".{}", kind.to_string_lossy().to_lowercase()),
                );
                *kinds.entry(kind).or_default() += 1;
            }
        }
        let mut kinds: Vec<(String, usize)> = kinds.into_iter().collect();
        kinds.sort_by_key(|(_, count)| Reverse(*count));
        kinds
    }
}

/// Whether a file is of a kind that is read when the person adds it.
#[must_use]
pub fn is_document(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| document(name).is_some())
}

/// Whether a folder holds an ESP-IDF, or enough of one.
#[must_use]
pub fn is_framework(root: &Path) -> bool {
    let has = |part: &str| root.join(part).exists();
    has("components") && (has("docs/en") || has("tools/idf.py") || has("tools/cmake/idf.cmake"))
}

/// The version that the framework's own files tell.
fn framework_version(root: &Path) -> Option<String> {
    if let Ok(text) = files::read_text(&root.join("tools/cmake/version.cmake"), files::SETTINGS) {
        let part = |name: &str| value_of(&text, "set(", name);
        if let (Some(major), Some(minor), Some(patch)) =
            (part("IDF_VERSION_MAJOR"), part("IDF_VERSION_MINOR"), part("IDF_VERSION_PATCH"))
        {
            return Some(format!("{major}.{minor}.{patch}"));
        }
    }
    if let Ok(text) = files::read_text(&root.join("version.txt"), files::SETTINGS) {
        return Some(text.trim().trim_start_matches('v').to_owned());
    }
    let header = root.join("components/esp_common/include/esp_idf_version.h");
    let text = files::read_text(&header, files::SETTINGS).ok()?;
    let part = |name: &str| value_of(&text, "#define ", name);
    let (major, minor) = (part("ESP_IDF_VERSION_MAJOR")?, part("ESP_IDF_VERSION_MINOR")?);
    Some(format!("{major}.{minor}.{}", part("ESP_IDF_VERSION_PATCH").unwrap_or_default()))
}

/// What a line of the form `#define NAME VALUE` or `set(NAME VALUE)` gives a name.
fn value_of(text: &str, start: &str, name: &str) -> Option<String> {
    let mut lines = text.lines();
    let value =
        lines.find_map(|line| line.trim().strip_prefix(start)?.trim().strip_prefix(name))?;
    Some(value.trim().trim_end_matches(')').trim().to_owned())
}

fn is_long(entry: &DirEntry) -> bool {
    entry.metadata().is_ok_and(|found| found.len() > LONGEST_OF_PROJECT)
}

/// What a file of a project is read for: texts and sources, no data and no output.
fn project_file(path: &str) -> Option<CorpusFile> {
    let form = Form::of(path)?;
    let is_data = [".csv", ".log"].iter().any(|end| path.to_ascii_lowercase().ends_with(end));
    let role = FileRole::Passages(form, PassageKind::Project);
    (!is_data).then(|| CorpusFile { path: path.to_owned(), role, chips: ChipSet::ALL })
}

fn document(path: &str) -> Option<CorpusFile> {
    let chips = chips_of(path);
    if path.to_ascii_lowercase().ends_with(".pdf") {
        let role = FileRole::Parts(PassageKind::Guide);
        return Some(CorpusFile { path: path.to_owned(), role, chips });
    }
    let form = Form::of(path)?;
    let kind = match form {
        Form::Rst | Form::Markdown | Form::Text => PassageKind::Guide,
        Form::Header => PassageKind::Api,
        Form::Source => PassageKind::Example,
        Form::Kconfig => PassageKind::Option,
        Form::Hints | Form::ErrorCodes => PassageKind::Hint,
    };
    Some(CorpusFile { path: path.to_owned(), role: FileRole::Passages(form, kind), chips })
}

/// What a file of the framework is read for.
fn framework_file(path: &str) -> Option<CorpusFile> {
    let chips = chips_of(path);
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.starts_with("sdkconfig.rename") {
        return Some(CorpusFile { path: path.to_owned(), role: FileRole::Names, chips });
    }
    // A translation says the same once more.
    if name.rsplit_once('.').is_some_and(|(stem, _)| stem.ends_with("_CN")) {
        return None;
    }
    let form = Form::of(path)?;
    let top = path.split('/').next().unwrap_or(path);
    let role = |kind| Some(FileRole::Passages(form, kind));
    let role = match (top, form) {
        // A part that every chip's document includes is in those documents.
        ("docs", Form::Rst) if path.ends_with(".inc") && chips == ChipSet::ALL => None,
        ("docs", Form::Rst | Form::Markdown) => role(PassageKind::Guide),
        ("components", Form::Header) if is_public(path) => role(PassageKind::Api),
        ("components", Form::Header) => Some(FileRole::Names),
        ("examples", Form::Header) if is_shared(path) => Some(FileRole::Names),
        (_, Form::Kconfig) => role(PassageKind::Option),
        ("components", Form::Markdown | Form::Rst) if !is_foreign(path) => role(PassageKind::Guide),
        ("examples", Form::Markdown) => role(PassageKind::Example),
        ("examples", Form::Source) if !path.ends_with(".py") => role(PassageKind::Example),
        ("tools", Form::Hints) | ("components", Form::ErrorCodes) => role(PassageKind::Hint),
        (_, Form::Markdown) if !path.contains('/') => role(PassageKind::Guide),
        _ => None,
    }?;
    Some(CorpusFile { path: path.to_owned(), role, chips })
}

/// Whether a file of the examples is one that other projects build with.
pub fn is_shared(path: &str) -> bool {
    path.starts_with("examples/common_components/")
}

/// Whether a header declares what firmware calls, not registers or internals.
fn is_public(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_internal = ["_reg.h", "_struct.h", "_ll.h", "_caps.h", "_hal.h", "_periph.h", "_priv.h"]
        .iter()
        .any(|end| name.ends_with(end))
        || path.contains("/register/")
        || path.contains("/esp_rom/")
        || path.contains("/esp_private/")
        || name == "io_mux_reg.h";
    // Drivers of old that are still there lie in a folder of their own: `driver/deprecated/driver`.
    let is_in_place = path.contains("/include/") || path.contains("/deprecated/driver/");
    is_in_place && !is_internal && !is_foreign(path)
}

/// Whether a file belongs to a library that the framework only carries: `components/NAME/NAME/…`.
fn is_foreign(path: &str) -> bool {
    let mut parts = path.split('/').skip(1);
    match (parts.next(), parts.next()) {
        (Some(component), Some(below)) => component == below && component != "driver",
        _ => false,
    }
}

/// The chips that a path names; all when it names none.
fn chips_of(path: &str) -> ChipSet {
    let named = path
        .split('/')
        .filter_map(|part| ChipSet::of(part.split('.').next().unwrap_or(part)))
        .fold(ChipSet::NONE, ChipSet::or);
    if named.is_empty() { ChipSet::ALL } else { named }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_framework_have_their_roles() {
        let role = |path: &str| framework_file(path).map(|file| file.role);
        let guide = FileRole::Passages(Form::Rst, PassageKind::Guide);
        assert_eq!(role("docs/en/api-guides/wifi.rst"), Some(guide));
        assert_eq!(role("docs/en/inc/part.inc"), None);
        let chip = framework_file("docs/en/gpio/esp32c3.inc").unwrap();
        assert_eq!(chip.chips.names(), ["esp32c3"]);
        let api = Some(FileRole::Passages(Form::Header, PassageKind::Api));
        assert_eq!(role("components/nvs_flash/include/nvs.h"), api);
        assert_eq!(role("components/driver/deprecated/driver/adc.h"), api);
        assert_eq!(role("components/soc/esp32/include/soc/gpio_reg.h"), Some(FileRole::Names));
        assert_eq!(role("components/lwip/lwip/src/include/lwip/ip.h"), Some(FileRole::Names));
        assert_eq!(role("examples/a/main/a.py"), None);
        assert_eq!(role("examples/a/README_CN.md"), None);
        assert_eq!(role("components/x/x.c"), None);
    }

    #[test]
    fn files_of_other_kinds_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.md", "b.HTML", "c.html", "d.docx", "LICENCE"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let unread = Corpus::at(folder.path()).unread();
        let of = |kind: &str, count| (kind.to_owned(), count);
        assert_eq!(unread, [of(".html", 2), of(".docx", 1), of("no ending", 1)]);
        assert!(Corpus::at(&folder.path().join("a.md")).unread().is_empty());
    }

    #[test]
    fn a_framework_tells_its_version() {
        let folder = tempfile::tempdir().unwrap();
        for part in ["components", "docs/en", "tools/cmake"] {
            fs::create_dir_all(folder.path().join(part)).unwrap();
        }
        let text = "set(IDF_VERSION_MAJOR 5)\nset(IDF_VERSION_MINOR 4)\nset(IDF_VERSION_PATCH 3)\n";
        fs::write(folder.path().join("tools/cmake/version.cmake"), text).unwrap();
        let corpus = Corpus::at(folder.path());
        assert_eq!(
            (corpus.kind, corpus.label().as_str()),
            (CorpusKind::Framework, "esp-idf 5.4.3")
        );
        assert!(corpus.id().starts_with("esp-idf-5.4.3-"));
        let other = Corpus::at(&folder.path().join("docs"));
        assert_eq!((other.kind, other.label().as_str()), (CorpusKind::Documents, "docs"));
    }
}
