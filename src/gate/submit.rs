//! The way of a batch of drafts to the desk: proposed, ruled on, put down.
//!
//! Owns who decides. What happens afterwards is [`settle`](super::settle)'s business.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;

use serde_json::{Value, json};
use tokio::sync::watch;

use super::admission;
use super::effect_time::{BoardWork, WorkTime};
use super::examine::{self, Examined, Stated};
use super::findings::{self, FindingsContext};
use super::folder::Identity;
use super::history::ChangeHistory;
use super::queue::{ApprovalQueue, DecisionTerms, Queue, Ticket};
use super::session_rules::SessionRules;
use super::syntax::{Compiler, VersionCompiled};
use crate::config::{Policy, Ruling};
use crate::device::SerialHub;
use crate::knowledge::{Knowledge, NameList};
use crate::model::{
    AgentName, Batch, BatchId, BlobSource, CallId, Change, Check, Draft, Event, Facts, Ledger,
    Proposal, ProposalEvent, ProposalId, RuleId, RuleSays, SandboxLevel, SessionRule, Settlement,
    ToolName, TurnId, UserError, Verdict,
};
use crate::sandbox::Runner;
use crate::toolchain::{StopSwitch, Toolchain};
use crate::workspace::Sandbox;

/// Where drafts come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The turn.
    pub turn: TurnId,
    /// The tool call.
    pub call: CallId,
    /// Who called it.
    pub agent: AgentName,
    /// The tool.
    pub tool: ToolName,
}

/// Why a batch came to no end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// The program closes; what was not decided goes on waiting in the journal.
    #[error("the program closes while proposals wait")]
    Detached,
    /// Something could not be recorded or read back, so nothing that relies on it was done.
    #[error(transparent)]
    Record(#[from] UserError),
}

/// What a gate works with.
#[derive(Clone)]
pub struct GateParts {
    /// Takes facts.
    pub ledger: Arc<dyn Ledger>,
    /// Gives contents back after a restart.
    pub blobs: Arc<dyn BlobSource>,
    /// The project.
    pub sandbox: Arc<Sandbox>,
    /// Flashes and erases.
    pub toolchain: Arc<dyn Toolchain>,
    /// Sends, and lends the board's port to whoever flashes or erases.
    pub serial: Arc<SerialHub>,
    /// Rules that decide for the person.
    pub policy: Arc<Policy>,
    /// Names that the framework has taken; `None` where they are not known.
    pub names: Option<Arc<NameList>>,
    /// Where the names that the framework declares are looked up.
    pub knowledge: Option<Arc<Knowledge>>,
    /// Ends a running flash at once.
    pub cancel: StopSwitch,
}

/// The numbers that come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextNumbers {
    /// For a proposal.
    pub proposal: ProposalId,
    /// For a batch.
    pub batch: BatchId,
}

impl NextNumbers {
    /// The numbers that follow those of a session's proposals, or the first ones.
    pub fn after<'a>(proposals: impl IntoIterator<Item = &'a Proposal>) -> Self {
        let mut numbers = Self { proposal: ProposalId(1), batch: BatchId(1) };
        proposals.into_iter().for_each(|known| numbers.pass(known));
        numbers
    }

    /// Goes behind the numbers of a proposal.
    pub fn pass(&mut self, known: &Proposal) {
        self.proposal = self.proposal.max(known.id.next());
        self.batch = self.batch.max(known.batch.id.next());
    }
}

/// The one way from a draft to an effect.
pub struct Gate {
    pub(super) parts: GateParts,
    queue: Queue,
    numbers: Mutex<NextNumbers>,
    history: Mutex<ChangeHistory>,
    rules: Mutex<SessionRules>,
    changes: Changes,
    feedback: Mutex<BTreeMap<ProposalId, Value>>,
    /// What waits for the person, as it was stated last.
    waiting: Mutex<BTreeMap<ProposalId, Proposal>>,
    /// What findings take into account.
    context: Mutex<Arc<FindingsContext>>,
    /// What the compiler said of the person's version.
    version_compiled: Mutex<VersionCompiled>,
    /// What is done to boards, and how long it may take.
    pub(super) board_work: BoardWork,
    /// Runs what agents wrote; empty where nothing of it is run.
    runner: OnceLock<Runner>,
}

