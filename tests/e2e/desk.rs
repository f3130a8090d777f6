//! A person at the desk: looks at what waits, decides by keys, and checks the journal for what
//! was taken.

use std::fs;
use std::thread;
use std::time::Duration;

use firmhand::model::{
    Change, Decision, Event, Outcome, Proposal, ProposalEvent, ProposalId, SessionEvent,
    SessionOutcome, Verdict,
};

use crate::place::Place;
use crate::terminal::{PATIENCE, Size, Terminal};

/// How long a person looks before a key decides; longer than the keys are dead.
pub const LOOK: Duration = Duration::from_millis(500);
/// Longer than a key that decides takes to be recorded.
pub const NEVER: Duration = Duration::from_millis(700);
/// After this a decision that was not recorded is made again. Longer than the time in which a key
/// counts as held down.
const AGAIN: Duration = Duration::from_millis(1_200);
/// Pages that the longest file of the demo has, and some more.
const PAGES: usize = 12;

/// What the desk comes to next.
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum Next {
    Waits(Proposal),
    Ended(SessionOutcome),
}

/// A session on screen.
pub struct Desk<'a> {
    pub place: &'a Place,
    pub terminal: Terminal,
}

impl<'a> Desk<'a> {
    /// Starts the demo.
    pub fn demo(place: &'a Place, size: Size) -> Self {
        Self { place, terminal: place.demo(size) }
    }

    /// Takes the only session up again.
    pub fn resume(place: &'a Place, size: Size) -> Self {
        Self { place, terminal: place.open(&["resume", "--speed", "max"], size) }
    }

    /// Waits for the next proposal, or for the session's end.
    #[track_caller]
    pub fn next(&self) -> Next {
        let found = self.place.within(PATIENCE, || {
            let is_closed = self.terminal.is_closed();
            if let Some(&id) = self.place.waiting().first() {
                return Some(Next::Waits(self.proposal(id)));
            }
            let ended = self.place.events().into_iter().rev().find_map(|event| match event {
                Event::Session(SessionEvent::Ended { outcome }) => Some(Next::Ended(outcome)),
                _ => None,
            });
            if is_closed && ended.is_none() {
                self.fail("the program ended");
            }
            ended
        });
        found.unwrap_or_else(|| self.fail("neither a proposal nor an end"))
    }

    /// Waits for the next proposal.
    #[track_caller]
    pub fn next_proposal(&self) -> Proposal {
        match self.next() {
            Next::Waits(proposal) => proposal,
            Next::Ended(outcome) => self.fail(&format!("the session ended: {outcome:?}")),
        }
    }

    fn proposal(&self, id: ProposalId) -> Proposal {
        let events = self.place.events().into_iter();
        let mut found = events.filter_map(|event| match event {
            Event::Proposal(ProposalEvent::Made(proposal)) if proposal.id == id => Some(*proposal),
            _ => None,
        });
        found.next().unwrap_or_else(|| self.fail("an unknown proposal waits"))
    }

    /// Focus the review and waits until the proposal is on screen.
    #[track_caller]
    pub fn turn_to(&mut self, proposal: &Proposal) {
        self.terminal.press("esc 3");
        // The title of a reading names what is read.
        let path = match &proposal.change {
            Change::Read(_) => "",
            change => change.path().map_or("", |path| path.as_str()),
        };
        let mut name = format!("{} {path}", proposal.change.kind());
        if self.terminal.look(|screen| screen.size().1) < Size::SMALL.columns {
            // The title is cut in the middle: the end of the name stays.
            let end: String = path.chars().skip(path.chars().count().saturating_sub(6)).collect();
            if !end.is_empty() {
                name = end;
            }
        }
        let name = regex::escape(name.trim_end());
        self.terminal.wait_for(&name);
    }

    /// Goes through the whole change and returns every screen on the way.
    pub fn leaf_through(&mut self) -> Vec<String> {
        self.terminal.press("home");
        let mut screens = Vec::new();
        for _ in 0..PAGES {
            thread::sleep(Duration::from_millis(60));
            screens.push(self.terminal.screen());
            self.terminal.press("pagedown");
        }
        thread::sleep(Duration::from_millis(60));
        screens.push(self.terminal.screen());
        screens
    }

    /// Looks at all of the proposal, then approves it by the plain key, or by the key for findings
    /// where a check has failed.
    #[track_caller]
    pub fn approve(&mut self, proposal: &Proposal) {
        let key = if proposal.stops() > 0 { "X" } else { "a" };
        self.turn_to(proposal);
        self.leaf_through();
        thread::sleep(LOOK);
        for _ in 0..5 {
            self.terminal.press(key);
            if let Some(decision) = self.decided(proposal.id, AGAIN) {
                assert_eq!(decision.verdict, Verdict::Approve);
                assert_eq!(decision.shown, proposal.change.hash());
                assert_eq!(decision.unseen, 0, "lines of {} were not on screen", proposal.id);
                return;
            }
        }
        self.fail(&format!("proposal {} cannot be approved", proposal.id));
    }

