//! Reads a phase of a team's file: who takes part, who speaks next, and when it is over.

use std::collections::BTreeMap;
use std::ops::Range;

use super::condition::{CallResult, Condition};
use super::definition::{
    Agent, Failure, ForEach, Phase, PhaseLimits, PlanReview, Planning, Rework, SendBack,
    SpeakerSelection, StepRules,
};
use super::field_test::FieldTest;
use super::format::{
    ConditionFile, ForEachWord, LimitWord, PhaseFile, ReworkFile, SelectionWord, SendBackFile,
};
use super::source::{KnownTool, TeamSource};
use super::work::AgentWork;
use crate::config::Spanned;
use crate::model::{AgentName, Cost, UserError};
use crate::tools::PhaseGoal;

/// Model calls one turn may take when the team's file does not say.
const ROUNDS: u32 = 12;

/// How often a rework happens in a row when the team's file does not say.
const REWORKS: u32 = 5;

/// How many steps of a plan may be carried out side by side.
const MOST_PARALLEL: u32 = 8;

/// How often steps are sent back when the team's file does not say.
const SEND_BACKS: u32 = 2;

/// Who may be handed over to besides the participants.
const PERSON: &str = "person";

/// What a phase says that is not a nested team.
struct Required {
    title: String,
    participants: Spanned<Vec<Spanned<String>>>,
    selection: SelectionWord,
    terminate: Spanned<ConditionFile>,
    goal: PhaseGoal,
}

fn required(
    source: &TeamSource<'_>,
    file: &mut PhaseFile,
    span: &Range<usize>,
) -> Result<Required, UserError> {
    let missing = |key: &str| {
        let why = format!("missing field `{key}`");
        source.wrong(span, why, "Add it to the phase.")
    };
    let goal = file.goal.take().ok_or_else(|| missing("goal"))?;
    Ok(Required {
        title: file.title.take().ok_or_else(|| missing("title"))?,
        participants: file.participants.take().ok_or_else(|| missing("participants"))?,
        selection: file.selection.take().ok_or_else(|| missing("selection"))?.into_inner(),
        terminate: file.terminate.take().ok_or_else(|| missing("terminate"))?,
        goal: goal.into_inner(),
    })
}

/// Reads one phase; `before` are those before it.
pub(in crate::engine) fn phase(
    source: &TeamSource<'_>,
    file: Spanned<PhaseFile>,
    before: &[Phase],
    agents: &BTreeMap<AgentName, Agent>,
    (limits, tools): (&BTreeMap<String, u32>, KnownTool<'_>),
) -> Result<Phase, UserError> {
    let reader = PhaseReader { source, limits, tools };
    let own = file.span();
    let mut file = file.into_inner();
    let Required { title, participants, selection, terminate, goal: wanted } =
        required(source, &mut file, &own)?;
    let participants = reader.participants(&participants, agents)?;
    let selection = reader.selection(&mut file, (&selection, &wanted), &participants)?;
    let instructions = reader.instructions(&mut file, &participants)?;
    let work = reader.work(&mut file, &participants, agents)?;
    let planner = match (&selection, &file.planner) {
        (SpeakerSelection::Planner(planner), _) => Some(planner.clone()),
        (_, Some(name)) => Some(source.one_of(name, &participants)?),
        (_, None) => None,
    };
    let review = match (file.review_plan, &planner) {
        (false, _) => PlanReview::None,
        (true, Some(_)) => PlanReview::First,
        (true, None) => {
            let why = "there is no plan to review without a `planner`";
            let fix = "Name the agent that plans, or remove `review_plan`.";
            return Err(source.wrong(&file.name.span(), why, fix));
        }
    };
    let for_each = match file.for_each.take().map(Spanned::into_inner) {
        None => ForEach::Once,
        Some(ForEachWord::Plan) => ForEach::PlanStep,
    };
    let steps = StepRules {
        parallel: reader.parallel(file.parallel.take(), for_each, &wanted, planner.as_ref())?,
        for_each,
        send_back: match file.send_back.take() {
            None => None,
            Some(back) => Some(reader.send_back(back, before, (&participants, agents))?),
        },
    };
    Ok(Phase {
        name: file.name.into_inner(),
        title,
        selection,
        context: file.context,
        limits: PhaseLimits {
            attempts: source.positive(file.attempts, limits, 1)?,
            rounds: source.positive(file.max_rounds, limits, ROUNDS)?,
        },
        terminate: reader.condition(terminate, &participants)?,
        steps,
        goal: wanted,
        work,
        participants,
        plan: Planning { planner, review },
        instructions,
    })
}

/// What the parts of a phase are read with.
struct PhaseReader<'a> {
    source: &'a TeamSource<'a>,
    limits: &'a BTreeMap<String, u32>,
    tools: KnownTool<'a>,
}

