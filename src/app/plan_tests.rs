//! The decisions of a launch plan.

use std::collections::BTreeMap;

use super::*;
use crate::app::machine::Machine;
use crate::app::recordings::Recordings;
use crate::app::shipped;
use crate::config::{Assets, Dirs, Example, LimitOverrides, Overrides};
use crate::model::event::SessionParts;
use crate::toolchain::ToolchainKind::{Arduino, Idf, Platformio};

/// An empty folder, no model.
fn nothing() -> LaunchFacts {
    LaunchFacts {
        ground: Ground::Empty,
        is_untouched: true,
        fitting: &[Idf],
        is_platformio: false,
        default_profile: None,
        recordings: Recordings::load(&Assets::built_in()).unwrap(),
        script: None,
        example: None,
        documents: Vec::new(),
    }
}

fn with_model() -> LaunchFacts {
    LaunchFacts { default_profile: Some("mine".to_owned()), ..nothing() }
}

fn existing() -> LaunchFacts {
    LaunchFacts { ground: Ground::Existing, is_untouched: false, ..with_model() }
}

fn request(work: Work) -> LaunchRequest {
    LaunchRequest { work, ..LaunchRequest::default() }
}

fn new(task: &str) -> LaunchRequest {
    request(Work::New { task: Some(task.to_owned()), example: None })
}

fn resolve(request: LaunchRequest, facts: LaunchFacts) -> Result<LaunchPlan, UserError> {
    let assets = Assets::built_in();
    let load = |name: &str| shipped::load_team(&assets, name);
    LaunchPlan::resolve(request, facts, &Settings::default(), &load)
}

fn plan(request: LaunchRequest, facts: LaunchFacts) -> LaunchPlan {
    resolve(request, facts).unwrap()
}

fn profile(name: &str, model: Option<&str>) -> ModelSource {
    ModelSource::Profile { name: name.to_owned(), model: model.map(str::to_owned) }
}

#[test]
fn the_work_decides_what_the_person_leaves_open() {
    let demo = plan(request(Work::Demo), with_model());
    assert_eq!(demo.model, ModelSource::Script("i2c-scan".to_owned()), "a demo needs no model");
    assert_eq!(demo.limits.engine.supervision, Supervision::Show);
    assert_eq!((demo.project, demo.toolchain), (ProjectPlan::InSession, ToolchainPlan::Virtual));
    let named = LaunchRequest { team: Some("draft".to_owned()), ..request(Work::Demo) };
    let named = plan(named, with_model());
    assert_eq!(named.team.name, "draft");
    assert_eq!(named.limits.engine.supervision, Supervision::Ask);
    let own = plan(new("blink twice"), with_model());
    assert_eq!((own.team.name.as_str(), own.model), ("generate", profile("mine", None)));
    assert_eq!(own.limits.engine.supervision, Supervision::Ask);
    let edit = plan(request(Work::Edit("rename it".to_owned())), existing());
    assert_eq!(edit.team.name, "edit-existing");
    let alone = plan(request(Work::Unattended("blink".to_owned())), with_model());
    assert_eq!(alone.limits.engine.supervision, Supervision::Show);
    let asked = LaunchRequest { supervision: Some(Supervision::Ask), ..request(Work::Demo) };
    assert_eq!(plan(asked, nothing()).limits.engine.supervision, Supervision::Ask);
}

#[test]
fn a_demo_of_a_named_script_has_its_task_and_team() {
    let all = nothing().recordings;
    let recording = all.of_team(Some("contract")).unwrap().clone();
    let task = "Write something else".to_owned();
    let script = Recording { name: "/s.toml".to_owned(), task: task.clone(), ..recording };
    let asked = ModelRequest { script: Some(PathBuf::from("/s.toml")), ..ModelRequest::default() };
    for team in [None, Some("contract".to_owned())] {
        let request = LaunchRequest { team, model: asked.clone(), ..request(Work::Demo) };
        let facts = LaunchFacts { script: Some(script.clone()), ..nothing() };
        let found = plan(request, facts);
        assert_eq!((found.task.as_str(), found.team.name.as_str()), (task.as_str(), "contract"));
        assert_eq!(found.model, ModelSource::Script("/s.toml".to_owned()));
    }
    let silent = Recording { task: String::new(), ..script };
    let facts = LaunchFacts { script: Some(silent), ..nothing() };
    let found = plan(LaunchRequest { model: asked, ..request(Work::Demo) }, facts);
    assert_eq!(found.task, all.of_team(None).unwrap().task, "a script without a task");
}

