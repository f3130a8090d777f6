//! `firmhand policy learn`: sessions teach a table, others judge it, and it is taken or not.
//!
//! Owns where sessions come from, and the words; what is learned and decided is in `crate::policy`.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::policy_args::PolicyLearnArgs;
use super::report;
use crate::config::Dirs;
use crate::files;
use crate::journal::{SessionDir, SessionState, summary};
use crate::model::{RecordSource, UserError};
use crate::policy::{
    Estimate, FEWEST, JournalReader, Judgement, Process, Revision, Session, Store, Trained,
    WriteLock, parse_experience, revise,
};
use crate::view::plural;

/// Sessions with the name by which a table remembers that it learned from them.
struct Source {
    name: String,
    sessions: Vec<Session>,
}

/// Sessions as they are used.
#[derive(Default)]
struct Halves {
    lessons: Vec<Session>,
    judges: Vec<Session>,
    /// Names of what was learned from.
    names: Vec<String>,
    /// Whether those that judge are learned from by a later call.
    teach_later: bool,
}

/// The present table, and where it is.
pub(super) struct Present<'a> {
    pub(super) store: &'a Store,
    pub(super) lock: &'a WriteLock,
    pub(super) table: Trained,
    /// Whether it is on disk.
    pub(super) is_saved: bool,
}

/// Learns, and saves the new table where it is taken.
///
/// # Errors
/// When there are no sessions, or a file cannot be read or written.
pub(super) fn learn(
    dirs: &Dirs,
    present: Present<'_>,
    settings: &Process,
    args: &PolicyLearnArgs,
) -> Result<(), UserError> {
    let Present { store, lock, mut table, is_saved } = present;
    take_rewards(&mut table, settings);
    let halves = match &args.from {
        Some(path) => of_file(path, &table)?,
        None => halved(recorded_sessions(dirs, args.project.as_deref(), &table)?),
    };
    let mut revision = revise(&table, &halves.lessons, &halves.judges, args.weight);
    let is_taken = revision.judgement == Judgement::NoWorse || args.take;
    let mut before = None;
    if is_taken {
        revision.new.origin.date = now();
        revision.new.origin.learned_from.extend(halves.names.iter().cloned());
        if !is_saved {
            // There is a table to go back to.
            store.save(lock, &table)?;
        }
        store.save(lock, &revision.new)?;
        before = store.number_of(&table)?;
    }
    if args.options.json {
        return report::json(&in_json(&revision, &halves, is_taken));
    }
    report::line(&report::wrapped(&words(&revision, &halves)));
    let end = match before.filter(|_| is_taken) {
        Some(number) => format!(
            "The new table is in use{}; `firmhand policy reset --team {} --to {number}` restores the \
             one before.",
            if revision.judgement == Judgement::NoWorse { "" } else { ", as `--take` says" },
            table.origin.team
        ),
        None => "The present table stays in use; `--take` uses the new one anyway.".to_owned(),
    };
    report::line(&report::wrapped(&end));
    Ok(())
}

/// The present time, to the second.
pub(super) fn now() -> String {
    let now = jiff::Timestamp::now();
    now.round(jiff::Unit::Second).unwrap_or(now).to_string()
}

/// What sessions earn by the settings; other rewards of a table are those it was trained with.
fn take_rewards(table: &mut Trained, settings: &Process) {
    let (own, set) = (&mut table.origin.process.reward, settings.reward);
    (own.rejection, own.thousand_tokens) = (set.rejection, set.thousand_tokens);
    let trained = [own.success, own.timeout, own.plan, own.code, own.redundant, own.action];
    let wanted = [set.success, set.timeout, set.plan, set.code, set.redundant, set.action];
    let is_learned_so = table.origin.process.learning == settings.learning;
    if trained != wanted || !is_learned_so {
        report::aside(
            "The saved table was trained with other rewards than those of the parameters now. Sessions \
             count with those it was trained with, except for `rejection` and `thousand_tokens`; \
             `firmhand policy train` uses the new ones.",
        );
    }
}

/// Every second source teaches, the others judge.
fn halved(sources: Vec<Source>) -> Halves {
    let mut halves = Halves { teach_later: true, ..Halves::default() };
    for (number, source) in sources.into_iter().enumerate() {
        if number % 2 == 0 {
            halves.lessons.extend(source.sessions);
            halves.names.push(source.name);
        } else {
            halves.judges.extend(source.sessions);
        }
    }
    halves
}

