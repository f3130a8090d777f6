//! `list_project_files`, `read_file`, `read_code_files` and `read_project_files`: what the project
//! holds.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::ToolEntry;
use super::{Reply, ToolContext, ToolError, answer, args};
use crate::model::{ProjectPath, UserError};
use crate::text::file_blocks;
use crate::workspace::{DEFAULT_LIST_LIMIT, ProjectDir, WorkspaceError, is_source};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArgs {
    /// Folder relative to the project folder; `.` or nothing for the whole project.
    #[serde(default)]
    project_path: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadArgs {
    /// File relative to the project folder.
    path: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChosenArgs {
    /// Files relative to the project folder.
    paths: Vec<String>,
}

/// Tells a model why a file cannot be read.
pub(super) fn unreadable(error: WorkspaceError) -> ToolError {
    let code = match &error {
        WorkspaceError::Missing(_) => "not_found",
        WorkspaceError::Outside(_) => "outside_project",
        WorkspaceError::NotAFile(_) => "not_a_file",
        WorkspaceError::TooLarge { .. } => "too_large",
        WorkspaceError::Root { .. } | WorkspaceError::Io { .. } => "unreadable",
    };
    ToolError::from_user_error(code, &UserError::from(error))
}

/// The text of a file that shall be changed.
pub(super) fn as_text(path: &ProjectPath, content: Vec<u8>) -> Result<String, ToolError> {
    let refuse = |what: &str| {
        let hint = "Only UTF-8 text can be changed; ask the person to convert the file.";
        Err(ToolError::new("not_text", format!("`{path}` is {what}"), hint))
    };
    if content.starts_with(&[0xff, 0xfe]) || content.starts_with(&[0xfe, 0xff]) {
        return refuse("UTF-16 text");
    }
    match String::from_utf8(content) {
        Ok(text) if text.contains('\0') => refuse("binary"),
        Ok(text) => Ok(text),
        Err(error) if error.as_bytes().contains(&0) => refuse("binary"),
        Err(_) => refuse("not UTF-8 text"),
    }
}

/// A folder as the beginning of the paths in it.
pub(super) fn folder(project_dir: &ProjectDir, text: &str) -> Result<String, ToolError> {
    let text = text.trim();
    // Some models give the folder as they were told it.
    if matches!(text, "" | "." | "./") || std::path::Path::new(text) == project_dir.root() {
        return Ok(String::new());
    }
    Ok(format!("{}/", args::path("project_path", text)?))
}

fn list(context: &ToolContext, args: ListArgs) -> Result<Value, ToolError> {
    let folder = folder(&context.project_dir, args.project_path.as_deref().unwrap_or("."))?;
    let listing = context.project_dir.list(DEFAULT_LIST_LIMIT);
    let mut files: Vec<String> = listing
        .files
        .into_iter()
        .map(|file| file.path.to_string())
        .filter(|path| path.starts_with(&folder))
        .collect();
    let over = files.len().saturating_sub(context.limits.files);
    files.truncate(context.limits.files);
    let omitted = listing.omitted + over as u64;
    let mut fields = json!({ "files": files });
    answer::set(&mut fields, "omitted", (omitted > 0).then_some(omitted));
    Ok(answer::ok(fields))
}

fn read(context: &ToolContext, args: &ReadArgs) -> Result<Value, ToolError> {
    let path = args::path("path", &args.path)?;
    let (content, omitted) = read_text(context, &path, context.limits.file_bytes)?;
    let mut fields = json!({ "path": path, "content": content });
    answer::set(&mut fields, "omitted_bytes", (omitted > 0).then_some(omitted));
    Ok(answer::ok(fields))
}

/// The project's own sources.
fn read_code(context: &ToolContext) -> Value {
    let listing = context.project_dir.list(DEFAULT_LIST_LIMIT);
    blocks(context, listing.files.into_iter().map(|file| file.path).filter(is_source))
}

/// The files that were chosen.
fn read_chosen(context: &ToolContext, args: &ChosenArgs) -> Result<Value, ToolError> {
    let paths = args::distinct_paths(&args.paths)?;
    Ok(blocks(context, paths))
}

fn blocks(context: &ToolContext, paths: impl IntoIterator<Item = ProjectPath>) -> Value {
    let (mut text, mut cut) = (String::new(), Vec::new());
    let mut files = 0;
    for path in paths {
        let space = context.limits.answer_bytes.saturating_sub(text.len());
        if space == 0 {
            cut.push(json!({ "path": path, "why": "the answer is full" }));
            continue;
        }
        match read_text(context, &path, context.limits.file_bytes.min(space)) {
            Ok((content, omitted)) => {
                files += 1;
                text.push_str(&format!("{}\n{content}", file_blocks::head(path.as_str())));
                text.push_str(if content.ends_with('\n') { "\n" } else { "\n\n" });
                if omitted > 0 {
                    cut.push(json!({ "path": path, "omitted_bytes": omitted }));
                }
            }
            Err(error) => cut.push(json!({ "path": path, "why": error.message })),
        }
    }
    let mut fields = json!({ "files": files, "text": text });
    answer::set(&mut fields, "cut", answer::filled(&cut));
    answer::ok(fields)
}

/// The beginning of a text file, and how many bytes of it are left out.
fn read_text(
    context: &ToolContext,
    path: &ProjectPath,
    limit: usize,
) -> Result<(String, u64), ToolError> {
    let excerpt = context.project_dir.read_start(path, limit as u64 + 1).map_err(unreadable)?;
    let end = match std::str::from_utf8(&excerpt.content) {
        Ok(_) => excerpt.content.len(),
        // The cut may have hit the middle of a character.
        Err(error) if error.error_len().is_none() && excerpt.omitted() > 0 => error.valid_up_to(),
        Err(_) => {
            let message = format!("`{path}` is not a text file");
            return Err(ToolError::new("not_text", message, "Read source files only."));
        }
    };
    let text = String::from_utf8_lossy(excerpt.content.get(..end).unwrap_or_default());
    let (kept, _) = answer::cut(&text, limit);
    Ok((kept.to_owned(), excerpt.total.saturating_sub(kept.len() as u64)))
}

pub(super) const LIST: ToolEntry = ToolEntry {
    name: "list_project_files",
    about: "Lists the files of the project, without build output and ignored files.",
    schema: args::schema::<ListArgs>,
    call: |call| Box::pin(async move { list(call.context, call.args()?).map(Reply::Answer) }),
    ..ToolEntry::USUAL
};

pub(super) const READ: ToolEntry = ToolEntry {
    name: "read_file",
    about: "Reads one text file of the project.",
    schema: args::schema::<ReadArgs>,
    call: |call| Box::pin(async move { read(call.context, &call.args()?).map(Reply::Answer) }),
    ..ToolEntry::USUAL
};

pub(super) const READ_CODE: ToolEntry = ToolEntry {
    name: "read_code_files",
    about: "Reads all sources and build files of the project, each after a line \
         `### File: PATH ###`.",
    schema: args::schema::<NoArgs>,
    call: |call| {
        Box::pin(async move {
            let context = call.context;
            let NoArgs {} = call.args()?;
            Ok(Reply::Answer(read_code(context)))
        })
    },
    ..ToolEntry::USUAL
};

pub(super) const READ_CHOSEN: ToolEntry = ToolEntry {
    name: "read_project_files",
    about: "Reads the files that are named, each after a line `### File: PATH ###`. Files that cannot be read, or do not fit, are listed in `cut`.",
    schema: args::schema::<ChosenArgs>,
    call: |call| {
        Box::pin(async move { read_chosen(call.context, &call.args()?).map(Reply::Answer) })
    },
    ..ToolEntry::USUAL
};