#[test]
fn a_recorded_task_brings_its_team_and_project_and_needs_no_model() {
    let facts = nothing();
    let recording = facts.recordings.of_team(Some("edit-existing")).unwrap().clone();
    let same = plan(new(&recording.task.to_uppercase()), facts.clone());
    assert_eq!(same.model, ModelSource::Script(recording.name.clone()));
    assert_eq!((same.team.name.as_str(), same.starter), ("edit-existing", recording.starter));
    // Another team does not begin with that project.
    let other = LaunchRequest { team: Some("generate".to_owned()), ..new(&recording.task) };
    assert_eq!(plan(other, facts.clone()).starter, None);
    let error = resolve(new("something that nobody recorded"), facts).unwrap_err();
    // The list of all of them would cover the screen.
    for words in ["“Generate an I2C driver for the ESP32”", "`firmhand examples` lists more"] {
        assert!(error.fix.contains(words), "{error:?}");
    }
    assert!(error.fix.len() < 400, "{error:?}");
}

#[test]
fn a_script_goes_before_a_profile_and_a_profile_before_a_recording() {
    let model = |script: Option<&str>, profile: Option<&str>, model: Option<&str>| ModelRequest {
        script: script.map(PathBuf::from),
        profile: profile.map(str::to_owned),
        model: model.map(str::to_owned),
    };
    for (asked, expected) in [
        (model(Some("/a.toml"), None, None), ModelSource::Script("/a.toml".to_owned())),
        (model(None, None, None), profile("mine", None)),
        (model(None, Some("other"), None), profile("other", None)),
        (model(None, Some("other"), Some("big")), profile("other", Some("big"))),
        (model(None, None, Some("a/b")), profile("mine", Some("a/b"))),
    ] {
        let request = LaunchRequest { model: asked.clone(), ..new("blink") };
        let found = plan(request, with_model()).model;
        assert_eq!(found, expected, "{asked:?}");
        assert_eq!(ModelSource::parse(&found.to_string()), Some(expected), "as a journal has it");
    }
    // Said, but there is none: the error belongs to whoever looks for it.
    let request = LaunchRequest { model: model(None, None, Some("big")), ..new("blink") };
    assert_eq!(plan(request, nothing()).model, profile("", Some("big")));
}

#[test]
fn the_toolchain_fits_the_folder_unless_one_is_named() {
    let pio = || LaunchFacts { fitting: &[Platformio], is_platformio: true, ..existing() };
    let in_folder = |toolchain| LaunchRequest {
        project: Some("/p".into()),
        toolchain,
        ..request(Work::Edit("x".to_owned()))
    };
    let of = |toolchain, facts| plan(in_folder(toolchain), facts).toolchain;
    assert_eq!(of(None, existing()), ToolchainPlan::Virtual);
    assert_eq!(of(None, pio()), ToolchainPlan::Installed(&[Platformio]));
    let both = LaunchFacts { fitting: &[Idf, Platformio], ..pio() };
    assert_eq!(of(None, both.clone()), ToolchainPlan::Virtual);
    let auto = Some(ToolchainChoice::Auto);
    assert_eq!(of(auto, existing()), ToolchainPlan::InstalledOrVirtual(&[Idf]));
    assert_eq!(of(auto, both), ToolchainPlan::Installed(&[Idf, Platformio]));
    let arduino =
        LaunchRequest { team: Some("arduino".to_owned()), toolchain: auto, ..request(Work::Demo) };
    let arduino = plan(arduino, nothing());
    assert_eq!(arduino.toolchain, ToolchainPlan::InstalledOrVirtual(&[Arduino]));
    let named = Some(ToolchainChoice::Installed(Platformio));
    let error = resolve(in_folder(named), existing()).unwrap_err();
    assert!(error.why.contains("no platformio.ini in /p"), "{error:?}");
}

#[test]
fn a_folder_without_files_begins_with_the_person() {
    let at =
        |facts| plan(LaunchRequest { project: Some("/p".into()), ..new("blink") }, facts).project;
    assert_eq!(at(with_model()), ProjectPlan::Begins("/p".into()));
    let hidden = LaunchFacts { is_untouched: false, ..with_model() };
    assert_eq!(
        at(hidden),
        ProjectPlan::Existing("/p".into()),
        "it holds files that lists leave out"
    );
}

#[test]
fn a_team_that_does_not_fit_is_refused() {
    let error = resolve(request(Work::Edit("x".to_owned())), with_model()).unwrap_err();
    assert!(error.fix.contains("--project"), "{error:?}");
    let error =
        resolve(LaunchRequest { team: Some("edit-generated".to_owned()), ..new("x") }, existing());
    assert!(error.unwrap_err().fix.contains("edit-existing"));
    let error =
        resolve(LaunchRequest { team: Some("nobody".to_owned()), ..new("x") }, with_model());
    assert!(error.unwrap_err().what.contains("nobody"));
}

