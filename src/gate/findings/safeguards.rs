//! Protections that a change turns off: watchdogs, encryption, checks of certificates and memory.
//!
//! Owns the comparison with what was there before; what turns a protection off is listed by
//! [`safeguard_rows`](super::safeguard_rows). A task that asks for it makes it a note.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::BTreeSet;

use regex::Regex;

use super::safeguard_rows::{ANY_OFF, SAFEGUARDS, Safeguard};
use super::source::SourceText;
use super::{
    Subject, cmake_values, left_out, literals, lost_protections, substitutions, unchecked_limits,
};
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, ProjectPath};

/// Fewer lines are looked at one by one.
const MANY_LINES: usize = 100;

/// What a change adds and removes, by lines with their numbers, and the new text.
struct ChangedLines<'a> {
    added: &'a [(u32, &'a str)],
    removed: &'a [(u32, &'a str)],
    text: &'a str,
}

/// The check of a file; `None` where no protection is turned off.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let source = subject.source().filter(|_| is_read(path))?;
    let new = code(source);
    let old = LazyCell::new(|| subject.base_source().map(code).unwrap_or_default());
    let changed = subject.changed();
    let mut added = lines(&new, &changed.added);
    let (was, is) = match cmake_values::is_list(path.as_str()) {
        true => (subject.base_source().map_or(&[][..], SourceText::resolved), source.resolved()),
        false => (&[][..], &[][..]),
    };
    let removed = LazyCell::new(|| {
        let mut removed = lines(&old, &changed.removed);
        removed.extend(was.iter().map(|command| (command.line, command.text.as_str())));
        removed
    });
    added.extend(is.iter().map(|command| (command.line, command.text.as_str())));
    let is_in_old = |pattern: &Regex| {
        pattern.is_match(&old) || was.iter().any(|command| pattern.is_match(&command.text))
    };
    // Once over the whole text takes less time than once for each line.
    let is_in_new = |pattern: &Regex| {
        added.len() < MANY_LINES
            || pattern.is_match(&new)
            || is.iter().any(|command| pattern.is_match(&command.text))
    };
    let may_be_off = ANY_OFF.as_ref().is_none_or(is_in_new);
    let task = subject.context.person_words();
    let guards = SAFEGUARDS.iter().filter(|guard| guard.is_for(path));
    let found = guards.filter_map(|guard| {
        let line = match (&guard.new, &guard.old) {
            (Some(off), safe) => {
                (may_be_off && is_in_new(off)).then_some(())?;
                let is_off = |(line, text): &&(u32, &str)| {
                    off.is_match(text) && !guard.is_usual(&new, *line)
                };
                let (line, _) = added.iter().find(is_off)?;
                let is_off_already = match safe {
                    Some(safe) => count(&added, safe) >= count(&removed, safe),
                    None if guard.each => count(&added, off) <= count(&removed, off),
                    None => is_in_old(off),
                };
                (!is_off_already).then_some(*line)?
            }
            (None, Some(safe)) => {
                let lines = ChangedLines { added: &added, removed: &removed, text: &new };
                unchecked_limits::near(gone_from(guard, safe, &lines, subject)?, subject)?
            }
            (None, _) => return None,
        };
        let is_new = subject.base.is_none() && !guard.also_new;
        Some(finding(guard, line, is_new || guard.is_asked_for(&task)))
    });
    let mut found: Vec<Finding> = found.collect();
    found.extend(left_out::find(&new, subject));
    found.extend(lost_protections::find(path, subject));
    (!found.is_empty()).then(|| Check::with(CheckKind::Safeguards, found))
}

/// The first of the lines that went of which a part that `safe` finds stands nowhere now.
fn gone(safe: &Regex, removed: &[(u32, &str)], stays: impl Fn(&str) -> bool) -> Option<u32> {
    // What only ends a part does not belong to it.
    let bare = |part: &'_ str| part.trim_matches([' ', '\t', '"', '\'', ';', ')']).to_owned();
    let goes = |text: &str| safe.find_iter(text).any(|part| !stays(&bare(part.as_str())));
    removed.iter().find(|(_, text)| goes(text)).map(|(line, _)| *line)
}

