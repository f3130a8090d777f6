//! The copy of the project that programs and tests of agents run over.
//!
//! Owns what goes into it: the project's files, the proposals that wait, and the files of the call, in
//! this order. Kept copies live as long as the session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Caller, ToolContext, ToolError, args};
use crate::model::{Change, ContentHash, ProjectPath, TestedFile};
use crate::toolchain::scratch::ScratchFolder;

/// Files of a project that are copied, at most.
const MOST_FILES: usize = 5_000;

/// Bytes of a project that are copied, at most.
const MOST_BYTES: u64 = 64 << 20;

/// Kept copies, at most.
const MOST_KEPT: usize = 8;

/// A file of the call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GivenFile {
    /// Path relative to the project folder.
    file_name: String,
    /// The whole content.
    code: String,
}

impl GivenFile {
    pub(super) fn name(&self) -> &str {
        &self.file_name
    }

    pub(super) fn text(&self) -> &str {
        &self.code
    }
}

/// A copy that is filled.
pub(super) struct Scratch {
    pub folder: ScratchFolder,
    /// The files in it that the project does not hold.
    pub proposed: Vec<TestedFile>,
    /// What is not in it.
    pub notes: Vec<String>,
}

/// Copies that later calls go on with.
#[derive(Clone, Default)]
pub(super) struct KeptCopies(Arc<Mutex<BTreeMap<String, ScratchFolder>>>);

impl KeptCopies {
    /// The copy of that name, or a new one.
    fn take(&self, name: Option<&str>) -> Result<ScratchFolder, ToolError> {
        let known = name.and_then(|name| self.lock().remove(name));
        known.map_or_else(|| ScratchFolder::new().map_err(|error| not_copied(&error)), Ok)
    }

    /// Keeps a copy for a later call.
    pub fn keep(&self, name: String, folder: ScratchFolder) {
        let mut kept = self.lock();
        if kept.len() >= MOST_KEPT
            && !kept.contains_key(&name)
            && let Some(first) = kept.keys().next().cloned()
        {
            kept.remove(&first);
        }
        kept.insert(name, folder);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, ScratchFolder>> {
        // Each change leaves the map whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// [`KeptCopies::fill`] where nobody waits for the disk.
    pub async fn filled(
        &self,
        context: &ToolContext,
        caller: Caller,
        name: Option<String>,
        given: Vec<GivenFile>,
    ) -> Result<Scratch, ToolError> {
        let (kept, context) = (self.clone(), context.clone());
        let fill = move || kept.fill(&context, &caller, name.as_deref(), &given);
        tokio::task::spawn_blocking(fill)
            .await
            .map_err(|error| ToolError::new("not_run", format!("the run was lost: {error}"), ""))?
    }

    /// A copy of the project with the proposals and these files; `name` is that of a kept one. Blocks
    /// while it copies.
    fn fill(
        &self,
        context: &ToolContext,
        caller: &Caller,
        name: Option<&str>,
        given: &[GivenFile],
    ) -> Result<Scratch, ToolError> {
        let mut folder = self.take(name)?;
        let put = |folder: &mut ScratchFolder, path: &ProjectPath, content: &[u8]| {
            folder.put(path, content).map_err(|error| not_copied(&error))
        };
        let mut files = proposals(context, caller)?;
        for (index, file) in given.iter().enumerate() {
            let path = args::path(&format!("files[{index}].file_name"), &file.file_name)?;
            files.insert(path, Some(file.code.clone().into_bytes()));
        }
        let mut notes = Vec::new();
        let mut bytes = 0;
        let mut present = BTreeSet::new();
        let listing = context.project_dir.list(MOST_FILES);
        let mut left_out = listing.omitted;
        for file in listing.files {
            if files.contains_key(&file.path) {
                continue;
            }
            bytes += file.bytes;
            let content = (bytes <= MOST_BYTES).then(|| context.project_dir.read(&file.path).ok());
            match content.flatten() {
                Some(content) => put(&mut folder, &file.path, &content)?,
                None => left_out += 1,
            }
            present.insert(file.path);
        }
        if left_out > 0 {
            notes.push(format!("{left_out} files of the project were not copied: there are too many, or they are too large"));
        }
        let mut proposed = Vec::new();
        for (path, content) in files {
            let Some(content) = content else { continue };
            put(&mut folder, &path, &content)?;
            let hash = ContentHash::of(&content);
            if context.project_dir.hash(&path).ok().flatten() != Some(hash) {
                proposed.push(TestedFile { path: path.clone(), hash });
            }
            present.insert(path);
        }
        let gone: Vec<ProjectPath> =
            folder.files().filter(|path| !present.contains(*path)).cloned().collect();
        gone.iter().for_each(|path| folder.remove(path));
        Ok(Scratch { folder, proposed, notes })
    }
}

/// What the proposals that wait make of files, save those of other open chats; `None`: the file would
/// be removed.
fn proposals(
    context: &ToolContext,
    caller: &Caller,
) -> Result<BTreeMap<ProjectPath, Option<Vec<u8>>>, ToolError> {
    let mut files = BTreeMap::new();
    for change in context.state.snapshot().waiting_for(caller) {
        let content = match change {
            Change::Save { path, content, .. } | Change::Insert { path, content, .. } => {
                let Some(contents) = &context.contents else { continue };
                let content = contents.blob(&content.hash).map_err(|error| not_copied(&error))?;
                (path.clone(), Some(content.to_vec()))
            }
            Change::Delete { path, .. } => (path.clone(), None),
            Change::Flash(_)
            | Change::Erase(_)
            | Change::Send(_)
            | Change::Read(_)
            | Change::Nvs(_) => continue,
        };
        files.insert(content.0, content.1);
    }
    Ok(files)
}

fn not_copied(error: &crate::model::UserError) -> ToolError {
    ToolError::from_user_error("not_copied", error)
}

/// The proposed files for an answer.
pub(super) fn proposed_json(proposed: &[TestedFile]) -> Vec<Value> {
    proposed
        .iter()
        .map(|file| json!({ "file_name": file.path, "sha256": file.hash.to_string() }))
        .collect()
}
