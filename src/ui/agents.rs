//! The agents of a session, and which colour each has.

use crate::model::AgentName;

use super::role::Role;

/// The agents of a session in the order they appeared, which gives each its colour.
#[derive(Debug, Clone, Default)]
pub struct Agents(Vec<AgentName>);

impl Agents {
    /// Adds those that are new.
    pub fn learn<'a>(&mut self, names: impl Iterator<Item = &'a AgentName>) {
        for name in names {
            if !self.0.contains(name) {
                self.0.push(name.clone());
            }
        }
    }

    /// All of them.
    #[must_use]
    pub fn names(&self) -> &[AgentName] {
        &self.0
    }

    /// The role of an agent.
    #[must_use]
    pub fn role(&self, name: &AgentName) -> Role {
        Role::agent(self.0.iter().position(|known| known == name).unwrap_or(self.0.len()))
    }
}
