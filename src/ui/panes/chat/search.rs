//! Which entries of the conversation hold what is looked for.
//!
//! Owns the search; long conversations are looked through on a thread of their own. Must not know
//! where one looks.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use regex::Regex;

use crate::ui::action::{Action, KeyContext};
use crate::ui::job::{BackgroundJob, JobState};
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;
use crate::view::line_scan::Matcher;
use crate::view::{CallState, CallView, ChatEntry, TurnPart};

use super::aside::{summary_head, trimmed_head};

/// Entries looked through in a frame; more go to a thread.
const AT_ONCE: usize = 64;

/// A search that is on.
#[derive(Debug)]
pub(super) struct ChatSearch {
    matcher: Matcher,
    /// Places of entries that match, rising.
    hits: Vec<usize>,
    /// Entries before this one no longer change and were looked through.
    settled: usize,
    job: Option<BackgroundJob<Vec<usize>>>,
    /// Up to where the job looks.
    until: usize,
}

impl ChatSearch {
    /// Looks for a pattern from now on.
    pub const fn new(matcher: Matcher) -> Self {
        Self { matcher, hits: Vec::new(), settled: 0, job: None, until: 0 }
    }

    /// What is looked for.
    pub fn words(&self) -> &str {
        self.matcher.words()
    }

    /// What is shown as found.
    pub const fn pattern(&self) -> Option<&Regex> {
        self.matcher.pattern()
    }

    /// Places of entries that match, rising.
    pub fn hits(&self) -> &[usize] {
        &self.hits
    }

