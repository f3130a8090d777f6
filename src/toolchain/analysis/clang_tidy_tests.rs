//! Tests of what clang-tidy is asked and tells, with what it printed about real sources.

use std::path::PathBuf;

use super::super::tests::{order, run_of};
use super::*;

fn unit(file: &str, compiler: &str) -> CompileUnit {
    let (file, compiler) = (PathBuf::from(file), PathBuf::from(compiler));
    CompileUnit { file, flags: vec!["-DX=1".to_owned()], compiler }
}

fn output(text: &str) -> Output {
    Output::whole(text.to_owned())
}

#[test]
fn findings_in_a_joined_sketch_are_told_where_they_are_from() {
    let order = order("/p/blink");
    let made = Path::new("/p/blink/build/sketch/blink.ino.cpp");
    let source = "#include <Arduino.h>\n#line 1 \"/p/blink/blink.ino\"\nint a;\n#line 2 \
                  \"/p/blink/blink.ino\"\nvoid setup();\n#line 1 \"/p/blink/more.ino\"\nint b;\nint c;\n";
    let joined = (made, markers(source));
    let text = "/p/blink/build/sketch/blink.ino.cpp:8:3: warning: x [bugprone-a]\n\
                /p/blink/build/sketch/blink.ino.cpp:1:3: warning: x [bugprone-a]\n\
                /p/blink/build/sketch/blink.ino.cpp:5:1: error: y [clang-diagnostic-error]\n";
    let reported = read(&run_of(&order), None, &output(text), Some(&joined));
    let found: Vec<_> = reported
        .issues
        .iter()
        .map(|issue| (issue.file.as_ref().unwrap().as_str(), issue.line))
        .collect();
    assert_eq!(found, [("more.ino", Some(2))]);
    assert_eq!(reported.gaps[0].why, "only in part: clang says blink.ino:2: y");
}

#[test]
fn sources_that_are_not_built_are_named() {
    let mut order = order("/p/demo");
    order.units.push(unit("/p/demo/main/main.c", "gcc"));
    let path = |number| format!("main/part_{number}.c");
    order.files = vec![ProjectPath::new("main/main.c").unwrap()];
    assert!(not_built(&run_of(&order)).gaps.is_empty());
    order.files.extend((0..10).map(|number| ProjectPath::new(&path(number)).unwrap()));
    let [gap] = <[_; 1]>::try_from(not_built(&run_of(&order)).gaps).unwrap();
    assert!(gap.why.starts_with("the last build did not compile main/part_0.c, "), "{gap:?}");
    assert!(gap.why.contains("main/part_7.c and 2 more; see `SRCS`"), "{gap:?}");
    order.is_sketch = true;
    assert!(not_built(&run_of(&order)).gaps.is_empty());
}

#[test]
fn findings_are_read_and_notes_are_not() {
    let order = order("/home/dev/demo");
    let text = include_str!("../../../tests/data/analysis/clang-tidy.txt");
    let reported =
        read(&run_of(&order), Some(ProjectPath::new("main/main.c").unwrap()), &output(text), None);
    let found: Vec<(u32, u32, &str)> = reported
        .issues
        .iter()
        .map(|issue| (issue.line.unwrap(), issue.column.unwrap(), issue.rule.as_str()))
        .collect();
    insta::assert_debug_snapshot!(found);
    assert!(
        reported.issues.iter().all(|issue| issue.file.as_ref().unwrap().as_str() == "main/main.c")
    );
    assert!(reported.gaps.is_empty());
}

#[test]
fn what_clang_does_not_understand_is_a_gap() {
    let order = order("/home/dev/demo");
    let path = || Some(ProjectPath::new("main/main.c").unwrap());
    let text = "/home/dev/demo/main/main.c:1:10: error: 'nothere.h' file not found \
                [clang-diagnostic-error]\n/idf/soc.h:3:1: error: odd [clang-diagnostic-error]\n\
                1 error generated.\n";
    let reported = read(&run_of(&order), path(), &output(text), None);
    assert!(reported.issues.is_empty());
    assert_eq!(reported.gaps.len(), 1);
    assert_eq!(
        reported.gaps[0].why,
        "only in part: clang says main/main.c:1: 'nothere.h' file not found"
    );
    let text = "error: invalid value 'gnu++99' in '-std=gnu++99' [clang-diagnostic-error]\n";
    let reported = read(&run_of(&order), path(), &output(text), None);
    assert!(reported.gaps[0].why.ends_with("clang says invalid value 'gnu++99' in '-std=gnu++99'"));
    let text =
        "/home/dev/.ssh/key:3:1: error: unknown type name 'hunter2' [clang-diagnostic-error]\n";
    let reported = read(&run_of(&order), path(), &output(text), None);
    let why = &reported.gaps[0].why;
    assert_eq!(why, "only in part: clang does not understand key:3, which is not the project's");
    let text = "/idf/soc.h:3:1: error: 'xtensa.h' file not found [clang-diagnostic-error]\n";
    let reported = read(&run_of(&order), path(), &output(text), None);
    assert_eq!(reported.gaps[0].why, "only in part: clang says 'xtensa.h' file not found");
    let reported =
        read(&run_of(&order), path(), &Output { text: String::new(), ended: OutputEnd::Cut }, None);
    assert!(reported.gaps[0].why.contains("no time was left"));
}

