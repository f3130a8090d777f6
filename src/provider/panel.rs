//! Several models as one: each agent is answered by its own, and the person can change the one
//! that answers for the rest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use futures::stream::{self, BoxStream};

use super::profile::{KeySource, Profile};
use super::remote::Remote;
use super::tokens::Meter;
use super::{ChosenModel, Delta, ModelOptions, Provider, Request};
use crate::model::{AgentName, UserError};

/// Finds a profile by its name, and by the name of a model if another one is wanted.
pub type FindProfile = Box<dyn Fn(&str, Option<&str>) -> Result<Profile, UserError> + Send + Sync>;

/// Several models as one.
pub struct Panel {
    find: FindProfile,
    panel_slot: Mutex<PanelSlot>,
}

struct PanelSlot {
    main: Arc<Remote>,
    agents: BTreeMap<AgentName, (Arc<Remote>, ModelOptions)>,
    /// Models that agents' files have named.
    named: BTreeMap<String, Arc<Remote>>,
}

impl Panel {
    /// AgentSlots the models of `profile`.
    ///
    /// # Errors
    /// When a profile that it names for an agent cannot be used.
    pub fn new(profile: Profile, find: FindProfile) -> Result<Self, UserError> {
        let panel_slot = Mutex::new(panelist(profile, &find)?);
        Ok(Self { find, panel_slot })
    }

    fn panel_slot(&self) -> MutexGuard<'_, PanelSlot> {
        // Every change leaves it whole.
        self.panel_slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who answers a request, with what the profile says filled in.
    fn pick(&self, request: &mut Request) -> Result<Arc<Remote>, UserError> {
        let mut panel_slot = self.panel_slot();
        if let Some((remote, options)) = panel_slot.agents.get(&request.agent) {
            // The person's word on an agent goes before that of the agent's file.
            let own = &mut request.options;
            own.temperature = options.temperature.or(own.temperature);
            own.max_tokens = match (own.max_tokens, options.max_tokens) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
            return Ok(Arc::clone(remote));
        }
        let main = Arc::clone(&panel_slot.main);
        let Some(model) = request.options.model.clone() else { return Ok(main) };
        if model == main.profile().model {
            return Ok(main);
        }
        if let Some(remote) = panel_slot.named.get(&model) {
            return Ok(Arc::clone(remote));
        }
        let remote = Arc::new(Remote::new((self.find)(&main.profile().name, Some(&model))?));
        panel_slot.named.insert(model, Arc::clone(&remote));
        Ok(remote)
    }
}

fn panelist(profile: Profile, find: &FindProfile) -> Result<PanelSlot, UserError> {
    let mut agents = BTreeMap::new();
    for (agent, choice) in &profile.agents {
        let name = choice.profile.as_deref().unwrap_or(&profile.name);
        let own = find(name, choice.options.model.as_deref())?;
        agents.insert(agent.clone(), (Arc::new(Remote::new(own)), choice.options.clone()));
    }
    Ok(PanelSlot { main: Arc::new(Remote::new(profile)), agents, named: BTreeMap::new() })
}

impl Provider for Panel {
    fn label(&self) -> String {
        self.panel_slot().main.label()
    }

    fn choose(&self, wanted: &str) -> Result<ChosenModel, UserError> {
        let (name, model) = match wanted.split_once('/') {
            Some((name, model)) => (name, Some(model)),
            None => (wanted, None),
        };
        let current = self.panel_slot().main.profile().name.clone();
        let name = if name.is_empty() { current.as_str() } else { name };
        let profile = (self.find)(name, model)?;
        // What is wrong with a key is said now; only a keyring may let the person wait, and is
        // left alone until the next request.
        if !matches!(profile.key_source, KeySource::Keyring(_)) {
            profile.key()?;
        }
        let provider = match model {
            Some(model) => format!("profile:{}/{model}", profile.name),
            None => format!("profile:{}", profile.name),
        };
        let label = profile.label();
        *self.panel_slot() = panelist(profile, &self.find)?;
        Ok(ChosenModel { provider, label })
    }

    fn redact(&self, text: &str) -> String {
        let panel_slot = self.panel_slot();
        let others =
            panel_slot.agents.values().map(|(remote, _)| remote).chain(panel_slot.named.values());
        others.fold(panel_slot.main.profile().redact(text), |text, remote| {
            remote.profile().redact(&text)
        })
    }

    fn meter(&self, request: &Request) -> Option<Meter> {
        let mut request = request.clone();
        self.pick(&mut request).ok()?.meter(&request)
    }

    fn ask(&self, mut request: Request) -> BoxStream<'static, Result<Delta, UserError>> {
        match self.pick(&mut request) {
            Ok(remote) => remote.ask(request),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::profile::{AgentChoice, Wire};
    use super::super::service::Service;
    use super::*;

    fn profile(name: &str, model: &str) -> Profile {
        let mut profile = Profile::new(name, Service::OpenAi, model, Wire::new("http://h"));
        let cheap = AgentChoice { profile: Some("cheap".into()), ..AgentChoice::default() };
        if name == "strong" {
            profile.agents.insert("Planner".into(), cheap);
        }
        profile
    }

    fn panel() -> Panel {
        let find: FindProfile = Box::new(|name, model| match name {
            "strong" | "cheap" => Ok(profile(name, model.unwrap_or(name))),
            _ => Err(UserError::new("no such profile", name, "")),
        });
        Panel::new(profile("strong", "strong"), find).unwrap()
    }

    fn model_of(panel: &Panel, agent: &str, model: Option<&str>) -> String {
        let mut request = Request {
            agent: agent.into(),
            phase: String::new(),
            attempt: 1,
            step: None,
            messages: Arc::from([]),
            tools: Arc::from([]),
            options: ModelOptions { model: model.map(Into::into), ..ModelOptions::default() },
            form: None,
            state: None,
        };
        panel.pick(&mut request).unwrap().profile().model.clone()
    }

    #[test]
    fn each_agent_is_answered_by_the_model_that_was_chosen_for_it() {
        let panel = panel();
        assert_eq!(model_of(&panel, "Reviewer", None), "strong");
        assert_eq!(model_of(&panel, "Planner", None), "cheap");
        assert_eq!(model_of(&panel, "Reviewer", Some("special")), "special");
        assert_eq!(model_of(&panel, "Planner", Some("special")), "cheap", "the person's word");
    }

    #[test]
    fn the_person_can_change_the_model_and_a_wrong_name_changes_nothing() {
        let panel = panel();
        assert!(panel.choose("none").is_err());
        assert_eq!(model_of(&panel, "Reviewer", None), "strong");
        let chosen = panel.choose("cheap/small").unwrap();
        assert_eq!(chosen.provider, "profile:cheap/small");
        assert_eq!(chosen.label, "small (openai)");
        assert_eq!(model_of(&panel, "Reviewer", None), "small");
        assert_eq!(panel.choose("/tiny").unwrap().provider, "profile:cheap/tiny");
    }
}
