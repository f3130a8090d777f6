//! `read_header_files` and `read_project_files`: a large project without its bulk.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{TimeLimit, ToolEntry};
use super::{Reply, ToolContext, ToolError, answer, args, files};
use crate::lang::{HeaderSummary, read_header};
use crate::model::ProjectPath;
use crate::workspace::is_source;

/// How long the list of files and all headers together may take, so that the answer comes within five seconds.
const BUDGET: Duration = Duration::from_millis(3_500);
/// The part of that time that is left for headers however long the list took.
const LEAST_SHARE: u32 = 4;
/// How long the grammar may look at one header.
const ONE: Duration = Duration::from_secs(1);
/// Headers in a row that do not fit before the answer counts as full.
const MOST_UNFIT: usize = 8;
/// Files that are looked at: more than any project that is not a whole framework.
const MOST_FILES: usize = 50_000;
/// Declarations up to this many bytes are said again rather than referred to.
const SHORT: usize = 60;
/// Files of one kind in a folder that are still named one by one, when they are no source.
const MANY: usize = 8;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HeadersArgs {
    /// Folder relative to the project folder whose headers are read; nothing for all of them.
    #[serde(default)]
    folder: Option<String>,
}

/// What the answer collects.
#[derive(Default)]
struct HeaderReport {
    headers: usize,
    /// Headers there are.
    of: usize,
    /// Headers that were read.
    read: usize,
    /// Headers in a row, up to the last one, that did not fit.
    unfit: usize,
    /// Headers that declare nothing; they are in the list of files.
    empty: usize,
    text: String,
    /// The first header with those declarations.
    reported: HashMap<String, ProjectPath>,
    cut: Vec<Value>,
}

impl HeaderReport {
    fn add(&mut self, path: &ProjectPath, header: &HeaderSummary, limit: usize) {
        let declared = declared(header);
        if declared.is_empty() && !header.in_haste {
            self.empty += 1;
            return;
        }
        let words = match self.reported.get(&declared) {
            Some(first) => Cow::Owned(format!("// the same as {first}\n")),
            None => Cow::Borrowed(declared.as_str()),
        };
        let block = format!("### Header: {path} ###\n{words}\n");
        if self.text.len() + block.len() > limit {
            self.unfit += 1;
            let count = header.declarations.len();
            self.leave_out(path, &format!("the answer is full; it has {count} declarations"));
            return;
        }
        (self.headers, self.unfit) = (self.headers + 1, 0);
        self.text.push_str(&block);
        if declared.len() > SHORT {
            self.reported.entry(declared).or_insert_with(|| path.clone());
        }
        if header.in_haste {
            self.cut.push(json!({ "path": path, "why": "too long: only prototypes were read" }));
        }
    }

    fn leave_out(&mut self, path: &ProjectPath, why: &str) {
        self.cut.push(json!({ "path": path, "why": why }));
    }
}

/// The declarations of one header as text for a model.
fn declared(header: &HeaderSummary) -> String {
    let mut text = String::new();
    for found in &header.declarations {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", found.text);
    }
    text
}

fn is_header(path: &ProjectPath) -> bool {
    matches!(path.extension(), Some("h" | "hpp" | "hh" | "hxx"))
}

fn read(context: &ToolContext, args: &HeadersArgs) -> Result<Value, ToolError> {
    let folder = files::folder(&context.project_dir, args.folder.as_deref().unwrap_or("."))?;
    let started = Instant::now();
    let listing = context.project_dir.list(MOST_FILES);
    // A tree that took long to list leaves less time, but never none.
    let until = (started + BUDGET).max(Instant::now() + BUDGET / LEAST_SHARE);
    let mut answer = HeaderReport::default();
    let mut paths = Vec::new();
    for path in listing.files.into_iter().map(|file| file.path) {
        if is_header(&path) && path.as_str().starts_with(&folder) {
            answer.of += 1;
            header(context, &path, until, &mut answer);
        }
        paths.push(path);
    }
    let (listed, unlisted) = by_folder(&paths, context.limits.answer_bytes / 2);
    let omitted = listing.omitted + unlisted;
    let mut fields = json!({ "headers": answer.headers, "text": answer.text, "files": listed });
    answer::set(&mut fields, "declare_nothing", (answer.empty > 0).then_some(answer.empty));
    if answer.read < answer.of {
        let words = format!("answered from {} of {} headers", answer.read, answer.of);
        fields["answered_from"] = json!(words);
    }
    answer::set(&mut fields, "omitted", (omitted > 0).then_some(omitted));
    answer.cut.truncate(context.limits.files);
    answer::set(&mut fields, "cut", answer::filled(&answer.cut));
    Ok(answer::ok(fields))
}

