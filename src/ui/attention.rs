//! Whether the person looks at the terminal, and the call when something waits and nobody does.

use crate::model::{ProposalId, QuestionId};
use crate::text::sanitize;
use crate::view::SessionView;

use super::line;

/// Whether the terminal has the keyboard, as far as it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Presence {
    /// It has, or never said otherwise.
    #[default]
    Here,
    /// The person has turned to another window.
    Away,
}

/// Columns of a call.
const CALL: usize = 120;

/// Calls the person when it is needed.
#[derive(Debug, Default)]
pub struct Attention {
    presence: Presence,
    call: Option<String>,
}

impl Attention {
    /// The person looks at the terminal again; nothing has to be called out any more.
    pub fn came(&mut self) {
        self.presence = Presence::Here;
        self.call = None;
    }

    /// The person looks elsewhere.
    pub fn focus_lost(&mut self) {
        self.presence = Presence::Away;
    }

    /// Looks for what waits and was not known to: proposals, or a question.
    pub fn look(&mut self, view: &SessionView, known: &[ProposalId], asked: Option<QuestionId>) {
        let is_new = |id: &ProposalId| !known.contains(id);
        if let Some(new) = view.review.waiting().find(|view| is_new(&view.proposal.id)) {
            let proposal = &new.proposal;
            let path = proposal.change.path().map_or("", |path| path.as_str());
            let what = proposal.change.kind();
            self.wants(&format!("{} asks to {what} {path}", proposal.agent));
        } else if let Some(question) = &view.head.question
            && Some(question.id) != asked
        {
            self.wants(&format!("a question waits: {}", question.text));
        }
    }

    /// Something waits; calls unless the person is here. The words may be foreign.
    fn wants(&mut self, words: &str) {
        if self.presence == Presence::Away {
            let words: String = sanitize::line(words).chars().filter(|c| !c.is_control()).collect();
            self.call = Some(line::cut(&words, CALL));
        }
    }

    /// The call that was not made yet.
    pub fn take(&mut self) -> Option<String> {
        self.call.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_only_while_the_person_is_away_and_only_clean_words() {
        let mut attention = Attention::default();
        attention.wants("save a.c");
        assert_eq!(attention.take(), None);
        attention.focus_lost();
        attention.wants("save \x1b]0;x\x07a.c\n;b");
        let call = attention.take().unwrap();
        assert!(!call.chars().any(char::is_control) && call.contains("a.c"), "{call:?}");
        assert_eq!(attention.take(), None);
        attention.wants("again");
        attention.came();
        assert_eq!(attention.take(), None);
    }
}
