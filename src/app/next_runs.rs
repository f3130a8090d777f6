//! Puts together the runs that follow in a session: the team that fits the project as it is now,
//! and a model that can do the task.
//!
//! Owns these two choices. Must not start anything.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::choice;
use super::learned;
use super::machine::Machine;
use super::plan::{ModelSource, no_model_for};
use super::recordings::{Recording, Recordings, load_script};
use super::request_words::Wanted;
use super::shipped::{load_limited_team, load_team};
use crate::engine::{NextModel, NextRun, NextRuns, Team};
use crate::model::event::{SessionChoices, SessionStart};
use crate::model::{Ground, NextSuggestion, TeamOffer, TeamOffers, UserError};
use crate::provider::{ChosenModel, Pacing, Provider, Scripted};
use crate::toolchain::Toolchain;
use crate::workspace::ProjectDir;

/// The runs that follow in one session.
#[derive(Clone)]
pub struct SessionRuns {
    pub machine: Machine,
    /// The project's folder.
    pub project: PathBuf,
    /// What builds, for what teams are told about it.
    pub toolchain: Arc<dyn Toolchain>,
    /// Its name in sessions.
    pub toolchain_name: String,
    /// The team that the session began with.
    pub first_team: String,
    /// What the person has set for the session.
    choices: SessionChoices,
    /// How fast a recorded model types.
    pub pacing: Pacing,
    /// The recordings, once they were asked for.
    recordings: Arc<OnceLock<Option<Recordings>>>,
}

impl SessionRuns {
    #[must_use]
    pub fn new(
        machine: &Machine,
        project: &ProjectDir,
        session: &SessionStart,
        (toolchain, pacing): (&Arc<dyn Toolchain>, Pacing),
    ) -> Arc<Self> {
        Arc::new(Self {
            machine: machine.clone(),
            project: project.root().to_path_buf(),
            toolchain: Arc::clone(toolchain),
            toolchain_name: session.parts.toolchain.clone(),
            first_team: session.team.clone(),
            choices: session.parts.choices.clone(),
            pacing,
            recordings: Arc::default(),
        })
    }

    /// A team whose agents know what firmware of the project is built with and for, as it is now.
    #[must_use]
    pub fn for_target(&self, team: Arc<Team>) -> Arc<Team> {
        team.for_target(&self.toolchain.build_target(&self.project).in_words())
    }

    /// A team that knows what holds with the toolchain.
    fn briefed(&self, team: Arc<Team>) -> Result<Arc<Team>, UserError> {
        Ok(self.for_target(team.briefed(&self.machine.assets, &self.toolchain_name)?))
    }

    fn load(&self, name: &str) -> Result<Arc<Team>, UserError> {
        let limits = self.choices.limits_of(name, &self.first_team);
        load_limited_team(&self.machine.assets, name, &limits)
    }

    fn ground(&self) -> Ground {
        choice::ground(Some(&self.project))
    }

