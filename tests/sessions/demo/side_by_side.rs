//! A team whose steps are carried out side by side, on programs that run for real.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use firmhand::config::Assets;
use firmhand::model::{Event, PhaseEvent, SessionOutcome, TestEvent, TurnEvent};

use super::stage::{Nobody, Stage};
use super::teams::has_python;
use super::whole::stage;

/// Three functions that know nothing of each other; the last step brings them together.
const NAMES: [&str; 3] = ["add", "sub", "mul"];

fn plan() -> String {
    let line = |(number, name): (usize, &str)| {
        format!("{number}. `{name}.py` with a test in `test_{name}.py` (after nothing)\\n")
    };
    let steps: String = (1..).zip(NAMES).map(line).collect();
    format!("{steps}4. `calc.py` with all of them, and `test_calc.py`\\n")
}

fn files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for (name, sign) in NAMES.into_iter().zip(["+", "-", "*"]) {
        files.insert(format!("{name}.py"), format!("def {name}(a, b):\n    return a {sign} b\n"));
        let test = format!(
            "import unittest\nfrom {name} import {name}\n\n\nclass T(unittest.TestCase):\n    \
             def test_{name}(self):\n        self.assertEqual({name}(6, 2), 6 {sign} 2)\n"
        );
        files.insert(format!("test_{name}.py"), test);
    }
    let imports = "from add import add\nfrom sub import sub\nfrom mul import mul\n";
    files.insert("calc.py".to_owned(), format!("{imports}\nALL = (add, sub, mul)\n"));
    let test = "import unittest\nfrom calc import ALL\n\n\nclass T(unittest.TestCase):\n    \
                def test_all(self):\n        self.assertEqual([f(6, 2) for f in ALL], [8, 4, 12])\n";
    files.insert("test_calc.py".to_owned(), test.to_owned());
    files
}

/// Each step is written, tested and handed in.
fn script() -> String {
    let mut script = format!(
        "format = 1\ntitle = \"x\"\ntask = \"a calculator\"\nteam = \"wide\"\nstart = \"plan\"\n\
         [[steps]]\nid = \"plan\"\nagent = \"PlannerAgent\"\nsay = \"{}\"\nnext = [",
        plan()
    );
    for step in 1..=4 {
        write!(script, "{{ when = {{ step = {step} }}, goto = \"code{step}\" }}, ").unwrap();
    }
    script.push_str("]\n");
    for (step, name) in (1..).zip(NAMES.into_iter().chain(["calc"])) {
        let both = format!("[\"{name}.py\", \"test_{name}.py\"]");
        write!(
            script,
            "[[steps]]\nid = \"code{step}\"\nagent = \"CoderAgent\"\nexpect = {{ step = {step} }}\n\
             say = \"{name}\"\nlist = {both}\nnext = [{{ goto = \"run{step}\" }}]\n\
             [[steps]]\nid = \"run{step}\"\nagent = \"DebuggerAgent\"\nexpect = {{ step = {step} }}\n\
             calls = [{{ tool = \"run_tests\", args = {{ language = \"python\", paths = [\"test_{name}.py\"] }}, files = {both} }}]\n\
             next = [{{ when = {{ at = \"/ok\", equals = true }}, goto = \"save{step}\" }}]\n\
             [[steps]]\nid = \"save{step}\"\nagent = \"DebuggerAgent\"\n\
             calls = [{{ tool = \"generate_code\", args = {{ reason = \"it passes\" }}, files = {both} }}]\n\
             next = [{{ goto = \"done{step}\" }}]\n\
             [[steps]]\nid = \"done{step}\"\nagent = \"DebuggerAgent\"\nsay = \"{name} is done.\"\n\
             next = [{{ goto = \"review\" }}]\n"
        )
        .unwrap();
    }
    for name in files().keys() {
        write!(script, "[files.\"{name}\"]\nversions = [\"{name}\"]\n").unwrap();
    }
    script.push_str(
        "[[steps]]\nid = \"review\"\nagent = \"ReviewerAgent\"\n\
         calls = [{ tool = \"run_tests\", args = { language = \"python\", paths = [\"test_calc.py\"] } }]\n\
         next = [{ goto = \"report\" }]\n\
         [[steps]]\nid = \"report\"\nagent = \"ReviewerAgent\"\nend = true\nsay = '{\"points\": \
         [{\"point\": \"a calculator\", \"state\": \"done\", \"seen\": \"the tests\"}], \"again\": [], \
         \"usage\": \"import calc\"}'\n",
    );
    script
}

fn wide() -> (tempfile::TempDir, Stage) {
    let folder = tempfile::tempdir().unwrap();
    let teams = folder.path().join("prompts/teams");
    std::fs::create_dir_all(&teams).unwrap();
    let mesh = Assets::built_in().text("prompts/teams/mesh.toml").unwrap().text.into_owned();
    let wide = mesh
        .replace("name = \"mesh\"", "name = \"wide\"")
        .replace("for_each = \"plan\"\n", "for_each = \"plan\"\nparallel = 3\n");
    assert_ne!(wide, mesh);
    std::fs::write(teams.join("wide.toml"), wide).unwrap();
    let stage = stage().of_own(folder.path(), &script(), &files()).allowing_all();
    (folder, stage)
}

#[test]
fn three_steps_are_written_and_tested_side_by_side_each_over_its_own_copy() {
    if !has_python() {
        return;
    }
    let (_folder, stage) = wide();
    assert_eq!(stage.play(Nobody), SessionOutcome::Completed, "{:#?}", stage.events().last());
    let events = stage.events();
    let place = |is: &dyn Fn(&Event) -> bool| events.iter().position(is).unwrap();
    let first_end = place(&|event| matches!(event, Event::Test(TestEvent::Ended { .. })));
    let begun = events.iter().take(first_end);
    let begun = begun.filter(|event| matches!(event, Event::Test(TestEvent::Started { .. })));
    assert!(begun.count() > 1, "tests of several steps run at the same time");
    // What the others have in hand is in no copy but their own.
    for event in &events {
        if let Event::Turn(TurnEvent::ToolAnswered { result, .. }) = event
            && let Some(with) = result.get("with").and_then(|with| with.as_array())
        {
            assert_eq!(with.len(), 2, "{result}");
        }
    }
    let ends = |step: u32| {
        place(
            &|event| matches!(event, Event::Phase(PhaseEvent::Ended { step: Some(of), .. }) if *of == step),
        )
    };
    let last =
        place(&|event| matches!(event, Event::Phase(PhaseEvent::Started { step: Some(4), .. })));
    assert!((1..=3).all(|step| ends(step) < last), "the last step waits for all");
    for name in ["add", "sub", "mul", "calc"] {
        assert_eq!(stage.file(&format!("{name}.py")), files()[&format!("{name}.py")]);
    }
    let failed = |event: &&Event| matches!(event, Event::Turn(TurnEvent::ToolAnswered { result, .. }) if result["ok"] != true);
    assert_eq!(events.iter().find(failed), None);
}

#[test]
fn a_run_left_while_steps_are_tested_side_by_side_goes_on_in_all_of_them() {
    if !has_python() {
        return;
    }
    let (_folder, whole) = wide();
    assert_eq!(whole.play(Nobody), SessionOutcome::Completed);
    let total = whole.records().len();
    for left in [total / 4, total / 3, total / 2, total * 2 / 3] {
        let (_folder, stage) = wide();
        stage.leave_after(left);
        assert_eq!(stage.go_on(Nobody), SessionOutcome::Completed, "left after {left}");
        for name in files().keys() {
            assert_eq!(stage.file(name), files()[name], "left after {left}");
        }
    }
}
