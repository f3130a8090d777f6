//! What the compiler says of drafts and of the person's own versions, as a check for whoever decides.
//!
//! Owns the patience for it and its words. Must not know compilers: the toolchain asks them.

use std::path::Path;
use std::time::Duration;

use crate::model::{
    BlobSource, Check, CheckKind, ContentHash, Diagnostic, Draft, DraftChange, Finding,
    FindingLevel, FindingPlace, ProjectPath, Proposal,
};
use crate::sandbox::Runner;
use crate::text::syntax::is_conditional;
use crate::toolchain::syntax::{self, NewText, SyntaxJob};
use crate::toolchain::{StopSwitch, Toolchain};

/// How long a batch waits for the compiler before it is proposed without its word.
const PATIENCE: Duration = Duration::from_secs(2);

/// The compiler of the project.
pub(super) struct Compiler<'a> {
    pub(super) toolchain: &'a dyn Toolchain,
    pub(super) project: &'a Path,
    /// Ends the asking.
    pub(super) cancel: &'a StopSwitch,
    /// Runs it in the sandbox.
    pub(super) runner: Option<&'a Runner>,
}

impl Compiler<'_> {
    /// The compiler's word on each draft, thought to be approved all together; `None` where it has
    /// none.
    pub(super) async fn drafts(&self, drafts: &[Draft]) -> Vec<Option<Check>> {
        let texts: Vec<Option<NewText>> = drafts.iter().map(|draft| text(&draft.change)).collect();
        let paths: Vec<Option<ProjectPath>> =
            texts.iter().map(|text| Some(text.as_ref()?.path.clone())).collect();
        if paths.iter().all(Option::is_none) {
            return vec![None; drafts.len()];
        }
        let mut found = self.ask(texts.into_iter().flatten().collect()).await.into_iter();
        let check = |path: Option<ProjectPath>| Some(self.check(&path?, &found.next()??));
        paths.into_iter().map(check).collect()
    }

    /// The compiler's word on another content for a proposal, thought to be approved together with
    /// what else of its batch is in `waiting`; `None` where it has none.
    pub(super) async fn version(
        &self,
        (proposal, content): (&Proposal, &[u8]),
        waiting: &[Proposal],
        blobs: &dyn BlobSource,
    ) -> Option<Check> {
        let path = proposal.change.path()?.clone();
        let mut files = vec![NewText { path: path.clone(), content: content.to_vec() }];
        for other in waiting {
            if other.batch.id != proposal.batch.id || other.change.path() == Some(&path) {
                continue;
            }
            // A content that cannot be read back is told of where it is decided on.
            let text = other.change.after().and_then(|after| blobs.blob(&after.hash).ok());
            if let (Some(path), Some(text)) = (other.change.path(), text) {
                files.push(NewText { path: path.clone(), content: text.to_vec() });
            }
        }
        let found = self.ask(files).await.into_iter().next()??;
        Some(self.check(&path, &found))
    }

    /// Asks it. A stop ends the asking.
    async fn ask(&self, files: Vec<NewText>) -> Vec<syntax::Finding> {
        let job = SyntaxJob {
            project: self.project.to_owned(),
            files: files.into(),
            limit: PATIENCE,
            runner: self.runner.cloned(),
        };
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Vec::new(),
            found = self.toolchain.check_syntax(job) => found,
        }
    }

    /// What the errors mean for whoever decides.
    fn check(&self, path: &ProjectPath, errors: &[Diagnostic]) -> Check {
        let Some(first) = errors.first() else {
            return Check::clean(CheckKind::Compiles);
        };
        let note = match errors.len() - 1 {
            0 => finding_text(path, first),
            1 => format!("{}; and another error", finding_text(path, first)),
            more => format!("{}; and {more} more errors", finding_text(path, first)),
        };
        // Another file that is wrong, or that this one breaks, is worth a look.
        let is_here = |error: &Diagnostic| error.file.as_deref() == Some(path.as_str());
        // Before its first build, how a project is compiled is a guess, and its files come one by one.
        let was_built = ["build", ".pio/build"].iter().any(|dir| self.project.join(dir).is_dir());
        let level = match errors.iter().any(is_here) {
            _ if !was_built => FindingLevel::Note,
            true => FindingLevel::Stop,
            false => FindingLevel::Warning,
        };
        let mut finding = Finding::new(level, note);
        finding.place = first.line.filter(|_| is_here(first)).map(FindingPlace::line);
        Check::with(CheckKind::Compiles, vec![finding])
    }
}