/// The sessions of a file, which a table learns from once.
fn of_file(path: &Path, table: &Trained) -> Result<Halves, UserError> {
    let text = read_text(path)?;
    let hash: String =
        Sha256::digest(&text).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let name = format!("file-{hash}");
    if table.origin.learned_from.contains(&name) {
        return Err(UserError::new(
            format!("Cannot learn from {} again", path.display()),
            "the present table has learned from a file with exactly these sessions",
            "Use a file with other sessions, or restore an older table with `firmhand policy reset`.",
        ));
    }
    let sessions = parse_experience(&path.display().to_string(), &text, table)?;
    let one = |session| Source { name: String::new(), sessions: vec![session] };
    let halves = halved(sessions.into_iter().map(one).collect());
    Ok(Halves { names: vec![name], teach_later: false, ..halves })
}

/// The attempts that the policy of this team chose in, of sessions that it has not learned from yet.
fn recorded_sessions(
    dirs: &Dirs,
    project: Option<&Path>,
    policy: &Trained,
) -> Result<Vec<Source>, UserError> {
    let project = project.map(|path| path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    let mut found = Vec::new();
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
            found.push(Source { name, sessions });
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
    Ok(found)
}

fn in_json(revision: &Revision, halves: &Halves, is_taken: bool) -> Value {
    let why = match revision.judgement {
        Judgement::NoWorse => "no_worse",
        Judgement::TooFew => "too_few",
        Judgement::NotShown => "not_shown",
        Judgement::WorseUnseen => "worse_unseen",
    };
    json!({
        "taken": is_taken,
        "judgement": why,
        "sessions": halves.lessons.len() + halves.judges.len(),
        "learned_from": halves.lessons.len(),
        "present": revision.before.map(estimate_json),
        "new": revision.after.map(estimate_json),
        "difference": estimate_json(revision.difference),
    })
}

fn estimate_json(known: Estimate) -> Value {
    json!({
        "value": known.value, "interval": [known.low, known.high], "sessions": known.effective,
    })
}

fn words(revision: &Revision, halves: &Halves) -> String {
    let (lessons, judges) = (halves.lessons.len(), halves.judges.len());
    let later = match halves.teach_later {
        _ if judges == 0 => "",
        true => " Those teach next time.",
        false => " Those are not learned from.",
    };
    let mut text = format!(
        "{}: {lessons} to learn from, {judges} to judge by.{later}\n",
        plural(lessons + judges, "session")
    );
    for (name, estimate) in [("Present table", revision.before), ("New table", revision.after)] {
        text += &format!("{name}: {}\n", estimate_text(estimate, judges));
    }
    let difference = revision.difference;
    if revision.judgement != Judgement::TooFew {
        text += &format!(
            "Difference: {:+.2} points ({:+.2} to {:+.2}).\n",
            difference.value, difference.low, difference.high
        );
    }
    text += match revision.judgement {
        Judgement::NoWorse if difference.low == 0.0 && difference.high == 0.0 => {
            "In these sessions it chooses as the present one does; what it knows is newer."
        }
        Judgement::NoWorse => "The sessions that judge show that the new table is no worse.",
        Judgement::TooFew => "So nothing shows that the new table is no worse.",
        Judgement::NotShown => {
            "It may be worse: the difference can be below 0. More sessions tell more exactly."
        }
        Judgement::WorseUnseen => {
            "Where these sessions say nothing, the new table is worse in the simulation."
        }
    };
    text
}

fn estimate_text(estimate: Option<Estimate>, judges: usize) -> String {
    match estimate {
        Some(known) => format!(
            "{:.2} points a task (95 % interval {:.2} to {:.2}); {:.0} of {judges} sessions chose as it does.",
            known.value, known.low, known.high, known.effective
        ),
        None => format!(
            "not estimated. {FEWEST:.0} sessions that choose as it does are needed to judge by, so \
             {:.0} or more in total; there are {judges} to judge by.",
            2.0 * FEWEST
        ),
    }
}

/// The text of a file that a person named.
///
/// # Errors
/// When it cannot be read, or is not UTF-8.
pub(super) fn read_text(path: &Path) -> Result<String, UserError> {
    let name = path.display();
    let bytes = files::read(path, files::SOURCE)
        .map_err(|error| UserError::from_cause(format!("Cannot read {name}"), &error))?;
    String::from_utf8(bytes).map_err(|_| {
        UserError::new(format!("Cannot read {name}"), "it is not UTF-8 text", "Save it as UTF-8.")
    })
}
