//! What runs or fetches is told once, in its words and at its place, and nothing else is told.

use super::*;
use crate::model::ProjectPath;

/// Level, text and the words that it is about.
type Reported = (FindingLevel, String, String);

fn reported(path: &str, text: &str) -> Vec<Reported> {
    let path = ProjectPath::new(path).unwrap();
    let source = SourceText::new(&path, text);
    let tell = |found: HostCode| {
        let at = text.get(found.range.clone()).unwrap_or("<beyond the text>").to_owned();
        (found.level, found.text, at)
    };
    in_source(&source).into_iter().map(tell).collect()
}

/// For each: path, text, and what is told of it, as level, text and place.
type Case<'a> = (&'a str, &'a str, &'a [(FindingLevel, &'a str, &'a str)]);

#[track_caller]
fn exactly(cases: &[Case<'_>]) {
    let mut wrong = Vec::new();
    for (path, text, expected) in cases {
        let now = reported(path, text);
        let same = now.len() == expected.len()
            && now.iter().zip(*expected).all(|((level, says, at), (wanted, words, place))| {
                level == wanted && says.contains(words) && at == place
            });
        if !same {
            wrong.push((path, text, now));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

use FindingLevel::{Note, Stop, Warning};

const LIST: &str = "CMakeLists.txt";

#[test]
fn commands_of_cmake_are_told_where_they_stand() {
    exactly(&[
        (
            LIST,
            "install(CODE \"message(a)\")",
            &[(Warning, "when it is installed", "install(CODE \"message(a)\")")],
        ),
        (LIST, "install(FILES a.h DESTINATION include)", &[]),
        (
            LIST,
            "try_run(A B build a.c)",
            &[(Warning, "runs a program when the project is configured", "try_run(A B build a.c)")],
        ),
        (
            LIST,
            "set(A b)\n  include(/tmp/x.cmake)\n",
            &[(Warning, "reads `/tmp/x.cmake`", "include(/tmp/x.cmake)")],
        ),
        (
            LIST,
            "include(/tmp/x.cmake)\n",
            &[(Warning, "reads `/tmp/x.cmake`", "include(/tmp/x.cmake)")],
        ),
        (
            LIST,
            "exec_program(bash ARGS x.sh)",
            &[(Stop, "runs `bash ARGS x.sh` when", "bash ARGS x.sh")],
        ),
        (
            LIST,
            "add_custom_target(run bash x.sh)",
            &[(Stop, "runs `bash x.sh` when the project is built", "bash x.sh")],
        ),
        (LIST, "add_custom_target(run)", &[]),
        (LIST, "add_custom_target(run ALL)", &[]),
        (LIST, "add_custom_target(run DEPENDS a.h)", &[]),
        (
            LIST,
            "cmake_language(CALL exec_program bash x.sh)",
            &[(Stop, "runs `bash x.sh`", "bash x.sh")],
        ),
        (LIST, "cmake_language(CALL message hi)", &[]),
    ]);
}

#[test]
fn files_and_settings_of_cmake_are_told_where_they_stand() {
    exactly(&[
        (LIST, "file(REMOVE_RECURSE ${CMAKE_BINARY_DIR}/x)", &[]),
        (
            LIST,
            "file(REMOVE_RECURSE main)",
            &[(Warning, "deletes or changes `main`", "file(REMOVE_RECURSE main)")],
        ),
        (LIST, "file(GLOB A /etc/*.h)", &[(Warning, "reads `/etc/*.h`", "file(GLOB A /etc/*.h)")]),
        (LIST, "file(GLOB A src/*.c)", &[]),
        (
            LIST,
            "set(CMAKE_C_COMPILER_LAUNCHER ccache)",
            &[(Note, "LAUNCHER", "set(CMAKE_C_COMPILER_LAUNCHER ccache)")],
        ),
        (
            LIST,
            "set(CMAKE_C_COMPILER_LAUNCHER /t/ccache)",
            &[(Warning, "LAUNCHER", "set(CMAKE_C_COMPILER_LAUNCHER /t/ccache)")],
        ),
        (
            LIST,
            "idf_component_register(EMBED_FILES LED /etc/a)",
            &[(Stop, "into the firmware", "/etc/a")],
        ),
        (
            LIST,
            "set(D tools)\nset(F x.sh)\nexecute_process(COMMAND sh ${D}/${F})",
            &[(Stop, "runs `sh tools/x.sh`", "sh ${D}/${F}")],
        ),
        (
            LIST,
            "set(a 1)\nexecute_process(COMMAND bash x",
            &[(
                Warning,
                "runs a program or fetches something: `execute_process(COMMAND bash x`",
                "execute_process",
            )],
        ),
    ]);
}

#[test]
fn what_is_fetched_and_then_run_is_told_as_well() {
    let text = "ExternalProject_Add(z URL https://z.example/z.tgz CONFIGURE_COMMAND sh x.sh)";
    exactly(&[
        (
            LIST,
            text,
            &[
                (Stop, "downloads from z.example at build time", text),
                (Stop, "runs `sh x.sh` when the project is built", "sh x.sh"),
            ],
        ),
        (
            LIST,
            "CPMAddPackage(\"gl:a/b#1\")",
            &[(Stop, "downloads from gitlab.com", "CPMAddPackage(\"gl:a/b#1\")")],
        ),
        (
            LIST,
            "CPMAddPackage(N GITLAB_REPOSITORY a/b)",
            &[(Stop, "gitlab.com", "CPMAddPackage(N GITLAB_REPOSITORY a/b)")],
        ),
        (
            LIST,
            "CPMAddPackage(N GITHUB_REPOSITORY a/b)",
            &[(Stop, "github.com", "CPMAddPackage(N GITHUB_REPOSITORY a/b)")],
        ),
    ]);
}

#[test]
fn every_command_of_one_call_is_told_by_itself() {
    let text = "execute_process(COMMAND sudo a COMMAND bash b)";
    exactly(&[(LIST, text, &[(Stop, "`sudo a`", "sudo a"), (Stop, "`bash b`", "bash b")])]);
}

#[test]
fn scripts_tell_commands_and_not_what_holds_them_together() {
    const STRUCTURE: &str = "#!/bin/sh\nbuild_all() {\n  idf.py build\n}\n\ncase $1 in\n  all)\n    \
                             build_all\n    ;;\nesac\nif true; then\n  idf.py \\\n    --verbose build\n\
                             else\n  idf.py size\nfi\n";
    exactly(&[
        ("a.sh", STRUCTURE, &[(Note, "is a script", "#!/bin/sh")]),
        ("a.sh", "\n\necho hi\n", &[(Note, "is a script that runs on your machine", "echo hi")]),
        (
            "a.sh",
            "cat <<EOF\nsudo b\nEOF\necho a\n  sudo reboot\n",
            &[(Stop, "runs `sudo reboot`", "sudo reboot")],
        ),
        (
            "a.sh",
            "f() {\n  echo a\n}\nf\nsudo reboot\n",
            &[(Stop, "runs `sudo reboot`", "sudo reboot")],
        ),
        ("a.sh", "(sudo reboot)\n", &[(Stop, "sudo reboot", "(sudo reboot)")]),
    ]);
}

#[test]
fn manifests_are_read_at_every_depth() {
    const PATH: &str = "main/idf_component.yml";
    let flow = "dependencies: {x: {git: \"https://e.example/x.git\"}}";
    let registry = "registry_url: https://e.example/r";
    let service = "service_url: https://e.example/s";
    exactly(&[
        (PATH, flow, &[(Warning, "downloads a component from e.example", flow)]),
        (PATH, registry, &[(Warning, "e.example", registry)]),
        (PATH, service, &[(Warning, "e.example", service)]),
        (PATH, "description: |\n  git: https://e.example/x.git\n", &[]),
        (
            PATH,
            "dependencies:\n  x:\n    git: ../../../x\n",
            &[(Warning, "builds a component from `../../../x`", "git: ../../../x")],
        ),
        (
            PATH,
            "dependencies:\n  x:\n    path: ${X_PATH}\n",
            &[(Note, "builds a component from `${X_PATH}`", "path: ${X_PATH}")],
        ),
        (PATH, "dependencies:\n  x:\n    url: ../../../x\n", &[(Note, "adds `x`", "x:")]),
    ]);
}

#[test]
fn ci_files_tell_each_command_and_where_a_block_ends() {
    const PATH: &str = ".gitlab-ci.yml";
    exactly(&[
        (
            PATH,
            "build:\n  script:\n  - make deploy\n  - make check\n  image: alpine\n",
            &[
                (Warning, "runs `make deploy` on the CI server", "make deploy"),
                (Note, "runs `make check` on the CI server", "make check"),
                (Warning, "uses `alpine` on the CI server", "image: alpine"),
            ],
        ),
        (
            PATH,
            "build:\n  script:\n    - make deploy\n  tags: [x]\n",
            &[(Warning, "runs `make deploy`", "make deploy")],
        ),
        (PATH, "\nstages: [a]\n", &[(Note, "changes what the CI server does", "stages: [a]")]),
        (
            ".github/workflows/a.yml",
            "permissions:\n  contents: write\n",
            &[(Warning, "allows `contents: write` on the CI server", "contents: write")],
        ),
    ]);
}

#[test]
fn sources_tell_what_they_take_in_from_outside() {
    let far = "reads `/home/u/x.h`, which is outside of the project";
    exactly(&[
        ("notes.txt", "#include \"/home/u/x.h\"\n", &[]),
        ("main/a.c", "int a;\n#include </home/u/x.h>\n", &[(Warning, far, "</home/u/x.h>")]),
        ("main/a.c", "#include \"/home/u/x.h\"\n", &[(Warning, far, "\"/home/u/x.h\"")]),
        ("main/a.c", "#if include_limit </home/u/x.h>\n#endif\n", &[]),
        ("main/a.c", "// include\nint a = b </home/u/x.h> c;\n", &[]),
        ("main/a.c", "include(\"/etc/passwd\"); f(\"/etc/passwd\");\n", &[]),
        ("src/a.rs", "// include\nprintln!(\"/etc/passwd\");\n", &[]),
        (
            "src/a.rs",
            "f(include_bytes!(\"/etc/x\"));\n",
            &[(Stop, "into the firmware", "\"/etc/x\"")],
        ),
        ("src/a.rs", "f(include_bytes!(\"x.bin\"));\n", &[]),
        ("main/a.S", ".incbin \"/etc/x\"\n", &[(Stop, "into the firmware", "\"/etc/x\"")]),
        ("main/a.c", "#embed \"logo.bin\"\n", &[]),
        (
            "main/a.c",
            "#if __has_embed(\"a\")\nint include;\n#endif\n",
            &[(Note, "asks for files at build time", "__has_embed")],
        ),
        ("a/b/c/d.c", "#include \"../../../x.h\"\n", &[]),
        (
            "main/a.c",
            "#include \"../../../x.h\"\n",
            &[(Warning, "outside of the project", "\"../../../x.h\"")],
        ),
        (
            "main/a.c",
            "#include \"inc/../../../../x.h\"\n",
            &[(Warning, "outside of the project", "\"inc/../../../../x.h\"")],
        ),
    ]);
    assert!(host_includes::is_outside("main/a.c", "./../../x"));
    assert!(!host_includes::is_outside("main/a.c", "a/../../x"));
    assert!(host_includes::is_outside("main/a.c", "a/../../../x"));
}

#[test]
fn files_that_run_by_themselves_are_told_once() {
    exactly(&[("hooks/a", "make a\nmake b\n", &[(Warning, "runs by itself", "make a")])]);
}

#[test]
fn a_program_of_several_files_runs_on_the_board_when_one_of_them_does() {
    let log = "import os\nos.remove(\"events.old\")\n";
    let found = |main: &str, press: &str| {
        let files = [("main.py", main), ("press.py", press)];
        let project = super::super::test_changes::TestProject {
            files: &files,
            task: "Keep a log",
            chip: None,
        };
        let all = project.reported(CheckKind::HostCode, &[("events.py", Some(log))]);
        all.into_iter().filter(|found| !found.contains(" Note: ")).count()
    };
    let machine = "from machine import Pin\n";
    assert_eq!(found("from press import Press\n", machine), 0);
    assert_eq!(found("import press, time\n", machine), 0);
    assert_eq!(found("import time\n", machine), 1);
    assert_eq!(found("from press import Press\n", "import json\n"), 1);
}

#[test]
fn a_plan_of_the_agents_makes_no_finding_lighter() {
    use crate::gate::{FindingsContext, examine};
    use crate::model::{Draft, DraftChange, PlanItem};

    let list = "FetchContent_Declare(etl GIT_REPOSITORY https://github.com/etlcpp/etl.git\n  \
                GIT_TAG v1.3.2)\n";
    let asked = "Take https://github.com/etlcpp/etl.git, tag v1.3.2.".to_owned();
    let level = |context: &FindingsContext| {
        let folder = tempfile::tempdir().unwrap();
        let project_dir = crate::workspace::ProjectDir::open(folder.path()).unwrap();
        let path = ProjectPath::new("main/CMakeLists.txt").unwrap();
        let change = DraftChange::Save { path, base: None, content: list.as_bytes().to_vec() };
        let draft = Draft { change, reason: String::new(), checks: Vec::new() };
        let checks = examine(&project_dir, vec![draft], context).remove(0).checks;
        let found = checks.into_iter().find(|check| check.kind == CheckKind::HostCode);
        found.and_then(|check| check.findings.into_iter().map(|found| found.level).max())
    };
    let mut context = FindingsContext::default();
    context.task = "Print the list".to_owned();
    context.plan = vec![PlanItem { task: asked.clone(), agent: None }];
    assert_eq!(level(&context), Some(Stop));
    context.messages = vec![asked];
    assert_eq!(level(&context), Some(Note));
}