/// A recorded proposal without a decision, and the bytes of its new content.
pub(super) struct Pending {
    pub(super) proposal: Proposal,
    pub(super) content: Vec<u8>,
    /// The file's entry when its content was last looked at.
    pub(super) seen: Option<Option<Identity>>,
    /// Why its contents cannot be read; then it can only be rejected.
    pub(super) damage: Option<String>,
    /// What had become of the other proposals when its checks were made.
    pub(super) judged_at: SetChanges,
}

/// What waiting proposals are told of.
#[derive(Default)]
struct Changes {
    /// A rule of the session was made or ended.
    of_rules: watch::Sender<()>,
    /// A proposal was not carried out as it was proposed.
    of_set: watch::Sender<SetChanges>,
}

/// How many proposals were not carried out as they were proposed, so that what was found about the
/// others may no longer be so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SetChanges {
    all: u32,
    /// Those that other sources may include.
    pub(super) headers: u32,
}

impl SetChanges {
    const fn after(self, is_header: bool) -> Self {
        let headers = self.headers.wrapping_add(if is_header { 1 } else { 0 });
        Self { all: self.all.wrapping_add(1), headers }
    }
}

/// A draft whose contents are stored.
struct Stored {
    stated: Stated,
    reason: String,
    checks: Vec<Check>,
}

/// Who decides a proposal.
pub(super) enum Judge {
    /// A rule has.
    Policy(Verdict, String),
    /// Nobody can: it is denied for this reason.
    Nobody(String),
    /// The person will.
    Desk(Ticket),
}

impl Gate {
    /// Puts a gate before `desk`; it does not keep the desk alive.
    #[must_use]
    pub fn new(parts: GateParts, desk: &ApprovalQueue, numbers: NextNumbers) -> Self {
        let mut context = FindingsContext::default();
        context.names.clone_from(&parts.names);
        context.knowledge.clone_from(&parts.knowledge);
        Self {
            parts,
            queue: desk.queue(),
            numbers: Mutex::new(numbers),
            history: Mutex::default(),
            rules: Mutex::default(),
            changes: Changes::default(),
            feedback: Mutex::default(),
            waiting: Mutex::default(),
            context: Mutex::new(Arc::new(context)),
            version_compiled: Mutex::default(),
            board_work: BoardWork::default(),
            runner: OnceLock::new(),
        }
    }

    /// Effects on boards take no longer from here on than there is time. Counts once.
    pub fn bound_by(&self, time: Weak<dyn WorkTime>) {
        self.board_work.bound_by(time);
    }

    /// Whether a board is being written or read.
    #[must_use]
    pub fn is_at_board(&self) -> bool {
        self.board_work.is_under_way()
    }

    /// Ends what is under way in the run.
    #[must_use]
    pub fn stop_switch(&self) -> StopSwitch {
        self.parts.cancel.clone()
    }

    /// Where there is no sandbox for what agents wrote, no rule approves anything from here on. Counts
    /// once.
    pub fn sandboxed_by(&self, runner: Runner) {
        // A gate serves one run.
        let _ = self.runner.set(runner);
    }

    fn is_unprotected(&self) -> bool {
        let level = self.runner.get().map(|runner| runner.protection().level);
        level == Some(SandboxLevel::None)
    }

    /// What findings take into account now.
    pub(super) fn context(&self) -> Arc<FindingsContext> {
        let mut context = lock(&self.context);
        let chip = findings::chip_of(&self.parts.sandbox);
        if chip.is_some() && context.chip != chip {
            Arc::make_mut(&mut context).chip = chip;
        }
        Arc::clone(&context)
    }

    /// Takes note of an event of the run that findings take into account.
    pub fn observe(&self, event: &Event) {
        Arc::make_mut(&mut lock(&self.context)).observe(event);
    }

    /// Whether drafts may be put before a person at all.
    ///
    /// # Errors
    /// For the agent: a change that could not be carried out if it were approved, or a name that
    /// means another file on another system.
    pub fn admit(&self, drafts: &[Draft]) -> Result<(), UserError> {
        admission::admit(&self.parts.sandbox, drafts)
    }