#[test]
fn a_linter_that_failed_found_nothing_out() {
    let order = order("/home/dev/demo");
    let failed = |text: &str| {
        let output = Output { text: text.to_owned(), ended: OutputEnd::Exit(127) };
        read(&run_of(&order), None, &output, None)
    };
    let reported = failed("Traceback (most recent call last):\nImportError: hunter2\n");
    assert_eq!(
        reported.gaps[0].why,
        "it failed with exit code 127: start it in a terminal to see why"
    );
    let reported = failed("/idf/soc.h:3:1: error: no x [clang-diagnostic-error]\n");
    assert!(reported.gaps[0].why.starts_with("only in part"), "{:?}", reported.gaps);
    assert!(read(&run_of(&order), None, &output(""), None).gaps.is_empty());
}

#[test]
fn findings_outside_the_project_are_left_out() {
    let order = order("/home/dev/demo");
    let text = "/idf/a.h:3:1: warning: x [bugprone-a]\n/home/dev/demo/build/b.h:3:1: warning: x [bugprone-a]\n\
                /home/dev/demo/../c.c:3:1: warning: x [bugprone-a]\n/home/dev/demo2/c.c:3:1: warning: x [bugprone-a]\n\
                /home/dev/demo/main/d.c:3:1: warning: x [bugprone-a,cert-b]\n";
    let reported = read(&run_of(&order), None, &output(text), None);
    assert_eq!(reported.issues.len(), 1);
    assert_eq!(reported.issues[0].rule, "bugprone-a,cert-b");
}

#[test]
fn the_configuration_is_given_and_a_chip_is_read_as_one_of_32_bits() {
    let order = order("/home/dev/it's here");
    let run = run_of(&order);
    let all = |compiler: &str| -> Vec<String> {
        let args = args(&run, &unit("/home/dev/it's here/main/main.c", compiler));
        args.into_iter().map(|arg| arg.into_string().unwrap()).collect()
    };
    let host = all("/usr/bin/cc");
    assert!(host[0].starts_with("--config={Checks: '-*,clang-analyzer-*"), "{host:?}");
    assert!(host[0].contains("'^/home/dev/it''s here/'"), "{host:?}");
    assert_eq!(&host[2..4], ["/home/dev/it's here/main/main.c", "--"]);
    assert!(!host.iter().any(|arg| arg.starts_with("--target")));
    assert_eq!(host.last().unwrap(), "-DX=1");
    let xtensa = all("/t/bin/xtensa-esp32-elf-gcc");
    assert!(xtensa.contains(&"--target=riscv32-unknown-elf".to_owned()));
    assert!(xtensa.contains(&"-D__XTENSA__=1".to_owned()));
    assert!(!all("/t/bin/riscv32-esp-elf-g++").contains(&"-D__XTENSA__=1".to_owned()));
}

#[test]
fn a_toolchains_own_headers_are_found_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let include = folder.path().join("riscv32-esp-elf/include");
    std::fs::create_dir_all(include.join("c++/14.2.0")).unwrap();
    let compiler = folder.path().join("bin/riscv32-esp-elf-gcc");
    let flags = target(&unit("/p/a.c", compiler.to_str().unwrap()));
    assert_eq!(flags.last().unwrap(), &include.display().to_string());
    assert!(flags.contains(&include.join("c++/14.2.0").display().to_string()), "{flags:?}");
}

#[test]
fn sources_come_in_their_order_and_joined_sketches_last() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir_all(root.join("build/sketch")).unwrap();
    let joined = root.join("build/sketch/a.ino.cpp");
    std::fs::write(&joined, "").unwrap();
    let mut order = order(root.to_str().unwrap());
    order.is_sketch = true;
    order.files = ["b.cpp", "a.cpp"].map(|path| ProjectPath::new(path).unwrap()).into();
    for file in ["a.cpp", "b.cpp", "build/sketch/a.ino.cpp", "build/core/main.cpp"] {
        order.units.push(unit(root.join(file).to_str().unwrap(), "c++"));
    }
    let run = run_of(&order);
    let names: Vec<PathBuf> = by_file(&run)
        .into_iter()
        .map(|(_, unit)| unit.file.strip_prefix(root).unwrap().to_owned())
        .collect();
    assert_eq!(names, ["b.cpp", "a.cpp", "build/sketch/a.ino.cpp"].map(PathBuf::from));
}
