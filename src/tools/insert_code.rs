//! `insert_code`: puts code into files that exist, and leaves the rest of them alone.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::checks::{NewFile, Surroundings};
use super::entry::ToolEntry;
use super::report::Report;
use super::{Finish, Reply, ToolContext, ToolError, answer, args, files, recorded};
use crate::model::{
    BlobSource, Check, CheckKind, Draft, DraftChange, FindingLevel, ProjectPath, Proposal,
    Settlement,
};
use crate::text::insert::{
    InsertError, InsertErrorKind, Insertion, Match, Merged, PlaceError, insert,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InsertCodeArgs {
    /// What goes where. Insertions into the same file are merged and decided together.
    insertions: Vec<InsertRequest>,
    /// Why, in one sentence for the person who decides.
    #[serde(default)]
    reason: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InsertRequest {
    /// An existing file, relative to the project folder.
    file_name: String,
    /// The 10 to 20 lines right before the place, exactly as the file has them.
    context: String,
    /// The code to insert after the context; empty when only includes are wanted.
    insertion_code: String,
    /// Headers the code needs, such as `<string.h>` or `"led.h"`; those the file has are skipped.
    #[serde(default)]
    includes: Vec<String>,
}

/// The insertions for one file, with their places in the call.
struct FileWishes {
    path: ProjectPath,
    indices: Vec<usize>,
    insertions: Vec<Insertion>,
}

fn propose(context: &ToolContext, args: InsertCodeArgs) -> Result<Reply, ToolError> {
    let (mut drafts, mut paths, mut details) = (Vec::new(), Vec::new(), Vec::new());
    for wishes in by_file(args.insertions)? {
        let base = context.project_dir.read(&wishes.path).map_err(files::unreadable)?;
        let source = files::as_text(&wishes.path, base)?;
        let merged =
            insert(&source, &wishes.insertions).map_err(|error| uncertain(&wishes, &error))?;
        details.push(detail(&wishes.path, &merged));
        if merged.text == source {
            continue;
        }
        let checks = checks(context, &wishes.path, &source, &merged);
        let path = wishes.path;
        paths.push(path.clone());
        let content = merged.text.into_bytes();
        let change = DraftChange::Insert { path, base: source.into_bytes(), content };
        drafts.push(Draft { change, reason: args.reason.clone(), checks });
    }
    if drafts.is_empty() {
        let fields = json!({ "inserted": [], "rejected": [], "places": details });
        return Ok(Reply::Answer(answer::ok(fields)));
    }
    Ok(Reply::Propose { drafts, finish: finish(paths, Some(details)) })
}

/// Where the insertions of a recorded call went in what the files held then; `None` when that
/// is lost.
fn places_again(
    context: &ToolContext,
    args: &Value,
    recorded: &[Proposal],
    contents: &dyn BlobSource,
) -> Option<Vec<Value>> {
    let args: InsertCodeArgs = args::parse(args.clone()).ok()?;
    let place = |wishes: FileWishes| {
        let of = |proposal: &&Proposal| proposal.change.path() == Some(&wishes.path);
        let held = match recorded.iter().find(of) {
            Some(proposal) => recorded::base(proposal, contents)?,
            // There was nothing to do in it.
            None => context.project_dir.read(&wishes.path).ok()?,
        };
        let source = files::as_text(&wishes.path, held).ok()?;
        Some(detail(&wishes.path, &insert(&source, &wishes.insertions).ok()?))
    };
    by_file(args.insertions).ok()?.into_iter().map(place).collect()
}

fn checks(context: &ToolContext, path: &ProjectPath, source: &str, merged: &Merged) -> Vec<Check> {
    let file = NewFile { path: path.clone(), code: merged.text.clone() };
    let batch = std::slice::from_ref(&file);
    let around = Surroundings { project_dir: &context.project_dir, names: &context.names, batch };
    let mut checks = around.check(&file);
    let before = NewFile { path: path.clone(), code: source.to_owned() };
    for check in &mut checks {
        let was_wrong = || {
            let known = around.check(&before);
            known
                .iter()
                .any(|old| old.kind == check.kind && old.level() == Some(FindingLevel::Stop))
        };
        let about_content = matches!(check.kind, CheckKind::Parses | CheckKind::Text);
        // What was wrong before is not the insertion's fault.
        if about_content && check.level() == Some(FindingLevel::Stop) && was_wrong() {
            for finding in &mut check.findings {
                finding.level = FindingLevel::Warning;
                finding.text.push_str(", unchanged");
            }
        }
    }
    checks
}

fn by_file(wishes: Vec<InsertRequest>) -> Result<Vec<FileWishes>, ToolError> {
    let mut files: Vec<FileWishes> = Vec::new();
    for (index, wish) in wishes.into_iter().enumerate() {
        let path = args::path(&format!("insertions[{index}].file_name"), &wish.file_name)?;
        let InsertRequest { context, insertion_code: code, includes, .. } = wish;
        let insertion = Insertion { context, code, includes };
        match files.iter_mut().find(|file| file.path == path) {
            Some(file) => {
                file.indices.push(index);
                file.insertions.push(insertion);
            }
            None => {
                files.push(FileWishes { path, indices: vec![index], insertions: vec![insertion] });
            }
        }
    }
    if files.is_empty() {
        let message = "insertions: the list is empty";
        return Err(ToolError::new("bad_arguments", message, "Give at least one insertion."));
    }
    Ok(files)
}

/// Tells a model why a place is not certain.
fn uncertain(wishes: &FileWishes, error: &InsertError) -> ToolError {
    let index = wishes.indices.get(error.index).copied().unwrap_or(error.index);
    let (code, hint) = match &error.kind {
        InsertErrorKind::Place(PlaceError::Ambiguous { .. }) => (
            "ambiguous_context",
            "Give more lines before the place, up to 20, so that only one place fits.",
        ),
        InsertErrorKind::Place(PlaceError::Absent { .. }) => (
            "missing_context",
            "Read the file with `read_project_files` and give the lines right before the place as \
             it has them.",
        ),
        InsertErrorKind::Place(PlaceError::Empty) => {
            ("bad_arguments", "Give the 10 to 20 lines right before the place.")
        }
        InsertErrorKind::NotAnInclude(_) => {
            ("bad_arguments", "Write includes as `<string.h>` or `\"led.h\"`.")
        }
        InsertErrorKind::Nothing => ("bad_arguments", "Give code, includes or both."),
    };
    let message = format!("insertions[{index}], `{}`: {}", wishes.path, error.kind);
    ToolError::new(code, message, hint)
}

/// Where the insertions of one file went, for the model.
fn detail(path: &ProjectPath, merged: &Merged) -> Value {
    let placed: Vec<Value> = merged
        .placed
        .iter()
        .map(|placed| {
            let matched = match placed.matched {
                Match::Exact => "exactly",
                Match::Whitespace => "with different white space",
            };
            match placed.is_present {
                true => json!({ "present": true }),
                false => json!({ "after_line": placed.after_line, "context_matched": matched }),
            }
        })
        .collect();
    json!({ "file_name": path, "insertions": placed, "includes_added": merged.includes })
}

/// `details` is where the insertions of each file went, where that is known.
fn finish(paths: Vec<ProjectPath>, details: Option<Vec<Value>>) -> Finish {
    Box::new(move |settlements| Box::pin(async move { Ok(report(&paths, &settlements, details)) }))
}

fn report(paths: &[ProjectPath], settlements: &[Settlement], details: Option<Vec<Value>>) -> Value {
    let report = Report::of(paths, settlements);
    let mut fields = json!({ "inserted": report.done, "rejected": report.rejected });
    answer::set(&mut fields, "places", details);
    report.answer("inserted", fields)
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "insert_code",
    about: "Proposes to insert code into existing files, each right after a context of 10 to 20 \
         lines, and to add the includes it needs where they are missing. The rest of the file does not change. A person decides on each file.",
    schema: args::schema::<InsertCodeArgs>,
    call: |call| Box::pin(async move { propose(call.context, call.args()?) }),
    finish: |done| {
        let places = places_again(done.context, done.args, done.proposals, done.contents);
        recorded::ready(finish(recorded::paths(done.proposals), places))
    },
    ..ToolEntry::USUAL
};
