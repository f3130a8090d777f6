//! What is in a file of the project, with its colours, at a line.
//!
//! Owns where one looks in it. Reading and colouring is done on a thread, and bounded.

use std::sync::Arc;
use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::model::{BlobSource, ContentHash, EventSource, FileSource, ProjectPath, UserError};
use crate::text::colouring::Colouring;
use crate::text::sanitize;
use crate::text::syntax;
use crate::ui::action::Action;
use crate::ui::job::{self, BackgroundJob, JobState};
use crate::ui::line;
use crate::ui::markdown::clean_pieces;
use crate::ui::pane::{Cx, Effect, FilePlace, UiCommand};
use crate::ui::role::Role;

/// Most bytes of a file that are shown.
const MAX_BYTES: u64 = 1 << 20;

/// Longest part of a line that is shown, in bytes.
const MAX_LINE: usize = 2_000;

/// Columns that one step to the side goes.
const SIDE_STEP: usize = 16;

/// Where the contents of files come from.
#[derive(Clone)]
pub struct FileContents {
    /// The project's folder, if it is there.
    pub disk: Option<Arc<dyn FileSource>>,
    /// What the session kept.
    pub blobs: Arc<dyn BlobSource>,
    /// The session's own records.
    pub events: Arc<dyn EventSource>,
}

/// A file being shown.
#[derive(Debug)]
pub struct Preview {
    title: String,
    /// What the person's editor opens; `None`: it is not a file.
    place: Option<FilePlace>,
    content: Content,
    top: usize,
    first_column: usize,
    height: usize,
}

#[derive(Debug)]
enum Content {
    Loading(BackgroundJob<Result<Loaded, UserError>>),
    There(Loaded),
    Failed(UserError),
}

/// A line as pieces of one colour.
pub(super) type Pieces = Vec<(String, Role)>;

#[derive(Debug)]
struct Loaded {
    lines: Vec<Pieces>,
    /// What is not shown, in words.
    omitted: String,
    /// The same lines in colours, where that takes longer.
    coloured: Option<BackgroundJob<Vec<Pieces>>>,
}

impl Preview {
    /// Begins to read a file: as the session kept it, or as it is on disk now.
    #[must_use]
    pub fn file(place: FilePlace, kept: Option<ContentHash>, files: &FileContents) -> Self {
        let state = if kept.is_some() { "at this moment" } else { "on disk now" };
        let title = format!("{} · {state}", line::cut_start(place.path.as_str(), 60));
        let (path, files) = (place.path.clone(), files.clone());
        let work = move || read(&path, kept.as_ref(), &files);
        let top = place.line.map_or(0, |line| line.saturating_sub(1) as usize);
        let content = Content::Loading(BackgroundJob::start(work));
        Self { title, place: Some(place), content, top, first_column: 0, height: 0 }
    }

    /// What it shows, and as it is when.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Shows text that is there already.
    #[must_use]
    pub fn text(title: &str, text: &str) -> Self {
        let content = Content::There(lay_out(text.as_bytes(), text.len() as u64, None));
        let title = line::cut(title, 80);
        Self { title, place: None, content, top: 0, first_column: 0, height: 0 }
    }

    /// What was read, once it is there.
    const fn loaded(&self) -> Option<&Loaded> {
        if let Content::There(loaded) = &self.content { Some(loaded) } else { None }
    }
    fn lines(&self) -> usize {
        self.loaded().map_or(0, |loaded| loaded.lines.len())
    }

    pub(super) fn prepare(&mut self, screen: Size) {
        self.prepare_rows(inside_height(screen.height));
    }

    /// Brings it up to date for so many rows.
    pub(in crate::ui) fn prepare_rows(&mut self, rows: u16) {
        self.height = usize::from(rows);
        if let Content::Loading(job) = &self.content {
            self.content = match job.look() {
                JobState::Running => return,
                JobState::Done(Ok(loaded)) => Content::There(loaded),
                JobState::Done(Err(error)) => Content::Failed(error),
                JobState::Lost => Content::Failed(UserError::new(
                    "Cannot show the file",
                    "reading it stopped before the end",
                    "Open it in an editor.",
                )),
            };
            // The line asked for, with a few before it.
            self.top = self.top.saturating_sub(self.height / 3);
        }
        if let Content::There(loaded) = &mut self.content {
            loaded.take_colours();
        }
        self.top = self.top.min(self.lines().saturating_sub(self.height));
    }

    pub(in crate::ui) fn next_wake(&self, now: Instant) -> Option<Instant> {
        let is_busy = match &self.content {
            Content::Loading(_) => true,
            Content::There(loaded) => loaded.coloured.is_some(),
            Content::Failed(_) => false,
        };
        is_busy.then(|| now + job::LOOK)
    }

