//! A decision on what is on screen: whether it can be taken, by which keys, and what it says.
//!
//! Owns what the keys of the review decide; when a key counts is the guard's business. Makes
//! requests and dialogs; must not change anything.

use crate::model::{
    AfterReject, Amended, BlobSource, Change, DecisionNote, Intent, Outcome, ProposalId,
    Shown as ShownHash, Verdict,
};
use crate::ui::BROKE_OFF;
use crate::ui::action::{Action, KeyContext};
use crate::ui::overlay::{Confirm, Overlay, Purpose};
use crate::ui::pane::{Cx, Effect, Mode, UiCommand};
use crate::view::{ProposalView, Review, RunState};

use super::change::ChangeView;
use super::change::picking::PickedLines;
use super::dialogs;
use super::edited::{Edit, VersionCheck};
use super::findings;
use super::head;
use super::shown::Shown;

/// What keeps a decision from being taken, whatever it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// The session is played back.
    Replay,
    /// Nothing can be recorded from now on.
    BrokenOff,
    /// Nothing was proposed.
    Nothing,
    /// It no longer waits.
    Decided(ProposalId),
    /// A decision on it is on its way.
    Sent(ProposalId),
}

impl Obstacle {
    /// What stands against a decision on what is on screen.
    pub fn of(on_screen: Option<ProposalId>, is_sent: bool, cx: &Cx<'_>) -> Option<Self> {
        let is_broken_off = matches!(cx.view.head.state, RunState::BrokenOff(_));
        match on_screen {
            _ if cx.mode == Mode::Replay => Some(Self::Replay),
            _ if is_broken_off => Some(Self::BrokenOff),
            None => Some(Self::Nothing),
            Some(id) if !cx.view.review.waiting.contains(&id) => Some(Self::Decided(id)),
            Some(id) => is_sent.then_some(Self::Sent(id)),
        }
    }

    /// Words for the person.
    pub fn words(self) -> String {
        match self {
            Self::Replay => "this is a replay; nothing can be decided".to_owned(),
            Self::BrokenOff => BROKE_OFF.to_owned(),
            Self::Nothing => "no proposal waits for a decision".to_owned(),
            Self::Decided(id) => format!("#{id} is decided already"),
            Self::Sent(id) => format!("the decision on #{id} is being sent"),
        }
    }
}

/// What a key of the review comes to.
pub(super) enum KeyStep {
    /// These are carried out.
    Effects(Vec<Effect>),
    /// What was not on screen yet is shown first.
    ShowUnseen(String),
    /// Lines are picked from that one on.
    Pick(usize),
    /// The same, for a comment on one of them.
    PickForComment(usize),
}

/// What comes of a key, or why nothing does.
type StepResult = Result<KeyStep, String>;

/// A proposal on screen, with everything that a decision on it needs.
#[derive(Clone, Copy)]
pub(super) struct Decision<'a> {
    /// What is decided on: the proposal, or the person's version of it.
    pub view: &'a ProposalView,
    /// The proposal as it was made.
    pub own: &'a Shown,
    pub picked: Option<&'a PickedLines>,
    pub obstacle: Option<Obstacle>,
    pub blobs: &'a dyn BlobSource,
}

