//! What was looked at before the person is asked, and what was found.
//!
//! Owns the words in which the gate tells what a change does. Must not look at anything itself:
//! the findings are made in `gate::findings`.

use serde::{Deserialize, Serialize};

use super::figures::FunctionFigures;

/// One version of a file in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The file as it is.
    Old,
    /// The file as proposed.
    New,
}

/// What a check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// The new content parses in the language its name suggests.
    Parses,
    /// The file's name does not clash with the framework or another file.
    Name,
    /// The path stays inside the project.
    InProject,
    /// The file on disk is still the one the change is based on.
    BaseUnchanged,
    /// A source file is listed in a `CMakeLists.txt`.
    InCmake,
    /// The content is text without control or bidirectional characters.
    Text,
    /// The build the images come from is the newest and passed.
    BuildFresh,
    /// What the board boots from stays as it is.
    BootUntouched,
    /// The content is UTF-8 without a byte order mark, as the file was before.
    Encoding,
    /// Lines end as they did before.
    LineEnds,
    /// No letter of another script poses as a Latin one, in the name or the content.
    Lookalikes,
    /// The change is about as large as it claims: no whole file rewritten for a few lines.
    Size,
    /// No key or password stands in the content.
    Secrets,
    /// Nothing else in the project names the file that would go.
    Unreferenced,
    /// Each image fits into its partition and the chip's flash.
    Fits,
    /// Each image of a flash is made for this chip, and is what belongs where it lands.
    Images,
    /// What changed on disk since the proposal was merged into it without a conflict.
    Merged,
    /// The compiler takes the new content, as the last build was configured.
    Compiles,
    /// Nothing changes the chip for good: eFuses, secure boot, flash encryption.
    Irreversible,
    /// The partition table is sound, and stored data stays where it is.
    PartitionTable,
    /// Nothing new runs on the developer's machine, and nothing is downloaded.
    HostCode,
    /// The content is new, not a copy or a return of something else, and holds no packed data.
    Origin,
    /// The GPIO numbers in the change are free to use on this chip.
    Pins,
    /// The file is among those that the task is about.
    Scope,
    /// The change does no more than the task asks for, as far as its words tell.
    BeyondTask,
    /// Tests passed that ran with this content before it was proposed.
    Tests,
    /// No function became hard to follow.
    Complexity,
    /// No limit, timeout or threshold is ten times as large as before, or a tenth as large.
    Limits,
    /// No watchdog, encryption or check of certificates or memory is turned off.
    Safeguards,
    /// The names of the framework that the content uses exist in the installed version.
    Declared,
    /// The contents of the change can still be read; looked at when a session goes on.
    Stored,
}

impl CheckKind {
    /// What the screen calls it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Parses => "parses",
            Self::Name => "name",
            Self::InProject => "in project",
            Self::BaseUnchanged => "base unchanged",
            Self::InCmake => "in CMake",
            Self::Text => "plain text",
            Self::BuildFresh => "fresh build",
            Self::BootUntouched => "boot untouched",
            Self::Encoding => "encoding",
            Self::LineEnds => "line ends",
            Self::Lookalikes => "no lookalikes",
            Self::Size => "size",
            Self::Secrets => "no secrets",
            Self::Unreferenced => "unreferenced",
            Self::Fits => "fits",
            Self::Images => "images",
            Self::Merged => "merged",
            Self::Compiles => "compiles",
            Self::Irreversible => "reversible",
            Self::PartitionTable => "partition table",
            Self::HostCode => "no host code",
            Self::Origin => "origin",
            Self::Pins => "pins",
            Self::Scope => "asked for",
            Self::BeyondTask => "within the task",
            Self::Tests => "tests",
            Self::Complexity => "complexity",
            Self::Limits => "limits",
            Self::Safeguards => "safeguards",
            Self::Declared => "declared names",
            Self::Stored => "content kept",
        }
    }
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingLevel {
    /// Good to know; nothing is wrong.
    Note,
    /// Worth a look.
    Warning,
    /// Always asks a person, and takes another key than a clean change.
    Stop,
}

/// Where in a change something was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingPlace {
    /// Which version of the file the line is counted in.
    pub side: Side,
    /// Counted from 1.
    pub line: u32,
    /// First character, from 1; `None`: the whole line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Characters from `column` on; 0 without a column.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub length: u32,
}

impl FindingPlace {
    /// A whole line of the new version.
    #[must_use]
    pub const fn line(line: u32) -> Self {
        Self { side: Side::New, line, column: None, length: 0 }
    }

