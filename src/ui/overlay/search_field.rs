//! One line of text to search with, and the fuzzy match behind it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use nucleo_matcher::Config;
use nucleo_matcher::pattern::CaseMatching;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use unicode_segmentation::UnicodeSegmentation;

use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;

/// What is typed so far; the cursor stays at its end.
#[derive(Debug, Default)]
pub(in crate::ui) struct SearchField {
    text: String,
}

impl SearchField {
    /// A field with text in it.
    pub(in crate::ui) fn with(text: &str) -> Self {
        let mut field = Self::default();
        field.on_paste(text);
        field
    }

    pub(in crate::ui) fn text(&self) -> &str {
        &self.text
    }

    /// A key that types or takes back; tells whether the text is another one now.
    pub(in crate::ui) fn on_key(&mut self, key: &KeyEvent) -> bool {
        let is_plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Char(c) if is_plain => self.text.push(c),
            KeyCode::Backspace => {
                let last = self.text.grapheme_indices(true).next_back();
                let Some((place, _)) = last else { return false };
                self.text.truncate(place);
            }
            KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => {
                return !std::mem::take(&mut self.text).is_empty();
            }
            _ => return false,
        }
        true
    }

    /// Pasted text, on one line.
    pub(in crate::ui) fn on_paste(&mut self, text: &str) {
        self.text.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
    }

    pub(in crate::ui) fn draw(
        &self,
        placeholder: &'static str,
        row: Rect,
        buf: &mut Buffer,
        cx: &Cx<'_>,
    ) {
        let text = line::cut_start(&self.text, usize::from(row.width).saturating_sub(4));
        let mut spans = vec![cx.span("› ", Role::DialogBorder)];
        spans.extend((!text.is_empty()).then(|| cx.span(text, Role::Dialog)));
        spans.push(cx.span(" ", Role::Cursor));
        spans.extend(self.text.is_empty().then(|| cx.span(placeholder, Role::DialogDim)));
        line::draw(&Line::from(spans), row, buf);
    }
}

/// Places of those texts that `query` is found in, the best first; in their own order when
/// nothing is asked for.
pub(super) fn fuzzy<'t>(query: &str, texts: impl Iterator<Item = &'t str>) -> Vec<usize> {
    crate::ui::fuzzy::rank_by(query, CaseMatching::Ignore, Config::DEFAULT, texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_match_comes_first_and_nothing_asked_keeps_the_order() {
        let texts = ["focus-project Turns to the files", "next-error To the next error", "help"];
        assert_eq!(fuzzy("", texts.into_iter()), [0, 1, 2]);
        assert_eq!(fuzzy("nxt err", texts.into_iter()), [1]);
        assert_eq!(fuzzy("HELP", texts.into_iter())[0], 2);
        assert!(fuzzy("zzz", texts.into_iter()).is_empty());
    }

    #[test]
    fn backspace_takes_whole_graphemes() {
        let mut field = SearchField { text: "a👩‍🚀".into() };
        assert!(field.on_key(&KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE)));
        assert_eq!(field.text(), "a");
        field.on_paste("b\nc");
        assert_eq!(field.text(), "ab c");
    }
}
