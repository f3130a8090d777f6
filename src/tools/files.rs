//! `list_project_files`, `read_file`, `read_code_files` and `read_project_files`: what the project
//! holds.

use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{AnswerLimits, Reply, Tool, ToolContext, ToolError, answer, args};
use crate::model::{ProjectPath, ToolSpec, UserError};
use crate::text::file_blocks;
use crate::workspace::{DEFAULT_LIST_LIMIT, ProjectDir, WorkspaceError, is_source};

pub const LIST: &str = "list_project_files";
/// Reads one file.
pub const READ: &str = "read_file";
/// Reads the project's sources.
pub const READ_CODE: &str = "read_code_files";
/// Reads chosen files.
pub const READ_CHOSEN: &str = "read_project_files";

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

#[derive(Clone, Copy)]
enum What {
    List,
    Read,
    ReadCode,
    ReadChosen,
}

struct FileBatch {
    what: What,
    project_dir: Arc<ProjectDir>,
    limits: AnswerLimits,
}

fn make(what: What, context: &ToolContext) -> Arc<dyn Tool> {
    let (project_dir, limits) = (Arc::clone(&context.project_dir), context.limits);
    Arc::new(FileBatch { what, project_dir, limits })
}

/// Makes `list_project_files`.
pub(super) fn make_list(context: &ToolContext) -> Arc<dyn Tool> {
    make(What::List, context)
}

/// Makes `read_file`.
pub(super) fn make_read(context: &ToolContext) -> Arc<dyn Tool> {
    make(What::Read, context)
}

/// Makes `read_code_files`.
pub(super) fn make_read_code(context: &ToolContext) -> Arc<dyn Tool> {
    make(What::ReadCode, context)
}

/// Makes `read_project_files`.
pub(super) fn make_read_chosen(context: &ToolContext) -> Arc<dyn Tool> {
    make(What::ReadChosen, context)
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

impl FileBatch {
    fn list(&self, args: ListArgs) -> Result<Value, ToolError> {
        let folder = folder(&self.project_dir, args.project_path.as_deref().unwrap_or("."))?;
        let listing = self.project_dir.list(DEFAULT_LIST_LIMIT);
        let mut files: Vec<String> = listing
            .files
            .into_iter()
            .map(|file| file.path.to_string())
            .filter(|path| path.starts_with(&folder))
            .collect();
        let over = files.len().saturating_sub(self.limits.files);
        files.truncate(self.limits.files);
        let omitted = listing.omitted + over as u64;
        let mut fields = json!({ "files": files });
        if let (Some(fields), true) = (fields.as_object_mut(), omitted > 0) {
            fields.insert("omitted".to_owned(), json!(omitted));
        }
        Ok(answer::ok(fields))
    }

    fn read(&self, args: &ReadArgs) -> Result<Value, ToolError> {
        let path = args::path("path", &args.path)?;
        let (content, omitted) = self.text(&path, self.limits.file_bytes)?;
        let mut fields = json!({ "path": path, "content": content });
        if let (Some(fields), true) = (fields.as_object_mut(), omitted > 0) {
            fields.insert("omitted_bytes".to_owned(), json!(omitted));
        }
        Ok(answer::ok(fields))
    }

    /// The project's own sources.
    fn read_code(&self) -> Value {
        let listing = self.project_dir.list(DEFAULT_LIST_LIMIT);
        self.blocks(listing.files.into_iter().map(|file| file.path).filter(is_source))
    }

    /// The files that were chosen.
    fn read_chosen(&self, args: &ChosenArgs) -> Result<Value, ToolError> {
        let mut paths: Vec<ProjectPath> = Vec::with_capacity(args.paths.len());
        for (index, text) in args.paths.iter().enumerate() {
            let path = args::path(&format!("paths[{index}]"), text)?;
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        if paths.is_empty() {
            let message = "paths: the list is empty";
            return Err(ToolError::new("bad_arguments", message, "Name at least one file."));
        }
        Ok(self.blocks(paths))
    }

    fn blocks(&self, paths: impl IntoIterator<Item = ProjectPath>) -> Value {
        let (mut text, mut cut) = (String::new(), Vec::new());
        let mut files = 0;
        for path in paths {
            let space = self.limits.answer_bytes.saturating_sub(text.len());
            if space == 0 {
                cut.push(json!({ "path": path, "why": "the answer is full" }));
                continue;
            }
            match self.text(&path, self.limits.file_bytes.min(space)) {
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
        if let (Some(fields), false) = (fields.as_object_mut(), cut.is_empty()) {
            fields.insert("cut".to_owned(), Value::Array(cut));
        }
        answer::ok(fields)
    }

    /// The beginning of a text file, and how many bytes of it are left out.
    fn text(&self, path: &ProjectPath, limit: usize) -> Result<(String, u64), ToolError> {
        let excerpt = self.project_dir.read_start(path, limit as u64 + 1).map_err(unreadable)?;
        let end = match std::str::from_utf8(&excerpt.content) {
            Ok(_) => excerpt.content.len(),
            // The cut may have hit the middle of a character.
            Err(error) if error.error_len().is_none() && excerpt.omitted() > 0 => {
                error.valid_up_to()
            }
            Err(_) => {
                let message = format!("`{path}` is not a text file");
                return Err(ToolError::new("not_text", message, "Read source files only."));
            }
        };
        let text = String::from_utf8_lossy(excerpt.content.get(..end).unwrap_or_default());
        let (kept, _) = answer::cut(&text, limit);
        Ok((kept.to_owned(), excerpt.total.saturating_sub(kept.len() as u64)))
    }
}

impl Tool for FileBatch {
    fn spec(&self) -> ToolSpec {
        match self.what {
            What::List => args::spec::<ListArgs>(
                LIST,
                "Lists the files of the project, without build output and ignored files.",
            ),
            What::Read => args::spec::<ReadArgs>(READ, "Reads one text file of the project."),
            What::ReadCode => args::spec::<NoArgs>(
                READ_CODE,
                "Reads all sources and build files of the project, each after a line \
                 `### File: PATH ###`.",
            ),
            What::ReadChosen => args::spec::<ChosenArgs>(
                READ_CHOSEN,
                "Reads the files that are named, each after a line `### File: PATH ###`. Files that cannot be read, or do not fit, are listed in `cut`.",
            ),
        }
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move {
            let value = match self.what {
                What::List => self.list(args::parse(args)?)?,
                What::Read => self.read(&args::parse(args)?)?,
                What::ReadCode => {
                    let NoArgs {} = args::parse(args)?;
                    self.read_code()
                }
                What::ReadChosen => self.read_chosen(&args::parse(args)?)?,
            };
            Ok(Reply::Answer(value))
        })
    }
}