    /// The team that fits a request, and why. While a project is still empty its files say nothing of
    /// what it will become; the team that began it does.
    fn team_for<'t>(&'t self, task: &str, ground: Ground) -> (&'t str, &'static str) {
        let (name, why) = choice::team_for(task, ground, &self.project);
        match self.goes_on_with_first(name, ground) {
            true => (&self.first_team, "the session began with it"),
            false => (name, why),
        }
    }

    /// Whether the team that the session began with goes on in place of the usual one.
    fn goes_on_with_first(&self, usual: &str, ground: Ground) -> bool {
        let fits = |team: Arc<Team>| choice::check(&team, ground).is_ok();
        let is_usual = ground == Ground::Empty && usual == choice::usual_team(ground);
        let is_other = ![usual, choice::ANSWERS].contains(&self.first_team.as_str());
        is_usual && is_other && self.load(&self.first_team).is_ok_and(fits)
    }

    fn is_of_project(&self, recording: &Recording) -> bool {
        recording.is_of(&self.project, &self.machine.assets)
    }

    /// Another model, when the one that answers now plays a recording of another task; `recorded` answers
    /// this one, perhaps in another project.
    fn model(
        &self,
        (recordings, recorded): (&Recordings, Option<&Recording>),
        provider: &str,
    ) -> Result<Option<NextModel>, UserError> {
        let Some(ModelSource::Script(now)) = ModelSource::parse(provider) else { return Ok(None) };
        if let Some(recording) = recorded.filter(|recording| self.is_of_project(recording)) {
            return self.script(&recording.name).map(Some);
        }
        if is_own_script(&now) {
            return Ok(None);
        }
        match self.machine.profiles.default_name() {
            Some(name) => {
                let panel = self.machine.profiles.panel(&name, None)?;
                let label = panel.label();
                let provider = ModelSource::Profile { name, model: None }.to_string();
                let chosen = ChosenModel { provider, label };
                Ok(Some(NextModel { provider: Arc::new(panel), chosen }))
            }
            None => Err(recorded.map_or_else(
                || {
                    // One that begins with nothing is for a session of its own.
                    let goes_on = |it: &&Recording| it.starter.is_some() && self.is_of_project(it);
                    let playable = recordings.all().filter(goes_on).collect();
                    no_model_for(playable, Some(choice::next_team(self.ground(), &self.project)))
                },
                recorded_elsewhere,
            )),
        }
    }

    fn script(&self, name: &str) -> Result<NextModel, UserError> {
        let script = Arc::new(load_script(&self.machine.assets, name)?);
        let scripted = Scripted::new(script, self.pacing);
        let label = scripted.label();
        let provider = ModelSource::Script(name.to_owned()).to_string();
        Ok(NextModel { provider: Arc::new(scripted), chosen: ChosenModel { provider, label } })
    }
}

impl NextRuns for SessionRuns {
    fn prepare(
        &self,
        task: &str,
        team: Option<&str>,
        provider: &str,
    ) -> Result<NextRun, UserError> {
        let ground = self.ground();
        let recordings = Recordings::load(&self.machine.assets)?;
        let plays_recording = matches!(ModelSource::parse(provider), Some(ModelSource::Script(_)));
        let recorded = recordings.of_task(task).filter(|_| plays_recording);
        let recording = recorded.filter(|recording| self.is_of_project(recording));
        let (name, why) = match (team, recording) {
            (Some(team), _) => match recorded.filter(|recording| team != recording.team) {
                Some(recording) => return Err(recorded_otherwise(team, recording)),
                None => (team, "you chose it".to_owned()),
            },
            (None, Some(recording)) => {
                (recording.team.as_str(), "it was recorded with this task".to_owned())
            }
            (None, None) => {
                let (name, why) = self.team_for(task, ground);
                (name, why.to_owned())
            }
        };
        let team = self.load(name)?;
        choice::check(&team, ground)?;
        let model = self.model((&recordings, recorded), provider)?;
        let team = self.briefed(team)?;
        let team = learned::with_policy(&self.machine.assets, &self.machine.dirs.data, team)?;
        Ok(NextRun { team, why, model })
    }

    fn team(&self, name: &str) -> Result<Arc<Team>, UserError> {
        self.briefed(self.load(name)?)
    }
}

impl TeamOffers for SessionRuns {
    fn offers(&self) -> Vec<TeamOffer> {
        let ground = self.ground();
        let mut offers = offers_for(&self.machine, ground, &self.project);
        if self.goes_on_with_first(choice::usual_team(ground), ground) {
            offers.sort_by_key(|offer| offer.name != self.first_team);
        }
        offers
    }