    pub(super) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        let page = self.height.saturating_sub(1).max(1);
        match action {
            Action::Up => self.top = self.top.saturating_sub(1),
            Action::Down => self.top += 1,
            Action::HalfPageUp => self.top = self.top.saturating_sub(page / 2),
            Action::HalfPageDown => self.top += page / 2,
            Action::PageUp => self.top = self.top.saturating_sub(page),
            Action::PageDown => self.top += page,
            Action::Top => self.top = 0,
            Action::Bottom => self.top = self.lines(),
            Action::Left => self.first_column = self.first_column.saturating_sub(SIDE_STEP),
            Action::Right => self.first_column = (self.first_column + SIDE_STEP).min(MAX_LINE),
            Action::EditFile => {
                let Some(place) = &self.place else {
                    return Effect::refuse("this text is no file of the project; esc closes it");
                };
                let line = u32::try_from(self.top + 1).ok();
                let line = place.line.or(line);
                let place = FilePlace { path: place.path.clone(), line };
                return vec![Effect::Close, Effect::Command(UiCommand::Edit(place))];
            }
            Action::Copy => return self.copy(),
            Action::Accept | Action::Open => return vec![Effect::Close],
            _ => return Effect::info("esc closes the file"),
        }
        Vec::new()
    }

    fn copy(&self) -> Vec<Effect> {
        let Some(loaded) = self.loaded() else {
            return Effect::info("there is nothing to copy yet");
        };
        let line =
            |pieces: &Pieces| pieces.iter().map(|(text, _)| text.as_str()).collect::<String>();
        Effect::copy(loaded.lines.iter().map(line).collect::<Vec<_>>().join("\n"))
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let hint = self.loaded().map_or_else(String::new, |loaded| {
            let last = (self.top + self.height).min(loaded.lines.len());
            format!(" {last}/{}{} ", loaded.lines.len(), loaded.omitted)
        });
        let size = (screen.width.saturating_sub(10), inside_height(screen.height));
        let inside = super::frame(&self.title, &hint, size, screen, buf, cx);
        self.draw_content(inside, Role::Dialog, buf, cx);
    }

    /// Draws the text alone, on the ground of that role.
    pub(in crate::ui) fn draw_content(
        &self,
        inside: Rect,
        ground: Role,
        buf: &mut Buffer,
        cx: &Cx<'_>,
    ) {
        match &self.content {
            Content::Loading(_) => {
                line::draw(&cx.line("reading…", Role::DialogDim), inside, buf);
            }
            Content::Failed(error) => draw_error(error, inside, buf, cx),
            Content::There(loaded) => self.draw_lines(loaded, inside, cx.style(ground), buf, cx),
        }
    }

    fn draw_lines(
        &self,
        loaded: &Loaded,
        area: Rect,
        ground: Style,
        buf: &mut Buffer,
        cx: &Cx<'_>,
    ) {
        let digits = loaded.lines.len().to_string().len();
        let marked = self.place.as_ref().and_then(|place| place.line);
        if loaded.lines.is_empty() {
            line::draw(&cx.line("the file is empty", Role::DialogDim), area, buf);
        }
        for ((place, pieces), at) in loaded.lines.iter().enumerate().skip(self.top).zip(area.rows())
        {
            let number = cx.span(format!("{:>digits$} ", place + 1), Role::DialogDim);
            let mut spans = vec![number];
            let mut skip = self.first_column;
            for (text, role) in pieces {
                let width = line::width(text);
                if skip >= width {
                    skip -= width;
                    continue;
                }
                let start = line::fitting(text, skip);
                skip = 0;
                let colour = Style { bg: ground.bg, ..cx.style(*role) };
                spans.push(Span::styled(text.get(start..).unwrap_or_default().to_owned(), colour));
            }
            line::draw(&Line::from(spans), at, buf);
            if marked.is_some_and(|line| line as usize == place + 1) {
                buf.set_style(at, cx.style(Role::Selection));
            }
        }
    }
}

impl Loaded {
    fn take_colours(&mut self) {
        match self.coloured.as_ref().map(BackgroundJob::look) {
            None | Some(JobState::Running) => return,
            Some(JobState::Done(lines)) => self.lines = lines,
            Some(JobState::Lost) => {}
        }
        self.coloured = None;
    }
}

/// Rows of text on a screen of that height.
const fn inside_height(screen: u16) -> u16 {
    screen.saturating_sub(6)
}

fn draw_error(error: &UserError, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let texts = [&error.what, &error.why, &error.fix];
    for (text, row) in texts.into_iter().filter(|text| !text.is_empty()).zip(area.rows()) {
        let text = line::clean(text);
        line::draw(&cx.line(text, Role::Dialog), row, buf);
    }
}