    /// Brings a batch to its end: records every proposal, waits for every verdict, performs what is
    /// approved in the order of the verdicts, and tells how each ended, in the order of `drafts`.
    ///
    /// # Errors
    /// When the program leaves, or something could not be recorded.
    pub async fn submit(
        &self,
        origin: &Origin,
        drafts: Vec<Draft>,
    ) -> Result<Vec<Settlement>, GateError> {
        let of = u32::try_from(drafts.len()).unwrap_or(u32::MAX);
        let batch = Batch { id: self.next_batch(), index: 1, of };
        let waiting = self.propose(origin, batch, drafts).await?;
        self.settle_all(waiting).await
    }

    /// Records drafts as proposals, the first with `batch` and the others counting on from it.
    pub(super) async fn propose(
        &self,
        origin: &Origin,
        batch: Batch,
        mut drafts: Vec<Draft>,
    ) -> Result<Vec<(Pending, Judge)>, GateError> {
        let mut waiting = Vec::with_capacity(drafts.len());
        let compiled = self.compiler().drafts(&drafts).await;
        let mut known = Vec::with_capacity(drafts.len());
        for draft in &mut drafts {
            known.push(self.compared(draft).await);
        }
        let stored = drafts.into_iter().map(|draft| self.stored(draft));
        let stored = stored.collect::<Result<Vec<_>, _>>()?;
        let pending: Vec<Pending> = thread::scope(|scope| {
            // The contents go to the disk while they are looked at. Without a thread the first
            // record waits for them.
            let ledger = &self.parts.ledger;
            let _ = thread::Builder::new().spawn_scoped(scope, || ledger.sync_contents());
            let placed = (batch.index..).map(|index| Batch { index, ..batch });
            let each = stored.into_iter().zip(placed).zip(known);
            each.map(|((stored, place), facts)| self.look_at(origin, place, stored, facts))
                .collect()
        });
        let mut pending = pending;
        for (pending, compiled) in pending.iter_mut().zip(compiled) {
            super::syntax::add_word(&mut pending.proposal.checks, compiled, &pending.content);
        }
        let all: Vec<Proposal> = pending.iter().map(|pending| pending.proposal.clone()).collect();
        for mut pending in pending {
            pending.proposal.facts.held_rule = self.held_rule(&pending.proposal);
            // On the desk before it can be seen: a quick hand must find it there.
            let judge = self.judge(&pending.proposal, &pending.content, &all);
            let event = Event::Proposal(ProposalEvent::Made(Box::new(pending.proposal.clone())));
            self.observe(&event);
            self.parts.ledger.record(event)?;
            waiting.push((pending, judge));
        }
        Ok(waiting)
    }

    /// Stores the contents of a draft, looks at it, and gives it its number.
    pub(super) fn prepare(
        &self,
        origin: &Origin,
        batch: Batch,
        draft: Draft,
        facts: Facts,
    ) -> Result<Pending, GateError> {
        Ok(self.look_at(origin, batch, self.stored(draft)?, facts))
    }

    /// Stores the contents of a draft.
    fn stored(&self, draft: Draft) -> Result<Stored, GateError> {
        let store = |content: &[u8]| self.parts.ledger.store(content);
        let Draft { change, reason, checks } = draft;
        let stated = examine::state(change, store)?;
        self.note_content(&stated.change, &stated.content);
        Ok(Stored { stated, reason, checks })
    }

    /// Notes what a file will hold, which other proposals may rest on.
    pub(super) fn note_content(&self, change: &Change, content: &[u8]) {
        Arc::make_mut(&mut lock(&self.context)).proposed.add(change, content);
    }

    /// Looks at a stored draft, and gives it its number.
    fn look_at(&self, origin: &Origin, batch: Batch, stored: Stored, facts: Facts) -> Pending {
        let Stored { stated: Stated { change, base, content }, reason, checks } = stored;
        let examined = Examined::of(
            (&change, base.as_deref(), &content),
            checks,
            facts,
            (&self.parts.sandbox, &self.context()),
        );
        let Examined { checks, facts } = examined;
        let proposal = Proposal {
            id: self.next_proposal(),
            turn: origin.turn,
            call: origin.call,
            agent: origin.agent.clone(),
            tool: origin.tool.clone(),
            reason,
            batch,
            change,
            checks,
            facts,
        };
        let judged_at = *self.watch_set().borrow();
        Pending { proposal, content, seen: None, damage: None, judged_at }
    }

