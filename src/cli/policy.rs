//! `firmhand policy`: trains, shows, compares and explains who speaks next.
//!
//! Owns what is printed; what is computed is in `crate::policy`.

use std::process::ExitCode;
use std::time::Instant;

use serde_json::json;

use super::policy_args::{
    PolicyArgs, PolicyCommand, PolicyCompareArgs, PolicyExplainArgs, PolicyLearnArgs,
    PolicyOptions, PolicyResetArgs, PolicyShowArgs, PolicyTrainArgs,
};
use super::policy_learn::{self, Present, read_text};
use super::report;
use crate::app::learned::{process_by, process_of, untrained, unused};
use crate::app::validation::{SandboxJudge, recorded_selector, recorded_tasks};
use crate::config::{Assets, Dirs};
use crate::model::UserError;
use crate::policy::{
    FiveTasks, Order, Played, Process, Provenance, RecordedTask, State, Store, Trained, Trainer,
    USUAL_ORDER, compare, comparison_svg, comparison_text, explain, heat_map, heat_map_svg, play,
    table, usual_episodes, write_chart,
};
use crate::sandbox::Runner;

/// Episodes that the speed is measured over, at least.
const TIMED: u64 = 200_000;

/// Episodes of one training, at most.
const MOST_EPISODES: u64 = 1_000_000_000;

