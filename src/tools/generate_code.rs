//! `generate_code`: proposes whole files, one proposal each.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::checks::{NewFile, Surroundings};
use super::cmake::{self, CMakePlan, ListEdit, Unregistered};
use super::entry::ToolEntry;
use super::report::Report;
use super::{Finish, Reply, ToolContext, ToolError, answer, args, files, recorded};
use crate::model::{Check, Draft, DraftChange, ProjectPath, Proposal, Settlement};
use crate::text::mark;
use crate::workspace::{DEFAULT_LIST_LIMIT, MAX_FILE_BYTES, Registration, is_compiled};

/// What to do about sources that could not be registered.
const ADVICE: &str = "These sources are not compiled. Ask the person where they belong, or change \
                      the list by `write_file`.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GenerateCodeArgs {
    /// The files with their whole new contents.
    files: Vec<CodeFile>,
    /// Why, in one sentence for the person who decides.
    #[serde(default)]
    reason: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CodeFile {
    /// Path relative to the project folder.
    file_name: String,
    /// The whole content.
    code: String,
}

/// What the answer is made of.
struct Planned {
    /// The files themselves, in the order of their drafts.
    files: Vec<ProjectPath>,
    /// Lists that build some of them already.
    lists: Vec<ProjectPath>,
    /// Lists that change, in the order of their drafts, which follow those of the files, each with
    /// the new sources it builds.
    edits: Vec<(ProjectPath, Vec<ProjectPath>)>,
    /// Sources that no list will build.
    unregistered: Vec<Unregistered>,
}

impl Planned {
    /// As far as the proposals tell it: those of the files come first, as many as were given.
    fn of(recorded: &[Proposal], given: usize) -> Self {
        let (files, edits) = recorded.split_at(given.min(recorded.len()));
        let is_new = |proposal: &&Proposal| proposal.change.before().is_none();
        let new: Vec<Proposal> = files.iter().filter(is_new).cloned().collect();
        let lists = recorded::paths(edits);
        let built_by = |list: &ProjectPath| {
            let sources = recorded::paths(&new).into_iter().filter(cmake::needs_list);
            sources.filter(|source| cmake::nearest_of(source, &lists) == Some(list)).collect()
        };
        let edits = lists.iter().map(|list| (list.clone(), built_by(list))).collect();
        let files = recorded::paths(files);
        Self { files, lists: Vec::new(), edits, unregistered: Vec::new() }
    }

    fn finish(self) -> Finish {
        Box::new(move |settlements| Box::pin(async move { Ok(report(self, &settlements)) }))
    }
}

fn propose(context: &ToolContext, args: GenerateCodeArgs) -> Result<Reply, ToolError> {
    let reason = args.reason;
    let mut batch = new_files(args.files)?;
    mark(context, &mut batch);
    let plan = plan(context, &batch);
    let files: Vec<ProjectPath> = batch.iter().map(|file| file.path.clone()).collect();
    // The checks see the lists as they will be.
    batch.extend(
        plan.edits.iter().map(|edit| NewFile { path: edit.path.clone(), code: edit.text.clone() }),
    );
    let around =
        Surroundings { project_dir: &context.project_dir, names: &context.names, batch: &batch };
    let mut lists: Vec<ProjectPath> = Vec::new();
    let mut drafts = Vec::with_capacity(batch.len());
    for file in batch.iter().take(files.len()) {
        let base = context.project_dir.read_if_there(&file.path).map_err(files::unreadable)?;
        if is_compiled(&file.path)
            && let Registration::In(list) = around.registration(&file.path)
            && !lists.contains(&list)
            && plan.edits.iter().all(|edit| edit.path != list)
        {
            lists.push(list);
        }
        let content = file.code.clone().into_bytes();
        let change = DraftChange::Save { path: file.path.clone(), base, content };
        drafts.push(Draft { change, reason: reason.clone(), checks: around.check(file) });
    }
    for (edit, file) in plan.edits.iter().zip(batch.iter().skip(files.len())) {
        drafts.push(list_draft(edit, around.check(file)));
    }
    let CMakePlan { edits, unregistered } = plan;
    let edits = edits.into_iter().map(|edit| (edit.path, edit.sources)).collect();
    let planned = Planned { files, lists, edits, unregistered };
    Ok(Reply::Propose { drafts, finish: planned.finish() })
}

/// What it takes to have the new sources built.
fn plan(context: &ToolContext, batch: &[NewFile]) -> CMakePlan {
    let is_new =
        |file: &&NewFile| cmake::needs_list(&file.path) && !context.project_dir.is_file(&file.path);
    let sources: Vec<ProjectPath> =
        batch.iter().filter(is_new).map(|file| file.path.clone()).collect();
    cmake::plan(&context.project_dir, &sources, &|list| batch.iter().any(|file| file.path == *list))
}