fn read(
    path: &ProjectPath,
    kept: Option<&ContentHash>,
    files: &FileContents,
) -> Result<Loaded, UserError> {
    let colouring = Colouring::of(path);
    if let Some(hash) = kept {
        let bytes = files.blobs.blob(hash)?;
        let start = bytes.get(..bytes.len().min(MAX_BYTES as usize)).unwrap_or_default();
        return Ok(lay_out(start, bytes.len() as u64, colouring));
    }
    let Some(disk) = &files.disk else {
        return Err(UserError::new(
            format!("Cannot show {path}"),
            "the project's folder no longer exists",
            "Look at the proposals for what the session changed.",
        ));
    };
    let start = disk.file_start(path, MAX_BYTES)?;
    Ok(lay_out(&start.bytes, start.total, colouring))
}

fn lay_out(bytes: &[u8], total: u64, colouring: Option<Colouring>) -> Loaded {
    let omitted = match total.saturating_sub(bytes.len() as u64) {
        0 => String::new(),
        more => format!(" · {} more are not shown", line::bytes(more)),
    };
    if bytes.contains(&0) {
        let text = format!("{} that are not text", line::bytes(total));
        let lines = vec![vec![(text, Role::DialogDim)]];
        return Loaded { lines, omitted: String::new(), coloured: None };
    }
    let text = sanitize::decode(bytes);
    let at_once = colouring.filter(|colouring| !colouring.is_slow());
    let lines = lines(&text, at_once);
    let coloured = colouring.filter(|colouring| colouring.is_slow()).map(|colouring| {
        let text = text.into_owned();
        BackgroundJob::start(move || self::lines(&text, Some(colouring)))
    });
    Loaded { lines, omitted, coloured }
}

pub(super) fn lines(text: &str, colouring: Option<Colouring>) -> Vec<Pieces> {
    let colours = colouring.map_or_else(Vec::new, |colouring| colouring.highlight(text));
    let no_colours = Vec::new();
    let lines = text.split_inclusive('\n').enumerate().map(|(place, raw)| {
        let raw = raw.trim_end_matches(['\n', '\r']);
        pieces(raw, colours.get(place).unwrap_or(&no_colours))
    });
    lines.collect()
}

/// A line in colours, with its tabs expanded and nothing in it that could move the cursor.
fn pieces(raw: &str, spans: &[syntax::Span]) -> Pieces {
    let shown = raw.floor_char_boundary(MAX_LINE);
    let mut pieces = clean_pieces(raw.get(..shown).unwrap_or_default(), spans, Role::Dialog);
    if shown < raw.len() {
        pieces
            .push((format!("… {} more", line::bytes((raw.len() - shown) as u64)), Role::DialogDim));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: &[u8]) -> Vec<String> {
        let c = Colouring::named("c");
        let loaded = lay_out(bytes, bytes.len() as u64, c);
        loaded
            .lines
            .iter()
            .map(|pieces| pieces.iter().map(|(text, _)| text.as_str()).collect())
            .collect()
    }

    #[test]
    fn foreign_bytes_are_shown_and_do_nothing() {
        assert_eq!(shown(b"int x;\r\n\tif\x1b[2J\n"), ["int x;", "    if␛[2J"]);
        assert_eq!(shown(b"a\xffb"), ["a\\xffb"]);
        assert_eq!(shown(b"\x7fELF\0\0"), ["6 B that are not text"]);
        assert!(shown(b"").is_empty());
        let long = shown("温".repeat(2_000).as_bytes());
        assert!(long[0].ends_with("4.0 kB more"), "{}", &long[0][1900..]);
    }

    #[test]
    fn code_has_colours() {
        let loaded = lay_out(b"int x = 1;\n", 11, Colouring::named("c"));
        assert!(loaded.lines[0].iter().any(|(text, role)| text == "int" && *role == Role::SynType));
    }

    #[test]
    fn what_takes_longer_is_shown_plain_until_its_colours_are_there() {
        let text = "# why\nname: \"a\\x1b[2J\"\ncount: 42\n";
        let mut loaded = lay_out(text.as_bytes(), text.len() as u64, Colouring::named("yaml"));
        assert!(loaded.lines.iter().flatten().all(|(_, role)| *role == Role::Dialog));
        while loaded.coloured.is_some() {
            loaded.take_colours();
            std::thread::yield_now();
        }
        let shown: Vec<String> = loaded.lines.iter().map(|line| format!("{line:?}")).collect();
        insta::assert_snapshot!(shown.join("\n"), @r##"
        [("# why", SynComment)]
        [("name", SynProperty), (":", SynPunctuation), (" ", Dialog), ("\"a\\x1b[2J\"", SynString)]
        [("count", SynProperty), (":", SynPunctuation), (" ", Dialog), ("42", SynNumber)]
        "##);
    }
}