    /// Finds out who decides. A denial of the configuration is final; then the rules of the session
    /// are asked, then those of the configuration. What is done to a board is never approved without
    /// a person, save on a simulated board, and never when a phrase has to be typed or a check has
    /// failed: no rule can widen that.
    pub(super) fn judge(&self, proposal: &Proposal, content: &[u8], set: &[Proposal]) -> Judge {
        match self.ruling_alone(proposal, content, set) {
            Some((verdict, rule)) => Judge::Policy(verdict, rule),
            None => Judge::Desk(self.put_down(proposal)),
        }
    }

    /// What the rules say; a change that only stands up together with others of `set` which wait for
    /// the person is approved by none.
    pub(super) fn ruling_alone(
        &self,
        proposal: &Proposal,
        content: &[u8],
        set: &[Proposal],
    ) -> Option<(Verdict, String)> {
        let ruling = self.ruling(proposal)?;
        if !ruling.0.is_approval() {
            return Some(ruling);
        }
        let waits = |other: &&Proposal| {
            other.id != proposal.id
                && self.ruling(other).is_none_or(|(verdict, _)| !verdict.is_approval())
        };
        let waiting = set.iter().filter(waits).filter_map(|other| other.change.path().cloned());
        let may = self.stands_without(proposal, content, &waiting.collect());
        may.then_some(ruling)
    }

    /// What the rules say; `None` when the person is to be asked.
    pub(super) fn ruling(&self, proposal: &Proposal) -> Option<(Verdict, String)> {
        let (ruling, rule) = self.rule_of_policy(proposal);
        let session = self.session_rules().says(proposal);
        match (ruling, session) {
            (Ruling::Deny, _) => Some((Verdict::reject(""), rule)),
            (_, Some((RuleSays::Never, rule))) => Some((Verdict::reject(""), rule)),
            _ if proposal.needs_person() || self.is_unprotected() => None,
            (_, Some((RuleSays::Always, rule))) => Some((Verdict::Approve, rule)),
            (Ruling::Allow, None) => Some((Verdict::Approve, rule)),
            (Ruling::Ask, None) => None,
        }
    }

    /// The rule that would approve a proposal if nothing stood against that; else empty.
    fn held_rule(&self, proposal: &Proposal) -> String {
        let (ruling, rule) = self.rule_of_policy(proposal);
        match (ruling, self.session_rules().says(proposal)) {
            _ if !proposal.needs_person() && !self.is_unprotected() => String::new(),
            (Ruling::Deny, _) | (_, Some((RuleSays::Never, _))) | (Ruling::Ask, None) => {
                String::new()
            }
            (_, Some((RuleSays::Always, rule))) => rule,
            (Ruling::Allow, None) => rule,
        }
    }

    /// What the configuration says.
    pub(super) fn rule_of_policy(&self, proposal: &Proposal) -> (Ruling, String) {
        let Proposal { tool, agent, change, .. } = proposal;
        self.parts.policy.decide(change.kind(), tool, agent, change.path())
    }

    /// Finds out who decides a proposal that is damaged for the reason `why`. A rule cannot approve
    /// it; a person sees it and can reject it.
    pub(super) fn judge_damaged(&self, pending: &Proposal, why: String) -> Judge {
        self.stated(pending);
        Judge::Desk(self.queue.put(pending.id, DecisionTerms::damaged(pending, why)))
    }

    /// Puts a proposal on the desk.
    pub(super) fn put_down(&self, proposal: &Proposal) -> Ticket {
        self.stated(proposal);
        self.queue.put(proposal.id, DecisionTerms::of(proposal))
    }

    /// A proposal that waits for the person, as it was stated last.
    #[must_use]
    pub fn waiting(&self, proposal: ProposalId) -> Option<Proposal> {
        lock(&self.waiting).get(&proposal).cloned()
    }

    /// All that waits for the person, as it was stated last.
    pub(super) fn all_waiting(&self) -> Vec<Proposal> {
        lock(&self.waiting).values().cloned().collect()
    }