    /// Whether it goes on although nothing new came.
    pub const fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// The search in words; `here` is the entry that was gone to.
    pub fn line(&self, here: Option<usize>, width: usize, cx: &Cx<'_>) -> Line<'static> {
        let place = here.and_then(|here| self.hits.binary_search(&here).ok());
        let found = match (self.hits.len(), place) {
            (0, _) if self.is_busy() => "searching…".to_owned(),
            (0, _) => "not found".to_owned(),
            (count, Some(place)) => format!("message {}/{count}", place + 1),
            (1, None) => "in 1 message".to_owned(),
            (count, None) => format!("in {count} messages"),
        };
        let key = |action| cx.key(KeyContext::Chat, action);
        let keys =
            format!("  {} {} next, before", key(Action::NextMatch), key(Action::PreviousMatch));
        Line::from(vec![
            cx.span(format!(" /{}  ", line::cut(self.words(), width / 2)), Role::Key),
            cx.span(found, Role::Text),
            cx.span(keys, Role::Dim),
        ])
    }

    /// Lifts what was found out of a row that shows `text` from column `left` on.
    pub fn paint(&self, text: &str, left: usize, at: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let Some(pattern) = self.pattern() else { return };
        for found in pattern.find_iter(text).filter(|found| !found.is_empty()) {
            let start = left + line::width(text.get(..found.start()).unwrap_or_default());
            let x = at.x.saturating_add(u16::try_from(start).unwrap_or(u16::MAX));
            let width = u16::try_from(line::width(found.as_str())).unwrap_or(u16::MAX);
            buf.set_style(Rect { x, width, ..at }.intersection(at), cx.style(Role::Match));
        }
    }

    /// Takes in what is new in the conversation.
    pub fn sync(&mut self, entries: &[Arc<ChatEntry>]) {
        if entries.len() < self.settled.max(self.until) {
            // A replay that went back.
            (self.settled, self.until, self.job) = (0, 0, None);
            self.hits.clear();
        }
        if let Some(job) = &self.job {
            match job.look() {
                JobState::Running => return,
                JobState::Done(hits) => {
                    self.hits.extend(hits);
                    self.settled = self.until;
                }
                // The rest is looked through here.
                JobState::Lost => {}
            }
            self.job = None;
        }
        let first_open = entries.iter().skip(self.settled).position(|entry| is_open(entry));
        let end = first_open.map_or(entries.len(), |open| self.settled + open);
        let first = self.settled;
        self.hits.retain(|hit| *hit < first);
        if end > self.settled + AT_ONCE && self.until < end {
            let pieces = entries.get(first..end).unwrap_or_default().to_vec();
            let matcher = self.matcher.clone();
            self.until = end;
            self.job = Some(BackgroundJob::start(move || find(&pieces, first, &matcher)));
            return;
        }
        let open = entries.get(first..).unwrap_or_default();
        self.hits.extend(find(open, first, &self.matcher));
        self.settled = end;
    }
}

fn find(entries: &[Arc<ChatEntry>], first: usize, matcher: &Matcher) -> Vec<usize> {
    let matching = entries.iter().enumerate().filter(|(_, entry)| holds(entry, matcher));
    matching.map(|(place, _)| first + place).collect()
}

/// Whether an entry may still change.
fn is_open(entry: &ChatEntry) -> bool {
    match entry {
        ChatEntry::Turn(turn) => {
            turn.ended.is_none() || turn.calls().any(|call| call.state.succeeded().is_none())
        }
        ChatEntry::Question { answer, .. } => answer.is_none(),
        ChatEntry::FilePlan(_) => true,
        _ => false,
    }
}

fn call_holds(call: &CallView, is_in: impl Fn(&str) -> bool) -> bool {
    let answered =
        matches!(&call.state, CallState::Done { result, .. } if is_in(&result.to_string()));
    answered || is_in(call.tool.as_str()) || is_in(&call.args.to_string())
}

/// Whether anything in an entry matches, line by line, also what is folded.
fn holds(entry: &ChatEntry, matcher: &Matcher) -> bool {
    let is_in = |text: &str| text.lines().any(|line| matcher.is_match(line));
    match entry {
        ChatEntry::Turn(turn) => {
            is_in(turn.agent.as_str())
                || turn.parts.iter().any(|part| match part {
                    TurnPart::Text(text) | TurnPart::Reasoning(text) => is_in(text),
                    TurnPart::Call(call) => call_holds(call, is_in),
                    TurnPart::Retry(retry) => is_in(&retry.fault.to_string()),
                    TurnPart::Refused(fault) => is_in(fault),
                    TurnPart::Trimmed(view) => is_in(&trimmed_head(view)),
                    TurnPart::Summary(view) => {
                        is_in(&summary_head(view)) || is_in(&view.summary.text)
                    }
                })
        }
        ChatEntry::RunStarted { start, .. } => is_in(&start.task) || is_in(&start.team),
        ChatEntry::PhaseStarted { title, .. } => is_in(title),
        ChatEntry::PhaseEnded { phase, .. } => is_in(phase),
        ChatEntry::Choice { agent, reason } => is_in(agent.as_str()) || is_in(reason),
        ChatEntry::Person { text, .. } => is_in(text),
        ChatEntry::Question { text, options, answer, .. } => {
            is_in(text)
                || options.iter().any(|option| is_in(option))
                || answer.as_deref().is_some_and(is_in)
        }
        ChatEntry::Notice { notice, .. } => is_in(&notice.to_string()),
        ChatEntry::FilePlan(plan) => {
            plan.files.iter().any(|file| is_in(file.path.as_str()) || is_in(&file.purpose))
        }
        ChatEntry::Fact { fact, .. } => is_in(&format!("{fact:?}")),
        ChatEntry::Ruled(ruled) => is_in(&ruled.sentence()),
        ChatEntry::Resumed { .. } | ChatEntry::Ended { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timestamp;

    fn text_entry(text: &str) -> Arc<ChatEntry> {
        Arc::new(ChatEntry::Person { to: None, text: text.into(), at: Timestamp(0) })
    }

    #[test]
    fn what_is_found_follows_the_conversation_forward_and_back() {
        let mut entries: Vec<_> = (0..1_000).map(|n| text_entry(&format!("word {n}"))).collect();
        let mut search = ChatSearch::new(Matcher::regex("word .*9$").unwrap());
        search.sync(&entries);
        assert!(search.is_busy(), "a long conversation is not looked through in a frame");
        while search.is_busy() {
            std::thread::yield_now();
            search.sync(&entries);
        }
        assert_eq!((search.hits().len(), search.hits()[99]), (100, 999));
        entries.push(text_entry("the last word 9"));
        search.sync(&entries);
        assert_eq!(search.hits().last(), Some(&1_000));
        entries.truncate(15);
        search.sync(&entries);
        assert_eq!(search.hits(), [9]);
    }
}
