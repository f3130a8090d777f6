//! The team whose speakers a learned table chooses: what is recorded of each choice, the same choices
//! after a run was left anywhere, and a person who names somebody else.

use firmhand::app::learned::process_of;
use firmhand::config::Assets;
use firmhand::model::{
    ChosenHow, Event, Intent, PersonEvent, PolicyChoice, Proposal, ProposalEvent, SessionOutcome,
    TestEvent, TurnEvent, Verdict,
};
use firmhand::policy::{Provenance, Store, Trained, Trainer};
use firmhand::view::SessionView;

use super::stage::{Nobody, Person, Stage, approve, reject};
use super::whole::stage;

/// Sends the first version of a file back and wants the planner to speak next.
#[derive(Default)]
struct Critic {
    proposals: usize,
}

impl Person for Critic {
    fn decide(&mut self, proposal: &Proposal, before: usize) -> Verdict {
        let is_program = proposal.change.path().is_some_and(|path| path.as_str() == "roman.py");
        if is_program && before == 0 {
            reject("say with an example what comes out")
        } else {
            approve()
        }
    }

    fn wishes(&mut self, event: &Event) -> Vec<Intent> {
        let Event::Proposal(ProposalEvent::Made(_)) = event else { return Vec::new() };
        self.proposals += 1;
        let first = (self.proposals == 1).then(|| Intent::NameSpeaker { agent: "Planner".into() });
        first.into_iter().collect()
    }
}

fn played() -> Stage {
    let stage = stage().playing("learned").allowing_all();
    let end = stage.play(Nobody);
    assert_eq!(end, SessionOutcome::Completed, "{:#?}", stage.events().last());
    stage
}

fn choices(stage: &Stage) -> Vec<(String, PolicyChoice)> {
    let chosen = stage.events().into_iter().filter_map(|event| match event {
        Event::Turn(TurnEvent::SpeakerChosen { agent, choice: Some(choice), .. }) => {
            Some((agent.to_string(), *choice))
        }
        _ => None,
    });
    chosen.collect()
}

#[test]
fn the_table_chooses_by_what_there_is_and_each_choice_is_recorded_with_its_values() {
    let stage = played();
    let choices = choices(&stage);
    let order: Vec<(&str, &str)> =
        choices.iter().map(|(agent, choice)| (agent.as_str(), choice.state.as_str())).collect();
    let expected = [
        ("coder", "start,0"),
        ("tester", "code,0"),
        ("debugger", "code,error,1"),
        ("tester", "code,1"),
    ];
    assert_eq!(order, expected);
    let events = stage.events();
    let taken = events.iter().find_map(|event| match event {
        Event::Turn(TurnEvent::PolicyTaken(table)) => Some(table),
        _ => None,
    });
    let table = taken.expect("the table is recorded");
    for (agent, choice) in &choices {
        assert_eq!(choice.table, table.hash);
        assert_eq!((choice.how, choice.chance), (ChosenHow::Best, Some(1.0)), "{agent}");
        assert_eq!(choice.values.len(), 4);
        assert_eq!(choice.values[0].agent.as_str(), agent);
    }
    let why = choices[0].1.line(&choices[0].0.as_str().into());
    assert!(why.starts_with("coder has the highest value") && why.contains("tester (no code yet)"));
    let tests: Vec<bool> = events
        .iter()
        .filter_map(|event| match event {
            Event::Test(TestEvent::Ended { report, .. }) => Some(report.has_passed()),
            _ => None,
        })
        .collect();
    assert_eq!(tests, [false, true], "both runs are real");
    assert!(stage.file("roman.py").contains("\"CM\""));
    let mut view = SessionView::default();
    stage.records().iter().for_each(|record| view.apply(record));
    let policy = view.team.policy.expect("the screen knows the table");
    assert_eq!(policy.choice.map(|(agent, _)| agent.to_string()), Some("tester".to_owned()));
}

#[test]
fn a_run_left_at_any_record_chooses_the_same_when_it_goes_on() {
    let whole = played();
    let expected = choices(&whole);
    let all = whole.records().len();
    for records in (1..all).step_by(3) {
        let stage = stage().playing("learned").allowing_all();
        stage.leave_after(records);
        let end = stage.go_on(Nobody);
        assert_eq!(end, SessionOutcome::Completed, "left after {records}");
        let order = |all: &[(String, PolicyChoice)]| {
            all.iter().map(|(agent, choice)| (agent.clone(), choice.clone())).collect::<Vec<_>>()
        };
        assert_eq!(order(&choices(&stage)), order(&expected), "left after {records}");
        let tables = stage.events();
        let tables = tables.iter().filter(|e| matches!(e, Event::Turn(TurnEvent::PolicyTaken(_))));
        assert_eq!(tables.count(), 1, "left after {records}");
    }
}