    /// `length` characters of a line of the new version.
    #[must_use]
    pub const fn columns(line: u32, column: u32, length: u32) -> Self {
        Self { side: Side::New, line, column: Some(column), length }
    }
}

/// Something that a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How much it weighs.
    pub level: FindingLevel,
    /// What the change does, as a short sentence without a full stop: `writes the bootloader`.
    /// Never holds a secret.
    pub text: String,
    /// Where; `None` for what is about the change as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<FindingPlace>,
    /// What to do about it; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
    /// What has to be typed to approve it all the same, e.g. `burn esp32 efuses`; `None` where a
    /// key is enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phrase: Option<String>,
}

impl Finding {
    /// A finding about the change as a whole.
    pub fn new(level: FindingLevel, text: impl Into<String>) -> Self {
        Self { level, text: text.into(), place: None, advice: String::new(), phrase: None }
    }

    /// Says where it is.
    #[must_use]
    pub fn at(mut self, place: FindingPlace) -> Self {
        self.place = Some(place);
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    /// Asks for a typed phrase.
    #[must_use]
    pub fn phrase(mut self, phrase: impl Into<String>) -> Self {
        self.phrase = Some(phrase.into());
        self
    }
}

/// What was looked at, and what was found; nothing when all is well. It informs the decision and
/// never makes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RecordedCheck")]
pub struct Check {
    /// What was looked at.
    pub kind: CheckKind,
    /// What was found, the heaviest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// How complex each function is; of sources only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FunctionFigures>,
}

impl Check {
    /// A check that found nothing.
    #[must_use]
    pub const fn clean(kind: CheckKind) -> Self {
        Self { kind, findings: Vec::new(), figures: Vec::new() }
    }

    /// A check with what it found, ordered by weight.
    #[must_use]
    pub fn with(kind: CheckKind, mut findings: Vec<Finding>) -> Self {
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
        Self { kind, findings, figures: Vec::new() }
    }

    /// A check with one finding about the change as a whole.
    pub fn of(kind: CheckKind, level: FindingLevel, text: impl Into<String>) -> Self {
        Self { kind, findings: vec![Finding::new(level, text)], figures: Vec::new() }
    }

    /// The heaviest level that was found; `None` when the check is clean.
    #[must_use]
    pub fn level(&self) -> Option<FindingLevel> {
        self.findings.iter().map(|finding| finding.level).max()
    }
}

/// A check as journals hold it: before there were findings, it had a status and a note.
#[derive(Deserialize)]
struct RecordedCheck {
    kind: CheckKind,
    #[serde(default)]
    findings: Vec<Finding>,
    #[serde(default)]
    figures: Vec<FunctionFigures>,
    #[serde(default)]
    status: Option<RecordedStatus>,
    #[serde(default)]
    note: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordedStatus {
    Passed,
    Warned,
    Failed,
}

impl From<RecordedCheck> for Check {
    fn from(recorded: RecordedCheck) -> Self {
        let RecordedCheck { kind, mut findings, figures, status, note } = recorded;
        let level = match status {
            Some(RecordedStatus::Warned) => Some(FindingLevel::Warning),
            Some(RecordedStatus::Failed) => Some(FindingLevel::Stop),
            Some(RecordedStatus::Passed) | None => None,
        };
        findings.extend(level.map(|level| Finding::new(level, note)));
        Self { kind, findings, figures }
    }
}

/// For serde, which asks by reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
pub(super) const fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_of_earlier_journals_are_read() {
        let read = |json: &str| serde_json::from_str::<Check>(json).unwrap();
        let passed = read(r#"{"kind":"parses","status":"passed"}"#);
        assert_eq!(passed, Check::clean(CheckKind::Parses));
        let failed = read(r#"{"kind":"secrets","status":"failed","note":"3:1: a key"}"#);
        assert_eq!(failed, Check::of(CheckKind::Secrets, FindingLevel::Stop, "3:1: a key"));
    }

    #[test]
    fn a_check_is_read_as_it_was_written() {
        let findings = vec![
            Finding::new(FindingLevel::Note, "adds a file"),
            Finding::new(FindingLevel::Stop, "burns an eFuse")
                .at(FindingPlace::columns(3, 5, 7))
                .advice("Leave it out.")
                .phrase("burn esp32 efuses"),
        ];
        let check = Check::with(CheckKind::Irreversible, findings);
        assert_eq!(check.level(), Some(FindingLevel::Stop));
        assert_eq!(check.findings[0].level, FindingLevel::Stop);
        let json = serde_json::to_string(&check).unwrap();
        assert_eq!(serde_json::from_str::<Check>(&json).unwrap(), check);
    }
}
