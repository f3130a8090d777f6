//! The sessions of the start screen: which of them are listed, and what is about to be done with one.
//!
//! Owns the words that are typed; whoever shows the screen renames and deletes.

use crossterm::event::{KeyCode, KeyEvent};

use super::line;
use super::overlay::search_field::SearchField;
use super::start_facts::{StartChoice, StartSession};
use crate::text::sanitize;

/// Sessions that are found at most.
const MOST: usize = 200;

/// Which sessions are listed.
#[derive(Debug, Default)]
pub(super) struct SessionList {
    search: Option<SearchField>,
    /// Whether keys go to the search.
    typing: bool,
    /// Whether each request of each session is known.
    has_all_requests: bool,
    edit: Option<SessionEdit>,
}

/// Columns of a title in a question.
const MOST_TITLE: usize = 40;

/// What is about to be done with a session.
#[derive(Debug)]
enum SessionEdit {
    Rename {
        name: String,
        field: SearchField,
    },
    Delete {
        name: String,
        title: String,
        /// Its project lies in its folder, and goes with it.
        has_project: bool,
    },
}

impl SessionList {
    /// Places of the sessions that are listed, and how many more there are.
    pub(super) fn listed(&self, all: &[StartSession]) -> (Vec<usize>, usize) {
        let Some(search) = &self.search else {
            return ((0..all.len()).collect(), 0);
        };
        let words: Vec<String> =
            search.text().to_lowercase().split_whitespace().map(str::to_owned).collect();
        let has = |session: &StartSession| {
            let StartSession { name, title, task, earlier, project, state, .. } = session;
            let earlier = earlier.join(" ");
            let text = format!("{name} {title} {task} {earlier} {project} {state}").to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let mut found: Vec<usize> =
            all.iter().enumerate().filter(|(_, one)| has(one)).map(|(place, _)| place).collect();
        let more = found.len().saturating_sub(MOST);
        found.truncate(MOST);
        (found, more)
    }

    /// Whether a part of the sessions is looked for.
    pub(super) const fn is_searching(&self) -> bool {
        self.search.is_some()
    }

    /// Whether some requests are not known yet that are looked through.
    pub(super) const fn is_reading(&self) -> bool {
        self.search.is_some() && !self.has_all_requests
    }

    /// Each request is known from now on. Whether that is new to a search.
    pub(super) fn know_all_requests(&mut self) -> bool {
        let is_new = self.is_reading();
        self.has_all_requests = true;
        is_new
    }

    /// Whether keys are text, or answer a question.
    pub(super) const fn takes_keys(&self) -> bool {
        self.typing || self.edit.is_some()
    }

    pub(super) fn search(&mut self) {
        self.search.get_or_insert_default();
        self.typing = true;
    }

    pub(super) fn end_search(&mut self) {
        (self.search, self.typing) = (None, false);
    }

    pub(super) fn begin_rename(&mut self, session: &StartSession) {
        let field = SearchField::with(&session.title);
        self.edit = Some(SessionEdit::Rename { name: session.name.clone(), field });
    }

    pub(super) fn begin_delete(&mut self, session: &StartSession) {
        let title = match session.title.is_empty() {
            true => session.task.clone(),
            false => session.title.clone(),
        };
        let has_project = session.has_own_project();
        let name = session.name.clone();
        self.edit = Some(SessionEdit::Delete { name, title, has_project });
    }

    /// A key while [`SessionList::takes_keys`]; what is decided by it.
    pub(super) fn on_key(&mut self, key: &KeyEvent) -> Option<StartChoice> {
        match self.edit.take() {
            Some(SessionEdit::Delete { name, .. }) => {
                (key.code == KeyCode::Char('y')).then_some(StartChoice::Delete(name))
            }
            Some(SessionEdit::Rename { name, mut field }) => match key.code {
                KeyCode::Enter => {
                    Some(StartChoice::Rename { name, title: field.text().to_owned() })
                }
                KeyCode::Esc => None,
                _ => {
                    field.on_key(key);
                    self.edit = Some(SessionEdit::Rename { name, field });
                    None
                }
            },
            None => {
                match (key.code, &mut self.search) {
                    (KeyCode::Esc, _) => self.end_search(),
                    (KeyCode::Enter | KeyCode::Down | KeyCode::Up | KeyCode::Tab, _) => {
                        self.typing = false;
                    }
                    (_, Some(search)) => {
                        search.on_key(key);
                    }
                    (_, None) => self.typing = false,
                }
                None
            }
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        match (&mut self.edit, &mut self.search) {
            (Some(SessionEdit::Rename { field, .. }), _) => field.on_paste(text),
            (None, Some(search)) if self.typing => search.on_paste(text),
            // What is deleted must not be pasted.
            (Some(SessionEdit::Delete { .. }) | None, _) => {}
        }
    }

    /// What is typed or asked: a lead, the text, and what the keys do.
    pub(super) fn line(&self) -> Option<(String, &str, &'static str)> {
        match (&self.edit, &self.search) {
            (Some(SessionEdit::Rename { name, field }), _) => {
                Some((format!("name of {name} › "), field.text(), "enter renames   esc back"))
            }
            (Some(SessionEdit::Delete { name, title, has_project }), _) => Some((
                // What is lost comes first, so that a narrow screen cuts the name.
                format!(
                    "Delete {}? “{}” ({name})",
                    if *has_project { "session AND its project" } else { "session" },
                    line::cut(&sanitize::line(title), MOST_TITLE)
                ),
                "",
                "y deletes it   any other key keeps it",
            )),
            (None, Some(search)) if self.typing => {
                Some(("sessions with › ".to_owned(), search.text(), "enter list   esc all"))
            }
            (None, _) => None,
        }
    }
}