/// Options that say how a table is trained.
const TRAINING: [&str; 4] = ["--seed", "--episodes", "--tasks", "--parameters"];

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
    /// Whether that option of [`TRAINING`] is given.
    fn is_given(&self, option: &str) -> bool {
        match option {
            "--seed" => self.options.seed.is_some(),
            "--episodes" => self.options.episodes.is_some(),
            "--tasks" => self.options.tasks.is_some(),
            _ => self.options.parameters.is_some(),
        }
    }

    /// Tells of those of these options that are given, where they change nothing.
    fn tell_unused(&self, options: impl IntoIterator<Item = &'static str>, why: &str) {
        let given = |option: &&str| self.is_given(option);
        let named: Vec<&str> = options.into_iter().filter(given).collect();
        if !named.is_empty() {
            report::aside(&format!("Not used: {}; {why}.", named.join(", ")));
        }
    }

    fn process(&self) -> Result<Process, UserError> {
        let (assets, team) = (Assets::with_user_folder(&self.dirs.config), &self.options.team);
        let Some(path) = &self.options.parameters else { return process_of(&assets, team) };
        let name = path.display().to_string();
        let given = Process::parse(&name, &read_text(path)?)?;
        let process = process_by(&assets, team, given.clone())?;
        if given.agents != process.agents {
            let agents: Vec<&str> = process.agents.iter().map(|it| it.name.as_str()).collect();
            report::aside(&format!(
                "The agents are those of the team `{team}`, not those of {name}: {}.",
                agents.join(", ")
            ));
        }
        Ok(process)
    }

    /// A policy that knows nothing yet, by the options.
    fn untrained(&self) -> Result<Trained, UserError> {
        let process = self.process()?;
        let PolicyOptions { team, tasks, seed, .. } = self.options;
        let mut policy = untrained(team, process, tasks.as_deref(), seed.unwrap_or(1))?;
        policy.origin.date = policy_learn::now();
        Ok(policy)
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
        if TRAINING.iter().any(|option| self.is_given(option)) {
            return self.trained();
        }
        if let Some(saved) = self.store.load()? {
            return Ok(saved);
        }
        let assets = Assets::with_user_folder(&self.dirs.config);
        let none = "None is saved: this is the table that the team uses until one is trained.";
        report::aside(unused(&assets, &self.options.team)?.as_deref().unwrap_or(none));
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
                policy.origin.date = policy_learn::now();
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
                "team": origin.team, "tasks": origin.tasks, "seed": origin.seed,
                "episodes": origin.episodes, "file": path.display().to_string(),
            }));
        }
        let origin = &policy.origin;
        report::line(&report::wrapped(&format!(
            "Trained on {} {} tasks with seed {}; saved in {}.",
            origin.episodes,
            origin.tasks,
            origin.seed,
            path.display()
        )));
        Ok(())
    }

    fn show(&self, args: &PolicyShowArgs) -> Result<(), UserError> {
        if args.older.is_some() {
            self.tell_unused(TRAINING, "an older table was trained already");
        }
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
        report::line(&report::wrapped(&format!(
            "Team {}: {} {} tasks simulated, seed {}; {} sessions; {}\n",
            origin.team, origin.episodes, origin.tasks, origin.seed, origin.sessions, origin.date
        )));
        report::line(&table(&policy, report::columns()));
        report::line(heat_map(&policy, report::columns()).trim_end());
        report::line(&report::wrapped(SHOWN));
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
        let saved = self.store.load().unwrap_or_else(|error| {
            report::aside(&format!("The saved table is left out: {error}"));
            None
        });
        let five = FiveTasks { learned, fixed };
        let comparison = compare(&policy, saved.as_ref(), episodes, speed, five, &selector)?;
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
        report::line(comparison_text(&comparison, report::columns()).trim_end());
        report::line(&report::wrapped(&comparison_words(&policy, saved.as_ref())));
        if let (Some(learned), Some(fixed)) = (learned, fixed) {
            report::line(&report::wrapped(&format!(
                "Five tasks, recorded answers really run: {learned} calls, the usual fixed order {fixed}."
            )));
        }
        if let Some((learned, fixed)) = tasks {
            report::line(&report::wrapped(&format!(
                "All {} tasks: {} calls and {} solved, the usual fixed order {} and {}; {} programs run.",
                learned.tasks,
                learned.calls,
                learned.solved,
                fixed.calls,
                fixed.solved,
                judge.runs()
            )));
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
        report::line(&report::wrapped(&explained.text()));
        Ok(())
    }

    fn learn(&self, args: &PolicyLearnArgs) -> Result<(), UserError> {
        let lock = self.store.lock()?;
        let saved = self.store.load()?;
        let is_saved = saved.is_some();
        let table = match saved {
            Some(table) => {
                let options = TRAINING.into_iter().filter(|option| *option != "--parameters");
                let why = "sessions are added to the saved table, which is trained already; \
                           `firmhand policy train` trains another one";
                self.tell_unused(options, why);
                table
            }
            None => self.trained()?,
        };
        let settings = self.process()?;
        let present = Present { store: &self.store, lock: &lock, table, is_saved };
        policy_learn::learn(self.dirs, present, &settings, args)
    }

    fn reset(&self, args: &PolicyResetArgs) -> Result<(), UserError> {
        self.tell_unused(TRAINING, "nothing is trained by `reset`");
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

/// What stands below a table and its heat map.
const SHOWN: &str = "
Each row is a state: what there is of the work, and the bucket of actions taken (0 at the start to 3 \
late). Each cell: points of reward that a task is still worth when the agent speaks, and how often it was \
tried. * is the choice; shades compare the agents of a row; - and · were never tried or cannot act.";

/// What a comparison shows.
fn comparison_words(policy: &Trained, saved: Option<&Trained>) -> String {
    let (origin, reward) = (&policy.origin, &policy.origin.process.reward);
    let saved = match saved {
        Some(_) => "saved is the table that the team uses",
        None => "none is saved",
    };
    format!(
        "\nFigures: points of reward that a {} task earns on average ({:+} when the tests pass, {:+} when \
         the actions run out, {:+} for each action, {:+} for one that changes nothing), with the 95 % \
         interval of a simulation; tasks solved; agents called per task.\nlearned was trained on {} tasks \
         for this comparison; {saved}. optimum: the exact best, which no policy exceeds. fixed pipeline: \
         always in this order, again and again. round robin: all agents in turn. model selector: a model \
         that was asked each time, recorded.\n",
        origin.tasks,
        reward.success,
        reward.timeout,
        reward.action,
        reward.redundant,
        origin.episodes
    )
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
            "number": number, "date": own.date, "tasks": own.tasks, "seed": own.seed,
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
