//! `read_header_files` and `read_project_files`: a large project without its bulk.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Limits, Reply, Tool, ToolContext, ToolError, answer, args, files};
use crate::lang::{Header, read_header};
use crate::model::{ProjectPath, ToolSpec};
use crate::workspace::Sandbox;

/// Reads the declarations of headers.
pub const HEADERS: &str = "read_header_files";

/// How long all headers together may take.
const BUDGET: Duration = Duration::from_secs(20);
/// How long the grammar may look at one header.
const ONE: Duration = Duration::from_secs(4);
/// Files that are looked at: more than any project that is not a whole framework.
const MOST_FILES: usize = 50_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Folder relative to the project folder whose headers are read; nothing for all of them.
    #[serde(default)]
    folder: Option<String>,
}

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    let (sandbox, limits) = (Arc::clone(&context.sandbox), context.limits);
    Arc::new(ReadHeaders { sandbox, limits })
}

struct ReadHeaders {
    sandbox: Arc<Sandbox>,
    limits: Limits,
}

/// What the answer collects.
#[derive(Default)]
struct Answer {
    headers: usize,
    text: String,
    cut: Vec<Value>,
}

impl Answer {
    fn add(&mut self, path: &ProjectPath, header: &Header, limit: usize) {
        let block = block(path, header);
        if self.text.len() + block.len() > limit {
            let count = header.declarations.len();
            self.leave_out(path, &format!("the answer is full; it has {count} declarations"));
            return;
        }
        self.headers += 1;
        self.text.push_str(&block);
        if header.in_haste {
            self.cut.push(json!({ "path": path, "why": "too long: only prototypes were read" }));
        }
    }

    fn leave_out(&mut self, path: &ProjectPath, why: &str) {
        self.cut.push(json!({ "path": path, "why": why }));
    }
}

/// The declarations of one header as text for a model.
fn block(path: &ProjectPath, header: &Header) -> String {
    let mut text = format!("### Header: {path} ###\n");
    for found in &header.declarations {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", found.text);
    }
    text.push('\n');
    text
}

fn is_header(path: &ProjectPath) -> bool {
    matches!(path.extension(), Some("h" | "hpp" | "hh" | "hxx"))
}

impl ReadHeaders {
    fn read(&self, args: &Args) -> Result<Value, ToolError> {
        let folder = files::folder(&self.sandbox, args.folder.as_deref().unwrap_or("."))?;
        let listing = self.sandbox.list(MOST_FILES);
        let started = Instant::now();
        let mut answer = Answer::default();
        let mut paths = Vec::new();
        for path in listing.files.into_iter().map(|file| file.path) {
            if is_header(&path) && path.as_str().starts_with(&folder) {
                self.header(&path, started, &mut answer);
            }
            paths.push(path);
        }
        let (listed, unlisted) = by_folder(&paths, self.limits.answer_bytes / 2);
        let omitted = listing.omitted + unlisted;
        let mut fields = json!({ "headers": answer.headers, "text": answer.text, "files": listed });
        if let Some(fields) = fields.as_object_mut() {
            if omitted > 0 {
                fields.insert("omitted".to_owned(), json!(omitted));
            }
            if !answer.cut.is_empty() {
                answer.cut.truncate(self.limits.files);
                fields.insert("cut".to_owned(), Value::Array(answer.cut));
            }
        }
        Ok(answer::ok(fields))
    }

    fn header(&self, path: &ProjectPath, started: Instant, answer: &mut Answer) {
        let left = BUDGET.saturating_sub(started.elapsed());
        if left.is_zero() {
            return answer.leave_out(path, "reading all headers takes too long; name a folder");
        }
        if answer.text.len() >= self.limits.answer_bytes {
            return answer.leave_out(path, "the answer is full; name a folder");
        }
        match self.sandbox.read(path).map(String::from_utf8) {
            Ok(Ok(source)) => {
                let header = read_header(path, &source, left.min(ONE));
                answer.add(path, &header, self.limits.answer_bytes);
            }
            Ok(Err(_)) => answer.leave_out(path, "it is not UTF-8 text"),
            Err(error) => answer.leave_out(path, &error.to_string()),
        }
    }
}

/// Names of files by folder, which says the same as whole paths in fewer words; and how many did
/// not fit.
fn by_folder(paths: &[ProjectPath], limit: usize) -> (Value, u64) {
    let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let (mut bytes, mut omitted) = (0, 0);
    for path in paths {
        bytes += path.file_name().len() + 3;
        if bytes > limit {
            omitted += 1;
            continue;
        }
        folders.entry(path.parent().unwrap_or(".")).or_default().push(path.file_name());
    }
    (json!(folders), omitted)
}

impl Tool for ReadHeaders {
    fn spec(&self) -> ToolSpec {
        args::spec::<Args>(
            HEADERS,
            "Reads what the project's headers declare (prototypes, macros with arguments, types, \
             inline functions), each after a line `### Header: PATH ###`, and lists all files by \
             folder. Bodies and comments are left out.",
        )
    }

    fn timeout(&self) -> Duration {
        BUDGET + Duration::from_secs(5)
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        let (sandbox, limits) = (Arc::clone(&self.sandbox), self.limits);
        Box::pin(async move {
            let args = args::parse(args)?;
            // Parsing is work, not waiting; it must not hold up the others.
            let read = move || Self { sandbox, limits }.read(&args);
            let value = tokio::task::spawn_blocking(read).await.map_err(|error| {
                ToolError::new("not_read", format!("the headers were not read: {error}"), "")
            })??;
            Ok(Reply::Answer(value))
        })
    }
}