impl<'a> Decision<'a> {
    /// What stands on screen: the proposed change, or the person's version of it.
    pub fn change(&self) -> &'a ChangeView {
        self.own.visible()
    }

    /// The person's version, when that is what is shown.
    pub fn edit(&self) -> Option<&'a Edit> {
        self.own.edit.as_deref()
    }

    /// Whether a finding stands against the plain approval, and no phrase is asked for.
    fn is_stopped(&self) -> bool {
        self.view.proposal.stops() > 0 && self.view.proposal.phrase().is_none()
    }

    /// What can be decided now: just these keys work.
    pub fn choices(&self, cx: &Cx<'_>) -> Vec<(Action, String)> {
        self.choices_with(self.change().unseen_elsewhere(), cx)
    }

    /// The same with so many lines that were not on screen.
    pub(super) fn choices_with(&self, unseen: usize, cx: &Cx<'_>) -> Vec<(Action, String)> {
        let words = |action: Action| (action, action.hint().to_owned());
        let (change, proposal) = (self.change(), &self.view.proposal);
        if change.load.is_reading() || change.load.error().is_some() {
            return [Action::Reject, Action::Ask].map(words).into();
        }
        if let Some(picked) = self.picked {
            return while_picking(picked, unseen);
        }
        let is_stopped = self.is_stopped();
        let (is_edit, is_checked) = (self.edit().is_some(), self.check_version().is_ok());
        let mut choices = Vec::new();
        if !is_checked {
            // Nothing can be decided before.
        } else if unseen > 0 {
            choices.push((Action::Approve, format!("show {unseen} unseen")));
            choices.extend((!is_edit).then(|| words(Action::Reject)));
            choices.push(match is_stopped {
                true => (Action::ApproveDespite, format!("shows {unseen} unseen first")),
                false => words(Action::ApproveUnseen),
            });
        } else if is_stopped {
            choices.extend((!is_edit).then(|| words(Action::Reject)));
            choices.push((Action::ApproveDespite, self.approve_despite_words()));
        } else if is_edit {
            choices.push((Action::Approve, "approve your edit".to_owned()));
        } else {
            choices.extend([Action::Approve, Action::Reject].map(words));
        }
        if is_edit {
            choices.push((Action::Edit, "edit further".to_owned()));
            choices.push((Action::Back, "set aside".to_owned()));
            return choices;
        }
        if proposal.change.after().is_some() && change.first_changed().is_some() {
            choices.push(words(Action::PickLines));
            choices.extend((unseen == 0).then(|| words(Action::Edit)));
        }
        if unseen == 0 && !is_stopped && proposal.phrase().is_none() {
            choices.push((Action::ApproveTell, "approve + tell".to_owned()));
        }
        choices.push((Action::Ask, "ask".to_owned()));
        let batch = proposal.batch.id;
        let waiting = cx.view.review.waiting().filter(|w| w.proposal.batch.id == batch).count();
        if waiting > 1 {
            choices.push((Action::ApproveRest, format!("list all {waiting} of this batch")));
        }
        choices
    }

    /// Which findings an approval passes over.
    fn approve_despite_words(&self) -> String {
        let proposal = &self.view.proposal;
        let first = findings::first_stop(proposal).unwrap_or_default();
        // What the compiler or a parser says in addition stands in the finding.
        let first = match first.split_once(": ") {
            Some((words, _)) if words.starts_with("does not ") => words,
            _ => first.as_str(),
        };
        match proposal.stops() {
            0 | 1 => format!("approve although it {first}"),
            stops => format!("approve although it {first}, and {} more", stops - 1),
        }
    }

    /// Why a key that is about the proposal does nothing while the person's version is on screen.
    pub fn refused_by_edit(&self, action: Action, cx: &Cx<'_>) -> Option<String> {
        let is_about_it = matches!(
            action,
            Action::Approve
                | Action::ApproveUnseen
                | Action::ApproveDespite
                | Action::Edit
                | Action::EditOutside
        );
        let is_held = action.is_decision()
            || action.is_about_proposal()
            || matches!(action, Action::ApproveRest | Action::Rules);
        if is_about_it || !is_held || self.edit().is_none() {
            return None;
        }
        let key = |action| cx.key(KeyContext::Review, action);
        let (send, back) = (key(Action::Approve), key(Action::Back));
        Some(format!("your edit waits here: {send} sends it, {back} sets it aside first"))
    }

    /// Does what a key for decisions asks for; `None` when it is none.
    pub fn act(&self, action: Action, cx: &Cx<'_>) -> Option<StepResult> {
        Some(match action {
            Action::Approve => self.approve_seen(cx),
            Action::ApproveDespite => self.approve_despite(cx),
            Action::ApproveUnseen | Action::ApproveTell if self.is_stopped() => {
                Err(self.stopped_words(cx))
            }
            Action::ApproveUnseen => self.approve_unseen(),
            Action::ApproveTell => self.tell(),
            Action::ApprovePicked => self.approve_picked(),
            Action::Reject => Ok(self.words(Purpose::Reject(AfterReject::GoOn))),
            Action::RejectStop => Ok(self.words(Purpose::Reject(AfterReject::Stop))),
            Action::Ask => Ok(self.ask()),
            Action::Comment => match self.picked {
                Some(picked) => Ok(self.words(Purpose::Comment(picked.cursor()))),
                None => self.first_to_pick().map(KeyStep::PickForComment),
            },
            Action::PickLines => self.first_to_pick().map(KeyStep::Pick),
            Action::Edit => self.edit_here(),
            Action::EditOutside => self.edit_outside(),
            _ => return None,
        })
    }

    /// Whether it can be approved at all.
    fn check(&self) -> Result<(), String> {
        let change = self.change();
        match (change.load.error().is_some(), change.load.is_reading()) {
            (true, _) => Err("it cannot be shown, so it cannot be approved".to_owned()),
            (false, true) => Err("it is still being read".to_owned()),
            (false, false) => self.check_version(),
        }
    }

    /// Whether the person's version was checked, if that is what is shown.
    fn check_version(&self) -> Result<(), String> {
        match self.edit().map(|edit| &edit.check) {
            Some(VersionCheck::Running) => {
                Err("not decided: your edit is still being checked".to_owned())
            }
            Some(VersionCheck::Failed(why)) => {
                Err(format!("not decided: your edit could not be checked: {why}"))
            }
            Some(VersionCheck::Done) | None => Ok(()),
        }
    }

    /// Whether all of it was on screen, as it must be before it is approved in another form.
    fn check_seen(&self) -> Result<(), String> {
        self.check()?;
        if self.change().unseen() > 0 {
            return Err("some changed lines were not on screen; look at them first".to_owned());
        }
        Ok(())
    }

    /// What stands against the approval, and which key approves all the same.
    fn stopped_words(&self, cx: &Cx<'_>) -> String {
        let found = findings::first_stop(&self.view.proposal).unwrap_or_default();
        let key = cx.key(KeyContext::Review, Action::ApproveDespite);
        format!("not decided: this {found} · {key} approves it anyway")
    }

    /// Approves it if all of it was seen and nothing stands against it.
    fn approve_seen(&self, cx: &Cx<'_>) -> StepResult {
        self.check()?;
        match self.change().unseen() {
            0 if self.is_stopped() => Err(self.stopped_words(cx)),
            0 => Ok(self.approve()),
            _ => Ok(KeyStep::ShowUnseen(String::new())),
        }
    }

    /// Approves it although findings stand against it, once all that can be seen was.
    fn approve_despite(&self, cx: &Cx<'_>) -> StepResult {
        self.check()?;
        if self.view.proposal.stops() == 0 {
            let key = cx.key(KeyContext::Review, Action::Approve);
            return Err(format!("no check found a problem; {key} approves it"));
        }
        let change = self.change();
        let left_out = change.body().map_or(0, |body| body.left_out);
        match change.unseen().saturating_sub(left_out) {
            0 => Ok(self.approve()),
            unseen => {
                let key = cx.key(KeyContext::Review, Action::ApproveDespite);
                let lines = crate::ui::line::counted(unseen, "unseen line", "unseen lines");
                Ok(KeyStep::ShowUnseen(format!("not decided: {key} shows {lines} first")))
            }
        }
    }

    /// Approves it although lines of it were not on screen.
    fn approve_unseen(&self) -> StepResult {
        self.check()?;
        match self.change().unseen() {
            0 => Err("all of it was on screen; use the normal key to approve".to_owned()),
            _ => Ok(self.approve()),
        }
    }

    /// Approves it as it is; how much of it was not on screen, and what was found, is said along.
    fn approve(&self) -> KeyStep {
        let proposal = &self.view.proposal;
        let stops = proposal.stops();
        let shown = ShownHash { stops, ..self.own.for_decision() };
        let Some(phrase) = proposal.phrase() else {
            return KeyStep::Effects(vec![Effect::intent(match self.edit() {
                Some(edit) => edit.intent(stops),
                None => Intent::Decide { shown, verdict: Verdict::Approve },
            })]);
        };
        let of = self.edit().map_or(shown, |edit| edit.of);
        let stake = proposal.stake().unwrap_or_default();
        let confirm = Confirm::new(of, head::what(&proposal.change), stake, phrase);
        let confirm = match self.edit() {
            Some(edit) => confirm.sending(edit.intent(stops)),
            None => confirm,
        };
        open(Overlay::Confirm(confirm))
    }

    fn approve_picked(&self) -> StepResult {
        self.check()?;
        let picked = self.picked.ok_or("no lines are being picked")?;
        if picked.picked().is_empty() {
            return Err("no line is picked yet".to_owned());
        }
        let shown = self.own;
        let unseen = shown.change.unseen_of(picked.picked().iter().copied());
        if unseen > 0 {
            return Err(format!(
                "{unseen} of the picked lines were not on screen; look at them first"
            ));
        }
        Ok(KeyStep::Effects(vec![Effect::intent(Intent::Amend {
            // Each of these lines was on screen; that counts.
            shown: ShownHash { unseen: 0, ..shown.for_decision() },
            how: Amended::Lines,
            content: self.content_of(picked)?,
            note: DecisionNote { words: String::new(), comments: shown.comments() },
            phrase: None,
        })]))
    }

    /// The file with the picked lines only.
    fn content_of(&self, picked: &PickedLines) -> Result<Vec<u8>, String> {
        let body = self.change().body().cloned().unwrap_or_default();
        let content = picked.content(&self.view.proposal.change, self.blobs, &body);
        content.map_err(|error| error.to_string())
    }

    fn tell(&self) -> StepResult {
        self.check_seen()?;
        match self.view.proposal.phrase() {
            Some(_) => Err("this needs a typed phrase; use the normal key to approve".to_owned()),
            None => Ok(self.words(Purpose::Tell)),
        }
    }

    /// Opens a dialog for words.
    fn words(&self, purpose: Purpose) -> KeyStep {
        open(Overlay::Words(dialogs::words(purpose, self.view, self.own)))
    }

    /// Asks about the lines under the cursor, else about the first change in sight.
    fn ask(&self) -> KeyStep {
        let change = self.change();
        let line = self.picked.map(PickedLines::cursor).or_else(|| change.first_changed());
        let excerpt = change.body().and_then(|body| dialogs::excerpt(body, line?));
        self.words(Purpose::Ask(excerpt))
    }

    /// Where picking lines begins.
    pub fn first_to_pick(&self) -> Result<usize, String> {
        self.check()?;
        if self.edit().is_some() {
            return Err("lines are picked from the proposal; set your edit aside first".to_owned());
        }
        let change = &self.view.proposal.change;
        if change.after().is_none() {
            return Err(format!("a {} is decided as a whole", change.kind()));
        }
        let first = self.change().first_changed();
        first.ok_or_else(|| "no line changes, so there is none to pick".to_owned())
    }

    /// Opens the text for editing: what the picked lines make of it, else the proposed one.
    fn edit_here(&self) -> StepResult {
        if let Some(edit) = self.edit() {
            return Ok(open(Overlay::Editor(Box::new(edit.go_on()))));
        }
        self.check_seen()?;
        let picked = self.picked.filter(|picked| !picked.picked().is_empty());
        let start = picked.map(|picked| self.content_of(picked)).transpose()?;
        let editor = dialogs::editor(self.view, self.own, self.blobs, start)?;
        Ok(open(Overlay::Editor(Box::new(editor))))
    }

    fn edit_outside(&self) -> StepResult {
        let edit = match self.edit() {
            Some(edit) => edit.outside(),
            None => {
                self.check_seen()?;
                dialogs::outside(self.view, self.own, self.blobs)?
            }
        };
        Ok(KeyStep::Effects(vec![Effect::Command(UiCommand::EditOutside(edit))]))
    }
}

