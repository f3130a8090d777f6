//! A PlatformIO project at the desk and by single calls: chosen by its file, built once it is
//! trusted, and told of where PlatformIO is missing.
//!
//! `pio` is a stand-in that answers in PlatformIO's words.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::place::Place;
use crate::terminal::Size;

const PIO: &str = r#"#!/bin/sh
case "$*" in
'project config --json-output')
    echo '[["platformio", [["default_envs", ["s3"]]]], ["env:esp32", []], ["env:s3", [["board", "s3box"]]]]';;
*'--target idedata') ;;
run*)
    echo "Compiling .pio/build/s3/src/main.cpp.o"
    echo "src/main.cpp:2:10: fatal error: Wire.h: No such file or directory"
    echo "*** [.pio/build/s3/src/main.cpp.o] Error 1"
    exit 1;;
esac
"#;

/// A project with that stand-in; the folder of the stand-in.
fn installed(place: &Place) -> PathBuf {
    let folder = place.path("pio");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("pio"), PIO).unwrap();
    fs::set_permissions(folder.join("pio"), fs::Permissions::from_mode(0o755)).unwrap();
    let project = place.project();
    fs::create_dir_all(project.join("src")).unwrap();
    fs::write(project.join("platformio.ini"), "[env:esp32]\n[env:s3]\nboard = s3box\n").unwrap();
    fs::write(project.join("src/main.cpp"), "#include <Arduino.h>\n#include <Wire.h>\n").unwrap();
    folder
}

#[test]
fn its_file_chooses_platformio_and_nothing_of_it_runs_before_it_is_trusted() {
    let place = Place::new();
    let folder = installed(&place);
    let begin = |path: &str| {
        let start = format!("PATH='{path}' exec \"$0\" \"$@\"");
        let args = place.demo_args();
        let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
        args.extend(["--team", "edit-existing"]);
        place.shell(&start, &args, Size::LARGE)
    };
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let mut missing = begin(&place.config().display().to_string());
    assert_eq!(missing.wait_exit().exit_code(), 1);
    missing.wait_for_after_exit("pip install platformio");
    let mut refused = begin(&path);
    refused.wait_for("May this project's scripts run");
    refused.press("esc");
    assert_eq!(refused.wait_exit().exit_code(), 1);
    refused.wait_for_after_exit("it is not trusted");
    assert!(!place.path("data/sessions").exists(), "a session was begun");
    let project = place.project();
    assert_eq!(place.run(&["trust", project.to_str().unwrap()]).status.code(), Some(0));
    begin(&path).wait_for("PlatformIO");
}

#[test]
fn single_calls_build_it_and_name_its_environments() {
    let place = Place::new();
    let path = format!("{}:/usr/bin:/bin", installed(&place).display());
    let project = place.project();
    let folder = project.to_str().unwrap();
    let call = |tool: &str| -> Value {
        let output =
            place.command(&["tool", tool, "--project", folder]).env("PATH", &path).output();
        serde_json::from_slice(&output.unwrap().stdout).unwrap()
    };
    assert_eq!(call("build_project")["error"]["code"], "untrusted");
    assert_eq!(call("list_boards")["error"]["code"], "untrusted");
    assert_eq!(place.run(&["trust", folder]).status.code(), Some(0));
    let built = call("build_project");
    assert_eq!(built["error"]["code"], "build_failed", "{built}");
    let first = &built["errors"][0];
    assert_eq!((&first["file"], &first["line"]), (&"src/main.cpp".into(), &2.into()), "{built}");
    assert!(first["hint"].as_str().unwrap().contains("lib_deps"), "{built}");
    let boards = call("list_boards");
    assert_eq!(boards["toolchain"], "PlatformIO");
    assert_eq!(boards["boards"][1]["fqbn"], "s3", "{boards}");
}
