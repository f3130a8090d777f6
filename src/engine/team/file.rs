//! Reads teams and agents from their files; everything unknown or senseless is refused by file
//! and line.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::answer_form::AnswerShape;
use super::definition::{Agent, NestedTeam, Phase, SpeakerSelection, Team};
use super::format::{AgentFile, PhaseFile, TeamFile};
use super::phase;
use super::source::{KnownTool, TeamSource};
use super::{target_notes, toolchain_notes, work};
use crate::config::Spanned;
use crate::config::assets::{AssetFile, Assets};
use crate::model::{AgentName, AgentRole, PolicyAgent, PolicyTable, UserError};
use crate::provider::ModelOptions;

/// Agents that a policy chooses among, at most.
const MOST_LEARNED: usize = 32;

/// Fewest tokens an agent may be limited to.
const LEAST_CONTEXT: u32 = 1_000;

impl Team {
    /// Names of the teams there are.
    #[must_use]
    pub fn names(assets: &Assets) -> Vec<String> {
        let files = assets.list("prompts/teams");
        let stem = |file: &String| {
            file.strip_prefix("prompts/teams/")?.strip_suffix(".toml").map(str::to_owned)
        };
        files.iter().filter_map(stem).collect()
    }

    /// Reads the team `name` with its agents.
    ///
    /// # Errors
    /// When there is no such team, or a file holds an unknown agent, tool, key or word; the error
    /// names file and line, and the names there are.
    pub fn load(assets: &Assets, name: &str, tools: KnownTool<'_>) -> Result<Arc<Self>, UserError> {
        Self::load_limited(assets, name, tools, &BTreeMap::new())
    }

    /// As [`Team::load`], with some numbers of the file's `limits` replaced; `PHASE/NAME` is the one
    /// of the team that is nested in a phase.
    ///
    /// # Errors
    /// The same as [`Team::load`]; also when the team has no limit of one of the names.
    pub fn load_limited(
        assets: &Assets,
        name: &str,
        tools: KnownTool<'_>,
        replaced: &BTreeMap<String, u32>,
    ) -> Result<Arc<Self>, UserError> {
        let names = Self::names(assets);
        if !names.iter().any(|known| known == name) {
            return Err(UserError::new(
                format!("Cannot find the team `{name}`"),
                "no file of that name is in prompts/teams",
                format!("Use one of: {}.", names.join(", ")),
            ));
        }
        let agents = agents(assets, tools)?;
        let files = TeamFiles { assets, agents: &agents, tools, replaced };
        let team = files.team(&[name], "")?;
        match replaced.keys().find(|name| !team.limits.contains_key(*name)) {
            Some(unknown) => Err(no_such_limit(&team, unknown)),
            None => Ok(Arc::new(team)),
        }
    }

    /// The team as it works with that toolchain: every agent is told on top of its instructions
    /// what holds there. The same team when there is nothing to tell.
    ///
    /// # Errors
    /// When the file is empty, which only a person's own copy can be.
    pub fn briefed(
        self: Arc<Self>,
        assets: &Assets,
        toolchain: &str,
    ) -> Result<Arc<Self>, UserError> {
        toolchain_notes::add(self, assets, toolchain)
    }

    /// The team as it works for that target: every agent of a phase in which code is written, built
    /// or flashed is told `words` on top of its instructions.
    #[must_use]
    pub fn for_target(self: Arc<Self>, words: &str) -> Arc<Self> {
        target_notes::add(self, words)
    }

    /// The agents among which a learned policy chooses, in order; `None`: none does.
    #[must_use]
    pub fn policy_agents(&self) -> Option<Vec<PolicyAgent>> {
        let is_learned = |phase: &&Phase| matches!(phase.selection, SpeakerSelection::Policy(_));
        let phase = self.phases.iter().find(is_learned)?;
        let agents = phase.participants.iter().filter_map(|name| self.agents.get(name));
        Some(agents.map(|it| PolicyAgent { name: it.name.clone(), role: it.role() }).collect())
    }