fn open(overlay: Overlay) -> KeyStep {
    KeyStep::Effects(vec![Effect::open(overlay)])
}

/// What can be done while lines are picked.
fn while_picking(picked: &PickedLines, unseen: usize) -> Vec<(Action, String)> {
    let words = |action: Action| (action, action.hint().to_owned());
    let mut choices = Vec::new();
    if !picked.picked().is_empty() {
        choices.push(words(Action::ApprovePicked));
    }
    choices.extend(
        [Action::ToggleLine, Action::ToggleSingle, Action::ToggleHunk, Action::ToggleAll]
            .map(words),
    );
    if unseen == 0 {
        choices.push((Action::Edit, "preview and edit".to_owned()));
    }
    choices.extend([Action::Comment, Action::Ask, Action::Back].map(words));
    choices
}

/// Takes back the applied change on screen.
///
/// # Errors
/// Why it cannot be taken back.
pub(super) fn undo(on_screen: Option<ProposalId>, review: &Review) -> Result<Vec<Effect>, String> {
    let id = on_screen.ok_or("nothing was applied yet")?;
    if review.can_undo(id) {
        let mut effects = vec![Effect::intent(Intent::Undo { proposal: id })];
        effects.extend(Effect::info(format!("asked to undo #{id}")));
        return Ok(effects);
    }
    if review.waiting.contains(&id) {
        return Err("this still waits; select an applied change to undo it".to_owned());
    }
    Err(review.get(id).map_or_else(|| format!("#{id} is not known"), why_no_undo))
}

/// Why what was decided cannot be taken back.
fn why_no_undo(view: &ProposalView) -> String {
    let id = view.proposal.id;
    match (&view.proposal.change, &view.outcome) {
        (_, None) => format!("#{id} is not done yet"),
        (_, Some(outcome)) if *outcome != Outcome::Applied => format!("#{id} was not done"),
        (Change::Flash(_), Some(_)) => {
            "a flash cannot be undone: the old content of the board is gone".to_owned()
        }
        (Change::Erase(_), Some(_)) => "erased content cannot be restored".to_owned(),
        (Change::Send(_), Some(_)) => "text sent to a board cannot be undone".to_owned(),
        (Change::Nvs(_), Some(_)) => {
            "settings of a board cannot be undone; ask for another edit".to_owned()
        }
        (
            Change::Save { .. } | Change::Insert { .. } | Change::Delete { .. } | Change::Read(_),
            Some(_),
        ) => format!("#{id} is already undone"),
    }
}
