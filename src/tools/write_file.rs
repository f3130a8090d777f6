//! `write_file`: changes a file by a unified diff.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::checks::{NewFile, Surroundings};
use super::entry::ToolEntry;
use super::report::Report;
use super::{Finish, Reply, ToolContext, ToolError, answer, args, files, recorded};
use crate::model::{BlobSource, Draft, DraftChange, ProjectPath, Proposal, Settlement};
use crate::text::patch::{Applied, Patch, PatchError, Patched, apply, parse};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteFileArgs {
    /// File relative to the project folder.
    path: String,
    /// A unified diff of that one file, with three lines of context; from `/dev/null` for a new
    /// file.
    diff: String,
    /// Why, in one sentence for the person who decides.
    #[serde(default)]
    reason: String,
}

fn propose(context: &ToolContext, args: WriteFileArgs) -> Result<Reply, ToolError> {
    let path = args::path("path", &args.path)?;
    let patch = parse(&args.diff).map_err(|error| refused(&path, &error))?;
    named_alike(&path, &patch)?;
    let base = base(context, &path, &patch)?;
    let source = base.as_deref().unwrap_or_default();
    let Patched { text, hunks } = apply(source, &patch).map_err(|error| refused(&path, &error))?;
    let hunks = hunks_json(&hunks);
    if base.as_deref() == Some(text.as_str()) {
        let fields = json!({ "applied": false, "unchanged": true, "hunks": hunks });
        return Ok(Reply::Answer(answer::ok(fields)));
    }
    let file = NewFile { path: path.clone(), code: text };
    let batch = std::slice::from_ref(&file);
    let around = Surroundings { project_dir: &context.project_dir, names: &context.names, batch };
    let checks = around.check(&file);
    let content = file.code.into_bytes();
    let change =
        DraftChange::Save { path: path.clone(), base: base.map(String::into_bytes), content };
    let finish = finish(vec![path], Some(hunks));
    Ok(Reply::Propose { drafts: vec![Draft { change, reason: args.reason, checks }], finish })
}

/// The text the diff applies to; `None` when it makes the file.
fn base(
    context: &ToolContext,
    path: &ProjectPath,
    patch: &Patch,
) -> Result<Option<String>, ToolError> {
    let there = context.project_dir.read_if_there(path).map_err(files::unreadable)?;
    match there {
        None if patch.creates() => Ok(None),
        None => Err(ToolError::new(
            "not_found",
            format!("`{path}` does not exist"),
            "For a new file the diff starts with `--- /dev/null`.",
        )),
        Some(content) if patch.creates() && !content.is_empty() => Err(ToolError::new(
            "already_there",
            format!("the diff creates `{path}`, which already exists"),
            "Read the file and give a diff against its content.",
        )),
        Some(content) => files::as_text(path, content).map(Some),
    }
}

/// Whether the names in the diff's header, where there are any, are those of the file.
fn named_alike(path: &ProjectPath, patch: &Patch) -> Result<(), ToolError> {
    if patch.deletes() {
        let message = format!("the diff removes `{path}`");
        return Err(ToolError::new("bad_arguments", message, "Use `delete_files` for that."));
    }
    let Some(name) = patch.new.as_deref() else { return Ok(()) };
    let short = name.strip_prefix("b/").unwrap_or(name);
    let is_same = |text: &str| ProjectPath::new(text).is_ok_and(|named| named == *path);
    if is_same(name) || is_same(short) || name.ends_with(&format!("/{path}")) {
        return Ok(());
    }
    let name = crate::text::sanitize::line(name);
    let message = format!("the diff is about `{name}`, but `path` is `{path}`");
    Err(ToolError::new("bad_arguments", message, "Give one diff per file, with its path."))
}

fn refused(path: &ProjectPath, error: &PatchError) -> ToolError {
    let hint = match error {
        PatchError::Hunk { .. } => {
            "Read the file with `read_file` and make the diff against its current content."
        }
        PatchError::Empty | PatchError::SeveralFiles | PatchError::Line(..) => {
            "Give a unified diff of this one file."
        }
    };
    ToolError::new("diff_does_not_apply", format!("`{path}`: {error}"), hint)
}

fn hunks_json(hunks: &[Applied]) -> Vec<Value> {
    hunks.iter().enumerate().map(|(index, hunk)| hunk_json(index, hunk)).collect()
}

/// How the hunks of a recorded call were applied to what the file held then; `None` when that is
/// lost.
fn hunks_again(
    args: &Value,
    recorded: &[Proposal],
    contents: &dyn BlobSource,
) -> Option<Vec<Value>> {
    let args: WriteFileArgs = args::parse(args.clone()).ok()?;
    let base = recorded::base(recorded.first()?, contents)?;
    let source = std::str::from_utf8(&base).ok()?;
    Some(hunks_json(&apply(source, &parse(&args.diff).ok()?).ok()?.hunks))
}

/// How a hunk was applied, as far as there is something to tell.
fn hunk_json(index: usize, hunk: &Applied) -> Value {
    let mut fields = json!({ "hunk": index + 1, "line": hunk.line });
    answer::set(&mut fields, "offset", hunk.offset.filter(|offset| *offset != 0));
    answer::set(&mut fields, "white_space_differs", hunk.is_loose.then_some(true));
    answer::set(&mut fields, "counts_in_header_were_wrong", hunk.is_recounted.then_some(true));
    fields
}

/// `hunks` is how each was applied, where that is known.
fn finish(paths: Vec<ProjectPath>, hunks: Option<Vec<Value>>) -> Finish {
    Box::new(move |settlements| Box::pin(async move { Ok(report(&paths, &settlements, hunks)) }))
}

fn report(paths: &[ProjectPath], settlements: &[Settlement], hunks: Option<Vec<Value>>) -> Value {
    let report = Report::of(paths, settlements);
    let mut fields = json!({ "applied": !report.done.is_empty(), "rejected": report.rejected });
    answer::set(&mut fields, "hunks", hunks);
    report.answer("written", fields)
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "write_file",
    about: "Proposes to change one file by a unified diff. If a diff does not apply, the answer names the hunk and the reason. A person decides.",
    schema: args::schema::<WriteFileArgs>,
    call: |call| Box::pin(async move { propose(call.context, call.args()?) }),
    finish: |done| {
        let hunks = hunks_again(done.args, done.proposals, done.contents);
        recorded::ready(finish(recorded::paths(done.proposals), hunks))
    },
    ..ToolEntry::USUAL
};