    /// The team with the table that chooses among its agents.
    #[must_use]
    pub fn with_policy(self: Arc<Self>, table: PolicyTable) -> Arc<Self> {
        let table = Arc::new(table);
        let mut team = Arc::unwrap_or_clone(self);
        for phase in &mut team.phases {
            if let SpeakerSelection::Policy(chosen_by) = &mut phase.selection {
                *chosen_by = Some(Arc::clone(&table));
            }
        }
        Arc::new(team)
    }
}

/// Reads every agent there is.
///
/// # Errors
/// When a file cannot be read or holds something unknown.
pub fn agents(
    assets: &Assets,
    tools: KnownTool<'_>,
) -> Result<BTreeMap<AgentName, Agent>, UserError> {
    let mut agents = BTreeMap::new();
    for path in assets.list("prompts/agents") {
        let Some(stem) = path.rsplit('/').next().and_then(|file| file.strip_suffix(".md")) else {
            continue;
        };
        let agent = agent(&assets.text(&path)?, stem, assets, tools)?;
        agents.insert(agent.name.clone(), agent);
    }
    Ok(agents)
}

fn no_such_limit(team: &Team, name: &str) -> UserError {
    let known: Vec<&str> = team.limits.keys().map(String::as_str).collect();
    let own = match known.is_empty() {
        true => format!("The team `{}` has no limits of its own.", team.name),
        false => format!("The team `{}` has {}.", team.name, known.join(", ")),
    };
    UserError::new(
        format!("Cannot set the limit `{name}`"),
        "neither the program nor the team has a limit of that name",
        format!(
            "{own} Every session has tokens, cost, minutes, turns, attempts, build-seconds, \
             tool-seconds and monitor-seconds."
        ),
    )
}

/// What the files of teams are read with.
struct TeamFiles<'a> {
    assets: &'a Assets,
    agents: &'a BTreeMap<AgentName, Agent>,
    tools: KnownTool<'a>,
    /// Limits that are other than in the files.
    replaced: &'a BTreeMap<String, u32>,
}

/// The phases of a team while they are read.
#[derive(Default)]
struct Phases {
    all: Vec<Phase>,
    nested: Vec<NestedTeam>,
    limits: BTreeMap<String, u32>,
    /// Those of nested teams, by `PHASE/NAME`.
    nested_limits: BTreeMap<String, u32>,
}

