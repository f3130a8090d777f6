//! Finds out whether what a run depends on is there and works, one line each, with the fix.
//!
//! For the command line and the start screen alike. Must not change anything.

use std::sync::Arc;

use futures::StreamExt;
use serde_json::json;

use super::profiles::Profiles;
use crate::model::{Health, HealthLine, Message, MessageRole, ToolSpec, UserError};
use crate::provider::{Delta, KeySource, ModelOptions, Profile, Provider, Remote, Request};

/// How far the doctor goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckDepth {
    /// Looks at configuration and keys.
    Here,
    /// Asks the services, which costs a few tokens each.
    Services,
}

/// What the lines are about.
const AREA: &str = "model";

/// Looks at one profile, or at all.
///
/// # Errors
/// When a profile is named that there is not.
pub async fn models(
    profiles: &Profiles,
    only: Option<&str>,
    reach: CheckDepth,
) -> Result<Vec<HealthLine>, UserError> {
    let names = only.map_or_else(|| profiles.names(), |name| vec![name.to_owned()]);
    if names.is_empty() {
        return Ok(vec![none()]);
    }
    let mut findings = Vec::new();
    for name in names {
        match profiles.find(&name, None) {
            Ok(profile) => examine(profile, reach, &mut findings).await,
            Err(error) if only.is_some() => return Err(error),
            // Without the name of a model the service can still be looked at.
            Err(error) => match profiles.find(&name, Some("")) {
                Ok(profile) => nameless(profile, reach, &error, &mut findings).await,
                Err(_) => findings.push(broken(&name, &error)),
            },
        }
    }
    Ok(findings)
}

/// Looks at configuration and keys alone, for those who cannot wait for a service.
#[must_use]
pub fn here(profiles: &Profiles) -> Vec<HealthLine> {
    let names = profiles.names();
    if names.is_empty() {
        return vec![none()];
    }
    let look = |name: String| match profiles.find(&name, None) {
        // Nobody is asked to unlock a keyring for a look at the list.
        Ok(profile) if matches!(profile.key_source, KeySource::Keyring(_)) => {
            key_line(&profile, &format!("key in the {}", profile.key_source))
        }
        Ok(profile) => key(&profile),
        Err(error) => broken(&name, &error),
    };
    names.into_iter().map(look).collect()
}

fn none() -> HealthLine {
    let detail = "none is configured or found in the environment; recorded models still work";
    let fix = "Set OPENAI_API_KEY, ANTHROPIC_API_KEY, AZURE_OPENAI_API_KEY, GITHUB_TOKEN or \
               OLLAMA_HOST, or write a profile into config.toml.";
    HealthLine::new(AREA, "profiles", Health::Absent, detail).fix(fix)
}

/// Whether the key of a profile is there.
fn key(profile: &Profile) -> HealthLine {
    let key = match profile.key() {
        Ok(Some(_)) => format!("key from {}", profile.key_source),
        Ok(None) => "without a key".to_owned(),
        Err(error) => return broken(&profile.name, &error),
    };
    key_line(profile, &key)
}

fn key_line(profile: &Profile, key: &str) -> HealthLine {
    let what = format!("{} at {}, {key}", profile.label(), profile.host());
    HealthLine::new(AREA, profile.name.clone(), Health::Good, what)
}

fn broken(subject: &str, error: &UserError) -> HealthLine {
    let detail = format!("{}: {}", error.what, error.why);
    HealthLine::new(AREA, subject, Health::Broken, detail).fix(error.fix.clone())
}

