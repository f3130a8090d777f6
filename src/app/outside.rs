//! The loop's work with the person's own editor: on a proposed text, or on a file of the project.
//!
//! Owns when it runs and what the screen is told afterwards; starting it is [`editor`]'s business.

use std::io;
use std::path::Path;
use std::time::Instant;

use crossterm::event::EventStream;

use super::editor;
use super::event_loop::Session;
use crate::model::UserError;
use crate::ui::{FilePlace, OutsideEdit};

/// What the person's own editor is opened on.
#[derive(Debug)]
pub enum Outside {
    /// A proposed text.
    Text(OutsideEdit),
    /// A file of the project.
    File(FilePlace),
}

impl Session<'_> {
    /// Opens what waits for the person's own editor, if anything does. `None` when the terminal is
    /// gone afterwards.
    pub(super) fn open_outside(
        &mut self,
        events: EventStream,
    ) -> Result<Option<EventStream>, UserError> {
        let Some(outside) = self.outside.take() else { return Ok(Some(events)) };
        // The editor reads the keys while it runs, nobody else. A new stream waits for the old
        // one, so that has to go first.
        drop(events);
        let done = match &outside {
            Outside::Text(edit) => self.edit_text(edit)?,
            Outside::File(place) => self.edit_file(place)?,
        };
        Ok(done.is_ok().then(EventStream::new))
    }

    /// Gives the terminal to the person's own editor until it ends.
    fn edit_text(&mut self, edit: &OutsideEdit) -> Result<io::Result<()>, UserError> {
        let result = match self.screen.lend(|| editor::edit_text(edit)) {
            Ok(result) => result,
            Err(error) => return Ok(Err(error)),
        };
        // What happened meanwhile comes first: the proposal may be another one by now.
        let now = Instant::now();
        self.feed.advance(now)?;
        self.resize()?;
        self.ui.sync(self.feed.view(), self.feed.timeline().as_ref(), now);
        let commands = self.ui.edited(edit, result, self.feed.view(), now);
        for command in commands {
            self.obey(command)?;
        }
        Ok(Ok(()))
    }

    /// Lets the person edit a file of the project; the run goes on meanwhile.
    fn edit_file(&mut self, place: &FilePlace) -> Result<io::Result<()>, UserError> {
        let Some(start) = &self.feed.view().head.start else { return Ok(Ok(())) };
        let file = Path::new(&start.project).join(place.path.as_str());
        match self.screen.lend(|| editor::edit_file(&file, place.line)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.ui.tell_result(Err(error), Instant::now()),
            Err(error) => return Ok(Err(error)),
        }
        // The terminal may have another size now.
        self.resize()?;
        Ok(Ok(()))
    }
}