impl TeamFiles<'_> {
    /// Reads the last team of these; each is nested in the one before it. `prefix` is what the names
    /// of its limits begin with for the person.
    fn team(&self, names: &[&str], prefix: &str) -> Result<Team, UserError> {
        let stem = names.last().copied().unwrap_or_default();
        let file = self.assets.text(&format!("prompts/teams/{stem}.toml"))?;
        let source = TeamSource { file: &file, skipped: 0 };
        let file: TeamFile = source.parse(&source.file.text)?;
        source.same_name(&file.name, stem)?;
        let mut phases = Phases::default();
        for (name, number) in file.limits {
            let named = number.span();
            let number = number.into_inner();
            if number == 0 {
                return Err(source.wrong(&named, "the number must be at least 1", "Raise it."));
            }
            let replaced = self.replaced.get(&format!("{prefix}{name}"));
            phases.limits.insert(name, replaced.copied().unwrap_or(number));
        }
        if file.phases.get_ref().is_empty() {
            let why = "a team needs at least one phase";
            return Err(source.wrong(&file.phases.span(), why, "Add a [[phases]] table."));
        }
        for phase in file.phases.into_inner() {
            match phase.get_ref().team {
                Some(_) => self.nest(&source, phase, (names, prefix), &mut phases)?,
                None => self.phase(&source, phase, &mut phases)?,
            }
        }
        let Phases { all, nested, mut limits, nested_limits } = phases;
        limits.extend(nested_limits);
        let takes_part =
            |name: &AgentName| all.iter().any(|phase| phase.participants.contains(name));
        let agents = self.agents.iter().filter(|(name, _)| takes_part(name));
        Ok(Team {
            name: file.name.into_inner(),
            title: file.title,
            description: file.description,
            works_on: file.works_on,
            limits,
            agents: agents.map(|(name, agent)| (name.clone(), agent.clone())).collect(),
            phases: all,
            nested,
        })
    }

    /// Adds a phase with agents of its own.
    fn phase(
        &self,
        source: &TeamSource<'_>,
        file: Spanned<PhaseFile>,
        phases: &mut Phases,
    ) -> Result<(), UserError> {
        let span = file.span();
        let numbers = (&phases.limits, self.tools);
        let mut phase = phase::phase(source, file, &phases.all, self.agents, numbers)?;
        if let SpeakerSelection::Policy(_) = phase.selection {
            learns(source, &mut phase, self.agents, &span)?;
        }
        add(source, phase, &span, &mut phases.all)
    }

    /// Adds the phases of a team in the place of one.
    fn nest(
        &self,
        source: &TeamSource<'_>,
        file: Spanned<PhaseFile>,
        (names, prefix): (&[&str], &str),
        phases: &mut Phases,
    ) -> Result<(), UserError> {
        let span = file.span();
        let file = file.into_inner();
        let Some(team) = &file.team else { return Ok(()) };
        let (name, known) = (team.get_ref().as_str(), Team::names(self.assets));
        if !known.iter().any(|known| known == name) {
            let why = format!("there is no team `{name}`");
            let fix = format!("Use one of: {}.", known.join(", "));
            return Err(source.wrong(&team.span(), why, &fix));
        }
        if names.contains(&name) {
            let why = format!("the team `{name}` would contain itself");
            return Err(source.wrong(&team.span(), why, "Name another team."));
        }
        if let Some(key) = file.key_next_to_team() {
            let why = format!("a phase that is a team has no `{key}` of its own");
            return Err(source.wrong(&span, why, "Remove that line, or the one with `team`."));
        }
        let (outer, first) = (file.name.get_ref(), phases.all.len());
        let inner = self.team(&[names, &[name]].concat(), &format!("{prefix}{outer}/"))?;
        let limits = inner.limits.into_iter();
        phases.nested_limits.extend(limits.map(|(name, n)| (format!("{outer}/{name}"), n)));
        let title = file.title.unwrap_or(inner.title);
        for mut phase in inner.phases {
            phase.name = format!("{outer}/{}", phase.name);
            phase.title = format!("{title}: {}", phase.title);
            if let Some(back) = &mut phase.steps.send_back {
                back.to += first;
            }
            add(source, phase, &span, &mut phases.all)?;
        }
        phases.nested.extend(inner.nested.into_iter().map(|team| NestedTeam {
            name: format!("{outer}/{}", team.name),
            phases: team.phases.start + first..team.phases.end + first,
        }));
        phases.nested.push(NestedTeam { name: outer.clone(), phases: first..phases.all.len() });
        Ok(())
    }
}

/// Adds a phase whose name no other one has.
fn add(
    source: &TeamSource<'_>,
    phase: Phase,
    span: &Range<usize>,
    phases: &mut Vec<Phase>,
) -> Result<(), UserError> {
    let is_learned = |phase: &Phase| matches!(phase.selection, SpeakerSelection::Policy(_));
    if is_learned(&phase) && phases.iter().any(is_learned) {
        let why = "a policy chooses in one phase of a team only";
        return Err(source.wrong(span, why, "Use another selection in this phase."));
    }
    if phases.iter().any(|other| other.name == phase.name) {
        let why = format!("there are two phases `{}`", phase.name);
        return Err(source.wrong(span, why, "Give each its own name."));
    }
    phases.push(phase);
    Ok(())
}