impl PhaseReader<'_> {
    /// Who takes part.
    fn participants(
        &self,
        names: &Spanned<Vec<Spanned<String>>>,
        agents: &BTreeMap<AgentName, Agent>,
    ) -> Result<Vec<AgentName>, UserError> {
        let known: Vec<AgentName> = agents.keys().cloned().collect();
        let span = names.span();
        let wrong = |why: String, fix| Err(self.source.wrong(&span, why, fix));
        let participants: Vec<AgentName> = names
            .get_ref()
            .iter()
            .map(|name| self.source.one_of(name, &known))
            .collect::<Result<_, _>>()?;
        if participants.is_empty() {
            return wrong("this phase has no agents".to_owned(), "Name some agents.");
        }
        for (place, name) in participants.iter().enumerate() {
            if participants.iter().take(place).any(|before| before == name) {
                return wrong(format!("{name} is listed twice"), "Name each agent once.");
            }
        }
        Ok(participants)
    }

    /// What the turns of the participants consist of, with the bounds of this phase.
    fn work(
        &self,
        file: &mut PhaseFile,
        participants: &[AgentName],
        agents: &BTreeMap<AgentName, Agent>,
    ) -> Result<BTreeMap<AgentName, AgentWork>, UserError> {
        let own = |name: &AgentName| Some((name.clone(), agents.get(name)?.work.clone()));
        let mut work: BTreeMap<AgentName, AgentWork> =
            participants.iter().filter_map(own).collect();
        let retries = std::mem::take(&mut file.retries).into_iter();
        for (name, limit) in retries {
            let agent = self.source.one_of(&name, participants)?;
            let retries = self.source.positive(Some(limit), self.limits, 1)?;
            work.entry(agent).and_modify(|work| work.retries = retries);
        }
        for (name, limit) in std::mem::take(&mut file.checks) {
            let agent = self.source.one_of(&name, participants)?;
            let checks = self.source.positive(Some(limit), self.limits, 1)?;
            work.entry(agent).and_modify(|work| work.checks = checks);
        }
        Ok(work)
    }

    fn selection(
        &self,
        file: &mut PhaseFile,
        (selection, goal): (&SelectionWord, &PhaseGoal),
        participants: &[AgentName],
    ) -> Result<SpeakerSelection, UserError> {
        let word = selection.word();
        // In other selections it tells whose list is the plan, where there is to be one.
        let plans = file.review_plan || matches!(goal, PhaseGoal::Planned);
        let planner = file.planner.as_ref().filter(|_| !plans);
        let keys = [
            ("planner", "planner", planner.map(Spanned::span)),
            ("selector", "selector", file.selector.as_ref().map(Spanned::span)),
            ("first", "hand_off", file.first.as_ref().map(Spanned::span)),
            ("order", "pipeline", file.order.as_ref().map(Spanned::span)),
            ("rework", "pipeline", file.rework.first().map(Spanned::span)),
        ];
        for (key, of, span) in keys {
            if let Some(span) = span.filter(|_| of != word) {
                let why = format!("the selection `{word}` has no key `{key}`");
                return Err(self.source.wrong(&span, why, "Remove the line."));
            }
        }
        let named = |name: &Option<Spanned<String>>, key: &str| match name {
            Some(name) => self.source.one_of(name, participants),
            None => {
                let why = format!("the selection `{word}` needs a `{key}`");
                let fix = format!("Name the agent: `{key} = \"…\"`.");
                Err(self.source.wrong(&file.name.span(), why, &fix))
            }
        };
        Ok(match selection {
            SelectionWord::Planner => SpeakerSelection::Planner(named(&file.planner, "planner")?),
            SelectionWord::Selector => {
                SpeakerSelection::Selector(named(&file.selector, "selector")?)
            }
            SelectionWord::HandOff => SpeakerSelection::HandOff(named(&file.first, "first")?),
            SelectionWord::RoundRobin => SpeakerSelection::RoundRobin,
            SelectionWord::Policy => SpeakerSelection::Policy(None),
            SelectionWord::Pipeline => {
                let reworks = std::mem::take(&mut file.rework);
                self.pipeline(file.order.as_ref(), reworks, participants)?
            }
        })
    }

    fn pipeline(
        &self,
        order: Option<&Spanned<Vec<Spanned<String>>>>,
        reworks: Vec<Spanned<ReworkFile>>,
        participants: &[AgentName],
    ) -> Result<SpeakerSelection, UserError> {
        let order = match order {
            Some(names) if names.get_ref().is_empty() => {
                let why = "the pipeline has no step";
                return Err(self.source.wrong(&names.span(), why, "Name at least one agent."));
            }
            Some(names) => {
                let names = names.get_ref().iter();
                names
                    .map(|name| self.source.one_of(name, participants))
                    .collect::<Result<_, _>>()?
            }
            None => participants.to_vec(),
        };
        let reworks: Vec<Rework> = reworks
            .into_iter()
            .map(|rework| self.rework(rework, participants))
            .collect::<Result<_, _>>()?;
        Ok(SpeakerSelection::Pipeline { order, reworks })
    }

    /// What some participants are told on top of their own instructions.
    fn instructions(
        &self,
        file: &mut PhaseFile,
        participants: &[AgentName],
    ) -> Result<BTreeMap<AgentName, String>, UserError> {
        let all = std::mem::take(&mut file.instructions).into_iter();
        all.map(|(name, text)| Ok((self.source.one_of(&name, participants)?, text))).collect()
    }

    /// How many steps are carried out side by side.
    fn parallel(
        &self,
        wanted: Option<Spanned<LimitWord>>,
        for_each: ForEach,
        goal: &PhaseGoal,
        planner: Option<&AgentName>,
    ) -> Result<usize, UserError> {
        let Some(wanted) = wanted else { return Ok(1) };
        let span = wanted.span();
        let wrong = |why: &str, fix: &str| Err(self.source.wrong(&span, why, fix));
        let number = self.source.positive(Some(wanted), self.limits, 1)?;
        if for_each == ForEach::Once {
            let why = "`parallel` is for phases that run for each step of the plan";
            return wrong(why, "Add `for_each = \"plan\"`, or remove the line.");
        }
        if number > MOST_PARALLEL {
            let why = format!(
                "`parallel` is {number}; no more than {MOST_PARALLEL} steps run side by side"
            );
            return wrong(&why, &format!("Write a number from 1 to {MOST_PARALLEL}."));
        }
        if number > 1 && planner.is_some() {
            let why = "steps that run side by side cannot have a plan of their own";
            return wrong(why, "Remove `planner`, or write `parallel = 1`.");
        }
        // What the last build, the board and the last tests say is one thing for the whole project.
        let is_of_step = matches!(goal, PhaseGoal::RunsPassed | PhaseGoal::Answered);
        if number > 1 && !is_of_step {
            let why = "steps that run side by side cannot share this goal";
            return wrong(why, "Use the goal `runs_passed` or `answered`, or `parallel = 1`.");
        }
        usize::try_from(number).or(Ok(1))
    }

    fn send_back(
        &self,
        file: Spanned<SendBackFile>,
        before: &[Phase],
        (participants, agents): (&[AgentName], &BTreeMap<AgentName, Agent>),
    ) -> Result<SendBack, UserError> {
        let file = file.into_inner();
        let carries_out = |phase: &Phase| {
            phase.name == *file.to.get_ref() && phase.steps.for_each == ForEach::PlanStep
        };
        let Some(to) = before.iter().position(carries_out) else {
            let why = format!(
                "no phase `{}` before this one runs for each step of the plan",
                file.to.get_ref()
            );
            let fix = "Name a phase with `for_each = \"plan\"`.";
            return Err(self.source.wrong(&file.to.span(), why, fix));
        };
        let after = self.source.one_of(&file.after, participants)?;
        let has_list = agents.get(&after).and_then(|agent| agent.work.answer.as_ref());
        if !has_list.is_some_and(|shape| shape.names_steps(file.field.get_ref())) {
            let why = format!(
                "the answer of {after} has no list `{}` with `step` and `reason`",
                file.field.get_ref()
            );
            let fix = "Add it to the form in the agent's file.";
            return Err(self.source.wrong(&file.field.span(), why, fix));
        }
        let most = self.source.positive(file.most, self.limits, SEND_BACKS)?;
        let report = file.report.map(Spanned::into_inner);
        Ok(SendBack { to, after, field: file.field.into_inner(), report, most })
    }

    fn rework(
        &self,
        file: Spanned<ReworkFile>,
        participants: &[AgentName],
    ) -> Result<Rework, UserError> {
        let span = file.span();
        let file = file.into_inner();
        let tests = file.answer.len();
        let tests_read: Vec<FieldTest> =
            file.answer.into_iter().filter_map(FieldTest::read).collect();
        let when = match (&file.failed, file.says, file.log) {
            (Some(tool), None, None) if tests == 0 => {
                Failure::Tool(self.source.tool(tool, self.tools)?)
            }
            (None, Some(text), None) if tests == 0 && !text.trim().is_empty() => {
                Failure::Text(text)
            }
            (None, None, Some(sign)) if tests == 0 => Failure::Log(sign),
            (None, None, None) if tests > 0 && tests == tests_read.len() => {
                Failure::Answer(tests_read)
            }
            _ => {
                let why = "a rework needs exactly one of `failed` (a tool), `says` (a text), `log` \
                           (a sign in the serial output) and `answer` (tests of fields)";
                return Err(self.source.wrong(&span, why, "Say what counts as a failure."));
            }
        };
        if file.through.is_empty() {
            let why = "a rework needs an agent that fixes the failure";
            return Err(self.source.wrong(&span, why, "Name agents in `through`."));
        }
        let through = file.through.iter();
        Ok(Rework {
            after: self.source.one_of(&file.after, participants)?,
            when,
            through: through
                .map(|name| self.source.one_of(name, participants))
                .collect::<Result<_, _>>()?,
            most: self.source.positive(file.most, self.limits, REWORKS)?,
        })
    }

    fn condition(
        &self,
        file: Spanned<ConditionFile>,
        agents: &[AgentName],
    ) -> Result<Condition, UserError> {
        let span = file.span();
        let file = file.into_inner();
        let mut found = Vec::new();
        if let Some(parts) = file.any {
            found.push(Condition::Any(self.parts(&span, parts, agents)?));
        }
        if let Some(parts) = file.all {
            found.push(Condition::All(self.parts(&span, parts, agents)?));
        }
        let (has_tool, has_text) = (file.tool.is_some(), file.text.is_some());
        if let Some(tool) = &file.tool {
            let tool = self.source.tool(tool, self.tools)?;
            let answer = file.answer.unwrap_or(CallResult::Any);
            found.push(Condition::Tool { tool, answer });
        }
        let agent = |name: &Spanned<String>| self.source.one_of(name, agents);
        if let Some(text) = file.text {
            if text.trim().is_empty() {
                let why = "every message holds an empty text";
                return Err(self.source.wrong(&span, why, "Say which text ends the phase."));
            }
            let agent = file.agent.as_ref().map(agent).transpose()?;
            found.push(Condition::Text { text, agent });
        }
        found.extend(file.max_messages.map(Condition::MaxMessages));
        found.extend(file.max_tokens.map(Condition::MaxTokens));
        found.extend(file.max_seconds.map(Condition::MaxSeconds));
        found.extend(file.max_cost.map(|cost| self.cost(&cost)).transpose()?);
        found.extend(file.spoke.as_ref().map(agent).transpose()?.map(Condition::Spoke));
        if let Some(to) = &file.hand_off {
            let is_person = to.get_ref() == PERSON;
            let to = if is_person { AgentName::from(PERSON) } else { agent(to)? };
            found.push(Condition::HandOff(to));
        }
        found.extend(file.stable_seconds.map(Condition::Stable));
        found.extend(file.tests_passed.filter(|is| *is).map(|_| Condition::TestsPassed));
        found.extend(file.files_saved.filter(|is| *is).map(|_| Condition::FilesSaved));
        let strays = (file.answer.is_some() && !has_tool) || (file.agent.is_some() && !has_text);
        match (found.pop(), found.is_empty() && !strays) {
            (Some(condition), true) => Ok(condition),
            (Some(_) | None, _) => {
                let why = "a condition must be exactly one of any, all, tool (with answer), text \
                           (with agent), spoke, hand_off, files_saved, tests_passed, stable_seconds, max_messages, max_tokens, \
                           max_seconds, max_cost";
                Err(self.source.wrong(&span, why, "Put several conditions into `any` or `all`."))
            }
        }
    }

    fn cost(&self, cost: &Spanned<f64>) -> Result<Condition, UserError> {
        let dollars = *cost.get_ref();
        if dollars.is_finite() && dollars > 0.0 {
            return Ok(Condition::MaxCost(Cost::from_dollars(dollars)));
        }
        let why = format!("{dollars} is not a valid limit of costs");
        Err(self.source.wrong(&cost.span(), why, "Use an amount of dollars above 0."))
    }

    fn parts(
        &self,
        span: &Range<usize>,
        parts: Vec<Spanned<ConditionFile>>,
        agents: &[AgentName],
    ) -> Result<Vec<Condition>, UserError> {
        if parts.is_empty() {
            let why = "`any` and `all` need at least one condition";
            return Err(self.source.wrong(span, why, "Add one."));
        }
        parts.into_iter().map(|part| self.condition(part, agents)).collect()
    }
}