/// The compiler's word on the last of the person's versions that was looked at.
#[derive(Debug, Default)]
pub(super) struct VersionCompiled(Option<(ContentHash, Option<Check>)>);

impl VersionCompiled {
    /// Keeps the word on a change that was named by its hash.
    pub(super) fn keep(&mut self, of: ContentHash, word: Option<Check>) {
        self.0 = Some((of, word));
    }

    /// The word on a change; `None` when it was not asked for.
    pub(super) fn of(&self, change: ContentHash) -> Option<Option<Check>> {
        self.0.as_ref().filter(|(of, _)| *of == change).map(|(_, word)| word.clone())
    }
}

/// Adds the compiler's word on `content`. What compiles may look wrong to a grammar, but is not,
/// unless a condition kept the compiler from reading it.
pub(super) fn add_word(checks: &mut Vec<Check>, word: Option<Check>, content: &[u8]) {
    let text = std::str::from_utf8(content).unwrap_or_default();
    let was_read = |finding: &Finding| {
        finding.place.as_ref().is_some_and(|place| !is_conditional(text, place.line))
    };
    let compiles = word.as_ref().is_some_and(|word| word.findings.is_empty());
    let parses = checks.iter_mut().filter(|check| check.kind == CheckKind::Parses);
    for finding in parses.flat_map(|check| &mut check.findings) {
        if compiles && finding.level > FindingLevel::Note && was_read(finding) {
            finding.level = FindingLevel::Note;
            finding.text.push_str("; the compiler accepts it");
        }
    }
    checks.extend(word);
}

/// The text that a change leads to; `None` for one that leads to none.
fn text(change: &DraftChange) -> Option<NewText> {
    match change {
        DraftChange::Save { path, content, .. } | DraftChange::Insert { path, content, .. } => {
            Some(NewText { path: path.clone(), content: content.clone() })
        }
        DraftChange::Delete { .. }
        | DraftChange::Flash(_)
        | DraftChange::Erase(_)
        | DraftChange::Send(_)
        | DraftChange::Read(_)
        | DraftChange::Nvs(_) => None,
    }
}

/// An error with its place; the file is named when it is another one.
fn finding_text(path: &ProjectPath, error: &Diagnostic) -> String {
    let file = error.file.as_deref().filter(|file| *file != path.as_str());
    let mut place: Vec<String> = file.map(|file| format!("`{file}`")).into_iter().collect();
    // In the file itself the finding has its place.
    if file.is_some() {
        place.extend(error.line.map(|line| line.to_string()));
        place.extend(error.line.and(error.column).map(|column| column.to_string()));
    }
    match place.is_empty() {
        true => format!("does not compile: {}", error.message),
        false => format!("does not compile: {}: {}", place.join(":"), error.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a grammar found in line 2 of `text`, after the compiler had its word.
    fn parses(text: &str, level: FindingLevel, word: Option<Check>) -> Vec<Check> {
        let finding = Finding::new(level, "does not parse").at(FindingPlace::line(2));
        let mut checks = vec![
            Check::with(CheckKind::Parses, vec![finding.clone()]),
            Check::with(CheckKind::Pins, vec![finding]),
        ];
        add_word(&mut checks, word, text.as_bytes());
        checks
    }

    #[test]
    fn what_the_compiler_accepts_weighs_no_more_than_a_note() {
        let text = "int a;\nint b(;\n";
        let clean = || Some(Check::clean(CheckKind::Compiles));
        let checks = parses(text, FindingLevel::Stop, clean());
        assert_eq!(checks[0].level(), Some(FindingLevel::Note));
        assert_eq!(checks[0].findings[0].text, "does not parse; the compiler accepts it");
        assert_eq!(checks[1].level(), Some(FindingLevel::Stop), "no grammar found it");
        assert_eq!(checks[2].kind, CheckKind::Compiles);
        let note = parses(text, FindingLevel::Note, clean());
        assert_eq!(note[0].findings[0].text, "does not parse");
        let errors = vec![Finding::new(FindingLevel::Stop, "does not compile")];
        for word in [None, Some(Check::with(CheckKind::Compiles, errors))] {
            assert_eq!(parses(text, FindingLevel::Stop, word)[0].level(), Some(FindingLevel::Stop));
        }
        let left_out = "#if A\nint b(;\n#endif\n";
        let checks = parses(left_out, FindingLevel::Stop, clean());
        assert_eq!(checks[0].level(), Some(FindingLevel::Stop), "it may not have read it");
    }
}