fn header(context: &ToolContext, path: &ProjectPath, until: Instant, answer: &mut HeaderReport) {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return answer.leave_out(path, "reading all headers takes too long; name a folder");
    }
    if answer.text.len() >= context.limits.answer_bytes || answer.unfit >= MOST_UNFIT {
        return answer.leave_out(path, "the answer is full; name a folder");
    }
    answer.read += 1;
    match context.project_dir.read(path).map(String::from_utf8) {
        Ok(Ok(source)) => {
            let header = read_header(path, &source, left.min(ONE));
            answer.add(path, &header, context.limits.answer_bytes);
        }
        Ok(Err(_)) => answer.leave_out(path, "it is not UTF-8 text"),
        Err(error) => answer.leave_out(path, &error.to_string()),
    }
}

/// Names of files by folder, which says the same as whole paths in fewer words; and how many did
/// not fit. Where a folder holds many files of one kind that are no source, such as pictures and
/// sounds, they are counted.
fn by_folder(paths: &[ProjectPath], limit: usize) -> (Value, u64) {
    let mut folders: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for path in paths {
        let kind = if is_source(path) { "" } else { path.extension().unwrap_or_default() };
        let kinds = folders.entry(path.parent().unwrap_or(".")).or_default();
        kinds.entry(kind).or_default().push(path.file_name());
    }
    let mut listed: BTreeMap<&str, Vec<Cow<'_, str>>> = BTreeMap::new();
    let (mut bytes, mut omitted) = (0, 0);
    for (folder, kinds) in folders {
        for (kind, names) in kinds {
            let count = names.len() as u64;
            let is_counted = !kind.is_empty() && names.len() > MANY;
            let words: Vec<Cow<'_, str>> = match is_counted {
                true => vec![format!("*.{kind}: {count} files").into()],
                false => names.into_iter().map(Cow::Borrowed).collect(),
            };
            for word in words {
                bytes += word.len() + 3;
                if bytes > limit {
                    omitted += if is_counted { count } else { 1 };
                } else {
                    listed.entry(folder).or_default().push(word);
                }
            }
        }
    }
    for words in listed.values_mut() {
        words.sort_unstable();
    }
    (json!(listed), omitted)
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "read_header_files",
    about: "Reads what the project's headers declare (prototypes, macros with arguments, types, \
         inline functions), each after a line `### Header: PATH ###`; headers that declare nothing are left out; a header with the same declarations as another one only names it. Lists all files by \
         folder; many files that are not sources are counted (`*.png: 40 files`). \
         Bodies and comments are left out.",
    schema: args::schema::<HeadersArgs>,
    time: TimeLimit::Of(BUDGET.saturating_add(Duration::from_secs(5))),
    call: |call| {
        Box::pin(async move {
            let context = call.context.clone();
            let args = call.args()?;
            // Parsing is work, not waiting; it must not hold up the others.
            let read = move || read(&context, &args);
            let value = tokio::task::spawn_blocking(read).await.map_err(|error| {
                ToolError::new("not_read", format!("the headers were not read: {error}"), "")
            })??;
            Ok(Reply::Answer(value))
        })
    },
    ..ToolEntry::USUAL
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_and_many_of_a_kind_that_is_no_source_are_counted() {
        let mut paths: Vec<String> = (0..12).map(|n| format!("main/part{n:02}.c")).collect();
        paths.extend((0..9).map(|n| format!("main/sound{n}.ogg")));
        paths.extend((0..8).map(|n| format!("docs/note{n}.md")));
        paths.push("LICENSE".into());
        let paths: Vec<_> = paths.iter().map(|path| ProjectPath::new(path).unwrap()).collect();
        let (listed, omitted) = by_folder(&paths, 10_000);
        assert_eq!((listed["."].clone(), omitted), (json!(["LICENSE"]), 0));
        assert_eq!(listed["docs"].as_array().unwrap().len(), 8);
        let main = listed["main"].as_array().unwrap();
        assert_eq!((main.len(), &main[0]), (13, &json!("*.ogg: 9 files")));
        let (listed, omitted) = by_folder(&paths, 40);
        assert_eq!(
            (listed, omitted),
            (json!({ ".": ["LICENSE"], "docs": ["note0.md", "note1.md"] }), 27)
        );
    }
}
