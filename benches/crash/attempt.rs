//! One try: a session with its faults, and what is looked at after each of them.

use std::path::Path;
use std::time::Duration;

use firmhand::model::{Record, SessionOutcome};

use super::check::{self, Moment, Project, Told};
use super::disk::Disk;
use super::fault::{Fault, Means, Plan, Tools, What};
use super::other::{Other, Save};
use super::process::{Run, Session, replay};
use super::report::Counts;
use super::world::{ALLOW, ASK, World};
use super::{Chance, PATIENCE, live};

/// Longest that a person stays at a session whose fault does not come about.
const SITTING: Duration = Duration::from_secs(5);

/// Who decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decides {
    Rules,
    Person,
}

/// One session and what is done to it.
pub struct Try<'a> {
    world: &'a World,
    tools: &'a Tools,
    /// How long a session without a fault takes.
    length: Duration,
    counts: &'a mut Counts,
    disk: Disk,
    has_other: bool,
    saves: Vec<Save>,
    /// Whether what a power cut would leave is known: a call that failed brought something less to
    /// the disk than what was asked, and the program has told so.
    is_disk_sound: bool,
    /// Whether the last run was killed between a change and the sync of its folder.
    is_unsynced: bool,
    faults: Vec<String>,
}

impl<'a> Try<'a> {
    /// A try in a world that nothing has happened to.
    pub fn new(
        world: &'a World,
        tools: &'a Tools,
        length: Duration,
        counts: &'a mut Counts,
    ) -> Self {
        let root = world.root();
        let disk = Disk::look(&world.state(), &root.join("kept"), &root.join("notes"));
        let (saves, faults) = (Vec::new(), Vec::new());
        Self {
            world,
            tools,
            length,
            counts,
            disk,
            has_other: false,
            saves,
            is_disk_sound: true,
            is_unsynced: false,
            faults,
        }
    }

    /// One session with its faults; what was found to be wrong.
    pub fn run(mut self, chance: &mut Chance) -> Vec<String> {
        let decides = if chance.below(3) == 0 { Decides::Person } else { Decides::Rules };
        self.has_other = chance.below(4) == 0;
        self.counts.persons += u64::from(decides == Decides::Person);
        self.world.rule(if decides == Decides::Person { ASK } else { ALLOW });
        let rules = (decides == Decides::Rules).then_some("config/rules.toml");
        let start = self.world.start(rules);
        for round in 0..4 {
            let (words, decides) = match round {
                0 => (start.clone(), decides),
                _ => (resume_words(), Decides::Person),
            };
            let unsynced = (round == 0).then(|| self.tools.plan_unsynced(chance)).flatten();
            let plan = unsynced.unwrap_or_else(|| self.plan(chance));
            let (run, printed) = self.broken(&words, &plan, decides, chance);
            self.compare(&printed);
            if plan.loses_power && !matches!(run, Run::Ended(_)) {
                let lost = self.disk.cut(chance);
                self.counts.cut(lost);
            }
            self.is_unsynced = is_at_folder(&plan.fault) && run == Run::Killed && !plan.loses_power;
            let told = self.look(Moment::Between);
            let goes_on = self.is_unsynced || chance.below(2) == 0;
            if told.is_none_or(|told| told.ended.is_some()) || !goes_on {
                break;
            }
        }
        self.finish(chance);
        self.faults
    }

    /// What is done in the next round. What somebody else saves is not on the disk at once, so that
    /// the power stays there.
    fn plan(&self, chance: &mut Chance) -> Plan {
        let mut plan = self.tools.plan(self.length, chance);
        if self.is_unsynced {
            // The next run finds the change done; the power goes soon after it has told so.
            let (means, call, what) = (Means::Library, "fdatasync", What::Kill);
            let fault = Fault::Call { means, call, nth: 1 + chance.below(6), what, lasts: false };
            plan = Plan { fault, loses_power: true };
        }
        Plan { loses_power: plan.loses_power && !self.has_other && self.is_disk_sound, ..plan }
    }

