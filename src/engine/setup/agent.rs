//! What an agent brings to each request of a phase: its instructions and its tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::engine::attempt::chat;
use crate::engine::setup::Toolbox;
use crate::engine::team::{Phase, SpeakerSelection, Team, Variant};
use crate::model::{AgentName, ArtifactKind, Message, ToolSpec};
use crate::provider::{AnswerForm, ModelOptions};

/// An agent in a phase.
#[derive(Debug, Clone)]
pub(in crate::engine) struct AgentSetup {
    /// Its instructions, as the first message.
    pub rules: Arc<Message>,
    /// What it may call.
    pub tools: Arc<[ToolSpec]>,
    /// What it asks of the model.
    pub options: ModelOptions,
    /// The form of its answers.
    pub form: Option<Arc<AnswerForm>>,
    /// What it is given from the blackboard.
    pub needs: Vec<ArtifactKind>,
    /// Most tokens one of its requests may hold.
    pub context_tokens: Option<u64>,
    /// What it is told besides, depending on what others answered.
    pub variants: Vec<Variant>,
}

impl AgentSetup {
    /// The instructions as they are after these answers.
    pub fn rules_after<'a>(
        &self,
        answer: impl Fn(&AgentName) -> Option<&'a Value>,
    ) -> Arc<Message> {
        let holds = |variant: &&Variant| variant.test.holds(answer(&variant.of));
        let more: Vec<&str> =
            self.variants.iter().filter(holds).map(|variant| variant.text.as_str()).collect();
        if more.is_empty() {
            return Arc::clone(&self.rules);
        }
        chat::system(format!("{}\n\n{}", self.rules.text, more.join("\n\n")))
    }
}

/// Every agent in every phase, made once.
#[derive(Debug)]
pub(in crate::engine) struct AgentSlots {
    phases: Vec<BTreeMap<AgentName, AgentSetup>>,
}

impl AgentSlots {
    pub fn new(team: &Team, tools: &Toolbox) -> Self {
        let phases = team.phases.iter().map(|phase| {
            let agents = phase.participants.iter();
            agents
                .filter_map(|name| Some((name.clone(), agent_setup(team, phase, tools, name)?)))
                .collect()
        });
        Self { phases: phases.collect() }
    }

    pub fn get(&self, phase: usize, agent: &AgentName) -> Option<&AgentSetup> {
        self.phases.get(phase)?.get(agent)
    }

    /// What an agent may call in a phase.
    pub fn tools(&self, phase: usize, agent: &AgentName) -> &[ToolSpec] {
        self.get(phase, agent).map_or(&[], |slot| &slot.tools)
    }
}

fn agent_setup(
    team: &Team,
    phase: &Phase,
    tools: &Toolbox,
    name: &AgentName,
) -> Option<AgentSetup> {
    let agent = team.agents.get(name)?;
    let mut rules = agent.prompt.clone();
    let is_hand_off = matches!(phase.selection, SpeakerSelection::HandOff(_));
    let form_words = agent.work.answer.as_ref().and_then(|it| it.in_words(agent.work.exchange));
    if let Some(form) = form_words {
        rules.push_str(&format!("\n\n{form}"));
    }
    if let Some(more) = phase.instructions.get(name) {
        rules.push_str("\n\n");
        rules.push_str(more.trim());
    }
    if phase.selection.leader() == Some(name) || is_hand_off {
        rules.push_str("\n\nIn this chat are:\n");
        for other in phase.participants.iter().filter(|other| *other != name) {
            let what = team.agents.get(other).map_or("", |agent| agent.description.as_str());
            rules.push_str(&format!("- {other}: {what}\n"));
        }
    }
    if matches!(phase.selection, SpeakerSelection::Selector(_))
        && phase.selection.leader() == Some(name)
    {
        rules.push_str(&format!("\n{}", crate::engine::speaker::selector::HOW));
    }
    let specs = agent.tools.iter().filter_map(|tool| Some(tools.get(tool)?.spec()));
    Some(AgentSetup {
        rules: chat::system(rules),
        tools: specs.collect(),
        options: agent.options.clone(),
        form: crate::engine::team::form(agent, phase),
        needs: agent.needs.clone(),
        context_tokens: agent.context_tokens,
        variants: agent.work.variants.clone(),
    })
}
