//! `firmhand policy`: trains, shows, compares and explains who speaks next.
//!
//! Owns what is printed; what is computed is in `crate::policy`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::json;

use super::policy_args::{
    PolicyArgs, PolicyCommand, PolicyCompareArgs, PolicyExplainArgs, PolicyLearnArgs,
    PolicyOptions, PolicyResetArgs, PolicyShowArgs, PolicyTrainArgs,
};
use super::report;
use crate::app::learned::{process_of, unused};
use crate::app::validation::{SandboxJudge, recorded_selector, recorded_tasks};
use crate::config::{Assets, Dirs};
use crate::files;
use crate::journal::{SessionDir, SessionState, summary};
use crate::model::{RecordSource, UserError};
use crate::policy::{
    Estimate, FiveTasks, JournalReader, MIXED, Order, Played, Process, Provenance, RecordedTask,
    Session, State, Store, Trained, Trainer, USUAL_ORDER, compare, comparison_svg, comparison_text,
    estimate, explain, heat_map, heat_map_svg, is_no_worse, learn, parse_experience, play, table,
    usual_episodes, write_chart,
};
use crate::sandbox::Runner;

/// Episodes that the speed is measured over, at least.
const TIMED: u64 = 200_000;

/// Episodes of one training, at most.
const MOST_EPISODES: u64 = 1_000_000_000;