/// Whether what the last name of a part stands for, `relay` of `switch.turn_off: relay`, has another name
/// now, and the part is there with it.
fn is_renamed(part: &str, safe: &Regex, lines: &ChangedLines<'_>, subject: &Subject<'_>) -> bool {
    let name = last_name(part);
    if !name.contains(char::is_alphabetic) || has_name(lines.text, name) {
        return false;
    }
    let id_in = |lines: &[(u32, &str)], line: u32| -> Option<String> {
        let (_, text) = lines.iter().find(|(at, _)| *at == line)?;
        let id = text.trim_start().trim_start_matches("- ").strip_prefix("id:")?;
        Some(id.trim().to_owned())
    };
    let mut pairs = literals::pairs(subject.changed()).into_iter();
    let named = pairs.find_map(|(was, is)| {
        id_in(lines.removed, was).filter(|id| id == name)?;
        id_in(lines.added, is)
    });
    let old = subject.base_text().unwrap_or_default();
    let mut came = lines.added.iter().flat_map(|(_, text)| safe.find_iter(text));
    came.any(|came| {
        let came = last_name(came.as_str());
        named.as_deref().map_or_else(|| !has_name(old, came), |named| named == came)
    })
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn last_name(part: &str) -> &str {
    let part = part.trim_end_matches(|c: char| !is_of_name(c));
    part.rsplit(|c: char| !is_of_name(c)).next().unwrap_or_default()
}

fn has_name(text: &str, name: &str) -> bool {
    text.split(|c: char| !is_of_name(c)).any(|it| it == name)
}

/// Whether another file of the change, of a kind that is read for it, gets a part that it did not hold.
fn moves_out(guard: &Safeguard, part: &str, subject: &Subject<'_>) -> bool {
    let path = subject.source().map(|source| source.path);
    let others = subject.context.proposed.texts();
    let mut others =
        others.filter(|(other, _)| Some(*other) != path && is_read(other) && guard.is_for(other));
    others.any(|(other, text)| {
        let held = || subject.text_before(other.as_str()).is_some_and(|was| was.contains(part));
        text.contains(part) && code(&SourceText::new(other, text)).contains(part) && !held()
    })
}

/// The line, of those before the change, of a protection that stands nowhere now.
fn gone_from(
    guard: &Safeguard,
    safe: &Regex,
    lines: &ChangedLines<'_>,
    subject: &Subject<'_>,
) -> Option<u32> {
    let ChangedLines { added, removed, text } = lines;
    let does_the_same = |part: &str| {
        guard
            .same
            .iter()
            .any(|(was, is)| was.is_match(part) && added.iter().any(|(_, text)| is.is_match(text)))
    };
    let is_less = guard.each && count(added, safe) < count(removed, safe);
    let stays = |part: &str| {
        let is_here = text.contains(part)
            || added.iter().any(|(_, text)| text.contains(part))
            || guard.each && is_renamed(part, safe, lines, subject);
        !is_less && is_here || does_the_same(part) || moves_out(guard, part, subject)
    };
    gone(safe, removed, stays)
}

fn finding(guard: &Safeguard, line: u32, is_note: bool) -> Finding {
    let level = if is_note { FindingLevel::Note } else { FindingLevel::Warning };
    let finding = Finding::new(level, guard.text.clone()).at(FindingPlace::line(line));
    finding.advice("Make sure that this protection is meant to go.")
}

/// Whether a file is code or configuration.
fn is_read(path: &ProjectPath) -> bool {
    let ends = [
        "c", "h", "cc", "cpp", "hpp", "cxx", "hh", "ino", "py", "rs", "ini", "csv", "cmake", "sh",
        "bash", "yml", "yaml", "mk", "json",
    ];
    let name = path.file_name();
    path.extension().is_some_and(|end| ends.contains(&end))
        || name.starts_with("sdkconfig")
        || name.starts_with("Kconfig")
        || matches!(name, "CMakeLists.txt" | "Makefile" | ".gitignore" | "Cargo.toml")
}

/// The text without the comments of code; those of a configuration say what is off.
fn code<'a>(source: &'a SourceText<'_>) -> Cow<'a, str> {
    match source.path.file_name().starts_with("sdkconfig") {
        true => source.text.into(),
        false if matches!(source.path.extension(), Some("yaml" | "yml")) => {
            match source.code_of_any() {
                Cow::Borrowed(text) => substitutions::carried_out(text),
                Cow::Owned(text) => substitutions::carried_out(&text).into_owned().into(),
            }
        }
        false => source.code_of_any(),
    }
}

fn count(lines: &[(u32, &str)], pattern: &Regex) -> usize {
    lines.iter().filter(|(_, text)| pattern.is_match(text)).count()
}

fn lines<'a>(text: &'a str, numbers: &BTreeSet<u32>) -> Vec<(u32, &'a str)> {
    (1..).zip(text.lines()).filter(|(number, _)| numbers.contains(number)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::test_changes;
    use super::*;

    fn reported(path: &str, base: Option<&str>, content: &str, task: &str) -> Vec<String> {
        test_changes::reported(CheckKind::Safeguards, (path, base, content), task)
    }

    #[test]
    fn a_task_asks_for_it_only_if_it_wants_something_to_go() {
        let (old, new) = ("tls.setCACert(ca);\n", "tls.setInsecure();\n");
        let level = |task: &str| {
            let all = reported("a.ino", Some(old), new, task);
            all.first().and_then(|found| found.split(' ').next()).map(str::to_owned)
        };
        for task in
            ["", "The TLS connection fails sometimes: retry three times", "renew the certificate"]
        {
            assert_eq!(level(task).as_deref(), Some("Warning"), "{task}");
        }
        for task in [
            "connect without a certificate while the server is set up",
            "turn the TLS verification off for the test bench",
            "use setInsecure, the server is on the same desk",
        ] {
            assert_eq!(level(task).as_deref(), Some("Note"), "{task}");
        }
    }

    #[test]
    fn a_test_that_is_left_out_and_a_way_into_the_board_are_told() {
        let test = "#[test]\nfn sum() {\n    assert_eq!(a(), 1);\n}\n";
        let ignored = test.replace("#[test]", "#[test]\n#[ignore]");
        let found = |(path, old, new): (&str, &str, &str), task: &str| {
            reported(path, Some(old), new, task)
                .into_iter()
                .filter(|found| found.starts_with("Warning"))
                .collect::<Vec<_>>()
        };
        let wanted = ["Warning 2: leaves a test out"];
        assert_eq!(found(("src/a.rs", test, &ignored), "Support frame 3"), wanted);
        assert_eq!(found(("src/a.rs", test, &ignored), "Skip the sum test"), [] as [String; 0]);
        let old = "void begin() {\n  server.on(\"/\", root);\n}\n";
        let new = old.replace("root);", "root);\n  server.on(\"/debug/fs\", files);");
        let wanted = ["Warning 3: lets anybody in the network reach inside of the board"];
        assert_eq!(found(("src/web.cpp", old, &new), "Show the wind"), wanted);
        assert_eq!(found(("src/web.cpp", old, &new), "Add a debug page"), [] as [String; 0]);
        let page = new.replace("/debug/fs", "/wind");
        assert_eq!(found(("src/web.cpp", old, &page), "Show the wind"), [] as [String; 0]);
    }

    #[test]
    fn an_automation_that_turns_something_off_is_missed_when_it_goes() {
        let range = "    on_value_range:\n      - above: 39.5\n        then:\n          - switch.turn_off: heater\n";
        let yaml = |part: &str| format!("sensor:\n  - platform: dallas\n    name: Egg\n{part}");
        let found = |new: &str, task: &str| {
            reported("incubator.yaml", Some(&yaml(range)), new, task)
                .into_iter()
                .filter(|found| found.starts_with("Warning"))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            found(&yaml(""), "German names"),
            [
                "Warning 3: no longer acts when a value is out of its range",
                "Warning 3: no longer switches an output off by itself"
            ]
        );
        let other = range.replace("39.5", "39.0");
        assert_eq!(found(&yaml(&other), "German names"), [] as [String; 0]);
        assert_eq!(found(&yaml(""), "Remove the automation"), [] as [String; 0]);
    }

    #[test]
    fn one_more_or_one_less_counts_where_a_row_says_so() {
        let init = "void init(void) {\n    if (err == ESP_ERR_NVS_NO_FREE_PAGES) {\n        nvs_flash_erase();\n    }\n}\n";
        let wipe = format!("{init}void load(void) {{\n    if (missing) nvs_flash_erase();\n}}\n");
        let found = |old: &str, new: &str| reported("main/a.c", Some(old), new, "Add a field");
        assert_eq!(found(init, &wipe), ["Warning 7: erases all settings that are stored"]);
        assert_eq!(found("int a;\n", init), [] as [String; 0], "the usual way to begin");
        assert_eq!(found(&wipe, init), [] as [String; 0]);
        let asked = reported("main/a.c", Some(init), &wipe, "Erase the settings on request");
        assert_eq!(asked, ["Note 7: erases all settings that are stored"]);
        let yaml = "a:\n  interlock: [a, b]\nb:\n  interlock: [a, b]\n";
        let less = yaml.replacen("  interlock: [a, b]\n", "", 1);
        let found = reported("a.yaml", Some(yaml), &less, "Add a sensor");
        assert_eq!(found, ["Warning 2: takes away an interlock"]);
    }

    #[test]
    fn a_failed_check_still_fails_the_build() {
        let old = "steps:\n  - run: ctest --test-dir build\n";
        for (from, to) in
            [("build", "build || true"), ("run:", "continue-on-error: true\n    run:")]
        {
            let found = |task: &str| {
                reported(".github/workflows/a.yml", Some(old), &old.replace(from, to), task)
            };
            assert_eq!(found("Add a chip"), ["Warning 2: lets a check fail without a consequence"]);
            assert!(found("The tests may fail for now")[0].starts_with("Note"), "{to}");
        }
    }

    #[test]
    fn what_goes_to_another_file_or_gets_another_name_stays() {
        use super::super::test_changes::TestProject;

        let old = "void setup() {\n  attachInterrupt(27, onEdge, FALLING);\n  run();\n}\n";
        let new = "#include \"wind.h\"\nvoid setup() {\n  windBegin();\n  run();\n}\n";
        let wind =
            "#include \"wind.h\"\nvoid windBegin() {\n  attachInterrupt(27, onEdge, FALLING);\n}\n";
        let found = |other: (&str, &str)| {
            let files = &[("src/main.cpp", old)];
            let task = "move the wind to a file of its own";
            let project = TestProject { files, chip: None, task };
            let changes = [("src/main.cpp", Some(new)), (other.0, Some(other.1))];
            let all = project.findings(CheckKind::Safeguards, &changes).into_iter();
            all.filter(|(_, found)| found.text.contains("by an interrupt")).count()
        };
        assert_eq!(found(("src/wind.cpp", wind)), 0);
        let comment = wind.replace("  attach", "  // attach");
        assert_eq!(found(("src/wind.cpp", &comment)), 1);
        assert_eq!(found(("README.md", wind)), 1);

        let yaml = "switch:\n  - platform: gpio\n    id: a1\nbinary_sensor:\n  - platform: gpio\n    \
                    on_press:\n      - switch.turn_off: a1\n";
        let renamed = yaml.replace("a1", "motor");
        assert_eq!(
            reported("a.yaml", Some(yaml), &renamed, "rename a1 to motor"),
            [] as [String; 0]
        );
        let other = yaml.replace("turn_off: a1", "turn_off: b2");
        let wanted = ["Warning 7: no longer switches an output off by itself"];
        assert_eq!(reported("a.yaml", Some(yaml), &other, "name the switch"), wanted);
    }

    #[test]
    fn a_part_with_another_name_is_the_same_part() {
        let yaml = |(one, other): (&str, &str), off: &str| {
            format!(
                "switch:\n  - platform: gpio\n    id: {one}\n  - platform: gpio\n    id: {other}\n\
                 binary_sensor:\n  - on_press:\n      - switch.turn_off: {off}\n"
            )
        };
        let old = yaml(("a1", "b1"), "a1");
        let found = |new: &str| reported("a.yaml", Some(&old), new, "better names").len();
        assert_eq!(found(&yaml(("heater", "b1"), "heater")), 0);
        assert_eq!(found(&yaml(("heater", "b1"), "b1")), 1, "the other one");
        assert_eq!(found(&yaml(("heater", "fan"), "heater")), 0);
        assert_eq!(found(&yaml(("heater", "fan"), "fan")), 1, "the other one, renamed");
    }

    #[test]
    fn a_watchdog_that_is_set_again_stays_and_one_that_only_reports_does_not_restart() {
        let (init, add) = ("esp_task_wdt_init(&config);\n", "esp_task_wdt_add(NULL);\n");
        let again = "esp_task_wdt_reconfigure(&config);\n";
        let found = |old: &str, new: &str| reported("main/a.c", Some(old), new, "Shorter start");
        let both = format!("{init}{add}");
        assert_eq!(found(&both, &format!("{again}{add}")), [] as [String; 0]);
        assert_eq!(found(&both, again), ["Warning 1: takes a watchdog away"], "of no task");
        assert_eq!(found(&format!("{again}{init}"), again), ["Warning 1: takes a watchdog away"]);
        let old = ".trigger_panic = true,\n";
        let wanted = ["Warning 1: lets a watchdog only report, where it restarted the board"];
        assert_eq!(found(old, &old.replace("true", "false")), wanted);
        assert_eq!(found(&old.replace("true", "false"), old), [] as [String; 0]);
    }

    #[test]
    fn tests_on_the_server_stay() {
        let old = "steps:\n  - run: pio test -e native\n  - run: pio run\n";
        let path = ".github/workflows/a.yml";
        let found = |new: &str, task: &str| reported(path, Some(old), new, task);
        let gone = old.replace("  - run: pio test -e native\n", "");
        let wanted = "no longer runs a test or a linter on the CI server";
        assert!(found(&gone, "publish the charge")[0].ends_with(wanted));
        assert!(found(&gone, "drop the tests from CI")[0].starts_with("Note"));
        assert_eq!(found(&old.replace("native", "host"), "x"), [] as [String; 0]);
        let two = format!("{old}  - run: pytest\n");
        let one = reported(path, Some(&two), &format!("{gone}  - run: pytest\n"), "x");
        assert!(one[0].ends_with(wanted), "another stays: {one:?}");
    }

    #[test]
    fn what_a_fault_leads_to_stays() {
        let list = "idf_component_register(SRCS \"a.c\")\n";
        for (path, old, new, wanted) in [
            (
                "sdkconfig.defaults",
                "CONFIG_ESP_SYSTEM_PANIC_PRINT_REBOOT=y\n".to_owned(),
                "CONFIG_ESP_SYSTEM_PANIC_PRINT_HALT=y\n".to_owned(),
                "stops the board after a crash, where it would start again",
            ),
            (
                "main/CMakeLists.txt",
                list.to_owned(),
                format!("{list}nvs_create_partition_image(nvs ../n.csv FLASH_IN_PROJECT)\n"),
                "writes over the settings that the board has stored (NVS) at each flash",
            ),
            (
                "src/a.cpp",
                "pinMode(LID, INPUT_PULLUP);\n".to_owned(),
                "pinMode(LID, INPUT_PULLDOWN);\n".to_owned(),
                "pulls an input down that was pulled up: without a signal it reads the other value",
            ),
            (
                "main/a.c",
                "#define WAIT pdMS_TO_TICKS(50)\n".to_owned(),
                "#define BUS_WAIT_MS (-1)\n".to_owned(),
                "waits without an end, where it waited for a limited time",
            ),
            (
                "main/a.c",
                "if (ul > MOST) {\n    return ESP_ERR_INVALID_ARG;\n}\n".to_owned(),
                "assert(ul <= MOST);\n".to_owned(),
                "checks by `assert`, which a build can leave out, where an error was returned",
            ),
        ] {
            let found = |old: &str, task: &str| reported(path, Some(old), &new, task);
            let all = found(&old, "rename the log tag");
            assert!(all.iter().any(|found| found.ends_with(wanted)), "{path}: {all:?}");
            let kept = found(&format!("{old}{new}"), "rename the log tag");
            assert!(!kept.iter().any(|found| found.ends_with(wanted)), "{path}: {kept:?}");
        }
    }

    #[test]
    fn files_with_secrets_stay_ignored() {
        let old = ".pio/\ninclude/secrets.h\n*.pem\n";
        let found = |new: &str| reported(".gitignore", Some(old), new, "raise the log level");
        let gone = "no longer ignores a file that may hold secrets";
        assert!(found(".pio/\n").iter().any(|found| found.ends_with(gone)));
        assert!(found(".pio/\n*.pem\n")[0].ends_with(gone), "one of two");
        assert_eq!(found("include/secrets.h\n*.pem\n"), [] as [String; 0]);
        assert_eq!(found(".pio/\n*.pem\ninclude/secrets.h\n"), [] as [String; 0]);
        assert_eq!(found(&format!("{old}build/\n")), [] as [String; 0]);
    }

    #[test]
    fn protections_that_go_are_told_at_their_line() {
        for (path, old, new, wanted) in [
            (
                "a.c",
                "int a;\n#define URI \"mqtts://b.example\"\n",
                "int a;\n#define URI \"mqtt://b.example\"\n",
                "Warning 2: connects without encryption where it was encrypted",
            ),
            (
                "main/Kconfig.projbuild",
                "config A\n    default \"https://a.example\"\n",
                "config A\n    default \"http://a.example\"\n",
                "Warning 2: connects without encryption where it was encrypted",
            ),
            (
                "a.ino",
                "client.setCACert(ca);\n",
                "client.setInsecure();\n",
                "Warning 1: turns off the check of the server's certificate",
            ),
            (
                "sdkconfig.defaults",
                "CONFIG_A=y\n",
                "CONFIG_A=y\nCONFIG_ESP_TASK_WDT_EN=n\n",
                "Warning 2: turns off a watchdog",
            ),
            (
                "sdkconfig",
                "CONFIG_ESP_INT_WDT=y\n",
                "# CONFIG_ESP_INT_WDT is not set\n",
                "Warning 1: turns off a watchdog",
            ),
            (
                "a.cpp",
                "NimBLEDevice::setSecurityAuth(true, true, true);\n",
                "NimBLEDevice::setSecurityAuth(false, false, false);\n",
                "Warning 1: turns off the security of Bluetooth connections",
            ),
        ] {
            assert_eq!(reported(path, Some(old), new, ""), [wanted], "{new}");
        }
        let off = "CONFIG_ESP_TASK_WDT_EN=n\n";
        let asked = reported("sdkconfig.defaults", Some(""), off, "Turn the watchdog off");
        assert_eq!(asked, ["Note 1: turns off a watchdog"]);
    }

    #[test]
    fn options_of_the_compiler_that_go_are_found() {
        for (path, old, new, wanted) in [
            (
                "CMakeLists.txt",
                "set(fast -O2)\nadd_compile_options(${fast})\n",
                "set(fast -O2)\nset(more \"-f\" \"no-stack-protector\")\nstring(JOIN \"\" one \
                 ${more})\nadd_compile_options(${fast} ${one})\n",
                "Warning 4: turns off a protection of the compiler against overflows",
            ),
            (
                "CMakeLists.txt",
                "set(a 1)\nadd_compile_options(-Wall -Werror)\nproject(a)\n",
                "set(a 1)\nadd_compile_options(-Wall)\nproject(a)\n",
                "Warning 2: takes away an option of the compiler that protects",
            ),
            (
                "CMakeLists.txt",
                "a(-Werror -fstack-protector)\nproject(a)\n",
                "a(-Werror)\nproject(a)\n",
                "Warning 1: takes away an option of the compiler that protects",
            ),
            (
                "platformio.ini",
                "[env:a]\nbuild_flags = -Wall\n",
                "[env:a]\nbuild_flags = -Wall -U_FORTIFY_SOURCE\n",
                "Warning 2: turns off a protection of the compiler against overflows",
            ),
            (
                "Cargo.toml",
                "[profile.release]\noverflow-checks = true\n",
                "[profile.release]\noverflow-checks = false\n",
                "Warning 2: turns off a check of the program while it runs",
            ),
            (
                "tools/get.py",
                "requests.get(url)\n",
                "requests.get(url, verify=False)\n",
                "Warning 1: turns off the check of the server's certificate",
            ),
        ] {
            assert_eq!(reported(path, Some(old), new, ""), [wanted], "{new}");
        }
    }

    #[test]
    fn what_was_so_before_or_is_a_comment_is_not() {
        for (path, old, new) in [
            ("a.c", "#define A \"http://x\"\n", "#define A \"http://y\"\n"),
            ("a.c", "int a;\n", "int a;\n#define A \"http://192.168.4.1\"\n"),
            ("a.c", "#define A \"https://x\"\n", "#define A \"https://y\"\n"),
            ("a.ino", "c.setInsecure();\n", "int a;\nc.setInsecure();\n"),
            ("a.ino", "int a;\n", "int a;\n// never c.setInsecure();\n"),
            ("sdkconfig", "# CONFIG_ESP_INT_WDT is not set\n", "CONFIG_ESP_INT_WDT=y\n"),
            ("CMakeLists.txt", "project(a)\n", "project(a)\nset(x -Wno-error=format -O3)\n"),
            ("CMakeLists.txt", "set(a -Werror)\nb(c)\n", "b(c)\nset(x -Wall -Werror)\n"),
            ("CMakeLists.txt", "set(a -Werror=format)\nb(c)\n", "b(c)\n"),
            ("CMakeLists.txt", "a(-Werror)\nb(c)\n", "b(c)\na(-Wall -Werror -O2)\n"),
            ("CMakeLists.txt", "project(a)\n", "project(a)\n# never -fno-stack-protector\n"),
        ] {
            assert_eq!(reported(path, Some(old), new, ""), [] as [String; 0], "{new}");
        }
    }
}