    /// Rejects the proposal with these words.
    #[track_caller]
    pub fn reject(&mut self, proposal: &Proposal, words: &str) {
        self.turn_to(proposal);
        thread::sleep(LOOK);
        self.terminal.press("r");
        self.terminal.wait_for("Reject");
        self.terminal.type_slowly(words);
        self.terminal.wait_for(&regex::escape(words));
        self.terminal.press("enter");
        let Some(decision) = self.decided(proposal.id, PATIENCE) else {
            self.fail(&format!("the rejection of {} was not recorded", proposal.id));
        };
        assert_eq!(decision.verdict, Verdict::reject(words));
    }

    /// Waits until the whole batch of the proposal waits, then rejects it with these words.
    #[track_caller]
    pub fn reject_batch(&mut self, first: &Proposal, words: &str) {
        let waiting = self.list_batch(first);
        self.terminal.press("r");
        self.terminal.wait_for(&format!("all {} of the list", waiting.len()));
        self.terminal.type_slowly(words);
        self.terminal.press("enter");
        self.all_decided(&waiting, &Verdict::reject(words));
    }

    /// Waits until the whole batch of the proposal waits, then approves it, seen or not.
    #[track_caller]
    pub fn approve_batch(&mut self, first: &Proposal) {
        let waiting = self.list_batch(first);
        self.terminal.press("ctrl-a");
        self.all_decided(&waiting, &Verdict::Approve);
    }

    /// Opens the list of the whole batch, ready for a decision.
    #[track_caller]
    fn list_batch(&mut self, first: &Proposal) -> Vec<ProposalId> {
        let of = first.batch.of as usize;
        let waiting = self
            .place
            .within(PATIENCE, || Some(self.place.waiting()).filter(|waiting| waiting.len() == of));
        let waiting = waiting.unwrap_or_else(|| self.fail("the batch is not complete"));
        self.turn_to(first);
        thread::sleep(LOOK);
        self.terminal.press("A");
        self.terminal.wait_for("rejects all");
        thread::sleep(LOOK);
        waiting
    }

    #[track_caller]
    fn all_decided(&self, waiting: &[ProposalId], verdict: &Verdict) {
        for id in waiting {
            let decision = self.decided(*id, PATIENCE).unwrap_or_else(|| self.fail("not decided"));
            assert_eq!(decision.verdict, *verdict);
        }
    }

    /// What was decided on a proposal, if it is recorded in that time.
    pub fn decided(&self, id: ProposalId, time: Duration) -> Option<Decision> {
        self.place.event_within(time, |event| match event {
            Event::Proposal(ProposalEvent::Decided { proposal, decision }) if *proposal == id => {
                Some((**decision).clone())
            }
            _ => None,
        })
    }

    /// What became of the proposal.
    #[track_caller]
    pub fn settled(&self, proposal: &Proposal) -> Outcome {
        let outcome = self.place.event_within(PATIENCE, |event| match event {
            Event::Proposal(ProposalEvent::Settled { proposal: id, outcome })
                if *id == proposal.id =>
            {
                Some(outcome.clone())
            }
            _ => None,
        });
        outcome.unwrap_or_else(|| self.fail("nothing came of it"))
    }

    /// Approves everything to the end, checks that every file on disk is what was approved, and
    /// returns how many there were to decide.
    #[track_caller]
    pub fn approve_everything(&mut self) -> usize {
        let mut count = 0;
        loop {
            match self.next() {
                Next::Waits(proposal) => {
                    self.approve(&proposal);
                    self.check_applied(&proposal);
                    count += 1;
                }
                Next::Ended(outcome) => {
                    assert_eq!(outcome, SessionOutcome::Completed);
                    return count;
                }
            }
        }
    }

    #[track_caller]
    fn check_applied(&self, proposal: &Proposal) {
        assert_eq!(self.settled(proposal), Outcome::Applied, "{proposal:?}");
        if let (Some(path), Some(content)) = (proposal.change.path(), proposal.change.after()) {
            let on_disk = fs::read(self.place.project().join(path.as_str())).unwrap();
            assert_eq!(firmhand::model::ContentHash::of(&on_disk), content.hash, "{path}");
        }
    }

    /// Leaves an ended session.
    #[track_caller]
    pub fn quit(mut self) -> Terminal {
        self.terminal.press("esc q");
        assert_eq!(self.terminal.wait_exit().exit_code(), 0);
        self.terminal
    }

    /// Fails the test, showing the screen and the end of the journal.
    #[track_caller]
    pub fn fail(&self, why: &str) -> ! {
        let events = self.place.events();
        let last: Vec<String> =
            events.iter().rev().take(5).rev().map(|event| format!("{event:?}")).collect();
        self.terminal.fail(format!("{why}\nlast events:\n{}", last.join("\n")))
    }
}
