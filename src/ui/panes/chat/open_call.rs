//! A tool call that a model is still writing: its name, and its arguments as they come.
//!
//! A file is shown as a file, anything else as its name and its newest text; never as JSON.

use crate::model::{OpenArg, OpenCall};
use crate::ui::line;
use crate::ui::markdown::{CellRow, GrowingFile, StyledText, code_rows, wrap};
use crate::ui::role::Role;

use super::row::{EntryRow, RowContext, plain};

/// Columns left of an argument.
pub(super) const INDENT: u16 = 6;

/// Rows of one argument.
const MOST_ROWS: usize = 8;

/// Arguments that are shown of one call, the newest.
const MOST_ARGS: usize = 6;

/// Names of the fields that hold the path of a file, and its content.
const PATHS: [&str; 3] = ["file_name", "path", "file"];
const CONTENTS: [&str; 2] = ["code", "content"];

/// A part of a call that grows.
#[derive(Debug)]
pub(super) enum OpenPart {
    Rows(Vec<EntryRow>),
    File(Box<GrowingFile>),
}

/// What an argument is shown as.
enum ShownArgument<'a> {
    Value(&'a OpenArg),
    /// A content, with its path.
    File(&'a OpenArg, &'a str),
}

/// The parts of a call.
pub(super) fn lay_out(call: &OpenCall, place: &RowContext<'_>) -> Vec<OpenPart> {
    let mut parts = vec![OpenPart::Rows(vec![head(call, place)])];
    let shown: Vec<ShownArgument<'_>> =
        call.args.iter().filter_map(|arg| shown(arg, call)).collect();
    let columns = place.width.saturating_sub(usize::from(INDENT) + 1);
    for shown in shown.iter().skip(shown.len().saturating_sub(MOST_ARGS)) {
        parts.push(match shown {
            ShownArgument::Value(arg) => OpenPart::Rows(value(arg, place)),
            ShownArgument::File(arg, path) => {
                let newest = (!arg.is_whole).then_some(arg.newest.as_str());
                OpenPart::File(Box::new(GrowingFile::new(path, arg.lines, newest, columns)))
            }
        });
    }
    parts
}

fn head(call: &OpenCall, place: &RowContext<'_>) -> EntryRow {
    let size = format!("{} characters so far", line::count(call.bytes as u64));
    let left = place.width.saturating_sub(line::width(&size) + 6);
    let name = line::cut(call.tool.as_str(), left.clamp(8, 28));
    let row =
        EntryRow::new(vec![StyledText::new("  ▾ ", Role::Busy), StyledText::new(name, Role::Text)]);
    row.with_right(StyledText::new(size, Role::Dim))
}

/// The path of a file stands above its content, and nowhere else.
fn shown<'a>(arg: &'a OpenArg, call: &'a OpenCall) -> Option<ShownArgument<'a>> {
    let of_file = |names: &[&str], other: &OpenArg| {
        other.object == arg.object && names.contains(&other.name.as_str())
    };
    if CONTENTS.contains(&arg.name.as_str()) {
        let path = call.args.iter().find(|other| of_file(&PATHS, other) && other.is_whole);
        return Some(
            path.map_or(ShownArgument::Value(arg), |path| ShownArgument::File(arg, &path.newest)),
        );
    }
    let has_content = call.args.iter().any(|other| of_file(&CONTENTS, other));
    let is_path = PATHS.contains(&arg.name.as_str()) && arg.is_whole;
    (!(is_path && has_content)).then_some(ShownArgument::Value(arg))
}

/// `name: value`; a text of several lines below its name.
fn value(arg: &OpenArg, place: &RowContext<'_>) -> Vec<EntryRow> {
    let indent = " ".repeat(usize::from(INDENT).min(place.width / 2));
    let columns = place.width.saturating_sub(1);
    let label = line::cut(&arg.label, (place.width / 2).max(8));
    let label = if label.is_empty() { String::new() } else { format!("{label}: ") };
    let lead = [StyledText::new(indent.clone(), Role::Text)];
    if arg.lines <= 1 {
        let text = line::clean(&arg.newest);
        let text = if arg.is_cut { format!("…{text}") } else { text };
        let name = StyledText::new(label, Role::Dim);
        let pieces = [name.clone(), StyledText::new(text, Role::Text)];
        let rows = wrap(&pieces, columns, &lead, &lead);
        if rows.len() <= MOST_ROWS {
            return rows.into_iter().map(plain).collect();
        }
        let name = CellRow::new(vec![lead[0].clone(), name, StyledText::new("…", Role::Dim)]);
        return [name].into_iter().chain(newest(rows)).map(plain).collect();
    }
    let size = if arg.is_whole { "" } else { " so far" };
    let size = format!("{}{size}", line::counted(arg.lines, "line", "lines"));
    let name = vec![lead[0].clone(), StyledText::new(format!("{label}{size}"), Role::Dim)];
    let mut rows = vec![EntryRow::new(name)];
    if !arg.is_whole {
        let width = columns.saturating_sub(line::width(&indent) + 2).max(4);
        let code = arg.newest.trim_end_matches('\n').split('\n');
        let row = |text: String| {
            CellRow::new(vec![
                StyledText::new(format!("{indent}  "), Role::Text),
                StyledText::new(text, Role::Text),
            ])
        };
        let all: Vec<CellRow> = code.flat_map(|line| code_rows(line, width)).map(row).collect();
        rows.extend(newest(all).into_iter().map(plain));
    }
    rows
}

/// The last rows.
fn newest(mut rows: Vec<CellRow>) -> Vec<CellRow> {
    rows.split_off(rows.len().saturating_sub(MOST_ROWS))
}
