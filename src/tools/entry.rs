//! What a tool consists of: its words, its schema and its functions, one constant for each tool.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::recorded::{Finish, plain_finish, ready};
use super::scratch::KeptCopies;
use super::source_index::SourceIndex;
use super::{Caller, Reply, Tool, ToolContext, ToolError, args};
use crate::model::{BlobSource, Change, Proposal, ToolName, ToolSpec};

/// A tool as it is known everywhere.
pub struct ToolEntry {
    pub name: &'static str,
    /// What models read of it.
    pub(super) about: &'static str,
    pub(super) schema: fn() -> Value,
    pub(super) time: TimeLimit,
    pub(super) call: for<'a> fn(Call<'a>) -> BoxFuture<'a, Result<Reply, ToolError>>,
    /// As [`Tool::finish_recorded`].
    pub(super) finish: for<'a> fn(RecordedCall<'a>) -> BoxFuture<'a, Finish>,
}

impl ToolEntry {
    /// What most tools have in common.
    pub(super) const USUAL: Self = Self {
        name: "",
        about: "",
        schema: || Value::Null,
        time: TimeLimit::Of(Duration::from_secs(5)),
        call: |_| Box::pin(async { Err(ToolError::new("no_tool", "it does nothing", "")) }),
        finish: |done| ready(plain_finish(done.proposals)),
    };

    pub(super) fn make(&'static self, context: &ToolContext) -> Arc<dyn Tool> {
        let context = context.clone();
        Arc::new(ProjectTool { entry: self, context, memory: ToolMemory::default() })
    }
}

/// How long a call may take.
#[derive(Clone, Copy)]
pub(super) enum TimeLimit {
    Of(Duration),
    /// What the settings give to builds.
    OfBuild,
}

/// Beyond the build's own limit, for ending its processes and recording the end.
const BUILD_MARGIN: Duration = Duration::from_secs(30);

/// What a tool keeps from call to call.
#[derive(Default)]
pub(super) struct ToolMemory {
    pub index: Arc<SourceIndex>,
    pub copies: KeptCopies,
}

/// A call with all it needs.
pub(super) struct Call<'a> {
    pub context: &'a ToolContext,
    pub memory: &'a ToolMemory,
    pub caller: Caller,
    pub args: Value,
}

impl Call<'_> {
    pub fn args<A: DeserializeOwned>(self) -> Result<A, ToolError> {
        args::parse(self.args)
    }
}

/// A call that an earlier start of the program left unanswered.
pub(super) struct RecordedCall<'a> {
    pub context: &'a ToolContext,
    pub args: &'a Value,
    pub proposals: &'a [Proposal],
    pub contents: &'a dyn BlobSource,
}

impl RecordedCall<'_> {
    /// The arguments, if they fit.
    pub fn args_again<A: DeserializeOwned>(&self) -> Option<A> {
        args::parse(self.args.clone()).ok()
    }

    /// What the first proposal of the call was about.
    pub fn change(&self) -> Option<&Change> {
        self.proposals.first().map(|proposal| &proposal.change)
    }
}

/// A tool on a project.
struct ProjectTool {
    entry: &'static ToolEntry,
    context: ToolContext,
    memory: ToolMemory,
}

impl Tool for ProjectTool {
    fn spec(&self) -> ToolSpec {
        let ToolEntry { name, about, schema, .. } = self.entry;
        ToolSpec { name: ToolName::new(*name), description: (*about).to_owned(), schema: schema() }
    }

    fn timeout(&self) -> Duration {
        match self.entry.time {
            TimeLimit::Of(time) => time,
            TimeLimit::OfBuild => {
                Duration::from_secs(self.context.limits.build_seconds) + BUILD_MARGIN
            }
        }
    }

    fn is_build(&self) -> bool {
        matches!(self.entry.time, TimeLimit::OfBuild)
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        self.call_for(&Caller::default(), args)
    }

    fn call_for(&self, caller: &Caller, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        let Self { context, memory, .. } = self;
        (self.entry.call)(Call { context, memory, caller: *caller, args })
    }

    fn finish_recorded<'a>(
        &'a self,
        args: &'a Value,
        proposals: &'a [Proposal],
        contents: &'a dyn BlobSource,
    ) -> BoxFuture<'a, Finish> {
        let context = &self.context;
        (self.entry.finish)(RecordedCall { context, args, proposals, contents })
    }
}