#[test]
fn a_person_who_names_the_next_speaker_is_obeyed_once_and_recorded() {
    let stage = stage().playing("learned");
    let end = stage.play(Critic::default());
    assert_eq!(end, SessionOutcome::Completed, "{:#?}", stage.events().last());
    let choices = choices(&stage);
    let named = choices.iter().position(|(_, choice)| choice.how == ChosenHow::Person);
    let named = named.expect("the person's choice is recorded");
    assert_eq!((choices[named].0.as_str(), choices[named].1.chance), ("planner", None));
    assert_eq!(choices.iter().filter(|(_, choice)| choice.how == ChosenHow::Person).count(), 1);
    let said = |event: &Event| matches!(event, Event::Person(PersonEvent::SpeakerNamed { .. }));
    assert!(stage.events().iter().any(said));
    let after: Vec<(&str, &str)> = choices[named + 1..]
        .iter()
        .map(|(agent, choice)| (agent.as_str(), choice.state.as_str()))
        .collect();
    let expected = [("debugger", "plan,code,error,2"), ("tester", "plan,code,2")];
    assert_eq!(after, expected, "what was sent back is fixed and tested again");
    assert!(stage.file("roman.py").contains("MCMXCIV for 1994"));
}

/// Names agents in turn, each when somebody else begins to speak.
struct Director<'a> {
    names: std::slice::Iter<'a, &'static str>,
}

impl Person for Director<'_> {
    fn decide(&mut self, _: &Proposal, _: usize) -> Verdict {
        approve()
    }

    fn wishes(&mut self, event: &Event) -> Vec<Intent> {
        let Event::Turn(TurnEvent::Started { .. }) = event else { return Vec::new() };
        self.names
            .next()
            .map(|name| Intent::NameSpeaker { agent: (*name).into() })
            .into_iter()
            .collect()
    }
}

#[test]
fn the_recording_continues_whoever_the_person_names() {
    let mut obeyed = 0;
    for names in [
        &["planner"][..],
        &["planner", "planner"],
        &["tester", "coder"],
        &["coder", "coder"],
        &["debugger", "planner", "debugger"],
        &["tester", "tester", "tester"],
        &["tester", "planner", "coder", "planner"],
        &["tester", "debugger", "debugger", "planner"],
        &["tester", "debugger", "coder"],
    ] {
        let stage = stage().playing("learned").allowing_all();
        let end = stage.play(Director { names: names.iter() });
        let asked = stage.events().into_iter().find_map(|event| match event {
            Event::Person(PersonEvent::Asked { text, .. }) => Some(text),
            _ => None,
        });
        assert_eq!((end, asked), (SessionOutcome::Completed, None), "{names:?}");
        assert!(stage.file("roman.py").contains("\"CM\""), "{names:?}");
        let chosen = choices(&stage);
        let named: Vec<&str> = chosen
            .iter()
            .filter(|(_, choice)| choice.how == ChosenHow::Person)
            .map(|(agent, _)| agent.as_str())
            .collect();
        // A wish that comes after the next speaker is chosen counts for the one after.
        assert!(named.iter().all(|name| names.contains(name)), "{named:?} of {names:?}");
        obeyed += named.len();
    }
    assert!(obeyed > 4, "{obeyed}");
}

#[test]
fn every_step_of_the_recording_is_followed_by_one_of_whoever_speaks_that_is_another() {
    let text = include_str!("../../../assets/demo/learned/script.toml");
    let script: toml::Value = toml::from_str(text).unwrap();
    let steps = script["steps"].as_array().unwrap();
    let words = |value: &toml::Value, key: &str| value[key].as_str().unwrap().to_owned();
    let agent_of = |id: &str| {
        let step = steps.iter().find(|step| step["id"].as_str() == Some(id)).unwrap();
        words(step, "agent")
    };
    let mut ends = 0;
    for step in steps {
        let next = step["next"].as_array().unwrap();
        let named = |entry: &toml::Value| {
            entry
                .get("when")
                .and_then(|when| when.get("agent"))
                .map(|name| name.as_str().unwrap().to_owned())
        };
        if !next.iter().any(|entry| named(entry).is_some()) {
            continue;
        }
        ends += 1;
        let mut agents = Vec::new();
        for entry in next {
            let goto = words(entry, "goto");
            assert_ne!(goto, words(step, "id"), "it would repeat itself");
            let agent = named(entry).unwrap_or_else(|| "tester".to_owned());
            assert_eq!(agent_of(&goto), agent, "{goto}");
            agents.push(agent);
        }
        agents.sort();
        assert_eq!(agents, ["coder", "debugger", "planner", "tester"], "{step:?}");
    }
    assert!(ends > 40, "{ends}");
}

#[test]
fn the_recording_begins_with_whoever_a_table_chooses_first() {
    let assets = Assets::built_in();
    let process = process_of(&assets, "learned").unwrap();
    let mut policy = Trained::new(Provenance {
        team: "learned".to_owned(),
        tasks: "complex".to_owned(),
        knows_classes: false,
        seed: "1".to_owned(),
        episodes: 5000,
        sessions: 0,
        learned_from: Vec::new(),
        date: String::new(),
        process,
    })
    .unwrap();
    Trainer::new(&policy.model, 1, 0).train(&mut policy.table, 5000);
    let stage = stage().playing("learned").allowing_all();
    let store = Store::new(&stage.policies(), "learned").unwrap();
    store.save(&store.lock().unwrap(), &policy).unwrap();
    assert_eq!(stage.play(Nobody), SessionOutcome::Completed, "{:#?}", stage.events().last());
    assert_eq!(choices(&stage)[0].0, "planner");
}
