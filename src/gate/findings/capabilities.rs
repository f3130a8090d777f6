//! What a program begins to do towards the outside that the task does not ask for: it takes commands,
//! opens a server, sends something.
//!
//! Owns the comparison with the project as it is. The uses and words are those of
//! `assets/findings/capabilities.toml`. Servers by their names are told by
//! [`addresses`](super::addresses).

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::source::SourceText;
use super::{Subject, beyond_task, host_code};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::shipped::shipped_table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapabilityFile {
    capability: Vec<CapabilityRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapabilityRow {
    text: String,
    uses: String,
    words: Vec<String>,
}

struct Capability {
    text: String,
    uses: Regex,
    words: Vec<String>,
}

static CAPABILITIES: LazyLock<Vec<Capability>> = LazyLock::new(|| {
    load(include_str!("../../../assets/findings/capabilities.toml")).unwrap_or_default()
});

/// All that is a use of one.
static ANY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let all: Vec<String> = CAPABILITIES.iter().map(|of| format!("(?:{})", of.uses)).collect();
    regex(&all.join("|"))
});

/// Sources of the project that are read for an earlier use.
const MOST_FILES: usize = 400;

/// Fewer lines are looked at one by one.
const MANY_LINES: usize = 100;

fn regex(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).multi_line(true).build().ok()
}

fn load(text: &str) -> Option<Vec<Capability>> {
    let file: CapabilityFile = shipped_table(text)?;
    let all = file
        .capability
        .into_iter()
        .map(|row| Some(Capability { text: row.text, uses: regex(&row.uses)?, words: row.words }));
    all.collect()
}

/// What is to be said of a file of a project that is there already.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Finding> {
    let is_of_board = || is_python(path) && host_code::is_micropython(subject);
    let source = subject.source().filter(|_| is_read(path) || is_of_board());
    let Some(source) = source else { return Vec::new() };
    let code = source.code_of_any();
    let added = &subject.changed().added;
    let mut lines = (1..).zip(code.lines()).filter(|(line, _)| added.contains(line));
    let is_used = ANY.as_ref().is_some_and(|any| match added.len() > MANY_LINES {
        true => any.is_match(&code),
        false => lines.any(|(_, text)| any.is_match(text)),
    });
    if !is_used {
        return Vec::new();
    }
    let base = subject.base_source().map(SourceText::code_of_any).unwrap_or_default();
    let task = subject.context.person_words();
    let mut others = None;
    let mut found = Vec::new();
    for capability in CAPABILITIES.iter() {
        if capability.uses.is_match(&base) || capability.is_asked_for(&task) {
            continue;
        }
        let lines = capability.uses.find_iter(&code).map(|used| source.number_at(used.end() - 1));
        let Some(line) = lines.into_iter().find(|line| added.contains(line)) else { continue };
        let others = others.get_or_insert_with(|| project(path, subject));
        // A project that is made of nothing may do anything.
        if others.is_empty() && subject.base.is_none() {
            return Vec::new();
        }
        if others.iter().any(|text| capability.uses.is_match(text)) {
            continue;
        }
        let finding = Finding::new(FindingLevel::Warning, capability.text.clone());
        let advice = "The task does not ask for it. Make sure that the program is meant to do it.";
        found.push(finding.at(FindingPlace::line(line)).advice(advice));
    }
    found
}

impl Capability {
    fn is_asked_for(&self, task: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '-';
        let whole = || task.split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
        // "HTTPS-Update" speaks of an update.
        let of_task = || whole().chain(whole().flat_map(|word| word.split('-').skip(1)));
        self.words.iter().any(|wanted| match wanted.strip_suffix('*') {
            Some(start) => of_task().any(|word| word.starts_with(start)),
            None if wanted.contains(' ') => task.contains(wanted.as_str()),
            None => of_task().any(|word| word == wanted),
        })
    }
}

fn is_python(path: &ProjectPath) -> bool {
    path.extension() == Some("py")
}

/// Whether a file is code of the program, a page that it shows, or its configuration.
fn is_read(path: &ProjectPath) -> bool {
    let is_page = matches!(path.extension(), Some("html" | "htm" | "js" | "ts"));
    let is_of_host = super::test_expectations::is_test(path) || is_python(path);
    (beyond_task::is_code(path) && !is_of_host)
        || is_page
        || matches!(path.extension(), Some("yaml" | "yml"))
        || path.file_name().starts_with("sdkconfig")
}

