//! Looks at changes: what the checks find about them, alone or without others, and what the compiler
//! says.
//!
//! Owns what findings take into account of the run. Must not record or decide anything.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock};

use super::examine::Examined;
use super::findings::{self, FindingsContext, Subject};
use super::parts::{GateParts, lock};
use super::syntax::Compiler;
use crate::model::{
    Change, Check, CheckKind, Event, Facts, Finding, FindingLevel, ProjectPath, Proposal,
    SandboxLevel, UserError,
};
use crate::sandbox::Runner;

/// Looks at changes in the project as it is and as it is proposed to become.
pub(super) struct Examinations {
    parts: Arc<GateParts>,
    /// What findings take into account.
    context: Mutex<Arc<FindingsContext>>,
    /// Runs what agents wrote; empty where nothing of it is run.
    runner: OnceLock<Runner>,
}

impl Examinations {
    pub(super) fn new(parts: &Arc<GateParts>) -> Self {
        let mut context = FindingsContext::default();
        context.names.clone_from(&parts.names);
        context.knowledge.clone_from(&parts.knowledge);
        context.read_contents(&parts.blobs);
        let context = Mutex::new(Arc::new(context));
        Self { parts: Arc::clone(parts), context, runner: OnceLock::new() }
    }

    /// Compilers run in this sandbox from here on. Counts once.
    pub(super) fn sandboxed_by(&self, runner: Runner) {
        // A gate serves one run.
        let _ = self.runner.set(runner);
    }

    /// Whether what agents wrote runs without a sandbox.
    pub(super) fn is_unprotected(&self) -> bool {
        let level = self.runner.get().map(|runner| runner.protection().level);
        level == Some(SandboxLevel::None)
    }

    /// What findings take into account now.
    pub(super) fn context(&self) -> Arc<FindingsContext> {
        let mut context = lock(&self.context);
        let chip = findings::chip_of(&self.parts.project_dir);
        if chip.is_some() && context.chip != chip {
            Arc::make_mut(&mut context).chip = chip;
        }
        Arc::clone(&context)
    }

    /// Takes note of an event of the run that findings take into account.
    pub(super) fn observe(&self, event: &Event) {
        Arc::make_mut(&mut lock(&self.context)).observe(event);
    }

    /// Notes what a file will hold, which other proposals may rest on.
    pub(super) fn note_content(&self, change: &Change, content: &[u8]) {
        Arc::make_mut(&mut lock(&self.context)).proposed.add(change, content);
    }

    /// Looks at a change and its two versions; `known` is what its tool has looked at.
    pub(super) fn examine(
        &self,
        versions: (&Change, Option<&[u8]>, &[u8]),
        known: Vec<Check>,
        facts: Facts,
    ) -> Examined {
        Examined::of(versions, known, facts, (&self.parts.project_dir, &self.context()))
    }

    /// The checks of a change whose facts stay as they are.
    pub(super) fn checks(
        &self,
        (change, base, content): (&Change, Option<&[u8]>, &[u8]),
        known: Vec<Check>,
        facts: &Facts,
    ) -> Vec<Check> {
        let (project_dir, context) = (&self.parts.project_dir, &*self.context());
        let subject = Subject::new(change, (base, content), facts, project_dir, context);
        findings::complete(&subject, known)
    }

    /// What the file of a change held before.
    pub(super) fn base_of(&self, change: &Change) -> Result<Option<Arc<[u8]>>, UserError> {
        change.before().map(|base| self.parts.blobs.blob(&base.hash)).transpose()
    }

    /// Whether a proposal has no finding of level stop without the changes of these other files.
    pub(super) fn stands_without(
        &self,
        proposal: &Proposal,
        content: &[u8],
        others: &BTreeSet<ProjectPath>,
    ) -> bool {
        let mut context = (*self.context()).clone();
        if !context.proposed.leave_out(others) {
            return true;
        }
        let Ok(base) = self.base_of(&proposal.change) else { return false };
        let (texts, facts) = ((base.as_deref(), content), &proposal.facts);
        let subject =
            Subject::new(&proposal.change, texts, facts, &self.parts.project_dir, &context);
        let checks = findings::complete(&subject, proposal.checks.clone());
        checks.iter().all(|check| check.level() != Some(FindingLevel::Stop))
    }

    /// What is wrong with a partition table that was written, as the project is now; `None` when
    /// that was said of it before, or nothing is.
    pub(super) fn rests_on_others(&self, proposal: &Proposal) -> Option<String> {
        let content = self.parts.blobs.blob(&proposal.change.after()?.hash).ok()?;
        let base = self.base_of(&proposal.change).ok()?;
        let versions = (&proposal.change, base.as_deref(), &*content);
        let is_stop = |finding: &&Finding| finding.level == FindingLevel::Stop;
        let known: Vec<&str> =
            proposal.findings().filter(is_stop).map(|finding| finding.text.as_str()).collect();
        let checks = self.checks(versions, Vec::new(), &proposal.facts);
        let table = checks.into_iter().find(|check| check.kind == CheckKind::PartitionTable)?;
        let mut found = table.findings.into_iter().filter(|finding| is_stop(&finding));
        found.find(|finding| !known.contains(&finding.text.as_str())).map(|finding| finding.text)
    }

    /// The compiler of the project.
    pub(super) fn compiler(&self) -> Compiler<'_> {
        Compiler {
            toolchain: self.parts.toolchain.as_ref(),
            project: self.parts.project_dir.root(),
            cancel: &self.parts.cancel,
            runner: self.runner.get(),
        }
    }
}