    /// The compiler of the project.
    pub(super) fn compiler(&self) -> Compiler<'_> {
        Compiler {
            toolchain: self.parts.toolchain.as_ref(),
            project: self.parts.sandbox.root(),
            cancel: &self.parts.cancel,
            runner: self.runner.get(),
        }
    }

    /// What the compiler said of the person's version.
    pub(super) fn version_compiled(&self) -> MutexGuard<'_, VersionCompiled> {
        lock(&self.version_compiled)
    }

    /// Keeps how a waiting proposal was stated last.
    pub(super) fn stated(&self, proposal: &Proposal) {
        lock(&self.waiting).insert(proposal.id, proposal.clone());
    }

    /// A proposal waits no more.
    pub(super) fn taken(&self, proposal: ProposalId) {
        lock(&self.waiting).remove(&proposal);
    }

    /// Notes what was decided without the desk.
    pub(super) fn note_decided(&self, proposal: ProposalId) {
        self.queue.note_decided(proposal);
    }

    /// Makes a rule of the session; it also decides what waits and fits it.
    ///
    /// # Errors
    /// When the rule may not be made, or could not be recorded; then it does not hold.
    pub fn add_rule(&self, rule: SessionRule) -> Result<RuleId, UserError> {
        SessionRules::check(&rule)?;
        let id = {
            let mut rules = self.session_rules();
            let id = rules.next();
            self.parts.ledger.record(Event::Proposal(ProposalEvent::RuleAdded {
                rule: id,
                says: rule.clone(),
            }))?;
            rules.add(id, &rule);
            id
        };
        self.changes.of_rules.send_replace(());
        Ok(id)
    }

    /// Ends a rule of the session.
    ///
    /// # Errors
    /// When it does not hold, or could not be recorded.
    pub fn revoke_rule(&self, id: RuleId) -> Result<(), UserError> {
        let mut rules = self.session_rules();
        if !rules.revoke(id) {
            let why = "this session has no such rule";
            return Err(UserError::new(format!("Cannot revoke rule {id}"), why, ""));
        }
        self.parts.ledger.record(Event::Proposal(ProposalEvent::RuleRevoked { rule: id }))?;
        Ok(())
    }

    /// Tells of every change of the session's rules from now on.
    pub(super) fn watch_rules(&self) -> watch::Receiver<()> {
        self.changes.of_rules.subscribe()
    }

    /// Tells of every proposal that is not carried out as it was proposed from now on.
    pub(super) fn watch_set(&self) -> watch::Receiver<SetChanges> {
        self.changes.of_set.subscribe()
    }

    /// A proposal was not carried out as it was proposed.
    pub(super) fn note_set_change(&self, proposal: &Proposal) {
        const HEADERS: [&str; 5] = [".h", ".hpp", ".hh", ".hxx", ".inc"];
        let Some(path) = proposal.change.path() else { return };
        let is_header = HEADERS.iter().any(|end| path.as_str().ends_with(end));
        self.changes.of_set.send_modify(|changes| *changes = changes.after(is_header));
    }

    /// Keeps what the agent is to be told about a decision.
    pub(super) fn keep_feedback(&self, proposal: ProposalId, feedback: Option<Value>) {
        if let Some(feedback) = feedback {
            lock(&self.feedback).insert(proposal, feedback);
        }
    }

    /// Keeps for the agent what is uncertain about a change that was made.
    pub(super) fn keep_doubt(&self, proposal: &Proposal, doubt: &UserError) {
        let mut all = lock(&self.feedback);
        let told = all.entry(proposal.id).or_insert_with(|| match proposal.change.path() {
            Some(path) => json!({ "file_name": path }),
            None => json!({}),
        });
        told["uncertain"] = json!(doubt.to_string());
    }

    /// What the agent is to be told about these decisions beside their outcomes: words, comments,
    /// and each difference between what was proposed and what was done. Given once.
    #[must_use]
    pub fn take_feedback(&self, settlements: &[Settlement]) -> Vec<Value> {
        let mut all = lock(&self.feedback);
        settlements.iter().filter_map(|settled| all.remove(&settled.proposal)).collect()
    }

    pub(super) fn history(&self) -> MutexGuard<'_, ChangeHistory> {
        lock(&self.history)
    }

    pub(super) fn session_rules(&self) -> MutexGuard<'_, SessionRules> {
        lock(&self.rules)
    }

    pub(super) fn next_batch(&self) -> BatchId {
        let mut numbers = lock(&self.numbers);
        let batch = numbers.batch;
        numbers.batch = batch.next();
        batch
    }

    fn next_proposal(&self) -> ProposalId {
        let mut numbers = lock(&self.numbers);
        let proposal = numbers.proposal;
        numbers.proposal = proposal.next();
        proposal
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change leaves the state whole, so a panic elsewhere does not make it wrong.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