    /// Starts the program, brings a fault about, and waits until it is gone. Returns what became of
    /// it, and what it printed.
    fn broken(
        &mut self,
        words: &[String],
        plan: &Plan,
        decides: Decides,
        chance: &mut Chance,
    ) -> (Run, String) {
        let (root, state) = (self.world.root(), self.world.state());
        let arranged = self.tools.arrange(Some(&plan.fault), root, &state);
        let own = Chance::new(chance.below(1 << 31));
        let other = self.has_other.then(|| Other::start(root, self.world.project(), own));
        let mut session = Session::start(self.world, words, Some(&arranged));
        let patience = match (&plan.fault, decides) {
            (Fault::Kill(after), Decides::Person) => after.mul_f64(12.0).min(SITTING),
            (Fault::Kill(after), Decides::Rules) => *after,
            // A person who decides only some of it would let it wait for ever.
            (Fault::Call { .. }, Decides::Person) => SITTING,
            (Fault::Call { .. }, Decides::Rules) => PATIENCE,
        };
        let run = match decides {
            Decides::Person => session.decide(patience, chance),
            Decides::Rules => session.wait(patience),
        };
        let is_timed = decides == Decides::Person || matches!(plan.fault, Fault::Kill(_));
        if run == Run::Alive && !is_timed {
            self.faults.push(format!("hangs after {:?}", plan.fault));
        }
        let has_hit = arranged.has_hit(&plan.fault, run);
        self.counts.planned(plan, has_hit);
        if run == Run::Alive && !matches!(plan.fault, Fault::Kill(_)) {
            self.counts.ended_from_outside();
        }
        // strace lets the notes of what is on the disk fail as well.
        self.is_disk_sound &= plan.fault.is_kill() || !(has_hit || plan.fault.is_traced());
        session.kill();
        let saves = other.map(Other::end).unwrap_or_default();
        self.counts.saves += saves.len() as u64;
        self.saves.extend(saves);
        self.no_panic(&session);
        (run, session.said())
    }

    /// Compares what was printed with the journal, and with a replay of it.
    fn compare(&mut self, printed: &str) {
        let Some(records) = self.records() else { return };
        live::records(printed, &records, &mut self.faults);
        let told = Told::of(&records, &mut Vec::new());
        if records.is_empty() {
            return;
        }
        self.counts.replays += 1;
        match replay(self.world) {
            Some(replayed) => {
                live::lines(printed, &replayed, &mut self.faults);
                live::folded(&told, &replayed, &mut self.faults);
            }
            None => self.faults.push("a replay fails".to_owned()),
        }
    }

    fn records(&mut self) -> Option<Vec<Record>> {
        let journal = self.world.journal()?;
        Some(check::records(&journal, &mut self.faults))
    }

    /// Looks at journal and project; what the journal tells, if it holds anything.
    fn look(&mut self, moment: Moment) -> Option<Told> {
        let records = self.records().unwrap_or_default();
        let told = Told::of(&records, &mut self.faults);
        if let Some(session) = self.world.journal().as_deref().and_then(Path::parent) {
            check::contents(&told, session, &mut self.faults);
        }
        let root = self.world.project();
        let project = Project { root: &root, own: &self.world.own, saves: &self.saves };
        check::project(&told, &project, moment, &mut self.faults);
        (!records.is_empty()).then_some(told)
    }

    fn no_panic(&mut self, session: &Session<'_>) {
        if session.said().contains("panicked") {
            self.faults.push(format!("panics: {}", session.last_words()));
        }
    }

    /// Lets the session come to its end, by rules and where these ask by a person, checks it, and
    /// replays it.
    fn finish(&mut self, chance: &mut Chance) {
        let Some(journal) = self.world.journal() else { return };
        let records = check::records(&journal, &mut Vec::new());
        let before = Told::of(&records, &mut Vec::new());
        // Of a session whose start did not get to the disk there is nothing to resume.
        let has_begun = !records.is_empty();
        let mut printed = String::new();
        if before.ended.is_none() && has_begun {
            self.world.rule(ALLOW);
            let mut session = Session::start(self.world, &resume_words(), None);
            match session.decide(PATIENCE, chance) {
                Run::Ended(0) => {}
                Run::Alive => self.faults.push(format!("resume hangs: {}", session.last_words())),
                Run::Ended(code) => {
                    self.faults.push(format!("resume ends with {code}: {}", session.last_words()));
                }
                Run::Killed => self.faults.push("resume is killed by nobody".to_owned()),
            }
            session.kill();
            self.no_panic(&session);
            printed = session.said();
        }
        self.compare(&printed);
        let records = check::records(&journal, &mut Vec::new());
        if records.is_empty() {
            self.look(Moment::Between);
            return;
        }
        self.counts.undone += check::undone(&records);
        let Some(told) = self.look(Moment::Over) else { return };
        match told.ended {
            None => self.faults.push("the session has no end after resume".to_owned()),
            Some(SessionOutcome::Completed) => {}
            Some(_) if !told.all_applied() => {}
            Some(ended) => self.faults.push(format!("all was applied, and it ended as {ended:?}")),
        }
    }
}

fn is_at_folder(fault: &Fault) -> bool {
    matches!(fault, Fault::Call { means: Means::Library, call: "sync_folder", .. })
}

fn resume_words() -> Vec<String> {
    ["resume", "--plain", "--speed", "max"].map(str::to_owned).to_vec()
}