async fn examine(mut profile: Profile, reach: CheckDepth, findings: &mut Vec<HealthLine>) {
    let name = profile.name.clone();
    let first = key(&profile);
    let is_usable = first.health == Health::Good;
    findings.push(first);
    if !is_usable || reach == CheckDepth::Here {
        return;
    }
    // A person waits: once is enough.
    profile.wire.tries = 1;
    let (model, window) = (profile.model.clone(), profile.window);
    let remote = Remote::new(profile);
    match remote.models().await {
        Ok(offered) => findings.push(offer(&name, &model, &offered)),
        Err(error) => {
            findings.push(broken(&name, &error));
            return;
        }
    }
    findings.push(answers(&name, &remote).await);
    if window.is_none() {
        let detail = format!("the context window of `{model}` is not known; nothing is left out");
        let fix = "Set `context_window` in the profile.";
        findings.push(HealthLine::new(AREA, name, Health::Limited, detail).fix(fix));
    }
}

async fn nameless(
    mut profile: Profile,
    reach: CheckDepth,
    error: &UserError,
    findings: &mut Vec<HealthLine>,
) {
    let (name, host) = (profile.name.clone(), profile.host());
    if reach == CheckDepth::Services {
        profile.wire.tries = 1;
        match Remote::new(profile).models().await {
            Ok(offered) => {
                let detail = format!("{host} answers and offers {} models", offered.len());
                findings.push(HealthLine::new(AREA, name.clone(), Health::Good, detail));
            }
            Err(error) => return findings.push(broken(&name, &error)),
        }
    }
    let finding = HealthLine::new(AREA, name, Health::Limited, error.what.clone());
    findings.push(finding.fix(error.fix.clone()));
}

fn offer(name: &str, model: &str, offered: &[String]) -> HealthLine {
    let is_same = |other: &String| other == model || other.strip_suffix(":latest") == Some(model);
    if offered.is_empty() || offered.iter().any(is_same) {
        let detail = format!("the service answers and offers {} models", offered.len());
        return HealthLine::new(AREA, name, Health::Good, detail);
    }
    let detail = format!("`{model}` is not among the {} models on offer", offered.len());
    let fix = format!("Choose one of `firmhand models --profile {name}`.");
    HealthLine::new(AREA, name, Health::Limited, detail).fix(fix)
}

/// Lets the model call a tool.
async fn answers(name: &str, remote: &Remote) -> HealthLine {
    let mut answer = remote.ask(question());
    let (mut pieces, mut has_called, mut notes) = (0_u32, false, Vec::new());
    while let Some(delta) = answer.next().await {
        match delta {
            Ok(Delta::Text(_) | Delta::Reasoning(_)) => pieces += 1,
            Ok(Delta::Call { tool, .. }) => has_called |= tool.as_str() == TOOL,
            Ok(Delta::Note(note)) => notes.push(note.what),
            Ok(_) => {}
            Err(error) => return broken(name, &error),
        }
    }
    let streams = if pieces > 1 { "streams" } else { "answers" };
    let (health, calls) = match (has_called, notes.is_empty()) {
        (true, true) => (Health::Good, "calls tools".to_owned()),
        (true, false) => (Health::Limited, format!("calls tools; {}", notes.join("; "))),
        (false, _) => (Health::Limited, "did not call the tool it was asked to call".to_owned()),
    };
    let finding = HealthLine::new(AREA, name, health, format!("the model {streams} and {calls}"));
    match has_called {
        true => finding,
        false => {
            finding.fix("Choose a model that supports tool calls, or set `tools = \"words\"`.")
        }
    }
}

const TOOL: &str = "report_ready";

fn question() -> Request {
    let message = |role, text: &str| {
        let text = text.to_owned();
        Arc::new(Message { role, agent: None, text, calls: Vec::new(), answers: None })
    };
    let spec = ToolSpec {
        name: TOOL.into(),
        description: "Reports that you are ready.".to_owned(),
        schema: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
    };
    Request {
        agent: "Doctor".into(),
        phase: "doctor".to_owned(),
        attempt: 1,
        step: None,
        messages: Arc::from([
            message(MessageRole::System, "You are being tested."),
            message(
                MessageRole::User,
                "Say in five words that you are ready, and call report_ready.",
            ),
        ]),
        tools: Arc::from([spec]),
        options: ModelOptions { max_tokens: Some(2_000), ..ModelOptions::default() },
        form: None,
        state: None,
    }
}
