//! Words of a paragraph with their looks, while it is read.

use ratatui::style::Modifier;

use crate::text::sanitize;
use crate::ui::line;
use crate::ui::role::Role;

use super::wrap::{Face, StyledText};

#[derive(Default)]
pub(super) struct Inline {
    pieces: Vec<StyledText>,
    looks: Vec<Face>,
    /// Where each open link leads, and from which piece on it is shown.
    links: Vec<(String, usize)>,
}

impl Inline {
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub fn take(&mut self) -> Vec<StyledText> {
        std::mem::take(&mut self.pieces)
    }

    /// From here on text looks like this, on top of how it looked before.
    pub fn push(&mut self, role: Role, add: Modifier) {
        let before = self.face();
        // A stressed word in a heading stays a heading.
        let keeps = matches!(before.role, Role::Heading | Role::Quote | Role::Link);
        let role = if keeps { before.role } else { role };
        self.looks.push(Face { role, add: before.add | add });
    }

    pub fn pop(&mut self) {
        self.looks.pop();
    }

    fn face(&self) -> Face {
        self.looks.last().copied().unwrap_or(Face::from(Role::Text))
    }

    pub fn text(&mut self, text: &str) {
        let face = self.face();
        self.add(&sanitize::line(text), face);
    }

    pub fn code(&mut self, text: &str) {
        let add = self.face().add;
        self.add(&sanitize::line(text), Face { role: Role::InlineCode, add });
    }

    pub fn html(&mut self, text: &str) {
        for (place, line) in text.trim_end_matches('\n').split('\n').enumerate() {
            if place > 0 {
                self.line_end();
            }
            self.add(&sanitize::line(line), Role::Dim.into());
        }
    }

    pub fn line_end(&mut self) {
        let face = self.face();
        self.add("\n", face);
    }

    pub fn begin_link(&mut self, target: &str) {
        self.push(Role::Link, Modifier::empty());
        self.links.push((line::clean(target), self.pieces.len()));
    }

    /// Says where the link leads if its words do not: a link must not hide its target.
    pub fn end_link(&mut self) {
        self.pop();
        let Some((target, from)) = self.links.pop() else { return };
        let words: String =
            self.pieces.iter().skip(from).map(|piece| piece.text.as_str()).collect();
        if words != target && !target.is_empty() {
            self.add(&format!(" ‹{target}›"), Role::Dim.into());
        }
    }

    fn add(&mut self, text: &str, face: Face) {
        let begins_link = self.links.last().is_some_and(|(_, from)| *from == self.pieces.len());
        match self.pieces.last_mut() {
            Some(last) if last.face == face && !begins_link => last.text.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(StyledText::new(text, face)),
        }
    }
}
