//! A person who types the phrase that a dangerous change asks for.

use std::thread;
use std::time::Duration;

use firmhand::model::{Decision, Proposal, Verdict};

use crate::desk::{Desk, LOOK, NEVER};

impl Desk<'_> {
    /// Presses the key of approval until the phrase is asked for; not again before it had time to
    /// be, for it would be text in the dialog.
    #[track_caller]
    fn ask_for_phrase(&mut self) {
        // The plain key does not do where a check has failed.
        for key in ["a", "X", "a", "X"] {
            thread::sleep(LOOK);
            self.terminal.press(key);
            for _ in 0..20 {
                thread::sleep(Duration::from_millis(100));
                if self.terminal.screen().contains("Confirm by typing") {
                    return;
                }
            }
        }
        self.fail("no phrase is asked for");
    }

    /// Has the phrase asked for, with `stake` as the reason, and sees that neither the key again,
    /// nor a paste, nor `other` words decide.
    #[track_caller]
    pub fn nothing_else_confirms(&mut self, proposal: &Proposal, stake: &str, other: &str) {
        self.ask_for_phrase();
        self.terminal.wait_for(stake);
        self.terminal.press("enter");
        self.terminal.paste(&proposal.phrase().expect("a phrase"));
        self.terminal.press("enter");
        assert_eq!(self.decided(proposal.id, NEVER), None);
        self.terminal.type_slowly(other);
        thread::sleep(LOOK);
        self.terminal.press("enter");
        self.terminal.wait_for("not decided: type");
        assert_eq!(self.decided(proposal.id, NEVER), None);
        self.terminal.press("esc");
    }

    /// Types the phrase and lets it decide.
    #[track_caller]
    pub fn confirm(&mut self, proposal: &Proposal) -> Decision {
        let phrase = proposal.phrase().expect("a phrase");
        self.ask_for_phrase();
        self.terminal.type_slowly(&phrase);
        for _ in 0..5 {
            thread::sleep(LOOK);
            self.terminal.press("enter");
            if let Some(decision) = self.decided(proposal.id, Duration::from_secs(3)) {
                assert_eq!(decision.verdict, Verdict::ApproveConfirmed { phrase });
                assert_eq!(decision.shown, proposal.change.hash());
                return decision;
            }
        }
        self.fail("the phrase does not decide");
    }
}
