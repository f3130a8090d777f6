//! What a turn of an agent consists of besides asking its model: the form of its answer, and the
//! calls that the program makes itself.
//!
//! Owns the keys of an agent's file that say so. Must not know how far a turn is.

use serde_json::{Map, Value};

use super::answer_form::{AnswerShape, Exchange};
use super::field_test::{FieldTest, FieldTestFile};
use super::format::{AfterFailure, FixedCallFile, FormWord, VariantFile, WorkFile};
use super::source::{KnownTool, TeamSource};
use crate::config::Spanned;
use crate::config::assets::Assets;
use crate::model::path::PathError;
use crate::model::{AgentName, ArtifactKind, ProjectPath, ToolName, UserError};

/// How often an answer may be asked for again when no file says.
pub(super) const RETRIES: u32 = 3;

/// How often an answer may fail its check when no file says.
pub(super) const CHECKS: u32 = 5;

/// What a turn consists of besides asking the model.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentWork {
    /// What its whole answer is, if a program reads it.
    pub answer: Option<AnswerShape>,
    pub exchange: Exchange,
    /// What its answer is on the blackboard.
    pub makes: Option<ArtifactKind>,
    /// Called once in each attempt before its model is asked, with what is to be done as its `query`;
    /// only the agent itself is told the answer.
    pub look_up: Option<FixedCall>,
    /// Called when its turn begins; the model is asked only when this fails.
    pub first: Option<FixedCall>,
    /// Called with each answer that has its form; the model is asked again when this fails.
    pub check: Option<FixedCall>,
    /// Tools one of which the agent must have called in its turn before its answer counts; empty: its
    /// answer counts anyway.
    pub needs_call: Vec<ToolName>,
    /// What is proposed when all of that went well.
    pub saves: Saves,
    /// How often in a row the model is asked again for an answer that does not have its form.
    pub retries: u32,
    /// As `retries`, for one that fails its check.
    pub checks: u32,
    /// What it is told besides, depending on what others answered.
    pub variants: Vec<Variant>,
}

impl Default for AgentWork {
    fn default() -> Self {
        Self {
            answer: None,
            exchange: Exchange::Json,
            makes: None,
            look_up: None,
            first: None,
            check: None,
            needs_call: Vec::new(),
            saves: Saves::Nothing,
            retries: RETRIES,
            checks: CHECKS,
            variants: Vec::new(),
        }
    }
}

/// A call that the program makes itself; the files at hand are given as its `files`, or what is
/// looked up as its `query`.
#[derive(Debug, Clone, PartialEq)]
pub struct FixedCall {
    pub tool: ToolName,
    /// Its other arguments.
    pub args: Map<String, Value>,
    /// Whether the files at hand are given as its `files`.
    pub takes_files: bool,
    pub on_failure: AfterFailure,
}

/// What a turn proposes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Saves {
    #[default]
    Nothing,
    /// The files at hand.
    Files,
    /// The answer, as this file.
    Answer(ProjectPath),
}

/// Instructions that hold for some answers of another agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Whose newest answer decides.
    pub of: AgentName,
    pub test: FieldTest,
    pub text: String,
}

/// Reads what a turn consists of.
pub(super) fn work(
    source: &TeamSource<'_>,
    (answer, file): (Option<FormWord>, WorkFile),
    assets: &Assets,
    tools: KnownTool<'_>,
) -> Result<AgentWork, UserError> {
    let call = |file: Option<FixedCallFile>| {
        let Some(FixedCallFile { tool, args, files, on_failure }) = file else { return Ok(None) };
        let tool = source.tool(&tool, tools)?;
        Ok::<_, UserError>(Some(FixedCall { tool, args, takes_files: files, on_failure }))
    };
    let answer = match (answer, file.form.is_empty()) {
        (Some(FormWord::Files), true) => Some(AnswerShape::Files),
        (None, false) => Some(AnswerShape::Fields(file.form)),
        (None, true) => None,
        (Some(_), false) => {
            let why = "an answer is either files or the fields of a form";
            return Err(source.wrong(&(0..0), why, "Remove `answer` or `form`."));
        }
    };
    let (look_up, first, check) = (call(file.look_up)?, call(file.first)?, call(file.check)?);
    let needs_call: Vec<ToolName> =
        file.needs_call.iter().map(|name| source.tool(name, tools)).collect::<Result<_, _>>()?;
    let has_rules = check.is_some() || file.saves_answer_as.is_some() || !needs_call.is_empty();
    if answer.is_none() && has_rules {
        let why = "there is no answer to check or to save without `answer` or `form`";
        return Err(source.wrong(&(0..0), why, "Say what the answer is."));
    }
    let saves = match (file.saves_answer_as, file.saves_files) {
        (None, false) => Saves::Nothing,
        (None, true) => Saves::Files,
        (Some(path), _) => {
            let wrong = |error: PathError| {
                source.wrong(&path.span(), error.to_string(), "Name a file of the project.")
            };
            Saves::Answer(ProjectPath::new(path.get_ref()).map_err(wrong)?)
        }
    };
    let variants = file.variants.into_iter();
    Ok(AgentWork {
        answer,
        exchange: file.exchange,
        look_up,
        first,
        check,
        needs_call,
        saves,
        variants: variants.map(|it| variant(source, it, assets)).collect::<Result<_, _>>()?,
        ..AgentWork::default()
    })
}

fn variant(
    source: &TeamSource<'_>,
    file: Spanned<VariantFile>,
    assets: &Assets,
) -> Result<Variant, UserError> {
    let span = file.span();
    let VariantFile { of, field, filled, equals, at_least, at_most, text, file } =
        file.into_inner();
    let test = FieldTest::read(FieldTestFile { field, filled, equals, at_least, at_most });
    let Some(test) = test else {
        let why = "a variant needs a field and exactly one of filled, equals, at_least, at_most";
        return Err(source.wrong(&span, why, "Say when it holds."));
    };
    let mut text = text.trim().to_owned();
    if let Some(path) = file {
        let more = assets.text(&path)?;
        text = format!("{text}\n\n{}", more.text.trim()).trim().to_owned();
    }
    if text.is_empty() {
        let why = "a variant needs a `text` or a `file`";
        return Err(source.wrong(&span, why, "Say what the agent reads."));
    }
    Ok(Variant { of: AgentName::new(of), test, text })
}