/// Runs the command.
///
/// # Errors
/// When a file cannot be used, or another program trains the same policy.
pub fn run(dirs: &Dirs, args: PolicyArgs) -> Result<ExitCode, UserError> {
    let (PolicyCommand::Train(PolicyTrainArgs { options, .. })
    | PolicyCommand::Show(PolicyShowArgs { options, .. })
    | PolicyCommand::Compare(PolicyCompareArgs { options, .. })
    | PolicyCommand::Explain(PolicyExplainArgs { options, .. })
    | PolicyCommand::Learn(PolicyLearnArgs { options, .. })
    | PolicyCommand::Reset(PolicyResetArgs { options, .. })) = &args.command;
    let store = Store::new(&dirs.data, &options.team)?;
    let command = Command { dirs, store, options };
    match &args.command {
        PolicyCommand::Train(args) => command.train(args)?,
        PolicyCommand::Show(args) => command.show(args)?,
        PolicyCommand::Compare(args) => command.compare(args)?,
        PolicyCommand::Explain(args) => command.explain(args)?,
        PolicyCommand::Learn(args) => command.learn(args)?,
        PolicyCommand::Reset(args) => command.reset(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What every one of the commands begins with.
struct Command<'a> {
    dirs: &'a Dirs,
    store: Store,
    options: &'a PolicyOptions,
}

impl Command<'_> {
    fn process(&self) -> Result<Process, UserError> {
        let Some(path) = &self.options.parameters else {
            return process_of(&Assets::with_user_folder(&self.dirs.config), &self.options.team);
        };
        Process::parse(&path.display().to_string(), &read_text(path)?)
    }

    /// A policy that knows nothing yet, by the options.
    fn untrained(&self) -> Result<Trained, UserError> {
        let process = self.process()?;
        let tasks = self.options.tasks.clone().unwrap_or_else(|| process.train_on.clone());
        Trained::new(Provenance {
            team: self.options.team.clone(),
            knows_classes: tasks == MIXED,
            tasks,
            seed: self.options.seed.unwrap_or(1).to_string(),
            episodes: 0,
            sessions: 0,
            learned_from: Vec::new(),
            date: jiff::Timestamp::now().to_string(),
            process,
        })
    }

    fn trained(&self) -> Result<Trained, UserError> {
        let mut policy = self.untrained()?;
        self.more(&mut policy)?;
        Ok(policy)
    }

    fn more(&self, policy: &mut Trained) -> Result<(), UserError> {
        let usual = usual_episodes(policy.model.agents.len());
        let episodes = self.options.episodes.unwrap_or(usual);
        if !(1..=MOST_EPISODES).contains(&episodes) {
            return Err(UserError::new(
                format!("Cannot train {episodes} episodes"),
                format!("a training has 1 to {MOST_EPISODES} episodes"),
                "Use e.g. `--episodes 5000`.",
            ));
        }
        let seed = policy.origin.seed_number();
        let mut trainer = Trainer::new(&policy.model, seed, policy.origin.episodes);
        trainer.train(&mut policy.table, episodes);
        policy.origin.episodes = trainer.episodes();
        if policy.origin.episodes < usual && policy.model.agents.len() > 4 {
            report::aside(&format!(
                "{} tasks are few for {} agents; {usual} are usual.",
                policy.origin.episodes,
                policy.model.agents.len()
            ));
        }
        Ok(())
    }

    /// The saved policy, or without one the same that the team uses; with options that say how to
    /// train, one that is trained for this once.
    fn present(&self) -> Result<Trained, UserError> {
        let options = self.options;
        let is_asked = options.seed.is_some()
            || options.episodes.is_some()
            || options.tasks.is_some()
            || options.parameters.is_some();
        if is_asked {
            return self.trained();
        }
        if let Some(saved) = self.store.load()? {
            return Ok(saved);
        }
        report::aside("None is saved: this is the table that the team uses until one is trained.");
        self.trained()
    }

    fn train(&self, args: &PolicyTrainArgs) -> Result<(), UserError> {
        let lock = self.store.lock()?;
        let policy = match args.resume {
            false => self.trained()?,
            true => {
                let mut policy = self.store.require()?;
                let same_seed =
                    self.options.seed.is_none_or(|seed| seed.to_string() == policy.origin.seed);
                if !same_seed || self.options.tasks.is_some() || self.options.parameters.is_some() {
                    return Err(UserError::new(
                        "Cannot continue this training",
                        "its seed, tasks and parameters are those it began with",
                        "Leave these options out, or train without `--resume`.",
                    ));
                }
                self.more(&mut policy)?;
                policy.origin.date = jiff::Timestamp::now().to_string();
                policy
            }
        };
        self.store.save(&lock, &policy)?;
        let assets = Assets::with_user_folder(&self.dirs.config);
        if let Some(why) = unused(&assets, &self.options.team)? {
            report::aside(&why);
        }
        let path = self.store.path();
        if self.options.json {
            let origin = &policy.origin;
            return report::json(&json!({
                "team": origin.team, "tasks": origin.tasks, "seed": origin.seed_number(),
                "episodes": origin.episodes, "file": path.display().to_string(),
            }));
        }
        let origin = &policy.origin;
        report::line(&format!(
            "Trained on {} {} tasks with seed {}; saved in {}.",
            origin.episodes,
            origin.tasks,
            origin.seed,
            path.display()
        ));
        Ok(())
    }

    fn show(&self, args: &PolicyShowArgs) -> Result<(), UserError> {
        let policy = match args.older {
            Some(Some(number)) => self.store.older_table(number)?,
            Some(None) => return self.list_older(),
            None => self.present()?,
        };
        if let Some(path) = &args.svg {
            write_chart(path, &heat_map_svg(&policy))?;
        }
        if self.options.json {
            let states = (0..policy.table.states()).map(State::from_index);
            let visited = states.filter(|state| policy.table.visits(*state) > 0);
            let rows: Vec<_> = visited.map(|state| explain(&policy, state)).collect();
            return report::json(&json!({ "origin": policy.origin, "states": rows }));
        }
        let origin = &policy.origin;
        report::line(&format!(
            "Team {}, {} tasks, seed {}, {} episodes, {} sessions, {}\n",
            origin.team, origin.tasks, origin.seed, origin.episodes, origin.sessions, origin.date
        ));
        report::line(&table(&policy));
        report::line(heat_map(&policy).trim_end());
        Ok(())
    }

    fn compare(&self, args: &PolicyCompareArgs) -> Result<(), UserError> {
        let policy = self.trained()?;
        let episodes = policy.origin.episodes;
        let speed = self.speed(&policy, episodes.max(TIMED));
        let assets = Assets::with_user_folder(&self.dirs.config);
        let all = recorded_tasks(&assets)?;
        let selector = recorded_selector(&assets)?;
        let mut judge = SandboxJudge::new(Runner::of_this_program())?;
        let five: Vec<RecordedTask> = all.iter().filter(|task| task.published).cloned().collect();
        let (learned, fixed) = match play_both(&policy, &five, &mut judge) {
            Ok((learned, fixed)) => (Some(learned.calls), Some(fixed.calls)),
            Err(error) => {
                report::aside(&format!(
                    "The five tasks were not run: {}: {}",
                    error.what, error.why
                ));
                (None, None)
            }
        };
        let comparison =
            compare(&policy, episodes, speed, FiveTasks { learned, fixed }, &selector)?;
        let tasks = args.all_tasks.then(|| play_both(&policy, &all, &mut judge)).transpose()?;
        if let Some(path) = &args.svg {
            write_chart(path, &comparison_svg(&comparison))?;
        }
        if self.options.json {
            let Some((learned, fixed)) = tasks else { return report::json(&comparison) };
            let mut json = json!(comparison);
            json["tasks"] = json!({ "learned": learned, "fixed": fixed });
            return report::json(&json);
        }
        report::line(&comparison_text(&comparison));
        if let (Some(learned), Some(fixed)) = (learned, fixed) {
            report::line(&format!(
                "Five tasks, recorded answers really run: {learned} calls, the usual fixed order {fixed}."
            ));
        }
        if let Some((learned, fixed)) = tasks {
            report::line(&format!(
                "All {} tasks: {} calls and {} solved, the usual fixed order {} and {}; {} programs run.",
                learned.tasks,
                learned.calls,
                learned.solved,
                fixed.calls,
                fixed.solved,
                judge.runs()
            ));
        }
        report::line(&format!("{:.0} episodes per second.", comparison.episodes_per_second));
        Ok(())
    }

    /// Episodes per second of a training from the start.
    fn speed(&self, policy: &Trained, episodes: u64) -> f64 {
        let Ok(mut fresh) = Trained::new(policy.origin.clone()) else { return 0.0 };
        let begun = Instant::now();
        let seed = policy.origin.seed_number();
        Trainer::new(&fresh.model, seed, 0).train(&mut fresh.table, episodes);
        (episodes as f64 / begun.elapsed().as_secs_f64().max(1e-9)).round()
    }

    fn explain(&self, args: &PolicyExplainArgs) -> Result<(), UserError> {
        let policy = self.present()?;
        let classes = policy.classes();
        let state = State::parse(&args.state, &classes).ok_or_else(|| {
            let mut fix =
                "Write e.g. `start,0` or `plan,code,error,2`: what is true of the work, and \
                           the bucket 0 to 3 of the actions taken."
                    .to_owned();
            if !classes.is_empty() {
                fix.push_str(" The class of the task may come first: ");
                fix.push_str(&classes.join(", "));
                fix.push('.');
            }
            let what = format!("Cannot explain the state `{}`", args.state);
            UserError::new(what, "there is no such state", fix)
        })?;
        let explained = explain(&policy, state);
        if self.options.json {
            return report::json(&explained);
        }
        report::line(&explained.text());
        Ok(())
    }

    fn learn(&self, args: &PolicyLearnArgs) -> Result<(), UserError> {
        let lock = self.store.lock()?;
        let saved = self.store.load()?;
        let is_first = saved.is_none();
        let present = match saved {
            Some(policy) => policy,
            None => self.trained()?,
        };
        let (sessions, read) = match &args.from {
            Some(path) => {
                let name = path.display().to_string();
                (parse_experience(&name, &read_text(path)?, &present)?, Vec::new())
            }
            None => recorded_sessions(self.dirs, args.project.as_deref(), &present)?,
        };
        // Every second session is kept for the estimate, so that no table is judged by what it
        // learned from.
        let (mut lessons, mut held_out) = (Vec::new(), Vec::new());
        for (number, session) in sessions.iter().enumerate() {
            let half = if number % 2 == 0 { &mut lessons } else { &mut held_out };
            half.push(session.clone());
        }
        let mut candidate = present.clone();
        learn(&mut candidate, &lessons, args.weight);
        let before = estimate(&present, &held_out);
        let after = estimate(&candidate, &held_out);
        let is_taken = is_no_worse(after, before) || args.take;
        if is_taken {
            candidate.origin.date = jiff::Timestamp::now().to_string();
            candidate.origin.learned_from.extend(read);
            // The estimate is made; now they teach as well.
            learn(&mut candidate, &held_out, args.weight);
            if is_first {
                // There is a table to go back to.
                self.store.save(&lock, &present)?;
            }
            self.store.save(&lock, &candidate)?;
        }
        let (present, new) = (estimate_json(before), estimate_json(after));
        if self.options.json {
            return report::json(&json!({
                "taken": is_taken, "sessions": sessions.len(), "present": present, "new": new,
            }));
        }
        report::line(&format!("Present table: {}.", estimate_text(before)));
        report::line(&format!("New table: {}.", estimate_text(after)));
        report::line(if is_taken {
            "The new table is in use; `firmhand policy reset --to NUMBER` restores an older one."
        } else {
            "The present table stays in use; `--take` uses the new one anyway."
        });
        Ok(())
    }

    fn reset(&self, args: &PolicyResetArgs) -> Result<(), UserError> {
        let lock = self.store.lock()?;
        let text = match args.to {
            Some(number) => {
                self.store.restore(&lock, number)?;
                format!("The older table {number} is in use again.")
            }
            None if self.store.reset(&lock)? => "The policy is reset.".to_owned(),
            None => "There is no policy to reset.".to_owned(),
        };
        if !self.options.json {
            report::line(&text);
        }
        self.list_older()
    }

    fn list_older(&self) -> Result<(), UserError> {
        let older = self.store.older()?.into_iter().map(|number| {
            let origin = self.store.look(number).ok().flatten().map(|policy| policy.origin);
            (number, origin)
        });
        let older: Vec<(u32, Option<Provenance>)> = older.collect();
        if self.options.json {
            let older: Vec<_> =
                older.iter().map(|(number, origin)| older_json(*number, origin.as_ref())).collect();
            return report::json(&json!({ "team": self.options.team, "older": older }));
        }
        if !older.is_empty() {
            report::line("Older tables; `firmhand policy show --older NUMBER` shows one:");
        }
        for (number, origin) in &older {
            report::line(&format!("{number:>4}  {}", older_text(origin.as_ref())));
        }
        Ok(())
    }
}

/// The attempts that the policy of this team chose in, of sessions that it has not learned from yet;
/// and the names of those.
fn recorded_sessions(
    dirs: &Dirs,
    project: Option<&Path>,
    policy: &Trained,
) -> Result<(Vec<Session>, Vec<String>), UserError> {
    let project = project.map(|path| path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    let (mut found, mut names) = (Vec::new(), Vec::new());
    for dir in SessionDir::all(&dirs.data)? {
        let session = summary(&dir);
        let name = session.id.to_string();
        let is_of_project = project.as_ref().is_none_or(|wanted| {
            session.start.as_ref().is_some_and(|start| Path::new(&start.project) == wanted)
        });
        let is_over = matches!(session.state, SessionState::Ended(_));
        if !is_of_project || !is_over || policy.origin.learned_from.contains(&name) {
            continue;
        }
        let mut reader = JournalReader::default();
        dir.each(&mut |record| reader.take(&record.event))?;
        let runs = reader.finish();
        let sessions: Vec<Session> = runs.iter().filter_map(|run| run.session(policy)).collect();
        if !sessions.is_empty() {
            names.push(name);
            found.extend(sessions);
        }
    }
    if found.is_empty() {
        return Err(UserError::new(
            format!("Cannot learn for the team `{}`", policy.origin.team),
            "no session that has ended and was not learned from yet holds choices of its policy",
            format!(
                "Run e.g. `firmhand new --team {} TASK`, or use `--from FILE`.",
                policy.origin.team
            ),
        ));
    }
    Ok((found, names))
}

/// Lets the policy and the usual fixed order work on tasks.
fn play_both(
    policy: &Trained,
    tasks: &[RecordedTask],
    judge: &mut SandboxJudge,
) -> Result<(Played, Played), UserError> {
    let (process, seed) = (&policy.origin.process, policy.origin.seed_number());
    let learned = play(tasks, process, Order::Learned(policy), seed, judge)?;
    let fixed = play(tasks, process, Order::Fixed(&USUAL_ORDER), seed, judge)?;
    Ok((learned, fixed))
}

fn older_json(number: u32, origin: Option<&Provenance>) -> serde_json::Value {
    origin.map_or(json!({ "number": number }), |own| {
        json!({
            "number": number, "date": own.date, "tasks": own.tasks, "seed": own.seed_number(),
            "episodes": own.episodes, "sessions": own.sessions,
        })
    })
}

fn older_text(origin: Option<&Provenance>) -> String {
    origin.map_or("it cannot be read".to_owned(), |own| {
        format!(
            "{}, {} {} tasks, seed {}, {} sessions",
            own.date, own.episodes, own.tasks, own.seed, own.sessions
        )
    })
}

fn estimate_json(estimate: Option<Estimate>) -> serde_json::Value {
    estimate.map_or(serde_json::Value::Null, |known| {
        json!({
            "value": known.value, "interval": [known.low, known.high], "sessions": known.effective,
        })
    })
}

fn estimate_text(estimate: Option<Estimate>) -> String {
    estimate.map_or("too few sessions chose as it does".to_owned(), |known| {
        format!(
            "{:.2} ({:.2} to {:.2}) from {:.0} sessions' weight",
            known.value, known.low, known.high, known.effective
        )
    })
}

fn read_text(path: &Path) -> Result<String, UserError> {
    let name = path.display();
    let bytes = files::read(path, files::SOURCE)
        .map_err(|error| UserError::from_cause(format!("Cannot read {name}"), &error))?;
    String::from_utf8(bytes).map_err(|_| {
        UserError::new(format!("Cannot read {name}"), "it is not UTF-8 text", "Save it as UTF-8.")
    })
}
