//! One chunk of Markdown as rows: paragraphs, headings, lists, quotes, tables.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::Modifier;

use crate::text::sanitize;
use crate::ui::role::Role;

use super::breaks::code_parts;
use super::inline::Inline;
use super::table::MarkdownTable;
use super::wrap::{CellRow, StyledText, wrap};

/// Lays out `source` for `columns`.
pub(super) fn lay_out(source: &str, columns: usize) -> Vec<CellRow> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut flow = Flow { columns, ..Flow::default() };
    for event in Parser::new_ext(source, options) {
        flow.take(event);
    }
    flow.end_paragraph();
    flow.rows
}

#[derive(Default)]
struct Flow {
    columns: usize,
    rows: Vec<CellRow>,
    inline: Inline,
    /// Lists and quotes around the current place.
    around: Vec<Around>,
    table: Option<MarkdownTable>,
    /// The code of an indented block, or of a fence within a list.
    code: Option<String>,
    /// Whether an empty row belongs before the next block.
    gap: bool,
}

enum Around {
    Quote,
    /// Number of the next item; `None`: bullets.
    List(Option<u64>),
    /// The mark of an item, until it was drawn; then only its width.
    Item(Option<String>, usize),
}

impl Flow {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.inline.text(&text),
            },
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.inline.code(&text);
            }
            Event::Html(text) | Event::InlineHtml(text) => self.inline.html(&text),
            Event::FootnoteReference(text) => self.inline.text(&format!("[{text}]")),
            Event::SoftBreak => self.inline.text(" "),
            Event::HardBreak => self.inline.line_end(),
            Event::Rule => {
                self.end_paragraph();
                let mut row = CellRow::new(self.prefix());
                let rule = "─".repeat(self.columns.saturating_sub(row.width()));
                row.pieces.push(StyledText::new(rule, Role::Faint));
                self.push(vec![row]);
            }
            Event::TaskListMarker(is_done) => {
                self.inline.text(if is_done { "☑ " } else { "☐ " })
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.end_paragraph(),
            Tag::Heading { level, .. } => {
                self.end_paragraph();
                let add = match level {
                    HeadingLevel::H1 => Modifier::BOLD | Modifier::UNDERLINED,
                    _ => Modifier::BOLD,
                };
                self.inline.push(Role::Heading, add);
            }
            Tag::BlockQuote(_) => {
                self.end_paragraph();
                self.around.push(Around::Quote);
                self.inline.push(Role::Quote, Modifier::empty());
            }
            Tag::CodeBlock(_) => {
                self.end_paragraph();
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.end_paragraph();
                self.around.push(Around::List(first));
            }
            Tag::Item => {
                self.end_paragraph();
                let mark = self.next_mark();
                let width = super::super::line::width(&mark);
                self.around.push(Around::Item(Some(mark), width));
            }
            Tag::Table(alignments) => {
                self.end_paragraph();
                self.table = Some(MarkdownTable::new(alignments));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.begin_row();
                }
            }
            Tag::TableCell => drop(self.inline.take()),
            Tag::Emphasis => self.inline.push(Role::Emphasis, Modifier::ITALIC),
            Tag::Strong => self.inline.push(Role::Strong, Modifier::BOLD),
            Tag::Strikethrough => self.inline.push(Role::Dim, Modifier::CROSSED_OUT),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.inline.begin_link(&dest_url);
            }
            Tag::Superscript | Tag::Subscript => {}
            _ => self.end_paragraph(),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                self.end_paragraph();
                self.gap = true;
            }
            TagEnd::Heading(_) => {
                self.end_paragraph();
                self.inline.pop();
                self.gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.end_paragraph();
                self.inline.pop();
                self.around.pop();
                self.gap = true;
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.end_paragraph();
                self.around.pop();
                self.gap = !self.around.iter().any(|around| matches!(around, Around::List(_)));
            }
            TagEnd::Item => {
                self.end_item();
                self.around.pop();
                self.gap = false;
            }
            TagEnd::TableCell => {
                let cell = self.inline.take();
                if let Some(table) = &mut self.table {
                    table.add_cell(cell);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let prefix = self.prefix();
                    self.push(table.lay_out(self.columns, &prefix));
                    self.gap = true;
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.inline.pop(),
            TagEnd::Link | TagEnd::Image => self.inline.end_link(),
            _ => {}
        }
    }

    fn next_mark(&mut self) -> String {
        match self.around.iter_mut().rev().find(|around| matches!(around, Around::List(_))) {
            Some(Around::List(Some(number))) => {
                let mark = format!("{number}. ");
                *number += 1;
                mark
            }
            _ => "• ".to_owned(),
        }
    }

    /// An item without any text still shows its mark.
    fn end_item(&mut self) {
        let is_bare = matches!(self.around.last(), Some(Around::Item(Some(_), _)));
        if is_bare && self.inline.is_empty() {
            self.inline.text(" ");
        }
        self.end_paragraph();
    }

    /// What begins each row here; a mark of an item is used up.
    fn prefix(&mut self) -> Vec<StyledText> {
        let mut pieces = Vec::new();
        for around in &mut self.around {
            match around {
                Around::Quote => pieces.push(StyledText::new("▎ ", Role::Faint)),
                Around::List(_) => {}
                Around::Item(mark, width) => match mark.take() {
                    Some(mark) => pieces.push(StyledText::new(mark, Role::Accent)),
                    None => pieces.push(StyledText::new(" ".repeat(*width), Role::Text)),
                },
            }
        }
        pieces
    }

    fn push(&mut self, rows: Vec<CellRow>) {
        if self.gap && !self.rows.is_empty() {
            self.rows.push(CellRow::default());
        }
        self.gap = false;
        self.rows.extend(rows);
    }

    fn end_paragraph(&mut self) {
        let pieces = self.inline.take();
        if pieces.is_empty() {
            return;
        }
        let first = self.prefix();
        let rest = self.prefix();
        let rows = wrap(&pieces, self.columns, &first, &rest);
        self.push(rows);
    }

    fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        let mut rows = Vec::new();
        for line in code.trim_end_matches('\n').split('\n') {
            let first = self.prefix();
            let rest = self.prefix();
            let indent: usize = rest.iter().map(StyledText::width).sum();
            let line = sanitize::line(line);
            for part in code_parts(&line, self.columns.saturating_sub(indent).max(4)) {
                let mut pieces = if rows.is_empty() { first.clone() } else { rest.clone() };
                pieces.push(StyledText::new(part, Role::Code));
                rows.push(CellRow { pieces, fill: Some(Role::Code) });
            }
        }
        self.push(rows);
        self.gap = true;
    }
}
