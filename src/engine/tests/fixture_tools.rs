//! The tools of the small project, and the toolchain it does without.

use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::model::BuildEvent;
use crate::model::*;
use crate::toolchain::{BuildJob, BuildReport, FlashOrder, Toolchain};
use crate::tools::{Finish, PhaseGoal, Reply, SharedState, Tool, ToolError};
use crate::workspace::ProjectDir;

/// Saves one file a call.
pub(super) struct Save(pub(super) Arc<ProjectDir>);

impl Tool for Save {
    fn spec(&self) -> ToolSpec {
        spec("generate_code")
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        let path = ProjectPath::new(args["path"].as_str().unwrap_or("main.txt")).unwrap();
        let base = self.0.read_if_there(&path).unwrap();
        async move {
            let Some(code) = args["code"].as_str() else {
                return Err(ToolError::new("bad_arguments", "code: missing", ""));
            };
            let content = code.as_bytes().to_vec();
            if base.as_ref() == Some(&content) {
                return Err(ToolError::new("nothing_to_do", "the file holds that already", ""));
            }
            let change = DraftChange::Save { path, base, content };
            let drafts = vec![Draft { change, reason: String::new(), checks: Vec::new() }];
            Ok(Reply::Propose { drafts, finish: boxed_finish() })
        }
        .boxed()
    }

    fn finish_recorded<'a>(
        &'a self,
        _: &'a Value,
        _: &'a [Proposal],
        _: &'a dyn BlobSource,
    ) -> BoxFuture<'a, Finish> {
        async { boxed_finish() }.boxed()
    }
}

fn boxed_finish() -> Finish {
    Box::new(|done| async move { finish(&done) }.boxed())
}

fn finish(done: &[Settlement]) -> Result<Value, ToolError> {
    let outcome = format!("{:?}", done[0].outcome);
    Ok(match &done[0].outcome {
        Outcome::Applied => json!({ "ok": true, "saved": ["main.txt"] }),
        _ => json!({ "ok": true, "saved": [], "outcome": outcome }),
    })
}

/// Fails while the file holds the word `bug`.
pub(super) struct Build(
    pub(super) Arc<ProjectDir>,
    pub(super) Arc<dyn Ledger>,
    pub(super) SharedState,
);

impl Tool for Build {
    fn spec(&self) -> ToolSpec {
        spec("build_project")
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        async move {
            let build = self.2.snapshot().next_build();
            let log = LogId { kind: LogKind::Build, number: build.0 };
            let reported = |error: UserError| ToolError::from_user_error("record", &error);
            let command = "check".to_owned();
            self.1
                .record(Event::Build(BuildEvent::Started { build, log, command }))
                .map_err(reported)?;
            if args["hang"] == true {
                std::future::pending::<()>().await;
            }
            let text = self.0.read(&ProjectPath::new("main.txt").unwrap()).unwrap();
            let has_bug = String::from_utf8(text).unwrap().contains("bug");
            let outcome = if has_bug { BuildOutcome::Failed } else { BuildOutcome::Passed };
            let ended = Event::Build(BuildEvent::Ended {
                build,
                outcome,
                diagnostics: vec![],
                millis: 0,
                size: None,
            });
            self.1.record(ended).map_err(reported)?;
            let errors = if has_bug { json!([{ "message": "a bug" }]) } else { json!([]) };
            Ok(Reply::Answer(json!({ "ok": !has_bug, "errors": errors })))
        }
        .boxed()
    }
}

pub(super) struct Approve(pub(super) Arc<ProjectDir>, pub(super) SharedState);

impl Tool for Approve {
    fn spec(&self) -> ToolSpec {
        spec("approve_saved_files")
    }

    fn call(&self, _: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        let state = self.1.snapshot();
        let ok = match state.goal {
            PhaseGoal::FilesSaved => self.0.is_file(&ProjectPath::new("main.txt").unwrap()),
            _ => state.last_build.is_some_and(|b| b.is_fresh_success()),
        };
        async move { Ok(Reply::Answer(json!({ "ok": ok }))) }.boxed()
    }
}

/// Answers with what it was asked for, but never to `{"hang": true}`.
pub(super) struct Echo(pub(super) &'static str);

impl Tool for Echo {
    fn spec(&self) -> ToolSpec {
        spec(self.0)
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        async move {
            if args["hang"] == true {
                std::future::pending::<()>().await;
            }
            let mut answer = json!({ "ok": true, "asked": args });
            // Passages, as a search gives them.
            if let Some(chunks) = args.get("chunks") {
                answer["chunks"] = chunks.clone();
            }
            Ok(Reply::Answer(answer))
        }
        .boxed()
    }
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec { name: name.into(), description: String::new(), schema: json!({}) }
}

pub(super) struct NoToolchain;

impl Toolchain for NoToolchain {
    fn label(&self) -> String {
        "none".into()
    }
    fn command(&self, _project: &Path) -> String {
        "none".into()
    }
    fn build(&self, _: BuildJob) -> BoxFuture<'_, BuildReport> {
        unreachable!("no test builds through the toolchain")
    }
    fn plan_flash(&self, _: &Path, _: BuildId, _: Timestamp) -> Result<FlashPlan, UserError> {
        Err(UserError::new("no board", "", ""))
    }
    fn flash(&self, _: FlashOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        unreachable!("no test flashes")
    }
}