#[test]
fn an_example_gives_what_the_person_does_not_say() {
    let all = Example::all(&Assets::built_in()).unwrap();
    let example = all.into_iter().find(|example| example.project.is_some()).unwrap();
    let facts = LaunchFacts { example: Some(example.clone()), ..with_model() };
    let ask = |task: Option<&str>, project: Option<&str>| {
        let work = Work::New { task: task.map(str::to_owned), example: Some(example.name.clone()) };
        let project = project.map(PathBuf::from);
        resolve(LaunchRequest { project, ..request(work) }, facts.clone())
    };
    let whole = ask(None, None).unwrap();
    assert_eq!((&whole.task, &whole.team.name), (&example.task, &example.team));
    assert_eq!(whole.starter, example.project);
    let own = ask(Some("do it in another way"), None).unwrap();
    assert_eq!((own.task.as_str(), &own.team.name), ("do it in another way", &example.team));
    let wrapped = example.task.replace(' ', "\n");
    assert_eq!(ask(Some(&wrapped), None).unwrap().task, example.task);
}

fn session(provider: &str, toolchain: &str) -> SessionStart {
    SessionStart {
        id: crate::model::SessionId::new("2026-01-01-x"),
        task: "blink".to_owned(),
        team: "generate".to_owned(),
        project: "/p".to_owned(),
        model: String::new(),
        toolchain: String::new(),
        program: String::new(),
        parts: SessionParts {
            provider: provider.to_owned(),
            toolchain: toolchain.to_owned(),
            ..SessionParts::default()
        },
    }
}

#[test]
fn a_session_goes_on_with_what_it_had() {
    let assets = Assets::built_in();
    let load = |name: &str| shipped::load_team(&assets, name);
    let again = |start: &SessionStart, chosen: Option<&str>| {
        LaunchPlan::of_session(start, chosen, existing(), &Settings::default(), &load).unwrap()
    };
    let plan = again(&session("script:pair", "idf"), None);
    assert_eq!(plan.model, ModelSource::Script("pair".to_owned()));
    assert_eq!(plan.toolchain, ToolchainPlan::Installed(&[Idf]));
    assert_eq!(plan.project, ProjectPlan::Existing("/p".into()));
    let plan = again(&session("script:pair", ""), Some("profile:other/big"));
    assert_eq!(plan.model, profile("other", Some("big")));
    assert_eq!(plan.toolchain, ToolchainPlan::Virtual);
}

/// What was set for a session holds when it is opened again, unless something else is set then.
#[test]
fn what_was_set_for_a_session_stays_set() {
    let mut settings = Settings::default();
    assert!(session_choices::of_start(&settings, BTreeMap::new(), Supervision::Ask).is_usual());
    // What a file says is read again.
    settings.limits.build_seconds.value = 77;
    assert!(session_choices::of_start(&settings, BTreeMap::new(), Supervision::Ask).is_usual());
    settings.models.temperature = Some(0.35);
    settings.take_limits(LimitOverrides { max_attempts: Some(3), ..LimitOverrides::default() });
    let limits: BTreeMap<String, u32> = [("max_fixes".to_owned(), 2)].into();
    let choices = session_choices::of_start(&settings, limits.clone(), Supervision::Show);
    let expected = SessionChoices {
        temperature: Some(350),
        team_limits: limits,
        max_attempts: Some(3),
        plans_go_on: true,
        ..SessionChoices::default()
    };
    assert_eq!(choices, expected);
    let text = serde_json::to_string(&choices).unwrap();
    assert_eq!(serde_json::from_str::<SessionChoices>(&text).unwrap(), choices);
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str| folder.path().join(name);
    let dirs = Dirs { config: of("config"), data: of("data") };
    let machine = Machine::load(&dirs, None, &Overrides::default()).unwrap();
    let again = session_choices::machine_for(&machine, &choices);
    assert_eq!(again.settings.models.temperature, Some(0.35));
    assert_eq!(again.settings.limits.max_attempts.value, Some(3));
    let mut now = machine;
    now.settings.models.temperature = Some(1.0);
    let again = session_choices::machine_for(&now, &choices);
    assert_eq!(again.settings.models.temperature, Some(1.0));
}