/// What the other sources of the project hold on disk.
fn project(path: &ProjectPath, subject: &Subject<'_>) -> Vec<String> {
    let files = subject.files().iter().map(|file| &file.path);
    let is_like = |other: &ProjectPath| is_read(other) || is_python(path) && is_python(other);
    let files = files.filter(|other| *other != path && is_like(other)).take(MOST_FILES);
    let texts =
        files.filter_map(|file| String::from_utf8(subject.project_dir.read(file).ok()?).ok());
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use super::*;
    use crate::model::CheckKind;

    const OLD: &str = "#include \"mqtt_client.h\"\nvoid connected(void) {\n    ready = true;\n}\n";

    fn found(task: &str, files: &[(&str, &str)], new: &str) -> Vec<String> {
        let mut all = vec![("main/net.c", OLD)];
        all.extend(files);
        let changes = [("main/net.c", Some(new))];
        TestProject { files: &all, task, chip: None }
            .reported(CheckKind::BeyondTask, &changes)
            .into_iter()
            .filter(|found| found.contains("begins") || found.contains("opens"))
            .collect()
    }

    #[test]
    fn the_list_can_be_read() {
        let all = load(include_str!("../../../assets/findings/capabilities.toml"));
        assert!(all.is_some_and(|all| all.len() >= 10));
    }

    #[test]
    fn what_a_program_of_micropython_begins_to_do_is_told() {
        let old = "import machine\nimport time\n\nwhile True:\n    time.sleep(1)\n";
        let found = |task: &str, (path, new): (&str, &str)| {
            TestProject {
                files: &[("main.py", old), ("boot.py", "import network\n")],
                task,
                chip: None,
            }
            .reported(CheckKind::BeyondTask, &[(path, Some(new))])
            .into_iter()
            .filter(|found| found.contains(" Warning: "))
            .collect::<Vec<_>>()
        };
        let repl = "import network\nimport webrepl\nwebrepl.start()\n";
        let wanted = "boot.py Warning: lets the board be controlled over the network";
        assert_eq!(found("Change the interval", ("boot.py", repl)), [wanted]);
        assert_eq!(found("Start WebREPL", ("boot.py", repl)), [] as [String; 0]);
        let sends =
            old.replace("sleep(1)", "sleep(1)\n    requests.post(\"http://a.example/x\", data=b)");
        let all = found("Change the interval", ("main.py", &sends));
        assert!(all.iter().any(|found| found.contains("send over HTTP")), "{all:?}");
        assert_eq!(found("Change the interval", ("tools/a.py", repl)), [] as [String; 0]);
    }

    #[test]
    fn what_a_program_begins_to_do_unasked_is_told() {
        let with = |line: &str| OLD.replace("    ready", &format!("    {line}\n    ready"));
        let subscribes = with("esp_mqtt_client_subscribe(client, \"a/set\", 1);");
        let wanted = "main/net.c Warning: begins to take commands over MQTT";
        assert_eq!(found("Add the soil value to the message", &[], &subscribes), [wanted]);
        for task in ["Let the pump be switched from outside", "Take commands", "subscribe to a/set"]
        {
            assert_eq!(found(task, &[], &subscribes), [] as [String; 0], "{task}");
        }
        let elsewhere = [("main/b.c", subscribes.as_str())];
        assert_eq!(
            found("Blink", &elsewhere, &subscribes),
            [] as [String; 0],
            "it does so already"
        );
        for (line, wanted) in [
            ("ArduinoOTA.begin();", "begins to take updates over the network"),
            ("httpd_start(&server, &config);", "opens a web server"),
            ("esp_wifi_set_mode(WIFI_MODE_APSTA);", "opens a Wi-Fi access point"),
            ("getaddrinfo(host, NULL, NULL, &res);", "begins to look up hosts in the network"),
            ("listen(fd, 1);", "begins to listen on a port of the network"),
            ("nimble_port_init();", "begins to use Bluetooth"),
        ] {
            let all = found("Blink twice", &[], &with(line));
            assert_eq!(all, [format!("main/net.c Warning: {wanted}")], "{line}");
        }
        let comment = with("// httpd_start(&server, &config);");
        assert_eq!(found("Blink twice", &[], &comment), [] as [String; 0]);
    }

    #[test]
    fn words_are_whole_or_beginnings() {
        let capability = Capability {
            text: String::new(),
            uses: Regex::new("x").unwrap(),
            words: ["time", "web*", "home assistant"].map(str::to_owned).to_vec(),
        };
        for task in ["show the time", "on a website", "for home assistant"] {
            assert!(capability.is_asked_for(task), "{task}");
        }
        for task in ["", "three times", "a timer", "cobweb", "at home: an assistant"] {
            assert!(!capability.is_asked_for(task), "{task}");
        }
    }

    #[test]
    fn a_project_that_is_made_may_do_anything() {
        let new = "void app_main(void) { nimble_port_init(); }\n";
        let project = TestProject { files: &[], task: "Build a lamp", chip: None };
        let all = project.reported(CheckKind::BeyondTask, &[("main/a.c", Some(new))]);
        assert_eq!(all, [] as [String; 0]);
    }
}