/// Marks the top list of a project that this team makes, or that carries the mark already.
fn mark(context: &ToolContext, batch: &mut [NewFile]) {
    let all: Vec<ProjectPath> = batch.iter().map(|file| file.path.clone()).collect();
    let Some(top) = batch.iter_mut().find(|file| file.path.as_str() == "CMakeLists.txt") else {
        return;
    };
    let is_generated = match context.project_dir.read_if_there(&top.path) {
        Ok(Some(old)) => mark::is_marked(&String::from_utf8_lossy(&old)),
        Ok(None) => is_own(context, &all),
        Err(_) => false,
    };
    if is_generated {
        top.code = mark::marked(&top.code);
    }
}

/// Whether all sources of the project are those that this team writes.
fn is_own(context: &ToolContext, batch: &[ProjectPath]) -> bool {
    let organized = context.state.snapshot().organized;
    let is_known = |path: &ProjectPath| {
        batch.contains(path) || organized.iter().any(|file| file.path == *path)
    };
    let files = context.project_dir.list(DEFAULT_LIST_LIMIT).files;
    files.iter().filter(|file| is_compiled(&file.path)).all(|file| is_known(&file.path))
}

/// The change of a list, with a reason of its own: nobody else wished for it.
fn list_draft(edit: &ListEdit, checks: Vec<Check>) -> Draft {
    let names = |is: fn(&ProjectPath) -> bool, what: &str| {
        let all = edit.sources.iter().filter(|source| is(source));
        let names: Vec<String> = all.map(|source| format!("`{source}`")).collect();
        (!names.is_empty()).then(|| format!("{} {what}", names.join(", ")))
    };
    let reasons: Vec<String> = [
        names(is_compiled, "is compiled"),
        names(|path| !is_compiled(path), "is found when it is included"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let (path, base) = (edit.path.clone(), edit.base.clone().into_bytes());
    let content = edit.text.clone().into_bytes();
    Draft {
        change: DraftChange::Insert { path, base, content },
        reason: format!("So that {}.", reasons.join(", and ")),
        checks,
    }
}

fn new_files(given: Vec<CodeFile>) -> Result<Vec<NewFile>, ToolError> {
    let mut files: Vec<NewFile> = Vec::with_capacity(given.len());
    let bad = |message: String, hint: &str| Err(ToolError::new("bad_arguments", message, hint));
    for (index, CodeFile { file_name, code }) in given.into_iter().enumerate() {
        let path = args::path(&format!("files[{index}].file_name"), &file_name)?;
        if files.iter().any(|file| file.path == path) {
            let message = format!("files[{index}].file_name: `{path}` is given twice");
            return bad(message, "Give every file once, with its whole content.");
        }
        if code.len() as u64 > MAX_FILE_BYTES {
            let message = format!("files[{index}].code: longer than {MAX_FILE_BYTES} bytes");
            return bad(message, "Split the file.");
        }
        files.push(NewFile { path, code });
    }
    if files.is_empty() {
        return bad("files: the list is empty".to_owned(), "Give at least one file.");
    }
    Ok(files)
}

/// Makes the answer: what was saved, what was rejected and with which words, what went wrong, and
/// which lists build the new sources.
fn report(planned: Planned, settlements: &[Settlement]) -> Value {
    let Planned { files, lists, edits, unregistered } = planned;
    let (for_files, for_lists) = settlements.split_at(files.len().min(settlements.len()));
    let list_paths: Vec<&ProjectPath> = edits.iter().map(|(list, _)| list).collect();
    let changed = Report::of(&list_paths, for_lists);
    let mut report = Report::of(&files, for_files);
    let mut registered: Vec<Value> = lists.iter().map(|list| json!(list)).collect();
    registered.extend(changed.done.iter().cloned());
    let mut open: Vec<Value> = unregistered
        .iter()
        .map(|open| json!({ "file_name": open.source, "list": open.list, "why": open.why }))
        .collect();
    let mut missing: Vec<Value> = Vec::new();
    for (list, sources) in &edits {
        let is_changed = changed.done.contains(&json!(list));
        for source in sources {
            match (is_changed, report.done.contains(&json!(source))) {
                (true, false) => missing.push(json!({ "file_name": source, "list": list })),
                (false, true) => open.push(json!({
                    "file_name": source, "list": list, "why": "the change of the list was not approved",
                })),
                (true, true) | (false, false) => {}
            }
        }
    }
    report.take(changed);
    let mut fields = json!({
        "saved": report.done, "rejected": report.rejected, "registered_in": registered,
    });
    if !open.is_empty() {
        fields["not_registered"] = json!(open);
        fields["advice"] = json!(ADVICE);
    }
    answer::set(&mut fields, "listed_but_missing", answer::filled(&missing));
    report.answer("saved", fields)
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "generate_code",
    about: "Proposes to save whole files, and to list new sources in the CMakeLists.txt of their \
         component. A person decides on each; the answer lists the saved files, why others were rejected, and which CMake lists build the new sources.",
    schema: args::schema::<GenerateCodeArgs>,
    call: |call| Box::pin(async move { propose(call.context, call.args()?) }),
    finish: |done| {
        let given = args::parse::<GenerateCodeArgs>(done.args.clone())
            .map_or(done.proposals.len(), |args| args.files.len());
        recorded::ready(Planned::of(done.proposals, given).finish())
    },
    ..ToolEntry::USUAL
};