/// In a run without a screen nobody is asked; a session that is opened again on a screen asks.
#[test]
fn a_session_that_nobody_watched_asks_whoever_opens_it() {
    let of = |work: Work, supervision: Option<Supervision>| {
        let request = LaunchRequest { supervision, ..request(work) };
        resolve(request, with_model()).unwrap().choices.plans_go_on
    };
    let task = || "blink".to_owned();
    assert!(!of(Work::Unattended(task()), None));
    assert!(of(Work::Unattended(task()), Some(Supervision::Show)));
    assert!(!of(Work::New { task: Some(task()), example: None }, None));
    assert!(of(Work::Demo, None));
}

#[test]
fn a_limit_of_turns_on_the_command_line_goes_before_the_setting() {
    let limits = |flag: Option<u32>, setting: Option<u32>| {
        let mut settings = Settings::default();
        settings.models.session.value.turns = flag;
        settings.limits.max_turns.value = setting;
        let limits = LaunchLimits::of(&settings, Supervision::default(), AttemptsUsedUp::default());
        limits.engine.budgets.session.turns
    };
    assert_eq!(limits(Some(2), None), Some(2));
    assert_eq!(limits(Some(2), Some(7)), Some(2));
    assert_eq!(limits(None, Some(7)), Some(7));
}

#[test]
fn logs_are_kept_in_pieces_of_at_most_half() {
    let mut settings = Settings::default();
    settings.logs.keep_mib.value = 4;
    settings.logs.segment_mib.value = 16;
    assert_eq!(log_limits(&settings), LogLimits { keep: 4 << 20, segment: 2 << 20 });
}

#[test]
fn a_limit_of_the_team_can_be_another_than_in_its_file() {
    let assets = Assets::built_in();
    let load = |name: &str, number| {
        let limits = [(name.to_owned(), number)].into_iter().collect();
        shipped::load_limited_team(&assets, "contract", &limits)
    };
    let usual = shipped::load_team(&assets, "contract").unwrap();
    let name = "max_orchestrator_iterations";
    let changed = load(name, 1).unwrap();
    assert_eq!((usual.limits.get(name), changed.limits.get(name)), (Some(&5), Some(&1)));
    assert_ne!(usual.phases, changed.phases, "its phases go by it");
    assert_eq!(*load(name, 5).unwrap(), *usual);
    let error = load("token", 5).unwrap_err();
    assert!(error.fix.contains(name) && error.fix.contains("tokens, cost"), "{error:?}");
}

#[test]
fn without_a_model_the_recorded_task_that_continues_the_project_is_named_first() {
    let recordings = Recordings::load(&Assets::built_in()).unwrap();
    let fix = no_model_for(recordings.all().collect(), Some("edit-generated")).fix;
    assert!(fix.contains("such as “Blink the LED on GPIO 2"), "{fix}");
    let usual = no_model(&recordings).fix;
    assert!(!usual.contains("Blink"), "{usual}");
}

/// What is set when a session is opened again is added to what was set before, for the team that goes
/// on; limits of another team say nothing to it.
#[test]
fn limits_can_be_changed_when_a_session_goes_on() {
    let limits = |pairs: &[(&str, u32)]| -> BTreeMap<String, u32> {
        pairs.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect()
    };
    let mut settings = Settings::default();
    let before = SessionChoices {
        team_limits: limits(&[("max_debug", 2), ("max_reviews", 1)]),
        max_attempts: Some(3),
        ..SessionChoices::default()
    };
    settings.take_limits(LimitOverrides { max_attempts: Some(3), ..LimitOverrides::default() });
    let of = |settings: &Settings, team: &str, limits: &BTreeMap<String, u32>| {
        session_choices::of_resume(settings, &before, (team, limits), "mesh")
    };
    assert_eq!(of(&settings, "mesh", &BTreeMap::new()), before, "nothing was said");
    assert_eq!(of(&settings, "contract", &BTreeMap::new()), before);
    let more = of(&settings, "mesh", &limits(&[("max_debug", 9)]));
    assert_eq!(more.limits_of("mesh", "mesh"), limits(&[("max_debug", 9), ("max_reviews", 1)]));
    assert_eq!(more.limits_of("contract", "mesh"), BTreeMap::new());
    let other = of(&settings, "contract", &limits(&[("max_fixes", 9)]));
    assert_eq!(other.limits_of("contract", "mesh"), limits(&[("max_fixes", 9)]));
    assert_eq!(other.limits_of("mesh", "mesh"), BTreeMap::new());
    settings.take_limits(LimitOverrides { max_attempts: Some(7), ..LimitOverrides::default() });
    assert_eq!(of(&settings, "mesh", &BTreeMap::new()).max_attempts, Some(7));
}