    fn suggested(&self, task: &str, provider: &str) -> NextSuggestion {
        let load = || Recordings::load(&self.machine.assets).ok();
        let script = match ModelSource::parse(provider) {
            Some(ModelSource::Script(script)) => Some(script),
            // A service answers whatever is asked.
            _ => None,
        };
        let recordings = self.recordings.get_or_init(load).as_ref().filter(|_| script.is_some());
        let recording = recordings.and_then(|recordings| recordings.of_task(task));
        let recording = recording.filter(|recording| self.is_of_project(recording));
        if let Some(recording) = recording {
            return NextSuggestion { team: Some(recording.team.clone()), profile: None };
        }
        // Most requests: the first offer.
        let is_work = Wanted::of(task) == Wanted::Work;
        let team = (!is_work).then(|| self.team_for(task, self.ground()).0);
        let profile = script.filter(|script| !is_own_script(script));
        let profile = profile.and_then(|_| self.machine.profiles.default_name());
        NextSuggestion { team: team.map(str::to_owned), profile }
    }
}

/// The teams that can work on what a folder holds, the one that fits best first.
#[must_use]
pub fn offers_for(machine: &Machine, ground: Ground, project: &Path) -> Vec<TeamOffer> {
    let usual = choice::next_team(ground, project);
    let names = Team::names(&machine.assets);
    // A team whose file is wrong is not offered; whoever asks for it by name gets the reason.
    let teams = names.iter().filter_map(|name| load_team(&machine.assets, name).ok());
    let fitting = teams.filter(|team| choice::check(team, ground).is_ok());
    let mut offers: Vec<TeamOffer> = fitting
        .map(|team| TeamOffer {
            name: team.name.clone(),
            title: team.title.clone(),
            description: team.description.clone(),
        })
        .collect();
    offers.sort_by_key(|offer| offer.name != usual);
    offers
}

/// Whether a script is a file of the person's own, which may know more than one run.
fn is_own_script(script: &str) -> bool {
    Path::new(script).is_absolute()
}

/// A recording is played in its own project only.
fn recorded_elsewhere(recording: &Recording) -> UserError {
    UserError::new(
        "Cannot start: the recorded answer to this task belongs to another project",
        "no model is configured, and the files that the recording reads and changes are not here",
        format!(
            "Play it with `firmhand demo --team {}`, or configure a model; see `firmhand doctor`.",
            recording.team
        ),
    )
}

/// A recording is played with its own team only.
fn recorded_otherwise(team: &str, recording: &Recording) -> UserError {
    let own = &recording.team;
    UserError::new(
        format!("Cannot start the task with the team `{team}`"),
        format!("no model is configured, and the recording of this task plays the team `{own}`"),
        format!("Choose it with `/team {own}`, or configure a model; see `firmhand doctor`."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Dirs, Overrides};
    use crate::model::SessionId;
    use crate::model::event::SessionParts;
    use crate::toolchain::VirtualToolchain;
    use crate::tools::load_kit;

    #[test]
    fn a_run_that_follows_keeps_the_limits_of_its_team() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| folder.path().join(name);
        let dirs = Dirs { config: of("config"), data: of("data") };
        let machine = Machine::load(&dirs, None, &Overrides::default()).unwrap();
        let project = ProjectDir::open(folder.path()).unwrap();
        let kit = load_kit(&machine.assets).unwrap();
        let toolchain = VirtualToolchain::new(kit, of("board"), machine.runner.clone());
        let toolchain: Arc<dyn Toolchain> = Arc::new(toolchain);
        let choices = SessionChoices {
            team_limits: [("max_debug".to_owned(), 77)].into(),
            ..SessionChoices::default()
        };
        let session = SessionStart {
            id: SessionId::new("2026-01-01-x"),
            task: "x".to_owned(),
            team: "mesh".to_owned(),
            project: String::new(),
            model: String::new(),
            toolchain: String::new(),
            program: String::new(),
            parts: SessionParts {
                toolchain: "virtual".to_owned(),
                choices,
                ..SessionParts::default()
            },
        };
        let runs = SessionRuns::new(&machine, &project, &session, (&toolchain, Pacing::Instant));
        let next = runs.prepare("Write a game", Some("mesh"), "profile:any").unwrap();
        assert_eq!(next.team.limits["max_debug"], 77);
        let other = runs.prepare("Write a sum", Some("contract"), "profile:any").unwrap();
        let usual = load_team(&machine.assets, "contract").unwrap();
        assert_eq!(other.team.limits, usual.limits);
    }
}