/// Checks that a policy can choose among the agents of a phase; its planner is the one that makes
/// the plan.
fn learns(
    source: &TeamSource<'_>,
    phase: &mut Phase,
    agents: &BTreeMap<AgentName, Agent>,
    span: &Range<usize>,
) -> Result<(), UserError> {
    let of = |role| {
        let mut names = phase.participants.iter();
        names.find(|name| agents.get(*name).is_some_and(|agent| agent.role() == role)).cloned()
    };
    if phase.participants.len() > MOST_LEARNED {
        let why = format!("a policy chooses among {MOST_LEARNED} agents at most");
        return Err(source.wrong(span, why, "Remove some agents."));
    }
    for (role, word) in [(AgentRole::Code, "code"), (AgentRole::Test, "tests")] {
        if of(role).is_none() {
            let why = format!("no agent of this phase makes {word}: a policy cannot learn from it");
            let fix = format!("Write `makes = [\"{word}\"]` into the file of the agent that does.");
            return Err(source.wrong(span, why, &fix));
        }
    }
    phase.plan.planner = phase.plan.planner.take().or_else(|| of(AgentRole::Plan));
    Ok(())
}

/// Reads one agent: TOML between two lines of `+++` or `---`, then the instructions.
fn agent(
    file: &AssetFile,
    stem: &str,
    assets: &Assets,
    tools: KnownTool<'_>,
) -> Result<Agent, UserError> {
    let text = &*file.text;
    let whole = TeamSource { file, skipped: 0 };
    let first = text.lines().next().unwrap_or_default().trim_end();
    let start = text.find('\n').map_or(text.len(), |end| end + 1);
    let rest = text.get(start..).unwrap_or_default();
    let close = line_starts(rest).find(|&at| {
        let line = rest.get(at..).and_then(|rest| rest.lines().next());
        line.is_some_and(|line| line.trim_end() == first)
    });
    let (true, Some(close)) = (matches!(first, "+++" | "---"), close) else {
        let why = "an agent's file begins with its fields between two lines of `+++`";
        return Err(whole.wrong(&(0..0), why, "Put name, description and tools there."));
    };
    let source = TeamSource { file, skipped: start };
    let fields: AgentFile = source.parse(rest.get(..close).unwrap_or_default())?;
    source.same_name(&fields.name, stem)?;
    let prompt = rest.get(close + first.len()..).unwrap_or_default().trim().to_owned();
    if prompt.is_empty() {
        let why = "the agent has no instructions";
        return Err(source.wrong(&(close..close), why, "Write them below the fields."));
    }
    let names = fields.tools.iter();
    let mut work = work::work(&source, (fields.answer, fields.turn), assets, tools)?;
    // Files that are answered are known as code anyway.
    if let Some(AnswerShape::Fields(_)) = work.answer {
        work.makes = fields.makes.first().copied();
    }
    let budget = fields.context_tokens;
    let context_tokens = match budget.as_ref().map(Spanned::get_ref) {
        Some(&tokens) if tokens < LEAST_CONTEXT => {
            let span = budget.as_ref().map(Spanned::span).unwrap_or_default();
            let why = format!("an agent cannot work with {tokens} tokens of context");
            return Err(source.wrong(&span, why, "Allow at least 1000."));
        }
        tokens => tokens.map(|&tokens| u64::from(tokens)),
    };
    Ok(Agent {
        name: AgentName::new(fields.name.into_inner()),
        description: fields.description,
        tools: names.map(|name| source.tool(name, tools)).collect::<Result<_, _>>()?,
        options: ModelOptions {
            model: fields.model,
            temperature: fields.temperature,
            max_tokens: fields.max_tokens,
        },
        needs: fields.needs,
        makes: fields.makes,
        context_tokens,
        work,
        prompt,
    })
}

fn line_starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1))
}
